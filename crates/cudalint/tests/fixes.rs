//! What changes files: fixes, and comments that keep findings quiet.

#![allow(clippy::unwrap_used)]

mod common;

use common::{EMPTY_GRID, Sandbox};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

/// A file with a macro that checks statuses, a launch that nobody checks, and a call that nobody does.
const PROJECT: &str = "#include <cuda_runtime.h>\r\n#include <stdio.h>\r\n#include <stdlib.h>\r\n\
    #define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf(\"%s\\n\", cudaGetErrorString(e)); exit(1); } } while (0)\r\n\
    __global__ void zero(float *values, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) values[i] = 0; }\r\n\
    void run(float *host) {\r\n\tfloat *values;\r\n\tCHECK(cudaMalloc(&values, 256 * sizeof(float)));\r\n\
    \tzero<<<1, 256>>>(values, 256);  // größe\r\n\tcudaMemcpy(host, values, 256 * sizeof(float), cudaMemcpyDeviceToHost);\r\n\
    \tcudaFree(values);\r\n}\r\n";

fn text(sandbox: &Sandbox, name: &str) -> String {
    fs::read_to_string(sandbox.path().join(name)).unwrap()
}

#[test]
fn safe_fixes_are_applied_and_others_when_they_are_asked_for() {
    let sandbox = Sandbox::new(&[("a.cu", PROJECT)]);
    let ran = sandbox.run(&["--diff"]);
    assert_eq!(text(&sandbox, "a.cu"), PROJECT, "nothing is written");
    assert!(ran.code == 1 && ran.stdout.starts_with("--- a/a.cu\n+++ b/a.cu\n@@ "), "{ran:?}");
    assert!(ran.stdout.contains("\n+\tCHECK(cudaGetLastError());"), "{ran:?}");
    assert!(ran.stderr.contains("1 finding would be fixed in 1 file: 1 unchecked-launch"), "{ran:?}");
    assert!(ran.stderr.contains("1 finding has a fix to be reviewed: `--unsafe-fixes`"), "{ran:?}");
    let ran = sandbox.run(&["--fix"]);
    assert!(ran.stderr.contains("1 finding fixed in 1 file: 1 unchecked-launch"), "{ran:?}");
    let fixed = text(&sandbox, "a.cu");
    assert_eq!(
        fixed,
        PROJECT.replace("(values, 256);  // größe", "(values, 256);\r\n\tCHECK(cudaGetLastError());  // größe"),
        "line ends, tabulators and comments are as they were"
    );
    // Done once, there is nothing left to do.
    let ran = sandbox.run(&["--diff"]);
    assert!(ran.code == 0 && ran.stdout.is_empty(), "{ran:?}");
    sandbox.run(&["--fix", "--unsafe-fixes"]);
    let fixed = text(&sandbox, "a.cu");
    assert!(
        fixed.contains("\r\n\tCHECK(cudaMemcpy(host, values, 256 * sizeof(float), cudaMemcpyDeviceToHost));\r\n"),
        "{fixed}"
    );
    assert!(!sandbox.run(&["--select", "error-handling"]).stdout.contains("unchecked"));
    assert!(sandbox.run(&["--unsafe-fixes"]).stderr.contains("goes with --fix"));
}

#[test]
fn only_what_is_reported_is_fixed() {
    let sandbox = Sandbox::new(&[("a.cu", PROJECT), ("b.cu", PROJECT)]);
    sandbox.run(&["a.cu", "--fix"]);
    assert_eq!(text(&sandbox, "b.cu"), PROJECT);
    assert_ne!(text(&sandbox, "a.cu"), PROJECT);
    sandbox.run(&["b.cu", "--fix", "--ignore", "error-handling"]);
    assert_eq!(text(&sandbox, "b.cu"), PROJECT);
    sandbox.run(&["--write-baseline", "known.json"]);
    sandbox.run(&["--fix", "--unsafe-fixes", "--baseline", "known.json"]);
    assert_eq!(text(&sandbox, "b.cu"), PROJECT, "what is known stays as it is");
}

#[test]
fn a_file_that_is_no_utf8_or_of_which_a_part_is_lost_stays_as_it_is() {
    let sandbox = Sandbox::new(&[]);
    let mut bytes = PROJECT.as_bytes().to_vec();
    let at = bytes.windows(2).position(|pair| pair == "ö".as_bytes()).unwrap();
    bytes[at] = 0xff;
    sandbox.write("a.cu", &bytes);
    let ran = sandbox.run(&["--fix"]);
    assert!(ran.code == 2 && ran.stderr.contains("a.cu: not written: it is not UTF-8"), "{ran:?}");
    assert_eq!(fs::read(sandbox.path().join("a.cu")).unwrap(), bytes);
    let broken = format!("{PROJECT}void lost( {{ ]]] ) ;; }} ((\r\n");
    sandbox.write("a.cu", broken.as_bytes());
    sandbox.run(&["--fix", "--unsafe-fixes"]);
    assert_eq!(text(&sandbox, "a.cu"), broken);
}

