//! What a build leaves out, although its neighbours are built, and what is built where numbers have other sizes: *possible* only.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Sandbox, dropping, told};

/// What is told of functions that begin with a name.
fn of(name: &str, files: &[(&str, &str)]) -> Vec<String> {
    told(&Sandbox::new(files)).into_iter().filter(|it| it.starts_with(name)).collect()
}

#[test]
fn sources_whose_neighbours_are_listed_one_by_one() {
    let [a, b, c, part] = ["a", "b", "c", "part"].map(|name| format!("#include \"all.h\"\n{}", dropping(name)));
    let told = |listing: &str, root: &str, more: (&str, &str)| {
        let header = "void a(void **p);\nvoid b(void **p);\nvoid c(void **p);\nvoid part(void **p);\n";
        let main = "#include \"all.h\"\nint main() { void *p; a(&p); b(&p); c(&p); part(&p); return 0; }\n";
        let files = [
            ("gpu/all.h", header),
            ("gpu/a.cu", &*a),
            ("gpu/b.cu", &*b),
            ("gpu/c.cu", &*c),
            ("gpu/part.cu", &*part),
            ("gpu/main.cpp", main),
            ("gpu/CMakeLists.txt", listing),
            ("CMakeLists.txt", root),
            more,
        ];
        of("part", &files)
    };
    let listing = "add_library(all a.cu b.cu c.cu)\nadd_executable(app main.cpp)\n";
    // What the rest of the project's build does in folders that it names by variables says nothing of this one.
    let root = "file(GLOB_RECURSE SOURCES ${MODULE_DIR}/*.cu)\nadd_library(rest ${SOURCES})\n";
    let none = ("x.txt", "");
    assert_eq!(told(listing, root, none), ["part?"]);
    for (listing, root, more) in [
        ("add_library(all a.cu b.cu c.cu part.cu)\n", root, none),
        ("file(GLOB ALL *.cu)\nadd_library(all a.cu b.cu c.cu ${ALL})\n", root, none),
        (listing, "file(GLOB SOURCES gpu/*.cu)\nadd_library(rest ${SOURCES})\n", none),
        // Two are too few to say that all are listed.
        ("add_library(all a.cu b.cu)\n", root, none),
        (listing, root, ("README.md", "Built by hand: `nvcc gpu/part.cu`.\n")),
        (listing, root, ("gpu/use.cpp", "#include \"part.cu\"\n")),
    ] {
        assert_eq!(told(listing, root, more), ["part"], "{listing} {root} {more:?}");
    }
}

/// A build of two sources leaves little else in its folder, whether it is a makefile or a package of Python; what it takes away, packs or
/// only reads it does not make.
#[test]
fn sources_beside_a_build_of_few() {
    let main = "#include <cuda_runtime.h>\nint main() { return 0; }\n";
    let part =
        format!("#include <cuda_runtime.h>\n{}int main() {{ void *p; part(&p); return 0; }}\n", dropping("part"));
    let told = |build: (&str, &str), more: (&str, &str)| {
        of("part", &[("main.cu", main), ("matrix.cu", "void matrix() {}\n"), ("copymain.cu", &*part), build, more])
    };
    let make = "app: main.o matrix.o\n\tnvcc -o app main.o matrix.o\nmain.o: main.cu\n\tnvcc -dc main.cu\n\
                matrix.o: matrix.cu\n\tnvcc -dc matrix.cu\n";
    let none = ("x.txt", "");
    for build in [
        ("Makefile", make),
        // What makes any program of another kind makes none of this.
        ("Makefile", &*format!("{make}%: %.cpp\n\tg++ -o $@ $<\n")),
        ("Makefile", &*format!("{make}%.o: %.cu\n\tnvcc -c $<\nclean:\n\t-rm $(OBJ)/*\ndepend:\n\tmakedepend *.cu\n")),
        ("setup.py", "setup(ext_modules=[Extension('a', sources=['main.cu', 'matrix.cu'])])\n"),
    ] {
        assert_eq!(told(build, none), ["part?"], "{build:?}");
    }
    for (build, more) in [
        (("Makefile", &*format!("{make}%: %.cu\n\tnvcc -o $@ $<\n")), none),
        (("Makefile", &*format!("{make}all:\n\tnvcc *.cu\n")), none),
        (("Makefile", make), ("README.md", "The old one: `nvcc copymain.cu`.\n")),
        (("Makefile", "app: main.cu\n\tnvcc main.cu -o app\n"), ("other.cu", "void other() {}\n")),
    ] {
        assert_eq!(told(build, more), ["part"], "{build:?} {more:?}");
    }
}

