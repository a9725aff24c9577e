//! Decodes the bytes of an array in a VTU file. Callers add the array's name to errors.

use std::io::Read;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use flate2::read::ZlibDecoder;

use crate::io::scan::Encoding;

type Result<T> = std::result::Result<T, String>;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes one or more base64 texts in a row, each with its padding, with blanks between. Some writers encode
/// the header of an array by itself.
pub(super) fn base64(text: &[u8]) -> Result<Vec<u8>> {
    let text: Vec<u8> = text.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for part in text.split_inclusive(|&b| b == b'=').filter(|part| *part != b"=") {
        BASE64
            .decode_vec(part.strip_suffix(b"=").unwrap_or(part), &mut bytes)
            .map_err(|e| format!("its base64 is faulty: {e}"))?;
    }
    Ok(bytes)
}

/// The first `n` header numbers.
fn header(bytes: &[u8], n: usize, size: usize, encoding: Encoding) -> Result<Vec<usize>> {
    let numbers = n.checked_mul(size).and_then(|length| bytes.get(..length));
    let numbers = numbers.ok_or("its header is cut short; is the file complete?")?;
    // A number that does not fit becomes the largest, which is refused as well.
    let widen = |number: &[u8]| {
        let value = number.iter().enumerate().fold(0u64, |sum, (i, &byte)| {
            let place = if encoding == Encoding::Big { size - 1 - i } else { i };
            sum | u64::from(byte) << (8 * place)
        });
        usize::try_from(value).unwrap_or(usize::MAX)
    };
    Ok(numbers.chunks_exact(size).map(widen).collect())
}

/// [bytes] [data]
pub(super) fn uncompressed(stored: &[u8], size: usize, encoding: Encoding, expected: usize) -> Result<&[u8]> {
    let found = header(stored, 1, size, encoding)?[0];
    if found != expected {
        return Err(format!("it has {found} bytes, but {expected} are expected"));
    }
    stored[size..]
        .get(..expected)
        .ok_or_else(|| format!("it ends before its {expected} bytes; is the file complete?"))
}

/// [blocks] [bytes of a block] [bytes of the last one, if it is shorter] [compressed bytes of each] [blocks]
pub(super) fn inflate(stored: &[u8], size: usize, encoding: Encoding, expected: usize) -> Result<Vec<u8>> {
    let incomplete = || "its compressed blocks are cut short; is the file complete?".to_string();
    let start = header(stored, 3, size, encoding)?;
    let (blocks, full, last) = (start[0], start[1], start[2]);
    let found = match (blocks, last) {
        (0, _) => Some(0),
        (_, 0) => blocks.checked_mul(full),
        _ => (blocks - 1).checked_mul(full).and_then(|bytes| bytes.checked_add(last)),
    };
    if found != Some(expected) {
        return Err(format!(
            "it has {blocks} blocks of {full} bytes, the last of {last}, but {expected} bytes are expected"
        ));
    }
    let numbers = blocks.checked_add(3).ok_or_else(incomplete)?;
    let lengths = header(stored, numbers, size, encoding)?;
    let mut rest = &stored[numbers * size..];
    let mut data = Vec::new();
    for (block, &length) in lengths[3..].iter().enumerate() {
        let (packed, behind) = rest.split_at_checked(length).ok_or_else(incomplete)?;
        rest = behind;
        let expected = if last > 0 && block + 1 == blocks { last } else { full };
        let found = ZlibDecoder::new(packed).take(expected as u64 + 1).read_to_end(&mut data);
        match found {
            Ok(found) if found == expected => {}
            Ok(_) => return Err(format!("block {} does not have its {expected} bytes", block + 1)),
            Err(e) => return Err(format!("block {} cannot be decompressed: {e}", block + 1)),
        }
    }
    Ok(data)
}
