//! Standard output that takes no more, as on a full disk: whoever relies on what a command prints is told that it is not
//! all there.

use std::fs;
use std::path::Path;
use std::process::Output;

use figaro_config::EngineKind::Redb;

use super::command::talked;
use crate::support::World;
use crate::support::bot::Recipe;
use crate::support::dialogue;
use crate::support::output::words;

/// Runs a command with what it prints going there.
async fn printing_to(recipe: &Recipe, redirection: &str, args: &[&str]) -> Output {
    let script = format!("\"$0\" \"$@\" {redirection}");
    let shell = recipe.clone().program(Path::new("/bin/sh")).arg("-c").arg(&script);
    let shell = shell.arg(env!("CARGO_BIN_EXE_figaro"));
    args.iter().fold(shell, |shell, arg| shell.arg(arg)).run().await
}

#[tokio::test]
async fn every_command_that_prints_fails_where_nothing_can_be_printed() {
    let world = talked(Redb).await;
    let recipe = world.bot().set("STORE_URL", "redb:./data");
    assert!(printing_to(&recipe, "", &["export", "whole.jsonl"]).await.status.success());
    for args in [
        &["--help"][..],
        &["--version"],
        &["store", "--help"],
        &["check"],
        &["store", "check"],
        &["store", "copy", "redb:./data", "redb:./copy"],
        &["store", "compact"],
        &["export", "-"],
        &["export", "other.jsonl"],
        &["import", "whole.jsonl", "--store", "redb:./other"],
        &["demo"],
    ] {
        let output = printing_to(&recipe, "> /dev/full", args).await;
        let (_, errors) = words(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {errors}");
        let last = errors.lines().last().unwrap_or_default();
        assert!(last.starts_with("figaro: ") && last.contains("the disk is full"), "{args:?}: {errors}");
    }
}

#[tokio::test]
async fn a_setup_that_nobody_sees_writes_nothing() {
    let world = World::new().await;
    let output = printing_to(&dialogue::recipe(&world), "> /dev/full", &["init"]).await;
    assert_eq!(output.status.code(), Some(2));
    assert!(words(&output).1.contains("standard output cannot be written"), "{output:?}");
    assert_eq!(fs::read_dir(world.folder.path()).unwrap().count(), 0);
}
