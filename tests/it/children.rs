//! Agents that ask agents, through the real bot: what a child says is heard once and in order, its outcome once, and no child
//! outlives its turn, also over `kill -9`.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use figaro_base::ids::ChatId;
use figaro_domain::child::{ChildEnd, ChildRun};
use figaro_domain::conversation::MessageRole;
use figaro_ledger::sum;
use figaro_offline::Runtime;
use figaro_offline::model::{Gate, ModelReply, ModelRequest, OfflineModel, ReplyPart};
use figaro_offline::telegram::TelegramView;
use figaro_store::Store;
use serde_json::{Value, json};

use crate::support::bot::Recipe;
use crate::support::scene::text;
use crate::support::{ANN, Bot, TIMEOUT, World, listener};

const BOSS: &str = "You lead others.";

/// The file of an agent with these instructions and this in `json_schema_extra`.
fn file(name: &str, instructions: &str, extra: &str) -> String {
    format!(
        "type: object\ndescription: {instructions}\njson_schema_extra:\n  kind: agent\n  name: {name}\n  version: 1\n{extra}"
    )
}

impl World {
    fn agent_file(&self, name: &str, instructions: &str, extra: &str) {
        let folder = self.folder.path().join("prompts/agents");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{name}.yaml")), file(name, instructions, extra)).unwrap();
    }

    /// A leader who may ask these agents.
    fn boss(&self, agents: &[&str]) {
        let extra = format!("  agents: [{}]\n  tools: [{{name: ask_agent}}]\n", agents.join(", "));
        self.agent_file("boss", BOSS, &extra);
    }

    /// What is on record of the children of all turns; the bot must not run.
    async fn children_on_record(&self) -> Vec<ChildRun> {
        let store = self.stored().await;
        let session = session_of_ann(&store);
        let messages = store.conversations().recent(session, 100).unwrap();
        let mut children = Vec::new();
        for turn in messages.iter().filter(|m| m.role == MessageRole::User).filter_map(|m| m.turn) {
            children.extend(store.children().of_run(turn).unwrap());
        }
        children
    }
}

/// The session of Ann's chat.
fn session_of_ann(store: &Store) -> figaro_base::ids::SessionId {
    let here = figaro_domain::conversation::ConversationId { chat: ChatId(ANN), topic: None };
    store.conversations().session(here, figaro_base::clock::Clock::system().now()).unwrap().id
}

fn asks(agent: &str, input: &str) -> ReplyPart {
    asks_for(agent, input, 60)
}

fn asks_for(agent: &str, input: &str, seconds: u64) -> ReplyPart {
    let arguments = json!({"agent_name": agent, "input_text": input, "timeout_seconds": seconds});
    ReplyPart::Call { name: "ask_agent".to_owned(), arguments }
}

fn is_of(request: &ModelRequest, instructions: &str) -> bool {
    request.instructions().contains(instructions)
}

/// What the model was told that an agent came to.
fn told(request: &ModelRequest, agent: &str) -> Value {
    let results = request.tool_results();
    let read = results.iter().filter_map(|(_, result)| serde_json::from_str::<Value>(result).ok());
    read.into_iter().find(|value| value["agent"] == agent).unwrap_or_else(|| panic!("{agent}: {results:?}"))
}

async fn started(recipe: &Recipe) -> Bot {
    let bot = recipe.spawn();
    bot.ready().await;
    bot
}

/// A bot whose answers come from this brain, with Ann's chat led by the boss.
async fn led(
    world: &World,
    brain: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static,
) -> (Recipe, Bot, OfflineModel, Runtime) {
    let runtime = Runtime::system();
    let model = OfflineModel::start(listener().await, Arc::new(brain), &runtime).unwrap();
    let recipe = world.bot().set("OPENAI_BASE_URL", model.url());
    let bot = started(&recipe).await;
    world.told(ANN, ANN, "/config agent boss").await;
    (recipe, bot, model, runtime)
}

/// Waits until Ann has an answer with these words; gives it.
async fn answer(world: &World, words: &str) -> String {
    let find = |view: &TelegramView<'_>| {
        view.bot_messages(ANN).iter().map(|m| text(m).to_owned()).find(|text| text.contains(words))
    };
    world.see(words, find).await
}

const FIVE: [&str; 5] = ["one", "two", "three", "four", "five"];
const SPEAKERS: [&str; 2] = ["two", "four"];

