//! Connected parts of a matrix.

use crate::matrix::Csr;

/// The number of systems that a square matrix falls into: the connected components of the graph of its
/// entries, of either direction. One pass, over sets that are united.
pub fn components(a: &Csr<f64>) -> usize {
    let mut parent: Vec<u32> = (0..a.n_rows() as u32).collect();
    let mut count = a.n_rows();
    for i in 0..a.n_rows() {
        for &j in a.row(i).0 {
            let (p, q) = (root(&mut parent, i as u32), root(&mut parent, j));
            if p != q {
                parent[p.max(q) as usize] = p.min(q);
                count -= 1;
            }
        }
    }
    count
}

/// The root of `i`; halves the path on the way.
fn root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        let next = parent[parent[i as usize] as usize];
        parent[i as usize] = next;
        i = next;
    }
    i
}
