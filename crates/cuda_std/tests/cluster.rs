//! Clusters of blocks: their barrier, each other's shared memory, and what goes wrong there.

mod common;

use common::{Vector, memory, vector};
use cuda_std::host::{Configuration, Kernel};
use cuda_std::sim::{self, Access, Fault, FaultKind, Memory, Operation, Options, Order};
use cuda_std::{GlobalLoad, GlobalStore, cluster, kernel, shared, thread};

fn run(launch: &dyn Kernel, grid: u32, block: u32, cluster: u32, memory: &Memory) -> Result<(), Fault> {
    let configuration = Configuration { cluster: cluster.into(), ..Configuration::new(grid, block) };
    sim::run_configured(launch, configuration, memory, &Options { races: true, ..Options::default() })
}

fn kind(result: Result<(), Fault>) -> FaultKind {
    let fault = result.expect_err("the kernel is wrong");
    assert!(fault.to_string().contains("cluster"), "{fault}");
    fault.kind
}

/// Each block turns its x, and gives it to the block of the cluster that is `shift` behind it.
#[kernel(needs = sm_90)]
unsafe fn pass_on(shift: u32, x: *const f64, y: *mut f64) {
    let own = shared![f64; 64];
    let t = thread::thread_idx_x() as usize;
    let next = (cluster::block_rank() + shift) % cluster::num_blocks();
    cluster::sync();
    let there = cluster::map_shared_rank(own, next);
    there.set(thread::block_dim_x() as usize - 1 - t, x.ld(thread::index_x()));
    cluster::sync();
    y.st(thread::index_x(), own.get(t));
}

#[test]
fn blocks_write_each_others_shared_memory() {
    for (clusters, size, threads, shift) in [(3, 4, 33, 1), (1, 8, 64, 5), (5, 1, 7, 0), (2, 2, 40, 1)] {
        let count = clusters * size * threads;
        let x: Vec<f64> = (0..count).map(|i| (f64::from(i) * 0.37).fract()).collect();
        for order in [Order::Ascending, Order::Descending, Order::Shuffled(5)] {
            let y = vector(vec![f64::NAN; count as usize]);
            let launch = pass_on { shift, x: x.as_ptr(), y: y.as_mut_ptr() };
            let configuration =
                Configuration { cluster: size.into(), ..Configuration::new(clusters * size, threads) };
            let memory = memory([&x as _, &y as _]);
            let options = Options { races: true, order, ..Options::DEFAULT };
            sim::run_configured(&launch, configuration, &memory, &options).unwrap();
            for (i, y) in (0..).zip(y.iter()) {
                let (block, t) = (i / threads, i % threads);
                let from = block / size * size + (block % size + size - shift) % size;
                assert_eq!(*y, x[(from * threads + threads - 1 - t) as usize], "{i}");
            }
        }
    }
}

/// The place of the block in its cluster, in two dimensions.
#[kernel(needs = sm_90)]
unsafe fn places(out: *mut u32) {
    let (at, size, block) = (cluster::block_idx(), cluster::block_dim(), thread::block_idx());
    let number = (block.x + thread::grid_dim_x() * block.y) as usize;
    let values = [cluster::block_rank(), cluster::num_blocks(), at.x, at.y, at.z, size.x, size.y, size.z];
    for (i, value) in values.into_iter().enumerate() {
        out.st(8 * number + i, value);
    }
}

#[test]
fn places_are_those_in_the_cluster() {
    let out = vector(vec![u32::MAX; 6 * 4 * 8]);
    let configuration = Configuration { cluster: (3, 2).into(), ..Configuration::new((6, 4), 1) };
    let launch = places { out: out.as_mut_ptr() };
    sim::run_configured(&launch, configuration, &memory([&out as _]), &Options::default()).unwrap();
    for (number, found) in (0..).zip(out.chunks(8)) {
        let (x, y) = (number % 6 % 3, number / 6 % 2);
        assert_eq!(found, [x + 3 * y, 6, x, y, 0, 3, 2, 1], "{number}");
    }
}

/// Counts numbers below 4 of each cluster in the memory of its first block.
#[kernel(needs = sm_90)]
unsafe fn count(x: *const u32, y: *mut u32) {
    let own = shared![u32; 4];
    let t = thread::thread_idx_x() as usize;
    if t < 4 {
        own.set(t, 0);
    }
    cluster::sync();
    let first = cluster::map_shared_rank(own, 0);
    first.add(x.ld(thread::index_x()) as usize, 1);
    cluster::arrive();
    cluster::wait();
    if cluster::block_rank() == 0 && t < 4 {
        y.st((thread::block_idx_x() / cluster::num_blocks()) as usize * 4 + t, first.get(t));
    }
}

#[test]
fn blocks_count_in_one_memory_and_are_counted() {
    let x: Vec<u32> = (0..6 * 50).map(|i| i * i % 4).collect();
    let y = vector(vec![0; 8]);
    let launch = count { x: x.as_ptr(), y: y.as_mut_ptr() };
    let (result, report) = sim::explain(|| run(&launch, 6, 50, 3, &memory([&x as _, &y as _])));
    result.unwrap();
    let expected = |i: usize| x[i / 4 * 150..][..150].iter().filter(|&&x| x == i as u32 % 4).count();
    assert!((0..8).all(|i| y[i] as usize == expected(i)), "{:?}", &*y);
    let atomics = report.kernels[0].total(|operation| operation == Operation::SharedAtomic);
    // Six blocks of two warps.
    assert_eq!((atomics.requests, atomics.threads), (12, 300));
}

