//! What becomes of the values that a byte-wise set gives to memory: test data of which nobody looks at the numbers, and patterns of
//! bytes that are meant.
//!
//! It goes by what is written in the function that sets the memory, through a pointer of its own. What is not understood there is taken for
//! somebody who looks.

use crate::facts::{Event, EventKind};
use crate::runs::defects::unread::Reader;
pub use crate::runs::defects::unread::only_measured;
use crate::stored_first::{stores_first, stores_wherever_it_runs};
use cudalint_program::Project;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{Effect, Library};
use cudalint_program::ir::{BinaryOp, Block, Expr, ExprId, Function, LocalId, Module, Stmt, Type, TypeId};
use cudalint_program::visit::{Item, walk};
use cudalint_syntax::Span;
use rustc_hash::FxHashSet;

/// Qualifiers of a type that are looked through.
const MAX_DEPTH: u32 = 4;

/// What becomes of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filling {
    /// Somebody may look at them.
    Looked,
    /// The function copies them, or what is made of them, to somewhere else.
    Fetched,
    /// The program names the pattern of bytes that they are made of.
    Meant,
    /// They are overwritten before anybody looks, or may be: the next that is given the memory may be what computes its values. Or the
    /// function hands them on, and reads no number of their type.
    Unseen,
    /// The memory is a member, or what the function is handed: who looks is to be seen elsewhere.
    Unknown,
}

/// Whether the next that happens to memory that is set is that all of it is written anew: by a call that writes as much, or by a
/// kernel that stores in each element that it covers, and reads none.
pub fn is_stored_over(project: &Project, event: &Event) -> bool {
    uses(project, event).is_some_and(|uses| {
        uses.is_overwritten(event.site.span)
            || uses
                .next_given(event.site.span)
                .is_some_and(|(given, place)| given == Given::Stored && uses.is_come_to(event.site.span, place))
    })
}

/// What the function that sets memory does with it; none where that is not understood.
fn uses<'p>(project: &'p Project, event: &Event) -> Option<Uses<'p>> {
    let EventKind::Set { destination, .. } = &event.kind else { return None };
    let reader = Reader::around(project, event.site)?;
    let memory = reader.named(destination.text.trim())?;
    let own = |function: &Function| function.parent.is_some() && reader.function.span.contains(function.span);
    if reader.module.functions.iter().any(own) {
        return None;
    }
    let floating = ["float", "double", "half", "bfloat"].iter().any(|name| destination.element_name.contains(name));
    Uses::of(reader, memory, floating)
}

/// What becomes of what a set stores, each byte of which is `byte`.
pub fn filling(project: &Project, event: &Event, byte: u8) -> Filling {
    let Some(uses) = uses(project, event) else { return Filling::Unknown };
    if uses.numbers.contains(&i64::from(u32::from_ne_bytes([byte; 4])))
        || uses.numbers.contains(&i64::from_ne_bytes([byte; 8]))
    {
        Filling::Meant
    } else if uses.is_overwritten(event.site.span)
        || uses.is_placeholder()
        || uses.is_only_status()
        || uses.is_given_away(event.site.span)
    {
        Filling::Unseen
    } else if uses.fetched.is_some() {
        Filling::Fetched
    } else {
        Filling::Looked
    }
}

/// What somebody does with memory that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    /// It may look at what is there.
    Looks,
    /// It stores in each element that it covers, and reads none.
    Stored,
    /// It may be what gives the memory its values.
    MayStore,
}

/// All that a function does with a pointer, and with numbers of the type that it points to.
struct Uses<'p> {
    reader: Reader<'p>,
    /// The type of the elements, as written.
    element: Key<'p>,
    /// Whether that is a floating type: whole numbers may be indices, counts and keys wherever they go.
    floating: bool,
    /// Each use of the variable, and whether that is known not to look at what is there.
    places: Vec<(Span, bool)>,
    /// Calls that write the memory, with how many bytes they write, as written.
    written: Vec<(Span, &'p str)>,
    /// Kernels and functions out of sight that are given the memory.
    given: Vec<(Span, Given)>,
    /// Conditions, with all that hangs on them.
    branches: Vec<Span>,
    /// Literals.
    numbers: FxHashSet<i64>,
    /// Whether a number of the element's type may be read.
    reads: bool,
    /// Whether anything is copied between other memory.
    copies: bool,
    /// A call that copies it to somewhere else.
    fetched: Option<Span>,
    /// Calls in which a library is given the memory for the status of what it computes.
    statuses: Vec<Span>,
}

