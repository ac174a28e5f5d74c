//! `#if` groups that stand in the tree: which branch is the program.

use super::Lowerer;
use super::fields::{Field, field};
use super::source::{Src, named_children};
use crate::ir::Supposed;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::preprocessor::{Meaning, evaluate};
use cudalint_syntax::{Condition, Define, Node, Span, meaning_for_hip};
use rustc_hash::FxHashMap;

/// Conditions around definitions that decide conditions around definitions: deeper ones decide nothing.
const MAX_NESTING: u32 = 3;

/// Directives of one name that are asked whether they surely count.
const MAX_DIRECTIVES: usize = 8;

/// What was assumed for conditions that nothing decides, so that one file's groups agree with each other.
#[derive(Debug, Default)]
pub(crate) struct Assumed(FxHashMap<String, bool>);

impl Assumed {
    /// To begin with: a name that a macro only passes on where it is defined (`#ifdef X`, `#define N X`) comes from the
    /// command line of some builds. Taking it for defined would leave `N` without a value, so it is not.
    pub(crate) fn of(defines: &[Define]) -> Self {
        let passed_on = defines.iter().flat_map(|define| {
            let conditions = define.conditions.iter().filter(|condition| !condition.negated);
            conditions.filter(|condition| passes_on(&define.body, &condition.text))
        });
        Self(passed_on.map(|condition| (condition.text.trim().to_owned(), false)).collect())
    }
}

/// What is supposed where a condition that nothing decides is taken to hold, or not to. A name that nobody defines is not
/// defined: that is no supposition.
fn in_words(condition: &str, holds: bool) -> Option<String> {
    // It may be written over several lines.
    let condition = condition.split(|c: char| c.is_whitespace() || c == '\\').filter(|word| !word.is_empty());
    let condition = condition.collect::<Vec<_>>().join(" ");
    let (asked, negated) = match condition.strip_prefix('!').map(str::trim) {
        Some(rest) if rest.starts_with("defined") => (rest, true),
        _ => (condition.as_str(), false),
    };
    let name =
        asked.strip_prefix("defined").map(|name| name.trim().trim_start_matches('(').trim_end_matches(')').trim());
    match name.filter(|name| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')) {
        Some(name) => (holds != negated).then(|| format!("`{name}` is defined")),
        None => holds.then(|| format!("`{condition}` holds where it is compiled")),
    }
}

/// Whether a part of a branch is code, and not a directive or a comment.
fn is_code(node: Node<'_>) -> bool {
    !matches!(cuda_kind(node), CudaKind::Comment) && !node.kind().starts_with("preproc_")
}

/// Whether a node is a part of a function's body.
fn is_inside_function(node: Node<'_>) -> bool {
    let mut at = node.parent();
    while let Some(around) = at {
        if cuda_kind(around) == CudaKind::FunctionDefinition {
            return true;
        }
        at = around.parent();
    }
    false
}

