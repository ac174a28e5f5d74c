//! Kernels that no program has a use for: of C++, one whose file is built and whose name nobody gives the driver; of Python, one that a script
//! launches nowhere but in comments and code that never runs.

use crate::file_uses::File;
use crate::others::{self, Other, words_at};
use crate::roles::Role;
use crate::uncalled::{Ask, MAX_CALLS, Uses};
use cudalint_program::ir::Function;
use cudalint_syntax::Language;

impl<'p> Uses<'p> {
    /// Whether code for the GPU is part of a program that is built, and nobody asks the driver for it by its mangled name.
    pub(crate) fn is_built_kernel(&self, file: &File<'p>, function: &Function, ask: &Ask<'_, 'p>) -> bool {
        let Some(texts) = ask.others.texts() else { return false };
        let name = file.path.rsplit('/').next().unwrap_or("");
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        // One by one, or all of their kind.
        let kind = name.rsplit_once('.').map_or("", |(_, kind)| kind);
        let all = ["*.", "%."].map(|star| format!("{star}{kind}"));
        let lists = |text: &Other| {
            text.role == Role::Build
                && (words_at(&text.text, stem).next().is_some() || all.iter().any(|all| spells(&text.text, all)))
        };
        let mangled = format!("{}{}", function.name.len(), &*function.name);
        let own = self.mangled.get_or_init(|| self.files.iter().flat_map(|file| others::mangled(file.text)).collect());
        // Where nothing is built by a file, what shares a header with a program is built with it.
        let by_hand = self.builds_nothing && file.of_program;
        (file.has_main || !file.compiled || file.included || by_hand || texts.iter().any(lists))
            && !ask.others.mangled().iter().any(|name| name.contains(&mangled))
            && !own.iter().any(|name| name.contains(&mangled))
    }

    /// Whether no kernel can call a function of the device in Python: nothing is compiled of it then. Functions of the host may call one by
    /// mistake; whatever else names it may hand it to a kernel.
    fn is_idle_on_device(&self, at: usize, function: &Function, ask: &Ask<'_, 'p>, calls: u32) -> bool {
        // Each function that is asked about is looked for in all files.
        let (Some(calls), Some(left)) = (calls.checked_sub(1), ask.left.get().checked_sub(1)) else { return false };
        ask.left.set(left);
        let name = &*function.name;
        let texts = ask.others.texts();
        if texts.is_none_or(|texts| texts.iter().any(|text| text.role == Role::Script && text.names(name))) {
            return false;
        }
        let of_python = self.files.iter().enumerate().filter(|(_, file)| file.module.language == Language::Python);
        of_python.flat_map(|(index, file)| words_at(file.text, name).map(move |place| (index, file, place))).all(
            |(index, file, place)| {
                if index == at && function.span.range().contains(&place) || file.is_comment(place) {
                    return true;
                }
                let line = file.text[..place].rsplit('\n').next().unwrap_or("").trim_start();
                if line.starts_with("from ") && line.contains(" import ") {
                    return true;
                }
                let behind = &file.text[place + name.len()..];
                let functions = file.module.functions.iter_enumerated();
                let around =
                    functions.filter(|(id, it)| Some(*id) != file.module.body && it.span.range().contains(&place));
                match around.min_by_key(|(_, it)| it.span.end - it.span.start).map(|(_, it)| it) {
                    Some(other) if other.space.global => false,
                    Some(other) if other.space.device => {
                        std::ptr::eq(other, function) || self.is_idle_on_device(index, other, ask, calls)
                    }
                    // Its own `def` stands in no function.
                    Some(_) => behind.starts_with('('),
                    None => line.starts_with("def ") && index == at,
                }
            },
        )
    }

    /// Whether a kernel of a script in Python stands nowhere but in comments and in code that never runs.
    pub(crate) fn is_idle_in_python(&self, at: usize, function: &Function, ask: &Ask<'_, 'p>) -> bool {
        let Some(file) = self.files.get(at) else { return false };
        let name = file.path.rsplit('/').next().unwrap_or("");
        let Some(stem) = name.strip_suffix(".py") else { return false };
        if function.space.device && !function.space.global && self.is_idle_on_device(at, function, ask, MAX_CALLS) {
            return true;
        }
        let never = |place: usize| file.is_dead_at(place, ask.project, at);
        let is_own = |place: usize| function.span.range().contains(&place);
        let uses: Vec<usize> = words_at(file.text, &function.name).filter(|place| !is_own(*place)).collect();
        // A launch that is commented out tells a script, too.
        let launched = |place: usize| file.text[place + function.name.len()..].starts_with('[');
        let is_script = file.text.contains("__main__")
            || uses.iter().any(|place| never(*place) || file.is_comment(*place) && launched(*place));
        let is_kernel = function.space.global || function.space.device;
        let imports = |other: &File<'p>| {
            other.path != file.path
                && other.module.language == Language::Python
                && words_at(other.text, stem).next().is_some()
        };
        is_kernel
            && is_script
            && uses.iter().all(|place| never(*place) || file.is_comment(*place))
            && !self.files.iter().any(imports)
            && ask
                .others
                .texts()
                .is_some_and(|texts| !texts.iter().any(|text| text.role == Role::Script && text.names(stem)))
    }
}

/// Whether a text has a pattern, and no longer one.
fn spells(text: &str, pattern: &str) -> bool {
    let ends = |at: usize| !text[at + pattern.len()..].starts_with(|next: char| next.is_ascii_alphanumeric());
    text.match_indices(pattern).any(|(at, _)| ends(at))
}
