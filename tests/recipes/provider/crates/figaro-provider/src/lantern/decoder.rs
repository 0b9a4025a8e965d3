//! Turns the chunks of an answer into events: text, token counts and the end.

use serde_json::Value;

use crate::http::body::DONE;
use crate::http::decode::Decode;
use crate::usage::usage;
use crate::{Event, Finish, ProviderError};
use figaro_domain::usage::Usage;

/// State of one answer.
#[derive(Debug, Default)]
pub(super) struct TextDecoder {
    usage: Option<Usage>,
    is_whole: bool,
}

impl Decode for TextDecoder {
    fn absorb(&mut self, chunk: &Value) -> Result<Vec<Event>, ProviderError> {
        if chunk == DONE {
            return Ok(vec![Event::Completed { finish: Finish::Stop, usage: self.usage }]);
        }
        self.usage = usage(&chunk["usage"]).or(self.usage);
        let choice = &chunk["choices"][0];
        self.is_whole |= choice["finish_reason"].is_string();
        let text = choice["delta"]["content"].as_str().unwrap_or_default();
        Ok((!text.is_empty()).then(|| Event::TextDelta(text.to_owned())).into_iter().collect())
    }

    fn is_whole(&self) -> bool {
        self.is_whole
    }
}
