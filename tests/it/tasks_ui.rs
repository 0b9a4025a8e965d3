//! `/tasks` and the cards of tasks: what people see of what runs by itself, and what its buttons do.

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use figaro_base::clock::Clock;
use figaro_base::ids::{ChatId, RunId, TaskId, UserId};
use figaro_base::tz::Tz;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::message::Speaker;
use figaro_domain::schedule::Schedule;
use figaro_domain::task::{
    Cost, DueRun, IfMissed, NewTask, PauseReason, Reason, Task, TaskChange, TaskRunResult, TaskState,
};
use figaro_offline::model::{Gate, ModelReply};
use figaro_offline::telegram::{MemberStatus, PlannedFailure, Say, TelegramView};
use figaro_store::{TaskAdded, TaskLimits};
use serde_json::{Value, json};

use crate::support::calls::says;
use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::{ANN, BOB, TIMEOUT, World};

const RUI: i64 = 13;
const GONE: &str = "This is no longer up to date.";

fn now() -> DateTime<Utc> {
    Clock::system().now()
}

fn place(chat: i64) -> Place {
    let (kind, title) = match chat {
        TEAM => (ChatKind::Group, Some("Team".to_owned())),
        _ => (ChatKind::Private, None),
    };
    Place { chat: ChatId(chat), kind, title, topic: None }
}

/// A task of someone's that is due every day, in so many hours for the first time.
fn daily(by: i64, chat: i64, prompt: &str, hours: i64) -> Task {
    let hour = (now() + TimeDelta::hours(hours)).hour();
    task(by, chat, prompt, &format!("0 {hour} * * *"), now())
}

pub fn task(by: i64, chat: i64, prompt: &str, when: &str, now: DateTime<Utc>) -> Task {
    let schedule = Schedule::recurring(when, Tz::UTC, now).or_else(|_| Schedule::once(when, Tz::UTC, now));
    let name = if by == ANN { "Ann" } else { "Bob" };
    let new = NewTask {
        place: place(chat),
        creator: Speaker { user: UserId::telegram(by), name: name.to_owned(), username: None },
        language: Some("en".to_owned()),
        prompt: prompt.to_owned(),
        schedule: schedule.unwrap(),
        zone: Tz::UTC,
        zone_assumed: false,
    };
    Task::new(new, now)
}

impl World {
    pub async fn keep(&self, tasks: &[&Task]) {
        let store = self.stored().await;
        for task in tasks {
            let limits = TaskLimits { per_chat: 100, per_user: 100 };
            assert_eq!(store.tasks().add(task, limits).await.unwrap(), TaskAdded::New);
        }
    }

    async fn change(&self, task: TaskId, change: TaskChange, now: DateTime<Utc>) {
        let changed =
            self.stored().await.tasks().change(vec![(task, change)], Vec::new(), now).await.unwrap();
        assert!(changed[0].is_some());
    }

    /// The card of a task, opened from the list.
    pub async fn opened(&self, user: i64, chat: i64, title: &str) -> Value {
        let list = self.told(user, chat, "/tasks").await;
        let found = buttons(&list).into_iter().find(|(label, _)| label.ends_with(title));
        let (_, data) = found.unwrap_or_else(|| panic!("no {title}: {:?}", labels(&list)));
        assert_eq!(self.press_data(user, &list, &data).await, "");
        self.shows(chat, number(&list["message_id"]), &format!("⏰ {title} — ")).await
    }

    /// The card once it has these words and this button.
    pub async fn card(&self, card: &Value, words: &str, label: &str) -> Value {
        let (chat, id) = (number(&card["chat"]["id"]), &card["message_id"]);
        let found = self
            .telegram
            .wait_until(TIMEOUT, |view| {
                let card = view.messages(chat).into_iter().find(|m| m["message_id"] == *id)?;
                (text(card).contains(words) && labels(card).iter().any(|l| l == label)).then(|| card.clone())
            })
            .await;
        found.unwrap_or_else(|| {
            let now = self.telegram.messages(chat).into_iter().find(|m| m["message_id"] == *id);
            panic!("never seen: `{words}` with {label}; there is {now:?}")
        })
    }
}

