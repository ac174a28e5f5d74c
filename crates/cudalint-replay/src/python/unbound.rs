//! Names that nothing binds: evaluating one raises `NameError`, and the path ends there.

use super::Walker;
use cudalint_program::Name;
use cudalint_program::ir::{ExprId, Function, LocalId, ModuleId};
use cudalint_syntax::{Language, Span};

/// What Python has beside the functions whose effects are known (`builtins.rs`), in its second version too, and what shells and
/// profilers put there.
#[rustfmt::skip]
const BUILT_IN: [&str; 161] = [
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup", "BlockingIOError",
    "BrokenPipeError", "BufferError", "BytesWarning", "ChildProcessError", "ConnectionAbortedError", "ConnectionError",
    "ConnectionRefusedError", "ConnectionResetError", "DeprecationWarning", "EOFError", "Ellipsis", "EncodingWarning",
    "EnvironmentError", "Exception", "ExceptionGroup", "False", "FileExistsError", "FileNotFoundError",
    "FloatingPointError", "FutureWarning", "GeneratorExit", "IOError", "ImportError", "ImportWarning", "IndentationError",
    "IndexError", "InterruptedError", "IsADirectoryError", "KeyError", "KeyboardInterrupt", "LookupError", "MemoryError",
    "ModuleNotFoundError", "NameError", "None", "NotADirectoryError", "NotImplemented", "NotImplementedError", "OSError",
    "OverflowError", "PendingDeprecationWarning", "PermissionError", "ProcessLookupError", "PythonFinalizationError",
    "RecursionError", "ReferenceError", "ResourceWarning", "RuntimeError", "RuntimeWarning", "StandardError",
    "StopAsyncIteration", "StopIteration", "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit", "TabError",
    "TimeoutError", "True", "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError",
    "UnicodeTranslateError", "UnicodeWarning", "UserWarning", "ValueError", "VMSError", "Warning", "WindowsError",
    "ZeroDivisionError", "abs", "aiter", "all", "anext", "any", "apply", "ascii", "basestring", "bin", "bool",
    "breakpoint", "buffer", "bytearray", "bytes", "callable", "chr", "classmethod", "cmp", "coerce", "compile",
    "complex", "copyright", "credits", "delattr", "dict", "dir", "display", "divmod", "enumerate", "eval", "exec",
    "execfile", "exit", "file", "filter", "float", "format", "frozenset", "get_ipython", "getattr", "globals", "hasattr",
    "hash", "help", "hex", "id", "input", "int", "intern", "isinstance", "issubclass", "iter", "len", "license", "list",
    "locals", "long", "map", "max", "memoryview", "min", "next", "object", "oct", "open", "ord", "pow", "print",
    "profile", "property", "quit", "range", "raw_input", "reduce", "reload", "repr", "reversed", "round", "set",
    "setattr", "slice", "sorted", "staticmethod",
];
/// The rest of them: an array of all is long to read.
#[rustfmt::skip]
const MORE: [&str; 12] = [
    "str", "sum", "super", "tuple", "type", "unichr", "unicode", "vars", "xrange", "zip", "reveal_type", "reveal_locals",
];
/// What kernels of notebooks bind before the first cell: `IPython`'s own, and those of Spark and of hosted ones.
#[rustfmt::skip]
const OF_NOTEBOOKS: [&str; 14] = [
    "In", "Out", "sc", "spark", "sqlContext", "sqlCtx", "sql", "dbutils", "displayHTML", "display_html", "table", "udf",
    "z", "widgets",
];
/// What binds names that stand nowhere, in the module itself.
const BINDERS: [&str; 11] = [
    "exec",
    "globals",
    "locals",
    "vars(",
    "eval(",
    "setattr",
    "builtin",
    "sys.modules",
    "get_ipython",
    "gettext",
    "inject",
];
/// What may bind names of other modules, or run their code in another place.
const MEDDLERS: [&str; 5] = ["builtins", "__builtin__", "execfile", "exec(", "runpy"];

