//! What every provider must bear, run for each with streams of its own: breaks, silence, noise and refusals. A provider's
//! tests describe it as a [`TestedProvider`] and take the whole suite with [`fault_suite`].

use std::collections::HashSet;

use futures::{StreamExt, stream};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tokio::time::timeout;

use super::{Duration, StreamEnd, TcpListener, TestReply, TestServer, Value};
use crate::{Event, EventStream, Item, Provider, ProviderError, Request};

/// Events of a stream.
pub(crate) type StreamEvents = Vec<Result<Event, ProviderError>>;

/// How long the providers of these tests are silent before they have stalled.
pub(crate) const IDLE: Duration = Duration::from_millis(400);
/// As good as for ever.
pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// A provider, and what its server may send.
pub(crate) trait TestedProvider: 'static {
    /// The model that is asked.
    const MODEL: &'static str;
    /// A key that must never be told.
    const KEY: &'static str;
    /// How long a server may be silent before its first byte, where others have [`IDLE`].
    const BEFORE_THE_FIRST_BYTE: Duration = IDLE;

    /// `true` if data may follow its end; the connection then ends it.
    const GOES_ON_BEHIND_ITS_END: bool = false;

    /// The provider at an address, with a bound on its silence amid an answer.
    fn provider(base_url: &str, key: &str, idle_limit: Duration) -> Box<dyn Provider>;

    /// A streamed answer of these bytes.
    fn reply(pieces: Vec<Vec<u8>>) -> TestReply {
        TestReply::stream(pieces)
    }

    /// Answer of the server to a request that is no model call.
    fn aside(_body: &Value) -> Option<TestReply> {
        None
    }

    /// Text on the wire.
    fn says(text: &str) -> String;

    /// The end of an answer that is whole, in one event or several.
    fn end() -> String;

    /// Everything a stream may hold, event by event.
    fn rich() -> Vec<String>;

    /// Events of that answer.
    fn rich_told() -> StreamEvents;

    /// The same without what is made up anew each time.
    fn known(told: StreamEvents) -> StreamEvents {
        told
    }

    /// Events that tell nothing, wherever they come.
    fn noise() -> Vec<String>;

    /// Events that only show that the server is alive.
    fn signs_of_life() -> Vec<String>;

    /// Errors told within a stream.
    fn failures() -> Vec<(String, ProviderError)>;

    /// A refusal in the shape of the dialect.
    fn refusal(message: &str) -> String;

    /// Refusals of its own, with their first line and headers.
    fn refusals() -> Vec<(&'static str, String, ProviderError)> {
        Vec::new()
    }

    /// Answers that are no streams, by the type of their content.
    fn foreign() -> Vec<(&'static str, &'static str)> {
        vec![("text/html; charset=utf-8", "<html>\n\n<b>Hi</b></html>"), ("application/json", "{}")]
    }

    /// Returns `true` if the rich stream may give these events when it ends in this way at this byte, before its last one.
    fn may_tell(told: &StreamEvents, at: usize, end: StreamEnd) -> bool;
}

/// The tests of a [`TestedProvider`], one by one.
macro_rules! fault_suite {
    ($subject:ty) => {
        $crate::http::testing::faults::fault_suite! { $subject:
            a_stream_cut_in_two_anywhere_tells_the_same
            a_stream_that_ends_anywhere_tells_what_came
            noise_anywhere_changes_nothing
            an_event_that_is_missing_or_comes_twice_ends_well
            refusals_keep_their_meaning
            success_that_is_no_stream_is_refused_with_advice
            failures_amid_an_answer_come_after_what_was_said
            nothing_follows_the_end
            what_cannot_be_sent_is_told
            dropping_the_stream_closes_the_connection
            silence_is_a_stall_and_signs_of_life_are_not
            the_key_is_never_shown
        }

        #[test]
        fn a_stream_in_any_pieces_tells_the_same() {
            $crate::http::testing::faults::a_stream_in_any_pieces_tells_the_same::<$subject>();
        }
    };
    ($subject:ty: $($name:ident)*) => {
        $(#[tokio::test]
        async fn $name() {
            $crate::http::testing::faults::$name::<$subject>().await;
        })*
    };
}
pub(crate) use fault_suite;

/// A server that gives each call this answer.
pub(crate) async fn answering<S: TestedProvider>(
    answer: impl Fn(&Value) -> TestReply + Send + Sync + 'static,
) -> TestServer {
    TestServer::start(move |body| S::aside(body).unwrap_or_else(|| answer(body))).await
}

