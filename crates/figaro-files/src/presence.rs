//! Whether a file is there. A link to something that is gone is a fault: to run on without the rules behind it would be the
//! opposite of what the owner wants.

use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// The text of a file; `None` where there is none.
///
/// # Errors
/// If it cannot be read, or if the way to it leads over a link to something that is not there.
pub fn text(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) => absent(path, error).map(|()| None),
    }
}

/// Takes an error for a file or folder that is simply not there.
///
/// # Errors
/// The error where it is another, or a link to something that is not there.
pub fn absent(path: &Path, error: Error) -> Result<()> {
    if error.kind() != ErrorKind::NotFound {
        return Err(error);
    }
    let begins = path.ancestors().find(|part| part.symlink_metadata().is_ok());
    match begins.filter(|part| !part.exists()) {
        Some(link) => {
            let words = format!("{} is a link to something that is not there", link.display());
            Err(Error::new(ErrorKind::NotFound, words))
        }
        None => Ok(()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_gone_behind_a_link_is_no_absent_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("real"), "words").unwrap();
        symlink(at("real"), at("good")).unwrap();
        symlink(at("gone"), at("dangling")).unwrap();
        symlink(at("dangling"), at("twice")).unwrap();
        symlink(folder.path(), at("here")).unwrap();
        for (name, is_fault) in [
            ("none", false),
            ("none/none", false),
            ("here/none", false),
            ("dangling", true),
            ("twice", true),
            ("dangling/none/none", true),
            ("here/dangling", true),
        ] {
            assert_eq!(text(&at(name)).map_err(|error| error.kind()).is_err(), is_fault, "{name}");
        }
        assert_eq!(text(&at("good")).unwrap().as_deref(), Some("words"));
        assert!(text(folder.path()).is_err());
        let error = text(&at("dangling")).unwrap_err().to_string();
        assert!(error.ends_with("dangling is a link to something that is not there"), "{error}");
    }
}
