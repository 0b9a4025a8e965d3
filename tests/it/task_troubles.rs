//! What gets in the way of tasks: a model that fails, a budget, chats that are gone or have moved, people who may not
//! talk to the bot. Whoever asked for the task is told, once, in words and not in errors.

use chrono::TimeDelta;
use figaro_base::ids::ChatId;
use figaro_domain::task::{Cost, PauseReason, Reason, Retry, RunStatus, Task, TaskState};
use figaro_offline::model::{Gate, ModelReply};
use figaro_offline::telegram::{MemberStatus, Person, PlannedFailure, TelegramView};

use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::{ANN, BOB, World};
use crate::task_runs::{answers_another, begins, daily, ends, keep, now, once, run_of, said, soon};

const MODEL: &str = "failed: my model cannot be used now; the owner has to look at it.";

#[tokio::test]
async fn what_failed_in_a_group_is_told_to_its_creator_in_private() {
    let world = World::new().await;
    world.team();
    world.when("Tell a &lt;b>joke&lt;/b>.", ModelReply::status(401, "Incorrect API key sk-secret"));
    let joke = once(BOB, TEAM, "Tell a <b>joke</b>.", soon());
    keep(&world, &[&joke]).await;
    let bot = world.start_open().await;
    let notice = world.answers(BOB, 1).await.remove(0);
    assert_eq!(text(&notice), format!("Team: ⏰ “Tell a <b>joke</b>.” {MODEL}"));
    assert_eq!((labels(&notice), answers_another(&notice)), (vec!["Run now".to_owned()], false));
    world.caught_up().await;
    assert_eq!(world.bot_texts(TEAM), Vec::<String>::new(), "the group hears nothing of it");
    bot.ends_well().await;
    let ended = ends(&world, joke.id).await;
    assert!(ended.len() == 1 && ended[0].0 == RunStatus::Failed, "{ended:?}");
    let bot = world.start_open().await;
    world.caught_up().await;
    bot.ends_well().await;
    assert_eq!((world.bot_texts(BOB).len(), world.asked().len()), (1, 1), "told once, not tried again");
}

#[tokio::test]
async fn who_has_no_private_chat_is_told_in_the_group() {
    const CAROL: i64 = 14;
    let world = World::new().await;
    world.team();
    world.telegram.add_user(Person::new(CAROL, "Carol").language("en"));
    world.telegram.set_member(TEAM, CAROL, MemberStatus::Member).unwrap();
    world.telegram.set_member(BOB, world.telegram.bot_id(), MemberStatus::Kicked).unwrap();
    world.otherwise(ModelReply::status(401, "Incorrect API key sk-secret"));
    let tasks = [once(CAROL, TEAM, "Tell a joke.", soon()), once(BOB, TEAM, "Tell a riddle.", soon())];
    keep(&world, &[&tasks[0], &tasks[1]]).await;
    let _bot = world.start_open().await;
    for title in ["joke", "riddle"] {
        let notice = said(&world, TEAM, title).await;
        assert!(text(&notice).ends_with(&format!("⏰ “Tell a {title}.” {MODEL}")), "{notice}");
        assert!(!answers_another(&notice), "{notice}");
    }
    assert_eq!(world.answers(TEAM, 2).await.len(), 2);
}

