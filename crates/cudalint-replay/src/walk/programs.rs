//! Programs of the runtime compiler: which names of kernels they are asked to keep, and whether they have been compiled.
//!
//! What is known of a program is written into cells of the object that stands for its handle, so that it follows the paths as all
//! memory does. A cell that holds zero says that something has surely not happened.

use super::apis::Called;
use super::{Out, Walker};
use crate::facts::{EventKind, NameFact, NameFault};
use crate::host::ObjId;
use crate::mangled::is_mangled;
use crate::memory::{Freed, Key, Place, extend, root};
use crate::quantity::Quantity;
use crate::value::{Kind, Ptr, Val};
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Arg;
use cudalint_program::ir::ExprId;

/// Whether it has been compiled.
const COMPILED: &str = "#compiled";
/// Whether a name was added that nobody knows.
const OPEN: &str = "#open";
/// In front of a name that was added.
const ADDED: &str = "#name ";
/// The text of a program.
const SOURCE: &str = "#source";
/// The program that memory, or a module, was compiled from.
const PROGRAM: &str = "#program";
/// The memory of a program in which the names of kernels stand.
const LOWERED: &str = "#lowered";

impl Walker<'_> {
    /// The object of a program's handle.
    fn program(&mut self, handle: ExprId) -> Option<ObjId> {
        let Kind::Ptr(pointer) = self.eval(handle).val.kind else { return None };
        let made = self.memory.get(pointer.obj).info.origin.api()?;
        made.makes_handle().then_some(pointer.obj)
    }

    fn note(&mut self, program: ObjId, what: &str) {
        self.memory.store(&cell(program, what), Val::int(1));
    }

    fn surely_not(&self, program: ObjId, what: &str) -> bool {
        self.memory.load(&cell(program, what)).is_zeroed()
    }

    /// A program is compiled.
    pub(super) fn compiles(&mut self, handle: ExprId) {
        if let Some(program) = self.program(handle) {
            self.note(program, COMPILED);
        }
    }

    /// A program is asked to keep a name.
    pub(super) fn adds_name(&mut self, call: ExprId, api: &str, handle: ExprId, name: ExprId) {
        let program = self.program(handle);
        let text = self.literal(name);
        let Some(program) = program else { return };
        if self.memory.load(&cell(program, COMPILED)).known() == Some(1) {
            self.tell_name(call, api, text.clone(), NameFault::Late);
        }
        match text {
            Some(text) => self.note(program, &format!("{ADDED}{text}")),
            None => self.note(program, OPEN),
        }
    }

    /// A program is asked what a name has become.
    pub(super) fn asks_name(&mut self, call: ExprId, api: &str, handle: ExprId, name: ExprId) {
        let program = self.program(handle);
        let (Some(program), Some(text)) = (program, self.literal(name)) else { return };
        if self.surely_not(program, OPEN) && self.surely_not(program, &format!("{ADDED}{text}")) {
            let added = self.added(program);
            self.tell_name(call, api, Some(text), NameFault::Missing { added });
        }
    }

    /// Takes note of what a handle is made of: a program of its text, a module of what a program was compiled to.
    pub(super) fn made_of(&mut self, api: ApiId, at: usize, made: ObjId, argument: &Out) {
        if api.source_at() == Some(at) && matches!(argument.val.kind, Kind::Str(_)) {
            self.memory.store(&cell(made, SOURCE), argument.val.clone());
        } else if api.image_at() == Some(at)
            && let Some(program) = self.behind(&argument.val, PROGRAM)
        {
            self.memory.store(&cell(made, PROGRAM), program);
        }
    }

    /// Memory is filled with what a program was compiled to, and a kernel is looked up in a module that was made of it.
    pub(super) fn passes_program_on(&mut self, call: Called<'_>, outs: &[Out]) {
        let of = |arg: Arg| outs.get(arg.at()).map(|out| out.val.clone());
        if let Some((program, into)) = call.api.renders()
            && let (Some(program), Some(Val { kind: Kind::Ptr(into), .. })) = (of(program), of(into))
            && matches!(program.kind, Kind::Ptr(_))
        {
            self.memory.store(&cell(into.obj, PROGRAM), program);
        }
        if let Some((module, name)) = call.api.finds_kernel()
            && let (Some(module), Some(name)) = (of(module), of(name))
        {
            self.finds_kernel(call, &module, &name);
        }
    }

    fn finds_kernel(&mut self, call: Called<'_>, module: &Val, name: &Val) {
        match &name.kind {
            // It is read where the program has it.
            Kind::Ptr(pointer)
                if pointer.path.first() == Some(&Key::Field(Name::from(LOWERED)))
                    && self.memory.get(pointer.obj).freed == Freed::Yes =>
            {
                self.tell_name(call.id, call.name, None, NameFault::Ended);
            }
            Kind::Str(name) => {
                let Some(Val { kind: Kind::Ptr(program), .. }) = self.behind(module, PROGRAM) else { return };
                if let Kind::Str(source) = self.memory.load(&cell(program.obj, SOURCE)).kind
                    && is_mangled(&source, name)
                {
                    self.tell_name(call.id, call.name, Some(name.to_string()), NameFault::Mangled);
                }
            }
            _ => {}
        }
    }

    /// A program gives the name that a kernel has become, which lives as long as the program.
    pub(super) fn gives_name(&mut self, program: ExprId, into: &Out) {
        let Some(program) = self.program(program) else { return };
        let path = extend(&root(), Key::Field(Name::from(LOWERED)));
        let name = Kind::Ptr(Ptr { obj: program, path, offset: Quantity::Known(0), array: false });
        self.write_through(into, Val::from(name));
    }

    /// What is noted of the object that a pointer leads to.
    fn behind(&self, pointer: &Val, what: &str) -> Option<Val> {
        let Kind::Ptr(pointer) = &pointer.kind else { return None };
        let noted = self.memory.load(&cell(pointer.obj, what));
        matches!(noted.kind, Kind::Ptr(_)).then_some(noted)
    }

    /// The names that were added.
    fn added(&self, program: ObjId) -> Vec<Name> {
        let cells = self.memory.get(program).cells.iter().flat_map(|cells| cells.keys());
        let names = cells.filter_map(|path| match path.first() {
            Some(Key::Field(name)) => name.strip_prefix(ADDED).map(Name::from),
            _ => None,
        });
        names.collect()
    }

    /// A string literal.
    fn literal(&mut self, text: ExprId) -> Option<String> {
        match &self.eval(text).val.kind {
            Kind::Str(text) => Some(text.to_string()),
            _ => None,
        }
    }

    fn tell_name(&mut self, call: ExprId, api: &str, text: Option<String>, fault: NameFault) {
        let span = self.span(call);
        let fact = NameFact { api: Name::from(api), text: text.unwrap_or_default(), fault };
        self.emit(EventKind::Named(Box::new(fact)), span, &[]);
    }
}

fn cell(program: ObjId, what: &str) -> Place {
    Place::Cell(program, extend(&root(), Key::Field(Name::from(what))))
}
