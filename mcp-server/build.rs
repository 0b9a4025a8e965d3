//! Computes the build id: a hash of everything that determines the server's behaviour. Figaro compares it in the MCP
//! handshake, so that it never uses a stale `figaro-mcp` beside it.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Hashed files of the crate; a folder stands for all its files.
const SOURCES: [&str; 5] = ["src", "bot-api", "build.rs", "Cargo.toml", "../Cargo.toml"];

fn main() -> io::Result<()> {
    let mut files = Vec::new();
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
        collect(Path::new(source), &mut files)?;
    }
    files.sort();
    let mut hash = Fnv::new();
    hash.write(env!("CARGO_PKG_VERSION").as_bytes());
    for file in files {
        hash.write(file.to_string_lossy().as_bytes());
        hash.write(&fs::read(&file)?);
    }
    println!("cargo:rustc-env=FIGARO_MCP_BUILD_ID={:016x}", hash.0);
    Ok(())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        // The script that regenerates the data is not part of the server.
        if path.extension().is_none_or(|extension| extension != "py") {
            files.push(path.to_owned());
        }
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}

/// FNV-1a. The standard library promises no stable hash, and two builds must agree.
struct Fnv(u64);

impl Fnv {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Hashes one part; its length separates it from the next.
    fn write(&mut self, part: &[u8]) {
        let length = (part.len() as u64).to_le_bytes();
        for byte in length.iter().chain(part) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
