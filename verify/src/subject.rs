//! What stands at a finding's place: the file, its language, the region (a fence of a document, a string of a script), and
//! the functions, kernels and calls in it. Harnesses and experiments ask this, and no grammar.

use camino::Utf8PathBuf;
use std::sync::Arc;

/// The source of a finding.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Path as the finding gives it.
    pub path: String,
    /// The file, absolute.
    pub file: Utf8PathBuf,
    /// Its text.
    pub text: Arc<str>,
    /// Compiler flags of the user's build for this file: `-I`, `-D`, `-std`.
    pub flags: Vec<String>,
}
