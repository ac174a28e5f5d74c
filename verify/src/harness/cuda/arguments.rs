//! Made-up arguments: declarations that give each parameter of a function a value, as lines of a harness.

use super::helpers::Helper;
use super::spelling::Spelling;
use super::values::{Chosen, stated, usual, words};
use crate::spelled::HANDLES;
use crate::subject::{Parameter, PointerUses, Subject, Uses};
use cudalint_findings::model::FindingEntry;
use cudalint_program::Entry;
use cudalint_program::ir::LocalId;
use cudalint_program::types::{Ty, TypeEnv};
use std::collections::{BTreeMap, BTreeSet};

/// Elements of a buffer whose size nothing states: more than any size that the harness passes.
const ELEMENTS: &str = "4 << 20";
/// The same for pointers to records, which may be large.
const RECORDS: &str = "1 << 14";

/// Writes the lines before and after a call.
pub(super) struct Writer<'s> {
    pub finding: Option<&'s FindingEntry>,
    pub subject: &'s Subject,
    /// Numbers that were chosen for parameters beforehand.
    pub numbers: BTreeMap<LocalId, Chosen>,
    /// Elements of buffers that the finding says the size of, by parameter.
    pub extents: BTreeMap<LocalId, i64>,
    /// How many of the parameters are sizes.
    pub sizes: usize,
    /// Shared functions that the lines use.
    pub helpers: BTreeSet<Helper>,
    /// Lines before the call.
    pub lines: Vec<String>,
    /// Lines after the call.
    pub after: Vec<String>,
    /// Records within records that are being made.
    pub depth: u32,
    taken: BTreeSet<String>,
}

