//! What ranks set up together against what one rank does, bit for bit.

use std::sync::Arc;

use super::own_rows::OwnRows;
use super::together::SetsUp;
use crate::backend::Memory;
use crate::backend::cpu::Cpu;
use crate::backend::distributed::Distributed;
use crate::backend::gpu::Gpu;
use crate::comm::{Comm, Partition, Partitioning, Pieces, Reader, Team, Writer};
use crate::matrix::{AnyMatrix, Csr};
use crate::precond::amg::coarsening::{SetupOptions, near_null};
use crate::precond::amg::coarsest::as_ordinary;
use crate::precond::amg::hierarchy::{Begin, LevelMatrices, Range, build, build_range};
use crate::precond::amg::spectrum::Spectrum;
use crate::precond::amg::{Coarsening, NearNull, Params};
use crate::problem::{Problem, generate, with_slivers};
use crate::setup::{BlockMatrices, Blocks, DistributedCsr, Matrices};

/// A level as it can be compared.
#[derive(Debug, PartialEq)]
struct OnHost {
    /// A, P, R, and A P where it is kept.
    matrices: Vec<Csr<f64>>,
    /// The smoothing diagonal.
    inverse: Vec<f64>,
    spectrum: Spectrum,
}

/// The levels, and the coarsest matrix.
type Found = (Vec<OnHost>, Csr<f64>);

/// What a hierarchy is set up from.
struct Case {
    a: Arc<Csr<f64>>,
    block: usize,
    near_null: Option<NearNull>,
}

fn alone<B: SetsUp<f64, f64>>(backend: &B, case: &Case, params: &Params) -> Found {
    let Case { a, block, near_null } = case;
    let whole = BlockMatrices::<f64>::in_planes(backend, a, *block).unwrap();
    let options = SetupOptions { near_null: near_null.as_ref(), keep: false };
    let made = build::<f64, B>(backend, whole, None, params, options).unwrap();
    let host = |m: &Blocks<B::Csr>| {
        let planes = m.map(|plane| Matrices::<f64>::csr_to_host(backend, plane)).unwrap();
        as_ordinary(&planes).as_ref().clone()
    };
    let level = |LevelMatrices { a, p, r, diagonal, products }: &LevelMatrices<_, _>| OnHost {
        matrices: [a, p, r]
            .into_iter()
            .chain(products.as_ref().map(|products| &products.ap))
            .map(host)
            .collect(),
        inverse: Memory::<f64>::to_host(backend, &diagonal.inverse).unwrap(),
        spectrum: diagonal.spectrum,
    };
    (made.levels.iter().map(level).collect(), host(&made.coarsest))
}

/// The same on the ranks of a partition.
fn together<B: SetsUp<f64, f64>>(
    open: &(dyn Fn() -> B + Sync),
    case: &Case,
    partition: &Arc<Partition>,
    params: &Params,
) -> Found {
    let (pieces, block) = (Pieces::of(&case.a, partition), case.block);
    let on_rank = |team: Team| {
        let (rank, comm) = (team.rank(), Arc::new(team) as Arc<dyn Comm>);
        let backend = Distributed::connected::<f64>(open(), comm.clone()).unwrap();
        let piece = pieces.piece(rank);
        let product =
            backend.rows(&Arc::new(AnyMatrix::Crs(piece.local.csr().clone())), &piece.border).unwrap();
        let planes = backend.inner().in_planes(piece.local.csr(), block).unwrap();
        let product = Arc::new(product);
        let rows = OwnRows { a: &planes, piece: &piece, product: &product, there: None };
        let a = rows.numbered(&backend, partition.rows(rank), partition.n_rows()).unwrap();
        let near_null = case.near_null.as_ref().map(|space| space.part(|v| partition.part(v, rank)));
        let near_null = near_null.map(|space| near_null::finest(&backend, a.first(), &space).unwrap());
        let begin = Begin { a, product: Some(&*product), near_null };
        let (made, _) = build_range::<f64, _>(&backend, begin, params, false, Range::default()).unwrap();
        let host = |m: &Blocks<DistributedCsr<<B as Matrices<f64>>::Csr>>| {
            let on_host = |plane: &_| Matrices::<f64>::csr_to_host(backend.inner(), plane);
            let whole = backend.at_root::<f64>(m).unwrap();
            whole.map_or(Csr::identity(0), |m| Csr::clone(&as_ordinary(&m.map(on_host).unwrap())))
        };
        let level = |LevelMatrices { a, p, r, diagonal, products }: &LevelMatrices<
            DistributedCsr<<B as Matrices<f64>>::Csr>,
            <B as Memory<f64>>::Vector,
        >| {
            let (own, inverse) = (a.first().rows(), &diagonal.inverse);
            let inverse: Vec<f64> = Memory::<f64>::to_host(backend.inner(), inverse).unwrap();
            let message = Writer::new().put(&own.own_numbers().expanded()).put(&inverse).bytes();
            let per_row = block * block;
            let mut all = vec![0.0; per_row * own.total()];
            for message in comm.gather(message).unwrap().iter().flatten() {
                let mut message = Reader::new(message);
                let (rows, elements) = (message.take::<u32>().unwrap(), message.take::<f64>().unwrap());
                for (row, elements) in rows.into_iter().zip(elements.chunks(per_row)) {
                    all[per_row * row as usize..][..per_row].copy_from_slice(elements);
                }
            }
            let matrices = [a, p, r].into_iter().chain(products.as_ref().map(|products| &products.ap));
            OnHost { matrices: matrices.map(host).collect(), inverse: all, spectrum: diagonal.spectrum }
        };
        (made.levels.iter().map(level).collect(), host(&made.coarsest))
    };
    std::thread::scope(|scope| {
        let ranks = Team::new(partition.size()).into_iter().map(|team| scope.spawn(|| on_rank(team)));
        let ranks: Vec<_> = ranks.collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect::<Vec<Found>>().swap_remove(0)
    })
}

