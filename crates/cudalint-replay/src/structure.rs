//! Facts that a module's code states without being run: kernels, execution spaces, kernel parameters.

use crate::facts::{EventKind, Facts, ParameterFault};
use crate::kernel::summarize;
use crate::parameters::parameter_faults;
use crate::spaces::space_faults;
use cudalint_program::Project;
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_program::types::TypeEnv;
use cudalint_syntax::Language;
use std::sync::Arc;

/// Fills in what the code of one module states.
pub fn add_structure(project: &Project, id: ModuleId, facts: &mut Facts) {
    let module = project.module(id);
    if module.language == Language::Python {
        for (kernel, made) in &facts.python_kernels {
            let summary = crate::python::summary::summarize(project, (id, *kernel), made);
            facts.kernels.push((*kernel, Arc::new(summary)));
        }
        return;
    }
    for (index, function) in module.functions.iter().enumerate() {
        if !function.space.global || function.body.is_none() {
            continue;
        }
        let kernel = FunctionId(index as u32);
        let env = TypeEnv::unbound(&function.template_params);
        // A launch in the same file has asked for it.
        let known = facts.events.iter().find_map(|event| match &event.kind {
            EventKind::Launch(launch) if launch.kernel == Some((id, kernel)) && launch.env == env => {
                launch.kernel_summary.clone()
            }
            _ => None,
        });
        let summary = known.unwrap_or_else(|| Arc::new(summarize(project, id, kernel, &env)));
        facts.kernels.push((kernel, summary));
        let faults: Vec<ParameterFault> = parameter_faults(project, id, kernel);
        facts.parameter_faults.extend(faults);
    }
    facts.space_faults = space_faults(project, id);
}
