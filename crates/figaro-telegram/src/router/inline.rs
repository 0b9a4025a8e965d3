//! Questions from chats that the bot is no member of: inline queries, their chosen results, and guest messages. They have
//! the rights of a guest: nothing acts where nobody could be asked.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Arrival, Router, UpdateFate};
use crate::api::{AnswerGuestQuery, AnswerInlineQuery};
use crate::callback::InlineButton;
use crate::commands::notices::{self, PressRefusal};
use crate::inbound::{self, speaker_of};
use crate::inline::{InlineAnswer, InlineContent, Offers, guest_result, with_question};
use crate::views::{CallbackView, ChosenResultView, InlineQueryView, MessageView, UserView};
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::{Job, QueuedJob};
use figaro_agent::turn::requested::Requested;
use figaro_base::ids::{ChatId, RequestId, UpdateId, UserId};
use figaro_domain::agent::DEFAULT_TENANT;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::conversation::ConversationId;
use figaro_domain::message::{Inbound, Speaker};
use figaro_domain::origin::Origin;
use figaro_markup::Formatted;
use figaro_policy::access::{Standing, Verdict, judge};
use figaro_prompts::texts::Texts;
use figaro_store::StoreError;

/// Instructions for the model, beside its own.
const ELSEWHERE: &str = "You are asked from another chat, which you cannot see and whose members read your answer. Answer \
    at once and in one message of at most 3000 characters.";

/// Questions whose answers have a message.
struct AskedElsewhere {
    part: Inbound,
    /// `inline_message_id` of the message for the answer.
    message: String,
    /// Question to show above the answer; empty if it stands in the chat.
    question: Formatted,
}

impl Router {
    /// Offers to ask what a person types. Of several queries, only the newest is answered, one at a time.
    pub(super) fn typed(self: &Arc<Self>, query: InlineQueryView) -> UpdateFate {
        let user = UserId::telegram(query.from.id);
        if self.inline.types(user.clone(), query) {
            let this = Arc::clone(self);
            self.background.spawn("inline_query", async move {
                while let Some(query) = this.inline.next_query(&user) {
                    this.offer_results(&user, query).await;
                }
            });
        }
        UpdateFate::Settled
    }

    async fn offer_results(&self, user: &UserId, query: InlineQueryView) {
        let cards = &self.commands.cards;
        let texts = cards.languages.texts(ChatId(query.from.id), query.from.language_code.as_deref());
        let (conversations, sessions) = (&self.conversations, &self.sessions);
        let offers = Offers { texts, name: &self.me.name, conversations, sessions };
        let offered = match self.standing_of(user) {
            Ok(Some(_)) => offers.of(&self.inline, user, &query.query),
            Ok(None) => Ok(offers.none()),
            Err(error) => Err(error),
        };
        let mut body = match offered {
            Ok(body) => body,
            Err(error) => return tracing::error!(%error, "an inline query could not be answered"),
        };
        body["inline_query_id"] = json!(query.id);
        if let Err(error) = cards.sender.api.call(AnswerInlineQuery(body)).await {
            tracing::debug!(%error, "an inline query was answered too late");
        }
    }

    /// Answers the question of a result that a person sent.
    pub(super) async fn chosen(
        self: &Arc<Self>,
        id: UpdateId,
        chosen: ChosenResultView,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let Some(message) = chosen.inline_message_id else {
            return Ok(UpdateFate::Dropped("an_answer_was_sent"));
        };
        self.ask_inline(self.inline_part(id, &chosen.from, chosen.query), message, arrival).await
    }

