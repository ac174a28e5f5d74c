//! What a makefile makes where nobody asks for more.

/// Whether the first thing that a makefile makes is a program, for which its archives are put together, and no test, example or
/// measurement; and it installs nothing.
pub(crate) fn is_program(text: &str) -> bool {
    const OF_OTHERS: [&str; 5] = ["-shared", "install", "-fPIC", "-fpic", " -lib "];
    const TRIALS: [&str; 6] = ["bench", "demo", "example", "sample", "test", "tutorial"];
    let target = |line: &str| line.split(':').next().unwrap_or("").trim().to_owned();
    let is_rule = |line: &&str| {
        let names = target(line);
        line.contains(':')
            && !line.contains(":=")
            && !line.starts_with(['\t', ' ', '.', '#'])
            && !names.is_empty()
            && !names.contains(['=', '%', '"'])
    };
    let mut rules = text.lines().filter(is_rule);
    let Some(first) = rules.clone().find(|line| target(line) == "all").or_else(|| rules.next()) else { return false };
    let goals = if target(first) == "all" {
        first.split_once(':').map_or("", |(_, needed)| needed).to_owned()
    } else {
        target(first)
    };
    let is_program = |word: &str| {
        let word = word.to_ascii_lowercase();
        let kind = word.rsplit('/').next().and_then(|name| name.split_once('.')).map_or("", |(_, kind)| kind);
        ["", "exe", "out", "x"].contains(&kind)
            && !word.contains("lib")
            && !TRIALS.iter().any(|trial| word.contains(trial))
    };
    !OF_OTHERS.iter().any(|mark| text.contains(mark))
        && !goals.trim().is_empty()
        && goals.split_whitespace().all(is_program)
}

#[cfg(test)]
mod tests {
    use super::is_program;

    #[test]
    fn programs_that_archives_are_parts_of() {
        let text = "PARTS = libparts.a\nall: $(TARGET)\n$(TARGET): a.o $(PARTS)\n\tg++ -o $@ $^\n$(PARTS): b.o\n\tar rcs $@ $^\n";
        assert!(is_program(text));
        assert!(is_program("app: a.o libparts.a\n\tg++ -o $@ $^\n"));
        assert!(!is_program(&text.replace("all: $(TARGET)", "all: $(MY_LIB)")));
        assert!(!is_program(&text.replace("all: $(TARGET)", "all: tests")));
        assert!(!is_program(&format!("{text}install: all\n\tcp $(PARTS) /usr/lib\n")));
        assert!(!is_program("all: main.cu\n\tnvcc main.cu\n"));
        assert!(!is_program("libparts.a: b.o\n\tar rcs $@ $^\n"));
    }
}
