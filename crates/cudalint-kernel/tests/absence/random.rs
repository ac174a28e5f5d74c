//! Random kernels: what a statement says does not happen must not happen in any execution.

use crate::numbers::Random;
use crate::{code, shown, twins};
use cudalint_kernel::readings::absence::{Absence, Extent, Says, Shape, absence};
use cudalint_kernel::report::{EventKind, ObjectKind, RaceScope};
use cudalint_kernel::{Argument, Budget, Buffer, Code, Contents, ExecutionReport, LaunchInput, execute, index_ranges};

/// How many kernels are made where nobody says otherwise.
const KERNELS: u64 = 150;

/// What came of a number of kernels.
#[derive(Debug, Default)]
struct Tally {
    kernels: u64,
    raceless: u64,
    within: u64,
    executions: u64,
    races_seen: u64,
    outside_seen: u64,
}

fn launch(code: &Code, block: [u32; 3], blocks: u32, n: i64, extents: [i64; 3]) -> ExecutionReport {
    execute(code, &input(block, blocks, n, extents), &Budget::default())
}

fn input(block: [u32; 3], blocks: u32, n: i64, extents: [i64; 3]) -> LaunchInput {
    let pointer = |buffer| Argument::Pointer { buffer, offset: 0 };
    LaunchInput {
        grid: [blocks, 1, 1],
        block,
        dynamic_shared: Some(0),
        cooperative: Some(false),
        constants: Vec::new(),
        reads: Vec::new(),
        arguments: vec![pointer(0), pointer(1), pointer(2), Argument::Int(n)],
        buffers: extents
            .map(|extent| Buffer {
                bytes: Some(8 * extent.max(0) as u64),
                contents: Contents::Filled(0),
                align: 256,
                field: String::new(),
            })
            .to_vec(),
    }
}

fn covers(shape: &Shape, block: [u32; 3]) -> bool {
    let fits = |axis: usize| shape.most[axis].is_none_or(|most| block[axis] <= most);
    !shape.exactly && (0..3).all(|axis| fits(axis) && (axis < shape.axes.into() || block[axis] == 1))
}

fn contradictions(code: &Code, absence: &Absence, random: &mut Random, tally: &mut Tally) -> Vec<String> {
    let mut found = Vec::new();
    for (threads, n) in [(64, 100), (64, 1), (32, 64), (96, 40), (33, 33), (1, 5), (128, 300), (256, 17)] {
        let blocks = 1 + random.below(3) as u32;
        let block = [threads, 1, 1];
        let count = i64::from(threads * blocks);
        let extents = if random.chance(50) { [n, n, n] } else { [count, n, i64::from(blocks)] };
        let report = launch(code, block, blocks, n, extents);
        tally.executions += 1;
        for event in &report.events {
            match &event.kind {
                EventKind::Race { object, scope: RaceScope::Warp | RaceScope::Block, .. }
                    if object.kind == ObjectKind::Shared =>
                {
                    tally.races_seen += 1;
                    found.extend(
                        absence
                            .statements
                            .iter()
                            .filter(|it| it.says == Says::NoRace && it.name == object.name && covers(&it.blocks, block))
                            .map(|it| format!("{it:?} with {threads} threads and n = {n}: {event:?}")),
                    );
                }
                EventKind::OutOfBounds { object, access, .. } => {
                    tally.outside_seen += 1;
                    let stated = |extent: &Extent| match (extent, object.kind) {
                        (Extent::Declared, ObjectKind::Shared) => true,
                        (Extent::Elements(size, 8), ObjectKind::Buffer(number)) => {
                            let needed = match size.as_str() {
                                "n" => n,
                                "n * n" => n * n,
                                "gridDim.x" => i64::from(blocks),
                                _ => count,
                            };
                            extents[number] >= needed
                        }
                        _ => false,
                    };
                    found.extend(
                        absence
                            .statements
                            .iter()
                            .filter(|it| matches!(&it.says, Says::Within(extent) if stated(extent)))
                            .filter(|it| it.name == object.name && covers(&it.blocks, block))
                            .map(|it| format!("{it:?} with {threads} threads and n = {n}: {access:?}")),
                    );
                }
                _ => {}
            }
        }
    }
    found
}

fn try_kernels(count: u64, seed: u64) -> Tally {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    for number in 0..count {
        let text = twins::twins(&mut random).cuda;
        let code = code(&text);
        let absence = absence(&code, &[]);
        tally.kernels += 1;
        tally.raceless += u64::from(absence.statements.iter().any(|it| it.says == Says::NoRace));
        tally.within += u64::from(absence.statements.iter().any(|it| it.says != Says::NoRace));
        let wrong = contradictions(&code, &absence, &mut random, &mut tally);
        assert!(wrong.is_empty(), "{number} of {seed}:\n{text}\n{:#?}\n{}", shown(&absence), wrong.join("\n"));
    }
    tally
}

#[test]
fn no_execution_contradicts_a_statement() {
    // More of them, by hand: CUDALINT_ABSENCE=10000 cargo test -p cudalint-kernel --test absence
    let count = std::env::var("CUDALINT_ABSENCE").ok().and_then(|count| count.parse().ok()).unwrap_or(KERNELS);
    let tally = try_kernels(count, 7);
    #[allow(clippy::print_stdout)] // What a run by hand is made for.
    {
        println!("{tally:?}");
    }
    assert!(tally.raceless * 10 > tally.kernels && tally.within * 10 > tally.kernels, "{tally:?}");
    assert!(tally.races_seen > tally.kernels && tally.outside_seen > tally.kernels, "{tally:?}");
}

#[test]
fn no_block_goes_beyond_what_a_few_show_of_subscripts() {
    let mut random = Random::new(11);
    let (mut shown, mut silent) = (0, 0);
    for _ in 0..KERNELS / 5 {
        let text = twins::twins(&mut random).cuda;
        let code = code(&text);
        for (threads, blocks, n) in [(32, 30, 700), (64, 12, 1), (33, 20, 400), (1, 40, 30), (96, 10, 5000)] {
            let input = input([threads, 1, 1], blocks, n, [5000; 3]);
            let few = Budget { blocks: 3, lane_operations: 3_000_000, ..Budget::default() };
            let all = Budget { blocks: 1000, lane_operations: 1 << 30, ..Budget::default() };
            let (few, all) = (index_ranges(&code, &input, &few), index_ranges(&code, &input, &all));
            for range in few.iter().filter(|range| range.values.is_some()) {
                let whole = all.iter().find(|it| (it.site, it.index) == (range.site, range.index));
                assert_eq!(Some(range), whole, "{threads} threads, {blocks} blocks, n = {n}\n{text}");
            }
            let count = |ranges: &[cudalint_kernel::IndexRange]| ranges.iter().filter(|it| it.values.is_some()).count();
            shown += count(&few);
            silent += count(&all) - count(&few);
        }
    }
    // Where all blocks show a range, a few of them mostly suffice.
    assert!(shown > 100 && shown > silent, "{shown} shown, {silent} not");
}
