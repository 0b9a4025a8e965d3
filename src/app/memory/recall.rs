//! `figaro memory recall`: prints the part of a conversation that a request would carry for a question.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use super::super::failure::StartupError;
use super::super::terminal::say;
use super::conversation::{EvalQuestion, chat_of, read_time};
use super::import::lines;
use super::opened::{Opened, Questions, RecallOptions, nobody};
use figaro_agent::turn::prepare::{Choices, ContextRequest, Contexts};
use figaro_agent::turn::report::Reporter;
use figaro_agent::turn::taken_up::HISTORY_MESSAGES;
use figaro_agent::turn::window::{Context, KeptData, Pictures, TokenBudget};
use figaro_base::ids::{EntryId, SessionId};
use figaro_base::telemetry::vitals::Vitals;
use figaro_base::text::estimate_tokens;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::conversation::{ConversationId, Message};
use figaro_domain::usage::Payer;
use figaro_prompts::Prompts;
use figaro_store::StoreError;

/// Delay after the last message for a question without a time.
const LATER: TimeDelta = TimeDelta::hours(1);

#[derive(Debug, Serialize)]
struct RecallLine<'a> {
    question_id: &'a str,
    context: String,
    tokens: usize,
    items: Vec<RecallItem>,
    took_ms: f64,
}

#[derive(Debug, Serialize)]
struct RecallItem {
    id: String,
    kind: &'static str,
    score: f32,
}

/// Answers questions from the open store.
struct RecallEvaluator<'a> {
    opened: &'a Opened,
    contexts: Contexts,
    options: RecallOptions,
    /// Newest messages of each conversation, by its name.
    histories: HashMap<String, Vec<Arc<Message>>>,
}

/// Prints the context of each question.
pub(super) async fn recall(
    opened: &Opened,
    questions: Questions,
    options: RecallOptions,
) -> Result<(), StartupError> {
    let prompts = Arc::new(Prompts::load(Some(Path::new("prompts"))).map_err(StartupError)?);
    let clock = opened.clock.clone();
    let reporter = Reporter { vitals: Arc::new(Vitals::new(clock.now())), clock };
    let contexts = Contexts { chats: opened.chats.clone(), prompts, choices: Choices::default(), reporter };
    let mut asker = RecallEvaluator { opened, contexts, options, histories: HashMap::new() };
    let file = match questions {
        Questions::Batch(file) => file,
        Questions::One { conversation, question } => {
            let question_id = conversation.clone();
            return asker
                .ask(&EvalQuestion { question_id, conversation_id: conversation, question, asked_at: None })
                .await;
        }
    };
    for (number, line) in lines(&file)?.enumerate() {
        let refused =
            |error: String| StartupError(format!("{}, line {}: {error}", file.display(), number + 1));
        let line = line.map_err(|error| refused(error.to_string()))?;
        if !line.trim().is_empty() {
            let asked: EvalQuestion =
                serde_json::from_str(&line).map_err(|error| refused(error.to_string()))?;
            asker.ask(&asked).await?;
        }
    }
    Ok(())
}

