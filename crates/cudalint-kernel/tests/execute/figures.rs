//! What requests cost, and which barriers order nothing, held to a count over single bytes.

use super::support::{Case, kernel};
use cudalint_kernel::Contents;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Numbers that look random, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from((self.0 >> 33) % limit).unwrap()
    }

    /// Indices of a block below `limit`, some of them negative: in no order, in one with a stride, or alike in some lanes.
    fn indices(&mut self, threads: i64, limit: i64) -> Vec<i64> {
        let (stride, alike, kind) = (1 + self.below(40), 1 + self.below(8), self.below(4));
        let mut index = |lane: i64| match kind {
            0 => self.below(limit as u64),
            1 => lane * stride % limit,
            2 => lane / alike * stride % limit,
            _ if self.below(3) == 0 => -1,
            _ => lane,
        };
        (0..threads).map(&mut index).collect()
    }
}

fn table(values: &[i64]) -> Contents {
    Contents::Integers { bytes: 4, values: Arc::from(values) }
}

/// A kernel that reads an index and then `a` there.
fn reading(element: &str, shared: bool, indices: &[i64]) -> Case {
    let (argument, declared) = if shared {
        (String::new(), format!("__shared__ {element} a[512];"))
    } else {
        (format!(", const {element} *a"), String::new())
    };
    let text = format!(
        "__global__ void k(const int *at, {element} *to{argument}) {{ {declared} int i = at[threadIdx.x]; if (i >= 0) to[threadIdx.x] = a[i]; }}"
    );
    let bytes = 4 * indices.len() as u64;
    let case = kernel(&text).block(indices.len() as u32).holding(bytes, table(indices)).buffer(1 << 16);
    if shared { case } else { case.buffer(1 << 16) }
}

/// Sectors and the least of them, over single bytes.
fn sectors(offsets: &[i64], size: i64) -> (u64, u64) {
    let bytes: BTreeSet<i64> = offsets.iter().flat_map(|offset| *offset..offset + size).collect();
    let sectors: BTreeSet<i64> = bytes.iter().map(|byte| byte / 32).collect();
    (sectors.len() as u64, (bytes.len() as u64).div_ceil(32))
}

/// Passes and the least of them: each bank is asked word by word.
fn passes(lanes: &[Option<i64>], size: i64) -> (u64, u64) {
    let lanes_at_once = match size {
        8 => 16,
        16 => 8,
        _ => 32,
    };
    let mut sums = (0, 0);
    for part in lanes.chunks(lanes_at_once) {
        let words: BTreeSet<i64> =
            part.iter().flatten().flat_map(|offset| *offset..offset + size).map(|byte| byte / 4).collect();
        let ways = (0..32).map(|bank| words.iter().filter(|word| **word % 32 == bank).count() as u64).max();
        sums.0 += ways.unwrap_or_default();
        sums.1 += u64::from(!words.is_empty());
    }
    sums
}

#[test]
fn requests_cost_what_a_count_over_bytes_says() {
    let mut numbers = Numbers(18);
    let mut costly = 0;
    for round in 0..120 {
        let (element, size) = [("char", 1), ("short", 2), ("float", 4), ("double", 8), ("float4", 16)][round % 5];
        let shared = round % 2 == 0;
        let indices = numbers.indices(96, if shared { 512 } else { 4096 });
        let figures = reading(element, shared, &indices).figures();
        let found = figures.requests.iter().find(|it| it.object.name == "a");
        let mut wanted = (0, 0, 0);
        for warp in indices.chunks(32) {
            let lanes: Vec<Option<i64>> = warp.iter().map(|index| (*index >= 0).then_some(index * size)).collect();
            let offsets: Vec<i64> = lanes.iter().flatten().copied().collect();
            if offsets.len() > 1 {
                let (cost, least) = if shared { passes(&lanes, size) } else { sectors(&offsets, size) };
                wanted = (wanted.0 + 1, wanted.1 + cost, wanted.2 + least);
            }
        }
        let got = found.map_or((0, 0, 0), |it| (it.count, it.cost, it.least));
        assert_eq!(got, wanted, "{element} shared: {shared}, {indices:?}");
        costly += u64::from(wanted.1 >= 4 * wanted.2);
    }
    assert!(costly > 20, "{costly}");
}

#[test]
fn a_barrier_orders_nothing_where_no_two_threads_meet_across_it() {
    let mut numbers = Numbers(81);
    let (mut idle, mut needed) = (0, 0);
    for round in 0..80 {
        let threads = 64;
        // Each thread has places of its own before the barrier, so that nothing races.
        let before: Vec<i64> = (0..threads).map(|lane| lane * 3).collect();
        let after: Vec<i64> = match round % 4 {
            0 => before.clone(),
            1 => before.iter().map(|index| index + 1).collect(),
            2 => before.iter().map(|index| if *index == 3 * (round % threads) { 9 } else { *index }).collect(),
            _ => (0..threads).map(|_| numbers.below(192)).collect(),
        };
        let text = "__global__ void k(const int *b, const int *a, int *to) { __shared__ int s[256]; s[b[threadIdx.x]] = threadIdx.x;
            __syncthreads(); to[threadIdx.x] = s[a[threadIdx.x]]; }";
        let bytes = 4 * threads as u64;
        let case = kernel(text).block(threads as u32).holding(bytes, table(&before)).holding(bytes, table(&after));
        let figures = case.buffer(4096).figures();
        let meets = after
            .iter()
            .enumerate()
            .any(|(reader, index)| before.iter().enumerate().any(|(writer, at)| at == index && reader != writer));
        assert_eq!(figures.idle_barriers.is_empty(), meets, "{after:?}");
        if meets { needed += 1 } else { idle += 1 }
    }
    assert!(idle > 20 && needed > 20, "{idle} {needed}");
}

#[test]
fn what_a_warp_takes_later_of_a_sector_counts_as_used() {
    let text = |body: &str| {
        format!("__global__ void k(const float *a, float *to) {{ float sum = 0; {body} to[threadIdx.x] = sum; }}")
    };
    let of = |body: &str| {
        let figures = kernel(&text(body)).buffer(1 << 16).buffer(1 << 16).figures();
        let requests = figures.requests.into_iter().find(|it| it.object.name == "a").unwrap();
        (requests.cost / requests.least, requests.moved_over_used)
    };
    assert_eq!(of("for (int k = 0; k < 8; ++k) sum += a[threadIdx.x * 8 + k];"), (8, 100));
    assert_eq!(of("sum = a[threadIdx.x * 8];"), (8, 800));
    assert_eq!(of("sum = a[threadIdx.x];"), (1, 100));
    assert_eq!(of("sum = a[0];"), (1, 800));
}
