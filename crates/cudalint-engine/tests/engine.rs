//! The engine with rules of its own: selection, the index, suppression, faults, order.

#![allow(clippy::unwrap_used, clippy::panic)]

use cudalint_engine::{
    Check, Choices, Configuration, Engine, IgnoreContext, Level, MinConfidence, ModuleContext, Outcome, Request, Rule,
    Sink, StandardInput,
};
use cudalint_findings::{Confidence, Finding, Group, Method, RuleInfo, Severity, Shows};
use cudalint_program::ir::Expr;
use cudalint_syntax::{Language, Span};
use std::fs;
use std::path::{Path, PathBuf};

const fn rule(name: &'static str, group: Group, check: Check) -> Rule {
    Rule {
        info: RuleInfo { name, group, summary: "", page: "", method: Method::None, guidelines: &[], cwe: None },
        confidence: &[Confidence::Definite],
        fix: None,
        figures: false,
        check,
    }
}

/// Calls of `bad` in Python; `maybe` and `perhaps` are less sure; `explode` is a fault of the rule.
static BAD_CALL: Rule = rule("bad-call", Group::Correctness, Check::Facts(bad_call));
/// Functions of C++ whose name begins with `bad`.
static BAD_FUNCTION: Rule = rule("bad-function", Group::Suspicious, Check::Facts(bad_function));
/// Calls of a function that some other file of the project defines.
static FAR_CALL: Rule = rule("far-call", Group::Correctness, Check::Facts(far_call));
static TASTE: Rule = rule("matter-of-taste", Group::Pedantic, Check::Facts(taste));
static USELESS: Rule = rule("useless-comment", Group::Suspicious, Check::Ignores(useless));
static RULES: &[&Rule] = &[&BAD_CALL, &BAD_FUNCTION, &FAR_CALL, &TASTE, &USELESS];

/// The calls in a module of Python.
fn python_calls<'a>(context: &'a ModuleContext<'_>) -> impl Iterator<Item = Span> + 'a {
    let calls = context.module.exprs.iter().filter(|node| matches!(node.kind, Expr::Call { .. }));
    calls.map(|node| node.span).filter(|_| context.module.language == Language::Python)
}

fn bad_call(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for span in python_calls(context) {
        let text = context.text(span);
        assert!(!text.starts_with("explode"), "a rule that fails");
        let confidence = match text.split('(').next() {
            Some("bad") => Confidence::Definite,
            Some("maybe") => Confidence::Likely,
            Some("perhaps") => Confidence::Possible,
            _ => continue,
        };
        sink.report(BAD_CALL.finding(confidence, context.place(span), Shows::Nothing, format!("call `{text}`")));
    }
}

fn taste(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for span in python_calls(context) {
        sink.report(TASTE.finding(Confidence::Definite, context.place(span), Shows::Nothing, "a call".to_owned()));
    }
}

fn bad_function(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for function in context.module.functions.iter().filter(|function| function.name.starts_with("bad")) {
        let message = format!("function `{}`", function.name);
        let place = context.place(function.name_span);
        let mut finding = BAD_FUNCTION.finding(Confidence::Definite, place, Shows::Nothing, message);
        finding.function = function.name.to_string();
        sink.report(finding);
    }
}

fn far_call(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for node in &context.module.exprs {
        let Expr::Call { callee, .. } = &node.kind else { continue };
        let Some(Expr::Name { path, .. }) = context.module.exprs.get(*callee).map(|callee| &callee.kind) else {
            continue;
        };
        let Some(name) = path.last() else { continue };
        let here = context.module.functions.iter().any(|function| function.name == *name);
        let far = context
            .project
            .modules()
            .any(|id| context.project.module(id).functions.iter().any(|function| function.name == *name));
        if far && !here {
            let (place, message) = (context.place(node.span), format!("far `{name}`"));
            sink.report(FAR_CALL.finding(Confidence::Definite, place, Shows::Nothing, message));
        }
    }
}

fn useless(context: &IgnoreContext<'_>, sink: &mut Sink<'_>) {
    for comment in context.comments {
        for name in comment.names.iter().filter(|name| name.rule.is_none() || name.judged && !name.used) {
            let place = context.place(name.range.clone());
            let message = format!("`{}` is of no use", name.name);
            sink.report(USELESS.finding(Confidence::Definite, place, Shows::Nothing, message));
        }
    }
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    for (name, text) in files {
        write(folder.path(), name, text);
    }
    folder
}

fn check(request: &Request) -> Outcome {
    Engine::new(RULES).check(request, &|_| {}).unwrap()
}

fn paths(paths: &[PathBuf]) -> Request {
    Request { paths: paths.to_vec(), ..Request::default() }
}

