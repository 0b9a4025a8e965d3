//! The window: system prompt, history, the question with its context, and the steps of this turn so far.

use std::sync::Arc;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use figaro_base::tz::Tz;

use super::history::{History, items_of};
use super::kept::KeptParts;
use super::older::Older;
use super::pictures::Pictures;
use figaro_base::ids::{MemoryId, MessageId, PinId, UserId};
use figaro_base::text::one_line;
use figaro_domain::catch_up::CatchUp;
use figaro_domain::chat::{ChatConfig, Place};
use figaro_domain::conversation::Message;
use figaro_domain::message::{Inbound, Quoted, Speaker};
use figaro_domain::note::{Note, by_key};
use figaro_domain::persona::PersonaWords;
use figaro_domain::said_since::is_own;
use figaro_memory::bearing;
use figaro_prompts::{
    BackgroundView, DocumentView, PersonView, PromptMessageView, PromptQuoteView, Prompts, SentView,
    SystemView, TailView,
};
use figaro_provider::{Earlier, Item, MediaPart};

/// Longer lists appear in the prompt only as key and count.
const MAX_LISTED: usize = 20;
/// Maximum number of items of such a list that are shown because they relate to the question.
const MAX_BEARING: usize = 5;
/// Maximum length of all notes in the prompt, in characters.
const MAX_NOTE_CHARS: usize = 3000;
/// Maximum length of a background message, in characters.
const MAX_BACKGROUND_CHARS: usize = 300;
/// Maximum length of a message that the question asks about, and of all of them, in characters.
const MAX_ASKED_CHARS: usize = 600;
const MAX_ALL_ASKED_CHARS: usize = 16_000;

/// Names of the bot's account, for the system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BotName {
    /// First name of the account, as shown in chats.
    pub name: String,
    /// Username of the account, without `@`.
    pub username: String,
    /// Telegram account of the bot: its messages are not by others.
    pub user: UserId,
}

#[derive(Debug)]
pub(crate) struct Material<'a> {
    pub(crate) bot: &'a BotName,
    /// Instructions of the agent that runs; `None` for Figaro itself.
    pub(crate) agent: Option<&'a str>,
    /// Persona of the chat, if it has one. Ignored if an agent runs: its instructions replace it.
    pub(crate) persona: Option<&'a PersonaWords>,
    /// Language to answer in, as free text; `None` for the language of each message.
    pub(crate) language: Option<&'a str>,
    /// Chat and topic of the question.
    pub(crate) place: &'a Place,
    pub(crate) config: &'a ChatConfig,
    /// Time zone for a chat without one.
    pub(crate) default_zone: Tz,
    /// Person who asks; `None` if there is nothing to add to their message.
    pub(crate) person: Option<&'a PersonView>,
    /// Records of the chat that relate to the question, one line each.
    pub(crate) records: &'a [String],
    /// Documents of the chat with text for the question.
    pub(crate) documents: &'a [DocumentView],
    pub(crate) notes: &'a [Note],
    /// Messages that did not address the bot, oldest first.
    pub(crate) background: &'a [Inbound],
    /// Parts of the question, in order of arrival.
    pub(crate) question: &'a [Inbound],
    /// Pictures of the question and of recent messages.
    pub(crate) pictures: &'a Pictures,
    /// Messages that this turn stored after the question, if it continues after a restart.
    pub(crate) done: &'a [Arc<Message>],
    /// Current time, in UTC. The model sees it in the chat's zone.
    pub(crate) now: DateTime<Utc>,
}

/// First request of a turn: the system prompt and the items.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Window {
    pub(crate) instructions: String,
    /// View that the system prompt is rendered from.
    pub(crate) view: SystemView,
    /// History, oldest first, and the question last.
    pub(crate) items: Vec<Item>,
    /// Items of the turn's steps so far.
    pub(crate) done: Vec<Item>,
    /// Description of the items from before the turn.
    pub(crate) earlier: Earlier,
    /// Memories by label, and their text; `M1` is the first.
    pub(crate) labels: Vec<(MemoryId, String)>,
    /// Pins in the items and beside the question.
    pub(crate) pins: Vec<PinId>,
    /// `true` if omitted text is marked with a lookup key.
    pub(crate) has_keys: bool,
    /// `true` if the chat has more messages than are shown.
    pub(crate) has_more: bool,
}

/// Parts of the conversation so far that a request includes.
#[derive(Debug, Default)]
pub struct Context {
    /// Rendered pins, memories and summaries of the chat.
    pub(crate) kept: KeptParts,
    /// Newest messages of the session, as request items.
    pub recent: History,
    /// Older messages that relate to the question.
    pub older: Older,
    /// `true` if the chat has more messages than are shown.
    pub(crate) has_more: bool,
}

