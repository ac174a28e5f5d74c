//! What starts processes in Python, how they are started, and what they are given to call.

use super::forks::{Pool, Reader, Start};
use crate::facts::{ForkFact, Forker, MadeCall, Site};
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId, FunctionId, PythonExpr};
use cudalint_program::python::dotted;

/// What packages of processes begin with.
const PROCESSES: [&str; 2] = ["multiprocessing.", "torch.multiprocessing."];
/// Methods of pools that are given what processes call.
const METHODS: [&str; 9] =
    ["map", "map_async", "imap", "imap_unordered", "starmap", "starmap_async", "apply", "apply_async", "submit"];
/// What a process starts with, by the name of the argument.
const STARTS: [&str; 2] = ["target", "initializer"];

impl Reader<'_> {
    /// A variable is given what makes processes, or the way in which they are made.
    pub(super) fn bound(&mut self, function: FunctionId, target: ExprId, value: ExprId) {
        let key = self.text(target);
        self.pools.retain(|pool| pool.key != key);
        self.contexts.retain(|context| context.0 != key);
        let Some(Expr::Call { callee, args }) = self.kind(value) else { return };
        if let Some(start) = self.context(function, value) {
            self.contexts.push((key, start));
        } else if let Some((what, start)) = self.maker(function, *callee)
            && matches!(what, "Pool" | "ProcessPoolExecutor")
        {
            let start = self
                .argument(args, "mp_context")
                .map_or(start, |arg| self.context(function, arg).or_else(|| self.known(arg)).unwrap_or(Start::Other));
            let (what, made, before) = (Name::from(what), self.site(value), self.used.clone());
            self.pools.push(Pool { key, made, what, start, before });
        }
    }

    /// `get_context("fork")`.
    fn context(&self, function: FunctionId, expr: ExprId) -> Option<Start> {
        let Some(Expr::Call { callee, args }) = self.kind(expr) else { return None };
        let path = dotted(self.module, function, *callee)?;
        let is_context = PROCESSES.iter().any(|package| path.strip_prefix(package) == Some("get_context"));
        is_context.then(|| match args.first().and_then(|arg| self.kind(*arg)) {
            Some(Expr::Str(text)) if &**text == "fork" => Start::Fork,
            None => Start::Default,
            _ => Start::Other,
        })
    }

    /// The way of a context that a variable holds.
    fn known(&self, expr: ExprId) -> Option<Start> {
        let text = self.text(expr);
        self.contexts.iter().find(|context| context.0 == text).map(|context| context.1)
    }

    /// What makes processes, and how.
    fn maker(&self, function: FunctionId, callee: ExprId) -> Option<(&'static str, Start)> {
        let made = |name: &str| ["Process", "Pool"].into_iter().find(|known| *known == name);
        if let Some(path) = dotted(self.module, function, callee) {
            if matches!(
                &*path,
                "concurrent.futures.ProcessPoolExecutor" | "concurrent.futures.process.ProcessPoolExecutor"
            ) {
                return Some(("ProcessPoolExecutor", Start::Default));
            }
            let name = PROCESSES.iter().find_map(|package| path.strip_prefix(package))?;
            return Some((made(name.strip_prefix("pool.").unwrap_or(name))?, Start::Default));
        }
        let Some(Expr::Member { base, name, .. }) = self.kind(callee) else { return None };
        let start = self.context(function, *base).or_else(|| self.known(*base))?;
        Some((made(name)?, start))
    }

    fn argument(&self, args: &[ExprId], wanted: &str) -> Option<ExprId> {
        args.iter().find_map(|arg| match self.kind(*arg) {
            Some(Expr::Python(python)) => match &**python {
                PythonExpr::Keyword(name, value) if *name == *wanted => Some(*value),
                _ => None,
            },
            _ => None,
        })
    }

    /// A call that makes a process, or hands something to those that are made.
    pub(super) fn starts(&mut self, function: FunctionId, id: ExprId, callee: ExprId, args: &[ExprId]) {
        let maker = self.maker(function, callee);
        let given = STARTS.iter().find_map(|name| self.argument(args, name));
        if let (Some((what, start)), Some(child), Some(before)) = (maker, given, self.used.clone()) {
            let start = self.argument(args, "mp_context").map_or(start, |_| Start::Other);
            self.tell(function, (self.site(id), what, start), before, child);
        }
        let Some(Expr::Member { base, name, .. }) = self.kind(callee) else { return };
        let key = self.text(*base);
        if let Some(pool) = self.pools.iter().find(|pool| pool.key == key)
            && METHODS.contains(&name.as_str())
            && let (Some(before), Some(child)) = (pool.before.clone(), args.first())
        {
            let (made, what, start) = (pool.made, pool.what.clone(), pool.start);
            self.tell(function, (made, &what, start), before, *child);
        }
    }

    fn tell(
        &mut self,
        function: FunctionId,
        (fork, what, start): (Site, &str, Start),
        before: MadeCall,
        child: ExprId,
    ) {
        let sure = match start {
            Start::Fork => true,
            Start::Default => match self.chosen() {
                Start::Other => return,
                chosen => chosen == Start::Fork,
            },
            Start::Other => return,
        };
        let Some((module, number)) = self.named(function, child) else { return };
        if let Some(child) = self.sure_use(module, number, true) {
            let by = Forker::Started { what: Name::from(what), sure };
            self.found.push(ForkFact { function, fork, before, child, by });
        }
    }

    /// The way that the program chooses for all processes: `set_start_method`.
    fn chosen(&self) -> Start {
        let mut chosen = Start::Default;
        for id in self.project.modules() {
            let module = self.project.module(id);
            for node in &module.exprs {
                let Expr::Call { callee, args } = &node.kind else { continue };
                let name = match module.exprs.get(*callee).map(|node| &node.kind) {
                    Some(Expr::Member { name, .. }) => name,
                    Some(Expr::Name { path, .. }) => match path.last() {
                        Some(name) => name,
                        None => continue,
                    },
                    _ => continue,
                };
                if *name == "set_start_method" {
                    let arg = args.first().and_then(|arg| module.exprs.get(*arg)).map(|node| &node.kind);
                    let forks = matches!(arg, Some(Expr::Str(text)) if &**text == "fork");
                    chosen = if forks && chosen != Start::Other { Start::Fork } else { Start::Other };
                }
            }
        }
        chosen
    }
}
