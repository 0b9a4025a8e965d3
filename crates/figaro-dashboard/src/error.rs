//! Faults of a request. A handler returns one; `guard` writes its page in the language of the person.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use figaro_prompts::texts::Texts;
use figaro_store::StoreError;

/// Reason why a request is not answered as asked.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum DashboardError {
    /// The browser is not signed in, or its person may no longer talk to the bot.
    #[error("not signed in")]
    SignedOut,
    /// The ticket was used before, is too old, or never was one.
    #[error("the ticket does not hold")]
    Ticket,
    /// `initData` that is not from Telegram, was used before, or is too old.
    #[error("the Mini App is not opened by Telegram")]
    InitData,
    /// The person has no dashboard with this bot.
    #[error("no dashboard")]
    NoDashboard,
    /// There is no such page, or the person may not see it: both are told alike.
    #[error("no such page")]
    NotFound,
    /// A form that another site sent.
    #[error("a form of another site")]
    Foreign,
    /// More requests, open pages or browsers than a person may have.
    #[error("too many requests")]
    TooMany,
    /// A form with values that do not fit.
    #[error("a form that does not fit")]
    Unfit,
    /// The store could not be read or written. The log says why; the page does not.
    #[error(transparent)]
    Store(Arc<StoreError>),
    /// A page could not be written, or there are no random numbers.
    #[error("{0}")]
    Failed(Arc<str>),
}

impl From<StoreError> for DashboardError {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}

impl From<minijinja::Error> for DashboardError {
    fn from(error: minijinja::Error) -> Self {
        Self::Failed(format!("{error:#}").into())
    }
}

impl DashboardError {
    pub(crate) const fn status(&self) -> StatusCode {
        match self {
            Self::SignedOut => StatusCode::UNAUTHORIZED,
            Self::Ticket => StatusCode::GONE,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Foreign | Self::InitData | Self::NoDashboard => StatusCode::FORBIDDEN,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::Unfit => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Store(_) | Self::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Returns what the person reads.
    pub(crate) fn words(&self, texts: &Texts) -> &'static str {
        match self {
            Self::SignedOut => texts.dashboard_signed_out(),
            Self::Ticket => texts.dashboard_ticket_used(),
            Self::InitData => texts.dashboard_open_again(),
            Self::NoDashboard => texts.dashboard_none(),
            Self::NotFound => texts.dashboard_not_found(),
            Self::Foreign => texts.dashboard_foreign(),
            Self::TooMany => texts.dashboard_too_many(),
            Self::Unfit => texts.dashboard_unfit(),
            Self::Store(_) | Self::Failed(_) => texts.dashboard_failed(),
        }
    }
}

impl IntoResponse for DashboardError {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Answers a request for a page that there is not.
pub(crate) async fn nothing() -> DashboardError {
    DashboardError::NotFound
}
