//! The one gate to Telegram: everything that leaves for a chat passes here first, Figaro's own messages and the model's
//! calls alike, because both spend the same allowance.
//!
//! Telegram's limits (Bot FAQ): about 30 messages a second in all, one a second in a chat with short bursts, and 20 a
//! minute in a group. A 429 answer with `retry_after` closes the gate for that chat until then.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};
use tokio::time::Instant;

use crate::ids::ChatId;

const PER_SECOND: NonZeroU32 = NonZeroU32::new(30).unwrap();
/// Without a bound of its own a quota lets a whole second's worth through at once, and as many again within that second.
const BURST: NonZeroU32 = NonZeroU32::new(10).unwrap();
const CHAT_BURST: NonZeroU32 = NonZeroU32::new(3).unwrap();
const GROUP_PER_MINUTE: NonZeroU32 = NonZeroU32::new(20).unwrap();
/// What may be left out takes no more of a group's minute than this, so that answers always find room.
const STROKES_PER_MINUTE: NonZeroU32 = NonZeroU32::new(15).unwrap();
const STROKES_BURST: NonZeroU32 = NonZeroU32::new(5).unwrap();
/// After so many passes the limiters forget chats that have been quiet.
const SWEEP_EVERY: u32 = 512;

/// Lets messages through at the pace Telegram takes.
#[derive(Debug)]
pub struct Gate {
    all: DefaultDirectRateLimiter,
    chats: DefaultKeyedRateLimiter<ChatId>,
    groups: DefaultKeyedRateLimiter<ChatId>,
    strokes: DefaultKeyedRateLimiter<ChatId>,
    closed: Mutex<HashMap<ChatId, Instant>>,
    passes: AtomicU32,
}

impl Default for Gate {
    fn default() -> Self {
        let chat = Quota::per_second(NonZeroU32::MIN).allow_burst(CHAT_BURST);
        Self {
            all: RateLimiter::direct(Quota::per_second(PER_SECOND).allow_burst(BURST)),
            chats: RateLimiter::keyed(chat),
            groups: RateLimiter::keyed(Quota::per_minute(GROUP_PER_MINUTE)),
            strokes: RateLimiter::keyed(Quota::per_minute(STROKES_PER_MINUTE).allow_burst(STROKES_BURST)),
            closed: Mutex::default(),
            passes: AtomicU32::new(0),
        }
    }
}

impl Gate {
    /// A gate that keeps no pace of its own, for a Bot API server that sets no limits; a 429 still closes it.
    #[must_use]
    pub fn unpaced() -> Self {
        let quota = Quota::per_second(NonZeroU32::MAX);
        Self {
            all: RateLimiter::direct(quota),
            chats: RateLimiter::keyed(quota),
            groups: RateLimiter::keyed(quota),
            strokes: RateLimiter::keyed(quota),
            closed: Mutex::default(),
            passes: AtomicU32::new(0),
        }
    }

    /// Waits until a message may leave for this chat.
    pub async fn pass(&self, chat: ChatId) {
        self.pass_together(chat, 1).await;
    }

    /// Waits until several messages may leave together, such as an album: a group counts them one by one. More than a
    /// group takes in a minute count as that many.
    pub async fn pass_together(&self, chat: ChatId, messages: usize) {
        self.sweep();
        self.chats.until_key_ready(&chat).await;
        if chat.is_group() {
            for _ in 0..messages.min(GROUP_PER_MINUTE.get() as usize) {
                self.groups.until_key_ready(&chat).await;
            }
        }
        self.all.until_ready().await;
        // Checked last: it may have been closed while this waited.
        while let Some(opens) = self.closed_until(chat) {
            tokio::time::sleep_until(opens).await;
        }
    }

    /// Whether something that may be left out, such as a draft or a chat action, may leave now.
    pub fn try_pass(&self, chat: ChatId) -> bool {
        self.closed_until(chat).is_none() && self.all.check().is_ok()
    }

