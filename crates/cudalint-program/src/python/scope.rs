//! Scopes and bindings of a Python file, and the places where GPU names may stand: one walk over the tree.

use super::LocalPackages;
use super::fields::{Field, field};
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, each_node, named_children};
use rustc_hash::{FxHashMap, FxHashSet};

/// Packages whose names are followed.
const PACKAGES: [&str; 4] = ["numba", "cupy", "cupyx", "pycuda"];

/// A Python file: its scopes and the nodes of interest, each with its scope.
pub(super) struct File<'t> {
    pub text: &'t str,
    pub scopes: Vec<Scope<'t>>,
    /// Outermost attribute expressions.
    pub attributes: Vec<(Node<'t>, usize)>,
    /// Calls.
    pub calls: Vec<(Node<'t>, usize)>,
    /// Functions' decorators.
    pub decorators: Vec<(Node<'t>, usize)>,
    /// Names that an import statement takes from a package: the node, the package, the name.
    pub imported: Vec<(Node<'t>, usize, String, String)>,
    /// `from x import *`, with its module as written.
    pub stars: Vec<Node<'t>>,
    /// Attributes that are assigned to or deleted.
    pub stored: Vec<(Node<'t>, usize)>,
    /// Strings handed to `hasattr`, `getattr` and `setattr`.
    pub asked: FxHashSet<&'t str>,
    /// Whether it is Python 2.
    pub python2: bool,
    /// The object of the attribute that was met last: no outermost one.
    inner: Option<usize>,
}

/// Targets of one assignment, `a = b = … = value`, that get its value.
const MAX_CHAIN: usize = 64;

/// One scope.
pub(super) struct Scope<'t> {
    pub parent: Option<usize>,
    pub is_class: bool,
    /// The function, class or lambda; the module's root.
    pub node: Node<'t>,
    pub names: FxHashMap<&'t str, Vec<Binding<'t>>>,
    globals: Vec<&'t str>,
}

/// One place that gives a name a value.
#[derive(Clone)]
pub(super) struct Binding<'t> {
    pub node: Node<'t>,
    pub value: Value<'t>,
}

/// What a binding binds.
#[derive(Clone)]
pub(super) enum Value<'t> {
    /// A module or a name of a module, as a dotted path.
    Import(String),
    /// A function definition.
    Function(Node<'t>),
    /// An expression.
    Expression(Node<'t>),
    /// `None`: no use of the name can mean this binding.
    Nothing,
    /// Anything else: parameters, loop variables, classes.
    Unknown,
}

impl<'t> File<'t> {
    pub fn read(root: Node<'t>, text: &'t str, local: &LocalPackages) -> Self {
        let mut file = Self {
            text,
            scopes: vec![Scope::new(None, false, root)],
            attributes: Vec::new(),
            calls: Vec::new(),
            decorators: Vec::new(),
            imported: Vec::new(),
            stars: Vec::new(),
            stored: Vec::new(),
            asked: FxHashSet::default(),
            python2: false,
            inner: None,
        };
        file.walk(root, local);
        file.settle_globals();
        file
    }

    pub fn text_of(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    /// Local names of GPU packages, whatever their scope.
    pub fn imports(&self) -> FxHashMap<String, String> {
        let mut found = FxHashMap::default();
        for (name, bindings) in self.scopes.iter().flat_map(|scope| &scope.names) {
            for binding in bindings {
                if let Value::Import(path) = &binding.value
                    && PACKAGES.contains(&path.split('.').next().unwrap_or(""))
                {
                    found.insert((*name).to_owned(), path.clone());
                }
            }
        }
        found
    }

    /// Whether a block's lines begin with tabs and spaces in a way that only Python 2 reads: Python 3 wants them to be in the same order
    /// whatever the width of a tab is ("Indentation" in its reference).
    fn mixes_tabs(&self, block: Node<'t>) -> bool {
        // What stands in front of the first statement of a line.
        let indentation = |node: Node<'t>| {
            let before = self.text.get(..node.start_byte()).unwrap_or("");
            let line = before.rsplit('\n').next().unwrap_or("");
            line.bytes().all(|byte| matches!(byte, b' ' | b'\t')).then_some(line)
        };
        let mut lines = named_children(block).filter(|child| !child.is_extra()).filter_map(indentation);
        let Some(first) = lines.next() else { return false };
        let around = block.parent().and_then(indentation);
        let is_deeper = |line: &str| around.is_none_or(|around| line.len() > around.len());
        !is_deeper(first) && first.contains('\t') || lines.any(|line| line.len() != first.len())
    }

    fn walk(&mut self, root: Node<'t>, local: &LocalPackages) {
        // The scopes around a node, each with the depth of its own.
        let mut around = vec![(0usize, 0usize)];
        each_node(root, |node, depth| {
            while around.len() > 1 && around.last().is_some_and(|(at, _)| *at >= depth) {
                around.pop();
            }
            let scope = around.last().map_or(0, |(_, scope)| *scope);
            if let Some(new) = self.enter(node, scope, local) {
                around.push((depth, new));
            }
        });
    }

    /// Takes note of a node; the answer is the scope that it opens.
    fn enter(&mut self, node: Node<'t>, scope: usize, local: &LocalPackages) -> Option<usize> {
        match python_kind(node) {
            PythonKind::FunctionDefinition => {
                if let Some(name) = field(node, Field::Name) {
                    self.bind(scope, name, node, Value::Function(node));
                }
                return Some(self.open(scope, false, node));
            }
            PythonKind::ClassDefinition => {
                if let Some(name) = field(node, Field::Name) {
                    self.bind(scope, name, node, Value::Unknown);
                }
                return Some(self.open(scope, true, node));
            }
            PythonKind::Lambda => return Some(self.open(scope, false, node)),
            PythonKind::Decorator => self.decorators.push((node, scope)),
            PythonKind::Parameters | PythonKind::LambdaParameters => {
                for parameter in named_children(node) {
                    let name = field(parameter, Field::Name).unwrap_or(parameter);
                    self.bind_pattern(scope, name, node);
                }
            }
            PythonKind::ImportStatement => self.import(node, scope, local),
            PythonKind::ImportFromStatement => self.import_from(node, scope, local),
            PythonKind::Assignment => self.assign(node, scope),
            PythonKind::AugmentedAssignment | PythonKind::ForStatement | PythonKind::ForInClause => {
                if let Some(left) = field(node, Field::Left) {
                    self.bind_pattern(scope, left, node);
                }
            }
            PythonKind::NamedExpression => {
                if let Some(name) = field(node, Field::Name) {
                    self.bind(scope, name, node, Value::Unknown);
                }
            }
            PythonKind::AsPatternTarget | PythonKind::DeleteStatement => {
                for child in named_children(node) {
                    self.bind_pattern(scope, child, node);
                }
            }
            PythonKind::GlobalStatement | PythonKind::NonlocalStatement => {
                for name in named_children(node) {
                    let text = self.text_of(name);
                    if let Some(scope) = self.scopes.get_mut(scope) {
                        scope.globals.push(text);
                    }
                }
            }
            PythonKind::PrintStatement | PythonKind::ExecStatement => self.python2 = true,
            PythonKind::Block if self.mixes_tabs(node) => self.python2 = true,
            PythonKind::Attribute => {
                if self.inner != Some(node.id()) {
                    self.attributes.push((node, scope));
                }
                // The walk meets the object next.
                self.inner = field(node, Field::Object).map(|object| object.id());
            }
            PythonKind::Call => {
                self.calls.push((node, scope));
                self.note_asked(node);
            }
            _ => {}
        }
        None
    }

    fn open(&mut self, parent: usize, is_class: bool, node: Node<'t>) -> usize {
        self.scopes.push(Scope::new(Some(parent), is_class, node));
        self.scopes.len() - 1
    }

    fn bind(&mut self, scope: usize, name: Node<'t>, node: Node<'t>, value: Value<'t>) {
        let text = self.text_of(name);
        self.bind_text(scope, text, node, value);
    }

    fn bind_text(&mut self, scope: usize, name: &'t str, node: Node<'t>, value: Value<'t>) {
        if let Some(scope) = self.scopes.get_mut(scope) {
            scope.names.entry(name).or_default().push(Binding { node, value });
        }
    }

    /// Binds every name of a target to something unknown.
    fn bind_pattern(&mut self, scope: usize, pattern: Node<'t>, node: Node<'t>) {
        let mut open = vec![pattern];
        while let Some(next) = open.pop() {
            match python_kind(next) {
                PythonKind::Identifier => self.bind(scope, next, node, Value::Unknown),
                PythonKind::Attribute => self.stored.push((next, scope)),
                PythonKind::TypedParameter => open.extend(next.named_child(0)),
                // `del a, b` holds its targets in a list of expressions.
                PythonKind::Tuple
                | PythonKind::List
                | PythonKind::PatternList
                | PythonKind::TuplePattern
                | PythonKind::ListPattern
                | PythonKind::ListSplatPattern
                | PythonKind::DictionarySplatPattern
                | PythonKind::ExpressionList
                | PythonKind::ParenthesizedExpression => open.extend(named_children(next)),
                _ => {}
            }
        }
    }

    fn assign(&mut self, node: Node<'t>, scope: usize) {
        let Some(left) = field(node, Field::Left) else { return };
        let Some(right) = field(node, Field::Right) else { return };
        if python_kind(left) == PythonKind::Identifier {
            // `a = b = value`: every target gets the value.
            let mut value = right;
            for links in 0.. {
                if python_kind(value) != PythonKind::Assignment {
                    break;
                }
                if links > MAX_CHAIN {
                    return self.bind(scope, left, node, Value::Unknown);
                }
                let Some(next) = field(value, Field::Right) else { return };
                value = next;
            }
            let bound = if python_kind(value) == PythonKind::None { Value::Nothing } else { Value::Expression(value) };
            self.bind(scope, left, node, bound);
        } else {
            self.bind_pattern(scope, left, node);
        }
    }

    fn import(&mut self, node: Node<'t>, scope: usize, local: &LocalPackages) {
        let mut cursor = node.walk();
        for name in node.children_by_field_name("name", &mut cursor) {
            let Some((path, alias)) = imported(name) else { continue };
            let dotted = self.text_of(path);
            if let Some((parent, last)) = dotted.rsplit_once('.')
                && !local.shadow(dotted)
            {
                self.imported.push((path, scope, parent.to_owned(), last.to_owned()));
            }
            let root = dotted.split('.').next().unwrap_or(dotted);
            let (local_name, bound) = match alias {
                Some(alias) => (self.text_of(alias), dotted),
                None => (root, root),
            };
            let value = if local.shadow(dotted) { Value::Unknown } else { Value::Import(bound.to_owned()) };
            self.bind_text(scope, local_name, node, value);
        }
    }

    fn import_from(&mut self, node: Node<'t>, scope: usize, local: &LocalPackages) {
        let Some(module) = field(node, Field::ModuleName) else { return };
        let dotted = self.text_of(module);
        let known = python_kind(module) == PythonKind::DottedName && !local.shadow(dotted);
        let mut cursor = node.walk();
        if node.children(&mut cursor).any(|child| python_kind(child) == PythonKind::WildcardImport) {
            self.stars.push(node);
            return;
        }
        let mut cursor = node.walk();
        for name in node.children_by_field_name("name", &mut cursor) {
            let Some((path, alias)) = imported(name) else { continue };
            let own = self.text_of(path);
            let local_name = alias.map_or(own, |alias| self.text_of(alias));
            if known {
                self.imported.push((path, scope, dotted.to_owned(), own.to_owned()));
                self.bind_text(scope, local_name, node, Value::Import(format!("{dotted}.{own}")));
            } else {
                self.bind_text(scope, local_name, node, Value::Unknown);
            }
        }
    }

    /// Notes the names that the file asks packages for at run time.
    fn note_asked(&mut self, call: Node<'t>) {
        let Some(function) = field(call, Field::Function) else { return };
        let name = self.text_of(function);
        if !["hasattr", "getattr", "setattr", "delattr"].iter().any(|asking| name.ends_with(asking)) {
            return;
        }
        let Some(arguments) = field(call, Field::Arguments) else { return };
        for argument in named_children(arguments) {
            if python_kind(argument) == PythonKind::String {
                let word = self.text_of(argument).trim_matches(['"', '\'', 'r', 'u', 'b']);
                self.asked.insert(word);
            }
        }
    }

    /// Moves what functions bind under `global` to the module.
    fn settle_globals(&mut self) {
        for index in 1..self.scopes.len() {
            let Some(scope) = self.scopes.get_mut(index) else { continue };
            let names = std::mem::take(&mut scope.globals);
            for name in names {
                let moved = self.scopes.get_mut(index).and_then(|scope| scope.names.remove(name)).unwrap_or_default();
                if let Some(module) = self.scopes.first_mut()
                    && !moved.is_empty()
                {
                    let bindings = module.names.entry(name).or_default();
                    bindings.extend(moved);
                    bindings.sort_by_key(|binding| binding.node.start_byte());
                }
            }
        }
    }
}

impl<'t> Scope<'t> {
    fn new(parent: Option<usize>, is_class: bool, node: Node<'t>) -> Self {
        Self { parent, is_class, node, names: FxHashMap::default(), globals: Vec::new() }
    }
}

/// What an import names, and what it is called here.
fn imported(name: Node<'_>) -> Option<(Node<'_>, Option<Node<'_>>)> {
    match python_kind(name) {
        PythonKind::AliasedImport => Some((field(name, Field::Name)?, field(name, Field::Alias))),
        _ => Some((name, None)),
    }
}
