//! What only Python has, as pseudo-code.

use super::Dump;
use crate::ir::{Comprehension, FormatPart, Function, PythonExpr, PythonFunction, PythonStmt};
use crate::name::Name;
use std::fmt::Write as _;

impl<'m> Dump<'m> {
    /// Parameters with their defaults, which are written with the names of the function around.
    pub(super) fn python_params(&mut self, function: &'m Function, python: &PythonFunction) -> Vec<String> {
        let around = function.parent.or(self.module.body).and_then(|parent| self.module.functions.get(parent));
        let own = std::mem::replace(&mut self.function, around);
        let mut params = Vec::new();
        for (index, param) in function.params().iter().enumerate() {
            let is = |local: Option<crate::ir::LocalId>| local.is_some_and(|local| local.index() == index);
            let star = if is(python.rest) {
                "*"
            } else if is(python.keywords) {
                "**"
            } else if index >= python.positional as usize {
                "keyword "
            } else {
                ""
            };
            let mut text = format!("{star}{}", param.name);
            if let Some(default) = param.init {
                let _ = write!(text, " = {}", self.expr(default));
            }
            params.push(text);
        }
        self.function = own;
        params
    }

    /// What a definition says beside its parameters.
    pub(super) fn python_function(&mut self, python: &PythonFunction, head: &mut String) {
        if !python.outer.is_empty() {
            let names: Vec<&str> = python.outer.iter().map(Name::as_str).collect();
            let _ = write!(head, " outer {}", names.join(", "));
        }
        if python.is_generator {
            head.push_str(" generator");
        }
        if let Some(kernel) = &python.kernel {
            let _ = write!(head, " for {:?}", kernel.dialect);
            if let Some(signature) = kernel.signature {
                let _ = write!(head, " as {}", self.expr(signature));
            }
        }
        for decorator in &python.decorators {
            let _ = write!(head, " @{}", self.expr(*decorator));
        }
    }

    pub(super) fn python_stmt(&mut self, stmt: &'m PythonStmt) {
        match stmt {
            PythonStmt::For { target, iterable, body, otherwise } => {
                let head = format!("for {} in {}", self.expr(*target), self.expr(*iterable));
                self.braced(&head, body);
                if !otherwise.is_empty() {
                    self.braced("else", otherwise);
                }
            }
            PythonStmt::With { items, body } => {
                let items: Vec<String> = items
                    .iter()
                    .map(|(item, target)| match target {
                        Some(target) => format!("{} as {}", self.expr(*item), self.expr(*target)),
                        None => self.expr(*item),
                    })
                    .collect();
                self.braced(&format!("with {}", items.join(", ")), body);
            }
            PythonStmt::Define(function) => {
                let name = self.module.functions.get(*function).map_or("?", |function| &function.name);
                let line = format!("define {name}");
                self.line(&line);
            }
            PythonStmt::Class(record, body) => {
                let name = self.module.records.get(*record as usize).map_or("?", |record| &record.name);
                let head = format!("class {name}");
                self.braced(&head, body);
            }
            PythonStmt::Assert(condition, _) => {
                let text = format!("assert {}", self.expr(*condition));
                self.line(&text);
            }
            PythonStmt::Delete(targets) => {
                let text = format!("del {}", self.list(targets));
                self.line(&text);
            }
            PythonStmt::Import(names) => {
                for import in self.module.imports.get(names.start as usize..names.end as usize).unwrap_or(&[]) {
                    let dots = ".".repeat(import.level as usize);
                    let word = if import.from { "from-import" } else { "import" };
                    let text = format!("{word} {dots}{} as {}", import.path, import.local);
                    self.line(&text);
                }
            }
        }
    }

    pub(super) fn python_expr(&mut self, expr: &'m PythonExpr) -> String {
        match expr {
            PythonExpr::Tuple(values) => format!("tuple({})", self.list(values)),
            PythonExpr::List(values) => format!("[{}]", self.list(values)),
            PythonExpr::Set(values) => format!("{{{}}}", self.list(values)),
            PythonExpr::Dict(entries) => {
                let entries: Vec<String> = entries
                    .iter()
                    .map(|(key, value)| match key {
                        Some(key) => format!("{}: {}", self.expr(*key), self.expr(*value)),
                        None => format!("**{}", self.expr(*value)),
                    })
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
            PythonExpr::Slice(parts) => {
                let parts: Vec<String> =
                    parts.iter().map(|part| part.map_or_else(String::new, |part| self.expr(part))).collect();
                parts.join(":")
            }
            PythonExpr::Keyword(name, value) => format!("{name}={}", self.expr(*value)),
            PythonExpr::Spread { value, keywords } => {
                format!("{}{}", if *keywords { "**" } else { "*" }, self.expr(*value))
            }
            PythonExpr::Format(parts) => {
                let parts: Vec<String> = parts
                    .iter()
                    .map(|part| match part {
                        FormatPart::Text(text) => format!("{text:?}"),
                        FormatPart::Hole(hole) | FormatPart::Formatted(hole) => self.expr(*hole),
                    })
                    .collect();
                format!("format({})", parts.join(", "))
            }
            PythonExpr::In { value, container, negated } => {
                let word = if *negated { "not in" } else { "in" };
                format!("({} {word} {})", self.expr(*value), self.expr(*container))
            }
            PythonExpr::Comprehension { kind, element, value, clauses } => {
                let kind = match kind {
                    Comprehension::List => "list",
                    Comprehension::Set => "set",
                    Comprehension::Dict => "dict",
                    Comprehension::Generator => "generator",
                };
                let mut text = format!("{kind}({}", self.expr(*element));
                if let Some(value) = value {
                    let _ = write!(text, ": {}", self.expr(*value));
                }
                for clause in clauses {
                    let _ = write!(text, " for {} in {}", self.expr(clause.target), self.expr(clause.iterable));
                    for condition in &clause.conditions {
                        let _ = write!(text, " if {}", self.expr(*condition));
                    }
                }
                text.push(')');
                text
            }
            PythonExpr::Ellipsis => "...".to_owned(),
        }
    }
}
