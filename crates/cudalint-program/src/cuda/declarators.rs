//! Declarators: from `*p[4]` around a base type to a name and a type.

use super::fields::{Field, field, picked};
use super::source::{Src, children, named_children};
use super::state::Lowerer;
use crate::ir::{Type, TypeId};
use cudalint_syntax::Node;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};

/// What a declarator declares.
#[derive(Clone, Copy)]
pub(crate) struct Declared<'t> {
    /// The name, when there is one.
    pub name: Option<Node<'t>>,
    /// The type with all pointers, references and arrays.
    pub ty: TypeId,
    /// The declarator of a function that this declares (not of a pointer to one).
    pub function: Option<Node<'t>>,
    /// Whether the name is a parameter pack.
    pub pack: bool,
}

impl Lowerer<'_> {
    /// Reads a declarator from the outside in, which is the order in which a C type is built up. `base` is the type in
    /// front of it.
    pub(super) fn declarator<'t>(&mut self, s: Src<'t>, node: Node<'t>, base: TypeId) -> Declared<'t> {
        let mut declared = Declared { name: None, ty: base, function: None, pack: false };
        let mut next = Some(node);
        let mut rounds = 0;
        // Array extents are written outermost last: `a[2][3]` is array(3) inside array(2) in the tree.
        while let Some(node) = next.take() {
            rounds += 1;
            if rounds > 64 {
                declared.ty = self.push_type(Type::Unknown);
                break;
            }
            match cuda_kind(node) {
                CudaKind::PointerDeclarator | CudaKind::AbstractPointerDeclarator => {
                    declared.function = None;
                    let pointer = self.push_type(Type::Pointer(declared.ty));
                    declared.ty = self.qualify(s, node, pointer);
                    next = inner(node);
                }
                CudaKind::ReferenceDeclarator | CudaKind::AbstractReferenceDeclarator => {
                    declared.function = None;
                    declared.ty = self.push_type(Type::Reference(declared.ty));
                    next = inner(node);
                }
                CudaKind::ArrayDeclarator | CudaKind::AbstractArrayDeclarator => {
                    declared.function = None;
                    let size = field(node, Field::Size).map(|size| self.expr(s, size));
                    declared.ty = self.push_type(Type::Array(declared.ty, size));
                    next = inner(node);
                }
                CudaKind::FunctionDeclarator | CudaKind::AbstractFunctionDeclarator => {
                    declared.function = Some(node);
                    next = inner(node);
                    // No function returns one: `MANGLED(name, NAME)(int n)` has its name from a macro.
                    if let Some(name) = next.and_then(mangled_name) {
                        declared.name = Some(name);
                        break;
                    }
                    // `(*name)(…)` is a pointer to a function; `name(…)` is a function, whose type is asked elsewhere.
                    if next.is_none_or(|inner| {
                        matches!(cuda_kind(inner), CudaKind::ParenthesizedDeclarator | CudaKind::Other)
                    }) {
                        declared.ty = self.push_type(Type::Function);
                    }
                }
                CudaKind::InitDeclarator => {
                    next =
                        picked(node, 3, [0]).map(|[declarator]| declarator).or_else(|| field(node, Field::Declarator));
                }
                CudaKind::Identifier
                | CudaKind::FieldIdentifier
                | CudaKind::TypeIdentifier
                | CudaKind::QualifiedIdentifier
                | CudaKind::TemplateFunction
                | CudaKind::DestructorName
                | CudaKind::OperatorName
                | CudaKind::OperatorCast
                | CudaKind::PrimitiveType
                | CudaKind::StructuredBindingDeclarator => declared.name = Some(node),
                _ => {
                    declared.pack |= node.kind() == "variadic_declarator";
                    next = inner(node);
                }
            }
        }
        declared
    }
}

/// The first argument of `MANGLED(name, NAME)`.
fn mangled_name(node: Node<'_>) -> Option<Node<'_>> {
    let is_call = cuda_kind(node) == CudaKind::FunctionDeclarator && cuda_kind(inner(node)?) == CudaKind::Identifier;
    let first =
        if is_call { named_children(field(node, Field::Parameters)?).into_iter().next()? } else { return None };
    let name = field(first, Field::TypeOf)?;
    let alone = cuda_kind(name) == CudaKind::TypeIdentifier && field(first, Field::Declarator).is_none();
    alone.then_some(name)
}

/// The declarator inside a declarator. Some have it in a field, some as their last child.
pub(super) fn inner(node: Node<'_>) -> Option<Node<'_>> {
    let found = match cuda_kind(node) {
        // `*p`, `&r`.
        CudaKind::PointerDeclarator | CudaKind::ReferenceDeclarator => picked(node, 2, [1]).map(|[name]| name),
        // `a[4]`, `f(…)`.
        CudaKind::ArrayDeclarator | CudaKind::FunctionDeclarator => node.child(0),
        _ => None,
    };
    if let Some(name) = found
        && matches!(
            cuda_kind(name),
            CudaKind::Identifier
                | CudaKind::FieldIdentifier
                | CudaKind::PointerDeclarator
                | CudaKind::ArrayDeclarator
                | CudaKind::FunctionDeclarator
        )
    {
        return Some(name);
    }
    field(node, Field::Declarator).or_else(|| {
        let size = field(node, Field::Size);
        children(node).into_iter().rev().find(|child| {
            Some(*child) != size
                && !matches!(
                    cuda_kind(*child),
                    CudaKind::TypeQualifier | CudaKind::ParameterList | CudaKind::Error | CudaKind::NumberLiteral
                )
                && (child.kind().contains("declarator")
                    || matches!(
                        cuda_kind(*child),
                        CudaKind::Identifier
                            | CudaKind::FieldIdentifier
                            | CudaKind::TypeIdentifier
                            | CudaKind::QualifiedIdentifier
                            | CudaKind::OperatorName
                    ))
        })
    })
}
