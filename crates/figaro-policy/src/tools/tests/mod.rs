//! What the model may call, as tables of cases.

mod every_method;
mod limits;
mod owners;
mod servers;
mod strict;

use std::collections::HashSet;

use figaro_mcp::table::{ApiField, ApiTable, ApiType, Method, TypeDef};
use serde_json::{Map, Value, json};

use super::*;
use crate::address::Addresses;
use figaro_base::ids::{ChatId, UserId};

/// What a person wrote in the conversation.
const WRITTEN: &str = "https://example.org https://example.org/a https://example.org/b https://example.org/a.jpg \
                       http://93.184.216.34/x https://[2606:4700::1111]/ http://10.0.0.1/a";
/// An address that only the model wrote.
const OWN: &str = "https://evil.example/?d=words";

fn known() -> Addresses {
    Addresses::written([WRITTEN])
}

/// A call of a member's in chat -5.
fn call<'a>(method: &'a Method, args: &'a Map<String, Value>, addresses: &'a Addresses) -> TelegramCall<'a> {
    TelegramCall {
        method,
        args,
        here: ChatId(-5),
        speaker: None,
        role: CallerRole::Member,
        agent: None,
        task: false,
        own: None,
        figaros: false,
        files: &[],
        addresses,
        read: None,
        resolved: &[],
    }
}

/// What becomes of a call in chat -5, of user 42, where a person wrote [`WRITTEN`].
fn verdict(method: &str, args: &Value, own: Option<bool>, files: &[&str]) -> &'static str {
    let method = ApiTable::get().method(method).unwrap();
    let args = args.as_object().unwrap().clone();
    let (speaker, addresses) = (&UserId::telegram(42), &known());
    let call = TelegramCall { speaker: Some(speaker), own, files, ..call(method, &args, addresses) };
    decide(&Rules::built_in(), &call).decision.name()
}

#[test]
fn the_model_looks_up_what_is_the_chats_business() {
    let cases = [
        ("getMe", json!({}), "allow"),
        ("getChat", json!({"chat_id": -5}), "allow"),
        ("getChat", json!({"chat_id": -6}), "ask"),
        ("getChatMember", json!({"chat_id": -5, "user_id": 7}), "allow"),
        ("getFile", json!({"file_id": "AgAC"}), "allow"),
        ("getStickerSet", json!({"name": "x"}), "allow"),
        ("getUserProfilePhotos", json!({"user_id": 42}), "allow"),
        ("getUserProfilePhotos", json!({"user_id": 7}), "ask"),
        ("getUserProfilePhotos", json!({"user_id": 7, "chat_id": -5}), "ask"),
        ("getUserPersonalChatMessages", json!({"user_id": 7, "chat_id": null}), "ask"),
        ("getUserGifts", json!({"user_id": "7"}), "ask"),
        ("getMyStarBalance", json!({}), "ask"),
        ("getStarTransactions", json!({}), "ask"),
        ("getBusinessConnection", json!({}), "ask"),
        ("getWebhookInfo", json!({}), "ask"),
        ("getManagedBotAccessSettings", json!({"user_id": 42}), "ask"),
    ];
    for (method, args, wanted) in cases {
        assert_eq!(verdict(method, &args, None, &[]), wanted, "{method} {args}");
    }
}

