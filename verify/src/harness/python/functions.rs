//! The functions of a Python file: which are kernels, who launches them, and what each does with its parameters.

use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, each_node, named_children};

/// Calls that a parameter is followed through, at most.
const MAX_DEPTH: usize = 3;

/// What decorators make of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Runs on the host.
    Host,
    /// A Numba kernel.
    Numba,
    /// A kernel of `cupyx.jit`.
    CupyJit,
    /// Device code that kernels call.
    Device,
}

/// A function with its place.
pub(super) struct Function<'t> {
    pub node: Node<'t>,
    /// The whole definition, decorators included.
    pub outer: Node<'t>,
    pub name: &'t str,
    pub role: Role,
    /// The function around it, by its number.
    pub parent: Option<usize>,
    /// Whether it is a method.
    pub in_class: bool,
    /// Parameters without defaults, in order; none where it has some that must be named.
    pub parameters: Vec<&'t str>,
    /// What stands in its decorator's brackets.
    pub options: &'t str,
}

/// How a function uses one of its parameters.
// Each is a fact by itself.
#[allow(clippy::struct_excessive_bools)]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Axes that it is subscripted by, at most.
    pub axes: usize,
    /// It has elements, a shape, or goes where an array is wanted.
    pub array: bool,
    /// Its elements are indices of other arrays.
    pub holds_indices: bool,
    /// It is already on the device.
    pub on_device: bool,
    /// It stands in the subscript of another array, or counts something.
    pub counts: bool,
    /// It is a number in an expression.
    pub number: bool,
    /// It is called.
    pub called: bool,
    /// It goes into a kernel as it is: into which, and which argument it is.
    pub handed_to: Vec<(usize, usize)>,
}

/// All functions of a file.
pub(super) struct Functions<'t> {
    pub text: &'t str,
    pub all: Vec<Function<'t>>,
    root: Node<'t>,
}

impl<'t> Functions<'t> {
    /// Reads a tree. `text` is the whole file's.
    pub fn read(root: Node<'t>, text: &'t str) -> Self {
        let mut all: Vec<Function<'t>> = Vec::new();
        each_node(root, |node, _| {
            if python_kind(node) != PythonKind::FunctionDefinition {
                return;
            }
            let outer =
                node.parent().filter(|parent| python_kind(*parent) == PythonKind::DecoratedDefinition).unwrap_or(node);
            let name = node.child_by_field_name("name").and_then(|name| text.get(name.byte_range())).unwrap_or("");
            let decorators = text.get(outer.start_byte()..node.start_byte()).unwrap_or("");
            let parent = all.iter().rposition(|function| function.node.byte_range().contains(&node.start_byte()));
            let in_class = outer
                .parent()
                .and_then(|block| block.parent())
                .is_some_and(|around| python_kind(around) == PythonKind::ClassDefinition);
            let mut parameters = required(node, text);
            // A method is handed its object.
            if in_class && !decorators.contains("staticmethod") && !parameters.is_empty() {
                parameters.remove(0);
            }
            all.push(Function {
                node,
                outer,
                name,
                role: role(decorators),
                parent,
                in_class,
                parameters,
                options: decorators.split_once('(').map_or("", |(_, options)| options.trim_end()),
            });
        });
        Self { text, all, root }
    }

    /// The innermost function around a byte.
    pub fn around(&self, offset: usize) -> Option<usize> {
        let around = self.all.iter().enumerate().filter(|(_, function)| function.outer.byte_range().contains(&offset));
        around.min_by_key(|(_, function)| function.outer.byte_range().len()).map(|(index, _)| index)
    }

