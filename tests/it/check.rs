//! A start that cannot succeed says why in one message, ends with code 2 and leaves nothing running; `figaro check`
//! beside it.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use figaro_offline::model::ModelReply;
use serde_json::json;
use tokio::net::TcpListener;

use crate::support::bot::Recipe;
use crate::support::output::{refused, words};
use crate::support::records::data_file;
use crate::support::wait::eventually;
use crate::support::{ANN, TIMEOUT, World, proc};

/// Every file of a folder with its content.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn every_mistake_in_the_settings_is_told_at_once() {
    let world = World::new().await;
    let wrong = [
        ("TELEGRAM_BOT_TOKEN", "7000000001offline-secret"),
        ("OPENAI_BASE_URL", "model.example"),
        ("LLM_PROVIDER", "skynet"),
        ("LLM_IDLE_TIMEOUT", "0"),
        ("OLLAMA_LOAD_TIMEOUT", "soon"),
        ("MCP_HTTP_PORT", "70000"),
        ("STORE_URL", "mysql://u:hunter2@db/x"),
        ("OWNER_IDS", "11,ann"),
        ("ACCESS", "everyone"),
        ("MAX_PASSES", "0"),
        ("HISTORY_TOKENS", "some"),
        ("DEFAULT_TIMEZONE", "Mars/Base"),
        ("LOG_FORMAT", "xml"),
        ("RUST_LOG", "figaro=loud"),
    ];
    let recipe = wrong.iter().fold(world.bot(), |recipe, (name, value)| recipe.set(name, value));
    let message = refused(&world, &recipe).await;
    let faults: Vec<&str> = message.lines().filter_map(|line| line.trim().strip_prefix("- ")).collect();
    for (name, _) in wrong {
        let told = faults.iter().filter(|fault| fault.starts_with(&format!("{name} "))).count();
        assert_eq!(told, 1, "{name} in {message}");
    }
    assert_eq!(faults.len(), wrong.len(), "{message}");
    assert!(message.starts_with(&format!("{} mistakes", wrong.len())), "{message}");
    assert!(!message.contains("offline-secret") && !message.contains("hunter2"), "{message}");
    for shown in
        ["LLM_PROVIDER (`skynet`)", "OWNER_IDS (word 2, `ann`)", "ACCESS (`everyone`)", "(`Mars/Base`)"]
    {
        assert!(message.contains(shown), "{shown} in {message}");
    }
    for further in ["Next: put that right in .env", "`figaro check`", "docs/configuration.md"] {
        assert!(message.contains(further), "it says how to go on: {message}");
    }
    assert!(!world.folder.path().join("data").exists(), "nothing was begun");
}

#[tokio::test]
async fn what_is_missing_is_told_with_where_to_get_it() {
    let world = World::new().await;
    let message = refused(&world, &Recipe::new(world.folder.path())).await;
    for words in [
        "not set up here yet",
        "`figaro init`",
        "`figaro demo`",
        "TELEGRAM_BOT_TOKEN is missing",
        "BotFather",
        "OPENAI_API_KEY is missing",
        "api-keys",
    ] {
        assert!(message.contains(words), "{words}: {message}");
    }
}