impl RecallEvaluator<'_> {
    async fn ask(&mut self, asked: &EvalQuestion) -> Result<(), StartupError> {
        let failed = |error: StoreError| StartupError(error.to_string());
        let chat = chat_of(&asked.conversation_id);
        if !self.histories.contains_key(&asked.conversation_id) {
            let history = self.history(&asked.conversation_id)?;
            // An active chat gets its vectors gradually. Here all are made first, so that every run gives the same result.
            let payer = Payer::new(chat, nobody());
            let made = self.opened.chats.embed_all(&payer, figaro_base::tz::Tz::UTC).await;
            let _count = made.map_err(|error| StartupError(error.to_string()))?;
            self.histories.insert(asked.conversation_id.clone(), history);
        }
        let history = self.histories.get(&asked.conversation_id).map_or(&[][..], Vec::as_slice);
        let config = self.opened.store.settings().chat_config(chat).map_err(failed)?;
        let begun = Instant::now();
        let place = Place { chat, kind: ChatKind::Private, title: None, topic: None };
        let mut room = TokenBudget::of(self.options.budget);
        room.share_before = match (self.options.only_retrieved, self.options.recent) {
            (true, _) => 0.0,
            (false, Some(share)) => share,
            (false, None) => room.share_before,
        };
        let asking = ContextRequest {
            place: &place,
            zone: config.timezone.unwrap_or(figaro_base::tz::Tz::UTC),
            session: history.last().map_or_else(SessionId::new, |last| last.session),
            history,
            // Imported conversations have no kept data.
            kept: &KeptData::default(),
            pictures: &Pictures::default(),
            payer: &Payer::new(chat, nobody()),
            text: &asked.question,
            recalls: true,
            asked_at: asked_at(asked, history)?,
            room,
        };
        let context = self.contexts.of(&asking).await.map_err(StartupError)?;
        let took_ms = begun.elapsed().as_secs_f64() * 1000.0;
        let text = text_of(&context);
        if !self.options.json {
            say(&text);
            return Ok(());
        }
        let tokens = estimate_tokens(&text);
        let items = self.items(&context, history).map_err(failed)?;
        let line = RecallLine { question_id: &asked.question_id, context: text, tokens, items, took_ms };
        let line = serde_json::to_string(&line).map_err(|error| StartupError(error.to_string()))?;
        say(&line);
        Ok(())
    }

    /// Returns the recent messages of the conversation that the bot would use.
    fn history(&self, conversation: &str) -> Result<Vec<Arc<Message>>, StartupError> {
        let failed = |error: StoreError| StartupError(error.to_string());
        let place = ConversationId { chat: chat_of(conversation), topic: None };
        let store = &self.opened.store;
        if store.messages().session_ends(place.chat).map_err(failed)?.is_empty() {
            return Err(StartupError(format!("the store has no conversation {conversation}")));
        }
        let session: SessionId =
            store.conversations().session(place, self.opened.clock.now()).map_err(failed)?.id;
        store.conversations().recent(session, HISTORY_MESSAGES).map_err(failed)
    }

    /// Returns the messages of the context, best first.
    fn items(&self, context: &Context, history: &[Arc<Message>]) -> Result<Vec<RecallItem>, StoreError> {
        let older = context.older.messages.iter();
        let mut found: Vec<RecallHit> = older
            .map(|one| RecallHit { message: one.message.clone(), kind: "retrieved", score: one.score })
            .collect();
        let is_shown =
            |message: &&Arc<Message>| context.recent.from.is_some_and(|from| message.index >= from);
        let recent = history.iter().rev().filter(is_shown);
        found.extend(recent.map(|message| RecallHit {
            message: message.clone(),
            kind: "recent",
            score: 0.0,
        }));
        let ids: Vec<EntryId> = found.iter().map(|one| one.message.id).collect();
        let names = self.opened.store.messages().imported_names(&ids)?;
        let items = found.into_iter().zip(names).map(|(one, name)| RecallItem {
            id: name.unwrap_or_else(|| one.message.key().to_string()),
            kind: one.kind,
            score: one.score,
        });
        Ok(items.collect())
    }
}

struct RecallHit {
    message: Arc<Message>,
    kind: &'static str,
    score: f32,
}

fn asked_at(asked: &EvalQuestion, history: &[Arc<Message>]) -> Result<DateTime<Utc>, StartupError> {
    let last = || history.last().map_or(DateTime::UNIX_EPOCH, |last| last.created_at) + LATER;
    let Some(text) = &asked.asked_at else { return Ok(last()) };
    read_time(text).ok_or_else(|| {
        StartupError(format!("question {}: {text} is no time such as 2026-05-08T13:56:00", asked.question_id))
    })
}

/// Returns the exact text that a model would get.
fn text_of(context: &Context) -> String {
    let recent = context.recent.items.iter().map(|item| item.text());
    let parts: Vec<&str> =
        recent.chain([context.older.text.as_str()]).filter(|text| !text.is_empty()).collect();
    parts.join("\n")
}
