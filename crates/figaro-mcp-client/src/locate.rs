//! Finds the executable of the MCP server: the configured one, `figaro` itself with the argument `mcp-server`, or,
//! for a program that embeds the bot, the `figaro-mcp` next to it. Does no I/O except checking whether a file exists.
//!
//! Two processes of one executable share the memory of its code and are always of the same build.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Argument that makes `figaro` the server.
pub const SUBCOMMAND: &str = "mcp-server";

/// Command that starts the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerProgram {
    pub(crate) program: PathBuf,
    /// Arguments that come first.
    pub(crate) args: Vec<OsString>,
    /// `true` if the owner configured the program. Then its build is not checked, and there is no other candidate.
    pub(crate) named: bool,
}

/// Name of the executable that is known to contain the server.
const FIGARO: &str = "figaro";

/// Returns the possible commands, best first.
#[must_use]
pub fn candidates(named: Option<&Path>, this: &Path) -> Vec<ServerProgram> {
    if let Some(program) = named {
        return vec![ServerProgram { program: program.to_owned(), args: Vec::new(), named: true }];
    }
    let is_figaro = this.file_stem().is_some_and(|name| name == FIGARO);
    let beside = this.with_file_name(format!("figaro-mcp{}", std::env::consts::EXE_SUFFIX));
    let itself = ServerProgram { program: this.to_owned(), args: vec![SUBCOMMAND.into()], named: false };
    let beside = (!is_figaro && beside.is_file()).then_some(ServerProgram {
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
