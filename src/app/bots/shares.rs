//! Which bots a process has, where several processes share a database: each takes its fair part of the bots that nobody has, and
//! gives some back when another process joins. A pure decision, made again and again from what the database says.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::file::NamedBot;
use figaro_base::ids::BotId;
use figaro_base::shutdown::TaskTracker;
use figaro_gateway::probes::Probes;
use figaro_gateway::routes::BotRoutes;
use figaro_store::Stores;
use figaro_store::engine::Ownership;

/// Time after which a bot that nobody has is taken by any process: those whose part it is may not know the bot.
const ORPHANED: Duration = Duration::from_secs(8);
/// Number of looks with the same number of processes before bots are given back: a process that is started again soon should
/// not move them twice.
const STEADY: usize = 5;

/// Pause between two looks at the database: a random time from the first value up to the second, so that processes do not look
/// all at once.
const LOOKS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_millis(500));

/// Owner of a bot, as a process sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    Nobody,
    Own,
    Other,
}

/// Bots that a process wants to run, from one look at the database to the next.
#[derive(Debug)]
pub(super) struct Shares {
    /// Number that orders the bots differently in each process.
    seed: u64,
    /// Bots that this process runs or tries to take.
    wanted: BTreeSet<BotId>,
    /// Those of them that were taken above its part because nobody else took them. They stay until another process joins or
    /// leaves.
    adopted: BTreeSet<BotId>,
    /// Since when nobody has a bot.
    free_since: BTreeMap<BotId, Instant>,
    /// Number of processes at the last looks, and of looks since it changed.
    processes: (usize, usize),
}

impl Shares {
    pub(super) fn new(seed: u64) -> Self {
        let (wanted, adopted, free_since, processes) = Default::default();
        Self { seed, wanted, adopted, free_since, processes }
    }

    /// Returns the bots to run from now on. `holders` has every bot of the file.
    pub(super) fn decide(
        &mut self,
        now: Instant,
        processes: usize,
        holders: &BTreeMap<BotId, Holder>,
    ) -> &BTreeSet<BotId> {
        let steady = if self.processes.0 == processes { self.processes.1 + 1 } else { 0 };
        self.processes = (processes, steady);
        if steady == 0 {
            self.adopted.clear();
        }
        self.free_since.retain(|bot, _| holders.get(bot) == Some(&Holder::Nobody));
        for (bot, _) in holders.iter().filter(|(_, holder)| **holder == Holder::Nobody) {
            self.free_since.entry(*bot).or_insert(now);
        }
        // A bot of another process is not ours, even if we wanted it.
        self.wanted.retain(|bot| holders.get(bot).is_some_and(|holder| *holder != Holder::Other));
        self.wanted.extend(holders.iter().filter(|(_, holder)| **holder == Holder::Own).map(|(bot, _)| *bot));
        let share = holders.len().div_ceil(processes.max(1));
        self.adopted.retain(|bot| self.wanted.contains(bot));
        let of_share = self.wanted.len() - self.adopted.len();
        if of_share > share && steady >= STEADY {
            let excess = of_share - share;
            let mut own: Vec<BotId> = self.wanted.difference(&self.adopted).copied().collect();
            own.sort_by_key(|bot| self.order(*bot));
            for bot in own.into_iter().take(excess) {
                self.wanted.remove(&bot);
            }
            return &self.wanted;
        }
        let mut free: Vec<(BotId, Instant)> = self.free_since.iter().map(|(bot, at)| (*bot, *at)).collect();
        free.retain(|(bot, _)| !self.wanted.contains(bot));
        free.sort_by_key(|(bot, _)| self.order(*bot));
        for (bot, since) in free {
            if self.wanted.len() < share {
                self.wanted.insert(bot);
            } else if now.duration_since(since) > ORPHANED {
                self.wanted.insert(bot);
                self.adopted.insert(bot);
            }
        }
        &self.wanted
    }

    fn order(&self, bot: BotId) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.seed, bot.0).hash(&mut hasher);
        hasher.finish()
    }
}

/// Looks at the database again and again, and decides which bots this process runs.
pub(super) struct ShareKeeper {
    pub(super) stores: Stores,
    pub(super) routes: BotRoutes,
    pub(super) probes: Probes,
    /// Bots of the file.
    pub(super) bots: watch::Receiver<Vec<NamedBot>>,
    /// Receives the bots that this process is to run.
    pub(super) wanted: watch::Sender<BTreeSet<BotId>>,
    pub(super) background: TaskTracker,
}

