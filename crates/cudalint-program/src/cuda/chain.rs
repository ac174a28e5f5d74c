//! Binary operators: long chains without recursion, and the misreadings of the grammar undone on the flat list.
//!
//! Without parentheses, an expression of binary operators is a flat list of operands and operators; the tree adds only
//! precedence. So the list is taken from the tree in order, misread casts and templates are put back as operands and
//! operators, and precedence is applied again.

use super::fields::{Field, around, callee_and_list, cast_parts, field, infix, prefix};
use super::source::{Src, children};
use super::state::Lowerer;
use crate::ir::{BinaryOp, Expr, ExprId, TemplateArg, UnaryOp};
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{Node, Span};

/// Chains with more operators than this become one unknown expression of all operands.
const MAX_OPERATORS: usize = 150;

/// An operator of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Binary(BinaryOp),
    And,
    Or,
    Unknown,
}

impl Op {
    fn of(text: &str) -> Self {
        match text {
            "&&" | "and" => Self::And,
            "||" | "or" => Self::Or,
            _ => binary_op(text).map_or(Self::Unknown, Self::Binary),
        }
    }

    fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Binary(BinaryOp::Or) => 3,
            Self::Binary(BinaryOp::Xor) => 4,
            Self::Binary(BinaryOp::And) => 5,
            Self::Binary(BinaryOp::Eq | BinaryOp::Ne) => 6,
            Self::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge) => 7,
            Self::Unknown => 8,
            Self::Binary(BinaryOp::Shl | BinaryOp::Shr) => 9,
            Self::Binary(BinaryOp::Add | BinaryOp::Sub) => 10,
            Self::Binary(_) => 11,
        }
    }
}

/// The operator of a text: that of `a op b`, or of `a op= b` without its `=`.
pub(crate) fn binary_op(text: &str) -> Option<BinaryOp> {
    Some(match text {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::Div,
        "%" => BinaryOp::Rem,
        "<<" => BinaryOp::Shl,
        ">>" => BinaryOp::Shr,
        "&" | "bitand" => BinaryOp::And,
        "|" | "bitor" => BinaryOp::Or,
        "^" | "xor" => BinaryOp::Xor,
        "<" => BinaryOp::Lt,
        "<=" => BinaryOp::Le,
        ">" => BinaryOp::Gt,
        ">=" => BinaryOp::Ge,
        "==" => BinaryOp::Eq,
        "!=" | "not_eq" => BinaryOp::Ne,
        _ => return None,
    })
}

/// The operands and the operator of a binary expression.
fn parts<'t>(s: Src<'t>, node: Node<'t>) -> Option<(Node<'t>, Op, Node<'t>)> {
    if let Some((left, text, right)) = around(s, node)
        && let op = Op::of(text)
        && op != Op::Unknown
    {
        return Some((left, op, right));
    }
    let (left, op, right) = infix(node)?;
    Some((left, op.map_or(Op::Unknown, |op| Op::of(s.text(op))), right))
}

/// The parts of a binary expression that is as it seems: neither operand is a chain, and none can be a misread one.
fn plain<'t>(s: Src<'t>, node: Node<'t>) -> Option<(Node<'t>, Op, Node<'t>)> {
    let misread =
        |kind| matches!(kind, CudaKind::BinaryExpression | CudaKind::CastExpression | CudaKind::CallExpression);
    if cuda_kind(node) != CudaKind::BinaryExpression {
        return None;
    }
    let (left, op, right) = parts(s, node)?;
    let first = cuda_kind(left);
    let plain = !misread(first) && first != CudaKind::ParenthesizedExpression && !misread(cuda_kind(right));
    plain.then_some((left, op, right))
}