/// A module of Python that neither the package's list nor a script names is a draft, although it begins a module, and although another
/// one beside it is loaded by a script. Scripts that list folders of libraries, remove files and pack headers make nothing.
#[test]
fn modules_of_python_that_no_list_names() {
    let module = format!(
        "#include <cuda_runtime.h>\n{}PYBIND11_MODULE(draft, m) {{ m.def(\"part\", &part); }}\n",
        dropping("part")
    );
    let plain = "#include <cuda_runtime.h>\nvoid own() {}\n";
    let told = |setup: &str, more: (&str, &str)| {
        let files = [
            ("csrc/a.cu", plain),
            ("csrc/b.cu", plain),
            ("csrc/c.cu", plain),
            ("csrc/d.cu", plain),
            ("csrc/bind.cpp", "PYBIND11_MODULE(all, m) {}\n"),
            ("dev/draft.cu", &*module),
            ("dev/other.cu", "#include <cuda_runtime.h>\nPYBIND11_MODULE(other, m) {}\n"),
            ("dev/load.py", "load(name='other', sources=['other.cu'])\n"),
            ("setup.py", setup),
            more,
        ];
        of("part", &files)
    };
    let list = "setup(ext_modules=[CUDAExtension('all', ['csrc/a.cu', 'csrc/b.cu', 'csrc/c.cu', 'csrc/d.cu', 'csrc/bind.cpp'])])\n";
    let none = ("x.txt", "");
    assert_eq!(told(list, none), ["part?"]);
    let walks = format!("for name in os.listdir(root): include.append(name)\n{list}");
    assert_eq!(told(&walks, none), ["part?"]);
    assert_eq!(told(list, ("Makefile", "clean:\n\tfind . -type f -name \"*.pyc\" -delete\n")), ["part?"]);
    assert_eq!(told(list, ("MANIFEST.in", "recursive-include dev *.cu\n")), ["part?"]);
    assert_eq!(told(list, ("pyproject.toml", "[tool.coverage.run]\nomit = [\"*/tests/*\"]\n")), ["part?"]);
    assert_eq!(told(list, ("dev/bench.py", "load(name='draft', sources=['draft.cu'])\n")), ["part"]);
    assert_eq!(told(&format!("ALL = glob.glob('dev/*.cu')\n{list}"), none), ["part"]);
}

/// Where a build names all sources of a program, another `main` beside its own is in no program, and calls nothing.
#[test]
fn functions_that_only_a_shelved_program_calls() {
    let tool = format!("#include \"tool.h\"\n{}{}", dropping("part"), dropping("other"));
    let main = |called: &str| format!("#include \"tool.h\"\nint main() {{ void *p; {called}(&p); return 0; }}\n");
    let shelved = format!("#include <cuda_runtime.h>\n{}", main("part"));
    let told = |build: &str, shelved: (&str, &str), more: (&str, &str)| {
        let files = [
            ("src/tool.h", "void part(void **p);\nvoid other(void **p);\n"),
            ("src/tool.cu", &*tool),
            ("src/main.cpp", &*main("other")),
            ("src/colours.cpp", "int colours() { return 1; }\n"),
            ("src/shapes.cpp", "int shapes() { return 1; }\n"),
            ("CMakeLists.txt", build),
            shelved,
            more,
        ];
        of("part", &files)
    };
    let build = "project(app LANGUAGES CXX CUDA)\nadd_executable(app src/main.cpp src/colours.cpp src/shapes.cpp src/tool.cu)\n";
    let (plain, none) = (main("part"), ("x.txt", ""));
    let old = ("src/main - old.cpp", &*plain);
    for shelved in [old, ("src/main_old.cpp", &*shelved)] {
        assert_eq!(told(build, shelved, none), ["part?"], "{shelved:?}");
    }
    for (build, shelved, more) in [
        (&*format!("{build}add_executable(old \"src/main - old.cpp\" src/tool.cu)\n"), old, none),
        (&*format!("{build}file(GLOB OLD src/main*.cpp)\nadd_executable(old ${{OLD}})\n"), old, none),
        ("project(app LANGUAGES CXX CUDA)\nadd_executable(app src/main.cpp src/tool.cu)\n", old, none),
        (build, old, ("README.md", "The old one is made from `src/main - old.cpp` by hand.\n")),
    ] {
        assert_eq!(told(build, shelved, more), ["part"], "{build} {shelved:?} {more:?}");
    }
}