#[tokio::test]
async fn an_empty_list_tells_how_to_fill_it() {
    let world = World::new().await;
    world.person(RUI, "Rui", "pt-br");
    let _bot = world.start_open().await;
    let empty = world.told(ANN, ANN, "/tasks").await;
    assert_eq!(text(&empty), "No tasks yet. Say: every weekday at 8:00, tell me the weather in Riga.");
    let empty = world.told(RUI, RUI, "/tasks").await;
    assert!(text(&empty).starts_with("Ainda não há tarefas."), "{empty}");
    let help = world.told(ANN, ANN, "/help").await;
    assert!(text(&help).contains("\n\nSchedule\n/tasks – what I do by myself, and when"), "{help}");
}

#[tokio::test]
async fn the_list_has_what_comes_first_on_top_and_leaves_out_what_is_cancelled() {
    let world = World::new().await;
    let long_ago = now() - TimeDelta::days(2);
    let [later, soon, paused, gone, elsewhere] = [
        daily(ANN, ANN, "later", 4),
        daily(ANN, ANN, "soon", 2),
        daily(ANN, ANN, "paused", 3),
        daily(ANN, ANN, "gone", 3),
        daily(BOB, BOB, "of someone else", 3),
    ];
    let (done, failed) =
        (task(ANN, ANN, "done", "in 1 hour", long_ago), task(ANN, ANN, "failed", "in 2 hours", long_ago));
    world.keep(&[&later, &soon, &paused, &gone, &elsewhere, &done, &failed]).await;
    world.change(paused.id, TaskChange::Pause(PauseReason::Person), now()).await;
    world.change(gone.id, TaskChange::Cancel, now()).await;
    for (task, error) in [(&done, None), (&failed, Some(Reason::Empty))] {
        let (at, run) = (task.next.unwrap(), RunId::new());
        let due = DueRun { at, attempt: 1, late: false };
        world.change(task.id, TaskChange::Lease(run, due), at).await;
        let ended = match error {
            Some(error) => TaskRunResult::Failed { error, again: false, cost: Cost::default() },
            None => TaskRunResult::Delivered(None),
        };
        world.change(task.id, TaskChange::Settle(run, ended), at + TimeDelta::seconds(3)).await;
    }
    world.change(failed.id, TaskChange::Told, now()).await;
    let _bot = world.start().await;
    let list = world.told(ANN, ANN, "/tasks").await;
    let clock = |task: &Task| task.next.unwrap().format("⏰ %H:%M %a · ").to_string();
    let wanted = [
        format!("{}soon", clock(&soon)),
        format!("{}later", clock(&later)),
        "⏸ paused".to_owned(),
        "⚠️ failed".to_owned(),
        "✅ done".to_owned(),
    ];
    assert_eq!((text(&list), labels(&list)), ("Tasks", wanted.to_vec()));
    world.press(ANN, &list, "⚠️ failed").await;
    let card = world.card(&list, "failed: the model had nothing to say.", "‹ Back").await;
    assert_eq!(labels(&card), ["Run now", "Edit", "History", "‹ Back"]);
    world.press(ANN, &list, "History").await;
    let history = world.card(&list, "failed · 3 s\n    the model had nothing to say.", "‹ Back").await;
    assert_eq!(labels(&history), ["‹ Back"]);
    world.press(ANN, &list, "‹ Back").await;
    world.card(&list, "Last run: ", "History").await;
    world.press(ANN, &list, "‹ Back").await;
    assert_eq!(labels(&world.card(&list, "Tasks", "⏸ paused").await), wanted);
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_long_list_has_pages_and_a_card_leads_back_to_its_own() {
    let world = World::new().await;
    let tasks: Vec<Task> = (1..=10).map(|n| daily(ANN, ANN, &format!("task {n:02}"), n + 1)).collect();
    world.keep(&tasks.iter().collect::<Vec<_>>()).await;
    let _bot = world.start().await;
    let list = world.told(ANN, ANN, "/tasks").await;
    let names = |card: &Value| -> Vec<String> {
        labels(card).iter().map(|label| label.rsplit(" · ").next().unwrap().to_owned()).collect()
    };
    let first = names(&list);
    assert_eq!(
        (first.len(), first[0].as_str(), first[7].as_str(), first[8].as_str()),
        (9, "task 01", "task 08", "Next ▶")
    );
    world.press(ANN, &list, "Next ▶").await;
    let second = world.card(&list, "Tasks", "◀ Previous").await;
    assert_eq!(names(&second), ["task 09", "task 10", "◀ Previous"]);
    let data = buttons(&second)[1].1.clone();
    world.press_data(ANN, &second, &data).await;
    world.card(&list, "⏰ task 10 — every day", "‹ Back").await;
    world.press(ANN, &list, "‹ Back").await;
    assert_eq!(names(&world.card(&list, "Tasks", "◀ Previous").await), ["task 09", "task 10", "◀ Previous"]);
}

#[tokio::test]
async fn a_task_is_run_now_once_at_a_time() {
    let world = World::new().await;
    let gate = Gate::new();
    world.when("Tell a joke", ModelReply::text("Knock, knock.").behind(&gate));
    let joke = daily(ANN, ANN, "Tell a joke", 3);
    world.keep(&[&joke]).await;
    let bot = world.start().await;
    let card = world.opened(ANN, ANN, "Tell a joke").await;
    let stale = world.opened(ANN, ANN, "Tell a joke").await;
    assert_eq!(labels(&card), ["Run now", "Pause", "Edit", "Cancel", "‹ Back"]);
    assert_eq!(world.press(ANN, &card, "Run now").await, "⏳ Running now");
    let running = world.card(&card, "⏳ Running now", "Pause").await;
    assert!(!labels(&running).contains(&"Run now".to_owned()));
    // Every card of it changes by itself, and the buttons of before say that they are late.
    world.card(&stale, "⏳ Running now", "Pause").await;
    let run = format!("tasks:run:{}", joke.id);
    assert_eq!(world.forged(ANN, &stale, &run).await, "It is running already.");
    world.asks(1).await;
    gate.open();
    world.answers(ANN, 3).await;
    assert_eq!(world.bot_texts(ANN)[2], "Knock, knock.");
    for card in [&card, &stale] {
        world.card(card, "Last run: ✅ today", "Run now").await;
    }
    bot.stop().await;
    let store = world.stored().await;
    let runs = store.tasks().runs(joke.id).unwrap();
    assert!(runs.len() == 1 && runs[0].by_hand && runs[0].error.is_none(), "{runs:?}");
    let kept = store.tasks().find(joke.id).unwrap().unwrap();
    assert_eq!((kept.state, kept.next), (TaskState::Active, joke.next), "its own time is still to come");
    assert_eq!(world.asked().len(), 1);
}

#[tokio::test]
async fn pausing_and_cancelling_can_be_taken_back_and_a_stale_button_says_so() {
    let world = World::new().await;
    let news = daily(ANN, ANN, "News", 3);
    world.keep(&[&news]).await;
    let bot = world.start().await;
    let card = world.opened(ANN, ANN, "News").await;
    let stale = world.opened(ANN, ANN, "News").await;
    assert_eq!(world.press(ANN, &card, "Pause").await, "Paused");
    let paused = world.card(&card, "\nPaused", "Resume").await;
    assert!(!text(&paused).contains("Next:"), "{paused}");
    world.card(&stale, "\nPaused", "Resume").await;
    assert_eq!(world.press(ANN, &card, "Resume").await, "It runs again.");
    world.card(&card, "Next: ", "Pause").await;
    assert_eq!(world.press(ANN, &card, "Cancel").await, "Cancelled");
    let cancelled = world.card(&card, "Cancelled ", "Undo").await;
    assert_eq!(labels(&cancelled), ["Undo", "‹ Back"]);
    assert!(text(&world.told(ANN, ANN, "/tasks").await).starts_with("No tasks yet."));
    assert_eq!(world.press(ANN, &card, "Undo").await, "It is back.");
    world.card(&card, "Next: ", "Cancel").await;
    assert_eq!(world.press(ANN, &card, "Cancel").await, "Cancelled");
    world.card(&card, "Cancelled ", "Undo").await;

    // The clock of the store goes on while the bot is away.
    bot.stop().await;
    let long_ago = now() - TimeDelta::seconds(61);
    world.change(news.id, TaskChange::Revive, long_ago).await;
    world.change(news.id, TaskChange::Cancel, long_ago).await;
    let _bot = world.start().await;
    // The card has lost the button that would do nothing any more.
    let without = |view: &TelegramView<'_>| {
        let all = view.messages(ANN);
        let now = all.into_iter().find(|message| message["message_id"] == card["message_id"])?;
        (!labels(now).contains(&"Undo".to_owned())).then_some(())
    };
    world.see("the card without Undo", without).await;
    assert_eq!(world.refused(), Vec::<String>::new());
    for data in ["undo", "pause"].map(|verb| format!("tasks:{verb}:{}", news.id)) {
        assert_eq!(world.forged(ANN, &card, &data).await, GONE, "{data}");
    }
    assert_eq!(world.forged(ANN, &card, "tasks:run:nonsense").await, GONE);
    assert_eq!(world.forged(ANN, &card, &format!("tasks:run:{}", TaskId::new())).await, GONE);
    assert_eq!(world.forged(ANN, &card, &format!("tasks:dance:{}", news.id)).await, GONE);
}

