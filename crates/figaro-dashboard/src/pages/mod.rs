//! Pages of the dashboard, each in a file of its own. `ALL` is the navigation.

mod agents;
mod approvals;
mod audit;
mod bots;
mod conversations;
mod exchange;
mod memory;
mod overview;
mod people;
mod servers;
mod settings;
mod summaries;
mod tasks;
mod why;

use axum::Router;

use super::spec::PageSpec;
use super::state::Dashboard;

/// Pages in the order of the navigation.
pub(crate) const ALL: [&PageSpec; 11] = [
    &overview::SPEC,
    &conversations::SPEC,
    &memory::SPEC,
    &tasks::SPEC,
    &approvals::SPEC,
    &people::SPEC,
    &agents::SPEC,
    &servers::SPEC,
    &audit::SPEC,
    &settings::SPEC,
    &bots::SPEC,
];

/// Returns the routes of all pages.
pub(crate) fn routes() -> Router<Dashboard> {
    Router::new()
        .merge(overview::routes())
        .merge(conversations::routes())
        .merge(why::routes())
        .merge(memory::routes())
        .merge(tasks::routes())
        .merge(approvals::routes())
        .merge(people::routes())
        .merge(agents::routes())
        .merge(servers::routes())
        .merge(audit::routes())
        .merge(settings::routes())
        .merge(bots::routes())
}
