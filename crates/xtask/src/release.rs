//! `cargo xtask release`: refuses to build a release of rules that no GPU has confirmed, else builds the program.

use cudalint_pages::Page;
use cudalint_pages::derive::derived_files;
use cudalint_pages::experiments::gaps;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Checks that every page's receipt vouches for it and that derived files are current, and builds the program with the
/// `dist` profile, which is what wheels are built with.
///
/// # Errors
/// With what keeps a release back, a line each.
pub fn run(root: &Path) -> Result<(), String> {
    let mut problems = Vec::new();
    for rule in cudalint_rules::RULES {
        let page = Page::parse(rule.info.page).map_err(|error| format!("{}: {error}", rule.info.name))?;
        let receipt = cudalint_rules::RECEIPTS.iter().find(|(name, _)| *name == rule.info.name).map(|(_, text)| *text);
        let found = gaps(&page, rule.info.method.name(), receipt);
        problems.extend(found.iter().map(|gap| format!("{}: {}", rule.info.name, gap.words())));
    }
    for (path, text) in derived_files(root).map_err(|error| error.to_string())? {
        if fs::read_to_string(&path).is_ok_and(|now| now == text) {
            continue;
        }
        problems.push(format!("{} is stale: run `cargo xtask sync`", path.display()));
    }
    if !problems.is_empty() {
        return Err(format!("no release can be made:\n  {}", problems.join("\n  ")));
    }
    let build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--locked", "--profile", "dist", "--package", "cudalint"])
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if build.success() { Ok(()) } else { Err("the build failed".to_owned()) }
}
