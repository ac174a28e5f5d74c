//! Which setting would mend a finding that no program could show, in one line.

use crate::experiment::Judgement;
use crate::outcome::Attempt;
use cudalint_findings::model::Verdict;

/// What compilers, linkers and Python say of what is missing, and the words for the setting that brings it.
const MISSING: [(&[&str], &str); 3] = [
    (
        &["cannot open source file", "No such file or directory", "file not found"],
        "`[verify] build` and `run` (`--build`, `--run`), or a compile_commands.json, would bring what it includes",
    ),
    (
        &["undefined reference", "Unresolved extern", "unresolved external", "cannot find -l"],
        "`[verify] build` and `run` (`--build`, `--run`) would link what it calls",
    ),
    (
        &["ModuleNotFoundError", "ImportError"],
        "`[verify] run` (`--run \"pytest tests\"`) would run it as the project imports it",
    ),
];

/// The setting, in words; none where something was decided or no setting is known. `given`: the user has said how the project
/// is built and run.
pub(super) fn setting(judgement: &Judgement, attempts: &[Attempt], given: bool) -> Option<&'static str> {
    if judgement.verdict != Verdict::Unviable {
        return None;
    }
    if attempts.iter().any(|attempt| attempt.reached == Some(false)) {
        return Some("one more command in `[verify] run` (`--run`) that comes to it would show it");
    }
    if given {
        return None;
    }
    let says = |words: &[&str]| words.iter().any(|word| attempts.iter().any(|attempt| attempt.reason.contains(word)));
    MISSING.iter().find(|(words, _)| says(words)).map(|(_, setting)| *setting)
}

#[cfg(test)]
mod tests {
    use super::setting;
    use crate::experiment::Judgement;
    use crate::outcome::Attempt;
    use cudalint_findings::model::Verdict;

    fn attempt(reason: &str, reached: Option<bool>) -> Attempt {
        Attempt {
            program: "as written".to_owned(),
            folder: None,
            verdict: Verdict::Unviable,
            reason: reason.to_owned(),
            reached,
        }
    }

    #[test]
    fn what_is_missing_names_the_setting_that_brings_it() {
        let unviable = Judgement::without_run(Verdict::Unviable, "");
        let header = [attempt("the compiler refuses it: cannot open source file \"app.h\"", None)];
        assert!(setting(&unviable, &header, false).is_some_and(|words| words.contains("[verify] build")));
        assert_eq!(setting(&unviable, &header, true), None);
        let module = [attempt("the script fails by itself: ModuleNotFoundError: No module named 'app'", None)];
        assert!(setting(&unviable, &module, false).is_some_and(|words| words.contains("pytest")));
        let missed = [attempt("the run never came to app.cu:7", Some(false))];
        assert!(setting(&unviable, &missed, true).is_some_and(|words| words.contains("one more command")));
        let shown = Judgement::without_run(Verdict::Confirmed, "");
        assert_eq!(setting(&shown, &missed, true), None);
    }
}
