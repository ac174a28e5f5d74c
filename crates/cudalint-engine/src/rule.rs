//! What a rule is, and what it is given.

use crate::target::Target;
use cudalint_findings::{Applicability, Claim, Confidence, Finding, Label, Place, RuleInfo, Severity, Witness};
pub use cudalint_findings::{Group, Method};
use cudalint_program::Project;
use cudalint_program::ir::{FunctionId, Module, ModuleId};
use cudalint_replay::facts::{Facts, Site, Step};
use cudalint_syntax::Span;
use std::ops::Range;
use std::sync::Arc;

/// A rule: its facts and its function. A `static` in the rule's file.
pub struct Rule {
    /// Name, group, page and so on, as output shows them.
    pub info: RuleInfo,
    /// The confidences it may report.
    pub confidence: &'static [Confidence],
    /// Whether its findings may carry a fix, and of which kind at best.
    pub fix: Option<Applicability>,
    /// Whether it reads what requests and barriers of executed kernels cost: these figures are taken for such rules only.
    pub figures: bool,
    /// What it listens to.
    pub check: Check,
}

/// A rule by its name, group and method; its page lies beside its file. What else there is to say of it follows, at last what
/// it listens to:
///
/// ```text
/// pub static RULE: Rule = rule!("empty-grid", Correctness, ApiError).summary("…").cwe(1335).facts(check);
/// ```
#[macro_export]
macro_rules! rule {
    ($name:literal, $group:ident, $method:ident) => {
        $crate::rule::Declaration::new($name, $crate::rule::Group::$group, $crate::rule::Method::$method)
            .page(include_str!(concat!($name, ".md")))
    };
}

/// A rule that does not listen to anything yet. It may be *definite* or *likely* and offers no fix, unless it says otherwise.
pub struct Declaration {
    info: RuleInfo,
    confidence: &'static [Confidence],
    fix: Option<Applicability>,
    figures: bool,
}

impl Declaration {
    /// With a name, a group, and how a GPU run shows it.
    pub const fn new(name: &'static str, group: Group, method: Method) -> Self {
        Self {
            info: RuleInfo { name, group, summary: "", page: "", method, guidelines: &[], cwe: None },
            confidence: &[Confidence::Definite, Confidence::Likely],
            fix: None,
            figures: false,
        }
    }

    /// The whole page, Markdown.
    #[must_use]
    pub const fn page(mut self, page: &'static str) -> Self {
        self.info.page = page;
        self
    }

    /// What is wrong, in one sentence.
    #[must_use]
    pub const fn summary(mut self, summary: &'static str) -> Self {
        self.info.summary = summary;
        self
    }

    /// The guidelines of NVIDIA's CUDA C++ Guidelines for Robust and Safety Critical Programming that it checks, by the numbers
    /// that `docs/guidelines.md` lists.
    #[must_use]
    pub const fn guidelines(mut self, guidelines: &'static [&'static str]) -> Self {
        self.info.guidelines = guidelines;
        self
    }

    /// CWE number.
    #[must_use]
    pub const fn cwe(mut self, cwe: u32) -> Self {
        self.info.cwe = Some(cwe);
        self
    }

    /// The confidences that it may report.
    #[must_use]
    pub const fn confidence(mut self, confidence: &'static [Confidence]) -> Self {
        self.confidence = confidence;
        self
    }

    /// Its findings may carry a fix, of this kind at best.
    #[must_use]
    pub const fn fix(mut self, fix: Applicability) -> Self {
        self.fix = Some(fix);
        self
    }

    /// It reads what requests and barriers of executed kernels cost.
    #[must_use]
    pub const fn figures(mut self) -> Self {
        self.figures = true;
        self
    }

    /// It listens to the facts of each module.
    pub const fn facts(self, check: fn(&ModuleContext<'_>, &mut Sink<'_>)) -> Rule {
        Rule {
            info: self.info,
            confidence: self.confidence,
            fix: self.fix,
            figures: self.figures,
            check: Check::Facts(check),
        }
    }

    /// It listens to the suppression comments of each file.
    pub const fn ignores(self, check: fn(&IgnoreContext<'_>, &mut Sink<'_>)) -> Rule {
        Rule {
            info: self.info,
            confidence: self.confidence,
            fix: self.fix,
            figures: self.figures,
            check: Check::Ignores(check),
        }
    }
}

/// The rules that there are, and which of them no GPU has confirmed yet.
#[derive(Clone, Copy)]
pub struct RuleTable {
    /// All rules.
    pub rules: &'static [&'static Rule],
    /// Names of rules whose pages no GPU has confirmed yet: they run only when they are asked for.
    pub unproven: &'static [&'static str],
}

impl RuleTable {
    /// Whether no GPU has confirmed a rule's page yet.
    pub fn is_unproven(&self, rule: &Rule) -> bool {
        self.unproven.contains(&rule.info.name)
    }

    /// Whether a rule runs without being asked for: those of groups that do, once a GPU has confirmed their pages.
    pub fn runs_by_default(&self, rule: &Rule) -> bool {
        let on = matches!(rule.info.group, Group::Correctness | Group::Suspicious | Group::Portability);
        on && !self.is_unproven(rule)
    }
}

/// What a rule listens to.
pub enum Check {
    /// The facts of one module, after the replay.
    Facts(fn(&ModuleContext<'_>, &mut Sink<'_>)),
    /// The suppression comments of one file, after every other rule has spoken.
    Ignores(fn(&IgnoreContext<'_>, &mut Sink<'_>)),
}

