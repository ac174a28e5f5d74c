//! Visiting expressions and statements without recursion: every analysis that only looks uses these, so that none can
//! run out of stack on deep code.

use crate::ir::{Block, Expr, ExprId, Function, LocalId, Module, PythonExpr, PythonStmt, Stmt, StmtId, TemplateArg};

/// Calls `visit` for each direct operand of an expression, in order of evaluation. Statements inside (statement
/// expressions) are left out; lambda bodies are functions of their own.
pub fn operands(expr: &Expr, mut visit: impl FnMut(ExprId)) {
    match expr {
        Expr::Int { .. }
        | Expr::Float { .. }
        | Expr::Str(_)
        | Expr::Null
        | Expr::Local(_)
        | Expr::This
        | Expr::OnDevice
        | Expr::SizeOfType(_)
        | Expr::Lambda { .. }
        | Expr::Statements(_)
        | Expr::Throw(None) => {}
        Expr::Name { targs, .. } => {
            for targ in targs {
                if let TemplateArg::Value(value) = targ {
                    visit(*value);
                }
            }
        }
        Expr::Unary(_, a)
        | Expr::SizeOfExpr(a)
        | Expr::Cast { value: a, .. }
        | Expr::Member { base: a, .. }
        | Expr::Deref(a)
        | Expr::AddressOf(a)
        | Expr::Step { target: a, .. }
        | Expr::Designated { value: a, .. }
        | Expr::Delete { value: a, .. }
        | Expr::Throw(Some(a)) => visit(*a),
        Expr::Binary(_, a, b) | Expr::AndThen(a, b) | Expr::OrElse(a, b) => {
            visit(*a);
            visit(*b);
        }
        Expr::Assign { target, value, .. } => {
            visit(*value);
            visit(*target);
        }
        Expr::Select(a, b, c) => {
            visit(*a);
            visit(*b);
            visit(*c);
        }
        Expr::Index { base, indices } => {
            visit(*base);
            indices.iter().copied().for_each(visit);
        }
        Expr::Call { callee, args } => {
            visit(*callee);
            args.iter().copied().for_each(visit);
        }
        Expr::Launch(launch) => {
            visit(launch.kernel);
            launch.config.iter().chain(&launch.args).copied().for_each(visit);
        }
        Expr::Construct { args, .. } | Expr::InitList(args) | Expr::Comma(args) | Expr::Unknown(args) => {
            args.iter().copied().for_each(visit);
        }
        Expr::Python(python) => python.operands(visit),
        Expr::New { count, args, .. } => count.iter().chain(args).copied().for_each(visit),
        Expr::Place { at, count, args, .. } => {
            std::iter::once(at).chain(count).chain(args).copied().for_each(visit);
        }
    }
}

/// What an assignment to `target` gives a value to, in order: variables, attributes and elements, of a tuple or list each part.
pub fn targets(module: &Module, target: ExprId, mut visit: impl FnMut(ExprId)) {
    let mut open = vec![target];
    while let Some(id) = open.pop() {
        match module.exprs.get(id).map(|node| &node.kind) {
            Some(Expr::Python(python)) => match &**python {
                PythonExpr::Tuple(all) | PythonExpr::List(all) => open.extend(all.iter().rev()),
                PythonExpr::Spread { value, .. } => open.push(*value),
                _ => {}
            },
            Some(_) => visit(id),
            None => {}
        }
    }
}

/// What code of Python gives a value right where a walk is: calls `visit` with each target ([`targets`] takes it apart) and,
/// where a plain assignment does it, with the value. What is counted up, loops, `with`, comprehensions and `del` do it otherwise.
pub fn bound_at(module: &Module, at: Item, mut visit: impl FnMut(ExprId, Option<ExprId>)) {
    let mut otherwise = |target: &ExprId| visit(*target, None);
    match at {
        Item::Expr(id) => match module.exprs.get(id).map(|node| &node.kind) {
            Some(Expr::Assign { op: None, target, value }) => visit(*target, Some(*value)),
            Some(Expr::Assign { target, .. } | Expr::Step { target, .. }) => otherwise(target),
            Some(Expr::Python(python)) => {
                if let PythonExpr::Comprehension { clauses, .. } = &**python {
                    clauses.iter().map(|clause| &clause.target).for_each(otherwise);
                }
            }
            _ => {}
        },
        Item::Stmt(id) => {
            if let Some(Stmt::Python(python)) = module.stmts.get(id).map(|node| &node.kind) {
                match &**python {
                    PythonStmt::For { target, .. } => otherwise(target),
                    PythonStmt::With { items, .. } => {
                        items.iter().filter_map(|(_, to)| to.as_ref()).for_each(otherwise);
                    }
                    PythonStmt::Delete(all) => all.iter().for_each(otherwise),
                    _ => {}
                }
            }
        }
        Item::Declare(_) => {}
    }
}

