//! Programs in strings that no compiler takes: what is launched of them is never launched.

use super::Walker;
use super::calls::Args;
use super::value::{Kind, Maker, Val};
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId, Function, FunctionRole, Module, ModuleId, Type, TypeId};
use cudalint_program::visit::{Item, walk};

/// Headers whose names in capitals are told by how they begin and end (`STARTS`, `ENDS`).
const HEADERS: [&str; 17] = [
    "assert.h",
    "cmath",
    "cstdint",
    "cstdio",
    "cstdlib",
    "cstring",
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "curand.h",
    "curand_kernel.h",
    "device_launch_parameters.h",
    "math.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
];
/// How names in capitals begin that compilers and these headers define.
#[rustfmt::skip]
const STARTS: [&str; 37] = [
    "_", "BUFSIZ", "CHAR_", "CLOCK", "CU", "DBL_", "EOF", "EXIT_", "FALSE", "FD_", "FLT_", "FOPEN", "FP_", "HUGE", "INF",
    "INT", "LC_", "LDBL_", "LONG_", "L_", "M_", "MATH_", "MAXFLOAT", "NAN", "NFDBITS", "NULL", "NV", "P_", "RAND_",
    "SCHAR_", "SEEK_", "SIG", "SIZE_", "TIME", "TRUE", "UINT", "XATTR",
];
/// How they end.
#[rustfmt::skip]
const ENDS: [&str; 10] = ["_MAX", "_MIN", "_BIT", "_ENDIAN", "_ORDER", "_T", "_C", "_EXCEPTION", "_H", "FLOW"];
/// Those that neither tells.
#[rustfmt::skip]
const OTHERS: [&str; 15] = [
    "I", "DOMAIN", "SING", "PLOSS", "TLOSS", "X_TLOSS", "WNOHANG", "WUNTRACED", "WSTOPPED", "WEXITED", "WCONTINUED", "WNOWAIT",
    "NR_OPEN", "PIPE_BUF", "NBBY",
];
/// How deep extents and types nest.
const MAX_DEPTH: u32 = 16;

