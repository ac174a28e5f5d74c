//! Structs, classes, unions and enums.

use super::fields::{Field, field, fields};
use super::parts::Parts;
use super::source::{Src, all_children, child_of_kind, children, first_child};
use super::state::Lowerer;
use super::state::Meaning;
use crate::ir::{Enumerator, Expr, ExprId, Path, Record, Space, Specialization, Type, TypeId, Variable};
use crate::name::Name;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{Node, Span, called_names};

/// Longest attributes behind a record's body.
const MAX_ATTRIBUTES: usize = 80;

impl Lowerer<'_> {
    /// A record specifier inside a declaration: its definition, if it has a body, and its type.
    pub(super) fn record<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> TypeId {
        self.record_with(s, node, &[], None)
    }

    /// As [`Self::record`], with template parameter lists around it and a name for a record that has none.
    pub(super) fn record_with<'t>(
        &mut self,
        s: Src<'t>,
        node: Node<'t>,
        templates: &[Node<'t>],
        hint: Option<Name>,
    ) -> TypeId {
        let body = field(node, Field::Body);
        let name_node = field(node, Field::Name);
        let Some(body) = body else {
            // `struct S` as a type, or a declaration.
            let Some(name) = name_node else { return self.push_type(Type::Unknown) };
            let is_declaration = || {
                node.parent().is_some_and(|parent| {
                    matches!(
                        cuda_kind(parent),
                        CudaKind::TranslationUnit | CudaKind::DeclarationList | CudaKind::TemplateDeclaration
                    )
                })
            };
            if cuda_kind(name) == CudaKind::TypeIdentifier {
                let text = self.declared_name(s, name);
                if is_declaration() && self.frames.is_empty() {
                    self.types.insert(text.clone());
                }
            }
            // What the mask leaves of `template class C<float>;`.
            if cuda_kind(name) == CudaKind::TemplateType
                && templates.is_empty()
                && self.frames.is_empty()
                && is_declaration()
            {
                self.class_instantiation(s, name);
            }
            return self.specifier(s, name);
        };
        if !self.enter() {
            return self.push_type(Type::Unknown);
        }
        let anonymous = name_node.is_none();
        let (own_path, own_args) = name_node.map(|name| self.path(s, name)).unwrap_or_default();
        let name = match own_path.last() {
            Some(name) => name.clone(),
            None => hint.unwrap_or_else(|| {
                let number = self.module.records.len();
                self.name(&format!("(anonymous {number})"))
            }),
        };
        // A partial or full specialization describes other types than the template does.
        let specialized = name_node.is_some_and(|node| cuda_kind(node) == CudaKind::TemplateType);
        let plain_name = name.clone();
        let name = match name_node.filter(|_| specialized) {
            Some(node) => self.specialization_name(s.text(node)),
            None => name,
        };
        let outer_scope = self.scope.clone();
        let local_to = self.frames.last().map(|frame| frame.name.clone());
        if let Some(function) = &local_to {
            self.scope.push(function.clone());
        }
        for segment in own_path.segments.iter().take(own_path.segments.len().saturating_sub(1)) {
            self.scope.push(segment.clone());
        }
        let scope = Path::from(self.scope.clone());
        let path: Path = local_to.into_iter().chain([name.clone()]).collect();
        let ty = self.push_type(Type::Named { path, args: Vec::new() });
        if self.frames.is_empty() {
            if !anonymous && !specialized {
                self.types.insert(name.clone());
            }
        } else if !anonymous {
            self.bind(name.clone(), Meaning::Type(ty));
        }
        let template_params = self.template_params(s, templates);
        let (bases, has_virtual_bases) = self.bases(s, node);
        let align = self.record_alignment(s, node, body);
        let index = self.module.records.len();
        let span = name_node.map_or_else(|| s.span(node), |name| s.span(name));
        self.module.records.push(Record {
            name: name.clone(),
            scope,
            template_params,
            bases,
            fields: Vec::new(),
            is_union: cuda_kind(node) == CudaKind::UnionSpecifier,
            has_virtual_bases,
            has_virtual: false,
            virtual_methods: Vec::new(),
            align,
            defined: true,
            specializes: specialized.then(|| Specialization { template: plain_name.clone(), args: own_args }),
            methods: Vec::new(),
            decorators: Vec::new(),
            span,
        });
        self.scope.push(name.clone());
        self.record_names.push((plain_name, name));
        // Methods of a local class do not see the variables of the function around it.
        let frames = std::mem::take(&mut self.frames);
        self.record_members(s, body, index);
        self.frames = frames;
        self.record_names.pop();
        self.scope = outer_scope;
        self.leave();
        ty
    }

    /// The name of the record whose members are being lowered.
    pub(super) fn record_scope(&self) -> Option<Name> {
        let (name, segment) = self.record_names.last()?;
        if self.scope.last() == Some(segment) && self.frames.len() <= 1 { Some(name.clone()) } else { None }
    }

    /// A name that no other record of the module has, for a specialization as written: its members stand in a scope of
    /// their own. What a macro writes may be spelled alike more than once.
    fn specialization_name(&mut self, written: &str) -> Name {
        let mut text: String = written.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.module.records.iter().any(|record| record.specializes.is_some() && record.name == *text) {
            text = format!("{text}({})", self.module.records.len());
        }
        self.name(&text)
    }

    fn record_members<'t>(&mut self, s: Src<'t>, body: Node<'t>, index: usize) {
        let members = self.chosen_children(s, body);
        // Methods may use fields that are declared after them.
        for member in &members {
            if cuda_kind(*member) == CudaKind::FieldDeclaration {
                for declarator in Parts::of(s, *member).declarators {
                    if let Some(name) = plain_name(declarator) {
                        let name = self.name(s.text(name));
                        self.values.insert(name);
                    }
                }
            }
        }
        for member in members {
            match cuda_kind(member) {
                CudaKind::FieldDeclaration => self.field(s, member, index),
                CudaKind::FunctionDefinition | CudaKind::Declaration | CudaKind::TemplateDeclaration => {
                    if is_virtual(s, member) {
                        self.note_virtual(s, member, index);
                    }
                    self.member_item(s, member);
                }
                _ => self.member_item(s, member),
            }
        }
    }

    /// A virtual member function of a record.
    fn note_virtual(&mut self, s: Src<'_>, node: Node<'_>, index: usize) {
        let head = s.text(node).split('{').next().unwrap_or_default();
        let name = called_names(head).next().unwrap_or_default();
        let name = self.name(name);
        let Some(record) = self.module.records.get_mut(index) else { return };
        record.has_virtual = true;
        if !is_destructor(s, node) {
            record.virtual_methods.push(name);
        }
    }

    fn field<'t>(&mut self, s: Src<'t>, node: Node<'t>, index: usize) {
        let parts = Parts::of(s, node);
        let storage = self.storage(s, &parts);
        if storage.is_virtual {
            self.note_virtual(s, node, index);
        }
        let Some(specifier) = parts.ty else { return };
        let declarators = &parts.declarators;
        let makes_function = declarators.iter().any(|declarator| declares_function(*declarator));
        if storage.is_static || makes_function {
            self.member_item(s, node);
            return;
        }
        let base = self.specifier(s, specifier);
        let base = self.qualify_parts(s, &parts, base);
        let is_bits =
            parts.children.iter().any(|(child, kind)| *kind == CudaKind::Other && child.kind() == "bitfield_clause");
        if declarators.is_empty() {
            // An anonymous union or struct: its members are members of this record.
            let is_record = matches!(
                cuda_kind(specifier),
                CudaKind::StructSpecifier | CudaKind::UnionSpecifier | CudaKind::ClassSpecifier
            );
            if is_record && field(specifier, Field::Name).is_none() {
                let name = self.name("");
                let span = s.span(node);
                self.add_field(index, name, base, None, span);
            }
            return;
        }
        let defaults = fields(node, Field::DefaultValue);
        for (at, declarator) in declarators.iter().copied().enumerate() {
            // `int a, b = 5, c;`: a default stands between its declarator and the next.
            let end = declarators.get(at + 1).map_or(node.end_byte(), Node::start_byte);
            let own = |value: &&Node<'t>| value.start_byte() > declarator.start_byte() && value.end_byte() <= end;
            let declared = self.declarator(s, declarator, base);
            let Some(name_node) = declared.name else { continue };
            let name = self.declared_name(s, name_node);
            // A bit-field has no size of its own that a layout could add up.
            let ty = if is_bits { self.push_type(Type::Unknown) } else { declared.ty };
            let init = defaults.iter().find(own).map(|value| self.field_value(s, *value));
            let span = s.span(name_node);
            self.add_field(index, name, ty, init, span);
        }
    }

    fn field_value<'t>(&mut self, s: Src<'t>, value: Node<'t>) -> ExprId {
        self.expr(s, value)
    }

    fn add_field(&mut self, index: usize, name: Name, ty: TypeId, init: Option<ExprId>, span: Span) {
        let scope = Path::from(self.scope.clone());
        let variable = Variable { name, scope, ty, space: Space::Ordinary, init, is_constexpr: false, span };
        if let Some(record) = self.module.records.get_mut(index) {
            record.fields.push(variable);
        }
    }

    /// The classes that one is derived from, and whether the text says `virtual` of any.
    fn bases<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> (Vec<TypeId>, bool) {
        let Some(clause) = child_of_kind(node, CudaKind::BaseClassClause) else { return (Vec::new(), false) };
        let text = s.text.get(clause.byte_range()).unwrap_or("");
        let is_virtual = text.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "virtual");
        let mut out = Vec::new();
        for child in children(clause) {
            if matches!(
                cuda_kind(child),
                CudaKind::TypeIdentifier
                    | CudaKind::TemplateType
                    | CudaKind::QualifiedIdentifier
                    | CudaKind::DependentType
                    | CudaKind::Decltype
            ) {
                out.push(self.specifier(s, child));
            }
        }
        (out, is_virtual)
    }

    fn record_alignment<'t>(&mut self, s: Src<'t>, node: Node<'t>, body: Node<'t>) -> Option<ExprId> {
        // Where its members lie is not told by their types.
        let tail = s.text.get(body.end_byte()..).unwrap_or("").split(';').next().unwrap_or("");
        let head = s.text.get(node.start_byte()..body.start_byte()).unwrap_or("");
        if head.contains("packed") || tail.len() < MAX_ATTRIBUTES && tail.contains("packed") {
            let span = s.span(body);
            return Some(self.push(Expr::Unknown(Vec::new()), span));
        }
        for child in children(node) {
            if child.start_byte() >= body.start_byte() {
                break;
            }
            let qualifier = match cuda_kind(child) {
                CudaKind::AlignasQualifier => child,
                _ => match child_of_kind(child, CudaKind::AlignasQualifier) {
                    Some(inner) => inner,
                    None => continue,
                },
            };
            let value = first_child(qualifier)?;
            if cuda_kind(value) == CudaKind::TypeDescriptor {
                let ty = self.descriptor(s, value);
                let span = s.span(value);
                return Some(self.push(Expr::Unknown(Vec::new()), span)).filter(|_| ty.0 != u32::MAX);
            }
            return Some(self.expr(s, value));
        }
        self.masked_alignment(s, Span::new(node.start_byte(), body.start_byte()))
    }

    /// An enum: its enumerators, and its type, which is that of its values.
    pub(super) fn enumeration<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> TypeId {
        let underlying = field(node, Field::Base).map(|base| self.specifier(s, base));
        let base = underlying.unwrap_or_else(|| self.push_type(Type::Int { bytes: 4, signed: true }));
        let name_node = field(node, Field::Name);
        let Some(body) = field(node, Field::Body) else {
            return match name_node {
                Some(name) => self.specifier(s, name),
                None => base,
            };
        };
        let name = match name_node {
            Some(name) => self.declared_name(s, name),
            None => self.name(""),
        };
        let mut scope = self.scope.clone();
        let local_to = self.frames.last().map(|frame| frame.name.clone());
        if let Some(function) = &local_to {
            scope.push(function.clone());
        }
        let scope = Path::from(scope);
        let mut offset = 0;
        for child in self.chosen_children(s, body) {
            if cuda_kind(child) != CudaKind::Enumerator {
                continue;
            }
            let Some(own) = field(child, Field::Name) else { continue };
            let value = field(child, Field::Value).map(|value| self.expr(s, value));
            if value.is_some() {
                offset = 0;
            }
            let own = self.declared_name(s, own);
            if self.frames.is_empty() {
                self.values.insert(own.clone());
            }
            self.module.enumerators.push(Enumerator {
                name: own,
                of: name.clone(),
                scope: scope.clone(),
                value,
                offset,
                underlying,
            });
            offset += 1;
        }
        if !name.is_empty() {
            if self.frames.is_empty() {
                self.types.insert(name.clone());
                return self.push_type(Type::Named { path: Path::single(name), args: Vec::new() });
            }
            self.bind(name, Meaning::Type(base));
        }
        base
    }

    /// Joins functions to the records that they are methods of.
    pub(super) fn join_methods(&mut self) {
        let mut by_path: rustc_hash::FxHashMap<Path, usize> = rustc_hash::FxHashMap::default();
        for (index, record) in self.module.records.iter().enumerate() {
            let path = record.scope.within(record.name.clone());
            by_path.entry(path).or_insert(index);
        }
        if by_path.is_empty() {
            return;
        }
        for (at, function) in self.module.functions.iter_mut().enumerate() {
            if function.role == crate::ir::FunctionRole::Lambda {
                continue;
            }
            let Some(index) = by_path.get(&function.scope) else { continue };
            if function.role == crate::ir::FunctionRole::Free {
                function.role = crate::ir::FunctionRole::Method;
            }
            if let Some(record) = self.module.records.get_mut(*index) {
                record.methods.push(crate::ir::FunctionId(at as u32));
            }
        }
    }
}

