//! Question of a call: its text, its asker and its conversation.

use std::io::{IsTerminal, stdin};

use chrono::{DateTime, Utc};
use tokio::io::AsyncReadExt;

use crate::app::failure::StartupError;
use figaro_agent::turn::question::{Client, Question};
use figaro_base::ids::{RequestId, UserId};
use figaro_base::system::in_words;
use figaro_domain::chat::Place;
use figaro_domain::external::ExternalName;
use figaro_domain::message::{Inbound, Speaker};
use figaro_domain::origin::Origin;
use figaro_policy::access::Standing;

/// Maximum size of a question in bytes; more than any model accepts.
const MAX_BYTES: usize = 4 << 20;
const CLIENT: &str = "cli";

/// Returns the text of the question. Reads standard input for `-`, or for `None` if input is piped.
///
/// # Errors
/// When the text is missing or cannot be read.
pub(super) async fn words(given: Option<&str>) -> Result<String, StartupError> {
    let words = match given {
        Some(words) if words != "-" => words.to_owned(),
        None if stdin().is_terminal() => {
            return Err(StartupError(
                "there is no question: figaro ask \"What is …?\", or a text piped into it".to_owned(),
            ));
        }
        Some(_) | None => read().await?,
    };
    match words.trim().is_empty() {
        true => Err(StartupError("the question is empty".to_owned())),
        false => Ok(words),
    }
}

async fn read() -> Result<String, StartupError> {
    let mut bytes = Vec::new();
    let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let read = tokio::io::stdin().take(most).read_to_end(&mut bytes).await;
    read.map_err(|error| StartupError(format!("standard input cannot be read: {}", in_words(&error))))?;
    if bytes.len() > MAX_BYTES {
        return Err(StartupError(format!("the question has more than {} MiB", MAX_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|_no_text| StartupError("standard input is no text in UTF-8".to_owned()))
}

/// User at the terminal: id 0, which no person has. Nothing is remembered about this user.
pub(super) fn asker() -> UserId {
    UserId::telegram(0)
}

/// Name of the conversation: that of the session, or a unique one for this call.
pub(super) fn name(session: Option<&str>, is_eval: bool) -> ExternalName {
    match session.filter(|_| !is_eval) {
        Some(session) => ExternalName::terminal(session),
        None => ExternalName::call(RequestId::new()),
    }
}

/// Builds the question for a turn. The user of this program owns the machine, and so the bot.
pub(super) fn question(words: String, place: Place, is_eval: bool, now: DateTime<Utc>) -> Question {
    let speaker = Speaker { user: asker(), name: "terminal".to_owned(), username: None };
    let origin = Origin::Terminal { request: RequestId::new() };
    let part = Inbound::addressed(origin, place, speaker, words, now);
    Question { client: Client { id: CLIENT, is_eval }, ..Question::new(part, Standing::Owner) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_a_session_and_a_test_have_names_of_their_own() {
        let travel = name(Some("travel"), false);
        assert_eq!(travel, name(Some("travel"), false));
        let others = [name(Some("Travel"), false), name(Some("travel"), true), name(None, false)];
        assert!(others.iter().all(|other| *other != travel), "{others:?}");
        assert_ne!(name(None, false), name(None, false));
    }
}