impl Walker<'_> {
    /// Whether the compiler surely refuses a program: its text is one literal, and an array in it has an extent that a parameter
    /// decides, or a name in capitals stands in it that nobody defines.
    pub(super) fn is_refused(&self, code: &Val, module: Option<ModuleId>, maker: Maker, args: &Args) -> bool {
        let (Some(id), Kind::Str(text)) = (module, &code.kind) else { return false };
        let (Some(known), Some(origin)) = (text.whole.as_deref(), text.origin) else { return false };
        let compiles = matches!(maker, Maker::Cupy | Maker::PyCuda) && code.why.is_none();
        // What was replaced in it, or put around it, may define what is missing.
        // Python reads the ends of lines as its own.
        let written = self.project.text(origin.module, origin.span).replace("\r\n", "\n");
        if !compiles || known.is_empty() || !written.contains(known) {
            return false;
        }
        let program = self.project.module(id);
        let whole = program.damage.is_empty() && program.cuts.is_empty() && program.supposed.is_empty();
        let in_sight = program.includes.iter().all(|include| HEADERS.contains(&&*include.target));
        if !whole || !in_sight || program.cupy_body.is_some() {
            return false;
        }
        let undefined = |name: &Name| self.is_undefined(id, name, known) && !self.options_define(args, maker, name);
        program.functions.iter().any(|function| {
            let plain = function.template_params.is_empty()
                && function.scope.segments.is_empty()
                && function.role == FunctionRole::Free
                && function.body.is_some()
                && !function.damaged;
            // Compilers of host code take arrays of any size.
            let on_device = function.space.global || function.space.device;
            plain && (on_device && has_extent_of_parameter(program, function) || uses(program, function, &undefined))
        })
    }

    /// Whether nothing that a compiler sees defines a name.
    fn is_undefined(&self, id: ModuleId, name: &Name, text: &str) -> bool {
        let program = self.project.module(id);
        let capitals = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if !capitals
            || OTHERS.contains(&name.as_str())
            || STARTS.iter().any(|start| name.starts_with(start))
            || ENDS.iter().any(|end| name.ends_with(end))
            || self.project.has_macro(id, name)
        {
            return false;
        }
        let declared = program.globals.iter().any(|variable| variable.name == *name)
            || program.records.iter().any(|record| {
                record.name == *name
                    || record.fields.iter().any(|field| field.name == *name)
                    || record.template_params.iter().any(|param| param.name == *name)
            })
            || program.aliases.iter().any(|alias| alias.name == *name)
            || program.enumerators.iter().any(|enumerator| enumerator.name == *name || enumerator.of == *name)
            || program.functions.iter().any(|function| {
                function.name == *name
                    || function.locals.iter().any(|local| local.name == *name)
                    || function.template_params.iter().any(|param| param.name == *name)
            });
        // A directive that speaks of it has its reasons.
        let directed = |line: &str| {
            let line = line.trim_start();
            line.starts_with('#') && !line.contains("pragma") && line.contains(name.as_str())
        };
        !declared && text.contains(name.as_str()) && !text.lines().any(directed)
    }

    /// Whether options of the compiler may define a name.
    fn options_define(&self, args: &Args, maker: Maker, name: &Name) -> bool {
        // What stands behind the program and its name are options and paths.
        let own = if maker == Maker::PyCuda { 1 } else { 2 };
        if args.open || args.positional.len() > own {
            return true;
        }
        let Some(options) = args.given("options") else { return false };
        match self.listed(options) {
            Some(all) => !all.iter().all(|option| {
                option.str().is_some_and(|option| !option.contains(name.as_str()) && !option.contains("include"))
            }),
            None => true,
        }
    }

    /// Whether options of the compiler may decide which parts of a file are compiled.
    pub(super) fn options_choose(&self, args: &Args, file: ModuleId) -> bool {
        let plain = |option: &Val| option.str().is_some_and(|option| !option.contains("-D") && !option.contains("/D"));
        let defines = args.given("options").is_some_and(|options| match self.listed(options) {
            Some(all) => !all.iter().all(plain),
            None => !matches!(options.kind, Kind::None),
        });
        (args.open || defines) && self.project.source(file).contains("#if")
    }

    /// The elements of a list or tuple.
    fn listed(&self, value: &Val) -> Option<Vec<Val>> {
        match &value.kind {
            Kind::Tuple(items) => Some(items.to_vec()),
            Kind::List(id) => match self.heap.get(*id) {
                super::heap::Obj::List(items) => items.clone(),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether an array of a function has an extent that is computed from a parameter: no constant.
fn has_extent_of_parameter(module: &Module, function: &Function) -> bool {
    function.locals.iter().skip(function.param_count as usize).any(|local| {
        extents(module, local.ty).into_iter().any(|extent| {
            leaves(module, extent)
                .into_iter()
                .any(|leaf| matches!(leaf, Expr::Local(local) if local.index() < function.param_count as usize))
        })
    })
}

/// Whether a function uses a name of one segment of which something holds, in its statements or in the extents of its arrays.
fn uses(module: &Module, function: &Function, holds: &dyn Fn(&Name) -> bool) -> bool {
    let named = |expr: &Expr| match expr {
        Expr::Name { path, targs } if targs.is_empty() => match path.segments.as_ref() {
            [name] => holds(name),
            _ => false,
        },
        _ => false,
    };
    let in_extents =
        function.locals.iter().skip(function.param_count as usize).any(|local| {
            extents(module, local.ty).into_iter().any(|extent| leaves(module, extent).into_iter().any(named))
        });
    if in_extents {
        return true;
    }
    let mut found = false;
    if let Some(body) = &function.body {
        walk(module, function, body, |item| {
            if let Item::Expr(id) = item {
                found |= module.exprs.get(id).is_some_and(|node| named(&node.kind));
            }
            !found
        });
    }
    found
}

/// The extents of an array type, outermost first.
fn extents(module: &Module, ty: TypeId) -> Vec<ExprId> {
    let mut found = Vec::new();
    let mut at = ty;
    for _ in 0..MAX_DEPTH {
        match module.types.get(at) {
            Some(Type::Array(element, extent)) => {
                found.extend(*extent);
                at = *element;
            }
            Some(Type::Qualified { ty, .. }) => at = *ty,
            _ => break,
        }
    }
    found
}

/// What arithmetic is made of.
fn leaves(module: &Module, root: ExprId) -> Vec<&Expr> {
    let (mut found, mut open) = (Vec::new(), vec![root]);
    while let Some(expr) = open.pop().and_then(|id| module.exprs.get(id)) {
        match &expr.kind {
            Expr::Unary(_, a) => open.push(*a),
            Expr::Binary(_, a, b) => open.extend([*a, *b]),
            other => found.push(other),
        }
    }
    found
}
