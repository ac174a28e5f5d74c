//! Functions of CUDA and of the C and C++ libraries, by name.

use super::{At, Lowerer, Out};
use crate::code::{self, Effect, Expr, ExprId, FloatMath, Intrinsic};
use crate::report::Site;
use cudalint_program::ir::Path;
use cudalint_program::types::{Argument, Ty};

/// Functions of one or more numbers that do nothing but compute, without the `f` or `l` at the end.
const MATHS: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "cospi",
    "cyl_bessel_i0",
    "cyl_bessel_i1",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "fdivide",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "j0",
    "j1",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "nearbyint",
    "nextafter",
    "norm3d",
    "norm4d",
    "normcdf",
    "normcdfinv",
    "pow",
    "rcbrt",
    "remainder",
    "rhypot",
    "rint",
    "rnorm3d",
    "rnorm4d",
    "round",
    "rsqrt",
    "scalbn",
    "sin",
    "sinh",
    "sinpi",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "y0",
    "y1",
];

/// Intrinsics that do nothing but compute, with what they give.
const PURE: &[(&str, Ty)] = &[
    ("__byte_perm", UINT),
    ("__funnelshift_l", UINT),
    ("__funnelshift_lc", UINT),
    ("__funnelshift_r", UINT),
    ("__funnelshift_rc", UINT),
    ("__dp4a", Ty::INT),
    ("__dp2a_lo", Ty::INT),
    ("__dp2a_hi", Ty::INT),
    ("__fns", UINT),
    ("__sad", UINT),
    ("__usad", UINT),
    ("__hadd", Ty::Float { bytes: 2 }),
    ("__hsub", Ty::Float { bytes: 2 }),
    ("__hmul", Ty::Float { bytes: 2 }),
    ("__hdiv", Ty::Float { bytes: 2 }),
    ("__hfma", Ty::Float { bytes: 2 }),
    ("__hneg", Ty::Float { bytes: 2 }),
    ("__habs", Ty::Float { bytes: 2 }),
    ("__hmax", Ty::Float { bytes: 2 }),
    ("__hmin", Ty::Float { bytes: 2 }),
    ("hexp", Ty::Float { bytes: 2 }),
    ("hlog", Ty::Float { bytes: 2 }),
    ("hsqrt", Ty::Float { bytes: 2 }),
    ("hrsqrt", Ty::Float { bytes: 2 }),
    ("hrcp", Ty::Float { bytes: 2 }),
    ("__hgt", Ty::Bool),
    ("__hge", Ty::Bool),
    ("__hlt", Ty::Bool),
    ("__hle", Ty::Bool),
    ("__heq", Ty::Bool),
    ("__hne", Ty::Bool),
    ("__hisnan", Ty::Bool),
    ("__float_as_int", Ty::INT),
    ("__float_as_uint", UINT),
    ("__int_as_float", FLOAT),
    ("__uint_as_float", FLOAT),
    ("__double_as_longlong", LONG),
    ("__longlong_as_double", Ty::DOUBLE),
    ("__double2hiint", Ty::INT),
    ("__double2loint", Ty::INT),
    ("__hiloint2double", Ty::DOUBLE),
    ("__half_as_ushort", Ty::Int { bytes: 2, signed: false }),
    ("__half_as_short", Ty::Int { bytes: 2, signed: true }),
    ("__ushort_as_half", Ty::Float { bytes: 2 }),
    ("__short_as_half", Ty::Float { bytes: 2 }),
    ("__isGlobal", UINT),
    ("__isShared", UINT),
    ("__isConstant", UINT),
    ("__isLocal", UINT),
    ("__cvta_generic_to_shared", Ty::SIZE),
    ("__cvta_generic_to_global", Ty::SIZE),
    ("isnan", Ty::Bool),
    ("isinf", Ty::Bool),
    ("isfinite", Ty::Bool),
    ("signbit", Ty::Bool),
    ("__saturatef", FLOAT),
    ("__powf", FLOAT),
    ("__sinf", FLOAT),
    ("__cosf", FLOAT),
    ("__tanf", FLOAT),
    ("__expf", FLOAT),
    ("__exp10f", FLOAT),
    ("__logf", FLOAT),
    ("__log2f", FLOAT),
    ("__log10f", FLOAT),
    ("__fdividef", FLOAT),
    ("__tanhf", FLOAT),
    ("saturate", FLOAT),
    ("strlen", Ty::SIZE),
    ("strcmp", Ty::INT),
];

