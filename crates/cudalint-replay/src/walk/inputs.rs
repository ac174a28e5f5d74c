//! Numbers that come from outside: what a program reads from files, streams and images, whoever runs it chooses.

use super::{Out, Walker};
use crate::memory::{Key, Place, root};
use crate::quantity::AtomKind;
use crate::value::{Kind, Val};
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Effect;
use cudalint_program::ir::{BinaryOp, Expr, ExprId};
use cudalint_program::types::{Container, Ty};

/// Most elements of an array that are numbers of their own: a header of sizes, not the data.
const MOST_ELEMENTS: i64 = 8;
/// Most numbers of one structure, whatever is in it.
const MOST_FIELDS: usize = 16;
/// How deep structures in structures are gone into.
const MAX_DEPTH: u32 = 3;
/// The members of `OpenCV`'s matrices that say how large they are.
const EXTENTS: [&str; 2] = ["rows", "cols"];

/// Methods of theirs that change none of that.
const ASKS: [&str; 17] = [
    "empty",
    "total",
    "type",
    "depth",
    "channels",
    "size",
    "elemSize",
    "elemSize1",
    "step1",
    "isContinuous",
    "ptr",
    "at",
    "data",
    "clone",
    "copyTo",
    "convertTo",
    "begin",
];

/// A matrix of `OpenCV`'s.
fn is_image(ty: &Ty) -> bool {
    matches!(ty.value(), Ty::Library(name, _) if name.as_ref() == "cv::Mat" || name.as_ref() == "Mat")
}

impl<'p> Walker<'p> {
    /// A function that the catalogue knows to store what it reads from a file behind some of its arguments.
    pub(super) fn reads_from_outside(&mut self, api: ApiId, args: &'p [ExprId]) -> Out {
        let outs = self.arguments(args);
        let number = |name: &str| {
            let at = api.params.iter().position(|param| *param == name)?;
            outs.get(at).and_then(|out| out.val.quantity().known())
        };
        let bytes = number("size").zip(number("count")).and_then(|(size, count)| size.checked_mul(count));
        for (out, expr) in outs.iter().zip(args) {
            self.stored_by_library(out, *expr, bytes);
        }
        for effect in api.effects {
            let Effect::Inputs(to) = effect else { continue };
            if let (Some(out), Some(expr)) = (outs.get(to.at()), args.get(to.at())) {
                self.read_by_address(out, *expr);
            }
        }
        Out::unknown()
    }

    /// A function out of sight stores so many bytes behind an address: where that is a number among other members, the others stay what
    /// they are.
    pub(super) fn stored_by_library(&mut self, out: &Out, expr: ExprId, bytes: Option<i64>) {
        if let (Kind::Ptr(pointer), Some(Expr::AddressOf(target))) =
            (&out.val.kind, self.kind(self.without_casts(expr)))
            && let (false, Some(0)) = (pointer.path.is_empty(), pointer.offset.known())
        {
            let ty = self.type_of(*target).value().clone();
            let size = matches!(ty, Ty::Int { .. } | Ty::Float { .. } | Ty::Bool).then(|| self.size_of(&ty).known());
            if size.flatten().is_some_and(|size| bytes.is_some_and(|bytes| bytes <= size)) {
                self.memory.forget(pointer.obj, &pointer.path);
                return self.is_read(out);
            }
        }
        self.written_by_library(out);
    }

    /// `scanf("%d", &x)`: a conversion stores what the type is that its pointer points to.
    pub(super) fn converted_from_outside(&mut self, outs: &[Out], args: &'p [ExprId]) {
        for (out, expr) in outs.iter().zip(args) {
            let ty = match self.kind(self.without_casts(*expr)) {
                Some(Expr::AddressOf(target)) if self.without_casts(*expr) == *expr => self.type_of(*target),
                _ => Ty::Unknown,
            };
            let is_text = matches!(ty.value(), Ty::Int { bytes: 1, .. });
            let bytes = if is_text { None } else { self.size_of(ty.value()).known() };
            self.stored_by_library(out, *expr, bytes);
            self.read_by_address(out, *expr);
        }
    }

    /// What stands behind an address is read from outside: a number, a small array of numbers, or a structure of them.
    pub(super) fn read_by_address(&mut self, out: &Out, expr: ExprId) {
        let inner = self.without_casts(expr);
        let Kind::Ptr(pointer) = &out.val.kind else { return };
        // What `&x` is spelled with says what is there; a cast of it does not.
        let (name, ty) = match self.kind(inner) {
            Some(Expr::AddressOf(target)) => (self.text(*target), self.type_of(*target)),
            Some(Expr::Local(_) | Expr::Member { .. } | Expr::Name { .. }) => (self.text(inner), self.type_of(inner)),
            _ => return,
        };
        // A pointer's own memory is data.
        if matches!(ty.value(), Ty::Pointer(_)) {
            return;
        }
        let place = if ty.value().is_array() {
            Place::Cell(pointer.obj, pointer.path.clone())
        } else {
            self.pointed_place(&out.val, ty.value())
        };
        let mut left = MOST_FIELDS;
        self.becomes_input(&place, ty.value(), &name, &mut left, 0);
    }