#[cfg(target_os = "linux")]
#[test]
fn names_of_any_bytes_are_files_like_others() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = Sandbox::new(&[]);
    let names = [&b"a\xfe.cu"[..], b"a\xff.cu"].map(|name| sandbox.path().join(std::ffi::OsStr::from_bytes(name)));
    for name in &names {
        fs::write(name, PROJECT).unwrap();
    }
    let launch = ["--select", "unchecked-launch"];
    let sarif = sandbox.run(&[&launch[..], &["--output-format", "sarif"]].concat()).stdout;
    assert!(sarif.contains("\"a%FE.cu\"") && sarif.contains("\"a%FF.cu\""), "{sarif}");
    let shown = sandbox.run(&[&launch[..], &["--output-format", "concise"]].concat()).stdout;
    assert_eq!(shown.matches("a\u{fffd}.cu:9:2: ").count(), 2, "{shown}");
    let json = sandbox.run(&[&launch[..], &["--output-format", "json"]].concat()).stdout;
    assert_eq!(json.matches("\"path\": \"a\u{fffd}.cu\"").count() % 2, 0, "{json}");
    assert!(!json.contains('\u{10fefe}'), "{json}");
    sandbox.run(&["--write-baseline", "known.json"]);
    let known = sandbox.run(&["--baseline", "known.json"]);
    assert!(known.stderr.contains("4 findings known") && known.stdout.contains("0 warnings"), "{known:?}");
    let ran = sandbox.run(&["--fix"]);
    assert!(ran.stderr.contains("2 findings fixed in 2 files"), "{ran:?}");
    for name in &names {
        assert!(fs::read_to_string(name).unwrap().contains("CHECK(cudaGetLastError());"));
    }
}

#[test]
fn permissions_stay_and_links_lead_where_they_did() {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let sandbox = Sandbox::new(&[("real/a.cu", PROJECT)]);
        let file = sandbox.path().join("real/a.cu");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("real/a.cu", sandbox.path().join("link.cu")).unwrap();
        sandbox.run(&["link.cu", "--fix"]);
        assert!(sandbox.path().join("link.cu").symlink_metadata().unwrap().is_symlink());
        assert!(text(&sandbox, "real/a.cu").contains("cudaGetLastError"));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(sandbox.path().join("real")).unwrap().count(), 1, "nothing is left beside it");
    }
}

#[test]
fn a_macro_that_is_given_no_calls_checks_none() {
    let cleanup = "#include <cuda_runtime.h>\n#include <stdio.h>\n\
        #define CLEANUP(s) do { printf(\"%s\\n\", s); if (d && cudaFree(d) != cudaSuccess) printf(\"no\\n\"); } while (0)\n\
        void run(float *h) {\n    float *d = 0;\n    if (cudaMalloc(&d, 128) != cudaSuccess) {\n        CLEANUP(\"malloc\");\n        return;\n    }\n    \
        cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost);\n}\n";
    let sandbox = Sandbox::new(&[("a.cu", cleanup)]);
    let ran = sandbox.run(&["--select", "unchecked-api-call"]);
    assert!(ran.stdout.contains("[unchecked-api-call]") && !ran.stdout.contains("CLEANUP`"), "{ran:?}");
    assert_eq!(sandbox.run(&["--diff", "--unsafe-fixes"]).code, 0);
}