/// `file:message` of every finding, paths below `folder`.
fn said(folder: &Path, findings: &[Finding]) -> Vec<String> {
    let folder = folder.to_string_lossy().into_owned();
    findings
        .iter()
        .map(|finding| {
            let path = finding.place.path.trim_start_matches(&folder).trim_start_matches('/');
            format!("{path}: {}", finding.message)
        })
        .collect()
}

const PYTHON: &str = "import cupy\n";

#[test]
fn rules_see_their_facts_and_groups_set_what_runs() {
    let folder = project(&[("a.py", "import cupy\nbad(1)\nmaybe(2)\nperhaps(3)\n")]);
    let run = |choices: Choices| {
        said(folder.path(), &check(&Request { choices, ..paths(&[folder.path().to_owned()]) }).report.findings)
    };
    assert_eq!(run(Choices::default()), ["a.py: call `bad(1)`", "a.py: call `maybe(2)`"]);
    let possible = Choices { min_confidence: Some(MinConfidence::Possible), ..Choices::default() };
    assert_eq!(run(possible).len(), 3);
    let definite = Choices { min_confidence: Some(MinConfidence::Definite), ..Choices::default() };
    assert_eq!(run(definite).len(), 1);
    let pedantic = Choices { select: vec!["pedantic".to_owned()], ..Choices::default() };
    assert_eq!(run(pedantic), ["a.py: a call"; 3]);
    let both = Choices { levels: vec![("pedantic".to_owned(), Level::Error)], ..Choices::default() };
    assert_eq!(run(both).len(), 5);
    let all_but = Choices { select: vec!["all".to_owned()], ignore: vec!["bad-call".to_owned()], ..Choices::default() };
    assert_eq!(run(all_but), ["a.py: a call"; 3]);
}

#[test]
fn levels_of_the_settings_hold_and_likely_findings_stay_warnings() {
    let folder = project(&[
        ("a.py", "import cupy\nbad(1)\nmaybe(2)\n"),
        (
            "cudalint.toml",
            "[lint.levels]\nbad-call = \"error\"\n\n[[override]]\npaths = [\"gen/**\"]\nignore = [\"all\"]\n",
        ),
        ("gen/b.py", "import cupy\nbad(1)\n"),
    ]);
    let outcome = check(&paths(&[folder.path().to_owned()]));
    let severities: Vec<_> = outcome.report.findings.iter().map(|finding| finding.severity).collect();
    assert_eq!(severities, [Severity::Error, Severity::Warning]);
    let isolated = Request { configuration: Configuration::Isolated, ..paths(&[folder.path().to_owned()]) };
    assert_eq!(check(&isolated).report.findings.len(), 3);
}

#[test]
fn excluded_files_are_left_out_unless_named() {
    let folder = project(&[
        ("cudalint.toml", "exclude = [\"old\"]\n"),
        ("old/a.py", "import cupy\nbad(1)\n"),
        (".hidden/a.py", "import cupy\nbad(1)\n"),
        (".gitignore", "build\n"),
        ("build/a.py", "import cupy\nbad(1)\n"),
    ]);
    assert!(check(&paths(&[folder.path().to_owned()])).report.findings.is_empty());
    let named = paths(&[folder.path().join("old/a.py")]);
    assert_eq!(check(&named).report.findings.len(), 1);
    assert!(check(&Request { force_exclude: true, ..named }).report.findings.is_empty());
}

#[test]
fn a_file_of_another_kind_is_a_fault_unless_files_are_listed_by_rote() {
    let folder = project(&[("wscript", "bad(1)\n"), ("a.py", "import cupy\nbad(1)\n")]);
    let named = paths(&[folder.path().join("wscript"), folder.path().join("a.py")]);
    assert_eq!(check(&named).faults.len(), 1);
    let listed = check(&Request { force_exclude: true, ..named });
    assert_eq!((listed.faults.len(), listed.report.findings.len()), (0, 1));
}

#[test]
fn the_project_around_files_without_gpu_code_is_not_read() {
    let folder = project(&[
        ("plain.cpp", "int a;\n"),
        ("plain.py", "import os\n"),
        ("gpu.cpp", "void f() { cudaFree(0); }\n"),
        ("gpu.py", "import cupy\n"),
        ("other.cu", "int b;\n"),
    ]);
    let indexed = |names: &[&str]| {
        let named: Vec<PathBuf> = names.iter().map(|name| folder.path().join(name)).collect();
        let outcome = check(&paths(&named));
        assert_eq!(outcome.report.files.checked + outcome.report.files.skipped, names.len());
        outcome.statistics.indexed_files
    };
    assert_eq!(indexed(&["plain.cpp", "plain.py"]), 0);
    assert_eq!(indexed(&["plain.cpp", "gpu.py"]), 1);
    assert_eq!(indexed(&["plain.cpp", "plain.py", "gpu.cpp"]), 2);
    assert_eq!(indexed(&["other.cu"]), 2);
    // The index is there all the same when the folder is asked for.
    assert_eq!(check(&paths(&[folder.path().to_owned()])).statistics.indexed_files, 3);
}

