//! Types as written, and the names of types that every CUDA program knows.

use super::builtin_types::builtin;
use super::fields::{Field, field};
use super::parts::Parts;
use super::source::{Argument, Src, all_children, child_of_kind, children, first_child};
use super::state::{Lowerer, Meaning, TypeKey};
use crate::ir::{Path, TemplateArg, Type, TypeId};
use cudalint_numbers::{Scalar, cuda_vector};
use cudalint_syntax::Node;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};

impl Lowerer<'_> {
    /// A type that one identifier names.
    pub(super) fn type_named(&mut self, s: Src<'_>, text: &str) -> TypeId {
        if let Some(argument) = s.argument(text) {
            let argument = argument.clone();
            return self.type_of_argument(s, &argument);
        }
        if let Some(ty) = builtin(text) {
            return self.push_type(ty);
        }
        if let Some(Meaning::Type(ty)) = self.lookup(text) {
            return ty;
        }
        let known = self.types.contains(text);
        if !known {
            if let Some((lane, lanes)) = cuda_vector(text) {
                let name = self.name(text);
                return self.named_vector(Type::Vector { name, lane, lanes });
            }
            if let Some(ty) = self.type_of_macro(text) {
                return ty;
            }
        }
        let path = self.single(text);
        self.push_type(Type::Named { path, args: Vec::new() })
    }

    fn named_vector(&mut self, ty: Type) -> TypeId {
        let Type::Vector { name, .. } = &ty else { return self.push_type(ty) };
        let key = TypeKey::Named(name.clone());
        if let Some(id) = self.plain_types.get(&key) {
            return *id;
        }
        let id = self.add_type(ty);
        self.plain_types.insert(key, id);
        id
    }

    fn type_of_argument(&mut self, s: Src<'_>, argument: &Argument<'_>) -> TypeId {
        match argument {
            Argument::Node(node, inner) => {
                let text = inner.text(*node);
                if inner.argument(text).is_some() || !text.contains(|c: char| !c.is_alphanumeric() && c != '_') {
                    self.with_arguments_active(s, |this| this.type_named(*inner, text))
                } else {
                    let span = inner.span(*node);
                    self.type_text(text, span)
                }
            }
            Argument::Text(text, span, _) => self.type_text(text, *span),
            Argument::Rest(_) => self.push_type(Type::Unknown),
        }
    }

    /// The type in a `type` field: a specifier without the qualifiers and declarators around it.
    pub(super) fn specifier<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> TypeId {
        if !self.enter() {
            return self.push_type(Type::Unknown);
        }
        let ty = self.specifier_inner(s, node);
        self.leave();
        ty
    }

    fn specifier_inner<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> TypeId {
        let text = s.text(node);
        if is_complex(s, node) {
            return self.push_type(Type::Unknown);
        }
        match cuda_kind(node) {
            CudaKind::PrimitiveType
            | CudaKind::TypeIdentifier
            | CudaKind::Identifier
            | CudaKind::NamespaceIdentifier => {
                if text.contains(|c: char| c.is_ascii_whitespace()) {
                    let ty = Scalar::of_cpp(text).map_or(Type::Unknown, Type::of_scalar);
                    return self.push_type(ty);
                }
                self.type_named(s, text)
            }
            CudaKind::SizedTypeSpecifier => {
                let ty = Scalar::of_cpp(text).map_or(Type::Unknown, Type::of_scalar);
                self.push_type(ty)
            }
            CudaKind::PlaceholderTypeSpecifier | CudaKind::AutoType => {
                if let Some(inner) = child_of_kind(node, CudaKind::Decltype) {
                    return self.specifier(s, inner);
                }
                self.push_type(Type::Auto)
            }
            CudaKind::Decltype => match first_child(node) {
                Some(inner) if cuda_kind(inner) != CudaKind::AutoType => {
                    let value = self.expr(s, inner);
                    self.push_type(Type::DeclType(value))
                }
                // `decltype(auto)`: a reference where the initializer is a place in parentheses, and else not.
                _ => self.push_type(Type::Unknown),
            },
            CudaKind::QualifiedIdentifier | CudaKind::TemplateType | CudaKind::TemplateFunction => {
                let (path, args) = self.path(s, node);
                if args.is_empty()
                    && let [first, last] = &*path.segments
                    && matches!(first.as_str(), "std" | "cuda")
                    && let Some(ty) = builtin(last)
                {
                    return self.push_type(ty);
                }
                match self.owner(s, node) {
                    Some(of) => self.push_type(Type::Member { of, path, args }),
                    None => self.push_type(Type::Named { path, args }),
                }
            }
            CudaKind::DependentType => match children(node).first() {
                Some(inner) => self.specifier(s, *inner),
                None => self.push_type(Type::Unknown),
            },
            CudaKind::StructSpecifier | CudaKind::ClassSpecifier | CudaKind::UnionSpecifier => self.record(s, node),
            CudaKind::EnumSpecifier => self.enumeration(s, node),
            CudaKind::TypeDescriptor => self.descriptor(s, node),
            _ => self.push_type(Type::Unknown),
        }
    }

    /// A type with abstract declarators: `const float*`.
    pub(super) fn descriptor<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> TypeId {
        let parts = Parts::of(s, node);
        let Some(specifier) = parts.ty else { return self.push_type(Type::Unknown) };
        let base = self.specifier(s, specifier);
        let base = self.qualify_parts(s, &parts, base);
        match parts.declarators.first() {
            Some(declarator) => self.declarator(s, *declarator, base).ty,
            None => base,
        }
    }

    /// Adds the `const` and `volatile` that stand among the children of a declaration.
    pub(super) fn qualify(&mut self, s: Src<'_>, node: Node<'_>, ty: TypeId) -> TypeId {
        let (mut is_const, mut is_volatile) = (false, false);
        let text = s.text(node).as_bytes();
        let qualified = |at: usize| text[at..].starts_with(b"const") || text[at..].starts_with(b"volatile");
        if !(0..text.len()).any(|at| matches!(text[at], b'c' | b'v') && qualified(at)) {
            return ty;
        }
        for child in all_children(node).filter(|child| cuda_kind(*child) == CudaKind::TypeQualifier) {
            match s.text(child) {
                "const" | "constexpr" => is_const = true,
                "volatile" => is_volatile = true,
                _ => {}
            }
        }
        if is_const || is_volatile { self.add_type(Type::Qualified { ty, is_const, is_volatile }) } else { ty }
    }

    /// `S<T>` of `S<T>::type`; `None` where what stands before the last `::` has no arguments of its own.
    pub(super) fn owner<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> Option<TypeId> {
        let mut segments = Vec::new();
        let mut next = Some(node);
        for _ in 0..64 {
            let node = next.filter(|node| cuda_kind(*node) == CudaKind::QualifiedIdentifier)?;
            let name = field(node, Field::Name)?;
            let is_last = cuda_kind(name) != CudaKind::QualifiedIdentifier;
            let scope = field(node, Field::Scope)?;
            if cuda_kind(scope) == CudaKind::TemplateType {
                if !is_last {
                    return None;
                }
                let (inner, args) = self.path(s, scope);
                segments.extend(inner.segments.iter().cloned());
                return Some(self.push_type(Type::Named { path: Path::from(segments), args }));
            }
            if is_last && segments.is_empty() && cuda_kind(scope) == CudaKind::Decltype {
                return Some(self.specifier(s, scope));
            }
            let text = s.text(scope);
            if is_last
                && segments.is_empty()
                && let Some(Meaning::Type(ty)) = self.lookup(text)
            {
                // `using params = Degree<2048>;` of the function around.
                return Some(ty);
            }
            segments.push(self.name(text));
            next = Some(name);
        }
        None
    }

    /// A possibly qualified name and the template arguments of its last segment. Arguments of earlier segments are
    /// dropped: `A<int>::type` is the path `A::type`.
    pub(super) fn path<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> (Path, Vec<TemplateArg>) {
        let mut segments = Vec::new();
        let mut args = Vec::new();
        let mut next = Some(node);
        let mut rounds = 0;
        while let Some(node) = next.take() {
            rounds += 1;
            if rounds > 64 {
                break;
            }
            match cuda_kind(node) {
                CudaKind::QualifiedIdentifier => {
                    if let Some(scope) = field(node, Field::Scope) {
                        let scope = match cuda_kind(scope) {
                            CudaKind::TemplateType => field(scope, Field::Name).unwrap_or(scope),
                            _ => scope,
                        };
                        let text = s.text(scope);
                        segments.push(self.name(text));
                    }
                    next = field(node, Field::Name);
                }
                CudaKind::TemplateType | CudaKind::TemplateFunction | CudaKind::TemplateMethod => {
                    if let Some(list) = field(node, Field::Arguments) {
                        args = self.template_args(s, list);
                    }
                    next = field(node, Field::Name);
                }
                CudaKind::DependentName | CudaKind::DependentType => next = first_child(node),
                _ => {
                    let text = s.text(node);
                    segments.push(self.name(text));
                }
            }
        }
        let path = match segments.as_slice() {
            [only] => self.single(only),
            _ => segments.into(),
        };
        (path, args)
    }

    /// The arguments between `<` and `>`.
    pub(super) fn template_args<'t>(&mut self, s: Src<'t>, list: Node<'t>) -> Vec<TemplateArg> {
        let mut args = Vec::new();
        if !self.enter() {
            return args;
        }
        for child in children(list) {
            match cuda_kind(child) {
                CudaKind::TypeDescriptor => {
                    let bare = field(child, Field::TypeOf).filter(|_| child.named_child_count() == 1);
                    match bare {
                        Some(inner) if may_be_value(s, inner) => {
                            let value = self.qualified(s, inner);
                            args.push(TemplateArg::Ambiguous(self.descriptor(s, child), value));
                        }
                        Some(inner)
                            if cuda_kind(inner) == CudaKind::TypeIdentifier && !self.is_type(s, s.text(inner)) =>
                        {
                            let text = s.text(inner);
                            let value = self.identifier(s, inner);
                            if self.is_value(s, text) {
                                args.push(TemplateArg::Value(value));
                            } else {
                                let ty = self.type_named(s, text);
                                args.push(TemplateArg::Ambiguous(ty, value));
                            }
                        }
                        _ => args.push(TemplateArg::Type(self.descriptor(s, child))),
                    }
                }
                CudaKind::PrimitiveType | CudaKind::SizedTypeSpecifier => {
                    args.push(TemplateArg::Type(self.specifier(s, child)));
                }
                _ => args.push(TemplateArg::Value(self.expr(s, child))),
            }
        }
        self.leave();
        args
    }
}