fn problem(name: &str) -> Csr<f64> {
    generate(&name.parse().unwrap(), 3).unwrap()
}

/// Chains and grids that have nothing to do with each other, unknowns of all of them in turn.
fn in_parts() -> Csr<f64> {
    let parts = [problem("poisson2d:9"), problem("tet:4"), Csr::identity(3), problem("poisson2d:5")];
    let n: usize = parts.iter().map(Csr::n_rows).sum();
    let (mut triplets, mut first) = (Vec::new(), 0);
    for part in &parts {
        for i in 0..part.n_rows() {
            let (columns, values) = part.row(i);
            // A permutation, as n is prime to 37.
            let place = |i: usize| (first + i) * 37 % n;
            triplets.extend(columns.iter().zip(values).map(|(&j, &v)| (place(i), place(j as usize), v)));
        }
        first += part.n_rows();
    }
    Csr::from_triplets(n, n, triplets).unwrap()
}

/// Pairs of unknowns: all eigenvalues are multiples of 1/64.
fn in_pairs() -> Csr<f64> {
    let pair = |i: usize| [(i, i, 2.0), (i + 1, i + 1, 2.0), (i, i + 1, -1.0), (i + 1, i, -1.0)];
    Csr::from_triplets(300, 300, (0..300).step_by(2).flat_map(pair)).unwrap()
}

/// A mesh with flat elements.
fn with_flat_elements() -> Csr<f64> {
    let elements: Vec<_> =
        (0..9).map(|k| ([k, k + 17, k + 160, k + 333].map(|i| 7 * k + i), [1.0, -1.0, 1.0, -1.0])).collect();
    with_slivers(&problem("poisson3d:8"), &elements, 500.0).unwrap()
}

fn check<B: SetsUp<f64, f64>>(
    open: &(dyn Fn() -> B + Sync),
    (a, block): (Csr<f64>, usize),
    params: &Params,
    sizes: &[usize],
) {
    check_case(open, &Case { a: Arc::new(a), block, near_null: None }, params, sizes);
}

fn check_case<B: SetsUp<f64, f64>>(
    open: &(dyn Fn() -> B + Sync),
    case: &Case,
    params: &Params,
    sizes: &[usize],
) {
    let expected = alone(&open(), case, params);
    assert!(!expected.0.is_empty());
    let n = case.a.n_rows();
    let block = case.near_null.as_ref().map_or(case.block, NearNull::unknowns);
    // The last rank has nothing, and the others take rows in turn.
    let scattered =
        |size: usize| (0..n as u32).map(|i| i / block as u32 * 7 % (size as u32 - 1).max(1)).collect();
    for &size in sizes {
        let hows = [Partitioning::Blocks, Partitioning::Rcm, Partitioning::Given(Arc::new(scattered(size)))];
        for how in hows {
            let partition = Arc::new(Partition::new(&case.a, size, block, &how).unwrap());
            let found = together(open, case, &partition, params);
            assert_eq!(found.0.len(), expected.0.len(), "{size} ranks, {how}");
            for (l, (found, expected)) in found.0.iter().zip(&expected.0).enumerate() {
                assert_eq!(found.spectrum, expected.spectrum, "level {l}, {size} ranks, {how}");
                assert!(found == expected, "level {l}, {size} ranks, {how}");
            }
            assert!(found.1 == expected.1, "the coarsest level, {size} ranks, {how}");
        }
    }
}

