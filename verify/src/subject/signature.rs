//! Functions as their source spells them: what a caller has to write.

use super::{Stretch, Subject};
use cudalint_program::ir::ModuleId;
use cudalint_program::ir::{Function, FunctionId, FunctionRole, LocalId, Module, Type, TypeId};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::{Name, Scope};
use cudalint_syntax::Span;

/// A function as a caller sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// Name with namespaces and classes: `ns::Buffer::fill`.
    pub name: String,
    /// The class that it is a member of, with its namespaces; none for a free function.
    pub class: Option<String>,
    /// What kind of function it is.
    pub role: FunctionRole,
    /// Whether it is a kernel.
    pub is_kernel: bool,
    /// Whether it can be called by host code.
    pub on_host: bool,
    /// Template parameters, in order.
    pub template: Vec<TemplateParameter>,
    /// Parameters, in order.
    pub parameters: Vec<Parameter>,
    /// The whole definition.
    pub span: Span,
}

/// A template parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateParameter {
    /// Its name; may be empty.
    pub name: String,
    /// For a value parameter its type as written; none for a type.
    pub value_type: Option<String>,
    /// Whether it has a default.
    pub has_default: bool,
    /// Whether it is a pack.
    pub pack: bool,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name; may be empty.
    pub name: String,
    /// Its type as written, without name and default: `const float *__restrict__`. Arrays are written as pointers.
    pub ty: String,
    /// Its type as the program knows it.
    pub resolved: Ty,
    /// The type of the module.
    pub ir: TypeId,
    /// The variable in the function's body.
    pub local: LocalId,
    /// Whether it may be left out.
    pub has_default: bool,
}

impl Subject {
    /// A function of a stretch as a caller sees it.
    pub fn signature(&self, stretch: &Stretch, id: FunctionId) -> Option<Signature> {
        self.signature_in(stretch.module?, id)
    }

    /// A function of the subject's file or of one that it includes, as a caller sees it.
    pub fn signature_in(&self, of: ModuleId, id: FunctionId) -> Option<Signature> {
        let module = self.project.module(of);
        let text = self.project.source(of);
        let function = module.functions.get(id)?;
        let scope = Scope::new(&self.project, of, Some(id), &TypeEnv::default());
        let texts = parameter_texts(text, function);
        let parameters = function
            .params()
            .iter()
            .enumerate()
            .map(|(index, local)| {
                let place = texts.get(index).copied();
                Parameter {
                    name: local.name.to_string(),
                    ty: place
                        .and_then(|span| type_text(text, span, local.span, &local.name))
                        .unwrap_or_else(|| spelled(module, local.ty, 0)),
                    resolved: scope.resolve(local.ty),
                    ir: local.ty,
                    local: LocalId(index as u32),
                    has_default: local.init.is_some(),
                }
            })
            .collect();
        let segments: Vec<&str> =
            function.scope.segments.iter().map(Name::as_str).filter(|name| !name.is_empty()).collect();
        let is_member = match function.role {
            FunctionRole::Free | FunctionRole::Lambda => false,
            FunctionRole::Operator => !segments.is_empty(),
            _ => true,
        };
        let class = (is_member && !segments.is_empty()).then(|| segments.join("::"));
        let mut name = segments.clone();
        name.push(&function.name);
        Some(Signature {
            name: name.join("::"),
            class,
            role: function.role,
            is_kernel: function.space.global,
            on_host: !function.space.global && (function.space.host || !function.space.device),
            template: function
                .template_params
                .iter()
                .map(|param| TemplateParameter {
                    name: param.name.to_string(),
                    value_type: param.value_type.map(|ty| spelled(module, ty, 0)),
                    has_default: param.default.is_some(),
                    pack: param.pack,
                })
                .collect(),
            parameters,
            span: function.span,
        })
    }
}

/// The places of a function's parameters, defaults included.
pub(crate) fn parameter_texts(text: &str, function: &Function) -> Vec<Span> {
    let end = function.span.end as usize;
    let Some(text) = text.get(..end) else { return Vec::new() };
    let mut scan = Scan { bytes: text.as_bytes(), at: function.name_span.end as usize };
    // A specialization has template arguments before its parameters.
    if scan.skip_blank() == Some(b'<') {
        scan.matching();
    }
    // `operator()` has brackets of its own.
    if function.name.ends_with("operator") && scan.skip_blank() == Some(b'(') {
        scan.matching();
    }
    while scan.skip_blank().is_some_and(|byte| byte != b'(') {
        scan.at += 1;
    }
    let open = scan.at;
    scan.matching();
    let close = scan.at.saturating_sub(1);
    if close <= open {
        return Vec::new();
    }
    let mut spans = Vec::new();
    let mut inner = Scan { bytes: text.as_bytes().get(..close).unwrap_or(&[]), at: open + 1 };
    let mut start = inner.at;
    while let Some(byte) = inner.skip_blank() {
        if byte == b',' {
            spans.push(Span::new(start, inner.at));
            inner.at += 1;
            start = inner.at;
        } else {
            inner.step();
        }
    }
    spans.push(Span::new(start, close));
    spans
}

