//! Rights to rule on a call that needs approval, and to undo one.

use serde_json::Value;

use super::access::Admins;
use super::tools::AdminRight;
use figaro_base::ids::{ChatId, UserId};
use figaro_domain::approval::{Approval, MethodCall, Ruled};
use figaro_domain::undo::{RESTORE_RECORDS, TurnUndo};

/// Reason why a person may not approve a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAllowed {
    /// They requested the call, and its rule requires another person.
    Requester,
    /// Only an owner of the bot may.
    OwnersOnly,
    /// They are not an admin with the required right in each chat that the call acts on.
    NoRight,
}

/// Judges whether a person may make this ruling on a call now. The requester may cancel it. Approval takes an owner of
/// the bot, or an admin with the required right in every chat that the call acts on; in a private chat that is its one
/// user.
///
/// # Errors
/// The reason why they may not.
pub async fn may_rule(
    ruled: Ruled,
    user: &UserId,
    is_owner: bool,
    approval: &Approval,
    admins: &dyn Admins,
) -> Result<(), NotAllowed> {
    let is_requester = approval.requester.user == *user;
    if is_requester && ruled == Ruled::Denied {
        return Ok(());
    }
    if is_requester && approval.needs_other && ruled != Ruled::Denied {
        return Err(NotAllowed::Requester);
    }
    if is_owner {
        return Ok(());
    }
    let chats = approval.chats();
    holds(user, approval.right.as_deref(), &chats, admins).await?;
    match approval.calls.iter().any(deletes_too) {
        true => holds(user, Some(AdminRight::DeleteMessages.name()), &chats, admins).await,
        false => Ok(()),
    }
}

/// Returns `true` if a call deletes messages as a side effect of its method.
fn deletes_too(call: &MethodCall) -> bool {
    call.arguments.get("revoke_messages") == Some(&Value::Bool(true))
}

/// Judges whether a person may undo now what a turn did. The requester may undo what needed no approval. All else takes
/// an owner of the bot, or an admin of each chat with the right for the undoing call.
///
/// # Errors
/// The reason why they may not.
pub async fn may_undo(
    user: &UserId,
    is_owner: bool,
    undo: &TurnUndo,
    admins: &dyn Admins,
) -> Result<(), NotAllowed> {
    if is_owner {
        return Ok(());
    }
    let is_requester = undo.asked_by == *user;
    for call in undo.calls.iter().filter(|call| call.is_approved || !is_requester) {
        // Records belong to the chat; no Telegram right covers them.
        if call.call.method == RESTORE_RECORDS {
            match admins.is_admin(call.target.chat, user).await {
                true => continue,
                false => return Err(NotAllowed::NoRight),
            }
        }
        let right = AdminRight::for_method(&call.call.method).map(AdminRight::name);
        holds(user, right, &[call.target.chat], admins).await?;
    }
    Ok(())
}

