//! Numbers for integer parameters: what the finding states, else one that shows a defect and nothing else.

use cudalint_findings::model::FindingEntry;

/// A number and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// The number.
    pub value: i64,
    /// The reason, as the end of a comment.
    pub why: String,
    /// Whether it is a number of elements.
    pub is_size: bool,
}

impl Chosen {
    /// A number that is no size.
    pub fn new(value: i64, why: &str) -> Self {
        Self { value, why: why.to_owned(), is_size: false }
    }
}

/// The value that the finding claims of an input.
pub(super) fn stated(finding: Option<&FindingEntry>, name: &str) -> Option<Chosen> {
    let (_, value) = finding?.claim.inputs.iter().find(|(input, _)| input == name)?;
    Some(Chosen::new(*value, "the value of the finding's witness"))
}

/// The words of a name: `numBlocks`, `num_blocks` and `NUM_BLOCKS` are `num`, `blocks`.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last_lower = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() {
            words.push(String::new());
            last_lower = false;
            continue;
        }
        if words.is_empty() || (c.is_ascii_uppercase() && last_lower) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(c.to_ascii_lowercase());
        }
        last_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A number by the parameter's name, where nothing states one. `sizes` is how many sizes the function takes: their
/// product must fit the harness's buffers.
pub(super) fn usual(name: &str, bytes: u8, sizes: usize) -> Chosen {
    let words = words(name);
    let is = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let chosen = Chosen::new;
    if bytes == 1 {
        return chosen(1, "a small number");
    }
    if is(&["device", "dev", "gpu", "rank", "root"]) && !is(&["bytes", "size", "count"]) {
        return chosen(0, "the first device");
    }
    if is(&[
        "rounds",
        "round",
        "iterations",
        "iteration",
        "iters",
        "iter",
        "repeat",
        "repeats",
        "steps",
        "loops",
        "runs",
        "trials",
        "epochs",
        "passes",
        "reps",
        "times",
        "ntimes",
    ]) {
        return chosen(2, "a few rounds");
    }
    if is(&["threads", "tpb", "blocksize", "blockdim", "nthreads"]) || (is(&["block"]) && is(&["size", "dim"])) {
        return chosen(256, "threads of a block");
    }
    if is(&["blocks", "grid", "griddim", "gridsize", "nblocks"]) {
        return chosen(4, "blocks of a grid");
    }
    if is(&["bytes", "nbytes"]) {
        return chosen(8000, "bytes of 1000 elements of the largest kind of number");
    }
    if is(&[
        "offset", "start", "begin", "index", "idx", "id", "tid", "first", "lo", "low", "base", "seed", "shift", "flag",
        "flags", "mode", "verbose", "level",
    ]) {
        return chosen(0, "the first");
    }
    if is(&["stride", "inc", "incx", "incy", "step", "pitch", "lda", "ldb", "ldc"]) {
        return chosen(if is(&["lda", "ldb", "ldc", "pitch"]) { 1000 } else { 1 }, "elements side by side");
    }
    if is(&["radius", "k", "order", "dims", "ndim", "rank", "channels", "depth", "batch", "halo"]) {
        return chosen(4, "a small number");
    }
    let (value, why) = match sizes {
        0..=2 => (1000, "no multiple of a usual block size"),
        3 => (100, "no multiple of a usual block size, and the product of three fits the buffers"),
        4 => (25, "no multiple of a usual block size, and the product of four fits the buffers"),
        _ => (17, "no multiple of a usual block size, and the product of five fits the buffers"),
    };
    Chosen { is_size: true, ..chosen(value, why) }
}

#[cfg(test)]
mod tests {
    use super::{usual, words};

    #[test]
    fn names_have_words() {
        assert_eq!(words("numBlocks"), ["num", "blocks"]);
        assert_eq!(words("BLOCK_SIZE"), ["block", "size"]);
        assert_eq!(words("n"), ["n"]);
        assert_eq!(words("__n"), ["n"]);
    }

    #[test]
    fn a_size_is_no_multiple_of_a_block() {
        assert_eq!(usual("n", 4, 1).value % 32, 1000 % 32);
        assert_ne!(usual("n", 4, 1).value % 32, 0);
        assert_eq!(usual("block_size", 4, 1).value, 256);
        assert_eq!(usual("device", 4, 1).value, 0);
    }
}
