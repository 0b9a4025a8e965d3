//! Signing out everywhere by the button under `/dashboard`, and sign-ins in the audit log.

use super::browser::Browser;
use super::events::Stream;
use super::link_in;
use super::mini_app::is_of_app;
use crate::support::scene::{labels, number, text};
use crate::support::{ANN, BOB, World};

const BUTTON: &str = "Sign out everywhere";

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
    let of_ann = world.link(ANN).await;
    let unused = world.link(BOB).await;
    let card = world.told(BOB, BOB, "/dashboard").await;
    let second = link_in(text(&card)).unwrap();
    let mut stream = Stream::of(&phone).await;
    assert_eq!(statuses(&[&phone, &app, &owner]).await, [200, 200, 200]);
    assert!(labels(&card).iter().any(|label| label == BUTTON), "{card}");

    world.press(BOB, &card, BUTTON).await;
    let now = world.shows(BOB, number(&card["message_id"]), "You are signed out everywhere").await;
    assert!(labels(&now).is_empty() && link_in(text(&now)).is_none(), "{now}");
    assert_eq!(statuses(&[&phone, &app, &owner]).await, [401, 401, 200]);
    for link in [&unused, &second] {
        let page = dashboard.nobody().post(link, &[]).await;
        assert_eq!((page.status, page.header("set-cookie")), (410, ""), "{}", page.body);
    }
    while stream.goes_on().await.is_some() {}
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
    let count = async || owner.reads("audit").await.matches("signed in to the dashboard").count();
    assert_eq!(count().await, 1, "only Ann is");
    dashboard.nobody().signs_in(&link).await;
    assert_eq!(dashboard.nobody().post(&link, &[]).await.status, 410);
    world.menu_button(BOB, is_of_app).await;
    dashboard.nobody().opens(&world.opened(BOB)).await;
    assert_eq!(count().await, 3);
    let card = world.told(ANN, ANN, "/audit").await;
    assert!(text(&card).contains("Bob · signed in to the dashboard"), "{card}");
    let verified = owner.reads("audit?verify=true").await;
    assert!(verified.contains("the chain is whole"), "{verified}");
}
