//! Collects the details of an answer: tool calls, refusals, memories and pins, model and cost.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use super::explanation::{ExplainedSection, ExplanationReader};
use super::finder::ExplainedMessage;
use super::observed;
use crate::tools::Registry;
use crate::turn::execute::calls::hint;
use figaro_base::ids::{PinId, RunId};
use figaro_base::text::one_line;
use figaro_domain::audit::{AuditEvent, AuditKind};
use figaro_domain::conversation::Message;
use figaro_domain::pin::PinType;
use figaro_domain::reception::Ending;
use figaro_domain::tool::{ToolCall, ToolStatus};
use figaro_domain::usage::{UNKNOWN_MONEY, dollars};
use figaro_policy::tools::{OWNERS, Policy};
use figaro_prompts::texts::{Texts, fill};
use figaro_store::{AuditStore, ConversationStore, FactStore, PinStore, Store, StoreError};

/// Maximum number of websites that are named for a search.
const MOST_HOSTS: usize = 5;
/// Number of audit entries in one read of the store.
const AT_ONCE: usize = 500;
const LOOKED_THROUGH: usize = 5_000;
/// Tolerance for clock differences: audit entries of a turn may seem older than its question by this much.
const CLOCKS: TimeDelta = TimeDelta::minutes(5);

/// Looks up the details of an answer.
#[derive(Debug)]
pub(super) struct Details {
    conversations: ConversationStore,
    facts: FactStore,
    pins: PinStore,
    audit: AuditStore,
    tools: Arc<Registry>,
    policy: Policy,
}

impl Details {
    pub(super) fn new(store: &Store, tools: Arc<Registry>, policy: Policy) -> Self {
        Self {
            conversations: store.conversations(),
            facts: store.facts(),
            pins: store.pins(),
            audit: store.audit(),
            tools,
            policy,
        }
    }

    /// Returns the details for the author of the question, or for an owner. `began` is the time of the question.
    pub(super) fn sections(
        &self,
        reader: &ExplanationReader<'_>,
        subject: &ExplainedMessage,
        began: DateTime<Utc>,
    ) -> Result<Vec<ExplainedSection>, StoreError> {
        let (texts, exchange) = (reader.texts, subject.exchange.as_ref());
        let trace = subject.trace();
        let run = trace.map(|trace| trace.run).or_else(|| exchange.and_then(|exchange| exchange.run()));
        let mut sections = Vec::new();
        if let Some(run) = run {
            let open = match trace.and_then(|trace| trace.ending.as_ref()) {
                None => texts.why_call_running(),
                Some(Ending::Waits) => texts.why_call_waits(),
                Some(_) => texts.why_call_broken(),
            };
            sections.push(ExplainedSection::new(texts.why_tools(), self.calls(texts, run, open)?));
            sections.push(ExplainedSection::new(texts.why_rules(), self.rules(reader, run, began)?));
        }
        let answer = exchange.and_then(|exchange| exchange.answer());
        let observation = answer.and_then(|answer| answer.observation.as_ref());
        let noted = observation.map(|observation| observed::lines(texts, observation)).unwrap_or_default();
        sections.push(ExplainedSection::new(texts.why_observed(), noted));
        if let Some(answer) = answer {
            sections.push(self.memories(reader, subject, answer)?);
        }
        if let Some(trace) = trace {
            let pins = self.pinned(reader, subject, &trace.pins)?;
            sections.push(ExplainedSection::new(texts.why_pins(), pins));
        }
        // A section without lines says nothing.
        sections.retain(|section| !section.lines.is_empty());
        let agent = trace.and_then(|trace| trace.agent.as_ref());
        let agent = agent.map(|agent| fill(texts.why_agent(), &[("agent", agent)]));
        // Of pins it is known for some days only, and what the reader may not see is left out above.
        let is_nothing_used = trace.is_some_and(|trace| trace.pins.is_empty())
            && answer.is_some_and(|answer| answer.referenced_memories.is_empty());
        if sections.is_empty() && agent.is_none() && is_nothing_used {
            sections.push(ExplainedSection::sentence(texts.why_used_nothing().to_owned()));
        }
        let asked = exchange.and_then(|exchange| exchange.question.first());
        let client = asked.and_then(|question| question.program.as_deref());
        let client = client.map(|client| fill(texts.why_client(), &[("client", client)]));
        let cost_of_answer = answer.map(|answer| cost(texts, answer));
        let is_unknown = answer.is_some_and(|answer| answer.nano_usd.is_none());
        let unknown = is_unknown.then(|| texts.price_unknown().to_owned());
        let last = [agent, client, cost_of_answer, unknown];
        sections.extend(last.into_iter().flatten().map(ExplainedSection::sentence));
        Ok(sections)
    }

