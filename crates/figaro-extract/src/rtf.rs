//! Rich Text Format (Microsoft, version 1.9.1): groups in braces, control words after a backslash, characters of a code page as
//! `\'hh`, others as `\uN` with a substitute behind them. The crates for it give up on files of Word.

use encoding_rs::{Encoding, MACINTOSH, WINDOWS_1252};

use super::passages::{Passages, Title};
use figaro_domain::document::Unreadable;

/// Groups that are not the text.
const SKIPPED: [&str; 16] = [
    "fonttbl",
    "colortbl",
    "stylesheet",
    "info",
    "pict",
    "themedata",
    "datastore",
    "listtable",
    "listoverridetable",
    "rsidtbl",
    "generator",
    "xmlnstbl",
    "latentstyles",
    "fldinst",
    "filetbl",
    "revtbl",
];
/// Maximum depth of groups. Deeper ones are damage.
const MAX_DEPTH: usize = 500;

pub(super) fn read(bytes: &[u8], passages: &mut Passages) -> Title {
    let mut reader = RtfReader {
        encoding: WINDOWS_1252,
        groups: vec![RtfGroup { is_skipped: false, substitutes: 1 }],
        ..RtfReader::default()
    };
    let mut rest = bytes;
    while let Some((first, behind)) = rest.split_first() {
        rest = match first {
            b'{' => {
                let inner = *reader.group();
                reader.groups.push(inner);
                behind
            }
            b'}' => {
                reader.groups.pop();
                behind
            }
            b'\\' => reader.control(behind),
            b'\r' | b'\n' => behind,
            byte => {
                reader.character(*byte);
                behind
            }
        };
        if reader.groups.len() > MAX_DEPTH {
            return Err(Unreadable::Damaged);
        }
    }
    reader.flush();
    passages.add(&reader.text);
    Ok(None)
}

#[derive(Debug, Clone, Copy)]
struct RtfGroup {
    is_skipped: bool,
    /// Number of substitutes behind a character as `\uN`.
    substitutes: usize,
}

struct RtfReader {
    encoding: &'static Encoding,
    groups: Vec<RtfGroup>,
    /// Substitutes still to be left out.
    left_out: usize,
    /// Characters of the code page that are not decoded yet.
    bytes: Vec<u8>,
    text: String,
}

impl Default for RtfReader {
    fn default() -> Self {
        Self {
            encoding: WINDOWS_1252,
            groups: Vec::new(),
            left_out: 0,
            bytes: Vec::new(),
            text: String::new(),
        }
    }
}

impl RtfReader {
    /// Returns the innermost group; of a file with a brace too many, the outermost again.
    fn group(&mut self) -> &mut RtfGroup {
        if self.groups.is_empty() {
            self.groups.push(RtfGroup { is_skipped: false, substitutes: 1 });
        }
        let last = self.groups.len() - 1;
        &mut self.groups[last]
    }

    fn character(&mut self, byte: u8) {
        if self.left_out > 0 {
            self.left_out -= 1;
        } else if !self.group().is_skipped {
            self.bytes.push(byte);
        }
    }

    fn flush(&mut self) {
        let (text, ..) = self.encoding.decode(&self.bytes);
        self.text.push_str(&text);
        self.bytes.clear();
    }

    fn push(&mut self, words: &str) {
        if !self.group().is_skipped {
            self.flush();
            self.text.push_str(words);
        }
    }

    /// Reads what stands behind a backslash, and returns the rest.
    fn control<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        let Some((first, behind)) = rest.split_first() else { return rest };
        if !first.is_ascii_alphabetic() {
            match first {
                b'\'' => {
                    let hex = behind.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
                    hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())
                        .into_iter()
                        .for_each(|byte| self.character(byte));
                    return behind.get(2..).unwrap_or_default();
                }
                b'*' => self.group().is_skipped = true,
                b'~' => self.push(" "),
                b'\r' | b'\n' => self.push("\n\n"),
                b'{' | b'}' | b'\\' => self.character(*first),
                _ => {}
            }
            return behind;
        }
        let end = |from: usize, is_part: fn(&u8) -> bool| {
            from + rest[from..].iter().take_while(|byte| is_part(byte)).count()
        };
        let word_end = end(0, u8::is_ascii_alphabetic);
        let minus = usize::from(rest.get(word_end) == Some(&b'-'));
        let number_end = end(word_end + minus, u8::is_ascii_digit);
        let word = std::str::from_utf8(&rest[..word_end]).unwrap_or_default();
        let number =
            std::str::from_utf8(&rest[word_end..number_end]).ok().and_then(|number| number.parse().ok());
        self.word(word, number);
        let blank = usize::from(rest.get(number_end) == Some(&b' '));
        &rest[number_end + blank..]
    }

    fn word(&mut self, word: &str, number: Option<i64>) {
        match word {
            "par" | "sect" | "page" | "row" => self.push("\n\n"),
            "line" => self.push("\n"),
            "tab" => self.push(" "),
            "cell" => self.push(" | "),
            "emdash" => self.push("—"),
            "endash" => self.push("–"),
            "lquote" => self.push("‘"),
            "rquote" => self.push("’"),
            "ldblquote" => self.push("“"),
            "rdblquote" => self.push("”"),
            "bullet" => self.push("•"),
            "mac" => self.encoding = MACINTOSH,
            "ansicpg" => {
                let known = number.and_then(|page| Encoding::for_label(format!("windows-{page}").as_bytes()));
                self.encoding = known.unwrap_or(self.encoding);
            }
            "uc" => {
                self.group().substitutes = number.and_then(|count| usize::try_from(count).ok()).unwrap_or(1)
            }
            "u" => {
                // Numbers above 32,767 are written as negative ones.
                let unit = number.map(|number| (number & 0xffff) as u32);
                let c = unit.and_then(char::from_u32).unwrap_or(' ');
                self.push(c.encode_utf8(&mut [0; 4]));
                self.left_out = self.group().substitutes;
            }
            word if SKIPPED.contains(&word) => self.group().is_skipped = true,
            _ => {}
        }
    }
}
