//! Statements: a kernel is walked for several shapes of blocks, and of each object the most general statement is kept.

use super::pairs::SAME_ELEMENT;
use super::shape::Shape;
use super::state::{Base, Refusal};
use super::sums::Sum;
use super::walk::Walker;
use crate::code::{Code, ObjectSpace, Part, Ty, VariableId};
use crate::readings::block::thread_axes;
use crate::report::Site;
use rustc_hash::FxHashMap;

/// Most shapes of blocks that are tried.
const MAX_SHAPES: usize = 8;
/// Most integer parameters that are tried as extents.
const MAX_COUNTS: usize = 6;

/// Something that surely does not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The variable or parameter.
    pub name: String,
    /// Its declaration.
    pub site: Site,
    /// What is said of it.
    pub says: Says,
    /// For which blocks.
    pub blocks: Shape,
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Says {
    /// No two threads of a block race in this shared memory.
    NoRace,
    /// Accesses stay within.
    Within(Extent),
}

/// How large memory is taken to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// As it is declared, or as the array's extents say.
    Declared,
    /// So many elements of so many bytes: a parameter or a product, in the names of the source.
    Elements(String, u32),
}

/// What is shown of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Absence {
    /// What surely does not happen.
    pub statements: Vec<Statement>,
    /// Shared memory of which it is not shown that nobody races, with the reason.
    pub open: Vec<(String, Refusal)>,
}

/// What is shown of a kernel. `launched` are blocks that it is launched with, as far as they are in sight.
pub fn absence(code: &Code, launched: &[[u32; 3]]) -> Absence {
    let mut found = Absence::default();
    let Some(kernel) = code.functions.first() else { return found };
    let shared: Vec<Base> = shared_bases(code);
    // What calls out of sight may do stands where they are.
    let gap = code.gaps.iter().map(|(gap, _)| *gap).find(|gap| *gap != "call out of sight");
    if code.damaged || code.hidden_shared || gap.is_some() {
        let cause = match gap {
            _ if code.damaged => "a part of it could not be read",
            _ if code.hidden_shared => "assembly that declares shared memory",
            gap => gap.unwrap_or("something that is not understood"),
        };
        found.open = shared.iter().map(|base| (name(code, *base), Refusal { cause, site: kernel.site })).collect();
        return found;
    }
    let mut refused: FxHashMap<Base, Refusal> = FxHashMap::default();
    for shape in shapes(code, launched) {
        let mut walker = Walker::new(code, &shape, &[]);
        if let Err(refusal) = walker.kernel() {
            for base in &shared {
                refused.entry(*base).or_insert(refusal);
            }
            // Other blocks change nothing where the code is not understood.
            if !walker.symbols.is_spent() {
                break;
            }
            continue;
        }
        for base in &shared {
            let says = |says: &Says| found.statements.iter().any(|it| it.says == *says && it.site == site(code, *base));
            let (raceless, within) = (says(&Says::NoRace), says(&Says::Within(Extent::Declared)));
            let touched = walker.accesses.iter().any(|it| it.base == *base);
            match walker.doubtful.get(base) {
                Some(refusal) => {
                    refused.entry(*base).or_insert(*refusal);
                }
                None if touched && !raceless => found.statements.push(statement(code, *base, Says::NoRace, shape)),
                None => {}
            }
            if !within
                && !is_unfollowed(&walker, *base)
                && let Some(bytes) = bytes(code, *base)
                && walker.stays_within(*base, &Sum::number(bytes))
            {
                found.statements.push(statement(code, *base, Says::Within(Extent::Declared), shape));
            }
        }
        if shared.iter().all(|base| found.statements.iter().filter(|it| it.site == site(code, *base)).count() >= 2) {
            break;
        }
    }
    // Whoever has a statement is not open.
    for base in shared {
        let shown = |it: &Statement| it.says == Says::NoRace && it.site == site(code, base);
        if let Some(refusal) = refused.get(&base)
            && !found.statements.iter().any(shown)
        {
            found.open.push((name(code, base), *refusal));
        }
    }
    parameters(code, launched, &mut found.statements);
    found
}

/// Whether accesses to memory may be missing among those that are known.
fn is_unfollowed(walker: &Walker<'_>, base: Base) -> bool {
    walker.doubtful.get(&base).is_some_and(|refusal| refusal.cause != SAME_ELEMENT)
}

