//! Macro uses, expanded from the parsed bodies of their definitions.
//!
//! A body is parsed once for each definition. Inside it, a parameter's name stands for the argument at the call, which
//! is lowered where it is written, with its own span; everything else has the span of the outermost call. `#x` becomes
//! a string; a body with `##` is put together as text and parsed for that call. A macro that is statements becomes
//! [`Expr::Statements`], and what it declares stays in the scope of the call.

use super::Lowerer;
use super::source::{Argument, Bindings, Src, children};
use super::{MAX_EXPANSIONS, MacroLookup};
use crate::ir::{Block, Expr, ExprId, Stmt, TypeId};
use crate::name::Name;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{Define, Directives, FragmentKind, Node, ParsedFragment, Span, Undef, parse_fragment};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// Macros inside macros deeper than this stay calls.
const MAX_NESTED: usize = 24;
/// The name under which `#x` is parsed.
const STRINGIZED: &str = "cudalint_text_of_";
/// The name under which the block after a loop macro is parsed.
const ATTACHED: &str = "cudalint_attached_block";

/// Fragments that a thread remembers, and the longest text among them.
const MAX_REMEMBERED: usize = 2_000;
const MAX_REMEMBERED_TEXT: usize = 2_000;

type Remembered = FxHashMap<FragmentKind, FxHashMap<Box<str>, Option<Rc<ParsedFragment>>>>;

thread_local! {
    static FRAGMENTS: RefCell<Remembered> = RefCell::default();
}

/// Macros of the file, and those being expanded.
#[derive(Debug)]
pub(crate) struct Macros<'a> {
    own: FxHashMap<&'a str, Vec<&'a Define>>,
    undefs: FxHashMap<&'a str, Vec<&'a Undef>>,
    active: Vec<Name>,
    outer: Option<Name>,
    expansions: u32,
    prepared: FxHashMap<(usize, bool), Option<Prepared>>,
    /// Whether the conditions around a definition hold, by its address.
    holds: FxHashMap<usize, bool>,
    /// What the index said of names, since it is asked for every name that is not local.
    asked: RefCell<FxHashMap<Box<str>, Option<&'a Define>>>,
}

/// A body made ready.
#[derive(Clone, Debug)]
struct Prepared {
    fragment: Rc<ParsedFragment>,
    is_expression: bool,
}

impl<'a> Macros<'a> {
    pub fn new(directives: &'a Directives) -> Self {
        let mut own: FxHashMap<&str, Vec<&Define>> = FxHashMap::default();
        for define in &directives.defines {
            own.entry(&define.name).or_default().push(define);
        }
        let mut undefs: FxHashMap<&str, Vec<&Undef>> = FxHashMap::default();
        for undef in &directives.undefs {
            undefs.entry(&undef.name).or_default().push(undef);
        }
        Self {
            own,
            undefs,
            active: Vec::new(),
            outer: None,
            expansions: 0,
            prepared: FxHashMap::default(),
            holds: FxHashMap::default(),
            asked: RefCell::default(),
        }
    }

