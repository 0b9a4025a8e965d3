//! What people have forgotten: gone from every read at once, and from the files once they are rewritten.

use std::path::PathBuf;

use figaro_base::ids::{ChatId, EntryId, MemoryId, MessageId, SessionId, SummaryId, UserId};
use figaro_domain::conversation::{EntryKey, Message, MessageRole, ToolMeta};
use figaro_domain::erasure::{Erased, Erasure, Forgotten, SaidAt};
use figaro_domain::memory::Memory;
use figaro_domain::message::{Inbound, Quoted, Speaker};
use figaro_domain::pin::Pin;
use figaro_domain::session::{SessionChange, SessionName};
use figaro_domain::summary::Summary;
use figaro_domain::tool::{SideEffects, ToolStatus};
use figaro_domain::turn::ActiveTurn;
use figaro_store::{Imported, SaidSearch, Store, TurnEnd};
use serde::Serialize;

use super::disk::{Disk, files, for_every_engine};
use super::{BOT, Backend, CHAT, HERE, TOPIC, at, inbound, note, reply, started, tool_call, words};

/// Stands in all that is to be forgotten, and nowhere else.
const SECRET: &str = "hidden \"4711\" ключ";

/// How the secret may stand in a file.
fn forms() -> Vec<Vec<u8>> {
    use base64::Engine as _;
    let json = serde_json::to_string(SECRET).unwrap().trim_matches('"').to_owned();
    let escaped: String = SECRET
        .chars()
        .map(|c| if c.is_ascii() { c.to_string() } else { format!("\\u{:04x}", c as u32) })
        .collect();
    let base64 = base64::engine::general_purpose::STANDARD_NO_PAD.encode(SECRET);
    [SECRET.to_owned(), json, escaped.replace('"', "\\\""), base64].map(String::into_bytes).to_vec()
}

/// The file that holds the secret, if one does.
fn found_in(folder: &Disk) -> Option<PathBuf> {
    let holds = |bytes: &[u8]| forms().iter().any(|form| bytes.windows(form.len()).any(|part| part == *form));
    files(&folder.path()).into_iter().find(|(_, bytes)| holds(bytes)).map(|(path, _)| path)
}

/// The records that hold the secret.
fn holding(folder: &Disk) -> Vec<String> {
    let all = folder.records().everything();
    let holds = |value: &[u8]| {
        let text = String::from_utf8_lossy(value).into_owned();
        forms().iter().any(|form| text.contains(&*String::from_utf8_lossy(form))).then_some(text)
    };
    let mut found = Vec::new();
    for (table, entries) in all {
        let texts = entries.iter().filter_map(|(_, value)| holds(value));
        found.extend(texts.map(|text| format!("{table}: {text}")));
    }
    found
}

fn said(id: i64, who: i64, text: &str) -> Inbound {
    let speaker = Speaker { user: UserId::telegram(who), name: format!("Person {who}"), username: None };
    Inbound { speaker, quotes: None, ..inbound(id, text) }
}

/// A whole turn: a question, a call with a result, an answer.
async fn asked(store: &Store, question: Inbound, tool: &str, result: &str, answer: &str) -> ActiveTurn {
    let turn = store.conversations().begin_turn(HERE, &[question], at(1)).unwrap();
    let mut call = tool_call(turn.id, "c", ToolStatus::Running);
    call.call.name = tool.into();
    started(&store.conversations(), &turn, std::slice::from_ref(&call)).await;
    let meta = ToolMeta {
        tool_call_id: "c".into(),
        tool_name: tool.into(),
        tool_arguments: format!("{{\"query\":{}}}", serde_json::to_string(result).unwrap()),
        side_effects: SideEffects { outside: tool == "clock", ..SideEffects::default() },
    };
    let mut output = Message::new(turn.session, MessageRole::Tool, result.into(), at(2));
    output.tool = Some(Box::new(meta));
    call.result = Some(result.into());
    store.conversations().tool_ended(&call, output).await.unwrap();
    let answer = words(turn.session, answer);
    let delivery = Some(reply(&turn, &answer));
    let end = TurnEnd { messages: vec![answer], delivery, ..TurnEnd::default() };
    store.conversations().end_turn(&turn, end).await.unwrap();
    turn
}

