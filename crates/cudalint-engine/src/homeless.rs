//! Methods that no class declares: `Solver::run` where nothing in sight is called `Solver`, or where the class has nothing of that name.
//! Compilers refuse a file that defines one.

use crate::in_sight::has_all_includes;
use crate::others::words_at;
use cudalint_program::Project;
use cudalint_program::ir::{Function, FunctionRole, ModuleId};
use cudalint_syntax::Span;
use rustc_hash::FxHashMap;

/// What stands in front of a name that is declared as a class, a namespace or another name for one.
const KEYS: [&str; 7] = ["class", "struct", "union", "namespace", "using", "define", "typedef"];

/// Words between the two, at most: macros that hand a class on, attributes.
const MOST_BETWEEN: usize = 3;

/// Where a class is declared.
enum Home {
    /// In these modules, which define all classes of the name.
    Modules(Vec<ModuleId>),
    /// In some text, as far as its words tell.
    Somewhere,
    Nowhere,
}

/// Whether something holds of another text of the project, or may.
pub(crate) type AnyOther<'a> = dyn Fn(&dyn Fn(&str) -> bool) -> bool + 'a;

/// The first of a module: where it is, and the name as written.
pub(crate) fn homeless(project: &Project, id: ModuleId, any_other: &AnyOther<'_>) -> Option<(Span, String)> {
    if !has_all_includes(project, id) {
        return None;
    }
    // Many methods are of one class, and all texts are looked through for it.
    let mut homes: FxHashMap<&str, Home> = FxHashMap::default();
    let functions = project.module(id).functions.iter();
    functions.filter(|function| is_asked(function)).find_map(|function| {
        let head = project.text(id, Span { end: function.name_span.start, ..function.span });
        let before = head.trim_end().strip_suffix("::")?;
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let class = before.get(before.rfind(|letter| !is_part(letter)).map_or(0, |last| last + 1)..)?;
        let around = before.get(..before.len() - class.len())?.trim_end();
        let spells_itself = project.text(id, function.name_span) == &*function.name;
        // What stands in another class or namespace, or comes of a macro, is looked for there.
        if class.is_empty() || around.ends_with("::") || !spells_itself || function.scope.segments.len() != 1 {
            return None;
        }
        let home = homes.entry(class).or_insert_with(|| match home(project, class) {
            Some(modules) => Home::Modules(modules),
            None => {
                let declares = |text: &str| declares(text, class);
                let somewhere = declares(project.source(id)) || any_other(&declares);
                if somewhere { Home::Somewhere } else { Home::Nowhere }
            }
        });
        let is_lost = match home {
            Home::Modules(modules) => modules.iter().all(|module| {
                let text = project.source(*module);
                *module != id && words_at(text, &function.name).next().is_none() && !text.contains("##")
            }),
            Home::Somewhere => false,
            Home::Nowhere => true,
        };
        is_lost.then(|| (function.name_span, format!("`{class}::{}`", function.name)))
    })
}

/// Whether a text declares a class or a namespace of a name, or another name for one.
fn declares(text: &str, name: &str) -> bool {
    words_at(text, name).any(|at| {
        let before = text.get(..at).unwrap_or("");
        let behind = text.get(at + name.len()..).unwrap_or("").trim_start();
        let mut words = before.split_whitespace().rev().take(1 + MOST_BETWEEN);
        words.any(|word| KEYS.contains(&word.trim_start_matches('#'))) || behind.starts_with(';')
    })
}

/// Whether a function stands for itself alone.
fn is_asked(function: &Function) -> bool {
    let plain = matches!(function.role, FunctionRole::Free | FunctionRole::Method);
    plain
        && function.body.is_some()
        && function.template_params.is_empty()
        && !function.damaged
        && function.parent.is_none()
}

/// The modules that define classes of a name; nothing where none does, or where the name is also that of something else.
fn home(project: &Project, class: &str) -> Option<Vec<ModuleId>> {
    let defines = |id: &ModuleId| {
        let records = &project.module(*id).records;
        records.iter().any(|record| record.name == *class && record.defined && record.bases.is_empty())
    };
    let modules: Vec<ModuleId> = project.modules().filter(defines).collect();
    (!modules.is_empty()).then_some(modules)
}