    fn ask(&self, outside: &'a dyn MacroLookup, name: &str) -> Option<&'a Define> {
        if let Some(known) = self.asked.borrow().get(name) {
            return *known;
        }
        let found = outside.find(name);
        self.asked.borrow_mut().insert(name.into(), found);
        found
    }

    /// The outermost macro being expanded.
    pub fn outermost(&self) -> Option<Name> {
        self.outer.clone()
    }

    /// Whether the file itself defines a name anywhere.
    pub fn is_own(&self, name: &str) -> bool {
        self.own.contains_key(name)
    }

    /// The definition in force at a place of the file (anywhere, for `None`), conditions not looked at.
    pub fn find_at(&self, outside: &'a dyn MacroLookup, name: &str, at: Option<u32>) -> Option<&'a Define> {
        if let Some(own) = self.own.get(name) {
            let at = at.unwrap_or(u32::MAX);
            let found = own.iter().rev().find(|define| define.span.start < at).copied();
            if let Some(define) = found {
                let gone = self.undefs.get(name).is_some_and(|undefs| {
                    undefs.iter().any(|undef| undef.span.start > define.span.start && undef.span.start < at)
                });
                return if gone { None } else { Some(define) };
            }
            return not_own(self.ask(outside, name), own);
        }
        self.ask(outside, name)
    }

    /// Whether a name is an object-like macro whose body is not a type.
    pub fn is_object_value(&self, outside: &'a dyn MacroLookup, name: &str) -> bool {
        self.find_at(outside, name, None).is_some_and(|define| {
            define.params.is_none() && !define.body.is_empty() && !super::types::looks_like_type(&define.body)
        })
    }
}

impl<'a> Lowerer<'a> {
    /// The definition of a macro at a use, by the conditions around its definitions.
    fn macro_at(&mut self, s: Src<'_>, name: &str, span: Span) -> Option<&'a Define> {
        let _ = s;
        if !self.macros.own.contains_key(name) {
            return self.macros.ask(self.outside, name);
        }
        let own = self.macros.own.get(name)?;
        if let [only] = own.as_slice()
            && only.conditions.is_empty()
            && !self.macros.undefs.contains_key(name)
            && only.span.start < span.start
        {
            return Some(only);
        }
        let own = own.clone();
        if self.outside.is_contested(name) {
            return None;
        }
        for define in own.iter().rev().filter(|define| define.span.start < span.start) {
            let gone = self.macros.undefs.get(name).is_some_and(|undefs| {
                undefs.iter().any(|undef| {
                    undef.span.start > define.span.start && undef.span.start < span.start && undef.conditions.is_empty()
                })
            });
            if gone {
                return None;
            }
            if self.conditions_hold(define) {
                return Some(define);
            }
        }
        not_own(self.macros.ask(self.outside, name), &own)
    }

    fn conditions_hold(&mut self, define: &Define) -> bool {
        let key = std::ptr::from_ref(define) as usize;
        if let Some(known) = self.macros.holds.get(&key) {
            return *known;
        }
        let conditions = std::sync::Arc::clone(&define.conditions);
        let holds = conditions.iter().all(|c| self.assumed_condition(&c.text, define.span.start) != c.negated);
        self.macros.holds.insert(key, holds);
        holds
    }

    /// A parsed fragment; the same macros are used in many files, so each thread remembers what it parsed.
    fn fragment(&mut self, kind: FragmentKind, text: &str) -> Option<Rc<ParsedFragment>> {
        let known = FRAGMENTS.with_borrow(|cache| cache.get(&kind).and_then(|texts| texts.get(text)).cloned());
        if let Some(known) = known {
            return known;
        }
        let fragment = parse_fragment(kind, text, self.pool).map(Rc::new);
        if text.len() <= MAX_REMEMBERED_TEXT {
            FRAGMENTS.with_borrow_mut(|cache| {
                let texts = cache.entry(kind).or_default();
                if texts.len() >= MAX_REMEMBERED {
                    texts.clear();
                }
                texts.insert(text.into(), fragment.clone());
            });
        }
        fragment
    }

    /// An object-like macro used as a value.
    pub(super) fn object_macro(&mut self, s: Src<'_>, name: &str, span: Span) -> Option<ExprId> {
        let define = self.macro_at(s, name, span)?;
        if define.params.is_some() || define.body.is_empty() {
            return None;
        }
        let bindings = Bindings { arguments: Vec::new(), active: self.macros.active.len() };
        self.expand(define, &bindings, span, true)
    }

    /// A function-like macro's call.
    pub(super) fn function_macro<'t>(&mut self, s: Src<'t>, name: &str, list: Node<'t>, span: Span) -> Option<ExprId> {
        let define = self.macro_at(s, name, span)?;
        let params = define.params.as_ref()?;
        if self.macros.active.iter().any(|active| *active == name) {
            return None;
        }
        let arguments = self.macro_arguments(s, list, define, params)?;
        if define.body.is_empty() {
            // `CHECK(x)` that expands to nothing does nothing, and does not evaluate `x`.
            let path = crate::ir::Path::single(self.name(name));
            let callee = self.push(Expr::Name { path, targs: Vec::new() }, span);
            return Some(self.push(Expr::Call { callee, args: Vec::new() }, span));
        }
        let bindings = Bindings { arguments, active: self.macros.active.len() };
        self.expand(define, &bindings, span, true)
    }

    /// A macro with a block behind it: `FOR_EACH(i, n) { … }`. `false` when the macro is not known.
    pub(super) fn block_macro<'t>(
        &mut self,
        s: Src<'t>,
        name: Node<'t>,
        list: Node<'t>,
        body: Node<'t>,
        out: &mut Block,
    ) -> bool {
        let span = s.span(name).cover(s.span(list));
        let text = s.text(name);
        let Some(define) = self.macro_at(s, text, span) else { return false };
        let Some(params) = define.params.as_ref() else { return false };
        if self.macros.active.iter().any(|active| *active == text) {
            return false;
        }
        let Some(mut arguments) = self.macro_arguments(s, list, define, params) else { return false };
        let attached = Argument::Node(body, s);
        let attached_in_body = define.body.trim_end().ends_with(['}', ';']);
        if attached_in_body {
            return false;
        }
        arguments.push((ATTACHED, attached));
        let bindings = Bindings { arguments, active: self.macros.active.len() };
        match self.expand(define, &bindings, span, false) {
            Some(value) => {
                let whole = s.span(body);
                match self.module.exprs.get(value.index()).map(|node| &node.kind) {
                    Some(Expr::Statements(block)) => out.extend(block.clone()),
                    _ => out.push(self.push_stmt(Stmt::Expr(value), span.cover(whole))),
                }
                true
            }
            None => false,
        }
    }

    /// Binds parameters to arguments. `None` when their numbers do not agree.
    fn macro_arguments<'t>(
        &mut self,
        s: Src<'t>,
        list: Node<'t>,
        define: &'t Define,
        params: &'t [String],
    ) -> Option<Vec<(&'t str, Argument<'t>)>>
    where
        'a: 't,
    {
        let mut given = arguments_of(s, list);
        // GNU's named variable parameter `args...` is listed last; its body does not say `__VA_ARGS__`.
        let named_rest = define.variadic && !params.is_empty() && !define.body.contains("__VA_ARGS__");
        let fixed = if named_rest { params.len() - 1 } else { params.len() };
        if given.len() < fixed {
            if given.is_empty() && fixed == 1 {
                given.push(Argument::Text("", s.span(list), s));
            } else {
                return None;
            }
        }
        if given.len() > fixed && !define.variadic && !(fixed == 0 && given.is_empty()) {
            return None;
        }
        let rest = given.split_off(fixed);
        let mut bound: Vec<(&str, Argument<'_>)> = params.iter().map(String::as_str).zip(given).collect();
        if define.variadic {
            if named_rest && let Some(last) = params.last() {
                bound.push((last, Argument::Rest(rest.clone())));
            }
            bound.push(("__VA_ARGS__", Argument::Rest(rest)));
        }
        Some(bound)
    }

    /// Lowers a macro's body. `as_value`: an expression where it can be one.
    fn expand(&mut self, define: &'a Define, bindings: &Bindings<'_>, span: Span, as_value: bool) -> Option<ExprId> {
        if self.macros.expansions >= MAX_EXPANSIONS
            || self.macros.active.len() >= MAX_NESTED
            || self.macros.active.iter().any(|active| *active == define.name.as_str())
        {
            return None;
        }
        let prepared = if define.body.contains("##") {
            let text = self.pasted(define, bindings);
            self.prepare(&text, as_value)
        } else {
            let key = (std::ptr::from_ref(define) as usize, as_value);
            match self.macros.prepared.get(&key) {
                Some(prepared) => prepared.clone(),
                None => {
                    let text = body_text(define, as_value);
                    let prepared = self.prepare(&text, as_value);
                    self.macros.prepared.insert(key, prepared.clone());
                    prepared
                }
            }
        };
        let prepared = prepared?;
        let content = prepared.fragment.content()?;
        if !self.enter() {
            return None;
        }
        self.macros.expansions += 1;
        let name = self.name(&define.name);
        let outermost = self.macros.outer.is_none();
        if outermost {
            self.macros.outer = Some(name.clone());
        }
        self.macros.active.push(name);
        let source = Src::body(&prepared.fragment.wrapped, span, Some(bindings));
        let value = if prepared.is_expression {
            self.expr(source, content)
        } else {
            let block = self.block(source, content);
            self.push(Expr::Statements(block), span)
        };
        self.macros.active.pop();
        if outermost {
            self.macros.outer = None;
        }
        self.leave();
        Some(value)
    }

    /// Parses a body as an expression or as statements, whichever it is.
    fn prepare(&mut self, text: &str, as_value: bool) -> Option<Prepared> {
        let statements_first = !as_value || looks_like_statements(text);
        let order = if statements_first {
            [FragmentKind::Statements, FragmentKind::Expression]
        } else {
            [FragmentKind::Expression, FragmentKind::Statements]
        };
        let mut fallback = None;
        for kind in order {
            let Some(fragment) = self.fragment(kind, text) else { continue };
            let clean = fragment.damage.is_empty() && fragment.content().is_some();
            let prepared = Prepared { fragment, is_expression: kind == FragmentKind::Expression };
            if clean {
                return Some(prepared);
            }
            if fallback.is_none() && prepared.fragment.content().is_some() {
                fallback = Some(prepared);
            }
        }
        // A body that is no code by itself (a type, half a statement) is left as a name.
        fallback.filter(|prepared| statements_first && !prepared.is_expression)
    }

    /// Runs `f` with the macros active that were active where a macro's arguments are written.
    pub(super) fn with_arguments_active<R>(&mut self, s: Src<'_>, f: impl FnOnce(&mut Self) -> R) -> R {
        let keep = s.bindings.map_or(0, |bindings| bindings.active).min(self.macros.active.len());
        let hidden = self.macros.active.split_off(keep);
        let result = f(self);
        self.macros.active.truncate(keep);
        self.macros.active.extend(hidden);
        result
    }

    /// The text of an argument that `#x` asks for.
    pub(super) fn stringized(&mut self, s: Src<'_>, text: &str) -> Option<Box<str>> {
        let parameter = text.strip_prefix(STRINGIZED)?;
        let argument = s.argument(parameter)?;
        Some(argument_text(argument).into())
    }

    /// A macro that stands for a type.
    pub(super) fn type_of_macro(&mut self, s: Src<'_>, text: &str) -> Option<TypeId> {
        let body = self.type_macro_body(s, text)?;
        if self.macros.active.len() >= MAX_NESTED || self.macros.active.iter().any(|active| *active == text) {
            return None;
        }
        let name = self.name(text);
        self.macros.active.push(name);
        let ty = self.type_text(body, Span::default());
        self.macros.active.pop();
        Some(ty)
    }

    /// Whether a name is an object-like macro for a type.
    pub(super) fn is_type_macro(&mut self, s: Src<'_>, text: &str) -> bool {
        self.type_macro_body(s, text)
            .is_some_and(|body| super::types::looks_like_type(body) || self.types.contains(body))
    }

    fn type_macro_body(&mut self, s: Src<'_>, text: &str) -> Option<&'a str> {
        let define = self.macro_at(s, text, Span { start: u32::MAX, end: u32::MAX })?;
        (define.params.is_none() && !define.body.is_empty()).then_some(define.body.as_str())
    }

    /// A type read from its text.
    pub(super) fn type_text(&mut self, text: &str, span: Span) -> TypeId {
        let simple = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
        if simple {
            return self.type_named(Src::body("", span, None), text);
        }
        let wrapped = format!("({text})cudalint_value");
        if let Some(fragment) = self.fragment(FragmentKind::Expression, &wrapped)
            && fragment.damage.is_empty()
            && let Some(content) = fragment.content()
            && cuda_kind(content) == CudaKind::CastExpression
            && let Some(descriptor) = super::fields::field(content, super::fields::Field::TypeOf)
            && self.enter()
        {
            let source = Src::body(&fragment.wrapped, span, None);
            let ty = self.descriptor(source, descriptor);
            self.leave();
            return ty;
        }
        self.push_type(crate::ir::Type::Unknown)
    }

    /// A body with its arguments put in as text, `##` carried out.
    fn pasted(&mut self, define: &Define, bindings: &Bindings<'_>) -> String {
        substitute(&define.body, &|word| {
            bindings.arguments.iter().find(|(name, _)| *name == word).map(|(_, argument)| argument_text(argument))
        })
    }

    /// The definitions that a macro call at namespace scope stands for, as text.
    pub(super) fn item_macro<'t>(&mut self, s: Src<'t>, name: Node<'t>, list: Node<'t>) -> Option<(Name, String)> {
        let text = s.text(name);
        let span = s.span(name);
        let define = self.macro_at(s, text, span)?;
        let params = define.params.as_ref()?;
        if self.macros.expansions >= MAX_EXPANSIONS || self.macros.active.len() >= MAX_NESTED {
            return None;
        }
        if self.macros.active.iter().any(|active| *active == text) {
            return None;
        }
        let arguments = self.macro_arguments(s, list, define, params)?;
        self.macros.expansions += 1;
        let bindings = Bindings { arguments, active: 0 };
        let pasted = self.pasted(define, &bindings);
        Some((self.name(text), pasted))
    }

    /// Runs `f` as part of the expansion of a macro.
    pub(super) fn within_macro(&mut self, name: Name, f: impl FnOnce(&mut Self)) {
        let outermost = self.macros.outer.is_none();
        if outermost {
            self.macros.outer = Some(name.clone());
        }
        self.macros.active.push(name);
        f(self);
        self.macros.active.pop();
        if outermost {
            self.macros.outer = None;
        }
    }
}

/// The index may hand back a definition of this file, which stands further down: an include guard's, for one.
fn not_own<'a>(found: Option<&'a Define>, own: &[&Define]) -> Option<&'a Define> {
    found.filter(|found| !own.iter().any(|define| define.span == found.span && define.body == found.body))
}

