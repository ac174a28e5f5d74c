//! The session's side of *verify on GPU*: what is verified, progress, and the answer.

use crate::session::Session;
use crate::verify::{Verified, Verifying, Wanted, is_saved, outcome, start, watch};
use lsp_server::{ErrorCode, RequestId, Response};
use serde_json::json;

impl Session {
    /// Starts a run.
    ///
    /// # Errors
    /// With words, when it cannot be started or there is nothing to verify.
    pub(crate) fn verify(&mut self, id: &RequestId, wanted: &Wanted) -> Result<(), String> {
        let Some(document) = self.documents.get(&wanted.uri) else { return Err("the document is not open".to_owned()) };
        let Some(results) = self.projects.get(&document.project).and_then(|project| project.current()) else {
            return Err("the newest text has not been linted yet".to_owned());
        };
        // What runs is what is on the disk.
        if let Some(unsaved) = self.documents.iter().find(|it| it.project == document.project && !is_saved(it)) {
            return Err(format!("`{}` has to be saved first: what is on the disk runs", unsaved.path));
        }
        let kernels = || results.facts.iter().flat_map(|facts| &facts.kernels);
        let body = match &wanted.kernel {
            None => 0..usize::MAX,
            Some(name) => match kernels().find(|it| it.name == *name && it.place.path == document.path) {
                Some(kernel) => kernel.body.clone(),
                None => return Err(format!("there is no kernel `{name}` any more")),
            },
        };
        let inside = |finding: &&cudalint_findings::Finding| {
            finding.place.path == document.path && body.contains(&finding.place.range.start)
        };
        let only: Vec<&str> = results.findings.iter().filter(inside).map(|it| it.fingerprint.as_str()).collect();
        if only.is_empty() {
            let of = wanted.kernel.as_ref().map_or_else(|| "this document".to_owned(), |name| format!("`{name}`"));
            return Err(format!("there is nothing to verify: no finding in {of}"));
        }
        let title = wanted.kernel.as_ref().map_or_else(|| "Verify".to_owned(), |name| format!("Verify `{name}`"));
        let child = start(&document.project, &document.path, &only)?;
        let token = self.client.shows_progress.then(|| format!("verify-{id}"));
        if let Some(token) = token.clone() {
            self.ask("window/workDoneProgress/create", json!({ "token": token }));
            let value = json!({ "kind": "begin", "title": title, "message": "on a GPU", "cancellable": true });
            self.notify("$/progress", json!({ "token": token, "value": value }));
        }
        let child = watch(id.clone(), child, self.verified.clone())?;
        self.verifying.push(Verifying { id: id.clone(), token, child, cancelled: false });
        Ok(())
    }

    /// Ends a run that nobody wants any more; it is answered when it is over.
    pub(crate) fn cancel_verifying(&mut self, is_meant: impl Fn(&RequestId, Option<&str>) -> bool) {
        for run in self.verifying.iter_mut().filter(|run| is_meant(&run.id, run.token.as_deref())) {
            run.cancelled = true;
            // Its programs end with it.
            if let Ok(mut child) = run.child.lock() {
                let _ = child.kill();
            }
        }
    }

    /// Answers for a run that is over.
    pub(crate) fn take_verified(&mut self, over: &Verified) {
        let Some(index) = self.verifying.iter().position(|run| run.id == over.id) else { return };
        let run = self.verifying.remove(index);
        let answer = if run.cancelled {
            Err((ErrorCode::RequestCanceled, "cancelled".to_owned()))
        } else {
            outcome(over).map_err(|said| (ErrorCode::RequestFailed, said))
        };
        let words = match &answer {
            Ok(value) => value["message"].as_str().unwrap_or_default().to_owned(),
            Err((_, said)) => said.clone(),
        };
        if let Some(token) = &run.token {
            let value = json!({ "kind": "end", "message": words });
            self.notify("$/progress", json!({ "token": token, "value": value }));
        }
        if answer.is_ok() {
            self.notify("window/showMessage", json!({ "type": 3, "message": words }));
        }
        self.send(match answer {
            Ok(value) => Response::new_ok(run.id.clone(), value).into(),
            Err((code, said)) => Response::new_err(run.id.clone(), code as i32, said).into(),
        });
    }
}
