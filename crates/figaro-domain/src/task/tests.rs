//! The transitions, one after the other.

use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use figaro_base::tz::Tz;
use proptest::prelude::*;

use super::change::NotNow;
use super::*;
use crate::chat::{ChatKind, Place};
use figaro_base::ids::{ChatId, UserId};

fn at(hour: u32, minute: u32) -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 23, hour, minute, 0).unwrap()
}

fn task(schedule: &str, now: DateTime<Utc>) -> Task {
    let schedule = Schedule::recurring(schedule, Tz::UTC, now)
        .or_else(|_| Schedule::once(schedule, Tz::UTC, now))
        .unwrap();
    let place = Place { chat: ChatId(1), kind: ChatKind::Private, title: None, topic: None };
    let creator = Speaker { user: UserId::telegram(1), name: "Ann".to_owned(), username: None };
    let prompt = "Say hello".to_owned();
    let (language, zone, zone_assumed) = (None, Tz::UTC, false);
    Task::new(NewTask { place, creator, language, prompt, schedule, zone, zone_assumed }, now)
}

fn due(task: &Task, now: DateTime<Utc>, awake: DateTime<Utc>) -> DueRun {
    match task.wake(now, awake) {
        Wake::Run(due) => due,
        other => panic!("{other:?}"),
    }
}

/// Leases what is due.
fn leased(task: &mut Task, now: DateTime<Utc>) -> RunId {
    let run = RunId::new();
    let due = due(task, now, now);
    task.apply(TaskChange::Lease(run, due), now).unwrap();
    run
}

fn failed(error: Reason, again: bool) -> TaskRunResult {
    TaskRunResult::Failed { error, again, cost: Cost::default() }
}

#[test]
fn a_due_time_is_leased_once_and_moves_the_task_on() {
    let mut task = task("0 9 * * *", at(8, 0));
    assert_eq!(task.wake(at(8, 59), at(8, 0)), Wake::Nothing);
    let due = due(&task, at(9, 0), at(8, 0));
    assert_eq!((due.at, due.attempt, due.late), (at(9, 0), 1, false));
    let run = RunId::new();
    task.apply(TaskChange::Lease(run, due), at(9, 0)).unwrap();
    assert_eq!(task.next, Some(at(9, 0) + TimeDelta::days(1)));
    assert_eq!(task.apply(TaskChange::Lease(RunId::new(), due), at(9, 0)), Err(NotNow));
    assert_eq!(task.wake(at(9, 1), at(8, 0)), Wake::Nothing);
    let entry =
        task.apply(TaskChange::Settle(run, TaskRunResult::Delivered(Some(MessageId(7)))), at(9, 1)).unwrap();
    let entry = entry.unwrap();
    assert_eq!(
        (entry.due, entry.status, entry.message),
        (at(9, 0), RunStatus::Delivered, Some(MessageId(7)))
    );
    assert_eq!(task.apply(TaskChange::Settle(run, TaskRunResult::Delivered(None)), at(9, 2)), Err(NotNow));
    assert_eq!(task.wake(at(9, 2), at(8, 0)), Wake::Nothing);
}

#[test]
fn a_single_time_ends_with_its_run_and_never_wakes_again() {
    let mut task = task("in 20m", at(8, 0));
    let run = leased(&mut task, at(8, 20));
    task.apply(TaskChange::Settle(run, TaskRunResult::Delivered(None)), at(8, 21)).unwrap();
    assert_eq!(task.state, TaskState::Done(at(8, 21)));
    assert!(!task.is_live());
    assert_eq!(task.wake(at(8, 22), at(8, 0)), Wake::Nothing);
    assert_eq!((task.wakes_at(), task.ended_at()), (None, Some(at(8, 21))));
}

