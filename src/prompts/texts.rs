//! What people read, in their language: one YAML file a language in `prompts/locales/`. Used by whoever writes to a chat.

use std::collections::HashMap;

use chrono::{DateTime, Datelike, TimeZone, Timelike};
use serde::Deserialize;

use crate::domain::task::Reason;

/// Defines the texts, one field each; a language file has exactly these keys.
macro_rules! texts {
    ($($name:ident),+ $(,)?) => {
        /// All texts of one language. `{name}` marks a place that [`fill`] fills.
        #[derive(Debug, Clone, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Texts { $(pub $name: String),+ }

        impl Texts {
            /// Every key with its text.
            #[must_use]
            pub fn entries(&self) -> Vec<(&'static str, &str)> {
                vec![$((stringify!($name), self.$name.as_str())),+]
            }
        }
    };
}

texts! {
    language_name, start_owner, start_member, claimed, claim_void, button_example, button_access,
    button_settings, button_back, button_clear, button_undo, button_refresh, example_question, help,
    help_chat, help_remember, help_settings, help_owner, command_start, command_help, command_new,
    command_notes, command_config, command_status, command_stop, command_allow, command_deny, new_session,
    stopped, stop_nothing, stop_done, unknown_command, no_room_person, no_room_chat, no_room_all, private_bot, access_list, access_help, nobody,
    allowed_user, allowed_chat, denied_user, denied_chat, nothing_changed, need_number, owner_only, owner_not_denied,
    admin_only, notes_empty, notes_title, notes_done, notes_removed, notes_restored, gone, config_title,
    config_language, config_personality, config_instructions, config_agent, config_agent_none, config_agent_gone, config_agent_unknown, config_answers, config_timezone, config_auto,
    config_none, config_default, config_mention, config_always, config_off, config_ask_language,
    config_ask_personality, config_ask_instructions, config_now, settings_changed, settings_whole, settings_unreadable, settings_undone, settings_since, settings_stale, settings_writing, config_ask_agent, config_ask_answers, config_saved, config_too_long, config_usage, tone_friendly, tone_formal, tone_playful,
    tone_terse, privacy_hint, joined, status_member, status_owner, status_no_error, status_model, status_store,
    tool_notes, tool_config, tool_tasks, tool_telegram, tool_search, unsupported, kind_photo,
    kind_document, kind_voice, kind_audio, kind_video, kind_sticker, kind_other, trouble_unauthorized,
    trouble_model, trouble_quota, trouble_busy, trouble_unavailable, trouble_timeout, trouble_cut, trouble_long,
    trouble_refused, trouble_empty, trouble_internal, trouble_kept, update_odd, trouble_foreign, clock_forward, clock_back, clock_wrong, store_failed, store_resumed, trouble_turn, sources, button_retry, button_other_model, button_go_on, go_on_question, retry_nothing, blind, trouble_budget, trouble_unpriced, trouble_gone, caps_reached, command_model, command_usage, command_retry, model_title, model_here, model_bots, model_agents, model_settings, model_ignored, model_missing, model_unreachable, model_usage, model_more, model_default, model_served, model_not_named, model_unknown, model_several, model_range, model_no_value, usage_title, usage_title_chat, usage_days, usage_chats, usage_people, usage_models, usage_cap, usage_last, weekdays, status_today, months, task_late, task_failed, task_gave_up, task_missed, task_ask, reason_undelivered, reason_unclear, reason_interrupted, task_next, task_zone, button_run_now, button_skip, button_resume, button_pause, button_edit, button_cancel, reason_budget, reason_model, reason_busy, reason_refused, reason_empty, reason_internal, promise_unkept, command_timezone, zone_question, zone_answer, zone_answer_group, zone_here, zone_default, zone_type, zone_which, zone_unknown, zone_set, zone_moved, zone_kept, zone_others, zone_task, zone_task_kept, zone_task_there, button_move, button_leave, month_days, when_once, when_minute, when_minutes, when_hour, when_hours, when_daily, when_weekdays, when_weekly, when_monthly, when_yearly, tasks_empty, tasks_full, tasks_title, command_tasks, help_schedule, task_running, task_runs_already, task_paused, task_paused_failures, task_paused_removed, task_paused_denied, task_resumed, task_cancelled, task_cancelled_at, task_revived, task_skipped, task_done_at, task_again_at, task_asked, task_last, task_by, task_by_in, task_not_yours, task_edit, task_edit_missed, task_edit_help, missed_run_once, missed_skip, missed_ask, run_delivered, run_silent, run_stopped, run_failed, run_missed, run_skipped, tasks_removed, tasks_back, tasks_stay, button_history, button_resume_all, button_stay, when_each_hour, when_each_hours, when_between, when_own, days_all, days_work, days_some, task_paused_blocked, task_not_there, tasks_blocked,
}