    /// The class around a method: its name, and the function that makes its objects.
    pub fn class_of(&self, method: usize) -> Option<(&'t str, Option<usize>)> {
        let function = self.all.get(method).filter(|function| function.in_class)?;
        let class = function.outer.parent()?.parent()?;
        let name = self.text.get(class.child_by_field_name("name")?.byte_range())?;
        // A class within a function or another class is out of reach.
        let stands_alone = class.parent().is_none_or(|around| python_kind(around) == PythonKind::Module);
        let own = |function: &Function<'t>| {
            function.name == "__init__" && class.byte_range().contains(&function.node.start_byte())
        };
        stands_alone.then(|| (name, self.all.iter().position(own)))
    }

    /// Whether anything at module level calls or launches a function.
    pub fn is_used_at_module_level(&self, index: usize) -> bool {
        self.places(index).into_iter().any(|(at, _)| self.around(at).is_none())
    }

    /// The functions that call or launch a function.
    pub fn users(&self, index: usize) -> Vec<usize> {
        let mut found: Vec<usize> = self
            .places(index)
            .into_iter()
            .filter_map(|(at, _)| self.around(at))
            .filter(|user| *user != index)
            .collect();
        found.dedup();
        found
    }

    /// Where a function is called or launched: first byte, and the argument list. Names that are assigned from calls of a
    /// factory count as what it returns.
    fn places(&self, index: usize) -> Vec<(usize, Node<'t>)> {
        let Some(function) = self.all.get(index) else { return Vec::new() };
        let mut found = Vec::new();
        each_node(self.root, |node, _| {
            if python_kind(node) == PythonKind::Call
                && let Some(callee) = node.child_by_field_name("function")
                && let Some(arguments) = node.child_by_field_name("arguments")
                && self.callee(callee) == Some(function.name)
            {
                found.push((node.start_byte(), arguments));
            }
        });
        found
    }

    /// What a call names: of `k[grid, block](x)` and of `k(x)` it is `k`, of `self.k[…](x)` too.
    fn callee(&self, function: Node<'t>) -> Option<&'t str> {
        let inner = match python_kind(function) {
            PythonKind::Subscript => function.child_by_field_name("value")?,
            _ => function,
        };
        let name = match python_kind(inner) {
            PythonKind::Attribute => inner.child_by_field_name("attribute")?,
            PythonKind::Identifier => inner,
            _ => return None,
        };
        self.text.get(name.byte_range())
    }

    /// What a function does with a parameter.
    pub fn usage(&self, index: usize, parameter: &str) -> Usage {
        self.usage_within(index, parameter, 0)
    }

    fn usage_within(&self, index: usize, parameter: &str, depth: usize) -> Usage {
        let mut usage = Usage::default();
        let Some(function) = self.all.get(index) else { return usage };
        let Some(body) = function.node.child_by_field_name("body") else { return usage };
        super::bindings::each_identifier(body, |node| {
            if self.text.get(node.byte_range()) == Some(parameter) {
                self.note(node, &mut usage, depth);
            }
        });
        let named_so = parameter.starts_with("d_") || parameter.ends_with("_d") || parameter.starts_with("dev");
        usage.on_device |= named_so && function.role == Role::Host;
        usage
    }

    /// Takes note of one use.
    fn note(&self, node: Node<'t>, usage: &mut Usage, depth: usize) {
        let Some(parent) = node.parent() else { return };
        let is = |field: &str| parent.child_by_field_name(field).is_some_and(|child| child.id() == node.id());
        match python_kind(parent) {
            PythonKind::Attribute => {
                let name = parent.child_by_field_name("attribute").and_then(|name| self.text.get(name.byte_range()));
                usage.array = true;
                usage.on_device |= matches!(name, Some("copy_to_host" | "copy_to_device"));
                let shape = parent.parent().filter(|outer| python_kind(*outer) == PythonKind::Subscript);
                if let (Some("shape" | "strides"), Some(index)) =
                    (name, shape.and_then(|it| it.child_by_field_name("subscript")))
                    && let Some(axis) = self.text.get(index.byte_range()).and_then(|text| text.parse::<usize>().ok())
                {
                    usage.axes = usage.axes.max(axis + 1);
                }
            }
            PythonKind::Subscript if is("value") => {
                usage.array = true;
                let mut cursor = parent.walk();
                let axes = parent.children_by_field_name("subscript", &mut cursor).count();
                usage.axes = usage.axes.max(axes);
                usage.holds_indices |= inside_subscript(parent);
            }
            PythonKind::Call if is("function") => usage.called = true,
            PythonKind::ArgumentList => self.note_argument(node, parent, usage, depth),
            // `atomic.add(a, i, v)` and the like are argument lists; numbers stand anywhere else.
            kind => {
                usage.counts |= inside_subscript(node) || counts(parent, self.text);
                usage.number |= matches!(
                    kind,
                    PythonKind::BinaryOperator
                        | PythonKind::UnaryOperator
                        | PythonKind::AugmentedAssignment
                        | PythonKind::Subscript
                        | PythonKind::Tuple
                );
            }
        }
    }

    fn note_argument(&self, node: Node<'t>, list: Node<'t>, usage: &mut Usage, depth: usize) {
        let Some(callee) = list.parent().and_then(|call| call.child_by_field_name("function")) else { return };
        let written = self.text.get(callee.byte_range()).unwrap_or("");
        let position = named_children(list).position(|child| child.id() == node.id()).unwrap_or(0);
        if written == "len" || written.ends_with("to_device") || (written.contains("atomic") && position == 0) {
            usage.array = true;
            return;
        }
        if written == "range" {
            usage.counts = true;
            return;
        }
        let name = self.callee(callee);
        let called = self.all.iter().position(|function| Some(function.name) == name);
        match called {
            Some(index) if depth < MAX_DEPTH => {
                let Some(parameter) = self.all.get(index).and_then(|function| function.parameters.get(position)) else {
                    return;
                };
                let inner = self.usage_within(index, parameter, depth + 1);
                usage.array |= inner.array;
                usage.axes = usage.axes.max(inner.axes);
                usage.holds_indices |= inner.holds_indices;
                usage.counts |= inner.counts;
                usage.number |= inner.number;
                usage.handed_to.push((index, position));
            }
            _ => {
                usage.counts |= inside_subscript(node);
                usage.number = true;
            }
        }
    }

    /// The names of the arrays that stand in subscripts on a line of a function.
    pub fn arrays_on(&self, index: usize, line_of: impl Fn(u32) -> u32, line: u32) -> Vec<&'t str> {
        let mut found = Vec::new();
        if let Some(function) = self.all.get(index) {
            each_node(function.node, |node, _| {
                if python_kind(node) == PythonKind::Subscript
                    && line_of(node.start_byte() as u32) == line
                    && let Some(array) = node.child_by_field_name("value")
                    && python_kind(array) == PythonKind::Identifier
                {
                    found.push(self.text.get(array.byte_range()).unwrap_or(""));
                }
            });
        }
        found
    }
}

