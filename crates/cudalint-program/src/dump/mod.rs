//! A module as compact pseudo-code, for tests and for people who ask what a file was read as.

mod python;

use crate::ir::{
    Block, Expr, ExprId, Function, FunctionRole, LoopKind, Module, Space, Stmt, TemplateArg, TemplateParam, Type,
    TypeId, UnaryOp, Variable,
};
use crate::name::Name;
use std::fmt::Write as _;

/// Deeper parts are written as `…`.
const MAX_DEPTH: u32 = 400;

impl Module {
    /// The module as text: records, globals, functions with their bodies.
    pub fn dump(&self) -> String {
        let mut dump = Dump { module: self, out: String::new(), indent: 0, depth: 0, function: None };
        dump.module();
        dump.out
    }
}

struct Dump<'m> {
    module: &'m Module,
    out: String,
    indent: usize,
    depth: u32,
    function: Option<&'m Function>,
}

impl<'m> Dump<'m> {
    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn module(&mut self) {
        let module = self.module;
        for alias in &module.aliases {
            let text = format!(
                "{}using {}{} = {}",
                self.params(&alias.template_params),
                scope(&alias.scope),
                alias.name,
                self.ty(alias.ty)
            );
            self.line(&text);
        }
        for item in &module.enumerators {
            let value = item.value.map_or_else(|| format!("+{}", item.offset), |value| self.expr(value));
            let text = format!("enumerator {}{}::{} {value}", scope(&item.scope), item.of, item.name);
            self.line(&text);
        }
        for record in &module.records {
            let mut head = self.params(&record.template_params);
            head.push_str(if record.is_union { "union " } else { "struct " });
            let _ = write!(head, "{}{}", scope(&record.scope), record.name);
            for base in &record.bases {
                let _ = write!(head, " : {}", self.ty(*base));
            }
            if let Some(align) = record.align {
                let _ = write!(head, " align {}", self.expr(align));
            }
            if record.has_virtual {
                head.push_str(" virtual");
            }
            if record.specializes.is_some() {
                head.push_str(" specialized");
            }
            for decorator in &record.decorators {
                let _ = write!(head, " @{}", self.expr(*decorator));
            }
            self.line(&head);
            self.indent += 1;
            for field in &record.fields {
                let text = self.variable(field);
                self.line(&text);
            }
            self.indent -= 1;
        }
        for global in &module.globals {
            let text = format!("global {}{}", scope(&global.scope), self.variable(global));
            self.line(&text);
        }
        for item in &module.instantiations {
            let path: Vec<&str> = item.path.segments.iter().map(Name::as_str).collect();
            let text = format!("instantiate {}{}", path.join("::"), self.targs(&item.targs));
            self.line(&text);
        }
        for (index, function) in module.functions.iter().enumerate() {
            self.function(index, function);
        }
    }

    fn function(&mut self, index: usize, function: &'m Function) {
        self.function = Some(function);
        let mut head = self.params(&function.template_params);
        if function.extern_c {
            head.push_str("extern-c ");
        }
        if function.is_static {
            head.push_str("static ");
        }
        if function.is_constexpr {
            head.push_str("constexpr ");
        }
        for (written, word) in
            [(function.space.global, "global "), (function.space.host, "host "), (function.space.device, "device ")]
        {
            if function.space_written && written {
                head.push_str(word);
            }
        }
        match function.role {
            FunctionRole::Free => {}
            FunctionRole::Lambda => {
                let _ = write!(head, "lambda#{index}");
            }
            role => {
                let _ = write!(head, "{} ", format!("{role:?}").to_lowercase());
            }
        }
        let params: Vec<String> = match &function.python {
            Some(python) => self.python_params(function, python),
            None => function.params().iter().map(|param| self.variable(param)).collect(),
        };
        let _ = write!(head, "{}{}({}", scope(&function.scope), function.name, params.join(", "));
        if function.variadic {
            head.push_str(", ...");
        }
        let _ = write!(head, ") -> {}", self.ty(function.returns));
        if let Some((threads, blocks)) = function.launch_bounds {
            let _ = write!(head, " bounds {}", self.expr(threads));
            if let Some(blocks) = blocks {
                let _ = write!(head, ", {}", self.expr(blocks));
            }
        }
        for (name, values) in &function.member_inits {
            let _ = write!(head, " init {name}({})", self.list(values));
        }
        if !function.captures.is_empty() {
            let names: Vec<&str> = function.captures.iter().map(|(name, _)| name.as_str()).collect();
            let _ = write!(head, " captures {}", names.join(", "));
        }
        if let Some(python) = &function.python {
            self.python_function(python, &mut head);
        }
        for (on, word) in [(function.is_specialization, " specialized"), (function.damaged, " damaged")] {
            if on {
                head.push_str(word);
            }
        }
        if let Some(body) = &function.body {
            head.push_str(" {");
            self.line(&head);
            self.block(body);
            self.line("}");
        } else {
            head.push(';');
            self.line(&head);
        }
        self.function = None;
    }

