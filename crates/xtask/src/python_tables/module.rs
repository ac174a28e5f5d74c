//! What one module of a package binds, read from its Python tree or line by line from Cython.

use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Language, MacroTable, Node, ParserPool, Region, Span, named_children, parse_region};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of one module of one version.
#[derive(Default)]
pub(super) struct Module {
    pub(super) names: BTreeSet<String>,
    /// Local name to the module and, for `from module import name`, the name.
    pub(super) imports: BTreeMap<String, (String, Option<String>)>,
    pub(super) stars: Vec<String>,
    /// Classes with their members.
    pub(super) classes: BTreeMap<String, BTreeSet<String>>,
    /// Whether it is a package, whose imports are its interface.
    pub(super) package: bool,
    /// Whether names appear at run time that the source does not list.
    pub(super) open: bool,
    /// `__all__`, where it is a plain list.
    pub(super) all: Option<BTreeSet<String>>,
    /// Names of types that `numba.cuda` makes at run time.
    pub(super) vectors: BTreeSet<String>,
    /// Keywords of functions, for those that are asked for.
    pub(super) keywords: BTreeMap<String, BTreeSet<String>>,
}
impl Module {
    pub(super) fn read_python(&mut self, text: &str, path: &str, package: bool, pool: &mut ParserPool) {
        let region = Region { language: Language::Python, span: Span::new(0, text.len()) };
        let parsed = parse_region(text, &region, &MacroTable::default(), &[], pool);
        let Some(root) = parsed.root() else {
            self.open = true;
            return;
        };
        let stubs = path.rsplit('.').next() == Some("stubs");
        let mut reader = Reader { module: self, text, path, package, stubs };
        reader.statements(root);
        if text.contains("make_vector_type_stubs") && stubs {
            reader.vector_types(root);
        }
        // Numba's vector types are known: see `vector_types`.
        let vectors = text.contains("vector_type");
        self.open |= text.lines().map(str::trim_start).any(|line| {
            ["globals()[", "vars()[", "globals().update"].iter().any(|call| line.starts_with(call))
                || (line.starts_with("setattr(sys.modules") && !vectors)
        });
    }

    /// Takes the words that a line may define; what is inside strings is passed over.
    pub(super) fn read_cython(&mut self, text: &str) {
        if text.contains("globals().update") || text.contains("globals()[") || text.contains(" import *") {
            self.open = true;
        }
        // Every second piece between triple quotes is a string.
        let code: String = text.split("\"\"\"").step_by(2).collect();
        let mut members = false;
        for line in code.lines() {
            let line = line.split(['#', '"', '\'']).next().unwrap_or("");
            let words: Vec<&str> =
                line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
            let indented = line.starts_with([' ', '\t']);
            let Some(first) = words.first() else { continue };
            let defined: Vec<&str> = match *first {
                "def" | "cpdef" | "cdef" | "class" => {
                    members = words.contains(&"enum");
                    line.split('(').next().unwrap_or("").split([' ', ':', '=', '*']).collect()
                }
                "from" | "import" | "cimport" => line.split([' ', ',', '(', ')']).collect(),
                _ if members && indented => vec![first],
                _ if !indented || line.contains(" = ") => vec![first],
                _ => vec![],
            };
            if !indented && !matches!(*first, "cpdef" | "cdef") {
                members = false;
            }
            let keywords = [
                "def", "cpdef", "cdef", "class", "enum", "from", "import", "cimport", "if", "else", "elif", "try",
                "except", "IF", "ELSE", "ELIF", "as", "nogil", "inline", "return", "for", "while", "with", "raise",
                "finally", "pass", "extern", "None", "True", "False",
            ];
            self.names.extend(
                defined
                    .into_iter()
                    .filter(|word| !keywords.contains(word) && !word.is_empty())
                    .filter(|word| {
                        word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                            && !word.starts_with(|c: char| c.is_ascii_digit())
                    })
                    .map(str::to_owned),
            );
        }
    }
}

/// Reads the tree of one Python module.
struct Reader<'m, 't> {
    module: &'m mut Module,
    text: &'t str,
    path: &'t str,
    package: bool,
    stubs: bool,
}

