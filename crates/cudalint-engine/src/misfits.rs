//! What compilers refuse though its grammar is right: an argument of a launch that cannot become its parameter, a variable that is no
//! pointer given to `cudaMalloc`, memory of `malloc` without a cast, a launch or a call with another number of arguments than is taken, a member
//! of a number, a name that nothing declares. A file with one of these is no program, so that nothing in it runs.
//!
//! Only what the file itself shows counts: types that something out of sight may decide are asked nothing.

use crate::in_sight::has_all_includes;
use crate::others::{holds, words_at};
use crate::redefined::{called_too_early, named_as_number, redefined};
use crate::roles::COMPILED;
use crate::undeclared::Declared;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Effect;
use cudalint_program::ir::{
    BinaryOp, Expr, ExprId, Function, FunctionId, FunctionRole, LaunchExpr, LocalId, MacroDefinition, Module, ModuleId,
    Path, Type,
};
use cudalint_program::types::TypeEnv;
use cudalint_program::visit::{Item, walk};
use cudalint_program::{Project, Scope};
use cudalint_syntax::Span;

/// What a compiler refuses.
pub(crate) struct Misfit {
    /// Where.
    pub span: Span,
    /// What stands there, in words.
    pub what: String,
}

/// Variables that the compiler itself declares in code for devices.
const BUILT_IN: [&str; 4] = ["threadIdx", "blockIdx", "blockDim", "gridDim"];

/// The first misfit of a module. `spelled`: whether another text of the project has a word, be it in the middle of one, or may have it;
/// `given`: whether a build or a script has it.
pub(crate) fn misfit(
    project: &Project,
    id: ModuleId,
    spelled: &dyn Fn(&str) -> bool,
    given: &dyn Fn(&str) -> bool,
) -> Option<Misfit> {
    let module = project.module(id);
    let has_all = has_all_includes(project, id);
    let is_closed = has_all && project.includes().direct(id.index() as u32).is_empty();
    let declared = Declared::new(project, id, given);
    let early = || has_all.then(|| called_too_early(project, id, &declared)).flatten();
    let whole = second_main(project, id).or_else(|| stream_of_nothing(project, id)).or_else(|| lost_body(project, id));
    if let Some(found) = whole {
        return Some(found);
    }
    let named = || named_as_number(project, id);
    if let Some((span, what)) = redefined(project, id).or_else(named).or_else(early) {
        return Some(Misfit { span, what });
    }
    module.functions.iter_enumerated().find_map(|(number, function)| {
        let body = function.body.as_ref()?;
        let declared = has_all.then_some(&declared);
        // Methods are asked for their names alone.
        let is_asked = is_asked(project, id, function);
        if !is_asked && declared.is_none() {
            return None;
        }
        let scope = Scope::new(project, id, Some(number), &TypeEnv::default());
        let mut look = Look { project, id, module, function, scope, is_closed, declared, spelled, found: None };
        walk(module, function, body, |item| {
            match item {
                Item::Expr(expr) => {
                    look.names(expr);
                    if is_asked {
                        look.expression(expr);
                    }
                }
                Item::Declare(local) if is_asked => {
                    look.declaration(local);
                    look.extents(local);
                }
                Item::Declare(_) | Item::Stmt(_) => {}
            }
            look.found.is_none()
        });
        look.found
    })
}

/// A second `main` of a file, which is then a collection of programs that somebody takes apart before he compiles one.
pub(crate) fn second_main(project: &Project, id: ModuleId) -> Option<Misfit> {
    let module = project.module(id);
    let everywhere = |span: Span| {
        let branches = module.supposed.iter().map(|branch| branch.span.range());
        branches.into_iter().all(|branch| !branch.contains(&(span.start as usize)))
    };
    let is_main = |function: &&Function| {
        function.name == "main"
            && function.role == FunctionRole::Free
            && function.scope.segments.is_empty()
            && function.body.is_some()
            && !function.damaged
            && everywhere(function.span)
    };
    let second = module.functions.iter().filter(is_main).nth(1)?;
    Some(Misfit { span: second.span, what: "a second `main`".to_owned() })
}

