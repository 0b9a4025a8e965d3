//! What admins ask for in names and words: the model gives no id, and exactly the right call is made once it was approved.

use figaro_base::clock::Clock;
use figaro_offline::model::ModelReply;
use figaro_offline::telegram::{MemberStatus, Person, Say};
use serde_json::{Value, json};

use crate::parking::call;
use crate::support::scene::{TEAM, number};
use crate::support::{ANN, BOB, World};

const SPAMMER: i64 = 8101;
const ZOE: i64 = 8102;
const ZOE_TWO: i64 = 8103;
const NEWS: i64 = -1009;

/// What comes of a request.
enum Outcome {
    /// This method is called with these arguments, after an approval.
    Made(&'static str, Value),
    /// Nothing is asked or made, and the model is told so.
    Told(&'static [&'static str]),
}

use Outcome::{Made, Told};

/// What an admin asks for.
struct Request {
    /// The tool that the model calls, with names and words only.
    tool: &'static str,
    arguments: Value,
    /// The message that the admin replies to.
    reply: Option<i64>,
    outcome: Outcome,
}

fn moderate(arguments: Value, outcome: Outcome) -> Request {
    Request { tool: "moderate", arguments, reply: None, outcome }
}

fn replying(to: i64, tool: &'static str, arguments: Value, outcome: Outcome) -> Request {
    Request { tool, arguments, reply: Some(to), outcome }
}

