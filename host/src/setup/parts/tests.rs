use std::sync::Arc;

use cuda_std::Real;

use super::*;
use crate::backend::cpu::Cpu;
use crate::comm::{Block, NOWHERE};
use crate::setup::Matrices;
use crate::setup::testing::{Dense, dense, random, strict};

/// The same from the entries, one by one.
fn expected(source: &[u32], a: &Dense, places: &[u32], below: &Dense) -> Dense {
    let row = |&row: &u32| match row as usize {
        row if row < a.len() => {
            let mut of_row = vec![0.0; below[0].len()];
            let there = places.iter().zip(&a[row]).filter(|(place, _)| **place != NOWHERE);
            there.for_each(|(&place, &v)| of_row[place as usize] = v);
            of_row
        }
        row => below[row - a.len()].clone(),
    };
    source.iter().map(row).collect()
}

fn agrees<T: Real, B: Parts<T>>(b: &B) {
    for (rows, most, seed) in [(70, 5, 1), (40, 30, 2), (1, 1, 3), (90, 0, 4)] {
        let (a, below) = (random(rows, 50, most, seed).cast::<T>(), random(17, 61, 7, seed + 9).cast::<T>());
        let on_b = b.csr(&Arc::new(a.clone())).unwrap();
        // A third of the columns go nowhere, the others up.
        let place = |j: u32| if j % 3 == 1 { NOWHERE } else { j + j / 7 };
        let places: Vec<u32> = (0..50).map(place).collect();
        let source: Vec<u32> = (0..133).map(|i| (29 * i + 5) % (rows as u32 + 17)).collect();
        let runs = |numbers: &[u32]| numbers.iter().copied().collect::<Runs>();
        let to = runs(&places);
        let below_on_b = b.csr(&Arc::new(below.clone())).unwrap();
        let (a, below) = (dense(&a.cast()), dense(&below.cast()));
        // In any order, and rows and columns that follow each other.
        let in_a_row: Vec<u32> = (rows as u32 / 3..rows as u32 + 11).collect();
        let of_range: Vec<u32> =
            (0..50).map(|j| if (9..41).contains(&j) { j + 6 } else { NOWHERE }).collect();
        for (source, places) in [(&source, &places), (&in_a_row, &of_range), (&source, &vec![NOWHERE; 50])] {
            let whole = b.put_together(&runs(source), &on_b, &runs(places), &below_on_b).unwrap();
            let whole = b.csr_to_host(&whole).unwrap();
            assert_eq!(dense(&whole.cast()), expected(source, &a, places, &below));
        }
        let host = |numbers: B::Indices| b.indices_to_host(&numbers).unwrap();
        // All rows, some that follow each other, and others.
        let some_rows = [Runs::from(0..rows), Runs::from(rows / 3..rows), runs(&[0, rows as u32 / 2])];
        for chosen in &some_rows {
            let row = |k: u32| &a[chosen.get(k as usize) as usize];
            let found_where = |is_there: &dyn Fn(usize) -> bool| {
                let is_found = |&k: &u32| (0..50).any(|j| is_there(j) && row(k)[j] != 0.0);
                (0..chosen.len() as u32).filter(is_found).collect::<Vec<_>>()
            };
            let found = b.rows_in_places(&on_b, chosen, &to).unwrap();
            assert_eq!(host(found), found_where(&|j| places[j] != NOWHERE));
            for inside in [Runs::from(9..41), Runs::default(), runs(&[3, 4, 20, 49])] {
                let is_outside = |j: usize| inside.position(j as u32).is_none();
                let (found, entries) = b.rows_outside(&on_b, chosen, &inside).unwrap();
                let found = host(found);
                assert_eq!(found, found_where(&is_outside));
                let outside = |&k: &u32| (0..50).filter(|&j| is_outside(j)).map(|j| row(k)[j]).collect();
                let expected: Dense = found.iter().map(outside).collect();
                assert_eq!(dense(&b.csr_to_host(&entries).unwrap().cast()), expected);
            }
        }
        // Columns that change places.
        for moved in [Runs::from(0..50), (20..50).chain(0..20).collect()] {
            let there = b.csr_to_host(&b.in_places(&on_b, &moved, 50).unwrap()).unwrap();
            assert!((0..rows).all(|i| there.row(i).0.is_sorted()));
            let at = |row: &Vec<f64>, j: u32| row[moved.iter().position(|place| place == j).unwrap()];
            let expected: Dense = a.iter().map(|row| (0..50).map(|j| at(row, j)).collect()).collect();
            assert_eq!(dense(&there.cast()), expected);
        }
        let some: Runs = (0..rows as u32).rev().step_by(3).collect();
        let entries: u64 =
            some.iter().map(|i| a[i as usize].iter().filter(|v| **v != 0.0).count() as u64).sum();
        let ascending: Runs = some.expanded().into_iter().rev().collect();
        assert_eq!(b.entries_of_rows(&on_b, &ascending).unwrap(), entries);
        let has_entries = |j: &u32| a.iter().any(|row| row[*j as usize] != 0.0);
        let columns = b.columns_with_entries(&on_b).unwrap();
        assert_eq!(columns, (0..50).filter(has_entries).collect::<Vec<_>>());
        // Entries that are there, and such that are not.
        let columns: Runs = (0..some.len() as u32).map(|k| 7 * k % 50).collect();
        let found = b.entries_at(&on_b, &some, &columns).unwrap();
        let expected = some.iter().zip(columns.iter()).map(|(i, j)| T::from_f64(a[i as usize][j as usize]));
        assert_eq!(found, expected.collect::<Vec<T>>());
    }
    for per_row in [1, 3] {
        let numbers = |n: usize, first: usize| (first..first + n).map(|k| T::from_f64(k as f64 / 3.0));
        let (v, below): (Vec<T>, Vec<T>) =
            (numbers(40 * per_row, 0).collect(), numbers(9 * per_row, 500).collect());
        let source: Runs = (0..77).map(|k| 13 * k % 49).collect();
        let found = b.elements(&source, per_row, &b.vector(&v).unwrap(), &below).unwrap();
        let all = [v, below].concat();
        let of_row = |row: u32| all[per_row * row as usize..][..per_row].to_vec();
        assert_eq!(b.to_host(&found).unwrap(), source.iter().flat_map(of_row).collect::<Vec<T>>());
    }
}

