//! The question of a call: its words, whoever asks it, and the conversation that it belongs to.

use std::io::{IsTerminal, stdin};

use chrono::{DateTime, Utc};
use tokio::io::AsyncReadExt;

use crate::app::failure::Refusal;
use figaro_agent::turn::question::{Client, Question};
use figaro_base::ids::{RunId, UserId};
use figaro_domain::chat::Place;
use figaro_domain::message::{Inbound, Speaker};
use figaro_policy::access::Standing;

/// The most bytes of a question: more than any model takes.
const MAX_BYTES: usize = 4 << 20;
/// The kind of client that this is.
const CLIENT: &str = "cli";

/// The words of the question; those of standard input for `-`, and for none where something is piped into it.
///
/// # Errors
/// When there are none, or none that can be read.
pub(super) async fn words(given: Option<&str>) -> Result<String, Refusal> {
    let words = match given {
        Some(words) if words != "-" => words.to_owned(),
        None if stdin().is_terminal() => {
            return Err(Refusal(
                "there is no question: figaro ask \"What is …?\", or a text piped into it".to_owned(),
            ));
        }
        Some(_) | None => read().await?,
    };
    match words.trim().is_empty() {
        true => Err(Refusal("the question is empty".to_owned())),
        false => Ok(words),
    }
}

async fn read() -> Result<String, Refusal> {
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let read = tokio::io::stdin().take(most).read_to_end(&mut bytes).await;
    read.map_err(|error| Refusal(format!("standard input cannot be read: {error}")))?;
    if bytes.len() > MAX_BYTES {
        return Err(Refusal(format!("the question has more than {} MiB", MAX_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|_no_text| Refusal("standard input is no text in UTF-8".to_owned()))
}

/// Whoever sits at the terminal, by a number that no person has: nothing is remembered of them.
pub(super) fn asker() -> UserId {
    UserId::telegram(0)
}

/// The conversation of this name, which no chat of Telegram is; one of its own for a call that no other is to see.
pub(super) fn place(session: Option<&str>, is_eval: bool) -> Place {
    let name = match session.filter(|_| !is_eval) {
        Some(name) => format!("session {name}"),
        None => format!("call {}", RunId::new()),
    };
    Place::outside(&name)
}

/// The question as turns take it. Whoever can run this program owns the machine, and with it the bot.
pub(super) fn question(words: String, place: Place, is_eval: bool, now: DateTime<Utc>) -> Question {
    let speaker = Speaker { user: asker(), name: "terminal".to_owned(), username: None };
    let part = Inbound::addressed(place, speaker, words, now);
    Question { client: Client { id: CLIENT, is_eval }, ..Question::new(part, Standing::Owner) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use figaro_base::ids::ChatId;

    #[test]
    fn a_session_is_a_conversation_of_its_own_outside_of_telegram() {
        let chat = |session, is_eval| place(session, is_eval).chat;
        let travel = chat(Some("travel"), false);
        assert_eq!(travel, chat(Some("travel"), false));
        let others = [chat(Some("Travel"), false), chat(Some("travel"), true), chat(None, false)];
        for other in others {
            assert!(other != travel && other.is_outside() && !other.is_group(), "{other}");
        }
        assert_ne!(chat(None, false), chat(None, false));
        assert!(travel.is_outside() && travel.0 < 1 << 53, "{travel}");
        assert!(!ChatId((1 << 52) - 1).is_outside() && !ChatId(-1).is_outside());
    }
}