const UINT: Ty = Ty::Int { bytes: 4, signed: false };
const FLOAT: Ty = Ty::Float { bytes: 4 };
const LONG: Ty = Ty::Int { bytes: 8, signed: true };

/// Whether the library for the device has a function of this name that programs define for the host as well.
pub(super) fn is_known(path: &Path) -> bool {
    path.last().is_some_and(|name| {
        matches!(name.as_str(), "min" | "max" | "abs" | "swap") || maths(name).is_some() || name.starts_with("make_")
    })
}

/// A mathematical function without the letter for its type, and the bytes that the letter says.
fn maths(name: &str) -> Option<(&'static str, Option<u8>)> {
    let of = |name: &str| MATHS.binary_search(&name).ok().map(|at| MATHS[at]);
    if let Some(found) = of(name) {
        return Some((found, None));
    }
    let found = name.strip_suffix('f').and_then(of)?;
    Some((found, Some(4)))
}

impl Lowerer<'_> {
    /// A call of a library function; `None` where no such function is known.
    pub(super) fn library(&mut self, path: &Path, explicit: &[Argument], args: &[Out], site: Site) -> Option<Out> {
        let name = path.last()?.clone();
        if path.segments.iter().any(|segment| segment == "numeric_limits") {
            return Some(self.unknown(Vec::new(), Effect::None, Ty::Unknown, site));
        }
        if let Some(out) = self.intrinsic_call(&name, args, site) {
            return Some(out);
        }
        if let Some(out) = self.group_function(path, explicit, args, site) {
            return Some(out);
        }
        if let Some(out) = self.number_function(&name, explicit, args, site) {
            return Some(out);
        }
        self.other_function(path, &name, explicit, args, site)
    }

    /// An operation that the executor knows.
    pub(super) fn intrinsic(&mut self, what: Intrinsic, operands: Vec<ExprId>, ty: Ty, site: Site) -> Out {
        let code_ty = self.ty(&ty);
        let id = self.push(Expr::Intrinsic(what, operands), code_ty, site);
        self.computed(id, ty, site)
    }

    pub(super) fn loads(&mut self, args: &[Out]) -> Vec<ExprId> {
        args.iter().map(|arg| self.load(arg)).collect()
    }

    /// A value that depends on the operands alone.
    pub(super) fn pure(&mut self, name: &str, args: &[Out], ty: Ty, site: Site) -> Out {
        let number = match self.pure_functions.iter().position(|known| known == name) {
            Some(number) => number,
            None => {
                self.pure_functions.push(name.to_owned());
                self.pure_functions.len() - 1
            }
        };
        let children = self.loads(args);
        self.unknown(children, Effect::Pure(number as u32), ty, site)
    }

    fn number_function(&mut self, name: &str, explicit: &[Argument], args: &[Out], site: Site) -> Option<Out> {
        match (name, args) {
            ("min" | "fmin" | "fminf" | "umin" | "llmin" | "ullmin" | "minimum", [a, b]) => {
                return Some(self.extreme(Intrinsic::Min, a, b, explicit, name, site));
            }
            ("max" | "fmax" | "fmaxf" | "umax" | "llmax" | "ullmax" | "maximum", [a, b]) => {
                return Some(self.extreme(Intrinsic::Max, a, b, explicit, name, site));
            }
            ("abs" | "labs" | "llabs" | "fabs" | "fabsf", [a]) => {
                let Some(ty) = a.ty.decayed().promoted() else {
                    return Some(self.pure(name, args, a.ty.clone(), site));
                };
                let ty = match (name, ty) {
                    ("fabsf", _) => FLOAT,
                    ("fabs", Ty::Int { .. }) => Ty::DOUBLE,
                    (_, ty) => ty,
                };
                let value = self.convert(a, &ty);
                return Some(self.intrinsic(Intrinsic::Abs, vec![value], ty, site));
            }
            _ => {}
        }
        if let Some(out) = self.bit_function(name, args, site) {
            return Some(out);
        }
        if let Some((base, bytes)) = maths(name) {
            return Some(self.maths_call(base, bytes, args, site));
        }
        if let Some((_, ty)) = PURE.iter().find(|(known, _)| *known == name) {
            return Some(self.pure(name, args, ty.clone(), site));
        }
        self.converting_function(name, args, site)
    }

    fn extreme(&mut self, what: Intrinsic, a: &Out, b: &Out, explicit: &[Argument], name: &str, site: Site) -> Out {
        let common = match explicit.first() {
            Some(Argument::Type(ty)) => ty.clone(),
            _ => match (a.ty.decayed().common(&b.ty.decayed()), name) {
                (_, "fminf" | "fmaxf") => FLOAT,
                (Some(ty), _) => ty,
                (None, _) if matches!(a.ty, Ty::Float { .. }) => a.ty.clone(),
                _ => return self.pure(name, &[a.clone(), b.clone()], a.ty.clone(), site),
            },
        };
        let operands = vec![self.convert(a, &common), self.convert(b, &common)];
        self.intrinsic(what, operands, common, site)
    }

    fn bit_function(&mut self, name: &str, args: &[Out], site: Site) -> Option<Out> {
        let ulong = Ty::Int { bytes: 8, signed: false };
        let (what, operand, result) = match name {
            "__popc" => (Intrinsic::PopCount, UINT, Ty::INT),
            "__popcll" => (Intrinsic::PopCount, ulong, Ty::INT),
            "__clz" => (Intrinsic::LeadingZeros, UINT, Ty::INT),
            "__clzll" => (Intrinsic::LeadingZeros, ulong, Ty::INT),
            "__ffs" | "ffs" => (Intrinsic::FirstSet, UINT, Ty::INT),
            "__ffsll" => (Intrinsic::FirstSet, ulong, Ty::INT),
            "__brev" => (Intrinsic::ReverseBits, UINT, UINT),
            "__brevll" => (Intrinsic::ReverseBits, ulong.clone(), ulong),
            "__mul24" => (Intrinsic::Mul24, Ty::INT, Ty::INT),
            "__umul24" => (Intrinsic::Mul24, UINT, UINT),
            "__mulhi" => (Intrinsic::MulHigh, Ty::INT, Ty::INT),
            "__umulhi" => (Intrinsic::MulHigh, UINT, UINT),
            "__mul64hi" => (Intrinsic::MulHigh, LONG, LONG),
            "__umul64hi" => (Intrinsic::MulHigh, ulong.clone(), ulong),
            _ => return None,
        };
        let operands = args.iter().map(|arg| self.convert(arg, &operand)).collect();
        Some(self.intrinsic(what, operands, result, site))
    }

    fn maths_call(&mut self, base: &'static str, bytes: Option<u8>, args: &[Out], site: Site) -> Out {
        let ty = match bytes {
            Some(bytes) => Ty::Float { bytes },
            None => {
                let widest = args
                    .iter()
                    .map(|arg| match arg.ty.decayed() {
                        Ty::Float { bytes } => bytes,
                        _ => 8,
                    })
                    .max();
                Ty::Float { bytes: widest.unwrap_or(8) }
            }
        };
        let what = match base {
            "floor" => FloatMath::Floor,
            "ceil" => FloatMath::Ceil,
            "trunc" => FloatMath::Trunc,
            "round" => FloatMath::Round,
            "rint" | "nearbyint" => FloatMath::Rint,
            "sqrt" => FloatMath::Sqrt,
            "log2" => FloatMath::Log2,
            "log" => FloatMath::Log,
            "exp2" => FloatMath::Exp2,
            "exp" => FloatMath::Exp,
            "pow" => FloatMath::Pow,
            "fmod" => FloatMath::Fmod,
            _ => return self.pure(base, args, ty, site),
        };
        if args.iter().any(|arg| arg.ty.promoted().is_none()) {
            return self.pure(base, args, ty, site);
        }
        let operands = args.iter().map(|arg| self.convert(arg, &ty)).collect();
        self.intrinsic(Intrinsic::FloatMath(what), operands, ty, site)
    }

    /// `__float2int_rn` and its kin, and the arithmetic whose rounding the name says: `__fadd_rn`.
    fn converting_function(&mut self, name: &str, args: &[Out], site: Site) -> Option<Out> {
        let inner = name.strip_prefix("__")?;
        let (plain, rounding) = match inner.rsplit_once("_r") {
            Some((plain, rounding @ ("n" | "z" | "u" | "d"))) => (plain, Some(rounding)),
            _ => (inner, None),
        };
        if let (Some((from, to)), [value]) = (plain.split_once('2'), args)
            && let (Some(from), Some(to)) = (type_word(from), type_word(to))
        {
            let exact = !matches!((&from, &to), (Ty::Float { .. }, Ty::Int { .. })) || rounding == Some("z");
            if exact {
                let first = self.convert(value, &from);
                let id = self.convert_value(first, &to);
                return Some(self.computed(id, to, site));
            }
            let first = self.convert(value, &from);
            let what = match rounding {
                Some("u") => FloatMath::Ceil,
                Some("d") => FloatMath::Floor,
                _ => FloatMath::Rint,
            };
            let rounded = self.intrinsic(Intrinsic::FloatMath(what), vec![first], from, site);
            let id = self.convert(&rounded, &to);
            return Some(self.computed(id, to, site));
        }
        rounding?;
        let ty = match plain.as_bytes().first()? {
            b'f' => FLOAT,
            b'd' => Ty::DOUBLE,
            b'h' => Ty::Float { bytes: 2 },
            _ => return None,
        };
        Some(self.pure(name, args, ty, site))
    }

    fn other_function(
        &mut self,
        path: &Path,
        name: &str,
        explicit: &[Argument],
        args: &[Out],
        site: Site,
    ) -> Option<Out> {
        let none = |this: &mut Self, ty: Ty| {
            let children = this.loads(args);
            Some(this.unknown(children, Effect::None, ty, site))
        };
        let writes = |this: &mut Self, ty: Ty| {
            let children = args.iter().map(|arg| this.escape(arg)).collect();
            Some(this.unknown(children, Effect::Writes, ty, site))
        };
        if let Some(vector) = name.strip_prefix("make_").and_then(vector_named) {
            let lanes = args.len().max(1);
            let Ty::Vector { lanes: all, .. } = vector else { return None };
            if args.len() != usize::from(all) {
                return None;
            }
            let id = self.vector_of(&vector, args, lanes, 0, site);
            return Some(self.computed(id, vector, site));
        }
        match (name, args) {
            ("move" | "forward" | "launder" | "addressof" | "__builtin_expect" | "as_const", [value, ..]) => {
                if name == "addressof" {
                    let id = self.address(value);
                    return Some(self.computed(id, Ty::pointer_to(value.ty.clone()), site));
                }
                Some(value.clone())
            }
            ("swap", [a, b]) => Some(self.swap(a, b, site)),
            ("clock", []) => none(self, LONG),
            ("clock64" | "wall_clock64" | "__globaltimer", []) => none(self, LONG),
            ("malloc" | "__nv_malloc", [_]) => none(self, Ty::pointer_to(Ty::Void)),
            ("free" | "__nanosleep" | "__prof_trigger" | "__brkpt", _) => none(self, Ty::Void),
            ("init", [barrier, ..]) if super::library_types::is_barrier_pointer(&barrier.ty) => none(self, Ty::Void),
            // Assertions of libraries out of sight: what they test is read, and they let go on.
            _ if name.contains("ASSERT") || name.starts_with("assert") => none(self, Ty::Void),
            ("make_pair" | "make_tuple" | "tie", _) => none(self, Ty::Unknown),
            ("modf" | "modff" | "frexp" | "frexpf", [value, ..]) => {
                let ty = value.ty.decayed();
                writes(self, ty)
            }
            ("sincos" | "sincosf" | "__sincosf" | "sincospi" | "sincospif" | "remquo" | "remquof", _) => {
                writes(self, Ty::Void)
            }
            ("load_matrix_sync" | "store_matrix_sync" | "mma_sync" | "fill_fragment" | "bmma_sync", _) => {
                writes(self, Ty::Void)
            }
            ("declval" | "__builtin_constant_p" | "typeid", _) => none(self, Ty::Unknown),
            ("float2" | "double2", _) => None,
            ("cuCmulf" | "cuCaddf" | "cuCsubf" | "cuCdivf" | "cuConjf", _) => {
                Some(self.pure(name, args, vector_named("float2")?, site))
            }
            ("cuCmul" | "cuCadd" | "cuCsub" | "cuCdiv" | "cuConj", _) => {
                Some(self.pure(name, args, vector_named("double2")?, site))
            }
            ("make_cuFloatComplex" | "make_cuComplex", [_, _]) => {
                let vector = vector_named("float2")?;
                let id = self.vector_of(&vector, args, 2, 0, site);
                Some(self.computed(id, vector, site))
            }
            ("make_cuDoubleComplex", [_, _]) => {
                let vector = vector_named("double2")?;
                let id = self.vector_of(&vector, args, 2, 0, site);
                Some(self.computed(id, vector, site))
            }
            ("cuCrealf" | "cuCimagf" | "cuCabsf", [_]) => Some(self.pure(name, args, FLOAT, site)),
            ("cuCreal" | "cuCimag" | "cuCabs", [_]) => Some(self.pure(name, args, Ty::DOUBLE, site)),
            _ if name.starts_with("curand") => {
                let ty = if name.ends_with("_double") {
                    Ty::DOUBLE
                } else if name == "curand" {
                    UINT
                } else if name.starts_with("curand_uniform") || name == "curand_normal" || name == "curand_log_normal" {
                    match name.as_bytes().last() {
                        Some(b'2' | b'4') => Ty::Unknown,
                        _ => FLOAT,
                    }
                } else {
                    Ty::Unknown
                };
                writes(self, ty)
            }
            _ if is_texture(name) => {
                let ty = match explicit.first() {
                    Some(Argument::Type(ty)) => ty.clone(),
                    _ => texture_element(args),
                };
                let write = name.contains("write");
                none(self, if write { Ty::Void } else { ty })
            }
            _ if is_half_function(name) && !args.iter().any(|arg| matches!(arg.ty.decayed(), Ty::Pointer(_))) => {
                Some(self.pure(name, args, half_result(name, args), site))
            }
            _ if path.segments.iter().any(|segment| segment == "wmma") => writes(self, Ty::Void),
            _ => None,
        }
    }

    /// What a function that writes through what it is given gets.
    pub(super) fn escape(&mut self, arg: &Out) -> ExprId {
        match arg.at {
            At::Register { .. } if !super::convert::is_scalar(&arg.ty) => self.address(arg),
            At::Memory { address, .. } if !super::convert::is_scalar(&arg.ty) => address,
            _ => self.load(arg),
        }
    }

    fn swap(&mut self, a: &Out, b: &Out, site: Site) -> Out {
        if a.ty != b.ty || a.ty == Ty::Unknown || matches!(a.ty, Ty::Array(..)) {
            let children = vec![self.address(a), self.address(b)];
            return self.unknown(children, Effect::Writes, Ty::Void, site);
        }
        let code_ty = self.ty(&a.ty);
        let variable = self.variable("", code_ty, site);
        let before = self.load(a);
        let keep = self.write_register(variable, before, site);
        let other = self.load(b);
        let first = self.store(a, other);
        let first = self.load(&first);
        let kept = self.read_register(variable, site);
        let second = self.store(b, kept);
        let second = self.load(&second);
        let id = self.push(Expr::Sequence(vec![keep, first, second]), code::Ty::Void, site);
        self.computed(id, Ty::Void, site)
    }
}

