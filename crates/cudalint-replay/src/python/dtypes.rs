//! What a program writes for a type of array elements: `np.float32`, `"f4"`, a list of fields.

use super::Walker;
use super::calls::Args;
use super::dtype::{Dtype, FLOAT, INT};
use super::value::{Kind, Val};

impl Walker<'_> {
    /// A `dtype=` argument; `natural` where there is none.
    pub(super) fn dtype_argument(&mut self, value: Option<&Val>, natural: Dtype) -> Dtype {
        match value {
            None => natural,
            Some(value) if matches!(value.kind, Kind::None) => natural,
            Some(value) => self.dtype_of(value).unwrap_or(Dtype::Unknown),
        }
    }

    /// `np.dtype(value, align=…)`.
    pub(super) fn dtype_with(&mut self, value: &Val, args: &Args) -> Option<Dtype> {
        let aligned = match args.get(1, "align") {
            None => false,
            Some(align) => self.truth(align)?,
        };
        if aligned && !matches!(value.kind, Kind::Dtype(_)) {
            return self.structured(value, true).or_else(|| self.dtype_of(value));
        }
        self.dtype_of(value)
    }

    /// What a value means as a type of elements.
    pub(super) fn dtype_of(&mut self, value: &Val) -> Option<Dtype> {
        match &value.kind {
            Kind::Dtype(dtype) => Some(*dtype),
            Kind::Str(text) => {
                let named = Dtype::named(text.whole.as_deref()?);
                named.or_else(|| self.structured(value, false)).or(Some(Dtype::Other))
            }
            Kind::Package(path) => match &**path {
                "builtins.float" => Some(FLOAT),
                "builtins.int" => Some(INT),
                "builtins.bool" => Some(Dtype::Bool),
                "builtins.complex" => Some(Dtype::Complex { bytes: 16 }),
                "ml_dtypes.bfloat16" => self.sized(2),
                path if path.starts_with("ml_dtypes.float8_") => self.sized(1),
                _ => None,
            },
            Kind::List(_) | Kind::Tuple(_) | Kind::Dict(_) => self.structured(value, false).or(Some(Dtype::Other)),
            _ => None,
        }
    }
}
