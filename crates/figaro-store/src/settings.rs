//! Settings of chats, and the access list.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use super::changes::Changes;
use super::fault::StoreFault;
use super::key;
use super::records::{access, audit, migration, pins};
use super::tables::Tables;
use crate::{Result, SettingsStore};
use figaro_base::clock::Clock;
use figaro_base::ids::{ChatId, RunId, UserId};
use figaro_domain::access::{AccessChange, AccessList};
use figaro_domain::audit::{AuditActor, AuditEvent, AuditKind, AuditName, Audited};
use figaro_domain::chat::{ChatConfig, ConfigPatch};
use figaro_domain::config_change::{ChangingTurn, ConfigChange, Setting, UNDO};

/// Retention of a change by the model: longer than it can be undone, so that a late press learns that it is late.
const KEPT: TimeDelta = TimeDelta::hours(2 * UNDO.num_hours());

impl SettingsStore {
    /// Returns the settings of a chat; the defaults if it never set any.
    pub fn chat_config(&self, chat: ChatId) -> Result<ChatConfig> {
        self.0.read("read the chat's settings", move |tables| {
            Ok(tables.chats.get(&key::chat(chat))?.unwrap_or_default())
        })
    }

    /// Changes the settings of a chat, durably and without losing a concurrent change; returns the result. A reset also
    /// repairs unreadable settings.
    pub async fn change_chat_config(&self, chat: ChatId, change: ConfigPatch) -> Result<ChatConfig> {
        self.0
            .change_durably("store the chat's settings", move |tables, changes| {
                configure(tables, changes, chat, change, None)
            })
            .await
    }

    /// Changes the settings of a chat for the model in a turn. The change is stored in the same write, merged with
    /// earlier changes of the turn, for longer than it can be undone.
    pub async fn change_chat_config_in_turn(
        &self,
        chat: ChatId,
        change: ConfigPatch,
        turn: ChangingTurn,
    ) -> Result<ChatConfig> {
        self.0
            .change_durably("store the chat's settings", move |tables, changes| {
                configure_in_turn(tables, changes, chat, change, turn)
            })
            .await
    }

    /// Returns the model's change of settings in a turn; `None` if there is none or it has expired.
    pub fn config_change(&self, run: RunId) -> Result<Option<ConfigChange>> {
        self.0.read("read a change of settings", move |tables| tables.config_changes.get(&key::id(run)))
    }

    /// Undoes the model's change of settings in a turn, durably, as far as it still applies; returns the change and the
    /// settings that were restored. `None` for a turn that changed nothing, or too long ago.
    pub async fn undo_config_change(
        &self,
        run: RunId,
        now: DateTime<Utc>,
    ) -> Result<Option<(ConfigChange, Vec<Setting>)>> {
        self.0
            .change_durably("undo a change of settings", move |tables, changes| {
                undo(tables, changes, run, now)
            })
            .await
    }

    /// Moves the data of a chat, and its entry in the access list, to its new id, in one durable write. Existing settings
    /// and the current session of the new id stay; missing notes are added to its own. Turns and deliveries in progress
    /// continue under the old id. May be repeated, and then moves what has arrived under the old id since.
    pub async fn migrate_chat(&self, from: ChatId, to: ChatId) -> Result<()> {
        self.0
            .change_durably("move a chat to its new id", move |tables, changes| {
                migration::migrate(tables, changes, from, to)
            })
            .await
    }

    /// Returns the access list: owners, users, chats, denials, invites.
    pub fn access(&self) -> Result<Arc<AccessList>> {
        let decoded = &self.0.shared.access;
        self.0.read("read the access list", move |tables| access::decoded(tables, decoded))
    }

    /// Applies a change to the access list, durably and without losing a concurrent change; returns `true` if it changed
    /// anything.
    pub async fn change_access(&self, change: AccessChange, by: AuditActor) -> Result<bool> {
        let audited = AuditEvent::of_access(&change, by, Clock::system().now());
        self.0
            .change_durably("change the access list", |tables, changes| {
                let applied = access::apply(tables, changes, change)?;
                let events = audited.filter(|_| applied).into_iter().map(Audited::from).collect();
                audit::append(tables, changes, events)?;
                Ok(applied)
            })
            .await
    }

