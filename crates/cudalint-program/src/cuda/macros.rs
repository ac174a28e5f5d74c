//! Macro uses, expanded from the parsed bodies of their definitions.
//!
//! A body is parsed once for each definition. Inside it, a parameter's name stands for the argument at the call, which
//! is lowered where it is written, with its own span; everything else has the span of the outermost call. `#x` becomes
//! a string; a body with `##` is put together as text and parsed for that call. A macro that is statements becomes
//! [`Expr::Statements`], and what it declares stays in the scope of the call.

use super::builtin_types::looks_like_type;
use super::fields::callee_and_list;
use super::macro_text::{
    ATTACHED, STRINGIZED, argument_text, arguments_of, body_text, looks_like_statements, rest_of, substitute,
};
use super::source::{Argument, Bindings, Src};
use super::state::{Lowerer, Prepared};
use crate::ir::{Block, Expr, ExprId, Stmt, TemplateArgs, TypeId};
use crate::name::Name;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{Define, FragmentKind, Node, ParsedFragment, Span, parse_fragment};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// Macros inside macros deeper than this stay calls.
const MAX_NESTED: usize = 24;

/// Macro expansions of one file; what comes after stays a call.
const MAX_EXPANSIONS: u32 = 30_000;

/// Fragments that a thread remembers, and the longest text among them.
const MAX_REMEMBERED: usize = 2_000;
const MAX_REMEMBERED_TEXT: usize = 2_000;

type Remembered = FxHashMap<FragmentKind, FxHashMap<Box<str>, Option<Rc<ParsedFragment>>>>;

thread_local! {
    static FRAGMENTS: RefCell<Remembered> = RefCell::default();
}

