//! Vocabulary of a Whisper model: what its tokens mean. It is read from `tokenizer.json`.

use std::collections::HashMap;

use serde::Deserialize;

/// Tokens of a model.
#[derive(Debug)]
pub(super) struct Vocabulary {
    /// Bytes of each token that is text.
    texts: HashMap<u32, Vec<u8>>,
    /// First token of a text.
    pub(super) begin: u32,
    /// Last token of a text. Those that are no text come after it.
    pub(super) end: u32,
    /// Tokens that ask for the words as they are spoken, and without times.
    pub(super) transcribe: u32,
    pub(super) without_times: u32,
    /// Token that stands for a sound without speech.
    pub(super) no_speech: Option<u32>,
    /// Tokens of languages, with their codes.
    pub(super) languages: Vec<(u32, String)>,
}

#[derive(Debug, Deserialize)]
struct TokenizerFile {
    added_tokens: Vec<AddedToken>,
    model: BpeVocabulary,
}

#[derive(Debug, Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
}

#[derive(Debug, Deserialize)]
struct BpeVocabulary {
    vocab: HashMap<String, u32>,
}

impl Vocabulary {
    /// Reads the vocabulary.
    ///
    /// # Errors
    /// Says what is wrong with the text of the file; the words follow its name.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let file: TokenizerFile = serde_json::from_str(text)
            .map_err(|error| format!("is no tokenizer of a Whisper model: {error}"))?;
        let special: HashMap<&str, u32> =
            file.added_tokens.iter().map(|token| (token.content.as_str(), token.id)).collect();
        let find = |names: [&str; 2]| names.iter().find_map(|name| special.get(name).copied());
        let need = |name: &str| {
            let missing = || format!("has no token {name}: it is of no Whisper model");
            special.get(name).copied().ok_or_else(missing)
        };
        let (begin, transcribe) = (need("<|startoftranscript|>")?, need("<|transcribe|>")?);
        // Languages come between these, and two tasks that they are told apart from by the length of their names.
        let code = |name: &str| {
            let code = name.strip_prefix("<|")?.strip_suffix("|>")?;
            (matches!(code.len(), 2 | 3) && code.bytes().all(|byte| byte.is_ascii_lowercase()))
                .then(|| code.to_owned())
        };
        let mut languages: Vec<(u32, String)> =
            special.iter().filter_map(|(name, id)| Some((*id, code(name)?))).collect();
        languages.sort();
        let bytes = bytes_of_letters();
        let text = |letters: &str| letters.chars().filter_map(|letter| bytes.get(&letter).copied()).collect();
        Ok(Self {
            texts: file.model.vocab.iter().map(|(letters, id)| (*id, text(letters))).collect(),
            begin,
            end: need("<|endoftext|>")?,
            transcribe,
            without_times: need("<|notimestamps|>")?,
            no_speech: find(["<|nospeech|>", "<|nocaptions|>"]),
            languages,
        })
    }

    /// Returns the text of tokens. Bytes that are no UTF-8, as at a cut, are replaced.
    pub(super) fn text(&self, tokens: &[u32]) -> String {
        let bytes: Vec<u8> =
            tokens.iter().filter_map(|token| self.texts.get(token)).flatten().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

/// Returns the byte that each letter of the vocabulary stands for: letters for themselves, and other bytes as letters that
/// follow in Unicode (`bytes_to_unicode` of <https://github.com/openai/gpt-2/blob/master/src/encoder.py>).
fn bytes_of_letters() -> HashMap<char, u8> {
    let is_letter = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let others = (0..=u8::MAX).filter(|byte| !is_letter(*byte)).zip('\u{100}'..);
    let letters = (0..=u8::MAX).filter(|byte| is_letter(*byte)).map(|byte| (char::from(byte), byte));
    letters.chain(others.map(|(byte, letter)| (letter, byte))).collect()
}
