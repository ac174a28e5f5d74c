//! Functions and intrinsics that compute a number from numbers.

use super::state::{Lowerer, Out};
use crate::code::{FloatMath, Intrinsic};
use crate::report::Site;
use cudalint_numbers::Scalar;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{DeviceOp, Number, Rounding};
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

pub(super) const UINT: Ty = Ty::Int { bytes: 4, signed: false };
pub(super) const FLOAT: Ty = Ty::Float { bytes: 4 };
pub(super) const LONG: Ty = Ty::Int { bytes: 8, signed: true };

/// Whether the library for the device has a function of this name that programs define for the host as well.
pub(super) fn is_known(path: &Path) -> bool {
    path.last().is_some_and(|name| {
        matches!(name.as_str(), "min" | "max" | "abs" | "swap")
            || maths(name).is_some()
            || ApiId::named(name).is_some_and(|api| api.builds_value())
    })
}

/// The type of a number that the catalogue names.
pub(super) fn number_type(number: Number) -> Ty {
    let int = |bytes, signed| Ty::Int { bytes, signed };
    match number {
        Number::Bool => Ty::Bool,
        Number::Short => int(2, true),
        Number::Ushort => int(2, false),
        Number::Int => Ty::INT,
        Number::Uint => UINT,
        Number::Long => LONG,
        Number::Ulong => Ty::SIZE,
        Number::Half => Ty::Float { bytes: 2 },
        Number::Half2 => Ty::vector("half2"),
        Number::Float => FLOAT,
        Number::Double => Ty::DOUBLE,
        Number::Float2 => Ty::vector("float2"),
        Number::Double2 => Ty::vector("double2"),
    }
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
        let api = ApiId::named(name).filter(|api| !api.builds_value())?;
        match (api.device_op(), api.gives?, args) {
            (Some(DeviceOp::Random), ..) => None,
            (Some(DeviceOp::Convert { from, to, rounding }), _, [value]) => {
                Some(self.conversion(value, from, to, rounding, site))
            }
            // Of the type of its operands: there are two of half precision.
            (_, Number::Half2, _) => {
                let halves = |arg: &&Out| matches!(arg.ty, Ty::Vector { lane: Scalar::Float { bytes: 2 }, .. });
                let ty = args.iter().find(halves).map_or_else(|| number_type(Number::Half2), |arg| arg.ty.clone());
                Some(self.pure(name, args, ty, site))
            }
            (_, number, _) => Some(self.pure(name, args, number_type(number), site)),
        }
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
        let api = ApiId::named(name)?;
        let Some(DeviceOp::Bits { what, of }) = api.device_op() else { return None };
        let (operand, result) = (number_type(of), api.gives.map_or(Ty::Unknown, number_type));
        let operands = args.iter().map(|arg| self.convert(arg, &operand)).collect();
        Some(self.intrinsic(Intrinsic::Bits(what), operands, result, site))
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
            "fma" if args.len() == 3 => FloatMath::Fma,
            _ => return self.pure(base, args, ty, site),
        };
        if args.iter().any(|arg| arg.ty.promoted().is_none()) {
            return self.pure(base, args, ty, site);
        }
        let operands = args.iter().map(|arg| self.convert(arg, &ty)).collect();
        self.intrinsic(Intrinsic::FloatMath(what), operands, ty, site)
    }

    /// `__float2int_rn` and its kin.
    fn conversion(&mut self, value: &Out, from: Number, to: Number, rounding: Rounding, site: Site) -> Out {
        let (from, to) = (number_type(from), number_type(to));
        let first = self.convert(value, &from);
        let exact = !matches!((&from, &to), (Ty::Float { .. }, Ty::Int { .. })) || rounding == Rounding::TowardsZero;
        if exact {
            let id = self.convert_value(first, &to);
            return self.computed(id, to, site);
        }
        let what = match rounding {
            Rounding::Up => FloatMath::Ceil,
            Rounding::Down => FloatMath::Floor,
            _ => FloatMath::Rint,
        };
        let rounded = self.intrinsic(Intrinsic::FloatMath(what), vec![first], from, site);
        let id = self.convert(&rounded, &to);
        self.computed(id, to, site)
    }
}

#[cfg(test)]
mod tests {
    use super::MATHS;

    #[test]
    fn the_table_is_in_order() {
        assert!(MATHS.is_sorted());
    }
}
