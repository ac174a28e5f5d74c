//! The words in front of a declaration.

use super::fields::{Field, field};
use super::parts::Parts;
use super::source::Src;
use super::state::Lowerer;
use crate::ir::{ExecutionSpace, Space};
use cudalint_syntax::kinds::CudaKind;
use cudalint_syntax::{MaskKind, SpaceBits, Span};

/// Macros for attributes in front of one declaration, at most.
const MAX_MASKED_WORDS: usize = 8;

/// Words in front of a declaration.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // One for each word that may be written.
pub(crate) struct Storage {
    pub space: ExecutionSpace,
    pub space_written: bool,
    pub is_static: bool,
    pub is_extern: bool,
    pub is_constexpr: bool,
    pub is_const: bool,
    pub is_virtual: bool,
    pub shared: bool,
    pub constant: bool,
    pub managed: bool,
    /// Whether a macro stands here of which nobody knows the words.
    pub is_open: bool,
}

/// Whether a word is written as macros are.
fn is_macro_like(word: &str) -> bool {
    word.len() > 1
        && word.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && !word.contains(|c: char| c.is_ascii_lowercase())
}

impl Storage {
    /// Whether a function surely runs on the host alone. Where the code allows `--expt-relaxed-constexpr`, the device calls
    /// `constexpr` functions; what a macro stands for may be out of sight.
    pub fn is_host_only(self) -> bool {
        !self.space.device && !self.space.global && !self.is_constexpr && !self.is_open
    }

    /// Where a shared variable lives. `unsized_array`: whether it is declared as an array without a size. What has one is a variable of its own,
    /// `extern` or not: nvcc takes it for a static definition (its warning 20044), and with separate compilation nothing defines it.
    const fn shared_space(self, unsized_array: bool) -> Space {
        if self.is_extern && unsized_array { Space::DynamicShared } else { Space::Shared }
    }

    /// Where a variable of a function lives.
    pub fn local_space(self, unsized_array: bool) -> Space {
        if self.shared {
            return self.shared_space(unsized_array);
        }
        if self.constant {
            Space::Constant
        } else if self.managed {
            Space::Managed
        } else if self.is_static {
            Space::Static
        } else if self.is_extern {
            Space::Extern
        } else {
            Space::Ordinary
        }
    }

    /// Where a variable at namespace scope lives.
    pub fn global_space(self, has_value: bool, unsized_array: bool) -> Space {
        if self.shared {
            self.shared_space(unsized_array)
        } else if self.constant {
            Space::Constant
        } else if self.managed {
            Space::Managed
        } else if self.space.device {
            Space::Device
        } else if self.is_extern && !has_value {
            Space::Extern
        } else {
            Space::Static
        }
    }
}

impl Lowerer<'_> {
    /// The words in front of a declaration or definition; macros that the mask overlaid count as what they stand for.
    pub(super) fn storage(&mut self, s: Src<'_>, parts: &Parts<'_>) -> Storage {
        let mut storage = Storage::default();
        let node = parts.node;
        let mut end = node.end_byte();
        for (at, (child, kind)) in parts.children.iter().enumerate() {
            let word = match kind {
                CudaKind::TypeQualifier | CudaKind::StorageClassSpecifier => {
                    child.child(0).map_or(s.text(*child), |token| token.kind())
                }
                CudaKind::CompoundStatement | CudaKind::FieldInitializerList => {
                    let before = at.checked_sub(1).and_then(|before| parts.children.get(before));
                    end = before.map_or(node.start_byte(), |(before, _)| before.end_byte());
                    break;
                }
                CudaKind::FunctionDeclarator => {
                    // Behind the name of an operator, attributes may stand, too.
                    end = field(*child, Field::Parameters).map_or(child.start_byte(), |list| list.start_byte());
                    break;
                }
                CudaKind::InitDeclarator | CudaKind::PointerDeclarator => {
                    end = child.start_byte();
                    break;
                }
                CudaKind::Other | CudaKind::VirtualSpecifier => child.kind(),
                _ => "",
            };
            storage.word(word);
        }
        if s.is_file() {
            let start = self.start_with_masked_words(node.start_byte());
            let head = s.text.get(start..end).unwrap_or("");
            storage.is_open = head.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(is_macro_like);
            for note in self.notes(Span::new(start, end.max(node.start_byte() + 1))) {
                if let MaskKind::AttributeMacro(bits) = note.kind {
                    storage.is_open |= bits.is_silent();
                    storage.bits(bits);
                }
            }
        }
        if !storage.space_written {
            storage.space.host = true;
        }
        storage
    }

    /// Where a declaration begins with the macros right before it that the mask made blanks of, since no word of theirs fits.
    fn start_with_masked_words(&self, start: usize) -> usize {
        let mut start = start;
        let before = self.parsed.notes.partition_point(|note| (note.span.end as usize) <= start);
        for note in self.parsed.notes.iter().take(before).rev().take(MAX_MASKED_WORDS) {
            let between = self.text.get(note.span.end as usize..start).unwrap_or("-");
            if !matches!(note.kind, MaskKind::AttributeMacro(_)) || !between.trim().is_empty() {
                break;
            }
            start = note.span.start as usize;
        }
        start
    }
}

impl Storage {
    pub fn word(&mut self, word: &str) {
        match word {
            "__global__" => {
                self.space.global = true;
                self.space_written = true;
            }
            "__device__" => {
                self.space.device = true;
                self.space_written = true;
            }
            "__host__" => {
                self.space.host = true;
                self.space_written = true;
            }
            "__shared__" => self.shared = true,
            "__constant__" => self.constant = true,
            "__managed__" => self.managed = true,
            "static" => self.is_static = true,
            "extern" => self.is_extern = true,
            "constexpr" | "consteval" => self.is_constexpr = true,
            "const" => self.is_const = true,
            "virtual" | "virtual_specifier" | "override" => self.is_virtual = true,
            _ => {}
        }
    }

    pub fn bits(&mut self, bits: SpaceBits) {
        for (bit, word) in [
            (SpaceBits::GLOBAL, "__global__"),
            (SpaceBits::DEVICE, "__device__"),
            (SpaceBits::HOST, "__host__"),
            (SpaceBits::SHARED, "__shared__"),
            (SpaceBits::CONSTANT, "__constant__"),
            (SpaceBits::CONSTEXPR, "constexpr"),
        ] {
            if bits.has(bit) {
                self.word(word);
            }
        }
    }
}
