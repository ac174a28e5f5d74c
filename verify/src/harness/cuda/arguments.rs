//! Made-up arguments: declarations that give each parameter of a function a value, as lines of a harness.

use super::page;
use super::values::{Chosen, stated, usual};
use crate::subject::{Parameter, PointerUses, Subject, Uses};
use cudalint_findings::model::FindingEntry;
use cudalint_program::types::Ty;
use std::collections::BTreeSet;

/// Elements of a buffer whose size nothing states: more than any size that the harness passes.
const ELEMENTS: &str = "1 << 20";
/// The same for pointers to records, which may be large.
const RECORDS: &str = "1 << 16";

/// Writes the lines before and after a call.
pub(super) struct Writer<'s> {
    pub finding: Option<&'s FindingEntry>,
    pub subject: &'s Subject,
    /// How many of the parameters are sizes.
    pub sizes: usize,
    /// The value of truth values.
    pub truth: bool,
    /// Whether a truth value was needed.
    pub used_truth: bool,
    /// Shared functions that the lines use.
    pub helpers: BTreeSet<Helper>,
    /// Lines before the call.
    pub lines: Vec<String>,
    /// Lines after the call.
    pub after: Vec<String>,
    taken: BTreeSet<String>,
}

/// A shared function of the harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    Fill,
    Host,
    Device,
    Managed,
    Pinned,
}

impl Helper {
    /// Its text.
    pub fn text(self) -> &'static str {
        match self {
            Self::Fill => page::FILL,
            Self::Host => page::HOST,
            Self::Device => page::DEVICE,
            Self::Managed => page::MANAGED,
            Self::Pinned => page::PINNED,
        }
    }
}

impl<'s> Writer<'s> {
    pub fn new(finding: Option<&'s FindingEntry>, subject: &'s Subject, truth: bool) -> Self {
        Self {
            finding,
            subject,
            sizes: 0,
            truth,
            used_truth: false,
            helpers: BTreeSet::new(),
            lines: Vec::new(),
            after: Vec::new(),
            taken: BTreeSet::new(),
        }
    }

    /// A name that is not yet taken in this block.
    pub fn fresh(&mut self, wanted: &str, position: usize) -> String {
        let mut name = if wanted.is_empty() { format!("argument_{}", position + 1) } else { wanted.to_owned() };
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }

    fn need(&mut self, helpers: &[Helper]) {
        self.helpers.extend(helpers);
    }

    /// Declares a value for a parameter and gives the expression to pass.
    ///
    /// # Errors
    /// Why no value can be made, naming the parameter.
    pub fn argument(&mut self, parameter: &Parameter, position: usize, uses: &PointerUses) -> Result<String, String> {
        let name = self.fresh(&parameter.name, position);
        let shown =
            if parameter.name.is_empty() { format!("{}", position + 1) } else { format!("`{}`", parameter.name) };
        if parameter.ty.is_empty() {
            return Err(format!("no argument can be made for parameter {shown}: its type has no plain spelling"));
        }
        if matches!(parameter.resolved.value(), Ty::Function)
            || parameter.ty.contains("(*")
            || parameter.ty.contains("...")
        {
            return Err(format!("no argument can be made for parameter {shown} of type `{}`", parameter.ty));
        }
        let ty = Spelling::new(&parameter.ty);
        if ty.pointers > 0 || matches!(parameter.resolved.value(), Ty::Pointer(_) | Ty::Array(..)) {
            self.pointer(&name, &ty, &parameter.resolved, uses);
        } else {
            self.value(&name, &ty, &parameter.resolved);
        }
        Ok(if ty.moved { format!("std::move({name})") } else { name })
    }

