//! Accounts of people that the bot is connected to, by connection, with their chats.

use chrono::{DateTime, Utc};

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use super::due;
use figaro_base::ids::{ConnectionId, UserId};
use figaro_domain::business::{BusinessAccount, MAX_CUSTOMERS};

/// Returns the connected accounts of a person: one, unless Telegram did not tell that an earlier one ended.
pub(crate) fn of_person(tables: &Tables<'_>, user: &UserId) -> Result<Vec<BusinessAccount>, StoreFault> {
    let mut accounts = all_of_person(tables, user)?;
    accounts.retain(|account| !account.is_forgotten);
    Ok(accounts)
}

/// Returns the accounts of a person, those that were forgotten too.
pub(crate) fn all_of_person(tables: &Tables<'_>, user: &UserId) -> Result<Vec<BusinessAccount>, StoreFault> {
    let mut accounts = tables.business.list(&[])?;
    accounts.retain(|account| account.owner.user == *user);
    Ok(accounts)
}

/// Deletes an account with its chats, readable or not.
pub(crate) fn remove(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    connection: &ConnectionId,
) -> Result<(), StoreFault> {
    for key in tables.customers.keys_of(&key::connection(connection))? {
        changes.remove(&tables.customers, key?);
    }
    changes.remove(&tables.business, key::connection(connection));
    Ok(())
}

/// Deletes everything about the accounts of a person but their ids.
pub(crate) fn forget(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    user: &UserId,
) -> Result<(), StoreFault> {
    for account in of_person(tables, user)? {
        remove(tables, changes, &account.connection)?;
        changes.put(&tables.business, key::connection(&account.connection), &account.forgotten())?;
    }
    Ok(())
}

/// Drops the chat that was silent longest, if one more would exceed the limit. One with a standing rule, or whose draft is
/// being sent, stays.
pub(crate) fn make_room(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    of: &ConnectionId,
    now: DateTime<Utc>,
) -> Result<(), StoreFault> {
    let chats = tables.customers.list(&key::connection(of))?;
    let idle = chats.iter().filter(|chat| !chat.is_standing && chat.sending.is_none());
    let oldest = idle.min_by_key(|chat| chat.written_at).filter(|_| chats.len() >= MAX_CUSTOMERS);
    if let Some(oldest) = oldest {
        changes.remove(&tables.customers, key::customer(of, oldest.chat));
        due::mark(tables, changes, now)?;
    }
    Ok(())
}