/// What the five and their leader say: the leader repeats what one has said, and adds something.
fn five_say(request: &ModelRequest) -> ModelReply {
    for name in FIVE {
        if !is_of(request, &format!("You are number {name}.")) {
            continue;
        }
        if !SPEAKERS.contains(&name) {
            return ModelReply::text(&format!("A secret of {name}."));
        }
        let words = format!("Words of {name}, the first. Then many more words of {name}.");
        return ModelReply::text(&words).paced(6, Duration::from_millis(5));
    }
    match request.tool_results().len() {
        0 => ModelReply::turn(FIVE.iter().map(|name| asks(name, "Say something.")).collect()),
        _ => ModelReply::text(
            "Words of two, the first. Then many more words of two.\n\nThat is all, says the leader.",
        ),
    }
}

/// A world in which the leader may ask the five, and a bot of this provider.
async fn five_of(provider: &str) -> (World, Bot, OfflineModel, Runtime) {
    let world = World::new().await;
    world.boss(&FIVE);
    for name in FIVE {
        let extra = if SPEAKERS.contains(&name) { "  speaks: true\n" } else { "" };
        world.agent_file(name, &format!("You are number {name}."), extra);
    }
    let runtime = Runtime::system();
    let model = OfflineModel::start(listener().await, Arc::new(five_say), &runtime).unwrap();
    let url = match provider {
        "ollama" => model.ollama_url().to_owned(),
        "gemini" => model.gemini_url(),
        _ => model.url().to_owned(),
    };
    let recipe = world.bot_of(provider).set(&format!("{}_BASE_URL", provider.to_ascii_uppercase()), &url);
    let bot = started(&recipe).await;
    world.told(ANN, ANN, "/config agent boss").await;
    (world, bot, model, runtime)
}

/// Five children, two of which talk to the person: each word stands once in the answer, in the order in which they spoke.
#[tokio::test]
async fn of_five_children_each_word_is_heard_once_and_in_order() {
    for provider in ["openai", "compatible", "ollama", "gemini"] {
        let (world, mut bot, model, runtime) = five_of(provider).await;
        world.say(ANN, ANN, "Have them all speak");
        let whole = answer(&world, "says the leader").await;
        let at = |words: &str| whole.find(words).unwrap_or_else(|| panic!("{provider}: {words}: {whole}"));
        for name in SPEAKERS {
            let words = format!("many more words of {name}");
            assert_eq!(whole.matches(&words).count(), 1, "{provider}: {whole}");
        }
        assert!(!whole.contains("secret"), "{provider}: {whole}");
        assert!(at("words of two").max(at("words of four")) < at("That is all"), "{provider}: {whole}");
        // While it grew, no draft said anything twice.
        let drafts =
            world.telegram.view(|view| view.drafts(ANN).iter().map(|d| d.text.clone()).collect::<Vec<_>>());
        for name in SPEAKERS {
            let words = format!("Words of {name}, the first");
            assert!(drafts.iter().all(|draft| draft.matches(&words).count() <= 1), "{provider}: {drafts:?}");
        }
        let last = model.requests().pop().unwrap();
        assert!(FIVE.iter().all(|name| told(&last, name)["outcome"] == "done"), "{provider}");
        bot.signal("TERM");
        assert!(bot.ended().await.success());
        let children = world.children_on_record().await;
        let ends: Vec<_> = children.iter().filter_map(|child| child.outcome.as_ref()).collect();
        assert_eq!(ends.len(), 5, "{provider}");
        assert!(
            ends.iter().all(|o| o.end == ChildEnd::Done && o.text.is_empty()),
            "no words are kept: {ends:?}"
        );
        assert_eq!(world.refused(), Vec::<String>::new());
        runtime.stop();
    }
}

