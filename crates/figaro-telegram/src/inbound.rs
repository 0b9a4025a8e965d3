//! Converts a message view to a domain message: author, place, content and addressee. Pure.

use chrono::{DateTime, Utc};

use super::content::{self, RichText};
use super::views::{ChatView, EntityView, MessageView, OriginView, UserView};
use figaro_base::ids::{BotId, ChatId, MessageId, TopicId, UpdateId, UserId};
use figaro_base::text::utf16_len;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::message::{Attachment, Inbound, Join, Quoted, Span, Speaker};
use figaro_domain::origin::Origin;

/// Length from which a text may be the first part of one that the client split, in UTF-16 units; the limit is 4096.
const MAYBE_SPLIT_UNITS: usize = 4000;

/// Identity of the bot, as messages refer to it.
#[derive(Debug, Clone)]
pub struct Me {
    /// User id of the bot's account.
    pub id: BotId,
    /// First name of the bot's account.
    pub name: String,
    /// Username of the bot, without `@`.
    pub username: String,
    /// `true` if Telegram's privacy mode is off: the bot gets all messages of its groups.
    pub reads_all: bool,
    /// `true` if people can ask the bot from other chats: its inline mode and its guest mode are on.
    pub answers_elsewhere: bool,
    /// `true` if people can connect the bot to their own accounts: its Business Mode is on.
    pub connects_accounts: bool,
}

/// A command as it was typed, such as `/config@bot timezone Europe/Riga`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandLine {
    /// Name in lower case, without the slash.
    pub(crate) name: String,
    /// Text after the name, trimmed; may be empty.
    pub(crate) argument: String,
    pub(crate) target: CommandTarget,
    /// Author of the message that the command replies to; `None` for a bot's.
    pub(crate) replied: Option<Speaker>,
}

/// Bot that a command names after `@`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandTarget {
    Nobody,
    Me,
    Another,
}

/// Converts a message of a person; `None` for a bot's message, an automatic forward or a service note of Telegram.
#[must_use]
pub(crate) fn read(update: UpdateId, view: &MessageView, me: &Me) -> Option<Inbound> {
    by(update, view, me, speaker(view)?)
}

/// Converts a message of another bot, which has no person's rights and from which no facts are learned; `None` for
/// any other message.
#[must_use]
pub(crate) fn read_bot(update: UpdateId, view: &MessageView, me: &Me) -> Option<Inbound> {
    let is_own_name = view.sender_chat.is_none() && !view.is_automatic_forward && view.via_bot.is_none();
    let bot = view.from.as_ref().filter(|user| is_own_name && user.is_bot && user.id != me.id.0)?;
    let part = by(update, view, me, speaker_of(bot))?;
    Some(Inbound { borrowed: true, learns: false, ..part })
}

/// Converts a message by this speaker; `None` for a message without content.
fn by(update: UpdateId, view: &MessageView, me: &Me, speaker: Speaker) -> Option<Inbound> {
    let RichText { text, entities, .. } = words(view);
    let attachments = attachments(view);
    if text.is_empty() && attachments.is_empty() {
        return None;
    }
    Some(Inbound {
        task: None,
        program: None,
        about: None,
        borrowed: false,
        // A text by an inline bot is sent in the name of the person who chose it, and a checklist has several
        // authors.
        learns: view.via_bot.is_none() && !view.content.contains_key("checklist"),
        foreign: entities.iter().filter(|entity| is_foreign(entity)).map(span).collect(),
        origin: Origin::telegram(update, MessageId(view.message_id)),
        place: place(view),
        speaker,
        language: view.from.as_ref().and_then(|user| user.language_code.clone()),
        client: view.from.as_ref().and_then(|user| user.language_code.clone()),
        sent_at: DateTime::<Utc>::from_timestamp(view.date, 0).unwrap_or_default(),
        mentioned: mentions(&text, &entities, me),
        text,
        attachments,
        quotes: quoted(view).map(Box::new),
        reply_to_bot: replied(view).and_then(|r| r.from.as_ref()).is_some_and(|user| user.id == me.id.0),
        joins: joins(view),
        forwarded_from: view.forward_origin.as_ref().map(origin_name),
        from_person: view.forward_origin.as_ref().is_some_and(is_person),
    })
}