#[test]
fn a_comment_suppresses_by_name_and_idle_comments_are_told() {
    let text = "import cupy\n\
                bad(1)  # cudalint: ignore[bad-call] known\n\
                # cudalint: ignore[bad-call]\n\
                bad(\n    2)\n\
                bad(3)\n\
                fine(4)  # cudalint: ignore[bad-call, nonsense, matter-of-taste]\n";
    let folder = project(&[("a.py", text)]);
    let outcome = check(&paths(&[folder.path().to_owned()]));
    assert_eq!(
        said(folder.path(), &outcome.report.findings),
        ["a.py: call `bad(3)`", "a.py: `bad-call` is of no use", "a.py: `nonsense` is of no use"]
    );
    assert_eq!(outcome.statistics.suppressed, 2);
}

#[test]
fn a_fault_in_one_file_leaves_the_others() {
    let folder = project(&[("a.py", "import cupy\nexplode()\n"), ("b.py", "import cupy\nbad(1)\n")]);
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = check(&paths(&[folder.path().to_owned()]));
    assert_eq!(said(folder.path(), &outcome.report.findings), ["b.py: call `bad(1)`"]);
    assert_eq!(outcome.faults.len(), 1);
    assert!(outcome.faults[0].internal && outcome.faults[0].message.contains("a rule that fails"));
}

#[test]
fn standard_input_stands_in_for_its_file() {
    let folder = project(&[("a.py", PYTHON)]);
    let input = StandardInput { filename: Some(folder.path().join("a.py")), bytes: b"import cupy\nbad(1)\n".to_vec() };
    let outcome = check(&Request { standard_input: Some(input), ..Request::default() });
    assert_eq!(outcome.report.findings.len(), 1);
    let bare = StandardInput { filename: None, bytes: b"__global__ void bad() {}\n".to_vec() };
    let outcome = check(&Request { standard_input: Some(bare), ..Request::default() });
    assert_eq!(said(Path::new("/"), &outcome.report.findings), ["<stdin>: function `bad`"]);
}

const FAR: &[(&str, &str)] = &[
    ("src/a.cu", "#include \"far.cuh\"\n__global__ void k() {}\nvoid bad_a() { helper(); }\n"),
    ("src/b.cu", "__global__ void k() {}\nvoid bad_b() { helper(); local(); }\nvoid local() {}\n"),
    ("inc/far.cuh", "inline void helper() {}\nvoid bad_h() { k(); }\n"),
];

#[test]
fn one_file_alone_gives_the_full_run_cut_down_to_it() {
    let folder = project(FAR);
    let full = check(&paths(&[folder.path().to_owned()])).report.findings;
    assert!(full.iter().any(|finding| finding.message == "far `helper`"), "{:?}", said(folder.path(), &full));
    for (name, _) in FAR {
        let file = folder.path().join(name);
        let cut: Vec<_> =
            full.iter().filter(|finding| *finding.place.path == *file.to_string_lossy()).cloned().collect();
        assert!(!cut.is_empty());
        assert_eq!(check(&paths(&[file])).report.findings, cut);
    }
}

#[test]
fn an_index_that_would_be_too_large_is_left_out_and_counted() {
    let folder = project(FAR);
    write(folder.path(), "cudalint.toml", "[index]\nmax-bytes = 10\n");
    let outcome = check(&paths(&[folder.path().join("src/b.cu")]));
    assert_eq!(said(folder.path(), &outcome.report.findings), ["src/b.cu: function `bad_b`"]);
    assert_eq!(outcome.statistics.capped_projects, 1);
}

#[test]
fn headers_of_include_folders_are_in_the_index_but_not_reported() {
    let outer = tempfile::tempdir().unwrap();
    write(outer.path(), "lib/far.cuh", FAR[2].1);
    write(outer.path(), "p/cudalint.toml", "[parse]\ninclude-paths = [\"../lib\"]\n");
    write(outer.path(), "p/a.cu", FAR[0].1);
    let outcome = check(&paths(&[outer.path().join("p")]));
    let said = said(&outer.path().join("p"), &outcome.report.findings);
    assert_eq!(said, ["a.cu: function `bad_a`", "a.cu: far `helper`"]);
}

