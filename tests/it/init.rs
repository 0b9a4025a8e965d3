//! `figaro init`: a dialogue that ends with a bot that can be started, or with nothing changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use figaro_offline::model::ModelReply;
use serde_json::json;

use crate::support::bot::Recipe;
use crate::support::canned::Canned;
use crate::support::dialogue::{AtTerminal, recipe, typed};
use crate::support::output::words;
use crate::support::proxy::ForwardProxy;
use crate::support::scene::text;
use crate::support::{BOB, World};

const KEY: &str = "sk-typed-key-0123";

/// What a setup says that succeeds.
async fn set_up(recipe: &Recipe, lines: &[&str]) -> String {
    let output = typed(recipe, lines).await;
    let (said, errors) = words(&output);
    assert!(output.status.success() && errors.is_empty(), "{said}{errors}");
    said
}

/// What a setup says that ends before it has written anything, and its last words.
async fn given_up(recipe: &Recipe, lines: &[&str]) -> (String, String) {
    let output = typed(recipe, lines).await;
    let (said, errors) = words(&output);
    assert_eq!(output.status.code(), Some(2), "{said}{errors}");
    (said, errors)
}

fn env_file(world: &World) -> String {
    fs::read_to_string(world.folder.path().join(".env")).unwrap()
}

/// The names of the files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The code of the link in a text.
fn code(text: &str) -> String {
    let (_, rest) =
        text.split_once("https://t.me/figaro_bot?start=").unwrap_or_else(|| panic!("no link: {text}"));
    rest.lines().next().unwrap().to_owned()
}

#[tokio::test]
async fn a_few_answers_make_a_bot_that_runs_and_has_an_owner() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Hello Bob."));
    let said = set_up(&recipe(&world), &[world.telegram.token(), "", KEY, "", ""]).await;
    for secret in [KEY, world.telegram.token()] {
        assert!(!said.contains(secret), "{said}");
    }
    let link = code(&said);
    assert!(said.lines().any(|line| line == format!("https://t.me/figaro_bot?start={link}")), "{said}");
    let (before, until) = said.split_once("minutes, until ").unwrap();
    let transcript = format!("{before}minutes, until TIME{}", &until[5..]);
    let transcript =
        transcript.replace(&link, "CODE").replace(world.model.url().trim_end_matches("/v1"), "MODEL");
    let transcript = transcript.replace(world.model.ollama_url().trim_start_matches("http://"), "MODEL");
    insta::assert_snapshot!(transcript);

    let path = world.folder.path().join(".env");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let written = env_file(&world).replace(world.telegram.token(), "TOKEN");
    insta::assert_snapshot!(written);
    assert_eq!(names(world.folder.path()), [".env", "data"]);

    // The link waits for the bot, and so does whoever opens it before the bot runs.
    world.say(BOB, BOB, &format!("/start {link}"));
    let bot = recipe(&world).spawn();
    let card = world.answers(BOB, 1).await.remove(0);
    assert!(text(&card).starts_with("You own this bot now."), "{card}");
    assert_eq!(text(&world.told(BOB, BOB, "hello").await), "Hello Bob.");
    bot.ends_well().await;
    let said = set_up(&recipe(&world), &["", "", "", "", ""]).await;
    assert!(!said.contains("t.me/figaro_bot"), "it has an owner: {said}");
    assert!(said.contains(&format!("✓ A test message went to the owner ({BOB})")), "{said}");
    let test = "This is a test message of the setup of @figaro_bot: it can write to you.";
    assert_eq!(world.bot_texts(BOB).last().unwrap(), test);
}

#[tokio::test]
async fn an_owner_who_has_not_pressed_start_is_told_where_to() {
    let world = World::new().await;
    let nobody = 4_242;
    let recipe = recipe(&world).set("OWNER_IDS", &nobody.to_string());
    let said = set_up(&recipe, &[world.telegram.token(), "", KEY, "", ""]).await;
    let wanted = format!("! The owner ({nobody}) got no test message");
    let line = said.lines().find(|line| line.starts_with(&wanted)).unwrap_or_else(|| panic!("{said}"));
    assert!(line.contains("Press Start first at https://t.me/figaro_bot"), "{line}");
}