/// Whether a condition asks for the very name that a definition stands for.
pub(crate) fn passes_on(body: &str, condition: &str) -> bool {
    let Some(rest) = condition.trim().strip_prefix("defined") else { return false };
    let name = rest.trim().trim_start_matches('(').trim_end_matches(')').trim();
    !name.is_empty() && name == body && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

impl Lowerer<'_> {
    /// The named children of a node, comments included, with each `#if` group replaced by the children of its branch.
    pub(super) fn chosen_children<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> Vec<Node<'t>> {
        let mut out = named_children(node);
        let is_group = |node: &Node<'_>| matches!(cuda_kind(*node), CudaKind::PreprocIf | CudaKind::PreprocIfdef);
        let mut rounds = 0;
        while out.iter().any(is_group) && rounds < 64 {
            rounds += 1;
            let mut next = Vec::with_capacity(out.len());
            for child in out {
                if is_group(&child) { self.branch(s, child, &mut next) } else { next.push(child) }
            }
            out = next;
        }
        out
    }

    /// Adds the children of the branch of a group that is the program.
    fn branch<'t>(&mut self, s: Src<'t>, group: Node<'t>, out: &mut Vec<Node<'t>>) {
        let mut node = group;
        let mut supposed = None;
        let mut passed_code = false;
        for _ in 0..10_000 {
            let alternative = field(node, Field::Alternative);
            let text = match cuda_kind(node) {
                CudaKind::PreprocIf | CudaKind::PreprocElif => {
                    let condition = field(node, Field::Condition);
                    Some(condition.map_or("", |condition| s.text(condition)).to_owned())
                }
                CudaKind::PreprocIfdef | CudaKind::PreprocElifdef => {
                    let name = field(node, Field::Name).map_or("", |name| s.text(name));
                    let negated = node.child(0).is_some_and(|first| first.kind().contains("ifndef"));
                    Some(if negated { format!("!defined({name})") } else { format!("defined({name})") })
                }
                _ => None,
            };
            let holds = match &text {
                Some(text) => {
                    let (holds, known) = self.condition_holds(s, text, node.start_byte() as u32);
                    if !known && s.is_file() && supposed.is_none() {
                        supposed = in_words(text, holds);
                    }
                    holds
                }
                None => true,
            };
            let mut skip = vec![field(node, Field::Condition), field(node, Field::Name)];
            skip.push(alternative);
            let children = || named_children(node).into_iter().filter(|child| !skip.contains(&Some(*child)));
            if holds {
                let others =
                    passed_code || alternative.is_some_and(|other| named_children(other).into_iter().any(is_code));
                if let Some(condition) = supposed
                    && (others || is_inside_function(group))
                    && let (Some(first), Some(last)) = (children().next(), children().next_back())
                {
                    let span = Span::new(first.start_byte(), last.end_byte());
                    let group = Span::new(group.start_byte(), group.end_byte());
                    let supposed = Supposed { span, group, condition: condition.into(), extra: !others };
                    if !self.module.supposed.contains(&supposed) {
                        self.module.supposed.push(supposed);
                    }
                }
                out.extend(children());
                return;
            }
            passed_code |= children().any(is_code);
            match alternative {
                Some(next) => node = next,
                None => return,
            }
        }
    }

    /// Whether a condition holds: as the definitions in sight say, else as assumed before, else yes; and whether they do say.
    fn condition_holds(&mut self, s: Src<'_>, text: &str, at: u32) -> (bool, bool) {
        let at = if s.is_file() { Some(at) } else { None };
        if let Some(holds) = self.holds(text, at, 0) {
            return (holds, true);
        }
        let (key, negated) = match text.trim().strip_prefix('!').map(str::trim) {
            Some(rest) if rest.starts_with("defined") => (rest, true),
            _ => (text.trim(), false),
        };
        let value = *self.conditions.0.entry(key.to_owned()).or_insert(!negated);
        (value != negated, false)
    }

    /// As [`Self::condition_holds`], for a condition around a directive of the file.
    pub(super) fn assumed_condition(&mut self, text: &str, at: u32) -> bool {
        self.condition_holds(Src::file(self.text), text, at).0
    }

    /// Whether a condition holds where the build and the definitions in sight decide it.
    fn holds(&self, text: &str, at: Option<u32>, nesting: u32) -> Option<bool> {
        evaluate(text, &|name| self.meaning(name, at, nesting))
    }

    /// What a name means at a place of the file (anywhere, for `None`): by what surely stands in the file before it, then
    /// by the build (in a function of the host alone that of the host's pass), then by the other definitions in sight,
    /// whatever conditions they stand under.
    fn meaning(&self, name: &str, at: Option<u32>, nesting: u32) -> Meaning<'_> {
        let build = self.outside.build();
        let host_only = self.frames.last().is_some_and(|frame| frame.host_only);
        let of_build = match meaning_for_hip(name) {
            Some(meaning) if self.for_hip && !build.is_given(name) => meaning,
            _ if host_only => build.meaning_on_host(name),
            _ => build.meaning(name),
        };
        if of_build != Meaning::Unknown {
            return self.surely_own(name, at, nesting).unwrap_or(of_build);
        }
        match self.macros.find_at(self.outside, name, at) {
            Some(define) if define.params.is_some() => Meaning::Opaque,
            Some(define) => Meaning::Defined(&define.body),
            // Defined further down, or taken away again: not defined here.
            None if self.macros.is_own(name) => Meaning::Absent,
            None => Meaning::Unknown,
        }
    }

    /// What the last directives of the file before a place make of a name, where their conditions surely hold.
    fn surely_own(&self, name: &str, at: Option<u32>, nesting: u32) -> Option<Meaning<'_>> {
        if nesting >= MAX_NESTING {
            return None;
        }
        let directives = self.macros.before(name, at?, MAX_DIRECTIVES);
        let sure = |conditions: &[Condition], at: u32| {
            conditions.iter().all(|c| self.holds(&c.text, Some(at), nesting + 1) == Some(!c.negated))
        };
        let found = directives.into_iter().find(|directive| sure(directive.conditions, directive.at))?;
        Some(match found.define {
            Some(define) if define.params.is_some() => Meaning::Opaque,
            Some(define) => Meaning::Defined(&define.body),
            None => Meaning::Absent,
        })
    }
}
