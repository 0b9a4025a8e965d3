//! Where an update goes: dropped with a reason, kept as background, acted on at once, or put into its conversation's
//! lane. Called by the poller for each new update, in order, and by recovery for those a restart left open.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use serde::Deserialize;

use super::commands::{Asker, Card, Commands};
use super::inbound::{self, Command, Me, Target};
use super::views::{MemberUpdateView, MessageView, StoppedView, UpdateView};
use crate::clock::Clock;
use crate::config::{AccessMode, AccessSettings};
use crate::domain::access::AccessChange;
use crate::domain::chat::{AnswerWhen, ChatKind, Place};
use crate::domain::conversation::Conversation;
use crate::domain::message::Inbound;
use crate::ids::{ChatId, TopicId, UpdateId};
use crate::policy::access::{Standing, Verdict, judge};
use crate::session::mailbox::{Job, Mailboxes};
use crate::session::question::{Again, Question};
use crate::shutdown::Tasks;
use crate::store::{ConversationStore, InboxStore, RawUpdate, SettingsStore, StoreError};

/// A group with so many questions waiting has its further ones kept as background.
const MAX_LANE: usize = 50;
/// So many unaddressed messages of a group are kept as background.
const KEEP_OVERHEARD: usize = 100;

/// Routes updates.
#[derive(Debug)]
pub struct Router {
    /// The bot.
    pub me: Me,
    /// Who may talk.
    pub access: AccessSettings,
    /// Settlement of updates.
    pub inbox: Arc<dyn InboxStore>,
    /// Background of groups.
    pub conversations: Arc<dyn ConversationStore>,
    /// Access and chats' settings.
    pub settings: Arc<dyn SettingsStore>,
    /// The lanes.
    pub mailboxes: Mailboxes,
    /// Commands and buttons.
    pub commands: Arc<Commands>,
    /// The time.
    pub clock: Clock,
    /// Answers to commands are sent beside the next update.
    pub tasks: Tasks,
}

/// What became of an update.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// It is dealt with.
    Settled,
    /// A turn or a task settles it.
    Pending,
    /// Nothing is to be done, for this reason.
    Dropped(&'static str),
}

