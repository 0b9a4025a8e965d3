//! Files in the folder of a sentence model, and the settings in the small ones.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use figaro_base::system::in_words;
use ring::digest::{Context, SHA256};
use serde_json::Value;

/// Maximum length of a text, in tokens, whatever the files say. Models are trained on shorter texts.
const MAX_TOKENS: usize = 512;
/// Default maximum in tokens, if no file names one.
const USUAL_TOKENS: usize = 256;
/// Number of hash digits in the name.
const HASH_DIGITS: usize = 12;
/// Maximum size of a small file, in bytes. Multilingual vocabularies have 3 MB.
const MAX_SMALL_FILE: u64 = 64 * 1024 * 1024;

/// Folder with all required files.
#[derive(Debug, Clone)]
pub(super) struct ModelFolder {
    pub(super) path: PathBuf,
    pub(super) model: PathBuf,
    pub(super) vocabulary: PathBuf,
    /// Maximum number of tokens of a text, including the two around it.
    pub(super) max_tokens: usize,
    pub(super) pooling: Pooling,
    /// `true` if the vocabulary has no capital letters.
    pub(super) is_lowercase: bool,
    /// Prefixes of questions and passages.
    pub(super) prompts: EmbedPrefixes,
    /// Beginning of the hash of model and vocabulary, in hexadecimal.
    pub(super) hash: String,
}

/// Method of computing a text's vector from its tokens' vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    /// Mean of all token vectors.
    Mean,
    /// Vector of the first token, which stands for the whole text.
    First,
}

/// Prefixes that a model expects before a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct EmbedPrefixes {
    pub(super) question: String,
    pub(super) passage: String,
}

impl ModelFolder {
    /// Opens a folder and reads its whole model once, to compute the hash.
    ///
    /// # Errors
    /// Names what is missing or unreadable, with the folder and the remedy.
    pub(super) fn look(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        if !path.is_dir() {
            return Err(format!("there is no folder {shown}"));
        }
        let model = model_file(path)?;
        let places = [path.to_owned(), model.parent().map(Path::to_owned).unwrap_or_default()];
        let find = |names: &[&str]| {
            let files = names.iter().flat_map(|name| places.iter().map(move |place| place.join(name)));
            files.into_iter().find(|file| file.is_file())
        };
        let vocabulary = find(&["vocab.txt", "tokenizer.json"]).ok_or_else(|| {
            format!("the folder {shown} has no vocab.txt or tokenizer.json: they come with the model")
        })?;
        let json = |name: &str| find(&[name]).map_or(Ok(Value::Null), |file| read_json(&file));
        let tokenizer = json("tokenizer_config.json")?;
        let (config, sentence) = (json("config.json")?, json("sentence_bert_config.json")?);
        Ok(Self {
            max_tokens: max_tokens(&config, &sentence, &tokenizer),
            pooling: pooling(&json("1_Pooling/config.json")?),
            is_lowercase: tokenizer["do_lower_case"].as_bool().unwrap_or(true),
            prompts: prompts(&json("config_sentence_transformers.json")?),
            hash: hash(&[&model, &vocabulary]).map_err(|(file, error)| {
                format!("{} cannot be read: {}", file.display(), in_words(&error))
            })?,
            path: path.to_owned(),
            model,
            vocabulary,
        })
    }

    /// Reads the file of the vocabulary.
    pub(super) fn read_vocabulary(&self) -> Result<String, String> {
        read(&self.vocabulary)
    }
}

/// Returns the model file in the folder or in its `onnx/`, a common place for it.
fn model_file(folder: &Path) -> Result<PathBuf, String> {
    let shown = folder.display();
    for place in [folder.to_owned(), folder.join("onnx")] {
        let entries = match fs::read_dir(&place) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                return Err(format!("the folder {} cannot be read: {}", place.display(), in_words(&error)));
            }
        };
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let models: Vec<PathBuf> =
            files.filter(|file| file.extension().is_some_and(|end| end == "onnx")).collect();
        let usual = place.join("model.onnx");
        match models.as_slice() {
            [] => {}
            [model] => return Ok(model.clone()),
            several if several.contains(&usual) => return Ok(usual),
            _ => {
                return Err(format!(
                    "the folder {} has several models: leave one, or call it model.onnx",
                    place.display()
                ));
            }
        }
    }
    Err(format!("the folder {shown} has no file that ends in .onnx: put a sentence model there"))
}

fn read(file: &Path) -> Result<String, String> {
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

fn read_json(file: &Path) -> Result<Value, String> {
    serde_json::from_str(&read(file)?).map_err(|error| format!("{} is not JSON: {error}", file.display()))
}

/// Returns the smallest maximum that any of the files names, in tokens.
fn max_tokens(config: &Value, sentence: &Value, tokenizer: &Value) -> usize {
    let said =
        [&config["max_position_embeddings"], &sentence["max_seq_length"], &tokenizer["model_max_length"]];
    let said = said.into_iter().filter_map(|value| usize::try_from(value.as_u64()?).ok());
    said.filter(|tokens| *tokens > 2).min().unwrap_or(USUAL_TOKENS).min(MAX_TOKENS)
}

fn pooling(config: &Value) -> Pooling {
    match config["pooling_mode_cls_token"].as_bool() {
        Some(true) => Pooling::First,
        _ => Pooling::Mean,
    }
}

fn prompts(config: &Value) -> EmbedPrefixes {
    let prompt = |names: [&str; 2]| {
        let found = names.iter().find_map(|name| config["prompts"][*name].as_str());
        found.unwrap_or_default().to_owned()
    };
    EmbedPrefixes { question: prompt(["query", "question"]), passage: prompt(["passage", "document"]) }
}

/// Returns the beginning of the hash of these files in sequence.
fn hash<'a>(files: &[&'a PathBuf]) -> Result<String, (&'a PathBuf, io::Error)> {
    let mut context = Context::new(&SHA256);
    let mut bytes = vec![0; 64 * 1024];
    for path in files {
        let mut add = || {
            let mut file = File::open(path)?;
            loop {
                match file.read(&mut bytes)? {
                    0 => return Ok(()),
                    read => context.update(bytes.get(..read).unwrap_or_default()),
                }
            }
        };
        add().map_err(|error| (*path, error))?;
    }
    let hash: String = context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(hash.chars().take(HASH_DIGITS).collect())
}
