//! The window: system prompt, history, the question with its surroundings, and what this turn has done so far.

use std::sync::Arc;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use chrono_tz::Tz;

use super::history::{History, items_of};
use super::kept::KeptParts;
use super::older::Older;
use super::pictures::Pictures;
use figaro_base::ids::{MemoryId, MessageId, PinId};
use figaro_base::text::one_line;
use figaro_domain::chat::{ChatConfig, Place};
use figaro_domain::conversation::Message;
use figaro_domain::message::{Inbound, Quoted, Speaker};
use figaro_domain::note::{Note, by_key};
use figaro_domain::persona::PersonaWords;
use figaro_memory::bearing;
use figaro_prompts::{BackgroundView, MessageView, PersonView, Prompts, QuoteView, SystemView, TailView};
use figaro_provider::{Earlier, Image, Item};

/// A list with more items than this stands in the prompt as its key and count.
const MAX_LISTED: usize = 20;
/// Of such a list at most so many items that bear on the question are told.
const MAX_BEARING: usize = 5;
/// All notes together take at most so many characters of the prompt.
const MAX_NOTE_CHARS: usize = 3000;
/// A line of background is at most so long.
const MAX_BACKGROUND_CHARS: usize = 300;

/// The names of the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BotName {
    /// The first name of the bot's account.
    pub name: String,
    /// The username of the bot's account, without `@`.
    pub username: String,
}

/// Everything a request is made from.
#[derive(Debug)]
pub(crate) struct Material<'a> {
    /// The bot's name and username.
    pub(crate) bot: &'a BotName,
    /// The instructions of the agent that runs, if it is one.
    pub(crate) agent: Option<&'a str>,
    /// What the persona of the chat says, if it has chosen one; where an agent runs, its instructions stand instead.
    pub(crate) persona: Option<&'a PersonaWords>,
    /// The language to answer in, in free words; `None` for that of each message.
    pub(crate) language: Option<&'a str>,
    /// The chat and topic of the question.
    pub(crate) place: &'a Place,
    /// The settings of the chat.
    pub(crate) config: &'a ChatConfig,
    /// The zone of a chat that set none.
    pub(crate) default_zone: Tz,
    /// Whoever asks; `None` where their message says all.
    pub(crate) person: Option<&'a PersonView>,
    /// Records of the chat that bear on the question, a line each.
    pub(crate) records: &'a [String],
    /// The chat's notes.
    pub(crate) notes: &'a [Note],
    /// What was said without addressing the bot, oldest first.
    pub(crate) background: &'a [Inbound],
    /// The question's parts, as they came in.
    pub(crate) question: &'a [Inbound],
    /// Pictures of the question and of what was said last.
    pub(crate) pictures: &'a Pictures,
    /// What this turn stored after the question, when it goes on after a restart.
    pub(crate) done: &'a [Arc<Message>],
    /// The current time, UTC; the model sees it in the chat's zone.
    pub(crate) now: DateTime<Utc>,
}

/// The first request of a turn: the system prompt and the items.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Window {
    /// The text of the system prompt.
    pub(crate) instructions: String,
    /// What that is rendered from.
    pub(crate) view: SystemView,
    /// The history, oldest first, and the question last.
    pub(crate) items: Vec<Item>,
    /// What the turn has done so far.
    pub(crate) done: Vec<Item>,
    /// Which items are from before the turn.
    pub(crate) earlier: Earlier,
    /// The memory of each label in them and beside the question: `M1` is the first.
    pub(crate) labels: Vec<(MemoryId, String)>,
    /// The pins in them and beside the question.
    pub(crate) pins: Vec<PinId>,
    /// A key stands in them where something was left out.
    pub(crate) has_keys: bool,
    /// The chat has more messages than these.
    pub(crate) has_more: bool,
}

/// What of the conversation so far a request carries.
#[derive(Debug, Default)]
pub struct Context {
    /// Pins, memories and summaries.
    pub(crate) kept: KeptParts,
    /// The newest messages of the session.
    pub recent: History,
    /// Older messages that bear on the question.
    pub older: Older,
    /// The chat has more messages than these.
    pub(crate) has_more: bool,
}

