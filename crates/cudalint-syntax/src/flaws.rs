//! Text that no compiler takes: prose between functions, remains of a document around the code, a statement without its end. Parsers
//! pass over all of that, and so do linters; no program comes of it.
//!
//! It goes by single tokens, since what the grammar cannot read is mostly a macro that nobody knows. Only what no macro can
//! make right counts. Macros may open and close braces, so that what looks like the outside of functions may be the inside of one.

use crate::keywords::{Group, by_code};
use crate::lexer::{Kind, Token, code, lex};
use crate::span::Span;

/// What makes a text one that no compiler takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Where.
    pub span: Span,
    /// What stands there, in words.
    pub what: &'static str,
}

/// Words in a row that make prose with what ends a sentence.
const LEAST_WORDS: usize = 3;

/// The first flaw of a text of C++, without some spans (branches of `#if` that are not taken). `ends` says whether a call of a function
/// of this name is an expression: behind it no other word can follow.
pub fn flaw(text: &str, without: &[Span], ends: impl Fn(&str) -> bool) -> Option<Flaw> {
    let bytes = text.as_bytes();
    let taken = |token: &Token| !without.iter().any(|span| span.start <= token.start && token.end <= span.end);
    let mut look = Look { bytes, tokens: lex(bytes, 0).tokens, ..Look::default() };
    look.tokens.retain(taken);
    look.first_word().or_else(|| look.all(&ends))
}

/// The tokens of a text while they are looked through.
#[derive(Default)]
struct Look<'t> {
    bytes: &'t [u8],
    tokens: Vec<Token>,
    /// Brackets that are open.
    open: Vec<u8>,
    /// Words since the last statement's end, where nothing but words and commas stands there.
    words: Option<usize>,
    /// The last token that is no directive.
    before: Option<usize>,
}

