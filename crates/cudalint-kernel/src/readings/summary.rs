//! What a kernel does with shared memory and with its parameters, the device functions that it calls included.

use super::coverage::{self, CoverageClaim};
use super::dependence::{Dereferenced, Frame, Room};
use super::room::{room_before, room_of};
use super::together::{Together, together};
use crate::code::{
    Block, Code, Effect, Expr, ExprId, FunctionId, Intrinsic, Item, ObjectId, ObjectSpace, Place, Stmt, StmtId,
    VariableId,
};
use crate::report::Site;
use rustc_hash::FxHashMap;

/// How deep calls of device functions are followed.
const MAX_CALLS: u32 = 8;
/// How deep conditions are computed: each level may double the work.
const MAX_CONSTANT_DEPTH: u32 = 8;
/// Deepest nesting of statements and expressions that is read.
const MAX_DEPTH: u32 = 400;
/// Longest way from an address to the object that it leads into.
const MAX_STEPS: u32 = 32;
/// Most addresses of a kernel that are looked at where a pointer may have one of several.
const MAX_ADDRESSES: u32 = 20_000;

/// What a kernel's code says of itself, without a launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelSummary {
    /// Bytes of static shared memory; `None` when some size is out of sight.
    pub static_shared: Option<i64>,
    /// Dynamic shared arrays.
    pub dynamic_shared: Vec<DynamicShared>,
    /// Parameters of the code that the kernel (or a device function it hands them to) dereferences.
    pub dereferenced: Vec<u32>,
    /// Those of them that it dereferences whatever its other parameters are, but for the threads that conditions on their numbers leave out.
    pub surely_dereferenced: Vec<u32>,
    /// Whether no stretch between block-wide barriers touches two dynamic shared arrays: then they take turns on purpose.
    pub barrier_between_dynamic: bool,
    /// Bounds that the kernel tests its global index against, as `index < parameter`.
    pub covers: Vec<CoverageClaim>,
    /// Elements that a thread reaches through two parameters by the same index.
    pub together: Vec<Together>,
    /// Whether some part could not be read.
    pub incomplete: bool,
}

/// A dynamic shared array of a kernel.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // Independent properties of its uses.
pub struct DynamicShared {
    /// Name.
    pub name: String,
    /// Bytes of an element.
    pub element: u32,
    /// Declaration.
    pub site: Site,
    /// First read or write through it.
    pub used: Option<Site>,
    /// Whether some access stands where every thread that runs the kernel at all comes by, or is guarded by thread and
    /// block indices only.
    pub surely_used: bool,
    /// Parameters of the kernel, by number, that all its uses are behind an `if` of: where one of them is 0, it is not used.
    pub asked: Vec<u32>,
    /// Whether it is written.
    pub written: bool,
    /// Whether other arrays are carved out of it.
    pub carved: bool,
    /// Whether each access adds to its index what is the same for all threads, and so leaves room for another array in front.
    pub shifted: bool,
}

/// Reads a kernel.
pub fn summary(code: &Code) -> KernelSummary {
    let of_space = |space| code.objects.iter().enumerate().filter(move |(_, object)| object.space == space);
    let mut summary = KernelSummary {
        static_shared: of_space(ObjectSpace::Shared)
            .try_fold(0_i64, |all, (_, object)| all.checked_add(i64::try_from(object.bytes?).ok()?)),
        covers: coverage::claims(code),
        together: together(code),
        incomplete: code.damaged,
        ..KernelSummary::default()
    };
    let mut arrays: Vec<(ObjectId, DynamicShared)> = of_space(ObjectSpace::DynamicShared)
        .map(|(number, object)| {
            let array = DynamicShared {
                name: object.name.clone(),
                element: object.element,
                site: object.site,
                used: None,
                surely_used: false,
                asked: Vec::new(),
                written: false,
                carved: false,
                shifted: false,
            };
            (ObjectId(number as u32), array)
        })
        .collect();
    let mut reader = Reader {
        code,
        arrays: &mut arrays,
        intervals: vec![Vec::new()],
        dereferenced: FxHashMap::default(),
        returned: FxHashMap::default(),
        asked: Vec::new(),
        left: MAX_ADDRESSES,
        incomplete: false,
    };
    let dereferenced = reader.function(FunctionId(0), true, 0);
    summary.surely_dereferenced = dereferenced.iter().filter(|used| used.surely).map(|used| used.parameter).collect();
    summary.dereferenced = dereferenced.into_iter().map(|used| used.parameter).collect();
    summary.incomplete |= reader.incomplete;
    summary.barrier_between_dynamic = reader.intervals.iter().all(|touched| touched.len() <= 1);
    // Assembly may lay shared memory of its own below.
    if !code.hidden_shared {
        summary.dynamic_shared = arrays.into_iter().map(|(_, array)| array).collect();
    }
    summary
}

