//! Several bots, tested by the promises of the documents alone, as owners, people and attackers would.

#![allow(clippy::cognitive_complexity, reason = "every assertion counts as a branch")]

use std::fs;
use std::time::{Duration, Instant};

use figaro_offline::model::{Gate, ModelReply, ModelRequest};
use figaro_offline::telegram::TelegramView;
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::fleet::{Fleet, texts};
use crate::support::http::{KEY, said as question};
use crate::support::output::words;
use crate::support::postgres::PostgresServer;
use crate::support::scene::{buttons, number};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, TIMEOUT, bytes, listener};

const ONE: &str = "one";
const TWO: &str = "sales: {token: TOKEN_0}\nfamily: {token: TOKEN_1}\n";
const THREE: &str = "sales: {token: TOKEN_0}\nfamily: {token: TOKEN_1}\nclub: {token: TOKEN_2}\n";
/// Stands in tokens, passwords and secrets.
const SECRET: &str = "AAGcKq8vX1vT-secret-of-BotFather";

/// Bots whose model says the words of a question that begin with `§`; those to `§slow` wait for the gate.
async fn world(bots: usize, file: &str) -> (Fleet, Gate) {
    let (mut fleet, gate) = (Fleet::of(bots).await, Gate::new());
    let held = gate.clone();
    let brain = move |request: &ModelRequest| {
        let text = request.user_text();
        let tags: Vec<&str> = text.split_whitespace().filter(|word| word.starts_with('§')).collect();
        let reply = ModelReply::text(&if tags.is_empty() { "Here.".to_owned() } else { tags.join(" ") });
        if tags.contains(&"§slow") { reply.behind(&held) } else { reply }
    };
    fleet.answer_by(brain).await;
    fleet.file(ONE, file);
    (fleet, gate)
}

/// Bots that Bob may talk to, whom nobody tells of mistakes and limits.
fn open(fleet: &Fleet) -> Recipe {
    fleet.recipe(ONE).set("ACCESS", "open")
}

async fn until<T>(fleet: &Fleet, what: &str, probe: impl AsyncFnMut() -> Option<T>) -> T {
    eventually(|| format!("never: {what}; the logs:\n{}", fleet.logs()), probe).await
}

fn said(fleet: &Fleet, bot: usize) -> String {
    texts(&fleet.bots[bot], BOB).join(" ")
}

async fn says(fleet: &Fleet, bot: usize, words: &str) {
    until(fleet, words, async || said(fleet, bot).contains(words).then_some(())).await;
}

/// Bob asks and is answered; gives what the model was asked.
async fn asked(fleet: &Fleet, bot: usize, words: &str) -> Value {
    fleet.ask(bot, BOB, words).await;
    let requests = fleet.model.requests().into_iter();
    requests.rev().find(|request| request.user_text().contains(words)).unwrap().body
}

/// Bob presses the newest button that begins with these words.
async fn press(fleet: &Fleet, bot: usize, label: &str) {
    let find = |view: &TelegramView<'_>| {
        view.bot_messages(BOB).into_iter().rev().find_map(|card| {
            let (_, data) = buttons(card).into_iter().find(|(text, _)| text.starts_with(label))?;
            Some((number(&card["message_id"]), data))
        })
    };
    let (card, data) = fleet.bots[bot].wait_until(TIMEOUT, find).await.expect(label);
    fleet.bots[bot].press(BOB, BOB, card, &data).unwrap();
}

async fn ran(recipe: &Recipe, command: &[&str]) -> (Option<i32>, String) {
    let output = command.iter().fold(recipe.clone(), |recipe, word| recipe.arg(word)).run().await;
    let (shown, errors) = words(&output);
    (output.status.code(), format!("{shown}{errors}"))
}

async fn gateway(fleet: &Fleet) -> (Recipe, u16) {
    let port = listener().await.local_addr().unwrap().port();
    (open(fleet).set("HTTP_ADDR", &port.to_string()).set("API_KEYS", &format!("app:{KEY}")), port)
}

