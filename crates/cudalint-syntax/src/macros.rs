//! What the macros of a project stand for, as far as the mask must know: attributes, namespaces, pragmas, or code.

use crate::defines::Define;
use crate::keywords::{Group, W, lookup};
use crate::lexer::{Kind, Lexer, Step, code, is_word_byte};
use crate::mask::SpaceBits;
use rustc_hash::FxHashMap;

/// Macro definitions of all files of a project, classified.
#[derive(Clone, Debug, Default)]
pub struct MacroTable {
    classes: FxHashMap<Box<[u8]>, Class>,
    shapes: Shapes,
}

/// What the names of a table look like: most others are told from them without a look at the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shapes(Vec<u64>);

impl Shapes {
    /// Of some names; `bits` is a power of two.
    pub fn of<'n>(names: impl Iterator<Item = &'n Box<[u8]>>, bits: usize) -> Self {
        let mut shapes = Self(vec![0; bits.div_ceil(64)]);
        for name in names {
            let (word, bit) = shapes.place(name);
            if let Some(word) = shapes.0.get_mut(word) {
                *word |= 1 << bit;
            }
        }
        shapes
    }

    /// Whether one of the names may be this one.
    pub fn may_have(&self, name: &[u8]) -> bool {
        let (word, bit) = self.place(name);
        self.0.get(word).is_some_and(|word| word >> bit & 1 != 0)
    }

    fn place(&self, name: &[u8]) -> (usize, usize) {
        let [first, last] = [name.first(), name.last()].map(|byte| byte.map_or(0, |byte| usize::from(*byte)));
        let shape = first * 509 + last * 31 + name.len() * 7;
        ((shape / 64) & self.0.len().wrapping_sub(1), shape % 64)
    }
}

/// What a macro's body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Nothing but attribute words: may be overlaid or blanked. `call` says whether it takes arguments.
    Attribute { bits: SpaceBits, call: bool },
    /// Attribute words and a type: stays as the type, but the words count.
    Typed { bits: SpaceBits },
    /// A pragma operator.
    Pragma { call: bool },
    /// Opens or closes namespaces or `extern "C"` blocks.
    Namespace { call: bool },
    /// The configuration of a launch: `<<< grid, block >>>`, of its parameters in their order.
    Launch,
    /// Function-like code that must stay in the tree.
    Call,
    /// Object-like statements that bring their own `;`.
    Statements,
    /// Other object-like code that must stay in the tree.
    Other,
}