/// What a type is called.
#[derive(Clone, PartialEq, Eq)]
enum Key<'p> {
    Bool,
    /// A number: its bytes, and whether it is a floating one.
    Number(u8, bool),
    Named(&'p str),
    Other,
}

impl Key<'_> {
    /// Whether two types may be one.
    fn may_be(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bool, Self::Number(..)) | (Self::Number(..), Self::Bool) => false,
            (Self::Number(..), Self::Number(..)) | (Self::Named(_), Self::Named(_)) => self == other,
            (Self::Bool, _) | (_, Self::Bool) => false,
            _ => true,
        }
    }
}

/// What a type is, without qualifiers.
fn key_of(module: &Module, ty: TypeId) -> Key<'_> {
    match unqualified(module, ty) {
        Some(Type::Bool) => Key::Bool,
        Some(Type::Int { bytes, .. }) => Key::Number(*bytes, false),
        Some(Type::Float { bytes }) => Key::Number(*bytes, true),
        Some(Type::Named { path, .. }) => path.last().map_or(Key::Other, |name| Key::Named(name.as_str())),
        _ => Key::Other,
    }
}

fn unqualified(module: &Module, ty: TypeId) -> Option<&Type> {
    let mut at = module.types.get(ty)?;
    for _ in 0..MAX_DEPTH {
        match at {
            Type::Qualified { ty, .. } => at = module.types.get(*ty)?,
            _ => break,
        }
    }
    Some(at)
}

/// What the elements behind a pointer or of an array are.
fn element_of(module: &Module, ty: TypeId) -> Option<Key<'_>> {
    match unqualified(module, ty)? {
        Type::Pointer(to) | Type::Array(to, _) => Some(key_of(module, *to)),
        _ => None,
    }
}

impl<'p> Uses<'p> {
    fn of(reader: Reader<'p>, memory: LocalId, floating: bool) -> Option<Self> {
        if !reader.is_of_device(memory) {
            return None;
        }
        let element = element_of(reader.module, reader.function.locals.get(memory)?.ty)?;
        let mut uses = Self {
            reader,
            element,
            floating,
            places: Vec::new(),
            written: Vec::new(),
            given: Vec::new(),
            branches: Vec::new(),
            numbers: FxHashSet::default(),
            reads: false,
            copies: false,
            fetched: None,
            statuses: Vec::new(),
        };
        // Places that are stored in, and uses that look at nothing, are met after what they stand in.
        let (mut stored, mut harmless) = (FxHashSet::default(), FxHashSet::default());
        let mut understood = true;
        walk(reader.module, reader.function, reader.function.body.as_ref()?, |item| {
            match item {
                Item::Stmt(id) => match reader.module.stmts.get(id) {
                    Some(node) => {
                        understood &= !matches!(node.kind, Stmt::Asm { .. } | Stmt::Elided { .. });
                        if matches!(node.kind, Stmt::If { .. } | Stmt::Switch { .. }) {
                            uses.branches.push(node.span);
                        }
                    }
                    None => understood = false,
                },
                Item::Declare(_) => {}
                Item::Expr(id) => uses.expression(id, memory, &mut stored, &mut harmless),
            }
            true
        });
        understood.then_some(uses)
    }

