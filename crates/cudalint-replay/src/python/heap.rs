//! Objects of a Python walk, and what becomes of one where paths meet.

use super::value::{Dim, Dtype, Val};
use crate::facts::{MemorySpace, Origin, Site};
use crate::given::Held;
use crate::host::{JoinRule, Joined, ObjId, Store, Stored};
use crate::quantity::{Assumptions, Quantity};
use cudalint_kernel::python::{ArgumentType, Constant};
use cudalint_program::Name;
use cudalint_program::ir::ModuleId;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Objects.
#[derive(Clone, Debug)]
pub(crate) enum Obj {
    /// Variables of a function's call, or of a module.
    Scope(Scope),
    /// A list; `None` where its elements are not known.
    List(Option<Vec<Val>>),
    /// A dictionary; `None` where its entries are not known.
    Dict(Option<Vec<(Val, Val)>>),
    Instance(Instance),
    Buffer(Buffer),
    /// What a kernel has been compiled for.
    Kernel(Vec<Compiled>),
}

/// Variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// The scope of the function around.
    pub parent: Option<ObjId>,
    /// Locals by their numbers.
    pub slots: Vec<Val>,
    /// Their names.
    pub names: Rc<[Name]>,
    /// Variables of a module by name, with where they got their values.
    pub globals: BTreeMap<Name, (Val, Option<Site>)>,
}

/// An object with attributes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instance {
    /// Its class, where the project has it: module and record.
    pub class: Option<(ModuleId, u32)>,
    pub attributes: BTreeMap<Name, Val>,
    /// Whether it may have attributes that nobody in sight has set.
    pub open: bool,
}

/// Memory of an array.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    pub info: Rc<BufferInfo>,
    /// The variable that held it first.
    pub name: Name,
    pub held: Option<Arc<Held>>,
    /// The host array that it is a copy of, with the transfer.
    pub twin: Option<(ObjId, Site)>,
    /// The first launch whose kernel surely wrote it, with the kernel's name.
    pub written: Option<(Site, Name)>,
    /// Whether what it holds has been fetched, or has gone where it is not followed.
    pub fetched: bool,
    /// The first look at its contents by the host after a device copy of it was changed.
    pub read_after: Option<Site>,
    /// Of memory without a type: the type of the elements that it was made for, or that were copied to its start first.
    pub element: Dtype,
}

/// What does not change over a buffer's life.
#[derive(Clone, Debug)]
pub(crate) struct BufferInfo {
    pub space: MemorySpace,
    pub site: Site,
    pub origin: Origin,
    pub dtype: Dtype,
    pub shape: Option<Rc<[Dim]>>,
    /// Size in bytes, for memory without a type.
    pub bytes: Option<Dim>,
}

/// One compilation of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compiled {
    pub arguments: Vec<ArgumentType>,
    pub captured: Arc<Vec<(Name, Constant)>>,
    /// The launch that it was compiled for.
    pub site: Site,
}

impl Store<Obj> {
    pub fn buffer(&self, id: ObjId) -> Option<&Buffer> {
        match self.get(id) {
            Obj::Buffer(buffer) => Some(buffer),
            _ => None,
        }
    }

    pub fn buffer_mut(&mut self, id: ObjId) -> Option<&mut Buffer> {
        match self.get_mut(id) {
            Obj::Buffer(buffer) => Some(buffer),
            _ => None,
        }
    }

    pub fn scope(&self, id: ObjId) -> Option<&Scope> {
        match self.get(id) {
            Obj::Scope(scope) => Some(scope),
            _ => None,
        }
    }

    pub fn scope_mut(&mut self, id: ObjId) -> Option<&mut Scope> {
        match self.get_mut(id) {
            Obj::Scope(scope) => Some(scope),
            _ => None,
        }
    }

    /// Every buffer, with its number.
    pub fn buffers(&self) -> impl Iterator<Item = (ObjId, &Buffer)> {
        self.iter().filter_map(|(id, obj)| if let Obj::Buffer(buffer) = obj { Some((id, buffer)) } else { None })
    }

    /// Nothing is known any more of what arrays hold.
    pub fn forget_contents(&mut self) {
        let known: Vec<ObjId> = self.buffers().filter(|(_, buffer)| buffer.held.is_some()).map(|(id, _)| id).collect();
        for id in known {
            if let Some(buffer) = self.buffer_mut(id) {
                buffer.held = None;
            }
        }
    }
}

impl Stored for Obj {
    const OF_ITS_PATH: bool = true;