#[tokio::test]
async fn a_task_of_a_group_is_changed_by_its_creator_admins_and_owners() {
    let world = World::new().await;
    world.team();
    world.person(RUI, "Rui", "en");
    world.telegram.set_member(TEAM, RUI, MemberStatus::Member).unwrap();
    let stand_up = daily(BOB, TEAM, "Call the stand-up", 3);
    world.keep(&[&stand_up]).await;
    let _bot = world.start_open().await;
    let card = world.opened(RUI, TEAM, "Call the stand-up").await;
    assert!(text(&card).ends_with("\nBy Bob"), "{card}");
    assert_eq!(labels(&card), ["‹ Back"], "what only fails is not offered");
    let card = world.opened(BOB, TEAM, "Call the stand-up").await;
    let only = "Only whoever asked for this task or an admin can change it.";
    for label in ["Run now", "Pause", "Edit", "Cancel"] {
        assert_eq!(world.press(RUI, &card, label).await, only, "{label}");
    }
    assert_eq!(world.press(BOB, &card, "Pause").await, "Paused");
    world.card(&card, "Paused", "Resume").await;
    assert_eq!(world.press(ANN, &card, "Resume").await, "It runs again.");
    world.card(&card, "Next: ", "Pause").await;
    world.telegram.set_member(TEAM, RUI, MemberStatus::Admin).unwrap();
    assert_eq!(world.press(RUI, &card, "Pause").await, "Paused");

    // From another chat only its creator and owners reach it.
    let own = world.told(RUI, RUI, "/tasks").await;
    for verb in ["open", "resume", "history"] {
        assert_eq!(world.forged(RUI, &own, &format!("tasks:{verb}:{}", stand_up.id)).await, GONE, "{verb}");
    }
    assert!(text(&world.opened(RUI, TEAM, "Call the stand-up").await).contains("Paused"));
}

