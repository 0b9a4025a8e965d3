//! The dashboard as a Mini App: who has a button for it, and who is signed in by opening it.

use std::time::Duration;

use figaro_base::clock::Clock;
use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{MiniAppButton, Person, init_data};
use reqwest::{Method, Url};
use serde_json::{Value, json};

use super::Dashboard;
use super::browser::{Browser, Page};
use crate::support::scene::{labels, text};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, Bot, World};

/// A value of the fragment that a client adds to the address.
fn launched(url: &str, name: &str) -> String {
    let fragment = Url::parse(url).unwrap().fragment().unwrap().to_owned();
    let parameters = Url::parse(&format!("http://localhost/?{fragment}")).unwrap();
    parameters.query_pairs().find(|(one, _)| one == name).unwrap().1.into_owned()
}

/// The second now, as Telegram writes it.
fn now() -> i64 {
    Clock::system().now().timestamp()
}

fn data(world: &World, user: i64, at: i64) -> String {
    let (user, at) = (json!({"id": user, "first_name": "Ann"}).to_string(), at.to_string());
    init_data(world.telegram.token(), &[("user", &user), ("auth_date", &at)])
}

impl World {
    pub async fn menu_button(&self, chat: i64, is_wanted: impl Fn(&Value) -> bool) -> Value {
        self.see("the menu button", |view| {
            Some(view.menu_button(chat)).filter(|button| is_wanted(button)).cloned()
        })
        .await
    }

    /// `initData` of a person who presses the menu button.
    pub fn opened(&self, user: i64) -> String {
        launched(&self.telegram.open_mini_app(user, MiniAppButton::Menu).unwrap(), "tgWebAppData")
    }
}

impl Browser {
    async fn launch(&self, data: &str) -> Page {
        self.launch_in(data, false).await
    }

    async fn launch_in(&self, data: &str, is_framed: bool) -> Page {
        let is_framed = is_framed.to_string();
        self.post("app", &[("init_data", data), ("is_framed", &is_framed)]).await
    }

    /// Opens the Mini App and keeps the cookie.
    pub async fn opens(&mut self, data: &str) -> Page {
        let answer = self.launch(data).await;
        assert_eq!(answer.status, 204, "{}", answer.whole());
        self.cookie = Some(answer.header("set-cookie").split(';').next().unwrap().to_owned());
        answer
    }
}

pub fn is_of_app(button: &Value) -> bool {
    button["type"] == "web_app"
}

/// Waits for a bot to have set what it sets at its start.
async fn registered(world: &World, bot: &Bot) {
    eventually(
        || bot.log(),
        async || {
            world.telegram.view(|view| {
                let calls = view.calls_of("getChatMenuButton");
                (!calls.is_empty()).then_some(())
            })
        },
    )
    .await;
}

