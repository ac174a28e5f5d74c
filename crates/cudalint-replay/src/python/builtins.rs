//! Functions of Python itself and of its standard library, and the way to those of GPU packages.

use super::Walker;
use super::calls::Args;
use super::heap::Obj;
use super::ops::numpy_number;
use super::value::{Dtype, Kind, Lib, Val, is_array};
use crate::host::NO_ARGUMENTS;
use crate::quantity::{AtomKind, ClosedOp};
use crate::quantity::{Quantity, assume, union};
use cudalint_program::Name;
use cudalint_program::api::packages::MathOp;
use cudalint_program::ir::{BinaryOp, ExprId};
use std::rc::Rc;

/// Where a number is rounded to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    Up,
    Down,
    /// As conversions do.
    ToZero,
}

impl Rounding {
    pub const fn of(op: MathOp) -> Self {
        match op {
            MathOp::Ceil => Self::Up,
            MathOp::Floor => Self::Down,
            _ => Self::ToZero,
        }
    }
}

/// Whether Python itself defines a name that the walk has a use for.
pub(super) fn is_builtin(name: &str) -> bool {
    matches!(
        name,
        "int"
            | "float"
            | "bool"
            | "complex"
            | "str"
            | "len"
            | "open"
            | "range"
            | "xrange"
            | "min"
            | "max"
            | "abs"
            | "sum"
            | "tuple"
            | "list"
            | "dict"
            | "print"
            | "enumerate"
            | "zip"
            | "reversed"
            | "round"
            | "divmod"
            | "pow"
            | "input"
            | "isinstance"
            | "hasattr"
            | "getattr"
            | "type"
            | "exit"
            | "quit"
            | "repr"
            | "id"
            | "super"
            | "iter"
            | "map"
            | "bytes"
    )
}

