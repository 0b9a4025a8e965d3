//! Updates that cannot be handled: those that panic, and those of a known kind with an unknown form. They are kept as
//! text and the owners are told, because their author gets no answer.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use serde_json::Value;

use super::fate::{Arrival, UpdateFate};
use crate::views::UpdateView;
use figaro_store::StoreError;

/// Runs `decide`. If it panics on a new update, the update stays open for the next start, because the cause may have
/// passed. If it panics again, returns `None`.
pub(super) async fn guarded(
    decide: impl Future<Output = Result<UpdateFate, StoreError>>,
    arrival: Arrival,
) -> Option<Result<UpdateFate, StoreError>> {
    match (AssertUnwindSafe(decide).catch_unwind().await, arrival) {
        (Ok(decided), _) => Some(decided),
        (Err(_panic), Arrival::New) => {
            tracing::error!("an update broke the code that reads it; the next start tries it once more");
            Some(Ok(UpdateFate::Pending))
        }
        (Err(_panic), Arrival::Accepted) => None,
    }
}

/// Returns `true` if an update of a known kind cannot be read, or if a message's text or author cannot be read,
/// without which it cannot be answered.
pub(super) fn is_odd(body: &Value, view: &UpdateView) -> bool {
    let has = |kind: &str| body.get(kind).is_some_and(|value| !value.is_null());
    let unread = (has("message") && view.message.is_none())
        || (has("edited_message") && view.edited_message.is_none())
        || (has("callback_query") && view.callback_query.is_none())
        || (has("my_chat_member") && view.my_chat_member.is_none())
        || (has("stopped_message_generation") && view.stopped_message_generation.is_none())
        || (has("message_reaction") && view.message_reaction.is_none())
        || (has("inline_query") && view.inline_query.is_none())
        || (has("chosen_inline_result") && view.chosen_inline_result.is_none())
        || (has("guest_message") && view.guest_message.is_none())
        || (has("business_connection") && view.business_connection.is_none())
        || (has("business_message") && view.business_message.is_none())
        || (has("edited_business_message") && view.edited_business_message.is_none())
        || (has("deleted_business_messages") && view.deleted_business_messages.is_none());
    let Some(message) = &view.message else { return unread };
    let field =
        |name: &str| body.get("message").and_then(|message| message.get(name)).is_some_and(|v| !v.is_null());
    unread
        || (field("text") && message.text.is_none())
        || (field("caption") && message.caption.is_none())
        || (field("from") && message.from.is_none())
}

/// Returns the name of the field that tells the kind of an update.
pub(super) fn kind_of(body: &Value) -> &str {
    let fields = body.as_object().into_iter().flatten();
    fields.map(|(name, _)| name.as_str()).find(|name| *name != "update_id").unwrap_or("none")
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_what_it_was_is_odd_and_what_is_new_is_not() {
        let ann = json!({"id": 7, "is_bot": false, "first_name": "Ann"});
        let chat = json!({"id": 7, "type": "private"});
        let message = |text: Value, from: &Value, chat: &Value| json!({"message": {"message_id": 7, "chat": chat, "from": from, "date": 0, "text": text}});
        let cases = [
            (message(json!("hello"), &ann, &chat), false),
            (message(json!(42), &ann, &chat), true),
            (message(json!(null), &ann, &chat), false),
            (message(json!("hello"), &json!([]), &chat), true),
            (message(json!("hello"), &ann, &json!({"id": "here"})), true),
            (json!({"message": "hello"}), true),
            (json!({"message": null}), false),
            (json!({"message": {"message_id": "seven", "chat": chat, "from": ann, "text": "hello"}}), false),
            (json!({"edited_message": 3}), true),
            (json!({"callback_query": {"id": 5}}), true),
            (json!({"my_chat_member": []}), true),
            (json!({"telepathy": {"from": ann}}), false),
            (json!({}), false),
        ];
        for (mut body, odd) in cases {
            body["update_id"] = json!(1);
            let view = UpdateView::deserialize(&body).unwrap();
            assert_eq!(is_odd(&body, &view), odd, "{body}");
        }
        assert_eq!(kind_of(&json!({"update_id": 1, "message": {}})), "message");
    }

    #[tokio::test]
    async fn an_update_that_breaks_the_code_is_tried_once_more() {
        let broken = async { panic!("broken") };
        assert!(matches!(guarded(broken, Arrival::New).await, Some(Ok(UpdateFate::Pending))));
        let broken = async { panic!("broken") };
        assert!(guarded(broken, Arrival::Accepted).await.is_none());
        assert!(matches!(
            guarded(async { Ok(UpdateFate::Settled) }, Arrival::New).await,
            Some(Ok(UpdateFate::Settled))
        ));
    }
}
