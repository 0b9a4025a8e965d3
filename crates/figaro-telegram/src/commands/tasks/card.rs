//! Cards of a task and of its last runs, built from stored data. The delivery sends the first card as proof of what a
//! turn did; buttons replace it by either.

use chrono::{DateTime, Utc};

use super::super::card::{Card, explain_unknown};
use super::super::list_page::ListPage;
use crate::callback::{Page, TaskPress, TaskVerb, TasksButton};
use crate::send::Button;
use figaro_agent::task_control::UNDO;
use figaro_base::text::one_line;
use figaro_domain::task::{PauseReason, RunStatus, Task, TaskRun, TaskState};
use figaro_domain::usage::{UNKNOWN_MONEY, dollars};
use figaro_prompts::AgentSet;
use figaro_prompts::texts::{Texts, fill, schedules};

/// Number of next due times on a card.
const TIMES: usize = 3;
/// Maximum length of a prompt on a card, in characters.
const PROMPT_CHARS: usize = 500;

/// Settings and data to show the cards of tasks.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaskView<'a> {
    pub(super) texts: &'a Texts,
    pub(super) now: DateTime<Utc>,
    /// List page that the card was opened from, to go back to; its buttons carry the page along.
    pub(super) page: Option<Page>,
    /// `true` if the card is shown in a chat other than the task's.
    pub(super) is_elsewhere: bool,
    /// All agents, to look up names.
    pub(super) agents: &'a AgentSet,
}