impl<'a> Lowerer<'a> {
    /// The definition of a macro at a use.
    pub(super) fn macro_at(&mut self, name: &str, span: Span) -> Option<&'a Define> {
        let (view, host) = (self.view, self.is_host_only());
        let define = view.definition(name, span.start, host)?;
        // Where nobody knows whether the host or the device runs this, a macro that differs between them is left alone.
        let may_be_hosts = !host && self.frames.last().is_some_and(|frame| frame.may_be_hosts);
        if may_be_hosts && view.definition(name, span.start, true).is_none_or(|other| other.body != define.body) {
            return None;
        }
        if !define.conditions.is_empty() && view.is_supposed(define, host) {
            self.suppose_macro(define, span);
        }
        Some(define)
    }

    /// Whether a name is an object-like macro whose body is not a type.
    pub(super) fn is_object_value(&self, name: &str) -> bool {
        self.view
            .definition(name, u32::MAX, self.is_host_only())
            .is_some_and(|define| define.params.is_none() && !define.body.is_empty() && !looks_like_type(&define.body))
    }

    /// Whether only the host's pass compiles what is being lowered.
    pub(super) fn is_host_only(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.host_only)
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
    pub(super) fn object_macro(&mut self, name: &str, span: Span) -> Option<ExprId> {
        let define = self.macro_at(name, span)?;
        if define.params.is_some() || define.body.is_empty() {
            return None;
        }
        let bindings = Bindings { arguments: Vec::new(), active: self.macros.active.len() };
        self.expand(define, &bindings, span, true)
    }

    /// A name that stands alone does nothing, unless it is a macro: `SYNC_AND_CHECK;`. Of one whose definition is not known it is the
    /// call of a function that is out of sight.
    pub(super) fn unknown_macro<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> Option<ExprId> {
        let (name, span) = s.text_and_span(node);
        let looks_so = name.len() > 1 && name.contains(|letter: char| letter.is_ascii_uppercase());
        let is_one = (looks_so || self.view.is_macro_somewhere(name))
            && s.argument(name).is_none()
            && self.lookup_variable(name).is_none()
            && self.lookup(name).is_none()
            && self.macro_at(name, span).is_none();
        is_one.then(|| {
            let path = self.single(name);
            let callee = self.push(Expr::Name { path, targs: TemplateArgs::default() }, span);
            self.push(Expr::Call { callee, args: Vec::new() }, span)
        })
    }

    /// A function-like macro's call.
    pub(super) fn function_macro<'t>(&mut self, s: Src<'t>, name: &str, list: Node<'t>, span: Span) -> Option<ExprId> {
        let define = self.macro_at(name, span)?;
        let params = define.params.as_ref()?;
        if self.macros.active.iter().any(|active| *active == name) {
            return None;
        }
        let arguments = macro_arguments(s, list, define, params)?;
        if define.body.is_empty() {
            // `CHECK(x)` that expands to nothing does nothing, and does not evaluate `x`.
            let path = self.single(name);
            let callee = self.push(Expr::Name { path, targs: TemplateArgs::default() }, span);
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
        let Some(define) = self.macro_at(text, span) else { return false };
        let Some(params) = define.params.as_ref() else { return false };
        if self.macros.active.iter().any(|active| *active == text) {
            return false;
        }
        let Some(mut arguments) = macro_arguments(s, list, define, params) else { return false };
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
                match self.module.exprs.get(value).map(|node| &node.kind) {
                    Some(Expr::Statements(block)) => out.extend(block.clone()),
                    _ => out.push(self.push_stmt(Stmt::Expr(value), span.cover(whole))),
                }
                true
            }
            None => false,
        }
    }

    /// Whether this file's budget allows one more expansion.
    fn may_expand(&mut self) -> bool {
        let may = self.macros.expansions < MAX_EXPANSIONS;
        if !may {
            self.module.cut("expansions of macros");
        }
        may
    }

    /// Lowers a macro's body. `as_value`: an expression where it can be one.
    fn expand(&mut self, define: &'a Define, bindings: &Bindings<'_>, span: Span, as_value: bool) -> Option<ExprId> {
        if !self.may_expand()
            || self.macros.active.len() >= MAX_NESTED
            || self.macros.active.iter().any(|active| *active == define.name.as_str())
        {
            return None;
        }
        let prepared = if define.body.contains("##") {
            let text = pasted(define, bindings);
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
        let content = match &prepared {
            Prepared::Number(_) => None,
            Prepared::Fragment { fragment, .. } => Some((fragment, fragment.content()?)),
        };
        if !self.enter() {
            return None;
        }
        self.macros.expansions += 1;
        let name = self.name(&define.name);
        let outermost = self.macros.outer.is_none();
        if outermost {
            self.macros.outer = self.expansion_id(&name);
        }
        self.macros.active.push(name);
        let value = match (&prepared, content) {
            (Prepared::Fragment { is_expression, .. }, Some((fragment, content))) => {
                let source = Src::body(&fragment.wrapped, span, Some(bindings));
                if *is_expression {
                    let value = self.expr(source, content);
                    if cuda_kind(content) == CudaKind::BinaryExpression {
                        self.loose = Some(value);
                    }
                    value
                } else {
                    let block = self.block(source, content);
                    self.push(Expr::Statements(block), span)
                }
            }
            (Prepared::Number(number), _) => self.push(number.clone(), span),
            (Prepared::Fragment { .. }, None) => self.push(Expr::Unknown(Vec::new()), span),
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
        if as_value && let Some(number) = plain_number(text) {
            return Some(Prepared::Number(number));
        }
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
            let has_content = clean || fragment.content().is_some();
            let is_expression = kind == FragmentKind::Expression;
            let prepared = Prepared::Fragment { fragment, is_expression };
            if clean {
                return Some(prepared);
            }
            if fallback.is_none() && has_content {
                fallback = Some((prepared, is_expression));
            }
        }
        // A body that is no code by itself (a type, half a statement) is left as a name.
        let statements = fallback.filter(|(_, is_expression)| statements_first && !is_expression);
        statements.map(|(prepared, _)| prepared)
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

    /// A macro that stands for a type.
    pub(super) fn type_of_macro(&mut self, text: &str) -> Option<TypeId> {
        let body = self.type_macro_body(text)?;
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
    pub(super) fn is_type_macro(&mut self, text: &str) -> bool {
        self.type_macro_body(text).is_some_and(|body| looks_like_type(body) || self.types.contains(body))
    }

    fn type_macro_body(&mut self, text: &str) -> Option<&'a str> {
        let define = self.macro_at(text, Span { start: u32::MAX, end: u32::MAX })?;
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

    /// The definitions that a macro call at namespace scope stands for, as text.
    pub(super) fn item_macro<'t>(&mut self, s: Src<'t>, name: Node<'t>, list: Node<'t>) -> Option<(Name, String)> {
        let text = s.text(name);
        let span = s.span(name);
        let define = self.macro_at(text, span)?;
        let params = define.params.as_ref()?;
        if !self.may_expand() || self.macros.active.len() >= MAX_NESTED {
            return None;
        }
        if self.macros.active.iter().any(|active| *active == text) {
            return None;
        }
        let arguments = macro_arguments(s, list, define, params)?;
        self.macros.expansions += 1;
        let bindings = Bindings { arguments, active: 0 };
        let pasted = pasted(define, &bindings);
        Some((self.name(text), pasted))
    }

    /// The name that `NAME(copy)` stands for in front of a function's parameters; `argument` is the macro's first one.
    pub(super) fn made_name<'t>(&mut self, s: Src<'t>, argument: Node<'t>) -> Option<Name> {
        let list = argument.parent().and_then(|parameter| parameter.parent())?;
        let (_, mut text) = self.item_macro(s, list.prev_named_sibling()?, list)?;
        // `#define NAME(x) JOIN(x, _kernel)`
        for _ in 0..MAX_NESTED {
            let name = text.trim();
            if !name.is_empty() && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
                return Some(self.name(name));
            }
            let fragment = parse_fragment(FragmentKind::Expression, name, self.pool)?;
            let call = fragment.content().filter(|call| cuda_kind(*call) == CudaKind::CallExpression)?;
            let (inner, arguments) = callee_and_list(call)?;
            let source = Src::body(&fragment.wrapped, s.span(argument), None);
            let (_, next) = self.item_macro(source, inner, arguments)?;
            text = next;
        }
        None
    }

    /// Runs `f` as part of the expansion of a macro.
    pub(super) fn within_macro(&mut self, name: Name, f: impl FnOnce(&mut Self)) {
        let outermost = self.macros.outer.is_none();
        if outermost {
            self.macros.outer = self.expansion_id(&name);
        }
        self.macros.active.push(name);
        f(self);
        self.macros.active.pop();
        if outermost {
            self.macros.outer = None;
        }
    }
}

