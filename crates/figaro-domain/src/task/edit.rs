//! Edits of a task by people and the model.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;

use super::if_missed::IfMissed;
use super::standing::{MAX_STANDING, StandingChange};
use super::{SCHEDULED_AGENT, Task, TaskState};
use crate::model::ModelName;
use crate::schedule::Schedule;
use figaro_base::ids::RunId;

/// Edit of a task; the default changes nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskEdit {
    /// New title for people.
    pub title: Option<String>,
    /// New instruction for the model.
    pub prompt: Option<String>,
    /// URLs in the instruction that did not come from the model alone.
    pub addresses: Vec<String>,
    /// Turns that gave the task these words.
    pub made_in: BTreeSet<RunId>,
    /// Text by others that the model had read before.
    pub read: Option<String>,
    /// New schedule, with the zone in which it was read.
    pub schedule: Option<(Schedule, Tz)>,
    /// New zone, named by someone. Without a schedule, the times stay the same in the new zone. A single time that has
    /// passed in the new zone stays the same instant.
    pub zone: Option<Tz>,
    /// `true` if nobody named the zone in which the schedule was read.
    pub zone_assumed: bool,
    /// New model; `Some(None)` for the chat's.
    pub model: Option<Option<ModelName>>,
    /// New agent that runs the task.
    pub agent: Option<String>,
    /// Standing permission to add or to remove.
    pub standing: Option<StandingChange>,
    /// New rule for missed runs.
    pub if_missed: Option<IfMissed>,
}

impl Task {
    /// Returns `true` if two live tasks have the same instruction, agent, times and place.
    #[must_use]
    pub fn says_the_same(&self, other: &Self) -> bool {
        let is_same_time = self.schedule == other.schedule && self.zone == other.zone;
        is_same_time
            && self.place.conversation() == other.place.conversation()
            && self.prompt == other.prompt
            && self.agent == other.agent
            && self.is_live()
            && other.is_live()
    }

    /// Returns the agent chosen for the task; `None` if the default agent for tasks runs it.
    #[must_use]
    pub fn own_agent(&self) -> Option<&str> {
        Some(self.agent.as_str()).filter(|agent| *agent != SCHEDULED_AGENT)
    }

    /// Adds a standing rule if there is room, or removes one. A new rule replaces one for the same method and chat.
    fn stand(&mut self, change: StandingChange) {
        let (method, chat) = match &change {
            // The approval covers only the task as it was at that time.
            StandingChange::Permit { as_of, .. } if *as_of != self.updated_at => return,
            StandingChange::Permit { rule, .. } => (&rule.method, rule.chat),
            StandingChange::Forbid(method, chat) => (method, *chat),
        };
        self.standing.retain(|known| !(known.method == *method && known.chat == chat));
        if let StandingChange::Permit { rule, .. } = change
            && self.standing.len() < MAX_STANDING
        {
            self.standing.push(rule);
        }
    }

    pub(super) fn edit(&mut self, edit: TaskEdit, now: DateTime<Utc>) {
        if edit.title.is_some() && edit.prompt.is_some() {
            // None of the old words are left.
            self.made_in.clear();
        }
        self.made_in.extend(edit.made_in);
        self.title = edit.title.or(self.title.take());
        if let Some(prompt) = edit.prompt {
            if prompt != self.prompt {
                self.standing.clear();
            }
            self.prompt = prompt;
            self.read = edit.read;
            self.addresses = edit.addresses;
        }
        let moved = edit.zone.map(|zone| (self.by_clocks_of(zone, now), zone));
        let is_new = edit.schedule.is_some();
        if let Some((schedule, zone)) = edit.schedule.or(moved) {
            // New times in the same zone say nothing about the zone of the chat.
            let is_guess =
                edit.zone_assumed || (self.zone_assumed && edit.zone.is_none() && zone == self.zone);
            self.zone_assumed = is_guess && schedule.uses_zone();
            (self.schedule, self.zone) = (schedule, zone);
            // A change of the zone does not affect what is already due.
            if is_new || self.next.is_some_and(|next| next > now) {
                self.next = self.schedule.next(zone, now);
            }
            if is_new {
                // The approver of the standing rules knew the old frequency.
                self.standing.clear();
                (self.retry, self.asked) = (None, None);
                if let TaskState::Done(_) = self.state {
                    self.state = TaskState::Active;
                }
            }
        }
        if let Some(agent) = edit.agent.filter(|agent| *agent != self.agent) {
            // The approver of the standing rules knew the old agent.
            self.standing.clear();
            self.agent = agent;
        }
        if let Some(change) = edit.standing {
            self.stand(change);
        }
        if let Some(model) = edit.model {
            self.model = model;
        }
        if let Some(if_missed) = edit.if_missed {
            self.if_missed = if_missed;
        }
        self.failures = 0;
        self.updated_at = now;
        self.rest(now);
    }

    /// Returns the same times in another zone. A single time that has passed there stays the same instant.
    fn by_clocks_of(&self, zone: Tz, now: DateTime<Utc>) -> Schedule {
        let moved = self.schedule.moved(self.zone, zone);
        if moved.next(zone, now).is_some() { moved } else { self.schedule.clone() }
    }
}