/// The body with `#x` respelled, and with a place for an attached block.
fn body_text(define: &Define, as_value: bool) -> String {
    let mut text = define.body.clone();
    if text.contains('#')
        && let Some(params) = &define.params
    {
        text = stringize(&text, params);
    }
    if !as_value {
        text.push(' ');
        text.push_str(ATTACHED);
        text.push(';');
    }
    text
}

fn stringize(body: &str, params: &[String]) -> String {
    let mut out = String::with_capacity(body.len() + 32);
    let mut rest = body;
    while let Some(at) = rest.find('#') {
        out.push_str(&rest[..at]);
        let after = rest[at + 1..].trim_start();
        let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
        let word = &after[..end];
        if params.iter().any(|param| param == word) || word == "__VA_ARGS__" {
            rest = &after[end..];
            if out.trim_end().ends_with('"') || rest.trim_start().starts_with('"') {
                // Joined to string literals it must be one itself; its text is known only at the call.
                out.push_str("\"\"");
            } else {
                out.push(' ');
                out.push_str(STRINGIZED);
                out.push_str(word);
                out.push(' ');
            }
        } else {
            rest = &rest[at + 1..];
        }
    }
    out.push_str(rest);
    out
}

fn looks_like_statements(text: &str) -> bool {
    let trimmed = text.trim_start();
    let end = trimmed.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(trimmed.len());
    let word = &trimmed[..end];
    matches!(
        word,
        "do" | "if"
            | "for"
            | "while"
            | "switch"
            | "return"
            | "asm"
            | "goto"
            | "break"
            | "continue"
            | "static"
            | "const"
    ) || (trimmed.starts_with('{') && trimmed.contains(';'))
        || (trimmed.contains(';') && !trimmed.starts_with("({") && !trimmed.starts_with('['))
}

