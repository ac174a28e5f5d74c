//! Functions of CUDA and of the C and C++ libraries, by name.

use super::numbers::{LONG, number_type};
use super::state::{At, Lowerer, Out};
use crate::code::{self, Effect, Expr, ExprId, Intrinsic};
use crate::report::Site;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::DeviceOp;
use cudalint_program::ir::Path;
use cudalint_program::types::{Argument, Ty};

impl Lowerer<'_> {
    /// A call of a library function; `None` where no such function is known.
    pub(super) fn library(&mut self, path: &Path, explicit: &[Argument], args: &[Out], site: Site) -> Option<Out> {
        let name = path.last()?.clone();
        if path.segments.iter().any(|segment| segment == "numeric_limits") {
            return Some(self.unknown(Vec::new(), Effect::None, Ty::Unknown, site));
        }
        if let Some(out) = self.intrinsic_call(&name, args, site) {
            return Some(out);
        }
        if let Some(out) = self.group_function(path, explicit, args, site) {
            return Some(out);
        }
        if let Some(out) = self.number_function(&name, explicit, args, site) {
            return Some(out);
        }
        self.other_function(path, &name, explicit, args, site)
    }

    /// An operation that the executor knows.
    pub(super) fn intrinsic(&mut self, what: Intrinsic, operands: Vec<ExprId>, ty: Ty, site: Site) -> Out {
        let code_ty = self.ty(&ty);
        let id = self.push(Expr::Intrinsic(what, operands), code_ty, site);
        self.computed(id, ty, site)
    }

    pub(super) fn loads(&mut self, args: &[Out]) -> Vec<ExprId> {
        args.iter().map(|arg| self.load(arg)).collect()
    }

    /// A value that depends on the operands alone.
    pub(super) fn pure(&mut self, name: &str, args: &[Out], ty: Ty, site: Site) -> Out {
        let number = match self.pure_functions.iter().position(|known| known == name) {
            Some(number) => number,
            None => {
                self.pure_functions.push(name.to_owned());
                self.pure_functions.len() - 1
            }
        };
        let children = self.loads(args);
        self.unknown(children, Effect::Pure(number as u32), ty, site)
    }

    fn other_function(
        &mut self,
        path: &Path,
        name: &str,
        explicit: &[Argument],
        args: &[Out],
        site: Site,
    ) -> Option<Out> {
        let none = |this: &mut Self, ty: Ty| {
            let children = this.loads(args);
            Some(this.unknown(children, Effect::None, ty, site))
        };
        let writes = |this: &mut Self, ty: Ty| {
            let children = args.iter().map(|arg| this.escape(arg)).collect();
            Some(this.unknown(children, Effect::Writes, ty, site))
        };
        if let Some(vector) = name.strip_prefix("make_").map(Ty::vector).filter(|ty| *ty != Ty::Unknown) {
            let lanes = args.len().max(1);
            let Ty::Vector { lanes: all, .. } = vector else { return None };
            if args.len() != usize::from(all) {
                return None;
            }
            let id = self.vector_of(&vector, args, lanes, 0, site);
            return Some(self.computed(id, vector, site));
        }
        let api = ApiId::named(name);
        // Complex numbers are vectors of two.
        if let (Some(number), [_, _]) = (api.filter(|api| api.builds_value()).and_then(|api| api.gives), args) {
            let vector = number_type(number);
            let id = self.vector_of(&vector, args, 2, 0, site);
            return Some(self.computed(id, vector, site));
        }
        match api.and_then(|api| api.device_op()) {
            Some(DeviceOp::Clock) if args.is_empty() => return none(self, LONG),
            Some(DeviceOp::Nothing) => return none(self, Ty::Void),
            Some(DeviceOp::Texture { writes: true }) => return none(self, Ty::Void),
            Some(DeviceOp::Texture { writes: false }) => {
                let ty = match explicit.first() {
                    Some(Argument::Type(ty)) => ty.clone(),
                    _ => texture_element(args),
                };
                return none(self, ty);
            }
            Some(DeviceOp::Random) => {
                return writes(self, api.and_then(|api| api.gives).map_or(Ty::Unknown, number_type));
            }
            _ => {}
        }
        match (name, args) {
            ("move" | "forward" | "launder" | "addressof" | "__builtin_expect" | "as_const", [value, ..]) => {
                if name == "addressof" {
                    let id = self.address(value);
                    return Some(self.computed(id, Ty::pointer_to(value.ty.clone()), site));
                }
                Some(value.clone())
            }
            ("swap", [a, b]) => Some(self.swap(a, b, site)),
            ("malloc" | "__nv_malloc", [_]) => none(self, Ty::pointer_to(Ty::Void)),
            ("free", _) => none(self, Ty::Void),
            ("init", [barrier, ..]) if super::library_types::is_barrier_pointer(&barrier.ty) => {
                Some(self.init_barrier(barrier, site))
            }
            // Assertions of libraries out of sight: what they test is read, and they let go on.
            _ if name.contains("ASSERT") || name.starts_with("assert") => none(self, Ty::Void),
            ("make_pair" | "make_tuple" | "tie", _) => none(self, Ty::Unknown),
            ("modf" | "modff" | "frexp" | "frexpf", [value, ..]) => {
                let ty = value.ty.decayed();
                writes(self, ty)
            }
            ("sincos" | "sincosf" | "__sincosf" | "sincospi" | "sincospif" | "remquo" | "remquof", _) => {
                writes(self, Ty::Void)
            }
            ("load_matrix_sync", [fragment, tile, stride, ..]) => {
                let fragment = self.escape(fragment);
                let ty = Ty::Void;
                let loaded = self.unknown(vec![fragment], Effect::Writes, ty, site);
                Some(self.tile(Intrinsic::TileLoad, tile, stride, &loaded, site))
            }
            ("store_matrix_sync", [tile, fragment, stride, ..]) => {
                let fragment = self.escape(fragment);
                let ty = Ty::Void;
                let stored = self.unknown(vec![fragment], Effect::None, ty, site);
                Some(self.tile(Intrinsic::TileStore, tile, stride, &stored, site))
            }
            ("load_matrix_sync" | "store_matrix_sync" | "mma_sync" | "fill_fragment" | "bmma_sync", _) => {
                writes(self, Ty::Void)
            }
            ("declval" | "__builtin_constant_p" | "typeid", _) => none(self, Ty::Unknown),
            ("float2" | "double2", _) => None,
            _ if path.segments.iter().any(|segment| segment == "wmma") => writes(self, Ty::Void),
            _ => None,
        }
    }

    /// A tile of a matrix that a warp reads or writes, after what it does with its fragment.
    fn tile(&mut self, what: Intrinsic, tile: &Out, stride: &Out, fragment: &Out, site: Site) -> Out {
        let element = match tile.ty.decayed() {
            Ty::Pointer(of) => (*of).clone(),
            _ => Ty::Unknown,
        };
        let code_ty = self.ty(&element);
        let operands = vec![self.convert(tile, &tile.ty.decayed()), self.convert(stride, &LONG)];
        let touched = self.push(Expr::Intrinsic(what, operands), code_ty, site);
        let fragment = self.load(fragment);
        let id = self.push(Expr::Sequence(vec![fragment, touched]), code::Ty::Void, site);
        self.computed(id, Ty::Void, site)
    }

    /// What a function that writes through what it is given gets.
    pub(super) fn escape(&mut self, arg: &Out) -> ExprId {
        match arg.at {
            At::Register { .. } if !super::convert::is_scalar(&arg.ty) => self.address(arg),
            At::Memory { address, .. } if !super::convert::is_scalar(&arg.ty) => address,
            _ => self.load(arg),
        }
    }

    fn swap(&mut self, a: &Out, b: &Out, site: Site) -> Out {
        if a.ty != b.ty || a.ty == Ty::Unknown || matches!(a.ty, Ty::Array(..)) {
            let children = vec![self.address(a), self.address(b)];
            return self.unknown(children, Effect::Writes, Ty::Void, site);
        }
        let code_ty = self.ty(&a.ty);
        let variable = self.variable("", code_ty, site);
        let before = self.load(a);
        let keep = self.write_register(variable, before, site);
        let other = self.load(b);
        let first = self.store(a, other);
        let first = self.load(&first);
        let kept = self.read_register(variable, site);
        let second = self.store(b, kept);
        let second = self.load(&second);
        let id = self.push(Expr::Sequence(vec![keep, first, second]), code::Ty::Void, site);
        self.computed(id, Ty::Void, site)
    }
}

/// The element type of a texture reference.
fn texture_element(args: &[Out]) -> Ty {
    match args.first().map(|arg| &arg.ty) {
        Some(Ty::Library(name, of)) if name.starts_with("texture") => match of.first() {
            Some(Argument::Type(ty)) => ty.clone(),
            _ => Ty::Unknown,
        },
        _ => Ty::Unknown,
    }
}
