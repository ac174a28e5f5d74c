//! `#if` groups that stand in the tree: which branch is the program.

use super::fields::{Field, field};
use super::source::{Src, named_children};
use super::state::Lowerer;
use crate::configuration::Grounds;
use crate::ir::Supposed;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{Define, Node, Span};

/// What is supposed where a condition that nothing decides is taken to hold, or not to. A name that nobody defines is not
/// defined: that is no supposition.
fn in_words(condition: &str, holds: bool) -> Option<String> {
    // It may be written over several lines.
    let condition = condition.split(|c: char| c.is_whitespace() || c == '\\').filter(|word| !word.is_empty());
    let condition = condition.collect::<Vec<_>>().join(" ");
    let (asked, negated) = match condition.strip_prefix('!').map(str::trim) {
        Some(rest) if rest.starts_with("defined") => (rest, true),
        _ => (condition.as_str(), false),
    };
    let name =
        asked.strip_prefix("defined").map(|name| name.trim().trim_start_matches('(').trim_end_matches(')').trim());
    match name.filter(|name| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')) {
        Some(name) => (holds != negated).then(|| format!("`{name}` is defined")),
        None => holds.then(|| format!("`{condition}` holds where it is compiled")),
    }
}

/// Whether a part of a branch is code, and not a directive or a comment.
fn is_code(node: Node<'_>) -> bool {
    !matches!(cuda_kind(node), CudaKind::Comment) && !node.kind().starts_with("preproc_")
}

/// Whether a node is a part of a function's body.
fn is_inside_function(node: Node<'_>) -> bool {
    let mut at = node.parent();
    while let Some(around) = at {
        if cuda_kind(around) == CudaKind::FunctionDefinition {
            return true;
        }
        at = around.parent();
    }
    false
}

/// Whether a node is an `#if` group.
pub(super) fn is_group(node: Node<'_>) -> bool {
    matches!(cuda_kind(node), CudaKind::PreprocIf | CudaKind::PreprocIfdef)
}

/// What a branch of a group asks; nothing for `#else`.
pub(super) fn asked(s: Src<'_>, branch: Node<'_>) -> Option<String> {
    match cuda_kind(branch) {
        CudaKind::PreprocIf | CudaKind::PreprocElif => {
            let condition = field(branch, Field::Condition);
            Some(condition.map_or("", |condition| s.text(condition)).to_owned())
        }
        CudaKind::PreprocIfdef | CudaKind::PreprocElifdef => {
            let name = field(branch, Field::Name).map_or("", |name| s.text(name));
            let negated = branch.child(0).is_some_and(|first| first.kind().contains("ifndef"));
            Some(if negated { format!("!defined({name})") } else { format!("defined({name})") })
        }
        _ => None,
    }
}

