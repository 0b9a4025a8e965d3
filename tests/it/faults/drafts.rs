//! A Telegram that cannot show that an answer is being written. The answer comes all the same.

use std::time::{Duration, Instant};

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::PlannedFailure;

use super::{Left, status};
use crate::support::scene::{TEAM, text};
use crate::support::{BOB, World};

/// In each way in which they can, one after the other; and a server that is in trouble for longer.
pub async fn drafts_fail() -> Left {
    let world = World::new().await;
    let bot = world.start_open().await;
    let failures = [
        (PlannedFailure::RetryAfter(60), 1),
        (status(400, "Bad Request: TEXTDRAFT_PEER_INVALID"), 1),
        (PlannedFailure::DropConnection, 1),
        (PlannedFailure::AppliedButDropped, 1),
        (PlannedFailure::Hang, 1),
        (status(500, "Internal Server Error"), 1),
        (status(504, "Gateway Timeout"), 5),
    ];
    for (n, (failure, times)) in failures.into_iter().enumerate() {
        world.telegram.fail("sendMessageDraft", failure.clone(), times);
        let answer = format!("Answer {n} comes.");
        world.script.push(ModelReply::text(&answer).paced(0, Duration::from_millis(150)));
        let began = Instant::now();
        assert_eq!(text(&world.told(BOB, BOB, "Well?").await), answer);
        assert!(began.elapsed() < Duration::from_secs(7), "{failure:?}: {:?}", began.elapsed());
    }
    Left::stopped(&world, BOB, bot).await
}

pub async fn typing_may_not_be_shown() -> Left {
    let world = World::new().await;
    world.team();
    let forbidden = "Bad Request: not enough rights to send text messages to the chat";
    world.telegram.fail("sendChatAction", status(400, forbidden), 1);
    world.telegram.fail("sendChatAction", PlannedFailure::RetryAfter(60), 9);
    let bot = world.start_open().await;
    for answer in ["Soup.", "At noon."] {
        world.script.push(ModelReply::text(answer));
        world.told(BOB, TEAM, "@figaro_bot well?").await;
    }
    Left::stopped(&world, TEAM, bot).await
}
