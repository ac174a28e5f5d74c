//! What a text is made of at namespace scope, found by its tokens alone: directives, scopes, and declarations with the
//! names that they declare. Every branch of `#if` is part of it.

use crate::keywords::{Group, W, by_code};
use crate::lexer::{Kind, Token, code, lex};
use crate::span::Span;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A preprocessor directive between declarations.
    Directive,
    /// `namespace a {` or `extern "C" {`.
    Opens,
    /// The brace that ends it.
    Closes,
    /// A class, an enumeration, an alias of a type, of a name or of a namespace.
    Type,
    /// A function, or a macro's call that makes one; an object that is given arguments looks the same.
    Function,
    /// A function that stands for an operator.
    Operator,
    /// A member of a class, outside of it: its names are the class and the member.
    Member,
    /// A variable.
    Variable,
    /// `using namespace a::b;`: its names are the namespaces.
    UsingNamespace,
    /// `template class A<int>;`: it declares nothing.
    Instantiation,
}

/// One item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// All of it, with its `;` or its body.
    pub span: Span,
    /// Of a declaration, what stands before its body.
    pub head: Span,
    /// What it is.
    pub kind: ItemKind,
    /// The names that it declares.
    pub names: Vec<Span>,
}

/// The items of a C++ text. `None` where brackets do not match, as where branches of `#if` share one body.
pub fn items(text: &str) -> Option<Vec<Item>> {
    let tokens = lex(text.as_bytes(), 0).tokens;
    let mut found = Vec::new();
    let mut scopes = 0usize;
    let mut at = 0;
    while let Some(first) = tokens.get(at) {
        let plain = |kind| Item { span: first.span(), head: first.span(), kind, names: Vec::new() };
        if first.kind == Kind::Directive {
            found.push(plain(ItemKind::Directive));
            at += 1;
        } else if is(first, b'}') {
            scopes = scopes.checked_sub(1)?;
            found.push(plain(ItemKind::Closes));
            at += 1;
        } else if is(first, b';') {
            at += 1;
        } else {
            let end = item_end(&tokens, at)?;
            let all = tokens.get(at..end)?;
            let item = item(all)?;
            scopes += usize::from(item.kind == ItemKind::Opens);
            found.push(item);
            at = end;
        }
    }
    (scopes == 0).then_some(found)
}

fn is(token: &Token, byte: u8) -> bool {
    token.kind == Kind::Punct && token.code == u16::from(byte)
}

fn word(token: &Token) -> Option<W> {
    (token.kind == Kind::Word).then(|| by_code(token.code))
}

fn is_name(token: &Token) -> bool {
    word(token) == Some(W::Plain)
}

/// Behind the last token of the item that begins at a token. A function ends with its body, all else with `;`.
fn item_end(tokens: &[Token], from: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut is_function = false;
    let mut at = from;
    while let Some(token) = tokens.get(at) {
        let opens = is(token, b'(') || is(token, b'[') || is(token, b'{');
        if depth == 0 && is(token, b'{') {
            let head = live(tokens.get(from..at)?);
            if opens_scope(&head) {
                return Some(at + 1);
            }
            is_function |= has_parameters(&head);
        }
        depth += usize::from(opens);
        if is(token, b')') || is(token, b']') || is(token, b'}') {
            depth = depth.checked_sub(1)?;
            // A constructor's first braces may be those of a member.
            let goes_on = || tokens.get(at + 1).is_some_and(|next| is(next, b'{') || is(next, b','));
            if depth == 0 && is(token, b'}') && is_function && !goes_on() {
                return Some(at + 1);
            }
        }
        if depth == 0 && is(token, b';') {
            return Some(at + 1);
        }
        at += 1;
    }
    None
}

/// Without the directives in between.
fn live(tokens: &[Token]) -> Vec<Token> {
    tokens.iter().copied().filter(|token| token.kind != Kind::Directive).collect()
}

/// Whether a brace after these tokens holds declarations.
fn opens_scope(head: &[Token]) -> bool {
    match head {
        [first, second] if word(first) == Some(W::Extern) => second.kind == Kind::Text,
        _ => {
            head.iter().take(2).any(|token| word(token) == Some(W::Namespace))
                && !head.iter().any(|token| is(token, b'='))
        }
    }
}