    fn expression(
        &mut self,
        id: ExprId,
        memory: LocalId,
        stored: &mut FxHashSet<ExprId>,
        harmless: &mut FxHashSet<ExprId>,
    ) {
        let reader = self.reader;
        let Some(node) = reader.module.exprs.get(id) else { return };
        let mut passes = |arg: ExprId| {
            if reader.variable(arg) == Some(memory) {
                harmless.insert(reader.bare(arg));
            }
        };
        match &node.kind {
            Expr::Int { value, .. } => {
                self.numbers.insert(*value);
            }
            Expr::Local(used) if *used == memory => self.places.push((node.span, harmless.contains(&id))),
            Expr::Assign { op: None, target, .. } => {
                stored.insert(*target);
            }
            Expr::Index { base, .. } if !stored.contains(&id) => self.reads |= self.may_give_element(*base),
            Expr::Deref(base) if !stored.contains(&id) => self.reads |= self.may_give_element(*base),
            Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) => [*a, *b].into_iter().for_each(passes),
            Expr::Launch(launch) => {
                let places = launch.args.iter().enumerate();
                let mut own = places.filter(|(_, arg)| reader.variable(**arg) == Some(memory)).peekable();
                if own.peek().is_some() {
                    let all: Vec<Given> = own.map(|(at, _)| given_to_kernel(reader, launch.kernel, at)).collect();
                    let looks = all.iter().find(|given| **given == Given::Looks);
                    self.given.extend(looks.or(all.first()).map(|given| (node.span, *given)));
                }
            }
            Expr::Call { callee, args }
                if status_of(reader, *callee, args).is_some_and(|it| reader.variable(it) == Some(memory)) =>
            {
                self.statuses.push(node.span);
                status_of(reader, *callee, args).into_iter().for_each(passes);
            }
            Expr::Call { callee, args } => match reader.api(*callee) {
                Some(api) => {
                    for effect in api.effects {
                        let given = |arg: cudalint_program::api::effects::Arg| arg.of(args);
                        match effect {
                            Effect::Allocates { out, .. } => {
                                let own = given(*out).filter(|out| reader.is_address_of(*out, memory));
                                if let Some(Expr::AddressOf(of)) =
                                    own.and_then(|out| reader.module.exprs.get(reader.bare(out))).map(|node| &node.kind)
                                {
                                    passes(*of);
                                }
                            }
                            Effect::Frees(freed) => given(*freed).into_iter().for_each(&mut passes),
                            Effect::Copies { to, from, .. } => {
                                let (to, from) = (given(*to), given(*from));
                                let is_it =
                                    |arg: Option<ExprId>| arg.is_some_and(|arg| reader.variable(arg) == Some(memory));
                                // Where it goes to an array of this function, it is seen what is read of that.
                                let array = to.is_some_and(|to| reader.variable(to).is_some());
                                if array || is_it(to) {
                                    from.into_iter().for_each(&mut passes);
                                }
                                to.into_iter().for_each(&mut passes);
                                if is_it(from) && !is_it(to) {
                                    self.fetched = Some(node.span);
                                }
                                if is_it(to) {
                                    self.written.extend(Some(node.span).zip(bytes_of(reader, args)));
                                }
                                if is_it(from) && !is_it(to) {
                                    self.given.push((node.span, Given::Looks));
                                }
                                self.copies |= !is_it(to) && !is_it(from);
                            }
                            Effect::Sets { pointer, .. } => {
                                let to = given(*pointer);
                                to.into_iter().for_each(&mut passes);
                                if to.is_some_and(|to| reader.variable(to) == Some(memory)) {
                                    self.written.extend(Some(node.span).zip(bytes_of(reader, args)));
                                }
                            }
                            _ => {}
                        }
                    }
                }
                None if !self.looks(*callee, args) => args.iter().copied().for_each(passes),
                None if args.iter().any(|arg| reader.variable(*arg) == Some(memory))
                    && is_out_of_sight(reader, *callee) =>
                {
                    self.given.push((node.span, Given::MayStore));
                    self.reads = true;
                }
                None => self.reads |= args.iter().any(|arg| self.is_array_of_element(*arg)),
            },
            _ => {}
        }
    }

    /// Whether an element of what an expression points to may be of the type.
    fn may_give_element(&self, base: ExprId) -> bool {
        let reader = self.reader;
        let ty = match reader.module.exprs.get(base).map(|node| &node.kind) {
            Some(Expr::Local(local)) => reader.function.locals.get(*local).map(|local| local.ty),
            Some(Expr::Cast { ty, .. }) => Some(*ty),
            _ => None,
        };
        let element = ty.and_then(|ty| element_of(reader.module, ty));
        element.is_none_or(|element| element.may_be(&self.element))
    }

    /// Whether an argument is a pointer to such elements.
    fn is_array_of_element(&self, arg: ExprId) -> bool {
        let reader = self.reader;
        let ty = reader.variable(arg).and_then(|local| reader.function.locals.get(local)).map(|local| local.ty);
        ty.and_then(|ty| element_of(reader.module, ty)).is_some_and(|element| element.may_be(&self.element))
    }

    /// Whether a function that is no one of a library may look at the numbers that it is given: methods of objects keep them, and
    /// functions in sight that read nothing on the host do not.
    fn looks(&self, callee: ExprId, args: &[ExprId]) -> bool {
        let reader = self.reader;
        if !args.iter().any(|arg| self.is_array_of_element(*arg)) {
            return false;
        }
        if !self.floating {
            return true;
        }
        match reader.module.exprs.get(callee).map(|node| &node.kind) {
            Some(Expr::Member { .. }) => false,
            Some(Expr::Name { path, .. }) => {
                let found = reader.project.function_named(reader.id, &reader.function.scope, path);
                found.is_none_or(|(module, function)| {
                    let function = reader.project.function_at(module, function);
                    function.is_none_or(|function| reads_elements(reader.project.module(module), function, |_| true))
                })
            }
            _ => true,
        }
    }

    /// Whether the next that happens to the memory is that all of it is written.
    fn is_overwritten(&self, set: Span) -> bool {
        let next = self.places.iter().map(|(place, _)| *place).filter(|place| place.start >= set.end);
        let Some(next) = next.min_by_key(|place| place.start) else { return false };
        let bytes = |call: Span| self.written.iter().find(|(at, _)| at.contains(call)).map(|(_, bytes)| *bytes);
        bytes(next).is_some_and(|written| bytes(set) == Some(written)) && self.is_come_to(set, next)
    }

    /// Whether no condition stands before a place that does not stand before the set, too.
    fn is_come_to(&self, set: Span, next: Span) -> bool {
        self.branches.iter().all(|branch| !branch.contains(next) || branch.contains(set))
    }

    /// Whether the next that is given the memory, before anybody is known to look, may be what gives it its values.
    fn is_given_away(&self, set: Span) -> bool {
        self.next_given(set).is_some_and(|(given, _)| given != Given::Looks)
    }

    /// What the next does with the memory that is given it, or uses it in another way, and where.
    fn next_given(&self, set: Span) -> Option<(Given, Span)> {
        let mut next: Vec<(Span, bool)> =
            self.places.iter().copied().filter(|(place, _)| place.start >= set.end).collect();
        next.sort_by_key(|(place, _)| place.start);
        let looks = |(place, harmless): &(Span, bool)| {
            let given = self.given.iter().find(|(call, _)| call.contains(*place)).map(|(_, given)| *given);
            given.or((!harmless).then_some(Given::Looks)).map(|given| (given, *place))
        };
        next.iter().find_map(looks)
    }

    /// Whether only a library gives the memory values, and all that anybody looks at is the status of what it has computed: any number
    /// that is no such status does before.
    fn is_only_status(&self) -> bool {
        !self.statuses.is_empty() && self.places.iter().all(|(_, harmless)| *harmless)
    }

    /// Whether the function looks at no number of the type, but works with other memory.
    fn is_placeholder(&self) -> bool {
        self.copies && !self.reads && self.places.iter().all(|(_, harmless)| *harmless)
    }
}