fn shared_bases(code: &Code) -> Vec<Base> {
    let mut dynamic = false;
    let mut all = Vec::new();
    for (index, object) in code.objects.iter().enumerate() {
        let base = Base::Object(crate::code::ObjectId(index as u32));
        match object.space {
            ObjectSpace::Shared => all.push(base),
            ObjectSpace::DynamicShared if !dynamic => {
                dynamic = true;
                all.push(base);
            }
            _ => {}
        }
    }
    all
}

fn statement(code: &Code, base: Base, says: Says, blocks: Shape) -> Statement {
    Statement { name: name(code, base), site: site(code, base), says, blocks }
}

fn name(code: &Code, base: Base) -> String {
    let name = match base {
        Base::Object(object) => code.objects.get(object).map(|object| &object.name),
        Base::Parameter(variable, _) => {
            code.functions.first().and_then(|kernel| kernel.variables.get(variable)).map(|variable| &variable.name)
        }
        _ => None,
    };
    name.cloned().unwrap_or_default()
}

fn site(code: &Code, base: Base) -> Site {
    let kernel = code.functions.first();
    let site = match base {
        Base::Object(object) => code.objects.get(object).map(|object| object.site),
        Base::Parameter(variable, _) => {
            kernel.and_then(|kernel| kernel.variables.get(variable)).map(|variable| variable.site)
        }
        _ => None,
    };
    site.or_else(|| kernel.map(|kernel| kernel.site))
        .unwrap_or_else(|| code.stmts.first().map_or(NOWHERE, |it| it.site))
}

const NOWHERE: Site = Site { module: cudalint_program::ir::ModuleId(0), span: cudalint_syntax::Span::new(0, 0) };

fn bytes(code: &Code, base: Base) -> Option<i64> {
    let Base::Object(object) = base else { return None };
    i64::try_from(code.objects.get(object).filter(|it| it.space == ObjectSpace::Shared)?.bytes?).ok()
}

/// Blocks that are tried, the most general first.
fn shapes(code: &Code, launched: &[[u32; 3]]) -> Vec<Shape> {
    let read = thread_axes(code);
    let axes = (1..=3).rev().find(|axis| read.get(axis - 1) == Some(&true)).unwrap_or(1) as u8;
    let mut all = vec![Shape::any(axes)];
    let mut extents: Vec<Vec<i64>> = code
        .objects
        .iter()
        .filter(|object| object.space == ObjectSpace::Shared && !object.extents.is_empty())
        .map(|object| object.extents.clone())
        .collect();
    extents.sort();
    extents.dedup();
    for extent in &extents {
        let of = |from_last: usize| {
            let extent = extent.iter().rev().nth(from_last)?;
            u32::try_from(*extent).ok().filter(|extent| (1..=1024).contains(extent))
        };
        let mut most = [None; 3];
        for axis in 0..usize::from(axes) {
            most[axis] = of(axis);
            all.push(Shape { axes, most, exactly: false });
        }
        // A column more than there are threads keeps banks apart.
        if let ([Some(padded @ 3..), _, _], true) = (most, axes > 1) {
            most[0] = Some(padded - 1);
            all.push(Shape { axes, most, exactly: false });
        }
    }
    for block in launched {
        let axes = (1..=3).rev().find(|axis| block.get(axis - 1).is_some_and(|it| *it > 1)).unwrap_or(1) as u8;
        for exactly in [false, true] {
            all.push(Shape { axes, most: block.map(Some), exactly });
        }
    }
    let mut kept: Vec<Shape> = Vec::new();
    for shape in all {
        // One thread races with nobody.
        let alone = shape.most.iter().take(shape.axes.into()).all(|most| *most == Some(1));
        if !alone && !kept.contains(&shape) && kept.len() < MAX_SHAPES {
            kept.push(shape);
        }
    }
    kept
}

