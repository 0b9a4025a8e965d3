//! What becomes of an answer that is about later: a promise without a task, and tasks of a chat that never said where it
//! is.

use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, TimeZone};
use figaro_base::tz::Tz;
use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{ApiCall, MemberStatus, Say, TelegramView};
use serde_json::{Value, json};

use super::task_tools::{CAROL, listed, now, once, recurring, scene};
use crate::support::calls::{call, calls, says};
use crate::support::scene::{TEAM, buttons, number, text};
use crate::support::{ANN, BOB, World};

const QUESTION: &str = "Which time zone are you in?";
const PROMISE: &str = "I'll remind you tomorrow.";
const NOTHING: &str = "⚠️ Nothing new was scheduled: ask me again, with the time.";

/// How often a chat was asked where it is.
fn questions(world: &World, chat: i64) -> usize {
    let is_question = |call: &&ApiCall| {
        let text = call.args.get("text").and_then(Value::as_str).unwrap_or_default();
        call.method == "sendMessage" && call.args["chat_id"] == chat && text.contains(QUESTION)
    };
    world.telegram.calls().iter().filter(is_question).count()
}

#[tokio::test]
async fn a_promise_becomes_a_task_and_is_never_seen() {
    let (world, _bot) = scene().await;
    let kept = "Done: I'll remind you tomorrow at 9.";
    world.when("of the train", ModelReply::text(PROMISE));
    world.when("Not from a person", ModelReply::call("schedule_task", recurring("Train.", "30 9 29 2 *")));
    world.when("Not from a person", ModelReply::text(kept));
    world.say(ANN, ANN, "remind me of the train");
    says(&world, ANN, "⏰ Train.").await;
    let told = call(&world, (ANN, ANN), "what have I?", "list_tasks", json!({})).await;
    assert_eq!(told["tasks"].as_array().unwrap().len(), 1);
    assert!(!world.bot_texts(ANN).iter().any(|said| said.contains(PROMISE)), "{:?}", world.bot_texts(ANN));
    assert!(
        world.bot_texts(ANN)[0].starts_with(&format!("{kept}\n\n⏰ Train.")),
        "{:?}",
        world.bot_texts(ANN)
    );
    let next = world.asked().pop().unwrap().body.to_string();
    assert!(next.contains(kept) && !next.contains(PROMISE) && !next.contains("Not from a person"), "{next}");
    assert_eq!(world.asked().len(), 5);
    // What was changed is a promise kept, too; what was refused is none.
    let id = told["tasks"][0]["task_id"].clone();
    world.when(
        "rather later",
        ModelReply::call("update_task", json!({"task_id": id, "schedule": "45 9 29 2 *"})),
    );
    world.when("rather later", ModelReply::text("I'll remind you at 9:45 instead."));
    let told = world.told(ANN, ANN, "rather later").await;
    assert!(text(&told).starts_with("I'll remind you at 9:45 instead.\n\n⏰ Train. — "), "{told}");
    assert_eq!(world.asked().len(), 7);
    world.when("every minute", ModelReply::call("schedule_task", recurring("Tick.", "* * * * *")));
    world.when("every minute", ModelReply::text("I'll remind you every minute."));
    world.when("Not from a person", ModelReply::text("That is too often: every 10 minutes is the most."));
    world.say(ANN, ANN, "every minute, please");
    says(&world, ANN, "That is too often").await;
    assert!(!world.bot_texts(ANN).iter().any(|said| said.contains("I'll remind you every minute")));
    assert_eq!(world.asked().len(), 10);
}

