//! What the editor can do, and what its user has set there.

use cudalint_engine::{Choices, Configuration, MinConfidence, Request};
use cudalint_findings::Units;
use lsp_types::{ClientCapabilities, InitializeParams, PositionEncodingKind, WorkspaceFolder};
use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Reads what the editor says first.
///
/// # Errors
/// When it is not what the protocol says.
pub fn initialize_params(value: Value) -> Result<InitializeParams, String> {
    serde_json::from_value(value).map_err(|error| format!("`initialize` cannot be read: {error}"))
}

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
    pub refreshes_lenses: bool,
    pub refreshes_hints: bool,
    pub shows_related: bool,
    pub shows_code_description: bool,
    pub shows_tags: bool,
    pub keeps_data: bool,
    /// Whether it can be asked for settings.
    pub has_settings: bool,
    /// Whether it watches files when it is asked to.
    pub watches_files: bool,
    pub shows_progress: bool,
    /// Whether a code action may be data; else it is a command.
    pub takes_actions: bool,
    /// Whether edits may name the version that they were made for.
    pub takes_versions: bool,
    pub folders: Vec<PathBuf>,
    /// Settings that came with the first message.
    pub settings: ClientSettings,
}

impl Client {
    /// Reads what the editor said first.
    pub fn new(params: &InitializeParams) -> Self {
        let ClientCapabilities { workspace, text_document, window, general, .. } = &params.capabilities;
        let published = text_document.as_ref().and_then(|it| it.publish_diagnostics.as_ref());
        let workspace = workspace.as_ref();
        let yes = |flag: Option<bool>| flag.unwrap_or(false);
        let folders = match &params.workspace_folders {
            Some(folders) if !folders.is_empty() => folders.iter().filter_map(folder).collect(),
            #[allow(deprecated)]
            _ => params.root_uri.iter().filter_map(|uri| crate::uri::path_of(uri.as_str())).collect(),
        };
        Self {
            units: units(general.as_ref().and_then(|it| it.position_encodings.as_deref()).unwrap_or_default()),
            pulls: text_document.as_ref().is_some_and(|it| it.diagnostic.is_some()),
            refreshes_diagnostics: yes(
                workspace.and_then(|it| it.diagnostic.as_ref()).and_then(|it| it.refresh_support),
            ),
            refreshes_lenses: yes(workspace.and_then(|it| it.code_lens.as_ref()).and_then(|it| it.refresh_support)),
            refreshes_hints: yes(workspace.and_then(|it| it.inlay_hint.as_ref()).and_then(|it| it.refresh_support)),
            shows_related: published.is_some_and(|it| yes(it.related_information)),
            shows_code_description: published.is_some_and(|it| yes(it.code_description_support)),
            shows_tags: published.is_some_and(|it| it.tag_support.is_some()),
            keeps_data: published.is_some_and(|it| yes(it.data_support)),
            has_settings: workspace.is_some_and(|it| yes(it.configuration)),
            watches_files: workspace
                .and_then(|it| it.did_change_watched_files.as_ref())
                .is_some_and(|it| yes(it.dynamic_registration)),
            shows_progress: window.as_ref().is_some_and(|it| yes(it.work_done_progress)),
            takes_actions: text_document
                .as_ref()
                .and_then(|it| it.code_action.as_ref())
                .is_some_and(|it| it.code_action_literal_support.is_some()),
            takes_versions: workspace.and_then(|it| it.workspace_edit.as_ref()).is_some_and(|it| yes(it.document_changes)),
            folders,
            settings: params.initialization_options.clone().map(ClientSettings::read).unwrap_or_default().0,
        }
    }
}

/// The folder of a workspace as a path.
pub fn folder(folder: &WorkspaceFolder) -> Option<PathBuf> {
    crate::uri::path_of(folder.uri.as_str())
}

/// The first of the editor's encodings that is known; UTF-16 is that of an editor that says nothing.
fn units(offered: &[PositionEncodingKind]) -> Units {
    let known = offered.iter().find_map(|kind| match kind.as_str() {
        "utf-8" => Some(Units::Utf8),
        "utf-16" => Some(Units::Utf16),
        "utf-32" => Some(Units::Utf32),
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
    /// Whether the range of an index is shown behind it.
    pub inlay_hints: bool,
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
            inlay_hints: false,
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
            Err(error) => {
                (Self::default(), Some(format!("the editor's settings for cudalint are not used: {error}")))
            }
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