#[tokio::test]
async fn an_owner_opens_the_pages_from_the_menu_button() {
    let world = World::new().await;
    drop(world.script.clone().otherwise(ModelReply::text("Here.")));
    let dashboard = world.dashboard_of(world.bot().set("ACCESS", "open")).await;
    let button = world.menu_button(ANN, is_of_app).await;
    assert_eq!(
        (&button["text"], &button["web_app"]["url"]),
        (&json!("Dashboard"), &json!(format!("{}app", dashboard.root)))
    );
    let mut app = dashboard.nobody();
    let page = app.get("app").await;
    assert_eq!((page.status, page.header("x-frame-options")), (200, ""));
    let frames = format!("frame-ancestors https://*.telegram.org {}", world.telegram.url());
    assert!(page.header("content-security-policy").ends_with(&frames), "{}", page.whole());
    assert!(page.body.contains("assets/mini-app.js"), "{}", page.body);
    let answer = app.opens(&world.opened(ANN)).await;
    assert!(answer.header("set-cookie").contains("; HttpOnly; SameSite=Strict"), "{}", answer.whole());
    for path in ["", "conversations", "memory", "tasks", "audit"] {
        let page = app.get(path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        assert!(page.header("content-security-policy").ends_with(&frames), "{path}: {}", page.whole());
        assert!(page.body.contains("assets/mini-app.js") && !page.body.contains("leave"), "{path}");
    }
    // There is one bot alone.
    assert!(app.status("bots").await == 404 && !app.reads("").await.contains("Bots"));
    let browser = world.browser(&dashboard, ANN).await;
    let plain = browser.get("").await;
    assert!(plain.header("content-security-policy").ends_with("frame-ancestors 'none'"), "{}", plain.whole());
    assert_eq!(plain.header("x-frame-options"), "DENY");
    assert!(!plain.body.contains("mini-app.js") && plain.body.contains("leave"));
}

#[tokio::test]
async fn a_button_under_the_command_opens_them_too() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let told = world.told(BOB, BOB, "/dashboard").await;
    let key = &told["reply_markup"]["inline_keyboard"][0][0];
    let url = key["web_app"]["url"].as_str().unwrap_or_else(|| panic!("{told}"));
    assert_eq!((url, &key["text"]), (&*format!("{}app", dashboard.root), &json!("Open here")));
    let message_id = told["message_id"].as_i64().unwrap();
    let press = MiniAppButton::Inline { message_id, url };
    let opened = world.telegram.open_mini_app(BOB, press).unwrap();
    let mut app = dashboard.nobody();
    app.opens(&launched(&opened, "tgWebAppData")).await;
    assert_eq!((app.status("").await, app.status("audit").await), (200, 404), "Bob owns nothing");
}

#[tokio::test]
async fn only_those_who_have_a_dashboard_have_the_button() {
    let world = World::new().await;
    let recipe = world.bot().set("ACCESS", "open").set("DASHBOARD", "owners").set("HTTP_ADDR", "127.0.0.1:0");
    let bot = recipe.clone().spawn();
    bot.ready().await;
    world.menu_button(ANN, is_of_app).await;
    drop(world.script.clone().otherwise(ModelReply::text("Here.")));
    world.told(BOB, BOB, "Hello").await;
    world.telegram.view(|view| assert_ne!(view.menu_button(BOB)["type"], "web_app"));
    // An owner who takes them away leaves no button that leads nowhere.
    drop(bot);
    let without = recipe.clone().set("DASHBOARD", "off").spawn();
    without.ready().await;
    world.menu_button(ANN, |button| !is_of_app(button)).await;
    drop(without);
    let everybody = recipe.clone().set("DASHBOARD", "everybody").spawn();
    everybody.ready().await;
    world.menu_button(BOB, is_of_app).await;
    drop(everybody);
    let owners = recipe.spawn();
    owners.ready().await;
    world.menu_button(BOB, |button| !is_of_app(button)).await;
    world.menu_button(ANN, is_of_app).await;
}

#[tokio::test]
async fn the_button_of_another_program_stays() {
    let world = World::new().await;
    let api = world.telegram.url().to_owned();
    let set = format!("{api}/bot{}/setChatMenuButton", world.telegram.token());
    let other = json!({"menu_button": {"type": "web_app", "text": "Shop", "web_app": {"url": "https://shop.example/"}}});
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    client.post(set).json(&other).send().await.unwrap().error_for_status().unwrap();
    let bot = world.bot().spawn();
    bot.ready().await;
    registered(&world, &bot).await;
    world.telegram.view(|view| assert_eq!(view.menu_button(BOB)["text"], "Shop"));
}

#[tokio::test]
async fn the_button_is_in_the_language_of_the_person() {
    let world = World::new().await;
    let _dashboard = world.dashboard_of(world.bot().set("ACCESS", "open")).await;
    world.menu_button(BOB, is_of_app).await;
    world.told(BOB, BOB, "/config language es").await;
    let button = world.menu_button(BOB, |button| button["text"] != "Dashboard").await;
    assert!(is_of_app(&button), "{button}");
    world.told(BOB, BOB, "/config language en").await;
    world.menu_button(BOB, |button| button["text"] == "Dashboard").await;
}

