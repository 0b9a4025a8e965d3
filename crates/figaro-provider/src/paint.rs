//! Text to picture. Implemented by the folders of providers; called by the ledger alone, which books the cost.

use std::fmt::Debug;

use async_trait::async_trait;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::{MediaPart, ProviderError};
use figaro_base::text::estimate_tokens;
use figaro_domain::model::ModelName;
use figaro_domain::usage::Usage;

/// Tokens of the largest picture that the listed models draw or read: 1024 by 1536 pixels in high quality
/// (<https://platform.openai.com/docs/guides/image-generation>).
const TOKENS_OF_PICTURE: u64 = 6_240;

/// A model that draws pictures.
#[async_trait]
pub trait Painter: Debug + Send + Sync {
    /// Returns the name of the model.
    fn model(&self) -> &ModelName;

    /// Draws one picture, or changes the one of the order.
    ///
    /// # Errors
    /// If the service does not answer, refuses the order, or gives something else than a picture.
    async fn paint(&self, order: PictureOrder) -> Result<PaintAnswer, ProviderError>;
}

/// Order of a picture.
#[derive(Debug, Clone)]
pub struct PictureOrder {
    /// Description of the picture, or of the change.
    pub prompt: String,
    /// Shape of the picture.
    pub shape: PictureShape,
    /// Picture to change; `None` for a new one.
    pub base: Option<MediaPart>,
}

/// Shape of a picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PictureShape {
    /// As wide as high.
    #[default]
    Square,
    /// Wider than high, 3 to 2.
    Wide,
    /// Higher than wide, 2 to 3.
    Tall,
}

impl PictureOrder {
    /// Returns the tokens that it counts as, at most: those of its words and pictures, and those of the new picture.
    #[must_use]
    pub fn estimate(&self) -> Usage {
        let words = u64::try_from(estimate_tokens(&self.prompt)).unwrap_or(u64::MAX);
        let base = if self.base.is_some() { TOKENS_OF_PICTURE } else { 0 };
        Usage { input: words.saturating_add(base), cached: 0, output: TOKENS_OF_PICTURE }
    }
}

/// Answer of a service that was asked for a picture.
#[derive(Debug, Clone)]
pub struct PaintAnswer {
    /// Content of the file, PNG, JPEG or WebP; or the reason why the model drew nothing, which costs all the same.
    pub picture: Result<Vec<u8>, String>,
    /// Tokens that the service counted; `None` if it tells none.
    pub usage: Option<Usage>,
}

/// Some servers leave out the padding.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes a picture in base64, also in lines, without padding, or behind the head of a data URL.
///
/// # Errors
/// `ProviderError::Foreign` for anything else.
pub(crate) fn decoded(base64: &str) -> Result<Vec<u8>, ProviderError> {
    let base64 = base64.split_once(";base64,").map_or(base64, |(_, base64)| base64);
    let base64: String = base64.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let bytes = LENIENT.decode(base64);
    let bytes =
        bytes.map_err(|error| ProviderError::Foreign(format!("the picture is not base64: {error}")))?;
    match MediaPart::mime_of(&bytes) {
        Some(_) => Ok(bytes),
        None => Err(ProviderError::Foreign("the answer has no picture in a known format".to_owned())),
    }
}
