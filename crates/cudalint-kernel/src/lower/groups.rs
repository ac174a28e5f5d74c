//! Cooperative groups, by the static type of the group.

use super::state::{Lowerer, Out};
use crate::code::{self, BinaryOp, Builtin, Effect, Expr, ExprId, Group, Intrinsic, Shuffle, Vote};
use crate::report::Site;
use cudalint_program::ir::Path;
use cudalint_program::types::{Argument, Ty};

const UINT: Ty = Ty::Int { bytes: 4, signed: false };

/// A group by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Known(Group),
    /// `thread_group`, clusters, several grids, parts of a group by label.
    Unknown,
}

/// The kind of group that a type is; `None` for other types.
pub(super) fn kind_of(ty: &Ty) -> Option<Kind> {
    let Ty::Library(name, args) = ty.value() else { return None };
    Some(match name.rsplit("::").next()? {
        "thread_block" => Kind::Known(Group::Block),
        "grid_group" => Kind::Known(Group::Grid),
        "coalesced_group" => Kind::Known(Group::Coalesced),
        "thread_block_tile" => match args.first().and_then(Argument::number) {
            Some(lanes @ 1..=32) => Kind::Known(Group::Tile(lanes as u8)),
            _ => Kind::Unknown,
        },
        "thread_group" | "multi_grid_group" | "cluster_group" | "group_base" => Kind::Unknown,
        _ => return None,
    })
}

fn group_type(name: &str, lanes: Option<i64>) -> Ty {
    let args: Vec<Argument> = lanes.map(|lanes| Argument::Value(lanes.into())).into_iter().collect();
    Ty::Library(format!("cooperative_groups::{name}").into(), args.into())
}

/// A tile of so many lanes, as a part of another group.
fn tile_type(lanes: Option<i64>, of: &Ty) -> Ty {
    let args = match lanes {
        Some(lanes) => vec![Argument::Value(lanes.into()), Argument::Type(of.value().clone())],
        None => Vec::new(),
    };
    Ty::Library("cooperative_groups::thread_block_tile".into(), args.into())
}

/// The group that a tile is a part of: that of its type, or where that does not say it, the block of a whole warp.
fn parent_of(ty: &Ty) -> Option<Group> {
    let Ty::Library(_, args) = ty.value() else { return None };
    match (args.get(1), kind_of(ty)) {
        (Some(Argument::Type(of)), _) => match kind_of(of) {
            Some(Kind::Known(group @ (Group::Block | Group::Tile(_)))) => Some(group),
            _ => None,
        },
        (None, Some(Kind::Known(Group::Tile(32)))) => Some(Group::Block),
        _ => None,
    }
}

