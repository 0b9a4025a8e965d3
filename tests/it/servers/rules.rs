//! What opens a tool of another server: the owner's file and rules, and never the word of the server.

use std::fs;

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{MemberStatus, TelegramView};
use serde_json::json;

use super::{helper, server, with};
use crate::parking::call;
use crate::support::scene::{TEAM, labels, text};
use crate::support::{ANN, BOB, World};
use crate::task_tools::LEAP;

#[tokio::test]
async fn owners_open_tools_by_the_file_and_by_rules_and_a_servers_word_opens_none() {
    let world = World::new().await;
    fs::write(
        world.folder.path().join("policy.yaml"),
        "rules:\n  - {name: counting, server: \"b*\", method: count, role: owner, then: allow}\n  - {name: facts, server: box, method: facts, then: deny, reason: they are dull}\n",
    )
    .unwrap();
    let servers = json!({"box": with("plain", json!({"autoApprove": ["*"], "disabledTools": ["long"]}))});
    let bot = world.helped(servers, "{name: \"*\", server: box}").await;
    bot.logged("an MCP server is ready").await;
    let made = [("a", "box__echo", json!({"text": "x"}), "x"), ("b", "box__count", json!({}), "called 1")];
    for (said, name, arguments, wanted) in made {
        let said = format!("say {said}");
        world.calls(ANN, &said, name, arguments);
        assert_eq!(world.result_of(&said).await["result"], wanted);
    }
    world.calls(ANN, "the facts", "box__facts", json!({}));
    assert_eq!(world.result_of("the facts").await["error"], "not allowed: they are dull.");
    // The star leaves out what the server itself calls destructive.
    world.calls(ANN, "wipe it", "box__wipe", json!({}));
    let card = world.asks_to_approve(ANN).await;
    assert_eq!(labels(&card), ["✓ Once", "✗ Deny", "Details"], "what destroys is approved one by one");
    world.press(ANN, &card, "✗ Deny").await;
    // And what it says nothing of.
    world.calls(BOB, "Bob counts", "box__count", json!({}));
    assert_eq!(labels(&world.asks_to_approve(BOB).await), ["✓ Once", "✗ Deny", "Details"]);
    assert!(world.result_of("wipe it").await["error"].as_str().unwrap().contains("denied"));
    // All tools are offered where none can be found, but for the one that the file takes away.
    let request = world.asks(1).await;
    let of_box = request.tool_names().into_iter().filter(|name| name.starts_with("box__")).count();
    assert_eq!((of_box, request.tool_names().contains(&"box__long")), (12, false));
    drop(bot);

    // Reading is the server's word, and opens nothing.
    let world = World::new().await;
    let bot = world.helped(json!({"box": server("plain")}), "{name: echo, server: box}").await;
    bot.logged("an MCP server is ready").await;
    world.calls(ANN, "echo", "box__echo", json!({"text": "x"}));
    let card = world.asks_to_approve(ANN).await;
    assert_eq!(labels(&card), ["✓ Once", "✓ For 1 h", "✗ Deny", "Details"]);
}

#[tokio::test]
async fn nobody_is_an_admin_of_a_servers_tools_by_their_own_private_chat() {
    let world = World::new().await;
    let rules = "rules:\n  - {name: admins, server: box, role: admin, then: allow}\n";
    fs::write(world.folder.path().join("policy.yaml"), rules).unwrap();
    world.team();
    world.telegram.set_member(TEAM, BOB, MemberStatus::Admin).unwrap();
    let bot = world.helped(json!({"box": server("plain")}), "{name: count, server: box}").await;
    bot.logged("an MCP server is ready").await;
    world.calls(BOB, "count for me", "box__count", json!({}));
    let card = world.asks_to_approve(BOB).await;
    world.press(BOB, &card, "✗ Deny").await;
    assert!(world.result_of("count for me").await["error"].as_str().unwrap().contains("denied"));
    // In a group he does administer.
    let said = "count for us";
    world.when(said, ModelReply::turn(vec![call("box__count", json!({}))]));
    world.when(said, ModelReply::text("Counted."));
    world.say(BOB, TEAM, &format!("@figaro_bot {said}"));
    assert_eq!(world.result_of(said).await["result"], "called 1");
}

