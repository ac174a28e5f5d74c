//! Accesses that leave room in front of the elements that they reach, for another array in the same memory.

use super::dependence::{Frame, Room};
use super::source::Source;
use crate::code::{BinaryOp, Builtin, Expr, ExprId, Ty};

/// How deep conditions are computed: each level may double the work.
const MAX_DEPTH: u32 = 8;
/// Most parts of an index that are looked at.
const MAX_PARTS: usize = 16;

/// Whether an element's index is a sum of several parts of which one is the same for all threads and leaves room in front: a positive
/// constant, or what is computed of the kernel's parameters and the block's size alone.
pub(super) fn room_before(frame: &Frame<'_>, address: ExprId) -> Room {
    let source = &frame.source;
    let Expr::Offset { index, .. } = source.kind(address) else { return Room::None };
    let mut open = vec![*index];
    let mut parts = Vec::new();
    while let Some(part) = open.pop() {
        match source.kind(source.bare(part)) {
            Expr::Binary(BinaryOp::Add, a, b) if parts.len() + open.len() < MAX_PARTS => open.extend([*a, *b]),
            _ => parts.push(part),
        }
    }
    if parts.len() < 2 {
        return Room::None;
    }
    let mut given = Vec::new();
    for part in parts {
        match room_of(frame, part) {
            Room::Left => return Room::Left,
            Room::LeftBy(parameters) => given.extend(parameters),
            Room::None => {}
        }
    }
    if given.is_empty() { Room::None } else { Room::LeftBy(given) }
}

/// Whether a number is the same for all threads, and perhaps not zero.
pub(super) fn room_of(frame: &Frame<'_>, part: ExprId) -> Room {
    let source = &frame.source;
    match source.parameter(part) {
        Some(parameter) if frame.calls > 0 => Room::LeftBy(vec![parameter.0]),
        _ if leaves_room(source, part, MAX_DEPTH, frame.calls == 0) => Room::Left,
        _ => Room::None,
    }
}

/// Whether a number is a positive constant, or computed of the block's size and, in the kernel itself, parameters alone.
fn leaves_room(source: &Source<'_>, part: ExprId, depth: u32, is_kernel: bool) -> bool {
    if let Some(constant) = source.constant(part, MAX_DEPTH) {
        return constant > 0;
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    let below = |part: ExprId| leaves_room(source, part, depth, is_kernel);
    match source.kind(source.bare(part)) {
        Expr::Builtin(Builtin::BlockDim(_)) => true,
        Expr::Binary(BinaryOp::Add | BinaryOp::Mul | BinaryOp::Shl, a, b) => below(*a) && below(*b),
        _ if source.parameter(part).is_some() => is_kernel && source.code.expr(part).ty != Ty::Pointer,
        _ => source.variable(part).and_then(|variable| source.value(variable)).is_some_and(below),
    }
}
