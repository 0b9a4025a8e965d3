//! Keeps a standalone server within Telegram's limits: 30 calls a second, one message a second per chat, 20 a minute per
//! group. Reads are not paced. Used by `telegram` unless a parent does the pacing. Each call reserves a moment, so there is no queue and no
//! overtaking. After a 429 answer the calls to that chat are held: their moments move behind that of the repeated call.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::table::{Class, Method};

/// Minimum gap between any two calls.
const CALL_GAP: Duration = Duration::from_nanos(1_000_000_000 / 30 + 1);
/// Minimum gap between two messages to a chat.
const CHAT_GAP: Duration = Duration::from_secs(1);
/// Maximum number of messages to a group within [`GROUP_WINDOW`].
const GROUP_BURST: usize = 20;
const GROUP_WINDOW: Duration = Duration::from_secs(60);
/// Maximum wait of a call. Beyond it the caller is told when to retry.
const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum `retry_after` that is waited out. Beyond it all calls to the chat are told when to retry.
pub(crate) const SHORT_WAIT: Duration = Duration::from_secs(5);
/// Upper limit applied to `retry_after`.
const MAX_WAIT: Duration = Duration::from_secs(24 * 60 * 60);
/// Limit of remembered chats. More than the rates allow within the windows, so removing old ones always makes room.
const MAX_CHATS: usize = 4096;

/// Reserved moments, shared by all sessions.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    moments: Mutex<Moments>,
    /// Wakes waiting calls when a chat is held.
    held: Notify,
}

/// The wait would exceed [`WAIT_TIMEOUT`], or [`SHORT_WAIT`] for a held chat.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Busy {
    /// Time until the next attempt.
    pub(crate) retry_after: Duration,
}

/// A chat, by the limits that apply to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum PacedChat {
    Private(i64),
    Group(i64),
    /// A public group or channel, by username.
    Named(String),
}

#[derive(Debug, Default, Clone)]
struct Moments {
    /// Moments of all calls that may still conflict with a new one.
    calls: BTreeSet<Instant>,
    chats: HashMap<PacedChat, ChatPace>,
}

#[derive(Debug, Clone)]
struct ChatPace {
    /// Moments of its messages within the window, oldest first.
    given: VecDeque<Instant>,
    /// Telegram rejects calls until then.
    held_until: Instant,
    /// Repeated calls have priority until then.
    free_from: Instant,
    /// Total shift of the moments of waiting calls.
    moved: Duration,
    /// Earliest moment of the next shifted message, which keeps order and distance.
    next_moved: Instant,
}

/// A call waiting for its moment.
#[derive(Debug)]
struct Ticket {
    chat: Option<PacedChat>,
    moment: Instant,
    /// Shift of the chat when the ticket was last checked.
    moved: Duration,
    /// `true` if it counts against the limits of its chat.
    speaks: bool,
    /// `true` if its moment was shifted and may conflict with those of other chats.
    loose: bool,
}

impl Pace {
    /// Waits for the call's moment. Reads go at once: Telegram's limits are for messages and changes.
    pub(crate) async fn turn(&self, method: &Method, args: &Map<String, Value>) -> Result<(), Busy> {
        if method.class == Class::Read {
            return Ok(());
        }
        let mut ticket = self.ticket(method, args, Instant::now())?;
        loop {
            let held = self.held.notified();
            tokio::pin!(held);
            // Enabled before the check, so that no notification is missed.
            held.as_mut().enable();
            let Some(moment) = self.moments.lock().due(&mut ticket, Instant::now())? else {
                return Ok(());
            };
            tokio::select! {
                () = tokio::time::sleep_until(moment) => {}
                () = held => {}
            }
        }
    }

    /// Holds a chat after a 429 for `wait`, and returns the moment from which it accepts calls. If the refused call is
    /// repeated then, other calls to the chat follow it.
    pub(crate) fn hold(&self, args: &Map<String, Value>, wait: Duration, repeats: bool) -> Instant {
        let now = Instant::now();
        let until = now + wait.min(MAX_WAIT);
        let Some(chat) = args.get("chat_id").and_then(PacedChat::of) else {
            return until;
        };
        let moment = self.moments.lock().hold(&chat, until, repeats, now);
        self.held.notify_waiters();
        moment
    }