/// The arguments of a call: nodes where they are whole nodes, else text.
fn arguments_of<'t>(s: Src<'t>, list: Node<'t>) -> Vec<Argument<'t>> {
    let nodes = children(list);
    let inner_start = list.start_byte() + 1;
    let inner_end = list.end_byte().saturating_sub(1).max(inner_start);
    let Some(text) = s.text.get(inner_start..inner_end) else { return Vec::new() };
    if text.trim().is_empty() {
        return Vec::new();
    }
    let mut out = Vec::new();
    for (start, end) in split(text) {
        let piece = &text[start..end];
        let lead = piece.len() - piece.trim_start().len();
        let from = inner_start + start + lead;
        let trimmed = piece.trim();
        let to = from + trimmed.len();
        let node = nodes.iter().find(|node| {
            node.start_byte() == from
                && s.text.get(from..node.end_byte()).map(str::trim_end) == Some(trimmed)
                && !node.is_error()
                && cuda_kind(**node) != CudaKind::ParameterDeclaration
        });
        let span = s.map(Span::new(from, to));
        match node {
            Some(node) if cuda_kind(*node) == CudaKind::Identifier && s.argument(trimmed).is_some() => {
                // The name of a parameter of the macro around: hand its argument on.
                match s.argument(trimmed) {
                    Some(Argument::Rest(rest)) => out.extend(rest.iter().cloned()),
                    Some(argument) => out.push(argument.clone()),
                    None => {}
                }
            }
            Some(node) => out.push(Argument::Node(*node, s)),
            None => out.push(Argument::Text(trimmed, span, s)),
        }
    }
    out
}

