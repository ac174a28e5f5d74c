//! Algorithms of CUB and Thrust as work of a stream: which one, and what they are given.

use super::order::Queue;
use super::started::{GoesOn, Work};
use super::{Out, Walker};
use crate::facts::Started;
use crate::host::ObjId;
use crate::quantity::Quantity;
use crate::value::Kind;
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId, Path};
use cudalint_program::types::{Ty, last_segment};
use std::rc::Rc;

/// What the classes of CUB are called whose functions work on the whole device.
const WHOLE_DEVICE: &str = "Device";
/// What CUB keeps intermediate results in: the first two arguments.
const TEMPORARY: usize = 2;

impl Walker<'_> {
    /// An algorithm of a library is called: it reads or writes what its pointers lead to, in the order of a stream.
    /// Whether it surely waits for nothing.
    pub(super) fn runs_algorithm(&mut self, id: ExprId, path: &Path, args: &[ExprId], outs: &[Out]) -> bool {
        if self.dry > 0 || !self.has_begun() {
            return false;
        }
        if is_of_cub(path) && matches!(outs.first().map(|out| &out.val.kind), Some(Kind::Null)) {
            // Without memory for it the call only says how much it needs.
            return true;
        }
        let Some((queue, first)) = self.algorithm_queue(path, args, outs) else { return false };
        let name = path.segments.iter().map(ToString::to_string).collect::<Vec<_>>().join("::");
        let number = self.puts(queue).number;
        let goes_on = is_of_cub(path) && queue != Queue::Unknown;
        if !self.is_reporting() {
            return goes_on;
        }
        let site = self.expr_site(id);
        let mut met: Vec<ObjId> = Vec::new();
        for (expr, out) in args.iter().zip(outs).skip(first) {
            let Kind::Ptr(pointer) = &out.val.kind else { continue };
            // Behind the first of two iterators comes the end, which is not touched.
            if met.contains(&pointer.obj) {
                continue;
            }
            met.push(pointer.obj);
            let what = Started::Algorithm { name: Name::from(name.as_str()) };
            let part = Some((self.whole_offset(pointer), Quantity::Unknown));
            let (object, given, goes_on) = (pointer.obj, Rc::from([]), GoesOn::Yes);
            let work = Work { number, object, part, what, site, writes: false, queue, given, goes_on, waited: false };
            self.crosses(id, (*expr, out), &work);
        }
        goes_on
    }

    /// The stream that an algorithm works in, and from which argument on it is given what it works on.
    fn algorithm_queue(&self, path: &Path, args: &[ExprId], outs: &[Out]) -> Option<(Queue, usize)> {
        match path.segments.iter().map(Name::as_str).collect::<Vec<_>>().as_slice() {
            [_, _, _] if is_of_cub(path) => {
                let rest = outs.get(TEMPORARY..)?;
                let streams: Vec<usize> = (TEMPORARY..outs.len()).filter(|at| is_stream(&outs[*at].ty)).collect();
                match streams.as_slice() {
                    [] if rest.iter().all(|out| is_no_stream(&out.ty)) => Some((Queue::Default, TEMPORARY)),
                    [at] => Some((self.queue_from(args[*at], &outs[*at]), TEMPORARY)),
                    _ => None,
                }
            }
            ["thrust", _] => Some((self.policy_queue(*args.first()?)?, 1)),
            _ => None,
        }
    }

    /// The stream of an execution policy of Thrust that stands for the device's default stream.
    fn policy_queue(&self, policy: ExprId) -> Option<Queue> {
        let Some(Expr::Name { path, .. }) = self.kind(policy) else { return None };
        match path.segments.iter().map(Name::as_str).collect::<Vec<_>>().as_slice() {
            ["thrust", "device"] => Some(Queue::Default),
            // Others run on the host.
            ["thrust", backend, "par" | "par_nosync"] if !matches!(backend, &"omp" | &"tbb" | &"cpp") => {
                Some(Queue::Default)
            }
            _ => None,
        }
    }
}

/// Whether it is a function of CUB that works on the whole device: all of these put kernels into a stream and return.
fn is_of_cub(path: &Path) -> bool {
    let segments: Vec<&str> = path.segments.iter().map(Name::as_str).collect();
    matches!(segments.as_slice(), ["cub", class, _] if class.starts_with(WHOLE_DEVICE))
}

fn is_stream(ty: &Ty) -> bool {
    match ty.value() {
        Ty::Pointer(to) => matches!(to.value(), Ty::Library(name, _) if last_segment(name).ends_with("Stream_t")),
        Ty::Library(name, _) => last_segment(name).ends_with("Stream_t"),
        _ => false,
    }
}

/// Whether a value is surely no stream, nor becomes one.
fn is_no_stream(ty: &Ty) -> bool {
    !is_stream(ty) && (ty.value().is_scalar() || matches!(ty.value(), Ty::Pointer(_) | Ty::Array(..)))
}
