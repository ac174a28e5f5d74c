//! A rule page: its title, summary, sections and fences.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};
use std::ops::Range;

/// A page, read.
#[derive(Clone, Debug)]
pub struct Page {
    /// The rule's name: the title.
    pub name: String,
    /// The first paragraph, which is one sentence.
    pub summary: String,
    /// Second-level headings in order.
    pub sections: Vec<String>,
    /// Fences in order.
    pub fences: Vec<Fence>,
}

/// What a fence is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceKind {
    /// Must fire exactly on its marked lines.
    Error,
    /// Must not fire.
    Clean,
    /// Must equal the fence before it after its fix.
    Fixed,
    /// `toml`: configures the examples after it.
    Settings,
    /// Shown only.
    Plain,
}

/// A code fence of a page.
#[derive(Clone, Debug)]
pub struct Fence {
    /// `cuda`, `python`, `toml`, or whatever is written first.
    pub language: String,
    /// What it is for.
    pub kind: FenceKind,
    /// `verify=…`.
    pub verify: Option<String>,
    /// `launch=<grid>x<block>`.
    pub launch: Option<String>,
    /// `args=…`.
    pub args: Option<String>,
    /// `file=…`: several named files make one project.
    pub file: Option<String>,
    /// The code.
    pub code: String,
    /// The line of the page on which the code begins, from 1.
    pub line: usize,
    /// The heading it stands under.
    pub section: String,
}

/// A line that must fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Line within the fence, from 1.
    pub line: usize,
    /// Text that the message must contain.
    pub message: Option<String>,
}

/// What is wrong with a page.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {problem}")]
pub struct PageError {
    /// Line of the page, from 1.
    pub line: usize,
    /// What is wrong and what to write instead.
    pub problem: String,
}

impl Page {
    /// Reads a page.
    ///
    /// # Errors
    /// When the title or summary is missing, a fence has an unknown word, or an `error` fence marks no line.
    pub fn parse(text: &str) -> Result<Self, PageError> {
        let mut page = Self { name: String::new(), summary: String::new(), sections: Vec::new(), fences: Vec::new() };
        let mut capture: Option<(Capture, String)> = None;
        let mut section = String::new();
        for (event, range) in Parser::new(text).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => {
                    capture = Some((Capture::Title, String::new()));
                }
                Event::Start(Tag::Heading { .. }) => capture = Some((Capture::Section, String::new())),
                Event::Start(Tag::Paragraph) if page.summary.is_empty() && !page.name.is_empty() => {
                    capture = Some((Capture::Summary, String::new()));
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    let fence = Fence::from_info(&info, line_of(text, range.start), &section)?;
                    page.fences.push(fence);
                    capture = Some((Capture::Code, String::new()));
                }
                Event::Text(part) => {
                    if let Some((_, buffer)) = &mut capture {
                        buffer.push_str(&part);
                    }
                }
                Event::Code(part) => {
                    if let Some((_, buffer)) = &mut capture {
                        buffer.extend(["`", &part, "`"]);
                    }
                }
                Event::SoftBreak => {
                    if let Some((_, buffer)) = &mut capture {
                        buffer.push(' ');
                    }
                }
                Event::End(TagEnd::Heading(_) | TagEnd::Paragraph | TagEnd::CodeBlock) => match capture.take() {
                    Some((Capture::Title, title)) => page.name = title,
                    Some((Capture::Section, title)) => {
                        section.clone_from(&title);
                        page.sections.push(title);
                    }
                    Some((Capture::Summary, summary)) => page.summary = summary,
                    Some((Capture::Code, code)) => {
                        if let Some(fence) = page.fences.last_mut() {
                            fence.code = code;
                            fence.check()?;
                        }
                    }
                    None => {}
                },
                _ => {}
            }
        }
        let problem = |problem: &str| PageError { line: 1, problem: problem.to_owned() };
        if page.name.is_empty() {
            return Err(problem("no title: the page begins with `# rule-name`"));
        }
        if page.summary.is_empty() {
            return Err(problem("no summary: one sentence follows the title"));
        }
        Ok(page)
    }
}

enum Capture {
    Title,
    Section,
    Summary,
    Code,
}