#[tokio::test]
async fn what_failed_is_told_in_private_and_run_again_from_there() {
    let world = World::new().await;
    world.team();
    world.when("Call the stand-up", ModelReply::status(401, "no"));
    let stand_up = daily(BOB, TEAM, "Call the stand-up", 3);
    world.keep(&[&stand_up]).await;
    let _bot = world.start_open().await;
    let card = world.opened(BOB, TEAM, "Call the stand-up").await;
    world.press(BOB, &card, "Run now").await;
    let notice = world.answers(BOB, 1).await.remove(0);
    assert!(text(&notice).starts_with("Team: ⏰ “Call the stand-up” failed:"), "{notice}");
    assert_eq!(labels(&notice), ["Run now"]);
    world.when("Call the stand-up", ModelReply::text("Stand up!"));
    assert_eq!(world.press(BOB, &notice, "Run now").await, "⏳ Running now");
    let shown = world.card(&notice, "By Bob in Team", "Pause").await;
    assert!(!labels(&shown).contains(&"‹ Back".to_owned()), "{shown}");
    let said = world.answers(TEAM, 2).await;
    assert_eq!(text(&said[1]), "Stand up!");
}

#[tokio::test]
async fn what_people_wrote_is_no_link_in_a_notice() {
    let world = World::new().await;
    world.team();
    let prompt = "[Confirm](https://evil.example/a_b_c)";
    world.when("evil.example", ModelReply::status(401, "no"));
    world.keep(&[&daily(BOB, TEAM, prompt, 3)]).await;
    let _bot = world.start_open().await;
    let card = world.opened(BOB, TEAM, prompt).await;
    world.press(BOB, &card, "Run now").await;
    let notice = world.answers(BOB, 1).await.remove(0);
    assert!(text(&notice).starts_with(&format!("Team: ⏰ “{prompt}” failed: ")), "{notice}");
    let made: Vec<&Value> = notice["entities"].as_array().into_iter().flatten().collect();
    assert!(made.iter().all(|entity| entity["type"] == "url"), "{notice}");
}