/// A makefile that makes `solver.o` of a later file speaks of that one.
#[test]
fn sources_whose_object_another_one_makes() {
    let part =
        format!("#include <cuda_runtime.h>\n{}int main() {{ void *p; part(&p); return 0; }}\n", dropping("part"));
    let told = |more: &str| {
        let build = format!("app: solver.o\n\tnvcc -o $@ $<\nsolver.o: src/solver_new.cu\n\tnvcc -c $< -o $@\n{more}");
        let later = "#include <cuda_runtime.h>\nint main() { return 0; }\n";
        of("part", &[("src/solver.cu", &*part), ("src/solver_new.cu", later), ("Makefile", &*build)])
    };
    assert_eq!(told(""), ["part?"]);
    assert_eq!(told("old: src/solver.cu\n\tnvcc -o $@ $<\n"), ["part"]);
}

/// A build that makes `matrix.cpp` of its own folder makes no `matrix.cu` of another.
#[test]
fn sources_of_another_kind_with_one_name() {
    let part = format!("#include <cuda_runtime.h>\n{}", dropping("part"));
    let told = |build: &str, other: &str| {
        let files = [
            ("serial/Makefile", build),
            ("serial/main.cpp", "void part(void **p);\nint main() { void *p; part(&p); return 0; }\n"),
            ("serial/matrix.cpp", "void matrix() {}\n"),
            ("serial/utils/data.cpp", "void data() {}\n"),
            ("serial/utils/matrix.cu", &*part),
            ("gpu/Makefile", other),
            ("gpu/main.cu", "int main() { return 0; }\n"),
            ("gpu/matrix.cu", "void matrix() {}\n"),
            ("gpu/utils/data.cpp", "void data() {}\n"),
        ];
        of("part", &files)
    };
    let serial = "app: main.cpp matrix.cpp utils/data.cpp\n\tg++ -o app main.cpp matrix.cpp utils/data.cpp\n";
    let gpu = "app: main.cu matrix.cu utils/data.cpp\n\tnvcc -o app main.cu matrix.cu utils/data.cpp\n";
    assert_eq!(told(serial, gpu), ["part?"]);
    assert_eq!(told(&serial.replace("utils/data.cpp", "utils/data.cpp utils/matrix.cu"), gpu), ["part"]);
    assert_eq!(told(serial, &gpu.replace("utils/data.cpp", "../serial/utils/matrix.cu")), ["part"]);
}

#[test]
fn headers_with_longer_and_with_equal_names() {
    let header =
        |name: &str| format!("#pragma once\n#include <cuda_runtime.h>\n{}", dropping(&format!("inline {name}")));
    let (long, short) = (header("long_one"), header("short_one"));
    let main = "#include \"solver-5-L.cuh\"\nint main() { void *p; long_one(&p); return 0; }\n";
    let build = "add_library(gpu STATIC solver-5-L.cuh)\nadd_executable(app main.cu solver-5-L.cuh)\n";
    let files = [("solver-5-L.cuh", &*long), ("solver-5.cuh", &*short), ("main.cu", main), ("CMakeLists.txt", build)];
    assert_eq!(of("short", &files), ["short_one?"]);
    assert_eq!(of("long", &files), ["long_one"]);
    // A build that names one header names none that is kept under the same name.
    let kept = "add_executable(app main.cu src/array.h)\nset(CMAKE_CXX_FLAGS -Wno-deprecated-copy)\n";
    let main = "#include \"src/array.h\"\nint main() { void *p; long_one(&p); return 0; }\n";
    let files = [("src/array.h", &*long), ("deprecated/array.h", &*short), ("main.cu", main), ("CMakeLists.txt", kept)];
    assert_eq!(of("short", &files), ["short_one?"]);
    let built = kept.replace("src/array.h)", "src/array.h deprecated/array.h)");
    let files =
        [("src/array.h", &*long), ("deprecated/array.h", &*short), ("main.cu", main), ("CMakeLists.txt", &built)];
    assert_eq!(of("short", &files), ["short_one"]);
}

