//! Kinds of updates of the Bot API 10.3, each with what the bot does about it.

/// Handling of a kind of update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UpdateHandling {
    /// The bot asks Telegram for such updates and acts on them.
    Used,
    /// The bot does not ask for them, for the reason in this text. Telegram then sends none, apart from those that were
    /// waiting.
    NotAsked(&'static str),
}

use UpdateHandling::{NotAsked, Used};

/// Every kind of update, by the name of its field in `Update`.
pub(crate) const KINDS: [(&str, UpdateHandling); 27] = [
    ("message", Used),
    ("edited_message", Used),
    ("channel_post", NotAsked("why_kind_channel")),
    ("edited_channel_post", NotAsked("why_kind_channel")),
    ("business_connection", Used),
    ("business_message", Used),
    ("edited_business_message", Used),
    ("deleted_business_messages", Used),
    ("guest_message", Used),
    ("message_reaction", Used),
    ("message_reaction_count", NotAsked("why_kind_counts")),
    ("inline_query", Used),
    ("chosen_inline_result", Used),
    ("callback_query", Used),
    ("shipping_query", NotAsked("why_kind_shop")),
    ("pre_checkout_query", NotAsked("why_kind_shop")),
    ("purchased_paid_media", NotAsked("why_kind_shop")),
    ("poll", NotAsked("why_kind_poll")),
    ("poll_answer", NotAsked("why_kind_votes")),
    ("my_chat_member", Used),
    ("chat_member", NotAsked("why_kind_members")),
    ("chat_join_request", NotAsked("why_kind_requests")),
    ("chat_boost", NotAsked("why_kind_boosts")),
    ("removed_chat_boost", NotAsked("why_kind_boosts")),
    ("managed_bot", NotAsked("why_kind_bots")),
    ("subscription", NotAsked("why_kind_shop")),
    ("stopped_message_generation", Used),
];

/// Returns the kinds that the bot asks Telegram for, as `allowed_updates`.
#[must_use]
pub(crate) fn asked() -> Vec<&'static str> {
    KINDS.into_iter().filter(|(_, handling)| *handling == Used).map(|(kind, _)| kind).collect()
}

/// Returns what the bot does about a kind; `None` if there is no such kind.
#[must_use]
pub(crate) fn handling(kind: &str) -> Option<UpdateHandling> {
    KINDS.into_iter().find(|(known, _)| *known == kind).map(|(_, handling)| handling)
}

/// Returns the text that says why the bot does not ask for a kind; `None` if it does, or does not know the kind.
#[must_use]
pub(crate) fn reason(kind: &str) -> Option<&'static str> {
    match handling(kind)? {
        NotAsked(why) => Some(why),
        Used => None,
    }
}

#[cfg(test)]
mod tests {
    use figaro_mcp::table::{ApiTable, TypeDef};
    use figaro_prompts::texts::Locales;

    use super::*;

    #[test]
    fn each_kind_of_update_of_the_bot_api_has_a_decision() {
        let Some(TypeDef::Fields(fields)) = ApiTable::get().type_def("Update") else { panic!("no fields") };
        let all: Vec<&str> =
            fields.iter().map(|field| field.name.as_str()).filter(|name| *name != "update_id").collect();
        let decided: Vec<&str> = KINDS.into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(decided, all);
    }

    #[test]
    fn each_reason_has_its_text() {
        let locales = Locales::default();
        for (kind, handling) in KINDS {
            let NotAsked(why) = handling else { continue };
            assert!(locales.of(None).get(why).is_some(), "{kind}: {why}");
        }
    }
}
