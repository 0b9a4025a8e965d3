//! What people have Figaro forget. It looks through whole chats, so it runs on threads of its own.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;

use super::KvStore;
use super::fault::Fault;
use super::records::erasure;
use super::tables::{META, NAMES};
use crate::clock::Clock;
use crate::domain::erasure::{Erasure, Forgotten, Said, SaidAt};
use crate::ids::{ChatId, MessageId};
use crate::store::{ErasureStore, Result, SaidSearch};

#[async_trait]
impl ErasureStore for KvStore {
    async fn said(&self, chat: ChatId, message: MessageId) -> Result<Option<Said>> {
        self.aside("look for a message", move |store| async move {
            store.read("look for a message", |tables| erasure::said(tables, chat, message)).await
        })
        .await
    }

    async fn said_at(&self, chat: ChatId, at: SaidAt) -> Result<Option<Said>> {
        self.read("look for a message", move |tables| erasure::said_at(tables, chat, at)).await
    }

    async fn said_with(&self, search: &SaidSearch) -> Result<Vec<Said>> {
        let search = search.clone();
        self.aside("look for messages", move |store| async move {
            store.read("look for messages", |tables| erasure::said_with(tables, &search)).await
        })
        .await
    }

    async fn erase(&self, what: &Erasure, now: DateTime<Utc>) -> Result<Forgotten> {
        let what = what.clone();
        let forgotten = self
            .aside("erase", move |store| async move {
                store
                    .change_durably("erase", |tables, changes| erasure::erase(tables, changes, &what, now))
                    .await
            })
            .await?;
        self.0.messages.clear();
        self.tell_of_tasks();
        self.0.erasure_news.notify_one();
        // What a summary loses is summarised anew.
        self.0.summary_news.notify_one();
        Ok(forgotten)
    }

    async fn rewrite_due(&self) -> Result<Option<DateTime<Utc>>> {
        let due = self.read("read what is to be rewritten", erasure::due).await?;
        Ok(due.map(|due| due.since))
    }

    async fn rewrite(&self) -> Result<()> {
        let operation = "rewrite its files";
        let Some(due) = self.read(operation, erasure::due).await? else { return Ok(()) };
        let store = self.clone();
        let tables: Vec<&'static str> = [META].into_iter().chain(NAMES).collect();
        let rewriting = spawn_blocking(move || store.0.writer.engine().rewrite(&tables));
        let rewritten =
            rewriting.await.map_err(|error| self.error(Fault::Panic(error.to_string()), operation))?;
        rewritten.map_err(|error| self.error(error.into(), operation))?;
        let now = Clock::system().now();
        self.change_durably(operation, |tables, changes| erasure::rewritten(tables, changes, due, now)).await
    }

    fn erasure_news(&self) -> Arc<Notify> {
        Arc::clone(&self.0.erasure_news)
    }
}

impl KvStore {
    /// Does what takes long on a thread where nothing else waits for it.
    async fn aside<T, F, R>(&self, operation: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(Self) -> R + Send + 'static,
        R: Future<Output = Result<T>>,
    {
        let (store, handle) = (self.clone(), Handle::current());
        let done = spawn_blocking(move || handle.block_on(work(store))).await;
        done.map_err(|error| self.error(Fault::Panic(error.to_string()), operation))?
    }
}
