//! What other accounts of the machine may not see: the store's files, the codes of links that make an owner, and secrets
//! that were put into the wrong variable.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use figaro_config::Variables;
use figaro_offline::model::ModelReply;
use figaro_offline::telegram::TelegramView;
use figaro_provider::BUILTIN;

use crate::support::bot::Recipe;
use crate::support::output::words;
use crate::support::scene::text;
use crate::support::{ANN, BOB, Bot, World};

/// A bot's token as BotFather makes them.
const SECRET: &str = "7000000009:AAE-s3cret_abcdefghijklmnopqrstuvw";

/// What below a folder others may look at, the folder itself included.
fn open_to_others(path: &Path) -> Vec<String> {
    let metadata = fs::metadata(path).unwrap();
    let below = || fs::read_dir(path).unwrap().flat_map(|entry| open_to_others(&entry.unwrap().path()));
    let mut open: Vec<String> = if metadata.is_dir() { below().collect() } else { Vec::new() };
    if metadata.permissions().mode() & 0o077 != 0 {
        open.push(path.display().to_string());
    }
    open
}

fn open_up(path: &Path) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| open_up(&entry.unwrap().path()));
    }
    fs::set_permissions(path, Permissions::from_mode(if path.is_dir() { 0o755 } else { 0o644 })).unwrap();
}

#[tokio::test]
async fn the_store_is_for_one_account_alone() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Yes?"));
    let store = world.folder.path().join("deep/down/data");
    let recipe = world.bot().set("STORE_URL", "redb:./deep/down/data");
    let bot = recipe.spawn();
    bot.ready().await;
    assert_eq!(fs::metadata(&store).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(
        fs::metadata(store.parent().unwrap()).unwrap().permissions().mode() & 0o055,
        0o055,
        "not ours"
    );
    world.ask("hello").await;
    bot.ends_well().await;
    // As an earlier version left it.
    open_up(&store);
    let bot = recipe.spawn();
    bot.ready().await;
    assert_eq!(open_to_others(&store), Vec::<String>::new());
    assert_eq!(bot.log().matches("could read the store").count(), 1, "{}", bot.log());
    world.ask("still there?").await;
    bot.ends_well().await;
    let bot = recipe.spawn();
    bot.ready().await;
    assert_eq!(bot.log().matches("could read the store").count(), 1, "it is told once");
    bot.ends_well().await;
}

#[tokio::test]
async fn a_folder_that_has_other_files_too_is_not_closed() {
    let world = World::new().await;
    let folder = world.folder.path();
    fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.join("a-file"), "shopping list").unwrap();
    let bot = world.bot().set("STORE_URL", "redb:.").spawn();
    bot.ready().await;
    let open = open_to_others(folder);
    assert!(open.iter().any(|path| path.ends_with("a-file")), "{open:?}");
    assert!(!open.iter().any(|path| path.ends_with("/store.redb")), "{open:?}");
    assert!(bot.log().contains("give it a folder of its own"), "{}", bot.log());
    bot.ends_well().await;
}

#[tokio::test]
async fn the_demo_keeps_its_store_private() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("kept");
    let recipe = Recipe::new(folder.path()).set("RUST_LOG", "info").arg("demo").arg("--store").arg("kept");
    let bot = recipe.spawn();
    bot.ready().await;
    assert_eq!(fs::metadata(&store).unwrap().permissions().mode() & 0o777, 0o700);
    bot.ends_well().await;
}

/// The codes of the links that a text has shown.
fn codes(text: &str) -> Vec<String> {
    let links = text.split("https://t.me/figaro_bot?start=").skip(1);
    links.map(|rest| rest.split_whitespace().next().unwrap().to_owned()).collect()
}

/// Every byte below a folder.
fn bytes(path: &Path) -> Vec<u8> {
    if !path.is_dir() {
        // A socket has no bytes.
        return if path.is_file() { fs::read(path).unwrap() } else { Vec::new() };
    }
    fs::read_dir(path).unwrap().flat_map(|entry| bytes(&entry.unwrap().path())).collect()
}

fn holds(bytes: &[u8], words: &str) -> bool {
    bytes.windows(words.len()).any(|window| window == words.as_bytes())
}

async fn links(bot: &Bot, count: usize) -> Vec<String> {
    bot.ready().await;
    bot.logged("to become its owner.").await;
    let codes = codes(&bot.log());
    assert_eq!(codes.len(), count, "{}", bot.log());
    codes
}

