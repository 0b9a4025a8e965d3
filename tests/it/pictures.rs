//! Pictures: what a model that sees is shown, and what is said where one is not there or cannot be seen.

use figaro_offline::model::{ModelReply, ModelRequest};
use figaro_offline::telegram::{PlannedFailure, Say};
use serde_json::json;

use crate::support::scene::{TEAM, labels, number, text};
use crate::support::{ANN, BOB, Bot, World};

/// First bytes of a PNG and of a JPEG, told apart by what follows.
pub fn png(tail: u8) -> Vec<u8> {
    vec![0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', tail]
}

fn jpeg(tail: u8) -> Vec<u8> {
    vec![0xFF, 0xD8, 0xFF, 0xE0, tail]
}

/// Kind and last byte of each picture of a request's question.
fn shown(request: &ModelRequest) -> Vec<(String, u8)> {
    let pictures = request.pictures().into_iter();
    let last = |base64: &str| *decode(base64).last().unwrap();
    pictures.map(|picture| (picture.mime_type.to_owned(), last(picture.base64))).collect()
}

fn decode(base64: &str) -> Vec<u8> {
    let value = |c: u8| {
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".iter().position(|l| *l == c)
    };
    let six: Vec<usize> = base64.bytes().filter_map(value).collect();
    let bits = |four: &[usize]| four.iter().fold(0, |all, six| all << 6 | six) << (6 * (4 - four.len()));
    let bytes = six.chunks(4).flat_map(|four| {
        let whole = bits(four);
        [whole >> 16, whole >> 8, whole]
            .map(|byte| u8::try_from(byte & 255).unwrap())
            .into_iter()
            .take(four.len() - 1)
    });
    bytes.collect()
}

fn jpegs(tails: &[u8]) -> Vec<(String, u8)> {
    tails.iter().map(|tail| ("image/jpeg".to_owned(), *tail)).collect()
}

impl World {
    /// The bot with a model that sees, logging all it can.
    pub async fn seeing(&self) -> Bot {
        let bot = self.many().set("RUST_LOG", "trace").spawn();
        bot.ready().await;
        bot
    }

    /// Bob sends something, and the request that it leads to is given back.
    async fn sees(&self, say: Say) -> ModelRequest {
        self.sees_in(BOB, say).await
    }

    async fn sees_in(&self, chat: i64, say: Say) -> ModelRequest {
        let (requests, answers) = (self.asked().len(), self.bot_texts(chat).len());
        self.telegram.send(say).unwrap();
        let request = self.asks(requests + 1).await;
        self.answers(chat, answers + 1).await;
        request
    }

    fn album(&self, from: i64, chat: i64, caption: &str, photos: &[Vec<u8>]) -> Vec<i64> {
        let id = format!("album-{}", self.telegram.messages(chat).len());
        let send = |(at, bytes): (usize, &Vec<u8>)| {
            let say = Say::new(from, chat, if at == 0 { caption } else { "" }).photo(bytes.clone());
            self.telegram.send(say.media_group_id(&id)).unwrap().message_id
        };
        photos.iter().enumerate().map(send).collect()
    }
}

#[tokio::test]
async fn a_model_that_sees_gets_what_was_sent_replied_to_and_sent_just_before() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let bot = world.seeing().await;
    let say = |words: &str| Say::new(BOB, BOB, words);
    let request = world.sees(say("what is this?").photo(jpeg(1))).await;
    assert_eq!(shown(&request), jpegs(&[1]));
    assert!(
        request.user_text().contains("what is this?\n<attached kind=\"photo\"/>"),
        "{}",
        request.user_text()
    );
    // A question about it brings it along, in the message it came with.
    let request = world.sees(say("and what colour is it?")).await;
    assert_eq!(shown(&request), []);
    assert_eq!(request.body.to_string().matches("input_image").count(), 1);
    assert_eq!(shown(&world.sees(say("").photo(jpeg(2))).await), jpegs(&[2]), "a bare one");
    let request = world.sees(say("and this?").document("a.PNG", png(3))).await;
    assert_eq!(shown(&request), [("image/png".to_owned(), 3)]);
    assert!(
        request.user_text().contains("<attached kind=\"file\" name=\"a.PNG\"/>"),
        "{}",
        request.user_text()
    );
    let note = world.telegram.send(say("my notes").document("n.pdf", b"%PDF".to_vec())).unwrap();
    world.asks(5).await;
    world.answers(BOB, 5).await;
    assert_eq!(shown(&world.sees(say("what is in it?").reply_to(note.message_id)).await), []);

    let requests = world.asked().len();
    world.album(BOB, BOB, "which is best?", &[jpeg(4), jpeg(5), jpeg(6)]);
    world.answers(BOB, 7).await;
    let request = world.asks(requests + 1).await;
    assert_eq!(shown(&request), jpegs(&[4, 5, 6]), "an album is one question");
    world.told(BOB, BOB, "/retry").await;
    let again = world.asks(requests + 2).await;
    assert_eq!(shown(&again), jpegs(&[4, 5, 6]), "tried again with all that belongs to it");
    world.caught_up().await;
    assert_eq!(world.asked().len(), requests + 2);
    bot.ends_well().await;
    let log = std::fs::read_to_string(world.folder.path().join("figaro.log")).unwrap();
    assert!(!log.contains(world.telegram.token()), "the token is in the log");
}