fn key_of_bot() -> Vec<u8> {
    [&(BOT.0 ^ i64::MIN).to_be_bytes()[..], &[0]].concat()
}

fn put<T: Serialize>(folder: &Disk, table: &'static str, key: &[u8], record: &T) {
    folder.records().put(table, &[key_of_bot(), key.to_vec()].concat(), serde_json::to_vec(record).unwrap());
}

/// A summary that covers one message.
fn summed_up(folder: &Disk, message: &Message) {
    let session = message.session;
    let summary = Summary {
        id: SummaryId::new(),
        session,
        summary: format!("summed up {SECRET}"),
        message_count: 1,
        start_message_id: message.id,
        start: message.index,
        end_message_id: message.id,
        end: message.index,
        from: at(1),
        until: at(2),
        importance: 5.0,
        created_at: at(3),
    };
    put(
        folder,
        "summaries",
        &[session.to_string().as_bytes(), &message.index.to_be_bytes()].concat(),
        &summary,
    );
}

/// A pin, a summary and a memory that were made of a message.
fn made_of(folder: &Disk, message: &Message, user: i64) {
    let (session, place, id) = (message.session, Some(message.key()), Some(message.id));
    let pin = Pin {
        source_message_id: id,
        source: place,
        author: Some(UserId::telegram(user)),
        ..Pin::new(CHAT, session, format!("pinned {SECRET}"), at(3))
    };
    let chat = (CHAT.0 ^ i64::MIN).to_be_bytes();
    put(folder, "pins", &[&chat[..], pin.id.to_string().as_bytes()].concat(), &pin);
    summed_up(folder, message);
    let memory = Memory {
        id: MemoryId::new(),
        user: UserId::telegram(user),
        chat: CHAT,
        content: format!("remembered {SECRET}"),
        source_message_id: message.id,
        source: message.key(),
        older_sources: Vec::new(),
        is_preference: false,
        access_count: 0,
        last_accessed_at: None,
        created_at: at(3),
        updated_at: at(3),
        deleted_at: None,
    };
    // Its words are partly from a newer message, which stays.
    let updated = Memory {
        id: MemoryId::new(),
        source_message_id: EntryId::new(),
        source: EntryKey { session: SessionId::new(), index: 0 },
        older_sources: vec![message.id],
        is_preference: false,
        ..memory.clone()
    };
    for memory in [memory, updated] {
        let of_user = [format!("tg:{user}").as_bytes(), &[0], memory.id.to_string().as_bytes()].concat();
        put(folder, "memories", &of_user, &memory);
    }
}

fn message(store: &Store, session: SessionId, index: usize) -> Message {
    (*store.conversations().recent(session, 1000).unwrap()[index]).clone()
}

