//! What values of the replay rest on, beside the integers that they are.

pub use cudalint_numbers::{Atom, AtomKind, ClosedOp, Comparison, Condition, Poly, Quantity, Terms};
use std::sync::Arc;

/// What a value rests on besides the source: empty for facts. Cheap to clone.
pub type Assumptions = Option<Arc<Vec<String>>>;

/// Both sets of assumptions, each once.
pub fn union(a: &Assumptions, b: &Assumptions) -> Assumptions {
    match (a, b) {
        (None, other) | (other, None) => other.clone(),
        (Some(left), Some(right)) => {
            if Arc::ptr_eq(left, right) || right.iter().all(|item| left.contains(item)) {
                return a.clone();
            }
            let mut all = left.to_vec();
            for item in right.iter() {
                if !all.contains(item) {
                    all.push(item.clone());
                }
            }
            Some(Arc::new(all))
        }
    }
}

/// One assumption.
pub fn assume(text: impl Into<String>) -> Assumptions {
    Some(Arc::new(vec![text.into()]))
}
