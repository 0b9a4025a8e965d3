//! Erasure of a conversation whose session was erased while a question waited. It no longer has a name, so its new
//! messages are erased too.

use super::Hub;
use figaro_agent::eraser::Eraser;
use figaro_base::ids::UserId;
use figaro_domain::conversation::ConversationId;
use figaro_domain::erasure::Erasure;
use figaro_store::Result;

/// Erases a conversation that has no name any longer. If another turn is running in it, the end of that turn erases
/// it.
///
/// # Errors
/// If the store fails.
pub(super) async fn erase(
    eraser: &Eraser,
    hub: &Hub,
    conversation: ConversationId,
    user: UserId,
) -> Result<()> {
    let store = &eraser.store;
    if store.external().is_named(conversation)? {
        return Ok(());
    }
    if let Some(session) = store.sessions().current(conversation)? {
        eraser.erase(&Erasure::of_external(conversation, session, user), None).await?;
    }
    hub.forget_conversation(conversation);
    Ok(())
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use figaro_base::tz::Tz;

    use super::*;
    use figaro_agent::eraser::Erasures;
    use figaro_agent::tools::draw::LastPictures;
    use figaro_agent::turn::parked::Parked;
    use figaro_base::clock::Clock;
    use figaro_base::ids::BotId;
    use figaro_base::shutdown::TaskTracker;
    use figaro_domain::external::ExternalName;
    use figaro_memory::Chats;
    use figaro_store::Store;

    #[tokio::test]
    async fn a_turn_leaves_nothing_in_a_session_that_was_erased_while_it_waited() {
        let store = Store::in_memory(BotId(1));
        let (hub, now, ann) = (Hub::default(), DateTime::UNIX_EPOCH, UserId::external("acme", "ann"));
        let clock = Clock::system();
        let eraser = Eraser {
            chats: Chats::new(store.messages(), clock.clone()),
            parked: Parked::new(store.parked(), store.conversations(), clock.clone()),
            erasures: Erasures::default(),
            pictures: LastPictures::default(),
            default_zone: Tz::UTC,
            background: TaskTracker::default(),
            store: store.clone(),
            clock,
        };
        for name in [
            ExternalName::person("acme", "ann").session("trip"),
            ExternalName::anonymous("acme", "app", "trip"),
        ] {
            let conversation = store.external().keep(&name).await.unwrap();
            let first = store.conversations().session(conversation, now).unwrap().id;
            erase(&eraser, &hub, conversation, ann.clone()).await.unwrap();
            assert_eq!(store.sessions().current(conversation).unwrap(), Some(first), "it has its name");
            let erasure = Erasure::of_external(conversation, first, ann.clone());
            store.erasures().erase(&erasure, now).await.unwrap();
            let second = store.conversations().session(conversation, now).unwrap().id;
            erase(&eraser, &hub, conversation, ann.clone()).await.unwrap();
            assert_eq!(store.sessions().current(conversation).unwrap(), None, "{name:?}");
            assert_eq!(store.sessions().find(second).unwrap(), None, "{name:?}");
        }
    }
}