#[tokio::test]
async fn what_promises_nothing_and_what_runs_by_itself_is_asked_once() {
    let (world, _bot) = scene().await;
    let plain = [
        "I can remind you, if you tell me when.",
        "I won't remind you any more.",
        "I cannot schedule that: the time has passed.",
        "You could set an alarm on your phone.",
        "Posso lembrar você, se disser quando.",
        "Não vou lembrar você de nada.",
        "A reunião de amanhã é às 9h.",
        "Puedo recordártelo si me dices cuándo.",
        "Soll ich dich daran erinnern?",
        "```\n# I'll remind you tomorrow\n```",
        "The launch is scheduled for Friday at 9.",
        "I'll remember that you like tea.",
        "Bob said he will remind you tomorrow.",
        "You have a reminder set for 9:00 tomorrow: water.",
        "If you tell me the time, I'll remind you.",
        "O lançamento está agendado para sexta.",
        "Você tem um lembrete para amanhã às 9h: água.",
        "Pronto, cancelei: não vou mais lembrar você.",
    ];
    for (at, answer) in plain.iter().enumerate() {
        let said = format!("question number {at}.");
        world.when(&said, ModelReply::text(answer));
        world.told(ANN, ANN, &said).await;
        assert_eq!(world.asked().len(), at + 1, "{answer}");
    }
    let promises = [
        "Vou lembrar você amanhã às 9h.",
        "Te recordaré mañana a las 9.",
        "Ich werde dich morgen um 9 daran erinnern.",
        "Я напомню тебе завтра в 9.",
        "Got it — I will ping you every Monday at 8.",
    ];
    for (at, answer) in promises.iter().enumerate() {
        let said = format!("wish number {at}.");
        let before = world.asked().len();
        world.when(&said, ModelReply::text(answer));
        world.when("Not from a person", ModelReply::text(answer));
        let told = world.told(ANN, ANN, &said).await;
        assert!(text(&told).starts_with(answer) && text(&told).ends_with(NOTHING), "{told}");
        assert_eq!(world.asked().len(), before + 2, "{answer}");
    }
    let before = world.asked().len();
    world.when("<scheduled_task", ModelReply::text("Drink! I'll remind you again tomorrow."));
    call(&world, (BOB, BOB), "water", "schedule_task", once("Water.", "in 1s")).await;
    let run = says(&world, BOB, "I'll remind you again").await;
    assert_eq!(text(&run), "Drink! I'll remind you again tomorrow.");
    world.caught_up().await;
    assert_eq!(world.asked().len(), before + 3);
}

#[tokio::test]
async fn what_needs_no_zone_asks_for_none() {
    let (world, _bot) = scene().await;
    // Nothing of this depends on where the chat is.
    let offset = (now() + TimeDelta::days(3)).format("%Y-%m-%dT%H:%M:%S+02:00").to_string();
    let sure = vec![
        ("schedule_task", once("soon", "in 20m")),
        ("schedule_task", once("by an offset", &offset)),
        ("schedule_task", in_tokyo()),
    ];
    let sure = calls(&world, (ANN, ANN), "what is sure", sure).await;
    assert!(
        sure.iter().all(|told| told["success"] == true && told["zone_assumed"] == Value::Null),
        "{sure:?}"
    );
    says(&world, ANN, "⏰ in Tokyo").await;
    world.caught_up().await;
    assert_eq!(questions(&world, ANN), 0);
}

/// A task by the clocks of another place, whose times nobody has to ask for.
fn in_tokyo() -> Value {
    let mut call = recurring("in Tokyo", "30 9 1 4,11 *");
    call["timezone"] = "Asia/Tokyo".into();
    call
}

