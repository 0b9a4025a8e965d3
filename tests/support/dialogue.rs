//! `figaro init` as somebody uses it who types, through a pipe or at a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use super::bot::Recipe;
use super::wait::eventually;
use super::{TIMEOUT, World, proc};

/// The setup of a world whose Telegram and model are set in the environment, and nothing else.
pub fn recipe(world: &World) -> Recipe {
    let bare = world.bot().unset("TELEGRAM_BOT_TOKEN").unset("OPENAI_API_KEY").unset("OPENAI_MODEL");
    // Nothing of the machine that the test runs on is found.
    let bare = bare.unset("TELEGRAM_PUBLIC_KEY");
    bare.unset("OWNER_IDS").set("OLLAMA_BASE_URL", "http://127.0.0.1:9").set("TZ", "Europe/Riga")
}

/// Runs the setup to its end, with these lines typed.
pub async fn typed(recipe: &Recipe, lines: &[&str]) -> Output {
    let mut command = Command::from(recipe.clone().arg("init").command());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    // It may end before it has read all.
    drop(stdin.write_all(text.as_bytes()).await);
    drop(stdin);
    tokio::time::timeout(TIMEOUT, child.wait_with_output()).await.expect("it does not end").unwrap()
}

/// A setup at a terminal; killed when dropped.
pub struct AtTerminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<String>>,
}

impl AtTerminal {
    /// Starts it at a terminal of its own, whose keys reach it as signals too.
    pub fn start(recipe: &Recipe) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
        let terminal = File::options().read(true).write(true).open(name).unwrap();
        let mut command = Command::from(recipe.command());
        command.stdin(terminal.try_clone().unwrap()).stdout(terminal.try_clone().unwrap());
        let child = command.stderr(terminal).kill_on_drop(true).spawn().unwrap();
        drop(command);
        let keyboard = File::from(controller);
        let (mut seen, screen) = (keyboard.try_clone().unwrap(), Arc::new(Mutex::new(String::new())));
        let shown = Arc::clone(&screen);
        // It ends with the last holder of the terminal.
        drop(std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = seen.read(&mut buffer) {
                shown.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        }));
        Self { child, keyboard, screen }
    }

    /// All that the terminal shows.
    pub fn screen(&self) -> String {
        self.screen.lock().unwrap().clone()
    }

    /// Waits until the terminal shows these words.
    pub async fn shows(&self, words: &str) {
        eventually(
            || format!("no `{words}` on:\n{}", self.screen()),
            async || self.screen().contains(words).then_some(()),
        )
        .await;
    }

    /// Types a line once the terminal asks for it.
    pub async fn answer(&mut self, question: &str, line: &str) {
        self.shows(question).await;
        self.keyboard.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Presses Ctrl-C once the terminal shows this question.
    pub async fn interrupt(&mut self, question: &str) {
        self.shows(question).await;
        self.keyboard.write_all(b"\x03").unwrap();
    }

    pub fn signal(&self, name: &str) {
        proc::signal(self.child.id().unwrap(), name);
    }

    /// Whether the terminal shows what is typed.
    pub fn echoes(&self) -> bool {
        let modes = rustix::termios::tcgetattr(&self.keyboard).unwrap().local_modes;
        modes.contains(rustix::termios::LocalModes::ECHO)
    }

    pub async fn ended(&mut self) -> ExitStatus {
        tokio::time::timeout(TIMEOUT + Duration::from_secs(1), self.child.wait()).await.unwrap().unwrap()
    }
}
