//! The memory of a walk: objects with cells, written through a journal so that a branch costs what it writes.
//!
//! Every variable and every allocation is an [`Object`]. A cell is named by a path of fields and byte offsets. A fork
//! remembers a mark in the journal; undoing and joining look only at objects written since.

use crate::algebra::Poly;
use crate::facts::{MemorySpace, Site};
use crate::given::Held;
use crate::ty::Ty;
use crate::val::{Kind, Ptr, Val};
use crate::value::Assumptions;
use cudalint_program::Name;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// An object of the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjId(pub u32);

/// A step from an object to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// A field, or a hidden part of a container (`#size`).
    Field(Name),
    /// A byte offset into an array or a buffer.
    At(i64),
}

/// A path to a part of an object.
pub(crate) type CellPath = Rc<[Key]>;

/// The empty path.
pub(crate) fn root() -> CellPath {
    // Asked for at every look at a variable, so it is made once.
    thread_local! {
        static ROOT: CellPath = Rc::from([]);
    }
    ROOT.with(Clone::clone)
}

/// `path` with one step more.
pub(crate) fn extend(path: &CellPath, key: Key) -> CellPath {
    path.iter().cloned().chain([key]).collect()
}

/// Where a value can be stored.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// A known cell.
    Cell(ObjId, CellPath),
    /// Some cell of a known part: a store forgets the whole part.
    Weak(ObjId, CellPath),
    /// Somewhere out of sight: a store may reach every object whose address has got out.
    Unknown,
    /// Surely no object that the walk follows (memory of the device, a string literal).
    Nowhere,
}

/// Whether an allocation has been freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freed {
    No,
    Maybe,
    Yes,
}

/// What does not change over an object's life.
#[derive(Debug)]
pub(crate) struct ObjectInfo {
    pub name: Name,
    pub site: Site,
    pub ty: Ty,
    pub space: MemorySpace,
    /// `local`, `global`, `cudaMalloc`, …
    pub api: Name,
    /// Whether it is addressed by byte offsets: an array or an allocation.
    pub array: bool,
    /// Bytes of an element of the pointer it was first assigned to.
    pub element: Option<i64>,
}

/// An object.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub info: Rc<ObjectInfo>,
    /// Size in bytes, an integer; for variables computed from the type when asked for.
    pub bytes: Val,
    /// The value of the whole, or of every part that has no cell.
    pub root: Val,
    pub cells: Option<Rc<BTreeMap<CellPath, Val>>>,
    pub freed: Freed,
    /// What an allocation is known to hold; `None` where nothing is. Whoever writes makes it so, and may say more then.
    pub held: Option<Arc<Held>>,
}

impl Object {
    /// Whether anything about its contents can be forgotten.
    fn says_something(&self) -> bool {
        !matches!(self.root.kind, Kind::Unknown) || self.cells.is_some() || self.held.is_some()
    }

