//! `/why`, as a reply to a message: tells why it was or was not answered, and how the answer came about. Without a
//! reply it is about the asker's last message. An owner may name a turn by its id, for example of a question over
//! HTTP. Members get details only of their own messages, and of what everybody in a group can see; owners of all
//! messages, except the memories of others.

mod details;
mod finder;
mod observed;
mod reasons;

use async_trait::async_trait;
use chrono::Datelike;
use figaro_base::tz::Tz;
use serde_json::{Value, json};

use self::details::Details;
use self::finder::{ExplainedMessage, Finder};
use self::reasons::Now;
use super::asker::Asker;
use super::card::{Card, explain_unknown};
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use crate::api::GetMe;
use crate::callback::{ButtonFamily, WhyButton};
use crate::inbound::Me;
use figaro_agent::turn::parked::Parked;
use figaro_agent::turn::queue::Mailboxes;
use figaro_base::ids::{RunId, UserId};
use figaro_base::text::one_line;
use figaro_domain::message::Quoted;
use figaro_domain::reception::Reception;
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{SettingsStore, StoreError};

/// Maximum length of the message in the title, in characters.
const WORDS_CHARS: usize = 60;

/// Explains why a message was or was not answered.
#[derive(Debug)]
pub(super) struct WhyCommand {
    cards: Cards,
    me: Me,
    finder: Finder,
    details: Details,
    settings: SettingsStore,
    parked: Parked,
    mailboxes: Mailboxes,
    default_zone: Tz,
}

#[async_trait]
impl Command for WhyCommand {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("why", Texts::command_why).group(Group::Chat).families(&[WhyButton::NAME]).arguments(
            &[
                ("TURN", "explain the turn with this id of the log; only for owners"),
                ("KIND", "tell what I do with updates of this kind, such as `chat_boost`; only for owners"),
            ],
        )
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        let asker = request.asker;
        let replied = request.message.quotes.as_deref().filter(|quoted| quoted.message.is_some());
        // Ids of turns appear in the log and in HTTP answers.
        let named = if asker.standing == Standing::Owner { request.argument() } else { "" };
        let run = named.parse::<RunId>().ok();
        if !named.is_empty() && run.is_none() {
            let texts = self.cards.texts(asker);
            let kind = reasons::kind(texts, &named.to_lowercase());
            return Ok(Card::text(kind.unwrap_or_else(|| texts.why_no_turn().to_owned())).into());
        }
        let found = match (run, replied.and_then(|quoted| quoted.message)) {
            (Some(run), _) => self.finder.turn(run)?,
            (None, Some(message)) => self.finder.find(asker, message)?,
            (None, None) => self.finder.last(asker)?,
        };
        Ok(match found {
            Some(subject) => {
                self.known(asker, &subject, run.is_some(), run.is_none() && replied.is_none()).await?
            }
            None if run.is_some() => Card::text(self.cards.texts(asker).why_no_turn()),
            None => self.unknown(asker, replied).await,
        }
        .into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let WhyButton(message) = press.data.parse()?;
        let Some(subject) = self.finder.find(press.asker, message)? else { return Ok(Pressed::Stale) };
        Ok(Pressed::card(self.known(press.asker, &subject, false, false).await?))
    }
}