    fn ticket(&self, method: &Method, args: &Map<String, Value>, now: Instant) -> Result<Ticket, Busy> {
        let chat = args.get("chat_id").and_then(PacedChat::of);
        let mut moments = self.moments.lock();
        let lane = chat.as_ref().and_then(|chat| moments.chats.get(chat));
        if let Some(lane) = lane {
            lane.takes(now)?;
        }
        let moved = lane.map_or(Duration::ZERO, |lane| lane.moved);
        // Telegram counts messages and edits per chat, and other calls only as calls.
        let moment = if method.speaks() {
            // More than a group's limit could never be sent.
            let count = messages(args).min(GROUP_BURST);
            moments.give_all(chat.clone(), count, now)?
        } else {
            moments.give(None, now)?
        };
        Ok(Ticket { chat, moment, moved, speaks: method.speaks(), loose: false })
    }
}

impl ChatPace {
    fn new(now: Instant) -> Self {
        Self {
            given: VecDeque::new(),
            held_until: now,
            free_from: now,
            moved: Duration::ZERO,
            next_moved: now,
        }
    }

    /// Checks that the chat's hold is short enough to wait for.
    fn takes(&self, now: Instant) -> Result<(), Busy> {
        let wait = self.held_until.saturating_duration_since(now);
        if wait > SHORT_WAIT { Err(Busy { retry_after: wait }) } else { Ok(()) }
    }
}

/// Returns the number of messages of a call, such as an album or a bulk copy.
#[must_use]
pub fn messages(args: &Map<String, Value>) -> usize {
    let lists = ["message_ids", "media"].into_iter();
    lists.filter_map(|name| args.get(name)?.as_array().map(Vec::len)).max().unwrap_or(1).max(1)
}

impl PacedChat {
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

    /// Returns the number of remembered moments, and the period for which they count.
    const fn window(&self) -> (usize, Duration) {
        match self {
            Self::Private(_) => (1, CHAT_GAP),
            Self::Group(_) | Self::Named(_) => (GROUP_BURST, GROUP_WINDOW),
        }
    }
}