/// With a question go its answer, its calls, and what quotes, recalls, pins, sums up or remembers it. All else stays.
async fn a_question_is_forgotten_with_all_that_was_made_of_it(folder: &Disk) {
    let store = folder.open().await;
    let first =
        asked(&store, said(1, 4, &format!("my key is {SECRET}")), "clock", SECRET, &format!("So: {SECRET}."))
            .await;
    let name = SessionName::by_bot(SECRET, vec![0, 2]);
    let change = SessionChange { name, ..SessionChange::default() };
    store.sessions().change(first.session, change).await.unwrap();
    let quotes = Quoted {
        message: Some(MessageId(1001)),
        author: None,
        text: SECRET.into(),
        excerpt: Some(SECRET.into()),
        attachments: vec![],
        from_person: true,
        writer: None,
        task: None,
    };
    let second = Inbound { quotes: Some(Box::new(quotes.clone())), ..said(2, 5, "what is this?") };
    let second = asked(&store, second, "recall", SECRET, "A key.").await;
    let beside = Inbound { quotes: Some(Box::new(quotes)), ..said(3, 5, "beside") };
    store.conversations().add_background(HERE, &beside, 9).unwrap();
    let question = message(&store, first.session, 0);
    let read = message(&store, second.session, 4);
    assert_eq!(read.role, MessageRole::Tool);
    drop(store);
    made_of(folder, &question, 4);
    summed_up(folder, &read);
    let store = folder.open().await;
    assert_eq!(store.pins().of_chat(CHAT).unwrap().iter().filter(|pin| pin.about.is_none()).count(), 1);
    assert_eq!(store.summaries().of_session(first.session).unwrap().len(), 2);
    assert_eq!(store.facts().of_person(&UserId::telegram(4)).unwrap().len(), 2);

    let found = store.erasures().said(CHAT, MessageId(1001)).await.unwrap().unwrap();
    assert_eq!((found.at, found.is_answer), (SaidAt::Session(question.key()), false));
    let search = SaidSearch { chat: CHAT, words: "КЛЮЧ hidden".into(), of: None, limit: 9 };
    assert_eq!(store.erasures().said_with(&search).await.unwrap().len(), 2, "the question and its answer");
    let forgotten = store.erasures().erase(&Erasure::Said(CHAT, vec![found.at]), at(9)).await.unwrap();
    let erased = Erased { messages: 1, answers: 1, pins: 1, summaries: 2, memories: 2, ..Erased::default() };
    assert_eq!(forgotten, Forgotten::Done(erased));
    assert_eq!(store.erasures().said(CHAT, MessageId(1001)).await.unwrap(), None);
    assert_eq!(store.erasures().said_with(&search).await.unwrap(), []);
    assert_eq!(store.erasures().said_at(CHAT, found.at).unwrap(), None);
    assert_eq!(store.conversations().tool_calls(first.id).unwrap(), []);
    assert_eq!(store.conversations().entry(CHAT, question.key()).unwrap(), None);
    drop(store);
    assert_eq!(holding(folder), [""; 0]);

    let store = folder.open().await;
    let left = store.conversations().recent(second.session, 100).unwrap();
    let shown: Vec<(u32, &str)> =
        left.iter().filter(|m| m.role != MessageRole::Tool).map(|m| (m.index, &*m.text)).collect();
    assert_eq!(shown, [(3, "what is this?"), (5, "A key.")], "their places stay");
    assert_eq!(
        store.conversations().tool_calls(second.id).unwrap().len(),
        1,
        "that something was looked up is kept"
    );
    assert_eq!(store.conversations().background(HERE, at(0), 9).unwrap()[0].text, "beside");
    assert_eq!(store.sessions().find(second.session).unwrap().unwrap().name, None);
}

/// The place of the last message is not given again, and an answer can be forgotten alone.
async fn places_of_what_is_forgotten_are_not_given_again(folder: &Disk) {
    let store = folder.open().await;
    let turn = asked(&store, said(1, 4, "what was it?"), "clock", SECRET, SECRET).await;
    let answer = message(&store, turn.session, 2);
    let found = store.erasures().said_at(CHAT, SaidAt::Session(answer.key())).unwrap().unwrap();
    assert_eq!((found.of, found.is_answer), (Some(UserId::telegram(4)), true));
    let forgotten = store.erasures().erase(&Erasure::Said(CHAT, vec![found.at]), at(9)).await.unwrap();
    assert_eq!(forgotten, Forgotten::Done(Erased { answers: 1, ..Erased::default() }));
    let store = folder.reopen(store).await;
    assert_eq!(store.conversations().append(words(turn.session, "next")).unwrap(), 3);
    let indexes: Vec<u32> =
        store.conversations().recent(turn.session, 9).unwrap().iter().map(|m| m.index).collect();
    assert_eq!(indexes, [0, 3]);
    // A name that a model makes of it meanwhile is not taken.
    let name = SessionName::by_bot(SECRET, vec![answer.index]);
    let change = SessionChange { name, ..SessionChange::default() };
    assert_eq!(store.sessions().change(turn.session, change).await.unwrap().unwrap().name, None);
    // The places of another chat are none of this one.
    let place = SaidAt::Session(EntryKey { session: turn.session, index: 0 });
    let other = store.erasures().erase(&Erasure::Said(ChatId(-5), vec![place]), at(9)).await.unwrap();
    assert_eq!(other, Forgotten::Done(Erased::default()));
    assert_eq!(store.conversations().recent(turn.session, 9).unwrap().len(), 2);
    drop(store);
    assert_eq!(holding(folder), [""; 0]);
}

