//! Solves in which no rank has the whole matrix, against those in which rank 0 has.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use warpsolve::Result;
use warpsolve::comm::{Comm, Partitioning};
use warpsolve::job::ranks::by_rows::{RowSource, Solver, own_rows};
use warpsolve::job::ranks::together;
use warpsolve::job::{Device, Method, Options, Solution, relative_residual};
use warpsolve::matrix::Csr;

use crate::{cpu, matrix, rhs, solved};

/// A matrix that is there, whose rows are handed out.
struct Whole(Arc<Csr<f64>>);

impl RowSource for Whole {
    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }
    fn rows(&self, rows: Range<usize>) -> Result<Csr<f64>> {
        let (columns, values) = rows.clone().map(|i| self.0.row(i)).fold((vec![], vec![]), |mut all, row| {
            all.0.extend_from_slice(row.0);
            all.1.extend_from_slice(row.1);
            all
        });
        let row_ptr = &self.0.row_ptr()[rows.start..=rows.end];
        let row_ptr = row_ptr.iter().map(|p| p - row_ptr[0]).collect();
        Csr::new(rows.len(), self.0.n_cols(), row_ptr, columns, values)
    }
}

/// Solves with the rows of `source` on `size` ranks; x is put together here.
fn by_rows(
    source: &dyn RowSource,
    size: usize,
    options: &Options,
    device: impl Fn() -> Device + Sync,
) -> Result<Solution> {
    let parts = Mutex::new(vec![Vec::new(); size]);
    let b = rhs(source.n_rows());
    let on_rank = |comm: &Arc<dyn Comm>| {
        let device = device();
        let a = own_rows(&**comm, &device, source, options.block_size)?;
        let mut solver = Solver::new(comm, &device, a, options)?;
        let Solution { x, report } = solver.solve(&b[solver.rows()])?;
        parts.lock().unwrap()[comm.rank()] = x;
        Ok(report)
    };
    let report = together(size, on_rank, |comm| on_rank(comm).map(drop))?;
    Ok(Solution { x: parts.into_inner().unwrap().concat(), report })
}

/// Every way that needs but rows.
fn ways() -> Vec<Options> {
    let unnamed = Options::default();
    let all = crate::ways().into_iter();
    let with_method = all.filter(|way| *way != unnamed && way.method != Some(Method::Direct));
    with_method.filter(|way| way.method.is_some() || way.precond.is_some()).collect()
}

#[test]
fn every_way_gives_the_bits_of_a_solve_with_the_whole() {
    for name in ["poisson2d:13", "tet:7"] {
        let a = matrix(name);
        for size in [1, 2, 3, 5] {
            let ranks = crate::cpus(size, Partitioning::Blocks);
            for options in ways() {
                let one = by_rows(&Whole(a.clone()), size, &options, cpu).unwrap();
                let other = solved(&a, &options, cpu(), &ranks);
                let what = format!("{name} on {size}: {} with {}", one.report.method, one.report.precond);
                let residual = relative_residual(&a, &one.x, &rhs(a.n_rows()));
                assert_eq!(one.report.converged(), residual <= 1.0001 * options.stop.rtol, "{what}");
                assert_eq!(one.report.outcome.reason, other.report.outcome.reason, "{what}");
                if size > 1 {
                    assert!(one.x == other.x, "{what}");
                    let [mine, its] = [&one, &other].map(|solution| &solution.report);
                    // A run that refines begins with a norm of b - A x, whose terms are added in another order.
                    let same = mine.refinements > 0 || mine.outcome.history == its.outcome.history;
                    assert!(same && mine.outcome.iterations == its.outcome.iterations, "{what}");
                    let [mine, its] = [mine, its].map(|report| report.ranks.clone().unwrap());
                    assert!(mine.by_rows && !its.by_rows);
                    assert_eq!(mine.quality, its.quality, "{what}");
                    assert_eq!(mine.exchanged_bytes, its.exchanged_bytes, "{what}");
                }
            }
        }
    }
}
