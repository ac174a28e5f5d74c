//! What may order accesses in a way that is not followed.

use super::copy::Copy;
use super::order::{identifiers, unfollowed};
use super::sites::runs_on_device;
use cudalint_program::Project;
use std::collections::{BTreeSet, HashMap};

/// Something in the device functions around the sites, their callers and what those call that may order accesses in a way
/// that is not followed.
pub fn hidden_order(project: &Project, copy: &Copy) -> Option<String> {
    struct Reached {
        words: BTreeSet<String>,
        unfollowed: Option<String>,
        name: String,
    }
    let mut functions: Vec<Reached> = Vec::new();
    let mut bodies: HashMap<String, String> = HashMap::new();
    for id in project.modules() {
        let module = project.module(id);
        for (function_id, function) in module.functions.iter_enumerated() {
            if function.body.is_some() && runs_on_device(module, function_id) {
                let text = project.text(id, function.span);
                let name = function.name.as_str().to_owned();
                functions.push(Reached { words: identifiers(text), unfollowed: unfollowed(text), name });
            }
        }
        for definition in &module.macros {
            bodies.entry(definition.name.as_str().to_owned()).or_default().push_str(&definition.body);
        }
    }
    // Up to the kernels that lead to the sites.
    let mut names: BTreeSet<String> = copy.sites.iter().map(|site| site.function.clone()).collect();
    loop {
        let callers: Vec<String> = functions
            .iter()
            .filter(|function| !names.contains(&function.name) && !function.words.is_disjoint(&names))
            .map(|function| function.name.clone())
            .collect();
        if callers.is_empty() {
            break;
        }
        names.extend(callers);
    }
    // And down to all that these call, macros included.
    let mut open: Vec<String> = names.into_iter().collect();
    let mut seen: BTreeSet<String> = open.iter().cloned().collect();
    while let Some(name) = open.pop() {
        let called = functions.iter().filter(|function| function.name == name);
        for function in called {
            if function.unfollowed.is_some() {
                return function.unfollowed.clone();
            }
            open.extend(function.words.iter().filter(|word| seen.insert((*word).clone())).cloned());
        }
        if let Some(body) = bodies.get(&name) {
            if let Some(word) = unfollowed(body) {
                return Some(word);
            }
            open.extend(identifiers(body).into_iter().filter(|word| seen.insert(word.clone())));
        }
    }
    None
}