#[test]
fn a_missed_run_is_made_up_for_reported_left_out_or_asked_about() {
    let day = TimeDelta::days(1);
    // What the bot missed, and when it is back; the daily run has six hours of grace.
    let cases = [
        (IfMissed::RunOnce, at(9, 1), Wake::Run(DueRun { at: at(9, 0), attempt: 1, late: false })),
        (IfMissed::RunOnce, at(13, 0), Wake::Run(DueRun { at: at(9, 0), attempt: 1, late: true })),
        (IfMissed::RunOnce, at(15, 30), Wake::Miss(at(9, 0), Missed::Report)),
        (
            IfMissed::RunOnce,
            at(9, 30) + day * 4,
            Wake::Run(DueRun { at: at(9, 0) + day * 4, attempt: 1, late: true }),
        ),
        (IfMissed::Skip, at(9, 1), Wake::Run(DueRun { at: at(9, 0), attempt: 1, late: false })),
        (IfMissed::Skip, at(9, 30), Wake::Miss(at(9, 0), Missed::Skip)),
        (IfMissed::Ask, at(9, 30), Wake::Miss(at(9, 0), Missed::Ask)),
    ];
    for (policy, back, wanted) in cases {
        let mut task = task("0 9 * * *", at(8, 0));
        task.if_missed = policy;
        assert_eq!(task.wake(back, back), wanted, "{policy:?} {back}");
        // The same lateness is no miss for a bot that was there and busy.
        assert!(
            matches!(task.wake(back, at(8, 30)), Wake::Run(DueRun { late: false, .. })),
            "{policy:?} {back}"
        );
    }
}

#[test]
fn missed_runs_move_on_and_say_what_they_are_to_say() {
    let back = at(20, 0);
    let tomorrow = Some(at(9, 0) + TimeDelta::days(1));
    let after = |policy, schedule| {
        let mut task = task(schedule, at(8, 0));
        task.if_missed = policy;
        let Wake::Miss(due, missed) = task.wake(back, back) else { panic!("not missed") };
        let entry = task.apply(TaskChange::Miss(due, missed), back).unwrap();
        (task, entry.map(|entry| entry.status))
    };
    let (task, status) = after(IfMissed::RunOnce, "0 9 * * *");
    assert_eq!(
        (task.next, &task.tell, status),
        (tomorrow, &Some(Tell::Missed(at(9, 0))), Some(RunStatus::Missed))
    );
    let (task, status) = after(IfMissed::Skip, "0 9 * * *");
    assert_eq!((task.next, &task.tell, status), (tomorrow, &None, Some(RunStatus::Skipped)));
    let (task, status) = after(IfMissed::Skip, "2026-11-23T09:00Z");
    assert_eq!((task.state, status), (TaskState::Done(back), Some(RunStatus::Skipped)));
    let (mut task, status) = after(IfMissed::Ask, "2026-11-23T09:00Z");
    assert_eq!((task.state, task.asked, status), (TaskState::Active, Some(at(9, 0)), None));
    task.apply(TaskChange::Told, back).unwrap();
    assert_eq!(task.wake(back, back), Wake::Nothing, "it waits for a person");
    let mut skipped = task.clone();
    skipped.apply(TaskChange::Skip, at(20, 5)).unwrap();
    assert_eq!(skipped.state, TaskState::Done(at(20, 5)));
    assert_eq!(skipped.apply(TaskChange::Skip, at(20, 6)), Err(NotNow));
    let run = RunId::new();
    task.apply(TaskChange::RunNow(run), at(20, 5)).unwrap();
    assert_eq!(task.lease.unwrap().due, at(9, 0));
    task.apply(TaskChange::Settle(run, TaskRunResult::Delivered(None)), at(20, 6)).unwrap();
    assert_eq!(task.state, TaskState::Done(at(20, 6)));
}

#[test]
fn a_failed_run_is_tried_again_then_told_and_the_fifth_in_a_row_pauses() {
    let mut task = task("0 9 * * *", at(8, 0));
    let mut now = at(9, 0);
    for day in 1..=MAX_FAILURES {
        for pause in PAUSES {
            let run = leased(&mut task, now);
            assert_eq!(task.apply(TaskChange::Settle(run, failed(Reason::Busy, true)), now), Ok(None));
            assert_eq!((task.wakes_at(), &task.tell), (Some(now + pause), &None));
            now += pause;
        }
        let run = leased(&mut task, now);
        assert_eq!(task.lease.unwrap().attempt, 3);
        let entry = task.apply(TaskChange::Settle(run, failed(Reason::Busy, true)), now).unwrap().unwrap();
        assert_eq!((entry.status, entry.attempts, entry.error), (RunStatus::Failed, 3, Some(Reason::Busy)));
        let tell = match day {
            MAX_FAILURES => Tell::Paused(Reason::Busy),
            _ => Tell::Failed(Reason::Busy),
        };
        assert_eq!(task.tell, Some(tell));
        task.apply(TaskChange::Told, now).unwrap();
        now = at(9, 0) + TimeDelta::days(i64::from(day));
    }
    assert_eq!(task.state, TaskState::Paused(PauseReason::Failures));
    assert_eq!(task.wakes_at(), None);
    task.apply(TaskChange::Resume, now).unwrap();
    assert_eq!((task.failures, task.state), (0, TaskState::Active));
    assert!(task.next.unwrap() > now);
}

