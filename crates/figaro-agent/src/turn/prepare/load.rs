//! Loads all data for a turn at once, and builds the window from it.

use std::sync::Arc;

use figaro_base::tz::Tz;
use tokio_util::sync::CancellationToken;

use super::super::error::TurnError;
use super::super::log::HISTORY_MESSAGES;
use super::super::question::Question;
use super::super::report::Reporter;
use super::super::requested::Requested;
use super::super::run::{CallResult, EarlierCall, InHand};
use super::super::taken_up::TakenUp;
use super::super::window::{BotName, Context, History, KeptData, Material, TokenBudget, Window, build};
use super::background::{background, said_around};
use super::context::{ContextRequest, Contexts};
use super::files::{FileLoader, FilesQuery};
use super::foreign::{ForeignText, Own};
use super::persona::Spoken;
use figaro_base::text::{estimate_tokens, one_line};
use figaro_domain::chat::ChatConfig;
use figaro_domain::conversation::{Message, MessageRole};
use figaro_domain::message::Inbound;
use figaro_domain::model::ModelName;
use figaro_domain::record::Book;
use figaro_domain::summary::Summary;
use figaro_domain::tool::{Call, SideEffects};
use figaro_domain::turn::{ActiveTurn, Checkpoint};
use figaro_memory::bearing_lines;
use figaro_policy::access::Standing;
use figaro_policy::address::Addresses;
use figaro_prompts::{PersonView, Prompts};
use figaro_provider::Item;
use figaro_provider::models::Models;
use figaro_store::{ConversationStore, FactStore, NoteStore, PinStore, StoreError, SummaryStore};

/// Number of messages for a second try if the history cannot be read.
const FEW_MESSAGES: usize = 10;
/// Minimum number of tokens of a message in a request, including its author.
const TOKENS_OF_ONE: usize = 15;
/// Minimum number of messages to read, even if fewer are sent.
const LEAST_MESSAGES: usize = 100;
/// Maximum length of the asker's name beside their memories, in characters.
const NAME_CHARS: usize = 40;

/// Loads the data for the first request of a turn. Owned by [`Preparer`](super::Preparer).
#[derive(Debug, Clone)]
pub struct Loader {
    /// The store of sessions and their messages.
    pub conversations: ConversationStore,
    /// The store of notes, by chat.
    pub notes: NoteStore,
    /// The store of pins, by chat.
    pub pins: PinStore,
    /// The store of summaries, by session.
    pub summaries: SummaryStore,
    /// The store of memories, by person.
    pub facts: FactStore,
    /// Loads the pictures and documents of questions.
    pub files: FileLoader,
    /// Selects the parts of the conversation so far.
    pub contexts: Contexts,
    /// The prompt templates, among them that of the system prompt.
    pub prompts: Arc<Prompts>,
    /// The models and what they can do.
    pub models: Arc<Models>,
    /// The bot's name and username, for the system prompt.
    pub bot: BotName,
    /// The zone of chats that set none.
    pub default_zone: Tz,
    /// Maximum number of tokens of history in a request.
    pub history_tokens: usize,
    /// Reports failures to the log and to `/status`.
    pub reporter: Reporter,
}

/// Data loaded from the store for a turn.
#[derive(Debug)]
pub(super) struct TurnData {
    /// System prompt and items of the first request.
    pub(super) window: Window,
    /// Tools found earlier in the session, then the side effects of this turn's calls before a restart.
    pub(super) side_effects: Vec<SideEffects>,
    /// Stored part of the pass whose calls were in progress before a restart.
    pub(super) in_hand: InHand,
    /// Calls of earlier attempts at the question.
    pub(super) acted: Vec<EarlierCall>,
    /// `true` if the chat has documents that the model may search.
    pub(super) has_documents: bool,
    /// Addresses that people wrote. Only these and found ones may be loaded.
    pub(super) written: Addresses,
    /// Person whose words the model is shown, if it is not the one who asks.
    pub(super) heard: Option<String>,
}

/// Choices of model, agent and persona for a turn.
pub(super) struct TurnChoices<'a> {
    pub(super) config: &'a ChatConfig,
    pub(super) model: &'a ModelName,
    /// Instructions of the agent; `None` for Figaro itself.
    pub(super) instructions: Option<&'a str>,
    /// Person who asks; `None` if there is nothing to add to their message.
    pub(super) person: Option<&'a PersonView>,
    pub(super) persona: &'a Spoken,
    pub(super) book: &'a Book,
    /// `true` if the agent may read web pages.
    pub(super) reads_pages: bool,
    /// Ends slow parts when the turn is stopped.
    pub(super) cancel: &'a CancellationToken,
}

