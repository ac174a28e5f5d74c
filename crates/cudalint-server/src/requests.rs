//! Requests of the editor. Most of them wait until the newest text has been linted.

use crate::actions::{About, EXPLAIN};
use crate::diagnostics::{self, Spelling};
use crate::facts::{Facts, KernelNote};
use crate::hints;
use crate::session::Session;
use crate::verify::VERIFY;
use crate::waiting::{Question, Waiting};
use crate::worker::Results;
use cudalint_engine::{FileKind, guarded};
use cudalint_findings::format::lsp;
use lsp_server::{ErrorCode, Request, RequestId, Response};
use lsp_types::{
    CodeActionParams, CodeLensParams, DocumentDiagnosticParams, ExecuteCommandParams, HoverParams, InlayHintParams,
    Position, Uri,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;

/// What is wrong with a request.
type Problem = (ErrorCode, String);
/// An answer: a value, or a code with words.
type Answer = Result<Value, Problem>;

impl Session {
    /// Takes a request: it is answered now, or waits.
    pub(crate) fn take_request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let asked = match method.as_str() {
            "textDocument/diagnostic" => read(params).map(|it: DocumentDiagnosticParams| {
                (it.text_document.uri, Question::Diagnostics { known: it.previous_result_id })
            }),
            "textDocument/codeAction" => {
                read(params).map(|it: CodeActionParams| (it.text_document.uri.clone(), Question::Actions(Box::new(it))))
            }
            "textDocument/hover" => read(params).map(|it: HoverParams| {
                let it = it.text_document_position_params;
                (it.text_document.uri, Question::Hover(it.position))
            }),
            "textDocument/codeLens" => read(params).map(|it: CodeLensParams| (it.text_document.uri, Question::Lenses)),
            "textDocument/inlayHint" => {
                read(params).map(|it: InlayHintParams| (it.text_document.uri, Question::Hints(it.range)))
            }
            "inlayHint/resolve" => return self.answer(id, Ok(self.resolved_hint(params))),
            "workspace/executeCommand" => return self.take_command(id, params),
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
        let (settings, _) = self.settings_for(&document.real);
        match &waiting.question {
            Question::Hover(at) => {
                if let Some(page) = self.page_at(document, *at) {
                    return Some(Ok(page));
                }
            }
            // `verify` is given files, and a cell is none.
            Question::Lenses if !settings.code_lens || document.cell.is_some() => {
                return Some(Ok(nothing(&waiting.question)));
            }
            Question::Hints(_) if !settings.inlay_hints.index_range => {
                // Who turns them on is told to ask again.
                return Some(Ok(nothing(&waiting.question)));
            }
            _ => {}
        }
        let project = self.projects.get_mut(&document.project)?;
        project.wants_facts |= waiting.question.needs_facts();
        let results = project.current().filter(|it| !waiting.question.needs_facts() || it.facts.is_some()).cloned()?;
        Some(Ok(self.answer_to(waiting, &results)))
    }

    fn answer_to(&mut self, waiting: &Waiting, results: &Arc<Results>) -> Value {
        let Some(document) = self.documents.get(&waiting.uri) else { return nothing(&waiting.question) };
        let spelling = Spelling { documents: &self.documents, client: &self.client };
        let units = self.client.units;
        let facts = || results.facts.iter();
        match &waiting.question {
            Question::Diagnostics { known } => {
                let found = diagnostics::of_document(results, document, &spelling);
                let (identity, answer) = diagnostics::report(&found, known.as_deref());
                self.sent.insert(waiting.uri.as_str().to_owned(), (document.version, identity));
                answer
            }
            Question::Actions(params) => {
                About { engine: &self.program.engine, results, document, spelling: &spelling }.actions(params).into()
            }
            Question::Hover(at) => {
                let offset = document.offset(*at, units);
                let told = facts().find_map(|facts| {
                    let start = facts.text_of(document)?.start;
                    let note = facts.at(&document.path, start + offset)?;
                    let [from, to] = [note.place.range.start, note.place.range.end].map(|it| it.saturating_sub(start));
                    Some((note, from..to))
                });
                told.map_or(Value::Null, |(note, range)| {
                    json!({
                        "contents": { "kind": "markdown", "value": note.text },
                        "range": document.range(&range, units),
                    })
                })
            }
            Question::Hints(range) => {
                let hints = facts().flat_map(|facts| hints::of_document(facts, document, &self.client));
                let all: Vec<Value> = hints.collect();
                self.hinted.insert(waiting.uri.as_str().to_owned(), (document.version, hints::identity(&all)));
                all.into_iter().filter(|hint| hints::is_within(hint, range)).collect::<Vec<_>>().into()
            }
            Question::Lenses => {
                let here = facts().flat_map(|facts| kernels_of(facts, &document.path));
                here.flat_map(|kernel| lenses(kernel, document, &spelling)).collect::<Vec<_>>().into()
            }
        }
    }

    /// The page of the rule that a suppression comment names at a place.
    fn page_at(&self, document: &crate::documents::Document, at: Position) -> Option<Value> {
        let engine = &self.program.engine;
        let offset = document.offset(at, self.client.units);
        // A cell by itself is a text of Python.
        let kind = if document.cell.is_some() { FileKind::Python } else { document.kind? };
        let (rule, range) = engine.rule_named_at(kind, &document.text, offset)?;
        let page = (self.program.page)(engine, rule);
        Some(json!({
            "contents": { "kind": "markdown", "value": page },
            "range": document.range(&range, self.client.units),
        }))
    }

    fn take_command(&mut self, id: RequestId, params: Value) {
        let answer = read::<ExecuteCommandParams>(params).and_then(|params| {
            let argument = params.arguments.into_iter().next().unwrap_or_default();
            match params.command.as_str() {
                EXPLAIN => self.explain(&argument).map(Some),
                VERIFY => {
                    let wanted = read(argument)?;
                    self.verify(&id, &wanted).map_err(|said| (ErrorCode::RequestFailed, said))?;
                    Ok(None)
                }
                other => Err((ErrorCode::InvalidParams, format!("there is no command `{other}`"))),
            }
        });
        match answer {
            Ok(None) => {}
            Ok(Some(value)) => self.answer(id, Ok(value)),
            Err(error) => self.answer(id, Err(error)),
        }
    }

    /// The page of a rule.
    fn explain(&self, argument: &Value) -> Answer {
        let name = argument["rule"].as_str().or(argument.as_str()).unwrap_or_default();
        let engine = &self.program.engine;
        match engine.rules().iter().find(|rule| rule.info.name == name) {
            Some(rule) => Ok(json!({ "rule": name, "markdown": (self.program.page)(engine, rule) })),
            None => Err((ErrorCode::InvalidParams, format!("there is no rule `{name}`"))),
        }
    }

    /// What waits for a document that is closed is answered with nothing.
    pub(crate) fn release(&mut self, uri: &Uri) {
        let (over, waiting): (Vec<Waiting>, Vec<Waiting>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|it| it.uri == *uri);
        self.waiting = waiting;
        for waiting in over {
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
        self.cancel_verifying(|run, _| *run == id);
    }

    fn answer(&self, id: RequestId, answer: Answer) {
        self.send(match answer {
            Ok(value) => Response::new_ok(id, value).into(),
            Err((code, said)) => Response::new_err(id, code as i32, said).into(),
        });
    }
}

fn kernels_of<'f>(facts: &'f Facts, path: &str) -> impl Iterator<Item = &'f KernelNote> {
    facts.kernels.iter().filter(move |kernel| *kernel.place.path == *path)
}

/// What stands above a kernel: how many launches were found, and how it is verified.
fn lenses(kernel: &KernelNote, document: &crate::documents::Document, spelling: &Spelling<'_>) -> [Value; 2] {
    let range = document.range(&kernel.place.range, spelling.client.units);
    let launches = match kernel.launches {
        0 => "no launch found".to_owned(),
        1 => "1 launch found".to_owned(),
        count => format!("{count} launches found"),
    };
    let verify = json!({
        "title": "verify on GPU",
        "command": VERIFY,
        "arguments": [{ "uri": document.uri, "kernel": kernel.name }],
    });
    [
        json!({ "range": range, "command": { "title": launches, "command": "" } }),
        json!({ "range": range, "command": verify }),
    ]
}

/// Reads what a request says.
fn read<P: DeserializeOwned>(params: Value) -> Result<P, Problem> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

/// The answer where there is nothing to say.
fn nothing(question: &Question) -> Value {
    match question {
        Question::Diagnostics { .. } => json!({ "kind": "full", "items": Vec::<lsp::Diagnostic>::new() }),
        Question::Hover(_) => Value::Null,
        Question::Actions(_) | Question::Lenses | Question::Hints(_) => json!([]),
    }
}