/// The languages there are, by IETF tag; the first one serves everybody else.
const FILES: [(&str, &str); 2] = [
    ("en", include_str!("../../prompts/locales/en.yaml")),
    ("pt", include_str!("../../prompts/locales/pt.yaml")),
];

/// The texts of every language.
#[derive(Debug)]
pub struct Locales {
    by_tag: HashMap<&'static str, Texts>,
    default: Texts,
}

impl Locales {
    /// Reads the embedded files.
    ///
    /// # Errors
    /// Names the language whose file does not fit.
    pub fn load() -> Result<Self, String> {
        let mut by_tag = HashMap::new();
        for (tag, file) in FILES {
            let texts: Texts = serde_saphyr::from_str(file)
                .map_err(|error| format!("prompts/locales/{tag}.yaml: {error}"))?;
            drop(by_tag.insert(tag, texts));
        }
        let default = by_tag.get(FILES[0].0).cloned().ok_or("no language at all")?;
        Ok(Self { by_tag, default })
    }

    /// The texts for an IETF tag such as `pt-BR`; English for an unknown one.
    #[must_use]
    pub fn of(&self, tag: Option<&str>) -> &Texts {
        let language = tag.and_then(|tag| tag.split(['-', '_']).next()).unwrap_or_default();
        self.by_tag.get(language.to_ascii_lowercase().as_str()).unwrap_or(&self.default)
    }

    /// Every language's tag with its texts.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Texts)> {
        FILES.iter().filter_map(|(tag, _)| Some((*tag, self.by_tag.get(tag)?)))
    }
}

impl Texts {
    /// Why a run of a task failed, as the rest of a sentence.
    #[must_use]
    pub fn reason(&self, reason: &Reason) -> String {
        let text = match reason {
            Reason::Budget { time, zone } => {
                return fill(&self.reason_budget, &[("time", time), ("zone", zone)]);
            }
            Reason::Model => &self.reason_model,
            Reason::Busy => &self.reason_busy,
            Reason::Refused => &self.reason_refused,
            Reason::Empty => &self.reason_empty,
            Reason::Internal => &self.reason_internal,
            Reason::Interrupted => &self.reason_interrupted,
            Reason::Undelivered => &self.reason_undelivered,
            Reason::Unclear => &self.reason_unclear,
        };
        text.clone()
    }

    /// A day and a time by the clock, such as `Mon 23 Nov 09:00`.
    #[must_use]
    pub fn moment<Z: TimeZone>(&self, at: &DateTime<Z>) -> String {
        self.dated(at, at.year())
    }

    /// The same with the year, such as `Mon 4 Jan 2027 09:00`, unless it is this one.
    #[must_use]
    pub fn dated<Z: TimeZone>(&self, at: &DateTime<Z>, this_year: i32) -> String {
        let weekday = nth(&self.weekdays, at.weekday().num_days_from_monday());
        let month = nth(&self.months, at.month0());
        let year = if at.year() == this_year { String::new() } else { format!(" {}", at.year()) };
        format!("{weekday} {} {month}{year} {:02}:{:02}", at.day(), at.hour(), at.minute())
    }
}

/// A word of a list such as [`Texts::months`], from 0 on; nothing if there are fewer.
#[must_use]
pub fn nth(list: &str, index: u32) -> &str {
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    list.split_whitespace().nth(index).unwrap_or_default()
}

/// Puts values into the places of a text.
#[must_use]
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let place = &rest[start + 1..];
        let found = place.find('}').and_then(|end| {
            values.iter().find(|(name, _)| *name == &place[..end]).map(|(_, value)| (end, *value))
        });
        filled.push_str(&rest[..start]);
        match found {
            Some((end, value)) => {
                filled.push_str(value);
                rest = &place[end + 1..];
            }
            None => {
                filled.push('{');
                rest = place;
            }
        }
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn places(text: &str) -> BTreeSet<&str> {
        text.split('{').skip(1).filter_map(|part| part.split('}').next()).collect()
    }

    #[test]
    fn every_language_has_every_text_with_the_same_places() {
        let locales = Locales::load().unwrap();
        for (tag, texts) in locales.all() {
            for ((key, text), (_, english)) in
                texts.entries().into_iter().zip(locales.of(Some("en")).entries())
            {
                assert!(!text.trim().is_empty(), "{tag}: {key}");
                assert_eq!(places(text), places(english), "{tag}: {key}");
            }
        }
    }

    #[test]
    fn a_tag_finds_its_language_and_english_is_for_the_rest() {
        let locales = Locales::load().unwrap();
        assert_eq!(locales.of(Some("pt-BR")).language_name, "Português");
        assert_eq!(locales.of(Some("xx")).language_name, "English");
        assert_eq!(locales.of(None).language_name, "English");
    }

    #[test]
    fn values_are_never_filled_twice() {
        assert_eq!(fill("{a} and {b} {c}", &[("a", "{b}"), ("b", "2")]), "{b} and 2 {c}");
    }
}
