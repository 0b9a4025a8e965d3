//! Accounts of people that the bot is connected to, and their chats with customers.

use chrono::{DateTime, Utc};

use super::key;
use super::records::{business, due};
use crate::{BusinessStore, Result};
use figaro_base::ids::{ChatId, ConnectionId, UserId};
use figaro_domain::business::{BusinessAccount, CustomerChat};

impl BusinessStore {
    /// Adds or replaces an account, durably. Other accounts of the same person, which Telegram has ended, are erased. Returns
    /// `true` if its connection is new.
    pub async fn connect(&self, account: BusinessAccount, now: DateTime<Utc>) -> Result<bool> {
        self.0
            .change_durably("connect an account", move |tables, changes| {
                let others = business::all_of_person(tables, &account.owner.user)?;
                for other in others.iter().filter(|other| other.connection != account.connection) {
                    business::remove(tables, changes, &other.connection)?;
                    due::mark(tables, changes, now)?;
                }
                let key = key::connection(&account.connection);
                let is_new = tables.business.find(&key)?.is_none_or(|known| known.is_forgotten);
                changes.put(&tables.business, key, &account)?;
                Ok(is_new)
            })
            .await
    }

    /// Erases an account with its chats, durably. Returns the account and its chats; `None` if it is unknown.
    pub async fn disconnect(
        &self,
        connection: &ConnectionId,
        now: DateTime<Utc>,
    ) -> Result<Option<(BusinessAccount, Vec<CustomerChat>)>> {
        let erased = self.0.change_durably("disconnect an account", |tables, changes| {
            let Some(account) = tables.business.find(&key::connection(connection))? else { return Ok(None) };
            let chats = tables.customers.list(&key::connection(connection))?;
            business::remove(tables, changes, connection)?;
            due::mark(tables, changes, now)?;
            Ok(Some((account, chats)))
        });
        let erased = erased.await?;
        self.0.shared.erasure_news.notify_one();
        Ok(erased)
    }

    /// Returns an account by its connection, one that was forgotten too.
    pub fn account(&self, connection: &ConnectionId) -> Result<Option<BusinessAccount>> {
        self.0.read("read a connected account", |tables| tables.business.find(&key::connection(connection)))
    }

    /// Returns the account of a person.
    pub fn of_person(&self, user: &UserId) -> Result<Option<BusinessAccount>> {
        let found = self.0.read("look for a connected account", |tables| business::of_person(tables, user));
        Ok(found?.pop())
    }

    /// Returns the chats of an account, the one written in last first.
    pub fn customers(&self, connection: &ConnectionId) -> Result<Vec<CustomerChat>> {
        let prefix = key::connection(connection);
        let listed = self.0.read("list chats with customers", |tables| tables.customers.list(&prefix));
        let mut chats = listed?;
        chats.sort_by_key(|chat| std::cmp::Reverse(chat.written_at));
        Ok(chats)
    }

    /// Returns a chat of an account.
    pub fn customer(&self, of: &ConnectionId, chat: ChatId) -> Result<Option<CustomerChat>> {
        self.0.read("read a customer's chat", |tables| tables.customers.find(&key::customer(of, chat)))
    }

    /// Changes a chat, durably, and returns what `change` returns. A missing chat is created if `new` is given; otherwise, and
    /// if the account is not connected or was forgotten, the result is `None`.
    pub async fn change<T>(
        &self,
        of: &ConnectionId,
        chat: ChatId,
        new: Option<CustomerChat>,
        change: impl FnOnce(&mut CustomerChat) -> T,
    ) -> Result<Option<T>> {
        self.0
            .change_durably("change a customer's chat", |tables, changes| {
                if tables.business.find(&key::connection(of))?.is_none_or(|account| account.is_forgotten) {
                    return Ok(None);
                }
                let known = tables.customers.find(&key::customer(of, chat))?;
                if let Some(new) = new.as_ref().filter(|_| known.is_none()) {
                    business::make_room(tables, changes, of, new.written_at)?;
                }
                let Some(mut customer) = known.or(new) else { return Ok(None) };
                let changed = change(&mut customer);
                changes.put(&tables.customers, key::customer(of, chat), &customer)?;
                Ok(Some(changed))
            })
            .await
    }

    /// Erases a chat, durably. Returns it; `None` if it is unknown.
    pub async fn forget(
        &self,
        of: &ConnectionId,
        chat: ChatId,
        now: DateTime<Utc>,
    ) -> Result<Option<CustomerChat>> {
        let forgotten = self.0.change_durably("forget a customer's chat", |tables, changes| {
            let known = tables.customers.find(&key::customer(of, chat))?;
            changes.remove(&tables.customers, key::customer(of, chat));
            due::mark(tables, changes, now)?;
            Ok(known)
        });
        let forgotten = forgotten.await?;
        self.0.shared.erasure_news.notify_one();
        Ok(forgotten)
    }
}
