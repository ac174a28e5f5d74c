//! Types that need no declaration, and text that can only be one.

use crate::ir::Type;
use cudalint_numbers::{Scalar, cuda_vector};

/// A type named by one identifier that needs no declaration.
pub(crate) fn builtin(name: &str) -> Option<Type> {
    match name {
        "void" => Some(Type::Void),
        "auto" => Some(Type::Auto),
        _ => Scalar::of_cpp(name).map(Type::of_scalar),
    }
}

/// Whether an identifier is a type in every CUDA program.
pub(crate) fn is_builtin_type_name(name: &str) -> bool {
    builtin(name).is_some()
        || cuda_vector(name).is_some()
        || (name.starts_with("cuda") && name.ends_with("_t"))
        || matches!(name, "FILE" | "CUdeviceptr" | "CUresult" | "string" | "curandState" | "cuComplex")
        || name == "cudaDeviceProp"
}

/// Whether a piece of text can only be a type: it ends in `*` or begins with a word of types.
pub(crate) fn looks_like_type(text: &str) -> bool {
    let text = text.trim();
    let word_end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (word, rest) = text.split_at(word_end);
    let known =
        is_builtin_type_name(word) || matches!(word, "const" | "volatile" | "struct" | "class" | "typename" | "enum");
    let rest = rest.trim();
    let plain = rest.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ' ' | '*' | '&' | ':' | '<' | '>' | ','));
    known && plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_spellings() {
        assert_eq!(builtin("uint16_t"), Some(Type::Int { bytes: 2, signed: false }));
    }

    #[test]
    fn text_that_can_only_be_a_type() {
        assert!(looks_like_type("float*"));
        assert!(looks_like_type("unsigned int"));
        assert!(looks_like_type("const T &"));
        assert!(!looks_like_type("int(3)"));
        assert!(!looks_like_type("n * 4"));
    }
}
