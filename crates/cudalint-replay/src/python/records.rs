//! Structured types of `NumPy`: `np.dtype([("x", np.float32), ("n", "i4", 3)], align=True)`, and views of one field.
//!
//! Fields lie one behind the other; with `align=True` each at a multiple of what its type is aligned to, and the whole is
//! padded to the greatest of these (`NumPy`'s manual, "Structured arrays", "Automatic byte offsets and alignment").

use super::Walker;
use super::heap::Obj;
use super::value::{Array, Dim, Dtype, Kind, Layout, Val};
use crate::quantity::Quantity;
use cudalint_kernel::code::Ty;
use cudalint_kernel::python::{Field, Record};
use cudalint_program::Name;
use cudalint_program::ir::ExprId;
use std::rc::Rc;
use std::sync::Arc;

/// Most fields of a structured type.
const MAX_FIELDS: usize = 256;
/// Most structured types of one walk.
const MAX_RECORDS: usize = 1000;
/// How deep structured types may be nested.
const MAX_DEPTH: u32 = 8;

/// The type of a field before it has its place.
struct Part {
    element: Ty,
    align: u32,
    record: Option<Arc<Record>>,
    shape: Vec<i64>,
}

impl Part {
    fn bytes(&self) -> Option<u32> {
        let count = self.shape.iter().try_fold(1_i64, |all, extent| all.checked_mul(*extent))?;
        self.element.bytes()?.checked_mul(u32::try_from(count).ok()?)
    }
}