/// Where an address comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Dynamic(ObjectId),
    Parameter(VariableId),
}

struct Reader<'c, 's> {
    code: &'c Code,
    arrays: &'s mut Vec<(ObjectId, DynamicShared)>,
    /// The names of the dynamic arrays touched in each stretch between barriers, in source order.
    intervals: Vec<Vec<&'c str>>,
    /// The parameters that functions read so far dereference, and whether they surely do.
    dereferenced: FxHashMap<FunctionId, Vec<Dereferenced>>,
    /// Where what functions return leads.
    returned: FxHashMap<FunctionId, Option<Origin>>,
    /// Parameters of the kernel that the place which is read is behind an `if` of.
    asked: Vec<u32>,
    /// How many more addresses are followed where there are several.
    left: u32,
    incomplete: bool,
}

impl<'c> Reader<'c, '_> {
    /// Reads a function and gives the parameters that it dereferences, and whether it surely does.
    fn function(&mut self, id: FunctionId, sure: bool, calls: u32) -> Vec<Dereferenced> {
        // A function that was read before has had its say about shared memory.
        if let Some(known) = self.dereferenced.get(&id) {
            return known.clone();
        }
        let frame = if calls > MAX_CALLS { None } else { Frame::new(self.code, id, calls) };
        let Some(mut frame) = frame else {
            self.incomplete = true;
            return Vec::new();
        };
        // A call of itself ends here.
        self.dereferenced.insert(id, Vec::new());
        self.carve(&frame);
        let body = &frame.source.function.body;
        self.block(&mut frame, body, sure, 0);
        self.dereferenced.insert(id, frame.dereferenced.clone());
        frame.dereferenced
    }

    /// Finds the arrays that pointers are made from.
    fn carve(&mut self, frame: &Frame<'c>) {
        for value in frame.given.iter().flatten() {
            // An array of Python is its address; a pointer in C++ is one by itself.
            let whole = matches!(frame.source.kind(frame.source.bare(*value)), Expr::ObjectAddress(_));
            if self.code.expr(*value).ty == crate::code::Ty::Pointer
                && !(whole && self.code.dialect.is_some())
                && let Some(Origin::Dynamic(object)) = self.origin(frame, *value, 0)
                && let Some((_, array)) = self.arrays.iter_mut().find(|(id, _)| *id == object)
            {
                array.carved = true;
            }
        }
    }

    fn block(&mut self, frame: &mut Frame<'c>, block: &Block, sure: bool, depth: u32) {
        let mut sure = sure;
        for id in block {
            if depth > MAX_DEPTH {
                self.incomplete = true;
                return;
            }
            sure = self.statement(frame, *id, sure, depth + 1);
            if matches!(self.code.stmt(*id).kind, Stmt::Return(_)) {
                return;
            }
        }
    }

    /// Reads a statement; says whether what follows it is sure to be come by.
    fn statement(&mut self, frame: &mut Frame<'c>, id: StmtId, sure: bool, depth: u32) -> bool {
        match &self.code.stmt(id).kind {
            Stmt::Expr(expr) | Stmt::Return(Some(expr)) => self.expr(frame, *expr, sure, depth),
            Stmt::Block(inner) => self.block(frame, inner, sure, depth),
            Stmt::If { condition, then, otherwise } => {
                self.expr(frame, *condition, sure, depth);
                // With these template arguments only one side may be left.
                if let Some(value) = frame.source.constant(*condition, MAX_CONSTANT_DEPTH) {
                    let taken = if value == 0 { otherwise } else { then };
                    self.block(frame, taken, sure, depth);
                    return sure && !self.leaves(taken);
                }
                let by_index = frame.mentions_index(*condition);
                let before = self.asked.len();
                self.asked.extend(frame.parameter_asked(*condition));
                self.block(frame, then, sure && by_index, depth);
                self.asked.truncate(before);
                self.block(frame, otherwise, sure && by_index, depth);
                // Behind `if (flag) return;` nothing is sure any more.
                return sure && (by_index || !self.leaves(then));
            }
            Stmt::Loop { condition, body_first, step, body } => {
                let mut inside = sure;
                if let Some(condition) = *condition {
                    self.expr(frame, condition, sure, depth);
                    // By the launch's numbers it may have no round at all.
                    inside &= *body_first || frame.mentions_index(condition) || !frame.depends_on_launch(condition);
                }
                self.block(frame, body, inside, depth);
                if let Some(step) = step {
                    self.expr(frame, *step, inside, depth);
                }
            }
            Stmt::Switch { value, cases } => {
                self.expr(frame, *value, sure, depth);
                for (_, body) in cases {
                    self.block(frame, body, false, depth);
                }
            }
            Stmt::Opaque { exprs, blocks, effect } => {
                self.incomplete |= *effect == Effect::Anything;
                for expr in exprs {
                    self.expr(frame, *expr, false, depth);
                }
                for block in blocks {
                    self.block(frame, block, false, depth);
                }
                return sure && *effect != Effect::Anything;
            }
            Stmt::Declare(_) | Stmt::Break | Stmt::Continue | Stmt::Return(None) => {}
        }
        sure
    }

    /// Whether a block ends by leaving the function.
    fn leaves(&self, block: &Block) -> bool {
        let mut last = block.last();
        for _ in 0..8 {
            match last.map(|id| &self.code.stmt(*id).kind) {
                Some(Stmt::Return(_)) => return true,
                Some(Stmt::Block(inner)) => last = inner.last(),
                _ => return false,
            }
        }
        false
    }

    /// Everything one expression does, operands first.
    fn expr(&mut self, frame: &mut Frame<'c>, id: ExprId, sure: bool, depth: u32) {
        if depth > MAX_DEPTH {
            self.incomplete = true;
            return;
        }
        let depth = depth + 1;
        let code = self.code;
        let node = code.expr(id);
        match &node.kind {
            // What only some threads or launches come by.
            Expr::Select(condition, a, b) => {
                self.expr(frame, *condition, sure, depth);
                let by_index = sure && frame.mentions_index(*condition);
                self.expr(frame, *a, by_index, depth);
                self.expr(frame, *b, by_index, depth);
            }
            Expr::And(condition, b) | Expr::Or(condition, b) => {
                self.expr(frame, *condition, sure, depth);
                let by_index = sure && frame.mentions_index(*condition);
                self.expr(frame, *b, by_index, depth);
            }
            kind => kind.parts(&mut |part| match part {
                crate::code::Child::Expr(part) => self.expr(frame, part, sure, depth),
                crate::code::Child::Block(block) => self.block(frame, block, sure, depth),
            }),
        }
        match &node.kind {
            Expr::Read(Place::Memory { address, .. }) => self.access(frame, *address, node.site, false, sure),
            Expr::Write(Place::Memory { address, .. }, _)
            | Expr::Update { place: Place::Memory { address, .. }, .. } => {
                self.access(frame, *address, node.site, true, sure);
            }
            Expr::Intrinsic(what, operands) => self.intrinsic(frame, what, operands, node.site, sure),
            Expr::Call(callee, arguments) => {
                let used = self.function(*callee, sure, frame.calls + 1);
                for Dereferenced { parameter, surely, room } in used {
                    if let Some(argument) = arguments.get(parameter as usize) {
                        let room = match (room, room_before(frame, *argument)) {
                            (Room::None, own) => own,
                            (Room::LeftBy(given), Room::None) => {
                                let given = given.iter().filter_map(|at| arguments.get(*at as usize));
                                given
                                    .map(|given| room_of(frame, *given))
                                    .find(|room| *room != Room::None)
                                    .unwrap_or(Room::None)
                            }
                            _ => Room::Left,
                        };
                        self.access_at(frame, *argument, code.expr(*argument).site, (false, sure && surely), room);
                    }
                }
            }
            Expr::Opaque { effect, .. } => {
                self.incomplete |= matches!(effect, Effect::Call { .. } | Effect::Anything);
            }
            _ => {}
        }
    }

    fn intrinsic(&mut self, frame: &mut Frame<'c>, what: &Intrinsic, operands: &[ExprId], site: Site, sure: bool) {
        let (first, second) = (operands.first().copied(), operands.get(1).copied());
        let (written, read) = match what {
            Intrinsic::Atomic { .. }
            | Intrinsic::StoreCached
            | Intrinsic::Set
            | Intrinsic::TileStore
            | Intrinsic::BlockPrimitive
            | Intrinsic::WarpPrimitive => (first, None),
            Intrinsic::LoadCached | Intrinsic::TileLoad => (None, first),
            Intrinsic::Copy | Intrinsic::AsyncCopy | Intrinsic::GroupAsyncCopy => (first, second),
            _ => (None, None),
        };
        if let Some(address) = read {
            self.access(frame, address, site, false, sure);
        }
        if let Some(address) = written {
            self.access(frame, address, site, true, sure);
        }
        if what.is_meeting() && *what != Intrinsic::WarpBarrier {
            self.intervals.push(Vec::new());
        }
    }

    fn access(&mut self, frame: &mut Frame<'c>, address: ExprId, site: Site, write: bool, sure: bool) {
        let room = room_before(frame, address);
        self.access_at(frame, address, site, (write, sure), room);
    }

    /// An access that leaves room in front of its element or not.
    fn access_at(
        &mut self,
        frame: &mut Frame<'c>,
        address: ExprId,
        site: Site,
        (write, sure): (bool, bool),
        room: Room,
    ) {
        let object = match self.origin(frame, address, 0) {
            Some(Origin::Parameter(VariableId(parameter))) => {
                match frame.dereferenced.iter_mut().find(|used| used.parameter == parameter) {
                    Some(used) => {
                        used.surely |= sure;
                        used.room = std::mem::replace(&mut used.room, Room::None).and(room);
                    }
                    None => frame.dereferenced.push(Dereferenced { parameter, surely: sure, room }),
                }
                return;
            }
            Some(Origin::Dynamic(object)) => object,
            None => return,
        };
        let Some((_, array)) = self.arrays.iter_mut().find(|(id, _)| *id == object) else { return };
        array.shifted = room == Room::Left && (array.used.is_none() || array.shifted);
        if array.used.is_none() {
            array.asked.clone_from(&self.asked);
        }
        array.asked.retain(|parameter| self.asked.contains(parameter));
        array.used.get_or_insert(site);
        array.surely_used |= sure;
        array.written |= write;
        let name = self.code.objects.get(object).map_or("", |object| object.name.as_str());
        if let Some(touched) = self.intervals.last_mut()
            && !touched.contains(&name)
        {
            touched.push(name);
        }
    }

    /// Where an address comes from: through casts, arithmetic, variables and what functions return.
    fn origin(&mut self, frame: &Frame<'c>, address: ExprId, steps: u32) -> Option<Origin> {
        if steps > MAX_STEPS {
            return None;
        }
        let steps = steps + 1;
        match frame.source.kind(address) {
            Expr::Offset { base, .. } | Expr::Convert(base) => self.origin(frame, *base, steps),
            Expr::ObjectAddress(object) => {
                let space = self.code.objects.get(*object)?.space;
                (space == ObjectSpace::DynamicShared).then_some(Origin::Dynamic(*object))
            }
            Expr::Read(Place::Register { variable, count: 0, .. })
            | Expr::Update { place: Place::Register { variable, .. }, .. } => {
                if variable.0 < frame.source.function.parameters {
                    return Some(Origin::Parameter(*variable));
                }
                let given = frame.given.get(*variable)?;
                self.one_of(frame, &given[..given.len().min(4)], steps + 4)
            }
            Expr::Select(_, a, b) => self.one_of(frame, &[*a, *b], steps),
            Expr::Sequence(all) => self.origin(frame, *all.last()?, steps),
            Expr::Statements(_, value) => self.origin(frame, (*value)?, steps),
            Expr::Call(callee, arguments) => match self.returned(*callee, frame.calls)? {
                Origin::Parameter(parameter) => self.origin(frame, *arguments.get(parameter.index())?, steps),
                object @ Origin::Dynamic(_) => Some(object),
            },
            _ => None,
        }
    }

    /// Where one of several addresses leads: to dynamic shared memory only where all that lead anywhere do, since which of them is used
    /// may hang on whether the launch gives such memory.
    fn one_of(&mut self, frame: &Frame<'c>, addresses: &[ExprId], steps: u32) -> Option<Origin> {
        let mut found = None;
        let mut elsewhere = false;
        for address in addresses {
            self.left = self.left.checked_sub(1)?;
            let origin = self.origin(frame, *address, steps);
            elsewhere |= match origin {
                None => frame.source.integer(*address).is_none(),
                Some(_) => found.is_some_and(|other| Some(other) != origin),
            };
            found = found.or(origin);
            match found {
                Some(Origin::Parameter(_)) => return found,
                Some(Origin::Dynamic(_)) if elsewhere => return None,
                _ => {}
            }
        }
        found
    }

    /// Where what a function returns leads.
    fn returned(&mut self, id: FunctionId, calls: u32) -> Option<Origin> {
        if let Some(known) = self.returned.get(&id) {
            return *known;
        }
        self.returned.insert(id, None);
        if calls > MAX_CALLS {
            return None;
        }
        let frame = Frame::new(self.code, id, calls + 1)?;
        let mut values = Vec::new();
        self.code.walk(&frame.source.function.body, |item| {
            if let Item::Stmt(id) = item
                && let Stmt::Return(Some(value)) = &self.code.stmt(id).kind
            {
                values.push(*value);
            }
            true
        });
        let found = values.into_iter().find_map(|value| self.origin(&frame, value, 0));
        self.returned.insert(id, found);
        found
    }
}