/// Whether these tokens before a brace are a function's: a `(` that is no attribute's, and neither a class nor a value.
fn has_parameters(head: &[Token]) -> bool {
    let rest = without_templates(head).unwrap_or(&[]);
    class_key(rest).is_none() && parameter_lists(rest).next().is_some() && assignment(rest).is_none()
}

/// Without `template <…>` in front; `None` for an explicit instantiation.
fn without_templates(mut tokens: &[Token]) -> Option<&[Token]> {
    while let Some((first, rest)) = tokens.split_first() {
        if word(first) != Some(W::Template) {
            break;
        }
        if !rest.first().is_some_and(|token| is(token, b'<')) {
            return None;
        }
        tokens = rest.get(angles_end(rest)?..)?;
    }
    Some(tokens)
}

/// Behind the `>` that belongs to a `<` at the beginning.
fn angles_end(tokens: &[Token]) -> Option<usize> {
    let (mut angles, mut brackets) = (0usize, 0usize);
    for (at, token) in tokens.iter().enumerate() {
        brackets += usize::from(is(token, b'(') || is(token, b'{') || is(token, b'['));
        if is(token, b')') || is(token, b'}') || is(token, b']') {
            brackets = brackets.checked_sub(1)?;
        }
        if brackets == 0 {
            angles += usize::from(is(token, b'<'));
            angles = angles.checked_sub(usize::from(is(token, b'>')))?;
            if angles == 0 {
                return Some(at + 1);
            }
        }
    }
    None
}

/// Each token that stands in no brackets, with its position. What follows a name in `<…>` is left out, too.
fn outer(tokens: &[Token]) -> impl Iterator<Item = (usize, &Token)> {
    let (mut depth, mut skip_to) = (0usize, 0usize);
    tokens.iter().enumerate().filter(move |(at, token)| {
        if *at < skip_to {
            return false;
        }
        let follows = at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(is_name);
        if depth == 0 && follows && is(token, b'<') {
            skip_to = tokens.get(*at..).and_then(angles_end).map_or(0, |end| at + end);
            return false;
        }
        let before = depth;
        depth += usize::from(is(token, b'(') || is(token, b'[') || is(token, b'{'));
        depth = depth.saturating_sub(usize::from(is(token, b')') || is(token, b']') || is(token, b'}')));
        before == 0
    })
}

/// Where a value begins: `=` outside of brackets.
fn assignment(tokens: &[Token]) -> Option<usize> {
    let is_operator = |at: usize| at > 0 && tokens.get(at - 1).and_then(word) == Some(W::Operator);
    outer(tokens).find(|(at, token)| is(token, b'=') && !is_operator(*at)).map(|(at, _)| at)
}

/// Positions of each `(` that may begin a list of parameters.
fn parameter_lists(tokens: &[Token]) -> impl Iterator<Item = usize> {
    let attribute = |before: &Token| {
        word(before).is_some_and(|it| {
            matches!(it.group(), Group::Attribute | Group::Space)
                || matches!(it, W::Decltype | W::Noexcept | W::Asm | W::Asm1 | W::Asm2 | W::Explicit)
        })
    };
    let opens = outer(tokens).filter(|(_, token)| is(token, b'('));
    opens
        .filter(move |(at, _)| at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|it| !attribute(it)))
        .map(|(at, _)| at)
}

/// Where `struct`, `class`, `union` or `enum` stands, if the tokens declare one.
fn class_key(tokens: &[Token]) -> Option<usize> {
    let is_key = |token: &Token| matches!(word(token), Some(W::Struct | W::Class | W::Union | W::Enum));
    let (at, _) = outer(tokens).find(|(_, token)| {
        is_key(token) || !token.kind.eq(&Kind::Word) || !matches!(word(token).map(W::group), Some(Group::Specifier))
    })?;
    is_key(tokens.get(at)?).then_some(at)
}

