//! Agents as files: those built in fit the bot, and what is wrong with an owner's own is told before it starts.

use std::fs;

use figaro_offline::model::{ModelReply, ModelRequest};
use figaro_offline::tavily::KEY;
use figaro_offline::telegram::{MemberStatus, TelegramView};
use figaro_prompts::Prompts;
use serde_json::{Value, json};

use super::task_tools::{LEAP, recurring};
use crate::support::calls::{calls, error, find_and_call};
use crate::support::output::refused;
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, World};

/// An agent with one tool, a model and a setting of its own.
pub const TUTOR: &str = "type: object
description: Never give the answer; ask the question that leads to it.
json_schema_extra:
  kind: agent
  name: tutor
  version: 1
  model: compatible:offline-text
  settings: {temperature: 0.25, max_tokens: 300}
  tools: [{name: add_note}]
";

/// An agent without tools, and one that may find all there are and reset the chat.
pub const MUTE: &str =
    "type: object\ndescription: Be mute.\njson_schema_extra: {kind: agent, name: mute, version: 1}";
const FREE: &str = "type: object
description: Be free.
json_schema_extra: {kind: agent, name: free, version: 1, tools: [{name: find_tools}, {name: set_config}]}
";

impl World {
    /// Puts the file of an agent where the bot looks for it.
    pub fn agent(&self, file: &str, text: &str) {
        let folder = self.folder.path().join("prompts/agents");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(file), text).unwrap();
    }
}

