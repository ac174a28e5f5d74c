//! Functions of one name that very many have: template libraries have thousands of `operator()`, and look each up as often.

use crate::ir::{Function, FunctionId, FunctionRole, ModuleId, Path};
use crate::name::Name;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::{Arc, Mutex};

/// The position of something in a module's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// The module.
    pub module: ModuleId,
    /// Position in the module's list of such things.
    pub index: u32,
}

/// Functions of one name.
#[derive(Debug, Default)]
pub(crate) struct Crowd {
    /// Those of no class.
    free: Vec<Entry>,
    /// All, by the last segment of their scope without template arguments; by nothing where they have none.
    by_scope: FxHashMap<Box<str>, Vec<Entry>>,
    /// Those of classes, in the same way.
    members: FxHashMap<Box<str>, Vec<Entry>>,
    /// What was found before: as many look such a name up as have it.
    known: Mutex<Known>,
}

/// Answers that were found, by the module and the scope of the use and the path that is meant.
#[derive(Debug, Default)]
struct Known {
    functions: FxHashMap<(Use, Option<usize>, Wanted), Option<Found>>,
    overloads: FxHashMap<Use, Arc<[Found]>>,
    /// Functions in the lists of overloads.
    kept: usize,
}

/// Functions in lists of overloads of one name that are kept at most.
const MAX_KEPT: usize = 1 << 20;

/// What a name was found to mean, by its uses: as many look up a name that very many have (`value_type`, `type`) as have it.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<FxHashMap<Use, Option<Entry>>>);

impl Answers {
    /// What `find` says, or said before.
    pub fn get(&self, key: (ModuleId, &Path, &Path), find: impl FnOnce() -> Option<Entry>) -> Option<Entry> {
        let key = (key.0, key.1.clone(), key.2.clone());
        // Nothing panics while it is held; what a lost lock would say is found again.
        if let Ok(known) = self.0.lock()
            && let Some(found) = known.get(&key)
        {
            return *found;
        }
        let found = find();
        if let Ok(mut known) = self.0.lock() {
            known.insert(key, found);
        }
        found
    }
}

/// A module, a scope in it, and a path that is used there.
type Use = (ModuleId, Path, Path);

/// A function of the project.
pub(crate) type Found = (ModuleId, FunctionId);

/// What a lookup accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wanted {
    /// Every function.
    Any,
    /// Kernels.
    Kernel,
    /// Functions of classes.
    Member,
}

impl Wanted {
    pub fn accepts(self, function: &Function) -> bool {
        match self {
            Self::Any => true,
            Self::Kernel => function.space.global,
            Self::Member => is_member(function),
        }
    }
}

impl Crowd {
    /// Adds a function of this name.
    pub fn add(&mut self, entry: Entry, function: &Function) {
        let last = segments(&function.scope).last().map_or("", stem);
        let member = is_member(function);
        if !member {
            self.free.push(entry);
        }
        for table in [&mut self.by_scope, &mut self.members].into_iter().take(1 + usize::from(member)) {
            match table.get_mut(last) {
                Some(list) => list.push(entry),
                None => drop(table.insert(last.into(), vec![entry])),
            }
        }
    }

    /// What `find` says, or said before.
    pub fn function(
        &self,
        key: (ModuleId, &Path, &Path, Option<usize>, Wanted),
        find: impl FnOnce() -> Option<Found>,
    ) -> Option<Found> {
        let key = ((key.0, key.1.clone(), key.2.clone()), key.3, key.4);
        // Nothing panics while it is held; what a lost lock would say is found again.
        if let Ok(known) = self.known.lock()
            && let Some(found) = known.functions.get(&key)
        {
            return *found;
        }
        let found = find();
        if let Ok(mut known) = self.known.lock() {
            known.functions.insert(key, found);
        }
        found
    }

    /// As [`Self::function`], of all that a name may mean.
    pub fn overloads(&self, key: (ModuleId, &Path, &Path), find: impl FnOnce() -> Arc<[Found]>) -> Arc<[Found]> {
        let key = (key.0, key.1.clone(), key.2.clone());
        if let Ok(known) = self.known.lock()
            && let Some(found) = known.overloads.get(&key)
        {
            return Arc::clone(found);
        }
        let found = find();
        if let Ok(mut known) = self.known.lock()
            && known.kept < MAX_KEPT
        {
            known.kept += found.len();
            known.overloads.insert(key, Arc::clone(&found));
        }
        found
    }

    /// The functions that `path` can mean inside of `inside`, in order: what does not fit for its scope is mostly left out.
    pub fn candidates(&self, path: &Path, inside: &Path) -> Cow<'_, [Entry]> {
        if let Some(qualifier) = segments(path).rev().nth(1) {
            return Cow::Borrowed(within(&self.by_scope, qualifier));
        }
        // A method without its class's name is meant inside of the class only.
        let around =
            segments(inside).chain([""]).map(|segment| within(&self.members, segment)).filter(|it| !it.is_empty());
        let mut found = Cow::Borrowed(self.free.as_slice());
        for entries in around {
            found.to_mut().extend(entries);
        }
        if let Cow::Owned(found) = &mut found {
            found.sort_unstable();
            found.dedup();
        }
        found
    }
}

/// The functions of a table below a segment.
fn within<'t>(table: &'t FxHashMap<Box<str>, Vec<Entry>>, segment: &str) -> &'t [Entry] {
    table.get(stem(segment)).map_or(&[], Vec::as_slice)
}

/// Whether a function belongs to a class.
pub(crate) const fn is_member(function: &Function) -> bool {
    !matches!(function.role, FunctionRole::Free | FunctionRole::Lambda)
}

/// The segments of a path that have a name.
pub(crate) fn segments(path: &Path) -> impl DoubleEndedIterator<Item = &str> {
    path.segments.iter().map(Name::as_str).filter(|segment| !segment.is_empty())
}

/// A segment without the arguments of a specialization: segments that go by one name have this in common.
fn stem(segment: &str) -> &str {
    segment.split('<').next().unwrap_or(segment).trim_end()
}
