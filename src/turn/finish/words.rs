//! What a turn says at its end: the answer with its sources, or what went wrong, and what the person may do about it.

use super::super::pipeline::{Turns, is_group};
use super::super::question::Question;
use super::error::Trouble;
use crate::delivery::Outcome;
use crate::domain::conversation::{Message, Role};
use crate::domain::delivery::{Action, PendingDelivery};
use crate::domain::model::ModelName;
use crate::domain::source::Source;
use crate::domain::turn::ActiveTurn;
use crate::domain::usage::tokens;
use crate::ledger::LedgerError;
use crate::policy::access::Standing;
use crate::policy::address::Addresses;
use crate::prompts::texts::{Texts, fill};
use crate::text::{close_code, one_line};
use crate::turn::run::Answer;

/// So many sources are listed under an answer.
const MOST_SOURCES: usize = 5;
/// A title is at most so long there.
const TITLE_CHARS: usize = 60;

/// Words for the chat, and the buttons under them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::turn) struct Said {
    /// In Markdown; nothing is sent when it is empty.
    pub(in crate::turn) markdown: String,
    /// What the person may do about it.
    pub(in crate::turn) actions: Vec<Action>,
}

impl Turns {
    /// What is sent, if anything.
    pub(in crate::turn) fn words(&self, answer: &Answer, outcome: Outcome, question: &Question) -> Said {
        let text = answer.pass.text.trim();
        let texts = self.texts(question);
        match outcome {
            Outcome::Answered => {
                let whole = if answer.pass.cut_short { unfinished(text) } else { readable(text) };
                let actions = if answer.pass.cut_short { vec![Action::GoOn] } else { Vec::new() };
                let whole = honest(whole, answer, texts);
                let sources = sources(texts, text, &answer.sources);
                Said { markdown: format!("{whole}{sources}{}", self.lateness(question)), actions }
            }
            Outcome::Stopped if !text.is_empty() => Said {
                markdown: format!("{}\n\n{}", honest(close_code(text), answer, texts), texts.stopped),
                // A task is run again from its card.
                actions: match question.task {
                    Some(_) => vec![Action::GoOn],
                    None => vec![Action::GoOn, Action::Retry],
                },
            },
            Outcome::Stopped | Outcome::Silent | Outcome::Failed | Outcome::Abandoned => Said::default(),
        }
    }

    /// What is said of a turn that a person stopped. In a private chat what people have seen of it stays, so its end is told
    /// even where nothing new was written.
    pub(in crate::turn) async fn stopped(
        &self,
        run: &ActiveTurn,
        answer: &Answer,
        question: &Question,
    ) -> Said {
        let said = self.words(answer, Outcome::Stopped, question);
        let may_stay = question.task.is_none() && !is_group(question) && !answer.spoke;
        if !said.markdown.is_empty() || !may_stay || !self.courier.has_shown(run.id).await {
            return said;
        }
        Said { markdown: self.texts(question).stopped.clone(), actions: vec![Action::Retry] }
    }

    /// What the person is told in a private chat; in a group only what people have seen of the answer stays.
    pub(in crate::turn) async fn apology(
        &self,
        run: &ActiveTurn,
        question: &Question,
        trouble: &Trouble,
        written: &Answer,
    ) -> Said {
        let (label, turn) = (trouble.label(), run.id.to_string());
        tracing::error!(run = turn, label, ?trouble, "a turn failed");
        self.vitals.failed(self.now(), label);
        if question.task.is_some() {
            return Said::default();
        }
        let so_far = written.pass.text.trim();
        let texts = self.texts(question);
        if is_group(question) {
            let stays = !so_far.is_empty() && self.courier.has_shown(run.id).await;
            let markdown = if stays { honest(unfinished(so_far), written, texts) } else { String::new() };
            return Said { markdown, actions: Vec::new() };
        }
        let mut words = trouble.words(texts);
        if question.standing == Standing::Owner {
            let detail = fill(&texts.trouble_turn, &[("turn", &turn), ("label", label)]);
            words = format!("{words}\n`{detail}`");
        }
        let actions = trouble.actions(!so_far.is_empty());
        let markdown = match so_far {
            "" => format!("⚠️ {words}"),
            text => format!("{}\n\n⚠️ {words}", honest(close_code(text), written, texts)),
        };
        Said { markdown, actions }
    }

    /// What a failed call means for the person.
    pub(in crate::turn) async fn trouble(&self, error: LedgerError, model: &ModelName) -> Trouble {
        let ledger = &self.driver.ledger;
        match error {
            LedgerError::Model(error) => Trouble::of_model(error, &ledger.models, model).await,
            LedgerError::Unpriced(model) => Trouble::Unpriced(model),
            LedgerError::Store => Trouble::Internal,
            LedgerError::OverBudget => {
                let (at, zone) = ledger.resets_at();
                Trouble::OverBudget { time: at.format("%H:%M").to_string(), zone: zone.name().to_owned() }
            }
        }
    }

