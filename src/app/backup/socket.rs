//! Backups of a running bot: another process of the same account asks it for an export through a socket in the folder of the
//! store, because one process alone can open that.

use std::fs::{self, Permissions};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::app::failure::StartupError;
use figaro_base::shutdown::TaskTracker;
use figaro_base::system::in_words;
use figaro_store::Stores;
use figaro_store::whole::is_export_end;

/// Name of the socket in the folder of the store.
const NAME: &str = "figaro.sock";
/// Line that whoever connects sends.
const REQUEST: &str = "backup\n";
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
pub(in crate::app) struct BackupSocket {
    listener: UnixListener,
    place: PathBuf,
}

impl BackupSocket {
    /// Opens the socket in the folder of a store that this process has open.
    ///
    /// # Errors
    /// Of the system, as on a file system without sockets.
    pub(in crate::app) fn open(folder: &Path) -> io::Result<Self> {
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

    /// Writes an export to whoever connects, until the process stops.
    pub(in crate::app) async fn serve(self, stores: Stores, background: TaskTracker) {
        loop {
            let connected = tokio::select! {
                connected = self.listener.accept() => connected,
                () = background.stopping() => return,
            };
            match connected {
                Ok((stream, _)) => {
                    let sending = send(stores.clone(), stream, background.clone());
                    background.spawn("backup", sending);
                }
                Err(error) => {
                    tracing::warn!(%error, "a request for a backup cannot be taken");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}

impl Drop for BackupSocket {
    fn drop(&mut self) {
        let _left = fs::remove_file(&self.place);
    }
}

/// Sends an export to whoever asked for one.
async fn send(stores: Stores, mut stream: UnixStream, background: TaskTracker) {
    let mut request = [0; REQUEST.len()];
    let asked = timeout(ASKED, stream.read_exact(&mut request)).await;
    // Without a word: whoever asks reads the store itself then.
    if !matches!(asked, Ok(Ok(_))) || request != REQUEST.as_bytes() || !stores.is_open() {
        return;
    }
    match exported(&stores, stream, background).await {
        Ok(()) => tracing::info!("a backup of the store was made"),
        Err(reason) => tracing::warn!(reason, "a backup of the store was not made"),
    }
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

/// Asks the bot that has the store in a folder open for an export; `None` if no bot has, or it cannot be asked.
///
/// # Errors
/// Of the system.
pub(super) fn ask(folder: &Path) -> Result<Option<ExportLines>, StartupError> {
    let asked = || {
        let mut stream = BlockingStream::connect(folder.join(NAME))?;
        stream.set_read_timeout(Some(SENT))?;
        stream.write_all(REQUEST.as_bytes())?;
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
        _ => Err(StartupError(format!("the bot cannot be asked for a backup: {}", in_words(&error)))),
    })
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
