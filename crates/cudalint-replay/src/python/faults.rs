//! Results that nobody fetches.

use super::Walker;
use super::value::{Kind, Lib, Val};
use crate::facts::{PythonFault, PythonFaultKind};
use crate::host::ObjId;
use cudalint_program::ir::ExprId;

impl Walker<'_> {
    /// The host looks at what an array holds.
    pub(super) fn looked_at(&mut self, value: &Val, id: ExprId) {
        let Kind::Array(array) = &value.kind else { return };
        if array.lib != Lib::Numpy {
            self.fetched(array.buffer);
            return;
        }
        if self.log.muted > 0 {
            return;
        }
        let site = self.expr_site(id);
        let host = array.buffer;
        let stale: Vec<ObjId> = self
            .heap
            .buffers()
            .filter(|(_, buffer)| {
                buffer.twin.is_some_and(|(twin, _)| twin == host)
                    && buffer.written.is_some()
                    && buffer.read_after.is_none()
            })
            .map(|(id, _)| id)
            .collect();
        for id in stale {
            if let Some(buffer) = self.heap.buffer_mut(id) {
                buffer.read_after = Some(site);
            }
        }
    }

    /// A host array is changed: its copies on the device are no longer what it would be compared with.
    pub(super) fn host_changed(&mut self, host: ObjId) {
        let twins: Vec<ObjId> = self
            .heap
            .buffers()
            .filter(|(_, buffer)| buffer.twin.is_some_and(|(twin, _)| twin == host))
            .map(|(id, _)| id)
            .collect();
        for id in twins {
            if let Some(buffer) = self.heap.buffer_mut(id) {
                buffer.twin = None;
            }
        }
    }

    /// At the end of an entry: device copies that a kernel changed and nobody fetched, though the host went on to look at the
    /// original.
    pub(super) fn uncollected(
        &mut self,
        since: u32,
        function: (cudalint_program::ir::ModuleId, cudalint_program::ir::FunctionId),
    ) {
        if !self.is_reporting() {
            return;
        }
        let mut found = Vec::new();
        for (id, buffer) in self.heap.buffers() {
            if id.0 < since || buffer.fetched {
                continue;
            }
            let (Some((host, transfer)), Some((launch, kernel)), Some(read)) =
                (buffer.twin, buffer.written.clone(), buffer.read_after)
            else {
                continue;
            };
            let host = self.heap.buffer(host).map(|host| host.name.to_string()).unwrap_or_default();
            let kind = PythonFaultKind::NotCopiedBack {
                kernel: kernel.to_string(),
                host,
                device: buffer.name.to_string(),
                transfer,
                launch,
            };
            found.push((read, kind));
        }
        for (site, kind) in found {
            let fault = PythonFault { kind, site, function, path: Vec::new(), assumptions: None };
            self.faults.push((site.module, fault));
        }
    }
}
