//! Whether a program noticed a failure that was handed to it: two runs are compared, which differ in that one status.

use crate::api;
use crate::experiment::probed::{Seen, ending};
use crate::lab::End;
use crate::tools::probe_log::Event;

/// What a program did with a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Nothing: it made the same calls, printed the same words and ended in the same way.
    Silent,
    /// What was different.
    Reacts(String),
    /// Only its standard output was different: how. Kernels print there too, and what they print is lost when the
    /// program ends before they do.
    Prints(String),
    /// Its runs differ by themselves, so that nothing can be told.
    Unclear(String),
}

/// Whether a program ended by a signal, as itself or below a shell, which adds 128 to the signal's number.
fn crashes(end: &End) -> bool {
    match end {
        End::Signal(_) => true,
        End::Exit(status) => (129..160).contains(status),
        _ => false,
    }
}

/// Compares a run in which something failed with those in which nothing did. Give one of these, and more when the
/// first comparison is not silent: what changes from run to run by itself is not held against the program.
pub fn reaction(undisturbed: &[&Seen], disturbed: &Seen) -> Reaction {
    let Some(first) = undisturbed.first() else { return Reaction::Unclear("there is no other run".to_owned()) };
    if undisturbed.iter().any(|seen| seen.run.end != first.run.end) {
        return Reaction::Unclear("it ends differently from run to run".to_owned());
    }
    if disturbed.run.end != first.run.end {
        if crashes(&first.run.end) {
            return Reaction::Unclear(format!("it ends with {} without the failure", ending(&first.run)));
        }
        return match disturbed.run.end {
            End::Exit(_) | End::Signal(_) => {
                Reaction::Reacts(format!("it ends with {}, not with {}", ending(&disturbed.run), ending(&first.run)))
            }
            _ => Reaction::Unclear(format!("it came to {}", ending(&disturbed.run))),
        };
    }
    if disturbed.trace.ended != first.trace.ended {
        return Reaction::Reacts("it leaves in another way".to_owned());
    }
    let others: Vec<&&Seen> = undisturbed.iter().skip(1).collect();
    let mut printed = None;
    for (stream, text) in [("standard output", output as Text), ("standard error", errors as Text)] {
        let (own, now) = (text(first), text(disturbed));
        if own == now {
            continue;
        }
        let varies = others.iter().any(|other| text(other) != own);
        let (own, now) =
            if varies { (without_numbers(own), without_numbers(now)) } else { (own.to_owned(), now.to_owned()) };
        let changes = |of: fn(&str) -> String| others.iter().any(|other| of(text(other)) != of(text(first)));
        let (own, now) = if varies && changes(without_numbers) {
            // Tests that run beside one another end in another order each time.
            if changes(without_order) {
                return Reaction::Unclear(format!("its {stream} changes from run to run"));
            }
            (without_order(text(first)), without_order(text(disturbed)))
        } else {
            (own, now)
        };
        if own != now {
            let how = format!("its {stream} changes: {}", changed_line(&own, &now));
            if stream == "standard error" {
                return Reaction::Reacts(how);
            }
            printed = Some(how);
        }
    }
    let (mut own, mut now) = (steps(first), steps(disturbed));
    if others.iter().any(|other| steps(other) != own) {
        let sorted = |mut steps: Vec<String>| {
            steps.sort_unstable();
            steps
        };
        (own, now) = (sorted(own), sorted(now));
        if others.iter().any(|other| sorted(steps(other)) != own) {
            return Reaction::Unclear("its calls change from run to run".to_owned());
        }
    }
    if own == now {
        return printed.map_or(Reaction::Silent, Reaction::Prints);
    }
    let at = own.iter().zip(&now).take_while(|(own, now)| own == now).count();
    Reaction::Reacts(match (own.get(at), now.get(at)) {
        (_, Some(step)) if now.len() > own.len() => format!("it calls {step}, which it does not otherwise do there"),
        (Some(step), _) => format!("it does not come to {step} any more"),
        (None, _) => "it makes other calls".to_owned(),
    })
}

type Text = fn(&Seen) -> &str;

fn output(seen: &Seen) -> &str {
    &seen.run.stdout
}

fn errors(seen: &Seen) -> &str {
    &seen.run.stderr
}

/// What a program did, in words that are the same whenever it does the same: first the main thread's steps in order, then
/// those of other threads in an order of their own.
fn steps(seen: &Seen) -> Vec<String> {
    let mut main = Vec::new();
    let mut others = Vec::new();
    for event in &seen.trace.events {
        let (thread, step) = match event {
            Event::Call(call) if api::is(&call.function, |api| api.polls()) => continue,
            Event::Touch(_) => continue,
            Event::Call(call) => (call.thread, format!("`{}` at {}:{}", call.function, call.file, call.line)),
            Event::Launch(launch) => {
                let [x, y, z] = launch.grid;
                let [bx, by, bz] = launch.block;
                let place = launch.place.as_ref().map(|place| format!(" at {}:{}", place.file, place.line));
                let sizes = format!("<<<({x}, {y}, {z}), ({bx}, {by}, {bz}), {}>>>", launch.shared);
                (launch.thread, format!("`{}{sizes}`{}", launch.kernel, place.unwrap_or_default()))
            }
            Event::Words(words) => {
                (words.thread, format!("`{}({})` at {}:{}", words.function, words.code, words.file, words.line))
            }
        };
        if thread == 0 { main.push(step) } else { others.push(step) }
    }
    others.sort_unstable();
    main.append(&mut others);
    if let Some((count, digest)) = &seen.trace.more {
        main.push(format!("{count} more calls, {digest}"));
    }
    main
}

/// A text whose numbers are all the same (signs, `nan` and `inf` with them), and whose blanks are single: what is left of a
/// line with a time in it, or with a value from memory that nothing wrote.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_number = false;
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    let text: String = words
        .map(|word| {
            let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            let is_number = name.eq_ignore_ascii_case("nan") || name.eq_ignore_ascii_case("inf");
            if is_number { word.replacen(name, "0", 1) } else { word.to_owned() }
        })
        .collect();
    for c in text.chars() {
        let continues = in_number && (c.is_ascii_hexdigit() || matches!(c, '.' | '+' | '-' | 'x'));
        if c.is_ascii_digit() || continues {
            if !in_number {
                if out.ends_with('-') {
                    out.pop();
                }
                out.push('#');
            }
            in_number = true;
        } else {
            in_number = false;
            if !(matches!(c, ' ' | '\t') && out.ends_with([' ', '\n'])) {
                out.push(c);
            }
        }
    }
    out
}

/// Whether two reactions are one, whatever numbers are in them.
pub fn same_but_for_numbers(one: &str, other: &str) -> bool {
    without_numbers(one) == without_numbers(other)
}

/// The lines of a text without its numbers, in an order of their own.
fn without_order(text: &str) -> String {
    let text = without_numbers(text);
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// The first line that differs, shortened.
fn changed_line(own: &str, now: &str) -> String {
    let mut before = own.lines();
    for line in now.lines() {
        if before.next() != Some(line) {
            return format!("`{}`", line.chars().take(160).collect::<String>());
        }
    }
    "lines are missing".to_owned()
}
