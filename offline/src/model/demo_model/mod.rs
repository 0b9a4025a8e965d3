//! The brain of `figaro demo`: a few keyword rules that show off formatting, tools and streaming without a network.
//! It says what it is, and calls only tools the request offers.

mod schedule;
mod words;

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::reply::{Brain, Part, Reply};
use super::request::{ModelRequest, Picture, TaggedMessage, tagged};

const WORD_PAUSE: Duration = Duration::from_millis(25);
const SLOW_PAUSE: Duration = Duration::from_millis(450);

const GREETING: &str =
    "Hello! I am Figaro, here with an **offline stand-in model**: no key, no network, a handful of \
rules. What you see around me is real. Try:

- `format`: what formatted text looks like
- `poll Where shall we eat? Pizza, soup, salad`
- `like this`: I react to your message
- `buy milk`, then `notes`: I remember things
- `remind me in 1 minute to drink water`, then `what is scheduled?`: I come back by myself
- `choose`: I ask you something and wait for your answer, as long as it takes
- `photo`: I send a picture
- `file`: I write a table and send it as a file
- `dice`: I look for the method that rolls one, then roll it
- `search barbers of Seville`: I search the web; here the pages are made up
- `code`: a program too long for a message, so it comes as a file
- `long`: an answer too long for one message
- `slow`: an answer you can stop half way";

const SHOWPIECE: &str = "# The barber's menu

**Bold**, *italic*, ~~struck~~, and `inline code`, with a [link](https://core.telegram.org/bots/api).

> Figaro here, Figaro there,
> Figaro up, Figaro down.

1. Wash
2. Cut
   - short at the sides
   - long on top
3. Shave

```rust
fn main() {
    println!(\"Bravo, bravissimo!\");
}
```

| Service | Minutes | Price |
|---|---:|---:|
| Cut | 30 | 20 € |
| Shave | 15 | 12 € |
| Wig | 45 | 35 € |

A wig of radius $r$ covers $\\frac{1}{2} \\cdot 4 \\pi r^2$ of the head.";

const LONG_LINE: &str = "The barber of this city is in demand: everybody asks for him, everybody wants him, ladies and \
children, the old and the young, now the wig, then the beard, a letter to carry, a match to make.";

const SLOW: &str = "I am taking my time with this one, word by word, so that you can see the draft grow and press stop \
whenever you have seen enough. There is nothing more to come than more of the same: one word, and then another, and \
another after that, until the sentence finds its end, which is here.";

/// A brain that answers by keyword, and says that it is a stand-in.
#[derive(Debug, Clone, Copy)]
pub struct DemoModel {
    /// Gives the words that a person wrote, out of how the bot escapes them in its prompt.
    pub unescape: fn(&str) -> String,
}

/// What a message asks the stand-in to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trick {
    Greet,
    Format,
    Poll,
    React,
    ListNotes,
    AddNote,
    Schedule,
    ListTasks,
    Choose,
    Photo,
    File,
    Dice,
    Search,
    Code,
    Long,
    Slow,
    Echo,
}

impl Brain for DemoModel {
    fn answer(&self, request: &ModelRequest) -> Reply {
        let said = request.user_text();
        let message = tagged(&said);
        let results = request.tool_results();
        if let Some(prompt) = schedule::due(&said) {
            return due(request, prompt, &results);
        }
        let trick = Trick::of(message.text);
        let has_found = results.last().is_some_and(|(tool, _)| *tool == "find_tools");
        if has_found && trick == Trick::Dice {
            return offered(request, "sendDice", json!({"emoji": "🎲"}));
        }
        if !results.is_empty() {
            return reply(&conclusion(&results));
        }
        match trick {
            Trick::Greet => reply(GREETING),
            Trick::Format => reply(SHOWPIECE),
            Trick::Code => reply(&code()),
            Trick::Long => reply(&long()),
            Trick::Slow => Reply::text(SLOW).paced(0, SLOW_PAUSE),
            Trick::Echo => match request.pictures().as_slice() {
                [] => reply(&echo(&(self.unescape)(message.text))),
                pictures => reply(&received(pictures)),
            },
            Trick::Dice => offered(request, "find_tools", json!({"query": "roll a dice"})),
            Trick::Search => offered(request, "web_search", json!({"query": words::query(message.text)})),
            Trick::Schedule => {
                let name = message.attribute("from").unwrap_or("you");
                offered(request, "schedule_task", schedule::asked(message.text, name).unwrap_or_default())
            }
            Trick::ListTasks => offered(request, "list_tasks", json!({})),
            Trick::Choose => offered(request, "action", service()),
            Trick::Poll | Trick::React | Trick::ListNotes | Trick::AddNote | Trick::Photo | Trick::File => {
                let (tool, arguments) = call(trick, &message);
                offered(request, tool, arguments)
            }
        }
    }
}

