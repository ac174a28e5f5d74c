//! [`Code`] as text.

use cudalint_kernel::code::{
    Block, Builtin, Code, Effect, Expr, ExprId, Function, Intrinsic, Place, Stmt, StmtId, Ty, UnaryOp, VariableId,
};
use cudalint_program::ir::BinaryOp;
use std::fmt::{self, Write};

/// Deepest nesting that is written out.
const MAX_DEPTH: usize = 200;

/// A type as text.
pub struct ShownTy<'t>(pub &'t Ty);

impl fmt::Display for ShownTy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Ty::Void => f.write_str("void"),
            Ty::Bool => f.write_str("bool"),
            Ty::Int { bytes, signed } => write!(f, "{}{}", if *signed { 'i' } else { 'u' }, u32::from(*bytes) * 8),
            Ty::Float { bytes } => write!(f, "f{}", u32::from(*bytes) * 8),
            Ty::Pointer => f.write_str("ptr"),
            Ty::Aggregate(layout) => {
                write!(f, "{{{}", layout.bytes)?;
                for leaf in &layout.leaves {
                    write!(f, " {}:{}", leaf.offset, ShownTy(&leaf.ty))?;
                }
                f.write_char('}')
            }
            Ty::Opaque { bytes: Some(bytes) } => write!(f, "?{bytes}"),
            Ty::Opaque { bytes: None } => f.write_char('?'),
        }
    }
}

/// Everything, a function after another.
pub struct Shown<'c>(pub &'c Code);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.0;
        for object in &code.objects {
            write!(f, "{:?} {}", object.space, object.name)?;
            match object.bytes {
                Some(bytes) => write!(f, ": {bytes} bytes of {}", object.element)?,
                None => write!(f, ": of {}", object.element)?,
            }
            if let Some((_, values)) = &object.values {
                write!(f, " = {:?}", values.get(..values.len().min(8)).unwrap_or(values))?;
            }
            f.write_char('\n')?;
        }
        for function in &code.functions {
            Dump { code, function, out: f, depth: 0 }.function()?;
        }
        for (cause, count) in &code.gaps {
            writeln!(f, "gap: {cause} ({count})")?;
        }
        if code.damaged {
            f.write_str("damaged\n")?;
        }
        Ok(())
    }
}

struct Dump<'c, 'f, 'o> {
    code: &'c Code,
    function: &'c Function,
    out: &'f mut fmt::Formatter<'o>,
    depth: usize,
}