/// Killed while a child is asked, while its call is made, and once it has answered: it goes on, acts once, and is heard once.
#[tokio::test]
async fn a_child_goes_on_after_a_kill_and_its_outcome_is_heard_once() {
    for at in ["asked", "called", "answered"] {
        let world = World::new().await;
        world.boss(&["scribe"]);
        world.agent_file("scribe", "You write notes.", "  tools: [{name: add_note}]\n");
        let gate = Gate::new();
        let held = gate.clone();
        let brain = move |request: &ModelRequest| {
            let results = request.tool_results().len();
            let is_child = is_of(request, "You write notes.");
            let reply = match (is_child, results) {
                (true, 0) => ModelReply::call("add_note", json!({"key": "k", "content": "milk"})),
                (true, _) => ModelReply::text("Noted."),
                (false, 0) => ModelReply::turn(vec![asks("scribe", "Note milk.")]),
                (false, _) => ModelReply::text("The scribe has noted it."),
            };
            let is_held = match at {
                "asked" => is_child && results == 0,
                "called" => is_child && results > 0,
                _ => !is_child && results > 0,
            };
            if is_held { reply.behind(&held) } else { reply }
        };
        let (recipe, bot, model, runtime) = led(&world, brain).await;
        world.say(ANN, ANN, "Have milk noted");
        let wanted = match at {
            "asked" => 2,
            "called" => 3,
            _ => 4,
        };
        model.wait_until(TIMEOUT, |requests| requests.get(wanted - 1).map(drop)).await.unwrap();
        bot.kill();
        gate.open();
        let bot = started(&recipe).await;
        answer(&world, "The scribe has noted it.").await;
        bot.ends_well().await;
        let requests = model.requests();
        let of_child = |request: &&ModelRequest| is_of(request, "You write notes.");
        let passes: Vec<usize> = requests.iter().filter(of_child).map(|r| r.tool_results().len()).collect();
        let asked_again = match at {
            "asked" => vec![0, 0, 1],
            "called" => vec![0, 1, 1],
            _ => vec![0, 1],
        };
        assert_eq!(passes, asked_again, "killed when {at}");
        let last = requests.last().unwrap();
        assert_eq!(last.tool_results().len(), 1, "its outcome is heard once: {at}");
        assert_eq!(
            (&told(last, "scribe")["outcome"], &told(last, "scribe")["text"]),
            (&json!("done"), &json!("Noted."))
        );
        let notes = world.stored().await.notes().of_chat(ChatId(ANN)).unwrap();
        assert_eq!(notes.len(), 1, "killed when {at}");
        assert_eq!(world.children_on_record().await.len(), 1, "killed when {at}");
        assert_eq!(world.bot_texts(ANN).iter().filter(|t| t.contains("has noted it")).count(), 1);
        runtime.stop();
    }
}

/// A stop reaches children of children: none calls anything after it, and what they took is on record.
#[tokio::test]
async fn a_stop_reaches_every_child() {
    let world = World::new().await;
    world.boss(&["middle", "slow"]);
    world.agent_file("middle", "You are in the middle.", "  agents: [slow]\n  tools: [{name: ask_agent}]\n");
    world.agent_file("slow", "You are slow.", "  tools: [{name: add_note}]\n");
    let gate = Gate::new();
    let held = gate.clone();
    let brain = move |request: &ModelRequest| {
        if is_of(request, "You are slow.") {
            let call = ModelReply::call("add_note", json!({"key": "k", "content": "late"}));
            return call.behind(&held);
        }
        if is_of(request, "You are in the middle.") {
            return ModelReply::turn(vec![asks("slow", "Be slow.")]);
        }
        ModelReply::turn(vec![asks("middle", "Ask the slow one."), asks("slow", "Be slow here, too.")])
    };
    let (_, mut bot, model, runtime) = led(&world, brain).await;
    world.say(ANN, ANN, "Take your time");
    model
        .wait_until(TIMEOUT, |requests| {
            let slow = requests.iter().filter(|request| is_of(request, "You are slow.")).count();
            (slow == 2).then_some(())
        })
        .await
        .unwrap();
    world.say(ANN, ANN, "/stop");
    answer(&world, "topped").await;
    gate.open();
    let asked = model.requests().len();
    world.told(ANN, ANN, "/usage").await;
    bot.signal("TERM");
    assert!(bot.ended().await.success());
    assert_eq!(model.requests().len(), asked, "nobody is asked after a stop");
    assert_eq!(world.stored().await.notes().of_chat(ChatId(ANN)).unwrap().len(), 0, "no tool runs after it");
    let children = world.children_on_record().await;
    let ends: Vec<Option<ChildEnd>> = children.iter().map(|c| c.outcome.as_ref().map(|o| o.end)).collect();
    assert_eq!(ends, vec![Some(ChildEnd::Cancelled); 3], "{children:?}");
    runtime.stop();
}

