//! The least and the greatest value of each subscript in a launch.

use crate::code::{Code, Expr, ExprId};
use crate::launch::LaunchInput;
use crate::readings::absence::in_all_blocks;
use crate::report::Site;
use std::collections::BTreeMap;

/// Values of a subscript, over all threads of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexRange {
    /// The subscript with all before it: `a[i]`, of `a[i][j]` one more.
    pub site: Site,
    /// What stands between the brackets.
    pub index: Site,
    /// What was found out; `None` where some thread's is not known, or it is not known who comes there.
    pub values: Option<Values>,
}

/// From the least to the greatest, both of which a thread has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    /// The least.
    pub least: i64,
    /// The greatest.
    pub most: i64,
    /// How many elements there are, where what has the subscript is known to be all of an array.
    pub of: Option<u64>,
}

impl Values {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let of = if self.of == other.of { self.of } else { None };
        Self { least: self.least.min(other.least), most: self.most.max(other.most), of }
    }
}

/// Values so far, by the address that they are a part of; `None` where one of them is not known.
pub(crate) type Indices = BTreeMap<usize, Option<Values>>;

/// What an execution saw of one address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) at: ExprId,
    pub(crate) values: Option<Values>,
}

/// What was seen, with one entry for each subscript of the source: a function that is in the code several times has it several
/// times. `every` says whether all blocks of the launch were executed; else what holds for those is shown for the others.
pub(crate) fn ranges(code: &Code, launch: &LaunchInput, seen: &[Seen], every: bool) -> Vec<IndexRange> {
    let mut all: Vec<(IndexRange, Vec<ExprId>)> = Vec::new();
    for one in seen {
        let Some((site, index)) = subscript(code, one.at) else { continue };
        let values = one.values.map(|values| Values { of: values.of.or_else(|| row(code, one.at)), ..values });
        match all.iter_mut().find(|(known, _)| known.site == site && known.index == index) {
            Some((known, _)) => known.values = known.values.zip(values).map(|(a, b)| a.and(b)),
            None => all.push((IndexRange { site, index, values }, Vec::new())),
        }
    }
    if !every {
        for at in (0..code.exprs.len()).map(ExprId::from) {
            if let Some((site, index)) = subscript(code, at)
                && let Some((_, places)) = all.iter_mut().find(|(it, _)| it.site == site && it.index == index)
            {
                places.push(at);
            }
        }
        let questions: Vec<(&[ExprId], i64, i64)> = all
            .iter()
            .filter_map(|(it, places)| it.values.map(|values| (places.as_slice(), values.least, values.most)))
            .collect();
        let mut answers = in_all_blocks(code, launch, &questions).into_iter();
        for (range, _) in all.iter_mut().filter(|(it, _)| it.values.is_some()) {
            if answers.next() != Some(true) {
                range.values = None;
            }
        }
    }
    let mut all: Vec<IndexRange> = all.into_iter().map(|(range, _)| range).collect();
    all.sort_unstable_by_key(|it| (it.site, it.index));
    all
}

/// All subscripts of the code, of which nothing is known.
pub fn unknown_indices(code: &Code) -> Vec<IndexRange> {
    let places = (0..code.exprs.len()).filter_map(|at| subscript(code, ExprId::from(at)));
    let mut all: Vec<IndexRange> = places.map(|(site, index)| IndexRange { site, index, values: None }).collect();
    all.sort_unstable_by_key(|it| (it.site, it.index));
    all.dedup();
    all
}

/// An address that is an element, and the place of the index. What is written as a number says itself what it is.
fn subscript(code: &Code, at: ExprId) -> Option<(Site, Site)> {
    let node = code.exprs.get(at)?;
    let Expr::Offset { index, .. } = &node.kind else { return None };
    let index = code.expr(*index);
    let inside = index.site.module == node.site.module
        && node.site.span.start < index.site.span.start
        && index.site.span.end < node.site.span.end;
    (inside && !matches!(index.kind, Expr::Int(_))).then_some((node.site, index.site))
}

/// The elements of a row: what has the subscript has one itself, and nothing else stands between the two.
fn row(code: &Code, at: ExprId) -> Option<u64> {
    let node = code.expr(at);
    let Expr::Offset { base, index, stride } = &node.kind else { return None };
    let below = code.expr(*base);
    let Expr::Offset { stride: whole, .. } = &below.kind else { return None };
    let (site, below, index) = (node.site.span, below.site, code.expr(*index).site.span);
    let adjoins = below.module == node.site.module
        && below.span.start == site.start
        && below.span.end < index.start
        && index.start - below.span.end <= 2;
    let fits = *stride > 0 && whole > stride && whole % stride == 0;
    (adjoins && fits).then(|| (whole / stride).unsigned_abs())
}