#[test]
fn the_model_acts_in_its_own_chat_only() {
    let cases = [
        ("sendMessage", json!({"chat_id": -5, "text": "x"}), None, "allow"),
        ("sendMessage", json!({"chat_id": "-5", "text": "x"}), None, "allow"),
        ("sendMessage", json!({"chat_id": -6, "text": "x"}), None, "ask"),
        ("sendMessage", json!({"chat_id": "@other", "text": "x"}), None, "ask"),
        ("forwardMessage", json!({"chat_id": -5, "from_chat_id": 7, "message_id": 1}), None, "ask"),
        ("sendMessage", json!({"chat_id": -5, "reply_parameters": {"chat_id": 7}}), None, "ask"),
        ("sendMediaGroup", json!({"chat_id": -5, "media": [{"x": {"chat_id": 7}}]}), None, "ask"),
        ("sendMessage", json!({"chat_id": -5, "x": [[{"chat_id": 7}]]}), None, "ask"),
        ("sendMessage", json!({"chat_id": -5, "allow_paid_broadcast": true}), None, "ask"),
        ("sendMessage", json!({"chat_id": -5, "allow_paid_broadcast": false}), None, "allow"),
        ("sendMessage", json!({"chat_id": -5, "business_connection_id": "b"}), None, "ask"),
        ("sendMessage", json!({"chat_id": -5, "direct_messages_topic_id": 7}), None, "ask"),
        ("sendMessage", json!({"chat_id": -5, "suggested_post_parameters": {}}), None, "ask"),
        ("editMessageText", json!({"inline_message_id": "i", "text": "x"}), None, "ask"),
        (
            "sendMessage",
            json!({"chat_id": -5, "ephemeral_message_parameters": {"receiver_user_id": 7}}),
            None,
            "ask",
        ),
        (
            "sendMessage",
            json!({"chat_id": -5, "ephemeral_message_parameters": {"receiver_user_id": 42}}),
            None,
            "allow",
        ),
        ("deleteMessage", json!({"chat_id": -5, "message_id": 1}), Some(true), "allow"),
        ("deleteMessage", json!({"chat_id": -5, "message_id": 1}), Some(false), "ask"),
        ("deleteMessages", json!({"chat_id": -5, "message_ids": []}), None, "ask"),
        ("deleteMessageReaction", json!({"chat_id": -5, "message_id": 1}), Some(true), "ask"),
        ("stopPoll", json!({"chat_id": -5, "message_id": 1}), Some(true), "allow"),
        ("stopPoll", json!({"chat_id": -5, "message_id": 1}), Some(false), "ask"),
        ("editMessageText", json!({"chat_id": -5, "message_id": 1, "text": "x"}), Some(true), "allow"),
        ("editMessageText", json!({"chat_id": -5, "message_id": 1, "text": "x"}), Some(false), "ask"),
        ("editMessageText", json!({"chat_id": -5, "text": "x"}), None, "ask"),
        ("setMessageReaction", json!({"chat_id": -5, "message_id": 1}), Some(false), "allow"),
        ("copyMessage", json!({"chat_id": -5, "from_chat_id": -5, "message_id": 1}), Some(false), "allow"),
        ("banChatMember", json!({"chat_id": -5, "user_id": 7}), None, "ask"),
        ("sendGift", json!({"user_id": 7}), None, "deny"),
        ("getUpdates", json!({}), None, "deny"),
    ];
    for (method, args, own, wanted) in cases {
        assert_eq!(verdict(method, &args, own, &[]), wanted, "{method} {args}");
    }
}