#[tokio::test]
async fn the_scheduled_agent_names_only_tools_that_exist_and_none_that_it_must_not_have() {
    let world = World::new().await;
    // With a search of its own the bot offers every tool it has.
    let recipe = world.bot().set("TAVILY_API_KEY", KEY).set("TAVILY_BASE_URL", world.tavily.url());
    let recipe = recipe.set("PAINTER", "openai:gpt-image-1-mini");
    let bot = recipe.spawn();
    bot.ready().await;
    world.script.push(ModelReply::text("Hello."));
    world.ask("hello").await;
    let request = world.asks(1).await;
    let all = request.tool_names();
    let agents = Prompts::load(None).unwrap().agents();
    let scheduled = &agents.get("scheduled").unwrap().tools;
    // One is offered only where something can be looked up, the other where it was found or an agent names it.
    let is_there =
        |name: &&String| all.contains(&name.as_str()) || ["lookup", "sendLocation"].contains(&name.as_str());
    let missing: Vec<_> = scheduled.iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "{missing:?} of {all:?}");
    let barred = [
        "cancel_task",
        "deleteMessage",
        "editMessageText",
        "find_tools",
        "list_tasks",
        "schedule_task",
        "set_config",
        "update_task",
    ];
    for name in barred {
        assert!(all.contains(&name), "{name} is no tool any more: {all:?}");
    }
    for name in barred.into_iter().chain(["clear_notes", "get_config", "reset_config"]) {
        assert!(!scheduled.iter().any(|named| named == name), "{name}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_agents_is_told_before_the_start() {
    let world = World::new().await;
    world.agent("a.yaml", "type: object\ndescription: x\njson_schema_extra: {kind: agent, name: b, version: 1, structured_output: true}");
    world.agent(
        "c.yaml",
        "type: object\ndescription: x\njson_schema_extra: {kind: agent, name: c, version: 1, colour: red}",
    );
    let message = refused(&world, &world.bot()).await;
    for words in [
        "prompts/agents/a.yaml:3:74: structured_output: true needs properties: they say what the answer consists of",
        "prompts/agents/a.yaml:3:40: name is b, so the file is to be b.yaml",
        "prompts/agents/c.yaml:3:55: unknown field `colour`",
    ] {
        assert!(message.contains(words), "{words}: {message}");
    }
    assert_eq!(message.matches("\n  - ").count(), 3, "{message}");
    assert!(!world.folder.path().join("data").exists(), "nothing was begun");
}

/// The request that answers someone's next words.
async fn asked(world: &World, who: i64, chat: i64, words: &str) -> ModelRequest {
    let before = world.model.requests().len();
    world.told(who, chat, &format!("@figaro_bot {words}")).await;
    world.asks(before + 1).await
}

/// Someone has `/config` shown in a chat and presses these buttons of it, the last of which is answered with `toast`;
/// once that is "Saved.", gives the card of all settings.
async fn presses(world: &World, (who, chat): (i64, i64), buttons: &[&str], toast: &str) -> Value {
    let card = world.told(who, chat, "/config@figaro_bot").await;
    let id = number(&card["message_id"]);
    let (last, first) = buttons.split_last().unwrap();
    for button in first {
        assert_eq!(world.press(who, &card, button).await, "");
        world.shows(chat, id, "Who shall answer here?").await;
    }
    assert_eq!(world.press(who, &card, last).await, toast);
    let shown = if toast == "Saved." { "How I behave in this chat" } else { "Who shall answer here?" };
    world.shows(chat, id, shown).await
}

#[tokio::test]
async fn a_chat_is_answered_by_the_agent_that_was_chosen_with_a_button() {
    let world = World::new().await;
    world.agent("tutor.yaml", TUTOR);
    world.agent("mute.yaml", MUTE);
    let bot = world.many().spawn();
    bot.ready().await;
    world.otherwise(ModelReply::text("Fine."));
    let plain = asked(&world, BOB, BOB, "before").await;
    let card = world.told(BOB, BOB, "/config").await;
    assert!(text(&card).contains("Agent: none") && labels(&card).contains(&"Agent".to_owned()), "{card}");

    assert_eq!(world.press(BOB, &card, "Agent").await, "");
    let choice = world.shows(BOB, number(&card["message_id"]), "Who shall answer here?").await;
    let all = ["extractor", "mute", "orchestrator", "researcher", "tutor", "Clear", "‹ Back"];
    assert_eq!(labels(&choice), all);
    let card = presses(&world, (BOB, BOB), &["Agent", "tutor"], "Saved.").await;
    assert!(text(&card).contains("Agent: tutor\n"), "{card}");
    assert!(text(&card).contains("Model: compatible:offline-text"), "{card}");

    let request = asked(&world, BOB, BOB, "while it is chosen").await;
    assert_eq!((request.model(), request.tool_names()), ("offline-text", vec!["add_note"]));
    let instructions = request.instructions();
    assert!(instructions.starts_with(plain.instructions()), "the base rules come first: {instructions}");
    assert!(
        instructions.ends_with("Never give the answer; ask the question that leads to it."),
        "{instructions}"
    );
    assert_eq!((&request.body["temperature"], request.offers_search()), (&json!(0.25), false));
    // What it was not given it cannot call.
    let told = calls(&world, (BOB, BOB), "clear it all", vec![("clear_notes", json!({}))]).await;
    assert!(error(&told[0]).contains("no tool clear_notes"), "{told:?}");
    let told =
        calls(&world, (BOB, BOB), "note it", vec![("add_note", json!({"key": "a", "content": "b"}))]).await;
    assert_eq!(told[0]["success"], true, "{told:?}");

    // What the chat sets itself counts before.
    let written = world.told(BOB, BOB, "/model temperature 0.75").await;
    assert!(
        text(&written).contains("freedom of wording 0.75 (temperature), longest answer 300 (max_tokens)"),
        "{written}"
    );
    let shown = world.told(BOB, BOB, "/model").await;
    assert!(
        text(&shown).starts_with("Model\ncompatible:offline-text answers here: the agent tutor uses it."),
        "{shown}"
    );
    assert!(
        text(&shown).contains("freedom of wording 0.75 (temperature), longest answer 300 (max_tokens)"),
        "{shown}"
    );
    world.told(BOB, BOB, "/model openai:gpt-4.1-mini").await;
    let request = asked(&world, BOB, BOB, "with a model of the chat's").await;
    assert_eq!((request.model(), request.tool_names()), ("gpt-4.1-mini", vec!["add_note"]));
    assert_eq!(
        (&request.body["temperature"], &request.body["max_output_tokens"]),
        (&json!(0.75), &json!(300))
    );
    // Another chat is answered as before.
    assert_eq!(asked(&world, ANN, ANN, "elsewhere").await.tool_names(), plain.tool_names());

    // No tools listed, no tools given; by typing too.
    world.told(BOB, BOB, "/config agent MUTE").await;
    let request = asked(&world, BOB, BOB, "without tools").await;
    assert!(request.tool_names().is_empty() && request.instructions().ends_with("Be mute."));
    let card = presses(&world, (BOB, BOB), &["Agent", "Clear"], "Saved.").await;
    assert!(text(&card).contains("Agent: none"), "{card}");
    let request = asked(&world, BOB, BOB, "after").await;
    assert_eq!((request.instructions(), request.tool_names()), (plain.instructions(), plain.tool_names()));
}

#[tokio::test]
async fn in_a_group_only_those_who_may_change_settings_choose_its_agent() {
    let world = World::new().await;
    world.team();
    world.agent("tutor.yaml", TUTOR);
    let bot = world.many().spawn();
    bot.ready().await;
    world.otherwise(ModelReply::text("Fine."));
    assert!(labels(&world.told(BOB, TEAM, "/config@figaro_bot").await).is_empty());
    let refused = world.told(BOB, TEAM, "/config@figaro_bot agent tutor").await;
    assert_eq!(text(&refused), "Only an admin of this chat can do that.");
    assert!(asked(&world, BOB, TEAM, "still").await.tool_names().contains(&"schedule_task"));
    // Names that no file has, and the agent of tasks.
    for name in ["nobody", "scheduled", "../tutor"] {
        let told = world.told(ANN, TEAM, &format!("/config@figaro_bot agent {name}")).await;
        assert_eq!(
            text(&told),
            format!("There is no agent “{name}”. There are: extractor, orchestrator, researcher, tutor.")
        );
    }
    let card = world.told(ANN, TEAM, "/config@figaro_bot").await;
    let forged = world.forged(ANN, &card, "config:set:agent:scheduled").await;
    assert_eq!(
        forged,
        "There is no agent “scheduled”. There are: extractor, orchestrator, researcher, tutor."
    );
    assert!(asked(&world, BOB, TEAM, "still so").await.tool_names().contains(&"schedule_task"));

    world.telegram.set_member(TEAM, BOB, MemberStatus::Admin).unwrap();
    let card = presses(&world, (BOB, TEAM), &["Agent", "tutor"], "Saved.").await;
    assert!(text(&card).contains("Agent: tutor\n"), "{card}");
    assert_eq!(asked(&world, ANN, TEAM, "as chosen").await.tool_names(), ["add_note"]);
}

#[tokio::test]
async fn an_agent_that_has_gone_is_told_and_the_chat_is_answered_as_usual() {
    let world = World::new().await;
    world.agent("tutor.yaml", TUTOR);
    let bot = world.many().spawn();
    bot.ready().await;
    world.otherwise(ModelReply::text("Fine."));
    world.told(ANN, ANN, "/config agent tutor").await;
    assert_eq!(asked(&world, ANN, ANN, "as chosen").await.tool_names(), ["add_note"]);
    bot.ends_well().await;

    fs::remove_file(world.folder.path().join("prompts/agents/tutor.yaml")).unwrap();
    let bot = world.many().spawn();
    bot.ready().await;
    let request = asked(&world, ANN, ANN, "without it").await;
    assert!(request.tool_names().contains(&"schedule_task") && request.model() == "gpt-4.1-mini");
    assert!(!request.instructions().contains("Never give the answer"));
    let card = world.told(ANN, ANN, "/config").await;
    let gone = "Agent: tutor ⚠️ is no longer there, so I answer as usual\n";
    assert!(text(&card).contains(gone) && text(&card).contains("Model: openai:gpt-4.1-mini"), "{card}");
    let card = presses(&world, (ANN, ANN), &["Agent", "Clear"], "Saved.").await;
    assert!(text(&card).contains("Agent: none\n"), "{card}");
    let unknown = world.told(ANN, ANN, "/config agent tutor").await;
    assert!(text(&unknown).starts_with("There is no agent “tutor”."), "{unknown}");
}

#[tokio::test]
async fn a_model_does_not_change_the_agent_that_holds_it() {
    let world = World::new().await;
    world.agent("free.yaml", FREE);
    let bot = world.many().spawn();
    bot.ready().await;
    world.told(ANN, ANN, "/config agent free").await;
    for change in [json!({"agent": null}), json!({"agent": "scheduled"})] {
        let said = format!("try {change}");
        let told = calls(&world, (ANN, ANN), &said, vec![("set_config", change)]).await;
        assert!(error(&told[0]).contains("unknown field `agent`"), "{told:?}");
    }
    let told = find_and_call(&world, (ANN, ANN), "reset it", ("reset_config", json!({}))).await;
    assert_eq!(told["success"], true, "{told}");
    let told = find_and_call(&world, (ANN, ANN), "show it", ("get_config", json!({}))).await;
    assert_eq!(told["agent"], "free", "{told}");
    let own = ["find_tools", "set_config", "reset_config", "get_config"];
    assert_eq!(asked(&world, ANN, ANN, "afterwards").await.tool_names(), own, "and what was found");
}

#[tokio::test]
async fn where_nobody_can_tell_which_agent_was_chosen_there_are_no_tools() {
    let world = World::new().await;
    world.agent("tutor.yaml", TUTOR);
    let bot = world.many().spawn();
    bot.ready().await;
    world.told(ANN, ANN, "/config agent tutor").await;
    bot.ends_well().await;
    world.records().damage("chats");
    let bot = world.many().spawn();
    bot.ready().await;
    world.otherwise(ModelReply::text("Fine."));
    assert_eq!(asked(&world, ANN, ANN, "still there?").await.tool_names(), Vec::<&str>::new());
    bot.logged("a turn goes on without the settings of its chat").await;
}

#[tokio::test]
async fn an_agents_model_is_chosen_by_those_who_may_choose_the_model() {
    let world = World::new().await;
    world.agent(
        "dear.yaml",
        &TUTOR.replace("tutor", "dear").replace("compatible:offline-text", "openai:gpt-5-pro"),
    );
    let bot = world.many().spawn();
    bot.ready().await;
    let told = world.told(BOB, BOB, "/config agent dear").await;
    assert!(text(&told).contains("Only an owner can choose others."), "{told}");
    assert!(text(&world.told(BOB, BOB, "/config").await).contains("Agent: none"));
    let card = world.told(ANN, ANN, "/config agent dear").await;
    assert!(text(&card).contains("Agent: dear"), "{card}");
}

#[tokio::test]
async fn what_holds_a_chat_holds_its_tasks_too() {
    let world = World::new().await;
    world.agent("mute.yaml", MUTE);
    world.agent("tutor.yaml", TUTOR);
    let bot = world.many().spawn();
    bot.ready().await;
    let task = recurring("Say what is new.", LEAP);
    let made = calls(&world, (BOB, BOB), "the news, please", vec![("schedule_task", task)]).await;
    assert_eq!(made[0]["success"], true, "{made:?}");
    world.otherwise(ModelReply::text("Nothing new."));
    let is_card = |m: &&&Value| text(m).contains("⏰ Say what is new") && !labels(m).is_empty();
    let card =
        world.see("the card", |view| view.bot_messages(BOB).iter().find(is_card).map(|m| (*m).clone())).await;
    for (agent, model, tools) in [
        ("clear", "gpt-4.1-mini", None),
        ("mute", "gpt-4.1-mini", Some(vec![])),
        ("tutor", "offline-text", Some(vec!["add_note"])),
    ] {
        world.told(BOB, BOB, &format!("/config agent {agent}")).await;
        let before = world.model.requests().len();
        world.press(BOB, &card, "Run now").await;
        let request = world.asks(before + 1).await;
        assert!(request.user_text().contains("Say what is new."), "{agent}");
        match tools {
            Some(tools) => assert_eq!(request.tool_names(), tools, "{agent}"),
            None => assert!(request.tool_names().len() > 5, "{:?}", request.tool_names()),
        }
        assert_eq!(request.model(), model, "{agent}");
        // The card changes by itself, though the model may be asked before.
        let offers_run = |view: &TelegramView<'_>| {
            let now = view.messages(BOB).into_iter().find(|m| m["message_id"] == card["message_id"])?;
            Some(labels(now).contains(&"Run now".to_owned()))
        };
        let runs = |view: &TelegramView<'_>| (!offers_run(view)?).then_some(());
        world.see("the card of a run", runs).await;
        world.see("the card after it", |view| offers_run(view)?.then_some(())).await;
    }
}