#[test]
fn fences_of_a_document_are_programs_of_their_own() {
    let text =
        "```cuda\n__global__ void bad_1() {}\n```\n\n```python\nbad(1)\n```\n\n```cuda\nvoid f() { bad_1(); }\n```\n";
    let folder = project(&[("a.md", text)]);
    assert!(check(&paths(&[folder.path().to_owned()])).report.findings.is_empty(), "documents are named or not linted");
    let outcome = check(&paths(&[folder.path().join("a.md")]));
    let rules: Vec<_> = outcome.report.findings.iter().map(|finding| finding.rule.name).collect();
    assert_eq!(rules, ["bad-function", "bad-call", "far-call"]);
}

#[test]
fn a_finding_in_a_damaged_function_is_likely_at_best_and_others_are_not_touched() {
    let text = "void f() {\n    bad_call();\n    int x = = [ ;\n}\nvoid g() {\n    bad_call();\n}\n";
    let folder = project(&[("a.cu", text), ("b.cu", "void bad_call() {}\n")]);
    let outcome = check(&paths(&[folder.path().join("a.cu")]));
    let calls: Vec<_> = outcome.report.findings.iter().filter(|finding| finding.rule.name == "far-call").collect();
    let confidences: Vec<_> = calls.iter().map(|finding| (finding.confidence, finding.severity)).collect();
    assert_eq!(
        confidences,
        [(Confidence::Likely, Severity::Warning), (Confidence::Definite, Severity::Error)],
        "{:?}",
        said(folder.path(), &outcome.report.findings)
    );
    let assumptions = calls[0].witness.as_ref().map(|witness| witness.assumptions.clone()).unwrap_or_default();
    assert_eq!(assumptions, ["the part of `f` that could not be read changes nothing here"]);
    assert_eq!(outcome.report.files.damaged, 1);
}

#[test]
fn include_folders_and_macros_of_the_build_are_used() {
    let outer = tempfile::tempdir().unwrap();
    write(outer.path(), "lib/far.cuh", FAR[2].1);
    let commands = format!(
        r#"[{{"directory": "{}", "file": "a.cu", "command": "nvcc -Ilib -arch=sm_90 -c p/a.cu"}}]"#,
        outer.path().display()
    );
    write(outer.path(), "p/build/compile_commands.json", &commands);
    write(outer.path(), "p/cudalint.toml", "");
    write(outer.path(), "p/a.cu", FAR[0].1);
    let outcome = check(&paths(&[outer.path().join("p")]));
    let said = said(&outer.path().join("p"), &outcome.report.findings);
    assert_eq!(said, ["a.cu: function `bad_a`", "a.cu: far `helper`"]);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let names: Vec<(String, String)> = (0..40)
        .map(|n| {
            let text = format!("__global__ void k{n}() {{}}\nvoid bad_{n}() {{ bad_{}(); }}\n", (n + 7) % 40);
            (format!("d{}/f{n}.cu", n % 3), text)
        })
        .collect();
    let files: Vec<(&str, &str)> = names.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = project(&files);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let outcome = pool.install(|| check(&paths(&[folder.path().to_owned()])));
        format!("{:?} {:?}", outcome.report.findings, outcome.statistics)
    };
    let one = run(1);
    assert_eq!(one.matches("far `bad_").count(), 40);
    assert_eq!(one, run(2));
}

#[test]
fn texts_in_memory_are_linted_with_their_settings() {
    let engine = Engine::new(RULES);
    let lint = |settings| {
        let files = [("a.py".to_owned(), "import cupy\nbad(1)\n")];
        engine.lint_texts(&files, settings).map(|findings| findings.len())
    };
    assert_eq!(lint(None), Ok(2));
    assert_eq!(lint(Some("[lint]\nselect = [\"bad-call\"]\n")), Ok(1));
    assert!(lint(Some("[lint]\nselect = [\"bad-cal\"]\n")).unwrap_err().contains("did you mean `bad-call`"));
}

#[test]
fn a_rule_that_no_gpu_has_confirmed_runs_only_when_asked_for() {
    let folder = project(&[("a.py", "import cupy\nbad(1)\n")]);
    let engine = Engine::new(RULES).with_unproven(&["bad-call"]);
    let count = |select: &[&str]| {
        let choices = Choices { select: select.iter().map(|name| (*name).to_owned()).collect(), ..Choices::default() };
        let request = Request { choices, ..paths(&[folder.path().to_owned()]) };
        engine.check(&request, &|_| {}).unwrap().report.findings.len()
    };
    assert_eq!(check(&paths(&[folder.path().to_owned()])).report.findings.len(), 1, "proven, it runs");
    assert_eq!((count(&[]), count(&["bad-call"]), count(&["correctness"])), (0, 1, 1));
}
