//! Keeps a server of its own within Telegram's limits: 30 calls a second, one message a second to a chat, 20 a minute
//! to a group. Used by `telegram` unless a parent paces. A call gets a moment, so nobody queues and nobody is overtaken.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::table::Method;

/// Between any two calls.
const CALL_GAP: Duration = Duration::from_nanos(1_000_000_000 / 30 + 1);
/// Between two messages to one chat.
const CHAT_GAP: Duration = Duration::from_secs(1);
/// Messages a group takes within [`GROUP_WINDOW`].
const GROUP_BURST: usize = 20;
const GROUP_WINDOW: Duration = Duration::from_secs(60);
/// Longer than this nobody is kept waiting; the caller is told when to come back.
const PATIENCE: Duration = Duration::from_secs(30);
/// More chats than the limits allow within the windows, so forgetting the old ones always makes room.
const MAX_CHATS: usize = 4096;

/// The moments given away. Shared by all sessions.
#[derive(Debug, Default)]
pub(crate) struct Pace(Mutex<Moments>);

/// The limits are used up for longer than [`PATIENCE`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Busy {
    /// When to try again.
    pub(crate) retry_after: Duration,
}

/// A chat as the limits see it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Chat {
    Private(i64),
    Group(i64),
    /// A public group or channel by its name.
    Named(String),
}

#[derive(Debug, Default, Clone)]
struct Moments {
    /// Moments of all calls that can still touch a new one.
    calls: BTreeSet<Instant>,
    /// Moments of the messages to a chat within its window, oldest first.
    chats: HashMap<Chat, VecDeque<Instant>>,
}

impl Pace {
    /// Waits for the call's moment.
    pub(crate) async fn turn(&self, method: &Method, args: &Map<String, Value>) -> Result<(), Busy> {
        let moment = self.moment(method, args, Instant::now())?;
        tokio::time::sleep_until(moment).await;
        Ok(())
    }

    fn moment(&self, method: &Method, args: &Map<String, Value>, now: Instant) -> Result<Instant, Busy> {
        let mut moments = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Telegram counts messages and edits per chat; other calls only as calls.
        if !method.speaks() {
            return moments.give(None, now);
        }
        // More than a group takes in its window could never be sent.
        let count = messages(args).min(GROUP_BURST);
        moments.give_all(args.get("chat_id").and_then(Chat::of), count, now)
    }
}

/// How many messages a call makes: an album, or what is copied and forwarded at once.
#[must_use]
pub fn messages(args: &Map<String, Value>) -> usize {
    let lists = ["message_ids", "media"].into_iter();
    lists.filter_map(|name| args.get(name)?.as_array().map(Vec::len)).max().unwrap_or(1).max(1)
}

impl Chat {
    fn of(id: &Value) -> Option<Self> {
        let number = match id {
            Value::Number(number) => number.as_i64()?,
            Value::String(text) => match text.parse() {
                Ok(number) => number,
                Err(_) => return Some(Self::Named(text.to_ascii_lowercase())),
            },
            _ => return None,
        };
        Some(if number < 0 { Self::Group(number) } else { Self::Private(number) })
    }

    /// How many moments are remembered, and for how long they count.
    const fn window(&self) -> (usize, Duration) {
        match self {
            Self::Private(_) => (1, CHAT_GAP),
            Self::Group(_) | Self::Named(_) => (GROUP_BURST, GROUP_WINDOW),
        }
    }
}

impl Moments {
    /// The moment of the first of several messages that leave with one call; the moments after it are spent. None is
    /// taken unless all are to be had: a call that is turned away leaves the limits as they were.
    fn give_all(&mut self, chat: Option<Chat>, count: usize, now: Instant) -> Result<Instant, Busy> {
        if count == 1 {
            return self.give(chat, now);
        }
        let mut after = self.clone();
        let first = after.give(chat.clone(), now)?;
        for _ in 1..count {
            after.give(chat.clone(), now)?;
        }
        *self = after;
        Ok(first)
    }

