//! Wording of operating system errors for people: what to do about them, without error numbers.

use std::any::Any;
use std::fmt::Display;
use std::io::{Error, ErrorKind};

/// Start of the error number in messages of the standard library.
const NUMBER: &str = " (os error ";
/// Error numbers common to all systems that have no `ErrorKind`.
const UNSORTED: [(i32, &str); 4] = [
    (5, "the disk reports a fault: look at its health"),
    (8, "it is no program for this machine"),
    (23, "this machine has too many files open: raise its limit"),
    (24, "too many files are open: raise the limit (`ulimit -n`)"),
];

/// Describes an error; falls back to its own text.
#[must_use]
pub fn in_words(error: &Error) -> String {
    let words = match error.get_ref() {
        Some(_) => None,
        None => known(error),
    };
    words.map_or_else(|| plain(error), str::to_owned)
}

/// Replaces operating system errors quoted in a foreign text by our wording.
#[must_use]
pub fn plain(said: impl Display) -> String {
    let mut said = said.to_string();
    while let Some((before, rest)) = said.split_once(NUMBER)
        && let Some((number, after)) = rest.split_once(')')
        && let Ok(number) = number.parse()
    {
        let error = Error::from_raw_os_error(number);
        let name = error.to_string();
        let name = name.split_once(NUMBER).map_or("", |(name, _)| name);
        said = match (known(&error), before.strip_suffix(name)) {
            (Some(words), Some(before)) => format!("{before}{words}{after}"),
            _ => format!("{before}{after}"),
        };
    }
    said
}

fn known(error: &Error) -> Option<&'static str> {
    let number = error.raw_os_error();
    if let Some((_, words)) = UNSORTED.iter().find(|(known, _)| number == Some(*known)) {
        return Some(words);
    }
    Some(match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder",
        ErrorKind::PermissionDenied => {
            "this account has no permission: change the owner or the mode (`ls -ld` shows both)"
        }
        ErrorKind::ReadOnlyFilesystem => "its file system takes no writes",
        ErrorKind::StorageFull => "the disk is full: make room",
        ErrorKind::QuotaExceeded => "this account has used up its share of the disk: make room",
        ErrorKind::FileTooLarge => "the file is larger than its file system takes",
        ErrorKind::OutOfMemory => "the machine has no memory left",
        ErrorKind::IsADirectory => "it is a folder, not a file",
        ErrorKind::NotADirectory => "a file stands where a folder has to be",
        ErrorKind::AlreadyExists => "it is there already",
        ErrorKind::InvalidFilename => "the name is too long, or none",
        ErrorKind::InvalidData => "it is no text in UTF-8",
        ErrorKind::AddrInUse => "another program has this port: end that, or choose another",
        ErrorKind::AddrNotAvailable => "this machine has no such address",
        ErrorKind::ConnectionRefused => "nothing listens at this address and port",
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
            "the other side has closed it"
        }
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown => {
            "the network does not lead there"
        }
        ErrorKind::TimedOut => "there was no answer in time",
        _ => return None,
    })
}

/// Returns the message of a panic; `None` if it has none.
#[must_use]
pub fn panic_words(panic: &(dyn Any + Send)) -> Option<&str> {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    words.or_else(|| panic.downcast_ref::<&str>().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_the_system_becomes_words() {
        for (number, words) in [
            (2, "no such file"),
            (13, "no permission"),
            (20, "a folder has to be"),
            (24, "ulimit"),
            (28, "make room"),
            (30, "no writes"),
            (111, "nothing listens"),
        ] {
            let error = Error::from_raw_os_error(number);
            let said = in_words(&error);
            assert!(said.contains(words) && !said.contains("os error"), "{said}");
            assert_eq!(
                plain(format!("store: {error} (twice: {error})")),
                format!("store: {said} (twice: {said})")
            );
        }
        assert_eq!(in_words(&ErrorKind::PermissionDenied.into()), in_words(&Error::from_raw_os_error(13)));
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in ["it broke", "an (os error of sorts)", "(os error 2"] {
            assert_eq!(plain(text), text);
        }
        assert_eq!(in_words(&Error::new(ErrorKind::NotFound, "a link to nothing")), "a link to nothing");
        let rare = Error::from_raw_os_error(18).to_string();
        assert_eq!(Some(plain(&rare).as_str()), rare.strip_suffix(" (os error 18)"));
    }
}
