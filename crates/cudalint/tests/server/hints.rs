//! Inlay hints: the values of subscripts.

use crate::common::Sandbox;
use crate::editor::{Editor, pulling};
use crate::{real, started};
use serde_json::{Value, json};

const SUM: &str = "#include <cuda_runtime.h>
#include \"size.h\"
__global__ void add(const int *in, const int *at, int *out, int n) {
    __shared__ int tile[8][33];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x / 32][threadIdx.x % 32] = in[at[i]];
    __syncthreads();
    if (i < n) out[i + 1] = tile[threadIdx.x / 32][0];
}
int main() {
    int *in, *at, *out;
    if (cudaMalloc(&in, 1024 * sizeof(int)) != cudaSuccess) return 1;
    if (cudaMalloc(&at, 1024 * sizeof(int)) != cudaSuccess) return 1;
    if (cudaMalloc(&out, 2000 * sizeof(int)) != cudaSuccess) return 1;
    add<<<4, 256>>>(in, at, out, N);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    return 0;
}
";

/// A session in which hints are wanted.
fn hinted(sandbox: &Sandbox, mut capabilities: Value) -> Editor {
    capabilities["workspace"]["inlayHint"] = json!({ "refreshSupport": true });
    let folder = real(sandbox);
    let folders = json!([{ "uri": crate::uri_of(&folder), "name": "folder" }]);
    let options = json!({ "inlayHints": { "indexRange": true } });
    let params = json!({ "capabilities": capabilities, "workspaceFolders": folders, "initializationOptions": options });
    Editor::start_with(&folder, params)
}

fn hints(editor: &mut Editor, name: &str, lines: [u32; 2]) -> Vec<Value> {
    let [from, to] = lines.map(|line| json!({ "line": line, "character": 0 }));
    let params = json!({ "textDocument": { "uri": editor.uri(name) }, "range": { "start": from, "end": to } });
    let answer = editor.request("textDocument/inlayHint", params);
    answer.as_array().unwrap().clone()
}

/// Hints as `line:character label`.
fn told(hints: &[Value]) -> Vec<String> {
    let each = |hint: &Value| {
        let at = &hint["position"];
        format!("{}:{} {}", at["line"], at["character"], hint["label"].as_str().unwrap())
    };
    hints.iter().map(each).collect()
}

#[test]
fn values_of_subscripts_stand_behind_them() {
    let sandbox = Sandbox::new(&[("a.cu", SUM), ("size.h", "#define N 1000\n")]);
    let mut editor = hinted(&sandbox, pulling());
    assert_eq!(editor.capabilities["inlayHintProvider"]["resolveProvider"], true);
    editor.open("a.cu", SUM);
    let all = hints(&mut editor, "a.cu", [0, 99]);
    // Where `in` is read is not known, and 0 is 0.
    let expected = ["5:26 0…7 of 8", "5:44 0…31 of 33", "5:55 0…1023 of 1024", "7:25 1…1000 of 2000", "7:50 0…7 of 8"];
    assert_eq!(told(&all), expected);
    assert_eq!(all[3]["paddingLeft"], true);
    // Who does not ask for it later is given it at once.
    let tooltip = all[3]["tooltip"]["value"].as_str().unwrap();
    assert!(tooltip.contains("launch of `add`, line 15, 4 blocks of 256 threads: 1…1000 of 2000"), "{tooltip}");
    assert_eq!(told(&hints(&mut editor, "a.cu", [6, 8])), expected[3..]);
    // The hover on the access says it, too.
    let at = json!({ "textDocument": { "uri": editor.uri("a.cu") }, "position": { "line": 7, "character": 16 } });
    let hover = editor.request("textDocument/hover", at)["contents"]["value"].clone();
    assert!(
        hover.as_str().unwrap().contains("index of `out[i + 1]`: 1…1000 of 2000 with 4 blocks of 256 threads"),
        "{hover}"
    );
    // Another edit moves them, and one that makes an index unknown takes it away.
    editor.edit("a.cu", 2, [0, 0, 0, 0], "// a line\n");
    editor.edit("a.cu", 3, [8, 19, 8, 19], "at[0] + ");
    let all = hints(&mut editor, "a.cu", [0, 99]);
    assert_eq!(told(&all), ["6:26 0…7 of 8", "6:44 0…31 of 33", "6:55 0…1023 of 1024", "8:58 0…7 of 8"]);
    // Another file decides how many threads come by: the editor is told to ask again.
    editor.open("size.h", "#define N 1000\n");
    editor.edit("a.cu", 4, [8, 19, 8, 27], "");
    assert_eq!(told(&hints(&mut editor, "a.cu", [8, 9]))[0], "8:25 1…1000 of 2000");
    editor.edit("size.h", 2, [0, 10, 0, 14], "500");
    editor.serve("workspace/inlayHint/refresh", &Value::Null);
    assert_eq!(told(&hints(&mut editor, "a.cu", [8, 9]))[0], "8:25 1…500 of 2000");
    editor.end();
}