    /// The earliest moment from `now` on that breaks no limit.
    fn give(&mut self, chat: Option<Chat>, now: Instant) -> Result<Instant, Busy> {
        let free = chat.as_ref().map_or(now, |chat| self.chat_free(chat, now));
        let moment = self.call_free(free, now);
        if moment > now + PATIENCE {
            return Err(Busy { retry_after: moment - now });
        }
        self.calls.insert(moment);
        if let Some(chat) = chat {
            self.remember(chat, moment, now);
        }
        Ok(moment)
    }

    fn chat_free(&self, chat: &Chat, now: Instant) -> Instant {
        let Some(given) = self.chats.get(chat) else {
            return now;
        };
        let after_last = given.back().map_or(now, |last| *last + CHAT_GAP);
        let (burst, window) = chat.window();
        let after_burst =
            if given.len() < burst { now } else { given.front().map_or(now, |first| *first + window) };
        now.max(after_last).max(after_burst)
    }

    /// The first gap between the given moments that is wide enough.
    fn call_free(&mut self, from: Instant, now: Instant) -> Instant {
        // What lies further back than one gap touches no new moment.
        while self.calls.first().is_some_and(|first| *first + CALL_GAP <= now) {
            self.calls.pop_first();
        }
        let mut moment = from;
        for given in &self.calls {
            if *given >= moment + CALL_GAP {
                break;
            }
            if *given + CALL_GAP > moment {
                moment = *given + CALL_GAP;
            }
        }
        moment
    }

