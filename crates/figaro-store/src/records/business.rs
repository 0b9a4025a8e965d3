//! Accounts of people that the bot is connected to, by connection, with their chats.

use super::super::changes::Changes;
use super::super::fault::StoreFault;
use super::super::key;
use super::super::tables::Tables;
use figaro_base::ids::{ConnectionId, UserId};
use figaro_domain::business::{BusinessAccount, MAX_CUSTOMERS};

/// Returns the accounts of a person: one, unless Telegram did not tell that an earlier one ended.
pub(crate) fn of_person(tables: &Tables<'_>, user: &UserId) -> Result<Vec<BusinessAccount>, StoreFault> {
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

/// Deletes the accounts of a person.
pub(crate) fn forget(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    user: &UserId,
) -> Result<(), StoreFault> {
    of_person(tables, user)?.iter().try_for_each(|account| remove(tables, changes, &account.connection))
}

/// Drops the chat that was silent longest, if one more would exceed the limit.
pub(crate) fn make_room(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    of: &ConnectionId,
) -> Result<(), StoreFault> {
    let chats = tables.customers.list(&key::connection(of))?;
    let oldest = chats.iter().min_by_key(|chat| chat.written_at).filter(|_| chats.len() >= MAX_CUSTOMERS);
    oldest.iter().for_each(|oldest| changes.remove(&tables.customers, key::customer(of, oldest.chat)));
    Ok(())
}
