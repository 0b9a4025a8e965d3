//! Rate limiter for Telegram. Everything sent to a chat waits here first: Figaro's messages and the model's calls alike,
//! since Telegram counts both against the same limits.
//!
//! Telegram's limits (Bot FAQ): about 30 messages a second in total, one a second per chat with short bursts, and 20 a
//! minute per group. Private chats may burst, so that short consecutive messages do not wait a second each. A 429 answer
//! with `retry_after` pauses the chat until then.
//!
//! Under load, answers leave in order, cards for owners beside them, and notices only while no answer waits.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use figaro_base::ids::ChatId;

const PER_SECOND: NonZeroU32 = NonZeroU32::new(30).unwrap();
/// Without an explicit burst, a quota allows a whole second's worth at once, and as many again within that second.
const BURST: NonZeroU32 = NonZeroU32::new(10).unwrap();
/// Burst of a private chat in messages; one is regained per second.
const PRIVATE_BURST: NonZeroU32 = NonZeroU32::new(20).unwrap();
const CHAT_BURST: NonZeroU32 = NonZeroU32::new(3).unwrap();
const GROUP_PER_MINUTE: NonZeroU32 = NonZeroU32::new(20).unwrap();
/// Share of a group's minute for optional messages, so that answers always find room.
const PREVIEWS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(15).unwrap();
const PREVIEWS_BURST: NonZeroU32 = NonZeroU32::new(5).unwrap();
/// Rate of notices within the total limit, without bursts.
const NOTICES_PER_SECOND: NonZeroU32 = NonZeroU32::new(10).unwrap();
/// Maximum number of waiting notices; further ones are dropped.
const MAX_NOTICES: usize = 500;
/// Pause of a notice that yields to answers.
const NOTICE_PAUSE: Duration = Duration::from_millis(50);
/// Number of acquisitions between two sweeps, which forget quiet chats.
const SWEEP_EVERY: u32 = 512;

/// Priority of a message under load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Urgency {
    /// A card requested by an owner: does not wait behind answers.
    First,
    /// An answer, or a card requested by a member: leaves in order.
    #[default]
    Answer,
    /// A message nobody waits for, such as a notice to a stranger: leaves when no answer waits.
    Notice,
}

/// A slot for a waiting notice, freed when dropped.
#[derive(Debug)]
pub struct NoticeRoom(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

/// Delays messages to Telegram's rates: in total, per chat and per group.
#[derive(Debug)]
pub struct RateLimiter {
    all: DefaultDirectRateLimiter,
    /// Held by the answer that is next. The lock is fair; the limiter is not.
    answers: tokio::sync::Mutex<()>,
    /// Number of answers that wait or are next.
    waiting: AtomicUsize,
    notices: DefaultDirectRateLimiter,
    notice_turn: tokio::sync::Mutex<()>,
    notice_room: Arc<Semaphore>,
    private: DefaultKeyedRateLimiter<ChatId>,
    chats: DefaultKeyedRateLimiter<ChatId>,
    groups: DefaultKeyedRateLimiter<ChatId>,
    previews: DefaultKeyedRateLimiter<ChatId>,
    paused: Mutex<HashMap<ChatId, Instant>>,
    acquired: AtomicU32,
}

/// Rates by kind of message.
struct Quotas {
    all: Quota,
    notices: Quota,
    private: Quota,
    chat: Quota,
    group: Quota,
    previews: Quota,
}

/// Counts a waiting answer until dropped.
struct WaitingAnswer<'a>(&'a AtomicUsize);

impl<'a> WaitingAnswer<'a> {
    fn new(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        Self(waiting)
    }
}

impl Drop for WaitingAnswer<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Default for RateLimiter {
    fn default() -> Self {
        Self::with(&Quotas {
            all: Quota::per_second(PER_SECOND).allow_burst(BURST),
            notices: Quota::per_second(NOTICES_PER_SECOND).allow_burst(NonZeroU32::MIN),
            private: Quota::per_second(NonZeroU32::MIN).allow_burst(PRIVATE_BURST),
            chat: Quota::per_second(NonZeroU32::MIN).allow_burst(CHAT_BURST),
            group: Quota::per_minute(GROUP_PER_MINUTE),
            previews: Quota::per_minute(PREVIEWS_PER_MINUTE).allow_burst(PREVIEWS_BURST),
        })
    }
}

impl RateLimiter {
    /// Makes a limiter without rates, for a Bot API server without limits. A 429 answer still pauses a chat.
    #[must_use]
    pub fn unpaced() -> Self {
        let all = Quota::per_second(NonZeroU32::MAX);
        Self::with(&Quotas { all, notices: all, private: all, chat: all, group: all, previews: all })
    }