    /// Answers a message that mentions the bot in a chat that it is no member of. Telegram takes one answer, soon; it then
    /// grows by edits.
    pub(super) async fn guest(
        self: &Arc<Self>,
        id: UpdateId,
        view: &MessageView,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let Some((query, read)) =
            view.part::<Option<String>>("guest_query_id").zip(inbound::read(id, view, &self.me))
        else {
            return Ok(UpdateFate::Dropped("no_person"));
        };
        let Some(_) = self.standing_of(&read.speaker.user)? else {
            return Ok(UpdateFate::Dropped("stranger"));
        };
        let known: Option<String> = view.part("inline_message_id");
        let message = match known {
            Some(message) => message,
            None => match self.answer_guest(id, &query, &read).await? {
                Some(message) => message,
                None => return Ok(UpdateFate::Dropped("answered_or_too_late")),
            },
        };
        let part = Inbound {
            origin: Origin::Inline { update: id },
            place: alone(&read.speaker),
            learns: false,
            mentioned: true,
            joins: None,
            ..read
        };
        self.ask_elsewhere(AskedElsewhere { part, message, question: Formatted::default() }, arrival).await
    }

    /// Sends the one answer to a guest message. Returns its message; `None` if Telegram does not take it.
    async fn answer_guest(
        &self,
        id: UpdateId,
        query: &str,
        read: &Inbound,
    ) -> Result<Option<String>, StoreError> {
        let texts = self.inline_texts(&read.speaker, read.client.as_deref());
        let body = json!({"guest_query_id": query, "result": guest_result(texts, &self.me.name)});
        let sent = match self.commands.cards.sender.api.call(AnswerGuestQuery(body)).await {
            Ok(sent) => sent,
            Err(error) => {
                tracing::warn!(%error, "a guest message could not be answered");
                return Ok(None);
            }
        };
        let Some(message) = sent.get("inline_message_id").and_then(Value::as_str) else { return Ok(None) };
        self.inbox.note_guest_answer(id, message).await?;
        Ok(Some(message.to_owned()))
    }

    /// Handles a press of a button of an answer elsewhere, by whoever reads it.
    pub(super) async fn press_inline(
        self: &Arc<Self>,
        id: UpdateId,
        pressed: CallbackView,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let (user, data) = (UserId::telegram(pressed.from.id), pressed.data.as_deref().unwrap_or_default());
        let message = pressed.inline_message_id.clone().unwrap_or_default();
        let writing = self.inline.in_message(&message);
        let (asker, words) = match (data.parse(), &writing) {
            (Ok(InlineButton::Stop), Some(writing)) => (writing.asker.clone(), None),
            (Ok(InlineButton::Answer(_)), Some(writing)) => (writing.asker.clone(), None),
            (Ok(InlineButton::Answer(number)), None) => match self.inline.offered(number) {
                Some((asker, words)) => (asker, Some(words)),
                None => return Ok(self.told(pressed, PressRefusal::Gone)),
            },
            (Ok(InlineButton::Stop), None) | (Err(_), _) => return Ok(self.told(pressed, PressRefusal::Gone)),
        };
        if asker != user {
            return Ok(self.told(pressed, PressRefusal::Others));
        }
        let stops = data.parse() == Ok(InlineButton::Stop);
        if let Some(writing) = writing.filter(|_| stops) {
            writing.stop();
            self.stop_inline(&writing).await;
        }
        let this = Arc::clone(self);
        let query = pressed.id.clone();
        self.background.spawn("inline_press", async move { this.commands.cards.answer(&query, None).await });
        match words {
            Some(words) => {
                self.ask_inline(self.inline_part(id, &pressed.from, words), message, arrival).await
            }
            None => Ok(UpdateFate::Settled),
        }
    }

    /// Stops an answer, also before its turn has begun.
    async fn stop_inline(&self, writing: &InlineAnswer) {
        if self.mailboxes.stop(writing.conversation).is_some() {
            return;
        }
        if self.mailboxes.withdraw(writing.conversation, writing.request) {
            let texts = self.commands.cards.languages.locales.of(writing.language.as_deref());
            self.end_inline(writing, texts.stop_done()).await;
            if let Some(update) = self.inline.end(writing.conversation) {
                self.settle(&[update]).await;
            }
        }
    }

    fn told(self: &Arc<Self>, pressed: CallbackView, why: PressRefusal) -> UpdateFate {
        self.refuse_press(Box::new(pressed), why);
        UpdateFate::Settled
    }

