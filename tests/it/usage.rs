//! `/usage` and `/status`: what answers cost by day, chat, person and model, and who may see it.

use figaro_ledger::sum;
use figaro_offline::model::ModelReply;
use figaro_offline::telegram::PlannedFailure;
use serde_json::Value;

use crate::support::scene::{TEAM, labels, number, text};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, World};

const EVE: i64 = 13;

impl World {
    pub async fn usage(&self) -> Vec<String> {
        let asked = self.say(ANN, ANN, "/usage").message_id;
        let is_it = |m: &&Value| m["message_id"].as_i64() > Some(asked) && text(m).starts_with("Used ");
        lines(&self.see("/usage", |view| view.bot_messages(ANN).into_iter().find(is_it).cloned()).await)
    }

    /// Asks for `/usage` until its line of today is as wanted: what is broken off is booked when nobody waits for it.
    pub async fn used_today(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let wanted = async || Some(self.usage().await).filter(|usage| is_wanted(&usage[7]));
        eventually(|| format!("{:?}", self.bot_texts(ANN).last()), wanted).await
    }
}

pub fn lines(card: &Value) -> Vec<String> {
    text(card).lines().filter(|line| !line.is_empty()).map(ToOwned::to_owned).collect()
}

#[tokio::test]
async fn what_an_answer_cost_is_shown_by_day_chat_person_and_model() {
    let world = World::new().await;
    let recipe = world.priced().set("DAILY_USD", "0.50");
    let bot = recipe.spawn();
    bot.ready().await;
    let before = world.usage().await;
    assert_eq!(before[0], "Used in the last seven days");
    assert_eq!(before.len(), 9, "no answer yet: {before:?}");
    assert!(before[1..8].iter().all(|line| line.ends_with(" ░░░░░░░░░░ 0")), "{before:?}");
    assert_eq!(before[8], "Today $0 of $0.50 (0 %)");
    // 50,000 · $0.0000004 + 21,400 · $0.0000016.
    world.script.push(ModelReply::text("Hello.").usage(50_000, 21_400));
    world.ask("hi").await;
    world.script.push(ModelReply::text("Hello, Bob.").usage(100, 100));
    world.told(BOB, BOB, "hi").await;
    let card = world.ask("/usage").await;
    let after = lines(&card);
    assert!(after[7].ends_with(" ██████████ 71 k tokens · $0.05"), "{after:?}");
    let names: Vec<&str> = after[1..8].iter().filter_map(|line| line.split(' ').next()).collect();
    let week = "Mon Tue Wed Thu Fri Sat Sun Mon Tue Wed Thu Fri Sat";
    assert!(week.contains(&names.join(" ")), "{names:?}");
    let rest = ["Today $0.05 of $0.50 (10 %)", "Last answer here: 71 k tokens · $0.05 · openai:gpt-4.1-mini"];
    assert_eq!(after[8..], rest);
    assert_eq!(labels(&card), ["By month", "By chat", "By person", "By model"]);
    let views = [
        ("By chat", vec!["Ann ██████████ 71 k tokens · $0.05", "Bob █░░░░░░░░░ 200 tokens · $0.0002"]),
        ("By model", vec!["openai:gpt-4.1-mini ██████████ 71 k tokens · $0.05"]),
        ("By person", vec!["Ann ██████████ 71 k tokens · $0.05", "Bob █░░░░░░░░░ 200 tokens · $0.0002"]),
    ];
    for (view, rows) in views {
        world.press(ANN, &card, view).await;
        let shown = world.shows(ANN, card["message_id"].as_i64().unwrap(), rows[0]).await;
        assert_eq!(lines(&shown)[1..=rows.len()], rows, "{view}");
        assert!(!labels(&shown).contains(&view.to_owned()), "{view}");
    }
    assert!(text(&world.ask("/status").await).contains("71 k tokens, $0.05\nToday $0.05 of $0.50 (10 %)"));
    bot.ends_well().await;
    let bot = recipe.spawn();
    bot.ready().await;
    assert_eq!(world.usage().await, after);
    bot.ends_well().await;
    let spent = sum(&world.books().await);
    assert_eq!((spent.tokens, spent.nano_usd), (71_600, 54_240_000 + 200_000));
}

