//! Words of `--only` that name none of the findings.

use cudalint_engine::{Engine, selectors};
use cudalint_findings::model::FindingEntry;
use cudalint_verify::run;

/// A word of `--only` that names no finding.
pub(super) struct Unmatched {
    /// What is said of it.
    pub words: String,
    /// Whether it names no rule either, so that it can only be a mistake: a finding that is no more, or another spelling.
    pub is_mistake: bool,
}

/// The words that name no finding, each once.
pub(super) fn unmatched(engine: &Engine, only: &[String], findings: &[FindingEntry]) -> Vec<Unmatched> {
    let mut words: Vec<&str> = Vec::new();
    for word in only {
        if !words.contains(&word.as_str()) && !findings.iter().any(|finding| run::names(word, finding)) {
            words.push(word);
        }
    }
    words.into_iter().map(|word| of_word(engine, word, findings)).collect()
}

fn of_word(engine: &Engine, word: &str, findings: &[FindingEntry]) -> Unmatched {
    if engine.rules().iter().any(|rule| rule.info.name == word) {
        return Unmatched { words: format!("--only {word}: there is no finding of this rule"), is_mistake: false };
    }
    let begins = || findings.iter().any(|finding| finding.fingerprint.starts_with(word));
    let advice = match selectors::nearest(word, engine.rules().iter().map(|rule| rule.info.name)) {
        _ if word.len() < run::SHORT && !word.is_empty() && begins() => {
            format!("; of a fingerprint give {} characters at least", run::SHORT)
        }
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    Unmatched {
        words: format!("--only {word}: there is no finding of such a rule, or with such a fingerprint{advice}"),
        is_mistake: true,
    }
}