/// A block behind the definition of a macro with parameters and without a body: the marks at the ends of its lines are missing, and the block
/// stands outside of all functions.
fn lost_body(project: &Project, id: ModuleId) -> Option<Misfit> {
    let (module, text) = (project.module(id), project.source(id));
    let lost = |defined: &&MacroDefinition| {
        let (before, behind) = (text.get(..defined.span.start as usize), text.get(defined.span.end as usize..));
        let (Some(before), Some(behind)) = (before, behind) else { return false };
        // Where the head of a function stands in front of the definition, the block is its body.
        let is_between = before.trim_end().rsplit('\n').next().is_none_or(|line| {
            line.trim_end().ends_with([';', '}', '/'])
                || line.trim_start().starts_with(['#', '/'])
                || line.trim().is_empty()
        });
        let is_inside = || {
            let around = |function: &Function| {
                function.body.is_some()
                    && !function.damaged
                    && function.span.range().contains(&(defined.span.start as usize))
            };
            module.functions.iter().any(around)
        };
        defined.params.is_some()
            && defined.body.trim().is_empty()
            && defined.conditions.is_empty()
            && behind.trim_start().starts_with('{')
            && is_between
            && !is_inside()
    };
    let found = module.macros.iter().find(lost)?;
    Some(Misfit {
        span: found.span,
        what: "a block outside of all functions, behind a macro without a body".to_owned(),
    })
}

/// `cout << …` in a source that includes nothing and that nothing includes: CUDA's headers, which `nvcc` includes by itself, have no streams.
fn stream_of_nothing(project: &Project, id: ModuleId) -> Option<Misfit> {
    let module = project.module(id);
    let is_source = COMPILED.iter().any(|ending| project.path(id).ends_with(ending));
    if !is_source || !module.includes.is_empty() || !project.includes().includers(id.index() as u32).is_empty() {
        return None;
    }
    let kind = |id: ExprId| module.exprs.get(id).map(|node| &node.kind);
    let own = |name: &str| module.globals.iter().any(|global| global.name == *name) || project.has_macro(id, name);
    let is_stream = |id: ExprId| {
        matches!(kind(id), Some(Expr::Name { path, .. })
            if path.last().is_some_and(|name| (*name == "cout" || *name == "cerr") && !own(name)))
    };
    let first = module.exprs.iter().find(
        |node| matches!(node.kind, Expr::Binary(BinaryOp::Shl, left, _) if node.expansion.is_none() && is_stream(left)),
    )?;
    Some(Misfit { span: first.span, what: "streams without a header for them".to_owned() })
}

/// Whether a function stands for itself alone: no template, no part of one, and nothing of it is lost.
fn is_asked(project: &Project, id: ModuleId, function: &Function) -> bool {
    let of_template = || {
        let record = project.record(id, &Path::default(), &function.scope).and_then(|entry| project.record_at(entry));
        record.is_some_and(|record| !record.template_params.is_empty())
    };
    function.role == FunctionRole::Free && function.template_params.is_empty() && !function.damaged && !of_template()
}

/// A function that is looked through.
pub(crate) struct Look<'p> {
    pub(crate) project: &'p Project,
    pub(crate) id: ModuleId,
    module: &'p Module,
    pub(crate) function: &'p Function,
    pub(crate) scope: Scope<'p>,
    /// Whether the file declares all that it names, but what C's library and CUDA's headers declare.
    is_closed: bool,
    /// What the file says of names, where all that it includes is in sight.
    declared: Option<&'p Declared<'p>>,
    /// Whether another text of the project may have a word.
    spelled: &'p dyn Fn(&str) -> bool,
    found: Option<Misfit>,
}