async fn post(port: u16, path: &str, (name, value): (&str, &str), body: &Value) -> (u16, String) {
    let client = reqwest::Client::builder().no_proxy().timeout(TIMEOUT).build().unwrap();
    let request = client.post(format!("http://127.0.0.1:{port}{path}")).header("x-session-id", "s1");
    let Ok(answer) = request.header(name, value).json(body).send().await else { return Default::default() };
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_stops_the_bot_that_has_reached_it_and_no_other() {
    let fleet = Fleet::of(3).await;
    let club = "club: {token: TOKEN_2, daily_usd: 0.20, daily_tokens: 9000000, model: gpt-4.1-mini}\n";
    fleet.file(ONE, &format!("{TWO}{club}"));
    // $0.24 where the model has a price.
    drop(fleet.script.clone().otherwise(ModelReply::text("Yes.").usage(600_000, 10)));
    let _bot = open(&fleet).set("DAILY_TOKENS", "500000").spawn();
    for bot in 0..3 {
        assert_eq!(fleet.ask(bot, BOB, "Please?").await, "Yes.", "bot {bot} by itself");
        let told = fleet.ask(bot, BOB, "Once more?").await;
        assert!(told.starts_with('⚠') && told.contains("budget"), "bot {bot}: {told}");
    }
    fleet.file(ONE, &format!("{}{club}", TWO.replace("_0}", "_0, daily_tokens: 9000000}")));
    until(&fleet, "a new limit", async || (fleet.ask(0, BOB, "Now?").await == "Yes.").then_some(())).await;
    assert!(fleet.ask(1, BOB, "And here?").await.contains("budget"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_bot_asks_its_own_model_and_knows_the_agents_of_its_own_folder() {
    let file = "sales: {token: TOKEN_0, agents: of-sales, model: gpt-4.1-mini}
family: {token: TOKEN_1, provider: compatible, model: openai/gpt-4.1}
club: {token: TOKEN_2, provider: compatible}\n";
    let (fleet, _) = world(3, file).await;
    for (folder, name) in [("of-sales", "scribe"), ("prompts/agents", "herald")] {
        let folder = fleet.folder(ONE).join(folder);
        fs::create_dir_all(&folder).unwrap();
        let agent = "type: object\ndescription: You are the NAME of 4711.\njson_schema_extra: {kind: agent, name: NAME, version: 1}\n";
        fs::write(folder.join(format!("{name}.yaml")), agent.replace("NAME", name)).unwrap();
    }
    let recipe =
        open(&fleet).set("COMPATIBLE_BASE_URL", fleet.model.url()).set("COMPATIBLE_API_KEY", "sk-key");
    let _bot = recipe.set("COMPATIBLE_MODEL", "openai/gpt-4.1-mini").spawn();
    for (bot, model) in ["gpt-4.1-mini", "openai/gpt-4.1", "openai/gpt-4.1-mini"].into_iter().enumerate() {
        let body = asked(&fleet, bot, "who answers?").await;
        assert_eq!((&body["model"], body["messages"].is_array()), (&json!(model), bot > 0), "bot {bot}");
    }
    for (bot, known, unknown) in [(0, "scribe", "herald"), (1, "herald", "scribe")] {
        fleet.ask(bot, BOB, &format!("/agents {known}")).await;
        fleet.ask(bot, BOB, &format!("/agents {unknown}")).await;
        let body = asked(&fleet, bot, "who are you?").await.to_string();
        let is_in = |name| body.contains(&format!("the {name} of 4711"));
        assert!(is_in(known) && !is_in(unknown), "bot {bot}: {body}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_answer_comes_once_whatever_happens_to_its_bot_meanwhile() {
    let (fleet, gate) = world(3, THREE).await;
    let recipe = open(&fleet);
    let bot = recipe.spawn();
    assert_eq!(fleet.ask(0, BOB, "§one my code is 7301").await, "§one");
    let asks = async |times: usize| (fleet.model.requests().len() >= times).then_some(());
    assert!(fleet.bots.iter().all(|bot| bot.say(BOB, BOB, "§slow").is_ok()));
    until(&fleet, "all wait for the model", async || asks(4).await).await;
    let began = Instant::now();
    bot.ends_well().await;
    assert!(began.elapsed() < Duration::from_secs(20), "one after the other: {:?}", began.elapsed());
    let bot = recipe.spawn();
    until(&fleet, "all wait for it again", async || asks(7).await).await;
    // Two names change places, and the third bot goes and comes, again and again.
    let two = "family: {token: TOKEN_0}\nsales: {token: TOKEN_1}\n";
    let three = format!("{two}club: {{token: TOKEN_2}}\n");
    [two, &three, two].into_iter().for_each(|text| fleet.file(ONE, text));
    fleet.is_listed(&recipe, "sales", "@bot1_bot").await;
    until(&fleet, "it is gone", async || (!fleet.listed(&recipe).await.contains("club")).then_some(())).await;
    fleet.bots[2].say(BOB, BOB, "§meanwhile").unwrap();
    fleet.file(ONE, &three);
    gate.open();
    for (bot, last) in [(0, "§slow"), (1, "§slow"), (2, "§meanwhile")] {
        says(&fleet, bot, last).await;
        let is_known = asked(&fleet, bot, "§last what is my code?").await.to_string().contains("7301");
        assert_eq!(is_known, bot == 0, "data belong to the bot, not to its name");
    }
    bot.ends_well().await;
    let all = [0, 1, 2].map(|bot| said(&fleet, bot));
    assert_eq!(all, ["§one §slow §last", "§slow §last", "§slow §meanwhile §last"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_emptied_cut_off_or_deleted_stops_no_bot() {
    let (fleet, _) = world(3, TWO).await;
    let (recipe, path) = (open(&fleet), fleet.folder(ONE).join("bots.yaml"));
    let bot = recipe.spawn();
    bot.logged_times(" ready ", 2).await;
    let both_answer = async |what: &str| {
        for number in 0..2 {
            assert_eq!(fleet.ask(number, BOB, "Still there?").await, "Here.", "bot {number}, {what}");
        }
    };
    for broken in [&b""[..], b"sales: {token: TOKEN_0}\nfamily: {tok", b"- sales\n", b"\xff\xfe\x00s"] {
        let told = bot.log().matches("bots.yaml").count();
        fs::write(&path, broken).unwrap();
        let is_told = async || (bot.log().matches("bots.yaml").count() > told).then_some(());
        until(&fleet, &format!("{broken:?} is told"), is_told).await;
        both_answer("a mistake").await;
    }
    fs::remove_file(&path).unwrap();
    both_answer("no file").await;
    fleet.file(ONE, THREE);
    fleet.is_listed(&recipe, "club", "runs").await;
    let starts = |number| bot.log().matches(&format!("username=\"bot{number}_bot\"")).count();
    assert_eq!([0, 1, 2].map(starts), [1; 3], "none was disturbed:\n{}", bot.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_forgotten_in_one_bot_stays_in_another() {
    let (fleet, _) = world(2, TWO).await;
    let _bot = open(&fleet).set("ERASE_AFTER", "0").spawn();
    asked(&fleet, 0, "I bought apples 4711").await;
    asked(&fleet, 1, "I bought pears 4712").await;
    fleet.ask(0, BOB, "/forget").await;
    press(&fleet, 0, "This conversation").await;
    says(&fleet, 0, "Forget this conversation").await;
    press(&fleet, 0, "Forget").await;
    says(&fleet, 0, "Forgotten").await;
    let held = |words: &str| !bytes::holding(&fleet.folder(ONE).join("data"), &[words]).is_empty();
    until(&fleet, "no file has it", async || (!held("apples 4711")).then_some(())).await;
    assert!(held("pears 4712"));
    assert!(!asked(&fleet, 0, "what did I buy?").await.to_string().contains("4711"));
    assert!(asked(&fleet, 1, "what did I buy?").await.to_string().contains("pears 4712"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_check_looks_at_every_bot_and_names_the_one_that_is_wrong() {
    let (fleet, _) = world(2, &TWO.replace("_1}", "_1, model: gpt-4.1-mini}")).await;
    let recipe = open(&fleet);
    let (code, told) = ran(&recipe, &["check"]).await;
    let all = ["@bot0_bot", "@bot1_bot", "openai:offline", "gpt-4.1-mini"];
    assert!(code == Some(0) && all.iter().all(|words| told.contains(words)), "{told}");
    fleet.bots[1].revoke_token();
    let (code, told) = ran(&recipe, &["check"]).await;
    let is_named = |line: &str| line.contains('✗') && (line.contains("family") || line.contains("TOKEN_1"));
    assert!(code == Some(2) && told.lines().any(is_named) && told.contains("@bot0_bot"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_stands_in_the_file_is_shown_to_nobody() {
    let (fleet, _) = world(1, "").await;
    let recipe = open(&fleet);
    for text in [
        "sales: {token: 7000000009:SECRET}\n",
        "sales:\n  token: \"7000000009:SECRET\"\n  colour: red\n",
        "sales: 7000000009:SECRET\n",
        "sales:\n  token: [7000000009:SECRET\n",
        "7000000009:SECRET: {token: TOKEN_0}\n",
    ] {
        fleet.file(ONE, &text.replace("SECRET", SECRET));
        for command in [None, Some("check")] {
            let (code, told) = ran(&recipe, command.as_slice()).await;
            assert!(code == Some(2) && !told.contains(SECRET), "{command:?} of {text}: {told}");
        }
    }
    fleet.file(ONE, "sales: {token: TOKEN_0}\n");
    let bot = recipe.spawn();
    bot.ready().await;
    fleet.file(ONE, &format!("sales:\n  tokn: 7000000009:{SECRET}\n"));
    let told = async || texts(&fleet.bots[0], ANN).into_iter().find(|text| text.contains("mean token?"));
    let told = until(&fleet, "an owner is told", told).await;
    assert!(!bot.log().contains(SECRET) && !told.contains(SECRET), "{told}\n{}", bot.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_bot_has_a_webhook_below_its_name_which_follows_the_file() {
    let (fleet, _) = world(2, TWO).await;
    let (recipe, port) = gateway(&fleet).await;
    let recipe = recipe.set("WEBHOOK_URL", "https://bot.example/telegram").set("WEBHOOK_SECRET", SECRET);
    let _bot = recipe.spawn();
    let calls = || fleet.bots[0].calls().into_iter().filter(|call| call.method == "setWebhook");
    let is_at = async |url: &str| (calls().next_back()?.args["url"] == url).then_some(());
    let sends = async |name: &str, id: i64, secret: &str| {
        let bob = json!({"id": BOB, "is_bot": false, "type": "private", "first_name": "Bob"});
        let (number, text, path) = (1000 + id, format!("§m{id}"), format!("/bots/{name}/telegram"));
        let message = json!({"message_id": number, "date": 1, "text": text, "chat": bob, "from": bob});
        let body = json!({"update_id": id, "message": message});
        post(port, &path, ("x-telegram-bot-api-secret-token", secret), &body).await.0
    };
    until(&fleet, "sales", async || is_at("https://bot.example/bots/sales/telegram").await).await;
    let taken = async |name: &str, id| (sends(name, id, SECRET).await == 200).then_some(());
    for name in ["sales", "sales", "family"] {
        until(&fleet, name, async || taken(name, 1).await).await;
    }
    assert_eq!(sends("sales", 2, "the-secret-of-nobody").await, 401);
    assert_eq!(sends("nobody", 2, SECRET).await, 503);
    says(&fleet, 0, "§m1").await;
    says(&fleet, 1, "§m1").await;
    fleet.file(ONE, &TWO.replace("sales", "shop"));
    until(&fleet, "shop", async || is_at("https://bot.example/bots/shop/telegram").await).await;
    until(&fleet, "shop", async || taken("shop", 3).await).await;
    says(&fleet, 0, "§m3").await;
    assert_eq!(sends("sales", 4, SECRET).await, 503, "a name that is gone");
    assert_eq!([0, 1].map(|bot| said(&fleet, bot)), ["§m1 §m3", "§m1"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_gateway_keeps_bots_apart_and_the_list_has_json_for_each() {
    let (fleet, _) = world(3, THREE).await;
    let (recipe, port) = gateway(&fleet).await;
    let recipe = recipe.set("TOKEN_2", "7000009999:nobody");
    let bot = recipe.spawn();
    bot.logged_times(" ready ", 2).await;
    fleet.is_listed(&recipe, "club", "paused").await;
    let bearer = format!("Bearer {KEY}");
    let asks = async |bot: &str, words: &str| {
        let path = format!("{bot}/v1/chat/completions");
        post(port, &path, ("authorization", bearer.as_str()), &question(words)).await
    };
    assert_eq!(asks("/bots/sales", "my code is 7301").await.0, 200);
    // The same key and the same name of a session; without a name it is the first bot of the file.
    for (path, is_known) in [("/bots/family", false), ("", true)] {
        assert_eq!(asks(path, "what is my code?").await.0, 200, "{path}");
        let body = fleet.model.requests().pop().unwrap().body.to_string();
        assert_eq!(body.contains("7301"), is_known, "{path}: {body}");
    }
    let (status, body) = asks("/bots/club", "hello").await;
    assert!(status == 503 && body.contains("\"message\""), "{status} {body}");
    for path in ["/bots", "/bots/", "/bots/SALES", "/bots/sales/bots/family", "/bots/club/bots/sales"] {
        assert_ne!(asks(path, "hello").await.0, 200, "{path}");
    }
    let (code, list) = ran(&recipe, &["bots", "--json"]).await;
    let lines: Vec<Value> = list.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((code, lines.len()), (Some(0), 3), "{list}");
    for (line, words) in list.lines().zip([["sales", "runs"], ["family", "runs"], ["club", "paused"]]) {
        assert!(words.iter().all(|word| line.contains(&format!("\"{word}\""))), "{words:?}: {line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_makes_the_tables_once_and_a_role_without_that_right_uses_them() {
    const MIGRATE: [&str; 2] = ["store", "migrate"];
    let Some(server) = PostgresServer::get() else { return };
    let ((fleet, _), database) = (world(1, "sales: {token: TOKEN_0}\n").await, server.database());
    let role = format!("user_of_{database}");
    assert!(server.psql(&database, &format!("CREATE ROLE {role} LOGIN")));
    let socket = server.socket().parent().unwrap().display().to_string().replace('/', "%2F");
    let of = |user: &str| open(&fleet).set("STORE_URL", &format!("postgres://{user}@{socket}/{database}"));
    let (owner, user) = (of("figaro"), of(&format!("{role}:{SECRET}")));
    let is_refused = async |command: &[&str]| {
        let (code, told) = ran(&user, command).await;
        let has_reason = ["migrate", "right", "permission"].iter().any(|word| told.contains(word));
        assert!(code == Some(2) && has_reason && !told.contains(SECRET), "{command:?}: {code:?} {told}");
    };
    is_refused(&MIGRATE).await;
    is_refused(&[]).await;
    let (first, second) = (ran(&owner, &MIGRATE).await, ran(&owner, &MIGRATE).await);
    assert_eq!((first.0, second.0), (Some(0), Some(0)), "{first:?} {second:?}");
    assert_ne!(first.1, second.1, "it says what it did");
    is_refused(&[]).await;
    for grant in ["USAGE ON SCHEMA figaro", "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA figaro"] {
        assert!(server.psql(&database, &format!("GRANT {grant} TO {role}")));
    }
    let _bot = user.spawn();
    assert_eq!(fleet.ask(0, BOB, "hello").await, "Here.");
    assert!(!fleet.logs().contains(SECRET));
}
