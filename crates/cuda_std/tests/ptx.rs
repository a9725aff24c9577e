//! What functions are on the device: the PTX of a crate that calls them all.
//!
//! Among them those that the published `cuda_std` has wrong: any and all exchanged for their opposites, modes
//! of shuffles, scopes of atomic operations and of the block's fence, the width of compare-and-swap.

use cuda_builder::{CudaBuilder, Ptxas, Toolchain};
use std::path::Path;
use std::process::Command;

/// The text of an entry point.
fn entry<'a>(ptx: &'a str, name: &str) -> &'a str {
    let begin = ptx.find(&format!(".visible .entry {name}(")).unwrap_or_else(|| panic!("{name} is missing"));
    &ptx[begin..begin + ptx[begin..].find("\n}").unwrap()]
}

/// What stands in each entry point, so many times at least.
const CONTENTS: &[(&str, &[&str])] = &[
    ("barriers", &["bar.red.popc.u32", "bar.red.and.pred", "bar.red.or.pred"]),
    ("block_fence", &["fence.acq_rel.cta"]),
    ("grid_fence", &["fence.acq_rel.gpu"]),
    (
        "grid_barrier",
        &["bar.sync", "fence.acq_rel.gpu", "atom.relaxed.gpu.add.u32", "ld.relaxed.gpu", "bar.sync"],
    ),
    ("system_fence", &["fence.acq_rel.sys"]),
    ("shuffle_up", &["shfl.sync.up.b32", ", 1, 6144,"]),
    ("shuffle_down", &["shfl.sync.down.b32", ", 1, 6175,"]),
    ("shuffle_xor", &["shfl.sync.bfly.b32"]),
    ("shuffle_idx", &["shfl.sync.idx.b32"]),
    // Any: the ballot is not empty. All: the ballot of those against it is.
    ("vote_any", &["setp.eq", "vote.sync.ballot.b32", "setp.ne"]),
    ("vote_all", &["setp.ne", "vote.sync.ballot.b32", "setp.eq"]),
    ("matches", &["match.any.sync.b64"]),
    ("masks", &["activemask.b32", "bar.warp.sync"]),
    ("atomic_block", &["atom.relaxed.cta.add.f32"]),
    ("atomic_device", &["atom.acq_rel.gpu.add.f64"]),
    ("atomic_system", &["atom.acquire.sys.add.f32"]),
    (
        "atomic_consistent",
        &["fence.sc.gpu", "ld.acquire.gpu.b32", "st.relaxed.gpu.b32", "atom.acq_rel.gpu.or.b32"],
    ),
    ("atomic_cells", &["ld.acquire.sys.b64", "st.release.sys.b64", "atom.release.sys.exch.b64"]),
    ("atomic_exchange", &["atom.acq_rel.gpu.cas.b64", "atom.relaxed.gpu.cas.b32"]),
    (
        "atomic_integers",
        &["min.s32", "max.s32", "add.u32", "min.u64", "max.u64", "xor.b64", "atom.release.gpu.and.b64"],
    ),
    (
        "approximations",
        &[
            "ex2.approx.f32",
            "lg2.approx.f32",
            "sin.approx.f32",
            "cos.approx.f32",
            "rsqrt.approx.f32",
            "rcp.approx.f32",
            "sqrt.approx.f32",
            "div.approx.f32",
            "tanh.approx.f32",
        ],
    ),
    (
        "exact",
        &[
            "cvt.rmi.f64.f64",
            "cvt.rpi.f64.f64",
            "cvt.rzi.f64.f64",
            "sqrt.rn.f64",
            "fma.rn.f64",
            "sqrt.rn.f32",
            "cvt.rni.f32.f32",
        ],
    ),
    (
        "rounding",
        &[
            "add.rm.f64",
            "mul.rp.f64",
            "div.rz.f64",
            "rcp.rn.f64",
            "sqrt.rm.f64",
            "fma.rz.f64",
            "sub.rp.f32",
            "cvt.rz.f64.s64",
            "cvt.rm.f32.f64",
            "cvt.rp.f32.u32",
            "cvt.rzi.s32.f64",
        ],
    ),
    (
        "integers",
        &[
            "popc.b32",
            "clz.b32",
            "brev.b32",
            "mul.hi.s32",
            "mul.hi.u32",
            "dp4a.s32.s32",
            "dp4a.u32.u32",
            "dp2a.lo.s32.s32",
            "dp2a.hi.s32.s32",
            "popc.b64",
            "clz.b64",
            "mul.hi.s64",
        ],
    ),
    ("indices", &["%tid.y", "%ctaid.z", "%ntid.x", "%nctaid.y"]),
    (
        "arrays",
        &["cvta.shared.u64", "cuda_std_dynamic_shared", "%dynamic_smem_size", "%total_smem_size", "bar.sync"],
    ),
    (
        "words",
        &["cuda_std_dynamic_shared;", "st.shared.b32", "atom.relaxed.cta.shared.add.u32", "ld.shared.b32"],
    ),
    ("spaces", &["isspacep.shared", "isspacep.local", "cvta.to.global.u64"]),
    ("clocks", &["pmevent 3", "brkpt", "%clock64", "nanosleep.u32"]),
    ("all_single", &[]),
    ("all_double", &[]),
    ("halves", &[]),
    ("messages", &[]),
    ("allocations", &["malloc"]),
];

