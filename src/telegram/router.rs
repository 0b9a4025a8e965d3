//! Where an update goes: dropped with a reason, kept as background, acted on at once, or put into its conversation's
//! lane. Called by the poller for each new update, in order, and by recovery for those a restart left open.

use std::sync::Arc;

use serde::Deserialize;

use super::commands::{Asker, Commands};
use super::inbound::{self, Me};
use super::views::{MemberUpdateView, MessageView, StoppedView, UpdateView};
use crate::clock::Clock;
use crate::config::AccessSettings;
use crate::domain::access::AccessChange;
use crate::domain::chat::AnswerWhen;
use crate::domain::conversation::Conversation;
use crate::domain::message::Inbound;
use crate::ids::{ChatId, TopicId, UpdateId};
use crate::policy::access::{Standing, Verdict, judge};
use crate::session::mailbox::{Job, Mailboxes, Question};
use crate::shutdown::Tasks;
use crate::store::{ConversationStore, InboxStore, RawUpdate, SettingsStore, StoreError};

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
            Ok(view) => self.decide(id, view).await,
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
        let Ok(UpdateView { message: Some(view), .. }) = UpdateView::deserialize(&update.body) else {
            return Ok(None);
        };
        let Some(part) = inbound::read(update.id, &view, &self.me) else {
            return Ok(None);
        };
        let list = self.settings.access().await?;
        Ok(match judge(&self.access, &list, &part.place, &part.speaker.user) {
            Verdict::Allow(standing) => Some(Question { parts: vec![part], standing }),
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
                this.commands.press(id, *pressed, &this.mailboxes).await;
                this.settle(id).await;
            });
            return Ok(Fate::Pending);
        }
        match view.my_chat_member {
            Some(member) => self.membership(id, *member).await,
            None => Ok(Fate::Dropped("unknown_kind")),
        }
    }

    async fn message(self: &Arc<Self>, id: UpdateId, view: &MessageView) -> Result<Fate, StoreError> {
        if let Some(new) = view.migrate_to_chat_id {
            let change = AccessChange::Migrate { from: ChatId(view.chat.id), to: ChatId(new) };
            self.settings.change_access(change).await?;
            return Ok(Fate::Settled);
        }
        let Some(part) = inbound::read(id, view, &self.me) else {
            return Ok(Fate::Dropped("no_person"));
        };
        let command = inbound::command(view, &self.me);
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
            Some(command) => {
                let this = Arc::clone(self);
                let asker = Asker::new(&part, standing);
                let reply = self.commands.run(&command, &asker, &self.mailboxes).await;
                self.tasks.spawn("command", async move {
                    this.commands.show(&asker, reply).await;
                    this.settle(id).await;
                });
                Ok(Fate::Pending)
            }
            None => self.talk(part, standing).await,
        }
    }

    /// A message that is no command: a question, or background.
    async fn talk(&self, part: Inbound, standing: Standing) -> Result<Fate, StoreError> {
        let is_meant = match self.settings.chat_config(part.place.chat).await?.answer_when {
            _ if !part.place.is_group() => true,
            AnswerWhen::Always => true,
            AnswerWhen::Mention => part.is_addressed(),
            AnswerWhen::Off => false,
        };
        let conversation = part.place.conversation();
        if is_meant {
            self.mailboxes.post(conversation, Job::Ask(Question { parts: vec![part], standing }));
            return Ok(Fate::Pending);
        }
        self.conversations.overhear(conversation, &part, KEEP_OVERHEARD).await?;
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
            this.commands.show(&asker, this.commands.claimed(&asker)).await;
            this.settle(id).await;
        });
        Ok(true)
    }

    async fn tell_private(self: &Arc<Self>, id: UpdateId, part: Inbound) -> Result<Fate, StoreError> {
        let this = Arc::clone(self);
        self.settings.change_access(AccessChange::Told(part.speaker.user.clone())).await?;
        self.tasks.spawn("stranger", async move {
            let asker = Asker::new(&part, Standing::Member);
            this.commands.show(&asker, this.commands.private(&asker)).await;
            this.settle(id).await;
        });
        Ok(Fate::Pending)
    }

    fn stop(&self, stopped: &StoppedView) -> Fate {
        let topic = stopped.message_thread_id.map(TopicId);
        let stopped = self.mailboxes.stop(Conversation { chat: ChatId(stopped.chat.id), topic });
        if stopped { Fate::Settled } else { Fate::Dropped("nothing_to_stop") }
    }

    /// The bot was added somewhere: by someone who may talk to it, the group may too.
    async fn membership(
        self: &Arc<Self>,
        id: UpdateId,
        member: MemberUpdateView,
    ) -> Result<Fate, StoreError> {
        let was_out = ["left", "kicked", ""].contains(&member.old_chat_member.status.as_str());
        let is_admin = member.new_chat_member.status == "administrator";
        let is_in = is_admin || member.new_chat_member.status == "member";
        let place = inbound::place_of_chat(&member.chat);
        if !(place.is_group() && was_out && is_in) {
            return Ok(Fate::Dropped("membership"));
        }
        let adder = inbound::speaker_of(&member.from);
        let list = self.settings.access().await?;
        let Verdict::Allow(standing) = judge(&self.access, &list, &place, &adder.user) else {
            tracing::warn!(chat = %place.chat, by = %adder.user, "added to a group by someone who may not talk to the bot");
            return Ok(Fate::Settled);
        };
        if standing == Standing::Owner {
            self.settings.change_access(AccessChange::AllowChat(place.chat)).await?;
        }
        let this = Arc::clone(self);
        self.tasks.spawn("joined", async move {
            let asker =
                Asker { place, speaker: adder, language: member.from.language_code, standing, message: None };
            this.commands.show(&asker, this.commands.joined(&asker, is_admin)).await;
            this.settle(id).await;
        });
        Ok(Fate::Pending)
    }

    async fn settle(&self, id: UpdateId) {
        if let Err(error) = self.inbox.settle(&[id]).await {
            tracing::error!(%error, label = error.label(), update = %id, "an update could not be settled");
        }
    }
}
