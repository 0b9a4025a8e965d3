//! Runs that were missed and are asked about: run or left out in a browser, once.

use chrono::TimeDelta;
use figaro_base::clock::Clock;
use figaro_base::ids::{ChatId, UserId};
use figaro_base::tz::Tz;
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::message::Speaker;
use figaro_domain::schedule::Schedule;
use figaro_domain::task::{IfMissed, NewTask, Task};
use figaro_offline::model::ModelReply;
use figaro_store::TaskLimits;

use super::browser::Browser;
use crate::support::calls::says;
use crate::support::scene::{buttons, labels};
use crate::support::wait::eventually;
use crate::support::{BOB, World};

const GONE: &str = "This is no longer up to date.";

/// A task of Bob's that was due more than a day ago, of which the bot asks what to do.
fn missed(prompt: &str) -> Task {
    let at = Clock::system().now() - TimeDelta::hours(30);
    let new = NewTask {
        place: Place { chat: ChatId(BOB), kind: ChatKind::Private, title: None, topic: None },
        creator: Speaker { user: UserId::telegram(BOB), name: "Bob".to_owned(), username: None },
        language: Some("en".to_owned()),
        prompt: prompt.to_owned(),
        schedule: Schedule::Once { at, wall: false },
        zone: Tz::UTC,
        zone_assumed: false,
    };
    Task { if_missed: IfMissed::Ask, ..Task::new(new, at - TimeDelta::hours(1)) }
}

/// Returns `true` if a page offers this for a task.
async fn offers(browser: &Browser, task: &Task, action: &str) -> bool {
    let forms = browser.get(&format!("tasks/{}", task.id)).await.forms();
    forms.iter().any(|form| form.fields.contains(&("action".to_owned(), action.to_owned())))
}

#[tokio::test]
async fn a_missed_run_is_made_up_for_or_left_out() {
    let world = World::new().await;
    let tasks = [missed("Serve tea."), missed("Serve cake.")];
    let store = world.stored().await;
    for task in &tasks {
        store.tasks().add(task, TaskLimits { per_chat: 100, per_user: 100 }).await.unwrap();
    }
    drop(store);
    let dashboard = world.dashboard().await;
    let (tea, cake) = (says(&world, BOB, "Serve tea.").await, says(&world, BOB, "Serve cake.").await);
    assert_eq!((labels(&tea), labels(&cake)), (vec!["Run now".to_owned(), "Skip".to_owned()], labels(&tea)));
    let browser = world.browser(&dashboard, BOB).await;
    for task in &tasks {
        assert!(offers(&browser, task, "run").await && offers(&browser, task, "skip").await);
    }
    world.when("Serve tea.", ModelReply::text("Here is tea."));
    let act = async |task: &Task, action: &str| {
        let page = browser.post(&format!("tasks/{}", task.id), &[("action", action)]).await;
        assert_eq!(page.status, 303, "{action}: {}", page.whole());
    };
    act(&tasks[1], "skip").await;
    act(&tasks[0], "run").await;
    says(&world, BOB, "Here is tea.").await;
    for task in &tasks {
        let is_over = async || (!offers(&browser, task, "skip").await).then_some(());
        eventually(|| "it can be left out still", is_over).await;
        act(task, "skip").await;
    }
    // The questions in the chat are answered: nothing can be left out there any more.
    for card in [&tea, &cake] {
        let (_, data) = buttons(card).into_iter().find(|(label, _)| label == "Skip").unwrap();
        assert_eq!(world.forged(BOB, card, &data).await, GONE);
    }
    world.caught_up().await;
    assert_eq!(world.asked().len(), 1, "one has run, once");
}