impl Dump<'_, '_, '_> {
    fn function(&mut self) -> fmt::Result {
        let function = self.function;
        write!(self.out, "{} {}(", ShownTy(&function.returns), function.name)?;
        for at in 0..function.parameters {
            if at > 0 {
                self.out.write_str(", ")?;
            }
            self.declaration(VariableId(at))?;
        }
        self.out.write_str(")\n")?;
        self.block(&function.body, 1)
    }

    fn declaration(&mut self, id: VariableId) -> fmt::Result {
        let Some(variable) = self.function.variables.get(id) else { return self.out.write_str("??") };
        write!(self.out, "{} ", ShownTy(&variable.ty))?;
        self.variable(id)?;
        if variable.in_memory { self.out.write_str("@") } else { Ok(()) }
    }

    fn variable(&mut self, id: VariableId) -> fmt::Result {
        match self.function.variables.get(id) {
            Some(variable) if !variable.name.is_empty() => self.out.write_str(&variable.name),
            _ => write!(self.out, "%{}", id.0),
        }
    }

    fn block(&mut self, block: &Block, indent: usize) -> fmt::Result {
        block.iter().try_for_each(|id| self.stmt(*id, indent))
    }

    fn stmt(&mut self, id: StmtId, indent: usize) -> fmt::Result {
        let Some(node) = self.code.stmts.get(id) else { return Ok(()) };
        if indent > MAX_DEPTH {
            return self.out.write_str("…\n");
        }
        for _ in 0..indent {
            self.out.write_str("  ")?;
        }
        match &node.kind {
            Stmt::Expr(value) => self.line(*value),
            Stmt::Declare(variable) => {
                self.declaration(*variable)?;
                self.out.write_char('\n')
            }
            Stmt::Block(block) => {
                self.out.write_str("{}\n")?;
                self.block(block, indent + 1)
            }
            Stmt::If { condition, then, otherwise } => {
                self.out.write_str("if ")?;
                self.line(*condition)?;
                self.block(then, indent + 1)?;
                if otherwise.is_empty() {
                    return Ok(());
                }
                for _ in 0..indent {
                    self.out.write_str("  ")?;
                }
                self.out.write_str("else\n")?;
                self.block(otherwise, indent + 1)
            }
            Stmt::Loop { condition, body_first, step, body } => {
                self.out.write_str(if *body_first { "loop after " } else { "loop " })?;
                match condition {
                    Some(condition) => self.expr(*condition)?,
                    None => self.out.write_str("ever")?,
                }
                if let Some(step) = step {
                    self.out.write_str("; ")?;
                    self.expr(*step)?;
                }
                self.out.write_char('\n')?;
                self.block(body, indent + 1)
            }
            Stmt::Switch { value, cases } => {
                self.out.write_str("switch ")?;
                self.line(*value)?;
                for (label, block) in cases {
                    for _ in 0..indent {
                        self.out.write_str("  ")?;
                    }
                    match label {
                        Some(label) => writeln!(self.out, "case {label}")?,
                        None => self.out.write_str("default\n")?,
                    }
                    self.block(block, indent + 1)?;
                }
                Ok(())
            }
            Stmt::Break => self.out.write_str("break\n"),
            Stmt::Continue => self.out.write_str("continue\n"),
            Stmt::Return(None) => self.out.write_str("return\n"),
            Stmt::Return(Some(value)) => {
                self.out.write_str("return ")?;
                self.line(*value)
            }
            Stmt::Opaque { exprs, blocks, effect } => {
                write!(self.out, "opaque {}(", effect_word(*effect))?;
                self.list(exprs)?;
                self.out.write_str(")\n")?;
                blocks.iter().try_for_each(|block| self.block(block, indent + 1))
            }
        }
    }

    fn line(&mut self, id: ExprId) -> fmt::Result {
        self.expr(id)?;
        self.out.write_char('\n')
    }

    fn list(&mut self, ids: &[ExprId]) -> fmt::Result {
        for (at, id) in ids.iter().enumerate() {
            if at > 0 {
                self.out.write_str(", ")?;
            }
            self.expr(*id)?;
        }
        Ok(())
    }

    fn expr(&mut self, id: ExprId) -> fmt::Result {
        let Some(node) = self.code.exprs.get(id) else { return self.out.write_str("??") };
        if self.depth > MAX_DEPTH {
            return self.out.write_char('…');
        }
        self.depth += 1;
        self.expr_inner(&node.kind, &node.ty)?;
        self.depth -= 1;
        Ok(())
    }

    fn expr_inner(&mut self, expr: &Expr, ty: &Ty) -> fmt::Result {
        let shown = ShownTy(ty);
        match expr {
            Expr::Int(value) => match ty {
                Ty::Int { bytes: 4, signed: true } | Ty::Bool => write!(self.out, "{value}"),
                _ => write!(self.out, "{value}:{shown}"),
            },
            Expr::Float(value) => write!(self.out, "{value:?}:{shown}"),
            Expr::Builtin(builtin) => self.builtin(*builtin),
            Expr::Read(place) => self.place(place, ty),
            Expr::Write(place, value) => {
                self.place(place, ty)?;
                self.out.write_str(" = ")?;
                self.expr(*value)
            }
            Expr::Update { place, op, value, compute, old } => {
                if *old {
                    self.out.write_str("old ")?;
                }
                self.place(place, ty)?;
                write!(self.out, " {}:{}= ", operator(*op), ShownTy(compute))?;
                self.expr(*value)
            }
            Expr::VariableAddress(variable) => {
                self.out.write_char('&')?;
                self.variable(*variable)
            }
            Expr::ObjectAddress(object) => {
                let name = self.code.objects.get(*object).map_or("??", |object| object.name.as_str());
                write!(self.out, "&{name}")
            }
            Expr::Offset { base, index, stride } => {
                self.out.write_char('(')?;
                self.expr(*base)?;
                self.out.write_str(" + ")?;
                self.expr(*index)?;
                write!(self.out, "*{stride})")
            }
            Expr::Unary(op, value) => {
                self.out.write_char(if *op == UnaryOp::Minus { '-' } else { '~' })?;
                self.expr(*value)
            }
            Expr::Not(value) => {
                self.out.write_char('!')?;
                self.expr(*value)
            }
            Expr::Binary(op, a, b) => self.infix(operator(*op), *a, *b),
            Expr::And(a, b) => self.infix("&&", *a, *b),
            Expr::Or(a, b) => self.infix("||", *a, *b),
            Expr::Select(condition, yes, no) => {
                self.out.write_char('(')?;
                self.expr(*condition)?;
                self.out.write_str(" ? ")?;
                self.expr(*yes)?;
                self.out.write_str(" : ")?;
                self.expr(*no)?;
                self.out.write_char(')')
            }
            Expr::Convert(value) => {
                write!(self.out, "{shown}(")?;
                self.expr(*value)?;
                self.out.write_char(')')
            }
            Expr::Aggregate(parts) => {
                self.out.write_char('{')?;
                self.list(parts)?;
                self.out.write_char('}')
            }
            Expr::Leaves { of, first, count } => {
                self.expr(*of)?;
                write!(self.out, ".{first}")?;
                if *count == 1 { Ok(()) } else { write!(self.out, "+{count}") }
            }
            Expr::Call(function, args) => {
                let name = self.code.functions.get(*function).map_or("??", |function| function.name.as_str());
                write!(self.out, "{name}#{}(", function.0)?;
                self.list(args)?;
                self.out.write_char(')')
            }
            Expr::Intrinsic(what, args) => {
                self.intrinsic(what)?;
                self.list(args)?;
                self.out.write_char(')')
            }
            Expr::Sequence(parts) => {
                self.out.write_str("[")?;
                self.list(parts)?;
                self.out.write_str("]")
            }
            Expr::Statements(block, value) => {
                self.out.write_str("({\n")?;
                self.block(block, 4)?;
                self.out.write_str("    ")?;
                if let Some(value) = value {
                    self.expr(*value)?;
                }
                self.out.write_str("})")
            }
            Expr::Opaque { children, effect } => {
                write!(self.out, "opaque {}:{shown}(", effect_word(*effect))?;
                self.list(children)?;
                self.out.write_char(')')
            }
        }
    }

    fn infix(&mut self, op: &str, a: ExprId, b: ExprId) -> fmt::Result {
        self.out.write_char('(')?;
        self.expr(a)?;
        write!(self.out, " {op} ")?;
        self.expr(b)?;
        self.out.write_char(')')
    }

    fn intrinsic(&mut self, what: &Intrinsic) -> fmt::Result {
        match what {
            Intrinsic::WrapIndex { array, axis, .. } => write!(self.out, "wrap {array}.{axis}("),
            Intrinsic::Bits(what) => write!(self.out, "{what:?}("),
            what => write!(self.out, "{what:?}("),
        }
    }

    fn builtin(&mut self, builtin: Builtin) -> fmt::Result {
        let axis = |at: u8| ["x", "y", "z"].get(usize::from(at)).copied().unwrap_or("?");
        match builtin {
            Builtin::ThreadIdx(at) => write!(self.out, "threadIdx.{}", axis(at)),
            Builtin::BlockIdx(at) => write!(self.out, "blockIdx.{}", axis(at)),
            Builtin::BlockDim(at) => write!(self.out, "blockDim.{}", axis(at)),
            Builtin::GridDim(at) => write!(self.out, "gridDim.{}", axis(at)),
            Builtin::WarpSize => self.out.write_str("warpSize"),
        }
    }

    fn place(&mut self, place: &Place, ty: &Ty) -> fmt::Result {
        let shown = ShownTy(ty);
        match place {
            Place::Register { variable, first, count } => {
                self.variable(*variable)?;
                match count {
                    0 => Ok(()),
                    1 => write!(self.out, ".{first}"),
                    count => write!(self.out, ".{first}+{count}"),
                }
            }
            Place::Memory { address, element, volatile } => {
                write!(self.out, "{}{shown}", if *volatile { "volatile " } else { "" })?;
                if ty.bytes() != Some(*element) {
                    write!(self.out, "/{element}")?;
                }
                self.out.write_char('[')?;
                self.expr(*address)?;
                self.out.write_char(']')
            }
        }
    }
}

const fn effect_word(effect: Effect) -> &'static str {
    match effect {
        Effect::Pure(_) => "pure",
        Effect::None => "none",
        Effect::Writes => "writes",
        Effect::WritesAnywhere => "writes anywhere",
        Effect::Call { memory: false, .. } => "call",
        Effect::Call { memory: true, .. } => "call that may touch memory",
        Effect::Anything => "anything",
    }
}

const fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div | BinaryOp::TrueDiv => "/",
        BinaryOp::FloorDiv => "//",
        BinaryOp::Rem => "%",
        BinaryOp::Pow => "**",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
    }
}
