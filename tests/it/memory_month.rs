//! A month of a person's chats: more is said than is kept, what answers use stays, and what stays is shown with where it is from.
//! The clock of a process cannot be set: between the days what is stored is made older instead.

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use figaro_offline::model::{ModelReply, ReplyPart};
use figaro_offline::telegram::{Say, TelegramView};
use serde_json::{Value, json};

use crate::memories::{remembered, stored, tells, words};
use crate::support::calls::says;
use crate::support::scene::{labels, number, text};
use crate::support::{BOB, World};
use crate::task_tools::{scene, start};

const LIMIT: usize = 8;
/// So many times something is said, so many days lie between.
const VISITS: usize = 10;
const DAYS_BETWEEN: i64 = 3;
const FACTS: [&str; 30] = [
    "I am allergic to peanuts",
    "I live in Riga",
    "I work as a nurse",
    "I have two cats",
    "I play the violin",
    "I drive a red Volvo",
    "I speak Latvian",
    "I collect old postcards",
    "I commute by bike",
    "I own a sailing boat",
    "I wear size 43 shoes",
    "I study chemistry",
    "I hate coriander",
    "I was born in Porto",
    "I grew up on a farm",
    "I use Arch Linux",
    "I run marathons",
    "I teach swimming on Sundays",
    "I have asthma",
    "I am left-handed",
    "I prefer short answers",
    "I like Italian films",
    "I keep bees",
    "I bake rye bread",
    "I sing in a choir",
    "I repair old clocks",
    "I grow tomatoes",
    "I fear thunderstorms",
    "I paint landscapes",
    "I rent a flat near the harbour",
];
/// Facts of one visit.
const A_VISIT: usize = FACTS.len() / VISITS;

/// So many days pass for what is stored of a bot that has stopped.
fn days_pass(world: &World, days: i64) {
    let records = world.records();
    for table in ["memories", "messages"] {
        let older = |value: &mut Value| {
            for (name, value) in value.as_object_mut().unwrap() {
                let Some(at) = value.as_str().filter(|_| name.ends_with("_at")) else { continue };
                let at: DateTime<Utc> = at.parse().unwrap();
                let at = at - TimeDelta::days(days);
                *value = json!(at.to_rfc3339_opts(SecondsFormat::Nanos, true));
            }
        };
        assert!(records.change(table, older) > 0, "no {table}");
    }
}

/// An answer that goes by the oldest of what is remembered.
async fn uses_the_first(world: &World, visit: usize) {
    let question = format!("what suits me on visit {visit}?");
    let answer = format!("This suits you on visit {visit}.");
    let used: Vec<String> = (1..=A_VISIT).map(|number| format!("M{number}")).collect();
    let names = ReplyPart::Call { name: "use_memories".into(), arguments: json!({"labels": used}) };
    world.when(&question, ModelReply::turn(vec![ReplyPart::Text(answer.clone()), names]));
    world.say(BOB, BOB, &question);
    says(world, BOB, &answer).await;
    let requests = world.model.requests();
    let request = requests.iter().rev().find(|request| request.user_text().contains(&question)).unwrap();
    let prompt = request.body.to_string();
    for (label, fact) in used.iter().zip(FACTS) {
        assert!(prompt.contains(&format!("{label}: {fact}")), "visit {visit}: {prompt}");
    }
}

/// Opens a memory on the person's card, and its source from there.
async fn explained(world: &World, card: &Value, fact: &str) {
    let id = number(&card["message_id"]);
    world.press(BOB, card, fact).await;
    let opened = world.shows(BOB, id, &format!("{fact}\n\nYou said it ")).await;
    let is_used = FACTS[..A_VISIT].contains(&fact);
    let used =
        if is_used { format!("Answers that used it: {},", VISITS - 1) } else { "Not used yet".to_owned() };
    assert!(text(&opened).contains(&used), "{opened}");
    world.press(BOB, card, "See source").await;
    let source = format!("{fact}.");
    let find = |view: &TelegramView<'_>| {
        let shown = |message: &&Value| {
            text(message) == "You said it here." && message["reply_to_message"]["text"] == *source
        };
        view.bot_messages(BOB).into_iter().any(|message| shown(&message)).then_some(())
    };
    world.see(&source, find).await;
    world.press(BOB, card, "‹ Back").await;
    world.shows(BOB, id, &format!("of at most {LIMIT}")).await;
}

#[tokio::test]
async fn over_a_month_the_memories_stay_few_the_used_ones_stay_and_each_is_explained_by_its_source() {
    let (world, bot) = scene().await;
    bot.ends_well().await;
    let limit = LIMIT.to_string();
    let recipe: [(&str, &str); 1] = [("MEMORY_LIMIT", &limit)];
    for (visit, facts) in FACTS.chunks(A_VISIT).enumerate() {
        let bot = start(&world, &recipe).await;
        if visit > 0 {
            uses_the_first(&world, visit).await;
        }
        for fact in facts {
            tells(&world, BOB, Say::new(BOB, BOB, &format!("{fact}.")), fact).await;
        }
        remembered(&world, BOB, facts[A_VISIT - 1]).await;
        bot.ends_well().await;
        let kept = stored(&world, BOB).await;
        let said = (visit + 1) * A_VISIT;
        assert_eq!(kept.len(), said.min(LIMIT), "visit {visit}: {:?}", words(&kept));
        let (first, last) = (FACTS[..A_VISIT].iter(), &FACTS[A_VISIT..said.max(A_VISIT)]);
        let last = last.iter().skip(last.len().saturating_sub(LIMIT - A_VISIT));
        assert_eq!(words(&kept), first.chain(last).copied().collect::<Vec<_>>(), "visit {visit}");
        days_pass(&world, DAYS_BETWEEN);
    }
    let kept = stored(&world, BOB).await;
    let passed = TimeDelta::days(DAYS_BETWEEN * i64::try_from(VISITS).unwrap());
    let oldest = kept.iter().map(|memory| memory.created_at).min().unwrap();
    assert!(figaro_base::clock::Clock::system().now() - oldest >= passed, "a month went by since {oldest}");

    let bot = start(&world, &recipe).await;
    let card = world.told(BOB, BOB, "/memory").await;
    assert!(text(&card).contains(&format!("{LIMIT} of at most {LIMIT}")), "{card}");
    for fact in words(&kept) {
        explained(&world, &card, fact).await;
    }
    assert!(labels(&card).iter().any(|label| label.starts_with(FACTS[0])), "{card}");
    bot.ends_well().await;
}