    /// The value of a part.
    pub fn read(&self, path: &[Key]) -> Val {
        let Some(cells) = &self.cells else {
            return if path.is_empty() { self.root.clone() } else { self.root.part(path) };
        };
        if path.is_empty() {
            return Val::aggregate(self.root.clone(), cells.clone());
        }
        if let Some(value) = cells.get(path)
            && cells
                .range::<[Key], _>((std::ops::Bound::Excluded(path), std::ops::Bound::Unbounded))
                .next()
                .is_none_or(|(next, _)| !next.starts_with(path))
        {
            return value.clone();
        }
        let parts: BTreeMap<CellPath, Val> = cells
            .range::<[Key], _>((std::ops::Bound::Excluded(path), std::ops::Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(path))
            .map(|(key, value)| (key[path.len()..].iter().cloned().collect(), value.clone()))
            .collect();
        let mut whole = None;
        for length in (0..=path.len()).rev() {
            let found = if length == 0 { Some(&self.root) } else { cells.get(&path[..length]) };
            if let Some(value) = found {
                whole = Some(value.part(&path[length..]));
                break;
            }
        }
        let whole = whole.unwrap_or_else(|| self.root.clone());
        if parts.is_empty() { whole } else { Val::aggregate(whole, Rc::new(parts)) }
    }

    /// Stores into a part.
    pub fn write(&mut self, path: &CellPath, value: Val) {
        self.held = None;
        if path.is_empty() {
            if let Kind::Aggregate(parts) = &value.kind {
                self.root = parts.whole.clone();
                self.cells = Some(parts.cells.clone());
            } else {
                self.root = value;
                self.cells = None;
            }
            return;
        }
        let cells = Rc::make_mut(self.cells.get_or_insert_with(Rc::default));
        remove_under(cells, path);
        if let Kind::Aggregate(parts) = &value.kind {
            cells.insert(path.clone(), parts.whole.clone());
            for (tail, part) in parts.cells.iter() {
                cells.insert(path.iter().chain(tail.iter()).cloned().collect(), part.clone());
            }
        } else {
            cells.insert(path.clone(), value);
        }
    }

    /// Every pointer stored in a part.
    pub fn pointers(&self, path: &[Key], into: &mut Vec<Ptr>) {
        self.root.pointers(into);
        if let Some(cells) = &self.cells {
            for (key, value) in cells.iter() {
                if key.starts_with(path) {
                    value.pointers(into);
                }
            }
        }
    }
}

fn remove_under(cells: &mut BTreeMap<CellPath, Val>, path: &CellPath) {
    let doomed: Vec<CellPath> = cells
        .range::<[Key], _>((std::ops::Bound::Included(&**path), std::ops::Bound::Unbounded))
        .take_while(|(key, _)| key.starts_with(path))
        .map(|(key, _)| key.clone())
        .collect();
    for key in doomed {
        cells.remove(&key);
    }
}

/// What a branch left behind, relative to a mark.
#[derive(Debug, Default)]
pub(crate) struct Diff {
    /// In order of their ids.
    objects: Vec<(ObjId, Object)>,
}

/// How two states become one.
#[derive(Clone, Debug)]
pub(crate) enum JoinRule {
    /// Nothing says which: what differs is unknown.
    Either,
    /// The current state holds under these assumptions.
    Current(Assumptions),
    /// The current state holds where this is 1, the other where it is 0: integers become `other + c * (current - other)`.
    Where(Poly),
}

/// All objects.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    objects: Vec<Object>,
    /// The generation in which each object was last journaled.
    logged: Vec<u32>,
    generation: u32,
    journal: Vec<(ObjId, Object)>,
    /// Objects whose address may be known where the walk does not see: never shrinks within a walk.
    pub escaped: std::collections::BTreeSet<ObjId>,
    /// Variables at namespace scope that project code out of sight may write.
    pub shared: std::collections::BTreeSet<ObjId>,
    /// Of those, the ones that no other file of the project names.
    pub own: std::collections::BTreeSet<ObjId>,
}

impl Memory {
    /// A new object.
    pub fn create(&mut self, object: Object) -> ObjId {
        let id = ObjId(self.objects.len() as u32);
        self.objects.push(object);
        self.logged.push(self.generation);
        id
    }

    /// An object.
    pub fn get(&self, id: ObjId) -> &Object {
        &self.objects[id.0 as usize]
    }

    /// An object, to be written.
    pub fn get_mut(&mut self, id: ObjId) -> &mut Object {
        let index = id.0 as usize;
        if self.logged[index] != self.generation {
            self.logged[index] = self.generation;
            self.journal.push((id, self.objects[index].clone()));
        }
        &mut self.objects[index]
    }

    /// A point to return to.
    pub fn mark(&mut self) -> usize {
        self.generation += 1;
        self.journal.len()
    }

    /// Objects written since the mark, with their values at the mark, in order of their ids.
    fn changed_since(&self, mark: usize) -> Vec<(ObjId, &Object)> {
        let mut changed: Vec<(ObjId, &Object)> =
            self.journal.get(mark..).unwrap_or(&[]).iter().map(|(id, old)| (*id, old)).collect();
        // The sort is stable, so that what was logged first stays first.
        changed.sort_by_key(|(id, _)| *id);
        changed.dedup_by_key(|(id, _)| *id);
        changed
    }

    /// What a diff relative to `mark` says of every object that it or the current state has written since.
    fn other_side(&self, diff: Diff, mark: usize) -> Vec<(ObjId, Object)> {
        let changed = self.changed_since(mark);
        let mut all = Vec::with_capacity(changed.len() + diff.objects.len());
        let mut written = diff.objects.into_iter().peekable();
        for (id, old) in changed {
            while let Some(before) = written.next_if(|(other, _)| *other < id) {
                all.push(before);
            }
            all.push(written.next_if(|(other, _)| *other == id).unwrap_or_else(|| (id, old.clone())));
        }
        all.extend(written);
        all
    }

