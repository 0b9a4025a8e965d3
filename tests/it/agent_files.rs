//! The owner's files of agents: checked on the command line, in force as soon as they are changed, and chosen with `/agents`.

use std::fs;
use std::path::Path;

use figaro_offline::model::{ModelReply, ModelRequest};
use figaro_offline::telegram::{MemberStatus, TelegramView};
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::output::{refused, words};
use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, World};

const TUTOR: &str = "type: object
description: You ask the question that leads to the answer. Never give it.
json_schema_extra:
  kind: agent
  name: tutor
  version: \"1\"
  tools:
    - name: add_note
";

/// `figaro agents` with these arguments, in a folder: its exit code and what it said.
fn agents(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let recipe = arguments.iter().fold(Recipe::new(folder).arg("agents"), |recipe, arg| recipe.arg(arg));
    let output = recipe.output();
    let (said, errors) = words(&output);
    (output.status.code(), said, errors)
}

fn write(folder: &Path, file: &str, text: &str) {
    let agents = folder.join("prompts/agents");
    fs::create_dir_all(&agents).unwrap();
    fs::write(agents.join(file), text).unwrap();
}

#[test]
fn files_are_checked_without_a_bot() {
    let folder = tempfile::tempdir().unwrap();
    let (code, said, errors) = agents(folder.path(), &["check"]);
    let built_in = "✓ default 1: all tools, the chat's model, built in
✓ extractor 1: 0 tools, structured output, the chat's model, built in
✓ orchestrator 1: 2 tools, asks researcher and extractor, the chat's model, built in
✓ researcher 1: 7 tools, the chat's model, built in
✓ scheduled 1: 12 tools, the chat's model, built in
";
    let looked = folder.path().canonicalize().unwrap().join("prompts/agents");
    let missing = format!("⚠ there is no folder {}: only what is built in was checked\n", looked.display());
    assert_eq!((code, said, errors.as_str()), (Some(0), format!("{built_in}{missing}"), ""));
    write(folder.path(), "tutor.yaml", &TUTOR.replace("  tools:", "  model: ollama:qwen3:8b\n  tools:"));
    let (code, said, _) = agents(folder.path(), &["check"]);
    assert_eq!((code, said), (Some(0), format!("{built_in}✓ tutor 1: 1 tool, ollama:qwen3:8b\n")));

    // What has no effect, and what is not read, is told behind it.
    write(
        folder.path(),
        "tutor.yaml",
        &TUTOR.replace("  tools:", "  agents: [researcher]\n  speaks: true\n  tools:"),
    );
    write(folder.path(), "b.YAML", TUTOR);
    write(folder.path(), "a.yaml.txt", TUTOR);
    fs::create_dir_all(folder.path().join("prompts/agents/mine")).unwrap();
    write(folder.path(), "mine/c.yaml", TUTOR);
    let (code, said, errors) = agents(folder.path(), &["check"]);
    let behind = ["a.yaml.txt", "b.YAML", "mine/c.yaml"].map(|file| {
        format!("⚠ prompts/agents/{file} is not read: the file of an agent ends in .yaml and stands in the folder itself\n")
    });
    let wanted = format!(
        "{built_in}✓ tutor 1: 1 tool, asks researcher, speaks, the chat's model
⚠ tutor: agents are listed, but neither ask_agent nor action is among its tools\n{}",
        behind.concat()
    );
    assert_eq!((code, said, errors.as_str()), (Some(0), wanted, ""));

    write(folder.path(), "tutor.yaml", &TUTOR.replace("add_note", "add_ntoe"));
    write(folder.path(), "odd.yaml", &TUTOR.replace("version", "verison"));
    let told = [
        "odd.yaml:6:3: unknown field `verison`",
        "tutor.yaml:8:13: tools: there is no tool `add_ntoe`: did you mean add_note?",
    ];
    for (arguments, shown) in
        [(vec!["check"], "prompts/agents"), (vec!["check", "prompts/agents/"], "prompts/agents")]
    {
        let (code, said, errors) = agents(folder.path(), &arguments);
        assert_eq!((code, said.as_str()), (Some(2), ""), "{errors}");
        for told in told {
            assert!(errors.contains(&format!("\n{shown}/{told}")), "{told}: {errors}");
        }
        assert_eq!(errors.trim().lines().count(), 3, "{errors}");
    }
    let (code, _, errors) = agents(folder.path(), &["check", "nowhere"]);
    assert_eq!((code, errors.trim()), (Some(2), "figaro: there is no folder nowhere"));
    let (code, _, errors) = agents(folder.path(), &["check", "prompts/agents/odd.yaml"]);
    assert_eq!(
        (code, errors.trim()),
        (Some(2), "figaro: prompts/agents/odd.yaml is a file: give its folder")
    );
}