#[tokio::test]
async fn who_has_left_a_group_can_only_stop_the_task_there() {
    let world = World::new().await;
    world.team();
    world.when("Call the stand-up", ModelReply::status(401, "no"));
    let stand_up = daily(BOB, TEAM, "Call the stand-up", 3);
    world.keep(&[&stand_up]).await;
    let _bot = world.start_open().await;
    let card = world.opened(BOB, TEAM, "Call the stand-up").await;
    world.press(BOB, &card, "Run now").await;
    let notice = world.answers(BOB, 1).await.remove(0);
    world.when("Call the stand-up", ModelReply::text("Stand up!"));
    world.telegram.set_member(TEAM, BOB, MemberStatus::Left).unwrap();
    let not_there = "I could not find you in this task's chat.";
    let verbs =
        [("run", ""), ("resume", ""), ("edit", ""), ("shift", ":60"), ("missed", ":skip"), ("undo", "")];
    for (verb, more) in verbs {
        let data = format!("tasks:{verb}:{}{more}", stand_up.id);
        assert_eq!(world.forged(BOB, &notice, &data).await, not_there, "{verb}");
    }
    assert_eq!(world.forged(BOB, &notice, &format!("tasks:cancel:{}", stand_up.id)).await, "Cancelled");
    let card = world.card(&notice, "Cancelled", "Undo").await;
    assert_eq!(world.press(BOB, &card, "Undo").await, not_there);
    world.telegram.set_member(TEAM, BOB, MemberStatus::Member).unwrap();
    let failure = PlannedFailure::Status { status: 400, description: "Bad Request: no".to_owned() };
    world.telegram.fail("getChatMember", failure, 1);
    assert_eq!(world.press(BOB, &card, "Undo").await, not_there, "what cannot be found out counts as no");
    assert_eq!(world.press(BOB, &card, "Undo").await, "It is back.");
    assert_eq!(world.bot_texts(TEAM).iter().filter(|said| said.contains("Stand up!")).count(), 0);
}

#[tokio::test]
async fn a_persons_question_is_tried_again_though_a_task_ran_since() {
    let world = World::new().await;
    world.keep(&[&daily(BOB, BOB, "Read the news", 3)]).await;
    world.when("Read the news", ModelReply::text("No news."));
    world.when("my question", ModelReply::status(400, "no"));
    let _bot = world.start_open().await;
    let failed = world.told(BOB, BOB, "my question").await;
    assert_eq!(labels(&failed), ["Try again"], "there is no other model");
    let card = world.opened(BOB, BOB, "Read the news").await;
    assert_eq!(world.press(BOB, &card, "Run now").await, "⏳ Running now");
    world
        .see("the news", |view| view.messages(BOB).iter().any(|m| text(m) == "No news.").then_some(()))
        .await;
    world.when("my question", ModelReply::text("Now I know."));
    assert_eq!(world.press(BOB, &failed, "Try again").await, "");
    world
        .see("its answer", |view| view.messages(BOB).iter().any(|m| text(m) == "Now I know.").then_some(()))
        .await;
    world.when("my question", ModelReply::text("Better."));
    assert_eq!(text(&world.told(BOB, BOB, "/retry").await), "Better.");
    let last = world.asked().pop().unwrap();
    assert!(
        last.user_text().contains("my question") && !last.user_text().contains("Read the news"),
        "{last:?}"
    );
    let all = last.body.to_string();
    assert!(all.contains("No news.") && !all.contains("Now I know."), "{all}");
}

