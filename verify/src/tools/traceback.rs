//! Python's tracebacks, read from standard error.

/// How much of one exception's words is kept, in bytes.
const MAX_MESSAGE: usize = 8_192;

/// One exception of a traceback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raised {
    /// Its class as Python prints it: `ValueError`, `numba.core.errors.TypingError`.
    pub class: String,
    /// Its words, which may have several lines.
    pub message: String,
    /// Where it came from, outermost first. A `SyntaxError`'s last place is that of the text that is no Python.
    pub frames: Vec<Frame>,
}

/// A place of a traceback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The file as Python prints it.
    pub path: String,
    /// Line, from 1.
    pub line: u32,
    /// The function; none where a text did not compile.
    pub function: Option<String>,
}

impl Raised {
    /// The class without its package.
    pub fn class_name(&self) -> &str {
        self.class.rsplit('.').next().unwrap_or(&self.class)
    }

    /// Class and the first line of the words, as a person would quote them. Words that begin with an empty line (as some
    /// of Numba's do) give the first line that says something.
    pub fn headline(&self) -> String {
        match self.message.lines().map(str::trim).find(|line| !line.is_empty()) {
            Some(line) => format!("{}: {line}", self.class),
            None => self.class.clone(),
        }
    }

    /// Places that the words themselves name, as Numba's do: `File "x.py", line 12:` at the start of a line, or
    /// `Raised from x.py (12)` at the end of one.
    pub fn mentioned(&self) -> Vec<Frame> {
        let own = self.message.lines().filter(|line| !line.starts_with(' '));
        own.filter_map(|line| frame(line).or_else(|| raised_from(line))).collect()
    }
}

/// The exceptions in a text, in its order: of a chain the first cause comes first, and the one that ended the program
/// last. Lines of other kinds are passed over.
pub fn read(text: &str) -> Vec<Raised> {
    let mut found = Vec::new();
    let mut frames: Vec<Frame> = Vec::new();
    // Whether the lines now read are the words of the exception found last.
    let mut speaking = false;
    for line in text.lines() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if is_boundary(line) {
            frames.clear();
            speaking = false;
            continue;
        }
        // Places are indented by two blanks, their source lines by more.
        if let Some(place) = line.strip_prefix("  ").filter(|rest| rest.starts_with("File \"")).and_then(frame) {
            if speaking && place.function.is_some() {
                continue_message(&mut found, line);
                continue;
            }
            speaking = false;
            frames.push(place);
            continue;
        }
        if speaking {
            continue_message(&mut found, line);
        } else if !frames.is_empty()
            && !line.starts_with(char::is_whitespace)
            && let Some((class, message)) = exception(line)
        {
            found.push(Raised {
                class: class.to_owned(),
                message: message.to_owned(),
                frames: std::mem::take(&mut frames),
            });
            speaking = true;
        }
    }
    for raised in &mut found {
        raised.message.truncate(raised.message.trim_end().len());
    }
    found
}

/// Lines that stand before, or between, the exceptions of a chain.
fn is_boundary(line: &str) -> bool {
    line.starts_with("Traceback (most recent call last):")
        || line.starts_with("During handling of the above exception, another exception occurred:")
        || line.starts_with("The above exception was the direct cause of the following exception:")
}

/// `File "path", line 12, in name`.
fn frame(text: &str) -> Option<Frame> {
    let rest = text.strip_prefix("File \"")?;
    let (path, rest) = rest.split_once("\", line ")?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let line = rest.get(..digits)?.parse().ok()?;
    let function = rest.get(digits..)?.strip_prefix(", in ").map(|name| name.trim_end().to_owned());
    Some(Frame { path: path.to_owned(), line, function })
}

/// `… Raised from path (12)`.
fn raised_from(text: &str) -> Option<Frame> {
    let (_, place) = text.split_once("Raised from ")?;
    let (path, line) = place.trim_end().strip_suffix(')')?.rsplit_once(" (")?;
    Some(Frame { path: path.to_owned(), line: line.parse().ok()?, function: None })
}

/// `package.Class: words`, or a class alone.
fn exception(line: &str) -> Option<(&str, &str)> {
    let (class, message) = line.split_once(": ").unwrap_or((line.trim_end().trim_end_matches(':'), ""));
    let named = !class.is_empty()
        && class.split('.').all(|part| {
            part.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '<' || c == '>')
        });
    named.then_some((class, message))
}

