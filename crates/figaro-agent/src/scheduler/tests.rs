//! The scheduler over a real store, with a clock that only moves when nobody works.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use async_trait::async_trait;
use chrono::TimeZone;
use figaro_base::tz::Tz;
use tokio::time::{Instant, advance, sleep};

use super::*;
use crate::turn::control::Control;
use crate::turn::queue::Runner;
use figaro_base::ids::{BotId, ChatId, UserId};
use figaro_config::{AccessMode, AccessSettings};
use figaro_config::{EngineKind, StoreUrl};
use figaro_domain::access::AccessChange;
use figaro_domain::audit::AuditActor;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::delivery::DeliveryEnd;
use figaro_domain::language::ByLanguage;
use figaro_domain::message::Speaker;
use figaro_domain::schedule::Schedule;
use figaro_domain::task::{IfMissed, NewTask, RunStatus, TaskState};
use figaro_prompts::texts::Locales;
use figaro_store::Store;
use figaro_store::{TaskAdded, TaskLimits};

const LIMITS: TaskLimits = TaskLimits { per_chat: 1000, per_user: 1000 };
const MINUTE: Duration = Duration::from_secs(60);

fn start() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 23, 8, 0, 0).unwrap()
}

type Ran = (DateTime<Utc>, DateTime<Utc>, bool);

/// Runs tasks to a good end in ten seconds, and delivers what is to be told.
#[derive(Debug)]
struct Worker {
    store: Store,
    clock: Clock,
    /// It never begins, as one that waits behind others of its chat.
    waits: AtomicBool,
    /// It never comes to an end, as one that a crash took along.
    hangs: AtomicBool,
    /// So many runs fail.
    fails: Mutex<u32>,
    /// For which due time, when, and whether that counted as late.
    ran: Mutex<Vec<Ran>>,
    told: Mutex<Vec<String>>,
    /// By how many minutes the clock on the wall is wrong.
    wrong: Arc<AtomicI64>,
    owners: Arc<Told>,
}

#[async_trait]
impl Runner for Worker {
    async fn run(&self, job: Job, _control: Control) -> Option<Job> {
        match job {
            Job::Task(task) => {
                let lease = task.lease.unwrap();
                self.ran.lock().unwrap().push((lease.due, self.clock.now(), lease.late));
                if self.waits.load(Ordering::Relaxed) {
                    std::future::pending::<()>().await;
                }
                let (place, now) = (task.place.conversation(), self.clock.now());
                self.store.tasks().begin(task.id, lease.run, place, now).await.unwrap().unwrap();
                if self.hangs.load(Ordering::Relaxed) {
                    std::future::pending::<()>().await;
                }
                sleep(Duration::from_secs(10)).await;
                let fails = {
                    let mut fails = self.fails.lock().unwrap();
                    let now = *fails;
                    *fails = now.saturating_sub(1);
                    now > 0
                };
                let ended = match fails {
                    true => TaskRunResult::Failed { error: Reason::Busy, again: true, cost: Cost::default() },
                    false => TaskRunResult::Delivered(None),
                };
                let settle = vec![(task.id, TaskChange::Settle(lease.run, ended))];
                self.store.tasks().change(settle, Vec::new(), self.clock.now()).await.unwrap();
            }
            Job::Deliver(delivery) => {
                self.store.outbox().end_delivery(delivery.id, DeliveryEnd::Whole, self.clock.now()).unwrap();
                self.told.lock().unwrap().push(delivery.markdown);
            }
            other => panic!("{other:?}"),
        }
        None
    }
}

/// What owners were told.
#[derive(Debug, Default)]
struct Told(Mutex<Vec<String>>);

#[async_trait]
impl Owners for Told {
    async fn tell(&self, words: ByLanguage<String>) {
        self.0.lock().unwrap().push(words.of(None).clone());
    }
}

/// A bot that is on, off, and on again.
struct Bench {
    _folder: tempfile::TempDir,
    worker: Arc<Worker>,
    background: TaskTracker,
}

