//! Greetings of newcomers in groups whose admins want them.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Router;
use crate::send::Outgoing;
use crate::views::{MessageView, UserView};
use figaro_agent::outbound::Urgency;
use figaro_base::text::one_line;
use figaro_domain::chat::Place;
use figaro_markup::Formatted;

/// Stands for the name of a newcomer in the text of a chat.
const NAME: &str = "NAME";
/// Maximum length of a name, in characters, and number of names in one greeting.
const NAME_CHARS: usize = 40;
const MAX_NAMES: usize = 5;

impl Router {
    /// Greets the people who have just joined, in one message, if the group has a text for it. Of a flood of newcomers,
    /// those above the group's rate are not greeted.
    pub(super) fn welcome(self: &Arc<Self>, place: &Place, view: &MessageView) {
        let joined: Vec<UserView> = view.part("new_chat_members");
        let names: Vec<String> =
            joined.iter().filter(|user| !user.is_bot).map(name).take(MAX_NAMES).collect();
        if names.is_empty() || !place.is_group() {
            return;
        }
        let config = self.settings.chat_config(place.chat);
        let Some(text) = config.ok().and_then(|config| config.welcome) else { return };
        let sender = self.commands.cards.sender.clone();
        if !sender.limiter.try_acquire_message(place.chat) {
            return;
        }
        let content = Formatted { text: text.replace(NAME, &names.join(", ")), entities: Vec::new() };
        let greeting = Outgoing { content, urgency: Urgency::Notice, ..Outgoing::default() };
        let place = place.clone();
        self.background.spawn("welcome", async move {
            if let Err(unsent) = sender.send(&place, &greeting, &CancellationToken::new()).await {
                tracing::warn!(chat = %place.chat, ?unsent, "newcomers could not be greeted");
            }
        });
    }
}

fn name(user: &UserView) -> String {
    one_line(&user.first_name, NAME_CHARS)
}
