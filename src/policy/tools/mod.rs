//! What the model may do with Telegram. It is assumed to be turned against its owner by something it read: it acts in
//! its own chat, on its own messages; all else is for rules, which are data, and whatever is not understood is refused.

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
mod target;
#[cfg(test)]
mod tests;
mod words;

use figaro_mcp::table::Class;

use self::buttons::smuggles;
pub use self::call::{Role, TelegramCall};
pub use self::decided::{Decided, Decision, OWNERS, RuleName};
use self::facts::{Facts, Loads};
use self::loaded::loaded;
pub use self::previews::settle_previews;
pub use self::right::AdminRight;
pub use self::rules::{Policy, Rules};
pub use self::target::{OddTarget, Target, chat_number, targets};
use super::address::is_public;
use crate::text::one_line;

/// Decides about a call whose arguments fit its method. What no rule can open is looked at first.
#[must_use]
pub fn decide(rules: &Rules, call: &TelegramCall<'_>) -> Decided {
    let loaded = match loaded(call) {
        Ok(loaded) => loaded,
        Err(excess) => return Decided::limit("too_much", excess.to_string()),
    };
    if let Some(address) = loaded.iter().find(|address| !is_public(address)) {
        let reason = format!(
            "Telegram would have to load `{}`, which is not on the public web. Give a file_id, or the whole address \
             (https://…) of a public page or file as a person wrote it or as search found it",
            one_line(address, 80)
        );
        return Decided::limit("private_address", reason);
    }
    if call.method.class == Class::Lifecycle {
        let reason = "it would take the update stream away from the running bot";
        return Decided::limit("lifecycle", reason.to_owned());
    }
    if let Some(why) = smuggles(call.args) {
        return Decided::limit("buttons", why.to_owned());
    }
    // Figaro's own messages show what is stored; who approved another text for one would make it lie.
    let is_changed =
        matches!(call.method.class, Class::Message | Class::Delete) && call.method.changes_messages();
    if call.figaros && is_changed {
        let reason = "the message is not one that you sent, but Figaro's own";
        return Decided::limit("figaros", reason.to_owned());
    }
    let targets = match targets(call.args) {
        Ok(targets) => targets,
        Err(odd) => return Decided::limit("odd_chat", odd.to_string()),
    };
    let unknown = loaded.iter().find(|address| !call.addresses.has(address));
    let loads = match unknown {
        Some(address) => Loads::Unknown(address.to_owned()),
        None if loaded.iter().next().is_some() => Loads::Known,
        None => Loads::Nothing,
    };
    rules.decide(&Facts::of(call, targets, loads, &rules.watched))
}
