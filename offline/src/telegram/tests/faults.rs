//! Planned faults, flood limits, and waiting for what the bot does.

use std::time::Duration;

use serde_json::json;

use super::super::PlannedFailure;
use super::{ANN, Bed, GROUP};

#[tokio::test]
async fn planned_faults_hit_as_often_as_planned() {
    let bed = Bed::new().await;
    let down = PlannedFailure::Status { status: 502, description: "Bad Gateway".to_owned() };
    bed.tg.fail("sendMessage", down, 1);
    bed.tg.fail("*", PlannedFailure::RetryAfter(3), 1);
    let args = json!({"chat_id": ANN, "text": "x"});
    assert_eq!(bed.answer("sendMessage", &args).await["error_code"], 502);
    let limited = bed.answer("sendMessage", &args).await;
    let wanted = json!({
        "ok": false, "error_code": 429, "description": "Too Many Requests: retry after 3",
        "parameters": {"retry_after": 3},
    });
    assert_eq!(limited, wanted);
    assert_eq!(bed.tg.messages(ANN).len(), 0);
    bed.send(ANN, "x").await;
    let errors: Vec<Option<String>> = bed.tg.calls().into_iter().map(|c| c.error).collect();
    assert_eq!(
        errors,
        [Some("Bad Gateway".to_owned()), Some("Too Many Requests: retry after 3".to_owned()), None]
    );
    bed.end().await;
}

#[tokio::test]
async fn broken_connections_with_and_without_effect() {
    let bed = Bed::new().await;
    let request = || bed.http.post(bed.address("sendMessage")).json(&json!({"chat_id": ANN, "text": "x"}));
    for (failure, messages) in [(PlannedFailure::DropConnection, 0), (PlannedFailure::AppliedButDropped, 1)] {
        bed.tg.fail("sendMessage", failure.clone(), 1);
        let got = async { request().send().await?.bytes().await }.await;
        assert!(got.is_err(), "{failure:?}");
        assert_eq!(bed.tg.messages(ANN).len(), messages, "{failure:?}");
    }
    bed.tg.fail("sendMessage", PlannedFailure::Hang, 1);
    let hung = request().timeout(Duration::from_millis(100)).send().await;
    assert!(hung.unwrap_err().is_timeout());
    assert_eq!(bed.tg.messages(ANN).len(), 1);
    bed.end().await;
}

#[tokio::test]
async fn a_hanging_call_does_not_hold_the_end_up() {
    let bed = Bed::new().await;
    bed.tg.fail("getMe", PlannedFailure::Hang, 1);
    let hanging = bed.http.get(bed.address("getMe")).send();
    let (_, ()) = tokio::join!(hanging, async {
        bed.tg.wait_until(Duration::from_secs(5), |v| (!v.calls().is_empty()).then_some(())).await.unwrap();
        bed.runtime.stop();
    });
    bed.end().await;
}

#[tokio::test]
async fn limits_tokens_and_blocked_bots() {
    let bed = Bed::new().await;
    bed.tg.enforce_limits(true);
    for _ in 0..20 {
        bed.send(GROUP, "x").await;
    }
    let too_many = bed.answer("sendMessage", &json!({"chat_id": GROUP, "text": "x"})).await;
    assert_eq!(too_many["error_code"], 429);
    assert!((55..=60).contains(&too_many["parameters"]["retry_after"].as_u64().unwrap()));
    bed.tg.enforce_limits(false);
    bed.send(GROUP, "x").await;
    bed.tg.bot_removed(ANN, ANN).unwrap();
    let blocked = bed.call("sendMessage", json!({"chat_id": ANN, "text": "x"})).await;
    assert_eq!(blocked, Err("Forbidden: bot was blocked by the user".to_owned()));
    bed.tg.revoke_token();
    assert_eq!(bed.call("getMe", json!({})).await, Err("Unauthorized".to_owned()));
    bed.end().await;
}

#[tokio::test]
async fn waiting_wakes_with_the_change() {
    let bed = Bed::new().await;
    let waiting = bed.tg.wait_until(Duration::from_secs(5), |view| {
        view.bot_messages(ANN).first().map(|m| m["text"].as_str().unwrap_or_default().to_owned())
    });
    let (found, _) = tokio::join!(waiting, bed.send(ANN, "done"));
    assert_eq!(found.as_deref(), Some("done"));
    assert_eq!(
        bed.tg.wait_until(Duration::from_millis(20), |v| v.drafts(ANN).first().map(|_| ())).await,
        None
    );
    bed.end().await;
}
