//! Source text with labels, drawn by miette. The text is handed over by line, from an index that is made once a file,
//! so that a label costs its own lines and not the file's; a long line is cut around the label.

use super::common::Options;
use crate::finding::{Label, Place};
use crate::lines::{LineIndex, floor_char_boundary};
use crate::report::Report;
use crate::sources::Source;
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode,
    SourceSpan, SpanContents,
};
use std::fmt;
use std::ops::Range;

/// Bytes of a line that are shown whole; a longer one is cut around its label.
const LONG_LINE: usize = 400;
/// Bytes shown before and after a label of a long line.
const AROUND: usize = 60;
/// Lines between labels of one drawing; with a line of context around each, they touch.
const NEAR: usize = 3;
/// Lines of a label that are shown; of a longer one, only the first line.
const LONG_LABEL: usize = 6;

/// Draws source text.
pub(super) struct Snippet {
    handler: GraphicalReportHandler,
}

impl Snippet {
    pub(super) fn new(options: &Options) -> Self {
        let theme = if options.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(options.width.max(40))
            .with_context_lines(1)
            .with_links(false)
            .without_cause_chain()
            .without_syntax_highlighting();
        Self { handler }
    }

    /// Draws a place and other places of the same file. A file that is not at hand is named alone.
    pub(super) fn render(&self, out: &mut String, report: &Report, place: &Place, words: &str, others: &[&Label]) {
        let Some(source) = report.sources.get(&place.path) else {
            out.push_str("  --> ");
            out.push_str(&crate::plain::one_line(&place.path));
            out.push('\n');
            return;
        };
        let mut labels = vec![labeled(source, place, words, true)];
        labels.extend(others.iter().map(|label| labeled(source, &label.place, &label.message, false)));
        let path = crate::plain::one_line(&place.path);
        for labels in apart(source, labels) {
            let cell = source.cell(labels.first().map_or(0, LabeledSpan::offset));
            let path = match &cell {
                Some((cell, _)) => format!("{path}:cell {}", cell.index + 1),
                None => path.clone().into_owned(),
            };
            let part = cell.map_or(0..source.text().len(), |(_, bytes)| bytes);
            self.draw(out, View { path: &path, text: source.printable(), lines: source.lines(), part }, labels);
        }
    }

    /// Draws labels of one file that do not overlap.
    fn draw(&self, out: &mut String, view: View<'_>, labels: Vec<LabeledSpan>) {
        let drawing = Drawing { view, labels };
        let mut text = String::new();
        if self.handler.render_report(&mut text, &drawing).is_err() {
            return;
        }
        // miette begins with its own header, which is the diagnostic's text: one line, since that text is one word.
        let body = text.trim_start_matches('\n').split_once('\n').map_or("", |(_, body)| body);
        out.push_str(body);
    }
}

/// Labels in drawings, the one of the first label first: a label joins a drawing when its lines are so near that miette
/// shows them as one piece, and when it overlaps no label there, since underlines cannot lie on each other.
fn apart(source: &Source, labels: Vec<LabeledSpan>) -> Vec<Vec<LabeledSpan>> {
    let lines = source.lines();
    let cell = |label: &LabeledSpan| source.cell(label.offset()).map(|(cell, _)| cell);
    let end = |label: &LabeledSpan| label.offset() + label.len().max(1);
    let near = |a: &LabeledSpan, b: &LabeledSpan| {
        lines.line(b.offset()) <= lines.line(end(a)) + NEAR
            && lines.line(a.offset()) <= lines.line(end(b)) + NEAR
            && cell(a) == cell(b)
    };
    let mut drawings: Vec<Vec<LabeledSpan>> = Vec::new();
    for label in labels {
        let fits = drawings.iter_mut().find(|drawing| {
            drawing.iter().any(|other| near(other, &label))
                && drawing.iter().all(|other| end(&label) <= other.offset() || end(other) <= label.offset())
        });
        match fits {
            Some(drawing) => drawing.push(label),
            None => drawings.push(vec![label]),
        }
    }
    drawings
}

/// A place as miette takes it: inside the text, on character boundaries, not over too many lines.
fn labeled(source: &Source, place: &Place, words: &str, primary: bool) -> LabeledSpan {
    let text = source.text();
    let lines = source.lines();
    let mut start = floor_char_boundary(text, place.range.start);
    let mut end = floor_char_boundary(text, place.range.end).max(start);
    let first = lines.line(start);
    if lines.line(end) >= first + LONG_LABEL || end - start > LONG_LINE {
        end = floor_char_boundary(text, lines.range(text, first).end.clamp(start, start + LONG_LINE));
    }
    if start == text.len() && start > 0 {
        // Nothing stands at the end of a file: show the last character, or the end of the last line.
        let line = lines.range(text, lines.line(start - 1));
        start = if line.end < start { line.end } else { floor_char_boundary(text, start - 1) };
        end = start.max(line.end);
    }
    let words = Some(words).filter(|words| !words.is_empty()).map(|words| crate::plain::one_line(words).into_owned());
    let span = SourceSpan::new(start.into(), end - start);
    if primary { LabeledSpan::new_primary_with_span(words, span) } else { LabeledSpan::new_with_span(words, span) }
}

