//! Calls: functions in sight are walked in place, others may write whatever they can reach.

use super::meaning::Meaning;
use super::memo::{Called, Recall};
use super::places::Access;
use super::unseen::{const_type, pack_parameter};
use super::{Out, Slot, Walker};
use crate::facts::Site;
use crate::host::{self, Flow};
use crate::memory::Place;
use crate::value::{Closure, Kind, Val};
use cudalint_program::ir::{
    Expr, ExprId, Function, FunctionId, FunctionRole, LocalId, ModuleId, Path, TemplateArg, Type,
};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::{Entry, Name};
use std::rc::Rc;

/// A function with what a call brings it.
pub(crate) struct Invocation<'a> {
    pub module: ModuleId,
    pub id: FunctionId,
    pub env: TypeEnv,
    pub this: Option<(Place, Ty)>,
    pub closure: Option<Rc<Closure>>,
    pub exprs: &'a [ExprId],
    pub args: Vec<Out>,
}

impl<'p> Walker<'p> {
    /// A call expression.
    pub fn call(&mut self, id: ExprId, callee: ExprId, args: &'p [ExprId]) -> Out {
        match self.kind(callee) {
            Some(Expr::Name { path, targs }) => self.named_call(id, callee, path, targs, args),
            Some(Expr::Member { base, name, arrow }) => {
                let targs = self.module().method_args.get(&callee).map_or(&[][..], Vec::as_slice);
                self.method_call(id, (*base, *arrow), (name, targs), args)
            }
            _ => {
                let out = self.eval(callee);
                self.call_value(id, &out, args)
            }
        }
    }

    /// A call through a value: a lambda, a function pointer.
    fn call_value(&mut self, id: ExprId, callee: &Out, args: &'p [ExprId]) -> Out {
        let project = self.project;
        let known = match &callee.val.kind {
            Kind::Closure(closure) => Some((closure.module, closure.function)),
            Kind::Function(module, function, _) => Some((*module, *function)),
            _ => None,
        };
        let known = known.and_then(|(module, id)| Some((module, project.function_at(module, id)?)));
        let outs = self.arguments_of(known, args);
        match &callee.val.kind {
            Kind::Closure(closure) => {
                let closure = closure.clone();
                let this = closure.this.clone().map(|place| (place, closure.this_ty.clone()));
                self.invoke(
                    id,
                    Invocation {
                        module: closure.module,
                        id: closure.function,
                        env: closure.env.clone(),
                        this,
                        closure: Some(closure),
                        exprs: args,
                        args: outs,
                    },
                )
            }
            Kind::Function(module, function, env) => {
                let (module, function, env) = (*module, *function, env.clone());
                self.invoke(
                    id,
                    Invocation { module, id: function, env, this: None, closure: None, exprs: args, args: outs },
                )
            }
            _ => {
                // An object that can be called: what it leads to, its captures among it, may be written.
                if matches!(callee.ty.value(), Ty::Record(..) | Ty::Library(..) | Ty::Unknown | Ty::Auto) {
                    self.hand_out(callee);
                    if let Some(place) = &callee.place {
                        let place = place.clone();
                        self.forget_place(&place);
                    }
                }
                self.memory.forget_shared();
                self.unknown_call(args, &outs, None)
            }
        }
    }

    /// Evaluates arguments whose values are read.
    pub fn arguments(&mut self, args: &[ExprId]) -> Vec<Out> {
        args.iter().map(|arg| self.eval(*arg)).collect()
    }

    /// Evaluates the arguments of a function. What a reference may be bound to is not read by being named: so it is where
    /// the parameter is a reference, and with every argument of a function that is not known.
    pub fn arguments_of(&mut self, callee: Option<(ModuleId, &Function)>, args: &[ExprId]) -> Vec<Out> {
        let by_value = |index: usize| {
            let parameter = callee.and_then(|(module, function)| {
                let parameter = function.params().get(LocalId::from(index))?;
                self.project.module(module).types.get(parameter.ty)
            });
            parameter.is_some_and(|ty| !matches!(ty, Type::Reference(_) | Type::Unknown))
        };
        let bound: Vec<bool> = (0..args.len()).map(|index| !by_value(index)).collect();
        args.iter()
            .zip(bound)
            .map(|(arg, bound)| {
                let around = std::mem::replace(&mut self.bound_argument, bound.then_some(*arg));
                let out = self.eval(*arg);
                self.bound_argument = around;
                out
            })
            .collect()
    }

