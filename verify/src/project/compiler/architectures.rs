//! For which GPUs a command compiles: for the one that is here, with the macros of the newest that the build names and
//! that this one can run.

/// Options that name architectures, with how their value is read.
const OPTIONS: &[&str] = &["-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode", "--generate-code"];

/// The words of a command, compiled for the GPU with this compute capability (90 for `sm_90`). `known` are those that the
/// compiler knows; empty where it does not say.
pub(super) fn for_device(words: &[String], device: u32, known: &[u32]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(words.len() + 2);
    let mut named: Vec<(u32, String)> = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) if OPTIONS.contains(&name) => (name, Some(value.to_owned())),
            _ if OPTIONS.contains(&word.as_str()) => (word.as_str(), words.next().cloned()),
            _ => {
                kept.push(word.clone());
                continue;
            }
        };
        let value = value.unwrap_or_default();
        if !name.ends_with("code") || name.ends_with("generate-code") || name == "-gencode" {
            named.extend(virtual_in(&value));
        }
    }
    let own = format!("{device}");
    let fits = |number: u32, text: &str| {
        let plain = text.chars().all(|c| c.is_ascii_digit());
        (known.is_empty() || known.contains(&number)) && (number < device && plain || number == device)
    };
    let best = named
        .into_iter()
        .filter(|(number, text)| fits(*number, text))
        .max_by_key(|(number, text)| (*number, text.len()));
    let (compute, code) = match best {
        Some((number, text)) if number == device => (text.clone(), text),
        Some((_, text)) => (text, own),
        None => (own.clone(), own),
    };
    kept.extend(["-gencode".to_owned(), format!("arch=compute_{compute},code=sm_{code}")]);
    kept
}

/// The numbers, with their letters, of `compute_90a` and `sm_90` in an option's value.
fn virtual_in(value: &str) -> Vec<(u32, String)> {
    let numbers = value.split(['=', ',', '[', ']', '"', '\'']).filter_map(|part| {
        let text = part.trim().strip_prefix("compute_").or_else(|| part.trim().strip_prefix("sm_"))?;
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        Some((digits.parse().ok()?, text.to_owned()))
    });
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::for_device;

    fn of(line: &str, device: u32, known: &[u32]) -> String {
        for_device(&line.split(' ').map(str::to_owned).collect::<Vec<_>>(), device, known).join(" ")
    }

    #[test]
    fn the_newest_that_runs_here_gives_the_macros() {
        let cases = [
            ("-arch=sm_80 a.cu", "a.cu -gencode arch=compute_80,code=sm_90"),
            ("-arch sm_35 a.cu", "a.cu -gencode arch=compute_90,code=sm_90"),
            (
                "-gencode arch=compute_20,code=sm_20 -gencode=arch=compute_75,code=sm_75 -gencode arch=compute_120,code=compute_120 -c a.cu",
                "-c a.cu -gencode arch=compute_75,code=sm_90",
            ),
            ("--generate-code=arch=compute_90a,code=[sm_90a] a.cu", "a.cu -gencode arch=compute_90a,code=sm_90a"),
            ("-arch=native a.cu", "a.cu -gencode arch=compute_90,code=sm_90"),
            ("a.cu", "a.cu -gencode arch=compute_90,code=sm_90"),
        ];
        for (line, wanted) in cases {
            assert_eq!(of(line, 90, &[75, 80, 86, 87, 88, 89, 90, 100, 120]), wanted);
        }
    }
}
