//! What the editor can do, and what its user has set there.

use cudalint_engine::{Choices, Configuration, MinConfidence, Request};
use cudalint_findings::Units;
use lsp_types::WorkspaceFolder;
use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What the editor can do.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)]
pub struct Client {
    /// What it counts the characters of a line in.
    pub units: Units,
    /// Whether it asks for diagnostics; else they are sent.
    pub pulls: bool,
    /// Whether it asks again when it is told to.
    pub refreshes_diagnostics: bool,
    pub shows_related: bool,
    pub shows_code_description: bool,
    pub shows_tags: bool,
    pub keeps_data: bool,
    /// Whether it can be asked for settings.
    pub has_settings: bool,
    /// Whether it watches files when it is asked to.
    pub watches_files: bool,
    pub shows_progress: bool,
    /// Whether it asks again for inlay hints when it is told to.
    pub refreshes_hints: bool,
    /// Whether it asks for the tooltip of a hint when it shows one.
    pub resolves_hints: bool,
    /// Whether edits may name the version that they were made for.
    pub takes_versions: bool,
    pub folders: Vec<PathBuf>,
    /// Settings that came with the first message.
    pub settings: ClientSettings,
}

impl Client {
    /// Reads the parameters of `initialize`. They are read as they come, and not as types: what an editor leaves out, or writes
    /// in a way of its own, it cannot do.
    pub fn new(params: &Value) -> Self {
        let at = |path: &str| params.pointer(&format!("/capabilities{path}"));
        let yes = |path: &str| at(path).and_then(Value::as_bool).unwrap_or(false);
        let published = |name: &str| yes(&format!("/textDocument/publishDiagnostics/{name}"));
        let folders = params["workspaceFolders"].as_array().filter(|folders| !folders.is_empty());
        let addresses: Vec<&Value> = match folders {
            Some(folders) => folders.iter().map(|folder| &folder["uri"]).collect(),
            None => vec![&params["rootUri"]],
        };
        let encodings = at("/general/positionEncodings").and_then(Value::as_array);
        let settings = params.get("initializationOptions").cloned().unwrap_or_default();
        Self {
            units: units(encodings.map(Vec::as_slice).unwrap_or_default()),
            pulls: at("/textDocument/diagnostic").is_some_and(Value::is_object),
            refreshes_diagnostics: yes("/workspace/diagnostics/refreshSupport"),
            shows_related: published("relatedInformation"),
            shows_code_description: published("codeDescriptionSupport"),
            shows_tags: at("/textDocument/publishDiagnostics/tagSupport").is_some_and(|it| *it != Value::Null),
            keeps_data: published("dataSupport"),
            has_settings: yes("/workspace/configuration"),
            watches_files: yes("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            refreshes_hints: yes("/workspace/inlayHint/refreshSupport"),
            resolves_hints: at("/textDocument/inlayHint/resolveSupport/properties")
                .and_then(Value::as_array)
                .is_some_and(|properties| properties.iter().any(|it| it == "tooltip")),
            shows_progress: yes("/window/workDoneProgress"),
            takes_versions: yes("/workspace/workspaceEdit/documentChanges"),
            folders: addresses.into_iter().filter_map(|it| crate::uri::path_of(it.as_str()?)).collect(),
            settings: ClientSettings::read(settings).0,
        }
    }
}

/// The folder of a workspace as a path.
pub fn folder(folder: &WorkspaceFolder) -> Option<PathBuf> {
    crate::uri::path_of(folder.uri.as_str())
}

/// The first of the editor's encodings that is known; UTF-16 is that of an editor that says nothing.
fn units(offered: &[Value]) -> Units {
    let known = offered.iter().find_map(|kind| match kind.as_str() {
        Some("utf-8") => Some(Units::Utf8),
        Some("utf-16") => Some(Units::Utf16),
        Some("utf-32") => Some(Units::Utf32),
        _ => None,
    });
    known.unwrap_or_default()
}

/// What the user has set in the editor. It stands above the settings file, as a command line does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools)]
pub struct ClientSettings {
    /// Whether anything is linted.
    pub enable: bool,
    /// A settings file for everything.
    pub configuration: Option<PathBuf>,
    pub select: Vec<String>,
    pub ignore: Vec<String>,
    pub min_confidence: Option<MinConfidence>,
    pub architectures: Vec<String>,
    pub defines: Vec<String>,
    /// Whether kernels show how many launches were found.
    pub code_lens: bool,
    pub inlay_hints: HintSettings,
}

/// Which hints are shown between the code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct HintSettings {
    /// The least and the greatest value of a subscript.
    pub index_range: bool,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            enable: true,
            configuration: None,
            select: Vec::new(),
            ignore: Vec::new(),
            min_confidence: None,
            architectures: Vec::new(),
            defines: Vec::new(),
            code_lens: true,
            inlay_hints: HintSettings::default(),
        }
    }
}

impl ClientSettings {
    /// Reads the editor's settings; they may stand below the name of the program. What is wrong with them is told, and
    /// then none of them holds.
    pub fn read(mut value: Value) -> (Self, Option<String>) {
        if let Some(inner) = value.get_mut("cudalint") {
            value = inner.take();
        }
        if value.is_null() {
            return (Self::default(), None);
        }
        match serde_json::from_value(value) {
            Ok(settings) => (settings, None),
            Err(error) => (Self::default(), Some(format!("the editor's settings for cudalint are not used: {error}"))),
        }
    }

    /// A request with these settings; a relative settings file starts from the folder of the workspace.
    pub fn request(&self, folder: Option<&Path>) -> Request {
        let configuration = match &self.configuration {
            Some(file) => Configuration::File(folder.map_or_else(|| file.clone(), |folder| folder.join(file))),
            None => Configuration::Nearest,
        };
        Request {
            choices: Choices {
                select: self.select.clone(),
                ignore: self.ignore.clone(),
                levels: Vec::new(),
                min_confidence: self.min_confidence,
            },
            architectures: self.architectures.clone(),
            defines: self.defines.clone(),
            configuration,
            force_exclude: true,
            ..Request::default()
        }
    }
}
