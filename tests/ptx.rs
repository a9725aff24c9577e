//! The embedded PTX: current, complete, without calls, spills or doubled barriers.

use cuda_builder::{CudaBuilder, Ptxas};
use cuda_std::{BATCH, host::Kernel};
use gpu_kernels::{blas1::fill, monitor::Guard};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use warpsolve::ptx::{EmbeddedPtx, PTX};

#[test]
fn the_kept_ptx_is_that_of_the_sources() {
    let targets: Vec<String> = PTX.iter().map(sm).collect();
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("gpu-kernels");
    if let Err(error) = CudaBuilder::new(kernels).archs(&targets).current_stamp() {
        panic!("{error}\nRun: cargo run -p warpsolve-cuda-builder -- keep gpu-kernels {}", targets.join(" "));
    }
}

#[test]
fn every_kernel_is_there_for_every_target() {
    assert!(!PTX.is_empty());
    let expected: BTreeSet<&str> = gpu_kernels::entries().into_iter().collect();
    for ptx in PTX {
        let found: BTreeSet<&str> = entries(ptx.text).into_iter().map(|entry| entry.name).collect();
        let missing: Vec<_> = expected.difference(&found).collect();
        let unknown: Vec<_> = found.difference(&expected).collect();
        assert!(
            missing.is_empty() && unknown.is_empty(),
            "{}: missing {missing:?}, unknown {unknown:?}",
            sm(ptx)
        );
    }
}

/// The macro that makes such entry points has the number of sets from nowhere else.
#[test]
fn a_batch_has_room_for_as_many_sets_as_are_launched_at_once() {
    let guard = Guard { state: std::ptr::null_mut(), mirror: std::ptr::null_mut() };
    let fill = fill { n: 0, value: 0.0_f64, x: std::ptr::null_mut(), guard };
    let set = fill.batched().unwrap();
    let room = format!("{}_param_0[{}]", set.name(), BATCH * set.size());
    for ptx in PTX {
        let entries = entries(ptx.text);
        let batch = entries.iter().find(|entry| entry.name == set.name()).unwrap();
        assert!(batch.text.contains(&room), "{}: no {room}", sm(ptx));
    }
}

#[test]
fn machine_code_is_there_for_common_devices() {
    let devices: BTreeSet<(u32, u32)> =
        PTX.iter().flat_map(|ptx| ptx.machine_code).map(|&(device, _)| device).collect();
    assert_eq!(devices, [(8, 0), (9, 0), (10, 0), (12, 0)].into());
}

/// Barriers in the PTX of a kernel; one too many is one that some threads of a block do not reach.
fn barriers(name: &str) -> usize {
    // A reduction over the grid: within the block, before the flag of the last block is read, and within
    // that.
    let grid_reduction = 3;
    // Around the steps of a window, and in a sum over the block.
    let bitmap = 5;
    let table = [
        ("add_border_dot_", grid_reduction),
        ("block_cg_residuals", 1),
        ("block_combination", 1),
        ("block_products", 3),
        ("cg_step_", grid_reduction),
        // A sum over the block.
        ("compare_mirrored", 1),
        // A sum over the block.
        ("count_children", 2),
        ("count_columns_long", bitmap),
        ("count_indefinite_pairs", 1),
        // A sum over the block.
        ("dense_dots", 1),
        // Around each tile's sums, and behind each row's.
        ("dense_symmetry", grid_reduction),
        ("dense_subtract_sum", 2 + grid_reduction),
        ("dense_sweep_sum", 2 + grid_reduction),
        ("dot_", grid_reduction),
        // When the tiles are there, in each step, and around the change of one tile.
        ("gauss_jordan", 1 + 1 + 2),
        ("gmres_rotate_", 2),
        ("gmres_solve_", 2),
        ("gram_schmidt_", 4),
        ("lanczos_step_", grid_reduction),
        // A sum over the block, and its result for all.
        ("modified_", 2),
        ("norm_max_", grid_reduction),
        // Two sums over the block, and where its first child goes.
        ("place_children", 2 + 2 + 1),
        // When all that a block puts is there, and in the last block.
        ("put_f", 2),
        ("put_u", 2),
        // A sum over the block, and where its first unknown goes, in each step.
        ("reach_neighbours", 2 + 1),
        ("reach", grid_reduction),
        ("reduce_ranks_", 1),
        ("shorten", grid_reduction),
        ("sort_rows_long", bitmap),
        ("sort_windows", 2),
        ("span_scan", 2),
        ("span_sums", 5),
        ("sum_", grid_reduction),
        // Sums and maxima over the block.
        ("survey_rows", 2),
        // Behind each level.
        ("triangle_chain", 1),
        ("write_columns_long", bitmap),
    ];
    let by_start = table.iter().find(|(start, _)| name.starts_with(start)).map(|&(_, count)| count);
    match by_start {
        Some(count) => count,
        // Of up to so many columns, one after the other.
        None if name.contains("_columns_") => match (name.ends_with("_product_dot"), name.contains("_8_")) {
            (false, _) => 0,
            (true, is_of_8) => (grid_reduction + 1) * if is_of_8 { 8 } else { 4 },
        },
        None if name.ends_with("_product_dot") => grid_reduction,
        None if name.ends_with("_sweep_norm") => grid_reduction,
        // `gpu_kernels::examples`
        None if name.ends_with("_sum") || name.starts_with("stencil_max") => grid_reduction,
        None => 0,
    }
}

