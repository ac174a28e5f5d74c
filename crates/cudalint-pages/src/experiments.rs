//! The experiments of a page: its `verify=` fences, and the receipt that a run of them left.

use crate::{Fence, FenceKind, Page};
use cudalint_verify::receipt::{Receipt, hash};
use std::path::Path;

/// The two sides of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// An `error` fence: each finding of the page's rule in it must be confirmed.
    Bad,
    /// A `clean` or `fixed` fence: every tool must find nothing.
    Good,
}

/// An example that is run on a GPU.
#[derive(Clone, Debug)]
pub struct Experiment<'page> {
    /// Bad or good.
    pub side: Side,
    /// The method that the fence names.
    pub method: &'page str,
    /// Heading under which it stands.
    pub section: &'page str,
    /// Line of the page on which its code begins, from 1.
    pub line: usize,
    /// Names and texts of its files.
    pub files: Vec<(String, &'page str)>,
    /// Settings that hold for it.
    pub settings: Option<&'page str>,
    /// `launch=<grid>x<block>`: how a kernel is launched that the example only defines.
    pub launch: Option<&'page str>,
}

impl Experiment<'_> {
    /// Hash of what a run depends on.
    pub fn hash(&self) -> String {
        let side = if self.side == Side::Bad { "bad" } else { "good" };
        let head = [side, self.method, self.settings.unwrap_or("")];
        let files = self.files.iter().flat_map(|(name, text)| [name.as_str(), text]);
        hash(head.into_iter().chain(files).chain(self.launch))
    }

    fn is_python(&self) -> bool {
        self.files.iter().any(|(name, _)| Path::new(name).extension().is_some_and(|end| end == "py"))
    }

    /// The blocks and the threads of a block that `launch=` says; none where it says nothing that is one.
    pub fn launched(&self) -> Option<(u64, u64)> {
        let (grid, block) = self.launch?.split_once('x')?;
        Some((grid.parse().ok()?, block.parse().ok()?))
    }
}

/// The experiments of a page in its order. Named fences that follow one another under one heading are one experiment, with
/// the method of the first that names one.
pub fn experiments(page: &Page) -> Vec<Experiment<'_>> {
    let mut found = Vec::new();
    let mut settings = None;
    let mut rest = page.fences.as_slice();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let side = match first.kind {
            FenceKind::Settings => {
                settings = Some(first.code.as_str());
                continue;
            }
            FenceKind::Plain => continue,
            FenceKind::Error => Side::Bad,
            FenceKind::Clean | FenceKind::Fixed => Side::Good,
        };
        let mut group: Vec<&Fence> = vec![first];
        while let Some((next, after)) = rest.split_first() {
            let belongs = first.file.is_some()
                && next.file.is_some()
                && next.section == first.section
                && next.kind != FenceKind::Settings;
            if !belongs {
                break;
            }
            group.push(next);
            rest = after;
        }
        let Some(method) = group.iter().find_map(|fence| fence.verify.as_deref()) else { continue };
        let name = |fence: &Fence| fence.file.clone().unwrap_or_else(|| format!("example.{}", fence.extension()));
        found.push(Experiment {
            side,
            method,
            section: &first.section,
            line: first.line,
            files: group.iter().map(|fence| (name(fence), fence.code.as_str())).collect(),
            settings,
            launch: group.iter().find_map(|fence| fence.launch.as_deref()),
        });
    }
    found
}

/// What keeps a receipt from vouching for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gap {
    /// A run on a GPU would mend it: there is no receipt, or an example is new or has changed since its run. Such a page is
    /// *unproven*; a release refuses it.
    Unproven(String),
    /// The page or its receipt is wrong, whatever a GPU says.
    Wrong(String),
}

impl Gap {
    /// In words.
    pub fn words(&self) -> &str {
        match self {
            Self::Unproven(words) | Self::Wrong(words) => words,
        }
    }
}

/// What a receipt lacks to vouch for a page; empty when every experiment of the page is in it, came out as the page says,
/// and is unchanged since.
pub fn gaps(page: &Page, method: &str, receipt: Option<&str>) -> Vec<Gap> {
    let experiments = experiments(page);
    let mut gaps: Vec<Gap> = faults_of_page(&experiments, method).into_iter().map(Gap::Wrong).collect();
    if method == "none" {
        return gaps;
    }
    let Some(receipt) = receipt else {
        gaps.push(Gap::Unproven(format!(
            "no receipt: run `cargo xtask receipts {}` on a machine with a GPU",
            page.name
        )));
        return gaps;
    };
    let receipt = match Receipt::parse(receipt) {
        Ok(receipt) => receipt,
        Err(error) => {
            gaps.push(Gap::Wrong(format!("the receipt cannot be read: {error}")));
            return gaps;
        }
    };
    if receipt.rule != page.name {
        gaps.push(Gap::Wrong(format!("the receipt is of `{}`", receipt.rule)));
    }
    for experiment in &experiments {
        let hash = experiment.hash();
        match receipt.experiments.iter().find(|entry| entry.hash == hash) {
            None => gaps.push(Gap::Unproven(format!(
                "line {}: the example is new or has changed since its run: `cargo xtask receipts {}` on a machine with a GPU renews the receipt",
                experiment.line, page.name
            ))),
            Some(entry) if !entry.result.is_good() => gaps.push(Gap::Wrong(format!(
                "line {}: the run did not bear it out: {}",
                experiment.line,
                entry.evidence.join("; ")
            ))),
            Some(_) => {}
        }
    }
    for entry in &receipt.experiments {
        if !experiments.iter().any(|experiment| experiment.hash() == entry.hash) {
            gaps.push(Gap::Unproven(format!(
                "the receipt holds an example of `{}` that the page no longer has: `cargo xtask receipts {}` renews it",
                entry.section, page.name
            )));
        }
    }
    gaps
}

/// What is wrong with the marks of a page, in words.
fn faults_of_page(experiments: &[Experiment<'_>], method: &str) -> Vec<String> {
    if method == "none" {
        return experiments
            .iter()
            .map(|experiment| format!("line {}: `verify=` in the page of a rule that no run can show", experiment.line))
            .collect();
    }
    let mut faults = Vec::new();
    for (side, words) in [(Side::Bad, "bad"), (Side::Good, "good")] {
        if !experiments.iter().any(|experiment| experiment.side == side) {
            faults.push(format!("no {words} example with `verify=`"));
        }
    }
    for experiment in experiments {
        // What a package of Python refuses ends in an exception, whatever the rule's other findings come to.
        let by_exception = experiment.is_python() && experiment.method == "exception";
        if experiment.method != method && !by_exception {
            faults.push(format!(
                "line {}: `verify={}`, but the rule's method is `{method}`",
                experiment.line, experiment.method
            ));
        }
    }
    faults
}
