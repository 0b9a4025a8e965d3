//! What came due while the bot was not running: made up for, reported, asked about or left out, and told once, in the
//! language of whoever asked for it.

use std::time::Duration;

use chrono::TimeDelta;
use figaro_domain::task::{IfMissed, RunStatus, Task};
use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{PlannedFailure, TelegramView};
use serde_json::json;

use crate::support::scene::{buttons, labels, number, text};
use crate::support::{ANN, BOB, World};
use crate::task_runs::{GONE, RUI, ends, keep, once, said};

fn missed(chat: i64, prompt: &str, ago: TimeDelta, if_missed: IfMissed) -> Task {
    Task { if_missed, ..once(chat, chat, prompt, -ago) }
}

#[tokio::test]
async fn a_little_late_it_comes_and_says_so_much_too_late_it_is_reported_once() {
    let world = World::new().await;
    let tasks = [
        missed(BOB, "Remind of tea.", TimeDelta::minutes(10), IfMissed::RunOnce),
        missed(BOB, "Remind of <i>lunch</i>.", TimeDelta::hours(30), IfMissed::RunOnce),
        missed(BOB, "Remind of cake.", TimeDelta::hours(3), IfMissed::Skip),
        missed(BOB, "Watch the frost.", TimeDelta::minutes(10), IfMissed::RunOnce),
    ];
    keep(&world, &tasks.iter().collect::<Vec<_>>()).await;
    world.when("Remind of tea.", ModelReply::text("Tea!"));
    world.when("Watch the frost.", ModelReply::text("[silent]"));
    let bot = world.start_open().await;
    let tea = said(&world, BOB, "Tea!").await;
    assert!(text(&tea).starts_with("Tea!\n\n⏰ Due ") && text(&tea).ends_with("; I was offline."), "{tea}");
    let lunch = said(&world, BOB, "lunch").await;
    assert!(text(&lunch).starts_with("⏰ “Remind of <i>lunch</i>.” was due "), "{lunch}");
    assert!(text(&lunch).ends_with("; I was offline, and now it is too late for it."), "{lunch}");
    world.caught_up().await;
    bot.ends_well().await;
    for _ in 0..2 {
        let bot = world.start_open().await;
        world.caught_up().await;
        bot.ends_well().await;
    }
    assert_eq!(world.bot_texts(BOB).len(), 2, "{:?}", world.bot_texts(BOB));
    assert_eq!(world.asked().len(), 2);
    let wanted = [RunStatus::Delivered, RunStatus::Missed, RunStatus::Skipped, RunStatus::Silent];
    for (task, status) in tasks.iter().zip(wanted) {
        let ended = ends(&world, task.id).await;
        assert!(ended.len() == 1 && ended[0].0 == status, "{}: {ended:?}", task.prompt);
    }
    // The model sees what was said to the person.
    let bot = world.start_open().await;
    world.otherwise(ModelReply::text("About tea."));
    world.told(BOB, BOB, "what was that about?").await;
    let request = world.asks(world.model.requests().len()).await;
    assert!(json!(request.input()).to_string().contains("Tea!"));
    bot.ends_well().await;
}

#[tokio::test]
async fn asked_about_it_is_run_or_left_out_once() {
    let world = World::new().await;
    let tasks = ["tea", "cake"]
        .map(|what| missed(BOB, &format!("Serve {what}."), TimeDelta::hours(30), IfMissed::Ask));
    keep(&world, &[&tasks[0], &tasks[1]]).await;
    let bot = world.start_open().await;
    let (tea, cake) = (said(&world, BOB, "Serve tea.").await, said(&world, BOB, "Serve cake.").await);
    for card in [&tea, &cake] {
        assert!(text(card).ends_with("; I was offline. Run it now?"), "{card}");
        assert_eq!(labels(card), ["Run now", "Skip"]);
    }
    bot.ends_well().await;
    assert_eq!(world.model.requests().len(), 0, "nothing is done before the answer");
    // The question survives a restart and is not put again.
    let bot = world.start_open().await;
    world.when("Serve tea.", ModelReply::text("Here is tea."));
    let skip = buttons(&tea)[1].1.clone();
    assert_eq!(world.press(BOB, &tea, "Run now").await, "⏳ Running now");
    said(&world, BOB, "Here is tea.").await;
    assert_eq!(world.forged(BOB, &tea, &skip).await, GONE);
    assert_eq!(world.press(BOB, &cake, "Skip").await, "Skipped.");
    assert_eq!(
        world.forged(BOB, &cake, &skip.replace(&tasks[0].id.to_string(), &tasks[1].id.to_string())).await,
        GONE
    );
    let shown = |view: &TelegramView<'_>| {
        let card = view.messages(BOB).into_iter().find(|m| m["message_id"] == cake["message_id"])?;
        (!labels(card).contains(&"Skip".to_owned())).then_some(())
    };
    world.see("that it is left out", shown).await;
    world.caught_up().await;
    bot.ends_well().await;
    assert_eq!((world.bot_texts(BOB).len(), world.asked().len()), (3, 1), "{:?}", world.bot_texts(BOB));
    for (task, status) in tasks.iter().zip([RunStatus::Delivered, RunStatus::Skipped]) {
        let ended = ends(&world, task.id).await;
        assert!(ended.last().is_some_and(|last| last.0 == status), "{}: {ended:?}", task.prompt);
    }
}

