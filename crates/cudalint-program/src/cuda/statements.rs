//! Statements.

use super::fields::{Field, clause_parts, field, if_parts, picked, statement_expression};
use super::source::{Argument, Src, children, first_child, is_expression};
use super::state::Lowerer;
use crate::ir::{BinaryOp, Block, Expr, ExprId, Stmt, SwitchCase};
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{Node, is_caps};

/// Chains of `else if` longer than this end in an unknown statement that holds the rest.
const MAX_ARMS: usize = 100;

impl Lowerer<'_> {
    /// The statements of a compound statement (or of any node with statements as children), in the scope around.
    pub(super) fn block<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> Block {
        let mut out = Vec::new();
        self.block_into(s, node, &mut out);
        out
    }

    fn block_into<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        let nodes = self.chosen_statements(s, node);
        let code = super::elision::up_to_code(&nodes);
        let mut at = 0;
        while let Some(child) = nodes.get(at) {
            if cuda_kind(*child) == CudaKind::Comment {
                self.comment(s, &nodes, at, code, out);
            } else if let Some(next) = self.headed(s, &nodes, at, out) {
                at = next;
                continue;
            } else {
                self.statement(s, *child, out);
            }
            at += 1;
        }
    }

    /// A statement as a block with a scope of its own: the body of an `if` or a loop.
    pub(super) fn body<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> Block {
        let mark = self.open_scope();
        let mut out = Vec::new();
        if cuda_kind(node) == CudaKind::CompoundStatement {
            if self.enter() {
                self.block_into(s, node, &mut out);
                self.leave();
            }
        } else {
            self.statement(s, node, &mut out);
        }
        self.close_scope(mark);
        out
    }

    pub(super) fn emit(&mut self, s: Src<'_>, node: Node<'_>, kind: Stmt, out: &mut Block) {
        let span = s.span(node);
        out.push(self.push_stmt(kind, span));
    }

    /// Lowers a statement to any number of statements.
    pub(super) fn statement<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        if !self.enter() {
            self.emit(s, node, Stmt::Unknown { exprs: Vec::new(), blocks: Vec::new() }, out);
            return;
        }
        self.statement_inner(s, node, out);
        self.leave();
    }

    fn statement_inner<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        match cuda_kind(node) {
            CudaKind::ExpressionStatement => self.expression_statement(s, node, out),
            CudaKind::Declaration => self.local_declaration(s, node, out),
            CudaKind::CompoundStatement => {
                let body = self.body(s, node);
                self.emit(s, node, Stmt::Block(body), out);
            }
            CudaKind::IfStatement => self.if_statement(s, node, out),
            CudaKind::ForStatement => self.for_statement(s, node, out),
            CudaKind::WhileStatement | CudaKind::DoStatement => self.while_statement(s, node, out),
            CudaKind::ForRangeLoop => self.for_range(s, node, out),
            CudaKind::SwitchStatement => self.switch_statement(s, node, out),
            CudaKind::ReturnStatement => {
                let value = first_child(node).map(|value| self.expr(s, value));
                self.emit(s, node, Stmt::Return(value), out);
            }
            CudaKind::BreakStatement => self.emit(s, node, Stmt::Break, out),
            CudaKind::ContinueStatement => self.emit(s, node, Stmt::Continue, out),
            CudaKind::GotoStatement => {
                let label = field(node, Field::Label).map_or("", |label| s.text(label));
                let label = self.name(label);
                self.emit(s, node, Stmt::Goto(label), out);
            }
            CudaKind::LabeledStatement => self.labeled(s, node, out),
            CudaKind::TryStatement => self.try_statement(s, node, out),
            CudaKind::ThrowStatement => {
                let value = self.expr(s, node);
                self.emit(s, node, Stmt::Expr(value), out);
            }
            CudaKind::AttributedStatement => {
                if let Some(inner) = children(node).last().copied() {
                    self.statement(s, inner, out);
                }
            }
            CudaKind::FunctionDefinition => self.nested_function(s, node, out),
            CudaKind::StructSpecifier | CudaKind::ClassSpecifier | CudaKind::UnionSpecifier => {
                self.record(s, node);
            }
            CudaKind::EnumSpecifier => {
                self.enumeration(s, node);
            }
            CudaKind::AliasDeclaration => self.alias(s, node, None),
            CudaKind::TypeDefinition => self.type_definition(s, node),
            CudaKind::CaseStatement => {
                // A case inside a nested block: control may come from outside.
                let body = self.body_of_case(s, node);
                self.emit(s, node, Stmt::Unknown { exprs: Vec::new(), blocks: vec![body] }, out);
            }
            CudaKind::PreprocIf | CudaKind::PreprocIfdef if self.is_by_side(s, node) => {
                self.group_by_side(s, node, out);
            }
            CudaKind::PreprocIf | CudaKind::PreprocIfdef => self.contested_group(s, node, out),
            CudaKind::Error => self.damaged_statement(s, node, out),
            CudaKind::NamespaceAliasDefinition => self.namespace_alias(s, node),
            CudaKind::UsingDeclaration
            | CudaKind::StaticAssertDeclaration
            | CudaKind::PreprocDef
            | CudaKind::PreprocFunctionDef
            | CudaKind::PreprocCall
            | CudaKind::PreprocInclude
            | CudaKind::Comment
            | CudaKind::TemplateDeclaration
            | CudaKind::FriendDeclaration => {}
            _ if is_expression(node) => {
                let value = self.expr(s, node);
                self.emit(s, node, Stmt::Expr(value), out);
            }
            _ => {}
        }
    }

    fn expression_statement<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        let Some(inner) = statement_expression(s, node) else { return };
        match cuda_kind(inner) {
            CudaKind::GnuAsmExpression => return self.assembly(s, inner, out),
            CudaKind::Identifier => {
                if let Some(Argument::Node(argument, from)) = s.argument(s.text(inner))
                    && !is_value_node(*argument)
                {
                    let (argument, from) = (*argument, *from);
                    return self.with_arguments_active(s, |this| this.statement(from, argument, out));
                }
                if let Some(call) = self.unknown_macro(s, inner) {
                    let span = s.span(inner);
                    return out.push(self.push_stmt(Stmt::Expr(call), span));
                }
            }
            CudaKind::CallExpression if self.target_macro(s, inner, out) => return,
            CudaKind::AssignmentExpression | CudaKind::SubscriptExpression | CudaKind::CallExpression
                if self.misread_declaration(s, inner, out) =>
            {
                return;
            }
            _ => {}
        }
        let value = self.expr(s, inner);
        let value = self.single_statement_value(value);
        let value = self.message_on_failure(value);
        let span = s.span(inner);
        out.push(self.push_stmt(Stmt::Expr(value), span));
    }

    /// `ASSERT_EQ(a, b) << message()`: such macros of test and log libraries evaluate the message only where they have something to say.
    fn message_on_failure(&mut self, value: ExprId) -> ExprId {
        let mut parts = Vec::new();
        let mut left = value;
        loop {
            match self.module.exprs.get(left).map(|node| &node.kind) {
                Some(Expr::Binary(BinaryOp::Shl, inner, part)) => {
                    parts.push(*part);
                    left = *inner;
                }
                Some(Expr::Call { callee, .. }) if !parts.is_empty() && self.is_named_in_capitals(*callee) => break,
                _ => return value,
            }
        }
        let Some(span) = self.module.exprs.get(value).map(|node| node.span) else { return value };
        parts.reverse();
        let message = self.push(Expr::Unknown(parts), span);
        self.push(Expr::OrElse(left, message), span)
    }

    fn is_named_in_capitals(&self, callee: ExprId) -> bool {
        let Some(Expr::Name { path, .. }) = self.module.exprs.get(callee).map(|node| &node.kind) else { return false };
        matches!(&*path.segments, [name] if is_caps(name.as_bytes()))
    }

    /// A statement expression of one expression is that expression.
    fn single_statement_value(&self, value: ExprId) -> ExprId {
        if let Some(Expr::Statements(block)) = self.module.exprs.get(value).map(|node| &node.kind)
            && let [only] = block.as_slice()
            && let Some(Stmt::Expr(inner)) = self.module.stmts.get(*only).map(|node| &node.kind)
        {
            return *inner;
        }
        value
    }

    /// The condition of an `if`, `while` or `switch`, with what is declared in it going to `before`.
    pub(super) fn condition<'t>(&mut self, s: Src<'t>, clause: Node<'t>, before: &mut Block) -> ExprId {
        let (initializer, value) = clause_parts(clause);
        self.condition_of(s, clause, initializer, value, before)
    }

    /// As [`Self::condition`], with the parts of the clause.
    fn condition_of<'t>(
        &mut self,
        s: Src<'t>,
        clause: Node<'t>,
        initializer: Option<Node<'t>>,
        value: Option<Node<'t>>,
        before: &mut Block,
    ) -> ExprId {
        if let Some(initializer) = initializer {
            for child in children(initializer) {
                self.statement(s, child, before);
            }
        }
        match value {
            Some(value) if cuda_kind(value) == CudaKind::Declaration => {
                let first = before.len();
                self.local_declaration(s, value, before);
                let declared = before.get(first).and_then(|id| match self.module.stmts.get(*id) {
                    Some(crate::ir::StmtNode { kind: Stmt::Declare(local), .. }) => Some(*local),
                    _ => None,
                });
                let span = s.span(value);
                match declared {
                    Some(local) => self.push(Expr::Local(local), span),
                    None => self.push(Expr::Unknown(Vec::new()), span),
                }
            }
            Some(value) => self.expr(s, value),
            None => self.unknown(s, clause),
        }
    }

    fn if_statement<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        struct Arm<'t> {
            node: Node<'t>,
            condition: ExprId,
            then: Block,
            constant: bool,
        }
        let mark = self.open_scope();
        let mut arms: Vec<Arm<'t>> = Vec::new();
        let mut before = Vec::new();
        let mut next = Some(node);
        let mut otherwise: Block = Vec::new();
        let mut rest = Vec::new();
        while let Some(node) = next.take() {
            let Some((clause, then, alternative)) = if_parts(node) else { break };
            let (initializer, value) = clause_parts(clause);
            let declares =
                initializer.is_some() || value.is_some_and(|value| cuda_kind(value) == CudaKind::Declaration);
            if declares && !arms.is_empty() {
                self.statement(s, node, &mut otherwise);
                break;
            }
            let condition = self.condition_of(s, clause, initializer, value, &mut before);
            let head = s.text.get(node.start_byte()..clause.start_byte()).unwrap_or("");
            let then = match then {
                Some(then) => self.body(s, then),
                None => Vec::new(),
            };
            if arms.len() < MAX_ARMS {
                arms.push(Arm { node, condition, then, constant: head.contains("constexpr") });
            } else {
                rest.push((condition, then));
            }
            let Some(alternative) = alternative else { break };
            let inner = match picked(alternative, 2, [1]) {
                Some([inner]) if inner.is_named() && cuda_kind(inner) != CudaKind::Comment => inner,
                _ => match children(alternative).last() {
                    Some(inner) => *inner,
                    None => break,
                },
            };
            if cuda_kind(inner) == CudaKind::IfStatement {
                next = Some(inner);
            } else if rest.is_empty() {
                otherwise = self.body(s, inner);
            } else {
                let block = self.body(s, inner);
                let span = s.span(inner);
                rest.push((self.push(Expr::Unknown(Vec::new()), span), block));
            }
        }
        if !rest.is_empty() {
            let (exprs, blocks) = rest.into_iter().unzip();
            self.emit(s, node, Stmt::Unknown { exprs, blocks }, &mut otherwise);
        }
        for arm in arms.into_iter().rev() {
            let kind = Stmt::If { condition: arm.condition, then: arm.then, otherwise, constant: arm.constant };
            otherwise = Vec::new();
            self.emit(s, arm.node, kind, &mut otherwise);
        }
        self.close_scope(mark);
        if before.is_empty() {
            out.extend(otherwise);
        } else {
            before.extend(otherwise);
            self.emit(s, node, Stmt::Block(before), out);
        }
    }

    fn switch_statement<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        let mark = self.open_scope();
        let mut before = Vec::new();
        let value = match field(node, Field::Condition) {
            Some(clause) => self.condition(s, clause, &mut before),
            None => self.unknown(s, node),
        };
        let mut cases: Vec<SwitchCase> = Vec::new();
        if let Some(body) = field(node, Field::Body) {
            let inner = self.open_scope();
            let nodes = self.chosen_children(s, body);
            for child in nodes {
                if cuda_kind(child) == CudaKind::CaseStatement {
                    let value = field(child, Field::Value).map(|value| self.expr(s, value));
                    let body = self.body_of_case(s, child);
                    cases.push(SwitchCase { value, body });
                } else if let Some(case) = cases.last_mut() {
                    let mut body = std::mem::take(&mut case.body);
                    self.statement(s, child, &mut body);
                    if let Some(case) = cases.last_mut() {
                        case.body = body;
                    }
                } else {
                    self.statement(s, child, &mut before);
                }
            }
            self.close_scope(inner);
        }
        self.close_scope(mark);
        let span = s.span(node);
        let switch = self.push_stmt(Stmt::Switch { value, cases }, span);
        if before.is_empty() {
            out.push(switch);
        } else {
            before.push(switch);
            self.emit(s, node, Stmt::Block(before), out);
        }
    }

    fn body_of_case<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> Block {
        let mut out = Vec::new();
        let value = field(node, Field::Value);
        let nodes = self.chosen_statements(s, node);
        let code = super::elision::up_to_code(&nodes);
        for (at, child) in nodes.iter().enumerate() {
            if Some(*child) == value {
                continue;
            }
            if cuda_kind(*child) == CudaKind::Comment {
                self.comment(s, &nodes, at, code, &mut out);
            } else {
                self.statement(s, *child, &mut out);
            }
        }
        out
    }

    fn labeled<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        let label = field(node, Field::Label);
        if let Some(label) = label {
            let name = self.name(s.text(label));
            let span = s.span(label);
            out.push(self.push_stmt(Stmt::Label(name), span));
        }
        for child in children(node) {
            if Some(child) != label {
                self.statement(s, child, out);
            }
        }
    }

    fn try_statement<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        let body = match field(node, Field::Body) {
            Some(body) => self.body(s, body),
            None => Vec::new(),
        };
        let mut handlers = Vec::new();
        for clause in children(node) {
            if cuda_kind(clause) != CudaKind::CatchClause {
                continue;
            }
            let mark = self.open_scope();
            let mut handler = Vec::new();
            if let Some(list) = field(clause, Field::Parameters) {
                for parameter in children(list) {
                    if let Some(local) = self.parameter(s, parameter) {
                        let span = s.span(parameter);
                        handler.push(self.push_stmt(Stmt::Declare(local), span));
                    }
                }
            }
            if let Some(body) = field(clause, Field::Body) {
                handler.extend(self.body(s, body));
            }
            self.close_scope(mark);
            handlers.push(handler);
        }
        self.emit(s, node, Stmt::Try { body, handlers }, out);
    }

    /// A function definition inside a function: `FOR_EACH(i, n) { … }` of a loop macro.
    fn nested_function<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        let Some(body) = field(node, Field::Body) else { return };
        if let Some(declarator) = field(node, Field::Declarator)
            && field(node, Field::TypeOf).is_none()
            && cuda_kind(declarator) == CudaKind::FunctionDeclarator
            && let Some(name) = field(declarator, Field::Declarator)
            && let Some(list) = field(declarator, Field::Parameters)
        {
            if self.block_macro(s, name, list, body, out) {
                return;
            }
            let exprs = children(list).into_iter().map(|parameter| self.parameter_as_value(s, parameter)).collect();
            let body = self.body(s, body);
            self.emit(s, node, Stmt::Unknown { exprs, blocks: vec![body] }, out);
            return;
        }
        let body = self.body(s, body);
        self.emit(s, node, Stmt::Unknown { exprs: Vec::new(), blocks: vec![body] }, out);
    }

    /// What the grammar could not read: its readable parts still run.
    pub(super) fn damaged_statement<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        let mut exprs = Vec::new();
        let mut inner: Block = Vec::new();
        for child in children(node) {
            if is_statement(child) {
                self.statement(s, child, &mut inner);
            } else if is_expression(child) {
                exprs.push(self.expr(s, child));
            }
        }
        let blocks = if inner.is_empty() { Vec::new() } else { vec![inner] };
        self.emit(s, node, Stmt::Unknown { exprs, blocks }, out);
        if let Some(frame) = self.frames.last_mut() {
            frame.damaged = true;
        }
    }
}

/// Whether a macro's argument is an ordinary value rather than a block or statement.
fn is_value_node(node: Node<'_>) -> bool {
    is_expression(node) && !is_statement(node)
}

fn is_statement(node: Node<'_>) -> bool {
    matches!(
        cuda_kind(node),
        CudaKind::CompoundStatement
            | CudaKind::ExpressionStatement
            | CudaKind::Declaration
            | CudaKind::IfStatement
            | CudaKind::ForStatement
            | CudaKind::WhileStatement
            | CudaKind::DoStatement
            | CudaKind::ForRangeLoop
            | CudaKind::SwitchStatement
            | CudaKind::ReturnStatement
            | CudaKind::BreakStatement
            | CudaKind::ContinueStatement
            | CudaKind::GotoStatement
            | CudaKind::LabeledStatement
            | CudaKind::TryStatement
            | CudaKind::ThrowStatement
            | CudaKind::FunctionDefinition
    )
}