#[test]
fn races_sizes_and_conditions_are_mended() {
    let race = "#include <cuda_runtime.h>\n__global__ void turn(float *out) {\n    __shared__ float tile[64];\n    int t = threadIdx.x;\n    \
        tile[t] = t;\n    if (t < 63) {\n        out[t] = tile[63 - t];\n    }\n}\n\
        cudaError_t run(float *out) {\n    turn<<<1, 64>>>(out);\n    return cudaGetLastError();\n}\n";
    let python = "from numba import cuda\nimport numpy as np\n\n@cuda.jit\ndef turn(out):\n    tile = cuda.shared.array(64, np.float32)\n    \
        t = cuda.threadIdx.x\n    tile[t] = t\n    if t < 63:\n        out[t] = tile[63 - t]\n\nout = cuda.device_array(64, np.float32)\nturn[1, 64](out)\n";
    let size = "#include <cuda_runtime.h>\nint main() {\n    const int n = 1000;\n    float *host = new float[n], *device;\n    \
        if (cudaMalloc(&device, n) != cudaSuccess) return 1;\n    \
        if (cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice) != cudaSuccess) return 1;\n}\n";
    let sandbox = Sandbox::new(&[("race.cu", race), ("race.py", python), ("size.cu", size)]);
    assert_eq!(sandbox.run(&["--fix"]).code, 1, "none of these is safe");
    let ran = sandbox.run(&["--fix", "--unsafe-fixes"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(text(&sandbox, "race.cu"), race.replace("    if (t", "    __syncthreads();\n    if (t"));
    assert_eq!(text(&sandbox, "race.py"), python.replace("    if t", "    cuda.syncthreads()\n    if t"));
    assert_eq!(text(&sandbox, "size.cu"), size.replace("&device, n)", "&device, n * sizeof(float))"));
}

#[test]
fn comments_keep_quiet_what_was_found_and_are_used() {
    let kernel = "from numba import cuda\nimport numpy as np\n\n@cuda.jit\ndef turn(out):\n    tile = cuda.shared.array(64, np.float32)\n    \
                  t = cuda.threadIdx.x\n    tile[t] = t\n    out[t] = tile[63 - t]\n\nout = cuda.device_array(64, np.float32)\nturn[1, 64](out)\n";
    let twice = EMPTY_GRID.replace("(values);\n", "(values); increment<<<20 / 32, 32>>>(values);\n");
    let sandbox = Sandbox::new(&[("one/a.cu", &twice), ("b.py", kernel), ("two/c.cu", PROJECT)]);
    let ran = sandbox.run(&["--add-ignores=known since the first run"]);
    assert!(ran.code == 0 && ran.stderr.contains("kept quiet by comments in 3 files"), "{ran:?}");
    let a = text(&sandbox, "one/a.cu");
    assert_eq!(a.matches("// cudalint: ignore[empty-grid] known since the first run\n").count(), 1, "{a}");
    assert!(text(&sandbox, "b.py").contains("    # cudalint: ignore[shared-memory-race] known since the first run\n"));
    assert!(
        text(&sandbox, "two/c.cu").contains("\t// cudalint: ignore[unchecked-launch] known since the first run\r\n")
    );
    let ran = sandbox.run(&["--output-format", "json-lines"]);
    assert!(ran.code == 0 && ran.stdout.is_empty(), "nothing is left, and every comment is used: {ran:?}");
}

#[test]
fn a_settings_file_is_drafted_and_never_written_over() {
    let header = "#pragma once\nMYLIB_API void run(float *host, int n);\nOTHER_API void stop(int a, int b);\n#define OTHER_API\n";
    let sandbox = Sandbox::new(&[
        ("src/a.cu", &format!("#include \"a.cuh\"\n{PROJECT}")),
        ("src/a.cuh", header),
        ("third_party/x.cu", EMPTY_GRID),
        ("CMakeLists.txt", "# sm_50\nset(CMAKE_CUDA_ARCHITECTURES 80 90)\n"),
    ]);
    let printed = sandbox.run(&["init", "--print"]).stdout;
    assert!(!sandbox.path().join("cudalint.toml").exists());
    let ran = sandbox.run(&["init"]);
    let written = text(&sandbox, "cudalint.toml");
    assert!(ran.code == 0 && written == printed && ran.stderr.contains("cudalint.toml written"), "{ran:?}");
    assert!(written.contains("\narch = [\"sm_80\", \"sm_90\"]\n"), "{written}");
    assert!(written.contains("declaration-macros = [\"MYLIB_API\"]\n"), "{written}");
    assert!(written.contains("exclude = [\"third_party\"]") && written.contains("checked by `CHECK`"), "{written}");
    // It can be read.
    assert_ne!(sandbox.run(&[]).code, 2);
    let ran = sandbox.run(&["init"]);
    assert!(ran.code == 2 && ran.stderr.contains("is there already"), "{ran:?}");
    fs::remove_file(sandbox.path().join("cudalint.toml")).unwrap();
    sandbox.write("pyproject.toml", b"[tool.cudalint]\n");
    assert!(sandbox.run(&["init"]).stderr.contains("has settings of cudalint already"));
}

#[test]
fn a_watching_run_lints_again_when_something_changes() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID)]);
    let mut command = sandbox.command(&["--watch", "--output-format", "concise"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).stdin(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = |wanted: &str| {
        let line = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains(wanted)));
        assert!(line.is_some(), "{wanted}");
    };
    next("a.cu:4:");
    sandbox.write("a.cu", format!("// a line\n{EMPTY_GRID}").as_bytes());
    next("a.cu:5:");
    sandbox.write("cudalint.toml", b"[lint]\nignore = [\"empty-grid\"]\n");
    next("Found 0 errors");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn there_is_a_manual_page() {
    let sandbox = Sandbox::new(&[]);
    let page = sandbox.run(&["man"]).stdout;
    assert!(page.contains(".TH cudalint 1") && page.contains("write\\-baseline"), "{page}");
    assert!(page.contains("cudalint\\-verify(1)"), "{page}");
    let page = sandbox.run(&["man", "verify"]).stdout;
    assert!(page.contains(".TH cudalint-verify 1  \"cudalint ") && page.contains("only\\-confirmed"), "{page}");
    let ran = sandbox.run(&["man", "nothing"]);
    assert!(ran.code == 2 && ran.stderr.contains("`nothing` is no subcommand"), "{ran:?}");
}