impl World {
    /// Waits until a message is not in Ann's chat any more.
    async fn is_gone(&self, message: &Value) {
        let gone = |view: &TelegramView<'_>| {
            let all = view.messages(ANN);
            all.iter().all(|one| one["message_id"] != message["message_id"]).then_some(())
        };
        self.see("that a message is gone", gone).await;
    }
}

#[tokio::test]
async fn what_no_button_changes_is_said_in_a_reply_and_no_question_stays() {
    let world = World::new().await;
    let news = daily(ANN, ANN, "News", 3);
    world.keep(&[&news]).await;
    let bot = world.start().await;
    let id = news.id.to_string();
    let card = world.opened(ANN, ANN, "News").await;
    world.press(ANN, &card, "Edit").await;
    let asked = world.answers(ANN, 2).await.remove(1);
    // A reply to the question, or to the card itself, is about that task.
    world.otherwise(ModelReply::text("It is done."));
    for (count, replied) in [(1, &asked), (2, &card)] {
        let reply = Say::new(ANN, ANN, "also in Spanish").reply_to(number(&replied["message_id"]));
        world.telegram.send(reply).unwrap();
        let asked = world.asks(count).await.user_text();
        assert!(asked.contains("also in Spanish") && asked.contains(&format!("task_id=\"{id}\"")), "{asked}");
    }
    world.answers(ANN, 4).await;
    world.press(ANN, &card, "‹ Back").await;
    world.card(&card, "Next: ", "Run now").await;
    world.is_gone(&asked).await;
    assert_eq!(world.refused(), Vec::<String>::new(), "{}", bot.log());
}

#[tokio::test]
async fn what_was_opened_to_edit_a_task_closes_once_the_change_is_said() {
    let world = World::new().await;
    let news = daily(ANN, ANN, "News", 3);
    world.keep(&[&news]).await;
    let bot = world.start().await;
    let card = world.opened(ANN, ANN, "News").await;
    let half_past = json!({"task_id": news.id, "schedule": "30 7 * * *"});
    let pause = json!({"task_id": news.id, "paused": true});
    for (said, change, shows) in
        [("every day at 7:30", half_past, "⏰ News — every day 07:30"), ("pause it", pause, "Paused")]
    {
        world.press(ANN, &card, "Edit").await;
        world.card(&card, "Edit: ⏰ News — every day", "✓ run once").await;
        let asked = says(&world, ANN, "What should change in “News”?").await;
        world.when(said, ModelReply::call("update_task", change));
        world.when(said, ModelReply::text("It is done."));
        world.telegram.send(Say::new(ANN, ANN, said).reply_to(number(&asked["message_id"]))).unwrap();
        world.card(&card, shows, "Edit").await;
        world.is_gone(&asked).await;
    }
    assert_eq!(world.refused(), Vec::<String>::new(), "{}", bot.log());
}

