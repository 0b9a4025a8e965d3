//! What the offline Tavily answers to a search.

use std::time::Duration;

use serde_json::json;

#[cfg(feature = "testing")]
use crate::gate::Gate;

/// What the offline Tavily answers to one search: pages, an error, or what is no answer at all.
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

    /// Pages by title, address and content.
    #[must_use]
    pub fn pages(pages: &[(&str, &str, &str)]) -> Self {
        let page = |(title, url, content): &(&str, &str, &str)| SearchPage {
            title: (*title).to_owned(),
            url: (*url).to_owned(),
            content: (*content).to_owned(),
        };
        Self::of(200, TavilyBody::Pages(pages.iter().map(page).collect()))
    }

    /// An error as the service words it.
    #[must_use]
    pub fn failure(status: u16, error: &str) -> Self {
        Self::raw(status, json!({"detail": {"error": error}}).to_string())
    }

    /// These bytes as the body, whatever they are.
    #[must_use]
    pub fn raw(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::of(status, TavilyBody::Raw(body.into()))
    }

    /// Says when to come again, in seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// Only after this time.
    #[must_use]
    pub(crate) fn after(self, after: Duration) -> Self {
        Self { after, ..self }
    }

    /// Only once the gate is open; the request counts as received before.
    #[must_use]
    #[cfg(feature = "testing")]
    pub fn behind(self, gate: &Gate) -> Self {
        Self { gate: Some(gate.clone()), ..self }
    }
}