    fn variable(&mut self, variable: &Variable) -> String {
        let mut text = match variable.space {
            Space::Ordinary => String::new(),
            space => format!("{} ", format!("{space:?}").to_lowercase()),
        };
        if variable.is_constexpr {
            text.push_str("constexpr ");
        }
        let _ = write!(text, "{}: {}", variable.name, self.ty(variable.ty));
        if let Some(init) = variable.init {
            let _ = write!(text, " = {}", self.expr(init));
        }
        text
    }

    fn params(&mut self, params: &[TemplateParam]) -> String {
        if params.is_empty() {
            return String::new();
        }
        let mut parts = Vec::new();
        for param in params {
            let mut text = match param.value_type {
                Some(ty) => format!("{}: {}", param.name, self.ty(ty)),
                None => param.name.to_string(),
            };
            if param.pack {
                text.push_str("...");
            }
            if let Some(default) = &param.default {
                let _ = write!(text, " = {}", self.targ(default));
            }
            parts.push(text);
        }
        format!("<{}> ", parts.join(", "))
    }

    fn block(&mut self, block: &'m Block) {
        if self.depth > MAX_DEPTH {
            self.line("…");
            return;
        }
        self.depth += 1;
        self.indent += 1;
        for id in block {
            if let Some(node) = self.module.stmts.get(*id) {
                self.stmt(&node.kind);
            }
        }
        self.indent -= 1;
        self.depth -= 1;
    }

    fn braced(&mut self, head: &str, block: &'m Block) {
        self.line(&format!("{head} {{"));
        self.block(block);
        self.line("}");
    }

    fn stmt(&mut self, stmt: &'m Stmt) {
        match stmt {
            Stmt::Expr(value) => {
                if let Some(Expr::Statements(block)) = self.module.exprs.get(*value).map(|node| &node.kind) {
                    return self.braced("statements", block);
                }
                let text = self.expr(*value);
                self.line(&text);
            }
            Stmt::Declare(local) => {
                let text = match self.function.and_then(|function| function.locals.get(*local)) {
                    Some(variable) => self.variable(variable),
                    None => "?".to_owned(),
                };
                self.line(&format!("let {text}"));
            }
            Stmt::Block(block) => self.braced("block", block),
            Stmt::If { condition, then, otherwise, constant } => {
                let word = if *constant { "if constexpr" } else { "if" };
                let head = format!("{word} {}", self.expr(*condition));
                self.braced(&head, then);
                if !otherwise.is_empty() {
                    self.braced("else", otherwise);
                }
            }
            Stmt::Loop { kind, init, condition, step, body } => {
                let word = match kind {
                    LoopKind::For => "for",
                    LoopKind::While => "while",
                    LoopKind::DoWhile => "do-while",
                };
                let condition = condition.map_or_else(String::new, |condition| self.expr(condition));
                let step = step.map_or_else(String::new, |step| format!("; {}", self.expr(step)));
                if !init.is_empty() {
                    self.braced("init", init);
                }
                self.braced(&format!("{word} {condition}{step}"), body);
            }
            Stmt::ForEach { variable, range, body } => {
                let name = match self.function.and_then(|function| function.locals.get(*variable)) {
                    Some(variable) => self.variable(variable),
                    None => "?".to_owned(),
                };
                let head = format!("for each {name} in {}", self.expr(*range));
                self.braced(&head, body);
            }
            Stmt::Python(stmt) => self.python_stmt(stmt),
            Stmt::Switch { value, cases } => {
                let head = format!("switch {}", self.expr(*value));
                self.line(&head);
                for case in cases {
                    let head =
                        case.value.map_or_else(|| "default".to_owned(), |value| format!("case {}", self.expr(value)));
                    self.braced(&head, &case.body);
                }
            }
            Stmt::Break => self.line("break"),
            Stmt::Continue => self.line("continue"),
            Stmt::Return(None) => self.line("return"),
            Stmt::Return(Some(value)) => {
                let text = format!("return {}", self.expr(*value));
                self.line(&text);
            }
            Stmt::Goto(name) => self.line(&format!("goto {name}")),
            Stmt::Label(name) => self.line(&format!("{name}:")),
            Stmt::Try { body, handlers } => {
                self.braced("try", body);
                for handler in handlers {
                    self.braced("catch", handler);
                }
            }
            Stmt::Asm { text, operands, .. } => {
                let text = format!("asm {text:?} {}", self.list(operands));
                self.line(&text);
            }
            Stmt::Elided { names } => {
                let names: Vec<&str> = names.iter().map(Name::as_str).collect();
                self.line(&format!("elided [{}]", names.join(", ")));
            }
            Stmt::Unknown { exprs, blocks } => {
                let head = format!("unknown [{}]", self.list(exprs));
                self.line(&head);
                for block in blocks {
                    self.braced("part", block);
                }
            }
        }
    }

