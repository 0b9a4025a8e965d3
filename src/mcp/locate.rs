//! Finds the executable of the MCP server: the configured one, the `figaro-mcp` beside this executable, or this
//! executable itself with the argument `mcp-server`. Pure but for asking whether a file is there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The argument that makes `figaro` itself the server.
pub const SUBCOMMAND: &str = "mcp-server";

/// A way to start the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The path of the program.
    pub program: PathBuf,
    /// Its first arguments.
    pub args: Vec<OsString>,
    /// Whether the owner named it: then it is taken whatever build it is, and there is no other.
    pub named: bool,
}

/// The ways to start the server, best first.
#[must_use]
pub fn candidates(named: Option<&Path>, this: &Path) -> Vec<Candidate> {
    if let Some(program) = named {
        return vec![Candidate { program: program.to_owned(), args: Vec::new(), named: true }];
    }
    let beside = this.with_file_name(format!("figaro-mcp{}", std::env::consts::EXE_SUFFIX));
    let itself = Candidate { program: this.to_owned(), args: vec![SUBCOMMAND.into()], named: false };
    let beside = beside.is_file().then_some(Candidate { program: beside, args: Vec::new(), named: false });
    beside.into_iter().chain([itself]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_one_is_the_only_one_and_this_executable_is_the_last_resort() {
        let folder = tempfile::tempdir().unwrap();
        let this = folder.path().join("figaro");
        let programs = |named: Option<&Path>| -> Vec<PathBuf> {
            candidates(named, &this).into_iter().map(|c| c.program).collect()
        };
        assert_eq!(programs(Some(Path::new("/x/y"))), [PathBuf::from("/x/y")]);
        assert_eq!(programs(None), std::slice::from_ref(&this));
        let beside = folder.path().join("figaro-mcp");
        std::fs::write(&beside, "").unwrap();
        assert_eq!(programs(None), [beside, this.clone()]);
    }
}
