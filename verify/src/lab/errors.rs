//! The first error in what a compiler said: nvcc, cudafe++, the host compiler, ptxas, nvlink, the linker.

/// The line that says what is wrong, in one line; none where no line looks like an error.
pub(crate) fn first_error(output: &str) -> Option<String> {
    // A linker's last word names no symbol, and nvcc repeats what a tool that it called has said.
    let strong = |line: &&str| {
        let line = line.to_ascii_lowercase();
        [
            ": error",
            "error:",
            " error ",
            "fatal error",
            "ptxas fatal",
            "nvcc fatal",
            "nvlink fatal",
            "undefined reference",
        ]
        .iter()
        .any(|sign| line.contains(sign))
            && !line.starts_with("collect2:")
            && !line.starts_with("make")
            && !line.contains("-wno-error")
            && !line.contains("errors detected in the compilation")
    };
    let weak = |line: &&str| {
        let line = line.to_ascii_lowercase();
        line.contains("cannot find")
            || line.contains("died due to signal")
            || line.contains("error")
            || line.contains("fatal")
    };
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('$'));
    lines().find(strong).or_else(|| lines().find(weak)).map(|line| line.chars().take(400).collect())
}

/// Whether a compiler failed by itself and says nothing about the program: no space, no memory, a crash.
pub(super) fn compiler_broke(output: &str) -> Option<&str> {
    let signs = [
        "No space left on device",
        "File too large",
        "died due to signal",
        "Killed signal",
        "internal compiler error",
        "Internal error",
        "internal error",
        "Cannot allocate memory",
        "out of memory allocating",
        "Input/output error",
        "Read-only file system",
    ];
    output.lines().map(str::trim).find(|line| signs.iter().any(|sign| line.contains(sign)))
}

#[cfg(test)]
mod tests {
    use super::{compiler_broke, first_error};

    #[test]
    fn errors_of_each_tool_are_found() {
        let cases = [
            (
                "a.cu(3): warning #177-D: x\n\na.cu(7): error: identifier \"foo\" is undefined\n\n1 error detected in the compilation of \"a.cu\".",
                "a.cu(7): error: identifier \"foo\" is undefined",
            ),
            (
                "a.cu:1:10: fatal error: helper.h: No such file or directory\n    1 | #include \"helper.h\"",
                "a.cu:1:10: fatal error: helper.h: No such file or directory",
            ),
            (
                "ptxas error   : Entry function 'k' uses too much shared data (0x20000 bytes, 0xc000 max)\nptxas fatal   : Ptx assembly aborted due to errors",
                "ptxas error   : Entry function 'k' uses too much shared data (0x20000 bytes, 0xc000 max)",
            ),
            (
                "/usr/bin/ld: /tmp/x.o: in function `main':\nx.cu:(.text+0x5): undefined reference to `helper()'\ncollect2: error: ld returned 1 exit status",
                "x.cu:(.text+0x5): undefined reference to `helper()'",
            ),
            (
                "/usr/bin/ld: cannot find -lcudart_static: No such file or directory\ncollect2: error: ld returned 1 exit status",
                "/usr/bin/ld: cannot find -lcudart_static: No such file or directory",
            ),
            (
                "/usr/bin/ld: cannot find -lcutil\nmake: *** [Makefile:9: app] Error 1",
                "/usr/bin/ld: cannot find -lcutil",
            ),
            (
                "nvcc fatal   : Unsupported gpu architecture 'compute_35'",
                "nvcc fatal   : Unsupported gpu architecture 'compute_35'",
            ),
        ];
        for (output, wanted) in cases {
            assert_eq!(first_error(output).as_deref(), Some(wanted));
        }
        assert_eq!(first_error("all is well"), None);
    }

    #[test]
    fn a_broken_compiler_is_no_verdict_on_the_program() {
        assert!(compiler_broke("nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)").is_some());
        assert!(compiler_broke("/usr/bin/ld: final link failed: No space left on device").is_some());
        assert!(compiler_broke("a.cu(7): error: identifier \"foo\" is undefined").is_none());
    }
}
