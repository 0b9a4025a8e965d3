//! Checks the backups that the bot makes by itself: recipients, folder, and the newest one.

use std::path::Path;

use chrono::TimeDelta;
use tokio::task::spawn_blocking;

use super::finding::Finding;
use crate::app::backup::BackupPlan;
use crate::app::failure::StartupError;
use crate::app::terminal::counted;
use figaro_base::clock::Clock;
use figaro_base::system::in_words;
use figaro_config::Settings;
use figaro_store::engine::try_folder;

/// Form of a time.
const MINUTE: &str = "%d %b %Y %H:%M UTC";
/// Time after which a backup that was due is missed.
const LATE: TimeDelta = TimeDelta::hours(1);

/// Checks them; `None` if there are to be none.
pub(super) async fn probe(settings: &Settings) -> Option<Finding> {
    let plan = match BackupPlan::of(settings) {
        Ok(plan) => plan?,
        Err(StartupError(words)) => return Some(finding(Err(words))),
    };
    let found = spawn_blocking(move || seen(&plan)).await;
    Some(found.unwrap_or_else(|error| finding(Err(format!("looking at them broke off: {error}")))))
}

const fn finding(result: Result<String, String>) -> Finding {
    Finding::new("backups", result)
}

fn seen(plan: &BackupPlan) -> Finding {
    let folder = plan.folder();
    let cannot = |place: &Path, error: &std::io::Error| {
        finding(Err(format!("{} cannot be used by BACKUP_FOLDER: {}", place.display(), in_words(error))))
    };
    if folder.is_file() {
        return finding(Err(format!("BACKUP_FOLDER is the file {}: name a folder", folder.display())));
    }
    if let Err((place, error)) = try_folder(folder) {
        return cannot(&place, &error);
    }
    let made = match plan.made() {
        Ok(made) => made,
        Err(error) => return cannot(folder, &error),
    };
    let (now, folder) = (Clock::system().now(), folder.display());
    let Some(newest) = made.last() else {
        return finding(Ok(format!("none yet in {folder}; the bot makes the first one when it starts")));
    };
    let due = plan.due(None, now);
    let note = match () {
        () if newest.at > now => Some(format!(
            "backups: the newest one in {folder} is dated in the future: a clock was wrong; remove it"
        )),
        () if now - due > LATE => Some(format!(
            "backups: one was due at {} and is not there: is the bot running?",
            due.format(MINUTE)
        )),
        () => None,
    };
    let words =
        format!("{} in {folder}, the newest of {}", counted(made.len(), "file"), newest.at.format(MINUTE));
    Finding { note, ..finding(Ok(words)) }
}
