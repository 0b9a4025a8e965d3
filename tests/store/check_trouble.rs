//! `figaro check` where something is not there: it says what, makes and changes nothing, and comes to its end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use figaro_config::EngineKind::{Redb, Sled};
use figaro_offline::model::ModelReply;

use crate::command::{talked, with};
use crate::support::bot::Recipe;
use crate::support::canned::Canned;
use crate::support::output::words;
use crate::support::{World, listener};

/// What a check says that finds something wrong.
async fn troubled(recipe: &Recipe) -> String {
    let output = recipe.clone().arg("check").run().await;
    let (said, errors) = words(&output);
    assert_eq!(output.status.code(), Some(2), "{said}{errors}");
    let failed = said.lines().find_map(|line| line.strip_prefix("✗ ")?.split(':').next());
    let failed = failed.unwrap_or_else(|| panic!("{said}"));
    let next = format!("Next: put right the line `✗ {failed}`, then run `figaro check` again.");
    assert_eq!(errors, format!("figaro: not everything is in order\n{next}\n"), "{said}");
    said
}

/// Every path below a folder.
fn below(folder: &Path) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.display().to_string());
        if path.is_dir() {
            found.extend(below(&path));
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn what_refuses_and_what_never_answers_is_told_and_nothing_else_is_said() {
    let world = World::new().await;
    let refusing = format!("http://{}", listener().await.local_addr().unwrap());
    // Connections to it succeed, and nobody answers.
    let listener = listener().await;
    let silent = format!("http://{}", listener.local_addr().unwrap());
    for (url, telegram, model) in [
        (refusing.as_str(), "cannot be reached (no connection)", "is not available"),
        (silent.as_str(), "did not answer (no answer in 5 s)", "sent nothing for 5 s"),
    ] {
        let recipe = world.bot().set("TELEGRAM_API_URL", url).set("OPENAI_BASE_URL", &format!("{url}/v1"));
        let said = troubled(&recipe).await;
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), 4, "{said}");
        assert_eq!(lines[0], "✓ settings");
        assert!(lines[1].starts_with("✓ store: none yet"), "{said}");
        assert!(lines[2].starts_with("✗ telegram: ") && lines[2].contains(telegram), "{said}");
        assert!(lines[2].ends_with("check TELEGRAM_API_URL, TELEGRAM_PROXY and the network"), "{said}");
        assert!(lines[3].starts_with("✗ model: openai:offline: ") && lines[3].contains(model), "{said}");
        assert!(lines[3].ends_with("check OPENAI_BASE_URL, LLM_PROXY and the network"), "{said}");
    }
    assert_eq!(below(world.folder.path()), Vec::<String>::new(), "it makes nothing");
}

#[tokio::test]
async fn a_log_is_there_for_whoever_asks_for_it() {
    let world = World::new().await;
    world.script.push(ModelReply::text("Yes."));
    let output = world.bot().set("RUST_LOG", "trace").arg("check").run().await;
    let (said, errors) = words(&output);
    assert!(output.status.success() && errors.contains("TRACE"), "{said}{errors}");
    assert!(!said.contains("TRACE"), "{said}");
}

#[tokio::test]
async fn a_base_url_without_its_end_is_told_with_the_likely_one_and_the_model_is_not_blamed() {
    let world = World::new().await;
    let server = Canned::empty().await;
    let url = &server.url;
    let cases = [
        ("openai", "OPENAI_BASE_URL", "/v1"),
        ("compatible", "COMPATIBLE_BASE_URL", "/v1"),
        ("gemini", "GEMINI_BASE_URL", "/v1beta"),
    ];
    for (provider, variable, end) in cases {
        let recipe = world.many().set("LLM_PROVIDER", provider).set(variable, url);
        let said = troubled(&recipe).await;
        let wanted = format!("{variable} is {url}, and should probably be {url}{end}");
        assert!(said.contains(&wanted), "{said}");
        assert!(!said.contains("_MODEL"), "{said}");
    }
    let recipe = world
        .bot()
        .set("LLM_PROVIDER", "ollama")
        .set("OLLAMA_MODEL", "qwen3:8b")
        .set("OLLAMA_BASE_URL", &format!("{url}/v1"));
    let said = troubled(&recipe).await;
    assert!(said.contains(&format!("OLLAMA_BASE_URL is {url}/v1, and should probably be {url})")), "{said}");
}

