//! The audit log through the real binary: what was decided and who was let in is in it, in ids and names alone, and what is tampered
//! with is found.

use std::process::Output;

use serde_json::{Value, json};

use crate::support::calls::call;
use crate::support::output::words;
use crate::support::{ANN, BOB, World};

const MARKER: &str = "zanzibar";

async fn audit(world: &World, args: &[&str]) -> Output {
    args.iter().fold(world.bot().arg("audit"), |bot, arg| bot.arg(arg)).run().await
}

pub(super) async fn said(world: &World, args: &[&str]) -> String {
    let output = audit(world, args).await;
    let (said, errors) = words(&output);
    assert!(output.status.success(), "{said}{errors}");
    said
}

#[tokio::test]
async fn what_was_decided_is_in_the_log_and_what_is_tampered_with_is_found() {
    let world = World::new().await;
    let bot = world.start().await;
    let owner = (ANN, ANN);
    call(&world, owner, "find it", "find_tools", json!({"query": "getChat"})).await;
    call(&world, owner, "look at this chat", "getChat", json!({})).await;
    let photo = json!({"photo": format!("http://127.0.0.1/{MARKER}.png"), "caption": MARKER});
    call(&world, owner, "show it", "sendPhoto", photo).await;
    world.told(ANN, ANN, &format!("/allow {BOB}")).await;
    world.told(ANN, ANN, &format!("/deny {BOB}")).await;
    let in_use = audit(&world, &["verify"]).await;
    let (_, errors) = words(&in_use);
    assert_eq!(in_use.status.code(), Some(2), "{errors}");
    assert!(errors.contains("in use"), "{errors}");
    bot.ends_well().await;

    let lines = said(&world, &["--json"]).await;
    let entries: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |entry: &Value| {
        let event = &entry["event"];
        (event["what"].as_str().unwrap().to_owned(), event["method"].as_str().map(str::to_owned))
    };
    let method = |name: &str| Some(name.to_owned());
    let wanted = [
        ("access_denied".to_owned(), None),
        ("access_allowed".to_owned(), None),
        ("call_denied".to_owned(), method("sendPhoto")),
        ("call_allowed".to_owned(), method("getChat")),
    ];
    assert_eq!(entries.iter().map(told).collect::<Vec<_>>(), wanted, "{lines}");
    assert_eq!(entries[0]["event"]["target_user"], format!("tg:{BOB}"));
    assert_eq!(entries[0]["event"]["actor"], json!({"person": format!("tg:{ANN}")}));
    assert_eq!(entries[2]["event"]["rule"], "limit/private_address");
    assert_eq!(entries[3]["event"]["rule"], "default/open_lookup");
    assert_eq!(entries[2]["arguments"].as_str().unwrap().len(), 64);
    assert_eq!(said(&world, &["--limit", "1"]).await.lines().count(), 1);
    assert_eq!(said(&world, &["--since", "2999-01-01"]).await, "nothing is on record since then\n");
    assert_eq!(said(&world, &["--since", "2999-01-01", "--json"]).await, "");
    assert!(said(&world, &["verify"]).await.contains("✓ 4 entries, and the chain is whole"));
    let file = world.folder.path().join("audit.jsonl");
    said(&world, &["export", file.to_str().unwrap()]).await;
    let exported = std::fs::read_to_string(&file).unwrap();
    assert_eq!(exported.lines().rev().collect::<Vec<_>>(), lines.lines().collect::<Vec<_>>());

    let records = world.records();
    let stored = records.all("audit");
    assert_eq!(stored.len(), 4);
    for (_, value) in &stored {
        assert!(!String::from_utf8_lossy(value).contains(MARKER), "words in the log");
    }
    let (key, value) = stored[1].clone();
    records.remove("audit", &key);
    drop(records);
    broken_at(&world, 1).await;
    let turned = String::from_utf8(value.clone()).unwrap().replace("call_denied", "call_allowed");
    world.records().put("audit", &key, turned);
    broken_at(&world, 1).await;
    world.records().put("audit", &key, value);
    assert!(said(&world, &["verify"]).await.contains("whole"));
    world.records().remove("audit", &stored[3].0);
    broken_at(&world, 3).await;
}

async fn broken_at(world: &World, seq: u64) {
    let output = audit(world, &["verify"]).await;
    let (_, errors) = words(&output);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains(&format!("number {seq} is the first")), "{errors}");
}
