//! Reactions of people to answers: 👍 and 👎 are counted for `/usage`, 👎 also offers another try, ❤ pins the answer. A
//! reaction that the agent of the chat names in its file is a message to it instead.

use std::sync::Arc;

use super::{Arrival, Router, UpdateFate};
use crate::callback::{KeepAnswerButton, RetryButton, TurnTag, WhyButton};
use crate::commands::{Asker, Card, Press, Pressed};
use crate::inbound::{place_of_chat, speaker_of};
use crate::send::Button;
use crate::views::{EmojiView, ReactionView};
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::{Job, QueuedJob};
use figaro_base::ids::{ChatId, MessageId, UpdateId, UserId};
use figaro_domain::chat::{ChatConfig, Place};
use figaro_domain::conversation::{Message, MessageRole};
use figaro_domain::message::{Inbound, Quoted};
use figaro_domain::origin::Origin;
use figaro_domain::usage::{Payer, Ratings};
use figaro_policy::access::{Standing, Verdict, judge};
use figaro_store::StoreError;

const GOOD: &str = "👍";
const BAD: &str = "👎";
/// With and without the character that asks for a coloured sign.
const PINS: [&str; 2] = ["❤", "❤\u{fe0f}"];

/// A reaction to an answer, by a person who may talk to the bot.
struct AnswerReaction {
    /// The person and the place, as for a message without words.
    part: Inbound,
    standing: Standing,
    answer: Message,
    /// Message with the answer.
    message: MessageId,
}

impl Router {
    /// Handles a change of reactions by a person who may talk to the bot. Only answers of models are meant.
    pub(super) async fn reacted(
        self: &Arc<Self>,
        id: UpdateId,
        view: &ReactionView,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let Some(reaction) = self.to_answer(id, view)? else {
            return Ok(UpdateFate::Dropped("no_answer_of_theirs"));
        };
        // Before a restart, it may have been counted.
        if arrival == Arrival::New {
            self.count(view, reaction.part.speaker.user.clone(), &reaction.answer)?;
        }
        if let Some(question) = self.for_agent(&reaction, view)? {
            let Ok(slot) = self.slot(&reaction.part, arrival) else { return Ok(UpdateFate::Settled) };
            let conversation = reaction.part.place.conversation();
            self.mailboxes.post(conversation, QueuedJob::new(Job::Ask(question), Some(slot)));
            return Ok(UpdateFate::Pending);
        }
        let AnswerReaction { part, standing, answer, message } = reaction;
        let asker = self.commands.cards.again(&Asker::new(&part, standing));
        let asker = Asker { message: Some(message), ..asker };
        let card = if is_new(view, &[BAD]) {
            Some(self.offer(&asker, &answer, message)?)
        } else if is_new(view, &PINS) {
            let data = KeepAnswerButton::Yes(message).to_string();
            let press = Press { update: id, asker: &asker, message, shown: None, data: &data };
            match self.commands.pressed(&press).await {
                Pressed::Shown { card, .. } => card,
                _ => None,
            }
        } else {
            None
        };
        let Some(card) = card else { return Ok(UpdateFate::Settled) };
        let this = Arc::clone(self);
        self.background.spawn("reaction", async move { this.show(id, &asker, card).await });
        Ok(UpdateFate::Pending)
    }

    /// Returns the question that a reaction asks the agent of its chat; `None` for any other reaction.
    pub(super) fn reaction_question(
        &self,
        id: UpdateId,
        view: &ReactionView,
    ) -> Result<Option<Question>, StoreError> {
        match self.to_answer(id, view)? {
            Some(reaction) => self.for_agent(&reaction, view),
            None => Ok(None),
        }
    }

