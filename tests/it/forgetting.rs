//! `/forget`, `/export` and `/privacy`: what is forgotten is in no prompt, search or file of the bot from then on, and soon in no
//! byte of its folder; and everybody gets what is theirs, and nothing of others.

#![expect(clippy::cognitive_complexity, reason = "every assertion counts as a branch")]

use std::time::{Duration, Instant};

use base64::Engine as _;
use chrono::TimeDelta;
use figaro_base::ids::{ChatId, UserId};
use figaro_config::EngineKind;
use figaro_domain::conversation::{ConversationId, Message, MessageRole};
use figaro_domain::message::Speaker;
use figaro_offline::model::{Gate, ModelReply, ModelRequest};
use figaro_offline::telegram::{MemberStatus, Person, Say, TelegramView};
use serde_json::{Value, json};

use super::task_tools::{CAROL, LEAP, now, recurring, scene, start};
use crate::support::bot::Recipe;
use crate::support::bytes;
use crate::support::calls::{call, calls, find_and_call, says};
use crate::support::scene::{TEAM, buttons, labels, number, text};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, Bot, TIMEOUT, World};

/// Stands in what is to be forgotten, and nowhere else.
const SECRET: &str = "zwölf \"rote\" Hüte 4711";
const GONE: &str = "what was erased is gone from the files of the store";
pub const BUSY: &str = "An answer is being written here. Wait for it, or end it with /stop.";

/// How the secret may stand in a file.
fn forms() -> Vec<Vec<u8>> {
    let json = serde_json::to_string(SECRET).unwrap().trim_matches('"').to_owned();
    let ascii = |c: char| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) };
    let escaped: String = json.chars().map(ascii).collect();
    let engine = base64::engine::general_purpose::STANDARD_NO_PAD;
    // As base64 has it wherever in a longer text it begins.
    let shifted = (0..3).map(|shift| {
        let whole = engine.encode([&vec![b'x'; shift][..], SECRET.as_bytes()].concat());
        whole.as_bytes()[4..whole.len() - 4].to_vec()
    });
    [SECRET.to_owned(), json, escaped].map(String::into_bytes).into_iter().chain(shifted).collect()
}

fn holds(bytes: &[u8]) -> bool {
    bytes::has_any(bytes, &forms())
}

/// The files of the store that hold the secret.
fn holding(world: &World) -> Vec<String> {
    bytes::holding(&world.store_folder(), &forms())
}

/// Waits until the bot says that its files are rewritten so many times since it was made.
pub async fn rewritten(bot: &Bot, times: usize) {
    bot.logged_times(GONE, times).await;
}

fn recipe(world: &World, kind: EngineKind, after: &str) -> Recipe {
    let recipe = world.bot().set("ACCESS", "open").set("STORE_URL", &format!("{kind}:./data"));
    recipe.set("ERASE_AFTER", after)
}

/// Somebody asks, and the answer repeats what they said; gives the number of their message.
async fn told(world: &World, who: i64, chat: i64, words: &str) -> i64 {
    world.when(words, ModelReply::text(&format!("You said: {words}")));
    let at = if chat == who { String::new() } else { "@figaro_bot ".to_owned() };
    let sent = world.say(who, chat, &format!("{at}{words}"));
    says(world, chat, &format!("You said: {words}")).await;
    sent.message_id
}

/// Somebody replies with a command, and gets a card.
pub async fn replied(world: &World, who: i64, chat: i64, to: i64, command: &str) -> Value {
    let before = world.bot_texts(chat).len();
    world.telegram.send(Say::new(who, chat, command).reply_to(to)).unwrap();
    world.answers(chat, before + 1).await.pop().unwrap()
}

/// A card after a press.
pub async fn pressed(world: &World, who: i64, card: &Value, label: &str, shows: &str) -> Value {
    world.press(who, card, label).await;
    world.shows(number(&card["chat"]["id"]), number(&card["message_id"]), shows).await
}

/// The second page of what was found.
async fn turned(world: &World, card: &Value) -> Value {
    world.press(BOB, card, "Next ▶").await;
    world.becomes(card, "newest first", "◀ Previous").await
}

/// What the model is sent when somebody asks something else.
async fn next_request(world: &World, who: i64, words: &str) -> ModelRequest {
    told(world, who, who, words).await;
    world.asked().into_iter().rev().find(|request| request.user_text().contains(words)).unwrap()
}

