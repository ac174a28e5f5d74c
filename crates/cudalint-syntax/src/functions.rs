//! Functions with bodies and the names that are called, read from tokens alone: which files belong to a program is asked
//! before anything is parsed.

use crate::files::is_word;
use crate::keywords::{Group, W, by_code};
use crate::lexer::{Kind, Lexer, Step, Token, code};

/// A function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionText<'t> {
    /// Its name.
    pub name: &'t str,
    /// The class that it belongs to; none of a function that no class has.
    pub class: Option<&'t str>,
    /// Whether a launch stands in its body.
    pub launches: bool,
    /// Whether it is given an integer by value, as far as types are called by their names.
    pub takes_integer: bool,
    /// Whether no other file sees it.
    pub hidden: bool,
    /// What it calls, in order.
    pub calls: Vec<&'t str>,
}

/// Whether a text may launch a kernel.
pub fn may_launch(text: &str) -> bool {
    let has = |word: &[u8]| memchr::memmem::find(text.as_bytes(), word).is_some();
    has(b"<<<") || has(b"aunchKernel")
}

/// The names in front of opening parentheses: all that is called, and more.
pub fn called_names(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'(', bytes).filter_map(move |at| {
        let end = bytes[..at].trim_ascii_end().len();
        let length = bytes[..end].iter().rev().take_while(|byte| is_word(**byte)).count();
        text.get(end - length..end).filter(|name| !name.is_empty())
    })
}

/// What is kept of the place where a group of `#if` begins, at most: scopes and tokens.
const MAX_KEPT: usize = 200;

/// What a brace stands around.
#[derive(Clone)]
enum Scope<'t> {
    /// A namespace, named or not, or `extern "C"`.
    Namespace {
        hidden: bool,
    },
    Class(&'t str),
    /// The body of a function that was found, or anything else that holds no functions.
    Body {
        deeper: usize,
    },
}

/// The functions of the host that have bodies in a text of C or C++.
pub fn function_texts(text: &str) -> Vec<FunctionText<'_>> {
    let mut found: Vec<FunctionText<'_>> = Vec::new();
    let mut scopes: Vec<Scope<'_>> = Vec::new();
    let mut statement: Vec<Token> = Vec::new();
    // Whether the body that is open is one of a function that counts.
    let mut groups: Vec<Option<(Vec<Scope<'_>>, Vec<Token>)>> = Vec::new();
    let mut inside = false;
    let mut before: Option<Token> = None;
    let mut lexer = Lexer::new(text.as_bytes(), 0);
    while let Some(step) = lexer.next() {
        let Step::Token(token) = step else { continue };
        if token.kind == Kind::Directive {
            // Each branch of a group begins where the group does: two of them may open one brace.
            let directive = text.get(token.span().range()).unwrap_or("").trim_start_matches('#').trim_start();
            if directive.starts_with("if") {
                let cheap = scopes.len() + statement.len() <= MAX_KEPT;
                groups.push(cheap.then(|| (scopes.clone(), statement.clone())));
            } else if directive.starts_with("el") {
                if let Some(Some((before, begun))) = groups.last() {
                    scopes.clone_from(before);
                    statement.clone_from(begun);
                }
            } else if directive.starts_with("endif") {
                groups.pop();
            }
            continue;
        }
        if let Some(Scope::Body { deeper }) = scopes.last_mut() {
            if is(&token, b'{') {
                *deeper += 1;
            } else if is(&token, b'}') {
                *deeper -= 1;
                if *deeper == 0 {
                    scopes.pop();
                }
            } else if let Some(function) = found.last_mut().filter(|_| inside) {
                function.launches |= token.kind == Kind::Punct && token.code == code::LAUNCH;
                if let Some(name) = before.filter(|last| is(&token, b'(') && is_name(last)) {
                    let name = text.get(name.span().range()).unwrap_or("");
                    function.launches |= name.contains("aunchKernel");
                    function.calls.push(name);
                }
            }
            before = Some(token);
            continue;
        }
        before = Some(token);
        if is(&token, b'{') {
            let hidden = scopes.iter().any(|scope| matches!(scope, Scope::Namespace { hidden: true }));
            let class = scopes.iter().rev().find_map(|scope| match scope {
                Scope::Class(name) => Some(*name),
                _ => None,
            });
            let scope = opened(text, &statement);
            if let Scope::Body { .. } = &scope
                && !statement.is_empty()
            {
                let function = function(text, &statement);
                inside = function.is_some();
                found.extend(function.map(|function| FunctionText {
                    class: function.class.or(class),
                    hidden: hidden || function.hidden && class.is_none(),
                    ..function
                }));
            }
            scopes.push(scope);
            statement.clear();
        } else if is(&token, b'}') {
            scopes.pop();
            statement.clear();
        } else if is(&token, b';') {
            statement.clear();
            inside = false;
        } else {
            statement.push(token);
        }
    }
    found
}

fn is(token: &Token, byte: u8) -> bool {
    token.kind == Kind::Punct && token.code == u16::from(byte)
}

fn word(token: &Token) -> Option<W> {
    (token.kind == Kind::Word).then(|| by_code(token.code))
}

fn is_name(token: &Token) -> bool {
    word(token).is_some_and(|word| word.group() == Group::Plain)
}

