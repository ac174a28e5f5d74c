//! Regions to trees, with damage listed and limits on nesting and effort.

use crate::defines::Define;
use crate::kept::{Given, KeptTrees};
use crate::kinds::{CudaKind, cuda_kind, cuda_language, python_language};
use crate::lexer::{Lexed, MAX_NESTING, lex};
use crate::macros::MacroTable;
use crate::mask::{MaskNote, mask_lexed};
use crate::preprocessor::{BuildMacros, Conditions};
use crate::python_mask::{line_end, string_end};
use crate::region::{Language, Region};
use crate::span::Span;
use crate::{indents, respell, runs};
use std::ops::ControlFlow;
use std::sync::Arc;
use tree_sitter::{Node, ParseOptions, Parser, Point, Range, Tree};

/// Parsers that are used again. One per thread.
#[derive(Default)]
pub struct ParserPool {
    cuda: Option<Parser>,
    python: Option<Parser>,
    /// Trees that are taken over, where somebody keeps them.
    kept: Option<Arc<KeptTrees>>,
}

impl std::fmt::Debug for ParserPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParserPool").finish_non_exhaustive()
    }
}

impl ParserPool {
    /// An empty pool; parsers are made when first needed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes trees from there from now on, and leaves new ones there.
    pub fn keep(&mut self, kept: Option<Arc<KeptTrees>>) {
        self.kept = kept;
    }

    fn parser(&mut self, language: Language) -> &mut Parser {
        let slot = match language {
            Language::Cuda => &mut self.cuda,
            Language::Python => &mut self.python,
        };
        slot.get_or_insert_with(|| {
            let mut parser = Parser::new();
            let grammar = match language {
                Language::Cuda => cuda_language(),
                Language::Python => python_language(),
            };
            // Fails only for a grammar of another ABI, which the tests would show; then every parse gives no tree.
            let _ = parser.set_language(&grammar);
            parser
        })
    }
}

/// Why a region has no tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// Brackets, or the qualifiers of a name, nest deeper than [`MAX_NESTING`].
    TooDeep,
    /// Parsing took more steps than a text of this size may.
    TooCostly,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooDeep => write!(f, "brackets nest deeper than {MAX_NESTING}, or the parts of a name"),
            Self::TooCostly => write!(f, "the parser found no end of it within the steps for a text of this size"),
        }
    }
}

/// A parsed region.
#[derive(Debug)]
pub struct ParsedRegion {
    /// The language.
    pub language: Language,
    /// The region's span in the file.
    pub span: Span,
    /// The tree; byte offsets are those of the file, rows and columns are not meaningful. `None` when refused.
    pub tree: Option<Tree>,
    /// Why there is no tree.
    pub refusal: Option<Refusal>,
    /// The masked bytes of the region, as long as the region, when they differ from the raw ones.
    pub masked: Option<Vec<u8>>,
    /// What the mask changed, in order of the text.
    pub notes: Vec<MaskNote>,
    /// Outermost ERROR nodes, and MISSING nodes (empty spans), in order; the whole region when refused.
    pub damage: Vec<Span>,
}

impl ParsedRegion {
    /// The root node, if there is a tree.
    pub fn root(&self) -> Option<Node<'_>> {
        self.tree.as_ref().map(Tree::root_node)
    }
}

/// Parses one region of a file. `file_defines` are the file's own definitions ([`crate::scan_directives`]), which
/// override the project's.
pub fn parse_region(
    text: &str,
    region: &Region,
    macros: &MacroTable,
    file_defines: &[Define],
    pool: &mut ParserPool,
) -> ParsedRegion {
    parse_region_without(text, region, &[], macros, file_defines, BuildMacros::of_default(), pool)
}

