//! Requests for the name of a conversation: recognised by their instructions, and answered by rule unless the brain answers.

use super::reply::ModelReply;
use super::request::{ModelRequest, last_element};

/// First words of the instructions of such a request.
const BEGINS: &str = "You name conversations.";
/// Maximum number of words in a name.
const WORDS: usize = 6;
/// First words of a request that do not tell its subject.
const FILLERS: [&str; 12] =
    ["please", "tell", "me", "the", "a", "an", "can", "you", "what", "is", "some", "make"];

/// Returns `true` if a request asks for the name of a conversation.
pub(super) fn is_asked(request: &ModelRequest) -> bool {
    request.instructions().starts_with(BEGINS)
}

/// Builds a name from the first words of the person.
pub(super) fn reply(request: &ModelRequest) -> ModelReply {
    let text = request.user_text();
    let first = text.lines().find(|line| line.starts_with("<said by=\"person\">")).unwrap_or_default();
    let said = last_element(first, "said").map(|said| said.text.to_owned()).unwrap_or_default();
    ModelReply::text(&name(&said))
}

fn name(said: &str) -> String {
    let words: Vec<&str> = said.split_whitespace().collect();
    let is_filler = |word: &&&str| FILLERS.contains(&word.to_lowercase().as_str());
    let fillers = words.iter().take_while(is_filler).count();
    let told = if fillers < words.len() { &words[fillers..] } else { &words[..] };
    let name = told.iter().take(WORDS).copied().collect::<Vec<_>>().join(" ");
    let name = name.trim_end_matches(['?', '!', '.', ',', ':', ';', '…']);
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_the_first_words_are_about() {
        for (said, wanted) in [
            ("tell me a joke", "Joke"),
            ("What is the weather in Riga?", "Weather in Riga"),
            ("Explain compound interest in two sentences", "Explain compound interest in two sentences"),
            ("one two three four five six seven eight", "One two three four five six"),
            ("what is", "What is"),
            ("", ""),
        ] {
            assert_eq!(name(said), wanted, "{said}");
        }
    }
}
