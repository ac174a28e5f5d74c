//! Names that users write for rules: a rule, a group, or `all`; and the nearest right name for a wrong one.

use crate::rule::Rule;
use cudalint_findings::Group;

/// The groups with the names that users write.
pub const GROUPS: [(&str, Group); 6] = [
    ("correctness", Group::Correctness),
    ("suspicious", Group::Suspicious),
    ("portability", Group::Portability),
    ("performance", Group::Performance),
    ("pedantic", Group::Pedantic),
    ("preview", Group::Preview),
];

/// The name of the rules about error handling, which belong to a group each.
pub const ERROR_HANDLING: &str = "error-handling";

/// What a selector names, from the widest to the most specific.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Selector {
    /// Every rule.
    All,
    /// A group.
    Group(Group),
    /// Rules about statuses that nobody looks at: see [`RuleInfo::is_error_handling`](cudalint_findings::RuleInfo).
    ErrorHandling,
    /// One rule: its place in the table.
    Rule(usize),
}

impl Selector {
    /// Whether the rule at `index` of the table is meant.
    pub fn matches(self, index: usize, rule: &Rule) -> bool {
        match self {
            Self::All => true,
            Self::Group(group) => rule.info.group == group,
            Self::ErrorHandling => rule.info.is_error_handling(),
            Self::Rule(named) => named == index,
        }
    }

    /// How specific it is: a more specific selector wins over a wider one.
    pub const fn specificity(self) -> u8 {
        match self {
            Self::All => 1,
            Self::Group(_) => 2,
            Self::ErrorHandling => 3,
            Self::Rule(_) => 4,
        }
    }
}

/// Reads a selector.
///
/// # Errors
/// With a sentence that names the nearest right name, when there is no such rule or group.
pub fn selector(rules: &[&Rule], text: &str) -> Result<Selector, String> {
    if text == "all" {
        return Ok(Selector::All);
    }
    if let Some((_, group)) = GROUPS.iter().find(|(name, _)| *name == text) {
        return Ok(Selector::Group(*group));
    }
    if text == ERROR_HANDLING {
        return Ok(Selector::ErrorHandling);
    }
    if let Some(index) = rules.iter().position(|rule| rule.info.name == text) {
        return Ok(Selector::Rule(index));
    }
    let names = rules
        .iter()
        .map(|rule| rule.info.name)
        .chain(GROUPS.iter().map(|(name, _)| *name))
        .chain([ERROR_HANDLING, "all"]);
    Err(match nearest(text, names) {
        Some(near) => format!("there is no rule or group `{text}`; did you mean `{near}`?"),
        None => format!("there is no rule or group `{text}`; `cudalint rules` lists them"),
    })
}

/// The known name that is most like `text`, if any is like it at all.
pub fn nearest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best: Option<(f64, &str)> = None;
    for name in names {
        let likeness = strsim::jaro_winkler(text, name);
        if likeness > 0.8 && best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, name));
        }
    }
    best.map(|(_, name)| name)
}