    /// That the day's budget is used up, once a day.
    pub(in crate::turn) async fn tell_owners(&self, time: &str, zone: &str) {
        match self.driver.ledger.tell_of_caps().await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return self.report(&error, "whether owners know of a cap could not be stored"),
        }
        let spent = self.driver.ledger.spent_today();
        let texts = self.locales.of(None);
        let (tokens, money) = (tokens(spent.tokens), spent.money());
        let values = [("tokens", tokens.as_str()), ("money", &money), ("time", time), ("zone", zone)];
        self.owners.tell(&fill(&texts.caps_reached, &values)).await;
    }

    pub(in crate::turn) fn stored(&self, run: &ActiveTurn, answer: &Answer) -> Option<Message> {
        let text = answer.pass.text.trim();
        let model = answer.pass.model.as_ref().map(ToString::to_string);
        if let Some(model) = &model {
            self.vitals.answered_by(model);
        }
        (!text.is_empty()).then(|| Message {
            model_id: model,
            token_usage: Some(answer.usage),
            nano_usd: answer.nano_usd,
            private: answer.pass.private.clone(),
            ..Message::new(run.session, Role::Assistant, text.to_owned(), self.now())
        })
    }

    pub(in crate::turn) fn delivery(
        &self,
        run: &ActiveTurn,
        question: &Question,
        answer: Option<&Message>,
        (said, known): (&Said, &Addresses),
    ) -> Option<PendingDelivery> {
        let first = question.parts.first().filter(|_| !said.markdown.is_empty())?;
        let task = question.task.as_ref().map(|task| task.id);
        Some(PendingDelivery {
            entry: answer.map(|message| message.id),
            reply_to: Some(first.message).filter(|_| first.place.is_group() && task.is_none()),
            language: first.language.clone(),
            preview: known.first_in(&said.markdown),
            // Nobody is to go on with what nobody asked for just now.
            actions: if task.is_none() { said.actions.clone() } else { Vec::new() },
            task,
            ..PendingDelivery::new(run.id, first.place.clone(), said.markdown.clone(), self.now())
        })
    }
}

/// The words, and that nothing came of it where they promise something for later.
fn honest(markdown: String, answer: &Answer, texts: &Texts) -> String {
    match answer.unkept {
        true => format!("{}\n\n{}", close_code(&markdown), texts.promise_unkept),
        false => markdown,
    }
}

/// What there is of an answer that ended early.
fn unfinished(text: &str) -> String {
    let closed = close_code(text);
    let gap = if closed.ends_with(['`', '~']) { "\n\n" } else { " " };
    format!("{closed}{gap}…")
}

/// An answer that is one JSON value, as code: as words its marks would be taken for formatting.
fn readable(text: &str) -> String {
    let is_json = text.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    if is_json { format!("```json\n{text}\n```") } else { text.to_owned() }
}

/// The pages an answer rests on, as links under it. One that names its pages itself needs no list: what else was found
/// is not what it rests on.
fn sources(texts: &Texts, text: &str, sources: &[Source]) -> String {
    if sources.is_empty() || sources.iter().any(|source| text.contains(&source.url)) {
        return String::new();
    }
    let links: Vec<String> = sources.iter().take(MOST_SOURCES).map(link).collect();
    format!("\n\n{}", fill(&texts.sources, &[("sources", &links.join(" · "))]))
}

fn link(source: &Source) -> String {
    let title: String = one_line(&source.title, TITLE_CHARS)
        .chars()
        .map(|c| if "[]()\\`*_<>".contains(c) { ' ' } else { c })
        .collect();
    let title = title.trim();
    let url = source.url.replace('(', "%28").replace(')', "%29").replace(' ', "%20");
    format!("[{}]({url})", if title.is_empty() { "…" } else { title })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompts::texts::Locales;

    #[test]
    fn sources_are_links_that_cannot_break_out() {
        let locales = Locales::load().unwrap();
        let source = |title: &str, url: &str| Source { title: title.into(), url: url.into() };
        let all = [
            source("Plain", "https://a.example/"),
            source("Named in the text", "https://b.example/x"),
            source("](https://evil.example) *x*", "https://c.example/a_(b)"),
        ];
        let text = "As [it says](https://b.example/x).";
        assert_eq!(
            sources(locales.of(None), "As it says.", &all),
            "\n\nSources: [Plain](https://a.example/) · [Named in the text](https://b.example/x) · \
             [https://evil.example   x](https://c.example/a_%28b%29)"
        );
        assert_eq!(sources(locales.of(None), text, &all), "");
        assert_eq!(sources(locales.of(None), "As it says.", &[]), "");
    }

    #[test]
    fn what_is_put_behind_an_answer_stands_outside_of_its_code() {
        assert_eq!(unfinished("so far"), "so far …");
        assert_eq!(unfinished("```rust\nfn main() {"), "```rust\nfn main() {\n```\n\n…");
        assert_eq!(unfinished("```\nx\n```"), "```\nx\n```\n\n…");
    }

    #[test]
    fn a_json_answer_is_code() {
        assert_eq!(readable("{\"a\": 1}"), "```json\n{\"a\": 1}\n```");
        assert_eq!(readable("[link](https://a.example)"), "[link](https://a.example)");
    }
}