/// Returns `true` for an entity that marks text by others, such as a quote.
fn is_foreign(entity: &EntityView) -> bool {
    matches!(entity.kind.as_str(), "blockquote" | "expandable_blockquote" | "pre" | "code")
}

const fn span(entity: &EntityView) -> Span {
    Span { offset: entity.offset, length: entity.length }
}

/// Returns the command at the start of a message, for whichever bot; this bot's name may come before it.
#[must_use]
pub(crate) fn command(view: &MessageView, me: &Me) -> Option<CommandLine> {
    // Forwarded text by others is not a command.
    if view.forward_origin.is_some() || view.via_bot.is_some() {
        return None;
    }
    let RichText { text, entities, .. } = words(view);
    let head = entities.iter().find(|entity| entity.kind == "bot_command")?;
    let before = units(&text, 0, head.offset)?;
    let is_named =
        before.trim().strip_prefix('@').is_some_and(|name| name.eq_ignore_ascii_case(&me.username));
    if head.offset != 0 && !is_named {
        return None;
    }
    let written = units(&text, head.offset, head.length)?;
    let written = written.strip_prefix('/')?;
    let (name, target) = match written.split_once('@') {
        None if is_named => (written, CommandTarget::Me),
        None => (written, CommandTarget::Nobody),
        Some((name, bot)) if bot.eq_ignore_ascii_case(&me.username) => (name, CommandTarget::Me),
        Some((name, _)) => (name, CommandTarget::Another),
    };
    let argument = text.get(before.len() + 1 + written.len()..).unwrap_or_default().trim().to_owned();
    let replied = replied(view).and_then(speaker);
    Some(CommandLine { name: name.to_lowercase(), argument, target, replied })
}

/// Returns the chat and the topic of a message.
#[must_use]
pub(crate) fn place(view: &MessageView) -> Place {
    let topic = view.message_thread_id.filter(|_| view.is_topic_message);
    let place = place_of_chat(&view.chat);
    Place { topic: topic.map(TopicId), ..place }
}

/// Returns the place of a chat, without a topic.
#[must_use]
pub(crate) fn place_of_chat(chat: &ChatView) -> Place {
    let kind = match chat.kind.as_str() {
        "private" => ChatKind::Private,
        "channel" => ChatKind::Channel,
        _ => ChatKind::Group,
    };
    Place { chat: ChatId(chat.id), kind, title: chat.title.clone(), topic: None }
}

/// Converts a user to a speaker.
#[must_use]
pub(crate) fn speaker_of(user: &UserView) -> Speaker {
    let last = user.last_name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    Speaker {
        user: UserId::telegram(user.id),
        name: format!("{}{last}", user.first_name),
        username: user.username.clone(),
    }
}

/// Returns the speaker of a message. A channel or an anonymous admin speaks as a chat, and Telegram then names a bot
/// as the sender.
fn speaker(view: &MessageView) -> Option<Speaker> {
    if view.is_automatic_forward {
        return None;
    }
    if let Some(chat) = &view.sender_chat {
        let name = chat.title.clone().or_else(|| chat.username.clone()).unwrap_or_default();
        return Some(Speaker { user: UserId::telegram(chat.id), name, username: chat.username.clone() });
    }
    view.from.as_ref().filter(|user| !user.is_bot).map(speaker_of)
}

fn words(view: &MessageView) -> RichText {
    let typed = |text: &str, entities: &[EntityView]| RichText {
        text: text.to_owned(),
        entities: entities.to_vec(),
        ..RichText::default()
    };
    match (&view.text, &view.caption) {
        (Some(text), _) => typed(text, &view.entities),
        (None, Some(caption)) => typed(caption, &view.caption_entities),
        (None, None) => content::words(&view.content).unwrap_or_default(),
    }
}

