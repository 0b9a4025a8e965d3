//! Converts texts to token numbers of a WordPiece vocabulary. Splitting follows BERT's training: at white space and
//! punctuation, without accents and capitals if the vocabulary has none, and each word into the longest known pieces.

use std::collections::HashMap;

use icu_normalizer::DecomposingNormalizerBorrowed;
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};
use serde_json::Value;

/// Maximum length of a word, in characters. A longer one counts as unknown.
const MAX_WORD_CHARS: usize = 100;
/// Prefix of a piece that continues a word.
const GOES_ON: &str = "##";

/// Word pieces that a model knows.
#[derive(Debug)]
pub(super) struct WordPieces {
    pieces: HashMap<Box<str>, i32>,
    is_lowercase: bool,
    begin: i32,
    end: i32,
    unknown: i32,
}

impl WordPieces {
    /// Reads `vocab.txt`, which has one piece per line, or `tokenizer.json`, which also tells whether letters are
    /// lowercased.
    ///
    /// # Errors
    /// The fault, in words that follow the file's name.
    pub(super) fn read(text: &str, is_json: bool, is_lowercase: bool) -> Result<Self, String> {
        let (pieces, is_lowercase) = match is_json {
            true => of_json(text, is_lowercase)?,
            false => (of_lines(text)?, is_lowercase),
        };
        let special = |name: &str| pieces.get(name).copied().ok_or_else(|| format!("has no {name}"));
        let (begin, end, unknown) = (special("[CLS]")?, special("[SEP]")?, special("[UNK]")?);
        Ok(Self { pieces, is_lowercase, begin, end, unknown })
    }

    /// Returns the token numbers of a text, including those at its beginning and end. At most `max`, which must be at
    /// least two.
    pub(super) fn numbers(&self, text: &str, max: usize) -> Vec<i32> {
        let mut numbers = vec![self.begin];
        let room = max.saturating_sub(1);
        let mut word = String::new();
        for c in self.normal(text) {
            if numbers.len() >= room {
                break;
            }
            match CharacterKind::of(c) {
                CharacterKind::Letter => word.push(c),
                CharacterKind::Alone => {
                    self.add(&mut numbers, &word);
                    word.clear();
                    self.add(&mut numbers, c.encode_utf8(&mut [0; 4]));
                }
                CharacterKind::Blank => {
                    self.add(&mut numbers, &word);
                    word.clear();
                }
                CharacterKind::Nothing => {}
            }
        }
        self.add(&mut numbers, &word);
        numbers.truncate(room);
        numbers.push(self.end);
        numbers
    }

    /// Normalises the characters for the vocabulary.
    fn normal<'a>(&self, text: &'a str) -> Box<dyn Iterator<Item = char> + 'a> {
        if !self.is_lowercase {
            return Box::new(text.chars());
        }
        let apart = DecomposingNormalizerBorrowed::new_nfd().normalize_iter(text.chars());
        let plain = apart.filter(|c| category(*c) != GeneralCategory::NonspacingMark);
        Box::new(plain.flat_map(char::to_lowercase))
    }

    /// Adds the pieces of a word.
    fn add(&self, numbers: &mut Vec<i32>, word: &str) {
        if word.is_empty() {
            return;
        }
        let before = numbers.len();
        let mut rest = word;
        while word.chars().take(MAX_WORD_CHARS + 1).count() <= MAX_WORD_CHARS {
            let goes_on = numbers.len() > before;
            let Some((number, length)) = self.longest(rest, goes_on) else { break };
            numbers.push(number);
            rest = &rest[length..];
            if rest.is_empty() {
                return;
            }
        }
        // A word with an unknown part is unknown as a whole.
        numbers.truncate(before);
        numbers.push(self.unknown);
    }

    /// Returns the longest piece at the start of `rest`, and its length in bytes.
    fn longest(&self, rest: &str, goes_on: bool) -> Option<(i32, usize)> {
        let mut piece = if goes_on { format!("{GOES_ON}{rest}") } else { rest.to_owned() };
        let marks = piece.len() - rest.len();
        while piece.len() > marks {
            if let Some(number) = self.pieces.get(piece.as_str()) {
                return Some((*number, piece.len() - marks));
            }
            piece.pop();
        }
        None
    }
}

fn of_lines(text: &str) -> Result<HashMap<Box<str>, i32>, String> {
    let pieces = text.lines().zip(0_i32..).map(|(line, number)| (line.into(), number));
    Ok(pieces.collect())
}

/// Reads the vocabulary of a `tokenizer.json`, and whether its letters are lowercased.
fn of_json(text: &str, is_lowercase: bool) -> Result<(HashMap<Box<str>, i32>, bool), String> {
    let tokenizer: Value = serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))?;
    let model = &tokenizer["model"];
    // Older files do not name it.
    let kind = model["type"].as_str().unwrap_or("WordPiece");
    let vocabulary = model["vocab"].as_object().filter(|_| kind == "WordPiece").ok_or_else(|| {
        format!("is for {kind}, and only WordPiece can be used: choose a model of the BERT family, such as all-MiniLM-L6-v2")
    })?;
    let piece = |(piece, number): (&String, &Value)| {
        let number = number.as_i64().and_then(|number| i32::try_from(number).ok());
        number
            .map(|number| (piece.as_str().into(), number))
            .ok_or_else(|| "has a piece without a number".to_owned())
    };
    let pieces = vocabulary.iter().map(piece).collect::<Result<_, _>>()?;
    Ok((pieces, tokenizer["normalizer"]["lowercase"].as_bool().unwrap_or(is_lowercase)))
}