/// Builds the window around the selected parts of the conversation.
///
/// # Errors
/// If a custom prompt template cannot be rendered.
pub(crate) fn build(prompts: &Prompts, material: &Material<'_>, context: Context) -> Result<Window, String> {
    let zone = material.config.timezone.unwrap_or(material.default_zone);
    let Context { kept, recent: History { mut items, mut keys, has_keys, .. }, older, has_more } = context;
    let has_keys = has_keys || older.has_keys || kept.has_keys;
    let tail = tail(prompts, material, RelatedContext { kept: kept.beside, older: older.text }, zone)?;
    let is_kept = !kept.front.is_empty();
    if is_kept {
        items.insert(0, Item::user(kept.front));
        keys.insert(0, None);
    }
    items.push(Item::User { text: tail, media: asked_pictures(material) });
    let stored = RenderContext { place: material.place, zone, pictures: material.pictures };
    let done = items_of(material.done, &|message| stored.render(prompts, message))?;
    let (persona, own_persona) = match material.persona.filter(|_| material.agent.is_none()) {
        Some(PersonaWords::File(words)) => (Some(words.clone()), None),
        Some(PersonaWords::Own(words)) => (None, Some(words.clone())),
        None => (None, None),
    };
    let view = SystemView {
        bot_name: material.bot.name.clone(),
        bot_username: material.bot.username.clone(),
        agent: material.agent.map(str::to_owned),
        persona,
        own_persona,
        custom_prompt: material.config.custom_prompt.clone(),
        language: material.language.map(str::to_owned),
        personality: material.config.personality.clone(),
    };
    Ok(Window {
        instructions: prompts.system(&view)?,
        view,
        items,
        done,
        earlier: Earlier { keys, kept: usize::from(is_kept) },
        labels: kept.labels,
        pins: kept.pins,
        has_keys,
        has_more,
    })
}

/// Rendered earlier messages, summaries, pins and memories that relate to the question.
struct RelatedContext {
    kept: String,
    older: String,
}

fn tail(
    prompts: &Prompts,
    material: &Material<'_>,
    found: RelatedContext,
    zone: Tz,
) -> Result<String, String> {
    let parts = material.question.iter().map(|part| prompts.message(&inbound_view(part, material, zone)));
    let now = material.now.with_timezone(&zone);
    let asked: Vec<&str> = material.question.iter().map(|part| part.text.as_str()).collect();
    let asked = asked.join("\n");
    prompts.tail(&TailView {
        kept: found.kept,
        older: found.older,
        task: material.question.iter().any(|part| part.task.is_some()),
        background: background_views(material, zone),
        asks_about: material.asks_about().is_some(),
        links: material
            .asks_about()
            .and_then(|about| material.place.message_links(about.username.as_deref())),
        person: material.person.cloned(),
        records: material.records.to_vec(),
        documents: material.documents.to_vec(),
        notes: note_lines(material.notes, &asked, now.date_naive()),
        now: format!("{} ({zone})", now.format("%A, %-d %B %Y, %H:%M")),
        question: parts.collect::<Result<Vec<_>, _>>()?.join("\n"),
    })
}

/// Returns the pictures of the question. Pictures that it replies to come first.
fn asked_pictures(material: &Material<'_>) -> Vec<MediaPart> {
    let parts = material.question.iter();
    let attachments = parts.flat_map(|part| {
        let quoted = part.quotes.iter().flat_map(|quoted| &quoted.attachments);
        quoted.chain(&part.attachments)
    });
    material.pictures.of(attachments)
}

fn inbound_view(part: &Inbound, material: &Material<'_>, zone: Tz) -> PromptMessageView {
    let pictures = material.pictures;
    let view = PromptMessageView {
        chat_title: part.place.title.clone(),
        // The topic id of a conversation outside Telegram has no meaning.
        topic_id: part.place.topic.filter(|_| !part.place.chat.is_external()).map(|topic| topic.0),
        task: part.task.is_some(),
        mentioned: part.mentioned,
        reply_to_bot: part.reply_to_bot,
        forwarded_from: part.forwarded_from.clone(),
        text: part.text.clone(),
        quotes: part.quotes.as_ref().map(|quoted| quote_view(quoted, pictures)),
        attachments: pictures.views(&part.attachments),
        ..view(&part.place, &part.speaker, part.origin.message(), part.sent_at, zone)
    };
    if !part.place.is_group() && part.task.is_none() { slim(view, part, material.now) } else { view }
}

/// Removes fields that are obvious in a private chat, because small models repeat what they read.
fn slim(mut view: PromptMessageView, part: &Inbound, now: DateTime<Utc>) -> PromptMessageView {
    view.chat_type = "";
    if view.chat_id.is_some_and(|chat| view.user_id == chat.to_string()) {
        view.user_id.clear();
    }
    if part.forwarded_from.is_none() && now - part.sent_at < TimeDelta::minutes(2) {
        view.sent.clear();
    }
    view
}

/// Context for rendering stored messages. They look the same in every later prompt, so that the provider's cache hits.
/// Facts about the chat that the question already states are left out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RenderContext<'a> {
    pub(crate) place: &'a Place,
    pub(crate) zone: Tz,
    pub(crate) pictures: &'a Pictures,
}

