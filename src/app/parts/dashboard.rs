//! The dashboard of a bot, beside its gateway.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use super::base::{Base, Bot};
use crate::app::door::Door;
use crate::app::host::Host;
use crate::app::place::is_here;
use crate::app::sign_ins::{OwnerSignIn, SignInEntry};
use figaro_agent::sign_in::{MINI_APP_PATH, OfferedDashboard, SignIn};
use figaro_config::DashboardUsers;
use figaro_dashboard::{DashboardParts, MiniAppParts, PATH, ProcessBots};
use figaro_telegram::commands::Handles;
use reqwest::Url;

/// Returns how the chat offers the dashboard; `None` if it or the gateway is off. `name` is that of the bot among others.
pub(super) fn offered(
    base: &Base,
    door: Option<&Door>,
    host: &Host,
    name: Option<&str>,
) -> Option<OfferedDashboard> {
    let http = &base.settings.http;
    if http.dashboard == DashboardUsers::Off {
        return None;
    }
    let address = match door? {
        Door::Own(listener) => listener.address().ok(),
        Door::Shared(routes) => routes.address(),
    };
    let root = match http.public_url.as_str() {
        "" => format!("http://{}", reached(address?)),
        url => url.to_owned(),
    };
    let of_bot = name.map(|name| format!("/bots/{name}")).unwrap_or_default();
    let root = format!("{root}{of_bot}");
    let is_opened = root.starts_with("https://") || is_local(base) && is_here(&root);
    Some(OfferedDashboard {
        sign_in: SignIn::new(&format!("{root}{PATH}"), host.sign_ins().sign_outs(), base.clock.clone()),
        for_everybody: http.dashboard == DashboardUsers::Everybody,
        mini_app: is_opened.then(|| format!("{root}{MINI_APP_PATH}").into()),
    })
}

/// Returns `true` if Telegram is an offline one on this machine, as in the demo: it opens Mini Apps without HTTPS, too.
fn is_local(base: &Base) -> bool {
    let telegram = &base.settings.telegram;
    telegram.has_other_key() && is_here(&telegram.api_url)
}

/// Returns the address at which this machine reaches a listener.
const fn reached(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Lets `figaro dashboard` sign the owner in.
pub(super) fn registered(
    bot: &Bot,
    offered: &OfferedDashboard,
    host: &Host,
    name: Option<&str>,
) -> SignInEntry {
    let base = &bot.base;
    let (access, settings) = (base.settings.access.clone(), base.store.settings());
    let name = name.map_or_else(|| bot.me.username.clone(), str::to_owned);
    host.sign_ins().add(name, OwnerSignIn { sign_in: offered.sign_in.clone(), access, settings })
}

/// Returns scheme, host and port of an address.
fn origin(url: &str) -> Option<String> {
    Some(Url::parse(url).ok()?.origin().ascii_serialization())
}

/// Builds the dependencies of the dashboard.
pub(super) fn parts(
    bot: &Bot,
    handles: &Handles,
    offered: OfferedDashboard,
    process: Option<Arc<dyn ProcessBots>>,
) -> DashboardParts {
    let base = &bot.base;
    let telegram = &base.settings.telegram;
    let mini_app = offered.mini_app.as_ref().map(|_| MiniAppParts {
        token: telegram.token.clone(),
        public_key: telegram.public_key,
        local_client: is_local(base).then(|| origin(&telegram.api_url)).flatten(),
    });
    DashboardParts {
        bot: base.settings.telegram.bot,
        username: bot.me.username.clone(),
        store: base.store.clone(),
        ledger: handles.ledger.clone(),
        prompts: base.prompts.clone(),
        languages: base.languages.clone(),
        access: base.settings.access.clone(),
        rulings: handles.rulings.clone(),
        tasks: handles.task_control.clone(),
        explainer: handles.explainer.clone(),
        chats: base.chats.clone(),
        channel: base.channel.clone(),
        vitals: base.vitals.clone(),
        for_everybody: offered.for_everybody,
        sign_in: offered.sign_in,
        mini_app,
        process,
        settings: base.settings.shown.clone(),
        default_zone: base.settings.timezone,
        clock: base.clock.clone(),
        background: base.groups.front.clone(),
    }
}