/// A piece of the flat list.
#[derive(Clone, Copy)]
enum Piece<'t> {
    /// A node still to be looked at.
    Node(Node<'t>),
    /// A node that is an operand as it is.
    Operand(Node<'t>),
    /// The type of a misread cast, which is a value.
    TypeAsValue(Node<'t>),
    /// A call of a member template: member, `<…>` argument, call arguments.
    MemberTemplate(Node<'t>, Node<'t>),
    /// A call of a function template read as comparisons: name, template argument, what is called with.
    TemplateCall(Node<'t>, Node<'t>, Node<'t>),
    /// A cast of a signed or dereferenced value read as an operator: type, operator, operand.
    Cast(Node<'t>, BinaryOp, Node<'t>),
    /// An operator.
    Op(Op),
}

impl Lowerer<'_> {
    /// Lowers a binary expression, or a cast or template call that may be a misread one.
    pub(super) fn chain<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        if let Some((left, op, right)) = plain(s, node) {
            let left = self.operand(s, left);
            let first = (left, self.loose(left));
            let right = self.operand(s, right);
            let second = (right, self.loose(right));
            if first.1.is_none() && second.1.is_none() {
                return self.combine(op, left, right);
            }
            return self.arranged(&[first, second], &[op]);
        }
        let mut pieces = self.flatten(s, node);
        join_member_templates(&mut pieces);
        self.join_casts(s, &mut pieces);
        let operators = pieces.iter().filter(|piece| matches!(piece, Piece::Op(_))).count();
        let span = s.span(node);
        let mut operands: Vec<(ExprId, Option<Op>)> = Vec::with_capacity(operators + 1);
        let mut between: Vec<Op> = Vec::with_capacity(operators);
        for piece in pieces {
            if !matches!(piece, Piece::Op(_)) {
                self.loose = None;
            }
            let operand = match piece {
                Piece::Op(op) => {
                    between.push(op);
                    continue;
                }
                Piece::Node(node) | Piece::Operand(node) => self.operand(s, node),
                Piece::TypeAsValue(node) => {
                    let value = self.descriptor_as_value(s, node);
                    // The parentheses of what was read as a cast are its own.
                    self.loose = None;
                    value
                }
                Piece::MemberTemplate(member, args) => self.call_of(s, member, args),
                Piece::TemplateCall(name, targ, list) => self.template_call(s, name, targ, list),
                Piece::Cast(ty, op, value) => self.unary_cast(s, ty, op, value),
            };
            operands.push((operand, self.loose(operand)));
        }
        if operators > MAX_OPERATORS || operands.len() != operators + 1 {
            return self.push(Expr::Unknown(operands.into_iter().map(|(operand, _)| operand).collect()), span);
        }
        self.arranged(&operands, &between)
    }

    /// Operands and the operators between them, by precedence. Of an operand that a macro left without parentheses the operator beside it
    /// takes its part: `2 * N` is `2 * a + b` where `N` is `a + b`.
    fn arranged(&mut self, operands: &[(ExprId, Option<Op>)], operators: &[Op]) -> ExprId {
        let mut values: Vec<ExprId> = Vec::with_capacity(operands.len());
        let mut pending: Vec<Op> = Vec::with_capacity(operators.len().min(8));
        let mut is_torn = false;
        for (at, (operand, loose)) in operands.iter().enumerate() {
            let (before, behind) = (at.checked_sub(1).and_then(|at| operators.get(at)), operators.get(at));
            let taken = loose.filter(|inner| {
                before.is_some_and(|op| !keeps_right(*op, *inner))
                    || behind.is_some_and(|op| inner.precedence() < op.precedence())
            });
            match taken.and_then(|inner| self.taken_apart(*operand, before, behind).map(|sides| (inner, sides))) {
                Some((inner, [left, right])) => {
                    values.push(left);
                    self.operator(inner, &mut values, &mut pending);
                    values.push(right);
                }
                None => {
                    is_torn |= taken.is_some();
                    values.push(*operand);
                }
            }
            if let Some(op) = behind {
                self.operator(*op, &mut values, &mut pending);
            }
        }
        while let Some(op) = pending.pop() {
            self.reduce(op, &mut values);
        }
        match values.as_slice() {
            [only] if is_torn => self.regrouped(*only),
            [only] => *only,
            _ => {
                let span = operands.first().map_or_else(Span::default, |(first, _)| self.module.exprs[*first].span);
                self.push(Expr::Unknown(values), span)
            }
        }
    }

    /// An operator comes: those before it that bind as tightly are done.
    fn operator(&mut self, op: Op, values: &mut Vec<ExprId>, pending: &mut Vec<Op>) {
        while let Some(top) = pending.last().copied().filter(|top| top.precedence() >= op.precedence()) {
            pending.pop();
            self.reduce(top, values);
        }
        pending.push(op);
    }

    /// The two sides of an operand without parentheses, where the operators beside it take each of them as a whole: whether a side has
    /// parentheses of its own is not known any more.
    fn taken_apart(&self, operand: ExprId, before: Option<&Op>, behind: Option<&Op>) -> Option<[ExprId; 2]> {
        let (left, _, right) = self.sides(operand)?;
        let binds = |side: ExprId| self.sides(side).map_or(u8::MAX, |(_, op, _)| op.precedence());
        let whole = before.is_none_or(|op| binds(left) > op.precedence())
            && behind.is_none_or(|op| binds(right) >= op.precedence());
        whole.then_some([left, right])
    }

    /// The operands and the operator of an expression that has two.
    fn sides(&self, value: ExprId) -> Option<(ExprId, Op, ExprId)> {
        Some(match self.module.exprs.get(value)?.kind {
            Expr::Binary(op, left, right) => (left, Op::Binary(op), right),
            Expr::AndThen(left, right) => (left, Op::And, right),
            Expr::OrElse(left, right) => (left, Op::Or, right),
            _ => return None,
        })
    }

    /// The operator of an operand that a macro's body, or an argument in one, left without parentheses: what stands beside it may
    /// take parts of it away, `2 * N` where `N` is `a + b`.
    fn loose(&self, operand: ExprId) -> Option<Op> {
        if self.loose == Some(operand) { self.sides(operand).map(|(_, op, _)| op) } else { None }
    }

    /// An operand of a sign, a cast or the like: all of these take only the first part of what has no parentheses.
    pub(super) fn whole(&mut self, operand: ExprId) -> ExprId {
        if self.loose(operand).is_some() { self.regrouped(operand) } else { operand }
    }

    /// An expression whose parts belong together in another way than they were read.
    fn regrouped(&mut self, value: ExprId) -> ExprId {
        let span = self.module.exprs[value].span;
        self.push(Expr::Unknown(vec![value]), span)
    }

    fn reduce(&mut self, op: Op, operands: &mut Vec<ExprId>) {
        let (Some(right), Some(left)) = (operands.pop(), operands.pop()) else { return };
        operands.push(self.combine(op, left, right));
    }

    fn combine(&mut self, op: Op, left: ExprId, right: ExprId) -> ExprId {
        let span = self.module.exprs[left].span.cover(self.module.exprs[right].span);
        let kind = match op {
            Op::Binary(op) => Expr::Binary(op, left, right),
            Op::And => Expr::AndThen(left, right),
            Op::Or => Expr::OrElse(left, right),
            Op::Unknown => Expr::Unknown(vec![left, right]),
        };
        self.push(kind, span)
    }

    fn flatten<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> Vec<Piece<'t>> {
        // Room for a few operators: what grows from nothing grows four times.
        let mut out = Vec::with_capacity(9);
        let mut work = Vec::with_capacity(9);
        work.push(Piece::Node(node));
        while let Some(piece) = work.pop() {
            let Piece::Node(node) = piece else {
                out.push(piece);
                continue;
            };
            match cuda_kind(node) {
                CudaKind::BinaryExpression => {
                    let Some((left, op, right)) = parts(s, node) else {
                        out.push(Piece::Operand(node));
                        continue;
                    };
                    work.extend([Piece::Node(right), Piece::Op(op), Piece::Node(left)]);
                }
                CudaKind::CastExpression => match self.misread_cast(s, node) {
                    Some((ty, op, value)) => {
                        work.extend([Piece::Node(value), Piece::Op(op), Piece::TypeAsValue(ty)]);
                    }
                    None => out.push(Piece::Operand(node)),
                },
                CudaKind::CallExpression => match self.misread_template(s, node) {
                    Some((name, Piece::TemplateCall(callee, targ, list), _)) => work.extend([
                        Piece::TemplateCall(callee, targ, list),
                        Piece::Op(Op::Binary(BinaryOp::Lt)),
                        Piece::Operand(name),
                    ]),
                    Some((name, inner, arguments)) => work.extend([
                        Piece::Operand(arguments),
                        Piece::Op(Op::Binary(BinaryOp::Gt)),
                        inner,
                        Piece::Op(Op::Binary(BinaryOp::Lt)),
                        Piece::Operand(name),
                    ]),
                    None => out.push(Piece::Operand(node)),
                },
                _ => out.push(Piece::Operand(node)),
            }
        }
        out
    }

    /// `(i) + j` read as a cast of `+j`: the type, the operator and what follows it.
    fn misread_cast<'t>(&self, s: Src<'t>, node: Node<'t>) -> Option<(Node<'t>, Op, Node<'t>)> {
        let (ty, value) = cast_parts(node)?;
        if !matches!(cuda_kind(value), CudaKind::UnaryExpression | CudaKind::PointerExpression) {
            return None;
        }
        let (operator, argument) = prefix(value)?;
        // `(i) && j` read as a cast of the address of an address: that has none.
        if s.text(operator) == "&"
            && cuda_kind(argument) == CudaKind::PointerExpression
            && let Some((second, operand)) = prefix(argument)
            && s.text(second) == "&"
            && argument.start_byte() == operator.end_byte()
            && ty.named_child_count() == 1
        {
            return Some((ty, Op::And, operand));
        }
        let op = match s.text(operator) {
            "+" => BinaryOp::Add,
            "-" => BinaryOp::Sub,
            "*" => BinaryOp::Mul,
            "&" => BinaryOp::And,
            _ => return None,
        };
        let specifier = field(ty, Field::TypeOf)?;
        if ty.named_child_count() != 1 || cuda_kind(specifier) != CudaKind::TypeIdentifier {
            // `(a * b) + c` and `(A::b) - c` can not be told from casts to types without knowing the names; a unary
            // plus after a cast is so rare that it decides.
            let is_path = cuda_kind(specifier) == CudaKind::QualifiedIdentifier && ty.named_child_count() == 1;
            return (is_path && op == BinaryOp::Add).then_some((ty, Op::Binary(op), argument));
        }
        let name = s.text(specifier);
        let misread = self.is_value(s, name) || (op == BinaryOp::Add && !self.is_type(s, name));
        misread.then_some((ty, Op::Binary(op), argument))
    }

    /// `i < n && j > (m)` read as a call of the template `i<n && j>`.
    fn misread_template<'t>(&self, s: Src<'t>, node: Node<'t>) -> Option<(Node<'t>, Piece<'t>, Node<'t>)> {
        let (function, arguments) = callee_and_list(node)?;
        if cuda_kind(function) != CudaKind::TemplateFunction {
            return None;
        }
        let name = field(function, Field::Name)?;
        if !self.is_value(s, s.text(name)) {
            return None;
        }
        let list = field(function, Field::Arguments)?;
        let inner = children(list);
        let [inner] = inner.as_slice() else { return None };
        // `i<size<0>(t)`: the inner template is the real one.
        if cuda_kind(*inner) == CudaKind::BinaryExpression
            && field(*inner, Field::Operator).is_some_and(|op| s.text(op) == "<")
            && let (Some(left), Some(right)) = (field(*inner, Field::Left), field(*inner, Field::Right))
            && cuda_kind(left) == CudaKind::Identifier
            && !self.is_value(s, s.text(left))
        {
            return Some((name, Piece::TemplateCall(left, right, arguments), arguments));
        }
        if arguments.named_child_count() != 1 {
            return None;
        }
        let piece = match cuda_kind(*inner) {
            CudaKind::TypeDescriptor => Piece::TypeAsValue(*inner),
            _ => Piece::Node(*inner),
        };
        Some((name, piece, arguments.named_child(0)?))
    }

    fn template_call<'t>(&mut self, s: Src<'t>, name: Node<'t>, targ: Node<'t>, list: Node<'t>) -> ExprId {
        let value = self.expr(s, targ);
        let path = self.single(s.text(name));
        let callee_span = s.span(name).cover(s.span(targ));
        let callee = self.push(Expr::Name { path, targs: vec![TemplateArg::Value(value)].into() }, callee_span);
        let args = self.arguments(s, list);
        let span = s.span(name).cover(s.span(list));
        self.push(Expr::Call { callee, args }, span)
    }

    /// `(T)-b` and `(T)*p` of a known type `T` are read as operators between `(T)` and the value.
    fn join_casts<'t>(&self, s: Src<'t>, pieces: &mut Vec<Piece<'t>>) {
        let mut at = 0;
        while at + 2 < pieces.len() {
            let cast = match pieces[at..at + 3] {
                [
                    Piece::Operand(ty),
                    Piece::Op(Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::And))),
                    Piece::Operand(value),
                ] if cuda_kind(ty) == CudaKind::ParenthesizedExpression => {
                    let inner = children(ty);
                    match inner.as_slice() {
                        [name] if cuda_kind(*name) == CudaKind::Identifier && self.is_type(s, s.text(*name)) => {
                            Some(Piece::Cast(*name, op, value))
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
            if let Some(cast) = cast {
                pieces.splice(at..at + 3, [cast]);
            }
            at += 1;
        }
    }

    fn unary_cast<'t>(&mut self, s: Src<'t>, ty: Node<'t>, op: BinaryOp, value: Node<'t>) -> ExprId {
        let span = s.span(ty).cover(s.span(value));
        let ty = self.specifier(s, ty);
        let inner_span = s.span(value);
        let value = self.operand(s, value);
        let inner = match op {
            BinaryOp::Sub => Expr::Unary(UnaryOp::Minus, value),
            BinaryOp::Mul => Expr::Deref(value),
            BinaryOp::And => Expr::AddressOf(value),
            _ => Expr::Unary(UnaryOp::Plus, value),
        };
        let value = self.push(inner, inner_span);
        self.push(Expr::Cast { ty, value }, span)
    }

    /// A type descriptor of one name, as the value that it is.
    pub(super) fn descriptor_as_value<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        match field(node, Field::TypeOf) {
            Some(name) if cuda_kind(name) == CudaKind::TypeIdentifier && node.named_child_count() == 1 => {
                self.identifier(s, name)
            }
            Some(name) if cuda_kind(name) == CudaKind::QualifiedIdentifier && node.named_child_count() == 1 => {
                self.qualified(s, name)
            }
            _ => {
                let span = s.span(node);
                let text = s.text(node);
                self.expression_text(text, span)
            }
        }
    }
}

