//! Requests for facts about a person: known by how their instructions begin, and answered by rule where nobody says otherwise.

use serde_json::json;

use super::reply::Reply;
use super::request::ModelRequest;

/// How the instructions of such a request begin.
const BEGINS: &str = "You keep what is worth remembering";
/// How sentences begin that are taken for facts.
pub(super) const FACTS: [&str; 8] =
    ["I live ", "I work ", "I am allergic ", "I'm allergic ", "I have ", "I like ", "I prefer ", "My "];

/// Whether a request asks for facts about a person.
pub(super) fn is_asked(request: &ModelRequest) -> bool {
    request.instructions().starts_with(BEGINS)
}

/// Every sentence of the new messages that begins as facts do.
pub(super) fn reply(request: &ModelRequest) -> Reply {
    let text = request.user_text();
    let new = text.split_once("<new>").map(|(_, new)| new).unwrap_or_default();
    let mut items = Vec::new();
    for said in new.split("<said id=\"").skip(1) {
        let Some((label, rest)) = said.split_once("\">") else { continue };
        let words = rest.split("</said>").next().unwrap_or_default();
        let sentences = words.split_inclusive(['.', '!', '?', '\n']).map(str::trim);
        for sentence in sentences.filter(|words| FACTS.iter().any(|begin| words.starts_with(begin))) {
            // A request in the same sentence is no part of the fact.
            let fact = sentence.split(" and remind ").next().unwrap_or(sentence);
            let content = fact.trim_end_matches(['.', '!', ' ']);
            items.push(json!({
                "change": "create", "message": label, "quote": content, "content": content, "memories": [],
            }));
        }
    }
    Reply::text(&json!({"items": items}).to_string())
}