/// What a walk meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A statement, before its parts.
    Stmt(StmtId),
    /// An expression, before its operands.
    Expr(ExprId),
    /// A local variable at its declaration, before its initializer.
    Declare(LocalId),
}

/// Walks a block in source order, parents before their parts, lambda bodies excluded. `locals` gives a declared
/// variable's initializer. The callback says whether to go into the parts of what it was given.
pub fn walk(module: &Module, function: &Function, block: &Block, mut visit: impl FnMut(Item) -> bool) {
    let mut stack: Vec<Item> = block.iter().rev().map(|id| Item::Stmt(*id)).collect();
    while let Some(item) = stack.pop() {
        if !visit(item) {
            continue;
        }
        let first = stack.len();
        match item {
            Item::Stmt(id) => {
                if let Some(node) = module.stmts.get(id) {
                    statement_parts(&node.kind, &mut stack);
                }
            }
            Item::Declare(id) => {
                stack.extend(function.locals.get(id).and_then(|local| local.init).map(Item::Expr));
            }
            Item::Expr(id) => {
                let Some(node) = module.exprs.get(id) else { continue };
                match &node.kind {
                    // Most expressions have no parts.
                    Expr::Int { .. } | Expr::Local(_) => continue,
                    Expr::Statements(block) => stack.extend(block.iter().map(|id| Item::Stmt(*id))),
                    kind => operands(kind, |operand| stack.push(Item::Expr(operand))),
                }
            }
        }
        if stack.len() < first + 2 {
            continue;
        }
        if let Some(parts) = stack.get_mut(first..) {
            parts.reverse();
        }
    }
}

/// Every expression below and including `root`, parents first.
pub fn walk_expr<'m>(module: &'m Module, root: ExprId, mut visit: impl FnMut(ExprId, &'m Expr) -> bool) {
    // Room for most expressions: there are many, and a stack that grows is paid for several times.
    let mut stack = Vec::with_capacity(8);
    stack.push(root);
    while let Some(id) = stack.pop() {
        let Some(node) = module.exprs.get(id) else { continue };
        if visit(id, &node.kind) {
            let first = stack.len();
            operands(&node.kind, |operand| stack.push(operand));
            if let Some(parts) = stack.get_mut(first..) {
                parts.reverse();
            }
        }
    }
}

fn statement_parts(stmt: &Stmt, parts: &mut Vec<Item>) {
    let block = |block: &Block, parts: &mut Vec<Item>| parts.extend(block.iter().map(|id| Item::Stmt(*id)));
    match stmt {
        Stmt::Expr(expr) | Stmt::Return(Some(expr)) => parts.push(Item::Expr(*expr)),
        Stmt::Declare(local) => parts.push(Item::Declare(*local)),
        Stmt::Block(body) => block(body, parts),
        Stmt::If { condition, then, otherwise, .. } => {
            parts.push(Item::Expr(*condition));
            block(then, parts);
            block(otherwise, parts);
        }
        Stmt::Loop { init, condition, step, body, .. } => {
            block(init, parts);
            parts.extend(condition.map(Item::Expr));
            block(body, parts);
            parts.extend(step.map(Item::Expr));
        }
        Stmt::ForEach { variable, range, body } => {
            parts.push(Item::Expr(*range));
            parts.push(Item::Declare(*variable));
            block(body, parts);
        }
        Stmt::Switch { value, cases } => {
            parts.push(Item::Expr(*value));
            for case in cases {
                parts.extend(case.value.map(Item::Expr));
                block(&case.body, parts);
            }
        }
        Stmt::Try { body, handlers } => {
            block(body, parts);
            for handler in handlers {
                block(handler, parts);
            }
        }
        Stmt::Python(python) => {
            parts.extend(python.exprs().into_iter().map(Item::Expr));
            for inner in python.blocks() {
                parts.extend(inner.iter().map(|id| Item::Stmt(*id)));
            }
        }
        Stmt::Asm { operands, .. } => parts.extend(operands.iter().map(|id| Item::Expr(*id))),
        Stmt::Unknown { exprs, blocks } => {
            parts.extend(exprs.iter().map(|id| Item::Expr(*id)));
            for inner in blocks {
                block(inner, parts);
            }
        }
        Stmt::Return(None) | Stmt::Break | Stmt::Continue | Stmt::Goto(_) | Stmt::Label(_) | Stmt::Elided { .. } => {}
    }
}