/// Rows of a rank, those that are still in the whole matrix and those that are not.
fn takes_rows_inside<T: Real, B: Parts<T>>(b: &B) {
    let a = Arc::new(random(90, 80, 6, 5));
    let whole = dense(&a);
    for (rows, columns) in
        [(0..90, 0..80), (0..31, 0..20), (17..60, 33..71), (60..90, 79..80), (9..9, 4..8), (3..8, 5..5)]
    {
        let expected: Dense = whole[rows.clone()].iter().map(|row| row[columns.clone()].to_vec()).collect();
        let nnz = expected.iter().flatten().filter(|v| **v != 0.0).count();
        let columns = columns.start as u32..columns.end as u32;
        let inside =
            Inside::of_block(Block { a: a.clone(), rows: rows.clone(), columns: columns.clone(), nnz });
        let places = |j: u32| columns.contains(&j).then(|| j - columns.start);
        for (k, i) in rows.clone().enumerate() {
            let (of_row, values) = a.row(i);
            let its = of_row.iter().zip(values).filter_map(|(&j, &v)| Some((places(j)?, v)));
            assert!(inside.row(k).eq(its));
        }
        for inside in [inside.clone(), inside.csr().clone().into()] {
            assert_eq!((inside.n_rows(), inside.nnz()), (rows.len(), nnz));
            let there = b.csr_to_host(&b.rows_inside(&inside).unwrap()).unwrap();
            assert_eq!((there.n_cols(), there.nnz()), (columns.len(), nnz));
            assert_eq!(*there, inside.csr().cast());
            assert_eq!(dense(inside.csr()), expected);
        }
    }
}

/// Numbers, of which some are marked, against the same one by one.
fn numbers_agree<T: Real, B: Parts<T>>(b: &B) {
    for n in [1_u32, 37, 300] {
        let marks: Vec<u32> = (0..n).map(|i| u32::from(i % 3 == 0) + u32::from(i % 7 == 1) * 2).collect();
        let own: Runs = (0..n).filter(|i| i % 5 != 2 && i / 40 != 1).collect();
        let there = |numbers: &[u32]| b.indices(numbers).unwrap();
        let host = |numbers: B::Indices| b.indices_to_host(&numbers).unwrap();
        let is_marked = |i: u32| marks[i as usize] == 1 && own.position(i).is_some();
        let count = |i: u32| (0..i).filter(|&i| is_marked(i)).count() as u32;
        let before = b.marked_before(&there(&marks), &own).unwrap();
        let ends = Runs::from(0..n as usize + 1);
        assert_eq!(b.taken(&before, &ends).unwrap(), ends.iter().map(count).collect::<Vec<_>>());
        let numbers: Runs = (0..count(n)).map(|k| 10 + k + k / 4).collect();
        let of_marked = b.of_marked(&before, &numbers).unwrap();
        let number = |i: u32| if is_marked(i) { numbers.get(count(i) as usize) } else { NOWHERE };
        let expected: Vec<u32> = (0..n).map(number).collect();
        let first: Vec<u32> = (0..2 * n).map(|i| if i % 11 == 3 { NOWHERE } else { i * 7 % n }).collect();
        let through = b.through(&there(&first), &of_marked).unwrap();
        let number = |&i: &u32| if i == NOWHERE { NOWHERE } else { expected[i as usize] };
        assert_eq!(host(through), first.iter().map(number).collect::<Vec<_>>());
        let picked = b.picked(&of_marked, &own).unwrap();
        assert_eq!(host(picked), own.iter().map(|i| expected[i as usize]).collect::<Vec<_>>());
    }
}

#[test]
fn a_device_changes_numbers_at_places() {
    let gpu = strict();
    for n in [1_u32, 37, 300] {
        let numbers: Vec<u32> = (0..n).map(|i| i * 7 + 3).collect();
        let there = Matrices::<f64>::indices(&gpu, &numbers).unwrap();
        let last = gpu.numbers_of_runs(&[n - 1].into_iter().collect()).unwrap();
        let change = |numbers: &mut [u32]| {
            numbers.copy_from_slice(&[77]);
            Ok(())
        };
        // SAFETY: there is a last number.
        unsafe { gpu.change_numbers_at(there.ptr_mut(), &last, change) }.unwrap();
        assert_eq!(there.to_host().unwrap(), [&numbers[..n as usize - 1], &[77]].concat());
    }
}

#[test]
fn every_backend_agrees_about_numbers() {
    numbers_agree::<f64, _>(&Cpu::new(3).unwrap());
    numbers_agree::<f32, _>(&strict());
}

#[test]
fn every_backend_takes_rows_inside() {
    takes_rows_inside::<f64, _>(&Cpu::new(3).unwrap());
    takes_rows_inside::<f32, _>(&Cpu::new(1).unwrap());
    takes_rows_inside::<f64, _>(&strict());
    takes_rows_inside::<f32, _>(&strict());
}

#[test]
fn every_backend_agrees() {
    agrees::<f64, _>(&Cpu::new(3).unwrap());
    agrees::<f32, _>(&Cpu::new(1).unwrap());
    agrees::<f64, _>(&strict());
    agrees::<f32, _>(&strict());
}
