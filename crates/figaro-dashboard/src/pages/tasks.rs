//! Tasks: what runs next in the coming week, all tasks with their buttons, and one task with its history.

use axum::Form;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Redirect;
use axum::routing::get;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::error::DashboardError;
use crate::names::FoundNames;
use crate::page::Html;
use crate::spec::PageSpec;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use figaro_agent::task_control::{TaskAction, TaskActionResult, UNDO};
use figaro_base::ids::TaskId;
use figaro_domain::task::{PauseReason, RunStatus, Task, TaskRun, TaskState};
use figaro_domain::usage::{UNKNOWN_MONEY, dollars};
use figaro_prompts::texts::{Texts, fill, schedules};

/// Time ahead that the calendar shows, and its maximum number of runs: of a task, and of all.
const AHEAD: TimeDelta = TimeDelta::days(7);
const RUNS_OF_TASK: usize = 14;
const RUNS: usize = 100;
/// Time for which an ended task is listed.
const LISTED: TimeDelta = TimeDelta::days(7);

pub(crate) const SPEC: PageSpec =
    PageSpec { path: "tasks", title: Texts::tasks_title, for_owners: false, is_of_several: false };

pub(super) fn routes() -> Router<Dashboard> {
    Router::new().route("/tasks", get(show)).route("/tasks/{task}", get(one).post(act))
}

#[derive(Debug, Serialize)]
struct TasksPage {
    days: Vec<CalendarDay>,
    tasks: Vec<TaskRow>,
}

#[derive(Debug, Serialize)]
struct CalendarDay {
    date: String,
    runs: Vec<ComingRun>,
}

#[derive(Debug, Serialize)]
struct ComingRun {
    id: TaskId,
    time: String,
    title: String,
}

#[derive(Debug, Serialize)]
struct TaskRow {
    id: TaskId,
    title: String,
    schedule: String,
    chat: String,
    creator: String,
    next: String,
    state: String,
    /// Actions that fit, in the order of their buttons.
    actions: Vec<ActionButton>,
}

#[derive(Debug, Serialize)]
struct ActionButton {
    action: WantedAction,
    label: &'static str,
}

#[derive(Debug, Serialize)]
struct TaskPage {
    row: TaskRow,
    prompt: String,
    agent: String,
    runs: Vec<RunRow>,
}

#[derive(Debug, Serialize)]
struct RunRow {
    due: String,
    status: &'static str,
    is_bad: bool,
    seconds: Option<i64>,
    tokens: String,
    money: String,
    error: String,
}

/// Action of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WantedAction {
    Run,
    Skip,
    Pause,
    Resume,
    Cancel,
    Revive,
}

/// Returns `true` if a person may see a task, and change it: they asked for it, or it is of their private chat.
fn may_see(viewer: &Viewer, task: &Task) -> bool {
    viewer.may_see_of(&task.creator.user) || viewer.may_see(task.place.chat)
}

fn seen(dashboard: &Dashboard, viewer: &Viewer) -> Result<Vec<Task>, DashboardError> {
    let mut all = dashboard.tasks.store.all()?;
    all.retain(|task| {
        let is_recent = match task.state {
            TaskState::Active | TaskState::Paused(_) => true,
            TaskState::Done(at) | TaskState::Cancelled(at) => viewer.now - at < LISTED,
        };
        is_recent && may_see(viewer, task)
    });
    all.sort_by_key(|task| (rank(task), task.next.unwrap_or(task.created_at), task.id));
    Ok(all)
}

const fn rank(task: &Task) -> u8 {
    match task.state {
        TaskState::Active => 0,
        TaskState::Paused(_) => 1,
        TaskState::Done(_) | TaskState::Cancelled(_) => 2,
    }
}

async fn show(State(dashboard): State<Dashboard>, viewer: Viewer) -> Result<Html, DashboardError> {
    let all = seen(&dashboard, &viewer)?;
    let names = dashboard.find_names(all.iter().map(|task| task.place.chat), viewer.now).await;
    let tasks = all.iter().map(|task| row(&viewer, task, &names)).collect();
    let tasks = TasksPage { days: calendar(&viewer, &all), tasks };
    viewer.page(&dashboard, SPEC.shown("tasks.html"), tasks)
}