impl Look<'_> {
    fn word(&self, token: &Token) -> &str {
        self.bytes.get(token.span().range()).and_then(|word| std::str::from_utf8(word).ok()).unwrap_or("")
    }

    fn group(&self, at: usize) -> Option<Group> {
        self.tokens.get(at).filter(|token| token.kind == Kind::Word).map(|token| by_code(token.code).group())
    }

    fn is(&self, at: Option<usize>, byte: u8) -> bool {
        at.and_then(|at| self.tokens.get(at))
            .is_some_and(|token| token.kind == Kind::Punct && token.code == u16::from(byte))
    }

    /// Whether a line ends between two neighbours.
    fn parts(&self, one: &Token, other: &Token) -> bool {
        self.bytes.get(one.end as usize..other.start as usize).is_some_and(|between| between.contains(&b'\n'))
    }

    /// A name of a language before everything else: ```` ```c++ ```` was cut from its document without its marks. Or what tells a notebook
    /// to write the text that follows into a file: `%%writefile a.cu`.
    fn first_word(&self) -> Option<Flaw> {
        let (first, second) = (self.tokens.first()?, self.tokens.get(1)?);
        if first.kind == Kind::Punct && first.code == u16::from(b'%') {
            return Some(Flaw { span: first.span(), what: "an order to a notebook" });
        }
        let name = first.kind == Kind::Word && ["c", "cpp", "cuda", "cu", "cc"].contains(&self.word(first));
        let stands_alone = second.kind == Kind::Directive
            || second.kind == Kind::Punct && second.code == code::INC && self.word(first) == "c";
        (name && stands_alone).then(|| Flaw { span: first.span(), what: "the name of a language as its first word" })
    }

    fn all(&mut self, ends: &impl Fn(&str) -> bool) -> Option<Flaw> {
        self.words = Some(0);
        for at in 0..self.tokens.len() {
            let token = *self.tokens.get(at)?;
            if token.kind == Kind::Directive {
                continue;
            }
            if let Some(what) = self.wrong(at, &token, ends) {
                return Some(Flaw { span: token.span(), what });
            }
            self.step(at, &token);
            self.before = Some(at);
        }
        // In the middle of a statement.
        let last = *self.tokens.get(self.before?)?;
        let is_inside = self.open.contains(&b'{');
        let middle = match last.kind {
            Kind::Punct => ![b';', b'}', b')', b'>', b':'].map(u16::from).contains(&last.code),
            Kind::Number | Kind::Text | Kind::Char => true,
            Kind::Word | Kind::Directive => self.open.last() == Some(&b'('),
        };
        (is_inside && middle).then(|| Flaw { span: last.span(), what: "an end in the middle of a statement" })
    }

    /// What is wrong with a token after those before it.
    fn wrong(&self, at: usize, token: &Token, ends: &impl Fn(&str) -> bool) -> Option<&'static str> {
        let before = self.before;
        let next = self.tokens.get(at + 1);
        let punct = if token.kind == Kind::Punct { token.code } else { 0 };
        if punct == u16::from(b'`') {
            return Some("a backtick");
        }
        if self.open.is_empty()
            && self.words.is_some_and(|words| words >= LEAST_WORDS)
            && [b'.', b'!', b'?'].map(u16::from).contains(&punct)
        {
            return Some("a sentence");
        }
        // `int blockIdx.x = 0`.
        if punct == u16::from(b'.')
            && let Some(name) = before
            && self.group(name) == Some(Group::Plain)
            && let Some(ty) = name.checked_sub(1)
            && self.group(ty) == Some(Group::Type)
            && self.tokens.get(name).zip(self.tokens.get(ty)).is_some_and(|(name, ty)| !self.parts(ty, name))
        {
            return Some("a declaration of a member of something");
        }
        // `const int n = 4` and `void f()` on the next line.
        if self.group(at) == Some(Group::Type)
            && let Some([name, equal, number]) = before.and_then(|last| Some([last.checked_sub(2)?, last - 1, last]))
            && self.tokens.get(number).is_some_and(|last| last.kind == Kind::Number && self.parts(last, token))
            && self.is(Some(equal), b'=')
            && self.group(name) == Some(Group::Plain)
            && name.checked_sub(1).and_then(|ty| self.group(ty)) == Some(Group::Type)
        {
            return Some("a declaration without its `;`");
        }
        let starts = before.is_none() || [b';', b'}'].into_iter().any(|byte| self.is(before, byte));
        if token.kind == Kind::Number
            && self.open.is_empty()
            && starts
            && next.is_none_or(|next| self.parts(token, next) && !self.is(Some(at + 1), b';'))
        {
            return Some("a number by itself");
        }
        self.lacks_mark(at, starts).or_else(|| self.lacks_order(at)).or_else(|| self.lacks_end(token, ends))
    }

    /// `include<stdio.h>` without its `#`, as the beginning of a line.
    fn lacks_mark(&self, at: usize, starts: bool) -> Option<&'static str> {
        let token = self.tokens.get(at).filter(|token| token.kind == Kind::Word && self.word(token) == "include")?;
        let begins =
            at.checked_sub(1).and_then(|last| self.tokens.get(last)).is_none_or(|last| self.parts(last, token));
        let next = self.tokens.get(at + 1)?;
        let names = match next.kind {
            Kind::Text => true,
            // Of templates and comparisons none goes on with a file.
            Kind::Punct if next.code == u16::from(b'<') => {
                let line = self.bytes.get(next.end as usize..)?.split(|byte| *byte == b'\n').next()?;
                let name = line.split(|byte| *byte == b'>').next()?;
                name.ends_with(b".h") || name.ends_with(b".hpp") || name.ends_with(b".cuh")
            }
            _ => false,
        };
        (self.open.is_empty() && starts && begins && names && !self.parts(token, next))
            .then_some("`include` without its `#`")
    }

    /// `using std namespace;`.
    fn lacks_order(&self, at: usize) -> Option<&'static str> {
        let [using, name, space, end] = [at.checked_sub(3)?, at - 2, at - 1, at];
        let word = |at: usize, word: &str| {
            self.tokens.get(at).is_some_and(|token| token.kind == Kind::Word && self.word(token) == word)
        };
        let is_name = self.group(name) == Some(Group::Plain)
            && self.tokens.get(name).is_some_and(|name| !crate::keywords::is_caps(self.word(name).as_bytes()));
        (word(using, "using") && is_name && word(space, "namespace") && self.is(Some(end), b';'))
            .then_some("`using` without `namespace` behind it")
    }

    /// A call of a function of a library, as a statement of its own, and behind it something else.
    fn lacks_end(&self, token: &Token, ends: &impl Fn(&str) -> bool) -> Option<&'static str> {
        let goes_on = match token.kind {
            Kind::Word => {
                let operator = ["and", "or", "xor", "not_eq", "bitand", "bitor", "and_eq", "or_eq", "xor_eq"];
                !operator.contains(&self.word(token))
                    && !crate::keywords::is_caps(self.word(token).as_bytes())
                    && matches!(by_code(token.code).group(), Group::Plain | Group::Control | Group::Type)
            }
            Kind::Punct => token.code == u16::from(b'}'),
            _ => false,
        };
        let close = self.before.filter(|_| goes_on && self.is(self.before, b')'))?;
        let name = self.callee(close)?;
        let first = name.checked_sub(1);
        let alone = [b';', b'{', b'}'].into_iter().any(|byte| self.is(first, byte));
        let inside = self.open.last() == Some(&b'{');
        let name = self.tokens.get(name)?;
        let next_line = self.tokens.get(close).is_some_and(|close| self.parts(close, token));
        let found = alone && inside && (next_line || token.kind == Kind::Punct) && ends(self.word(name));
        found.then_some("a call without its `;`")
    }

    /// The word before the parentheses that end at a token.
    fn callee(&self, close: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in (0..=close).rev() {
            let token = self.tokens.get(at)?;
            match token.kind {
                Kind::Directive => return None,
                Kind::Punct if token.code == u16::from(b')') => depth += 1,
                Kind::Punct if token.code == u16::from(b'(') => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                let name = at.checked_sub(1)?;
                return (self.group(name) == Some(Group::Plain)).then_some(name);
            }
        }
        None
    }

    fn step(&mut self, at: usize, token: &Token) {
        let byte = if token.kind == Kind::Punct { u8::try_from(token.code).unwrap_or(0) } else { 0 };
        match byte {
            b'(' | b'[' | b'{' => self.open.push(byte),
            // A brace closes what was left open inside of it.
            b'}' => while self.open.pop().is_some_and(|byte| byte != b'{') {},
            b')' | b']' => {
                let own = if byte == b')' { b'(' } else { b'[' };
                self.open.pop_if(|byte| *byte == own);
            }
            _ => {}
        }
        self.words = match (token.kind, byte) {
            (_, b';' | b'}') => Some(0),
            (_, b',') => self.words,
            // `else return a.b` behind a brace that a macro has opened.
            (Kind::Word, _) if self.group(at) != Some(Group::Control) => self.words.map(|words| words + 1),
            _ => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::flaw;

    fn what(text: &str) -> Option<&'static str> {
        flaw(text, &[], |name| name.starts_with("cuda") || name == "printf").map(|flaw| flaw.what)
    }

    #[test]
    fn what_no_compiler_takes() {
        for text in [
            "c++\n#include <cstdio>\nint main() {}\n",
            "cpp\n#include <cstdio>\nint main() {}\n",
            "int main() {}\nThis code allocates memory, and launches a kernel.\n",
            "int main() {}\n```\n",
            "__global__ void k() { int blockIdx.x = 0; }\n",
            "int a;\n1\nint main() {}\n",
            "int main() { int *d; cudaMalloc(&d, 4)\n int e = 3; }\n",
            "int main() { int *d; cudaMalloc(&d, 4) }\n",
            "int main() { int *d; cudaMalloc(&d,\n",
            "int main() { int n = 4 +\n",
            "include<stdio.h>\nint main() {}\n",
            "#include <cstdio>\ninclude \"all.h\"\nint main() {}\n",
            "using std namespace;\nint main() {}\n",
            "const int n = 4\nvoid f() {}\n",
            "%%writefile a.cu\nint main() {}\n",
            "%\n% writefile a.cu\nint main() {}\n",
        ] {
            assert!(what(text).is_some(), "{text}");
        }
    }

    #[test]
    fn what_macros_may_make_right() {
        for text in [
            "MY_EXPORT static inline foo bar baz(int a);\nBEGIN_NAMESPACE\nint a;\nEND_NAMESPACE\n",
            "KERNEL_BEGIN(k)\n a.b = c; ++i; return a.b; if (x) y(); else return a.b;\nKERNEL_END\n",
            "class A final : public B<C.d> {};\nint a = b.c;\nauto f() -> decltype(a.b);\n",
            "int main() { cudaMalloc(&d, 4) CHECK;\n if (x) cudaFree(d); else cudaFree(e); cudaFree(d) or abort(); }\n",
            "int main() {\n  RUN(cudaMalloc(&d, 4))\n  int e = 3;\n  printf(\"a\"\n#ifdef B\n  \"b\"\n#endif\n  );\n}\n",
            "namespace a {\nint b;\nEND_A\n",
            "void f() {\n#if A\n  if (x) {\n#else\n  if (y) {\n#endif\n  }\n}\n",
            "// don't `do`\n/* a number: 1 */\n#error don't `do` that.\nint a = 1;\n",
            "struct S { int a; } s = { .a = 1 };\nfloat x = (float) s.a;\nasm(\"` 1\");\n",
            "using include = A<stdio.h>;\nint n;\ninclude<stdio> f();\nvoid g() { n =\ninclude<stdio.h>(4); }\n",
            "using namespace std;\nusing EMPTY namespace std;\nusing a = b; namespace c = d;\nusing std::c; namespace e {}\n",
            "const int n = 4 END\nvoid f() {}\nint m = 4\nEND\nn = 4\n#define A int\n;\n",
            "#include \"numbers.inc\"\nstatic const int a[] = {\n1,\n2\n};\n",
        ] {
            assert_eq!(what(text), None, "{text}");
        }
    }
}