impl Bench {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreUrl::new(EngineKind::Redb, folder.path().join("store")), BotId(1))
            .await
            .unwrap();
        store.hold_paused_time();
        let base = Instant::now();
        let wrong = Arc::new(AtomicI64::new(0));
        let error = wrong.clone();
        let clock = Clock::told_by(move || {
            let passed = TimeDelta::from_std(Instant::now().duration_since(base)).unwrap();
            start() + passed + TimeDelta::minutes(error.load(Ordering::SeqCst))
        });
        let (waits, hangs, fails) = (AtomicBool::default(), AtomicBool::default(), Mutex::default());
        let (ran, told) = (Mutex::default(), Mutex::default());
        let worker =
            Arc::new(Worker { store, clock, waits, hangs, fails, ran, told, wrong, owners: Arc::default() });
        Self { _folder: folder, worker, background: TaskTracker::new() }
    }

    fn on(&mut self) {
        self.background = TaskTracker::new();
        let scheduler = Scheduler {
            store: Arc::new(self.worker.store.clone()).tasks(),
            access: AccessSettings { owners: vec![UserId::telegram(1)], mode: AccessMode::Pairing },
            settings: Arc::new(self.worker.store.clone()).settings(),
            conversations: Arc::new(self.worker.store.clone()).conversations(),
            mailboxes: Mailboxes::new(self.worker.clone(), self.background.clone()),
            languages: Languages {
                locales: Arc::new(Locales::default()),
                settings: Arc::new(self.worker.store.clone()).settings(),
            },
            owners: self.worker.owners.clone(),
            default_zone: Tz::UTC,
            clock: self.worker.clock.clone(),
            background: self.background.clone(),
        };
        self.background.spawn("scheduler", scheduler.run());
    }

    async fn off(&self, how_long: Duration) {
        self.background.stop();
        assert!(self.background.finish(MINUTE).await);
        advance(how_long).await;
    }

    async fn add(&self, chat: i64, schedule: &str, if_missed: IfMissed) -> TaskId {
        let now = self.worker.clock.now();
        let schedule = Schedule::recurring(schedule, Tz::UTC, now)
            .or_else(|_| Schedule::once(schedule, Tz::UTC, now))
            .unwrap();
        let place = Place { chat: ChatId(chat), kind: ChatKind::Private, title: None, topic: None };
        let creator = Speaker { user: UserId::telegram(chat), name: "Ann".into(), username: None };
        let prompt = format!("task of {chat} {}", if_missed.name());
        let (language, zone, zone_assumed) = (None, Tz::UTC, false);
        let new = NewTask { place, creator, language, prompt, schedule, zone, zone_assumed };
        let task = Task { if_missed, ..Task::new(new, now) };
        let allow = AccessChange::AllowUser(UserId::telegram(chat));
        self.worker.store.settings().change_access(allow, AuditActor::Bot).await.unwrap();
        assert_eq!(self.worker.store.tasks().add(&task, LIMITS).await.unwrap(), TaskAdded::New);
        task.id
    }

    fn task(&self, id: TaskId) -> Task {
        self.worker.store.tasks().find(id).unwrap().unwrap()
    }

    /// The due time, when it ran, and whether that counted as late.
    fn ran(&self) -> Vec<(String, String, bool)> {
        let time = |at: DateTime<Utc>| at.format("%d %H:%M").to_string();
        let mut ran = self.worker.ran.lock().unwrap().clone();
        ran.sort();
        ran.into_iter().map(|(due, at, late)| (time(due), time(at), late)).collect()
    }

    fn told(&self) -> Vec<String> {
        let mut told = self.worker.told.lock().unwrap().clone();
        told.sort();
        told
    }
}

fn run(due: &str, at: &str, late: bool) -> (String, String, bool) {
    (due.into(), at.into(), late)
}

