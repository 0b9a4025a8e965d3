//! Connecting accounts of people, and messages of them and of their customers.

use serde_json::{Map, Value, json};

use super::super::OfflineTelegram;
use super::super::business::BusinessLink;
use super::super::compose::add_content;
use super::super::possible::{Possible, known, no};
use super::super::say::Say;
use super::super::state::TelegramState;
use super::observe::TelegramView;

impl OfflineTelegram {
    /// Connects the bot to the account of a person, or changes the rights of the connection.
    ///
    /// # Errors
    /// The person is unknown.
    pub fn connect_account(&self, connection: &str, user: i64, rights: &[&str]) -> Possible<()> {
        self.connect_account_untold(connection, user, rights)?;
        self.shared.change(|state| tell_connection(state, connection))
    }

    /// Connects the bot to the account of a person without an update, as if it had come too long ago.
    ///
    /// # Errors
    /// The person is unknown.
    pub fn connect_account_untold(&self, connection: &str, user: i64, rights: &[&str]) -> Possible<()> {
        self.shared.change(|state| {
            let user = known(state, user)?.json();
            let rights = rights.iter().map(|right| (*right).to_owned()).collect();
            let known = state.business.connections.remove(connection);
            let (messages, read) = known.map(|link| (link.messages, link.read)).unwrap_or_default();
            let link = BusinessLink { user, is_enabled: true, rights, messages, read };
            state.business.connections.insert(connection.to_owned(), link);
            Ok(())
        })
    }

    /// Turns Business Mode off, as BotFather does.
    pub fn turn_business_off(&self) {
        self.shared.change(|state| state.business.is_off = true);
    }

    /// Ends a connection.
    ///
    /// # Errors
    /// There is no such connection.
    pub fn disconnect_account(&self, connection: &str) -> Possible<()> {
        self.shared.change(|state| {
            link(state, connection)?.is_enabled = false;
            tell_connection(state, connection)
        })
    }

    /// Writes to the account as a customer. Returns the id of the message.
    ///
    /// # Errors
    /// The connection or the customer is unknown.
    pub fn customer_says(&self, connection: &str, customer: i64, text: &str) -> Possible<i64> {
        self.customer_sends(connection, Say::new(customer, customer, text))
    }

    /// Sends text and files to the account as a customer. Returns the id of the message.
    ///
    /// # Errors
    /// The connection or the customer is unknown.
    pub fn customer_sends(&self, connection: &str, say: Say) -> Possible<i64> {
        self.write_business(connection, say, true)
    }

    /// Writes to a customer as the person whose account it is. Returns the id of the message.
    ///
    /// # Errors
    /// The connection or the customer is unknown.
    pub fn says_to_customer(&self, connection: &str, customer: i64, text: &str) -> Possible<i64> {
        self.write_business(connection, Say::new(customer, customer, text), false)
    }

    /// Edits a message of a chat with a customer.
    ///
    /// # Errors
    /// There is no such message.
    pub fn edit_business(&self, connection: &str, customer: i64, id: i64, text: &str) -> Possible<()> {
        let now = self.shared.now().timestamp();
        self.shared.change(|state| {
            let mut all = link(state, connection)?.messages.get_mut(&customer).into_iter().flatten();
            let Some(message) = all.find(|message| message["message_id"] == id) else {
                return no("there is no such message");
            };
            message["text"] = json!(text);
            message["edit_date"] = json!(now);
            let edited = message.clone();
            state.updates.push("edited_business_message", &edited);
            Ok(())
        })
    }

    /// Deletes messages of a chat with a customer.
    ///
    /// # Errors
    /// There is no such chat.
    pub fn delete_business(&self, connection: &str, customer: i64, ids: &[i64]) -> Possible<()> {
        self.shared.change(|state| {
            let Some(all) = link(state, connection)?.messages.get_mut(&customer) else {
                return no("there is no such chat");
            };
            let chat = all.first().map(|message| message["chat"].clone());
            all.retain(|message| message["message_id"].as_i64().is_none_or(|id| !ids.contains(&id)));
            let deleted = json!({"business_connection_id": connection, "chat": chat, "message_ids": ids});
            state.updates.push("deleted_business_messages", &deleted);
            Ok(())
        })
    }

    fn write_business(&self, connection: &str, say: Say, by_customer: bool) -> Possible<i64> {
        let now = self.shared.now().timestamp();
        self.shared.change(|state| {
            let (customer, id) = (say.chat, state.business.next_message());
            let person = known(state, customer)?.json();
            let mut content = Map::new();
            add_content(state, &mut content, say);
            let link = link(state, connection)?;
            let from = if by_customer { person.clone() } else { link.user.clone() };
            let chat = json!({"id": customer, "type": "private", "first_name": person["first_name"]});
            let mut message = json!({
                "message_id": id, "from": from, "chat": chat, "date": now,
                "business_connection_id": connection,
            });
            if let Some(fields) = message.as_object_mut() {
                fields.extend(content);
            }
            link.messages.entry(customer).or_default().push(message.clone());
            let is_enabled = link.is_enabled;
            if is_enabled {
                state.updates.push("business_message", &message);
            }
            Ok(id)
        })
    }
}

impl TelegramView<'_> {
    /// Returns the messages of a chat with a customer, oldest first.
    #[must_use]
    pub fn business_messages(&self, connection: &str, customer: i64) -> &[Value] {
        let link = self.0.business.connections.get(connection);
        link.and_then(|link| link.messages.get(&customer)).map_or(&[], Vec::as_slice)
    }

    /// Returns the messages that the bot marked as read: chat and message.
    #[must_use]
    pub fn business_read(&self, connection: &str) -> &[(i64, i64)] {
        self.0.business.connections.get(connection).map_or(&[], |link| &link.read)
    }
}

fn link<'a>(state: &'a mut TelegramState, connection: &str) -> Possible<&'a mut BusinessLink> {
    state.business.connections.get_mut(connection).map_or_else(|| no("there is no such connection"), Ok)
}

fn tell_connection(state: &mut TelegramState, connection: &str) -> Possible<()> {
    let told = link(state, connection)?.json(connection);
    state.updates.push("business_connection", &told);
    Ok(())
}
