//! What becomes of a turn whose session was erased while its question waited: nobody can name its conversation any more, so what it
//! has kept is erased, too.

use chrono::{DateTime, Utc};

use super::Hub;
use figaro_base::ids::UserId;
use figaro_domain::conversation::Conversation;
use figaro_domain::erasure::Erasure;
use figaro_store::Result;
use figaro_store::Store;

/// Erases a conversation that has no name any more. Where another turn is at work in it, its end does so.
///
/// # Errors
/// When the store fails.
pub(super) async fn erase(
    store: &Store,
    hub: &Hub,
    conversation: Conversation,
    user: UserId,
    now: DateTime<Utc>,
) -> Result<()> {
    if store.external().is_named(conversation).await? {
        return Ok(());
    }
    if let Some(session) = store.sessions().current(conversation).await? {
        store.erasures().erase(&Erasure::of_external(conversation, session, user), now).await?;
    }
    hub.forget_conversation(conversation);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use figaro_base::ids::BotId;
    use figaro_domain::external::ExternalName;

    #[tokio::test]
    async fn a_turn_leaves_nothing_in_a_session_that_was_erased_while_it_waited() {
        let store = Store::in_memory(BotId(1));
        let (hub, now, ann) = (Hub::default(), DateTime::UNIX_EPOCH, UserId::external("acme", "ann"));
        for name in [
            ExternalName::person("acme", "ann").session("trip"),
            ExternalName::anonymous("acme", "app", "trip"),
        ] {
            let conversation = store.external().keep(&name).await.unwrap();
            let first = store.conversations().session(conversation, now).await.unwrap().id;
            erase(&store, &hub, conversation, ann.clone(), now).await.unwrap();
            assert_eq!(store.sessions().current(conversation).await.unwrap(), Some(first), "it has its name");
            let erasure = Erasure::of_external(conversation, first, ann.clone());
            store.erasures().erase(&erasure, now).await.unwrap();
            let second = store.conversations().session(conversation, now).await.unwrap().id;
            erase(&store, &hub, conversation, ann.clone(), now).await.unwrap();
            assert_eq!(store.sessions().current(conversation).await.unwrap(), None, "{name:?}");
            assert_eq!(store.sessions().find(second).await.unwrap(), None, "{name:?}");
        }
    }
}
