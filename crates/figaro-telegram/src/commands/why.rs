//! `/why`, as a reply to a message: tells why it was or was not answered, and how the answer came about. Without a
//! reply it is about the asker's last message. An owner may name a turn by its id, for example of a question over
//! HTTP.

use async_trait::async_trait;
use chrono::Datelike;
use figaro_base::tz::Tz;
use serde_json::{Value, json};

use super::asker::Asker;
use super::card::Card;
use super::cards::Cards;
use super::command::{
    Command, CommandOutcome, CommandRequest, CommandSpec, Group, Press, PressError, Pressed,
};
use super::handles::Handles;
use crate::api::GetMe;
use crate::callback::{ButtonFamily, WhyButton};
use crate::inbound::Me;
use crate::kinds::{self, UpdateHandling};
use figaro_agent::explain::{ExplainedMessage, ExplainedSection, Explainer, ExplanationReader};
use figaro_base::ids::{MessageId, RunId, UserId};
use figaro_base::text::one_line;
use figaro_domain::message::Quoted;
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{SettingsStore, StoreError};

/// Maximum length of the message in the title, of a memory and of a pin, in characters.
const WORDS_CHARS: usize = 60;
/// Maximum number of lines of a section.
const MAX_LINES: usize = 6;

/// Explains why a message was or was not answered.
#[derive(Debug)]
pub(super) struct WhyCommand {
    cards: Cards,
    me: Me,
    explainer: Explainer,
    settings: SettingsStore,
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
            let kind = of_kind(texts, &named.to_lowercase());
            return Ok(Card::text(kind.unwrap_or_else(|| texts.why_no_turn().to_owned())).into());
        }
        let conversation = asker.place.conversation();
        let found = match (run, replied.and_then(|quoted| quoted.message)) {
            (Some(run), _) => self.explainer.turn(run)?,
            (None, Some(message)) => self.explainer.find(conversation, message)?,
            (None, None) => {
                let before = asker.message.unwrap_or(MessageId(i64::MAX));
                self.explainer.last(conversation, &asker.speaker.user, before)?
            }
        };
        Ok(match found {
            Some(subject) => self.known(asker, &subject, run.is_none() && replied.is_none()).await?,
            None if run.is_some() => Card::text(self.cards.texts(asker).why_no_turn()),
            None => self.unknown(asker, replied).await,
        }
        .into())
    }

    async fn press(&self, press: &Press<'_>) -> Result<Pressed, PressError> {
        let WhyButton(message) = press.data.parse()?;
        let asker = press.asker;
        let found = self.explainer.find(asker.place.conversation(), message)?;
        let Some(subject) = found else { return Ok(Pressed::Stale) };
        Ok(Pressed::card(self.known(asker, &subject, false).await?))
    }
}

impl WhyCommand {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            me: handles.me.clone(),
            explainer: handles.explainer.clone(),
            settings: handles.store.settings(),
            default_zone: handles.default_zone,
        }
    }

    /// Returns the card about a message. For the asker's last message, it also tells that Telegram may hide newer
    /// ones.
    async fn known(
        &self,
        asker: &Asker,
        subject: &ExplainedMessage,
        is_last: bool,
    ) -> Result<Card, StoreError> {
        let texts = self.cards.texts(asker);
        let reader = ExplanationReader {
            user: &asker.speaker.user,
            is_owner: asker.standing == Standing::Owner,
            is_alone: !asker.place.is_group(),
            chat: asker.place.chat,
            texts,
            chars: WORDS_CHARS,
        };
        let Some(explained) = self.explainer.explain(&reader, subject)? else {
            return Ok(Card::text(texts.why_not_yours()));
        };
        let mut lines = vec![explained.reason];
        lines.extend(explained.sections.into_iter().flat_map(section));
        if is_last {
            lines.extend(self.hidden(asker, texts).await);
        }
        let zone = self.settings.chat_config(asker.place.chat)?.timezone.unwrap_or(self.default_zone);
        let year = self.cards.now().with_timezone(&zone).year();
        let time = texts.dated(&explained.began.with_timezone(&zone), year);
        let title = fill(texts.why_title(), &[("time", &time)]);
        let words = explained.question.map(|question| one_line(&question, WORDS_CHARS));
        let words =
            words.filter(|words| !words.is_empty()).map(|words| format!(": {}", texts.in_quotes(&words)));
        Ok(Card::titled(&format!("{title}{}", words.unwrap_or_default()), lines.join("\n")))
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

/// Returns what the bot does about updates of this kind; `None` if the Bot API has no such kind.
fn of_kind(texts: &Texts, kind: &str) -> Option<String> {
    Some(match kinds::handling(kind)? {
        UpdateHandling::Used => fill(texts.why_kind_used(), &[("kind", kind)]),
        UpdateHandling::NotAsked(why) => {
            let reason = texts.get(why).unwrap_or(why);
            fill(texts.why_kind_unused(), &[("kind", kind), ("reason", reason)])
        }
    })
}

/// Returns the heading of a section with its lines, shortened to [`MAX_LINES`].
fn section(section: ExplainedSection) -> Vec<String> {
    let ExplainedSection { heading, lines } = section;
    if heading.is_empty() {
        return lines;
    }
    let more = lines.len().saturating_sub(MAX_LINES);
    let shown = lines.into_iter().take(MAX_LINES).map(|line| format!("• {line}"));
    let rest = (more > 0).then(|| format!("• … +{more}"));
    std::iter::once(heading).chain(shown).chain(rest).collect()
}