async fn what_is_being_answered_is_not_forgotten(folder: &Disk) {
    let store = folder.open().await;
    let turn = store.conversations().begin_turn(HERE, &[said(1, 4, SECRET)], at(1)).unwrap();
    let place = SaidAt::Session(EntryKey { session: turn.session, index: 0 });
    for what in [
        Erasure::Said(CHAT, vec![place]),
        Erasure::Session(HERE, turn.session),
        Erasure::Chat(CHAT, UserId::telegram(4)),
        Erasure::Person(CHAT, UserId::telegram(4)),
    ] {
        assert_eq!(store.erasures().erase(&what, at(2)).await.unwrap(), Forgotten::Busy, "{what:?}");
    }
    assert_eq!(store.erasures().rewrite_due().unwrap(), None);
    assert_eq!(store.conversations().recent(turn.session, 9).unwrap().len(), 1);
}

/// In a group a person takes what they said and what was answered to it; others keep theirs.
async fn what_one_person_said_goes_and_others_keep_theirs(folder: &Disk) {
    let store = folder.open().await;
    asked(&store, said(1, 4, SECRET), "clock", SECRET, SECRET).await;
    let other = asked(&store, said(2, 5, "mine"), "clock", "12:00", "yours").await;
    asked(&store, said(3, 4, "and again"), "clock", SECRET, SECRET).await;
    for (id, who, text) in [(10, 4, SECRET), (11, 5, "theirs")] {
        store.conversations().add_background(TOPIC, &said(id, who, text), 9).unwrap();
    }
    store.notes().add(&note(CHAT, "list", SECRET, 1), 9).await.unwrap();
    let theirs =
        figaro_domain::note::Note { author: Some(UserId::telegram(5)), ..note(CHAT, "list", "milk", 2) };
    store.notes().add(&theirs, 9).await.unwrap();
    let forgotten = store.erasures().erase(&Erasure::Person(CHAT, UserId::telegram(4)), at(9)).await.unwrap();
    let erased = Erased { messages: 3, answers: 2, notes: 1, ..Erased::default() };
    assert_eq!(forgotten, Forgotten::Done(erased));
    let left = store.conversations().recent(other.session, 99).unwrap();
    assert_eq!(left.iter().map(|m| &*m.text).collect::<Vec<_>>(), ["mine", "12:00", "yours"]);
    assert_eq!(store.notes().of_chat(CHAT).unwrap(), [theirs]);
    assert_eq!(store.conversations().background(TOPIC, at(0), 9).unwrap().len(), 1);
    drop(store);
    assert_eq!(holding(folder), [""; 0]);
}

/// After it nothing of the chat is left but numbers and ids.
async fn all_of_a_chat_is_forgotten(folder: &Disk) {
    let store = folder.open().await;
    let first = asked(&store, said(1, 4, SECRET), "clock", SECRET, SECRET).await;
    let question = message(&store, first.session, 0);
    store.conversations().new_session(HERE, at(3)).await.unwrap();
    asked(&store, said(2, 4, SECRET), "recall", SECRET, SECRET).await;
    store.conversations().add_background(HERE, &said(10, 4, SECRET), 9).unwrap();
    store.notes().add(&note(CHAT, SECRET, SECRET, 1), 9).await.unwrap();
    let patch = figaro_domain::chat::ConfigPatch {
        custom_prompt: Some(Some(SECRET.into())),
        ..figaro_domain::chat::ConfigPatch::default()
    };
    store.settings().change_chat_config(CHAT, patch).await.unwrap();
    let text = format!("{{\"chat\": {{\"id\": {CHAT}}}, \"text\": {SECRET:?}");
    store
        .inbox()
        .set_aside(vec![figaro_store::UnreadableUpdate::new(figaro_base::ids::UpdateId(9), &text)], at(1))
        .await
        .unwrap();
    drop(store);
    made_of(folder, &question, 4);
    // One that cannot be read stands aside.
    let spoiled = [first.session.to_string().as_bytes(), &77_u32.to_be_bytes()].concat();
    put(folder, "messages", &spoiled, &format!("no message, but {SECRET}"));
    let store = folder.open().await;
    store.conversations().recent(first.session, 99).unwrap();
    let forgotten = store.erasures().erase(&Erasure::Chat(CHAT, UserId::telegram(4)), at(9)).await.unwrap();
    let erased = Erased {
        messages: 3,
        answers: 2,
        sessions: 2,
        notes: 1,
        pins: 1,
        summaries: 1,
        memories: 2,
        ..Erased::default()
    };
    assert_eq!(forgotten, Forgotten::Done(erased));
    assert_eq!(store.sessions().of_conversation(HERE).unwrap(), []);
    drop(store);
    assert_eq!(holding(folder), [""; 0]);
}

