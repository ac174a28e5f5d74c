//! Expressions.

use super::fields::{Field, around, callee_and_list, exactly, field, picked};
use super::literals;
use super::source::{Argument, Src, children, first_child, is_expression_kind, named_children};
use super::state::Lowerer;
use crate::api::ApiId;
use crate::ir::{Expr, ExprId, TemplateArgs, Type};
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{Node, Span};

impl Lowerer<'_> {
    /// Lowers an expression.
    pub(super) fn expr<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        if !self.enter() {
            let span = s.span(node);
            return self.push(Expr::Unknown(Vec::new()), span);
        }
        let id = match cuda_kind(node) {
            CudaKind::BinaryExpression | CudaKind::CastExpression => self.chain(s, node),
            CudaKind::CallExpression => match callee_and_list(node) {
                Some((function, _)) if cuda_kind(function) == CudaKind::TemplateFunction => self.chain(s, node),
                Some((function, list)) => self.call(s, node, function, list),
                None => self.unknown(s, node),
            },
            kind => self.operand_inner(s, node, kind),
        };
        self.leave();
        id
    }

    /// Lowers an expression that is no binary operator, or a cast that is one.
    pub(super) fn operand<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        if !self.enter() {
            let span = s.span(node);
            return self.push(Expr::Unknown(Vec::new()), span);
        }
        let id = self.operand_inner(s, node, cuda_kind(node));
        self.leave();
        id
    }

    fn operand_inner<'t>(&mut self, s: Src<'t>, node: Node<'t>, kind: CudaKind) -> ExprId {
        match kind {
            CudaKind::Identifier | CudaKind::TypeIdentifier | CudaKind::FieldIdentifier => self.identifier(s, node),
            CudaKind::NumberLiteral
            | CudaKind::CharLiteral
            | CudaKind::StringLiteral
            | CudaKind::RawStringLiteral
            | CudaKind::ConcatenatedString
            | CudaKind::True
            | CudaKind::False
            | CudaKind::Null
            | CudaKind::This => self.literal(s, node, kind),
            CudaKind::ParenthesizedExpression | CudaKind::ConditionClause => self.parenthesized(s, node),
            CudaKind::CallExpression => match callee_and_list(node) {
                Some((function, list)) => self.call(s, node, function, list),
                None => self.unknown(s, node),
            },
            CudaKind::FieldExpression => self.member(s, node),
            CudaKind::SubscriptExpression => self.subscript(s, node),
            CudaKind::QualifiedIdentifier | CudaKind::TemplateFunction => self.qualified(s, node),
            CudaKind::AssignmentExpression => self.assignment(s, node),
            CudaKind::UnaryExpression | CudaKind::PointerExpression => self.unary(s, node),
            CudaKind::UpdateExpression => self.step(s, node),
            CudaKind::CastExpression => self.cast(s, node),
            CudaKind::SizeofExpression => self.size_of(s, node),
            CudaKind::ConditionalExpression => self.select(s, node),
            CudaKind::CommaExpression => self.comma(s, node),
            CudaKind::InitializerList => self.initializer_list(s, node),
            CudaKind::InitializerPair => self.designated(s, node),
            CudaKind::CompoundLiteralExpression => self.compound_literal(s, node),
            CudaKind::NewExpression => self.new_expression(s, node),
            CudaKind::DeleteExpression => self.delete_expression(s, node),
            CudaKind::LambdaExpression => self.lambda(s, node),
            CudaKind::ThrowStatement => self.throw(s, node),
            CudaKind::CompoundStatement => self.statement_expression(s, node),
            _ => self.unknown(s, node),
        }
    }

    /// A bare name: macro parameter, local variable, macro, known constant, or a name to be resolved later.
    pub(super) fn identifier<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let (text, span) = s.text_and_span(node);
        if let Some(argument) = s.argument(text) {
            return self.argument_value(s, argument);
        }
        if let Some(stringized) = super::macros::stringized(s, text) {
            return self.push(Expr::Str(stringized.into()), span);
        }
        if let Some(local) = self.lookup_variable(text) {
            return self.push(Expr::Local(local), span);
        }
        if self.lookup(text).is_none() {
            if let Some(value) = self.object_macro(text, span) {
                return value;
            }
            if !self.values.contains(text)
                && let Some(constant) = literals::constant(text)
            {
                return self.push(constant, span);
            }
        }
        let path = self.single(text);
        self.push(Expr::Name { path, targs: TemplateArgs::default() }, span)
    }

    /// The value of a macro's argument, lowered where it stands.
    pub(super) fn argument_value<'t>(&mut self, s: Src<'t>, argument: &Argument<'t>) -> ExprId {
        match argument {
            Argument::Node(node, inner) => {
                let (node, inner) = (*node, *inner);
                let value = self.with_arguments_active(s, |this| this.expr(inner, node));
                if cuda_kind(node) == CudaKind::BinaryExpression {
                    self.loose = Some(value);
                }
                value
            }
            Argument::Text(text, span, _) => {
                let (text, span) = (*text, *span);
                self.with_arguments_active(s, |this| this.expression_text(text, span))
            }
            Argument::Rest(rest) => {
                let values: Vec<ExprId> = rest.iter().map(|argument| self.argument_value(s, argument)).collect();
                if let [only] = values.as_slice() {
                    return *only;
                }
                let span = s.map(Span::default());
                self.push(Expr::Comma(values), span)
            }
        }
    }

    fn literal(&mut self, s: Src<'_>, node: Node<'_>, kind: CudaKind) -> ExprId {
        let text = s.text(node);
        let kind = match kind {
            CudaKind::NumberLiteral => literals::number(text),
            CudaKind::CharLiteral => literals::character(text),
            CudaKind::StringLiteral => {
                let mut out = String::new();
                literals::string(text, &mut out);
                Expr::Str(out.into())
            }
            CudaKind::RawStringLiteral => Expr::Str(literals::raw_string(text).into()),
            CudaKind::ConcatenatedString => {
                let mut out = String::new();
                for part in children(node) {
                    match cuda_kind(part) {
                        CudaKind::StringLiteral => literals::string(s.text(part), &mut out),
                        CudaKind::RawStringLiteral => out.push_str(&literals::raw_string(s.text(part))),
                        _ => out.push('\u{fffd}'),
                    }
                }
                Expr::Str(out.into())
            }
            CudaKind::True => Expr::Int { value: 1, bytes: 1, signed: false },
            CudaKind::False => Expr::Int { value: 0, bytes: 1, signed: false },
            CudaKind::This => Expr::This,
            _ => Expr::Null,
        };
        let span = s.span(node);
        self.push(kind, span)
    }

    fn parenthesized<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let value = self.inside_parentheses(s, node);
        self.loose = None;
        value
    }

    fn inside_parentheses<'t>(&mut self, s: Src<'t>, mut node: Node<'t>) -> ExprId {
        // Thousands of parentheses around one value are no reason to recurse.
        loop {
            if let Some([only]) = picked(node, 3, [1])
                && only.is_named()
            {
                match cuda_kind(only) {
                    CudaKind::ParenthesizedExpression => node = only,
                    CudaKind::Comment => return self.unknown(s, node),
                    _ => return self.expr(s, only),
                }
                continue;
            }
            let inner = children(node);
            match inner.as_slice() {
                [only] if cuda_kind(*only) == CudaKind::ParenthesizedExpression => node = *only,
                [only] => return self.expr(s, *only),
                _ => return self.unknown(s, node),
            }
        }
    }

    /// A name with qualifiers or template arguments.
    pub(super) fn qualified<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let span = s.span(node);
        let (path, targs) = self.path(s, node);
        if let [only] = &*path.segments
            && targs.is_empty()
            && !s.text(node).starts_with("::")
        {
            let only = only.clone();
            if let Some(local) = self.lookup_variable(&only) {
                return self.push(Expr::Local(local), span);
            }
        }
        let owner = if path.segments.len() > 1 { self.owner(s, node) } else { None };
        let id = self.push(Expr::Name { path, targs: targs.into() }, span);
        if let Some(owner) = owner {
            self.module.owners.insert(id, owner);
        }
        id
    }

    /// What stands before the parentheses of a call.
    pub(super) fn callee<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        match cuda_kind(node) {
            CudaKind::PrimitiveType => {
                let span = s.span(node);
                let path = self.single(s.text(node));
                self.push(Expr::Name { path, targs: TemplateArgs::default() }, span)
            }
            _ => self.expr(s, node),
        }
    }

    /// The values between the parentheses of a call.
    pub(super) fn arguments<'t>(&mut self, s: Src<'t>, list: Node<'t>) -> Vec<ExprId> {
        let children = named_children(list);
        let mut values = Vec::with_capacity(children.len());
        for child in children {
            let kind = cuda_kind(child);
            if kind == CudaKind::Comment {
                continue;
            }
            if s.bindings.is_some()
                && kind == CudaKind::Identifier
                && let Some(Argument::Rest(rest)) = s.argument(s.text(child))
            {
                values.extend(rest.iter().map(|argument| self.argument_value(s, argument)));
            } else if is_expression_kind(kind) {
                let value = self.expr(s, child);
                // A macro may stand for several arguments.
                let by_macro = matches!(kind, CudaKind::Identifier | CudaKind::CallExpression);
                match self.module.exprs.get(value).map(|node| &node.kind) {
                    Some(Expr::Comma(parts)) if by_macro && parts.len() > 1 => values.extend(parts.clone()),
                    _ => values.push(value),
                }
            } else if kind != CudaKind::Other || !child.kind().starts_with("preproc") {
                let span = s.span(child);
                values.push(self.push(Expr::Unknown(Vec::new()), span));
            }
        }
        values
    }

    fn call<'t>(&mut self, s: Src<'t>, node: Node<'t>, function: Node<'t>, list: Node<'t>) -> ExprId {
        // A configuration stands between the two.
        if function.end_byte() < list.start_byte()
            && let Some(config) = super::fields::configuration(node)
        {
            return self.chevron(s, node, function, config);
        }
        let span = s.span(node);
        match cuda_kind(function) {
            CudaKind::CallExpression => {
                if let Some(launch) = self.launch_by_macro(s, function, list, span) {
                    return launch;
                }
            }
            CudaKind::PrimitiveType | CudaKind::SizedTypeSpecifier => {
                let ty = self.specifier(s, function);
                return self.construct_or_cast(s, ty, list, span);
            }
            CudaKind::Identifier => {
                let name = s.text(function);
                if s.argument(name).is_none() && self.lookup(name).is_none() {
                    if let Some(expanded) = self.function_macro(s, name, list, span) {
                        return expanded;
                    }
                    if name == "typeid" || name == "__builtin_va_arg" {
                        return self.unknown(s, list);
                    }
                }
                if self.is_type(s, name) || matches!(self.lookup(name), Some(super::state::Meaning::Type(_))) {
                    let ty = self.specifier(s, function);
                    return self.construct_or_cast(s, ty, list, span);
                }
                if let Some(api) = ApiId::named(name).filter(|api| api.launches().is_some()) {
                    let args = self.arguments(s, list);
                    if let Some(launch) = self.launch_call(api, &args, span) {
                        return launch;
                    }
                    let callee = self.callee(s, function);
                    return self.push(Expr::Call { callee, args }, span);
                }
            }
            CudaKind::ParenthesizedExpression => {
                // `(T)(x)` is a cast when T is a type.
                let inner = children(function);
                if let [only] = inner.as_slice()
                    && cuda_kind(*only) == CudaKind::Identifier
                    && self.is_type(s, s.text(*only))
                {
                    let ty = self.specifier(s, *only);
                    return self.construct_or_cast(s, ty, list, span);
                }
            }
            CudaKind::TemplateFunction => {
                let name = field(function, Field::Name).map_or("", |name| s.text(name));
                if let Some(cast) = self.named_cast(s, name, function, list, span) {
                    return cast;
                }
                if self.is_type(s, name) {
                    let ty = self.specifier(s, function);
                    return self.construct_or_cast(s, ty, list, span);
                }
            }
            CudaKind::QualifiedIdentifier => {
                if let Some(ty) = self.qualified_class(s, function) {
                    return self.construct_or_cast(s, ty, list, span);
                }
            }
            _ => {}
        }
        self.call_of(s, function, list)
    }

    /// `std::vector<int>(n)`: a call of a class template of the standard library.
    fn qualified_class<'t>(&mut self, s: Src<'t>, function: Node<'t>) -> Option<crate::ir::TypeId> {
        let mut name = function;
        while cuda_kind(name) == CudaKind::QualifiedIdentifier {
            name = field(name, Field::Name)?;
        }
        let is_template = cuda_kind(name) == CudaKind::TemplateFunction;
        let last = if is_template { s.text(field(name, Field::Name)?) } else { s.text(name) };
        let known = matches!(
            last,
            "vector"
                | "device_vector"
                | "host_vector"
                | "unique_ptr"
                | "shared_ptr"
                | "array"
                | "complex"
                | "pair"
                | "tuple"
                | "device_ptr"
                | "string"
        );
        let text = s.text(function);
        (known && (text.starts_with("std::") || text.starts_with("thrust::") || text.starts_with("cuda::")))
            .then(|| self.specifier(s, function))
    }

    /// An ordinary call.
    pub(super) fn call_of<'t>(&mut self, s: Src<'t>, function: Node<'t>, list: Node<'t>) -> ExprId {
        let callee = self.callee(s, function);
        let args = self.arguments(s, list);
        let span = s.span(function).cover(s.span(list));
        self.push(Expr::Call { callee, args }, span)
    }

    fn named_cast<'t>(
        &mut self,
        s: Src<'t>,
        name: &str,
        function: Node<'t>,
        list: Node<'t>,
        span: Span,
    ) -> Option<ExprId> {
        if !matches!(name, "static_cast" | "reinterpret_cast" | "const_cast" | "dynamic_cast") {
            return None;
        }
        let targs = field(function, Field::Arguments)?;
        let descriptor = first_child(targs)?;
        let value = first_child(list)?;
        let ty = match cuda_kind(descriptor) {
            CudaKind::TypeDescriptor => self.descriptor(s, descriptor),
            _ => self.specifier(s, descriptor),
        };
        let value = self.expr(s, value);
        Some(self.push(Expr::Cast { ty, value }, span))
    }

    /// `T(a)` is a cast when `T` is arithmetic; else the construction of a `T`.
    fn construct_or_cast<'t>(&mut self, s: Src<'t>, ty: crate::ir::TypeId, list: Node<'t>, span: Span) -> ExprId {
        let args = self.arguments(s, list);
        let arithmetic = matches!(
            self.module.types.get(ty),
            Some(Type::Int { .. } | Type::Float { .. } | Type::Bool | Type::Pointer(_) | Type::Void)
        );
        match args.as_slice() {
            [value] if arithmetic => self.push(Expr::Cast { ty, value: *value }, span),
            _ => self.push(Expr::Construct { ty, args, braces: false }, span),
        }
    }

    fn member<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        // Long chains `a.b().c().d()` nest to the left; their depth is counted like any other.
        let parts = match around(s, node) {
            Some((base, operator @ ("." | "->"), name)) => Some((base, operator, name)),
            _ => match exactly(node) {
                Some([base, operator, name]) => Some((base, s.text(operator), name)),
                None => field(node, Field::Argument)
                    .zip(field(node, Field::FieldName))
                    .map(|(base, name)| (base, field(node, Field::Operator).map_or("", |op| s.text(op)), name)),
            },
        };
        // `a.*member` has no name in it.
        let Some((base, operator, name)) = parts.filter(|(_, operator, _)| !operator.ends_with('*')) else {
            return self.unknown(s, node);
        };
        let arrow = operator == "->";
        let base = self.expr(s, base);
        // `d.Base::f()` calls the function of that base, whatever `d` has of this name.
        let is_called = || node.parent().is_some_and(|parent| field(parent, Field::Function) == Some(node));
        let qualified =
            (cuda_kind(name) == CudaKind::QualifiedIdentifier && is_called()).then(|| without_arguments(s.text(name)));
        let (mut name, mut targs) = (name, Vec::new());
        for _ in 0..8 {
            name = match cuda_kind(name) {
                CudaKind::TemplateMethod | CudaKind::TemplateFunction => {
                    if let Some(list) = field(name, Field::Arguments) {
                        targs = self.template_args(s, list);
                    }
                    field(name, Field::Name).unwrap_or(name)
                }
                CudaKind::DependentName => first_child(name).unwrap_or(name),
                CudaKind::QualifiedIdentifier => field(name, Field::Name).unwrap_or(name),
                _ => break,
            };
        }
        let text = match s.argument(s.text(name)) {
            Some(Argument::Node(argument, inner)) => inner.text(*argument),
            Some(Argument::Text(text, ..)) => text,
            _ => s.text(name),
        };
        let name = match qualified.filter(|path| path.ends_with(text) && path.contains("::")) {
            Some(path) => self.name(&path),
            None => self.name(text),
        };
        let span = s.span(node);
        let id = self.push(Expr::Member { base, name, arrow }, span);
        if !targs.is_empty() {
            self.module.method_args.insert(id, targs);
        }
        id
    }

    fn subscript<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let parts = exactly(node)
            .map(|[base, list]| (base, list))
            .or_else(|| field(node, Field::Argument).zip(field(node, Field::Indices)));
        let Some((base, list)) = parts else { return self.unknown(s, node) };
        let base = self.expr(s, base);
        let indices = self.arguments(s, list);
        let span = s.span(node);
        self.push(Expr::Index { base, indices }, span)
    }

    /// `{a, b}`.
    pub(super) fn initializer_list<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let values = self.arguments(s, node);
        let span = s.span(node);
        self.push(Expr::InitList(values), span)
    }

    fn designated<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let Some(value) = field(node, Field::Value) else { return self.unknown(s, node) };
        let designator = field(node, Field::Designator);
        let value = self.expr(s, value);
        let span = s.span(node);
        match designator {
            Some(designator) if cuda_kind(designator) == CudaKind::FieldDesignator => {
                let name = s.text(designator).trim_start_matches('.').trim();
                let field = self.name(name);
                self.push(Expr::Designated { field, value }, span)
            }
            _ => self.push(Expr::Unknown(vec![value]), span),
        }
    }

    fn compound_literal<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let (Some(ty), Some(value)) = (field(node, Field::TypeOf), field(node, Field::Value)) else {
            return self.unknown(s, node);
        };
        if ty.is_missing() {
            return self.initializer_list(s, value);
        }
        let ty = match cuda_kind(ty) {
            CudaKind::TypeDescriptor => self.descriptor(s, ty),
            _ => self.specifier(s, ty),
        };
        let args = self.arguments(s, value);
        let span = s.span(node);
        self.push(Expr::Construct { ty, args, braces: true }, span)
    }

    fn throw<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let value = first_child(node).map(|value| self.expr(s, value));
        let span = s.span(node);
        self.push(Expr::Throw(value), span)
    }

    fn statement_expression<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let mark = self.open_scope();
        let block = self.block(s, node);
        self.close_scope(mark);
        let span = s.span(node);
        self.push(Expr::Statements(block), span)
    }
}

/// `Base<T>::f` as `Base::f`.
fn without_arguments(path: &str) -> String {
    let mut depth = 0_u32;
    let mut out = String::new();
    for c in path.chars().filter(|c| !c.is_whitespace()) {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}
