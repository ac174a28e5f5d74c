//! Texts and places that must not break a format: places outside the text or inside a character, files that are not
//! at hand, very long lines, large files, control characters, overlapping labels, hundreds of related places.
#![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]

mod common;

use common::finding;
use cudalint_findings::format::{Format, Options};
use cudalint_findings::*;
use std::sync::Arc;

fn report(text: &str, ranges: &[std::ops::Range<usize>]) -> Report {
    let mut sources = Sources::new();
    sources.insert("a.cu".into(), Arc::from(text));
    let place = |range: &std::ops::Range<usize>| Place { path: "a.cu".into(), range: range.clone() };
    let findings = ranges.iter().map(|range| Finding {
        related: ranges.iter().map(|other| Label { place: place(other), message: "other".into() }).collect(),
        ..finding(&common::RACE, Severity::Error, place(range), "message")
    });
    Report::new(findings.collect(), FileCounts::default(), sources)
}

fn full(report: &Report) -> String {
    Format::Full.render(report, &Options::default())
}

#[test]
fn every_place_of_odd_texts_is_shown_by_every_format() {
    let texts =
        ["", "\n", "\r\n", "a", "é", "a\r\nb", "x\ry\n", "😀\n\t漢;\r\n\r\n", "\u{1b}[31m\n\u{202e}", "\n\n\n\n"];
    for text in texts {
        for start in 0..text.len() + 3 {
            for end in 0..text.len() + 3 {
                // Ends before starts and offsets inside characters are meant.
                #[allow(clippy::reversed_empty_ranges)]
                let report = report(text, &[start..end, 0..text.len()]);
                for format in Format::all() {
                    let out = format.render(&report, &Options::default());
                    assert!(!out.is_empty());
                    assert!(!out.contains(['\u{1b}', '\u{202e}']) || !format.is_for_people());
                }
            }
        }
    }
}

#[test]
fn a_place_after_the_last_character_is_shown_at_it() {
    for (text, line) in [("a;", "1 │ a;"), ("a;\n", "1 │ a;"), ("x\na;\r\n", "2 │ a;")] {
        let out = full(&report(text, &[text.len()..text.len()]));
        assert!(out.contains(line), "{out}");
        assert!(out.contains("other"), "{out}");
    }
}

#[test]
fn a_file_that_is_not_at_hand_is_named() {
    let place = Place { path: "gone.cu".into(), range: 5..9 };
    let report = Report::new(
        vec![finding(&common::RACE, Severity::Error, place, "message")],
        FileCounts::default(),
        Sources::new(),
    );
    assert!(full(&report).contains("gone.cu"));
    assert_eq!(
        Format::Concise.render(&report, &Options::default()),
        "gone.cu:1:1: error[shared-memory-race] message\n"
    );
}

#[test]
fn overlapping_labels_are_drawn_one_after_the_other() {
    let text = "cudaMalloc(&a, n);\n";
    let out = full(&report(text, &[15..16, 0..17]));
    let underlines: Vec<&str> = out.lines().filter(|line| line.contains('·') && !line.contains("other")).collect();
    assert!(underlines.iter().any(|line| line.ends_with("·                ┬")), "{out}");
    assert!(underlines.iter().any(|line| line.ends_with("· ────────┬────────")), "{out}");
}

#[test]
fn a_long_line_is_cut_around_its_label() {
    let text = format!("{}NEEDLE{}\n", "é ".repeat(500_000), "x ".repeat(500_000));
    let at = text.find("NEEDLE").unwrap();
    let out = full(&report(&text, &[at..at + 6, 10..12]));
    assert!(out.contains("NEEDLE"));
    assert!(out.contains("a.cu:1:1000001"));
    assert!(out.len() < 10_000, "{}", out.len());
}

#[test]
fn a_long_label_shows_its_first_line() {
    let text = "int a;\n".repeat(5000);
    let out = full(&report(&text, &[7..30_000]));
    assert!(out.lines().count() < 20, "{out}");
}

#[test]
fn many_related_places_take_few_lines() {
    let text = "cudaFree(a);\n\n\n\n\n\n".repeat(300);
    let labels = text.match_indices("cudaFree").map(|(start, _)| Label {
        place: Place { path: "a.cu".into(), range: start..start + 11 },
        message: "status thrown away".into(),
    });
    let mut one = report(&text, &[0..11]);
    one.findings[0].related = labels.collect();
    let out = full(&one);
    assert!(out.contains("296 more, at lines 25, 31,"), "{out}");
    assert!(out.lines().count() < 40, "{}", out.lines().count());
}
