//! Statements in `#if` groups of functions for both sides, of which the pass for the device reads one branch and that for the host
//! another: `#ifdef __CUDA_ARCH__`.

use super::contested::{branches, is_plain, place};
use super::preprocessor::{asked, children_of_branch};
use super::source::Src;
use super::state::{Frame, Lowerer};
use crate::configuration::Grounds;
use crate::ir::{Block, Expr, Stmt};
use cudalint_syntax::Node;

/// The branch of a group that one pass reads: the number of it, or none of them; an error where nothing decides it.
type Chosen = Result<Option<usize>, ()>;

impl Lowerer<'_> {
    /// Whether the two passes read different branches of a group, whose statements can be told apart.
    pub(super) fn is_by_side<'t>(&mut self, s: Src<'t>, group: Node<'t>) -> bool {
        let asks = |frame: &Frame| frame.both_sides && !frame.host_only && !frame.device_only;
        if !self.frames.last().is_some_and(asks) || !is_plain(s, group, group, 0) {
            return false;
        }
        match (self.chosen_by(s, group, true), self.chosen_by(s, group, false)) {
            (Ok(host), Ok(device)) => host != device,
            _ => false,
        }
    }

    fn chosen_by<'t>(&self, s: Src<'t>, group: Node<'t>, host: bool) -> Chosen {
        for (number, branch) in branches(group).enumerate() {
            let Some(text) = asked(s, branch) else { return Ok(Some(number)) };
            let decision = self.view.decide(&text, place(s, branch), host);
            match decision.grounds {
                Grounds::Contested => return Err(()),
                _ if decision.holds => return Ok(Some(number)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Lowers a group as an `if` that asks for the side.
    pub(super) fn group_by_side<'t>(&mut self, s: Src<'t>, group: Node<'t>, out: &mut Block) {
        let then = self.one_side(s, group, false);
        let otherwise = self.one_side(s, group, true);
        let condition = self.push(Expr::OnDevice, s.span(group));
        self.emit(s, group, Stmt::If { condition, then, otherwise, constant: true }, out);
    }

    /// What one pass reads of a group, as of a function for that side alone.
    fn one_side<'t>(&mut self, s: Src<'t>, group: Node<'t>, host: bool) -> Block {
        let mut block = Block::new();
        let branch = self.chosen_by(s, group, host).ok().flatten().and_then(|number| branches(group).nth(number));
        let Some(branch) = branch else { return block };
        self.set_side(host, true);
        let mark = self.open_scope();
        for child in self.chosen_among(s, children_of_branch(branch), true) {
            self.statement(s, child, &mut block);
        }
        self.close_scope(mark);
        self.set_side(host, false);
        block
    }

    fn set_side(&mut self, host: bool, is_one: bool) {
        if let Some(frame) = self.frames.last_mut() {
            let side = if host { &mut frame.host_only } else { &mut frame.device_only };
            *side = is_one;
        }
    }
}
