//! Code that never runs, whoever calls its function: branches that a constant rules out, and what stands behind a `return` of the same
//! block. Of what an undecided `#if` leaves open nothing is said.

use cudalint_program::ir::{Block, Expr, ExprId, Function, FunctionId, LoopKind, Module, ModuleId, Stmt};
use cudalint_program::types::TypeEnv;
use cudalint_program::visit::{Item, walk};
use cudalint_program::{Project, Scope};
use cudalint_replay::facts::NeverRun;
use cudalint_syntax::{Language, Span};

/// A stretch of code that never runs.
pub(crate) struct Dead {
    pub span: Span,
    /// What would have to be otherwise, in words.
    pub unless: String,
}

/// The stretches of a module, in no order. `never_run`: those that walks of its functions have found.
pub(crate) fn dead(project: &Project, id: ModuleId, never_run: &[NeverRun]) -> Vec<Dead> {
    let module = project.module(id);
    let of_walks =
        never_run.iter().map(|never| Dead { span: never.span, unless: unless(project, id, never.condition) });
    let mut found: Vec<Dead> = of_walks.collect();
    for (number, function) in module.functions.iter_enumerated() {
        if let Some(body) = &function.body {
            let mut look = Look { project, id, module, number, function, found: &mut found };
            look.blocks(body);
        }
    }
    found
}

/// That a condition would have to have another value, in words.
fn unless(project: &Project, id: ModuleId, condition: Span) -> String {
    let words = project.text(id, condition).split_whitespace().collect::<Vec<_>>().join(" ");
    format!("`{words}` has another value than it has here")
}

/// A function that is looked through.
struct Look<'p, 'f> {
    project: &'p Project,
    id: ModuleId,
    module: &'p Module,
    number: FunctionId,
    function: &'p Function,
    found: &'f mut Vec<Dead>,
}

impl Look<'_, '_> {
    fn blocks(&mut self, body: &Block) {
        self.behind_ends(body);
        let module = self.module;
        walk(module, self.function, body, |item| {
            let Item::Stmt(id) = item else { return true };
            let Some(node) = module.stmts.get(id) else { return false };
            match &node.kind {
                Stmt::If { condition, then, otherwise, .. } => {
                    match self.truth(*condition) {
                        Some(true) => self.never(*condition, otherwise),
                        Some(false) => self.never(*condition, then),
                        None => {}
                    }
                    self.behind_ends(then);
                    self.behind_ends(otherwise);
                }
                Stmt::Loop { kind, condition: Some(condition), body, .. } => {
                    if *kind == LoopKind::While && self.truth(*condition) == Some(false) {
                        self.never(*condition, body);
                    }
                    self.behind_ends(body);
                }
                Stmt::Loop { body, .. } | Stmt::Block(body) | Stmt::ForEach { body, .. } => self.behind_ends(body),
                _ => {}
            }
            true
        });
    }

    /// Whether a condition holds, as far as the source alone says it.
    fn truth(&self, condition: ExprId) -> Option<bool> {
        if self.module.language == Language::Python {
            return self.truth_in_python(condition);
        }
        let scope = Scope::new(self.project, self.id, Some(self.number), &TypeEnv::default());
        scope.eval(condition).map(|value| value != 0)
    }

    /// The same of Python: a literal, or a name of the module that is given one once and for all.
    fn truth_in_python(&self, condition: ExprId) -> Option<bool> {
        let node = self.module.exprs.get(condition)?;
        if let Expr::Int { value, .. } = node.kind {
            return Some(value != 0);
        }
        let text = self.project.source(self.id);
        let word = |span: Span| self.project.text(self.id, span).trim();
        let (name, negated) = match word(node.span).strip_prefix("not ") {
            Some(rest) => (rest.trim(), true),
            None => (word(node.span), false),
        };
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        is_name.then(|| flag(text, name)).flatten().map(|value| value != negated)
    }