#[tokio::test(start_paused = true)]
async fn tasks_run_at_their_times_and_no_other() {
    let mut bench = Bench::new().await;
    bench.on();
    let once = bench.add(1, "in 20m", IfMissed::RunOnce).await;
    let daily = bench.add(2, "30 8 * * *", IfMissed::RunOnce).await;
    sleep(MINUTE * 60 * 26).await;
    let wanted = [
        run("23 08:20", "23 08:20", false),
        run("23 08:30", "23 08:30", false),
        run("24 08:30", "24 08:30", false),
    ];
    assert_eq!(bench.ran(), wanted);
    assert!(matches!(bench.task(once).state, TaskState::Done(_)));
    assert_eq!(bench.task(daily).last.unwrap().status, RunStatus::Delivered);
    assert_eq!(bench.told(), Vec::<String>::new());
    bench.off(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn run_once_makes_up_for_the_last_missed_run_while_there_is_time() {
    let mut bench = Bench::new().await;
    bench.add(1, "0 9 * * *", IfMissed::RunOnce).await;
    bench.add(2, "0 * * * *", IfMissed::RunOnce).await;
    // Back at 11:20: two hours late for the daily one, twenty minutes after the third of the hourly ones.
    advance(MINUTE * 200).await;
    bench.on();
    sleep(MINUTE * 5).await;
    assert_eq!(bench.ran(), [run("23 09:00", "23 11:20", true), run("23 11:00", "23 11:20", true)]);
    assert_eq!(bench.told(), Vec::<String>::new());
    // Off for more than a day, back at 18:40: ten hours late for one, forty minutes for the other.
    bench.off(MINUTE * 60 * 31 + MINUTE * 15).await;
    bench.on();
    sleep(MINUTE).await;
    assert_eq!(bench.ran().len(), 2, "{:?}", bench.ran());
    let told = bench.told();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("task of 1") && told[0].contains("Tue 24 Nov 09:00"), "{told:?}");
    assert!(told[1].contains("task of 2") && told[1].contains("Tue 24 Nov 18:00"), "{told:?}");
    // And both go on.
    sleep(MINUTE * 60 * 15).await;
    assert!(bench.ran().contains(&run("25 09:00", "25 09:00", false)));
    bench.off(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn skip_leaves_a_missed_run_out_without_a_word() {
    let mut bench = Bench::new().await;
    let id = bench.add(1, "0 9 * * *", IfMissed::Skip).await;
    advance(MINUTE * 70).await;
    bench.on();
    sleep(MINUTE * 60).await;
    assert_eq!((bench.ran(), bench.told()), (Vec::new(), Vec::new()));
    let task = bench.task(id);
    assert_eq!(task.last.unwrap().status, RunStatus::Skipped);
    assert_eq!(task.next, Some(start() + TimeDelta::hours(25)));
    bench.off(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn ask_asks_once_and_waits() {
    let mut bench = Bench::new().await;
    let id = bench.add(1, "2026-11-23T09:00", IfMissed::Ask).await;
    advance(MINUTE * 70).await;
    bench.on();
    sleep(MINUTE * 60).await;
    assert_eq!(bench.ran(), Vec::new());
    let told = bench.told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("Mon 23 Nov 09:00") && told[0].ends_with("Run it now?"), "{told:?}");
    // Asked it stays, also over a restart.
    bench.off(MINUTE * 60 * 24).await;
    bench.on();
    sleep(MINUTE * 60).await;
    assert_eq!((bench.ran(), bench.told().len()), (Vec::new(), 1));
    assert!(bench.task(id).asked.is_some());
    bench.off(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_tried_again_and_then_told() {
    let mut bench = Bench::new().await;
    bench.add(1, "0 9 * * *", IfMissed::RunOnce).await;
    *bench.worker.fails.lock().unwrap() = 3;
    bench.on();
    sleep(MINUTE * 120).await;
    let wanted = ["23 09:00", "23 09:01", "23 09:06"].map(|at| run("23 09:00", at, false));
    assert_eq!(bench.ran(), wanted);
    assert_eq!(bench.told(), ["⏰ “task of 1 run&#95;once” failed: my model could not be reached."]);
    bench.off(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_of_before_a_crash_is_taken_up_and_given_up_when_it_crashes_again_and_again() {
    let mut bench = Bench::new().await;
    let id = bench.add(1, "0 9 * * *", IfMissed::RunOnce).await;
    let lease = TaskChange::Lease(
        RunId::new(),
        figaro_domain::task::DueRun { at: start() + TimeDelta::hours(1), attempt: 1, late: false },
    );
    bench.worker.store.tasks().change(vec![(id, lease)], Vec::new(), start()).await.unwrap();
    advance(MINUTE * 90).await;
    bench.worker.hangs.store(true, Ordering::Relaxed);
    let mut crashed = Vec::new();
    // The first time it had not begun.
    for _ in 0..=MAX_TAKEN_UP + 1 {
        bench.on();
        // It dies in the middle of the run.
        sleep(Duration::from_secs(5)).await;
        crashed.push(bench.ran().len());
        bench.background.stop();
    }
    let (last, before) = crashed.split_last().unwrap();
    assert!(before.iter().copied().eq(1..=before.len()), "{crashed:?}");
    assert_eq!(*last, before.len(), "in the end it is given up");
    let last = bench.task(id).last.unwrap();
    assert_eq!((last.status, last.attempts), (RunStatus::Failed, 1));
}

/// Whatever ends the process again and again, a run that only waits its turn is not what does it.
#[tokio::test(start_paused = true)]
async fn restarts_fail_no_run_that_never_began() {
    let mut bench = Bench::new().await;
    let id = bench.add(1, "0 9 * * *", IfMissed::RunOnce).await;
    advance(MINUTE * 61).await;
    bench.worker.waits.store(true, Ordering::Relaxed);
    for _ in 0..MAX_TAKEN_UP * 2 {
        bench.on();
        sleep(Duration::from_secs(5)).await;
        bench.background.stop();
    }
    bench.worker.waits.store(false, Ordering::Relaxed);
    bench.on();
    sleep(MINUTE).await;
    assert_eq!(bench.task(id).last.unwrap().status, RunStatus::Delivered);
    bench.off(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn many_tasks_of_one_instant_run_a_bounded_number_at_a_time() {
    let mut bench = Bench::new().await;
    for chat in 1..=100 {
        bench.add(chat, "0 9 * * *", IfMissed::Skip).await;
    }
    bench.on();
    sleep(MINUTE * 60 + Duration::from_secs(5)).await;
    assert_eq!(bench.ran().len(), MAX_RUNNING);
    sleep(MINUTE * 3).await;
    let ran = bench.ran();
    assert_eq!(ran.len(), 100);
    assert!(ran.iter().all(|(_, _, late)| !late), "the bot was there");
    bench.off(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn the_task_of_someone_who_may_not_talk_any_more_is_paused() {
    let mut bench = Bench::new().await;
    let id = bench.add(7, "0 9 * * *", IfMissed::RunOnce).await;
    bench.on();
    sleep(MINUTE * 61).await;
    assert_eq!(bench.ran().len(), 1);
    let deny = AccessChange::DenyUser(UserId::telegram(7));
    bench.worker.store.settings().change_access(deny, AuditActor::Bot).await.unwrap();
    sleep(MINUTE * 60 * 48).await;
    assert_eq!(bench.ran().len(), 1);
    assert_eq!(bench.task(id).state, TaskState::Paused(PauseReason::Denied));
    bench.off(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn what_a_crash_left_is_not_run_when_it_is_too_late_for_it() {
    let mut bench = Bench::new().await;
    let due = |at| figaro_domain::task::DueRun { at, attempt: 1, late: false };
    let nine = start() + TimeDelta::hours(1);
    let mut ids = Vec::new();
    for (chat, if_missed) in [(1, IfMissed::RunOnce), (2, IfMissed::Skip), (3, IfMissed::Ask)] {
        let id = bench.add(chat, "0 9 * * *", if_missed).await;
        let lease = TaskChange::Lease(RunId::new(), due(nine));
        bench.worker.store.tasks().change(vec![(id, lease)], Vec::new(), start()).await.unwrap();
        ids.push(id);
    }
    advance(MINUTE * 60 * 10).await;
    bench.on();
    sleep(MINUTE * 5).await;
    assert_eq!(bench.ran(), Vec::new());
    assert_eq!(bench.told().len(), 2, "{:?}", bench.told());
    assert_eq!(bench.task(ids[0]).last.unwrap().status, RunStatus::Missed);
    assert_eq!(bench.task(ids[1]).last.unwrap().status, RunStatus::Skipped);
    assert_eq!(bench.task(ids[2]).asked, Some(nine));
    bench.off(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn the_tasks_of_one_chat_do_not_hold_up_those_of_others() {
    let mut bench = Bench::new().await;
    for minute in 0..40 {
        bench.add(1, &format!("{minute} 9 * * *"), IfMissed::Ask).await;
    }
    // Between two looks that come by themselves.
    bench.add(2, "20 40 9 * * *", IfMissed::Ask).await;
    bench.worker.hangs.store(true, Ordering::Relaxed);
    bench.on();
    sleep(MINUTE * 101).await;
    let ran = bench.ran();
    assert_eq!(ran, [run("23 09:00", "23 09:00", false), run("23 09:40", "23 09:40", false)]);
    let (due, at, _) = bench.worker.ran.lock().unwrap()[1];
    assert!(at - due < TimeDelta::seconds(1), "{at}");
    bench.background.stop();
}

/// A clock that is wrong for a minute silences no task: each runs at its next time by the right one.
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_wrong_for_a_minute_silences_nothing() {
    for wrong in [24 * 60, -120, 400 * 24 * 60] {
        let mut bench = Bench::new().await;
        bench.on();
        let daily = bench.add(1, "30 8 * * *", IfMissed::Skip).await;
        bench.add(2, "*/10 * * * *", IfMissed::Skip).await;
        sleep(MINUTE * 15).await;
        bench.worker.wrong.store(wrong, Ordering::SeqCst);
        sleep(MINUTE * 2).await;
        bench.worker.wrong.store(0, Ordering::SeqCst);
        sleep(MINUTE * 2).await;
        let next = bench.task(daily).next.unwrap();
        assert_eq!(next, start() + TimeDelta::minutes(30), "after {wrong} minutes");
        let told = std::mem::take(&mut *bench.worker.owners.0.lock().unwrap());
        assert_eq!(told.len(), 2, "{told:?}");
        let forward = |words: &String| words.contains("was set forward by");
        assert_eq!(told.iter().map(forward).collect::<Vec<_>>(), [wrong > 0, wrong < 0], "{told:?}");
        bench.worker.ran.lock().unwrap().clear();
        sleep(MINUTE * 20).await;
        let on_time = |time: &str| run(time, time, false);
        let wanted = ["23 08:20", "23 08:30", "23 08:30"].map(on_time);
        assert_eq!(bench.ran(), wanted, "after {wrong} minutes");
        bench.off(Duration::ZERO).await;
    }
}

/// The bot need not have seen it: a start finds what was put off.
#[tokio::test(start_paused = true)]
async fn what_a_wrong_clock_has_put_off_is_found_at_the_next_start() {
    let mut bench = Bench::new().await;
    let task = bench.add(1, "30 8 * * *", IfMissed::Skip).await;
    bench.worker.wrong.store(24 * 60 + 45, Ordering::SeqCst);
    bench.on();
    sleep(MINUTE).await;
    assert_eq!(bench.task(task).next.unwrap(), start() + TimeDelta::minutes(48 * 60 + 30));
    bench.off(Duration::ZERO).await;
    bench.worker.wrong.store(0, Ordering::SeqCst);
    bench.on();
    sleep(MINUTE).await;
    assert_eq!(bench.task(task).next.unwrap(), start() + TimeDelta::minutes(30));
    let told = bench.worker.owners.0.lock().unwrap().clone();
    assert!(told.len() == 1 && told[0].contains("1 task was put off"), "{told:?}");
    bench.off(Duration::ZERO).await;
}
