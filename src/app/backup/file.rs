//! Files of backups: an export of the store, compressed by gzip, and encrypted by age if there are recipients.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use age::x25519::Recipient;
use age::{Decryptor, EncryptError, Encryptor, Identity, IdentityFile};
use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use rustix::fs::OFlags;

use crate::app::failure::StartupError;
use figaro_base::system::in_words;

/// First bytes of a file that age encrypted, and of one that gzip compressed.
const ENCRYPTED: &[u8] = b"age-encryption.org/v1";
const COMPRESSED: &[u8] = &[0x1f, 0x8b];
/// Permissions of the file: it contains people's messages.
const MODE: u32 = 0o600;
/// Opens no link: another account could have made one in a folder for all.
const NO_LINK: i32 = OFlags::NOFOLLOW.bits() as i32;
/// Bytes that stay free on the disk of a backup.
const RESERVE: u64 = 32 * 1024 * 1024;
/// Bytes written between two looks at them.
const CHECKED: usize = 4 * 1024 * 1024;

/// Reads recipients, as `age-keygen` prints them: `age1…`, separated by commas or blanks.
///
/// # Errors
/// The one that is none.
pub(super) fn recipients(text: &str) -> Result<Vec<Recipient>, StartupError> {
    let named = text.split([',', ' ']).filter(|one| !one.is_empty());
    named.map(|one| one.parse().map_err(|_reason| no_recipient(one))).collect()
}

fn no_recipient(text: &str) -> StartupError {
    StartupError(match text.to_uppercase().starts_with("AGE-SECRET-KEY") {
        // It is not shown.
        true => "this is a secret key of age, not its recipient: `age-keygen -y key.txt` prints the recipient, which begins with \
                 age1"
            .to_owned(),
        false => format!(
            "{text} is no recipient of age: `age-keygen -o key.txt` makes a key and prints its recipient, which begins with age1"
        ),
    })
}

/// Compresses what is written, and encrypts it if there are recipients.
pub(super) enum Sealed<W: Write> {
    Plain(GzEncoder<W>),
    Encrypted(GzEncoder<age::stream::StreamWriter<W>>),
}

impl<W: Write> Sealed<W> {
    /// Begins a backup.
    ///
    /// # Errors
    /// Of the writer.
    pub(super) fn begin(to: W, recipients: &[Recipient]) -> io::Result<Self> {
        if recipients.is_empty() {
            return Ok(Self::Plain(GzEncoder::new(to, Compression::default())));
        }
        let all = recipients.iter().map(|one| one as &dyn age::Recipient);
        let encryptor = Encryptor::with_recipients(all).map_err(of_age)?;
        Ok(Self::Encrypted(GzEncoder::new(encryptor.wrap_output(to)?, Compression::default())))
    }

    /// Ends the backup. Without it what was written cannot be read.
    ///
    /// # Errors
    /// Of the writer.
    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(compressed) => compressed.finish(),
            Self::Encrypted(compressed) => compressed.finish()?.finish(),
        }
    }
}

fn of_age(error: EncryptError) -> io::Error {
    match error {
        EncryptError::Io(error) => error,
        error => io::Error::other(error.to_string()),
    }
}

impl<W: Write> Write for Sealed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(to) => to.write(bytes),
            Self::Encrypted(to) => to.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(to) => to.flush(),
            Self::Encrypted(to) => to.flush(),
        }
    }
}

/// A file that gets its name once it is whole: a crash leaves the file that was there, or the new one.
pub(super) struct WholeFile {
    named: PathBuf,
    partial: PathBuf,
    file: File,
    is_named: bool,
}

