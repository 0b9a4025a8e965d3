//! What is wrong with a file of rules is told, all of it, with its line.

use std::fmt::Write;

use super::*;

const GOOD: &str = "rules:
  - name: news
    method: sendMessage
    chat: [-100123, \"@news\"]
    role: [owner, admin]
    then: allow
  - name: careful
    class: moderation
    then: ask
    right: can_restrict_members
    people: 2
    reason: two look at it
";

#[test]
fn whatever_is_wrong_is_told_with_its_line() {
    assert_eq!(Rules::read(GOOD).unwrap().owners(), 2);
    let cases = [
        ("rules:", "rule:"),
        ("    then: allow", "    them: allow"),
        ("    then: allow", "    then: alow"),
        ("    then: allow\n", ""),
        ("method: sendMessage", "method: sendMesage"),
        ("method: sendMessage", "method: \"sned*\""),
        ("method: sendMessage", "method: []"),
        ("method: sendMessage", "method: [sendMessage,\n             sendPhotos]"),
        ("method: sendMessage", "method: [[sendMessage]]"),
        ("method: sendMessage", "method: {a: b}"),
        ("method: sendMessage", "method: sendMessage\n    class: money"),
        ("class: moderation", "class: moderaton"),
        ("owner, admin", "owner, amin"),
        ("[-100123, \"@news\"]", "hear"),
        ("[-100123, \"@news\"]", "news"),
        ("\"@news\"", "@news"),
        ("can_restrict_members", "can_restrict_member"),
        ("people: 2", "people: 3"),
        ("people: 2", "people: many"),
        ("    reason: two look at it\n", ""),
        ("two look at it", "it uses {parameter}"),
        ("two look at it", "it loads {address}"),
        ("    then: allow", "    then: allow\n    right: owner"),
        ("name: careful", "name: news"),
        ("name: careful", "name: Careful one"),
        ("class: moderation", "class: moderation\n    server: telegramm"),
        ("class: moderation", "class: moderation\n    uses: [reply_markp]"),
        ("class: moderation", "class: moderation\n    address: unknwn"),
        ("class: moderation", "class: moderation\n    person: askr"),
        ("class: moderation", "class: moderation\n    own: maybe"),
        ("class: moderation", "class: moderation\n    class: read"),
    ];
    let mut told = String::new();
    for (there, instead) in cases {
        let text = GOOD.replacen(there, instead, 1);
        assert_ne!(text, GOOD, "{there}");
        let faults = Rules::read(&text).unwrap_err();
        let faults: Vec<String> = faults.iter().map(|fault| fault.in_file("policy.yaml")).collect();
        assert!(faults.iter().all(|fault| fault.lines().count() == 1), "{faults:?}");
        writeln!(told, "{there:?} -> {instead:?}\n  {}", faults.join("\n  ")).unwrap();
    }
    insta::assert_snapshot!(told);
}

#[test]
fn all_mistakes_are_told_together() {
    let text = GOOD.replace("sendMessage", "sendMesage").replace("people: 2", "people: 0");
    assert_eq!(Rules::read(&text).unwrap_err().len(), 3, "the rule is about no method either");
}

#[test]
fn a_file_without_rules_has_none() {
    for text in ["", "\n", "# nothing yet\n\n  # really", "rules: []"] {
        assert_eq!(Rules::read(text).unwrap().owners(), 0, "{text:?}");
    }
    let many: String = (0..501).map(|at| format!("  - {{name: a{at}, then: allow}}\n")).collect();
    let faults = Rules::read(&format!("rules:\n{many}")).unwrap_err();
    assert_eq!(faults[0].in_file("policy.yaml"), "policy.yaml: there are more than 500 rules");
}
