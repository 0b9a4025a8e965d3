//! Many processes and bots under a virtual clock: the decisions of [`Shares`] are the real ones, the database is a model of its
//! statements, and processes crash, hang and are cut off. What must hold is looked at after every step. A failure prints its
//! seed; `FIGARO_SIMULATE=PROCESSES,BOTS` runs a larger world.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::{Duration, Instant};

use super::shares::{Holder, Shares};
use figaro_base::ids::BotId;

/// As in the store: how long a row holds, and how often it is renewed.
const LEASE: u64 = 4_000;
const RENEW: u64 = 800;
/// Milliseconds of a step.
const STEP: u64 = 50;
/// Milliseconds after the last fault within which all bots are back.
const BACK: u64 = 12_000;

/// A generator of numbers that a seed repeats: SplitMix64 of Steele, Lea and Flood, 2014.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Rows of the database.
#[derive(Default)]
struct Database {
    /// End of each process's row, by its name.
    processes: BTreeMap<u64, u64>,
    /// Owner and epoch of each bot's lease; owner 0 is nobody.
    leases: BTreeMap<BotId, (u64, u64)>,
}

impl Database {
    fn is_owned(&self, bot: BotId) -> bool {
        self.leases.get(&bot).is_some_and(|(owner, _)| self.processes.contains_key(owner))
    }

    /// Takes a lease that nobody holds, after removing rows that have run out.
    fn take(&mut self, now: u64, bot: BotId, owner: u64) -> bool {
        self.processes.retain(|_, until| *until >= now);
        let is_free = !self.is_owned(bot);
        if is_free {
            let lease = self.leases.entry(bot).or_insert((0, 0));
            *lease = (owner, lease.1 + 1);
        }
        is_free
    }
}

struct SimulatedProcess {
    /// Name of its row; a new one after it was lost.
    name: u64,
    shares: Shares,
    /// Bots whose leases it took and believes to have.
    held: BTreeSet<BotId>,
    /// End of its right by its own clock.
    until: u64,
    /// Time of the next look and renewal.
    looks_at: u64,
    renews_at: u64,
    /// Time until which it does nothing, and until which it does not reach the database.
    hangs_until: u64,
    cut_until: u64,
    is_gone: bool,
}

impl SimulatedProcess {
    fn new(name: u64, now: u64, numbers: &mut Numbers) -> Self {
        Self {
            name,
            shares: Shares::new(numbers.next()),
            held: BTreeSet::new(),
            until: now,
            looks_at: now,
            renews_at: now,
            hangs_until: 0,
            cut_until: 0,
            is_gone: false,
        }
    }

    /// Returns `true` if it may act for its bots, as it believes.
    const fn acts(&self, now: u64) -> bool {
        !self.is_gone && now < self.until && now >= self.hangs_until
    }

    fn step(&mut self, world: &VirtualClock, database: &mut Database, bots: &[BotId], names: &mut u64) {
        let now = world.now;
        if self.is_gone || now < self.hangs_until || now < self.cut_until {
            return;
        }
        if now >= self.renews_at {
            self.renews_at = now + RENEW;
            let is_member = self.until > now && database.processes.contains_key(&self.name);
            if !is_member {
                // Its bots end with its right, and it joins under a new name.
                *names += 1;
                (self.name, self.held) = (*names, BTreeSet::new());
            }
            database.processes.insert(self.name, now + LEASE);
            self.until = now + LEASE;
        }
        if now >= self.looks_at && now < self.until {
            self.looks_at = now + 250 + self.name % 5 * 50;
            self.look(world, database, bots);
        }
    }