#[tokio::test]
async fn a_failure_in_a_private_chat_and_a_spent_budget_are_told_as_what_they_are() {
    let world = World::new().await;
    let (key, refusal) = (
        once(BOB, BOB, "Tell a joke.", soon()),
        once(ANN, ANN, "Tell a riddle.", TimeDelta::milliseconds(300)),
    );
    keep(&world, &[&key, &refusal]).await;
    world.when("Tell a joke.", ModelReply::status(401, "Incorrect API key sk-secret"));
    world.when("Tell a riddle.", ModelReply::status(400, "This model does not support riddles"));
    let bot = world.start_open().await;
    let told = said(&world, BOB, "joke").await;
    assert_eq!(text(&told), format!("⏰ “Tell a joke.” {MODEL}"));
    said(&world, ANN, "riddle").await;
    bot.ends_well().await;
    assert_eq!(world.bot_texts(BOB).len(), 1);
    let all = [world.bot_texts(ANN), world.bot_texts(BOB)].concat().join("\n");
    for raw in ["401", "sk-secret", "Incorrect", "400", "support", "Your message is kept", "/retry"] {
        assert!(!all.contains(raw), "{raw}: {all}");
    }

    let world = World::new().await;
    world.team();
    let tasks = [once(BOB, BOB, "Tell a joke.", soon()), once(BOB, TEAM, "Tell a riddle.", soon())];
    keep(&world, &[&tasks[0], &tasks[1]]).await;
    let recipe = world.priced().set("DAILY_TOKENS", "100").set("DEFAULT_TIMEZONE", "UTC");
    let bot = recipe.spawn();
    let reason = "failed: the budget is used up until 00:00 (UTC).";
    for title in ["⏰ “Tell a joke.”", "Team: ⏰ “Tell a riddle.”"] {
        let told = said(&world, BOB, title).await;
        assert_eq!(text(&told), format!("{title} {reason}"));
    }
    assert_eq!((world.bot_texts(BOB).len(), world.bot_texts(TEAM).len()), (2, 0));
    assert_eq!(world.model.requests().len(), 0);
    bot.ends_well().await;
}

#[tokio::test]
async fn whoever_may_not_talk_has_nothing_run() {
    let world = World::new().await;
    let (water, sign) = (
        daily(BOB, BOB, "Remind of water.", TimeDelta::seconds(1)),
        once(ANN, ANN, "Say that it is time.", TimeDelta::milliseconds(1500)),
    );
    keep(&world, &[&water, &sign]).await;
    world.when("Say that it is time.", ModelReply::text("It is time."));
    let bot = world.start().await;
    said(&world, ANN, "It is time.").await;
    bot.ends_well().await;
    let paused = world.stored().await.tasks().find(water.id).unwrap().unwrap();
    assert_eq!(paused.state, TaskState::Paused(PauseReason::Denied));
    assert_eq!((world.bot_texts(BOB).len(), world.asked().len()), (0, 1));

    let bot = world.start().await;
    world.when("Remind of water.", ModelReply::text("Drink water."));
    assert_eq!(text(&world.told(ANN, ANN, "/allow 12").await), "Bob (@bob) may talk to me now.");
    let list = world.told(BOB, BOB, "/tasks").await;
    world.press_data(BOB, &list, &buttons(&list)[0].1).await;
    let id = number(&list["message_id"]);
    world.shows(BOB, id, "Paused: whoever asked for it may no longer talk to me").await;
    assert_eq!(world.press(BOB, &list, "Resume").await, "It runs again.");
    world.shows(BOB, id, "Next: ").await;
    assert_eq!(world.press(BOB, &list, "Run now").await, "⏳ Running now");
    said(&world, BOB, "Drink water.").await;
    bot.ends_well().await;
}

#[tokio::test]
async fn out_of_a_chat_nothing_is_sent_there() {
    let world = World::new().await;
    world.team();
    let (tea, sign) = (
        daily(BOB, TEAM, "Call for tea.", TimeDelta::seconds(3)),
        once(ANN, ANN, "Say that it is time.", TimeDelta::milliseconds(3300)),
    );
    keep(&world, &[&tea, &sign]).await;
    world.when("Say that it is time.", ModelReply::text("It is time."));
    world.when("Call for tea.", ModelReply::text("Tea!"));
    let bot = world.start_open().await;
    world.telegram.bot_removed(TEAM, BOB).unwrap();
    bot.logged("tasks are paused: the bot is not in their chat any more").await;
    said(&world, ANN, "It is time.").await;
    assert_eq!((world.asked().len(), world.refused()), (1, Vec::new()));
    world.telegram.bot_joined(TEAM, ANN).unwrap();
    let offer = said(&world, TEAM, "1 task is paused since I was removed").await;
    assert_eq!(world.press(ANN, &offer, "Resume all").await, "");
    world.shows(TEAM, number(&offer["message_id"]), "Resumed: 1.").await;
    world.caught_up().await;
    bot.ends_well().await;
    assert!(!world.bot_texts(TEAM).contains(&"Tea!".to_owned()), "its time has passed");
    let kept = world.stored().await.tasks().find(tea.id).unwrap().unwrap();
    assert_eq!(kept.state, TaskState::Active);
    assert!(kept.next.unwrap() > now() + TimeDelta::hours(23), "{:?}", kept.next);
}

