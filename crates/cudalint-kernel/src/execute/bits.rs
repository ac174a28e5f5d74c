//! The bits of a value in every lane: one by one, or as a formula over `threadIdx` that stands for them.
//!
//! Most vectors of a kernel are indices: `base + step · threadIdx`. Sums, products with a number and comparisons of such
//! are again such as long as no lane leaves its type, which the extremes tell: a few operations instead of one a lane. A
//! formula is exact in every lane, active or not; the lanes are written out once somebody asks for them.

use super::lanes::Lanes;
use crate::code::{BinaryOp, Ty};
use std::cell::OnceCell;
use std::rc::Rc;

/// The bits of each lane.
#[derive(Clone)]
pub(super) enum Words {
    /// Written out.
    Each(Lanes<i64>),
    /// As a formula.
    Affine(Rc<Affine>),
}

/// The threads of a block: along x, y, z, and how many are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) sizes: [u32; 3],
    pub(super) lanes: u32,
}

/// `base + step · threadIdx` without overflow.
pub(super) struct Affine {
    base: i64,
    /// For one step along x, y, z; 0 along axes of one thread.
    step: [i64; 3],
    extent: Extent,
    least: i64,
    most: i64,
    lanes: OnceCell<Lanes<i64>>,
}

impl From<Lanes<i64>> for Words {
    fn from(lanes: Lanes<i64>) -> Self {
        Self::Each(lanes)
    }
}

impl From<Affine> for Words {
    fn from(affine: Affine) -> Self {
        Self::Affine(Rc::new(affine))
    }
}

impl Words {
    /// The bits of each lane, to read.
    pub(super) fn get(&self) -> &[i64] {
        match self {
            Self::Each(lanes) => lanes.get(),
            Self::Affine(affine) => affine.written_out().get(),
        }
    }

    /// To change, one by one.
    pub(super) fn edit(&mut self) -> &mut [i64] {
        if let Self::Affine(affine) = self {
            *self = Self::Each(affine.written_out().clone());
        }
        match self {
            Self::Each(lanes) => lanes.edit(),
            Self::Affine(_) => &mut [],
        }
    }

    /// The formula, where there is one.
    pub(super) fn affine(&self) -> Option<&Affine> {
        match self {
            Self::Each(_) => None,
            Self::Affine(affine) => Some(affine),
        }
    }
}

impl Affine {
    /// The formula, where no thread's value overflows.
    pub(super) fn new(base: i64, step: [i64; 3], extent: Extent) -> Option<Self> {
        let (mut least, mut most) = (base, base);
        for (&step, size) in step.iter().zip(extent.sizes) {
            if step != 0 {
                let way = step.checked_mul(i64::from(size) - 1)?;
                if way < 0 {
                    least = least.checked_add(way)?;
                } else {
                    most = most.checked_add(way)?;
                }
            }
        }
        Some(Self { base, step, extent, least, most, lanes: OnceCell::new() })
    }

    /// `threadIdx` along an axis.
    pub(super) fn thread(axis: usize, extent: Extent) -> Option<Self> {
        let mut step = [0; 3];
        *step.get_mut(axis)? = 1;
        Self::new(0, step, extent)
    }

    /// The number of the lane.
    pub(super) fn lane(extent: Extent) -> Option<Self> {
        let [x, y, z] = extent.sizes.map(i64::from);
        let step = [1, x, x.checked_mul(y)?];
        let sizes = [x, y, z];
        Self::new(0, [0, 1, 2].map(|axis| if sizes[axis] > 1 { step[axis] } else { 0 }), extent)
    }

    /// The same in each of `n` lanes.
    pub(super) fn alike(value: i64, n: usize) -> Self {
        let extent = Extent { sizes: [n as u32, 1, 1], lanes: n as u32 };
        let (base, step) = (value, [0; 3]);
        Self { base, step, extent, least: value, most: value, lanes: OnceCell::new() }
    }

    /// The same in every lane.
    fn constant(&self, value: i64) -> Self {
        let (base, step, extent) = (value, [0; 3], self.extent);
        Self { base, step, extent, least: value, most: value, lanes: OnceCell::new() }
    }

