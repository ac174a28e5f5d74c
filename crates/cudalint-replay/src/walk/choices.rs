//! Conditions that nothing decides and that are choices of whoever calls or runs the program: which of a few ways to go. What such
//! a condition compares is surely not what the device has.

use super::Walker;
use crate::memory::{Place, root};
use crate::quantity::{AtomKind, ClosedOp, Poly, Quantity};
use crate::value::{Kind, Val};
use cudalint_program::ir::{BinaryOp, Expr, ExprId, LocalId, UnaryOp};
use cudalint_program::types::Ty;

/// How deep a condition's parts are looked at.
const MAX_PARTS: u32 = 8;
/// Numbers below this name ways to go; others are sizes.
const FEW: i64 = 32;

/// Functions that say whether two texts are the same.
const COMPARE_TEXTS: [&str; 8] =
    ["strcmp", "strncmp", "strcasecmp", "strncasecmp", "stricmp", "_stricmp", "strnicmp", "_strnicmp"];

impl Walker<'_> {
    /// Whether a condition is a choice; the numbers that it compares with are noted.
    pub(super) fn chooses(&mut self, condition: ExprId) -> bool {
        if !self.is_reporting() {
            return false;
        }
        let mut numbers = Vec::new();
        let chooses = self.is_choice(condition, 0, &mut numbers);
        if chooses && let Some(frame) = self.frames.last_mut() {
            frame.choices.extend(numbers);
        }
        chooses
    }

    /// Whether a `switch` is a choice among few numbers.
    pub(super) fn switches_by_choice(&mut self, value: ExprId, mut labels: impl Iterator<Item = Option<i64>>) -> bool {
        let few = labels.all(|label| label.is_some_and(is_one_of_few));
        few && self.is_reporting() && self.is_chosen(value, 0, &mut Vec::new())
    }

    /// What follows is gone to for this number alone. Gives how many numbers were noted before.
    pub(super) fn compare_with(&mut self, number: Option<i64>) -> usize {
        let Some(frame) = self.frames.last_mut() else { return 0 };
        let before = frame.choices.len();
        frame.choices.extend(number);
        before
    }

    /// Behind what `compare_with` speaks of.
    pub(super) fn compared_with(&mut self, before: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.choices.truncate(before);
        }
    }

    fn is_choice(&mut self, condition: ExprId, depth: u32, numbers: &mut Vec<i64>) -> bool {
        if depth > MAX_PARTS {
            return false;
        }
        match self.kind(condition) {
            Some(Expr::Unary(UnaryOp::Not, value) | Expr::Cast { value, .. }) => {
                self.is_choice(*value, depth + 1, numbers)
            }
            Some(Expr::AndThen(a, b) | Expr::OrElse(a, b)) => {
                self.is_choice(*a, depth + 1, numbers) && self.is_choice(*b, depth + 1, numbers)
            }
            Some(Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b)) => {
                if self.names_text(*a, *b) || self.names_text(*b, *a) {
                    return true;
                }
                let (one, other) = (self.few(*a), self.few(*b));
                match (one, other) {
                    (Some(number), None) => {
                        numbers.push(number);
                        self.is_chosen(*b, depth + 1, numbers)
                    }
                    (None, Some(number)) => {
                        numbers.push(number);
                        self.is_chosen(*a, depth + 1, numbers)
                    }
                    _ => false,
                }
            }
            Some(Expr::Call { .. }) => self.compares_texts(condition),
            Some(Expr::Local(_)) => {
                self.type_of(condition).value() == &Ty::Bool && self.is_chosen(condition, depth + 1, numbers)
            }
            _ => false,
        }
    }

    /// Whether whoever calls or runs the program chooses what an expression holds, and nobody asks a device for it.
    fn is_chosen(&mut self, expr: ExprId, depth: u32, numbers: &mut Vec<i64>) -> bool {
        let local = match self.kind(expr) {
            Some(Expr::Local(local)) if depth <= MAX_PARTS => *local,
            Some(Expr::Cast { value, .. }) if depth <= MAX_PARTS => return self.is_chosen(*value, depth + 1, numbers),
            Some(Expr::Call { .. }) => return self.compares_texts(expr),
            _ => return false,
        };
        let Some((Place::Cell(id, path), ty)) = self.local_place(local) else { return false };
        if path != root() {
            return false;
        }
        let val = self.memory.load(&Place::Cell(id, path));
        match &val.kind {
            Kind::Int(int) if matches!(int.q, Quantity::Symbolic(_)) => is_input(&val, numbers),
            _ => self.is_named_choice(local, &ty, depth, numbers),
        }
    }

    /// A truth, a character or an enumerator that whoever calls gives, or a truth that is itself found out by a choice; nothing changes it.
    fn is_named_choice(&mut self, local: LocalId, ty: &Ty, depth: u32, numbers: &mut Vec<i64>) -> bool {
        if !matches!(ty, Ty::Bool | Ty::Int { bytes: 1, .. } | Ty::Enum { .. }) {
            return false;
        }
        let Some(function) = self.function() else { return false };
        let Some(body) = &function.body else { return false };
        if !self.leaves_alone(body, &[local], false) {
            return false;
        }
        if local.0 < function.param_count {
            let is_entry = self.frames.last().is_some_and(|frame| frame.call.is_none());
            return is_entry && !self.from_main && !self.entry_is_called;
        }
        let init = function.locals.get(local).and_then(|variable| variable.init);
        init.is_some_and(|init| *ty == Ty::Bool && self.is_choice(init, depth + 1, numbers))
    }

    /// A number that names one of few ways: a small one, a truth, a character, an enumerator.
    fn few(&mut self, expr: ExprId) -> Option<i64> {
        match self.kind(expr)? {
            Expr::Int { value, bytes: 1, .. } => Some(*value),
            Expr::Int { value, .. } => is_one_of_few(*value).then_some(*value),
            Expr::Name { .. } => {
                let steps = self.budget.steps;
                let is_enumerator = matches!(self.type_of(expr).value(), Ty::Enum { .. });
                let value = self.plain_quantity(expr).known();
                self.budget.steps = steps;
                value.filter(|value| is_enumerator || is_one_of_few(*value))
            }
            Expr::Cast { value, .. } if !matches!(self.kind(*value), Some(Expr::Cast { .. })) => self.few(*value),
            _ => None,
        }
    }

    /// `strcmp(argv[1], "fast")`.
    fn compares_texts(&self, call: ExprId) -> bool {
        let Some(Expr::Call { callee, args }) = self.kind(call) else { return false };
        let Some(Expr::Name { path, .. }) = self.kind(*callee) else { return false };
        let compares = path.last().is_some_and(|name| compares_texts(name));
        match args.as_slice() {
            [a, b, ..] if compares => self.names_text(*a, *b) || self.names_text(*b, *a),
            _ => false,
        }
    }

    /// Whether a text that whoever calls or runs the program gives is compared with one that is written here.
    fn names_text(&self, given: ExprId, written: ExprId) -> bool {
        let given = match self.kind(given) {
            Some(Expr::Index { base, indices }) if indices.len() == 1 => *base,
            _ => given,
        };
        let (Some(Expr::Local(local)), Some(Expr::Str(_))) = (self.kind(given), self.kind(written)) else {
            return false;
        };
        let is_entry = self.frames.last().is_some_and(|frame| frame.call.is_none());
        let Some(function) = self.function() else { return false };
        let untouched = || function.body.as_ref().is_some_and(|body| self.leaves_alone(body, &[*local], false));
        let is_given = self.from_main || !self.entry_is_called;
        is_entry && is_given && local.0 < function.param_count && (self.from_main || untouched())
    }
}

