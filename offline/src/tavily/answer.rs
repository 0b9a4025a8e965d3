//! Answers of the offline Tavily.

use std::time::Duration;

use serde_json::json;

#[cfg(feature = "testing")]
use crate::gate::Gate;

/// Answer of the offline Tavily to one search: pages, an error, or an invalid body.
#[derive(Debug, Clone)]
pub struct TavilyAnswer {
    pub(super) status: u16,
    pub(super) body: TavilyBody,
    pub(super) retry_after: Option<u64>,
    pub(super) after: Duration,
    #[cfg(feature = "testing")]
    pub(super) gate: Option<Gate>,
}

#[derive(Debug, Clone)]
pub(super) enum TavilyBody {
    Pages(Vec<SearchPage>),
    Raw(Vec<u8>),
}

#[derive(Debug, Clone)]
pub(super) struct SearchPage {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) content: String,
}

impl TavilyAnswer {
    fn of(status: u16, body: TavilyBody) -> Self {
        Self {
            status,
            body,
            retry_after: None,
            after: Duration::ZERO,
            #[cfg(feature = "testing")]
            gate: None,
        }
    }

    /// Creates an answer with pages, given as title, URL and content.
    #[must_use]
    pub fn pages(pages: &[(&str, &str, &str)]) -> Self {
        let page = |(title, url, content): &(&str, &str, &str)| SearchPage {
            title: (*title).to_owned(),
            url: (*url).to_owned(),
            content: (*content).to_owned(),
        };
        Self::of(200, TavilyBody::Pages(pages.iter().map(page).collect()))
    }

    /// Creates an error response in the format of the service.
    #[must_use]
    pub fn failure(status: u16, error: &str) -> Self {
        Self::raw(status, json!({"detail": {"error": error}}).to_string())
    }

    /// Creates a response with these bytes as the body, valid or not.
    #[must_use]
    pub fn raw(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::of(status, TavilyBody::Raw(body.into()))
    }

    /// Adds a retry delay, in seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// Delays the answer by this time.
    #[must_use]
    pub(crate) fn after(self, after: Duration) -> Self {
        Self { after, ..self }
    }

    /// Delays the answer until the gate is open. The request is recorded before.
    #[must_use]
    #[cfg(feature = "testing")]
    pub fn behind(self, gate: &Gate) -> Self {
        Self { gate: Some(gate.clone()), ..self }
    }
}