/// Whether `Mode::Fast`, which the grammar takes for a type, may as well be a value. Nothing of the standard library's that has no arguments
/// is one.
fn may_be_value(s: Src<'_>, node: Node<'_>) -> bool {
    let mut last = node;
    while cuda_kind(last) == CudaKind::QualifiedIdentifier {
        let Some(name) = field(last, Field::Name) else { return false };
        last = name;
    }
    cuda_kind(node) == CudaKind::QualifiedIdentifier
        && cuda_kind(last) == CudaKind::TypeIdentifier
        && !s.text(node).starts_with("std::")
}

/// Whether a type of C's complex numbers goes on behind its first word: `double complex z`, of which the grammar knows nothing.
fn is_complex(s: Src<'_>, node: Node<'_>) -> bool {
    const WORDS: [&str; 3] = ["complex", "_Complex", "__complex__"];
    if !matches!(cuda_kind(node), CudaKind::PrimitiveType | CudaKind::SizedTypeSpecifier) {
        return false;
    }
    let Some(behind) = s.text.get(node.end_byte()..).map(str::trim_start) else { return false };
    WORDS.iter().any(|word| {
        // `double complex;` declares a variable of that name.
        behind.strip_prefix(word).is_some_and(|rest| {
            let rest = rest.trim_start_matches([' ', '\t']);
            let apart = rest.len() + word.len() < behind.len();
            rest.starts_with('*') || apart && rest.starts_with(|next: char| next.is_ascii_alphabetic() || next == '_')
        })
    })
}