    /// Records that a stranger is told now that the bot is private; `false` if they were told before. Not durable: after
    /// a crash somebody may be told twice.
    pub fn greet_stranger(&self, user: &UserId, now: DateTime<Utc>) -> Result<bool> {
        let key = key::user(user);
        self.0.change("note that a stranger was told", move |tables, changes| {
            if tables.strangers.contains(&key)? {
                return Ok(false);
            }
            changes.put(&tables.strangers, key, &now)?;
            Ok(true)
        })
    }

    /// Deletes strangers who were told before this time. Returns the number deleted.
    pub fn forget_strangers(&self, before: DateTime<Utc>) -> Result<usize> {
        self.0.change("forget strangers", move |tables, changes| {
            let mut forgotten = 0;
            for item in tables.strangers.scan(&[])? {
                let (key, told) = item?;
                if told < before {
                    changes.remove(&tables.strangers, key);
                    forgotten += 1;
                }
            }
            Ok(forgotten)
        })
    }
}

fn configure(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    change: ConfigPatch,
    turn: Option<RunId>,
) -> Result<ChatConfig, StoreFault> {
    let mut config = before(tables, chat, &change)?;
    let zone = config.timezone;
    change.apply(&mut config, turn);
    changes.put(&tables.chats, key::chat(chat), &config)?;
    if config.timezone != zone {
        pins::zone_changed(tables, changes, chat, config.timezone, Clock::system().now())?;
    }
    Ok(config)
}

/// Returns the settings to be changed.
fn before(tables: &Tables<'_>, chat: ChatId, change: &ConfigPatch) -> Result<ChatConfig, StoreFault> {
    match tables.chats.get(&key::chat(chat)) {
        // A reset does not need the old settings.
        Err(StoreFault::Record(_)) if *change == ConfigPatch::reset() => Ok(ChatConfig::default()),
        stored => Ok(stored?.unwrap_or_default()),
    }
}

fn configure_in_turn(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    chat: ChatId,
    change: ConfigPatch,
    turn: ChangingTurn,
) -> Result<ChatConfig, StoreFault> {
    for item in tables.config_changes.scan(&[])? {
        let (key, old) = item?;
        if turn.at - old.changed_at > KEPT {
            changes.remove(&tables.config_changes, key);
        }
    }
    let (before, key, at) = (before(tables, chat, &change)?, key::id(turn.run), turn.at);
    let audited = AuditEvent {
        chat: Some(chat),
        run: Some(turn.run),
        method: AuditName::new("set_config"),
        ..AuditEvent::new(AuditKind::SettingChanged, AuditActor::Model, at)
    };
    let after = configure(tables, changes, chat, change, Some(turn.run))?;
    let known = tables.config_changes.find(&key)?;
    let mut record = known.unwrap_or_else(|| ConfigChange::new(chat, &turn));
    record.add(&before, &after, turn);
    if after != before {
        audit::append(tables, changes, vec![audited.into()])?;
    }
    if record.settings().next().is_some() {
        changes.put(&tables.config_changes, key, &record)?;
    } else {
        changes.remove(&tables.config_changes, key);
    }
    Ok(after)
}

fn undo(
    tables: &Tables<'_>,
    changes: &mut Changes<'_>,
    run: RunId,
    now: DateTime<Utc>,
) -> Result<Option<(ConfigChange, Vec<Setting>)>, StoreFault> {
    let Some(mut change) = tables.config_changes.get(&key::id(run))? else {
        return Ok(None);
    };
    let chat = key::chat(change.chat);
    let mut config = tables.chats.get(&chat)?.unwrap_or_default();
    let restored = change.undo(&mut config, now);
    if !restored.is_empty() {
        changes.put(&tables.chats, chat, &config)?;
        changes.put(&tables.config_changes, key::id(run), &change)?;
        if restored.contains(&Setting::Zone) {
            pins::zone_changed(tables, changes, change.chat, config.timezone, now)?;
        }
    }
    Ok(Some((change, restored)))
}