impl Walker<'_> {
    /// Whether a local that nobody has assigned is named for the first time where it is read: what binds it stands behind.
    pub(super) fn is_bound_later(&self, local: LocalId, read: ExprId) -> bool {
        let Some(function) = self.function().filter(|function| function.python.is_some()) else { return false };
        let Some((variable, read)) = function.locals.get(local).zip(self.module().exprs.get(read)) else {
            return false;
        };
        let before = Span { start: function.span.start, end: read.span.start };
        let text = self.project.text(self.module_id(), before);
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let mut words = text.split(|letter| !is_part(letter));
        function.span.contains(read.span) && !words.any(|word| *word == *variable.name)
    }

    /// Whether a name, which is no local where the walk stands, is surely bound nowhere: neither in the functions around nor in the
    /// module, whatever ran before, nor by Python.
    pub(super) fn is_unbound(&mut self, name: &Name) -> bool {
        let id = self.module_id();
        if !self.module().cells.is_empty() && OF_NOTEBOOKS.contains(&name.as_str()) {
            return false;
        }
        if name.starts_with('_') || BUILT_IN.contains(&name.as_str()) || MORE.contains(&name.as_str()) {
            return false;
        }
        if super::builtins::is_builtin(name) || self.is_bound_around(name) {
            return false;
        }
        let key = (id, name.clone());
        if let Some(known) = self.unbound.get(&key) {
            return *known;
        }
        let unbound = !self.is_bound_in_module(id, name) && self.binds_openly(id) && !self.is_put_there(id, name);
        self.unbound.insert(key, unbound);
        unbound
    }

    /// Whether a function around has a variable of this name, or its code was not read as a whole.
    fn is_bound_around(&self, name: &Name) -> bool {
        let functions = &self.module().functions;
        let has = |function: &Function| {
            function.damaged
                || function.captures.iter().any(|(captured, _)| captured == name)
                || function.locals.iter().any(|local| local.name == *name)
        };
        let mut at = self.function();
        while let Some(function) = at {
            if has(function) {
                return true;
            }
            at = function.parent.and_then(|parent| functions.get(parent));
        }
        false
    }

    /// Whether any statement of a module, wherever it stands, may bind a name of the module.
    fn is_bound_in_module(&self, id: ModuleId, name: &Name) -> bool {
        let module = self.project.module(id);
        module.globals.iter().any(|variable| variable.name == *name)
            || module.functions.iter().any(|function| function.name == *name)
            || module.records.iter().any(|class| {
                class.name == *name || class.fields.iter().any(|field| field.name == *name)
            })
            // With `from m import *` any name may come.
            || module.imports.iter().any(|import| import.local.is_empty() || import.local == *name)
    }

    /// Whether all that binds names in a module is written there: it is a file of Python alone, or a notebook with all its cells, wholly
    /// read, without what makes names of texts and without lines for a shell.
    fn binds_openly(&mut self, id: ModuleId) -> bool {
        if let Some(known) = self.open_books.get(&id) {
            return *known;
        }
        let module = self.project.module(id);
        let source = self.project.source(id);
        let is_notebook = !module.cells.is_empty();
        // Those of a notebook are no part of its Python: what they bind makes less be told.
        let for_a_shell = |line: &str| line.trim_start().starts_with(['!', '%', '?']);
        let extension = if is_notebook { "ipynb" } else { "py" };
        let known = module.language == Language::Python
            && module.inside.is_none()
            && module.damage.is_empty()
            && module.cuts.is_empty()
            && self.project.path(id).rsplit_once('.').is_some_and(|(_, ending)| ending == extension)
            && !BINDERS.iter().any(|binder| source.contains(binder))
            && !source.lines().any(for_a_shell);
        self.open_books.insert(id, known);
        known
    }

    /// Whether another module may put a name into this one, or into Python itself.
    fn is_put_there(&self, id: ModuleId, name: &Name) -> bool {
        let attribute = format!(".{name}");
        let python = |other: &ModuleId| self.project.module(*other).language == Language::Python;
        self.project.modules().filter(|other| *other != id).filter(python).any(|other| {
            let source = self.project.source(other);
            MEDDLERS.iter().any(|meddler| source.contains(meddler)) || is_set(source, &attribute)
        })
    }
}

/// Whether a text assigns to an attribute: `m.name = …`.
fn is_set(text: &str, attribute: &str) -> bool {
    text.match_indices(attribute).any(|(at, found)| {
        let rest = text.get(at + found.len()..).unwrap_or("").trim_start();
        rest.starts_with('=') && !rest.starts_with("==")
    })
}
