//! Words of a window: the likeliest token after the other, until the model ends or repeats itself.

use super::folder::WhisperConfig;
use super::model::DecodedWindow;
use super::rate::{RATE, WINDOW_SAMPLES};
use super::tokens::Vocabulary;

/// A window without speech is as likely as this, while its words are as unlikely as this on average, as natural logarithm:
/// `no_speech_threshold` and `logprob_threshold` of
/// <https://github.com/openai/whisper/blob/main/whisper/transcribe.py>.
const NO_SPEECH: f32 = 0.6;
const UNLIKELY: f32 = -1.0;
/// Tokens of a second of speech at most, and tokens that every window may have beyond.
const TOKENS_OF_SECOND: usize = 14;
const SPARE_TOKENS: usize = 20;
/// A text repeats itself if so many times the same tokens follow each other, and are so many in all.
const REPETITIONS: usize = 4;
const REPEATED_TOKENS: usize = 12;
/// Maximum number of tokens that a repetition is made of.
const MAX_PERIOD: usize = 40;

/// Words of one window.
#[derive(Debug, Default)]
pub(super) struct WindowWords {
    /// Tokens of the text; empty if nobody speaks.
    pub(super) tokens: Vec<u32>,
    /// Token of the language, if the model tells languages apart.
    pub(super) language: Option<u32>,
}

/// Chooses tokens.
#[derive(Debug)]
pub(super) struct TokenChoice<'a> {
    vocabulary: &'a Vocabulary,
    config: &'a WhisperConfig,
    /// For each token that is text: `true` if it never is, in this text and at its begin.
    is_barred: Vec<bool>,
    is_no_begin: Vec<bool>,
}

impl<'a> TokenChoice<'a> {
    pub(super) fn new(vocabulary: &'a Vocabulary, config: &'a WhisperConfig) -> Self {
        let barred = |tokens: &Option<Vec<i64>>| {
            let mut is_barred = vec![false; vocabulary.end as usize + 1];
            for token in tokens.iter().flatten() {
                if let Some(barred) = usize::try_from(*token).ok().and_then(|token| is_barred.get_mut(token))
                {
                    *barred = true;
                }
            }
            is_barred
        };
        let (is_barred, is_no_begin) =
            (barred(&config.suppress_tokens), barred(&config.begin_suppress_tokens));
        Self { vocabulary, config, is_barred, is_no_begin }
    }

    /// Returns the words of a window of so many samples. `language` is that of the windows before.
    pub(super) fn words(
        &self,
        mut window: DecodedWindow<'_>,
        samples: usize,
        language: Option<u32>,
    ) -> Result<WindowWords, String> {
        let vocabulary = self.vocabulary;
        let mut logits = window.next(vocabulary.begin)?;
        let silence = vocabulary.no_speech.map_or(0.0, |token| likelihood(&logits, token).exp());
        let language = language.or_else(|| self.language(&logits));
        let task = language.into_iter().flat_map(|language| [language, vocabulary.transcribe]);
        for token in task.chain([vocabulary.without_times]) {
            logits = window.next(token)?;
        }
        let most = SPARE_TOKENS + TOKENS_OF_SECOND * samples / RATE as usize;
        let most = most.min(self.config.max_target_positions.saturating_sub(8));
        let (mut tokens, mut sum) = (Vec::new(), 0.0);
        while let Some(token) = self.likeliest(&logits, tokens.is_empty()) {
            sum += likelihood(&logits, token);
            if token == vocabulary.end || tokens.len() == most {
                break;
            }
            tokens.push(token);
            if let Some(first) = repetition(&tokens) {
                tokens.truncate(first);
                break;
            }
            logits = window.next(token)?;
        }
        let average = sum / (tokens.len() + 1) as f32;
        if silence > NO_SPEECH && average < UNLIKELY {
            return Ok(WindowWords::default());
        }
        Ok(WindowWords { tokens, language })
    }

    /// Returns the likeliest language; `None` if the model knows only one.
    fn language(&self, logits: &[f32]) -> Option<u32> {
        let languages = self.vocabulary.languages.iter().filter(|_| self.config.is_multilingual());
        let logit = |token: u32| logits.get(token as usize).copied().unwrap_or(f32::MIN);
        languages.map(|(token, _)| *token).max_by(|one, other| logit(*one).total_cmp(&logit(*other)))
    }

    /// Returns the likeliest token that is text or its end.
    fn likeliest(&self, logits: &[f32], is_first: bool) -> Option<u32> {
        let is_barred = self.is_barred.iter().zip(&self.is_no_begin);
        let allowed = logits.iter().zip(is_barred).enumerate();
        let allowed = allowed.filter(|(_, (_, (never, not_first)))| !(**never || is_first && **not_first));
        let best = allowed.max_by(|(_, (one, _)), (_, (other, _))| one.total_cmp(other));
        best.and_then(|(token, _)| u32::try_from(token).ok())
    }
}

/// Returns the logarithm of how likely a token is.
fn likelihood(logits: &[f32], token: u32) -> f32 {
    let most = logits.iter().copied().fold(f32::MIN, f32::max);
    let sum: f32 = logits.iter().map(|logit| (logit - most).exp()).sum();
    logits.get(token as usize).map_or(f32::MIN, |logit| logit - most - sum.ln())
}

/// Returns the length of a text without the repetitions at its end; `None` if it does not end with several.
pub(super) fn repetition(tokens: &[u32]) -> Option<usize> {
    (1..=MAX_PERIOD).find_map(|period| {
        let count = REPETITIONS.max(REPEATED_TOKENS.div_ceil(period));
        let begin = tokens.len().checked_sub(period * count)?;
        let is_repeated = (begin + period..tokens.len()).all(|at| tokens.get(at) == tokens.get(at - period));
        is_repeated.then_some(begin + period)
    })
}

/// Returns the end of the window that begins with these samples: 30 s later, or where it is quietest in the last of them, so
/// that no word is cut.
pub(super) fn window_end(samples: &[f32]) -> usize {
    /// Piece whose loudness counts, and part of the window in which it is looked for.
    const PIECE: usize = RATE as usize / 5;
    const FROM: usize = WINDOW_SAMPLES * 4 / 5;
    let Some(end) = samples.get(FROM..WINDOW_SAMPLES).filter(|_| samples.len() > WINDOW_SAMPLES) else {
        return samples.len().min(WINDOW_SAMPLES);
    };
    let pieces = end.chunks_exact(PIECE).map(loudness).enumerate();
    let quietest = pieces.min_by(|(_, one), (_, other)| one.total_cmp(other)).map_or(0, |(at, _)| at);
    FROM + quietest * PIECE + PIECE / 2
}

/// Returns the mean power of samples.
pub(super) fn loudness(samples: &[f32]) -> f32 {
    samples.iter().map(|sample| sample * sample).sum::<f32>() / samples.len().max(1) as f32
}