/// The type in a parameter's text; none where name and type are woven together (`float (*f)(int)`).
fn type_text(text: &str, span: Span, name: Span, expected: &str) -> Option<String> {
    let whole = text.get(span.range())?;
    if expected.is_empty() {
        let end = top_level_equals(whole).unwrap_or(whole.len());
        return Some(clean(whole.get(..end)?));
    }
    if !span.contains(name) || text.get(name.range()) != Some(expected) {
        return None;
    }
    let before = text.get(span.start as usize..name.start as usize)?;
    let after = text.get(name.end as usize..span.end as usize)?;
    let after = clean(after.get(..top_level_equals(after).unwrap_or(after.len()))?);
    if before.contains('(') || after.starts_with(')') {
        return None;
    }
    let mut ty = clean(before);
    if after.starts_with('[') {
        // The first bound says nothing; further ones make arrays of arrays, which have no plain spelling here.
        if after.matches('[').count() > 1 {
            return None;
        }
        ty.push_str(" *");
    }
    Some(ty)
}

/// The place of an `=` outside of brackets.
fn top_level_equals(text: &str) -> Option<usize> {
    let mut scan = Scan { bytes: text.as_bytes(), at: 0 };
    while let Some(byte) = scan.skip_blank() {
        if byte == b'=' {
            return Some(scan.at);
        }
        scan.step();
    }
    None
}

/// Text without comments, on one line, single blanks.
fn clean(text: &str) -> String {
    let mut plain = String::new();
    let mut scan = Scan { bytes: text.as_bytes(), at: 0 };
    let mut last = 0;
    while scan.skip_blank().is_some() {
        if scan.at > last && !plain.is_empty() {
            plain.push(' ');
        }
        let start = scan.at;
        scan.at += 1;
        while !text.is_char_boundary(scan.at) {
            scan.at += 1;
        }
        plain.push_str(text.get(start..scan.at).unwrap_or(""));
        last = scan.at;
    }
    plain
}

/// A walk over code that jumps over blanks, comments, literals and brackets.
pub(crate) struct Scan<'t> {
    pub bytes: &'t [u8],
    pub at: usize,
}

impl Scan<'_> {
    /// Goes to the next byte that is neither blank nor part of a comment, and gives it.
    pub fn skip_blank(&mut self) -> Option<u8> {
        loop {
            let rest = self.bytes.get(self.at..)?;
            let first = *rest.first()?;
            if first.is_ascii_whitespace() {
                self.at += 1;
            } else if rest.starts_with(b"//") {
                self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            } else if rest.starts_with(b"/*") {
                self.at += rest.windows(2).skip(2).position(|pair| pair == b"*/").map_or(rest.len(), |at| at + 4);
            } else {
                return Some(first);
            }
        }
    }

    /// Goes over one byte, literal or bracketed group.
    pub fn step(&mut self) {
        match self.bytes.get(self.at) {
            Some(b'(' | b'[' | b'{' | b'<') => self.matching(),
            Some(quote @ (b'"' | b'\'')) => {
                let quote = *quote;
                self.at += 1;
                while let Some(byte) = self.bytes.get(self.at) {
                    self.at += if *byte == b'\\' { 2 } else { 1 };
                    if *byte == quote {
                        break;
                    }
                }
            }
            _ => self.at += 1,
        }
        self.at = self.at.min(self.bytes.len());
    }

    /// Goes behind the bracket that closes the one here. An angle that nothing closes is one byte.
    pub fn matching(&mut self) {
        let start = self.at;
        let mut open: Vec<u8> = Vec::new();
        while let Some(byte) = self.skip_blank() {
            match byte {
                b'(' | b'[' | b'{' | b'<' => open.push(byte),
                b')' | b']' | b'}' => {
                    while open.last() == Some(&b'<') {
                        open.pop();
                    }
                    open.pop();
                }
                b'>' if open.last() == Some(&b'<') => {
                    open.pop();
                }
                b'"' | b'\'' => {
                    self.step();
                    continue;
                }
                _ => {}
            }
            self.at += 1;
            if open.is_empty() {
                return;
            }
        }
        if self.bytes.get(start) == Some(&b'<') {
            self.at = start + 1;
        }
    }
}

/// How C++ spells a type of a module; empty where it cannot be said in one piece.
pub fn spelled(module: &Module, ty: TypeId, depth: u32) -> String {
    let Some(ty) = module.types.get(ty).filter(|_| depth < 16) else { return String::new() };
    let inner = |ty: TypeId| spelled(module, ty, depth + 1);
    let suffixed = |ty: TypeId, suffix: &str| match inner(ty) {
        text if text.is_empty() => text,
        text => format!("{text} {suffix}"),
    };
    match ty {
        Type::Void => "void".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Int { bytes, signed } => match (bytes, signed) {
            (1, true) => "char",
            (1, false) => "unsigned char",
            (2, true) => "short",
            (2, false) => "unsigned short",
            (4, true) => "int",
            (4, false) => "unsigned int",
            (_, true) => "long",
            (_, false) => "size_t",
        }
        .to_owned(),
        Type::Float { bytes } => match bytes {
            2 => "__half",
            4 => "float",
            _ => "double",
        }
        .to_owned(),
        Type::Vector { name, .. } => name.to_string(),
        Type::Pointer(to) => suffixed(*to, "*"),
        Type::Array(of, _) => suffixed(*of, "*"),
        Type::Reference(to) => suffixed(*to, "&"),
        Type::Qualified { ty, is_const, .. } => match inner(*ty) {
            text if *is_const && !text.is_empty() && !text.ends_with('*') => format!("const {text}"),
            text => text,
        },
        Type::Named { path, args } if args.is_empty() => {
            path.segments.iter().map(Name::as_str).collect::<Vec<_>>().join("::")
        }
        Type::Named { .. } | Type::Member { .. } | Type::Function | Type::Auto | Type::DeclType(_) | Type::Unknown => {
            String::new()
        }
    }
}
