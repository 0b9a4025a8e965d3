//! What is remembered about people: taken from what they say, used, shown, changed, kept apart, and asked about before.

use figaro_base::ids::UserId;
use figaro_domain::memory::Memory;
use figaro_offline::model::{Gate, ModelReply, ModelRequest, OfflineModel, ReplyPart};
use figaro_offline::telegram::{Say, TelegramView};
use serde_json::{Value, json};

use super::task_tools::{scene, start};
use crate::support::calls::says;
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::wait::{eventually, recorded};
use crate::support::{ANN, BOB, Bot, World};

pub const ON: (&str, &str) = ("MEMORY_LIMIT", "50");
const ASKS: (&str, &str) = ("MEMORY_CONSENT", "ask");
/// Stands in a request for facts about Bob.
const OF_BOB: &str = "<known about=\"Bob\">";

/// What a model proposes: each is the words of the message `N1`, `N2`, … and what is to be remembered of them.
pub fn proposes(facts: &[(&str, &str)]) -> ModelReply {
    let item = |(at, (quote, content)): (usize, &(&str, &str))| {
        let message = format!("N{}", at + 1);
        json!({"change": "create", "message": message, "quote": quote, "content": content, "memories": []})
    };
    let items: Vec<Value> = facts.iter().enumerate().map(item).collect();
    ModelReply::text(&json!({"items": items}).to_string())
}

pub async fn remembering(settings: &[(&str, &str)]) -> (World, Bot) {
    let (world, bot) = scene().await;
    bot.ends_well().await;
    let bot = start(&world, &[&[ON], settings].concat()).await;
    (world, bot)
}

/// Someone asks, gets an answer, and what the model was asked is given back.
async fn asks(world: &World, who: i64, chat: i64, words: &str) -> ModelRequest {
    let answer = format!("Answer to {words}");
    world.when(words, ModelReply::text(&answer));
    let said = if chat == TEAM { format!("@figaro_bot {words}") } else { words.to_owned() };
    world.say(who, chat, &said);
    says(world, chat, &answer).await;
    world.asked().into_iter().rev().find(|request| request.user_text().contains(words)).unwrap()
}

/// What a model was asked for facts about Bob.
fn of_bob(world: &World) -> Vec<ModelRequest> {
    let mut asked = world.model.extraction_requests();
    asked.retain(|request| request.user_text().contains(OF_BOB));
    asked
}

/// Waits until a model was asked for facts about Bob so often.
async fn extractions(world: &World, count: usize) -> Vec<ModelRequest> {
    world.asked_for(OfflineModel::extraction_requests, OF_BOB, count).await
}

/// Someone says a fact, and a model is asked about these words, of which it proposes all; the answer is there too.
pub async fn tells(world: &World, chat: i64, say: Say, fact: &str) {
    let answer = format!("Noted: {fact}");
    let new = format!("{fact}.</said>");
    // What was said right before it may be read with it.
    world.script.extract_when(&new, proposes(&[(fact, fact); 3]));
    world.when(&format!("{fact}."), ModelReply::text(&answer));
    world.telegram.send(say).unwrap();
    says(world, chat, &answer).await;
    world.asked_for(OfflineModel::extraction_requests, &new, 1).await;
}

/// Waits until the person sees that this is remembered; gives the card.
pub async fn remembered(world: &World, who: i64, words: &str) -> Value {
    eventually(
        || format!("{words} is not remembered: {:?}", world.bot_texts(who).last()),
        async || {
            let card = world.told(who, who, "/memory").await;
            labels(&card).iter().any(|label| label.contains(words)).then_some(card)
        },
    )
    .await
}

/// The memories of somebody in the store of a bot that has stopped, active ones only.
pub async fn stored(world: &World, who: i64) -> Vec<Memory> {
    let mut all = world.stored().await.facts().of_person(&UserId::telegram(who)).unwrap();
    all.retain(Memory::is_active);
    all
}

pub fn words(memories: &[Memory]) -> Vec<&str> {
    memories.iter().map(|memory| memory.content.as_str()).collect()
}