/// Whether a parameter is an integer by value: of a type that is one, or that sounds like one.
fn takes_integer(text: &str, parameter: &[Token]) -> bool {
    const SOUNDS: [&str; 7] = ["int", "size", "idx", "index", "ord", "len", "itype"];
    let integer = |token: &Token| match word(token) {
        Some(W::Int | W::Long | W::Short | W::Unsigned | W::SizeT | W::SsizeT | W::PtrdiffT) => true,
        Some(known) if known.group() == Group::Plain => {
            let spelled = text.get(token.span().range()).unwrap_or("").to_ascii_lowercase();
            SOUNDS.iter().any(|sound| spelled.contains(sound))
        }
        Some(known) => {
            text.get(token.span().range()).is_some_and(|it| known.group() == Group::Type && it.contains("int"))
        }
        None => false,
    };
    let indirect = parameter.iter().any(|token| [b'*', b'&', b'<', b'['].iter().any(|byte| is(token, *byte)));
    // The last word is the name.
    let types = parameter.split_last().map_or(&[][..], |(_, types)| types);
    !indirect && types.iter().any(integer)
}

/// What a brace behind a statement opens.
fn opened<'t>(text: &'t str, statement: &[Token]) -> Scope<'t> {
    let has = |wanted: W| statement.iter().any(|token| word(token) == Some(wanted));
    if has(W::Namespace) {
        return Scope::Namespace { hidden: statement.last().and_then(word) == Some(W::Namespace) };
    }
    if let [first, second] = statement
        && word(first) == Some(W::Extern)
        && second.kind == Kind::Text
    {
        return Scope::Namespace { hidden: false };
    }
    let called = statement.iter().any(|token| is(token, b'('));
    if !called && (has(W::Class) || has(W::Struct) || has(W::Union)) && !has(W::Enum) {
        let end = statement.iter().position(|token| is(token, b':')).unwrap_or(statement.len());
        let name = statement[..end].iter().rfind(|token| is_name(token));
        return Scope::Class(name.and_then(|name| text.get(name.span().range())).unwrap_or(""));
    }
    Scope::Body { deeper: 1 }
}

/// The function whose head a statement is, if it runs on the host.
fn function<'t>(text: &'t str, statement: &[Token]) -> Option<FunctionText<'t>> {
    let has = |wanted: W| statement.iter().any(|token| word(token) == Some(wanted));
    if has(W::Global) || has(W::Device) && !has(W::Host) || has(W::Operator) {
        return None;
    }
    let open = statement.iter().position(|token| is(token, b'('))?;
    let (name, earlier) = statement.get(..open)?.split_last().filter(|(name, _)| is_name(name))?;
    if earlier.iter().any(|token| is(token, b'=')) {
        return None;
    }
    let spelled = |token: &Token| text.get(token.span().range());
    let class = match earlier {
        [.., class, scope] if scope.kind == Kind::Punct && scope.code == code::SCOPE => Some(class),
        _ => None,
    };
    let parameters = statement.get(open + 1..).unwrap_or(&[]);
    let takes_integer = parameters.split(|token| is(token, b',')).any(|parameter| takes_integer(text, parameter));
    Some(FunctionText {
        name: spelled(name)?,
        class: class.filter(|class| is_name(class)).and_then(spelled),
        launches: false,
        takes_integer,
        hidden: has(W::Static),
        calls: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::{called_names, function_texts};

    #[test]
    fn functions_of_the_host_with_their_launches_and_calls() {
        let text = "__global__ void k(int n) { f(n); }\n\
                    namespace a { namespace { void own(int n) { k<<<1, n>>>(n); } } }\n\
                    extern \"C\" {\n int run(float f, ITYPE n) { if (n > 0) { own(n); } return helper (n); }\n}\n\
                    struct Box { Box(int n) : n_{n} { cudaLaunchKernel(k); } void none(int *p, float f) {} int n_; };\n\
                    void Box::go(void) { int list[] = {1, 2}; for (;;) run(3); }\n\
                    static int last(int n) {\n#ifdef A\n if (n > 0) {\n#else\n if (n > 1) {\n#endif\n own(n); } return 0; }\n\
                    void behind(int n) { run(n, n); }";
        let shown: Vec<String> = function_texts(text)
            .iter()
            .map(|it| {
                let class = it.class.map_or(String::new(), |class| format!("{class}::"));
                let mark = |holds: bool, mark: &str| if holds { mark.to_owned() } else { String::new() };
                let marks =
                    mark(it.launches, " launches") + &mark(it.takes_integer, " takes") + &mark(it.hidden, " hidden");
                format!("{class}{}:{marks} {}", it.name, it.calls.join(","))
            })
            .collect();
        let expected = [
            "own: launches takes hidden ",
            "run: takes own,helper",
            "Box::Box: launches takes cudaLaunchKernel",
            "Box::none: ",
            "Box::go: run",
            "last: takes hidden own",
            "behind: takes run",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_stands_before_a_parenthesis_is_called() {
        let names: Vec<&str> = called_names("if (run (1)) x = ((a)) + s.go(2) + (3); é(4)").collect();
        assert_eq!(names, ["if", "run", "go", "é"]);
    }
}
