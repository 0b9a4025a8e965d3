//! Telegram's lists of commands: one for everybody in each language, and one for each chat that has set its own language.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::cards::Cards;
use super::command::{Access, Command, CommandSpec};
use crate::api::{DeleteMyCommands, SetMyCommands};
use figaro_base::ids::ChatId;

/// Language tags of the chats that have their own list. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Menus(Arc<Mutex<HashMap<ChatId, &'static str>>>);

impl Menus {
    /// Registers the list of commands for everybody, in each language.
    pub(super) async fn publish(&self, cards: &Cards, commands: &[Arc<dyn Command>]) {
        for (tag, listed) in listed(cards, commands).into_iter() {
            // English is also the default for all other languages.
            let body = match tag {
                "en" => json!({"commands": listed}),
                other => json!({"commands": listed, "language_code": other}),
            };
            if let Err(error) = cards.sender.api.call(SetMyCommands(body)).await {
                tracing::warn!(%error, language = tag, "the list of commands could not be registered");
            }
        }
    }

    /// Registers the list of a chat in this language, or removes it for `None`, unless it is already so. Does not
    /// wait for Telegram. A failed call is repeated at the next call for the chat.
    pub(super) fn keep(
        &self,
        cards: &Cards,
        commands: &[Arc<dyn Command>],
        chat: ChatId,
        tag: Option<&'static str>,
    ) {
        let before = self.replace(chat, tag);
        if before == tag {
            return;
        }
        let scope = json!({"type": "chat", "chat_id": chat.0});
        let listed = listed(cards, commands).into_iter().find(|(language, _)| Some(*language) == tag);
        let (this, api) = (self.clone(), cards.sender.api.clone());
        cards.sender.background.spawn("menu", async move {
            let done = match listed {
                Some((_, listed)) => {
                    api.call(SetMyCommands(json!({"commands": listed, "scope": scope}))).await
                }
                None => api.call(DeleteMyCommands(json!({"scope": scope}))).await,
            };
            if let Err(error) = done {
                tracing::warn!(%error, %chat, "the list of commands of a chat could not be changed");
                this.replace(chat, before);
            }
        });
    }

    /// Sets the language tag of a chat and returns the previous one.
    fn replace(&self, chat: ChatId, tag: Option<&'static str>) -> Option<&'static str> {
        let mut menus = self.0.lock();
        match tag {
            Some(tag) => menus.insert(chat, tag),
            None => menus.remove(&chat),
        }
    }
}

/// Returns the list of commands in each language.
fn listed(cards: &Cards, commands: &[Arc<dyn Command>]) -> Vec<(&'static str, Vec<Value>)> {
    let is_listed = |spec: CommandSpec| spec.access == Access::Everybody && spec.is_offered;
    let everybodys = || commands.iter().filter(|command| is_listed(command.spec()));
    let locales = cards.languages.locales.all();
    locales
        .map(|(tag, texts)| {
            let one = |command: &Arc<dyn Command>| {
                let spec = command.spec();
                json!({"command": spec.name, "description": (spec.about)(texts)})
            };
            (tag, everybodys().map(one).collect())
        })
        .collect()
}