#[tokio::test]
async fn in_a_group_the_picture_in_the_message_replied_to_is_seen() {
    let world = World::without_privacy().await;
    world.team();
    world.otherwise(ModelReply::text("I see."));
    let _bot = world.seeing().await;
    let photo = world.telegram.send(Say::new(ANN, TEAM, "my cat").photo(jpeg(1))).unwrap();
    world.telegram.send(Say::new(BOB, TEAM, "@figaro_bot what is this?").reply_to(photo.message_id)).unwrap();
    world.answers(TEAM, 1).await;
    assert_eq!(shown(&world.asks(1).await), jpegs(&[1]));
    // Its own picture comes behind the one that it replies to.
    let both = Say::new(BOB, TEAM, "@figaro_bot which is older?").reply_to(photo.message_id).photo(jpeg(2));
    world.telegram.send(both).unwrap();
    world.answers(TEAM, 2).await;
    assert_eq!(shown(&world.asks(2).await), jpegs(&[1, 2]));
    world.album(BOB, TEAM, "@figaro_bot and these?", &[jpeg(3), jpeg(4)]);
    world.answers(TEAM, 3).await;
    assert_eq!(shown(&world.asks(3).await), jpegs(&[3, 4]), "only the first of an album names the bot");
    world.caught_up().await;
    assert_eq!(world.asked().len(), 3);
}

#[tokio::test]
async fn of_a_picture_that_is_not_there_the_model_is_told_why() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I cannot see it."));
    let bot = world.seeing().await;
    let huge = [png(0), vec![0; 5 * 1024 * 1024]].concat();
    let gone =
        || PlannedFailure::Status { status: 400, description: "Bad Request: wrong file_id".to_owned() };
    let cases = [
        ("a.jpg", huge, None, "larger than 5 MB"),
        ("a.png", b"no picture".to_vec(), None, "not a JPEG, PNG, WebP or GIF"),
        ("a.webp", Vec::new(), None, "not a JPEG, PNG, WebP or GIF"),
        ("b.jpg", jpeg(1), Some(gone()), "could not be fetched"),
        ("c.jpg", jpeg(1), Some(PlannedFailure::DropConnection), "could not be fetched"),
    ];
    for (user, (name, bytes, failure, words)) in (100..).zip(cases) {
        world.person(user, "Someone", "en");
        if let Some(failure) = failure {
            world.telegram.fail("getFile", failure, 1);
        }
        let request = world.sees_in(user, Say::new(user, user, "look").document(name, bytes)).await;
        assert_eq!(shown(&request), [], "{name}");
        let wanted = format!("<attached kind=\"file\" name=\"{name}\" not_given_to_you=\"{words}\"/>");
        assert!(request.user_text().contains(&wanted), "{name}: {}", request.user_text());
    }
    assert!(!bot.log().contains(world.telegram.token()), "the token is in the log");
}

#[tokio::test]
async fn a_model_that_does_not_see_says_so_or_gets_the_words() {
    let world = World::new().await;
    let _bot = world.many().set("OPENAI_MODEL", "offline-text").spawn();
    _bot.ready().await;
    world.telegram.send(Say::new(BOB, BOB, "").photo(jpeg(1))).unwrap();
    let told = world.answers(BOB, 1).await.remove(0);
    assert!(text(&told).starts_with("My model, openai:offline-text, cannot see pictures."), "{told}");
    assert_eq!((labels(&told), world.asked().len()), (vec!["Another model".to_owned()], 0));
    assert!(text(&told).ends_with("Describe it in words, or choose a model that sees."), "{told}");
    world.press(BOB, &told, "Another model").await;
    let list = world.answers(BOB, 2).await.remove(1);
    let is_blind = |label: &String| label.starts_with("openai:offline-text");
    assert!(!labels(&list).iter().any(is_blind), "only what may see is offered: {list}");
    world.script.push(ModelReply::text("A cat."));
    world.press(BOB, &list, "gemini:").await;
    assert_eq!(text(&world.answers(BOB, 3).await[2]), "A cat.");
    let request = world.asks(1).await;
    assert_eq!((request.model(), shown(&request)), ("gemini-2.5-flash", jpegs(&[1])));

    world.otherwise(ModelReply::text("Tell me what is on it."));
    let request = world.sees(Say::new(BOB, BOB, "what is this?").photo(jpeg(2))).await;
    assert_eq!(request.model(), "offline-text");
    assert!(
        request.user_text().contains("what is this?\n<attached kind=\"photo\""),
        "{}",
        request.user_text()
    );
    assert!(request.user_text().contains("cannot see pictures"), "{}", request.user_text());
    // By another model for this once, the same with its picture.
    world.told(BOB, BOB, "/retry gemini:gemini-2.5-flash").await;
    assert_eq!(shown(&world.asks(3).await), jpegs(&[2]));
    // In a group nobody asked about it.
    world.team();
    world.telegram.send(Say::new(ANN, TEAM, "").photo(jpeg(1))).unwrap();
    world.caught_up().await;
    assert!(world.bot_texts(TEAM).is_empty());
    assert!(number(&list["message_id"]) > 0);
}