fn permissions(may: bool) -> Value {
    let names = "send_messages send_audios send_documents send_photos send_videos send_video_notes send_voice_notes send_polls \
                 send_other_messages add_web_page_previews react_to_messages edit_tag change_info invite_users pin_messages \
                 manage_topics";
    names
        .split_whitespace()
        .map(|name| (format!("can_{name}"), json!(may)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The requests; `spam` are the messages of the spammer, `zoe` that of the second Zoe.
#[expect(clippy::too_many_lines, reason = "a table")]
fn requests(spam: &[i64], zoe: i64) -> Vec<Request> {
    let last = spam[spam.len() - 1];
    let five: Vec<i64> = spam.iter().rev().take(5).copied().collect();
    let muted = permissions(false);
    vec![
        moderate(
            json!({"action": "mute", "person": "@spammer", "minutes": 60}),
            Made(
                "restrictChatMember",
                json!({"user_id": SPAMMER, "permissions": muted, "until_date": "in 60 minutes"}),
            ),
        ),
        moderate(
            json!({"action": "mute", "person": "max muller"}),
            Made("restrictChatMember", json!({"user_id": SPAMMER, "permissions": muted})),
        ),
        moderate(
            json!({"action": "unmute", "person": "@SPAMMER"}),
            Made("restrictChatMember", json!({"user_id": SPAMMER, "permissions": permissions(true)})),
        ),
        moderate(json!({"action": "ban", "person": "zoë"}), Made("banChatMember", json!({"user_id": ZOE}))),
        moderate(
            json!({"action": "ban", "person": "zo"}),
            Told(&["any of these", "Zoe (@first_zoe)", "Zoe Two (no username)"]),
        ),
        moderate(
            json!({"action": "ban", "person": "@ghost"}),
            Told(&["look no username up", "only people who wrote here are known"]),
        ),
        replying(
            last,
            "moderate",
            json!({"action": "ban", "person": "replied", "minutes": 1440}),
            Made("banChatMember", json!({"user_id": SPAMMER, "until_date": "in 1440 minutes"})),
        ),
        moderate(
            json!({"action": "unban", "person": "spammer"}),
            Made("unbanChatMember", json!({"user_id": SPAMMER, "only_if_banned": true})),
        ),
        moderate(
            json!({"action": "kick", "person": "Zoe Two"}),
            Made("unbanChatMember", json!({"user_id": ZOE_TWO})),
        ),
        moderate(
            json!({"action": "delete_messages", "person": "@spammer", "count": 5}),
            Made("deleteMessages", json!({"message_ids": five})),
        ),
        moderate(
            json!({"action": "delete_messages", "person": "two", "count": 5}),
            Made("deleteMessage", json!({"message_id": zoe})),
        ),
        replying(
            spam[0],
            "moderate",
            json!({"action": "delete_messages"}),
            Made("deleteMessage", json!({"message_id": spam[0]})),
        ),
        replying(
            spam[1],
            "moderate",
            json!({"action": "pin"}),
            Made("pinChatMessage", json!({"message_id": spam[1]})),
        ),
        replying(
            spam[1],
            "moderate",
            json!({"action": "unpin"}),
            Made("unpinChatMessage", json!({"message_id": spam[1]})),
        ),
        moderate(json!({"action": "pin"}), Told(&["replies to no message"])),
        moderate(
            json!({"action": "set_title", "text": "Lunch & more"}),
            Made("setChatTitle", json!({"title": "Lunch & more"})),
        ),
        moderate(
            json!({"action": "set_description", "text": "Where we eat"}),
            Made("setChatDescription", json!({"description": "Where we eat"})),
        ),
        moderate(
            json!({"action": "mute", "person": "@spammer", "minutes": 0}),
            Told(&["minutes takes 1 to"]),
        ),
        // Models that know the methods call them with names too.
        Request {
            tool: "banChatMember",
            arguments: json!({"user_id": "@spammer", "revoke_messages": true}),
            reply: None,
            outcome: Made("banChatMember", json!({"user_id": SPAMMER, "revoke_messages": true})),
        },
        replying(
            spam[1],
            "pinChatMessage",
            json!({"message_id": "replied"}),
            Made("pinChatMessage", json!({"message_id": spam[1]})),
        ),
        Request {
            tool: "sendMessage",
            arguments: json!({"chat_id": "@news", "text": "Lunch at noon"}),
            reply: None,
            outcome: Made(
                "sendMessage",
                json!({"chat_id": NEWS, "text": "Lunch at noon", "link_preview_options": {"is_disabled": true}}),
            ),
        },
        moderate(json!({"action": "ban", "person": "me"}), Made("banChatMember", json!({"user_id": BOB}))),
    ]
}

/// Puts the words that stand for a time in the place of one that is right.
fn timed(made: &mut Value, wanted: &Value) {
    let Some(words) = wanted["until_date"].as_str() else { return };
    let minutes: i64 = words.split(' ').nth(1).unwrap().parse().unwrap();
    let late = Clock::system().now().timestamp() + minutes * 60 - number(&made["until_date"]);
    assert!((0..60).contains(&late), "{late} s off");
    made["until_date"] = json!(words);
}

impl World {
    /// The arguments of the calls of a method, but of what the bot itself says to people.
    fn made_there(&self, method: &str) -> Vec<Value> {
        let mut made = self.made(method);
        made.retain(|args| method != "sendMessage" || args["chat_id"] == json!(NEWS));
        made
    }

    /// Bob asks for it, and Ann approves what takes an approval.
    async fn requested(&self, said: &str, request: &Request) {
        let Request { tool, arguments, reply, outcome } = request;
        assert!(!arguments.to_string().contains("81"), "the model knows no ids: {arguments}");
        self.when(said, ModelReply::turn(vec![call("find_tools", json!({"query": tool}))]));
        self.when(said, ModelReply::turn(vec![call(tool, arguments.clone())]));
        self.when(said, ModelReply::text(&format!("End of {said}.")));
        let cards = self.cards(TEAM);
        let say = Say::new(BOB, TEAM, &format!("@figaro_bot {said}"));
        self.telegram.send(reply.map_or(say.clone(), |to| say.reply_to(to))).unwrap();
        match outcome {
            Made(method, wanted) => {
                let before = self.made_there(method).len();
                let card = self.card_after(TEAM, cards).await;
                assert_eq!(self.made_there(method).len(), before, "{said}: not before it is approved");
                self.press(ANN, &card, "✓ Once").await;
                self.ends(said).await;
                let told = self.told_model(said).pop().unwrap();
                assert_eq!(told["success"], true, "{said}: {told}");
                let mut made = self.made_there(method).split_off(before);
                assert_eq!(made.len(), 1, "{said}: {made:?}");
                timed(&mut made[0], wanted);
                let mut wanted = wanted.clone();
                wanted.as_object_mut().unwrap().entry("chat_id").or_insert(json!(TEAM));
                assert_eq!(made[0], wanted, "{said}");
            }
            Told(parts) => {
                self.ends(said).await;
                let told = self.told_model(said).pop().unwrap();
                let words = told["error"].as_str().unwrap_or_default();
                assert!(parts.iter().all(|part| words.contains(part)), "{said}: {told}");
                assert!(!words.contains("81"), "no ids: {told}");
                assert_eq!(self.cards(TEAM), cards, "{said}: nobody is asked");
            }
        }
    }
}

#[tokio::test]
async fn names_and_words_become_exactly_the_call_that_was_asked_for() {
    let world = World::without_privacy().await;
    let bot = world.moderated().await;
    world.telegram.add_channel(NEWS, "News", "news");
    world.telegram.set_member(NEWS, world.telegram.bot_id(), MemberStatus::Admin).unwrap();
    let people = [
        Person::new(SPAMMER, "Max Müller").username("spammer"),
        Person::new(ZOE, "Zoe").username("first_zoe"),
        Person::new(ZOE_TWO, "Zoe Two"),
    ];
    for person in people {
        let id = person.id;
        world.telegram.add_user(person);
        world.telegram.set_member(TEAM, id, MemberStatus::Member).unwrap();
    }
    let spam: Vec<i64> = (0..7).map(|n| world.say(SPAMMER, TEAM, &format!("Buy {n}!")).message_id).collect();
    world.say(ZOE, TEAM, "hello");
    let zoe = world.say(ZOE_TWO, TEAM, "hello too").message_id;
    world.caught_up().await;
    let requests = requests(&spam, zoe);
    assert!(requests.len() >= 20);
    for (number, request) in requests.iter().enumerate() {
        let said = format!("request number {number} please");
        world.requested(&said, request).await;
        if request.arguments["person"] == "two" {
            // Of five messages of hers one was known.
            let told = world.told_model(&said).pop().unwrap();
            assert_eq!((&told["deleted"], &told["not_reached"]), (&json!(1), &json!(4)), "{told}");
            assert!(told["why"].as_str().unwrap().contains("48 hours"), "{told}");
        }
    }
    println!("{} requests in names and words", requests.len());
    bot.ends_well().await;
}
