//! Plain declarations of a header, found by its tokens alone: those that nobody mentions need no tree.

use crate::defines::Define;
use crate::keywords::{Group, W, by_code};
use crate::lexer::{Kind, Lexer, Step, Token};
use crate::macros::{Class, MacroTable};
use crate::mask::live_tokens;
use crate::preprocessor::Conditions;
use crate::region::Region;
use crate::span::Span;

/// A declaration of one name: a function, a variable or an alias, without braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// All of it, with its `;`.
    pub span: Span,
    /// The name that it declares.
    pub name: Span,
}

/// The declarations of a header and what stands around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declarations {
    /// In order of the text.
    pub list: Vec<Declaration>,
    /// Words of all code that is none of these declarations.
    pub others: Vec<Span>,
}

/// Finds the plain declarations at namespace scope. `None` where a function has a body: code may put names together.
///
/// Branches of the preprocessor that the mask takes out are no part of it: they may tear a struct around the whole text.
pub fn declarations(
    text: &str,
    region: &Region,
    macros: &MacroTable,
    file_defines: &[Define],
    conditions: &dyn Conditions,
) -> Option<Declarations> {
    let offset = region.span.start;
    let raw = text.as_bytes().get(region.span.range())?;
    let mut found = Declarations::default();
    let mut statement: Vec<Token> = Vec::new();
    // Whether the statement may be a plain declaration, by what stands before it and in it.
    let mut plain = true;
    let mut open = 0usize;
    for token in live_tokens(raw, offset, macros, file_defines, conditions) {
        let token = Token { start: token.start + offset, end: token.end + offset, ..token };
        match (token.kind, token.code.to_le_bytes()) {
            (Kind::Directive, _) => {
                plain &= statement.is_empty() && open == 0;
                continue;
            }
            (Kind::Punct, [b'{', 0]) if open == 0 && opens_scope(&statement) => {
                found.take_words(&mut statement);
                plain = true;
                continue;
            }
            (Kind::Punct, [b'{', 0]) => {
                if statement.last().is_some_and(|last| is(last, b')')) {
                    return None;
                }
                plain = false;
                open += 1;
            }
            (Kind::Punct, [b'}', 0]) => {
                plain = open == 0;
                open = open.saturating_sub(1);
                found.take_words(&mut statement);
                continue;
            }
            (Kind::Punct, [b';', 0]) if open == 0 => {
                let declared = plain.then(|| declared(text, &statement, macros)).flatten();
                match (declared, statement.first()) {
                    (Some(name), Some(first)) => {
                        let span = Span { start: first.start, end: token.end };
                        found.list.push(Declaration { span, name: name.span() });
                        statement.clear();
                    }
                    _ => found.take_words(&mut statement),
                }
                plain = true;
                continue;
            }
            _ => {}
        }
        statement.push(token);
    }
    found.take_words(&mut statement);
    Some(found)
}

impl Declarations {
    fn take_words(&mut self, statement: &mut Vec<Token>) {
        self.others.extend(statement.drain(..).filter(|token| token.kind == Kind::Word).map(|token| token.span()));
    }
}

/// The words of a text, outside of comments and literals.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut lexer = Lexer::new(text.as_bytes(), 0);
    std::iter::from_fn(move || {
        loop {
            lexer.line_start = false;
            if let Step::Token(token) = lexer.next()?
                && token.kind == Kind::Word
            {
                return text.get(token.span().range());
            }
        }
    })
}

fn is(token: &Token, byte: u8) -> bool {
    token.kind == Kind::Punct && token.code == u16::from(byte)
}

fn word(token: &Token) -> Option<W> {
    (token.kind == Kind::Word).then(|| by_code(token.code))
}

/// Whether a brace after these tokens holds declarations: `extern "C"` or a namespace.
fn opens_scope(statement: &[Token]) -> bool {
    match statement {
        [first, second] if word(first) == Some(W::Extern) => second.kind == Kind::Text,
        [.., last] if word(last) == Some(W::Namespace) => true,
        [.., before, last] => word(before) == Some(W::Namespace) && last.kind == Kind::Word,
        _ => false,
    }
}

