//! Mini Apps: which menu button a chat shows, and what a person who opens an app brings along.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::{hmac, signature};
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

use super::super::{MINI_APP_KEY, MiniAppButton, TelegramOptions, init_data};
use super::{ANN, BOB, Bed, GROUP};

const APP: &str = "http://127.0.0.1:8080/app";

/// The fields of a query string or fragment, decoded.
fn fields(query: &str) -> BTreeMap<String, String> {
    form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

/// Checks data as a bot does, with its token, and as anybody else does, with the public key.
fn is_signed(token: &str, data: &str) -> (bool, bool) {
    let mut fields = fields(data);
    let lines = |fields: &BTreeMap<String, String>| {
        fields.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("\n")
    };
    let unhex = |text: &str| -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    };
    let hash = unhex(&fields.remove("hash").unwrap());
    let secret = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, b"WebAppData"), token.as_bytes());
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_ref());
    let for_bot = hmac::verify(&key, lines(&fields).as_bytes(), &hash).is_ok();
    let signed = URL_SAFE_NO_PAD.decode(fields.remove("signature").unwrap()).unwrap();
    let key = signature::UnparsedPublicKey::new(&signature::ED25519, unhex(MINI_APP_KEY));
    let bot = token.split(':').next().unwrap();
    let text = format!("{bot}:WebAppData\n{}", lines(&fields));
    (for_bot, key.verify(text.as_bytes(), &signed).is_ok())
}

impl Bed {
    async fn set_menu(&self, chat: Option<i64>, button: Value) {
        let mut args = json!({"menu_button": button});
        if let Some(chat) = chat {
            args["chat_id"] = json!(chat);
        }
        self.call("setChatMenuButton", args).await.unwrap();
    }

    /// Sends Ann a message with a button that opens the app.
    async fn app_button(&self) -> i64 {
        let keyboard = json!({"inline_keyboard": [[{"text": "Open", "web_app": {"url": APP}}]]});
        let args = json!({"chat_id": ANN, "text": "see", "reply_markup": keyboard});
        self.call("sendMessage", args).await.unwrap()["message_id"].as_i64().unwrap()
    }
}

fn web_app(text: &str) -> Value {
    json!({"type": "web_app", "text": text, "web_app": {"url": APP}})
}

