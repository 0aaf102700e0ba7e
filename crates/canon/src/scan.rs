//! Finding the bytes of a string that need attention, eight at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Length of the run at the start of `bytes` without quote, backslash and control characters.
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    let plain = words.iter().take_while(|word| !needs_attention(u64::from_le_bytes(**word))).count() * 8;
    let rest = &bytes[plain..];
    let is_special = |byte: &u8| *byte == b'"' || *byte == b'\\' || *byte < 0x20;
    plain + rest.iter().position(is_special).unwrap_or(rest.len())
}

/// Whether one of the eight bytes is a quote, a backslash or below 0x20. Subtracting with borrow says exactly whether
/// there is one, though not which.
fn needs_attention(word: u64) -> bool {
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let is = |byte: u8| {
        let zero_there = word ^ (ONES * u64::from(byte));
        zero_there.wrapping_sub(ONES) & !zero_there
    };
    (control | is(b'"') | is(b'\\')) & HIGH != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place() {
        for at in 0..20 {
            for byte in 0..=255_u8 {
                let mut bytes = [b'a'; 20];
                bytes[at] = byte;
                let special = byte < 0x20 || byte == b'"' || byte == b'\\';
                assert_eq!(plain_run(&bytes), if special { at } else { 20 }, "{byte} at {at}");
            }
        }
    }
}