    fn pointer(&mut self, name: &str, ty: &Spelling, resolved: &Ty, uses: &PointerUses) {
        let element = ty.element();
        let pointee = resolved.pointee().cloned().unwrap_or(Ty::Unknown);
        let here = uses.level(0);
        if ty.pointers >= 2 || matches!(pointee, Ty::Pointer(_)) {
            self.slots(name, &element, &pointee, uses);
            return;
        }
        if element == "char" && !here.device {
            let is_path = super::values::words(name).iter().any(|word| {
                matches!(
                    word.as_str(),
                    "file" | "filename" | "path" | "fname" | "input" | "output" | "infile" | "outfile"
                )
            });
            let text = if is_path { "/dev/null" } else { "text" };
            self.lines.push(format!("char {name}[4096] = \"{text}\";"));
            return;
        }
        if element == "FILE" {
            self.lines.push(format!("FILE *{name} = tmpfile();"));
            return;
        }
        let (element, count) = match element.as_str() {
            "void" => ("char".to_owned(), "8 << 20"),
            _ if matches!(pointee, Ty::Record(..) | Ty::Library(..)) => (element, RECORDS),
            _ => (element, ELEMENTS),
        };
        let (make, why) = self.memory(here);
        self.lines.push(format!("{element} *{name} = {make}<{element}>({count}); // {why}"));
        self.release(name, here);
    }

    /// The shared function that makes memory for a pointer that is used so, and the reason.
    fn memory(&mut self, uses: Uses) -> (&'static str, &'static str) {
        self.need(&[Helper::Fill, Helper::Host]);
        if uses.pinned {
            self.need(&[Helper::Pinned]);
            ("harness_pinned", "used as page-locked host memory")
        } else if uses.device && !uses.host && !uses.host_writes {
            self.need(&[Helper::Device]);
            ("harness_device", "used by the device only")
        } else if (uses.host || uses.host_writes) && !uses.device {
            ("harness_host", "used by the host only")
        } else {
            self.need(&[Helper::Managed]);
            ("harness_managed", if uses.device { "used by both sides" } else { "good for both sides" })
        }
    }

    fn release(&mut self, name: &str, uses: Uses) {
        if uses.is_freed() || uses.escapes {
            return;
        }
        let host_only = (uses.host || uses.host_writes) && !uses.device && !uses.pinned;
        self.after.push(match () {
            () if uses.pinned => format!("cudaFreeHost({name});"),
            () if host_only => format!("free({name});"),
            () => format!("cudaFree({name});"),
        });
    }

    /// Pointers to pointers: slots that each hold a buffer.
    fn slots(&mut self, name: &str, element: &str, pointee: &Ty, uses: &PointerUses) {
        let inner = Spelling::new(element);
        let target = inner.element();
        let target_ty = pointee.pointee().cloned().unwrap_or(Ty::Unknown);
        let bytes = if target == "void" { "char".to_owned() } else { target };
        let count = match target_ty {
            Ty::Record(..) => "1 << 12",
            _ => ELEMENTS,
        };
        let on_device = uses.level(0).device;
        let (make, why) = self.memory(uses.level(1));
        let element = inner.without_const();
        let slots = if on_device { format!("{name}_slots") } else { name.to_owned() };
        self.lines.push(format!("{element} {slots}[16]; // 16 buffers, {why}"));
        self.lines.push(format!("for (auto &slot : {slots}) slot = {make}<{bytes}>({count});"));
        if on_device {
            self.lines.push(format!("{element} *{name} = nullptr; // the same pointers in device memory"));
            self.lines.push(format!("harness_check(cudaMalloc((void **)&{name}, sizeof({slots})), \"cudaMalloc\");"));
            self.lines.push(format!(
                "harness_check(cudaMemcpy((void *){name}, {slots}, sizeof({slots}), cudaMemcpyHostToDevice), \"cudaMemcpy\");"
            ));
        }
    }

    fn value(&mut self, name: &str, ty: &Spelling, resolved: &Ty) {
        let spelled = ty.without_const();
        let line = match resolved.value() {
            Ty::Bool => {
                self.used_truth = true;
                format!("bool {name} = {};", self.truth)
            }
            Ty::Int { bytes, .. } => {
                let Chosen { value, why } =
                    stated(self.finding, name).unwrap_or_else(|| usual(name, *bytes, self.sizes));
                format!("{spelled} {name} = {value}; // {why}")
            }
            Ty::Enum { .. } => format!("{spelled} {name} = static_cast<{spelled}>(0);"),
            Ty::Float { .. } => format!("{spelled} {name} = 1.0f;"),
            Ty::Vector { name: vector, .. } if &**vector == "dim3" => {
                let words = super::values::words(name);
                let is = |wanted: &str| words.iter().any(|word| word.starts_with(wanted));
                let size = if is("block") || is("thread") {
                    "256"
                } else if is("grid") {
                    "4"
                } else {
                    "1"
                };
                format!("dim3 {name}({size});")
            }
            Ty::Library(library, _) => self.library(name, &spelled, library),
            _ => format!("{spelled} {name}{{}};"),
        };
        self.lines.push(line);
    }