#[tokio::test]
async fn a_chat_is_asked_once_where_it_is_and_its_tasks_move_there() {
    let (world, _bot) = scene().await;
    call(&world, (ANN, ANN), "in Tokyo", "schedule_task", in_tokyo()).await;
    let day = (now() + TimeDelta::days(5)).date_naive();
    let unsure = vec![
        ("schedule_task", recurring("in spring", "30 9 1 4,11 *")),
        ("schedule_task", once("that day", &format!("{day}T14:30"))),
    ];
    let told = calls(&world, (ANN, ANN), "what is not", unsure).await;
    assert!(told.iter().all(|told| told["zone_assumed"] == true && told["timezone"] == "UTC"), "{told:?}");
    let question = says(&world, ANN, QUESTION).await;
    let place = |words: &str| text(&question).find(words).unwrap();
    assert!(place("⏰ in spring") < place(QUESTION) && place("⏰ in spring") > 0, "one message: {question}");
    assert!(text(&question).starts_with("Dealt with: what is not\n\n"), "{question}");
    call(&world, (ANN, ANN), "another one", "schedule_task", recurring("at new year", "@yearly")).await;
    says(&world, ANN, "⏰ at new year").await;
    world.caught_up().await;
    assert_eq!(questions(&world, ANN), 1);

    // Words that are no answer go to the model.
    for words in ["what is the capital of Latvia?", "Riga is a fine city, tell me more about it please"] {
        world.when(words, ModelReply::text("I see."));
        assert_eq!(text(&world.told(ANN, ANN, words).await), "I see.");
    }
    let (label, data) = buttons(&question).remove(4);
    let tz: Tz = data.strip_prefix("zone:set:").unwrap().parse().unwrap();
    let moved = world.press_data(ANN, &question, &data).await;
    assert!(moved.contains("Tasks that moved to this zone: 3"), "{moved}");
    let spring = zoned(tz, |day| day.day() == 1 && [4, 11].contains(&day.month()));
    assert!(
        moved.contains(&spring.format("in spring — next %a %-d %b %H:%M").to_string()) || {
            moved.contains(&spring.format("in spring — next %a %-d %b %Y %H:%M").to_string())
        },
        "{label}: {moved}"
    );
    let without = |view: &TelegramView<'_>| {
        let all = view.messages(ANN);
        let now = all.into_iter().find(|message| message["message_id"] == question["message_id"])?;
        (text(now).contains("⏰ in spring") && !text(now).contains(QUESTION)).then_some(())
    };
    world.see("the card without the question", without).await;
    let now = listed(&world, (ANN, ANN), "where are they?").await;
    let zone_of =
        |prompt: &str| now.iter().find(|task| task["prompt"] == prompt).unwrap()["timezone"].clone();
    for prompt in ["in spring", "that day", "at new year"] {
        assert_eq!(zone_of(prompt), tz.name(), "{prompt}");
    }
    assert_eq!(zone_of("in Tokyo"), "Asia/Tokyo");
    let found = now.iter().find(|task| task["prompt"] == "in spring").unwrap();
    assert_eq!(found["next"], spring.format("%Y-%m-%dT%H:%M:%S%:z").to_string());
    let found = now.iter().find(|task| task["prompt"] == "that day").unwrap();
    let at = tz.from_local_datetime(&day.and_hms_opt(14, 30, 0).unwrap()).unwrap();
    assert_eq!(found["next"], at.format("%Y-%m-%dT%H:%M:%S%:z").to_string());

    // Who has answered is asked no more, and what comes is by those clocks.
    let told =
        call(&world, (ANN, ANN), "one more", "schedule_task", recurring("later", "30 9 1 4,11 *")).await;
    assert_eq!((&told["timezone"], &told["zone_assumed"]), (&json!(tz.name()), &Value::Null), "{told}");
    world.caught_up().await;
    assert_eq!((questions(&world, ANN), world.refused()), (1, Vec::new()));
}

/// The first of these days to come at half past nine in a zone.
fn zoned(zone: Tz, is_day: impl Fn(NaiveDate) -> bool) -> DateTime<Tz> {
    let today = now().with_timezone(&zone).date_naive();
    let mut days = today.iter_days().filter(|day| is_day(*day));
    days.find_map(|day| {
        let at = zone.from_local_datetime(&day.and_hms_opt(9, 30, 0)?).earliest()?;
        (at > now()).then_some(at)
    })
    .unwrap()
}

