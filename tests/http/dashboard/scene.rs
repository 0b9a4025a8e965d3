//! A bot in which each person has something of everything, in words that nobody else uses.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{MemberStatus, Person};
use serde_json::json;

use super::{Dashboard, fact, part};
use crate::support::World;
use crate::support::calls::{call, says};
use crate::support::scene::TEAM;

/// A group of the owner and of Beth; [`TEAM`] is that of the owner and of Carl.
pub const CLUB: i64 = -1_000_000_009_002;
/// Word that everybody says, to be searched for.
pub const COMMON: &str = "zebra";

/// A person. Whatever is theirs begins with their root.
#[derive(Debug, PartialEq)]
pub struct Who {
    pub id: i64,
    pub root: &'static str,
    /// Tokens that they have spent, in millions.
    pub spent: &'static str,
    /// A group in which they write.
    pub group: i64,
}

pub const OWNER: Who = Who { id: 7_100_000_101, root: "Qowna", spent: "5.5", group: TEAM };
pub const BETH: Who = Who { id: 7_100_000_202, root: "Qbetha", spent: "1.2", group: CLUB };
/// An admin everywhere, by the owner's word.
pub const CARL: Who = Who { id: 7_100_000_303, root: "Qcarlo", spent: "7.6", group: TEAM };
/// A guest, who has said nothing but hello.
pub const DORA: Who = Who { id: 7_100_000_404, root: "Qdoras", spent: "0", group: CLUB };

/// Roots of what is nobody's own, and of owners alone.
pub const OF_THE_BOT: [&str; 3] = ["Qgate", "Qagent", "Qserver"];

/// A world with these people, their groups, and a bot with all that they said and made.
pub async fn filled() -> (World, Dashboard) {
    let world = World::new().await;
    for who in [OWNER, BETH, CARL, DORA] {
        let name = format!("{}name", who.root);
        world.telegram.add_user(Person::new(who.id, &name).username(&name.to_lowercase()).language("en"));
        world.telegram.add_private(who.id).unwrap();
    }
    for (group, title, member) in [(TEAM, "Qteam", CARL), (CLUB, "Qclub", BETH)] {
        world.telegram.add_supergroup(group, title);
        for user in [OWNER.id, member.id] {
            world.telegram.set_member(group, user, MemberStatus::Member).unwrap();
        }
    }
    world.otherwise(ModelReply::text("Fine.").usage(10, 1));
    files(&world);
    let recipe = world.bot().set("OWNER_IDS", &OWNER.id.to_string());
    let recipe = recipe.set("ACCESS", "open").set("MEMORY_LIMIT", "50").set("SUMMARY_EVERY", "4");
    let recipe = recipe.set("EMBEDDER", "openai:text-embedding-3-small");
    let dashboard = world.dashboard_of(recipe).await;
    for who in [&OWNER, &BETH, &CARL] {
        fills(&world, who).await;
    }
    world.told(DORA.id, DORA.id, "hello").await;
    for (who, role) in [(CARL, "admin"), (DORA, "guest")] {
        world.told(OWNER.id, OWNER.id, &format!("/allow {} {role}", who.id)).await;
    }
    // Of a call that the owner wants made, in the group of Carl.
    let wanted = "@figaro_bot Qownawants there";
    let send = json!({"chat_id": CLUB, "text": "Qownaposted"});
    for reply in [part("find_tools", json!({"query": "sendMessage"})), part("sendMessage", send)] {
        world.when(wanted, ModelReply::turn(vec![reply]).usage(10, 1));
    }
    world.say(OWNER.id, TEAM, wanted);
    says(&world, TEAM, "May I do this?").await;
    dashboard
        .gateway
        .says(&format!("{COMMON} Qgatemessage"))
        .user("Qgateuser")
        .session("Qgatesession")
        .ok()
        .await;
    (world, dashboard)
}

/// An agent and a server of the owner.
fn files(world: &World) {
    let folder = world.folder.path().join("prompts/agents");
    std::fs::create_dir_all(&folder).unwrap();
    let agent = "type: object\ndescription: Qagentwords\njson_schema_extra: {kind: agent, name: qagent, version: 1, tools: [{name: add_note}]}\n";
    std::fs::write(folder.join("qagent.yaml"), agent).unwrap();
    let servers = json!({"mcpServers": {"Qserver": {"url": "http://127.0.0.1:9/Qserver"}}}).to_string();
    std::fs::write(world.folder.path().join("mcp.json"), servers).unwrap();
}

/// Somebody says, pins, plans, notes and wants something, in a conversation of a name, and speaks in a group.
async fn fills(world: &World, who: &Who) {
    let (id, root) = (who.id, who.root);
    let tokens = who.spent.replace('.', "").parse::<u64>().unwrap() * 100_000;
    let dog = format!("My dog is called {root}fact");
    world.script.extract_when(&dog, fact(&dog));
    world.when(&dog, ModelReply::text(&format!("{root}answer, {COMMON}.")).usage(tokens, 1));
    world.say(id, id, &format!("{dog}. {root}message {COMMON}"));
    says(world, id, &format!("{root}answer")).await;
    world.told(id, id, &format!("/pin {root}pin {COMMON}")).await;
    let note = json!({"key": "list", "content": format!("{root}note")});
    quietly(world, who, "add_note", note).await;
    let task =
        json!({"prompt": format!("{root}task {COMMON}"), "schedule": "30 9 29 2 *", "recurring": true});
    quietly(world, who, "schedule_task", task).await;
    world.told(id, id, &format!("/new {root}session")).await;
    world.told(id, id, &format!("{root}second {COMMON}")).await;
    let wanted = format!("{root}wants {COMMON}");
    let send = json!({"chat_id": who.group, "text": format!("{root}elsewhere")});
    for reply in [part("find_tools", json!({"query": "sendMessage"})), part("sendMessage", send)] {
        world.when(&wanted, ModelReply::turn(vec![reply]).usage(10, 1));
    }
    world.say(id, id, &wanted);
    says(world, id, "May I do this?").await;
    world.told(id, who.group, &format!("@figaro_bot {root}ingroup {COMMON}")).await;
}

/// Has the model call a tool for somebody, for few tokens.
async fn quietly(world: &World, who: &Who, tool: &str, arguments: serde_json::Value) {
    call(world, (who.id, who.id), &format!("{} {tool}", who.root), tool, arguments).await;
}
