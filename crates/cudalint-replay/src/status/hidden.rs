//! Looks at the last error that only another configuration of the build has: in branches of `#if` that are not the program, and
//! in macros that stand for nothing here.

use super::known;
use cudalint_program::Name;
use cudalint_program::Project;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::ErrorRole;
use cudalint_program::ir::{Function, Module, ModuleId};
use rustc_hash::FxHashMap;

/// Most places in one function.
const MAX_POINTS: usize = 500;

/// What another configuration may do at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hidden {
    /// A branch that looks at the last error.
    Branch,
    /// A macro, used as a statement.
    Macro(Name),
}

/// Macros that look at the last error in one configuration and not in another, with the modules that define them.
#[derive(Debug, Default)]
pub struct HiddenMacros(FxHashMap<Name, Vec<ModuleId>>);

impl HiddenMacros {
    /// Those of a project.
    pub fn of(project: &Project) -> Self {
        let mut all = Self::default();
        for id in project.modules() {
            for name in macros(project.module(id)) {
                all.0.entry(name.clone()).or_default().push(id);
            }
        }
        all
    }

    /// Those that a module may mean.
    pub(super) fn near(&self, project: &Project, id: ModuleId) -> Vec<&Name> {
        self.0.keys().filter(|name| project.has_macro(id, name)).collect()
    }

    /// The modules that define one.
    pub(super) fn defining(&self, name: &Name) -> &[ModuleId] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

/// The places of a function, by their offset in the file, in order. `macros`: those that the module may mean.
pub(super) fn points(project: &Project, id: ModuleId, function: &Function, macros: &[&Name]) -> Vec<(u32, Hidden)> {
    let text = project.text(id, function.span);
    let mut points = Vec::new();
    for branch in &project.module(id).passed_over {
        if function.span.contains(*branch) && looks(project.text(id, *branch)) {
            let before = text.get(..(branch.start - function.span.start) as usize).unwrap_or("");
            points.push((function.span.start + group_start(before) as u32, Hidden::Branch));
        }
    }
    let mut offset = 0;
    let spelled = macros.iter().any(|name| text.contains(name.as_str()));
    for line in text.split_inclusive('\n').filter(|_| spelled) {
        let start = offset;
        offset += line.len();
        for (at, word) in statement_words(line) {
            let named = macros.iter().filter(|name| **name == word);
            points
                .extend(named.map(|name| (function.span.start + (start + at) as u32, Hidden::Macro((*name).clone()))));
        }
        if points.len() >= MAX_POINTS {
            break;
        }
    }
    points.sort_by_key(|(at, _)| *at);
    points
}

/// The names of macros of which one definition of a module looks at the last error, and another does nothing of the kind.
fn macros(module: &Module) -> impl Iterator<Item = &Name> {
    let mut by_name: FxHashMap<&Name, (bool, bool)> = FxHashMap::default();
    for definition in module.macros.iter().filter(|definition| !definition.conditions.is_empty()) {
        let looks = looks(&definition.body);
        let seen = by_name.entry(&definition.name).or_default();
        seen.0 |= looks;
        seen.1 |= !looks;
    }
    by_name.into_iter().filter(|(_, seen)| *seen == (true, true)).map(|(name, _)| name)
}

/// Whether a text of code looks at the last error, by the words in it.
fn looks(code: &str) -> bool {
    let reads =
        |word: &str| ApiId::named(word).is_some_and(|api| matches!(api.role, ErrorRole::Clears | ErrorRole::Peeks));
    // What is given the status of a call looks at that.
    let given_other = |after: &str| {
        let inside = after.trim_start().strip_prefix('(').unwrap_or("");
        words(inside).next().is_some_and(|(_, word, _)| ApiId::with_status(word).is_some() && !reads(word))
    };
    code.lines()
        .filter_map(|line| line.split("//").next())
        .flat_map(words)
        .any(|(_, word, after)| reads(word) || known::sounds_like_last_error(word) && !given_other(after))
}

/// The words of a text, with their offset and what follows.
fn words(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = 0;
    std::iter::from_fn(move || {
        let from = rest + text.get(rest..)?.find(is_part)?;
        let tail = text.get(from..)?;
        let word = tail.get(..tail.find(|c| !is_part(c)).unwrap_or(tail.len()))?;
        rest = from + word.len();
        Some((from, word, text.get(rest..)?))
    })
}

/// The words of a line that a statement begins with, where they may be macros without a value: `CHECK();`, `} CHECK`.
fn statement_words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let code = line.split("//").next().unwrap_or("");
    let begins = |at: usize, word: &str, after: &str| {
        let before = code.get(..at).unwrap_or("").trim_end();
        let after = after.trim();
        !word.starts_with(|c: char| c.is_ascii_digit())
            && (before.is_empty() || before.ends_with([';', '{', '}', ')']))
            && (after.is_empty() || after.starts_with([';', '}', '(']))
    };
    words(code).filter(move |(at, word, after)| begins(*at, word, after)).map(|(at, word, _)| (at, word))
}

/// Where the group of `#if` begins whose branch stands behind a text.
fn group_start(before: &str) -> usize {
    let mut depth = 0u32;
    let mut end = before.len();
    for line in before.split('\n').rev() {
        let start = end - line.len();
        let directive = line.trim_start().strip_prefix('#').map_or("", str::trim_start);
        if directive.starts_with("endif") {
            depth += 1;
        } else if directive.starts_with("if") {
            if depth == 0 {
                return start;
            }
            depth -= 1;
        }
        end = start.saturating_sub(1);
    }
    before.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_looks_where_it_names_what_does() {
        assert!(looks("e = cudaGetLastError();"));
        assert!(looks("checkCudaError(\"scan\");"));
        assert!(!looks("cudaDeviceSynchronize(); // cudaGetLastError"));
        assert!(!looks("checkCudaErrors(cudaMalloc(&p, 4));"));
        assert!(!looks("fprintf(stderr, \"no error\");"));
    }

    #[test]
    fn words_that_begin_a_statement() {
        let first = |line| statement_words(line).next();
        assert_eq!(first("    } CUERR\n"), Some((6, "CUERR")));
        assert_eq!(first("    k<<<1, 1>>>(v); SYNC();\n"), Some((20, "SYNC")));
        assert_eq!(first("    x = CHECK;\n"), None);
    }

    #[test]
    fn the_group_around_a_branch() {
        assert_eq!(group_start("a;\n#if X\nb;\n#if Y\n#endif\n#else\n"), 3);
    }
}
