//! Whatever people write, a prompt has the tags that Figaro wrote and no other, and each in its place.

use std::sync::Arc;

use chrono::DateTime;
use proptest::prelude::*;

use super::kept::tests::saying;
use super::*;
use figaro_base::ids::{ChatId, MessageId, NoteId, SessionId, UpdateId, UserId};
use figaro_domain::chat::{ChatConfig, ChatKind, Place};
use figaro_domain::conversation::{Message, MessageRole, ToolMeta};
use figaro_domain::message::{Attachment, AttachmentKind, Inbound, Quoted, Speaker};
use figaro_domain::note::Note;
use figaro_domain::origin::Origin;
use figaro_domain::persona::PersonaWords;
use figaro_domain::tool::SideEffects;
use figaro_memory::Recalled;
use figaro_prompts::{DocumentView, PassageView, PersonView, Prompts};
use figaro_provider::Item;

/// Brackets a tag may begin or end with, as far as a model can tell.
const BRACKETS: [&str; 14] = ["<", ">", "</", "＜", "＞", "﹤", "‹", "〈", "⟨", "❮", "&lt;", "ᐸ", "≪", "˱"];
/// What may stand between a bracket and a name without being seen, or break a line.
const BETWEEN: [&str; 14] = [
    "", " ", "\n", "\r", "\t", "/", "//", "\u{a0}", "\u{200b}", "\u{feff}", "\u{202e}", "\u{2028}", "\u{85}",
    "\u{3164}",
];
/// What Figaro's own tags and marks are made of.
const WORDS: [&str; 16] = [
    "message",
    "/message",
    "MESSAGE",
    "said",
    "background",
    "notes",
    "now",
    "replies_to",
    "quoted_part",
    "attached",
    "scheduled_task",
    "chat_settings",
    "[photo]",
    "from=\"Ann\" username=\"ann\"",
    "user_id=\"11\"",
    "/>",
];

/// Words that somebody put together to pass for Figaro's. None are empty: a part that is empty leaves out its tag.
fn hostile() -> impl Strategy<Value = String> {
    let piece =
        (prop::sample::select(&BRACKETS), prop::sample::select(&BETWEEN), prop::sample::select(&WORDS));
    let forged = piece.prop_map(|(bracket, between, word)| format!("{bracket}{between}{word}{between}>"));
    let part = prop_oneof![3 => forged, 1 => "\\PC{0,6}", 1 => prop::sample::select(&BETWEEN).prop_map(str::to_owned)];
    prop::collection::vec(part, 0..5).prop_map(|parts| format!("x{}", parts.concat()))
}

/// Takes the words for the fields of a prompt, in turn.
struct Fields<'a>(std::iter::Cycle<std::slice::Iter<'a, String>>);

impl Fields<'_> {
    fn next(&mut self) -> String {
        self.0.next().cloned().unwrap_or_default()
    }

    fn document(&mut self) -> DocumentView {
        DocumentView {
            url: String::new(),
            id: "d".to_owned(),
            name: self.next(),
            size: "2 pages".to_owned(),
            whole: false,
            passages: vec![PassageView { place: self.next(), text: self.next() }],
        }
    }

    fn speaker(&mut self, user: i64) -> Speaker {
        Speaker { user: UserId::telegram(user), name: self.next(), username: Some(self.next()) }
    }

    fn attachments(&mut self) -> Vec<Attachment> {
        let kinds = [
            AttachmentKind::Document,
            AttachmentKind::Poll,
            AttachmentKind::Location,
            AttachmentKind::Contact,
        ];
        let labelled = kinds.map(|kind| Attachment { label: Some(self.next()), ..Attachment::new(kind) });
        let photo = Attachment { file_id: Some("p".to_owned()), ..Attachment::new(AttachmentKind::Photo) };
        labelled.into_iter().chain([photo]).collect()
    }

    fn quoted(&mut self) -> Option<Quoted> {
        Some(Quoted {
            message: Some(MessageId(3)),
            author: Some(self.next()),
            text: self.next(),
            excerpt: Some(self.next()),
            attachments: self.attachments(),
            from_person: true,
            writer: None,
            task: None,
        })
    }

    fn inbound(&mut self, message: i64, place: &Place) -> Inbound {
        Inbound {
            origin: Origin::telegram(UpdateId(message), MessageId(message)),
            place: place.clone(),
            speaker: self.speaker(12),
            language: None,
            client: None,
            sent_at: DateTime::UNIX_EPOCH,
            text: self.next(),
            attachments: self.attachments(),
            quotes: self.quoted().map(Box::new),
            mentioned: true,
            reply_to_bot: false,
            joins: None,
            forwarded_from: Some(self.next()),
            from_person: true,
            task: None,
            program: None,
            about: None,
            borrowed: false,
            learns: false,
            foreign: Vec::new(),
        }
    }

    fn note(&mut self) -> Note {
        Note {
            id: NoteId::new(),
            chat: ChatId(-5),
            key: self.next(),
            content: self.next(),
            author: None,
            turn: None,
            created_at: DateTime::UNIX_EPOCH,
        }
    }

    fn result(&mut self) -> Message {
        let meta = ToolMeta {
            tool_call_id: "c".to_owned(),
            tool_name: "t".to_owned(),
            tool_arguments: "{}".to_owned(),
            side_effects: SideEffects::default(),
        };
        let text = serde_json::json!({"success": true, "result": {self.next(): self.next()}}).to_string();
        Message {
            tool: Some(Box::new(meta)),
            ..Message::new(SessionId::new(), MessageRole::Tool, text, DateTime::UNIX_EPOCH)
        }
    }
}