impl<'t> Reader<'_, 't> {
    fn text(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    /// Everything that the module's own level binds, in branches and loops too.
    fn statements(&mut self, root: Node<'t>) {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            match python_kind(node) {
                PythonKind::FunctionDefinition => self.function(node),
                PythonKind::ClassDefinition => self.class(node),
                PythonKind::ImportStatement => self.import(node),
                PythonKind::ImportFromStatement => self.import_from(node),
                PythonKind::Assignment => {
                    if let Some(left) = node.child_by_field_name("left") {
                        if self.text(left) == "__all__" {
                            self.all(node);
                        }
                        self.targets(left);
                    }
                    // `a = b = 1`
                    open.extend(
                        node.child_by_field_name("right").filter(|right| python_kind(*right) == PythonKind::Assignment),
                    );
                }
                PythonKind::ForStatement | PythonKind::AugmentedAssignment => {
                    if let Some(left) = node.child_by_field_name("left") {
                        self.targets(left);
                    }
                    Self::children(node, &mut open);
                }
                _ => Self::children(node, &mut open),
            }
        }
    }

    fn children(node: Node<'t>, open: &mut Vec<Node<'t>>) {
        open.extend(named_children(node));
    }

    fn targets(&mut self, left: Node<'t>) {
        for word in self.text(left).split([',', '(', ')', '[', ']', '*', ' ', '\n']) {
            if word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !word.is_empty() {
                self.module.names.insert(word.to_owned());
            }
        }
    }

    fn function(&mut self, node: Node<'t>) {
        let Some(name) = node.child_by_field_name("name") else { return };
        let name = self.text(name);
        self.module.names.insert(name.to_owned());
        if name == "__getattr__" {
            // One that compares with names and raises for all others lists its names.
            if self.text(node).contains("raise AttributeError") {
                self.strings(node);
                if let Some(body) = node.child_by_field_name("body") {
                    self.statements(body);
                }
            } else {
                self.module.open = true;
            }
        }
        if name == "jit" {
            self.parameters(node, "jit");
        }
    }

    /// Words in the strings of a node become names.
    fn strings(&mut self, node: Node<'t>) {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if python_kind(node) == PythonKind::String {
                let word = self.text(node).trim_matches(['"', '\'']);
                if word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !word.is_empty() {
                    self.module.names.insert(word.to_owned());
                }
            }
            Self::children(node, &mut open);
        }
    }

    /// A function's parameters, and the keys that its body takes out of the rest.
    fn parameters(&mut self, node: Node<'t>, function: &str) {
        let Some(parameters) = node.child_by_field_name("parameters") else { return };
        let mut found = BTreeSet::new();
        for parameter in named_children(parameters) {
            let name = parameter.child_by_field_name("name").unwrap_or(parameter);
            found.insert(self.text(name).to_owned());
        }
        for part in self.text(node).split("kws.get(").chain(self.text(node).split("targetoptions[")).skip(1) {
            let word: String = part
                .trim_start_matches(['"', '\''])
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect();
            found.insert(word);
        }
        found.retain(|word| !word.is_empty() && word != "self" && !word.starts_with('*') && word != "def");
        self.module.keywords.entry(function.to_owned()).or_default().extend(found);
    }

    fn class(&mut self, node: Node<'t>) {
        let Some(name) = node.child_by_field_name("name") else { return };
        let class = self.text(name);
        self.module.names.insert(class.to_owned());
        let Some(body) = node.child_by_field_name("body") else { return };
        let mut members = BTreeSet::new();
        for mut member in named_children(body) {
            if python_kind(member) == PythonKind::DecoratedDefinition {
                member = member.child_by_field_name("definition").unwrap_or(member);
            }
            match python_kind(member) {
                PythonKind::FunctionDefinition | PythonKind::ClassDefinition => {
                    let Some(name) = member.child_by_field_name("name") else { continue };
                    members.insert(self.text(name).to_owned());
                    if class == "_Kernel" && self.text(name) == "__init__" {
                        self.parameters(member, "__init__");
                    }
                }
                PythonKind::ExpressionStatement => {
                    let left = member.named_child(0).and_then(|assignment| assignment.child_by_field_name("left"));
                    members.extend(left.map(|left| self.text(left).to_owned()));
                }
                _ => {}
            }
        }
        // Only stubs are classes that stand for namespaces; others have instances with members of their own.
        let namespace =
            self.stubs && node.child_by_field_name("superclasses").is_some_and(|bases| self.text(bases) == "(Stub)");
        let lower = class.starts_with(|c: char| c.is_ascii_lowercase());
        if namespace && lower && members.iter().any(|member| !member.starts_with('_')) {
            self.module.classes.insert(class.to_owned(), members);
        }
    }

    fn import(&mut self, node: Node<'t>) {
        let mut cursor = node.walk();
        let names: Vec<_> = node.children_by_field_name("name", &mut cursor).collect();
        for name in names {
            if python_kind(name) == PythonKind::AliasedImport {
                let (Some(path), Some(alias)) = (name.child_by_field_name("name"), name.child_by_field_name("alias"))
                else {
                    continue;
                };
                let (path, alias) = (self.text(path).to_owned(), self.text(alias).to_owned());
                self.module.names.insert(alias.clone());
                self.module.imports.insert(alias, (path, None));
            } else {
                let root = self.text(name).split('.').next().unwrap_or("").to_owned();
                self.module.names.insert(root);
            }
        }
    }

    fn import_from(&mut self, node: Node<'t>) {
        let Some(module) = node.child_by_field_name("module_name") else { return };
        let from = self.absolute(self.text(module));
        let mut cursor = node.walk();
        if node.children(&mut cursor).any(|child| python_kind(child) == PythonKind::WildcardImport) {
            self.module.stars.push(from);
            return;
        }
        let mut cursor = node.walk();
        let names: Vec<_> = node.children_by_field_name("name", &mut cursor).collect();
        for name in names {
            let (path, alias) = match python_kind(name) {
                PythonKind::AliasedImport => (name.child_by_field_name("name"), name.child_by_field_name("alias")),
                _ => (Some(name), None),
            };
            let Some(path) = path else { continue };
            let own = self.text(path).to_owned();
            let local = alias.map_or_else(|| own.clone(), |alias| self.text(alias).to_owned());
            self.module.names.insert(local.clone());
            self.module.imports.insert(local, (from.clone(), Some(own)));
        }
    }

    /// A module's absolute path.
    fn absolute(&self, written: &str) -> String {
        let written: String = written.chars().filter(|c| !c.is_whitespace()).collect();
        let dots = written.chars().take_while(|c| *c == '.').count();
        if dots == 0 {
            return written;
        }
        let mut parts: Vec<&str> = self.path.split('.').collect();
        let up = if self.package { dots - 1 } else { dots };
        parts.truncate(parts.len().saturating_sub(up));
        let rest = written.trim_start_matches('.');
        if !rest.is_empty() {
            parts.push(rest);
        }
        parts.join(".")
    }

    fn all(&mut self, node: Node<'t>) {
        let Some(right) = node.child_by_field_name("right") else { return };
        if !matches!(python_kind(right), PythonKind::List | PythonKind::Tuple) {
            return;
        }
        let words = named_children(right);
        let strings: Option<BTreeSet<String>> = words
            .filter(|word| python_kind(*word) != PythonKind::Comment)
            .map(|word| {
                (python_kind(word) == PythonKind::String).then(|| self.text(word).trim_matches(['"', '\'']).to_owned())
            })
            .collect();
        self.module.all = strings;
    }

    /// Numba makes its vector types at run time, from prefixes and lengths that its stubs spell out.
    fn vector_types(&mut self, root: Node<'t>) {
        let mut prefixes = BTreeSet::new();
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if python_kind(node) == PythonKind::String {
                let word = self.text(node).trim_matches(['"', '\'']);
                if word.len() > 2
                    && word.len() < 12
                    && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
                {
                    prefixes.insert(word.to_owned());
                }
            }
            Self::children(node, &mut open);
        }
        for prefix in prefixes {
            for length in 1..=4 {
                self.module.vectors.insert(format!("{prefix}x{length}"));
                self.module.vectors.insert(format!("{prefix}{length}"));
            }
        }
    }
}
