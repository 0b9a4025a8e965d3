//! What no rule opens.

use proptest::prelude::*;

use super::*;

/// Calls that are never made.
fn limited() -> Vec<(&'static str, Value)> {
    let button =
        |more: Value| json!({"chat_id": -5, "text": "x", "reply_markup": {"inline_keyboard": [[more]]}});
    vec![
        ("getUpdates", json!({})),
        ("setWebhook", json!({"url": "https://example.org"})),
        ("deleteWebhook", json!({})),
        ("logOut", json!({})),
        ("close", json!({})),
        ("sendMessage", json!({"chat_id": -5, "link_preview_options": {"url": "http://10.0.0.1/a"}})),
        ("sendMessage", json!({"chat_id": -5, "link_preview_options": {"url": "file:///etc/passwd"}})),
        ("sendMessage", button(json!({"text": "a", "callback_data": "b"}))),
        ("sendMessage", button(json!({"text": "a", "web_app": {"url": "https://example.org"}}))),
        ("sendMessage", json!({"chat_id": "here", "text": "x"})),
        ("sendMessage", json!({"chat_id": [-5], "text": "x"})),
        ("sendMessage", json!({"chat_id": 1.5, "text": "x"})),
        ("sendMessage", json!({"chat_id": -5, "reply_parameters": {"chat_id": "t.me/news"}})),
        ("sendRichMessage", json!({"chat_id": -5, "rich_message": {"html": "a".repeat(40_000)}})),
    ]
}

/// A rule that allows: as much as one can.
fn allowing() -> impl Strategy<Value = String> {
    let of = |key: &'static str, words: &'static [&'static str]| {
        let one = prop::sample::select(words).prop_map(move |word| format!(", {key}: {word}"));
        prop_oneof![Just(String::new()), one]
    };
    let method = of(
        "method",
        &[
            "\"*\"",
            "\"send*\"",
            "[getUpdates, setWebhook, deleteWebhook, logOut, close]",
            "[sendMessage, sendRichMessage]",
        ],
    );
    let parts = (
        method,
        of("role", &["owner", "member", "[owner, admin, member, guest]"]),
        of("chat", &["here", "elsewhere", "[here, elsewhere]", "-5"]),
        of("address", &["unknown", "[none, known, unknown]"]),
        of("uses", &["reply_markup", "[reply_markup, link_preview_options]"]),
        of("then", &["allow", "ask, reason: x"]),
    );
    parts.prop_map(|(method, role, chat, address, uses, then)| {
        let then = if then.is_empty() { ", then: allow".to_owned() } else { then };
        format!("name: open{method}{role}{chat}{address}{uses}{then}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_rule_opens_a_limit(written in prop::collection::vec(allowing(), 1..4), at in 0usize..14, role in prop::sample::select(&CallerRole::ALL[..])) {
        let rules = written.iter().enumerate().map(|(at, rule)| format!("  - {{{}}}\n", rule.replace("open", &format!("open{at}"))));
        let rules = Rules::read(&format!("rules:\n{}", rules.collect::<String>())).unwrap();
        let (name, args) = limited().swap_remove(at);
        let (method, args, known) = (ApiTable::get().method(name).unwrap(), args.as_object().unwrap().clone(), known());
        let decided = decide(&rules, &TelegramCall { role, own: Some(true), ..call(method, &args, &known) });
        prop_assert_eq!(decided.decision, Decision::Deny);
        prop_assert!(decided.rule.as_str().starts_with("limit/"), "{}", decided.rule);
    }

    /// Of chats, only those that a rule names are opened by it: whatever else a call names keeps it shut.
    #[test]
    fn one_chat_more_never_makes_a_call_freer(chats in prop::collection::vec(-8i64..0, 1..5), more in -8i64..0) {
        let rules = Rules::read("rules:\n  - {name: a, chat: [-6, -7], class: message, then: allow}\n  - {name: b, chat: -8, then: deny, reason: x}").unwrap();
        let decided = |chats: &[i64]| {
            let named: Vec<Value> = chats.iter().map(|chat| json!({"chat_id": chat})).collect();
            let (method, args, known) = (ApiTable::get().method("sendMessage").unwrap(), json!({"chat_id": chats[0], "a": named}), known());
            decide(&rules, &call(method, args.as_object().unwrap(), &known)).decision
        };
        let all: Vec<i64> = chats.iter().copied().chain([more]).collect();
        prop_assert!(decided(&all) >= decided(&chats));
    }
}
