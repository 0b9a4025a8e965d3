//! Delivers answers to Telegram: converts Markdown to entities, splits at the limit, sends long code as files, and
//! records each confirmed part before the next.

mod attached;
mod business;
mod card;
mod inline;
mod parts;
mod spoken;

use std::sync::Arc;

use async_trait::async_trait;
use figaro_base::tz::Tz;
use tokio_util::sync::CancellationToken;

pub use self::business::DraftDelivery;
use self::card::card_of;
pub use self::inline::{ElsewhereChannel, InlineDelivery};
use self::parts::{parts, plain};
use super::commands::{Clocks, TaskCards, settings_card, undo_card, unreadable_card};
use super::live::Live;
use super::newest::Newest;
use super::outgoing::MESSAGE_UNITS;
use super::send::{Outgoing, Sender, Unsent};
use super::tries::{Tries, pauses};
use figaro_agent::delivery::Delivery;
use figaro_agent::languages::Languages;
use figaro_agent::speech::AnswerSpeech;
use figaro_agent::turn::parked::Parked;
use figaro_base::ids::{MessageId, RunId};
use figaro_domain::delivery::{CardKind, DeliveryEnd, LiveMessage, PendingDelivery};
use figaro_domain::message::Inbound;
use figaro_markup::cut;
use figaro_prompts::texts::Texts;
use figaro_store::{SettingsStore, StoreError, TaskStore, UndoStore};

/// Delivers answers and cards to Telegram chats; the only implementation of [`Delivery`].
#[derive(Debug)]
pub struct TelegramDelivery {
    /// Sends, edits and deletes messages within the rate limits, with retries.
    pub sender: Sender,
    /// Previews of running turns. A turn's preview is stopped before its answer is sent.
    pub live: Arc<Live>,
    /// Texts on buttons and cards, and the language of each chat.
    pub languages: Languages,
    /// Turns whose questions are sent and that wait for an answer.
    pub parked: Parked,
    /// Stored tasks, which task cards show.
    pub tasks: TaskStore,
    /// Settings of chats: their time zones, and the values on settings cards.
    pub settings: SettingsStore,
    /// Records of the calls of turns that can be taken back.
    pub undos: UndoStore,
    /// Time zone of chats without a zone.
    pub default_zone: Tz,
    /// Newest messages of private chats, to decide about quotes.
    pub newest: Newest,
    /// Speaks answers; `None` if no model does.
    pub speech: Option<AnswerSpeech>,
    /// Builds the cards of tasks from their current state.
    pub task_cards: TaskCards,
}

/// Retry limits and stop signal of sending one message.
struct SendAttempt<'a> {
    tries: &'a mut Tries,
    /// Stop by a person; cancels sending at once.
    stop: &'a CancellationToken,
}

/// Position of a message in its delivery, with the live messages that it may reuse.
struct MessageSlot<'a> {
    /// Messages that showed the answer while it was being written.
    live: &'a mut Vec<LiveMessage>,
    /// Position in the delivery, from 0.
    at: usize,
}

/// Outcome of sending the messages of a delivery.
struct SendOutcome {
    /// Fingerprints of all messages of the delivery.
    prints: Vec<u64>,
    /// `true` if Telegram has confirmed all messages.
    is_whole: bool,
    /// Number of confirmed messages, counted from the first.
    sent: usize,
}

