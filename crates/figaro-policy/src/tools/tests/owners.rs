//! What rules of the owner's change, and what they leave.

use super::*;

/// What becomes of a call in chat -5, by rules of the owner's; `more` changes what is known of it.
fn by_rules(
    rules: &str,
    method: &str,
    args: &Value,
    more: impl for<'a> Fn(TelegramCall<'a>) -> TelegramCall<'a>,
) -> Decided {
    let rules = Rules::read(&format!("rules:\n{rules}")).unwrap_or_else(|faults| panic!("{faults:?}"));
    let (method, args) = (ApiTable::get().method(method).unwrap(), args.as_object().unwrap().clone());
    let (speaker, known) = (UserId::telegram(42), known());
    let call = TelegramCall { speaker: Some(&speaker), ..call(method, &args, &known) };
    decide(&rules, &more(call))
}

fn plainly(rules: &str, method: &str, args: &Value) -> Decided {
    by_rules(rules, method, args, |call| call)
}

fn word(decided: &Decided) -> &'static str {
    decided.decision.name()
}

#[test]
fn the_first_rule_that_holds_decides_the_owners_before_the_others() {
    let rules = "  - {name: quiet, method: sendDice, then: deny, reason: no games}
  - {name: games, method: [sendDice, sendGame], then: ask, reason: ask first, right: owner}";
    let args = json!({"chat_id": -5});
    let dice = plainly(rules, "sendDice", &args);
    assert_eq!((word(&dice), dice.rule.as_str(), dice.reason.as_str()), ("deny", "owner/quiet", "no games"));
    assert!(dice.rule.is_owners());
    let game = plainly(rules, "sendGame", &args);
    assert_eq!((word(&game), game.rule.as_str(), game.right), ("ask", "owner/games", None));
    let message = plainly(rules, "sendMessage", &json!({"chat_id": -5, "text": "x"}));
    assert_eq!((word(&message), message.rule.as_str()), ("allow", "default/message_here"));
}

