//! What an approval of a method takes.

use figaro_mcp::table::{Class, Method};

use super::{OTHER, OTHER_CHAT, OTHERS_MESSAGE, REACHING_RULE};

/// Rights for what gives nobody power and can be taken back: only such calls may be approved for a while.
const LASTING: [&str; 3] = ["can_pin_messages", "can_post_messages", "can_manage_topics"];

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

/// What an approval of a method takes that the rule with this name has asked about.
#[must_use]
pub fn terms(method: &Method, rule: &str) -> Terms {
    // What acts on nothing that a chat's admins have a say in is the owner's business, and so is whose account or purse it uses.
    let is_chats = method.params.iter().any(|param| param.name == "chat_id") && rule != REACHING_RULE;
    let right = if is_chats { right(method) } else { None };
    let is_mild = right.is_some_and(|right| LASTING.contains(&right)) && !method.irreversible;
    let may_last = is_mild && [OTHER_CHAT, OTHERS_MESSAGE, OTHER].contains(&rule);
    Terms { right: right.map(str::to_owned), needs_other: false, may_last, rule: rule.to_owned() }
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
        Class::Moderation if name == "setChatMemberTag" => Some("can_manage_tags"),
        // It deletes all messages of the topic.
        Class::Moderation if name == "deleteForumTopic" => Some("can_delete_messages"),
        Class::Moderation if has(&["Topic"]) => Some("can_manage_topics"),
        // An admin who may make others gives no more than they hold themselves, which is not looked at here.
        Class::Moderation if has(&["promote", "AdministratorCustomTitle"]) => None,
        Class::Moderation if has(&["Title", "Description", "Photo", "StickerSet"]) => Some("can_change_info"),
        _ => None,
    }
}
