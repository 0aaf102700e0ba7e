//! Text.

use super::Declared;
use crate::skill::payload::{choice, count_or, flag, output, text, unfit};
use crate::skill::{Failed, Fault};
use canon::{Object, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The skills of this family.
pub(super) const SKILLS: &[Declared] = &[
    Declared {
        name: "text.words",
        version: 1,
        description: "Count the words of a text: how many runs of characters stand between blanks, to see how long \
                      an essay or message is.",
        triggers: &["count words", "word count"],
        needs: &[("text", "the text")],
        takes: &[],
        examples: &[(r#"{"text":"one two"}"#, "2"), (r#"{"text":" \n\t"}"#, "0")],
        run: words,
    },
    Declared {
        name: "text.normalise",
        version: 1,
        description: "Clean up whitespace: tabs and repeated spaces become one space, blanks at the ends of lines \
                      vanish, line endings are made uniform, several empty lines become one.",
        triggers: &["clean up whitespace", "normalise blanks", "collapse spaces"],
        needs: &[("text", "the text")],
        takes: &[],
        examples: &[
            (r#"{"text":"  a \t b  \r\n\r\n\r\nc"}"#, r#""a b\n\nc\n""#),
            (r#"{"text":"\u200ba\u00a0b"}"#, r#""a b\n""#),
        ],
        run: normalise,
    },
    Declared {
        name: "text.slug",
        version: 1,
        description: "Turn a title into a short identifier for a URL or file name: lower case \
                      letters and digits joined by hyphens, accents removed.",
        triggers: &["make a slug", "slugify", "url slug"],
        needs: &[("text", "the title")],
        takes: &[("width", "most characters, 1 to 200; 80 when absent")],
        examples: &[
            (r#"{"text":"Crème brûlée, 2nd edition!"}"#, r#""creme-brulee-2nd-edition""#),
            (r#"{"text":"a very long title","width":8}"#, r#""a-very""#),
        ],
        run: slug,
    },
    Declared {
        name: "text.wrap",
        version: 1,
        description: "Reflow paragraphs so that no line is longer than a given width in characters; words are never \
                      cut, empty lines keep paragraphs apart.",
        triggers: &["wrap text", "reflow paragraphs", "line width"],
        needs: &[("text", "the text")],
        takes: &[("width", "longest line in characters, 1 to 1000; 80 when absent")],
        examples: &[
            (r#"{"text":"one two three","width":7}"#, r#""one two\nthree\n""#),
            (r#"{"text":"a\nb\n\nextraordinary","width":5}"#, r#""a b\n\nextraordinary\n""#),
        ],
        run: wrap,
    },
    Declared {
        name: "text.redact",
        version: 2,
        description: "Hide personal data in a text before it is shared: e-mail addresses, IPv4 addresses and payment \
                      card numbers are replaced by a mark that says what stood there.",
        triggers: &["redact", "hide email addresses", "mask personal data", "anonymise text"],
        needs: &[("text", "the text")],
        takes: &[],
        examples: &[
            (
                r#"{"text":"Ask ann.lee@example.org, not 10.0.0.1."}"#,
                r#"{"text":"Ask [mail], not [ipv4].","mail":1,"ipv4":1,"card":0}"#,
            ),
            (
                r#"{"text":"card 4111 1111 1111 1111, order 1234 5678 9012 3456"}"#,
                r#"{"text":"card [card], order 1234 5678 9012 3456","mail":0,"ipv4":0,"card":1}"#,
            ),
            (
                r#"{"text":"Card 4111 1111 1111 1111 12/27 CVC 123"}"#,
                r#"{"text":"Card [card] 12/27 CVC 123","mail":0,"ipv4":0,"card":1}"#,
            ),
        ],
        run: super::redact::redact,
    },
    Declared {
        name: "text.replace",
        version: 1,
        description: "Search and replace: substitute every occurrence of a literal phrase by another one, and say how \
                      often it occurred.",
        triggers: &["search and replace", "find and replace", "replace text"],
        needs: &[
            ("text", "the text"),
            ("from", "what is searched, at least one character, taken literally"),
            ("to", "what stands there afterwards"),
        ],
        takes: &[],
        examples: &[
            (r#"{"text":"aaa b","from":"aa","to":"c"}"#, r#"{"text":"ca b","count":1}"#),
            (r#"{"text":"x","from":"y","to":""}"#, r#"{"text":"x","count":0}"#),
        ],
        run: replace,
    },
    Declared {
        name: "text.lines",
        version: 1,
        description: "Sort the lines of a list alphabetically or backwards and drop duplicate lines, as the commands \
                      sort and uniq do.",
        triggers: &["sort lines", "unique lines", "remove duplicate lines"],
        needs: &[("text", "the lines")],
        takes: &[
            ("order", "sort (by code point, when absent), descending, reverse or keep"),
            ("unique", "whether a line that stood before is dropped; false when absent"),
        ],
        examples: &[
            (r#"{"text":"b\na\nb\n","unique":true}"#, r#"{"text":"a\nb\n","lines":2,"dropped":1}"#),
            (r#"{"text":"b\na","order":"reverse"}"#, r#"{"text":"a\nb\n","lines":2,"dropped":0}"#),
        ],
        run: lines,
    },
];

fn words(payload: &Object) -> Result<Value, Failed> {
    let text = text(payload, "text")?;
    if !text.is_ascii() {
        return Ok(Value::from(text.split_whitespace().count() as u64));
    }
    // The same for ASCII, without decoding: a word begins where nothing or a blank is followed by something else. Both
    // sides are always looked at and a byte counts 128 pairs without a check, so that many are done at once.
    let blank = |byte: u8| byte.wrapping_sub(b'\t') < 5 || byte == b' ';
    let bytes = text.as_bytes();
    let Some((first, after)) = bytes.split_first() else { return Ok(Value::from(0_u64)) };
    let mut count = u64::from(!blank(*first));
    for (before, after) in bytes.chunks(128).zip(after.chunks(128)) {
        let begins = |(before, after): (&u8, &u8)| u8::from(blank(*before) & !blank(*after));
        let words = before.iter().zip(after).map(begins).fold(0_u8, u8::wrapping_add);
        count += u64::from(words);
    }
    Ok(Value::from(count))
}

/// Characters that take no room and that nobody sees.
fn is_invisible(ch: char) -> bool {
    matches!(ch, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

fn normalise(payload: &Object) -> Result<Value, Failed> {
    let mut visible = Cow::Borrowed(text(payload, "text")?);
    // Most texts have neither, and are not copied.
    if visible.contains(is_invisible) {
        visible = Cow::Owned(visible.replace(is_invisible, ""));
    }
    if visible.contains('\r') {
        visible = Cow::Owned(visible.replace("\r\n", "\n").replace('\r', "\n"));
    }
    let mut out = String::with_capacity(visible.len() + 1);
    let mut gap = false;
    for line in visible.split('\n') {
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else {
            gap = true;
            continue;
        };
        if gap && !out.is_empty() {
            out.push('\n');
        }
        gap = false;
        out.push_str(first);
        for word in words {
            out.push(' ');
            out.push_str(word);
        }
        out.push('\n');
    }
    Ok(Value::Str(out))
}

/// The plain letters of a Latin letter with a mark; nothing for anything else.
fn plain(ch: char) -> Option<&'static str> {
    Some(match ch {
        'à' | 'á' | 'â' | 'ã' | 'å' | 'ā' | 'ă' | 'ą' => "a",
        'ä' | 'æ' => "ae",
        'ç' | 'ć' | 'č' | 'ĉ' | 'ċ' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ė' | 'ę' | 'ě' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ì' | 'í' | 'î' | 'ï' | 'ī' | 'į' | 'ı' => "i",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ō' | 'ő' => "o",
        'ö' | 'ø' | 'œ' => "oe",
        'ŕ' | 'ř' => "r",
        'ś' | 'ş' | 'š' | 'ș' => "s",
        'ß' => "ss",
        'ţ' | 'ť' | 'ț' => "t",
        'þ' => "th",
        'ù' | 'ú' | 'û' | 'ū' | 'ů' | 'ű' | 'ų' => "u",
        'ü' => "ue",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        _ => return None,
    })
}

fn slug(payload: &Object) -> Result<Value, Failed> {
    let text = text(payload, "text")?;
    let width = count_or(payload, "width", 1..=200, 80)?;
    let mut out = String::new();
    for ch in text.chars().flat_map(char::to_lowercase) {
        match plain(ch) {
            Some(letters) => out.push_str(letters),
            None if ch.is_ascii_alphanumeric() => out.push(ch),
            // An apostrophe and a combining mark belong to their word.
            None if matches!(ch, '\'' | '\u{2019}' | '\u{300}'..='\u{36f}') => {}
            None if !out.is_empty() && !out.ends_with('-') => out.push('-'),
            None => {}
        }
    }
    let whole = out.trim_end_matches('-');
    if whole.is_empty() {
        return Err(unfit("text", "has no Latin letter and no digit"));
    }
    if whole.len() <= width {
        return Ok(Value::from(whole));
    }
    // Cut between two words where there is a place for it.
    let end =
        if whole.as_bytes()[width] == b'-' { width } else { whole[..width].rfind('-').unwrap_or(width) };
    Ok(Value::from(&whole[..end]))
}

fn wrap(payload: &Object) -> Result<Value, Failed> {
    let width = count_or(payload, "width", 1..=1000, 80)?;
    let mut out = String::new();
    let (mut column, mut gap) = (0, false);
    for line in text(payload, "text")?.lines() {
        if line.trim().is_empty() {
            gap = true;
            continue;
        }
        if gap && !out.is_empty() {
            out.push_str("\n\n");
            column = 0;
        }
        gap = false;
        for word in line.split_whitespace() {
            let length = word.chars().count();
            if column > 0 && column + 1 + length > width {
                out.push('\n');
                column = 0;
            } else if column > 0 {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += length;
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    Ok(Value::Str(out))
}

fn replace(payload: &Object) -> Result<Value, Failed> {
    let (text, from, to) = (text(payload, "text")?, text(payload, "from")?, text(payload, "to")?);
    if from.is_empty() {
        return Err(unfit("from", "is empty"));
    }
    let count = text.matches(from).count();
    let length = (text.len() - count * from.len()).saturating_add(count.saturating_mul(to.len()));
    if length > crate::skill::payload::OUTPUT_MAX {
        return Err(Failed::new(Fault::OutputTooLarge, format!("{length} bytes")));
    }
    Ok(Object::new().with("text", text.replace(from, to)).with("count", count as u64).into())
}

fn lines(payload: &Object) -> Result<Value, Failed> {
    let order = choice(payload, "order", &["sort", "descending", "reverse", "keep"])?;
    let mut lines: Vec<&str> = text(payload, "text")?.lines().collect();
    let before = lines.len();
    if flag(payload, "unique")? {
        let mut seen = BTreeSet::new();
        lines.retain(|line| seen.insert(*line));
    }
    match order {
        "sort" => lines.sort_unstable(),
        "descending" => lines.sort_unstable_by(|a, b| b.cmp(a)),
        "reverse" => lines.reverse(),
        _ => {}
    }
    let mut out = String::new();
    for line in &lines {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{line}");
    }
    let dropped = (before - lines.len()) as u64;
    let text = output(out)?;
    Ok(Object::new().with("text", text).with("lines", lines.len() as u64).with("dropped", dropped).into())
}