#[tokio::test]
async fn a_rule_holds_in_its_chat_and_for_its_agent_in_runs_of_tasks_and_comes_before_the_file() {
    let world = World::new().await;
    world.team();
    let rules = format!(
        "rules:
  - {{name: two, server: box, method: facts, then: ask, people: 2, reason: two look at it}}
  - {{name: team, server: box, method: count, chat: {TEAM}, then: allow}}
  - {{name: clerk, server: box, method: count, agent: clerk, task: true, then: allow}}
"
    );
    fs::write(world.folder.path().join("policy.yaml"), rules).unwrap();
    let tools = "{name: count, server: box}, {name: facts, server: box}";
    world.agent("clerk.yaml", &helper(tools).replace("name: helper", "name: clerk"));
    let servers = json!({"box": with("plain", json!({"autoApprove": ["facts"]}))});
    let bot = world.helped(servers, &format!("{tools}, {{name: schedule_task}}")).await;
    bot.logged("an MCP server is ready").await;

    // The file lets it be called, and the rule has it asked: of somebody else than who asked.
    world.calls(ANN, "the facts", "box__facts", json!({}));
    let card = world.asks_to_approve(ANN).await;
    assert!(text(&card).contains("two look at it"), "{}", text(&card));
    assert_eq!(world.press(ANN, &card, "✓ Once").await, "Somebody else has to approve it.");
    world.press(ANN, &card, "✗ Deny").await;
    world.ends_for_ann("the facts").await;

    // Outside of the chat of the rule it is asked.
    world.calls(ANN, "count here", "box__count", json!({}));
    let card = world.asks_to_approve(ANN).await;
    world.press(ANN, &card, "✗ Deny").await;
    world.ends_for_ann("count here").await;
    let said = "count for the team";
    world.when(said, ModelReply::turn(vec![call("box__count", json!({}))]));
    world.when(said, ModelReply::text("Counted."));
    world.say(BOB, TEAM, &format!("@figaro_bot {said}"));
    assert_eq!(world.result_of(said).await["result"], "called 1");

    // In the run of a task nobody is asked, and the rule for its agent opens what it names.
    let results = world.runs_of_clerk(TEAM, BOB, "every day").await;
    assert!(results[0].contains("called 2"), "{results:?}");
    assert!(results[1].contains("not allowed: two look at it"), "{results:?}");
    // Not so for somebody whom an owner has made a guest since.
    world.told(ANN, TEAM, &format!("/allow {BOB} guest")).await;
    let results = world.runs_of_clerk(TEAM, BOB, "").await;
    assert!(results[0].contains("nothing of another server is called"), "{results:?}");
}

impl World {
    /// Somebody has a task made for the agent `clerk`, if these words are some, and an owner runs it: what its calls gave.
    async fn runs_of_clerk(&self, chat: i64, who: i64, said: &str) -> Vec<String> {
        if !said.is_empty() {
            let task = json!({"prompt": "Count it.", "schedule": LEAP, "recurring": true, "title": "Count", "agent": "clerk"});
            self.when(said, ModelReply::turn(vec![call("schedule_task", task)]));
            self.when(said, ModelReply::text("It is set up."));
            self.say(who, chat, &format!("@figaro_bot {said}"));
        }
        let can_run = |view: &TelegramView<'_>| {
            let all = view.bot_messages(chat);
            all.into_iter().find(|m| labels(m).iter().any(|label| label == "Run now")).cloned()
        };
        let card = self.see("the card of the task", can_run).await;
        let run = "<scheduled_task";
        let is_end = |words: &str| words.contains("The run is over.");
        let before = self.bot_texts(chat).iter().filter(|words| is_end(words)).count();
        let ends =
            |view: &TelegramView<'_>| view.bot_messages(chat).into_iter().filter(|m| is_end(text(m))).count();
        self.when(run, ModelReply::turn(vec![call("box__count", json!({})), call("box__facts", json!({}))]));
        self.when(run, ModelReply::text("The run is over."));
        self.press(ANN, &card, "Run now").await;
        self.see("the end of the run", |view| (ends(view) > before).then_some(())).await;
        let requests = self.asked();
        let request = requests.iter().rev().find(|request| request.user_text().contains(run)).unwrap();
        request.tool_results().into_iter().map(|(_, told)| told).collect()
    }
}
