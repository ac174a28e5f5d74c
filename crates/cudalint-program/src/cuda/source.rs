//! Where a node's text comes from: the file itself, a piece of it that was parsed again, or the body of a macro with its
//! arguments.

use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{Node, Span};

/// A text with the tree that is being lowered, and how its offsets map to the file.
#[derive(Clone, Copy)]
pub(crate) struct Src<'t> {
    /// The text that node offsets refer to.
    pub text: &'t str,
    place: Place,
    /// Arguments of the macro whose body this is.
    pub bindings: Option<&'t Bindings<'t>>,
}

#[derive(Clone, Copy)]
enum Place {
    /// Offsets are those of the file.
    File,
    /// Add this to an offset to get that of the file; never outside the span.
    Shifted(i64, Span),
    /// Everything stands at one place: the call of a macro.
    At(Span),
    /// The same up to an offset; add this to what comes behind.
    Before { call: Span, offset: u32, shift: i64 },
}

/// Arguments of a macro call, by parameter.
pub(crate) struct Bindings<'t> {
    /// Parameter name and argument.
    pub arguments: Vec<(&'t str, Argument<'t>)>,
    /// How many macros were being expanded where the call stands: the arguments are read as there.
    pub active: usize,
}

/// One argument.
#[derive(Clone, Debug)]
pub(crate) enum Argument<'t> {
    /// A node of the caller's tree.
    Node(Node<'t>, Src<'t>),
    /// Text that is no expression of its own in the caller's tree, with its place in the file.
    Text(&'t str, Span, Src<'t>),
    /// The variable arguments.
    Rest(Vec<Argument<'t>>),
}

impl std::fmt::Debug for Src<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Src").finish_non_exhaustive()
    }
}

impl<'t> Src<'t> {
    /// The file itself.
    pub fn file(text: &'t str) -> Self {
        Self { text, place: Place::File, bindings: None }
    }

    /// A piece of the file that was parsed again: `shift` is what to add to an offset of `text`.
    pub fn shifted(text: &'t str, shift: i64, within: Span, bindings: Option<&'t Bindings<'t>>) -> Self {
        Self { text, place: Place::Shifted(shift, within), bindings }
    }

    /// The body of a macro that is called at `site`.
    pub fn body(text: &'t str, site: Span, bindings: Option<&'t Bindings<'t>>) -> Self {
        Self { text, place: Place::At(site), bindings }
    }

    /// What a macro makes of its call at `call`, and from `offset` on a piece of the file: `shift` is what to add there.
    pub fn with_rest(text: &'t str, call: Span, offset: u32, shift: i64) -> Self {
        Self { text, place: Place::Before { call, offset, shift }, bindings: None }
    }

    /// Whether this is the file's own text.
    pub fn is_file(self) -> bool {
        matches!(self.place, Place::File)
    }

