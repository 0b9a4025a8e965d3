//! Where a chat is: told with `/timezone`, with `/config`, through the model, or as an answer to the question; and the
//! tasks that follow.

use chrono::{DateTime, Offset, TimeDelta, TimeZone, Utc};
use figaro_base::clock::Clock;
use figaro_base::ids::{ChatId, RunId, UserId};
use figaro_base::tz::Tz;
use figaro_domain::chat::{ChatKind, ConfigPatch, Place};
use figaro_domain::delivery::{CardKind, PendingDelivery};
use figaro_domain::message::Speaker;
use figaro_domain::schedule::Schedule;
use figaro_domain::task::{NewTask, Task, TaskChange, TaskEdit};
use figaro_offline::model::{ModelReply, OfflineModel};
use figaro_offline::telegram::{MemberStatus, Say};
use figaro_store::TaskLimits;
use serde_json::{Value, json};

use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::{ANN, BOB, World};

const RUI: i64 = 13;
/// Shown where it depends on nothing but the language.
const HOW: &str =
    "Choose, or type a city (/timezone Riga), or what time it is where you are (/timezone it is NN:NN here).";

/// A text with `NN:NN` for the times in it.
fn timeless(text: &str) -> String {
    let is_time = |word: &str| {
        let (hour, minute) = word.trim_end_matches(['.', ')']).split_once(':').unwrap_or_default();
        hour.len() == 2 && minute.len() == 2 && (hour.to_owned() + minute).bytes().all(|b| b.is_ascii_digit())
    };
    let word = |word: &str| {
        if is_time(word) { word.replace(|c: char| c.is_ascii_digit(), "N") } else { word.to_owned() }
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// What somebody sees of a card.
fn seen(card: &Value) -> (String, Vec<String>) {
    (timeless(text(card)), labels(card).iter().map(|label| timeless(label)).collect())
}

fn now() -> DateTime<Utc> {
    Clock::system().now()
}

fn ahead(zone: Tz, now: DateTime<Utc>) -> i32 {
    zone.offset_from_utc_datetime(&now.naive_utc()).fix().local_minus_utc()
}

fn moment(task: &Task, zone: Tz) -> String {
    task.next.unwrap().with_timezone(&zone).format("%a %-d %b %H:%M").to_string()
}

/// A task of a chat by the clocks of a zone, every New Year's Day at nine unless it has another schedule.
fn task(chat: i64, prompt: &str, zone: Tz) -> Task {
    let now = now();
    let kind = if chat < 0 { ChatKind::Group } else { ChatKind::Private };
    let new = NewTask {
        place: Place { chat: ChatId(chat), kind, title: None, topic: None },
        creator: Speaker { user: UserId::telegram(ANN), name: "Ann".to_owned(), username: None },
        language: Some("en".to_owned()),
        prompt: prompt.to_owned(),
        schedule: Schedule::recurring("0 9 1 1 *", zone, now).unwrap(),
        zone,
        zone_assumed: false,
    };
    Task::new(new, now)
}

fn assumed(task: Task) -> Task {
    Task { zone_assumed: true, ..task }
}

/// At a single time, in two hours by the clocks of its zone.
fn soon(task: Task) -> Task {
    let now = now();
    let local = (now + TimeDelta::hours(2)).with_timezone(&task.zone).format("%Y-%m-%dT%H:%M").to_string();
    let schedule = Schedule::once(&local, task.zone, now).unwrap();
    Task { next: schedule.next(task.zone, now), schedule, ..task }
}

impl World {
    /// As if the bot had made these tasks, and asked the chat so long ago where it is. The question is on its way.
    async fn asked_of(&self, chat: i64, ago: TimeDelta, tasks: &[Task]) {
        let store = self.stored().await;
        let now = now();
        for task in tasks {
            store.tasks().add(task, TaskLimits { per_chat: 50, per_user: 50 }).await.unwrap();
        }
        let place = tasks[0].place.clone();
        let question = PendingDelivery {
            card: Some(CardKind::Zone),
            language: Some("en".to_owned()),
            ..PendingDelivery::new(RunId::new(), place, String::new(), now)
        };
        let touch = (tasks[0].id, TaskChange::edit(TaskEdit::default()));
        store.tasks().change(vec![touch], vec![question], now).await.unwrap();
        let asked = ConfigPatch { zone_asked: Some(now - ago), ..ConfigPatch::default() };
        store.settings().change_chat_config(ChatId(chat), asked).await.unwrap();
    }

    async fn zones_of(&self, tasks: &[Task]) -> Vec<(String, bool)> {
        let store = self.stored().await;
        let mut zones = Vec::new();
        for task in tasks {
            let task = store.tasks().find(task.id).unwrap().unwrap();
            zones.push((task.zone.name().to_owned(), task.zone_assumed));
        }
        zones
    }
}

#[tokio::test]
async fn a_zone_is_told_by_name_by_place_by_time_or_with_a_button() {
    let world = World::new().await;
    let _bot = world.start().await;
    let card = world.told(ANN, ANN, "/timezone").await;
    let (shown, offered) = seen(&card);
    assert_eq!(
        shown,
        format!(
            "Time zone\nNobody has said where this chat is, so I use UTC, where it is NN:NN now.\n\n{HOW}"
        )
    );
    assert!(offered.len() > 2 && offered[0].ends_with(" NN:NN"), "{offered:?}");
    let (label, data) = buttons(&card).remove(0);
    let city =
        label.split(' ').rev().skip(1).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(" ");
    assert!(data.starts_with("zone:set:") && data.ends_with(&city.replace(' ', "_")), "{label}: {data}");
    assert_eq!(world.press(ANN, &card, &label).await, "Saved.");
    let set = world.shows(ANN, number(&card["message_id"]), &format!("{city}: it is ")).await;
    assert_eq!(labels(&set), ["Time zone"]);

    assert_eq!(seen(&world.told(ANN, ANN, "/timezone  riga").await).0, "Riga: it is NN:NN.");
    let card = world.told(ANN, ANN, "/timezone").await;
    assert_eq!(timeless(text(&card)), format!("Time zone\nEurope/Riga, where it is NN:NN now.\n\n{HOW}"));
    assert!(labels(&card).contains(&"Clear".to_owned()), "{card}");

    let which = world.told(ANN, ANN, "/timezone portland").await;
    let both = ["Los Angeles NN:NN", "New York NN:NN"].map(str::to_owned).to_vec();
    assert_eq!(seen(&which), ("Which one is it?".to_owned(), both));
    world.press(ANN, &which, "Los Angeles").await;
    world.shows(ANN, number(&which["message_id"]), "Los Angeles: it is ").await;

    let unknown = seen(&world.told(ANN, ANN, "/timezone Atlantis").await);
    assert_eq!(unknown.0, format!("I do not know the place or time zone “Atlantis”. {HOW}"));
    assert_eq!(unknown.1, offered);
    let cleared = world.told(ANN, ANN, "/timezone CLEAR").await;
    assert!(text(&cleared).contains("so I use UTC"), "{cleared}");

    let now = now();
    let riga = now.with_timezone(&"Europe/Riga".parse::<Tz>().unwrap()).format("%H:%M");
    let which = world.told(ANN, ANN, &format!("/timezone it is {riga} here")).await;
    assert_eq!(text(&which), "Which one is it?");
    for (label, data) in buttons(&which) {
        let zone: Tz = data.strip_prefix("zone:set:").unwrap().parse().unwrap();
        assert!(
            (ahead(zone, now) - ahead("Europe/Riga".parse::<Tz>().unwrap(), now)) % 43_200 == 0,
            "clocks show the time there, or half a day later: {label}"
        );
    }
    assert!(world.asked().is_empty(), "no command goes to the model");
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn people_are_told_in_their_language_and_what_they_are_told_to_type_is_understood() {
    let world = World::new().await;
    world.person(RUI, "Rui", "pt-br");
    let _bot = world.bot().set("ACCESS", "open").set("DEFAULT_TIMEZONE", "Europe/Lisbon").spawn();
    let card = world.told(RUI, RUI, "/timezone").await;
    assert_eq!(
        timeless(text(&card)),
        "Fuso horário\nNinguém disse onde fica este chat. Uso Europe/Lisbon, onde o relógio marca NN:NN agora.\n\n\
         Escolha, ou digite uma cidade (/timezone Lisboa) ou que horas são aí (/timezone aqui são NN:NN)."
    );
    let (_, example) = text(&card).rsplit_once('(').unwrap();
    let which = world.told(RUI, RUI, example.trim_end_matches([')', '.'])).await;
    assert_eq!(text(&which), "Qual deles?", "the time of the card is one that clocks show");
    assert!(labels(&card)[0].starts_with("Sao Paulo "), "{card}");
    let set = world.told(RUI, RUI, "/timezone Lisboa").await;
    assert_eq!(timeless(text(&set)), "Lisbon: o relógio marca NN:NN.");
    let time = now().with_timezone(&"Europe/Lisbon".parse::<Tz>().unwrap()).format("%H:%M");
    let which = world.told(RUI, RUI, &format!("/timezone aqui são {time}")).await;
    assert_eq!(text(&which), "Qual deles?");
}

#[tokio::test]
async fn config_leads_to_the_same_card_and_back() {
    let world = World::new().await;
    let _bot = world.start().await;
    let card = seen(&world.told(ANN, ANN, "/timezone").await);
    assert_eq!(seen(&world.told(ANN, ANN, "/config timezone").await), card);
    let settings = world.told(ANN, ANN, "/config").await;
    let id = number(&settings["message_id"]);
    assert!(text(&settings).contains("Time zone: UTC (default)"), "{settings}");
    world.press(ANN, &settings, "Time zone").await;
    let (shown, mut offered) = card.clone();
    offered.push("‹ Back".to_owned());
    let reached = (shown, offered);
    assert_eq!(seen(&world.shows(ANN, id, "Nobody has said").await), reached);
    let set = world.told(ANN, ANN, "/config timezone America/Sao_Paulo").await;
    assert_eq!(timeless(text(&set)), "Sao Paulo: it is NN:NN.");
    world.press(ANN, &settings, "‹ Back").await;
    world.shows(ANN, id, "Time zone: America/Sao_Paulo").await;
    world.press(ANN, &settings, "Time zone").await;
    world.shows(ANN, id, "America/Sao_Paulo, where it is ").await;
    assert_eq!(world.press(ANN, &settings, "Clear").await, "Saved.");
    assert_eq!(seen(&world.shows(ANN, id, "Nobody has said").await), reached);
}

#[tokio::test]
async fn in_a_group_only_admins_say_where_it_is() {
    let world = World::new().await;
    world.team();
    let _bot = world.start_open().await;
    let refused = "Only an admin of this chat can do that.";
    assert_eq!(text(&world.told(BOB, TEAM, "/timezone Riga").await), refused);
    assert_eq!(text(&world.told(BOB, TEAM, "/timezone clear").await), refused);
    let card = world.told(ANN, TEAM, "/timezone").await;
    let (first, _) = buttons(&card).remove(0);
    assert_eq!(world.press(BOB, &card, &first).await, refused);
    for data in ["zone:clear", "zone:move:Europe/Riga", "zone:set:Europe/Riga"] {
        assert_eq!(world.forged(BOB, &card, data).await, refused);
    }
    world.telegram.set_member(TEAM, BOB, MemberStatus::Admin).unwrap();
    assert_eq!(world.forged(BOB, &card, "zone:set:Mars/Base").await, "This is no longer up to date.");
    assert_eq!(text(&world.told(BOB, TEAM, "/timezone").await), text(&card), "nothing was changed");
    assert_eq!(world.press(BOB, &card, &first).await, "Saved.");
}

#[tokio::test]
async fn the_question_is_answered_in_words_and_tasks_on_a_guess_follow() {
    let world = World::new().await;
    let tasks = [
        assumed(task(ANN, "Morning news", Tz::UTC)),
        assumed(soon(task(ANN, "Call the bank", Tz::UTC))),
        task(ANN, "Bell at Wall Street", "America/New_York".parse::<Tz>().unwrap()),
        task(ANN, "Tea in Tokyo", "Asia/Tokyo".parse::<Tz>().unwrap()),
    ];
    world.asked_of(ANN, TimeDelta::minutes(5), &tasks).await;
    world.otherwise(ModelReply::text("I see."));
    let bot = world.start().await;
    let question = world.answers(ANN, 1).await.remove(0);
    assert_eq!(
        timeless(text(&question)),
        "Which time zone are you in? I assumed UTC, where it is NN:NN now.\n\n\
         Choose, or just write a city, or what time it is where you are (“it is NN:NN here”)."
    );
    assert!(buttons(&question).iter().all(|(_, data)| data.starts_with("zone:set:")), "{question}");

    assert_eq!(text(&world.told(ANN, ANN, "what is a good book?").await), "I see.");
    assert_eq!(text(&world.told(ANN, ANN, "is it late in Riga?").await), "I see.");
    bot.ends_well().await;
    let bot = world.start().await;
    let tokyo = world.told(ANN, ANN, "Tokyo").await;
    let tz = "Asia/Tokyo".parse::<Tz>().unwrap();
    let news = Schedule::recurring("0 9 1 1 *", tz, now()).unwrap().next(tz, now());
    let news = moment(&Task { next: news, ..tasks[0].clone() }, tz);
    let (bank, bell) = (moment(&tasks[1], tz), moment(&tasks[2], "America/New_York".parse::<Tz>().unwrap()));
    let (shown, offered) = seen(&tokyo);
    assert_eq!(
        shown,
        timeless(&format!(
            "Tokyo: it is 00:00.\n\n\
             Tasks that moved to this zone: 1\n• Morning news — next {news}\n\n\
             Tasks whose time has passed there already: 1\n• Call the bank — stays at {bank}\n\n\
             Tasks that stay in another zone: 1\n• Bell at Wall Street — next {bell} (America/New_York)"
        ))
    );
    assert!(
        text(&tokyo).contains(&news) && text(&tokyo).contains(&bank) && text(&tokyo).contains(&bell),
        "{tokyo}"
    );
    assert_eq!(offered, ["Move these too (1)", "Leave them"]);

    world.press(ANN, &tokyo, "Move these too").await;
    let moved = world
        .see("nothing to be moved", |view| {
            let card = view.messages(ANN).into_iter().find(|m| m["message_id"] == tokyo["message_id"])?;
            (labels(card) == ["Time zone"]).then(|| card.clone())
        })
        .await;
    assert!(text(&moved).contains(&format!("• Bell at Wall Street — next {news}")), "{moved}");
    assert_eq!(text(&world.told(ANN, ANN, "Riga").await), "I see.", "the question has its answer");
    assert_eq!(world.asked().len(), 3, "the answer was no question");
    assert_eq!(world.refused(), Vec::<String>::new(), "{}", bot.log());
    bot.ends_well().await;
    let there = ("Asia/Tokyo".to_owned(), false);
    assert_eq!(world.zones_of(&tasks).await, vec![there; 4]);
}

#[tokio::test]
async fn a_sentence_sets_the_clock_and_is_a_message_as_well() {
    let world = World::new().await;
    world.asked_of(ANN, TimeDelta::minutes(5), &[assumed(task(ANN, "Morning news", Tz::UTC))]).await;
    world.otherwise(ModelReply::text("Good to know."));
    let bot = world.bot().set("MEMORY_LIMIT", "50").spawn();
    bot.ready().await;
    world.answers(ANN, 1).await;
    world.say(ANN, ANN, "I live in Lisbon");
    let said = world.answers(ANN, 3).await;
    let card = said.iter().find(|message| text(message).starts_with("Lisbon: it is ")).unwrap();
    assert_eq!(labels(card), [""; 0], "{card}");
    assert!(said.iter().any(|message| text(message) == "Good to know."), "{said:?}");
    assert!(world.asks(1).await.user_text().contains("I live in Lisbon"));
    world.asked_for(OfflineModel::extraction_requests, "I live in Lisbon</said>", 1).await;
}

#[tokio::test]
async fn several_places_of_a_name_leave_the_question_open_and_named_zones_stay_unless_they_are_moved() {
    let world = World::new().await;
    let tasks =
        [assumed(task(ANN, "Morning news", Tz::UTC)), task(ANN, "Tea", "Asia/Tokyo".parse::<Tz>().unwrap())];
    world.asked_of(ANN, TimeDelta::zero(), &tasks).await;
    let bot = world.start().await;
    world.answers(ANN, 1).await;
    let which = world.told(ANN, ANN, "Portland").await;
    assert_eq!(text(&which), "Which one is it?");
    let set = world.told(ANN, ANN, "Portland, Oregon").await;
    assert_eq!(labels(&set), ["Move these too (1)", "Leave them"]);
    world.press(ANN, &set, "Leave them").await;
    let card = world.shows(ANN, number(&set["message_id"]), "America/Los_Angeles, where").await;
    assert!(labels(&card).contains(&"Clear".to_owned()), "{card}");
    let again = world.told(ANN, ANN, "/timezone Riga").await;
    assert!(
        text(&again).contains("Tasks that stay in another zone: 2")
            && !text(&again).contains("moved to this zone"),
        "a zone that was told is a guess no more: {again}"
    );
    assert_eq!(world.forged(ANN, &again, "zone:move:Asia/Tokyo").await, "This is no longer up to date.");
    assert!(world.asked().is_empty());
    bot.ends_well().await;
    let zones: Vec<String> = world.zones_of(&tasks).await.into_iter().map(|(zone, _)| zone).collect();
    assert_eq!(zones, ["America/Los_Angeles", "Asia/Tokyo"]);
}

#[tokio::test]
async fn in_a_group_an_admin_answers_to_the_bot_and_all_else_is_talk() {
    let world = World::without_privacy().await;
    world.team();
    world.asked_of(TEAM, TimeDelta::minutes(1), &[assumed(task(TEAM, "Stand-up", Tz::UTC))]).await;
    world.otherwise(ModelReply::text("I see."));
    let _bot = world.start_open().await;
    let question = world.answers(TEAM, 1).await.remove(0);
    assert!(
        text(&question).contains(
            "Only an admin of this chat can answer: press a button, or reply to this message with a city"
        ),
        "{question}"
    );
    world.say(ANN, TEAM, "Riga");
    let reply = |from, words| Say::new(from, TEAM, words).reply_to(number(&question["message_id"]));
    world.telegram.send(reply(BOB, "Lisbon")).unwrap();
    assert_eq!(text(&world.answers(TEAM, 2).await[1]), "I see.", "Bob is no admin");
    world.say(ANN, TEAM, "@figaro_bot Tallinn");
    let set = world.answers(TEAM, 3).await.remove(2);
    assert!(
        timeless(text(&set)).starts_with("Tallinn: it is NN:NN.\n\nTasks that moved to this zone: 1"),
        "{set}"
    );
    assert_eq!(world.asked().len(), 1);
}

#[tokio::test]
async fn a_reply_to_the_question_answers_it_in_a_group() {
    let world = World::new().await;
    world.team();
    world.asked_of(TEAM, TimeDelta::minutes(1), &[assumed(task(TEAM, "Stand-up", Tz::UTC))]).await;
    let _bot = world.start_open().await;
    let question = world.answers(TEAM, 1).await.remove(0);
    let reply = Say::new(ANN, TEAM, "I live in Riga").reply_to(number(&question["message_id"]));
    world.telegram.send(reply).unwrap();
    let set = world.answers(TEAM, 2).await.remove(1);
    assert!(text(&set).starts_with("Riga: it is "), "{set}");
    assert!(world.asked().is_empty());
}

#[tokio::test]
async fn a_question_of_long_ago_is_open_no_more_and_one_that_has_its_answer_is_not_shown() {
    let world = World::new().await;
    world.asked_of(ANN, TimeDelta::minutes(61), &[assumed(task(ANN, "News", Tz::UTC))]).await;
    world.asked_of(BOB, TimeDelta::zero(), &[assumed(task(BOB, "News", Tz::UTC))]).await;
    let here =
        ConfigPatch { timezone: Some(Some("Europe/Riga".parse::<Tz>().unwrap())), ..ConfigPatch::default() };
    world.stored().await.settings().change_chat_config(ChatId(BOB), here).await.unwrap();
    world.otherwise(ModelReply::text("I see."));
    let _bot = world.start_open().await;
    world.answers(ANN, 1).await;
    assert_eq!(text(&world.told(ANN, ANN, "Riga").await), "I see.");
    assert_eq!(text(&world.told(BOB, BOB, "Tokyo").await), "I see.");
    assert_eq!(world.bot_texts(BOB), ["I see."], "no question");
}

#[tokio::test]
async fn the_model_says_where_a_chat_is_in_anybodys_words() {
    let world = World::new().await;
    let tasks =
        [assumed(task(ANN, "Morning news", Tz::UTC)), task(ANN, "Tea", "Asia/Tokyo".parse::<Tz>().unwrap())];
    world.asked_of(ANN, TimeDelta::hours(2), &tasks).await;
    let set = |zone: &str| ModelReply::call("set_config", json!({"timezone": zone}));
    for reply in [set("Portland"), set("Atlantis"), set("Lisboa"), ModelReply::text("You are in Lisbon.")] {
        world.script.push(reply);
    }
    let bot = world.start().await;
    world.answers(ANN, 1).await;
    assert_eq!(text(&world.ask("I have moved to Lisbon").await), "You are in Lisbon.");
    let result = async |count| world.asks(count).await.tool_results().pop().unwrap().1;
    let several = result(2).await;
    assert!(several.contains("America/Los_Angeles, America/New_York: ask which"), "{several}");
    let unknown = result(3).await;
    assert!(unknown.contains("Atlantis is not known"), "{unknown}");
    let done: Value = serde_json::from_str(&result(4).await).unwrap();
    assert_eq!(
        (&done["timezone"], &done["tasks_moved"], &done["tasks_in_another_zone"]),
        (&json!("Europe/Lisbon"), &json!(1), &json!(1))
    );
    bot.ends_well().await;
    let (zones, _): (Vec<String>, Vec<bool>) = world.zones_of(&tasks).await.into_iter().unzip();
    assert_eq!(zones, ["Europe/Lisbon", "Asia/Tokyo"]);
}
