//! Runs the program over a round's projects and draws findings at random.

use super::round::{Draw, Drawn, ERROR_HANDLING, Kind, Plan, Project};
use crate::random::Random;
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What was drawn, and the findings themselves in the same order.
pub fn draw(root: &Path, plan: &Plan, projects: &[Project]) -> Result<(Draw, Vec<Value>), String> {
    let program = program(root, plan)?;
    let projects: Vec<&Project> = projects.iter().filter(|project| project.round == Some(plan.round)).collect();
    // First all checkouts, so that a long run does not end at the last of them.
    for project in &projects {
        let checkout = plan.folder.join(&project.repository);
        let head = said(Command::new("git").arg("-C").arg(&checkout).args(["rev-parse", "HEAD"]))?;
        if head.trim() != project.commit {
            return Err(format!("{} is not at {}", checkout.display(), project.commit));
        }
    }
    let mut draw =
        Draw { version: said(Command::new(&program).arg("--version"))?.trim().to_owned(), ..Draw::default() };
    let mut others = Vec::new();
    let mut errors = Vec::new();
    for project in projects {
        println!("{}", project.repository);
        let check = |option: &str| {
            let mut command = Command::new(&program);
            command.env("CUDALINT_NO_CACHE", "1");
            command.args(["check", "--isolated", "--exit-zero", "--color", "never", option, &project.repository]);
            said(command.current_dir(&plan.folder))
        };
        let report: Value = serde_json::from_str(&check("--output-format=json")?)
            .map_err(|error| format!("{}: {error}", project.repository))?;
        count_statistics(&check("--statistics")?, &mut draw);
        draw.projects += 1;
        draw.students += usize::from(project.kind == Kind::Student);
        for finding in report["findings"].as_array().into_iter().flatten() {
            let text = |field: &str| finding[field].as_str().unwrap_or_default().to_owned();
            let path = text("path");
            if project
                .leave_out
                .iter()
                .any(|folder| Path::new(&path).starts_with(Path::new(&project.repository).join(folder)))
            {
                continue;
            }
            let drawn = Drawn {
                project: project.repository.clone(),
                kind: project.kind,
                rule: text("rule"),
                confidence: text("confidence"),
                fingerprint: text("fingerprint"),
            };
            let of_errors = ERROR_HANDLING.contains(&drawn.rule.as_str());
            if of_errors { &mut errors } else { &mut others }.push((drawn, finding.clone()));
        }
    }
    (draw.others, draw.errors) = (others.len(), errors.len());
    let mut random = Random::new(u64::from(plan.round));
    let mut chosen = choose(others, plan.most, plan.same, &mut random);
    chosen.extend(choose(errors, plan.errors, plan.same, &mut random));
    let (drawn, findings) = chosen.into_iter().unzip();
    draw.drawn = drawn;
    Ok((draw, findings))
}

/// The program that is named, else the one that users build, built now.
fn program(root: &Path, plan: &Plan) -> Result<PathBuf, String> {
    if let Some(program) = &plan.program {
        return program.canonicalize().map_err(|error| format!("{}: {error}", program.display()));
    }
    said(Command::new("cargo").args(["build", "--release", "--package", "cudalint"]).current_dir(root))?;
    Ok(root.join("target/release/cudalint"))
}

/// What a command prints.
fn said(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}\n{words}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

fn count_statistics(statistics: &str, draw: &mut Draw) {
    let number = |name: &str| -> u64 {
        let mut lines = statistics.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| *key == name).and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
    };
    draw.launches += number("launches");
    draw.with_facts += number("launches executed with facts");
    draw.first_block += number("launches executed with facts in their first block only");
    draw.accesses += number("accesses in executed kernels");
    draw.known_accesses += number("accesses in executed kernels with a known address");
}

/// At most `most` of the findings, no more than `same` of them of one rule in one project, in the order of their projects.
fn choose(mut from: Vec<(Drawn, Value)>, most: usize, same: usize, random: &mut Random) -> Vec<(Drawn, Value)> {
    for last in (1..from.len()).rev() {
        from.swap(last, random.index(last + 1));
    }
    let mut seen: HashMap<(String, String), usize> = HashMap::new();
    from.retain(|(drawn, _)| {
        let count = seen.entry((drawn.project.clone(), drawn.rule.clone())).or_default();
        *count += 1;
        *count <= same
    });
    from.truncate(most);
    from.sort_by(|(a, first), (b, second)| {
        let place =
            |finding: &Value| (finding["path"].as_str().map(str::to_owned), finding["range"]["start"]["line"].as_u64());
        (&a.project, place(first)).cmp(&(&b.project, place(second)))
    });
    from
}
