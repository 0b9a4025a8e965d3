//! The owner's own rules: checked and explained on the command line, and in force as soon as the file is changed.

use std::fs;
use std::path::Path;

use figaro_offline::model::{ModelReply, ReplyPart};
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::output::words;
use crate::support::scene::TEAM;
use crate::support::{ANN, World};

const GOOD: &str = "rules:
  - name: news
    method: sendMessage
    chat: -1001
    role: owner
    then: allow
  - name: bans
    method: banChatMember
    chat: [here, \"@team\"]
    then: ask
    people: 2
    reason: two look at it
  - name: readers
    agent: reader
    class: [moderation, delete]
    then: deny
    reason: this agent only reads
";

/// `figaro policy` with these arguments, in a folder, with this file of rules.
fn policy(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let recipe = arguments.iter().fold(Recipe::new(folder).arg("policy"), |recipe, arg| recipe.arg(arg));
    let output = recipe.output();
    let (said, errors) = words(&output);
    (output.status.code(), said, errors)
}

#[test]
fn a_file_is_checked_without_a_bot() {
    let folder = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str]| policy(folder.path(), &[&["check"], arguments].concat());
    let (code, said, _) = check(&[]);
    assert_eq!((code, said.trim()), (Some(0), "✓ there is no policy.yaml: the rules built in hold"));
    fs::write(folder.path().join("policy.yaml"), GOOD).unwrap();
    let (code, said, _) = check(&[]);
    assert_eq!((code, said.trim()), (Some(0), "✓ policy.yaml: 3 rules, before those built in"));
    let bad = GOOD.replace("banChatMember", "banChatMembr").replace("role: owner", "role: owners");
    fs::write(folder.path().join("other.yaml"), bad).unwrap();
    let (code, said, errors) = check(&["other.yaml"]);
    assert_eq!((code, said.as_str()), (Some(2), ""));
    for told in [
        "other.yaml:5:11: role is `owners`, and takes owner, admin, member, guest: did you mean owner?",
        "other.yaml:8:13: method: the Bot API has no `banChatMembr`: did you mean banChatMember?",
    ] {
        assert!(errors.contains(told), "{told}: {errors}");
    }
    // A link to rules that are gone is no absence of rules.
    fs::remove_file(folder.path().join("policy.yaml")).unwrap();
    std::os::unix::fs::symlink("gone.yaml", folder.path().join("policy.yaml")).unwrap();
    let (code, said, errors) = check(&[]);
    assert_eq!((code, said.as_str()), (Some(2), ""));
    assert!(errors.contains("policy.yaml is a link to something that is not there"), "{errors}");
    let (code, _, errors) = check(&["none.yaml"]);
    assert!(code == Some(2) && errors.contains("there is no file none.yaml"), "{errors}");
}

#[test]
fn a_decision_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("policy.yaml"), GOOD).unwrap();
    let cases: [(&[&str], &str); 13] = [
        (&["sendMessage"], "sendMessage: allow\nrule: default/message_here"),
        (&["sendMessage", "--chat", "-1001", "--role", "owner"], "sendMessage: allow\nrule: owner/news"),
        (
            &["sendMessage", "--chat", "-1001"],
            "sendMessage: ask\nrule: default/other_chat\nreason: it is aimed at another chat\napproval: by an owner, or an admin \
             of the chat with can_post_messages",
        ),
        (
            &["banChatMember"],
            "banChatMember: ask\nrule: owner/bans\nreason: two look at it\napproval: by an owner, or an admin of the chat with \
             can_restrict_members; not by whoever asked for it",
        ),
        (&["banChatMember", "--chat", "@Team"], "rule: owner/bans"),
        (&["banChatMember", "--chat=@other"], "rule: default/other_chat"),
        (&["banChatMember", "--task"], "approval: none: nobody can be asked in the run of a task"),
        (&["deleteMessage"], "deleteMessage: ask\nrule: default/others_message"),
        (&["deleteMessage", "--own"], "deleteMessage: allow\nrule: default/undo"),
        (
            &["deleteMessage", "--own", "--agent", "reader"],
            "deleteMessage: deny\nrule: owner/readers\nreason: this agent only reads",
        ),
        (&["getUpdates", "--role", "owner"], "getUpdates: deny\nrule: limit/lifecycle"),
        (&["sendGift", "--role", "owner"], "sendGift: deny\nrule: default/money"),
        (&["setMyName"], "approval: by an owner"),
    ];
    for (arguments, told) in cases {
        let (code, said, errors) = policy(folder.path(), &[&["explain"], arguments].concat());
        assert!(code == Some(0) && said.contains(told), "{arguments:?}: {said}{errors}");
    }
    let (_, said, _) = policy(folder.path(), &["explain", "banChatMember", "--json"]);
    let wanted = json!({
        "method": "banChatMember", "decision": "ask", "rule": "owner/bans", "reason": "two look at it",
        "right": "can_restrict_members", "people": 2, "unattended": false,
    });
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), wanted);
    let refused: [(&[&str], &str); 5] = [
        (&["banChatMembr"], "no method banChatMembr: did you mean banChatMember?"),
        (&["getMe", "--chat", "-5"], "getMe names no chat"),
        (&["sendMessage", "--chat", "team"], "is not here"),
        (&["sendMessage", "--role", "boss"], "takes owner, admin, member, guest"),
        (&[], "METHOD"),
    ];
    for (arguments, told) in refused {
        let (code, _, errors) = policy(folder.path(), &[&["explain"], arguments].concat());
        assert!(code == Some(2) && errors.contains(told), "{arguments:?}: {errors}");
    }
}