/// As [`parse_region`], with what is known of `#if`, and as if blanks stood in some spans: what nobody asks for there is
/// not worth a tree.
pub fn parse_region_without(
    text: &str,
    region: &Region,
    without: &[Span],
    macros: &MacroTable,
    file_defines: &[Define],
    conditions: &dyn Conditions,
    pool: &mut ParserPool,
) -> ParsedRegion {
    let mut parsed = ParsedRegion {
        language: region.language,
        span: region.span,
        tree: None,
        refusal: None,
        masked: None,
        notes: Vec::new(),
        damage: Vec::new(),
    };
    let whole = text.as_bytes().get(region.span.range()).unwrap_or(&[]);
    let cut = (!without.is_empty()).then(|| cut(whole, region.span.start, without));
    let raw = cut.as_deref().unwrap_or(whole);
    let (depth, stray, lexed) = match region.language {
        Language::Cuda => {
            let lexed = lex(raw, 0);
            (lexed.depth, lexed.stray, Some(lexed))
        }
        Language::Python => (python_depth(raw), 0, None),
    };
    let hopeless = lexed.as_ref().is_some_and(Lexed::is_hopeless);
    if depth > MAX_NESTING || hopeless {
        parsed.refusal = Some(if hopeless { Refusal::TooCostly } else { Refusal::TooDeep });
        parsed.damage.push(region.span);
        return parsed;
    }
    let (mut pieces, mut tokens, mut comments, mut bare) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    if let Some(mut lexed) = lexed {
        pieces = indents::whole_pieces(raw, &lexed);
        comments = std::mem::take(&mut lexed.comments);
        let masked = mask_lexed(raw, region.span.start, lexed, macros, file_defines, conditions);
        parsed.notes = masked.notes;
        tokens = masked.tokens;
        bare = masked.bare;
        if masked.text != whole {
            parsed.masked = Some(masked.text);
        }
    } else {
        parsed.masked = crate::python_mask::mask_python(raw);
    }
    let bytes = parsed.masked.as_deref().unwrap_or(raw);
    let (mut gaps, mut respelled) = (Vec::new(), Vec::new());
    if region.language == Language::Cuda {
        gaps = self::gaps(bytes);
        respelled.extend_from_slice(bytes);
        indents::respell(&mut respelled, &pieces, &gaps);
        respell::names(&mut respelled, raw, &tokens);
        respell::comments(&mut respelled, raw, &comments);
        // Blanks behind a macro without a body lead the grammar to look for one in the lines below.
        for end in bare {
            if let Some(byte) = respelled.get_mut(end) {
                *byte = b'\n';
            }
        }
    } else {
        respelled = runs::respell(bytes).unwrap_or_default();
    }
    let bytes = if respelled.is_empty() { bytes } else { &respelled };
    let offset = region.span.start as usize;
    let kept = pool.kept.clone();
    let given = Given { bytes, offset, gaps: &gaps, language: region.language, stray };
    let found = kept.as_ref().and_then(|kept| kept.find(given)).or_else(|| {
        let tree = parse_bytes(bytes, offset, &gaps, region.language, stray, pool)?;
        if let Some(kept) = &kept {
            kept.keep(given, &tree);
        }
        Some(tree)
    });
    match found {
        Some(tree) => {
            damage(&tree, &mut parsed.damage);
            parsed.tree = Some(tree);
        }
        None => {
            parsed.refusal = Some(Refusal::TooCostly);
            parsed.damage.push(region.span);
        }
    }
    parsed
}