/// Whether `a op (b inner c)` is the same as `a op b inner c`.
fn keeps_right(op: Op, inner: Op) -> bool {
    match (op, inner) {
        (Op::Binary(BinaryOp::Add), Op::Binary(BinaryOp::Add | BinaryOp::Sub)) => true,
        (Op::Binary(BinaryOp::Mul), Op::Binary(BinaryOp::Mul)) => true,
        _ => op.precedence() < inner.precedence(),
    }
}

/// `a.get<3>(c)` is read as two comparisons; a comparison of a member with a literal or name, compared again with a
/// parenthesized value, is no program that anyone writes.
fn join_member_templates(pieces: &mut Vec<Piece<'_>>) {
    let mut at = 0;
    while at + 4 < pieces.len() {
        let matched = match pieces[at..at + 5] {
            [
                Piece::Operand(member),
                Piece::Op(Op::Binary(BinaryOp::Lt)),
                Piece::Operand(_),
                Piece::Op(Op::Binary(BinaryOp::Gt)),
                Piece::Operand(args),
            ] if cuda_kind(member) == CudaKind::FieldExpression
                && cuda_kind(args) == CudaKind::ParenthesizedExpression =>
            {
                Some(Piece::MemberTemplate(member, args))
            }
            _ => None,
        };
        if let Some(call) = matched {
            pieces.splice(at..at + 5, [call]);
        }
        at += 1;
    }
}
