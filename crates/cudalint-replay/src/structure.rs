//! Facts that a module's code states without being run: execution spaces, kernel parameters, functions that
//! are no longer there, calls before and after `main`.

use crate::compile_logs::unread_logs;
use crate::ended::ended_calls;
use crate::facts::{Facts, ParameterFault, ParameterFaultKind};
use crate::forks::forks;
use crate::freed_twice::freed_twice;
use crate::parameters::parameter_faults;
use crate::spaces::space_faults;
use crate::statics::static_calls;
use cudalint_program::Project;
use cudalint_program::ir::ModuleId;
use cudalint_syntax::Language;

/// Fills in what the code of one module states.
pub fn add_structure(project: &Project, id: ModuleId, facts: &mut Facts) {
    let module = project.module(id);
    facts.unread_logs = unread_logs(project, id, &facts.status);
    if module.language == Language::Python {
        facts.forks = crate::python::forks::forks(project, id);
        return;
    }
    for (kernel, function) in module.functions.iter_enumerated() {
        if function.space.global && function.body.is_some() {
            // What hangs on the object is a fact of launches.
            let hangs = |fault: &ParameterFault| matches!(fault.kind, ParameterFaultKind::MayReleaseOnCopy { .. });
            let faults = parameter_faults(project, id, kernel).into_iter();
            facts.parameter_faults.extend(faults.filter(|fault| !hangs(fault)));
        }
    }
    facts.space_faults = space_faults(project, id);
    facts.forks = forks(project, id);
    facts.freed_twice = freed_twice(project, id);
    facts.static_calls = static_calls(project, id);
    facts.ended_calls = ended_calls(project, id);
}
