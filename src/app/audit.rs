//! `figaro audit`: lists, verifies and exports the audit log of a stopped bot.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use chrono::{DateTime, NaiveDate, Utc};

use super::failure::{AppFailure, StartupError};
use super::store::{WITH_OPTION, bot_of, missing, url_of};
use super::terminal::{all_said, counted, say};
use figaro_base::system::in_words;
use figaro_config::StoreUrl;
use figaro_domain::audit::{AuditActor, AuditEntry};
use figaro_store::Store;
use figaro_store::{StoreError, engine, whole_log};

/// Permissions of the exported file, which is confidential.
const MODE: u32 = 0o600;

/// Subcommand of `figaro audit`.
#[derive(Debug)]
pub enum AuditTask {
    /// Print entries, newest first.
    List {
        /// Maximum number of entries.
        limit: usize,
        /// First day of the entries, in UTC; `None` for all.
        since: Option<NaiveDate>,
        /// `true` to print each entry as a JSON line.
        json: bool,
    },
    /// Verify that the log is unchanged.
    Verify,
    /// Write all entries to a new file as JSON lines, oldest first.
    Export(PathBuf),
}

/// Runs the subcommand and prints its result.
///
/// # Errors
/// Reason of the failure; [`AppFailure::Unsound`] if the log was changed.
pub async fn audit(
    task: AuditTask,
    store: Option<StoreUrl>,
    variables: &HashMap<String, String>,
) -> Result<(), AppFailure> {
    let url = engine::found(&url_of(store, variables)?);
    if !engine::has_store(&url) {
        return Err(missing(&url, WITH_OPTION).into());
    }
    let Some(bot) = bot_of(variables) else {
        return Err(
            StartupError("TELEGRAM_BOT_TOKEN is not set. A store may hold several bots, and the number before the `:` of the token says whose \
                 log is read; nothing is sent to Telegram. Run this in the folder with the bot's .env, or set it"
                    .to_owned()).into()
        );
    };
    let store = Store::open(&url, bot).await.map_err(refused)?;
    match task {
        AuditTask::List { limit, since, json } => list(&store, limit, since, json)?,
        AuditTask::Verify => verify(&store)?,
        AuditTask::Export(to) => export(&store, &to)?,
    }
    Ok(all_said()?)
}

fn refused(error: StoreError) -> StartupError {
    StartupError(error.to_string())
}

fn list(store: &Store, limit: usize, since: Option<NaiveDate>, json: bool) -> Result<(), StartupError> {
    let since = since.and_then(|day| day.and_hms_opt(0, 0, 0)).map(|time| time.and_utc());
    let entries = store.audit().newest(None, limit).map_err(refused)?;
    let wanted = entries.iter().take_while(|entry| since.is_none_or(|since| entry.event.at >= since));
    let mut count = 0;
    for entry in wanted {
        say(&if json { as_json(entry)? } else { line(entry) });
        count += 1;
    }
    if count == 0 && !json {
        say(match entries.is_empty() {
            true => "nothing is on record yet",
            false => "nothing is on record since then",
        });
    }
    Ok(())
}

fn as_json(entry: &AuditEntry) -> Result<String, StartupError> {
    entry.as_json().map_err(|error| StartupError(format!("an entry has no JSON: {error}")))
}

/// Formats an entry as a line: position, time, event, actor and further details.
fn line(entry: &AuditEntry) -> String {
    let event = &entry.event;
    let what = serde_json::to_value(event.what).ok();
    let what = what.as_ref().and_then(|what| what.as_str()).unwrap_or_default().to_owned();
    let by = match &event.actor {
        AuditActor::Person(user) => user.to_string(),
        AuditActor::Bot => "bot".to_owned(),
        AuditActor::Model => "model".to_owned(),
    };
    let time: DateTime<Utc> = event.at;
    let fields = [
        ("method", event.method.as_ref().map(|name| name.as_str().to_owned())),
        ("chat", event.chat.map(|chat| chat.to_string())),
        ("target", event.target_user.as_ref().map(ToString::to_string)),
        ("target", event.target_chat.map(|chat| chat.to_string())),
        ("rule", event.rule.as_ref().map(|name| name.as_str().to_owned())),
        ("turn", event.run.map(|run| run.to_string())),
    ];
    let rest = fields.into_iter().filter_map(|(name, value)| Some(format!(" {name}={}", value?)));
    let seq = entry.seq;
    format!("{seq} {} {what} by={by}{}", time.format("%Y-%m-%dT%H:%M:%SZ"), rest.collect::<String>())
}

fn verify(store: &Store) -> Result<(), AppFailure> {
    let verdict = store.audit().verify().map_err(refused)?;
    match verdict.broken {
        None => say(&format!("✓ {}, and the chain is whole", counted(verdict.entries, "entry"))),
        Some(seq) => {
            let entries = verdict.entries;
            return Err(AppFailure::Unsound(format!(
                "the audit log is broken: of {entries} entries, number {seq} is the first that is not as it was written, or is \
                 missing"
            )));
        }
    }
    Ok(())
}

fn export(store: &Store, to: &Path) -> Result<(), StartupError> {
    let failed = |error: std::io::Error| StartupError(format!("{}: {}", to.display(), in_words(&error)));
    let entries = whole_log(&store.audit()).map_err(refused)?;
    let file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(to).map_err(failed)?;
    let mut lines = BufWriter::new(&file);
    for entry in &entries {
        writeln!(lines, "{}", as_json(entry)?).map_err(failed)?;
    }
    lines.flush().map_err(failed)?;
    drop(lines);
    file.sync_all().map_err(failed)?;
    say(&format!("✓ written to {}: {}", to.display(), counted(entries.len(), "entry")));
    Ok(())
}
