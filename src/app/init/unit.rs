//! Question at a terminal with systemd: a user service, which needs no extra rights. For servers use
//! `deploy/figaro.service`.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use super::dialogue::Dialogue;
use crate::app::failure::StartupError;
use crate::app::terminal::say;
use figaro_base::system::in_words;

/// Name of the unit file, next to `.env`.
const FILE: &str = "figaro.service";
/// Timeout of systemd's answer.
const ANSWER: Duration = Duration::from_secs(10);

/// Asks for a user service. Returns `false` without asking if there is no terminal, no user systemd, or a unit already; a
/// unit is named, because it may run another folder.
///
/// # Errors
/// When the dialogue ends.
pub(super) async fn ask(dialogue: &mut Dialogue) -> Result<bool, StartupError> {
    if !dialogue.is_at_terminal() || systemctl(&["show-environment"]).await.is_err() {
        return Ok(false);
    }
    if systemctl(&["cat", FILE]).await.is_ok() {
        say(
            "\nThis account has a service `figaro` already, so none is offered: `systemctl --user cat figaro` shows its folder.",
        );
        return Ok(false);
    }
    say("\nsystemd can start Figaro now, and whenever you log in.");
    let answer = dialogue.ask("Make it a service of this account? y or n [n]:").await?;
    Ok(answer.is_some_and(|answer| ["y", "yes"].contains(&answer.to_lowercase().as_str())))
}

/// Writes the unit into the current folder and starts the service. Only prints errors: the setup of the bot is complete
/// anyway.
pub(super) async fn start() {
    match try_start().await {
        Ok(()) => say(&format!(
            "\n✓ Figaro runs as a service. `journalctl --user -u figaro` shows its log, `systemctl --user disable --now figaro` ends it. \
             `loginctl enable-linger` has it run while you are logged out too. {FILE} stays in this folder."
        )),
        Err(why) => say(&format!("\n! There is no service: {why}. `figaro` starts the bot in this folder.")),
    }
}

async fn try_start() -> Result<(), String> {
    let failed = |error: io::Error| format!("{FILE} cannot be written ({})", in_words(&error));
    let folder = std::env::current_dir().map_err(failed)?;
    let program = std::env::current_exe().map_err(failed)?;
    let path = folder.join(FILE);
    std::fs::write(&path, unit(&program, &folder)).map_err(failed)?;
    systemctl(&["enable", "--now", &path.to_string_lossy()]).await
}

/// Runs `systemctl --user`. The error is the text of standard error.
async fn systemctl(arguments: &[&str]) -> Result<(), String> {
    let told = Command::new("systemctl").arg("--user").args(arguments).kill_on_drop(true).output();
    let output = timeout(ANSWER, told).await.map_err(|_elapsed| "systemd does not answer".to_owned())?;
    let output = output.map_err(|error| format!("systemctl cannot be run ({})", in_words(&error)))?;
    let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(words) }
}

/// Returns the text of a unit that runs `program` in `folder`.
fn unit(program: &Path, folder: &Path) -> String {
    // systemd expands `%` specifiers, and escapes within quotes.
    let [program, folder] = [program, folder].map(|path| path.to_string_lossy().replace('%', "%%"));
    let program = program.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "[Unit]
Description=Figaro, an AI agent in Telegram

[Service]
Type=notify
WatchdogSec=60
ExecStart=\"{program}\"
WorkingDirectory={folder}
UMask=0077
NoNewPrivileges=yes
Restart=on-failure
RestartSec=5s
# 2: something has to be put right first, and the log says what.
RestartPreventExitStatus=2
KillMode=mixed
TimeoutStopSec=20s

[Install]
WantedBy=default.target
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_as_systemd_reads_them() {
        let unit = unit(Path::new("/opt/a b/x\\\"100%/figaro"), Path::new("/srv/a b/50%"));
        assert!(unit.contains("\nExecStart=\"/opt/a b/x\\\\\\\"100%%/figaro\"\n"), "{unit}");
        assert!(unit.contains("\nWorkingDirectory=/srv/a b/50%%\n"), "{unit}");
    }
}
