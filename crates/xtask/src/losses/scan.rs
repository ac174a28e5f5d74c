//! Declarations of a text, found by brackets and a few keywords.

use super::tokens::{Kind, Token, tokens};

/// Kinds of declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    Kernel,
    DeviceFunction,
    HostFunction,
    Class,
    Macro,
    Variable,
    SharedVariable,
}

impl What {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Kernel => "kernels",
            Self::DeviceFunction => "device functions",
            Self::HostFunction => "host functions",
            Self::Class => "classes",
            Self::Macro => "macros",
            Self::Variable => "variables of the device",
            Self::SharedVariable => "shared variables",
        }
    }
}

/// A declaration in a text.
#[derive(Debug)]
pub struct Declared<'t> {
    pub what: What,
    pub name: &'t str,
    /// Bytes to the name, and to the start of its declaration.
    pub at: usize,
    pub start: usize,
    /// Whether it is a template.
    pub template: bool,
    /// Whether it stands between `#if` and `#endif`.
    pub conditional: bool,
    /// A word of capitals beside its name that is no specifier of CUDA: most likely a macro.
    pub macro_word: Option<&'t str>,
}

/// What brackets enclose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Declarations.
    Declarations,
    /// Anything else.
    Body,
}

/// Words in front of parentheses that are part of a declaration and not its parameters.
const BEFORE_PARENTHESES: [&str; 14] = [
    "__launch_bounds__",
    "__attribute__",
    "__declspec",
    "alignas",
    "__align__",
    "__builtin_align__",
    "decltype",
    "noexcept",
    "requires",
    "explicit",
    "__cluster_dims__",
    "__maxnreg__",
    "__block_size__",
    "throw",
];

/// Words in capitals that stand in declarations for what they are.
const OF_CUDA: [&str; 3] = ["FILE", "DIR", "CUDA_CB"];

/// All declarations of a text.
pub fn declarations(text: &str) -> Vec<Declared<'_>> {
    let all = tokens(text);
    let mut scan =
        Scan { scopes: Vec::new(), saved: Vec::new(), chunk: Vec::new(), found: Vec::new(), round: 0, guards: 0 };
    for (number, token) in all.iter().enumerate() {
        scan.token(token, &all[number + 1..]);
    }
    scan.found
}

struct Scan<'t> {
    scopes: Vec<Scope>,
    /// At each open `#if`: the scopes there, and whether it is the guard of a header.
    saved: Vec<(Vec<Scope>, bool)>,
    /// Tokens of the declaration so far.
    chunk: Vec<Token<'t>>,
    found: Vec<Declared<'t>>,
    /// Open parentheses in it.
    round: usize,
    guards: usize,
}

