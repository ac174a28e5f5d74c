//! What only Python has, as pseudo-code.

use super::Dump;
use crate::ir::{Comprehension, FormatPart, PythonExpr, PythonStmt};
use std::fmt::Write as _;

impl<'m> Dump<'m> {
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
                let name = self.module.functions.get(function.index()).map_or("?", |function| &function.name);
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
                    let text = format!("import {} as {}", import.path, import.local);
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
                        FormatPart::Hole(hole) => self.expr(*hole),
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