/// A copy with blanks in some spans; lines stay.
fn cut(bytes: &[u8], offset: u32, without: &[Span]) -> Vec<u8> {
    let mut copy = bytes.to_vec();
    for span in without {
        let range = span.start.saturating_sub(offset) as usize..span.end.saturating_sub(offset) as usize;
        for byte in copy.get_mut(range).into_iter().flatten().filter(|byte| !matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
    }
    copy
}

/// Parses `bytes`, which stand at `offset` of their file; `gaps` of blanks are passed over. `stray` brackets and operators
/// have nothing that they close or combine.
fn parse_bytes(
    bytes: &[u8],
    offset: usize,
    gaps: &[std::ops::Range<usize>],
    language: Language,
    stray: usize,
    pool: &mut ParserPool,
) -> Option<Tree> {
    let parser = pool.parser(language);
    let ranges = if offset == 0 && gaps.is_empty() { Vec::new() } else { ranges(bytes, offset, gaps) };
    parser.set_included_ranges(&ranges).ok()?;
    // The parser calls back every hundred steps: 0.006 times a byte on real code, 0.014 at most. Forty times that is a
    // text that the grammar cannot get through; counting steps instead of time keeps the outcome the same everywhere.
    let mut budget = 20_000 + bytes.len() / 4;
    // Each bracket or operator without its match makes the parser try all that could have been meant. Real files have a few.
    // The largest headers of JSON and the like, of 800 KB, need two thirds of this, and smaller files half of it at most.
    let left = 4_000 + bytes.len() / 4 + bytes.len().saturating_sub(100_000) / 2;
    let mut recovery = Recovery { left: left / (1 + stray / 64), ..Recovery::default() };
    let mut progress = |state: &tree_sitter::ParseState| {
        budget = budget.saturating_sub(1);
        let lost = recovery.step(state.has_error(), state.current_byte_offset());
        if budget == 0 || lost { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut read = |at: usize, _: Point| bytes.get(at.saturating_sub(offset)..).unwrap_or(&[]);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    if tree.is_none() {
        parser.reset();
    }
    tree
}

/// Weighs the steps of the parser's recovery. They are not alike: where no reading of the text is without an error, a step
/// goes through all that was read since the damage began, so that 12 KB of `++)++)…` took half a minute.
#[derive(Default)]
struct Recovery {
    /// Where the damage began that is being read.
    start: usize,
    /// Where the parser was last.
    last: usize,
    /// Checks in a row at which some reading was sound; 0 inside of damage.
    sound: usize,
    /// Bytes of damage that may still be gone through, summed over the checks in it.
    left: usize,
}

impl Recovery {
    /// Sound checks in a row after which damage is behind.
    const BEHIND: usize = 8;

    /// Counts a check; whether this is more than a text is worth.
    fn step(&mut self, in_error: bool, at: usize) -> bool {
        if in_error {
            if self.sound >= Self::BEHIND || self.start == 0 {
                self.start = self.last;
            }
            self.sound = 0;
            // At the end of the text the parser tries what could have been missing, without going through it again.
            if at > self.last {
                self.left = self.left.saturating_sub(at - self.start);
            }
        } else {
            self.sound += 1;
        }
        self.last = self.last.max(at);
        self.left == 0
    }
}

/// What lies between gaps.
fn ranges(bytes: &[u8], offset: usize, gaps: &[std::ops::Range<usize>]) -> Vec<Range> {
    let mut ranges = Vec::with_capacity(gaps.len() + 1);
    let mut start = (0, Point::new(0, offset));
    for gap in gaps {
        // Rows have to be true: where the text is damaged, the parser weighs the lines that it passes over.
        let after = |from: usize, at: Point, to: usize| {
            let passed = bytes.get(from..to).unwrap_or(&[]);
            match memchr::memrchr(b'\n', passed) {
                Some(last) => Point::new(at.row + memchr::memchr_iter(b'\n', passed).count(), passed.len() - last - 1),
                None => Point::new(at.row, at.column + passed.len()),
            }
        };
        let end_point = after(start.0, start.1, gap.start);
        ranges.push(Range {
            start_byte: offset + start.0,
            end_byte: offset + gap.start,
            start_point: start.1,
            end_point,
        });
        start = (gap.end, after(gap.start, end_point, gap.end));
    }
    ranges.push(Range {
        start_byte: offset + start.0,
        end_byte: offset + bytes.len(),
        start_point: start.1,
        end_point: Point::new(usize::MAX >> 33, 0),
    });
    ranges
}

/// Stretches of blanks that are long enough to tell the parser about: the lexer steps through blanks as slowly as through
/// anything else, but it looks for its place among the ranges again for every token.
fn gaps(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    /// The shortest gap, and one more byte of it for so many bytes of text.
    const SHORTEST: usize = 128;
    const BYTES: usize = 64;
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    let mut at = SHORTEST / 2;
    // A stretch of that length is hit by one of these steps at least.
    while let Some(byte) = bytes.get(at) {
        if !byte.is_ascii_whitespace() {
            at += SHORTEST / 2;
            continue;
        }
        let is_code = |byte: &u8| !byte.is_ascii_whitespace();
        let start = bytes[..at].iter().rposition(is_code).map_or(0, |last| last + 1);
        let end = bytes[at..].iter().position(is_code).map_or(bytes.len(), |next| at + next);
        // The end of a line may end a directive, and blanks keep words apart.
        let first = memchr::memchr(b'\n', &bytes[start..end]).map_or(start + 1, |line| start + line + 1);
        if end - first > SHORTEST {
            found.push(first..end - 1);
        }
        at = end + SHORTEST / 2;
    }
    let code = bytes.len() - found.iter().map(ExactSizeIterator::len).sum::<usize>();
    found.retain(|gap| gap.len() >= SHORTEST.max(code / BYTES));
    found
}

/// Outermost ERROR nodes and MISSING nodes.
fn damage(tree: &Tree, found: &mut Vec<Span>) {
    if !tree.root_node().has_error() {
        return;
    }
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let mut descend = false;
        if node.is_error() || node.is_missing() {
            found.push(Span::from(node));
        } else {
            descend = node.has_error();
        }
        if descend && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// How deep brackets nest in Python text, those in comments and plain strings left out. Inside of a formatted string all
/// count, since expressions may stand there.
fn python_depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    let mut at = 0;
    // The end of the formatted string that one is in.
    let mut formatted = 0;
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'#' if at >= formatted => line_end(bytes, at),
            b'"' | b'\'' if at >= formatted => {
                let end = string_end(bytes, at);
                let mut prefix = bytes[..at].iter().rev().take(2).take_while(|byte| byte.is_ascii_alphabetic());
                if prefix.any(|byte| matches!(byte, b'f' | b'F' | b't' | b'T')) {
                    formatted = end;
                    at + 1
                } else {
                    end
                }
            }
            b'(' | b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
                at + 1
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                at + 1
            }
            _ => at + 1,
        };
    }
    deepest
}