/// The argument in which functions of cuSOLVER and of cuBLAS for many matrices leave whether each could be solved: the last, but for
/// the number of matrices.
fn status_of(reader: Reader<'_>, callee: ExprId, args: &[ExprId]) -> Option<ExprId> {
    let Some(Expr::Name { path, .. }) = reader.module.exprs.get(callee).map(|node| &node.kind) else { return None };
    let name = path.last()?;
    let many = name.ends_with("Batched");
    let library = ApiId::named(name)?.library;
    let is_solver = library == Library::CuSolver || library == Library::CuBlas && many;
    let place = args.len().checked_sub(if many { 2 } else { 1 })?;
    args.get(place).copied().filter(|_| is_solver)
}

/// What a kernel does with the elements that it is given through a parameter.
fn given_to_kernel(reader: Reader<'_>, kernel: ExprId, parameter: usize) -> Given {
    let Some(Expr::Name { path, .. }) = reader.kind(kernel) else { return Given::MayStore };
    let Some((id, function)) = reader.project.kernel(reader.id, &reader.function.scope, path, None) else {
        return Given::MayStore;
    };
    let Some(function) = reader.project.function_at(id, function) else { return Given::MayStore };
    let module = reader.project.module(id);
    let (Some(body), true) = (&function.body, parameter < function.param_count as usize) else {
        return Given::MayStore;
    };
    let local = LocalId::from(parameter);
    if !stores_first(module, function, local) && may_read(module, function, body, local) {
        Given::Looks
    } else if stores_wherever_it_runs(module, function, local) {
        Given::Stored
    } else {
        Given::MayStore
    }
}

