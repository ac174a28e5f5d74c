//! Which dialect of CUDA C++ a module is written in, as far as that changes what is right.

use crate::Project;
use crate::api::{ApiId, End};
use crate::ir::{Expr, ModuleId};
use crate::project::is_below;
use cudalint_syntax::Language;
use memchr::memmem::find;

/// Directives that run loops on the device or give its addresses, and headers of dialects in which both sides share the heap.
const SHARING: [&str; 9] = [
    "pragma acc",
    "pragma omp target",
    "pragma omp requires",
    "use_device_ptr",
    "use_device_addr",
    "<openacc.h>",
    "<sycl/",
    "<CL/sycl",
    "_NVHPC_STDPAR",
];

/// Calls of functions of a whole warp that have no mask.
const WITHOUT_MASK: [&str; 7] =
    ["__shfl(", "__shfl_down(", "__shfl_up(", "__shfl_xor(", "__ballot(", "__any(", "__all("];

/// The first compute capability of which lanes have a program counter each.
const VOLTA: u8 = 70;

impl Project {
    /// Whether a module calls a function of CUDA that compilers refuse for `sm_70` and later: it is built for older devices alone.
    pub(crate) fn calls_what_is_gone(&self, id: ModuleId) -> bool {
        let (module, text) = (self.module(id), self.source(id).as_bytes());
        if self.is_for_hip(id) || WITHOUT_MASK.iter().all(|call| find(text, call.as_bytes()).is_none()) {
            return false;
        }
        module.exprs.iter().any(|node| {
            let Expr::Call { callee, .. } = &node.kind else { return false };
            let Some(Expr::Name { path, .. }) = module.exprs.get(*callee).map(|callee| &callee.kind) else {
                return false;
            };
            let Some(name) = path.last().filter(|_| path.segments.len() == 1 && node.expansion.is_none()) else {
                return false;
            };
            let ends = ApiId::named(name).and_then(|api| api.until).map(|until| until.end);
            ends == Some(End::Architecture(VOLTA))
                && self.functions_named(name).is_empty()
                && !self.has_macro(id, name)
                && module.supposed.iter().all(|branch| !branch.span.contains(node.span))
        })
    }

    /// Whether AMD's compiler builds a module: it says so itself, or, where it includes nothing of CUDA, a file that it includes or
    /// that includes it says so. Wavefronts have 32 or 64 lanes there.
    pub fn is_for_hip(&self, id: ModuleId) -> bool {
        let of_cuda = |file: u32| self.module(ModuleId(file)).includes.iter().any(|it| it.target.starts_with("cuda"));
        let for_hip = |file: &u32| self.module(ModuleId(*file)).for_hip;
        if !self.has_hip || for_hip(&id.0) {
            return self.has_hip;
        }
        let reach = self.includes().reach(id.0);
        let near = || reach.included.iter().chain(reach.context.iter());
        !of_cuda(id.0) && near().any(for_hip) && !near().any(|file| of_cuda(*file))
    }

    /// Whether memory of the host's heap may be the device's, too, in a module: `OpenACC`, `OpenMP` for devices, SYCL, standard
    /// algorithms that run in parallel, and flags of the build. AMD's devices reach the heap where the system lets them.
    pub fn may_share_heap(&self, id: ModuleId) -> bool {
        let text = self.source(id).as_bytes();
        let has = |mark: &str| find(text, mark.as_bytes()).is_some();
        let module = self.module(id);
        let is_parallel = || has("execution::par") && !module.functions.iter().any(|function| function.space.global);
        let built_so = |folder: &String| is_below(self.path(id), folder);
        module.language == Language::Cuda
            && (self.is_for_hip(id)
                || self.sharing_folders.iter().any(built_so)
                || SHARING.iter().any(|mark| has(mark))
                || is_parallel())
    }
}

/// A text that names functions of CUDA with the names that HIP has for them.
pub fn in_words_of_hip(text: &mut String) {
    if !text.contains("cuda") && !text.contains("CUDA") {
        return;
    }
    let words = |letter: char| !(letter.is_ascii_alphanumeric() || letter == '_');
    let changed = text.split_inclusive(words).map(|part| {
        let word = part.trim_end_matches(words);
        match word.strip_prefix("cuda") {
            Some(rest)
                if ApiId::named(&format!("hip{rest}")).is_some()
                    || crate::api::constant(&format!("hip{rest}")).is_some() =>
            {
                format!("hip{}", &part["cuda".len()..])
            }
            _ if word == "CUDA" => part.replacen("CUDA", "HIP", 1),
            _ => part.to_owned(),
        }
    });
    *text = changed.collect();
}

#[cfg(test)]
mod tests {
    use super::in_words_of_hip;

    #[test]
    fn functions_have_the_names_of_hip() {
        let mut text = "2 CUDA calls, first `cudaMalloc`; read `cudaGetLastError()`, not `cudaMine` of cuda".to_owned();
        in_words_of_hip(&mut text);
        assert_eq!(text, "2 HIP calls, first `hipMalloc`; read `hipGetLastError()`, not `cudaMine` of cuda");
    }
}