/// Returns the runs of the coming days, in the zone of the person.
fn calendar(viewer: &Viewer, tasks: &[Task]) -> Vec<CalendarDay> {
    let end = viewer.now + AHEAD;
    let active = tasks.iter().filter(|task| task.state == TaskState::Active);
    let runs = active.flat_map(|task| {
        let coming = task.upcoming(RUNS_OF_TASK).into_iter().take_while(|at| *at < end);
        coming.map(move |at| (at, task))
    });
    let mut runs: Vec<(DateTime<Utc>, &Task)> = runs.collect();
    runs.sort_by_key(|(at, task)| (*at, task.id));
    runs.truncate(RUNS);
    let mut days: Vec<CalendarDay> = Vec::new();
    for (at, task) in runs {
        let at = at.with_timezone(&viewer.zone);
        let date = viewer.texts.date(&at, None);
        let run = ComingRun { id: task.id, time: at.format("%H:%M").to_string(), title: task.title() };
        match days.last_mut().filter(|day| day.date == date) {
            Some(day) => day.runs.push(run),
            None => days.push(CalendarDay { date, runs: vec![run] }),
        }
    }
    days
}

fn row(viewer: &Viewer, task: &Task, names: &FoundNames) -> TaskRow {
    let texts = &viewer.texts;
    let next = task.next.filter(|_| task.state == TaskState::Active);
    TaskRow {
        id: task.id,
        title: task.title(),
        schedule: schedules::schedule(texts, task, viewer.now),
        chat: task.place.title.clone().unwrap_or_else(|| names.of(task.place.chat)),
        creator: task.creator.name.clone(),
        next: next.map(|at| viewer.time(at)).unwrap_or_default(),
        state: state(viewer, task),
        actions: actions(texts, task, viewer.now),
    }
}

fn state(viewer: &Viewer, task: &Task) -> String {
    let texts = &viewer.texts;
    let at = |words: &str, at| fill(words, &[("when", &viewer.time(at))]);
    match task.state {
        _ if task.lease.is_some() => texts.task_running().to_owned(),
        TaskState::Active => task.asked.map(|due| at(texts.task_asked(), due)).unwrap_or_default(),
        TaskState::Paused(PauseReason::Person) => texts.task_paused().to_owned(),
        TaskState::Paused(PauseReason::Failures) => texts.task_paused_failures().to_owned(),
        TaskState::Paused(PauseReason::Removed) => texts.task_paused_removed().to_owned(),
        TaskState::Paused(PauseReason::Denied) => texts.task_paused_denied().to_owned(),
        TaskState::Done(when) => at(texts.task_done_at(), when),
        TaskState::Cancelled(when) => at(texts.task_cancelled_at(), when),
    }
}

fn actions(texts: &Texts, task: &Task, now: DateTime<Utc>) -> Vec<ActionButton> {
    let pause = match task.state {
        TaskState::Paused(_) => (WantedAction::Resume, texts.button_resume(), true),
        _ => (WantedAction::Pause, texts.button_pause(), task.is_live()),
    };
    let is_cancelled = matches!(task.state, TaskState::Cancelled(_));
    let may_revive = matches!(task.state, TaskState::Cancelled(at) if now - at < UNDO);
    let all = [
        (WantedAction::Run, texts.button_run_now(), task.lease.is_none() && !is_cancelled),
        (WantedAction::Skip, texts.button_skip(), task.asked.is_some()),
        pause,
        (WantedAction::Cancel, texts.button_cancel(), task.is_live()),
        (WantedAction::Revive, texts.button_undo(), may_revive),
    ];
    let fitting = all.into_iter().filter(|(_, _, fits)| *fits);
    fitting.map(|(action, label, _)| ActionButton { action, label }).collect()
}