/// That files are to be rewritten is stored; a rewriting changes nothing else, and takes the bytes away.
async fn what_was_erased_leaves_the_files_also_after_a_restart(folder: &Disk) {
    let store = folder.open().await;
    for id in 1..30 {
        asked(&store, said(id, 5, "kept"), "clock", "12:00", &format!("kept {id}")).await;
    }
    asked(&store, said(50, 4, SECRET), "clock", SECRET, &SECRET.repeat(500)).await;
    assert_eq!(store.erasures().rewrite_due().unwrap(), None);
    store.erasures().rewrite(at(20)).await.unwrap();
    let person = Erasure::Person(CHAT, UserId::telegram(4));
    assert!(matches!(store.erasures().erase(&person, at(9)).await.unwrap(), Forgotten::Done(_)));
    assert_eq!(store.erasures().erase(&person, at(10)).await.unwrap(), Forgotten::Done(Erased::default()));
    let store = folder.reopen(store).await;
    assert_eq!(store.erasures().rewrite_due().unwrap(), Some(at(9)));
    assert!(found_in(folder).is_some(), "the files hold what was removed until they are rewritten");
    store.erasures().rewrite(at(20)).await.unwrap();
    assert_eq!(found_in(folder), None, "while it is open");
    assert_eq!(store.erasures().rewrite_due().unwrap(), None);
    let store = folder.reopen(store).await;
    assert_eq!(store.erasures().rewrite_due().unwrap(), None);
    let session = store.conversations().session(HERE, at(11)).unwrap();
    assert_eq!(store.conversations().recent(session.id, 1000).unwrap().len(), 3 * 29);
    store.conversations().append(words(session.id, "goes on")).unwrap();
    drop(store);
    assert_eq!(found_in(folder), None);
}

/// What is erased while the files are rewritten is due again as soon as if it had been erased when that began.
async fn what_is_erased_during_a_rewriting_is_rewritten_in_its_time(folder: &Disk) {
    let store = folder.open().await;
    for id in 1..60 {
        asked(&store, said(id, 5, "kept"), "clock", "12:00", &"kept ".repeat(4_000)).await;
    }
    asked(&store, said(90, 4, SECRET), "clock", SECRET, SECRET).await;
    asked(&store, said(91, 6, SECRET), "clock", SECRET, SECRET).await;
    store.erasures().erase(&Erasure::Person(CHAT, UserId::telegram(4)), at(9)).await.unwrap();
    #[expect(clippy::disallowed_methods, reason = "it is awaited below")]
    let rewriting = tokio::spawn({
        let store = store.clone();
        async move { store.erasures().rewrite(at(130)).await }
    });
    let fresh = folder.path().join("fresh");
    while !fresh.exists() && !rewriting.is_finished() {
        tokio::task::yield_now().await;
    }
    store.erasures().erase(&Erasure::Person(CHAT, UserId::telegram(6)), at(131)).await.unwrap();
    rewriting.await.unwrap().unwrap();
    let due = store.erasures().rewrite_due().unwrap();
    // It may have been erased when the rewriting had ended just before.
    assert!([Some(at(130)), Some(at(131))].contains(&due), "{due:?}");
    store.erasures().rewrite(at(250)).await.unwrap();
    assert_eq!(store.erasures().rewrite_due().unwrap(), None);
    assert_eq!(found_in(folder), None);
}

