//! The examples of rules about host code once more, as programs for AMD's devices spell them: each call of the CUDA runtime that HIP has
//! by its own name. What fires there fires here, with HIP's names in the message, and what is silent stays so.

use cudalint_engine::Engine;
use cudalint_pages::run::{Example, run};
use cudalint_pages::{FenceKind, Page};
use cudalint_program::api::{self, ApiId};
use std::fmt::Write as _;

/// Rules whose examples hold in HIP, with how many of them can be spelled there at least.
const RULES: &[(&str, usize)] = &[
    ("async-error-never-observed", 1),
    ("bad-free", 1),
    ("copy-exceeds-allocation", 1),
    ("device-resource-leak", 1),
    ("element-count-as-bytes", 1),
    ("empty-grid", 1),
    ("host-touches-async-buffer", 1),
    ("launch-exceeds-device-limit", 1),
    ("memset-value-truncated", 1),
    ("partial-initialization", 1),
    ("restrict-arguments-alias", 1),
    ("cuda-call-in-static-lifetime", 1),
    ("unchecked-api-call", 1),
    ("unchecked-launch", 1),
    ("uninitialized-device-pointer", 1),
    ("unordered-free", 1),
    ("use-after-free", 1),
];

/// Examples that are otherwise in HIP: the rule, a word of the example, and why.
const OTHERWISE: &[(&str, &str, &str)] = &[
    ("bad-free", "cudaFree(staging)", "either function may free memory of the device and pinned memory"),
    ("launch-exceeds-device-limit", "dim3(1, 1, 128)", "AMD's devices have other limits along an axis"),
];

/// Types that have the same name but for its beginning.
const TYPES: [&str; 6] = ["Error_t", "Event_t", "Stream_t", "DeviceProp", "Graph_t", "MemcpyKind"];

/// A text with the names of HIP; `None` where HIP has none for one of them.
fn in_hip(text: &str) -> Option<String> {
    let text = text.replace("#include <cuda_runtime.h>", "#include <hip/hip_runtime.h>");
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut all = String::new();
    for part in text.split_inclusive(|letter| !is_word(letter)) {
        let word = part.trim_end_matches(|letter| !is_word(letter));
        let name = word.strip_prefix("cuda").map(|rest| format!("hip{rest}"));
        match name {
            Some(name) if ApiId::named(&name).is_some() || api::constant(&name).is_some() => all.push_str(&name),
            Some(name) if TYPES.iter().any(|ty| name == format!("hip{ty}")) => all.push_str(&name),
            Some(_) => return None,
            None if word.starts_with("cu") && ApiId::named(word).is_some_and(|api| api.is_cuda_host()) => return None,
            None if word == "CUDA" => all.push_str("HIP"),
            None => all.push_str(word),
        }
        all.push_str(&part[word.len()..]);
    }
    Some(all)
}

/// The page with all examples that HIP can spell; how many these are.
fn twin(page: &Page) -> (Page, usize) {
    let mut twin = page.clone();
    let mut spelled = 0;
    let mut before = false;
    for fence in &mut twin.fences {
        let otherwise = OTHERWISE.iter().any(|(rule, word, _)| *rule == page.name && fence.code.contains(word));
        let plain = fence.language == "cuda" && fence.file.is_none() && !otherwise;
        let code = in_hip(&fence.code).filter(|_| plain);
        match (fence.kind, code) {
            (FenceKind::Settings, _) => {}
            (FenceKind::Fixed, Some(code)) if before => fence.code = code,
            (FenceKind::Error | FenceKind::Clean, Some(code)) => {
                fence.code = code;
                spelled += usize::from(fence.kind == FenceKind::Error);
                before = true;
                continue;
            }
            _ => fence.kind = FenceKind::Plain,
        }
        before = false;
    }
    (twin, spelled)
}

#[test]
fn examples_come_out_alike_in_hip() {
    let engine = Engine::new(cudalint_rules::RULES);
    let lint = |example: &Example<'_>| engine.lint_texts(&example.files, example.settings);
    let filter = std::env::var("CUDALINT_PAGE").unwrap_or_default();
    let mut text = String::new();
    for (name, least) in RULES.iter().filter(|(name, _)| name.contains(&filter)) {
        let Some(rule) = cudalint_rules::RULES.iter().find(|rule| rule.info.name == *name) else {
            let _ = writeln!(text, "no rule {name}");
            continue;
        };
        match Page::parse(rule.info.page) {
            Ok(page) => {
                let (twin, spelled) = twin(&page);
                if spelled < *least {
                    let _ = writeln!(text, "{name}: {spelled} examples can be spelled in HIP");
                }
                for problem in run(&twin, &lint) {
                    let _ = writeln!(text, "{name}, in HIP, {problem}");
                }
            }
            Err(error) => {
                let _ = writeln!(text, "{name}: {error}");
            }
        }
    }
    assert!(text.is_empty(), "\n{text}");
}