fn item(tokens: &[Token]) -> Option<Item> {
    let (first, last) = (tokens.first()?, tokens.last()?);
    let all = live(tokens);
    let body = outer(&all).find(|(_, token)| is(token, b'{')).map(|(at, _)| at);
    let before_body = body.and_then(|at| all.get(at)).map_or(last.end, |brace| brace.start);
    let (kind, names) = match without_templates(&all) {
        None => (ItemKind::Instantiation, Vec::new()),
        Some(_) if is(last, b'{') => (ItemKind::Opens, Vec::new()),
        Some(rest) => declared(rest),
    };
    Some(Item {
        span: Span { start: first.start, end: last.end },
        head: Span { start: first.start, end: before_body },
        kind,
        names: names.into_iter().map(|token| token.span()).collect(),
    })
}

/// What a declaration without its `template <…>` is, and its names.
fn declared(tokens: &[Token]) -> (ItemKind, Vec<Token>) {
    let names_of = |tokens: &[Token]| tokens.iter().copied().filter(is_name).collect::<Vec<_>>();
    match tokens {
        [using, namespace, path @ ..] if word(using) == Some(W::Using) && word(namespace) == Some(W::Namespace) => {
            (ItemKind::UsingNamespace, names_of(path))
        }
        [using, rest @ ..] if word(using) == Some(W::Using) => {
            let names = names_of(rest);
            let is_alias = assignment(rest).is_some();
            let name = if is_alias { names.first() } else { names.last() };
            (ItemKind::Type, name.copied().into_iter().collect())
        }
        [namespace, name, ..] if word(namespace) == Some(W::Namespace) => (ItemKind::Type, vec![*name]),
        [typedef, rest @ ..] if word(typedef) == Some(W::Typedef) => (ItemKind::Type, typedef_names(rest)),
        _ => match class_key(tokens) {
            Some(key) => (ItemKind::Type, class_names(tokens.get(key..).unwrap_or(&[]))),
            None => function_or_variable(tokens),
        },
    }
}

/// `T name;`, `T name[4];`, `T (*name)(int);`, `struct A { … } name;`
fn typedef_names(tokens: &[Token]) -> Vec<Token> {
    let mut names = class_key(tokens).map_or_else(Vec::new, |key| class_names(tokens.get(key..).unwrap_or(&[])));
    let pointers = tokens.windows(3).filter_map(|three| match three {
        [open, star, name] if is(open, b'(') && is(star, b'*') && is_name(name) => Some(*name),
        _ => None,
    });
    names.extend(pointers.take(1));
    let ends = outer(tokens).filter(|(_, token)| is(token, b';') || is(token, b',') || is(token, b'['));
    names.extend(ends.filter_map(|(at, _)| tokens.get(at.checked_sub(1)?).copied()).filter(is_name));
    names
}

/// The names of a class, of the enumerators in it, and of what is declared behind it.
fn class_names(tokens: &[Token]) -> Vec<Token> {
    let is_enum = tokens.first().and_then(word) == Some(W::Enum);
    let mut names = Vec::new();
    let mut inherits = false;
    for (_, token) in outer(tokens) {
        inherits = (inherits || is(token, b':')) && !is(token, b'{');
        if is_name(token) && !inherits {
            names.push(*token);
        }
    }
    if is_enum {
        let starts = tokens.windows(2).filter_map(|two| match two {
            [before, name] if (is(before, b'{') || is(before, b',')) && is_name(name) => Some(*name),
            _ => None,
        });
        names.extend(starts);
    }
    names
}

fn function_or_variable(tokens: &[Token]) -> (ItemKind, Vec<Token>) {
    // A constructor's `: member(value)` is no part of what names it.
    let members = outer(tokens).find(|(_, token)| is(token, b':')).map(|(at, _)| at);
    let end = assignment(tokens).into_iter().chain(members).min().unwrap_or(tokens.len());
    let head = tokens.get(..end).unwrap_or(&[]);
    if let Some(operator) = outer(head).find(|(_, token)| word(token) == Some(W::Operator)).map(|(at, _)| at) {
        return match qualifier(head, operator) {
            Some(class) => (ItemKind::Member, vec![class]),
            None => (ItemKind::Operator, Vec::new()),
        };
    }
    let called: Vec<usize> = parameter_lists(head).filter_map(|open| open.checked_sub(1)).collect();
    let names: Vec<Token> = called.iter().filter_map(|at| head.get(*at)).copied().filter(is_name).collect();
    if let Some((at, name)) = called.last().and_then(|at| Some((*at, *head.get(*at)?)))
        && let Some(class) = qualifier(head, at)
    {
        return (ItemKind::Member, vec![class, name]);
    }
    if !names.is_empty() {
        return (ItemKind::Function, names);
    }
    let ends = outer(tokens).filter(|(_, token)| [b'=', b'[', b',', b';', b'{'].iter().any(|byte| is(token, *byte)));
    let names = ends.filter_map(|(at, _)| tokens.get(at.checked_sub(1)?).copied()).filter(is_name);
    (ItemKind::Variable, names.collect())
}

