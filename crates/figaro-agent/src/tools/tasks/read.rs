//! Parses and checks what the model wrote: prompts, times, zones, models, agents.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::tz::Tz;

use super::arguments::ChangeTaskArguments;
use crate::tools::{ToolContext, ToolError, zone};
use figaro_base::text::{one_line, with_nearest};
use figaro_domain::model::{ModelName, list};
use figaro_domain::schedule::{Schedule, ScheduleError, split_zone};
use figaro_domain::task::{MAX_PROMPT_CHARS, Task, TaskEdit};
use figaro_policy::access::Standing;
use figaro_prompts::Prompts;
use figaro_provider::models::Models;
use figaro_store::SettingsStore;

/// Parses the settings of a task, except its prompt, and checks them against the limits.
#[derive(Debug, Clone)]
pub struct TaskReader {
    /// Settings of chats: their time zones and models.
    pub settings: SettingsStore,
    /// Models available to tasks.
    pub models: Arc<Models>,
    /// Agents available to tasks.
    pub prompts: Arc<Prompts>,
    /// Minimum time between two runs of a task.
    pub min_interval: TimeDelta,
    /// Time zone of chats that have set none.
    pub default_zone: Tz,
}

/// Maximum length of a title in characters; the rest is cut.
const MAX_TITLE_CHARS: usize = 60;

/// Trims and checks a prompt.
///
/// # Errors
/// For the model, if it is empty or longer than [`MAX_PROMPT_CHARS`].
pub(super) fn prompt(text: &str) -> Result<String, ToolError> {
    let text = text.trim();
    let count = text.chars().count();
    if (1..=MAX_PROMPT_CHARS).contains(&count) {
        return Ok(text.to_owned());
    }
    Err(ToolError::ForModel(format!("prompt takes 1 to {MAX_PROMPT_CHARS} characters; this has {count}")))
}

/// Puts a title on one line; `None` if it is empty.
pub(super) fn title(text: Option<&str>) -> Option<String> {
    text.map(|text| one_line(text, MAX_TITLE_CHARS)).filter(|title| !title.is_empty())
}

impl TaskReader {
    /// Returns the zone of local times, and `true` if it is only a guess: the named one, else the chat's, else the default
    /// as a guess.
    pub(super) fn zone(&self, context: &ToolContext, named: Option<Tz>) -> Result<(Tz, bool), ToolError> {
        if let Some(zone) = named {
            return Ok((zone, false));
        }
        let config = self.settings.chat_config(context.place.chat)?;
        Ok(config.timezone.map_or((self.default_zone, true), |zone| (zone, false)))
    }

    /// Parses a schedule and rejects one that runs too often.
    pub(in crate::tools) fn when(
        &self,
        text: &str,
        recurring: bool,
        zone: Tz,
        now: DateTime<Utc>,
    ) -> Result<Schedule, ToolError> {
        let schedule = if recurring { cron(text, zone, now) } else { once(text, zone, now) }?;
        let gap = schedule.shortest_gap(zone, now);
        match gap.filter(|gap| *gap < self.min_interval) {
            None => Ok(schedule),
            Some(gap) => Err(ToolError::ForModel(format!(
                "`{text}` has runs only {} apart; a task may run every {} at most. Choose longer intervals, or tell \
                 the person that the bot's owner can allow shorter ones",
                span(gap),
                span(self.min_interval)
            ))),
        }
    }

    /// Reads the changes to a task, except pausing.
    pub(super) fn edit(
        &self,
        context: &ToolContext,
        task: &Task,
        change: &ChangeTaskArguments,
    ) -> Result<TaskEdit, ToolError> {
        let timezone = change.timezone.as_deref();
        let (named, schedule) = zoned(context, timezone, change.schedule.as_deref().unwrap_or_default())?;
        let is_recurring = task.schedule.is_recurring();
        let mut edit = TaskEdit { zone: named, if_missed: change.if_missed, ..TaskEdit::default() };
        edit.title = title(change.title.as_deref());
        edit.prompt = change.prompt.as_deref().map(prompt).transpose()?;
        if let Some(prompt) = &edit.prompt {
            let mut known = context.addresses.clone();
            task.addresses.iter().for_each(|address| known.add_found(address));
            edit.addresses = known.known_in(prompt).map(ToOwned::to_owned).collect();
        }
        edit.made_in =
            [context.run].into_iter().filter(|_| edit.title.is_some() || edit.prompt.is_some()).collect();
        edit.read.clone_from(&context.read);
        edit.agent = self.agent(context, change.agent.as_deref())?;
        match (&change.schedule, change.recurring, named) {
            (Some(_), recurring, _) => {
                let (zone, is_guess) = match named {
                    None if task.schedule.uses_zone() => (task.zone, task.zone_assumed),
                    _ => self.zone(context, named)?,
                };
                let recurring = recurring.unwrap_or(is_recurring);
                let schedule = self.when(schedule, recurring, zone, context.now)?;
                edit.schedule = Some((schedule, zone));
                edit.zone_assumed = is_guess;
            }
            (None, Some(recurring), _) if recurring != is_recurring => {
                let words = "to make a recurring task a single run or the reverse, give the new schedule too";
                return Err(ToolError::ForModel(words.to_owned()));
            }
            (None, _, Some(zone)) => still_to_come(task, zone, context.now)?,
            (None, _, None) => {}
        }
        if let Some(model) = &change.model {
            let model = model.as_deref().map(str::trim).filter(|name| !name.is_empty());
            edit.model = Some(match model {
                Some(name) => Some(self.model(context, name)?),
                None => None,
            });
        }
        Ok(edit)
    }

