//! Texts of a turn's end: the answer with its sources, or the error, and the actions offered to the person. Pure.

use super::super::error::TurnError;
use super::super::outcome::Outcome;
use super::super::reply::Reply;
use super::super::run::Answer;
use super::facts::TurnEndFacts;
use figaro_base::text::{close_code, one_line};
use figaro_domain::delivery::Action;
use figaro_domain::source::Source;
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};

/// Maximum number of sources listed under an answer.
const MAX_SOURCES: usize = 5;
/// Maximum length of a source's title, in characters.
const TITLE_CHARS: usize = 60;

/// Returns the reply to send. Its Markdown is empty if nothing is sent.
pub(super) fn reply(facts: &TurnEndFacts<'_>, outcome: &Outcome) -> Reply {
    match outcome {
        Outcome::Answered(answer) => answered(facts, answer),
        Outcome::Told(reply) => reply.clone(),
        Outcome::Stopped(answer) => stopped(facts, answer),
        Outcome::Failed(error, written) => failed(facts, error, written),
        Outcome::Silent(_) | Outcome::Parked(_) | Outcome::Abandoned | Outcome::Restarted(_) => {
            Reply::default()
        }
    }
}

fn answered(facts: &TurnEndFacts<'_>, answer: &Answer) -> Reply {
    let text = answer.pass.text.trim();
    let whole = if answer.pass.cut_short { unfinished(text) } else { readable(text) };
    let actions = if answer.pass.cut_short { vec![Action::GoOn] } else { Vec::new() };
    let whole = honest(whole, answer, facts.texts);
    let sources = sources(facts.texts, text, &answer.sources);
    let spending: String = facts.spending.iter().map(|line| format!("\n\n{line}")).collect();
    Reply { markdown: format!("{whole}{sources}{}{spending}", lateness(facts)), actions }
}

/// Returns the reply of a stopped turn. In a private chat the text that people have seen stays, so the stop is reported
/// even without new text.
fn stopped(facts: &TurnEndFacts<'_>, answer: &Answer) -> Reply {
    let (text, texts, question) = (answer.pass.text.trim(), facts.texts, facts.question);
    if !text.is_empty() {
        let markdown = format!("{}\n\n{}", honest(close_code(text), answer, texts), texts.stopped());
        // A task is retried from its card.
        let actions = match question.task {
            Some(_) => vec![Action::GoOn],
            None => vec![Action::GoOn, Action::Retry],
        };
        return Reply { markdown, actions };
    }
    let may_stay = question.task.is_none() && !question.is_in_group() && !answer.spoke;
    match may_stay && facts.has_shown {
        true => Reply { markdown: texts.stopped().to_owned(), actions: vec![Action::Retry] },
        false => Reply::default(),
    }
}

/// Returns the reply of a failed turn. In a group, only text that people have seen stays. The creator of a task is told
/// elsewhere.
fn failed(facts: &TurnEndFacts<'_>, error: &TurnError, written: &Answer) -> Reply {
    let (question, texts) = (facts.question, facts.texts);
    if question.task.is_some() {
        return Reply::default();
    }
    let so_far = written.pass.text.trim();
    if question.is_in_group() {
        let stays = !so_far.is_empty() && facts.has_shown;
        let markdown = if stays { honest(unfinished(so_far), written, texts) } else { String::new() };
        return Reply { markdown, actions: Vec::new() };
    }
    let is_owner = question.standing == Standing::Owner;
    let mut actions = error.actions(!so_far.is_empty());
    actions.retain(|action| *action != Action::OtherModel || facts.has_other_model);
    let mut words = error.words(texts, is_owner);
    if actions.contains(&Action::OtherModel) {
        words = format!("{words} {}", texts.error_other_model());
    }
    if is_owner {
        words = format!("{words} {}", texts.error_more());
    }
    let markdown = match so_far {
        "" => format!("⚠️ {words}"),
        text => format!("{}\n\n⚠️ {words}", honest(close_code(text), written, texts)),
    };
    Reply { markdown, actions }
}

/// Returns the line under a late answer of a task; empty if it is on time.
fn lateness(facts: &TurnEndFacts<'_>) -> String {
    let question = facts.question;
    let late = question.task.as_ref().zip(question.lease()).filter(|(_, lease)| lease.late);
    late.map_or_else(String::new, |(task, lease)| {
        let due = facts.texts.moment(&lease.due.with_timezone(&task.zone));
        format!("\n\n{}", fill(facts.texts.task_late(), &[("due", &due)]))
    })
}

/// Adds a note if the answer promises something for later that was not stored.
fn honest(markdown: String, answer: &Answer, texts: &Texts) -> String {
    match answer.unkept {
        true => format!("{}\n\n{}", close_code(&markdown), texts.promise_unkept()),
        false => markdown,
    }
}

/// Closes open code blocks of a partial answer, and appends an ellipsis.
fn unfinished(text: &str) -> String {
    let closed = close_code(text);
    let gap = if closed.ends_with(['`', '~']) { "\n\n" } else { " " };
    format!("{closed}{gap}…")
}

/// Formats an answer that is one JSON value as code: otherwise its characters would be taken for formatting.
fn readable(text: &str) -> String {
    let is_json = text.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    if is_json { format!("```json\n{text}\n```") } else { text.to_owned() }
}

/// Returns the sources of an answer as links under it. An answer that links a source itself gets no list: the other
/// search results need not be its sources.
fn sources(texts: &Texts, text: &str, sources: &[Source]) -> String {
    if sources.is_empty() || sources.iter().any(|source| text.contains(&source.url)) {
        return String::new();
    }
    let links: Vec<String> = sources.iter().take(MAX_SOURCES).map(link).collect();
    format!("\n\n{}", fill(texts.sources(), &[("sources", &links.join(" · "))]))
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
    use figaro_prompts::texts::Locales;

    #[test]
    fn sources_are_links_that_cannot_break_out() {
        let locales = Locales::default();
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
