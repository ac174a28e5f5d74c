//! The first word of the command line: a subcommand, or a file that happens to have the name of one.

use crate::args::Cli;
use crate::out;
use clap::CommandFactory as _;
use std::ffi::OsString;
use std::path::Path;

/// The arguments as they are meant: `cudalint *` in a folder with a file called `verify` lints it and starts nothing.
///
/// A subcommand's name that exists in this folder is a path when other words stand behind it and each of them is the bare
/// name of something in this folder, too, as a shell writes `*`.
pub fn as_meant(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let Some((word, rest)) = arguments.get(1..).and_then(<[OsString]>::split_first) else { return arguments };
    let bare = |word: &OsString| {
        let path = Path::new(word);
        path.file_name() == Some(word) && path.symlink_metadata().is_ok()
    };
    let subcommand = Cli::command().get_subcommands().any(|known| *word == *known.get_name());
    if subcommand && !rest.is_empty() && bare(word) && rest.iter().all(bare) {
        let word = word.to_string_lossy().into_owned();
        out::message(
            "note",
            &format!("`{word}` is taken for the file in this folder; to {word} others, write them as `./NAME`"),
        );
        arguments.insert(1, "check".into());
    }
    arguments
}
