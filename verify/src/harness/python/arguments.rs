//! Arguments for functions and kernels that a script of ours calls: of the sizes that the finding states.

use super::functions::{Functions, Role, Usage};
use crate::subject::Subject;
use cudalint_findings::model::{FindingEntry, Launch};
use std::collections::BTreeMap;

/// Elements along an axis where nothing states them.
const ELEMENTS: i64 = 1000;
/// The same of arrays with several axes.
const ELEMENTS_OF_AXIS: i64 = 100;
/// Elements of an array, at most.
const MAX_ELEMENTS: i64 = 1 << 28;

/// What a finding states of sizes and values.
#[derive(Clone, Debug, Default)]
pub(super) struct Stated<'f> {
    /// `n` is 1000, `a.shape[0]` is 999.
    values: BTreeMap<&'f str, i64>,
    /// The launch.
    pub launch: Option<&'f Launch>,
    /// Elements of arrays that the accesses name, by kernel parameter.
    extents: BTreeMap<String, i64>,
    /// Whether a value is made up only for what is plainly a number or an array.
    careful: bool,
}

impl<'f> Stated<'f> {
    /// A launch alone. Values are made up only for what is plainly a number or an array.
    pub fn launched(launch: Option<&'f Launch>) -> Self {
        Self { launch, careful: true, ..Self::default() }
    }

    /// What the finding states; `kernel` is the function of its accesses.
    pub fn of(
        finding: Option<&'f FindingEntry>,
        subject: &Subject,
        functions: &Functions<'_>,
        kernel: Option<usize>,
    ) -> Self {
        let Some(claim) = finding.map(|finding| &finding.claim) else { return Self::default() };
        let mut extents = BTreeMap::new();
        for access in claim.accesses() {
            let arrays = kernel.map(|kernel| functions.arrays_on(kernel, |at| subject.line_of(at), access.site.line()));
            // Which of several arrays on a line is meant is not told.
            let mut arrays = arrays.unwrap_or_default();
            arrays.dedup();
            if let ([array], true) = (arrays.as_slice(), access.extent > 0) {
                extents.insert((*array).to_owned(), access.extent);
            }
        }
        let values = claim.inputs.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        Self { values, launch: claim.launch.as_ref(), extents, careful: false }
    }

    /// The extents that are stated of an array, by axis.
    fn shape(&self, name: &str) -> BTreeMap<usize, i64> {
        let mut shape = BTreeMap::new();
        for (bound, value) in &self.values {
            let Some(rest) = bound.strip_prefix(name) else { continue };
            let axis = match rest {
                ".size" => Some(0),
                _ => rest.strip_prefix(".shape[").and_then(|rest| rest.strip_suffix(']')?.parse().ok()),
            };
            if let Some(axis) = axis.filter(|_| (0..=MAX_ELEMENTS).contains(value)) {
                shape.insert(axis, *value);
            }
        }
        if let Some(value) = self.values.get(format!("len({name})").as_str()) {
            shape.insert(0, *value);
        }
        shape
    }
}

/// An argument, and whether it is made up rather than stated.
pub(super) struct Argument {
    /// The expression.
    pub text: String,
    /// `n = 128`, for a reader.
    pub made_up: Option<String>,
}

/// Arguments for all parameters that have no default.
///
/// # Errors
/// A parameter for which no value can be made.
pub(super) fn arguments(
    functions: &Functions<'_>,
    index: usize,
    stated: &Stated<'_>,
    with_cupy: bool,
) -> Result<Vec<Argument>, String> {
    let function = functions.all.get(index).ok_or("no function")?;
    let types = signature(function.options);
    let mut found = Vec::new();
    for (position, name) in function.parameters.iter().enumerate() {
        let usage = functions.usage(index, name);
        if usage.called {
            return Err(format!("`{name}` is called, and nothing says what it is"));
        }
        let known = usage.array || usage.number || usage.counts || is_size(name) || stated.values.contains_key(name);
        if stated.careful && !known {
            return Err(format!("nothing says what `{name}` is"));
        }
        let declared = types.get(position).map(String::as_str);
        let on_device = function.role != Role::Host || usage.on_device;
        found.push(match (declared.map(|ty| ty.contains('[')), usage.array) {
            (Some(true), _) | (None, true) => {
                array(functions, (index, name), &usage, stated, declared, (with_cupy, on_device))
            }
            _ => number(functions, (index, name), &usage, stated, declared, function.role, with_cupy),
        });
    }
    Ok(found)
}