    fn remember(&mut self, chat: Chat, moment: Instant, now: Instant) {
        if self.chats.len() >= MAX_CHATS {
            self.chats.retain(|chat, given| given.back().is_some_and(|last| *last + chat.window().1 > now));
        }
        let (burst, _) = chat.window();
        let given = self.chats.entry(chat).or_default();
        given.push_back(moment);
        if given.len() > burst {
            given.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_chat_is_told_by_its_id() {
        let cases = [
            (json!(7), Some(Chat::Private(7))),
            (json!("7"), Some(Chat::Private(7))),
            (json!(-1001), Some(Chat::Group(-1001))),
            (json!("-1001"), Some(Chat::Group(-1001))),
            (json!("@News"), Some(Chat::Named("@news".to_owned()))),
            (json!(null), None),
        ];
        for (id, wanted) in cases {
            assert_eq!(Chat::of(&id), wanted, "{id}");
        }
    }

    #[test]
    fn a_full_group_is_told_when_to_come_back() {
        let (mut moments, now) = (Moments::default(), Instant::now());
        for second in 0..20 {
            assert_eq!(
                moments.give(Some(Chat::Group(-1)), now + Duration::from_secs(second)).unwrap(),
                now + Duration::from_secs(second)
            );
        }
        let later = now + Duration::from_secs(20);
        assert_eq!(
            moments.give(Some(Chat::Group(-1)), later),
            Err(Busy { retry_after: Duration::from_secs(40) })
        );
        assert_eq!(moments.give(Some(Chat::Private(1)), later), Ok(later));
    }

    /// The moments of calls made at once, in milliseconds from then.
    fn moments(calls: &[(&str, Value)]) -> Vec<Result<u128, Busy>> {
        let (pace, now) = (Pace::default(), Instant::now());
        let moment = |(method, args): &(&str, Value)| {
            let method = Table::get().method(method).unwrap();
            pace.moment(method, args.as_object().unwrap(), now).map(|moment| (moment - now).as_millis())
        };
        calls.iter().map(moment).collect()
    }

    #[test]
    fn messages_that_leave_together_count_one_by_one() {
        let text = || ("sendMessage", json!({"chat_id": 1, "text": "x"}));
        let ids = |count: usize| Value::from_iter(vec![5; count]);
        let after = |method: &'static str, args: Value| moments(&[(method, args), text()]);
        let album = json!({"chat_id": 1, "media": [{}, {}, {}]});
        let copies = json!({"chat_id": 1, "from_chat_id": 2, "message_ids": ids(3)});
        let cases = [
            ("sendMediaGroup", album.clone(), [0, 3000]),
            ("sendPaidMedia", album, [0, 3000]),
            ("copyMessages", copies.clone(), [0, 3000]),
            ("forwardMessages", copies, [0, 3000]),
            ("sendMediaGroup", json!({"chat_id": 2, "media": [{}, {}, {}]}), [0, 33]),
            ("sendPoll", json!({"chat_id": 1, "media": {}}), [0, 1000]),
            ("editMessageMedia", json!({"chat_id": 1, "media": {}}), [0, 1000]),
            ("sendInvoice", json!({"chat_id": 1}), [0, 1000]),
            ("sendGift", json!({"chat_id": 1}), [0, 1000]),
            ("forwardMessages", json!({"chat_id": 1, "message_ids": []}), [0, 1000]),
            // These put nothing into a chat, and are one call each.
            ("deleteMessages", json!({"chat_id": 1, "message_ids": ids(100)}), [0, 33]),
            ("getChat", json!({"chat_id": 1}), [0, 33]),
        ];
        for (method, args, wanted) in cases {
            assert_eq!(after(method, args.clone()), wanted.map(Ok), "{method} {args}");
        }
    }

    #[test]
    fn as_much_as_telegram_takes_at_once_is_possible_and_what_is_not_costs_nothing() {
        let forward = |chat: i64, count: usize| {
            ("forwardMessages", json!({"chat_id": chat, "message_ids": Value::from_iter(vec![5; count])}))
        };
        let later = |milliseconds: u64| Err(Busy { retry_after: Duration::from_millis(milliseconds) });
        for chat in [1, -1] {
            assert_eq!(moments(&[forward(chat, 100)]), [Ok(0)], "{chat}");
        }
        let calls = [forward(-1, 15), forward(-1, 10), forward(-1, 10), forward(-1, 5), forward(-1, 1)];
        assert_eq!(
            moments(&calls),
            [Ok(0), later(60_000), later(60_000), Ok(15_000), later(60_000)],
            "a call that was turned away took something"
        );
    }

    #[test]
    fn forgotten_chats_make_room() {
        let (mut moments, now) = (Moments::default(), Instant::now());
        for at in 0..20_000_u32 {
            moments.give(Some(Chat::Group(-1 - i64::from(at))), now + CALL_GAP * at).unwrap();
            assert!(moments.chats.len() <= MAX_CHATS && moments.calls.len() <= 2);
        }
    }

    proptest! {
        #[test]
        fn no_limit_is_ever_broken(calls in prop::collection::vec((0_u64..400, -2_i64..3), 1..300)) {
            let (mut moments, start) = (Moments::default(), Instant::now());
            let (mut all, mut by_chat, mut now) = (Vec::new(), HashMap::<i64, Vec<Instant>>::new(), start);
            for (pause, id) in calls {
                now += Duration::from_millis(pause);
                let chat = if id == 0 { None } else { Chat::of(&json!(id)) };
                if let Ok(moment) = moments.give(chat, now) {
                    prop_assert!(moment >= now && moment <= now + PATIENCE);
                    all.push(moment);
                    by_chat.entry(id).or_default().push(moment);
                }
            }
            all.sort();
            prop_assert!(all.windows(2).all(|pair| pair[1] - pair[0] >= CALL_GAP));
            for (id, given) in by_chat.into_iter().filter(|(id, _)| *id != 0) {
                prop_assert!(given.windows(2).all(|pair| pair[1] - pair[0] >= CHAT_GAP));
                prop_assert!(id > 0 || given.windows(21).all(|span| span[20] - span[0] >= GROUP_WINDOW));
            }
        }
    }
}
