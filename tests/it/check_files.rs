//! Folders and files that the bot cannot use: the check and the start try the same, and both say in words what to do.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use figaro_offline::model::ModelReply;

use crate::support::World;
use crate::support::bot::Recipe;
use crate::support::output::{refused, words};

/// What `figaro check` says, with its exit code.
async fn checked(world: &World, recipe: Recipe) -> (String, Option<i32>) {
    world.script.push(ModelReply::text("Yes."));
    let output = recipe.arg("check").run().await;
    let (said, errors) = words(&output);
    assert!(!said.contains("os error") && !errors.contains("os error"), "{said}{errors}");
    (said, output.status.code())
}

#[tokio::test]
async fn a_place_where_no_store_can_be_is_told_by_the_check_as_by_the_start() {
    let world = World::new().await;
    let folder = world.folder.path();
    fs::write(folder.join("a-file"), "shopping list").unwrap();
    symlink("gone", folder.join("a-link")).unwrap();
    fs::create_dir_all(folder.join("odd/store.redb")).unwrap();
    let cases = [
        ("redb:/proc/figaro", "/proc/figaro cannot be used (/proc: "),
        ("sled:/proc/figaro/below", "/proc/figaro/below cannot be used (/proc: "),
        ("redb:./a-file", "./a-file cannot be used (it is a file, a store is a folder)"),
        (
            "sled:./a-file/below",
            "./a-file/below cannot be used (./a-file: it is a file, a store is a folder)",
        ),
        ("redb:./a-link", "./a-link cannot be used (it is a link to something that is not there)"),
    ];
    for (url, fault) in cases {
        let recipe = world.bot().set("STORE_URL", url);
        let (said, code) = checked(&world, recipe.clone()).await;
        assert!(said.contains(&format!("✗ store: {fault}")) && code == Some(2), "{url}: {said}");
        let message = refused(&world, &recipe).await;
        assert!(message.starts_with(&format!("the store {fault}")), "{url}: {message}");
        for told in [said, message] {
            assert!(told.contains("or name another folder by STORE_URL"), "{told}");
        }
    }
    let demo = Recipe::new(folder).arg("demo").arg("--store").arg("/proc/figaro");
    let message = refused(&world, &demo).await;
    assert!(
        message.starts_with("/proc/figaro cannot be used (/proc: ")
            && message.ends_with("another folder by --store"),
        "{message}"
    );
    // A folder where the file of the store has to be is met by the start alone.
    let message = refused(&world, &world.bot().set("STORE_URL", "redb:./odd")).await;
    assert!(message.contains("it is a folder, not a file") && !message.contains("os error"), "{message}");
    let mut left: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a-file", "a-link", "odd"], "nothing is left of what was tried");
}

#[tokio::test]
async fn a_store_that_is_well_is_not_said_to_have_no_faults() {
    let world = World::new().await;
    world.script.push(ModelReply::text("I will."));
    let bot = world.start().await;
    world.ask("Remember me").await;
    bot.ends_well().await;
    let (said, code) = checked(&world, world.bot()).await;
    let store = said.lines().find(|line| line.starts_with("✓ store: ")).unwrap();
    assert!(store.ends_with("kB on disk") && code == Some(0), "{said}");
}

#[tokio::test]
async fn all_files_of_the_owner_that_are_broken_are_told_at_once() {
    let world = World::new().await;
    let folder = world.folder.path();
    for kind in ["agents", "packs", "personas"] {
        fs::create_dir_all(folder.join("prompts").join(kind)).unwrap();
        fs::write(folder.join(format!("prompts/{kind}/mine.yaml")), "name: mine\n  what: [\n").unwrap();
    }
    fs::create_dir(folder.join("prompts/agents/folder.yaml")).unwrap();
    fs::write(folder.join("policy.yaml"), "rules:\n  - allow: everything\n").unwrap();
    fs::write(folder.join("mcp.json"), "{\"mcpServers\": {\n  \"a\": 1}}").unwrap();
    let message = refused(&world, &world.bot()).await;
    let (said, code) = checked(&world, world.bot()).await;
    assert_eq!(code, Some(2), "{said}");
    for (file, place) in [
        ("prompts/agents/mine.yaml", ":1:1: unknown field `name`"),
        ("prompts/agents/folder.yaml", "cannot be read: it is a folder, not a file"),
        ("prompts/packs/mine.yaml", ":2:7: "),
        ("prompts/personas/mine.yaml", ":2:"),
        ("policy.yaml", ":2:5: unknown field `allow`"),
        ("mcp.json", ":2:"),
    ] {
        let is_told = |text: &str| text.lines().any(|line| line.contains(file) && line.contains(place));
        assert!(is_told(&message), "{file}, {place}: {message}");
        assert!(is_told(&said), "{file}, {place}: {said}");
    }
    // Wrong settings do not hide them.
    let (said, _) = checked(&world, world.bot().set("LLM_PROVIDER", "olama")).await;
    assert!(said.contains("prompts/packs/mine.yaml:2:7: ") && said.contains("policy.yaml:2:5: "), "{said}");
    let faults = message.lines().filter(|line| line.starts_with("  - ")).count();
    assert!(message.starts_with(&format!("{faults} mistakes in your own files:\n")), "{message}");
    assert!(
        message.ends_with("move a file away to go on without it; `figaro check` looks at all of them."),
        "{message}"
    );
    assert!(!folder.join("data").exists(), "nothing was begun");
    for (policy, told) in [
        (
            "rules:\n  - name: x\n    method: [a, b\n    then: ask\n",
            "policy.yaml:4:9: a `:` cannot stand here",
        ),
        ("rules: [", "policy.yaml:1:8: nothing closes the bracket '['"),
    ] {
        fs::write(folder.join("policy.yaml"), policy).unwrap();
        fs::write(folder.join("mcp.json"), "{\n  \"mcpServers\": {\n").unwrap();
        let (said, _) = checked(&world, world.bot()).await;
        assert!(said.contains(told), "{told}: {said}");
        assert!(said.contains("mcp.json:2:17: the file ends in the middle of an object"), "{said}");
    }
    // A folder that is none is one fault.
    fs::remove_file(folder.join("policy.yaml")).unwrap();
    fs::remove_file(folder.join("mcp.json")).unwrap();
    fs::remove_dir_all(folder.join("prompts")).unwrap();
    fs::write(folder.join("prompts"), "").unwrap();
    assert_eq!(
        refused(&world, &world.bot()).await,
        "prompts is a file: what is your own stands in a folder of this name"
    );
    fs::remove_file(folder.join("prompts")).unwrap();
    fs::create_dir(folder.join("prompts")).unwrap();
    fs::write(folder.join("prompts/agents"), "").unwrap();
    let told = "prompts/agents cannot be read: a file stands where a folder has to be";
    assert_eq!(refused(&world, &world.bot()).await, told);
}