/// An update that is being served while something is erased may hold it: its bytes go once it is settled.
async fn what_an_update_still_holds_is_rewritten_once_it_is_settled(folder: &Disk) {
    let store = folder.open().await;
    asked(&store, said(1, 4, SECRET), "clock", SECRET, SECRET).await;
    let press = figaro_store::RawUpdate {
        id: figaro_base::ids::UpdateId(77),
        body: serde_json::json!({"card": SECRET}),
    };
    store.inbox().accept(vec![press], at(8)).unwrap();
    store.erasures().erase(&Erasure::Person(CHAT, UserId::telegram(4)), at(9)).await.unwrap();
    store.erasures().rewrite(at(10)).await.unwrap();
    assert!(found_in(folder).is_some(), "it is still in the inbox");
    assert_eq!(store.erasures().rewrite_due().unwrap(), None, "there is nothing to do until it is settled");
    let store = folder.reopen(store).await;
    store.inbox().settle(&[figaro_base::ids::UpdateId(77)]).await.unwrap();
    assert_eq!(store.erasures().rewrite_due().unwrap(), Some(at(9)), "it waits no longer");
    store.erasures().rewrite(at(11)).await.unwrap();
    assert_eq!(found_in(folder), None);
    assert_eq!(store.erasures().rewrite_due().unwrap(), None);
}

/// Messages that are imported behind the last one that was erased do not come to its place.
async fn what_is_imported_takes_no_place_of_what_was_erased(folder: &Disk) {
    let store = folder.open().await;
    let session = SessionId::new();
    let imported = |text: &str| Imported { message: words(session, text), name: text.to_owned() };
    let mut question = imported(SECRET);
    question.message.role = MessageRole::User;
    store.messages().import(CHAT, session, vec![imported("one"), question]).await.unwrap();
    let place = SaidAt::Session(EntryKey { session, index: 1 });
    let forgotten = store.erasures().erase(&Erasure::Said(CHAT, vec![place]), at(9)).await.unwrap();
    assert!(matches!(forgotten, Forgotten::Done(erased) if !erased.is_nothing()), "{forgotten:?}");
    store.messages().import(CHAT, session, vec![imported("three")]).await.unwrap();
    let left = store.conversations().recent(session, 9).unwrap();
    assert_eq!(left.iter().map(|m| (m.index, &*m.text)).collect::<Vec<_>>(), [(0, "one"), (2, "three")]);
}

/// Others write in the same chat and in another one while a long session is looked through.
async fn what_is_written_meanwhile_is_kept_and_what_was_to_go_goes(folder: &Disk) {
    let store = folder.open().await;
    let session = SessionId::new();
    let number = |number: usize| {
        let role = if number.is_multiple_of(2) { MessageRole::User } else { MessageRole::Assistant };
        let text = if number == 1_000 { SECRET.to_owned() } else { format!("number {number}") };
        let message = Message { role, ..words(session, &text) };
        Imported { message, name: number.to_string() }
    };
    store.messages().import(CHAT, session, (0..2_000).map(number).collect()).await.unwrap();
    let place = SaidAt::Session(EntryKey { session, index: 1_000 });
    #[expect(clippy::disallowed_methods, reason = "it is awaited below")]
    let erasing = tokio::spawn({
        let store = store.clone();
        async move { store.erasures().erase(&Erasure::Said(CHAT, vec![place]), at(9)).await }
    });
    let mut written = 0;
    while written < 20 || (!erasing.is_finished() && written < 2_000) {
        store.conversations().append(words(session, "more")).unwrap();
        written += 1;
        tokio::task::yield_now().await;
    }
    let forgotten = erasing.await.unwrap().unwrap();
    assert_eq!(forgotten, Forgotten::Done(Erased { messages: 1, answers: 1, ..Erased::default() }));
    let left = store.conversations().recent(session, 5_000).unwrap();
    assert_eq!(left.len(), 1_998 + written);
    drop(store);
    assert_eq!(holding(folder), [""; 0]);
}

for_every_engine! {
    what_is_erased_during_a_rewriting_is_rewritten_in_its_time
    what_an_update_still_holds_is_rewritten_once_it_is_settled
    what_is_imported_takes_no_place_of_what_was_erased
    what_is_written_meanwhile_is_kept_and_what_was_to_go_goes
    a_question_is_forgotten_with_all_that_was_made_of_it
    places_of_what_is_forgotten_are_not_given_again
    what_is_being_answered_is_not_forgotten
    what_one_person_said_goes_and_others_keep_theirs
    all_of_a_chat_is_forgotten
    what_was_erased_leaves_the_files_also_after_a_restart
}
