//! Session changes by messages: a new name, and titles of topics chosen by people.

use std::sync::Arc;

use super::{Arrival, Router, UpdateFate};
use crate::commands::{Asker, CommandOutcome, asked_by};
use crate::inbound::{self, CommandLine, CommandTarget};
use crate::views::{MessageView, TopicView};
use figaro_base::ids::SessionId;
use figaro_domain::delivery::Author;
use figaro_domain::message::Inbound;
use figaro_policy::access::{Standing, Verdict, judge};
use figaro_store::StoreError;

/// Change of a session or a setting that a reply requests.
enum ReplyChange {
    Name(SessionId),
    /// Change of a chat setting, by this command.
    Setting(CommandLine),
}

impl ReplyChange {
    fn set(command: &str, argument: String) -> Self {
        Self::Setting(CommandLine {
            name: command.to_owned(),
            argument,
            target: CommandTarget::Me,
            replied: None,
        })
    }
}

impl Router {
    /// Handles a reply with the text that a card asked for: a new name of a session, a new wording of a memory, or a
    /// setting, which runs the command that sets it.
    pub(super) async fn words_asked_for(
        self: &Arc<Self>,
        part: &Inbound,
        standing: Standing,
        arrival: Arrival,
    ) -> Result<Option<UpdateFate>, StoreError> {
        let wanted = match asked_by(&self.outbox, part)? {
            Some(Author::Rename(session)) => ReplyChange::Name(session),
            Some(Author::Reword(memory)) => {
                let card = self.rewordings.reword(memory, part, standing).await;
                return Ok(Some(self.answer(part, standing, card, None)));
            }
            Some(Author::Instructions) => {
                ReplyChange::set("config", format!("instructions {}", part.text.trim()))
            }
            Some(Author::Writing) => ReplyChange::set("model", part.text.trim().to_owned()),
            Some(Author::Figaro | Author::Model) | None => return Ok(None),
        };
        Ok(Some(self.change(wanted, part.clone(), standing, arrival)))
    }

    /// Applies a requested change. It needs a slot in the queue, like a command.
    fn change(
        self: &Arc<Self>,
        wanted: ReplyChange,
        part: Inbound,
        standing: Standing,
        arrival: Arrival,
    ) -> UpdateFate {
        let slot = match self.slot(&part, arrival) {
            Ok(slot) => slot,
            Err(refusal) => return self.refuse(&part, refusal),
        };
        let this = Arc::clone(self);
        self.background.spawn("change", async move {
            let (_slot, asker) = (slot, Asker::new(&part, standing));
            let done = match wanted {
                ReplyChange::Name(session) => {
                    CommandOutcome::Card(this.renames.name(session, &part, standing).await)
                }
                ReplyChange::Setting(line) => this.commands.run(&line, &part, &asker).await,
            };
            if let CommandOutcome::Card(card) = done {
                this.show(part.origin.update(), &asker, card).await;
            }
        });
        UpdateFate::Pending
    }

    /// Records that Telegram made up the title of a message's topic, so that the name of the first session may become
    /// the title, or that people have chosen one. Telegram tells this when the topic is created or renamed, or with
    /// the message that is replied to.
    pub(super) fn note_title(&self, view: &MessageView) -> Result<(), StoreError> {
        let created = |view: &MessageView| view.part::<Option<TopicView>>("forum_topic_created");
        let root = || view.reply_to_message.as_deref().and_then(created);
        let is_renamed = view.part::<TopicView>("forum_topic_edited").name.is_some();
        let made_up = created(view).or_else(root).map(|topic| topic.is_name_implicit);
        if !is_renamed && made_up != Some(true) {
            return Ok(());
        }
        let place = inbound::place(view);
        let Some(user) = view.from.as_ref().filter(|_| place.topic.is_some()) else { return Ok(()) };
        let list = self.settings.access()?;
        let verdict = judge(&self.access, &list, &place, &inbound::speaker_of(user).user, self.clock.now());
        match (verdict, is_renamed) {
            (_, true) => self.sessions.title_topic(place.conversation()),
            (Verdict::Allow(_), false) => self.sessions.learn_untitled(place.conversation()),
            (Verdict::Stranger | Verdict::Unapproved | Verdict::Ignore(_), false) => Ok(()),
        }
    }
}
