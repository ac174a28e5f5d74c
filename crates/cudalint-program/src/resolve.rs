//! Lookup of names across the project: which entries a name fits, and which of them are nearest; records, aliases, enumerators and globals.

use crate::crowd::{Entry, segments};
use crate::ir::{Alias, Enumerator, ModuleId, Path, Record, Space, Variable};
use crate::project::Project;
use crate::tables::{Table, TypeName};
use std::borrow::Cow;

pub(crate) fn of<'t>(table: &'t Table, path: &Path) -> &'t [Entry] {
    path.last().and_then(|name| table.get(name.as_str())).map_or(&[], Vec::as_slice)
}

/// How well `scope` plus the thing's own name answers to `path` used inside `inside`: `None` not at all, more is better.
pub(crate) fn fit(scope: &Path, path: &Path, inside: &Path, needs_scope: bool) -> Option<u32> {
    // Asked of every candidate for every name, so that nothing is collected.
    if let ([], [name]) = (&*scope.segments, &*path.segments)
        && !name.is_empty()
    {
        return Some(1);
    }
    let qualifiers = segments(path).count().checked_sub(1)?;
    let whole = segments(scope).count();
    let rest = whole.checked_sub(qualifiers)?;
    if !segments(scope).skip(rest).zip(segments(path)).all(|(segment, written)| is_named(segment, written)) {
        return None;
    }
    // What is left of the scope must be where the use stands, or be brought in by a `using`.
    let shared = segments(inside).zip(segments(scope)).take_while(|(a, b)| a == b).count();
    if shared >= rest {
        // Inside a template its own name means it, and none of its specializations.
        Some(rest as u32 + 1 + u32::from(qualifiers > 0 && shared == whole))
    } else if needs_scope && qualifiers == 0 {
        None
    } else {
        Some(0)
    }
}

/// Whether a scope goes by a written name: it is its own, or that of the template that it specializes.
fn is_named(segment: &str, written: &str) -> bool {
    segment.strip_prefix(written).is_some_and(|rest| rest.is_empty() || rest.trim_start().starts_with('<'))
}

impl Project {
    /// The entries of the nearest step that has any: the module itself, what it includes, what includes it, and the
    /// neighbouring files where an include is out of sight. The flag says whether it is the last step.
    pub(crate) fn nearest(&self, from: ModuleId, candidates: &[Entry]) -> (Vec<Entry>, bool) {
        let own: Vec<Entry> = candidates.iter().copied().filter(|entry| entry.module == from).collect();
        if !own.is_empty() || candidates.is_empty() {
            return (own, false);
        }
        let graph = self.includes();
        if graph.is_alone(from.0) {
            return (Vec::new(), false);
        }
        let reach = graph.reach(from.0);
        for set in [&reach.included, &reach.context] {
            let within: Vec<Entry> = candidates.iter().copied().filter(|entry| set.has(entry.module.0)).collect();
            if !within.is_empty() {
                return (within, false);
            }
        }
        // A source out of sight may define the name itself.
        if !reach.missing || reach.lacks_source {
            return (Vec::new(), true);
        }
        // What is out of sight may lead to a neighbour, but not into another program of the same repository.
        let near = |entry: &Entry| !graph.is_alone(entry.module.0) && graph.are_neighbours(from.0, entry.module.0);
        (candidates.iter().copied().filter(near).collect(), true)
    }

    /// The one entry that fits best in the nearest step.
    fn single(
        &self,
        from: ModuleId,
        inside: &Path,
        path: &Path,
        entries: &[Entry],
        scope_of: impl Fn(Entry) -> Option<(Path, bool)>,
    ) -> Option<Entry> {
        if entries.is_empty() {
            return None;
        }
        let fitting: Vec<(Entry, u32)> = entries
            .iter()
            .filter_map(|entry| {
                let (scope, needs_scope) = scope_of(*entry)?;
                Some((*entry, fit(&scope, path, inside, needs_scope)?))
            })
            .collect();
        let plain: Vec<Entry> = fitting.iter().map(|(entry, _)| *entry).collect();
        let (near, _) = self.nearest(from, &plain);
        // They come in the same order.
        let mut near = near.iter().peekable();
        let near: Vec<(Entry, u32)> =
            fitting.into_iter().filter(|(entry, _)| near.next_if(|next| *next == entry).is_some()).collect();
        let best = near.iter().map(|(_, fit)| *fit).max()?;
        let mut left = near.iter().filter(|(_, fit)| *fit == best);
        let (first, _) = left.next()?;
        left.next().is_none().then_some(*first)
    }