#[tokio::test]
async fn what_the_settings_say_twice_and_to_everybody_is_told() {
    let world = World::new().await;
    let file = world.folder.path().join(".env");
    let token = format!("TELEGRAM_BOT_TOKEN={}\n", world.telegram.token());
    fs::write(&file, format!("{token}ACCESS=open\n{token}")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let recipe = world.bot().unset("TELEGRAM_BOT_TOKEN").set("OWNER_IDS", "11,12,11");
    let (said, code) = checked(&world, recipe.clone()).await;
    assert_eq!(code, Some(0), "{said}");
    for line in [
        "! TELEGRAM_BOT_TOKEN stands in lines 1, 3 of .env: the last of them counts",
        "! OWNER_IDS names 11 a second time",
        "! other accounts of this machine can read the file .env, and with it TELEGRAM_BOT_TOKEN: run `chmod 600 .env`",
    ] {
        assert!(said.lines().any(|told| told == line), "{line}: {said}");
    }
    fs::write(&file, &token).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let (said, _) = checked(&world, recipe.set("OWNER_IDS", "11")).await;
    assert!(!said.contains('!'), "{said}");
    let keys = "app:0123456789abcdef,bot:0123456789abcdef";
    let message = refused(&world, &world.bot().set("HTTP_ADDR", "0").set("API_KEYS", keys)).await;
    assert!(
        message.contains("API_KEYS (word 2, ") && message.contains("names a key a second time"),
        "{message}"
    );
}

#[test]
fn a_bad_value_of_an_option_is_answered_with_what_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[&str], &str); 14] = [
        (&["audit", "--since", "foo"], "takes a day, as 2026-12-31"),
        (&["audit", "--since", "2026-02-30"], "takes a day, as 2026-12-31"),
        (&["audit", "--limit", "x"], "takes a whole number from 1 to 1000000"),
        (&["audit", "--limit", "-5"], "takes a whole number from 1 to 1000000"),
        (&["demo", "--port", "99999"], "takes a whole number from 0 to 65535"),
        (&["demo", "--word-pause", "soon"], "takes a whole number from 0 to 65535"),
        (
            &["memory", "recall", "--store", "x", "--budget", "5", "--conversation", "1", "what?"],
            "takes a whole number from 100 to 1000000",
        ),
        (
            &["memory", "recall", "--store", "x", "--recent", "-1", "--conversation", "1", "what?"],
            "takes a number from 0 to 1",
        ),
        (&["ask", "--model", "gpt", "what?"], "is not of the form provider:model"),
        (&["store", "check", "data"], "is not of the form redb:FOLDER, sled:FOLDER or postgres:"),
        (&["policy", "explain", "sendMessage", "--role", "king"], "takes owner, admin, member, guest"),
        (&["policy", "check", "gone.yaml"], "there is no file gone.yaml"),
        (&["mcp", "check", "gone.json"], "there is no file gone.json"),
        (&["import", "gone.jsonl"], "there is no such file or folder"),
    ];
    for (arguments, wanted) in cases {
        let recipe = arguments.iter().fold(Recipe::new(folder.path()), |recipe, arg| recipe.arg(arg));
        let output = recipe.output();
        let (said, errors) = words(&output);
        assert_eq!((said.as_str(), output.status.code()), ("", Some(2)), "{arguments:?}: {errors}");
        assert!(errors.contains(wanted), "{arguments:?}: {errors}");
        assert!(!errors.contains("os error") && !errors.contains("digit"), "{arguments:?}: {errors}");
    }
}