    fn look(&mut self, world: &VirtualClock, database: &mut Database, bots: &[BotId]) {
        let now = world.now;
        let processes = database.processes.values().filter(|until| **until >= now).count();
        let holder = |bot: &BotId| match database.leases.get(bot) {
            Some((owner, _)) if *owner == self.name && self.held.contains(bot) => Holder::Own,
            Some((owner, _)) if database.processes.get(owner).is_some_and(|until| *until >= now) => {
                Holder::Other
            }
            _ => Holder::Nobody,
        };
        let holders = bots.iter().map(|bot| (*bot, holder(bot))).collect();
        let wanted = self.shares.decide(world.instant(), processes, &holders).clone();
        for bot in self.held.difference(&wanted).copied().collect::<Vec<_>>() {
            self.held.remove(&bot);
            if let Some(lease) = database.leases.get_mut(&bot).filter(|(owner, _)| *owner == self.name) {
                lease.0 = 0;
            }
        }
        for bot in wanted.difference(&self.held.clone()) {
            if database.take(now, *bot, self.name) {
                self.held.insert(*bot);
            }
        }
    }
}

struct VirtualClock {
    now: u64,
    began: Instant,
}

impl VirtualClock {
    fn instant(&self) -> Instant {
        self.began + Duration::from_millis(self.now)
    }
}

/// Runs a world for a minute of faults and some quiet at the end. Returns the longest time that a bot was away.
fn simulate(seed: u64, processes: u64, bots: u64) -> u64 {
    let (mut numbers, mut database) = (Numbers(seed), Database::default());
    let bots: Vec<BotId> = (1..=i64::try_from(bots).unwrap()).map(BotId).collect();
    let mut clock = VirtualClock { now: 1, began: Instant::now() };
    let mut names = processes;
    let mut all: Vec<SimulatedProcess> =
        (1..=processes).map(|name| SimulatedProcess::new(name, 1, &mut numbers)).collect();
    let (mut last_fault, mut longest) = (0, 0);
    let mut away_since: BTreeMap<BotId, u64> = BTreeMap::new();
    while clock.now < 60_000 + BACK {
        clock.now += STEP;
        let now = clock.now;
        if now < 60_000 && numbers.below(20) == 0 {
            let at = usize::try_from(numbers.below(processes)).unwrap();
            last_fault = now;
            match numbers.below(4) {
                0 => all[at].is_gone = true,
                1 => all[at].hangs_until = now + numbers.below(2 * LEASE),
                2 => all[at].cut_until = now + numbers.below(2 * LEASE),
                _ if all[at].is_gone => {
                    names += 1;
                    all[at] = SimulatedProcess::new(names, now, &mut numbers);
                }
                _ => {}
            }
        }
        // The first process never crashes: with none left nobody could take over.
        all[0].is_gone = false;
        for process in &mut all {
            process.step(&clock, &mut database, &bots, &mut names);
        }
        let mut served = HashSet::new();
        for bot in all.iter().filter(|process| process.acts(now)).flat_map(|process| &process.held) {
            assert!(served.insert(*bot), "seed {seed}: two processes act for {bot} at {now} ms");
        }
        for bot in &bots {
            match served.contains(bot) {
                false => drop(away_since.entry(*bot).or_insert(now)),
                true => longest = longest.max(away_since.remove(bot).map_or(0, |since| now - since)),
            }
        }
    }
    assert!(
        away_since.is_empty(),
        "seed {seed}: {} bots are away {BACK} ms after {last_fault}",
        away_since.len()
    );
    let held: Vec<usize> =
        all.iter().filter(|process| !process.is_gone).map(|process| process.held.len()).collect();
    let share = bots.len().div_ceil(held.len());
    assert!(held.iter().all(|held| *held <= share), "seed {seed}: {held:?} with a share of {share}");
    longest
}

#[test]
fn no_two_processes_act_for_a_bot_and_every_bot_comes_back() {
    for seed in 0..60 {
        simulate(seed, 2 + seed % 9, 1 + seed * 3);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test whose size is given by hand")]
fn a_large_world_holds_too() {
    let Ok(size) = std::env::var("FIGARO_SIMULATE") else { return };
    let (processes, bots) = size.split_once(',').unwrap();
    let began = Instant::now();
    let longest = simulate(1, processes.parse().unwrap(), bots.parse().unwrap());
    println!(
        "{processes} processes, {bots} bots: at most {longest} ms away; simulated in {:.1?}",
        began.elapsed()
    );
}
