//! `figaro dashboard`: a link for the owner, from the machine of the bot.

use super::link_in;
use crate::support::terminal::said;
use crate::support::{ANN, BOB, World};

#[tokio::test]
async fn it_prints_a_link_that_signs_the_first_owner_in_once() {
    let world = World::new().await;
    let recipe = world.bot().set("OWNER_IDS", &format!("{ANN},{BOB}"));
    let dashboard = world.dashboard_of(recipe.clone()).await;
    world.caught_up().await;
    let store = world.store_setting();
    let bare = recipe
        .clone()
        .unset("STORE_URL")
        .unset("TELEGRAM_BOT_TOKEN")
        .unset("OPENAI_API_KEY")
        .unset("OWNER_IDS");
    let calls = [recipe.clone().arg("dashboard"), bare.arg("dashboard").arg("--store").arg(&store)];
    let mut links = Vec::new();
    for call in calls {
        let (out, error, code) = said(&call.run().await);
        assert_eq!((error.as_str(), code), ("", Some(0)), "{out}");
        let link = link_in(&out).unwrap();
        assert!(
            link.starts_with(&format!("{}enter/", dashboard.root)) && out.lines().any(|line| line == link),
            "{out}"
        );
        let mut browser = dashboard.nobody();
        browser.signs_in(&link).await;
        assert!(browser.reads("people").await.contains("Ann"));
        assert_eq!(dashboard.nobody().post(&link, &[]).await.status, 410);
        links.push(link);
    }
    assert_ne!(links[0], links[1]);
    assert!(links.iter().all(|link| !dashboard.bot().log().contains(link.rsplit('/').next().unwrap())));
}

#[tokio::test]
async fn without_a_bot_that_runs_it_says_so() {
    let world = World::new().await;
    let never = said(&world.bot().arg("dashboard").run().await);
    let dashboard = world.dashboard_of(world.bot()).await;
    dashboard.gateway.bot.ends_well().await;
    let stopped = said(&world.bot().arg("dashboard").run().await);
    let dashboard = world.dashboard_of(world.bot()).await;
    dashboard.gateway.bot.kill();
    let killed = said(&world.bot().arg("dashboard").run().await);
    for (out, error, code) in [never, stopped, killed] {
        assert!(out.is_empty() && matches!(code, Some(1 | 2)), "{out} {error} {code:?}");
        assert!(error.starts_with("figaro: ") && error.contains("run"), "{error}");
        assert!(!error.contains("panicked") && error.lines().count() <= 3, "{error}");
    }
}

#[tokio::test]
async fn without_a_dashboard_it_says_how_to_turn_it_on() {
    let world = World::new().await;
    let bot = world.start().await;
    let (out, error, code) = said(&world.bot().arg("dashboard").run().await);
    assert!(out.is_empty() && matches!(code, Some(1 | 2)), "{out} {code:?}");
    assert!(error.contains("HTTP_ADDR"), "{error}");
    bot.ends_well().await;
    let dashboard = world.gateway_of(world.bot().set("DASHBOARD", "off")).await;
    let (out, error, code) = said(&world.bot().arg("dashboard").run().await);
    assert!(
        out.is_empty() && matches!(code, Some(1 | 2)) && error.contains("DASHBOARD"),
        "{out} {error} {code:?}"
    );
    dashboard.bot.ends_well().await;
}

#[tokio::test]
async fn a_bot_without_an_owner_gives_no_link() {
    let world = World::new().await;
    let _dashboard = world.dashboard_of(world.bot().unset("OWNER_IDS")).await;
    let (out, error, code) = said(&world.bot().unset("OWNER_IDS").arg("dashboard").run().await);
    assert!(
        out.is_empty() && matches!(code, Some(1 | 2)) && error.contains("owner"),
        "{out} {error} {code:?}"
    );
}