    /// Returns the tool calls of a turn with the status texts from the chat, and their results; `open` is the text
    /// for a call without a result.
    fn calls(&self, texts: &Texts, run: RunId, open: &str) -> Result<Vec<String>, StoreError> {
        let (calls, tools) = (self.conversations.tool_calls(run)?, self.tools.looking_up());
        Ok(calls.iter().map(|made| call(texts, &tools, made, open)).collect())
    }

    /// Returns the calls that were refused or needed an approval; for owners with the reasons.
    fn rules(
        &self,
        reader: &ExplanationReader<'_>,
        run: RunId,
        began: DateTime<Utc>,
    ) -> Result<Vec<String>, StoreError> {
        let decided = self.decided(run, began - CLOCKS)?;
        let (rules, texts) = (self.policy.rules(), reader.texts);
        let line = |event: &AuditEvent| {
            let method = event.method.as_ref().map(|method| method.as_str());
            let words = method.map(|method| format!(": {}", texts.method(method))).unwrap_or_default();
            let rule = event.rule.as_ref().map(|rule| rule.as_str()).filter(|_| reader.is_owner);
            let why = rule.and_then(|rule| {
                // The reasons of an owner's rules are in the owner's own language.
                let reason = rules.reason_of(rule).filter(|_| rule.starts_with(OWNERS));
                Some(match (rule_words(texts, rule)?, reason) {
                    (words, Some(reason)) => format!(" ({words}: {reason})"),
                    (words, None) => format!(" ({words})"),
                })
            });
            format!("{}{words}{}", texts.audited(event.what), why.unwrap_or_default())
        };
        Ok(decided.iter().map(line).collect())
    }

    /// Returns the audit entries of a turn except allowed calls, oldest first.
    fn decided(&self, run: RunId, since: DateTime<Utc>) -> Result<Vec<AuditEvent>, StoreError> {
        let (mut found, mut before, mut looked) = (Vec::new(), None, 0);
        loop {
            let more = self.audit.newest(before, AT_ONCE)?;
            let Some(last) = more.last() else { break };
            let is_over = last.event.at < since;
            (before, looked) = (Some(last.seq), looked + more.len());
            let of_turn = more.into_iter().map(|entry| entry.event).filter(|event| event.run == Some(run));
            found.extend(of_turn.filter(|event| event.what != AuditKind::CallAllowed));
            if is_over || looked >= LOOKED_THROUGH {
                break;
            }
        }
        found.reverse();
        Ok(found)
    }

    /// Returns the reader's memories that the answer used: where others read along, and of others, only their number.
    fn memories(
        &self,
        reader: &ExplanationReader<'_>,
        subject: &ExplainedMessage,
        answer: &Message,
    ) -> Result<ExplainedSection, StoreError> {
        let (texts, used) = (reader.texts, &answer.referenced_memories);
        let is_own = subject.writer() == Some(reader.user);
        let count = used.len().to_string();
        let counted = |words| Ok(ExplainedSection::sentence(fill(words, &[("count", &count)])));
        match (used.is_empty(), is_own, reader.is_alone) {
            (true, ..) => return Ok(ExplainedSection::new(texts.why_memories(), Vec::new())),
            (false, false, _) => return counted(texts.why_memories_of_others()),
            (false, true, false) => return counted(texts.why_memories_group()),
            (false, true, true) => {}
        }
        let all = self.facts.of_person(reader.user)?;
        let of_answer = all.iter().filter(|memory| memory.is_active() && used.contains(&memory.id));
        let words = of_answer.map(|memory| one_line(&memory.content, reader.chars)).collect();
        Ok(ExplainedSection::new(texts.why_memories(), words))
    }

