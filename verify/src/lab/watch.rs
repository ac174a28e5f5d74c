//! compute-sanitizer's command line. Options: *Compute Sanitizer*, section Command Line Options.

use super::job::{Limits, Watcher};
use camino::Utf8Path;

/// What a watcher's command begins with; the program follows.
pub(super) fn command(
    program: &Utf8Path,
    watcher: Watcher,
    limits: &Limits,
    port: u16,
    report: &str,
    text: &str,
) -> Vec<String> {
    let tool = match watcher {
        Watcher::Memcheck | Watcher::Leakcheck | Watcher::Calls => "memcheck",
        Watcher::Racecheck => "racecheck",
        Watcher::Initcheck => "initcheck",
        Watcher::Synccheck => "synccheck",
    };
    let mut words = vec![program.to_string(), "--tool".to_owned(), tool.to_owned()];
    let mut add = |option: &str, value: &str| words.extend([option.to_owned(), value.to_owned()]);
    if matches!(watcher, Watcher::Memcheck | Watcher::Leakcheck) {
        add("--padding", &limits.padding.to_string());
    }
    if matches!(watcher, Watcher::Memcheck | Watcher::Leakcheck | Watcher::Calls) {
        add("--report-api-errors", "all");
        // A fault ends its kernel and not the context, so that later kernels and calls still show theirs.
        add("--destroy-on-device-error", "kernel");
    }
    if watcher == Watcher::Leakcheck {
        add("--leak-check", "full");
    }
    // Scripts and build tools start the program that matters.
    add("--target-processes", "all");
    add("--print-limit", &limits.records.to_string());
    // Without this a report has names of files without their folders.
    add("--strip-paths", "no");
    // A script that ends with an exception before it comes to the GPU has ended as it should.
    add("--require-cuda-init", "no");
    add("--port", &port.to_string());
    // A machine that runs many programs at once is slow to start one.
    add("--launch-timeout", "60");
    add("--log-file", text);
    add("--save", report);
    words.push("--xml".to_owned());
    words
}

/// The options that let a watcher look at these kernels alone, whose mangled names hold these words. The others run as they do
/// without it.
pub(super) fn filter(kernels: &[String]) -> Vec<String> {
    if kernels.is_empty() {
        return Vec::new();
    }
    let parts: Vec<String> = kernels.iter().map(|kernel| format!("kns={kernel}")).collect();
    vec!["--kernel-name".to_owned(), parts.join(",")]
}
