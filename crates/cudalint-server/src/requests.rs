//! Requests of the editor. Most of them wait until the newest text has been linted.

use crate::diagnostics::{self, Spelling};
use crate::session::Session;
use crate::worker::Results;
use cudalint_engine::guarded;
use lsp_server::{ErrorCode, Request, RequestId, Response};
use lsp_types::{DocumentDiagnosticParams, Uri};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;

/// A request that waits.
#[derive(Clone, Debug)]
pub struct Waiting {
    id: RequestId,
    uri: Uri,
    /// The version of the document that it was asked about.
    version: i32,
    question: Question,
}

/// What is asked.
#[derive(Clone, Debug)]
enum Question {
    /// All diagnostics, unless they are those that the editor has.
    Diagnostics { known: Option<String> },
}

impl Question {
    /// Whether it is about places of the text as it was when it was asked.
    const fn is_about_places(&self) -> bool {
        !matches!(self, Self::Diagnostics { .. })
    }

    /// Whether its answer needs what is known of kernels.
    const fn needs_facts(&self) -> bool {
        false
    }
}

impl Waiting {
    /// Whether it asks for the diagnostics of a document.
    pub fn pulls(&self, uri: &Uri) -> bool {
        self.uri == *uri && matches!(self.question, Question::Diagnostics { .. })
    }
}

/// An answer: a value, or a code with words.
type Answer = Result<Value, (ErrorCode, String)>;

impl Session {
    /// Takes a request: it is answered now, or waits.
    pub(crate) fn take_request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let asked = match method.as_str() {
            "textDocument/diagnostic" => read(params).map(|it: DocumentDiagnosticParams| {
                (it.text_document.uri, Question::Diagnostics { known: it.previous_result_id })
            }),
            _ => Err((ErrorCode::MethodNotFound, format!("`{method}` is not known"))),
        };
        match asked {
            Ok((uri, question)) => self.ask_about(id, uri, question),
            Err(error) => self.answer(id, Err(error)),
        }
    }

    fn ask_about(&mut self, id: RequestId, uri: Uri, question: Question) {
        let version = self.documents.get(&uri).map_or(0, |document| document.version);
        self.waiting.push(Waiting { id, uri, version, question });
        self.answer_waiting();
    }

    /// Answers what can be answered.
    pub(crate) fn answer_waiting(&mut self) {
        for waiting in std::mem::take(&mut self.waiting) {
            match guarded(|| self.try_to_answer(&waiting)) {
                Ok(Some(answer)) => self.answer(waiting.id, answer),
                Ok(None) => self.waiting.push(waiting),
                Err(said) => {
                    let said = format!("internal fault: please report it ({said})");
                    self.answer(waiting.id, Err((ErrorCode::InternalError, said)));
                }
            }
        }
    }

    /// The answer, where it can be given.
    fn try_to_answer(&mut self, waiting: &Waiting) -> Option<Answer> {
        let Some(document) = self.documents.get(&waiting.uri).filter(|document| document.kind.is_some()) else {
            return Some(Ok(nothing(&waiting.question)));
        };
        if waiting.question.is_about_places() && document.version != waiting.version {
            return Some(Err((ErrorCode::ContentModified, "the text has changed since".to_owned())));
        }
        let project = self.projects.get_mut(&document.project)?;
        project.wants_facts |= waiting.question.needs_facts();
        let results = project.current().filter(|it| !waiting.question.needs_facts() || it.facts.is_some()).cloned()?;
        Some(Ok(self.answer_to(waiting, &results)))
    }

    fn answer_to(&mut self, waiting: &Waiting, results: &Arc<Results>) -> Value {
        let Some(document) = self.documents.get(&waiting.uri) else { return nothing(&waiting.question) };
        let spelling = Spelling { documents: &self.documents, client: &self.client };
        match &waiting.question {
            Question::Diagnostics { known } => {
                let found = diagnostics::of_document(results, document, &spelling);
                let (identity, answer) = diagnostics::report(&found, known.as_deref());
                self.sent.insert(waiting.uri.as_str().to_owned(), (document.version, identity));
                answer
            }
        }
    }

    /// What waits for a document that is closed is answered with nothing.
    pub(crate) fn release(&mut self, uri: &Uri) {
        let (over, waiting) = std::mem::take(&mut self.waiting).into_iter().partition(|it| it.uri == *uri);
        self.waiting = waiting;
        for waiting in over as Vec<Waiting> {
            self.answer(waiting.id, Ok(nothing(&waiting.question)));
        }
    }

    /// The editor does not want an answer any more, but one that says so.
    pub(crate) fn cancel(&mut self, params: &Value) {
        let id: RequestId = match &params["id"] {
            Value::String(id) => id.clone().into(),
            Value::Number(id) => match id.as_i64().and_then(|id| i32::try_from(id).ok()) {
                Some(id) => id.into(),
                None => return,
            },
            _ => return,
        };
        if let Some(index) = self.waiting.iter().position(|waiting| waiting.id == id) {
            let waiting = self.waiting.remove(index);
            self.answer(waiting.id, Err((ErrorCode::RequestCanceled, "cancelled".to_owned())));
        }
    }

    fn answer(&self, id: RequestId, answer: Answer) {
        self.send(match answer {
            Ok(value) => Response::new_ok(id, value).into(),
            Err((code, said)) => Response::new_err(id, code as i32, said).into(),
        });
    }
}

/// Reads what a request says.
fn read<P: DeserializeOwned>(params: Value) -> Result<P, (ErrorCode, String)> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

/// The answer where there is nothing to say.
fn nothing(question: &Question) -> Value {
    match question {
        Question::Diagnostics { .. } => json!({ "kind": "full", "items": [] }),
    }
}
