//! `/summary`: has the model sum up what was said in a group since the asker's last message, or in a private chat so far.

use async_trait::async_trait;
use chrono::TimeDelta;

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{Command, CommandOutcome, CommandRequest, CommandSpec, Group};
use super::handles::Handles;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::Job;
use figaro_agent::turn::rights::LAST_MESSAGES;
use figaro_domain::catch_up::{CatchUp, KEPT_BACKGROUND, SentAt};
use figaro_domain::message::Inbound;
use figaro_domain::said_since::{is_own, position};
use figaro_prompts::texts::Texts;
use figaro_store::{ConversationStore, StoreError};

/// Asks the model for a summary of the newest messages.
#[derive(Debug)]
pub(super) struct SummaryCommand {
    cards: Cards,
    conversations: ConversationStore,
}

#[async_trait]
impl Command for SummaryCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("summary", Texts::command_summary).group(Group::Chat).begins_turn().arguments(&[
            ("NUMBER", "of the last messages, such as 50"),
            ("TIME", "of what was said in this time: 30m, 2h or 3d"),
        ])
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        let (asker, argument) = (request.asker, request.argument());
        let texts = self.cards.texts(asker);
        let everything = CatchUp { after: None, newest: KEPT_BACKGROUND, username: None };
        let all = self.said(asker, &everything)?;
        let about = match SummarySpan::read(argument) {
            Some(SummarySpan::Unread) => {
                let last = all.iter().rev().find(|one| one.speaker.user == asker.speaker.user);
                CatchUp { after: last.filter(|_| asker.place.is_group()).map(position), ..everything }
            }
            Some(SummarySpan::Newest(newest)) => CatchUp { newest, ..everything },
            Some(SummarySpan::Within(time)) => {
                CatchUp { after: Some(SentAt::before(self.cards.now() - time)), ..everything }
            }
            None => return Ok(Card::text(texts.summary_form()).into()),
        };
        let said = about.of(all, &[], &asker.place);
        if !said.iter().any(|one| !one.is_event() && !is_own(one)) {
            return Ok(Card::text(texts.summary_nothing()).into());
        }
        let username = match asker.place.message_links(None) {
            Some(_) => self.cards.names_of(asker.place.chat).await.1,
            None => None,
        };
        let part = Inbound {
            text: texts.summary_request().to_owned(),
            about: Some(CatchUp { username, ..about }),
            mentioned: true,
            learns: false,
            ..request.message.clone()
        };
        Ok(CommandOutcome::Job(Box::new(Job::Ask(Question::new(part, asker.standing)))))
    }
}

impl SummaryCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self { cards: handles.cards.clone(), conversations: handles.store.conversations() }
    }

    /// Returns the messages that a turn would show for this range, oldest first.
    fn said(&self, asker: &Asker, about: &CatchUp) -> Result<Vec<Inbound>, StoreError> {
        let (conversation, epoch) = (asker.place.conversation(), chrono::DateTime::UNIX_EPOCH);
        let background = self.conversations.background(conversation, epoch, KEPT_BACKGROUND)?;
        let session = self.conversations.session(conversation, self.cards.now())?;
        let stored = self.conversations.recent(session.id, LAST_MESSAGES)?;
        Ok(about.of(background, &stored, &asker.place))
    }
}

/// Messages that the argument of the command asks for.
#[derive(Debug, PartialEq, Eq)]
enum SummarySpan {
    /// Those since the asker's last message, or all in a private chat.
    Unread,
    /// This many of the newest.
    Newest(usize),
    /// Those of the last time.
    Within(TimeDelta),
}

impl SummarySpan {
    /// Reads an argument; `None` if it is none of the forms.
    fn read(argument: &str) -> Option<Self> {
        let argument = argument.trim().to_lowercase();
        if argument.is_empty() {
            return Some(Self::Unread);
        }
        let (number, unit) =
            argument.split_at(argument.find(|c: char| !c.is_ascii_digit()).unwrap_or(argument.len()));
        let number: u16 = number.parse().ok().filter(|number| *number > 0)?;
        let number = i64::from(number);
        match unit.trim() {
            "" => Some(Self::Newest(usize::try_from(number).ok()?.min(KEPT_BACKGROUND))),
            "m" | "min" => Some(Self::Within(TimeDelta::minutes(number))),
            "h" => Some(Self::Within(TimeDelta::hours(number))),
            "d" => Some(Self::Within(TimeDelta::days(number))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_a_number_or_a_time() {
        let cases = [
            ("", Some(SummarySpan::Unread)),
            ("50", Some(SummarySpan::Newest(50))),
            ("5000", Some(SummarySpan::Newest(KEPT_BACKGROUND))),
            ("30m", Some(SummarySpan::Within(TimeDelta::minutes(30)))),
            ("2 H", Some(SummarySpan::Within(TimeDelta::hours(2)))),
            ("3d", Some(SummarySpan::Within(TimeDelta::days(3)))),
            ("0", None),
            ("-1", None),
            ("99999999h", None),
            ("h", None),
            ("yesterday", None),
        ];
        for (argument, span) in cases {
            assert_eq!(SummarySpan::read(argument), span, "{argument}");
        }
    }
}
