//! Erasure requested by people. It scans whole chats, so it runs on its own threads.

use std::cell::RefCell;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;

use super::fault::StoreFault;
use super::records::due;
use super::records::erasure::SaidSearch;
use super::records::erasure::{self, Looks};
use super::snapshot::Unreadable;
use super::tables::{ALL, Tables};
use crate::Store;
use crate::{ErasureStore, Result};
use figaro_base::ids::{ChatId, MessageId};
use figaro_domain::erasure::{Erasure, Forgotten, FoundMessage, SaidAt};

/// Attempts to find what is to be erased while others write in the chat; after that writers have to wait.
const TRIES: usize = 3;

impl ErasureStore {
    /// Returns the stored message with this Telegram id, or the one that it is a part of; `None` if it is not stored.
    pub async fn said(&self, chat: ChatId, message: MessageId) -> Result<Option<FoundMessage>> {
        self.0.aside("look for a message", move |parts| erasure::said(parts, chat, message)).await
    }

    /// Returns the message stored at this place; `None` if there is none, or it belongs to another chat.
    pub fn said_at(&self, chat: ChatId, at: SaidAt) -> Result<Option<FoundMessage>> {
        self.0.read("look for a message", move |tables| erasure::said_at(tables, chat, at))
    }

    /// Returns the messages that contain some words, newest first.
    pub async fn said_with(&self, search: &SaidSearch) -> Result<Vec<FoundMessage>> {
        let search = search.clone();
        self.0.aside("look for messages", move |parts| erasure::said_with(parts, &search)).await
    }

    /// Erases in one durable write. Targets that are gone are skipped.
    pub async fn erase(&self, what: &Erasure, now: DateTime<Utc>) -> Result<Forgotten> {
        let mut forgotten = None;
        for _ in 0..TRIES {
            forgotten = self.0.try_to_erase(what, now).await?;
            if forgotten.is_some() {
                break;
            }
        }
        let forgotten = match forgotten {
            Some(forgotten) => forgotten,
            None => self.0.erase_alone(what, now).await?,
        };
        self.0.shared.messages.clear();
        self.0.tell_of_tasks();
        self.0.shared.erasure_news.notify_one();
        // Summaries that lost messages are made anew.
        self.0.shared.summary_news.notify_one();
        Ok(forgotten)
    }

    /// Returns since when erased data is still in the files of the store; `None` if there is none.
    pub fn rewrite_due(&self) -> Result<Option<DateTime<Utc>>> {
        let due = self.0.read("read what is to be rewritten", due::due)?;
        Ok(due.map(|due| due.since))
    }

    /// Rewrites the files of the store without erased data. Others read and write meanwhile. The rewrite begins `now`:
    /// data erased while it runs stays due since then.
    pub async fn rewrite(&self, now: DateTime<Utc>) -> Result<()> {
        let operation = "rewrite its files";
        let Some(then) = self.0.read(operation, due::due)? else { return Ok(()) };
        let store = self.0.clone();
        let rewriting = spawn_blocking(move || store.shared.writer.rewrite(&ALL));
        let rewritten =
            rewriting.await.map_err(|error| self.0.error(StoreFault::Panic(error.to_string()), operation))?;
        rewritten.map_err(|error| self.0.error(error.into(), operation))?;
        self.0.change_durably(operation, |tables, changes| due::rewritten(tables, changes, &then, now)).await
    }

    /// Returns the notification sent when something is erased.
    pub fn news(&self) -> Arc<Notify> {
        Arc::clone(&self.0.shared.erasure_news)
    }
}

/// Reads the store in short steps, so that writers come in between.
struct ErasureScan<'a> {
    store: &'a Store,
    /// Unreadable records found so far.
    unreadable: RefCell<Unreadable>,
}

impl Looks for ErasureScan<'_> {
    fn look<T>(
        &self,
        work: impl FnOnce(&Tables<'_>) -> std::result::Result<T, StoreFault>,
    ) -> std::result::Result<T, StoreFault> {
        self.store.shared.writer.read(|snapshot| {
            let outcome = work(&Tables::of(snapshot));
            self.unreadable.borrow_mut().extend(snapshot.unreadable());
            outcome
        })
    }
}

impl Store {
    /// Scans the store part by part, on a thread where nothing else waits.
    async fn aside<T, F>(&self, operation: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&ErasureScan<'_>) -> std::result::Result<T, StoreFault> + Send + 'static,
    {
        let store = self.clone();
        let looking = spawn_blocking(move || {
            let parts = ErasureScan { store: &store, unreadable: RefCell::default() };
            (work(&parts), parts.unreadable.take())
        });
        let looked =
            looking.await.map_err(|error| self.error(StoreFault::Panic(error.to_string()), operation));
        let (outcome, unreadable) = looked?;
        if !unreadable.is_empty() {
            self.change(operation, move |tables, _| tables.snapshot.set_aside_again(unreadable))?;
        }
        outcome.map_err(|fault| self.error(fault, operation))
    }

    /// Finds what is to be erased while others write, and erases it; `None` if they wrote in the scanned range.
    async fn try_to_erase(&self, what: &Erasure, now: DateTime<Utc>) -> Result<Option<Forgotten>> {
        let (watch, wanted) = (self.shared.writer.watch(), what.clone());
        let mut found = self.aside("erase", move |parts| erasure::look_for(parts, &wanted)).await?;
        self.change_durably("erase", |tables, changes| {
            if !erasure::is_whole(tables, &found, what, &watch.written())? {
                return Ok(None);
            }
            erasure::erase(tables, changes, &mut found, what, now).map(Some)
        })
        .await
    }

    /// Erases while all other writers wait.
    async fn erase_alone(&self, what: &Erasure, now: DateTime<Utc>) -> Result<Forgotten> {
        let (store, handle, what) = (self.clone(), Handle::current(), what.clone());
        let erasing = spawn_blocking(move || {
            handle.block_on(store.change_durably("erase", |tables, changes| {
                let mut found = erasure::look_for(tables, &what)?;
                erasure::erase(tables, changes, &mut found, &what, now)
            }))
        });
        erasing.await.map_err(|error| self.error(StoreFault::Panic(error.to_string()), "erase"))?
    }
}