/// Well-known attribute macros of libraries whose headers are often not among the files given. `h` host, `d` device,
/// `g` kernel, `p` pragma, `n` namespace, `-` nothing that matters here, `l` launch bounds.
const KNOWN: &str = "
    CUTLASS_HOST_DEVICE:hd CUTLASS_DEVICE:d CUTLASS_GLOBAL:g CUTE_HOST_DEVICE:hd CUTE_DEVICE:d CUTE_HOST:h
    CUTLASS_PRAGMA_UNROLL:p CUTLASS_PRAGMA_NO_UNROLL:p CUTE_UNROLL:p CUTE_NO_UNROLL:p CUTLASS_GRID_CONSTANT:-
    CUTLASS_CONSTEXPR_IF_CXX17:- CUTE_GRID_CONSTANT:-
    C10_HOST_DEVICE:hd C10_DEVICE:d C10_HOST:h C10_LAUNCH_BOUNDS_0:- C10_LAUNCH_BOUNDS_1:l C10_LAUNCH_BOUNDS_2:l
    C10_API:- C10_CUDA_API:- C10_EXPORT:- C10_ALWAYS_INLINE:- C10_UNUSED:- C10_RESTRICT:- C10_NOINLINE:-
    GPU_LAMBDA:hd TORCH_API:- TORCH_CUDA_CU_API:- TORCH_CUDA_CPP_API:- TORCH_CUDA_API:-
    CUDF_KERNEL:g CUDF_HOST_DEVICE:hd CUDF_EXPORT:- RAFT_KERNEL:g RAFT_DEVICE_INLINE_FUNCTION:d RAFT_INLINE_FUNCTION:hd
    HDI:hd XGBOOST_DEVICE:hd EIGEN_DEVICE_FUNC:hd EIGEN_STRONG_INLINE:- EIGEN_ALWAYS_INLINE:-
    _CCCL_HOST_DEVICE:hd _CCCL_DEVICE:d _CCCL_HOST:h _CCCL_FORCEINLINE:- _CCCL_API:hd _CCCL_DEVICE_API:d
    _CCCL_HOST_API:h _CCCL_HIDE_FROM_ABI:- _CCCL_VISIBILITY_HIDDEN:- _CCCL_EXEC_CHECK_DISABLE:p
    _CCCL_PRAGMA_UNROLL_FULL:p CUB_RUNTIME_FUNCTION:hd CUB_DETAIL_KERNEL_ATTRIBUTES:g CCCL_DETAIL_KERNEL_ATTRIBUTES:g
    CUB_NAMESPACE_BEGIN:n CUB_NAMESPACE_END:n THRUST_NAMESPACE_BEGIN:n THRUST_NAMESPACE_END:n
    THRUST_RUNTIME_FUNCTION:hd THRUST_HOST_DEVICE:hd THRUST_FUNCTION:hd CUB_PRAGMA_UNROLL:p
    KOKKOS_FUNCTION:hd KOKKOS_INLINE_FUNCTION:hd KOKKOS_FORCEINLINE_FUNCTION:hd AMREX_GPU_HOST_DEVICE:hd
    AMREX_GPU_DEVICE:d AMREX_GPU_HOST:h AMREX_GPU_GLOBAL:g AMREX_FORCE_INLINE:- RAJA_HOST_DEVICE:hd RAJA_DEVICE:d
    TCNN_HOST_DEVICE:hd TCNN_NAMESPACE_BEGIN:n TCNN_NAMESPACE_END:n TCNN_PRAGMA_UNROLL:p
    PYBIND11_EXPORT:- CUDA_CALLABLE_MEMBER:hd CUDA_CALLABLE:hd
    __CUDA_HOSTDEVICE__:hd __CUDA_HOSTDEVICE_FP16_DECL__:hd __CUDA_FP16_DECL__:d __CUDA_BF16_DECL__:d
    HOSTDEVICE:hd HOST_DEVICE:hd DEVICE_FUNC:d CUDAAPI:- CUFFTAPI:- CUBLASWINAPI:- CUDARTAPI:- CURANDAPI:- NPPAPI:-
    WINAPI:- APIENTRY:- CALLBACK:- DLLEXPORT:- DLL_EXPORT:- EXPORT:- STDCALL:- __host_device__:hd __hostdevice__:hd
    BOOST_FORCEINLINE:- FMT_CONSTEXPR:- MXNET_CUDA_KERNEL:g XPU_KERNEL:g QUDA_HOST_DEVICE:hd";

fn known_class(flags: &str) -> Class {
    if flags.contains('n') {
        return Class::Namespace { call: false };
    }
    if flags.contains('p') {
        return Class::Pragma { call: false };
    }
    let mut bits = SpaceBits::default();
    for flag in flags.chars() {
        bits.0 |= match flag {
            'g' => SpaceBits::GLOBAL.0,
            'd' => SpaceBits::DEVICE.0,
            'h' => SpaceBits::HOST.0,
            'l' => SpaceBits::LAUNCH_BOUNDS.0,
            _ => 0,
        };
    }
    Class::Attribute { bits, call: flags.contains('l') }
}

