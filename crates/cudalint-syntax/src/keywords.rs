//! Words that the mask knows: keywords of C++ and CUDA, and the shape of names.

use rustc_hash::FxHashMap;
use std::sync::OnceLock;

macro_rules! words {
    ($($group:ident: $($name:ident = $text:literal),* $(,)?;)*) => {
        /// A word that the mask knows; `Plain` for every other.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub(crate) enum W { Plain, $($($name,)*)* }

        const ALL: &[(&str, W)] = &[$($(($text, W::$name),)*)*];

        impl W {
            /// The group that the word belongs to.
            pub(crate) fn group(self) -> Group {
                match self {
                    Self::Plain => Group::Plain,
                    $($(Self::$name => Group::$group,)*)*
                }
            }
        }

        const BY_CODE: &[W] = &[W::Plain, $($(W::$name,)*)*];
    };
}

/// Groups of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Plain,
    /// Names of built-in types and their modifiers.
    Type,
    /// `const`, `volatile`, `restrict` and their spellings.
    Qualifier,
    /// Specifiers that may start a declaration.
    Specifier,
    /// CUDA execution and memory spaces.
    Space,
    /// Attributes that the grammar does not read everywhere.
    Attribute,
    /// Control flow.
    Control,
    /// Everything else.
    Keyword,
}

words! {
    Type: Void = "void", Bool = "bool", Char = "char", Short = "short", Int = "int", Long = "long", Float = "float",
        Double = "double", Signed = "signed", Unsigned = "unsigned", Auto = "auto", WcharT = "wchar_t", SizeT = "size_t",
        SsizeT = "ssize_t", PtrdiffT = "ptrdiff_t", IntptrT = "intptr_t", UintptrT = "uintptr_t", Int8 = "int8_t",
        Int16 = "int16_t", Int32 = "int32_t", Int64 = "int64_t", Uint8 = "uint8_t", Uint16 = "uint16_t",
        Uint32 = "uint32_t", Uint64 = "uint64_t", Char8 = "char8_t", Char16 = "char16_t", Char32 = "char32_t";
    Qualifier: Const = "const", Volatile = "volatile", Restrict = "restrict", Restrict1 = "__restrict",
        Restrict2 = "__restrict__";
    Specifier: Static = "static", Inline = "inline", Constexpr = "constexpr", Extern = "extern", Virtual = "virtual",
        Explicit = "explicit", Friend = "friend", Typedef = "typedef", Mutable = "mutable", Register = "register",
        ThreadLocal = "thread_local", Forceinline = "__forceinline__", Noinline = "__noinline__", Inline1 = "__inline__",
        Inline2 = "__inline", Consteval = "consteval", Constinit = "constinit";
    Space: Global = "__global__", Device = "__device__", Host = "__host__", Shared = "__shared__",
        Constant = "__constant__", Managed = "__managed__", LaunchBounds = "__launch_bounds__",
        GridConstant = "__grid_constant__";
    Attribute: Align = "__align__", Attribute = "__attribute__", Attribute1 = "__attribute", Declspec = "__declspec",
        PragmaOp = "_Pragma", Pragma1 = "__pragma", ClusterDims = "__cluster_dims__", BlockSize = "__block_size__",
        Maxnreg = "__maxnreg__", Pure = "__nv_pure__", Tile = "__tile__", TileGlobal = "__tile_global__",
        Extension = "__extension__", Cdecl = "__cdecl", Stdcall = "__stdcall", Vectorcall = "__vectorcall",
        CudartCb = "CUDART_CB", Alignas = "alignas", LocalMaxnreg = "__local_maxnreg__",
        DeviceBuiltin = "__device_builtin__", CudartBuiltin = "__cudart_builtin__", Builtin = "__builtin_align__";
    Control: If = "if", Else = "else", For = "for", While = "while", Do = "do", Switch = "switch", Case = "case",
        Default = "default", Return = "return", Goto = "goto", Break = "break", Continue = "continue", Try = "try",
        Catch = "catch", Throw = "throw", CoReturn = "co_return", CoYield = "co_yield";
    Keyword: Template = "template", Typename = "typename", Class = "class", Struct = "struct", Union = "union",
        Enum = "enum", Namespace = "namespace", Using = "using", Operator = "operator", New = "new", Delete = "delete",
        Sizeof = "sizeof", Alignof = "alignof", Decltype = "decltype", Typeid = "typeid", StaticAssert = "static_assert",
        StaticCast = "static_cast", ReinterpretCast = "reinterpret_cast", ConstCast = "const_cast",
        DynamicCast = "dynamic_cast", Noexcept = "noexcept", Override = "override", Final = "final", This = "this",
        True = "true", False = "false", Nullptr = "nullptr", Public = "public", Private = "private",
        Protected = "protected", Asm = "asm", Asm1 = "__asm__", Asm2 = "__asm", Requires = "requires",
        Concept = "concept", VaArg = "va_arg", Offsetof = "offsetof", Defined = "defined", NullMacro = "NULL";
}

/// The longest word.
const LONGEST: usize = 31;

/// For each first byte the lengths of the words that begin with it, a bit each: most names are of none.
const LENGTHS: [u32; 256] = {
    let mut lengths = [0; 256];
    let mut i = 0;
    while i < ALL.len() {
        let text = ALL[i].0.as_bytes();
        assert!(text.len() <= LONGEST);
        lengths[text[0] as usize] |= 1 << text.len();
        i += 1;
    }
    lengths
};

/// The known word of a spelling.
pub(crate) fn lookup(spelled: &[u8]) -> W {
    static MAP: OnceLock<FxHashMap<&'static [u8], W>> = OnceLock::new();
    let possible = spelled.first().map_or(0, |first| LENGTHS[*first as usize]);
    if spelled.len() > LONGEST || possible >> spelled.len() & 1 == 0 {
        return W::Plain;
    }
    let map = MAP.get_or_init(|| ALL.iter().map(|(text, word)| (text.as_bytes(), *word)).collect());
    map.get(spelled).copied().unwrap_or(W::Plain)
}

/// The word of a token's code.
pub(crate) fn by_code(code: u16) -> W {
    BY_CODE.get(usize::from(code)).copied().unwrap_or(W::Plain)
}

/// Whether a name is written in capitals, as macros are: at least two bytes, a letter, nothing in lower case.
pub fn is_caps(name: &[u8]) -> bool {
    name.len() >= 2
        && name.iter().any(u8::is_ascii_uppercase)
        && name.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
}