fn attachments(view: &MessageView) -> Vec<Attachment> {
    content::attachments(&view.content, view.text.is_some())
}

fn mentions(text: &str, entities: &[EntityView], me: &Me) -> bool {
    entities.iter().any(|entity| match entity.kind.as_str() {
        "mention" => units(text, entity.offset, entity.length)
            .and_then(|name| name.strip_prefix('@'))
            .or(entity.username.as_deref())
            .is_some_and(|name| name.eq_ignore_ascii_case(&me.username)),
        "text_mention" => entity.user.as_ref().is_some_and(|user| user.id == me.id.0),
        "bot_command" => units(text, entity.offset, entity.length)
            .and_then(|command| command.split_once('@'))
            .is_some_and(|(_, target)| target.eq_ignore_ascii_case(&me.username)),
        _ => false,
    })
}

/// Returns the message that this one replies to. In a forum, every message without a reply of its own refers to the
/// first message of the topic, which does not count.
fn replied(view: &MessageView) -> Option<&MessageView> {
    let reply = view.reply_to_message.as_deref()?;
    let is_topic_root = view.is_topic_message && Some(reply.message_id) == view.message_thread_id;
    (!is_topic_root).then_some(reply)
}

/// Returns a message as one that another replies to.
pub(crate) fn quoting(reply: &MessageView) -> Quoted {
    let author = reply.sender_chat.as_ref().and_then(|chat| chat.title.clone());
    Quoted {
        message: Some(MessageId(reply.message_id)),
        author: author.or_else(|| reply.from.as_ref().map(|user| speaker_of(user).name)),
        text: words(reply).text,
        excerpt: None,
        attachments: attachments(reply),
        from_person: is_from_person(reply),
        writer: writer(reply),
        task: None,
    }
}

fn quoted(view: &MessageView) -> Option<Quoted> {
    let excerpt = view.quote.as_ref().map(|quote| quote.text.clone());
    if let Some(reply) = replied(view) {
        let excerpt = excerpt.or_else(|| content::chosen(&view.content, &reply.content));
        return Some(Quoted { excerpt, ..quoting(reply) });
    }
    let elsewhere = |author, text, attachments, from_person| Quoted {
        message: None,
        author,
        text,
        excerpt: excerpt.clone(),
        attachments,
        from_person,
        writer: None,
        task: None,
    };
    if let Some(external) = &view.external_reply {
        let RichText { text, .. } = content::words(&external.content).unwrap_or_default();
        let attachments = content::attachments(&external.content, false);
        let author = Some(origin_name(&external.origin));
        return Some(elsewhere(author, text, attachments, is_person(&external.origin)));
    }
    let (author, story) = content::story(&view.content)?;
    Some(elsewhere(author, String::new(), vec![story], false))
}

/// Returns the account or the chat that a message speaks for.
#[must_use]
pub(crate) fn writer(view: &MessageView) -> Option<UserId> {
    let chat = view.sender_chat.as_ref().map(|chat| chat.id);
    chat.or_else(|| view.from.as_ref().map(|user| user.id)).map(UserId::telegram)
}

/// Returns `true` if a message is not by a bot. In a channel that is unknown; elsewhere an anonymous admin's message
/// names a bot besides the chat.
fn is_from_person(view: &MessageView) -> bool {
    match &view.sender_chat {
        Some(_) => view.chat.kind != "channel",
        None => view.from.as_ref().is_some_and(|user| !user.is_bot),
    }
}

/// Returns `true` if the origin is certainly not a bot. A hidden account may be a bot.
fn is_person(origin: &OriginView) -> bool {
    let is_chat = origin.chat.is_some() || origin.sender_chat.is_some();
    is_chat || origin.sender_user.as_ref().is_some_and(|user| !user.is_bot)
}

