//! Words that are spoken in a sound, by a Whisper model in ONNX. Used by `figaro hear` alone, which runs as a child process
//! within limits of the operating system: the sounds come from anybody.

mod folder;
mod mel;
mod model;
mod parts;
pub mod process;
mod rate;
mod resample;
mod sound;
#[cfg(test)]
mod tests;
mod tokens;
mod words;

pub use self::folder::WhisperFolder;

use self::mel::MelSpectrogram;
use self::model::WhisperModel;
use self::rate::RATE;
use self::tokens::Vocabulary;
use self::words::{TokenChoice, loudness, window_end};
use figaro_domain::hearing::{HeardSpeech, HearingError};

/// Mean power of a window that is silent: noise of 16-bit samples has as much.
const SILENCE: f32 = 1e-7;

/// Whisper model and its vocabulary, loaded.
#[derive(Debug)]
struct LoadedWhisper {
    folder: WhisperFolder,
    model: WhisperModel,
    vocabulary: Vocabulary,
}

impl LoadedWhisper {
    /// Loads the model of a folder.
    ///
    /// # Errors
    /// Names the file that cannot be used.
    fn load(folder: WhisperFolder) -> Result<Self, String> {
        let file = &folder.tokenizer;
        let vocabulary =
            Vocabulary::read(&folder::read(file)?).map_err(|why| format!("{} {why}", file.display()))?;
        Ok(Self { model: WhisperModel::load(&folder)?, vocabulary, folder })
    }

    /// Returns the words in a sound, window by window.
    ///
    /// # Errors
    /// If the model fails.
    fn hear(&self, samples: &[f32]) -> Result<HeardSpeech, HearingError> {
        let spectrogram = MelSpectrogram::new(self.folder.config.num_mel_bins);
        let choice = TokenChoice::new(&self.vocabulary, &self.folder.config);
        let (mut rest, mut language, mut texts) = (samples, None, Vec::new());
        while !rest.is_empty() {
            let (window, later) = rest.split_at(window_end(rest));
            rest = later;
            if loudness(window) < SILENCE {
                continue;
            }
            let decoded = self.model.hear(spectrogram.of(window)).map_err(HearingError::Model)?;
            let words = choice.words(decoded, window.len(), language).map_err(HearingError::Model)?;
            language = language.or(words.language);
            texts.push(self.vocabulary.text(&words.tokens));
        }
        texts.retain(|text| !text.is_empty());
        let code = |(token, code): &(u32, String)| (Some(*token) == language).then(|| code.clone());
        Ok(HeardSpeech {
            text: texts.join(" "),
            language: self.vocabulary.languages.iter().find_map(code),
            milliseconds: samples.len() as u64 * 1_000 / u64::from(RATE),
        })
    }
}