fn prompt(request: &ModelRequest) -> String {
    request.body.to_string()
}

#[tokio::test]
async fn a_fact_is_remembered_used_shown_changed_and_removed() {
    let (world, bot) = remembering(&[]).await;
    world.script.extract_when("I live in Riga.", proposes(&[("I live in Riga", "Lives in Riga")]));
    let first = asks(&world, BOB, BOB, "Hello! I live in Riga.").await;
    assert!(!prompt(&first).contains("use_memories"), "nothing is remembered yet");
    let card = remembered(&world, BOB, "Lives in Riga").await;
    assert!(text(&card).contains("1 of at most 50"), "{card}");
    let asked = extractions(&world, 1).await.remove(0);
    assert!(
        asked.user_text().contains("<said id=\"N1\">Hello! I live in Riga.</said>"),
        "{}",
        asked.user_text()
    );
    assert!(asked.tool_names().is_empty() && !asked.offers_search());

    // An answer that names it is one pass; a label that stands for nothing is ignored.
    let names = ReplyPart::Call { name: "use_memories".into(), arguments: json!({"labels": ["M1", "M9"]}) };
    world.when("weather", ModelReply::turn(vec![ReplyPart::Text("It rains in Riga.".into()), names]));
    world.say(BOB, BOB, "what is the weather like?");
    says(&world, BOB, "It rains in Riga.").await;
    world.caught_up().await;
    let of_weather = |request: &ModelRequest| request.user_text().contains("weather");
    let requests: Vec<ModelRequest> = world.asked().into_iter().filter(of_weather).collect();
    assert_eq!(requests.len(), 1, "no further pass");
    let all = prompt(&requests[0]);
    assert!(all.contains("M1: Lives in Riga") && all.contains("use_memories"), "{all}");
    assert_eq!(requests[0].tool_names().last().copied(), Some("use_memories"));

    let card = remembered(&world, BOB, "Lives in Riga").await;
    let id = number(&card["message_id"]);
    world.press(BOB, &card, "Lives in Riga").await;
    let opened = world.shows(BOB, id, "Answers that used it: 1").await;
    assert_eq!(labels(&opened), ["See source", "Edit", "Delete", "‹ Back"]);
    world.press(BOB, &card, "See source").await;
    let shown = says(&world, BOB, "You said it here.").await;
    assert_eq!(shown["reply_to_message"]["text"], "Hello! I live in Riga.");

    world.press(BOB, &card, "Edit").await;
    let question = says(&world, BOB, "Reply to this message with what I should").await;
    let reply = |words: &str| Say::new(BOB, BOB, words).reply_to(number(&question["message_id"]));
    world.telegram.send(reply("my password is hunter2")).unwrap();
    says(&world, BOB, "I keep no passwords").await;
    world.telegram.send(reply("Lives  in Rome")).unwrap();
    says(&world, BOB, "I remember now: “Lives in Rome”").await;
    let request = asks(&world, BOB, BOB, "and now?").await;
    assert!(prompt(&request).contains("M1: Lives in Rome"), "{}", prompt(&request));

    let card = remembered(&world, BOB, "Lives in Rome").await;
    let id = number(&card["message_id"]);
    world.press(BOB, &card, "Lives in Rome").await;
    world.shows(BOB, id, "Answers that used it: 1").await;
    assert_eq!(world.press(BOB, &card, "Delete").await, "Deleted: Lives in Rome");
    world.shows(BOB, id, "Nothing yet").await;
    let request = asks(&world, BOB, BOB, "what do you know?").await;
    assert!(!prompt(&request).contains("Lives in Rome") && !prompt(&request).contains("use_memories"));
    assert_eq!(world.press(BOB, &card, "Undo").await, "I remember it again: Lives in Rome");
    world.caught_up().await;
    bot.ends_well().await;
    let kept = stored(&world, BOB).await;
    assert_eq!((words(&kept), kept[0].access_count), (vec!["Lives in Rome"], 1));
}

