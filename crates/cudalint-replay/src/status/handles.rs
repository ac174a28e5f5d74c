//! Plans that a library makes and is given later. Where one could not be made, each call that is given it fails, so that somebody who looks
//! at all of these calls sees it.

use super::build::Builder;
use super::flow::{CallSite, Callee, Given, Known};
use super::join::Join;
use super::report::weight;
use crate::facts::{StatusUse, StatusWeight};
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Library;
use cudalint_program::ir::{Expr, ExprId};
use rustc_hash::FxHashMap;

/// Whether a library says so when it is given what it could not make: cuFFT sets such a plan to 0, and its calls return
/// `CUFFT_INVALID_PLAN` (tried with version 10.9). cuBLAS leaves a handle as it was, and reads through it.
fn refuses_others(library: Library) -> bool {
    library == Library::CuFft
}

impl Builder<'_> {
    /// The variables and members among a call's arguments, where it may be one of a library, or hand them on to one.
    pub(super) fn given(&self, callee: &Callee, args: &[ExprId]) -> Box<[Given]> {
        let counts = match callee {
            Callee::Api(api) => refuses_others(api.library),
            Callee::Macro(_) => false,
            _ => true,
        };
        if !counts {
            return Box::default();
        }
        args.iter().enumerate().filter_map(|(at, arg)| self.named(*arg, at == 0)).collect()
    }

    fn named(&self, arg: ExprId, first: bool) -> Option<Given> {
        let kind = |id: ExprId| self.module.exprs.get(id).map(|node| &node.kind);
        let bare = |id: ExprId| match kind(id) {
            Some(Expr::Cast { value, .. }) => *value,
            _ => id,
        };
        let (place, made) = match kind(bare(arg)) {
            Some(Expr::AddressOf(place)) => (*place, first),
            _ => (bare(arg), false),
        };
        let (name, known) = match kind(place)? {
            Expr::Local(local) => (&self.function.locals.get(*local)?.name, Known::Function),
            Expr::Member { name, .. } => (name, Known::Project),
            Expr::Name { path, .. } => (path.last()?, Known::Module),
            _ => return None,
        };
        (!name.is_empty()).then(|| Given { name: name.clone(), known, made })
    }
}

impl<'a> Join<'a> {
    /// Whether a call makes something that all others are looked at which are given it.
    pub(super) fn is_seen_in_use(&self, index: usize, call: usize) -> bool {
        let Some(site) = self.function(index).flow.calls.get(call) else { return false };
        let Some((api, made)) = site.makes() else { return false };
        let calls: Vec<(usize, usize)> = match made.known {
            Known::Function => (0..self.function(index).flow.calls.len()).map(|at| (index, at)).collect(),
            Known::Module | Known::Project => self.users().get(made.name.as_str()).cloned().unwrap_or_default(),
        };
        let mut looked_at = false;
        for (function, at) in calls {
            let is_it = |given: &&Given| given.name == made.name && given.known == made.known;
            let other = &self.function(function).flow.calls[at];
            let elsewhere = made.known == Known::Module && self.functions[function].0 != self.functions[index].0;
            let Some(given) = other.given.iter().find(is_it).filter(|_| !elsewhere) else { continue };
            match &other.callee {
                // It may be made again, set up and given back.
                Callee::Api(own) if own.library == api.library => match self.usage(function, at) {
                    StatusUse::Consumed => looked_at |= !given.made,
                    _ if given.made || weight(*own) == StatusWeight::Teardown => {}
                    _ => return false,
                },
                _ => return false,
            }
        }
        looked_at
    }

    fn users(&self) -> &FxHashMap<&'a str, Vec<(usize, usize)>> {
        self.users.get_or_init(|| {
            let mut users: FxHashMap<&'a str, Vec<(usize, usize)>> = FxHashMap::default();
            for index in 0..self.functions.len() {
                for (at, site) in self.function(index).flow.calls.iter().enumerate() {
                    for given in site.given.iter().filter(|given| given.known != Known::Function) {
                        users.entry(given.name.as_str()).or_default().push((index, at));
                    }
                }
            }
            users
        })
    }
}

impl CallSite {
    /// What a call of a library makes, if it may make something.
    fn makes(&self) -> Option<(ApiId, &Given)> {
        let Callee::Api(api) = self.callee else { return None };
        let made = self.given.iter().find(|given| given.made);
        made.filter(|_| refuses_others(api.library)).map(|made| (api, made))
    }
}