/// One file as miette reads it.
struct View<'a> {
    path: &'a str,
    text: &'a str,
    lines: &'a LineIndex,
    /// What of the text may be shown: the cell, in a notebook.
    part: Range<usize>,
}

impl View<'_> {
    /// Whether a span that joins several labels can be shown as one piece: not over many or long lines.
    fn fits(&self, span: &Range<usize>) -> bool {
        span.len() <= LONG_LINE
            || (span.len() <= 20 * LONG_LINE
                && (self.lines.line(span.start)..=self.lines.line(span.end))
                    .all(|line| self.lines.full_range(self.text, line).len() <= LONG_LINE))
    }

    /// The bytes to show for a span: whole lines, or a part when one of them is long.
    fn window(&self, span: &Range<usize>, before: usize, after: usize) -> Range<usize> {
        let first = self.lines.line(span.start);
        let last = self.lines.line(span.end.saturating_sub(usize::from(span.end > span.start)));
        let short = |line: usize| self.lines.full_range(self.text, line).len() <= LONG_LINE;
        let clip = |line: usize| {
            let whole = self.lines.full_range(self.text, line);
            if whole.len() <= LONG_LINE {
                return whole;
            }
            let from = floor_char_boundary(self.text, span.start.saturating_sub(AROUND)).max(whole.start);
            let to = floor_char_boundary(self.text, span.end + AROUND).min(whole.end);
            from..to.max(from)
        };
        let mut start = clip(first).start.min(span.start);
        let mut end = clip(last).end.max(span.end);
        if start == self.lines.start(first) {
            let mut line = first;
            while line > 0 && first - line < before && short(line - 1) {
                line -= 1;
                start = self.lines.start(line);
            }
        }
        if end == self.lines.full_range(self.text, last).end {
            let mut line = last;
            while line + 1 < self.lines.len() && line - last < after && short(line + 1) {
                line += 1;
                end = self.lines.full_range(self.text, line).end;
            }
        }
        start.max(self.part.start.min(span.start))..end.min(self.part.end.max(span.end))
    }
}

impl SourceCode for View<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let range = span.offset()..span.offset() + span.len();
        if range.end > self.text.len() || !self.fits(&range) {
            return Err(MietteError::OutOfBounds);
        }
        let window = self.window(&range, before, after);
        let data = self.text.get(window.clone()).ok_or(MietteError::OutOfBounds)?;
        #[cfg(test)]
        crate::lines::work::add(data.len());
        // Without context the caller asks where the span itself is.
        let at = if before == 0 && after == 0 { range.start } else { window.start };
        let position = self.lines.position(self.text, at);
        Ok(Box::new(MietteSpanContents::new_named(
            self.path.to_owned(),
            data.as_bytes(),
            SourceSpan::new(window.start.into(), window.len()),
            position.line as usize - 1 - self.lines.line(self.part.start),
            position.column as usize - 1,
            data.lines().count(),
        )))
    }
}

/// The labels of one file as miette draws them.
struct Drawing<'a> {
    view: View<'a>,
    labels: Vec<LabeledSpan>,
}

impl fmt::Display for Drawing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("-")
    }
}

impl fmt::Debug for Drawing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.view.path)
    }
}

impl std::error::Error for Drawing<'_> {}

impl Diagnostic for Drawing<'_> {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.view)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::work;
    use crate::report::FileCounts;
    use crate::sources::Sources;
    use std::sync::Arc;

    #[test]
    fn a_large_file_is_not_read_again_for_each_label() {
        const LABELS: usize = 400;
        let line = "    data[threadIdx.x] = other[threadIdx.x] + 1.0f; // \u{e9}\n";
        let text = line.repeat(3_000_000 / line.len());
        let apart = text.len() / line.len() / LABELS * line.len();
        let mut sources = Sources::new();
        sources.insert("a.cu".into(), Arc::from(text.as_str()));
        let report = Report::new(Vec::new(), FileCounts::default(), sources);
        let snippet = Snippet::new(&Options::default());
        let mut out = String::new();
        work::take();
        for n in 0..LABELS {
            let start = n * apart + 4;
            let place = Place { path: "a.cu".into(), range: start..start + 17 };
            snippet.render(&mut out, &report, &place, "here", &[]);
        }
        assert_eq!(out.matches("here").count(), LABELS);
        // Once for its lines, once for what cannot be printed, and the lines around each label as often as miette asks for them.
        let (read, a_label) = (work::take(), 3 * line.len());
        assert!(read >= 2 * text.len() + LABELS * a_label, "labels are drawn from elsewhere: {read}");
        assert!(read <= 2 * text.len() + LABELS * 20 * a_label, "{read} bytes for a text of {}", text.len());
    }
}