/// Builds the window around what of the conversation so far it carries.
///
/// # Errors
/// A prompt template of the owner's that does not render.
pub(crate) fn build(prompts: &Prompts, material: &Material<'_>, context: Context) -> Result<Window, String> {
    let zone = material.config.timezone.unwrap_or(material.default_zone);
    let Context { kept, recent: History { mut items, mut keys, has_keys, .. }, older, has_more } = context;
    let has_keys = has_keys || older.has_keys || kept.has_keys;
    let tail = tail(prompts, material, Found { kept: kept.beside, older: older.text }, zone)?;
    let is_kept = !kept.front.is_empty();
    if is_kept {
        items.insert(0, Item::user(kept.front));
        keys.insert(0, None);
    }
    items.push(Item::User { text: tail, images: asked_pictures(material) });
    let stored = Stored { place: material.place, zone, pictures: material.pictures };
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

/// What was said before and bears on the question, rendered.
struct Found {
    kept: String,
    older: String,
}

fn tail(prompts: &Prompts, material: &Material<'_>, found: Found, zone: Tz) -> Result<String, String> {
    let parts = material.question.iter().map(|part| prompts.message(&inbound_view(part, material, zone)));
    let now = material.now.with_timezone(&zone);
    let asked: Vec<&str> = material.question.iter().map(|part| part.text.as_str()).collect();
    let asked = asked.join("\n");
    prompts.tail(&TailView {
        kept: found.kept,
        older: found.older,
        task: material.question.iter().any(|part| part.task.is_some()),
        background: material.background.iter().map(background_view).collect(),
        person: material.person.cloned(),
        records: material.records.to_vec(),
        notes: note_lines(material.notes, &asked, now.date_naive()),
        now: format!("{} ({zone})", now.format("%A, %-d %B %Y, %H:%M")),
        question: parts.collect::<Result<Vec<_>, _>>()?.join("\n"),
    })
}

/// What the question is about comes first: the pictures it replies to, then its own.
fn asked_pictures(material: &Material<'_>) -> Vec<Image> {
    let parts = material.question.iter();
    let attachments = parts.flat_map(|part| {
        let quoted = part.quotes.iter().flat_map(|quoted| &quoted.attachments);
        quoted.chain(&part.attachments)
    });
    material.pictures.of(attachments)
}

fn inbound_view(part: &Inbound, material: &Material<'_>, zone: Tz) -> MessageView {
    let pictures = material.pictures;
    let view = MessageView {
        chat_title: part.place.title.clone(),
        // A part of a conversation outside of Telegram has a number that says nothing.
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

/// A question without what a private chat says of it anyway: small models repeat what they read.
fn slim(mut view: MessageView, part: &Inbound, now: DateTime<Utc>) -> MessageView {
    view.chat_type = "";
    if view.chat_id.is_some_and(|chat| view.user_id == chat.to_string()) {
        view.user_id.clear();
    }
    if part.forwarded_from.is_none() && now - part.sent_at < TimeDelta::minutes(2) {
        view.sent.clear();
    }
    view
}

/// How a stored message is shown: the same in every later prompt, so that the provider's cache hits. It says nothing that the
/// question says of the chat.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored<'a> {
    /// The chat and topic.
    pub(crate) place: &'a Place,
    /// The zone of the chat.
    pub(crate) zone: Tz,
    /// Pictures of messages.
    pub(crate) pictures: &'a Pictures,
}

impl Stored<'_> {
    /// The item of a message of a person.
    pub(super) fn render(&self, prompts: &Prompts, message: &Message) -> Result<Item, String> {
        let text = prompts.message(&self.view(message))?;
        Ok(Item::User { text, images: self.pictures.of(&message.attachments) })
    }

    fn view(&self, message: &Message) -> MessageView {
        let (place, pictures) = (self.place, self.pictures);
        let unknown = Speaker {
            user: figaro_base::ids::UserId::telegram(0),
            name: "someone".to_owned(),
            username: None,
        };
        let speaker = message.speaker.as_ref().unwrap_or(&unknown);
        let id = message.telegram.first().copied();
        let mut view = MessageView {
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
) -> MessageView {
    MessageView {
        chat_id: Some(place.chat.0),
        chat_type: place.kind.word(),
        from: speaker.name.clone(),
        username: speaker.username.clone(),
        user_id: user_words(speaker),
        message_id: message.map(|message| message.0),
        sent: sent.with_timezone(&zone).format("%Y-%m-%d %H:%M").to_string(),
        group: place.is_group(),
        ..MessageView::default()
    }
}

fn quote_view(quoted: &Quoted, pictures: &Pictures) -> QuoteView {
    QuoteView {
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

fn background_view(message: &Inbound) -> BackgroundView {
    let mut attachments = Pictures::default().views(&message.attachments);
    for attachment in &mut attachments {
        attachment.name = attachment.name.as_ref().map(|name| one_line(name, MAX_BACKGROUND_CHARS));
    }
    BackgroundView {
        from: message.speaker.name.clone(),
        username: message.speaker.username.clone(),
        user_id: user_words(&message.speaker),
        forwarded_from: message.forwarded_from.clone(),
        text: one_line(&message.text, MAX_BACKGROUND_CHARS),
        attachments,
    }
}

/// A line a list: its items, or, when it is long or the room is used up, its size and the items that bear on the question.
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
