//! Permissions of the model at Telegram. The model is assumed to be turned against its owner by something it read: it
//! acts in its own chat, on its own messages. All else is decided by rules, which are data; a call that is not understood
//! is refused.

mod buttons;
mod call;
mod decided;
mod facts;
mod file;
mod loaded;
mod previews;
mod right;
mod rule;
mod rules;
mod server;
mod target;
#[cfg(test)]
mod tests;
mod words;

use figaro_mcp::table::Class;

use self::buttons::smuggles;
pub use self::call::{CallerRole, TelegramCall};
pub use self::decided::{AFTER_READING, Decided, Decision, OWNERS};
use self::facts::{CallFacts, Loads};
use self::loaded::loaded;
pub use self::previews::settle_previews;
pub use self::right::AdminRight;
pub use self::rules::{Policy, Rules};
pub use self::server::{ServerCall, decide_server};
pub use self::target::chat_number;
pub(crate) use self::target::targets;
use super::address::is_public;
use figaro_base::ids::ChatId;
use figaro_base::text::one_line;

/// Decides about a call whose arguments fit its method. Limits that no rule lifts are checked first.
#[must_use]
pub fn decide(rules: &Rules, call: &TelegramCall<'_>) -> Decided {
    facts(rules, call).map_or_else(|limit| *limit, |facts| rules.decide(&facts))
}

/// Returns `true` if a call stays within a standing approval of this method for this chat: it names no other chat, loads
/// no address that only the model wrote, and reaches nobody else.
#[must_use]
pub fn is_within(rules: &Rules, call: &TelegramCall<'_>, chat: ChatId) -> bool {
    facts(rules, call).is_ok_and(|facts| Rules::opens(&facts, chat))
}

/// Collects the facts of a call; returns the limit as an error if it exceeds one.
fn facts<'a>(rules: &Rules, call: &'a TelegramCall<'a>) -> Result<CallFacts<'a>, Box<Decided>> {
    let limit = |name, reason| Err(Box::new(Decided::limit(name, reason)));
    let loaded = match loaded(call) {
        Ok(loaded) => loaded,
        Err(excess) => return limit("too_much", excess.to_string()),
    };
    if let Some(address) = loaded.iter().find(|address| !is_public(address)) {
        let reason = format!(
            "Telegram would have to load `{}`, which is not on the public web. Give a file_id, or the whole address \
             (https://…) of a public page or file as a person wrote it or as search found it",
            one_line(address, 80)
        );
        return limit("private_address", reason);
    }
    if call.method.class == Class::Lifecycle {
        return limit("lifecycle", "it would take the update stream away from the running bot".to_owned());
    }
    if let Some(why) = smuggles(call.args) {
        return limit("buttons", why.to_owned());
    }
    // Figaro's own messages show stored state; an approved edit of one would make it lie.
    let is_changed =
        matches!(call.method.class, Class::Message | Class::Delete) && call.method.changes_messages();
    if call.figaros && is_changed {
        return limit("figaros", "the message is not one that you sent, but Figaro's own".to_owned());
    }
    let targets = match targets(call.args) {
        Ok(targets) => targets,
        Err(odd) => return limit("odd_chat", odd.to_string()),
    };
    let unknown = loaded.iter().find(|address| !call.addresses.has(address));
    let loads = match unknown {
        Some(address) => Loads::Unknown(address.to_owned()),
        None if loaded.iter().next().is_some() => Loads::Known,
        None => Loads::Nothing,
    };
    Ok(CallFacts::of(call, targets, loads, &rules.watched))
}
