//! Teams, partitions and pieces.

use std::sync::Arc;
use std::thread;

use super::*;
use crate::matrix::Csr;
use crate::problem::generate;

/// What `work` gives on every rank of a team.
fn on_team<R: Send + 'static>(size: usize, work: impl Fn(Team) -> R + Send + Sync + 'static) -> Vec<R> {
    let work = Arc::new(work);
    let ranks = Team::new(size).into_iter().map(|rank| {
        let work = work.clone();
        thread::spawn(move || work(rank))
    });
    let ranks: Vec<_> = ranks.collect();
    ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
}

#[test]
fn sums_are_those_in_the_order_of_ranks_at_every_rank() {
    for size in [1, 2, 3, 5, 7] {
        let mine = |rank: usize| [0.1 + rank as f64, 1e16 / (1.0 + rank as f64)];
        let expected: [f64; 2] =
            std::array::from_fn(|k| (1..size).fold(mine(0)[k], |sum, rank| sum + mine(rank)[k]));
        for found in on_team(size, move |team| sums(&team, &mine(team.rank())).unwrap()) {
            assert_eq!(found, expected);
        }
        let most = on_team(size, move |team| maxima(&team, &[team.rank() as f64]).unwrap());
        assert!(most.iter().all(|most| most == &[size as f64 - 1.0]));
    }
}

#[test]
fn messages_arrive_in_their_order() {
    let found = on_team(3, |team| {
        let (rank, size) = (team.rank(), team.size());
        let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
        let mine = [rank as u8; 5];
        let (mut first, mut second) = ([9; 5], [9; 2]);
        team.exchange(&[(next, &mine)], &mut [(before, &mut first)]).unwrap();
        team.exchange(&[(next, &mine[..2])], &mut [(before, &mut second)]).unwrap();
        let mut message = if rank == 0 { vec![7, 8] } else { Vec::new() };
        team.broadcast(&mut message).unwrap();
        let gathered = team.gather(vec![rank as u8]).unwrap();
        (before as u8, first, second, message, gathered)
    });
    for (rank, (before, first, second, message, gathered)) in found.into_iter().enumerate() {
        assert_eq!((first, second), ([before; 5], [before; 2]));
        assert_eq!(message, [7, 8]);
        assert_eq!(gathered, (rank == 0).then(|| vec![vec![0], vec![1], vec![2]]));
    }
}

#[test]
fn a_rank_that_fails_ends_the_others() {
    let errors = on_team(3, |team| match team.rank() {
        1 => {
            team.fail("out of memory");
            String::new()
        }
        _ => sums(&team, &[1.0]).unwrap_err().to_string(),
    });
    assert_eq!(errors[0], "rank 1: out of memory");
    assert_eq!(errors[2], errors[0]);
}

#[test]
fn ranks_agree_on_the_first_error() {
    for bad in 0..3 {
        let found = on_team(3, move |team| {
            let mine = if team.rank() >= bad { Err(Error::Option("no".into())) } else { Ok(()) };
            agree(&team, mine).unwrap_err().to_string()
        });
        let expected = format!("rank {bad}: no");
        assert!(
            found.iter().enumerate().all(|(k, text)| text == &expected || (k, bad) == (0, 0)),
            "{found:?}"
        );
    }
}

/// `A x` by the pieces.
fn product(a: &Arc<Csr<f64>>, partition: &Arc<Partition>, x: &[f64]) -> Vec<f64> {
    let pieces = Pieces::of(a, partition);
    let parts: Vec<Piece> = (0..partition.size()).map(|rank| pieces.piece(rank)).collect();
    let mut y = vec![f64::NAN; a.n_rows()];
    let team = Team::new(2);
    for (rank, sent) in parts.iter().enumerate() {
        sent.send(&team[0], 1).unwrap();
        let piece = &Piece::receive(&team[1], 0).unwrap();
        assert_eq!(piece, sent);
        let mut ghosts = Vec::new();
        for &(from, count) in &piece.border.links.receives {
            let places = &parts[from].border.links.sends.iter().find(|(to, _)| *to == rank).unwrap().1;
            assert_eq!(places.len(), count);
            let its = partition.part(x, from);
            ghosts.extend(places.iter().map(|place| its[place as usize]));
        }
        let mut part = piece.local.csr().mul_vec(&partition.part(x, rank));
        for (&i, value) in piece.border.rows.iter().zip(piece.border.entries.mul_vec(&ghosts)) {
            part[i as usize] += value;
        }
        partition.put(&part, rank, &mut y);
    }
    y
}

