//! Files in the folder of a Whisper model, as <https://huggingface.co/onnx-community> offers them, and its settings.

use std::fs;
use std::path::{Path, PathBuf};

use figaro_base::system::in_words;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Endings of model files, best first: those with numbers of eight bits take a quarter of the memory.
const KINDS: [&str; 4] = ["_quantized", "_int8", "_uint8", ""];
/// Maximum size of a file that is not a model, in bytes.
const MAX_SMALL_FILE: u64 = 16 * 1024 * 1024;

/// Folder of a model, with its files found and its settings read.
#[derive(Debug)]
pub struct WhisperFolder {
    /// Path of the folder.
    pub path: PathBuf,
    pub(super) encoder: PathBuf,
    pub(super) decoder: PathBuf,
    pub(super) tokenizer: PathBuf,
    pub(super) config: WhisperConfig,
}

/// Settings of a model that matter here: `config.json`, and `generation_config.json` if there is one.
#[derive(Debug, Deserialize)]
pub(super) struct WhisperConfig {
    pub(super) d_model: usize,
    pub(super) decoder_layers: usize,
    pub(super) decoder_attention_heads: usize,
    #[serde(default = "usual_bands")]
    pub(super) num_mel_bins: usize,
    #[serde(default = "usual_tokens")]
    pub(super) max_target_positions: usize,
    pub(super) vocab_size: usize,
    /// Tokens that are never text, and those that no text begins with.
    #[serde(default)]
    pub(super) suppress_tokens: Option<Vec<i64>>,
    #[serde(default)]
    pub(super) begin_suppress_tokens: Option<Vec<i64>>,
}

#[derive(Debug, Default, Deserialize)]
struct GenerationConfig {
    suppress_tokens: Option<Vec<i64>>,
    begin_suppress_tokens: Option<Vec<i64>>,
}

const fn usual_bands() -> usize {
    80
}

const fn usual_tokens() -> usize {
    448
}

/// Vocabulary size from which on a model knows more languages than English.
const MULTILINGUAL: usize = 51_865;

impl WhisperConfig {
    /// Returns `true` if the model has to be told the language.
    pub(super) const fn is_multilingual(&self) -> bool {
        self.vocab_size >= MULTILINGUAL
    }
}

impl WhisperFolder {
    /// Looks for the files of a model, and reads the small ones.
    ///
    /// # Errors
    /// Names what is missing or unreadable, with its path and what to do.
    pub fn look(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        if !path.is_dir() {
            return Err(format!(
                "there is no folder {shown}: make it, and put a Whisper model in ONNX there"
            ));
        }
        let small = |name: &str| {
            let file = path.join(name);
            let missing =
                || format!("the folder {shown} has no file {name}: take it from where the model is from");
            if file.is_file() { Ok(file) } else { Err(missing()) }
        };
        let (encoder, decoder) =
            (model_file(path, "encoder_model")?, model_file(path, "decoder_model_merged")?);
        let mut config: WhisperConfig = read_json(&small("config.json")?)?;
        if let Ok(file) = small("generation_config.json") {
            let generation: GenerationConfig = read_json(&file)?;
            config.suppress_tokens = generation.suppress_tokens.or(config.suppress_tokens);
            config.begin_suppress_tokens = generation.begin_suppress_tokens.or(config.begin_suppress_tokens);
        }
        if config.decoder_attention_heads == 0 || !(1..=1_024).contains(&config.num_mel_bins) {
            return Err(format!("{shown}/config.json is not of a Whisper model"));
        }
        Ok(Self { tokenizer: small("tokenizer.json")?, path: path.to_owned(), encoder, decoder, config })
    }

    /// Returns the size of the model files, in bytes.
    pub(super) fn size(&self) -> u64 {
        let data = |file: &PathBuf| PathBuf::from(format!("{}_data", file.display()));
        let files = [&self.encoder, &self.decoder].into_iter().flat_map(|file| [file.clone(), data(file)]);
        files.filter_map(|file| Some(fs::metadata(file).ok()?.len())).sum()
    }
}

/// Returns the best file of a model in the folder or in its `onnx/`.
fn model_file(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let places = [folder.to_owned(), folder.join("onnx")];
    let files = KINDS
        .iter()
        .flat_map(|kind| places.iter().map(move |place| place.join(format!("{name}{kind}.onnx"))));
    files.into_iter().find(|file| file.is_file()).ok_or_else(|| {
        format!(
            "the folder {} has no file {name}_quantized.onnx or {name}.onnx: take it from the folder `onnx` of a Whisper model \
             of onnx-community at Hugging Face",
            folder.display()
        )
    })
}

/// Reads a file that is not a model.
///
/// # Errors
/// Names the file and what is wrong.
pub(super) fn read(file: &Path) -> Result<String, String> {
    let shown = file.display();
    let size = fs::metadata(file).map(|about| about.len());
    match size
        .and_then(|size| if size > MAX_SMALL_FILE { Ok(None) } else { fs::read_to_string(file).map(Some) })
    {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err(format!("{shown} is too large for what it should be")),
        Err(error) => Err(format!("{shown} cannot be read: {}", in_words(&error))),
    }
}

fn read_json<T: DeserializeOwned>(file: &Path) -> Result<T, String> {
    serde_json::from_str(&read(file)?)
        .map_err(|error| format!("{} is not of a Whisper model: {error}", file.display()))
}
