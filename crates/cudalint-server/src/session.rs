//! A session with an editor: its messages one by one, and what was linted meanwhile.

use crate::capabilities;
use crate::client::{Client, ClientSettings};
use crate::diagnostics::{self, Spelling};
use crate::documents::{Document, Documents};
use crate::program::Program;
use crate::project::Projects;
use crate::settings_files::{SettingsFiles, is_settings};
use crate::verify::{Verified, Verifying};
use crate::waiting::Waiting;
use crate::worker::{Done, Job, Worker};
use crossbeam_channel::{Receiver, Sender, select, unbounded};
use cudalint_engine::{FileKind, Overlay, Request, add_text, guarded};
use cudalint_findings::{LineIndex, Sources};
use lsp_server::{Connection, ErrorCode, Message, Notification, RequestId, Response};
use lsp_types::{
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams,
    DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams,
    Uri,
};
use rustc_hash::FxHashMap;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// All that is known.
pub struct Session {
    connection: Connection,
    pub(crate) program: Program,
    pub(crate) client: Client,
    pub(crate) documents: Documents,
    pub(crate) projects: Projects,
    worker: Worker,
    done: Receiver<Done>,
    /// Runs of `verify` that go on, and where those that are over come out.
    pub(crate) verifying: Vec<Verifying>,
    pub(crate) verified: Sender<Verified>,
    over: Receiver<Verified>,
    /// Settings of the editor's user, and those for single folders of the workspace.
    settings: ClientSettings,
    by_folder: Vec<(PathBuf, ClientSettings)>,
    /// Whether the editor was asked for settings and has not answered: nothing is linted meanwhile.
    waits_for_settings: Option<RequestId>,
    settings_files: SettingsFiles,
    /// What was sent of each document: its version, and the identity of its diagnostics.
    pub(crate) sent: FxHashMap<String, (i32, String)>,
    /// The inlay hints that were sent of each document: its version, and their identity.
    pub(crate) hinted: FxHashMap<String, (i32, String)>,
    /// Requests that wait for a project to be linted.
    pub(crate) waiting: Vec<Waiting>,
    /// Requests to the editor so far.
    asked: i32,
}

impl Session {
    /// A session that begins.
    ///
    /// # Errors
    /// When the system starts no threads.
    pub fn new(connection: Connection, program: Program, client: Client) -> Result<Self, String> {
        let (worker, done) = Worker::start(program.engine)?;
        let (verified, over) = unbounded();
        Ok(Self {
            connection,
            program,
            settings: client.settings.clone(),
            client,
            documents: Documents::default(),
            projects: Projects::default(),
            worker,
            done,
            verifying: Vec::new(),
            verified,
            over,
            by_folder: Vec::new(),
            waits_for_settings: None,
            settings_files: SettingsFiles::default(),
            sent: FxHashMap::default(),
            hinted: FxHashMap::default(),
            waiting: Vec::new(),
            asked: 0,
        })
    }

    /// Serves until the editor says goodbye.
    ///
    /// # Errors
    /// When the editor breaks the protocol, or goes away without a word.
    pub fn run(mut self) -> Result<(), String> {
        if self.client.watches_files {
            self.ask("client/registerCapability", capabilities::watchers());
        }
        self.ask_for_settings();
        let (messages, done, verified) = (self.connection.receiver.clone(), self.done.clone(), self.over.clone());
        loop {
            // All that has come in is read before a run begins: keystrokes that came together are one change.
            if messages.is_empty() {
                self.begin_work();
            }
            select! {
                recv(messages) -> message => {
                    let Ok(message) = message else { return Err("the editor has gone away without a word".to_owned()) };
                    if let Message::Request(request) = &message
                        && self.connection.handle_shutdown(request).map_err(|error| error.to_string())?
                    {
                        return Ok(());
                    }
                    self.take(message);
                }
                recv(done) -> over => if let Ok(over) = over { self.guard(|it| it.take_results(over)) },
                recv(verified) -> over => if let Ok(over) = over { self.guard(|it| it.take_verified(&over)) },
            }
        }
    }

    /// Takes a message. Where cudalint fails on it, one answer is lost, and the session goes on.
    fn take(&mut self, message: Message) {
        match message {
            Message::Request(request) => {
                let id = request.id.clone();
                if let Err(said) = guarded(|| self.take_request(request)) {
                    let said = format!("internal fault: please report it ({said})");
                    self.send(Response::new_err(id, ErrorCode::InternalError as i32, said).into());
                }
            }
            Message::Notification(notification) => {
                self.guard(|it| it.take_notification(notification));
            }
            Message::Response(response) => {
                if Some(&response.id) == self.waits_for_settings.as_ref() {
                    self.waits_for_settings = None;
                    self.take_settings(response.response_result.ok());
                }
            }
        }
    }