#[test]
fn the_schema_of_a_file_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let (code, said, errors) = agents(folder.path(), &["schema"]);
    assert_eq!(code, Some(0), "{errors}");
    let schema: Value = serde_json::from_str(&said).unwrap();
    let extra = &schema["properties"]["json_schema_extra"]["properties"];
    // Beside a server any name may stand.
    let tools = extra["tools"]["items"]["else"]["properties"]["name"]["enum"].as_array().unwrap();
    for name in ["*", "web_search", "sendPoll"] {
        assert!(tools.contains(&json!(name)), "{name}: {tools:?}");
    }
    let model = extra["model"]["pattern"].as_str().unwrap();
    assert!(model.contains("ollama") && model.contains("openai"), "{model}");
}

#[tokio::test]
async fn a_tool_that_there_is_not_stops_the_start_with_all_other_faults() {
    let world = World::new().await;
    write(world.folder.path(), "tutor.yaml", &TUTOR.replace("add_note", "add_ntoe"));
    fs::write(world.folder.path().join("prompts/tail.md"), "{{ now").unwrap();
    let message = refused(&world, &world.bot()).await;
    let fault = "prompts/agents/tutor.yaml:8:13: tools: there is no tool `add_ntoe`: did you mean add_note?";
    assert!(message.contains(fault) && message.contains("prompts/tail.md: "), "{message}");
    let checked = world.bot().arg("check").run().await;
    let (said, errors) = words(&checked);
    assert!(checked.status.code() == Some(2) && format!("{said}{errors}").contains(fault), "{said}{errors}");
}

impl World {
    /// The request that answers someone's next words.
    async fn request_of(&self, who: i64, chat: i64, words: &str) -> ModelRequest {
        let before = self.model.requests().len();
        self.told(who, chat, &format!("@figaro_bot {words}")).await;
        self.asks(before + 1).await
    }

    /// Waits until Ann's chat has so many messages of the bot with these words, and gives the last.
    pub async fn owner_is_told(&self, words: &str, count: usize) -> String {
        let find = |view: &TelegramView<'_>| {
            let texts = view.bot_messages(ANN).into_iter();
            let told = texts.filter_map(|m| m["text"].as_str()).filter(|text| text.contains(words));
            let told: Vec<String> = told.map(str::to_owned).collect();
            (told.len() == count).then(|| told.last().cloned())
        };
        self.see(words, find).await.unwrap()
    }
}

#[tokio::test]
async fn a_change_of_a_file_holds_from_the_next_turn_and_a_broken_one_changes_nothing() {
    let world = World::new().await;
    let _bot = world.start_open().await;
    world.otherwise(ModelReply::text("Fine."));
    let folder = world.folder.path();
    let plain = world.request_of(ANN, ANN, "before").await;
    write(folder, "tutor.yaml", TUTOR);
    world.owner_is_told("Your agents: tutor.", 1).await;
    world.told(ANN, ANN, "/agents tutor").await;
    let request = world.request_of(ANN, ANN, "first").await;
    assert_eq!(request.tool_names(), ["add_note"]);

    write(folder, "tutor.yaml", &TUTOR.replace("add_note", "add_ntoe"));
    let told = world.owner_is_told("I cannot use the files of agents", 1).await;
    let fault = "prompts/agents/tutor.yaml:8:13: tools: there is no tool `add_ntoe`: did you mean add_note?";
    assert!(told.ends_with(fault), "{told}");
    assert_eq!(world.request_of(ANN, ANN, "while broken").await.tool_names(), ["add_note"]);

    // The same fault in a changed file is no news; another one is.
    write(folder, "tutor.yaml", &format!("{}# A note.\n", TUTOR.replace("add_note", "add_ntoe")));
    write(folder, "other.yaml", "type: object");
    let told = world.owner_is_told("I cannot use the files of agents", 2).await;
    assert!(told.contains("other.yaml:1:1: missing field") && told.contains(fault), "{told}");

    fs::remove_file(folder.join("prompts/agents/other.yaml")).unwrap();
    write(folder, "tutor.yaml", &TUTOR.replace("add_note", "list_notes"));
    world.owner_is_told("Your agents: tutor.", 2).await;
    assert_eq!(world.request_of(ANN, ANN, "mended").await.tool_names(), ["list_notes"]);

    fs::remove_file(folder.join("prompts/agents/tutor.yaml")).unwrap();
    world.owner_is_told("Your agents: none.", 1).await;
    let request = world.request_of(ANN, ANN, "gone").await;
    assert_eq!((request.tool_names(), request.instructions()), (plain.tool_names(), plain.instructions()));
    let card = world.told(ANN, ANN, "/agents").await;
    assert!(text(&card).contains("tutor ⚠️ is no longer there, so I answer as usual"), "{card}");
}