impl ShareKeeper {
    /// Runs until the process stops.
    pub(super) async fn run(self) {
        let (mut shares, mut is_told) = (Shares::new(seed()), false);
        while !self.background.is_stopping() {
            let named = |bot: &NamedBot| (bot.settings.telegram.bot, bot.name.clone());
            let bots: BTreeMap<BotId, String> = self.bots.borrow().iter().map(named).collect();
            let ids: Vec<BotId> = bots.keys().copied().collect();
            let found = match self.stores.join().await {
                Ok(()) => self.stores.ownership(&ids).await,
                Err(error) => Err(error),
            };
            match found {
                Ok(ownership) => {
                    if std::mem::take(&mut is_told) {
                        self.probes.set_ready();
                    }
                    self.follow(&mut shares, &bots, &ownership);
                }
                // The bots that run here notice it themselves if they cannot go on.
                Err(error) if !std::mem::replace(&mut is_told, true) => {
                    tracing::warn!(%error, "it is not known which process has which bot; trying again");
                    self.probes.set_unready("the database does not say which process has which bot");
                }
                Err(_known) => {}
            }
            let spread = (LOOKS.1 - LOOKS.0).mul_f64(f64::from(seed() as u32) / f64::from(u32::MAX));
            tokio::select! {
                () = tokio::time::sleep(LOOKS.0 + spread) => {}
                () = self.background.stopping() => {}
            }
        }
    }

    fn follow(&self, shares: &mut Shares, bots: &BTreeMap<BotId, String>, ownership: &Ownership<BotId>) {
        let holder = |bot: &BotId| match ownership.owners.get(bot) {
            None => Holder::Nobody,
            Some(owner) if owner.is_own => Holder::Own,
            Some(_) => Holder::Other,
        };
        let holders = bots.keys().map(|bot| (*bot, holder(bot))).collect();
        let wanted = shares.decide(Instant::now(), ownership.processes, &holders);
        self.wanted.send_if_modified(|known| {
            let is_new = known != wanted;
            if is_new {
                known.clone_from(wanted);
            }
            is_new
        });
        let elsewhere = bots.iter().filter_map(|(bot, name)| {
            let owner = ownership.owners.get(bot).filter(|owner| !owner.is_own && !owner.address.is_empty());
            Some((name.clone(), owner?.address.clone()))
        });
        self.routes.set_elsewhere(elsewhere.collect());
    }
}

/// Returns a number that differs in each process and call.
fn seed() -> u64 {
    RandomState::new().hash_one(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holders(of: &[Holder]) -> BTreeMap<BotId, Holder> {
        (1..).map(BotId).zip(of.iter().copied()).collect()
    }

    #[test]
    fn a_process_takes_its_part_and_gives_back_what_is_above_it() {
        let (mut shares, now) = (Shares::new(7), Instant::now());
        let free = holders(&[Holder::Nobody; 10]);
        assert_eq!(shares.decide(now, 1, &free).len(), 10, "alone it takes all");
        let own = holders(&[Holder::Own; 10]);
        for _ in 0..STEADY {
            assert_eq!(shares.decide(now, 2, &own).len(), 10, "the other may be gone soon");
        }
        assert_eq!(shares.decide(now, 2, &own).len(), 5);
        let mut shares = Shares::new(7);
        assert_eq!(shares.decide(now, 3, &free).len(), 4);
    }

    #[test]
    fn what_another_has_is_not_wanted_and_what_nobody_takes_is_taken_by_anyone() {
        let (mut shares, now) = (Shares::new(7), Instant::now());
        let mut held = holders(&[Holder::Own, Holder::Own, Holder::Other, Holder::Nobody]);
        assert_eq!(shares.decide(now, 2, &held).len(), 2, "its part is full");
        assert_eq!(shares.decide(now + ORPHANED * 2, 2, &held).len(), 3, "the other does not know that bot");
        held.insert(BotId(4), Holder::Own);
        for _ in 0..STEADY * 2 {
            assert_eq!(shares.decide(now + ORPHANED * 2, 2, &held).len(), 3, "an adopted bot stays");
        }
        held.insert(BotId(1), Holder::Other);
        assert!(!shares.decide(now + ORPHANED * 2, 2, &held).contains(&BotId(1)));
    }
}