/// The one name that a statement (without its `;`) declares, if it is as plain as that.
fn declared(text: &str, statement: &[Token], macros: &MacroTable) -> Option<Token> {
    let plain = statement.iter().all(|token| match token.kind {
        Kind::Word => {
            let known =
                matches!(by_code(token.code).group(), Group::Plain | Group::Type | Group::Qualifier | Group::Specifier);
            let class = text.as_bytes().get(token.span().range()).and_then(|name| macros.class(name));
            known && matches!(class, None | Some(Class::Attribute { .. } | Class::Typed { .. }))
        }
        Kind::Number => true,
        Kind::Punct => [b'(', b')', b'*', b'&', b',', b'[', b']'].iter().any(|byte| is(token, *byte)),
        _ => false,
    });
    if !plain {
        return None;
    }
    let typedef = statement.first().and_then(word) == Some(W::Typedef);
    let name = match statement.iter().position(|token| is(token, b'(')) {
        // `typedef T (CALL * NAME)(…)`
        Some(open) if typedef => {
            let close = open + statement.get(open..)?.iter().position(|token| is(token, b')'))?;
            let inside = statement.get(open + 1..close)?;
            let pointer = inside.iter().all(|token| token.kind == Kind::Word || is(token, b'*'));
            let follows = statement.get(close + 1).is_some_and(|token| is(token, b'('));
            close.checked_sub(1).filter(|_| pointer && follows && inside.iter().any(|token| is(token, b'*')))?
        }
        // `T NAME(…)`
        Some(open) => {
            let mut depth = 0usize;
            for (at, token) in statement.iter().enumerate().skip(open) {
                depth = (depth + usize::from(is(token, b'('))).checked_sub(usize::from(is(token, b')')))?;
                if depth == 0 && at + 1 < statement.len() {
                    return None;
                }
            }
            open.checked_sub(1)?
        }
        // `T NAME[…]`
        None => {
            let end = statement.iter().position(|token| is(token, b'[')).unwrap_or(statement.len());
            if statement.iter().any(|token| is(token, b',')) {
                return None;
            }
            end.checked_sub(1)?
        }
    };
    let before = statement.get(..name)?;
    let typed = before.iter().filter(|token| token.kind == Kind::Word).count() > usize::from(typedef);
    statement.get(name).copied().filter(|token| typed && word(token) == Some(W::Plain))
}

#[cfg(test)]
mod tests {
    use super::{declarations, words};
    use crate::{FileKind, MacroTable, regions};

    fn names(text: &str) -> Option<(Vec<&str>, Vec<&str>)> {
        let region = regions(FileKind::CFamily, text).into_iter().next()?;
        let found = declarations(text, &region, &MacroTable::default(), &[], crate::BuildMacros::of_default())?;
        let spelled = |span: crate::Span| text.get(span.range()).unwrap_or("");
        let declared = found.list.iter().map(|declaration| spelled(declaration.name)).collect();
        Some((declared, found.others.iter().map(|span| spelled(*span)).collect()))
    }

    #[test]
    fn plain_declarations_are_found_by_their_names() {
        let text = "#ifndef H\n#define H 1\nextern \"C\" {\ntypedef void (CALL * PFN) (int target);\n\
                    typedef unsigned int GLenum;\nAPI GLenum CALL get(void);\nextern PFN table[4];\n}\n#endif\n";
        let (declared, others) = names(text).unwrap_or_default();
        assert_eq!(declared, ["PFN", "GLenum", "get", "table"]);
        assert_eq!(others, ["extern"]);
    }

    #[test]
    fn everything_else_is_kept() {
        let text = "typedef struct { int a; } S;\nenum E { A };\nMACRO(x);\nint a, b;\nint c = 1;\nstruct F;\n\
                    void (*signal(int))(int);\nusing T = int;\nstruct G { int h; };\nint last;\n";
        let (declared, _) = names(text).unwrap_or_default();
        assert_eq!(declared, ["last"]);
        assert_eq!(names("int f() { return 1; }"), None);
        let (declared, _) =
            names("#ifdef _WIN32\nstruct S {\n#endif\nint a;\n#ifdef _WIN32\n};\n#endif\n").unwrap_or_default();
        assert_eq!(declared, ["a"]);
    }

    #[test]
    fn words_leave_out_literals() {
        assert_eq!(words("a(\"b\", 'c', d) /* e */ f2").collect::<Vec<_>>(), ["a", "d", "f2"]);
    }
}
