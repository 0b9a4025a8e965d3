//! The real `figaro` as a process of the test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use super::TIMEOUT;
use super::wait::{eventually, within};

/// How to start a bot.
#[derive(Clone)]
pub struct Recipe {
    folder: PathBuf,
    variables: BTreeMap<String, String>,
    args: Vec<String>,
    program: PathBuf,
}

/// A running bot; killed when dropped.
pub struct Bot {
    child: Child,
    log: PathBuf,
    before: usize,
}

impl Recipe {
    /// A bot that works in this folder and keeps its store there.
    pub fn new(folder: &Path) -> Self {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_figaro"));
        Self { folder: folder.to_owned(), variables: BTreeMap::new(), args: Vec::new(), program }
    }

    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    pub fn unset(mut self, name: &str) -> Self {
        self.variables.remove(name);
        self
    }

    /// The variables set for it.
    #[allow(dead_code, reason = "read by the tests of the embedded bot")]
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.to_owned());
        self
    }

    /// Another executable than the one that was built.
    pub fn program(self, program: &Path) -> Self {
        Self { program: program.to_owned(), ..self }
    }

    /// Starts it; its log and what else it says go to a file of the folder.
    pub fn spawn(&self) -> Bot {
        let log = self.folder.join("figaro.log");
        let before = std::fs::read_to_string(&log).unwrap_or_default().len();
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&log).unwrap();
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
        let child = command.spawn().unwrap();
        Bot { child, log, before }
    }

    /// Runs it to its end.
    pub fn output(&self) -> Output {
        self.command().stdin(Stdio::null()).output().unwrap()
    }

    /// Runs it to its end, while the test's Telegram and model go on answering.
    pub async fn run(&self) -> Output {
        self.run_within(TIMEOUT + Duration::from_secs(10)).await
    }

    /// The same for what has more to do than a command that people wait for.
    pub async fn run_long(&self) -> Output {
        self.run_within(Duration::from_secs(600)).await
    }

    async fn run_within(&self, bound: Duration) -> Output {
        let mut command = tokio::process::Command::from(self.command());
        let running = command.stdin(Stdio::null()).kill_on_drop(true).output();
        tokio::time::timeout(bound, running).await.expect("it does not end").unwrap()
    }

    /// The environment holds what the test sets and nothing of the machine's own settings.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.folder).args(&self.args).env_clear().envs(&self.variables);
        command
    }
}

impl Bot {
    /// Ends it as `kill -9` does.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end with SIGTERM and waits, while the test's Telegram and model go on answering.
    pub async fn stop(mut self) -> ExitStatus {
        self.signal("TERM");
        self.ended().await
    }

    /// Asks it to end with SIGTERM, and expects that it has nothing to complain of.
    pub async fn ends_well(self) {
        let ended = self.stop().await;
        assert!(ended.success(), "{ended}");
    }

    /// Waits until it says that it is ready.
    pub async fn ready(&self) {
        self.logged(" ready ").await;
    }

    /// Waits until its log, since this start, has these words.
    pub async fn logged(&self, words: &str) {
        eventually(
            || format!("no `{words}` in the log:\n{}", self.log()),
            async || self.log()[self.before..].contains(words).then_some(()),
        )
        .await;
    }

    /// Waits until the log, that of earlier starts too, has these words so many times.
    pub async fn logged_times(&self, words: &str, times: usize) {
        eventually(
            || format!("not {times} times `{words}` in the log:\n{}", self.log()),
            async || (self.log().matches(words).count() >= times).then_some(()),
        )
        .await;
    }

    /// Sends it a signal: `TERM`, `INT`, `KILL`.
    pub fn signal(&self, name: &str) {
        super::proc::signal(self.pid(), name);
    }

    /// Waits for its end, while the test's Telegram and model go on answering.
    pub async fn ended(&mut self) -> ExitStatus {
        let ended = within(TIMEOUT + Duration::from_secs(10), async || self.child.try_wait().unwrap()).await;
        ended.unwrap_or_else(|| panic!("figaro did not end; its log:\n{}", self.log()))
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Everything it has logged and said so far, all starts of this folder together.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Process ids of its children.
    pub fn children(&self) -> Vec<u32> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap();
        tasks
            .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok())
            .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
            .collect()
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        if self.child.try_wait().ok().flatten().is_none() {
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}