fn params() -> Params {
    Params { coarse_rows: 6, ..Params::default() }
}

#[test]
fn ranks_set_up_what_one_rank_does() {
    let cpu = || Cpu::new(1).unwrap();
    for a in [
        problem("tet:9"),
        problem("poisson2d:37"),
        problem("convection-diffusion:21:50"),
        in_parts(),
        in_pairs(),
    ] {
        check(&cpu, (a, 1), &params(), &[1, 2, 3, 5, 7]);
    }
    check(&cpu, (with_flat_elements(), 1), &params(), &[2, 3]);
    check(&cpu, (problem("random-spd:400:7"), 1), &params(), &[2, 5]);
}

#[test]
fn with_every_coarsening() {
    let cpu = || Cpu::new(1).unwrap();
    let ways = [
        Params { coarsening: Coarsening::Pmis, ..params() },
        Params { coarsening: Coarsening::Pmis, aggressive: 1, ..params() },
        Params { coarsening: Coarsening::MandelBrezina, ..params() },
    ];
    for way in &ways {
        for a in [problem("tet:6"), problem("convection-diffusion:13:30"), in_parts()] {
            check(&cpu, (a, 1), way, &[2, 5]);
        }
    }
    let simulated = || Gpu::simulated().unwrap();
    for way in &ways {
        check(&simulated, (problem("tet:3"), 1), way, &[3]);
    }
}

#[test]
fn with_blocks() {
    let cpu = || Cpu::new(1).unwrap();
    for coarsening in [Coarsening::SmoothedAggregation, Coarsening::Pmis, Coarsening::MandelBrezina] {
        let way = Params { coarsening, ..params() };
        check(&cpu, (problem("bidomain:5"), 2), &way, &[1, 2, 3]);
        check(&cpu, (problem("elasticity:4"), 3), &way, &[2, 5]);
    }
    check(&|| Gpu::simulated().unwrap(), (problem("bidomain:4"), 2), &params(), &[3]);
}

/// Elastic bodies with their rigid motions: several coarse unknowns an aggregate, some fewer than others. And
/// vectors without nodes.
#[test]
fn with_near_null_vectors() {
    let elastic = |n: usize| {
        let of: Problem = format!("elasticity:{n}").parse().unwrap();
        let coordinates = of.coordinates(3, false).unwrap();
        let near_null = Some(NearNull::rigid_motions(&coordinates).unwrap());
        Case { a: Arc::new(generate(&of, 3).unwrap()), block: 1, near_null }
    };
    let cpu = || Cpu::new(1).unwrap();
    let way = Params { coarse_rows: 12, ..params() };
    check_case(&cpu, &elastic(5), &way, &[1, 2, 5]);
    check_case(&cpu, &elastic(7), &way, &[3]);
    check_case(&|| Gpu::simulated().unwrap(), &elastic(3), &way, &[2]);
    let a = Arc::new(problem("poisson2d:19"));
    let vector = |k: usize| (0..a.n_rows()).map(|i| 1.0 + ((i * k) % 7) as f64).collect::<Vec<f64>>();
    for vectors in [vec![vector(0)], vec![vector(1)], vec![vector(0), vector(2), vector(3)]] {
        let near_null = Some(NearNull::new(vectors, 1).unwrap());
        check_case(&cpu, &Case { a: a.clone(), block: 1, near_null }, &params(), &[2, 3]);
    }
}

#[test]
fn ranks_of_the_simulator_set_up_what_one_does() {
    let simulated = || Gpu::simulated().unwrap();
    check(&simulated, (problem("tet:5"), 1), &params(), &[1, 2, 3]);
    check(&simulated, (in_parts(), 1), &params(), &[3]);
}
