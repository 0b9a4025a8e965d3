//! Requests of other processes of the same account to a running bot, through a socket in the folder of its store: for an
//! export of the store, which one process alone can open, and for a link to the dashboard.

use std::fs::{self, Permissions};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::failure::StartupError;
use super::sign_ins::SignIns;
use figaro_base::shutdown::TaskTracker;
use figaro_base::system::in_words;
use figaro_store::Stores;
use figaro_store::whole::is_export_end;

/// Name of the socket in the folder of the store.
const NAME: &str = "figaro.sock";
/// Lines that whoever connects sends: for an export, and for a link, with the name of the bot behind it.
const BACKUP: &str = "backup";
const DASHBOARD: &str = "dashboard ";
/// Maximum length of the line, in bytes.
const MAX_LINE: usize = 200;
/// Beginnings of the line that answers a request for a link.
const LINK: &str = "link ";
const REFUSED: &str = "refused ";
/// Maximum time until it is there.
const ASKED: Duration = Duration::from_secs(5);
/// Maximum time in which whoever asked takes bytes.
const TAKEN: Duration = Duration::from_secs(60);
/// Maximum time in which the bot sends bytes. Before the first, sled copies itself, and another backup may have to end.
const SENT: Duration = Duration::from_secs(60 * 60);
/// Pause after the system refused a connection.
const PAUSE: Duration = Duration::from_secs(1);

/// Last line of an export that ended early, with the reason.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusal {
    refused: String,
}

/// The socket of a running bot. Its file is removed when it is dropped.
#[derive(Debug)]
pub(super) struct BotSocket {
    listener: UnixListener,
    place: PathBuf,
}