#[test]
fn pieces_are_the_whole_matrix() {
    for (name, block) in [("tet:6", 1), ("random-spd:97", 1), ("poisson2d:11", 1), ("bidomain:4", 2)] {
        let a: Arc<Csr<f64>> = Arc::new(generate(&name.parse().unwrap(), 1).unwrap());
        let n = a.n_rows();
        let x: Vec<f64> = (0..n).map(|i| 0.3 + (i % 13) as f64).collect();
        let expected = a.mul_vec(&x);
        for size in [1, 2, 3, 5, 7, n + 2] {
            let scattered = (0..n).map(|i| (i / block * 7 % 5 % size) as u32).collect();
            let mut hows = vec![Partitioning::Blocks, Partitioning::Rcm];
            hows.push(Partitioning::Given(Arc::new(scattered)));
            hows.extend(cfg!(feature = "metis").then_some(Partitioning::Metis));
            for how in hows {
                let partition = Arc::new(Partition::new(&a, size, block, &how).unwrap());
                for (y, expected) in product(&a, &partition, &x).iter().zip(&expected) {
                    assert!((y - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{name} {size} {how}");
                }
                let quality = Pieces::of(&a, &partition).quality();
                if size == 1 {
                    assert_eq!((quality.cut, quality.shared, quality.neighbours), (0, 0, 0));
                } else if size < n && how == Partitioning::Blocks {
                    assert!(quality.imbalance < 1.0 + size as f64 * 0.2, "{name} {size}: {quality:?}");
                }
            }
        }
    }
}

#[test]
fn partitions_that_do_not_fit_are_refused() {
    let a: Csr<f64> = generate(&"poisson2d:2".parse().unwrap(), 1).unwrap();
    let refused = |owner: Vec<u32>, block| {
        let how = Partitioning::Given(Arc::new(owner));
        Partition::new(&a, 2, block, &how).unwrap_err().to_string()
    };
    assert!(refused(vec![0, 1], 1).contains("2 rows, but the matrix has 4"));
    assert!(refused(vec![0, 1, 2, 0], 1).contains("gives row 3 to rank 2"));
    assert!(refused(vec![0, 0, 0, 1], 2).contains("node 2 apart"));
}

#[cfg(not(feature = "metis"))]
#[test]
fn without_metis_it_says_what_installs_it() {
    let a: Csr<f64> = generate(&"poisson2d:2".parse().unwrap(), 1).unwrap();
    let error = Partition::new(&a, 2, 1, &Partitioning::Metis).unwrap_err().to_string();
    assert!(error.contains("--features metis"), "{error}");
}

#[cfg(feature = "metis")]
#[test]
fn metis_cuts_little_of_a_mesh_that_is_numbered_at_random() {
    use crate::problem::shuffle;

    for (name, block) in [("tet:14", 1), ("bidomain:12", 2)] {
        let a: Csr<f64> = generate(&name.parse().unwrap(), 1).unwrap();
        let a = Arc::new(shuffle(&a, block, 3).unwrap());
        for size in [2, 3, 8] {
            let quality = |how| {
                let partition = Arc::new(Partition::new(&a, size, block, &how).unwrap());
                let quality = Pieces::of(&a, &partition).quality();
                (partition, quality)
            };
            let (first, metis) = quality(Partitioning::Metis);
            assert_eq!(first, quality(Partitioning::Metis).0, "{name}: the same matrix, the same partition");
            let [blocks, rcm] = [Partitioning::Blocks, Partitioning::Rcm].map(|how| quality(how).1);
            assert!(3 * metis.cut < blocks.cut, "{name}, {size}: {metis:?}, {blocks:?}");
            // In slices of a small cube little is cut, too.
            assert!(size < 8 || metis.cut < rcm.cut, "{name}, {size}: {metis:?}, {rcm:?}");
            assert!(metis.imbalance < 1.1 && metis.least_rows > 0, "{name}, {size}: {metis:?}");
        }
    }
}

#[cfg(feature = "metis")]
#[test]
fn metis_leaves_ranks_of_small_matrices_without_rows() {
    let diagonal = Csr::identity(40);
    // Parts that nothing connects, and rows that are long.
    let arrow = (0..40).flat_map(|i| [(i, i, 2.0), (i, 0, 1.0), (0, i, 1.0)]).skip(2);
    let arrow = Csr::from_triplets(40, 40, arrow).unwrap();
    for a in [diagonal, arrow, Csr::identity(1), Csr::identity(0)] {
        for size in [1, 2, 5, 17, 64] {
            let partition = Partition::new(&a, size, 1, &Partitioning::Metis).unwrap();
            assert_eq!((0..size).map(|rank| partition.rows(rank).len()).sum::<usize>(), a.n_rows());
        }
    }
}

/// 13 unknowns in turn on three ranks, of which each looks at the next one of its own.
fn in_turn(team: &Team) -> Numbering {
    let rank = team.rank() as u32;
    let is_there = |&number: &u32| number % 3 == rank || (number > 0 && (number - 1) % 3 == rank);
    let unknowns = (0..13).filter(is_there).map(|number| (number, number % 3));
    Numbering::new(team.rank(), unknowns, 13)
}

#[test]
fn ranks_have_the_elements_of_others_and_agree_on_zeros() {
    for elements in on_team(3, |team| {
        let numbering = in_turn(&team);
        let of_owner = |place: u32| {
            // Others' are not known yet.
            let is_own = numbering.own().position(place).is_some();
            if is_own { 100 + numbering.number(place) } else { 7 }
        };
        let mut elements: Vec<u32> = (0..numbering.len() as u32).map(of_owner).collect();
        let halo = numbering.halo(&team).unwrap();
        halo.update(&team, &mut elements).unwrap();
        let numbers = numbering.numbers();
        let known = numbers.iter().map(|number| 100 + number);
        assert!(known.eq(elements.iter().copied()));
        // Rank 1 alone decides about 5, which is rank 2's.
        if team.rank() == 1 {
            elements[numbering.place(5).unwrap()] = 0;
        }
        halo.settle(&team, &mut elements).unwrap();
        numbers.iter().zip(elements).collect::<Vec<_>>()
    }) {
        for (number, element) in elements {
            assert_eq!(element, if number == 5 { 0 } else { 100 + number });
        }
    }
}

#[test]
fn chosen_unknowns_are_numbered_in_the_order_of_all() {
    let chosen = [0, 1, 4, 5, 9, 12];
    let found = on_team(3, move |team| {
        let numbering = in_turn(&team);
        let old: Vec<u32> = numbering.own_numbers().iter().filter(|number| chosen.contains(number)).collect();
        let (starts, ends) = numbering.own_ranges(team.rank());
        let is_in = |(start, end): (u32, u32)| {
            let numbers = (start..end).map(|place| numbering.number(place));
            numbers.filter(|number| chosen.contains(number)).count() as u32
        };
        let counts = starts.into_iter().zip(ends).map(is_in);
        let (numbers, count) = numbering.renumbered(&team, counts).unwrap();
        assert_eq!(count, chosen.len());
        old.into_iter().zip(numbers.iter().collect::<Vec<_>>()).collect::<Vec<_>>()
    });
    for (old, new) in found.into_iter().flatten() {
        assert_eq!(chosen[new as usize], old);
    }
}

#[test]
fn more_unknowns_keep_the_order_of_numbers() {
    let numbering = Numbering::new(1, [(2, 1), (3, 1), (4, 1), (5, 0), (9, 1)], 12);
    let more = [(0, 1, 2), (3, 3, 1), (6, 1, 0), (10, 1, 0)];
    let (all, places) = numbering.united(1, more);
    assert!(all.numbers().iter().eq([0, 2, 3, 4, 5, 6, 9, 10]));
    assert_eq!(all.owners(), [[0, 2], [1, 1], [4, 0], [6, 1], [7, 0]]);
    assert!(places.iter().eq([1, 2, 3, 4, 6]) && all.own().iter().eq([1, 2, 3, 6]));
    assert!(all.others().iter().eq([0, 4, 5, 7]));
    assert_eq!(numbering.places_in(&all), places);
    assert!(all.places_in(&numbering).iter().eq([NOWHERE, 0, 1, 2, 3, NOWHERE, 4, NOWHERE]));
    for number in 0..12 {
        let place = all.numbers().iter().position(|other| other == number);
        assert_eq!(all.place(number), place);
    }
    let unknowns = all.written_out(1, 2);
    assert!(unknowns.own_numbers().iter().eq([4, 5, 6, 7, 8, 9, 18, 19]));
    assert!(unknowns.of_nodes(1, 2).rows().eq(all.rows()));
    let of_own =
        Numbering::of_own_and(1, &all.own_numbers(), vec![(10, 0), (0, 2), (6, 0), (5, 0), (0, 2)], 12);
    assert!(of_own.rows().eq(all.rows()));
    assert!(all.of_own(1).rows().eq([(2, 3, 1), (9, 1, 1)]));
}

#[test]
fn ranges_are_the_blocks_of_a_partition_and_pieces_those_of_the_whole() {
    let uneven = || {
        let long = (0..60usize).map(|j| (17, j, 1.0)).chain((0..60).map(|i| (i, 17, 1.0)));
        let all = (0..60).map(|i| (i, i, 9.0)).chain(long.filter(|&(i, j, _)| i != j));
        Csr::from_triplets(60, 60, all.collect::<Vec<_>>()).unwrap()
    };
    let named = |name: &str| generate(&name.parse().unwrap(), 1).unwrap();
    let none = Csr::from_triplets(0, 0, []).unwrap();
    for a in [named("tet:5"), named("random-spd:61"), uneven(), named("poisson2d:2"), none] {
        let a = Arc::new(a);
        for (size, block) in [(1, 1), (2, 1), (3, 2), (5, 1), (7, 1), (70, 1)] {
            if !a.n_rows().is_multiple_of(block) {
                continue;
            }
            let partition = Arc::new(Partition::new(&a, size, block, &Partitioning::Blocks).unwrap());
            let whole = Pieces::of(&a, &partition);
            let (quality, pieces) = (whole.quality(), whole);
            let expected: Vec<_> = (0..size).map(|rank| pieces.piece(rank)).collect();
            let its = a.clone();
            let found = on_team(size, move |team| {
                let lengths = |rows: std::ops::Range<usize>| Ok(rows.map(|i| its.row_len(i)).collect());
                let ranges = Ranges::by_entries(&team, its.n_rows(), block, lengths).unwrap();
                let own: Vec<u32> = ranges.of(team.rank()).map(|row| row as u32).collect();
                let piece = Piece::of_range(&team, &Arc::new(its.chosen_rows(&own)), &ranges).unwrap();
                let quality = piece.quality(&team).unwrap();
                (ranges, piece, quality)
            });
            for (rank, (ranges, piece, its)) in found.into_iter().enumerate() {
                let rows = Runs::from(ranges.of(rank));
                assert_eq!(&rows, partition.rows(rank), "{size} ranks, {block}");
                assert!(rows.iter().all(|row| ranges.owner(row as usize) == rank));
                assert_eq!(piece, expected[rank], "{size} ranks, {block}");
                assert_eq!(its, quality);
            }
        }
    }
}