    /// Finds the named agent, if the person may choose it; `None` if none is named.
    pub(super) fn agent(
        &self,
        context: &ToolContext,
        name: Option<&str>,
    ) -> Result<Option<String>, ToolError> {
        let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) else { return Ok(None) };
        let agents = self.prompts.agents();
        let names: Vec<&str> = agents.for_tasks().map(|agent| agent.name.as_str()).collect();
        let Some(agent) = agents.for_tasks().find(|agent| agent.name.eq_ignore_ascii_case(name)) else {
            let fault = with_nearest(format!("there is no agent `{name}`"), name, names.iter().copied());
            return Err(ToolError::ForModel(format!("{fault} (there are: {})", names.join(", "))));
        };
        // Its model may be one that only an owner may choose.
        let named = self.models.named();
        let is_refused = |model: &&ModelName| context.standing != Standing::Owner && !named.contains(model);
        match agent.model.as_ref().filter(is_refused) {
            None => Ok(Some(agent.name.clone())),
            Some(model) => Err(ToolError::ForModel(format!(
                "{} runs on {model}, which only an owner can choose; others can have an agent whose model is one of: {}",
                agent.name,
                list(&named)
            ))),
        }
    }

    /// Parses a model that the person may choose for the chat.
    fn model(&self, context: &ToolContext, name: &str) -> Result<ModelName, ToolError> {
        let model: ModelName = name.parse().map_err(ToolError::ForModel)?;
        let mut named = self.models.named();
        named.extend(self.settings.chat_config(context.place.chat)?.model);
        let is_served =
            context.standing == Standing::Owner && self.models.providers().any(|name| name == model.provider);
        if is_served || named.contains(&model) {
            return Ok(model);
        }
        named.dedup();
        Err(ToolError::ForModel(format!("{model} cannot be chosen here; there are: {}", list(&named))))
    }
}

fn cron(text: &str, zone: Tz, now: DateTime<Utc>) -> Result<Schedule, ToolError> {
    Schedule::recurring(text, zone, now).map_err(|error| {
        let is_time = !matches!(Schedule::once(text, zone, now), Err(ScheduleError::Unreadable { .. }));
        let words = if is_time {
            format!(
                "`{text}` is a single time or a duration: set recurring to false to run once then, or give a cron \
                 expression, such as `0 9 * * 1-5` for weekdays at 9:00 or `0 */2 * * *` for every two hours"
            )
        } else {
            error.to_string()
        };
        ToolError::ForModel(words)
    })
}

fn once(text: &str, zone: Tz, now: DateTime<Utc>) -> Result<Schedule, ToolError> {
    Schedule::once(text, zone, now).map_err(|error| {
        let is_cron = Schedule::recurring(text, zone, now).is_ok();
        let words = if is_cron {
            format!("`{text}` is a cron expression: set recurring to true, or give a single time. {error}")
        } else {
            error.to_string()
        };
        ToolError::ForModel(words)
    })
}

/// Returns the zone named beside or within the schedule, and the schedule without it. The zone is `None` if none is named.
pub(super) fn zoned<'a>(
    context: &ToolContext,
    named: Option<&str>,
    schedule: &'a str,
) -> Result<(Option<Tz>, &'a str), ToolError> {
    let (written, schedule) = split_zone(schedule);
    let read = |name: Option<&str>| {
        let name = name.filter(|name| !name.trim().is_empty());
        name.map(|name| zone::read(name, context)).transpose()
    };
    match (read(named)?, read(written)?) {
        (Some(named), Some(written)) if named != written => Err(ToolError::ForModel(format!(
            "schedule names the time zone {}, timezone {}: leave it out of schedule, and give the one that is meant as \
             timezone",
            written.name(),
            named.name()
        ))),
        (named, written) => Ok((named.or(written), schedule)),
    }
}

/// Rejects a single run that has already passed in the new zone.
fn still_to_come(task: &Task, zone: Tz, now: DateTime<Utc>) -> Result<(), ToolError> {
    if task.next.is_none() || task.schedule.moved(task.zone, zone).next(zone, now).is_some() {
        return Ok(());
    }
    let words = format!("by the clocks of {} this time has passed: give the new schedule too", zone.name());
    Err(ToolError::ForModel(words))
}

/// Formats a time between runs, such as `1h30m`.
pub(super) fn span(span: TimeDelta) -> String {
    let seconds = span.num_seconds();
    let parts =
        [(seconds / 86_400, 'd'), (seconds / 3600 % 24, 'h'), (seconds / 60 % 60, 'm'), (seconds % 60, 's')];
    let told = parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count}{unit}"));
    told.collect()
}