impl<'s> Writer<'s> {
    pub fn new(finding: Option<&'s FindingEntry>, subject: &'s Subject) -> Self {
        Self {
            finding,
            subject,
            numbers: BTreeMap::new(),
            extents: BTreeMap::new(),
            sizes: 0,
            helpers: BTreeSet::new(),
            lines: Vec::new(),
            after: Vec::new(),
            depth: 0,
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

    pub fn need(&mut self, helpers: &[Helper]) {
        for helper in helpers {
            self.helpers.extend(helper.with_needed());
        }
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
        let refused = parameter.ty.contains("(*") || parameter.ty.contains("...") || parameter.ty.contains("auto");
        if refused || matches!(parameter.resolved.value(), Ty::Function) {
            return Err(format!("no argument can be made for parameter {shown} of type `{}`", parameter.ty));
        }
        let opaque = match parameter.resolved.element() {
            Some(Ty::Function) => true,
            Some(Ty::Library(name, _)) => matches!(&**name, "cudaArray" | "cudaMipmappedArray"),
            _ => false,
        };
        if opaque {
            return Err(format!("no argument can be made for parameter {shown} of type `{}`", parameter.ty));
        }
        let ty = Spelling::new(&parameter.ty);
        if ty.pointers > 0 || matches!(parameter.resolved.value(), Ty::Pointer(_) | Ty::Array(..)) {
            self.pointer(&name, &ty, &parameter.resolved, uses, self.extents.get(&parameter.local).copied());
        } else {
            let chosen = self.numbers.get(&parameter.local).cloned();
            self.value(&name, &ty, &parameter.resolved, chosen)
                .map_err(|reason| format!("no argument can be made for parameter {shown}: {reason}"))?;
        }
        Ok(if ty.moved { format!("std::move({name})") } else { name })
    }

    fn pointer(&mut self, name: &str, ty: &Spelling, resolved: &Ty, uses: &PointerUses, extent: Option<i64>) {
        let element = ty.element();
        let pointee = resolved.element().cloned().unwrap_or(Ty::Unknown);
        let here = uses.level(0);
        if ty.pointers >= 2 || matches!(pointee, Ty::Pointer(_)) {
            self.slots(name, &element, &pointee, uses);
            return;
        }
        if element == "char" && !here.device {
            self.lines.push(format!("char {name}[4096] = \"{}\";", text_for(name)));
            return;
        }
        if element == "FILE" {
            self.lines.push(format!("FILE *{name} = tmpfile();"));
            return;
        }
        let (make, why) = self.memory(here);
        if let Some(extent) = extent {
            let declared = pointer(&element, name);
            self.lines.push(format!("{declared} = {make}<{element}>({extent}); // as many as the finding says"));
            self.release(name, here);
            return;
        }
        let (element, count) = buffer_of(element, &pointee);
        let declared = pointer(&element, name);
        if let Ty::Record(entry, env) = &pointee
            && self.has_pointers(*entry, env)
        {
            self.records(name, &element, (*entry, env), here.device);
        } else {
            self.lines.push(format!("{declared} = {make}<{element}>({count}); // {why}"));
        }
        self.release(name, here);
    }

    /// Records that hold pointers: one is filled, and the others are the same.
    fn records(&mut self, name: &str, element: &str, (entry, env): (Entry, &TypeEnv), on_device: bool) {
        let filled = if on_device { self.fresh(&format!("{name}_on_host"), 0) } else { name.to_owned() };
        self.need(&[Helper::Host]);
        let declared = pointer(element, &filled);
        self.lines.push(format!("{declared} = harness_host<{element}>({RECORDS}); // all like the first"));
        self.fields(&format!("{filled}[0]"), entry, env);
        self.lines.push(format!("for (size_t i = 1; i < ({RECORDS}); ++i) {filled}[i] = {filled}[0];"));
        if on_device {
            // Managed, since host code may use them too.
            self.need(&[Helper::Managed]);
            let declared = pointer(element, name);
            self.lines.push(format!("{declared} = harness_managed<{element}>({RECORDS});"));
            self.lines.push(format!(
                "harness_check(cudaMemcpy({name}, {filled}, ({RECORDS}) * sizeof({element}), cudaMemcpyDefault), \"cudaMemcpy\");"
            ));
        }
    }

    /// The value of a pointer that is declared elsewhere: a field, or a variable of the file.
    pub fn memory_for(&mut self, target: &str, resolved: &Ty, spelled: &str, uses: &PointerUses) -> Option<String> {
        let pointee = resolved.element()?.clone();
        if matches!(pointee, Ty::Pointer(_) | Ty::Function) {
            return None;
        }
        let element = match Spelling::new(spelled) {
            ty if ty.pointers == 1 => ty.element(),
            _ => format!(
                "std::remove_cv<std::remove_pointer<std::remove_reference<decltype({target})>::type>::type>::type"
            ),
        };
        let here = uses.level(0);
        if element == "char" && !here.device {
            return Some(format!("strdup(\"{}\")", text_for(target)));
        }
        let (make, _) = self.memory(here);
        let (element, count) = buffer_of(element, &pointee);
        Some(format!("{make}<{element}>({count})"))
    }

    /// The shared function that makes memory for a pointer that is used so, and the reason.
    fn memory(&mut self, uses: Uses) -> (&'static str, &'static str) {
        let (helper, why) = if uses.pinned {
            (Helper::Pinned, "used as page-locked host memory")
        } else if uses.device && !uses.host && !uses.host_writes {
            (Helper::Device, "used by the device only")
        } else if (uses.host || uses.host_writes) && !uses.device {
            (Helper::Host, "used by the host only")
        } else {
            (Helper::Managed, if uses.device { "used by both sides" } else { "good for both sides" })
        };
        self.need(&[helper]);
        (helper.name(), why)
    }

    fn release(&mut self, name: &str, uses: Uses) {
        if uses.is_freed() || uses.escapes {
            return;
        }
        let host_only = (uses.host || uses.host_writes) && !uses.device;
        self.after.push(match () {
            () if uses.pinned => format!("cudaFreeHost({name});"),
            () if host_only => format!("free({name});"),
            () => format!("cudaFree({name});"),
        });
    }

    /// Pointers to pointers: slots that each hold a buffer.
    fn slots(&mut self, name: &str, element: &str, pointee: &Ty, uses: &PointerUses) {
        let inner = Spelling::new(element);
        let target_ty = pointee.element().cloned().unwrap_or(Ty::Unknown);
        let on_device = uses.level(0).device;
        if inner.pointers >= 2 || matches!(target_ty, Ty::Pointer(_)) {
            let declared = variable(element, name);
            self.lines.push(format!("{declared}[16] = {{}}; // pointers that nothing has been stored in"));
            return;
        }
        let (target, _) = buffer_of(inner.element(), &target_ty);
        let level = uses.level(1);
        // As many rows as a size says, or a few where the function only stores pointers of its own.
        let (slot_count, count) =
            if level == Uses::default() && !on_device { (16, "1 << 16") } else { (1024, "1 << 12") };
        if target == "char" && !level.device && !on_device {
            self.lines.push(format!("char {name}_text[4096] = \"{}\";", text_for(name)));
            self.lines.push(format!("{}[1024];", variable(&inner.without_const(), name)));
            self.lines.push(format!("for (auto &slot : {name}) slot = {name}_text;"));
            return;
        }
        let (make, why) = self.memory(if on_device { Uses { device: true, ..Uses::default() } } else { level });
        let element = inner.without_const();
        let slots = if on_device { format!("{name}_slots") } else { name.to_owned() };
        self.lines.push(format!("{}[{slot_count}]; // {slot_count} buffers, {why}", variable(&element, &slots)));
        self.lines.push(format!("for (auto &slot : {slots}) slot = {make}<{target}>({count});"));
        if on_device {
            self.lines.push(format!("{} = nullptr; // the same pointers in device memory", pointer(&element, name)));
            self.lines.push(format!("harness_check(cudaMalloc((void **)&{name}, sizeof({slots})), \"cudaMalloc\");"));
            self.lines.push(format!(
                "harness_check(cudaMemcpy((void *){name}, {slots}, sizeof({slots}), cudaMemcpyHostToDevice), \"cudaMemcpy\");"
            ));
        }
    }

    /// A number for an integer that nothing was chosen for.
    pub fn number(&self, name: &str, bytes: u8) -> Chosen {
        stated(self.finding, name).unwrap_or_else(|| usual(name, bytes, self.sizes))
    }

    fn value(&mut self, name: &str, ty: &Spelling, resolved: &Ty, chosen: Option<Chosen>) -> Result<(), String> {
        let spelled = ty.without_const();
        let line = match resolved.value() {
            Ty::Bool => {
                let Chosen { value, why, .. } = chosen.unwrap_or_else(|| Chosen::new(1, "made up"));
                format!("bool {name} = {}; // {why}", value != 0)
            }
            Ty::Int { bytes, .. } => {
                let Chosen { value, why, .. } = chosen.unwrap_or_else(|| self.number(name, *bytes));
                // A name may stand for an enumeration.
                if is_plain_integer(&spelled) {
                    format!("{spelled} {name} = {value}; // {why}")
                } else {
                    format!("{spelled} {name} = static_cast<{spelled}>({value}); // {why}")
                }
            }
            Ty::Enum { .. } => {
                let value = chosen.map_or(0, |chosen| chosen.value);
                format!("{spelled} {name} = static_cast<{spelled}>({value});")
            }
            Ty::Float { .. } => format!("{spelled} {name} = 1.0f;"),
            Ty::Vector { name: vector, .. } if &**vector == "dim3" => {
                let words = words(name);
                let is = |wanted: &str| words.iter().any(|word| word.contains(wanted));
                let size = if is("block") && !is("blocks") || is("thread") {
                    "256"
                } else if is("grid") || is("blocks") {
                    "4"
                } else {
                    "1"
                };
                format!("dim3 {name}({size});")
            }
            Ty::Library(library, _) => self.library(name, &spelled, library),
            Ty::Record(entry, env) => {
                return self.construct(name, &spelled, *entry, env);
            }
            _ => format!("{spelled} {name}{{}};"),
        };
        self.lines.push(line);
        Ok(())
    }

    fn library(&mut self, name: &str, spelled: &str, library: &str) -> String {
        let (made, destroyed) = match library.trim_start_matches("std::") {
            "vector" | "thrust::device_vector" | "thrust::host_vector" | "thrust::universal_vector" => {
                return format!("{spelled} {name}(1000);");
            }
            "string" => return format!("{spelled} {name}(\"{}\");", text_for(name)),
            library => match HANDLES.iter().find(|(ty, ..)| *ty == library) {
                Some((_, made, destroyed)) => (made, destroyed),
                None => return format!("{spelled} {name}{{}};"),
            },
        };
        self.after.push(format!("{destroyed}({name});"));
        self.lines.push(format!("{spelled} {name};"));
        format!("if ({made}(&{name}) != 0) exit(1);")
    }
}

/// Whether a type is spelled as one of the language's or library's own integers.
fn is_plain_integer(spelled: &str) -> bool {
    const WORDS: [&str; 10] =
        ["unsigned", "signed", "int", "long", "short", "char", "uint", "ushort", "uchar", "ulong"];
    spelled.split(' ').all(|word| WORDS.contains(&word) || word.ends_with("_t"))
}

/// The declaration of a variable.
fn variable(ty: &str, name: &str) -> String {
    if ty.ends_with('*') { format!("{ty}{name}") } else { format!("{ty} {name}") }
}

/// The declaration of a pointer to a type.
fn pointer(element: &str, name: &str) -> String {
    variable(&variable(element, "*"), name)
}

/// The element type and count of a buffer whose size nothing states.
fn buffer_of(element: String, pointee: &Ty) -> (String, &'static str) {
    if element == "void" {
        ("char".to_owned(), "32 << 20")
    } else if matches!(pointee, Ty::Record(..) | Ty::Library(..)) {
        (element, RECORDS)
    } else {
        (element, ELEMENTS)
    }
}

/// A text for a parameter: the name of a file that can be read and written where it names one.
fn text_for(name: &str) -> &'static str {
    const FILES: [&str; 10] =
        ["file", "filename", "path", "fname", "input", "output", "infile", "outfile", "dir", "folder"];
    if words(name).iter().any(|word| FILES.contains(&word.as_str())) { "/dev/null" } else { "text" }
}