/// A basic group becomes a supergroup while one task runs and another waits.
async fn migrates(told: bool) {
    const GROUP: i64 = -500;
    let world = World::new().await;
    world.telegram.add_group(GROUP, "Team");
    world.join(GROUP);
    let gate = Gate::new();
    world.when("Call for tea.", ModelReply::text("Tea!").behind(&gate));
    world.when("Call for lunch.", ModelReply::text("Lunch!"));
    let tasks = [
        once(BOB, GROUP, "Call for tea.", soon()),
        daily(BOB, GROUP, "Call for lunch.", TimeDelta::seconds(6)),
    ];
    keep(&world, &[&tasks[0], &tasks[1]]).await;
    let bot = world.start_open().await;
    begins(&world, "Call for tea.").await;
    let moved = if told { world.telegram.migrate(GROUP) } else { world.telegram.require_migration(GROUP) };
    let new = moved.unwrap();
    world.caught_up().await;
    gate.open();
    said(&world, new, "Tea!").await;
    said(&world, new, "Lunch!").await;
    bot.ends_well().await;
    assert_eq!(
        (world.bot_texts(new), world.bot_texts(GROUP)),
        (vec!["Tea!".into(), "Lunch!".into()], vec![])
    );
    followed(&world, &tasks, new).await;
}

/// Both tasks ran once, the second as one of the new chat, and that is where they are kept now.
async fn followed(world: &World, tasks: &[Task], new: i64) {
    let lunch = run_of(world, "Call for lunch.");
    assert!(lunch.user_text().contains(&format!("chat_id=\"{new}\"")), "{}", lunch.user_text());
    assert!(lunch.input()[1].to_string().contains("Tea!"), "its history came along");
    assert_eq!(world.asked().len(), 2);
    for task in tasks {
        assert_eq!(ends(world, task.id).await, [(RunStatus::Delivered, None)], "{}", task.prompt);
    }
    let there = world.stored().await.tasks().of_chat(ChatId(new)).unwrap();
    assert!(there.iter().any(|task| task.id == tasks[1].id && task.state == TaskState::Active), "{there:?}");
}

#[tokio::test]
async fn tasks_follow_their_group_when_it_becomes_a_supergroup() {
    migrates(true).await;
}

#[tokio::test]
async fn tasks_follow_their_group_when_only_an_error_tells_that_it_has_moved() {
    migrates(false).await;
}

#[tokio::test]
async fn what_telegram_does_not_take_is_told_elsewhere_and_not_repeated() {
    let gone = PlannedFailure::Status { status: 400, description: "Bad Request: chat not found".to_owned() };
    let out = PlannedFailure::Status {
        status: 403,
        description: "Forbidden: bot was kicked from the supergroup chat".to_owned(),
    };
    for failure in [gone, out] {
        let world = World::new().await;
        world.team();
        let tea = daily(BOB, TEAM, "Call for tea.", TimeDelta::seconds(2));
        keep(&world, &[&tea]).await;
        world.when("Call for tea.", ModelReply::text("Tea!"));
        world.telegram.fail("sendMessage", failure.clone(), 1);
        let bot = world.start_open().await;
        let told = said(&world, BOB, "Call for tea.").await;
        let words = "Team: ⏰ “Call for tea.” failed: Telegram did not take its message.";
        assert_eq!(text(&told), words, "{failure:?}");
        world.caught_up().await;
        bot.ends_well().await;
        assert_eq!(ends(&world, tea.id).await, [(RunStatus::Failed, Some(Reason::Undelivered))]);
        let bot = world.start_open().await;
        world.caught_up().await;
        bot.ends_well().await;
        assert_eq!((world.asked().len(), world.bot_texts(TEAM).len(), world.bot_texts(BOB).len()), (1, 0, 1));
    }
}