/// Whether a function says whether two texts are the same.
pub(super) fn compares_texts(name: &str) -> bool {
    COMPARE_TEXTS.contains(&name)
}

const fn is_one_of_few(number: i64) -> bool {
    -FEW < number && number < FEW
}

/// Whether a number is one that is chosen outside, or the comparison of one with a small number.
fn is_input(val: &Val, numbers: &mut Vec<i64>) -> bool {
    let Kind::Int(int) = &val.kind else { return false };
    let Some(poly) = int.q.poly() else { return false };
    let Some(atom) = single(&poly) else { return false };
    match atom.kind() {
        AtomKind::Input => true,
        AtomKind::Closed(ClosedOp::Eq | ClosedOp::Ne, a, b) => {
            let is_plain = |poly: &Poly| single(poly).is_some_and(|atom| *atom.kind() == AtomKind::Input);
            let number = match (a.as_constant(), b.as_constant()) {
                (Some(number), None) if is_plain(b) => number,
                (None, Some(number)) if is_plain(a) => number,
                _ => return false,
            };
            numbers.push(number);
            is_one_of_few(number)
        }
        _ => false,
    }
}

/// The one atom that a polynomial is.
fn single(poly: &Poly) -> Option<&crate::quantity::Atom> {
    let mut terms = poly.terms.iter();
    match (terms.next(), terms.next()) {
        (Some((product, 1)), None) if product.len() == 1 => product.first(),
        _ => None,
    }
}
