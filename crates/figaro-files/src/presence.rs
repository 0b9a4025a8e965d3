//! Checks for the presence of files. A dangling link is an error: running without the rules behind it would be the
//! opposite of what the owner wants.

use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// Reads a file; `None` if it does not exist.
///
/// # Errors
/// If the file cannot be read, or its path goes through a dangling link.
pub fn text(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) => absent(path, error).map(|()| None),
    }
}

/// Returns `Ok` if the error only means that the file or folder does not exist.
///
/// # Errors
/// Any other error, or a dangling link on the path.
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
