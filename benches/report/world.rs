//! A bot that runs, with the offline Telegram and the model it talks to. Used by every section but the store's.

use std::collections::{HashMap, VecDeque};
use std::process::Child;
use std::time::{Duration, Instant};

use chrono::Utc;
use figaro_offline::Runtime;
use figaro_offline::telegram::{OfflineTelegram, Person, TelegramOptions, TelegramView};
use tokio::sync::mpsc;

use super::bot::Bot;
use super::support::bare_model::{BareModel, FIRST_WORD, Pace};
use super::support::watch::{Seen, What, watch};
use super::support::{OWNER, Sizes, children, cpu_time_of_all, listener};

const WAIT_TIMEOUT: Duration = Duration::from_secs(120);

/// Everything ends when it is dropped.
pub(crate) struct World {
    /// From the start of the process to the first `getUpdates`.
    pub(crate) start: Duration,
    chats: i64,
    telegram: OfflineTelegram,
    seen: mpsc::UnboundedReceiver<Seen>,
    /// The questions without an answer, by chat.
    open: HashMap<i64, VecDeque<Instant>>,
    bot: Process,
    _model: BareModel,
    _folder: tempfile::TempDir,
}

/// The bot and what serves it. Killed when dropped, before its servers stop: it has nothing to complain of.
struct Process {
    child: Child,
    runtime: Runtime,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.runtime.stop();
    }
}

/// How long people waited for what.
pub(crate) enum Waited {
    /// For a draft with words of the model.
    Draft { chat: i64, time: Duration },
    /// For the answer.
    Answer { chat: i64, time: Duration },
}

impl World {
    /// Starts the bot on an empty store, with so many chats, and has it answer once.
    pub(crate) async fn start(bot: &Bot, chats: i64, pace: Pace) -> Self {
        Self::start_at(bot, chats, pace, "off").await
    }

    /// The same with a bot that keeps to Telegram's pace and a Telegram that enforces its limits.
    pub(crate) async fn start_limited(bot: &Bot) -> Self {
        let world = Self::start_at(bot, 1, Pace::NONE, "telegram").await;
        world.telegram.enforce_limits(true);
        world
    }

    async fn start_at(bot: &Bot, chats: i64, pace: Pace, rates: &str) -> Self {
        let runtime = Runtime::system();
        let telegram =
            OfflineTelegram::start(listener().await, TelegramOptions::default(), &runtime).unwrap();
        for chat in OWNER..OWNER + chats {
            telegram.add_user(Person::new(chat, "Someone"));
            telegram.add_private(chat).unwrap();
        }
        let model = BareModel::start(pace).await;
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let seen = watch(&telegram);
        // An update that waits makes the first getUpdates return at once, so that its moment is seen.
        telegram.say(OWNER, OWNER, "hello").unwrap();
        let began = Instant::now();
        let bot = Process { child: bot.start(&telegram, &model, folder.path(), rates), runtime };
        let polled = telegram
            .wait_until(WAIT_TIMEOUT, |view| view.calls_of("getUpdates").first().map(|_| Instant::now()))
            .await;
        let start = polled.expect("the bot asks for updates") - began;
        let open = HashMap::from([(OWNER, VecDeque::from([began]))]);
        let mut world = Self { start, chats, telegram, seen, open, bot, _model: model, _folder: folder };
        world.answer().await;
        world
    }

    /// One turn in each of so many chats: the first ones open connections and read what a start reads late.
    pub(crate) async fn warm(&mut self, chats: i64) {
        for chat in OWNER..OWNER + chats {
            self.ask(chat);
            self.answer().await;
        }
    }

    /// The chats of so many questions: each in its turn.
    pub(crate) fn chats(&self, questions: u32) -> impl Iterator<Item = i64> + use<> {
        (OWNER..OWNER + self.chats).cycle().take(questions as usize)
    }

    /// The person of a chat asks something.
    pub(crate) fn ask(&mut self, chat: i64) {
        self.open.entry(chat).or_default().push_back(Instant::now());
        self.telegram.say(chat, chat, "What is on today?").unwrap();
    }

    /// The owner gives a command so many times at once. How long after the first of them each answer left, and how many calls
    /// Telegram refused meanwhile.
    pub(crate) async fn burst(&self, count: usize) -> (Vec<Duration>, usize) {
        let (before, began) = (self.telegram.calls().len(), Utc::now());
        for _ in 0..count {
            self.telegram.say(OWNER, OWNER, "/stop").unwrap();
        }
        let all = |view: &TelegramView<'_>| {
            let calls = view.calls().get(before..).unwrap_or_default();
            let sent = calls.iter().filter(|call| call.method == "sendMessage" && call.ok);
            let after: Vec<Duration> =
                sent.map(|call| (call.at - began).to_std().unwrap_or_default()).collect();
            let refused = calls.iter().filter(|call| !call.ok).count();
            (after.len() >= count).then_some((after, refused))
        };
        self.telegram.wait_until(WAIT_TIMEOUT, all).await.expect("all answers")
    }

    /// How many questions wait for their answers.
    pub(crate) fn waiting(&self) -> usize {
        self.open.values().map(VecDeque::len).sum()
    }

    /// Waits for the next draft or answer. An answer is to the oldest question of its chat.
    pub(crate) async fn waited(&mut self) -> Waited {
        loop {
            let seen = tokio::time::timeout(WAIT_TIMEOUT, self.seen.recv()).await;
            let Seen { chat, at, what } = seen.expect("an answer in time").expect("the watcher runs");
            let questions = self.open.get_mut(&chat).expect("a chat that asked");
            match what {
                What::Message => {
                    let asked = questions.pop_front().expect("an answer to a question");
                    return Waited::Answer { chat, time: at - asked };
                }
                // A draft may say that the bot is at work before the model has said anything.
                What::Draft(text) if text.contains(FIRST_WORD) => {
                    if let Some(asked) = questions.front() {
                        return Waited::Draft { chat, time: at - *asked };
                    }
                }
                What::Draft(_) => {}
            }
        }
    }

    /// Waits for the next answer and says how long that took.
    pub(crate) async fn answer(&mut self) -> Duration {
        loop {
            if let Waited::Answer { time, .. } = self.waited().await {
                return time;
            }
        }
    }

    /// The CPU time of all processes of the bot so far.
    pub(crate) fn cpu(&self) -> Duration {
        cpu_time_of_all(self.bot.child.id())
    }

    /// What each of its processes holds, the bot first.
    pub(crate) fn memory(&self) -> Vec<Sizes> {
        let bot = self.bot.child.id();
        std::iter::once(bot).chain(children(bot)).map(Sizes::of).collect()
    }
}