    /// Text of a node, as written.
    pub fn text(self, node: Node<'_>) -> &'t str {
        trim_end(self.text.get(node.byte_range()).unwrap_or(""))
    }

    /// The place of a node in the file, without an operator that the mask wrote into the blank before it.
    pub fn span(self, node: Node<'_>) -> Span {
        self.place(Span::from(node))
    }

    /// Text and place of a node.
    pub fn text_and_span(self, node: Node<'_>) -> (&'t str, Span) {
        let span = Span::from(node);
        (trim_end(self.text.get(span.range()).unwrap_or("")), self.place(span))
    }

    fn place(self, mut span: Span) -> Span {
        if span.start < span.end && self.is_blank(span.start as usize) {
            span.start += 1;
        }
        self.map(span)
    }

    pub fn is_blank(self, at: usize) -> bool {
        self.text.as_bytes().get(at).is_some_and(u8::is_ascii_whitespace)
    }

    /// The place in the file of a range of this text.
    pub fn map(self, span: Span) -> Span {
        match self.place {
            Place::File => span,
            Place::At(site) => site,
            Place::Before { call, offset, shift } => {
                let place = |at: u32, otherwise: u32| {
                    if at < offset { otherwise as usize } else { usize::try_from(i64::from(at) + shift).unwrap_or(0) }
                };
                Span::new(place(span.start, call.start), place(span.end, call.end))
            }
            Place::Shifted(shift, within) => {
                let clamp =
                    |at: u32| (i64::from(at) + shift).clamp(i64::from(within.start), i64::from(within.end)) as usize;
                Span::new(clamp(span.start), clamp(span.end))
            }
        }
    }

    /// The argument that a name stands for.
    pub fn argument(self, name: &str) -> Option<&'t Argument<'t>> {
        let bindings = self.bindings?;
        bindings.arguments.iter().find(|(parameter, _)| *parameter == name).map(|(_, argument)| argument)
    }

    /// For a macro parameter: whether its argument is a type.
    pub fn parameter_is_type(self, name: &str) -> Option<bool> {
        let argument = self.argument(name)?;
        Some(match argument {
            Argument::Text(text, _, _) => super::builtin_types::looks_like_type(text),
            Argument::Node(node, s) => {
                let text = s.text(*node);
                super::builtin_types::looks_like_type(text) || s.parameter_is_type(text).unwrap_or(false)
            }
            Argument::Rest(_) => false,
        })
    }
}

/// A text without blanks at its end: most have none, which is seen from one byte.
fn trim_end(text: &str) -> &str {
    if text.as_bytes().last().is_some_and(u8::is_ascii_graphic) { text } else { text.trim_end() }
}

/// A text without blanks around it.
pub(crate) fn trim(mut text: &str) -> &str {
    while let Some(rest) = text.strip_prefix(' ') {
        text = rest;
    }
    while let Some(rest) = text.strip_suffix(' ') {
        text = rest;
    }
    if let [first, .., last] | [first @ last] = text.as_bytes()
        && first.is_ascii_graphic()
        && last.is_ascii_graphic()
    {
        return text;
    }
    text.trim()
}

/// Whether a named node can be lowered as an expression.
pub(crate) fn is_expression(node: Node<'_>) -> bool {
    is_expression_kind(cuda_kind(node))
}

/// Whether named nodes of a kind can be lowered as expressions.
pub(crate) fn is_expression_kind(kind: CudaKind) -> bool {
    !matches!(
        kind,
        CudaKind::Comment
            | CudaKind::PrimitiveType
            | CudaKind::TypeIdentifier
            | CudaKind::TypeDescriptor
            | CudaKind::SizedTypeSpecifier
            | CudaKind::TypeQualifier
            | CudaKind::FieldIdentifier
            | CudaKind::NamespaceIdentifier
            | CudaKind::TemplateArgumentList
            | CudaKind::StorageClassSpecifier
            | CudaKind::ParameterList
            | CudaKind::PreprocDef
            | CudaKind::PreprocFunctionDef
            | CudaKind::PreprocCall
            | CudaKind::PreprocInclude
            | CudaKind::PreprocIf
            | CudaKind::PreprocIfdef
            | CudaKind::PreprocElif
            | CudaKind::PreprocElifdef
            | CudaKind::PreprocElse
            | CudaKind::Other
    )
}

/// Up to so many children are asked for by number: each is looked for from the first on, past whole parts of a long list,
/// which is still far cheaper than to set up a cursor and to step it.
const FEW: u32 = 48;

/// All children of a node, those without a name included.
pub(crate) fn all_children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let few = (node.child_count() <= FEW).then(|| (0..node.child_count()).filter_map(move |index| node.child(index)));
    let mut cursor = few.is_none().then(|| node.walk());
    let mut more = cursor.as_mut().is_some_and(cudalint_syntax::TreeCursor::goto_first_child);
    let many = std::iter::from_fn(move || {
        let cursor = cursor.as_mut().filter(|_| more)?;
        let found = cursor.node();
        more = cursor.goto_next_sibling();
        Some(found)
    });
    few.into_iter().flatten().chain(many)
}

/// Named children without comments.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let is_code = |child: &Node<'_>| cuda_kind(*child) != CudaKind::Comment;
    let mut found = named_children(node);
    found.retain(is_code);
    found
}

/// Named children, comments among them.
pub(crate) fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    let count = node.named_child_count();
    let mut found = Vec::with_capacity(count);
    if node.child_count() <= FEW {
        found.extend((0..count as u32).filter_map(|index| node.named_child(index)));
    } else {
        found.extend(all_children(node).filter(Node::is_named));
    }
    found
}

/// The first named child that is no comment.
pub(crate) fn first_child(node: Node<'_>) -> Option<Node<'_>> {
    (0..node.named_child_count() as u32)
        .filter_map(|index| node.named_child(index))
        .find(|child| cuda_kind(*child) != CudaKind::Comment)
}

/// The first child of a kind.
pub(crate) fn child_of_kind(node: Node<'_>, kind: CudaKind) -> Option<Node<'_>> {
    all_children(node).find(|child| cuda_kind(*child) == kind)
}
