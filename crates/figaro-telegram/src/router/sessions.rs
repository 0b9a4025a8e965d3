//! What messages say about sessions: the new name of one, and whether somebody has chosen the title of a topic.

use std::sync::Arc;

use super::{Arrival, Fate, Router};
use crate::commands::{Asker, Outcome, asked_by};
use crate::inbound::{self, CommandLine, Target};
use crate::views::{MessageView, TopicView};
use figaro_base::ids::SessionId;
use figaro_domain::delivery::Author;
use figaro_domain::message::Inbound;
use figaro_policy::access::{Standing, Verdict, judge};
use figaro_store::StoreError;

/// What a reply changes.
enum Wanted {
    /// The name of a session.
    Name(SessionId),
    /// A setting of the chat, as this command would.
    Setting(CommandLine),
}

impl Wanted {
    fn set(command: &str, argument: String) -> Self {
        Self::Setting(CommandLine { name: command.to_owned(), argument, target: Target::Me, replied: None })
    }
}

impl Router {
    /// A reply with the words that a card has asked for: the new name of a session, other words for a memory, or a setting, which is
    /// the command that sets it.
    pub(super) async fn words_asked_for(
        self: &Arc<Self>,
        part: &Inbound,
        standing: Standing,
        arrival: Arrival,
    ) -> Result<Option<Fate>, StoreError> {
        let wanted = match asked_by(&self.outbox, part).await? {
            Some(Author::Rename(session)) => Wanted::Name(session),
            Some(Author::Reword(memory)) => {
                let card = self.rewordings.reword(memory, part, standing).await;
                return Ok(Some(self.answer(part, standing, card, None)));
            }
            Some(Author::Instructions) => Wanted::set("config", format!("instructions {}", part.text.trim())),
            Some(Author::Writing) => Wanted::set("model", part.text.trim().to_owned()),
            Some(Author::Figaro | Author::Model) | None => return Ok(None),
        };
        Ok(Some(self.change(wanted, part.clone(), standing, arrival)))
    }

    /// A reply that changes something. It takes a place, as a command does.
    fn change(self: &Arc<Self>, wanted: Wanted, part: Inbound, standing: Standing, arrival: Arrival) -> Fate {
        let slot = match self.slot(&part, arrival) {
            Ok(slot) => slot,
            Err(refusal) => return self.refuse(&part, refusal),
        };
        let this = Arc::clone(self);
        self.background.spawn("change", async move {
            let (_slot, asker) = (slot, Asker::new(&part, standing));
            let done = match wanted {
                Wanted::Name(session) => Outcome::Card(this.renames.name(session, &part, standing).await),
                Wanted::Setting(line) => this.commands.run(&line, &part, &asker).await,
            };
            if let Outcome::Card(card) = done {
                this.show(part.origin.update(), &asker, card).await;
            }
        });
        Fate::Pending
    }

    /// Notes whether the title of the topic that a message stands in is one that Telegram made up: then the name of the first
    /// session may become the title. It is told when the topic is made, or with what a message replies to.
    pub(super) async fn note_title(&self, view: &MessageView) -> Result<(), StoreError> {
        let created = |view: &MessageView| view.part::<Option<TopicView>>("forum_topic_created");
        let root = || view.reply_to_message.as_deref().and_then(created);
        let is_renamed = view.part::<TopicView>("forum_topic_edited").name.is_some();
        let made_up = created(view).or_else(root).map(|topic| topic.is_name_implicit);
        if !is_renamed && made_up != Some(true) {
            return Ok(());
        }
        let place = inbound::place(view);
        let Some(user) = view.from.as_ref().filter(|_| place.topic.is_some()) else { return Ok(()) };
        let list = self.settings.access().await?;
        let verdict = judge(&self.access, &list, &place, &inbound::speaker_of(user).user, self.clock.now());
        match (verdict, is_renamed) {
            (_, true) => self.sessions.title_topic(place.conversation()).await,
            (Verdict::Allow(_), false) => self.sessions.learn_untitled(place.conversation()).await,
            (Verdict::Stranger | Verdict::Unapproved | Verdict::Ignore(_), false) => Ok(()),
        }
    }
}
