//! Entries of the audit log in words.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, Utc};
use chrono_tz::Tz;

use figaro_base::ids::{ChatId, UserId};
use figaro_domain::audit::{AuditActor, AuditEntry, AuditEvent, AuditKind};
use figaro_prompts::texts::{Texts, fill};

/// The names of people and chats by their Telegram numbers.
pub(super) type Names = BTreeMap<i64, String>;

/// How entries are shown to somebody.
#[derive(Debug)]
pub(super) struct View<'a> {
    /// The texts in their language.
    pub(super) texts: &'a Texts,
    /// The zone of the chat.
    pub(super) zone: Tz,
    /// The current time, UTC.
    pub(super) now: DateTime<Utc>,
    /// The chat that they read it in.
    pub(super) here: ChatId,
    /// How people and chats are called.
    pub(super) names: Names,
}

/// What an entry tells of, in a few words.
pub(in super::super) fn kind(texts: &Texts, what: AuditKind) -> &str {
    match what {
        AuditKind::CallAllowed => texts.audit_call_allowed(),
        AuditKind::CallAsked => texts.audit_call_asked(),
        AuditKind::CallDenied => texts.audit_call_denied(),
        AuditKind::ApprovalGiven => texts.audit_approval_given(),
        AuditKind::ApprovalDenied => texts.audit_approval_denied(),
        AuditKind::ApprovalExpired => texts.audit_approval_expired(),
        AuditKind::ApprovalEnded => texts.audit_approval_ended(),
        AuditKind::ApprovalUsed => texts.audit_approval_used(),
        AuditKind::AccessAllowed => texts.audit_access_allowed(),
        AuditKind::AccessDenied => texts.audit_access_denied(),
        AuditKind::AccessLifted => texts.audit_access_lifted(),
        AuditKind::OwnerMade => texts.audit_owner_made(),
        AuditKind::CodeMade => texts.audit_code_made(),
        AuditKind::RoleGiven => texts.audit_role_given(),
        AuditKind::SettingChanged => texts.audit_setting_changed(),
        AuditKind::Undone => texts.audit_undone(),
    }
}

/// The people and chats of an entry, by their Telegram numbers.
pub(super) fn ids_of(event: &AuditEvent) -> impl Iterator<Item = i64> {
    let actor = match &event.actor {
        AuditActor::Person(user) => user.telegram_id(),
        AuditActor::Bot | AuditActor::Model => None,
    };
    let people = actor.into_iter().chain(event.target_user.as_ref().and_then(UserId::telegram_id));
    people.chain([event.chat, event.target_chat].into_iter().flatten().map(|chat| chat.0))
}

impl View<'_> {
    /// An entry as a line: when, who, what about which method and whom, where, and by which rule.
    pub(super) fn line(&self, entry: &AuditEntry) -> String {
        let (texts, event) = (self.texts, &entry.event);
        let who = match &event.actor {
            AuditActor::Person(user) => self.person(user),
            AuditActor::Bot => texts.audit_bot().to_owned(),
            AuditActor::Model => texts.audit_model().to_owned(),
        };
        let at = texts.dated(&event.at.with_timezone(&self.zone), self.now.with_timezone(&self.zone).year());
        let what = kind(texts, event.what).to_owned();
        let what =
            event.method.as_ref().map_or(what.clone(), |method| format!("{what}: {}", method.as_str()));
        let target = event.target_user.as_ref().map(|user| self.person(user));
        let target = target.or_else(|| event.target_chat.map(|chat| self.chat(chat)));
        let target = target.map(|name| fill(texts.audit_target(), &[("name", &name)]));
        let place = event.chat.map(|chat| fill(texts.audit_in(), &[("chat", &self.chat(chat))]));
        let rule = event.rule.as_ref().map(|rule| fill(texts.audit_rule(), &[("rule", rule.as_str())]));
        let parts = [Some(at), Some(who), Some(what), target, place, rule];
        format!("• {}", parts.into_iter().flatten().collect::<Vec<_>>().join(" · "))
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
    use figaro_domain::audit::{AuditHead, AuditName};
    use figaro_prompts::texts::Locales;

    #[test]
    fn an_entry_says_when_who_what_where_and_by_which_rule() {
        let locales = Locales::load().unwrap();
        let at: DateTime<Utc> = "2026-11-20T12:30:00Z".parse().unwrap();
        let view = View {
            texts: locales.of(None),
            zone: Tz::Europe__Riga,
            now: at,
            here: ChatId(11),
            names: Names::from([(7, "Ann".to_owned()), (8, "Bob".to_owned()), (-5, "Team".to_owned())]),
        };
        let event = |what, actor| AuditEvent::new(what, actor, at);
        let ann = || AuditActor::Person(UserId::telegram(7));
        let cases = [
            (
                AuditEvent {
                    chat: Some(ChatId(11)),
                    target_chat: Some(ChatId(-5)),
                    method: AuditName::new("sendMessage"),
                    rule: AuditName::new("default/elsewhere"),
                    ..event(AuditKind::CallDenied, AuditActor::Model)
                },
                "• Fri 20 Nov 14:30 · the model · refused: sendMessage · to Team · in this chat · rule default/elsewhere",
            ),
            (
                AuditEvent {
                    target_user: Some(UserId::telegram(8)),
                    ..event(AuditKind::AccessAllowed, ann())
                },
                "• Fri 20 Nov 14:30 · Ann · let in · to Bob",
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
}