fn origin_name(origin: &OriginView) -> String {
    let user = origin.sender_user.as_ref().map(|user| speaker_of(user).name);
    let chat = || origin.chat.as_ref().or(origin.sender_chat.as_ref()).and_then(|chat| chat.title.clone());
    user.or_else(|| origin.sender_user_name.clone()).or_else(chat).unwrap_or_else(|| "someone".to_owned())
}

fn joins(view: &MessageView) -> Option<Join> {
    if let Some(album) = &view.media_group_id {
        return Some(Join::Album(album.clone()));
    }
    if view.forward_origin.is_some() {
        return Some(Join::Forward);
    }
    let text = view.text.as_deref().unwrap_or_default();
    (utf16_len(text) >= MAYBE_SPLIT_UNITS).then_some(Join::LongPaste)
}

/// Returns a part of a text by UTF-16 units; `None` if it is out of range.
fn units(text: &str, offset: usize, length: usize) -> Option<&str> {
    let mut at = 0;
    let (mut start, mut end) = (None, None);
    for (byte, c) in text.char_indices().chain([(text.len(), '\0')]) {
        if at == offset {
            start = Some(byte);
        }
        if at == offset + length {
            end = Some(byte);
            break;
        }
        at += c.len_utf16();
    }
    text.get(start?..end?)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use figaro_base::ids::SessionId;
    use figaro_domain::conversation::Message;
    use figaro_domain::message::AttachmentKind;

    fn me() -> Me {
        Me {
            id: BotId(9),
            name: "Figaro".into(),
            username: "Figaro_Bot".into(),
            reads_all: false,
            answers_elsewhere: true,
            connects_accounts: true,
        }
    }

    fn view(extra: Value) -> MessageView {
        let mut message = json!({
            "message_id": 7, "date": 1_700_000_000,
            "chat": {"id": -5, "type": "supergroup", "title": "Lunch"},
            "from": {"id": 11, "is_bot": false, "first_name": "Ann", "last_name": "Lee", "username": "ann"},
        });
        message.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        serde_json::from_value(message).unwrap()
    }

    fn read_one(extra: Value) -> Option<Inbound> {
        read(UpdateId(1), &view(extra), &me())
    }

    #[test]
    fn a_message_of_a_newer_api_is_still_a_message() {
        let inbound = read_one(json!({
            "text": "at 5", "entities": [{"type": "date_time", "offset": 0, "length": 4, "unix_time": 5}],
            "reply_markup": {"inline_keyboard": [[{"text": "x", "disabled": true}]]}, "future": [{"a": 1}],
            "sticker": "not an object any more", "quote": 7,
        }))
        .unwrap();
        assert_eq!(inbound.text, "at 5");
        assert!(inbound.attachments.is_empty());
    }

    #[test]
    fn a_sticker_is_read_as_its_emoji() {
        let inbound = read_one(json!({"sticker": {"file_id": "s", "emoji": "😂"}})).unwrap();
        assert_eq!((inbound.text.as_str(), inbound.attachments[0].kind), ("😂", AttachmentKind::Sticker));
        let without = read_one(json!({"sticker": {"file_id": "s"}})).unwrap();
        assert_eq!((without.text.as_str(), without.attachments[0].kind), ("", AttachmentKind::Sticker));
        let reply = json!({"message_id": 3, "chat": {"id": -5}, "from": {"id": 12, "first_name": "B"},
            "sticker": {"file_id": "s", "emoji": "🎉"}});
        let inbound = read_one(json!({"text": "why?", "reply_to_message": reply})).unwrap();
        assert_eq!(inbound.quotes.unwrap().text, "🎉");
    }

    #[test]
    fn who_is_meant() {
        let mention = |text: &str, offset: usize, length: usize| json!({"text": text, "entities": [{"type": "mention", "offset": offset, "length": length}]});
        let reply = |id: i64| {
            json!({"text": "x", "reply_to_message": {"message_id": 3, "chat": {"id": -5},
            "from": {"id": id, "first_name": "B"}, "text": "earlier"}})
        };
        let cases = [
            (json!({"text": "hello"}), false),
            (mention("hi @figaro_bot", 3, 11), true),
            (mention("😀 @figaro_bot", 3, 11), true),
            (mention("hi @figaro_bots", 3, 12), false),
            (
                json!({"text": "you", "entities": [{"type": "text_mention", "offset": 0, "length": 3, "user": {"id": 9}}]}),
                true,
            ),
            (
                json!({"caption": "@Figaro_Bot", "photo": [{"file_id": "p"}],
                "caption_entities": [{"type": "mention", "offset": 0, "length": 11}]}),
                true,
            ),
            (reply(9), true),
            (reply(12), false),
        ];
        for (extra, wanted) in cases {
            assert_eq!(read_one(extra.clone()).unwrap().is_addressed(), wanted, "{extra}");
        }
    }

    #[test]
    fn in_a_forum_the_topics_first_message_is_no_reply() {
        let topic = |reply: i64| {
            read_one(json!({"text": "x", "is_topic_message": true, "message_thread_id": 4, "reply_to_message":
                {"message_id": reply, "chat": {"id": -5}, "from": {"id": 9, "first_name": "F"}, "text": "t"}}))
            .unwrap()
        };
        let plain = topic(4);
        assert_eq!((plain.place.topic, plain.reply_to_bot, plain.quotes), (Some(TopicId(4)), false, None));
        assert!(topic(6).reply_to_bot);
    }

    #[test]
    fn nobody_speaks_for_bots_but_channels_and_anonymous_admins_speak_as_chats() {
        let bot = json!({"text": "x", "from": {"id": 8, "is_bot": true, "first_name": "B"}});
        assert_eq!(read_one(bot), None);
        let anonymous =
            read_one(json!({"text": "x", "from": {"id": 1_087_968_824, "is_bot": true, "first_name": "G"},
            "sender_chat": {"id": -5, "type": "supergroup", "title": "Lunch"}}));
        assert_eq!(anonymous.unwrap().speaker.name, "Lunch");
        assert_eq!(
            read_one(
                json!({"text": "x", "is_automatic_forward": true, "sender_chat": {"id": -6, "title": "C"}})
            ),
            None
        );
        assert!(read_one(json!({"new_chat_members": [{"id": 5, "first_name": "N"}]})).unwrap().is_event());
    }

    #[test]
    fn a_checklist_addresses_as_text_does() {
        let mention = |before: usize| json!([{"type": "mention", "offset": before, "length": 11}]);
        let list = |list: Value| read_one(json!({"checklist": list})).unwrap();
        let title = list(json!({"title": "😀 @figaro_bot", "title_entities": mention(3), "tasks": []}));
        assert_eq!((title.text.as_str(), title.mentioned), ("Checklist: 😀 @figaro_bot", true));
        let task = json!({"id": 1, "text": "ask @figaro_bot", "text_entities": mention(4)});
        assert!(list(json!({"title": "To do", "tasks": [{"id": 2, "text": "é"}, task]})).mentioned);
        assert!(!list(json!({"title": "@figaro_bot", "tasks": []})).mentioned, "Telegram marked nothing");
    }

    #[test]
    fn a_rich_message_is_read_and_addresses_as_text_does() {
        let rich = |text: Value| json!({"rich_message": {"blocks": [{"type": "paragraph", "text": text}]}});
        let inbound = read_one(rich(
            json!(["hi ", {"type": "mention", "text": "@figaro_bot", "username": "figaro_bot"}]),
        ));
        let inbound = inbound.unwrap();
        assert_eq!((inbound.text.as_str(), inbound.mentioned), ("hi @figaro_bot", true));
        assert!(
            read_one(rich(json!({"type": "mention", "text": "you", "username": "FIGARO_BOT"})))
                .unwrap()
                .mentioned
        );
        assert!(
            read_one(rich(json!({"type": "text_mention", "text": "you", "user": {"id": 9}})))
                .unwrap()
                .mentioned
        );
        assert!(
            !read_one(rich(json!({"type": "mention", "text": "@other", "username": "other"})))
                .unwrap()
                .mentioned
        );
        let command = view(rich(
            json!([{"type": "bot_command", "text": "/help@figaro_bot", "bot_command": "help"}, " me"]),
        ));
        let command = command_of(&command).unwrap();
        assert_eq!(
            (command.name.as_str(), command.argument.as_str(), command.target),
            ("help", "me", CommandTarget::Me)
        );
        assert_eq!(read_one(json!({"rich_message": {"blocks": []}})), None);
    }

    fn command_of(view: &MessageView) -> Option<CommandLine> {
        command(view, &me())
    }

    #[test]
    fn what_is_replied_to_is_read_whatever_its_kind() {
        let blocks = json!([{"type": "paragraph", "text": "Buns on Friday"}]);
        let list = json!({"title": "Fair", "tasks": [{"id": 4, "text": "Tent"}]});
        let poll = json!({"question": "Lunch?", "options": [{"text": "Rye", "persistent_id": "b"}]});
        let reply = |extra: Value| {
            let mut reply =
                json!({"message_id": 3, "chat": {"id": -5}, "from": {"id": 12, "first_name": "Bob"}});
            reply.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            reply
        };
        let elsewhere = json!({"origin": {"sender_user": {"id": 12, "first_name": "Bob"}}, "chat": {"id": -9, "type": "group", "title": "G"}, "dice": {"emoji": "🎲", "value": 4}});
        let story = json!({"chat": {"id": 12, "type": "private", "first_name": "Bob"}, "id": 9});
        let cases = [
            (
                json!({"reply_to_message": reply(json!({"rich_message": {"blocks": blocks}}))}),
                "Buns on Friday",
                None,
                "",
            ),
            (
                json!({"reply_to_message": reply(json!({"checklist": list})), "reply_to_checklist_task_id": 4}),
                "Checklist: Fair\n[ ] Tent",
                Some("Tent"),
                "",
            ),
            (
                json!({"reply_to_message": reply(json!({"poll": poll})), "reply_to_poll_option_id": "b"}),
                "",
                Some("Rye"),
                "poll Lunch? (Rye)",
            ),
            (
                json!({"reply_to_message": reply(json!({"new_chat_title": "Lane"}))}),
                "",
                None,
                "new chat title Lane",
            ),
            (json!({"external_reply": elsewhere}), "", None, "dice 🎲, value 4"),
            (json!({"reply_to_story": story}), "", None, "story "),
        ];
        for (mut extra, text, excerpt, attached) in cases {
            extra["text"] = json!("what is that?");
            let inbound = read_one(extra.clone()).unwrap();
            assert!(inbound.attachments.is_empty() && !inbound.is_event());
            let quotes = inbound.quotes.unwrap();
            assert_eq!(quotes.author.as_deref(), Some("Bob"), "{extra}");
            assert_eq!((quotes.text.as_str(), quotes.excerpt.as_deref()), (text, excerpt), "{extra}");
            let given = quotes
                .attachments
                .iter()
                .map(|one| format!("{} {}", one.word(), one.label.as_deref().unwrap_or_default()));
            assert_eq!(given.collect::<String>(), attached, "{extra}");
        }
    }

    #[test]
    fn commands_are_forgiving_but_not_stolen() {
        let of = |text: &str, length: usize| {
            let entities = json!([{"type": "bot_command", "offset": 0, "length": length}]);
            command(&view(json!({"text": text, "entities": entities})), &me())
        };
        let some = |name: &str, argument: &str, target: CommandTarget| {
            let argument = argument.to_owned();
            Some(CommandLine { name: name.to_owned(), argument, target, replied: None })
        };
        assert_eq!(of("/Help", 5), some("help", "", CommandTarget::Nobody));
        assert_eq!(
            of("/config@FIGARO_bot  timezone Europe/Riga ", 18),
            some("config", "timezone Europe/Riga", CommandTarget::Me)
        );
        assert_eq!(of("/help@other_bot", 15), some("help", "", CommandTarget::Another));
        let behind = |text: &str, offset: usize| {
            let entities = json!([{"type": "bot_command", "offset": offset, "length": 7}]);
            command(&view(json!({"text": text, "entities": entities})), &me())
        };
        let named = some("config", "language de", CommandTarget::Me);
        assert_eq!(behind("@Figaro_bot  /config language de", 13), named);
        assert_eq!(behind("@other_bot /config language de", 11), None);
        assert_eq!(behind("I read /config somewhere", 7), None);
    }

    #[test]
    fn only_words_that_no_bot_wrote_are_a_persons() {
        let reply = |sender: Value| {
            let mut reply =
                json!({"message_id": 3, "chat": {"id": -5, "type": "supergroup"}, "text": "replied"});
            reply.as_object_mut().unwrap().extend(sender.as_object().unwrap().clone());
            json!({"text": "own", "quote": {"text": "quoted"}, "reply_to_message": reply})
        };
        let passed_on = |origin: Value| json!({"text": "own", "forward_origin": origin});
        let user = |is_bot: bool| json!({"id": 12, "is_bot": is_bot, "first_name": "B"});
        let other = |origin: Value| json!({"text": "own", "quote": {"text": "quoted"}, "external_reply": {"origin": origin}});
        let all = ["own", "replied", "quoted"].as_slice();
        let cases = [
            (json!({"text": "own"}), ["own"].as_slice()),
            (reply(json!({"from": user(false)})), all),
            (reply(json!({"from": user(true)})), &["own"]),
            (reply(json!({"from": user(true), "sender_chat": {"id": -5}})), all),
            (reply(json!({"sender_chat": {"id": -6}, "chat": {"id": -6, "type": "channel"}})), &["own"]),
            (reply(json!({})), &["own"]),
            (passed_on(json!({"sender_user": user(false)})), &["own"]),
            (passed_on(json!({"chat": {"id": -6, "type": "channel"}})), &["own"]),
            (passed_on(json!({"sender_user": user(true)})), &[]),
            (passed_on(json!({"sender_user_name": "B"})), &[]),
            (other(json!({"sender_user": user(false)})), &["own", "", "quoted"]),
            (other(json!({"sender_user": user(true)})), &["own"]),
        ];
        for (extra, wanted) in cases {
            let inbound = read_one(extra.clone()).unwrap();
            assert_eq!(inbound.words_of_people().collect::<Vec<_>>(), wanted, "{extra}");
            let stored = Message::from_inbound(SessionId::new(), &inbound);
            assert_eq!(stored.words_of_people().collect::<Vec<_>>(), wanted, "stored: {extra}");
        }
    }

    #[test]
    fn a_quote_carries_who_and_what() {
        let inbound = read_one(json!({"text": "this?", "quote": {"text": "at noon"}, "reply_to_message":
            {"message_id": 3, "chat": {"id": -5}, "from": {"id": 12, "first_name": "Bob"}, "caption": "Pizza at noon",
             "photo": [{"file_id": "small"}, {"file_id": "large"}]}}));
        let quotes = inbound.unwrap().quotes.unwrap();
        assert_eq!((quotes.author.as_deref(), quotes.text.as_str()), (Some("Bob"), "Pizza at noon"));
        assert_eq!(quotes.excerpt.as_deref(), Some("at noon"));
        assert_eq!(quotes.attachments[0].file_id.as_deref(), Some("large"));
    }
}
