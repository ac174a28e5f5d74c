//! The device that is current on a path, and events that are put into streams of another device than their own.
//!
//! Each thread of the host has a current device: the first, until it selects another. Calls out of sight may select any, and so may
//! one side of a condition that nothing decides.

use super::apis::Called;
use super::made::Born;
use super::order::{Class, Queue};
use super::{Out, Walker};
use crate::arith;
use crate::facts::{DeviceFact, EventKind, Site};
use crate::host::ObjId;
use crate::value::Val;
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{Effect, Handle, Library};
use cudalint_program::arch::same_on_all_devices;
use cudalint_program::ir::ExprId;
use cudalint_program::types::Ty;

/// `cudaStreamNonBlocking`.
const NON_BLOCKING: i64 = 1;

impl Walker<'_> {
    /// A member of `cudaDeviceProp` that is the same on all devices. One that the program itself has set is what it says.
    pub(super) fn device_limit(&mut self, id: ExprId, base: ExprId, name: &Name) -> Option<Out> {
        let value = same_on_all_devices(name)?;
        let ty = self.type_of(base);
        let ty = ty.pointee().unwrap_or(&ty);
        let is_of_device = matches!(ty.value(), Ty::Library(class, _) if class.as_ref() == "cudaDeviceProp");
        if !is_of_device || self.project.is_for_hip(self.module_id()) {
            return None;
        }
        let out = self.read(id);
        let ty = if value > 2048 { Ty::SIZE } else { Ty::INT };
        let known = Out::new(arith::convert(&mut self.atoms, &Val::int(value), &ty), ty);
        Some(if out.val.known().is_some() { out } else { known })
    }

    /// Which device is current is not known any more.
    pub(super) const fn device_is_lost(&mut self) {
        self.timeline.device = None;
        self.timeline.switches += 1;
    }

    /// A call may make another device current.
    pub(super) fn changes_device(&mut self, call: Called<'_>, args: &[ExprId]) {
        for effect in call.api.effects {
            let Effect::SelectsDevice(device) = *effect else { continue };
            self.leave_trace();
            self.device_is_lost();
            if self.dry == 0
                && let Some(device) = device.of(args)
            {
                let out = self.eval(self.without_casts(device));
                self.timeline.device = out.val.known().filter(|_| out.val.why.is_none());
            }
            return;
        }
        if call.api.library == Library::Driver && call.api.section.ends_with("Context Management") {
            self.leave_trace();
            self.device_is_lost();
        }
    }

    /// A stream or an event has been made.
    pub(super) fn is_born(&mut self, handle: ObjId, api: ApiId, flags: Option<i64>) {
        if api.creates(Handle::Stream) || api.creates(Handle::Event) {
            let is_free = api.creates(Handle::Stream) && flags == Some(NON_BLOCKING);
            self.born.insert(handle, Born { device: self.timeline.device, is_free });
        }
    }

    /// How a stream and the default stream stand to each other.
    pub(super) fn class_of(&self, queue: Queue) -> Class {
        let Queue::Made(stream) = queue else {
            return if queue == Queue::Default { Class::Default } else { Class::Foreign };
        };
        let is_own = self.memory.get(stream).info.origin.api().is_some_and(|api| api.creates(Handle::Stream));
        match self.born.get(&stream) {
            Some(born) if is_own && born.is_free => Class::Free,
            Some(_) if is_own => Class::Waiting,
            _ => Class::Foreign,
        }
    }

    /// An event is put into a stream, which has to be one of its own device.
    pub(super) fn checks_record(&mut self, call: Called<'_>, event: ObjId, queue: Queue) {
        let stream = match queue {
            Queue::Made(stream) => self.device_of(stream),
            Queue::Default => self.timeline.device,
            Queue::Unknown => None,
        };
        if let (Some(own), Some(other)) = (self.device_of(event), stream)
            && own != other
        {
            let span = self.span(call.id);
            let info = &self.memory.get(event).info;
            let (name, made): (Name, Site) = (info.name.clone(), info.site);
            let fact = DeviceFact { api: Name::from(call.name), name, made: (own, made), other };
            self.emit(EventKind::WrongDevice(Box::new(fact)), span, &[]);
        }
    }

    fn device_of(&self, handle: ObjId) -> Option<i64> {
        let object = self.memory.get(handle);
        let api = object.info.origin.api()?;
        let is_own = api.creates(Handle::Stream) || api.creates(Handle::Event);
        self.born.get(&handle).filter(|_| is_own && object.freed == crate::memory::Freed::No)?.device
    }
}
