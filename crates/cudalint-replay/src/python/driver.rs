//! Launches by `cuda-python`: `cuLaunchKernel`, whose arguments are packed as addresses, and `cuda.core.launch`.

use super::Walker;
use super::calls::Args;
use super::native::NativeLaunch;
use super::value::{Dims, Dtype, Kind, Native, Val};
use crate::facts::Site;
use crate::host::ObjId;
use crate::quantity::Quantity;
use cudalint_program::api::ApiId;
use cudalint_program::api::packages::PythonOp;
use cudalint_program::ir::ExprId;
use std::rc::Rc;

/// Most values of an array that are kept to see which arguments it packs.
const MAX_PACK: usize = 64;

impl Walker<'_> {
    /// `cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra)`.
    pub(super) fn driver_launch(&mut self, id: ExprId, args: &Args) {
        let native = match args.positional.first().map(|value| &value.kind) {
            Some(Kind::Native(native)) if args.positional.len() >= 10 && args.exprs.len() == args.positional.len() => {
                Rc::clone(native)
            }
            _ => {
                args.positional.iter().for_each(|value| self.lose(value));
                return;
            }
        };
        let dims = |w: &mut Self, first: usize| {
            let axes = [first, first + 1, first + 2].map(|at| {
                let value = &args.positional[at];
                w.as_int(value).map_or_else(Val::unknown, |q| Val { kind: Kind::Int(q), why: value.why.clone() })
            });
            let span = cudalint_syntax::Span::new(
                w.span(args.exprs[first]).start as usize,
                w.span(args.exprs[first + 2]).end as usize,
            );
            let module = w.module_id();
            Dims { axes, text: w.project.text(module, span).to_owned(), site: Site { module, span } }
        };
        let (grid, block) = (dims(self, 1), dims(self, 4));
        let packed = args.positional[9].clone();
        let values = self.packed_arguments(&packed);
        if values.is_none() {
            self.lose(&packed);
        }
        let name = self.text(args.exprs[0]).to_owned();
        let shared = args.positional.get(7).cloned();
        let launch = NativeLaunch { name, grid, block, values, shared, prepared: false, divided: None };
        self.launch_native(id, &native, launch);
    }

    /// What the arguments of a launch are, behind the addresses that are handed over.
    fn packed_arguments(&mut self, packed: &Val) -> Option<Vec<(Val, Option<ExprId>)>> {
        match &packed.kind {
            Kind::Int(Quantity::Known(0)) | Kind::None => Some(Vec::new()),
            Kind::Memory(buffer, _) => self.behind_addresses(*buffer),
            Kind::Array(array) => self.behind_addresses(array.buffer),
            // `((d_a, n), (None, ctypes.c_int))`.
            Kind::Tuple(parts) => {
                let [values, types] = &parts[..] else { return None };
                let (values, types) = (self.items(values)?, self.items(types)?);
                if values.len() != types.len() {
                    return None;
                }
                let typed = |(value, ty): (Val, Val)| match &ty.kind {
                    Kind::Dtype(dtype) => (number(&value, *dtype), None),
                    _ => (value, None),
                };
                Some(values.into_iter().zip(types).map(typed).collect())
            }
            _ => None,
        }
    }

    fn behind_addresses(&self, buffer: ObjId) -> Option<Vec<(Val, Option<ExprId>)>> {
        let addresses = self.packs.get(&buffer)?;
        let behind = |address: &Val| {
            let Kind::Memory(at, Quantity::Known(0)) = &address.kind else { return Val::unknown() };
            let dtype = self.heap.buffer(*at).map_or(Dtype::Unknown, |buffer| buffer.info.dtype);
            match self.packs.get(at).map(AsRef::as_ref) {
                Some([only]) => number(only, dtype),
                _ => Val::unknown(),
            }
        };
        Some(addresses.iter().map(|address| (behind(address), None)).collect())
    }

    /// Takes note of what a small array of the host is made of: it may pack arguments of a launch.
    pub(super) fn note_pack(&mut self, made: &Val, args: &Args) {
        let (Kind::Array(array), Some(from)) = (&made.kind, args.positional.first()) else { return };
        let values = match &from.kind {
            Kind::List(_) | Kind::Tuple(_) => match self.items(from) {
                Some(items) if items.len() <= MAX_PACK => items,
                _ => return,
            },
            Kind::Int(_) | Kind::Float(_) | Kind::Number(..) | Kind::Memory(..) => vec![from.clone()],
            _ => return,
        };
        let plain = |value: &Val| {
            matches!(
                value.kind,
                Kind::Int(_) | Kind::Float(_) | Kind::Number(..) | Kind::Memory(..) | Kind::Unknown | Kind::Open(_)
            )
        };
        if values.iter().all(plain) {
            self.packs.insert(array.buffer, values.into());
        }
    }

    /// `LaunchConfig(grid, block=…, shmem_size=…)`: a tuple that only [`Self::core_launch`] takes apart.
    pub(super) fn configuration(args: &Args, name: &str) -> Val {
        let part = |name: &str| args.named(name).cloned();
        let grid = part("grid").or_else(|| args.positional.first().cloned()).unwrap_or_else(Val::unknown);
        let block = part("block").unwrap_or_else(Val::unknown);
        let shared = part("shmem_size").unwrap_or_else(|| Val::int(0));
        Val::tuple(vec![Val::package(name), grid, block, shared])
    }

    /// `launch(stream, config, kernel, *arguments)`.
    pub(super) fn core_launch(&mut self, id: ExprId, args: &Args) {
        let lost = |w: &mut Self| args.positional.iter().for_each(|value| w.lose(value));
        let ([_, config, kernel, rest @ ..], [_, config_expr, kernel_expr, ..]) =
            (args.positional.as_slice(), args.exprs.as_slice())
        else {
            return lost(self);
        };
        let (Kind::Native(native), Kind::Tuple(parts)) = (&kernel.kind, &config.kind) else { return lost(self) };
        let [marker, grid, block, shared] = &parts[..] else { return lost(self) };
        let is_config =
            |path: &str| ApiId::of_python(path).is_some_and(|api| api.python_ops().any(|op| op == PythonOp::Config));
        if args.open || !matches!(&marker.kind, Kind::Package(path) if is_config(path)) {
            return lost(self);
        }
        let native: Rc<Native> = Rc::clone(native);
        let (text, site) = (self.text(*config_expr).to_owned(), self.expr_site(*config_expr));
        let grid = self.dims(grid, text.clone(), site);
        let block = self.dims(block, text, site);
        let values =
            rest.iter().cloned().enumerate().map(|(at, value)| (value, args.exprs.get(at + 3).copied())).collect();
        let values = Some(values);
        let name = self.text(*kernel_expr).to_owned();
        let shared = Some(shared.clone());
        self.launch_native(
            id,
            &native,
            NativeLaunch { name, grid, block, values, shared, prepared: false, divided: None },
        );
    }

    /// The text of a program as memory: it stands for the program.
    pub(super) fn program_attribute(&self, object: &Val, name: &str) -> Option<Val> {
        let text = matches!((&object.kind, name), (Kind::Program(_), "ctypes" | "data" | "code"));
        text.then(|| object.clone())
    }
}

/// A value in an array of a type; an address is one in whatever it stands.
fn number(value: &Val, dtype: Dtype) -> Val {
    match &value.kind {
        Kind::Int(_) | Kind::Float(_) => {
            Val { kind: Kind::Number(dtype, Rc::new(value.clone())), why: value.why.clone() }
        }
        Kind::Number(..) | Kind::Memory(..) | Kind::Array(_) => value.clone(),
        _ => Val::unknown(),
    }
}
