//! What becomes of a turn whose session was erased while its question waited: nobody can name its conversation any more, so what it
//! has kept is erased, too.

use chrono::{DateTime, Utc};

use super::Hub;
use figaro_base::ids::UserId;
use figaro_domain::conversation::Conversation;
use figaro_domain::erasure::Erasure;
use figaro_store::kv::KvStore;
use figaro_store::{ErasureStore, ExternalStore, Result, SessionStore};

/// Erases a conversation that has no name any more. Where another turn is at work in it, its end does so.
///
/// # Errors
/// When the store fails.
pub(super) async fn erase(
    store: &KvStore,
    hub: &Hub,
    conversation: Conversation,
    user: UserId,
    now: DateTime<Utc>,
) -> Result<()> {
    if store.is_named(conversation).await? {
        return Ok(());
    }
    if let Some(session) = store.current_session(conversation).await? {
        store.erase(&Erasure::of_external(conversation, session, user), now).await?;
    }
    hub.forget_conversation(conversation);
    Ok(())
}
