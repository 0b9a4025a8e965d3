//! Writing pages: templates, and the frame around each.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use minijinja::value::{Kwargs, Object, Serde};
use minijinja::{Environment, Error, UndefinedBehavior, Value, context};
use serde::Serialize;

use super::assets;
use super::browsers::BrowserKind;
use super::error::DashboardError;
use super::spec::Shown;
use super::state::Dashboard;
use super::viewer::{Viewer, language_of};
use figaro_prompts::texts::{Texts, fill};

/// Languages that are written from right to left.
const FROM_RIGHT: [&str; 3] = ["ar", "fa", "he"];

/// Declares the templates by name.
macro_rules! templates {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../templates/", $name)))),+]
    };
}

/// All templates, with their text.
const TEMPLATES: &[(&str, &str)] = templates![
    "agents.html",
    "approvals.html",
    "audit.html",
    "bots.html",
    "conversation.html",
    "conversations.html",
    "enter.html",
    "head.html",
    "launch.html",
    "layout.html",
    "macros.html",
    "memory.html",
    "message.html",
    "overview.html",
    "people.html",
    "servers.html",
    "settings.html",
    "summary.html",
    "task.html",
    "tasks.html",
    "why.html",
];

/// Made when the first page is written: a bot whose dashboard nobody opens pays nothing for it.
static ENVIRONMENT: LazyLock<Result<Environment<'static>, Error>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    environment.add_function("fill", |text: String, values: Kwargs| -> Result<String, Error> {
        let names: Vec<String> = values.args().map(str::to_owned).collect();
        let value = |name: &String| Ok((name.clone(), values.get::<Value>(name)?.to_string()));
        let values: Vec<(String, String)> = names.iter().map(value).collect::<Result<_, Error>>()?;
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (&**name, &**value)).collect();
        Ok(fill(&text, &values))
    });
    Ok(environment)
});

/// Texts of a language, by their keys.
#[derive(Debug)]
struct TextsByKey(Texts);

impl Object for TextsByKey {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.0.get(key.as_str()?).map(Value::from)
    }
}

/// Entry of the navigation.
#[derive(Debug, Serialize)]
struct NavEntry {
    path: &'static str,
    title: &'static str,
    is_here: bool,
}

/// A written page.
#[derive(Debug)]
pub(crate) struct Html(String);

impl IntoResponse for Html {
    fn into_response(self) -> Response {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        let tag = HeaderValue::from_str(&format!("W/\"{:016x}\"", hasher.finish()));
        let mut response = axum::response::Html(self.0).into_response();
        if let Ok(tag) = tag {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    }
}

impl Viewer {
    /// Writes a page with its content.
    pub(crate) fn page(
        &self,
        dashboard: &Dashboard,
        shown: Shown<'_>,
        content: impl Serialize,
    ) -> Result<Html, DashboardError> {
        let nav = dashboard.pages().iter().filter(|page| self.is_owner || !page.for_owners);
        let nav = nav.map(|page| NavEntry {
            path: page.path,
            title: (page.title)(&self.texts),
            is_here: page.path == shown.of.path,
        });
        let nav: Vec<NavEntry> = nav.collect();
        let title = shown.title.unwrap_or_else(|| (shown.of.title)(&self.texts));
        let frame = context! {
            nav => Serde(nav),
            title,
            root => shown.root(),
            told => self.browser.take_told(),
            me => self.speaker.name.clone(),
            is_owner => self.is_owner,
            is_live => shown.is_live,
            is_mini_app => self.browser.kind == BrowserKind::MiniApp,
            ..base(dashboard, self.tag, self.texts)
        };
        Ok(write(shown.template, context! { d => Serde(content), ..frame })?)
    }
}

/// Returns what every page needs.
fn base(dashboard: &Dashboard, tag: &'static str, texts: Texts) -> Value {
    context! {
        t => Value::from_object(TextsByKey(texts)),
        lang => tag,
        dir => if FROM_RIGHT.contains(&tag) { "rtl" } else { "ltr" },
        bot => dashboard.username.clone(),
        version => assets::version(),
    }
}

fn write(template: &str, context: Value) -> Result<Html, Error> {
    let environment = ENVIRONMENT.as_ref().map_err(|error| {
        Error::new(minijinja::ErrorKind::InvalidOperation, format!("the templates do not read: {error:#}"))
    })?;
    environment.get_template(template)?.render(context).map(Html)
}

/// Returns the language of a browser, of which the person is not known.
fn browser_language(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?;
    all.split([',', ';']).next().map(str::trim)
}

/// Writes the page with the button that signs a person in.
pub(crate) fn offer(dashboard: &Dashboard, headers: &HeaderMap, name: &str) -> Result<Html, DashboardError> {
    let (tag, texts) = language_of(&dashboard.languages.locales, browser_language(headers));
    let frame =
        context! { title => texts.dashboard_title(), name, root => "../", ..base(dashboard, tag, texts) };
    Ok(write("enter.html", frame)?)
}

/// Writes the page that signs a Mini App in.
pub(crate) fn launch(dashboard: &Dashboard, headers: &HeaderMap) -> Result<Html, DashboardError> {
    let (tag, texts) = language_of(&dashboard.languages.locales, browser_language(headers));
    let frame = context! { title => texts.dashboard_title(), root => "./", ..base(dashboard, tag, texts) };
    Ok(write("launch.html", frame)?)
}

/// Writes the page of a fault.
///
/// `path` is that of the request below the dashboard.
pub(crate) fn fault(
    dashboard: &Dashboard,
    headers: &HeaderMap,
    path: &str,
    error: &DashboardError,
) -> Response {
    if matches!(error, DashboardError::Store(_) | DashboardError::Failed(_)) {
        tracing::error!(%error, "a page of the dashboard failed");
    }
    let (tag, texts) = language_of(&dashboard.languages.locales, browser_language(headers));
    let words = error.words(&texts);
    let root = match path.matches('/').count() {
        0 | 1 => "./".to_owned(),
        depth => "../".repeat(depth - 1),
    };
    let is_mini_app = dashboard.mini_app.is_some();
    let frame = context! { title => texts.dashboard_title(), words, root, is_mini_app, ..base(dashboard, tag, texts) };
    match write("message.html", frame) {
        Ok(page) => (error.status(), page).into_response(),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, words).into_response(),
    }
}