impl TaskView<'_> {
    pub(super) fn card(&self, task: &Task) -> Card {
        let undo = self.button(self.texts.button_undo(), TaskVerb::Undo, task);
        let can_undo = matches!(task.state, TaskState::Cancelled(at) if self.now - at < UNDO);
        Card::titled(&self.title(task), self.body(task))
            .row(if can_undo { vec![undo] } else { Vec::new() })
            .row(self.actions(task))
            .row(self.ways(task))
    }

    /// Returns the card for people who may not change the task.
    pub(super) fn without_actions(&self, task: &Task) -> Card {
        Card::titled(&self.title(task), self.body(task)).row(self.ways(task))
    }

    /// Returns the task's title with its schedule.
    pub(super) fn title(&self, task: &Task) -> String {
        format!("⏰ {} — {}", task.title(), schedules::schedule(self.texts, task, self.now))
    }

    /// Returns a page of the last runs, newest first.
    pub(super) fn history(&self, task: &Task, runs: &[TaskRun], page: Page) -> Card {
        let page = ListPage::of(runs.iter().collect(), page);
        let mut lines: Vec<String> = page.items.iter().map(|run| self.run_line(task, run, true)).collect();
        explain_unknown(&mut lines, self.texts);
        Card::titled(&self.title(task), lines.join("\n"))
            .pages(self.texts, &page, |page| self.press(TaskVerb::History(page), task))
            .row(vec![self.button(self.texts.button_back(), TaskVerb::Open, task)])
    }

    pub(super) fn button(&self, label: &str, verb: TaskVerb, task: &Task) -> Button {
        Button::new(label, self.press(verb, task))
    }

    pub(super) const fn press(&self, verb: TaskVerb, task: &Task) -> TasksButton {
        TasksButton::One(TaskPress { verb, task: task.id, page: self.page })
    }

    pub(super) fn moment(&self, task: &Task, at: DateTime<Utc>) -> String {
        schedules::moment(self.texts, task, at, self.now)
    }

    fn body(&self, task: &Task) -> String {
        let next: Vec<String> = match task.state {
            // For a single run, the title already shows the time.
            TaskState::Active if task.schedule.is_recurring() => {
                task.upcoming(TIMES).into_iter().map(|at| self.moment(task, at)).collect()
            }
            _ => Vec::new(),
        };
        let next = (!next.is_empty()).then(|| fill(self.texts.task_next(), &[("times", &next.join(" · "))]));
        let last = task.last.as_ref().map(|run| {
            let run = self.run_line(task, run, false);
            fill(self.texts.task_last(), &[("run", &run)])
        });
        let agent = task.own_agent().map(|_| self.agent(task));
        let all = next.into_iter().chain(self.state(task)).chain(last).chain(agent).chain(self.creator(task));
        let lines: Vec<String> = all.collect();
        // A title given by people is enough; the prompt is for the model.
        let is_all = task.title.is_some() || task.title() == one_line(&task.prompt, usize::MAX);
        let prompt = (!is_all).then(|| shortened(task.prompt.trim()));
        [lines.join("\n")]
            .into_iter()
            .filter(|lines| !lines.is_empty())
            .chain(prompt)
            .collect::<Vec<_>>()
            .join("\n\n")
    }

    fn state(&self, task: &Task) -> impl Iterator<Item = String> {
        let texts = self.texts;
        let when = |text: &str, at| fill(text, &[("when", &self.moment(task, at))]);
        let state = match task.state {
            TaskState::Active => None,
            TaskState::Paused(PauseReason::Person) => Some(texts.task_paused().to_owned()),
            TaskState::Paused(PauseReason::Failures) => Some(texts.task_paused_failures().to_owned()),
            TaskState::Paused(PauseReason::Removed) if !task.place.is_group() => {
                Some(texts.task_paused_blocked().to_owned())
            }
            TaskState::Paused(PauseReason::Removed) => Some(texts.task_paused_removed().to_owned()),
            TaskState::Paused(PauseReason::Denied) => Some(texts.task_paused_denied().to_owned()),
            TaskState::Done(at) => Some(when(texts.task_done_at(), at)),
            TaskState::Cancelled(at) => Some(when(texts.task_cancelled_at(), at)),
        };
        let running = task.lease.map(|_| texts.task_running().to_owned());
        let again = task.retry.map(|retry| match retry.attempt {
            // It was put off, and did not fail.
            1 => when(texts.task_quiet(), retry.at),
            _ => when(texts.task_again_at(), retry.at),
        });
        let asked = task.asked.map(|due| when(texts.task_asked(), due));
        [state, running, again, asked].into_iter().flatten()
    }

    /// Returns the line of the agent that runs the task; marks an agent that no longer exists.
    pub(super) fn agent(&self, task: &Task) -> String {
        let is_there = self.agents.for_tasks().any(|agent| agent.name == task.agent);
        let text = if is_there { self.texts.task_agent() } else { self.texts.task_agent_gone() };
        fill(text, &[("agent", &task.agent)])
    }

    fn creator(&self, task: &Task) -> Option<String> {
        let name = task.creator.name.as_str();
        match &task.place.title {
            Some(chat) if self.is_elsewhere => {
                Some(fill(self.texts.task_by_in(), &[("name", name), ("chat", chat)]))
            }
            _ => task.place.is_group().then(|| fill(self.texts.task_by(), &[("name", name)])),
        }
    }

    fn duration(&self, seconds: i64) -> String {
        match seconds {
            60.. => self.texts.span(seconds),
            _ => fill(self.texts.span_seconds(), &[("seconds", &seconds.max(0).to_string())]),
        }
    }

    /// Returns the line of a run: due time and result; with `in_full` also duration, usage and error.
    fn run_line(&self, task: &Task, run: &TaskRun, in_full: bool) -> String {
        let (mark, status) = self.status(run.status);
        let mut line = format!("{mark} {} · {status}", self.moment(task, run.due));
        if in_full && run.run.is_some() {
            line += &format!(" · {}", self.duration((run.ended_at - run.started_at).num_seconds()));
        }
        if in_full && run.cost.usage.total() > 0 {
            let money = run.cost.nano_usd.map_or_else(|| UNKNOWN_MONEY.to_owned(), dollars);
            let values = [("tokens", self.texts.tokens(run.cost.usage.total())), ("money", money)];
            let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
            line += &format!(" · {}", fill(self.texts.status_today(), &values));
        }
        match run.error.as_ref().map(|reason| self.texts.reason(reason)) {
            Some(error) if in_full => format!("{line}\n    {error}"),
            Some(error) => format!("{line}: {error}"),
            None => line,
        }
    }

    fn status(&self, status: RunStatus) -> (&'static str, &str) {
        let texts = self.texts;
        match status {
            RunStatus::Delivered => ("✅", texts.run_delivered()),
            RunStatus::Silent => ("✅", texts.run_silent()),
            RunStatus::Stopped => ("–", texts.run_stopped()),
            RunStatus::Failed => ("⚠️", texts.run_failed()),
            RunStatus::Missed => ("⚠️", texts.run_missed()),
            RunStatus::Skipped => ("–", texts.run_skipped()),
        }
    }

    fn actions(&self, task: &Task) -> Vec<Button> {
        let texts = self.texts;
        let run = (texts.button_run_now(), TaskVerb::Run, task.lease.is_none());
        let skip = (texts.button_skip(), TaskVerb::Skip, task.asked.is_some());
        let pause = match task.state {
            TaskState::Paused(_) => (texts.button_resume(), TaskVerb::Resume, true),
            _ => (texts.button_pause(), TaskVerb::Pause, task.is_live()),
        };
        let edit = (texts.button_edit(), TaskVerb::Edit, true);
        let cancel = (texts.button_cancel(), TaskVerb::Cancel, task.is_live());
        let all = match task.state {
            TaskState::Cancelled(_) => Vec::new(),
            _ => vec![run, skip, pause, edit, cancel],
        };
        let fitting = all.into_iter().filter(|(_, _, fits)| *fits);
        fitting.map(|(label, verb, _)| self.button(label, verb, task)).collect()
    }

    /// Returns the buttons for the history and back to the list.
    fn ways(&self, task: &Task) -> Vec<Button> {
        let texts = self.texts;
        let history =
            task.last.as_ref().map(|_| self.button(texts.button_history(), TaskVerb::History(0), task));
        let back = self.page.map(|page| Button::new(texts.button_back(), TasksButton::List(page)));
        history.into_iter().chain(back).collect()
    }
}

