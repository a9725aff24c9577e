//! What the simulator counts of the launches that ncu counts on a GPU (`scripts/explain.sh`).

use std::process::Command;

#[test]
fn known_patterns_have_their_sectors_and_wavefronts() {
    let output = Command::new(env!("CARGO_BIN_EXE_counts")).arg("sim").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let launches: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(launches.len(), 12);
    // Accesses and sectors of loads and of stores, wavefronts of loads and of stores. 10,007 elements are 312
    // warps of 32 and one of 23, of which the first block of 1,024 has 32; a matrix of 96 rows has 9 tiles of
    // 32 warps.
    for (title, expected) in [
        ("side by side", [313, 1251, 313, 1251, 0, 0]),
        ("every second element", [313, 312 * 8 + 6, 313, 1251, 0, 0]),
        ("shifted by one element", [313, 312 * 5 + 3, 313, 1251, 0, 0]),
        ("array of structures", [939, 3 * (312 * 12 + 9), 939, 3 * (312 * 12 + 9), 0, 0]),
        ("columns in one bank", [288, 1152, 288, 1152, 288 * 32, 288]),
        ("rows padded by one", [288, 1152, 288, 1152, 288, 288]),
        ("one for a block", [2 * 281, 1123 + 281, 281, 1123, 0, 0]),
    ] {
        let launch = launches.iter().find(|launch| launch[0] == title).expect(title);
        let counts: Vec<u64> = launch[2..].iter().map(|count| count.parse().unwrap()).collect();
        assert_eq!(counts, expected, "{title}");
    }
}
