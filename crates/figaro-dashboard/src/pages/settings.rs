//! Settings in effect, without secrets.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde::Serialize;

use crate::error::DashboardError;
use crate::page::Html;
use crate::spec::PageSpec;
use crate::state::Dashboard;
use crate::viewer::OwnerViewer;
use figaro_prompts::texts::Texts;

pub(crate) const SPEC: PageSpec =
    PageSpec { path: "settings", title: Texts::button_settings, for_owners: true, is_of_several: false };

pub(super) fn routes() -> Router<Dashboard> {
    Router::new().route("/settings", get(show))
}

#[derive(Debug, Serialize)]
struct SettingsPage<'a> {
    settings: Vec<SettingRow<'a>>,
}

#[derive(Debug, Serialize)]
struct SettingRow<'a> {
    name: &'static str,
    value: Option<&'a str>,
    is_set: bool,
    meaning: &'a str,
}

async fn show(
    State(dashboard): State<Dashboard>,
    OwnerViewer(viewer): OwnerViewer,
) -> Result<Html, DashboardError> {
    let rows = dashboard.settings.iter().map(|variable| SettingRow {
        name: variable.name,
        value: variable.value.as_deref(),
        is_set: variable.is_set,
        meaning: &variable.meaning,
    });
    let settings = rows.collect();
    viewer.page(&dashboard, SPEC.shown("settings.html"), SettingsPage { settings })
}
