//! Finds the executable of the MCP server: the configured one, `figaro` itself with the argument `mcp-server`, or, of a program
//! that embeds the bot, the `figaro-mcp` beside it. Pure but for asking whether a file is there.
//!
//! Two processes of one executable share the memory of its code, and are never of different builds.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The argument that makes `figaro` itself the server.
pub const SUBCOMMAND: &str = "mcp-server";

/// A way to start the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The path of the program.
    pub(crate) program: PathBuf,
    /// Its first arguments.
    pub(crate) args: Vec<OsString>,
    /// Whether the owner named it: then it is taken whatever build it is, and there is no other.
    pub(crate) named: bool,
}

/// The name of the executable that is known to be the server too.
const FIGARO: &str = "figaro";

/// The ways to start the server, best first.
#[must_use]
pub fn candidates(named: Option<&Path>, this: &Path) -> Vec<Candidate> {
    if let Some(program) = named {
        return vec![Candidate { program: program.to_owned(), args: Vec::new(), named: true }];
    }
    let is_figaro = this.file_stem().is_some_and(|name| name == FIGARO);
    let beside = this.with_file_name(format!("figaro-mcp{}", std::env::consts::EXE_SUFFIX));
    let itself = Candidate { program: this.to_owned(), args: vec![SUBCOMMAND.into()], named: false };
    let beside = (!is_figaro && beside.is_file()).then_some(Candidate {
        program: beside,
        args: Vec::new(),
        named: false,
    });
    beside.into_iter().chain([itself]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_one_is_the_only_one_and_figaro_is_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let [figaro, other, beside] = ["figaro", "my-bot", "figaro-mcp"].map(|name| folder.path().join(name));
        let programs = |named: Option<&Path>, this: &Path| -> Vec<PathBuf> {
            candidates(named, this).into_iter().map(|c| c.program).collect()
        };
        assert_eq!(programs(Some(Path::new("/x/y")), &figaro), [PathBuf::from("/x/y")]);
        assert_eq!(programs(None, &other), std::slice::from_ref(&other));
        std::fs::write(&beside, "").unwrap();
        assert_eq!(programs(None, &other), [beside, other.clone()]);
        assert_eq!(programs(None, &figaro), std::slice::from_ref(&figaro));
    }
}
