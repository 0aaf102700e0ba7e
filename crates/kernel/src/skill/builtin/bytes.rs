//! Hashing and encoding.

use super::Declared;
use crate::skill::payload::{choice, text};
use crate::skill::{Failed, Fault};
use base64ct::{Base64, Base64Unpadded, Base64Url, Base64UrlUnpadded, Encoding as _};
use canon::{Digest, Object, Value};
use std::borrow::Cow;

const ENCODING: (&str, &str) = ("encoding", "how data spells its bytes: utf8 (when absent), hex or base64");
const RESULT: (&str, &str) = ("to", "how the bytes are given back: utf8 (when absent) or hex");
const ALPHABET: (&str, &str) = ("alphabet", "standard (when absent) or url");

/// The skills of this family.
pub(super) const SKILLS: &[Declared] = &[
    Declared {
        name: "bytes.sha256",
        version: 1,
        description: "Compute the SHA-256 hash of data: a cryptographic digest (checksum, fingerprint) of 64 hex \
                      digits that shows any change.",
        triggers: &["sha256", "sha-256", "cryptographic hash"],
        needs: &[("data", "the bytes")],
        takes: &[ENCODING],
        examples: &[
            (r#"{"data":"abc"}"#, r#""ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad""#),
            (
                r#"{"data":"","encoding":"hex"}"#,
                r#""e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855""#,
            ),
        ],
        run: sha256,
    },
    Declared {
        name: "bytes.crc32",
        version: 1,
        description: "Compute the CRC-32 check value of data as zip, gzip and PNG use it: detects transmission \
                      errors, not forgery.",
        triggers: &["crc32", "crc-32", "cyclic redundancy check"],
        needs: &[("data", "the bytes")],
        takes: &[ENCODING],
        examples: &[
            (r#"{"data":"123456789"}"#, r#""cbf43926""#),
            (r#"{"data":"","encoding":"base64"}"#, r#""00000000""#),
        ],
        run: crc32,
    },
    Declared {
        name: "bytes.to_base64",
        version: 1,
        description: "Encode data as Base64 text (RFC 4648), in the standard or the URL-safe alphabet, to put binary \
                      content into JSON or mail.",
        triggers: &["encode base64", "to base64", "base64 encode"],
        needs: &[("data", "the bytes")],
        takes: &[ENCODING, ALPHABET],
        examples: &[
            (r#"{"data":"any carnal pleas"}"#, r#""YW55IGNhcm5hbCBwbGVhcw==""#),
            (r#"{"data":"fbff","encoding":"hex","alphabet":"url"}"#, r#""-_8=""#),
        ],
        run: to_base64,
    },
    Declared {
        name: "bytes.from_base64",
        version: 1,
        description: "Decode Base64 text (RFC 4648) back to the data that it contains, padded or not, as text or \
                      hex.",
        triggers: &["decode base64", "from base64", "base64 decode"],
        needs: &[("text", "the Base64, without blanks")],
        takes: &[ALPHABET, RESULT],
        examples: &[
            (r#"{"text":"YW55"}"#, r#""any""#),
            (r#"{"text":"-_8","alphabet":"url","to":"hex"}"#, r#""fbff""#),
        ],
        run: from_base64,
    },
    Declared {
        name: "bytes.to_hex",
        version: 1,
        description: "Write the bytes of a text as hexadecimal digits, two for each byte: a hex dump to see what a \
                      string really contains.",
        triggers: &["encode hex", "to hex", "hex encode", "hex dump"],
        needs: &[("data", "the bytes")],
        takes: &[ENCODING],
        examples: &[
            (r#"{"data":"é\n"}"#, r#""c3a90a""#),
            (r#"{"data":"AP8=","encoding":"base64"}"#, r#""00ff""#),
        ],
        run: to_hex,
    },
    Declared {
        name: "bytes.from_hex",
        version: 1,
        description: "Read hexadecimal digits back into the text whose bytes they are; upper and lower case are \
                      understood.",
        triggers: &["decode hex", "from hex", "hex decode"],
        needs: &[("text", "an even number of hex digits")],
        takes: &[],
        examples: &[(r#"{"text":"c3A9"}"#, r#""é""#), (r#"{"text":""}"#, r#""""#)],
        run: from_hex,
    },
    Declared {
        name: "bytes.to_percent",
        version: 1,
        description: "Escape a text for a URL query or path by percent-encoding (RFC 3986): spaces, ampersands and \
                      umlauts become %20, %26 and so on.",
        triggers: &["percent encode", "url encode", "urlencode", "escape for a url"],
        needs: &[("text", "the text")],
        takes: &[],
        examples: &[
            (r#"{"text":"a b&c=é~"}"#, r#""a%20b%26c%3D%C3%A9~""#),
            (r#"{"text":"plain-._"}"#, r#""plain-._""#),
        ],
        run: to_percent,
    },
    Declared {
        name: "bytes.from_percent",
        version: 1,
        description: "Unescape a percent-encoded URL part: %20 becomes a space again; with form, plus signs too.",
        triggers: &["percent decode", "url decode", "urldecode", "unescape a url"],
        needs: &[("text", "the escaped text")],
        takes: &[("kind", "url (when absent), or form: a plus sign is a space")],
        examples: &[
            (r#"{"text":"a%20b%c3%A9+"}"#, r#""a bé+""#),
            (r#"{"text":"a+b%2B","kind":"form"}"#, r#""a b+""#),
        ],
        run: from_percent,
    },
];

fn not_encoded(why: &str) -> Failed {
    Failed::new(Fault::NotEncoded, why)
}

/// The bytes that `data` spells.
fn data(payload: &Object) -> Result<Cow<'_, [u8]>, Failed> {
    let data = text(payload, "data")?;
    Ok(match choice(payload, "encoding", &["utf8", "hex", "base64"])? {
        "hex" => Cow::Owned(hex_bytes(data)?),
        "base64" => Cow::Owned(base64_bytes(data, "standard")?),
        _ => Cow::Borrowed(data.as_bytes()),
    })
}

fn hex_bytes(text: &str) -> Result<Vec<u8>, Failed> {
    canon::unhex(&text.to_ascii_lowercase()).ok_or_else(|| not_encoded("not an even number of hex digits"))
}

fn base64_bytes(text: &str, alphabet: &str) -> Result<Vec<u8>, Failed> {
    let bytes = match (alphabet, text.ends_with('=')) {
        ("url", true) => Base64Url::decode_vec(text),
        ("url", false) => Base64UrlUnpadded::decode_vec(text),
        (_, true) => Base64::decode_vec(text),
        (_, false) => Base64Unpadded::decode_vec(text),
    };
    bytes.map_err(|_| not_encoded("not Base64"))
}

fn utf8(bytes: Vec<u8>) -> Result<Value, Failed> {
    let text = String::from_utf8(bytes);
    text.map(Value::Str)
        .map_err(|error| Failed::new(Fault::NotUtf8, format!("byte {}", error.utf8_error().valid_up_to())))
}

fn sha256(payload: &Object) -> Result<Value, Failed> {
    Ok(Digest::of(&data(payload)?).into())
}

/// The reflected polynomial 0xEDB88320 of IEEE 802.3, one byte at a time.
const CRC: [u32; 256] = {
    let mut table = [0_u32; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

fn crc32(payload: &Object) -> Result<Value, Failed> {
    let step = |crc: u32, byte: &u8| CRC[usize::from((crc ^ u32::from(*byte)) as u8)] ^ (crc >> 8);
    let crc = !data(payload)?.iter().fold(!0, step);
    Ok(Value::Str(format!("{crc:08x}")))
}

fn to_base64(payload: &Object) -> Result<Value, Failed> {
    let data = data(payload)?;
    Ok(Value::Str(match choice(payload, "alphabet", &["standard", "url"])? {
        "url" => Base64Url::encode_string(&data),
        _ => Base64::encode_string(&data),
    }))
}

fn from_base64(payload: &Object) -> Result<Value, Failed> {
    let alphabet = choice(payload, "alphabet", &["standard", "url"])?;
    let bytes = base64_bytes(text(payload, "text")?, alphabet)?;
    match choice(payload, "to", &["utf8", "hex"])? {
        "hex" => Ok(Value::Str(canon::hex(&bytes))),
        _ => utf8(bytes),
    }
}

fn to_hex(payload: &Object) -> Result<Value, Failed> {
    Ok(Value::Str(canon::hex(&data(payload)?)))
}

fn from_hex(payload: &Object) -> Result<Value, Failed> {
    utf8(hex_bytes(text(payload, "text")?)?)
}

fn to_percent(payload: &Object) -> Result<Value, Failed> {
    let text = text(payload, "text")?;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte as char);
        } else {
            out.push('%');
            out.push_str(&canon::hex(&[byte]).to_ascii_uppercase());
        }
    }
    Ok(Value::Str(out))
}

fn from_percent(payload: &Object) -> Result<Value, Failed> {
    let text = text(payload, "text")?;
    let form = choice(payload, "kind", &["url", "form"])? == "form";
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match first {
            b'%' => {
                let [high, low, tail @ ..] = rest else { return Err(not_encoded("% without two digits")) };
                let pair = [high.to_ascii_lowercase(), low.to_ascii_lowercase()];
                let byte = std::str::from_utf8(&pair).ok().and_then(canon::unhex);
                bytes.extend(byte.ok_or_else(|| not_encoded("% without two hex digits"))?);
                rest = tail;
            }
            b'+' if form => bytes.push(b' '),
            other => bytes.push(*other),
        }
    }
    utf8(bytes)
}
