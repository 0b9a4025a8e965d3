//! People who have a dashboard by the settings; the number of their browsers, the address and the time.

use figaro_offline::model::ModelReply;

use super::browser::Browser;
use super::{Dashboard, link_in};
use crate::support::scene::text;
use crate::support::{ANN, BOB, World};

/// Browsers that a person is signed in with.
const MOST: usize = 5;

/// A bot for everybody with these settings.
async fn with(world: &World, settings: &[(&str, &str)]) -> Dashboard {
    world.otherwise(ModelReply::text("Fine."));
    let recipe = settings
        .iter()
        .fold(world.bot().set("ACCESS", "open"), |recipe, (name, value)| recipe.set(name, value));
    let gateway = world.gateway_of(recipe).await;
    let root = format!("{}/dashboard/", gateway.url);
    Dashboard { gateway, root }
}

#[tokio::test]
async fn at_first_owners_alone_have_one() {
    let world = World::new().await;
    for settings in [&[][..], &[("DASHBOARD", "owners")]] {
        let dashboard = with(&world, settings).await;
        assert_eq!(world.browser(&dashboard, ANN).await.status("people").await, 200);
        let before = world.bot_texts(BOB).len();
        world.say(BOB, BOB, "/dashboard");
        world.caught_up().await;
        assert!(
            world.bot_texts(BOB)[before..].iter().all(|text| link_in(text).is_none()),
            "{:?}",
            world.bot_texts(BOB)
        );
        dashboard.gateway.bot.ends_well().await;
    }
}

#[tokio::test]
async fn what_is_off_is_not_there() {
    let world = World::new().await;
    let dashboard = with(&world, &[("DASHBOARD", "off")]).await;
    let told = world.told(ANN, ANN, "/dashboard").await;
    assert!(link_in(text(&told)).is_none(), "{told}");
    for path in [
        "",
        "tasks",
        "enter/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "assets/dashboard.css",
    ] {
        assert_eq!(dashboard.nobody().status(path).await, 404, "{path}");
    }
}

#[tokio::test]
async fn the_oldest_of_too_many_browsers_of_a_person_is_signed_out() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let ann = world.browser(&dashboard, ANN).await;
    let mut browsers: Vec<Browser> = Vec::new();
    for _ in 0..MOST + 2 {
        browsers.push(world.browser(&dashboard, BOB).await);
    }
    let mut signed_in = Vec::new();
    for browser in &browsers {
        signed_in.push(browser.status("").await == 200);
    }
    let wanted = [[false; 2].as_slice(), &[true; MOST]].concat();
    assert_eq!((signed_in, ann.status("").await), (wanted, 200), "another person's stay");
}

#[tokio::test]
async fn a_restart_signs_everybody_out_and_ends_all_links() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let (browser, link) = (world.browser(&dashboard, ANN).await, world.link(ANN).await);
    let ticket = link.rsplit('/').next().unwrap().to_owned();
    dashboard.gateway.bot.ends_well().await;
    let dashboard = world.dashboard().await;
    let mut after = browser;
    after.root = dashboard.nobody().root;
    assert_eq!(after.status("").await, 401);
    assert_eq!(after.post(&format!("enter/{ticket}"), &[]).await.status, 410);
}

#[tokio::test]
async fn behind_a_proxy_links_lead_to_it_and_its_own_pages_alone_send_forms() {
    let world = World::new().await;
    let dashboard = with(&world, &[("HTTP_PUBLIC_URL", "https://figaro.example/")]).await;
    let link = world.link(ANN).await;
    let ticket =
        link.strip_prefix("https://figaro.example/dashboard/enter/").unwrap_or_else(|| panic!("{link}"));
    let path = format!("enter/{ticket}");
    for origin in
        ["https://evil.example", "https://figaro.example.evil.example", "null", "https://figaro.example:444"]
    {
        let page = dashboard.nobody().post_with(&path, &[], &[("origin", origin)]).await;
        assert_eq!(page.status, 403, "{origin}");
    }
    let page = dashboard.nobody().post_with(&path, &[], &[("origin", "https://figaro.example")]).await;
    assert_eq!(page.status, 303, "{}", page.whole());
    assert!(page.header("set-cookie").contains("Secure"), "{}", page.whole());
    assert!(!page.header("location").starts_with("http"), "{}", page.whole());
}
