//! Files derived from others: the registry and the documentation pages from the rule folders.

use crate::Page;
use crate::guidelines::{self, Entry, declared};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The groups that have folders, in the order of the documentation.
pub const GROUPS: [&str; 6] = ["correctness", "suspicious", "portability", "performance", "pedantic", "preview"];

/// A rule's pair of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFiles {
    /// The rule's name, which is the stem of both.
    pub name: String,
    /// Its group, which is the folder.
    pub group: &'static str,
    /// The Rust file.
    pub code: PathBuf,
    /// The page.
    pub page: PathBuf,
    /// The record of its GPU run, where there is one.
    pub receipt: Option<PathBuf>,
    /// Whether its page has examples for a GPU, and no record of a run.
    pub unproven: bool,
}

/// All rules below the `rules` folder, sorted by name.
///
/// # Errors
/// When a folder cannot be read, or a Rust file has no page beside it.
pub fn rule_files(rules: &Path) -> io::Result<Vec<RuleFiles>> {
    let mut found = Vec::new();
    for group in GROUPS {
        let folder = rules.join(group);
        if !folder.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&folder)? {
            let code = entry?.path();
            if code.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let page = code.with_extension("md");
            if !page.is_file() {
                return Err(io::Error::other(format!("{} has no page: write {}", code.display(), page.display())));
            }
            let name = code.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let receipt = Some(code.with_extension("receipt.toml")).filter(|file| file.is_file());
            let unproven = receipt.is_none() && has_experiments(&page)?;
            found.push(RuleFiles { name, group, code, page, receipt, unproven });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Whether a page marks examples with `verify=`.
fn has_experiments(page: &Path) -> io::Result<bool> {
    let parsed = Page::parse(&fs::read_to_string(page)?)
        .map_err(|error| io::Error::other(format!("{}: {error}", page.display())))?;
    Ok(parsed.fences.iter().any(|fence| fence.verify.is_some()))
}

/// The text of `rules/src/registry.rs`.
pub fn registry(rules: &[RuleFiles]) -> String {
    let mut text = String::from(
        "//! All rules, by name. Derived from the folders by `cargo xtask sync`; do not edit.\n\nuse cudalint_engine::Rule;\n\n",
    );
    for rule in rules {
        let module = rule.name.replace('-', "_");
        let _ = writeln!(text, "#[path = \"../{}/{}.rs\"]\nmod {module};", rule.group, rule.name);
    }
    text.push_str("\n/// Every rule, sorted by name.\npub static RULES: &[&Rule] = &[\n");
    for rule in rules {
        let _ = writeln!(text, "    &{}::RULE,", rule.name.replace('-', "_"));
    }
    text.push_str("];\n");
    text.push_str(
        "\n/// Rules with the record of the GPU run that confirmed their page, sorted by name.\npub static RECEIPTS: &[(&str, &str)] = &[",
    );
    let mut first = true;
    for rule in rules.iter().filter(|rule| rule.receipt.is_some()) {
        if std::mem::take(&mut first) {
            text.push('\n');
        }
        let include = format!("include_str!(\"../{}/{}.receipt.toml\")", rule.group, rule.name);
        let line = format!("    (\"{}\", {include}),\n", rule.name);
        // As rustfmt lays it out.
        if line.trim_end().chars().count() <= 120 {
            text.push_str(&line);
        } else {
            let _ = writeln!(text, "    (\n        \"{}\",\n        {include},\n    ),", rule.name);
        }
    }
    text.push_str("];\n");
    text.push_str(
        "\n/// Rules whose examples no GPU run has confirmed yet, sorted by name: they run only when they are asked for.\n#[rustfmt::skip]\npub static UNPROVEN: &[&str] = &[",
    );
    let unproven: Vec<_> = rules.iter().filter(|rule| rule.unproven).map(|rule| format!("\"{}\"", rule.name)).collect();
    let _ = writeln!(text, "{}];", unproven.join(", "));
    text
}

/// The text of `docs/rules/README.md`: every rule with its group and summary.
///
/// # Errors
/// When a page cannot be read or is not well formed.
pub fn rule_index(rules: &[RuleFiles]) -> io::Result<String> {
    let mut text = String::from(
        "# Rules\n\nDerived from the pages beside each rule by `cargo xtask sync`; `cudalint explain RULE` shows the same.\n",
    );
    for group in GROUPS {
        let members: Vec<_> = rules.iter().filter(|rule| rule.group == group).collect();
        if members.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n## {group}\n\n| rule | what it finds |\n|---|---|");
        for rule in members {
            let page = Page::parse(&fs::read_to_string(&rule.page)?)
                .map_err(|error| io::Error::other(format!("{}: {error}", rule.page.display())))?;
            let _ = writeln!(
                text,
                "| [{0}](../../rules/{1}/{0}.md){3} | {2} |",
                rule.name,
                rule.group,
                page.summary.replace('|', "\\|"),
                if rule.unproven { " (unproven)" } else { "" }
            );
        }
    }
    Ok(text)
}

/// Every derived file below `root` with the text it should have.
///
/// # Errors
/// When a rule's files cannot be read.
pub fn derived_files(root: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let rules = rule_files(&root.join("rules"))?;
    let entries = rules
        .iter()
        .map(|rule| Ok(Entry { name: rule.name.clone(), group: rule.group, declared: declared(&rule.code)? }))
        .collect::<io::Result<Vec<_>>>()?;
    Ok(vec![
        (root.join("rules/src/registry.rs"), registry(&rules)),
        (root.join("docs/rules/README.md"), rule_index(&rules)?),
        (root.join("docs/guidelines.md"), guidelines::page(&entries)?),
    ])
}

/// Writes the derived files that differ and returns their paths.
///
/// # Errors
/// When a file cannot be read or written.
pub fn sync(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut changed = Vec::new();
    for (path, text) in derived_files(root)? {
        if fs::read_to_string(&path).is_ok_and(|now| now == text) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, text)?;
        changed.push(path);
    }
    Ok(changed)
}
