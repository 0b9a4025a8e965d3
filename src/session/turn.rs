//! One turn: the question is stored, everything is loaded, the agent runs, and the answer is written once together with
//! its pending delivery. The lanes of the mailbox call it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use futures::FutureExt;
use tokio_util::sync::CancellationToken;

use super::mailbox::{CancelReason, Control, Job, Question, Runner};
use super::trouble::{Trouble, unreadable};
use crate::agent::calls::result_message;
use crate::agent::driver::{Commit, Driven, Driver, Turn};
use crate::agent::run::{Answer, Run};
use crate::context::{BotName, Material, build};
use crate::delivery::{Bus, Courier, Outcome, RunEventKind};
use crate::domain::conversation::{Message, Role};
use crate::domain::delivery::PendingDelivery;
use crate::domain::message::Inbound;
use crate::domain::run::ActiveRun;
use crate::domain::tool::{Carried, ToolStatus};
use crate::ids::DeliveryId;
use crate::prompts::Prompts;
use crate::prompts::texts::{Locales, Texts, fill};
use crate::store::{ConversationStore, NoteStore, SettingsStore, StoreError, TurnEnd};
use crate::telemetry::vitals::Vitals;
use crate::tools::ToolContext;

/// The most stored messages that are looked at for the history; the token budget cuts further.
const HISTORY_MESSAGES: usize = 400;
/// Background is at most so old and so long.
const OVERHEARD_HOURS: i64 = 24;
const OVERHEARD_MESSAGES: usize = 30;
/// What the model is told about a call that a crash left open.
const UNKNOWN_OUTCOME: &str = r#"{"success":false,"error":"the bot stopped while this call ran: whether it acted is not known. Do not simply repeat it."}"#;

/// What turns are made with.
#[derive(Debug, Clone)]
pub struct Turns {
    /// Sessions and their messages.
    pub conversations: Arc<dyn ConversationStore>,
    /// Notes.
    pub notes: Arc<dyn NoteStore>,
    /// Settings of chats.
    pub settings: Arc<dyn SettingsStore>,
    /// The agent.
    pub driver: Driver,
    /// Prompt templates.
    pub prompts: Arc<Prompts>,
    /// Texts for people.
    pub locales: Arc<Locales>,
    /// Who hears what happens.
    pub bus: Bus,
    /// Who carries answers out.
    pub courier: Arc<dyn Courier>,
    /// What `/status` shows.
    pub vitals: Arc<Vitals>,
    /// What the bot is called.
    pub bot: BotName,
    /// The zone of chats that set none.
    pub default_zone: Tz,
    /// The most tokens of history.
    pub history_tokens: usize,
}

/// What a turn leads to.
enum End {
    /// These words are stored and, unless a tool said them already, sent.
    Say { answer: Answer, outcome: Outcome },
    /// These words of Figaro's own are sent, if any; they are no part of the conversation.
    Tell(String),
    /// Something went wrong; what was written until then stays.
    Trouble { trouble: Trouble, written: Answer },
    /// The next start goes on with it.
    Abandon,
    /// It begins again with this question.
    Again(Question),
}

#[async_trait]
impl Runner for Turns {
    async fn run(&self, job: Job, control: Control) -> Option<Job> {
        match job {
            Job::Ask(question) => self.ask(question, control).await,
            Job::Resume(run, question) => self.resume(run, question, control).await,
            Job::Deliver(delivery) => {
                self.courier.deliver(delivery, &control.cancel).await;
                None
            }
        }
    }
}

impl Turns {
    async fn ask(&self, question: Question, control: Control) -> Option<Job> {
        let conversation = question.parts.first()?.place.conversation();
        match self.conversations.begin_turn(conversation, &question.parts, self.now()).await {
            Ok(run) => self.work(run, question, control).await,
            Err(error) => {
                // The question stays in the inbox: the next start answers it.
                self.report(&error, "a turn could not begin");
                self.decline(&question).await;
                None
            }
        }
    }

    async fn resume(&self, run: ActiveRun, question: Question, control: Control) -> Option<Job> {
        if let Err(error) = self.settle_open_calls(&run).await {
            self.report(&error, "an interrupted turn could not be taken up");
            self.decline(&question).await;
            return None;
        }
        tracing::info!(run = %run.id, "going on with an interrupted turn");
        self.work(run, question, control).await
    }

    /// A call found `running` after a crash may have acted: the model is told so, and it is not made again.
    async fn settle_open_calls(&self, run: &ActiveRun) -> Result<(), StoreError> {
        let calls = self.conversations.tool_calls(run.id).await?;
        for mut call in calls.into_iter().filter(|call| call.status == ToolStatus::Running) {
            call.status = ToolStatus::Failed;
            call.result = Some(UNKNOWN_OUTCOME.to_owned());
            let message = result_message(run.session, &call, UNKNOWN_OUTCOME.to_owned(), Carried::default());
            self.conversations.tool_ended(&call, message).await?;
        }
        Ok(())
    }

