//! Macros that are the head of the statement behind their use: `#define IN_RANGE(i, n) if ((i) < (n))`.

use super::fields::{Field, callee_and_list, field};
use super::parts::Parts;
use super::source::{Src, children, first_child};
use super::state::Lowerer;
use crate::ir::{Block, Expr, Stmt};
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{Node, Span};

/// How deep macros of macros and statements in statements are looked into.
const MAX_NESTED: u32 = 6;

/// What stands under the condition of a macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    /// The statement behind it.
    One,
    /// All statements behind it: it opens a block.
    Rest,
}

impl<'a> Lowerer<'a> {
    /// Lowers a statement of a list that ends in the head of what stands behind it, together with that; gives the number of
    /// the statement behind all of it. `None` where it is an ordinary statement.
    pub(super) fn headed<'t>(
        &mut self,
        s: Src<'t>,
        nodes: &[Node<'t>],
        first: usize,
        out: &mut Block,
    ) -> Option<usize> {
        let mut head = self.ends_in_head(s, *nodes.get(first)?)?;
        let mut last = first;
        // What is headed may be a head itself.
        while head == Head::One {
            last = (last + 1..nodes.len()).find(|at| cuda_kind(nodes[*at]) != CudaKind::Comment)?;
            match self.ends_in_head(s, nodes[last]) {
                Some(next) => head = next,
                None => break,
            }
        }
        if head == Head::Rest {
            let Some(end) = self.end_of_block(s, nodes, last) else {
                // Which of the statements it holds nobody knows.
                for node in &nodes[first..] {
                    self.under_a_head(s, std::slice::from_ref(node), out);
                }
                return Some(nodes.len());
            };
            last = end;
        }
        let between = nodes[first + 1..last].iter().all(|node| cuda_kind(*node) == CudaKind::Comment);
        if head == Head::One
            && between
            && let Some(call) = first_child(nodes[first]).filter(|node| cuda_kind(*node) == CudaKind::CallExpression)
            && let Some((name, list)) = callee_and_list(call)
            && self.block_macro(s, name, list, nodes[last], out)
        {
            return Some(last + 1);
        }
        self.under_a_head(s, &nodes[first..=last], out);
        Some(last + 1)
    }

    /// Statements of which nobody knows whether they are executed, nor how often.
    fn under_a_head<'t>(&mut self, s: Src<'t>, nodes: &[Node<'t>], out: &mut Block) {
        let Some(first) = nodes.first() else { return };
        let mut block = Block::new();
        for node in nodes {
            self.statement(s, *node, &mut block);
        }
        self.emit(s, *first, Stmt::Unknown { exprs: Vec::new(), blocks: vec![block] }, out);
    }

