//! Tells systemd how the process is (sd_notify(3)): that it runs, its readiness as a status, its end, and signs of life for
//! `WatchdogSec`. Without `NOTIFY_SOCKET` nothing is told.

use std::time::Duration;

use sd_notify::NotifyState;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use figaro_base::shutdown::TaskTracker;
use figaro_gateway::probes::Probes;

/// Starts to tell systemd, until the tasks of `background` are stopped.
pub(super) fn notify_systemd(probes: &Probes, background: &TaskTracker) {
    let (probes, stopping) = (probes.clone(), background.clone());
    background.spawn("systemd", async move {
        tokio::select! {
            () = tell_states(&probes) => {}
            () = show_life() => {}
            () = stopping.stopping() => {}
        }
    });
}

/// Tells each state of the process. It counts as started at once: what it waits for, such as Telegram, it waits for by itself.
async fn tell_states(probes: &Probes) {
    let mut states = probes.watch();
    loop {
        let state = *states.borrow_and_update();
        tell(&[NotifyState::Ready, NotifyState::Status(state.words())]);
        if state.is_stopping() {
            tell(&[NotifyState::Stopping]);
        }
        if states.changed().await.is_err() {
            return;
        }
    }
}

/// Gives a sign of life twice in the time of the watchdog, for as long as tasks of the process run.
async fn show_life() {
    let Some(time) = sd_notify::watchdog_enabled().filter(|time| *time > Duration::ZERO) else {
        return std::future::pending().await;
    };
    let mut signs = interval_at(Instant::now(), time / 2);
    signs.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        signs.tick().await;
        tell(&[NotifyState::Watchdog]);
    }
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "systemd could not be told of the state");
    }
}
