//! Reads files in a child process, `figaro extract`, which limits itself by the means of the operating system. Whatever a
//! file does to its reader, the bot only sees that it could not be read.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use parking_lot::Mutex;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::Semaphore;

use super::file::NewFile;
use crate::channel::{FileError, FileStream};
use figaro_base::ids::UserId;
use figaro_base::limited_child::{self, ChildFailure};
use figaro_domain::document::{Extraction, MAX_TEXT_BYTES, READER, Unreadable};

/// Time for the transfer of a file, for each pause in it, for its turn to be read, and for the reading.
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(120);
const STALL_TIMEOUT: Duration = Duration::from_secs(10);
const TURN_TIMEOUT: Duration = Duration::from_secs(60);
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum output of the child, in bytes: JSON takes more than the text in it.
const MAX_OUTPUT: u64 = MAX_TEXT_BYTES as u64 * 3;
/// Number of files that are read at once: each may take a core and 300 MB. Others are transferred meanwhile, to children that
/// begin when they have all of it.
const AT_ONCE: usize = 1;
const TRANSFERS: usize = 16;
/// Part of these that one person may take.
const TRANSFERS_OF_PERSON: usize = 4;
/// Time that a file waits for the end of others.
const PLACE_TIMEOUT: Duration = Duration::from_secs(20);
/// Reads files. Cheap to clone; clones share the limit of files that are read at once.
#[derive(Debug, Clone)]
pub struct FileReader {
    program: Option<PathBuf>,
    slots: Arc<Semaphore>,
    places: Arc<Semaphore>,
    transfers: Arc<Mutex<Vec<UserId>>>,
}

impl FileReader {
    /// Makes the reader that starts this program, which is `figaro`; `None` if there is none, as in a program that embeds
    /// the bot. Then no file can be read.
    #[must_use]
    pub fn new(program: Option<PathBuf>) -> Self {
        let [slots, places] = [AT_ONCE, TRANSFERS].map(|count| Arc::new(Semaphore::new(count)));
        Self { program, slots, places, transfers: Arc::default() }
    }

    /// Reads a file, piece by piece: the bot never has all of it in memory. `page` is the stated encoding of a web page.
    pub(super) async fn read(&self, file: &NewFile, page: Option<&str>, content: FileStream) -> Extraction {
        let Some(program) = &self.program else {
            tracing::error!("files cannot be read: the program that embeds the bot names no reader");
            return Err(Unreadable::NoReader);
        };
        let _transfer = Transfer::begin(&self.transfers, &file.source.sender).ok_or(Unreadable::Busy)?;
        let place = async { self.places.acquire().await.map_err(|_closed| Unreadable::Busy) };
        let _place = within(PLACE_TIMEOUT, Unreadable::Busy, place).await?;
        let mut command = limited_child::command(program);
        // Other accounts of the machine see arguments, and only the ending of the name matters.
        let ending = file.name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let ending: String = ending.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        command.arg(READER).arg(format!("file.{ending}")).args(page);
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                tracing::error!(%error, program = %program.display(), "the reader of files does not start");
                return Err(Unreadable::NoReader);
            }
        };
        self.talk(child, content).await.inspect_err(|reason| {
            tracing::info!(%reason, "a file could not be read");
        })
    }

    async fn talk(&self, mut child: Child, content: FileStream) -> Extraction {
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Unreadable::Damaged);
        };
        within(TRANSFER_TIMEOUT, Unreadable::Gone, send(&mut stdin, content)).await?;
        let turn = async { self.slots.acquire().await.map_err(|_closed| Unreadable::Busy) };
        let _slot = within(TURN_TIMEOUT, Unreadable::Busy, turn).await?;
        // The child reads all of its input before it begins.
        drop(stdin);
        within(READ_TIMEOUT, Unreadable::TooLong, result(child, stdout)).await
    }
}

/// A file of a person that is being read or waits for it; it is one less when this is dropped.
struct Transfer {
    people: Arc<Mutex<Vec<UserId>>>,
    person: UserId,
}

impl Transfer {
    /// Begins to read a file; `None` if the person has too many.
    fn begin(people: &Arc<Mutex<Vec<UserId>>>, person: &UserId) -> Option<Self> {
        let mut reading = people.lock();
        let own = reading.iter().filter(|one| *one == person).count();
        (own < TRANSFERS_OF_PERSON).then(|| {
            reading.push(person.clone());
            Self { people: people.clone(), person: person.clone() }
        })
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        let mut reading = self.people.lock();
        if let Some(at) = reading.iter().position(|one| *one == self.person) {
            reading.swap_remove(at);
        }
    }
}

/// Waits for a result, but not longer than this.
async fn within<T>(
    time: Duration,
    late: Unreadable,
    result: impl Future<Output = Result<T, Unreadable>>,
) -> Result<T, Unreadable> {
    tokio::time::timeout(time, result).await.unwrap_or(Err(late))
}

async fn result(child: Child, stdout: ChildStdout) -> Extraction {
    limited_child::result(child, stdout, MAX_OUTPUT).await.unwrap_or_else(|failure| {
        Err(match failure {
            ChildFailure::TooLong => Unreadable::TooLong,
            ChildFailure::TooLarge => Unreadable::TooLarge,
            ChildFailure::Broken => Unreadable::Damaged,
            ChildFailure::Foreign(_) => {
                tracing::error!(%failure, "the reader of files failed");
                Unreadable::NoReader
            }
        })
    })
}

/// Passes the file on. A child that has ended takes no more, which is no failure of the file.
async fn send(stdin: &mut ChildStdin, mut content: FileStream) -> Result<(), Unreadable> {
    loop {
        let piece =
            tokio::time::timeout(STALL_TIMEOUT, content.next()).await.map_err(|_late| Unreadable::Gone)?;
        let Some(piece) = piece else { return Ok(()) };
        if stdin.write_all(&piece?).await.is_err() {
            return Ok(());
        }
    }
}

impl From<FileError> for Unreadable {
    fn from(error: FileError) -> Self {
        match error {
            FileError::TooBig => Self::TooLarge,
            FileError::Gone(_) | FileError::Unavailable(_) => Self::Gone,
        }
    }
}