#[tokio::test]
async fn times_and_missed_runs_are_edited_by_buttons() {
    let world = World::new().await;
    let (news, call) = (daily(ANN, ANN, "News", 3), task(ANN, ANN, "Call mum", "in 2 hours", now()));
    world.keep(&[&news, &call]).await;
    let bot = world.start().await;
    let card = world.opened(ANN, ANN, "News").await;
    world.press(ANN, &card, "Edit").await;
    let edit = world.card(&card, "Edit: ⏰ News — every day", "✓ run once").await;
    let (label, rest) = ("If I am offline:", ["✓ run once", "skip", "ask", "Agent: scheduled", "‹ Back"]);
    assert_eq!(labels(&edit), [&["−1 h", "−15 min", "+15 min", "+1 h", label][..], &rest].concat());
    let id = news.id.to_string();
    assert!(!edit.to_string().replace(&format!(":{id}"), "").contains(&id[..10]), "no id is shown: {edit}");
    assert!(world.press(ANN, &card, label).await.ends_with("Now: run once."));
    let asked = world.answers(ANN, 2).await.remove(1);
    assert!(text(&asked).starts_with("What should change in “News”?"), "{asked}");
    let call_of = |view: &TelegramView<'_>| {
        let last = view.calls_of("sendMessage").into_iter().last()?;
        (last.args["reply_markup"]["force_reply"] == true).then_some(())
    };
    world.see("that it asks for a reply", call_of).await;
    let hour = news.next.unwrap().hour();
    assert_eq!(world.press(ANN, &card, "−15 min").await, "Saved.");
    world.card(&card, &format!("every day {:02}:45", (hour + 23) % 24), "‹ Back").await;
    assert_eq!(world.press(ANN, &card, "+1 h").await, "Saved.");
    world.card(&card, &format!("every day {hour:02}:45"), "‹ Back").await;
    assert_eq!(world.press(ANN, &card, "ask").await, "Saved.");
    world.card(&card, "Edit: ", "✓ ask").await;
    // The question stays as long as the card that it belongs to.
    let is_there = || world.telegram.messages(ANN).iter().any(|one| one["message_id"] == asked["message_id"]);
    assert!(is_there());
    world.press(ANN, &card, "‹ Back").await;
    world.is_gone(&asked).await;

    let card = world.opened(ANN, ANN, "Call mum").await;
    world.press(ANN, &card, "Edit").await;
    let edit = world.card(&card, "Edit: ⏰ Call mum", "+10 min").await;
    assert_eq!(labels(&edit), [&["+10 min", "+1 h", "+1 d", label][..], &rest].concat());
    assert_eq!(world.press(ANN, &card, "+10 min").await, "Saved.");
    for data in ["shift", "shift:soon", "missed:never", "missed"] {
        let (verb, more) = data.split_once(':').map_or((data, String::new()), |(v, m)| (v, format!(":{m}")));
        assert_eq!(
            world.forged(ANN, &card, &format!("tasks:{verb}:{}{more}", call.id)).await,
            GONE,
            "{data}"
        );
    }
    bot.stop().await;
    let store = world.stored().await;
    assert_eq!(store.tasks().find(news.id).unwrap().unwrap().if_missed, IfMissed::Ask);
    let moved = store.tasks().find(call.id).unwrap().unwrap();
    assert_eq!(moved.next, call.next.map(|at| at + TimeDelta::minutes(10)));
}

#[tokio::test]
async fn a_single_run_that_has_passed_is_put_off_from_now() {
    let world = World::new().await;
    let call = task(ANN, ANN, "Call mum", "in 1 hour", now() - TimeDelta::hours(5));
    world.keep(&[&call]).await;
    let (at, run) = (call.next.unwrap(), RunId::new());
    let due = DueRun { at, attempt: 1, late: false };
    world.change(call.id, TaskChange::Lease(run, due), at).await;
    world.change(call.id, TaskChange::Settle(run, TaskRunResult::Delivered(None)), at).await;
    let bot = world.start().await;
    let card = world.opened(ANN, ANN, "Call mum").await;
    world.press(ANN, &card, "Edit").await;
    world.card(&card, "Edit: ⏰ Call mum", "+10 min").await;
    let before = now();
    assert_eq!(world.press(ANN, &card, "+10 min").await, "Saved.");
    bot.stop().await;
    let put_off = world.stored().await.tasks().find(call.id).unwrap().unwrap();
    let next = put_off.next.unwrap();
    assert_eq!(put_off.state, TaskState::Active);
    assert!(next >= before + TimeDelta::minutes(10) && next <= now() + TimeDelta::minutes(10), "{next}");
}

