//! The children of a declaration, fetched once for all that ask for them: the grammar's library looks each of them up from
//! the first on, and a child by its field for even more.

use super::fields::{Field, field, fields};
use super::source::{Src, all_children};
use super::state::Lowerer;
use crate::ir::{Type, TypeId};
use cudalint_syntax::Node;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};

/// A declaration, a definition of a function, a parameter or a type in parentheses.
pub(crate) struct Parts<'t> {
    /// The node itself.
    pub node: Node<'t>,
    /// Its children with their kinds, those without a name included, a `;` at the end left out.
    pub children: Vec<(Node<'t>, CudaKind)>,
    /// The type, without qualifiers and declarators.
    pub ty: Option<Node<'t>>,
    /// What is declared, in order.
    pub declarators: Vec<Node<'t>>,
}

impl<'t> Parts<'t> {
    pub fn of(s: Src<'t>, node: Node<'t>) -> Self {
        let semicolon = node.end_byte().checked_sub(1).and_then(|last| s.text.as_bytes().get(last)) == Some(&b';');
        let count = (node.child_count() as usize).saturating_sub(usize::from(semicolon));
        let mut children = Vec::with_capacity(count);
        children.extend(all_children(node).take(count).map(|child| (child, cuda_kind(child))));
        let mut declarators = Vec::new();
        let ty = match shape(&children, &mut declarators) {
            Some(ty) => Some(ty),
            None => {
                declarators = fields(node, Field::Declarator);
                field(node, Field::TypeOf)
            }
        };
        Self { node, children, ty, declarators }
    }

    /// The body of a function.
    pub fn body(&self) -> Option<Node<'t>> {
        let body = self.children.iter().rfind(|(_, kind)| *kind == CudaKind::CompoundStatement);
        body.map(|(body, _)| *body)
    }

    /// The texts of the qualifiers among the children.
    fn qualifiers(&self, s: Src<'t>) -> impl Iterator<Item = &'t str> {
        let qualifiers = self.children.iter().filter(|(_, kind)| *kind == CudaKind::TypeQualifier);
        qualifiers.map(move |(child, _)| s.text(*child))
    }
}

/// The type of `words type declarator, declarator …`; `None` where anything else stands among the children, which has
/// to be asked for by its field.
fn shape<'t>(children: &[(Node<'t>, CudaKind)], declarators: &mut Vec<Node<'t>>) -> Option<Node<'t>> {
    let mut rest = children.iter().skip_while(|(child, kind)| {
        matches!(kind, CudaKind::TypeQualifier | CudaKind::StorageClassSpecifier)
            || *kind == CudaKind::Other && !child.is_named()
    });
    let ty = rest.next().filter(|(_, kind)| is_type(*kind))?;
    let mut wanted = true;
    for (child, kind) in rest {
        match kind {
            CudaKind::TypeQualifier if wanted && declarators.is_empty() => {}
            CudaKind::Other if !wanted && child.kind() == "," => wanted = true,
            CudaKind::CompoundStatement if !wanted => {}
            kind if wanted && is_declarator(*kind) => {
                declarators.push(*child);
                wanted = false;
            }
            _ => return None,
        }
    }
    Some(ty.0)
}

fn is_type(kind: CudaKind) -> bool {
    matches!(
        kind,
        CudaKind::PrimitiveType
            | CudaKind::TypeIdentifier
            | CudaKind::SizedTypeSpecifier
            | CudaKind::QualifiedIdentifier
            | CudaKind::TemplateType
            | CudaKind::PlaceholderTypeSpecifier
            | CudaKind::StructSpecifier
            | CudaKind::ClassSpecifier
            | CudaKind::UnionSpecifier
            | CudaKind::EnumSpecifier
    )
}

fn is_declarator(kind: CudaKind) -> bool {
    matches!(
        kind,
        CudaKind::Identifier
            | CudaKind::FieldIdentifier
            | CudaKind::TypeIdentifier
            | CudaKind::InitDeclarator
            | CudaKind::PointerDeclarator
            | CudaKind::ReferenceDeclarator
            | CudaKind::ArrayDeclarator
            | CudaKind::FunctionDeclarator
            | CudaKind::AbstractPointerDeclarator
            | CudaKind::AbstractReferenceDeclarator
            | CudaKind::AbstractArrayDeclarator
            | CudaKind::AbstractFunctionDeclarator
    )
}

impl Lowerer<'_> {
    /// Adds the `const` and `volatile` that stand among the children.
    pub(super) fn qualify_parts<'t>(&mut self, s: Src<'t>, parts: &Parts<'t>, ty: TypeId) -> TypeId {
        let (mut is_const, mut is_volatile) = (false, false);
        for text in parts.qualifiers(s) {
            match text {
                "const" | "constexpr" => is_const = true,
                "volatile" => is_volatile = true,
                _ => {}
            }
        }
        if is_const || is_volatile { self.add_type(Type::Qualified { ty, is_const, is_volatile }) } else { ty }
    }

    /// `const` in front of a return type belongs to the type; `constexpr` does not.
    pub(super) fn qualify_plain<'t>(&mut self, s: Src<'t>, parts: &Parts<'t>, ty: TypeId) -> TypeId {
        let is_const = parts.qualifiers(s).any(|text| text == "const");
        if is_const { self.add_type(Type::Qualified { ty, is_const, is_volatile: false }) } else { ty }
    }
}
