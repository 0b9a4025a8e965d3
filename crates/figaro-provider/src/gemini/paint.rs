//! Pictures of Gemini's models: `POST /models/{model}:generateContent` with a picture in the answer. Built by the descriptor.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::client::GeminiClient;
use crate::ProviderError;
use crate::http::error;
use crate::paint::{PaintAnswer, Painter, PictureOrder, PictureShape, decoded};
use figaro_base::secret::Redactor;
use figaro_config::ProviderSettings;
use figaro_domain::model::ModelName;
use figaro_domain::usage::Usage;

/// Minimum time for a picture.
const LIMIT: Duration = Duration::from_secs(180);

#[derive(Debug)]
struct GeminiPainter {
    client: GeminiClient,
    redactor: Redactor,
    name: ModelName,
    limit: Duration,
}

/// Builds a picture model of the service in these settings.
pub(super) fn painter(
    settings: &ProviderSettings,
    model: &str,
    http: reqwest::Client,
    limit: Duration,
) -> Arc<dyn Painter> {
    Arc::new(GeminiPainter {
        client: GeminiClient::new(http, &settings.base_url, settings.key.clone()),
        redactor: Redactor::new([&settings.key]),
        name: ModelName { provider: settings.name.to_owned(), model: model.to_owned() },
        limit: limit.max(LIMIT),
    })
}

#[async_trait]
impl Painter for GeminiPainter {
    fn model(&self) -> &ModelName {
        &self.name
    }

    async fn paint(&self, order: PictureOrder) -> Result<PaintAnswer, ProviderError> {
        let PictureOrder { prompt, shape, base } = order;
        let mut parts = vec![json!({"text": prompt})];
        let picture = |image: crate::MediaPart| json!({"inline_data": {"mime_type": image.mime_type, "data": &*image.base64}});
        parts.extend(base.map(picture));
        let ratio = match shape {
            PictureShape::Square => "1:1",
            PictureShape::Wide => "3:2",
            PictureShape::Tall => "2:3",
        };
        let body = json!({
            "contents": [{"role": "user", "parts": parts}],
            "generationConfig": {"responseModalities": ["TEXT", "IMAGE"], "imageConfig": {"aspectRatio": ratio}},
        });
        let answer = self.client.post(&self.name.model, "generateContent", |_| body, self.limit).await;
        let answer: Value = answer.map_err(|error| error::presentable(error, &self.redactor))?;
        let parts = answer.pointer("/candidates/0/content/parts").and_then(Value::as_array);
        let parts = parts.map(Vec::as_slice).unwrap_or_default();
        // A draft that the model only thought of is no answer.
        let given = |part: &Value| part["inlineData"]["data"].as_str().map(str::to_owned);
        let base64 = parts.iter().filter(|part| part["thought"] != true).find_map(given);
        let picture = base64.map(|base64| decoded(&base64)).transpose()?;
        let count = |name: &str| answer["usageMetadata"][name].as_u64();
        let output = [count("candidatesTokenCount"), count("thoughtsTokenCount")];
        let output = output.into_iter().flatten().sum();
        let usage = count("promptTokenCount").map(|input| Usage { input, cached: 0, output });
        // Without a picture the few tokens of its words are all it costs.
        let usage = usage.filter(|usage| usage.output > 0 || picture.is_none());
        Ok(PaintAnswer { picture: picture.ok_or_else(|| why(&answer, parts)), usage })
    }
}

/// Returns the reason why there is no picture, as the service tells it.
fn why(answer: &Value, parts: &[Value]) -> String {
    let said: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    let told = ["/candidates/0/finishMessage", "/candidates/0/finishReason", "/promptFeedback/blockReason"];
    let told = told.into_iter().find_map(|place| answer.pointer(place)?.as_str().map(str::to_owned));
    let reason = Some(said).filter(|said| !said.trim().is_empty()).or(told);
    format!("no picture was drawn: {}", reason.as_deref().unwrap_or("no reason was given"))
}
