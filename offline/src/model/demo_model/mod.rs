//! Brain of `figaro demo`: keyword rules that show formatting, tools and streaming without a network. Says that it is a
//! demo, calls only tools the request offers, and answers in English, Portuguese or Spanish.
//!
//! A request becomes a [`DemoQuestion`], a question has a [`Topic`], and the topic's function returns the next [`DemoStep`]:
//! a tool call or an answer.

mod attached;
mod clock;
mod documents;
mod fallback;
mod form;
mod go_on;
mod language;
mod moderate;
mod names;
mod notes;
mod passage;
mod poll;
mod prepared;
mod question;
mod received;
mod records;
mod schedule;
mod settings;
mod shape;
mod shows;
mod step;
mod topic;
mod tricks;
mod web;

use std::time::Duration;

use serde_json::{Value, json};

use self::question::DemoQuestion;
use self::step::{DemoStep, FINDER, ToolResults, failure};
use self::topic::Topic;
use super::reply::{Brain, ModelReply, ReplyPart};
use super::request::ModelRequest;

/// Slowdown factor of an answer that the person is meant to stop.
const SLOWER: u32 = 18;

/// Brain that answers by keyword and says that it is a demo model.
#[derive(Debug, Clone, Copy)]
pub struct DemoModel {
    /// Undoes the escaping that the bot applies to a person's words in its prompt.
    pub unescape: fn(&str) -> String,
    /// Pause before each word of an answer.
    pub word_pause: Duration,
}

impl Brain for DemoModel {
    fn answer(&self, request: &ModelRequest) -> ModelReply {
        if let Some(schema) = request.schema() {
            let question = DemoQuestion::read(request, self.unescape);
            return ModelReply::text(&form::filled(&schema, &question.text).to_string());
        }
        match self.step(request) {
            DemoStep::Say(words) => ModelReply::text(&words).paced(0, self.word_pause),
            DemoStep::SaySlowly(words) => ModelReply::text(&words).paced(0, self.word_pause * SLOWER),
            DemoStep::Call(tool, calls) if request.tool_names().contains(&tool) => {
                let call = |arguments| ReplyPart::Call { name: tool.to_owned(), arguments };
                ModelReply::turn(calls.into_iter().map(call).collect())
            }
            DemoStep::Call(tool, _) if is_to_be_found(request) => {
                ModelReply::call(FINDER, json!({"query": tool}))
            }
            DemoStep::Call(tool, _) => {
                let question = DemoQuestion::read(request, self.unescape);
                ModelReply::text(fallback::not_offered(tool, &question)).paced(0, self.word_pause)
            }
        }
    }
}

/// Returns `true` if `find_tools` is offered and was not called in this turn.
fn is_to_be_found(request: &ModelRequest) -> bool {
    let has_looked = request.tool_results().iter().any(|(tool, _)| *tool == FINDER);
    request.tool_names().contains(&FINDER) && !has_looked
}

impl DemoModel {
    /// Returns the next step of the current turn.
    fn step(&self, request: &ModelRequest) -> DemoStep {
        let question = DemoQuestion::read(request, self.unescape);
        let results: Vec<(&str, Value)> =
            request.tool_results().into_iter().map(|(tool, output)| (tool, read(&output))).collect();
        let unclear = settings::unclear(&question, &results);
        if let Some(failed) = unclear.or_else(|| failure(&results, question.language)) {
            return failed;
        }
        if question.is_due {
            return due(&question, &results);
        }
        match Topic::of(&question) {
            Topic::GoOn => go_on::step(&question, request, |earlier| self.step(earlier)),
            Topic::ChangeTask(change) => schedule::change(&question, &change, &results, &mentioned(request)),
            Topic::Attached => {
                documents::quote(&question).unwrap_or_else(|| received::describe(&question, request))
            }
            topic if !question.passages.is_empty() && is_of_document(&topic, &question) => {
                documents::quote(&question).unwrap_or_else(|| fallback::unknown(&question))
            }
            Topic::Other if records::is_answer(&question) => records::examples(&question),
            // The tools tell which agent the chat uses.
            Topic::Other if is_given(request, &["web_search"], &["schedule_task"]) => {
                web::search(&question, &results)
            }
            Topic::Other if is_given(request, &["ask_agent"], &["web_search"]) => {
                tricks::pass_on(&question, &results)
            }
            topic => answer(topic, &question, &results),
        }
    }
}