// The strings are made by other code: Python's `hmac`, and `cryptography` for Ed25519.
#[test]
fn data_is_signed_as_by_telegram() {
    let fields = [
        ("user", r#"{"id":11,"first_name":"Ann & Zoë"}"#),
        ("auth_date", "1772366400"),
        ("query_id", "app-1"),
    ];
    let wanted = "user=%7B%22id%22%3A11%2C%22first_name%22%3A%22Ann%20%26%20Zo%C3%AB%22%7D&auth_date=1772366400\
        &query_id=app-1&signature=gAyMX3pksO0OTNGhN1OL6BDitZ6dYSw2SsXYRDjDEF69j1mAwmIgJtFBxWadRG03mjn7lTjaoZzaQyxpqRY1CA\
        &hash=c8d0ddf38045a0a7b393e8e32732a4f784b46d63c917fa5525c3ea0fbaa44b8c";
    assert_eq!(init_data("7000000001:offline", &fields), wanted);
}

#[test]
fn changed_and_foreign_data_does_not_verify() {
    let token = "7000000001:offline";
    let data = init_data(token, &[("user", r#"{"id":11}"#), ("auth_date", "1772366400")]);
    let cases = [
        (token, data.clone(), (true, true)),
        (token, data.replace("1772366400", "1772366401"), (false, false)),
        (token, data.replace("%3A11", "%3A12"), (false, false)),
        (token, format!("{data}&query_id=app-1"), (false, false)),
        // Another token of the same bot, and another bot.
        ("7000000001:other", data.clone(), (false, true)),
        ("7000000002:offline", data, (false, false)),
    ];
    for (token, data, wanted) in cases {
        assert_eq!(is_signed(token, &data), wanted, "{token} {data}");
    }
}

#[tokio::test]
async fn a_chat_shows_its_own_menu_button_or_that_of_all() {
    let bed = Bed::new().await;
    let commands = json!({"type": "commands"});
    let default = json!({"type": "default"});
    // Each step sets the button of a chat or of all; then Ann's own, that of all, and what Ann and Bob see.
    let steps = [
        (None, default.clone(), &default, &commands, &commands, &commands),
        (None, web_app("All"), &default, &web_app("All"), &web_app("All"), &web_app("All")),
        (Some(ANN), web_app("Ann"), &web_app("Ann"), &web_app("All"), &web_app("Ann"), &web_app("All")),
        (Some(ANN), commands.clone(), &commands, &web_app("All"), &commands, &web_app("All")),
        (Some(ANN), default.clone(), &default, &web_app("All"), &web_app("All"), &web_app("All")),
        (None, default.clone(), &default, &web_app("All"), &web_app("All"), &web_app("All")),
        (None, commands.clone(), &default, &commands, &commands, &commands),
    ];
    for (chat, button, own, all, ann, bob) in steps {
        let step = format!("{chat:?} {button}");
        bed.set_menu(chat, button).await;
        assert_eq!(bed.call("getChatMenuButton", json!({"chat_id": ANN})).await.as_ref(), Ok(own), "{step}");
        assert_eq!(bed.call("getChatMenuButton", json!({})).await.as_ref(), Ok(all), "{step}");
        bed.tg.view(|view| assert_eq!((view.menu_button(ANN), view.menu_button(BOB)), (ann, bob), "{step}"));
    }
    bed.end().await;
}

#[tokio::test]
async fn an_app_opens_with_signed_data() {
    let bed = Bed::new().await;
    let message_id = bed.app_button().await;
    bed.set_menu(None, web_app("Panel")).await;
    let user =
        r#"{"id":11,"first_name":"Ann","username":"ann","language_code":"en","allows_write_to_pm":true}"#;
    let inline = MiniAppButton::Inline { message_id, url: APP };
    for (button, has_query) in [(MiniAppButton::Menu, false), (inline, true)] {
        let url = Url::parse(&bed.tg.open_mini_app(ANN, button).unwrap()).unwrap();
        let launch = fields(url.fragment().unwrap());
        assert_eq!(url.as_str().split('#').next(), Some(APP));
        assert_eq!((&*launch["tgWebAppVersion"], &*launch["tgWebAppPlatform"]), ("9.1", "web"));
        let theme: Value = serde_json::from_str(&launch["tgWebAppThemeParams"]).unwrap();
        assert_eq!(theme["bg_color"], "#ffffff");
        let data = &launch["tgWebAppData"];
        assert_eq!(is_signed(bed.tg.token(), data), (true, true), "{data}");
        let data = fields(data);
        assert_eq!((&*data["user"], &*data["auth_date"]), (user, "1772366400"));
        assert_eq!(data.contains_key("query_id"), has_query);
    }
    bed.end().await;
}

#[tokio::test]
async fn only_buttons_that_are_there_open_an_app() {
    let bed = Bed::new().await;
    let message_id = bed.app_button().await;
    let open = |user: i64, button| bed.tg.open_mini_app(user, button).map_err(|why| why.to_string());
    let gone = Err("this button is not there any more".to_owned());
    assert_eq!(open(ANN, MiniAppButton::Menu), gone, "the menu button lists the commands");
    let foreign = MiniAppButton::Inline { message_id, url: "https://example.com" };
    assert_eq!(open(ANN, foreign), gone);
    let other = MiniAppButton::Inline { message_id: 99, url: APP };
    assert_eq!(open(ANN, other), gone);
    let inline = MiniAppButton::Inline { message_id, url: APP };
    assert_eq!(open(BOB, inline), Err("there is no chat 12".to_owned()));
    assert_eq!(open(99, inline), Err("nobody has the user id 99".to_owned()));
    bed.call("editMessageText", json!({"chat_id": ANN, "message_id": message_id, "text": "bye"}))
        .await
        .unwrap();
    assert_eq!(open(ANN, inline), gone);
    bed.end().await;
}

#[tokio::test]
async fn results_of_inline_queries_open_no_app() {
    let bed = Bed::new().await;
    let keyboard = json!({"inline_keyboard": [[{"text": "Open", "web_app": {"url": APP}}]]});
    let query = bed.tg.inline_query(ANN, "x").unwrap();
    let result = json!({
        "type": "article", "id": "1", "title": "x", "input_message_content": {"message_text": "x"},
        "reply_markup": keyboard,
    });
    let answer = bed.call("answerInlineQuery", json!({"inline_query_id": query, "results": [result]})).await;
    assert_eq!(answer, Err("Bad Request: BUTTON_TYPE_INVALID".to_owned()));
    bed.end().await;
}

#[tokio::test]
async fn the_page_is_told_of_menu_buttons_and_opens_apps() {
    let options = TelegramOptions { page: Some("<h1>chat</h1>"), ..TelegramOptions::default() };
    let bed = Bed::with(options).await;
    let mut events = bed.tg.subscribe();
    bed.set_menu(None, web_app("Panel")).await;
    let told = events.recv().await.unwrap();
    let buttons = json!({"buttons": [{"chat_id": ANN, "button": web_app("Panel")}]});
    assert_eq!((told.name, told.data), ("menu_buttons", buttons));
    let message_id = bed.app_button().await;
    let open = async |body: Value| -> (u16, Value) {
        let url = format!("{}/demo/app", bed.tg.url());
        let response = bed.http.post(url).json(&body).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    };
    let theme = json!({"bg_color": "#123456"});
    for inline in [Value::Null, json!({"message_id": message_id, "url": APP})] {
        let (status, opened) = open(json!({"from": ANN, "inline": inline, "theme": theme})).await;
        let url = Url::parse(opened["url"].as_str().unwrap()).unwrap();
        let launch = fields(url.fragment().unwrap());
        assert_eq!((status, &*launch["tgWebAppThemeParams"]), (200, r##"{"bg_color":"#123456"}"##));
        assert_eq!(is_signed(bed.tg.token(), &launch["tgWebAppData"]), (true, true));
    }
    let refused = open(json!({"from": GROUP, "inline": null, "theme": {}})).await;
    assert_eq!(refused, (400, json!({"error": "nobody has the user id -21"})));
    bed.end().await;
}