async fn refused(dashboard: &Dashboard, data: &str, words: &str) {
    let answer = dashboard.nobody().launch(data).await;
    assert_eq!((answer.status, answer.header("set-cookie")), (403, ""), "{data}: {}", answer.body);
    assert!(answer.body.contains(words), "{}", answer.body);
}

#[tokio::test]
async fn what_telegram_has_not_just_sealed_for_this_bot_signs_nobody_in() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let again = "open the dashboard again";
    let good = data(&world, ANN, now());
    let fields = [("user", r#"{"id":11,"first_name":"Ann"}"#), ("auth_date", &*now().to_string())];
    for bad in [
        data(&world, ANN, now() - 301),
        data(&world, ANN, now() + 3_600),
        init_data("1:other", &fields),
        init_data(&format!("{}x", world.telegram.token()), &fields),
        good.replace("hash=", "hash=0"),
        format!("{good}&user=%7B%22id%22%3A12%7D"),
        String::new(),
    ] {
        refused(&dashboard, &bad, again).await;
    }
    let mut app = dashboard.nobody();
    app.opens(&good).await;
    refused(&dashboard, &good, again).await;
    let reloaded = app.launch(&good).await;
    assert_eq!((reloaded.status, reloaded.header("set-cookie")), (204, ""), "a client loads its page anew");
    let old = data(&world, ANN, now() - 4_000);
    assert_eq!(app.launch(&old).await.status, 204, "also after a long time");
    assert_eq!(app.launch(&data(&world, BOB, now() - 4_000)).await.status, 403);
    let mut other = app.clone();
    other.opens(&data(&world, BOB, now())).await;
    assert_eq!(other.launch(&good).await.status, 403);
    let expired = dashboard.nobody();
    for (to, frames) in [("iframe", "telegram.org"), ("document", "'none'")] {
        let page = Page::patiently(&expired.request(Method::GET, "").header("sec-fetch-dest", to)).await;
        let policy = page.header("content-security-policy");
        assert!(page.status == 401 && policy.contains(frames), "{to}: {policy}");
    }
    let foreign = dashboard.nobody();
    let fields = [("init_data", &*data(&world, ANN, now() - 1)), ("is_framed", "true")];
    assert_eq!(foreign.post_with("app", &fields, &[("sec-fetch-site", "cross-site")]).await.status, 403);
    // Another key than that of this Telegram.
    drop(dashboard);
    let key = "e7bf03a2fa4602af4580703d88dda5bb59f32ed8b02a56c187fe7d34caed242d";
    let recipe = world.bot().set("TELEGRAM_PUBLIC_KEY", key).set("HTTP_PUBLIC_URL", "https://figaro.example");
    let dashboard = world.dashboard_of(recipe).await;
    refused(&dashboard, &data(&world, ANN, now()), again).await;
}

#[tokio::test]
async fn people_without_a_dashboard_are_told_so() {
    let world = World::new().await;
    let recipe = world.bot().set("ACCESS", "pairing").set("DASHBOARD", "everybody");
    let dashboard = world.dashboard_of(recipe).await;
    refused(&dashboard, &data(&world, BOB, now()), "You have no dashboard").await;
    refused(&dashboard, &data(&world, 999_999, now()), "You have no dashboard").await;
    assert_eq!(dashboard.nobody().launch(&data(&world, ANN, now())).await.status, 204);
}

#[tokio::test]
async fn a_link_with_the_data_of_another_person_does_not_sign_a_browser_in() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let browser = world.browser(&dashboard, ANN).await;
    let answer = browser.launch(&data(&world, BOB, now())).await;
    assert_eq!((answer.status, answer.header("set-cookie")), (403, ""), "{}", answer.body);
    assert!(browser.reads("").await.contains("Ann"));
}