    /// `path` with the namespaces that its first segment is another name of; as written where it is none, or where the
    /// aliases in sight disagree.
    pub(crate) fn meant<'p>(&self, from: ModuleId, inside: &Path, path: &'p Path) -> Cow<'p, Path> {
        let mut path = Cow::Borrowed(path);
        // An alias may name another one.
        for _ in 0..4 {
            let (Some(first), true) = (path.segments.first(), path.segments.len() > 1) else { return path };
            let Some(entries) = self.tables.namespace_aliases.get(first.as_str()) else { return path };
            let alias = |entry: &Entry| self.module(entry.module).namespace_aliases.get(entry.index as usize);
            let name = Path::single(first.clone());
            let fits = |entry: &&Entry| alias(entry).is_some_and(|it| fit(&it.scope, &name, inside, false).is_some());
            let fitting: Vec<Entry> = entries.iter().filter(fits).copied().collect();
            let (near, _) = self.nearest(from, &fitting);
            let mut targets = near.iter().filter_map(alias).map(|it| &it.target);
            let Some(target) = targets.next() else { return path };
            if targets.any(|other| other != target) {
                return path;
            }
            path = Cow::Owned(target.segments.iter().chain(&path.segments[1..]).cloned().collect());
        }
        path
    }

    /// A record by its position.
    pub fn record_at(&self, entry: Entry) -> Option<&Record> {
        self.module(entry.module).records.get(entry.index as usize)
    }

    /// The defined record that `path` means; none where a specialization may stand in for it.
    pub fn record(&self, from: ModuleId, inside: &Path, path: &Path) -> Option<Entry> {
        let path = &*self.meant(from, inside, path);
        let found = self.template(from, inside, path)?;
        let scope = &self.record_at(found)?.scope;
        let specialized = of(&self.tables.specializations, path).iter().any(|entry| {
            (entry.module == found.module || entry.module == from)
                && self.record_at(*entry).is_some_and(|record| record.scope == *scope)
        });
        (!specialized).then_some(found)
    }

    /// The defined record or class template that `path` means, whatever specializations there are.
    pub fn template(&self, from: ModuleId, inside: &Path, path: &Path) -> Option<Entry> {
        let path = &*self.meant(from, inside, path);
        let scope_of = |entry| {
            let record = self.record_at(entry).filter(|record| record.defined)?;
            Some((record.scope.clone(), false))
        };
        self.answer(TypeName::Template, (from, inside, path), || {
            self.single(from, inside, path, of(&self.tables.records, path), scope_of)
        })
    }

    /// What `find` says of a use, kept where very many things have the name.
    fn answer(
        &self,
        which: TypeName,
        key: (ModuleId, &Path, &Path),
        find: impl FnOnce() -> Option<Entry>,
    ) -> Option<Entry> {
        // Hardly any program has such a name.
        if self.tables.answers.is_empty() {
            return find();
        }
        match key.2.last().and_then(|name| self.tables.answers.get(&(which, name.clone()))) {
            Some(answers) => answers.get(key, find),
            None => find(),
        }
    }

    /// Every specialization in sight of the template that `path` means.
    pub fn specializations(&self, from: ModuleId, inside: &Path, path: &Path) -> Vec<Entry> {
        let path = &*self.meant(from, inside, path);
        let entries = of(&self.tables.specializations, path);
        if entries.is_empty() {
            return Vec::new();
        }
        let graph = self.includes();
        let reach = graph.reach(from.0);
        let in_sight = |module: ModuleId| {
            module == from
                || (!graph.is_alone(from.0)
                    && !graph.is_alone(module.0)
                    && (reach.included.has(module.0)
                        || reach.context.has(module.0)
                        || (reach.missing && graph.are_neighbours(from.0, module.0))))
        };
        let fits = |entry: &Entry| {
            self.record_at(*entry)
                .is_some_and(|record| record.defined && fit(&record.scope, path, inside, false).is_some())
        };
        entries.iter().copied().filter(|entry| in_sight(entry.module)).filter(fits).collect()
    }

    /// An alias by its position.
    pub fn alias_at(&self, entry: Entry) -> Option<&Alias> {
        self.module(entry.module).aliases.get(entry.index as usize)
    }

    /// The `typedef` or `using` that `path` means.
    pub fn alias(&self, from: ModuleId, inside: &Path, path: &Path) -> Option<Entry> {
        let path = &*self.meant(from, inside, path);
        let scope_of = |entry| Some((self.alias_at(entry)?.scope.clone(), false));
        self.answer(TypeName::Alias, (from, inside, path), || {
            self.single(from, inside, path, of(&self.tables.aliases, path), scope_of)
        })
    }

    /// An enumerator by its position.
    pub fn enumerator_at(&self, entry: Entry) -> Option<&Enumerator> {
        self.module(entry.module).enumerators.get(entry.index as usize)
    }

    /// The enumerator that `path` means, with or without its enum's name.
    pub fn enumerator(&self, from: ModuleId, inside: &Path, path: &Path) -> Option<Entry> {
        let path = &*self.meant(from, inside, path);
        let qualifier = path.segments.len().checked_sub(2).and_then(|at| path.segments.get(at));
        self.single(from, inside, path, of(&self.tables.enumerators, path), |entry| {
            let enumerator = self.enumerator_at(entry)?;
            let mut scope = enumerator.scope.clone();
            if qualifier == Some(&enumerator.of) {
                scope = scope.within(enumerator.of.clone());
            }
            Some((scope, false))
        })
    }

    /// An enumerator of the enum that `path` means, to tell that it is an enum and of which type.
    pub fn enum_type(&self, from: ModuleId, inside: &Path, path: &Path) -> Option<Entry> {
        let path = &*self.meant(from, inside, path);
        // One entry for each enumerator: any of them speaks for its enum.
        let mut heads: Vec<Entry> = Vec::new();
        for entry in of(&self.tables.enums, path) {
            let scope = &self.enumerator_at(*entry)?.scope;
            let known = heads.iter().any(|head| {
                head.module == entry.module && self.enumerator_at(*head).is_some_and(|other| other.scope == *scope)
            });
            if !known {
                heads.push(*entry);
            }
        }
        self.single(from, inside, path, &heads, |entry| Some((self.enumerator_at(entry)?.scope.clone(), false)))
    }

    /// A variable at namespace scope by its position.
    pub fn global_at(&self, entry: Entry) -> Option<&Variable> {
        self.module(entry.module).globals.get(entry.index as usize)
    }

    /// Whether only one declaration of the project gives this name to a variable at namespace scope.
    pub fn is_only_global(&self, name: &str) -> bool {
        self.tables.globals.get(name).is_some_and(|entries| entries.len() == 1)
    }

    /// The variable at namespace scope, or static member, that `path` means; its definition where there is one.
    pub fn global(&self, from: ModuleId, inside: &Path, path: &Path) -> Option<Entry> {
        let path = &*self.meant(from, inside, path);
        let entries = of(&self.tables.globals, path);
        let scope_of = |entry: Entry| Some((self.global_at(entry)?.scope.clone(), false));
        let is_extern = |entry: &Entry| self.global_at(*entry).is_some_and(|v| v.space == Space::Extern);
        let defined: Vec<Entry> = entries.iter().copied().filter(|entry| !is_extern(entry)).collect();
        if let Some(found) = self.single(from, inside, path, &defined, scope_of) {
            return Some(found);
        }
        let declared: Vec<Entry> = entries.iter().copied().filter(is_extern).collect();
        let (near, last) = self.nearest(from, &declared);
        if near.is_empty() || last {
            return None;
        }
        match defined.as_slice() {
            [one] if !self.includes().is_alone(one.module.0) && !self.includes().is_alone(from.0) => Some(*one),
            _ => near.first().copied(),
        }
    }
}