impl WhyCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            me: handles.me.clone(),
            finder: Finder::new(handles),
            details: Details::new(handles),
            settings: handles.store.settings(),
            parked: handles.parked.clone(),
            mailboxes: handles.mailboxes.clone(),
            default_zone: handles.default_zone,
        }
    }

    /// Returns the card about a message. For the asker's last message, it also tells that Telegram may hide newer
    /// ones.
    async fn known(
        &self,
        asker: &Asker,
        subject: &ExplainedMessage,
        is_named: bool,
        is_last: bool,
    ) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let is_own = subject.writer() == Some(&asker.speaker.user);
        let sees = is_own || asker.standing == Standing::Owner;
        let what = subject.received.as_ref().map_or(Reception::Asked, |received| received.what);
        let is_public = what.is_public() && subject.exchange.is_none();
        if !(sees || is_public) {
            return Ok(Card::text(texts.why_not_yours()));
        }
        let asked = subject.exchange.as_ref().and_then(|exchange| exchange.question.first());
        let began = asked.map(|question| question.created_at);
        let began = began.or_else(|| subject.received.as_ref().map(|received| received.at));
        let began = began.unwrap_or_else(|| self.cards.now());
        let config = self.settings.chat_config(asker.place.chat)?;
        // A turn named by its id may belong to another chat, an HTTP client or a task.
        let answered = match subject.received.is_some() && !is_named {
            true => reasons::answers(texts, &asker.place, config.answer_when),
            false => texts.why_answered(),
        };
        let mut lines = vec![self.reason(asker, subject, what, answered)];
        if sees {
            lines.extend(self.details.lines(asker, texts, subject, began)?);
        }
        if is_last {
            lines.extend(self.hidden(asker, texts).await);
        }
        explain_unknown(&mut lines, texts);
        let zone = config.timezone.unwrap_or(self.default_zone);
        let year = self.cards.now().with_timezone(&zone).year();
        let time = texts.dated(&began.with_timezone(&zone), year);
        let title = fill(texts.why_title(), &[("time", &time)]);
        let words = asked.filter(|_| is_own).map(|question| one_line(&question.text, WORDS_CHARS));
        let words =
            words.filter(|words| !words.is_empty()).map(|words| format!(": {}", texts.in_quotes(&words)));
        Ok(Card::titled(&format!("{title}{}", words.unwrap_or_default()), lines.join("\n")))
    }

    fn reason(&self, asker: &Asker, subject: &ExplainedMessage, what: Reception, answered: &str) -> String {
        let texts = self.cards.texts(asker);
        if what != Reception::Asked && subject.exchange.is_none() {
            return reasons::received(texts, &self.me, what);
        }
        let now = Now {
            is_running: self.mailboxes.running().contains(&asker.place.conversation()),
            waits: subject.trace().is_some_and(|trace| self.parked.waits(trace.run)),
        };
        reasons::turn(texts, subject, now, answered, asker)
    }

    /// Returns the card for an unknown message: it was never received, or was erased.
    async fn unknown(&self, asker: &Asker, replied: Option<&Quoted>) -> Card {
        let texts = self.cards.texts(asker);
        let is_mine = |quoted: &Quoted| quoted.writer == Some(UserId::telegram(self.me.id.0));
        let words = match replied {
            Some(quoted) if is_mine(quoted) => texts.why_mine(),
            Some(quoted) if !quoted.from_person => texts.why_no_person(),
            Some(_) => texts.why_never(),
            None => texts.why_none(),
        };
        let is_mine = replied.is_some_and(is_mine);
        let hidden = if is_mine { None } else { self.hidden(asker, texts).await };
        Card::text([Some(words.to_owned()), hidden].into_iter().flatten().collect::<Vec<_>>().join("\n\n"))
    }

    /// Returns the note that Telegram hides messages of a group from the bot, and how to change that; `None` if it
    /// hides nothing. Asks Telegram, because the setting may have changed since the start.
    async fn hidden(&self, asker: &Asker, texts: &Texts) -> Option<String> {
        if !asker.place.is_group() {
            return None;
        }
        let api = &self.cards.sender.api;
        let me = api.call(GetMe(json!({}))).await.unwrap_or(Value::Null);
        let reads_all = me.get("can_read_all_group_messages").and_then(Value::as_bool);
        if reads_all.unwrap_or(self.me.reads_all) {
            return None;
        }
        let is_admin = self.cards.admins.is_admin(asker.place.chat, &UserId::telegram(self.me.id.0)).await;
        (!is_admin).then(|| texts.why_privacy().to_owned())
    }
}
