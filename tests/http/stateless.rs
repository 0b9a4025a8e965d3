//! Questions over HTTP of which nothing is kept: they open no file, never see each other, and have one place in the books.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use figaro_offline::model::{Gate, ModelReply};
use futures::future::join_all;

use crate::support::World;
use crate::support::http::{Gateway, KEY, OWNER};
use crate::support::records::holding;

/// More than one person may have running and waiting.
const MANY: usize = 30;

/// The files that a process has open, but for the mark that the bot's own store writes now and then.
fn open_files(pid: u32) -> BTreeSet<PathBuf> {
    let all = fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let paths = all.filter_map(|link| fs::read_link(link.ok()?.path()).ok());
    paths.filter(|path| path.is_absolute() && path.extension().is_none_or(|of| of != "mark")).collect()
}

impl World {
    /// A gateway whose temporary folder is this one.
    async fn gateway_in(&self, folder: &str) -> (Gateway, PathBuf) {
        let scratch = self.folder.path().join(folder);
        fs::create_dir(&scratch).unwrap();
        let keys = format!("app:{KEY},owner:{OWNER};chat;metrics;owner");
        let gateway = self.gateway_with(&[("API_KEYS", &keys), ("TMPDIR", scratch.to_str().unwrap())]).await;
        (gateway, scratch)
    }
}

#[tokio::test]
async fn stateless_question_opens_no_file() {
    let world = World::new().await;
    let (gateway, scratch) = world.gateway_in("scratch").await;
    world.script.push(ModelReply::text("I see."));
    gateway.says("hi").words().await;
    let before = open_files(gateway.bot.pid());
    assert!(before.iter().any(|path| path.ends_with("store.redb")), "{before:?}");
    let gate = Gate::new();
    world.script.push(ModelReply::text("I see.").behind(&gate));
    let mut asking = Box::pin(gateway.says("My aunt lives in Zanzibar.").words());
    tokio::select! {
        answer = &mut asking => panic!("{answer}"),
        () = gateway.counts(&["figaro_turns_running 1\n"]) => {}
    }
    assert_eq!(open_files(gateway.bot.pid()), before);
    gate.open();
    assert_eq!(asking.await, "I see.");
    assert_eq!(open_files(gateway.bot.pid()), before);
    gateway.bot.kill();
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "a killed bot leaves nothing behind");
    assert_eq!(holding(&world, "Zanzibar"), [""; 0]);
}

#[tokio::test]
async fn stateless_questions_never_see_each_others_words() {
    let world = World::new().await;
    let (gateway, _) = world.gateway_in("scratch").await;
    let gate = Gate::new();
    world.otherwise(ModelReply::text("I see.").behind(&gate));
    let word = |number: usize| format!("word{number}end");
    // Of nobody known there may be many at once, and what is behind it is not one person.
    let asking = (0..MANY).map(|number| gateway.says(&format!("Say {}.", word(number))).words());
    let mut asking = Box::pin(join_all(asking));
    let running = format!("figaro_turns_running {MANY}\n");
    let running = [running.as_str()];
    tokio::select! {
        answers = &mut asking => panic!("{answers:?}"),
        () = gateway.counts(&running) => {}
    }
    gate.open();
    assert!(asking.await.iter().all(|answer| answer == "I see."));
    for user in ["ann", "ann", "bob"] {
        gateway.says(&format!("Say {}.", word(MANY))).user(user).words().await;
    }
    let requests = world.model.requests();
    assert_eq!(requests.len(), MANY + 3);
    for request in requests {
        let text = request.body.to_string();
        let seen: Vec<usize> = (0..=MANY).filter(|number| text.contains(&word(*number))).collect();
        assert_eq!(seen.len(), 1, "{seen:?} in {text}");
        assert!(!text.contains("I see."), "{text}");
        assert!(!text.contains("message_thread_id"), "the model is told of no topic: {text}");
    }
    assert!(gateway.bot.stop().await.success());
    for number in [0, MANY] {
        assert_eq!(holding(&world, &word(number)), [""; 0]);
    }
}

#[tokio::test]
async fn anonymous_stateless_questions_have_one_place_in_the_books() {
    let world = World::new().await;
    let (gateway, _) = world.gateway_in("scratch").await;
    world.otherwise(ModelReply::text("I see."));
    for _ in 0..3 {
        join_all((0..4).map(|_| gateway.says("hi").words())).await;
        gateway.says("hi").user("ann").words().await;
    }
    assert!(gateway.bot.stop().await.success());
    for user in ["http:default: anonymous", "http:default:ann"] {
        let booked = holding(&world, user);
        let spent: Vec<&String> = booked.iter().filter(|record| record.starts_with("spent: ")).collect();
        assert_eq!((spent.len(), booked.len()), (1, 1), "{booked:?}");
    }
}
