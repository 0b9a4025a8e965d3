//! The first page: tokens and money by day and by who spent them, what waits, and how the bot is.

use std::collections::BTreeMap;

use axum::Router;
use axum::extract::{Query, State};
use axum::routing::get;
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::error::DashboardError;
use crate::page::Html;
use crate::plot::{Plot, PlotPoint};
use crate::spec::PageSpec;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use figaro_base::ids::{ChatId, TaskId, UserId};
use figaro_domain::budget::BudgetAxis;
use figaro_domain::calls::{Calls, Spread};
use figaro_domain::usage::{Spending, Spent};
use figaro_ledger::{LimitUse, sum};
use figaro_prompts::texts::{Texts, fill};

/// Days that are shown, today included.
const DAYS: u64 = 30;
/// Maximum number of rows of a table.
const ROWS: usize = 20;

pub(crate) const SPEC: PageSpec =
    PageSpec { path: "", title: Texts::dashboard_overview, for_owners: false, is_of_several: false };

pub(super) fn routes() -> Router<Dashboard> {
    Router::new().route("/", get(show))
}

#[derive(Debug, Default, Deserialize)]
struct OverviewChoice {
    #[serde(default)]
    by: SpenderAxis,
}

/// Division of the spending.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum SpenderAxis {
    #[default]
    Model,
    Person,
    Chat,
    Task,
    Agent,
    Key,
}

impl SpenderAxis {
    const ALL: [Self; 6] = [Self::Model, Self::Person, Self::Chat, Self::Task, Self::Agent, Self::Key];

