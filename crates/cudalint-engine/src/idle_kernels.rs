//! Kernels that no program has a use for: of C++, one whose file is built and whose name nobody gives the driver; of Python, one that a script
//! launches nowhere but in comments and code that never runs.

use crate::file_uses::File;
use crate::others::{self, Other, words_at};
use crate::roles::Role;
use crate::uncalled::{Ask, Uses};
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

    /// Whether a kernel of a script in Python stands nowhere but in comments and in code that never runs.
    pub(crate) fn is_idle_in_python(&self, at: usize, function: &Function, ask: &Ask<'_, 'p>) -> bool {
        let Some(file) = self.files.get(at) else { return false };
        let name = file.path.rsplit('/').next().unwrap_or("");
        let Some(stem) = name.strip_suffix(".py") else { return false };
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
