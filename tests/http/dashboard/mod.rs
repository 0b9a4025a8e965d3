//! The dashboard, through the real bot and with what browsers send.

mod actions;
mod answers;
mod approvals;
mod browser;
mod command;
mod crawl;
mod events;
mod everywhere;
mod explained;
mod flood;
mod html;
mod markup;
mod mini_app;
mod missed;
mod others;
mod pages;
mod paths;
mod people;
mod scene;
mod secrets;
mod servers;
mod several;
mod signing_in;
mod who;

use figaro_offline::model::{ModelReply, ReplyPart};
use figaro_offline::telegram::TelegramView;
use serde_json::Value;

use self::browser::Browser;
use crate::support::bot::Recipe;
use crate::support::http::Gateway;
use crate::support::scene::text;
use crate::support::{Bot, World};

/// A bot with a dashboard.
pub struct Dashboard {
    pub gateway: Gateway,
    /// Address of the dashboard, with a slash at its end.
    pub root: String,
}

impl Dashboard {
    /// A browser that is not signed in.
    pub fn nobody(&self) -> Browser {
        Browser::at(&self.root)
    }

    pub fn bot(&self) -> &Bot {
        &self.gateway.bot
    }
}

impl World {
    /// A bot for everybody with a dashboard.
    pub async fn dashboard(&self) -> Dashboard {
        self.dashboard_of(self.bot().set("ACCESS", "open")).await
    }

    /// A bot of this recipe with a dashboard.
    pub async fn dashboard_of(&self, recipe: Recipe) -> Dashboard {
        let gateway = self.gateway_of(recipe.set("DASHBOARD", "everybody")).await;
        let root = format!("{}/dashboard/", gateway.url);
        Dashboard { gateway, root }
    }

    /// The link that the bot gives somebody in private.
    pub async fn link(&self, user: i64) -> String {
        let links = |view: &TelegramView<'_>| -> Vec<String> {
            let all = view.bot_messages(user).into_iter().filter_map(|message| link_in(text(message)));
            all.filter(|link| link.contains("/enter/")).collect()
        };
        // Cards may come in between.
        let before = self.telegram.view(links).len();
        self.say(user, user, "/dashboard");
        self.see("a link to the dashboard", |view| links(view).into_iter().nth(before)).await
    }

    /// A browser in which somebody has signed in.
    pub async fn browser(&self, dashboard: &Dashboard, user: i64) -> Browser {
        let mut browser = dashboard.nobody();
        browser.signs_in(&self.link(user).await).await;
        browser
    }
}

/// The first address in a text.
pub fn link_in(text: &str) -> Option<String> {
    let at = text.find("http")?;
    text[at..].split_whitespace().next().map(str::to_owned)
}

pub fn part(name: &str, arguments: Value) -> ReplyPart {
    ReplyPart::Call { name: name.to_owned(), arguments }
}

/// Proposal of a model to remember these words of the first message that it reads, as they are.
pub fn fact(words: &str) -> ModelReply {
    let item = serde_json::json!({"change": "create", "message": "N1", "quote": words, "content": words, "memories": []});
    ModelReply::text(&serde_json::json!({"items": [item]}).to_string())
}
