//! What the visitor of the demo page does to messages: the bot is told of it as Telegram tells bots.

use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use super::super::{MemberStatus, TelegramOptions};
use super::{ANN, BOB, Bed, GROUP};

impl Bed {
    /// With the routes of the page, and a bot that asks for these kinds of updates.
    async fn with_page(kinds: &[&str]) -> Self {
        let bed =
            Self::with(TelegramOptions { page: Some("<h1>chat</h1>"), ..TelegramOptions::default() }).await;
        bed.call("getUpdates", json!({"allowed_updates": kinds})).await.unwrap();
        bed
    }

    /// The answer to an act of the page, or the words of its refusal.
    async fn act(&self, name: &str, body: Value) -> Result<Value, String> {
        let url = format!("{}/demo/{name}", self.tg.url());
        told(self.http.post(url).json(&body).send().await.unwrap()).await
    }

    async fn upload(&self, about: &Value, files: &[(&str, Vec<u8>)]) -> Result<Value, String> {
        let mut form = Form::new().text("about", about.to_string());
        for (name, bytes) in files {
            form = form.part("file", Part::bytes(bytes.clone()).file_name((*name).to_owned()));
        }
        told(self.http.post(format!("{}/demo/upload", self.tg.url())).multipart(form).send().await.unwrap())
            .await
    }

    /// What a bot gets that asks for the file of this id, and what the page gets.
    async fn downloads(&self, file_id: &Value) -> (Vec<u8>, reqwest::Response) {
        let file = self.call("getFile", json!({"file_id": file_id})).await.unwrap();
        let path = file["file_path"].as_str().unwrap();
        let url = format!("{}/file/bot{}/{path}", self.tg.url(), self.tg.token());
        let bytes = self.http.get(url).send().await.unwrap().bytes().await.unwrap();
        let url = format!("{}/demo/file/{}", self.tg.url(), file_id.as_str().unwrap());
        (bytes.to_vec(), self.http.get(url).send().await.unwrap())
    }

    /// The updates of one kind that nobody took yet.
    async fn told(&self, kind: &str) -> Vec<Value> {
        let updates = self.call("getUpdates", json!({})).await.unwrap();
        let updates = updates.as_array().unwrap().iter();
        updates.filter_map(|update| update.get(kind).cloned()).collect()
    }
}

async fn told(response: reqwest::Response) -> Result<Value, String> {
    let is_done = response.status().is_success();
    let body: Value = response.json().await.unwrap();
    if is_done { Ok(body) } else { Err(body["error"].as_str().unwrap().to_owned()) }
}

#[tokio::test]
async fn an_edit_is_told_and_a_deletion_is_not() {
    let bed = Bed::with_page(&["message", "edited_message"]).await;
    let said = bed.tg.say(ANN, ANN, "frist").unwrap().message_id;
    let edit = |text: &str| json!({"chat_id": ANN, "message_id": said, "from": ANN, "text": text});
    bed.act("edit", edit("first")).await.unwrap();
    let edited = bed.told("edited_message").await;
    assert_eq!((edited.len(), &edited[0]["text"]), (1, &json!("first")));
    let cases = [
        (edit(" "), "there is no text in it"),
        (edit(&"x".repeat(4097)), "a message has at most 4,096 characters"),
        (
            json!({"chat_id": ANN, "message_id": said, "from": BOB, "text": "x"}),
            "only one's own messages can be edited",
        ),
    ];
    for (body, words) in cases {
        assert_eq!(bed.act("edit", body).await.unwrap_err(), words);
    }
    let pending = bed.tg.updates_pending();
    bed.act("delete", json!({"chat_id": ANN, "message_id": said, "from": ANN})).await.unwrap();
    let again = bed.act("delete", json!({"chat_id": ANN, "message_id": said, "from": ANN})).await;
    assert_eq!(again.unwrap_err(), "that message is not there any more");
    assert_eq!((bed.tg.messages(ANN), bed.tg.updates_pending()), (Vec::new(), pending));
    let said = bed.tg.say(ANN, GROUP, "mine").unwrap().message_id;
    let by = |from: i64| json!({"chat_id": GROUP, "message_id": said, "from": from});
    let refused = bed.act("delete", by(BOB)).await.unwrap_err();
    assert_eq!(refused, "only an administrator of the group can delete messages of others");
    bed.act("delete", by(ANN)).await.unwrap();
    bed.end().await;
}

