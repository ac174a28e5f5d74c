//! Programs that are compiled at run time by code that nowhere asks for what the compiler says.

use crate::facts::{FunctionStatus, StatusUse, UnreadLog};
use cudalint_program::Project;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Effect;
use cudalint_program::ir::ModuleId;
use memchr::memmem::Finder;

/// The calls of one module that compile a program whose failure is looked at, where nobody in the project asks for the log.
pub(crate) fn unread_logs(project: &Project, id: ModuleId, status: &[FunctionStatus]) -> Vec<UnreadLog> {
    let mut found = Vec::new();
    for function in status.iter().filter(|function| !function.damaged) {
        for call in function.calls.iter().filter(|call| call.usage == StatusUse::Consumed) {
            if ApiId::named(&call.api).is_some_and(compiles) {
                found.push(UnreadLog { function: function.function, api: call.api.clone(), span: call.span });
            }
        }
    }
    // Most modules end here. A header that is not here may have the function that asks.
    if found.is_empty() || project.includes().reach(id.0).missing {
        return Vec::new();
    }
    let asking: Vec<Finder<'_>> =
        ApiId::spellings().filter(|(_, api)| api.gives_log()).map(|(name, _)| Finder::new(name)).collect();
    let asks = |other: ModuleId| asking.iter().any(|name| name.find(project.source(other).as_bytes()).is_some());
    if project.modules().any(asks) { Vec::new() } else { found }
}

fn compiles(api: ApiId) -> bool {
    api.effects.iter().any(|effect| matches!(effect, Effect::Compiles(_)))
}