    fn named_call(
        &mut self,
        id: ExprId,
        callee: ExprId,
        path: &'p Path,
        targs: &'p [TemplateArg],
        args: &'p [ExprId],
    ) -> Out {
        let Some(name) = path.last() else {
            let outs = self.arguments_of(None, args);
            return self.unknown_call(args, &outs, None);
        };
        let found = self.called(path, args.len());
        if let Some(callee) = self.called_variable(path, targs, found.is_some()) {
            return self.call_value(id, &callee, args);
        }
        if path.segments.len() == 1 && self.is_hidden(name, found) {
            let outs = self.arguments_of(None, args);
            if let Some((place, _)) = self.frames.last().and_then(|frame| frame.this.clone()) {
                self.forget_place(&place);
            }
            self.passes_over(name);
            return self.unknown_call(args, &outs, None);
        }
        if let Some((target, function_id)) = found
            && let Some(function) = self.project.function_at(target, function_id)
        {
            if function.body.is_some() {
                let this = self.this_for(function);
                let needs_this =
                    matches!(function.role, FunctionRole::Method | FunctionRole::Operator) || this.is_some();
                let mut env = self.explicit_env(target, function_id, targs);
                // `S<T>::f(…)`
                if let Some(owner) = self.module().owners.get(&callee)
                    && let Ty::Record(_, own) = self.resolve(*owner)
                {
                    env = env.with(own.iter().cloned());
                }
                let outs = self.arguments_of(Some((target, function)), args);
                let env = if function.template_params.is_empty() && needs_this {
                    self.frames.last().map(|frame| frame.env.clone()).unwrap_or_default()
                } else {
                    env
                };
                return self.invoke(
                    id,
                    Invocation { module: target, id: function_id, env, this, closure: None, exprs: args, args: outs },
                );
            }
            if let Some(out) = self.api_call(id, name, args).or_else(|| self.library_call(id, path, targs, args)) {
                return out;
            }
            let outs = self.arguments_of(Some((target, function)), args);
            let defined = |(module, id): (ModuleId, FunctionId)| {
                self.project.function_at(module, id).is_some_and(|function| function.body.is_some())
            };
            if self.project.functions_named(name).into_iter().any(defined) {
                self.passes_over(name);
            } else {
                self.memory.forget_shared_by_host();
            }
            // A method that is defined out of sight may set the fields of its object.
            if let Some((place, _)) = self.this_for(function) {
                self.touch_object(&place);
            }
            let out = self.unknown_call(args, &outs, Some((target, function)));
            self.passes_unseen(name, args);
            return out;
        }
        if self.is_overloaded(path) {
            let outs = self.arguments_of(None, args);
            if let Some(out) = self.overloaded_call(id, path, targs, args, &outs) {
                return out;
            }
            self.passes_over(name);
            // It may be that of a base out of sight.
            if let Some((place, _)) = self.frames.last().and_then(|frame| frame.this.clone())
                && path.segments.len() == 1
            {
                self.touch_object(&place);
            }
            return self.unknown_call(args, &outs, None);
        }
        if let Some(out) = self.api_call(id, name, args).or_else(|| self.library_call(id, path, targs, args)) {
            return out;
        }
        if let Some(entry) = self.project.record(self.module_id(), &self.scope(), path) {
            let ty = Ty::Record(entry, TypeEnv::default());
            return self.construct(&ty, args, false);
        }
        let outs = self.arguments_of(None, args);
        // A name that leads nowhere may be that of a base out of sight.
        if let Some((place, ty)) = self.frames.last().and_then(|frame| frame.this.clone())
            && path.segments.len() == 1
            && self.has_bases(&ty)
        {
            self.touch_object(&place);
        }
        let out = self.unknown_call(args, &outs, None);
        self.passes_unseen(name, args);
        out
    }

