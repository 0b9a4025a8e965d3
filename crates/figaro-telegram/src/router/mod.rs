//! Routes updates: drops them with a reason, keeps them as background, acts on them at once, or puts them into the
//! queue of their conversation. Called for each new update in order, and by recovery for those that a restart left
//! open.

mod admit;
mod answer;
mod aside;
mod bots;
mod business;
mod edited;
mod event;
mod fate;
mod first;
mod groups;
mod inline;
mod membership;
mod noted;
mod odd;
mod pairing;
mod reacted;
mod read;
mod sessions;
mod talk;
mod welcome;

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::Deserialize;

use self::fate::{Arrival, UpdateFate};
use super::business::Drafter;
use super::commands::{
    AccessRequests, Asker, Card, CommandOutcome, CommandTable, Personas, Renames, RestingTasks, Rewordings,
    Zones,
};
use super::inbound::{self, CommandLine, CommandTarget, Me};
use super::inline::InlineAnswers;
use super::kinds;
use super::newest::Newest;
use super::views::{MessageView, StoppedView, UpdateView};
use figaro_agent::delivery::Owners;
use figaro_agent::turn::parked::Parked;
use figaro_agent::turn::question::Question;
use figaro_agent::turn::queue::{Mailboxes, QueuedJob};
use figaro_agent::turn::rights::RightsChecker;
use figaro_base::clock::Clock;
use figaro_base::ids::{ChatId, TopicId, UpdateId};
use figaro_base::shutdown::TaskTracker;
use figaro_config::AccessSettings;
use figaro_domain::conversation::ConversationId;
use figaro_domain::message::Inbound;
use figaro_domain::reception::Reception;
use figaro_ledger::Ledger;
use figaro_policy::access::{Standing, Verdict, is_served, judge};
use figaro_policy::bots::Exchanges;
use figaro_policy::guesses::Guesses;
use figaro_prompts::Prompts;
use figaro_store::{
    ConversationStore, InboxStore, OutboxStore, PeopleStore, PinStore, RawUpdate, ReceptionStore,
    SessionStore, SettingsStore, StoreError, TaskStore,
};

/// Decides how to handle an update, and does so.
#[derive(Debug)]
pub struct Router {
    /// Identity of the bot's account, as Telegram tells it.
    pub me: Me,
    /// Owners and access mode, from the settings.
    pub access: AccessSettings,
    /// Store in which updates are settled.
    pub inbox: InboxStore,
    /// Store of conversations and background messages.
    pub conversations: ConversationStore,
    /// Store of the people seen in groups.
    pub people: PeopleStore,
    /// Store of the bot's own messages, with the request that each makes.
    pub outbox: OutboxStore,
    /// Store of access rights and of chat settings.
    pub settings: SettingsStore,
    /// Pins of chats, which follow edits.
    pub pins: PinStore,
    /// Store of the outcomes of messages, for `/why`.
    pub receptions: ReceptionStore,
    /// Stored tasks, which messages may refer to.
    pub tasks: TaskStore,
    /// Job queues of all conversations, with their limits.
    pub mailboxes: Mailboxes,
    /// Turns that wait for an answer or an approval by a person.
    pub parked: Parked,
    /// Checks the rights to resume turns.
    pub rights: RightsChecker,
    /// Table that runs commands and button presses.
    pub commands: Arc<CommandTable>,
    /// Asks owners about strangers and groups.
    pub requests: AccessRequests,
    /// Recent exchanges with other bots, to stop loops.
    pub exchanges: Mutex<Exchanges>,
    /// Wrong pairing codes that people sent recently.
    pub guesses: Mutex<Guesses>,
    /// First questions of people without access.
    pub first_questions: Mutex<Vec<Inbound>>,
    /// Handles answers to the question for a chat's time zone.
    pub zones: Zones,
    /// Applies new names of sessions from replies.
    pub renames: Renames,
    /// Applies new wordings of memories from replies.
    pub rewordings: Rewordings,
    /// Store of sessions and of the topics they belong to.
    pub sessions: SessionStore,
    /// Handles replies with the text of a persona.
    pub personas: Personas,
    /// Pauses and resumes tasks of chats that removed the bot.
    pub resting: RestingTasks,
    /// Tells owners about updates that cannot be handled.
    pub owners: Arc<dyn Owners>,
    /// Kinds of such updates that the owners were told about.
    pub odd_kinds: Mutex<HashSet<String>>,
    /// Source of the current time, in UTC.
    pub clock: Clock,
    /// Answers that are being written in chats that the bot is no member of.
    pub inline: InlineAnswers,
    /// Drafts replies to customers.
    pub business: Arc<Drafter>,
    /// Newest messages of private chats, to decide about quotes.
    pub newest: Newest,
    /// Agents, whose files may name reactions.
    pub prompts: Arc<Prompts>,
    /// Counts what people think of the answers of each model.
    pub ledger: Arc<Ledger>,
    /// Tracks background work, such as answers to commands.
    pub background: TaskTracker,
}