/// Whether an element may be read through a parameter.
fn may_read(module: &Module, function: &Function, body: &Block, local: LocalId) -> bool {
    let kind = |id: ExprId| module.exprs.get(id).map(|node| &node.kind);
    let is_it = |id: ExprId| matches!(kind(id), Some(Expr::Local(it)) if *it == local);
    // Handed on, kept, or moved: somebody may read it there.
    let mut leaves = false;
    walk(module, function, body, |item| {
        leaves |= match item {
            Item::Declare(other) => function.locals.get(other).and_then(|other| other.init).is_some_and(is_it),
            Item::Expr(id) => match kind(id) {
                Some(Expr::Call { args, .. }) => args.iter().any(|arg| is_it(*arg)),
                Some(Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b)) => is_it(*a) || is_it(*b),
                Some(Expr::Assign { value, .. }) => is_it(*value),
                Some(Expr::AddressOf(of)) => matches!(kind(*of), Some(Expr::Index { base, .. }) if is_it(*base)),
                _ => false,
            },
            Item::Stmt(_) => false,
        };
        !leaves
    });
    leaves || reads_elements(module, function, is_it)
}

/// Whether a function is in no file of the project, and no one of a library that is known.
fn is_out_of_sight(reader: Reader<'_>, callee: ExprId) -> bool {
    let Some(Expr::Name { path, .. }) = reader.kind(callee) else { return false };
    reader.api(callee).is_none() && reader.project.function_named(reader.id, &reader.function.scope, path).is_none()
}

/// How many bytes a set or a copy writes, as written.
fn bytes_of<'p>(reader: Reader<'p>, args: &[ExprId]) -> Option<&'p str> {
    let node = reader.module.exprs.get(*args.get(2)?)?;
    Some(reader.project.text(reader.id, node.span).trim())
}

/// Whether a function reads an element through a base that is asked about; what is out of sight may.
fn reads_elements(module: &Module, function: &Function, is_asked: impl Fn(ExprId) -> bool) -> bool {
    let Some(body) = &function.body else { return true };
    // Places that are stored in; what stands in their subscripts may read other elements.
    let mut stored = FxHashSet::default();
    let mut reads = false;
    walk(module, function, body, |item| {
        if let Item::Expr(id) = item
            && let Some(node) = module.exprs.get(id)
        {
            match &node.kind {
                Expr::Assign { op: None, target, .. } => {
                    stored.insert(*target);
                }
                Expr::Index { base, .. } | Expr::Deref(base) => reads |= is_asked(*base) && !stored.contains(&id),
                _ => {}
            }
        }
        !reads
    });
    reads
}