#[tokio::test]
async fn several_messages_are_pinned_and_each_is_unpinned_by_itself() {
    let bed = Bed::with_page(&["message"]).await;
    let ids = [bed.send(ANN, "one").await, bed.send(ANN, "two").await, bed.send(ANN, "three").await];
    for id in ids {
        bed.call("pinChatMessage", json!({"chat_id": ANN, "message_id": id})).await.unwrap();
    }
    let unpin = |id: i64| bed.call("unpinChatMessage", json!({"chat_id": ANN, "message_id": id}));
    unpin(ids[0]).await.unwrap();
    unpin(ids[0]).await.unwrap_err();
    bed.call("unpinChatMessage", json!({"chat_id": ANN})).await.unwrap();
    unpin(ids[2]).await.expect_err("the last pinned one went");
    unpin(ids[1]).await.unwrap();
    bed.end().await;
}

#[tokio::test]
async fn a_reaction_replaces_that_of_the_same_person() {
    let bed = Bed::with_page(&["message", "message_reaction"]).await;
    let id = bed.send(ANN, "well?").await;
    let react = |emoji: Option<&str>| json!({"chat_id": ANN, "message_id": id, "from": ANN, "emoji": emoji});
    let mut events = bed.tg.subscribe();
    for emoji in [Some("👍"), Some("👍"), Some("🔥"), None] {
        bed.act("react", react(emoji)).await.unwrap();
    }
    assert_eq!(bed.act("react", react(Some("x"))).await.unwrap_err(), "Telegram has no such reaction");
    let told = bed.told("message_reaction").await;
    let changes: Vec<(&Value, &Value)> =
        told.iter().map(|c| (&c["old_reaction"][0]["emoji"], &c["new_reaction"][0]["emoji"])).collect();
    let (none, thumb, fire) = (Value::Null, json!("👍"), json!("🔥"));
    assert_eq!(changes, [(&none, &thumb), (&thumb, &fire), (&fire, &none)]);
    assert_eq!((&told[0]["user"]["id"], &told[0]["message_id"]), (&json!(ANN), &json!(id)));
    let shown = events.recv().await.unwrap();
    assert_eq!(
        shown.data,
        json!({"chat_id": ANN, "message_id": id, "reactions": [{"emoji": "👍", "from": ANN}]})
    );

    // In a group only an administrator among bots is told.
    let id = bed.send(GROUP, "well?").await;
    let react = |emoji: &str| json!({"chat_id": GROUP, "message_id": id, "from": BOB, "emoji": emoji});
    bed.act("react", react("👍")).await.unwrap();
    assert_eq!(bed.told("message_reaction").await.len(), 3);
    bed.tg.set_member(GROUP, bed.tg.bot_id(), MemberStatus::Admin).unwrap();
    bed.act("react", react("🔥")).await.unwrap();
    assert_eq!(bed.told("message_reaction").await.len(), 4);
    bed.end().await;
}