/// Judges whether a person holds a right in all of these chats; without a right only an owner passes.
///
/// # Errors
/// The reason why they may not.
pub async fn holds(
    user: &UserId,
    right: Option<&str>,
    chats: &[ChatId],
    admins: &dyn Admins,
) -> Result<(), NotAllowed> {
    let Some(right) = right else { return Err(NotAllowed::OwnersOnly) };
    for chat in chats {
        if !admins.has_right(*chat, user, right).await {
            return Err(NotAllowed::NoRight);
        }
    }
    // A call that acts on no chat has no admin to approve it.
    if chats.is_empty() { Err(NotAllowed::OwnersOnly) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::*;
    use figaro_base::ids::{ChatId, RunId};
    use figaro_domain::approval::{ApprovalTarget, Fingerprint, MethodCall};
    use figaro_domain::message::Speaker;
    use figaro_domain::undo::{MadeIn, Undoable};

    /// User 2 may restrict members in chat -5, user 3 in -5 and -6 and delete messages there, too.
    #[derive(Debug)]
    struct Some2And3;

    #[async_trait]
    impl Admins for Some2And3 {
        async fn is_admin(&self, _chat: ChatId, _user: &UserId) -> bool {
            true
        }

        async fn is_member(&self, _chat: ChatId, _user: &UserId) -> bool {
            true
        }

        async fn has_right(&self, chat: ChatId, user: &UserId, right: &str) -> bool {
            let chats: &[i64] = match user.telegram_id() {
                Some(2) => &[-5],
                Some(3) => &[-5, -6],
                _ => &[],
            };
            let deletes = right == "can_delete_messages" && user.telegram_id() == Some(3);
            (right == "can_restrict_members" || deletes) && chats.contains(&chat.0)
        }
    }

    fn approval(requester: i64, targets: &[i64], right: Option<&str>, needs_other: bool) -> Approval {
        Approval {
            fingerprint: Fingerprint::of(RunId::new(), "c", &[]),
            calls: Vec::new(),
            server: None,
            targets: targets.iter().map(|chat| ApprovalTarget { chat: ChatId(*chat), title: None }).collect(),
            people: Vec::new(),
            about: None,
            right: right.map(str::to_owned),
            needs_other,
            may_last: true,
            rule: "r".into(),
            reason: None,
            read: None,
            asked_in: ChatId(-5),
            requester: Speaker { user: UserId::telegram(requester), name: "A".into(), username: None },
        }
    }

    #[tokio::test]
    async fn owners_and_admins_with_the_right_approve() {
        use NotAllowed::{NoRight, OwnersOnly, Requester};
        let restrict = Some("can_restrict_members");
        let cases = [
            // who, owner, asked by, chats, right, another person needed
            (1, true, 2, &[-5][..], restrict, false, Ok(())),
            (1, true, 1, &[-5], restrict, false, Ok(())),
            (1, true, 1, &[-5], restrict, true, Err(Requester)),
            (1, true, 2, &[-5], None, true, Ok(())),
            (2, false, 2, &[-5], restrict, false, Ok(())),
            (2, false, 2, &[-5], restrict, true, Err(Requester)),
            (2, false, 4, &[-5], restrict, true, Ok(())),
            (2, false, 4, &[-5], None, false, Err(OwnersOnly)),
            (2, false, 4, &[-5], Some("can_pin_messages"), false, Err(NoRight)),
            (2, false, 4, &[-6], restrict, false, Err(NoRight)),
            (2, false, 4, &[-5, -6], restrict, false, Err(NoRight)),
            (3, false, 4, &[-5, -6], restrict, false, Ok(())),
            (3, false, 4, &[], restrict, false, Err(OwnersOnly)),
            (4, false, 4, &[-5], restrict, false, Err(NoRight)),
        ];
        for (user, is_owner, requester, chats, right, needs_other, wanted) in cases {
            let approval = approval(requester, chats, right, needs_other);
            let user = UserId::telegram(user);
            for ruled in [Ruled::Once, Ruled::Hour] {
                let may = may_rule(ruled, &user, is_owner, &approval, &Some2And3).await;
                assert_eq!(may, wanted, "{user} {approval:?}");
            }
        }
        let own = approval(4, &[-5], None, true);
        let deny = async |user, is_owner| {
            may_rule(Ruled::Denied, &UserId::telegram(user), is_owner, &own, &Some2And3).await
        };
        assert_eq!((deny(4, false).await, deny(1, true).await), (Ok(()), Ok(())), "it can be taken back");
        assert_eq!(deny(2, false).await, Err(OwnersOnly));
    }

    #[tokio::test]
    async fn a_ban_that_deletes_messages_takes_both_rights() {
        let may = async |user, revokes: bool| {
            let arguments = serde_json::json!({"user_id": 7, "revoke_messages": revokes});
            let Value::Object(arguments) = arguments else { panic!() };
            let calls = vec![MethodCall { method: "banChatMember".into(), arguments }];
            let approval = Approval { calls, ..approval(4, &[-5], Some("can_restrict_members"), false) };
            may_rule(Ruled::Once, &UserId::telegram(user), false, &approval, &Some2And3).await
        };
        assert_eq!((may(2, false).await, may(2, true).await), (Ok(()), Err(NotAllowed::NoRight)));
        assert_eq!((may(3, false).await, may(3, true).await), (Ok(()), Ok(())));
    }

    #[tokio::test]
    async fn what_was_approved_is_taken_back_by_those_who_could_approve_that() {
        use NotAllowed::{NoRight, OwnersOnly};
        let call = |method: &str, chat, is_approved| Undoable {
            left: serde_json::Map::new(),
            call: MethodCall { method: method.into(), arguments: serde_json::Map::new() },
            target: ApprovalTarget { chat: ChatId(chat), title: None },
            person: None,
            is_approved,
            outcome: None,
        };
        let (unban, free) = (call("unbanChatMember", -5, true), call("unbanChatMember", -5, false));
        let (elsewhere, unknown) = (call("unbanChatMember", -6, true), call("setMyName", -5, true));
        let cases = [
            // who, owner, asked by, what, whether
            (1, true, 2, vec![unban.clone(), unknown.clone()], Ok(())),
            (4, false, 4, vec![free.clone()], Ok(())),
            (4, false, 4, vec![free.clone(), unban.clone()], Err(NoRight)),
            (4, false, 2, vec![free.clone()], Err(NoRight)),
            (2, false, 4, vec![free.clone(), unban.clone()], Ok(())),
            (2, false, 2, vec![unban.clone(), elsewhere.clone()], Err(NoRight)),
            (3, false, 2, vec![unban, elsewhere], Ok(())),
            (2, false, 2, vec![unknown], Err(OwnersOnly)),
        ];
        for (user, is_owner, asked_by, calls, wanted) in cases {
            let made = MadeIn {
                run: RunId::new(),
                asked_in: ChatId(-5),
                asked_by: UserId::telegram(asked_by),
                at: chrono::DateTime::UNIX_EPOCH,
            };
            let undo = TurnUndo { calls, ..TurnUndo::new(&made) };
            let may = may_undo(&UserId::telegram(user), is_owner, &undo, &Some2And3).await;
            assert_eq!(may, wanted, "{user} {undo:?}");
        }
    }
}
