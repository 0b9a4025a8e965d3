//! Makes the keys of the texts that people read out of `prompts/locales/en.yaml`, with a method of `Texts` for each. A scan by
//! lines finds the keys: unknown and missing ones are refused when a language file is read, and a test reads all of them.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

const ENGLISH: &str = "prompts/locales/en.yaml";

/// A key and its lines in the file, without the key.
struct Entry<'a> {
    key: &'a str,
    text: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed={ENGLISH}");
    println!("cargo:rerun-if-changed=build.rs");
    pack();
    let file = fs::read_to_string(ENGLISH)?;
    let folder = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    fs::write(Path::new(&folder).join("texts.rs"), texts(&entries(&file))?)?;
    Ok(())
}

/// Has the linker make the release binaries smaller, which is memory at run time: functions of the same code kept once, and,
/// where the C library of this machine can load them, relative relocations packed. Only where rustc brings the linker that
/// knows both.
fn pack() {
    let is = |name: &str, value: &str| env::var_os(name).is_some_and(|found| found == value);
    let has_other_flags = env::var_os("CARGO_ENCODED_RUSTFLAGS").is_some_and(|flags| !flags.is_empty());
    let is_default_linker = !has_other_flags && env::var_os("RUSTC_LINKER").is_none();
    if is("PROFILE", "release") && is("TARGET", "x86_64-unknown-linux-gnu") && is_default_linker {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
        if loads_packed_relocations() {
            println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        }
    }
}

/// Whether the C library here is glibc 2.36 or newer: an older one refuses to start a program with packed relocations.
fn loads_packed_relocations() -> bool {
    let Ok(asked) = Command::new("getconf").arg("GNU_LIBC_VERSION").output() else { return false };
    let said = String::from_utf8_lossy(&asked.stdout);
    let version = said.trim().strip_prefix("glibc ").and_then(|version| version.split_once('.'));
    version.is_some_and(|(major, minor)| match (major.parse::<u32>(), minor.parse::<u32>()) {
        (Ok(major), Ok(minor)) => (major, minor) >= (2, 36),
        _ => false,
    })
}

/// Every key at the beginning of a line, with the text behind it and in the indented lines below it.
fn entries(file: &str) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        let is_indented = line.starts_with([' ', '\t']) || line.is_empty();
        match (line.split_once(':'), entries.last_mut()) {
            (Some((key, text)), _) if !is_indented => {
                entries.push(Entry { key, text: text.trim().to_owned() });
            }
            (_, Some(entry)) => entry.text.extend(["\n", line]),
            (_, None) => {}
        }
    }
    entries
}

fn texts(entries: &[Entry<'_>]) -> Result<String, std::fmt::Error> {
    let mut code = String::from("impl Texts {\n");
    for (index, Entry { key, text }) in entries.iter().enumerate() {
        let doc = format!("```text\n{}\n```", text.trim_end());
        writeln!(code, "    #[doc = {doc:?}]\n    #[must_use]\n    pub const fn {key}(&self) -> &str {{")?;
        writeln!(code, "        self.at({index})\n    }}\n")?;
    }
    let keys: Vec<&str> = entries.iter().map(|entry| entry.key).collect();
    writeln!(
        code,
        "}}\n\n/// Keys of [`Texts`], in the order of the file.\nconst KEYS: [&str; {}] = {keys:?};",
        keys.len()
    )?;
    Ok(code)
}