#[test]
fn what_has_acted_or_will_not_get_better_is_not_tried_again() {
    let mut task = task("0 9 * * *", at(8, 0));
    let run = leased(&mut task, at(9, 0));
    task.apply(TaskChange::Settle(run, failed(Reason::Model, false)), at(9, 0)).unwrap();
    assert_eq!((task.retry, task.failures), (None, 1));
    // Nor where the next due time comes first.
    let mut often = super::tests::task("* * * * *", at(8, 0));
    let run = leased(&mut often, at(8, 1));
    often.apply(TaskChange::Settle(run, failed(Reason::Busy, true)), at(8, 1)).unwrap();
    assert_eq!(often.retry, None);
}

#[test]
fn pausing_and_cancelling_keep_what_is_under_way_and_can_be_taken_back() {
    let mut task = task("0 9 * * *", at(8, 0));
    let run = leased(&mut task, at(9, 0));
    task.apply(TaskChange::Pause(PauseReason::Person), at(9, 0)).unwrap();
    assert_eq!(task.apply(TaskChange::Pause(PauseReason::Removed), at(9, 0)), Err(NotNow));
    task.apply(TaskChange::Settle(run, failed(Reason::Busy, true)), at(9, 1)).unwrap();
    assert_eq!((task.state, task.retry), (TaskState::Paused(PauseReason::Person), None));
    task.apply(TaskChange::Cancel, at(9, 2)).unwrap();
    assert_eq!(task.apply(TaskChange::Cancel, at(9, 2)), Err(NotNow));
    assert!(!task.is_live());
    task.apply(TaskChange::Revive, at(9, 3)).unwrap();
    assert_eq!(task.state, TaskState::Paused(PauseReason::Person));
}

#[test]
fn a_single_time_that_is_over_by_the_clocks_of_another_zone_is_not_lost() {
    let now = at(13, 0);
    let moved = |zone| {
        let mut task = task("2026-11-23T14:00", now);
        task.apply(TaskChange::edit(TaskEdit { zone: Some(zone), ..TaskEdit::default() }), now).unwrap();
        (task.state, task.next, task.zone)
    };
    assert_eq!(
        moved("America/Sao_Paulo".parse::<Tz>().unwrap()),
        (TaskState::Active, Some(at(17, 0)), "America/Sao_Paulo".parse::<Tz>().unwrap()),
        "the same time by the clock"
    );
    assert_eq!(
        moved("Asia/Tokyo".parse::<Tz>().unwrap()),
        (TaskState::Active, Some(at(14, 0)), "Asia/Tokyo".parse::<Tz>().unwrap()),
        "the same instant"
    );
}

#[test]
fn a_paused_task_that_was_cancelled_by_mistake_is_paused_again() {
    let mut task = task("0 9 * * *", at(8, 0));
    task.apply(TaskChange::Pause(PauseReason::Failures), at(8, 1)).unwrap();
    task.apply(TaskChange::Cancel, at(10, 0)).unwrap();
    task.apply(TaskChange::Revive, at(10, 1)).unwrap();
    assert_eq!(task.state, TaskState::Paused(PauseReason::Failures));
    assert_eq!(task.wake(at(10, 1), at(8, 0)), Wake::Nothing, "what passed meanwhile is not run");
    task.apply(TaskChange::Resume, at(10, 2)).unwrap();
    task.apply(TaskChange::Cancel, at(10, 3)).unwrap();
    task.apply(TaskChange::Revive, at(10, 4)).unwrap();
    assert_eq!(task.state, TaskState::Active);
}

