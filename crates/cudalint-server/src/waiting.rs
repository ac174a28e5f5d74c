//! Requests that wait for a text to be linted.

use lsp_server::RequestId;
use lsp_types::{CodeActionParams, Position, Range, Uri};

/// A request that waits.
#[derive(Clone, Debug)]
pub struct Waiting {
    pub id: RequestId,
    pub uri: Uri,
    /// The version of the document that it was asked about.
    pub version: i32,
    pub question: Question,
}

/// What is asked.
#[derive(Clone, Debug)]
pub enum Question {
    /// All diagnostics, unless they are those that the editor has.
    Diagnostics {
        known: Option<String>,
    },
    Actions(Box<CodeActionParams>),
    Hover(Position),
    Lenses,
    /// Inlay hints of a part of the document.
    Hints(Range),
}

impl Question {
    /// Whether it is about places of the text as it was when it was asked.
    pub const fn is_about_places(&self) -> bool {
        !matches!(self, Self::Diagnostics { .. })
    }

    /// Whether its answer needs what is known of kernels.
    pub const fn needs_facts(&self) -> bool {
        matches!(self, Self::Hover(_) | Self::Lenses | Self::Hints(_))
    }
}

impl Waiting {
    /// Whether it asks for the inlay hints of a document.
    pub fn hints(&self, uri: &Uri) -> bool {
        self.uri == *uri && matches!(self.question, Question::Hints(_))
    }

    /// Whether it asks for the diagnostics of a document.
    pub fn pulls(&self, uri: &Uri) -> bool {
        self.uri == *uri && matches!(self.question, Question::Diagnostics { .. })
    }
}
