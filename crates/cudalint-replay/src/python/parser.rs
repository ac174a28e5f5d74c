//! `argparse`: a program's options have the values that they have when none is given.

use super::Walker;
use super::calls::Args;
use super::heap::{Instance, Obj};
use super::value::{Kind, Val};
use crate::host::NO_ARGUMENTS;
use crate::quantity::{AtomKind, assume};
use cudalint_program::Name;
use std::collections::BTreeMap;

/// The attribute by which an argument parser is told from other objects.
const PARSER: &str = "#argparse";

impl Walker<'_> {
    /// `argparse.ArgumentParser()`.
    pub(super) fn parser(&mut self) -> Val {
        let attributes = BTreeMap::from([(Name::from(PARSER), Val::none())]);
        let instance = Instance { class: None, attributes, open: false };
        Val::from(Kind::Instance(self.heap.add(Obj::Instance(instance))))
    }

    /// Whether a method of an object is one of an argument parser.
    pub(super) fn is_parser_method(&self, object: &Val, name: &str) -> bool {
        let Kind::Instance(id) = &object.kind else { return false };
        let Obj::Instance(instance) = self.heap.get(*id) else { return false };
        instance.attributes.contains_key(PARSER)
            && matches!(
                name,
                "add_argument" | "parse_args" | "parse_known_args" | "add_argument_group" | "set_defaults"
            )
    }

    /// A call of such a method. Arguments have the values that they have when none is given.
    pub(super) fn call_parser(&mut self, object: &Val, name: &str, args: &Args) -> Val {
        let Kind::Instance(id) = &object.kind else { return Val::unknown() };
        match name {
            "add_argument" => {
                let flags: Vec<String> =
                    args.positional.iter().filter_map(|flag| flag.str().map(ToOwned::to_owned)).collect();
                let long = flags.iter().find(|flag| flag.starts_with("--")).or_else(|| flags.first());
                let dest = args.named("dest").and_then(Val::str).map(ToOwned::to_owned);
                let Some(dest) = dest.or_else(|| long.map(|flag| flag.trim_start_matches('-').replace('-', "_")))
                else {
                    return Val::unknown();
                };
                let optional = flags.iter().any(|flag| flag.starts_with('-'));
                let integer = args
                    .named("type")
                    .is_some_and(|ty| matches!(&ty.kind, Kind::Package(path) if &**path == "builtins.int"));
                let action = args.named("action").and_then(Val::str).unwrap_or("").to_owned();
                let default = args.named("default").cloned();
                let value = match (default, action.as_str()) {
                    (Some(default), _) => default.because(&assume(NO_ARGUMENTS)),
                    (None, "store_true") => Val::boolean(false).because(&assume(NO_ARGUMENTS)),
                    (None, "store_false") => Val::boolean(true).because(&assume(NO_ARGUMENTS)),
                    (None, _) if optional => Val::none().because(&assume(NO_ARGUMENTS)),
                    (None, _) if integer => Val::from(Kind::Int(self.atoms.fresh(&dest, AtomKind::Input))),
                    (None, _) => Val::unknown(),
                };
                if let Obj::Instance(instance) = self.heap.get_mut(*id) {
                    instance.attributes.insert(Name::from(dest.as_str()), value);
                }
                Val::unknown()
            }
            "add_argument_group" => object.clone(),
            "parse_known_args" => Val::tuple(vec![object.clone(), Val::unknown()]),
            "parse_args" => object.clone(),
            _ => Val::unknown(),
        }
    }
}
