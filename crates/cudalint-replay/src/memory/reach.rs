//! What code out of sight can reach: what it may have written is forgotten.

use super::{Asked, CellPath, Freed, Key, Memory, Place, root};
use crate::facts::{KernelWrite, MemorySpace, Origin};
use crate::given::Held;
use crate::host::{ObjId, ObjSet};
use crate::value::{Kind, Val};

impl Memory {
    /// Forgets an object's contents, and whether it has been freed; what kind of thing it is stays.
    pub fn forget_object(&mut self, id: ObjId) {
        self.forget(id, &root());
        self.may_be_freed(id);
        if self.get(id).freed == Freed::Yes {
            self.get_mut(id).freed = Freed::Maybe;
        }
    }

    /// What a value points to may be known where the walk does not see.
    pub fn escape_from(&mut self, value: &Val) {
        let mut pointers = Vec::new();
        value.pointers(&mut pointers);
        self.escaped.extend(pointers);
    }

    /// What these objects are and lead to may be known where the walk does not see; nothing of it is written yet.
    pub fn escape_reachable(&mut self, mut pending: Vec<ObjId>) {
        let mut met = self.empty_set();
        while let Some(id) = pending.pop() {
            if met.insert(id) {
                self.get(id).pointers(&[], &mut pending);
                self.escaped.insert(id);
            }
        }
        self.met = met;
    }

    /// Forgets a part of an object; what it pointed to may now be reached from unknown pointers.
    pub fn forget(&mut self, id: ObjId, path: &CellPath) {
        let object = self.get(id);
        if path.is_empty() && !object.says_something() && object.root.why.is_none() {
            // Forgotten already; it counts as written all the same.
            return self.log(id);
        }
        let mut lost = Vec::new();
        self.get(id).pointers(path, &mut lost);
        self.escaped.extend(lost);
        self.write(id, path, Val::unknown());
    }

    /// Forgets what is known of these objects' contents.
    fn forget_all(&mut self, known: Vec<ObjId>) {
        for id in known {
            self.forget(id, &root());
        }
    }

    /// Forgets every object that code out of sight may write.
    pub fn forget_escaped(&mut self) {
        self.asked = self.asked.with(Asked::ESCAPED);
        let known = self.escaped.iter().filter(|id| self.get(*id).says_something()).collect();
        self.forget_all(known);
    }

    /// Forgets what project code out of sight may write.
    pub fn forget_shared(&mut self) {
        self.asked = self.asked.with(Asked::SHARED);
        let known = self.shared.iter().filter(|id| self.get(*id).says_something()).collect();
        self.forget_all(known);
    }

    /// Forgets what code may write that has nothing to do with the GPU and stands in no file of the project that has: not
    /// the variables of one file that point to memory of the device.
    pub fn forget_shared_by_host(&mut self) {
        self.asked = self.asked.with(Asked::BY_HOST);
        let known = self.written_by_host().collect();
        self.forget_all(known);
    }

    fn written_by_host(&self) -> impl Iterator<Item = ObjId> {
        let spared = |id: ObjId| {
            let object = self.get(id);
            let device = object.cells.is_none()
                && matches!(&object.root.kind, Kind::Ptr(pointer) if self.get(pointer.obj).info.space == MemorySpace::Device);
            device && self.own.contains(id)
        };
        self.shared.iter().filter(move |id| self.get(*id).says_something() && !spared(*id))
    }

    /// Whether nothing is known of any of the objects asked for.
    pub fn has_nothing_for(&self, asked: Asked) -> bool {
        let nothing = |set: &ObjSet| !set.iter().any(|id| self.get(id).says_something());
        (!asked.has(Asked::ESCAPED) || nothing(&self.escaped))
            && (!asked.has(Asked::SHARED) || nothing(&self.shared))
            && (!asked.has(Asked::BY_HOST) || self.written_by_host().next().is_none())
            && (!asked.has(Asked::BY_DEVICE) || !self.holders.iter().any(|id| self.get(id).held.is_some()))
    }