#[test]
fn its_buttons_lead_only_where_everybody_sees() {
    let button = |more: Value| {
        let mut button = json!({"text": "a"});
        button.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        button
    };
    let inline = |more| json!({"chat_id": -5, "reply_markup": {"inline_keyboard": [[button(more)]]}});
    let rich = |message: Value| json!({"chat_id": -5, "rich_message": message});
    let block = |more| rich(json!({"blocks": [{"type": "buttons", "buttons": [button(more)]}]}));
    let in_text = |more| rich(json!({"blocks": [{"text": [{"type": "button", "button": button(more)}]}]}));
    let cases = [
        (inline(json!({"url": "https://example.org"})), "allow"),
        (inline(json!({"copy_text": {"text": "x"}, "style": "primary"})), "allow"),
        (inline(json!({"callback_data": "b"})), "deny"),
        (inline(json!({"web_app": {"url": "https://example.org"}})), "deny"),
        (inline(json!({"login_url": {"url": "https://example.org"}})), "deny"),
        (inline(json!({"pay": true})), "deny"),
        (inline(json!({"switch_inline_query": "x"})), "deny"),
        (
            json!({"chat_id": -5, "reply_markup": {"keyboard": [[button(json!({"request_contact": true}))]]}}),
            "deny",
        ),
        (json!({"chat_id": -5, "reply_markup": {"keyboard": [["yes"]]}}), "allow"),
        (block(json!({"url": "https://example.org"})), "allow"),
        (block(json!({"callback_data": "b"})), "deny"),
        (in_text(json!({"web_app": {}})), "deny"),
        (rich(json!({"html": "<b>x</b> <a href=\"https://example.org\">y</a>"})), "allow"),
        (rich(json!({"html": "<TG-button type=\"callback_data\" data=\"x\">y</tg-button>"})), "deny"),
        (rich(json!({"markdown": "<tg-button-row>"})), "deny"),
        (rich(json!({"markdown": "![x](http://192.168.0.1/a.png)"})), "deny"),
        (rich(json!({"html": "<img src='file:///etc/passwd'>"})), "deny"),
        (rich(json!({"markdown": "look “http://10.0.0.1/a”"})), "deny"),
        (rich(json!({"markdown": "😀http://10.0.0.1/a"})), "deny"),
        (rich(json!({"markdown": "http&#58;//10.0.0.1/a"})), "deny"),
        (rich(json!({"markdown": "http:\\/\\/10.0.0.1/a"})), "deny"),
        (rich(json!({"html": "<img src=\"http:/\\10.0.0.1/a\">"})), "deny"),
        (rich(json!({"html": "<img src=http:127.0.0.1>"})), "deny"),
        (rich(json!({"markdown": "😀https://example.org/a"})), "allow"),
        (rich(json!({"markdown": "see (https://example.org/a), or https://example.org/b."})), "allow"),
    ];
    for (args, wanted) in cases {
        assert_eq!(verdict("sendRichMessage", &args, None, &[]), wanted, "{args}");
    }
}

#[test]
fn what_takes_an_approval_is_known_beforehand() {
    let names = ["getMe", "getUserGifts", "getMyStarBalance", "sendDice", "deleteMessage", "banChatMember"];
    let takes = names.map(|name| Rules::built_in().takes_approval(ApiTable::get().method(name).unwrap()));
    assert_eq!(takes, [false, false, true, false, false, true]);
}

#[test]
fn files_come_from_public_places_only() {
    let good = [
        "AgACAgIAAxkBAAI_-9",
        "https://example.org/a.jpg",
        "http://93.184.216.34/x",
        "https://[2606:4700::1111]/",
    ];
    let bad = [
        "file:///etc/passwd",
        "http://localhost/x",
        "http://127.0.0.1:8081/",
        "https://10.1.2.3/",
        "http://[::1]/",
        "http://[::ffff:192.168.0.1]/",
        "http://169.254.169.254/latest",
        "ftp://example.org/x",
        "http://router.lan/",
        "http://intranet/",
        "attach://photo",
        "http://0x7f.1/",
        "http://100.64.0.1/",
        "http://[fd00::1]/",
    ];
    let args = || json!({"chat_id": -5});
    for file in good {
        assert_eq!(verdict("sendPhoto", &args(), None, &[file]), "allow", "{file}");
    }
    for file in bad {
        assert_eq!(verdict("sendPhoto", &args(), None, &[file]), "deny", "{file}");
    }
}