    /// Notes a branch that is never taken.
    fn never(&mut self, condition: ExprId, branch: &Block) {
        let Some(condition) = self.module.exprs.get(condition) else { return };
        // What a macro wrote stands where the macro is called, as its live parts do.
        let spans = branch.iter().filter_map(|id| Some(self.module.stmts.get(*id)?.span));
        let spans = spans.filter(|span| span.start >= condition.span.end);
        let unless = unless(self.project, self.id, condition.span);
        for span in spans.collect::<Vec<_>>() {
            self.found.push(Dead { span, unless: unless.clone() });
        }
    }

    /// Notes what stands behind a statement that ends its block.
    fn behind_ends(&mut self, block: &Block) {
        let nodes = |id: &_| self.module.stmts.get(*id);
        let Some(position) = block.iter().position(|id| nodes(id).is_some_and(|node| self.ends(&node.kind))) else {
            return;
        };
        let Some(mut before) = block.get(position).and_then(nodes).map(|node| node.span) else { return };
        for node in block.iter().skip(position + 1).filter_map(nodes) {
            let between = Span { start: before.end, end: node.span.start.max(before.end) };
            // A jump leads here, or the statement before stands in a branch of `#if`.
            let labelled = matches!(node.kind, Stmt::Label(_));
            let text = self.project.text(self.id, between);
            let is_directive = self.module.language == Language::Cuda && text.contains('#');
            if labelled || is_directive || node.span.start < before.end {
                return;
            }
            before = node.span;
            self.found.push(Dead { span: node.span, unless: "the statements before it go on to it".to_owned() });
        }
    }

    /// Whether nothing behind a statement runs.
    fn ends(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Return(_) => true,
            Stmt::Expr(expr) => match self.module.exprs.get(*expr).map(|node| &node.kind) {
                Some(Expr::Throw(_)) => true,
                Some(Expr::Call { callee, .. }) => self.is_exit(*callee),
                _ => false,
            },
            _ => false,
        }
    }

    fn is_exit(&self, callee: ExprId) -> bool {
        const EXITS: [&str; 5] = ["exit", "abort", "_exit", "_Exit", "quick_exit"];
        let Some(Expr::Name { path, .. }) = self.module.exprs.get(callee).map(|node| &node.kind) else { return false };
        let of_library = match &*path.segments {
            [_] => true,
            [first, _] => *first == *"std",
            _ => false,
        };
        let own = |name: &str| self.module.functions.iter().any(|function| function.name == *name);
        let name = path.last().map_or("", |name| name);
        self.module.language == Language::Cuda && of_library && EXITS.contains(&name) && !own(name)
    }
}

/// The value of a name of a Python module that is bound once, at its left margin, to a literal, and that nothing else can bind.
fn flag(text: &str, name: &str) -> Option<bool> {
    let mut value = None;
    for at in crate::others::words_at(text, name) {
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = text[start..].lines().next().unwrap_or("");
        let (before, behind) = (&text[start..at], line.get(at - start + name.len()..).unwrap_or("").trim_start());
        let opened = line.trim_start();
        if before.contains('#') {
            continue;
        }
        let binds = behind.starts_with('=') && !behind.starts_with("==");
        if binds && before.is_empty() && value.is_none() {
            let given = behind[1..].split('#').next().unwrap_or("").trim();
            value = Some(match given {
                "True" | "1" => true,
                "False" | "0" => false,
                _ => return None,
            });
            continue;
        }
        let plain =
            ["if ", "elif ", "while ", "assert ", "return ", "print("].iter().any(|word| opened.starts_with(word));
        if !plain || binds || behind.starts_with(":=") {
            return None;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::flag;

    #[test]
    fn a_flag_of_python_is_known_where_it_is_bound_once() {
        for (text, expected) in [
            ("debug = False\nif debug:\n    print(1)\n", Some(false)),
            ("debug = 1  # for now\nif not debug:\n    run()\n", Some(true)),
            ("debug = False\nif x:\n    debug = True\nif debug:\n    run()\n", None),
            ("debug = False\ndef f(debug):\n    pass\n", None),
            ("debug = False\ndebug = True\n", None),
            ("debug = len(sys.argv) > 1\nif debug:\n    run()\n", None),
            ("if debug:\n    run()\n", None),
        ] {
            assert_eq!(flag(text, "debug"), expected, "{text}");
        }
    }
}