/// Does one thing wrong.
#[kernel(needs = sm_90)]
unsafe fn careless(mistake: u32, out: *mut u32) {
    let own = shared![u32; 2];
    let (rank, last) = (cluster::block_rank(), cluster::num_blocks() - 1);
    let first = thread::thread_idx_x() == 0;
    if first {
        own.set(0, rank);
    }
    if mistake != 0 {
        cluster::sync();
    }
    match mistake {
        2 => cluster::wait(),
        3 => {
            cluster::arrive();
            cluster::arrive();
        }
        // One thread of two.
        5 if rank == 1 && first => thread::sync_threads(),
        _ => {}
    }
    let other = cluster::map_shared_rank(own, if mistake == 6 { last + 1 } else { last - rank });
    match mistake {
        7 => other.set(2, 0),
        8 => out.st(rank as usize, other.get(1)),
        9 => other.set(0, 7),
        // The first reads what the last wrote, which nothing keeps from ending.
        10 if rank == 0 => out.st(0, other.get(0)),
        10 => {}
        11 => {
            out.st(rank as usize, other.get(0));
            cluster::arrive();
        }
        _ => {
            let value = other.get(0);
            if first {
                out.st(rank as usize, value);
            }
            cluster::sync();
        }
    }
}

#[test]
fn mistakes_are_faults() {
    let out: Vector<u32> = vector(vec![0; 4]);
    let result = |mistake, threads| {
        let launch = careless { mistake, out: out.as_mut_ptr() };
        run(&launch, 2, threads, 2, &memory([&out as _]))
    };
    result(1, 1).unwrap();
    assert_eq!(out[..2], [1, 0]);
    let memory_of = |rank, reason_begins: &str, found: FaultKind| {
        let FaultKind::ClusterMemory { rank: r, reason, .. } = found else { panic!("{found}") };
        assert!(r == rank && reason.starts_with(reason_begins), "{r} {reason}");
    };
    memory_of(1, "may not have begun", kind(result(0, 1)));
    for (mistake, call) in [(2, "wait without"), (3, "second time")] {
        let found = kind(result(mistake, 1));
        assert!(matches!(found, FaultKind::ClusterOrder { call: c } if c.contains(call)), "{found}");
    }
    // A barrier of the block is not one of the cluster.
    let found = kind(result(5, 2));
    assert!(matches!(found, FaultKind::ClusterDivergence { waiting: 3, missing: 1, elsewhere: Some(_), .. }));
    assert_eq!(kind(result(6, 1)), FaultKind::ClusterRank { rank: 2, blocks: 2 });
    let found = result(7, 1).unwrap_err().kind;
    assert!(matches!(found, FaultKind::SharedOutOfBounds { index: 2, length: 2, access: Access::Write, .. }));
    let found = result(8, 1).unwrap_err().kind;
    assert!(matches!(found, FaultKind::UnwrittenShared { index: 1, .. }), "{found}");
    // Both write what the other one wrote, or end while they are read.
    memory_of(0, "has ended", kind(result(9, 1)));
    let found = kind(result(10, 1));
    assert!(matches!(found, FaultKind::ClusterEnd { rank: 1, .. }), "{found}");
    assert!(matches!(kind(result(11, 1)), FaultKind::ClusterEnd { .. } | FaultKind::ClusterMemory { .. }));
}

/// Writes the other block's word and reads its own, with a barrier between or none.
#[kernel(needs = sm_90)]
unsafe fn exchange(waits: u32, out: *mut u32) {
    let own = shared![u32; 1];
    own.set(0, 5);
    cluster::sync();
    cluster::map_shared_rank(own, 1 - cluster::block_rank()).set(0, cluster::block_rank());
    if waits == 1 {
        cluster::sync();
    }
    out.st(thread::block_idx_x() as usize, own.get(0));
    cluster::sync();
}

#[test]
fn accesses_without_a_barrier_of_the_cluster_race() {
    let out = vector(vec![9; 2]);
    let result = |waits| run(&exchange { waits, out: out.as_mut_ptr() }, 2, 1, 2, &memory([&out as _]));
    result(1).unwrap();
    assert_eq!(*out, [1, 0]);
    let fault = result(0).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Race { other_block: 0, .. }), "{fault}");
    assert!(fault.to_string().contains("cluster.rs"), "{fault}");
}

#[test]
fn clusters_divide_the_grid() {
    let out = vector(vec![0; 64]);
    let result = |grid, cluster| run(&places { out: out.as_mut_ptr() }, grid, 1, cluster, &Memory::open());
    for (grid, cluster) in [(6, 4), (6, 0), (9, 9)] {
        let expected = FaultKind::Clusters { grid: grid.into(), cluster: cluster.into() };
        assert_eq!(kind(result(grid, cluster)), expected);
    }
    result(8, 8).unwrap();
}