#[test]
fn a_decision_about_a_tool_of_another_server_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let rules = "rules:
  - {name: reading, server: \"f*\", method: \"read_*\", role: [owner, admin], then: allow}
  - {name: team, server: files, method: write_file, chat: -1001, agent: clerk, then: ask, people: 2, reason: two look at it}
  - {name: nights, server: files, method: move_file, task: true, then: allow}
  - {name: none, server: \"*\", method: \"delete_*\", then: deny, reason: nothing is deleted}
";
    fs::write(folder.path().join("policy.yaml"), rules).unwrap();
    let servers = json!({"mcpServers": {
        "files": {"command": "x", "autoApprove": ["list_directory"], "disabledTools": ["edit_file"]},
        "web": {"url": "http://a.example", "autoApprove": ["*"]},
        "off": {"command": "x", "disabled": true},
    }});
    fs::write(folder.path().join("mcp.json"), servers.to_string()).unwrap();
    let write: &[&str] = &["write_file", "--server", "files", "--agent", "clerk", "--chat", "-1001"];
    let cases: [(&[&str], &str); 11] = [
        (
            &["read_file", "--server", "files", "--role", "owner"],
            "read_file of the MCP server files: allow\nrule: owner/reading\n",
        ),
        (
            &["files__read_file"],
            "read_file of the MCP server files: ask\nrule: default/mcp_server\nreason: it calls a tool of the MCP server \
             files\napproval: by an owner\n",
        ),
        (
            write,
            "rule: owner/team\nreason: two look at it\napproval: by an owner; not by whoever asked for it",
        ),
        (&["files__write_file", "--agent", "clerk"], "rule: default/mcp_server"),
        (&["files__move_file", "--task"], "allow\nrule: owner/nights"),
        (&["files__write_file", "--task"], "approval: none: nobody can be asked in the run of a task"),
        (&["files__list_directory"], "allow\nrule: default/auto_approve"),
        (&["web__delete_all", "--role", "owner"], "deny\nrule: owner/none\nreason: nothing is deleted"),
        (
            &["web__look"],
            "note: autoApprove has \"*\": it is allowed where the server says that it only reads or destroys nothing",
        ),
        (&["files__edit_file"], "note: nobody has it: mcp.json has the server or the tool off"),
        (&["files__read_file", "--role", "guest"], "deny\nrule: limit/server_guest"),
    ];
    for (arguments, told) in cases {
        let (code, said, errors) = policy(folder.path(), &[&["explain"], arguments].concat());
        assert!(code == Some(0) && said.contains(told), "{arguments:?}: {said}{errors}");
    }
    let (_, said, _) = policy(folder.path(), &["explain", "web__look", "--json"]);
    let said = serde_json::from_str::<Value>(&said).unwrap();
    assert_eq!(
        (&said["method"], &said["server"], &said["decision"]),
        (&json!("look"), &json!("web"), &json!("ask"))
    );
    let refused: [(&[&str], &str); 3] = [
        (&["fils__read_file"], "there is no MCP server fils: did you mean files?"),
        (&["files__read_file", "--own"], "--own is about messages"),
        (&["files__read_file", "--chat", "@team"], "--chat is where the model is"),
    ];
    for (arguments, told) in refused {
        let (code, _, errors) = policy(folder.path(), &[&["explain"], arguments].concat());
        assert!(code == Some(2) && errors.contains(told), "{arguments:?}: {errors}");
    }
}

#[tokio::test]
async fn a_bot_does_not_start_with_a_broken_file() {
    let world = World::new().await;
    fs::write(world.folder.path().join("policy.yaml"), GOOD.replace("then: ask", "then: aks")).unwrap();
    let output = world.bot().run().await;
    let (_, errors) = words(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors.contains("policy.yaml:10:11: then is `aks`"), "{errors}");
    let output = world.bot().arg("check").run().await;
    assert!(words(&output).0.contains("✗ policy: policy.yaml:10:11: "), "{:?}", words(&output));
}

/// Has the model post into the group from Ann's chat, who denies it when asked; gives what it is told.
async fn post(world: &World, at: usize) -> Value {
    let arguments = json!({"chat_id": TEAM, "text": format!("News {at}")});
    world.script.push(ModelReply::turn(vec![ReplyPart::Call { name: "sendMessage".to_owned(), arguments }]));
    world.script.push(ModelReply::text(&format!("Done {at}.")));
    let before = world.asked().len();
    world.say(ANN, ANN, &format!("post it, {at}"));
    let request = world.asks_denying(before + 2).await;
    world.shows_text(&format!("Done {at}.")).await;
    serde_json::from_str(&request.tool_results().last().unwrap().1).unwrap()
}

impl World {
    /// Waits until Ann's chat has a message of the bot with these words, and gives it.
    async fn shows_text(&self, words: &str) -> String {
        let find = |view: &figaro_offline::telegram::TelegramView<'_>| {
            let texts = view.bot_messages(ANN).into_iter();
            texts
                .filter_map(|message| message["text"].as_str().map(str::to_owned))
                .find(|text| text.contains(words))
        };
        self.see(words, find).await
    }
}

