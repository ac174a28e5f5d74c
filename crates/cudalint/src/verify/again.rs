//! Linting again: whether a finding still follows from its source, and what a fixed source gives.

use super::Input;
use crate::args::CheckArgs;
use crate::check;
use camino::Utf8PathBuf;
use cudalint_engine::{Choices, Engine, MinConfidence, Outcome, Request, StandardInput};
use cudalint_files::read_text;
use cudalint_findings::Finding;
use cudalint_findings::model::FindingEntry;
use cudalint_verify::outcome::Replay;
use cudalint_verify::run::FixedSource;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Lints the files of findings again, once and only when someone asks.
pub struct Again<'a> {
    engine: &'a Engine,
    /// What the user says of projects.
    args: &'a CheckArgs,
    root: Utf8PathBuf,
    /// The findings' files.
    paths: BTreeSet<String>,
    /// Findings that need no second look: this process has just made them.
    fresh: bool,
    found: OnceLock<BTreeSet<(String, String, u32, u32)>>,
}

impl<'a> Again<'a> {
    /// Nothing is linted yet.
    pub fn new(engine: &'a Engine, args: &'a CheckArgs, input: &Input) -> Self {
        let paths = input.report.findings.iter().map(|finding| finding.place.path.to_string()).collect();
        Self { engine, args, root: input.root.clone(), paths, fresh: input.fresh, found: OnceLock::new() }
    }

    /// Whether the source still gives the finding. Findings without numbers, and of rules that this cudalint does not have, are not judged.
    pub fn replay(&self, finding: &FindingEntry) -> Replay {
        if self.engine.rules().iter().all(|rule| rule.info.name != finding.rule) {
            return Replay::Unknown;
        }
        let bound = finding.witness.as_ref().is_some_and(|witness| !witness.bindings.is_empty());
        if finding.claim.launch.is_none() && finding.claim.accesses().is_empty() && !bound {
            return Replay::Unknown;
        }
        if self.fresh {
            return Replay::Agrees;
        }
        let start = finding.range.start;
        let key = (finding.rule.clone(), finding.path.clone(), start.line, start.column);
        if self.found.get_or_init(|| self.lint()).contains(&key) {
            Replay::Agrees
        } else {
            Replay::Disagrees("linting the source again does not give this finding".to_owned())
        }
    }

    /// Lints as the user has it linted, but with all rules and of every confidence.
    fn check(&self, files: Request) -> Option<Outcome> {
        let choices = Choices {
            select: vec!["all".to_owned()],
            min_confidence: Some(MinConfidence::Possible),
            ..Choices::default()
        };
        let Request { paths, standard_input, .. } = files;
        let request = Request { paths, standard_input, choices, ..check::project(self.args) };
        self.engine.check(&request, &|_| {}).ok()
    }

    /// Rule, path as the findings name it, line and column of every finding in the files.
    fn lint(&self) -> BTreeSet<(String, String, u32, u32)> {
        let paths = self.paths.iter().map(|path| self.root.join(path).into_std_path_buf()).collect();
        let Some(outcome) = self.check(Request { paths, ..Request::default() }) else { return BTreeSet::new() };
        let whole: Vec<(String, &String)> =
            self.paths.iter().map(|path| (self.root.join(path).as_str().replace('\\', "/"), path)).collect();
        outcome
            .report
            .findings
            .iter()
            .filter_map(|finding| {
                let (_, path) = whole.iter().find(|(whole, _)| **whole == *finding.place.path)?;
                let at = outcome.report.sources.start(&finding.place);
                Some((finding.rule.name.to_owned(), (*path).clone(), at.line, at.column))
            })
            .collect()
    }

    /// The file of a finding with the finding's fix applied, and what linting says that it did not say before.
    pub fn fixed(&self, finding: &FindingEntry) -> Option<FixedSource> {
        // The text of a notebook is that of its cells, which its file holds as JSON.
        let fix = finding.fix.as_ref().filter(|_| finding.range.start.cell.is_none())?;
        let text = read_text(self.root.join(&finding.path).as_std_path()).ok()?;
        let lines = cudalint_findings::LineIndex::new(&text);
        let byte = |at: cudalint_findings::model::Position| {
            let range = lines.range(&text, (at.line as usize).saturating_sub(1));
            let line = text.get(range.clone()).unwrap_or("");
            let column = (at.column as usize).saturating_sub(1);
            range.start + line.char_indices().nth(column).map_or(line.len(), |(byte, _)| byte)
        };
        let mut edits: Vec<(usize, usize, &str)> = fix
            .edits
            .iter()
            .filter(|edit| edit.path == finding.path)
            .map(|edit| (byte(edit.range.start), byte(edit.range.end), edit.text.as_str()))
            .collect();
        // From the end, so that offsets before stay true.
        edits.sort_by_key(|(start, ..)| std::cmp::Reverse(*start));
        let mut fixed = text.clone();
        for (start, end, new) in edits {
            if start > end || !fixed.is_char_boundary(start) || !fixed.is_char_boundary(end) {
                return None;
            }
            fixed.replace_range(start..end, new);
        }
        let filename = Some(self.root.join(&finding.path).into_std_path_buf());
        let lint = |text: &str| {
            let standard_input = Some(StandardInput { filename: filename.clone(), bytes: text.as_bytes().to_vec() });
            let outcome = self.check(Request { standard_input, ..Request::default() });
            outcome.map(|outcome| outcome.report.findings).unwrap_or_default()
        };
        let said = |finding: &Finding| (finding.rule.name, finding.function.clone(), finding.claim.map(&|_| ()));
        let before: Vec<_> = lint(&text).iter().map(said).collect();
        let new_findings = lint(&fixed)
            .iter()
            .filter(|finding| !before.contains(&said(finding)))
            .map(|finding| format!("{}: {}", finding.rule.name, finding.message))
            .collect();
        Some(FixedSource { text: fixed, new_findings })
    }
}