/// Shortens a prompt to the length that cards show.
pub(super) fn shortened(prompt: &str) -> String {
    match prompt.char_indices().nth(PROMPT_CHARS) {
        Some((end, _)) => format!("{}…", prompt.get(..end).unwrap_or(prompt).trim_end()),
        None => prompt.to_owned(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fmt::Write;
    use std::sync::Arc;

    use chrono::TimeZone;
    use figaro_base::tz::Tz;

    use chrono::TimeDelta;

    use super::*;
    use crate::commands::list_page::ROWS;
    use figaro_base::ids::{ChatId, RunId, UserId};
    use figaro_domain::chat::{ChatKind, Place};
    use figaro_domain::message::Speaker;
    use figaro_domain::schedule::Schedule;
    use figaro_domain::task::{Cost, DueRun, IfMissed, Missed, NewTask, Reason, TaskChange, TaskRunResult};
    use figaro_domain::usage::Usage;
    use figaro_prompts::Prompts;
    use figaro_prompts::texts::Locales;

    fn at(day: u32, hour: u32, minute: u32) -> DateTime<Utc> {
        Utc.with_ymd_and_hms(2026, 11, day, hour, minute, 0).unwrap()
    }

    /// A task in Riga, made on a Monday at eight, UTC.
    pub(in super::super) fn task(schedule: &str) -> Task {
        let (zone, now) = ("Europe/Riga".parse::<Tz>().unwrap(), at(23, 6, 0));
        let read = Schedule::recurring(schedule, zone, now).or_else(|_| Schedule::once(schedule, zone, now));
        let place =
            Place { chat: ChatId(-5), kind: ChatKind::Group, title: Some("Home".into()), topic: None };
        let new = NewTask {
            place,
            creator: Speaker { user: UserId::telegram(1), name: "Ann Smith".into(), username: None },
            language: None,
            prompt: "Morning news".into(),
            schedule: read.unwrap(),
            zone,
            zone_assumed: false,
        };
        Task::new(new, now)
    }

    fn changed(mut task: Task, changes: Vec<(TaskChange, DateTime<Utc>)>) -> (Task, Vec<TaskRun>) {
        let mut runs = Vec::new();
        for (change, now) in changes {
            runs.extend(task.apply(change, now).unwrap());
        }
        runs.reverse();
        (task, runs)
    }

    fn drawn(card: &Card) -> String {
        let rows = card
            .buttons
            .iter()
            .map(|row| row.iter().map(|button| format!("[{}]", button.text)).collect::<Vec<_>>().join(" "));
        format!("{}\n{}\n", card.content().text, rows.collect::<Vec<_>>().join("\n"))
    }

    /// A task in each of its states, with the runs it had.
    fn states() -> Vec<(&'static str, Task, Vec<TaskRun>)> {
        use TaskChange as C;
        let (nine, run) = (at(23, 7, 0), RunId::new());
        let daily = || task("0 9 * * 1-5");
        let lease = C::Lease(run, DueRun { at: nine, attempt: 1, late: false });
        let cost = Cost { usage: Usage { input: 1_100, cached: 0, output: 134 }, nano_usd: Some(9_000_000) };
        let failed = |again| {
            C::Settle(run, TaskRunResult::Failed { error: Reason::Busy, again, cost: Cost::default() })
        };
        let told = || {
            let end = C::Settle(run, TaskRunResult::Delivered(None));
            vec![(lease.clone(), nine), (C::Answered(run, cost), nine), (end, at(23, 7, 1))]
        };
        let mut asks = daily();
        asks.if_missed = IfMissed::Ask;
        let mut long = daily();
        long.prompt =
            format!("Tell me the news. {}", "Leave out sports, and do not forget Latvia. ".repeat(14));
        let later = |change| [told(), vec![(change, at(23, 8, 0))]].concat();
        let of = |name, (task, runs)| (name, task, runs);
        vec![
            of("new", (daily(), Vec::new())),
            of("long", (long, Vec::new())),
            of("running", changed(daily(), vec![(lease.clone(), nine)])),
            of("ran", changed(daily(), told())),
            of("to be tried again", changed(daily(), vec![(lease.clone(), nine), (failed(true), nine)])),
            of("failed", changed(daily(), vec![(lease.clone(), nine), (failed(false), nine)])),
            of("asks", changed(asks, vec![(C::Miss(nine, Missed::Ask), at(23, 7, 30))])),
            of("paused", changed(daily(), later(C::Pause(PauseReason::Person)))),
            of("gave up", changed(daily(), later(C::Pause(PauseReason::Failures)))),
            of("removed", changed(daily(), later(C::Pause(PauseReason::Removed)))),
            of("cancelled", changed(daily(), later(C::Cancel))),
            of("once", (task("2027-01-04T07:30"), Vec::new())),
            of("done", changed(task("2026-11-23T09:00"), told())),
        ]
    }

    fn agents() -> Arc<AgentSet> {
        Prompts::load(None).unwrap().agents()
    }

    #[test]
    fn a_card_says_how_a_task_stands() {
        let (locales, agents) = (Locales::default(), agents());
        let mut all = String::new();
        for (tag, texts) in locales.all() {
            for (name, task, _) in states() {
                let (now, is_elsewhere) = (at(23, 8, 0), name == "failed");
                let view = TaskView { texts, now, page: Some(0), is_elsewhere, agents: &agents };
                writeln!(all, "== {tag}: {name}\n{}", drawn(&view.card(&task))).unwrap();
            }
        }
        insta::assert_snapshot!(all);
    }

    #[test]
    fn a_card_names_an_agent_of_the_tasks_own_and_says_if_it_is_gone() {
        let (locales, agents) = (Locales::default(), agents());
        let view = TaskView {
            texts: locales.of(None),
            now: at(23, 8, 0),
            page: None,
            is_elsewhere: false,
            agents: &agents,
        };
        let body = |agent: &str| view.card(&Task { agent: agent.into(), ..task("0 9 * * *") }).body;
        assert!(!body("scheduled").contains("Agent"), "{}", body("scheduled"));
        assert!(body("researcher").contains("Agent: researcher\n"), "{}", body("researcher"));
        assert!(
            body("tutor").contains("⚠️ Agent: tutor, which is not there any more\n"),
            "{}",
            body("tutor")
        );
    }

    #[test]
    fn a_history_says_how_runs_ended() {
        let (locales, agents) = (Locales::default(), agents());
        let (texts, now) = (locales.of(None), at(23, 8, 0));
        let mut all = String::new();
        for (_, task, runs) in states().into_iter().filter(|(_, _, runs)| !runs.is_empty()).take(2) {
            let view = TaskView { texts, now, page: None, is_elsewhere: false, agents: &agents };
            writeln!(all, "{}", drawn(&view.history(&task, &runs, 0))).unwrap();
            let many: Vec<TaskRun> = runs.iter().cycle().take(ROWS + 3).cloned().collect();
            let last = view.history(&task, &many, 9);
            assert_eq!(last.content().text.lines().filter(|line| line.contains("today 09:00")).count(), 3);
        }
        insta::assert_snapshot!(all);
    }

    #[test]
    fn what_a_card_shows_as_proof_leads_nowhere_back_and_undo_ends() {
        let (locales, agents) = (Locales::default(), agents());
        let (cancelled, _) = changed(task("0 9 * * *"), vec![(TaskChange::Cancel, at(23, 8, 0))]);
        let labels = |card: Card| -> Vec<String> {
            card.buttons.into_iter().flatten().map(|button| button.text).collect()
        };
        let texts = locales.of(None);
        let card_at = |task: &Task, now| {
            TaskView { texts, now, page: None, is_elsewhere: false, agents: &agents }.card(task)
        };
        let proof = labels(card_at(&task("0 9 * * *"), at(23, 8, 0)));
        assert_eq!(proof, ["Run now", "Pause", "Edit", "Cancel"]);
        assert_eq!(labels(card_at(&cancelled, at(23, 8, 0) + UNDO - TimeDelta::seconds(1))), ["Undo"]);
        assert_eq!(labels(card_at(&cancelled, at(23, 8, 0) + UNDO)), [""; 0]);
    }
}
