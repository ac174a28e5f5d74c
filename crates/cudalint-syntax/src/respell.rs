//! Names that the parser passes over faster. Its lexer looks each byte of a name up in a table of all letters there are,
//! and finds those of ASCII last. What a name is called is nothing to the grammar, so for the parser alone names are
//! respelled with letters of several bytes that it finds sooner: as many bytes, a quarter of the letters. So is what comments
//! say, which is all the same to it, too.

use crate::keywords::W;
use crate::lexer::{Kind, Token};
use crate::span::Span;

/// Letters of two, three and four bytes that the grammar's tables of letters find in few steps.
const TWO: &[u8] = "\u{2c6}".as_bytes();
const THREE: &[u8] = "\u{1ff2}".as_bytes();
const FOUR: &[u8] = "\u{1193f}".as_bytes();
/// A letter of one byte that is found before the others: some word begins with it, but none goes on as names do here.
const ONE: u8 = b'F';

/// A shorter comment is left as it is.
const SHORTEST_COMMENT: u32 = 12;

/// Respells what comments of one line say; what the mask has blanked stays. `comments` are those of `raw`.
pub(crate) fn comments(bytes: &mut [u8], raw: &[u8], comments: &[Span]) {
    for comment in comments.iter().filter(|comment| comment.end - comment.start >= SHORTEST_COMMENT) {
        let Some(spelled) = raw.get(comment.range()) else { continue };
        // A backslash may make the comment go on, and blanks of further lines are respelled already.
        if memchr::memchr2(b'\\', b'\n', spelled).is_some() {
            continue;
        }
        // The marks of either kind are two bytes, and a `\r` may stand at the end.
        let inside = comment.start as usize + 2..comment.end as usize - 2;
        match bytes.get_mut(comment.range()) {
            Some(text) if text == spelled => {}
            _ => continue,
        }
        let mut letters = bytes.get_mut(inside).unwrap_or_default().chunks_exact_mut(FOUR.len());
        letters.by_ref().for_each(|letter| letter.copy_from_slice(FOUR));
        letters.into_remainder().fill(b'.');
    }
}

/// Respells the names of `bytes`, which is `raw` after the mask; `tokens` are those that the mask left.
pub(crate) fn names(bytes: &mut [u8], raw: &[u8], tokens: &[Token]) {
    for token in tokens {
        if token.kind != Kind::Word || token.code != W::Plain as u16 {
            continue;
        }
        let range = token.start as usize..token.end as usize;
        let Some(spelled) = raw.get(range.clone()) else { continue };
        // Prefixes and suffixes of literals are no names.
        let quote = |at: Option<usize>| at.and_then(|at| raw.get(at)).is_some_and(|byte| matches!(byte, b'"' | b'\''));
        let plain = spelled.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        if !plain || quote(range.start.checked_sub(1)) || quote(Some(range.end)) || is_keyword(spelled) {
            continue;
        }
        match bytes.get_mut(range) {
            Some(name) if name == spelled => write(name),
            _ => {}
        }
    }
}

/// Writes letters over a name.
fn write(name: &mut [u8]) {
    let mut rest = name;
    if rest.len() % FOUR.len() == 1 {
        let (first, others) = rest.split_at_mut(1);
        first.fill(ONE);
        rest = others;
    }
    loop {
        let letter = match rest.len() {
            0 | 1 => return,
            2 => TWO,
            3 | 6 => THREE,
            _ => FOUR,
        };
        let (first, others) = rest.split_at_mut(letter.len());
        first.copy_from_slice(letter);
        rest = others;
    }
}

/// Words that mean something to the grammar and nothing to the mask.
fn is_keyword(word: &[u8]) -> bool {
    matches!(
        word,
        b"FALSE"
            | b"TRUE"
            | b"_Alignas"
            | b"_Alignof"
            | b"_Atomic"
            | b"_Generic"
            | b"_Nonnull"
            | b"_Noreturn"
            | b"__alignof"
            | b"__alignof__"
            | b"__based"
            | b"__clrcall"
            | b"__except"
            | b"__fastcall"
            | b"__finally"
            | b"__forceinline"
            | b"__leave"
            | b"__local__"
            | b"__sptr"
            | b"__thiscall"
            | b"__thread"
            | b"__try"
            | b"__unaligned"
            | b"__uptr"
            | b"__volatile__"
            | b"_alignof"
            | b"_unaligned"
            | b"and"
            | b"and_eq"
            | b"bitand"
            | b"bitor"
            | b"char64_t"
            | b"charptr_t"
            | b"co_await"
            | b"compl"
            | b"max_align_t"
            | b"noreturn"
            | b"not"
            | b"not_eq"
            | b"nullptr_t"
            | b"or"
            | b"or_eq"
            | b"xor"
            | b"xor_eq"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::kinds::cuda_language;
    use crate::lexer::lex;

    fn tree(bytes: &[u8]) -> String {
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&cuda_language()).unwrap();
        parser.parse(bytes, None).unwrap().root_node().to_sexp()
    }

    #[test]
    fn every_word_of_the_grammar_stays() {
        let language = cuda_language();
        // Types that stand for themselves are one kind, whose spellings no kind shows.
        let types = "bool char char8_t char16_t char32_t char64_t charptr_t double float int int8_t int16_t int32_t int64_t \
                     intptr_t max_align_t nullptr_t ptrdiff_t size_t ssize_t uint8_t uint16_t uint32_t uint64_t uintptr_t \
                     void true false TRUE FALSE NULL";
        let kinds = (0..language.node_kind_count()).filter(|id| !language.node_kind_is_named(*id as u16));
        let words = kinds.filter_map(|id| language.node_kind_for_id(id as u16)).chain(types.split(' '));
        for word in words.filter(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')) {
            // Prefixes of literals are tokens only with the quote behind them; names of hidden rules are no words.
            if ["L", "R", "u", "U", "u8", "LR", "uR", "UR", "u8R", "end"].contains(&word) {
                continue;
            }
            let mut bytes = word.as_bytes().to_vec();
            let raw = bytes.clone();
            names(&mut bytes, &raw, &lex(&raw, 0).tokens);
            if bytes != raw {
                assert!(tree(format!("int {word};").as_bytes()).contains("(identifier)"), "{word} means something");
            }
        }
    }

    #[test]
    fn the_tree_is_the_same() {
        let text = b"typedef struct { int first, abc; } Record_t;\n\
            template <typename Type> __global__ void kernel_name(const Type *in, float abcde[4], size_t number) {\n\
              auto text = L\"a\" \"b\"_suffix; Record_t r{1, 2}; if (not r.first and number != ab) goto done;\n\
              for (int i = 0; i < number; ++i) abcdefgh[i] = static_cast<Type>(in[i]) + other::name<3>(i);\n\
              /* A comment that says something. */ done: return; } // And another one.\n";
        let mut bytes = text.to_vec();
        names(&mut bytes, text, &lex(text, 0).tokens);
        comments(&mut bytes, text, &lex(text, 0).comments);
        assert_eq!(bytes.len(), text.len());
        assert!(std::str::from_utf8(&bytes).is_ok());
        for name in ["Record_t", "kernel_name", "abcdefgh", "abcde", "other"] {
            assert!(memchr::memmem::find(&bytes, name.as_bytes()).is_none(), "{name}");
        }
        assert_eq!(tree(&bytes), tree(text));
    }
}
