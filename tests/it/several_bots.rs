//! Several bots in one process: each with its own people, model, limits and agents, and no other's faults.

use figaro_offline::model::ModelReply;
use figaro_offline::telegram::PlannedFailure;
use serde_json::json;

use crate::support::fleet::{Fleet, texts};
use crate::support::wait::eventually;
use crate::support::{ANN, BOB, TIMEOUT};

/// Name of the one process of these tests.
const ONE: &str = "one";

const THREE: &str =
    "sales: {token: TOKEN_0}\nfamily: {token: TOKEN_1, access: open}\nclub: {token: TOKEN_2}\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bots_share_a_process_and_nothing_else() {
    let fleet = Fleet::of(3).await;
    fleet.file(ONE, "sales: {token: TOKEN_0}\nfamily: {token: TOKEN_1, access: open}\nclub: {token: TOKEN_2, owners: [12]}\n");
    let bot = fleet.recipe(ONE).spawn();
    bot.logged_times(" ready ", 3).await;
    assert_eq!(bot.children().len(), 1, "one Telegram MCP server for all");
    drop(fleet.script.clone().when("my code is 7301", ModelReply::text("Noted.")));
    assert_eq!(fleet.ask(0, ANN, "my code is 7301").await, "Noted.");
    drop(fleet.script.clone().when("what is my code?", ModelReply::text("I do not know.")));
    assert_eq!(fleet.ask(1, ANN, "what is my code?").await, "I do not know.");
    let request = fleet.model.requests().pop().unwrap();
    assert!(!format!("{request:?}").contains("7301"), "another bot's conversation");
    // Access is that of each bot: a stranger is nobody's guest at the first one, and an owner at the third.
    drop(fleet.script.clone().otherwise(ModelReply::text("Hello, Bob.")));
    assert_eq!(fleet.ask(1, BOB, "hello").await, "Hello, Bob.");
    assert_eq!(fleet.ask(2, BOB, "hello").await, "Hello, Bob.");
    assert_ne!(fleet.ask(0, BOB, "hello").await, "Hello, Bob.");
    // A call of the Bot API is made by the bot whose turn it is, through the one server.
    let poll = json!({"question": "Where?", "options": [{"text": "here"}, {"text": "there"}]});
    drop(fleet.script.clone().when("a poll, please", ModelReply::call("sendPoll", poll)));
    drop(fleet.script.clone().when("a poll, please", ModelReply::text("The poll stands.")));
    fleet.bots[1].say(ANN, ANN, "a poll, please").unwrap();
    fleet.says(1, ANN, "The poll stands.").await;
    let polls = |bot: usize| fleet.bots[bot].view(|view| view.calls_of("sendPoll").len());
    assert_eq!([polls(0), polls(1), polls(2)], [0, 1, 0]);
    let list = fleet.listed(&fleet.recipe(ONE)).await;
    for line in ["sales            runs       as @bot0_bot", "club             runs       as @bot2_bot"] {
        assert!(list.contains(line), "{list}");
    }
    bot.ends_well().await;
    assert!(fleet.listed(&fleet.recipe(ONE)).await.contains("no process runs these bots"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_file_adds_changes_and_removes_bots_while_others_run_on() {
    let fleet = Fleet::of(3).await;
    fleet.file(ONE, "sales: {token: TOKEN_0}\nfamily: {token: TOKEN_1}\n");
    let bot = fleet.recipe(ONE).spawn();
    bot.logged_times(" ready ", 2).await;
    drop(fleet.script.clone().otherwise(ModelReply::text("Here.")));
    assert_eq!(fleet.ask(0, ANN, "hello").await, "Here.");
    fleet.file(ONE, THREE);
    fleet.is_listed(&fleet.recipe(ONE), "club", "runs").await;
    assert_eq!(fleet.ask(2, ANN, "hello").await, "Here.");
    // Its access has changed, so it was started again; the first was not.
    fleet.is_listed(&fleet.recipe(ONE), "family", "runs").await;
    assert_eq!(fleet.ask(1, BOB, "hello").await, "Here.");
    assert_eq!(bot.log().matches("username=\"bot0_bot\"").count(), 1, "{}", bot.log());
    // A broken file changes nothing, and an owner hears of it.
    let before = texts(&fleet.bots[0], ANN).len()
        + texts(&fleet.bots[1], ANN).len()
        + texts(&fleet.bots[2], ANN).len();
    fleet.file(ONE, "sales: {tokn: TOKEN_0}\n");
    eventually(
        || "no owner was told".to_owned(),
        async || {
            let all: Vec<String> = fleet.bots.iter().flat_map(|bot| texts(bot, ANN)).collect();
            (all.len() > before && all.iter().any(|text| text.contains("did you mean token?"))).then_some(())
        },
    )
    .await;
    assert_eq!(fleet.ask(2, ANN, "still there?").await, "Here.");
    fleet.file(ONE, "club: {token: TOKEN_2}\n");
    // The second one was started again before.
    bot.logged_times("stopping: no more updates are taken in", 3).await;
    assert!(!fleet.listed(&fleet.recipe(ONE)).await.contains("sales"));
    assert_eq!(fleet.ask(2, ANN, "and now?").await, "Here.");
    bot.ends_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_bots_trouble_is_its_own() {
    let fleet = Fleet::of(3).await;
    fleet.file(ONE, THREE);
    let bot = fleet.recipe(ONE).set("TOKEN_1", "7000009999:nobody").spawn();
    bot.logged_times(" ready ", 2).await;
    bot.logged("the bot is paused").await;
    drop(fleet.script.clone().otherwise(ModelReply::text("Here.")));
    assert_eq!(fleet.ask(0, ANN, "hello").await, "Here.");
    assert_eq!(fleet.ask(2, ANN, "hello").await, "Here.");
    fleet.is_listed(&fleet.recipe(ONE), "family", "paused").await;
    assert!(
        fleet
            .listed(&fleet.recipe(ONE))
            .await
            .contains("Telegram does not know this bot token: copy TOKEN_1 again")
    );
    // Nobody's token is in the log.
    assert!(!bot.log().contains("nobody") && !bot.log().contains("7000000001:"), "{}", bot.log());
    bot.ends_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_bot_has_its_gateway_below_its_name() {
    let fleet = Fleet::of(2).await;
    fleet.file(ONE, "sales: {token: TOKEN_0}\nfamily: {token: TOKEN_1}\n");
    let bot = fleet
        .recipe(ONE)
        .set("HTTP_ADDR", "127.0.0.1:0")
        .set("API_KEYS", "app:key-of-the-app-itself")
        .spawn();
    bot.logged_times(" ready ", 2).await;
    let log = bot.log();
    let address =
        log.split("listens at http://").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let http = reqwest::Client::builder().timeout(TIMEOUT).build().unwrap();
    let asked = async |path: &str, key: &str| {
        let request = http.get(format!("http://{address}{path}")).bearer_auth(key);
        request.send().await.unwrap().status().as_u16()
    };
    for path in ["/v1/models", "/bots/sales/v1/models", "/bots/family/v1/models"] {
        assert_eq!(asked(path, "key-of-the-app-itself").await, 200, "{path}");
        assert_eq!(asked(path, "another").await, 401, "{path}");
    }
    assert_eq!(asked("/bots/nobody/v1/models", "key-of-the-app-itself").await, 503);
    assert_eq!(asked("/healthz", "").await, 200);
    bot.ends_well().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_bots_that_cannot_be_used_is_told_at_the_start() {
    let fleet = Fleet::of(1).await;
    for (text, words) in [
        ("sales: {token: NO_SUCH_TOKEN}", "NO_SUCH_TOKEN is missing"),
        ("sales: {token: TOKEN_0}\nother: {token: TOKEN_0}", "the token of the same bot"),
        (
            "sales: {token: TOKEN_0, agents: nowhere}",
            "AGENTS_FOLDER names nowhere, and there is no such folder",
        ),
        ("sales: [", "bots.yaml:"),
        ("sales: {token: TOKEN_0, provider: skynet}", "sales: LLM_PROVIDER (`skynet`)"),
    ] {
        fleet.file(ONE, text);
        let output = fleet.recipe(ONE).run().await;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(words), "{text}: {said}");
    }
    std::fs::remove_file(fleet.folder(ONE).join("bots.yaml")).unwrap();
    let output = fleet.recipe(ONE).set("BOTS_FILE", "mine.yaml").run().await;
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no such file"), "{output:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners_hear_of_another_program_that_fetches_the_messages() {
    let fleet = Fleet::of(1).await;
    fleet.file(ONE, "sales: {token: TOKEN_0}\n");
    let conflict = PlannedFailure::Status {
        status: 409,
        description: "Conflict: terminated by other getUpdates request".to_owned(),
    };
    fleet.bots[0].fail("getUpdates", conflict, 6);
    let bot = fleet.recipe(ONE).spawn();
    bot.ready().await;
    eventually(
        || format!("no owner was told; the log:\n{}", bot.log()),
        async || texts(&fleet.bots[0], ANN).iter().any(|text| text.contains("Another program")).then_some(()),
    )
    .await;
    drop(fleet.script.clone().otherwise(ModelReply::text("Here.")));
    assert_eq!(fleet.ask(0, ANN, "hello").await, "Here.");
    let told = texts(&fleet.bots[0], ANN).iter().filter(|text| text.contains("Another program")).count();
    assert_eq!(told, 1, "once is enough");
    bot.ends_well().await;
}