    fn has_bases(&self, ty: &Ty) -> bool {
        let Ty::Record(entry, _) = ty.value() else { return true };
        let record = self.project.record_at(*entry);
        record.is_none_or(|record| !record.bases.is_empty())
    }

    /// A method that is not followed has an object: it may change all that can be reached from it.
    pub(super) fn touch_object(&mut self, place: &Place) {
        if let Place::Cell(obj, _) | Place::Weak(obj, _) = place {
            self.memory.forget_reachable(*obj);
        } else {
            self.memory.forget_escaped();
        }
    }

    /// The variable that a call's name means: what the lambda around captured, or a member of the object around, hides
    /// functions of its name.
    fn called_variable(&mut self, path: &Path, targs: &[TemplateArg], function: bool) -> Option<Out> {
        let name = path.last().filter(|_| path.segments.len() == 1)?;
        let callable = |ty: &Ty| !matches!(ty, Ty::Bool | Ty::Int { .. } | Ty::Float { .. } | Ty::Array(..));
        let hiding = self.captured(name).or_else(|| self.member_of_this(name)).filter(|(_, ty)| callable(ty.value()));
        let (place, ty) = match hiding {
            Some(found) => found,
            None if function => return None,
            None => match self.meaning(path, targs) {
                Meaning::Place(place, ty) if callable(ty.value()) => (place, ty),
                _ => return None,
            },
        };
        let val = self.load(&place, &ty);
        Some(Out { val, ty, place: Some(place) })
    }

    /// The object for a method called by its bare name.
    fn this_for(&self, function: &Function) -> Option<(Place, Ty)> {
        match function.role {
            FunctionRole::Method | FunctionRole::Operator => self.frames.last()?.this.clone(),
            FunctionRole::Free if self.is_own_method(function) => self.frames.last()?.this.clone(),
            _ => None,
        }
    }

    fn method_call(
        &mut self,
        id: ExprId,
        (base, arrow): (ExprId, bool),
        (name, targs): (&'p Name, &'p [TemplateArg]),
        args: &'p [ExprId],
    ) -> Out {
        let (place, ty) = if arrow {
            let out = self.eval(base);
            if let Some(inner) = self.smart_pointer_data(&out) {
                let to = inner.ty.pointee().cloned().unwrap_or(Ty::Unknown);
                (self.pointed_place(&inner.val, &to), to)
            } else {
                self.escape_from_class(&out);
                let to = out.ty.pointee().cloned().unwrap_or(Ty::Unknown);
                (self.pointed_place(&out.val, &to), to)
            }
        } else {
            self.place(base, Access::Address)
        };
        if ty.value().container().is_some() {
            let reads = ["size", "length", "empty", "data", "get", "begin", "end", "at", "front", "back", "use_count"];
            if !reads.contains(&name.as_str()) {
                self.may_drop(&place, &ty);
            }
            return self.container_call(id, &place, &ty, name, args);
        }
        if let Ty::Record(entry, env) = ty.value() {
            let entry = *entry;
            if let Some((owner, found)) = self.find_method(entry, name, args.len(), 0) {
                let (target, function_id) = found;
                let written = self.explicit_env(target, function_id, targs);
                let env = env.with(written.iter().cloned());
                let project = self.project;
                let method = project.function_at(target, function_id).map(|method| (target, method));
                let outs = self.arguments_of(method, args);
                let this_ty = Ty::Record(owner, env.clone());
                return self.invoke(
                    id,
                    Invocation {
                        module: target,
                        id: function_id,
                        env,
                        this: Some((place, this_ty)),
                        closure: None,
                        exprs: args,
                        args: outs,
                    },
                );
            }
            // A data member that can be called.
            if let Some(field) = self.field_type(&ty, name) {
                let (at, field) = self.through_reference(self.field_place(&place, name), field);
                let val = self.load(&at, &field);
                return self.call_value(id, &Out { val, ty: field, place: Some(at) }, args);
            }
        }
        if !Self::only_asks(&ty, name) {
            self.touch_object(&place);
        }
        if matches!(ty.value(), Ty::Record(..)) {
            self.passes_over(name);
        }
        let outs = self.arguments_of(None, args);
        // `stream.read((char *)&n, sizeof(n))`.
        if let ("read", [to, count], [target, _]) = (name.as_str(), outs.as_slice(), args)
            && self.is_stream(base, &ty)
        {
            self.anything_happens();
            self.stored_by_library(to, *target, count.val.quantity().known());
            self.read_by_address(to, *target);
            return Out { val: Val::unknown(), ty, place: Some(Place::Unknown) };
        }
        self.unknown_call(args, &outs, None)
    }