impl Moments {
    /// Reserves moments for several messages of one call and returns the first. Reserves all or none, so that a rejected
    /// call leaves the limits unchanged.
    fn give_all(&mut self, chat: Option<PacedChat>, count: usize, now: Instant) -> Result<Instant, Busy> {
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

    /// Reserves the earliest moment that breaks no limit.
    fn give(&mut self, chat: Option<PacedChat>, now: Instant) -> Result<Instant, Busy> {
        let free = chat.as_ref().map_or(now, |chat| self.chat_free(chat, now));
        let moment = self.call_free(free, now);
        if moment > now + WAIT_TIMEOUT {
            return Err(Busy { retry_after: moment - now });
        }
        self.calls.insert(moment);
        if let Some(chat) = chat {
            self.remember(chat, moment, now);
        }
        Ok(moment)
    }

    /// Checks a waiting call: `None` if it may go now, else the moment to check again.
    fn due(&mut self, ticket: &mut Ticket, now: Instant) -> Result<Option<Instant>, Busy> {
        if let Some(lane) = ticket.chat.as_ref().and_then(|chat| self.chats.get(chat)) {
            lane.takes(now)?;
            let moved = lane.moved.saturating_sub(ticket.moved);
            let moment = (ticket.moment + moved).max(lane.free_from);
            ticket.loose |= moment > ticket.moment;
            (ticket.moment, ticket.moved) = (moment, lane.moved);
        }
        if ticket.moment > now {
            return Ok(Some(ticket.moment));
        }
        if std::mem::take(&mut ticket.loose) {
            self.fasten(ticket, now);
        }
        Ok(Some(ticket.moment).filter(|moment| *moment > now))
    }

    /// Finds a free moment among all calls for a shifted one.
    fn fasten(&mut self, ticket: &mut Ticket, now: Instant) {
        let lane = ticket.chat.as_ref().filter(|_| ticket.speaks).and_then(|chat| self.chats.get(chat));
        let after = lane.map_or(now, |lane| lane.next_moved.max(now));
        ticket.moment = self.call_free(ticket.moment.max(after), now);
        self.calls.insert(ticket.moment);
        let chat = ticket.chat.as_ref().filter(|_| ticket.speaks);
        if let Some(lane) = chat.and_then(|chat| self.chats.get_mut(chat)) {
            lane.next_moved = ticket.moment + CHAT_GAP;
        }
    }

    fn hold(&mut self, chat: &PacedChat, until: Instant, repeats: bool, now: Instant) -> Instant {
        self.make_room(now);
        let mut lane = self.chats.remove(chat).unwrap_or_else(|| ChatPace::new(now));
        lane.held_until = lane.held_until.max(until);
        let before = lane.free_from.max(now);
        let moment = if repeats { self.call_free(before.max(until), now) } else { until };
        if repeats {
            self.calls.insert(moment);
            lane.free_from = moment + CHAT_GAP;
        } else {
            lane.free_from = lane.free_from.max(until);
        }
        let moved = lane.free_from.saturating_duration_since(before);
        lane.moved += moved;
        if lane.takes(now).is_ok() {
            lane.given.iter_mut().filter(|given| **given > now).for_each(|given| *given += moved);
        } else {
            // Waiting calls are rejected and need no moments.
            lane.given.retain(|given| *given <= now);
        }
        self.chats.insert(chat.clone(), lane);
        moment
    }

    fn chat_free(&self, chat: &PacedChat, now: Instant) -> Instant {
        let Some(ChatPace { given, free_from, .. }) = self.chats.get(chat) else {
            return now;
        };
        let after_last = given.back().map_or(now, |last| *last + CHAT_GAP);
        let (burst, window) = chat.window();
        let after_burst =
            if given.len() < burst { now } else { given.front().map_or(now, |first| *first + window) };
        now.max(after_last).max(after_burst).max(*free_from)
    }

    /// Returns the first sufficient gap between the reserved moments.
    fn call_free(&mut self, from: Instant, now: Instant) -> Instant {
        // Moments further back than one gap cannot conflict with new ones.
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

    fn remember(&mut self, chat: PacedChat, moment: Instant, now: Instant) {
        self.make_room(now);
        let (burst, _) = chat.window();
        let given = &mut self.chats.entry(chat).or_insert_with(|| ChatPace::new(now)).given;
        given.push_back(moment);
        if given.len() > burst {
            given.pop_front();
        }
    }

    /// Removes chats that no longer restrict new calls, if there are many.
    fn make_room(&mut self, now: Instant) {
        if self.chats.len() >= MAX_CHATS {
            self.chats.retain(|chat, lane| {
                lane.free_from > now || lane.given.back().is_some_and(|last| *last + chat.window().1 > now)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ApiTable;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_chat_is_told_by_its_id() {
        let cases = [
            (json!(7), Some(PacedChat::Private(7))),
            (json!("7"), Some(PacedChat::Private(7))),
            (json!(-1001), Some(PacedChat::Group(-1001))),
            (json!("-1001"), Some(PacedChat::Group(-1001))),
            (json!("@News"), Some(PacedChat::Named("@news".to_owned()))),
            (json!(null), None),
        ];
        for (id, wanted) in cases {
            assert_eq!(PacedChat::of(&id), wanted, "{id}");
        }
    }

    #[test]
    fn a_full_group_is_told_when_to_come_back() {
        let (mut moments, now) = (Moments::default(), Instant::now());
        for second in 0..20 {
            assert_eq!(
                moments.give(Some(PacedChat::Group(-1)), now + Duration::from_secs(second)).unwrap(),
                now + Duration::from_secs(second)
            );
        }
        let later = now + Duration::from_secs(20);
        assert_eq!(
            moments.give(Some(PacedChat::Group(-1)), later),
            Err(Busy { retry_after: Duration::from_secs(40) })
        );
        assert_eq!(moments.give(Some(PacedChat::Private(1)), later), Ok(later));
    }

    /// The moments of calls made at once, in milliseconds from then.
    fn moments(calls: &[(&str, Value)]) -> Vec<Result<u128, Busy>> {
        let (pace, now) = (Pace::default(), Instant::now());
        let moment = |(method, args): &(&str, Value)| {
            let method = ApiTable::get().method(method).unwrap();
            let ticket = pace.ticket(method, args.as_object().unwrap(), now);
            ticket.map(|ticket| (ticket.moment - now).as_millis())
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
            ("deleteMessage", json!({"chat_id": 1, "message_id": 1}), [0, 33]),
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

    /// Waits for its turn and notes when it has it, in milliseconds from the start.
    async fn noted(pace: &Pace, name: &str, args: Value, log: &Mutex<Vec<(String, u128)>>, start: Instant) {
        let method = if name == "deletes" { "deleteMessage" } else { "sendMessage" };
        let outcome = pace.turn(ApiTable::get().method(method).unwrap(), args.as_object().unwrap()).await;
        let name = if outcome.is_ok() { name.to_owned() } else { format!("{name}: {outcome:?}") };
        log.lock().push((name, start.elapsed().as_millis()));
    }

    fn to(chat: i64) -> Value {
        json!({"chat_id": chat})
    }

    #[tokio::test(start_paused = true)]
    async fn calls_to_a_held_chat_follow_the_repeated_one_in_order_and_others_go_on() {
        let (pace, log, start) = (Pace::default(), Mutex::default(), Instant::now());
        let refused = async {
            noted(&pace, "first", to(-1), &log, start).await;
            tokio::time::sleep(Duration::from_millis(300)).await;
            let again = pace.hold(to(-1).as_object().unwrap(), Duration::from_secs(3), true);
            assert_eq!((again - start).as_millis(), 3300);
            // These come while it is held.
            tokio::join!(
                noted(&pace, "fourth", to(-1), &log, start),
                noted(&pace, "deletes", to(-1), &log, start),
                noted(&pace, "elsewhere", to(5), &log, start),
            );
        };
        let (second, third) =
            (noted(&pace, "second", to(-1), &log, start), noted(&pace, "third", to(-1), &log, start));
        tokio::join!(biased; refused, second, third);
        let log = log.into_inner();
        let names: Vec<&str> = log.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["first", "elsewhere", "deletes", "second", "third", "fourth"]);
        let at = |name: &str| log.iter().find(|(known, _)| known == name).unwrap().1;
        assert!(at("elsewhere") < 500 && at("deletes") >= 3300 && at("second") >= 4300, "{log:?}");
        assert!(at("third") - at("second") >= 1000 && at("fourth") - at("third") >= 1000, "{log:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn reads_wait_for_nothing_and_delay_nothing() {
        let (pace, start, read) =
            (Pace::default(), Instant::now(), ApiTable::get().method("getChat").unwrap());
        let args = to(1);
        let args = args.as_object().unwrap();
        pace.hold(args, Duration::from_secs(20), false);
        for _ in 0..1000 {
            pace.turn(read, args).await.unwrap();
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        let log = Mutex::default();
        noted(&pace, "next", to(2), &log, start).await;
        assert_eq!(log.into_inner(), [("next".to_owned(), 0)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_chat_that_is_held_for_long_tells_all_callers_when_to_come_back() {
        let (pace, log, start) = (Pace::default(), Mutex::default(), Instant::now());
        let refused = async {
            noted(&pace, "first", to(1), &log, start).await;
            tokio::time::sleep(Duration::from_millis(300)).await;
            pace.hold(to(1).as_object().unwrap(), Duration::from_secs(20), false);
        };
        tokio::join!(biased; refused, noted(&pace, "second", to(1), &log, start));
        let told = "second: Err(Busy { retry_after: 20s })".to_owned();
        assert_eq!(log.lock()[1], (told, 300), "at once");
        tokio::time::sleep(Duration::from_secs(10)).await;
        noted(&pace, "third", to(1), &log, start).await;
        assert_eq!(log.lock()[2].0, "third: Err(Busy { retry_after: 10s })");
        tokio::time::sleep(Duration::from_secs(6)).await;
        noted(&pace, "fourth", to(1), &log, start).await;
        let (name, at) = log.lock()[3].clone();
        assert!(name == "fourth" && (20_300..20_400).contains(&at), "{name} {at}");
    }

    #[test]
    fn no_wait_that_telegram_names_is_too_long() {
        for args in [json!({}), to(1)] {
            let wait = Pace::default().hold(args.as_object().unwrap(), Duration::MAX, false);
            assert!(wait <= Instant::now() + MAX_WAIT, "{args}");
        }
    }

    #[test]
    fn forgotten_chats_make_room() {
        let (mut moments, now) = (Moments::default(), Instant::now());
        for at in 0..20_000_u32 {
            moments.give(Some(PacedChat::Group(-1 - i64::from(at))), now + CALL_GAP * at).unwrap();
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
                let chat = if id == 0 { None } else { PacedChat::of(&json!(id)) };
                if let Ok(moment) = moments.give(chat, now) {
                    prop_assert!(moment >= now && moment <= now + WAIT_TIMEOUT);
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