/// Role of a character in splitting.
enum CharacterKind {
    Letter,
    /// Word of its own: punctuation, or a character of a script without spaces.
    Alone,
    Blank,
    /// Character that is left out.
    Nothing,
}

impl CharacterKind {
    fn of(c: char) -> Self {
        match c {
            '\t' | '\n' | '\r' | ' ' => Self::Blank,
            '\u{fffd}' => Self::Nothing,
            // Includes characters that Unicode calls symbols, such as $ and ^.
            _ if c.is_ascii_punctuation() || is_ideograph(c) => Self::Alone,
            _ if c.is_ascii_alphanumeric() => Self::Letter,
            _ => match category(c) {
                GeneralCategory::SpaceSeparator => Self::Blank,
                GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::Unassigned
                | GeneralCategory::PrivateUse => Self::Nothing,
                other if GeneralCategoryGroup::Punctuation.contains(other) => Self::Alone,
                _ => Self::Letter,
            },
        }
    }
}

fn category(c: char) -> GeneralCategory {
    CodePointMapData::<GeneralCategory>::new().get(c)
}

/// Returns `true` for Chinese characters, including those shared by Japanese and Korean.
const fn is_ideograph(c: char) -> bool {
    matches!(
        c,
        '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2b73f}'
            | '\u{2b740}'..='\u{2b81f}'
            | '\u{2b820}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECES: [&str; 15] = [
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", "cafe", "un", "##aff", "##able", "!", "日", "本", "##ss", "ß",
        "i", "$",
    ];

    fn words(is_lowercase: bool) -> WordPieces {
        WordPieces::read(&PIECES.join("\n"), false, is_lowercase).unwrap()
    }

    fn shown(words: &WordPieces, text: &str, max: usize) -> String {
        let numbers = words.numbers(text, max);
        let pieces: Vec<&str> =
            numbers.iter().map(|number| PIECES[usize::try_from(*number).unwrap()]).collect();
        pieces.join(" ")
    }

    #[test]
    fn a_text_is_split_as_the_models_were_taught() {
        let cases = [
            ("", "[CLS] [SEP]"),
            ("Café!", "[CLS] cafe ! [SEP]"),
            ("cafe\u{301}\u{200b}\u{a0}\tCAFÉ", "[CLS] cafe cafe [SEP]"),
            ("Unaffable", "[CLS] un ##aff ##able [SEP]"),
            ("unaffables un", "[CLS] [UNK] un [SEP]"),
            ("un日本", "[CLS] un 日 本 [SEP]"),
            ("$i$", "[CLS] $ i $ [SEP]"),
            ("i\u{307}", "[CLS] i [SEP]"),
            ("ß uß", "[CLS] ß [UNK] [SEP]"),
            ("\u{0}\u{fffd}i\u{7}", "[CLS] i [SEP]"),
            ("😀", "[CLS] [UNK] [SEP]"),
        ];
        for (text, wanted) in cases {
            assert_eq!(shown(&words(true), text, 512), wanted, "{text:?}");
        }
        assert_eq!(shown(&words(true), &"un".repeat(60), 512), "[CLS] [UNK] [SEP]");
        assert_eq!(shown(&words(false), "Cafe cafe café", 512), "[CLS] [UNK] cafe [UNK] [SEP]");
    }

    #[test]
    fn a_long_text_is_cut_before_its_end_mark() {
        assert_eq!(shown(&words(true), "unaffable unaffable", 5), "[CLS] un ##aff ##able [SEP]");
        assert_eq!(shown(&words(true), "unaffable", 4), "[CLS] un ##aff [SEP]");
        assert_eq!(shown(&words(true), "unaffable", 2), "[CLS] [SEP]");
        let begun = std::time::Instant::now();
        assert_eq!(words(true).numbers(&"un ".repeat(1_000_000), 512).len(), 512);
        assert!(begun.elapsed().as_millis() < 500, "no more is split than counts");
    }

    #[test]
    fn a_vocabulary_is_read_from_either_file_or_refused_with_a_reason() {
        let vocabulary: serde_json::Map<String, Value> = PIECES
            .iter()
            .zip(0..)
            .map(|(piece, number)| ((*piece).to_owned(), Value::from(number)))
            .collect();
        let json = |kind: &str| {
            serde_json::json!({"normalizer": {"lowercase": false}, "model": {"type": kind, "vocab": vocabulary}}).to_string()
        };
        let words = WordPieces::read(&json("WordPiece"), true, true).unwrap();
        assert_eq!(shown(&words, "Cafe cafe", 512), "[CLS] [UNK] cafe [SEP]");
        let refused = |text: &str, is_json| WordPieces::read(text, is_json, true).unwrap_err();
        assert!(refused(&json("Unigram"), true).contains("Unigram"));
        assert!(refused("{", true).starts_with("is not JSON"));
        assert_eq!(refused("[UNK]\n[CLS]", false), "has no [SEP]");
    }
}
