//! Kinds of updates of the Bot API 10.3, each with what the bot does about it.

/// Handling of a kind of update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UpdateHandling {
    /// The bot asks Telegram for such updates and acts on them.
    Used,
    /// The bot does not ask for them, for this reason. Telegram then sends none, apart from those that were waiting.
    NotAsked(&'static str),
}

use UpdateHandling::{NotAsked, Used};

/// Every kind of update, by the name of its field in `Update`.
pub(crate) const KINDS: [(&str, UpdateHandling); 27] = [
    ("message", Used),
    ("edited_message", Used),
    ("channel_post", NotAsked("a channel asks nobody")),
    ("edited_channel_post", NotAsked("a channel asks nobody")),
    ("business_connection", NotAsked("the bot acts for no other account")),
    ("business_message", NotAsked("the bot acts for no other account")),
    ("edited_business_message", NotAsked("the bot acts for no other account")),
    ("deleted_business_messages", NotAsked("the bot acts for no other account")),
    ("guest_message", Used),
    ("message_reaction", Used),
    ("message_reaction_count", NotAsked("counts of anonymous reactions name nobody")),
    ("inline_query", Used),
    ("chosen_inline_result", Used),
    ("callback_query", Used),
    ("shipping_query", NotAsked("the bot sells nothing")),
    ("pre_checkout_query", NotAsked("the bot sells nothing")),
    ("purchased_paid_media", NotAsked("the bot sells nothing")),
    ("poll", NotAsked("the model asks for the state of a poll when it ends it")),
    ("poll_answer", NotAsked("votes are for those who asked")),
    ("my_chat_member", Used),
    ("chat_member", NotAsked("joins and leaves come as messages")),
    ("chat_join_request", NotAsked("admins decide about them")),
    ("chat_boost", NotAsked("boosts change nothing for the bot")),
    ("removed_chat_boost", NotAsked("boosts change nothing for the bot")),
    ("managed_bot", NotAsked("the bot manages no other bots")),
    ("subscription", NotAsked("the bot sells nothing")),
    ("stopped_message_generation", Used),
];

/// Returns the kinds that the bot asks Telegram for, as `allowed_updates`.
#[must_use]
pub(crate) fn asked() -> Vec<&'static str> {
    KINDS.into_iter().filter(|(_, handling)| *handling == Used).map(|(kind, _)| kind).collect()
}

/// Returns why the bot does not ask for a kind; `None` if it does, or does not know the kind.
#[must_use]
pub(crate) fn reason(kind: &str) -> Option<&'static str> {
    KINDS.into_iter().find_map(|(known, handling)| match handling {
        NotAsked(why) if known == kind => Some(why),
        NotAsked(_) | Used => None,
    })
}

#[cfg(test)]
mod tests {
    use figaro_mcp::table::{ApiTable, TypeDef};

    use super::*;

    #[test]
    fn each_kind_of_update_of_the_bot_api_has_a_decision() {
        let Some(TypeDef::Fields(fields)) = ApiTable::get().type_def("Update") else { panic!("no fields") };
        let all: Vec<&str> =
            fields.iter().map(|field| field.name.as_str()).filter(|name| *name != "update_id").collect();
        let decided: Vec<&str> = KINDS.into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(decided, all);
    }
}