impl Look<'_> {
    pub(crate) fn kind(&self, id: ExprId) -> Option<&Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    pub(crate) fn is_written(&self, id: ExprId) -> bool {
        self.module.exprs.get(id).is_some_and(|node| node.expansion.is_none())
    }

    pub(crate) fn text(&self, id: ExprId) -> &str {
        self.module.exprs.get(id).map_or("", |node| self.project.text(self.id, node.span))
    }

    pub(crate) fn find(&mut self, at: ExprId, what: String) {
        if let Some(node) = self.module.exprs.get(at).filter(|_| self.found.is_none()) {
            // What does not fit in a branch that is only supposed to be the program shows that it is none.
            let mut supposed = self.module.supposed.iter().map(|branch| branch.span.range());
            if !supposed.any(|branch| branch.contains(&(node.span.start as usize))) {
                self.found = Some(Misfit { span: node.span, what });
            }
        }
    }

    /// A variable that nothing declares.
    fn names(&mut self, id: ExprId) {
        let Some((declared, node)) = self.declared.zip(self.module.exprs.get(id)) else { return };
        for used in Declared::variables(&node.kind).into_iter().filter(|used| self.is_written(*used)) {
            let Some(place) = self.module.exprs.get(used).map(|node| node.span.start as usize) else { continue };
            let lacks = |name: &&str| declared.lacks(name, place, self.function);
            if let Some(name) = self.plain_name(used).filter(lacks) {
                let what = format!("`{name}`, which nothing declares");
                self.find(used, what);
                return;
            }
        }
    }

    fn expression(&mut self, id: ExprId) {
        if !self.is_written(id) {
            return;
        }
        let module = self.module;
        match module.exprs.get(id).map(|node| &node.kind) {
            Some(Expr::Launch(launch)) if launch.chevron => {
                self.launch(launch);
                self.undeclared(launch.config.iter().chain(&launch.args));
            }
            Some(Expr::Call { callee, args }) => {
                self.call(*callee, args, self.declared.is_some());
                let api = self.plain_name(*callee).and_then(ApiId::named);
                let Some(api) = api.filter(|api| api.library.is_runtime()) else { return };
                let of_memory = |effect: &Effect| {
                    matches!(
                        effect,
                        Effect::Allocates { .. } | Effect::Frees(_) | Effect::Copies { .. } | Effect::Sets { .. }
                    )
                };
                if api.effects.iter().any(|effect| matches!(effect, Effect::Allocates { .. })) {
                    self.allocation(args, api);
                }
                if api.effects.iter().any(of_memory) {
                    self.undeclared(args.iter());
                }
            }
            Some(Expr::Assign { target, .. } | Expr::Step { target, .. }) => self.assignment(*target),
            Some(Expr::Member { base, .. }) => self.member(id, *base),
            _ => {}
        }
    }

    /// A name without a scope around it that the project has nothing of its own for.
    pub(crate) fn plain_name(&self, id: ExprId) -> Option<&str> {
        let Some(Expr::Name { path, .. }) = self.kind(id) else { return None };
        let [name] = &*path.segments else { return None };
        let own = self.project.has_macro(self.id, name)
            || !self.project.functions_named(name).is_empty()
            || self.project.global(self.id, &self.function.scope, path).is_some();
        (!own).then_some(name.as_str())
    }

    /// A call of a function of the project with another number of arguments than any function of its name takes. `has_all`: whether all
    /// that the file includes is in sight; else its headers in quotes have to be, and the name has to have a capital letter, which no function of
    /// C++'s own library has.
    fn call(&mut self, callee: ExprId, args: &[ExprId], has_all: bool) {
        let Some(Expr::Name { path, targs }) = self.kind(callee) else { return };
        let [name] = &*path.segments else { return };
        let is_own = || name.contains(|letter: char| letter.is_ascii_uppercase()) && self.has_own_headers();
        if !has_all && !is_own() {
            return;
        }
        let is_plain =
            |arg: &ExprId| self.is_written(*arg) && !matches!(self.kind(*arg), None | Some(Expr::Unknown(_)));
        let known = self.project.overloads(self.id, &self.function.scope, path);
        let classes = self.project.record(self.id, &self.function.scope, path);
        if has_all && known.is_empty() && classes.is_none() && self.is_declared_nowhere(name, path) {
            self.find(callee, format!("`{name}`, which nothing declares"));
            return;
        }
        if known.is_empty() || classes.is_some() || !targs.is_empty() || !args.iter().all(is_plain) {
            return;
        }
        // A declaration elsewhere may give arguments that this one does not have.
        let all = self.project.functions_named(name);
        if known.iter().any(|(module, _)| !self.sees(*module)) {
            return;
        }
        let (mut fewest, mut most) = (usize::MAX, 0);
        for (module, number) in all.into_iter().filter(|(module, _)| self.sees(*module)) {
            let Some(function) = self.project.function_at(module, number) else { return };
            let is_free = function.role == FunctionRole::Free && function.template_params.is_empty();
            if !is_free || function.damaged || function.variadic || self.project.has_macro(module, name) {
                return;
            }
            fewest = fewest.min(function.params().iter().filter(|param| param.init.is_none()).count());
            most = most.max(function.param_count as usize);
        }
        if args.len() < fewest || args.len() > most {
            self.find(callee, format!("a call of `{name}` with another number of arguments than it takes"));
        }
    }

    /// Whether a function, where all that the file includes is in sight, has a name that nothing there declares: one with a capital behind
    /// a small letter, as C's and C++'s own libraries have none.
    fn is_declared_nowhere(&self, name: &str, path: &Path) -> bool {
        let letters: Vec<char> = name.chars().collect();
        let is_camel = letters.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
        let of_toolkit = || ApiId::named(name).is_some() || ["cu", "nv"].iter().any(|begin| name.starts_with(begin));
        let spells = |module: ModuleId| words_at(self.project.source(module), name).next().is_some();
        is_camel
            && !of_toolkit()
            && !self.project.has_macro(self.id, name)
            && self.project.global(self.id, &self.function.scope, path).is_none()
            && !self.project.functions_named(name).iter().any(|(module, _)| self.sees(*module))
            // What is read may have a declaration that was not understood.
            && !self.project.modules().any(|module| module != self.id && self.sees(module) && spells(module))
            && !self.function.locals.iter().any(|local| local.name == *name)
    }

    /// Whether a module is the file itself or one that it includes.
    fn sees(&self, module: ModuleId) -> bool {
        let included = &self.project.includes().reach(self.id.index() as u32).included;
        module == self.id || included.has(module.index() as u32)
    }

    /// Whether the headers in quotes that the file includes are in sight.
    fn has_own_headers(&self) -> bool {
        let in_sight = self.project.includes().targets(self.id.index() as u32).iter().map(Option::is_some);
        self.module.includes.iter().zip(in_sight).all(|(include, found)| include.system || found)
    }

    fn launch(&mut self, launch: &LaunchExpr) {
        let Some(Expr::Name { path, .. }) = self.kind(launch.kernel) else { return };
        let kernels = self.project.overloads(self.id, &self.function.scope, path);
        let lacks = |name: &str| self.declared.is_some_and(|declared| declared.lacks_kernel(name));
        if let ([name], true) = (&*path.segments, self.is_written(launch.kernel))
            && lacks(name)
        {
            let what = format!("a launch of `{name}`, which nothing declares");
            self.find(launch.kernel, what);
            return;
        }
        let refused = |this: &Self, at: usize, arg: ExprId| {
            kernels.iter().all(|(module, number)| {
                this.project.function_at(*module, *number).is_some_and(|kernel| {
                    let scope = Scope::new(this.project, *module, Some(*number), &TypeEnv::default());
                    let param = kernel.params().iter().nth(at);
                    kernel.space.global
                        && kernel.template_params.is_empty()
                        && param.is_some_and(|param| this.is_refused(&scope.resolve(param.ty), arg))
                })
            })
        };
        if kernels.is_empty() {
            return;
        }
        let given = launch.args.len();
        let mismatched = |(module, number): &(ModuleId, FunctionId)| {
            self.project.function_at(*module, *number).is_some_and(|kernel| {
                let needed = kernel.params().iter().filter(|param| param.init.is_none()).count();
                let plain = kernel.space.global && kernel.template_params.is_empty() && !kernel.damaged;
                plain && !kernel.variadic && (given < needed || given > kernel.param_count as usize)
            })
        };
        if launch.args.iter().all(|arg| self.is_written(*arg)) && kernels.iter().all(mismatched) {
            let what =
                format!("a launch of `{}` with another number of arguments than it takes", self.text(launch.kernel));
            self.find(launch.kernel, what);
            return;
        }
        let wrong = launch.args.iter().enumerate().find(|(at, arg)| refused(self, *at, **arg));
        if let Some((_, arg)) = wrong {
            let what = format!("`{}`, which no compiler converts to its parameter", self.text(*arg));
            self.find(*arg, what);
        }
    }

    /// `i.x` of `int i`.
    fn member(&mut self, id: ExprId, base: ExprId) {
        let Some(Expr::Local(local)) = self.kind(base).filter(|_| self.is_written(base)) else { return };
        let Some(variable) = self.function.locals.get(*local) else { return };
        // A type that is spelled out, and no name that other code may give another meaning.
        let mut ty = self.module.types.get(variable.ty);
        while let Some(Type::Qualified { ty: inner, .. }) = ty {
            ty = self.module.types.get(*inner);
        }
        if matches!(ty, Some(Type::Bool | Type::Int { .. } | Type::Float { bytes: 4 | 8 })) {
            let what = format!("`{}`, a member of a number", self.text(id));
            self.find(id, what);
        }
    }

    /// `int values[SIZE]`.
    fn extents(&mut self, local: LocalId) {
        let mut ty = self.function.locals.get(local).map(|variable| variable.ty);
        let mut extents = Vec::new();
        while let Some(Type::Array(element, extent)) = ty.and_then(|ty| self.module.types.get(ty)) {
            extents.extend(extent);
            ty = Some(*element);
        }
        self.undeclared(extents.iter());
    }

    /// `threadIdx.x = 0`.
    fn assignment(&mut self, target: ExprId) {
        let Some(Expr::Member { base, arrow: false, .. }) = self.kind(target) else { return };
        if let Some(name) = self.plain_name(*base).filter(|name| BUILT_IN.contains(name)) {
            let what = format!("an assignment to `{name}`");
            self.find(target, what);
        }
    }

    /// Whether somebody may give a compiler a name: another text of the project spells it, or this one does as an option or in a comment.
    /// Headers of the random numbers have sizes for their own tables.
    fn may_be_given(&self, name: &str) -> bool {
        const WITH_SIZES: [&str; 2] = ["curand.h", "curand_kernel.h"];
        let text = self.project.source(self.id);
        let option = format!("D{name}");
        let told = || {
            let comments = self.declared.map_or(&[][..], Declared::comments);
            comments.iter().any(|it| text.get(it.span.range()).is_some_and(|inside| inside.contains(name)))
        };
        let graph = self.project.includes();
        let own = self.id.index() as u32;
        let mut files =
            graph.reach(own).included.iter().copied().chain([own]).map(|file| self.project.module(ModuleId(file)));
        files.any(|file| file.includes.iter().any(|include| WITH_SIZES.contains(&&*include.target)))
            || (self.spelled)(name)
            || words_at(text, &option).next().is_some()
            || told()
    }

    /// Whether an argument is a name that nothing in its file declares before.
    fn undeclared<'a>(&mut self, args: impl Iterator<Item = &'a ExprId>) {
        const OF_THE_LIBRARY: [&str; 6] = ["stdin", "stdout", "stderr", "errno", "environ", "warpSize"];
        let Some(declared) = self.declared else { return };
        let text = self.project.source(self.id);
        for arg in args {
            let named = match self.kind(*arg) {
                Some(Expr::AddressOf(of)) => *of,
                _ => *arg,
            };
            let Some(node) = self.module.exprs.get(named).filter(|node| node.expansion.is_none()) else { continue };
            let Some(name) = self.plain_name(named) else { continue };
            let is_variable = self.is_closed
                && name.bytes().any(|byte| byte.is_ascii_lowercase())
                && !["cuda", "cu", "std", "CU", "__"].iter().any(|start| name.starts_with(start))
                && !OF_THE_LIBRARY.contains(&name);
            let is_constant = || is_own_constant(name) && !self.may_be_given(name);
            let use_of_it = node.span.start as usize;
            let elsewhere = |at: usize| {
                let around = |other: &&Function| other.body.is_some() && other.span.range().contains(&at);
                let mut around = self.module.functions.iter().filter(around).peekable();
                around.peek().is_some() && around.all(|other| !other.span.range().contains(&use_of_it))
            };
            let mut before = words_at(text, name).take_while(|at| *at < use_of_it);
            let is_unknown =
                (is_variable || is_constant()) && before.all(|at| holds(declared.comments(), at) || elsewhere(at));
            drop(before);
            if is_unknown {
                let what = format!("`{name}`, which nothing declares");
                self.find(named, what);
                return;
            }
        }
    }
}

/// Whether a name in capitals is one that programs give to sizes of their own. Of the headers with which a file counts as closed, those of
/// C, C++ and CUDA's runtime, none defines a macro that ends so but those that begin as listed here.
fn is_own_constant(name: &str) -> bool {
    const ENDINGS: [&str; 7] = ["_SIZE", "_DIM", "_LENGTH", "_HEIGHT", "_ROWS", "_COLS", "_THREADS"];
    const OF_HEADERS: [&str; 8] = ["CPU_", "CU", "FP_", "MAX_", "PAGE_", "STATX_", "WARP_", "_"];
    ENDINGS.iter().any(|ending| name.ends_with(ending))
        && !OF_HEADERS.iter().any(|start| name.starts_with(start))
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}
