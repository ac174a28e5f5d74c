//! Functions, kernels, methods and lambdas.

use super::declarators::Declared;
use super::fields::{Field, field, parameters_of};
use super::parts::Parts;
use super::source::{Src, all_children, child_of_kind, children, first_child, named_children};
use super::state::Lowerer;
use super::state::{Frame, Meaning};
use super::storage::Storage;
use crate::ir::{ExprId, Function, FunctionId, FunctionRole, LocalId, Path, Space, TemplateArg, TemplateParam, Type};
use crate::name::Name;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{Node, Span};

/// Longest call of a macro that a function is called by.
const LONGEST_CALL: usize = 80;

/// Whether a name is spelled as those of macros are.
fn is_capital(name: &str) -> bool {
    name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

impl Lowerer<'_> {
    /// Lowers a function definition or declaration. `templates` are the parameter lists around it, outermost first.
    pub(super) fn function<'t>(
        &mut self,
        s: Src<'t>,
        parts: &Parts<'t>,
        declarator: Node<'t>,
        templates: &[Node<'t>],
        friend: bool,
    ) -> Option<FunctionId> {
        let node = parts.node;
        let storage = self.storage(s, parts);
        let id = self.module.functions.next_key();
        let body = parts.body();
        let span = s.span(node);
        let placeholder = self.blank_function(span);
        self.module.functions.push(placeholder);
        let name = self.name("");
        let may_be_hosts = storage.is_open && !storage.space.device && !storage.space.global;
        let device_only = (storage.space.device || storage.space.global) && !storage.space.host;
        let frame = Frame::new(id, name, false, storage.is_host_only());
        let both_sides = storage.space.device && storage.space.host;
        self.frames.push(Frame { device_only, both_sides, may_be_hosts, ..frame });
        let depth = self.depth;

        let template_params = self.template_params(s, templates);
        let base = match parts.ty {
            Some(ty) => self.specifier(s, ty),
            None => self.push_type(Type::Void),
        };
        let base = self.qualify_plain(s, parts, base);
        let declared = self.declarator(s, declarator, base);
        // `void f<float>(float*);` is what the mask leaves of an explicit instantiation.
        if body.is_none()
            && templates.is_empty()
            && let Some(named) = declared.name
            && last_name_kind(named) == CudaKind::TemplateFunction
        {
            let (path, targs) = self.path(s, named);
            self.module.instantiations.push(crate::ir::Instantiation { path, is_class: false, targs, span });
            self.frames.pop();
            self.module.functions.pop();
            return None;
        }
        let (mut name, own_scope, role, name_span) = self.function_name(s, declarator, declared, storage);
        // `TEST(suite, case) { … }` is one of many.
        if role == FunctionRole::Free && parts.ty.is_none() && body.is_some() && is_capital(&name) {
            let call = s.text(declarator).split_whitespace().collect::<Vec<_>>().join(" ");
            if call.len() <= LONGEST_CALL && !call.ends_with("()") {
                name = self.name(&call);
            }
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.name = name.clone();
        }
        let mut variadic = false;
        let mut returns = declared.ty;
        let list = declared.function.and_then(parameters_of).or_else(|| {
            // A conversion operator keeps its parameters inside its name.
            declared.name.and_then(|name| field(name, Field::Declarator)).and_then(|d| field(d, Field::Parameters))
        });
        if let Some(list) = list {
            variadic = self.parameters(s, list);
        }
        if let Some(function) = declared.function
            && s.text.get(function.start_byte()..function.end_byte()).is_none_or(|text| text.contains("->"))
            && let Some(trailing) = children(function).into_iter().find(|c| c.kind() == "trailing_return_type")
            && let Some(descriptor) = first_child(trailing)
        {
            returns = self.descriptor(s, descriptor);
        }
        let param_count = self.frames.last().map_or(0, |frame| frame.locals.len() as u32);
        // Looking at the text before the body is cheaper than looking through the children.
        let until = body.map_or(node.end_byte(), |body| body.start_byte());
        let head = s.text.get(node.start_byte()..until).unwrap_or("");
        let bounded = !s.is_file() || head.contains("__launch_bounds__");
        let launch_bounds = if bounded { self.launch_bounds(s, node) } else { None };
        let mut member_inits = Vec::new();
        if head.contains(':')
            && let Some(list) = child_of_kind(node, CudaKind::FieldInitializerList)
        {
            member_inits = self.member_inits(s, list);
        }
        let body = body.map(|body| self.block(s, body));
        let damaged = s.is_file() && self.is_damaged(span);
        self.depth = depth;
        let frame = self.frames.pop()?;

        let mut scope = if friend { self.scope_without_class() } else { self.scope.clone() };
        scope.extend(own_scope);
        let is_specialization = templates.iter().any(|list| list.named_child_count() == 0)
            || declared.name.is_some_and(|name| last_name_kind(name) == CudaKind::TemplateFunction);
        let function = Function {
            scope: scope.into(),
            space: storage.space,
            space_written: storage.space_written,
            is_constexpr: storage.is_constexpr,
            template_params,
            is_specialization,
            locals: frame.locals,
            param_count,
            variadic,
            member_inits,
            body,
            launch_bounds,
            role,
            is_static: storage.is_static || self.anonymous > 0,
            extern_c: self.extern_c > 0,
            name_span,
            damaged: damaged || frame.damaged,
            ..Function::named(name, returns, span)
        };
        if let Some(slot) = self.module.functions.get_mut(id) {
            *slot = function;
        }
        Some(id)
    }

    pub(super) fn blank_function(&mut self, span: Span) -> Function {
        let (name, returns) = (self.name(""), self.push_type(Type::Void));
        Function::named(name, returns, span)
    }

    fn scope_without_class(&self) -> Vec<Name> {
        let mut scope = self.scope.clone();
        scope.pop();
        scope
    }

    /// Name, qualifiers written before it, and role.
    fn function_name<'t>(
        &mut self,
        s: Src<'t>,
        declarator: Node<'t>,
        declared: Declared<'t>,
        storage: Storage,
    ) -> (Name, Vec<Name>, FunctionRole, Span) {
        let Some(mut node) = declared.name else {
            let span = s.span(declarator);
            return (self.name(""), Vec::new(), FunctionRole::Free, span);
        };
        let mut qualifiers = Vec::new();
        for _ in 0..64 {
            match cuda_kind(node) {
                CudaKind::QualifiedIdentifier => {
                    if let Some(scope) = field(node, Field::Scope) {
                        let scope = field(scope, Field::Name)
                            .filter(|_| cuda_kind(scope) == CudaKind::TemplateType)
                            .unwrap_or(scope);
                        qualifiers.push(self.name(s.text(scope)));
                    }
                    match field(node, Field::Name) {
                        Some(inner) => node = inner,
                        None => break,
                    }
                }
                CudaKind::TemplateFunction => match field(node, Field::Name) {
                    Some(inner) => node = inner,
                    None => break,
                },
                _ => break,
            }
        }
        let name = match cuda_kind(node) {
            CudaKind::OperatorCast => {
                let ty = field(node, Field::TypeOf).map_or("", |ty| s.text(ty));
                self.name(&format!("operator {ty}"))
            }
            CudaKind::OperatorName | CudaKind::DestructorName => {
                let text: String = s.text(node).split_whitespace().collect();
                self.name(&text)
            }
            CudaKind::TypeIdentifier => self.made_name(s, node).unwrap_or_else(|| self.declared_name(s, node)),
            _ => self.declared_name(s, node),
        };
        let class = qualifiers.last().cloned().or_else(|| self.record_scope());
        let role = match cuda_kind(node) {
            CudaKind::DestructorName => FunctionRole::Destructor,
            CudaKind::OperatorName | CudaKind::OperatorCast => FunctionRole::Operator,
            _ if class.as_ref() == Some(&name) => FunctionRole::Constructor,
            _ if storage.is_static && self.record_scope().is_some() && qualifiers.is_empty() => {
                FunctionRole::StaticMethod
            }
            _ if self.record_scope().is_some() && qualifiers.is_empty() => FunctionRole::Method,
            _ if qualifiers.last().is_some_and(|class| self.types.contains(class)) => FunctionRole::Method,
            _ => FunctionRole::Free,
        };
        let span = s.span(node);
        (name, qualifiers, role, span)
    }

    /// The text of a declared name; for a macro's parameter that of its argument.
    pub(super) fn declared_name(&mut self, s: Src<'_>, node: Node<'_>) -> Name {
        let text = s.text(node);
        match s.argument(text) {
            Some(super::source::Argument::Node(argument, inner)) => {
                let text = inner.text(*argument);
                self.name(text)
            }
            Some(super::source::Argument::Text(text, ..)) => self.name(text),
            _ => self.name(text),
        }
    }

    /// Declares the parameters of a list; says whether it ends in `...`.
    pub(super) fn parameters<'t>(&mut self, s: Src<'t>, list: Node<'t>) -> bool {
        let mut variadic = false;
        if !s.text(list).contains("...") {
            for child in named_children(list) {
                self.parameter(s, child);
            }
            return false;
        }
        for child in all_children(list) {
            if cuda_kind(child) == CudaKind::Other && matches!(child.kind(), "..." | "variadic_parameter") {
                variadic = true;
            } else if child.is_named() {
                self.parameter(s, child);
            }
        }
        variadic
    }

    /// Declares one parameter. `None` for `(void)` and for what is no parameter.
    pub(super) fn parameter<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> Option<LocalId> {
        if !matches!(
            cuda_kind(node),
            CudaKind::ParameterDeclaration
                | CudaKind::OptionalParameterDeclaration
                | CudaKind::VariadicParameterDeclaration
        ) {
            return None;
        }
        let parts = Parts::of(s, node);
        let specifier = parts.ty?;
        let base = self.specifier(s, specifier);
        let base = self.qualify_parts(s, &parts, base);
        let declared = match parts.declarators.first() {
            Some(declarator) => self.declarator(s, *declarator, base),
            None => {
                if s.text(specifier) == "void" {
                    return None;
                }
                Declared { name: None, ty: base, function: None, pack: false }
            }
        };
        let name = match declared.name {
            Some(name) => self.declared_name(s, name),
            None => self.name(""),
        };
        let span = s.span(declared.name.unwrap_or(node));
        // An array parameter is a pointer, a function one a pointer to it.
        let mut ty = declared.ty;
        if declared.function.is_some() {
            let function = self.push_type(Type::Function);
            ty = self.push_type(Type::Pointer(function));
        } else if let Some(Type::Array(element, _)) = self.module.types.get(ty) {
            let element = *element;
            ty = self.push_type(Type::Pointer(element));
        }
        let local = self.declare(name, ty, Space::Ordinary, false, span);
        if cuda_kind(node) == CudaKind::OptionalParameterDeclaration
            && let Some(default) = field(node, Field::DefaultValue)
        {
            let value = self.expr(s, default);
            if let Some(variable) = self.local_mut(local) {
                variable.init = Some(value);
            }
        }
        Some(local)
    }

    fn launch_bounds<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> Option<(ExprId, Option<ExprId>)> {
        let bounds = child_of_kind(node, CudaKind::LaunchBounds)
            .or_else(|| field(node, Field::Declarator).and_then(|d| child_of_kind(d, CudaKind::LaunchBounds)))?;
        let values = children(bounds);
        // A macro that the mask overlaid has its own arguments there.
        if s.is_file() && !s.text(bounds).starts_with("__launch_bounds__") {
            return None;
        }
        let first = values.first().copied()?;
        let threads = self.expr(s, first);
        let blocks = values.get(1).copied().map(|blocks| self.expr(s, blocks));
        Some((threads, blocks))
    }

    fn member_inits<'t>(&mut self, s: Src<'t>, list: Node<'t>) -> Vec<(Name, Vec<ExprId>)> {
        let mut out = Vec::new();
        for initializer in children(list) {
            if cuda_kind(initializer) != CudaKind::FieldInitializer {
                continue;
            }
            let parts = children(initializer);
            let Some(name) = parts.first().copied() else { continue };
            let (path, _) = self.path(s, name);
            let Some(name) = path.last().cloned() else { continue };
            let values = match parts.last().copied() {
                Some(values) if parts.len() > 1 => self.arguments(s, values),
                _ => Vec::new(),
            };
            out.push((name, values));
        }
        out
    }

    /// Template parameters of all lists; their names are bound in the innermost function.
    pub(super) fn template_params<'t>(&mut self, s: Src<'t>, lists: &[Node<'t>]) -> Vec<TemplateParam> {
        let mut out = Vec::new();
        for list in lists {
            for node in children(*list) {
                if let Some(param) = self.template_param(s, node) {
                    out.push(param);
                }
            }
        }
        out
    }

    fn template_param<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> Option<TemplateParam> {
        let kind = node.kind();
        let is_type = kind.contains("type_parameter_declaration") || kind.contains("template_parameter");
        if is_type {
            let name_node = field(node, Field::Name).or_else(|| {
                let inner = children(node).last().copied()?;
                let inner = if inner.kind() == "type_parameter_declaration" { first_child(inner)? } else { inner };
                (cuda_kind(inner) == CudaKind::TypeIdentifier).then_some(inner)
            });
            let name = match name_node {
                Some(name) => self.declared_name(s, name),
                None => self.name(""),
            };
            let default = field(node, Field::DefaultType).map(|ty| {
                let ty = if cuda_kind(ty) == CudaKind::TypeDescriptor {
                    self.descriptor(s, ty)
                } else {
                    self.specifier(s, ty)
                };
                TemplateArg::Type(ty)
            });
            let path = Path::single(name.clone());
            let ty = self.push_type(Type::Named { path, args: Vec::new() });
            if self.frames.is_empty() {
                self.types.insert(name.clone());
            } else {
                self.bind(name.clone(), Meaning::Type(ty));
            }
            return Some(TemplateParam { name, value_type: None, default, pack: kind.starts_with("variadic") });
        }
        let specifier = field(node, Field::TypeOf)?;
        let base = self.specifier(s, specifier);
        let base = self.qualify(s, node, base);
        let declared = field(node, Field::Declarator).map(|declarator| self.declarator(s, declarator, base));
        let name = match declared.and_then(|declared| declared.name) {
            Some(name) => self.declared_name(s, name),
            None => self.name(""),
        };
        let default = field(node, Field::DefaultValue).map(|value| TemplateArg::Value(self.expr(s, value)));
        let ty = declared.map_or(base, |declared| declared.ty);
        let pack = declared.is_some_and(|declared| declared.pack) || kind.starts_with("variadic");
        if self.frames.is_empty() {
            self.values.insert(name.clone());
        } else {
            self.bind(name.clone(), Meaning::Value);
        }
        Some(TemplateParam { name, value_type: Some(ty), default, pack })
    }
}

fn last_name_kind(mut node: Node<'_>) -> CudaKind {
    while cuda_kind(node) == CudaKind::QualifiedIdentifier {
        match field(node, Field::Name) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    cuda_kind(node)
}