    /// A method with a body that cannot be overridden, in a record or its bases.
    fn find_method(
        &self,
        entry: Entry,
        name: &str,
        args: usize,
        depth: u32,
    ) -> Option<(Entry, (ModuleId, FunctionId))> {
        let record = self.project.record_at(entry)?;
        if record.has_virtual || depth > 4 {
            return None;
        }
        if let Some(found) = self.project.method(entry, name, args) {
            let function = self.project.function_at(found.0, found.1)?;
            return function.body.is_some().then_some((entry, found));
        }
        for base in &record.bases {
            if let Some(Type::Named { path, .. }) = self.project.module(entry.module).types.get(*base)
                && let Some(base) = self.project.record(entry.module, &record.scope, path)
                && let Some(found) = self.find_method(base, name, args, depth + 1)
            {
                return Some(found);
            }
        }
        None
    }

    /// Functions of a name are not followed: they may have written what the project's code shares.
    pub(super) fn passes_over(&mut self, name: &Name) {
        self.memory.forget_shared();
        self.has_passed_over(name);
    }

    /// Notes that functions of a name were not followed, for variables that the walk comes to later.
    pub(super) fn has_passed_over(&mut self, name: &Name) {
        if self.from_main && !self.passed_over.contains(name) {
            self.passed_over.insert(name.clone());
        }
    }