#[tokio::test]
async fn of_a_model_without_tools_an_answer_uses_the_memories_whose_words_it_says() {
    let (world, _bot) = remembering(&[("OPENAI_MODEL", "gpt-3.5-turbo-16k")]).await;
    world.script.extract_when("I live in Riga.", proposes(&[("I live in Riga", "Lives in Riga")]));
    asks(&world, BOB, BOB, "Hello! I live in Riga.").await;
    remembered(&world, BOB, "Lives in Riga").await;
    asks(&world, BOB, BOB, "How are you?").await;
    world.when("weather", ModelReply::text("In Riga it rains."));
    world.say(BOB, BOB, "what is the weather like?");
    says(&world, BOB, "In Riga it rains.").await;
    world.caught_up().await;
    let card = remembered(&world, BOB, "Lives in Riga").await;
    world.press(BOB, &card, "Lives in Riga").await;
    world.shows(BOB, number(&card["message_id"]), "Answers that used it: 1").await;
}

#[tokio::test]
async fn what_is_said_in_private_stays_there_and_nobody_sees_what_another_said() {
    let (world, bot) = remembering(&[]).await;
    for (chat, said, fact) in
        [(BOB, "I have two cats.", "I have two cats"), (TEAM, "I drive a red car.", "I drive a red car")]
    {
        world.script.extract_when(fact, proposes(&[(fact, fact)]));
        asks(&world, BOB, chat, said).await;
        remembered(&world, BOB, fact).await;
    }
    let shown = |request: &ModelRequest| {
        let all = prompt(request);
        let memories = all.split("<memories").nth(1).unwrap_or_default().to_owned();
        [memories.contains("two cats"), memories.contains("red car")]
    };
    assert_eq!(shown(&asks(&world, BOB, BOB, "what of me in private?").await), [true, true]);
    assert_eq!(shown(&asks(&world, BOB, TEAM, "what of me in the team?").await), [false, true]);
    assert_eq!(shown(&asks(&world, ANN, TEAM, "what of Bob?").await), [false, false]);
    assert_eq!(shown(&asks(&world, ANN, ANN, "and here?").await), [false, false]);
    let told = world.told(BOB, TEAM, "/memory@figaro_bot").await;
    assert_eq!(text(&told), "Only you should see what I remember about you. Send me /memory in private.");

    // Its card tells of the group, and Ann's press on a button of Bob's finds nothing of hers.
    let card = remembered(&world, BOB, "red car").await;
    world.press(BOB, &card, "I drive a red car").await;
    let opened = world.shows(BOB, number(&card["message_id"]), "in Team").await;
    assert_eq!(world.press(BOB, &card, "See source").await, "Messages of that group have no link.");
    let data =
        crate::support::scene::buttons(&opened).into_iter().find(|(label, _)| label == "Delete").unwrap().1;
    let own = world.told(ANN, ANN, "/memory").await;
    assert_eq!(world.forged(ANN, &own, &data).await, "This is no longer up to date.");
    assert_eq!(world.forged(BOB, &told, &data).await, "This is no longer up to date.", "not in a group");
    bot.ends_well().await;
    assert_eq!(stored(&world, BOB).await.len(), 2);
    assert_eq!(stored(&world, ANN).await.len(), 0);
}

