//! What an approval of a method takes.

use figaro_mcp::table::{Class, Method};

/// What an approval takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// The admin right, by its name in the Bot API, by which an admin of the chats may approve; none where only an owner may.
    pub right: Option<String>,
    /// Whether whoever asked may not approve it.
    pub needs_other: bool,
    /// Whether it may be approved for a while.
    pub may_last: bool,
    /// The rule by its name.
    pub rule: String,
}

impl Terms {
    /// What an approval of both takes.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            right: self.right.filter(|right| other.right.as_ref() == Some(right)),
            needs_other: self.needs_other || other.needs_other,
            may_last: self.may_last && other.may_last,
            rule: self.rule,
        }
    }
}

/// What an approval of a method takes.
#[must_use]
pub fn terms(method: &Method) -> Terms {
    let right = right(method).map(str::to_owned);
    let may_last = right.is_some() && !method.irreversible;
    Terms { right, needs_other: false, may_last, rule: "default".to_owned() }
}

/// The right that the Bot API asks of a bot, or of an admin, for what a method does.
fn right(method: &Method) -> Option<&'static str> {
    let name = method.name.as_str();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match method.class {
        Class::Message if name.starts_with("edit") => Some("can_edit_messages"),
        Class::Message => Some("can_post_messages"),
        Class::Delete => Some("can_delete_messages"),
        Class::Moderation if has(&["pinChatMessage", "unpinAll"]) => Some("can_pin_messages"),
        Class::Moderation if has(&["Invite", "JoinRequest"]) => Some("can_invite_users"),
        Class::Moderation if has(&["ban", "Ban", "restrict", "Permissions"]) => Some("can_restrict_members"),
        Class::Moderation if has(&["Topic"]) => Some("can_manage_topics"),
        Class::Moderation if has(&["promote", "AdministratorCustomTitle"]) => Some("can_promote_members"),
        Class::Moderation if has(&["Title", "Description", "Photo", "StickerSet"]) => Some("can_change_info"),
        _ => None,
    }
}
