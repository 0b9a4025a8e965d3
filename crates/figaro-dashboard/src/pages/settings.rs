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
use figaro_config::SettingSource;
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
    source: &'static str,
    meaning: &'a str,
}

async fn show(
    State(dashboard): State<Dashboard>,
    OwnerViewer(viewer): OwnerViewer,
) -> Result<Html, DashboardError> {
    let texts = &viewer.texts;
    let rows = dashboard.settings.iter().map(|variable| SettingRow {
        name: variable.name,
        value: variable.value.as_deref(),
        source: match variable.source {
            SettingSource::Default => texts.dashboard_default(),
            SettingSource::Environment => texts.dashboard_environment(),
            SettingSource::EnvFile => ".env",
            SettingSource::BotsFile => "BOTS_FILE",
        },
        meaning: &variable.meaning,
    });
    let settings = rows.collect();
    viewer.page(&dashboard, SPEC.shown("settings.html"), SettingsPage { settings })
}
