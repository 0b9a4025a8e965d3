//! `figaro memory import`: adds conversations to a store.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

use super::super::failure::StartupError;
use super::super::terminal::say;
use super::conversation::{EvalConversation, chat_of, session_of};
use super::opened::Opened;
use figaro_base::ids::{ChatId, EntryId};
use figaro_base::system::in_words;
use figaro_store::Imported;

/// Messages per write.
const AT_ONCE: usize = 2_000;
/// Messages per read.
const READ: usize = 5_000;

/// Adds the messages of a file that the store does not have yet.
pub(super) async fn import(opened: &Opened, from: &Path) -> Result<(), StartupError> {
    let begun = Instant::now();
    let (mut conversations, mut added, mut known) = (0_usize, 0_usize, 0_usize);
    for (number, line) in lines(from)?.enumerate() {
        let refused =
            |error: String| StartupError(format!("{}, line {}: {error}", from.display(), number + 1));
        let line = line.map_err(|error| refused(error.to_string()))?;
        if line.trim().is_empty() {
            continue;
        }
        let conversation: EvalConversation =
            serde_json::from_str(&line).map_err(|error| refused(error.to_string()))?;
        let messages = conversation.messages().map_err(refused)?;
        let counts = add(opened, &conversation.conversation_id, messages).await?;
        conversations += 1;
        added += counts.added;
        known += counts.known;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let rate = added as f64 / seconds.max(f64::EPSILON);
    say(&format!(
        "✓ {conversations} conversations: {added} messages added, {known} were there; {seconds:.2} s, {rate:.0} a second with their index"
    ));
    Ok(())
}

struct ImportCounts {
    added: usize,
    known: usize,
}

async fn add(
    opened: &Opened,
    conversation: &str,
    messages: Vec<Imported>,
) -> Result<ImportCounts, StartupError> {
    let (chat, session) = (chat_of(conversation), session_of(conversation));
    let failed = |error: figaro_store::StoreError| StartupError(error.to_string());
    let there = known(opened, chat)?;
    let all = messages.len();
    let fresh: Vec<Imported> = messages.into_iter().filter(|one| !there.contains(&one.message.id)).collect();
    let added = fresh.len();
    for some in fresh.chunks(AT_ONCE) {
        opened.store.messages().import(chat, session, some.to_vec()).await.map_err(failed)?;
    }
    opened.chats.index_all(chat, figaro_base::tz::Tz::UTC).await.map_err(failed)?;
    opened.chats.forget(chat);
    Ok(ImportCounts { added, known: all - added })
}

/// Returns the ids of the messages of a chat.
fn known(opened: &Opened, chat: ChatId) -> Result<HashSet<EntryId>, StartupError> {
    let failed = |error: figaro_store::StoreError| StartupError(error.to_string());
    let mut known = HashSet::new();
    for end in opened.store.messages().session_ends(chat).map_err(failed)? {
        let mut from = 0;
        while from < end.next_index {
            let messages = opened.store.messages().messages_from(end.session, from, READ).map_err(failed)?;
            let Some(last) = messages.last() else { break };
            from = last.index + 1;
            known.extend(messages.iter().map(|message| message.id));
        }
    }
    Ok(known)
}

/// Returns the lines of a file; `-` reads standard input.
pub(super) fn lines(file: &Path) -> Result<Box<dyn Iterator<Item = io::Result<String>>>, StartupError> {
    if file == Path::new("-") {
        return Ok(Box::new(io::stdin().lines()));
    }
    let opened = File::open(file)
        .map_err(|error| StartupError(format!("{}: {}", file.display(), in_words(&error))))?;
    Ok(Box::new(BufReader::new(opened).lines()))
}