#[tokio::test]
async fn an_owners_default_answers_where_none_was_chosen() {
    let world = World::new().await;
    let own = TUTOR.replace("name: tutor", "name: default");
    write(world.folder.path(), "default.yaml", &own);
    let _bot = world.start_open().await;
    world.otherwise(ModelReply::text("Fine."));
    let request = world.request_of(BOB, BOB, "hello").await;
    assert_eq!(request.tool_names(), ["add_note"]);
    assert!(request.instructions().ends_with("Never give it."), "{}", request.instructions());
    world.told(BOB, BOB, "/agents researcher").await;
    assert!(world.request_of(BOB, BOB, "find it").await.tool_names().contains(&"list_tasks"));
    world.told(BOB, BOB, "/agents default").await;
    assert_eq!(world.request_of(BOB, BOB, "again").await.tool_names(), ["add_note"]);
}

#[tokio::test]
async fn an_agent_is_chosen_for_the_chat_or_for_a_conversation_alone() {
    let world = World::new().await;
    write(world.folder.path(), "tutor.yaml", TUTOR);
    let _bot = world.start_open().await;
    world.otherwise(ModelReply::text("Fine."));
    let card = world.told(BOB, BOB, "/agents").await;
    assert_eq!(labels(&card), ["✓ Figaro itself", "extractor", "orchestrator", "researcher", "tutor"]);
    for line in ["Answers here: Figaro itself", "• tutor: You ask the question that leads to the answer\n"]
    {
        assert!(text(&card).contains(line), "{line}: {card}");
    }
    let all = world.request_of(BOB, BOB, "with all").await.tool_names().len();
    assert!(all > 5);
    assert_eq!(world.press(BOB, &card, "tutor").await, "Saved.");
    let id = number(&card["message_id"]);
    let card = world.shows(BOB, id, "Answers here: tutor").await;
    assert!(labels(&card).contains(&"✓ tutor".to_owned()), "{card}");
    assert_eq!(world.press(BOB, &card, "✓ tutor").await, "It is set that way already.");
    assert_eq!(world.request_of(BOB, BOB, "with one").await.tool_names(), ["add_note"]);

    assert_eq!(world.press(BOB, &card, "This conversation only").await, "");
    let card = world.shows(BOB, id, "answers in this conversation only").await;
    assert!(labels(&card).contains(&"✓ As in the whole chat".to_owned()), "{card}");
    assert_eq!(world.press(BOB, &card, "extractor").await, "Saved.");
    let card = world.shows(BOB, id, "In this conversation only: extractor").await;
    assert_eq!(world.request_of(BOB, BOB, "with none").await.tool_names(), Vec::<&str>::new());
    assert_eq!(world.press(BOB, &card, "As in the whole chat").await, "Saved.");
    assert_eq!(world.request_of(BOB, BOB, "as before").await.tool_names(), ["add_note"]);
    let unknown = world.told(BOB, BOB, "/agents tutro").await;
    let there_are = "There is no agent “tutro”. There are: extractor, orchestrator, researcher, tutor.";
    assert_eq!(text(&unknown), there_are);
}

#[tokio::test]
async fn in_a_group_admins_choose_the_agent() {
    let world = World::new().await;
    world.team();
    let bot = world.many().spawn();
    bot.ready().await;
    let card = world.told(BOB, TEAM, "/agents@figaro_bot").await;
    assert_eq!(labels(&card), [""; 0], "nothing is offered that fails");
    let forged = world.forged(BOB, &card, "agents:set:researcher:0").await;
    assert_eq!(forged, "Only an admin of this chat can do that.");
    let refused = world.told(BOB, TEAM, "/agents@figaro_bot researcher").await;
    assert_eq!(text(&refused), "Only an admin of this chat can do that.");
    world.telegram.set_member(TEAM, BOB, MemberStatus::Admin).unwrap();
    let card = world.told(BOB, TEAM, "/agents@figaro_bot").await;
    assert_eq!(world.press(BOB, &card, "researcher").await, "Saved.");
    let forged = world.forged(BOB, &card, "agents:set:scheduled:0").await;
    assert_eq!(forged, "There is no agent “scheduled”. There are: extractor, orchestrator, researcher.");
}
