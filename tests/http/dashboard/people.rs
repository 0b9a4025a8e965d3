//! Roles that an owner gives in a browser, and people who are shut out: they lose what they see at once.

use figaro_offline::model::ModelReply;
use serde_json::json;

use super::Dashboard;
use crate::support::calls::{call, says};
use crate::support::scene::{labels, text};
use crate::support::{ANN, BOB, World};

/// A bot that lets in only whom an owner has let in, Bob among them.
async fn let_in() -> (World, Dashboard) {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Hello."));
    let dashboard = world.dashboard_of(world.bot().set("ACCESS", "allowlist")).await;
    world.told(ANN, ANN, "/allow 12").await;
    world.told(BOB, BOB, "hello").await;
    (world, dashboard)
}

/// Bob says something, for which there is an answer.
fn says_so(world: &World, said: &str) -> String {
    let answer = format!("Answer to {said}");
    world.when(said, ModelReply::text(&answer));
    world.say(BOB, BOB, said);
    answer
}

/// Waits until the bot has answered Bob.
async fn is_answered(world: &World, said: &str) {
    let answer = says_so(world, said);
    says(world, BOB, &answer).await;
}

async fn is_not_answered(world: &World, said: &str) {
    let answer = says_so(world, said);
    world.caught_up().await;
    assert!(
        !world.bot_texts(BOB).contains(&answer)
            && !world.asked().iter().any(|request| request.user_text().contains(said))
    );
}

#[tokio::test]
async fn whoever_is_shut_out_by_a_command_loses_what_they_see_at_once() {
    let (world, dashboard) = let_in().await;
    for (number, command) in ["/deny 12", "/deny 12 2h", "/deny @bob"].into_iter().enumerate() {
        let (first, second) = (world.browser(&dashboard, BOB).await, world.browser(&dashboard, BOB).await);
        let unused = world.link(BOB).await;
        for browser in [&first, &second] {
            assert_eq!(browser.status("").await, 200);
        }
        world.told(ANN, ANN, command).await;
        for browser in [&first, &second] {
            for path in [
                "",
                "conversations",
                "memory",
                "tasks",
                "approvals",
                "events",
                "people",
                "conversations?q=hello",
            ] {
                assert_eq!(browser.status(path).await, 401, "{command} {path}");
            }
            let page = browser.post("tasks/01BX5ZZKBKACTAV9WEVRYEMGVS", &[("action", "run")]).await;
            assert_eq!(page.status, 401, "{command}");
        }
        // Nor does a link help that they were given before.
        let page = dashboard.nobody().post(&unused, &[]).await;
        let mut late = dashboard.nobody();
        late.cookie = page.header("set-cookie").split(';').next().map(str::to_owned);
        assert_eq!(late.status("").await, 401, "{command}: {}", page.whole());
        is_not_answered(&world, &format!("are you there? {number}")).await;
        world.told(ANN, ANN, "/allow 12").await;
        is_answered(&world, &format!("and now? {number}")).await;
        assert_eq!(world.browser(&dashboard, BOB).await.status("").await, 200);
    }
}

#[tokio::test]
async fn whoever_is_shut_out_in_a_browser_is_answered_no_more_and_is_let_in_again() {
    let (world, dashboard) = let_in().await;
    let (owner, bob) = (world.browser(&dashboard, ANN).await, world.browser(&dashboard, BOB).await);
    assert_eq!(owner.post("people/12", &[("change", "deny")]).await.status, 303);
    assert_eq!((bob.status("").await, bob.status("memory").await), (401, 401));
    is_not_answered(&world, "are you there?").await;
    let list = world.told(ANN, ANN, "/allow").await;
    assert!(!text(&list).contains("Bob (@bob): Member"), "{list}");
    assert!(owner.reads("people").await.contains("Bob"), "who was shut out can be let in");
    assert_eq!(owner.post("people/12", &[("change", "member")]).await.status, 303);
    is_answered(&world, "and now?").await;
    let audit = owner.reads("audit").await;
    assert!(audit.contains("Bob") && audit.contains("Ann"), "{audit}");
}

#[tokio::test]
async fn a_role_that_is_given_in_a_browser_holds_in_the_chat_and_the_other_way_round() {
    let (world, dashboard) = let_in().await;
    let owner = world.browser(&dashboard, ANN).await;
    let note = json!({"key": "list", "content": "milk"});
    for (number, (role, is_refused)) in
        [("guest", true), ("member", false), ("admin", false)].into_iter().enumerate()
    {
        assert_eq!(owner.post("people/12", &[("change", role)]).await.status, 303, "{role}");
        let result = call(&world, (BOB, BOB), &format!("note it {number}"), "add_note", note.clone()).await;
        assert_eq!(result.to_string().contains("is a guest here"), is_refused, "{role}: {result}");
        let list = world.told(ANN, ANN, "/allow").await;
        assert!(text(&list).to_lowercase().contains(role), "{role}: {list}");
    }
    world.told(ANN, ANN, "/allow 12 guest").await;
    let page = owner.reads("people").await;
    assert!(page.contains("Guest"), "{page}");
}

#[tokio::test]
async fn nobody_changes_an_owner_and_no_odd_change_is_made() {
    let (world, dashboard) = let_in().await;
    let owner = world.browser(&dashboard, ANN).await;
    for change in ["deny", "guest", "member", "admin"] {
        let page = owner.post("people/11", &[("change", change)]).await;
        assert!(page.status < 500, "{change}: {}", page.whole());
        assert_eq!(owner.status("people").await, 200, "{change}");
        assert_eq!(text(&world.ask("still there?").await), "Hello.", "{change}");
    }
    for (who, change) in [
        ("12", "owner"),
        ("12", ""),
        ("12", "DENY"),
        ("12", "deny "),
        ("tg:12", "owner"),
        ("-1001", "admin"),
        ("0", "admin"),
    ] {
        let page = owner.post(&format!("people/{who}"), &[("change", change)]).await;
        assert!(page.status < 500, "{who} {change}: {}", page.whole());
    }
    assert!((400..500).contains(&owner.post("people/12", &[]).await.status));
    let bob = world.browser(&dashboard, BOB).await;
    assert_eq!((bob.status("").await, bob.status("people").await), (200, 404));
    let list = world.told(ANN, ANN, "/allow").await;
    assert!(text(&list).contains("Bob") && !text(&list).contains("Owner: Bob"), "{list}");
}

#[tokio::test]
async fn whoever_was_let_in_by_a_button_and_is_shut_out_sees_nothing_more() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Hello."));
    let dashboard = world.dashboard_of(world.bot().set("ACCESS", "pairing")).await;
    world.say(BOB, BOB, "hello");
    let card = says(&world, ANN, "Bob").await;
    let allow = labels(&card).into_iter().find(|label| label.contains("Allow")).unwrap();
    world.press(ANN, &card, &allow).await;
    says(&world, BOB, "Hello.").await;
    let bob = world.browser(&dashboard, BOB).await;
    assert_eq!(bob.status("").await, 200);
    world.told(ANN, ANN, "/deny 12").await;
    assert_eq!(bob.status("").await, 401);
}