/// A server that gives every call the same answer.
pub(crate) async fn replying<S: TestedProvider>(reply: TestReply) -> TestServer {
    answering::<S>(move |_| reply.clone()).await
}

/// The calls that a server was asked for.
pub(crate) fn calls<S: TestedProvider>(server: &TestServer) -> Vec<Value> {
    let heard = server.heard.lock().unwrap();
    heard.iter().map(|heard| heard.body.clone()).filter(|body| S::aside(body).is_none()).collect()
}

fn patient<S: TestedProvider>(server: &TestServer) -> Box<dyn Provider> {
    S::provider(&server.base_url, S::KEY, MINUTE)
}

pub(crate) fn request<S: TestedProvider>(text: &str) -> Request {
    Request::new(S::MODEL, "Be brief.", vec![Item::user(text)])
}

pub(crate) async fn ask<S: TestedProvider>(provider: &dyn Provider) -> StreamEvents {
    S::known(heard(provider.stream(request::<S>("Hi"))).await)
}

/// All that is told but for what only the bill is made of.
async fn heard(answer: EventStream) -> StreamEvents {
    answer.filter(|event| std::future::ready(!matches!(event, Ok(Event::Unseen(_))))).collect().await
}

/// Returns the events of a patient provider for a server that gives this answer.
pub(crate) async fn told<S: TestedProvider>(reply: TestReply) -> StreamEvents {
    ask::<S>(&*patient::<S>(&replying::<S>(reply).await)).await
}

fn said(text: &str) -> Result<Event, ProviderError> {
    Ok(Event::TextDelta(text.into()))
}

fn stream_of<S: TestedProvider>(events: &[String]) -> TestReply {
    S::reply(vec![events.concat().into_bytes()])
}

fn rich_bytes<S: TestedProvider>() -> Vec<u8> {
    S::rich().concat().into_bytes()
}

/// Asks with each number in the question, several at a time.
async fn ask_with_each<S: TestedProvider>(server: &TestServer, most: usize) -> Vec<(usize, StreamEvents)> {
    let provider = patient::<S>(server);
    let calls = (0..=most).map(|at| {
        let answer = provider.stream(request::<S>(&format!("number {at}.")));
        async move { (at, S::known(heard(answer).await)) }
    });
    stream::iter(calls).buffer_unordered(8).collect().await
}

/// The number in the question.
fn number(body: &Value) -> usize {
    let body = body.to_string();
    let (_, rest) = body.split_once("number ").unwrap();
    rest.split_once('.').unwrap().0.parse().unwrap()
}

pub(crate) async fn a_stream_cut_in_two_anywhere_tells_the_same<S: TestedProvider>() {
    let whole = rich_bytes::<S>();
    let length = whole.len();
    let server = answering::<S>(move |body| {
        let (start, end) = whole.split_at(number(body));
        S::reply(vec![start.to_vec(), end.to_vec()])
    })
    .await;
    for (at, told) in ask_with_each::<S>(&server, length).await {
        assert_eq!(told, S::rich_told(), "cut at byte {at} of {length}");
    }
}

pub(crate) fn a_stream_in_any_pieces_tells_the_same<S: TestedProvider>() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let sizes = prop::collection::vec(1_usize..40, 0..200);
    let run = TestRunner::new(Config::with_cases(48)).run(&sizes, |sizes| {
        let mut rest = rich_bytes::<S>();
        let mut pieces = Vec::new();
        for size in sizes {
            let tail = rest.split_off(size.min(rest.len()));
            pieces.push(std::mem::replace(&mut rest, tail));
        }
        pieces.push(rest);
        prop_assert_eq!(runtime.block_on(told::<S>(S::reply(pieces))), S::rich_told());
        Ok(())
    });
    run.unwrap();
}

pub(crate) async fn a_stream_that_ends_anywhere_tells_what_came<S: TestedProvider>() {
    let whole = rich_bytes::<S>();
    let length = whole.len();
    for end in [StreamEnd::Finish, StreamEnd::Break] {
        let bytes = whole.clone();
        let server =
            answering::<S>(move |body| TestReply { end, ..S::reply(vec![bytes[..number(body)].to_vec()]) })
                .await;
        for (at, told) in ask_with_each::<S>(&server, length).await {
            let case = format!("{end:?} at byte {at} of {length}: {told:?}");
            if at == length {
                assert_eq!(told, S::rich_told(), "{case}");
                continue;
            }
            assert!(S::may_tell(&told, at, end), "{case}");
        }
    }
}