impl BotSocket {
    /// Opens the socket in the folder of a store that this process has open.
    ///
    /// # Errors
    /// Of the system, as on a file system without sockets.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let place = folder.join(NAME);
        // That of a process that was killed.
        match fs::remove_file(&place) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&place)?;
        fs::set_permissions(&place, Permissions::from_mode(0o600))?;
        Ok(Self { listener, place })
    }

    /// Answers whoever connects, until the process stops.
    pub(super) async fn serve(self, stores: Stores, sign_ins: SignIns, background: TaskTracker) {
        loop {
            let connected = tokio::select! {
                connected = self.listener.accept() => connected,
                () = background.stopping() => return,
            };
            match connected {
                Ok((stream, _)) => {
                    let answering = answer(stores.clone(), sign_ins.clone(), stream, background.clone());
                    background.spawn("socket", answering);
                }
                Err(error) => {
                    tracing::warn!(%error, "a request through the socket of the store cannot be taken");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}

impl Drop for BotSocket {
    fn drop(&mut self) {
        let _left = fs::remove_file(&self.place);
    }
}

/// Answers a request.
async fn answer(stores: Stores, sign_ins: SignIns, mut stream: UnixStream, background: TaskTracker) {
    let Ok(Ok(request)) = timeout(ASKED, line(&mut stream)).await else { return };
    if let Some(name) = request.strip_prefix(DASHBOARD) {
        let answer = match sign_ins.link(name) {
            Ok(link) => format!("{LINK}{link}\n"),
            Err(words) => format!("{REFUSED}{words}\n"),
        };
        let _told = timeout(ASKED, stream.write_all(answer.as_bytes())).await;
        return;
    }
    // Without a word: whoever asks reads the store itself then.
    if request != BACKUP || !stores.is_open() {
        return;
    }
    match exported(&stores, stream, background).await {
        Ok(()) => tracing::info!("a backup of the store was made"),
        Err(reason) => tracing::warn!(reason, "a backup of the store was not made"),
    }
}

/// Reads a line, without its end.
async fn line(stream: &mut UnixStream) -> io::Result<String> {
    let mut read = Vec::new();
    // Byte by byte, because what follows would be lost; nobody sends more.
    while read.len() < MAX_LINE {
        match stream.read_u8().await? {
            b'\n' => return String::from_utf8(read).map_err(|_bytes| ErrorKind::InvalidData.into()),
            byte => read.push(byte),
        }
    }
    Err(ErrorKind::InvalidData.into())
}

async fn exported(stores: &Stores, stream: UnixStream, background: TaskTracker) -> Result<(), String> {
    let blocking = || {
        let stream = stream.into_std()?;
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(TAKEN))?;
        Ok((stream.try_clone()?, stream.try_clone()?, stream))
    };
    let (to, mut end, kept) = blocking().map_err(|error: io::Error| in_words(&error))?;
    let stopping = background.clone();
    let mut exporting = std::pin::pin!(stores.export_beside(to, move || stopping.is_stopping()));
    let done = tokio::select! {
        done = &mut exporting => done,
        () = background.stopping() => {
            // A write may wait for whoever asked. The store is closed once it has ended.
            let _ended = kept.shutdown(Shutdown::Both);
            exporting.await
        }
    };
    let Err(error) = done else { return Ok(()) };
    let refused = error.to_string();
    let line = serde_json::to_string(&Refusal { refused: refused.clone() }).unwrap_or_default();
    // Whoever asked may be gone, or take nothing.
    let telling = spawn_blocking(move || end.write_all(format!("\n{line}\n").as_bytes()));
    let _told = telling.await;
    Err(refused)
}

/// Lines of an export that a bot sends.
pub(super) type ExportLines = BufReader<BlockingStream>;

/// Sends a line to the bot that has the store in a folder open; `None` if no bot has, or it cannot be asked.
fn connected(folder: &Path, request: &str, patience: Duration) -> Result<Option<ExportLines>, StartupError> {
    let asked = || {
        let mut stream = BlockingStream::connect(folder.join(NAME))?;
        stream.set_read_timeout(Some(patience))?;
        stream.write_all(format!("{request}\n").as_bytes())?;
        let mut lines = BufReader::new(stream);
        let is_closed = lines.fill_buf()?.is_empty();
        Ok((!is_closed).then_some(lines))
    };
    asked().or_else(|error: io::Error| match error.kind() {
        // No socket, that of a process that was killed, one that is just ending, or a path that is too long for one.
        ErrorKind::NotFound
        | ErrorKind::ConnectionRefused
        | ErrorKind::ConnectionReset
        | ErrorKind::BrokenPipe
        | ErrorKind::InvalidInput
        | ErrorKind::Unsupported => Ok(None),
        _ => Err(StartupError(format!("the bot cannot be asked: {}", in_words(&error)))),
    })
}

/// Asks the bot that has the store in a folder open for an export; `None` if no bot has, or it cannot be asked.
///
/// # Errors
/// Of the system.
pub(super) fn ask_for_export(folder: &Path) -> Result<Option<ExportLines>, StartupError> {
    connected(folder, BACKUP, SENT)
}

/// Asks the bot that has the store in a folder open for a link to its dashboard.
///
/// # Errors
/// If no bot runs, or it refuses.
pub(super) fn ask_for_link(folder: &Path, name: &str) -> Result<String, StartupError> {
    let Some(mut lines) = connected(folder, &format!("{DASHBOARD}{name}"), ASKED)? else {
        let shown = folder.display();
        return Err(StartupError(match BlockingStream::connect(folder.join(NAME)) {
            // It closes requests that it does not know.
            Ok(_) => "the bot is of an earlier version: restart it".to_owned(),
            Err(_) => {
                format!("no bot runs with the store in {shown}: start it, or name its store with --store")
            }
        }));
    };
    let mut answer = String::new();
    lines.read_line(&mut answer).map_err(|error| StartupError(in_words(&error)))?;
    let answer = answer.trim_end();
    match (answer.strip_prefix(LINK), answer.strip_prefix(REFUSED)) {
        (Some(link), _) => Ok(link.to_owned()),
        (None, Some(words)) => Err(StartupError(words.to_owned())),
        (None, None) => Err(StartupError("the bot gave no link; its log may say why".to_owned())),
    }
}

/// Copies the lines of an export. Returns the number of records.
///
/// # Errors
/// If the bot ends it early, or the writer fails.
pub(super) fn receive(mut lines: ExportLines, mut to: impl Write) -> Result<u64, StartupError> {
    let cut = |why: &str| StartupError(format!("the bot broke the backup off: {why}"));
    let written =
        |error: io::Error| StartupError(format!("the backup cannot be written: {}", in_words(&error)));
    let (mut line, mut count) = (Vec::new(), 0_u64);
    loop {
        line.clear();
        let bytes = lines.read_until(b'\n', &mut line).map_err(|error| cut(&in_words(&error)))?;
        if let Ok(Refusal { refused }) = serde_json::from_slice(&line) {
            return Err(cut(&refused));
        }
        if bytes == 0 || !line.ends_with(b"\n") {
            return Err(cut("it ended"));
        }
        to.write_all(&line).map_err(written)?;
        if is_export_end(&line) {
            // Without the header.
            return Ok(count.saturating_sub(1));
        }
        count += 1;
    }
}
