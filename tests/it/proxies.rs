//! Proxies on the way to the outside: Telegram and the models through what the settings name, this machine's own
//! addresses through none, and no password in a log.

use std::process::Stdio;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use figaro_offline::model::ModelReply;
use serde_json::json;

use crate::support::bot::Recipe;
use crate::support::output::words;
use crate::support::proxy::ForwardProxy;
use crate::support::wait::within;
use crate::support::{ANN, TIMEOUT, World, proc};

/// An address of this machine under a name that only the proxy knows.
fn outside(url: &str, name: &str) -> String {
    url.replacen("127.0.0.1", name, 1)
}

/// The environment's variables, all naming one proxy.
fn everywhere(recipe: Recipe, proxy: &ForwardProxy) -> Recipe {
    let url = format!("http://{}", proxy.address);
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"]
        .into_iter()
        .fold(recipe, |recipe, name| recipe.set(name, &url))
}

/// Asks for a poll, which goes the whole way through the server of tools.
async fn polls(world: &World) {
    let options = json!([{"text": "Tea"}, {"text": "Coffee"}]);
    world.script.push(ModelReply::call("sendPoll", json!({"question": "What?", "options": options})));
    world.script.push(ModelReply::text("There it is."));
    world.say(ANN, ANN, "Tea or coffee?");
    let messages = world.answers(ANN, 2).await;
    assert_eq!(
        (&messages[0]["poll"]["question"], &messages[1]["text"]),
        (&json!("What?"), &json!("There it is."))
    );
}

#[tokio::test]
async fn this_machine_is_never_reached_through_a_proxy() {
    let world = World::new().await;
    let proxy = ForwardProxy::start().await;
    let url = format!("http://{}", proxy.address);
    let named = |recipe: Recipe| recipe.set("TELEGRAM_PROXY", &url).set("LLM_PROXY", &url);
    let bot = everywhere(named(world.bot()), &proxy).spawn();
    bot.ready().await;
    polls(&world).await;
    bot.ends_well().await;
    let localhost = world.telegram.url().replacen("127.0.0.1", "localhost", 1);
    world.script.push(ModelReply::text("Yes."));
    let output = everywhere(world.bot().set("TELEGRAM_API_URL", &localhost), &proxy).arg("check").run().await;
    assert!(output.status.success(), "{:?}", words(&output));
    assert_eq!(proxy.heads(), Vec::<String>::new());
}

#[tokio::test]
async fn telegram_is_reached_through_its_proxy_and_no_password_is_logged() {
    let world = World::new().await;
    let (proxy, other) = (ForwardProxy::start().await, ForwardProxy::start().await);
    let recipe = everywhere(world.bot(), &other)
        .set("TELEGRAM_API_URL", &outside(world.telegram.url(), "telegram.test"))
        .set("TELEGRAM_PROXY", &format!("http://ann:pr0xy%2Dpass@{}", proxy.address))
        .set("RUST_LOG", "trace");
    let bot = recipe.spawn();
    bot.ready().await;
    polls(&world).await;
    let child = bot.children()[0];
    assert!(proc::environment(child).iter().any(|pair| pair.starts_with("TELEGRAM_PROXY=http://ann:")));
    let log = bot.log();
    bot.ends_well().await;
    let credentials = BASE64_STANDARD.encode("ann:pr0xy-pass");
    let heads = proxy.heads();
    // The first call of each process; connections are used again, so later ones are not seen.
    for method in ["getMe", "sendPoll"] {
        assert!(
            heads.iter().any(|head| head.contains(&format!("/{method} HTTP/1.1"))),
            "{method}: {heads:?}"
        );
    }
    for head in &heads {
        assert!(head.contains(" http://telegram.test:"), "{head}");
        assert!(
            head.to_lowercase().contains("proxy-authorization: basic ") && head.contains(&credentials),
            "{head}"
        );
    }
    assert_eq!(other.heads(), Vec::<String>::new());
    for secret in ["pr0xy-pass", "pr0xy%2Dpass", &credentials] {
        assert_eq!(log.lines().find(|line| line.contains(secret)), None);
    }
}

#[tokio::test]
async fn each_kind_of_proxy_works_and_the_check_names_it() {
    let world = World::new().await;
    let proxy = ForwardProxy::start().await;
    let (telegram, model) =
        (outside(world.telegram.url(), "telegram.test"), outside(world.model.url(), "model.test"));
    let recipe = world.bot().set("TELEGRAM_API_URL", &telegram).set("OPENAI_BASE_URL", &model).arg("check");
    let cases = [
        vec![("TELEGRAM_PROXY", "http"), ("LLM_PROXY", "http")],
        vec![("TELEGRAM_PROXY", "socks5h"), ("LLM_PROXY", "socks5h")],
        vec![("ALL_PROXY", "http")],
        vec![("http_proxy", "socks5h")],
    ];
    for case in cases {
        let before = proxy.heads().len();
        let recipe = case.iter().fold(recipe.clone(), |recipe, (name, scheme)| {
            recipe.set(name, &format!("{scheme}://{}", proxy.address))
        });
        world.script.push(ModelReply::text("Yes."));
        let output = recipe.run().await;
        let (said, errors) = words(&output);
        assert!(output.status.success(), "{case:?}: {said}{errors}");
        assert_eq!(said.matches(&format!("://{}", proxy.address)).count(), 2, "{case:?}: {said}");
        let heads = proxy.heads().split_off(before);
        assert!(
            ["telegram.test", "model.test"].iter().all(|name| heads.iter().any(|head| head.contains(name)))
        );
    }
}

#[tokio::test]
async fn an_https_address_is_asked_for_by_connect_and_exceptions_are_not_asked_for() {
    let world = World::new().await;
    let proxy = ForwardProxy::start().await;
    let url = format!("http://{}", proxy.address);
    let telegram = outside(world.telegram.url(), "telegram.test");
    let base = world.bot().set("ALL_PROXY", &url).arg("check");
    // No server here speaks TLS: it is the way that counts.
    let secure = base.clone().set("TELEGRAM_API_URL", &telegram.replacen("http", "https", 1));
    let direct = base.clone().set("TELEGRAM_API_URL", &telegram).set("TELEGRAM_PROXY", "off");
    let exempt = base.set("TELEGRAM_API_URL", &telegram).set("NO_PROXY", "example.com,.test");
    let first_head = async |recipe: &Recipe, time: Duration| {
        // It waits for a Telegram that cannot be reached.
        let mut check = tokio::process::Command::from(recipe.command());
        let mut check = check.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap();
        let head = within(time, async || proxy.heads().first().cloned()).await;
        check.kill().await.unwrap();
        head
    };
    for recipe in [direct, exempt] {
        assert_eq!(first_head(&recipe, Duration::from_secs(4)).await, None);
    }
    let head = first_head(&secure, TIMEOUT).await.expect("the proxy is asked");
    assert!(head.starts_with("CONNECT telegram.test:"), "{head}");
}

#[tokio::test]
async fn what_is_no_proxy_is_told_without_its_value() {
    let world = World::new().await;
    for (name, value) in [
        ("TELEGRAM_PROXY", "tg://proxy?secret=hunter2"),
        ("LLM_PROXY", "ftp://u:hunter2@p"),
        ("ALL_PROXY", "x://hunter2"),
    ] {
        let message = crate::support::output::refused(&world, &world.bot().set(name, value)).await;
        assert!(message.contains(name) && message.contains("socks5://"), "{message}");
        assert!(!message.contains("hunter2") && message.contains("1 mistake "), "{message}");
    }
}
