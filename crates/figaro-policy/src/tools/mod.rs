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
mod server;
mod target;
#[cfg(test)]
mod tests;
mod words;

use figaro_mcp::table::Class;

use self::buttons::smuggles;
pub use self::call::{Role, TelegramCall};
pub use self::decided::{Decided, Decision, OWNERS};
use self::facts::{Facts, Loads};
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

/// Decides about a call whose arguments fit its method. What no rule can open is looked at first.
#[must_use]
pub fn decide(rules: &Rules, call: &TelegramCall<'_>) -> Decided {
    facts(rules, call).map_or_else(|limit| *limit, |facts| rules.decide(&facts))
}

/// Whether a call does no more than a person let go who said that this method may act on this chat: it names no other chat,
/// has Telegram load nothing that only the model wrote, and reaches past nobody's eyes.
#[must_use]
pub fn is_within(rules: &Rules, call: &TelegramCall<'_>, chat: ChatId) -> bool {
    facts(rules, call).is_ok_and(|facts| Rules::opens(&facts, chat))
}

/// What rules ask about a call, or the limit that it does not pass.
fn facts<'a>(rules: &Rules, call: &'a TelegramCall<'a>) -> Result<Facts<'a>, Box<Decided>> {
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
    // Figaro's own messages show what is stored; who approved another text for one would make it lie.
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
    Ok(Facts::of(call, targets, loads, &rules.watched))
}
