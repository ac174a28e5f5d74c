//! Declarations at namespace scope.

use super::fields::{Field, field, parameters_of, statement_expression};
use super::parts::Parts;
use super::source::{Src, children};
use super::state::Lowerer;
use crate::ir::{Alias, Expr, ExprId, Instantiation, NamespaceAlias, Path, Type, Variable};
use crate::name::Name;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{FragmentKind, Node, parse_fragment};

impl Lowerer<'_> {
    /// Lowers the declarations inside a node.
    pub(super) fn items<'t>(&mut self, s: Src<'t>, node: Node<'t>) {
        if !self.enter() {
            return;
        }
        for child in self.chosen_children(s, node) {
            self.item(s, child, &[]);
        }
        self.leave();
    }

    /// A member of a record that is no field.
    pub(super) fn member_item<'t>(&mut self, s: Src<'t>, node: Node<'t>) {
        self.item(s, node, &[]);
    }

    fn item<'t>(&mut self, s: Src<'t>, node: Node<'t>, templates: &[Node<'t>]) {
        match cuda_kind(node) {
            CudaKind::FunctionDefinition => self.function_definition(s, node, templates),
            CudaKind::Declaration | CudaKind::FieldDeclaration => self.declaration(s, node, templates, false),
            CudaKind::TemplateDeclaration => self.template(s, node, templates),
            CudaKind::StructSpecifier | CudaKind::ClassSpecifier | CudaKind::UnionSpecifier => {
                self.record_with(s, node, templates, None);
            }
            CudaKind::EnumSpecifier => {
                self.enumeration(s, node);
            }
            CudaKind::NamespaceDefinition => self.namespace(s, node),
            CudaKind::LinkageSpecification => self.linkage(s, node),
            CudaKind::TypeDefinition => self.type_definition(s, node),
            CudaKind::AliasDeclaration => self.alias(s, node, Some(templates)),
            CudaKind::NamespaceAliasDefinition => self.namespace_alias(s, node),
            CudaKind::TemplateInstantiation => self.instantiation(s, node),
            CudaKind::FriendDeclaration => {
                for child in children(node) {
                    match cuda_kind(child) {
                        CudaKind::FunctionDefinition | CudaKind::Declaration => {
                            let parts = Parts::of(s, child);
                            if let Some(declarator) = parts.declarators.first() {
                                self.function(s, &parts, *declarator, templates, true);
                            }
                        }
                        _ => {}
                    }
                }
            }
            CudaKind::ExpressionStatement => {
                if let Some(call) = statement_expression(s, node)
                    && cuda_kind(call) == CudaKind::CallExpression
                    && let (Some(name), Some(list)) = (field(call, Field::Function), field(call, Field::Arguments))
                {
                    self.item_call(s, name, list);
                }
            }
            CudaKind::Error => self.damaged_items(s, node),
            // Namespaces and guards that damage tore apart leave blocks behind.
            CudaKind::DeclarationList | CudaKind::CompoundStatement => self.items(s, node),
            _ => {}
        }
    }

    fn template<'t>(&mut self, s: Src<'t>, node: Node<'t>, templates: &[Node<'t>]) {
        if !self.enter() {
            return;
        }
        let mut lists = templates.to_vec();
        lists.extend(field(node, Field::Parameters));
        if lists.len() < 16 {
            for child in children(node) {
                if cuda_kind(child) != CudaKind::TemplateParameterList {
                    self.item(s, child, &lists);
                }
            }
        }
        self.leave();
    }

    fn namespace<'t>(&mut self, s: Src<'t>, node: Node<'t>) {
        let Some(body) = field(node, Field::Body) else { return };
        let before = self.scope.len();
        // Names of an inline namespace are found as if they stood in the one around it.
        let is_inline = s.text(node).starts_with("inline");
        let anonymous = field(node, Field::Name).is_none();
        if let Some(name) = field(node, Field::Name)
            && !is_inline
        {
            for part in s.text(name).split("::") {
                let part = self.name(part.trim());
                self.scope.push(part);
            }
        }
        self.anonymous += u32::from(anonymous);
        self.items(s, body);
        self.anonymous -= u32::from(anonymous);
        self.scope.truncate(before);
    }

    /// `namespace x = a::b;`
    pub(super) fn namespace_alias<'t>(&mut self, s: Src<'t>, node: Node<'t>) {
        let (Some(name), Some((_, target))) = (field(node, Field::Name), s.text(node).split_once('=')) else { return };
        let target: Path = target
            .trim_end_matches(';')
            .split("::")
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(|part| self.name(part))
            .collect();
        let name = self.name(s.text(name));
        let scope = Path::from(self.scope.clone());
        self.module.namespace_aliases.push(NamespaceAlias { name, scope, target });
    }

    fn linkage<'t>(&mut self, s: Src<'t>, node: Node<'t>) {
        let Some(body) = field(node, Field::Body) else { return };
        let is_c = field(node, Field::Value).is_some_and(|value| s.text(value) == "\"C\"");
        self.extern_c += u32::from(is_c);
        match cuda_kind(body) {
            CudaKind::DeclarationList => self.items(s, body),
            CudaKind::Declaration => self.declaration(s, body, &[], true),
            _ => self.item(s, body, &[]),
        }
        self.extern_c -= u32::from(is_c);
    }

    fn function_definition<'t>(&mut self, s: Src<'t>, node: Node<'t>, templates: &[Node<'t>]) {
        let parts = Parts::of(s, node);
        let Some(declarator) = parts.declarators.first().copied() else { return };
        // `MACRO(a, b) { … }` of a known macro is what the macro makes of it.
        if parts.ty.is_none()
            && cuda_kind(declarator) == CudaKind::FunctionDeclarator
            && self.record_scope().is_none()
            && let (Some(name), Some(list)) =
                (field(declarator, Field::Declarator), field(declarator, Field::Parameters))
            && cuda_kind(name) == CudaKind::Identifier
            && let Some(body) = field(node, Field::Body)
            && let Some((macro_name, text)) = self.item_macro(s, name, list)
        {
            let place = s.span(body);
            let rest = s.is_file().then_some((text.len() + 1, place.start));
            let text = format!("{text} {}", s.text(body));
            self.items_text(macro_name, &text, s.span(declarator), rest);
            return;
        }
        self.function(s, &parts, declarator, templates, false);
    }

    /// `NAME(args)` at namespace scope.
    fn item_call<'t>(&mut self, s: Src<'t>, name: Node<'t>, list: Node<'t>) {
        if cuda_kind(name) != CudaKind::Identifier {
            return;
        }
        if let Some((macro_name, text)) = self.item_macro(s, name, list) {
            let span = s.span(name).cover(s.span(list));
            self.items_text(macro_name, &text, span, None);
        }
    }

    /// Lowers definitions that a macro makes; all of them stand at the call. `rest`: what follows in `text` from an offset on stands
    /// in the file, from this byte on.
    fn items_text(&mut self, name: Name, text: &str, span: cudalint_syntax::Span, rest: Option<(usize, u32)>) {
        let Some(fragment) = parse_fragment(FragmentKind::Statements, text, self.pool) else { return };
        let Some(content) = fragment.content() else { return };
        let source = match rest {
            Some((offset, at)) => {
                let offset = (fragment.shift + offset) as u32;
                Src::with_rest(&fragment.wrapped, span, offset, i64::from(at) - i64::from(offset))
            }
            None => Src::body(&fragment.wrapped, span, None),
        };
        self.within_macro(name, |this| this.items(source, content));
    }

    /// What can still be read inside an ERROR: whole declarations.
    fn damaged_items<'t>(&mut self, s: Src<'t>, node: Node<'t>) {
        if !self.enter() {
            return;
        }
        for child in children(node) {
            match cuda_kind(child) {
                CudaKind::FunctionDeclarator => {
                    if let (Some(name), Some(list)) = (field(child, Field::Declarator), field(child, Field::Parameters))
                    {
                        self.item_call(s, name, list);
                    }
                }
                CudaKind::FunctionDefinition
                | CudaKind::Declaration
                | CudaKind::TemplateDeclaration
                | CudaKind::StructSpecifier
                | CudaKind::ClassSpecifier
                | CudaKind::UnionSpecifier
                | CudaKind::EnumSpecifier
                | CudaKind::NamespaceDefinition
                | CudaKind::LinkageSpecification
                | CudaKind::TypeDefinition
                | CudaKind::AliasDeclaration
                | CudaKind::Error => self.item(s, child, &[]),
                _ => {}
            }
        }
        self.leave();
    }

    /// Variables and function declarations at namespace scope, and static members. `linked`: right behind `extern "C"`.
    fn declaration<'t>(&mut self, s: Src<'t>, node: Node<'t>, templates: &[Node<'t>], linked: bool) {
        let parts = Parts::of(s, node);
        let mut storage = self.storage(s, &parts);
        // Without braces, `extern "C"` declares like `extern` (C++ standard, [dcl.link]).
        storage.is_extern |= linked;
        let Some(specifier) = parts.ty else {
            // Constructors, destructors, conversion operators, and macros that look like one.
            for declarator in parts.declarators.iter().copied() {
                if cuda_kind(declarator) == CudaKind::FunctionDeclarator
                    && self.record_scope().is_none()
                    && let (Some(name), Some(list)) =
                        (field(declarator, Field::Declarator), field(declarator, Field::Parameters))
                    && cuda_kind(name) == CudaKind::Identifier
                {
                    self.item_call(s, name, list);
                    continue;
                }
                self.function(s, &parts, declarator, templates, false);
            }
            return;
        };
        let base = self.specifier(s, specifier);
        let base = self.qualify_parts(s, &parts, base);
        for declarator in parts.declarators.iter().copied() {
            let declared = self.declarator(s, declarator, base);
            let Some(name) = declared.name else { continue };
            if let Some(function) = declared.function {
                let list = parameters_of(function);
                let constructs = self.record_scope().is_none()
                    && list.is_some_and(|list| self.is_global_construction(s, specifier, list));
                if !constructs {
                    self.function(s, &parts, declarator, templates, false);
                    continue;
                }
                let args: Vec<ExprId> = list.map_or_else(Vec::new, |list| {
                    children(list).into_iter().map(|parameter| self.parameter_as_value(s, parameter)).collect()
                });
                let span = s.span(function);
                let init = self.push(Expr::Construct { ty: declared.ty, args, braces: false }, span);
                self.global(s, name, declared.ty, storage, Some(init));
                continue;
            }
            if matches!(cuda_kind(name), CudaKind::OperatorCast) {
                self.function(s, &parts, declarator, templates, false);
                continue;
            }
            let init = match cuda_kind(node) {
                CudaKind::FieldDeclaration => field(node, Field::DefaultValue).map(|value| self.expr(s, value)),
                _ => self.initializer(s, node, declarator, declared.ty),
            };
            // In its class a static member is only declared, unless it is `inline` or has its value there: it is defined elsewhere.
            let member = matches!(cuda_kind(node), CudaKind::FieldDeclaration) && init.is_none();
            let mut storage = storage;
            storage.is_extern |= member && !storage.is_constexpr && !is_inline(s.text(node));
            self.global(s, name, declared.ty, storage, init);
        }
    }

    /// At namespace scope, `T x(y)` is a function unless everything known says that `y` is a value.
    fn is_global_construction(&self, s: Src<'_>, specifier: Node<'_>, list: Node<'_>) -> bool {
        let parameters = children(list);
        !parameters.is_empty()
            && self.is_construction(s, specifier, list)
            && (s.text(specifier) == "dim3"
                || parameters
                    .iter()
                    .all(|parameter| field(*parameter, Field::TypeOf).is_some_and(|ty| self.is_value(s, s.text(ty)))))
    }

    /// Adds a variable of namespace scope or a static member.
    fn global(
        &mut self,
        s: Src<'_>,
        name: Node<'_>,
        ty: crate::ir::TypeId,
        storage: super::storage::Storage,
        init: Option<ExprId>,
    ) {
        let mut scope = self.scope.clone();
        let mut last = name;
        for _ in 0..64 {
            if cuda_kind(last) != CudaKind::QualifiedIdentifier {
                break;
            }
            if let Some(part) = field(last, Field::Scope) {
                let part =
                    field(part, Field::Name).filter(|_| cuda_kind(part) == CudaKind::TemplateType).unwrap_or(part);
                scope.push(self.name(s.text(part)));
            }
            match field(last, Field::Name) {
                Some(inner) => last = inner,
                None => break,
            }
        }
        let text = self.declared_name(s, last);
        self.values.insert(text.clone());
        let span = s.span(last);
        self.module.globals.push(Variable {
            name: text,
            scope: scope.into(),
            ty,
            space: storage.global_space(init.is_some(), self.is_unsized_array(ty)),
            init,
            is_constexpr: storage.is_constexpr,
            span,
        });
    }

    /// `typedef T X, *Y;`
    pub(super) fn type_definition<'t>(&mut self, s: Src<'t>, node: Node<'t>) {
        let parts = Parts::of(s, node);
        let Some(specifier) = parts.ty else { return };
        let declarators = &parts.declarators;
        // `typedef struct { … } X;` names the record.
        let hint = declarators
            .iter()
            .find(|declarator| matches!(cuda_kind(**declarator), CudaKind::TypeIdentifier | CudaKind::PrimitiveType))
            .map(|declarator| self.declared_name(s, *declarator));
        let is_record = matches!(
            cuda_kind(specifier),
            CudaKind::StructSpecifier | CudaKind::ClassSpecifier | CudaKind::UnionSpecifier
        );
        let names_itself = is_record && field(specifier, Field::Name).is_none();
        let base =
            if is_record { self.record_with(s, specifier, &[], hint.clone()) } else { self.specifier(s, specifier) };
        let base = self.qualify_parts(s, &parts, base);
        for declarator in declarators.iter().copied() {
            let declared = self.declarator(s, declarator, base);
            let Some(name) = declared.name else { continue };
            let name = self.declared_name(s, name);
            if names_itself && hint.as_ref() == Some(&name) {
                continue;
            }
            // `typedef struct S S;`
            if is_record && field(specifier, Field::Name).is_some_and(|own| s.text(own) == &*name) {
                continue;
            }
            let ty = match declared.function {
                Some(_) => self.push_type(Type::Function),
                None => declared.ty,
            };
            self.add_alias(name, ty, Vec::new());
        }
    }

    /// `using X = T;`
    pub(super) fn alias<'t>(&mut self, s: Src<'t>, node: Node<'t>, templates: Option<&[Node<'t>]>) {
        let (Some(name), Some(ty)) = (field(node, Field::Name), field(node, Field::TypeOf)) else { return };
        let params = self.template_params(s, templates.unwrap_or(&[]));
        let ty = match cuda_kind(ty) {
            CudaKind::TypeDescriptor => self.descriptor(s, ty),
            _ => self.specifier(s, ty),
        };
        let name = self.declared_name(s, name);
        self.add_alias(name, ty, params);
    }

    fn add_alias(&mut self, name: Name, ty: crate::ir::TypeId, template_params: Vec<crate::ir::TemplateParam>) {
        if !self.frames.is_empty() {
            // An alias inside a function is what it stands for.
            self.bind(name, super::state::Meaning::Type(ty));
            return;
        }
        self.types.insert(name.clone());
        let scope = Path::from(self.scope.clone());
        self.module.aliases.push(Alias { name, scope, template_params, ty });
    }

    /// `template void f<float>(float*);`
    fn instantiation<'t>(&mut self, s: Src<'t>, node: Node<'t>) {
        let mut declarator = field(node, Field::Declarator);
        while let Some(inner) = declarator {
            match field(inner, Field::Declarator).or_else(|| {
                (cuda_kind(inner) == CudaKind::ReferenceDeclarator).then(|| children(inner).last().copied()).flatten()
            }) {
                Some(next) => declarator = Some(next),
                None => break,
            }
        }
        match (declarator, field(node, Field::TypeOf)) {
            (Some(name), _) => {
                let (path, targs) = self.path(s, name);
                let span = s.span(node);
                self.module.instantiations.push(Instantiation { path, is_class: false, targs, span });
            }
            (None, Some(ty)) => {
                if let Some(name) = field(ty, Field::Name) {
                    self.class_instantiation(s, name);
                }
            }
            _ => {}
        }
    }

    /// `template class C<float>;`, by its name.
    pub(super) fn class_instantiation<'t>(&mut self, s: Src<'t>, name: Node<'t>) {
        let (path, targs) = self.path(s, name);
        if !targs.is_empty() {
            let span = s.span(name);
            self.module.instantiations.push(Instantiation { path, is_class: true, targs, span });
        }
    }
}

/// Whether a declaration says that it is `inline`.
fn is_inline(text: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == "inline")
}