    fn title(self, texts: &Texts) -> &'static str {
        match self {
            Self::Model => texts.usage_models(),
            Self::Person => texts.usage_people(),
            Self::Chat => texts.usage_chats(),
            Self::Task => texts.usage_tasks(),
            Self::Agent => texts.usage_agents(),
            Self::Key => texts.usage_keys(),
        }
    }

    /// Returns who spent it.
    fn spenders(self, spending: &Spending) -> Vec<Spender> {
        match self {
            Self::Model => vec![Spender::Named(spending.model.to_string())],
            Self::Person => vec![Spender::Person(spending.user.clone())],
            Self::Chat => vec![Spender::Chat(spending.chat)],
            Self::Task => spending.task.into_iter().map(Spender::Task).collect(),
            Self::Agent => spending.agents.iter().cloned().map(Spender::Named).collect(),
            Self::Key => spending.key.iter().cloned().map(Spender::Named).collect(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Spender {
    Named(String),
    Person(UserId),
    Chat(ChatId),
    Task(TaskId),
}

#[derive(Debug, Serialize)]
struct OverviewPage {
    tiles: Vec<Tile>,
    tokens: Plot,
    money: Plot,
    limits: Vec<LimitRow>,
    calls: Vec<Tile>,
    by: SpenderAxis,
    axes: Vec<AxisLink>,
    rows: Vec<SpenderRow>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Tile {
    label: &'static str,
    value: String,
    more: String,
}

#[derive(Debug, Serialize)]
struct LimitRow {
    words: String,
    percent: u64,
}

#[derive(Debug, Serialize)]
struct AxisLink {
    axis: SpenderAxis,
    title: &'static str,
}

#[derive(Debug, Serialize)]
struct SpenderRow {
    name: String,
    tokens: String,
    money: String,
    /// Part of all tokens, in percent.
    percent: u64,
    calls: u32,
    failed: u32,
    /// Time within which half of the first words come.
    first: String,
    /// Time within which half of the answers are whole.
    whole: String,
}

async fn show(
    State(dashboard): State<Dashboard>,
    viewer: Viewer,
    Query(OverviewChoice { by }): Query<OverviewChoice>,
) -> Result<Html, DashboardError> {
    let (days, mut spent) = dashboard.ledger.last_days(DAYS)?;
    spent.retain(|spending| viewer.may_see_of(&spending.user));
    let axes = SpenderAxis::ALL
        .into_iter()
        .filter(|axis| *axis == by || spent.iter().any(|spending| !axis.spenders(spending).is_empty()));
    let of_tokens = |spent: Spent| (spent.tokens, viewer.texts.tokens(spent.tokens));
    let overview = OverviewPage {
        tiles: tiles(&dashboard, &viewer, *days.end(), &spent),
        tokens: Plot::of("tokens", points(&viewer, &spent, &days, of_tokens)),
        money: Plot::of("money", points(&viewer, &spent, &days, |spent| (spent.nano_usd, spent.money()))),
        limits: limits(&dashboard, &viewer),
        calls: call_tiles(&viewer.texts, calls_of(&spent)),
        by,
        axes: axes.map(|axis| AxisLink { axis, title: axis.title(&viewer.texts) }).collect(),
        rows: rows(&dashboard, &viewer, by, &spent).await?,
        notes: if viewer.is_owner { notes(&dashboard, &viewer) } else { Vec::new() },
    };
    viewer.page(&dashboard, SPEC.shown("overview.html"), overview)
}

fn tiles(dashboard: &Dashboard, viewer: &Viewer, today: NaiveDate, spent: &[Spending]) -> Vec<Tile> {
    let texts = &viewer.texts;
    let of_today = sum(spent.iter().filter(|spending| spending.day == today));
    let all = sum(spent);
    let tile = |label, spent: Spent| Tile { label, value: spent.money(), more: texts.tokens(spent.tokens) };
    let mut tiles = vec![tile(texts.dashboard_today(), of_today), tile(texts.dashboard_thirty_days(), all)];
    if viewer.is_owner {
        let mailboxes = &dashboard.rulings.mailboxes;
        let (running, waiting) = (mailboxes.running().len(), mailboxes.waiting());
        tiles.push(Tile {
            label: texts.dashboard_turns(),
            value: running.to_string(),
            more: fill(texts.status_waiting(), &[("count", &waiting.to_string())]),
        });
        tiles.push(Tile {
            label: texts.dashboard_approvals(),
            value: dashboard.rulings.parked.with_approvals().len().to_string(),
            more: String::new(),
        });
        let up = (viewer.now - dashboard.vitals.started_at).num_seconds();
        tiles.push(Tile {
            label: texts.dashboard_uptime(),
            value: texts.span(up),
            more: env!("CARGO_PKG_VERSION").to_owned(),
        });
    }
    tiles
}

/// Returns the model calls of turns; those in the background make nobody wait.
fn calls_of(spent: &[Spending]) -> Calls {
    let mut all = Calls::default();
    spent.iter().filter(|spending| spending.purpose.is_turn()).for_each(|spending| all += spending.calls);
    all
}

/// Returns the figures of model calls; none without calls.
fn call_tiles(texts: &Texts, calls: Calls) -> Vec<Tile> {
    let all = calls.answered.saturating_add(calls.failed);
    if all == 0 {
        return Vec::new();
    }
    let percent = u64::from(calls.failed) * 100 / u64::from(all);
    let failed = [("count", calls.failed.to_string()), ("percent", percent.to_string())];
    let failed = failed.each_ref().map(|(name, value)| (*name, value.as_str()));
    let spread = |label, spread: Spread| {
        let most = fill(texts.dashboard_nearly_all(), &[("time", &seconds(spread, 95))]);
        Tile { label, value: seconds(spread, 50), more: most }
    };
    vec![
        Tile {
            label: texts.dashboard_calls(),
            value: all.to_string(),
            more: fill(texts.dashboard_calls_failed(), &failed),
        },
        spread(texts.dashboard_first_word(), calls.first),
        spread(texts.dashboard_whole_answer(), calls.whole),
    ]
}

/// Returns the time within which a share of the calls lie, in seconds.
fn seconds(spread: Spread, percent: u32) -> String {
    match spread.within(percent) {
        Some(time) => format!("≤ {} s", time.as_secs_f64()),
        None if spread.is_empty() => "–".to_owned(),
        None => "> 64 s".to_owned(),
    }
}

/// Returns a point for each day.
fn points(
    viewer: &Viewer,
    spent: &[Spending],
    days: &std::ops::RangeInclusive<NaiveDate>,
    of: impl Fn(Spent) -> (u64, String),
) -> Vec<PlotPoint> {
    let days = days.start().iter_days().take_while(|day| day <= days.end());
    let points = days.map(|day| {
        let (value, words) = of(sum(spent.iter().filter(|spending| spending.day == day)));
        PlotPoint { label: viewer.texts.date(&day, None), value, words }
    });
    points.collect()
}

fn limits(dashboard: &Dashboard, viewer: &Viewer) -> Vec<LimitRow> {
    let (axis, chat) = match (viewer.is_owner, viewer.own_chat()) {
        (false, Some(chat)) => (BudgetAxis::Person(viewer.user().clone()), chat),
        _ => (BudgetAxis::Bot, ChatId(0)),
    };
    let all = dashboard.ledger.limits_of(axis, chat);
    let shown = |limit: &LimitUse| {
        let words = viewer.texts.used_of(limit.period, limit.bound.caps, limit.bound.usage.spent);
        LimitRow { words: words.join(" · "), percent: limit.percent().min(100) }
    };
    all.iter().map(shown).collect()
}

async fn rows(
    dashboard: &Dashboard,
    viewer: &Viewer,
    by: SpenderAxis,
    spent: &[Spending],
) -> Result<Vec<SpenderRow>, DashboardError> {
    let mut of: BTreeMap<Spender, (Spent, Calls)> = BTreeMap::new();
    for spending in spent {
        for spender in by.spenders(spending) {
            let (all, calls) = of.entry(spender).or_default();
            *all += spending.spent;
            *calls += calls_of(std::slice::from_ref(spending));
        }
    }
    let mut ranked: Vec<(Spender, (Spent, Calls))> = of.into_iter().collect();
    ranked.sort_by_key(|(_, (spent, _))| std::cmp::Reverse((spent.tokens, spent.nano_usd)));
    ranked.truncate(ROWS);
    let chats = ranked.iter().filter_map(|(spender, _)| match spender {
        Spender::Chat(chat) => Some(*chat),
        Spender::Person(user) => user.telegram_id().map(ChatId),
        Spender::Named(_) | Spender::Task(_) => None,
    });
    let names = dashboard.find_names(chats, viewer.now).await;
    let all = sum(spent).tokens.max(1);
    let mut rows = Vec::new();
    for (spender, (spent, calls)) in ranked {
        let name = match spender {
            Spender::Named(name) => name,
            Spender::Chat(chat) => names.of(chat),
            Spender::Person(user) => names.of_user(&user),
            Spender::Task(task) => {
                dashboard.store.tasks().find(task)?.map_or_else(|| task.to_string(), |task| task.title())
            }
        };
        let percent = spent.tokens.saturating_mul(100) / all;
        rows.push(SpenderRow {
            name,
            tokens: viewer.texts.tokens(spent.tokens),
            money: spent.money(),
            percent,
            calls: calls.answered.saturating_add(calls.failed),
            failed: calls.failed,
            first: seconds(calls.first, 50),
            whole: seconds(calls.whole, 50),
        });
    }
    Ok(rows)
}

/// Returns what an owner should look at.
fn notes(dashboard: &Dashboard, viewer: &Viewer) -> Vec<String> {
    let texts = &viewer.texts;
    let broken = dashboard.vitals.broken();
    let broken = broken.iter().map(|faults| fill(texts.status_broken(), &[("faults", faults)]));
    let error = dashboard.vitals.last_error().map(|(at, label)| {
        fill(texts.status_error(), &[("error", &texts.error(label)), ("time", &viewer.time(at))])
    });
    broken.chain(error).collect()
}