#[test]
fn what_allows_opens_no_more_than_it_names() {
    let open = "  - {name: open, method: \"*\", then: allow}";
    let elsewhere = "  - {name: open, method: \"send*\", chat: [-6, \"@News\"], then: allow}";
    let taken = "  - {name: open, method: forwardMessage, chat: -6, also: -7, then: allow}";
    let button = json!([{"type": "text_link", "offset": 0, "length": 1, "url": OWN}]);
    let cases = [
        (open, "banChatMember", json!({"chat_id": -5, "user_id": 7}), "allow"),
        (open, "banChatMember", json!({"chat_id": -6, "user_id": 7}), "ask"),
        (open, "sendMessage", json!({"chat_id": -5, "business_connection_id": "b"}), "ask"),
        (open, "sendMessage", json!({"chat_id": -5, "link_preview_options": {"url": OWN}}), "ask"),
        (open, "sendMessageDraft", json!({"chat_id": -5, "text": "x", "entities": button}), "ask"),
        (open, "deleteMessage", json!({"chat_id": -5, "message_id": 1}), "ask"),
        (open, "sendMessage", json!({"chat_id": -5, "x": {"receiver_user_id": 7}}), "ask"),
        (open, "sendGift", json!({"user_id": 42}), "deny"),
        (open, "getManagedBotToken", json!({"user_id": 42}), "deny"),
        (elsewhere, "sendMessage", json!({"chat_id": -6, "text": "x"}), "allow"),
        (elsewhere, "sendMessage", json!({"chat_id": "-6", "text": "x"}), "allow"),
        (elsewhere, "sendMessage", json!({"chat_id": "@news", "text": "x"}), "allow"),
        (elsewhere, "sendMessage", json!({"chat_id": "@newss", "text": "x"}), "ask"),
        (elsewhere, "sendMessage", json!({"chat_id": -6, "reply_parameters": {"chat_id": 7}}), "ask"),
        (elsewhere, "sendMessage", json!({"chat_id": 7, "reply_parameters": {"chat_id": -6}}), "ask"),
        (elsewhere, "sendMessage", json!({"chat_id": -5, "reply_parameters": {"chat_id": -6}}), "ask"),
        (taken, "forwardMessage", json!({"chat_id": -6, "from_chat_id": -7}), "allow"),
        (taken, "forwardMessage", json!({"chat_id": -6, "from_chat_id": -5}), "allow"),
        (taken, "forwardMessage", json!({"chat_id": -5, "from_chat_id": -7}), "ask"),
        (taken, "forwardMessage", json!({"chat_id": -7, "from_chat_id": -6}), "ask"),
        (elsewhere, "sendGift", json!({"chat_id": -6}), "deny"),
        (elsewhere, "forwardMessage", json!({"chat_id": -6, "from_chat_id": -5}), "ask"),
        (elsewhere, "sendMessage", json!({"chat_id": -6, "allow_paid_broadcast": true}), "ask"),
    ];
    for (rules, method, args, wanted) in cases {
        assert_eq!(word(&plainly(rules, method, &args)), wanted, "{rules} {method} {args}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_is_named_is_opened() {
    let reaches = "  - {name: mine, class: message, uses: business_connection_id, then: allow}";
    let cases = [
        (
            "  - {name: gifts, method: sendGift, role: owner, then: ask, reason: it costs Stars}",
            "sendGift",
            json!({"user_id": 7}),
            "deny",
        ),
        (
            "  - {name: gifts, method: sendGift, then: ask, reason: it costs Stars}",
            "sendGift",
            json!({"user_id": 7}),
            "ask",
        ),
        ("  - {name: gifts, class: money, then: allow}", "sendGift", json!({"user_id": 7}), "allow"),
        (
            "  - {name: gifts, method: \"sendG*\", then: ask, reason: x}",
            "sendGift",
            json!({"user_id": 7}),
            "deny",
        ),
        (reaches, "sendMessage", json!({"chat_id": -5, "business_connection_id": "b"}), "allow"),
        (
            reaches,
            "sendMessage",
            json!({"chat_id": -5, "business_connection_id": "b", "allow_paid_broadcast": true}),
            "ask",
        ),
        (
            "  - {name: any, method: sendPhoto, address: [unknown, known], then: allow}",
            "sendMessage",
            json!({"chat_id": -5, "link_preview_options": {"url": OWN}}),
            "ask",
        ),
        (
            "  - {name: any, method: sendMessage, address: unknown, then: allow}",
            "sendMessage",
            json!({"chat_id": -5, "link_preview_options": {"url": OWN}}),
            "allow",
        ),
        (
            "  - {name: tidy, class: delete, own: false, then: allow}",
            "deleteMessage",
            json!({"chat_id": -5, "message_id": 1}),
            "allow",
        ),
        (
            "  - {name: look, method: getUserGifts, person: other, then: allow}",
            "getUserGifts",
            json!({"user_id": 7}),
            "allow",
        ),
        (
            "  - {name: no_keyboards, uses: reply_markup, agent: reader, then: deny, reason: x}",
            "sendMessage",
            json!({"chat_id": -5, "reply_markup": {"keyboard": [["yes"]]}}),
            "allow",
        ),
    ];
    for (rules, method, args, wanted) in cases {
        assert_eq!(word(&plainly(rules, method, &args)), wanted, "{rules} {method} {args}");
    }
}

#[test]
fn rules_tell_who_asks_by_which_agent_and_in_a_task() {
    let rules = "  - {name: bans, method: banChatMember, role: [owner, admin], task: false, then: allow}
  - {name: reader, agent: [\"read*\"], class: message, then: deny, reason: it only reads}
  - {name: plain, agent: figaro, method: sendDice, then: deny, reason: no games}";
    let ban = json!({"chat_id": -5, "user_id": 7});
    for (role, wanted) in CallerRole::ALL.into_iter().zip(["allow", "allow", "ask", "ask"]) {
        let decided = by_rules(rules, "banChatMember", &ban, |call| TelegramCall { role, ..call });
        assert_eq!(word(&decided), wanted, "{role:?}");
    }
    let in_task = by_rules(rules, "banChatMember", &ban, |call| TelegramCall {
        role: CallerRole::Owner,
        task: true,
        ..call
    });
    assert_eq!((word(&in_task), in_task.unattended), ("ask", true));
    let asked = plainly(rules, "banChatMember", &ban);
    assert_eq!((asked.unattended, asked.right), (false, Some(AdminRight::RestrictMembers)));
    let args = json!({"chat_id": -5});
    for (agent, wanted) in [(None, "deny"), (Some("reader"), "deny"), (Some("scheduled"), "allow")] {
        let decided = by_rules(rules, "sendDice", &args, |call| TelegramCall { agent, ..call });
        assert_eq!(word(&decided), wanted, "{agent:?}");
    }
    let tells = |rules: &str| Rules::read(&format!("rules:\n{rules}")).unwrap().tells_admins();
    assert!(tells(rules) && !Rules::built_in().tells_admins());
    assert!(!tells("  - {name: a, method: sendDice, role: owner, then: allow}"));
}

#[test]
fn a_username_is_here_once_it_was_found_to_be() {
    let args = json!({"chat_id": "@Team", "text": "x"});
    let here = [("team".to_owned(), ChatId(-5))];
    let other = [("team".to_owned(), ChatId(-6))];
    let by = |rules: &str, resolved: &[(String, ChatId)]| {
        let rules = Rules::read(rules).unwrap();
        let (method, args, known) =
            (ApiTable::get().method("sendMessage").unwrap(), args.as_object().unwrap(), known());
        word(&decide(&rules, &TelegramCall { resolved, ..call(method, args, &known) }))
    };
    assert_eq!([by("", &[]), by("", &here), by("", &other)], ["ask", "allow", "ask"]);
    let numbered = "rules:\n  - {name: a, method: sendMessage, chat: -6, then: allow}";
    assert_eq!([by(numbered, &[]), by(numbered, &other)], ["ask", "allow"]);
    let also = "rules:\n  - {name: a, also: -7, then: deny, reason: x}";
    assert_eq!([by(also, &[]), by(also, &here)], ["ask", "allow"]);
    let denied = "rules:\n  - {name: a, chat: -6, then: deny, reason: x}";
    assert_eq!([by(denied, &[]), by(denied, &other)], ["ask", "deny"]);
}

#[test]
fn reasons_name_what_they_are_about() {
    let args = json!({"chat_id": -5, "text": "x", "suggested_post_parameters": {}});
    assert_eq!(
        plainly("  - {name: a, method: sendDice, then: allow}", "sendMessage", &args).reason,
        "it uses suggested_post_parameters"
    );
    let args = json!({"chat_id": -5, "link_preview_options": {"url": OWN}});
    let decided = plainly("  - {name: a, method: sendDice, then: allow}", "sendMessage", &args);
    assert!(
        decided.reason.starts_with(&format!("Telegram would load `{OWN}`, which no person wrote")),
        "{decided:?}"
    );
}

#[test]
fn after_a_text_by_others_was_read_what_acts_elsewhere_is_asked_about_again() {
    let post = "  - {name: post, method: \"send*\", chat: [here, -6], then: allow}";
    let sure = "  - {name: post, method: \"send*\", chat: -6, then: allow, trusted: true}";
    let ban = "  - {name: ban, method: banChatMember, chat: here, then: allow}";
    let loads = "  - {name: post, method: sendPhoto, chat: here, address: unknown, then: allow}";
    let look = "  - {name: look, method: getChat, chat: -6, then: allow}";
    let name = "  - {name: name, method: setMyName, then: allow}";
    let (there, here) = (json!({"chat_id": -6, "text": "x"}), json!({"chat_id": -5, "text": "x"}));
    let cases = [
        (post, "sendMessage", &there, "ask", "default/after_reading"),
        (sure, "sendMessage", &there, "allow", "owner/post"),
        (post, "sendMessage", &here, "allow", "owner/post"),
        (ban, "banChatMember", &json!({"chat_id": -5, "user_id": 7}), "allow", "owner/ban"),
        (loads, "sendPhoto", &json!({"chat_id": -5, "photo": OWN}), "ask", "default/after_reading"),
        (look, "getChat", &json!({"chat_id": -6}), "allow", "owner/look"),
        (name, "setMyName", &json!({"name": "Eve"}), "ask", "default/after_reading"),
    ];
    for (rules, method, args, wanted, name) in cases {
        let files: &[&str] = if method == "sendPhoto" { &[OWN] } else { &[] };
        let before = by_rules(rules, method, args, |call| TelegramCall { files, ..call });
        assert_eq!(
            (word(&before), before.rule.is_owners()),
            ("allow", true),
            "{rules} {args}: {}",
            before.rule
        );
        let after = by_rules(rules, method, args, |call| TelegramCall {
            files,
            read: Some("https://evil.example/"),
            ..call
        });
        assert_eq!((word(&after), after.rule.as_str()), (wanted, name), "{rules} {args}");
        let reason =
            "it acts elsewhere, and this turn has read a text by others before (https://evil.example/)";
        assert!(wanted == "allow" || after.reason == reason, "{}", after.reason);
        let in_task = by_rules(rules, method, args, |call| TelegramCall {
            files,
            task: true,
            read: Some("https://evil.example/"),
            ..call
        });
        assert_eq!(in_task.unattended, wanted == "ask", "nobody can be asked there");
    }
    let faults = Rules::read("rules:\n  - {name: a, method: getMe, then: deny, reason: x, trusted: true}")
        .unwrap_err();
    assert!(format!("{:?}", faults[0]).contains("trusted is for rules with then: allow"), "{faults:?}");
}
