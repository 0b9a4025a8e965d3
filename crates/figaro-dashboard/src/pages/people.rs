//! People and their access: who may talk to the bot, in which role, and who is shut out.

use std::collections::BTreeSet;

use axum::Form;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Redirect;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};

use crate::error::DashboardError;
use crate::page::Html;
use crate::spec::PageSpec;
use crate::state::Dashboard;
use crate::viewer::{OwnerViewer, Viewer};
use figaro_base::ids::{ChatId, UserId};
use figaro_config::AccessMode;
use figaro_domain::access::{AccessChange, AccessList};
use figaro_domain::audit::AuditActor;
use figaro_domain::profile::UserProfile;
use figaro_domain::role::{AccessRole, GivenRole};
use figaro_policy::access::is_owner;
use figaro_prompts::texts::{Texts, fill};

/// Maximum number of people that are listed.
const LISTED: usize = 500;

pub(crate) const SPEC: PageSpec =
    PageSpec { path: "people", title: Texts::dashboard_people, for_owners: true, is_of_several: false };

pub(super) fn routes() -> Router<Dashboard> {
    Router::new().route("/people", get(show)).route("/people/{person}", post(change))
}

#[derive(Debug, Serialize)]
struct PeoplePage {
    others: &'static str,
    people: Vec<PersonRow>,
    groups: Vec<GroupRow>,
}

#[derive(Debug, Serialize)]
struct PersonRow {
    number: i64,
    name: String,
    username: String,
    seen: String,
    standing: &'static str,
    /// Changes that fit, in the order of their buttons.
    changes: Vec<ChangeButton>,
}

#[derive(Debug, Serialize)]
struct ChangeButton {
    change: WantedChange,
    label: &'static str,
}

#[derive(Debug, Serialize)]
struct GroupRow {
    number: i64,
    name: String,
    is_denied: bool,
}

/// Change of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WantedChange {
    Admin,
    Member,
    Guest,
    Deny,
}

async fn show(
    State(dashboard): State<Dashboard>,
    OwnerViewer(viewer): OwnerViewer,
) -> Result<Html, DashboardError> {
    let list = dashboard.store.settings().access()?;
    let profiles = dashboard.store.profiles().all()?;
    let known: BTreeSet<&UserId> = profiles.iter().map(|profile| &profile.user).collect();
    let on_list = dashboard.access.owners.iter().chain(&list.owners).chain(&list.users).chain(&list.denied);
    let unseen: BTreeSet<&UserId> = on_list.filter(|user| !known.contains(user)).collect();
    let numbers = unseen.iter().filter_map(|user| user.telegram_id()).map(ChatId);
    let groups: Vec<ChatId> = list.chats.iter().chain(&list.denied_chats).copied().collect();
    let names = dashboard.find_names(numbers.chain(groups.iter().copied()), viewer.now).await;
    let of_profile = |profile: &UserProfile| {
        let name = Some(&profile.names.shown).filter(|name| !name.is_empty());
        let name = name.cloned().unwrap_or_else(|| names.of_user(&profile.user));
        let seen = viewer.time(profile.last_seen);
        row(
            &dashboard,
            &viewer,
            &list,
            &profile.user,
            PersonNames { name, username: profile.names.username.clone(), seen },
        )
    };
    let seen = profiles.iter().filter_map(of_profile);
    let unseen = unseen.into_iter().filter_map(|user| {
        let known = PersonNames { name: names.of_user(user), username: None, seen: String::new() };
        row(&dashboard, &viewer, &list, user, known)
    });
    let people = PeoplePage {
        others: others(&dashboard, &viewer.texts),
        // Those on the list first: they must not fall out.
        people: unseen.chain(seen).take(LISTED).collect(),
        groups: groups
            .into_iter()
            .map(|chat| GroupRow {
                number: chat.0,
                name: names.of(chat),
                is_denied: list.denied_chats.contains(&chat),
            })
            .collect(),
    };
    viewer.page(&dashboard, SPEC.shown("people.html"), people)
}

fn others(dashboard: &Dashboard, texts: &Texts) -> &'static str {
    match dashboard.access.mode {
        AccessMode::Pairing => texts.access_pairing(),
        AccessMode::Allowlist => texts.access_allowlist(),
        AccessMode::Open => texts.access_open(),
    }
}

/// Name of a person, and when they were seen.
struct PersonNames {
    name: String,
    username: Option<String>,
    seen: String,
}

/// Returns the row of a person; `None` if they are not of Telegram.
fn row(
    dashboard: &Dashboard,
    viewer: &Viewer,
    list: &AccessList,
    user: &UserId,
    known: PersonNames,
) -> Option<PersonRow> {
    let texts = &viewer.texts;
    let number = user.telegram_id().filter(|number| *number > 0)?;
    let is_owner = is_owner(&dashboard.access, list, user);
    let role = list.role_of(user, None);
    let is_out = list.is_shut_out(user, ChatId(number), viewer.now);
    let is_in = list.users.contains(user) || dashboard.access.mode == AccessMode::Open;
    let standing = match role {
        _ if is_owner => texts.dashboard_owner(),
        _ if is_out => texts.dashboard_shut_out(),
        _ if !is_in => texts.dashboard_not_let_in(),
        role => texts.role(role),
    };
    let roles = [
        (WantedChange::Admin, AccessRole::Admin),
        (WantedChange::Member, AccessRole::Member),
        (WantedChange::Guest, AccessRole::Guest),
    ];
    let is_now = |other: AccessRole| other == role && is_in && !is_out;
    let roles = roles.into_iter().filter(|(_, role)| !is_now(*role));
    let roles = roles.map(|(change, role)| ChangeButton { change, label: texts.role(role) });
    let deny = (!is_out).then(|| ChangeButton { change: WantedChange::Deny, label: texts.button_block() });
    let changes = if is_owner { Vec::new() } else { roles.chain(deny).collect() };
    let PersonNames { name, username, seen } = known;
    Some(PersonRow { number, name, username: username.unwrap_or_default(), seen, standing, changes })
}

#[derive(Debug, Deserialize)]
struct ChangeForm {
    change: WantedChange,
}

async fn change(
    State(dashboard): State<Dashboard>,
    OwnerViewer(viewer): OwnerViewer,
    Path(number): Path<i64>,
    Form(ChangeForm { change }): Form<ChangeForm>,
) -> Result<Redirect, DashboardError> {
    if number <= 0 {
        return Err(DashboardError::NotFound);
    }
    let (user, texts) = (UserId::telegram(number), &viewer.texts);
    let list = dashboard.store.settings().access()?;
    let name = dashboard.find_names([ChatId(number)], viewer.now).await.of(ChatId(number));
    let told = if is_owner(&dashboard.access, &list, &user) {
        texts.owner_has_no_role()
    } else {
        let give = |role| AccessChange::GiveRole(GivenRole { user: user.clone(), chat: None, role });
        let (change, words) = match change {
            WantedChange::Admin => (give(AccessRole::Admin), texts.made_admin()),
            WantedChange::Member => (give(AccessRole::Member), texts.made_member()),
            WantedChange::Guest => (give(AccessRole::Guest), texts.made_guest()),
            WantedChange::Deny => (AccessChange::DenyUser(user.clone()), texts.denied_user()),
        };
        let by = AuditActor::Person(viewer.user().clone());
        match dashboard.store.settings().change_access(change, by).await? {
            true => words,
            false => texts.nothing_changed(),
        }
    };
    viewer.browser.tell(fill(told, &[("id", &name)]));
    Ok(Redirect::to("../people"))
}
