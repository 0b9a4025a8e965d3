//! Signing out everywhere by the button under `/dashboard`, and sign-ins in the audit log.

use figaro_offline::model::ModelReply;

use super::browser::{Browser, OWN};
use super::events::{Stream, is_over};
use super::link_in;
use super::mini_app::is_of_app;
use crate::support::scene::{labels, number, text};
use crate::support::{ANN, BOB, World};

const BUTTON: &str = "Sign out of the dashboard everywhere";

async fn statuses(browsers: &[&Browser]) -> Vec<u16> {
    futures::future::join_all(browsers.iter().map(|browser| browser.status(""))).await
}

#[tokio::test]
async fn everything_of_the_person_ends_and_nothing_of_others() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let (mut phone, owner) = (world.browser(&dashboard, BOB).await, world.browser(&dashboard, ANN).await);
    let mut app = dashboard.nobody();
    world.menu_button(BOB, is_of_app).await;
    app.opens(&world.opened(BOB)).await;
    // One that is opened and has not signed in yet.
    let opened = world.opened(BOB);
    let of_ann = world.link(ANN).await;
    let unused = world.link(BOB).await;
    let card = world.told(BOB, BOB, "/dashboard").await;
    let second = link_in(text(&card)).unwrap();
    let stream = Stream::of(&phone).await;
    assert_eq!(statuses(&[&phone, &app, &owner]).await, [200, 200, 200]);
    assert!(labels(&card).iter().any(|label| label == BUTTON), "{card}");

    world.press(BOB, &card, BUTTON).await;
    let now = world.shows(BOB, number(&card["message_id"]), "You are signed out of the dashboard").await;
    assert!(labels(&now).is_empty() && link_in(text(&now)).is_none(), "{now}");
    assert_eq!(statuses(&[&phone, &app, &owner]).await, [401, 401, 200]);
    let late = dashboard.nobody().post("app", &[("init_data", &opened), ("is_framed", "false")]).await;
    assert_eq!((late.status, late.header("set-cookie")), (403, ""), "{}", late.body);
    for link in [&unused, &second] {
        let page = dashboard.nobody().post(link, &[]).await;
        assert_eq!((page.status, page.header("set-cookie")), (410, ""), "{}", page.body);
    }
    is_over(stream).await;
    phone.signs_in(&world.link(BOB).await).await;
    dashboard.nobody().signs_in(&of_ann).await;
    assert_eq!(statuses(&[&phone, &app, &owner]).await, [200, 401, 200]);
    // Of an older client that still shows the button.
    world.forged(BOB, &card, "dashboard:out").await;
    assert_eq!(statuses(&[&phone, &owner]).await, [401, 200]);
}

#[tokio::test]
async fn each_sign_in_is_in_the_audit_log_and_no_attempt() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let owner = world.browser(&dashboard, ANN).await;
    let link = world.link(BOB).await;
    assert_eq!(dashboard.nobody().get(&link).await.status, 200);
    let count = async || owner.reads("audit").await.matches("signed in to the dashboard<").count();
    assert_eq!(count().await, 1, "only Ann is");
    dashboard.nobody().signs_in(&link).await;
    assert_eq!(dashboard.nobody().post(&link, &[]).await.status, 410);
    world.menu_button(BOB, is_of_app).await;
    let data = world.opened(BOB);
    dashboard.nobody().opens(&data).await;
    assert_eq!(count().await, 3);
    assert_ne!(
        dashboard.nobody().post("app", &[("init_data", &data), ("is_framed", "false")]).await.status,
        204
    );
    assert_eq!(count().await, 3, "the same data a second time");
    let card = world.told(ANN, ANN, "/audit").await;
    assert_eq!(
        text(&card).lines().filter(|line| line.ends_with(" · Bob · signed in to the dashboard")).count(),
        2,
        "{card}"
    );
    let verified = owner.reads("audit?verify=true").await;
    assert!(verified.contains("the chain is whole"), "{verified}");
}

#[tokio::test]
async fn an_owners_open_page_ends_too_and_the_log_has_it() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Fine."));
    let dashboard = world.dashboard().await;
    let mut browser = world.browser(&dashboard, ANN).await;
    let mut stream = Stream::of(&browser).await;
    world.told(BOB, BOB, "hello").await;
    stream.tells().await;
    let card = world.told(ANN, ANN, "/dashboard").await;
    world.press(ANN, &card, BUTTON).await;
    world.told(BOB, BOB, "hello again").await;
    is_over(stream).await;
    browser.signs_in(&world.link(ANN).await).await;
    let audit = browser.reads("audit").await;
    assert!(audit.contains("signed out of the dashboard everywhere"), "{audit}");
}

#[tokio::test]
async fn nobody_floods_the_audit_log_by_signing_in() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let mut statuses = Vec::new();
    for _ in 0..35 {
        let answer =
            dashboard.nobody().form(&world.link(BOB).await, &[]).header(OWN.0, OWN.1).send().await.unwrap();
        statuses.push(answer.status().as_u16());
    }
    let (signed_in, refused): (Vec<u16>, Vec<u16>) = statuses.into_iter().partition(|status| *status == 303);
    assert!(!refused.is_empty() && refused.iter().all(|status| *status == 429), "{refused:?}");
    let owner = world.browser(&dashboard, ANN).await;
    let entries = owner.reads("audit").await.matches("signed in to the dashboard<").count();
    assert_eq!(entries, signed_in.len() + 1, "and the owner's own");
}
