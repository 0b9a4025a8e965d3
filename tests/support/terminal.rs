//! `figaro ask` as a process of the test, whose output is read as it comes.

use std::process::{Output, Stdio};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdout, Command};

use super::bot::Recipe;
use super::{TIMEOUT, World};

/// A call that runs; killed when dropped.
pub struct Call {
    pub child: Child,
    pub stdout: ChildStdout,
}

impl World {
    /// A call of `figaro ask` with these arguments, without a bot.
    pub fn terminal(&self, args: &[&str]) -> Recipe {
        let recipe = ["TELEGRAM_BOT_TOKEN", "TELEGRAM_API_URL", "OWNER_IDS"]
            .iter()
            .fold(self.bot(), |r, name| r.unset(name));
        asking(recipe, args)
    }

    /// The same with the token of the bot.
    pub fn terminal_of_bot(&self, args: &[&str]) -> Recipe {
        asking(self.bot(), args)
    }
}

/// The recipe of a call with these arguments.
pub fn asking(recipe: Recipe, args: &[&str]) -> Recipe {
    args.iter().fold(recipe.arg("ask"), |recipe, arg| recipe.arg(arg))
}

/// Standard output, standard error and the exit code.
pub fn said(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// The events of `--json`.
pub fn events(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
        .collect()
}

impl Recipe {
    /// Starts a call whose output is read as it comes.
    pub fn call(&self) -> Call {
        let mut command = Command::from(self.command());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        Call { child, stdout }
    }

    /// Runs a call to its end, with this on its standard input.
    pub async fn fed(&self, input: &str) -> Output {
        let mut command = Command::from(self.command());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
        tokio::time::timeout(TIMEOUT, child.wait_with_output()).await.expect("it ends").unwrap()
    }
}

impl Call {
    pub fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Waits until it has printed this much more, or something else; gives all that was printed since.
    pub async fn reads_until(&mut self, words: &str) -> String {
        let mut read = Vec::new();
        let reading = async {
            let mut piece = [0; 4096];
            while !String::from_utf8_lossy(&read).contains(words) {
                let count = self.stdout.read(&mut piece).await.unwrap();
                assert!(count > 0, "it ended with {}", String::from_utf8_lossy(&read));
                read.extend_from_slice(&piece[..count]);
            }
        };
        tokio::time::timeout(TIMEOUT, reading).await.unwrap_or_else(|_| panic!("never printed: {words}"));
        String::from_utf8(read).unwrap()
    }

    /// Waits for its end; gives what it still printed, its standard error and its exit code.
    pub async fn ends(mut self) -> (String, String, Option<i32>) {
        let (mut out, mut error) = (String::new(), String::new());
        let mut stderr = self.child.stderr.take().unwrap();
        let ending = async {
            let (read, told, status) = tokio::join!(
                self.stdout.read_to_string(&mut out),
                stderr.read_to_string(&mut error),
                self.child.wait()
            );
            read.unwrap();
            told.unwrap();
            status.unwrap().code()
        };
        let code = tokio::time::timeout(TIMEOUT, ending).await.expect("it ends");
        (out, error, code)
    }
}