#[tokio::test]
async fn tasks_of_a_group_rest_while_the_bot_is_not_in_it() {
    let world = World::new().await;
    world.team();
    let [news, water, own] = [
        daily(BOB, TEAM, "News", 3),
        daily(BOB, TEAM, "Water the plants", 4),
        daily(BOB, TEAM, "paused by Bob", 5),
    ];
    world.keep(&[&news, &water, &own]).await;
    world.change(own.id, TaskChange::Pause(PauseReason::Person), now()).await;
    let bot = world.start_open().await;
    world.telegram.bot_removed(TEAM, BOB).unwrap();
    bot.logged("tasks are paused: the bot is not in their chat any more").await;
    for (press, words) in [
        ("Leave paused", "They stay paused. /tasks shows them."),
        ("Resume all", "Resumed: 2. /tasks shows them."),
    ] {
        let before = world.bot_texts(TEAM).len();
        world.telegram.bot_removed(TEAM, BOB).unwrap();
        world.telegram.bot_joined(TEAM, BOB).unwrap();
        let said = world.answers(TEAM, before + 2).await;
        assert!(text(&said[before]).starts_with("I am Figaro"), "{said:?}");
        let offer = &said[before + 1];
        assert_eq!(text(offer), "2 tasks are paused since I was removed. Resume them?");
        assert_eq!(labels(offer), ["Resume all", "Leave paused"]);
        assert_eq!(world.press(BOB, offer, press).await, "Only an admin of this chat can do that.");
        assert_eq!(world.press(ANN, offer, press).await, "");
        let done = world.shows(TEAM, number(&offer["message_id"]), words).await;
        assert_eq!(labels(&done), [""; 0]);
    }
    let list = world.told(ANN, TEAM, "/tasks").await;
    assert_eq!(
        labels(&list).iter().map(|label| label.starts_with('⏰')).collect::<Vec<_>>(),
        [true, true, false]
    );
    let late = world.forged(ANN, &list, "tasks:back:yes").await;
    assert_eq!(late, GONE);
    bot.stop().await;
    let kept = world.stored().await.tasks().find(own.id).unwrap().unwrap();
    assert_eq!(kept.state, TaskState::Paused(PauseReason::Person));
}

#[tokio::test]
async fn tasks_of_a_person_rest_while_they_block_the_bot() {
    let world = World::new().await;
    let news = daily(BOB, BOB, "News", 3);
    world.keep(&[&news]).await;
    let bot = world.start_open().await;
    world.telegram.bot_removed(BOB, BOB).unwrap();
    bot.logged("tasks are paused: the bot is not in their chat any more").await;
    world.telegram.bot_joined(BOB, BOB).unwrap();
    let offer = world.answers(BOB, 1).await.remove(0);
    assert_eq!(text(&offer), "1 task is paused since you blocked me. Resume it?");
    let card = world.opened(BOB, BOB, "News").await;
    assert!(text(&card).contains("Paused: you had blocked me"), "{card}");
    assert_eq!(world.press(BOB, &offer, "Resume all").await, "");
    world.shows(BOB, number(&offer["message_id"]), "Resumed: 1.").await;
    world.opened(BOB, BOB, "News").await;
    // Nobody who has nothing to resume is written to.
    world.telegram.bot_removed(ANN, ANN).unwrap();
    world.telegram.bot_joined(ANN, ANN).unwrap();
    world.caught_up().await;
    assert_eq!(world.bot_texts(ANN), ["I have."]);
}

#[tokio::test]
async fn the_card_that_proves_a_task_acts_where_it_stands() {
    let world = World::new().await;
    let arguments = json!({"prompt": "Tell me the weather in Riga", "schedule": "0 8 * * 1-5", "recurring": true, "timezone": "Europe/Riga"});
    world.script.push(ModelReply::call("schedule_task", arguments));
    world.script.push(ModelReply::text("Every weekday at eight."));
    let _bot = world.start().await;
    world.say(ANN, ANN, "Every weekday at 8:00, tell me the weather in Riga");
    let card = world.answers(ANN, 1).await.remove(0);
    let title = "⏰ Tell me the weather in Riga — every weekday 08:00 (Europe/Riga)";
    let words = "Every weekday at eight.\n\n";
    assert!(text(&card).starts_with(&format!("{words}{title}\nNext: ")), "{card}");
    assert_eq!(labels(&card), ["Run now", "Pause", "Edit", "Cancel"]);
    assert_eq!(world.press(ANN, &card, "Pause").await, "Paused");
    world.card(&card, &format!("{title}\nPaused"), "Resume").await;
    assert_eq!(world.press(ANN, &card, "Edit").await, "");
    world.card(&card, &format!("{words}Edit: {title}"), "+15 min").await;
    world.press(ANN, &card, "‹ Back").await;
    world.card(&card, title, "Resume").await;
    assert_eq!(world.press(ANN, &card, "Cancel").await, "Cancelled");
    world.card(&card, "Cancelled ", "Undo").await;
    assert_eq!(world.press(ANN, &card, "Undo").await, "It is back.");
    let back = world.card(&card, &format!("{words}{title}\nPaused"), "Resume").await;
    assert_eq!(labels(&back), ["Run now", "Resume", "Edit", "Cancel"]);
    assert_eq!(world.refused(), Vec::<String>::new());
}
