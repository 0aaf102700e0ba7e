//! What a character outside ASCII stands for in a spelling of something dangerous (K-2).

/// What the normaliser makes of one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folded {
    /// Looks like, or is a styled form of, this ASCII character.
    Ascii(u8),
    /// A blank of another kind.
    Blank,
    /// Takes no room on the screen.
    Invisible,
    /// Changes the order in which the text is shown.
    Bidi,
    /// U+FFFD: what stood here was lost before it arrived.
    Lost,
    /// Itself.
    Other,
}

/// Letters of other scripts that are drawn like an ASCII letter, in pairs of rows: the characters, and what they are
/// taken for.
const LETTERS: [(&str, &str); 7] = [
    // Cyrillic, small and capital.
    ("аЬвсԁеѕіјӏкмноорԛгѵтихуһԝѡӡ", "abbcdesijlkmhoopqrvtuxyhwwz"),
    ("АВСЕЅІЈКМНОРԚТХУԜҺѴЗ", "abcesijkmhopqtxywhvz"),
    // Greek, small and capital.
    ("αβγεηικνορτυχωϲϳ", "abyenikvoptuxwcj"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ", "abezhikmnoptyxc"),
    // Latin letters that are no ASCII: dotless, script, small capitals.
    ("ıȷɑɡɩʟſƅʀɪɴɢʙʜᴀᴄᴅᴇꜰᴊᴋᴍᴏᴘꜱᴛᴜᴠᴡʏᴢ", "ijagilsbringbhacdefjkmopstuvwyz"),
    // Armenian and Cherokee letters that fonts draw alike.
    ("օսոհցՕՍᎪᏴᏟᎠᎬᎻᎥᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ", "ounhgouabcdehijklmprstvwz"),
    // Letter-like symbols.
    ("ℂℊℋℌℍℎℐℑℒℓℕℙℚℛℜℝℤℨℬℭℯℰℱℳℴℹⅅⅆⅇⅈⅉ", "cghhhhiillnpqrrrzzbceefmoiddeij"),
];

/// Marks that are drawn like an ASCII mark.
const MARKS: [(&str, &str); 2] = [
    ("․‥…·∙", "....."),
    ("‐‑‒–—―−﹣⁄∕⧸⟋∖⧵﹨∗⁎∣ǀ│׀；︔﹔﹕∶꞉﹙﹚⁽⁾﹛﹜﹦﹩﹠﹪", "--------////\\\\\\**||||;;;:::()(){}=$&%"),
];

/// Quotes of other shapes.
const QUOTES: &str = "‘’‚‛“”„‟′″‵‶ʹʺʻʼʽ´＂＇«»";

/// The look-alike of `ch`, which is not ASCII.
pub(super) fn fold(ch: char) -> Folded {
    let code = ch as u32;
    match code {
        0xfffd => Folded::Lost,
        0x061c | 0x200e | 0x200f | 0x202a..=0x202e | 0x2066..=0x2069 => Folded::Bidi,
        _ if is_invisible(code) => Folded::Invisible,
        _ if is_blank(code) => Folded::Blank,
        0xff01..=0xff5e => Folded::Ascii((code - 0xff01 + 0x21) as u8),
        0x1d400..=0x1d7ff => styled(code - 0x1d400),
        0x24b6..=0x24e9 => Folded::Ascii(letter((code - 0x24b6) % 26)),
        0x249c..=0x24b5 => Folded::Ascii(letter(code - 0x249c)),
        0x1f110..=0x1f129 | 0x1f130..=0x1f149 | 0x1f150..=0x1f169 | 0x1f170..=0x1f189 => {
            Folded::Ascii(letter((code - 0x1f110) % 32))
        }
        // Most text that is not ASCII: letters with accents, Chinese, Japanese, Korean, emoji.
        0xc0..=0x130 | 0x3400..=0x9fff | 0xac00..=0xd7a3 | 0x1f300..=0x1faff => Folded::Other,
        _ => tables(ch),
    }
}

fn letter(index: u32) -> u8 {
    b'a' + u8::try_from(index).unwrap_or(0) % 26
}

/// The mathematical alphabets: 13 styles of 52 letters, then Greek, then digits in 5 styles.
fn styled(index: u32) -> Folded {
    match index {
        0..676 => Folded::Ascii(letter(index % 26)),
        974..1024 => Folded::Ascii(b'0' + (index - 974) as u8 % 10),
        _ => Folded::Other,
    }
}

fn tables(ch: char) -> Folded {
    if QUOTES.contains(ch) {
        return Folded::Ascii(b'"');
    }
    for (from, to) in LETTERS.iter().chain(&MARKS) {
        if let Some(at) = from.chars().position(|known| known == ch) {
            return to.as_bytes().get(at).map_or(Folded::Other, |byte| Folded::Ascii(*byte));
        }
    }
    Folded::Other
}

/// Unicode's Default_Ignorable_Code_Point, without the bidirectional controls above.
fn is_invisible(code: u32) -> bool {
    matches!(
        code,
        0xad | 0x34f | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f | 0x200b..=0x200d | 0x2060..=0x2065
            | 0x206a..=0x206f | 0x3164 | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfff8
            | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff
    )
}

fn is_blank(code: u32) -> bool {
    matches!(code, 0x85 | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f | 0x3000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_as_many_letters_on_both_sides() {
        for (from, to) in LETTERS.iter().chain(&MARKS) {
            assert_eq!(from.chars().count(), to.len(), "{from}");
            assert!(from.chars().all(|ch| !ch.is_ascii()), "{from}");
        }
    }

    #[test]
    fn each_kind() {
        for (ch, is) in [('ѕ', b's'), ('ο', b'o'), ('Ｏ', b'O'), ('𝐞', b'e'), ('𝟗', b'9'), ('ⓢ', b's')]
        {
            assert_eq!(fold(ch), Folded::Ascii(is), "{ch}");
        }
        assert_eq!(fold('\u{200b}'), Folded::Invisible);
        assert_eq!(fold('\u{202e}'), Folded::Bidi);
        assert_eq!(fold('\u{3000}'), Folded::Blank);
        assert_eq!(fold('語'), Folded::Other);
    }
}
