//! Expressions: what is called, and what becomes of each value.

use super::build::Builder;
use super::comparisons;
use super::flow::{Action, CallSite, Callee, Fate, LaunchSite};
use super::known;
use crate::facts::CopyKind;
use crate::spelled::kernel_name;
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{Effect, ErrorRole, Returns, Size};
use cudalint_program::ir::{
    BinaryOp, Expr, ExprId, ExprNode, FunctionId, LaunchExpr, LocalId, ModuleId, Path, Space, TemplateArg, Type,
};
use cudalint_program::types::Ty;
use cudalint_syntax::Span;

/// Nesting beyond which an expression is not followed.
const MAX_DEPTH: u32 = 400;

impl Builder<'_> {
    pub(super) fn expr(&mut self, id: ExprId, fate: Fate) {
        let module = self.module;
        let Some(node) = module.exprs.get(id) else { return };
        if self.depth > MAX_DEPTH {
            self.flow.lost = true;
            return;
        }
        self.depth += 1;
        match &node.kind {
            Expr::Int { .. }
            | Expr::Float { .. }
            | Expr::Null
            | Expr::This
            | Expr::OnDevice
            | Expr::SizeOfType(_)
            | Expr::SizeOfExpr(_) => {}
            Expr::Str(text) => {
                if known::reports_comparison(text) {
                    self.push(Action::Compares);
                }
            }
            Expr::Name { path, .. } => {
                if let Some(name) = path.last()
                    && !self.flow.mentioned.contains(name)
                {
                    self.flow.mentioned.push(name.clone());
                }
            }
            Expr::Local(local) => self.read(*local, fate),
            Expr::Lambda { function, .. } => {
                self.escape_captured(node.span);
                self.call_site(node, Callee::Lambda(*function), Name::from(""), 0, Fate::Consumed);
            }
            Expr::Unary(_, a) | Expr::Member { base: a, .. } | Expr::Deref(a) | Expr::Designated { value: a, .. } => {
                self.expr(*a, Fate::Consumed);
            }
            Expr::Delete { value, .. } => {
                self.expr(*value, Fate::Consumed);
                self.deleted(*value, node.span);
            }
            Expr::AddressOf(a) => {
                if let Some(Expr::Local(local)) = module.exprs.get(*a).map(|inner| &inner.kind) {
                    self.flow.escaped.push(*local);
                }
                self.expr(*a, Fate::Consumed);
            }
            Expr::Cast { ty, value } => {
                let voided = matches!(module.types.get(*ty), Some(Type::Void));
                self.expr(*value, if voided { Fate::Voided } else { fate });
                if matches!(module.types.get(*ty), Some(Type::Named { .. })) && !self.holds_status(*ty) {
                    self.construct(*ty, node.span);
                }
            }
            Expr::Construct { ty, args, .. } if args.len() == 1 && self.holds_status(*ty) => {
                self.all(args, fate);
            }
            Expr::Step { target, .. } => {
                self.expr(*target, Fate::Consumed);
            }
            Expr::Binary(op, a, b) => {
                self.expr(*a, Fate::Consumed);
                self.expr(*b, Fate::Consumed);
                if *op == BinaryOp::Sub && comparisons::is_distance_to_the_host(module, self.function, *a, *b) {
                    self.push(Action::Compares);
                }
            }
            Expr::AndThen(a, b) | Expr::OrElse(a, b) => {
                self.expr(*a, Fate::Consumed);
                if matters(module.exprs.get(*b)) {
                    let b = *b;
                    self.optional(|builder| builder.expr(b, Fate::Consumed));
                } else {
                    self.expr(*b, Fate::Consumed);
                }
            }
            Expr::Select(condition, a, b) => {
                self.expr(*condition, Fate::Consumed);
                let from = self.here();
                let after = self.new_segment();
                for branch in [*a, *b] {
                    let segment = self.new_segment();
                    self.edge(from, segment);
                    self.start(segment);
                    self.expr(branch, fate);
                    self.goto(after);
                }
                self.start(after);
            }
            Expr::Assign { op, target, value } => self.assign(op.is_some(), *target, *value, fate),
            Expr::Index { base, indices } => {
                self.expr(*base, Fate::Consumed);
                self.all(indices, Fate::Consumed);
                self.used_object(*base);
            }
            Expr::Call { callee, args } => self.call(node, *callee, args, fate),
            Expr::Launch(launch) => self.launch(node, launch, fate),
            Expr::Construct { ty, args, .. } => {
                self.all(args, Fate::Consumed);
                self.construct(*ty, node.span);
            }
            Expr::InitList(args) | Expr::Unknown(args) => self.all(args, Fate::Consumed),
            Expr::Python(_) => {}
            Expr::Place { at, count, args, .. } => {
                for part in std::iter::once(at).chain(count).chain(args) {
                    self.expr(*part, Fate::Consumed);
                }
            }
            Expr::New { ty, count, args } => {
                if let Some(count) = count {
                    self.expr(*count, Fate::Consumed);
                }
                self.all(args, Fate::Consumed);
                self.construct(*ty, node.span);
            }
            Expr::Comma(parts) => {
                if let Some((last, before)) = parts.split_last() {
                    self.all(before, Fate::Dropped);
                    self.expr(*last, fate);
                }
            }
            Expr::Statements(block) => {
                if let Some((last, before)) = block.split_last() {
                    self.block(before);
                    self.stmt(*last, fate);
                }
            }
            Expr::Throw(value) => {
                if let Some(value) = value {
                    self.expr(*value, Fate::Consumed);
                }
                self.dead_end();
            }
        }
        self.depth -= 1;
    }

    fn all(&mut self, list: &[ExprId], fate: Fate) {
        for id in list {
            self.expr(*id, fate);
        }
    }

    fn read(&mut self, local: LocalId, fate: Fate) {
        if matches!(fate, Fate::Dropped | Fate::Voided) {
            return;
        }
        if local.0 < self.function.param_count && local.0 < 64 {
            self.flow.reads_parameters |= 1 << local.0;
        }
        if fate != Fate::Returned && !self.flow.tested.contains(&local) {
            self.flow.tested.push(local);
        }
        self.push(Action::Read(local));
    }

    fn assign(&mut self, compound: bool, target: ExprId, value: ExprId, fate: Fate) {
        let local = match self.module.exprs.get(target).map(|node| &node.kind) {
            Some(Expr::Local(local)) => *local,
            target_kind => {
                // `std::ignore = call()` is an explicit drop.
                let ignored = matches!(target_kind, Some(Expr::Name { path, .. }) if path.last().is_some_and(|name| *name == "ignore"));
                self.expr(value, if ignored { Fate::Voided } else { Fate::Consumed });
                self.expr(target, Fate::Consumed);
                self.used_object(target);
                return;
            }
        };
        let Some(variable) = self.function.locals.get(local) else { return };
        let plain = self.holds_status(variable.ty) && variable.space == Space::Ordinary;
        if plain && matches!(fate, Fate::Dropped | Fate::Voided) {
            self.define(local, value, compound);
        } else {
            self.expr(value, Fate::Consumed);
            if compound {
                self.read(local, Fate::Consumed);
            }
            self.used_object(target);
            self.push(Action::Write(local));
        }
    }

    fn call(&mut self, node: &ExprNode, callee: ExprId, args: &[ExprId], fate: Fate) {
        let module = self.module;
        let Some(callee_node) = module.exprs.get(callee) else { return };
        let (who, name) = match &callee_node.kind {
            Expr::Name { path, .. } => {
                let name = path.last().cloned().unwrap_or_default();
                let mut scope = path.segments.len().checked_sub(2).and_then(|at| path.segments.get(at)).cloned();
                if self.is_of_standard_library(path) {
                    scope = Some(Name::from(known::STANDARD));
                }
                // A function of the project may be called like one of the library.
                let own = |api: &ApiId| {
                    let overloads = self.project.overloads(self.id, &self.function.scope, path);
                    // One beside the runtime's own takes another number of arguments.
                    let takes = |(module, number): &(ModuleId, FunctionId)| {
                        let function = self.project.function_at(*module, *number);
                        function.is_some_and(|function| function.param_count as usize == args.len())
                    };
                    let is_other = !api.params.is_empty() && args.len() != api.params.len();
                    !api.is_core() && !overloads.is_empty() || is_other && overloads.iter().any(takes)
                };
                let api = if scope.is_none() { ApiId::with_status(&name).filter(|api| !own(api)) } else { None };
                match api {
                    Some(api) if !(matches!(api.returns, Returns::StatusByHandle(_)) && self.without_handle(args)) => {
                        (Callee::Api(api), name)
                    }
                    Some(_) => (Callee::Named { name: Name::from("printf"), scope: None }, name),
                    None if path.segments.first().is_some_and(|first| known::is_of_thrust(first)) => {
                        let whole: Vec<&str> = path.segments.iter().map(Name::as_str).collect();
                        if known::throws_errors(&whole.join("::")) {
                            self.push(Action::Hidden);
                            // On a stream of its own it waits for that alone, if at all.
                            if !self.project.text(self.id, node.span).contains("::par") {
                                self.push(Action::Waits);
                            }
                        }
                        (Callee::Named { name: name.clone(), scope: Some(Name::from(known::STANDARD)) }, name)
                    }
                    None => {
                        if matches!(name.as_str(), "make_unique" | "make_shared")
                            && let Expr::Name { targs, .. } = &callee_node.kind
                            && let Some(TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _)) = targs.first()
                        {
                            self.construct(*ty, node.span);
                        }
                        (Callee::Named { name: name.clone(), scope }, name)
                    }
                }
            }
            Expr::Member { base, name, .. } => {
                self.expr(*base, Fate::Consumed);
                let callee = match self.standard_object(*base) {
                    Some(Standard::Plain) => {
                        Callee::Named { name: name.clone(), scope: Some(Name::from(known::STANDARD)) }
                    }
                    // What it holds may begin or end.
                    Some(Standard::Holder) if matches!(name.as_str(), "reset" | "emplace" | "swap") => Callee::Opaque,
                    _ => Callee::Method { name: name.clone(), class: self.class_of(*base, name) },
                };
                (callee, name.clone())
            }
            Expr::Local(local) => {
                let lambda = self
                    .function
                    .locals
                    .get(*local)
                    .and_then(|variable| variable.init)
                    .and_then(|init| module.exprs.get(init))
                    .and_then(|init| match &init.kind {
                        Expr::Lambda { function, .. } => Some(*function),
                        _ => None,
                    });
                self.read(*local, Fate::Consumed);
                let name = Name::from("");
                let callee = match lambda {
                    Some(lambda) => Callee::Lambda(lambda),
                    // A generator or distribution of random numbers.
                    None if self.standard_object(callee) == Some(Standard::Plain) => {
                        Callee::Named { name: name.clone(), scope: Some(Name::from(known::STANDARD)) }
                    }
                    None => Callee::Opaque,
                };
                (callee, name)
            }
            Expr::Lambda { function, .. } => {
                self.escape_captured(callee_node.span);
                (Callee::Lambda(*function), Name::from(""))
            }
            _ => {
                self.expr(callee, Fate::Consumed);
                (Callee::Opaque, Name::from(""))
            }
        };
        // The site's number must be known to its arguments, but they are evaluated before it.
        let index = self.flow.calls.len() as u32;
        let is_api = matches!(who, Callee::Api(_));
        let never_returns = !is_api && known::never_returns(&name);
        let is_assert = matches!(callee_node.kind, Expr::Name { .. }) && *name == *"assert";
        let is_zero =
            |arg: &ExprId| module.exprs.get(*arg).is_some_and(|node| matches!(node.kind, Expr::Int { value: 0, .. }));
        let frees_nothing = |api: &ApiId| {
            api.frees() && args.first().and_then(|arg| module.exprs.get(*arg)).is_some_and(|arg| is_null(module, arg))
        };
        let allocates_nothing = |api: &ApiId| {
            let none =
                |size: &Size| matches!(size, Size::Bytes(bytes) if bytes.of(args).is_some_and(|arg| is_zero(&arg)));
            api.effects.iter().any(|effect| matches!(effect, Effect::Allocates { size, .. } if none(size)))
        };
        let initializer =
            is_api && ApiId::named(&name).is_some_and(|api| frees_nothing(&api) || allocates_nothing(&api));
        let selects_usual_device = is_api
            && ApiId::named(&name).is_some_and(|api| api.selects_device())
            && matches!(args, [only] if is_zero(only));
        let mut site = self.site(node, who, name, args.len() as u32, fate, initializer);
        site.selects_usual_device = selects_usual_device;
        // Elsewhere it is about what the host alone has computed.
        let has_results = || {
            *self.function.name == *"main"
                || !self.flow.launches.is_empty()
                || self.flow.calls.iter().any(|call| call.copies_back)
        };
        let asserted = args.first().filter(|_| is_assert && has_results());
        site.compares |= asserted.is_some_and(|condition| comparisons::asserts(module, *condition, || self.scope()));
        let copies = |kinds: &[i64]| matches!(site.callee, Callee::Api(api) if self.copies(api, args, kinds));
        let [back, across] = [copies(&[CopyKind::TO_HOST]), copies(&[CopyKind::TO_HOST, CopyKind::TO_DEVICE])];
        (site.copies_back, site.copies_across) = (back, across);
        site.makes_unused = matches!(site.callee, Callee::Api(api) if self.makes_unused(api, args));
        site.given = self.given(&site.callee, args);
        self.flow.calls.push(site);
        let outside = self.in_assert;
        self.in_assert |= is_assert && node.expansion.is_none();
        for (position, arg) in args.iter().enumerate() {
            let fate = if is_api { Fate::Consumed } else { Fate::Argument { call: index, position: position as u32 } };
            self.expr(*arg, fate);
        }
        self.in_assert = outside;
        self.push(Action::Call(index));
        if never_returns {
            self.dead_end();
        }
    }

    /// Whether a name is one of the standard library: `std::…`, or behind an alias of such a class.
    fn is_of_standard_library(&self, path: &Path) -> bool {
        let is_std = |path: &Path| {
            path.segments.len() > 1 && path.segments.first().is_some_and(|first| *first == known::STANDARD)
        };
        if is_std(path) {
            return true;
        }
        let Some((_, around)) = path.segments.split_last().filter(|(_, around)| !around.is_empty()) else {
            return false;
        };
        let around: Path = around.iter().cloned().collect();
        let alias = self.project.alias(self.id, &self.function.scope, &around);
        let to = alias.and_then(|entry| {
            let alias = self.project.alias_at(entry)?;
            self.project.module(entry.module).types.get(alias.ty)
        });
        matches!(to, Some(Type::Named { path, .. }) if is_std(path))
    }

    /// Whether an expression is a variable of a class of the standard library, and of which kind.
    fn standard_object(&self, expr: ExprId) -> Option<Standard> {
        let Some(Expr::Local(local)) = self.module.exprs.get(expr).map(|node| &node.kind) else { return None };
        let mut ty = self.function.locals.get(*local).and_then(|variable| self.module.types.get(variable.ty));
        while let Some(Type::Qualified { ty: inner, .. } | Type::Reference(inner)) = ty {
            ty = self.module.types.get(*inner);
        }
        let Some(Type::Named { path, .. }) = ty else { return None };
        let holds = path.last().is_some_and(|name| HOLDERS.contains(&name.as_str()));
        self.is_of_standard_library(path).then_some(if holds { Standard::Holder } else { Standard::Plain })
    }

    fn call_site(&mut self, node: &ExprNode, callee: Callee, name: Name, arguments: u32, fate: Fate) {
        let index = self.flow.calls.len() as u32;
        let site = self.site(node, callee, name, arguments, fate, false);
        self.flow.calls.push(site);
        self.push(Action::Call(index));
    }

    fn site(
        &self,
        node: &ExprNode,
        callee: Callee,
        name: Name,
        arguments: u32,
        fate: Fate,
        initializer: bool,
    ) -> CallSite {
        CallSite {
            compares: known::sounds_like_comparison(&name),
            callee,
            name,
            arguments,
            span: node.span,
            fate,
            expansion: self.module.expansion(node).cloned(),
            damaged: self.in_damage(node.span),
            initializer,
            copies_back: false,
            copies_across: false,
            makes_unused: false,
            given: Box::default(),
            selects_usual_device: false,
            asserted: self.in_assert,
            stored_is_read: false,
            dead: false,
        }
    }

    fn in_damage(&self, span: Span) -> bool {
        self.module.damage.iter().any(|damage| damage.overlaps(span))
    }

    /// Whether a kernel has an empty body: nobody misses it where it did not run.
    fn does_nothing(&self, launch: &LaunchExpr) -> bool {
        let Some(Expr::Name { path, .. }) = self.module.exprs.get(launch.kernel).map(|node| &node.kind) else {
            return false;
        };
        let kernel = self.project.kernel(self.id, &self.function.scope, path, Some(launch.args.len()));
        let kernel = kernel.and_then(|(module, id)| self.project.function_at(module, id));
        kernel.is_some_and(|kernel| !kernel.damaged && kernel.body.as_ref().is_some_and(Vec::is_empty))
    }

    fn launch(&mut self, node: &ExprNode, launch: &LaunchExpr, fate: Fate) {
        for value in launch.config.iter().chain(&launch.args) {
            self.expr(*value, Fate::Consumed);
        }
        let kernel = self.module.exprs.get(launch.kernel).map_or("", |kernel| self.project.text(self.id, kernel.span));
        if launch.chevron && self.does_nothing(launch) {
            return;
        }
        if launch.chevron {
            let streamed = launch.config.get(3).and_then(|id| self.module.exprs.get(*id));
            let site = LaunchSite {
                span: node.span,
                kernel: kernel_name(self.module, launch.kernel, kernel),
                streamed: streamed.is_some_and(|stream| !is_null(self.module, stream)),
                damaged: self.in_damage(node.span),
                dead: false,
            };
            let index = self.flow.launches.len() as u32;
            self.flow.launches.push(site);
            self.push(Action::Launch(index));
            return;
        }
        let text = self.project.text(self.id, node.span);
        let written = text.split(['(', '<']).next().unwrap_or("").trim();
        // Whether somebody looks at what a launch of HIP leaves is not followed: its call returns nothing.
        if let Some(api) = launch.api.filter(|api| api.returns != Returns::Nothing) {
            let name = if ApiId::named(written) == Some(api) { written } else { api.name() };
            self.call_site(node, Callee::Api(api), Name::from(name), launch.args.len() as u32, fate);
        }
    }

    /// The first generation of cuBLAS (`cublas.h`) computes without a handle and returns nothing.
    fn without_handle(&self, args: &[ExprId]) -> bool {
        let is_letter = |arg: &ExprId| {
            let literal = self.module.exprs.get(*arg).is_some_and(|arg| matches!(arg.kind, Expr::Int { bytes: 1, .. }));
            literal || matches!(self.scope().type_of(*arg).value(), Ty::Int { bytes: 1, .. })
        };
        self.of_module.legacy_blas || args.first().is_some_and(is_letter)
    }

    /// A lambda may read or change the locals that its text names.
    fn escape_captured(&mut self, span: Span) {
        let text = self.project.text(self.id, span);
        for (index, local) in self.function.locals.iter().enumerate() {
            if !local.name.is_empty() && text.contains(local.name.as_str()) {
                self.flow.escaped.push(LocalId(index as u32));
                if (index as u32) < self.function.param_count && index < 64 {
                    self.flow.reads_parameters |= 1 << index;
                }
            }
        }
    }
}

