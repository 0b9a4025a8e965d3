//! Model servers that answer few requests at a time: questions go first, and work that nobody waits for makes room for them.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// How many requests each server takes at a time, and which are under way. Of a provider that is not named here any number.
#[derive(Debug, Default)]
pub struct Slots {
    most: usize,
    taken: Mutex<HashMap<&'static str, Taken>>,
    changed: Notify,
}

/// The requests that are under way at a provider.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    questions: usize,
    background: usize,
}

/// A request under way; dropping it gives its place back.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    provider: &'static str,
    is_question: bool,
}

impl Slots {
    /// For servers of these providers, each of which takes so many requests at a time.
    #[must_use]
    pub fn new(most: usize, providers: impl IntoIterator<Item = &'static str>) -> Self {
        let taken = providers.into_iter().map(|provider| (provider, Taken::default())).collect();
        Self { most, taken: Mutex::new(taken), changed: Notify::new() }
    }

    /// The place of a question, which waits for nothing; `None` where the provider takes any number.
    pub(super) fn question(self: &Arc<Self>, provider: &str) -> Option<Slot> {
        self.take(provider, true)
    }

    /// The place of work that nobody waits for, once there is one.
    pub(super) async fn background(self: &Arc<Self>, provider: &str) -> Option<Slot> {
        loop {
            // Before the look, so that no place that comes free in between is missed.
            let changed = self.changed.notified();
            match self.taken(provider) {
                Some(taken) if taken.questions + taken.background >= self.most => changed.await,
                _ => return self.take(provider, false),
            }
        }
    }

    fn taken(&self, provider: &str) -> Option<Taken> {
        self.taken.lock().get(provider).copied()
    }

    fn take(self: &Arc<Self>, provider: &str, is_question: bool) -> Option<Slot> {
        let mut all = self.taken.lock();
        let name = all.keys().copied().find(|name| *name == provider)?;
        let taken = all.get_mut(name)?;
        *taken.count(is_question) += 1;
        drop(all);
        self.changed.notify_waiters();
        Some(Slot { slots: Arc::clone(self), provider: name, is_question })
    }
}

impl Taken {
    const fn count(&mut self, is_question: bool) -> &mut usize {
        if is_question { &mut self.questions } else { &mut self.background }
    }
}

impl Slot {
    /// Waits until questions need the place of work that nobody waits for; for a question it never ends.
    pub(super) async fn wanted(&self) {
        loop {
            let changed = self.slots.changed.notified();
            let taken = self.slots.taken(self.provider).unwrap_or_default();
            let is_crowded = taken.questions > 0 && taken.questions + taken.background > self.slots.most;
            if !self.is_question && is_crowded {
                return;
            }
            changed.await;
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(taken) = self.slots.taken.lock().get_mut(self.provider) {
            *taken.count(self.is_question) -= 1;
        }
        self.slots.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::Slots;

    const SOON: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn work_that_nobody_waits_for_makes_room_for_questions() {
        let slots = Arc::new(Slots::new(1, ["ollama"]));
        let background = slots.background("ollama").await.unwrap();
        assert!(timeout(SOON, background.wanted()).await.is_err(), "no question has come");
        let question = slots.question("ollama").unwrap();
        background.wanted().await;
        assert!(timeout(SOON, question.wanted()).await.is_err(), "a question makes room for nobody");
        drop(background);
        assert!(timeout(SOON, slots.background("ollama")).await.is_err(), "the question is under way");
        let (place, ()) = tokio::join!(slots.background("ollama"), async {
            tokio::task::yield_now().await;
            drop(question);
        });
        assert!(place.is_some());
    }

    #[tokio::test]
    async fn a_provider_that_is_not_named_takes_any_number() {
        let slots = Arc::new(Slots::new(1, ["ollama"]));
        let _question = slots.question("ollama").unwrap();
        assert!(slots.question("openai").is_none());
        assert!(slots.background("openai").await.is_none());
        let two = Arc::new(Slots::new(2, ["ollama"]));
        let (_question, background) = (two.question("ollama"), two.background("ollama").await.unwrap());
        assert!(timeout(SOON, background.wanted()).await.is_err(), "there is room for both");
        assert!(timeout(SOON, two.background("ollama")).await.is_err(), "and for no third");
    }
}
