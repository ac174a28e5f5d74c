//! What decides what becomes of a file, as a number: where files are kept, one with the same number is the same.
//!
//! What becomes of a file hangs on its text, on where it stands among the others, and on what the directives of all files
//! say. Places of directives in other files are only compared with each other, so that an edit in one file which leaves its
//! directives alone changes no other file's module.

use super::SourceFile;
use crate::configuration::Configuration;
use crate::project::ProjectOptions;
use blake3::{Hash, Hasher};
use cudalint_syntax::{Condition, Define, Directives, IfBranch, IfGroup, Include, Span, Undef};

/// Of all that decides what becomes of a file beside the file itself.
pub(super) fn surroundings(options: &ProjectOptions, configuration: &Configuration<'_>, files: &[&SourceFile]) -> Hash {
    let ProjectOptions {
        include_folders,
        build,
        declaration_macros,
        local_packages,
        defining_folders,
        // Asked of the project alone, and how it is read.
        sharing_folders: _,
        in_step_folders: _,
        keep_trees: _,
        kept: _,
    } = options;
    let mut told = Told::default();
    // Where a table comes out in another order, nothing is found.
    told.debug(&(include_folders, build, declaration_macros, local_packages, defining_folders));
    told.debug(&configuration.suppositions());
    for file in files {
        told.text(&file.path);
        for piece in &file.pieces {
            told.flag(piece.is_alone());
            told.directives(&piece.directives);
        }
        told.number(usize::MAX);
    }
    told.finish()
}

/// Of a file in these surroundings, as if blanks stood in some spans.
pub(super) fn key(surroundings: &Hash, number: usize, file: &SourceFile, without: &[Span]) -> Hash {
    let SourceFile { path, kind, text, cells, pieces, reported } = file;
    let mut told = Told::default();
    told.0.update(surroundings.as_bytes());
    told.number(number);
    told.text(path);
    told.debug(kind);
    told.text(text);
    told.debug(cells);
    // Its pieces follow from its text, all of them or one.
    for piece in pieces {
        told.debug(&piece.stretch.region);
        told.flag(piece.stretch.nvrtc);
        told.flag(piece.is_alone());
    }
    told.flag(*reported);
    told.debug(&without);
    told.finish()
}

/// Of a piece of a file that was made of something.
pub(super) fn piece(file: &Hash, number: usize) -> Hash {
    let mut told = Told::default();
    told.0.update(file.as_bytes());
    told.number(number);
    told.finish()
}

/// Collects what a hash is of; each text with its length, so that two collections never look alike.
#[derive(Default)]
struct Told(Hasher);

impl Told {
    fn number(&mut self, number: usize) {
        self.0.update(&(number as u64).to_le_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.0.update(&[u8::from(flag)]);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.update(text.as_bytes());
    }

    fn debug(&mut self, value: &impl std::fmt::Debug) {
        self.text(&format!("{value:?}"));
    }

    fn maybe(&mut self, text: Option<&str>) {
        self.flag(text.is_some());
        self.text(text.unwrap_or(""));
    }

    /// Directives, with their order in the place of their places.
    fn directives(&mut self, directives: &Directives) {
        let Directives { defines, undefs, includes, groups, once, nvrtc } = directives;
        let mut places: Vec<u32> = Vec::new();
        let conditions = defines.iter().map(|it| &it.conditions).chain(undefs.iter().map(|it| &it.conditions));
        for condition in conditions.chain(includes.iter().map(|it| &it.conditions)).flat_map(|all| all.iter()) {
            places.push(condition.at);
        }
        places.extend(defines.iter().map(|define| define.span.start));
        places.extend(undefs.iter().map(|undef| undef.span.start).chain(undefs.iter().filter_map(|it| it.restores)));
        places.extend(includes.iter().map(|include| include.span.start));
        let branches = groups.iter().flat_map(|group| &group.branches);
        places.extend(branches.flat_map(|branch| [branch.at, branch.body.start, branch.body.end]));
        places.sort_unstable();
        places.dedup();
        let rank = |place: u32| places.partition_point(|it| *it < place);
        self.number(defines.len());
        for define in defines {
            // Where its parts stand concerns its own file alone.
            let Define { name, params, variadic, named_rest, body, span, name_span: _, body_span: _, conditions } =
                define;
            self.text(name);
            self.flag(params.is_some());
            self.number(params.as_ref().map_or(0, Vec::len));
            params.iter().flatten().for_each(|param| self.text(param));
            self.flag(*variadic);
            self.flag(*named_rest);
            self.text(body);
            self.number(rank(span.start));
            self.conditions(conditions, rank);
        }
        self.number(undefs.len());
        for Undef { name, restores, span, conditions } in undefs {
            self.text(name);
            self.number(restores.map_or(usize::MAX, rank));
            self.number(rank(span.start));
            self.conditions(conditions, rank);
        }
        self.number(includes.len());
        for Include { path, system, span, conditions } in includes {
            self.text(path);
            self.flag(*system);
            self.number(rank(span.start));
            self.conditions(conditions, rank);
        }
        self.number(groups.len());
        for IfGroup { branches } in groups {
            self.number(branches.len());
            for IfBranch { text, negated, at, body, is_error } in branches {
                self.maybe(text.as_deref());
                self.flag(*negated);
                self.flag(*is_error);
                for place in [*at, body.start, body.end] {
                    self.number(rank(place));
                }
            }
        }
        self.flag(*once);
        self.flag(*nvrtc);
    }

    fn conditions(&mut self, conditions: &[Condition], rank: impl Fn(u32) -> usize) {
        self.number(conditions.len());
        for Condition { text, negated, at } in conditions {
            self.text(text);
            self.flag(*negated);
            self.number(rank(*at));
        }
    }

    fn finish(self) -> Hash {
        self.0.finalize()
    }
}
