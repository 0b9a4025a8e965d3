//! Calls that take an approval: by whom they are approved in a browser, and that they are made once and as they were shown.

use figaro_offline::model::{ModelReply, ReplyPart};
use figaro_offline::telegram::{MemberStatus, Person};
use serde_json::{Value, json};

use super::browser::Browser;
use super::{Dashboard, part};
use crate::support::calls::says;
use crate::support::scene::{TEAM, labels, text};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, World};

const MAY_I: &str = "May I do this?";
const EVE: i64 = 77;

/// A bot with a group in which it may do everything.
async fn moderated() -> (World, Dashboard) {
    let world = World::new().await;
    world.team();
    world.person(EVE, "Eve", "en");
    world.telegram.set_member(TEAM, EVE, MemberStatus::Member).unwrap();
    world.telegram.set_member(TEAM, world.telegram.bot_id(), MemberStatus::Admin).unwrap();
    let dashboard = world.dashboard().await;
    // Names of people are known from what they say.
    world.caught_up().await;
    (world, dashboard)
}

/// A call that sends this to the group.
fn sends(words: &str) -> ReplyPart {
    part("sendMessage", json!({"chat_id": TEAM, "text": words}))
}

fn bans() -> ReplyPart {
    part("banChatMember", json!({"chat_id": TEAM, "user_id": EVE}))
}

impl World {
    /// Somebody asks for a call, which is made or asked about.
    fn wants(&self, from: i64, said: &str, wanted: ReplyPart) {
        let ReplyPart::Call { name, .. } = &wanted else { panic!("no call") };
        self.when(said, ModelReply::turn(vec![part("find_tools", json!({"query": name}))]));
        self.when(said, ModelReply::turn(vec![wanted]));
        self.when(said, ModelReply::text(&format!("End of {said}.")));
        self.say(from, from, said);
    }

    /// Arguments of the calls that have reached Telegram; messages of the bot in private are none.
    fn made(&self, method: &str) -> Vec<Value> {
        let all = self.telegram.calls();
        let of_group = all.iter().filter(|call| call.method == method && call.args["chat_id"] == json!(TEAM));
        of_group.map(|call| Value::Object(call.args.clone())).collect()
    }
}

/// Waits for what is to be approved; gives the path of its form.
async fn waiting(browser: &Browser) -> String {
    let finds = async || {
        let forms = browser.get("approvals").await.forms();
        forms
            .into_iter()
            .find(|form| form.url.path().contains("/approvals/"))
            .map(|form| form.url.to_string())
    };
    eventually(|| "nothing is to be approved", finds).await
}

async fn nothing_waits(browser: &Browser) {
    let is_empty = async || {
        let forms = browser.get("approvals").await.forms();
        (!forms.iter().any(|form| form.url.path().contains("/approvals/"))).then_some(())
    };
    eventually(|| "it waits still", is_empty).await;
}

#[tokio::test]
async fn what_an_owner_approves_is_made_once_as_it_was_shown() {
    let (world, dashboard) = moderated().await;
    let owner = world.browser(&dashboard, ANN).await;
    world.wants(BOB, "tell them", sends("Hello, team"));
    let card = says(&world, BOB, MAY_I).await;
    let path = waiting(&owner).await;
    assert!(owner.reads("approvals").await.contains("Hello, team"));
    assert_eq!(world.made("sendMessage"), Vec::<Value>::new());
    let presses = (0..8).map(|_| owner.post(&path, &[("ruled", "once")]));
    for page in futures::future::join_all(presses).await {
        assert!(page.status < 500, "{}", page.whole());
    }
    says(&world, BOB, "End of tell them.").await;
    let now = world.shows(BOB, card["message_id"].as_i64().unwrap(), "Approved by Ann").await;
    assert!(labels(&now).is_empty(), "{now}");
    nothing_waits(&owner).await;
    for ruled in ["once", "hour", "denied"] {
        owner.post(&path, &[("ruled", ruled)]).await;
    }
    world.caught_up().await;
    let made = world.made("sendMessage");
    assert!(made.len() == 1 && made[0]["text"] == "Hello, team", "{made:?}");
    let audit = owner.reads("audit").await;
    assert!(audit.contains("approval given") && audit.contains("Ann"), "{audit}");
}

#[tokio::test]
async fn what_is_denied_is_not_made_and_the_model_is_told() {
    let (world, dashboard) = moderated().await;
    let owner = world.browser(&dashboard, ANN).await;
    world.wants(BOB, "tell them", sends("Hello, team"));
    let path = waiting(&owner).await;
    assert!(owner.post(&path, &[("ruled", "denied")]).await.status < 400);
    says(&world, BOB, "End of tell them.").await;
    nothing_waits(&owner).await;
    assert_eq!(world.made("sendMessage"), Vec::<Value>::new());
    let told = world.asked().pop().unwrap().tool_results().pop().unwrap().1;
    assert!(told.contains("a person denied it"), "{told}");
    says(&world, BOB, "Denied by Ann").await;
}

