//! Whether what some blocks of a launch show of its subscripts holds for all of its blocks.

use super::shape::{LARGEST, Shape};
use super::state::{Indices, State, Value};
use super::sums::{Fact, Sum};
use super::walk::Walker;
use crate::code::{Code, ExprId, VariableId};
use crate::launch::{Argument, LaunchInput};

/// Most ways to one subscript that are looked at.
const MAX_WAYS: usize = 64;

impl Walker<'_> {
    /// A thread that comes here computes the address of an element.
    pub fn note_index(&mut self, at: ExprId, index: &Value, state: &State) {
        if self.probing > 0 || state.dead {
            return;
        }
        let Some(indices) = &mut self.indices else { return };
        let ways = indices.entry(at).or_default();
        let sum = if let Value::Number(sum) = index { Some(sum.clone()) } else { None };
        let way = (sum.filter(|_| ways.len() < MAX_WAYS), state.path.clone());
        if ways.len() <= MAX_WAYS && !ways.contains(&way) {
            ways.push(way);
        }
    }
}

/// Whether, in all blocks of a launch, all these subscripts lie between two numbers. Each question names the addresses that they
/// are a part of; what is never computed lies wherever one likes.
pub(crate) fn in_all_blocks(code: &Code, launch: &LaunchInput, questions: &[(&[ExprId], i64, i64)]) -> Vec<bool> {
    let Some(mut walker) = walked(code, launch) else { return vec![false; questions.len()] };
    let indices: Indices = walker.indices.take().unwrap_or_default();
    let mut lie = |at: &ExprId, least: i64, most: i64| {
        let (least, most) = (Sum::number(least), Sum::number(most));
        indices.get(at).into_iter().flatten().all(|(sum, path)| {
            sum.as_ref().is_some_and(|sum| {
                let symbols = &mut walker.symbols;
                symbols.follows(path, Fact::at_least(sum, &least)) && symbols.follows(path, Fact::at_least(&most, sum))
            })
        })
    };
    questions.iter().map(|(places, least, most)| places.iter().all(|at| lie(at, *least, *most))).collect()
}

/// A walk over the kernel with the numbers of a launch.
fn walked<'c>(code: &'c Code, launch: &LaunchInput) -> Option<Walker<'c>> {
    let shape = Shape { axes: 3, most: launch.block.map(Some), exactly: true };
    let mut walker = Walker::new(code, &shape, &[]);
    walker.compares = false;
    walker.indices = Some(Indices::default());
    for (axis, blocks) in launch.grid.iter().enumerate() {
        if i64::from(*blocks).checked_mul(i64::from(*launch.block.get(axis)?))? > LARGEST {
            return None;
        }
        let blocks = Sum::number(i64::from(*blocks));
        let block = walker.blocks.get(axis)?.clone();
        walker.symbols.note(block.as_symbol()?, Fact::above(&blocks, &block));
        *walker.grid.get_mut(axis)? = blocks;
    }
    for (at, argument) in launch.arguments.iter().enumerate() {
        let Argument::Int(value) = argument else { continue };
        let id = VariableId(at as u32);
        let ty = &code.functions.first()?.variables.get(id)?.ty;
        // What a walk takes for granted of parameters has to hold.
        let largest = if ty.bytes() == Some(8) { i64::MAX } else { LARGEST };
        if value.checked_abs()? > largest {
            return None;
        }
        walker.numbers.insert(id, *value);
    }
    walker.kernel().ok()?;
    Some(walker)
}
