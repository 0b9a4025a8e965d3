//! Updates by a webhook: who is let in, when Telegram is told that an update was received, and what a crash leaves. The document of
//! the gateway.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::PlannedFailure;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::http::{Gateway, KEY};
use crate::support::wait::recorded;
use crate::support::{ANN, TIMEOUT, World};

const SECRET: &str = "the-secret-of-telegram";

impl World {
    async fn webhook(&self) -> Gateway {
        let keys = format!("app:{KEY}");
        let settings = [
            ("WEBHOOK_URL", "https://bot.example/telegram"),
            ("WEBHOOK_SECRET", SECRET),
            ("API_KEYS", &keys),
        ];
        self.gateway_with(&settings).await
    }
}

impl Gateway {
    async fn sends(&self, update: &Value, secret: &str) -> u16 {
        let asking = self.plain(Method::POST, "/telegram").json(update);
        asking.header("x-telegram-bot-api-secret-token", secret).send().await.status().as_u16()
    }
}

fn update(id: i64, text: &str) -> Value {
    json!({"update_id": id, "message": {
        "message_id": 1000 + id, "date": 1_700_000_000, "text": text,
        "chat": {"id": ANN, "type": "private", "first_name": "Ann"},
        "from": {"id": ANN, "is_bot": false, "first_name": "Ann", "language_code": "en"},
    }})
}

#[tokio::test]
async fn an_update_that_was_taken_is_answered_once_whatever_happens() {
    let world = World::new().await;
    let gateway = world.webhook().await;
    world.script.push(ModelReply::text("Here."));
    assert_eq!(gateway.sends(&update(1, "are you there?"), "wrong").await, 401);
    assert_eq!(gateway.plain(Method::POST, "/telegram").json(&update(1, "x")).send().await.status(), 401);
    for _ in 0..3 {
        assert_eq!(gateway.sends(&update(1, "are you there?"), SECRET).await, 200);
    }
    assert_eq!(world.answers(ANN, 1).await[0]["text"], "Here.");
    // One that was told to be received is not lost by a crash.
    world.script.push(ModelReply::silence());
    assert_eq!(gateway.sends(&update(2, "and now?"), SECRET).await, 200);
    world
        .model
        .wait_until(TIMEOUT, |requests| (requests.len() > 1).then_some(()))
        .await
        .expect("it is asked");
    // That the first answer was confirmed is on disk some milliseconds later; until then a kill repeats it.
    recorded().await;
    gateway.bot.kill();
    world.script.push(ModelReply::text("Now, too."));
    let gateway = world.webhook().await;
    assert_eq!(world.answers(ANN, 2).await[1]["text"], "Now, too.");
    assert_eq!(gateway.sends(&update(2, "and now?"), SECRET).await, 200);
    world.otherwise(ModelReply::text("At the end."));
    assert_eq!(gateway.sends(&update(3, "done?"), SECRET).await, 200);
    assert_eq!(world.answers(ANN, 3).await.len(), 3);
    assert_eq!(
        gateway
            .plain(Method::POST, "/telegram")
            .header("x-telegram-bot-api-secret-token", SECRET)
            .text()
            .await
            .0,
        200
    );
    assert!(gateway.bot.stop().await.success());
}

#[tokio::test]
async fn settings_of_a_webhook_are_checked_at_the_start() {
    let world = World::new().await;
    let all = [("WEBHOOK_URL", "https://bot.example/v1/x"), ("WEBHOOK_SECRET", "short")];
    let output = all.iter().fold(world.bot(), |recipe, (name, value)| recipe.set(name, value)).output();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words}");
    for part in ["path of its own", "needs HTTP_ADDR", "is not of 16 to 256 letters"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    // Whatever passes Telegram's updates on makes the address one that others reach.
    let all = [
        ("WEBHOOK_URL", "https://bot.example/telegram"),
        ("WEBHOOK_SECRET", SECRET),
        ("HTTP_ADDR", "127.0.0.1:0"),
    ];
    let output = all.iter().fold(world.bot(), |recipe, (name, value)| recipe.set(name, value)).output();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("callers need a key"), "{words}");
}

#[tokio::test]
async fn all_that_the_document_names_is_served() {
    let world = World::new().await;
    let gateway = world.gateway().await;
    let (status, text) = gateway.plain(Method::GET, "/openapi.json").text().await;
    assert_eq!(status, 200);
    let document: Value = serde_json::from_str(&text).unwrap();
    let mut count = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let concrete = path.replace(['{', '}'], "");
        for method in item.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            let (status, text) = gateway.plain(method.clone(), &concrete).key(KEY).text().await;
            assert!(status != 405 && !text.contains("unknown_path"), "{method} {path}: {status} {text}");
            let has_key = item[method.as_str().to_lowercase()]["security"].is_null();
            let (status, _) = gateway.plain(method.clone(), &concrete).text().await;
            assert_eq!(status == 401, has_key, "{method} {path} without a key: {status}");
            count += 1;
        }
    }
    assert_eq!(count, 28);
}

#[tokio::test]
async fn a_webhook_of_earlier_settings_is_removed_and_another_bot_is_left_alone() {
    for (url, removed) in [("https://bot.example/telegram", 1), ("", 0)] {
        let world = World::new().await;
        let description = "Conflict: can't use getUpdates method while webhook is active".to_owned();
        world.telegram.fail("getUpdates", PlannedFailure::Status { status: 409, description }, 1);
        let info = json!({"url": url, "has_custom_certificate": false, "pending_update_count": 1});
        let info = json!({"ok": true, "result": info}).to_string();
        world.telegram.fail("getWebhookInfo", PlannedFailure::Answer(info), 1);
        world.otherwise(ModelReply::text("Here."));
        let bot = world.start().await;
        assert_eq!(world.told(ANN, ANN, "are you there?").await["text"], "Here.");
        let calls = world.telegram.calls();
        let count = calls.iter().filter(|call| call.method == "deleteWebhook").count();
        assert_eq!(count, removed, "{url}");
        let log = std::fs::read_to_string(world.folder.path().join("figaro.log")).unwrap();
        let told = if removed == 1 {
            "a webhook; it is removed"
        } else {
            "another process is getting this bot's updates"
        };
        assert!(log.contains(told), "{log}");
        bot.ends_well().await;
    }
}