#[test]
fn an_edit_gives_new_times_and_a_zone_keeps_those_of_the_clock() {
    let now = at(8, 0);
    let mut task = task("0 9 * * *", now);
    let zone = TaskEdit { zone: Some("Europe/Riga".parse::<Tz>().unwrap()), ..TaskEdit::default() };
    task.apply(TaskChange::edit(zone), now).unwrap();
    assert_eq!(task.next, Some(at(7, 0) + TimeDelta::days(1)));
    let weekly = Schedule::recurring("30 18 * * fri", "Europe/Riga".parse::<Tz>().unwrap(), now).unwrap();
    let edit =
        TaskEdit { schedule: Some((weekly, "Europe/Riga".parse::<Tz>().unwrap())), ..TaskEdit::default() };
    task.apply(TaskChange::edit(edit), now).unwrap();
    assert_eq!(task.next, Some(Utc.with_ymd_and_hms(2026, 11, 27, 16, 30, 0).unwrap()));
}

#[test]
fn a_task_knows_the_turns_that_its_words_are_from_once_each_and_no_others() {
    let (first, second) = (RunId::new(), RunId::new());
    let mut task = task("0 9 * * *", at(9, 0));
    let mut edit = |title: Option<&str>, prompt: Option<&str>, turn: RunId| {
        let (title, prompt) = (title.map(str::to_owned), prompt.map(str::to_owned));
        let edit = TaskEdit { title, prompt, made_in: [turn].into(), ..TaskEdit::default() };
        task.apply(TaskChange::edit(edit), at(9, 0)).unwrap();
        task.made_in.clone()
    };
    assert_eq!(edit(Some("Sing"), None, first), [first].into());
    assert_eq!(edit(Some("Sing"), None, first), [first].into());
    assert_eq!(edit(None, Some("Sing loud."), second), [first, second].into());
    assert_eq!(edit(Some("Dance"), Some("Dance."), second), [second].into());
}

#[test]
fn a_guessed_zone_stays_a_guess_until_somebody_names_one() {
    let riga = "Europe/Riga".parse::<Tz>().unwrap();
    let now = at(8, 0);
    let daily = Schedule::recurring("0 9 * * *", riga, now).unwrap();
    let soon = Schedule::once("in 20m", riga, now).unwrap();
    let cases = [
        (TaskEdit { prompt: Some("Sing.".to_owned()), ..TaskEdit::default() }, true),
        (TaskEdit { schedule: Some((daily.clone(), riga)), ..TaskEdit::default() }, true),
        (TaskEdit { schedule: Some((daily.clone(), riga)), zone: Some(riga), ..TaskEdit::default() }, false),
        (TaskEdit { schedule: Some((daily.clone(), Tz::UTC)), ..TaskEdit::default() }, false),
        (TaskEdit { schedule: Some((daily, Tz::UTC)), zone_assumed: true, ..TaskEdit::default() }, true),
        (TaskEdit { schedule: Some((soon, riga)), zone_assumed: true, ..TaskEdit::default() }, false),
        (TaskEdit { zone: Some(riga), ..TaskEdit::default() }, false),
    ];
    for (edit, wanted) in cases {
        let mut task = Task { zone: riga, zone_assumed: true, ..task("0 9 * * *", now) };
        task.apply(TaskChange::edit(edit.clone()), now).unwrap();
        assert_eq!(task.zone_assumed, wanted, "{edit:?}");
    }
}

#[test]
fn a_used_up_budget_is_no_fault_of_the_task_and_told_once() {
    let budget = || Reason::Budget { time: "00:00".to_owned(), zone: "UTC".to_owned() };
    let mut told = Vec::new();
    let mut task = task("*/10 * * * *", at(8, 0));
    for hour in [9, 10, 11, 23] {
        for minute in [0, 10, 20] {
            let now = at(hour, minute);
            let run = leased(&mut task, now);
            let ended = TaskRunResult::Failed { error: budget(), again: false, cost: Cost::default() };
            task.apply(TaskChange::Settle(run, ended), now).unwrap();
            if task.tell.take().is_some() {
                told.push((hour, minute));
            }
        }
    }
    assert_eq!((task.state, task.failures), (TaskState::Active, 0));
    assert_eq!(told, [(9, 0), (23, 0)], "not again and again");
}

