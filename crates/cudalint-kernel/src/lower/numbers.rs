//! Functions and intrinsics that compute a number from numbers.

use super::{Lowerer, Out};
use crate::code::{FloatMath, Intrinsic};
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

pub(super) const UINT: Ty = Ty::Int { bytes: 4, signed: false };
pub(super) const FLOAT: Ty = Ty::Float { bytes: 4 };
pub(super) const LONG: Ty = Ty::Int { bytes: 8, signed: true };

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
    /// A function of numbers.
    pub(super) fn number_function(
        &mut self,
        name: &str,
        explicit: &[Argument],
        args: &[Out],
        site: Site,
    ) -> Option<Out> {
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

#[cfg(test)]
mod tests {
    use super::MATHS;

    #[test]
    fn the_table_is_in_order() {
        assert!(MATHS.is_sorted());
    }
}
