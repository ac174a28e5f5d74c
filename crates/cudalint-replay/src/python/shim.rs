//! x
use cudalint_kernel::Code;
use cudalint_kernel::python::{ArgumentType, Specialization};
use cudalint_program::Project;
use cudalint_program::ir::{FunctionId, ModuleId};
pub fn guess_arguments(_: &Project, _: ModuleId, _: FunctionId) -> Option<Vec<ArgumentType>> { None }
pub fn lower_python(_: &Project, _: ModuleId, _: FunctionId, _: &Specialization) -> Option<Code> { None }