#[tokio::test]
async fn a_model_that_proposes_all_that_it_reads_keeps_what_the_person_said() {
    let (world, bot) = remembering(&[]).await;
    // Passed on, quoted, in code, as a reply: none of it is Bob's word.
    let quoted = world.say(ANN, TEAM, "I live in Atlantis").message_id;
    let spans = vec![json!({"type": "blockquote", "offset": 0, "length": 16})];
    let said = [
        Say::new(BOB, BOB, "I live in Kyiv, see. I drink tea.").entities(spans.clone()),
        Say::new(BOB, BOB, "`I live in Oslo` is this code? I drink tea."),
        Say::new(BOB, TEAM, "@figaro_bot is it so? I drink tea.").reply_to(quoted),
    ];
    world.otherwise(ModelReply::text("Well."));
    for (say, words) in said.into_iter().zip(["I live in Kyiv", "I live in Oslo", "I live in Atlantis"]) {
        let before = of_bob(&world).len();
        world.script.extract_when("Bob", proposes(&[(words, words)]));
        world.telegram.send(say).unwrap();
        extractions(&world, before + 1).await;
    }
    world.telegram.send(Say::new(BOB, BOB, "I live in Minsk").forward_from(ANN)).unwrap();
    world.caught_up().await;
    let before = of_bob(&world).len();
    let twice = [("I have two cats", "I have two cats"), ("I have two cats", "Has two cats")];
    world.script.extract_when("I have two cats.</said>", proposes(&twice));
    world.say(BOB, BOB, "I have two cats.");
    remembered(&world, BOB, "I have two cats").await;
    let asked = extractions(&world, before + 1).await;
    let is_new =
        |request: &ModelRequest| request.user_text().split("<new>").nth(1).unwrap().contains("Minsk");
    assert!(!asked.iter().any(is_new), "what is passed on is not read");
    bot.ends_well().await;
    assert_eq!(words(&stored(&world, BOB).await), ["I have two cats"]);
}

#[tokio::test]
async fn where_people_are_asked_nothing_is_read_before_they_agree() {
    let (world, bot) = remembering(&[ASKS]).await;
    asks(&world, BOB, BOB, "what is the weather?").await;
    world.caught_up().await;
    assert!(!world.bot_texts(BOB).iter().any(|text| text.contains("May I remember")));
    asks(&world, BOB, BOB, "I live in Riga.").await;
    let question = says(&world, BOB, "May I remember them?").await;
    assert_eq!(labels(&question), ["Remember", "Do not remember"]);
    asks(&world, BOB, BOB, "I have two cats.").await;
    world.caught_up().await;
    assert_eq!(of_bob(&world).len(), 0);
    let is_question = |text: &&String| text.contains("May I remember");
    assert_eq!(world.bot_texts(BOB).iter().filter(is_question).count(), 1, "they are asked once");
    // What they have said since then counts.
    // One message after the other was taken for a fact, so both are there.
    let both = [("I live in Riga", "Lives in Riga"), ("I have two cats", "Has two cats")];
    world.script.extract_when("I have two cats", proposes(&both));
    let toast = world.press(BOB, &question, "Remember").await;
    assert!(toast.starts_with("I remember lasting facts"), "{toast}");
    let card = remembered(&world, BOB, "Lives in Riga").await;
    assert!(labels(&card).contains(&"Has two cats".to_owned()), "{card}");

    // Off keeps what is there and makes nothing new.
    let toast = world.press(BOB, &card, "Remember nothing new").await;
    assert_eq!(toast, "I remember nothing new about you.");
    let before = of_bob(&world).len();
    asks(&world, BOB, BOB, "I work as a nurse.").await;
    world.caught_up().await;
    assert_eq!(of_bob(&world).len(), before);
    world.press(BOB, &card, "Erase all").await;
    let id = number(&card["message_id"]);
    world.shows(BOB, id, "Erase all 2 things that I remember about you?").await;
    assert_eq!(world.press(BOB, &card, "Erase all").await, "Erased: 2.");
    bot.ends_well().await;
    let store = world.stored().await;
    assert_eq!(store.facts().of_person(&UserId::telegram(BOB)).unwrap(), []);
    assert_eq!(store.facts().people_with_unread().unwrap(), []);
}

#[tokio::test]
async fn whoever_declines_is_left_alone() {
    let (world, bot) = remembering(&[ASKS]).await;
    asks(&world, BOB, TEAM, "I live in Riga.").await;
    // Asked in private, whatever the chat.
    let question = says(&world, BOB, "May I remember them?").await;
    assert_eq!(world.press(BOB, &question, "Do not remember").await, "I remember nothing new about you.");
    asks(&world, BOB, BOB, "I have two cats.").await;
    asks(&world, BOB, BOB, "I work as a nurse.").await;
    world.caught_up().await;
    bot.ends_well().await;
    assert_eq!(of_bob(&world).len(), 0);
    let store = world.stored().await;
    assert_eq!(store.facts().people_with_unread().unwrap(), []);
    assert_eq!(store.facts().of_person(&UserId::telegram(BOB)).unwrap(), []);
}