#[tokio::test]
async fn the_question_understands_places_and_times_in_many_words() {
    let (world, _bot) = scene().await;
    let here = now().with_timezone(&"Asia/Kathmandu".parse::<Tz>().unwrap());
    let time = |form: &str| here.format(form).to_string();
    // Nobody but Nepal has clocks like Nepal's.
    let answers = [
        ("Riga".to_owned(), "Europe/Riga".parse::<Tz>().unwrap()),
        ("America/Sao_Paulo".to_owned(), "America/Sao_Paulo".parse::<Tz>().unwrap()),
        ("I'm in Kathmandu".to_owned(), "Asia/Kathmandu".parse::<Tz>().unwrap()),
        ("Nepal".to_owned(), "Asia/Kathmandu".parse::<Tz>().unwrap()),
        (time("it is %H:%M here"), "Asia/Kathmandu".parse::<Tz>().unwrap()),
        (time("It is %-I:%M %p here!"), "Asia/Kathmandu".parse::<Tz>().unwrap()),
        (time("%H:%M"), "Asia/Kathmandu".parse::<Tz>().unwrap()),
        (time("aqui são %Hh%M"), "Asia/Kathmandu".parse::<Tz>().unwrap()),
    ];
    for (who, (answer, zone)) in (100..).zip(answers) {
        world.person(who, "Someone", "en");
        let made = recurring("a bell", "30 9 1 * *");
        call(&world, (who, who), &format!("every first for {who}."), "schedule_task", made).await;
        says(&world, who, QUESTION).await;
        // A sentence about oneself is said to the model as well, a moment later.
        let asked = || world.asked().iter().filter(|one| !one.user_text().contains("I'm in")).count();
        let before = asked();
        let told = world.told(who, who, &answer).await;
        assert!(text(&told).contains("Tasks that moved to this zone: 1"), "{answer}: {told}");
        assert_eq!(asked(), before, "{answer}");
        let now = listed(&world, (who, who), &format!("where is it for {who}?")).await.remove(0);
        let at = zoned(zone, |day| day.day() == 1);
        assert_eq!(
            (&now["timezone"], &now["next"]),
            (&json!(zone.name()), &json!(at.format("%Y-%m-%dT%H:%M:%S%:z").to_string())),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn in_a_group_who_may_not_say_where_it_is_is_not_taken_at_their_word() {
    let (world, _bot) = scene().await;
    call(&world, (BOB, TEAM), "every first", "schedule_task", recurring("a bell", "30 9 1 * *")).await;
    let question = says(&world, TEAM, QUESTION).await;
    world.otherwise(ModelReply::text("I see."));
    for who in [BOB, CAROL] {
        assert_eq!(text(&world.told(who, TEAM, "@figaro_bot Riga").await), "I see.");
        let before = world.bot_texts(TEAM).len();
        world.telegram.send(Say::new(who, TEAM, "Riga").reply_to(number(&question["message_id"]))).unwrap();
        let said = world.answers(TEAM, before + 1).await.pop().unwrap();
        assert_eq!(text(&said), "I see.");
        let (_, data) = buttons(&question).into_iter().find(|(_, data)| data.starts_with("zone:")).unwrap();
        assert_eq!(world.press_data(who, &question, &data).await, "Only an admin of this chat can do that.");
        let told = world.told(who, TEAM, "/timezone@figaro_bot Riga").await;
        assert_eq!(text(&told), "Only an admin of this chat can do that.");
    }
    let set = call(&world, (BOB, TEAM), "set it", "set_config", json!({"timezone": "Europe/Riga"})).await;
    assert_eq!(set["success"], false, "{set}");
    assert_eq!(listed(&world, (BOB, TEAM), "where is it?").await[0]["timezone"], "UTC");
    world.telegram.set_member(TEAM, CAROL, MemberStatus::Admin).unwrap();
    world.telegram.send(Say::new(CAROL, TEAM, "Riga").reply_to(number(&question["message_id"]))).unwrap();
    says(&world, TEAM, "Tasks that moved to this zone: 1").await;
    assert_eq!(listed(&world, (BOB, TEAM), "where is it now?").await[0]["timezone"], "Europe/Riga");
}

#[tokio::test]
async fn a_change_that_needs_the_zone_asks_for_it_in_the_topic_it_was_made_in() {
    let (world, _bot) = scene().await;
    let forum = -1003;
    world.telegram.add_forum(forum, "Forum");
    world.join(forum);
    let garden = world.telegram.add_topic(forum, "Garden").unwrap();
    let made = ModelReply::call("schedule_task", once("Water the garden.", "in 20m"));
    world.when("water it once", made);
    world.when("water it once", ModelReply::text("It is noted."));
    let send = |words: &str| world.telegram.send(Say::new(BOB, forum, words).topic(garden)).unwrap();
    send("@figaro_bot water it once");
    says(&world, forum, "⏰ Water the garden.").await;
    world.caught_up().await;
    assert_eq!(questions(&world, forum), 0, "a duration needs no zone");
    let told =
        world.model.requests().iter().find_map(|r| r.tool_results().pop().map(|(_, told)| told)).unwrap();
    let id = serde_json::from_str::<Value>(&told).unwrap()["task_id"].clone();
    let change = json!({"task_id": id, "schedule": "30 9 29 2 *", "recurring": true});
    world.when("every leap day", ModelReply::call("update_task", change));
    world.when("every leap day", ModelReply::text("So it is."));
    send("@figaro_bot every leap day instead");
    let question = says(&world, forum, QUESTION).await;
    assert_eq!(question["message_thread_id"], garden, "{question}");
    world.caught_up().await;
    assert_eq!((questions(&world, forum), world.refused()), (1, Vec::new()));
}