fn line_of(text: &str, offset: usize) -> usize {
    text.get(..offset).map_or(1, |before| before.matches('\n').count() + 1)
}

impl Fence {
    fn from_info(info: &str, line: usize, section: &str) -> Result<Self, PageError> {
        let mut words = info.split_whitespace();
        let language = words.next().unwrap_or("").to_owned();
        let kind = if language == "toml" { FenceKind::Settings } else { FenceKind::Plain };
        let mut fence = Self {
            language,
            kind,
            verify: None,
            launch: None,
            args: None,
            file: None,
            code: String::new(),
            line: line + 1,
            section: section.to_owned(),
        };
        for word in words {
            match word.split_once('=') {
                None if word == "error" => fence.kind = FenceKind::Error,
                None if word == "clean" => fence.kind = FenceKind::Clean,
                None if word == "fixed" => fence.kind = FenceKind::Fixed,
                Some(("verify", value)) => fence.verify = Some(value.to_owned()),
                Some(("launch", value)) => fence.launch = Some(value.to_owned()),
                Some(("args", value)) => fence.args = Some(value.to_owned()),
                Some(("file", value)) => fence.file = Some(value.to_owned()),
                _ => {
                    return Err(PageError {
                        line,
                        problem: format!(
                            "unknown word `{word}` after the language of a fence: write error, clean, fixed, verify=, launch=, args= or file="
                        ),
                    });
                }
            }
        }
        Ok(fence)
    }

    fn check(&self) -> Result<(), PageError> {
        let marked = !self.expectations().is_empty();
        match self.kind {
            FenceKind::Error if !marked && self.file.is_none() => Err(PageError {
                line: self.line,
                problem: "an `error` fence marks the lines that fire with `// error` or `# error`".to_owned(),
            }),
            FenceKind::Clean | FenceKind::Fixed if marked => {
                Err(PageError { line: self.line, problem: "a clean fence marks no line".to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// The extension of the file that this fence is run as.
    pub fn extension(&self) -> &'static str {
        match self.language.as_str() {
            "python" => "py",
            "toml" => "toml",
            _ => "cu",
        }
    }

    /// The lines that must fire: those that end in `// error`, `# error` or `// error: part of the message`.
    pub fn expectations(&self) -> Vec<Expectation> {
        self.code
            .lines()
            .enumerate()
            .filter_map(|(index, line)| {
                let mark = marker(line)?;
                let rest = line.get(mark.end..).unwrap_or("").trim();
                let message = rest.strip_prefix(':').map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
                (rest.is_empty() || message.is_some()).then_some(Expectation { line: index + 1, message })
            })
            .collect()
    }
}

/// The place of `// error` or `# error` in a line.
fn marker(line: &str) -> Option<Range<usize>> {
    ["// error", "# error"].iter().find_map(|mark| line.rfind(mark).map(|at| at..at + mark.len()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const PAGE: &str = "# some-rule\n\nSays a thing.\n\n## Example\n\n```cuda error verify=memcheck\nint a; // error: too short\nint b;\n```\n\n## Use instead\n\n```cuda clean\nint a;\n```\n";

    #[test]
    fn reads_title_summary_sections_and_fences() {
        let page = Page::parse(PAGE).unwrap();
        assert_eq!((page.name.as_str(), page.summary.as_str()), ("some-rule", "Says a thing."));
        assert_eq!(page.sections, ["Example", "Use instead"]);
        assert_eq!(page.fences.len(), 2);
        assert_eq!(page.fences[0].verify.as_deref(), Some("memcheck"));
        assert_eq!(page.fences[0].line, 8);
        assert_eq!(page.fences[0].expectations(), [Expectation { line: 1, message: Some("too short".to_owned()) }]);
    }

    #[test]
    fn an_error_fence_without_a_mark_is_refused() {
        let error = Page::parse(&PAGE.replace(" // error: too short", "")).unwrap_err();
        assert!(error.problem.contains("marks the lines"), "{error}");
    }

    #[test]
    fn an_unknown_word_is_refused() {
        let error = Page::parse(&PAGE.replace("clean", "cleen")).unwrap_err();
        assert!(error.problem.contains("`cleen`"), "{error}");
    }
}