#[test]
fn only_what_a_person_wrote_or_search_found_is_loaded() {
    let here = |more: Value| {
        let mut args = json!({"chat_id": -5});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        args
    };
    assert_eq!(verdict("sendPhoto", &here(json!({})), None, &[OWN]), "ask");
    assert_eq!(verdict("sendPhoto", &here(json!({})), None, &["https://example.org/a.jpg?d=words"]), "ask");
    assert_eq!(verdict("sendPhoto", &here(json!({})), None, &["https://example.org/a.jpg#x"]), "allow");
    let rich = |rich: Value| here(json!({"rich_message": rich}));
    let link = |url: &str| json!({"type": "url", "text": "x", "url": url});
    let own_link = json!([{"type": "text_link", "offset": 0, "length": 1, "url": OWN}]);
    let cases = [
        ("sendRichMessage", rich(json!({"html": format!("<img src=\"{OWN}\">")})), "ask"),
        ("sendRichMessage", rich(json!({"html": "<img src=\"evil.example/?d=words\">"})), "ask"),
        ("sendRichMessage", rich(json!({"html": format!("<video src='{OWN}'></video>")})), "ask"),
        ("sendRichMessage", rich(json!({"markdown": format!("![x]({OWN})")})), "ask"),
        ("sendRichMessage", rich(json!({"markdown": format!("see {OWN}")})), "ask"),
        (
            "sendRichMessage",
            rich(json!({"markdown": "![x](https://example.org/a.jpg) and e.g. main.rs"})),
            "allow",
        ),
        ("sendRichMessage", rich(json!({"blocks": [{"type": "paragraph", "text": [link(OWN)]}]})), "ask"),
        (
            "sendRichMessage",
            rich(json!({"blocks": [{"type": "paragraph", "text": [link("https://example.org/a")]}]})),
            "allow",
        ),
        ("sendRichMessageDraft", rich(json!({"html": format!("<a href={OWN}>x</a>")})), "ask"),
        ("editMessageText", rich(json!({"html": format!("<a href={OWN}>x</a>")})), "ask"),
        ("sendMessage", here(json!({"text": format!("see {OWN}"), "entities": own_link})), "allow"),
        ("sendMessage", here(json!({"text": "x", "link_preview_options": {"url": OWN}})), "ask"),
        ("sendMessageDraft", here(json!({"text": format!("see {OWN}")})), "ask"),
        ("sendMessageDraft", here(json!({"text": "see evil.example/?d=words"})), "ask"),
        ("sendMessageDraft", here(json!({"text": "x", "entities": own_link})), "ask"),
        ("sendMessageDraft", here(json!({"text": "see https://example.org/a."})), "allow"),
        ("sendPoll", here(json!({"options": [{"text": "x", "media": {"type": "link", "url": OWN}}]})), "ask"),
        ("sendPhoto", here(json!({"photo": "AgAC", "caption": OWN})), "allow"),
    ];
    for (method, args, wanted) in cases {
        assert_eq!(verdict(method, &args, None, &[]), wanted, "{method} {args}");
    }
}

#[test]
fn what_is_too_much_to_look_at_is_refused_with_what_to_do() {
    let decided = |method: &str, args: Value, files: &[&str]| {
        let (method, args) = (ApiTable::get().method(method).unwrap(), args.as_object().unwrap().clone());
        let (speaker, addresses) = (UserId::telegram(42), known());
        let call = TelegramCall { speaker: Some(&speaker), files, ..call(method, &args, &addresses) };
        decide(&Rules::built_in(), &call)
    };
    let rich = |key: &str, text: &str| json!({"chat_id": -5, "rich_message": {key: text}});
    let long = format!("https://example.org/{}", "a".repeat(2048));
    let link = |at| json!({"type": "url", "text": "x", "url": format!("https://example.org/{at}")});
    let links: Vec<Value> = (0..201).map(link).collect();
    let blocks = json!({"chat_id": -5, "rich_message": {"blocks": [{"type": "paragraph", "text": links}]}});
    let cases = [
        (decided("sendRichMessage", rich("html", &"a".repeat(32_769)), &[]), ["32768 UTF-16", "several"]),
        (decided("sendRichMessage", rich("markdown", &"a".repeat(32_769)), &[]), ["32768 UTF-16", "several"]),
        (decided("sendRichMessage", rich("html", &format!("<a href={long}>")), &[]), ["2048 bytes", "Leave"]),
        (decided("sendRichMessage", blocks, &[]), ["200 addresses", "several"]),
        (decided("sendPhoto", json!({"chat_id": -5}), &[&long]), ["2048 bytes", "Leave"]),
        (
            decided("sendMessageDraft", json!({"chat_id": -5, "text": &long[8..]}), &[]),
            ["2048 bytes", "Leave"],
        ),
        (decided("sendPhoto", json!({"chat_id": -5}), &["cat.png"]), ["`cat.png`", "Give a file_id"]),
        (
            decided("sendPhoto", json!({"chat_id": -5}), &["http://10.0.0.1/a"]),
            ["public web", "as search found"],
        ),
    ];
    for (decision, wanted) in cases {
        assert_eq!(decision.decision, Decision::Deny, "{wanted:?}: {decision:?}");
        let why = decision.reason;
        assert!(wanted.iter().all(|words| why.contains(words)), "{wanted:?}: {why}");
    }
    let most = decided("sendRichMessage", rich("html", &"a".repeat(32_768)), &[]);
    assert_eq!(most.decision, Decision::Allow);
}

