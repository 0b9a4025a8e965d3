//! Agents as files: those built in fit the bot, and what is wrong with an owner's own is told before it starts.

use std::fs;

use figaro::demo::model::Reply;
use figaro::demo::tavily::KEY;
use figaro::prompts::Prompts;

use crate::check::refused;
use crate::support::World;

impl World {
    /// Puts the file of an agent where the bot looks for it.
    fn agent(&self, file: &str, text: &str) {
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
    let bot = recipe.spawn();
    bot.ready().await;
    world.script.push(Reply::text("Hello."));
    world.ask("hello").await;
    let request = world.asks(1).await;
    let all = request.tool_names();
    let prompts = Prompts::load(None).unwrap();
    let scheduled = &prompts.agent("scheduled").unwrap().tools;
    let missing: Vec<_> = scheduled.iter().filter(|name| !all.contains(&name.as_str())).collect();
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
        "prompts/agents/a.yaml: structured_output: true is not supported yet",
        "prompts/agents/a.yaml: name is b, so the file is to be b.yaml",
        "prompts/agents/c.yaml: unknown field `colour`",
    ] {
        assert!(message.contains(words), "{words}: {message}");
    }
    assert_eq!(message.lines().count(), 3, "{message}");
    assert!(!world.folder.path().join("data").exists(), "nothing was begun");
}
