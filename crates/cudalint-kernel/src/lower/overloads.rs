//! Which function a call means, by the types of its arguments.

use super::state::{Found, Lowerer, Out, Pick};
use cudalint_program::Scope;
use cudalint_program::ir::{Function, FunctionId, ModuleId, Path};
use cudalint_program::types::{Argument, Ty, TypeEnv};

/// How well an argument fits whose type is the parameter's.
const EXACT: u32 = 8;

impl Lowerer<'_> {
    /// The function of the project that a call by name means; one without a body is none.
    pub(super) fn function_for(&mut self, path: &Path, explicit: &[Argument], args: &[Out]) -> Option<Found> {
        let (module, inside) = (self.context.module, self.inside());
        let name = path.last()?.clone();
        if let Some(known) = self.picks.get(&name).and_then(|all| {
            all.iter().find(|pick| {
                pick.module == module
                    && pick.args.len() == args.len()
                    && pick.path == *path
                    && pick.inside == inside
                    && pick.explicit == explicit
                    && pick.args.iter().zip(args).all(|(known, arg)| *known == arg.ty)
            })
        }) {
            return known.found.clone();
        }
        let found = self.find(module, &inside, path, explicit, args);
        self.picks.entry(name).or_default().push(Pick {
            module,
            inside,
            path: path.clone(),
            explicit: explicit.to_vec(),
            args: args.iter().map(|arg| arg.ty.clone()).collect(),
            found: found.clone(),
        });
        found
    }

    fn find(
        &mut self,
        module: ModuleId,
        inside: &Path,
        path: &Path,
        explicit: &[Argument],
        args: &[Out],
    ) -> Option<Found> {
        let one = self.project.function(module, inside, path, args.len());
        let (module, function, env) = match one {
            Some((module, id)) => {
                let function = self.project.function_at(module, id)?;
                function.body.as_ref()?;
                let on_device = function.space.device || function.space.global || function.is_constexpr;
                let env = self.bind((module, id), &TypeEnv::default(), explicit, args);
                if super::numbers::is_known(path) {
                    // The host's own `max`, one of another program, or one for other types: the device has the library's.
                    let included = &self.project.includes().reach(self.context.module.0).included;
                    let near = module == self.context.module || included.has(module.0);
                    let exact = self.score(module, id, function, &env, args) == Some(1 + EXACT * args.len() as u32);
                    if !on_device || !near || !exact {
                        return None;
                    }
                }
                (module, id, env)
            }
            None => {
                let candidates = self.project.overloads(module, inside, path);
                self.pick(&candidates, &TypeEnv::default(), explicit, args)?
            }
        };
        let function = self.project.function_at(module, function).map(|found| (found, function))?;
        Some(Found { module, function: function.1, env, record: None })
    }

    /// The best of several functions; none where two are as good.
    pub(super) fn pick(
        &mut self,
        candidates: &[(ModuleId, FunctionId)],
        around: &TypeEnv,
        explicit: &[Argument],
        args: &[Out],
    ) -> Option<(ModuleId, FunctionId, TypeEnv)> {
        let mut best: Vec<(u32, ModuleId, FunctionId, TypeEnv)> = Vec::new();
        let mut top = 0;
        for (module, id) in candidates {
            let Some(function) = self.project.function_at(*module, *id) else { continue };
            if function.body.is_none() || !takes(function, args.len()) {
                continue;
            }
            let env = self.bind((*module, *id), around, explicit, args);
            let Some(score) = self.score(*module, *id, function, &env, args) else { continue };
            if score > top {
                best.clear();
                top = score;
            }
            if score == top {
                best.push((score, *module, *id, env));
            }
        }
        self.decide(best, around, args)
    }

    fn decide(
        &mut self,
        mut best: Vec<(u32, ModuleId, FunctionId, TypeEnv)>,
        around: &TypeEnv,
        args: &[Out],
    ) -> Option<(ModuleId, FunctionId, TypeEnv)> {
        let function = |this: &Self, it: &(u32, ModuleId, FunctionId, TypeEnv)| {
            this.project.function_at(it.1, it.2).map(|found| {
                (found.is_specialization, !found.template_params.is_empty(), found.space.device || found.space.global)
            })
        };
        if best.len() > 1 {
            // A host function of the same name and parameters is another one.
            let device = |this: &Self, it: &_| function(this, it).is_some_and(|(_, _, device)| device);
            if best.iter().any(|it| device(self, it)) {
                best.retain(|it| device(self, it));
            }
        }
        if best.len() > 1 {
            let special = |this: &Self, it: &_| function(this, it).is_some_and(|(special, ..)| special);
            let specials = best.iter().filter(|it| special(self, it)).count();
            if specials > 1 {
                return None;
            }
            if specials == 1 {
                // The parameters tell which specialization is meant only where they depend on the template's.
                let primary = best.iter().find(|it| !special(self, it))?;
                let bound = self.bind((primary.1, primary.2), around, &[], args);
                if bound.iter().all(|(_, argument)| *argument == Argument::Unknown) {
                    return None;
                }
                best.retain(|it| special(self, it));
            }
        }
        if best.len() > 1 && best.iter().any(|it| function(self, it).is_some_and(|(_, template, _)| !template)) {
            best.retain(|it| function(self, it).is_some_and(|(_, template, _)| !template));
        }
        match best.as_slice() {
            [(_, module, id, env)] => Some((*module, *id, env.clone())),
            _ => None,
        }
    }

    /// How well arguments fit; `None` where they do not.
    fn score(
        &mut self,
        module: ModuleId,
        id: FunctionId,
        function: &Function,
        env: &TypeEnv,
        args: &[Out],
    ) -> Option<u32> {
        let scope = Scope::new(self.project, module, Some(id), env);
        let mut total = 1;
        for (local, arg) in function.params().iter().zip(args) {
            let param = super::types::canonical(scope.resolve(local.ty));
            total += self.fit(&param, &arg.ty)?;
        }
        Some(total)
    }

    fn fit(&mut self, param: &Ty, arg: &Ty) -> Option<u32> {
        let param = param.decayed();
        let arg = arg.decayed();
        if param == arg {
            return Some(EXACT);
        }
        match (&param, &arg) {
            (Ty::Unknown | Ty::Auto | Ty::Function, _) | (_, Ty::Unknown | Ty::Auto) => Some(2),
            (Ty::Pointer(to), Ty::Library(..)) if matches!(**to, Ty::Function | Ty::Unknown) => Some(4),
            (Ty::Pointer(to), Ty::Pointer(from)) => match (&**to, &**from) {
                (Ty::Void, _) | (_, Ty::Void) => Some(3),
                (Ty::Unknown, _) | (_, Ty::Unknown) => Some(2),
                (to, from) if self.offset_of_base(from, to).is_some() => Some(5),
                _ => None,
            },
            (Ty::Record(..), Ty::Record(..)) if self.offset_of_base(&arg, &param).is_some() => Some(5),
            (Ty::Record(entry, _), _) => self.has_constructor(*entry).then_some(1),
            (_, Ty::Record(..)) => Some(1),
            (Ty::Vector { name: a, .. }, Ty::Vector { name: b, .. }) => {
                // `uint3` turns into `dim3` by its constructor.
                (a == "dim3" && b == "uint3" || b == "dim3" && a == "uint3").then_some(4)
            }
            (Ty::Library(a, _), Ty::Library(b, _)) => {
                let last = |name: &str| name.rsplit("::").next().unwrap_or(name).to_owned();
                (last(a) == last(b)).then_some(6)
            }
            (Ty::Library(..), _) | (_, Ty::Library(..)) => Some(1),
            (param, arg) => {
                let (to, from) = (param.promoted()?, arg.promoted()?);
                if *param == from {
                    return Some(6);
                }
                match (&to, &from) {
                    (Ty::Float { bytes: a }, Ty::Float { bytes: b }) if a > b => Some(6),
                    _ => Some(4),
                }
            }
        }
    }
}

/// Whether a function can be called with so many arguments.
pub(super) fn takes(function: &Function, args: usize) -> bool {
    let params = function.params();
    let required = params.iter().take_while(|param| param.init.is_none()).count();
    let pack = function.template_params.iter().any(|param| param.pack);
    args >= required && (function.variadic || pack || args <= params.len())
}