#[test]
fn no_barrier_is_doubled() {
    let mut faults = Vec::new();
    for ptx in PTX {
        for entry in entries(ptx.text) {
            let (found, expected) = (entry.barriers(), barriers(entry.name));
            if found != expected {
                faults.push(format!("{} {}: {found}, not {expected}", sm(ptx), entry.name));
            }
        }
    }
    assert!(faults.is_empty(), "barriers:\n{}", faults.join("\n"));
}

#[test]
fn kernels_for_9_0_wait_for_the_grid_in_front_before_they_write() {
    let mut faults = Vec::new();
    for ptx in PTX {
        let expected = usize::from(ptx.target >= (9, 0));
        for entry in entries(ptx.text) {
            let launches = entry.count("griddepcontrol.launch_dependents");
            // A wait behind a branch may be written once for each way to it.
            let waits = entry.count("griddepcontrol.wait");
            if launches != expected || waits.min(1) != expected || entry.writes_before_waiting() {
                faults.push(format!("{} {}: {launches} launches, {waits} waits", sm(ptx), entry.name));
            }
        }
    }
    assert!(faults.is_empty(), "doubled, missing or too late:\n{}", faults.join("\n"));
}

#[test]
fn kernels_call_nothing_and_keep_nothing_in_local_memory() {
    for ptx in PTX {
        let functions: Vec<&str> = ptx.text.lines().filter(|line| line.contains(".func")).collect();
        assert!(functions.is_empty(), "{}: functions that were not inlined: {functions:?}", sm(ptx));
        for entry in entries(ptx.text) {
            let faults: Vec<&str> = entry.faults().collect();
            assert!(faults.is_empty(), "{} {}: {faults:?}", sm(ptx), entry.name);
        }
    }
}

#[test]
fn ptxas_accepts_every_target_without_spills() {
    let Some(Ptxas { path: ptxas, .. }) = Ptxas::find().unwrap() else {
        println!(
            "skipped: no ptxas in WARPSOLVE_PTXAS, on the PATH or in Python's packages (nvidia-cuda-nvcc)"
        );
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for ptx in PTX {
        let file = folder.path().join("kernels.ptx");
        std::fs::write(&file, ptx.text).unwrap();
        let (device, report) = assemble(&ptxas, &file, ptx);
        let usage: Vec<Usage> = usage(&report);
        println!("{} assembled for {device} by {}: {} functions", sm(ptx), ptxas.display(), usage.len());
        let named: BTreeSet<&str> = usage.iter().map(|usage| usage.function).collect();
        for entry in entries(ptx.text) {
            assert!(named.contains(entry.name), "ptxas does not report on {}:\n{report}", entry.name);
        }
        let spilling: Vec<&Usage> = usage.iter().filter(|usage| usage.bytes != [0; 3]).collect();
        assert!(spilling.is_empty(), "{} on {device}: {spilling:#?}", sm(ptx));
    }
}

/// "sm_90".
fn sm(ptx: &EmbeddedPtx) -> String {
    format!("sm_{}{}", ptx.target.0, ptx.target.1)
}

/// A kernel in a PTX module.
#[derive(Debug, PartialEq)]
struct Entry<'a> {
    name: &'a str,
    /// Everything from its parameters to the closing brace.
    text: &'a str,
}

impl<'a> Entry<'a> {
    fn instructions(&self) -> impl Iterator<Item = &'a str> {
        // A predicate ("@%p1 bar.sync 0;") or a label may stand before the instruction.
        self.text.lines().flat_map(|line| line.split_whitespace())
    }

    fn barriers(&self) -> usize {
        let is_barrier = |word: &&str| word.starts_with("bar.sync") || word.starts_with("barrier.");
        self.instructions().filter(is_barrier).count()
    }

    fn count(&self, start: &str) -> usize {
        self.instructions().filter(|word| word.starts_with(start)).count()
    }

    /// Whether global memory is written above the first wait for the grid in front, if there is one.
    fn writes_before_waiting(&self) -> bool {
        let Some((before, _)) = self.text.split_once("griddepcontrol.wait") else { return false };
        before.split_whitespace().any(|word| {
            ["st.", "atom.", "red."].iter().any(|start| word.starts_with(start)) && !word.contains(".shared")
        })
    }

    /// Lines that call, or that declare or use local memory.
    fn faults(&self) -> impl Iterator<Item = &'a str> {
        let is_fault = |word: &str| word.split('.').any(|part| part == "call" || part == "local");
        self.text.lines().filter(move |line| line.split_whitespace().any(is_fault)).map(str::trim)
    }
}