#[tokio::test]
async fn a_change_of_the_file_holds_at_once_and_a_broken_one_changes_nothing() {
    let world = World::new().await;
    world.team();
    let bot = world.start().await;
    let file = world.folder.path().join("policy.yaml");
    let refused = post(&world, 1).await;
    assert!(refused.to_string().contains("a person denied it"), "{refused}");
    fs::write(&file, GOOD).unwrap();
    world.shows_text("policy.yaml. Your rules that apply from now on: 3").await;
    assert_eq!(post(&world, 2).await["success"], true);
    fs::write(&file, GOOD.replace("then: allow", "then: alow")).unwrap();
    let told = world.shows_text("I cannot use policy.yaml").await;
    assert!(
        told.contains(":6:11: then is `alow`, and takes allow, ask, deny: did you mean allow?"),
        "{told}"
    );
    let status = world.told(ANN, ANN, "/status").await;
    let status = status["text"].as_str().unwrap();
    assert!(
        status.contains("⚠️ I cannot use some of your files") && status.contains(":6:11: then is `alow`"),
        "{status}"
    );
    assert_eq!(post(&world, 3).await["success"], true, "the rules of before hold");
    fs::remove_file(&file).unwrap();
    world.shows_text("policy.yaml is gone").await;
    assert_eq!(post(&world, 4).await["success"], true, "the rules of before hold");
    fs::write(&file, "# none\n").unwrap();
    world.shows_text("policy.yaml. Your rules that apply from now on: 0").await;
    let status = world.told(ANN, ANN, "/status").await;
    assert!(!status["text"].as_str().unwrap().contains("some of your files"), "{status}");
    let refused = post(&world, 5).await;
    assert!(refused.to_string().contains("a person denied it"), "{refused}");
    let posted = world.bot_texts(TEAM);
    assert_eq!(posted, ["News 2", "News 3", "News 4"]);
    assert!(bot.log().contains("owner/news"), "the log names the rule");
}