impl Lowerer<'_> {
    fn group_value(&mut self, children: Vec<ExprId>, ty: Ty, site: Site) -> Out {
        if kind_of(&ty).is_none() {
            return self.unknown(children, Effect::None, ty, site);
        }
        let id = self.int(0, code::Ty::INT, site);
        let value = self.computed(id, ty, site);
        self.after(children, &value, site)
    }

    /// Functions that make groups or work on them.
    pub(super) fn group_function(
        &mut self,
        path: &Path,
        explicit: &[Argument],
        args: &[Out],
        site: Site,
    ) -> Option<Out> {
        let name = path.last()?.as_str();
        let made = match (name, args) {
            ("this_thread_block", []) => Some(group_type("thread_block", None)),
            ("this_grid", []) => Some(group_type("grid_group", None)),
            ("coalesced_threads", []) => Some(group_type("coalesced_group", None)),
            ("this_thread", []) => Some(group_type("thread_block_tile", Some(1))),
            ("this_cluster", []) => Some(group_type("cluster_group", None)),
            ("this_multi_grid", []) => Some(group_type("multi_grid_group", None)),
            _ => None,
        };
        if let Some(ty) = made {
            return Some(self.group_value(Vec::new(), ty, site));
        }
        match (name, args) {
            ("tiled_partition", [of]) => {
                let lanes = explicit.first().and_then(Argument::number);
                Some(self.group_value(Vec::new(), tile_type(lanes, &of.ty), site))
            }
            ("tiled_partition", [of, lanes]) => {
                let id = self.load(lanes);
                let ty = match self.fold(id) {
                    Some(lanes) => tile_type(Some(lanes), &of.ty),
                    None => group_type("thread_group", None),
                };
                Some(self.group_value(vec![id], ty, site))
            }
            ("labeled_partition" | "binary_partition", [_, label]) => {
                let id = self.load(label);
                // The lanes of the parent that took part wait for one another.
                Some(self.group_value(vec![id], group_type("thread_group", None), site))
            }
            ("memcpy_async", [group, rest @ ..]) => {
                let (what, rest) = match kind_of(&group.ty) {
                    Some(Kind::Known(Group::Thread | Group::Tile(1))) => (Intrinsic::AsyncCopy, rest),
                    Some(_) => (Intrinsic::GroupAsyncCopy, rest),
                    None => (Intrinsic::AsyncCopy, args),
                };
                let [to, from, bytes, ..] = rest else { return None };
                let operands = vec![self.load(to), self.load(from), self.convert(bytes, &Ty::SIZE)];
                Some(self.intrinsic(what, operands, Ty::Void, site))
            }
            // Free functions over a pipeline: they do what the methods do.
            ("pipeline_consumer_wait_prior", [pipe, ..]) => self.synchronizer_method(pipe, "consumer_wait", &[], site),
            ("pipeline_producer_commit", [_, barrier, ..]) => self.synchronizer_method(barrier, "arrive", &[], site),
            ("make_pipeline", []) => {
                let ty = Ty::Library("cuda::pipeline".into(), vec![Argument::Value(0.into())].into());
                Some(self.group_value(Vec::new(), ty, site))
            }
            ("make_pipeline", _) => {
                let ty = Ty::Library("cuda::pipeline".into(), Vec::new().into());
                let children = self.loads(args);
                Some(self.group_value(children, ty, site))
            }
            (_, [group, rest @ ..]) => {
                let kind = kind_of(&group.ty)?;
                match name {
                    "sync" | "wait" | "wait_prior" => Some(self.group_barrier(kind, site)),
                    "thread_rank" | "size" | "group_size" | "num_threads" => self.group_number(kind, name, site),
                    "reduce" => Some(self.group_reduction(kind, rest, site)),
                    "inclusive_scan" | "exclusive_scan" | "invoke_one_broadcast" => {
                        let ty = rest.first().map_or(Ty::Unknown, |value| value.ty.decayed());
                        let children = self.loads(rest.get(..1).unwrap_or(&[]));
                        let value = self.unknown(children, Effect::None, ty, site);
                        Some(self.behind_barrier(kind, &value, site))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A value that all threads of a group make together.
    fn behind_barrier(&mut self, kind: Kind, value: &Out, site: Site) -> Out {
        let barrier = match kind {
            Kind::Known(Group::Tile(lanes)) => Intrinsic::TileBarrier(lanes),
            Kind::Known(Group::Coalesced) => Intrinsic::CoalescedBarrier,
            _ => Intrinsic::UnknownBarrier,
        };
        let barrier = self.intrinsic(barrier, Vec::new(), Ty::Void, site);
        let barrier = self.load(&barrier);
        self.after(vec![barrier], value, site)
    }

    /// `cg::reduce(group, value, op)`: the threads of the group get one value.
    fn group_reduction(&mut self, kind: Kind, args: &[Out], site: Site) -> Out {
        let Some(value) = args.first() else {
            return self.unknown(Vec::new(), Effect::None, Ty::Unknown, site);
        };
        let ty = value.ty.decayed();
        let id = self.load(value);
        let vote = Intrinsic::WarpVote { kind: Vote::Reduce, masked: false };
        let result = match kind {
            Kind::Known(Group::Tile(32) | Group::Coalesced) => self.intrinsic(vote, vec![id], ty, site),
            Kind::Known(Group::Tile(lanes)) => {
                // Each lane has a value of its own until the first lane's is given to all.
                let own = self.pure("reduce", std::slice::from_ref(value), ty.clone(), site);
                let zero = self.int(0, code::Ty::INT, site);
                let width = self.int(i64::from(lanes), code::Ty::INT, site);
                let operands = vec![self.load(&own), zero, width];
                let shuffle = Intrinsic::Shuffle { kind: Shuffle::Index, masked: false };
                self.intrinsic(shuffle, operands, ty, site)
            }
            _ => self.unknown(vec![id], Effect::None, ty, site),
        };
        self.behind_barrier(kind, &result, site)
    }

    fn group_barrier(&mut self, kind: Kind, site: Site) -> Out {
        let what = match kind {
            Kind::Known(Group::Block) => Intrinsic::BlockBarrier,
            Kind::Known(Group::Grid) => Intrinsic::GridBarrier,
            Kind::Known(Group::Tile(lanes)) => Intrinsic::TileBarrier(lanes),
            Kind::Known(Group::Coalesced) => Intrinsic::CoalescedBarrier,
            Kind::Known(Group::Thread) => Intrinsic::TileBarrier(1),
            Kind::Unknown => Intrinsic::UnknownBarrier,
        };
        self.intrinsic(what, Vec::new(), Ty::Void, site)
    }

    fn group_number(&mut self, kind: Kind, name: &str, site: Site) -> Option<Out> {
        let Kind::Known(group) = kind else {
            return Some(self.unknown(Vec::new(), Effect::None, UINT, site));
        };
        let ty = if group == Group::Grid { Ty::Int { bytes: 8, signed: false } } else { UINT };
        let what = match name {
            "thread_rank" => Intrinsic::GroupRank(group),
            "size" | "group_size" | "num_threads" => Intrinsic::GroupSize(group),
            _ => return None,
        };
        Some(self.intrinsic(what, Vec::new(), ty, site))
    }

    fn axes(&mut self, axis: fn(u8) -> Builtin, site: Site) -> Out {
        let parts = (0..3).map(|at| self.push(Expr::Builtin(axis(at)), code::Ty::UINT, site)).collect();
        let ty = Ty::vector("dim3");
        let code_ty = self.ty(&ty);
        let id = self.push(Expr::Aggregate(parts), code_ty, site);
        self.computed(id, ty, site)
    }

    /// A method of a group of a type.
    pub(super) fn group_method(&mut self, ty: &Ty, name: &str, args: &[Out], site: Site) -> Option<Out> {
        let kind = kind_of(ty)?;
        match name {
            "sync" | "barrier_wait" => {
                let barrier = self.group_barrier(kind, site);
                let parts = self.loads(args);
                return Some(self.after(parts, &barrier, site));
            }
            "barrier_arrive" => {
                let ty = Ty::Library("cooperative_groups::arrival_token".into(), Vec::new().into());
                return Some(self.intrinsic(Intrinsic::BarrierObjectArrive, Vec::new(), ty, site));
            }
            "thread_rank" | "size" | "group_size" | "num_threads" => return self.group_number(kind, name, site),
            _ => {}
        }
        match (kind, name) {
            (Kind::Known(Group::Block | Group::Grid), "thread_index") => Some(self.axes(Builtin::ThreadIdx, site)),
            (Kind::Known(Group::Block | Group::Grid), "group_index" | "block_index") => {
                Some(self.axes(Builtin::BlockIdx, site))
            }
            (Kind::Known(Group::Block), "group_dim" | "dim_threads") => Some(self.axes(Builtin::BlockDim, site)),
            (Kind::Known(Group::Grid), "group_dim" | "dim_blocks") => Some(self.axes(Builtin::GridDim, site)),
            (Kind::Known(Group::Grid), "is_valid") => {
                let id = self.int(1, code::Ty::Bool, site);
                Some(self.computed(id, Ty::Bool, site))
            }
            (Kind::Known(Group::Tile(lanes)), "meta_group_rank" | "meta_group_size") => {
                let Some(of) = parent_of(ty) else {
                    return Some(self.unknown(Vec::new(), Effect::None, UINT, site));
                };
                let (what, up) = match name {
                    "meta_group_rank" => (Intrinsic::GroupRank(of), 0),
                    _ => (Intrinsic::GroupSize(of), i64::from(lanes) - 1),
                };
                Some(self.tile_number(what, up, lanes, site))
            }
            (Kind::Known(Group::Tile(lanes)), _) => self.tile_method(lanes, name, args, site),
            (
                kind,
                "shfl" | "shfl_up" | "shfl_down" | "shfl_xor" | "any" | "all" | "ballot" | "match_any" | "match_all",
            ) => {
                let ty = match name {
                    "any" | "all" => Ty::INT,
                    "ballot" | "match_any" | "match_all" => UINT,
                    _ => args.first().map_or(Ty::Unknown, |value| value.ty.decayed()),
                };
                let children = self.loads(args);
                let value = self.unknown(children, Effect::None, ty, site);
                Some(self.behind_barrier(kind, &value, site))
            }
            (
                _,
                "block_rank" | "num_blocks" | "meta_group_rank" | "meta_group_size" | "grid_rank" | "num_grids"
                | "cluster_rank" | "num_clusters",
            ) => Some(self.unknown(Vec::new(), Effect::None, UINT, site)),
            (
                _,
                "get_type" | "get_handle" | "is_valid" | "map_shared_rank" | "query_shared_rank" | "block_index"
                | "thread_index" | "dim_blocks" | "dim_threads",
            ) => {
                let children = self.loads(args);
                Some(self.unknown(children, Effect::None, Ty::Unknown, site))
            }
            _ => None,
        }
    }

    /// A number of a group divided among tiles.
    fn tile_number(&mut self, what: Intrinsic, plus: i64, lanes: u8, site: Site) -> Out {
        let number = self.intrinsic(what, Vec::new(), UINT, site);
        let mut id = self.load(&number);
        if plus > 0 {
            let plus = self.int(plus, code::Ty::UINT, site);
            id = self.push(Expr::Binary(BinaryOp::Add, id, plus), code::Ty::UINT, site);
        }
        let lanes = self.int(i64::from(lanes), code::Ty::UINT, site);
        let id = self.push(Expr::Binary(BinaryOp::Div, id, lanes), code::Ty::UINT, site);
        self.computed(id, UINT, site)
    }

    fn tile_method(&mut self, lanes: u8, name: &str, args: &[Out], site: Site) -> Option<Out> {
        let shuffle = match name {
            "shfl" => Some(Shuffle::Index),
            "shfl_up" => Some(Shuffle::Up),
            "shfl_down" => Some(Shuffle::Down),
            "shfl_xor" => Some(Shuffle::Xor),
            _ => None,
        };
        if let Some(kind) = shuffle {
            let [value, by] = args else { return None };
            let ty = value.ty.decayed();
            let width = self.int(i64::from(lanes), code::Ty::INT, site);
            let operands = vec![self.load(value), self.convert(by, &Ty::INT), width];
            return Some(self.intrinsic(Intrinsic::Shuffle { kind, masked: false }, operands, ty, site));
        }
        let (vote, ty) = match name {
            "any" => (Vote::Any, Ty::INT),
            "all" => (Vote::All, Ty::INT),
            "ballot" => (Vote::Ballot, UINT),
            "match_any" => (Vote::MatchAny, UINT),
            "match_all" => (Vote::MatchAll, UINT),
            _ => return None,
        };
        if lanes == 32 && matches!(vote, Vote::Any | Vote::All | Vote::Ballot) {
            let operands = args.iter().map(|arg| self.convert(arg, &Ty::INT)).collect();
            return Some(self.intrinsic(Intrinsic::WarpVote { kind: vote, masked: false }, operands, ty, site));
        }
        // The lanes of a part of a warp: the value is not followed.
        let children = self.loads(args);
        let value = self.unknown(children, Effect::None, ty, site);
        Some(self.behind_barrier(Kind::Known(Group::Tile(lanes)), &value, site))
    }
}
