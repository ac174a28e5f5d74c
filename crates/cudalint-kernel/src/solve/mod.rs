//! Which values of a launch's free inputs could show a defect? Execution needs numbers; where the host program leaves some
//! open, this looks for numbers that are worth executing: it reads index, guards and loop bounds of each access as terms
//! over the inputs, threads and blocks, and searches for values that lead out of the buffer.
//!
//! What it finds is a proposal. Wrap-around, aliasing and code it did not understand are left out of its terms, so an
//! answer counts only once the execution of the launch with these numbers shows the defect.

mod assigned;
mod extract;
mod problem;
mod search;
mod term;

pub use problem::{Problem, TermArgument};
pub use search::search;
pub use term::{Constraint, Operation, Relation, TermId, Terms, Variable};

use crate::code::Code;
use extract::{Access, Extractor, Target};
use rustc_hash::FxHashSet;

/// Values of the inputs under which some access probably leaves its memory, in the order of the accesses, each once, at
/// most `limit` of them.
pub fn out_of_bounds(code: &Code, problem: &Problem, limit: usize) -> Vec<Vec<i64>> {
    let mut problem = problem.clone();
    let mut extractor = Extractor::new(code, &mut problem);
    extractor.run();
    let (accesses, ranges) = extractor.finish();
    let mut found: Vec<Vec<i64>> = Vec::new();
    let mut tried: FxHashSet<Vec<Constraint>> = FxHashSet::default();
    for access in &accesses {
        for below in [false, true] {
            if found.len() >= limit {
                return found;
            }
            let Some(leaves) = leaves(code, &mut problem, access, below) else { continue };
            let mut constraints = vec![leaves];
            constraints.extend(&access.guards);
            constraints.extend(&ranges);
            constraints.extend(&problem.conditions);
            // Many accesses are at one place, or at the same of another array of that size.
            if tried.contains(&constraints) {
                continue;
            }
            if let Some(values) = search(&problem.terms, &constraints) {
                let inputs: Vec<i64> =
                    problem.inputs.iter().map(|input| values.get(input.index()).copied().unwrap_or(0)).collect();
                if !found.contains(&inputs) {
                    found.push(inputs);
                }
            }
            tried.insert(constraints);
        }
    }
    found
}

/// That an access leaves its memory, at its start or at its end.
fn leaves(code: &Code, problem: &mut Problem, access: &Access, below: bool) -> Option<Constraint> {
    if below {
        let zero = problem.terms.constant(0);
        return Some(Constraint { left: access.offset, relation: Relation::Less, right: zero });
    }
    let bytes = match access.target {
        Target::Buffer(buffer) => problem.buffers.get(buffer).copied().flatten()?,
        Target::Object(object) => match code.objects.get(object)?.bytes {
            Some(bytes) => problem.terms.constant(i64::try_from(bytes).ok()?),
            None => problem.dynamic_shared?,
        },
    };
    let size = problem.terms.constant(access.size.into());
    let end = problem.terms.of(Operation::Add, access.offset, size);
    Some(Constraint { left: bytes, relation: Relation::Less, right: end })
}