    /// Whether a message, or a change of one, that may be left out may leave now. It counts as a message.
    pub fn try_message(&self, chat: ChatId) -> bool {
        self.sweep();
        let has_room = |limiter: &DefaultKeyedRateLimiter<ChatId>| limiter.check_key(&chat).is_ok();
        // What is bounded most closely first: each look takes a share where there is one.
        self.closed_until(chat).is_none()
            && (!chat.is_group() || has_room(&self.strokes))
            && has_room(&self.chats)
            && (!chat.is_group() || has_room(&self.groups))
            && self.all.check().is_ok()
    }

    /// Telegram asked to wait: nothing leaves for this chat until then.
    pub fn close(&self, chat: ChatId, retry_after: Duration) {
        let opens = Instant::now() + retry_after;
        if let Ok(mut closed) = self.closed.lock() {
            let until = closed.entry(chat).or_insert(opens);
            *until = opens.max(*until);
        }
    }

    fn closed_until(&self, chat: ChatId) -> Option<Instant> {
        self.closed.lock().ok()?.get(&chat).copied().filter(|opens| *opens > Instant::now())
    }

    fn sweep(&self) {
        if self.passes.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1 {
            self.chats.retain_recent();
            self.groups.retain_recent();
            self.strokes.retain_recent();
            if let Ok(mut closed) = self.closed.lock() {
                closed.retain(|_, opens| *opens > Instant::now());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_closed_chat_opens_again_and_others_go_on() {
        let gate = Gate::default();
        let (busy, other) = (ChatId(1), ChatId(2));
        gate.close(busy, Duration::from_millis(80));
        assert!(!gate.try_pass(busy));
        assert!(gate.try_pass(other));
        gate.pass(busy).await;
        assert!(gate.try_pass(busy));
    }

    #[tokio::test]
    async fn an_album_takes_as_much_of_a_groups_minute_as_it_has_pictures() {
        let gate = Gate::default();
        gate.pass_together(ChatId(-1), 15).await;
        gate.pass_together(ChatId(1), 15).await;
        let left = (0..40).filter(|_| gate.groups.check_key(&ChatId(-1)).is_ok()).count();
        assert_eq!(left, 5);
    }

    #[tokio::test]
    async fn what_may_be_left_out_leaves_a_group_room_for_answers() {
        let gate = Gate::default();
        let (group, other) = (ChatId(-1), ChatId(-2));
        let left = |limiter: &DefaultKeyedRateLimiter<ChatId>, chat: ChatId| {
            (0..40).filter(|_| limiter.check_key(&chat).is_ok()).count()
        };
        assert_eq!((0..40).filter(|_| gate.try_message(group)).count(), 3, "a chat's burst");
        assert_eq!((left(&gate.strokes, group), left(&gate.groups, group)), (0, 17));
        left(&gate.strokes, other);
        assert!(!gate.try_message(other));
        assert_eq!(left(&gate.groups, other), 20);
        assert!(gate.try_message(ChatId(1)));
        gate.close(ChatId(1), Duration::from_secs(9));
        assert!(!gate.try_message(ChatId(1)));
    }

    #[tokio::test]
    async fn a_group_gets_twenty_a_minute_and_a_chat_one_a_second() {
        let gate = Gate::default();
        let burst = |chat: ChatId, limiter: &DefaultKeyedRateLimiter<ChatId>| {
            (0..40).filter(|_| limiter.check_key(&chat).is_ok()).count()
        };
        assert_eq!(burst(ChatId(-1), &gate.groups), 20);
        assert_eq!(burst(ChatId(1), &gate.chats), 3);
    }

    #[tokio::test]
    async fn no_second_takes_much_more_than_telegram_allows() {
        let gate = Gate::default();
        assert_eq!((0..100).filter(|_| gate.all.check().is_ok()).count(), 10);
    }
}
