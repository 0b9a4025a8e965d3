//! `figaro memory stats`: prints sizes of a store.

use std::time::Instant;

use serde_json::json;

use super::super::failure::StartupError;
use super::super::terminal::{say, size};
use super::opened::Opened;
use figaro_base::text::estimate_tokens;
use figaro_store::StoreError;

/// Messages per read.
const READ: usize = 5_000;

/// Prints the number of messages, their size, and the load time of the indexes.
pub(super) async fn stats(opened: &Opened, as_json: bool) -> Result<(), StartupError> {
    let failed = |error: StoreError| StartupError(error.to_string());
    let (mut messages, mut tokens, mut index_bytes, mut summaries) = (0_usize, 0_usize, 0_usize, 0_usize);
    let chats = opened.store.messages().chats().map_err(failed)?;
    let mut index_ms = 0.0;
    for chat in &chats {
        for end in opened.store.messages().session_ends(*chat).map_err(failed)? {
            summaries += opened.store.summaries().of_session(end.session).map_err(failed)?.len();
            let mut from = 0;
            while from < end.next_index {
                let read = opened.store.messages().messages_from(end.session, from, READ).map_err(failed)?;
                let Some(last) = read.last() else { break };
                from = last.index + 1;
                messages += read.len();
                tokens += read.iter().map(|message| estimate_tokens(&message.text)).sum::<usize>();
            }
        }
        let begun = Instant::now();
        index_bytes += opened.chats.index_all(*chat, figaro_base::tz::Tz::UTC).await.map_err(failed)?;
        index_ms += begun.elapsed().as_secs_f64() * 1000.0;
        opened.chats.forget(*chat);
    }
    let memories = opened.store.facts().count().map_err(failed)?;
    let bytes = opened.store.health().await.map_err(failed)?.bytes;
    if as_json {
        let stats = json!({
            "conversations": chats.len(), "messages": messages, "tokens": tokens, "summaries": summaries,
            "bytes_on_disk": bytes,
            "index_bytes": index_bytes, "index_ms": index_ms, "memories": memories.active,
            "removed_memories": memories.removed, "unread": memories.unread,
        });
        say(&stats.to_string());
        return Ok(());
    }
    say(&format!(
        "{} conversations, {messages} messages of {tokens} tokens, {summaries} summaries",
        chats.len()
    ));
    say(&format!(
        "{} memories of people, {} removed, {} messages to take facts from",
        memories.active, memories.removed, memories.unread
    ));
    say(&format!(
        "{} on disk; the indexes take {} of memory when all are read, which took {index_ms:.0} ms",
        size(bytes),
        size(index_bytes)
    ));
    Ok(())
}
