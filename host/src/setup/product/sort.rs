//! Columns in ascending order.

/// Sorts different numbers, few of them by counting the smaller ones of each.
#[inline(always)]
pub(super) fn sort(numbers: &mut [u32], space: &mut [u32]) {
    const LANES: usize = 8;
    const REGISTERS: usize = 3;
    let n = numbers.len();
    if n > REGISTERS * LANES {
        return numbers.sort_unstable();
    }
    let (mut padded, mut ranks) = ([[0; LANES]; REGISTERS], [[0; LANES]; REGISTERS]);
    padded.as_flattened_mut()[..n].copy_from_slice(numbers);
    for (lanes, ranks) in padded.iter().zip(&mut ranks).take(n.div_ceil(LANES)) {
        for &other in &*numbers {
            for (rank, &number) in ranks.iter_mut().zip(lanes) {
                *rank += u32::from(other < number);
            }
        }
    }
    for (&rank, &number) in ranks.as_flattened().iter().zip(&*numbers) {
        space[rank as usize] = number;
    }
    numbers.copy_from_slice(&space[..n]);
}