fn type_word(word: &str) -> Option<Ty> {
    Some(match word {
        "float" => FLOAT,
        "double" => Ty::DOUBLE,
        "half" | "bfloat16" => Ty::Float { bytes: 2 },
        "int" => Ty::INT,
        "uint" => UINT,
        "short" => Ty::Int { bytes: 2, signed: true },
        "ushort" => Ty::Int { bytes: 2, signed: false },
        "ll" => LONG,
        "ull" => Ty::Int { bytes: 8, signed: false },
        _ => return None,
    })
}

/// CUDA's vector types by name.
pub(super) fn vector_named(name: &str) -> Option<Ty> {
    let (base, lanes) = match name.as_bytes().last()? {
        lanes @ b'1'..=b'4' => (&name[..name.len() - 1], lanes - b'0'),
        _ => return None,
    };
    let (bytes, signed, float) = match base {
        "char" => (1, true, false),
        "uchar" => (1, false, false),
        "short" => (2, true, false),
        "ushort" => (2, false, false),
        "int" => (4, true, false),
        "uint" => (4, false, false),
        "long" | "longlong" => (8, true, false),
        "ulong" | "ulonglong" => (8, false, false),
        "float" => (4, true, true),
        "double" => (8, true, true),
        "half" if lanes == 2 => (2, true, true),
        _ => return None,
    };
    Some(Ty::Vector { name: name.into(), bytes, signed, float, lanes })
}

