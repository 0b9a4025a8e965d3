use chrono::DateTime;

use super::*;
use figaro_base::ids::{ChatId, MessageId, UpdateId, UserId};
use figaro_domain::chat::{ChatKind, Place};
use figaro_domain::message::{Join, Speaker};
use figaro_domain::origin::Origin;
use figaro_policy::access::Standing;

/// Writes down what it is asked; a text that begins with `wait` takes until it is cancelled.
#[derive(Debug, Default)]
struct Scribe {
    seen: Mutex<Vec<String>>,
    changed: Notify,
}

#[async_trait]
impl Runner for Scribe {
    async fn run(&self, job: Job, control: Control) -> Option<Job> {
        let (Job::Ask(question) | Job::Resume(_, question)) = job else {
            return None;
        };
        let text = question.parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("+");
        let waits = text.starts_with("wait") && !text.contains('!');
        self.seen.lock().push(text);
        self.changed.notify_waiters();
        if !waits {
            return None;
        }
        control.cancel.cancelled().await;
        match control.reason() {
            CancelReason::Again(question) => Some(Job::Ask(question)),
            CancelReason::Stopped | CancelReason::Shutdown => None,
        }
    }
}

impl Scribe {
    async fn saw(&self, wanted: &[&str]) {
        let waiting = async {
            loop {
                let changed = self.changed.notified();
                if self.seen.lock().iter().eq(wanted) {
                    return;
                }
                changed.await;
            }
        };
        if tokio::time::timeout(Duration::from_secs(5), waiting).await.is_err() {
            panic!("saw {:?}, wanted {wanted:?}", self.seen.lock());
        }
    }
}

fn part(message: i64, text: &str, joins: Option<Join>) -> Inbound {
    Inbound {
        origin: Origin::telegram(UpdateId(message), MessageId(message)),
        place: Place { chat: ChatId(1), kind: ChatKind::Private, title: None, topic: None },
        speaker: Speaker { user: UserId::telegram(1), name: "Ann".into(), username: None },
        language: None,
        client: None,
        sent_at: DateTime::UNIX_EPOCH,
        text: text.into(),
        attachments: Vec::new(),
        quotes: None,
        mentioned: false,
        reply_to_bot: false,
        joins,
        forwarded_from: None,
        from_person: false,
        task: None,
        program: None,
        about: None,
        borrowed: false,
        learns: false,
        foreign: Vec::new(),
    }
}

fn start() -> (Arc<Scribe>, Mailboxes) {
    let scribe = Arc::new(Scribe::default());
    (Arc::clone(&scribe), Mailboxes::new(scribe, TaskTracker::new()))
}

fn say(boxes: &Mailboxes, part: Inbound) {
    let question = Question::new(part.clone(), Standing::Member);
    boxes.post(part.place.conversation(), Job::Ask(question));
}

#[tokio::test]
async fn what_arrives_during_a_turn_waits_in_order_and_stop_ends_only_the_turn() {
    let (scribe, boxes) = start();
    let conversation = part(1, "", None).place.conversation();
    assert!(boxes.stop(conversation).is_none());
    for (id, text) in [(1, "wait"), (2, "two"), (3, "three")] {
        say(&boxes, part(id, text, None));
    }
    scribe.saw(&["wait"]).await;
    assert!(boxes.stop(conversation).is_some());
    scribe.saw(&["wait", "two", "three"]).await;
}

#[tokio::test]
async fn an_album_and_a_split_paste_are_one_question_each() {
    let (scribe, boxes) = start();
    let album = |id: &str| Some(Join::Album(id.to_owned()));
    say(&boxes, part(1, "a1", album("a")));
    say(&boxes, part(2, "a2", album("a")));
    say(&boxes, part(3, "b1", album("b")));
    say(&boxes, part(4, "long", Some(Join::LongPaste)));
    say(&boxes, part(5, "rest", None));
    say(&boxes, part(6, "other", None));
    scribe.saw(&["a1+a2", "b1", "long+rest", "other"]).await;
}

#[tokio::test]
async fn an_edit_reaches_a_waiting_and_an_uncommitted_question_and_no_other() {
    let (scribe, boxes) = start();
    say(&boxes, part(1, "wait one", None));
    say(&boxes, part(2, "two", None));
    scribe.saw(&["wait one"]).await;
    boxes.edit(&part(2, "two!", None));
    boxes.edit(&part(1, "wait one!", None));
    scribe.saw(&["wait one", "wait one!", "two!"]).await;
    say(&boxes, part(3, "wait three", None));
    scribe.saw(&["wait one", "wait one!", "two!", "wait three"]).await;
    let conversation = part(1, "", None).place.conversation();
    assert!(boxes.0.queues.lock()[&conversation].current.as_ref().unwrap().control.commit());
    boxes.edit(&part(3, "wait three!", None));
    assert!(boxes.stop(conversation).is_some());
    say(&boxes, part(4, "end", None));
    scribe.saw(&["wait one", "wait one!", "two!", "wait three", "end"]).await;
}

#[tokio::test]
async fn a_forward_right_behind_its_comment_joins_it() {
    let (scribe, boxes) = start();
    say(&boxes, part(1, "wait comment", None));
    scribe.saw(&["wait comment"]).await;
    say(&boxes, part(2, "forward!", Some(Join::Forward)));
    scribe.saw(&["wait comment", "wait comment+forward!"]).await;
}

#[tokio::test]
async fn a_comment_and_its_forwards_that_waited_or_came_at_once_are_one_question() {
    let (scribe, boxes) = start();
    say(&boxes, part(1, "wait", None));
    scribe.saw(&["wait"]).await;
    say(&boxes, part(2, "wait comment", None));
    say(&boxes, part(3, "f1", Some(Join::Forward)));
    say(&boxes, part(4, "f2", Some(Join::Forward)));
    assert!(boxes.stop(part(1, "", None).place.conversation()).is_some());
    scribe.saw(&["wait", "wait comment+f1+f2"]).await;
    say(&boxes, part(5, "f3", Some(Join::Forward)));
    say(&boxes, part(6, "f4!", Some(Join::Forward)));
    scribe.saw(&["wait", "wait comment+f1+f2", "wait comment+f1+f2+f3+f4!"]).await;
}