/// The files that the bot has sent to a chat: their names and contents.
fn sent(view: &TelegramView<'_>, chat: i64) -> Vec<(String, String)> {
    let file = |message: &Value| {
        let content = view.file(message["document"]["file_id"].as_str()?)?;
        let name = message["document"]["file_name"].as_str()?.to_owned();
        Some((name, String::from_utf8(content.to_vec()).unwrap()))
    };
    view.bot_messages(chat).into_iter().filter_map(file).collect()
}

pub async fn files(world: &World, chat: i64, count: usize) -> Vec<(String, String)> {
    world.see("the files", |view| Some(sent(view, chat)).filter(|files| files.len() >= count)).await
}

#[tokio::test]
async fn what_a_search_has_found_is_shown_without_markup() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Noted."));
    let _bot = world.start_open().await;
    world.told(BOB, BOB, "buy **milk** and `bread`").await;
    let found = world.told(BOB, BOB, "/forget milk").await;
    assert!(labels(&found).contains(&"buy milk and bread".to_owned()), "{found}");
}

/// One message, from the reply to the bytes.
async fn a_message_is_forgotten(kind: EngineKind) {
    let world = World::new().await;
    let bot = recipe(&world, kind, "1").spawn();
    bot.ready().await;
    told(&world, BOB, BOB, "good morning").await;
    let message = told(&world, BOB, BOB, &format!("my order is {SECRET}")).await;
    told(&world, BOB, BOB, "how is the weather?").await;
    assert!(!holding(&world).is_empty(), "it is kept until it is forgotten");
    let request = next_request(&world, BOB, "what did I order?").await;
    assert!(holds(request.body.to_string().as_bytes()), "the model is told what was said before");

    let card = replied(&world, BOB, BOB, message, "/forget").await;
    assert!(text(&card).starts_with("Forget this message for good, with my answer"), "{card}");
    let kept = pressed(&world, BOB, &card, "Keep", "Nothing was forgotten.").await;
    assert_eq!(labels(&kept), [""; 0]);
    let card = replied(&world, BOB, BOB, message, "/FORGET").await;
    let done = pressed(&world, BOB, &card, "Forget", "Forgotten").await;
    assert!(text(&done).contains("• messages: 1\n• answers of mine: 1\n\n"), "{done}");
    assert!(text(&done).contains("amounts of tokens and money"), "{done}");

    // At once from every prompt, search and file.
    let request = next_request(&world, BOB, "and which hats did I order?").await;
    let all = request.body.to_string();
    assert!(!holds(all.as_bytes()), "{all}");
    assert!(all.contains("good morning") && all.contains("how is the weather?"), "the rest stays: {all}");
    let card = replied(&world, BOB, BOB, message, "/forget").await;
    assert!(text(&card).starts_with("I keep nothing of this message."), "{card}");
    let card = world.told(BOB, BOB, "/forget rote hüte").await;
    assert!(text(&card).ends_with("I keep no message with these words."), "{card}");
    world.told(BOB, BOB, "/pin rote Hüte").await;
    let card = world.told(BOB, BOB, "/forget rote hüte").await;
    assert!(text(&card).ends_with("with these words. But they are in: /pins"), "{card}");
    let card = world.told(BOB, BOB, "/export").await;
    world.press(BOB, &card, "Everything").await;
    for (name, content) in files(&world, BOB, 2).await {
        assert!(!holds(content.as_bytes()), "{name}: {content}");
        assert!(content.contains("good morning"), "{name}: {content}");
    }
    // And soon from the folder.
    rewritten(&bot, 1).await;
    world.caught_up().await;
    assert_eq!(holding(&world), [""; 0]);
    assert_eq!(world.refused(), Vec::<String>::new());
    bot.ends_well().await;
    assert_eq!(holding(&world), [""; 0]);
    // What is left is whole.
    let bot = recipe(&world, kind, "1").spawn();
    bot.ready().await;
    let request = next_request(&world, BOB, "are you back?").await;
    assert!(request.body.to_string().contains("good morning"), "{request:?}");
}

#[tokio::test]
async fn a_message_is_forgotten_down_to_the_bytes_on_redb() {
    a_message_is_forgotten(EngineKind::Redb).await;
}