impl Loader {
    /// Loads history, notes, background and pictures, and builds the window from them. Notes, background or history that
    /// cannot be read are reported and left out.
    ///
    /// # Errors
    /// If the question is empty or the system prompt cannot be rendered.
    pub(super) async fn load(
        &self,
        turn: &ActiveTurn,
        question: &Question,
        taken_up: &TakenUp,
        chosen: &TurnChoices<'_>,
    ) -> Result<TurnData, TurnError> {
        let first = question.parts.first().ok_or(TurnError::Internal)?;
        let (place, now) = (&first.place, self.reporter.now());
        let background = background(&self.conversations, turn, question, now);
        let background = self.reporter.or_without(background, "background");
        let (stored, kept) = (self.messages_of(turn), self.kept(turn, question));
        let is_earlier = |message: &Arc<Message>| message.index < turn.first_index;
        let (history, mut mine): (Vec<_>, Vec<_>) = stored.into_iter().partition(is_earlier);
        mine.retain(|message| message.role != MessageRole::User);
        let (in_hand, done) = split_in_hand(&mine, turn.checkpoint.as_ref(), taken_up);
        let of = self.files_query(turn, question, chosen);
        let of = FilesQuery { history: &history, background: &background, ..of };
        let (pictures, documents) = self.files.load(of).await;
        let said = said_around(question, &background, &history);
        let (words, records) = (question.words(), self.records(question, chosen));
        let payer = question.payer(None).ok_or(TurnError::Internal)?;
        let asking = ContextRequest {
            place,
            zone: chosen.config.timezone.unwrap_or(self.default_zone),
            session: turn.session,
            history: &history,
            kept: &kept,
            pictures: &pictures,
            payer: &payer,
            text: &words,
            recalls: may_look_back(question),
            asked_at: now,
            room: TokenBudget::of(self.history_tokens).without(tokens_of(&records)),
        };
        let context = self.context(question, &asking).await?;
        let own = Own { bot: &self.bot.user, asker: question.asker().map(|asker| &asker.user) };
        let foreign = ForeignText::of(question, &documents.views, &said, &shown(&context, &history), own);
        let material = Material {
            bot: &self.bot,
            // An agent without instructions of its own leaves the place to the persona.
            agent: chosen.instructions,
            persona: chosen.persona.words.as_ref(),
            language: chosen.config.language.as_deref().or(chosen.persona.language.as_deref()),
            place,
            config: chosen.config,
            default_zone: self.default_zone,
            person: chosen.person,
            records: &records,
            documents: &documents.views,
            notes: &self.reporter.or_without(self.notes.of_chat(place.chat), "notes"),
            background: &said,
            question: &question.parts,
            pictures: &pictures,
            done: &done,
            now,
        };
        let mut window = build(&self.prompts, &material, context).map_err(not_rendered)?;
        question.requested.iter().for_each(|requested| add(requested, &mut window));
        let before = SideEffects { read: foreign.read, ..found_in(&history) };
        let side_effects = std::iter::once(before).chain(side_effects(&done, &in_hand)).collect();
        let now = turn.resumed_by.as_deref().into_iter().chain(question.parts.iter().rev());
        let written = written(question, now.chain(background.iter().rev()), &history);
        let (in_hand, has_documents) = (read_in_hand(&in_hand), documents.is_any);
        let (acted, heard) = (Vec::new(), foreign.heard);
        Ok(TurnData { window, side_effects, in_hand, acted, has_documents, written, heard })
    }

    /// Returns one line per record that relates to the question, as many as fit into their share of the prompt, and
    /// never more than half of the conversation's room.
    fn records(&self, question: &Question, chosen: &TurnChoices<'_>) -> Vec<String> {
        let book = if may_look_back(question) { chosen.book } else { return Vec::new() };
        let window = self.models.capabilities(chosen.model).map(|can| can.context_window);
        let share: usize = book.packs().iter().map(|pack| pack.share.of(window)).sum();
        if share == 0 {
            return Vec::new();
        }
        let quoted = question.parts.iter().filter_map(|part| part.quotes.as_ref());
        let words = question.parts.iter().map(|part| part.text.as_str());
        let words: Vec<&str> = words.chain(quoted.map(|quoted| quoted.text.as_str())).collect();
        let tokens = share.min(self.history_tokens / 2);
        bearing_lines(book, &self.prompts.packs(), &words.join("\n"), self.reporter.now(), tokens)
    }

