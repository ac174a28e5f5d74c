//! What decorators make of functions: which are compiled for the GPU.

use super::Lowerer;
use super::scopes::Meaning;
use crate::api::ApiId;
use crate::api::packages::Compiler;
use crate::ir::{Dialect, ExecutionSpace, Expr, ExprId, FunctionId, KernelDecorator, PythonExpr};
use crate::name::Name;

/// How far attributes are followed.
const MAX_ATTRIBUTES: usize = 16;

/// Who compiles what a dotted path names, where it is a compiler for the GPU.
fn compiler(path: &str) -> Option<Compiler> {
    ApiId::of_python(path)?.compiler().filter(|compiler| *compiler != Compiler::Host)
}

/// What it makes of a function that it is given: who compiles it, and whether as code that others call.
fn of_functions(compiler: Compiler) -> (Dialect, bool) {
    if compiler == Compiler::Reduce { (Dialect::Reduce, true) } else { (Dialect::Numba, false) }
}

/// The options of such a decorator.
#[derive(Default)]
struct Options {
    /// The first argument by position.
    first: Option<ExprId>,
    /// `device=`, as far as it is a literal.
    device: Option<bool>,
    /// Whether `target=` is `"cuda"`, where it is given.
    for_cuda: Option<bool>,
    launch_bounds: Option<ExprId>,
}