    /// Returns the pins that the model got and the chat still has. Those of another chat stay there, and those of a private
    /// chat with its person.
    fn pinned(
        &self,
        reader: &ExplanationReader<'_>,
        subject: &ExplainedMessage,
        told: &[PinId],
    ) -> Result<Vec<String>, StoreError> {
        let chat = subject.conversation.chat;
        let sees = chat == reader.chat && (chat.is_group() || subject.writer() == Some(reader.user));
        if told.is_empty() || !sees {
            return Ok(Vec::new());
        }
        let pins = self.pins.of_chat(reader.chat)?;
        let told = pins.iter().filter(|pin| pin.pin_type != PinType::System && told.contains(&pin.id));
        Ok(told.map(|pin| one_line(&pin.content, reader.chars)).collect())
    }
}

/// Returns the reason of a rule that asks or refuses, as text; for an owner's rule its name; `None` for a rule that
/// only allows.
#[must_use]
pub fn rule_words(texts: &Texts, rule: &str) -> Option<String> {
    match rule.strip_prefix(OWNERS) {
        Some(own) => Some(fill(texts.audit_rule(), &[("rule", own)])),
        None => texts.rule(rule).map(str::to_owned),
    }
}

/// Returns the line of a call with its result.
fn call(texts: &Texts, tools: &Registry, made: &ToolCall, open: &str) -> String {
    let name = &made.call.name;
    let hint = hint(&made.call).unwrap_or_else(|| "…".to_owned());
    let tool = tools.get(name, std::slice::from_ref(name));
    let status = tool.and_then(|tool| texts.get(tool.status().0));
    // Most Bot API methods share one status text, so the method itself is named here. A model may call a tool that there is not.
    let words = match (texts.known_method(name), status) {
        (Some(words), _) => words.to_owned(),
        (None, Some(status)) => fill(status, &[("hint", &hint)]),
        (None, None) => name.clone(),
    };
    let end = match made.status {
        ToolStatus::Running => open,
        ToolStatus::Complete => texts.why_call_done(),
        ToolStatus::Failed => texts.why_call_failed(),
        ToolStatus::Unknown => texts.why_call_unknown(),
        ToolStatus::Denied => texts.why_call_denied(),
    };
    format!("{words}: {end}{}", found(made))
}

/// Returns the websites and the duration of a search by the provider; empty for other calls.
fn found(made: &ToolCall) -> String {
    let Some(result) = made.result.as_deref().filter(|_| made.hosted) else { return String::new() };
    let result: Value = serde_json::from_str(result).unwrap_or_default();
    let sources = result["sources"].as_array().into_iter().flatten();
    let host = |source: &Value| {
        let (_, rest) = source["url"].as_str()?.split_once("//")?;
        rest.split(['/', '?', '#']).next().map(str::to_owned)
    };
    let hosts: BTreeSet<String> = sources.filter_map(host).collect();
    let seconds = made.duration_ms.unwrap_or_default() as f64 / 1_000.0;
    let parts = hosts.into_iter().take(MOST_HOSTS).chain([format!("{seconds:.1} s")]);
    format!(" · {}", parts.collect::<Vec<_>>().join(" · "))
}

/// Returns the line of the model that wrote the answer and the usage of its turn.
fn cost(texts: &Texts, answer: &Message) -> String {
    let count = texts.tokens(answer.token_usage.unwrap_or_default().total());
    let money = answer.nano_usd.map_or_else(|| UNKNOWN_MONEY.to_owned(), dollars);
    let model = answer.model_id.as_deref().unwrap_or("?");
    fill(texts.why_model(), &[("tokens", &count), ("money", &money), ("model", model)])
}
