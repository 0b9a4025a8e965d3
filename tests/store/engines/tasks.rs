//! Tasks: added within limits, changed, found by when they wake, run, remembered, moved.

use std::slice::from_ref;

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::ids::{ChatId, MessageId, RunId, TaskId, UserId};
use figaro_base::tz::Tz;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::conversation::ConversationId;
use figaro_domain::delivery::PendingDelivery;
use figaro_domain::message::Speaker;
use figaro_domain::schedule::Schedule;
use figaro_domain::task::{
    Cost, DueRun, LEASE, NewTask, PauseReason, Reason, RunStatus, Task, TaskChange, TaskRunResult, TaskState,
};
use figaro_domain::tool::ToolStatus;
use figaro_store::{KEPT_RUNS, Store, TaskAdded, TaskLimits, TurnEnd};

use futures::future::join_all;

use super::{Backend, CHAT, HERE, accept, at, inbound, started, texts, tool_call};

const LIMITS: TaskLimits = TaskLimits { per_chat: 3, per_user: 4 };
const HOUR: TimeDelta = TimeDelta::hours(1);

/// A task of a person in a chat that runs once, so many hours from the start.
fn once(user: i64, chat: ChatId, prompt: &str, hours: i64) -> Task {
    made(user, chat, prompt, Schedule::Once { at: at(0) + HOUR * i32::try_from(hours).unwrap(), wall: false })
}

/// A task that runs every hour.
fn hourly(prompt: &str) -> Task {
    made(4, CHAT, prompt, Schedule::recurring("0 * * * *", Tz::UTC, at(0)).unwrap())
}

fn made(user: i64, chat: ChatId, prompt: &str, schedule: Schedule) -> Task {
    let new = NewTask {
        place: Place { chat, kind: ChatKind::Group, title: None, topic: None },
        creator: Speaker { user: UserId::telegram(user), name: "Ann".to_owned(), username: None },
        language: Some("en".to_owned()),
        prompt: prompt.to_owned(),
        schedule,
        zone: Tz::UTC,
        zone_assumed: false,
    };
    Task::new(new, at(0))
}

async fn kept(store: &Store, tasks: &[&Task]) {
    for task in tasks {
        let limits = TaskLimits { per_chat: 99, per_user: 99 };
        assert_eq!(store.tasks().add(task, limits).await.unwrap(), TaskAdded::New);
    }
}

async fn change(store: &Store, task: TaskId, change: TaskChange, now: DateTime<Utc>) -> Option<Task> {
    store.tasks().change(vec![(task, change)], Vec::new(), now).await.unwrap().remove(0)
}

/// Leases what is due then.
async fn leased(store: &Store, task: &Task) -> (RunId, Task) {
    let (run, due) = (RunId::new(), task.next.unwrap());
    let lease = TaskChange::Lease(run, DueRun { at: due, attempt: 1, late: false });
    (run, change(store, task.id, lease, due).await.unwrap())
}

fn names(tasks: &[Task]) -> Vec<&str> {
    tasks.iter().map(|task| task.prompt.as_str()).collect()
}

fn failed(again: bool) -> TaskRunResult {
    TaskRunResult::Failed { error: Reason::Refused, again, cost: Cost::default() }
}