#[tokio::test]
async fn killed_while_it_tells_what_was_missed_it_tells_it_once() {
    let world = World::new().await;
    let missed = missed(BOB, "Remind of lunch.", TimeDelta::hours(30), IfMissed::RunOnce);
    keep(&world, &[&missed]).await;
    world.telegram.fail("sendMessage", PlannedFailure::Hang, 1);
    let bot = world.start_open().await;
    let called = |view: &TelegramView<'_>| view.calls_of("sendMessage").first().map(|_| ());
    world.see("the notice", called).await;
    bot.kill();
    let bot = world.start_open().await;
    said(&world, BOB, "lunch").await;
    world.caught_up().await;
    bot.ends_well().await;
    let bot = world.start_open().await;
    world.caught_up().await;
    bot.ends_well().await;
    assert_eq!(world.bot_texts(BOB).len(), 1);
}

#[tokio::test]
async fn killed_at_its_start_again_and_again_every_notice_comes_and_none_is_doubled_but_by_a_lost_confirmation()
 {
    const KILLS: usize = 6;
    const TASKS: usize = 4;
    let world = World::new().await;
    let tasks: Vec<Task> = (0..TASKS)
        .map(|n| missed(BOB, &format!("Missed number {n}."), TimeDelta::hours(30), IfMissed::Ask))
        .collect();
    keep(&world, &tasks.iter().collect::<Vec<_>>()).await;
    let recipe = world.bot().set("ACCESS", "open");
    for round in 0..KILLS {
        let bot = recipe.spawn();
        tokio::time::sleep(Duration::from_millis(120 + 60 * round as u64)).await;
        bot.kill();
    }
    let bot = recipe.spawn();
    bot.ready().await;
    for n in 0..TASKS {
        said(&world, BOB, &format!("Missed number {n}.")).await;
    }
    world.caught_up().await;
    bot.ends_well().await;
    let told = world.bot_texts(BOB).len();
    assert!(told <= TASKS + KILLS, "{:?}", world.bot_texts(BOB));
    let bot = recipe.spawn();
    bot.ready().await;
    world.caught_up().await;
    bot.ends_well().await;
    assert_eq!(world.bot_texts(BOB).len(), told);
}

#[tokio::test]
async fn in_portuguese_all_of_it_is_in_portuguese() {
    let world = World::new().await;
    world.person(RUI, "Rui", "pt-br");
    world.person(ANN, "Ann", "en");
    let tasks = [
        missed(RUI, "Lembrar o chá.", TimeDelta::minutes(10), IfMissed::RunOnce),
        missed(RUI, "Lembrar o almoço.", TimeDelta::hours(30), IfMissed::RunOnce),
        missed(RUI, "Lembrar o bolo.", TimeDelta::hours(30), IfMissed::Ask),
        once(RUI, RUI, "Contar uma piada.", TimeDelta::milliseconds(300)),
    ];
    keep(&world, &tasks.iter().collect::<Vec<_>>()).await;
    world.when("Lembrar o chá.", ModelReply::text("Chá!"));
    world.when("Contar uma piada.", ModelReply::status(401, "no"));
    let _bot = world.start_open().await;
    let tea = said(&world, RUI, "Chá!").await;
    assert!(
        text(&tea).starts_with("Chá!\n\n⏰ Era para ") && text(&tea).ends_with("; eu estava fora do ar."),
        "{tea}"
    );
    let lunch = said(&world, RUI, "almoço").await;
    assert!(text(&lunch).starts_with("⏰ “Lembrar o almoço.” era para "), "{lunch}");
    assert!(text(&lunch).ends_with("; eu estava fora do ar, e agora é tarde demais."), "{lunch}");
    let cake = said(&world, RUI, "bolo").await;
    assert!(text(&cake).ends_with("; eu estava fora do ar. Executar agora?"), "{cake}");
    assert_eq!(labels(&cake), ["Executar agora", "Pular"]);
    let joke = said(&world, RUI, "piada").await;
    let wanted =
        "⏰ “Contar uma piada.” falhou: meu modelo não pode ser usado agora; o dono precisa ver isso.";
    assert_eq!((text(&joke), labels(&joke)), (wanted, vec!["Executar agora".to_owned()]));
    assert_eq!(world.press(RUI, &cake, "Pular").await, "Pulada.");
    world.press(RUI, &joke, "Executar agora").await;
    let card = world.shows(RUI, number(&joke["message_id"]), "Contar uma piada. — uma vez").await;
    let english = ["Run now", "Pause", "Cancel", "Next:", "Last run", "Done", "Due", "History"];
    let all = [labels(&card), vec![text(&card).to_owned()]].concat().join("\n");
    assert!(english.iter().all(|word| !all.contains(word)), "{all}");
}
