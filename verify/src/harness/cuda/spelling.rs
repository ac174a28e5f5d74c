//! Types as text: what a harness must know of a parameter's spelling to declare an argument.

/// A parameter's type taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spelling {
    /// Without references and without what does not concern a caller.
    text: String,
    /// `*` outside of template arguments.
    pub pointers: usize,
    /// Whether it is `T &&`.
    pub moved: bool,
}

impl Spelling {
    pub fn new(text: &str) -> Self {
        const NO_CONCERN: [&str; 6] =
            ["__restrict__", "__restrict", "restrict", "register", "__grid_constant__", "RESTRICT"];
        let spread = text.replace('*', " * ").replace('&', " & ");
        let words: Vec<&str> = spread.split_whitespace().filter(|word| !NO_CONCERN.contains(word)).collect();
        let joined = words.join(" ");
        let moved = joined.ends_with("& &");
        let mut text = joined.as_str();
        while let Some(rest) = text.strip_suffix('&') {
            text = rest.trim_end();
        }
        let text = text.replace("* *", "**").replace("* *", "**");
        let pointers = stars(&text).len();
        Self { text, pointers, moved }
    }

    /// What the pointer points to, without its `const`; for a name that stands for a pointer, by its meaning.
    pub fn element(&self) -> String {
        match stars(&self.text).last().and_then(|at| self.text.get(..*at)) {
            Some(text) => {
                Self { text: text.trim().to_owned(), pointers: self.pointers - 1, moved: false }.without_const()
            }
            None => format!("std::remove_cv<std::remove_pointer<{}>::type>::type", self.without_const()),
        }
    }

    /// The type as a variable's that is assigned to.
    pub fn without_const(&self) -> String {
        let mut text = self.text.trim();
        if self.pointers > 0 {
            while let Some(rest) = text.strip_suffix("const").or_else(|| text.strip_suffix("volatile")) {
                text = rest.trim_end();
            }
            return text.to_owned();
        }
        // Only what qualifies the type itself: `vector<const float *>` keeps its own.
        let mut depth = 0i32;
        let mut words: Vec<&str> = Vec::new();
        for word in text.split(' ') {
            if depth > 0 || !matches!(word, "const" | "volatile" | "") {
                words.push(word);
            }
            depth += word.matches('<').count() as i32 - word.matches('>').count() as i32;
        }
        words.join(" ")
    }
}

/// The places of `*` outside of angle brackets.
fn stars(text: &str) -> Vec<usize> {
    let mut depth = 0i32;
    let mut found = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth -= 1,
            b'*' if depth == 0 => found.push(at),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::Spelling;

    #[test]
    fn types_are_taken_apart() {
        let of = |text: &str| (Spelling::new(text).element(), Spelling::new(text).pointers);
        assert_eq!(of("const float *__restrict__"), ("float".to_owned(), 1));
        assert_eq!(of("const float*const*"), ("const float *".to_owned(), 2));
        assert_eq!(of("float **"), ("float *".to_owned(), 2));
        assert_eq!(of("unsigned char const *const"), ("unsigned char".to_owned(), 1));
        assert_eq!(of("std::vector<float *> &").1, 0);
        assert_eq!(Spelling::new("const std::vector<const float *> &").without_const(), "std::vector<const float * >");
        assert!(Spelling::new("T &&").moved);
    }
}
