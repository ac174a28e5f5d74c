//! `cudalint explain` and `cudalint rules`: what is known about rules, as text or data.

use crate::args::{ExplainArgs, ListFormat, PageFormat};
use crate::check::{CLEAN, TROUBLE};
use crate::out;
use cudalint_engine::{Engine, Rule, selectors};
use cudalint_verify::receipt::Receipt;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// What is said of a rule whose page has no receipt.
const UNPROVEN: &str = "Unproven: no GPU has confirmed the examples of this page yet. The rule runs only when it is asked for by name or group.";

/// Runs `explain` and gives its exit code.
pub fn explain(engine: &Engine, args: &ExplainArgs) -> u8 {
    let rules: Vec<&Rule> = match &args.rule {
        None => engine.rules().to_vec(),
        Some(name) => {
            if let Some(rule) = engine.rules().iter().find(|rule| rule.info.name == name) {
                vec![rule]
            } else {
                let near = selectors::nearest(name, engine.rules().iter().map(|rule| rule.info.name));
                let advice = near
                    .map_or_else(|| "`cudalint rules` lists them".to_owned(), |near| format!("did you mean `{near}`?"));
                out::message("error", &format!("there is no rule `{name}`; {advice}"));
                return TROUBLE;
            }
        }
    };
    let text = match args.format {
        PageFormat::Json if args.all => pretty(&rules.iter().map(|rule| as_json(engine, rule)).collect()),
        PageFormat::Json => rules.first().map(|rule| pretty(&as_json(engine, rule))).unwrap_or_default(),
        PageFormat::Markdown => rules.iter().map(|rule| markdown(engine, rule)).collect::<Vec<_>>().join("\n\n") + "\n",
        PageFormat::Text => rules.iter().map(|rule| plain(engine, rule)).collect::<Vec<_>>().join("\n\n"),
    };
    print(&text)
}

/// Runs `rules` and gives its exit code.
pub fn list(engine: &Engine, format: ListFormat) -> u8 {
    let text = match format {
        ListFormat::Json => pretty(&engine.rules().iter().map(|rule| as_json(engine, rule)).collect()),
        ListFormat::Text => {
            let width = engine.rules().iter().map(|rule| rule.info.name.len()).max().unwrap_or(0);
            engine.rules().iter().fold(String::new(), |mut text, rule| {
                let group = rule.info.group.name();
                let off = match (engine.table().runs_by_default(rule), engine.table().is_unproven(rule)) {
                    (true, _) => "",
                    (false, true) => " (unproven, off by default)",
                    (false, false) => " (off by default)",
                };
                let _ = writeln!(text, "{:width$}  {group:11}  {}{off}", rule.info.name, rule.info.summary);
                text
            })
        }
    };
    print(&text)
}

fn print(text: &str) -> u8 {
    match out::print(text) {
        Ok(()) => CLEAN,
        Err(problem) => {
            out::message("error", &problem);
            TROUBLE
        }
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// The record of the GPU run that confirmed a rule's page.
fn receipt(rule: &Rule) -> Option<Receipt> {
    let (_, text) = cudalint_rules::RECEIPTS.iter().find(|(name, _)| *name == rule.info.name)?;
    Receipt::parse(text).ok()
}

fn as_json(engine: &Engine, rule: &Rule) -> Value {
    json!({
        "name": rule.info.name,
        "group": rule.info.group.name(),
        "summary": rule.info.summary,
        "on-by-default": engine.table().runs_by_default(rule),
        "unproven": engine.table().is_unproven(rule),
        "confidence": rule.confidence.iter().map(|confidence| confidence.name()).collect::<Vec<_>>(),
        "fix": rule.fix.map(cudalint_findings::Applicability::name),
        "verification": rule.info.method.name(),
        "guidelines": rule.info.guidelines,
        "cwe": rule.info.cwe,
        "receipt": receipt(rule),
        "page": rule.info.page,
    })
}

/// The page as it is, with its GPU run at the end.
pub fn markdown(engine: &Engine, rule: &Rule) -> String {
    let page = rule.info.page.trim_end();
    if engine.table().is_unproven(rule) {
        return format!("{page}\n\n## Unproven\n\n{UNPROVEN}");
    }
    receipt(rule).map_or_else(|| page.to_owned(), |receipt| format!("{page}\n\n## Confirmed\n\n{}", receipt.summary()))
}

/// A page as plain text: headings underlined, fences indented, the rule's facts below the title.
fn plain(engine: &Engine, rule: &Rule) -> String {
    let mut text = String::new();
    let mut fence = false;
    for line in rule.info.page.lines() {
        if line.starts_with("```") {
            fence = !fence;
        } else if fence {
            let _ = writeln!(text, "{}", format!("    {line}").trim_end());
        } else if let Some(title) = line.strip_prefix("# ") {
            let _ = writeln!(text, "{title}\n{}", "=".repeat(title.chars().count()));
            let _ = writeln!(text, "\n{}", facts(rule));
            if engine.table().is_unproven(rule) {
                let _ = writeln!(text, "\n{UNPROVEN}");
            } else if let Some(receipt) = receipt(rule) {
                let _ = writeln!(text, "\n{}", receipt.summary());
            }
        } else if let Some(heading) = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')) {
            let _ = writeln!(text, "{heading}\n{}", "-".repeat(heading.chars().count()));
        } else {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

fn facts(rule: &Rule) -> String {
    let mut facts = vec![format!("Group: {}", rule.info.group.name())];
    let confidence: Vec<_> = rule.confidence.iter().map(|confidence| confidence.name()).collect();
    facts.push(format!("Confidence: {}", confidence.join(", ")));
    facts.extend(rule.fix.map(|fix| format!("Fix: {}", fix.name())));
    facts.push(format!("Shown by: {}", rule.info.method.name()));
    if !rule.info.guidelines.is_empty() {
        facts.push(format!("NVIDIA guideline: {}", rule.info.guidelines.join(", ")));
    }
    facts.extend(rule.info.cwe.map(|cwe| format!("CWE-{cwe}")));
    facts.join(" · ")
}