pub(crate) async fn noise_anywhere_changes_nothing<S: TestedProvider>() {
    for noise in S::noise() {
        for at in 0..=S::rich().len() {
            let mut events = S::rich();
            events.insert(at, noise.clone());
            assert_eq!(told::<S>(stream_of::<S>(&events)).await, S::rich_told(), "{noise} before {at}");
        }
    }
}

/// However events are lost or doubled, the stream ends once, and no two calls have one id.
pub(crate) async fn an_event_that_is_missing_or_comes_twice_ends_well<S: TestedProvider>() {
    for at in 0..S::rich().len() {
        let (mut missing, mut doubled) = (S::rich(), S::rich());
        doubled.insert(at, missing.remove(at));
        for events in [missing, doubled] {
            let server = replying::<S>(stream_of::<S>(&events)).await;
            let told: StreamEvents = patient::<S>(&server).stream(request::<S>("Hi")).collect().await;
            let ends = told.iter().filter(|event| matches!(event, Err(_) | Ok(Event::Completed { .. })));
            assert_eq!(ends.count(), 1, "event {at}: {told:?}");
            let mut ids = HashSet::new();
            for event in &told {
                let Ok(Event::ToolCall(call)) = event else { continue };
                assert!(ids.insert(call.id.clone()), "event {at}: {told:?}");
            }
        }
    }
}

pub(crate) async fn refusals_keep_their_meaning<S: TestedProvider>() {
    let m = || S::refusal("m");
    let limited = |after| ProviderError::RateLimited { retry_after: after, message: "m".into() };
    let hour = Some(Duration::from_secs(3600));
    let shared = vec![
        ("400 Bad Request", m(), ProviderError::Refused("m".into())),
        (
            "401 Unauthorized",
            S::refusal(&format!("no key {}.", S::KEY)),
            ProviderError::Unauthorized("no key [secret].".into()),
        ),
        ("413 Payload Too Large", m(), ProviderError::TooLong("m".into())),
        ("429 Too Many Requests", m(), limited(None)),
        ("429 Too Many Requests\r\nretry-after: 3600", m(), limited(hour)),
        ("429 Too Many Requests\r\nretry-after-ms: 2000", m(), limited(Some(Duration::from_secs(2)))),
        ("500 Internal Server Error", m(), ProviderError::Unavailable("m".into())),
        (
            "503 Service Unavailable",
            String::new(),
            ProviderError::Unavailable("HTTP 503 Service Unavailable".into()),
        ),
        (
            "502 Bad Gateway\r\ncontent-type: text/html",
            "<html>no</html>".into(),
            ProviderError::Unavailable("HTTP 502 Bad Gateway".into()),
        ),
    ];
    for (head, body, wanted) in shared.into_iter().chain(S::refusals()) {
        let server = replying::<S>(TestReply::plain(head, &body)).await;
        assert_eq!(ask::<S>(&*patient::<S>(&server)).await, [Err(wanted)], "{head} {body}");
        assert_eq!(calls::<S>(&server).len(), 1, "{head}: it was sent once");
    }
}

pub(crate) async fn success_that_is_no_stream_is_refused_with_advice<S: TestedProvider>() {
    for (kind, body) in S::foreign() {
        let told = told::<S>(TestReply::plain(&format!("200 OK\r\ncontent-type: {kind}"), body)).await;
        let [Err(ProviderError::Foreign(advice))] = told.as_slice() else { panic!("{kind}: {told:?}") };
        assert!(advice.contains("base URL"), "{advice}");
    }
}

pub(crate) async fn failures_amid_an_answer_come_after_what_was_said<S: TestedProvider>() {
    for (failure, wanted) in S::failures() {
        let events = [S::says("a"), failure, S::says("never"), S::end()];
        assert_eq!(told::<S>(stream_of::<S>(&events)).await, [said("a"), Err(wanted)]);
    }
    let broken = TestReply { end: StreamEnd::Break, ..stream_of::<S>(&[S::says("a")]) };
    let wanted = ProviderError::Cut("the connection broke".into());
    assert_eq!(told::<S>(broken).await, [said("a"), Err(wanted)]);
}