pub(super) async fn tasks_are_kept_once_and_within_limits(backend: &dyn Backend) {
    let store = backend.open().await;
    let first = once(4, CHAT, "first", 1);
    assert_eq!(store.tasks().add(&first, LIMITS).await.unwrap(), TaskAdded::New);
    let again = once(5, CHAT, "first", 1);
    assert_eq!(store.tasks().add(&again, LIMITS).await.unwrap(), TaskAdded::Already(first.id));
    let elsewhere = ChatId(CHAT.0 + 1);
    assert_eq!(store.tasks().add(&once(4, elsewhere, "first", 1), LIMITS).await.unwrap(), TaskAdded::New);
    for (prompt, hours, wanted) in
        [("first", 2, TaskAdded::New), ("third", 1, TaskAdded::New), ("fourth", 1, TaskAdded::ChatFull)]
    {
        assert_eq!(
            store.tasks().add(&once(4, CHAT, prompt, hours), LIMITS).await.unwrap(),
            wanted,
            "{prompt}"
        );
    }
    let full = once(4, elsewhere, "fifth", 1);
    assert_eq!(store.tasks().add(&full, LIMITS).await.unwrap(), TaskAdded::UserFull);
    assert_eq!(store.tasks().add(&once(5, elsewhere, "sixth", 1), LIMITS).await.unwrap(), TaskAdded::New);

    // What does not run any more takes no place, neither of the chat's nor of the person's, and is no same task.
    let store = backend.reopen(store).await;
    assert_eq!(store.tasks().find(first.id).unwrap().as_ref(), Some(&first));
    let mut of_chat = store.tasks().of_chat(CHAT).unwrap();
    assert!(of_chat.is_sorted_by_key(|task| task.id), "oldest first");
    of_chat.sort_by(|one, other| one.prompt.cmp(&other.prompt));
    assert_eq!(names(&of_chat), ["first", "first", "third"]);
    change(&store, first.id, TaskChange::Cancel, at(1)).await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.tasks().add(&once(4, CHAT, "first", 1), LIMITS).await.unwrap(), TaskAdded::New);
    assert_eq!(store.tasks().add(&once(4, CHAT, "fourth", 1), LIMITS).await.unwrap(), TaskAdded::ChatFull);
    assert_eq!(store.tasks().add(&full, LIMITS).await.unwrap(), TaskAdded::UserFull);
}

pub(super) async fn of_many_that_are_added_at_once_only_so_many_are(backend: &dyn Backend) {
    let store = backend.open().await;
    let tasks: Vec<Task> = (0..12).map(|n| once(4, CHAT, &format!("task {n}"), 1)).collect();
    let stored = store.tasks();
    let adding = tasks.iter().map(|task| stored.add(task, LIMITS));
    let added =
        join_all(adding).await.into_iter().filter(|one| *one.as_ref().unwrap() == TaskAdded::New).count();
    assert_eq!((added, store.tasks().of_chat(CHAT).unwrap().len()), (3, 3));
}

pub(super) async fn a_change_is_made_if_it_fits_and_takes_its_words_along(backend: &dyn Backend) {
    let store = backend.open().await;
    let (one, other) = (once(4, CHAT, "one", 1), once(4, CHAT, "other", 2));
    kept(&store, &[&one, &other]).await;
    let notice = |words: &str| PendingDelivery::new(RunId::new(), one.place.clone(), words.to_owned(), at(1));
    let changes = vec![
        (other.id, TaskChange::Pause(PauseReason::Person)),
        (TaskId::new(), TaskChange::Cancel),
        (one.id, TaskChange::Resume),
    ];
    let told = notice("paused");
    let changed = store.tasks().change(changes, vec![told.clone()], at(1)).await.unwrap();
    assert_eq!(
        changed.iter().map(|task| task.as_ref().map(|task| task.prompt.as_str())).collect::<Vec<_>>(),
        [Some("other"), None, None]
    );
    let nothing = store
        .tasks()
        .change(vec![(one.id, TaskChange::Resume)], vec![notice("nothing")], at(2))
        .await
        .unwrap();
    assert_eq!(nothing, [None]);
    let store = backend.reopen(store).await;
    assert_eq!(store.tasks().find(one.id).unwrap(), Some(one));
    assert_eq!(store.tasks().find(other.id).unwrap(), changed[0]);
    assert_eq!(changed[0].as_ref().unwrap().state, TaskState::Paused(PauseReason::Person));
    assert_eq!(store.outbox().deliveries().unwrap(), [told], "what fits nothing says nothing");
}