impl MacroTable {
    /// Builds the table from the definitions of all files. `declaration_macros` are names that the user says stand for
    /// nothing the grammar should see.
    ///
    /// All definitions of a name must agree, else the name is taken for code.
    pub fn build<'d>(defines: impl IntoIterator<Item = &'d Define>, declaration_macros: &[String]) -> Self {
        let mut by_name: FxHashMap<&str, Vec<&Define>> = FxHashMap::default();
        for define in defines {
            by_name.entry(&define.name).or_default().push(define);
        }
        let mut table = Self::default();
        for entry in KNOWN.split_ascii_whitespace() {
            if let Some((name, flags)) = entry.split_once(':') {
                table.classes.insert(name.as_bytes().into(), known_class(flags));
            }
        }
        table.settle(&by_name);
        for name in declaration_macros {
            let class = Class::Attribute { bits: SpaceBits::default(), call: true };
            table.classes.insert(name.as_bytes().into(), class);
        }
        table.shapes = Shapes::of(table.classes.keys(), 1 << 16);
        table
    }

    /// Classifies to a fixed point: a macro of macros becomes known once those are.
    fn settle(&mut self, by_name: &FxHashMap<&str, Vec<&Define>>) {
        let mut open: Vec<&str> = by_name.keys().copied().filter(|name| lookup(name.as_bytes()) == W::Plain).collect();
        for name in &open {
            self.classes.remove(name.as_bytes());
        }
        // Chains of attribute macros are short; what is not settled after eight rounds is code.
        for _ in 0..8 {
            let before = open.len();
            let mut found: Vec<(&str, Class)> = Vec::new();
            open.retain(|name| {
                let defines = by_name.get(name).map_or(&[][..], Vec::as_slice);
                let class = self.agreed(defines, by_name);
                found.extend(class.map(|class| (*name, class)));
                class.is_none()
            });
            for (name, class) in found {
                self.classes.insert(name.as_bytes().into(), class);
            }
            if open.len() == before || open.is_empty() {
                break;
            }
        }
        for name in open {
            let call = by_name.get(name).is_some_and(|defines| defines.iter().any(|define| define.params.is_some()));
            self.classes.insert(name.as_bytes().into(), if call { Class::Call } else { Class::Other });
        }
    }

    /// The class that all definitions share; `None` while it depends on a macro not yet settled.
    fn agreed(&self, defines: &[&Define], by_name: &FxHashMap<&str, Vec<&Define>>) -> Option<Class> {
        let mut agreed: Option<Class> = None;
        for define in defines {
            // `__global__ void` for one compiler is `void` for the others.
            let class = match self.classify(define, by_name)? {
                Class::Other if define.body.trim() == "void" => Class::Typed { bits: SpaceBits::default() },
                class => class,
            };
            agreed = Some(match agreed {
                None => class,
                Some(before) => merge(before, class),
            });
        }
        agreed.map(|class| if class == (Class::Typed { bits: SpaceBits::default() }) { Class::Other } else { class })
    }

    fn classify(&self, define: &Define, by_name: &FxHashMap<&str, Vec<&Define>>) -> Option<Class> {
        let call = define.params.is_some();
        let mut code_class = if call { Class::Call } else { Class::Other };
        if !call {
            match self.ends_statement(define, by_name) {
                Some(true) => code_class = Class::Statements,
                Some(false) => {}
                None => return None,
            }
        }
        if define.body.len() > 400 {
            return Some(code_class);
        }
        if is_configuration(define) {
            return Some(Class::Launch);
        }
        let bytes = define.body.as_bytes();
        let mut bits = SpaceBits::default();
        let (mut attributes, mut types, mut names, mut braces) = (0, 0, 0, 0i32);
        let mut brackets = false;
        let (mut namespace, mut pragma) = (false, false);
        let mut lexer = Lexer::new(bytes, 0);
        lexer.line_start = false;
        let mut pending = false;
        let mut in_arguments = 0;
        while let Some(step) = lexer.next() {
            lexer.line_start = false;
            let Step::Token(token) = step else { continue };
            let spelled = &bytes[token.span().range()];
            if in_arguments > 0 {
                if token.kind == Kind::Punct {
                    in_arguments += i32::from(token.code == u16::from(b'(')) - i32::from(token.code == u16::from(b')'));
                }
                continue;
            }
            match token.kind {
                Kind::Word => {
                    let word = lookup(spelled);
                    match word {
                        W::Namespace => namespace = true,
                        W::PragmaOp | W::Pragma1 => pragma = true,
                        W::Using | W::Asm | W::Typedef => return Some(code_class),
                        _ => match word.group() {
                            Group::Space | Group::Specifier | Group::Qualifier | Group::Attribute => {
                                attributes += 1;
                                bits.0 |= space_of(word).0;
                            }
                            Group::Type => types += 1,
                            Group::Plain => match self.classes.get(spelled) {
                                Some(Class::Attribute { bits: inner, .. }) => {
                                    attributes += 1;
                                    bits.0 |= inner.0;
                                }
                                Some(Class::Typed { bits: inner }) => {
                                    types += 1;
                                    bits.0 |= inner.0;
                                }
                                Some(Class::Namespace { .. }) => namespace = true,
                                Some(Class::Pragma { .. }) => pragma = true,
                                Some(_) => names += 1,
                                None => {
                                    let text = std::str::from_utf8(spelled).unwrap_or("");
                                    if by_name.contains_key(text) && text != define.name {
                                        pending = true;
                                    }
                                    names += 1;
                                }
                            },
                            Group::Control | Group::Keyword => return Some(code_class),
                        },
                    }
                }
                Kind::Punct => match token.code {
                    c if c == u16::from(b'(') => {
                        // Arguments of an attribute; anything else in parentheses is code.
                        if attributes == 0 && !pragma {
                            return Some(code_class);
                        }
                        in_arguments = 1;
                    }
                    // Only `[[nodiscard]]` and its like are attributes.
                    c if (c == u16::from(b'[') || c == u16::from(b']')) && bytes.starts_with(b"[[") => brackets = true,
                    c if c == u16::from(b'{') => braces += 1,
                    c if c == u16::from(b'}') => braces -= 1,
                    code::SCOPE => {}
                    c if c == u16::from(b';') && (namespace || braces != 0) => {}
                    c if c == u16::from(b'*') || c == u16::from(b'&') => types += 1,
                    _ => return Some(code_class),
                },
                Kind::Text if spelled == b"\"C\"" => {}
                _ => return Some(code_class),
            }
        }
        if pending {
            return None;
        }
        Some(if brackets {
            if types == 0 { Class::Attribute { bits, call } } else { code_class }
        } else if braces != 0 && types == 0 {
            if namespace || attributes > 0 || names == 0 { Class::Namespace { call } } else { code_class }
        } else if braces != 0 || namespace {
            code_class
        } else if pragma {
            Class::Pragma { call }
        } else if names == 0 && types == 0 && (attributes > 0 || !call) {
            Class::Attribute { bits, call }
        } else if attributes > 0 && !call && names + types > 0 {
            Class::Typed { bits }
        } else {
            code_class
        })
    }

    /// Whether a body ends like a statement, by `;`, `}` or a macro that does; `None` while that is not settled.
    fn ends_statement(&self, define: &Define, by_name: &FxHashMap<&str, Vec<&Define>>) -> Option<bool> {
        let body = define.body.as_bytes();
        match body.last() {
            Some(b';' | b'}') => return Some(body.len() > 1 && !body.starts_with(b"}")),
            Some(b) if is_word_byte(*b) => {}
            _ => return Some(false),
        }
        let start = body.iter().rposition(|b| !is_word_byte(*b)).map_or(0, |n| n + 1);
        let last = body.get(start..).unwrap_or(&[]);
        match self.classes.get(last) {
            // Words of CUDA stay what they are, also where some file defines them as nothing for another compiler.
            _ if lookup(last) != W::Plain => Some(false),
            Some(class) => Some(*class == Class::Statements),
            None => {
                let text = std::str::from_utf8(last).unwrap_or("");
                if by_name.contains_key(text) && text != define.name { None } else { Some(false) }
            }
        }
    }

    /// The classes of one file's own definitions, where they differ from the project's.
    pub(crate) fn local(&self, defines: &[Define]) -> FxHashMap<Box<[u8]>, Class> {
        let mut by_name: FxHashMap<&str, Vec<&Define>> = FxHashMap::default();
        for define in defines {
            by_name.entry(&define.name).or_default().push(define);
        }
        let mut local = FxHashMap::default();
        for (name, list) in &by_name {
            if lookup(name.as_bytes()) != W::Plain {
                continue;
            }
            let project = self.classes.get(name.as_bytes()).copied();
            let call = list.iter().any(|define| define.params.is_some());
            let own = self.agreed(list, &FxHashMap::default()).unwrap_or(if call { Class::Call } else { Class::Other });
            if project != Some(own) {
                local.insert(name.as_bytes().into(), own);
            }
        }
        local
    }

    /// The class of a name; `None` when no definition is known.
    pub(crate) fn class(&self, name: &[u8]) -> Option<Class> {
        if self.shapes.may_have(name) { self.classes.get(name).copied() } else { None }
    }
}

