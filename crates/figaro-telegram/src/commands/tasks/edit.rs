//! Card that edits a task: moves its time in steps, sets the policy for missed runs and the agent. People ask the
//! model for all other changes.

use chrono::TimeDelta;

use super::super::agents::line;
use super::super::card::Card;
use super::super::command::Pressed;
use super::super::list_page::ListPage;
use super::TasksCommand;
use super::card::{TaskView, shortened};
use super::one::On;
use crate::callback::{AgentKey, Page, TaskVerb};
use figaro_domain::agent::Agent;
use figaro_domain::schedule::Schedule;
use figaro_domain::task::{IfMissed, Task, TaskChange, TaskEdit, TaskState};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::StoreError;

/// Steps for recurring tasks: label and minutes.
const STEPS: [(&str, i32); 4] = [("−1 h", -60), ("−15 min", -15), ("+15 min", 15), ("+1 h", 60)];
/// Steps for a single run: label and minutes, counted from now if its time has passed.
const LATER: [(&str, i32); 3] = [("+10 min", 10), ("+1 h", 60), ("+1 d", 24 * 60)];

impl TasksCommand {
    /// Handles a press on the card that edits a task: changes the task, or shows the agents to choose from.
    ///
    /// # Errors
    /// If the store fails; then nothing is changed.
    pub(super) async fn press_edit(
        &self,
        on: &On<'_>,
        view: TaskView<'_>,
        task: &Task,
    ) -> Result<Pressed, StoreError> {
        let edit = match (on.button.verb, task.state) {
            (_, TaskState::Cancelled(_)) => None,
            (TaskVerb::Edit, _) => return self.opens(on, task, Pressed::card(view.edit_card(task))).await,
            (TaskVerb::Agents(page), _) => {
                return self.opens(on, task, Pressed::card(view.agents_card(task, page))).await;
            }
            (TaskVerb::Agent(key), _) => match self.agent_of(on, view, key) {
                Ok(agent) => Some(TaskEdit { agent: Some(agent), ..TaskEdit::default() }),
                Err(complaint) => return Ok(Pressed::toast(complaint)),
            },
            (TaskVerb::Shift(minutes), _) => view.shifted(task, minutes),
            (TaskVerb::Missed(policy), _) => {
                Some(TaskEdit { if_missed: Some(policy), ..TaskEdit::default() })
            }
            _ => None,
        };
        if !self.changes.has_room_for(task)? {
            return Ok(Pressed::toast(self.changes.full(view.texts)));
        }
        let changed = match edit {
            Some(edit) => self.changes.make(task.id, TaskChange::edit(edit)).await?,
            None => None,
        };
        let shown = match changed {
            Some(task) => Pressed::both(view.texts.config_saved(), view.edit_card(&task)),
            None => Pressed::both(view.texts.gone(), view.card(task)),
        };
        self.opens(on, task, shown).await
    }

    /// Returns the agent of a button. Errors with a message if it no longer exists or the asker may not choose it.
    fn agent_of(&self, on: &On<'_>, view: TaskView<'_>, key: AgentKey) -> Result<String, String> {
        let agent = view.agents.for_tasks().find(|agent| AgentKey::of(&agent.name) == key);
        agent.map_or_else(
            || Err(view.texts.gone().to_owned()),
            |agent| self.agents.for_task(on.asker, &agent.name),
        )
    }
}

impl TaskView<'_> {
    fn edit_card(&self, task: &Task) -> Card {
        let texts = self.texts;
        let prompt = shortened(task.prompt.trim());
        let prompt = fill(texts.task_edit_prompt(), &[("prompt", &prompt)]);
        let steps = if task.schedule.is_recurring() { &STEPS[..] } else { &LATER[..] };
        let fitting = steps.iter().filter(|(_, minutes)| self.shifted(task, *minutes).is_some());
        let step = |(label, minutes): &(&str, i32)| self.button(label, TaskVerb::Shift(*minutes), task);
        let policies = IfMissed::ALL.into_iter().map(|policy| {
            let mark = if policy == task.if_missed { "✓ " } else { "" };
            let label = format!("{mark}{}", missed_words(texts, policy));
            self.button(&label, TaskVerb::Missed(policy), task)
        });
        let label = self.button(texts.task_edit_label(), TaskVerb::Label, task);
        Card::titled(&fill(texts.task_edit(), &[("task", &self.title(task))]), prompt)
            .row(fitting.map(step).collect())
            .row(vec![label])
            .row(policies.collect())
            .row(vec![self.button(&self.agent(task), TaskVerb::Agents(0), task)])
            .row(vec![self.button(texts.button_back(), TaskVerb::Open, task)])
    }

    /// Returns a page of the agents to choose from for the task.
    fn agents_card(&self, task: &Task, page: Page) -> Card {
        let page = ListPage::of(self.agents.for_tasks().collect(), page);
        let choose = |agent: &Agent| {
            let mark = if agent.name == task.agent { "✓ " } else { "" };
            let label = format!("{mark}{}", agent.name);
            vec![self.button(&label, TaskVerb::Agent(AgentKey::of(&agent.name)), task)]
        };
        let lines: Vec<String> =
            page.items.iter().map(|agent| line(self.texts, self.agents, agent)).collect();
        let title = fill(self.texts.task_edit_agents(), &[("task", &task.title())]);
        Card::titled(&title, lines.join("\n"))
            .list(self.texts, &page, |agent| choose(agent), |page| self.press(TaskVerb::Agents(page), task))
            .row(vec![self.button(self.texts.button_back(), TaskVerb::Open, task)])
    }

    /// Returns the explanation of the policies for missed runs, with the current one.
    pub(super) fn missed_help(&self, task: &Task) -> String {
        fill(self.texts.task_edit_missed(), &[("choice", missed_words(self.texts, task.if_missed))])
    }

    /// Returns the edit that moves a task's times; `None` if the schedule cannot be moved so.
    pub(super) fn shifted(&self, task: &Task, minutes: i32) -> Option<TaskEdit> {
        let late = match task.schedule {
            Schedule::Once { at, .. } => (self.now - at).max(TimeDelta::zero()),
            Schedule::Cron(_) => TimeDelta::zero(),
        };
        let by = TimeDelta::try_minutes(minutes.into())?.checked_add(&late)?;
        let schedule = task.schedule.shifted(by)?;
        schedule.next(task.zone, self.now)?;
        Some(TaskEdit { schedule: Some((schedule, task.zone)), ..TaskEdit::default() })
    }
}

fn missed_words(texts: &Texts, policy: IfMissed) -> &str {
    match policy {
        IfMissed::RunOnce => texts.missed_run_once(),
        IfMissed::Skip => texts.missed_skip(),
        IfMissed::Ask => texts.missed_ask(),
    }
}
