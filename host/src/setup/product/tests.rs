//! Against dense loops, and every backend against the definition.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::setup::columns::BITS;

use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::matrix::Csr;
use crate::setup::algebra::Algebra;
use crate::setup::product::SparseProducts;
use crate::setup::testing::{assert_agrees, assert_close, dense, random, scattered, strict, times};

#[test]
fn products_are_those_of_dense_matrices() {
    let g = Reference::new();
    for (rows, inner, columns, most, seed) in
        [(30, 41, 17, 6, 1), (7, 300, 90, 60, 2), (90, 5, 1, 4, 3), (3, 0, 4, 5, 4)]
    {
        let a = Arc::new(random(rows, inner.max(1), most, seed));
        let b = Arc::new(random(inner.max(1), columns, most, seed + 9));
        let c = g.product(&a, &b).unwrap();
        assert_close(&c, &times(&dense(&a), &dense(&b)), 1e-14);
        let mut again = Arc::new(c.with_values(vec![f64::NAN; c.nnz()]));
        g.product_values(&a, &b, &mut again).unwrap();
        assert_eq!(again, c);
        // The pattern has what A and B reach, whatever cancels.
        for i in 0..rows {
            let mut reached: Vec<u32> =
                a.row(i).0.iter().flat_map(|&k| b.row(k as usize).0).copied().collect();
            reached.sort_unstable();
            reached.dedup();
            assert_eq!(c.row(i).0, reached);
        }
    }
}

fn check<T: Real, B: Algebra<T>>(g: &B, a: &Csr<T>, b: &Csr<T>) {
    let reference = Reference::new();
    let [a, b] = [a, b].map(|m| Arc::new(m.clone()));
    let (a_on_g, b_on_g) = (g.csr(&a).unwrap(), g.csr(&b).unwrap());
    let mut found = g.product(&a_on_g, &b_on_g).unwrap();
    let mut expected = reference.product(&a, &b).unwrap();
    assert_agrees(g, &found, &expected, "product");
    g.add_product(&a_on_g, &b_on_g, &mut found).unwrap();
    reference.add_product(&a, &b, &mut expected).unwrap();
    assert_agrees(g, &found, &expected, "sum");
    g.product_values(&a_on_g, &b_on_g, &mut found).unwrap();
    reference.product_values(&a, &b, &mut expected).unwrap();
    assert_agrees(g, &found, &expected, "values");
}

/// Each entry of `a` becomes a block of entries, none like another: rows with the columns of those before
/// them.
pub(super) fn of_nodes<T: Real>(a: &Csr<T>, rows: usize, columns: usize) -> Csr<T> {
    Csr::from_rows(
        rows * a.n_rows(),
        columns * a.n_cols(),
        |i| columns * a.row_len(i / rows),
        |i, to, values| {
            let (from, v) = a.row(i / rows);
            for (p, (to, value)) in to.iter_mut().zip(values).enumerate() {
                let (node, of_node) = (p / columns, p % columns);
                *to = from[node] * columns as u32 + of_node as u32;
                *value = v[node] * T::from_f64(1.0 + 0.37 * (i % rows) as f64 - 0.61 * of_node as f64);
            }
        },
    )
}

/// Rows with the columns of those before them: of A, of B, of both, so many that some stand alone.
fn agrees_on_twins<T: Real, B: Algebra<T>>(g: &B) {
    for (rows, inner, columns) in
        [(3, 3, 6), (1, 3, 1), (3, 1, 2), (2, 2, 2), (6, 3, 6), (5, 7, 1), (1, 13, 1)]
    {
        let a = of_nodes(&scattered(40, 37, |i| i % 9), rows, inner);
        let b = of_nodes(&scattered(37, 50, |i| i % 6), inner, columns);
        check::<T, _>(g, &a, &b);
    }
    // Nodes that the rows of A and of B do not have alike: runs begin and end within them.
    let (three, five) =
        (of_nodes(&scattered(35, 30, |i| i % 5), 3, 3), of_nodes(&scattered(18, 11, |i| i % 4), 5, 2));
    check::<T, _>(g, &three, &five);
    // All rows alike, and rows with a column of their own now and then.
    check::<T, _>(g, &of_nodes(&scattered(1, 2, |_| 2), 70, 9), &of_nodes(&scattered(2, 3, |_| 3), 9, 20));
    let alone = of_nodes(&scattered(30, 33, |i| 1 + i % 4), 3, 1);
    check::<T, _>(g, &alone, &of_nodes(&scattered(11, 9, |i| i % 4), 3, 4));
}

fn agrees<T: Real, B: Algebra<T>>(g: &B) {
    // The shapes of a hierarchy, one lane to many: rows of B with about 1, 4, 9 and 40 entries, some empty.
    check::<T, _>(g, &scattered(90, 70, |i| i % 17), &scattered(70, 31, |_| 1));
    check::<T, _>(g, &scattered(75, 60, |i| i % 23), &scattered(60, 40, |i| i % 7));
    check::<T, _>(g, &scattered(21, 80, |i| 3 * i), &scattered(80, 200, |i| 6 + i % 7));
    check::<T, _>(g, &scattered(9, 50, |i| 5 * i), &scattered(50, 333, |i| 30 + i));
    // Nothing, little.
    check::<T, _>(g, &scattered(1, 1, |_| 1), &scattered(1, 1, |_| 1));
    check::<T, _>(g, &scattered(5, 4, |_| 0), &scattered(4, 9, |_| 3));
    check::<T, _>(g, &scattered(0, 3, |_| 0), &scattered(3, 2, |_| 1));
    // A row of C that is full, among short ones: beyond the table, in the count, the columns and the values.
    check::<T, _>(g, &scattered(40, 64, |i| if i == 17 { 64 } else { 2 }), &scattered(64, 150, |i| i % 5));
    // Tables exactly full, and with one column too many: one lane has 16 slots.
    check::<T, _>(g, &scattered(33, 40, |i| 10 + i % 8), &scattered(40, 40, |_| 1));
    // Rows that take a warp among short ones, and one that takes a block.
    let some_long = |most: usize| move |i| if i % 400 == 399 { 40 + i % 50 } else { i % most };
    check::<T, _>(g, &scattered(1300, 700, some_long(9)), &scattered(700, 900, |i| i % 4));
    check::<T, _>(g, &scattered(1100, 600, some_long(19)), &scattered(600, 900, |i| 2 + i % 7));
    let full = scattered(1200, 90, |i| if i == 700 { 90 } else { i % 5 });
    check::<T, _>(g, &full, &scattered(90, 900, |i| if i == 80 { 700 } else { 3 }));
    agrees_on_twins::<T, _>(g);
}

#[test]
fn every_backend_agrees_in_f64() {
    agrees::<f64, _>(&Cpu::new(3).unwrap());
    agrees::<f64, _>(&strict());
}

#[test]
fn every_backend_agrees_in_f32() {
    agrees::<f32, _>(&Cpu::new(3).unwrap());
    agrees::<f32, _>(&strict());
}

#[test]
fn long_rows_of_more_columns_than_a_bitmap_has() {
    let a = scattered::<f64>(3, 30, |i| if i == 1 { 30 } else { 1 });
    check(&strict(), &a, &scattered(30, 2 * BITS + 77, |_| 3));
}