#[tokio::test]
async fn for_an_hour_it_is_not_asked_again_where_that_is_offered() {
    let (world, dashboard) = moderated().await;
    let owner = world.browser(&dashboard, ANN).await;
    world.wants(BOB, "tell them", sends("one"));
    let path = waiting(&owner).await;
    assert!(owner.post(&path, &[("ruled", "hour")]).await.status < 400);
    says(&world, BOB, "End of tell them.").await;
    world.wants(BOB, "and again", sends("two"));
    says(&world, BOB, "End of and again.").await;
    assert_eq!(world.made("sendMessage").len(), 2);
    // A ban is approved each time.
    world.wants(BOB, "ban her", bans());
    let path = waiting(&owner).await;
    owner.post(&path, &[("ruled", "hour")]).await;
    world.caught_up().await;
    assert_eq!(world.made("banChatMember"), Vec::<Value>::new(), "what is not offered approves nothing");
    let waits = waiting(&owner).await;
    assert_eq!(waits, path, "it waits as before");
}

#[tokio::test]
async fn nobody_approves_what_they_may_not_approve_in_the_chat() {
    let (world, dashboard) = moderated().await;
    for (said, wanted, method) in
        [("tell them", sends("Hello, team"), "sendMessage"), ("ban her", bans(), "banChatMember")]
    {
        world.wants(BOB, said, wanted);
        let browser = world.browser(&dashboard, BOB).await;
        let path = waiting(&browser).await;
        for ruled in ["once", "hour", "Once", "once ", "approved", ""] {
            let page = browser.post(&path, &[("ruled", ruled)]).await;
            assert!(page.status < 500, "{ruled}: {}", page.whole());
            world.caught_up().await;
            assert_eq!(world.made(method), Vec::<Value>::new(), "{ruled}");
        }
        let doubled = browser.post(&path, &[("ruled", "denied"), ("ruled", "once")]).await;
        assert!(doubled.status < 500);
        world.caught_up().await;
        assert_eq!(world.made(method), Vec::<Value>::new());
        let owner = world.browser(&dashboard, ANN).await;
        owner.post(&path, &[("ruled", "denied")]).await;
        nothing_waits(&owner).await;
    }
}

#[tokio::test]
async fn a_rule_of_two_people_wants_another_one_in_a_browser_too() {
    let world = World::new().await;
    world.team();
    world.person(EVE, "Eve", "en");
    for user in [EVE, world.telegram.bot_id()] {
        world.telegram.set_member(TEAM, user, MemberStatus::Admin).unwrap();
    }
    let rules = "rules:\n  - {name: sends, method: sendMessage, chat: elsewhere, then: ask, people: 2, reason: two people look at it}\n";
    std::fs::write(world.folder.path().join("policy.yaml"), rules).unwrap();
    let owners = format!("{ANN},{BOB}");
    let dashboard = world.dashboard_of(world.bot().set("ACCESS", "open").set("OWNER_IDS", &owners)).await;
    let (ann, bob) = (world.browser(&dashboard, ANN).await, world.browser(&dashboard, BOB).await);
    world.wants(ANN, "tell them", sends("Hello, team"));
    let path = waiting(&ann).await;
    for ruled in ["once", "hour"] {
        ann.post(&path, &[("ruled", ruled)]).await;
        world.told(BOB, BOB, "/approve").await;
        assert_eq!(world.made("sendMessage"), Vec::<Value>::new(), "{ruled}");
    }
    assert!(bob.post(&path, &[("ruled", "once")]).await.status < 400);
    says(&world, ANN, "End of tell them.").await;
    assert_eq!(world.made("sendMessage").len(), 1);
}

#[tokio::test]
async fn what_was_decided_in_the_chat_is_decided_in_the_browser() {
    let (world, dashboard) = moderated().await;
    let owner = world.browser(&dashboard, ANN).await;
    world.wants(ANN, "tell them", sends("Hello, team"));
    let card = says(&world, ANN, MAY_I).await;
    let path = waiting(&owner).await;
    world.press(ANN, &card, "✗ Deny").await;
    says(&world, ANN, "End of tell them.").await;
    nothing_waits(&owner).await;
    for ruled in ["once", "hour"] {
        assert!(owner.post(&path, &[("ruled", ruled)]).await.status < 500);
    }
    world.caught_up().await;
    assert_eq!(world.made("sendMessage"), Vec::<Value>::new());
}

#[tokio::test]
async fn a_page_tells_nobody_names_of_people_and_chats_that_they_do_not_share() {
    const VERA: i64 = 9_999_001;
    const HIDDEN: i64 = -1_000_000_000_778;
    let (world, dashboard) = moderated().await;
    world.telegram.add_user(Person::new(VERA, "Qveraname").username("qverauser"));
    world.telegram.add_supergroup(HIDDEN, "Qhiddentitle");
    for (user, standing) in [
        (VERA, MemberStatus::Member),
        (ANN, MemberStatus::Member),
        (world.telegram.bot_id(), MemberStatus::Admin),
    ] {
        world.telegram.set_member(HIDDEN, user, standing).unwrap();
    }
    let wanted = part("banChatMember", json!({"chat_id": HIDDEN, "user_id": VERA}));
    world.wants(EVE, "ban her", wanted);
    let card = says(&world, EVE, MAY_I).await;
    assert!(!text(&card).contains("Qvera") && !text(&card).contains("Qhidden"), "{card}");
    let browser = world.browser(&dashboard, EVE).await;
    waiting(&browser).await;
    for page in browser.finds().await.pages {
        for words in ["Qvera", "qvera", "Qhidden"] {
            assert!(!page.body.contains(words), "{}: {}", page.url, page.around(words));
        }
    }
}