    fn to_answer(&self, id: UpdateId, view: &ReactionView) -> Result<Option<AnswerReaction>, StoreError> {
        let Some(user) = &view.user else { return Ok(None) };
        let (place, message) = (place_of_chat(&view.chat), MessageId(view.message_id));
        let (speaker, list, now) = (speaker_of(user), self.settings.access()?, self.clock.now());
        let Verdict::Allow(standing) = judge(&self.access, &list, &place, &speaker.user, now) else {
            return Ok(None);
        };
        let found = self.pins.carried_in(place.chat, message)?;
        let is_answer = |found: &Message| found.role == MessageRole::Assistant && found.model_id.is_some();
        let Some((conversation, answer)) = found.filter(|(_, found)| is_answer(found)) else {
            return Ok(None);
        };
        // The update does not name the topic.
        let place = Place { topic: conversation.topic, ..place };
        let origin = Origin::Telegram { update: id, message: None };
        let part = Inbound::addressed(origin, place, speaker, String::new(), now);
        let client = user.language_code.clone();
        let language = self.commands.language(part.place.chat, client.as_deref());
        let part = Inbound { language, client, ..part };
        Ok(Some(AnswerReaction { part, standing, answer, message }))
    }

    /// Returns the message that the agent of the chat makes of a new reaction; `None` if its file does not name it.
    fn for_agent(
        &self,
        AnswerReaction { part, standing, answer, message }: &AnswerReaction,
        view: &ReactionView,
    ) -> Result<Option<Question>, StoreError> {
        let config = self.settings.chat_config(part.place.chat)?;
        let session = self.conversations.session(part.place.conversation(), self.clock.now())?;
        let config = ChatConfig { agent: session.agent.or(config.agent), ..config };
        let agents = self.prompts.agents();
        let Some(agent) = agents.answering(&config) else { return Ok(None) };
        let named = agent.reactions.iter().find(|(emoji, _)| is_new(view, &[emoji]));
        let Some((_, words)) = named else { return Ok(None) };
        let quotes = Quoted {
            message: Some(*message),
            author: None,
            text: answer.text.clone(),
            excerpt: None,
            attachments: Vec::new(),
            from_person: false,
            writer: None,
            task: None,
        };
        let part = Inbound { text: words.clone(), quotes: Some(Box::new(quotes)), ..part.clone() };
        Ok(Some(Question::new(part, *standing)))
    }

    /// Adds the change of 👍 and 👎 to the usage of the model that answered.
    fn count(&self, view: &ReactionView, user: UserId, answer: &Message) -> Result<(), StoreError> {
        let change = |emoji: &str| {
            i32::from(has(&view.new_reaction, emoji)) - i32::from(has(&view.old_reaction, emoji))
        };
        let ratings = Ratings { good: change(GOOD), bad: change(BAD) };
        let Some(model) = answer.model_id.as_deref().and_then(|model| model.parse().ok()) else {
            return Ok(());
        };
        let payer = Payer::new(ChatId(view.chat.id), user);
        if ratings.is_none() { Ok(()) } else { self.ledger.rate(payer, model, ratings) }
    }

    /// Returns the card that offers what to do about an answer that was not liked.
    fn offer(&self, asker: &Asker, answer: &Message, message: MessageId) -> Result<Card, StoreError> {
        let texts = self.commands.cards.texts(asker);
        let exchange = self.conversations.last_exchange(asker.place.conversation())?;
        let is_last = exchange.iter().any(|message| message.id == answer.id);
        let turn = exchange.iter().find_map(|message| message.turn).filter(|_| is_last);
        let retry = turn.map(|turn| Button::new(texts.button_retry(), RetryButton::Again(TurnTag::of(turn))));
        let why = Button::new(texts.button_why(), WhyButton(message));
        Ok(Card::text(texts.reaction_bad()).row(retry.into_iter().chain([why]).collect()))
    }
}

fn has(reactions: &[EmojiView], emoji: &str) -> bool {
    reactions.iter().any(|reaction| reaction.emoji.as_deref() == Some(emoji))
}

/// Returns `true` if the person has just added one of these reactions.
fn is_new(view: &ReactionView, emojis: &[&str]) -> bool {
    let among = |reactions: &[EmojiView]| emojis.iter().any(|emoji| has(reactions, emoji));
    among(&view.new_reaction) && !among(&view.old_reaction)
}