#[tokio::test]
async fn where_no_model_sees_none_is_offered() {
    let world = World::new().await;
    let _bot = world.bot().set("ACCESS", "open").set("OPENAI_MODEL", "offline-text").spawn();
    _bot.ready().await;
    let begins = "My model, openai:offline-text, cannot see pictures. No other model";
    for (who, ends) in
        [(BOB, "Whoever runs me can set up one that sees."), (ANN, "or name one in LLM_FALLBACK.")]
    {
        world.telegram.send(Say::new(who, who, "").photo(jpeg(1))).unwrap();
        let told = world.answers(who, 1).await.remove(0);
        assert!(text(&told).starts_with(begins) && text(&told).ends_with(ends), "{told}");
        assert!(labels(&told).is_empty(), "{told}");
    }
    // What failed for another reason offers none either where there is no other.
    world.when("are you there?", ModelReply::status(401, "no"));
    let failed = world.told(BOB, BOB, "are you there?").await;
    assert_eq!(labels(&failed), ["Try again"], "{failed}");
    assert!(!text(&failed).contains("another model"), "{failed}");
}

#[tokio::test]
async fn a_stand_in_that_does_not_see_is_told_of_what_it_does_not_get() {
    let world = World::new().await;
    let recipe = world.many().set("LLM_FALLBACK", "compatible:offline-text");
    let bot = recipe.set("MODEL_CAPABILITIES", "compatible:offline-text=tools").spawn();
    bot.ready().await;
    world.script.push(ModelReply::status(401, "no"));
    world.script.push(ModelReply::text("I am blind."));
    world.telegram.send(Say::new(BOB, BOB, "what is this?").photo(jpeg(1))).unwrap();
    assert_eq!(text(&world.answers(BOB, 1).await[0]), "I am blind.");
    let (first, second) = (world.asks(1).await, world.asks(2).await);
    assert_eq!((shown(&first), shown(&second)), (jpegs(&[1]), vec![]));
    assert!(second.user_text().contains("[pictures that you cannot see: 1]"), "{}", second.user_text());
}

#[tokio::test]
async fn stickers_and_the_first_frame_of_a_gif_are_seen() {
    let world = World::new().await;
    world.otherwise(ModelReply::text("I see."));
    let _bot = world.seeing().await;
    world.telegram.send(Say::new(ANN, ANN, "look").photo(jpeg(7))).unwrap();
    world.answers(ANN, 1).await;
    let messages = world.telegram.messages(ANN);
    let photo = messages.iter().find_map(|message| message.get("photo")).unwrap()[0].clone();
    let still = json!({"file_id": photo["file_id"], "file_unique_id": "u", "width": 512, "height": 512});
    let sticker = |moves: bool| {
        let mut sticker = json!({"file_id": "moving", "file_unique_id": "s", "type": "regular", "width": 512,
            "height": 512, "is_animated": false, "is_video": moves, "emoji": "😂"});
        match moves {
            true => sticker["thumbnail"] = still.clone(),
            false => sticker["file_id"] = photo["file_id"].clone(),
        }
        sticker
    };
    let gif = json!({"file_id": "gif", "file_unique_id": "g", "width": 9, "height": 9, "duration": 1, "thumbnail": still});
    for (field, value) in [("sticker", sticker(false)), ("sticker", sticker(true)), ("animation", gif)] {
        world.told(BOB, BOB, "/new").await;
        let request = world.sees(Say::new(BOB, BOB, "").field(field, value.clone())).await;
        assert_eq!(shown(&request), jpegs(&[7]), "{value} {}", request.user_text());
    }
}
