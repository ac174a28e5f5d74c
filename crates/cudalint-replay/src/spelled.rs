//! Names as somebody would write them, where the source has a macro in their place.

use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId, Module};

/// The name of a launched kernel: as it is written, or, where a macro stands for the whole launch, as that spells it.
pub(crate) fn kernel_name(module: &Module, kernel: ExprId, text: &str) -> String {
    let Some(Expr::Name { path, .. }) = module.exprs.get(kernel).map(|node| &node.kind) else { return text.to_owned() };
    let written = text.split('<').next().unwrap_or(text).trim_end();
    match path.last() {
        Some(name) if !written.ends_with(name.as_str()) => {
            path.segments.iter().map(Name::as_str).collect::<Vec<_>>().join("::")
        }
        _ => text.to_owned(),
    }
}
