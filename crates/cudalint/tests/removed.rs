//! What says with which toolkit and for which devices code is compiled: settings and commands say it, build files name it.

#![allow(clippy::unwrap_used)]

mod common;

use common::Sandbox;

const OLD: &str = "#include <cuda_runtime.h>\n\
                   __global__ void share(float *v) { v[threadIdx.x] = __shfl(v[threadIdx.x], 0); }\n\
                   int main() {\n    float *v;\n    cudaMalloc(&v, 128);\n    cudaMemset(v, 0, 128);\n    \
                   share<<<1, 32>>>(v);\n    cudaThreadSynchronize();\n    cudaFree(v);\n}\n";

/// What `removed-api` says of a project, as confidences and functions.
fn told(files: &[(&str, &str)], args: &[&str]) -> Vec<String> {
    let sandbox = Sandbox::new(files);
    let args = [&["--select", "removed-api", "--output-format", "json"], args, &["."]].concat();
    let report: serde_json::Value = serde_json::from_str(&sandbox.run(&args).stdout).unwrap();
    let finding = |finding: &serde_json::Value| {
        let message = finding["message"].as_str().unwrap();
        format!("{} {}", finding["confidence"].as_str().unwrap(), message.split('`').nth(1).unwrap())
    };
    report["findings"].as_array().unwrap().iter().map(finding).collect()
}

#[test]
fn nobody_says_it() {
    assert!(told(&[("a.cu", OLD)], &[]).is_empty());
    let unnamed = ("Makefile", "NVCC = /usr/local/cuda/bin/nvcc\napp: a.cu\n\t$(NVCC) -arch=sm_$(SM) a.cu -o app\n");
    assert!(told(&[("a.cu", OLD), unnamed], &[]).is_empty());
}

#[test]
fn the_command_line_the_settings_and_the_commands_say_it() {
    assert_eq!(told(&[("a.cu", OLD)], &["--arch", "sm_80"]), ["definite __shfl"]);
    assert!(told(&[("a.cu", OLD)], &["--arch", "sm_60"]).is_empty());
    let settings = ("cudalint.toml", "[parse]\ntoolkit = \"13.1\"\n");
    assert_eq!(told(&[("a.cu", OLD), settings], &[]), ["definite cudaThreadSynchronize"]);
    let commands =
        |command: &str| format!("[{{\"directory\": \"/p\", \"file\": \"a.cu\", \"command\": \"{command}\"}}]");
    let with = |command: &str| told(&[("a.cu", OLD), ("compile_commands.json", &commands(command))], &[]);
    let both = ["definite __shfl", "definite cudaThreadSynchronize"];
    assert_eq!(with("/usr/local/cuda-13.0/bin/nvcc -gencode arch=compute_80,code=sm_80 -c a.cu"), both);
    assert_eq!(with("/usr/local/cuda-13.0/bin/nvcc -c a.cu"), both[1..]);
    assert!(with("/usr/local/cuda-12.8/bin/nvcc -gencode arch=compute_60,code=sm_70 -c a.cu").is_empty());
}

#[test]
fn build_files_name_it() {
    let makefile = "NVCC ?= /usr/local/cuda-13.0/bin/nvcc\napp: a.cu\n\t$(NVCC) -arch=sm_80 a.cu -o app\n";
    let both = ["likely __shfl", "likely cudaThreadSynchronize"];
    let with = |text: &str| told(&[("cudalint.toml", ""), ("src/a.cu", text), ("src/Makefile", makefile)], &[]);
    assert_eq!(with(OLD), both);
    // The settings know better.
    let settings = ("cudalint.toml", "arch = [\"sm_60\"]\n[parse]\ntoolkit = \"12.8\"\n");
    assert!(told(&[settings, ("src/a.cu", OLD), ("src/Makefile", makefile)], &[]).is_empty());
    // Which branch a toolkit takes is asked with the version that is taken for it where only a build file names one.
    let conditional =
        OLD.replace("    cudaThreadSynchronize();", "#if CUDART_VERSION < 13000\ncudaThreadSynchronize();\n#endif");
    assert_eq!(with(&conditional), both[..1]);
    let cmake =
        "find_package(CUDAToolkit 13.0 REQUIRED)\nset(CMAKE_CUDA_ARCHITECTURES 60 80)\nadd_executable(app a.cu)\n";
    assert_eq!(told(&[("cudalint.toml", ""), ("a.cu", OLD), ("CMakeLists.txt", cmake)], &[]), both[1..]);
}
