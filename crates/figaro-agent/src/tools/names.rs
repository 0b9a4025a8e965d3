//! Resolves words to ids: a person by name, "me" for the asker, "replied" for the message the question replies to.

use serde_json::{Map, Value, json};

use super::{ToolContext, ToolError};
use figaro_base::ids::MessageId;
use figaro_domain::people::{KnownPerson, NameLookup, meant};
use figaro_policy::tools::chat_number;
use figaro_store::PeopleStore;

/// Word for the message that the question replies to, and for its writer.
pub(super) const REPLIED: &str = "replied";
/// Word for the asker.
const ASKER: &str = "me";
/// Maximum number of matching people listed for an ambiguous name.
const LISTED: usize = 10;

/// Replaces words by ids where a method takes the id of a person or a message. Ids stay.
///
/// # Errors
/// If nobody or several people match; the message tells the model what to do.
pub(super) fn settle(
    people: &PeopleStore,
    args: &mut Map<String, Value>,
    context: &ToolContext,
) -> Result<(), ToolError> {
    if let Some(message) = args.get_mut("message_id")
        && message.as_str() == Some(REPLIED)
    {
        *message = json!(replied(context)?);
    }
    if let Some(user) = args.get_mut("user_id")
        && chat_number(user).is_none()
        && let Some(words) = user.as_str()
    {
        let seen = people.of_chat(context.place.chat)?;
        *user = json!(person(&seen, context, words)?);
    }
    Ok(())
}

/// Returns the id of the message that the question replies to.
pub(super) fn replied(context: &ToolContext) -> Result<MessageId, ToolError> {
    let message = context.replied.as_ref().map(|replied| replied.message);
    message.ok_or_else(|| {
        let words =
            "the question replies to no message of this chat: ask the person to reply to the one they mean";
        ToolError::ForModel(words.to_owned())
    })
}

/// Returns the Telegram id of the person meant by `words`: a known person, the asker, or the writer of the message replied
/// to.
pub(super) fn person(people: &[KnownPerson], context: &ToolContext, words: &str) -> Result<i64, ToolError> {
    let words = words.trim();
    let id = match words.to_ascii_lowercase().as_str() {
        ASKER => context.speaker.user.telegram_id(),
        REPLIED => {
            replied(context)?;
            context.replied.as_ref().and_then(|replied| replied.writer.as_ref()?.telegram_id())
        }
        _ => match meant(people, words) {
            NameLookup::One(seen) => seen.speaker.user.telegram_id(),
            NameLookup::Several(all) => return Err(ToolError::ForModel(several(words, &all))),
            NameLookup::Nobody => None,
        },
    };
    id.ok_or_else(|| ToolError::ForModel(unknown(words)))
}

fn unknown(words: &str) -> String {
    format!(
        "nobody called {words:?} has written in this chat since the bot came. Telegram lets bots look no username up: only \
         people who wrote here are known. Ask for another name, or to reply to a message of theirs"
    )
}

fn several(words: &str, all: &[&KnownPerson]) -> String {
    let mut listed: Vec<String> = all.iter().take(LISTED).map(|seen| named(seen)).collect();
    if let Some(more) = all.len().checked_sub(LISTED).filter(|more| *more > 0) {
        listed.push(format!("and {more} more"));
    }
    format!("{words:?} may be any of these; ask which: {}", listed.join("; "))
}

/// Formats a person as name and username.
fn named(seen: &KnownPerson) -> String {
    match &seen.speaker.username {
        Some(username) => format!("{} (@{username})", seen.speaker.name),
        None => format!("{} (no username)", seen.speaker.name),
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use figaro_base::ids::UserId;
    use figaro_domain::message::{Replied, Speaker};

    fn seen(id: i64, name: &str, username: Option<&str>) -> KnownPerson {
        let username = username.map(str::to_owned);
        let speaker = Speaker { user: UserId::telegram(id), name: name.to_owned(), username };
        KnownPerson { speaker, seen_at: DateTime::UNIX_EPOCH, posted: Vec::new() }
    }

    #[test]
    fn words_become_ids_or_tell_what_to_do() {
        let people = [seen(4711, "Bob A", Some("bob_a")), seen(4712, "Bob B", None), seen(4713, "Eve", None)];
        let plain = ToolContext::somewhere();
        let reply = |writer| Some(Replied { message: MessageId(7), writer });
        let replying =
            ToolContext { replied: reply(Some(UserId::telegram(4713))), ..ToolContext::somewhere() };
        let nameless = ToolContext { replied: reply(None), ..ToolContext::somewhere() };
        let cases = [
            (&plain, "@bob_a", Ok(4711)),
            (&plain, "eve", Ok(4713)),
            (&plain, "ME", Ok(1)),
            (&replying, "replied", Ok(4713)),
            (&plain, "Bob", Err("Bob A (@bob_a); Bob B (no username)")),
            (&plain, "@nobody", Err("only people who wrote here are known")),
            (&plain, "replied", Err("replies to no message")),
            (&nameless, "replied", Err("only people who wrote here are known")),
        ];
        for (context, words, wanted) in cases {
            match (person(&people, context, words), wanted) {
                (Ok(id), Ok(wanted)) => assert_eq!(id, wanted, "{words}"),
                (Err(ToolError::ForModel(told)), Err(part)) => {
                    assert!(told.contains(part) && !told.contains("471"), "{words}: {told}");
                }
                (got, wanted) => panic!("{words}: {got:?}, not {wanted:?}"),
            }
        }
        let many: Vec<KnownPerson> = (0..30).map(|id| seen(id, &format!("Bob {id}"), None)).collect();
        let Err(ToolError::ForModel(told)) = person(&many, &plain, "bob") else { panic!("one of thirty") };
        assert!(told.ends_with("and 20 more") && told.len() < 500, "{told}");
    }
}