impl Lowerer<'_> {
    /// Whether a call of this might compile a function: `cuda.jit`, or a name that a package of kernels was imported as, or
    /// what a call gives.
    pub(super) fn may_make_kernels(&self, callee: ExprId) -> bool {
        let of_package = |name: &Name| {
            self.module
                .imports
                .iter()
                .any(|import| import.local == *name && ["numba", "numba_cuda", "cupyx"].contains(&root(&import.path)))
        };
        let mut root = self.kind(callee);
        for _ in 0..MAX_ATTRIBUTES {
            let Some(Expr::Member { base, .. }) = root else { break };
            root = self.kind(*base);
        }
        match root {
            Some(Expr::Name { path, .. }) => path.last().is_some_and(of_package),
            Some(Expr::Local(local)) => {
                self.frame.locals.get(*local).is_some_and(|variable| of_package(&variable.name))
            }
            Some(Expr::Call { .. }) => !self.module.imports.is_empty(),
            _ => false,
        }
    }

    /// Says of each function what it is compiled for.
    pub(super) fn settle_kernels(&mut self) {
        let known = |import: &crate::ir::Import| {
            import.level == 0 && ["numba", "numba_cuda", "cupyx"].contains(&root(&import.path))
        };
        if !self.module.imports.iter().any(known) {
            return;
        }
        for (id, scope) in std::mem::take(&mut self.decorated) {
            let function = self.module.functions.get(id).and_then(|function| function.python.as_ref());
            // The innermost one gets the function itself.
            let Some(decorator) = function.and_then(|python| python.decorators.last().copied()) else { continue };
            if let Some((kernel, options)) = self.decorator(decorator, scope) {
                self.mark(id, kernel, &options);
            }
        }
        let mut made: Vec<(FunctionId, KernelDecorator, Options)> = Vec::new();
        for (call, scope) in std::mem::take(&mut self.makers) {
            if let Some(found) = self.made(call, scope) {
                made.push(found);
            }
        }
        for (id, kernel, options) in &made {
            let others = || made.iter().filter(|(other, ..)| other == id).map(|(_, other, _)| other);
            // What is compiled in two ways is neither for sure; with several signatures each call has its own.
            let agree = others().all(|other| (other.dialect, other.device) == (kernel.dialect, kernel.device));
            let signature = kernel.signature.filter(|_| others().count() == 1);
            let function = self.module.functions.get(*id).and_then(|function| function.python.as_ref());
            let plain = function.is_some_and(|python| python.kernel.is_none() && python.decorators.is_empty());
            if agree && plain {
                self.mark(*id, KernelDecorator { signature, ..kernel.clone() }, options);
            }
        }
    }

    fn mark(&mut self, id: FunctionId, kernel: KernelDecorator, options: &Options) {
        let bounds = options.launch_bounds.map(|bounds| match self.kind(bounds) {
            Some(Expr::Python(python)) => match &**python {
                PythonExpr::Tuple(all) => all.first().map(|first| (*first, all.get(1).copied())),
                _ => None,
            },
            _ => Some((bounds, None)),
        });
        let Some(function) = self.module.functions.get_mut(id) else { return };
        function.space = ExecutionSpace { host: false, device: kernel.device, global: !kernel.device };
        function.space_written = true;
        function.launch_bounds = bounds.flatten();
        if let Some(python) = &mut function.python {
            python.kernel = Some(kernel);
        }
    }

    /// `@cuda.jit`, `@cuda.jit(…)` and their kin.
    fn decorator(&self, expr: ExprId, scope: FunctionId) -> Option<(KernelDecorator, Options)> {
        if let Some(Expr::Call { callee, args }) = self.kind(expr) {
            let maker = compiler(&self.path(*callee, scope)?)?;
            return self.kernel(maker, expr, args, scope);
        }
        let maker = compiler(&self.path(expr, scope)?)?;
        // Without a call it gets the function as its argument, which `rawkernel` does not take.
        matches!(maker, Compiler::Jit | Compiler::Reduce).then(|| {
            let (dialect, device) = of_functions(maker);
            (KernelDecorator { dialect, device, signature: None, expr }, Options::default())
        })
    }

    /// What a decorator with these arguments makes of a function.
    fn kernel(
        &self,
        maker: Compiler,
        expr: ExprId,
        args: &[ExprId],
        scope: FunctionId,
    ) -> Option<(KernelDecorator, Options)> {
        let options = self.options(args)?;
        let signature = options.first.filter(|first| !matches!(self.kind(*first), Some(Expr::Null)));
        let (dialect, device, signature) = match maker {
            // A function among the arguments is what it compiles, and no signature.
            Compiler::Jit if signature.is_some_and(|first| self.is_function(first, scope)) => return None,
            Compiler::Jit => (Dialect::Numba, options.device.unwrap_or(false), signature),
            Compiler::Raw => (Dialect::CupyJit, options.device.unwrap_or(false), None),
            Compiler::Vectorize { for_cuda } if options.for_cuda.unwrap_or(for_cuda) => {
                (Dialect::Vectorize, true, signature)
            }
            Compiler::Guvectorize { for_cuda } if options.for_cuda.unwrap_or(for_cuda) => {
                (Dialect::Guvectorize, true, signature)
            }
            Compiler::Vectorize { .. } | Compiler::Guvectorize { .. } | Compiler::Reduce | Compiler::Host => {
                return None;
            }
        };
        Some((KernelDecorator { dialect, device, signature, expr }, options))
    }

    /// `cuda.jit(f)`, `cuda.jit(signature)(f)` and their kin, as calls anywhere.
    fn made(&self, call: ExprId, scope: FunctionId) -> Option<(FunctionId, KernelDecorator, Options)> {
        let Some(Expr::Call { callee, args }) = self.kind(call) else { return None };
        let function = match self.meaning(self.kind(*args.first()?)?, scope)? {
            Meaning::Function(function) => function,
            Meaning::Remade(function, value) if value == call => function,
            _ => return None,
        };
        if let Some(Expr::Call { callee, args: inner }) = self.kind(*callee) {
            let maker = compiler(&self.path(*callee, scope)?)?;
            let (kernel, options) = self.kernel(maker, call, inner, scope)?;
            return (args.len() == 1).then_some((function, kernel, options));
        }
        let maker = compiler(&self.path(*callee, scope)?)?;
        if !matches!(maker, Compiler::Jit | Compiler::Reduce) {
            return None;
        }
        let options = self.options(args)?;
        let (dialect, device) = of_functions(maker);
        let device = device || options.device.unwrap_or(false);
        Some((function, KernelDecorator { dialect, device, signature: None, expr: call }, options))
    }

    /// The options among arguments; `None` where they are not all in sight.
    fn options(&self, args: &[ExprId]) -> Option<Options> {
        let mut options = Options::default();
        for arg in args {
            let Some(Expr::Python(python)) = self.kind(*arg) else {
                options.first = options.first.or(Some(*arg));
                continue;
            };
            match &**python {
                PythonExpr::Spread { .. } => return None,
                PythonExpr::Keyword(name, value) => match (name.as_str(), self.kind(*value)) {
                    ("device", Some(Expr::Int { value, bytes: 1, .. })) => options.device = Some(*value != 0),
                    ("device", _) => return None,
                    ("target", Some(Expr::Str(target))) => options.for_cuda = Some(**target == *"cuda"),
                    ("target", _) => return None,
                    ("func_or_sig" | "ftylist_or_function", _) => options.first = options.first.or(Some(*value)),
                    ("launch_bounds", _) => options.launch_bounds = Some(*value),
                    _ => {}
                },
                _ => options.first = options.first.or(Some(*arg)),
            }
        }
        Some(options)
    }

    /// What a name means in a function, by all its bindings.
    fn meaning(&self, expr: &Expr, scope: FunctionId) -> Option<Meaning> {
        let bound = |function: FunctionId, name: &str| Some(self.bound.get(function)?.get(name)?.meaning);
        match expr {
            Expr::Local(local) => {
                let function = self.module.functions.get(scope)?;
                if function.python.as_ref()?.inner.contains(local) {
                    return None;
                }
                bound(scope, function.locals.get(*local)?.name.as_str())
            }
            Expr::Name { path, .. } if path.segments.len() == 1 => {
                let name = path.last()?;
                // A captured name belongs to the nearest function around that has it as its own.
                let mut at = scope;
                while let Some(function) = self.module.functions.get(at)
                    && let Some((_, local)) = function.captures.iter().find(|(captured, _)| captured == name)
                {
                    at = function.parent?;
                    if local.is_some() {
                        return bound(at, name);
                    }
                }
                bound(FunctionId(0), name)
            }
            _ => None,
        }
    }

    /// The dotted path of an expression that names something of a package.
    fn path(&self, expr: ExprId, scope: FunctionId) -> Option<String> {
        let mut attributes: Vec<&Name> = Vec::new();
        let mut at = self.kind(expr)?;
        while let Expr::Member { base, name, .. } = at {
            attributes.push(name);
            at = self.kind(*base).filter(|_| attributes.len() < MAX_ATTRIBUTES)?;
        }
        let Meaning::Import(number) = self.meaning(at, scope)? else { return None };
        let import = self.module.imports.get(number as usize).filter(|import| import.level == 0)?;
        let mut path = import.path.to_string();
        for attribute in attributes.into_iter().rev() {
            path.push('.');
            path.push_str(attribute);
        }
        Some(path)
    }

    /// Whether a name means a function of this module.
    fn is_function(&self, expr: ExprId, scope: FunctionId) -> bool {
        let meaning = self.kind(expr).and_then(|expr| self.meaning(expr, scope));
        matches!(meaning, Some(Meaning::Function(_) | Meaning::Remade(..)))
    }
}

fn root(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}
