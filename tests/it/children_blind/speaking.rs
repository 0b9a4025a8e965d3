//! Two children that speak at length while a third voice repeats them: every paragraph reaches the chat once.

use std::time::Duration;

use figaro_offline::model::{ModelReply, ModelRequest};
use figaro_offline::telegram::TelegramView;

use super::{Scene, agent, asks, is_of};
use crate::support::scene::{TEAM, text};
use crate::support::{ANN, World};

const PARAGRAPHS: usize = 40;

/// A text of over 4,096 characters; each paragraph begins with a word of its own.
fn long(name: &str) -> String {
    let filler = "and so it goes on for a while, as long texts do, ".repeat(3);
    let paragraph = |n: usize| format!("{name}-{n:02} begins here {filler}until it ends.");
    (0..PARAGRAPHS).map(paragraph).collect::<Vec<_>>().join("\n\n")
}

fn cast(world: &World) {
    agent(world, "boss", &["agents: [first, second]", "tools: [{name: ask_agent}]"]);
    agent(world, "first", &["speaks: true"]);
    agent(world, "second", &["speaks: true"]);
}

fn brain(request: &ModelRequest) -> ModelReply {
    for name in ["first", "second"] {
        if is_of(request, name) {
            assert!(long(name).chars().count() > 4_096);
            return ModelReply::text(&long(name)).paced(200, Duration::from_millis(12));
        }
    }
    match request.tool_results().len() {
        0 => ModelReply::turn(vec![asks("first", "Speak."), asks("second", "Speak.")]),
        _ => ModelReply::text(&format!("{}\n\nThis the boss adds.", long("second"))),
    }
}

fn said(view: &TelegramView<'_>, chat: i64) -> String {
    view.bot_messages(chat).iter().map(|m| text(m)).collect::<Vec<_>>().join("\n")
}

async fn each_paragraph_arrives_once(chat: i64) {
    let world = World::without_privacy().await;
    world.team();
    cast(&world);
    let scene = Scene::new(world, brain).await;
    let bot = scene.led_in(chat).await;
    scene.world.say(ANN, chat, "@figaro_bot have both speak");
    scene.says(chat, "This the boss adds.").await;
    scene.is_quiet(&["sendMessage"]).await;
    let whole = scene.world.telegram.view(|view| said(view, chat));
    let mut wrong = Vec::new();
    for name in ["first", "second"] {
        let mut last = 0;
        for n in 0..PARAGRAPHS {
            let word = format!("{name}-{n:02} begins");
            let times = whole.matches(&word).count();
            let at = whole.find(&word).unwrap_or_default();
            if times != 1 || at < last {
                wrong.push(format!("{word}: {times} times, in order: {}", at >= last));
            }
            last = at;
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "{whole}");
    let ends = whole.find("This the boss adds.").unwrap();
    assert!(["first-39", "second-39"].iter().all(|w| whole.find(w).is_some_and(|at| at < ends)));
    assert_eq!(scene.world.refused(), Vec::<String>::new());
    bot.ends_well().await;
}

#[tokio::test]
async fn two_long_speakers_in_a_private_chat() {
    each_paragraph_arrives_once(ANN).await;
}

#[tokio::test]
async fn two_long_speakers_in_a_group() {
    each_paragraph_arrives_once(TEAM).await;
}

/// Stopped while one speaks and the other has spoken: what was shown is kept, once, and marked.
#[tokio::test]
async fn a_stop_keeps_what_the_speakers_have_shown() {
    let world = World::new().await;
    cast(&world);
    let brain = |request: &ModelRequest| {
        if is_of(request, "first") {
            return ModelReply::text("All that the first had to say.");
        }
        if is_of(request, "second") {
            return ModelReply::text(&long("second")).paced(60, Duration::from_millis(60));
        }
        match request.tool_results().len() {
            0 => ModelReply::turn(vec![asks("first", "Speak.")]),
            1 => ModelReply::turn(vec![asks("second", "Speak.")]),
            _ => ModelReply::text("Never said by the boss."),
        }
    };
    let scene = Scene::new(world, brain).await;
    let bot = scene.led().await;
    scene.world.say(ANN, ANN, "have both speak");
    let shows = |view: &TelegramView<'_>| {
        view.drafts(ANN).iter().any(|d| d.text.contains("second-01 begins")).then_some(())
    };
    scene.world.see("words of the second", shows).await;
    scene.world.say(ANN, ANN, "/stop");
    scene.says(ANN, "stopped").await;
    scene.is_quiet(&["sendMessage"]).await;
    let whole = scene.world.telegram.view(|view| said(view, ANN));
    for words in ["All that the first had to say.", "second-00 begins", "second-01 begins"] {
        assert_eq!(whole.matches(words).count(), 1, "{words}: {whole}");
    }
    assert!(!whole.contains("Never said"));
    bot.ends_well().await;
}
