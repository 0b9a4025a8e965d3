//! Bots that ask one provider, each in its own dialect of the offline model, or a model of known price.

use chrono::{Days, Timelike};
use figaro_base::clock::Clock;
use figaro_domain::usage::Spending;

use super::World;
use super::bot::Recipe;

/// The model each provider is asked for: one that sees.
pub fn model(provider: &str) -> &'static str {
    match provider {
        "openai" => "gpt-4.1-mini",
        "compatible" => "openai/gpt-4.1-mini",
        "ollama" => "qwen3-vl:8b",
        "gemini" => "gemini-3.5-flash",
        other => panic!("no provider {other}"),
    }
}

/// A zone in which the day is far from its end.
fn noon() -> String {
    let ahead = 12 - i64::from(Clock::system().now().hour());
    // These zones count the other way round.
    format!("Etc/GMT{:+}", -ahead)
}

impl World {
    /// A bot open to everybody with a model of known price: $0.40 for a million tokens sent, $1.60 for as many written.
    pub fn priced(&self) -> Recipe {
        self.bot().set("OPENAI_MODEL", "gpt-4.1-mini").set("ACCESS", "open").set("DEFAULT_TIMEZONE", &noon())
    }

    /// What has been spent at all, once the bot has ended.
    pub async fn books(&self) -> Vec<Spending> {
        let store = self.stored().await;
        let today = Clock::system().now().date_naive();
        let days =
            today.checked_sub_days(Days::new(2)).unwrap()..=today.checked_add_days(Days::new(2)).unwrap();
        store.usage().spent(days).unwrap()
    }

    /// The bot with one provider and none to stand in for it.
    pub fn bot_of(&self, provider: &str) -> Recipe {
        let bot = self.bot().unset("OPENAI_API_KEY").unset("OPENAI_BASE_URL").unset("OPENAI_MODEL");
        self.with_provider(bot.set("LLM_PROVIDER", provider), provider)
    }

    pub fn with_provider(&self, bot: Recipe, provider: &str) -> Recipe {
        let prefix = provider.to_ascii_uppercase();
        let url = match provider {
            "ollama" => self.model.ollama_url().to_owned(),
            "gemini" => self.model.gemini_url(),
            _ => self.model.url().to_owned(),
        };
        let bot =
            bot.set(&format!("{prefix}_BASE_URL"), &url).set(&format!("{prefix}_MODEL"), model(provider));
        if provider == "ollama" { bot } else { bot.set(&format!("{prefix}_API_KEY"), "sk-offline-key") }
    }
}
