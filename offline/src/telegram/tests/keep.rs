//! A world that is kept: saved and loaded it is the same, and no id comes back.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::super::amend::{self, Act};
use super::super::keep::KeepError;
use super::super::{OfflineTelegram, Person, Say, TelegramOptions, WorldFolder};
use crate::Runtime;

const ANN: i64 = 11;
const FORUM: i64 = -100_300;

async fn start(store: &Path, runtime: &Runtime) -> OfflineTelegram {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let kept = WorldFolder::open(store, runtime.now()).unwrap();
    OfflineTelegram::start_kept(listener, TelegramOptions::default(), runtime, kept).unwrap()
}

async fn end(telegram: OfflineTelegram, runtime: Runtime) {
    runtime.stop();
    assert!(runtime.finish(Duration::from_secs(10)).await);
    telegram.save().await.unwrap();
}

#[tokio::test]
async fn a_world_goes_on_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = Runtime::system();
    let telegram = start(folder.path(), &runtime).await;
    telegram.add_user(Person::new(ANN, "Ann").username("ann"));
    telegram.add_private(ANN).unwrap();
    telegram.add_forum(FORUM, "Workshop");
    let topic = telegram.add_topic(FORUM, "Ideas").unwrap();
    let sent = telegram.send(Say::new(ANN, ANN, "look").photo([1, 2, 3])).unwrap();
    telegram.shared.change(|state| {
        let chat = state.world.chats.get_mut(&ANN).unwrap();
        chat.reactions.insert(sent.message_id, vec![json!({"type": "emoji", "emoji": "👍"})]);
        let act = Act { from: ANN, chat: ANN, message_id: sent.message_id };
        amend::react(state, act, Some("🔥"), 0).unwrap();
    });
    let again = WorldFolder::open(folder.path(), Runtime::system().now());
    assert!(matches!(again, Err(KeepError::InUse(_))), "{again:?}");
    let messages = telegram.messages(ANN);
    let file = messages[0]["photo"][0]["file_id"].as_str().unwrap().to_owned();
    let menu = json!({"type": "web_app", "text": "Panel", "web_app": {"url": "https://example.com"}});
    telegram.shared.change(|state| state.menu.set(Some(ANN), menu.clone()));
    end(telegram, runtime).await;

    let mut last = sent;
    for starts in 1..4 {
        let runtime = Runtime::system();
        let telegram = start(folder.path(), &runtime).await;
        assert_eq!(telegram.messages(ANN)[0], messages[0]);
        assert_eq!(telegram.messages(FORUM)[0]["message_id"], topic);
        telegram.view(|view| {
            assert_eq!(view.reactions(ANN, sent.message_id)[0]["emoji"], "👍");
            assert_eq!(view.menu_button(ANN), &menu);
        });
        telegram.shared.look(|state| {
            let of_people = &state.world.chats[&ANN].reactions_of_people;
            assert_eq!(of_people[&sent.message_id][&ANN], "🔥");
        });
        telegram.view(|view| {
            assert_eq!(view.file(&file), Some([1, 2, 3].as_slice()));
            assert_eq!(view.updates_pending(), starts, "nobody took them");
        });
        let next = telegram.say(ANN, ANN, "and now?").unwrap();
        assert!(next.message_id > last.message_id && next.update_id > last.update_id, "{last:?} {next:?}");
        last = next;
        end(telegram, runtime).await;
    }
}