impl Walker<'_> {
    /// A name of a package.
    pub(super) fn of_package(&mut self, path: &str, name: &Name, id: ExprId) -> Val {
        let full = format!("{path}.{name}");
        if let Some(dtype) = package_dtype(path, name) {
            return Val::from(Kind::Dtype(dtype));
        }
        match full.as_str() {
            "math.pi" | "math.e" | "math.inf" | "numpy.pi" | "numpy.inf" | "numpy.nan" | "cupy.pi" => {
                let number = match name.as_str() {
                    "pi" => Some(std::f64::consts::PI),
                    "e" => Some(std::f64::consts::E),
                    _ => None,
                };
                Val::from(Kind::Float(number))
            }
            "numpy.newaxis" | "cupy.newaxis" => Val::none(),
            "sys.maxsize" => Val::int(i64::MAX),
            _ => {
                let _ = id;
                Val::package(&full)
            }
        }
    }

    /// A call of a function of a package.
    pub(super) fn call_package(&mut self, id: ExprId, path: &str, args: &Args) -> Val {
        let (package, rest) = path.split_once('.').unwrap_or((path, ""));
        let found = match package {
            "builtins" => self.call_builtin(id, rest, args),
            "ctypes" => match args.positional.first() {
                Some(pointer) if matches!(pointer.kind, Kind::Memory(..)) && matches!(rest, "c_void_p" | "cast") => {
                    Some(pointer.clone())
                }
                _ => None,
            },
            "argparse" => (rest == "ArgumentParser").then(|| self.parser()),
            "os" if rest == "path.join" => Some(Val::joined_path(&args.positional.iter().collect::<Vec<_>>())),
            "os" if matches!(rest, "path.abspath" | "path.realpath" | "path.normpath" | "fspath") => {
                args.positional.first().filter(|path| matches!(path.kind, Kind::Str(_))).cloned()
            }
            "pathlib" if matches!(rest, "Path" | "PurePath" | "PosixPath") => {
                Some(Val::joined_path(&args.positional.iter().collect::<Vec<_>>()))
            }
            "sys" | "os" => match rest {
                "exit" | "_exit" | "abort" => {
                    self.raised = true;
                    Some(Val::none())
                }
                "environ.get" | "getenv" => Some(match args.get(1, "default") {
                    Some(default) => default.clone().because(&assume("the environment sets nothing")),
                    None => Val::unknown(),
                }),
                _ => None,
            },
            // What only measures, waits or says something.
            "time" | "logging" | "warnings" | "stream" | "event" | "timeit" => {
                args.positional.iter().for_each(|value| self.looked_at(value, id));
                Some(Val::from(Kind::Float(None)))
            }
            // Plots, tables and tests read what they are given.
            "matplotlib" | "pandas" | "pytest" | "seaborn" | "PIL" | "csv" | "json" => {
                args.positional.iter().for_each(|value| self.looked_at(value, id));
                Some(self.result_of(id))
            }
            _ => self.call_api(id, path, args),
        };
        match found {
            Some(value) => value,
            None => self.call_unknown(id, args),
        }
    }

    fn call_builtin(&mut self, id: ExprId, name: &str, args: &Args) -> Option<Val> {
        let first = args.positional.first();
        Some(match name {
            "int" => {
                let value = first.cloned().unwrap_or_else(|| Val::int(0));
                self.int_of(&value, args.exprs.first().copied())
            }
            // A program as bytes.
            "str.encode" | "bytes" if matches!(first, Some(Val { kind: Kind::Str(_), .. })) => first.cloned()?,
            "float" => match first {
                None => Val::from(Kind::Float(Some(0.0))),
                Some(value) => match (&value.kind, value.quantity()) {
                    (_, Some(Quantity::Known(number))) => {
                        Val::from(Kind::Float(Some(number as f64))).because(&value.why)
                    }
                    (_, Some(q)) if !q.is_unknown() => Val::from(Kind::Ratio(q, 1)).because(&value.why),
                    (Kind::Float(_) | Kind::Ratio(..), _) => value.clone(),
                    (Kind::Number(_, inner), _) if inner.number().is_some() => {
                        Val::from(Kind::Float(inner.number())).because(&value.why)
                    }
                    (Kind::Str(text), _) => {
                        Val::from(Kind::Float(text.whole.as_deref().and_then(|text| text.trim().parse().ok())))
                    }
                    _ => Val::from(Kind::Float(None)),
                },
            },
            "bool" => match first.and_then(|value| self.truth(value)) {
                Some(truth) => Val::boolean(truth).because(&first?.why),
                None => Val::from(Kind::Bool(Quantity::Unknown)),
            },
            "str" | "repr" => {
                if let Some(value) = first {
                    self.looked_at(value, id);
                }
                match first.and_then(super::exprs::shown) {
                    Some(text) => Val::text(&text),
                    None => Val::from(Kind::Str(Rc::new(super::value::Text::default()))),
                }
            }
            "len" => self.length(first?),
            "open" => Val::from(Kind::File(self.file_opened(args)?)),
            "range" | "xrange" => {
                let [start, stop, step] = match args.positional.as_slice() {
                    [stop] => [Val::int(0), stop.clone(), Val::int(1)],
                    [start, stop] => [start.clone(), stop.clone(), Val::int(1)],
                    [start, stop, step] => [start.clone(), stop.clone(), step.clone()],
                    _ => return None,
                };
                let why = union(&union(&start.why, &stop.why), &step.why);
                let mut part = |value: &Val| self.as_int(value).unwrap_or(Quantity::Unknown);
                let parts = [part(&start), part(&stop), part(&step)];
                Val { kind: Kind::Range(Rc::new(parts)), why }
            }
            "min" | "max" if args.keywords.iter().all(|(name, _)| name != "key") => {
                let items = match args.positional.as_slice() {
                    [one] => self.items(one)?,
                    all => all.to_vec(),
                };
                let op = if name == "min" { ClosedOp::Min } else { ClosedOp::Max };
                let why = items.iter().fold(None, |why, item| union(&why, &item.why));
                // The result is one of them, with its type; the first of several that are equal.
                if items.iter().all(|item| item.number().is_some()) {
                    let better = |a: &Val, b: &Val| match a.number().zip(b.number()) {
                        Some((a, b)) => {
                            if name == "min" {
                                a < b
                            } else {
                                a > b
                            }
                        }
                        None => false,
                    };
                    let best = items.into_iter().reduce(|best, item| if better(&item, &best) { item } else { best });
                    return Some(best?.because(&why));
                }
                if !items.iter().all(|item| matches!(item.kind, Kind::Int(_))) {
                    return None;
                }
                let mut all = items.into_iter();
                let start = all.next()?;
                let mut q = self.as_int(&start)?;
                for item in all {
                    let other = self.as_int(&item)?;
                    q = self.atoms.closed(op, &q, &other);
                }
                Val { kind: Kind::Int(q), why }
            }
            "abs" if matches!(first?.kind, Kind::Number(..)) => {
                let Kind::Number(dtype, inner) = &first?.kind else { return None };
                let kind = match inner.number() {
                    _ if inner.known().is_some() => Kind::Int(Quantity::Known(inner.known()?.abs())),
                    number => Kind::Float(number.map(f64::abs)),
                };
                numpy_number(*dtype, kind).because(&first?.why)
            }
            "abs" => match first?.known() {
                Some(value) => Val::int(value.abs()).because(&first?.why),
                None => return None,
            },
            "sum" => {
                if let Some(value) = first {
                    self.looked_at(value, id);
                }
                let mut total = args.get(1, "start").cloned().unwrap_or_else(|| Val::int(0));
                for item in self.items(first?)? {
                    total = self.binary(BinaryOp::Add, &total, &item, id);
                }
                total
            }
            "tuple" => match first {
                None => Val::tuple(Vec::new()),
                Some(value) => Val::tuple(self.items(value)?).because(&value.why),
            },
            "list" => {
                let items = match first {
                    None => Some(Vec::new()),
                    Some(value) => {
                        self.looked_at(value, id);
                        self.items(value)
                    }
                };
                Val::from(Kind::List(self.heap.add(Obj::List(items))))
            }
            "dict" => {
                let entries = args.keywords.iter().map(|(name, value)| (Val::text(name), value.clone())).collect();
                let entries = if args.positional.is_empty() && !args.open { Some(entries) } else { None };
                Val::from(Kind::Dict(self.heap.add(Obj::Dict(entries))))
            }
            "print" => {
                for value in &args.positional {
                    self.looked_at(value, id);
                }
                Val::none()
            }
            "enumerate" => {
                let from = args.get(1, "start").map_or(Some(0), Val::known)?;
                let items = self.items(first?)?;
                let pairs = items.into_iter().enumerate();
                Val::tuple(pairs.map(|(i, item)| Val::tuple(vec![Val::int(from + i as i64), item])).collect())
            }
            "zip" => {
                let all: Option<Vec<Vec<Val>>> = args.positional.iter().map(|one| self.items(one)).collect();
                let all = all?;
                let count = all.iter().map(Vec::len).min()?;
                Val::tuple((0..count).map(|at| Val::tuple(all.iter().map(|one| one[at].clone()).collect())).collect())
            }
            "reversed" => {
                let mut items = self.items(first?)?;
                items.reverse();
                Val::tuple(items)
            }
            "round" if args.positional.len() == 1 => match first?.number() {
                Some(number) => Val::int(number.round_ties_even() as i64).because(&first?.why),
                None => Val::from(Kind::Int(Quantity::Unknown)),
            },
            "divmod" => {
                let [a, b] = args.positional.as_slice() else { return None };
                let quotient = self.binary(BinaryOp::FloorDiv, a, b, id);
                let rest = self.binary(BinaryOp::Rem, a, b, id);
                Val::tuple(vec![quotient, rest])
            }
            "pow" => {
                let [a, b] = args.positional.as_slice() else { return None };
                self.binary(BinaryOp::Pow, a, b, id)
            }
            "input" => Val::from(Kind::Str(Rc::new(super::value::Text::default()))),
            "isinstance" => match args.positional.as_slice() {
                [value, class] => match instance_of(value, class) {
                    Some(truth) => Val::boolean(truth).because(&value.why),
                    None => Val::from(Kind::Bool(Quantity::Unknown)),
                },
                _ => return None,
            },
            "hasattr" => match args.positional.as_slice() {
                [value, name] => match name.str().and_then(|name| has_attribute(value, name)) {
                    Some(truth) => Val::boolean(truth).because(&value.why),
                    None => Val::from(Kind::Bool(Quantity::Unknown)),
                },
                _ => return None,
            },
            "getattr" => {
                let name = args.positional.get(1)?.str()?.to_owned();
                self.attribute(first?, &Name::from(name.as_str()), id)
            }
            "exit" | "quit" => {
                self.raised = true;
                Val::none()
            }
            _ => return None,
        })
    }

    /// `int(x)`.
    fn int_of(&mut self, value: &Val, expr: Option<ExprId>) -> Val {
        let q = match &value.kind {
            Kind::Str(text) => match text.whole.as_deref() {
                Some(text) => text.trim().parse().map_or(Quantity::Unknown, Quantity::Known),
                None => {
                    let name = expr.map_or("a number read", |expr| self.text(expr));
                    self.atoms.fresh(name, AtomKind::Input)
                }
            },
            Kind::Float(_) | Kind::Ratio(..) | Kind::Number(Dtype::Float { .. }, _) => {
                self.rounded(value, Rounding::ToZero).unwrap_or(Quantity::Unknown)
            }
            // `int(a_gpu)`: an address.
            Kind::Memory(..) => return value.clone(),
            _ => self.as_int(value).unwrap_or(Quantity::Unknown),
        };
        Val { kind: Kind::Int(q), why: value.why.clone() }
    }

    pub(super) fn length(&mut self, value: &Val) -> Val {
        let why = value.why.clone();
        let kind = match &value.kind {
            Kind::Array(array) => match array.shape.as_deref() {
                Some([first, ..]) => return first.val().because(&why),
                _ => Kind::Int(Quantity::Unknown),
            },
            Kind::Open(open) => {
                let open = Rc::clone(open);
                return self.asked(&open, ".shape[0]");
            }
            Kind::Package(path) if &**path == "sys.argv" => {
                return Val::int(1).because(&assume(NO_ARGUMENTS));
            }
            Kind::Str(text) => text
                .whole
                .as_deref()
                .map_or(Kind::Int(Quantity::Unknown), |text| Kind::Int(Quantity::Known(text.chars().count() as i64))),
            Kind::Range(range) => match (range[0].known(), range[2].known()) {
                (Some(0), Some(1)) => Kind::Int(range[1].clone()),
                _ => {
                    Kind::Int(self.items(value).map_or(Quantity::Unknown, |items| Quantity::Known(items.len() as i64)))
                }
            },
            _ => Kind::Int(self.items(value).map_or(Quantity::Unknown, |items| Quantity::Known(items.len() as i64))),
        };
        Val { kind, why }
    }

    /// A function of floats.
    pub(super) fn float_function(&mut self, op: MathOp, args: &Args) -> Option<Val> {
        let first = args.positional.first()?;
        if is_array(first) {
            return None;
        }
        let number = first.number();
        let value = match op {
            MathOp::Sqrt => number.map(f64::sqrt),
            MathOp::Log2 => number.filter(|number| *number > 0.0).map(f64::log2),
            MathOp::Log if args.positional.len() == 1 => number.filter(|number| *number > 0.0).map(f64::ln),
            MathOp::Exp => number.map(f64::exp),
            MathOp::Pow => number.zip(args.positional.get(1).and_then(Val::number)).map(|(a, b)| a.powf(b)),
            _ => None,
        };
        Some(Val { kind: Kind::Float(value), why: first.why.clone() })
    }

    /// A number rounded to an integer.
    pub(super) fn rounded(&mut self, value: &Val, how: Rounding) -> Option<Quantity> {
        match &value.kind {
            Kind::Ratio(q, by) => {
                let (q, by) = (q.clone(), *by);
                Some(if by == 1 {
                    q
                } else if how == Rounding::Up || how == Rounding::ToZero && q.known().is_some_and(|number| number < 0) {
                    self.ceil_div(&q, by)
                } else {
                    self.floor_div(&q, &Quantity::Known(by))
                })
            }
            Kind::Float(_) | Kind::Number(Dtype::Float { .. }, _) => {
                let number = value.number().filter(|number| number.is_finite() && number.abs() < 9e15)?;
                let rounded = match how {
                    Rounding::Up => number.ceil(),
                    Rounding::Down => number.floor(),
                    Rounding::ToZero => number.trunc(),
                };
                Some(Quantity::Known(rounded as i64))
            }
            _ => self.as_int(value),
        }
    }
}

