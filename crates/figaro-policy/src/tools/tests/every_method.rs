//! What the built-in rules decide about every method, here and elsewhere.

use std::fmt::Write;

use super::*;

/// What is decided about a call with nothing but a chat, on messages of the model's own.
fn decided(method: &Method, chat: i64) -> Decided {
    let takes_chat = method.params.iter().any(|param| param.name == "chat_id");
    let mut args = Map::new();
    if takes_chat {
        args.insert("chat_id".to_owned(), json!(chat));
    }
    let known = known();
    let call = TelegramCall { own: Some(true), ..call(method, &args, &known) };
    decide(&Rules::built_in(), &call)
}

fn told(decided: &Decided) -> String {
    let right = decided.right.map(|right| format!(" ({})", right.name())).unwrap_or_default();
    format!("{} {}{right}", decided.decision.name(), decided.rule)
}

#[test]
fn the_rules_of_every_method_are_these() {
    let methods = ApiTable::get().methods();
    assert!(methods.len() >= 185, "{}", methods.len());
    let mut table = String::new();
    for method in methods {
        let (here, elsewhere) = (decided(method, -5), decided(method, -6));
        assert!(elsewhere.decision >= here.decision, "{} is freer elsewhere", method.name);
        let rest = if here == elsewhere { String::new() } else { format!(" | {}", told(&elsewhere)) };
        writeln!(table, "{}: {}{rest}", method.name, told(&here)).unwrap();
    }
    insta::assert_snapshot!(table);
}

#[test]
fn what_costs_or_gives_power_takes_a_rule_of_the_owners() {
    for method in ApiTable::get().methods() {
        let wanted = match method.class {
            Class::Money | Class::ManagedBots | Class::Lifecycle => true,
            _ => ["answerPreCheckoutQuery", "answerShippingQuery", "createChatSubscriptionInviteLink"]
                .contains(&method.name.as_str()),
        };
        assert_eq!(decided(method, -5).decision == Decision::Deny, wanted, "{}", method.name);
    }
}