#[tokio::test]
async fn who_blocked_the_bot_is_not_written_to_again_and_again() {
    let world = World::new().await;
    let water = daily(BOB, BOB, "Remind of water.", TimeDelta::seconds(2));
    keep(&world, &[&water]).await;
    world.when("Remind of water.", ModelReply::text("Drink water."));
    world.telegram.set_member(BOB, world.telegram.bot_id(), MemberStatus::Kicked).unwrap();
    let bot = world.start_open().await;
    let refused =
        |view: &TelegramView<'_>| view.calls_of("sendMessage").iter().any(|call| !call.ok).then_some(());
    world.see("a refused message", refused).await;
    world.caught_up().await;
    bot.ends_well().await;
    let bot = world.start_open().await;
    world.caught_up().await;
    bot.ends_well().await;
    let ended = ends(&world, water.id).await;
    assert!(ended.len() == 1 && ended[0].0 == RunStatus::Failed, "{ended:?}");
    assert_eq!(world.asked().len(), 1);
    // The answer, and one word about it at most.
    let tries = world.refused().into_iter().filter(|call| call.starts_with("sendMessage ")).count();
    assert!(tries <= 2, "{:?}", world.refused());
}

#[tokio::test]
async fn the_last_try_and_the_fifth_failure_are_told() {
    let world = World::new().await;
    world.team();
    let at = now() - TimeDelta::seconds(1);
    let third = |what: &str| Task {
        retry: Some(Retry { due: at - TimeDelta::minutes(6), attempt: 3, at, cost: Cost::default() }),
        next: None,
        ..once(BOB, BOB, what, TimeDelta::minutes(-6))
    };
    let first = once(ANN, ANN, "Say it is early.", soon());
    let tasks = [
        third("Say it is late."),
        third("Say it came."),
        Task { failures: 4, ..daily(BOB, TEAM, "Call for tea.", TimeDelta::seconds(2)) },
    ];
    keep(&world, &[&tasks[0], &tasks[1], &tasks[2], &first]).await;
    for _ in 0..8 {
        world.when("Say it is late.", ModelReply::status(503, "upstream on fire"));
        world.when("Say it is early.", ModelReply::status(503, "upstream on fire"));
    }
    world.when("Say it came.", ModelReply::text("It came."));
    world.when("Call for tea.", ModelReply::status(401, "no"));
    let bot = world.start_open().await;
    let late = said(&world, BOB, "late").await;
    let words = "⏰ “Say it is late.” failed: my model could not be reached.";
    assert_eq!((text(&late), labels(&late)), (words, vec!["Run now".to_owned()]));
    said(&world, BOB, "It came.").await;
    let tea = said(&world, BOB, "five times in a row").await;
    assert!(
        text(&tea).starts_with("Team: ⏰ “Call for tea.” failed five times in a row and is paused."),
        "{tea}"
    );
    assert_eq!(labels(&tea), ["Resume", "Cancel"]);
    world.caught_up().await;
    bot.ends_well().await;
    assert_eq!(world.bot_texts(ANN), ["I have."], "the first try that fails is told to nobody");
    let kept = world.stored().await.tasks().find(first.id).unwrap().unwrap();
    assert_eq!(kept.retry.map(|retry| retry.attempt), Some(2), "{kept:?}");
    let kept = world.stored().await.tasks().find(tasks[2].id).unwrap().unwrap();
    assert_eq!(kept.state, TaskState::Paused(PauseReason::Failures));
    let bot = world.start_open().await;
    assert_eq!(world.press(BOB, &tea, "Resume").await, "It runs again.");
    bot.ends_well().await;
    let kept = world.stored().await.tasks().find(tasks[2].id).unwrap().unwrap();
    assert_eq!((kept.state, kept.failures), (TaskState::Active, 0));
}

#[tokio::test]
async fn a_groups_name_and_a_prompt_are_no_formatting() {
    let world = World::new().await;
    let title = "1. *Our* [team](http://a.example) & <b>co</b> `x`";
    world.telegram.add_supergroup(TEAM, title);
    world.join(TEAM);
    let prompt = "Look at [this](http://b.example), $x^2$ \\[y\\] __now__ ~x~";
    let mut task = once(BOB, TEAM, prompt, soon());
    task.place.title = Some(title.to_owned());
    keep(&world, &[&task]).await;
    world.when("Look at", ModelReply::status(401, "no"));
    let _bot = world.start_open().await;
    let notice = world.answers(BOB, 1).await.remove(0);
    assert_eq!(text(&notice), format!("{title}: ⏰ “{prompt}” {MODEL}"));
    let formats = notice["entities"].as_array().into_iter().flatten().filter(|e| e["type"] != "url");
    assert_eq!(formats.count(), 0, "{notice}");
}