/// Someone says how they always want something, and a model says that it is so.
async fn prefers(world: &World, chat: i64, fact: &str) {
    let item = json!({"change": "create", "message": "N1", "quote": fact, "content": fact, "memories": [],
        "preference": true});
    let reply = ModelReply::text(&json!({"items": [item]}).to_string());
    world.script.extract_when(&format!("{fact}.</said>"), reply);
    asks(world, BOB, chat, &format!("{fact}.")).await;
    remembered(world, BOB, fact).await;
}

/// What stands between these marks of a request, all places together.
fn part(request: &ModelRequest, mark: &str) -> String {
    let (all, end) = (prompt(request), format!("</{mark}>"));
    all.split(&format!("<{mark}")).skip(1).filter_map(|part| part.split(&end).next()).collect()
}

#[tokio::test]
async fn a_lasting_preference_is_pinned_in_private_and_goes_when_it_is_taken_back() {
    let (world, bot) = remembering(&[]).await;
    prefers(&world, BOB, "I prefer short answers").await;
    prefers(&world, TEAM, "I like long stories").await;
    let pins = world.told(BOB, TEAM, "/pins@figaro_bot").await;
    assert!(!labels(&pins).iter().any(|label| label.contains("stories")), "others see these: {pins}");
    let pins = world.told(BOB, BOB, "/pins").await;
    assert_eq!(labels(&pins), ["I prefer short answers"]);
    world.press(BOB, &pins, "I prefer").await;
    let open = world.shows(BOB, number(&pins["message_id"]), "A lasting preference").await;
    assert!(text(&open).contains("Words of Bob") && labels(&open).contains(&"See original".to_owned()));
    // It is told once, as what is remembered.
    world.told(BOB, BOB, "/new").await;
    let request = asks(&world, BOB, BOB, "how do you answer?").await;
    assert!(part(&request, "memories").contains("short answers"), "{}", prompt(&request));
    assert!(!part(&request, "pins").contains("short answers"), "{}", prompt(&request));

    // It says what the memory says, and goes and comes with it.
    let card = remembered(&world, BOB, "short answers").await;
    let id = number(&card["message_id"]);
    world.press(BOB, &card, "I prefer short").await;
    world.shows(BOB, id, "Not used yet").await;
    world.press(BOB, &card, "Edit").await;
    let question = says(&world, BOB, "Reply to this message with what I should").await;
    let reply = Say::new(BOB, BOB, "I prefer brief answers").reply_to(number(&question["message_id"]));
    world.telegram.send(reply).unwrap();
    says(&world, BOB, "I remember now").await;
    assert_eq!(labels(&world.told(BOB, BOB, "/pins").await), ["I prefer brief answers"]);
    let card = remembered(&world, BOB, "brief answers").await;
    let id = number(&card["message_id"]);
    world.press(BOB, &card, "I prefer brief").await;
    world.shows(BOB, id, "Not used yet").await;
    world.press(BOB, &card, "Delete").await;
    world.shows(BOB, id, "1 of at most").await;
    assert!(labels(&world.told(BOB, BOB, "/pins").await).is_empty());
    world.press(BOB, &card, "Undo").await;
    world.shows(BOB, id, "2 of at most").await;
    assert_eq!(labels(&world.told(BOB, BOB, "/pins").await).len(), 1);
    bot.ends_well().await;
}