#[test]
fn a_single_time_that_passed_while_paused_waits_for_a_word() {
    let mut task = task("2026-11-23T09:00", at(8, 0));
    task.apply(TaskChange::Pause(PauseReason::Person), at(8, 30)).unwrap();
    let later = at(9, 0) + TimeDelta::days(3);
    task.apply(TaskChange::Resume, later).unwrap();
    assert_eq!((task.asked, task.state), (Some(at(9, 0)), TaskState::Active));
    assert_eq!(task.wake(later, at(8, 0)), Wake::Nothing);
    // Nobody answers: it is over.
    let last = at(9, 0) + ASKED_FOR;
    assert_eq!(task.wake(last, last), Wake::Lapse);
    task.apply(TaskChange::Skip, last).unwrap();
    assert_eq!(task.state, TaskState::Done(last));
}

#[test]
fn what_was_to_be_tried_again_is_not_lost_by_a_pause_a_cancel_or_an_edit() {
    let failed_once = || {
        let mut task = task("2026-11-23T09:00", at(8, 0));
        let run = leased(&mut task, at(9, 0));
        task.apply(TaskChange::Settle(run, failed(Reason::Busy, true)), at(9, 0)).unwrap();
        assert_eq!(task.retry.unwrap().at, at(9, 1));
        task
    };
    let mut paused = failed_once();
    paused.apply(TaskChange::Pause(PauseReason::Person), at(9, 0)).unwrap();
    paused.apply(TaskChange::Resume, at(9, 30)).unwrap();
    assert_eq!((paused.asked, paused.state), (Some(at(9, 0)), TaskState::Active));
    let mut cancelled = failed_once();
    cancelled.apply(TaskChange::Cancel, at(9, 0)).unwrap();
    cancelled.apply(TaskChange::Revive, at(9, 0)).unwrap();
    assert!(matches!(cancelled.wake(at(9, 1), at(8, 0)), Wake::Run(DueRun { attempt: 2, .. })));
    let mut moved = failed_once();
    let edit = TaskEdit { zone: Some("America/Sao_Paulo".parse::<Tz>().unwrap()), ..TaskEdit::default() };
    moved.apply(TaskChange::edit(edit), at(9, 0)).unwrap();
    assert!(matches!(moved.wake(at(9, 1), at(8, 0)), Wake::Run(DueRun { attempt: 2, .. })));
    // After an absence it is as late as any other run.
    let waits = failed_once();
    assert_eq!(waits.wake(at(9, 20), at(9, 20)), Wake::Run(DueRun { at: at(9, 0), attempt: 2, late: true }));
    let late = at(9, 0) + TimeDelta::hours(42);
    assert_eq!(waits.wake(late, late), Wake::Miss(at(9, 0), Missed::Report));
    let mut missed = waits;
    missed.apply(TaskChange::Miss(at(9, 0), Missed::Report), late).unwrap();
    assert_eq!((missed.state, &missed.tell), (TaskState::Done(late), &Some(Tell::Missed(at(9, 0)))));
}

#[test]
fn a_due_time_that_waits_its_turn_is_not_lost_to_another_zone() {
    let mut task = task("0 9 * * *", at(8, 0));
    let edit = TaskEdit { zone: Some("Europe/Riga".parse::<Tz>().unwrap()), ..TaskEdit::default() };
    task.apply(TaskChange::edit(edit), at(9, 0)).unwrap();
    assert_eq!(task.next, Some(at(9, 0)));
}

#[test]
fn a_run_takes_what_all_its_tries_took() {
    let mut task = task("0 9 * * *", at(8, 0));
    let cost = |nano_usd| Cost { nano_usd: Some(nano_usd), ..Cost::default() };
    let run = leased(&mut task, at(9, 0));
    let failed = TaskRunResult::Failed { error: Reason::Busy, again: true, cost: cost(2) };
    task.apply(TaskChange::Settle(run, failed), at(9, 0)).unwrap();
    let run = leased(&mut task, at(9, 1));
    task.apply(TaskChange::Answered(run, cost(3)), at(9, 1)).unwrap();
    task.apply(TaskChange::Settle(run, TaskRunResult::Delivered(None)), at(9, 2)).unwrap();
    assert_eq!(task.last.unwrap().cost, cost(5));
}

