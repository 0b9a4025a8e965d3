//! `/status`: in two words for members, in full for owners.

use super::{Asker, Card, Commands};
use crate::domain::model::ModelName;
use crate::domain::usage::tokens;
use crate::policy::access::Standing;
use crate::prompts::texts::{Texts, fill};
use crate::store::StoreError;
use crate::telegram::send::Button;
use crate::text::duration;
use crate::turn::queue::Mailboxes;

impl Commands {
    pub(super) async fn status(&self, asker: &Asker, mailboxes: &Mailboxes) -> Result<Card, StoreError> {
        let texts = self.texts(asker);
        let config = self.store.chat_config(asker.place.chat).await?;
        let zone = config.timezone.unwrap_or(self.default_zone);
        let since = self.vitals.started_at.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string();
        // In a group everybody would read an owner's figures.
        if asker.standing != Standing::Owner || asker.place.is_group() {
            let model = self.model_of(&config).to_string();
            return Ok(Card::text(fill(&texts.status_member, &[("since", &since), ("model", &model)])));
        }
        let health = self.store.health().await?;
        let undelivered = self.store.deliveries().await?.len();
        let (size, unreadable) = (mebibytes(health.bytes), health.unreadable.to_string());
        let error = self.vitals.last_error().map_or_else(
            || texts.status_no_error.clone(),
            |(at, label)| format!("{label}, {}", at.with_timezone(&zone).format("%Y-%m-%d %H:%M")),
        );
        let spent = self.ledger.spent_today();
        let (count, money) = (tokens(spent.tokens), spent.money());
        let mut today = vec![fill(&texts.status_today, &[("tokens", &count), ("money", &money)])];
        today.extend(self.cap_lines(texts));
        let today = today.join("\n");
        let values = [
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("uptime", duration((self.now() - self.vitals.started_at).num_seconds())),
            ("model", self.model_line(texts, &self.model_of(&config))),
            ("today", today),
            ("queue", (mailboxes.waiting() + undelivered).to_string()),
            ("error", error),
            ("memory", memory([std::process::id(), self.mcp.child_pid()]).await),
            ("store", fill(&texts.status_store, &[("size", &size), ("unreadable", &unreadable)])),
            ("restarts", self.mcp.restarts().to_string()),
        ];
        let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let refresh = vec![Button::new(&texts.button_refresh, "status:")];
        Ok(Card::text(fill(&texts.status_owner, &values)).row(refresh))
    }
}

impl Commands {
    /// The model that is to answer here, and the one that did where another had to stand in.
    fn model_line(&self, texts: &Texts, model: &ModelName) -> String {
        let order: Vec<String> = self.ledger.models.order(model).iter().map(ToString::to_string).collect();
        let model = order.join(" › ");
        match self.vitals.last_model().filter(|last| Some(last) != order.first()) {
            Some(last) => fill(&texts.status_model, &[("model", &model), ("last", &last)]),
            None => model,
        }
    }
}

/// The proportional set size of each process, as Linux gives it in `/proc/PID/smaps_rollup`.
async fn memory(processes: [u32; 2]) -> String {
    let mut sizes = Vec::new();
    for pid in processes {
        let text = tokio::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).await.unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
        let kib: Option<u64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        sizes.push(kib.map_or_else(|| "?".to_owned(), |kib| mebibytes(kib * 1024)));
    }
    sizes.join(" + ")
}

fn mebibytes(bytes: u64) -> String {
    let tenths = bytes * 10 / (1 << 20);
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}