#[tokio::test]
async fn a_pinned_preference_outlives_the_limit_of_memories_and_no_erasure() {
    let (world, bot) = scene().await;
    bot.ends_well().await;
    let bot = start(&world, &[("MEMORY_LIMIT", "1"), ("ERASE_AFTER", "1")]).await;
    prefers(&world, BOB, "I prefer short answers").await;
    tells(&world, BOB, Say::new(BOB, BOB, "I work as a nurse."), "I work as a nurse").await;
    let card = remembered(&world, BOB, "nurse").await;
    assert!(text(&card).contains("1 of at most 1"), "{card}");
    world.told(BOB, BOB, "/new").await;
    let request = asks(&world, BOB, BOB, "how do you answer?").await;
    assert!(!part(&request, "memories").contains("short answers"), "{}", prompt(&request));
    assert!(part(&request, "pins").contains("I prefer short answers"), "{}", prompt(&request));
    let id = number(&card["message_id"]);
    world.press(BOB, &card, "Erase all").await;
    world.shows(BOB, id, "Erase ").await;
    world.press(BOB, &card, "Erase all").await;
    world.shows(BOB, id, "Nothing yet").await;
    assert!(labels(&world.told(BOB, BOB, "/pins").await).is_empty());
    let request = asks(&world, BOB, BOB, "and what now?").await;
    assert!(!prompt(&request).contains("short answers"), "{}", prompt(&request));

    // The message goes, and the pin with it, although its memory has left before.
    prefers(&world, BOB, "I always want metric units").await;
    tells(&world, BOB, Say::new(BOB, BOB, "I live in Riga."), "I live in Riga").await;
    remembered(&world, BOB, "Riga").await;
    assert_eq!(labels(&world.told(BOB, BOB, "/pins").await), ["I always want metric units"]);
    let card = world.told(BOB, BOB, "/forget metric units").await;
    let id = number(&card["message_id"]);
    world.press(BOB, &card, "Forget all (2)").await;
    world.shows(BOB, id, "Forget all of these").await;
    world.press(BOB, &card, "Forget").await;
    world.shows(BOB, id, "• pins: 1").await;
    assert!(labels(&world.told(BOB, BOB, "/pins").await).is_empty());
    bot.ends_well().await;
}

#[tokio::test]
async fn a_kill_at_any_moment_of_the_work_loses_nothing_and_does_nothing_twice() {
    for (name, cut) in [("asked", Some(0)), ("in its words", Some(2)), ("over", None)] {
        let (world, bot) = remembering(&[]).await;
        let whole = || proposes(&[("I live in Riga", "Lives in Riga")]);
        match cut {
            Some(pieces) => world.script.extract_when("Riga", whole().hang_after(pieces)),
            None => world.script.extract_when("Riga", whole()),
        }
        world.script.extract_when("Riga", whole());
        asks(&world, BOB, BOB, "I live in Riga.").await;
        extractions(&world, 1).await;
        if cut.is_none() {
            remembered(&world, BOB, "Lives in Riga").await;
        }
        // What is to be seen is on disk a moment later.
        recorded().await;
        bot.kill();
        let bot = start(&world, &[ON]).await;
        remembered(&world, BOB, "Lives in Riga").await;
        world.caught_up().await;
        let times = of_bob(&world).len();
        assert_eq!(times, if cut.is_some() { 2 } else { 1 }, "{name}");
        bot.ends_well().await;
        assert_eq!(words(&stored(&world, BOB).await), ["Lives in Riga"], "{name}");
        assert_eq!(world.stored().await.facts().people_with_unread().unwrap(), [], "{name}");
    }
}

#[tokio::test]
async fn a_kill_before_the_model_was_asked_loses_nothing() {
    let (world, bot) = remembering(&[]).await;
    let gate = Gate::new();
    world.script.extract_when("I like mornings", proposes(&[]).behind(&gate));
    asks(&world, BOB, BOB, "I like mornings.").await;
    extractions(&world, 1).await;
    // While the first is read, two more come: they are read together.
    asks(&world, BOB, BOB, "I live in Riga.").await;
    asks(&world, BOB, BOB, "I have two cats.").await;
    bot.kill();
    gate.open();
    let facts = [("mornings", "x"), ("I live in Riga", "Lives in Riga"), ("I have two cats", "Has two cats")];
    world.script.extract_when("I like mornings", proposes(&facts));
    let bot = start(&world, &[ON]).await;
    remembered(&world, BOB, "Has two cats").await;
    let last = extractions(&world, 2).await.pop().unwrap();
    assert!(last.user_text().contains("<said id=\"N3\">I have two cats.</said>"), "{}", last.user_text());
    bot.ends_well().await;
    assert_eq!(stored(&world, BOB).await.len(), 2);
}

