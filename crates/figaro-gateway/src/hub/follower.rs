//! Followers of a turn.

use std::sync::Arc;

use tokio::sync::watch;

use super::turn::HubTurn;
use figaro_agent::delivery::OutsideEvent;

/// Follows a turn from its beginning. The turn is stopped if its last follower is dropped before it is over.
#[derive(Debug)]
pub(crate) struct Follower {
    turn: Arc<HubTurn>,
    at: usize,
    news: watch::Receiver<()>,
}

impl Follower {
    /// Follows this turn from its beginning.
    #[must_use]
    pub(crate) fn new(turn: Arc<HubTurn>) -> Self {
        let news = turn.join();
        Self { turn, at: 0, news }
    }

    #[must_use]
    pub(crate) const fn turn(&self) -> &Arc<HubTurn> {
        &self.turn
    }

    /// Returns the next message; `None` once the turn is over and all was returned.
    pub(crate) async fn next(&mut self) -> Option<Arc<OutsideEvent>> {
        loop {
            self.news.mark_unchanged();
            let (told, is_over) = self.turn.at(self.at);
            if told.is_some() {
                self.at += 1;
                return told;
            }
            if is_over || self.news.changed().await.is_err() {
                return None;
            }
        }
    }

    /// Returns the next message after the end of the turn; `None` once no more can come.
    pub(crate) async fn next_after(&mut self) -> Option<Arc<OutsideEvent>> {
        loop {
            self.news.mark_unchanged();
            let (told, _) = self.turn.at(self.at);
            if told.is_some() {
                self.at += 1;
                return told;
            }
            let until = self.turn.teaches_until()?;
            tokio::time::timeout_at(until, self.news.changed()).await.ok()?.ok()?;
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.turn.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::caller::{Account, BodyPermit};
    use super::super::{Hub, PendingQuestion, TurnCutoff};
    use super::*;
    use figaro_agent::turn::control::Control;
    use figaro_agent::turn::queue::{Job, Mailboxes, Runner};
    use figaro_agent::turn::requested::Requested;
    use figaro_base::ids::ChatId;
    use figaro_base::shutdown::TaskTracker;
    use figaro_domain::conversation::ConversationId;

    /// Does nothing with what waits: these tests begin turns by themselves.
    #[derive(Debug)]
    struct Idle;

    #[async_trait::async_trait]
    impl Runner for Idle {
        async fn run(&self, _job: Job, _control: Control) -> Option<Job> {
            None
        }
    }

    fn asked() -> PendingQuestion {
        let room = Account::default().admit().unwrap();
        let conversation = ConversationId::whole(ChatId::external(1));
        PendingQuestion {
            requested: Arc::new(Requested::default()),
            conversation,
            session: None,
            teaches: false,
            identity: "ann".to_owned(),
            room,
            bytes: BodyPermit::default(),
            resumes: None,
            mailboxes: Mailboxes::new(Arc::new(Idle), TaskTracker::default()),
        }
    }

    async fn all(mut follower: Follower) -> Vec<String> {
        let mut words = Vec::new();
        while let Some(told) = follower.next().await {
            let OutsideEvent::Words(text) = &*told else { continue };
            words.push(text.clone());
        }
        words
    }

    #[tokio::test]
    async fn each_follower_hears_all_in_order_whenever_they_come() {
        let hub = Hub::default();
        let first = hub.expect(asked());
        let (id, control) = (first.turn().id(), Control::default());
        let turn = hub.begin(id, &control).unwrap();
        for number in 0..50 {
            turn.tell(OutsideEvent::Words(number.to_string()));
        }
        let late = Follower::new(hub.turn(id, "ann").unwrap());
        assert!(hub.turn(id, "bob").is_none());
        let telling = async {
            for number in 50..100 {
                turn.tell(OutsideEvent::Words(number.to_string()));
                tokio::task::yield_now().await;
            }
            hub.end(&turn);
        };
        let (early, late, ()) = futures::join!(all(first), all(late), telling);
        let after = Follower::new(hub.turn(id, "ann").unwrap());
        let wanted: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        assert_eq!(early, wanted);
        assert_eq!(late, wanted);
        assert_eq!(all(after).await, wanted);
        assert!(!control.cancel.is_cancelled());
    }

    #[tokio::test]
    async fn at_a_stop_what_waits_ends_also_what_comes_late_and_what_runs_goes_on() {
        let hub = Hub::default();
        let (running, waiting) = (hub.expect(asked()), hub.expect(asked()));
        let turn = hub.begin(running.turn().id(), &Control::default()).unwrap();
        let others = async {
            assert_eq!(all(waiting).await, Vec::<String>::new());
            let late = hub.expect(asked());
            assert_eq!(all(late).await, Vec::<String>::new());
            assert!(!turn.is_over());
            turn.tell(OutsideEvent::Words("done".to_owned()));
            hub.end(&turn);
        };
        futures::join!(hub.settled(), others);
        assert_eq!(all(running).await, ["done"]);
    }

    #[tokio::test]
    async fn a_turn_that_is_forgotten_tells_its_followers_no_more_of_it() {
        let hub = Hub::default();
        let first = hub.expect(asked());
        let (id, conversation) = (first.turn().id(), first.turn().conversation());
        let turn = hub.begin(id, &Control::default()).unwrap();
        turn.tell(OutsideEvent::Words("one".to_owned()));
        turn.tell(OutsideEvent::Words("two".to_owned()));
        let mut slow = Follower::new(turn.clone());
        slow.next().await.unwrap();
        // One that runs tells the rest to those who are there.
        hub.forget_conversation(conversation);
        assert!(hub.turn(id, "ann").is_none() && hub.newest_in(conversation).is_none());
        assert!(hub.any_turn(id, "bob").is_none() && hub.any_turn(id, "ann").is_some(), "it can be stopped");
        assert_eq!(hub.open(), 1, "a stop waits for it");
        turn.tell(OutsideEvent::Words("three".to_owned()));
        hub.end(&turn);
        assert!(hub.any_turn(id, "ann").is_none());
        assert_eq!(all(first).await, ["one", "two", "three"]);
        let over = hub.expect(asked());
        let turn = hub.begin(over.turn().id(), &Control::default()).unwrap();
        turn.tell(OutsideEvent::Words("four".to_owned()));
        hub.end(&turn);
        hub.forget_caller("bob");
        assert!(hub.turn(turn.id(), "ann").is_some());
        hub.forget_caller("ann");
        assert_eq!((all(over).await, turn.cut()), (Vec::new(), Some(TurnCutoff::Erased)));
    }

    #[tokio::test]
    async fn a_turn_that_the_last_follower_leaves_is_stopped_and_one_that_waits_never_begins() {
        let hub = Hub::default();
        let first = hub.expect(asked());
        let (id, control) = (first.turn().id(), Control::default());
        hub.begin(id, &control).unwrap();
        let second = Follower::new(hub.turn(id, "ann").unwrap());
        drop(first);
        assert!(!control.cancel.is_cancelled());
        drop(second);
        assert!(control.cancel.is_cancelled());
        let waiting = hub.expect(asked());
        let id = waiting.turn().id();
        drop(waiting);
        assert!(hub.begin(id, &Control::default()).is_none());
    }
}