/// Whether a macro stands for `<<<…>>>` with its parameters in their order: what editors that know no CUDA are spared.
fn is_configuration(define: &Define) -> bool {
    let Some(params) = define.params.as_ref().filter(|params| (2..=4).contains(&params.len()) && !define.variadic)
    else {
        return false;
    };
    let Some(inside) = define.body.strip_prefix("<<<").and_then(|rest| rest.strip_suffix(">>>")) else { return false };
    let mut parts = inside.split(',').map(str::trim);
    params.iter().all(|param| parts.next() == Some(param.as_str())) && parts.next().is_none()
}

/// Definitions that differ only in bits agree on the bits of either (one branch is often empty).
fn merge(a: Class, b: Class) -> Class {
    match (a, b) {
        (Class::Attribute { bits: x, call: p }, Class::Attribute { bits: y, call: q }) if p == q => {
            Class::Attribute { bits: SpaceBits(x.0 | y.0), call: p }
        }
        (Class::Typed { bits: x }, Class::Typed { bits: y }) => Class::Typed { bits: SpaceBits(x.0 | y.0) },
        // An empty branch of a pragma or namespace macro.
        (Class::Pragma { call }, Class::Attribute { bits: SpaceBits(0), .. } | Class::Call)
        | (Class::Attribute { bits: SpaceBits(0), .. } | Class::Call, Class::Pragma { call }) => Class::Pragma { call },
        (Class::Namespace { call }, Class::Attribute { bits: SpaceBits(0), .. })
        | (Class::Attribute { bits: SpaceBits(0), .. }, Class::Namespace { call }) => Class::Namespace { call },
        (Class::Statements, Class::Attribute { bits: SpaceBits(0), call: false })
        | (Class::Attribute { bits: SpaceBits(0), call: false }, Class::Statements) => Class::Statements,
        (a, b) if a == b => a,
        // Nothing, for editors and other compilers.
        (Class::Launch, Class::Call | Class::Attribute { bits: SpaceBits(0), .. })
        | (Class::Call | Class::Attribute { bits: SpaceBits(0), .. }, Class::Launch) => Class::Launch,
        // A function-like attribute with an empty branch: `#define BOUNDS(n)`.
        (Class::Attribute { bits, call: true }, Class::Call) | (Class::Call, Class::Attribute { bits, call: true })
            if bits.has(SpaceBits::LAUNCH_BOUNDS) =>
        {
            Class::Attribute { bits, call: true }
        }
        (Class::Call, _) | (_, Class::Call) => Class::Call,
        _ => Class::Other,
    }
}

/// The bit of a CUDA word.
pub(crate) fn space_of(word: W) -> SpaceBits {
    match word {
        W::Global | W::TileGlobal => SpaceBits::GLOBAL,
        W::Device => SpaceBits::DEVICE,
        W::Host => SpaceBits::HOST,
        W::Shared => SpaceBits::SHARED,
        W::Constant => SpaceBits::CONSTANT,
        W::Managed => SpaceBits::MANAGED,
        W::LaunchBounds => SpaceBits::LAUNCH_BOUNDS,
        W::Restrict | W::Restrict1 | W::Restrict2 => SpaceBits::RESTRICT,
        W::Constexpr => SpaceBits::CONSTEXPR,
        _ => SpaceBits::default(),
    }
}