    /// `stream >> x`.
    pub(super) fn extracted(&mut self, target: ExprId, ty: &Ty) {
        // An element among many is data.
        if !matches!(self.kind(target), Some(Expr::Local(_) | Expr::Member { .. } | Expr::Name { .. })) {
            return;
        }
        let (place, _) = self.place(target, super::places::Access::Address);
        let (name, mut left) = (self.text(target), 1);
        if matches!(ty.value(), Ty::Int { .. }) {
            self.becomes_input(&place, ty.value(), &name, &mut left, 0);
        }
    }

    /// Whether `>>` takes something out of a stream: `std::cin`, or an object of a class of streams.
    pub(super) fn is_stream(&self, expr: ExprId, ty: &Ty) -> bool {
        if let Ty::Library(name, _) = ty.value() {
            return name.rsplit("::").next().is_some_and(|name| name.ends_with("stream"));
        }
        let mut first = expr;
        // Each `>>` of a chain gives the stream on.
        while let Some(Expr::Binary(BinaryOp::Shr, left, _)) = self.kind(first) {
            first = *left;
        }
        matches!(self.kind(first), Some(Expr::Name { path, .. }) if path.last().is_some_and(|name| name == "cin"))
    }

    /// An image that is read from a file has the extents that whoever made it gave it.
    pub(super) fn image_from_outside(&mut self) -> Out {
        let ty = Ty::Library("cv::Mat".into(), [].into());
        let object =
            self.create_variable(&Name::from(""), cudalint_syntax::Span::default(), ty.clone(), Val::unknown());
        let place = Place::Cell(object, root());
        self.has_extents_of_its_own(&place, "");
        Out { val: self.memory.load(&place), ty, place: Some(place) }
    }

    /// An image or a container that whoever calls hands over is as large as they made it.
    pub(super) fn has_extents_from_outside(&mut self, place: &Place, ty: &Ty, name: &str) {
        if is_image(ty) {
            self.has_extents_of_its_own(place, name);
        } else if let Some((Container::Vector | Container::String, ..)) = ty.value().container() {
            let size = self.container_size(place);
            self.becomes_input(&size, &Ty::SIZE, &format!("{name}.size()"), &mut 1, 0);
        }
    }

    /// Whether a method of a class out of sight only asks an image, so that its extents stay what they are.
    pub(super) fn only_asks(ty: &Ty, method: &str) -> bool {
        is_image(ty) && ASKS.contains(&method)
    }

    /// The extents of an image are inputs.
    fn has_extents_of_its_own(&mut self, place: &Place, name: &str) {
        for extent in EXTENTS {
            let field = Name::from(extent);
            let place = self.field_place(place, &field);
            let name = if name.is_empty() { extent.to_owned() } else { format!("{name}.{extent}") };
            self.becomes_input(&place, &Ty::INT, &name, &mut 1, 0);
        }
    }

    /// The numbers at a place are whoever runs the program's to choose, `left` of them at most.
    fn becomes_input(&mut self, place: &Place, ty: &Ty, name: &str, left: &mut usize, depth: u32) {
        let Place::Cell(object, path) = place else { return };
        if self.dry > 0 || *left == 0 || depth > MAX_DEPTH {
            return;
        }
        match ty.value() {
            Ty::Int { bytes, signed } if *bytes >= 4 => {
                *left -= 1;
                let q = self.atoms.fresh(name, AtomKind::Input);
                self.memory.store(place, Val::typed(q, *bytes, *signed));
            }
            Ty::Array(of, count) => {
                let Some(size) = self.size_of(of).known() else { return };
                for index in 0..count.known().filter(|count| *count <= MOST_ELEMENTS).unwrap_or(0) {
                    let mut element = path.to_vec();
                    element.push(Key::At(index * size));
                    self.becomes_input(
                        &Place::Cell(*object, element.into()),
                        of,
                        &format!("{name}[{index}]"),
                        left,
                        depth + 1,
                    );
                }
            }
            Ty::Record(entry, _) => {
                let Some(record) = self.project.record_at(*entry).filter(|record| !record.is_union) else { return };
                for field in &record.fields {
                    if let Some(inner) = self.field_type(ty.value(), &field.name) {
                        let at = self.field_place(place, &field.name);
                        self.becomes_input(&at, &inner, &format!("{name}.{}", field.name), left, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }
}
