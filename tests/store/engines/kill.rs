//! A process that is killed while it writes: whatever it had acknowledged is there, and no turn is half there.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use figaro_base::ids::{ChatId, EntryId, TopicId, UpdateId};
use figaro_domain::conversation::ConversationId;
use figaro_domain::erasure::{Erasure, Forgotten};
use figaro_domain::tool::ToolStatus;
use figaro_store::{Store, StoreError, TurnEnd};
use tokio::task::JoinSet;

use super::disk::{Disk, files, for_every_engine};
use super::{BOT, Backend, CHAT, at, inbound, raw, reply, started, tool_call, words};

/// The child's work lies beside the store; without it there is nothing to do.
const ORDER: &str = "write-until-killed";
/// The chat in which everything is forgotten.
const FORGETFUL: ChatId = ChatId(-9);
/// The conversations it writes at the same time.
const CONVERSATIONS: i64 = 8;

/// Not a test: what [`killing_loses_nothing_acknowledged`] runs in a process of its own, in the folder of the store.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs as the child of another test"]
async fn write_until_killed() {
    let Ok(first) = fs::read_to_string(ORDER) else {
        return;
    };
    let (first, url) = first.split_once(' ').unwrap();
    let first: i64 = first.parse().unwrap();
    let store = Store::open(&url.parse().unwrap(), BOT).await.unwrap();
    let mut writers = JoinSet::new();
    for topic in 0..CONVERSATIONS {
        let store = store.clone();
        writers.spawn(async move {
            let place = ConversationId { chat: CHAT, topic: Some(TopicId(topic)) };
            for round in 0..10_000 {
                let id = first + topic + round * CONVERSATIONS;
                store.inbox().accept(vec![raw(id)], at(id)).unwrap();
                store.inbox().sync().await.unwrap();
                println!("\naccepted {id}");
                if round % 3 == 0 {
                    one_turn(&store, place, id).await;
                    println!("\nended {id}");
                }
            }
        });
    }
    writers.spawn(forget_for_ever(store));
    writers.join_all().await;
}

/// Says something in a conversation of its own, has it forgotten, and has the files rewritten, again and again.
async fn forget_for_ever(store: Store) {
    let place = ConversationId { chat: FORGETFUL, topic: None };
    for round in 0.. {
        let session = store.conversations().session(place, at(0)).unwrap();
        let secret = format!("<secret {round}>").repeat(200);
        store.conversations().append(words(session.id, &secret)).unwrap();
        let forgotten = store.erasures().erase(&Erasure::Session(place, session.id), at(0)).await.unwrap();
        assert!(matches!(forgotten, Forgotten::Done(_)));
        store.erasures().rewrite(at(20)).await.unwrap();
        println!("\nrewritten {round}");
    }
}

async fn one_turn(store: &Store, conversation: ConversationId, id: i64) {
    let run = store.conversations().begin_turn(conversation, &[inbound(id, "q")], at(id)).unwrap();
    let call = tool_call(run.id, "c", ToolStatus::Running);
    started(&store.conversations(), &run, &[call]).await;
    let call = tool_call(run.id, "c", ToolStatus::Complete);
    store.conversations().tool_ended(&call, words(run.session, "result")).await.unwrap();
    let answer = words(run.session, &format!("answer {id}"));
    let delivery = Some(reply(&run, &answer));
    let end = TurnEnd { messages: vec![answer], delivery, ..TurnEnd::default() };
    store.conversations().end_turn(&run, end).await.unwrap();
}

