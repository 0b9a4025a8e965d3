//! Pictures and documents for a question.

use std::sync::Arc;
use std::time::Duration;

use chrono::NaiveDate;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::super::question::Question;
use super::super::report::Reporter;
use super::super::window::Pictures;
use super::documents::{DocumentContext, TurnDocuments};
use super::{pictures, sounds};
use crate::channel::Channel;
use crate::documents::Documents;
use crate::pages::Pages;
use figaro_base::ids::SessionId;
use figaro_domain::conversation::Message;
use figaro_domain::message::Inbound;
use figaro_domain::model::ModelName;
use figaro_provider::models::Models;

/// Time for all files of a question; it is answered without the others.
const LOAD_TIMEOUT: Duration = Duration::from_secs(120);

/// Loads the files for a question. Owned by [`Loader`](super::Loader).
#[derive(Debug, Clone)]
pub struct FileLoader {
    /// Fetches the files that people sent.
    pub channel: Arc<dyn Channel>,
    /// Reads and searches the documents of chats.
    pub documents: Documents,
    /// Reads the page of a message that is only a link.
    pub pages: Pages,
    /// The models and what they can do.
    pub models: Arc<Models>,
    /// Reports failures to the log and to `/status`.
    pub reporter: Reporter,
}

/// A question whose files are loaded, and what stands around it.
#[derive(Debug, Clone, Copy)]
pub(super) struct FilesQuery<'a> {
    pub(super) question: &'a Question,
    pub(super) session: SessionId,
    pub(super) history: &'a [Arc<Message>],
    pub(super) background: &'a [Inbound],
    /// Model that answers.
    pub(super) model: &'a ModelName,
    /// Date in the chat's zone.
    pub(super) today: NaiveDate,
    /// `true` if the agent may read web pages.
    pub(super) reads_pages: bool,
    /// `true` if documents of earlier messages may be shown.
    pub(super) looks_back: bool,
    /// Ends the loading when the turn is stopped.
    pub(super) cancel: &'a CancellationToken,
}

impl FileLoader {
    /// Fetches the pictures, and reads and finds the documents. A file that the model does not get has the reason among the
    /// pictures.
    pub(super) async fn load(&self, query: FilesQuery<'_>) -> (Pictures, TurnDocuments) {
        let deadline = Instant::now() + LOAD_TIMEOUT;
        let pictures = async { timeout_at(deadline, self.pictures(query)).await.unwrap_or_default() };
        let loading = async { futures::join!(pictures, self.documents(query, deadline)) };
        let loaded = tokio::select! {
            loaded = loading => Some(loaded),
            () = query.cancel.cancelled() => None,
        };
        let (mut pictures, mut documents) = loaded.unwrap_or_default();
        let unread = std::mem::take(&mut documents.unread);
        pictures.0.extend(unread.into_iter().map(|(id, reason)| (id, Err(reason))));
        (pictures, documents)
    }

    async fn documents(&self, query: FilesQuery<'_>, deadline: Instant) -> TurnDocuments {
        let Some(first) = query.question.parts.first() else { return TurnDocuments::default() };
        let context = DocumentContext {
            documents: &self.documents,
            pages: query.reads_pages.then_some(&self.pages),
            reporter: &self.reporter,
            chat: first.place.chat,
            session: query.session,
            today: query.today,
            looks_back: query.looks_back,
            deadline,
        };
        context.load(query.question, query.background).await
    }

    /// Fetches the pictures of the question and of the history, and the sounds of the question, if one of the possible models
    /// accepts them.
    async fn pictures(&self, FilesQuery { question, history, model, .. }: FilesQuery<'_>) -> Pictures {
        let order = self.models.order(model);
        let mut found = match order.iter().any(|one| self.models.sees(one)) {
            true => pictures::fetch(&*self.channel, &question.parts, history).await,
            false => pictures::unseen(&question.parts, history),
        };
        if order.iter().any(|one| self.models.hears(one)) {
            let length = found.0.values().flatten().map(|picture| picture.base64.len()).sum();
            found.0.extend(sounds::fetch(&*self.channel, &question.parts, length).await);
        }
        found
    }
}