impl Walker<'_> {
    /// What a structured type of the walk is made of.
    pub(super) fn record(&self, dtype: Dtype) -> Option<&Arc<Record>> {
        match dtype {
            Dtype::Record { id, .. } => self.records.get(usize::from(id)),
            _ => None,
        }
    }

    fn interned(&mut self, record: Record) -> Option<Dtype> {
        let bytes = record.bytes;
        let at = self.records.iter().position(|known| **known == record).or_else(|| {
            (self.records.len() < MAX_RECORDS).then(|| {
                self.records.push(Arc::new(record));
                self.records.len() - 1
            })
        })?;
        Some(Dtype::Record { id: u16::try_from(at).ok()?, bytes })
    }

    /// A type of which nothing is known but its size: `ml_dtypes.bfloat16`.
    pub(super) fn sized(&mut self, bytes: u32) -> Option<Dtype> {
        self.interned(Record { bytes, align: bytes, fields: Vec::new() })
    }

    /// `np.dtype(spec, align=…)`, `Record.make_c_struct(spec)`; `None` where it is no structured type that is understood.
    pub(super) fn structured(&mut self, spec: &Val, aligned: bool) -> Option<Dtype> {
        self.structured_within(spec, aligned, 0)
    }

    fn structured_within(&mut self, spec: &Val, aligned: bool, depth: u32) -> Option<Dtype> {
        if depth > MAX_DEPTH {
            return None;
        }
        let record = match &spec.kind {
            Kind::Str(text) => self.of_string(&text.whole.clone()?, aligned)?,
            Kind::Dict(_) => self.of_dictionary(spec, aligned, depth)?,
            Kind::List(_) | Kind::Tuple(_) => {
                let mut fields = Vec::new();
                for item in self.items(spec)? {
                    let Kind::Tuple(parts) = &item.kind else { return None };
                    let (name, ty, shape) = match parts.as_ref() {
                        [name, ty] => (name, ty, None),
                        [name, ty, shape] => (name, ty, Some(shape)),
                        _ => return None,
                    };
                    let name = Name::from(name.str()?);
                    let part = self.field_type(ty, shape, aligned, depth)?;
                    fields.push((name, part));
                }
                laid_out(fields, aligned)?
            }
            _ => return None,
        };
        self.interned(record)
    }

    /// The type of a field, with its extents.
    fn field_type(&mut self, ty: &Val, shape: Option<&Val>, aligned: bool, depth: u32) -> Option<Part> {
        let shape = match shape {
            None => Vec::new(),
            Some(shape) => match shape.known() {
                Some(extent) => vec![extent],
                None => self.items(shape)?.iter().map(Val::known).collect::<Option<_>>()?,
            },
        };
        if shape.iter().any(|extent| *extent < 1) {
            return None;
        }
        // `(np.uint8, 5)`.
        if let Kind::Tuple(parts) = &ty.kind
            && let [inner, extents] = parts.as_ref()
            && shape.is_empty()
            && inner.str().is_none_or(|text| Dtype::named(text).is_some())
        {
            return self.field_type(&inner.clone(), Some(&extents.clone()), aligned, depth + 1);
        }
        if let Some(bytes) = ty.str().and_then(characters) {
            let element = Ty::Opaque { bytes: Some(bytes) };
            return Some(Part { element, align: 1, record: None, shape });
        }
        let dtype = match &ty.kind {
            Kind::List(_) | Kind::Dict(_) => self.structured_within(ty, aligned, depth + 1)?,
            _ => self.dtype_of(ty)?,
        };
        let bytes = u32::try_from(dtype.bytes()?).ok()?;
        let record = self.record(dtype).filter(|record| !record.fields.is_empty()).cloned();
        let align = match dtype {
            Dtype::Complex { .. } => bytes / 2,
            Dtype::Record { .. } => self.record(dtype)?.align,
            _ => bytes,
        };
        Some(Part { element: dtype.ty(), align, record, shape })
    }

    /// `"f4, i4"`.
    fn of_string(&mut self, text: &str, aligned: bool) -> Option<Record> {
        let mut fields = Vec::new();
        for (at, one) in text.split(',').enumerate() {
            let dtype = Dtype::named(one.trim())?;
            let align = u32::try_from(dtype.bytes()?).ok()?;
            let align = if matches!(dtype, Dtype::Complex { .. }) { align / 2 } else { align };
            let part = Part { element: dtype.ty(), align, record: None, shape: Vec::new() };
            fields.push((Name::from(format!("f{at}").as_str()), part));
        }
        if fields.len() < 2 {
            return None;
        }
        laid_out(fields, aligned)
    }

    /// `{"names": […], "formats": […], "offsets": […], "itemsize": …}`.
    fn of_dictionary(&mut self, spec: &Val, aligned: bool, depth: u32) -> Option<Record> {
        let Kind::Dict(id) = &spec.kind else { return None };
        let Obj::Dict(Some(entries)) = self.heap.get(*id) else { return None };
        let entries = entries.clone();
        let of = |name: &str| entries.iter().find(|(key, _)| key.str() == Some(name)).map(|(_, value)| value.clone());
        let known = |key: &Val| matches!(key.str(), Some("names" | "formats" | "offsets" | "itemsize" | "aligned"));
        if !entries.iter().all(|(key, _)| known(key)) {
            return None;
        }
        let aligned = match of("aligned") {
            Some(own) => self.truth(&own)?,
            None => aligned,
        };
        let (names, formats) = (self.items(&of("names")?)?, self.items(&of("formats")?)?);
        if names.len() != formats.len() {
            return None;
        }
        let mut fields = Vec::new();
        for (name, format) in names.iter().zip(&formats) {
            fields.push((Name::from(name.str()?), self.field_type(format, None, aligned, depth)?));
        }
        let mut record = laid_out(fields, aligned)?;
        if let Some(offsets) = of("offsets") {
            let offsets = self.items(&offsets)?;
            if offsets.len() != record.fields.len() {
                return None;
            }
            let mut end = 0;
            for (field, offset) in record.fields.iter_mut().zip(&offsets) {
                field.offset = u32::try_from(offset.known()?).ok()?;
                let count: i64 = field.shape.iter().product();
                let bytes = field.element.bytes()?.checked_mul(u32::try_from(count).ok()?)?;
                end = end.max(field.offset.checked_add(bytes)?);
            }
            record.bytes = if aligned { end.next_multiple_of(record.align.max(1)) } else { end };
        }
        if let Some(size) = of("itemsize") {
            record.bytes = u32::try_from(size.known()?).ok()?;
        }
        Some(record)
    }

    /// `a["x"]` of an array of records: the field of each.
    pub(super) fn field_view(&mut self, array: &Array, name: &str, id: ExprId) -> Option<Val> {
        let field = self.record(array.dtype)?.field(name)?.clone();
        let dtype = match &field.record {
            Some(record) => self.interned((**record).clone())?,
            None => match super::gufuncs::dtype_of_element(&field.element) {
                // Parts of it are not looked at.
                Dtype::Unknown => self.sized(field.element.bytes()?)?,
                dtype => dtype,
            },
        };
        let shape = array.shape.as_ref()?;
        let mut strides = self.strides(array)?;
        let mut inner = Vec::new();
        let mut next = i64::from(field.element.bytes()?);
        for extent in field.shape.iter().rev() {
            inner.push(Quantity::Known(next));
            next = next.checked_mul(*extent)?;
        }
        strides.extend(inner.into_iter().rev());
        let shape: Rc<[Dim]> =
            shape.iter().cloned().chain(field.shape.iter().map(|extent| Dim::known(*extent))).collect();
        let offset = array.offset.plus(&Quantity::Known(i64::from(field.offset)));
        let view = Some(self.expr_site(id));
        Some(Val::array(Array {
            dtype,
            shape: Some(shape),
            layout: Layout::Strided(strides.into()),
            offset,
            view,
            ..array.clone()
        }))
    }
}

/// Puts fields one behind the other.
fn laid_out(parts: Vec<(Name, Part)>, aligned: bool) -> Option<Record> {
    if parts.is_empty() || parts.len() > MAX_FIELDS {
        return None;
    }
    let mut fields: Vec<Field> = Vec::new();
    let (mut at, mut greatest) = (0_u32, 1);
    for (name, part) in parts {
        let bytes = part.bytes()?;
        if aligned {
            at = at.checked_next_multiple_of(part.align.max(1))?;
            greatest = greatest.max(part.align);
        }
        if fields.iter().any(|field| field.name == name) {
            return None;
        }
        let Part { element, align, record, shape } = part;
        fields.push(Field { name, offset: at, element, align, record, shape });
        at = at.checked_add(bytes)?;
    }
    let bytes = if aligned { at.checked_next_multiple_of(greatest)? } else { at };
    Some(Record { bytes, align: greatest, fields })
}

/// Bytes of a string of fixed length: `"S8"`, `"U4"`, `"V16"`.
fn characters(text: &str) -> Option<u32> {
    let text = text.trim_start_matches(['<', '=', '|']);
    let (kind, count) = text.split_at_checked(1)?;
    let count: u32 = count.parse().ok()?;
    match kind {
        "S" | "a" | "V" => Some(count),
        "U" => count.checked_mul(4),
        _ => None,
    }
}