/// Whether a node stands in the subscript of another array.
fn inside_subscript(node: Node<'_>) -> bool {
    let mut inner = node;
    while let Some(parent) = inner.parent() {
        match python_kind(parent) {
            PythonKind::Subscript => {
                let value = parent.child_by_field_name("value");
                return value.is_none_or(|value| value.id() != inner.id());
            }
            PythonKind::Call | PythonKind::Block => return false,
            _ => inner = parent,
        }
    }
    false
}

/// Whether a number in this place counts: it is compared, or divided into parts.
fn counts(parent: Node<'_>, text: &str) -> bool {
    let written = text.get(parent.byte_range()).unwrap_or("");
    let compared = ["<", ">", "//", "%"].iter().any(|sign| written.contains(sign));
    compared && python_kind(parent) != PythonKind::Block
}

/// What decorators make of a function.
fn role(decorators: &str) -> Role {
    let has = |word: &str| decorators.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word);
    if has("rawkernel") {
        return if decorators.contains("device=True") { Role::Device } else { Role::CupyJit };
    }
    if !has("jit") || !has("cuda") {
        return Role::Host;
    }
    if decorators.contains("device=True") { Role::Device } else { Role::Numba }
}

/// Parameters without defaults.
fn required<'t>(function: Node<'t>, text: &'t str) -> Vec<&'t str> {
    let mut found = Vec::new();
    let Some(parameters) = function.child_by_field_name("parameters") else { return found };
    for parameter in named_children(parameters) {
        let name = match python_kind(parameter) {
            PythonKind::Identifier => parameter,
            PythonKind::TypedParameter => match parameter.named_child(0) {
                Some(name) if python_kind(name) == PythonKind::Identifier => name,
                _ => break,
            },
            PythonKind::Comment => continue,
            _ => break,
        };
        found.push(text.get(name.byte_range()).unwrap_or(""));
    }
    found
}
