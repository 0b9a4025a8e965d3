//! What turns have left to callers with tools of their own, until these come back with results. It is kept in memory: after a
//! restart a turn goes on from what its caller sends.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use figaro_agent::turn::run::Handed;
use figaro_base::ids::RunId;
use figaro_domain::conversation::Conversation;
use figaro_domain::tool::Call;
use figaro_provider::Item;

/// So many are kept at most, of so many bytes together, and for so long.
const MAX_KEPT: usize = 1_000;
const MAX_BYTES: usize = 64 << 20;
/// So many of the last characters of a turn's id tell its calls from those of others.
const MARK_CHARS: usize = 12;
const KEPT: Duration = Duration::from_secs(3600);

/// What turns have left. Cheap to clone; clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Handovers(Arc<Mutex<BTreeMap<Key, Kept>>>);

/// The first call that was left to a caller, as they know it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    identity: String,
    call: String,
}

#[derive(Debug)]
struct Kept {
    conversation: Conversation,
    items: Arc<Vec<Item>>,
    bytes: usize,
    at: Instant,
}

/// What a turn has left to its caller, as the caller is to know it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Handover {
    /// The calls that they make.
    pub(crate) calls: Vec<Call>,
    /// What the model has said beside them; `None` for nothing.
    pub(crate) words: Option<String>,
}

impl Handover {
    /// What this turn has left.
    #[must_use]
    pub(crate) fn of(run: RunId, handed: &Handed) -> Self {
        let mark = Mark::of(run);
        let calls = handed.calls.iter().map(|call| Call { id: mark.on(&call.id), ..call.clone() });
        let last = handed.items.iter().rev().find_map(|item| match item {
            Item::Assistant { text, .. } => Some(text.clone()),
            Item::User { .. } | Item::ToolResult { .. } => None,
        });
        Self { calls: calls.collect(), words: last.filter(|text| !text.trim().is_empty()) }
    }
}

/// What stands before the ids of a turn's calls as its caller knows them, with a `-` behind it: those of providers are not unique.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark(String);

impl Mark {
    /// The mark that the calls of this turn have.
    #[must_use]
    pub(crate) fn of(run: RunId) -> Self {
        let id = run.to_string().to_lowercase();
        Self(id.get(id.len().saturating_sub(MARK_CHARS)..).unwrap_or_default().to_owned())
    }

    /// Of the last calls of what was done, which are all of one turn; `None` if they are of none.
    #[must_use]
    pub(crate) fn of_last(done: &[Item]) -> Option<Self> {
        let last = done.iter().rev().find_map(|item| match item {
            Item::Assistant { calls, .. } => Some(calls),
            Item::User { .. } | Item::ToolResult { .. } => None,
        })?;
        let mut marks = last.iter().map(|call| call.id.split_once('-').map(|(mark, _)| mark));
        let first = marks.next()??;
        let is_one = first.len() == MARK_CHARS && marks.all(|mark| mark == Some(first));
        is_one.then(|| Self(first.to_owned()))
    }

    fn on(&self, id: &str) -> String {
        format!("{}-{id}", self.0)
    }

    fn off<'a>(&self, id: &'a str) -> Option<&'a str> {
        id.strip_prefix(&self.0)?.strip_prefix('-')
    }
}

impl Handovers {
    /// Keeps what a turn of this caller has done, to go on from there once the first of these calls has its result.
    pub(super) fn keep(
        &self,
        identity: &str,
        conversation: Conversation,
        handover: &Handover,
        mut items: Vec<Item>,
    ) {
        let Some(first) = handover.calls.first() else { return };
        let key = Key { identity: identity.to_owned(), call: first.id.clone() };
        // The bound counts words, and pictures of tools are seen in the turn of their call.
        for item in &mut items {
            if let Item::ToolResult { output, images, .. } = item
                && !images.is_empty()
            {
                output.push_str(&format!("\n[pictures that are not here any more: {}]", images.len()));
                images.clear();
            }
        }
        let mut all = self.0.lock();
        let now = Instant::now();
        all.retain(|_, kept| now.duration_since(kept.at) < KEPT);
        let bytes = items.iter().map(|item| item.tokens(str::len)).sum();
        while all.len() >= MAX_KEPT || all.values().map(|kept| kept.bytes).sum::<usize>() + bytes > MAX_BYTES
        {
            let oldest = all.iter().min_by_key(|(_, kept)| kept.at).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { break };
            all.remove(&oldest);
        }
        all.insert(key, Kept { conversation, items: Arc::new(items), bytes, at: now });
    }

    /// Forgets what was left to these callers in these conversations.
    pub(super) fn forget(&self, is_meant: impl Fn(&str, Conversation) -> bool) {
        let mut all = self.0.lock();
        all.retain(|key, kept| !is_meant(&key.identity, kept.conversation));
    }

    /// What was done since a question, where a turn of this caller had left its last calls: all that the turn had done, Figaro's own
    /// calls with it, which the caller does not send; then the results that they send.
    #[must_use]
    pub(super) fn resumed(&self, identity: &str, done: Vec<Item>) -> Vec<Item> {
        let last = done.iter().enumerate().rev().find_map(|(at, item)| match item {
            Item::Assistant { calls, .. } => Some((at, calls.first()?.id.clone())),
            Item::User { .. } | Item::ToolResult { .. } => None,
        });
        let Some((at, call)) = last else { return done };
        let Some(mark) = Mark::of_last(&done) else { return done };
        let kept = {
            let all = self.0.lock();
            all.get(&Key { identity: identity.to_owned(), call }).map(|kept| kept.items.clone())
        };
        let Some(kept) = kept else { return done };
        let results = done.into_iter().skip(at + 1).map(|item| match item {
            Item::ToolResult { call_id, name, output, images } => {
                let call_id = mark.off(&call_id).map(str::to_owned).unwrap_or(call_id);
                Item::ToolResult { call_id, name, output, images }
            }
            item @ (Item::User { .. } | Item::Assistant { .. }) => item,
        });
        kept.iter().cloned().chain(results).collect()
    }
}
