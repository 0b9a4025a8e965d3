//! Card that shows the model's changes of a chat's settings, with the button that undoes them. The delivery sends it
//! after the answer of the turn.

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;

use super::super::asker::Asker;
use super::super::card::Card;
use super::super::cards::Cards;
use super::super::command::{PressError, Pressed};
use super::super::handles::Handles;
use super::fields;
use crate::callback::{SettingField, UndoButton};
use crate::send::Button;
use figaro_base::ids::RunId;
use figaro_domain::chat::{ChatConfig, PersonaChoice};
use figaro_domain::config_change::{ConfigChange, Setting};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{SettingsStore, TaskStore, undo_change};

/// Returns the card of the model's changes, with a button that undoes them while that is possible. `default` is the
/// time zone of chats without one.
#[must_use]
pub(crate) fn settings_card(texts: &Texts, change: &ConfigChange, default: Tz, now: DateTime<Utc>) -> Card {
    let value = |config, setting| value(texts, config, setting, default);
    let line = |setting: Setting| {
        let (before, after) = (value(&change.before, setting), value(&change.after, setting));
        format!("{}: {before} → {after}", label(texts, setting))
    };
    let mut lines: Vec<String> = change.settings().map(line).collect();
    let is_cut =
        |setting: Setting| fields::is_cut(&change.before, setting) || fields::is_cut(&change.after, setting);
    if change.settings().any(is_cut) {
        lines.push(texts.settings_whole().to_owned());
    }
    let undo = Button::new(texts.button_undo(), UndoButton(change.run));
    let can = change.can_be_undone(now);
    Card::titled(texts.settings_changed(), lines.join("\n")).row(if can { vec![undo] } else { Vec::new() })
}

/// Returns the card for changes by the model whose stored record cannot be read.
#[must_use]
pub(crate) fn unreadable_card(texts: &Texts) -> Card {
    Card::titled(texts.settings_changed(), texts.settings_unreadable().to_owned())
}

/// Returns the card after an undo: the current values of the settings that the model had changed.
fn undone_card(texts: &Texts, change: &ConfigChange, config: &ChatConfig, default: Tz) -> Card {
    let line = |setting: Setting| {
        let now = format!("{}: {}", label(texts, setting), value(texts, config, setting, default));
        match setting.differs(config, &change.before) {
            true => fill(texts.settings_since(), &[("setting", &now)]),
            false => now,
        }
    };
    let lines: Vec<String> = change.settings().map(line).collect();
    Card::titled(texts.settings_undone(), lines.join("\n"))
}

fn label(texts: &Texts, setting: Setting) -> &str {
    match setting {
        Setting::Language => fields::label(texts, SettingField::Language),
        Setting::Tone => fields::label(texts, SettingField::Tone),
        Setting::Instructions => fields::label(texts, SettingField::Instructions),
        Setting::Persona => texts.persona_title(),
        Setting::Answers => fields::label(texts, SettingField::Answers),
        Setting::Format => fields::label(texts, SettingField::Format),
        Setting::Zone => texts.config_timezone(),
        Setting::Quiet => fields::label(texts, SettingField::Quiet),
        Setting::Model => texts.model_title(),
        Setting::Writing => texts.settings_writing(),
    }
}

fn value(texts: &Texts, config: &ChatConfig, setting: Setting, default: Tz) -> String {
    match setting {
        Setting::Language => fields::value(texts, config, SettingField::Language),
        Setting::Tone => fields::value(texts, config, SettingField::Tone),
        Setting::Instructions => fields::value(texts, config, SettingField::Instructions),
        Setting::Persona => {
            let name = config.persona.as_ref().map(PersonaChoice::name);
            name.unwrap_or(texts.config_none()).to_owned()
        }
        Setting::Answers => fields::value(texts, config, SettingField::Answers),
        Setting::Quiet => fields::value(texts, config, SettingField::Quiet),
        Setting::Format => fields::value(texts, config, SettingField::Format),
        Setting::Zone => match config.timezone {
            Some(zone) => zone.name().to_owned(),
            None => fill(texts.config_default(), &[("zone", default.name())]),
        },
        Setting::Model => {
            config.model.as_ref().map_or_else(|| texts.model_default().to_owned(), ToString::to_string)
        }
        Setting::Writing => {
            let set: Vec<String> =
                config.settings.entries().iter().map(|(name, value)| format!("{name} {value}")).collect();
            if set.is_empty() { texts.config_none().to_owned() } else { set.join(", ") }
        }
    }
}

/// Undoes the model's changes of a chat's settings.
#[derive(Debug)]
pub(super) struct UndoChange {
    cards: Cards,
    settings: SettingsStore,
    tasks: TaskStore,
    default_zone: Tz,
}

impl UndoChange {
    pub(super) fn new(handles: &Handles) -> Self {
        Self {
            cards: handles.cards.clone(),
            settings: handles.store.settings(),
            tasks: handles.store.tasks(),
            default_zone: handles.default_zone,
        }
    }

    /// Undoes the changes of a turn, for people who may change the settings.
    pub(super) async fn press(&self, run: RunId, asker: &Asker) -> Result<Pressed, PressError> {
        let texts = self.cards.texts(asker);
        let known = self.settings.config_change(run)?;
        if known.is_none_or(|change| change.chat != asker.place.chat) {
            return Err(PressError::Gone);
        }
        let (now, zone) = (self.cards.now(), self.default_zone);
        let undone = undo_change(&self.settings, &self.tasks, run, now).await?;
        let Some((change, restored)) = undone else {
            return Err(PressError::Gone);
        };
        let config = self.settings.chat_config(change.chat)?;
        if !restored.is_empty() {
            return Ok(Pressed::both(texts.settings_undone(), undone_card(texts, &change, &config, zone)));
        }
        if change.undone {
            return Ok(Pressed::both(texts.gone(), undone_card(texts, &change, &config, zone)));
        }
        let toast = if change.can_be_undone(now) { texts.settings_stale() } else { texts.gone() };
        let mut card = settings_card(texts, &change, zone, now);
        card.buttons.clear();
        card.body = format!("{}\n\n{toast}", card.body);
        Ok(Pressed::both(toast, card))
    }
}
