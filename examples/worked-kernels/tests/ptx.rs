//! The kernels as PTX, as the build has made it.

use cuda_builder::Ptxas;
use std::path::Path;

/// Entry points, and the barriers in each as they are written: the compiler must not make more of them.
const ENTRIES: [(&str, usize); 27] = [
    ("add_totals", 0),
    ("drift_arrays", 0),
    ("drift_structures", 0),
    ("fours", 0),
    ("gather", 0),
    ("heat_step", 0),
    ("histogram", 2),
    ("matmul", 2),
    ("nbody", 2),
    ("pi", 0),
    ("product_bf16", 0),
    ("product_f64", 0),
    ("relax", 4),
    ("saxpy", 0),
    ("scan_blocks", 2),
    ("scan_totals", 4),
    ("sum_rows", 0),
    ("transpose", 1),
    ("turn_bf16", 1),
    ("turn_bool", 1),
    ("turn_f16", 1),
    ("turn_i16", 1),
    ("turn_i8", 1),
    ("turn_tiles", 2),
    ("turn_u16", 1),
    ("turn_u8", 1),
    ("vadd", 0),
];

/// The same of kernels that need 9.0.
const NEWEST: [(&str, usize); 3] = [("cluster_histogram", 0), ("pass_on", 0), ("turn_in_bulk", 2)];

#[test]
fn every_kernel_is_an_entry_point_that_assembles() {
    let ptxas = Ptxas::find().unwrap();
    if ptxas.is_none() {
        println!("skipped: there is no ptxas");
    }
    // 7.5 is the oldest that all of 12.0 to 13.x of ptxas know.
    for (arch, newest) in [("sm_75", &NEWEST[..0]), ("sm_90", &NEWEST[..])] {
        let path = Path::new(env!("OUT_DIR")).join(arch).with_extension("ptx");
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(".visible .entry ").count(), ENTRIES.len() + newest.len());
        for (entry, barriers) in ENTRIES.iter().chain(newest) {
            let (_, from) = text.split_once(&format!(".visible .entry {entry}(")).expect(entry);
            let (body, _) = from.split_once("\n}").unwrap();
            assert_eq!(body.matches("bar.sync").count(), *barriers, "{entry} for {arch}");
            assert!(!body.contains(".local"), "{entry} has an array in memory");
            assert!(!body.contains("cvta.shared"), "{entry} has a pointer into shared memory, which is slow");
        }
        if let Some(ptxas) = &ptxas {
            ptxas.assemble(&path, arch).unwrap();
        }
    }
}