    async fn work(&self, run: ActiveRun, question: Question, control: Control) -> Option<Job> {
        let first = question.parts.first()?;
        let (place, message, language) = (first.place.clone(), first.message, first.language.clone());
        self.bus.publish(run.id, RunEventKind::Started { place, message, language });
        let cancel = control.cancel.clone();
        let working = AssertUnwindSafe(self.answer(&run, &question, control));
        let end = match working.catch_unwind().await {
            Ok(Ok(end)) => end,
            Ok(Err(trouble)) => End::Trouble { trouble, written: Answer::default() },
            Err(_panic) => End::Trouble { trouble: Trouble::Internal, written: Answer::default() },
        };
        let outcome = match &end {
            End::Say { outcome, .. } => *outcome,
            End::Tell(_) => Outcome::Silent,
            End::Trouble { .. } => Outcome::Failed,
            End::Abandon | End::Again(_) => Outcome::Abandoned,
        };
        self.bus.publish(run.id, RunEventKind::Ended(outcome));
        self.finish(&run, &question, end, &cancel).await
    }

    /// Loads everything, builds the request, and lets the agent work.
    async fn answer(&self, run: &ActiveRun, question: &Question, control: Control) -> Result<End, Trouble> {
        let texts = self.texts(question);
        if let Some(words) = unreadable(question, texts) {
            // In a group that has it answer everything, nobody asked about every sticker.
            let is_meant = question.parts.iter().any(Inbound::is_addressed);
            return Ok(if is_meant { End::Tell(words) } else { End::Tell(String::new()) });
        }
        let internal = |error: StoreError| {
            self.report(&error, "a turn could not load what it needs");
            Trouble::Internal
        };
        let first = question.parts.first().ok_or(Trouble::Internal)?;
        let (place, now) = (&first.place, self.now());
        let since = now - TimeDelta::hours(OVERHEARD_HOURS);
        let (config, notes, stored, overheard) = futures::try_join!(
            self.settings.chat_config(place.chat),
            self.notes.notes(place.chat),
            self.conversations.recent(run.session, HISTORY_MESSAGES),
            self.conversations.overheard(run.conversation, since, OVERHEARD_MESSAGES),
        )
        .map_err(internal)?;
        let (history, mine): (Vec<Message>, Vec<Message>) =
            stored.into_iter().partition(|message| message.index < run.first_index);
        let done: Vec<Message> = mine.into_iter().filter(|message| message.role != Role::User).collect();
        let material = Material {
            bot: &self.bot,
            place,
            config: &config,
            default_zone: self.default_zone,
            notes: &notes,
            history: &history,
            overheard: &overheard,
            question: &question.parts,
            done: &done,
            now,
        };
        let window = build(&self.prompts, &material, self.history_tokens).map_err(|error| {
            tracing::error!(error, "a prompt could not be rendered");
            Trouble::Internal
        })?;
        let turn = Turn {
            context: context(run, first, question, now),
            session: run.session,
            instructions: window.instructions,
            cancel: control.cancel.clone(),
            commit: commit_of(&control),
        };
        let before = done.iter().filter_map(|message| Some(message.tool.as_ref()?.carried.clone()));
        let work = Run::new(window.items, self.driver.max_passes).carrying(before);
        let driven = self.driver.drive(work, &turn).await;
        Ok(self.judge(driven.map_err(internal)?, question, &control))
    }

    fn judge(&self, driven: Driven, question: &Question, control: &Control) -> End {
        match driven {
            Driven::Done(answer) if answer.pass.filtered.is_some() => {
                End::Trouble { trouble: Trouble::Withheld, written: answer }
            }
            Driven::Done(answer) if answer.spoke => End::Say { answer, outcome: Outcome::Silent },
            Driven::Done(answer) if answer.pass.text.trim().is_empty() => match is_group(question) {
                true => End::Say { answer, outcome: Outcome::Silent },
                false => End::Trouble { trouble: Trouble::Empty, written: answer },
            },
            Driven::Done(answer) => End::Say { answer, outcome: Outcome::Answered },
            Driven::Cancelled(answer) => match control.reason() {
                CancelReason::Stopped => End::Say { answer, outcome: Outcome::Stopped },
                CancelReason::Shutdown => End::Abandon,
                CancelReason::Again(question) => End::Again(question),
            },
            Driven::Failed(error, answer) => End::Trouble { trouble: Trouble::Model(error), written: answer },
        }
    }