#[tokio::test]
async fn a_token_that_telegram_does_not_know_is_refused() {
    let world = World::new().await;
    world.telegram.revoke_token();
    let message = refused(&world, &world.bot()).await;
    assert!(message.contains("TELEGRAM_BOT_TOKEN") && message.contains("@BotFather"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let world = World::new().await;
    let held = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = held.local_addr().unwrap().port().to_string();
    let message =
        refused(&world, &world.bot().set("MCP_HTTP_PORT", &port).set("MCP_API_KEY", "for-others")).await;
    assert!(message.contains(&port) && message.contains("MCP_HTTP_PORT"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[tokio::test]
async fn a_store_that_is_none_is_refused_and_left_as_it_is() {
    let world = World::new().await;
    let folder = world.folder.path();
    fs::write(folder.join("a-file"), "shopping list").unwrap();
    fs::create_dir(folder.join("broken")).unwrap();
    let noise: Vec<u8> = (0..700_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(folder.join("broken/db"), noise).unwrap();
    fs::write(folder.join("broken/conf"), "nonsense").unwrap();
    let before = (files(folder), files(&folder.join("broken")));
    for path in ["a-file", "broken", "a-file/below"] {
        let message = refused(&world, &world.bot().set("STORE_URL", &format!("redb:./{path}"))).await;
        assert!(message.contains("store") && message.lines().count() == 1, "{path}: {message}");
    }
    assert_eq!((files(folder), files(&folder.join("broken"))), before);
}

#[tokio::test]
async fn a_store_that_was_damaged_is_refused_and_left_as_it_is() {
    let world = World::new().await;
    world.script.push(ModelReply::text("I will."));
    let bot = world.start().await;
    world.ask("Remember me").await;
    bot.ends_well().await;
    let store = world.folder.path().join("data");
    let file = data_file(&store);
    let mut bytes = fs::read(&file).unwrap();
    bytes[..16].fill(0x5a);
    fs::write(&file, bytes).unwrap();
    let before = files(&store);
    let message = refused(&world, &world.bot()).await;
    assert!(message.contains("cannot be read") && message.contains("backup"), "{message}");
    assert_eq!(files(&store), before);
}

#[tokio::test]
async fn a_store_in_use_is_refused_and_its_bot_goes_on() {
    let world = World::new().await;
    world.script.push(ModelReply::text("Still here."));
    let bot = world.start().await;
    let output = world.bot().run().await;
    let (_, errors) = words(&output);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.starts_with("figaro: ") && errors.contains("in use"), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert_eq!(world.ask("Are you there?").await["text"], "Still here.");
    bot.ends_well().await;
}

#[tokio::test]
async fn a_line_of_the_env_file_that_is_none_is_named_and_not_shown() {
    let world = World::new().await;
    let env = "# mine\nACCESS=open\n\nTELEGRAM_BOT_TOKEN 7000000001:offline-secret\nOWNER_IDS=11\n";
    fs::write(world.folder.path().join(".env"), env).unwrap();
    let message = refused(&world, &world.bot()).await;
    assert!(message.contains(".env") && message.contains("line 4"), "{message}");
    assert!(!message.contains("offline-secret"), "{message}");
}

#[tokio::test]
async fn an_mcp_server_that_is_none_is_refused() {
    let world = World::new().await;
    let folder = world.folder.path();
    fs::write(folder.join("plain"), "no program").unwrap();
    let cases =
        ["./absent".to_owned(), "./plain".to_owned(), folder.display().to_string(), "/bin/true".to_owned()];
    for program in cases {
        let message = refused(&world, &world.bot().set("MCP_SERVER_BIN", &program)).await;
        assert!(message.contains("what MCP_SERVER_BIN names"), "{program}: {message}");
        assert!(!message.contains(&program), "a value is not shown: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn help_and_version_need_no_settings() {
    let folder = tempfile::tempdir().unwrap();
    let bare = || Recipe::new(folder.path());
    let help = bare().arg("--help").output();
    assert!(help.status.success());
    let (said, _) = words(&help);
    let places = [
        "Usage: figaro [COMMAND]",
        "Run a bot:\n  init ",
        "  demo ",
        "Data:\n  backup ",
        "Options:\n  -h",
        "Exit codes:",
    ];
    let places = places.map(|words| said.find(words).unwrap_or_else(|| panic!("{words}: {said}")));
    assert!(places.is_sorted(), "{said}");
    let version = bare().arg("--version").output();
    assert!(version.status.success());
    assert_eq!(words(&version).0.trim(), format!("figaro {}", env!("CARGO_PKG_VERSION")));
    assert_eq!(bare().arg("shave").output().status.code(), Some(2));
}

#[tokio::test]
async fn the_check_warns_of_what_will_disappoint() {
    let world = World::new().await;
    let recipe = world.bot().set("LLM_PROVIDER", "ollama").set("OLLAMA_BASE_URL", world.model.ollama_url());
    let recipe = recipe.set("DAILY_TOKENS", "15").set("API_KEYS", "app:a-long-random-key");
    for (model, can_act) in [("gemma3:4b", false), ("llama3.2", true)] {
        world.otherwise(ModelReply::text("Yes."));
        let output = recipe.clone().set("OLLAMA_MODEL", model).arg("check").run().await;
        let (said, errors) = words(&output);
        assert!(output.status.success() && errors.is_empty(), "{said}{errors}");
        for line in [
            "! DAILY_TOKENS=15 is less than one answer takes",
            "! API_KEYS is set, but HTTP_ADDR is not: there is no HTTP gateway",
        ] {
            assert!(said.contains(line), "{line}: {said}");
        }
        let warning = format!("! ollama:{model} cannot use tools: it talks");
        assert_eq!(said.contains(&warning), !can_act, "{said}");
    }
    for filter in ["debgu", "info,verbose!!"] {
        let message = refused(&world, &world.bot().set("RUST_LOG", filter)).await;
        assert!(message.contains("RUST_LOG"), "{message}");
    }
}

#[tokio::test]
async fn the_health_check_tells_a_running_bot_from_none() {
    let world = World::new().await;
    let check = async |recipe: Recipe| {
        let output = recipe.arg("healthcheck").run().await;
        let (said, errors) = words(&output);
        (output.status.code(), said, errors)
    };
    let none = "figaro: no bot runs with the store in ./data\n".to_owned();
    assert_eq!(check(world.bot()).await, (Some(1), String::new(), none.clone()), "never started");
    let bot = world.start().await;
    assert_eq!(check(world.bot()).await, (Some(0), "ok\n".to_owned(), String::new()));
    bot.ends_well().await;
    assert_eq!(check(world.bot()).await, (Some(1), String::new(), none), "stopped");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let with_gateway = || world.bot().set("HTTP_ADDR", &address);
    let (code, _, errors) = check(with_gateway()).await;
    assert!(
        code == Some(1) && errors.contains(&format!("http://{address}/healthz does not answer")),
        "{errors}"
    );
    let bot = with_gateway().spawn();
    bot.ready().await;
    assert_eq!(check(with_gateway()).await.0, Some(0));
    bot.ends_well().await;
    assert_eq!(check(Recipe::new(world.folder.path())).await.0, Some(1), "no settings");
}

#[test]
fn completions_and_man_pages_know_every_command_and_read_no_settings() {
    let folder = tempfile::tempdir().unwrap();
    // The settings of this folder are broken.
    fs::write(folder.path().join(".env"), "no setting\n").unwrap();
    let bare = || Recipe::new(folder.path());
    for (shell, option) in [("bash", "--accept-loss"), ("zsh", "--accept-loss"), ("fish", "-l accept-loss")] {
        let output = bare().arg("completions").arg(shell).output();
        assert!(output.status.success(), "{output:?}");
        let (script, errors) = words(&output);
        assert!(
            script.contains(option) && script.contains("export") && errors.is_empty(),
            "{shell}: {script}{errors}"
        );
        assert!(!script.contains("mcp-server"), "hidden: {script}");
    }
    let script = bare().arg("completions").arg("bash").output().stdout;
    let file = folder.path().join("figaro.bash");
    fs::write(&file, script).unwrap();
    let completed = "source figaro.bash; COMP_WORDS=(figaro store c); COMP_CWORD=2; _figaro figaro c store; echo ${COMPREPLY[@]}";
    let completed = std::process::Command::new("bash")
        .args(["-c", completed])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(words(&completed).0.trim(), "copy check compact");
    let pages = folder.path().join("man");
    assert_eq!(bare().arg("man").arg("man").output().status.code(), Some(2), "the folder is missing");
    fs::create_dir(&pages).unwrap();
    assert!(bare().arg("man").arg("man").output().status.success());
    for (page, word) in
        [("figaro.1", "demo"), ("figaro-store-check.1", "accept"), ("figaro-mcp.1", "TELEGRAM_BOT_TOKEN")]
    {
        let text = fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.starts_with(".ie") && text.contains(word), "{page}: {text}");
    }
}

#[tokio::test]
async fn the_check_says_of_each_thing_that_it_is_there() {
    let world = World::new().await;
    world.script.push(ModelReply::text("Yes."));
    let output = world.bot().arg("check").run().await;
    let (said, errors) = words(&output);
    assert!(output.status.success(), "{said}{errors}");
    for line in [
        "✓ settings",
        "✓ telegram: @figaro_bot",
        "✓ model: openai:offline",
        "✓ store: none yet; the first start makes it in ./data",
        "Next: `figaro` starts the bot.",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!said.contains('✗') && !said.contains('!') && !said.contains("t.me"), "{said}");
    assert_eq!(errors, "", "it logs nothing");
    assert!(!world.folder.path().join("data").exists(), "it makes nothing");
    assert_eq!(proc::with_words(world.telegram.url()), Vec::<u32>::new());
    assert!(
        world.telegram.view(|view| view.calls_of("getUpdates").is_empty()),
        "it takes nothing from a bot"
    );
}

#[tokio::test]
async fn the_check_names_settings_that_a_model_has_nothing_like() {
    let world = World::new().await;
    world.script.push(ModelReply::text("Yes."));
    for (folder, name, text) in [
        (
            "agents",
            "sage",
            "type: object\ndescription: Be wise.\nproperties: {}\nrequired: []\njson_schema_extra:\n  kind: agent\n  name: sage\n  version: \"1\"\n  structured_output: false\n  settings: {presence_penalty: 1, temperature: 1}\n  tools: []\n",
        ),
        (
            "personas",
            "bard",
            "name: bard\ntitle: {en: Bard, pt: Bardo}\ndescription: {en: sings, pt: canta}\nprompt: Sing.\nsettings: {repeat_penalty: 1.2, presence_penalty: 0.5}\n",
        ),
    ] {
        let folder = world.folder.path().join("prompts").join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{name}.yaml")), text).unwrap();
    }
    let output = world.bot().arg("check").run().await;
    let (said, errors) = words(&output);
    assert!(output.status.success(), "{said}{errors}");
    let hints: Vec<&str> = said.lines().filter(|line| line.starts_with('!')).collect();
    let wanted = [
        "! model: openai:offline has no presence_penalty; it is left out for agent sage, persona bard",
        "! model: openai:offline has no repeat_penalty; it is left out for persona bard",
    ];
    assert_eq!(hints, wanted, "{said}");
}

#[tokio::test]
async fn the_check_names_models_that_nobody_answers_to() {
    let world = World::new().await;
    world.script.push(ModelReply::text("Yes."));
    let recipe = world.bot().arg("check").set("HTTP_MODELS", "gpt-4o=figaro,claude=resarcher,*=nobody-here");
    let (said, errors) = words(&recipe.run().await);
    let hints: Vec<&str> = said.lines().filter(|line| line.starts_with("! HTTP_MODELS")).collect();
    let there = "There are: figaro, extractor, orchestrator, researcher";
    let wanted = [
        format!("! HTTP_MODELS: nobody answers to *: there is no model `nobody-here`. {there}"),
        format!(
            "! HTTP_MODELS: nobody answers to claude: there is no model `resarcher`: did you mean `researcher`? {there}"
        ),
    ];
    assert_eq!(hints, wanted, "{said}{errors}");
}

#[tokio::test]
async fn the_check_goes_on_after_what_is_wrong() {
    let world = World::new().await;
    world.telegram.revoke_token();
    world.script.push(ModelReply::status_body(
        401,
        json!({"error": {"message": "Incorrect API key provided: sk-offline-key.", "code": "invalid_api_key"}}),
    ));
    let output = world.bot().arg("check").run().await;
    let (said, errors) = words(&output);
    assert_eq!(output.status.code(), Some(2), "{said}{errors}");
    for line in ["✓ settings", "✗ telegram: ", "✗ model: ", "✓ store: "] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(said.contains("TELEGRAM_BOT_TOKEN") && said.contains("OPENAI_API_KEY"), "what to mend: {said}");
    for secret in [world.telegram.token(), "sk-offline-key"] {
        assert!(!said.contains(secret) && !errors.contains(secret), "{said}{errors}");
    }
}

#[tokio::test]
async fn the_check_names_a_port_that_another_program_has() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("Yes."));
    let held = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = held.local_addr().unwrap();
    let of_mcp = |recipe: Recipe| recipe.set("MCP_HTTP_PORT", &address.port().to_string());
    let cases = [
        (
            world.bot().set("HTTP_ADDR", &address.to_string()).set("API_KEYS", "ann:for-the-gateway-alone"),
            "HTTP_ADDR=",
        ),
        (of_mcp(world.bot()).set("MCP_API_KEY", "for-others"), "MCP_HTTP_PORT"),
    ];
    for (recipe, variable) in cases {
        let (said, errors) = words(&recipe.clone().arg("check").run().await);
        let fault =
            said.lines().find(|line| line.starts_with("✗ ")).unwrap_or_else(|| panic!("{said}{errors}"));
        let (_, fault) = fault.split_once(": ").unwrap();
        assert!(fault.contains(variable) && fault.contains(&address.port().to_string()), "{said}");
        let start = refused(&world, &recipe).await;
        assert!(start.trim_end().ends_with(fault), "the start says the same: {start} and {said}");
    }
    // Nobody else comes in without a key, so the port is not opened.
    let output = of_mcp(world.bot()).arg("check").run().await;
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test]
async fn the_check_does_a_running_bot_no_harm() {
    let world = World::new().await;
    world.script.push(ModelReply::text("Yes."));
    world.script.push(ModelReply::text("All is well."));
    let bot = world.start().await;
    let output = world.bot().arg("check").run().await;
    let (said, errors) = words(&output);
    assert!(output.status.success(), "{said}{errors}");
    assert!(said.contains("✓ store: ./data is in use by a running bot"), "{said}");
    assert_eq!(world.ask("How are you?").await["text"], "All is well.");
    bot.ends_well().await;
    assert!(!bot_log_has_conflict(&world), "it polled beside the bot");
}

fn bot_log_has_conflict(world: &World) -> bool {
    fs::read_to_string(world.folder.path().join("figaro.log")).unwrap().contains("another process")
}

#[tokio::test]
async fn the_env_file_is_read_and_the_environment_wins() {
    let world = World::new().await;
    world.script.push(ModelReply::text("Yes."));
    let env = format!(
        "TELEGRAM_BOT_TOKEN={}\nTELEGRAM_API_URL={}\nOPENAI_API_KEY=sk-offline-key\nOPENAI_BASE_URL=\"{}\"\n\
         export STORE_URL=redb:./kept # here\nOPENAI_MODEL=of-the-file\nOWNER_IDS=11\n",
        world.telegram.token(),
        world.telegram.url(),
        world.model.url(),
    );
    fs::write(world.folder.path().join(".env"), env).unwrap();
    let recipe = Recipe::new(world.folder.path()).set("OPENAI_MODEL", "of-the-environment").arg("check");
    let output = recipe.run().await;
    let (said, errors) = words(&output);
    assert!(output.status.success(), "{said}{errors}");
    assert!(said.contains("openai:of-the-environment") && said.contains("./kept"), "{said}");
    assert_eq!(world.model.requests()[0].body["model"], "of-the-environment");
}

#[tokio::test]
async fn a_reader_that_has_left_changes_nothing() {
    let world = World::new().await;
    world.script.push(ModelReply::text("Yes."));
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        writer
    };
    let run = async |recipe: Recipe| {
        let mut command = tokio::process::Command::from(recipe.command());
        command.stdin(Stdio::null()).stdout(closed()).stderr(closed()).kill_on_drop(true);
        tokio::time::timeout(TIMEOUT, command.status()).await.unwrap().unwrap().code()
    };
    assert_eq!(run(world.bot().arg("check")).await, Some(0));
    assert_eq!(run(world.bot().set("ACCESS", "everyone")).await, Some(2));
    let mut command = world.bot().set("RUST_LOG", "trace").command();
    let mut bot = command.stdin(Stdio::null()).stdout(closed()).stderr(closed()).spawn().unwrap();
    world.script.push(ModelReply::text("Here."));
    assert_eq!(world.ask("Where are you?").await["text"], "Here.");
    proc::signal(bot.id(), "TERM");
    eventually(|| "it does not end", async || bot.try_wait().unwrap()).await;
    assert_eq!(bot.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn a_telegram_that_cannot_be_reached_is_waited_for() {
    let world = World::new().await;
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}");
    let mut bot = world.bot().set("TELEGRAM_API_URL", &url).spawn();
    bot.logged("Telegram does not answer yet").await;
    // Where it looks and what to look at is said once, however often it tries.
    tokio::time::sleep(Duration::from_millis(3_500)).await;
    let log = bot.log();
    assert_eq!(log.matches("Telegram does not answer yet").count(), 1, "{log}");
    assert!(log.contains(&url) && log.contains("TELEGRAM_PROXY"), "{log}");
    bot.signal("TERM");
    assert!(bot.ended().await.success(), "{}", bot.log());
    assert!(!bot.log().contains(world.telegram.token()), "{}", bot.log());
    proc::none_has(&url).await;
    assert_eq!(world.telegram.calls().len() + world.bot_texts(ANN).len(), 0);
}
