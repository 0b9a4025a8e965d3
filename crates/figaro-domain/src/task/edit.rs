//! What people and the model change of a task, beside whether it runs, and whether that makes it another one.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::if_missed::IfMissed;
use super::standing::{MAX_STANDING, StandingChange};
use super::{SCHEDULED_AGENT, State, Task};
use crate::model::ModelName;
use crate::schedule::Schedule;
use figaro_base::ids::RunId;

/// What is to be different in a task; the default changes nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskEdit {
    /// What people call it from now on.
    pub title: Option<String>,
    /// The new instruction for the model.
    pub prompt: Option<String>,
    /// The addresses in it that not only the model wrote.
    pub addresses: Vec<String>,
    /// The turns that gave it these words.
    pub made_in: BTreeSet<RunId>,
    /// When; with the zone that it was read in.
    pub schedule: Option<(Schedule, Tz)>,
    /// The zone, by someone who named it; without a schedule, the same times by its clocks. A single time that has passed
    /// there stays the instant that it is.
    pub zone: Option<Tz>,
    /// Nobody named the zone that the schedule was read in.
    pub zone_assumed: bool,
    /// The new model; `Some(None)` for the chat's.
    pub model: Option<Option<ModelName>>,
    /// The agent that carries it out from now on.
    pub agent: Option<String>,
    /// What its runs may do without asking, or no longer.
    pub standing: Option<StandingChange>,
    /// The new rule for missed runs.
    pub if_missed: Option<IfMissed>,
}

impl Task {
    /// Whether two tasks ask for the same thing, of the same agent, at the same times in the same place.
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

    /// The agent that was chosen for it; `None` where it is carried out by the one for all tasks.
    #[must_use]
    pub fn own_agent(&self) -> Option<&str> {
        Some(self.agent.as_str()).filter(|agent| *agent != SCHEDULED_AGENT)
    }

    /// Adds a standing rule, in the place of one about the same method and chat, as long as there is room; or takes one back.
    fn stand(&mut self, change: StandingChange) {
        let (method, chat) = match &change {
            // What was approved is what the task was then.
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
            // None of its words are left.
            self.made_in.clear();
        }
        self.made_in.extend(edit.made_in);
        self.title = edit.title.or(self.title.take());
        if let Some(prompt) = edit.prompt {
            if prompt != self.prompt {
                self.standing.clear();
            }
            self.prompt = prompt;
            self.addresses = edit.addresses;
        }
        let moved = edit.zone.map(|zone| (self.by_clocks_of(zone, now), zone));
        let is_new = edit.schedule.is_some();
        if let Some((schedule, zone)) = edit.schedule.or(moved) {
            // Other times by the same clocks are no word on where the chat is.
            let is_guess =
                edit.zone_assumed || (self.zone_assumed && edit.zone.is_none() && zone == self.zone);
            self.zone_assumed = is_guess && schedule.uses_zone();
            (self.schedule, self.zone) = (schedule, zone);
            // Another clock changes nothing about what is due already.
            if is_new || self.next.is_some_and(|next| next > now) {
                self.next = self.schedule.next(zone, now);
            }
            if is_new {
                // Whoever approved what its runs may do knew how often they come.
                self.standing.clear();
                (self.retry, self.asked) = (None, None);
                if let State::Done(_) = self.state {
                    self.state = State::Active;
                }
            }
        }
        if let Some(agent) = edit.agent.filter(|agent| *agent != self.agent) {
            // Whoever approved what its runs may do knew who makes them.
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

    /// The same times by the clocks of another zone; a single one that is over there stays the instant that it is.
    fn by_clocks_of(&self, zone: Tz, now: DateTime<Utc>) -> Schedule {
        let moved = self.schedule.moved(self.zone, zone);
        if moved.next(zone, now).is_some() { moved } else { self.schedule.clone() }
    }
}
