//! What the stand-in reads out of the words of a message: a search, a poll, a note.

use serde_json::{Value, json};

/// What follows the word that asks for a search: at most 400 characters, a sample if nothing follows.
pub(super) fn query(text: &str) -> String {
    let words =
        text.split_whitespace().skip_while(|word| !["search", "google"].contains(&plain(word).as_str()));
    let rest: Vec<&str> =
        words.skip(1).skip_while(|word| ["the", "web", "for"].contains(&plain(word).as_str())).collect();
    let rest = if rest.is_empty() { "barbers of Seville".to_owned() } else { rest.join(" ") };
    rest.chars().take(400).collect()
}

/// A word as the rules compare it: in lower case, without what stands around its letters and digits.
pub(super) fn plain(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// The arguments of `sendPoll`: `poll Where? Here, there` makes that poll; anything less a sample.
pub(super) fn poll(text: &str) -> Value {
    let (_, asked) = text.split_once("poll").unwrap_or_default();
    let (question, choices) = asked.split_once('?').unwrap_or_default();
    let choices = choices.replace(" or ", ",");
    let options: Vec<Value> = choices
        .split(',')
        .map(str::trim)
        .filter(|option| !option.is_empty())
        .take(10)
        .map(|option| json!({"text": option.chars().take(100).collect::<String>()}))
        .collect();
    let question: String = question.trim_start_matches([':', ' ']).chars().take(299).collect();
    if options.len() < 2 || question.is_empty() {
        let options = ["Pizza", "Soup", "Salad"].map(|text| json!({"text": text}));
        return json!({"question": "Where shall we eat?", "options": options});
    }
    json!({"question": format!("{question}?"), "options": options})
}

/// The arguments of `add_note`: what follows `buy`, `remember` or `note`, under a key of its own each.
pub(super) fn note(text: &str) -> Value {
    let lower = text.to_lowercase();
    let after = |word: &str| {
        let at = lower.find(word)? + word.len();
        let rest = text.get(at..)?.trim_start_matches([':', ' ']);
        Some(rest.strip_prefix("that ").unwrap_or(rest).trim_end_matches(['.', '!']).to_owned())
    };
    let found = [("shopping", "buy"), ("facts", "remember"), ("notes", "note")]
        .into_iter()
        .find_map(|(key, word)| Some((key, after(word)?)))
        .filter(|(_, content)| !content.is_empty());
    let (key, content) = found.unwrap_or(("notes", text.to_owned()));
    json!({"key": key, "content": content})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_for_what_follows_the_word() {
        let cases = [
            ("search the web for notes on Rossini", "notes on Rossini"),
            ("please, Search: wigs!", "wigs!"),
            ("google", "barbers of Seville"),
            ("search for", "barbers of Seville"),
        ];
        for (text, wanted) in cases {
            assert_eq!(query(text), wanted, "{text}");
        }
        assert_eq!(query(&format!("search {}", "é".repeat(500))).chars().count(), 400);
    }

    #[test]
    fn a_note_is_filed_by_the_word_that_asks_for_it() {
        let notes = [
            ("Buy milk and bread.", "shopping", "milk and bread"),
            ("remember that tea is green", "facts", "tea is green"),
            ("Note: call Bob", "notes", "call Bob"),
            ("note", "notes", "note"),
        ];
        for (text, key, content) in notes {
            assert_eq!(note(text), json!({"key": key, "content": content}), "{text}");
        }
    }
}