    /// Whether nothing more would escape if these objects were forgotten.
    pub fn is_closed_for(&self, asked: Asked) -> bool {
        let mut pointers = Vec::new();
        let mut closed = |set: &ObjSet| {
            set.iter().all(|id| {
                pointers.clear();
                self.get(id).pointers(&[], &mut pointers);
                pointers.iter().all(|to| self.escaped.contains(*to))
            })
        };
        (!asked.has(Asked::ESCAPED) || closed(&self.escaped))
            && (!asked.has(Asked::SHARED.with(Asked::BY_HOST)) || closed(&self.shared))
    }

    /// The numbers and pointers that a record at a place holds itself, each with its own place.
    pub fn scalars_of(&self, place: &Place) -> Vec<(Place, Val)> {
        let Place::Cell(id, path) = place else { return Vec::new() };
        let is_own = |key: &CellPath| {
            key.len() == path.len() + 1
                && key.starts_with(path)
                // Not a hidden part of a container.
                && matches!(key.last(), Some(Key::Field(name)) if !name.starts_with('#'))
        };
        let is_scalar = |value: &Val| {
            matches!(
                value.kind,
                Kind::Int(_) | Kind::Flag(_) | Kind::Float(_) | Kind::Ratio(..) | Kind::Null | Kind::Ptr(_)
            )
        };
        let cells = self.get(*id).cells.iter().flat_map(|cells| cells.iter());
        let own = cells.filter(|(key, value)| is_own(key) && is_scalar(value));
        own.map(|(key, value)| (Place::Cell(*id, key.clone()), value.clone())).collect()
    }

    /// Forgets an object and everything reachable from it, allocations' contents and their being alive included.
    pub fn forget_reachable(&mut self, start: ObjId) {
        let mut pending = vec![start];
        let mut met = self.empty_set();
        while let Some(id) = pending.pop() {
            if !met.insert(id) {
                continue;
            }
            self.get(id).pointers(&[], &mut pending);
            self.escaped.insert(id);
            self.may_be_freed(id);
            if self.get(id).says_something() {
                self.write(id, &root(), Val::unknown());
            }
        }
        self.met = met;
    }

    /// Device code that is given a value may write whatever can be reached from it, and whatever it was shown before:
    /// what those allocations hold is no longer known. The objects that the value itself points to are spared where it
    /// is only read through.
    pub fn reached_by_device(&mut self, value: &Val, read_only: bool) {
        self.reached_by_kernel(value, read_only, None);
    }

    /// As [`Self::reached_by_device`], by a launch whose execution may tell what it writes in the memory that the value leads to.
    pub fn reached_by_kernel(&mut self, value: &Val, read_only: bool, write: Option<&KernelWrite>) {
        self.asked = self.asked.with(Asked::BY_DEVICE);
        // Once nothing is known of any allocation there is nothing left to forget.
        let mut holding = self.holders.iter().filter(|id| self.get(*id).held.is_some()).count();
        if holding == 0 {
            return;
        }
        let mut first = Vec::new();
        value.pointers(&mut first);
        let mut pending = first.clone();
        pending.extend(self.escaped.iter());
        let mut met = self.empty_set();
        while holding > 0
            && let Some(id) = pending.pop()
        {
            if !met.insert(id) {
                continue;
            }
            let object = self.get(id);
            object.pointers(&[], &mut pending);
            if object.held.is_some() {
                holding -= 1;
                let own = first.contains(&id) && !self.escaped.contains(id);
                if !(read_only && own) {
                    let after = write
                        .filter(|_| own)
                        .and_then(|write| Held::after_kernel(self.get(id).held.as_deref()?, write.clone()));
                    self.get_mut(id).held = after;
                }
            }
        }
        self.met = met;
    }

    /// Code out of sight may have freed it.
    pub fn may_be_freed(&mut self, id: ObjId) {
        if self.get(id).freed == Freed::No && self.get(id).info.origin != Origin::Local {
            self.get_mut(id).freed = Freed::Maybe;
        }
    }
}