    /// The macro that closes the block which another one opens.
    fn end_of_block(&mut self, s: Src<'_>, nodes: &[Node<'_>], opening: usize) -> Option<usize> {
        let mut open = 1;
        for (at, node) in nodes.iter().enumerate().skip(opening + 1) {
            let name = used_macro(*node).map(|name| (s.text(name), s.span(name)));
            let body = name.and_then(|(name, span)| self.macro_at(name, span)).map_or("", |define| define.body.trim());
            open -= i32::from(body.starts_with('}'));
            if open == 0 {
                return Some(at);
            }
            open += i32::from(head(body) == Some(Head::Rest));
        }
        None
    }

    /// `MASTER total = 0;` reads like the declaration of `total`: it is an assignment under a condition that is not followed.
    pub(super) fn headed_assignment<'t>(&mut self, s: Src<'t>, node: Node<'t>, ty: Node<'t>, out: &mut Block) -> bool {
        if !matches!(cuda_kind(ty), CudaKind::TypeIdentifier | CudaKind::Identifier)
            || self.head_of(s.text(ty), s.span(ty), 0) != Some(Head::One)
        {
            return false;
        }
        let mut block = Block::new();
        for part in children(node) {
            if cuda_kind(part) != CudaKind::InitDeclarator {
                continue;
            }
            let (Some(target), Some(value)) = (field(part, Field::Declarator), field(part, Field::Value)) else {
                continue;
            };
            let (target, value) = (self.expr(s, target), self.expr(s, value));
            let assigned = self.push(Expr::Assign { op: None, target, value }, s.span(part));
            self.emit(s, part, Stmt::Expr(assigned), &mut block);
        }
        self.emit(s, node, Stmt::Unknown { exprs: Vec::new(), blocks: vec![block] }, out);
        true
    }

    /// `CHECK *count = 0;` reads like the declaration of a pointer `count`: where the block has declared that already, it is a macro
    /// that nobody knows, and an assignment.
    pub(super) fn macro_before_assignment<'t>(
        &mut self,
        s: Src<'t>,
        parts: &Parts<'t>,
        specifier: Node<'t>,
        out: &mut Block,
    ) -> bool {
        let [declarator] = parts.declarators.as_slice() else { return false };
        let declarator = *declarator;
        if cuda_kind(specifier) != CudaKind::TypeIdentifier || cuda_kind(declarator) != CudaKind::InitDeclarator {
            return false;
        }
        let Some(mut pointer) = field(declarator, Field::Declarator) else { return false };
        let mut nested = 0;
        while cuda_kind(pointer) == CudaKind::PointerDeclarator && nested < MAX_NESTED {
            let Some(inner) = field(pointer, Field::Declarator) else { return false };
            pointer = inner;
            nested += 1;
        }
        if nested == 0 || cuda_kind(pointer) != CudaKind::Identifier || !self.is_declared_here(s.text(pointer)) {
            return false;
        }
        let Some(call) = self.unknown_macro(s, specifier) else { return false };
        self.emit(s, specifier, Stmt::Expr(call), out);
        let assigned = self.reparsed(s, declarator);
        self.emit(s, declarator, Stmt::Expr(assigned), out);
        true
    }

    /// Whether a statement ends in a macro that is the head of what stands behind it.
    fn ends_in_head(&mut self, s: Src<'_>, node: Node<'_>) -> Option<Head> {
        let mut node = node;
        for _ in 0..MAX_NESTED {
            node = match cuda_kind(node) {
                CudaKind::IfStatement => field(node, Field::Alternative).or_else(|| field(node, Field::Consequence))?,
                CudaKind::ElseClause => children(node).last().copied()?,
                CudaKind::ForStatement | CudaKind::WhileStatement | CudaKind::ForRangeLoop => field(node, Field::Body)?,
                CudaKind::ExpressionStatement => break,
                _ => return None,
            };
        }
        let name = used_macro(node)?;
        // With a `;` of its own it is the head of nothing.
        if s.text(node).trim_end().ends_with(';') {
            return None;
        }
        self.head_of(s.text(name), s.span(name), 0)
    }

    fn head_of(&mut self, name: &str, span: Span, nesting: u32) -> Option<Head> {
        let body: &'a str = self.macro_at(name, span)?.body.trim();
        if let Some(head) = head(body) {
            return Some(head);
        }
        // `#define FOR_ALL(i) REPEAT(i, 10)`.
        let end = body.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(body.len());
        let (name, rest) = body.split_at(end);
        let whole = rest.is_empty() || behind_parentheses(rest).is_some_and(str::is_empty);
        if name.is_empty() || !whole || nesting >= MAX_NESTED {
            return None;
        }
        self.head_of(name, span, nesting + 1)
    }
}

/// The name of what may be a macro, where it is a whole statement.
fn used_macro(node: Node<'_>) -> Option<Node<'_>> {
    let inner = first_child(node).filter(|_| cuda_kind(node) == CudaKind::ExpressionStatement)?;
    let name = match cuda_kind(inner) {
        CudaKind::CallExpression => callee_and_list(inner)?.0,
        _ => inner,
    };
    (cuda_kind(name) == CudaKind::Identifier).then_some(name)
}

/// What the last statement of a macro's body lacks, if it is a head alone.
fn head(body: &str) -> Option<Head> {
    let mut open: Vec<char> = Vec::new();
    let mut start = 0;
    let mut behind_block = false;
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        if let Some(end) = quote {
            if c == end && !escaped {
                quote = None;
            }
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '(' | '[' | '{' => open.push(c),
            ')' | ']' | '}' => {
                open.pop()?;
                if c == '}' && open.is_empty() {
                    (start, behind_block) = (at + 1, true);
                }
            }
            ';' if open.is_empty() => (start, behind_block) = (at + 1, false),
            _ => {}
        }
    }
    if !open.is_empty() {
        let opens = open == ['{']
            && ["if", "for", "while", "switch", "else"].iter().any(|word| behind_word(body, word).is_some());
        return opens.then_some(Head::Rest);
    }
    let mut rest = body.get(start..)?.trim_start();
    // `do { … } while (x)`.
    if behind_block && rest.starts_with("while") {
        return None;
    }
    let mut found = false;
    while !rest.is_empty() {
        rest = behind_word(rest, "else").unwrap_or(rest);
        let after = ["if", "for", "while"].iter().find_map(|word| behind_word(rest, word))?;
        let after = behind_word(after, "constexpr").unwrap_or(after);
        rest = behind_parentheses(after)?;
        found = true;
    }
    found.then_some(Head::One)
}

/// What stands behind a word at the beginning.
fn behind_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(word)?;
    (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')).then(|| rest.trim_start())
}

/// What stands behind a pair of parentheses at the beginning.
fn behind_parentheses(text: &str) -> Option<&str> {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return (c == ')').then(|| text[at + 1..].trim_start());
        }
    }
    None
}
