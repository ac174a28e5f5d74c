//! Copies that a structure describes: `cudaMemcpy3D`. CUDA Runtime API, `cudaMemcpy3DParms`.

use super::apis::Called;
use super::copies::{Moved, direction};
use super::{Out, Walker};
use crate::arith::convert;
use crate::facts::{PointerArgument, Rows};
use crate::memory::{Key, Place, extend, root};
use crate::quantity::{Quantity, union};
use crate::value::{Kind, Val};
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::ir::ExprId;
use cudalint_program::types::Ty;
use std::collections::BTreeMap;
use std::rc::Rc;

/// One side of a copy as its structure says it.
struct Described {
    pointer: Out,
    /// From the start of a row to the next, in bytes.
    pitch: Val,
    /// Rows of a slice.
    rows: Val,
}

impl Walker<'_> {
    /// A copy in three dimensions, from what its structure holds; `false` where that is not known.
    pub(super) fn copy_described(&mut self, call: Called<'_>, by: ExprId) -> bool {
        let structure = self.eval(by);
        let pointee = structure.ty.pointee().cloned().unwrap_or(Ty::Unknown);
        let place = self.pointed_place(&structure.val, &pointee);
        let (Some(to), Some(from)) = (self.described(&place, "dst"), self.described(&place, "src")) else {
            return false;
        };
        self.shown_to_device(&from.pointer);
        if !self.wants(call.id) {
            self.contents_change(&to.pointer);
            self.held_after_rows(&to.pointer);
            return true;
        }
        let extent = self.field_place(&place, &Name::from("extent"));
        let [width, height, depth] = ["width", "height", "depth"].map(|part| self.part(&extent, part));
        let text = self.text(by).trim_start_matches('&').to_owned();
        let sides = [("dstPtr", &to), ("srcPtr", &from)].map(|(field, side)| PointerArgument {
            pointer: self.pointer(&side.pointer.val),
            text: format!("{text}.{field}"),
            span: self.span(by),
            element: None,
            element_name: String::new(),
        });
        // All slices but the last are as high as their side says.
        let counts = [&to, &from].map(|side| {
            let before = depth.quantity().minus(&Quantity::Known(1)).times(&side.rows.quantity());
            let why = union(&union(&depth.why, &height.why), &side.rows.why);
            let one = depth.known() == Some(1);
            let count = if one { height.quantity() } else { before.plus(&height.quantity()) };
            self.amount(&Val::size(count).because(&why))
        });
        let why = union(&union(&width.why, &height.why), &depth.why);
        let bytes = Val::size(width.quantity().times(&height.quantity()).times(&depth.quantity())).because(&why);
        let rows = Rows {
            width: self.amount(&width),
            width_span: self.span(by),
            counts,
            pitches: [self.amount(&to.pitch), self.amount(&from.pitch)],
            pitch_texts: ["dstPtr", "srcPtr"].map(|field| format!("{text}.{field}.pitch")),
        };
        let kind = self.field_place(&place, &Name::from("kind"));
        let kind = direction(&self.load(&kind, &Ty::INT));
        let moved = Moved { count: by, bytes, rows: Some(Box::new(rows)) };
        self.copied(call, sides, moved, (kind, Some(self.span(by))), &to.pointer);
        self.held_after_rows(&to.pointer);
        true
    }

    /// The side of a copy whose fields begin with a word, if it is memory that is known: an array has no address.
    fn described(&mut self, place: &Place, word: &str) -> Option<Described> {
        let field = self.field_place(place, &Name::from(format!("{word}Ptr").as_str()));
        let start = self.field_place(&field, &Name::from("ptr"));
        let start = self.load(&start, &Ty::pointer_to(Ty::Void));
        if !matches!(start.kind, Kind::Ptr(_) | Kind::Somewhere(..)) {
            return None;
        }
        let (pitch, rows) = (self.part(&field, "pitch"), self.part(&field, "ysize"));
        let position = self.field_place(place, &Name::from(format!("{word}Pos").as_str()));
        let [x, y, z] = ["x", "y", "z"].map(|part| self.part(&position, part));
        let row = z.quantity().times(&rows.quantity()).plus(&y.quantity());
        let at = match [&x, &y, &z].map(Val::known) {
            [Some(0), Some(0), Some(0)] => Quantity::Known(0),
            _ => row.times(&pitch.quantity()).plus(&x.quantity()),
        };
        let why = union(&union(&x.why, &y.why), &z.why);
        let pointer = self.advance(&start, &Val::size(at).because(&why), &Ty::BYTE);
        Some(Described { pointer: Out::new(pointer, Ty::pointer_to(Ty::Void)), pitch, rows })
    }

    /// A number in a field, as a size.
    fn part(&mut self, place: &Place, field: &str) -> Val {
        let at = self.field_place(place, &Name::from(field));
        let val = self.load(&at, &Ty::SIZE);
        convert(&mut self.atoms, &val, &Ty::SIZE)
    }

    /// What a function makes of its arguments, its fields named as the catalogue names its parameters.
    pub(super) fn built(&mut self, api: ApiId, outs: &[Out]) -> Out {
        if api.params.is_empty() || api.params.len() != outs.len() {
            return Out::unknown();
        }
        let cell = |(param, out): (&&str, &Out)| (extend(&root(), Key::Field(Name::from(*param))), out.val.clone());
        let cells: BTreeMap<_, _> = api.params.iter().zip(outs).map(cell).collect();
        Out::new(Val::aggregate(Val::unknown(), Rc::new(cells)), Ty::Unknown)
    }
}