    /// Ids of the objects written since the mark, in order.
    pub fn written_since(&self, mark: usize) -> Vec<ObjId> {
        let mut ids: Vec<ObjId> = self.journal.get(mark..).unwrap_or(&[]).iter().map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// What was written since the mark, as it is now.
    pub fn diff(&self, mark: usize) -> Diff {
        let objects = self.written_since(mark).into_iter().map(|id| (id, self.get(id).clone())).collect();
        Diff { objects }
    }

    /// Returns to the mark.
    pub fn undo(&mut self, mark: usize) {
        while self.journal.len() > mark {
            if let Some((id, old)) = self.journal.pop() {
                self.objects[id.0 as usize] = old;
            }
        }
        self.generation += 1;
    }

    /// Makes a diff that is relative to `from` relative to the earlier mark `to`.
    pub fn rebase(&self, diff: &mut Diff, from: usize, to: usize) {
        let mut ids: Vec<ObjId> = self.journal.get(to..from).unwrap_or(&[]).iter().map(|(id, _)| *id).collect();
        if ids.is_empty() {
            return;
        }
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|id| diff.objects.binary_search_by_key(id, |(known, _)| *known).is_err());
        let later = self.changed_since(from);
        diff.objects.extend(ids.into_iter().map(|id| {
            let at = later.binary_search_by_key(&id, |(known, _)| *known);
            let old = at.ok().and_then(|at| later.get(at)).map_or_else(|| self.get(id), |(_, old)| *old);
            (id, old.clone())
        }));
        diff.objects.sort_by_key(|(id, _)| *id);
    }

    /// Replaces the current state by the diff's, which is relative to `mark`.
    pub fn replace(&mut self, diff: Diff, mark: usize) {
        self.undo(mark);
        for (id, object) in diff.objects {
            *self.get_mut(id) = object;
        }
    }

    /// Makes the state that of the diff (relative to `mark`) by writing, so that the journal keeps both.
    pub fn adopt(&mut self, diff: Diff, mark: usize) {
        let targets = self.other_side(diff, mark);
        self.generation += 1;
        for (id, object) in targets {
            *self.get_mut(id) = object;
        }
    }

    /// Forgets an object's contents, what kind of thing it is excepted.
    pub fn forget_object(&mut self, id: ObjId) {
        self.forget(id, &root());
        self.may_be_freed(id);
    }

    /// Joins the state that the diff (relative to `mark`) stands for with the current one.
    pub fn join(&mut self, diff: Diff, mark: usize, rule: &JoinRule) {
        let others = self.other_side(diff, mark);
        let mut lost = Vec::new();
        for (id, other) in others {
            let current = self.get(id).clone();
            *self.get_mut(id) = join_objects(&current, &other, rule, &mut lost);
        }
        self.escaped.extend(lost.into_iter().map(|pointer: Ptr| pointer.obj));
    }

    /// Adds assumptions to everything written since the mark.
    pub fn taint_since(&mut self, mark: usize, why: &Assumptions) {
        for id in self.written_since(mark) {
            let object = self.get_mut(id);
            object.held = object.held.as_ref().map(|held| Arc::new(Held::because(held, why)));
            object.root = object.root.clone().because(why);
            if let Some(cells) = &mut object.cells {
                for value in Rc::make_mut(cells).values_mut() {
                    *value = value.clone().because(why);
                }
            }
        }
    }

    /// The value at a place.
    pub fn load(&self, place: &Place) -> Val {
        match place {
            Place::Cell(id, path) => self.get(*id).read(path),
            Place::Weak(id, path) => match self.get(*id).read(path).kind {
                // Nothing was ever stored: no index makes a difference.
                Kind::Uninit(origin) => Val::from(Kind::Uninit(origin)),
                _ => Val::unknown(),
            },
            Place::Unknown | Place::Nowhere => Val::unknown(),
        }
    }

    /// Stores at a place.
    pub fn store(&mut self, place: &Place, value: Val) {
        match place {
            Place::Cell(id, path) => self.get_mut(*id).write(path, value),
            Place::Weak(id, path) => {
                let mut pointers = Vec::new();
                value.pointers(&mut pointers);
                self.escaped.extend(pointers.iter().map(|p| p.obj));
                self.forget(*id, path);
            }
            Place::Unknown => {
                let mut pointers = Vec::new();
                value.pointers(&mut pointers);
                self.escaped.extend(pointers.iter().map(|p| p.obj));
                self.forget_escaped();
            }
            Place::Nowhere => {}
        }
    }

    /// Forgets a part of an object; what it pointed to may now be reached from unknown pointers.
    pub fn forget(&mut self, id: ObjId, path: &CellPath) {
        let mut lost = Vec::new();
        self.get(id).pointers(path, &mut lost);
        self.escaped.extend(lost.iter().map(|p| p.obj));
        self.get_mut(id).write(path, Val::unknown());
    }

    /// Forgets every object that code out of sight may write.
    pub fn forget_escaped(&mut self) {
        let ids: Vec<ObjId> = self.escaped.iter().copied().collect();
        for id in ids {
            if self.get(id).says_something() {
                self.forget(id, &root());
            }
        }
    }