    /// Does something whose failure is logged and costs nothing else.
    fn guard(&mut self, work: impl FnOnce(&mut Self)) {
        if let Err(said) = guarded(|| work(self)) {
            self.log(&format!("internal fault: please report it ({said})"));
        }
    }

    fn take_notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            "textDocument/didOpen" => self.read(&method, params, Self::opened),
            "textDocument/didChange" => self.read(&method, params, Self::changed),
            "textDocument/didClose" => self.read(&method, params, |it, params| it.closed(&params)),
            "textDocument/didSave" => self.read(&method, params, |it, params| it.saved(&params)),
            "notebookDocument/didOpen" => self.read(&method, params, Self::notebook_opened),
            "notebookDocument/didChange" => self.read(&method, params, Self::notebook_changed),
            "notebookDocument/didClose" => self.read(&method, params, Self::notebook_closed),
            "workspace/didChangeWatchedFiles" => self.read(&method, params, |it, params| it.watched(&params)),
            "workspace/didChangeConfiguration" => self.read(&method, params, |it, params| it.configured(&params)),
            "workspace/didChangeWorkspaceFolders" => {
                self.read(&method, params, |it, params| it.folders_changed(&params));
            }
            "$/cancelRequest" => self.cancel(&params),
            "window/workDoneProgress/cancel" => {
                self.cancel_verifying(|_, token| token.is_some() && token == params["token"].as_str());
            }
            _ => {}
        }
    }

    /// Reads what a notification says; what is not as the protocol has it is logged.
    fn read<P: DeserializeOwned>(&mut self, method: &str, params: Value, take: impl FnOnce(&mut Self, P)) {
        match serde_json::from_value(params) {
            Ok(params) => take(self, params),
            Err(error) => self.log(&format!("`{method}` cannot be read: {error}")),
        }
    }

    fn opened(&mut self, params: DidOpenTextDocumentParams) {
        let item = params.text_document;
        let Some(path) = crate::uri::path_of(item.uri.as_str()) else { return };
        let real = cudalint_engine::real_path(&path);
        let kind = FileKind::of(&path);
        self.documents.open(Document {
            path: cudalint_engine::display(&path).into(),
            project: self.anchor(&real),
            cell: None,
            kind,
            version: item.version,
            lines: Arc::new(LineIndex::new(&item.text)),
            text: item.text.into(),
            uri: item.uri.clone(),
            real,
        });
        self.text_changed(&item.uri);
        self.check_settings_files();
    }

    fn changed(&mut self, params: DidChangeTextDocumentParams) {
        let (uri, version) = (params.text_document.uri, params.text_document.version);
        let units = self.client.units;
        if let Some(document) = self.documents.get_mut(&uri) {
            document.change(params.content_changes, version, units);
            let holds_settings = is_settings(&document.real);
            self.text_changed(&uri);
            if holds_settings {
                self.check_settings_files();
            }
        }
    }

    fn closed(&mut self, params: &DidCloseTextDocumentParams) {
        self.close(&params.text_document.uri);
    }

    /// A document is not open any more.
    pub(crate) fn close(&mut self, uri: &Uri) {
        let Some(document) = self.documents.close(uri) else { return };
        // What the disk has counts again.
        self.projects.touch_readers(&document.real);
        self.forget_projects();
        if self.sent.remove(uri.as_str()).is_some() && !self.client.pulls {
            self.notify("textDocument/publishDiagnostics", json!({ "uri": uri, "diagnostics": [] }));
        }
        self.hinted.remove(uri.as_str());
        self.release(uri);
        self.check_settings_files();
    }

    /// The text of a document is another.
    pub(crate) fn text_changed(&mut self, uri: &Uri) {
        let Some(document) = self.documents.get(uri).filter(|document| document.kind.is_some()) else { return };
        self.projects.touch(&document.project);
        self.projects.touch_readers(&document.real);
        self.stop_outdated();
    }

    fn saved(&mut self, params: &DidSaveTextDocumentParams) {
        let Some(path) = crate::uri::path_of(params.text_document.uri.as_str()) else { return };
        if is_settings(&path) {
            self.settings_changed();
        }
    }

    fn watched(&mut self, params: &DidChangeWatchedFilesParams) {
        let mut settings = false;
        for path in params.changes.iter().filter_map(|change| crate::uri::path_of(change.uri.as_str())) {
            if is_settings(&path) {
                settings = true;
            } else if path.ends_with("compile_commands.json") {
                self.projects.touch_all();
            } else {
                let real = cudalint_engine::real_path(&path);
                // Of a file that is open the editor's text counts, whatever the disk has.
                if !self.documents.iter().any(|document| document.real == real) {
                    self.projects.touch_readers(&real);
                }
            }
        }
        if settings {
            self.settings_changed();
        }
        self.stop_outdated();
    }

    /// A settings file is another: what is a project may be, too.
    fn settings_changed(&mut self) {
        let anchors: Vec<(Uri, PathBuf)> =
            self.documents.iter().map(|document| (document.uri.clone(), self.anchor(&document.real))).collect();
        for (uri, anchor) in anchors {
            if let Some(document) = self.documents.get_mut(&uri) {
                document.project = anchor;
            }
        }
        self.lint_all_again();
        self.check_settings_files();
    }

    fn lint_all_again(&mut self) {
        let anchors: Vec<PathBuf> = self.linted().map(|document| document.project.clone()).collect();
        self.forget_projects();
        for anchor in &anchors {
            self.projects.touch(anchor);
        }
        self.stop_outdated();
    }

    pub(crate) fn check_settings_files(&mut self) {
        let news = self.settings_files.check(&self.program.engine, &self.documents, &self.client);
        for params in news {
            self.notify("textDocument/publishDiagnostics", params);
        }
    }

    fn configured(&mut self, params: &DidChangeConfigurationParams) {
        if self.client.has_settings {
            self.ask_for_settings();
        } else {
            self.take_settings(Some(json!([params.settings])));
        }
    }

    fn folders_changed(&mut self, params: &DidChangeWorkspaceFoldersParams) {
        let gone: Vec<PathBuf> = params.event.removed.iter().filter_map(crate::client::folder).collect();
        self.client.folders.retain(|folder| !gone.contains(folder));
        self.client.folders.extend(params.event.added.iter().filter_map(crate::client::folder));
        self.ask_for_settings();
    }

    /// Asks for the settings of the whole and of each folder.
    fn ask_for_settings(&mut self) {
        if !self.client.has_settings {
            return;
        }
        let scope = |folder: &PathBuf| {
            let uri = crate::uri::of_path(&cudalint_engine::display(folder));
            json!({ "section": "cudalint", "scopeUri": uri })
        };
        let items: Vec<Value> =
            std::iter::once(json!({ "section": "cudalint" })).chain(self.client.folders.iter().map(scope)).collect();
        self.waits_for_settings = Some(self.ask("workspace/configuration", json!({ "items": items })));
    }

    /// Takes the settings of the whole and of each folder. An editor that has none leaves what it said at the beginning.
    fn take_settings(&mut self, answer: Option<Value>) {
        let mut answers = match answer {
            Some(Value::Array(answers)) => answers.into_iter(),
            _ => Vec::new().into_iter(),
        };
        let mut problems = Vec::new();
        let mut read = |value: Option<Value>, without: &ClientSettings| match value {
            None | Some(Value::Null) => without.clone(),
            Some(value) => {
                let (settings, problem) = ClientSettings::read(value);
                problems.extend(problem);
                settings
            }
        };
        let before = self.hinted_documents();
        self.settings = read(answers.next(), &self.client.settings);
        self.by_folder = Vec::new();
        for folder in &self.client.folders {
            self.by_folder.push((folder.clone(), read(answers.next(), &self.settings)));
        }
        problems.dedup();
        for problem in problems {
            self.notify("window/showMessage", json!({ "type": 1, "message": problem }));
        }
        if self.hinted_documents() != before {
            self.hinted.clear();
            self.ask_for_hints_again();
        }
        self.lint_all_again();
    }

    /// The settings that hold for a file, and the folder that they are of.
    pub(crate) fn settings_for(&self, path: &Path) -> (&ClientSettings, Option<&Path>) {
        let around = self.by_folder.iter().filter(|(folder, _)| path.starts_with(folder));
        let nearest = around.max_by_key(|(folder, _)| folder.as_os_str().len());
        match nearest {
            Some((folder, settings)) => (settings, Some(folder)),
            None => (&self.settings, self.client.folders.first().map(PathBuf::as_path)),
        }
    }

    /// The anchor of the project that a file belongs to.
    pub(crate) fn anchor(&self, real: &Path) -> PathBuf {
        let root = self.program.engine.project_of(real);
        root.unwrap_or_else(|| real.parent().unwrap_or(Path::new("")).to_owned())
    }

    /// Documents that are sources.
    fn linted(&self) -> impl Iterator<Item = &Document> {
        self.documents.iter().filter(|document| document.kind.is_some())
    }

    fn forget_projects(&mut self) {
        let open: Vec<PathBuf> = self.linted().map(|document| document.project.clone()).collect();
        self.projects.keep(|anchor| open.iter().any(|it| it == anchor));
    }

    fn stop_outdated(&self) {
        self.worker.stop(|anchor| self.projects.get(anchor).is_none_or(|project| project.current().is_none()));
    }

    /// Gives the thread that lints the newest snapshot, when it has nothing to do and there is something to do.
    fn begin_work(&mut self) {
        if !self.worker.is_idle() || self.waits_for_settings.is_some() {
            return;
        }
        let Some((anchor, project)) = self.projects.next() else { return };
        let mut paths: Vec<PathBuf> = self
            .linted()
            .filter(|document| document.project == anchor)
            .map(|document| PathBuf::from(&*document.path))
            .collect();
        paths.sort();
        paths.dedup();
        let (settings, folder) = self.settings_for(anchor);
        let job = Job {
            project: anchor.to_owned(),
            change: project.wanted,
            facts: project.wants_facts,
            notebooks: if project.wants_facts { self.notebooks() } else { Sources::default() },
            enabled: settings.enable,
            request: Request {
                paths,
                overlay: self.overlay(),
                kept: Some(Arc::clone(&project.kept)),
                ..settings.request(folder)
            },
        };
        self.worker.give(job);
    }

    /// The texts of all open notebooks, as they are linted.
    fn notebooks(&self) -> Sources {
        let mut texts = Sources::default();
        for notebook in self.documents.notebooks.values() {
            add_text(&mut texts, &notebook.path, &self.documents.bytes_of(notebook));
        }
        texts
    }

    /// The texts of all open documents.
    fn overlay(&self) -> Overlay {
        let mut overlay = Overlay::default();
        for document in self.linted().filter(|document| document.cell.is_none()) {
            overlay.insert(document.real.clone(), Arc::from(Arc::clone(&document.text)));
        }
        for notebook in self.documents.notebooks.values() {
            overlay.insert(notebook.real.clone(), self.documents.bytes_of(notebook).into());
        }
        overlay
    }

    /// Takes what was linted, unless it speaks of an older text.
    fn take_results(&mut self, done: Done) {
        self.worker.rest();
        let Some(project) = self.projects.get_mut(&done.project) else { return };
        if done.stopped || done.results.change != project.wanted {
            return;
        }
        project.results = Some(done.results);
        self.tell(&done.project);
        self.refresh_hints(&done.project);
        self.answer_waiting();
    }

    /// Tells the editor what is new about the documents of a project.
    fn tell(&mut self, anchor: &Path) {
        let Some(results) = self.projects.get(anchor).and_then(|project| project.current().cloned()) else { return };
        let mut news = Vec::new();
        let mut outdated = Vec::new();
        for document in self.linted().filter(|document| document.project == anchor) {
            let spelling = Spelling { documents: &self.documents, client: &self.client };
            let found = diagnostics::of_document(&results, document, &spelling);
            let identity = diagnostics::identity(&found);
            let sent = self.sent.get(document.uri.as_str());
            if self.client.pulls {
                // Who asks again anyway is told nothing.
                let asks = self.waiting.iter().any(|waiting| waiting.pulls(&document.uri));
                if !asks && sent.is_some_and(|(_, known)| *known != identity) {
                    outdated.push((document.uri.clone(), (document.version, identity)));
                }
            } else if sent.is_none_or(|known| *known != (document.version, identity.clone())) {
                let (uri, version) = (document.uri.clone(), document.version);
                let params = json!({ "uri": uri, "version": version, "diagnostics": found });
                news.push((uri, (version, identity), params));
            }
        }
        for (uri, sent, params) in news {
            self.sent.insert(uri.as_str().to_owned(), sent);
            self.notify("textDocument/publishDiagnostics", params);
        }
        if !outdated.is_empty() && self.client.refreshes_diagnostics {
            self.ask("workspace/diagnostic/refresh", Value::Null);
            // Once is enough, whether it asks or not.
            self.sent.extend(outdated.into_iter().map(|(uri, sent)| (uri.as_str().to_owned(), sent)));
        }
    }

    /// Sends a request; its answer is not waited for.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> RequestId {
        self.asked += 1;
        let id = RequestId::from(self.asked);
        self.send(lsp_server::Request { id: id.clone(), method: method.to_owned(), params }.into());
        id
    }

    pub(crate) fn notify(&self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params }.into());
    }

    pub(crate) fn log(&self, text: &str) {
        self.notify("window/logMessage", json!({ "type": 2, "message": text }));
    }

    /// Sends a message. An editor that is gone is noticed when nothing comes from it.
    pub(crate) fn send(&self, message: Message) {
        let _ = self.connection.sender.send(message);
    }
}