/// A class of the standard library.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standard {
    /// It calls nobody else's code.
    Plain,
    /// See [`HOLDERS`].
    Holder,
}

/// Classes of the standard library that hold functions, which are called through them.
const HOLDERS: [&str; 7] =
    ["function", "move_only_function", "reference_wrapper", "unique_ptr", "shared_ptr", "optional", "future"];

/// Whether the right side of a short circuit does more than look at values.
fn matters(node: Option<&ExprNode>) -> bool {
    !matches!(
        node.map(|node| &node.kind),
        Some(Expr::Local(_) | Expr::Name { .. } | Expr::Int { .. } | Expr::Null | Expr::Member { .. })
    )
}

/// `0`, `NULL`, `nullptr`, and casts of them.
fn is_null(module: &cudalint_program::ir::Module, node: &ExprNode) -> bool {
    match &node.kind {
        Expr::Null | Expr::Int { value: 0, .. } => true,
        Expr::Cast { value, .. } => {
            module.exprs.get(*value).is_some_and(|inner| matches!(inner.kind, Expr::Null | Expr::Int { value: 0, .. }))
        }
        _ => false,
    }
}

/// The role of a call, when it is one of a GPU library.
pub(super) fn role_of(site: &CallSite) -> Option<ErrorRole> {
    match &site.callee {
        Callee::Api(api) => Some(api.role),
        _ => None,
    }
}