/// The same for kernels that need compute capability 9.0.
const CONTENTS_FROM_90: &[(&str, &[&str])] = &[
    (
        "clusters",
        &[
            "%cluster_ctarank",
            "%cluster_nctarank",
            "%cluster_ctaid.y",
            "%cluster_nctaid.z",
            "barrier.cluster.arrive;",
            "barrier.cluster.wait;",
            "mapa.shared::cluster.u32",
            "ld.shared::cluster.b64",
            "st.shared::cluster.b32",
            "atom.relaxed.cluster.shared::cluster.add.u32",
        ],
    ),
    (
        "bulk_copies",
        &[
            "mbarrier.init.shared.b64",
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
            "mbarrier.arrive.shared.b64",
            "mbarrier.try_wait.parity.shared.b64",
        ],
    ),
];

#[test]
fn functions_are_the_instructions_that_they_should_be() {
    if let Err(why) = Toolchain::find() {
        println!("skipped: {why}");
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device");
    // The versions that the workspace is tested with.
    std::fs::copy(folder.join("../../../../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let mut update = Command::new(env!("CARGO"));
    update.args(["update", "--workspace", "--offline", "--quiet"]).current_dir(&folder);
    assert!(update.status().unwrap().success());
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("device");
    // 7.5 is the oldest that all of 12.0 to 13.x of ptxas know.
    let build = |arch: &str, features: &[&str]| {
        let builder = CudaBuilder::new(&folder).arch(arch).build_args(features).target_dir(&target);
        builder.build().unwrap().remove(0)
    };
    // Vectors of other crates, which take long to compile, for one target.
    let files = [build("sm_75", &[]), build("sm_90", &["--features=vectors"])];
    for file in &files {
        let ptx = std::fs::read_to_string(&file.path).unwrap();
        assert_eq!(ptx.contains(".entry vectors("), file.arch == "sm_90");
        for (name, contents) in CONTENTS {
            for content in *contents {
                assert!(entry(&ptx, name).contains(content), "no {content} in {}", entry(&ptx, name));
            }
        }
        // Reductions are instructions from 8.0 on.
        let reductions = entry(&ptx, "reductions");
        let newer = file.arch == "sm_90";
        for op in ["add.s32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32", "min.s32", "max.s32"] {
            assert_eq!(reductions.contains(&format!("redux.sync.{op}")), newer, "{op} in {reductions}");
        }
        assert_eq!(reductions.contains("shfl.sync.idx"), !newer);
        // Copies by the machine are, too.
        let copies = entry(&ptx, "copies");
        for copy in
            ["cp.async.ca.shared.global", "], 16;", "cp.async.commit_group;", "cp.async.wait_group 2;"]
        {
            assert_eq!(copies.contains(copy), newer, "{copy} in {copies}");
        }
        // Products of small matrices, and shuffles before.
        let products = entry(&ptx, "products");
        for product in ["m8n8k4.row.col.f64.f64.f64.f64", "m16n8k16.row.col.f32.bf16.bf16.f32"] {
            assert_eq!(products.contains(&format!("mma.sync.aligned.{product}")), newer, "{products}");
        }
        assert_eq!(products.contains("shfl.sync.idx"), !newer);
        // A kernel that needs 9.0 is for no other.
        assert_eq!(ptx.contains(".entry clusters("), newer);
        if newer {
            for (name, contents) in CONTENTS_FROM_90 {
                for content in *contents {
                    assert!(entry(&ptx, name).contains(content), "no {content} in {}", entry(&ptx, name));
                }
            }
        }
        // In shared memory, with their sizes.
        assert!(ptx.contains("\n.extern .shared .align 16 .b8 cuda_std_dynamic_shared[];"));
        assert!(ptx.contains(".shared .align 4 .b8 cuda_std_shared_device_"), "{}", &ptx[..2000]);
        // An array for each size of its instances, two of which have the same.
        for (name, bytes) in [("f32_32", 128), ("f32_64", 256), ("f64_32", 256), ("f64_64", 512)] {
            let text = entry(&ptx, &format!("array_of_instance_{name}"));
            let array = &text[text.find("cuda_std_array_").expect("an array")..];
            let array = &array[..array.find(';').unwrap()];
            let declaration = format!("\n.shared .align 16 .b8 {array}[{bytes}];");
            assert_eq!(ptx.matches(&declaration).count(), 1, "{declaration}");
        }
        for (name, suffix) in
            [("small_u8", ".b8"), ("small_bool", ".b8"), ("small_i16", ".b16"), ("small_bf16", ".b16")]
        {
            let text = entry(&ptx, name);
            for access in [
                "ld.global",
                "ld.global.nc.v4",
                "ld.relaxed.gpu.global",
                "st.global",
                "ld.shared",
                "st.shared",
            ] {
                assert!(text.contains(&format!("{access}{suffix}")), "no {access}{suffix} in {text}");
            }
        }
        assert!(ptx.contains("__assertfail") && ptx.contains("vprintf"));
    }
    match Ptxas::find().unwrap() {
        Some(ptxas) => ptxas.check(&files).unwrap(),
        None => println!("skipped: there is no ptxas"),
    }
}
