//! What a rule's declaration says of guidelines and weaknesses, read from its Rust file: then what is derived follows the
//! folders, as the registry does, and needs no second build.

use std::io;
use std::path::Path;
use syn::{Expr, ExprLit, Item, Lit};

/// What a rule declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// `.guidelines(&["CUDA-1.4"])`.
    pub guidelines: Vec<String>,
    /// `.cwe(252)`.
    pub cwe: Option<u32>,
}

/// The declaration in a rule's file: the calls on its `static RULE`.
///
/// # Errors
/// When the file cannot be read, is no Rust, or has no such item.
pub fn declared(code: &Path) -> io::Result<Declared> {
    let wrong = |what: String| io::Error::other(format!("{}: {what}", code.display()));
    let file = syn::parse_file(&std::fs::read_to_string(code)?).map_err(|error| wrong(error.to_string()))?;
    let rule = file.items.into_iter().find_map(|item| match item {
        Item::Static(item) if item.ident == "RULE" => Some(*item.expr),
        _ => None,
    });
    let mut at = rule.ok_or_else(|| wrong("no `static RULE`".to_owned()))?;
    let mut declared = Declared::default();
    // From the last call to the first.
    while let Expr::MethodCall(call) = at {
        match (call.method.to_string().as_str(), call.args.first()) {
            ("guidelines", Some(Expr::Reference(list))) => {
                let Expr::Array(array) = &*list.expr else { return Err(wrong("guidelines are a list".to_owned())) };
                declared.guidelines = array.elems.iter().filter_map(text).collect();
            }
            ("cwe", Some(Expr::Lit(ExprLit { lit: Lit::Int(number), .. }))) => {
                declared.cwe = Some(number.base10_parse().map_err(|error| wrong(error.to_string()))?);
            }
            _ => {}
        }
        at = *call.receiver;
    }
    Ok(declared)
}

fn text(literal: &Expr) -> Option<String> {
    match literal {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