impl<'t> Scan<'t> {
    fn token(&mut self, token: &Token<'t>, behind: &[Token<'t>]) {
        match token.kind {
            Kind::If => {
                let guarded = token.text.trim();
                let guard = self.found.is_empty()
                    && behind.first().is_some_and(|next| next.kind == Kind::Define && guarded.ends_with(next.text));
                self.saved.push((self.scopes.clone(), guard));
                self.guards += usize::from(guard);
            }
            Kind::Else => {
                if let Some((scopes, _)) = self.saved.last() {
                    self.scopes.clone_from(scopes);
                }
            }
            Kind::EndIf => {
                if self.saved.pop().is_some_and(|(_, guard)| guard) {
                    self.guards -= 1;
                }
            }
            Kind::Define => self.add(What::Macro, token, token.at, false, None),
            _ if self.in_body() => self.in_code(token),
            _ => self.in_declarations(token),
        }
    }

    fn in_body(&self) -> bool {
        self.scopes.last() == Some(&Scope::Body)
    }

    fn add(&mut self, what: What, name: &Token<'t>, start: usize, template: bool, macro_word: Option<&'t str>) {
        let conditional = self.saved.len() > self.guards;
        self.found.push(Declared { what, name: name.text, at: name.at, start, template, conditional, macro_word });
    }

    fn in_code(&mut self, token: &Token<'t>) {
        match token.text {
            "{" => {
                self.scopes.push(Scope::Body);
                self.chunk.clear();
            }
            "}" => {
                self.scopes.pop();
                self.chunk.clear();
            }
            "__shared__" => self.chunk = vec![*token],
            ";" | "=" | "[" | "," if !self.chunk.is_empty() => {
                let angles = |text: &str| self.chunk.iter().filter(|token| token.text == text).count();
                if angles("<") > angles(">") {
                    self.chunk.push(*token);
                    return;
                }
                if let Some(name) = self.chunk.iter().rfind(|token| token.kind == Kind::Word).copied()
                    && self.chunk.iter().all(|token| token.text != "(")
                    && self.chunk.len() > 2
                {
                    self.add(What::SharedVariable, &name, self.chunk[0].at, false, None);
                }
                self.chunk.clear();
            }
            _ if !self.chunk.is_empty() => self.chunk.push(*token),
            _ => {}
        }
    }

    fn in_declarations(&mut self, token: &Token<'t>) {
        match token.text {
            "(" => self.round += 1,
            ")" => self.round = self.round.saturating_sub(1),
            ";" if self.round == 0 => {
                self.variable();
                self.chunk.clear();
                return;
            }
            "{" if self.round == 0 => {
                let scope = self.opened();
                self.scopes.push(scope);
                self.chunk.clear();
                return;
            }
            "}" => {
                self.scopes.pop();
                self.chunk.clear();
                self.round = 0;
                return;
            }
            ":" if matches!(self.chunk.as_slice(), [one] if matches!(one.text, "public" | "private" | "protected")) => {
                self.chunk.clear();
                return;
            }
            _ => {}
        }
        self.chunk.push(*token);
    }

    /// What a brace opens; a declaration in front of it is noted.
    fn opened(&mut self) -> Scope {
        let (template, words) = self.without_template();
        let Some(first) = words.first() else { return Scope::Body };
        if first.text == "," || first.text == ":" {
            return Scope::Body;
        }
        let has = |text: &str| words.iter().any(|word| word.text == text);
        let parameters = parameters(&words);
        if parameters.is_none() && (has("namespace") || first.text == "extern" && words.len() <= 2) {
            return Scope::Declarations;
        }
        if has("enum") && parameters.is_none() {
            return Scope::Body;
        }
        let class = words.iter().position(|word| matches!(word.text, "class" | "struct" | "union"));
        if let (Some(at), None, false) = (class, parameters, has("=")) {
            if let Some(name) = class_name(&words[at + 1..]) {
                self.add(What::Class, &name, first.at, template, None);
            }
            return Scope::Declarations;
        }
        if let Some(at) = parameters {
            let mut name = words[at - 1];
            if let Some(tilde) = at.checked_sub(2).and_then(|before| words.get(before)).filter(|it| it.text == "~") {
                // The name of a destructor begins there.
                name.at = tilde.at;
            }
            let what = match () {
                () if has("__global__") => What::Kernel,
                () if has("__device__") => What::DeviceFunction,
                () => What::HostFunction,
            };
            let before = words[..at - 1].iter();
            let capitals = before.filter(|word| is_macro(word)).map(|word| word.text).next();
            // A name alone is a constructor, or a macro.
            if !(has("operator") || at == 1 && is_macro(&name)) {
                self.add(what, &name, first.at, template, capitals);
            }
        }
        Scope::Body
    }

    /// A variable with a specifier of CUDA in front of a semicolon.
    fn variable(&mut self) {
        let (template, words) = self.without_template();
        let of_device =
            |word: &Token<'_>| matches!(word.text, "__device__" | "__constant__" | "__managed__" | "__shared__");
        let Some(first) = words.first().filter(|_| words.iter().any(of_device)) else { return };
        if words.iter().any(|word| matches!(word.text, "operator" | "friend" | "using" | "typedef"))
            || parameters(&words).is_some()
        {
            return;
        }
        let end = words.iter().position(|word| matches!(word.text, "=" | "[")).unwrap_or(words.len());
        if let Some(name) = words[..end].iter().rfind(|word| word.kind == Kind::Word).copied()
            && words[..end].iter().filter(|word| word.kind == Kind::Word).count() > 2
        {
            self.add(What::Variable, &name, first.at, template, None);
        }
    }

    /// Whether the declaration so far is a template, and its words behind that.
    fn without_template(&self) -> (bool, Vec<Token<'t>>) {
        let mut rest = self.chunk.as_slice();
        let mut template = false;
        while rest.first().is_some_and(|word| word.text == "template") {
            template = true;
            let mut open = 0_usize;
            let end = rest.iter().position(|word| {
                open = match word.text {
                    "<" => open + 1,
                    ">" => open.saturating_sub(1),
                    _ => open,
                };
                word.text == ">" && open == 0
            });
            rest = end.map_or(&[], |end| &rest[end + 1..]);
        }
        (template, rest.to_vec())
    }
}