/// The name in a declarator, found without lowering any of it.
fn plain_name(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node;
    for _ in 0..32 {
        if matches!(cuda_kind(node), CudaKind::FieldIdentifier | CudaKind::Identifier) {
            return Some(node);
        }
        if cuda_kind(node) == CudaKind::FunctionDeclarator {
            return None;
        }
        node = field(node, Field::Declarator).or_else(|| children(node).last().copied())?;
    }
    None
}

fn declares_function(node: Node<'_>) -> bool {
    let mut node = node;
    for _ in 0..32 {
        match cuda_kind(node) {
            CudaKind::FunctionDeclarator => {
                return field(node, Field::Declarator)
                    .is_some_and(|inner| cuda_kind(inner) != CudaKind::ParenthesizedDeclarator);
            }
            CudaKind::PointerDeclarator | CudaKind::ReferenceDeclarator => {
                match field(node, Field::Declarator).or_else(|| children(node).last().copied()) {
                    Some(inner) => node = inner,
                    None => return false,
                }
            }
            _ => return false,
        }
    }
    false
}

/// Whether a member function is `~T()`.
fn is_destructor(s: Src<'_>, node: Node<'_>) -> bool {
    s.text(node).split('(').next().is_some_and(|head| head.contains('~') && !head.contains("operator"))
}

fn is_virtual(s: Src<'_>, node: Node<'_>) -> bool {
    let direct = all_children(node).any(|child| {
        cuda_kind(child) == CudaKind::VirtualSpecifier
            || cuda_kind(child) == CudaKind::Other && matches!(child.kind(), "virtual" | "virtual_specifier")
    });
    direct
        || field(node, Field::Declarator).is_some_and(|declarator| {
            children(declarator).iter().any(|child| child.kind() == "virtual_specifier" && s.text(*child) == "override")
        })
}
