//! Blocks of files and of commands that are not run: files parse, options exist.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::{LazyLock, Mutex};

use figaro_config::EnvFile;

use crate::names::is_setting;
use crate::paper::{Block, Paper};
use crate::{Fault, run};

/// Languages of blocks, so that each block is checked as what it is.
const LANGUAGES: &[&str] = &[
    "sh",
    "console",
    "sql",
    "text",
    "yaml",
    "json",
    "toml",
    "ini",
    "env",
    "rust",
    "python",
    "markdown",
    "http",
    "caddyfile",
    "nginx",
    "dockerfile",
    "js",
    "mermaid",
];

/// Finds blocks without a known language, and files that do not parse.
pub(crate) fn files(paper: &Paper) -> Vec<Fault> {
    paper.blocks.iter().filter_map(|block| Some(fault(paper, block, wrong(block)?))).collect()
}

fn wrong(block: &Block) -> Option<String> {
    let text = &block.text;
    match block.language.as_str() {
        "json" => {
            serde_json::from_str::<serde_json::Value>(text).err().map(|error| format!("no JSON: {error}"))
        }
        "yaml" => {
            serde_saphyr::from_str::<serde_json::Value>(text).err().map(|error| format!("no YAML: {error}"))
        }
        "env" => {
            let names = text.lines().map(|line| line.trim_start_matches("# "));
            let names = names.filter_map(|line| line.split_once('=')).map(|(name, _)| name.trim());
            let mut unknown = names.filter(|name| !is_setting(name) && !name.contains(' '));
            let fault = EnvFile::parse(text).err().map(|fault| fault.to_string());
            unknown.next().map(|name| format!("{name} is no setting")).or(fault)
        }
        known if LANGUAGES.contains(&known) => None,
        other => Some(format!("unknown language of a block: {other:?}")),
    }
}

/// Words that stand before the program in a command for a container.
const IN_CONTAINERS: [&str; 2] = ["figaro:0.1.0", "figaro"];

/// Finds options of `figaro` and `figaro-mcp` that their help does not have, and commands that do not exist.
pub(crate) fn options(paper: &Paper) -> Vec<Fault> {
    let shells = paper.blocks.iter().filter(|block| ["sh", "console"].contains(&block.language.as_str()));
    let in_blocks = shells.flat_map(|block| lines(block).into_iter().map(|line| (block.line, line)));
    let in_text = paper.codes.iter().filter(|(_, code)| code.starts_with("figaro")).cloned();
    let mut faults = Vec::new();
    for (line, command) in in_blocks.chain(in_text) {
        for call in calls(&command) {
            let wrong = call.unknown();
            faults.extend(wrong.map(|words| Fault { paper: paper.path.clone(), line, words }));
        }
    }
    faults
}

/// Returns the commands of a block, with continued lines joined; in a `console` block those after `$ `.
fn lines(block: &Block) -> Vec<String> {
    let joined = block.text.replace("\\\n", " ");
    let lines = joined.lines().filter(|line| !line.trim_start().starts_with('#'));
    match block.language.as_str() {
        "console" => lines.filter_map(|line| line.strip_prefix("$ ")).map(ToOwned::to_owned).collect(),
        _ => lines.map(ToOwned::to_owned).collect(),
    }
}

/// A call of one of our programs.
struct Call {
    program: &'static str,
    words: Vec<String>,
}

/// Finds the calls of our programs in a command line.
fn calls(command: &str) -> Vec<Call> {
    let command = command.replace("cargo run --release -- ", "figaro ");
    let command = command.split(" #").next().unwrap();
    let parts = command.split(['|', ';', '&', '(', ')', '>', '<', '`', '"', '\'']);
    let program = |word: &str| match word.rsplit('/').next() {
        Some("figaro") => Some("figaro"),
        Some("figaro-mcp") => Some("figaro-mcp"),
        _ => None,
    };
    let call = |part: &str| {
        let words: Vec<&str> = part.split_whitespace().skip_while(|word| word.contains('=')).collect();
        let before = words.iter().position(|word| IN_CONTAINERS.contains(word));
        let at = match *words.first()? {
            // The program comes behind the name of the image or the service.
            "docker" => before.map(|at| at + 1)?,
            "sudo" => 3,
            _ => 0,
        };
        Some(Call { program: program(words.get(at)?)?, words: owned(words.into_iter().skip(at + 1)) })
    };
    parts.filter_map(call).collect()
}

fn owned<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    words.map(ToOwned::to_owned).collect()
}

impl Call {
    /// Returns what the help of the program does not know of this call.
    fn unknown(&self) -> Option<String> {
        let mut path = vec![self.program.to_owned()];
        for word in &self.words {
            let is_command = |help: &Help| help.commands.contains(word);
            match help(&path) {
                Some(help) if is_command(&help) => path.push(word.clone()),
                Some(help) if !help.commands.is_empty() && self.program == "figaro" && is_word(word) => {
                    return Some(format!("`{}` has no command {word}", path.join(" ")));
                }
                _ => break,
            }
        }
        let help = help(&path)?;
        let options = self.words.iter().filter(|word| word.starts_with("--") && word.len() > 2);
        let mut unknown =
            options.map(|word| word.split('=').next().unwrap()).filter(|word| !help.options.contains(*word));
        unknown.next().map(|option| format!("`{}` has no option {option}", path.join(" ")))
    }
}

fn is_word(word: &str) -> bool {
    word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') && !word.starts_with('-')
}

/// Commands and options that `--help` lists.
#[derive(Debug, Clone, Default)]
struct Help {
    commands: BTreeSet<String>,
    options: BTreeSet<String>,
}

/// Returns the help of a command; `None` if there is no such command.
fn help(path: &[String]) -> Option<Help> {
    static KNOWN: LazyLock<Mutex<BTreeMap<Vec<String>, Option<Help>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap();
    known.entry(path.to_vec()).or_insert_with(|| read(path)).clone()
}

fn read(path: &[String]) -> Option<Help> {
    let (program, rest) = path.split_first()?;
    let output = Command::new(run::program(program)).args(rest).arg("--help").env_clear().output().unwrap();
    let text = output.status.success().then(|| String::from_utf8(output.stdout).unwrap())?;
    let mut found = Help::default();
    let mut is_commands = false;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !line.starts_with(' ') {
            is_commands = line.ends_with(':') && !["Options:", "Arguments:", "Environment:"].contains(&line);
        } else if is_commands && line.starts_with("  ") && !line.starts_with("   ") {
            found.commands.extend(words.first().filter(|word| is_word(word)).map(|word| (*word).to_owned()));
        }
        let options = words.iter().take(3).filter(|word| word.starts_with("--"));
        found.options.extend(
            options
                .map(|word| word.trim_end_matches([',', '.']).split(['=', '[']).next().unwrap().to_owned()),
        );
    }
    Some(found)
}

fn fault(paper: &Paper, block: &Block, words: String) -> Fault {
    Fault { paper: paper.path.clone(), line: block.line, words }
}