#[tokio::test]
async fn a_vote_is_counted_at_once() {
    let bed = Bed::with_page(&["poll", "poll_answer"]).await;
    let options = json!([{"text": "soup"}, {"text": "salad"}]);
    let poll = async |more: Value| {
        let mut args = json!({"chat_id": GROUP, "question": "Lunch?", "options": options});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        bed.call("sendPoll", args).await.unwrap()["message_id"].clone()
    };
    let vote = async |id: &Value, from: i64, options: &[usize]| {
        let body = json!({"chat_id": GROUP, "message_id": id, "from": from, "options": options});
        bed.act("vote", body).await.map(|_| ())
    };
    let public = poll(json!({"is_anonymous": false})).await;
    for (from, chosen) in [(ANN, vec![0]), (BOB, vec![1]), (ANN, vec![1]), (BOB, vec![])] {
        vote(&public, from, &chosen).await.unwrap();
    }
    let refused = vote(&public, ANN, &[0, 1]).await.unwrap_err();
    assert_eq!(refused, "the poll takes one answer");
    assert_eq!(vote(&public, ANN, &[2]).await.unwrap_err(), "the poll has no such option");
    assert_eq!(vote(&public, ANN, &[0, 0]).await.unwrap_err(), "the poll has no such option");
    let states = bed.told("poll").await;
    let count = |state: &Value| {
        let count = |at: usize| state["options"][at]["voter_count"].as_u64().unwrap();
        (count(0), count(1), state["total_voter_count"].as_u64().unwrap())
    };
    assert_eq!(states.iter().map(count).collect::<Vec<_>>(), [(1, 0, 1), (1, 1, 2), (0, 2, 2), (0, 1, 1)]);
    let answers = bed.told("poll_answer").await;
    assert_eq!(
        (answers.len(), &answers[2]["option_ids"], &answers[3]["option_ids"]),
        (4, &json!([1]), &json!([]))
    );
    assert_eq!(
        (&answers[0]["user"]["id"], &answers[0]["option_persistent_ids"]),
        (&json!(ANN), &json!(["0"]))
    );

    let quiz = poll(json!({"type": "quiz", "correct_option_ids": [1]})).await;
    vote(&quiz, ANN, &[0]).await.unwrap();
    assert_eq!(vote(&quiz, ANN, &[1]).await.unwrap_err(), "a vote in this poll cannot be changed");
    assert_eq!(bed.told("poll_answer").await.len(), 4, "the quiz is anonymous");
    let several = poll(json!({"allows_multiple_answers": true})).await;
    vote(&several, ANN, &[0, 1]).await.unwrap();
    bed.call("stopPoll", json!({"chat_id": GROUP, "message_id": several})).await.unwrap();
    assert_eq!(vote(&several, BOB, &[0]).await.unwrap_err(), "the poll is closed");
    bed.end().await;
}

#[tokio::test]
async fn a_photo_and_a_file_can_be_downloaded() {
    let bed = Bed::with_page(&["message"]).await;
    let about = |sizes: Value, caption: &str| json!({"chat_id": ANN, "from": ANN, "caption": caption, "sizes": sizes});
    let jpeg = |last: u8| vec![0xff, 0xd8, 0xff, last];
    let sizes = json!([[90, 60], [1200, 800]]);
    let files = [("photo", jpeg(1)), ("photo", jpeg(2))];
    bed.upload(&about(sizes, " a cat "), &files).await.unwrap();
    let file = [("../a b?#%.csv", b"a,b".to_vec())];
    bed.upload(&about(json!([]), ""), &file).await.unwrap();
    let messages = bed.told("message").await;
    let photo = &messages[0]["photo"];
    assert_eq!(
        (&photo[0]["width"], &photo[1]["height"], &photo[1]["file_size"]),
        (&json!(90), &json!(800), &json!(4))
    );
    assert_eq!(messages[0]["caption"], "a cat");
    let (bytes, shown) = bed.downloads(&photo[1]["file_id"]).await;
    assert_eq!((bytes, &shown.headers()["content-type"]), (jpeg(2), &"image/jpeg".parse().unwrap()));
    let document = &messages[1]["document"];
    assert_eq!((&document["file_name"], &document["mime_type"]), (&json!("a b?#%.csv"), &json!("text/csv")));
    assert_eq!(messages[1].get("caption"), None);
    let (bytes, saved) = bed.downloads(&document["file_id"]).await;
    assert_eq!(
        (bytes, &saved.headers()["content-disposition"]),
        (b"a,b".to_vec(), &"attachment".parse().unwrap())
    );

    let empty = bed.upload(&about(json!([]), ""), &[("empty", Vec::new())]).await;
    assert_eq!(empty.unwrap_err(), "the file is empty");
    let long = bed.upload(&about(json!([]), &"x".repeat(1025)), &file).await;
    assert_eq!(long.unwrap_err(), "a caption has at most 1,024 characters");
    let huge = [("huge.bin", vec![0; 50 * 1024 * 1024 + 1])];
    assert_eq!(
        bed.upload(&about(json!([]), ""), &huge).await.unwrap_err(),
        "the demo takes files of up to 50 MB"
    );
    // One that the demo takes and a bot does not get.
    let large = [("large.bin", vec![0; 20 * 1024 * 1024 + 1])];
    bed.upload(&about(json!([]), ""), &large).await.unwrap();
    let last = bed.told("message").await.last().unwrap()["document"]["file_id"].clone();
    let refused = bed.call("getFile", json!({"file_id": last})).await.unwrap_err();
    assert_eq!(refused, "Bad Request: file is too big");
    bed.end().await;
}
