//! Runs rules over files: walking, settings, dispatch, suppression, order. It is handed the rule table and knows no
//! rule by name.

pub mod rule;

pub use rule::{Check, ModuleContext, NodeContext, Rule, Sink};
