//! Static types of expressions.

use crate::crowd::Entry;
use crate::ir::{
    BinaryOp, Expr, ExprId, FunctionId, LocalId, ModuleId, Path, Stmt, StmtId, TemplateArg, UnaryOp, Variable,
};
use crate::name::Name;
use crate::scope::{Context, inner_path, record_around};
use crate::types::{Argument, Ty, TypeEnv, is_pointer_like, is_sequence, lane_named};
use cudalint_numbers::Quantity;
use std::sync::Arc;

impl Context<'_> {
    pub fn type_of(&self, expr: ExprId) -> Ty {
        self.budget.deeper(|| self.type_of_inner(expr)).unwrap_or(Ty::Unknown)
    }

    fn type_of_inner(&self, id: ExprId) -> Ty {
        let Some(expr) = self.expr(id) else { return Ty::Unknown };
        match expr {
            Expr::Int { bytes, signed, .. } => Ty::Int { bytes: *bytes, signed: *signed },
            Expr::OnDevice => Ty::Int { bytes: 1, signed: false },
            Expr::Float { bytes, .. } => Ty::Float { bytes: *bytes },
            Expr::Str(text) => Ty::Array(Arc::new(Ty::Int { bytes: 1, signed: true }), (text.len() as i64 + 1).into()),
            Expr::Null => Ty::pointer_to(Ty::Void),
            Expr::Local(local) => self.type_of_local(*local),
            Expr::Name { path, targs } => match (self.owner(id), path.last()) {
                (Some(Ty::Record(entry, env)), Some(name)) => self.type_of_static(entry, &env, name),
                _ => self.type_of_name(path, targs),
            },
            Expr::This => match record_around(self.project, self.module, self.inside) {
                Some(entry) => Ty::pointer_to(Ty::Record(entry, self.env.clone())),
                None => Ty::Unknown,
            },
            Expr::Unary(UnaryOp::Not, _) | Expr::AndThen(..) | Expr::OrElse(..) => Ty::Bool,
            Expr::Unary(_, value) => self.type_of(*value).promoted().unwrap_or(Ty::Unknown),
            Expr::Binary(op, a, b) => self.type_of_binary(*op, *a, *b),
            Expr::Assign { target, .. } | Expr::Step { target, .. } => self.type_of(*target),
            Expr::Select(_, a, b) => {
                let (a_ty, b_ty) = (self.type_of(*a), self.type_of(*b));
                if matches!(self.expr(*a), Some(Expr::Null)) {
                    return b_ty.decayed();
                }
                if a_ty.value() == b_ty.value() || matches!(self.expr(*b), Some(Expr::Null)) {
                    return a_ty.decayed();
                }
                a_ty.common(&b_ty).unwrap_or(Ty::Unknown)
            }
            Expr::Cast { ty, .. } | Expr::Construct { ty, .. } => self.resolve(*ty),
            Expr::SizeOfType(_) | Expr::SizeOfExpr(_) => Ty::SIZE,
            Expr::Index { base, indices } if indices.len() == 1 => {
                self.type_of(*base).element().cloned().unwrap_or(Ty::Unknown)
            }
            Expr::Member { base, name, arrow } => {
                let base = self.type_of(*base);
                match arrow {
                    true => base.element().map_or(Ty::Unknown, |object| self.member(object, name)),
                    false => self.member(&base, name),
                }
            }
            Expr::Deref(value) => self.type_of(*value).element().cloned().unwrap_or(Ty::Unknown),
            Expr::AddressOf(value) => match self.type_of(*value) {
                Ty::Unknown => Ty::Unknown,
                ty if self.project.overloads_address(&ty) => Ty::Unknown,
                ty => Ty::pointer_to(ty.value().clone()),
            },
            Expr::Call { callee, args } => self.type_of_call(*callee, args),
            Expr::New { ty, .. } | Expr::Place { ty, .. } => Ty::pointer_to(self.resolve(*ty)),
            Expr::Comma(values) => values.last().map_or(Ty::Unknown, |last| self.type_of(*last)),
            Expr::Statements(block) => self.type_of_statements(block),
            Expr::Delete { .. } | Expr::Throw(_) => Ty::Void,
            Expr::Launch(launch) if launch.chevron => Ty::Void,
            Expr::Index { .. }
            | Expr::Launch(_)
            | Expr::InitList(_)
            | Expr::Designated { .. }
            | Expr::Lambda { .. }
            | Expr::Python(_)
            | Expr::Unknown(_) => Ty::Unknown,
        }
    }

    fn type_of_local(&self, local: LocalId) -> Ty {
        let Some(variable) = self.code_function().and_then(|function| function.locals.get(local)) else {
            return Ty::Unknown;
        };
        let declared = self.resolve(variable.ty);
        match (&declared, variable.init) {
            (Ty::Auto, Some(init)) => self.type_of(init).decayed(),
            (Ty::Pointer(to), Some(init)) if **to == Ty::Auto => self.type_of(init).decayed(),
            (Ty::Reference(to), Some(init)) if **to == Ty::Auto => self.type_of(init).value().clone(),
            // `int a[] = {1, 2, 3};` and `char s[] = "…";`
            (Ty::Array(of, Quantity::Unknown), Some(init)) => match self.expr(init) {
                Some(Expr::InitList(values)) if !values.iter().any(|value| self.is_designated(*value)) => {
                    Ty::Array(Arc::clone(of), (values.len() as i64).into())
                }
                Some(Expr::Construct { args, braces: true, .. }) => {
                    Ty::Array(Arc::clone(of), (args.len() as i64).into())
                }
                Some(Expr::Str(text)) => Ty::Array(Arc::clone(of), (text.len() as i64 + 1).into()),
                _ => declared,
            },
            // An array parameter is a pointer.
            (Ty::Array(of, _), None) if self.is_param(local) => Ty::Pointer(Arc::clone(of)),
            (Ty::Auto, None) => Ty::Unknown,
            _ => declared,
        }
    }

    fn is_param(&self, local: LocalId) -> bool {
        self.code_function().is_some_and(|function| local.0 < function.param_count)
    }

    fn is_designated(&self, value: ExprId) -> bool {
        matches!(self.expr(value), Some(Expr::Designated { .. }))
    }

    fn type_of_name(&self, path: &Path, targs: &[TemplateArg]) -> Ty {
        if let [name] = &*path.segments {
            match name.as_str() {
                "threadIdx" | "blockIdx" => return Ty::vector("uint3"),
                "blockDim" | "gridDim" => return Ty::vector("dim3"),
                "warpSize" => return Ty::INT,
                _ => {}
            }
            if self.env.get(name).is_some() {
                return self.type_of_param(name);
            }
            // A member of `this`.
            if let Some(entry) = record_around(self.project, self.module, self.inside) {
                let own = self.member(&Ty::Record(entry, self.env.clone()), name);
                if own != Ty::Unknown {
                    return own;
                }
            }
        }
        if let Some(entry) = self.project.global(self.module, self.inside, path)
            && let Some(global) = self.project.global_at(entry)
        {
            let env = TypeEnv::default();
            let at = self.at(entry.module, &global.scope, &env);
            return match (at.resolve(global.ty), global.init) {
                (Ty::Auto, Some(init)) => at.type_of(init).decayed(),
                (Ty::Array(of, Quantity::Unknown), Some(init)) => match at.expr(init) {
                    Some(Expr::InitList(values)) if !values.iter().any(|value| at.is_designated(*value)) => {
                        Ty::Array(of, (values.len() as i64).into())
                    }
                    Some(Expr::Str(text)) => Ty::Array(of, (text.len() as i64 + 1).into()),
                    _ => Ty::Array(of, Quantity::Unknown),
                },
                (ty, _) => ty,
            };
        }
        if let Some(of) = self.project.enumerator(self.module, self.inside, path) {
            return self.enum_of(of);
        }
        if self.project.function_named(self.module, self.inside, path).is_some() {
            return Ty::Function;
        }
        let _ = targs;
        Ty::Unknown
    }

    /// The type of a value parameter of the template around.
    pub fn type_of_param(&self, name: &str) -> Ty {
        let of_function = self.code_function().map(|function| function.template_params.as_slice());
        let record = record_around(self.project, self.module, self.inside);
        let of_record = record.and_then(|entry| self.project.record_at(entry));
        let params = of_function.into_iter().chain(of_record.map(|record| record.template_params.as_slice())).flatten();
        params
            .filter(|param| param.name == *name)
            .find_map(|param| param.value_type)
            .map_or(Ty::Unknown, |ty| self.resolve(ty))
    }

    /// The type of a member of a record or vector type.
    pub fn member(&self, of: &Ty, name: &str) -> Ty {
        match of.value() {
            Ty::Vector { lane, lanes, .. } => match lane_named(name) {
                Some(at) if at < *lanes => Ty::of_scalar(*lane),
                _ => Ty::Unknown,
            },
            Ty::Record(entry, env) => {
                let Some((owner, env, field)) = self.field(*entry, env, name) else { return Ty::Unknown };
                self.field_type(owner, &env, field)
            }
            _ => Ty::Unknown,
        }
    }

    /// The type of a record's own field.
    pub fn field_type(&self, owner: Entry, env: &TypeEnv, field: &Variable) -> Ty {
        let Some(record) = self.project.record_at(owner) else { return Ty::Unknown };
        let inside = inner_path(&record.scope, &record.name);
        self.at(owner.module, &inside, env).resolve(field.ty)
    }

    /// The type of a record's static member or enumerator.
    fn type_of_static(&self, entry: Entry, env: &TypeEnv, name: &Name) -> Ty {
        let Some(record) = self.project.record_at(entry) else { return Ty::Unknown };
        let inside = inner_path(&record.scope, &record.name);
        let path = inside.within(name.clone());
        let here = self.at(entry.module, &inside, env);
        if let Some(found) = self.project.global(entry.module, &inside, &path)
            && let Some(global) = self.project.global_at(found).filter(|global| global.scope == inside)
        {
            return here.resolve(global.ty);
        }
        match self.project.enumerator(entry.module, &inside, &path) {
            Some(of) => here.enum_of(of),
            None if self.project.function_named(entry.module, &inside, &path).is_some() => Ty::Function,
            None => Ty::Unknown,
        }
    }

    fn type_of_binary(&self, op: BinaryOp, a: ExprId, b: ExprId) -> Ty {
        if op.is_comparison() {
            return Ty::Bool;
        }
        let (left, right) = (self.type_of(a), self.type_of(b));
        let pointer = |ty: &Ty| matches!(ty.decayed(), Ty::Pointer(_));
        match op {
            BinaryOp::Shl | BinaryOp::Shr => left.promoted().unwrap_or(Ty::Unknown),
            BinaryOp::Sub if pointer(&left) && pointer(&right) => Ty::Int { bytes: 8, signed: true },
            BinaryOp::Add | BinaryOp::Sub if pointer(&left) => left.decayed(),
            BinaryOp::Add if pointer(&right) => right.decayed(),
            _ => left.common(&right).unwrap_or(Ty::Unknown),
        }
    }

    fn type_of_call(&self, callee: ExprId, args: &[ExprId]) -> Ty {
        if let Some((module, function, env)) = self.callee(callee, args) {
            return self.returned(module, function, &env);
        }
        match self.expr(callee) {
            Some(Expr::Name { path, .. }) => {
                let Some(name) = path.last() else { return Ty::Unknown };
                if !self.project.overloads(self.module, self.inside, path).is_empty() {
                    return Ty::Unknown;
                }
                self.library_call(name, args)
            }
            Some(Expr::Member { base, name, arrow }) => {
                let base = self.type_of(*base);
                let object = if *arrow { base.element().cloned().unwrap_or(Ty::Unknown) } else { base };
                library_method(&object, name)
            }
            _ => Ty::Unknown,
        }
    }

    /// What a function of the project returns.
    fn returned(&self, module: ModuleId, function: FunctionId, env: &TypeEnv) -> Ty {
        let Some(found) = self.project.function_at(module, function) else { return Ty::Unknown };
        let unbound: Vec<_> = record_around(self.project, module, &found.scope)
            .and_then(|entry| self.project.record_at(entry))
            .into_iter()
            .flat_map(|record| &record.template_params)
            .filter(|param| env.get(&param.name).is_none())
            .map(|param| (param.name.clone(), Argument::Unknown))
            .collect();
        let env = env.with(unbound);
        match self.at(module, &found.scope, &env).resolve(found.returns) {
            Ty::Auto => Ty::Unknown,
            ty => ty,
        }
    }

    fn library_call(&self, name: &str, args: &[ExprId]) -> Ty {
        let first = || args.first().map_or(Ty::Unknown, |arg| self.type_of(*arg).decayed());
        match name {
            "strlen" | "fread" | "fwrite" | "wcslen" => Ty::SIZE,
            "malloc" | "calloc" | "realloc" | "memcpy" | "memset" | "memmove" | "aligned_alloc" => {
                Ty::pointer_to(Ty::Void)
            }
            "atoi" | "rand" | "printf" | "getchar" => Ty::INT,
            "atol" | "strtol" | "atoll" | "strtoll" => Ty::Int { bytes: 8, signed: true },
            "strtoul" | "strtoull" => Ty::SIZE,
            "atof" | "strtod" => Ty::DOUBLE,
            "raw_pointer_cast" => match first().element() {
                Some(to) => Ty::pointer_to(to.clone()),
                None => Ty::Unknown,
            },
            "sqrtf" | "ceilf" | "floorf" | "powf" | "expf" | "logf" | "log2f" | "fabsf" | "sinf" | "cosf" | "fmaxf"
            | "fminf" | "roundf" => Ty::Float { bytes: 4 },
            "sqrt" | "ceil" | "floor" | "pow" | "exp" | "log" | "log2" | "fabs" | "round" => match first() {
                Ty::Float { bytes } => Ty::Float { bytes },
                Ty::Unknown => Ty::Unknown,
                _ => Ty::DOUBLE,
            },
            "min" | "max" | "move" | "forward" => match args {
                [one] => self.type_of(*one),
                [a, b] => self.type_of(*a).common(&self.type_of(*b)).unwrap_or(Ty::Unknown),
                _ => Ty::Unknown,
            },
            _ => Ty::Unknown,
        }
    }

    fn type_of_statements(&self, block: &[StmtId]) -> Ty {
        match block.last().and_then(|last| self.code().stmts.get(*last)).map(|node| &node.kind) {
            Some(Stmt::Expr(value)) => self.type_of(*value),
            _ => Ty::Unknown,
        }
    }
}

/// What a method of a library container or smart pointer returns.
fn library_method(object: &Ty, method: &str) -> Ty {
    let Ty::Library(name, args) = object.value() else { return Ty::Unknown };
    let string = matches!(&**name, "std::string" | "string");
    let element = match args.first() {
        Some(Argument::Type(ty)) => Some(ty.clone()),
        _ if string => Some(Ty::Int { bytes: 1, signed: true }),
        _ => None,
    };
    let Some(element) = element else { return Ty::Unknown };
    if is_sequence(name) || string {
        return match method {
            "size" | "capacity" | "length" => Ty::SIZE,
            "empty" => Ty::Bool,
            "data" if name.ends_with("device_vector") => {
                Ty::Library("thrust::device_ptr".into(), vec![Argument::Type(element)].into())
            }
            "data" | "c_str" => Ty::pointer_to(element),
            "front" | "back" | "at" => element,
            _ => Ty::Unknown,
        };
    }
    match method {
        "get" if is_pointer_like(name) => Ty::pointer_to(element),
        _ => Ty::Unknown,
    }
}