fn continue_message(found: &mut [Raised], line: &str) {
    if let Some(last) = found.last_mut()
        && last.message.len() + line.len() < MAX_MESSAGE
    {
        last.message.push('\n');
        last.message.push_str(line);
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, read};

    const NESTED: &str = r#"some output of the program
Traceback (most recent call last):
  File "/tmp/t1.py", line 9, in <module>
    run(3)
    ~~~^^^
  File "/tmp/t1.py", line 6, in run
    k[100,](n)
    ~^^^^^^
  File "/usr/lib/python3/site-packages/numba_cuda/numba/cuda/dispatcher.py", line 1633, in __getitem__
    raise ValueError("must specify at least the griddim and blockdim")
ValueError: must specify at least the griddim and blockdim
"#;

    const SYNTAX: &str = "  File \"/tmp/t4.py\", line 2\n    k<<<1,\n       ^\nSyntaxError: invalid syntax\n";

    const TYPING: &str = r#"Traceback (most recent call last):
  File "/tmp/t3.py", line 20, in <module>
    add[1, 1](x, y)
  File "/usr/lib/python3/site-packages/numba/core/dispatcher.py", line 423, in error_rewrite
    raise e.with_traceback(None)
numba.core.errors.TypingError: Failed in cuda mode pipeline (step: nopython frontend)
Unknown attribute 'grids' of type Module(<module 'numba.cuda' from '/usr/lib/x.py'>)

File "t3.py", line 16:
    def add(x, y):
        i = cuda.grids(1)
        ^

During: typing of get attribute at /tmp/t3.py (16)
"#;

    const CHAIN: &str = r#"Traceback (most recent call last):
  File "a.py", line 2, in f
    import nothing
ModuleNotFoundError: No module named 'nothing'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 8, in <module>
    f()
  File "a.py", line 4, in f
    raise RuntimeError
RuntimeError
"#;

    #[test]
    fn frames_come_in_order_and_carry_their_functions() {
        let found = read(NESTED);
        assert_eq!(found.len(), 1);
        let raised = &found[0];
        assert_eq!(raised.class_name(), "ValueError");
        assert_eq!(raised.message, "must specify at least the griddim and blockdim");
        let lines: Vec<_> = raised.frames.iter().map(|frame| (frame.line, frame.function.as_deref())).collect();
        assert_eq!(lines, [(9, Some("<module>")), (6, Some("run")), (1633, Some("__getitem__"))]);
    }

    #[test]
    fn a_text_that_is_no_python_has_a_place_without_a_function() {
        let found = read(SYNTAX);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].class, "SyntaxError");
        assert_eq!(found[0].frames, [Frame { path: "/tmp/t4.py".into(), line: 2, function: None }]);
    }

    #[test]
    fn a_syntax_error_of_an_imported_file_has_both_places() {
        let text = format!(
            "Traceback (most recent call last):\n  File \"m.py\", line 1, in <module>\n    import t4\n{SYNTAX}"
        );
        let found = read(&text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].frames.len(), 2);
        assert_eq!(found[0].frames[1].line, 2);
    }

    #[test]
    fn numba_names_the_line_of_the_kernel_in_its_words() {
        let found = read(TYPING);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].class, "numba.core.errors.TypingError");
        assert_eq!(found[0].class_name(), "TypingError");
        assert!(found[0].message.contains("'grids'"));
        assert_eq!(found[0].mentioned(), [Frame { path: "t3.py".into(), line: 16, function: None }]);
        assert_eq!(found[0].frames.len(), 2);
        let words = "Use of unsupported opcode (IMPORT_NAME) found. Raised from /tmp/a (1).py (12)";
        let text = format!("Traceback (most recent call last):\n  File \"t3.py\", line 9, in f\nx.Error: {words}\n");
        assert_eq!(read(&text)[0].mentioned(), [Frame { path: "/tmp/a (1).py".into(), line: 12, function: None }]);
    }

    #[test]
    fn of_a_chain_the_cause_comes_first() {
        let found = read(CHAIN);
        let classes: Vec<_> = found.iter().map(|raised| raised.class.as_str()).collect();
        assert_eq!(classes, ["ModuleNotFoundError", "RuntimeError"]);
        assert_eq!(found[0].message, "No module named 'nothing'");
        assert_eq!(found[1].message, "");
        assert_eq!(found[1].headline(), "RuntimeError");
        assert_eq!(found[1].frames.len(), 2);
    }

    #[test]
    fn other_texts_give_nothing() {
        assert!(read("").is_empty());
        assert!(read("ValueError: said the program by itself\n").is_empty());
        assert!(read("Traceback (most recent call last):\n  File \"x.py\", line\n").is_empty());
        assert!(
            read("Traceback (most recent call last):\n  File \"x.py\", line 99999999999999, in f\nE: x\n").is_empty()
        );
        assert!(read("  File \"x.py\", line 3, in f\n  File").is_empty());
    }

    #[test]
    fn words_without_end_are_cut() {
        let mut text = CHAIN.to_owned();
        text.push_str(&"noise\n".repeat(10_000));
        assert!(read(&text)[1].message.len() < 10_000);
    }
}