#[tokio::test]
async fn a_wrong_token_is_told_and_asked_for_again() {
    let world = World::new().await;
    let other = "7000000001:AAE-abcdefghijklmnopqrstuvwxyz_01";
    let said =
        set_up(&recipe(&world), &["nonsense", other, "", world.telegram.token(), "", KEY, "", ""]).await;
    for wanted in [
        "✗ TELEGRAM_BOT_TOKEN (8 characters) is not a bot token",
        "✗ Telegram does not know this bot token: copy TELEGRAM_BOT_TOKEN again from @BotFather",
        "✓ @figaro_bot",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert_eq!(said.matches("✗ Telegram does not know").count(), 2, "Enter tries again: {said}");
    assert!(!said.contains(other) && !said.contains("nonsense"), "{said}");
}

#[tokio::test]
async fn without_a_network_the_token_is_asked_for_again() {
    let world = World::new().await;
    let refusing = format!("http://{}", crate::support::listener().await.local_addr().unwrap());
    let (said, errors) =
        given_up(&recipe(&world).set("TELEGRAM_API_URL", &refusing), &[world.telegram.token()]).await;
    assert!(said.contains("✗ Telegram cannot be reached (no connection): check the network"), "{said}");
    assert_eq!(errors, "figaro: the input ended before all was answered; nothing was written\n");
    assert_eq!(names(world.folder.path()), Vec::<String>::new());
}

/// A service that takes one key and lists two models below `/v1`.
async fn service() -> Canned {
    Canned::start(|path, head| match path {
        _ if !path.starts_with("/v1/") => (404, r#"{"detail":"Not Found"}"#.to_owned()),
        _ if !head.contains(&format!("authorization: bearer {KEY}\r\n")) => {
            (401, json!({"error": {"message": "Bad key.", "code": "invalid_api_key"}}).to_string())
        }
        _ => (200, json!({"data": [{"id": "ape"}, {"id": "zebra"}]}).to_string()),
    })
    .await
}

#[tokio::test]
async fn a_wrong_address_and_a_wrong_key_are_told_and_asked_for_again() {
    let (world, service) = (World::new().await, service().await);
    let url = &service.url;
    let lines = [
        world.telegram.token(),
        "7",
        "compatible",
        url,
        "sk-wrong",
        &format!("{url}/v1"),
        "",
        KEY,
        "3",
        "2",
        "Nowhere",
        "lisbon",
    ];
    let said = set_up(&recipe(&world), &lines).await;
    for wanted in [
        "✗ Type a number from 1 to 6, or a name.",
        &format!("COMPATIBLE_BASE_URL is {url}, and should probably be {url}/v1"),
        "✗ the provider refused the key (Bad key.)",
        "   1  ape\n   2  zebra\n",
        "✗ 3 is not among them.",
        "✗ No zone is known by that name.",
        "✓ Europe/Lisbon",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert_eq!(said.matches("refused the key").count(), 2, "Enter tries again: {said}");
    assert!(!said.contains("sk-"), "{said}");
    let file = env_file(&world);
    for line in [
        "LLM_PROVIDER=compatible",
        &format!("COMPATIBLE_BASE_URL={url}/v1"),
        &format!("COMPATIBLE_API_KEY={KEY}"),
        "COMPATIBLE_MODEL=zebra",
        "DEFAULT_TIMEZONE=Europe/Lisbon",
    ] {
        assert_eq!(file.lines().filter(|written| *written == line).count(), 1, "{line}: {file}");
    }
}

#[tokio::test]
async fn a_key_that_only_the_model_refuses_is_asked_for_again() {
    let world = World::new().await;
    let service = Canned::start(|path, head| match path {
        "/v1/models" => (200, json!({"data": [{"id": "ape"}]}).to_string()),
        _ if head.contains(&format!("authorization: bearer {KEY}\r\n")) => {
            let choice = json!({"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"});
            (
                200,
                json!({"id": "c", "object": "chat.completion", "model": "ape", "choices": [choice]})
                    .to_string(),
            )
        }
        _ => (401, json!({"error": {"message": "Bad key.", "code": "invalid_api_key"}}).to_string()),
    })
    .await;
    let url = format!("{}/v1", service.url);
    let lines = [world.telegram.token(), "compatible", &url, "sk-wrong", "", KEY, "", "lisbon"];
    let said = set_up(&recipe(&world), &lines).await;
    assert_eq!(said.matches("refused the key (Bad key.)").count(), 1, "{said}");
    assert!(env_file(&world).contains(&format!("COMPATIBLE_API_KEY={KEY}\n")), "{said}");
}

#[tokio::test]
async fn an_ollama_of_this_machine_is_found_with_its_models() {
    let world = World::new().await;
    let recipe = recipe(&world).set("OLLAMA_BASE_URL", world.model.ollama_url());
    let said = set_up(&recipe, &[world.telegram.token(), "ollama", "qwen3-vl:8b", ""]).await;
    assert!(said.contains("3  ollama: it runs at 127.0.0.1:") && said.contains("with 3 models"), "{said}");
    assert!(said.contains("   1  llama3.2:latest\n") && !said.contains("nomic-embed-text"), "{said}");
    let file = env_file(&world);
    assert!(file.contains("LLM_PROVIDER=ollama\n") && file.contains("OLLAMA_MODEL=qwen3-vl:8b\n"), "{file}");
    assert!(!file.contains("KEY"), "{file}");
}

#[tokio::test]
async fn an_ollama_that_is_absent_or_empty_is_told_with_what_helps_and_another_service_can_be_chosen() {
    let (world, service) = (World::new().await, service().await);
    let empty = Canned::start(|_, _| (200, r#"{"models":[]}"#.to_owned())).await;
    let rest = ["back", "compatible", &format!("{}/v1", service.url), KEY, "", ""];
    // What the environment sets is not asked for.
    let bare = recipe(&world).unset("OLLAMA_BASE_URL");
    for (address, wanted) in [
        ("http://127.0.0.1:9", "is Ollama running there? `ollama serve` starts it"),
        (&*empty.url, "✗ ollama has no model that talks: `ollama pull qwen3:8b` fetches one"),
    ] {
        fs::write(world.folder.path().join(".env"), format!("OLLAMA_BASE_URL={address}\n")).unwrap();
        let lines = [&[world.telegram.token(), "ollama", ""], &rest[..]].concat();
        let said = set_up(&bare, &lines).await;
        assert_eq!(said.matches(wanted).count(), 2, "Enter looks again: {said}");
        assert!(env_file(&world).contains("LLM_PROVIDER=compatible\n"), "{}", env_file(&world));
        assert!(!env_file(&world).contains("OLLAMA_MODEL"), "{}", env_file(&world));
    }
}

#[tokio::test]
async fn what_else_is_in_the_file_stays_as_it_is() {
    let world = World::new().await;
    let path = world.folder.path().join(".env");
    let before = "# Mine, with care.\nexport TELEGRAM_BOT_TOKEN='1:old' # of the old bot\nACCESS=open\n\n# OPENAI_API_KEY=\nSHOE_SIZE=44";
    fs::write(&path, before).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let said = set_up(&recipe(&world), &[world.telegram.token(), "1", KEY, "offline-text", ""]).await;
    assert!(said.contains("✗ The token in .env: ") && !said.contains("1:old"), "{said}");
    assert!(said.contains("! SHOE_SIZE in line 7 of .env is not known"), "{said}");
    let token = world.telegram.token();
    let begins = format!(
        "# Mine, with care.\nexport TELEGRAM_BOT_TOKEN={token} # of the old bot\nACCESS=open\n\n# OPENAI_API_KEY=\n\
         OPENAI_API_KEY={KEY}\nSHOE_SIZE=44\n"
    );
    assert!(env_file(&world).starts_with(&begins), "{}", env_file(&world));
    assert!(env_file(&world).contains("\nOPENAI_MODEL=offline-text\n"), "{}", env_file(&world));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

    // Enter alone keeps all of it.
    let kept = env_file(&world);
    let said = set_up(&recipe(&world), &["", "", "", "", ""]).await;
    assert!(said.contains("Token [that of @figaro_bot, which is set]:"), "{said}");
    assert_eq!(env_file(&world), kept);
}

#[tokio::test]
async fn what_the_environment_sets_is_neither_asked_for_nor_written() {
    let world = World::new().await;
    let all = world.bot().set("LLM_PROVIDER", "openai").set("DEFAULT_TIMEZONE", "Asia/Tokyo");
    let said = set_up(&all, &[]).await;
    assert!(said.contains("✓ @figaro_bot, by the token in the environment"), "{said}");
    assert_eq!(env_file(&world), "");
    world.telegram.revoke_token();
    let (_, errors) = given_up(&all, &[]).await;
    assert!(errors.contains("TELEGRAM_BOT_TOKEN is set in the environment, change it there"), "{errors}");
}

#[tokio::test]
async fn an_input_that_ends_leaves_everything_as_it_was() {
    let world = World::new().await;
    let path = world.folder.path().join(".env");
    let lines = [world.telegram.token(), "openai", KEY, "offline"];
    for count in 0..=lines.len() {
        let (_, errors) = given_up(&recipe(&world), &lines[..count]).await;
        assert_eq!(errors, "figaro: the input ended before all was answered; nothing was written\n");
        assert_eq!(names(world.folder.path()), Vec::<String>::new(), "{count} lines");
    }
    fs::write(&path, "ACCESS open\n").unwrap();
    let (_, errors) = given_up(&recipe(&world), &lines).await;
    assert_eq!(errors, "figaro: line 1 of the file .env has no = between a name and a value\n");
    assert_eq!(env_file(&world), "ACCESS open\n");
}

#[tokio::test]
async fn a_mistake_elsewhere_is_told_when_the_file_is_written() {
    let world = World::new().await;
    fs::write(world.folder.path().join(".env"), "MAX_PASSES=many\n").unwrap();
    let (said, errors) = given_up(&recipe(&world), &[world.telegram.token(), "", KEY, "", ""]).await;
    assert!(said.contains("✓ .env is written"), "{said}");
    assert!(errors.contains("MAX_PASSES (`many`) is not a whole number"), "{errors}");
}

#[tokio::test]
async fn a_running_bot_is_not_disturbed() {
    let world = World::new().await;
    let bot = world.start().await;
    let said = set_up(&recipe(&world), &["", "back", world.telegram.token(), "", KEY, "", ""]).await;
    assert!(
        said.contains("✗ A bot needs a token") && said.contains("There is no question before this one."),
        "{said}"
    );
    assert!(said.contains("! A bot runs with this store.") && !said.contains("t.me/figaro"), "{said}");
    bot.ends_well().await;
}

#[tokio::test]
async fn a_terminal_shows_no_secret_and_a_code_for_the_phone() {
    let world = World::new().await;
    let mut terminal = AtTerminal::start(&recipe(&world).arg("init"));
    terminal.answer("Token: ", world.telegram.token()).await;
    terminal.answer("[openai]: ", "1").await;
    terminal.answer("it takes one: ", KEY).await;
    terminal.answer("[offline]: ", "").await;
    terminal.answer("[Europe/Riga]: ", "").await;
    terminal.answer("y or n [y]: ", "n").await;
    assert!(terminal.ended().await.success(), "{}", terminal.screen());
    terminal.shows("`figaro check` says").await;
    let screen = terminal.screen();
    assert!(!screen.contains(KEY) && !screen.contains(world.telegram.token()), "{screen}");
    assert!(screen.contains("\u{2580}") && screen.contains("\u{1b}[30;107m"), "no code: {screen}");
    assert!(terminal.echoes(), "what is typed later is shown");
}

/// Starts `figaro init` beside a `systemctl` that runs this script, and answers all questions before the one about a service.
async fn with_systemd(world: &World, script: &str) -> AtTerminal {
    let folder = world.folder.path();
    let systemctl = folder.join("systemctl");
    fs::write(&systemctl, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&systemctl, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let mut terminal = AtTerminal::start(&recipe(world).arg("init").set("PATH", &path));
    let pasted = [("Token: ", world.telegram.token()), ("[openai]: ", "1"), ("it takes one: ", KEY)];
    for (question, line) in pasted.into_iter().chain([("[offline]: ", ""), ("[Europe/Riga]: ", "")]) {
        terminal.answer(question, line).await;
    }
    terminal
}

#[tokio::test]
async fn a_service_of_the_account_is_offered_and_started() {
    for answer in ["", "y"] {
        let world = World::new().await;
        let folder = world.folder.path();
        // A systemd that has no such service yet, and writes down what it is told.
        let script = "case $2 in cat) exit 1 ;; enable) echo \"$@\" >>\"${0%/*}/told\" ;; esac";
        let mut terminal = with_systemd(&world, script).await;
        terminal.answer("y or n [n]: ", answer).await;
        if answer.is_empty() {
            terminal.answer("y or n [y]: ", "no").await;
        }
        assert!(terminal.ended().await.success(), "{}", terminal.screen());
        let unit = folder.canonicalize().unwrap().join("figaro.service");
        if answer.is_empty() {
            terminal.shows("`figaro` starts the bot in this folder.").await;
            assert!(!unit.exists() && !folder.join("told").exists());
            continue;
        }
        terminal.shows("✓ Figaro runs as a service.").await;
        let told = fs::read_to_string(folder.join("told")).unwrap();
        assert_eq!(told, format!("--user enable --now {}\n", unit.display()));
        let unit = fs::read_to_string(&unit).unwrap();
        let here = format!("WorkingDirectory={}\n", folder.canonicalize().unwrap().display());
        assert!(unit.contains(&here) && unit.contains("/figaro\"\n"), "{unit}");
    }
}

#[tokio::test]
async fn a_service_that_is_there_is_named_and_no_second_one_offered() {
    let world = World::new().await;
    let folder = world.folder.path();
    let mut terminal = with_systemd(&world, "").await;
    terminal.answer("y or n [y]: ", "no").await;
    assert!(terminal.ended().await.success(), "{}", terminal.screen());
    terminal.shows("This account has a service `figaro` already").await;
    assert!(!folder.join("figaro.service").exists());
}

#[tokio::test]
async fn six_keys_beyond_what_is_pasted_lead_to_a_first_answer() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Hello Bob."));
    let mut terminal = AtTerminal::start(&recipe(&world).arg("init"));
    let pasted = [("Token: ", world.telegram.token()), ("[openai]: ", ""), ("it takes one: ", KEY)];
    let offered = [("[offline]: ", ""), ("[Europe/Riga]: ", ""), ("y or n [y]: ", "")];
    for (question, line) in pasted.into_iter().chain(offered) {
        terminal.answer(question, line).await;
    }
    terminal.shows("become its owner.").await;
    let screen = terminal.screen();
    assert_eq!(screen.matches("Nobody owns this bot yet").count(), 1, "{screen}");
    world.say(BOB, BOB, &format!("/start {}", code(&screen).split_whitespace().next().unwrap()));
    assert!(text(&world.answers(BOB, 1).await[0]).starts_with("You own this bot now."));
    assert_eq!(text(&world.told(BOB, BOB, "hello").await), "Hello Bob.");
    terminal.signal("INT");
    assert!(terminal.ended().await.success(), "{}", terminal.screen());
}

#[tokio::test]
async fn ctrl_c_at_the_offer_to_start_keeps_what_is_written() {
    let world = World::new().await;
    let mut terminal = AtTerminal::start(&recipe(&world).arg("init"));
    for (question, line) in [
        ("Token: ", world.telegram.token()),
        ("[openai]: ", ""),
        ("it takes one: ", KEY),
        ("[offline]: ", ""),
        ("[Europe/Riga]: ", ""),
    ] {
        terminal.answer(question, line).await;
    }
    terminal.shows("y or n [y]: ").await;
    terminal.signal("INT");
    assert!(terminal.ended().await.success(), "{}", terminal.screen());
    terminal.shows("https://t.me/figaro_bot?start=").await;
    assert!(
        env_file(&world).contains("OPENAI_MODEL=offline\n")
            && !terminal.screen().contains("nothing was written")
    );
}

#[tokio::test]
async fn a_model_of_a_service_that_costs_gets_a_cap() {
    let prices = "openai:offline=0.4/0.1/1.6";
    let cases: [(&str, &[&str], &str, &str); 6] = [
        (
            prices,
            &[""],
            "\nMONTHLY_USD=10.00\n",
            "✓ At most $10.00 a month (MONTHLY_USD) and $1.00 of them a day (DAILY_USD).",
        ),
        (prices, &["ten", "0.05", "31"], "\nDAILY_USD=3.10\n", "✗ That is less than a cent a day."),
        (prices, &["0"], "", "! No cap."),
        ("", &[""], "\nMONTHLY_TOKENS=5000000\n", "does not know what openai:offline costs"),
        ("", &["a few", "2_000_000"], "\nDAILY_TOKENS=200000\n", "✗ Type a whole number of tokens"),
        ("", &["0"], "", "! No cap."),
    ];
    for (prices, answers, written, told) in cases {
        let (world, proxy) = (World::new().await, ForwardProxy::start().await);
        let url = world.model.url().replacen("127.0.0.1", "model.test", 1);
        let recipe = recipe(&world)
            .set("OPENAI_BASE_URL", &url)
            .set("LLM_PROXY", &format!("http://{}", proxy.address));
        let lines = [&[world.telegram.token(), "", KEY, "", ""], answers].concat();
        let said = set_up(&recipe.clone().set("LLM_PRICES", prices), &lines).await;
        assert!(said.contains(told), "{told}: {said}");
        let file = env_file(&world);
        assert_eq!(file.contains("DAILY_"), !written.is_empty(), "{file}");
        assert!(file.contains(written), "{written}: {file}");
        if !written.is_empty() {
            let said = set_up(&recipe, &["", "", "", "", ""]).await;
            assert!(said.contains(", and stays."), "what is set is not asked for again: {said}");
            assert_eq!(env_file(&world), file);
        }
    }
}

#[tokio::test]
async fn claude_and_openrouter_need_no_address() {
    // Nothing answers at the proxy, so no request leaves this machine.
    let world = World::new().await;
    let recipe = recipe(&world).set("LLM_PROXY", "http://127.0.0.1:9");
    let said = set_up(&recipe, &[world.telegram.token(), "Claude", KEY, "", "", ""]).await;
    for wanted in [
        "5  openrouter: ",
        "Key (https://platform.claude.com/settings/keys makes one):",
        "   1  claude-sonnet-5\n",
        "! It gave no answer to a first question",
        "does not know what compatible:claude-sonnet-5 costs",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    let file = env_file(&world);
    for line in [
        "LLM_PROVIDER=compatible",
        "COMPATIBLE_BASE_URL=https://api.anthropic.com/v1",
        &format!("COMPATIBLE_API_KEY={KEY}"),
        "COMPATIBLE_MODEL=claude-sonnet-5",
        "DAILY_TOKENS=500000",
    ] {
        assert!(file.lines().any(|written| written == line), "{line}: {file}");
    }
    // The next setup offers the service that is set, by its name.
    let said = set_up(&recipe, &["", "", "", "", ""]).await;
    assert!(said.contains("Number or name [claude]:"), "{said}");
    assert_eq!(env_file(&world), file);
    // The key of one service is not offered to another.
    let lines = ["", "6", "back", "openrouter", "", "sk-other-key-0123", "back", "", "", "", ""];
    let said = set_up(&recipe, &lines).await;
    assert!(said.contains("Key (https://openrouter.ai/settings/keys makes one):"), "{said}");
    assert!(said.contains("✗ It needs one; `back` chooses another service."), "{said}");
    assert_eq!(env_file(&world), file);
}

#[tokio::test]
async fn a_terminal_is_left_as_it_was_when_the_setup_is_ended_amid_a_secret() {
    for name in ["INT", "TERM"] {
        let world = World::new().await;
        let mut terminal = AtTerminal::start(&recipe(&world).arg("init"));
        terminal.shows("Token: ").await;
        assert!(!terminal.echoes());
        terminal.signal(name);
        assert_eq!(terminal.ended().await.code(), Some(2));
        assert!(terminal.echoes());
        terminal.shows("figaro: the setup was ended; nothing was written").await;
        assert_eq!(names(world.folder.path()), Vec::<String>::new());
    }
}

#[tokio::test]
async fn ctrl_c_at_each_question_leaves_everything_as_it_was() {
    let world = World::new().await;
    let path = world.folder.path().join(".env");
    let before = "# Mine.\nACCESS=open\n";
    fs::write(&path, before).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let questions = [
        ("Token: ", world.telegram.token()),
        ("[openai]: ", "1"),
        ("it takes one: ", KEY),
        ("[offline]: ", "offline"),
        ("[Europe/Riga]: ", ""),
    ];
    let of_terminal = recipe(&world).program(Path::new("setsid")).arg("--ctty");
    let setup = of_terminal.set("PATH", "/usr/bin:/bin").arg(env!("CARGO_BIN_EXE_figaro")).arg("init");
    for at in 0..questions.len() {
        let mut terminal = AtTerminal::start(&setup);
        for (question, answer) in &questions[..at] {
            terminal.answer(question, answer).await;
        }
        terminal.interrupt(questions[at].0).await;
        assert_eq!(terminal.ended().await.code(), Some(2), "{}: {}", questions[at].0, terminal.screen());
        terminal.shows("figaro: the setup was ended; nothing was written").await;
        assert!(terminal.echoes(), "{}", questions[at].0);
        assert_eq!(
            (env_file(&world).as_str(), names(world.folder.path())),
            (before, vec![".env".to_owned()])
        );
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}

#[tokio::test]
async fn a_bot_that_starts_at_a_terminal_shows_the_link_as_a_line_and_as_a_code() {
    let world = World::new().await;
    let mut terminal = AtTerminal::start(&world.bot().unset("OWNER_IDS"));
    terminal.shows("\u{1b}[30;107m").await;
    terminal.shows("Ctrl-C ends it").await;
    let screen = terminal.screen();
    assert!(screen.contains("write to it at https://t.me/figaro_bot; Ctrl-C ends it"), "{screen}");
    let line = screen.lines().find(|line| line.contains("?start=")).unwrap();
    assert!(line.starts_with("Nobody owns this bot yet. Open https://t.me/figaro_bot?start="), "{line}");
    assert!(line.ends_with(" within 15 minutes to become its owner."), "{line}");
    terminal.signal("TERM");
    assert!(terminal.ended().await.success(), "{}", terminal.screen());
}