#[tokio::test]
async fn a_model_that_is_not_served_at_the_right_address_is_blamed_itself() {
    let world = World::new().await;
    world.model.retire("offline");
    let said = troubled(&world.bot()).await;
    assert!(said.contains("choose another OPENAI_MODEL") && !said.contains("OPENAI_BASE_URL"), "{said}");
}

#[tokio::test]
async fn a_store_is_looked_at_and_stays_as_it_is() {
    for engine in [Redb, Sled] {
        let world = talked(engine).await;
        world.otherwise(ModelReply::text("Yes."));
        let store = world.folder.path().join("data");
        let bytes = || {
            let files = below(&store).into_iter().filter(|path| Path::new(path).is_file());
            files.map(|path| (fs::read(&path).unwrap(), path)).collect::<Vec<_>>()
        };
        let before = bytes();
        // Not the mode of the store, which check does not mend.
        fs::set_permissions(&store, fs::Permissions::from_mode(0o755)).unwrap();
        let output = with(&world, engine).unset("OWNER_IDS").arg("check").run().await;
        let (said, errors) = words(&output);
        assert!(output.status.success() && errors.is_empty(), "{said}{errors}");
        assert!(said.contains("✓ store: ./data"), "{said}");
        let tells_of_owners = said.contains("! nobody owns this bot yet\n");
        assert_eq!(tells_of_owners, engine == Redb, "of sled that is not known: {said}");
        assert_eq!(bytes(), before, "{engine}");
        assert_eq!(fs::metadata(&store).unwrap().permissions().mode() & 0o777, 0o755);
    }
}

#[tokio::test]
async fn a_store_that_was_not_closed_is_left_to_the_bot() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Yes."));
    let bot = with(&world, Redb).spawn();
    bot.ready().await;
    bot.kill();
    let output = with(&world, Redb).arg("check").run().await;
    let (said, errors) = words(&output);
    assert!(output.status.success(), "{said}{errors}");
    assert!(
        said.contains("✓ store: ./data: a store of redb that is read and mended when the bot starts"),
        "{said}"
    );
}

#[tokio::test]
async fn misspelt_names_are_told_with_the_likely_ones() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Yes."));
    fs::write(world.folder.path().join(".env"), "# mine\nSHOE_SIZE=secret-size\n").unwrap();
    let recipe = world.bot().set("TELEGRAM_BOT_TOKN", "secret-token").set("EDITOR", "ed");
    let hints = [
        "SHOE_SIZE in line 2 of .env is not known",
        "TELEGRAM_BOT_TOKN is not known: did you mean TELEGRAM_BOT_TOKEN?",
    ];
    let output = recipe.clone().arg("check").run().await;
    let (said, errors) = words(&output);
    assert!(output.status.success(), "{said}{errors}");
    let told: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("! ")).collect();
    assert_eq!(told, hints, "{said}");

    let bot = recipe.spawn();
    bot.ready().await;
    for hint in hints {
        assert_eq!(bot.log().matches(hint).count(), 1, "{}", bot.log());
    }
    assert!(!bot.log().contains("EDITOR") && !bot.log().contains("secret-"), "{}", bot.log());
    bot.ends_well().await;

    let message = crate::support::output::refused(&world, &recipe.unset("TELEGRAM_BOT_TOKEN")).await;
    assert!(message.contains("TELEGRAM_BOT_TOKEN is missing") && message.contains(hints[1]), "{message}");
    assert!(!message.contains("secret-"), "{message}");
}

#[test]
fn a_misspelt_command_is_answered_with_the_likely_one() {
    let folder = tempfile::tempdir().unwrap();
    for (given, meant) in [("chekc", "check"), ("dmeo", "demo"), ("int", "init")] {
        let output = Recipe::new(folder.path()).arg(given).output();
        assert_eq!(output.status.code(), Some(2));
        let (_, errors) = words(&output);
        assert!(errors.contains(&format!("'{meant}'")), "{errors}");
    }
}