async fn one(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Path(id): Path<TaskId>,
) -> Result<Html, DashboardError> {
    let task = dashboard.tasks.store.find(id)?.filter(|task| may_see(&viewer, task));
    let task = task.ok_or(DashboardError::NotFound)?;
    let names = dashboard.find_names([task.place.chat], viewer.now).await;
    let runs = dashboard.tasks.store.runs(id)?;
    let shown = TaskPage {
        row: row(&viewer, &task, &names),
        prompt: task.prompt.clone(),
        agent: task.agent.clone(),
        runs: runs.iter().map(|ran| run(&viewer, ran)).collect(),
    };
    let title = task.title();
    viewer.page(&dashboard, SPEC.below("task.html", &title), shown)
}

fn run(viewer: &Viewer, run: &TaskRun) -> RunRow {
    let texts = &viewer.texts;
    let (status, is_bad) = match run.status {
        RunStatus::Delivered => (texts.run_delivered(), false),
        RunStatus::Silent => (texts.run_silent(), false),
        RunStatus::Stopped => (texts.run_stopped(), false),
        RunStatus::Failed => (texts.run_failed(), true),
        RunStatus::Missed => (texts.run_missed(), true),
        RunStatus::Skipped => (texts.run_skipped(), false),
    };
    let usage = run.cost.usage.total();
    RunRow {
        due: viewer.time(run.due),
        status,
        is_bad,
        seconds: run.run.map(|_| (run.ended_at - run.started_at).num_seconds()),
        tokens: if usage > 0 { texts.tokens(usage) } else { String::new() },
        money: match (usage, run.cost.nano_usd) {
            (0, _) => String::new(),
            (_, None) => UNKNOWN_MONEY.to_owned(),
            (_, Some(nano_usd)) => dollars(nano_usd),
        },
        error: run.error.as_ref().map(|reason| texts.reason(reason)).unwrap_or_default(),
    }
}

/// Returns `true` if a person may have a task act in its chat: owners, and those who are there.
async fn may_reach(dashboard: &Dashboard, viewer: &Viewer, task: &Task, action: TaskAction) -> bool {
    viewer.may_see(task.place.chat)
        || action.is_restraint()
        || dashboard.channel.is_member(task.place.chat, viewer.user()).await
}

#[derive(Debug, Deserialize)]
struct ActionForm {
    action: WantedAction,
}

async fn act(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Path(id): Path<TaskId>,
    Form(ActionForm { action }): Form<ActionForm>,
) -> Result<Redirect, DashboardError> {
    let task = dashboard.tasks.store.find(id)?.filter(|task| may_see(&viewer, task));
    let task = task.ok_or(DashboardError::NotFound)?;
    let texts = &viewer.texts;
    let (action, done) = match action {
        WantedAction::Run => (TaskAction::Run, texts.task_running()),
        WantedAction::Skip => (TaskAction::Skip, texts.task_skipped()),
        WantedAction::Pause => (TaskAction::Pause, texts.task_paused()),
        WantedAction::Resume => (TaskAction::Resume, texts.task_resumed()),
        WantedAction::Cancel => (TaskAction::Cancel, texts.task_cancelled()),
        WantedAction::Revive => (TaskAction::Revive, texts.task_revived()),
    };
    if !may_reach(&dashboard, &viewer, &task, action).await {
        viewer.browser.tell(texts.task_not_there().to_owned());
        return Ok(Redirect::to("../tasks"));
    }
    tracing::info!(task = %id, user = %viewer.user(), ?action, "a task was changed in the dashboard");
    viewer.browser.tell(match dashboard.tasks.act(&task, action).await? {
        TaskActionResult::Done(_) => done.to_owned(),
        TaskActionResult::Denied => texts.task_paused_denied().to_owned(),
        TaskActionResult::Full => dashboard.tasks.full(texts),
        TaskActionResult::Running(_) => texts.task_runs_already().to_owned(),
        TaskActionResult::Unfit(_) | TaskActionResult::Gone => texts.gone().to_owned(),
    });
    Ok(Redirect::to("../tasks"))
}
