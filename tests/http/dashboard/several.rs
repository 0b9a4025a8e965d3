//! Several bots of one process have a dashboard each, and one's sign-in is nothing to another.

use figaro_offline::model::ModelReply;

use super::browser::Browser;
use super::link_in;
use crate::support::bot::Recipe;
use crate::support::fleet::{Fleet, texts};
use crate::support::terminal::said;
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, Bot, TIMEOUT};

const ONE: &str = "one";
const NAMES: [&str; 2] = ["sales", "family"];

/// Two bots in a process, the address that it listens at, and how it was started.
async fn two() -> (Fleet, Bot, String, Recipe) {
    two_of("sales: {token: TOKEN_0, access: open}\nfamily: {token: TOKEN_1, access: open, owners: [12]}\n")
        .await
}

/// The same, with this file of bots.
async fn two_of(file: &str) -> (Fleet, Bot, String, Recipe) {
    let fleet = Fleet::of(2).await;
    fleet.file(ONE, file);
    let recipe = fleet.recipe(ONE).set("HTTP_ADDR", "127.0.0.1:0").set("DASHBOARD", "everybody");
    let recipe = recipe.set("TOKEN_BAD", "7000000099:unknown");
    let bot = recipe.spawn();
    bot.logged_times(" ready ", 2).await;
    let log = bot.log();
    let address = log.split("listens at ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    drop(fleet.script.clone().otherwise(ModelReply::text("Here.")));
    (fleet, bot, address, recipe)
}

/// The path below the dashboard of a link that a bot gives somebody.
async fn link(fleet: &Fleet, bot: usize, who: i64) -> String {
    let link = link_in(&fleet.ask(bot, who, "/dashboard").await).unwrap();
    let (_, path) =
        link.split_once(&format!("/bots/{}/dashboard/", NAMES[bot])).unwrap_or_else(|| panic!("{link}"));
    path.to_owned()
}

async fn browser(fleet: &Fleet, address: &str, bot: usize, who: i64) -> Browser {
    let mut browser = Browser::at(&format!("{address}/bots/{}/dashboard/", NAMES[bot]));
    browser.signs_in(&link(fleet, bot, who).await).await;
    browser
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_leads_to_where_the_process_listens() {
    let (fleet, bot, address, _) = two().await;
    for (number, name) in NAMES.into_iter().enumerate() {
        let link = link_in(&fleet.ask(number, BOB, "/dashboard").await).unwrap();
        assert!(link.starts_with(&format!("{address}/bots/{name}/dashboard/enter/")), "{link}");
    }
    bot.ends_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cookie_and_a_ticket_of_one_bot_are_nothing_to_another() {
    let (fleet, bot, address, _) = two().await;
    fleet.ask(0, ANN, "a zebra of the sales").await;
    fleet.ask(1, BOB, "a zebra of the family").await;
    let sales = browser(&fleet, &address, 0, ANN).await;
    let family = Browser::at(&format!("{address}/bots/family/dashboard/"));
    let [name, value] = sales.cookie.as_deref().unwrap().split('=').collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!(name, format!("figaro_dashboard_{}", fleet.bots[0].bot_id()));
    let renamed = format!("figaro_dashboard_{}={value}", fleet.bots[1].bot_id());
    for cookie in [format!("{name}={value}"), renamed.clone(), format!("{name}={value}; {renamed}")] {
        for path in ["", "conversations", "people"] {
            assert_eq!(family.cookie(&cookie).status(path).await, 401, "{cookie} {path}");
        }
    }
    let path = link(&fleet, 0, ANN).await;
    let page = family.post(&path, &[]).await;
    assert_eq!((page.status, page.header("set-cookie")), (410, ""));
    let fresh = Browser::at(sales.root.as_str());
    assert_eq!(fresh.post(&path, &[]).await.status, 303, "it is good where it is from");
    // Each shows its own bot alone, to its own owners.
    let shown = sales.finds().await;
    assert!(shown.has("a zebra of the sales") && !shown.has("a zebra of the family"));
    assert!(shown.has("bot0_bot") && !shown.has("bot1_bot"));
    assert!(fleet.bots.iter().all(|bot| !shown.has(bot.token())), "a token is shown");
    assert_eq!(sales.status("people").await, 200);
    assert_eq!(
        browser(&fleet, &address, 1, ANN).await.status("people").await,
        404,
        "an owner of the other bot"
    );
    assert_eq!(browser(&fleet, &address, 1, BOB).await.status("people").await, 200);
    bot.ends_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_sees_their_bots_and_goes_from_one_to_the_other() {
    let file = "sales: {token: TOKEN_0, access: open, owners: [11, 12]}\n\
                family: {token: TOKEN_1, access: open, owners: [11]}\n";
    let (fleet, bot, address, _) = two_of(file).await;
    let ann = browser(&fleet, &address, 0, ANN).await;
    let page = ann.reads("bots").await;
    assert!(page.contains("sales") && page.contains("family") && page.contains("@bot1_bot"), "{page}");
    assert_eq!(page.matches("running").count(), 2, "{page}");
    let settings = ann.reads("settings").await;
    for (name, source) in [("OWNER_IDS", "BOTS_FILE"), ("DASHBOARD", "environment"), ("SPEAKER", "default")] {
        let (_, row) = settings.split_once(&format!("<code>{name}</code>")).unwrap();
        let (row, _) = row.split_once("</tr>").unwrap();
        assert!(row.contains(source), "{name}: {row}");
    }
    let answer = ann.post("bots/family", &[]).await;
    let link = answer.header("location").to_owned();
    assert!(link.starts_with(&format!("{address}/bots/family/dashboard/enter/")), "{}", answer.whole());
    let mut family = Browser::at(&format!("{address}/bots/family/dashboard/"));
    family.signs_in(&link).await;
    assert_eq!(family.status("people").await, 200);
    // Bob owns one of them alone.
    let bob = browser(&fleet, &address, 0, BOB).await;
    let page = bob.reads("bots").await;
    assert!(page.contains("sales") && !page.contains("family"), "{page}");
    for name in ["family", "none", "sales%2f", ""] {
        assert_eq!(bob.post(&format!("bots/{name}"), &[]).await.status, 404, "{name}");
    }
    // A bot that cannot start is seen with the reason.
    fleet.file(ONE, &format!("{file}broken: {{token: TOKEN_BAD, owners: [11]}}\n"));
    let why = eventually(
        || "no reason is shown",
        async || {
            let page = ann.reads("bots").await;
            page.contains("stopped by a fault").then_some(page)
        },
    );
    assert!(why.await.contains("broken") && !bob.reads("bots").await.contains("broken"));
    bot.ends_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_browser_is_signed_in_to_both_and_leaves_one() {
    let (fleet, bot, address, _) = two().await;
    let [mut sales, mut family] =
        [browser(&fleet, &address, 0, BOB).await, browser(&fleet, &address, 1, BOB).await];
    let both = format!("{}; {}", sales.cookie.as_deref().unwrap(), family.cookie.as_deref().unwrap());
    sales.cookie = Some(both.clone());
    family.cookie = Some(both);
    assert_eq!((sales.status("").await, family.status("").await), (200, 200));
    assert_eq!((sales.status("people").await, family.status("people").await), (404, 200));
    sales.post("leave", &[("now", "1")]).await;
    assert_eq!((sales.status("").await, family.status("").await), (401, 200));
    for path in ["/bots/nobody/dashboard/", "/bots//dashboard/"] {
        let status = sales.status(&format!("{address}{path}")).await;
        assert!(status != 200, "{path}: {status}");
    }
    bot.ends_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_names_the_bot_whose_owner_it_signs_in() {
    let (fleet, bot, address, recipe) = two().await;
    for (number, name) in NAMES.into_iter().enumerate() {
        let (out, error, code) = said(&recipe.clone().arg("dashboard").arg(name).run().await);
        assert_eq!((error.as_str(), code), ("", Some(0)), "{out}");
        let link = link_in(&out).unwrap();
        let mut browser = Browser::at(&format!("{address}/bots/{name}/dashboard/"));
        let (_, path) = link.split_once(browser.root.path()).unwrap_or_else(|| panic!("{link}"));
        browser.signs_in(path).await;
        let shown = browser.reads("people").await;
        assert!(shown.contains(&format!("bot{number}_bot")), "{shown}");
    }
    for args in [&["dashboard"][..], &["dashboard", "nobody"]] {
        let call = args.iter().fold(recipe.clone(), |recipe, arg| recipe.arg(arg));
        let (out, error, code) = said(&call.run().await);
        assert!(out.is_empty() && matches!(code, Some(1 | 2)), "{out} {code:?}");
        assert!(error.contains("sales") && error.contains("family"), "{error}");
    }
    assert!(texts(&fleet.bots[0], ANN).is_empty(), "nobody is told in the chat");
    bot.ends_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signing_out_at_one_bot_signs_out_at_all_and_leaves_no_way_back() {
    let (fleet, bot, address, _) = two_of(
        "sales: {token: TOKEN_0, access: open, owners: [12]}\nfamily: {token: TOKEN_1, access: open, owners: [12]}\n",
    )
    .await;
    let (sales, family) = (browser(&fleet, &address, 0, BOB).await, browser(&fleet, &address, 1, BOB).await);
    let other = browser(&fleet, &address, 1, ANN).await;
    let unused = link(&fleet, 1, BOB).await;
    fleet.ask(0, BOB, "/dashboard").await;
    let telegram = &fleet.bots[0];
    let card = telegram.messages(BOB).into_iter().next_back().unwrap();
    let id = card["message_id"].as_i64().unwrap();
    let press = telegram.press(BOB, BOB, id, "dashboard:out").unwrap();
    telegram.wait_until(TIMEOUT, |view| view.callback_answer(&press).map(drop)).await.expect("an answer");
    assert_eq!([sales.status("").await, family.status("").await, other.status("").await], [401, 401, 200]);
    // The page of one bot opens that of another for its owner.
    assert_eq!(family.post("bots/sales", &[("now", "1")]).await.status, 401);
    assert_eq!(Browser::at(family.root.as_str()).post(&unused, &[]).await.status, 410);
    assert_eq!(browser(&fleet, &address, 1, BOB).await.status("").await, 200);
    bot.ends_well().await;
}