/// Types of elements by their names in packages.
fn package_dtype(path: &str, name: &str) -> Option<Dtype> {
    match path {
        "numpy" | "cupy" | "numba" | "numba.types" | "numba.core.types" | "numba.cuda.types" => {
            // `numpy.int`, `numpy.float` are no types of NumPy any more, and `numba.char` is none.
            if matches!(name, "copy" | "char" | "i" | "f" | "d" | "l" | "h" | "b" | "e" | "q") {
                return None;
            }
            Dtype::named(name)
        }
        "ctypes" => match name {
            "c_int" | "c_int32" => Some(Dtype::Int { bytes: 4, signed: true }),
            "c_float" => Some(Dtype::Float { bytes: 4 }),
            "c_double" => Some(Dtype::Float { bytes: 8 }),
            "c_int64" | "c_longlong" | "c_long" => Some(Dtype::Int { bytes: 8, signed: true }),
            "c_size_t" | "c_uint64" => Some(Dtype::Int { bytes: 8, signed: false }),
            _ => None,
        },
        _ => None,
    }
}

/// Whether an array has an attribute by which programs tell where arrays live; `None` where that is not known.
fn has_attribute(value: &Val, name: &str) -> Option<bool> {
    let Kind::Array(array) = &value.kind else { return None };
    match name {
        "get" => match array.lib {
            Lib::Cupy | Lib::PyCuda => Some(true),
            Lib::Numpy => Some(false),
            Lib::Numba => None,
        },
        "copy_to_host" => match array.lib {
            Lib::Cupy | Lib::Numpy => Some(false),
            Lib::Numba | Lib::PyCuda => None,
        },
        "shape" | "dtype" => Some(true),
        _ => None,
    }
}

/// Whether a value is of a class of arrays, or of one of several; `None` where that is not known.
fn instance_of(value: &Val, class: &Val) -> Option<bool> {
    match &class.kind {
        Kind::Tuple(classes) => {
            let each = || classes.iter().map(|class| instance_of(value, class));
            if each().any(|is| is == Some(true)) {
                Some(true)
            } else {
                each().all(|is| is == Some(false)).then_some(false)
            }
        }
        Kind::Package(path) => {
            let lib = match path.rsplit_once('.')? {
                ("numpy", "ndarray") => Lib::Numpy,
                ("cupy", "ndarray") => Lib::Cupy,
                _ => return None,
            };
            match &value.kind {
                Kind::Array(array) => Some(array.lib == lib),
                Kind::None
                | Kind::Bool(_)
                | Kind::Int(_)
                | Kind::Float(_)
                | Kind::Str(_)
                | Kind::Tuple(_)
                | Kind::List(_) => Some(false),
                _ => None,
            }
        }
        _ => None,
    }
}
