//! Lambdas: a closure is an aggregate of what it captures, and its body is a function that gets the closure's address.

use super::state::{At, Bound, Capture, Closure, Found, How, Key, Lowerer, Out};
use crate::code::{self, Expr, Leaf};
use crate::report::Site;
use cudalint_program::Name;
use cudalint_program::ir::FunctionId;
use cudalint_program::types::{Argument, Ty};

/// The name of the type that stands for a closure: its number.
const CLOSURE: &str = "<closure>";

impl Lowerer<'_> {
    /// The closure that a type stands for.
    pub(super) fn closure_of(&self, ty: &Ty) -> Option<usize> {
        match ty {
            Ty::Library(name, args) if &**name == CLOSURE => {
                usize::try_from(args.first()?.number()?).ok().filter(|index| *index < self.closures.len())
            }
            _ => None,
        }
    }

    pub(super) fn closure_leaves(&mut self, ty: &Ty, at: u32, out: &mut Vec<Leaf>, _nesting: u32) -> bool {
        let Some(closure) = self.closure_of(ty).and_then(|index| self.closures.get(index).cloned()) else {
            return false;
        };
        for capture in &closure.captures {
            let ty = match capture.how {
                How::Object(_) => continue,
                How::Reference => code::Ty::Pointer,
                How::Value => self.ty(&capture.ty),
            };
            match ty {
                code::Ty::Aggregate(layout) if !layout.leaves.is_empty() => out.extend(
                    layout
                        .leaves
                        .iter()
                        .map(|leaf| Leaf { offset: at + capture.offset + leaf.offset, ty: leaf.ty.clone() }),
                ),
                code::Ty::Aggregate(_) | code::Ty::Void => return false,
                scalar => out.push(Leaf { offset: at + capture.offset, ty: scalar }),
            }
        }
        out.len() <= code::MAX_LEAVES
    }

    /// `[=](int i) { … }`.
    pub(super) fn lambda(&mut self, function: FunctionId, by_reference: bool, site: Site) -> Out {
        let Some(found) = self.context.ir.functions.get(function) else {
            return self.not_read(&[], "lambda", code::Effect::Anything, site);
        };
        let mut captures = Vec::new();
        let mut parts = Vec::new();
        let mut bytes = 0_u32;
        let mut add = |this: &mut Self, name: Name, value: &Out, how: How, parts: &mut Vec<code::ExprId>| {
            let (id, size, align) = match how {
                How::Object(_) => (None, 0, 1),
                How::Reference => (Some(this.address(value)), 8, 8),
                How::Value => {
                    let id = match (&value.ty, this.place(value)) {
                        // An array is copied as a whole.
                        (Ty::Array(..), Some(place)) => {
                            let ty = this.ty(&value.ty);
                            this.push_access(Expr::Read(place), ty, value.site)
                        }
                        _ => this.convert(value, &value.ty),
                    };
                    let ty = this.code_ty(id);
                    (Some(id), ty.bytes().unwrap_or(8), ty.align())
                }
            };
            let offset = bytes.next_multiple_of(align.max(1));
            bytes = offset + size;
            parts.extend(id);
            captures.push(Capture { name, offset, ty: value.ty.clone(), volatile: value.volatile, how });
        };
        if let Some(own) = self.this_type() {
            let pointer = self.this_pointer(site);
            let pointer = Out { ty: Ty::pointer_to(own), ..pointer };
            add(self, Name::from("this"), &pointer, How::Value, &mut parts);
        }
        for (name, local) in &found.captures {
            let (value, object) = match local.and_then(|local| self.context.bindings.get(&local).cloned()) {
                Some(binding) => {
                    let object = match binding.what {
                        Bound::Object(object) => Some(object),
                        _ => None,
                    };
                    (self.bound(&binding, site), object)
                }
                None => match self.captured(name, site) {
                    Some(value) => (value, self.captured_object(name)),
                    None => continue,
                },
            };
            let how = match object {
                Some(object) => How::Object(object),
                // What `[&r = x]` makes of `x` is not followed.
                None if by_reference != found.captured_otherwise.contains(name) || found.made_captures > 0 => {
                    How::Reference
                }
                None => How::Value,
            };
            add(self, name.clone(), &value, how, &mut parts);
        }
        let index = self.closures.len();
        let env = self.context.scope.env().clone();
        let bytes = bytes.max(1).next_multiple_of(8);
        self.closures.push(Closure { module: self.context.module, function, env, captures, bytes });
        let ty = Ty::Library(CLOSURE.into(), vec![Argument::Value((index as i64).into())].into());
        let code_ty = self.ty(&ty);
        let id = self.push(Expr::Aggregate(parts), code_ty, site);
        self.computed(id, ty, site)
    }

    fn capture(&self, name: &str) -> Option<(&Capture, code::VariableId)> {
        let (index, variable) = self.context.closure?;
        let closure = self.closures.get(index)?;
        closure.captures.iter().find(|capture| capture.name == *name).map(|capture| (capture, variable))
    }

    /// Whether a name is a variable of the functions around this lambda.
    pub(super) fn is_captured(&self, name: &str) -> bool {
        self.capture(name).is_some()
    }

    fn captured_object(&self, name: &str) -> Option<code::ObjectId> {
        match self.capture(name)?.0.how {
            How::Object(object) => Some(object),
            _ => None,
        }
    }

    pub(super) fn captured_this(&self) -> Option<Ty> {
        match &self.capture("this")?.0.ty {
            Ty::Pointer(to) => Some((**to).clone()),
            _ => None,
        }
    }

    /// A captured variable.
    pub(super) fn captured(&mut self, name: &str, site: Site) -> Option<Out> {
        let (capture, variable) = self.capture(name)?;
        let capture = capture.clone();
        if let How::Object(object) = capture.how {
            return Some(self.object_place(object, &capture.ty, capture.volatile, site));
        }
        let base = self.read_register(variable, site);
        let address = self.offset(base, capture.offset, site);
        let element = self.size_of(&capture.ty).unwrap_or(0);
        let place =
            Out { at: At::Memory { address, element }, ty: capture.ty.clone(), volatile: capture.volatile, site };
        if capture.how == How::Value {
            return Some(place);
        }
        let holder = Out { ty: Ty::pointer_to(capture.ty.clone()), volatile: false, ..place };
        let address = self.load(&holder);
        Some(self.pointed(address, capture.ty, capture.volatile, site))
    }

    /// Calls a lambda.
    pub(super) fn call_closure(&mut self, index: usize, callee: &Out, args: &[Out], site: Site) -> Option<Out> {
        let closure = self.closures.get(index)?.clone();
        let function = self.project.function_at(closure.module, closure.function)?;
        // What `[n = …]` makes comes into being with the closure; here it would anew with each call.
        if function.variadic || args.len() > function.param_count as usize || function.made_captures > 0 {
            return None;
        }
        let env = self.bind((closure.module, closure.function), &closure.env, &[], args);
        let found = Found { module: closure.module, function: closure.function, env, record: None };
        let by_argument = self.by_argument(&found, function, args);
        let address = self.address(callee);
        let key = Key {
            module: closure.module,
            function: closure.function,
            env: found.env,
            this: None,
            closure: Some(index),
            by_argument,
        };
        self.invoke_key(key, Some(address), args, site)
    }
}
