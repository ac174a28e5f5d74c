//! Ufuncs: the kernel that Numba writes around a function of numbers.
//!
//! ```text
//! def kernel(a0, a1, out):
//!     i = cuda.grid(1)
//!     if i < out.shape[0]:
//!         out[i] = function(a0[i], a1[i])
//! ```
//!
//! (`vectorizer_stager_source` of `numba.cuda.vectorizers`.) What is one number for all elements is handed over as such.

use super::calls::Arguments;
use super::lower::{Context, Lowerer};
use super::scan::Scan;
use super::types::Key;
use super::types::PyTy;
use super::value::{Array, Value};
use crate::code::{self, Ty};
use crate::report::Site;
use cudalint_program::ir;
use std::sync::Arc;

/// What the array of results is called.
const RESULTS: &str = "out";

impl<'p> Lowerer<'p> {
    /// Lowers the kernel; `None` where the arguments are not those of the function and an array of results.
    pub(super) fn for_each_result(&mut self, key: Key, function: &'p ir::Function) -> Option<()> {
        let count = function.param_count as usize;
        let Key { module, function: id, captured, arguments } = key;
        let (Some(PyTy::Array { rank: 1, .. }), true) = (arguments.last(), arguments.len() == count + 1) else {
            return None;
        };
        let outer = self.code.functions.next_key();
        let site = Site { module, span: function.name_span };
        self.code.functions.push(code::Function::new(&function.name, site));
        let ir = self.project.module(module);
        let scan = Arc::new(Scan::of(ir, function, self.dialect));
        self.context = Context { module, ir, id, function: Some(function), captured, scan };
        self.calls += 1;
        let mut values = Vec::new();
        let mut parameters = 0;
        for (index, ty) in arguments.iter().enumerate() {
            let own = function.locals.get(ir::LocalId::from(index)).filter(|_| index < count);
            let name = own.map_or(RESULTS, |local| local.name.as_str());
            let at = own.map_or(site, |local| self.site(local.span));
            let mut leaves = Vec::new();
            self.parameter(name, ty, at, &mut leaves);
            parameters += leaves.len() as u32;
            values.push((Value::from_leaves(ty, &Arc::from(name), &mut leaves.into_iter())?, at));
        }
        let Some((Value::Array(results), _)) = values.pop() else { return None };
        let (body, ()) = self.in_block(|this| this.store_results(&values, &results, site));
        let variables = std::mem::take(&mut self.body.variables);
        let mut all = std::mem::take(&mut self.body.entry);
        all.extend(body);
        let made = self.code.functions.get_mut(outer)?;
        made.variables = variables;
        made.parameters = parameters;
        made.body = all;
        self.calls -= 1;
        Some(())
    }

    fn store_results(&mut self, values: &[(Value, Site)], results: &Array, site: Site) {
        let Some(count) = results.shape.first().copied() else { return };
        self.for_thread(count, site, |this, element| {
            let at = Value::Number(element, Ty::LONG);
            let mut given = Vec::new();
            for (value, place) in values {
                let own = match value {
                    Value::Array(_) => this.subscript(value, std::slice::from_ref(&at), *place),
                    number => number.clone(),
                };
                given.push(this.settled(&own));
            }
            let (module, id, captured) = (this.context.module, this.context.id, this.context.captured);
            let arguments = Arguments { given: given.clone(), named: Vec::new() };
            let result = this.call_instance(module, id, captured, &given, &arguments, site);
            let Some((address, element)) = this.element_address(results, &[at], site) else { return };
            this.store(address, &element, &result, site);
        });
    }
}