pub(super) async fn tasks_are_found_by_when_they_wake(backend: &dyn Backend) {
    let store = backend.open().await;
    assert_eq!(store.tasks().next_wake(at(-1)).unwrap(), None);
    let tasks = [once(4, CHAT, "3", 3), once(4, CHAT, "1", 1), once(5, ChatId(9), "2", 2)];
    kept(&store, &tasks.each_ref()).await;
    let store = backend.reopen(store).await;
    let due = async |store: &Store, until, limit| {
        let due = store.tasks().due(until, limit).unwrap();
        due.into_iter().map(|task| task.prompt).collect::<Vec<_>>().concat()
    };
    let hour = |hours: i32| at(0) + HOUR * hours;
    assert_eq!(store.tasks().next_wake(at(-1)).unwrap(), Some(hour(1)));
    assert_eq!(due(&store, hour(1) - TimeDelta::milliseconds(1), 9).await, "");
    assert_eq!(due(&store, hour(1), 9).await, "1");
    assert_eq!(due(&store, hour(9), 9).await, "123");
    assert_eq!(due(&store, hour(9), 2).await, "12");

    // One under way is looked after by itself; a paused one never; one that is over when it is forgotten.
    leased(&store, &tasks[1]).await;
    change(&store, tasks[2].id, TaskChange::Pause(PauseReason::Person), hour(1)).await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(names(&store.tasks().leased().unwrap()), ["1"]);
    assert_eq!(store.tasks().next_wake(at(-1)).unwrap(), Some(hour(3)));
    assert_eq!(due(&store, hour(9), 9).await, "3");
    change(&store, tasks[0].id, TaskChange::Cancel, hour(2)).await.unwrap();
    let renewed = store.tasks().find(tasks[1].id).unwrap().unwrap().lease.unwrap().run;
    let take_up = |begun| TaskChange::TakeUp { run: renewed, late: true, begun };
    change(&store, tasks[1].id, take_up(false), hour(1)).await.unwrap();
    change(&store, tasks[1].id, take_up(true), hour(2)).await.unwrap();
    let lease = store.tasks().find(tasks[1].id).unwrap().unwrap().lease.unwrap();
    assert_eq!((lease.until, lease.late, lease.taken_up), (hour(2) + LEASE, true, 1));
    change(&store, tasks[1].id, TaskChange::Settle(renewed, TaskRunResult::Delivered(None)), hour(2))
        .await
        .unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.tasks().leased().unwrap(), []);
    assert_eq!(store.tasks().next_wake(at(-1)).unwrap(), None, "what is over does not wake");
}

pub(super) async fn the_last_runs_are_kept_and_all_is_forgotten_together(backend: &dyn Backend) {
    let store = backend.open().await;
    let (busy, other) = (hourly("busy"), hourly("other"));
    kept(&store, &[&busy, &other]).await;
    let mut task = busy.clone();
    let rounds = i64::from(KEPT_RUNS) + 3;
    for round in 1..=rounds {
        let (run, lease) = leased(&store, &task).await;
        let end = lease.lease.unwrap().due + TimeDelta::seconds(round);
        let ended = TaskRunResult::Delivered(Some(MessageId(round)));
        task = change(&store, busy.id, TaskChange::Settle(run, ended), end).await.unwrap();
    }
    let (run, _) = leased(&store, &other).await;
    change(&store, other.id, TaskChange::Settle(run, failed(false)), at(9_999)).await.unwrap();
    let store = backend.reopen(store).await;
    let runs = store.tasks().runs(busy.id).unwrap();
    let messages: Vec<i64> = runs.iter().filter_map(|run| Some(run.message?.0)).collect();
    assert_eq!(messages, (4..=rounds).rev().collect::<Vec<_>>(), "the newest first");
    assert_eq!(store.tasks().find(busy.id).unwrap().unwrap().last.as_ref(), runs.first());
    let [run] = store.tasks().runs(other.id).unwrap().try_into().unwrap();
    assert_eq!((run.status, run.error), (RunStatus::Failed, Some(Reason::Refused)));

    let over = at(99_999_999);
    assert_eq!(store.tasks().forget_ended(over + HOUR).unwrap(), 0, "none has ended");
    change(&store, busy.id, TaskChange::Cancel, over).await.unwrap();
    assert_eq!(store.tasks().forget_ended(over).unwrap(), 0, "kept so long");
    assert_eq!(store.tasks().forget_ended(over + TimeDelta::milliseconds(1)).unwrap(), 1);
    assert_eq!(store.tasks().forget_ended(over + HOUR).unwrap(), 0);
    let store = backend.reopen(store).await;
    assert_eq!(store.tasks().find(busy.id).unwrap(), None);
    assert_eq!(store.tasks().runs(busy.id).unwrap(), []);
    assert_eq!(names(&store.tasks().of_chat(CHAT).unwrap()), ["other"]);
    assert_eq!(names(&store.tasks().due(at(99_999_999), 9).unwrap()), ["other"]);
    assert_eq!(store.tasks().runs(other.id).unwrap().len(), 1);
    let limits = TaskLimits { per_chat: 2, per_user: 2 };
    assert_eq!(store.tasks().add(&hourly("new"), limits).await.unwrap(), TaskAdded::New, "its place is free");
}

