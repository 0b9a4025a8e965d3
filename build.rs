//! Has the linker make the published binaries smaller.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    pack();
}

/// Has the linker make the release binaries smaller, which is memory at run time: functions of the same code kept once, and,
/// where the C library of this machine can load them, relative relocations packed. Only where rustc brings the linker that
/// knows both.
fn pack() {
    let is = |name: &str, value: &str| env::var_os(name).is_some_and(|found| found == value);
    let flags = env::var_os("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let flags = flags.to_string_lossy();
    let has_other_linker = ["linker", "-fuse-ld"].iter().any(|word| flags.contains(word));
    let is_default_linker = !has_other_linker && env::var_os("RUSTC_LINKER").is_none();
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
