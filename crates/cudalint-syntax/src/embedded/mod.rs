//! CUDA C++ inside the strings of Python: which string expressions hold a program, and what that program reads like.
//!
//! The programs of a file share one *view*: a copy of the file's text, equally long, in which each of their spans holds
//! C++ alone, every byte where the file has it. Prefixes, quotes and what stands between adjacent pieces are blank, escapes
//! are what they stand for (behind blanks, so that they are as long as written; within a literal of C++ the blanks come
//! behind it), and a hole of a template is an identifier that nothing declares.

mod bodies;
mod decode;
mod holes;
mod place;
mod strings;

use crate::region::{Language, Region};
use crate::span::Span;
pub use bodies::{CUPY_BODY_FUNCTION, CupyBody, CupyBodyKind, CupyParameter};
use std::sync::Arc;

/// The programs of a file's strings.
#[derive(Clone, Debug)]
pub struct Embedded {
    /// One region a program, in order. Its span is that of the string's expression: prefix, quotes and all pieces.
    pub regions: Vec<Region>,
    /// Bodies of kernels that a package puts together, in order, with regions of their own.
    pub bodies: Vec<CupyBody>,
    /// The file's text with C++ alone in all these regions; everything about them is read from here. Outside of them it is the
    /// file's.
    pub view: Arc<str>,
    /// Whether NVRTC compiles them, as `CuPy` and `cuda.bindings` have it. `PyCUDA` calls nvcc, and others may.
    pub nvrtc: bool,
}

/// Finds CUDA C++ in the strings of a file's stretches of Python; `None` when there is none.
///
/// A program is a string that has a function of the device or a launch, with its body: words alone, and fragments whose
/// braces do not match, are none. Strings that stand as statements (documentation) are none either.
pub fn embedded_cuda(text: &str, python: &[Region]) -> Option<Embedded> {
    const MARKS: [&[u8]; 3] = [b"__global__", b"__device__", b"<<<"];
    let bytes = text.as_bytes();
    if !MARKS.iter().any(|mark| memchr::memmem::find(bytes, mark).is_some()) && !bodies::may_have(bytes) {
        return None;
    }
    let mut regions: Vec<Region> = Vec::new();
    let mut bodies = Vec::new();
    let mut view = bytes.to_vec();
    for region in python.iter().filter(|region| region.language == Language::Python) {
        let Some(stretch) = bytes.get(..region.span.end as usize) else { continue };
        let found = strings::find(stretch, region.span.start as usize);
        let known = holes::Templates::of(stretch, region.span.start as usize);
        for expression in &found {
            let whole = stretch.get(expression.span.clone()).unwrap_or(&[]);
            if !MARKS.iter().any(|mark| memchr::memmem::find(whole, mark).is_some()) {
                continue;
            }
            let Some(mut program) = decode::decode(stretch, expression, &known) else { continue };
            if place::is_program(&program) {
                place::close_statements(&mut program);
                place::place(&program, expression.span.clone(), &mut view);
                let span = Span::new(expression.span.start, expression.span.end);
                regions.push(Region { language: Language::Cuda, span });
            }
        }
        bodies.extend(bodies::find(stretch, region.span.start as usize, &found, &known, &mut view));
    }
    // A preamble belongs to its kernel.
    regions.retain(|region| !bodies.iter().any(|body| body.region.span.contains(region.span)));
    let nvrtc = ![&b"pycuda"[..], b"nvcc"].iter().any(|word| memchr::memmem::find(bytes, word).is_some());
    // Whole characters are replaced, by such of one byte, so that this always is text.
    let view = String::from_utf8(view).ok()?;
    (!regions.is_empty() || !bodies.is_empty()).then(|| Embedded { regions, bodies, view: view.into(), nvrtc })
}
