//! A kernel with data in place of a host program: device code that the run-time compiler can build, and the launch.

use super::launch::{self, Configuration};
use super::start::Start;
use super::template;
use super::values::Chosen;
use super::{numbers, page};
use crate::scenario::{KernelArgument, KernelProgram, Program};
use crate::subject::{Parameter, Scan, Stretch, Subject, Var, variable_uses};
use cudalint_findings::model::FindingEntry;
use cudalint_program::ir::{Function, FunctionRole, Module, Space, Variable};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::{Entry, Name, Project, Scope};
use cudalint_syntax::Span;

/// Elements of a buffer whose size nothing states.
const ELEMENTS: u64 = 4 << 20;
/// Buffers behind a pointer to pointers.
const SLOTS: usize = 1024;

/// The launch of one kernel as data.
///
/// # Errors
/// What cannot be said as data, and why.
pub(super) fn program(
    finding: Option<&FindingEntry>,
    subject: &Subject,
    stretch: &Stretch,
    start: Start,
) -> Result<Program, String> {
    let module = subject.module(stretch).ok_or("no CUDA C++")?;
    let signature = subject.signature(stretch, start.function).ok_or("the kernel is out of sight")?;
    let templates = template::choose(subject, stretch, start.function, &signature)?;
    let (chosen, _) = numbers::choose(finding, subject, stretch, start, &signature, numbers::Variant::Usual);
    let extents = numbers::extents(finding, subject, stretch, start);
    let env = TypeEnv::new(
        templates.values.iter().map(|(name, value)| (name.as_str().into(), value.meaning.clone())).collect(),
    );
    let scope = Scope::new(&subject.project, stretch.module.ok_or("no CUDA C++")?, Some(start.function), &env);
    let mut arguments = Vec::new();
    for parameter in &signature.parameters {
        let resolved = scope.resolve(parameter.ir);
        let extent = extents.get(&parameter.local).copied();
        arguments.push(argument(
            parameter,
            &resolved,
            (&subject.project, &scope),
            chosen.get(&parameter.local),
            extent,
        )?);
    }
    let Configuration { grid, block, shared_bytes, .. } = launch::configuration(finding, subject, stretch, start);
    let values: Vec<&str> = templates.values.iter().map(|(_, value)| value.text.as_str()).collect();
    let targs = if values.is_empty() { String::new() } else { format!("<{}>", values.join(", ")) };
    let mut flags: Vec<String> =
        page::flags(subject, stretch, &[]).into_iter().filter(|flag| is_for_device(flag)).collect();
    if let Some(folder) = subject.file.parent() {
        flags.push(format!("-I{folder}"));
    }
    // Functions that say nothing of where they run are the device's here.
    flags.push("-default-device".to_owned());
    Ok(Program::Kernel(KernelProgram {
        source: device_text(subject, stretch, module),
        name: format!("{}{targs}", signature.name),
        flags,
        grid,
        block,
        shared_bytes,
        // A program that never asks for more than 48 KiB must see its launch fail.
        shared_opt_in: subject.slice(stretch.region.span).contains("MaxDynamicSharedMemorySize"),
        arguments,
        globals: globals(subject, stretch, module, start, &scope),
    }))
}

fn is_for_device(flag: &str) -> bool {
    ["-I", "-D", "-U", "-std", "--std"].iter().any(|start| flag.starts_with(start))
}

