//! Which module defines what a path names.

use super::read::{Crate, ModuleIndex};
use std::collections::BTreeMap;

/// Where one module names what another defines.
pub type Uses = BTreeMap<(ModuleIndex, ModuleIndex), String>;

/// Imports that lead to imports are followed so far.
const MAX_STEPS: u32 = 16;

/// What a path leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// A module itself.
    Module(ModuleIndex),
    /// Something that this module defines.
    Item(ModuleIndex),
}

/// Which module names what another defines, with the first place that does.
pub fn uses(read: &Crate) -> Uses {
    let mut found = Uses::new();
    for (from, module) in read.modules.iter_enumerated() {
        for (path, line) in &module.paths {
            if let Some(Target::Item(to)) = target(read, from, path, 0)
                && to != from
            {
                let file = module.file.file_name().unwrap_or_default().to_string_lossy();
                found.entry((from, to)).or_insert_with(|| format!("{file}:{line} names {}", path.join("::")));
            }
        }
    }
    found
}

/// What `path` means in `module`; `None` for other crates, locals, and what cannot be told.
fn target(read: &Crate, module: ModuleIndex, path: &[String], steps: u32) -> Option<Target> {
    if steps > MAX_STEPS {
        return None;
    }
    let (first, rest) = path.split_first()?;
    let mut at = match first.as_str() {
        "crate" => Target::Module(ModuleIndex(0)),
        "self" => Target::Module(module),
        "super" => Target::Module(read.modules[module].parent?),
        name => named(read, module, name, !rest.is_empty(), steps)?,
    };
    for (index, name) in rest.iter().enumerate() {
        let inside_it = index + 1 < rest.len();
        at = match at {
            Target::Module(inside) if name == "super" => Target::Module(read.modules[inside].parent?),
            Target::Module(inside) => named(read, inside, name, inside_it, steps)?,
            Target::Item(_) => return Some(at),
        };
    }
    Some(at)
}

/// What a name means in a module. `path_goes_on`: it stands before `::`, where a module hides a function of its name.
fn named(read: &Crate, module: ModuleIndex, name: &str, path_goes_on: bool, steps: u32) -> Option<Target> {
    let scope = &read.modules[module];
    if path_goes_on && let Some(child) = scope.children.get(name) {
        return Some(Target::Module(*child));
    }
    if scope.items.contains(name) {
        return Some(Target::Item(module));
    }
    if let Some(child) = scope.children.get(name) {
        return Some(Target::Module(*child));
    }
    if let Some(path) = scope.imports.get(name) {
        // `use name::…` of another crate is no import of itself.
        return if path.first().is_some_and(|first| first == name) {
            None
        } else {
            target(read, module, path, steps + 1)
        };
    }
    if scope.made.contains(name) {
        return Some(Target::Item(module));
    }
    scope.globs.iter().find_map(|path| {
        let Target::Module(from) = target(read, module, path, steps + 1)? else { return None };
        if from == module || steps >= MAX_STEPS { None } else { named(read, from, name, path_goes_on, steps + 1) }
    })
}
