//! The launch of a kernel by itself, as the witness or a launch of the file has it.

use super::arguments::Writer;
use super::helpers::Helper;
use super::start::Start;
use super::template::Templates;
use crate::subject::{Signature, Stretch, Subject, calls};
use cudalint_findings::model::{FindingEntry, Method};
use cudalint_program::Scope;
use cudalint_program::ir::{Expr, ExprId, FunctionId, Module, Space};
use cudalint_program::types::TypeEnv;

/// The configuration of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Configuration {
    /// Blocks along x, y, z.
    pub grid: [u64; 3],
    /// Threads of a block along x, y, z.
    pub block: [u64; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u64,
    /// Where it is from.
    pub why: &'static str,
}

/// The configuration to launch a kernel with: the witness's, that of a launch in the file whose numbers are known, else a
/// usual one.
pub(super) fn configuration(
    finding: Option<&FindingEntry>,
    subject: &Subject,
    stretch: &Stretch,
    start: Start,
) -> Configuration {
    if let Some(launch) = finding.and_then(|finding| finding.claim.launch.as_ref()) {
        let (grid, block, shared_bytes) = (launch.grid, launch.block, launch.shared_bytes);
        return Configuration { grid, block, shared_bytes, why: "the launch of the finding's witness" };
    }
    let Some(module) = subject.module(stretch) else { return usual(0) };
    if let Some(found) = launched_with(subject, stretch, module, start.function) {
        return found;
    }
    usual(if uses_dynamic_shared(module, start.function) { 16 * 1024 } else { 0 })
}

fn usual(shared_bytes: u64) -> Configuration {
    Configuration { grid: [4, 1, 1], block: [256, 1, 1], shared_bytes, why: "a usual launch" }
}

fn uses_dynamic_shared(module: &Module, kernel: FunctionId) -> bool {
    module
        .functions
        .get(kernel)
        .is_some_and(|function| function.locals.iter().any(|local| local.space == Space::DynamicShared))
}

/// A launch of the kernel in the file whose configuration can be told.
fn launched_with(subject: &Subject, stretch: &Stretch, module: &Module, kernel: FunctionId) -> Option<Configuration> {
    let own = stretch.module?;
    for (index, function) in module.functions.iter().enumerate() {
        let scope = Scope::new(&subject.project, own, Some(FunctionId(index as u32)), &TypeEnv::default());
        for call in calls(module, function) {
            let Some(Expr::Launch(launch)) = module.exprs.get(call).map(|node| &node.kind) else { continue };
            let Some(Expr::Name { path, .. }) = module.exprs.get(launch.kernel).map(|node| &node.kind) else {
                continue;
            };
            let found = subject.project.kernel(own, &function.scope, path, Some(launch.args.len()));
            if found != Some((own, kernel)) {
                continue;
            }
            let shape = |at: usize| launch.config.get(at).and_then(|id| shape(&scope, module, *id));
            let shared = launch.config.get(2).map_or(Some(0), |id| scope.eval(*id));
            if let (Some(grid), Some(block), Some(shared)) = (shape(0), shape(1), shared) {
                let shared_bytes = u64::try_from(shared).ok()?;
                return Some(Configuration { grid, block, shared_bytes, why: "as the file launches it" });
            }
        }
    }
    None
}

/// `256`, `dim3(16, 16)`.
fn shape(scope: &Scope<'_>, module: &Module, id: ExprId) -> Option<[u64; 3]> {
    let number = |id: ExprId| scope.eval(id).and_then(|value| u64::try_from(value).ok()).filter(|value| *value > 0);
    if let Some(x) = number(id) {
        return Some([x, 1, 1]);
    }
    let Expr::Construct { args, .. } = &module.exprs.get(id)?.kind else { return None };
    let mut shape = [1; 3];
    for (slot, arg) in shape.iter_mut().zip(args) {
        *slot = number(*arg)?;
    }
    Some(shape)
}

/// The lines that launch a kernel.
pub(super) fn lines(
    writer: &mut Writer<'_>,
    subject: &Subject,
    stretch: &Stretch,
    start: Start,
    signature: &Signature,
    templates: &Templates,
    arguments: &[String],
) -> Vec<String> {
    let Configuration { grid, block, shared_bytes, why } = configuration(writer.finding, subject, stretch, start);
    let [grid_name, block_name, shared_name] =
        ["grid", "block", "shared_bytes"].map(|name| writer.fresh(&format!("harness_{name}"), 0));
    let kernel = format!("{}{}", signature.name, templates.arguments);
    let mut lines = vec![
        format!("// {why}"),
        format!(
            "const dim3 {grid_name}({}, {}, {}), {block_name}({}, {}, {});",
            grid[0], grid[1], grid[2], block[0], block[1], block[2]
        ),
        format!("const size_t {shared_name} = {shared_bytes};"),
    ];
    // Where the launch itself is the defect, it is not looked at beforehand.
    if writer.finding.is_none_or(|finding| finding.verification.method != Method::ApiError) {
        writer.need(&[Helper::Fits]);
        lines.push(format!("harness_fits({kernel}, {block_name}, {shared_name});"));
    }
    lines.push(format!("{kernel}<<<{grid_name}, {block_name}, {shared_name}>>>({});", arguments.join(", ")));
    lines.push("harness_check(cudaGetLastError(), \"the launch\");".to_owned());
    lines
}
