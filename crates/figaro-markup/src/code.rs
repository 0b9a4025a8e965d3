//! Block of code: its language, whether it is long enough to go out as a file, and the name of that file. Called by
//! [`mod@super::render`].

use std::collections::{HashMap, HashSet};

use pulldown_cmark::CodeBlockKind;

use super::piece::CodeFile;
use figaro_base::text::utf16_len;

const MAX_LANGUAGE: usize = 32;
/// Limits of code within a message. Longer code fills screens of a phone and is hard to copy.
const MAX_UNITS: usize = 3000;
const MAX_LINES: usize = 80;
const MAX_NAME: usize = 64;
const MAX_EXTENSION: usize = 12;

/// Default file names by language: the first that fits. The words are languages.
const NAMES: [(&str, &str); 38] = [
    ("script.py", "python py python3"),
    ("main.rs", "rust rs"),
    ("script.js", "javascript js node mjs"),
    ("script.ts", "typescript ts"),
    ("app.jsx", "jsx"),
    ("app.tsx", "tsx"),
    ("script.sh", "bash sh shell zsh console"),
    ("script.ps1", "powershell ps1"),
    ("script.bat", "batch bat cmd"),
    ("main.c", "c"),
    ("main.cpp", "cpp c++ cxx"),
    ("main.h", "h hpp"),
    ("Program.cs", "csharp cs c#"),
    ("Main.java", "java"),
    ("Main.kt", "kotlin kt"),
    ("main.swift", "swift"),
    ("main.go", "go golang"),
    ("main.dart", "dart"),
    ("script.rb", "ruby rb"),
    ("index.php", "php"),
    ("script.pl", "perl pl"),
    ("script.lua", "lua"),
    ("script.r", "r"),
    ("Main.hs", "haskell hs"),
    ("Main.scala", "scala"),
    ("main.ex", "elixir ex"),
    ("index.html", "html htm"),
    ("style.css", "css scss sass less"),
    ("data.xml", "xml svg"),
    ("data.json", "json jsonc"),
    ("config.yaml", "yaml yml"),
    ("config.toml", "toml"),
    ("config.ini", "ini conf cfg properties"),
    ("query.sql", "sql postgresql mysql sqlite"),
    ("document.md", "markdown md"),
    ("document.tex", "latex tex"),
    ("data.csv", "csv"),
    ("changes.diff", "diff patch"),
];
const OTHER_NAME: &str = "code.txt";
/// Names of files without an extension.
const BARE_NAMES: [&str; 4] = ["Dockerfile", "Makefile", "Jenkinsfile", "Gemfile"];
/// Starts of a comment line that may name a file.
const COMMENTS: [&str; 8] = ["//", "#", "--", "/*", "<!--", ";", "%", "\""];

#[derive(Debug, Clone, Default)]
pub(super) struct FileNames {
    taken: HashSet<String>,
    /// Next number to try, by the name it is added to.
    next: HashMap<String, usize>,
}