    /// Walks a function in place.
    pub fn invoke(&mut self, id: ExprId, invocation: Invocation<'_>) -> Out {
        let Invocation { module, id: function_id, mut env, this, closure, exprs, mut args } = invocation;
        let Some(function) = self.project.function_at(module, function_id) else { return Out::unknown() };
        let mut checks = false;
        if self.only_checks(module, function, function_id, &args) {
            let returns = self.resolve_in(module, function, &TypeEnv::default(), function.returns);
            checks = matches!(returns, Ty::Bool | Ty::Int { .. });
            if !checks {
                let val = if matches!(returns, Ty::Void) { Val::unknown() } else { Val::from(Kind::Status) };
                return Out::new(val, returns);
            }
        }
        let depth_reached = self.frames.len() >= if self.dry > 0 { host::MAX_FRAMES - 3 } else { host::MAX_FRAMES };
        let again = self.entered(module, function_id);
        let device_only = function.space.global || (function.space.device && !function.space.host);
        let traits = self.scan.traits.of(module, function_id);
        // A long computation with loops that neither allocates nor calls CUDA: only what it may write matters.
        let passed_over = traits.expensive && !traits.gpu && !traits.memory && closure.is_none();
        let walked = !depth_reached && again < 1 && !device_only && !passed_over;
        let Some(body) = function.body.as_ref().filter(|_| walked) else {
            if depth_reached || again > 0 {
                self.budget.cut("depth of calls");
            }
            if let Some((place, _)) = &this {
                let place = place.clone();
                let is_kept = passed_over && !traits.shared && !traits.aliases;
                let kept = if is_kept { self.memory.scalars_of(&place) } else { Vec::new() };
                self.forget_place(&place);
                // What arguments point to may be one of them: that is forgotten below.
                for (member, value) in kept {
                    self.memory.store(&member, value);
                }
            }
            if !passed_over || traits.shared {
                self.passes_over(&function.name);
            }
            let out = self.unknown_call(exprs, &args, Some((module, function)));
            return if checks { checked(out) } else { out };
        };
        self.deduce(module, function, &mut env, &args);
        let packed = pack_parameter(self.project.module(module), function).filter(|at| *at < args.len());
        if let Some(at) = packed {
            self.hand_over(exprs.get(at..).unwrap_or(&[]), &args[at..], None);
            args.truncate(at);
        }
        let alone =
            packed.is_none() && this.is_none() && closure.is_none() && function.member_inits.is_empty() && !traits.gpu;
        let watch = if alone {
            match self.recall(Called { module, id: function_id, function, env: &env, args: &args }) {
                Recall::Known(out) => return if checks { checked(out) } else { out },
                Recall::Record(start) => Some(start),
                Recall::Nothing => None,
            }
        } else {
            None
        };
        if self.recording.open > 0 {
            self.recording.entered.push((module, function_id, false));
        }
        let call = Site { module: self.module_id(), span: self.span(id) };
        let argument_exprs: Vec<Option<ExprId>> = exprs.iter().map(|expr| Some(*expr)).collect();
        let known = self.path.known();
        self.push_frame(module, Some(function_id), env, Some(call));
        if let Some(frame) = self.frames.last_mut() {
            frame.this = this;
            frame.closure = closure;
            frame.arguments = argument_exprs;
        }
        let made = self.frames.last().and_then(|frame| frame.closure.clone()).map_or(Vec::new(), |c| c.made.clone());
        self.bind_parameters(function, args);
        self.run_member_inits(function);
        let base = self.pendings.len();
        // What the capture list made has come into being already, where nothing stood in the way.
        let there = if made.len() == function.made_captures as usize { made.len() } else { 0 };
        for (local, place, ty) in made {
            self.set_slot(local, Slot::Alias(place, ty));
        }
        let flow = self.block(body.get(there..).unwrap_or(body));
        let thrown = flow == Flow::Stop && self.dry == 0 && self.budget.stopped.is_none() && self.has_thrown();
        if flow == Flow::Next {
            self.destroy(0, None);
            self.function_ends(function);
        } else if thrown {
            // What was made on the way is given back.
            self.destroy(0, None);
        }
        let inside = self.frames.len();
        let out = self.leave_function(function, flow, base);
        if thrown && self.ended {
            self.has_been_thrown_at();
        }
        self.path.leave_frame(known, inside);
        if let Some(watch) = watch {
            self.record(module, function_id, watch, &out);
        }
        if checks { checked(out) } else { out }
    }

    /// Whether a call hands a status, and nothing that could be written, to a function that writes nothing of its own:
    /// on success, which is the path that goes on, it does nothing that matters here.
    fn only_checks(&self, module: ModuleId, function: &Function, id: FunctionId, args: &[Out]) -> bool {
        let types = &self.project.module(module).types;
        let by_value = function.params().iter().all(|param| match types.get(param.ty) {
            Some(Type::Pointer(to) | Type::Reference(to)) => const_type(types, *to),
            Some(_) => true,
            None => false,
        });
        let plain = args.iter().all(|arg| {
            matches!(arg.val.kind, Kind::Status | Kind::Str(_) | Kind::Int(_) | Kind::Unknown | Kind::Success(_))
        });
        by_value
            && plain
            && matches!(args.first().map(|arg| &arg.val.kind), Some(Kind::Status))
            && !self.scan.traits.of(module, id).shared
    }
}

/// What a function gives that does nothing but check a status, on the path that goes on: what it gives on success. Where that is 1,
/// or `true`, the path on which the call has failed has the other.
fn checked(out: Out) -> Out {
    let kind = match (&out.val.kind, out.val.known()) {
        (_, Some(1)) => Kind::Success(true),
        (_, Some(0)) | (Kind::Unknown, _) => Kind::Status,
        _ => return out,
    };
    Out { val: Val::from(kind), ..out }
}
