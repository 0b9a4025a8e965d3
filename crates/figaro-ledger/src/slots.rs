//! Model servers that answer few requests at a time: questions go first, and background work yields to them.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Limit of parallel requests per server, and the requests in progress. Providers not named here have no limit.
#[derive(Debug, Default)]
pub struct Slots {
    most: usize,
    taken: Mutex<HashMap<&'static str, ProviderLoad>>,
    changed: Notify,
}

/// Requests in progress at a provider.
#[derive(Debug, Clone, Default)]
struct ProviderLoad {
    questions: usize,
    /// Slot numbers of background work, oldest first.
    background: Vec<u64>,
    next: u64,
}

/// Slot of a request in progress; dropping it frees the slot.
#[derive(Debug)]
pub(super) struct RequestSlot {
    slots: Arc<Slots>,
    provider: &'static str,
    /// Slot number; `None` for a question.
    background: Option<u64>,
}

impl Slots {
    /// Limits each of these providers to `most` requests at a time.
    #[must_use]
    pub fn new(most: usize, providers: impl IntoIterator<Item = &'static str>) -> Self {
        let taken = providers.into_iter().map(|provider| (provider, ProviderLoad::default())).collect();
        Self { most, taken: Mutex::new(taken), changed: Notify::new() }
    }

    /// Takes a slot for a question, which never waits; `None` if the provider has no limit.
    pub(super) fn question(self: &Arc<Self>, provider: &str) -> Option<RequestSlot> {
        let mut all = self.taken.lock();
        let (name, taken) = of(&mut all, provider)?;
        taken.questions += 1;
        drop(all);
        self.changed.notify_waiters();
        Some(RequestSlot { slots: Arc::clone(self), provider: name, background: None })
    }

    /// Waits for a slot for background work; `None` if the provider has no limit.
    pub(super) async fn background(self: &Arc<Self>, provider: &str) -> Option<RequestSlot> {
        loop {
            // Subscribe before the check, so that no slot freed in between is missed.
            let changed = self.changed.notified();
            {
                let mut all = self.taken.lock();
                let (name, taken) = of(&mut all, provider)?;
                if taken.questions + taken.background.len() < self.most {
                    let number = taken.next;
                    taken.next += 1;
                    taken.background.push(number);
                    return Some(RequestSlot {
                        slots: Arc::clone(self),
                        provider: name,
                        background: Some(number),
                    });
                }
            }
            changed.await;
        }
    }

    /// Returns `true` if questions need this slot; the newest background work yields first.
    fn needs(&self, provider: &str, number: u64) -> bool {
        let mut all = self.taken.lock();
        let Some((_, taken)) = of(&mut all, provider) else { return false };
        let newer = taken.background.iter().filter(|other| **other > number).count();
        taken.questions > 0 && taken.questions + taken.background.len() > self.most + newer
    }
}

fn of<'a>(
    all: &'a mut HashMap<&'static str, ProviderLoad>,
    provider: &str,
) -> Option<(&'static str, &'a mut ProviderLoad)> {
    all.iter_mut().find(|(name, _)| **name == provider).map(|(name, taken)| (*name, taken))
}

impl RequestSlot {
    /// Waits until questions need this background slot. Never returns for a question.
    pub(super) async fn wanted(&self) {
        loop {
            let changed = self.slots.changed.notified();
            if self.background.is_some_and(|number| self.slots.needs(self.provider, number)) {
                return;
            }
            changed.await;
        }
    }
}

impl Drop for RequestSlot {
    fn drop(&mut self) {
        let mut all = self.slots.taken.lock();
        if let Some((_, taken)) = of(&mut all, self.provider) {
            match self.background {
                Some(number) => taken.background.retain(|other| *other != number),
                None => taken.questions -= 1,
            }
        }
        drop(all);
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

    #[tokio::test]
    async fn no_more_work_makes_room_than_questions_need() {
        let slots = Arc::new(Slots::new(3, ["ollama"]));
        let (first, second) = (slots.background("ollama").await, slots.background("ollama").await);
        let (first, second) = (first.unwrap(), second.unwrap());
        let _questions = (slots.question("ollama"), slots.question("ollama"));
        second.wanted().await;
        assert!(timeout(SOON, first.wanted()).await.is_err(), "one is enough");
        drop(second);
        assert!(timeout(SOON, first.wanted()).await.is_err());
    }
}