impl FileNames {
    /// Reserves a name. If it is taken, adds the next free number.
    fn free(&mut self, name: String) -> String {
        if self.taken.insert(name.clone()) {
            return name;
        }
        let next = self.next.entry(name.clone()).or_insert(2);
        loop {
            let numbered = match name.rsplit_once('.') {
                Some((stem, extension)) => format!("{stem}-{next}.{extension}"),
                None => format!("{name}-{next}"),
            };
            *next += 1;
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// Block of code that is being read.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) text: String,
    /// Info string after the opening fence; `None` for indented code.
    info: Option<String>,
}

impl Code {
    pub(super) fn new(kind: &CodeBlockKind<'_>) -> Self {
        let info = match kind {
            CodeBlockKind::Fenced(info) => Some(info.to_string()),
            CodeBlockKind::Indented => None,
        };
        Self { text: String::new(), info }
    }

    /// Returns the language, if the first word after the fence can be one.
    pub(super) fn language(&self) -> Option<String> {
        let word = self.info.as_deref()?.split([' ', '\t', ',', '{', ':']).next()?;
        let is_name = |b: u8| b.is_ascii_alphanumeric() || b"+#-._".contains(&b);
        let sane = !word.is_empty() && word.len() <= MAX_LANGUAGE && word.bytes().all(is_name);
        sane.then(|| word.to_owned())
    }

    /// Returns `true` if the code is fenced and too long for a message.
    pub(super) fn is_long(&self) -> bool {
        self.info.is_some()
            && !self.text.trim().is_empty()
            && (self.text.lines().count() > MAX_LINES || utf16_len(&self.text) > MAX_UNITS)
    }

    /// Turns the block into a file with a unique name.
    pub(super) fn into_file(self, names: &mut FileNames) -> CodeFile {
        CodeFile { name: names.free(self.name()), language: self.language(), content: self.text }
    }

    fn name(&self) -> String {
        let language = self.language().unwrap_or_default().to_lowercase();
        let usual = || {
            let fits = |(_, languages): &&(&str, &str)| languages.split(' ').any(|known| known == language);
            NAMES.iter().find(fits).map_or(OTHER_NAME, |(name, _)| name).to_owned()
        };
        let said = self.info.as_deref().and_then(named_by_info);
        said.or_else(|| named_by_comment(&self.text)).unwrap_or_else(usual)
    }
}

/// Finds a file name in the info string: `python title="app.py"`, `python app.py`, `python:src/app.py`, or the name
/// alone.
fn named_by_info(info: &str) -> Option<String> {
    let words = info.split([' ', '\t', ',', '{', '}', ':', '=']);
    words.map(|word| word.trim_matches(['"', '\''])).find_map(file_name)
}

/// Finds a file name in a comment: `# app.py` or `// src/main.rs` in the first line, or in the one after `#!`.
fn named_by_comment(code: &str) -> Option<String> {
    let line = code.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("#!"))?;
    let sign = COMMENTS.iter().find(|sign| line.starts_with(**sign))?;
    let words = line.get(sign.len()..)?.trim_start_matches(['/', '#', '*', '-', ';']);
    let words = words.trim_end_matches("-->").trim_end_matches("*/").trim();
    let words =
        words.split_once(':').filter(|(label, _)| is_label(label)).map_or(words, |(_, name)| name.trim());
    file_name(words)
}

fn is_label(word: &str) -> bool {
    ["file", "filename", "path"].iter().any(|label| word.trim().eq_ignore_ascii_case(label))
}

/// Returns the last part of a path, if it is a file name that is safe to use.
fn file_name(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?.trim_matches('`');
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
    if BARE_NAMES.contains(&name) {
        return Some(name.to_owned());
    }
    let (stem, extension) = name.rsplit_once('.')?;
    let fits = !stem.is_empty()
        && !stem.starts_with(['.', '-'])
        && name.len() <= MAX_NAME
        && name.chars().all(is_plain)
        && path.chars().all(|c| is_plain(c) || matches!(c, '/' | '\\' | '`'))
        && (1..=MAX_EXTENSION).contains(&extension.len())
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.chars().all(|c| c.is_ascii_alphanumeric());
    fits.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(info: &str, text: &str) -> Code {
        Code { text: text.to_owned(), info: Some(info.to_owned()) }
    }

    #[test]
    fn files_are_named_by_what_is_known() {
        let cases = [
            ("python title=app.py", "x", "app.py"),
            ("python title=\"app.py\"", "x", "app.py"),
            ("rust,ignore filename=src/lib.rs", "x", "lib.rs"),
            ("python:tools/run.py", "x", "run.py"),
            ("app.py", "x", "app.py"),
            ("python", "# app.py\nx", "app.py"),
            ("rust", "// src/main.rs\nx", "main.rs"),
            ("rust", "//! src/lib.rs", "main.rs"),
            ("css", "/* theme.css */\nx", "theme.css"),
            ("html", "<!-- page.html -->\nx", "page.html"),
            ("python", "#!/usr/bin/env python3\n# File: tool.py\nx", "tool.py"),
            ("sql", "-- schema.sql\nx", "schema.sql"),
            ("dockerfile", "# Dockerfile\nx", "Dockerfile"),
            ("python", "# This is app.py\nx", "script.py"),
            ("python", "# version 1.0\nx", "script.py"),
            ("Python", "x", "script.py"),
            ("rust", "x", "main.rs"),
            ("c++", "x", "main.cpp"),
            ("", "x", "code.txt"),
            ("klingon", "x", "code.txt"),
            ("sh title=../../etc/.bashrc", "x", "script.sh"),
            ("python title=a;rm.py", "x", "script.py"),
            ("python", "# ..\\evil.py", "evil.py"),
        ];
        for (info, text, expected) in cases {
            assert_eq!(
                code(info, text).into_file(&mut FileNames::default()).name,
                expected,
                "{info:?} {text:?}"
            );
        }
    }

    #[test]
    fn no_two_files_of_an_answer_have_one_name() {
        let mut names = FileNames::default();
        let said =
            ["main.rs", "main-2.rs", "main.rs", "Makefile", "Makefile", "main.rs", "main-2.rs", "main-2.rs"];
        let given = said.map(|name| code(&format!("rust title={name}"), "x").into_file(&mut names).name);
        let wanted = [
            "main.rs",
            "main-2.rs",
            "main-3.rs",
            "Makefile",
            "Makefile-2",
            "main-4.rs",
            "main-2-2.rs",
            "main-2-3.rs",
        ];
        assert_eq!(given, wanted);
    }

    #[test]
    fn numbers_are_not_tried_again() {
        let mut names = FileNames::default();
        for count in 1..=5_000 {
            names.free("main.rs".to_owned());
            assert_eq!(names.next.get("main.rs").copied(), (count > 1).then_some(count + 1));
        }
        assert_eq!(names.taken.len(), 5_000);
    }

    #[test]
    fn only_long_fenced_code_is_a_file() {
        let indented = Code { text: "x\n".repeat(200), info: None };
        let cases = [
            (code("", &"x\n".repeat(80)), false),
            (code("", &"x\n".repeat(81)), true),
            (code("", &"😀".repeat(1500)), false),
            (code("", &"😀".repeat(1501)), true),
            (code("", &"\n".repeat(200)), false),
            (indented, false),
        ];
        for (code, expected) in cases {
            assert_eq!(code.is_long(), expected, "{} characters", code.text.len());
        }
    }
}