    fn join(current: &Self, other: &Self, rule: &JoinRule, _lost: &mut Vec<ObjId>) -> Joined<Self> {
        if std::ptr::eq(current, other) {
            return Joined::Current;
        }
        Joined::New(join_objects(current, other, rule.default()))
    }
}

fn join_objects(a: &Obj, b: &Obj, default: Option<&Assumptions>) -> Obj {
    match (a, b) {
        (Obj::Scope(a), Obj::Scope(b)) => {
            let slots = a.slots.iter().zip(&b.slots).map(|(a, b)| Val::join(a, b, default)).collect();
            let mut globals = BTreeMap::new();
            for (name, (value, site)) in &a.globals {
                let joined = match b.globals.get(name) {
                    Some((other, _)) => Val::join(value, other, default),
                    None if default.is_some() => value.clone(),
                    None => value.clone(),
                };
                globals.insert(name.clone(), (joined, *site));
            }
            for (name, entry) in &b.globals {
                // A name that only one path defines is used only where that path was taken.
                globals.entry(name.clone()).or_insert_with(|| entry.clone());
            }
            Obj::Scope(Scope { parent: a.parent, slots, names: Rc::clone(&a.names), globals })
        }
        (Obj::List(Some(a)), Obj::List(Some(b))) if default.is_some() || a.len() == b.len() => {
            if a.len() == b.len() {
                Obj::List(Some(a.iter().zip(b).map(|(a, b)| Val::join(a, b, default)).collect()))
            } else {
                let why = default.cloned().flatten();
                Obj::List(Some(a.iter().map(|value| value.clone().because(&why)).collect()))
            }
        }
        (Obj::List(_), Obj::List(_)) => Obj::List(None),
        (Obj::Dict(Some(a)), Obj::Dict(Some(b)))
            if a.len() == b.len() && a.iter().zip(b).all(|((k, _), (l, _))| Val::same(k, l)) =>
        {
            Obj::Dict(Some(a.iter().zip(b).map(|((k, v), (_, w))| (k.clone(), Val::join(v, w, default))).collect()))
        }
        (Obj::Dict(_), Obj::Dict(_)) => Obj::Dict(None),
        (Obj::Instance(a), Obj::Instance(b)) => {
            let mut attributes = BTreeMap::new();
            for (name, value) in &a.attributes {
                let joined = match b.attributes.get(name) {
                    Some(other) => Val::join(value, other, default),
                    None if default.is_some() => value.clone(),
                    None => Val::unknown(),
                };
                attributes.insert(name.clone(), joined);
            }
            for name in b.attributes.keys() {
                attributes.entry(name.clone()).or_insert_with(Val::unknown);
            }
            Obj::Instance(Instance { class: a.class, attributes, open: a.open || b.open })
        }
        (Obj::Buffer(a), Obj::Buffer(b)) => Obj::Buffer(Buffer {
            info: Rc::clone(&a.info),
            name: if a.name.is_empty() { b.name.clone() } else { a.name.clone() },
            held: Held::join(a.held.as_ref(), b.held.as_ref()),
            twin: if a.twin == b.twin { a.twin } else { None },
            written: if b.written.is_some() { a.written.clone() } else { None },
            fetched: a.fetched || b.fetched,
            read_after: a.read_after.or(b.read_after),
            element: if a.element == b.element { a.element } else { Dtype::Unknown },
        }),
        (Obj::Kernel(a), Obj::Kernel(b)) => Obj::Kernel(a.iter().filter(|one| b.contains(one)).cloned().collect()),
        (a, _) => a.clone(),
    }
}

impl Buffer {
    pub fn new(info: BufferInfo) -> Self {
        Self {
            info: Rc::new(info),
            name: Name::default(),
            held: None,
            twin: None,
            written: None,
            fetched: false,
            read_after: None,
            element: Dtype::Unknown,
        }
    }

    /// The type of its elements, as far as anything says.
    pub fn elements(&self) -> Dtype {
        if self.info.dtype == Dtype::Unknown { self.element } else { self.info.dtype }
    }
}

impl BufferInfo {
    /// Size in bytes; an element of unknown type counts as one of 4 bytes, which changes no index.
    pub fn size(&self) -> Dim {
        if let Some(bytes) = &self.bytes {
            return bytes.clone();
        }
        let Some(shape) = &self.shape else { return Dim::unknown() };
        let element = Quantity::Known(self.dtype.bytes().unwrap_or(super::dtype::STAND_IN_BYTES));
        Dim { q: element, why: None }.times(shape)
    }
}
