//! Names that a program uses and that nothing declares.

use cudalint_program::api::effects::Library;
use cudalint_program::ir::{Function, Module, ModuleId, Path};
use cudalint_program::{Name, Project};

/// Names of the toolchain's headers that no project declares, beside those with a telling prefix.
const KNOWN: &[&str] = &[
    "NULL",
    "EOF",
    "stdin",
    "stdout",
    "stderr",
    "errno",
    "true",
    "false",
    "nullptr",
    "this",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "RAND_MAX",
    "EXIT_SUCCESS",
    "EXIT_FAILURE",
    "CLOCKS_PER_SEC",
    "BUFSIZ",
    "PATH_MAX",
    "SEEK_SET",
    "SEEK_CUR",
    "SEEK_END",
    "INFINITY",
    "NAN",
    "HUGE_VAL",
    "endl",
    "cout",
    "cerr",
    "cin",
    "flush",
    "left",
    "right",
    "fixed",
    "setprecision",
    "setw",
    "hex",
    "dec",
    "optarg",
    "optind",
    "opterr",
    "optopt",
    "environ",
    "string",
    "vector",
];

/// Starts of such names.
const PREFIXES: &[&str] = &[
    "CU", "CUBLAS", "CUDA", "NVRTC", "cg", "thrust", "std", "__", "INT", "UINT", "FLT_", "DBL_", "LDBL_", "CHAR_",
    "SCHAR_", "UCHAR_", "SHRT_", "USHRT_", "LONG_", "ULONG_", "LLONG_", "ULLONG_", "SIZE_", "M_", "CLOCK_", "SIG",
    "PRI", "O_", "S_I", "E",
];

/// Whether a name of one segment, used in a function as a variable, is declared nowhere in sight and belongs to no
/// header of the toolchain.
pub(super) fn is_undeclared(project: &Project, id: ModuleId, function: &Function, name: &Name) -> bool {
    let text = name.as_str();
    if text.is_empty() || KNOWN.contains(&text) || has_known_prefix(text) || project.has_macro(id, text) {
        return false;
    }
    // Several declarations of one name leave open which is meant, but declared it is.
    if project.modules().any(|module| project.module(module).globals.iter().any(|global| global.name == *name)) {
        return false;
    }
    let path = Path::single(name.clone());
    let inside = &function.scope;
    if project.enumerator(id, inside, &path).is_some()
        || project.record(id, inside, &path).is_some()
        || project.alias(id, inside, &path).is_some()
        || !project.functions_named(text).is_empty()
    {
        return false;
    }
    let module = project.module(id);
    // Of a class that is out of sight nobody can tell the members.
    let of_class = project.source(id).get(..function.name_span.start as usize).is_some_and(|text| text.ends_with("::"));
    let seen = function
        .scope
        .last()
        .is_none_or(|last| module.records.iter().any(|record| record.name == *last && record.defined));
    if of_class && !seen {
        return false;
    }
    !(is_template_parameter(module, function, text) || is_captured(function, text) || is_member(module, function, text))
}

/// `cudaSuccess` has a known prefix, `cube` has none: what follows a prefix of lower case is a capital.
fn has_known_prefix(text: &str) -> bool {
    let of_library = Library::of_name(text).is_some();
    of_library
        || PREFIXES.iter().any(|prefix| {
            text.strip_prefix(prefix).is_some_and(|rest| match prefix.chars().last() {
                Some(last) if last.is_ascii_lowercase() => rest.starts_with(|c: char| c.is_ascii_uppercase()),
                Some('_') => true,
                _ => {
                    rest.is_empty()
                        || rest.contains('_')
                        || rest.starts_with(|c: char| c.is_ascii_digit())
                        || *prefix == "E" && rest.len() > 2 && rest.chars().all(|c| c.is_ascii_uppercase())
                }
            })
        })
}

fn is_template_parameter(module: &Module, function: &Function, name: &str) -> bool {
    let owner = function.scope.last().and_then(|last| module.records.iter().find(|record| record.name == *last));
    let params = function.template_params.iter().chain(owner.into_iter().flat_map(|record| &record.template_params));
    params.into_iter().any(|param| param.name == *name)
}

/// Whether it is a variable that a lambda takes from around it.
fn is_captured(function: &Function, name: &str) -> bool {
    function.parent.is_some() || function.captures.iter().any(|(captured, _)| captured == name)
}

/// Whether it is a member of a class around the function; of classes with bases nobody can tell.
fn is_member(module: &Module, function: &Function, name: &str) -> bool {
    function.scope.segments.iter().any(|segment| {
        module
            .records
            .iter()
            .filter(|record| record.name == *segment)
            .any(|record| !record.bases.is_empty() || record.fields.iter().any(|field| field.name == *name))
    })
}