#[tokio::test]
async fn a_message_is_forgotten_down_to_the_bytes_on_sled() {
    a_message_is_forgotten(EngineKind::Sled).await;
}

/// Killed at any moment while the files are rewritten, the bot comes back with all that was kept, and ends what it began.
async fn killed_while_it_rewrites(kind: EngineKind) {
    let world = World::new().await;
    let waiting = recipe(&world, kind, "480").spawn();
    waiting.ready().await;
    let filler = vec!["filler"; 400].join(" ");
    for round in 0..10 {
        told(&world, BOB, BOB, &format!("round {round}: {filler}")).await;
    }
    // More than the pages that are written over at once.
    let long = vec![SECRET; 60].join(" ");
    for number in 0..8 {
        told(&world, BOB, BOB, &format!("order {number}: {long}")).await;
    }
    let card = world.told(BOB, BOB, "/forget hüte").await;
    pressed(&world, BOB, &card, "Forget all (16)", "Forget all of these").await;
    pressed(&world, BOB, &card, "Forget", "Forgotten").await;
    waiting.kill();
    assert!(!holding(&world).is_empty(), "{kind} holds it until it is rewritten");
    // With ERASE_AFTER=0 it begins as it starts: it is killed ever later.
    for step in 0..12_u64 {
        let bot = recipe(&world, kind, "0").spawn();
        let begun = Instant::now();
        // Without a pause between two looks, because the first kills are closer together than that.
        while !world.store_folder().join("fresh").exists() && begun.elapsed() < Duration::from_secs(20) {
            if bot.log().matches(GONE).count() > 0 {
                break;
            }
            tokio::task::yield_now().await;
        }
        tokio::time::sleep(Duration::from_micros(step * step * 700)).await;
        bot.kill();
    }
    let bot = recipe(&world, kind, "0").spawn();
    bot.ready().await;
    // The one before it may have ended the rewriting, and died before it could say so.
    let is_rewritten = || holding(&world).is_empty() && !world.store_folder().join("fresh").exists();
    eventually(
        || format!("{:?}; the log:\n{}", holding(&world), bot.log()),
        async || is_rewritten().then_some(()),
    )
    .await;
    let request = next_request(&world, BOB, "are you back?").await;
    assert!(!holds(request.body.to_string().as_bytes()));
    let left = std::fs::read_dir(world.store_folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<String> = left.map(|name| name.to_string_lossy().into_owned()).collect();
    assert!(!left.iter().any(|name| name.starts_with("fresh")), "{left:?}");
    let card = world.told(BOB, BOB, "/export").await;
    world.press(BOB, &card, "This conversation").await;
    let (_, content) = files(&world, BOB, 2).await.remove(0);
    for round in 0..10 {
        assert!(content.contains(&format!("round {round}: filler")), "round {round} is lost");
    }
    bot.ends_well().await;
}

#[tokio::test]
async fn killed_while_it_rewrites_it_ends_what_it_began_on_redb() {
    killed_while_it_rewrites(EngineKind::Redb).await;
}

#[tokio::test]
async fn killed_while_it_rewrites_it_ends_what_it_began_on_sled() {
    killed_while_it_rewrites(EngineKind::Sled).await;
}

/// Killed at any moment after the press, it forgets what it was told to forget once it is back.
async fn killed_while_it_erases(kind: EngineKind) {
    let world = World::new().await;
    let mut bot = recipe(&world, kind, "1").spawn();
    bot.ready().await;
    told(&world, BOB, BOB, "good morning").await;
    for step in 0..8_u64 {
        let message = told(&world, BOB, BOB, &format!("order {step}: {SECRET}")).await;
        let card = replied(&world, BOB, BOB, message, "/forget").await;
        let (_, data) = buttons(&card).into_iter().find(|(label, _)| label == "Forget").unwrap();
        world.telegram.press(BOB, BOB, number(&card["message_id"]), &data).unwrap();
        tokio::time::sleep(Duration::from_micros(step * step * 500)).await;
        bot.kill();
        bot = recipe(&world, kind, "1").spawn();
        bot.ready().await;
        world.caught_up().await;
        // What it read before it was told so is in no later request.
        let request = next_request(&world, BOB, &format!("what now, {step}?")).await;
        assert!(!holds(request.body.to_string().as_bytes()), "{kind}, step {step}: {request:?}");
        assert!(request.body.to_string().contains("good morning"), "{kind}, step {step}: {request:?}");
    }
    world.erased(&forms()).await;
    bot.ends_well().await;
    assert_eq!(holding(&world), [""; 0]);
}

#[tokio::test]
async fn killed_while_it_erases_it_forgets_once_it_is_back_on_redb() {
    killed_while_it_erases(EngineKind::Redb).await;
}

#[tokio::test]
async fn killed_while_it_erases_it_forgets_once_it_is_back_on_sled() {
    killed_while_it_erases(EngineKind::Sled).await;
}

#[tokio::test]
async fn everything_of_a_private_chat_is_forgotten_and_others_lose_nothing() {
    let world = World::new().await;
    let bot = start(&world, &[("ERASE_AFTER", "1")]).await;
    let note = json!({"key": "orders", "content": SECRET});
    assert_eq!(call(&world, (BOB, BOB), "keep my order", "add_note", note).await["success"], true);
    call(&world, (BOB, BOB), "remind me of it", "schedule_task", recurring(SECRET, LEAP)).await;
    world.told(BOB, BOB, &format!("/config custom_prompt {SECRET}")).await;
    world.told(BOB, BOB, &format!("/new {SECRET}")).await;
    told(&world, BOB, BOB, SECRET).await;
    told(&world, ANN, ANN, "I am Ann and stay").await;
    let card = world.told(BOB, BOB, "/forget").await;
    assert_eq!(labels(&card), ["This conversation", "Everything about me here"]);
    let asked = pressed(&world, BOB, &card, "Everything", "Forget everything about you").await;
    assert_eq!(labels(&asked), ["Forget", "‹ Back"]);
    let done = pressed(&world, BOB, &card, "Forget", "Forgotten").await;
    for line in ["• conversations: 2", "• notes: 1", "• tasks: 1", "• messages: 3", "• your profile"]
    {
        assert!(text(&done).contains(line), "{line}: {done}");
    }
    let card = world.told(BOB, BOB, "/notes").await;
    assert!(!text(&card).contains("orders"), "{card}");
    let request = next_request(&world, BOB, "who am I?").await;
    let all = request.body.to_string();
    assert!(!holds(all.as_bytes()) && request.input().len() == 1, "{all}");
    let request = next_request(&world, ANN, "and I?").await;
    assert!(request.body.to_string().contains("I am Ann and stay"));
    rewritten(&bot, 1).await;
    world.caught_up().await;
    assert_eq!(holding(&world), [""; 0]);
    bot.ends_well().await;
}

#[tokio::test]
async fn in_a_group_everybody_has_their_own_forgotten_and_admins_the_rest() {
    let (world, bot) = scene().await;
    let of_bob = told(&world, BOB, TEAM, "Bob likes tea").await;
    let of_carol = told(&world, CAROL, TEAM, "Carol likes coffee").await;
    let not_yours = "You can erase your own messages";
    let card = replied(&world, BOB, TEAM, of_carol, "/forget@figaro_bot").await;
    assert!(text(&card).starts_with(not_yours), "{card}");
    // A button that was made up, or is another's, does no more.
    let own = replied(&world, BOB, TEAM, of_bob, "/forget@figaro_bot").await;
    assert!(world.press(CAROL, &own, "Forget").await.starts_with(not_yours));
    let answer = says(&world, TEAM, "You said: Carol").await;
    let card = replied(&world, BOB, TEAM, number(&answer["message_id"]), "/forget@figaro_bot").await;
    assert!(text(&card).starts_with(not_yours), "the answer to her is hers: {card}");
    let menu = world.told(BOB, TEAM, "/forget@figaro_bot").await;
    assert_eq!(world.forged(BOB, &menu, "forget:here").await, "Only an admin of this chat can do that.");

    pressed(&world, BOB, &menu, "Everything", "what you said in this group").await;
    // He is asked; nobody else's press is an answer.
    assert!(world.press(CAROL, &menu, "Forget").await.starts_with(not_yours));
    let done = pressed(&world, BOB, &menu, "Forget", "Forgotten").await;
    assert!(text(&done).contains("• messages: 1\n• answers of mine: 1\n"), "{done}");
    told(&world, CAROL, TEAM, "what do we like?").await;
    let last = world.asked().pop().unwrap().body.to_string();
    assert!(last.contains("likes coffee") && !last.contains("likes tea"), "{last}");

    // Words find only what is theirs; an owner finds all.
    let found = world.told(BOB, TEAM, "/forget@figaro_bot coffee").await;
    assert!(text(&found).starts_with("None of your messages that I keep"), "{found}");
    let found = world.told(CAROL, TEAM, "/forget@figaro_bot COFFEE").await;
    assert_eq!(labels(&found).len(), 3, "her words, the answer, all: {found}");
    assert_eq!(world.press(BOB, &found, "Forget all").await, "This is no longer up to date.");
    world.telegram.set_member(TEAM, BOB, MemberStatus::Admin).unwrap();
    let card = replied(&world, BOB, TEAM, of_carol, "/forget@figaro_bot").await;
    pressed(&world, BOB, &card, "Forget", "Forgotten").await;
    told(&world, CAROL, TEAM, "and now?").await;
    let last = world.asked().pop().unwrap().body.to_string();
    assert!(!last.contains("likes coffee"), "{last}");
    let menu = world.told(BOB, TEAM, "/forget@figaro_bot").await;
    pressed(&world, BOB, &menu, "This conversation", "Forget this conversation").await;
    pressed(&world, BOB, &menu, "Forget", "• conversations: 1").await;
    drop(bot);
}

#[tokio::test]
async fn what_the_model_wrote_into_settings_for_a_forgotten_message_goes_with_it() {
    let (world, bot) = scene().await;
    let own = json!({"personality": "as a marmalade pirate", "custom_prompt": "Mind the marmalade."});
    call(&world, (BOB, BOB), "talk as a marmalade pirate, I am in Riga", "set_config", own).await;
    let name = json!({"name": "Quartermaster Zed", "language": "Portuguese"});
    let said = "I am Quartermaster Zed, always";
    find_and_call(&world, (BOB, BOB), said, ("set_profile", name)).await;
    // What another message asked for stays.
    let other = json!({"timezone": "Europe/Riga", "language": "Latvian"});
    call(&world, (BOB, BOB), "please answer in Latvian", "set_config", other).await;
    let all = next_request(&world, BOB, "who am I?").await.body.to_string();
    assert!(all.contains("marmalade") && all.contains("Quartermaster"), "{all}");
    for words in ["talk as a marmalade", "Quartermaster Zed, always"] {
        let card = world.told(BOB, BOB, &format!("/forget {words}")).await;
        let row =
            labels(&card).into_iter().find(|label| label.contains(words) && !label.starts_with("Figaro"));
        pressed(&world, BOB, &card, &row.unwrap(), "Forget this message").await;
        pressed(&world, BOB, &card, "Forget", "Forgotten").await;
    }
    let all = next_request(&world, BOB, "and now?").await.body.to_string();
    assert!(!all.contains("marmalade") && !all.contains("Quartermaster"), "{all}");
    bot.ends_well().await;
    let store = world.stored().await;
    let config = store.settings().chat_config(ChatId(BOB)).unwrap();
    assert_eq!((config.personality, config.custom_prompt), (None, None));
    assert_eq!(
        (config.language.as_deref(), config.timezone),
        (Some("Latvian"), Some("Europe/Riga".parse().unwrap()))
    );
    assert_eq!(store.profiles().find(&UserId::telegram(BOB)).unwrap().unwrap().wishes, []);
    drop(store);
    for record in world.records().everything().into_values().flatten() {
        let record = String::from_utf8_lossy(&record.1).into_owned();
        assert!(!record.contains("marmalade") && !record.contains("Quartermaster"), "{record}");
    }
}

#[tokio::test]
async fn notes_and_reminders_that_were_made_for_a_forgotten_message_go_with_it() {
    let world = World::new().await;
    let bot = start(&world, &[("ERASE_AFTER", "1")]).await;
    let here = (BOB, BOB);
    let note = |content: &str| json!({"key": "codes", "content": content});
    let said = format!("note my order {SECRET} and remind me of it");
    let all = vec![("add_note", note(SECRET)), ("schedule_task", recurring(&format!("Say {SECRET}"), LEAP))];
    for made in calls(&world, here, &said, all).await {
        assert_eq!(made["success"], true, "{made}");
    }
    call(&world, here, "note the door code as well", "add_note", note("door 12")).await;
    // What another message asked for first stays.
    let again = format!("once more: {SECRET}");
    assert_eq!(call(&world, here, &again, "add_note", note("door 12")).await["already_there"], true);
    let milk = json!({"key": "shopping", "content": "milk"});
    let silent = "what we always have, please";
    call(&world, here, silent, "add_note", milk).await;
    assert!(holds(next_request(&world, BOB, "what is noted?").await.body.to_string().as_bytes()));

    for words in [said.as_str(), again.as_str(), silent] {
        let card = world.told(BOB, BOB, &format!("/forget {words}")).await;
        pressed(&world, BOB, &card, "@figaro_bot", "such as notes and reminders").await;
        let done = pressed(&world, BOB, &card, "Forget", "Forgotten").await;
        assert_eq!(text(&done).contains("• notes: 1\n• tasks: 1"), words == said, "{done}");
        assert_eq!(text(&done).contains("• notes: 1"), words != again, "{done}");
    }
    let all = next_request(&world, BOB, "and now?").await.body.to_string();
    assert!(!holds(all.as_bytes()) && all.contains("door 12") && !all.contains("milk"), "{all}");
    assert!(!text(&world.told(BOB, BOB, "/tasks").await).contains("rote"));
    rewritten(&bot, 1).await;
    world.caught_up().await;
    world.erased(&forms()).await;
    bot.ends_well().await;
}

#[tokio::test]
async fn words_find_what_is_to_be_forgotten_page_by_page() {
    let (world, bot) = scene().await;
    for number in 0..6 {
        told(&world, BOB, BOB, &format!("recipe number {number} with garlic")).await;
    }
    let gate = Gate::new();
    world.when("takes long", ModelReply::text("At last.").behind(&gate));
    let card = world.told(BOB, BOB, "/forget  Garlic RECIPE ").await;
    let first = labels(&card);
    assert_eq!(first.len(), 10, "{first:?}");
    assert_eq!(first[0], "Figaro: You said: recipe number 5 with garlic");
    assert_eq!(first[8..], ["Next ▶", "Forget all (12)"]);
    let second = turned(&world, &card).await;
    assert!(labels(&second).contains(&"recipe number 0 with garlic".to_owned()), "{second}");
    pressed(&world, BOB, &card, "recipe number 0", "Forget this message").await;
    world.say(BOB, BOB, "this takes long");
    let find =
        |asked: &[ModelRequest]| asked.iter().any(|one| one.user_text().contains("takes long")).then_some(());
    world.model.wait_until(TIMEOUT, find).await.unwrap();
    // An answer that is being written may have read it.
    assert_eq!(world.press(BOB, &card, "Forget").await, BUSY);
    let menu = world.told(BOB, BOB, "/forget").await;
    pressed(&world, BOB, &menu, "This conversation", "Forget this conversation").await;
    assert_eq!(world.press(BOB, &menu, "Forget").await, BUSY);
    gate.open();
    says(&world, BOB, "At last.").await;
    world.caught_up().await;
    let done = pressed(&world, BOB, &card, "Forget", "Forgotten").await;
    assert!(text(&done).contains("• messages: 1\n• answers of mine: 1\n"), "{done}");
    let card = world.told(BOB, BOB, "/forget garlic").await;
    pressed(&world, BOB, &card, "Forget all (10)", "Forget all of these 10 messages").await;
    pressed(&world, BOB, &card, "Forget", "• messages: 5\n• answers of mine: 5").await;
    let card = world.told(BOB, BOB, "/forget garlic").await;
    assert!(text(&card).starts_with("I keep no message"), "{card}");
    let request = next_request(&world, BOB, "what is there to eat?").await;
    assert!(!request.body.to_string().contains("garlic"), "{request:?}");
    drop(bot);
}

#[tokio::test]
async fn everybody_gets_what_is_theirs_as_two_files() {
    let (world, bot) = scene().await;
    world.telegram.add_user(Person::new(99, "Dora").language("en"));
    world.telegram.set_member(TEAM, 99, MemberStatus::Member).unwrap();
    let card = world.told(BOB, BOB, "/export").await;
    assert_eq!(labels(&card), ["This conversation", "Everything about me here"]);
    assert_eq!(world.press(BOB, &card, "Everything").await, "I keep nothing of this.");
    told(&world, BOB, BOB, "in private").await;
    told(&world, BOB, TEAM, "Bob likes tea").await;
    told(&world, CAROL, TEAM, "Carol likes coffee").await;
    told(&world, 99, TEAM, "Dora likes water").await;
    let note = json!({"key": "shopping", "content": "milk"});
    call(&world, (BOB, BOB), "buy milk", "add_note", note).await;
    world.told(BOB, BOB, "/persona new Poet: Speak in verse.\ntemperature 0.5\nlanguage: Frisian").await;

    assert_eq!(world.press(BOB, &card, "Everything").await, "Here it is, as two files.");
    let all = files(&world, BOB, 2).await;
    let poet = "- Poet: Speak in verse.\n  - language: Frisian\n  - temperature: 0.5\n";
    assert!(all[0].1.contains(poet), "{}", all[0].1);
    assert!(all[0].0.ends_with(".md") && all[1].0.ends_with(".json"), "{all:?}");
    for (name, content) in &all {
        assert!(content.contains("in private") && content.contains("milk"), "{name}: {content}");
        assert!(!content.contains("coffee") && !content.contains("tea"), "{name}: {content}");
    }
    let read: Value = serde_json::from_str(&all[1].1).unwrap();
    assert_eq!(read["kept"]["notes"][0]["content"], "milk");
    let own = &read["kept"]["personas"][0];
    assert_eq!((&own["language"], &own["settings"]["temperature"]), (&json!("Frisian"), &json!(0.5)));
    assert_eq!(read["kept"]["profile"]["names"]["shown"], "Bob");
    assert_eq!(read["kept"]["sessions"][0]["messages"][0]["text"], "in private");

    // In a group a member gets what they said, in their own chat; an admin gets the session there.
    let card = world.told(BOB, TEAM, "/export@figaro_bot").await;
    assert_eq!(world.forged(BOB, &card, "export:session").await, "Only an admin of this chat can do that.");
    assert_eq!(world.press(BOB, &card, "Everything").await, "I have sent it to you in our own chat.");
    let all = files(&world, BOB, 4).await;
    for (name, content) in &all[2..] {
        assert!(content.contains("Bob likes tea"), "{name}: {content}");
        assert!(!content.contains("coffee") && !content.contains("in private"), "{name}: {content}");
    }
    let of_ann = world.told(ANN, TEAM, "/export@figaro_bot").await;
    assert_eq!(world.press(ANN, &of_ann, "This conversation").await, "Here it is, as two files.");
    let session = files(&world, TEAM, 2).await;
    assert!(session[0].1.contains("tea") && session[0].1.contains("coffee"), "{session:?}");
    assert!(!session[0].1.contains("in private"));
    let toast = world.press(99, &card, "Everything").await;
    assert_eq!(toast, "I cannot write to you in private. Open my chat, press Start, and try again.");
    drop(bot);
}

/// The press that has something erased carries the card, and the card what is erased: also if the files are rewritten before
/// it is served, its bytes go.
#[tokio::test]
async fn the_press_that_erases_leaves_no_byte_of_its_card() {
    let world = World::new().await;
    let bot = recipe(&world, EngineKind::Redb, "0").spawn();
    bot.ready().await;
    told(&world, BOB, BOB, SECRET).await;
    let card = world.told(BOB, BOB, "/forget hüte").await;
    assert!(labels(&card).iter().any(|label| label.contains(SECRET)), "{card}");
    let asked = pressed(&world, BOB, &card, "Forget all (2)", "Forget all of these").await;
    assert!(!labels(&asked).iter().any(|label| label.contains(SECRET)), "{asked}");
    pressed(&world, BOB, &card, "Forget", "Forgotten").await;
    rewritten(&bot, 1).await;
    world.caught_up().await;
    world.erased(&forms()).await;
    bot.ends_well().await;
}

/// What a member said in a long group is gathered from all parts of it, and nothing else.
#[tokio::test]
async fn a_member_of_a_long_group_gets_all_that_is_theirs() {
    let world = World::new().await;
    let begin = now() - TimeDelta::days(3);
    let store = world.stored().await;
    let session =
        store.conversations().session(ConversationId { chat: ChatId(TEAM), topic: None }, begin).unwrap().id;
    for at in 0..700_i64 {
        let (who, name) = if at % 100 == 7 { (BOB, "Bob") } else { (CAROL, "Carol") };
        let text = format!("{name} said number {at}.");
        let mut message = Message::new(session, MessageRole::User, text, begin + TimeDelta::minutes(at));
        message.speaker =
            Some(Speaker { user: UserId::telegram(who), name: name.to_owned(), username: None });
        store.conversations().append(message).unwrap();
    }
    drop(store);
    world.team();
    world.person(CAROL, "Carol", "en");
    world.telegram.set_member(TEAM, CAROL, MemberStatus::Member).unwrap();
    let bot = start(&world, &[]).await;
    let card = world.told(BOB, TEAM, "/export@figaro_bot").await;
    assert_eq!(world.press(BOB, &card, "Everything").await, "I have sent it to you in our own chat.");
    for (name, content) in files(&world, BOB, 2).await {
        for at in 0..7 {
            assert!(
                content.contains(&format!("Bob said number {}.", at * 100 + 7)),
                "{at} in {name}: {content}"
            );
        }
        assert!(!content.contains("Carol"), "{name}: {content}");
    }
    drop(bot);
}

#[tokio::test]
async fn privacy_says_what_is_kept_and_who_sees_it() {
    let (world, bot) = scene().await;
    let card = world.told(BOB, BOB, "/privacy").await;
    for words in ["every message to me and my answers whole", "openai (offline)", "/export", "/forget"] {
        assert!(text(&card).contains(words), "{words}: {card}");
    }
    assert!(!text(&card).contains("In a group"), "{card}");
    assert_eq!(labels(&card), ["Save as a file", "Forget"]);
    let group = world.told(BOB, TEAM, "/privacy@figaro_bot").await;
    assert!(
        text(&group).contains("messages that are not for me") && text(&group).contains("newest 100"),
        "{group}"
    );
    pressed(&world, BOB, &card, "Save as a file", "Two files").await;
    let card = world.told(BOB, BOB, "/privacy").await;
    pressed(&world, BOB, &card, "Forget", "To erase one message, reply to it").await;
    drop(bot);
}

#[tokio::test]
async fn what_was_removed_before_all_was_forgotten_is_not_put_back() {
    let world = World::new().await;
    let bot = start(&world, &[("ERASE_AFTER", "1")]).await;
    world.told(BOB, BOB, &format!("/pin {SECRET}")).await;
    world.told(BOB, BOB, "/pin it stays a while").await;
    let pins = world.told(BOB, BOB, "/pins").await;
    world.press(BOB, &pins, &SECRET[..5]).await;
    let open = world.becomes(&pins, SECRET, "Remove").await;
    world.press(BOB, &open, "Remove").await;
    let removed = world.becomes(&pins, "Pins", "Undo").await;
    let (_, undo) = buttons(&removed).into_iter().find(|(label, _)| label.starts_with("Undo")).unwrap();
    let menu = world.told(BOB, BOB, "/forget").await;
    pressed(&world, BOB, &menu, "Everything", "Forget everything about you").await;
    pressed(&world, BOB, &menu, "Forget", "Forgotten").await;
    let told = world.forged(BOB, &pins, &undo).await;
    assert!(!told.contains("back") && !holds(told.as_bytes()), "{told}");
    let card = world.told(BOB, BOB, "/pins").await;
    assert!(!text(&card).contains("5 ·") && labels(&card).is_empty(), "{card}");
    rewritten(&bot, 1).await;
    world.caught_up().await;
    assert_eq!(holding(&world), [""; 0]);
    bot.ends_well().await;
}

#[tokio::test]
async fn a_command_that_pinned_words_is_forgotten_by_a_reply_to_it() {
    let world = World::new().await;
    let bot = start(&world, &[("ERASE_AFTER", "1")]).await;
    let command = world.say(BOB, BOB, &format!("/pin {SECRET}")).message_id;
    says(&world, BOB, "Pinned").await;
    assert!(holds(next_request(&world, BOB, "what is pinned?").await.body.to_string().as_bytes()));
    let card = replied(&world, BOB, BOB, command, "/forget").await;
    pressed(&world, BOB, &card, "Forget", "• pins: 1").await;
    assert!(!holds(next_request(&world, BOB, "and now?").await.body.to_string().as_bytes()));
    rewritten(&bot, 1).await;
    bot.ends_well().await;
    assert_eq!(holding(&world), [""; 0]);
}
