//! The walk over C++ host code: its state is in `walker.rs`, each other part is a kind of code that it follows.

// The walker's parts are methods, whether or not each needs its state, so that callers need not know; what it hands on
// is small, and its switches are independent.
#![allow(clippy::unused_self, clippy::needless_pass_by_value, clippy::struct_excessive_bools)]

mod algorithms;
mod apis;
mod arguments;
mod caches;
mod calls;
mod choices;
mod conditions;
mod construct;
mod containers;
mod copied;
mod copies;
mod crossing;
mod described;
mod devices;
mod early;
mod entered;
mod entry;
mod events;
mod exprs;
mod flow;
mod frames;
mod given;
mod guards;
mod handed;
mod inputs;
mod lambdas;
mod launches;
mod left_out;
mod library;
mod lifetimes;
mod lists;
mod lookups;
mod loops;
mod made;
mod meaning;
mod measured;
mod member_inits;
mod memo;
mod never;
mod operators;
mod order;
mod out;
mod overloads;
mod packed;
mod places;
mod programs;
mod questions;
mod recorded;
mod results;
mod rounds;
mod screens;
mod sends;
mod shapes;
mod started;
mod stmts;
mod switches;
mod throws;
mod timeline;
mod types;
mod unseen;
mod walker;

pub(crate) use caches::{Caches, Library};
use out::Out;
pub(crate) use walker::Walker;
use walker::{Frame, Slot};
