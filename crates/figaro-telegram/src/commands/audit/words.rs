//! Formats entries of the audit log as text.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, Utc};
use figaro_base::tz::Tz;

use figaro_agent::explain::rule_words;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::audit::{AuditActor, AuditEntry, AuditEvent};
use figaro_domain::role::AccessRole;
use figaro_prompts::texts::{Texts, fill};

/// Names of people and chats by Telegram id.
pub(super) type AuditNames = BTreeMap<i64, String>;

/// Settings and data to format entries for a reader.
#[derive(Debug)]
pub(super) struct AuditView<'a> {
    pub(super) texts: &'a Texts,
    /// Time zone of the chat where the entries are read.
    pub(super) zone: Tz,
    pub(super) now: DateTime<Utc>,
    /// Chat in which the entries are read.
    pub(super) here: ChatId,
    pub(super) names: AuditNames,
}

/// Returns the Telegram ids of the people and chats in an entry.
pub(super) fn ids_of(event: &AuditEvent) -> impl Iterator<Item = i64> {
    let actor = match &event.actor {
        AuditActor::Person(user) => user.telegram_id(),
        AuditActor::Bot | AuditActor::Model => None,
    };
    let people = actor.into_iter().chain(event.target_user.as_ref().and_then(UserId::telegram_id));
    people.chain([event.chat, event.target_chat].into_iter().flatten().map(|chat| chat.0))
}

impl AuditView<'_> {
    /// Formats an entry as a line: time, actor, action with its call or person, chat, and reason.
    pub(super) fn line(&self, entry: &AuditEntry) -> String {
        let (texts, event) = (self.texts, &entry.event);
        let who = match &event.actor {
            AuditActor::Person(user) => self.person(user),
            AuditActor::Bot => texts.audit_bot().to_owned(),
            AuditActor::Model => texts.audit_model().to_owned(),
        };
        let at = texts.dated(&event.at.with_timezone(&self.zone), self.now.with_timezone(&self.zone).year());
        let target = event.target_user.as_ref().map(|user| self.person(user));
        let target = target.or_else(|| event.target_chat.map(|chat| self.chat(chat)));
        let method = event.method.as_ref().map(|method| method.as_str());
        let (named, target) = match event.what.is_of_call() {
            true => (method.map(|method| texts.method(method)), target),
            false => (method.and_then(|method| self.of_access(method, target.as_deref())).or(target), None),
        };
        let what = texts.audited(event.what);
        let what = named.map_or_else(|| what.to_owned(), |named| format!("{what}: {named}"));
        let target = target.map(|name| fill(texts.audit_target(), &[("name", &name)]));
        let there = event.target_chat.filter(|_| event.target_user.is_some());
        let place = event.chat.or(there).map(|chat| fill(texts.audit_in(), &[("chat", &self.chat(chat))]));
        let rule = event.rule.as_ref().and_then(|rule| rule_words(texts, rule.as_str()));
        let parts = [Some(at), Some(who), Some(what), target, place, rule];
        format!("• {}", parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
    }

    /// Returns another bot's username, or the person with the role they were given.
    fn of_access(&self, method: &str, person: Option<&str>) -> Option<String> {
        let bot = method.strip_prefix("bot:").map(|bot| format!("@{bot}"));
        let role = AccessRole::named(method).map(|role| self.texts.role(role));
        bot.or_else(|| Some(format!("{} ({})", person?, role?)))
    }

    fn person(&self, user: &UserId) -> String {
        user.telegram_id().map_or_else(|| "?".to_owned(), |id| self.name(id))
    }

    fn chat(&self, chat: ChatId) -> String {
        if chat == self.here { self.texts.approval_here().to_owned() } else { self.name(chat.0) }
    }

    fn name(&self, id: i64) -> String {
        self.names.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use figaro_domain::audit::{AuditHead, AuditKind, AuditName};
    use figaro_prompts::texts::Locales;

    #[test]
    fn an_entry_says_when_who_what_where_and_by_which_rule() {
        let locales = Locales::default();
        let at: DateTime<Utc> = "2026-11-20T12:30:00Z".parse().unwrap();
        let view = AuditView {
            texts: locales.of(None),
            zone: "Europe/Riga".parse::<Tz>().unwrap(),
            now: at,
            here: ChatId(11),
            names: AuditNames::from([(7, "Ann".to_owned()), (8, "Bob".to_owned()), (-5, "Team".to_owned())]),
        };
        let event = |what, actor| AuditEvent::new(what, actor, at);
        let ann = || AuditActor::Person(UserId::telegram(7));
        let cases = [
            (
                AuditEvent {
                    chat: Some(ChatId(11)),
                    target_chat: Some(ChatId(-5)),
                    method: AuditName::new("sendMessage"),
                    rule: AuditName::new("default/other_chat"),
                    ..event(AuditKind::CallDenied, AuditActor::Model)
                },
                "• Fri 20 Nov 14:30 · the model · refused: Send a message · to Team · in this chat · it is aimed at another chat",
            ),
            (
                AuditEvent {
                    target_user: Some(UserId::telegram(8)),
                    ..event(AuditKind::AccessAllowed, ann())
                },
                "• Fri 20 Nov 14:30 · Ann · let in: Bob",
            ),
            (
                AuditEvent { chat: Some(ChatId(-6)), ..event(AuditKind::SettingChanged, AuditActor::Bot) },
                "• Fri 20 Nov 14:30 · the bot · settings changed · in -6",
            ),
        ];
        for (event, wanted) in cases {
            let (entry, _) = AuditHead::default().extend(event, None).unwrap();
            assert_eq!(view.line(&entry), wanted);
        }
    }

    #[test]
    fn every_rule_that_asks_or_refuses_has_words() {
        let locales = Locales::default();
        let policy = include_str!("../../../../figaro-policy/src/tools/policy.yaml");
        let rules = policy.split("  - name: ").skip(1).filter(|rule| !rule.contains("then: allow"));
        let names: Vec<&str> = rules.filter_map(|rule| rule.lines().next()).collect();
        assert!(names.len() > 8, "{names:?}");
        for (tag, texts) in locales.all() {
            for name in &names {
                assert!(texts.rule(&format!("default/{name}")).is_some(), "{tag}: {name}");
            }
        }
    }
}
