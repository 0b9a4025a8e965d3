//! docs/commands.md: all commands of the chat, of `figaro` and of `figaro-mcp`, as the code has them.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use clap::{Arg, Command as Program};
use figaro::app::Additions;
use figaro::cli::{self, exit};
use figaro_prompts::texts::{Locales, Texts};
use figaro_store::StoreError;
use figaro_telegram::commands::{Access, Card, Command, CommandOutcome, CommandRequest, CommandSpec, Group};

use crate::embedded::Embedded;
use crate::support::scene::text;
use crate::support::{ANN, World};

const PATH: &str = "docs/commands.md";
/// Width of the lines of prose.
const WIDTH: usize = 120;

const HEAD: &str = "\
# Commands

This page is generated from the code; `UPDATE_DOCS=1 cargo test --test embedded commands_page` writes it.

- [In a chat](#in-a-chat)
- [figaro](#figaro): the program
- [Exit codes](#exit-codes)
- [figaro-mcp](#figaro-mcp): the Telegram MCP server

## In a chat

Most of this also works in plain words, such as \"remind me at 8\". In a group `/help@figaro_bot` reaches one bot among
several. Descriptions in Telegram follow the language of the chat. *Everybody* is everybody who may talk to the bot
([Access](access.md)); *admins* are admins of the chat, and in a private chat the person there. Owners may do all of it.
";
const EXIT: &str = "
`figaro-mcp` uses 0, 1 and 2 in the same way. [Operations](operations.md#start-stop-exit-codes) says when to restart.
";

/// A command that notes the specs of all others.
#[derive(Debug, Default)]
struct SpecReader(Mutex<Vec<CommandSpec>>);

#[async_trait]
impl Command for SpecReader {
    fn spec(&self) -> CommandSpec {
        CommandSpec::new("specs", |_| "read the specs")
    }

    async fn run(&self, request: &CommandRequest<'_>) -> Result<CommandOutcome, StoreError> {
        self.0.lock().unwrap().extend(request.specs().filter(|spec| spec.name != "specs"));
        Ok(Card::titled("Specs", "read").into())
    }
}

#[tokio::test]
async fn commands_page_is_that_of_the_code() {
    let world = World::new().await;
    let reader = Arc::new(SpecReader::default());
    let additions = Additions { commands: vec![reader.clone()], ..Additions::default() };
    let bot = Embedded::start(&world, world.bot(), additions).await;
    world.told(ANN, ANN, "/specs").await;
    let specs = reader.0.lock().unwrap().clone();
    assert!(specs.len() > 25, "{specs:?}");
    for spec in specs.iter().filter(|spec| spec.arguments.is_empty()) {
        let told = world.told(ANN, ANN, &format!("/{} so and so", spec.name)).await;
        let ignored = format!("/{} takes no extra words", spec.name);
        assert!(text(&told).contains(&ignored), "/{} reads its argument: document it", spec.name);
    }
    bot.end().await;

    let page = page(&specs, Locales::default().of(None));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PATH, &page).unwrap();
    }
    let found = std::fs::read_to_string(PATH).unwrap_or_default();
    assert_eq!(found, page, "UPDATE_DOCS=1 with this test writes {PATH}");
}

fn page(specs: &[CommandSpec], texts: &Texts) -> String {
    let mut page = HEAD.to_owned();
    chat(&mut page, "Start", specs.iter().filter(|spec| spec.group.is_none()), texts);
    for group in Group::ALL {
        chat(&mut page, group.heading(texts), specs.iter().filter(|spec| spec.group == Some(group)), texts);
    }
    let mut figaro = cli::command();
    figaro.build();
    program(&mut page, &mut figaro, 2);
    page.push_str("\n## Exit codes\n\n| code | meaning |\n|---:|---|\n");
    for (code, meaning) in exit::MEANINGS {
        page.push_str(&format!("| {code} | {meaning} |\n"));
    }
    page.push_str(EXIT);
    let mut server = figaro_mcp::command_line();
    server.build();
    program(&mut page, &mut server, 2);
    page
}

/// Writes a table of commands of the chat, with a row for each form of their arguments.
fn chat<'a>(page: &mut String, title: &str, specs: impl Iterator<Item = &'a CommandSpec>, texts: &Texts) {
    page.push_str(&format!("\n### {title}\n\n| Command | Effect | Who |\n|---|---|---|\n"));
    for spec in specs {
        let (name, about) = (spec.name, (spec.about)(texts));
        let (asks, changes) = match (spec.access, spec.changes_chat) {
            (Access::Owners, _) => ("owners", "owners"),
            (Access::Everybody, true) => ("everybody", "admins"),
            (Access::Everybody, false) => ("everybody", "everybody"),
        };
        page.push_str(&format!("| `/{name}` | {about} | {asks} |\n"));
        for (form, effect) in spec.arguments {
            page.push_str(&format!("| `/{name} {form}` | {effect} | {changes} |\n"));
        }
    }
}

/// Writes a section about a command of a program, and those below it.
fn program(page: &mut String, command: &mut Program, level: usize) {
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    page.push_str(&format!("\n{} {name}\n", "#".repeat(level)));
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    page.push_str(&wrapped(&about.unwrap_or_default()));
    page.push_str(&format!("\n```text\n{usage}\n```\n"));
    let shown = |arg: &&Arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str());
    let args: Vec<&Arg> = command.get_arguments().filter(shown).collect();
    if !args.is_empty() {
        page.push_str("\n| Argument or option | Meaning |\n|---|---|\n");
        args.into_iter().for_each(|arg| page.push_str(&row(arg)));
    }
    // The root's help ends with the exit codes, which have a section.
    let after = command.get_after_help().map(ToString::to_string).filter(|_| name != "figaro");
    if let Some(after) = after {
        page.push_str(&format!("\n```text\n{}\n```\n", after.trim_end()));
    }
    for below in command.get_subcommands_mut().filter(|below| !below.is_hide_set()) {
        if below.get_name() != "help" {
            program(page, below, (level + 1).min(4));
        }
    }
}

fn row(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default().iter().map(ToString::to_string);
    let values = values.collect::<Vec<_>>().join(" ");
    let takes_value = arg.get_action().takes_values();
    let name = match arg.get_long() {
        Some(long) if takes_value => format!("--{long} {values}"),
        Some(long) => format!("--{long}"),
        None => values,
    };
    let mut meaning = arg.get_help().map(ToString::to_string).unwrap_or_default().replace('|', "\\|");
    let defaults = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect::<Vec<_>>();
    if takes_value && !defaults.is_empty() {
        meaning.push_str(&format!(" (default `{}`)", defaults.join(" ")));
    }
    let choices = arg.get_possible_values();
    if takes_value && !choices.is_empty() {
        let names: Vec<String> = choices.iter().map(|choice| format!("`{}`", choice.get_name())).collect();
        meaning.push_str(&format!(" (one of {})", names.join(", ")));
    }
    format!("| `{name}` | {meaning} |\n")
}

/// Wraps paragraphs, each with an empty line before it.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        out.push('\n');
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
                out.push_str(&line);
                out.push('\n');
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}