#[async_trait]
impl Delivery for TelegramDelivery {
    async fn deliver(&self, delivery: PendingDelivery, stop: &CancellationToken) {
        let mut live = match delivery.card {
            Some(_) => Vec::new(),
            None => match self.live.settle(delivery.run).await {
                Some(live) => live,
                None => return,
            },
        };
        let Some(messages) = self.messages_in_time(&delivery, stop).await else { return };
        self.leave_earlier(&delivery, &messages, &mut live).await;
        let quotes = self.quotes(&delivery, &live);
        let prints: Vec<u64> = messages.iter().map(Outgoing::fingerprint).collect();
        let (mut end, mut sent) = (DeliveryEnd::Whole, delivery.confirmed.len());
        let mut repeated = delivery.repeats;
        let last = messages.len().saturating_sub(1);
        for (at, mut message) in messages.into_iter().enumerate().skip(delivery.confirmed.len()) {
            message.reply_to = message.reply_to.filter(|_| quotes);
            let mut tries = Tries::of(&delivery, self.sender.clock.now(), std::mem::take(&mut repeated));
            let slot = MessageSlot { live: &mut live, at };
            match self.send(&delivery, message, slot, SendAttempt { tries: &mut tries, stop }).await {
                Ok(id) => {
                    self.parked.shown(delivery.run, id);
                    self.confirm(&delivery, id, at == last).await;
                    if at == last {
                        let print = prints.get(at).copied().unwrap_or_default();
                        self.note_card(&delivery, id, print, last == 0).await;
                    }
                    sent = at + 1;
                }
                Err(Unsent::Stopped) => {
                    end = DeliveryEnd::Stopped;
                    break;
                }
                Err(Unsent::Stopping) => return,
                Err(Unsent::Unclear(words)) => {
                    let chat = delivery.place.chat;
                    tracing::error!(run = %delivery.run, %chat, words, "an answer may not have arrived; giving it up");
                    end = DeliveryEnd::Unclear;
                    break;
                }
                Err(Unsent::Hopeless(words)) => {
                    self.refused(&delivery, &words).await;
                    end = DeliveryEnd::Refused;
                    break;
                }
            }
        }
        let came = SendOutcome { prints, is_whole: end == DeliveryEnd::Whole, sent };
        if self.clear(&delivery, live, &came, stop).await == Err(Unsent::Stopping) {
            return;
        }
        if let Err(error) = self.sender.outbox.end_delivery(delivery.id, end, self.sender.clock.now()) {
            tracing::error!(%error, run = %delivery.run, "a finished delivery could not be recorded; it may be repeated");
        }
    }

    async fn has_shown(&self, run: RunId) -> bool {
        self.live.settle(run).await.is_some_and(|live| live.iter().any(|live| !live.is_earlier()))
    }

    async fn withdraw(&self, run: RunId) {
        let Some(mut live) = self.live.settle(run).await else { return };
        // An earlier answer stays if no other takes its place.
        live.retain(|live| !live.is_earlier());
        if let Err(unsent) = self.sender.take_back(&mut live, 0, &CancellationToken::new()).await {
            tracing::warn!(%run, ?unsent, "what was shown of a turn stays until the next start");
        }
    }

    async fn decline(&self, message: &Inbound, words: &str) {
        let place = &message.place;
        if place.is_group() {
            if let Some(message) = message.origin.message() {
                self.sender.shrug(place, message).await;
            }
            return;
        }
        let words = Outgoing { content: plain(words), ..Outgoing::default() };
        let done = self.sender.send(place, &words, &CancellationToken::new()).await;
        if let Err(unsent) = done {
            tracing::warn!(chat = %place.chat, ?unsent, "that a message was not answered could not be shown");
        }
    }
}

impl TelegramDelivery {
    /// If the turn ended before its answer and its first live message differs from the first message to send, keeps
    /// the live messages, because people have read them; the new messages follow.
    async fn leave_earlier(
        &self,
        delivery: &PendingDelivery,
        messages: &[Outgoing],
        live: &mut Vec<LiveMessage>,
    ) {
        let first = messages.first().map(Outgoing::as_part);
        let shown = live.first().and_then(|live| live.shown);
        if !delivery.early || shown.is_none() || shown == first.map(|first| first.fingerprint()) {
            return;
        }
        live.clear();
        if let Err(error) = self.sender.outbox.forget_live(delivery.run, 0).await {
            tracing::error!(%error, run = %delivery.run, "messages that stay could not be forgotten");
        }
    }

    /// Deals with a message that Telegram refuses for good.
    async fn refused(&self, delivery: &PendingDelivery, words: &str) {
        if delivery.card == Some(CardKind::Spoken) {
            return self.unspoken(delivery, words).await;
        }
        let chat = delivery.place.chat;
        tracing::error!(run = %delivery.run, %chat, words, "Telegram will not take an answer; giving it up");
    }