fn spawn_child(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "engines::kill::write_until_killed"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

async fn killing_loses_nothing_acknowledged(folder: &Disk) {
    let (mut accepted, mut ended, mut rewritten) = (Vec::new(), Vec::new(), 0);
    for round in 0..5 {
        let order = format!("{} {}", round * 100_000, folder.url());
        fs::write(folder.home().join(ORDER), order).unwrap();
        let mut child = spawn_child(folder.home());
        let output = BufReader::new(child.stdout.take().unwrap());
        let lines = std::thread::spawn(move || output.lines().map_while(Result::ok).collect::<Vec<_>>());
        tokio::time::sleep(Duration::from_millis(300 + chance() % 600)).await;
        assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
        if round == 0 {
            let refused = folder.try_open().await.unwrap_err();
            assert!(matches!(refused, StoreError::InUse(_)), "{refused}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let number = |line: &str, word: &str| line.strip_prefix(word)?.parse::<i64>().ok();
        // The last line may be cut off: an id that is one digit short would be another id.
        let mut lines = lines.join().unwrap();
        lines.pop();
        accepted.extend(lines.iter().filter_map(|line| number(line, "accepted ")));
        ended.extend(lines.iter().filter_map(|line| number(line, "ended ")));

        rewritten += lines.iter().filter(|line| line.starts_with("rewritten ")).count();

        let store = folder.open().await;
        let lost = store.inbox().accept(accepted.iter().map(|id| raw(*id)).collect(), at(0)).unwrap();
        assert_eq!(lost, [], "round {round}");
        check_turns(&store, &ended);
        check_forgotten(folder, &store).await;
    }
    assert!(rewritten > 0, "{rewritten}");
    assert!(accepted.len() > 50 && ended.len() > 10, "{} updates, {} turns", accepted.len(), ended.len());
}

/// A turn is whole or has not ended, whenever the process was killed.
fn check_turns(store: &Store, ended: &[i64]) {
    let deliveries = store.outbox().deliveries().unwrap();
    for id in ended {
        let words = format!("answer {id}");
        assert!(deliveries.iter().any(|delivery| delivery.markdown == words), "the reply to {id} was lost");
    }
    let unsettled: Vec<_> = store.inbox().unsettled().unwrap().iter().map(|update| update.id).collect();
    let active: Vec<_> = store.conversations().active_runs().unwrap().iter().map(|run| run.id).collect();
    let answers = answers(store);
    assert_eq!(answers.len(), deliveries.len());
    for delivery in deliveries {
        let id = UpdateId(delivery.markdown.strip_prefix("answer ").unwrap().parse().unwrap());
        assert!(answers.contains(&delivery.entry.unwrap()));
        assert!(!unsettled.contains(&id) && !active.contains(&delivery.run));
        let calls = store.conversations().tool_calls(delivery.run).unwrap();
        assert_eq!(calls, [tool_call(delivery.run, "c", ToolStatus::Complete)]);
    }
}

/// Whatever was killed while it was being forgotten can be forgotten, and nothing is left of it.
async fn check_forgotten(folder: &Disk, store: &Store) {
    let place = ConversationId { chat: FORGETFUL, topic: None };
    let session = store.conversations().session(place, at(0)).unwrap();
    store.erasures().erase(&Erasure::Session(place, session.id), at(0)).await.unwrap();
    store.erasures().rewrite(at(20)).await.unwrap();
    for (path, bytes) in files(&folder.path()) {
        assert!(!path.to_string_lossy().contains("fresh"), "{} is left", path.display());
        let secret = b"<secret ";
        assert!(!bytes.windows(secret.len()).any(|part| part == secret), "{} holds it", path.display());
    }
}

/// All stored answers, of sessions whose messages follow each other without a gap.
fn answers(store: &Store) -> Vec<EntryId> {
    let mut answers = Vec::new();
    for topic in 0..CONVERSATIONS {
        let conversation = ConversationId { chat: CHAT, topic: Some(TopicId(topic)) };
        let session = store.conversations().session(conversation, at(0)).unwrap().id;
        let messages = store.conversations().recent(session, usize::MAX).unwrap();
        assert!(messages.iter().zip(0..).all(|(message, index)| message.index == index));
        answers.extend(
            messages.iter().filter(|message| message.text.starts_with("answer")).map(|message| message.id),
        );
    }
    answers
}

/// So that no two runs kill at the same moment.
fn chance() -> u64 {
    RandomState::new().hash_one(())
}

for_every_engine! {
    killing_loses_nothing_acknowledged
}
