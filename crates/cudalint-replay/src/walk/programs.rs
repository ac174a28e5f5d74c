//! Programs of the runtime compiler: which names of kernels they are asked to keep, and whether they have been compiled.
//!
//! What is known of a program is written into cells of the object that stands for its handle, so that it follows the paths as all
//! memory does. A cell that holds zero says that something has surely not happened.

use super::Walker;
use crate::facts::{EventKind, NameFact, NameFault};
use crate::host::ObjId;
use crate::memory::{Key, Place, extend, root};
use crate::value::{Kind, Val};
use cudalint_program::Name;
use cudalint_program::ir::ExprId;

/// Whether it has been compiled.
const COMPILED: &str = "#compiled";
/// Whether a name was added that nobody knows.
const OPEN: &str = "#open";
/// In front of a name that was added.
const ADDED: &str = "#name ";

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
