//! What becomes of an object that a launch copies: the copy for the kernel ends where the launch does, and so its destructor runs.

use super::calls::Invocation;
use super::{Out, Walker};
use crate::facts::{ParameterFault, ParameterFaultKind, Site};
use crate::host::{Flow, ObjId, Paths};
use crate::memory::{Freed, Place, root};
use crate::parameters::parameter_faults;
use crate::value::{Kind, Val};
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::ir::{ExprId, FunctionId, ModuleId};
use cudalint_program::types::Ty;

impl Walker<'_> {
    /// The faults of the parameters of a kernel that is launched with these arguments. What a destructor does under conditions is
    /// asked of the very object that is copied.
    pub(super) fn parameter_faults(
        &mut self,
        kernel: Option<(ModuleId, FunctionId)>,
        args: &[Out],
    ) -> Vec<ParameterFault> {
        let Some((module, id)) = kernel else { return Vec::new() };
        let mut faults = parameter_faults(self.project, module, id);
        faults.retain_mut(|fault| {
            let ParameterFaultKind::MayReleaseOnCopy { destructor, releases } = &fault.kind else { return true };
            let Some(arg) = args.get(fault.parameter as usize) else { return false };
            // What CUDA has allocated is what is looked for.
            let of_cuda = |name: &&String| ApiId::named(name).is_some_and(|api| api.is_cuda_host());
            let Some(releases) = releases.iter().find(of_cuda).cloned() else { return false };
            let (module, id) = *destructor;
            let Some(method) = self.project.function_at(module, id) else { return false };
            let destructor = Site { module, span: method.name_span };
            let frees = self.copy_frees(arg, (module, id));
            fault.kind = ParameterFaultKind::ReleasesOnCopy { destructor, releases };
            frees
        });
        faults
    }

    /// Whether the destructor of a copy of an object surely frees memory that the object still has: it runs on a copy, and nothing of
    /// that stays.
    fn copy_frees(&mut self, arg: &Out, destructor: (ModuleId, FunctionId)) -> bool {
        let Ty::Record(entry, env) = arg.ty.value() else { return false };
        let is_own = self
            .project
            .record_at(*entry)
            .is_some_and(|record| entry.module == destructor.0 && record.methods.contains(&destructor.1));
        let val = match (&arg.val.kind, &arg.place) {
            (Kind::Aggregate(_), _) => arg.val.clone(),
            (_, Some(place @ Place::Cell(..))) => self.memory.load(place),
            _ => return false,
        };
        let Kind::Aggregate(parts) = &val.kind else { return false };
        // What rests on an assumption need not hold.
        let is_sure = parts.whole.why.is_none() && parts.cells.values().all(|part| part.why.is_none());
        let mut held = Vec::new();
        val.pointers(&mut held);
        held.retain(|id| self.is_alive_on_device(*id));
        if !is_own || !is_sure || held.is_empty() || !self.is_reporting() {
            return false;
        }
        let (module, id) = destructor;
        let (ty, env) = (arg.ty.value().clone(), env.clone());
        let (mark, begun, known) = (self.memory.mark(), self.begun(), self.path.known());
        let (banned, waiting, ended) = (self.path.excluded().len(), self.pendings.len(), self.ended);
        let timeline = self.timeline.clone();
        self.log.muted += 1;
        let mut frees = false;
        self.alternative(mark, |w| {
            let copy = w.create_variable(&Name::from(""), cudalint_syntax::Span::default(), ty.clone(), Val::unknown());
            let place = Place::Cell(copy, root());
            w.memory.store(&place, val.clone());
            let this = Some((place, ty));
            let invocation = Invocation { module, id, env, this, closure: None, exprs: &[], args: Vec::new() };
            w.invoke(ExprId(u32::MAX), invocation);
            frees = !w.ended && held.iter().any(|id| w.memory.get(*id).freed == Freed::Yes);
            Flow::Next
        });
        self.log.muted -= 1;
        self.forget_begun(begun);
        self.timeline = timeline;
        self.pendings.truncate(waiting);
        self.ended = ended;
        self.path.unlearn(known);
        self.path.readmit(banned);
        frees
    }

    /// Whether memory that CUDA has allocated is there.
    fn is_alive_on_device(&self, id: ObjId) -> bool {
        let object = self.memory.get(id);
        object.freed == Freed::No && object.info.origin.api().is_some_and(|api| api.is_cuda_host())
    }
}