/// Where the parameters of a function begin; none where there are none.
fn parameters(words: &[Token<'_>]) -> Option<usize> {
    let (mut round, mut skipped) = (0_usize, None);
    for (at, word) in words.iter().enumerate() {
        match word.text {
            "=" if round == 0 => return None,
            "(" => {
                let before = at.checked_sub(1).and_then(|before| words.get(before));
                let named = before.is_some_and(|it| it.kind == Kind::Word && !BEFORE_PARENTHESES.contains(&it.text));
                // A macro with arguments has a name or another macro behind it, or makes the name: `NAME(x)(int n)`.
                if round == 0 && skipped.is_none() {
                    let close = closing(words, at);
                    let follows = close.and_then(|close| words.get(close + 1));
                    let goes_on = follows.is_some_and(|next| {
                        next.text == "("
                            || next.kind == Kind::Word
                                && !matches!(
                                    next.text,
                                    "const"
                                        | "noexcept"
                                        | "override"
                                        | "final"
                                        | "volatile"
                                        | "mutable"
                                        | "requires"
                                        | "throw"
                                        | "try"
                                )
                    });
                    if named && !(goes_on && before.is_some_and(is_macro)) {
                        return Some(at);
                    }
                    skipped = close;
                }
                round += 1;
            }
            ")" => {
                round = round.saturating_sub(1);
                if skipped == Some(at) {
                    skipped = None;
                }
            }
            _ => {}
        }
    }
    None
}

fn closing(words: &[Token<'_>], open: usize) -> Option<usize> {
    let mut round = 0_usize;
    for (at, word) in words.iter().enumerate().skip(open) {
        match word.text {
            "(" => round += 1,
            ")" => round -= 1,
            _ => {}
        }
        if round == 0 {
            return Some(at);
        }
    }
    None
}

/// The name of a class, behind its keyword: the last word in front of its bases, arguments or specifiers.
fn class_name<'t>(words: &[Token<'t>]) -> Option<Token<'t>> {
    let (mut name, mut round) = (None, 0_usize);
    for (at, word) in words.iter().enumerate() {
        match word.text {
            "(" => round += 1,
            ")" => round = round.saturating_sub(1),
            // `ns::S` is the class `S`.
            ":" if round == 0
                && words.get(at + 1).is_none_or(|next| next.text != ":")
                && words[..at].last().is_none_or(|before| before.text != ":") =>
            {
                break;
            }
            "final" | "<" if round == 0 => break,
            _ if round == 0 && word.kind == Kind::Word && !BEFORE_PARENTHESES.contains(&word.text) => {
                name = Some(*word);
            }
            _ => {}
        }
    }
    name
}

/// Whether a word is written as macros are.
fn is_macro(word: &Token<'_>) -> bool {
    word.kind == Kind::Word
        && word.text.len() > 2
        && word.text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && word.text.bytes().any(|byte| byte.is_ascii_uppercase())
        && !OF_CUDA.contains(&word.text)
}
