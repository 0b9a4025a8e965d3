//! `figaro doctor`: the checks, and what the log of the last day says.

use std::fs;
use std::process::Stdio;

use chrono::TimeDelta;
use figaro_base::clock::Clock;
use figaro_offline::model::ModelReply;

use crate::support::World;
use crate::support::output::words;

fn line(hours: i64, level: &str, message: &str) -> String {
    let at = Clock::system().now() - TimeDelta::hours(hours);
    format!("{} {level:>5} task{{name=\"x\"}}: {message}\n", at.to_rfc3339())
}

#[tokio::test]
async fn it_checks_and_tells_the_log_with_what_to_do() {
    let world = World::new().await;
    let log = [
        line(30, "ERROR", "the store can no longer be written reason=old"),
        line(3, "WARN", "updates could not be fetched; trying again error=no route 1"),
        line(2, "WARN", "updates could not be fetched; trying again error=no route 2"),
        line(2, "INFO", "ready username=\"figaro\""),
        "a line of another program\n".to_owned(),
        line(1, "ERROR", "a turn failed error=odd"),
        line(1, "WARN", "something that no page knows detail=7"),
    ];
    fs::write(world.folder.path().join("log"), log.concat()).unwrap();
    world.script.push(ModelReply::text("ok"));
    let doctor = world.bot().arg("doctor").arg("--log").arg("log").run().await;
    let (said, errors) = words(&doctor);
    assert!(doctor.status.success(), "{said}{errors}");
    assert!(said.contains("✓ settings") && said.contains("✓ model"), "{said}");
    let told = said.split_once("! log: 5 lines of the last day, 3 kinds of warnings and errors\n").unwrap().1;
    let told: Vec<&str> = told.lines().collect();
    assert!(
        told[0].starts_with("  error, 1 time,") && told[0].ends_with(": a turn failed error=odd"),
        "{told:?}"
    );
    assert!(told[1].starts_with("    → /why as a reply"), "{told:?}");
    assert!(told[2].starts_with("  warning, 2 times,") && told[2].ends_with("error=no route 2"), "{told:?}");
    assert_eq!(told[3], "    → TELEGRAM_PROXY, firewall, DNS");
    assert!(told[4].ends_with("something that no page knows detail=7"), "{told:?}");
    assert_eq!(told.len(), 5, "{told:?}");
}

#[tokio::test]
async fn it_reads_the_log_of_a_bot_in_either_form() {
    for form in ["text", "json"] {
        let world = World::new().await;
        let recipe = world.bot().set("LOG_FORMAT", form);
        let bot = recipe.spawn();
        bot.logged("ready").await;
        world.script.push(ModelReply::text("Hello."));
        world.ask("hello").await;
        let calm = bot.log();
        bot.ends_well().await;
        fs::write(world.folder.path().join("log"), &calm).unwrap();
        let mut doctor = world.bot().arg("doctor").arg("--log").arg("-").command();
        doctor.stdin(fs::File::open(world.folder.path().join("log")).unwrap()).stdout(Stdio::piped());
        let doctor = tokio::process::Command::from(doctor).output().await.unwrap();
        let (said, _) = words(&doctor);
        let line = said.lines().find(|line| line.contains(" log: ")).unwrap();
        assert!(
            line.starts_with("✓ log: ") && line.ends_with(" of the last day, no warning"),
            "{form}: {said}"
        );
        assert!(!line.contains(" 0 lines"), "{form}: {line}");
    }
}

#[tokio::test]
async fn a_check_that_fails_is_told_after_the_log() {
    let world = World::new().await;
    fs::write(world.folder.path().join("log"), line(1, "WARN", "a web search failed")).unwrap();
    let doctor = world.bot().set("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let doctor = doctor.arg("doctor").arg("--log").arg("log").run().await;
    let (said, errors) = words(&doctor);
    assert_eq!(doctor.status.code(), Some(2));
    assert!(said.contains("✗ model") && said.contains("TAVILY_API_KEY"), "{said}");
    assert!(errors.contains("not everything is in order"), "{errors}");
    let none = world.bot().arg("doctor").arg("--log").arg("none").run().await;
    assert_eq!(none.status.code(), Some(2));
    assert!(words(&none).1.contains("the log none cannot be read"));
}
