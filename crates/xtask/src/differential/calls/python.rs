//! The arguments of a launch in Python.

use super::check::Check;
use super::log::{Argument, Array, integer};
use cudalint_kernel::code::Ty;
use cudalint_kernel::python::{ArgumentType, Order};
use cudalint_replay::given::{Given, Held, HeldContents};

impl Check<'_> {
    /// The arguments of a launch in Python: their types, and what the parameters of the kernel's code are given.
    pub fn python(&mut self, types: &[ArgumentType], given: &[Given], ran: &[Argument]) {
        self.note("number of arguments", types.len() != ran.len());
        let mut given = given.iter();
        let mut open: Vec<(&ArgumentType, &Argument)> = types.iter().zip(ran).rev().collect();
        while let Some((ty, ran)) = open.pop() {
            match (ty, ran) {
                (ArgumentType::Tuple(types), Argument::Tuple(items)) => {
                    self.note("number of elements", types.len() != items.len());
                    open.extend(types.iter().zip(items).rev());
                }
                (ArgumentType::None, ran) => self.note("type of an argument", *ran != Argument::Nothing),
                (ArgumentType::Unknown, _) => {
                    given.next();
                    self.unknown += 1;
                }
                (ArgumentType::Scalar(ty), Argument::Typed(name, value)) => {
                    self.element(ty, name);
                    match given.next() {
                        Some(Given::Int { amount, .. }) => {
                            self.amount("argument", amount, integer(value).unwrap_or(i64::MIN));
                        }
                        Some(Given::Float { value: float, assumptions: None }) => {
                            self.note("argument", value.parse() != Ok(*float));
                        }
                        _ => self.unknown += 1,
                    }
                }
                (ArgumentType::Array { element, rank, order }, Argument::Array(array)) => {
                    // The type of an array rests on what its extents rest on.
                    let rests =
                        |given: &Given| matches!(given, Given::Int { amount, .. } if amount.assumptions.is_some());
                    if !given.as_slice().get(1..=array.shape.len()).is_some_and(|extents| extents.iter().any(rests)) {
                        self.element(element, &array.dtype);
                    }
                    self.note("number of axes", usize::from(*rank) != array.shape.len());
                    if usize::from(*rank) != array.shape.len() {
                        return;
                    }
                    self.array(array, !matches!(element, Ty::Opaque { .. }), *order, &mut given);
                }
                _ => return self.note("type of an argument", true),
            }
        }
    }

    fn array(&mut self, array: &Array, typed: bool, order: Order, given: &mut std::slice::Iter<'_, Given>) {
        match given.next() {
            // Where elements have no known type, a size is made up for them.
            Some(Given::Pointer { .. }) if !typed => self.unknown += 1,
            Some(Given::Pointer { buffer, offset, held }) => {
                self.amount("bytes of an array", &buffer.bytes, array.bytes);
                // Nothing has no place.
                if !array.shape.contains(&0) {
                    self.amount("offset of an array", offset, array.offset);
                }
                if let (Some(held), Some(bytes)) = (held, &array.contents) {
                    self.held(held, bytes);
                }
            }
            _ => self.unknown += 1,
        }
        // How an axis with one element goes on says nothing.
        let empty = array.shape.contains(&0);
        let matters = |axis: &usize| !empty && array.shape.get(*axis).is_some_and(|extent| *extent > 1);
        let mut extents = given.by_ref().take(array.shape.len());
        for ran in &array.shape {
            self.given("extent", extents.next(), *ran);
        }
        if order == Order::Strided {
            for (axis, ran) in array.strides.iter().enumerate() {
                let stride = given.next();
                if matters(&axis) && typed {
                    self.given("stride", stride, *ran);
                }
            }
            return;
        }
        let element = bytes_of(&array.dtype);
        let mut axes: Vec<usize> = (0..array.shape.len()).filter(matters).collect();
        if order == Order::C {
            axes.reverse();
        }
        let mut step = element;
        let dense = axes.iter().all(|axis| {
            let fits = array.strides.get(*axis) == Some(&step);
            step *= array.shape.get(*axis).copied().unwrap_or(1);
            fits
        });
        self.note("order of the elements", !dense);
    }

    fn given(&mut self, what: &str, given: Option<&Given>, ran: i64) {
        match given {
            Some(Given::Int { amount, .. }) => self.amount(what, amount, ran),
            _ => self.unknown += 1,
        }
    }

    fn held(&mut self, held: &Held, ran: &[u8]) {
        if held.assumptions.is_some() {
            return;
        }
        match &held.contents {
            HeldContents::Filled(byte) => self.note("contents", ran.iter().any(|ran| ran != byte)),
            HeldContents::Integers { bytes, values } => {
                let size = usize::from(*bytes);
                for (value, ran) in values.iter().zip(ran.chunks(size)) {
                    let Some(value) = value.known() else { continue };
                    self.note("contents", value.to_le_bytes().get(..size) != Some(ran));
                }
                self.note("contents", values.len() * size > ran.len());
            }
            // That nobody has written there, no byte shows.
            // Only executions tell what kernels have written.
            HeldContents::WrittenBy(..) => {}
            HeldContents::WrittenOnly(_) => {}
        }
    }

    /// A type of numbers beside what `NumPy` calls it.
    fn element(&mut self, ty: &Ty, name: &str) {
        let same = match ty {
            Ty::Bool => name == "bool",
            Ty::Int { bytes, signed } => {
                name == format!("{}int{}", if *signed { "" } else { "u" }, u32::from(*bytes) * 8)
            }
            Ty::Float { bytes } => name == format!("float{}", u32::from(*bytes) * 8),
            _ => {
                self.unknown += 1;
                return;
            }
        };
        self.note("type", !same);
    }
}

/// Bytes of an element, by what `NumPy` calls its type: `int32`.
fn bytes_of(dtype: &str) -> i64 {
    dtype.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<i64>().map_or(1, |bits| bits / 8)
}