fn argument(
    parameter: &Parameter,
    resolved: &Ty,
    (project, scope): (&Project, &Scope<'_>),
    chosen: Option<&Chosen>,
    extent: Option<i64>,
) -> Result<KernelArgument, String> {
    let refuse = |why: &str| format!("no argument can be made as data for parameter `{}`: {why}", parameter.name);
    let number = chosen.map_or(1, |chosen| chosen.value);
    Ok(match resolved.value() {
        Ty::Pointer(to) => match &**to {
            Ty::Pointer(inner) => {
                let bytes = element_bytes(scope, inner) * (1 << 12);
                KernelArgument::Pointers(vec![bytes; SLOTS])
            }
            Ty::Function => return Err(refuse("it is a function")),
            element => {
                let count = extent.and_then(|extent| u64::try_from(extent).ok()).unwrap_or(ELEMENTS);
                KernelArgument::Buffer { bytes: element_bytes(scope, element).saturating_mul(count), filled: true }
            }
        },
        Ty::Bool => KernelArgument::Value(vec![u8::from(number != 0)]),
        Ty::Int { bytes, .. } | Ty::Enum { bytes, .. } => {
            KernelArgument::Value(number.to_le_bytes().into_iter().take(usize::from(*bytes)).collect())
        }
        Ty::Float { bytes: 8 } => KernelArgument::Value(1.0f64.to_le_bytes().to_vec()),
        Ty::Float { bytes: 4 } => KernelArgument::Value(1.0f32.to_le_bytes().to_vec()),
        ty @ (Ty::Float { .. } | Ty::Vector { .. }) => {
            let bytes = scope.size_of(ty).and_then(|bytes| usize::try_from(bytes).ok());
            KernelArgument::Value(vec![0; bytes.ok_or_else(|| refuse("its size is not known"))?])
        }
        ty @ Ty::Record(entry, env) if is_plain(project, *entry, env) => {
            let bytes = scope.size_of(ty).and_then(|bytes| usize::try_from(bytes).ok());
            KernelArgument::Value(vec![0; bytes.ok_or_else(|| refuse("its size is not known"))?])
        }
        _ => return Err(refuse("it is no number and no pointer")),
    })
}

/// Whether a record holds numbers alone.
fn is_plain(project: &Project, entry: Entry, env: &TypeEnv) -> bool {
    let Some(record) = project.record_at(entry) else { return false };
    let scope = Scope::new(project, entry.module, None, env);
    let plain = |field: &Variable| {
        matches!(
            scope.resolve(field.ty),
            Ty::Int { .. } | Ty::Bool | Ty::Float { .. } | Ty::Vector { .. } | Ty::Enum { .. }
        )
    };
    record.bases.is_empty() && !record.has_virtual && record.fields.iter().all(plain)
}

/// The size of an element; the largest number's where it is not known.
fn element_bytes(scope: &Scope<'_>, ty: &Ty) -> u64 {
    match ty {
        Ty::Void => 1,
        ty => scope.size_of(ty).and_then(|bytes| u64::try_from(bytes).ok()).filter(|bytes| *bytes > 0).unwrap_or(8),
    }
}

/// Numbers in constant memory that the kernel reads and the file gives no value.
fn globals(
    subject: &Subject,
    stretch: &Stretch,
    module: &Module,
    start: Start,
    scope: &Scope<'_>,
) -> Vec<(String, Vec<u8>)> {
    let Some(id) = stretch.module else { return Vec::new() };
    let used = variable_uses(&subject.project, id, start.function);
    let mut found = Vec::new();
    for var in used.into_keys() {
        let Var::Global(index) = var else { continue };
        let Some(variable) = module.globals.get(index as usize) else { continue };
        if variable.space != Space::Constant || variable.init.is_some() {
            continue;
        }
        let scoped = variable.scope.segments.iter().filter(|name| !name.is_empty()).map(Name::as_str);
        let name = scoped.chain([variable.name.as_str()]).collect::<Vec<_>>().join("::");
        let ty = scope.resolve(variable.ty);
        let (element, count) = match &ty {
            Ty::Array(element, count) => {
                let Some(count) = count.known() else { continue };
                (element.as_ref(), usize::try_from(count).unwrap_or(0))
            }
            other => (other, 1),
        };
        let one: Vec<u8> = match element {
            Ty::Int { bytes, .. } => {
                let value = if count > 1 { 1 } else { super::values::usual(&variable.name, *bytes, 1).value };
                value.to_le_bytes().into_iter().take(usize::from(*bytes)).collect()
            }
            Ty::Float { bytes: 8 } => 1.0f64.to_le_bytes().to_vec(),
            Ty::Float { bytes: 4 } => 1.0f32.to_le_bytes().to_vec(),
            _ => continue,
        };
        found.push((name, one.repeat(count.min(1 << 14))));
    }
    found
}

/// What headers of the host would have declared.
const BUILT_IN: &str = "\
namespace std {}
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t, ushort;
typedef int int32_t;
typedef unsigned int uint32_t, uint;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned long ulong;
";

/// The stretch without its host code: functions of the host and headers of the host are blank, all else stands on its
/// own line.
pub(super) fn device_text(subject: &Subject, stretch: &Stretch, module: &Module) -> String {
    let host = module.functions.iter().filter(|function| is_host_only(function));
    let mut blank: Vec<Span> = host.map(|function| with_template_head(&subject.text, function.span)).collect();
    blank.extend(
        module.includes.iter().filter(|include| include.system && !is_device_header(&include.target)).map(|it| it.span),
    );
    let span = stretch.region.span;
    let mut bytes = subject.slice(span).as_bytes().to_vec();
    for hole in blank {
        let from = hole.start.saturating_sub(span.start) as usize;
        let to = (hole.end.saturating_sub(span.start) as usize).min(bytes.len());
        for byte in bytes.get_mut(from..to).unwrap_or(&mut []) {
            if *byte != b'\n' && *byte != b'\r' {
                *byte = b' ';
            }
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let line = subject.line_of(span.start);
    format!("{BUILT_IN}#line {line} \"{}\"\n{text}", page::shown(&subject.path))
}

/// A definition with the `template <…>` before it.
fn with_template_head(text: &str, span: Span) -> Span {
    let before = text.get(..span.start as usize).unwrap_or("");
    let Some(at) = before.rfind("template") else { return span };
    let mut scan = Scan { bytes: before.as_bytes(), at: at + "template".len() };
    if scan.skip_blank() == Some(b'<') {
        scan.matching();
        if scan.skip_blank().is_none() {
            return Span::new(at, span.end as usize);
        }
    }
    span
}

fn is_host_only(function: &Function) -> bool {
    function.body.is_some()
        && !function.space.global
        && !function.space.device
        && !function.is_constexpr
        && matches!(function.role, FunctionRole::Free)
}

/// Headers that the run-time compiler has.
fn is_device_header(target: &str) -> bool {
    const NAMES: [&str; 8] = [
        "cooperative_groups.h",
        "cuda_fp16.h",
        "cuda_bf16.h",
        "cuda_fp8.h",
        "mma.h",
        "curand_kernel.h",
        "math_constants.h",
        "cuda_pipeline.h",
    ];
    NAMES.contains(&target) || ["cuda/", "cub/", "cooperative_groups/"].iter().any(|start| target.starts_with(start))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::subject::Subject;

    #[test]
    fn host_code_is_blank_and_lines_stay() {
        let folder = std::env::temp_dir().join(format!("cudalint-device-text-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let text = "#include <vector>\n\ntemplate <typename T>\nvoid host(T *p) {\n    std::vector<T> é;\n}\n\n__global__ void k(int *p) { *p = 1; }\n";
        std::fs::write(folder.join("a.cu"), text).unwrap();
        let root = camino::Utf8PathBuf::from_path_buf(folder.clone()).unwrap();
        let subject = Subject::read(&root, "a.cu", &[]).unwrap();
        let stretch = subject.stretches.first().unwrap();
        let device = super::device_text(&subject, stretch, subject.module(stretch).unwrap());
        std::fs::remove_dir_all(folder).unwrap();
        let lines: Vec<&str> = device.lines().skip_while(|line| !line.starts_with("#line ")).skip(1).collect();
        assert_eq!(lines.len(), text.lines().count());
        assert_eq!(lines.iter().map(|line| line.trim()).collect::<String>(), "__global__ void k(int *p) { *p = 1; }");
        assert_eq!(*lines.last().unwrap(), text.lines().last().unwrap());
    }
}