pub(super) async fn the_turn_of_a_task_begins_once(backend: &dyn Backend) {
    let store = backend.open().await;
    let task = once(4, CHAT, "Water the plants", 1);
    kept(&store, from_ref(&&task)).await;
    assert_eq!(
        store.tasks().begin(task.id, RunId::new(), HERE, at(0)).await.unwrap(),
        None,
        "nobody leased it"
    );
    let (run, lease) = leased(&store, &task).await;
    assert_eq!(
        store.tasks().begin(task.id, RunId::new(), HERE, at(3600)).await.unwrap(),
        None,
        "not by this one"
    );
    // A question that was being answered gives way, and is asked again.
    accept(&store, &[7], 0).await;
    let before = store.conversations().begin_turn(HERE, &[inbound(7, "why?")], at(0)).unwrap();
    let (active, begun) = store.tasks().begin(task.id, run, HERE, at(3600)).await.unwrap().unwrap();
    assert_eq!((active.id, active.task, active.conversation), (run, Some(task.id), HERE));
    assert_eq!((active.session, active.origins.len()), (before.session, 0));
    assert_eq!((begun.id, begun.lease), (task.id, lease.lease));
    let asked = store.conversations().question(&active).unwrap();
    let said: Vec<(&str, Option<TaskId>)> = asked.iter().map(|m| (m.text.as_str(), m.task)).collect();
    assert_eq!(said, [("Water the plants", Some(task.id))]);

    let store = backend.reopen(store).await;
    assert_eq!(store.inbox().unsettled().unwrap().len(), 1);
    assert_eq!(store.conversations().active_runs().unwrap(), from_ref(&active));
    let again = store.tasks().begin(task.id, run, HERE, at(3700)).await.unwrap();
    assert_eq!(again, Some((active.clone(), begun)), "as it is");
    assert_eq!(texts(&store, active.session).await, ["why?", "Water the plants"]);

    // Cancelled meanwhile, it still ends as what it is: a run under way.
    change(&store, task.id, TaskChange::Cancel, at(3700)).await.unwrap();
    let change = TaskChange::Settle(run, TaskRunResult::Silent(Cost::default()));
    let end = TurnEnd { task: Some((change, at(3701))), ..TurnEnd::default() };
    store.conversations().end_turn(&active, end).await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(store.tasks().begin(task.id, run, HERE, at(3800)).await.unwrap(), None, "it has ended");
    let ended = store.tasks().find(task.id).unwrap().unwrap();
    assert_eq!((ended.lease, ended.state), (None, TaskState::Cancelled(at(3700))));
    assert_eq!(ended.last.unwrap().status, RunStatus::Silent);
    assert!(lease.lease.is_some() && store.conversations().active_runs().unwrap().is_empty());
}

pub(super) async fn an_answered_run_is_not_begun_again_and_a_failed_one_leaves_no_words(
    backend: &dyn Backend,
) {
    let store = backend.open().await;
    let task = hourly("Sing");
    kept(&store, from_ref(&&task)).await;
    let (run, _) = leased(&store, &task).await;
    let (active, _) = store.tasks().begin(task.id, run, HERE, at(3600)).await.unwrap().unwrap();
    let settle = TaskChange::Settle(run, failed(true));
    let end = TurnEnd { task: Some((settle, at(3601))), ..TurnEnd::default() };
    store.conversations().end_turn(&active, end).await.unwrap();
    assert_eq!(texts(&store, active.session).await, [""; 0], "it is tried again");
    let retry = store.tasks().find(task.id).unwrap().unwrap().retry.unwrap();
    assert_eq!(store.tasks().next_wake(at(-1)).unwrap(), Some(retry.at));

    let second = RunId::new();
    let lease = TaskChange::Lease(second, DueRun { at: retry.due, attempt: retry.attempt, late: false });
    change(&store, task.id, lease, retry.at).await.unwrap();
    let (active, _) = store.tasks().begin(task.id, second, HERE, retry.at).await.unwrap().unwrap();
    let answered = TaskChange::Answered(second, Cost::default());
    let end = TurnEnd { task: Some((answered, retry.at)), ..TurnEnd::default() };
    store.conversations().end_turn(&active, end).await.unwrap();
    let store = backend.reopen(store).await;
    assert_eq!(
        store.tasks().begin(task.id, second, HERE, retry.at).await.unwrap(),
        None,
        "only its delivery is missing"
    );
    assert_eq!(names(&store.tasks().leased().unwrap()), ["Sing"]);
}