    /// Less than or equal to the value of every lane.
    pub(super) const fn least(&self) -> i64 {
        self.least
    }

    /// Greater than or equal to the value of every lane.
    pub(super) const fn most(&self) -> i64 {
        self.most
    }

    /// The value of every lane, where they are all the same.
    pub(super) const fn same(&self) -> Option<i64> {
        if self.least == self.most { Some(self.base) } else { None }
    }

    /// Base and steps joined by `|`: what divides all of them, as a power of two, divides every lane's value.
    pub(super) const fn low(&self) -> i64 {
        self.base | self.step[0] | self.step[1] | self.step[2]
    }

    /// Whether each lane's value is by so much larger than that of the lane before.
    pub(super) fn in_row(&self, by: i64) -> bool {
        let mut wanted = Some(by);
        self.step.iter().zip(self.extent.sizes).all(|(&step, size)| {
            let fits = size <= 1 || Some(step) == wanted;
            wanted = wanted.and_then(|wanted| wanted.checked_mul(i64::from(size)));
            fits
        })
    }

    /// The value moved by a number.
    pub(super) fn moved(&self, by: i64) -> Option<Self> {
        let (base, least, most) = (self.base.checked_add(by)?, self.least.checked_add(by)?, self.most.checked_add(by)?);
        Some(Self { base, least, most, step: self.step, extent: self.extent, lanes: OnceCell::new() })
    }

    /// The value times a number.
    pub(super) fn times(&self, by: i64) -> Option<Self> {
        let [x, y, z] = self.step;
        let step = [x.checked_mul(by)?, y.checked_mul(by)?, z.checked_mul(by)?];
        Self::new(self.base.checked_mul(by)?, step, self.extent)
    }

    /// The sum of two.
    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        let mut step = self.step;
        for (step, other) in step.iter_mut().zip(other.step) {
            *step = step.checked_add(other)?;
        }
        Self::new(self.base.checked_add(other.base)?, step, self.extent)
    }

    /// The value divided by a number where every lane's value is a multiple of it, or less than it; none is negative.
    fn divided(&self, by: i64) -> Option<Self> {
        if by <= 0 || self.least < 0 {
            return None;
        }
        if self.most < by {
            return Some(self.constant(0));
        }
        // What is left over of the first lane is left over of all.
        let divides = self.step.iter().all(|step| step % by == 0);
        divides.then(|| Self::new(self.base.div_euclid(by), self.step.map(|step| step / by), self.extent)).flatten()
    }

    /// What is left over of such a division.
    fn left_over(&self, by: i64) -> Option<Self> {
        if by <= 0 || self.least < 0 {
            return None;
        }
        if self.most < by {
            return self.moved(0);
        }
        self.step.iter().all(|step| step % by == 0).then(|| self.constant(self.base.rem_euclid(by)))
    }

    fn written_out(&self) -> &Lanes<i64> {
        self.lanes.get_or_init(|| {
            let mut lanes = Lanes::any(self.extent.lanes as usize);
            let (mut y, mut row, mut plane) = (0, self.base, self.base);
            for out in lanes.edit().chunks_mut(self.extent.sizes[0].max(1) as usize) {
                let mut value = row;
                for out in out {
                    *out = value;
                    value = value.wrapping_add(self.step[0]);
                }
                y += 1;
                row = row.wrapping_add(self.step[1]);
                if y == self.extent.sizes[1] {
                    plane = plane.wrapping_add(self.step[2]);
                    (y, row) = (0, plane);
                }
            }
            lanes
        })
    }
}

/// One side of an operation.
#[derive(Clone, Copy)]
pub(super) enum Side<'a> {
    /// A number that is uniform over all lanes.
    One(i64),
    /// A formula.
    Of(&'a Affine),
}

