//! Whether a name where it stands can mean a function at all: a call with another number of arguments, through an object, or in another
//! namespace means another function of the name.

use crate::others::words;
use cudalint_program::ir::{Function, FunctionRole, MacroDefinition, Module};
use rustc_hash::{FxHashMap, FxHashSet};

/// Bytes of a call's arguments that are read, at most.
const LONGEST: usize = 4000;

/// One function among those of its name.
pub(crate) struct Meant<'p> {
    name: &'p str,
    /// Least and largest number of arguments; nothing where any number may do.
    counts: Option<(usize, usize)>,
    is_free: bool,
    /// The innermost namespaces of free functions of the name that are not its own.
    elsewhere: Vec<&'p str>,
}

/// The functions of a project by their names, and the names of its classes.
pub(crate) struct Named<'p> {
    functions: FxHashMap<&'p str, Vec<&'p Function>>,
    classes: FxHashSet<&'p str>,
}

impl<'p> Named<'p> {
    /// `modules`: all of the project.
    pub fn of(modules: impl Iterator<Item = &'p Module> + Clone) -> Self {
        let mut functions: FxHashMap<&str, Vec<&Function>> = FxHashMap::default();
        for function in modules.clone().flat_map(|module| &module.functions) {
            functions.entry(&function.name).or_default().push(function);
        }
        Self { functions, classes: modules.flat_map(|module| &module.records).map(|record| &*record.name).collect() }
    }
}

impl<'p> Meant<'p> {
    /// `all`: those of the project.
    pub fn of(function: &'p Function, all: &Named<'p>) -> Self {
        let largest = function.param_count as usize;
        let named = all.functions.get(&*function.name).into_iter().flatten().copied();
        // Default values stand in the declaration alone.
        let same = named.clone().filter(|other| other.param_count == function.param_count);
        let least = same.map(needed).min().unwrap_or(0);
        let packs = function.variadic || function.template_params.iter().any(|param| param.pack) || function.damaged;
        let of_class = |name: &str| all.classes.contains(name);
        let is_free = function.role == FunctionRole::Free && !function.scope.last().is_some_and(|last| of_class(last));
        let elsewhere = named.filter(|other| other.role == FunctionRole::Free).filter_map(|other| {
            let last = other.scope.last()?;
            (!function.scope.segments.iter().any(|own| own == last)).then_some(&**last)
        });
        Self {
            name: &function.name,
            counts: (!packs).then_some((least, largest)),
            is_free,
            elsewhere: elsewhere.collect(),
        }
    }

    /// Whether the name at a place of a text may mean the function. `expands`: whether a word is a macro, which may stand for anything.
    pub fn at(&self, text: &str, at: usize, expands: &dyn Fn(&str) -> bool) -> bool {
        let (Some(before), Some(behind)) = (text.get(..at), text.get(at + self.name.len()..)) else { return true };
        // What stands at the end of the line above may be a comment.
        let before = before.trim_end_matches([' ', '\t']);
        if self.is_free && (before.ends_with("->") || before.ends_with('.') && !before.ends_with("..")) {
            return false;
        }
        let qualifier = before.strip_suffix("::").map(|before| {
            let begin = before.rfind(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
            before.get(begin.map_or(0, |last| last + 1)..).unwrap_or("")
        });
        if self.is_free && qualifier.is_some_and(|name| self.elsewhere.contains(&name)) {
            return false;
        }
        let Some((least, largest)) = self.counts else { return true };
        arguments(behind, expands).is_none_or(|count| (least..=largest).contains(&count))
    }
}

/// Macros that may stand for several arguments, or for none.
pub(crate) fn expanding<'p>(modules: impl Iterator<Item = &'p Module>) -> FxHashSet<&'p str> {
    const ROUNDS: usize = 4;
    let all: Vec<&MacroDefinition> = modules.flat_map(|module| &module.macros).collect();
    let risky = |defined: &&&MacroDefinition| defined.body.contains(',') || defined.body.trim().is_empty();
    let mut names: FxHashSet<&str> = all.iter().filter(risky).map(|defined| &*defined.name).collect();
    for _ in 0..ROUNDS {
        let before = names.len();
        let uses = |defined: &&MacroDefinition| words(&defined.body).any(|(_, word)| names.contains(word));
        let more: Vec<&str> = all.iter().copied().filter(uses).map(|defined| &*defined.name).collect();
        names.extend(more);
        if names.len() == before {
            break;
        }
    }
    names
}

/// How many arguments a function wants at least, by one declaration of it.
fn needed(function: &Function) -> usize {
    function.locals.iter().take(function.param_count as usize).take_while(|param| param.init.is_none()).count()
}

/// How many arguments stand behind a name in a call or a launch; nothing where that is not sure.
fn arguments(behind: &str, expands: &dyn Fn(&str) -> bool) -> Option<usize> {
    let mut rest = behind.trim_start();
    if let Some(launch) = rest.strip_prefix("<<<") {
        rest = launch.get(launch.find(">>>")? + 3..)?.trim_start();
    }
    let inside = rest.strip_prefix('(')?;
    let (mut depth, mut commas, mut empty) = (0_u32, 0, true);
    let mut word = 0;
    for (index, letter) in inside.char_indices().take(LONGEST) {
        let is_part = letter.is_ascii_alphanumeric() || letter == '_';
        if !is_part {
            // What a macro is given may be any number of arguments.
            let name = inside.get(word..index).unwrap_or("");
            if name.starts_with("__VA") || expands(name) {
                return None;
            }
            word = index + letter.len_utf8();
        }
        match letter {
            // Texts and comments hold anything; `<` may begin a list of its own, and what is unpacked is any number of arguments.
            '"' | '\'' | '<' | '#' => return None,
            '/' if inside.get(index + 1..).is_some_and(|rest| rest.starts_with(['/', '*'])) => return None,
            '.' if inside.get(index..).is_some_and(|rest| rest.starts_with("...")) => return None,
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => return Some(if empty { 0 } else { commas + 1 }),
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => commas += 1,
            _ => {}
        }
        empty &= letter.is_whitespace();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::arguments;

    #[test]
    fn arguments_are_counted_where_that_is_sure() {
        let expands = |word: &str| word == "BOTH";
        for (behind, expected) in [
            ("()", Some(0)),
            (" (a, f(b, c), {d, e})", Some(3)),
            ("<<<grid, block>>>(a, n)", Some(2)),
            ("(a / b, c)", Some(2)),
            ("(a /* first, last */, c)", None),
            ("(BOTH)", None),
            ("(a<b, c>d)", None),
            ("(\"a, b\")", None),
            ("(args...)", None),
            ("(__VA_ARGS__)", None),
            (";", None),
            ("<int>(a)", None),
        ] {
            assert_eq!(arguments(behind, &expands), expected, "{behind}");
        }
    }
}
