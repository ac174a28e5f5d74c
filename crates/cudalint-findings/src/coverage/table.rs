//! `coverage` on a terminal: a row a kernel, below it what is shown, and why not more.

use super::{Document, Kernel};
use crate::plain::{one_line, path};
use std::fmt::Write as _;

/// The table.
pub fn render(document: &Document) -> String {
    let mut out = String::new();
    if document.kernels.is_empty() {
        return "No kernels.\n".to_owned();
    }
    for kernel in &document.kernels {
        row(&mut out, kernel);
    }
    let count = document.kernels.len();
    let executed = document.kernels.iter().filter(|kernel| kernel.executed != super::Executed::Not).count();
    let all: usize = document.kernels.iter().map(|kernel| kernel.accesses.all).sum();
    let known: usize = document.kernels.iter().map(|kernel| kernel.accesses.known).sum();
    let _ = writeln!(out, "{executed} of {count} kernels executed, {known} of {all} accesses with a known address.");
    out
}

fn row(out: &mut String, kernel: &Kernel) {
    let launches = match kernel.launches.len() {
        0 => "no launch in sight".to_owned(),
        1 => "1 launch".to_owned(),
        count => format!("{count} launches"),
    };
    let _ = writeln!(
        out,
        "{}:{} {}: {launches}; executed: {}; {} of {} accesses known",
        path(&kernel.at.path),
        kernel.at.line,
        one_line(&kernel.name),
        kernel.executed.words(),
        kernel.accesses.known,
        kernel.accesses.all,
    );
    let near = |at: &super::At| {
        if at.path == kernel.at.path { format!("line {}", at.line) } else { format!("{}:{}", path(&at.path), at.line) }
    };
    for absent in &kernel.absent {
        let _ = writeln!(out, "  shown: {}", one_line(&absent.message));
    }
    for open in &kernel.open {
        let _ = writeln!(
            out,
            "  open: races in `{}`, {}: {}",
            one_line(&open.object),
            near(&open.at),
            one_line(&open.message)
        );
    }
    for launch in kernel.launches.iter().filter(|launch| !launch.cause.is_empty()) {
        let words = launch.executed.words();
        let _ = writeln!(out, "  launch, {}: executed: {words}, since {}", near(&launch.at), one_line(&launch.cause));
    }
    for cause in &kernel.causes {
        let _ = writeln!(out, "  unknown, {}: {}", near(&cause.at), one_line(&cause.message));
    }
}