/// Statements on what the kernel's parameters point to.
fn parameters(code: &Code, launched: &[[u32; 3]], statements: &mut Vec<Statement>) {
    let Some(kernel) = code.functions.first() else { return };
    let counts: Vec<VariableId> = (0..kernel.parameters)
        .map(VariableId)
        .filter(|id| kernel.variables.get(*id).is_some_and(|it| matches!(it.ty, Ty::Int { .. }) && !it.in_memory))
        .take(if code.arguments.is_empty() { MAX_COUNTS } else { usize::MAX })
        .collect();
    for shape in shapes(code, launched) {
        let mut walker = Walker::new(code, &shape, &counts);
        walker.compares = false;
        if walker.kernel().is_err() {
            return;
        }
        let mut bases: Vec<Base> = walker.accesses.iter().map(|access| access.base).collect();
        bases.sort_unstable_by_key(|base| site(code, *base).span.start);
        bases.dedup();
        let mut open = false;
        for base in bases {
            let Base::Parameter(variable, leaf) = base else { continue };
            let plain = kernel.variables.get(variable).is_some_and(|it| it.ty == Ty::Pointer && leaf == 0);
            let known = statements.iter().any(|it| it.site == site(code, base));
            if !plain || known || walker.doubtful.contains_key(&base) {
                continue;
            }
            open = true;
            for (extent, used) in extents(code, variable, &counts) {
                if !holds(&mut walker, base, &extent) {
                    continue;
                }
                // What holds if all numbers are counts has to hold where only the extent is one.
                let mut again = Walker::new(code, &shape, &used);
                again.compares = false;
                if again.kernel().is_ok() && !again.doubtful.contains_key(&base) && holds(&mut again, base, &extent) {
                    let element = walker.accesses.iter().find(|it| it.base == base).map_or(0, |it| it.element);
                    let says = Says::Within(match extent.says {
                        Extent::Elements(count, _) => Extent::Elements(count, element),
                        declared @ Extent::Declared => declared,
                    });
                    statements.push(statement(code, base, says, shape));
                    break;
                }
            }
        }
        // Only what is bounded by a block needs another one.
        if !open || statements.iter().any(|it| matches!(it.says, Says::Within(_)) && it.blocks != shape) {
            break;
        }
    }
}

/// A size that memory may have: factors that are parameters, grid and block.
struct Candidate {
    factors: Vec<VariableId>,
    grid: bool,
    block: bool,
    says: Extent,
}

/// Whether all accesses lie in so many elements.
fn holds(walker: &mut Walker<'_>, base: Base, extent: &Candidate) -> bool {
    let mut elements = walker.accesses.iter().filter(|access| access.base == base).map(|access| access.element);
    let Some(element) = elements.next().filter(|element| *element > 0) else { return false };
    if elements.any(|other| other != element) {
        return false;
    }
    let mut size = Sum::number(i64::from(element));
    for factor in &extent.factors {
        let Some(product) = walker.symbol_of(*factor).and_then(|symbol| size.times(&Sum::symbol(symbol))) else {
            return false;
        };
        size = product;
    }
    for (part, used) in [(walker.grid[0].clone(), extent.grid), (walker.extents[0].clone(), extent.block)] {
        if used {
            let Some(product) = size.times(&part) else { return false };
            size = product;
        }
    }
    walker.stays_within(base, &size)
}

/// Sizes that are tried, with the parameters in them.
fn extents(code: &Code, pointer: VariableId, counts: &[VariableId]) -> Vec<(Candidate, Vec<VariableId>)> {
    let Some(kernel) = code.functions.first() else { return Vec::new() };
    let name = |id: &VariableId| kernel.variables.get(*id).map_or("", |it| it.name.as_str());
    let mut all = Vec::new();
    // An array of Python brings its extents.
    if let Some((of, Part::Data)) = code.arguments.get(pointer.index()) {
        let factors: Vec<VariableId> = (0..kernel.parameters)
            .map(VariableId)
            .filter(|id| matches!(code.arguments.get(id.index()), Some((other, Part::Extent(_))) if other == of))
            .collect();
        let used = factors.clone();
        all.push((Candidate { factors, grid: false, block: false, says: Extent::Declared }, used));
        return all;
    }
    for first in counts {
        let says = Extent::Elements(name(first).to_owned(), 0);
        all.push((Candidate { factors: vec![*first], grid: false, block: false, says }, vec![*first]));
    }
    for (place, first) in counts.iter().enumerate() {
        for second in counts.get(place..).unwrap_or_default() {
            let says = Extent::Elements(format!("{} * {}", name(first), name(second)), 0);
            let used = vec![*first, *second];
            all.push((Candidate { factors: used.clone(), grid: false, block: false, says }, used));
        }
    }
    for (block, says) in [(false, "gridDim.x"), (true, "gridDim.x * blockDim.x")] {
        let says = Extent::Elements(says.to_owned(), 0);
        all.push((Candidate { factors: Vec::new(), grid: true, block, says }, Vec::new()));
    }
    all
}