    /// Writes the end of the turn, then lets the courier carry the words out.
    async fn finish(
        &self,
        run: &ActiveRun,
        question: &Question,
        end: End,
        cancel: &CancellationToken,
    ) -> Option<Job> {
        let (answer, words, is_failure) = match end {
            End::Abandon => return None,
            End::Again(question) => {
                if let Err(error) = self.conversations.retract_turn(run).await {
                    self.report(&error, "a turn could not be taken back");
                    return None;
                }
                return Some(Job::Ask(question));
            }
            End::Say { answer, outcome } => {
                let words = self.words(&answer, outcome, question);
                (answer, words, false)
            }
            End::Tell(words) => (Answer::default(), Some(words).filter(|words| !words.is_empty()), false),
            End::Trouble { trouble, written } => {
                let words = self.apology(run, question, &trouble, &written).await;
                (written, words, true)
            }
        };
        let message = self.stored(run, &answer);
        let delivery = words.map(|markdown| self.delivery(run, question, message.as_ref(), markdown));
        let end = TurnEnd { messages: message.into_iter().collect(), delivery: delivery.clone() };
        if let Err(error) = self.conversations.end_turn(run, end).await {
            // Not written, so not sent either: the next start runs the turn again.
            self.report(&error, "an answer could not be stored");
            self.decline(question).await;
            return None;
        }
        let declines = is_failure && (delivery.is_none() || is_group(question));
        match delivery {
            // A stop that ended the turn does not stop what it left from being delivered.
            Some(delivery) if cancel.is_cancelled() => {
                self.courier.deliver(delivery, &CancellationToken::new()).await;
            }
            Some(delivery) => self.courier.deliver(delivery, cancel).await,
            None => self.courier.withdraw(run.id).await,
        }
        if declines {
            self.decline(question).await;
        }
        None
    }

    /// What is sent, if anything.
    fn words(&self, answer: &Answer, outcome: Outcome, question: &Question) -> Option<String> {
        let text = answer.pass.text.trim();
        match outcome {
            Outcome::Answered if answer.pass.cut_short => Some(format!("{text} …")),
            Outcome::Answered => Some(text.to_owned()),
            Outcome::Stopped if !text.is_empty() => {
                Some(format!("{text}\n\n{}", self.texts(question).stopped))
            }
            Outcome::Stopped | Outcome::Silent | Outcome::Failed | Outcome::Abandoned => None,
        }
    }

    /// What the person is told in a private chat; in a group only what people have seen of the answer stays.
    async fn apology(
        &self,
        run: &ActiveRun,
        question: &Question,
        trouble: &Trouble,
        written: &Answer,
    ) -> Option<String> {
        let (label, turn) = (trouble.label(), run.id.to_string());
        tracing::error!(run = turn, label, ?trouble, "a turn failed");
        self.vitals.failed(self.now(), label);
        let so_far = written.pass.text.trim();
        if is_group(question) {
            let stays = !so_far.is_empty() && self.courier.has_shown(run.id).await;
            return stays.then(|| format!("{so_far} …"));
        }
        let texts = self.texts(question);
        let mut words = trouble.words(texts, &self.driver.model_id(&written.pass));
        if question.standing == crate::policy::access::Standing::Owner {
            let detail = fill(&texts.trouble_turn, &[("turn", &turn), ("label", label)]);
            words = format!("{words}\n`{detail}`");
        }
        Some(if so_far.is_empty() {
            format!("⚠️ {words}")
        } else {
            format!("{so_far}\n\n⚠️ {words}")
        })
    }

    async fn decline(&self, question: &Question) {
        if let Some(part) = question.parts.first() {
            let words = format!("⚠️ {}", self.texts(question).trouble_internal);
            self.courier.decline(&part.place, part.message, &words).await;
        }
    }

    fn stored(&self, run: &ActiveRun, answer: &Answer) -> Option<Message> {
        let text = answer.pass.text.trim();
        let model = self.driver.model_id(&answer.pass);
        self.vitals.answered_by(&model);
        (!text.is_empty()).then(|| Message {
            model_id: Some(model),
            token_usage: Some(answer.usage),
            private: answer.pass.private.clone(),
            ..Message::new(run.session, Role::Assistant, text.to_owned(), self.now())
        })
    }

    fn delivery(
        &self,
        run: &ActiveRun,
        question: &Question,
        answer: Option<&Message>,
        markdown: String,
    ) -> PendingDelivery {
        let first = &question.parts[0];
        PendingDelivery {
            id: DeliveryId::new(),
            run: run.id,
            entry: answer.map(|message| message.id),
            place: first.place.clone(),
            reply_to: first.place.is_group().then_some(first.message),
            markdown,
            created_at: self.now(),
            confirmed: Vec::new(),
        }
    }

    fn texts(&self, question: &Question) -> &Texts {
        self.locales.of(question.parts.first().and_then(|part| part.language.as_deref()))
    }

    fn report(&self, error: &StoreError, what: &str) {
        tracing::error!(%error, label = error.label(), "{what}");
        self.vitals.failed(self.now(), error.label());
    }

    fn now(&self) -> DateTime<Utc> {
        self.driver.caller.clock.now()
    }
}

fn commit_of(control: &Control) -> Commit {
    let control = control.clone();
    Commit(Arc::new(move || control.commit()))
}

fn is_group(question: &Question) -> bool {
    question.parts.first().is_some_and(|part| part.place.is_group())
}

fn context(run: &ActiveRun, first: &Inbound, question: &Question, now: DateTime<Utc>) -> ToolContext {
    ToolContext {
        run: run.id,
        place: first.place.clone(),
        speaker: first.speaker.clone(),
        standing: question.standing,
        now,
    }
}