impl Side<'_> {
    const fn same(&self) -> Option<i64> {
        match self {
            Self::One(value) => Some(*value),
            Self::Of(affine) => affine.same(),
        }
    }

    /// Less than or equal to the value of every lane.
    pub(super) const fn least(&self) -> i64 {
        match self {
            Self::One(value) => *value,
            Self::Of(affine) => affine.least,
        }
    }

    /// Greater than or equal to the value of every lane.
    pub(super) const fn most(&self) -> i64 {
        match self {
            Self::One(value) => *value,
            Self::Of(affine) => affine.most,
        }
    }

    /// The sum of two sides, of which one is a formula.
    pub(super) fn plus(self, other: Self) -> Option<Affine> {
        match (self, other) {
            (Self::Of(a), Self::Of(b)) => a.plus(b),
            (Self::Of(a), Self::One(by)) | (Self::One(by), Self::Of(a)) => a.moved(by),
            (Self::One(_), Self::One(_)) => None,
        }
    }

    fn minus(self, other: Self) -> Option<Affine> {
        match (self, other) {
            (Self::Of(a), Self::Of(b)) => a.plus(&b.times(-1)?),
            (Self::Of(a), Self::One(by)) => a.moved(by.checked_neg()?),
            (Self::One(by), Self::Of(a)) => a.times(-1)?.moved(by),
            (Self::One(_), Self::One(_)) => None,
        }
    }

    fn times(self, other: Self) -> Option<Affine> {
        match (self, other.same(), self.same(), other) {
            (Self::Of(a), Some(by), ..) => a.times(by),
            (_, _, Some(by), Self::Of(b)) => b.times(by),
            _ => None,
        }
    }
}

/// An integer operation on formulas where the outcome is one as well and no lane leaves the type of the operands.
pub(super) fn combined(op: BinaryOp, ty: &Ty, a: Side<'_>, b: Side<'_>) -> Option<Affine> {
    if !matches!(ty, Ty::Bool | Ty::Int { .. }) || (ty.integer().is_u64() && (a.least() < 0 || b.least() < 0)) {
        return None;
    }
    if op.is_comparison() {
        let way = a.minus(b)?;
        let decided = |yes: bool, no: bool| match (yes, no) {
            (true, _) => Some(way.constant(1)),
            (_, true) => Some(way.constant(0)),
            _ => None,
        };
        return match op {
            BinaryOp::Lt => decided(way.most < 0, way.least >= 0),
            BinaryOp::Le => decided(way.most <= 0, way.least > 0),
            BinaryOp::Gt => decided(way.least > 0, way.most <= 0),
            BinaryOp::Ge => decided(way.least >= 0, way.most < 0),
            BinaryOp::Eq => decided(way.same() == Some(0), way.least > 0 || way.most < 0),
            _ => decided(way.least > 0 || way.most < 0, way.same() == Some(0)),
        };
    }
    let result = match (op, a, b) {
        (BinaryOp::Add, ..) => a.plus(b)?,
        (BinaryOp::Sub, ..) => a.minus(b)?,
        (BinaryOp::Mul, ..) => a.times(b)?,
        (BinaryOp::Shl, Side::Of(a), Side::One(by)) if (0..i64::from(ty.bytes()? * 8).min(62)).contains(&by) => {
            a.times(1 << by)?
        }
        (BinaryOp::Shr, Side::Of(a), Side::One(by)) if (0..i64::from(ty.bytes()? * 8).min(62)).contains(&by) => {
            a.divided(1 << by)?
        }
        (BinaryOp::Div, Side::Of(a), Side::One(by)) => a.divided(by)?,
        (BinaryOp::Rem, Side::Of(a), Side::One(by)) => a.left_over(by)?,
        (BinaryOp::And, Side::Of(a), Side::One(by)) | (BinaryOp::And, Side::One(by), Side::Of(a))
            if (0..i64::MAX).contains(&by) && (by + 1) & by == 0 =>
        {
            a.left_over(by + 1)?
        }
        _ => return None,
    };
    fits(ty, &result).then_some(result)
}

/// Whether every lane's value is in the range of the type.
pub(super) fn fits(ty: &Ty, affine: &Affine) -> bool {
    if ty.integer().is_u64() {
        return affine.least >= 0;
    }
    ty.wrap(affine.least) == affine.least && ty.wrap(affine.most) == affine.most
}
