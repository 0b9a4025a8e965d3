//! Hand-overs: calls of the caller's own tools that end a turn, kept until the caller returns with results. Kept in
//! memory only; after a restart a turn continues from the messages that its caller sends.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use figaro_agent::turn::run::Handed;
use figaro_base::ids::RunId;
use figaro_domain::conversation::ConversationId;
use figaro_domain::tool::Call;
use figaro_provider::Item;

/// Limits on kept hand-overs: their number and their total size in bytes. Each expires after `KEPT`.
const MAX_KEPT: usize = 1_000;
const MAX_BYTES: usize = 64 << 20;
/// Length of the call id prefix: the last characters of the turn's id.
const MARK_CHARS: usize = 12;
const KEPT: Duration = Duration::from_secs(3600);

/// Hand-overs of turns. Cheap to clone; clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Handovers(Arc<Mutex<BTreeMap<HandoverKey, StoredHandover>>>);

/// Key of a hand-over: the caller and the first call, by the id that the caller sees.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct HandoverKey {
    identity: String,
    call: String,
}

#[derive(Debug)]
struct StoredHandover {
    conversation: ConversationId,
    items: Arc<Vec<Item>>,
    bytes: usize,
    at: Instant,
}

/// Hand-over of a turn, as its caller sees it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Handover {
    /// Calls that the caller makes.
    pub(crate) calls: Vec<Call>,
    /// Text of the model next to the calls; `None` if empty.
    pub(crate) words: Option<String>,
}

impl Handover {
    /// Builds the hand-over of this turn.
    #[must_use]
    pub(crate) fn of(run: RunId, handed: &Handed) -> Self {
        let mark = CallIdPrefix::of(run);
        let calls = handed.calls.iter().map(|call| Call { id: mark.on(&call.id), ..call.clone() });
        let last = handed.items.iter().rev().find_map(|item| match item {
            Item::Assistant { text, .. } => Some(text.clone()),
            Item::User { .. } | Item::ToolResult { .. } => None,
        });
        Self { calls: calls.collect(), words: last.filter(|text| !text.trim().is_empty()) }
    }
}

/// Prefix of a turn's call ids as its caller sees them, followed by `-`. Ids of providers are not unique.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallIdPrefix(String);

impl CallIdPrefix {
    /// Returns the prefix for the calls of this turn.
    #[must_use]
    pub(crate) fn of(run: RunId) -> Self {
        let id = run.to_string().to_lowercase();
        Self(id.get(id.len().saturating_sub(MARK_CHARS)..).unwrap_or_default().to_owned())
    }

    /// Returns the prefix of the last calls in these items, which all belong to one turn. `None` if they belong to
    /// none.
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
    /// Keeps the items of a turn, so that it can continue once the first of these calls has its result.
    pub(super) fn keep(
        &self,
        identity: &str,
        conversation: ConversationId,
        handover: &Handover,
        mut items: Vec<Item>,
    ) {
        let Some(first) = handover.calls.first() else { return };
        let key = HandoverKey { identity: identity.to_owned(), call: first.id.clone() };
        // Pictures are dropped, because the limit counts text. They were seen in the turn of their call.
        for item in &mut items {
            if let Item::ToolResult { output, media, .. } = item
                && !media.is_empty()
            {
                output.push_str(&format!("\n[pictures that are not here any more: {}]", media.len()));
                media.clear();
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
        all.insert(key, StoredHandover { conversation, items: Arc::new(items), bytes, at: now });
    }

    /// Forgets the hand-overs of the matching callers and conversations.
    pub(super) fn forget(&self, is_meant: impl Fn(&str, ConversationId) -> bool) {
        let mut all = self.0.lock();
        all.retain(|key, kept| !is_meant(&key.identity, kept.conversation));
    }

    /// Replaces `done` up to the caller's last calls by all items of the turn that handed them over. That turn may also
    /// have called Figaro's own tools, which the caller does not send. The caller's results follow.
    #[must_use]
    pub(super) fn resumed(&self, identity: &str, done: Vec<Item>) -> Vec<Item> {
        let last = done.iter().enumerate().rev().find_map(|(at, item)| match item {
            Item::Assistant { calls, .. } => Some((at, calls.first()?.id.clone())),
            Item::User { .. } | Item::ToolResult { .. } => None,
        });
        let Some((at, call)) = last else { return done };
        let Some(mark) = CallIdPrefix::of_last(&done) else { return done };
        let kept = {
            let all = self.0.lock();
            all.get(&HandoverKey { identity: identity.to_owned(), call }).map(|kept| kept.items.clone())
        };
        let Some(kept) = kept else { return done };
        let results = done.into_iter().skip(at + 1).map(|item| match item {
            Item::ToolResult { call_id, name, output, media } => {
                let call_id = mark.off(&call_id).map(str::to_owned).unwrap_or(call_id);
                Item::ToolResult { call_id, name, output, media }
            }
            item @ (Item::User { .. } | Item::Assistant { .. }) => item,
        });
        kept.iter().cloned().chain(results).collect()
    }
}
