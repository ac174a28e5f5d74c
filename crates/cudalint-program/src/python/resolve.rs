//! What a name means where it stands: Python's scopes, and which binding holds at a place.

use super::fields::{Field, field};
use super::scope::{Binding, File, Value};
use super::{Framework, value};
use crate::api::ApiId;
use crate::api::effects::Library;
use crate::api::packages::{Compiler, PythonOp};
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, Span, named_children};

/// How far names are followed through other names.
const MAX_HOPS: usize = 4;
/// The longest dotted expression that is followed.
const MAX_ATTRIBUTES: usize = 16;
/// A name that is bound more often than this is not followed.
const MAX_BINDINGS: usize = 100;
/// How far up enclosing nodes are looked at.
const MAX_ANCESTORS: usize = 400;

/// Who compiles what a dotted path names.
fn compiler(path: &str) -> Option<Compiler> {
    ApiId::of_python(path)?.compiler()
}

/// What can be called.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Callable {
    /// A kernel and the place that makes it one.
    Kernel(Framework, Span),
    /// A function that runs on the device only.
    Device,
    /// A function without decorators: its name in its definition.
    Plain(Span),
}

impl<'t> File<'t> {
    /// The bindings of a name in the scope that holds it, as seen from `scope`.
    fn bindings(&self, scope: usize, name: &str) -> Option<(usize, &[Binding<'t>])> {
        let mut at = Some(scope);
        while let Some(index) = at {
            let current = self.scopes.get(index)?;
            if (!current.is_class || index == scope)
                && let Some(bindings) = current.names.get(name)
            {
                return Some((index, bindings));
            }
            at = current.parent;
        }
        None
    }

    /// The one binding that a name has at `place`, or `None` when that is not sure.
    pub fn binding(&self, scope: usize, name: &str, place: Node<'t>) -> Option<&Binding<'t>> {
        let (owner, all) = self.bindings(scope, name)?;
        let mut real = all.iter().filter(|binding| !matches!(binding.value, Value::Nothing));
        let first = real.next()?;
        if real.next().is_none() {
            return Some(first);
        }
        if all.len() > MAX_BINDINGS {
            return None;
        }
        // Several: the last one before the place, when every way to the place goes through it.
        if owner != scope {
            return None;
        }
        let last = all.iter().rev().find(|binding| binding.node.end_byte() <= place.start_byte())?;
        let block = self.block(last.node)?;
        let mut passed_block = false;
        let mut loops = Vec::new();
        for node in std::iter::once(place).chain(self.ancestors(place)) {
            if node == block {
                passed_block = true;
                break;
            }
            if matches!(python_kind(node), PythonKind::ForStatement | PythonKind::WhileStatement) {
                loops.push(Span::from(node));
            }
        }
        let bound_again = loops.iter().any(|span| {
            all.iter().any(|binding| binding.node.id() != last.node.id() && span.contains(Span::from(binding.node)))
        });
        (passed_block && !bound_again && !matches!(last.value, Value::Nothing)).then_some(last)
    }

    /// What a name was imported as, where every binding of it says the same.
    pub fn import_path(&self, scope: usize, name: &str) -> Option<&str> {
        let (_, all) = self.bindings(scope, name)?;
        let mut path = None;
        for binding in all {
            match &binding.value {
                Value::Import(this) if path.is_none_or(|other| other == this) => path = Some(this.as_str()),
                Value::Nothing => {}
                _ => return None,
            }
        }
        path
    }

    /// The dotted path of an expression that names something of a package.
    pub fn path(&self, scope: usize, node: Node<'t>) -> Option<String> {
        self.path_within(scope, node, MAX_HOPS)
    }

    fn path_within(&self, scope: usize, node: Node<'t>, hops: usize) -> Option<String> {
        let (root, attributes) = chain(node)?;
        let name = self.text_of(root);
        let mut path = if let Some(path) = self.import_path(scope, name) {
            path.to_owned()
        } else {
            let Value::Expression(value) = self.binding(scope, name, root)?.value else { return None };
            let hops = hops.checked_sub(1)?;
            self.path_within(scope, value, hops)?
        };
        for attribute in attributes {
            path.push('.');
            path.push_str(self.text_of(attribute));
        }
        Some(path)
    }

    /// What an expression that stands before a call's brackets is.
    pub fn callable(&self, scope: usize, node: Node<'t>) -> Option<Callable> {
        self.callable_within(scope, node, MAX_HOPS)
    }

    fn callable_within(&self, scope: usize, node: Node<'t>, hops: usize) -> Option<Callable> {
        match python_kind(node) {
            PythonKind::Identifier => {
                let name = self.text_of(node);
                if self.path(scope, node).is_some() {
                    return None;
                }
                match &self.binding(scope, name, node)?.value {
                    Value::Function(definition) => self.function(*definition),
                    Value::Expression(value) if *value != node => {
                        self.callable_within(scope, *value, hops.checked_sub(1)?)
                    }
                    _ => None,
                }
            }
            PythonKind::ParenthesizedExpression => {
                self.callable_within(scope, node.named_child(0)?, hops.checked_sub(1)?)
            }
            PythonKind::Call => self.made(scope, node, hops),
            _ => None,
        }
    }

    /// What a call that makes a kernel makes.
    fn made(&self, scope: usize, call: Node<'t>, hops: usize) -> Option<Callable> {
        let function = field(call, Field::Function)?;
        let place = Span::from(call);
        if let Some(path) = self.path(scope, function) {
            let api = ApiId::of_python(&path);
            if api.is_some_and(|api| api.python_ops().any(|op| matches!(op, PythonOp::Kernel { .. }))) {
                return Some(Callable::Kernel(Framework::CupyRaw, place));
            }
            return match api.and_then(|api| api.compiler()) {
                Some(Compiler::Jit) => self.jitted(scope, call, call, hops),
                Some(Compiler::Raw) => None,
                _ => self.got(scope, function, place),
            };
        }
        // cuda.jit(signature)(function)
        if python_kind(function) == PythonKind::Call
            && compiler(&self.path(scope, field(function, Field::Function)?)?) == Some(Compiler::Jit)
        {
            return self.jitted(scope, call, function, hops);
        }
        self.got(scope, function, place)
    }

    /// `cuda.jit(f)`, or `cuda.jit(…)(f)` where `options` is the inner call.
    fn jitted(&self, scope: usize, call: Node<'t>, options: Node<'t>, hops: usize) -> Option<Callable> {
        let function = value::positional(call).first().copied()?;
        if python_kind(function) != PythonKind::Identifier {
            return None;
        }
        let Callable::Plain(_) = self.callable_within(scope, function, hops.checked_sub(1)?)? else { return None };
        self.target(options, Framework::Numba, Span::from(call))
    }

    /// `module.get_function(name)`.
    fn got(&self, scope: usize, function: Node<'t>, place: Span) -> Option<Callable> {
        if python_kind(function) != PythonKind::Attribute
            || self.text_of(field(function, Field::Attribute)?) != "get_function"
        {
            return None;
        }
        let module = field(function, Field::Object)?;
        let maker = match python_kind(module) {
            PythonKind::Call => module,
            PythonKind::Identifier => match self.binding(scope, self.text_of(module), module)?.value {
                Value::Expression(value) if python_kind(value) == PythonKind::Call => value,
                _ => return None,
            },
            _ => return None,
        };
        let api = ApiId::of_python(&self.path(scope, field(maker, Field::Function)?)?)?;
        api.python_ops().find(|op| matches!(op, PythonOp::Program(_)))?;
        match api.library {
            Library::CuPy => Some(Callable::Kernel(Framework::CupyRaw, place)),
            Library::PyCuda => Some(Callable::Kernel(Framework::PyCuda, place)),
            _ => None,
        }
    }

    /// What a function is by its decorators.
    pub fn function(&self, definition: Node<'t>) -> Option<Callable> {
        let name = Span::from(field(definition, Field::Name)?);
        let decorators = decorators_of(definition);
        let decorator = match decorators.as_slice() {
            [] => return Some(Callable::Plain(name)),
            [decorator] => *decorator,
            _ => return None,
        };
        let expression = decorator.named_child(0)?;
        let index =
            self.decorators.binary_search_by_key(&decorator.start_byte(), |(node, _)| node.start_byte()).ok()?;
        let (_, scope) = *self.decorators.get(index)?;
        let (path, options) = match python_kind(expression) {
            PythonKind::Call => (self.path(scope, field(expression, Field::Function)?)?, Some(expression)),
            _ => (self.path(scope, expression)?, None),
        };
        let framework = match (compiler(&path)?, options.is_some()) {
            (Compiler::Jit, _) => Framework::Numba,
            (Compiler::Raw, true) => Framework::CupyJit,
            _ => return None,
        };
        match options {
            Some(options) => self.target(options, framework, name),
            None => Some(Callable::Kernel(framework, name)),
        }
    }

    /// Kernel or device function, by the keyword `device`.
    fn target(&self, options: Node<'t>, framework: Framework, place: Span) -> Option<Callable> {
        let arguments = field(options, Field::Arguments)?;
        for argument in named_children(arguments) {
            match python_kind(argument) {
                PythonKind::DictionarySplat | PythonKind::ListSplat => return None,
                PythonKind::KeywordArgument => {
                    let keyword = field(argument, Field::Name).map_or("", |name| self.text_of(name));
                    let given = field(argument, Field::Value).map_or("", |value| self.text_of(value));
                    match (keyword, given) {
                        ("device", "True") => return Some(Callable::Device),
                        ("device", "False") => {}
                        ("device", _) => return None,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        Some(Callable::Kernel(framework, place))
    }

    /// The functions around a scope, innermost first.
    pub fn enclosing_functions(&self, scope: usize) -> impl Iterator<Item = Node<'t>> + '_ {
        let mut at = Some(scope);
        std::iter::from_fn(move || {
            let scope = self.scopes.get(at?)?;
            at = scope.parent;
            Some(scope.node)
        })
        .filter(|node| python_kind(*node) == PythonKind::FunctionDefinition)
    }

    /// Nodes around a node, innermost first. Asking each of them for its parent would go down from the root each time.
    pub fn ancestors(&self, node: Node<'t>) -> impl Iterator<Item = Node<'t>> + use<'t> {
        let mut way = Vec::new();
        let mut at = self.scopes.first().map(|module| module.node);
        while let Some(around) = at.filter(|around| *around != node) {
            way.push(around);
            at = around.child_with_descendant(node);
        }
        way.into_iter().rev().take(MAX_ANCESTORS)
    }

    /// The block that a statement stands in.
    fn block(&self, node: Node<'t>) -> Option<Node<'t>> {
        self.ancestors(node).find(|around| matches!(python_kind(*around), PythonKind::Block | PythonKind::Module))
    }

    /// The name of the innermost function around a scope; empty at module level.
    pub fn function_name(&self, scope: usize) -> String {
        let name = self.enclosing_functions(scope).next().and_then(|node| field(node, Field::Name));
        name.map_or(String::new(), |name| self.text_of(name).to_owned())
    }
}

/// The decorators of a function definition.
pub(super) fn decorators_of(definition: Node<'_>) -> Vec<Node<'_>> {
    let Some(parent) = definition.parent() else { return Vec::new() };
    if python_kind(parent) != PythonKind::DecoratedDefinition {
        return Vec::new();
    }
    named_children(parent).filter(|child| python_kind(*child) == PythonKind::Decorator).collect()
}

/// The root identifier of a dotted expression and its attributes, innermost first.
pub(super) fn chain(node: Node<'_>) -> Option<(Node<'_>, Vec<Node<'_>>)> {
    let mut attributes = Vec::new();
    let mut current = node;
    while python_kind(current) == PythonKind::Attribute {
        attributes.push(field(current, Field::Attribute)?);
        if attributes.len() > MAX_ATTRIBUTES {
            return None;
        }
        current = field(current, Field::Object)?;
    }
    attributes.reverse();
    (python_kind(current) == PythonKind::Identifier).then_some((current, attributes))
}