/// Carries a task out: news are looked up, everything else is said.
fn due(request: &ModelRequest, prompt: &str, results: &[(&str, String)]) -> Reply {
    if !results.is_empty() {
        return reply(&conclusion(results));
    }
    if prompt.contains("news") && request.tool_names().contains(&"web_search") {
        return offered(request, "web_search", json!({"query": "news"}));
    }
    reply(&schedule::carried_out(prompt))
}

/// A call, if the request offers its tool.
fn offered(request: &ModelRequest, tool: &str, arguments: Value) -> Reply {
    if request.tool_names().contains(&tool) {
        return Reply::turn(vec![Part::Call { name: tool.to_owned(), arguments }]);
    }
    reply(&format!("I would call the tool `{tool}` for that, but it is not offered to me here."))
}

impl Trick {
    fn of(text: &str) -> Self {
        let text = text.to_lowercase();
        let words: Vec<&str> =
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let says = |any: &[&str]| words.iter().any(|word| any.contains(word));
        if schedule::asked(&text, "").is_some() {
            return Self::Schedule;
        }
        let rules: [(&[&str], Self); 15] = [
            (&["scheduled", "schedule", "tasks", "reminders"], Self::ListTasks),
            (&["search", "google"], Self::Search),
            (&["poll", "vote"], Self::Poll),
            (&["format", "formatting", "markdown"], Self::Format),
            (&["notes"], Self::ListNotes),
            (&["note", "remember", "buy"], Self::AddNote),
            (&["react", "reaction", "like"], Self::React),
            (&["choose", "choice"], Self::Choose),
            (&["photo", "picture"], Self::Photo),
            (&["file", "document"], Self::File),
            (&["dice", "die", "roll"], Self::Dice),
            (&["code", "program"], Self::Code),
            (&["long"], Self::Long),
            (&["slow", "slowly"], Self::Slow),
            (&["start", "hello", "hi", "hey", "help"], Self::Greet),
        ];
        rules.iter().find(|(any, _)| says(any)).map_or(Self::Echo, |(_, trick)| *trick)
    }
}

fn reply(text: &str) -> Reply {
    Reply::text(text).paced(0, WORD_PAUSE)
}

/// A picture of red, white and blue stripes, as PNG in base64.
const POLE: &str = "iVBORw0KGgoAAAANSUhEUgAAAGAAAABgAgMAAACf9p+rAAAACVBMVEX////IHi0ePKC9/z/pAAAAm0lEQVR42u3UsQnDUBCD4d8BN+69hKfwCC\
    mifTJKyqApc4Y0Dqc+mNc8BIL3VScASfXa/smT9ICb/T5nZukOi/06Z1Zph81+nvPFCQIxEYiZQKwEQgSiip6ooieq6AkRCBEIEYjj15Y4cktU\
    7onKPbFfniAQNwKxEIiNQJhAVNETVfREFeFGCIQJhAnE99rGXo29Gns19ur/9+oDGv4937nGYnkAAAAASUVORK5CYII=";