/// The parts of a branch's code, comments included.
pub(super) fn children_of_branch(branch: Node<'_>) -> Vec<Node<'_>> {
    let skip = [Field::Condition, Field::Name, Field::Alternative].map(|part| field(branch, part));
    named_children(branch).into_iter().filter(|child| !skip.contains(&Some(*child))).collect()
}

impl Lowerer<'_> {
    /// The named children of a node, comments included, with each `#if` group replaced by the children of its branch.
    pub(super) fn chosen_children<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> Vec<Node<'t>> {
        self.chosen_among(s, named_children(node), false)
    }

    /// As [`Self::chosen_children`], of statements: a group of which nothing decides the branch stays.
    pub(super) fn chosen_statements<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> Vec<Node<'t>> {
        self.chosen_among(s, named_children(node), true)
    }

    pub(super) fn chosen_among<'t>(&mut self, s: Src<'t>, mut out: Vec<Node<'t>>, keep: bool) -> Vec<Node<'t>> {
        let mut kept: Vec<usize> = Vec::new();
        let mut rounds = 0;
        while out.iter().any(|node| is_group(*node) && !kept.contains(&node.id())) && rounds < 64 {
            rounds += 1;
            let mut next = Vec::with_capacity(out.len());
            for child in out {
                if !is_group(child) || kept.contains(&child.id()) {
                    next.push(child);
                } else if keep && (self.is_contested(s, child) || self.is_by_side(s, child)) {
                    kept.push(child.id());
                    next.push(child);
                } else {
                    self.branch(s, child, &mut next);
                }
            }
            out = next;
        }
        out
    }

    /// Adds the children of the branch of a group that is the program. Of a file that is part of programs with different
    /// branches, all of these: what they declare in two ways is not known.
    pub(super) fn branch<'t>(&mut self, s: Src<'t>, group: Node<'t>, out: &mut Vec<Node<'t>>) {
        let mut node = group;
        let mut supposed = None;
        let mut chosen = false;
        let mut passed_code = false;
        for _ in 0..10_000 {
            let alternative = field(node, Field::Alternative);
            let text = asked(s, node);
            let at = if s.is_file() { node.start_byte() as u32 } else { u32::MAX };
            let decision = text.as_ref().map(|text| self.view.decide(text, at, self.is_host_only()));
            if let (Some(text), Some(decision)) = (&text, decision)
                && decision.grounds != Grounds::Known
                && s.is_file()
                && supposed.is_none()
            {
                let contested = decision.grounds == Grounds::Contested && !decision.holds;
                supposed = in_words(text, decision.holds)
                    .or_else(|| contested.then(|| format!("`{}` does not hold where it is compiled", text.trim())));
                chosen = decision.grounds == Grounds::Supposed;
            }
            let children = || children_of_branch(node).into_iter();
            let both = decision.is_some_and(|it| it.grounds == Grounds::Contested) && self.frames.is_empty();
            if decision.is_none_or(|decision| decision.holds) || both {
                let others =
                    passed_code || alternative.is_some_and(|other| named_children(other).into_iter().any(is_code));
                if let Some(condition) = supposed.take()
                    && (others || is_inside_function(group))
                    && let (Some(first), Some(last)) = (children().next(), children().next_back())
                {
                    let span = Span::new(first.start_byte(), last.end_byte());
                    let group = Span::new(group.start_byte(), group.end_byte());
                    self.suppose(Supposed { span, group, condition: condition.into(), extra: !others, chosen });
                }
                out.extend(children());
                if !both {
                    self.pass_over(s, alternative);
                    return;
                }
            } else {
                self.pass_over_branch(s, node);
            }
            passed_code |= children().any(is_code);
            match alternative {
                Some(next) => node = next,
                None => return,
            }
        }
    }

    /// Notes that a branch and those behind it are not the program.
    fn pass_over<'t>(&mut self, s: Src<'t>, branch: Option<Node<'t>>) {
        let mut next = branch;
        for _ in 0..10_000 {
            let Some(branch) = next else { return };
            self.pass_over_branch(s, branch);
            next = field(branch, Field::Alternative);
        }
    }

    fn pass_over_branch<'t>(&mut self, s: Src<'t>, branch: Node<'t>) {
        let parts = children_of_branch(branch);
        if let (true, Some(first), Some(last)) = (s.is_file(), parts.first(), parts.last()) {
            self.module.passed_over.push(Span::new(first.start_byte(), last.end_byte()));
        }
    }

    /// Notes that code is the program under a condition only.
    fn suppose(&mut self, supposed: Supposed) {
        if !self.module.supposed.contains(&supposed) {
            self.module.supposed.push(supposed);
        }
    }

    /// Notes that a use means this definition under a condition only.
    pub(super) fn suppose_macro(&mut self, define: &Define, span: Span) {
        let host = self.is_host_only();
        let needed =
            define.conditions.iter().find(|it| self.view.decide(&it.text, it.at, host).grounds == Grounds::Supposed);
        if let Some(condition) = needed.and_then(|it| in_words(&it.text, !it.negated)) {
            self.suppose(Supposed { span, group: span, condition: condition.into(), extra: true, chosen: true });
        }
    }
}
