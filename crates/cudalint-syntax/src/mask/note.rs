//! What the mask says of the places that it changed.

use crate::span::Span;

/// What was changed at a place of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskKind {
    /// `__align__(N)` was blanked or became `alignas`; the span is that of the expression `N`.
    Align,
    /// Execution space of a lambda was blanked; the span is that of the words.
    LambdaSpace(SpaceBits),
    /// The third argument of `__launch_bounds__`; the span is that of the expression.
    LaunchBoundsThird,
    /// `__cluster_dims__`, `__block_size__` or `__maxnreg__`; the span is that of the whole attribute.
    KernelAttribute,
    /// A macro that stands for attributes was overlaid by words that fit or blanked; the span is that of the macro's use.
    AttributeMacro(SpaceBits),
    /// A preprocessor branch that was not chosen; blanked.
    Branch,
    /// `<` was overlaid by `<=` so that it is no template bracket; read the operator from the raw text.
    LessThan,
    /// A `;` was written after a macro call.
    Semicolon,
    /// Arguments of a macro that are statements became a block.
    StatementArguments,
    /// Braces of a launch configuration became parentheses (`{8, 8}` to `(8, 8)`) or, when empty, `0`; read the raw text.
    LaunchBraces,
    /// The name of a macro that stands for `<<<…>>>`, between a kernel and the configuration as its arguments, was blanked.
    LaunchMacro,
    /// An argument that is a type or an operator was respelled.
    Argument,
    /// Any other gap of the grammar that was closed by blanks or by a spelling of the same length.
    Other,
}

/// Execution space and storage words that a masked place stood for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SpaceBits(pub u16);

impl SpaceBits {
    /// `__global__`.
    pub const GLOBAL: Self = Self(1);
    /// `__device__`.
    pub const DEVICE: Self = Self(2);
    /// `__host__`.
    pub const HOST: Self = Self(4);
    /// `__shared__`.
    pub const SHARED: Self = Self(8);
    /// `__constant__`.
    pub const CONSTANT: Self = Self(16);

    /// `__managed__`.
    pub const MANAGED: Self = Self(32);
    /// `__launch_bounds__`.
    pub const LAUNCH_BOUNDS: Self = Self(64);
    /// `__restrict__`.
    pub const RESTRICT: Self = Self(128);
    /// `constexpr`.
    pub const CONSTEXPR: Self = Self(256);

    /// Whether nothing is said of where a function runs.
    pub const fn is_silent(self) -> bool {
        self.0 & (Self::GLOBAL.0 | Self::DEVICE.0 | Self::HOST.0) == 0
    }

    /// Whether all words of `other` are among these.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One entry of the mask's side table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskNote {
    /// Where, in the raw text.
    pub span: Span,
    /// What was done there.
    pub kind: MaskKind,
}
