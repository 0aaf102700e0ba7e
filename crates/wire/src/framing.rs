//! Where the body of a message ends (RFC 9112, section 6). What two readers could read differently is refused: the second
//! reading would be a request that nobody recorded (PC-35).

use crate::headers::Line;

/// How a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// There is none.
    None,
    /// After so many bytes.
    Length(u64),
    /// With the last chunk and its trailers.
    Chunked,
    /// With the connection. Answers only; whether it is complete cannot be known (ruling 15).
    Close,
}

/// The framing is not beyond doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// The two headers that frame a message: at most one of them, once.
fn declared(lines: &[Line<'_>]) -> Result<Option<Framing>, Refused> {
    let mut found = None;
    for line in lines {
        let framing = if line.is("content-length") {
            Framing::Length(length(line.value)?)
        } else if line.is("transfer-encoding") {
            chunked(line.value)?
        } else {
            continue;
        };
        // Twice, or both: one reader takes the first, another the last.
        if found.replace(framing).is_some() {
            return Err(Refused);
        }
    }
    Ok(found)
}

/// Leading blanks are how everybody writes a header; trailing ones are how smuggling is written.
fn value(raw: &[u8]) -> &[u8] {
    let blanks = raw.iter().take_while(|byte| **byte == b' ').count();
    &raw[blanks..]
}

fn length(raw: &[u8]) -> Result<u64, Refused> {
    let digits = value(raw);
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Refused);
    }
    Ok(digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}

fn chunked(raw: &[u8]) -> Result<Framing, Refused> {
    if value(raw).eq_ignore_ascii_case(b"chunked") { Ok(Framing::Chunked) } else { Err(Refused) }
}

/// Framing of a request. Without a header there is no body.
pub fn request_framing(lines: &[Line<'_>]) -> Result<Framing, Refused> {
    Ok(declared(lines)?.unwrap_or(Framing::None))
}

/// Framing of an answer to `method` with a final status.
pub fn answer_framing(method: &str, status: u16, lines: &[Line<'_>]) -> Result<Framing, Refused> {
    let declared = declared(lines)?;
    if method == "HEAD" || status == 204 || status == 304 {
        return Ok(Framing::None);
    }
    Ok(declared.unwrap_or(Framing::Close))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<Framing, Refused> {
        let lines: Vec<Line<'_>> = pairs
            .iter()
            .map(|(name, value)| Line { name: name.as_bytes(), value: value.as_bytes() })
            .collect();
        request_framing(&lines)
    }

    #[test]
    fn pc_35_only_one_reading() {
        assert_eq!(of(&[]), Ok(Framing::None));
        assert_eq!(of(&[("Content-Length", " 12")]), Ok(Framing::Length(12)));
        assert_eq!(of(&[("transfer-encoding", " Chunked")]), Ok(Framing::Chunked));
        for refused in [
            &[("Content-Length", " 5"), ("Transfer-Encoding", " chunked")][..],
            &[("Content-Length", " 5"), ("content-length", " 6")],
            &[("Content-Length", " 5"), ("content-length", " 5")],
            &[("Content-Length", " 5, 5")],
            &[("Content-Length", " +5")],
            &[("Content-Length", " -5")],
            &[("Content-Length", " 0x5")],
            &[("Content-Length", " 5 ")],
            &[("Content-Length", "")],
            &[("Content-Length", " 99999999999999999999")],
            &[("Transfer-Encoding", " chunked\t")],
            &[("Transfer-Encoding", "\tchunked")],
            &[("Transfer-Encoding", " \u{b}chunked")],
            &[("Transfer-Encoding", " gzip, chunked")],
            &[("Transfer-Encoding", " identity")],
            &[("Transfer-Encoding", " chunked"), ("Transfer-Encoding", " chunked")],
        ] {
            assert_eq!(of(refused), Err(Refused), "{refused:?}");
        }
    }

    #[test]
    fn answers_without_a_body() {
        let lines = [Line { name: b"Content-Length", value: b" 12" }];
        assert_eq!(answer_framing("HEAD", 200, &lines), Ok(Framing::None));
        assert_eq!(answer_framing("GET", 304, &lines), Ok(Framing::None));
        assert_eq!(answer_framing("GET", 200, &lines), Ok(Framing::Length(12)));
        assert_eq!(answer_framing("GET", 200, &[]), Ok(Framing::Close));
    }
}