/// Fields that hold an address which nothing is loaded from: it is opened by whoever presses or follows it, and a preview
/// of it is settled beforehand.
const FOLLOWED: [&str; 5] = [
    "InlineKeyboardButton.url",
    "RichMessageButton.url",
    "LoginUrl.url",
    "WebAppInfo.url",
    "MessageEntity.url",
];

/// Arguments that have nothing but `leaf` in a field that may hold an address, for each such field there is behind these.
fn with_addresses(owner: &str, fields: &[ApiField], seen: &mut HashSet<String>) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for field in fields {
        let name = &field.name;
        let path = format!("{owner}.{name}");
        let holds_address = (name == "url" || name.ends_with("_url")) && field.ty == ApiType::String;
        if holds_address && !FOLLOWED.contains(&path.as_str()) {
            found.push((path, json!({name: OWN})));
        } else if owner == "InputRichMessage" && field.ty == ApiType::String {
            found.push((path, json!({name: format!("<p><img src='{OWN}'></p>")})));
        } else {
            let inner = behind(&field.ty, seen);
            found.extend(inner.into_iter().map(|(path, value)| (path, json!({name: value}))));
        }
    }
    found
}

fn behind(ty: &ApiType, seen: &mut HashSet<String>) -> Vec<(String, Value)> {
    match ty {
        ApiType::Array(inner) => {
            behind(inner, seen).into_iter().map(|(path, value)| (path, json!([value]))).collect()
        }
        ApiType::Union(types) => types.iter().flat_map(|ty| behind(ty, seen)).collect(),
        ApiType::Named(name) if seen.insert(name.clone()) => match ApiTable::get().type_def(name) {
            Some(TypeDef::Fields(fields)) => with_addresses(name, fields, seen),
            Some(TypeDef::Union(types)) => types.iter().flat_map(|ty| behind(ty, seen)).collect(),
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}

#[test]
fn no_field_of_any_method_is_loaded_unseen() {
    let (speaker, addresses) = (UserId::telegram(42), &Addresses::default());
    let mut fields = HashSet::new();
    for method in ApiTable::get().methods() {
        for (path, args) in with_addresses(&method.name, &method.params, &mut HashSet::new()) {
            let args = args.as_object().unwrap();
            let call = TelegramCall { speaker: Some(&speaker), ..call(method, args, addresses) };
            assert!(
                loaded(&call).unwrap().iter().any(|address| address == OWN),
                "{} {path} {args:?}",
                method.name
            );
            fields.insert(path);
        }
        let takes = |name: &str| method.params.iter().any(|param| param.name == name);
        let is_draft = method.name == "sendMessageDraft";
        assert_eq!(
            takes("text") && takes("entities") && !takes("link_preview_options"),
            is_draft,
            "{}",
            method.name
        );
    }
    assert!(fields.len() >= 20 && fields.contains("InputMediaLink.url"), "{fields:?}");
}

#[test]
fn a_preview_is_of_a_known_address_or_there_is_none() {
    let off = json!({"is_disabled": true});
    let pinned = |url: &str| json!({"url": url});
    let text = |text: &str, options: Value| match options {
        Value::Null => json!({"text": text}),
        options => json!({"text": text, "link_preview_options": options}),
    };
    let cases = [
        (text("x", json!(null)), off.clone()),
        (text(OWN, json!(null)), off.clone()),
        (text(OWN, json!({"is_disabled": false, "url": OWN, "prefer_large_media": true})), off.clone()),
        (text("http://10.0.0.1/a", json!(null)), off.clone()),
        (text("x", pinned("https://example.org/a?d=words")), off.clone()),
        (text(&format!("{OWN} https://example.org/a"), json!(null)), pinned("https://example.org/a")),
        (text("<a href=\"https://example.org/b\">b</a>", pinned(OWN)), pinned("https://example.org/b")),
        (text("x", pinned("https://example.org/a")), pinned("https://example.org/a")),
        (
            text("https://example.org/a", json!({"show_above_text": true})),
            json!({"url": "https://example.org/a", "show_above_text": true}),
        ),
        (text("https://example.org/a", off.clone()), off.clone()),
        (text("x", json!("{\"url\": \"https://evil.example\"}")), off.clone()),
    ];
    for (given, wanted) in cases {
        let mut args = given.as_object().unwrap().clone();
        settle_previews(ApiTable::get().method("sendMessage").unwrap(), &mut args, &known());
        assert_eq!(args["link_preview_options"], wanted, "{given}");
    }
    let mut args =
        json!({"result": {"input_message_content": {"message_text": OWN}}, "rich_message": {"html": "x"}});
    let args = args.as_object_mut().unwrap();
    settle_previews(ApiTable::get().method("sendRichMessage").unwrap(), args, &known());
    assert_eq!(args["result"]["input_message_content"]["link_preview_options"], off);
    assert_eq!(args["rich_message"]["skip_entity_detection"], true);
}

#[test]
fn every_text_with_a_preview_is_settled() {
    let table = ApiTable::get();
    let has = |fields: &[ApiField]| fields.iter().any(|field| field.name == "link_preview_options");
    let methods = table.methods().iter().filter(|method| has(&method.params));
    let texts = methods.map(|method| method.params.iter().any(|field| field.name == "text"));
    assert_eq!(texts.collect::<Vec<_>>(), [true, true, true]);
    let Some(TypeDef::Fields(content)) = table.type_def("InputTextMessageContent") else {
        panic!("no such type")
    };
    assert!(has(content) && content.iter().any(|field| field.name == "message_text"));
}

#[test]
fn whatever_changes_a_message_is_for_the_models_own() {
    let changing: Vec<&Method> =
        ApiTable::get().methods().iter().filter(|method| method.changes_messages()).collect();
    assert!(changing.len() >= 15, "{changing:?}");
    for method in changing {
        let verdict = |own| {
            verdict(&method.name, &json!({"chat_id": -5, "message_id": 1, "message_ids": [1]}), own, &[])
        };
        assert_eq!([verdict(Some(false)), verdict(None)], ["ask", "ask"], "{}", method.name);
    }
}

#[test]
fn what_figaro_says_is_changed_by_nobodys_approval() {
    let decided = |name: &str, here: i64| {
        let method = ApiTable::get().method(name).unwrap();
        let args = json!({"chat_id": -5, "message_id": 1, "message_ids": [1]}).as_object().unwrap().clone();
        let addresses = known();
        let call = TelegramCall {
            here: ChatId(here),
            own: Some(false),
            figaros: true,
            ..call(method, &args, &addresses)
        };
        decide(&Rules::built_in(), &call)
    };
    for name in ["editMessageText", "editMessageReplyMarkup", "deleteMessage", "deleteMessages", "stopPoll"] {
        for here in [-5, -6] {
            let decided = decided(name, here);
            assert_eq!(
                (decided.decision, decided.rule.as_str()),
                (Decision::Deny, "limit/figaros"),
                "{name} {here}"
            );
        }
    }
    assert_eq!(decided("pinChatMessage", -5).decision, Decision::Ask, "it stays as it is");
}

#[test]
fn nobody_is_looked_up_for_words_of_someone_else() {
    let method = |name: &str| ApiTable::get().method(name).unwrap();
    let seen = json!({"chat_id": -5, "ephemeral_message_parameters": {"receiver_user_id": 42}});
    for (name, args) in
        [("getUserGifts", json!({"user_id": 42})), ("sendMessage", seen), ("getUserGifts", json!({}))]
    {
        let (method, args) = (method(name), args.as_object().unwrap().clone());
        let decided = decide(&Rules::built_in(), &call(method, &args, &known()));
        assert_eq!(decided.decision, Decision::Ask, "{name} {args:?}");
    }
}