/// The number that a text is, where the grammar surely reads it as one, too.
fn plain_number(text: &str) -> Option<Expr> {
    let bytes = text.as_bytes();
    let hex = text.starts_with("0x") || text.starts_with("0X");
    let spelled =
        |byte: &u8| byte.is_ascii_digit() || *byte == b'.' || matches!(byte, b'u' | b'U' | b'l' | b'L' | b'f');
    let plain = match bytes {
        [_, _, digits @ ..] if hex => digits.iter().all(u8::is_ascii_hexdigit),
        [b'0'..=b'9', ..] => bytes.iter().all(spelled),
        _ => false,
    };
    let number = plain.then(|| super::literals::number(text))?;
    matches!(number, Expr::Int { .. } | Expr::Float { .. }).then_some(number)
}

/// A body with its arguments put in as text, `##` carried out.
fn pasted(define: &Define, bindings: &Bindings<'_>) -> String {
    substitute(&define.body, &|word| {
        bindings.arguments.iter().find(|(name, _)| *name == word).map(|(_, argument)| argument_text(argument))
    })
}

/// The text of an argument that `#x` asks for.
pub(super) fn stringized(s: Src<'_>, text: &str) -> Option<Box<str>> {
    let parameter = text.strip_prefix(STRINGIZED)?;
    let argument = s.argument(parameter)?;
    Some(argument_text(argument).into())
}

/// Binds parameters to arguments. `None` when their numbers do not agree.
fn macro_arguments<'t>(
    s: Src<'t>,
    list: Node<'t>,
    define: &'t Define,
    params: &'t [String],
) -> Option<Vec<(&'t str, Argument<'t>)>> {
    let mut given = arguments_of(s, list);
    let named_rest = define.named_rest;
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
    let rest = rest_of(s, list, given.clone(), fixed);
    given.truncate(fixed);
    let mut bound: Vec<(&str, Argument<'_>)> = params.iter().map(String::as_str).zip(given).collect();
    if define.variadic {
        if named_rest && let Some(last) = params.last() {
            bound.push((last, Argument::Rest(rest.clone())));
        }
        bound.push(("__VA_ARGS__", Argument::Rest(rest)));
    }
    Some(bound)
}