    /// Returns the query for the files of a question, without messages around it.
    fn files_query<'a>(
        &self,
        turn: &ActiveTurn,
        question: &'a Question,
        chosen: &TurnChoices<'a>,
    ) -> FilesQuery<'a> {
        let zone = chosen.config.timezone.unwrap_or(self.default_zone);
        FilesQuery {
            question,
            session: turn.session,
            history: &[],
            background: &[],
            model: chosen.model,
            today: self.reporter.now().with_timezone(&zone).date_naive(),
            reads_pages: chosen.reads_pages,
            looks_back: may_look_back(question),
            cancel: chosen.cancel,
        }
    }

    /// Returns the conversation so far: from the request if it has a history, otherwise from the store.
    async fn context(&self, question: &Question, asking: &ContextRequest<'_>) -> Result<Context, TurnError> {
        match question.requested.as_deref().and_then(|requested| requested.history.as_ref()) {
            Some(items) => Ok(Context { recent: History::given(items), ..Context::default() }),
            None => self.contexts.of(asking).await.map_err(not_rendered),
        }
    }

    /// Returns pins, memories and summaries that may be shown with the question. Those that cannot be read are left
    /// out.
    fn kept(&self, turn: &ActiveTurn, question: &Question) -> KeptData {
        let chat = turn.conversation.chat;
        let asker = question.asker().filter(|speaker| speaker.is_person());
        let memories = match asker.filter(|_| !question.client.is_eval) {
            Some(asker) => self.facts.of_person(&asker.user),
            None => Ok(Vec::new()),
        };
        let mut kept = KeptData {
            pins: self.reporter.or_without(self.pins.of_chat(chat), "pins"),
            memories: self.reporter.or_without(memories, "memories"),
            about: asker.map(|asker| one_line(&asker.name, NAME_CHARS)).unwrap_or_default(),
            summaries: self.reporter.or_without(self.summaries.of_session(turn.session), "summaries"),
            is_group: chat.is_group(),
        };
        kept.summaries.retain(Summary::is_shown);
        kept.pins.retain(|pin| pin.is_shown_in(turn.session));
        kept.memories.retain(|memory| asker.is_some_and(|asker| memory.is_shown_to(&asker.user, chat)));
        kept.without_repeats()
    }

    /// Returns the newest messages of the session; few or none if they cannot be read.
    fn messages_of(&self, run: &ActiveTurn) -> Vec<Arc<Message>> {
        let failed = |error: &StoreError| {
            self.reporter.report(error, "the history could not be read; the turn looks for less of it");
        };
        newest(to_read(self.history_tokens), |limit| self.conversations.recent(run.session, limit), failed)
    }
}

/// Returns the messages of the conversation that the model is shown.
fn shown<'a>(context: &'a Context, history: &'a [Arc<Message>]) -> Vec<&'a Message> {
    let from = context.recent.from.unwrap_or(u32::MAX);
    let older = context.older.messages.iter().map(|recalled| &*recalled.message);
    older.chain(history.iter().map(|message| &**message).filter(|message| message.index >= from)).collect()
}

/// Returns the side effects of this turn's passes before a restart. Those of the calls in hand come with their results.
fn side_effects<'a>(
    done: &'a [Arc<Message>],
    in_hand: &'a [Arc<Message>],
) -> impl Iterator<Item = SideEffects> + 'a {
    let words = in_hand.iter().filter(|message| message.tool.is_none());
    done.iter().chain(words).map(|message| message.side_effects())
}

/// Returns the number of messages to read for this many tokens: as many as could fit, and some more, of which only the
/// addresses are used.
fn to_read(tokens: usize) -> usize {
    (tokens / TOKENS_OF_ONE).clamp(LEAST_MESSAGES, HISTORY_MESSAGES)
}

/// Returns the newest messages. Retries with fewer if they cannot be read; returns none if that fails too.
fn newest(
    most: usize,
    read: impl Fn(usize) -> Result<Vec<Arc<Message>>, StoreError>,
    failed: impl Fn(&StoreError),
) -> Vec<Arc<Message>> {
    for limit in [most, FEW_MESSAGES] {
        match read(limit) {
            Ok(stored) => return stored,
            Err(error) => failed(&error),
        }
    }
    Vec::new()
}

