//! The kept machine code: a kernel reads nothing before it has waited for the kernel in front of it.
//!
//! ptxas takes what `ld.global.nc` reads for constant while the kernel runs, and reads it before
//! `griddepcontrol.wait` where it finds that to be faster: then it is what was there before the kernel in
//! front wrote it. What a kernel reads first, at an address known from the beginning, it reads by `ld`.

use flate2::read::GzDecoder;
use std::io::Read;
use warpsolve::ptx::PTX;

/// Bytes of an instruction; the lowest 12 bits say what it does.
const INSTRUCTION: usize = 16;
/// ACQBULK, which `griddepcontrol.wait` becomes.
const WAIT: u16 = 0x82e;
/// LDG and LD, loads from global memory.
const LOADS: [u16; 2] = [0x981, 0x980];

/// A number of `bytes` bytes, the lowest first.
fn number(file: &[u8], at: usize, bytes: usize) -> usize {
    file[at..at + bytes].iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

/// The kernels in machine code, an ELF file of 64 bits, with their names: sections `.text.NAME`.
fn kernels(file: &[u8]) -> Vec<(&str, &[u8])> {
    let (headers, size, count) = (number(file, 0x28, 8), number(file, 0x3a, 2), number(file, 0x3c, 2));
    let header = |i: usize| &file[headers + i * size..][..size];
    let contents = |header: &[u8]| number(header, 0x18, 8)..number(header, 0x18, 8) + number(header, 0x20, 8);
    let names = &file[contents(header(number(file, 0x3e, 2)))];
    let name = |header: &[u8]| {
        let name = &names[number(header, 0, 4)..];
        let end = name.iter().position(|&byte| byte == 0).expect("a name has an end");
        std::str::from_utf8(&name[..end]).expect("kernels have names in ASCII")
    };
    (0..count)
        .map(header)
        .filter_map(|header| Some((name(header).strip_prefix(".text.")?, &file[contents(header)])))
        .collect()
}

/// What the instructions of a kernel do.
fn operations(code: &[u8]) -> impl Iterator<Item = u16> {
    code.chunks_exact(INSTRUCTION).map(|instruction| number(instruction, 0, 2) as u16 & 0xfff)
}

/// Whether a kernel loads before it waits.
fn reads_too_early(code: &[u8]) -> bool {
    let mut before = operations(code).take_while(|&operation| operation != WAIT);
    before.any(|operation| LOADS.contains(&operation))
}

#[test]
fn kernels_wait_before_they_read() {
    let mut faults = Vec::new();
    for (device, code) in PTX.iter().flat_map(|ptx| ptx.machine_code).filter(|(device, _)| *device >= (9, 0))
    {
        let mut file = Vec::new();
        GzDecoder::new(*code).read_to_end(&mut file).unwrap();
        let kernels = kernels(&file);
        let loading = kernels.iter().filter(|(_, code)| operations(code).any(|o| LOADS.contains(&o))).count();
        assert!(loading > 400, "{loading} of {} kernels for {device:?} load anything", kernels.len());
        for (name, code) in kernels {
            assert!(operations(code).any(|operation| operation == WAIT), "{name} for {device:?} never waits");
            if reads_too_early(code) {
                faults.push(format!("{name} for {device:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "read before they wait: {faults:?}");
}

#[test]
fn a_load_in_front_of_the_wait_is_seen() {
    let code = |operations: &[u16]| -> Vec<u8> {
        let instruction = |&operation: &u16| {
            let mut bytes = [0; INSTRUCTION];
            bytes[..2].copy_from_slice(&(operation | 0x7000).to_le_bytes());
            bytes
        };
        operations.iter().flat_map(instruction).collect()
    };
    assert!(reads_too_early(&code(&[0x202, 0x981, WAIT, 0x981])));
    assert!(!reads_too_early(&code(&[0x202, WAIT, 0x981])));
}