impl WholeFile {
    /// Begins a file that has another name until it is whole.
    ///
    /// # Errors
    /// Of the system; if another process is writing it, or another account has made it.
    pub(super) fn begin(partial: PathBuf, named: PathBuf) -> io::Result<Self> {
        match fs::metadata(&named) {
            Ok(there) if there.is_dir() => {
                return Err(io::Error::other("it is a folder: name a file in it"));
            }
            // Such as /dev/null, which the backup would replace.
            Ok(there) if !there.is_file() => {
                return Err(io::Error::other("it is no file: name one, or - for standard output"));
            }
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(MODE);
        let file = options.custom_flags(NO_LINK).open(&partial)?;
        match file.try_lock() {
            // Some network file systems have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other("another process is writing this backup"));
            }
        }
        let opened = file.metadata()?;
        let is_there = |there: fs::Metadata| (there.dev(), there.ino()) == (opened.dev(), opened.ino());
        if !fs::symlink_metadata(&partial).is_ok_and(is_there) {
            return Err(io::Error::other("another process has just written this backup: run it again"));
        }
        if opened.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::other(format!("{} belongs to another account", partial.display())));
        }
        file.set_permissions(Permissions::from_mode(MODE))?;
        file.set_len(0)?;
        Ok(Self { named, partial, file, is_named: false })
    }

    /// Returns a writer into the file, which stops before its disk is full.
    ///
    /// # Errors
    /// Of the system.
    pub(super) fn writer(&self) -> io::Result<RoomyWriter> {
        Ok(RoomyWriter { file: self.file.try_clone()?, unchecked: CHECKED })
    }

    /// Gives the file its name, durably. Returns its size in bytes.
    ///
    /// # Errors
    /// Of the system.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.file.sync_all()?;
        let bytes = self.file.metadata()?.len();
        fs::rename(&self.partial, &self.named)?;
        self.is_named = true;
        let folder = self.named.parent().filter(|folder| !folder.as_os_str().is_empty());
        match File::open(folder.unwrap_or(Path::new(".")))?.sync_all() {
            // Some file systems cannot do that with folders.
            Err(error) if [ErrorKind::InvalidInput, ErrorKind::Unsupported].contains(&error.kind()) => {}
            synced => synced?,
        }
        Ok(bytes)
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.is_named {
            // A next backup of this name would begin it anew, too.
            let _left = fs::remove_file(&self.partial);
        }
    }
}

/// Writes into a file as long as its disk has room for others: a full one would stop a bot whose store is there, too.
pub(super) struct RoomyWriter {
    file: File,
    /// Bytes written since the room was looked at.
    unchecked: usize,
}

impl Write for RoomyWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.unchecked >= CHECKED {
            self.unchecked = 0;
            // A disk that does not report its free space passes.
            if let Ok(disk) = rustix::fs::fstatvfs(&self.file)
                && disk.f_bavail.saturating_mul(disk.f_frsize) < RESERVE
            {
                return Err(io::Error::other(
                    "its disk is nearly full: make room, or name a file on another disk",
                ));
            }
        }
        let written = self.file.write(bytes)?;
        self.unchecked += written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Returns the lines of a backup, decrypted by the keys of a file. Also takes an export that is neither encrypted nor
/// compressed.
///
/// # Errors
/// If it is encrypted and no key of the file fits, or it cannot be read.
pub(super) fn opened(
    from: impl io::Read + 'static,
    keys: Option<&Path>,
) -> Result<Box<dyn BufRead>, StartupError> {
    let cannot = |error: &io::Error| StartupError(format!("it cannot be read: {}", in_words(error)));
    let mut begun = BufReader::new(from);
    if !begun.fill_buf().map_err(|error| cannot(&error))?.starts_with(ENCRYPTED) {
        return decompressed(begun).map_err(|error| cannot(&error));
    }
    let Some(keys) = keys else {
        return Err(StartupError(
            "it is encrypted: name the file of the key, which age-keygen made, with --identity".to_owned(),
        ));
    };
    let identities = identities(keys)?;
    let decryptor = Decryptor::new_buffered(begun).map_err(|error| refused(&error))?;
    let all = identities.iter().map(|identity| &**identity as &dyn Identity);
    let lines = decryptor.decrypt(all).map_err(|error| refused(&error))?;
    decompressed(BufReader::new(lines)).map_err(|error| cannot(&error))
}

fn refused(error: &age::DecryptError) -> StartupError {
    StartupError(match error {
        age::DecryptError::NoMatchingKeys => {
            "it is encrypted for other keys than those of --identity".to_owned()
        }
        error => format!("it cannot be decrypted: {error}"),
    })
}

fn identities(keys: &Path) -> Result<Vec<Box<dyn Identity>>, StartupError> {
    let failed = |what: &dyn std::fmt::Display| StartupError(format!("the key {}: {what}", keys.display()));
    let file = File::open(keys).map_err(|error| failed(&in_words(&error)))?;
    let read = IdentityFile::from_buffer(BufReader::new(file));
    let read = read.map_err(|_reason| failed(&"it is no key of age: name the file that age-keygen wrote"))?;
    read.into_identities().map_err(|error| failed(&error))
}

fn decompressed(mut from: impl BufRead + 'static) -> io::Result<Box<dyn BufRead>> {
    Ok(match from.fill_buf()?.starts_with(COMPRESSED) {
        true => Box::new(BufReader::new(GzDecoder::new(from))),
        false => Box::new(from),
    })
}