    /// Deletes live messages that are not part of the answer: those after its last message or, if it was not
    /// delivered completely, those in a private chat that show something else.
    async fn clear(
        &self,
        delivery: &PendingDelivery,
        mut live: Vec<LiveMessage>,
        SendOutcome { prints, is_whole, sent }: &SendOutcome,
        stop: &CancellationToken,
    ) -> Result<(), Unsent> {
        if *is_whole {
            return self.sender.take_back(&mut live, prints.len(), stop).await;
        }
        let is_part = |live: &LiveMessage| {
            let print = usize::try_from(live.index).ok().and_then(|at| prints.get(at));
            live.shown.is_some() && live.shown.as_ref() == print
        };
        live.retain(|live| !is_part(live) && usize::try_from(live.index).is_ok_and(|at| at >= *sent));
        if delivery.place.is_group() {
            return Ok(());
        }
        self.sender.take_back(&mut live, 0, &CancellationToken::new()).await
    }

    /// Returns the messages of a delivery, with retries; `None` if the bot stops first.
    async fn messages_in_time(
        &self,
        delivery: &PendingDelivery,
        stop: &CancellationToken,
    ) -> Option<Vec<Outgoing>> {
        let mut pauses = pauses();
        loop {
            if let Some(messages) = self.messages(delivery).await {
                return Some(messages);
            }
            let pause = tokio::time::sleep(pauses.next().unwrap_or_default());
            self.sender.unless_stopping(pause, stop).await.ok()?;
        }
    }

    /// Returns the messages of a delivery: the first quotes the question, the last has the buttons. `None` if they
    /// cannot be built now.
    async fn messages(&self, delivery: &PendingDelivery) -> Option<Vec<Outgoing>> {
        let language = self.languages.of(delivery.place.chat, delivery.language.as_deref());
        let texts = self.languages.locales.of(language.as_deref());
        let card = match delivery.card {
            Some(card) => card,
            None => return self.with_attached(delivery, parts(texts, delivery)),
        };
        match card {
            CardKind::Task(task) => self
                .task_card(task, &card_of(delivery))
                .map(|card| card.map(super::commands::Card::outgoing).into_iter().collect()),
            CardKind::Settings => self.settings_card(delivery.run, texts),
            CardKind::Undo => self.undo_card(delivery.run, texts),
            CardKind::Spoken => self.spoken(delivery).await,
            CardKind::Zone => match self.settings.chat_config(delivery.place.chat) {
                // The zone has been set meanwhile.
                Ok(config) if config.timezone.is_some() => Some(Vec::new()),
                Ok(_) => {
                    let now = self.sender.clock.now();
                    let clocks = Clocks { texts, language: language.as_deref(), now };
                    Some(vec![clocks.question(&delivery.place, self.default_zone).outgoing()])
                }
                Err(error) => {
                    tracing::error!(%error, label = error.label(), "a chat could not be asked for its time zone");
                    None
                }
            },
        }
    }

    /// Returns the card of the settings that a turn changed; `None` if the store fails.
    fn settings_card(&self, run: RunId, texts: &Texts) -> Option<Vec<Outgoing>> {
        match self.settings.config_change(run) {
            Ok(change) => {
                let now = self.sender.clock.now();
                let card = |change| settings_card(texts, &change, self.default_zone, now).outgoing();
                Some(change.map(card).into_iter().collect())
            }
            // The record will not be readable later either. The card still tells that something was changed.
            Err(StoreError::Record { what }) => {
                tracing::error!(what, "what a turn changed of settings cannot be read");
                Some(vec![unreadable_card(texts).outgoing()])
            }
            Err(error) => {
                tracing::error!(%error, label = error.label(), "a change of settings could not be shown");
                None
            }
        }
    }

    /// Returns the card of the calls that can be taken back; no message if they no longer can, `None` if the store
    /// fails.
    fn undo_card(&self, run: RunId, texts: &Texts) -> Option<Vec<Outgoing>> {
        let undo = self.undos.find(run);
        let undo = undo.inspect_err(|error| {
            tracing::error!(%error, label = error.label(), "what can be taken back could not be shown");
        });
        Some(undo.ok()?.map(|undo| undo_card(texts, &undo).outgoing()).into_iter().collect())
    }