fn call(trick: Trick, message: &TaggedMessage<'_>) -> (&'static str, Value) {
    let mut arguments = Map::new();
    if matches!(trick, Trick::Poll | Trick::Photo | Trick::File | Trick::React) {
        arguments.insert("chat_id".to_owned(), number(message, "chat_id"));
    }
    if let (Trick::Poll | Trick::Photo | Trick::File, Some(_)) =
        (trick, message.attribute("message_thread_id"))
    {
        arguments.insert("message_thread_id".to_owned(), number(message, "message_thread_id"));
    }
    let (tool, own) = match trick {
        Trick::Poll => ("sendPoll", words::poll(message.text)),
        Trick::Photo => (
            "sendPhoto",
            json!({"photo": {"name": "barber-pole.png", "base64": POLE}, "caption": "A barber's pole"}),
        ),
        Trick::React => (
            "setMessageReaction",
            json!({"message_id": number(message, "message_id"), "reaction": [{"type": "emoji", "emoji": "👍"}]}),
        ),
        Trick::File => {
            let file = json!({"name": "prices.csv", "text": "service,minutes,euro\ncut,30,20\nshave,15,12\nwig,45,35\n"});
            ("sendDocument", json!({"document": file, "caption": "The barber's prices"}))
        }
        Trick::AddNote => ("add_note", words::note(message.text)),
        _ => ("list_notes", json!({})),
    };
    if let Value::Object(own) = own {
        arguments.extend(own);
    }
    (tool, Value::Object(arguments))
}

fn number(message: &TaggedMessage<'_>, name: &str) -> Value {
    let text = message.attribute(name).unwrap_or_default();
    text.parse::<i64>().map_or_else(|_| json!(text), Value::from)
}

/// What to say once the tools have answered.
fn conclusion(results: &[(&str, String)]) -> String {
    let Some((tool, output)) = results.last() else {
        return String::new();
    };
    let result: Value = serde_json::from_str(output).unwrap_or_default();
    if result["success"] == false {
        return format!("That did not work. The tool said: {output}");
    }
    match *tool {
        "sendPoll" => "There is the poll.".to_owned(),
        "setMessageReaction" => "I left a 👍 on your message.".to_owned(),
        "sendPhoto" => "There you are: a picture by address, so Telegram fetches it itself.".to_owned(),
        "sendDocument" => "There is the file, written just now.".to_owned(),
        "sendDice" => rolled(&result),
        "action" => chosen(&result),
        "add_note" => "Noted. Say `notes` to hear everything I keep for you.".to_owned(),
        "list_notes" => notes(&result),
        "schedule_task" => schedule::set(&result),
        "list_tasks" => schedule::list(&result),
        "web_search" => pages(&result),
        _ => format!("The tool `{tool}` answered: {output}"),
    }
}

/// The question of which service it shall be.
fn service() -> Value {
    let payload =
        json!({"question": "Which service shall it be?", "options": ["Cut", "Shave", "Wig"], "free": true});
    json!({"type": "elicit", "payload": payload})
}

fn chosen(result: &Value) -> String {
    let answer = result["answer"].as_str().unwrap_or("nothing");
    format!("You chose **{answer}**. I waited for that, and would have waited over a restart too.")
}

fn rolled(result: &Value) -> String {
    let value = result.pointer("/result/dice/value").and_then(Value::as_i64).unwrap_or_default();
    format!(
        "It shows {value}. No prompt of mine holds that method: I searched for it, and may use it until `/new`."
    )
}

/// The lists of a `list_notes` result, read out.
fn notes(result: &Value) -> String {
    let empty = Vec::new();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let lists: Vec<String> = result["lists"]
        .as_array()
        .unwrap_or(&empty)
        .iter()
        .map(|list| {
            let items = list["notes"]
                .as_array()
                .unwrap_or(&empty)
                .iter()
                .map(|note| format!("- {}", text(note, "content")));
            format!("**{}**\n{}", text(list, "key"), items.collect::<Vec<_>>().join("\n"))
        })
        .collect();
    if lists.is_empty() {
        return "I keep nothing yet. Say `remember to buy milk`.".to_owned();
    }
    format!("This is what I keep:\n\n{}", lists.join("\n\n"))
}

