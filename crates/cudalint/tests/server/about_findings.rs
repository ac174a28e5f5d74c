//! What can be done about findings, and what is known of places.

use crate::common::{EMPTY_GRID, Sandbox};
use crate::editor::{Editor, codes, pulling};
use crate::{real, started};
use serde_json::{Value, json};

const UNUSED: &str = "int a;  // cudalint: ignore[empty-grid] nothing is launched\n\
                      int b;\nint c;  // cudalint: ignore[empty-grid] nor is it here\n";

/// The actions for a line, of these kinds where some are asked for.
fn actions(editor: &mut Editor, name: &str, line: u32, only: Option<&[&str]>) -> Vec<Value> {
    let at = json!({ "line": line, "character": 0 });
    let mut params = json!({
        "textDocument": { "uri": editor.uri(name) },
        "range": { "start": at, "end": at },
        "context": { "diagnostics": [] },
    });
    if let Some(only) = only {
        params["context"]["only"] = json!(only);
    }
    editor.request("textDocument/codeAction", params).as_array().unwrap().clone()
}

fn titled<'a>(actions: &'a [Value], words: &str) -> &'a Value {
    let titles: Vec<&Value> = actions.iter().map(|action| &action["title"]).collect();
    let found = actions.iter().find(|action| action["title"].as_str().is_some_and(|title| title.contains(words)));
    found.unwrap_or_else(|| panic!("no action `{words}`: {titles:?}"))
}

/// Applies the edits of an action to a text in which lines end at `\n` and all characters are ASCII.
fn applied(action: &Value, uri: &str, text: &str) -> String {
    let change = &action["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"]["uri"], uri);
    let offset = |at: &Value| {
        let line = usize::try_from(at["line"].as_u64().unwrap()).unwrap();
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + usize::try_from(at["character"].as_u64().unwrap()).unwrap()
    };
    let mut edits: Vec<(usize, usize, &str)> = change["edits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            (offset(&range["start"]), offset(&range["end"]), edit["newText"].as_str().unwrap())
        })
        .collect();
    edits.sort_unstable_by_key(|(start, ..)| std::cmp::Reverse(*start));
    let mut text = text.to_owned();
    for (start, end, new) in edits {
        text.replace_range(start..end, new);
    }
    text
}

#[test]
fn a_fix_mends_what_it_is_for() {
    let sandbox = Sandbox::new(&[("a.cu", UNUSED)]);
    let mut editor = started(&sandbox, pulling());
    editor.open("a.cu", UNUSED);
    let report = editor.pull("a.cu", None);
    assert_eq!(codes(&report["items"]), ["unused-ignore", "unused-ignore"]);
    assert_eq!(report["items"][0]["tags"], json!([1]), "what can go is faded out");
    let offered = actions(&mut editor, "a.cu", 0, None);
    let fix = offered.iter().find(|action| action["isPreferred"] == true).unwrap();
    assert_eq!(fix["edit"]["documentChanges"][0]["textDocument"]["version"], 1);
    let uri = editor.uri("a.cu");
    let mended = applied(fix, &uri, UNUSED);
    assert!(mended.starts_with("int a;\nint b;\n"), "{mended}");
    // All at once, for who asks for that.
    assert_eq!(actions(&mut editor, "a.cu", 0, Some(&["source.fixAll.eslint"])), Vec::<Value>::new());
    for kind in ["source.fixAll", "source.fixAll.cudalint", "source"] {
        let all = actions(&mut editor, "a.cu", 1, Some(&[kind]));
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!(applied(&all[0], &uri, UNUSED), "int a;\nint b;\nint c;\n");
    }
    editor.replace("a.cu", 2, "int a;\nint b;\nint c;\n");
    assert_eq!(editor.pull("a.cu", None)["items"], json!([]));
    editor.end();
}

#[test]
fn a_comment_keeps_a_finding_quiet_and_its_rule_has_a_page() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID)]);
    let mut editor = started(&sandbox, pulling());
    editor.open("a.cu", EMPTY_GRID);
    let offered = actions(&mut editor, "a.cu", 3, Some(&["quickfix"]));
    let uri = editor.uri("a.cu");
    let quiet = applied(titled(&offered, "Keep `empty-grid` quiet"), &uri, EMPTY_GRID);
    assert!(quiet.contains("\n    // cudalint: ignore[empty-grid] TODO: say why\n    increment<<<"), "{quiet}");
    let explain = &titled(&offered, "Explain `empty-grid`")["command"];
    let page = editor.request("workspace/executeCommand", explain.clone());
    assert!(page["markdown"].as_str().unwrap().starts_with("# empty-grid"));
    editor.replace("a.cu", 2, &quiet);
    assert_eq!(editor.pull("a.cu", None)["items"], json!([]));
    let at = json!({ "textDocument": { "uri": uri }, "position": { "line": 3, "character": 30 } });
    let hover = editor.request("textDocument/hover", at);
    assert!(hover["contents"]["value"].as_str().unwrap().starts_with("# empty-grid"), "{hover}");
    assert_eq!(hover["range"]["start"], json!({ "line": 3, "character": 24 }));
    editor.end();
}