#[tokio::test]
async fn of_the_same_data_at_once_one_is_signed_in() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let (data, browser) = (data(&world, ANN, now()), dashboard.nobody());
    let answers = futures::future::join_all((0..24).map(|_| browser.launch(&data))).await;
    assert_eq!(answers.iter().filter(|page| page.status == 204).count(), 1);
    assert_eq!(answers.iter().filter(|page| page.status == 403).count(), 23);
}

#[tokio::test]
async fn an_owner_who_has_not_written_yet_gets_the_button_with_the_first_message() {
    let world = World::new().await;
    drop(world.script.clone().otherwise(ModelReply::text("Here.")));
    let recipe = world.bot().set("ACCESS", "open").set("OWNER_IDS", "11,999999");
    let gateway = world.gateway_of(recipe).await;
    world
        .see("a refused call", |view| {
            let mut calls = view.calls_of("setChatMenuButton").into_iter();
            calls.any(|call| !call.ok && call.args["chat_id"] == 999_999).then_some(())
        })
        .await;
    gateway.bot.logged("the menu button that opens the dashboard could not be changed").await;
    world.telegram.add_user(Person::new(999_999, "Zoe"));
    world.telegram.add_private(999_999).unwrap();
    world.told(999_999, 999_999, "Hello").await;
    world.menu_button(999_999, is_of_app).await;
}

#[tokio::test]
async fn opening_it_often_signs_no_browser_out() {
    let world = World::new().await;
    let dashboard = world.dashboard().await;
    let browser = world.browser(&dashboard, BOB).await;
    let mut apps = Vec::new();
    for query in 0..8 {
        let (at, query) = (now().to_string(), query.to_string());
        let fields = [("user", r#"{"id":12}"#), ("auth_date", &*at), ("query_id", &*query)];
        let mut app = dashboard.nobody();
        app.opens(&init_data(world.telegram.token(), &fields)).await;
        apps.push(app);
    }
    assert_eq!(browser.status("").await, 200);
    assert_eq!((apps[0].status("").await, apps[7].status("").await), (401, 200));
}

#[tokio::test]
async fn over_https_the_cookie_is_kept_for_the_frame_of_telegram() {
    let world = World::new().await;
    let public = "https://figaro.example/at";
    let dashboard = world.dashboard_of(world.bot().set("HTTP_PUBLIC_URL", public)).await;
    let button = world.menu_button(ANN, is_of_app).await;
    assert_eq!(button["web_app"]["url"], format!("{public}/dashboard/app"));
    let app = dashboard.nobody();
    let cookie_in =
        async |is_framed| app.launch_in(&world.opened(ANN), is_framed).await.header("set-cookie").to_owned();
    let cookie = cookie_in(true).await;
    let name = format!("__Secure-figaro_dashboard_{}=", world.telegram.bot_id());
    assert!(cookie.starts_with(&name), "{cookie}");
    let end = "; Path=/at/dashboard; Max-Age=43200; HttpOnly; SameSite=None; Secure; Partitioned";
    assert!(cookie.ends_with(end), "{cookie}");
    // One second later Telegram writes another date.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let cookie = cookie_in(false).await;
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Secure"), "{cookie}");
}

#[tokio::test]
async fn without_https_there_is_none_at_the_real_telegram() {
    let world = World::new().await;
    let dashboard = world.dashboard_of(world.bot().set("HTTP_PUBLIC_URL", "http://figaro.example")).await;
    registered(&world, dashboard.bot()).await;
    world.telegram.view(|view| assert_ne!(view.menu_button(ANN)["type"], "web_app"));
    assert_eq!(dashboard.nobody().status("app").await, 404);
    assert_eq!(dashboard.nobody().launch(&data(&world, ANN, now())).await.status, 404);
    let told = world.told(ANN, ANN, "/dashboard").await;
    assert!(
        text(&told).contains("/enter/") && labels(&told) == ["Sign out of the dashboard everywhere"],
        "{told}"
    );
    let missing = dashboard.nobody().get("nothing").await;
    assert!(missing.header("content-security-policy").ends_with("frame-ancestors 'none'"));
}