impl RenderContext<'_> {
    /// Renders a person's message as an item.
    pub(super) fn render(&self, prompts: &Prompts, message: &Message) -> Result<Item, String> {
        let text = prompts.message(&self.view(message))?;
        // Sounds are for the question: each request would pay for them again.
        let mut media = self.pictures.of(&message.attachments);
        media.retain(|one| !one.is_sound());
        Ok(Item::User { text, media })
    }

    fn view(&self, message: &Message) -> PromptMessageView {
        let (place, pictures) = (self.place, self.pictures);
        let unknown = Speaker {
            user: figaro_base::ids::UserId::telegram(0),
            name: "someone".to_owned(),
            username: None,
        };
        let speaker = message.speaker.as_ref().unwrap_or(&unknown);
        let id = message.telegram.first().copied();
        let mut view = PromptMessageView {
            group: false,
            task: message.task.is_some(),
            text: message.text.clone(),
            forwarded_from: message.forwarded_from.clone(),
            quotes: message.quotes.as_ref().map(|quoted| quote_view(quoted, pictures)),
            attachments: pictures.views(&message.attachments),
            ..view(place, speaker, id, message.created_at, self.zone)
        };
        if !view.task {
            view.chat_id = None;
            if !place.is_group() {
                (view.username, view.user_id) = (None, String::new());
            }
        }
        view
    }
}

fn view(
    place: &Place,
    speaker: &Speaker,
    message: Option<MessageId>,
    sent: DateTime<Utc>,
    zone: Tz,
) -> PromptMessageView {
    PromptMessageView {
        chat_id: Some(place.chat.0),
        chat_type: place.kind.word(),
        from: speaker.name.clone(),
        username: speaker.username.clone(),
        user_id: user_words(speaker),
        message_id: message.map(|message| message.0),
        sent: sent.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string(),
        group: place.is_group(),
        ..PromptMessageView::default()
    }
}

fn quote_view(quoted: &Quoted, pictures: &Pictures) -> PromptQuoteView {
    PromptQuoteView {
        message: quoted.message.map(|id| id.0),
        task: quoted.task.map(|task| task.to_string()),
        author: quoted.author.clone(),
        text: quoted.text.clone(),
        excerpt: quoted.excerpt.clone(),
        attachments: pictures.views(&quoted.attachments),
    }
}

fn user_words(speaker: &Speaker) -> String {
    speaker.user.telegram_id().map_or_else(|| speaker.user.to_string(), |id| id.to_string())
}

impl Material<'_> {
    /// Returns the range of the messages that the question asks about.
    fn asks_about(&self) -> Option<&CatchUp> {
        self.question.iter().find_map(|part| part.about.as_ref())
    }
}

/// Returns the background, oldest first. Of messages that the question asks about the newest are shown, as many as there is
/// room for.
fn background_views(material: &Material<'_>, zone: Tz) -> Vec<BackgroundView> {
    let background = material.background.iter();
    if material.asks_about().is_none() {
        return background.map(|message| background_view(message, MAX_BACKGROUND_CHARS)).collect();
    }
    let mut room = MAX_ALL_ASKED_CHARS;
    let views = background.rev().map_while(|message| {
        let view = background_view(message, MAX_ASKED_CHARS);
        room = room.checked_sub(view.text.chars().count())?;
        let at = message.sent_at.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string();
        let sent = message.origin.message().map(|id| SentView { id: id.0, at });
        Some(BackgroundView { sent, ..view })
    });
    let mut views: Vec<BackgroundView> = views.collect();
    views.reverse();
    views
}

fn background_view(message: &Inbound, max_chars: usize) -> BackgroundView {
    let mut attachments = Pictures::default().views(&message.attachments);
    for attachment in &mut attachments {
        attachment.name = attachment.name.as_ref().map(|name| one_line(name, MAX_BACKGROUND_CHARS));
    }
    let user_id = if is_own(message) { String::new() } else { user_words(&message.speaker) };
    BackgroundView {
        from: message.speaker.name.clone(),
        username: message.speaker.username.clone(),
        user_id,
        forwarded_from: message.forwarded_from.clone(),
        text: one_line(&message.text, max_chars),
        attachments,
        sent: None,
    }
}

/// Returns one line per list of notes. A list that is long or exceeds the room shows its size and the items that relate
/// to the question.
fn note_lines(notes: &[Note], question: &str, today: NaiveDate) -> Vec<String> {
    let mut room = MAX_NOTE_CHARS;
    let line = |(key, notes): (&str, Vec<&Note>)| {
        let items = notes.iter().map(|note| one_line(&note.content, 200)).collect::<Vec<_>>().join("; ");
        if notes.len() > MAX_LISTED || items.len() > room {
            let all: Vec<&str> = notes.iter().map(|note| note.content.as_str()).collect();
            let found = bearing(question, &all, today, MAX_BEARING);
            let found: Vec<String> = found.into_iter().map(|item| one_line(item, 200)).collect();
            let count = format!("{} items; the tool that lists notes shows them", notes.len());
            return match found.is_empty() {
                true => format!("{key} ({count})"),
                false => format!("{key} ({count}), among them: {}", found.join("; ")),
            };
        }
        room -= items.len();
        format!("{key}: {items}")
    };
    by_key(notes).into_iter().map(line).collect()
}
