//! Pictures of OpenAI and the servers with its dialect: `POST /images/generations`, and `/images/edits` for changes. Built by
//! the descriptors of both.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::multipart::{Form, Part};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::openai_client::OpenAiClient;
use super::paint::{PaintAnswer, Painter, PictureOrder, PictureShape, decoded};
use super::{MediaPart, ProviderError};
use figaro_config::ProviderSettings;
use figaro_domain::model::ModelName;
use figaro_domain::usage::Usage;

#[derive(Debug)]
struct OpenAiPainter {
    client: OpenAiClient,
    name: ModelName,
}

#[derive(Debug, Deserialize)]
struct PictureResponse {
    data: Vec<PictureData>,
    /// Newer models count tokens, other servers nothing or something else.
    #[serde(default)]
    usage: Value,
}

#[derive(Debug, Deserialize)]
struct PictureData {
    b64_json: Option<String>,
}

/// Builds a picture model of a service with this dialect.
pub(super) fn painter(
    settings: &ProviderSettings,
    model: &str,
    http: reqwest::Client,
    idle_limit: Duration,
) -> Arc<dyn Painter> {
    let client = OpenAiClient::new(http, &settings.base_url, settings.given_key(), idle_limit);
    let name = ModelName { provider: settings.name.to_owned(), model: model.to_owned() };
    Arc::new(OpenAiPainter { client, name })
}

#[async_trait]
impl Painter for OpenAiPainter {
    fn model(&self) -> &ModelName {
        &self.name
    }

    async fn paint(&self, order: PictureOrder) -> Result<PaintAnswer, ProviderError> {
        let fields = self.fields(&order);
        let answer: PictureResponse = match &order.base {
            None => {
                let body = fields.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
                self.client.post_slow("/images/generations", &Value::Object(Map::from_iter(body))).await?
            }
            Some(base) => {
                let form = fields.into_iter().fold(Form::new(), |form, (name, value)| form.text(name, value));
                self.client.post_form("/images/edits", form.part("image", part(base)?)).await?
            }
        };
        let base64 = answer.data.into_iter().find_map(|data| data.b64_json);
        let base64 = base64.ok_or_else(|| {
            ProviderError::Foreign("the answer has no picture, or only a link to one".to_owned())
        })?;
        let count = |name: &str| answer.usage[name].as_u64();
        let counted = count("input_tokens").zip(count("output_tokens"));
        let usage = counted.map(|(input, output)| Usage { input, cached: 0, output });
        Ok(PaintAnswer { picture: Ok(decoded(&base64)?), usage: usage.filter(|usage| usage.output > 0) })
    }
}

impl OpenAiPainter {
    /// Returns the fields of a request. The models named `gpt-image` always give the picture itself and refuse to be asked for
    /// it; others give a link unless they are asked. Their quality would otherwise be anything up to four times the price.
    fn fields(&self, order: &PictureOrder) -> Vec<(&'static str, String)> {
        let model = &self.name.model;
        let (wide, tall) = match model.contains("dall-e-3") {
            true => ("1792x1024", "1024x1792"),
            false => ("1536x1024", "1024x1536"),
        };
        let size = match order.shape {
            PictureShape::Square => "1024x1024",
            PictureShape::Wide => wide,
            PictureShape::Tall => tall,
        };
        let format = match model.contains("gpt-image") {
            true => ("quality", "medium".to_owned()),
            false => ("response_format", "b64_json".to_owned()),
        };
        vec![("model", model.clone()), ("prompt", order.prompt.clone()), ("size", size.to_owned()), format]
    }
}

/// Returns the part of a form with the picture to change.
fn part(image: &MediaPart) -> Result<Part, ProviderError> {
    let wrong = |error: &dyn std::fmt::Display| ProviderError::Refused(error.to_string());
    let bytes = STANDARD.decode(image.base64.as_bytes()).map_err(|error| wrong(&error))?;
    let ending = image.mime_type.rsplit('/').next().unwrap_or_default();
    let part = Part::bytes(bytes).file_name(format!("image.{ending}"));
    part.mime_str(&image.mime_type).map_err(|error| wrong(&error))
}
