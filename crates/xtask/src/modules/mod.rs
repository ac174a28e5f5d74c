//! `cargo xtask modules`: circles between the modules of a crate.
//!
//! A module depends on another when its code names something that the other defines: a type, a function, a constant, a
//! macro. What a module only hands on (`pub use`) belongs to the module that defines it, so that a `mod.rs` may collect
//! the names of its children. Tests are left out. Methods are invisible here: `value.method()` names no module.

mod read;
mod resolve;

use read::{Crate, ModuleIndex};
use resolve::Uses;
use std::path::{Path, PathBuf};
use typed_index_collections::{TiVec, ti_vec};

/// Prints the circles of all crates below `root`; it is an error when there is one.
pub fn run(root: &Path) -> Result<(), String> {
    let mut found = 0;
    for library in libraries(root)? {
        let package = read::package(&library)?;
        for (circle, uses) in circles(&library)? {
            println!("{package}: {} modules depend on each other", circle.len());
            for (from, to, example) in uses {
                println!("  {from} -> {to}: {example}");
            }
            found += 1;
        }
    }
    if found == 0 { Ok(()) } else { Err(format!("{found} circles between modules")) }
}

/// The root files of all crates of the workspace.
fn libraries(root: &Path) -> Result<Vec<PathBuf>, String> {
    let crates = root.join("crates");
    let entries = std::fs::read_dir(&crates).map_err(|error| format!("{}: {error}", crates.display()))?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.extend([root.join("rules"), root.join("verify")]);
    folders.sort();
    let roots = folders.iter().flat_map(|folder| ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file)));
    Ok(roots.filter(|file| file.is_file()).collect())
}

/// A circle: its modules, and for each two of them where one names what the other defines.
type Circle = (Vec<String>, Vec<(String, String, String)>);

/// The circles of the crate with this root file.
fn circles(library: &Path) -> Result<Vec<Circle>, String> {
    let read = Crate::read(library)?;
    let uses = resolve::uses(&read);
    let found = components(&read, &uses).into_iter().filter(|members| members.len() > 1);
    let mut circles: Vec<Circle> = found
        .map(|members| {
            let name = |module: ModuleIndex| read.modules[module].path.clone();
            let inside = uses.iter().filter(|((from, to), _)| members.contains(from) && members.contains(to));
            let uses = inside.map(|((from, to), example)| (name(*from), name(*to), example.clone())).collect();
            let mut names: Vec<String> = members.iter().map(|module| name(*module)).collect();
            names.sort();
            (names, uses)
        })
        .collect();
    circles.sort();
    Ok(circles)
}

/// Modules that reach each other (strongly connected components, by Kosaraju's two passes).
fn components(read: &Crate, uses: &Uses) -> Vec<Vec<ModuleIndex>> {
    let mut forth: TiVec<ModuleIndex, Vec<ModuleIndex>> = ti_vec![Vec::new(); read.modules.len()];
    let mut back = forth.clone();
    for (from, to) in uses.keys() {
        forth[*from].push(*to);
        back[*to].push(*from);
    }
    let mut seen: TiVec<ModuleIndex, bool> = ti_vec![false; read.modules.len()];
    let order: Vec<ModuleIndex> = read.modules.keys().flat_map(|start| finished(start, &forth, &mut seen)).collect();
    seen.iter_mut().for_each(|seen| *seen = false);
    order.iter().rev().map(|start| finished(*start, &back, &mut seen)).collect()
}

/// What is reached from `start` and was not seen before, those first that lead to nothing new.
fn finished(
    start: ModuleIndex,
    edges: &TiVec<ModuleIndex, Vec<ModuleIndex>>,
    seen: &mut TiVec<ModuleIndex, bool>,
) -> Vec<ModuleIndex> {
    let mut done = Vec::new();
    let mut open = vec![(start, 0)];
    if std::mem::replace(&mut seen[start], true) {
        return done;
    }
    while let Some((module, next)) = open.pop() {
        let Some(to) = edges[module].get(next) else {
            done.push(module);
            continue;
        };
        open.push((module, next + 1));
        if !std::mem::replace(&mut seen[*to], true) {
            open.push((*to, 0));
        }
    }
    done
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::circles;

    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        circles(&folder.path().join("lib.rs")).unwrap().into_iter().map(|(names, _)| names).collect()
    }

    #[test]
    fn two_modules_that_name_each_other_are_a_circle() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            ("b.rs", "pub struct B; pub fn f() -> usize { size_of::<super::a::A>() }"),
        ];
        assert_eq!(found(&files), [["crate::a", "crate::b"]]);
    }

    #[test]
    fn names_that_are_handed_on_belong_to_who_defines_them() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b; mod c; pub use b::B; pub use c::*;"),
            ("a/b.rs", "pub struct B;"),
            ("a/c.rs", "use super::B; pub struct C(B);"),
        ];
        assert_eq!(found(&files), Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_child_that_uses_its_parent_which_uses_the_child_is_a_circle() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a.rs", "mod b; pub struct A; pub fn f() { b::g(); }"),
            ("a/b.rs", "use super::*; pub fn g() { let _ = A; }"),
        ];
        assert_eq!(found(&files), [["crate::a", "crate::a::b"]]);
    }

    #[test]
    fn paths_in_macros_and_names_that_macros_define_count_and_tests_do_not() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "ids! { /// An id.\n X; } pub fn f() -> String { format!(\"{}\", crate::b::g()) }"),
            ("b.rs", "pub fn g() -> u32 { let _: crate::a::X; 1 }"),
        ];
        assert_eq!(found(&files), [["crate::a", "crate::b"]]);
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }"),
            ("b.rs", "use crate::a::A; pub struct B(A);"),
        ];
        assert_eq!(found(&files), Vec::<Vec<String>>::new());
    }
}
