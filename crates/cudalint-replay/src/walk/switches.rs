//! `switch` of host code: the one case of a known value, each of an unknown one.

use super::Walker;
use crate::host::{Flow, JoinRule, Paths};
use cudalint_program::ir::{ExprId, SwitchCase};

/// What a case is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Default,
    Value(i64),
    Unknown,
}

impl Label {
    fn value(self) -> Option<i64> {
        if let Self::Value(value) = self { Some(value) } else { None }
    }
}

impl<'p> Walker<'p> {
    pub(super) fn switch(&mut self, value: ExprId, cases: &'p [SwitchCase]) -> Flow {
        let out = self.eval(value);
        let base = self.pendings.len();
        let known = if self.dry == 0 && out.val.why.is_none() { out.val.known() } else { None };
        let mut label = |value| self.eval(value).val.known().map_or(Label::Unknown, Label::Value);
        let labels: Vec<Label> = cases.iter().map(|case| case.value.map_or(Label::Default, &mut label)).collect();
        let all_known = !labels.contains(&Label::Unknown);
        let flow = if let (Some(value), true) = (known, all_known) {
            let start = start_of(value, &labels);
            match start {
                Some(start) => self.cases(&cases[start..]),
                None => Flow::Next,
            }
        } else {
            let mark = self.memory.mark();
            let banned = self.path.excluded().len();
            // Under an assumption the value is known: only one case goes with it.
            let assumed = out.val.known().filter(|_| self.dry == 0 && all_known);
            let meant = assumed.map(|value| case_of(value, &labels, cases));
            let mut ends = assumed.is_some() && meant.flatten().is_some();
            let choice = self.switches_by_choice(
                value,
                labels.iter().filter(|label| **label != Label::Default).map(|label| label.value()),
            );
            self.undecide_as(1, choice);
            let mut alternatives = Vec::new();
            for start in 0..cases.len() {
                // An empty body falls into the next, which is run anyway.
                if cases[start].body.is_empty() && start + 1 < cases.len() {
                    continue;
                }
                let conditions = self.path.known();
                // Where several labels lead here, none of them is sure.
                let alone = start == 0 || !cases[start - 1].body.is_empty();
                if let (Label::Value(label), true) = (labels[start], alone) {
                    self.learn_case(&out.val.quantity(), label, true);
                }
                let is_meant = meant == Some(Some(start));
                if meant.is_some() && !is_meant {
                    self.path.exclude(&out.val.why);
                }
                let begun = self.begun();
                let compared = self.compare_with(labels[start].value().filter(|_| choice));
                let alternative = self.alternative(mark, |w| w.cases(&cases[start..]));
                ends &= !is_meant || self.is_dead(&alternative.flow);
                alternatives.push(alternative);
                self.compared_with(compared);
                self.forget_begun(begun);
                self.path.unlearn(conditions);
                self.path.readmit(banned);
            }
            if !labels.contains(&Label::Default) {
                alternatives.push(self.alternative(mark, |_| Flow::Next));
            }
            self.undecide_as(-1, choice);
            if ends {
                // The program only goes on where the assumption does not hold.
                self.path.exclude(&out.val.why);
            }
            self.settle(mark, alternatives, &JoinRule::Either)
        };
        let reached = matches!(flow, Flow::Next | Flow::Break);
        let (reached, _) = self.collect(base, reached, |flow| *flow == Flow::Break);
        if reached { Flow::Next } else { flow }
    }

    fn cases(&mut self, cases: &'p [SwitchCase]) -> Flow {
        for case in cases {
            let flow = self.block(&case.body);
            if flow != Flow::Next {
                return flow;
            }
            if self.dry > 0 {
                return Flow::Next;
            }
        }
        Flow::Next
    }
}

/// The case that a value leads to; none where no case is for it.
fn start_of(value: i64, labels: &[Label]) -> Option<usize> {
    let position = |wanted| labels.iter().position(|label| *label == wanted);
    position(Label::Value(value)).or_else(|| position(Label::Default))
}

/// The same, behind those that fall into it.
fn case_of(value: i64, labels: &[Label], cases: &[SwitchCase]) -> Option<usize> {
    let start = start_of(value, labels)?;
    (start..cases.len()).find(|at| !cases[*at].body.is_empty() || at + 1 == cases.len())
}