pub(crate) async fn nothing_follows_the_end<S: TestedProvider>() {
    let whole = told::<S>(stream_of::<S>(&[S::says("a"), S::end()])).await;
    assert!(matches!(whole.last(), Some(Ok(Event::Completed { .. }))), "{whole:?}");
    let twice = [S::says("a"), S::end(), S::says("b"), S::end()];
    let sent = if S::GOES_ON_BEHIND_ITS_END { &twice[..2] } else { &twice[..] };
    let hanging = TestReply { end: StreamEnd::Hang, ..stream_of::<S>(sent) };
    assert_eq!(timeout(MINUTE / 2, told::<S>(hanging)).await, Ok(whole));
}

pub(crate) async fn what_cannot_be_sent_is_told<S: TestedProvider>() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let closed_port = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let cases = [
        (closed_port.as_str(), S::KEY, "unavailable"),
        ("not a url", S::KEY, "refused"),
        ("http://127.0.0.1:9", "sk-with\nnewline", "unauthorized"),
    ];
    for (base_url, key, label) in cases {
        let provider = S::provider(base_url, key, MINUTE);
        let (told, models) = (ask::<S>(&*provider).await, provider.models().await);
        let ([Err(error)], Err(of_models)) = (told.as_slice(), models) else { panic!("{told:?}") };
        assert_eq!((error.label(), of_models.label()), (label, label), "{error}");
        assert!(!format!("{error}{of_models}").contains("127.0.0.1"), "{error} {of_models}");
    }
}

pub(crate) async fn dropping_the_stream_closes_the_connection<S: TestedProvider>() {
    let silent = TestReply { head: String::new(), end: StreamEnd::Hang, ..stream_of::<S>(&[]) };
    let open = TestReply { end: StreamEnd::Hang, ..stream_of::<S>(&[S::says("a")]) };
    for reply in [silent, open] {
        let mut server = replying::<S>(reply).await;
        let mut answer = patient::<S>(&server).stream(request::<S>("Hi"));
        drop(timeout(Duration::from_millis(500), answer.next()).await);
        assert_eq!(calls::<S>(&server).len(), 1);
        assert!(server.closed.try_recv().is_err(), "it was still open");
        drop(answer);
        assert_eq!(timeout(Duration::from_secs(5), server.closed.recv()).await, Ok(Some(())));
    }
}

pub(crate) async fn silence_is_a_stall_and_signs_of_life_are_not<S: TestedProvider>() {
    let impatient = async |reply| {
        let server = replying::<S>(reply).await;
        ask::<S>(&*S::provider(&server.base_url, S::KEY, IDLE)).await
    };
    let silent = TestReply { head: String::new(), end: StreamEnd::Hang, ..stream_of::<S>(&[]) };
    assert_eq!(impatient(silent).await, [Err(ProviderError::Stalled(S::BEFORE_THE_FIRST_BYTE))]);

    let stuck = TestReply { end: StreamEnd::Hang, ..stream_of::<S>(&[S::says("a")]) };
    assert_eq!(impatient(stuck).await, [said("a"), Err(ProviderError::Stalled(IDLE))]);

    for sign in S::signs_of_life() {
        let mut pieces = vec![sign.clone().into_bytes(); 8];
        pieces.push([S::says("a"), S::end()].concat().into());
        let told = impatient(TestReply { pause: IDLE / 4, ..S::reply(pieces) }).await;
        let is_whole = matches!(told.last(), Some(Ok(Event::Completed { .. })));
        assert!(told.first() == Some(&said("a")) && is_whole, "{sign}: {told:?}");
    }
}

pub(crate) async fn the_key_is_never_shown<S: TestedProvider>() {
    let server = TestServer::replying(TestReply::plain("401 Unauthorized", &S::refusal(S::KEY))).await;
    let provider = patient::<S>(&server);
    let wanted = ProviderError::Unauthorized("[secret]".into());
    assert_eq!(ask::<S>(&*provider).await, [Err(wanted.clone())]);
    assert_eq!(provider.models().await, Err(wanted));
    assert!(!format!("{provider:?}").contains(S::KEY));
    let heard = server.heard.lock().unwrap();
    assert_eq!(heard.len(), 2);
    assert!(heard.iter().all(|heard| heard.head.contains(&S::KEY.to_lowercase())), "{}", heard[0].head);
}