const SUM: &str = "#include <cuda_runtime.h>
__global__ void fill(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}
int main() {
    int *out;
    if (cudaMalloc(&out, 1000 * sizeof(int)) != cudaSuccess) return 1;
    fill<<<4, 256>>>(out, 1000);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    return cudaFree(out) == cudaSuccess ? 0 : 1;
}
";

#[test]
fn what_is_known_of_a_kernel_a_launch_and_an_access_is_told() {
    let sandbox = Sandbox::new(&[("a.cu", SUM)]);
    let mut editor = started(&sandbox, pulling());
    editor.open("a.cu", SUM);
    let uri = editor.uri("a.cu");
    let mut told = |line: u32, character: u32| {
        let at = json!({ "line": line, "character": character });
        let hover = editor.request("textDocument/hover", json!({ "textDocument": { "uri": uri }, "position": at }));
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let kernel = told(1, 17);
    assert!(kernel.starts_with("Kernel `fill`: 1 launch in sight; executed: facts"), "{kernel}");
    assert!(kernel.contains("4 blocks of 256 threads: 1024 threads in all"), "{kernel}");
    assert!(kernel.contains("accesses to `out` stay within"), "{kernel}");
    let launch = told(8, 6);
    assert!(launch.starts_with("Launch of `fill`, executed: facts"), "{launch}");
    assert!(launch.contains("`n` = 1000") && launch.contains("`out` is `out`, 4000 bytes"), "{launch}");
    let access = told(3, 16);
    assert!(access.starts_with("Access `out[i]`: its address was known each time"), "{access}");
    assert!(access.contains("`out` has 4000 bytes"), "{access}");
    assert_eq!(told(0, 0), "");
    let lenses = editor.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
    let titles: Vec<&Value> = lenses.as_array().unwrap().iter().map(|lens| &lens["command"]["title"]).collect();
    assert_eq!(titles, [&json!("1 launch found"), &json!("verify on GPU")]);
    // Nothing is wrong with it, and so nothing is run.
    let id = editor.ask("workspace/executeCommand", lenses[1]["command"].clone());
    let answer = editor.answer(id);
    assert!(answer["error"]["message"].as_str().unwrap().contains("nothing to verify"), "{answer}");
    editor.end();
}

#[test]
fn verify_runs_in_a_process_of_its_own_and_tells_how_it_ended() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID)]);
    let mut capabilities = pulling();
    capabilities["window"] = json!({ "workDoneProgress": true });
    let mut editor = started(&sandbox, capabilities);
    editor.open("a.cu", EMPTY_GRID);
    assert_eq!(codes(&editor.pull("a.cu", None)["items"]), ["empty-grid"]);
    let uri = editor.uri("a.cu");
    let verify = json!({ "command": "cudalint.verify", "arguments": [{ "uri": uri }] });
    let id = editor.ask("workspace/executeCommand", verify.clone());
    let token = editor.serve("window/workDoneProgress/create", &Value::Null)["token"].clone();
    assert_eq!(editor.notification("$/progress")["value"]["kind"], "begin");
    // Whatever this machine has: it ends with a verdict for the finding, or says why there is none.
    let answer = editor.answer(id);
    let ended = editor.notification("$/progress");
    assert_eq!((&ended["token"], &ended["value"]["kind"]), (&token, &json!("end")));
    if answer.get("error").is_none() {
        assert_eq!(answer["result"]["findings"][0]["rule"], "empty-grid", "{answer}");
        editor.notification("window/showMessage");
    }
    // One that is cancelled says so.
    let id = editor.ask("workspace/executeCommand", verify.clone());
    let token = editor.serve("window/workDoneProgress/create", &Value::Null)["token"].clone();
    editor.notification("$/progress");
    editor.notify("window/workDoneProgress/cancel", json!({ "token": token }));
    assert_eq!(editor.answer(id)["error"]["code"], -32800);
    editor.notification("$/progress");
    // What is not saved does not run.
    editor.edit("a.cu", 2, [0, 0, 0, 0], "\n");
    editor.pull("a.cu", None);
    let id = editor.ask("workspace/executeCommand", verify);
    assert!(editor.answer(id)["error"]["message"].as_str().unwrap().contains("has to be saved"));
    assert!(real(&sandbox).join("a.cu").exists());
    editor.end();
}