    fn library(&mut self, name: &str, spelled: &str, library: &str) -> String {
        let (made, destroyed) = match library.trim_start_matches("std::") {
            "vector" | "thrust::device_vector" | "thrust::host_vector" | "thrust::universal_vector" => {
                return format!("{spelled} {name}(1000);");
            }
            "string" => return format!("{spelled} {name}(\"text\");"),
            "cudaStream_t" => ("cudaStreamCreate", "cudaStreamDestroy"),
            "cudaEvent_t" => ("cudaEventCreate", "cudaEventDestroy"),
            "cublasHandle_t" => ("cublasCreate", "cublasDestroy"),
            "cusparseHandle_t" => ("cusparseCreate", "cusparseDestroy"),
            _ => return format!("{spelled} {name}{{}};"),
        };
        self.after.push(format!("{destroyed}({name});"));
        self.lines.push(format!("{spelled} {name};"));
        format!("if ({made}(&{name}) != 0) exit(1);")
    }
}

/// A parameter's type taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spelling {
    /// Without references and without what does not concern a caller.
    text: String,
    /// `*` outside of template arguments.
    pub pointers: usize,
    /// Whether it is `T &&`.
    pub moved: bool,
}

impl Spelling {
    pub fn new(text: &str) -> Self {
        let mut words = text.replace("__restrict__", " ").replace("__restrict", " ").replace("__grid_constant__", " ");
        for word in ["register ", "restrict "] {
            words = words.replace(word, " ");
        }
        let trimmed = words.trim();
        let moved = trimmed.ends_with("&&");
        let text = trimmed.trim_end_matches('&').trim().to_owned();
        let pointers = stars(&text).len();
        Self { text, pointers, moved }
    }

    /// What the pointer points to, without its `const`; for a name that stands for a pointer, by its meaning.
    pub fn element(&self) -> String {
        match stars(&self.text).last().and_then(|at| self.text.get(..*at)) {
            Some(text) => {
                Self { text: text.trim().to_owned(), pointers: self.pointers - 1, moved: false }.without_const()
            }
            None => format!("std::remove_pointer<{}>::type", self.without_const()),
        }
    }

    /// The type as a variable's that is assigned to.
    pub fn without_const(&self) -> String {
        let mut text = self.text.trim();
        if self.pointers > 0 {
            while let Some(rest) = text.strip_suffix("const").or_else(|| text.strip_suffix("volatile")) {
                text = rest.trim_end();
            }
            return text.to_owned();
        }
        let words: Vec<&str> = text.split(' ').filter(|word| !matches!(*word, "const" | "volatile" | "")).collect();
        words.join(" ")
    }
}

/// The places of `*` outside of angle brackets.
fn stars(text: &str) -> Vec<usize> {
    let mut depth = 0i32;
    let mut found = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth -= 1,
            b'*' if depth == 0 => found.push(at),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::Spelling;

    #[test]
    fn types_are_taken_apart() {
        let of = |text: &str| (Spelling::new(text).element(), Spelling::new(text).pointers);
        assert_eq!(of("const float *__restrict__"), ("float".to_owned(), 1));
        assert_eq!(of("const float *const *"), ("const float *".to_owned(), 2));
        assert_eq!(of("float **"), ("float *".to_owned(), 2));
        assert_eq!(of("unsigned char const *const"), ("unsigned char".to_owned(), 1));
        assert_eq!(of("std::vector<float *> &").1, 0);
        assert_eq!(Spelling::new("const std::vector<const float *> &").without_const(), "std::vector<const float *>");
    }
}