#[tokio::test]
async fn somebody_who_has_written_in_a_group_alone_is_called_by_the_name_they_had_there() {
    let world = World::new().await;
    world.team();
    let bot = world.priced().set("ACCESS", "open").spawn();
    bot.ready().await;
    world.telegram.fail(
        "getChat",
        PlannedFailure::Status { status: 400, description: "Bad Request: chat not found".into() },
        9,
    );
    world.when("hello there", ModelReply::text("Hello, Bob.").usage(100, 100));
    world.told(BOB, TEAM, "@figaro_bot hello there").await;
    let card = world.ask("/usage").await;
    world.press(ANN, &card, "By person").await;
    world.shows(ANN, number(&card["message_id"]), "Bob █").await;
}

#[tokio::test]
async fn members_and_groups_see_their_own_chat_only() {
    let world = World::new().await;
    world.team();
    world.person(EVE, "Eva", "pt");
    let bot = world.priced().spawn();
    bot.ready().await;
    world.script.push(ModelReply::text("Hello.").usage(900, 50));
    world.ask("hi").await;
    world.script.push(ModelReply::text("Hello, all.").usage(300, 33));
    world.told(BOB, TEAM, "@figaro_bot hi").await;
    let own = lines(&world.told(BOB, BOB, "/usage").await);
    assert_eq!((own[0].as_str(), own.len()), ("Used here in the last seven days", 8), "{own:?}");
    assert!(own[1..].iter().all(|line| line.ends_with(" 0")), "{own:?}");
    for person in [ANN, BOB] {
        let card = world.told(person, TEAM, "/usage@figaro_bot").await;
        let team = lines(&card);
        assert!(team[7].ends_with(" ██████████ 333 tokens · $0.00017"), "{team:?}");
        assert_eq!((team.len(), labels(&card).len()), (9, 0));
    }
    let eva = lines(&world.told(EVE, EVE, "/usage").await);
    assert_eq!(eva[0], "Usado aqui nos últimos sete dias");
    assert!("seg ter qua qui sex sáb dom seg".contains(&eva[7][..3]), "{eva:?}");
    // An owner's card stays behind when its owner is none any more.
    let card = world.ask("/usage").await;
    bot.ends_well().await;
    let bot = world.priced().set("OWNER_IDS", &EVE.to_string()).spawn();
    bot.ready().await;
    assert_eq!(world.press(ANN, &card, "By person").await, "Only an owner of the bot can do that.");
    assert_eq!(lines(&world.ask("/usage").await)[0], "Used here in the last seven days");
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn an_unknown_price_is_never_shown_as_nothing() {
    let world = World::new().await;
    let recipe = world.bot().set("DAILY_TOKENS", "1_000_000").set("DAILY_USD", "5");
    let bot = recipe.spawn();
    bot.ready().await;
    world.script.push(ModelReply::text("Hello.").usage(100, 10));
    world.ask("hi").await;
    let card = world.ask("/usage").await;
    let usage = lines(&card);
    assert!(usage[7].ends_with(" 110 tokens · $?"), "{usage:?}");
    let rest = ["Today 110 of 1.0 M tokens (0 %)", "Today $? of $5.00 (? %)"];
    assert_eq!(usage[8..10], rest);
    assert_eq!(usage[10], "Last answer here: 110 tokens · $? · openai:offline");
    assert!(text(&world.ask("/status").await).contains("110 tokens, $?"));
    bot.ends_well().await;
    let bot = recipe.set("LLM_PRICES", "openai:off*=10/5/30").spawn();
    bot.ready().await;
    world.script.push(ModelReply::text("Hello.").usage(1_000, 1_000));
    world.ask("and now?").await;
    let usage = world.usage().await;
    assert!(usage[7].ends_with(" 2.1 k tokens · $0.04 + ?"), "{usage:?}");
    assert_eq!(usage[9], "Today $0.04 + ? of $5.00 (? %)");
    assert_eq!(usage[10], "Last answer here: 2.0 k tokens · $0.04 · openai:offline");
}
