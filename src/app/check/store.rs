//! Checks for a usable store, or a place for one by creating and removing a trial file. An existing store is inspected, not
//! opened or changed.

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::finding::{Finding, REACH};
use crate::app::environment::place_fault;
use crate::app::terminal::size;
use figaro_base::ids::BotId;
use figaro_config::{AccessSettings, Settings, StoreUrl};
use figaro_domain::access::AccessList;
use figaro_policy::access::has_owner;
use figaro_store::StoreError;
use figaro_store::engine::{found, has_mark, has_store};
use figaro_store::whole::look;

/// Next step of an owner whose bot runs.
pub(super) const RUNS: &str = "write to the bot in Telegram: it runs";

pub(super) async fn probe(settings: &Settings) -> Finding {
    let (url, bot, access) = (settings.store.url.clone(), settings.telegram.bot, settings.access.clone());
    let place = url.place();
    let looking = timeout(REACH, spawn_blocking(move || seen(&found(&url), bot, &access)));
    match looking.await {
        Ok(Ok(finding)) => finding,
        Ok(Err(broken)) => finding(Err(format!("looking at {place} broke off: {broken}"))),
        Err(_) => {
            finding(Err(format!("{place} could not be read in {} s: look at its disk", REACH.as_secs())))
        }
    }
}

const fn finding(result: Result<String, String>) -> Finding {
    Finding::new("store", result)
}

fn seen(url: &StoreUrl, bot: BotId, access: &AccessSettings) -> Finding {
    let path = url.place();
    if let Some(fault) = place_fault(url) {
        return finding(Err(format!("{fault} by STORE_URL")));
    }
    if !has_store(url) && !has_mark(url) {
        let (note, next) = ownerless(access, &AccessList::default());
        return Finding {
            note,
            next,
            ..finding(Ok(format!("none yet; the first start makes it in {path}")))
        };
    }
    if !has_store(url) {
        return finding(Err(format!(
            "the store in {path} is gone, and what is beside it says that there was one: restore a backup, or remove the rest"
        )));
    }
    match look(url, bot) {
        Ok(Some(look)) => {
            let unreadable = match look.unreadable {
                0 => String::new(),
                count => format!(", {count} that cannot be read (`figaro store check` tells which)"),
            };
            let words = format!("{path}: {} on disk{unreadable}", size(look.bytes));
            let (note, next) = ownerless(access, &look.access);
            Finding { note, next, ..finding(Ok(words)) }
        }
        Ok(None) => finding(Ok(format!(
            "{path}: a store of {} that is read and mended when the bot starts; `figaro store check` does that now",
            url.engine_name()
        ))),
        // A running bot holds the store: no fault.
        Err(StoreError::InUse(_)) => {
            let words = format!(
                "{path} is in use by a running bot; if nobody owns it yet, it shows the link where it runs"
            );
            Finding { next: Some(RUNS), ..finding(Ok(words)) }
        }
        Err(error) => finding(Err(error.to_string())),
    }
}

/// Returns a note and the next step for a bot without an owner.
fn ownerless(access: &AccessSettings, list: &AccessList) -> (Option<String>, Option<&'static str>) {
    if has_owner(access, list) {
        return (None, None);
    }
    let next = "`figaro` starts the bot and shows a link; open it to become the owner";
    (Some("nobody owns this bot yet".to_owned()), Some(next))
}