/// The confidences of what one rule says of a project.
fn confidences(rule: &str, files: &[(&str, &str)]) -> Vec<String> {
    let args = ["--select", rule, "--min-confidence", "possible", "--output-format", "json", "."];
    let report: serde_json::Value = serde_json::from_str(&Sandbox::new(files).run(&args).stdout).unwrap();
    let all = report["findings"].as_array().unwrap();
    all.iter().map(|finding| finding["confidence"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn long_where_only_windows_builds() {
    let text = "#include \"all.h\"\n__constant__ int size[1];\nvoid set(unsigned n) {\n    \
                cudaMemcpyToSymbol(size, &n, sizeof(unsigned long));\n}\nint main() { set(1); return 0; }\n";
    let told = |header: &str, text: &str| confidences("copy-exceeds-allocation", &[("a.cu", text), ("all.h", header)]);
    assert_eq!(told("#pragma once\n", text), ["definite"]);
    assert_eq!(told("#pragma once\n#include <Windows.h>\n", text), ["possible"]);
    assert_eq!(told("#pragma once\n#ifdef _WIN32\n#include <windows.h>\n#endif\n", text), ["definite"]);
    assert_eq!(told("#pragma once\n#include <tchar.h>\n", &text.replace("unsigned long", "long long")), ["definite"]);
    // No race hangs on it.
    let race = "#include <windows.h>\n__global__ void k(long *out) {\n    __shared__ long s[64];\n    s[threadIdx.x] = (long)threadIdx.x;\n    \
                out[threadIdx.x] = (long)s[63 - threadIdx.x];\n}\n\
                int main() { long *d; if (cudaMalloc(&d, 512)) return 1; k<<<1, 64>>>(d); return cudaDeviceSynchronize(); }\n";
    assert_eq!(confidences("shared-memory-race", &[("a.cu", race)]), ["definite"]);
}

#[test]
fn kernels_that_a_program_in_another_language_launches() {
    let kernel = "extern \"C\" __global__ void lut(const int *in, int *out) {\n    __shared__ int count[13];\n    int lane = threadIdx.x;\n    \
                  if (lane < 13) count[lane] = in[lane];\n    __syncwarp();\n    for (int i = lane; i < 64; i += 32) out[i] = count[i % 13];\n}\n";
    let told = |more: (&str, &str)| confidences("shared-memory-race", &[("lut.cu", kernel), more]);
    assert_eq!(told(("x.txt", "")), ["likely"]);
    assert_eq!(told(("src/run.zig", "launch(module.get(\"lut\"), 1, 1, 1, 32, 1, 1);\n")), ["possible"]);
    // A word is no name yet.
    assert_eq!(told(("src/run.zig", "const lut = 4;\n")), ["likely"]);
    assert_eq!(told(("build.sh", "echo lut\n")), ["likely"]);
}

/// A build means the file beside it, and says nothing of another one with its name.
#[test]
fn sources_with_the_name_of_one_that_another_folder_builds() {
    let [a, b, c] = ["a", "b", "c"].map(|name| format!("#include \"all.h\"\n{}", dropping(name)));
    let part = format!("#include \"all.h\"\n{}", dropping("part"));
    let header = "void a(void **p);\nvoid b(void **p);\nvoid c(void **p);\nvoid part(void **p);\n";
    let main = "#include \"all.h\"\nint main() { void *p; a(&p); b(&p); c(&p); part(&p); return 0; }\n";
    let told = |other: &str, own: &str| {
        let build = "app: main.cpp a.cu b.cu c.cu\n\tnvcc $^ -o app\n";
        let files = [
            ("src/all.h", header),
            ("src/a.cu", &*a),
            ("src/b.cu", &*b),
            ("src/c.cu", &*c),
            ("src/part.cu", &*part),
            ("src/main.cpp", main),
            ("src/makefile", build),
            (own, "int two;\n"),
            ("tools/makefile", other),
        ];
        of("part", &files)
    };
    let own = "tools/part.cu";
    assert_eq!(told("part.o: part.cu\n\tnvcc -c part.cu -o ../tmp/part.o\n", own), ["part?"]);
    for other in [
        "part.o: part.cu\n\tnvcc -c ../src/part.cu -o ../tmp/part.o\n",
        "part.o: part.cu\n\tnvcc -c ..\\src\\part.cu\n",
        "part.o: $(DIR)/part.cu\n\tnvcc -c $<\n",
        "vpath %.cu $(DIR)\npart.o: part.cu\n\tnvcc -c $<\n",
    ] {
        assert_eq!(told(other, own), ["part"], "{other}");
    }
    // Where none lies beside it, the build may mean any.
    assert_eq!(told("part.o: part.cu\n\tnvcc -c part.cu -o ../tmp/part.o\n", "tools/one.cu"), ["part"]);
}

/// The list of a whole program has all of its parts, however many files lie around it; copies in a folder below have the names of parts.
#[test]
fn sources_around_the_list_of_a_whole_program() {
    let [a, b, c, part] = ["a", "b", "c", "part"].map(|name| format!("#include \"all.h\"\n{}", dropping(name)));
    let header = "void a(void **p);\nvoid b(void **p);\nvoid c(void **p);\nvoid part(void **p);\n";
    let main = "#include \"all.h\"\nint main() { void *p; a(&p); b(&p); c(&p); part(&p); return 0; }\n";
    let told = |objects: &str, more: &[(&str, &str)]| {
        let makefile = format!("app: {objects}\n\tnvcc $^ -o app\n%.o: %.cu\n\tnvcc -c $<\n");
        let own = [("all.h", header), ("a.cu", &*a), ("b.cu", &*b), ("c.cu", &*c), ("main.cu", main)];
        let rest: Vec<(String, &str)> =
            (0..9).map(|at| (format!("left{at}.cu"), "#include <cuda_runtime.h>\n")).collect();
        let rest: Vec<(&str, &str)> = rest.iter().map(|(name, text)| (&**name, *text)).collect();
        of("part", &[&own, &*rest, &[("Makefile", &*makefile)], more].concat())
    };
    let objects = "main.o a.o b.o c.o";
    assert_eq!(told(objects, &[("part.cu", &part)]), ["part?"]);
    assert_eq!(told(&format!("{objects} part.o"), &[("part.cu", &part)]), ["part"]);
    // Without a program of its own it may be the list of a part.
    assert_eq!(told("a.o b.o c.o", &[("part.cu", &part)]), ["part"]);
    assert_eq!(told(objects, &[("part.cu", &part), ("README.md", "Try `nvcc part.cu`.\n")]), ["part"]);
    // A copy below.
    let below = format!("{objects} part.o");
    let copies = [("part.cu", "int two;\n"), ("back/part.cu", &*part), ("back/all.h", header)];
    assert_eq!(told(&below, &copies), ["part?"]);
    assert_eq!(told(&below, &[("back/part.cu", &part), ("back/all.h", header)]), ["part"]);
    assert_eq!(told(&format!("{below} back/part.o"), &copies), ["part"]);
}

/// A makefile that names sources by a way which leads nowhere, but would in another folder, was copied from there.
#[test]
fn makefiles_that_lie_where_they_cannot_work() {
    let part =
        format!("#include <cuda_runtime.h>\n{}int main() {{ void *p; part(&p); return 0; }}\n", dropping("part"));
    let told = |makefile: &str, more: &[(&str, &str)]| {
        let files = [
            ("kept/part.cu", &*part),
            ("kept/makefile", makefile),
            ("src/control/modes.cpp", "int modes;\n"),
            ("src/main.cu", "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return 0; }\n"),
            ("src/makefile", "app: main.cu control/modes.cpp\n\tnvcc $^ -o app\n"),
        ];
        of("part", &[&files, more].concat())
    };
    let none = ("x.txt", "");
    for makefile in [
        "run: part.cu control\\modes.cpp\n\tnvcc part.cu control\\modes.cpp -o run\n",
        "run: part.cu ./control/modes.cpp\n\tnvcc $^ -o run\n",
    ] {
        assert_eq!(told(makefile, &[none]), ["part?"], "{makefile}");
    }
    let makefile = "run: part.cu control/modes.cpp\n\tnvcc $^ -o run\n";
    for (makefile, more) in [
        (makefile, ("kept/control/modes.cpp", "int modes;\n")),
        // Called from the folder above.
        (makefile, ("control/modes.cpp", "int modes;\n")),
        (makefile, ("run.sh", "make -f ../kept/makefile\n")),
        (makefile, ("README.md", "Build `kept/part.cu` with nvcc.\n")),
        ("run: part.cu control/other.cpp\n\tnvcc $^ -o run\n", none),
        ("run: part.cu $(SRC)/control/modes.cpp\n\tnvcc $^ -o run\n", none),
        ("run: part.cu ../src/control/modes.cpp\n\tnvcc $^ -o run\n", none),
        ("run: part.cu\n\tcd ../src; nvcc ../kept/part.cu control/modes.cpp -o run\n", none),
        ("run: part.cu\n\tnvcc $^ -o run\n# control/modes.cpp\n", none),
    ] {
        assert_eq!(told(makefile, &[more]), ["part"], "{makefile} {more:?}");
    }
}

/// What is commented out includes nothing.
#[test]
fn headers_that_only_a_comment_includes() {
    let header = format!("#pragma once\n#include <cuda_runtime.h>\n{}", dropping("inline old"));
    let told = |include: &str, more: &[(&str, &str)]| {
        let main = format!("{include}\n__global__ void k() {{}}\nint main() {{ k<<<1, 1>>>(); return 0; }}\n");
        let user = ("user.cpp", "void old(void **p);\nvoid use(void **p) { old(p); }\n");
        of("old", &[more, &[("main.cu", &*main), ("old.cuh", &*header), user]].concat())
    };
    let none = ("x.txt", "");
    assert_eq!(told("//#include \"old.cuh\"", &[none]), ["old?"]);
    assert_eq!(told("/*\n#include \"old.cuh\"\n*/", &[("a.cpp", "// See old.cuh.\n")]), ["old?"]);
    assert_eq!(told("#include \"old.cuh\"", &[none]), ["old"]);
    assert_eq!(told("#define OLD \"old.cuh\"\n#include OLD", &[none]), ["old"]);
    assert_eq!(told("//#include \"old.cuh\"", &[("a.cpp", "#include \"old.cuh\"\n")]), ["old"]);
    assert_eq!(told("//#include \"old.cuh\"", &[("README.md", "Include `old.cuh`.\n")]), ["old"]);
}

/// Code for a GPU beside its headers, of which one is not there.
#[test]
fn sources_without_one_of_their_own_headers() {
    let told = |lost: &str, more: &[(&str, &str)]| {
        let header = format!("#pragma once\n#include \"sizes.cuh\"\n{lost}\n");
        let part = format!("#include <cuda_runtime.h>\n#include \"part.cuh\"\n{}", dropping("part"));
        let main = "#include <cuda_runtime.h>\nvoid part(void **p);\nint main() { void *p; part(&p); return 0; }\n";
        let own = [("sizes.cuh", "#define N 4\n"), ("part.cuh", &*header), ("part.cu", &*part), ("main.cu", main)];
        of("part", &[&own, more].concat())
    };
    assert_eq!(told("#include \"kernels.cuh\"", &[]), ["part?"]);
    assert_eq!(told("", &[]), ["part"]);
    for (lost, more) in [
        ("#include \"kernels.cuh\"", ("kernels.cuh", "#define M 4\n")),
        ("#include \"kernels.cuh\"", ("gpu/kernels.cuh", "#define M 4\n")),
        ("#include \"kernels.cuh\"", (".gitmodules", "[submodule \"gpu\"]\n")),
        ("#include \"kernels.cuh\"", ("CMakeLists.txt", "configure_file(k.in kernels.cuh)\n")),
        ("#include \"helper_cuda.cuh\"", ("x.txt", "")),
        ("#include \"gpu/kernels.cuh\"", ("x.txt", "")),
        ("#include <kernels.cuh>", ("x.txt", "")),
        ("#ifdef MORE\n#include \"kernels.cuh\"\n#endif", ("x.txt", "")),
    ] {
        assert_eq!(told(lost, &[more]), ["part"], "{lost} {more:?}");
    }
}

/// A folder that `CMake` adds in a comment alone is not built; one that is a project by itself may be.
#[test]
fn folders_that_cmake_has_taken_out() {
    let part = format!("{}int main() {{ void *p; extra(&p); }}\n", dropping("extra"));
    let told = |root: &str, own: &str| {
        let files = [
            ("CMakeLists.txt", root),
            ("main.cu", "int main() { return 0; }\n"),
            ("tools/extra/CMakeLists.txt", own),
            ("tools/extra/extra.cu", &*part),
        ];
        let mut all = told(&Sandbox::new(&files));
        all.retain(|name| name.starts_with("extra"));
        all
    };
    let own = "add_executable(extra extra.cu)\n";
    let added = "add_executable(app main.cu)\nadd_subdirectory(tools/extra)\n";
    let commented = "add_executable(app main.cu)\n# add_subdirectory(tools/extra)\n";
    assert_eq!(told(added, own), ["extra"]);
    assert_eq!(told(commented, own), ["extra?"]);
    assert_eq!(told("# add_subdirectory(\"${TOOLS}/extra\")\nadd_subdirectory(${TOOLS}/other)\n", own), ["extra?"]);
    assert_eq!(told(commented, &format!("project(extra)\n{own}")), ["extra"]);
    assert_eq!(told(&format!("{commented}add_subdirectory(${{FOLDER}})\n"), own), ["extra"]);
    assert_eq!(told(&format!("{added}{commented}"), own), ["extra"]);
}