/// A command whose sender has the right to give it.
#[derive(Debug)]
struct AuthorizedCommand {
    id: UpdateId,
    part: Inbound,
    standing: Standing,
    line: CommandLine,
}

impl Router {
    /// Handles newly stored updates in their order. Updates that are done are settled in one write.
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

    /// Handles an update that was stored before a restart and not settled.
    pub(crate) async fn take_up(self: &Arc<Self>, update: RawUpdate) {
        let id = update.id;
        if self.route(update, Arrival::Accepted).await {
            self.settle(&[id]).await;
        }
    }

    /// Returns `true` if the update is done and can be settled. If the store fails, the update stays open for the
    /// next start.
    async fn route(self: &Arc<Self>, update: RawUpdate, arrival: Arrival) -> bool {
        let id = update.id;
        if let Some(reason) = kinds::reason(odd::kind_of(&update.body)) {
            tracing::debug!(update = %id, reason, "an update of a kind that nobody asked for");
            return true;
        }
        let fate = match UpdateView::deserialize(&update.body) {
            Ok(view) if odd::is_odd(&update.body, &view) => self.set_aside(&update, "odd").await,
            // An update that panics must not stop the intake of all others, again at every start.
            Ok(view) => match odd::guarded(self.decide(id, view, arrival), arrival).await {
                Some(decided) => decided,
                None => self.set_aside(&update, "panicked").await,
            },
            Err(_) => Ok(UpdateFate::Dropped("unreadable")),
        };
        match fate {
            Ok(UpdateFate::Pending | UpdateFate::Asked | UpdateFate::Refused(_)) => false,
            Ok(UpdateFate::Settled | UpdateFate::Kept(_)) => true,
            Ok(UpdateFate::Dropped(reason)) => {
                tracing::debug!(update = %id, reason, "an update was dropped");
                true
            }
            Err(error) => {
                tracing::error!(%error, label = error.label(), update = %id, "an update stays open");
                false
            }
        }
    }