    /// Forgets what project code out of sight may write.
    pub fn forget_shared(&mut self) {
        let ids: Vec<ObjId> = self.shared.iter().copied().collect();
        for id in ids {
            if self.get(id).says_something() {
                self.forget(id, &root());
            }
        }
    }

    /// Forgets what code may write that has nothing to do with the GPU and stands in no file of the project that has: not
    /// the variables of one file that point to memory of the device.
    pub fn forget_shared_by_host(&mut self) {
        let ids: Vec<ObjId> = self.shared.iter().copied().collect();
        for id in ids {
            let object = self.get(id);
            let device = object.cells.is_none()
                && matches!(&object.root.kind, Kind::Ptr(pointer) if self.get(pointer.obj).info.space == MemorySpace::Device);
            if object.says_something() && !(device && self.own.contains(&id)) {
                self.forget(id, &root());
            }
        }
    }

    /// Forgets an object and everything reachable from it, allocations' contents and their being alive included.
    pub fn forget_reachable(&mut self, start: ObjId) {
        let mut pending = vec![start];
        let mut seen = std::collections::BTreeSet::new();
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            let mut pointers = Vec::new();
            self.get(id).pointers(&[], &mut pointers);
            pending.extend(pointers.iter().map(|p| p.obj));
            self.escaped.insert(id);
            self.may_be_freed(id);
            if self.get(id).says_something() {
                self.get_mut(id).write(&root(), Val::unknown());
            }
        }
    }

    /// Device code that is given a value may write whatever can be reached from it, and whatever it was shown before:
    /// what those allocations hold is no longer known. The objects that the value itself points to are spared where it
    /// is only read through.
    pub fn reached_by_device(&mut self, value: &Val, read_only: bool) {
        let mut first = Vec::new();
        value.pointers(&mut first);
        let first: Vec<ObjId> = first.iter().map(|pointer| pointer.obj).collect();
        let mut pending = first.clone();
        pending.extend(self.escaped.iter().copied());
        let mut seen = std::collections::BTreeSet::new();
        while let Some(id) = pending.pop() {
            if !seen.insert(id) {
                continue;
            }
            let mut pointers = Vec::new();
            self.get(id).pointers(&[], &mut pointers);
            pending.extend(pointers.iter().map(|pointer| pointer.obj));
            let spared = read_only && first.contains(&id) && !self.escaped.contains(&id);
            if self.get(id).held.is_some() && !spared {
                self.get_mut(id).held = None;
            }
        }
    }

    /// Code out of sight may have freed it.
    pub fn may_be_freed(&mut self, id: ObjId) {
        if self.get(id).freed == Freed::No && self.get(id).info.api.as_str() != "local" {
            self.get_mut(id).freed = Freed::Maybe;
        }
    }
}

fn join_objects(current: &Object, other: &Object, rule: &JoinRule, lost: &mut Vec<Ptr>) -> Object {
    let mut result = current.clone();
    let default = match rule {
        JoinRule::Either | JoinRule::Where(_) => None,
        JoinRule::Current(why) => Some(why),
    };
    let join = |a: &Val, b: &Val, lost: &mut Vec<Ptr>| {
        let blended = if let JoinRule::Where(truth) = rule { Val::blend(truth, a, b) } else { None };
        blended.unwrap_or_else(|| Val::join(a, b, default, lost))
    };
    result.root = join(&current.root, &other.root, lost);
    result.bytes = join(&current.bytes, &other.bytes, lost);
    result.held = Held::join(current.held.as_ref(), other.held.as_ref());
    if current.freed != other.freed && default.is_none() {
        result.freed = Freed::Maybe;
    }
    let same_cells = match (&current.cells, &other.cells) {
        (None, None) => true,
        (Some(a), Some(b)) => Rc::ptr_eq(a, b),
        _ => false,
    };
    if !same_cells {
        let mut cells: BTreeMap<CellPath, Val> = BTreeMap::new();
        let keys = current.cells.iter().chain(&other.cells).flat_map(|c| c.keys());
        for key in keys {
            if !cells.contains_key(key) {
                cells.insert(key.clone(), join(&flat(&current.read(key)), &flat(&other.read(key)), lost));
            }
        }
        result.cells = (!cells.is_empty()).then(|| Rc::new(cells));
    }
    result
}

/// The value of a part without the cells below it, which are joined by themselves.
fn flat(value: &Val) -> Val {
    if let Kind::Aggregate(parts) = &value.kind { parts.whole.clone() } else { value.clone() }
}