/// What a fragment is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FragmentKind {
    /// One expression.
    Expression,
    /// Statements of a function body.
    Statements,
}

/// A macro's body (or another piece of code) parsed by itself inside a small function.
#[derive(Debug)]
pub struct ParsedFragment {
    /// The tree; byte offsets are those of `wrapped`.
    pub tree: Tree,
    /// The text that was parsed, wrapper included.
    pub wrapped: String,
    /// Offset of the fragment in `wrapped`: subtract it from a node's offset to get the fragment's.
    pub shift: usize,
    /// Length of the fragment.
    pub len: usize,
    /// ERROR and MISSING nodes, in offsets of the fragment.
    pub damage: Vec<Span>,
    kind: FragmentKind,
}

impl ParsedFragment {
    /// The node that holds the fragment: the expression itself, or the compound statement around the statements.
    pub fn content(&self) -> Option<Node<'_>> {
        let function = self.tree.root_node().child(0)?;
        // `void`, `f()`, `{…}`.
        let third = function.child(2).filter(|child| cuda_kind(*child) == CudaKind::CompoundStatement);
        let body = third.or_else(|| function.child_by_field_name("body"))?;
        match self.kind {
            FragmentKind::Statements => Some(body),
            FragmentKind::Expression => body.named_child(0)?.named_child(0),
        }
    }

    /// The text of a node.
    pub fn text(&self, node: Node<'_>) -> &str {
        self.wrapped.get(node.byte_range()).unwrap_or("")
    }
}

/// Parses a fragment. `None` when it nests too deep, costs too much or cannot be parsed at all.
pub fn parse_fragment(kind: FragmentKind, text: &str, pool: &mut ParserPool) -> Option<ParsedFragment> {
    let (before, after) = match kind {
        FragmentKind::Expression => ("void f(){return ", "\n;}"),
        FragmentKind::Statements => ("void f(){", "\n;}"),
    };
    let wrapped = format!("{before}{text}{after}");
    let lexed = lex(wrapped.as_bytes(), 0);
    if lexed.depth > MAX_NESTING || lexed.is_hopeless() {
        return None;
    }
    let stray = lexed.stray;
    let mut masked = mask_lexed(wrapped.as_bytes(), 0, lexed, &MacroTable::default(), &[], BuildMacros::of_default());
    respell::names(&mut masked.text, wrapped.as_bytes(), &masked.tokens);
    let tree = parse_bytes(&masked.text, 0, &[], Language::Cuda, stray, pool)?;
    let mut spans = Vec::new();
    damage(&tree, &mut spans);
    let shift = before.len();
    let inside = |at: u32| (at as usize).saturating_sub(shift).min(text.len());
    let damage = spans.into_iter().map(|span| Span::new(inside(span.start), inside(span.end))).collect();
    Some(ParsedFragment { tree, wrapped, shift, len: text.len(), damage, kind })
}
