//! Rights of chat administrators, and the right that approves each method by default.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Default right per method. Parsed once; a test checks the file.
static RIGHTS: LazyLock<BTreeMap<String, AdminRight>> = LazyLock::new(embedded);

/// A right of an administrator, as in Telegram's `ChatAdministratorRights`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AdminRight {
    /// The basic right that every administrator holds.
    ManageChat,
    /// Deletes messages of others.
    DeleteMessages,
    /// Manages video chats.
    ManageVideoChats,
    /// Bans and restricts members.
    RestrictMembers,
    /// Makes administrators.
    PromoteMembers,
    /// Changes title, picture and settings.
    ChangeInfo,
    /// Invites people.
    InviteUsers,
    /// Posts stories.
    PostStories,
    /// Edits stories.
    EditStories,
    /// Deletes stories.
    DeleteStories,
    /// Posts in a channel.
    PostMessages,
    /// Edits posts of others in a channel.
    EditMessages,
    /// Pins messages in a group.
    PinMessages,
    /// Manages topics.
    ManageTopics,
    /// Manages direct messages of a channel.
    ManageDirectMessages,
    /// Changes tags of members.
    ManageTags,
    /// Sends welcome messages.
    SendWelcomeMessages,
}

impl AdminRight {
    /// All rights, in Telegram's order.
    pub(crate) const ALL: [Self; 17] = [
        Self::ManageChat,
        Self::DeleteMessages,
        Self::ManageVideoChats,
        Self::RestrictMembers,
        Self::PromoteMembers,
        Self::ChangeInfo,
        Self::InviteUsers,
        Self::PostStories,
        Self::EditStories,
        Self::DeleteStories,
        Self::PostMessages,
        Self::EditMessages,
        Self::PinMessages,
        Self::ManageTopics,
        Self::ManageDirectMessages,
        Self::ManageTags,
        Self::SendWelcomeMessages,
    ];

    /// Returns Telegram's field name of the right.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ManageChat => "can_manage_chat",
            Self::DeleteMessages => "can_delete_messages",
            Self::ManageVideoChats => "can_manage_video_chats",
            Self::RestrictMembers => "can_restrict_members",
            Self::PromoteMembers => "can_promote_members",
            Self::ChangeInfo => "can_change_info",
            Self::InviteUsers => "can_invite_users",
            Self::PostStories => "can_post_stories",
            Self::EditStories => "can_edit_stories",
            Self::DeleteStories => "can_delete_stories",
            Self::PostMessages => "can_post_messages",
            Self::EditMessages => "can_edit_messages",
            Self::PinMessages => "can_pin_messages",
            Self::ManageTopics => "can_manage_topics",
            Self::ManageDirectMessages => "can_manage_direct_messages",
            Self::ManageTags => "can_manage_tags",
            Self::SendWelcomeMessages => "can_send_welcome_messages",
        }
    }

    /// Returns the right with this Telegram name.
    #[must_use]
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|right| right.name() == name)
    }

    /// Returns the right that an approver needs for a method if the rule names none; `None` if only an owner may approve.
    #[must_use]
    pub fn for_method(method: &str) -> Option<Self> {
        RIGHTS.get(method).copied()
    }
}

#[expect(clippy::expect_used, reason = "the data is part of the build; a test parses it")]
fn embedded() -> BTreeMap<String, AdminRight> {
    let written: BTreeMap<String, Vec<String>> =
        serde_saphyr::from_str(include_str!("rights.yaml")).expect("rights.yaml fits");
    let of = |(right, methods): (String, Vec<String>)| {
        let right = AdminRight::named(&right).expect("rights.yaml names rights");
        methods.into_iter().map(move |method| (method, right))
    };
    written.into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use figaro_mcp::table::{ApiTable, TypeDef};

    use super::*;

    #[test]
    fn the_rights_are_telegrams() {
        let Some(TypeDef::Fields(fields)) = ApiTable::get().type_def("ChatAdministratorRights") else {
            panic!("no such type")
        };
        let fields = fields.iter().map(|field| field.name.as_str()).filter(|name| *name != "is_anonymous");
        assert_eq!(fields.collect::<Vec<_>>(), AdminRight::ALL.map(AdminRight::name));
    }

    #[test]
    fn each_method_needs_one_right_of_the_chat_that_it_names() {
        let listed: BTreeMap<String, Vec<String>> =
            serde_saphyr::from_str(include_str!("rights.yaml")).unwrap();
        assert_eq!(listed.values().map(Vec::len).sum::<usize>(), RIGHTS.len(), "one stands twice");
        for name in RIGHTS.keys() {
            let method = ApiTable::get().method(name).unwrap_or_else(|| panic!("no method {name}"));
            assert!(method.params.iter().any(|param| param.name == "chat_id"), "{name} names no chat");
        }
        assert_eq!(AdminRight::for_method("banChatMember"), Some(AdminRight::RestrictMembers));
        assert_eq!(AdminRight::for_method("setMyName"), None);
    }
}