pub(super) async fn a_run_that_gives_way_is_not_made_again_if_it_had_acted(backend: &dyn Backend) {
    let store = backend.open().await;
    for acted in [false, true] {
        let chat = ChatId(if acted { 70 } else { 71 });
        let task = once(4, chat, "Sing", 1);
        kept(&store, from_ref(&&task)).await;
        let (run, lease) = leased(&store, &task).await;
        let conversation = task.place.conversation();
        let (turn, _) = store.tasks().begin(task.id, run, conversation, at(3600)).await.unwrap().unwrap();
        if acted {
            started(&store.conversations(), &turn, &[tool_call(run, "call_1", ToolStatus::Running)]).await;
        }
        // A question comes in before anybody goes on with the run.
        store.conversations().begin_turn(conversation, &[inbound(7, "why?")], at(3601)).unwrap();
        let left = store.tasks().find(task.id).unwrap().unwrap();
        let begun = store.tasks().begin(task.id, run, conversation, at(3602)).await.unwrap();
        if acted {
            assert_eq!((left.lease, begun), (None, None));
            assert_eq!(left.last.unwrap().error, Some(Reason::Interrupted));
        } else {
            assert_eq!((left.lease, begun.map(|(active, _)| active.id)), (lease.lease, Some(run)));
        }
    }
}

pub(super) async fn a_group_that_moves_takes_its_tasks_along(backend: &dyn Backend) {
    let store = backend.open().await;
    let (old, other) = (ChatId(-5), ChatId(-4));
    let [quiet, running, theirs] =
        [once(4, old, "quiet", 2), once(4, old, "running", 1), once(4, other, "theirs", 3)];
    kept(&store, &[&quiet, &running, &theirs]).await;
    let (run, lease) = leased(&store, &running).await;
    let (active, _) =
        store.tasks().begin(running.id, run, running.place.conversation(), at(3600)).await.unwrap().unwrap();
    store.settings().migrate_chat(old, CHAT).await.unwrap();
    let mut store = backend.reopen(store).await;
    for _ in 0..2 {
        assert_eq!(store.tasks().of_chat(old).unwrap(), []);
        let mut moved = store.tasks().of_chat(CHAT).unwrap();
        // Ids of the same millisecond are in no order.
        moved.sort_by(|one, other| one.prompt.cmp(&other.prompt));
        assert_eq!(names(&moved), ["quiet", "running"]);
        assert!(moved.iter().all(|task| task.place.chat == CHAT));
        assert_eq!(moved[1].lease, lease.lease);
        assert_eq!(names(&store.tasks().leased().unwrap()), ["running"]);
        assert_eq!(names(&store.tasks().due(at(99_999), 9).unwrap()), ["quiet", "theirs"]);
        assert_eq!(store.tasks().of_chat(other).unwrap(), from_ref(&theirs));
        store.settings().migrate_chat(old, CHAT).await.unwrap();
        store = backend.reopen(store).await;
    }
    // Its run goes on where it began, and ends there.
    let again = store.tasks().begin(running.id, run, HERE, at(3700)).await.unwrap().map(|(run, _)| run);
    let was = ConversationId { chat: old, topic: None };
    assert_eq!((active.conversation, again.as_ref().map(|run| run.id)), (was, Some(run)));
    let settle = TaskChange::Settle(run, TaskRunResult::Silent(Cost::default()));
    change(&store, running.id, settle, at(3700)).await.unwrap();
    assert_eq!(store.tasks().leased().unwrap(), []);
    let full = TaskLimits { per_chat: 1, per_user: 9 };
    assert_eq!(store.tasks().add(&once(4, CHAT, "new", 1), full).await.unwrap(), TaskAdded::ChatFull);
    assert_eq!(store.tasks().add(&once(4, old, "new", 1), full).await.unwrap(), TaskAdded::New);
}