fn is_texture(name: &str) -> bool {
    ["tex1D", "tex2D", "tex3D", "texCube", "surf1D", "surf2D", "surf3D", "surfCube"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// The element type of a texture reference.
fn texture_element(args: &[Out]) -> Ty {
    match args.first().map(|arg| &arg.ty) {
        Some(Ty::Library(name, of)) if name.starts_with("texture") => match of.first() {
            Some(Argument::Type(ty)) => ty.clone(),
            _ => Ty::Unknown,
        },
        _ => Ty::Unknown,
    }
}

/// `__hadd2`, `h2exp`, `__floats2half2_rn` and so on.
fn is_half_function(name: &str) -> bool {
    (name.starts_with("__h") || name.starts_with("h2") || name.contains("half") || name.contains("bfloat16"))
        && (name.ends_with('2')
            || name.starts_with("h2")
            || name.ends_with("_rn")
            || name.starts_with("__low")
            || name.starts_with("__high")
            || name.starts_with("__half2")
            || name.starts_with("__float2"))
}

fn half_result(name: &str, args: &[Out]) -> Ty {
    if name.starts_with("__low2float") || name.starts_with("__high2float") || name.starts_with("__bfloat162float") {
        return FLOAT;
    }
    if name.ends_with("2float2") || name.ends_with("22float2") {
        return vector_named("float2").unwrap_or(Ty::Unknown);
    }
    if matches!(name, "__low2half" | "__high2half" | "__low2bfloat16" | "__high2bfloat16") {
        return Ty::Float { bytes: 2 };
    }
    args.iter()
        .find(|arg| matches!(arg.ty, Ty::Vector { bytes: 2, .. }))
        .map_or_else(|| vector_named("half2").unwrap_or(Ty::Unknown), |arg| arg.ty.clone())
}

#[cfg(test)]
mod tests {
    use super::MATHS;

    #[test]
    fn the_table_is_in_order() {
        assert!(MATHS.is_sorted());
    }
}