    fn with(quotas: &Quotas) -> Self {
        Self {
            all: governor::RateLimiter::direct(quotas.all),
            answers: tokio::sync::Mutex::default(),
            waiting: AtomicUsize::new(0),
            notices: governor::RateLimiter::direct(quotas.notices),
            notice_turn: tokio::sync::Mutex::default(),
            notice_room: Arc::new(Semaphore::new(MAX_NOTICES)),
            private: governor::RateLimiter::keyed(quotas.private),
            chats: governor::RateLimiter::keyed(quotas.chat),
            groups: governor::RateLimiter::keyed(quotas.group),
            previews: governor::RateLimiter::keyed(quotas.previews),
            paused: Mutex::default(),
            acquired: AtomicU32::new(0),
        }
    }

    /// Waits until a message of this urgency may be sent to the chat, and counts it.
    pub async fn acquire(&self, chat: ChatId, urgency: Urgency) {
        self.acquire_many(chat, 1, urgency).await;
    }

    /// Reserves a slot for a notice; `None` if too many wait and this one is to be dropped.
    #[must_use]
    pub fn notice_room(&self) -> Option<NoticeRoom> {
        Arc::clone(&self.notice_room).try_acquire_owned().ok().map(NoticeRoom)
    }

    /// Waits until several messages, such as an album, may leave together. Groups count them one by one, at most a minute's
    /// worth.
    pub(crate) async fn acquire_many(&self, chat: ChatId, messages: usize, urgency: Urgency) {
        self.sweep();
        self.of_chat(chat).until_key_ready(&chat).await;
        if chat.is_group() {
            for _ in 0..messages.min(GROUP_PER_MINUTE.get() as usize) {
                self.groups.until_key_ready(&chat).await;
            }
        }
        match urgency {
            Urgency::First => self.all.until_ready().await,
            Urgency::Answer => self.answer_turn().await,
            Urgency::Notice => self.notice_turn().await,
        }
        // Checked last: the chat may have been paused during the wait.
        while let Some(until) = self.paused_until(chat) {
            tokio::time::sleep_until(until).await;
        }
    }

    async fn answer_turn(&self) {
        let _waiting = WaitingAnswer::new(&self.waiting);
        let _turn = self.answers.lock().await;
        self.all.until_ready().await;
    }

    async fn notice_turn(&self) {
        let _turn = self.notice_turn.lock().await;
        self.notices.until_ready().await;
        while !self.has_room_beside_answers() {
            tokio::time::sleep(NOTICE_PAUSE).await;
        }
    }

    /// Returns `true` and counts the call if an optional call other than a message (a draft, a chat action) may be made
    /// now. Never waits.
    pub fn try_acquire(&self, chat: ChatId) -> bool {
        self.paused_until(chat).is_none() && self.has_room_beside_answers()
    }

    /// Returns `true` and counts a message if an optional message or edit may be sent now. Never waits.
    pub fn try_acquire_message(&self, chat: ChatId) -> bool {
        self.sweep();
        let has_room = |limiter: &DefaultKeyedRateLimiter<ChatId>| limiter.check_key(&chat).is_ok();
        // Strictest limit first: each successful check consumes a share.
        self.paused_until(chat).is_none()
            && (!chat.is_group() || has_room(&self.previews))
            && has_room(self.of_chat(chat))
            && (!chat.is_group() || has_room(&self.groups))
            && self.has_room_beside_answers()
    }

    /// Returns the limiter for single messages of this chat.
    fn of_chat(&self, chat: ChatId) -> &DefaultKeyedRateLimiter<ChatId> {
        if chat.is_group() { &self.chats } else { &self.private }
    }