/// Adds the items and pictures of the request to the window.
fn add(requested: &Requested, window: &mut Window) {
    window.done.splice(0..0, requested.done.clone());
    if let Some(Item::User { media, .. }) = window.items.last_mut() {
        media.extend(requested.images.clone());
    }
}

/// Returns `true` if the prompt may contain messages of others. In a group it may not for a guest.
fn may_look_back(question: &Question) -> bool {
    let is_group = question.parts.first().is_some_and(|first| first.place.is_group());
    question.standing != Standing::Guest || !is_group
}

fn tokens_of(lines: &[String]) -> usize {
    lines.iter().map(|line| estimate_tokens(line) + 1).sum()
}

/// Returns the addresses that people wrote: in the question, around it and before it; for a task, also its stored ones.
fn written<'a>(
    question: &Question,
    now: impl Iterator<Item = &'a Inbound>,
    history: &'a [Arc<Message>],
) -> Addresses {
    let earlier = history.iter().rev().flat_map(|message| message.words_of_people());
    let mut written = Addresses::written(now.flat_map(Inbound::words_of_people).chain(earlier));
    let of_task = question.task.iter().flat_map(|task| &task.addresses);
    of_task.for_each(|address| written.add_found(address));
    // Those that an answer named as its sources: a search found them, or a person approved them.
    let named = history.iter().flat_map(|message| message.side_effects().sources);
    named.for_each(|source| written.add_found(&source.url));
    written
}

fn not_rendered(error: String) -> TurnError {
    tracing::error!(error, "a prompt could not be rendered");
    TurnError::Internal
}

/// Splits the stored messages into those of the pass whose calls were in progress (its text and finished results), and
/// earlier ones.
pub(in crate::turn) fn split_in_hand(
    stored: &[Arc<Message>],
    checkpoint: Option<&Checkpoint>,
    taken_up: &TakenUp,
) -> (Vec<Arc<Message>>, Vec<Arc<Message>>) {
    let is_in_hand = |message: &Arc<Message>| is_in_hand(message, checkpoint, taken_up);
    stored.iter().cloned().partition(is_in_hand)
}

fn is_in_hand(message: &Message, checkpoint: Option<&Checkpoint>, taken_up: &TakenUp) -> bool {
    let Some((checkpoint, state)) = checkpoint.zip(taken_up.state.as_ref()) else {
        return false;
    };
    let is_of_pass = match &message.tool {
        Some(meta) => state.is_calling(&meta.tool_call_id),
        None => state.has_calls(),
    };
    message.index >= checkpoint.from && is_of_pass
}

/// Converts the messages of the pass in progress for the state machine.
pub(in crate::turn) fn read_in_hand(messages: &[Arc<Message>]) -> InHand {
    let mut in_hand = InHand::default();
    for message in messages {
        let Some(meta) = message.tool.clone() else {
            (in_hand.text, in_hand.private) = (message.text.clone(), message.private.clone());
            continue;
        };
        let call = Call { id: meta.tool_call_id, name: meta.tool_name, arguments: meta.tool_arguments };
        in_hand.results.push(CallResult {
            call,
            output: message.text.clone(),
            side_effects: meta.side_effects,
            images: Vec::new(),
            asks: None,
        });
    }
    in_hand
}

/// Returns the tools that earlier turns of the session found, in order. They stay available, so that all requests of
/// the session begin alike.
fn found_in(history: &[Arc<Message>]) -> SideEffects {
    let mut all = SideEffects::default();
    let found =
        history.iter().filter_map(|message| message.tool.as_ref()).map(|tool| &tool.side_effects.found);
    found.for_each(|names| all.add_found(names.clone()));
    all
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use chrono::DateTime;
    use figaro_base::ids::SessionId;

    #[test]
    fn a_history_that_cannot_be_read_is_ten_messages_and_then_none() {
        let message = |text: usize| {
            Arc::new(Message::new(
                SessionId::new(),
                MessageRole::User,
                text.to_string(),
                DateTime::UNIX_EPOCH,
            ))
        };
        for (readable, wanted, failures) in [(HISTORY_MESSAGES, 400, 0), (10, 10, 1), (9, 0, 2)] {
            let failed = Cell::new(0);
            let read = |limit: usize| match limit <= readable {
                true => Ok((0..limit).map(message).collect()),
                false => Err(StoreError::Record { what: "one".to_owned() }),
            };
            let found = newest(HISTORY_MESSAGES, read, |_error| failed.set(failed.get() + 1));
            assert_eq!((found.len(), failed.get()), (wanted, failures), "{readable}");
        }
    }
}