/// The pages of a `web_search` result.
fn pages(result: &Value) -> String {
    let empty = Vec::new();
    let hits = result["data_from_the_web"]["results"].as_array().unwrap_or(&empty);
    let line = |hit: &Value| {
        let text = |key: &str| hit[key].as_str().unwrap_or_default();
        format!("- [{}]({}): {}", text("title"), text("url"), text("content"))
    };
    format!(
        "This is what a search found. An offline stand-in cannot weigh it, and the demo's pages are made up:\n\n{}",
        hits.iter().map(line).collect::<Vec<_>>().join("\n")
    )
}

fn echo(text: &str) -> String {
    let quoted: String = text.lines().take(3).map(|line| format!("> {line}\n")).collect();
    format!(
        "You said:\n\n{quoted}\nI am only an offline stand-in for a model, so that is as far as my wits go. Say \
         `help` to see what I can show you; with an API key in the settings a real model answers here."
    )
}

fn received(pictures: &[Picture<'_>]) -> String {
    let kinds: Vec<&str> = pictures.iter().map(|picture| picture.mime_type).collect();
    let what = if kinds.len() == 1 { "a picture" } else { "pictures" };
    format!(
        "I was sent {what} ({}). It arrived whole, but an offline stand-in has no eyes; a real model would look at it.",
        kinds.join(", ")
    )
}

/// A program of more lines than a message shows well.
fn code() -> String {
    let cut = |n: usize| format!("    println!(\"customer {n}: wash, cut, shave\");\n");
    let lines: String = (1..=100).map(cut).collect();
    format!(
        "A day at the barber's, as a program:\n\n```rust\n// barber.rs\nfn main() {{\n{lines}}}\n```\n\nRun it with `rustc`."
    )
}

fn long() -> String {
    let paragraphs: Vec<String> = (1..=30).map(|n| format!("**{n}.** {LONG_LINE}")).collect();
    format!("A long story, in more than one message:\n\n{}", paragraphs.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_out_in_words() {
        let lists = json!([{"key": "shopping", "notes": [{"note_id": "x", "content": "milk"}]}]);
        assert_eq!(notes(&json!({"lists": lists})), "This is what I keep:\n\n**shopping**\n- milk");
        assert!(notes(&json!({"lists": []})).starts_with("I keep nothing"));
    }

    #[test]
    fn words_choose_the_trick() {
        let cases = [
            ("/start", Trick::Greet),
            ("Hi there", Trick::Greet),
            ("which one?", Trick::Echo),
            ("show me some Format!", Trick::Format),
            ("make a poll", Trick::Poll),
            ("I like it", Trick::React),
            ("what are my notes?", Trick::ListNotes),
            ("remember that I like tea", Trick::AddNote),
            ("please buy milk", Trick::AddNote),
            ("let me choose", Trick::Choose),
            ("a photo, please", Trick::Photo),
            ("write me a file", Trick::File),
            ("roll a die", Trick::Dice),
            ("something long", Trick::Long),
            ("Search the web for news", Trick::Search),
            ("go slow", Trick::Slow),
            ("denotes belong", Trick::Echo),
            ("remind me in 1 minute to buy milk", Trick::Schedule),
            ("every weekday at 9 tell me the news", Trick::Schedule),
            ("What is scheduled?", Trick::ListTasks),
        ];
        for (text, wanted) in cases {
            assert_eq!(Trick::of(text), wanted, "{text}");
        }
        assert!(long().chars().count() > 4096);
    }

    #[test]
    fn arguments_come_from_the_message() {
        let said = "<message chat_id=\"-5\" message_id=\"7\" message_thread_id=\"3\">\npoll: Tea? Yes, no or maybe\n</message>";
        let message = tagged(said);
        let wanted = json!({
            "chat_id": -5, "message_thread_id": 3, "question": "Tea?",
            "options": [{"text": "Yes"}, {"text": "no"}, {"text": "maybe"}],
        });
        assert_eq!(call(Trick::Poll, &message), ("sendPoll", wanted));
        let reaction =
            json!({"chat_id": -5, "message_id": 7, "reaction": [{"type": "emoji", "emoji": "👍"}]});
        assert_eq!(call(Trick::React, &message).1, reaction);
    }
}
