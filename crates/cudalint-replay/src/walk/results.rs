//! Launches of whose results nobody ever reads anything: what the kernel writes is freed, or left behind, without a copy, another
//! launch or a call that takes it.

use super::Walker;
use super::started::Results;
use crate::facts::{EventKind, MemorySpace, UnreadFact};
use crate::host::ObjId;
use crate::memory::Freed;
use crate::value::{Kind, Ptr};
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::DeviceOp;
use cudalint_program::ir::{Expr, ExprId, FunctionId, Module, ModuleId, Stmt};
use cudalint_program::visit::{Item, walk};

/// Most launches that are remembered.
const MAX_LAUNCHES: usize = 64;
/// Most statements and expressions of a kernel that are looked at.
const MAX_SEEN: u32 = 4000;

impl Walker<'_> {
    /// A kernel is launched: it may read what others have written, and may write what it is given.
    pub(super) fn computes(
        &mut self,
        id: ExprId,
        named: ExprId,
        kernel: Option<(ModuleId, FunctionId)>,
        args: &[(ExprId, super::Out)],
    ) {
        for (_, out) in args {
            self.is_read(out);
        }
        if !self.is_reporting() || self.capturing || self.timeline.results.len() >= MAX_LAUNCHES {
            return;
        }
        let Some(target) = kernel.filter(|kernel| self.speaks_by_parameters(*kernel)) else { return };
        let mut written = Vec::new();
        for (index, (_, out)) in args.iter().enumerate() {
            let number = out.ty.value().is_scalar() && !out.ty.value().is_pointer();
            match &out.val.kind {
                Kind::Ptr(Ptr { obj, .. }) => {
                    let info = &self.memory.get(*obj).info;
                    let own =
                        info.space == MemorySpace::Device && info.origin.api().is_some_and(|api| api.is_cuda_host());
                    match (self.reads_only(Some(target), index), own) {
                        (true, _) => {}
                        (false, true) => written.push(*obj),
                        (false, false) => return,
                    }
                }
                Kind::Null => {}
                _ if number || self.reads_only(Some(target), index) => {}
                // Who knows where it leads, or what is in it.
                _ => return,
            }
        }
        if !written.is_empty() {
            let (site, kernel, timed) = (self.expr_site(id), self.text(named), self.timeline.timed_at_all);
            self.timeline.results.push(Results { site, kernel, written, timed });
        }
    }

    /// Somebody may read what a value leads to.
    pub(super) fn is_read(&mut self, out: &super::Out) {
        if self.timeline.results.is_empty() {
            return;
        }
        let mut pointers = Vec::new();
        out.val.pointers(&mut pointers);
        // What is handed over by its address may lead on.
        for object in pointers.clone() {
            self.memory.get(object).pointers(&[], &mut pointers);
        }
        self.timeline.results.retain(|results| !results.written.iter().any(|object| pointers.contains(object)));
    }

    /// An object is read.
    pub(super) fn is_read_from(&mut self, object: ObjId) {
        self.timeline.results.retain(|results| !results.written.contains(&object));
    }

    /// The entry has come to its end: what nobody has read by now nobody reads.
    pub(super) fn tell_unread(&mut self) {
        if !self.is_reporting() || self.ended {
            return;
        }
        for results in std::mem::take(&mut self.timeline.results) {
            let gone = |object: &ObjId| {
                self.memory.get(*object).freed == Freed::Yes
                    && !self.memory.escaped.contains(*object)
                    && !self.lifetimes.kept.contains(*object)
            };
            if !results.written.iter().all(gone) {
                continue;
            }
            let written = results.written.iter().map(|object| self.memory.get(*object).info.name.clone()).collect();
            let fact =
                UnreadFact { kernel: results.kernel, written, timed: results.timed || self.timeline.timed_at_all };
            self.record_event(EventKind::Unread(Box::new(fact)), results.site, Vec::new());
        }
    }

    /// Whether a kernel says nothing but through its parameters: it prints nothing and writes no variable of its own.
    fn speaks_by_parameters(&self, (module, id): (ModuleId, FunctionId)) -> bool {
        let Some(function) = self.project.function_at(module, id) else { return false };
        let Some(body) = &function.body else { return false };
        let code = self.project.module(module);
        let (mut speaks, mut seen) = (true, 0);
        walk(code, function, body, |item| {
            seen += 1;
            match item {
                Item::Stmt(id) => {
                    let statement = code.stmts.get(id).map(|node| &node.kind);
                    speaks &= !matches!(statement, Some(Stmt::Asm { .. } | Stmt::Unknown { .. } | Stmt::Elided { .. }));
                }
                Item::Expr(id) => match code.exprs.get(id).map(|node| &node.kind) {
                    Some(Expr::Call { callee, .. }) => {
                        speaks &= self.only_computes(code, *callee);
                    }
                    Some(Expr::Assign { target, .. } | Expr::Step { target, .. } | Expr::AddressOf(target)) => {
                        speaks &= !is_named(code, *target);
                    }
                    Some(
                        Expr::Launch(_)
                        | Expr::Lambda { .. }
                        | Expr::New { .. }
                        | Expr::Delete { .. }
                        | Expr::Place { .. }
                        | Expr::Unknown(_),
                    ) => {
                        speaks = false;
                    }
                    _ => {}
                },
                Item::Declare(_) => {}
            }
            speaks && seen < MAX_SEEN
        });
        speaks && seen < MAX_SEEN
    }

    /// Whether a call in a kernel gives a number, changes what it is given by address, or waits for others.
    fn only_computes(&self, code: &Module, callee: ExprId) -> bool {
        let Some(Expr::Name { path, .. }) = code.exprs.get(callee).map(|node| &node.kind) else { return false };
        let Some(name) = path.last().filter(|_| path.segments.len() == 1) else { return false };
        let Some(api) = ApiId::named(name) else { return false };
        let works = match api.device_op() {
            Some(DeviceOp::Print | DeviceOp::Trap) => false,
            Some(_) => true,
            None => api.gives.is_some() || api.is_pure(),
        };
        works && self.project.functions_named(name).is_empty()
    }
}

/// Whether a place belongs to a variable outside of the function.
fn is_named(code: &Module, mut place: ExprId) -> bool {
    loop {
        place = match code.exprs.get(place).map(|node| &node.kind) {
            Some(Expr::Name { .. }) => return true,
            Some(Expr::Member { base, .. } | Expr::Index { base, .. }) => *base,
            Some(Expr::Deref(value) | Expr::Cast { value, .. }) => *value,
            _ => return false,
        };
    }
}