    fn list(&mut self, values: &[ExprId]) -> String {
        let values: Vec<String> = values.iter().map(|value| self.expr(*value)).collect();
        values.join(", ")
    }

    fn expr(&mut self, id: ExprId) -> String {
        let Some(node) = self.module.exprs.get(id) else { return "?".to_owned() };
        if self.depth > MAX_DEPTH {
            return "…".to_owned();
        }
        self.depth += 1;
        let text = self.expr_text(&node.kind);
        self.depth -= 1;
        text
    }

    fn expr_text(&mut self, expr: &'m Expr) -> String {
        match expr {
            Expr::Int { value, bytes, signed } => match (bytes, signed) {
                (4, true) => value.to_string(),
                (1, false) => (if *value == 0 { "false" } else { "true" }).to_owned(),
                _ => format!("{value}{}{}", if *signed { "i" } else { "u" }, u32::from(*bytes) * 8),
            },
            Expr::Float { value, bytes } => format!("{value:?}f{}", u32::from(*bytes) * 8),
            Expr::OnDevice => "on_device".to_owned(),
            Expr::Str(text) => format!("{text:?}"),
            Expr::Null => "null".to_owned(),
            Expr::Local(local) => match self.function.and_then(|function| function.locals.get(*local)) {
                Some(variable) => format!("%{}", variable.name),
                None => format!("%{}", local.0),
            },
            Expr::Name { path, targs } => {
                let path: Vec<&str> = path.segments.iter().map(Name::as_str).collect();
                format!("{}{}", path.join("::"), self.targs(targs))
            }
            Expr::This => "this".to_owned(),
            Expr::Unary(op, value) => {
                let op = match op {
                    UnaryOp::Plus => "+",
                    UnaryOp::Minus => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::BitNot => "~",
                };
                format!("{op}{}", self.expr(*value))
            }
            Expr::Binary(op, left, right) => {
                format!("({} {op:?} {})", self.expr(*left), self.expr(*right))
            }
            Expr::AndThen(left, right) => format!("({} && {})", self.expr(*left), self.expr(*right)),
            Expr::OrElse(left, right) => format!("({} || {})", self.expr(*left), self.expr(*right)),
            Expr::Assign { op, target, value } => {
                let op = op.map_or_else(String::new, |op| format!("{op:?} "));
                format!("{} = {op}{}", self.expr(*target), self.expr(*value))
            }
            Expr::Step { prefix, by, target } => {
                let op = if *by < 0 { "--" } else { "++" };
                let target = self.expr(*target);
                if *prefix { format!("{op}{target}") } else { format!("{target}{op}") }
            }
            Expr::Select(condition, then, otherwise) => {
                format!("({} ? {} : {})", self.expr(*condition), self.expr(*then), self.expr(*otherwise))
            }
            Expr::Cast { ty, value } => format!("({} as {})", self.expr(*value), self.ty(*ty)),
            Expr::SizeOfType(ty) => format!("sizeof<{}>", self.ty(*ty)),
            Expr::SizeOfExpr(value) => format!("sizeof({})", self.expr(*value)),
            Expr::Index { base, indices } => format!("{}[{}]", self.expr(*base), self.list(indices)),
            Expr::Member { base, name, arrow } => {
                format!("{}{}{name}", self.expr(*base), if *arrow { "->" } else { "." })
            }
            Expr::Deref(value) => format!("*{}", self.expr(*value)),
            Expr::AddressOf(value) => format!("&{}", self.expr(*value)),
            Expr::Call { callee, args } => format!("{}({})", self.expr(*callee), self.list(args)),
            Expr::Launch(launch) => {
                let word = if launch.chevron { "launch" } else { "launch-call" };
                let attributes = launch.attributes.map_or_else(String::new, |id| format!(" with {}", self.expr(id)));
                format!(
                    "{word} {} [{}]{attributes} ({})",
                    self.expr(launch.kernel),
                    self.list(&launch.config),
                    self.list(&launch.args)
                )
            }
            Expr::Construct { ty, args, braces } => {
                let (open, close) = if *braces { ("{", "}") } else { ("(", ")") };
                format!("new-value {}{open}{}{close}", self.ty(*ty), self.list(args))
            }
            Expr::InitList(values) => format!("{{{}}}", self.list(values)),
            Expr::Designated { field, value } => format!(".{field} = {}", self.expr(*value)),
            Expr::New { ty, count, args } => {
                let count = count.map_or_else(String::new, |count| format!("[{}]", self.expr(count)));
                format!("new {}{count}({})", self.ty(*ty), self.list(args))
            }
            Expr::Place { at, ty, count, args } => {
                let count = count.map_or_else(String::new, |count| format!("[{}]", self.expr(count)));
                format!("new at {} {}{count}({})", self.expr(*at), self.ty(*ty), self.list(args))
            }
            Expr::Delete { value, array } => {
                format!("delete{} {}", if *array { "[]" } else { "" }, self.expr(*value))
            }
            Expr::Lambda { function, by_reference } => {
                format!("lambda#{}{}", function.0, if *by_reference { "&" } else { "" })
            }
            Expr::Comma(values) => format!("({})", self.list(values)),
            Expr::Statements(block) => format!("statements<{}>", block.len()),
            Expr::Throw(value) => match value {
                Some(value) => format!("throw {}", self.expr(*value)),
                None => "throw".to_owned(),
            },
            Expr::Python(expr) => self.python_expr(expr),
            Expr::Unknown(values) => format!("unknown({})", self.list(values)),
        }
    }

