//! Which rules run and how bad their findings are: defaults by group, then settings, then the command line. Of two
//! selectors the more specific wins: a rule over its group, a group over `all`.

use crate::rule::{RuleTable, default_severity};
use crate::selectors::{Selector, selector};
use crate::settings::{Level, MinConfidence, Settings};
use cudalint_findings::{Confidence, Finding, Severity};

/// Choices of the command line; they stand above those of the settings file.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Replaces the selection of the settings file when not empty.
    pub select: Vec<String>,
    /// Turned off, besides what the settings file turns off.
    pub ignore: Vec<String>,
    /// Levels in the order given; a level also turns the rule on.
    pub levels: Vec<(String, Level)>,
    /// The least confidence shown.
    pub min_confidence: Option<MinConfidence>,
}

/// The level of every rule.
#[derive(Clone, Debug)]
pub struct Levels {
    /// By place in the rule table: whether it runs, and the level it was given.
    rules: Vec<(bool, Option<Severity>)>,
    /// By place in the rule table: whether somebody asked for it, by its name, as error handling, or with everything.
    asked: Vec<bool>,
    minimum: Confidence,
}

impl Levels {
    /// Works out the level of every rule.
    ///
    /// # Errors
    /// With a sentence, when a selector of the command line names no rule or group.
    pub fn new(table: &RuleTable, settings: &Settings, choices: &Choices) -> Result<Self, String> {
        let rules = table.rules;
        let read = |names: &[String]| names.iter().map(|name| selector(rules, name)).collect::<Result<Vec<_>, _>>();
        let selected = if choices.select.is_empty() { read(&settings.lint.select)? } else { read(&choices.select)? };
        let mut ignored = read(&choices.ignore)?;
        // A selection on the command line starts afresh: what the file ignores stays ignored only below it.
        if choices.select.is_empty() {
            ignored.extend(read(&settings.lint.ignore)?);
        }
        let mut given = Vec::new();
        for (name, level) in settings.lint.levels.iter().map(|(name, level)| (name, *level)) {
            given.push((selector(rules, name)?, level, 0_usize));
        }
        for (order, (name, level)) in choices.levels.iter().enumerate() {
            given.push((selector(rules, name)?, *level, order + 1));
        }
        let named = |selector: &Selector| !matches!(selector, Selector::Group(_));
        let wanted = given.iter().filter(|(_, level, _)| level.severity().is_some()).map(|(selector, ..)| selector);
        let wanted: Vec<&Selector> = selected.iter().chain(wanted).filter(|selector| named(selector)).collect();
        let asked = rules
            .iter()
            .enumerate()
            .map(|(index, rule)| wanted.iter().any(|selector| selector.matches(index, rule)))
            .collect();
        let levels = rules
            .iter()
            .enumerate()
            .map(|(index, rule)| {
                let strongest = |list: &[Selector]| {
                    list.iter()
                        .filter(|selector| selector.matches(index, rule))
                        .map(|selector| selector.specificity())
                        .max()
                        .unwrap_or(0)
                };
                let mut runs = selected.is_empty() && table.runs_by_default(rule);
                let select = strongest(&selected);
                runs |= select > 0;
                let mut severity = None;
                // Command-line levels stand above those of the file at any specificity.
                let chosen = given
                    .iter()
                    .filter(|(selector, ..)| selector.matches(index, rule))
                    .max_by_key(|(selector, _, order)| (*order > 0, selector.specificity(), *order));
                let mut asked = select;
                if let Some((selector, level, order)) = chosen {
                    severity = level.severity();
                    // A selection on the command line says what runs; the file's levels then only say how bad it is.
                    if *order > 0 || choices.select.is_empty() {
                        runs = severity.is_some();
                        asked = asked.max(selector.specificity());
                    }
                }
                let ignore = strongest(&ignored);
                if ignore > 0 && ignore >= asked {
                    runs = false;
                }
                (runs, severity)
            })
            .collect();
        let minimum = match choices.min_confidence.or(settings.lint.min_confidence) {
            Some(MinConfidence::Definite) => Confidence::Definite,
            Some(MinConfidence::Likely) | None => Confidence::Likely,
            Some(MinConfidence::Possible) => Confidence::Possible,
        };
        Ok(Self { rules: levels, asked, minimum })
    }

    /// Whether the rule at a place of the table runs.
    pub fn runs(&self, index: usize) -> bool {
        self.rules.get(index).is_some_and(|(runs, _)| *runs)
    }

    /// Whether somebody asked for the rule at a place of the table.
    pub fn is_asked_for(&self, index: usize) -> bool {
        self.asked.get(index).is_some_and(|asked| *asked)
    }

    /// The level that the rule at a place of the table was given.
    pub fn given(&self, index: usize) -> Option<Severity> {
        self.rules.get(index).and_then(|(_, level)| *level)
    }

    /// Runs another rule, too: where a part of the project wants it.
    pub(crate) fn turn_on(&mut self, index: usize) {
        if let Some((runs, _)) = self.rules.get_mut(index) {
            *runs = true;
        }
    }

    /// Whether a confidence is shown.
    pub fn shows(&self, confidence: Confidence) -> bool {
        confidence >= self.minimum
    }

    /// Gives a finding of the rule at `index` its level. A finding that its rule has lowered stays lowered, and a
    /// *likely* finding is a warning at most.
    pub fn apply(&self, index: usize, finding: &mut Finding) {
        let usual = default_severity(finding.rule.group, finding.confidence);
        if let Some(level) = self.rules.get(index).and_then(|(_, level)| *level) {
            finding.severity = if finding.severity < usual { level.min(finding.severity) } else { level };
        }
        if finding.confidence < Confidence::Definite {
            finding.severity = finding.severity.min(Severity::Warning);
        }
    }
}
