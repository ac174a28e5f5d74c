//! Updates at places that nobody knows, by more threads than there are elements.

use crate::support::kernel;

const UNGUARDED: &str = "__global__ void k(int* h, int* data) { int i = threadIdx.x; h[data[i]]UPDATE; }";

fn ungated(update: &str) -> crate::support::Case {
    kernel(&UNGUARDED.replace("UPDATE", update)).buffer(64).buffer(1024)
}

#[test]
fn more_threads_than_elements_meet() {
    ungated("++").sees(&["crowd h[data[i]] 256 on 16"]);
    ungated(" += 2").block(17).sees(&["crowd h[data[i]] 17 on 16"]);
    ungated(" |= 1 << data[i]").sees(&["crowd h[data[i]] 256 on 16"]);
    // As many threads as elements: perhaps a permutation.
    ungated("++").block(16).clean();
    ungated("++")
        .block(16)
        .grid(2)
        .launch_text("threadIdx.x;", "blockIdx.x * blockDim.x + threadIdx.x;")
        .sees(&["crowd h[data[i]] 32 on 16"]);
}

#[test]
fn what_loses_nothing_is_no_crowd() {
    ungated(" += 0").clean();
    ungated(" |= 1").clean();
    let atomic = "__global__ void k(int* h, int* data) { atomicAdd(&h[data[threadIdx.x]], 1); }";
    kernel(atomic).buffer(64).buffer(1024).clean();
    let own = "__global__ void k(int* h, int* data) { int i = threadIdx.x; h[i * 4 + data[i]]++; }";
    kernel(own).buffer(4096).buffer(1024).clean();
    let leader = "__global__ void k(int* h, int* data) { if (threadIdx.x == 0) h[data[0]]++; }";
    kernel(leader).buffer(64).buffer(1024).grid(8).clean();
}

#[test]
fn each_thread_counts_once() {
    let looped =
        "__global__ void k(int* h, int* data) { for (int i = threadIdx.x; i < 256; i += blockDim.x) h[data[i]]++; }";
    kernel(looped).block(16).buffer(64).buffer(1024).clean();
    kernel(looped).block(32).buffer(64).buffer(1024).sees(&["crowd h[data[i]] 32 on 16"]);
    // One after the other, with a barrier between.
    let turns = "__global__ void k(int* h, int* data) { for (int t = 0; t < 32; ++t) { if (threadIdx.x == t) h[data[t]]++; __syncthreads(); } }";
    kernel(turns).block(32).buffer(64).buffer(1024).clean();
}

#[test]
fn shared_memory_is_of_one_block() {
    let text = "__global__ void k(int* data) { __shared__ int h[16]; if (threadIdx.x < 16) h[threadIdx.x] = 0; __syncthreads(); h[data[blockIdx.x * blockDim.x + threadIdx.x]]++; }";
    kernel(text).block(16).grid(4).buffer(4096).clean();
    kernel(text).block(32).grid(4).buffer(4096).sees(&["crowd h[data[blockIdx.x*blockDim.x+threadIdx.x]] 32 on 16"]);
}

fn checked(check: &str) -> crate::support::Case {
    let text = "__global__ void k(int* h, int* data, int n, int m) { int i = blockIdx.x * blockDim.x + threadIdx.x; int bin = data[i]; CHECK }";
    kernel(&text.replace("CHECK", check)).block(32).buffer(64).buffer(4096).int(32).unknown()
}

#[test]
fn a_range_check_of_the_index_is_an_assumption() {
    checked("if (bin >= 0 && bin < 16) h[bin]++;").sees(&["crowd h[bin] 32 on 16 past bin>=0&&bin<16"]);
    checked("if (bin < m) h[bin]++;").sees(&["crowd h[bin] 32 on 16 past bin<m"]);
    checked("if (bin < 0 || bin >= 16) return; h[bin]++;").sees(&["crowd h[bin] 32 on 16 past bin<0||bin>=16"]);
    checked("if (i < n && bin != -1) h[bin]++;").sees(&["crowd h[bin] 32 on 16 past i<n&&bin!=-1"]);
    checked("if (i < n) { if ((unsigned)bin < 16) h[bin]++; }")
        .grid(8)
        .sees(&["crowd h[bin] 32 on 16 past (unsigned)bin<16"]);
    checked("for (int r = 0; r < 3; ++r) { bin = data[i + r]; if (bin < 0) continue; h[bin]++; }")
        .sees(&["crowd h[bin] 32 on 16 past bin<0"]);
    checked("if (bin < 16) h[bin]++;").block(16).clean();
}

#[test]
fn another_doubt_is_silent() {
    checked("if (data[i + 32]) h[bin]++;").clean();
    checked("if (m && bin < 16) h[bin]++;").clean();
    checked("if (bin < 16) { if (data[i + 32]) h[bin]++; }").clean();
    checked("if (bin < 16) { if (data[i + 32]) return; h[bin]++; }").clean();
    checked("if (bin >= 16) return; else if (data[i + 32]) return; h[bin]++;").clean();
    checked("if (data[i + 32]) { if (data[i + 33]) return; } if (bin < 16) h[bin]++;").clean();
    checked("while (data[bin] > 0) { if (bin < 16) h[bin]++; }").clean();
    checked("bool first = data[i + 32]; if (bin < 16 && first) h[bin]++;").clean();
}

#[test]
fn places_of_ones_own_are_no_range() {
    checked("if (bin % blockDim.x == threadIdx.x) h[bin]++;").clean();
    checked("if (bin >= i * 4 && bin < i * 4 + 4) h[bin]++;").clean();
    checked("if (bin - threadIdx.x < 1) h[bin]++;").clean();
    checked("if (bin == 3) h[bin]++;").clean();
    checked("int first = blockIdx.x * 2; if (bin >= first && bin < first + 2) h[bin]++;").block(8).grid(8).clean();
    checked("int at = atomicAdd(&h[15], 1); int to = at + 3; if (to < 16) h[to]++;").clean();
}
