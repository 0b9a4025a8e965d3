//! Generates the keys of the user-visible texts from `prompts/locales/en.yaml`, with a method of `Texts` for each. Keys
//! are found by a line scan: the reader of language files refuses unknown and missing ones, and a test reads all files.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

const ENGLISH: &str = "../../prompts/locales/en.yaml";

/// A key and its lines in the file, without the key.
struct TextEntry<'a> {
    key: &'a str,
    text: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed={ENGLISH}");
    println!("cargo:rerun-if-changed=build.rs");
    let file = fs::read_to_string(ENGLISH)?;
    let folder = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    fs::write(Path::new(&folder).join("texts.rs"), texts(&entries(&file))?)?;
    Ok(())
}

/// Returns every key at the start of a line, with the text after it and in the indented lines below it.
fn entries(file: &str) -> Vec<TextEntry<'_>> {
    let mut entries: Vec<TextEntry<'_>> = Vec::new();
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        let is_indented = line.starts_with([' ', '\t']) || line.is_empty();
        match (line.split_once(':'), entries.last_mut()) {
            (Some((key, text)), _) if !is_indented => {
                entries.push(TextEntry { key, text: text.trim().to_owned() });
            }
            (_, Some(entry)) => entry.text.extend(["\n", line]),
            (_, None) => {}
        }
    }
    entries
}

fn texts(entries: &[TextEntry<'_>]) -> Result<String, std::fmt::Error> {
    let mut code = String::from("impl Texts {\n");
    for (index, TextEntry { key, text }) in entries.iter().enumerate() {
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