/// The kernels of a module, in its order.
fn entries(module: &str) -> Vec<Entry<'_>> {
    let starts = module.split(".visible .entry ").skip(1);
    let entry = |text| {
        let (name, rest) = str::split_once(text, '(').expect("an entry has parameters");
        // A brace at the start of a line closes the body; those of inline assembly are indented.
        let end = rest.find("\n}").expect("an entry has an end");
        Entry { name: name.trim(), text: &rest[..end] }
    };
    starts.map(entry).collect()
}

/// Stack frame, spill stores and spill loads of a function, in bytes.
#[derive(Debug, PartialEq)]
struct Usage<'a> {
    function: &'a str,
    bytes: [u64; 3],
}

/// Reads what `ptxas -v` prints.
fn usage(report: &str) -> Vec<Usage<'_>> {
    let mut function = "";
    let mut found = Vec::new();
    for line in report.lines() {
        if let Some((_, name)) = line.split_once("Function properties for ") {
            function = name.trim();
        } else if line.contains("bytes stack frame") {
            let mut bytes = line.split(',').map(|part| part.split_whitespace().next()?.parse().ok());
            let bytes = [(); 3].map(|()| bytes.next().flatten().expect("three numbers of bytes"));
            found.push(Usage { function, bytes });
        }
    }
    found
}

/// Assembles for the PTX's own target or, where this ptxas no longer knows that, the next newer one.
fn assemble(ptxas: &Path, file: &Path, ptx: &EmbeddedPtx) -> (String, String) {
    let newer = [(7, 5), (8, 0), (9, 0), (10, 0)].into_iter().filter(|&target| target > ptx.target);
    for (major, minor) in std::iter::once(ptx.target).chain(newer) {
        let device = format!("sm_{major}{minor}");
        let output = Command::new(ptxas)
            .args(["-v", "-arch", &device])
            .arg(file)
            .arg("-o")
            .arg(file.with_extension("cubin"))
            .output()
            .unwrap();
        let report =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        if output.status.success() {
            return (device, report);
        }
        assert!(report.contains("'gpu-name'"), "ptxas refuses {} for {device}:\n{report}", sm(ptx));
    }
    panic!("ptxas knows no device that runs {}", sm(ptx));
}

#[test]
fn the_parsers_see_what_they_look_for() {
    let module = ".version 7.8\n.visible .entry a_f64(\n\t.param .u32 a_param_0\n)\n{\n\tbar.sync \t0;\n\t{\n\tret;\n\t}\n\
                  \t@%p1 barrier.sync 0;\n}\n.visible .entry b()\n{\n\t.local .b8 depot[8];\n\tcall.uni f, ();\n\
                  \tst.local.b32 [%r1], 0;\n\tbar.warp.sync -1;\n}\n";
    let entries = entries(module);
    assert_eq!(entries.iter().map(|entry| entry.name).collect::<Vec<_>>(), ["a_f64", "b"]);
    assert_eq!(entries.iter().map(Entry::barriers).collect::<Vec<_>>(), [2, 0]);
    assert_eq!(entries[0].faults().count(), 0);
    assert_eq!(
        entries[1].faults().collect::<Vec<_>>(),
        [".local .b8 depot[8];", "call.uni f, ();", "st.local.b32 [%r1], 0;"]
    );
    let entry = |text| Entry { name: "c", text };
    let waiting = entry("\tst.shared.b32 [a], %r1;\n\tgriddepcontrol.wait;\n\tst.global.b32 [a], %r1; }\n");
    assert_eq!((waiting.count("griddepcontrol.wait"), waiting.count("griddepcontrol.launch")), (1, 0));
    assert!(!waiting.writes_before_waiting());
    for early in ["st.global.b32 [a], %r1;", "@%p1 atom.relaxed.gpu.global.inc.u32 %r1, [a], %r2;"] {
        let text = format!("\t{early}\n{}", waiting.text);
        assert!(Entry { name: "d", text: &text }.writes_before_waiting(), "{early}");
        assert!(!entry(early).writes_before_waiting(), "{early}");
    }
    let report = "ptxas info    : Function properties for b\n    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n";
    assert_eq!(usage(report), [Usage { function: "b", bytes: [8, 4, 12] }]);
}