#[test]
fn a_tooltip_is_given_to_who_asks_for_it_later() {
    let sandbox = Sandbox::new(&[("a.cu", SUM), ("size.h", "#define N 1000\n")]);
    let mut capabilities = pulling();
    capabilities["textDocument"]["inlayHint"] = json!({ "resolveSupport": { "properties": ["tooltip"] } });
    let mut editor = hinted(&sandbox, capabilities);
    editor.open("a.cu", SUM);
    let hint = hints(&mut editor, "a.cu", [7, 8])[0].clone();
    assert!(hint.get("tooltip").is_none(), "{hint}");
    let whole = editor.request("inlayHint/resolve", hint.clone());
    assert!(whole["tooltip"]["value"].as_str().unwrap().contains("4 blocks of 256 threads"), "{whole}");
    assert_eq!((&whole["label"], &whole["position"]), (&hint["label"], &hint["position"]));
    // What is of an older text stays as it is, and so does what nobody has sent.
    editor.edit("a.cu", 2, [0, 0, 0, 0], "\n");
    assert_eq!(editor.request("inlayHint/resolve", hint.clone()), hint);
    let other = json!({ "position": { "line": 0, "character": 0 }, "label": "x" });
    assert_eq!(editor.request("inlayHint/resolve", other.clone()), other);
    editor.pull("a.cu", None);
    editor.end();
}

#[test]
fn they_are_off_until_somebody_wants_them() {
    let sandbox = Sandbox::new(&[("a.cu", SUM), ("size.h", "#define N 1000\n")]);
    let mut capabilities = pulling();
    capabilities["workspace"]["inlayHint"] = json!({ "refreshSupport": true });
    let mut editor = started(&sandbox, capabilities);
    editor.open("a.cu", SUM);
    assert_eq!(hints(&mut editor, "a.cu", [0, 99]), Vec::<Value>::new());
    for (wanted, count) in [(true, 5), (false, 0)] {
        let settings = json!({ "cudalint": { "inlayHints": { "indexRange": wanted } } });
        editor.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
        editor.serve("workspace/inlayHint/refresh", &Value::Null);
        assert_eq!(hints(&mut editor, "a.cu", [0, 99]).len(), count);
    }
    editor.pull("a.cu", None);
    editor.end();
}

#[test]
fn only_launches_with_facts_count_and_all_of_them() {
    let device = "__device__ void put(int *p, int i) { p[i] = 1; }\n";
    let text = format!(
        "{device}__global__ void one(int *p) {{ put(p, threadIdx.x); }}\n\
         __global__ void two(int *p, int *q) {{ put(p, 2 * threadIdx.x); q[threadIdx.x] = 1; }}\n\
         void run(int *q) {{\n    int *p;\n    cudaMalloc(&p, 1024);\n    one<<<1, 64>>>(p);\n    two<<<1, 128>>>(p, q);\n}}\n"
    );
    let sandbox = Sandbox::new(&[]);
    let mut editor = hinted(&sandbox, pulling());
    editor.open("a.cu", &text);
    let all = hints(&mut editor, "a.cu", [0, 9]);
    assert_eq!(told(&all), ["0:41 0…254 of 256", "2:77 0…127"]);
    let tooltip = all[0]["tooltip"]["value"].as_str().unwrap();
    assert!(tooltip.contains("launch of `one`, line 7, 1 block of 64 threads: 0…63 of 256"), "{tooltip}");
    assert!(tooltip.contains("launch of `two`, line 8, 1 block of 128 threads: 0…254 of 256"), "{tooltip}");
    // One kernel of the two does not say where it writes: nothing is said of the function that both call.
    editor.edit("a.cu", 2, [2, 45, 2, 46], "q[0]");
    assert_eq!(told(&hints(&mut editor, "a.cu", [0, 9])), ["2:80 0…127"]);
    // Nobody knows how many threads there are.
    let open = text.replace("<<<1, ", "<<<1, (int)(long)q % 3 + ");
    editor.replace("a.cu", 3, &open);
    assert_eq!(told(&hints(&mut editor, "a.cu", [0, 9])), Vec::<String>::new());
    editor.end();
}

#[test]
fn subscripts_of_python_and_of_cells_have_them() {
    let cell = "import numpy as np\nfrom numba import cuda\n@cuda.jit\ndef k(a):\n    i = cuda.grid(1)\n    \
                if i < a.shape[0]:\n        a[i] = 1\na = cuda.to_device(np.zeros(1000, np.float32))\nk[4, 256](a)\n";
    let sandbox = Sandbox::new(&[("a.py", cell)]);
    let mut editor = hinted(&sandbox, pulling());
    editor.open("a.py", cell);
    assert_eq!(told(&hints(&mut editor, "a.py", [0, 20])), ["6:12 0…999 of 1000"]);
    editor.end();
}