    /// Returns `true` if an optional call takes no room from a waiting answer.
    fn has_room_beside_answers(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) == 0 && self.all.check().is_ok()
    }

    /// Pauses a chat for `retry_after`, as Telegram asked. A longer pause stays.
    pub fn pause(&self, chat: ChatId, retry_after: Duration) {
        let until = Instant::now() + retry_after;
        let mut paused = self.paused.lock();
        let paused_until = paused.entry(chat).or_insert(until);
        *paused_until = until.max(*paused_until);
    }

    fn paused_until(&self, chat: ChatId) -> Option<Instant> {
        self.paused.lock().get(&chat).copied().filter(|until| *until > Instant::now())
    }

    fn sweep(&self) {
        if self.acquired.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1 {
            self.private.retain_recent();
            self.chats.retain_recent();
            self.groups.retain_recent();
            self.previews.retain_recent();
            self.paused.lock().retain(|_, until| *until > Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_closed_chat_opens_again_and_others_go_on() {
        let limiter = RateLimiter::default();
        let (busy, other) = (ChatId(1), ChatId(2));
        limiter.pause(busy, Duration::from_millis(80));
        assert!(!limiter.try_acquire(busy));
        assert!(limiter.try_acquire(other));
        limiter.acquire(busy, Urgency::Answer).await;
        assert!(limiter.try_acquire(busy));
    }

    #[tokio::test]
    async fn an_album_takes_as_much_of_a_groups_minute_as_it_has_pictures() {
        let limiter = RateLimiter::default();
        limiter.acquire_many(ChatId(-1), 15, Urgency::Answer).await;
        limiter.acquire_many(ChatId(1), 15, Urgency::Answer).await;
        let left = (0..40).filter(|_| limiter.groups.check_key(&ChatId(-1)).is_ok()).count();
        assert_eq!(left, 5);
    }

    #[tokio::test]
    async fn what_may_be_left_out_leaves_a_group_room_for_answers() {
        let limiter = RateLimiter::default();
        let (group, other) = (ChatId(-1), ChatId(-2));
        let left = |limiter: &DefaultKeyedRateLimiter<ChatId>, chat: ChatId| {
            (0..40).filter(|_| limiter.check_key(&chat).is_ok()).count()
        };
        assert_eq!((0..40).filter(|_| limiter.try_acquire_message(group)).count(), 3, "a chat's burst");
        assert_eq!((left(&limiter.previews, group), left(&limiter.groups, group)), (0, 17));
        left(&limiter.previews, other);
        assert!(!limiter.try_acquire_message(other));
        assert_eq!(left(&limiter.groups, other), 20);
        assert!(limiter.try_acquire_message(ChatId(1)));
        limiter.pause(ChatId(1), Duration::from_secs(9));
        assert!(!limiter.try_acquire_message(ChatId(1)));
    }

    #[tokio::test]
    async fn a_group_gets_twenty_a_minute_and_a_private_chat_a_burst() {
        let limiter = RateLimiter::default();
        let burst = |chat: ChatId, limiter: &DefaultKeyedRateLimiter<ChatId>| {
            (0..40).filter(|_| limiter.check_key(&chat).is_ok()).count()
        };
        assert_eq!(burst(ChatId(-1), &limiter.groups), 20);
        assert_eq!(burst(ChatId(-2), limiter.of_chat(ChatId(-2))), 3);
        assert_eq!(burst(ChatId(1), limiter.of_chat(ChatId(1))), 20);
    }

    #[tokio::test]
    async fn answers_leave_in_their_order_before_notices_and_owners_do_not_wait_behind_them() {
        let limiter = Arc::new(RateLimiter::default());
        let left = Arc::new(Mutex::new(Vec::new()));
        let mut leaving = tokio::task::JoinSet::new();
        // The first ten of each kind would find the burst.
        while limiter.all.check().is_ok() {}
        let kinds = [(Urgency::Notice, 1..20), (Urgency::Answer, 100..130), (Urgency::First, 200..201)];
        for (urgency, chats) in kinds {
            for chat in chats {
                let (limiter, left) = (Arc::clone(&limiter), Arc::clone(&left));
                leaving.spawn(async move {
                    limiter.acquire(ChatId(chat), urgency).await;
                    left.lock().push(chat);
                });
            }
            // All of a kind wait before the next come.
            tokio::task::yield_now().await;
        }
        while left.lock().len() < 31 {
            leaving.join_next().await.unwrap().unwrap();
        }
        leaving.abort_all();
        let left = left.lock().clone();
        let answers: Vec<i64> = left.iter().copied().filter(|chat| (100..130).contains(chat)).collect();
        assert_eq!(answers, (100..130).collect::<Vec<_>>(), "in their order");
        let notices = left.iter().filter(|chat| **chat < 100).count();
        assert!(notices <= 1, "one may have looked before the first answer waited: {left:?}");
        let owner = left.iter().position(|chat| *chat == 200).unwrap();
        assert!(owner < 15, "an owner's card came as number {owner}");
    }

    #[tokio::test]
    async fn drafts_give_way_to_answers_that_wait() {
        let limiter = RateLimiter::default();
        assert!(limiter.try_acquire(ChatId(1)) && limiter.try_acquire_message(ChatId(1)));
        let waiting = WaitingAnswer::new(&limiter.waiting);
        assert!(!limiter.try_acquire(ChatId(1)) && !limiter.try_acquire_message(ChatId(2)));
        drop(waiting);
        assert!(limiter.try_acquire(ChatId(1)) && limiter.try_acquire_message(ChatId(3)));
    }

    #[tokio::test]
    async fn notices_beyond_the_bound_have_no_room_until_one_has_left() {
        let limiter = RateLimiter::default();
        let mut room: Vec<NoticeRoom> = std::iter::from_fn(|| limiter.notice_room()).collect();
        assert_eq!(room.len(), MAX_NOTICES);
        room.pop();
        assert!(limiter.notice_room().is_some());
    }

    #[tokio::test]
    async fn no_second_takes_much_more_than_telegram_allows() {
        let limiter = RateLimiter::default();
        assert_eq!((0..100).filter(|_| limiter.all.check().is_ok()).count(), 10);
    }
}
