//! Copies that a structure describes: `cudaMemcpy3D`, `cuMemcpy2D`, `cuMemcpy3D`. CUDA Runtime API, `cudaMemcpy3DParms`.

use super::apis::Called;
use super::copies::{Moved, direction};
use super::{Out, Walker};
use crate::arith::convert;
use crate::facts::{CopyKind, PointerArgument, Rows};
use crate::memory::{Key, Place, extend, root};
use crate::quantity::{Quantity, union};
use crate::value::{Kind, Val};
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Structure;
use cudalint_program::ir::ExprId;
use cudalint_program::types::Ty;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A plane is one slice.
fn one() -> Val {
    Val::size(Quantity::Known(1))
}

/// One side of a copy as its structure says it.
struct Described {
    pointer: Out,
    /// From the start of a row to the next, in bytes.
    pitch: Val,
    /// Rows of a slice.
    rows: Val,
    /// Whether it lies on the device, where the structure says so.
    on_device: Option<bool>,
}

impl Walker<'_> {
    /// A copy of rows, from what its structure holds; `false` where that is not known.
    pub(super) fn copy_described(&mut self, call: Called<'_>, by: ExprId, structure: Structure) -> bool {
        let described = self.eval(by);
        let pointee = described.ty.pointee().cloned().unwrap_or(Ty::Unknown);
        let place = self.pointed_place(&described.val, &pointee);
        let side = |walker: &mut Self, word| match structure {
            Structure::Runtime => walker.described(&place, word),
            _ => walker.described_by_driver(&place, word, structure),
        };
        let (Some(to), Some(from)) = (side(self, "dst"), side(self, "src")) else { return false };
        self.shown_to_device(&from.pointer);
        if !self.wants(call.id) {
            self.contents_change(&to.pointer);
            self.held_after_rows(&to.pointer);
            return true;
        }
        let [width, height, depth] = match structure {
            Structure::Runtime => {
                let extent = self.field_place(&place, &Name::from("extent"));
                ["width", "height", "depth"].map(|part| self.part(&extent, part))
            }
            Structure::Plane => [self.part(&place, "WidthInBytes"), self.part(&place, "Height"), one()],
            Structure::Volume => ["WidthInBytes", "Height", "Depth"].map(|part| self.part(&place, part)),
        };
        let text = self.text(by).trim_start_matches('&').to_owned();
        let (sides, pitches) = match structure {
            Structure::Runtime => (["dstPtr", "srcPtr"], ["dstPtr.pitch", "srcPtr.pitch"]),
            _ => (["dst", "src"], ["dstPitch", "srcPitch"]),
        };
        let sides = [(sides[0], &to), (sides[1], &from)].map(|(field, side)| PointerArgument {
            pointer: self.pointer(&side.pointer.val),
            text: format!("{text}.{field}"),
            span: self.span(by),
            element: None,
            element_name: String::new(),
            array: None,
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
            pitch_texts: pitches.map(|field| format!("{text}.{field}")),
        };
        let kind = match (structure, to.on_device, from.on_device) {
            (Structure::Runtime, ..) => {
                let kind = self.field_place(&place, &Name::from("kind"));
                direction(&self.load(&kind, &Ty::INT))
            }
            (_, Some(true), Some(true)) => CopyKind::DeviceToDevice,
            (_, Some(true), Some(false)) => CopyKind::HostToDevice,
            (_, Some(false), Some(true)) => CopyKind::DeviceToHost,
            (_, Some(false), Some(false)) => CopyKind::HostToHost,
            _ => CopyKind::Default,
        };
        let moved = Moved { count: by, bytes, rows: Some(Box::new(rows)) };
        self.copied(call, sides, moved, (kind, Some(self.span(by))), &to.pointer);
        self.held_after_rows(&to.pointer);
        true
    }

    /// The side of a copy whose fields begin with a word, if it is memory that is known: an array has no address.
    fn described(&mut self, place: &Place, word: &str) -> Option<Described> {
        let field = self.field_place(place, &Name::from(format!("{word}Ptr").as_str()));
        let start = self.start_in(&field, "ptr")?;
        let (pitch, rows) = (self.part(&field, "pitch"), self.part(&field, "ysize"));
        let position = self.field_place(place, &Name::from(format!("{word}Pos").as_str()));
        let position = ["x", "y", "z"].map(|part| self.part(&position, part));
        Some(self.side(&start, &position, pitch, rows, None))
    }

    /// The same in a structure of the driver: CUDA Driver API, `CUDA_MEMCPY2D`, `CUDA_MEMCPY3D`.
    fn described_by_driver(&mut self, place: &Place, word: &str, structure: Structure) -> Option<Described> {
        let named = |what: &str| format!("{word}{what}");
        let (on_device, field) = match self.part(place, &named("MemoryType")).known()? {
            1 => (Some(false), "Host"),
            2 => (Some(true), "Device"),
            4 => (None, "Device"),
            _ => return None,
        };
        let start = self.start_in(place, &named(field))?;
        // A pitch of 0 stands for rows without gaps, whose length nobody states.
        let pitch = Some(self.part(place, &named("Pitch"))).filter(|pitch| pitch.known() != Some(0))?;
        let (rows, z) = match structure {
            Structure::Volume => (self.part(place, &named("Height")), self.part(place, &named("Z"))),
            _ => (self.part(place, "Height"), Val::size(Quantity::Known(0))),
        };
        let position = [self.part(place, &named("XInBytes")), self.part(place, &named("Y")), z];
        Some(self.side(&start, &position, pitch, rows, on_device))
    }

    /// The address in a field, where it is known.
    fn start_in(&mut self, place: &Place, field: &str) -> Option<Val> {
        let at = self.field_place(place, &Name::from(field));
        let start = self.load(&at, &Ty::pointer_to(Ty::Void));
        matches!(start.kind, Kind::Ptr(_) | Kind::Somewhere(..)).then_some(start)
    }

    /// A side that begins at a position (in bytes, rows and slices) behind an address.
    fn side(&mut self, start: &Val, position: &[Val; 3], pitch: Val, rows: Val, on_device: Option<bool>) -> Described {
        let [x, y, z] = position;
        let row = z.quantity().times(&rows.quantity()).plus(&y.quantity());
        let at = match [x, y, z].map(Val::known) {
            [Some(0), Some(0), Some(0)] => Quantity::Known(0),
            _ => row.times(&pitch.quantity()).plus(&x.quantity()),
        };
        let why = union(&union(&x.why, &y.why), &z.why);
        let pointer = self.advance(start, &Val::size(at).because(&why), &Ty::BYTE);
        Described { pointer: Out::new(pointer, Ty::pointer_to(Ty::Void)), pitch, rows, on_device }
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
