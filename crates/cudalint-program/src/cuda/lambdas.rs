//! Lambdas.

use super::fields::{Field, field};
use super::source::{Src, child_of_kind, children, first_child};
use super::state::Frame;
use super::state::Lowerer;
use super::storage::Storage;
use crate::ir::{Block, ExecutionSpace, Expr, ExprId, FunctionRole, Space, Stmt, Type};
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{MaskKind, Node, Span};

impl Lowerer<'_> {
    /// A lambda: a function of its own. Variables of the functions around it stay names in its body and are listed in
    /// [`Function::captures`].
    pub(super) fn lambda<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let span = s.span(node);
        let id = self.module.functions.next_key();
        let parent = self.frames.last().map(|frame| frame.function);
        let mut function = self.blank_function(span);
        self.module.functions.push(function.clone());
        let name = self.name("");
        let (space, space_written) = self.lambda_space(s, node);
        let host_only = if space_written {
            !space.device && !space.global
        } else {
            self.frames.last().is_some_and(|frame| frame.host_only)
        };
        self.frames.push(Frame::new(id, name, true, host_only));
        let depth = self.depth;

        let captures = field(node, Field::Captures);
        let mut by_reference = false;
        let mut otherwise = Vec::new();
        let mut made: Vec<(Node<'t>, Node<'t>)> = Vec::new();
        if let Some(captures) = captures {
            let parts = children(captures);
            let named = |capture: &&Node<'t>| capture.kind() != "lambda_default_capture";
            let is_reference = |capture: Node<'t>| {
                let before = s.text.get(captures.start_byte()..capture.start_byte());
                s.text(capture) == "&" || before.is_some_and(|before| before.trim_end().ends_with('&'))
            };
            let default = parts.iter().find(|capture| !named(capture));
            by_reference = default.is_some_and(|default| is_reference(*default));
            for capture in parts.iter().filter(named).copied() {
                if is_reference(capture) != by_reference && cuda_kind(capture) == CudaKind::Identifier {
                    otherwise.push(self.name(s.text(capture)));
                }
                if capture.kind() == "lambda_capture_initializer"
                    && let (Some(left), Some(right)) = (field(capture, Field::Left), field(capture, Field::Right))
                {
                    made.push((left, right));
                }
            }
        }
        let lists: Vec<Node<'t>> = child_of_kind(node, CudaKind::TemplateParameterList).into_iter().collect();
        let template_params = self.template_params(s, &lists);
        let declarator = field(node, Field::Declarator);
        let mut returns = self.push_type(Type::Auto);
        let mut variadic = false;
        if let Some(declarator) = declarator {
            if let Some(list) = field(declarator, Field::Parameters) {
                variadic = self.parameters(s, list);
            }
            if let Some(trailing) = children(declarator).into_iter().find(|c| c.kind() == "trailing_return_type")
                && let Some(descriptor) = first_child(trailing)
            {
                returns = self.descriptor(s, descriptor);
            }
        }
        let param_count = self.frames.last().map_or(0, |frame| frame.locals.len() as u32);
        let mut block: Block = Vec::new();
        function.made_captures = made.len() as u32;
        function.captured_otherwise = otherwise;
        for (name, value) in made {
            let init = self.expr(s, value);
            let reference = s.text.get(..name.start_byte()).is_some_and(|before| before.trim_end().ends_with('&'));
            let ty = self.push_type(Type::Auto);
            let ty = if reference { self.push_type(Type::Reference(ty)) } else { ty };
            let text = self.declared_name(s, name);
            let place = s.span(name);
            let local = self.declare(text, ty, Space::Ordinary, false, place);
            if let Some(variable) = self.local_mut(local) {
                variable.init = Some(init);
            }
            block.push(self.push_stmt(Stmt::Declare(local), place));
        }
        if let Some(body) = field(node, Field::Body) {
            block.extend(self.block(s, body));
        }
        let damaged = s.is_file() && self.is_damaged(span);
        self.depth = depth;
        if let Some(frame) = self.frames.pop() {
            function.locals = frame.locals;
            function.captures = frame.captures;
            function.damaged = damaged || frame.damaged;
        }
        function.scope = self.scope.clone().into();
        function.space = space;
        function.space_written = space_written;
        function.template_params = template_params;
        function.param_count = param_count;
        function.variadic = variadic;
        function.returns = returns;
        function.body = Some(block);
        function.role = FunctionRole::Lambda;
        function.parent = parent;
        function.name_span = captures.map_or(span, |captures| s.span(captures));
        if let Some(slot) = self.module.functions.get_mut(id) {
            *slot = function;
        }
        self.push(Expr::Lambda { function: id, by_reference }, span)
    }

    fn lambda_space(&self, s: Src<'_>, node: Node<'_>) -> (ExecutionSpace, bool) {
        let mut storage = Storage::default();
        let end = field(node, Field::Body).map_or(node.end_byte(), |body| body.start_byte());
        // The words stand between the captures and the body, whether the mask hid them or not.
        let head = s.text.get(node.start_byte()..end).unwrap_or("");
        for word in ["__device__", "__host__", "__global__"] {
            if head.contains(word) {
                storage.word(word);
            }
        }
        if s.is_file() {
            for note in self.notes(Span::new(node.start_byte(), end)) {
                if let MaskKind::LambdaSpace(bits) | MaskKind::AttributeMacro(bits) = note.kind {
                    storage.bits(bits);
                }
            }
        }
        if !storage.space_written {
            storage.space.host = true;
        }
        (storage.space, storage.space_written)
    }
}