    async fn send(
        &self,
        delivery: &PendingDelivery,
        message: Outgoing,
        slot: MessageSlot<'_>,
        SendAttempt { tries, stop }: SendAttempt<'_>,
    ) -> Result<MessageId, Unsent> {
        let (place, sender) = (&delivery.place, &self.sender);
        if let Some(otherwise) = &delivery.otherwise {
            return match sender.deliver(place, &message, tries, stop).await {
                Err(Unsent::Hopeless(words)) => {
                    tracing::info!(run = %delivery.run, words, "someone cannot be told in private; telling their chat");
                    sender.deliver(otherwise, &message, tries, stop).await
                }
                sent => sent,
            };
        }
        if let Some(id) = self.standing(&message, slot, stop).await? {
            return Ok(id);
        }
        match sender.deliver(place, &message, tries, stop).await {
            Err(Unsent::Hopeless(words)) if message.file.is_some() || message.rich.is_some() => {
                tracing::warn!(run = %delivery.run, words, "Telegram refused a file or rich message; sending text");
                self.as_texts(delivery, message, tries, stop).await
            }
            sent => sent,
        }
    }

    /// Reuses the live message at this position if it shows the message or can be edited to. Otherwise deletes the
    /// live messages from there on, so that new messages come after the remaining ones.
    async fn standing(
        &self,
        message: &Outgoing,
        MessageSlot { live, at }: MessageSlot<'_>,
        stop: &CancellationToken,
    ) -> Result<Option<MessageId>, Unsent> {
        let there = live.iter().find(|live| usize::try_from(live.index) == Ok(at)).copied();
        if let Some(there) = there {
            let is_shown = there.shown == Some(message.fingerprint());
            // A text message cannot be turned into a document.
            if is_shown || (message.file.is_none() && self.sender.amend(there, message, stop).await?) {
                return Ok(Some(there.message));
            }
        }
        self.sender.take_back(live, at, stop).await?;
        Ok(None)
    }

    /// Sends text if a file with code or a rich message was refused. Its messages are one part of the answer, known by the last message,
    /// because the number of parts must not depend on what Telegram accepts. Of a task, which has a limit of parts, code
    /// is one message.
    async fn as_texts(
        &self,
        delivery: &PendingDelivery,
        Outgoing { content, file, rich, mut reply_to, mut buttons, author, .. }: Outgoing,
        tries: &mut Tries,
        stop: &CancellationToken,
    ) -> Result<MessageId, Unsent> {
        let mut texts = file.map(|file| file.into_texts(MESSAGE_UNITS)).unwrap_or_default();
        if let Some(rich) = rich {
            texts = rich.instead;
        } else if !content.text.is_empty() {
            texts = vec![content];
        } else if delivery.task.is_some() && texts.len() > 1 {
            texts = vec![cut(texts, MESSAGE_UNITS)];
        }
        let mut texts = texts.into_iter().peekable();
        let mut last = Err(Unsent::Hopeless("there is no text".to_owned()));
        while let Some(content) = texts.next() {
            let buttons = if texts.peek().is_none() { std::mem::take(&mut buttons) } else { Vec::new() };
            let reply_to = reply_to.take();
            let message = Outgoing { content, reply_to, buttons, author, ..Outgoing::default() };
            last = Ok(self.sender.deliver(&delivery.place, &message, tries, stop).await?);
        }
        last
    }

    /// Returns `true` if the answer quotes its question. In a private chat it does only if newer messages follow the
    /// question and no part of the answer is shown yet.
    fn quotes(&self, delivery: &PendingDelivery, live: &[LiveMessage]) -> bool {
        let is_behind = |question| self.newest.is_behind(delivery.place.chat, question);
        delivery.place.is_group() || (live.is_empty() && delivery.reply_to.is_some_and(is_behind))
    }

    async fn confirm(&self, delivery: &PendingDelivery, message: MessageId, is_last: bool) {
        self.newest.note(&delivery.place, message);
        if let Err(error) = self.sender.outbox.confirm_part(delivery.id, message, is_last).await {
            tracing::error!(%error, run = %delivery.run, "a sent part could not be recorded; it may be repeated");
        }
    }
}
