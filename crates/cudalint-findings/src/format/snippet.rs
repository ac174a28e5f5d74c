//! Source text with labels, drawn by miette. The text is handed over by line, from an index that is made once a file,
//! so that a label costs its own lines and not the file's; a long line is cut around the label.

use super::Options;
use crate::finding::{Label, Place};
use crate::lines::{LineIndex, floor_char_boundary};
use crate::report::{Report, Source};
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
            out.push_str(&place.path);
            out.push('\n');
            return;
        };
        let mut labels = vec![labeled(source, place, words, true)];
        labels.extend(others.iter().map(|label| labeled(source, &label.place, &label.message, false)));
        let view = View { path: &place.path, text: source.text(), lines: source.lines() };
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

/// A place as miette takes it: inside the text, on character boundaries, not over too many lines.
fn labeled(source: &Source, place: &Place, words: &str, primary: bool) -> LabeledSpan {
    let text = source.text();
    let lines = source.lines();
    let start = floor_char_boundary(text, place.range.start);
    let mut end = floor_char_boundary(text, place.range.end).max(start);
    let first = lines.line(start);
    if lines.line(end) >= first + LONG_LABEL || end - start > LONG_LINE {
        end = floor_char_boundary(text, lines.range(text, first).end.clamp(start, start + LONG_LINE));
    }
    let words = Some(words).filter(|words| !words.is_empty()).map(|words| super::one_line(words).into_owned());
    let span = SourceSpan::new(start.into(), end - start);
    if primary { LabeledSpan::new_primary_with_span(words, span) } else { LabeledSpan::new_with_span(words, span) }
}

/// One file as miette reads it.
struct View<'a> {
    path: &'a str,
    text: &'a str,
    lines: &'a LineIndex,
}

impl View<'_> {
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
        start..end
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
        if range.end > self.text.len() {
            return Err(MietteError::OutOfBounds);
        }
        let window = self.window(&range, before, after);
        let data = self.text.get(window.clone()).ok_or(MietteError::OutOfBounds)?;
        // Without context the caller asks where the span itself is.
        let at = if before == 0 && after == 0 { range.start } else { window.start };
        let position = self.lines.position(self.text, at);
        Ok(Box::new(MietteSpanContents::new_named(
            self.path.to_owned(),
            data.as_bytes(),
            SourceSpan::new(window.start.into(), window.len()),
            position.line as usize - 1,
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