    async fn ask_inline(
        self: &Arc<Self>,
        part: Inbound,
        message: String,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let question = crate::inline::quotation(&part.text);
        self.ask_elsewhere(AskedElsewhere { part, message, question }, arrival).await
    }

    /// Puts a question into the queue; its answer goes into the message.
    async fn ask_elsewhere(
        self: &Arc<Self>,
        AskedElsewhere { mut part, message, question }: AskedElsewhere,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let (user, request) = (part.speaker.user.clone(), RequestId::new());
        let conversation = ConversationId::alone(part.place.chat, request);
        part.place.topic = conversation.topic;
        let texts = self.inline_texts(&part.speaker, part.client.as_deref());
        let update = part.origin.update().unwrap_or(UpdateId(0));
        let mut answer = InlineAnswer::new(message, update, conversation, user.clone());
        (answer.request, answer.language, answer.question) = (request, part.client.clone(), question);
        let answer = Arc::new(answer);
        if self.standing_of(&user)?.is_none() {
            self.end_inline(&answer, texts.inline_refused()).await;
            return Ok(UpdateFate::Dropped("stranger"));
        }
        let slot = match self.slot(&part, arrival) {
            Ok(slot) => slot,
            Err(refusal) => {
                self.end_inline(&answer, &notices::no_room(texts, refusal.full)).await;
                return Ok(UpdateFate::Dropped("no_room"));
            }
        };
        if !self.inline.begin(answer) {
            return Ok(UpdateFate::Dropped("asked_already"));
        }
        let requested = Requested {
            id: request,
            tenant: DEFAULT_TENANT.to_owned(),
            is_stateless: true,
            prompt: Some(ELSEWHERE.to_owned()),
            ..Requested::default()
        };
        let question =
            Question { requested: Some(Arc::new(requested)), ..Question::new(part, Standing::Guest) };
        self.mailboxes.post(conversation, QueuedJob::new(Job::Ask(question), Some(slot)));
        Ok(UpdateFate::Pending)
    }

    async fn end_inline(&self, answer: &InlineAnswer, words: &str) {
        let words = Formatted { text: words.to_owned(), entities: Vec::new() };
        let last = InlineContent::text(with_question(&answer.question, words));
        if let Err(unsent) = self.commands.cards.sender.end_inline(answer, &last).await {
            tracing::warn!(?unsent, "what became of a question in another chat could not be shown");
        }
    }

    /// Returns the rights of a person in their private chat; `None` if they may not talk to the bot.
    pub(super) fn standing_of(&self, user: &UserId) -> Result<Option<Standing>, StoreError> {
        let place = Place::external(ConversationId::whole(ChatId(user.telegram_id().unwrap_or_default())));
        let list = self.settings.access()?;
        Ok(match judge(&self.access, &list, &place, user, self.clock.now()) {
            Verdict::Allow(standing) => Some(standing),
            Verdict::Stranger | Verdict::Unapproved | Verdict::Ignore(_) => None,
        })
    }

    fn inline_part(&self, update: UpdateId, from: &UserView, words: String) -> Inbound {
        let (speaker, language) = (speaker_of(from), from.language_code.clone());
        let (origin, place) = (Origin::Inline { update }, alone(&speaker));
        let part = Inbound::addressed(origin, place, speaker, words.trim().to_owned(), self.clock.now());
        Inbound { client: language.clone(), language, ..part }
    }

    fn inline_texts(&self, speaker: &Speaker, client: Option<&str>) -> &Texts {
        let chat = ChatId(speaker.user.telegram_id().unwrap_or_default());
        self.commands.cards.languages.texts(chat, client)
    }
}

/// Returns the private chat of a person, to which their questions elsewhere count. Others read the answer, as in a group.
fn alone(speaker: &Speaker) -> Place {
    let chat = ChatId(speaker.user.telegram_id().unwrap_or_default());
    Place { chat, kind: ChatKind::Private, title: None, topic: None }
}
