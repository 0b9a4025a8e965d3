//! A chat that has set its language is spoken to in it: by every card, notice and button, and by Telegram's list of
//! commands; whatever language the clients of its people speak.

use figaro_base::ids::ChatId;
use figaro_domain::chat::ConfigPatch;
use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{ApiCall, TelegramView};
use figaro_prompts::texts::{Locales, Texts};
use serde_json::{Value, json};

use super::task_tools::{cards, now, once, recurring, scene, start};
use crate::support::calls::{call, says};
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, World};

fn portuguese() -> Texts {
    *Locales::default().of(Some("pt"))
}

/// The last list of commands that a chat was given, once it was given one; null where the one for everybody holds.
fn menu(view: &TelegramView<'_>, chat: i64) -> Option<Value> {
    let scope = json!({"type": "chat", "chat_id": chat});
    let is_menu = |call: &&ApiCall| ["setMyCommands", "deleteMyCommands"].contains(&call.method.as_str());
    let last = view.calls().iter().filter(is_menu).rfind(|call| call.args.get("scope") == Some(&scope))?;
    Some(last.args.get("commands").cloned().unwrap_or_default())
}

#[tokio::test]
async fn commands_cards_and_the_list_of_commands_follow_the_language_of_the_chat() {
    let (world, _bot) = scene().await;
    let texts = portuguese();
    let card = world.told(ANN, TEAM, "/config@figaro_bot language Português").await;
    assert!(text(&card).starts_with(texts.config_title()), "{card}");
    assert!(labels(&card).iter().any(|label| label == texts.config_language()), "{card}");
    let list = world.see("a list of commands", |view| menu(view, TEAM)).await;
    assert_eq!(list[0], json!({"command": "start", "description": texts.command_start()}));
    // Ann's client speaks English, and so does her own chat.
    for (command, words) in
        [("tasks", texts.tasks_empty()), ("notes", texts.notes_empty()), ("stop", texts.stop_nothing())]
    {
        let here = world.told(ANN, TEAM, &format!("/{command}@figaro_bot")).await;
        assert_eq!(text(&here), words);
        let there = world.told(ANN, ANN, &format!("/{command}")).await;
        assert_ne!(text(&there), words);
    }
    assert_eq!(world.press(ANN, &card, texts.config_language()).await, "");
    let asked = world.shows(TEAM, number(&card["message_id"]), texts.config_ask_language()).await;
    assert_eq!(world.press(ANN, &asked, "English").await, "Saved.");
    world.shows(TEAM, number(&card["message_id"]), "How I behave in this chat").await;
    let english =
        |view: &TelegramView<'_>| menu(view, TEAM).filter(|list| list[0]["description"] == "what I am");
    world.see("an English list", english).await;
    world.told(ANN, TEAM, "/config@figaro_bot language Português").await;
    let cleared = world.told(ANN, TEAM, "/config@figaro_bot language clear").await;
    assert!(text(&cleared).starts_with("How I behave in this chat"), "the language of her client: {cleared}");
    let card = world.told(ANN, TEAM, "/config@figaro_bot language Português").await;
    world.press(ANN, &card, texts.config_language()).await;
    let asked = world.shows(TEAM, number(&card["message_id"]), texts.config_ask_language()).await;
    assert_eq!(world.press(ANN, &asked, texts.button_clear()).await, "Saved.");
    world.shows(TEAM, number(&card["message_id"]), "How I behave in this chat").await;
    world.see("no list of its own", |view| menu(view, TEAM).filter(Value::is_null)).await;
    assert!(world.refused().is_empty(), "{:?}", world.refused());
}

#[tokio::test]
async fn a_language_without_cards_of_its_own_is_said_to_change_answers_only() {
    let (world, _bot) = scene().await;
    let card = world.told(ANN, ANN, "/config language").await;
    assert!(text(&card).contains("are written in: English, العربية, Deutsch"), "{card}");
    let card = world.told(ANN, ANN, "/config language Latvian").await;
    assert!(text(&card).contains("Language: Latvian"), "{card}");
    assert!(text(&card).ends_with("cards and buttons like these stay in English."), "{card}");
    let card = world.told(ANN, ANN, "/config language Português").await;
    assert!(!text(&card).contains("botões como estes"), "{card}");
    // The words and the card are in the same language.
    let card = world.told(ANN, ANN, "/config language latviešu").await;
    assert!(text(&card).contains("Language: latviešu"), "{card}");
    assert!(text(&card).ends_with("cards and buttons like these stay in English."), "{card}");
}

#[tokio::test]
async fn what_the_model_makes_is_shown_in_the_language_of_the_chat() {
    let (world, _bot) = scene().await;
    let texts = portuguese();
    call(&world, (ANN, ANN), "from now on Portuguese", "set_config", json!({"language": "Portuguese"})).await;
    let card = says(&world, ANN, texts.settings_changed()).await;
    assert_eq!(labels(&card), [texts.button_undo()]);
    call(&world, (ANN, ANN), "water", "schedule_task", recurring("Drink water", "0 9 * * *")).await;
    let (how, _) = texts.zone_answer().split_once("{time}").unwrap();
    says(&world, ANN, how).await;
    let card = cards(&world, ANN, "Drink water").remove(0);
    let wanted = [texts.button_run_now(), texts.button_pause(), texts.button_edit(), texts.button_cancel()];
    assert_eq!(labels(&card)[..4], wanted);
    // A model that fails: the words of a turn.
    world.when("hello", ModelReply::status(401, "no"));
    world.say(ANN, ANN, "hello");
    says(&world, ANN, texts.error_unauthorized()).await;
}

#[tokio::test]
async fn owners_and_creators_are_told_in_the_language_of_their_own_chats() {
    let world = World::new().await;
    world.team();
    let texts = portuguese();
    let store = world.stored().await;
    let patch = || ConfigPatch { language: Some(Some("português".to_owned())), ..ConfigPatch::default() };
    for chat in [ANN, BOB] {
        store.settings().change_chat_config(ChatId(chat), patch()).await.unwrap();
    }
    drop(store);
    let _bot = start(&world, &[]).await;
    // Bob's task fails in the group, which speaks English; he is told in private.
    world.when("Look up", ModelReply::status(401, "no"));
    call(&world, (BOB, TEAM), "look it up", "schedule_task", once("Look up", &soon())).await;
    says(&world, BOB, texts.reason_model()).await;
    // An update that cannot be dealt with: the owner is told.
    world.telegram.push_raw(json!({"edited_message": 3}));
    let end = texts.update_odd().split('{').next().unwrap();
    says(&world, ANN, end).await;
}

fn soon() -> String {
    (now() + chrono::TimeDelta::seconds(2)).to_rfc3339()
}