/// Ranges between top-level commas.
fn split(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut depth = 0usize;
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'\'' if !at.checked_sub(1).is_some_and(|before| bytes[before].is_ascii_alphanumeric()) => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'\'' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += 2;
                while at + 1 < bytes.len() && !(bytes[at] == b'*' && bytes[at + 1] == b'/') {
                    at += 1;
                }
                at += 1;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            }
            b',' if depth == 0 => {
                out.push((start, at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    out.push((start, bytes.len()));
    out
}

/// The text of an argument as the preprocessor would put it in.
fn argument_text(argument: &Argument<'_>) -> String {
    let within = |text: &str, s: &Src<'_>| match s.bindings {
        Some(bindings) => substitute(text, &|word| {
            bindings.arguments.iter().find(|(name, _)| *name == word).map(|(_, argument)| argument_text(argument))
        }),
        None => text.to_owned(),
    };
    match argument {
        Argument::Node(node, s) => within(s.text(*node), s),
        Argument::Text(text, _, s) => within(text, s),
        Argument::Rest(rest) => rest.iter().map(argument_text).collect::<Vec<_>>().join(", "),
    }
}

/// Replaces words outside literals; `#word` gives a string, `a ## b` joins.
fn substitute(body: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
    let bytes = body.as_bytes();
    let mut out = String::with_capacity(body.len() * 2);
    let mut at = 0;
    let mut stringize = false;
    while at < bytes.len() {
        let b = bytes[at];
        let start = at;
        if b.is_ascii_alphabetic() || b == b'_' {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                at += 1;
            }
            let word = &body[start..at];
            match value(word) {
                Some(text) if stringize => {
                    out.push('"');
                    out.push_str(&text.replace('\\', "\\\\").replace('"', "\\\""));
                    out.push('"');
                }
                Some(text) => out.push_str(&text),
                None => out.push_str(word),
            }
            stringize = false;
        } else if b == b'"' || b == b'\'' {
            at += 1;
            while at < bytes.len() && bytes[at] != b {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at = (at + 1).min(bytes.len());
            out.push_str(body.get(start..at).unwrap_or(""));
        } else if b == b'#' && bytes.get(at + 1) == Some(&b'#') {
            at += 2;
            while out.ends_with(' ') {
                out.pop();
            }
            while bytes.get(at) == Some(&b' ') {
                at += 1;
            }
            // GNU's `, ##__VA_ARGS__`: the comma goes when there is nothing behind it.
            if out.ends_with(',')
                && body[at..].starts_with("__VA_ARGS__")
                && value("__VA_ARGS__").is_some_and(|rest| rest.is_empty())
            {
                out.pop();
            }
        } else if b == b'#' {
            stringize = true;
            at += 1;
        } else {
            at += 1;
            while at < bytes.len() && !body.is_char_boundary(at) {
                at += 1;
            }
            out.push_str(&body[start..at]);
        }
        if out.len() > 1_000_000 {
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasting_and_stringizing() {
        let value = |word: &str| match word {
            "T" => Some("int".to_owned()),
            "__VA_ARGS__" => Some(String::new()),
            _ => None,
        };
        assert_eq!(substitute("void k_##T(T* p)", &value), "void k_int(int* p)");
        assert_eq!(substitute("f(#T, \"T\")", &value), "f(\"int\", \"T\")");
        assert_eq!(substitute("printf(x, ##__VA_ARGS__)", &value), "printf(x)");
    }

    #[test]
    fn arguments_are_split_at_their_own_commas() {
        let text = "f(a, b), \"x,y\", {1, 2}, ','";
        let pieces: Vec<&str> = split(text).into_iter().map(|(a, b)| text[a..b].trim()).collect();
        assert_eq!(pieces, ["f(a, b)", "\"x,y\"", "{1, 2}", "','"]);
    }
}
