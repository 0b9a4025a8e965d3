//! Turns in which the model calls tools: what it was told of them, and what the person then read.

use figaro_offline::model::{ModelReply, ModelRequest, ReplyPart};
use figaro_offline::telegram::TelegramView;
use serde_json::{Value, json};

use super::scene::text;
use super::{ANN, TIMEOUT, World};

/// Someone writes; the model makes these calls at once and ends with "Dealt with: " and what was said.
pub async fn calls(world: &World, who: (i64, i64), said: &str, calls: Vec<(&str, Value)>) -> Vec<Value> {
    let count = calls.len();
    let part = |(name, arguments): (&str, Value)| ReplyPart::Call { name: name.to_owned(), arguments };
    let end = format!("Dealt with: {said}");
    world.when(said, ModelReply::turn(calls.into_iter().map(part).collect()));
    world.when(said, ModelReply::text(&end));
    world.say(who.0, who.1, &format!("@figaro_bot {said}"));
    results(world, said, count, (who.1, &end)).await
}

pub async fn call(world: &World, who: (i64, i64), said: &str, tool: &str, arguments: Value) -> Value {
    calls(world, who, said, vec![(tool, arguments)]).await.remove(0)
}

/// In a turn of someone's the model finds a tool and calls it; gives what the tool told it.
pub async fn find_and_call(
    world: &World,
    who: (i64, i64),
    said: &str,
    (tool, arguments): (&str, Value),
) -> Value {
    let end = format!("Dealt with: {said}");
    world.when(said, ModelReply::call("find_tools", json!({"query": tool})));
    world.when(said, ModelReply::call(tool, arguments));
    world.when(said, ModelReply::text(&end));
    world.say(who.0, who.1, &format!("@figaro_bot {said}"));
    results(world, said, 2, (who.1, &end)).await.remove(1)
}

/// What the tools told the model in the turn about these words, once the answer is in the chat.
pub async fn results(world: &World, said: &str, count: usize, (chat, end): (i64, &str)) -> Vec<Value> {
    let find = |requests: &[ModelRequest]| {
        let request = requests.iter().rev().find(|r| r.user_text().contains(said))?;
        let told = request.tool_results();
        (told.len() == count).then(|| told.into_iter().map(|(_, told)| told).collect::<Vec<String>>())
    };
    let told = world.model.wait_until(TIMEOUT, find).await;
    let told = told.unwrap_or_else(|| panic!("no results for {said}: {:?}", world.bot_texts(chat)));
    says(world, chat, end).await;
    told.iter().map(|told| serde_json::from_str(told).unwrap_or_else(|_| json!({"raw": told}))).collect()
}

/// The words of a refusal.
pub fn error(result: &Value) -> &str {
    assert_eq!(result["success"], false, "{result}");
    result["error"].as_str().unwrap_or_else(|| panic!("{result}"))
}

/// Waits until the bot has said these words, and gives the message.
pub async fn says(world: &World, chat: i64, words: &str) -> Value {
    let find = |view: &TelegramView<'_>| {
        view.bot_messages(chat).into_iter().find(|m| text(m).contains(words)).cloned()
    };
    let found = world.telegram.wait_until(TIMEOUT, find).await;
    found.unwrap_or_else(|| panic!("never said: {words}; there is {:?}", world.bot_texts(chat)))
}

/// Ann asks, and the request that her question made.
pub async fn asked(world: &World, words: &str, reply: ModelReply) -> ModelRequest {
    let before = world.asked().len();
    world.when(words, reply);
    world.say(ANN, ANN, words);
    world.asks(before + 1).await
}