    fn targs(&mut self, args: &[TemplateArg]) -> String {
        if args.is_empty() {
            return String::new();
        }
        let args: Vec<String> = args.iter().map(|arg| self.targ(arg)).collect();
        format!("<{}>", args.join(", "))
    }

    fn targ(&mut self, arg: &TemplateArg) -> String {
        match arg {
            TemplateArg::Type(ty) => self.ty(*ty),
            TemplateArg::Value(value) => self.expr(*value),
            TemplateArg::Ambiguous(ty, _) => format!("{}?", self.ty(*ty)),
        }
    }

    fn ty(&mut self, id: TypeId) -> String {
        let Some(ty) = self.module.types.get(id) else { return "?".to_owned() };
        if self.depth > MAX_DEPTH {
            return "…".to_owned();
        }
        self.depth += 1;
        let text = match ty {
            Type::Void => "void".to_owned(),
            Type::Int { bytes, signed } => format!("{}{}", if *signed { "i" } else { "u" }, u32::from(*bytes) * 8),
            Type::Bool => "bool".to_owned(),
            Type::Float { bytes } => format!("f{}", u32::from(*bytes) * 8),
            Type::Vector { name, .. } => name.to_string(),
            Type::Pointer(to) => format!("{}*", self.ty(*to)),
            Type::Reference(to) => format!("{}&", self.ty(*to)),
            Type::Array(of, count) => {
                let count = count.map_or_else(String::new, |count| self.expr(count));
                format!("[{count}]{}", self.ty(*of))
            }
            Type::Qualified { ty, is_const, is_volatile } => {
                let word = if *is_const { "const " } else { "" };
                let other = if *is_volatile { "volatile " } else { "" };
                format!("{word}{other}{}", self.ty(*ty))
            }
            Type::Named { path, args } => {
                let path: Vec<&str> = path.segments.iter().map(Name::as_str).collect();
                format!("{}{}", path.join("::"), self.targs(args))
            }
            Type::Member { of, path, args } => {
                let last = path.last().map_or("", Name::as_str);
                format!("{}::{last}{}", self.ty(*of), self.targs(args))
            }
            Type::Function => "function".to_owned(),
            Type::Auto => "auto".to_owned(),
            Type::DeclType(value) => format!("decltype({})", self.expr(*value)),
            Type::Unknown => "unknown".to_owned(),
        };
        self.depth -= 1;
        text
    }
}

fn scope(path: &crate::ir::Path) -> String {
    let mut out = String::new();
    for segment in &*path.segments {
        out.push_str(segment);
        out.push_str("::");
    }
    out
}