/// The class in `A<T>::f`, where `f` stands at a position.
fn qualifier(tokens: &[Token], at: usize) -> Option<Token> {
    let at = if tokens.get(at.checked_sub(1)?).is_some_and(|token| is(token, b'~')) { at - 1 } else { at };
    let scope = tokens.get(at.checked_sub(1)?)?;
    if scope.kind != Kind::Punct || scope.code != code::SCOPE {
        return None;
    }
    let outside: Vec<usize> = outer(tokens).map(|(at, _)| at).filter(|it| *it + 1 < at).collect();
    tokens.get(*outside.last()?).copied().filter(is_name)
}

#[cfg(test)]
mod tests {
    use super::{ItemKind, items};

    fn shown(text: &str) -> Option<Vec<(ItemKind, String)>> {
        let names = |spans: &[crate::Span]| {
            let spelled: Vec<&str> = spans.iter().map(|span| text.get(span.range()).unwrap_or("")).collect();
            spelled.join(" ")
        };
        Some(items(text)?.iter().map(|item| (item.kind, names(&item.names))).collect())
    }

    #[test]
    fn items_declare_names() {
        for (text, kind, names) in [
            ("#define N 4 \\\n + 1\n", ItemKind::Directive, ""),
            ("template <typename T, int N = (2 > 1)> struct A<T*> : public B<T> { int x; } a;", ItemKind::Type, "A a"),
            ("enum class E : int { ONE, TWO = 2 };", ItemKind::Type, "E ONE TWO"),
            ("typedef struct tag { float x, y; } point;", ItemKind::Type, "tag point point"),
            ("typedef void (*callback)(int, float);", ItemKind::Type, "callback"),
            ("using real = double;", ItemKind::Type, "real"),
            ("using std::vector;", ItemKind::Type, "vector"),
            ("using namespace a::b;", ItemKind::UsingNamespace, "a b"),
            ("namespace cg = cooperative_groups;", ItemKind::Type, "cg"),
            ("template __global__ void k<int>(int *);", ItemKind::Instantiation, ""),
            ("template <int B> __global__ void __launch_bounds__(B) k(int *p) { *p = B; }", ItemKind::Function, "k"),
            ("static inline __device__ std::pair<int, int> f(int a) { return {a, a}; }", ItemKind::Function, "f"),
            ("REGISTER(op) __device__ int g();", ItemKind::Function, "REGISTER g"),
            ("__device__ float3 operator+(float3 a, float3 b) { return a; }", ItemKind::Operator, ""),
            ("template <typename T> __device__ T A<T>::get(int i) const { return x; }", ItemKind::Member, "A get"),
            ("A::A(int n) : x{n}, y(n) { }", ItemKind::Member, "A A"),
            ("__constant__ float table[N] = { 1, 2 }, *other;", ItemKind::Variable, "table other"),
            ("std::function<void(int)> hook;", ItemKind::Variable, "hook"),
            ("constexpr int SIZE = f(3);", ItemKind::Variable, "SIZE"),
        ] {
            assert_eq!(shown(text), Some(vec![(kind, names.to_owned())]), "{text}");
        }
    }

    #[test]
    fn scopes_are_items_of_their_own() {
        use ItemKind::{Closes, Directive, Function, Opens};
        let kinds = |text: &str| items(text).map(|all| all.iter().map(|item| item.kind).collect::<Vec<_>>());
        let text = "namespace a::b {\nextern \"C\" {\nvoid f();\n}\n#if X\nint g() { return 1; };\n#endif\n}\n";
        assert_eq!(kinds(text), Some(vec![Opens, Opens, Function, Closes, Directive, Function, Directive, Closes]));
        assert_eq!(kinds("#if A\nint f() {\n#else\nint f(int a) {\n#endif\n}\n"), None);
    }
}