/// One whose time is up, one that fails, one that does not exist, one of too many steps: the leader hears of each what it is.
#[tokio::test]
async fn a_child_that_is_not_done_does_not_say_so() {
    let world = World::new().await;
    world.boss(&["slow", "broken", "mute", "busy"]);
    world.agent_file("slow", "You are slow.", "");
    world.agent_file("broken", "You are broken.", "");
    world.agent_file("mute", "You are mute.", "");
    world.agent_file("busy", "You are busy.", "  tools: [{name: list_notes}]\n");
    world.agent_file("stranger", "You are a stranger.", "");
    let brain = |request: &ModelRequest| {
        let results = request.tool_results().len();
        if is_of(request, "You are slow.") {
            return ModelReply::silence();
        }
        if is_of(request, "You are broken.") {
            return ModelReply::status(400, "no");
        }
        if is_of(request, "You are mute.") {
            return ModelReply::empty();
        }
        if is_of(request, "You are busy.") {
            return match request.tool_names().is_empty() {
                true => ModelReply::text("Half of it."),
                false => ModelReply::call("list_notes", json!({"key": format!("k{results}")})),
            };
        }
        match results {
            0 => ModelReply::turn(vec![
                asks_for("slow", "Hurry.", 1),
                asks("broken", "Work."),
                asks("mute", "Speak."),
                asks("busy", "Do it all."),
                asks("stranger", "Hello?"),
                asks("boss", "Ask yourself."),
            ]),
            _ => ModelReply::text("Not all of it worked."),
        }
    };
    let (_, bot, model, runtime) = led(&world, brain).await;
    world.say(ANN, ANN, "Have them all work");
    answer(&world, "Not all of it worked.").await;
    let last = model.requests().pop().unwrap();
    for (agent, outcome) in
        [("slow", "timeout"), ("broken", "failed"), ("mute", "failed"), ("busy", "over_budget")]
    {
        let told = told(&last, agent);
        assert_eq!((&told["outcome"], &told["success"]), (&json!(outcome), &json!(false)), "{told}");
        assert!(told["error"].as_str().is_some_and(|words| !words.is_empty()), "{told}");
    }
    assert_eq!(
        (&told(&last, "busy")["text"], &told(&last, "busy")["incomplete"]),
        (&json!("Half of it."), &json!(true))
    );
    let others: Vec<String> = last.tool_results().iter().map(|(_, result)| (*result).clone()).collect();
    for name in ["stranger", "boss"] {
        let words = format!("no agent {name} can be asked here; there are: ");
        assert!(others.iter().any(|result| result.contains(&words)), "{others:?}");
    }
    bot.ends_well().await;
    runtime.stop();
}

/// What the children took is part of what the turn took, and stands in `/usage` by agent.
#[tokio::test]
async fn what_children_take_adds_up() {
    let world = World::new().await;
    world.boss(&["worker"]);
    world.agent_file("worker", "You work.", "");
    let brain = |request: &ModelRequest| match (is_of(request, "You work."), request.tool_results().len()) {
        (true, _) => ModelReply::text("Worked.").usage(2_000, 500),
        (false, 0) => {
            ModelReply::turn(vec![asks("worker", "One."), asks("worker", "Two.")]).usage(1_000, 100)
        }
        (false, _) => ModelReply::text("Both have worked.").usage(1_200, 200),
    };
    let (_, bot, _, runtime) = led(&world, brain).await;
    world.say(ANN, ANN, "Have two work");
    answer(&world, "Both have worked.").await;
    let card = world.told(ANN, ANN, "/usage").await;
    assert!(text(&card).contains("7.5 k"), "{card}");
    assert_eq!(text(&card).matches("worker").count(), 2, "{card}");
    assert!(text(&card).contains("2.5 k"), "{card}");
    bot.ends_well().await;
    assert_eq!(sum(&world.books().await).tokens, 7_500);
    runtime.stop();
}

/// A small budget of the day is not escaped by asking others.
#[tokio::test]
async fn children_do_not_escape_the_budget() {
    let world = World::new().await;
    world.boss(&["worker"]);
    world.agent_file("worker", "You work.", "");
    let brain = |request: &ModelRequest| match (is_of(request, "You work."), request.tool_results().len()) {
        (true, _) => ModelReply::text("Worked.").usage(2_000, 8_000),
        (false, 0) => {
            ModelReply::turn((0..12).map(|n| asks("worker", &format!("Part {n}."))).collect()).usage(900, 100)
        }
        (false, _) => ModelReply::text("So far and no further.").usage(900, 100),
    };
    let runtime = Runtime::system();
    let model = OfflineModel::start(listener().await, Arc::new(brain), &runtime).unwrap();
    let recipe = world.bot().set("OPENAI_BASE_URL", model.url()).set("DAILY_TOKENS", "60000");
    let bot = started(&recipe).await;
    world.told(ANN, ANN, "/config agent boss").await;
    world.say(ANN, ANN, "Have twelve work");
    answer(&world, "So far and no further.").await;
    bot.ends_well().await;
    let spent = sum(&world.books().await).tokens;
    assert!(spent <= 60_000, "{spent} tokens");
    let last = model.requests().pop().unwrap();
    let results = last.tool_results();
    let is_over = |result: &&(&str, String)| result.1.contains("over_budget");
    assert!(results.iter().filter(is_over).count() >= 4, "{results:?}");
    runtime.stop();
}
