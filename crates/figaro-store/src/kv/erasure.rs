//! What people have Figaro forget. It looks through whole chats, so it runs on threads of its own.

use std::cell::RefCell;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;

use super::KvStore;
use super::fault::Fault;
use super::records::due;
use super::records::erasure::{self, Looks};
use super::snapshot::Unreadable;
use super::tables::{META, NAMES, Tables};
use crate::{ErasureStore, Result, SaidSearch};
use figaro_base::ids::{ChatId, MessageId};
use figaro_domain::erasure::{Erasure, Forgotten, Said, SaidAt};

/// So often what is to be erased is looked for while others write in the chat; after that they have to wait.
const TRIES: usize = 3;

#[async_trait]
impl ErasureStore for KvStore {
    async fn said(&self, chat: ChatId, message: MessageId) -> Result<Option<Said>> {
        self.aside("look for a message", move |parts| erasure::said(parts, chat, message)).await
    }

    async fn said_at(&self, chat: ChatId, at: SaidAt) -> Result<Option<Said>> {
        self.read("look for a message", move |tables| erasure::said_at(tables, chat, at)).await
    }

    async fn said_with(&self, search: &SaidSearch) -> Result<Vec<Said>> {
        let search = search.clone();
        self.aside("look for messages", move |parts| erasure::said_with(parts, &search)).await
    }

    async fn erase(&self, what: &Erasure, now: DateTime<Utc>) -> Result<Forgotten> {
        let mut forgotten = None;
        for _ in 0..TRIES {
            forgotten = self.try_to_erase(what, now).await?;
            if forgotten.is_some() {
                break;
            }
        }
        let forgotten = match forgotten {
            Some(forgotten) => forgotten,
            None => self.erase_alone(what, now).await?,
        };
        self.0.messages.clear();
        self.tell_of_tasks();
        self.0.erasure_news.notify_one();
        // What a summary loses is summarised anew.
        self.0.summary_news.notify_one();
        Ok(forgotten)
    }

    async fn rewrite_due(&self) -> Result<Option<DateTime<Utc>>> {
        let due = self.read("read what is to be rewritten", due::due).await?;
        Ok(due.map(|due| due.since))
    }

    async fn rewrite(&self, now: DateTime<Utc>) -> Result<()> {
        let operation = "rewrite its files";
        let Some(then) = self.read(operation, due::due).await? else { return Ok(()) };
        let store = self.clone();
        let tables: Vec<&'static str> = [META].into_iter().chain(NAMES).collect();
        let rewriting = spawn_blocking(move || store.0.writer.engine().rewrite(&tables));
        let rewritten =
            rewriting.await.map_err(|error| self.error(Fault::Panic(error.to_string()), operation))?;
        rewritten.map_err(|error| self.error(error.into(), operation))?;
        self.change_durably(operation, |tables, changes| due::rewritten(tables, changes, &then, now)).await
    }

    fn erasure_news(&self) -> Arc<Notify> {
        Arc::clone(&self.0.erasure_news)
    }
}

/// Looks at a store for a moment each time, so that writers come in between.
struct Parts<'a> {
    store: &'a KvStore,
    /// What could not be read.
    unreadable: RefCell<Unreadable>,
}

impl Looks for Parts<'_> {
    fn look<T>(
        &self,
        work: impl FnOnce(&Tables<'_>) -> std::result::Result<T, Fault>,
    ) -> std::result::Result<T, Fault> {
        self.store.0.writer.read(|snapshot| {
            let outcome = work(&Tables::of(snapshot));
            self.unreadable.borrow_mut().extend(snapshot.unreadable());
            outcome
        })
    }
}

impl KvStore {
    /// Looks through the store part by part, on a thread where nothing else waits for it.
    async fn aside<T, F>(&self, operation: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Parts<'_>) -> std::result::Result<T, Fault> + Send + 'static,
    {
        let store = self.clone();
        let looking = spawn_blocking(move || {
            let parts = Parts { store: &store, unreadable: RefCell::default() };
            (work(&parts), parts.unreadable.take())
        });
        let looked = looking.await.map_err(|error| self.error(Fault::Panic(error.to_string()), operation));
        let (outcome, unreadable) = looked?;
        if !unreadable.is_empty() {
            self.change(operation, move |tables, _| tables.snapshot.set_aside_again(unreadable)).await?;
        }
        outcome.map_err(|fault| self.error(fault, operation))
    }

    /// Finds what is to be erased while others write, and erases it; `None` if they wrote where it was looked for.
    async fn try_to_erase(&self, what: &Erasure, now: DateTime<Utc>) -> Result<Option<Forgotten>> {
        let (watch, wanted) = (self.0.writer.watch(), what.clone());
        let mut found = self.aside("erase", move |parts| erasure::look_for(parts, &wanted)).await?;
        self.change_durably("erase", |tables, changes| {
            if !erasure::is_whole(tables, &found, what, &watch.written())? {
                return Ok(None);
            }
            erasure::erase(tables, changes, &mut found, what, now).map(Some)
        })
        .await
    }

    /// The same while nobody else writes.
    async fn erase_alone(&self, what: &Erasure, now: DateTime<Utc>) -> Result<Forgotten> {
        let (store, handle, what) = (self.clone(), Handle::current(), what.clone());
        let erasing = spawn_blocking(move || {
            handle.block_on(store.change_durably("erase", |tables, changes| {
                let mut found = erasure::look_for(tables, &what)?;
                erasure::erase(tables, changes, &mut found, &what, now)
            }))
        });
        erasing.await.map_err(|error| self.error(Fault::Panic(error.to_string()), "erase"))?
    }
}