/// Returns `true` if a topic has no answer but the documents of the chat.
fn is_of_document(topic: &Topic, question: &DemoQuestion) -> bool {
    match topic {
        Topic::Prepared => !prepared::has_text(question),
        Topic::Summary => question.quoted.is_none(),
        topic => *topic == Topic::Other,
    }
}

/// Returns `true` if all tools in `these` are offered, and no tool in `none`.
fn is_given(request: &ModelRequest, these: &[&str], none: &[&str]) -> bool {
    let offered = request.tool_names();
    these.iter().all(|tool| offered.contains(tool)) && !none.iter().any(|tool| offered.contains(tool))
}

/// Returns the next step for topics that need only the question and the results so far.
fn answer(topic: Topic, question: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    match topic {
        Topic::Settings => settings::change(question, results),
        Topic::NewTask if fallback::is_fact(question) && schedule::is_behind(question) => {
            schedule::also(fallback::learned(question), question, results)
        }
        Topic::NewTask => schedule::new(question, results),
        Topic::ListTasks => schedule::list(question, results),
        Topic::Summary => prepared::summary(question),
        Topic::Prepared => prepared::answer(question),
        Topic::Search => web::search(question, results),
        Topic::Poll => poll::make(question, results),
        Topic::Format => DemoStep::Say(shows::FORMATTED.to_owned()),
        Topic::ListNotes => notes::list(question, results),
        Topic::AddNote => notes::add(question, results),
        Topic::RemoveNote => notes::remove(question, results),
        Topic::Record => records::save(question, results),
        Topic::Name => names::answer(question, results),
        Topic::Clock => clock::tell(question),
        Topic::Moderate => moderate::answer(question, results),
        Topic::Fact => DemoStep::Say(fallback::learned(question).to_owned()),
        Topic::UnwantedFact => fallback::forgotten(question),
        Topic::React => tricks::react(question, results),
        Topic::Choose => tricks::choose(question, results),
        Topic::Approve => tricks::approve(question, results),
        Topic::Photo => tricks::photo(question, results),
        Topic::File => tricks::file(question, results),
        Topic::Draw => tricks::draw(question, results),
        Topic::Dice => tricks::dice(question, results),
        Topic::Agent => tricks::ask_agent(question, results),
        Topic::Code => DemoStep::Say(shows::code()),
        Topic::Long => DemoStep::Say(shows::long()),
        Topic::Slow => DemoStep::SaySlowly(shows::SLOW.to_owned()),
        Topic::Thanks => fallback::welcome(question),
        Topic::Examples => prepared::examples(question),
        Topic::Greet => fallback::greeting(question),
        Topic::GoOn | Topic::ChangeTask(_) | Topic::Attached | Topic::Other => fallback::unknown(question),
    }
}

/// Runs a due task. Searches once and reports the result in each language the task asks for.
fn due(task: &DemoQuestion, results: &ToolResults<'_>) -> DemoStep {
    let due = schedule::DueTask::read(task);
    let [first, others @ ..] = due.questions.as_slice() else { return schedule::due(task) };
    if due.reminds {
        return schedule::due(task);
    }
    let topic = Topic::of(first);
    if !matches!(topic, Topic::Search | Topic::Prepared | Topic::ListNotes | Topic::Poll | Topic::Photo) {
        return schedule::due(task);
    }
    let DemoStep::Say(mut words) = answer(topic.clone(), first, results) else {
        return answer(topic, first, results);
    };
    for other in others {
        if let DemoStep::Say(more) = answer(topic.clone(), other, results) {
            words = format!("{words}\n\n{more}");
        }
    }
    DemoStep::Say(words)
}

/// Parses a tool result. Invalid JSON counts as a failure.
fn read(output: &str) -> Value {
    serde_json::from_str(output).unwrap_or_else(|_| json!({"success": false}))
}

/// Returns the ids of tasks mentioned in the conversation, newest last.
fn mentioned(request: &ModelRequest) -> Vec<String> {
    let outputs = request.input().iter().filter(|item| item["type"] == "function_call_output");
    let id = |item: &Value| {
        let result: Value = serde_json::from_str(item["output"].as_str()?).ok()?;
        Some(result["task_id"].as_str()?.to_owned())
    };
    outputs.filter_map(id).collect()
}

#[cfg(test)]
mod everyday;
#[cfg(test)]
mod tests;
