//! Paths and files that a script reads: `SourceModule(open("kernels.cu").read())`.

use super::Walker;
use super::calls::Args;
use super::value::{Kind, MAX_TEXT, Text, Val};
use cudalint_program::Name;
use cudalint_program::ir::ModuleId;
use std::rc::Rc;

impl Val {
    /// `os.path.join(…)` and `a / b` of `pathlib`: the whole path, or its end from the last part that nobody knows.
    pub(super) fn joined_path(parts: &[&Self]) -> Self {
        let mut path = String::new();
        let mut whole = true;
        for part in parts {
            match &part.kind {
                Kind::Str(text) if text.whole.is_some() => {
                    let text = text.whole.as_deref().unwrap_or_default();
                    if text.starts_with('/') {
                        (path, whole) = (String::new(), true);
                    }
                    let separated = path.ends_with('/') || path.is_empty() && whole;
                    path.push_str(if separated { "" } else { "/" });
                    path.push_str(text);
                }
                Kind::Str(text) => (path, whole) = (text.end.as_deref().unwrap_or_default().to_owned(), false),
                _ => (path, whole) = (String::new(), false),
            }
        }
        if path.len() > MAX_TEXT {
            return Self::from(Kind::Str(Rc::default()));
        }
        let path = Some(Rc::from(path.as_str()));
        let text = if whole { Text::of(path, None) } else { Text { end: path, ..Text::default() } };
        Self::from(Kind::Str(Rc::new(text)))
    }

    /// The whole text of a file of the project.
    pub(super) fn text_of_file(file: ModuleId) -> Self {
        Self::from(Kind::Str(Rc::new(Text { file: Some(file), ..Text::default() })))
    }
}

impl Walker<'_> {
    /// The file of C++ that `open(path)` opens for reading.
    pub(super) fn file_opened(&self, args: &Args) -> Option<ModuleId> {
        let Kind::Str(path) = &args.get(0, "file")?.kind else { return None };
        let reads =
            args.get(1, "mode").is_none_or(|mode| mode.str().is_some_and(|mode| !mode.contains(['w', 'a', 'x', '+'])));
        self.file_at(path).filter(|_| reads)
    }

    /// The file of C++ at a path of which at least the end is known.
    fn file_at(&self, path: &Text) -> Option<ModuleId> {
        self.project.file_read(self.module_id(), path.ending()?, path.whole.is_some())
    }

    /// Methods of a path of `pathlib` that read its file, and of the text of a file that leave it as it is.
    pub(super) fn path_method(&self, text: &Rc<Text>, name: &Name, args: &Args) -> Option<Val> {
        match name.as_str() {
            "read_text" | "read_bytes" => self.file_at(text).map(Val::text_of_file),
            "open" => {
                let reads = args.get(0, "mode").is_none_or(|mode| mode.str().is_some_and(|mode| mode.starts_with('r')));
                self.file_at(text).filter(|_| reads).map(|file| Val::from(Kind::File(file)))
            }
            "joinpath" => {
                let folder = Val::from(Kind::Str(Rc::clone(text)));
                let parts: Vec<&Val> = std::iter::once(&folder).chain(&args.positional).collect();
                Some(Val::joined_path(&parts))
            }
            "resolve" | "absolute" | "expanduser" if text.file.is_none() => Some(Val::from(Kind::Str(Rc::clone(text)))),
            "encode" | "decode" | "strip" | "lstrip" | "rstrip" | "expandtabs" => text.file.map(Val::text_of_file),
            _ => None,
        }
    }
}
