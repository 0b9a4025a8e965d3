//! Requests for facts about a person: recognised by their instructions, and answered by rule unless the brain answers.

use serde_json::{Value, json};

use super::reply::ModelReply;
use super::request::ModelRequest;

/// First words of the instructions of such a request.
const BEGINS: &str = "You keep what is worth remembering";
/// First words of sentences that count as facts.
const FACTS: [&str; 22] = [
    "I live ",
    "I work ",
    "I am allergic ",
    "I'm allergic ",
    "I have ",
    "I like ",
    "I prefer ",
    "My ",
    "Moro ",
    "Vivo ",
    "Trabalho ",
    "Tenho ",
    "Gosto ",
    "Prefiro ",
    "Sou alérgic",
    "O meu ",
    "A minha ",
    "Trabajo ",
    "Tengo ",
    "Me gusta ",
    "Soy alérgic",
    "Mi ",
];
/// Links between a fact and a request in the same sentence.
const LINKS: [&str; 4] = [" and ", " e ", " y ", ", "];
const REQUESTS: [&str; 14] = [
    "remind ",
    "please remind ",
    "wake me ",
    "tell me ",
    "me lembr",
    "lembre-me ",
    "lembra-me ",
    "me acord",
    "acorde-me ",
    "acorda-me ",
    "avise-me ",
    "recuérdame ",
    "despiértame ",
    "avísame ",
];

/// First words of a sentence that asks to forget a fact.
const VERBS: [&str; 6] =
    ["forget that ", "forget ", "esqueça que ", "esquece que ", "olvida que ", "olvide que "];

/// Returns `true` if a request asks for facts about a person.
pub(super) fn is_asked(request: &ModelRequest) -> bool {
    request.instructions().starts_with(BEGINS)
}

/// Returns every sentence of the new messages that counts as a fact.
pub(super) fn reply(request: &ModelRequest) -> ModelReply {
    let text = request.user_text();
    let new = text.split_once("<new>").map(|(_, new)| new).unwrap_or_default();
    let mut items = Vec::new();
    for said in new.split("<said id=\"").skip(1) {
        let Some((label, rest)) = said.split_once("\">") else { continue };
        let words = rest.split("</said>").next().unwrap_or_default();
        let sentences = words.split_inclusive(['.', '!', '?', '\n']).map(str::trim);
        items.extend(sentences.clone().filter_map(|sentence| removal(&text, label, forgotten(sentence)?)));
        for sentence in sentences.filter(|words| is_fact(words)) {
            let content = without_request(sentence).trim_end_matches(['.', '!', ' ']);
            items.push(json!({
                "change": "create", "message": label, "quote": content, "content": content, "memories": [],
            }));
        }
    }
    ModelReply::text(&json!({"items": items}).to_string())
}

/// Returns `true` if a sentence begins like a fact. Ignores case.
pub(super) fn is_fact(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    // The subject is optional in Portuguese.
    let plain = lower.strip_prefix("eu ").unwrap_or(&lower);
    FACTS.iter().any(|begin| plain.starts_with(&begin.to_lowercase()))
}

/// Cuts off a request that follows the fact in the same sentence.
fn without_request(sentence: &str) -> &str {
    let links = LINKS.iter().flat_map(|link| REQUESTS.iter().map(move |request| format!("{link}{request}")));
    let end = links.filter_map(|request| sentence.find(&request)).min().unwrap_or(sentence.len());
    &sentence[..end]
}

/// Returns the fact that a sentence asks to forget.
pub(super) fn forgotten(sentence: &str) -> Option<&str> {
    let lower = sentence.to_ascii_lowercase();
    let fact = VERBS.iter().find_map(|verb| sentence.get(lower.find(verb)? + verb.len()..))?;
    let is_one =
        |begin: &&str| fact.get(..begin.len()).is_some_and(|first| first.eq_ignore_ascii_case(begin));
    FACTS.iter().any(is_one).then(|| fact.trim_end_matches(['.', '!', ' ']))
}

/// Returns a proposal to remove the known fact with these words, if there is one.
fn removal(text: &str, message: &str, fact: &str) -> Option<Value> {
    let known = text.split_once("</known>")?.0.lines();
    let (label, _) = known
        .filter_map(|line| line.split_once(": "))
        .find(|(_, known)| known.trim_end_matches(['.', '!', ' ']).eq_ignore_ascii_case(fact))?;
    Some(json!({"change": "remove", "message": message, "quote": fact, "content": "", "memories": [label]}))
}