#[derive(Debug, Clone)]
enum Step {
    Pass(i64),
    Down(i64),
    Do(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (1..400_i64).prop_map(Step::Pass),
        (1..4000_i64).prop_map(Step::Down),
        (0..12_u8).prop_map(Step::Do)
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    /// Whatever happens, no due time is begun twice but for its further tries, none that nobody wanted is run, and a
    /// task that is saved and loaded goes on the same.
    #[test]
    fn nothing_runs_twice_for_one_due_time(steps in steps(), policy in 0..3_usize, hourly: bool) {
        let mut now = at(0, 0);
        let mut awake = now;
        let mut task = task(if hourly { "0 * * * *" } else { "0 9 * * *" }, now);
        task.if_missed = IfMissed::ALL[policy];
        let mut begun = std::collections::HashSet::new();
        for step in steps {
            match step {
                Step::Pass(minutes) => now += TimeDelta::minutes(minutes),
                Step::Down(minutes) => {
                    now += TimeDelta::minutes(minutes);
                    awake = now;
                    task = serde_json::from_str(&serde_json::to_string(&task).unwrap()).unwrap();
                }
                Step::Do(what) => {
                    let run = task.lease.map_or_else(RunId::new, |lease| lease.run);
                    let change = match what {
                        0 => TaskChange::Pause(PauseReason::Person),
                        1 => TaskChange::Resume,
                        2 => TaskChange::Settle(run, TaskRunResult::Delivered(None)),
                        3 => TaskChange::Settle(run, failed(Reason::Busy, true)),
                        4 => TaskChange::Settle(run, failed(Reason::Busy, false)),
                        5 => TaskChange::RunNow(run),
                        6 => TaskChange::TakeUp { run, late: false, begun: true },
                        7 => TaskChange::Skip,
                        8 => TaskChange::Told,
                        9 => TaskChange::Cancel,
                        10 => TaskChange::Revive,
                        _ => TaskChange::edit(TaskEdit::default()),
                    };
                    let before = task.clone();
                    if task.apply(change, now).is_err() {
                        prop_assert_eq!(&before, &task);
                    }
                }
            }
            loop { match task.wake(now, awake) {
                Wake::Run(due) => {
                    prop_assert!(due.at <= now);
                    prop_assert!(begun.insert((due.at, due.attempt)), "{:?} twice", due);
                    task.apply(TaskChange::Lease(RunId::new(), due), now).unwrap();
                }
                Wake::Miss(at, missed) => {
                    prop_assert!(at < awake);
                    task.apply(TaskChange::Miss(at, missed), now).unwrap();
                    prop_assert!(begun.insert((at, 0)));
                }
                Wake::Tell => drop(task.apply(TaskChange::Told, now)),
                Wake::Lapse => drop(task.apply(TaskChange::Skip, now)),
                Wake::Nothing => break,
            } }
            let waits = task.next.is_none_or(|next| next > now) || task.lease.is_some() || task.retry.is_some();
            prop_assert!(waits || task.state != TaskState::Active);
        }
    }
}

#[test]
fn another_agent_is_not_let_do_what_was_approved_for_the_one_before() {
    let mut task = task("0 9 * * *", at(8, 0));
    let edit = |agent: Option<&str>, standing: Option<StandingChange>| {
        let agent = agent.map(ToOwned::to_owned);
        TaskChange::edit(TaskEdit { agent, standing, ..TaskEdit::default() })
    };
    let rule = StandingRule {
        method: "sendMessage".to_owned(),
        chat: ChatId(-5),
        times: 1,
        rule: "other chats".to_owned(),
        by: task.creator.user.clone(),
    };
    let permit = StandingChange::Permit { rule: rule.clone(), as_of: task.updated_at };
    task.apply(edit(None, Some(permit)), at(8, 1)).unwrap();
    task.apply(edit(Some(SCHEDULED_AGENT), None), at(8, 2)).unwrap();
    assert_eq!((&task.standing, task.own_agent()), (&vec![rule], None), "nothing was changed");
    task.apply(edit(Some("tutor"), None), at(8, 3)).unwrap();
    assert_eq!((&task.standing, task.own_agent()), (&Vec::new(), Some("tutor")));
    assert!(!task.says_the_same(&Task { agent: SCHEDULED_AGENT.to_owned(), ..task.clone() }));
}
