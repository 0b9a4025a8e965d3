//! Where an update goes: dropped with a reason, kept as background, acted on at once, or put into its conversation's
//! queue. Called by the poller for each new update, in order, and by recovery for those a restart left open.

mod admit;
mod answer;
mod aside;
mod bots;
mod edited;
mod event;
mod fate;
mod first;
mod groups;
mod membership;
mod noted;
mod odd;
mod pairing;
mod read;
mod sessions;
mod talk;

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Deserialize;

use self::fate::{Arrival, Fate};
use super::commands::{
    AccessRequests, Asker, Card, CommandTable, Outcome, Personas, Renames, RestingTasks, Rewordings, Zones,
};
use super::inbound::{self, CommandLine, Me, Target};
use super::newest::Newest;
use super::views::{MessageView, StoppedView, UpdateView};
use figaro_agent::delivery::Owners;
use figaro_agent::turn::parked::Parked;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::{Mailboxes, Posted};
use figaro_agent::turn::rights::Rights;
use figaro_base::clock::Clock;
use figaro_base::ids::{ChatId, TopicId, UpdateId};
use figaro_base::shutdown::TaskTracker;
use figaro_config::AccessSettings;
use figaro_domain::conversation::Conversation;
use figaro_domain::message::Inbound;
use figaro_domain::reception::Reception;
use figaro_policy::access::{Standing, Verdict, is_served, judge};
use figaro_policy::bots::Exchanges;
use figaro_policy::guesses::Guesses;
use figaro_store::{
    ConversationStore, InboxStore, OutboxStore, PeopleStore, PinStore, RawUpdate, ReceptionStore,
    SessionStore, SettingsStore, StoreError, TaskStore,
};

/// Decides where an update goes and takes it there.
#[derive(Debug)]
pub struct Router {
    /// The bot's own account.
    pub me: Me,
    /// Who may use the bot by the settings.
    pub access: AccessSettings,
    /// The store in which updates are settled.
    pub inbox: InboxStore,
    /// The store of background messages.
    pub conversations: ConversationStore,
    /// Who came into groups.
    pub people: PeopleStore,
    /// The store of the messages that the bot sent, with what each asks for.
    pub outbox: OutboxStore,
    /// Access and chats' settings.
    pub settings: SettingsStore,
    /// The pins of chats, which follow edits.
    pub pins: PinStore,
    /// What became of messages.
    pub receptions: ReceptionStore,
    /// The stored tasks, which messages may be about.
    pub tasks: TaskStore,
    /// The queues of all conversations.
    pub mailboxes: Mailboxes,
    /// Turns that wait for a person.
    pub parked: Parked,
    /// Who may go on with them.
    pub rights: Rights,
    /// Commands and buttons.
    pub commands: Arc<CommandTable>,
    /// What asks owners about strangers.
    pub requests: AccessRequests,
    /// What was said with other bots.
    pub exchanges: Mutex<Exchanges>,
    /// Wrong codes that people have sent.
    pub guesses: Mutex<Guesses>,
    /// The first questions of people who are not let in yet.
    pub first_questions: Mutex<Vec<Inbound>>,
    /// What answers the question where a chat is.
    pub zones: Zones,
    /// What takes new names of sessions out of replies.
    pub renames: Renames,
    /// What takes other words for memories out of replies.
    pub rewordings: Rewordings,
    /// The sessions and the topics that they are in.
    pub sessions: SessionStore,
    /// What takes the words of personas that it asked for.
    pub personas: Personas,
    /// Tasks of chats that the bot is put out of.
    pub resting: RestingTasks,
    /// Who is told of updates that cannot be dealt with.
    pub owners: Arc<dyn Owners>,
    /// The kinds of them that the owners know of.
    pub odd_kinds: Mutex<HashSet<String>>,
    /// Gives the current time.
    pub clock: Clock,
    /// The newest messages of private chats.
    pub newest: Newest,
    /// Tracks what is done beside the next update, such as answers to commands.
    pub background: TaskTracker,
}

/// A command that somebody may give.
#[derive(Debug)]
struct Given {
    id: UpdateId,
    part: Inbound,
    standing: Standing,
    line: CommandLine,
}

impl Router {
    /// Deals with updates that were stored now, in their order. Those that are dealt with are settled in one write.
    pub(crate) async fn take(self: &Arc<Self>, updates: Vec<RawUpdate>) {
        let mut done = Vec::new();
        for update in updates {
            let id = update.id;
            if self.route(update, Arrival::New).await {
                done.push(id);
            }
        }
        if !done.is_empty() {
            self.settle(&done).await;
        }
    }