/// An array of the stated shape.
fn array(
    functions: &Functions<'_>,
    (_, name): (usize, &str),
    usage: &Usage,
    stated: &Stated<'_>,
    declared: Option<&str>,
    (with_cupy, on_device): (bool, bool),
) -> Argument {
    let mut known = stated.shape(name);
    let own = stated.extents.get(name).copied();
    let handed = usage.handed_to.iter().find_map(|(kernel, position)| {
        let parameter = functions.all.get(*kernel)?.parameters.get(*position)?;
        let shape = stated.shape(parameter);
        Some((shape, stated.extents.get(*parameter).copied()))
    });
    let mut extent = own;
    if let Some((shape, of_kernel)) = handed {
        for (axis, value) in shape {
            known.entry(axis).or_insert(value);
        }
        extent = extent.or(of_kernel);
    }
    let declared_axes = declared.map(|ty| 1 + ty.matches(',').count());
    let axes = declared_axes.unwrap_or(usage.axes.max(known.keys().max().map_or(0, |axis| axis + 1))).max(1);
    if let (1, Some(extent)) = (axes, extent) {
        known.entry(0).or_insert(extent);
    }
    let made_up = known.is_empty();
    let shape: Vec<String> = (0..axes)
        .map(|axis| known.get(&axis).copied().unwrap_or_else(|| usual(stated, axes, axis)).to_string())
        .collect();
    let shape = if axes == 1 { shape.concat() } else { format!("({})", shape.join(", ")) };
    let dtype = match declared {
        Some(ty) => ty.split('[').next().unwrap_or("float32").trim(),
        None if usage.holds_indices => "int32",
        None => "float32",
    };
    let make = if usage.holds_indices { "zeros" } else { "ones" };
    let text = if with_cupy {
        format!("__import__(\"cupy\").{make}({shape}, dtype=\"{dtype}\")")
    } else {
        let host = format!("__import__(\"numpy\").{make}({shape}, dtype=\"{dtype}\")");
        if on_device { format!("__import__(\"numba.cuda\").cuda.to_device({host})") } else { host }
    };
    Argument { text, made_up: made_up.then(|| format!("{name} has {shape} elements")) }
}

/// A usual extent: a thread has an element of its own, or, without a launch, a number that blocks do not divide.
fn usual(stated: &Stated<'_>, axes: usize, axis: usize) -> i64 {
    let Some(launch) = stated.launch else { return if axes == 1 { ELEMENTS } else { ELEMENTS_OF_AXIS } };
    let threads = |axis: usize| {
        let (grid, block) = (launch.grid.get(axis).copied().unwrap_or(1), launch.block.get(axis).copied().unwrap_or(1));
        i64::try_from(grid.saturating_mul(block)).unwrap_or(ELEMENTS)
    };
    let wanted = if axes == 1 {
        (0..3).map(threads).fold(1, i64::saturating_mul)
    } else {
        threads(0).max(threads(1)).max(threads(axis))
    };
    wanted.clamp(1, MAX_ELEMENTS)
}

/// A number.
fn number(
    functions: &Functions<'_>,
    (_, name): (usize, &str),
    usage: &Usage,
    stated: &Stated<'_>,
    declared: Option<&str>,
    role: Role,
    with_cupy: bool,
) -> Argument {
    let of_kernel = usage.handed_to.iter().find_map(|(kernel, position)| {
        let parameter = functions.all.get(*kernel)?.parameters.get(*position)?;
        stated.values.get(parameter).copied()
    });
    let value = stated.values.get(name).copied().or(of_kernel);
    let floating = declared.is_some_and(|ty| ty.starts_with("float"));
    let text = match (value, floating) {
        (Some(value), _) => value.to_string(),
        (None, true) => "2.0".to_owned(),
        (None, false) if usage.counts || is_size(name) => ELEMENTS.to_string(),
        (None, false) => "2".to_owned(),
    };
    // Raw integers would be 64 bits wide there.
    let typed = role == Role::CupyJit && with_cupy;
    let shown = if typed { format!("__import__(\"numpy\").int32({text})") } else { text.clone() };
    Argument { text: shown, made_up: value.is_none().then(|| format!("{name} = {text}")) }
}

fn is_size(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["n", "m", "k", "nx", "ny", "nz"].contains(&lower.as_str())
        || ["size", "count", "len", "rows", "cols", "width", "height", "num", "total"]
            .iter()
            .any(|word| lower.contains(word))
}

/// Types of the parameters that a decorator's signature states: `void(float32[:], int32)`.
fn signature(options: &str) -> Vec<String> {
    let inner = options.trim_start().trim_start_matches(['"', '\'', '(']);
    let Some(rest) = inner.strip_prefix("void(").or_else(|| inner.find("void(").and_then(|at| inner.get(at + 5..)))
    else {
        return Vec::new();
    };
    let (mut depth, mut types, mut current) = (0, Vec::new(), String::new());
    for letter in rest.chars() {
        match letter {
            '[' | '(' => depth += 1,
            ')' if depth == 0 => break,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                types.push(std::mem::take(&mut current));
                continue;
            }
            _ => {}
        }
        current.push(letter);
    }
    types.push(current);
    types
        .iter()
        .map(|ty| ty.trim().rsplit_once('.').map_or(ty.trim(), |(_, last)| last).to_owned())
        .filter(|ty| !ty.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::signature;

    #[test]
    fn types_are_read_from_signatures() {
        assert_eq!(signature("\"void(float64[:,:], int32)\")"), ["float64[:,:]", "int32"]);
        assert_eq!(signature("nb.void(nb.float32[::1], nb.int64), fastmath=True)"), ["float32[::1]", "int64"]);
        assert!(signature("fastmath=True)").is_empty());
    }
}