impl Router {
    /// How many jobs wait in the lanes.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.mailboxes.waiting()
    }

    /// Deals with one stored update. When the store fails the update stays open: the next start deals with it.
    pub async fn route(self: &Arc<Self>, update: RawUpdate) {
        let id = update.id;
        let fate = match UpdateView::deserialize(&update.body) {
            // One update that breaks the code must not end the taking in of all others, at every start again.
            Ok(view) => {
                AssertUnwindSafe(self.decide(id, view)).catch_unwind().await.unwrap_or_else(|_panic| {
                    tracing::error!(update = %id, "an update broke the code that reads it; it is set aside");
                    Ok(Fate::Dropped("panicked"))
                })
            }
            Err(_) => Ok(Fate::Dropped("unreadable")),
        };
        match fate {
            Ok(Fate::Pending) => {}
            Ok(Fate::Settled) => self.settle(id).await,
            Ok(Fate::Dropped(reason)) => {
                tracing::debug!(update = %id, reason, "an update was dropped");
                self.settle(id).await;
            }
            Err(error) => {
                tracing::error!(%error, label = error.label(), update = %id, "an update stays open")
            }
        }
    }

    /// The message of an update that opens or continues a question, if it is one and its writer may talk.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn question(&self, update: &RawUpdate) -> Result<Option<Question>, StoreError> {
        let Ok(view) = UpdateView::deserialize(&update.body) else {
            return Ok(None);
        };
        if let Some(pressed) = view.callback_query {
            return self.commands.question_of(update.id, &pressed).await;
        }
        let Some(view) = view.message else {
            return Ok(None);
        };
        let Some(part) = inbound::read(update.id, &view, &self.me) else {
            return Ok(None);
        };
        let list = self.settings.access().await?;
        Ok(match judge(&self.access, &list, &part.place, &part.speaker.user) {
            Verdict::Allow(standing) => Some(Question::new(part, standing)),
            Verdict::TellPrivate | Verdict::Ignore(_) => None,
        })
    }

    async fn decide(self: &Arc<Self>, id: UpdateId, view: UpdateView) -> Result<Fate, StoreError> {
        if let Some(message) = view.message {
            return self.message(id, &message).await;
        }
        if let Some(edited) = view.edited_message {
            if let Some(edited) = inbound::read(id, &edited, &self.me) {
                self.mailboxes.edit(&edited);
            }
            return Ok(Fate::Settled);
        }
        if let Some(stopped) = view.stopped_message_generation {
            return Ok(self.stop(&stopped));
        }
        if let Some(pressed) = view.callback_query {
            let this = Arc::clone(self);
            self.tasks.spawn("button", async move {
                if this.commands.press(id, &pressed, &this.mailboxes).await {
                    this.settle(id).await;
                }
            });
            return Ok(Fate::Pending);
        }
        match view.my_chat_member {
            Some(member) => self.membership(id, *member).await,
            None => Ok(Fate::Dropped("unknown_kind")),
        }
    }

    async fn message(self: &Arc<Self>, id: UpdateId, view: &MessageView) -> Result<Fate, StoreError> {
        // Both groups tell of it; the second time takes along what was written to the old one in between.
        let here = ChatId(view.chat.id);
        let moved = view.migrate_to_chat_id.map(|new| (here, ChatId(new)));
        if let Some((from, to)) = moved.or_else(|| view.migrate_from_chat_id.map(|old| (ChatId(old), here))) {
            self.settings.migrate_chat(from, to).await?;
            return Ok(Fate::Settled);
        }
        let Some(part) = inbound::read(id, view, &self.me) else {
            return Ok(Fate::Dropped("no_person"));
        };
        let command = inbound::command(view, &self.me);
        let is_others = command.as_ref().is_some_and(|command| is_others(command, &part));
        let command = command.filter(|_| !is_others);
        if let Some(code) =
            command.as_ref().filter(|c| c.name == "start" && !part.place.is_group()).map(|c| &c.argument)
            && !code.is_empty()
            && self.claim(id, &part, code).await?
        {
            return Ok(Fate::Pending);
        }
        let list = self.settings.access().await?;
        let standing = match judge(&self.access, &list, &part.place, &part.speaker.user) {
            Verdict::Allow(standing) => standing,
            Verdict::Ignore(reason) => return Ok(Fate::Dropped(reason)),
            Verdict::TellPrivate => return self.tell_private(id, part).await,
        };
        match command {
            Some(command) if command.name == "retry" => {
                self.retry(id, part, standing, command.argument);
                Ok(Fate::Pending)
            }
            Some(command) => {
                let this = Arc::clone(self);
                let asker = Asker::new(&part, standing);
                let done = match Commands::is_immediate(&command.name) {
                    true => Some(self.commands.run(&command, &asker, &self.mailboxes).await),
                    false => None,
                };
                self.tasks.spawn("command", async move {
                    let card = match done {
                        Some(card) => card,
                        None => this.commands.run(&command, &asker, &this.mailboxes).await,
                    };
                    this.show(id, &asker, card).await;
                });
                Ok(Fate::Pending)
            }
            None if is_others && part.place.is_group() => self.overhear(&part).await,
            None => self.talk(part, standing).await,
        }
    }

    /// The last question again, before any that comes next; only to find out which model is meant may take a while.
    fn retry(self: &Arc<Self>, id: UpdateId, part: Inbound, standing: Standing, argument: String) {
        if argument.is_empty() {
            let conversation = part.place.conversation();
            let again = Again { asked: Question::new(part, standing), model: None };
            return self.mailboxes.post(conversation, Job::Again(again));
        }
        let this = Arc::clone(self);
        self.tasks.spawn("retry", async move {
            let asker = Asker::new(&part, standing);
            let conversation = part.place.conversation();
            match this.commands.retry(&asker, part, &argument).await {
                Ok(job) => this.mailboxes.post(conversation, job),
                Err(card) => this.show(id, &asker, card).await,
            }
        });
    }

    /// A message that is no command: a question, what was asked of its writer, or background.
    async fn talk(self: &Arc<Self>, part: Inbound, standing: Standing) -> Result<Fate, StoreError> {
        let config = self.settings.chat_config(part.place.chat).await?;
        let is_meant = match config.answer_when {
            _ if !part.place.is_group() => true,
            AnswerWhen::Always => true,
            AnswerWhen::Mention => part.is_addressed(),
            AnswerWhen::Off => false,
        };
        let is_flood =
            part.place.is_group() && self.mailboxes.waiting_in(part.place.conversation()) >= MAX_LANE;
        let continues = self.mailboxes.continues(&part);
        if is_flood || !(is_meant || continues) {
            return self.overhear(&part).await;
        }
        if !continues && let Some(card) = self.commands.zone_answered(&config, &part, standing).await {
            let (this, id, asker) = (Arc::clone(self), part.update, Asker::new(&part, standing));
            self.tasks.spawn("answer", async move { this.show(id, &asker, card).await });
            return Ok(Fate::Pending);
        }
        self.ask(Question::new(part, standing));
        Ok(Fate::Pending)
    }

    fn ask(&self, question: Question) {
        if let Some(part) = question.parts.first() {
            self.mailboxes.post(part.place.conversation(), Job::Ask(question));
        }
    }

    /// Shows a card for an update and settles it, unless the bot stops before that: then the next start does.
    async fn show(&self, id: UpdateId, asker: &Asker, card: Card) {
        if self.commands.show(asker, card).await {
            self.settle(id).await;
        }
    }

    async fn overhear(&self, part: &Inbound) -> Result<Fate, StoreError> {
        self.conversations.overhear(part.place.conversation(), part, KEEP_OVERHEARD).await?;
        Ok(Fate::Settled)
    }

    /// Someone opened a claim link; `true` if it was good and they own the bot now.
    async fn claim(self: &Arc<Self>, id: UpdateId, part: &Inbound, code: &str) -> Result<bool, StoreError> {
        let user = part.speaker.user.clone();
        let redeem = AccessChange::Redeem { code: code.to_owned(), user, at: self.clock.now() };
        if !self.settings.change_access(redeem).await? {
            return Ok(false);
        }
        tracing::info!(user = %part.speaker.user, "the bot has an owner now");
        let this = Arc::clone(self);
        let asker = Asker::new(part, Standing::Owner);
        self.tasks.spawn("claim", async move {
            let card = this.commands.claimed(&asker);
            this.show(id, &asker, card).await;
        });
        Ok(true)
    }

    async fn tell_private(self: &Arc<Self>, id: UpdateId, part: Inbound) -> Result<Fate, StoreError> {
        let this = Arc::clone(self);
        self.settings.change_access(AccessChange::Told(part.speaker.user.clone())).await?;
        self.tasks.spawn("stranger", async move {
            let asker = Asker::new(&part, Standing::Member);
            let card = this.commands.private(&asker);
            this.show(id, &asker, card).await;
        });
        Ok(Fate::Pending)
    }

    fn stop(&self, stopped: &StoppedView) -> Fate {
        let topic = stopped.message_thread_id.map(TopicId);
        let stopped = self.mailboxes.stop(Conversation { chat: ChatId(stopped.chat.id), topic });
        if stopped { Fate::Settled } else { Fate::Dropped("nothing_to_stop") }
    }

    /// The bot was put out of a chat, or is in it again. A private chat is left by blocking the bot.
    async fn membership(
        self: &Arc<Self>,
        id: UpdateId,
        member: MemberUpdateView,
    ) -> Result<Fate, StoreError> {
        let is_out = |status: &str| ["left", "kicked", ""].contains(&status);
        let is_in = |status: &str| ["administrator", "member"].contains(&status);
        let (old, new) = (member.old_chat_member.status.as_str(), member.new_chat_member.status.as_str());
        let place = inbound::place_of_chat(&member.chat);
        if !new.is_empty() && is_out(new) {
            self.commands.leave(place.chat).await?;
            return Ok(Fate::Settled);
        }
        match place.kind {
            ChatKind::Group if is_out(old) && is_in(new) => self.joined(id, place, member).await,
            ChatKind::Private if is_out(old) && is_in(new) => self.unblocked(id, place, member).await,
            _ => Ok(Fate::Dropped("membership")),
        }
    }

    /// Somebody takes the bot back: tasks that rest since they blocked it are offered.
    async fn unblocked(
        self: &Arc<Self>,
        id: UpdateId,
        place: Place,
        member: MemberUpdateView,
    ) -> Result<Fate, StoreError> {
        let speaker = inbound::speaker_of(&member.from);
        let list = self.settings.access().await?;
        let Verdict::Allow(standing) = judge(&self.access, &list, &place, &speaker.user) else {
            return Ok(Fate::Dropped("membership"));
        };
        let language = member.from.language_code;
        let asker = Asker { place, speaker, language, standing, message: None };
        let Some(card) = self.commands.returned(&asker).await? else { return Ok(Fate::Settled) };
        let this = Arc::clone(self);
        self.tasks.spawn("unblocked", async move { this.show(id, &asker, card).await });
        Ok(Fate::Pending)
    }

    /// The bot was added to a group: by an owner, the group may talk to it from now on. It says so where it may talk, and
    /// offers tasks that rest since it was put out of the group.
    async fn joined(
        self: &Arc<Self>,
        id: UpdateId,
        place: Place,
        member: MemberUpdateView,
    ) -> Result<Fate, StoreError> {
        let adder = inbound::speaker_of(&member.from);
        let list = self.settings.access().await?;
        let Verdict::Allow(standing) = judge(&self.access, &list, &place, &adder.user) else {
            tracing::warn!(chat = %place.chat, by = %adder.user, "added to a group by someone who may not talk to the bot");
            return Ok(Fate::Settled);
        };
        if standing == Standing::Owner {
            self.settings.change_access(AccessChange::AllowChat(place.chat)).await?;
        } else if self.access.mode != AccessMode::Open && !list.chats.contains(&place.chat) {
            return Ok(Fate::Settled);
        }
        let language = member.from.language_code;
        let is_admin = member.new_chat_member.status == "administrator";
        let asker = Asker { place, speaker: adder, language, standing, message: None };
        let offer = self.commands.returned(&asker).await?;
        let this = Arc::clone(self);
        self.tasks.spawn("joined", async move {
            let card = this.commands.joined(&asker, is_admin);
            let Some(offer) = offer else { return this.show(id, &asker, card).await };
            if this.commands.show(&asker, card).await {
                this.show(id, &asker, offer).await;
            }
        });
        Ok(Fate::Pending)
    }

    async fn settle(&self, id: UpdateId) {
        if let Err(error) = self.inbox.settle(&[id]).await {
            tracing::error!(%error, label = error.label(), update = %id, "an update could not be settled");
        }
    }
}

/// Whether a command is for another bot. In a group one that names nobody and is not known here may be.
fn is_others(command: &Command, part: &Inbound) -> bool {
    match command.target {
        Target::Me => false,
        Target::Another => true,
        Target::Nobody => part.place.is_group() && !Commands::knows(&command.name),
    }
}