    /// Deals with an update that was stored before a restart and not settled.
    pub(crate) async fn take_up(self: &Arc<Self>, update: RawUpdate) {
        let id = update.id;
        if self.route(update, Arrival::Accepted).await {
            self.settle(&[id]).await;
        }
    }

    /// `true` if the update is dealt with and can be settled. When the store fails it stays open: the next start deals
    /// with it.
    async fn route(self: &Arc<Self>, update: RawUpdate, arrival: Arrival) -> bool {
        let id = update.id;
        let fate = match UpdateView::deserialize(&update.body) {
            Ok(view) if odd::is_odd(&update.body, &view) => self.set_aside(&update, "odd").await,
            // One update that breaks the code must not end the taking in of all others, at every start again.
            Ok(view) => match odd::guarded(self.decide(id, view, arrival), arrival).await {
                Some(decided) => decided,
                None => self.set_aside(&update, "panicked").await,
            },
            Err(_) => Ok(Fate::Dropped("unreadable")),
        };
        match fate {
            Ok(Fate::Pending | Fate::Asked | Fate::Refused(_)) => false,
            Ok(Fate::Settled | Fate::Kept(_)) => true,
            Ok(Fate::Dropped(reason)) => {
                tracing::debug!(update = %id, reason, "an update was dropped");
                true
            }
            Err(error) => {
                tracing::error!(%error, label = error.label(), update = %id, "an update stays open");
                false
            }
        }
    }