    /// Returns the question in an update, if it has one and its author may talk to the bot.
    ///
    /// # Errors
    /// If the store fails.
    pub(crate) fn question(&self, update: &RawUpdate) -> Result<Option<Question>, StoreError> {
        let Ok(view) = UpdateView::deserialize(&update.body) else {
            return Ok(None);
        };
        if let Some(pressed) = view.callback_query {
            return self.commands.question_of(update.id, &pressed);
        }
        if let Some(reaction) = view.message_reaction {
            return self.reaction_question(update.id, &reaction);
        }
        let Some(view) = view.message.or(view.edited_message) else {
            return Ok(None);
        };
        let Some(part) = self.read(update.id, &view)? else {
            return Ok(None);
        };
        let list = self.settings.access()?;
        Ok(match judge(&self.access, &list, &part.place, &part.speaker.user, self.clock.now()) {
            // Another bot has no person's rights.
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
    ) -> Result<UpdateFate, StoreError> {
        if let Some(fate) = self.business_update(id, &view, arrival).await? {
            return Ok(fate);
        }
        if let Some(message) = view.message {
            return self.noted(id, &message, arrival).await;
        }
        if let Some(edited) = view.edited_message {
            return self.edited(id, &edited, arrival).await;
        }
        if let Some(stopped) = view.stopped_message_generation {
            return Ok(self.stop(&stopped));
        }
        if let Some(pressed) = view.callback_query {
            return self.press(id, pressed, arrival).await;
        }
        if let Some(reaction) = view.message_reaction {
            return self.reacted(id, &reaction, arrival).await;
        }
        if let Some(query) = view.inline_query {
            return Ok(self.typed(query));
        }
        if let Some(chosen) = view.chosen_inline_result {
            return self.chosen(id, *chosen, arrival).await;
        }
        if let Some(message) = view.guest_message {
            return self.guest(id, &message, arrival).await;
        }
        match view.my_chat_member {
            Some(member) => self.membership(id, *member, arrival).await,
            None => Ok(UpdateFate::Dropped("unknown_kind")),
        }
    }

    async fn message(
        self: &Arc<Self>,
        id: UpdateId,
        view: &MessageView,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        // Both groups report the migration. The second report also moves messages that were sent to the old group in
        // between.
        let here = ChatId(view.chat.id);
        let moved = view.migrate_to_chat_id.map(|new| (here, ChatId(new)));
        if let Some((from, to)) = moved.or_else(|| view.migrate_from_chat_id.map(|old| (ChatId(old), here))) {
            self.settings.migrate_chat(from, to).await?;
            self.ledger.move_chat(from, to);
            self.parked.reload(None).await?;
            return Ok(UpdateFate::Settled);
        }
        self.note_title(view)?;
        self.note_came(view)?;
        let Some(part) = self.read(id, view)? else {
            return Ok(UpdateFate::Dropped("no_person"));
        };
        if part.is_event() {
            return self.event(id, view, &part).await;
        }
        let command = inbound::command(view, &self.me);
        let is_others = command.as_ref().is_some_and(|command| self.is_others(command, &part));
        let command = command.filter(|_| !is_others);
        let list = self.settings.access()?;
        if let Some(line) = command.as_ref().filter(|_| !part.place.is_group())
            && !list.invites.is_empty()
            && self.accept_owner_invite(id, &part, line).await?
        {
            return Ok(UpdateFate::Pending);
        }
        let standing = match judge(&self.access, &list, &part.place, &part.speaker.user, self.clock.now()) {
            Verdict::Allow(standing) => standing,
            Verdict::Ignore(reason) => return Ok(UpdateFate::Dropped(reason)),
            Verdict::Stranger => return self.stranger(part, command.as_ref(), arrival).await,
            Verdict::Unapproved => return self.refuse_group(part, command.as_ref(), arrival),
        };
        if part.borrowed {
            return self.bot_spoke(part, command.is_some() || is_others, arrival).await;
        }
        self.person_spoke(&part);
        self.commands.keep_menu_button(&part.place, part.client.as_deref(), standing);
        // An owner may address the bot in any group, but other messages there are not stored before the group is
        // allowed.
        if command.is_none() && !part.is_addressed() && !is_served(&self.access, &list, &part.place) {
            return Ok(UpdateFate::Dropped("group_not_allowed"));
        }
        match command {
            Some(line) => self.command(AuthorizedCommand { id, part, standing, line }, arrival).await,
            None if is_others && part.place.is_group() => self.add_background(&part, Reception::OtherBot),
            None => self.talk(part, standing, arrival).await,
        }
    }

    /// Runs a command at once, or starts its turn. If the queue is full, an owner's command is refused only if it
    /// starts a turn.
    async fn command(
        self: &Arc<Self>,
        given: AuthorizedCommand,
        arrival: Arrival,
    ) -> Result<UpdateFate, StoreError> {
        let AuthorizedCommand { id, part, standing, line } = &given;
        let command = self.commands.find(&line.name);
        let begins_turn = command.is_some_and(|command| command.spec().begins_turn);
        let asker = Asker::new(part, *standing);
        let slot = match self.slot(part, arrival) {
            Ok(slot) => Some(slot),
            Err(_) if *standing == Standing::Owner && !begins_turn => None,
            Err(_) if self.commands.run_without_room(line, part, &asker) => return Ok(UpdateFate::Settled),
            Err(refusal) => return Ok(self.refuse(part, refusal)),
        };
        let (conversation, id) = (part.place.conversation(), *id);
        let done = match command.is_some_and(|command| command.is_immediate(&line.argument)) {
            true => Some(self.commands.run(line, part, &asker).await),
            false => None,
        };
        if let Some(CommandOutcome::Job(job)) = done {
            // Posted here, so that it comes before the next message.
            self.mailboxes.post(conversation, QueuedJob::new(*job, slot));
            return Ok(UpdateFate::Pending);
        }
        let this = Arc::clone(self);
        self.background.spawn("command", async move {
            let outcome = match done {
                Some(outcome) => outcome,
                None => this.commands.run(&given.line, &given.part, &asker).await,
            };
            match outcome {
                CommandOutcome::Job(job) => this.mailboxes.post(conversation, QueuedJob::new(*job, slot)),
                CommandOutcome::Card(card) => {
                    let _slot = slot;
                    this.show(id, &asker, card).await;
                    this.answer_first().await;
                }
                CommandOutcome::Stopped(card, turn) => match turn.has_told_of_stop().await {
                    true => this.settle(&[id]).await,
                    false => this.show(id, &asker, card).await,
                },
            }
        });
        Ok(UpdateFate::Pending)
    }

    /// Shows a card for an update and settles it. If the bot stops before that, the next start handles the update.
    async fn show(&self, id: impl Into<Option<UpdateId>>, asker: &Asker, card: Card) {
        if self.commands.cards.show(asker, card).await {
            self.settle(id.into().as_slice()).await;
        }
    }

    fn stop(&self, stopped: &StoppedView) -> UpdateFate {
        let topic = stopped.message_thread_id.map(TopicId);
        let stopped = self.mailboxes.stop(ConversationId { chat: ChatId(stopped.chat.id), topic });
        if stopped.is_some() { UpdateFate::Settled } else { UpdateFate::Dropped("nothing_to_stop") }
    }

    async fn settle(&self, ids: &[UpdateId]) {
        if let Err(error) = self.inbox.settle(ids).await {
            tracing::error!(%error, label = error.label(), ?ids, "updates could not be settled");
        }
    }

    /// Returns `true` if a command is for another bot. In a group, an unknown command without a bot's name may be.
    fn is_others(&self, line: &CommandLine, part: &Inbound) -> bool {
        match line.target {
            CommandTarget::Me => false,
            CommandTarget::Another => true,
            CommandTarget::Nobody => part.place.is_group() && self.commands.find(&line.name).is_none(),
        }
    }
}
