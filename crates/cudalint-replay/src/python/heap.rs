//! Objects of a Python walk, and two states of them put together where paths meet.
//!
//! The list only grows: a branch that is left behind leaves its objects in place, so that a number never means two things.

pub(crate) use super::value::ObjId;
use super::value::{Dim, Dtype, Val};
use crate::facts::{MemorySpace, Origin, Site};
use crate::given::Held;
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

/// All objects in one state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heap {
    objects: Vec<Rc<Obj>>,
}

impl Heap {
    pub fn add(&mut self, obj: Obj) -> ObjId {
        self.objects.push(Rc::new(obj));
        ObjId(self.objects.len() as u32 - 1)
    }

    pub fn get(&self, id: ObjId) -> &Obj {
        &self.objects[id.0 as usize]
    }

    pub fn get_mut(&mut self, id: ObjId) -> &mut Obj {
        Rc::make_mut(&mut self.objects[id.0 as usize])
    }

    pub fn len(&self) -> usize {
        self.objects.len()
    }

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
        self.objects.iter().enumerate().filter_map(|(index, obj)| match &**obj {
            Obj::Buffer(buffer) => Some((ObjId(index as u32), buffer)),
            _ => None,
        })
    }

    /// Nothing is known any more of what arrays hold.
    pub fn forget_contents(&mut self) {
        for obj in &mut self.objects {
            if matches!(&**obj, Obj::Buffer(Buffer { held: Some(_), .. }))
                && let Obj::Buffer(buffer) = Rc::make_mut(obj)
            {
                buffer.held = None;
            }
        }
    }

    /// Goes back to an earlier state; what came into being since stays in place.
    pub fn restore(&mut self, earlier: &Self) {
        let kept = self.objects.split_off(earlier.objects.len().min(self.objects.len()));
        self.objects.clone_from(&earlier.objects);
        self.objects.extend(kept);
    }

    /// What is so in either of two states; with a default this one stays where they differ, resting on it.
    pub fn join(&mut self, other: &Self, default: Option<&Assumptions>) {
        let common = self.objects.len().min(other.objects.len());
        for index in 0..common {
            let (mine, theirs) = (&self.objects[index], &other.objects[index]);
            if Rc::ptr_eq(mine, theirs) {
                continue;
            }
            let joined = join_objects(mine, theirs, default);
            self.objects[index] = Rc::new(joined);
        }
        self.objects.extend(other.objects.iter().skip(common).cloned());
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
        shape.iter().fold(Dim { q: element, why: None }, |all, dim| Dim {
            q: all.q.times(&dim.q),
            why: crate::quantity::union(&all.why, &dim.why),
        })
    }
}
