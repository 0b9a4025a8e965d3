//! `/start`, `/help`, `/new`, `/stop`, and the words for owners, strangers and groups.

use super::{Asker, Card, Commands, EXAMPLE, Pressed};
use crate::domain::access::looks_like_invite;
use crate::policy::access::Standing;
use crate::prompts::texts::fill;
use crate::store::StoreError;
use crate::telegram::send::Button;
use crate::turn::queue::Mailboxes;

impl Commands {
    pub(super) fn start(&self, asker: &Asker, argument: &str) -> Card {
        let texts = self.texts(asker);
        if looks_like_invite(argument) && asker.standing != Standing::Owner {
            return Card::text(&texts.claim_void);
        }
        let values = [("name", self.me.name.as_str()), ("model", &self.default_model())];
        let example = vec![Button::new(&texts.button_example, EXAMPLE)];
        if asker.standing != Standing::Owner {
            return Card::text(fill(&texts.start_member, &values)).row(example);
        }
        let access = vec![Button::new(&texts.button_access, "start:access")];
        let settings = vec![Button::new(&texts.button_settings, "config:show")];
        Card::text(fill(&texts.start_owner, &values)).row(example).row(access).row(settings)
    }

    pub(super) fn help(&self, asker: &Asker) -> Card {
        let texts = self.texts(asker);
        let group = |title: &str, commands: &[(&str, &str)]| {
            let lines: Vec<String> =
                commands.iter().map(|(name, about)| format!("/{name} – {about}")).collect();
            format!("\n\n{title}\n{}", lines.join("\n"))
        };
        let mut body = texts.help.trim().to_owned();
        body += &group(
            &texts.help_chat,
            &[("new", &texts.command_new), ("retry", &texts.command_retry), ("stop", &texts.command_stop)],
        );
        body += &group(&texts.help_remember, &[("notes", &texts.command_notes)]);
        body += &group(&texts.help_schedule, &[("tasks", &texts.command_tasks)]);
        body += &group(
            &texts.help_settings,
            &[
                ("model", &texts.command_model),
                ("config", &texts.command_config),
                ("timezone", &texts.command_timezone),
                ("usage", &texts.command_usage),
                ("status", &texts.command_status),
            ],
        );
        if asker.standing == Standing::Owner {
            body +=
                &group(&texts.help_owner, &[("allow", &texts.command_allow), ("deny", &texts.command_deny)]);
        }
        match body.split_once('\n') {
            Some((title, rest)) => Card::titled(title, rest),
            None => Card::text(body),
        }
    }

    pub(super) async fn new_session(&self, asker: &Asker) -> Result<Card, StoreError> {
        self.store.new_session(asker.place.conversation(), self.now()).await?;
        Ok(Card::text(&self.texts(asker).new_session))
    }

    pub(super) fn stop(&self, asker: &Asker, mailboxes: &Mailboxes) -> Card {
        let texts = self.texts(asker);
        let stopped = mailboxes.stop(asker.place.conversation());
        Card::text(if stopped { &texts.stop_done } else { &texts.stop_nothing })
    }

    /// For someone who has just become the owner.
    #[must_use]
    pub fn claimed(&self, asker: &Asker) -> Card {
        let start = self.start(asker, "");
        Card { title: Some(self.texts(asker).claimed.clone()), ..start }
    }

    /// For a stranger, once.
    #[must_use]
    pub fn private(&self, asker: &Asker) -> Card {
        let id = asker.speaker.user.telegram_id().unwrap_or_default().to_string();
        Card::text(fill(&self.texts(asker).private_bot, &[("id", &id)]))
    }

    /// For a group that the bot has just been added to.
    #[must_use]
    pub fn joined(&self, asker: &Asker, is_admin: bool) -> Card {
        let texts = self.texts(asker);
        let values = [("name", self.me.name.as_str()), ("username", &self.me.username)];
        let words = fill(&texts.joined, &values);
        // An admin sees everything, whatever the privacy mode.
        if self.me.reads_all || is_admin {
            return Card::text(words);
        }
        Card::text(format!("{words}\n\n{}", texts.privacy_hint))
    }

    pub(super) async fn press_start(&self, what: &str, asker: &Asker) -> Result<Pressed, StoreError> {
        match what {
            "access" if asker.standing == Standing::Owner => {
                Ok(Pressed::card(self.access_card(asker).await?))
            }
            "back" => Ok(Pressed::card(self.start(asker, ""))),
            _ => Ok(Pressed::toast(&self.texts(asker).owner_only)),
        }
    }
}