#[tokio::test]
async fn the_store_does_not_tell_the_code_of_a_link_and_earlier_links_stay_good() {
    let world = World::new().await;
    let recipe = world.bot().unset("OWNER_IDS");
    let bot = recipe.spawn();
    links(&bot, 1).await;
    bot.ends_well().await;
    let bot = recipe.spawn();
    let shown = links(&bot, 2).await;
    let store = bytes(&world.folder.path().join("data"));
    assert!(shown.iter().all(|code| code.len() == 32 && !holds(&store, code)), "a code is in the store");
    let card = world.told(BOB, BOB, &format!("/start {}", shown[0])).await;
    assert!(text(&card).starts_with("You own this bot now."), "{card}");
    world.told(BOB, BOB, &format!("/allow {ANN}")).await;
    // One owner is enough: the other links are void.
    let card = world.told(ANN, ANN, &format!("/start {}", shown[1])).await;
    assert!(text(&card).starts_with("This link no longer works."), "{card}");
    bot.ends_well().await;
}

#[tokio::test]
async fn a_link_is_void_once_the_settings_name_an_owner() {
    let world = World::new().await;
    let bare = world.bot().unset("OWNER_IDS");
    let bot = bare.spawn();
    let code = links(&bot, 1).await.remove(0);
    bot.ends_well().await;
    let bot = world.start().await;
    assert!(bot.log().contains("links that were to make one are void"), "{}", bot.log());
    let told = world.told(BOB, BOB, &format!("/start {code}")).await;
    assert!(text(&told).starts_with("This bot is private."), "{told}");
    assert!(text(&world.told(ANN, ANN, "/allow").await).contains("Owners: Ann (@ann)\n"));
    bot.ends_well().await;
    let bot = bare.spawn();
    links(&bot, 2).await;
    world.say(BOB, BOB, &format!("/start {code}"));
    let taken = |view: &TelegramView<'_>| (view.updates_pending() == 0).then_some(());
    world.see("the link being tried again", taken).await;
    bot.ends_well().await;
    assert_eq!(world.bot_texts(BOB).len(), 1, "it is not good again");
}

#[tokio::test]
async fn a_secret_in_the_wrong_variable_is_not_shown() {
    let world = World::new().await;
    for variable in Variables::new(BUILTIN.iter().map(|provider| provider.spec).collect()).iter() {
        for value in
            [SECRET.to_owned(), format!("openai:{SECRET}"), format!("http://{SECRET}@x.invalid:port")]
        {
            // Every service is set up, so that each variable counts; one more mistake has all complaints shown.
            let other = if variable.name == "MAX_PASSES" { "HISTORY_TOKENS" } else { "MAX_PASSES" };
            let recipe = ["COMPATIBLE_MODEL", "OLLAMA_MODEL", "GEMINI_API_KEY"]
                .into_iter()
                .fold(world.bot(), |recipe, name| recipe.set(name, "m"))
                .set("LLM_FALLBACK", "compatible:m, ollama:m, gemini:m")
                .set("COMPATIBLE_BASE_URL", "http://127.0.0.1:1")
                .set(other, "0")
                .set(variable.name, &value);
            let output = recipe.run().await;
            let (said, errors) = words(&output);
            let all = said + &errors;
            assert_eq!(output.status.code(), Some(2), "{} {value}: {all}", variable.name);
            assert!(!all.contains(SECRET) && !all.contains("AAE-s3cret"), "{} {value}: {all}", variable.name);
            let is_told = all.contains(&format!("  - {}", variable.name));
            assert!(
                is_told || variable.is_secret,
                "{} {value}: it would be shown later: {all}",
                variable.name
            );
        }
    }
}

#[test]
fn the_server_of_tools_shows_no_value_either() {
    let names = [
        "TELEGRAM_BOT_TOKEN",
        "TELEGRAM_API_URL",
        "TELEGRAM_PROXY",
        "ALL_PROXY",
        "MCP_HTTP_PORT",
        "MCP_API_KEY",
        "FIGARO_MCP_KEY",
        "RUST_LOG",
        "LOG_FORMAT",
    ];
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        // With standard input closed it ends as soon as it has begun.
        let recipe = Recipe::new(folder.path())
            .program(Path::new(env!("CARGO_BIN_EXE_figaro-mcp")))
            .set("TELEGRAM_BOT_TOKEN", "1:abc")
            .set("FIGARO_MCP_KEY", "key")
            .set("MCP_HTTP_PORT", "0")
            .set(name, &format!("x={SECRET}"));
        let (said, errors) = words(&recipe.arg("--supervised").output());
        assert!(!said.contains(SECRET) && !errors.contains(SECRET), "{name}: {said}{errors}");
    }
}