#[tokio::test]
async fn answers_of_no_use_are_asked_for_a_few_times_and_a_failing_model_later() {
    let (world, bot) = remembering(&[]).await;
    let useless = || {
        for words in ["I live in Riga", "That cannot be read"] {
            world.script.extract_when(words, ModelReply::text("I would rather not say."));
        }
    };
    useless();
    asks(&world, BOB, BOB, "I live in Riga.").await;
    bot.logged("they are read again later").await;
    bot.ends_well().await;
    // A restart does not wait; each reading has a complaint and counts.
    for readings in 2..=4 {
        useless();
        // A model that failed five times in a row would be left alone.
        std::fs::remove_file(world.folder.path().join("data/models.json")).unwrap();
        let bot = start(&world, &[ON]).await;
        bot.logged("they are read again later").await;
        assert_eq!(world.model.extraction_requests().len(), readings * 2);
        bot.ends_well().await;
    }
    std::fs::remove_file(world.folder.path().join("data/models.json")).unwrap();
    let (bot, asked) = (start(&world, &[ON]).await, world.model.extraction_requests().len());
    bot.logged("every try failed").await;
    world.caught_up().await;
    assert_eq!(world.model.extraction_requests().len(), asked);
    bot.ends_well().await;
    assert_eq!(world.stored().await.facts().people_with_unread().unwrap(), []);
    let (world, other) = remembering(&[]).await;
    world.script.extract_when("Riga", ModelReply::status(400, "no"));
    asks(&world, BOB, BOB, "I live in Riga.").await;
    other.logged("they are read again later").await;
    other.ends_well().await;
    world.script.extract_when("Riga", proposes(&[("I live in Riga", "Lives in Riga")]));
    let bot = start(&world, &[ON]).await;
    remembered(&world, BOB, "Lives in Riga").await;
    bot.ends_well().await;
}

#[tokio::test]
async fn above_the_limit_the_least_used_goes_and_without_one_nothing_is_read() {
    let (world, bot) = scene().await;
    bot.ends_well().await;
    let bot = start(&world, &[("MEMORY_LIMIT", "2")]).await;
    for (said, fact) in [
        ("I live in Riga.", "I live in Riga"),
        ("I have two cats.", "I have two cats"),
        ("I work as a nurse.", "I work as a nurse"),
    ] {
        world.script.extract_when(fact, proposes(&[(fact, fact)]));
        asks(&world, BOB, BOB, said).await;
        remembered(&world, BOB, fact).await;
    }
    bot.ends_well().await;
    assert_eq!(words(&stored(&world, BOB).await), ["I have two cats", "I work as a nurse"]);
    let before = of_bob(&world).len();
    let bot = start(&world, &[("MEMORY_LIMIT", "0")]).await;
    asks(&world, BOB, BOB, "I play chess.").await;
    world.caught_up().await;
    bot.ends_well().await;
    assert_eq!(of_bob(&world).len(), before);
    assert_eq!(world.stored().await.facts().people_with_unread().unwrap(), []);
}

#[tokio::test]
async fn a_turn_does_not_wait_for_what_is_read_and_the_runs_of_tasks_are_not_read() {
    let (world, bot) = remembering(&[]).await;
    world.script.extract_when("Riga", proposes(&[]).hang_after(0));
    asks(&world, BOB, BOB, "I live in Riga.").await;
    asks(&world, BOB, BOB, "and a second question").await;
    asks(&world, ANN, ANN, "what of others?").await;
    let find = |view: &TelegramView<'_>| (!view.bot_messages(ANN).is_empty()).then_some(());
    world.see("an answer", find).await;
    bot.ends_well().await;
}