/// One module and what is known about it.
pub struct ModuleContext<'a> {
    /// All modules.
    pub project: &'a Project,
    /// This module's id.
    pub id: ModuleId,
    /// This module.
    pub module: &'a Module,
    /// What the replay saw.
    pub facts: &'a Facts,
    /// Compute capabilities to judge limits by, as `major * 10 + minor`: a limit is broken for sure only when every one
    /// of them breaks it.
    pub architectures: &'a [u32],
    /// What the module is compiled with and for, as far as somebody says it.
    pub target: Target,
}

impl ModuleContext<'_> {
    /// The path and text of this module's file.
    pub fn path(&self) -> &Arc<str> {
        self.project.path(self.id)
    }

    /// Text of a span of this module.
    pub fn text(&self, span: Span) -> &str {
        self.project.text(self.id, span)
    }

    /// A span of this module as a place.
    pub fn place(&self, span: Span) -> Place {
        Place { path: Arc::clone(self.path()), range: span.range() }
    }

    /// A site of any module as a place.
    pub fn place_of(&self, site: Site) -> Place {
        Place { path: Arc::clone(self.project.path(site.module)), range: site.span.range() }
    }

    /// The way to an event as labels.
    pub fn steps(&self, path: &[Step]) -> Vec<Label> {
        path.iter().map(|step| Label { place: self.place_of(step.site), message: step.note.clone() }).collect()
    }

    /// The name of a function of this module, for [`Finding::function`].
    pub fn function_name(&self, id: FunctionId) -> String {
        self.module.functions.get(id).map(|f| f.name.to_string()).unwrap_or_default()
    }
}

/// The suppression comments of one file.
pub struct IgnoreContext<'a> {
    /// Path as given.
    pub path: &'a Arc<str>,
    /// Text of the whole file.
    pub text: &'a str,
    /// The comments in order.
    pub comments: &'a [IgnoreComment],
}

impl IgnoreContext<'_> {
    /// A byte range of the file as a place.
    pub fn place(&self, range: Range<usize>) -> Place {
        Place { path: Arc::clone(self.path), range }
    }
}

/// One `cudalint: ignore[…]` or `cudalint: file-ignore[…]`.
#[derive(Clone, Debug)]
pub struct IgnoreComment {
    /// The whole comment.
    pub range: Range<usize>,
    /// The names in its brackets.
    pub names: Vec<IgnoredName>,
    /// What stands between the brackets; `None` when there are none.
    pub brackets: Option<Range<usize>>,
    /// Whether it is meant for the whole file.
    pub whole_file: bool,
    /// What to delete when the comment goes: its line, when nothing else is on it.
    pub removal: Range<usize>,
}

/// A name in the brackets of a suppression comment.
#[derive(Clone, Debug)]
pub struct IgnoredName {
    /// As written.
    pub name: String,
    /// Where.
    pub range: Range<usize>,
    /// The rule's place in the rule table; `None` when there is no such rule.
    pub rule: Option<usize>,
    /// For an unknown name, the rule's name that is most like it.
    pub nearest: Option<String>,
    /// Whether the rule ran over this file, so that not being used means something.
    pub judged: bool,
    /// Whether it suppressed a finding.
    pub used: bool,
}

/// Takes findings from rules.
pub struct Sink<'a> {
    findings: &'a mut Vec<Finding>,
}

fn one_line(text: &mut String) {
    if text.contains(['\n', '\r']) {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
}

impl<'a> Sink<'a> {
    /// A sink that appends to a list.
    pub fn new(findings: &'a mut Vec<Finding>) -> Self {
        Self { findings }
    }

    /// Reports a finding.
    pub fn report(&mut self, mut finding: Finding) {
        // Names and expressions may be written over several lines; sentences are not.
        one_line(&mut finding.message);
        one_line(&mut finding.label);
        let path = finding.witness.iter_mut().flat_map(|witness| &mut witness.path);
        for label in finding.related.iter_mut().chain(path) {
            one_line(&mut label.message);
        }
        self.findings.push(finding);
    }

    /// Reports a finding where there is one.
    pub fn report_some(&mut self, finding: Option<Finding>) {
        if let Some(finding) = finding {
            self.report(finding);
        }
    }
}

impl Rule {
    /// A finding of this rule with its group's default severity for `confidence`; the caller fills in the rest. The claim
    /// says what a run has to show, and the message says it to people.
    pub fn finding(
        &'static self,
        confidence: Confidence,
        place: Place,
        claim: impl Into<Claim<Place>>,
        message: String,
    ) -> Finding {
        Finding {
            rule: &self.info,
            severity: default_severity(self.info.group, confidence),
            confidence,
            message,
            place,
            label: String::new(),
            claim: claim.into(),
            function: String::new(),
            related: Vec::new(),
            witness: None::<Witness>,
            help: None,
            fix: None,
            done_elsewhere: false,
            fingerprint: String::new(),
            verification: None,
            method: None,
        }
    }
}

/// The level of a finding before settings: its group's for *definite*, a warning at most for *likely*.
pub fn default_severity(group: Group, confidence: Confidence) -> Severity {
    match (group, confidence) {
        (Group::Correctness, Confidence::Definite) => Severity::Error,
        (Group::Correctness | Group::Suspicious | Group::Portability, _) => Severity::Warning,
        (Group::Performance | Group::Pedantic | Group::Preview, _) => Severity::Info,
    }
}