    /// The message of an update that opens or continues a question, if it is one and its writer may talk.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn question(&self, update: &RawUpdate) -> Result<Option<Question>, StoreError> {
        let Ok(view) = UpdateView::deserialize(&update.body) else {
            return Ok(None);
        };
        if let Some(pressed) = view.callback_query {
            return self.commands.question_of(update.id, &pressed).await;
        }
        let Some(view) = view.message else {
            return Ok(None);
        };
        let Some(part) = self.read(update.id, &view).await? else {
            return Ok(None);
        };
        let list = self.settings.access().await?;
        Ok(match judge(&self.access, &list, &part.place, &part.speaker.user, self.clock.now()) {
            // A bot has nobody's rights.
            Verdict::Allow(_) if part.borrowed => Some(Question::new(part, Standing::Borrowed)),
            Verdict::Allow(standing) => Some(Question::new(part, standing)),
            Verdict::Stranger | Verdict::Unapproved | Verdict::Ignore(_) => None,
        })
    }

    async fn decide(
        self: &Arc<Self>,
        id: UpdateId,
        view: UpdateView,
        arrival: Arrival,
    ) -> Result<Fate, StoreError> {
        if let Some(message) = view.message {
            return self.noted(id, &message, arrival).await;
        }
        if let Some(edited) = view.edited_message {
            self.edited(id, &edited).await?;
            return Ok(Fate::Settled);
        }
        if let Some(stopped) = view.stopped_message_generation {
            return Ok(self.stop(&stopped));
        }
        if let Some(pressed) = view.callback_query {
            return self.press(id, pressed, arrival).await;
        }
        match view.my_chat_member {
            Some(member) => self.membership(id, *member, arrival).await,
            None => Ok(Fate::Dropped("unknown_kind")),
        }
    }

    async fn message(
        self: &Arc<Self>,
        id: UpdateId,
        view: &MessageView,
        arrival: Arrival,
    ) -> Result<Fate, StoreError> {
        // Both groups tell of it; the second time takes along what was written to the old one in between.
        let here = ChatId(view.chat.id);
        let moved = view.migrate_to_chat_id.map(|new| (here, ChatId(new)));
        if let Some((from, to)) = moved.or_else(|| view.migrate_from_chat_id.map(|old| (ChatId(old), here))) {
            self.settings.migrate_chat(from, to).await?;
            self.parked.reload(None).await?;
            return Ok(Fate::Settled);
        }
        self.note_title(view).await?;
        self.note_came(view).await?;
        let Some(part) = self.read(id, view).await? else {
            return Ok(Fate::Dropped("no_person"));
        };
        if part.is_event() {
            return self.event(id, view, &part).await;
        }
        let command = inbound::command(view, &self.me);
        let is_others = command.as_ref().is_some_and(|command| self.is_others(command, &part));
        let command = command.filter(|_| !is_others);
        let list = self.settings.access().await?;
        if let Some(line) = command.as_ref().filter(|_| !part.place.is_group())
            && !list.invites.is_empty()
            && self.accept_owner_invite(id, &part, line).await?
        {
            return Ok(Fate::Pending);
        }
        let standing = match judge(&self.access, &list, &part.place, &part.speaker.user, self.clock.now()) {
            Verdict::Allow(standing) => standing,
            Verdict::Ignore(reason) => return Ok(Fate::Dropped(reason)),
            Verdict::Stranger => return self.stranger(part, command.as_ref(), arrival).await,
            Verdict::Unapproved => return self.refuse_group(part, command.as_ref(), arrival).await,
        };
        if part.borrowed {
            return self.bot_spoke(part, command.is_some() || is_others, arrival).await;
        }
        self.person_spoke(&part);
        // An owner may speak to the bot in any group; the rest of what is said in it is not kept before it is let in.
        if command.is_none() && !part.is_addressed() && !is_served(&self.access, &list, &part.place) {
            return Ok(Fate::Dropped("group_not_allowed"));
        }
        match command {
            Some(line) => self.command(Given { id, part, standing, line }, arrival).await,
            None if is_others && part.place.is_group() => {
                self.add_background(&part, Reception::OtherBot).await
            }
            None => self.talk(part, standing, arrival).await,
        }
    }

    /// A command: it acts at once, beside any turn, or begins one. An owner's is refused only where it begins a turn.
    async fn command(self: &Arc<Self>, given: Given, arrival: Arrival) -> Result<Fate, StoreError> {
        let Given { id, part, standing, line } = &given;
        let command = self.commands.find(&line.name);
        let begins_turn = command.is_some_and(|command| command.begins_turn());
        let asker = Asker::new(part, *standing);
        let slot = match self.slot(part, arrival) {
            Ok(slot) => Some(slot),
            Err(_) if *standing == Standing::Owner && !begins_turn => None,
            Err(_) if self.commands.run_without_room(line, part, &asker) => return Ok(Fate::Settled),
            Err(refusal) => return Ok(self.refuse(part, refusal)),
        };
        let (conversation, id) = (part.place.conversation(), *id);
        let done = match command.is_some_and(|command| command.is_immediate(&line.argument)) {
            true => Some(self.commands.run(line, part, &asker).await),
            false => None,
        };
        if let Some(Outcome::Job(job)) = done {
            // Here, so that it comes before what is written next.
            self.mailboxes.post(conversation, Posted::new(*job, slot));
            return Ok(Fate::Pending);
        }
        let this = Arc::clone(self);
        self.background.spawn("command", async move {
            let outcome = match done {
                Some(outcome) => outcome,
                None => this.commands.run(&given.line, &given.part, &asker).await,
            };
            match outcome {
                Outcome::Job(job) => this.mailboxes.post(conversation, Posted::new(*job, slot)),
                Outcome::Card(card) => {
                    let _slot = slot;
                    this.show(id, &asker, card).await;
                    this.answer_first().await;
                }
                Outcome::Stopped(card, turn) => match turn.has_told_of_stop().await {
                    true => this.settle(&[id]).await,
                    false => this.show(id, &asker, card).await,
                },
            }
        });
        Ok(Fate::Pending)
    }

    /// Shows a card for an update and settles it, unless the bot stops before that: then the next start does.
    async fn show(&self, id: impl Into<Option<UpdateId>>, asker: &Asker, card: Card) {
        if self.commands.cards.show(asker, card).await {
            self.settle(id.into().as_slice()).await;
        }
    }

    fn stop(&self, stopped: &StoppedView) -> Fate {
        let topic = stopped.message_thread_id.map(TopicId);
        let stopped = self.mailboxes.stop(Conversation { chat: ChatId(stopped.chat.id), topic });
        if stopped.is_some() { Fate::Settled } else { Fate::Dropped("nothing_to_stop") }
    }

    async fn settle(&self, ids: &[UpdateId]) {
        if let Err(error) = self.inbox.settle(ids).await {
            tracing::error!(%error, label = error.label(), ?ids, "updates could not be settled");
        }
    }

    /// Whether a command is for another bot. In a group one that names nobody and is not known here may be.
    fn is_others(&self, line: &CommandLine, part: &Inbound) -> bool {
        match line.target {
            Target::Me => false,
            Target::Another => true,
            Target::Nobody => part.place.is_group() && self.commands.find(&line.name).is_none(),
        }
    }
}