/// The texts that a model gets when people wrote these words in every field there is.
fn prompt(words: &[String]) -> Vec<String> {
    let mut fields = Fields(words.iter().cycle());
    let place = Place { chat: ChatId(-5), kind: ChatKind::Group, title: Some(fields.next()), topic: None };
    let bot = BotName { name: fields.next(), username: fields.next(), user: UserId::telegram(1) };
    let config = ChatConfig {
        custom_prompt: Some(fields.next()),
        language: Some(fields.next()),
        personality: Some(fields.next()),
        ..ChatConfig::default()
    };
    let persona = PersonaWords::Own(fields.next());
    let asked = Message::from_inbound(SessionId::new(), &fields.inbound(5, &place));
    let history = [asked, fields.result()].map(Arc::new);
    let background = [fields.inbound(6, &place), fields.inbound(7, &place)];
    let question = [fields.inbound(8, &place), fields.inbound(9, &place)];
    let (notes, done) = ([fields.note()], [fields.result().into()]);
    let pictures = Pictures([("p".to_owned(), Err("larger than 5 MB".to_owned()))].into());
    let person = PersonView {
        called: Some(fields.next()),
        language: Some(fields.next()),
        time_zone: Some("Europe/Riga".to_owned()),
        local_time: Some("Fri 07:31".to_owned()),
        owner: true,
    };
    let documents = [fields.document()];
    let material = Material {
        bot: &bot,
        persona: Some(&persona),
        language: config.language.as_deref(),
        agent: None,
        place: &place,
        config: &config,
        default_zone: figaro_base::tz::Tz::UTC,
        person: Some(&person),
        records: &[],
        documents: &documents,
        notes: &notes,
        background: &background,
        question: &question,
        pictures: &pictures,
        done: &done,
        now: DateTime::UNIX_EPOCH,
    };
    let prompts = Prompts::load(None).unwrap();
    let stored = RenderContext { place: &place, zone: figaro_base::tz::Tz::UTC, pictures: &pictures };
    let recent = recent(&prompts, &history, stored, TokenBudget::of(100_000), DateTime::UNIX_EPOCH).unwrap();
    let kept = saying(|| fields.next());
    let showing = Showing { now: DateTime::UNIX_EPOCH, zone: figaro_base::tz::Tz::UTC, tokens: 100_000 };
    let front = kept.choose(DateTime::UNIX_EPOCH, 100_000);
    let kept = kept.parts(&prompts, &front, showing).unwrap();
    let older = Recalled { message: history[0].clone(), text: fields.next(), is_part: true, score: 1.0 };
    let older = Older::within(&prompts, vec![older], figaro_base::tz::Tz::UTC, 100_000).unwrap();
    let Window { instructions, items, done, .. } =
        build(&prompts, &material, Context { kept, recent, older, has_more: true }).unwrap();
    let texts = items.into_iter().chain(done).filter_map(|item| match item {
        Item::User { text, .. } => Some(text),
        Item::ToolResult { output, .. } => Some(output),
        Item::Assistant { .. } => None,
    });
    std::iter::once(instructions).chain(texts).collect()
}

/// Every tag with what stands before it on its line, and the names of its attributes.
fn tags(text: &str) -> Vec<(bool, String, Vec<String>)> {
    let brackets: &[char] = &['<', '＜', '﹤', '‹', '〈', '⟨', '❮', 'ᐸ', '≪', '˱'];
    let at = text.match_indices(brackets);
    at.map(|(at, _)| {
        let begins_line = text[..at].ends_with('\n') || at == 0;
        let tag = text[at..].split_inclusive('>').next().unwrap();
        // Of the values between the quotation marks, nothing counts.
        let outside: Vec<String> = tag.split('"').step_by(2).map(str::to_owned).collect();
        let name = outside.first().cloned().unwrap_or_default();
        // An end stands behind words that may have lines.
        (begins_line || name.starts_with("</"), name, outside)
    })
    .collect()
}

#[test]
fn the_prompt_of_plain_words_has_every_tag() {
    let texts = prompt(&["x".to_owned()]);
    let all = texts.concat();
    for tag in [
        "<message ",
        "<said ",
        "<background>",
        "<kept>",
        "<pins>",
        "<memories ",
        "<summaries>",
        "<notes>",
        "<replies_to ",
        "<quoted_part>",
        "<attached ",
        "<chat_settings>",
    ] {
        assert!(all.contains(tag), "{tag} in {all}");
    }
    assert_eq!(texts.len(), 6, "rules, what is kept, a message with its result, the question with a result");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn nobody_can_add_a_tag_or_a_line_of_another(words in prop::collection::vec(hostile(), 1..24)) {
        let (plain, forged) = (prompt(&["x".to_owned()]), prompt(&words));
        prop_assert_eq!(plain.len(), forged.len());
        for (plain, forged) in plain.iter().zip(&forged) {
            prop_assert_eq!(tags(forged), tags(plain), "{}", forged);
            let invisible = |c: char| c.is_control() && c != '\n' && c != '\t' || "\u{200b}\u{feff}\u{202e}".contains(c);
            prop_assert!(!forged.contains(invisible), "{forged:?}");
            let background = |text: &str| text.split("</background>").next().map(|text| text.lines().count());
            if plain.contains("<background>") {
                prop_assert_eq!(background(forged), background(plain), "{}", forged);
            }
        }
    }
}
