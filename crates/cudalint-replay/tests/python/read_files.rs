//! Programs in CUDA C++ that a script reads from a file.

use crate::support::files;

const KERNEL: &str = r#"
extern "C" __global__ void add(float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] += b[i];
}
"#;

const SCRIPT: &str = "
import os
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pathlib import Path
from pycuda.compiler import SourceModule
SOURCE
add = SourceModule(src).get_function('add')
a, b = drv.mem_alloc(4000), drv.mem_alloc(4000)
add(a, b, np.int32(1000), block=(256, 1, 1), grid=(4, 1))
";

/// Whether the kernel of a file is executed with the launch of a script that reads its program so.
fn is_read(script: &str, kernel: &str, source: &str) -> bool {
    let text = SCRIPT.replace("SOURCE", source);
    let seen = files(&[(script, &text), (kernel, KERNEL)]);
    let told = seen.told();
    assert_eq!(told.len(), 1, "{told:?}");
    seen.launches().iter().all(|launch| launch.kernel.is_some())
}

#[test]
fn a_file_is_read_by_its_path() {
    for source in [
        "src = open('kernels/k.cu').read()",
        "with open('kernels/k.cu', 'r') as f:\n    src = f.read()",
        "src = open(os.path.join(os.path.dirname(__file__), 'kernels', 'k.cu')).read()",
        "here = os.path.dirname(os.path.abspath(__file__))\nsrc = open(here + '/kernels/k.cu').read()",
        "src = open(f'{os.getcwd()}/kernels/k.cu', mode='r').read()",
        "src = (Path(__file__).parent / 'kernels' / 'k.cu').read_text()",
        "src = Path(__file__).resolve().parent.joinpath('kernels/k.cu').read_text()",
        "with (Path('kernels') / 'k.cu').open() as f:\n    src = f.read()",
        "def load(name):\n    with open('kernels/' + name + '.cu') as f:\n        return f.read()\nsrc = load('k')",
        "class Source:\n    def __init__(self, path):\n        with open(path) as f:\n            self.text = f.read()\nsrc = Source('kernels/k.cu').text",
        "src = open('kernels/k.cu', 'rb').read().decode('utf-8')",
    ] {
        assert!(is_read("a.py", "kernels/k.cu", source), "{source}");
    }
}

#[test]
fn the_folder_of_the_run_is_one_around_the_script() {
    let source = "src = open('kernels/k.cu').read()";
    assert!(is_read("app/a.py", "app/kernels/k.cu", source));
    assert!(is_read("app/a.py", "kernels/k.cu", source));
    assert!(is_read("app/a.py", "kernels/k.cu", "src = open('../kernels/k.cu').read()"));
    // Nowhere around, but there is only one.
    assert!(is_read("app/a.py", "lib/kernels/k.cu", source));
    let text = SCRIPT.replace("SOURCE", source);
    let seen = files(&[("app/a.py", &text), ("lib/kernels/k.cu", KERNEL), ("old/kernels/k.cu", KERNEL)]);
    assert!(seen.launches()[0].kernel.is_none());
}

#[test]
fn what_is_not_the_file_as_it_lies_there_is_not_read() {
    for source in [
        // The rest of the name is not known.
        "src = open(os.environ['KIND'] + 'k.cu').read()",
        "src = open('/opt/kernels/k.cu').read()",
        "src = open('kernels/other.cu').read()",
        "src = open('kernels/k.cu', 'w+').read()",
        "src = open('kernels/k.cu').read().replace('float', 'double')",
        "src = '#define T float\\n' + open('kernels/k.cu').read()",
    ] {
        assert!(!is_read("a.py", "kernels/k.cu", source), "{source}");
    }
}

#[test]
fn options_that_choose_a_branch() {
    let kernel = KERNEL.replace("a[i] += b[i];", "\n#ifdef GUARD\nif (i < n)\n#endif\na[i] += b[i];");
    let with = |options: &str| {
        let text = SCRIPT.replace("SOURCE", "src = open('k.cu').read()").replace("(src)", &format!("(src{options})"));
        let seen = files(&[("a.py", &text), ("k.cu", &kernel)]);
        seen.launches()[0].kernel.is_some()
    };
    assert!(with(""));
    assert!(with(", options=['-O3']"));
    assert!(!with(", options=['-DGUARD']"));
    assert!(!with(", options=os.environ['FLAGS'].split()"));
}
