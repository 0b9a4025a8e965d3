//! Right of this process to act for a bot, which ends unless it is renewed. Where several processes share a database, each
//! acts only as long as no other may have taken over. Used by the store, which grants it, and by senders, which ask.

use std::time::Instant;

use tokio::sync::watch;

/// Right to act, as those see it who need it. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Tenure(Option<watch::Receiver<Option<Instant>>>);

/// Grants a [`Tenure`] and renews it. The right ends when this is dropped.
#[derive(Debug)]
pub struct TenureGrant(watch::Sender<Option<Instant>>);

impl TenureGrant {
    /// Grants a right until a moment.
    #[must_use]
    pub fn new(until: Instant) -> Self {
        Self(watch::Sender::new(Some(until)))
    }

    /// Returns the right for those who need it.
    #[must_use]
    pub fn tenure(&self) -> Tenure {
        Tenure(Some(self.0.subscribe()))
    }

    /// Renews the right until a later moment. One that has ended stays so.
    pub fn renew(&self, until: Instant) {
        self.0.send_if_modified(|held| {
            let holds = held.is_some_and(|held| Instant::now() < held);
            *held = holds.then_some(until);
            holds
        });
    }

    /// Ends the right now.
    pub fn end(&self) {
        self.0.send_replace(None);
    }
}

impl Drop for TenureGrant {
    fn drop(&mut self) {
        self.end();
    }
}

impl Tenure {
    /// Returns `true` while the right holds, by a clock that nobody sets. Without a grant it holds forever.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.0.as_ref().is_none_or(|held| held.borrow().is_some_and(|until| Instant::now() < until))
    }

    /// Waits until the right has ended.
    pub async fn ended(&self) {
        let Some(mut held) = self.0.clone() else { return std::future::pending().await };
        loop {
            let until = *held.borrow_and_update();
            let Some(left) = until.and_then(|until| until.checked_duration_since(Instant::now())) else {
                return;
            };
            tokio::select! {
                () = tokio::time::sleep(left) => {}
                // Without a grant the last value stays, which is the end.
                _ = held.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_right_holds_until_its_end_and_is_not_revived() {
        assert!(Tenure::default().holds(), "one process alone");
        let now = Instant::now();
        let grant = TenureGrant::new(now + Duration::from_millis(30));
        let tenure = grant.tenure();
        assert!(tenure.holds());
        grant.renew(now + Duration::from_millis(60));
        tenure.ended().await;
        assert!(!tenure.holds() && now.elapsed() >= Duration::from_millis(60));
        grant.renew(Instant::now() + Duration::from_secs(60));
        assert!(!tenure.holds(), "another process may have taken over meanwhile");
        let grant = TenureGrant::new(Instant::now() + Duration::from_secs(60));
        let tenure = grant.tenure();
        drop(grant);
        tenure.ended().await;
        assert!(!tenure.holds());
    }
}
