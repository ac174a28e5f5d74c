//! Generalized ufuncs: each thread runs the body for one element of the dimensions that the layout does not name.
//!
//! Whoever launches one hands over arrays with a first axis for these dimensions (of extent 1 where there are none). A thread
//! takes its own part of each: a view for what the signature declares an array, the element itself for a number; threads
//! beyond the last do nothing (`numba.cuda.deviceufunc`, `expand_gufunc_template`).

use super::lower::Lowerer;
use super::types::Key;
use super::value::{Array, Value};
use super::{ArgumentType, guess_arguments};
use crate::code::{BinaryOp, Builtin, Expr, ExprId, Stmt, Ty};
use crate::report::Site;
use cudalint_program::ir::{self, LocalId};
use cudalint_syntax::Span;

impl<'p> Lowerer<'p> {
    /// The body, for the element of this thread.
    pub(super) fn for_each_element(
        &mut self,
        key: &Key,
        function: &'p ir::Function,
        statements: impl FnOnce(&mut Self),
    ) {
        // Nobody wrote it.
        let start = function.name_span.start as usize;
        let site = self.site(Span::new(start, start));
        let arrays: Vec<Option<Array>> = (0..function.param_count)
            .map(|index| match self.body.slots.get(&LocalId(index)).and_then(|slot| slot.value.clone()) {
                Some(Value::Array(array)) => Some(*array),
                _ => None,
            })
            .collect();
        let count = arrays.iter().flatten().find_map(|array| array.shape.first().copied());
        let stated = guess_arguments(self.project, key.module, key.function).unwrap_or_default();
        let Some(count) = count else { return statements(self) };
        self.for_thread(count, site, |this, element| {
            for (index, array) in arrays.into_iter().enumerate() {
                let Some(array) = array else { continue };
                let part = this.part_of(&array, stated.get(index), element, site);
                let slot = this.body.slots.entry(LocalId(index as u32)).or_default();
                slot.value = Some(part);
            }
            statements(this);
        });
    }

    /// What each thread does with the element that has its number; those beyond the last do nothing.
    pub(super) fn for_thread(&mut self, count: ExprId, site: Site, work: impl FnOnce(&mut Self, ExprId)) {
        let mut builtin = |which: Builtin| self.push(Expr::Builtin(which), Ty::LONG, site);
        let (block, size, thread) =
            (builtin(Builtin::BlockIdx(0)), builtin(Builtin::BlockDim(0)), builtin(Builtin::ThreadIdx(0)));
        let first = self.push(Expr::Binary(BinaryOp::Mul, block, size), Ty::LONG, site);
        let element = self.push(Expr::Binary(BinaryOp::Add, first, thread), Ty::LONG, site);
        let element = self.settle(element);
        let condition = self.push(Expr::Binary(BinaryOp::Lt, element, count), Ty::Bool, site);
        let (then, ()) = self.in_block(|this| work(this, element));
        self.emit(Stmt::If { condition, then, otherwise: Vec::new() }, site);
    }

    /// What one element of the loop is of an array.
    fn part_of(&mut self, array: &Array, stated: Option<&ArgumentType>, element: ExprId, site: Site) -> Value {
        let at = Value::Number(element, Ty::LONG);
        let whole = Value::Array(Box::new(array.clone()));
        let own = match stated {
            Some(ArgumentType::Array { rank, .. }) => usize::from(*rank),
            _ => return self.subscript(&whole, &[at], site),
        };
        if own < array.shape.len() {
            let part = self.subscript(&whole, &[at], site);
            return self.settled(&part);
        }
        // A number that is given back is an array of one element.
        let Some((address, _)) = self.element_address(array, &[at], site) else { return whole };
        let data = self.settle(address);
        let one = self.long(1, site);
        Value::Array(Box::new(Array {
            data,
            shape: vec![one],
            strides: Vec::new(),
            order: super::Order::C,
            ..array.clone()
        }))
    }
}
