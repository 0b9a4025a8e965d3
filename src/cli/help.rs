//! `figaro --help`: the commands in groups.

use clap::{Command, CommandFactory};

use super::{Cli, exit};

/// Commands of each group, in the order of the help.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Run a bot", &["init", "check", "doctor", "demo", "bots", "dashboard", "healthcheck"]),
    ("Without Telegram", &["ask"]),
    ("Data", &["backup", "restore", "store", "export", "import", "audit", "memory"]),
    ("Files and shell", &["agents", "packs", "policy", "mcp", "completions"]),
];
/// Width of the column of names.
const NAME_WIDTH: usize = 13;

/// Returns the command line of `figaro`, with its help.
#[must_use]
pub fn command() -> Command {
    let command = Cli::command();
    let groups = GROUPS.map(|(title, names)| {
        let lines = names.iter().map(|name| line(&command, name)).collect::<String>();
        format!("{title}:\n{lines}\n")
    });
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        groups.concat()
    );
    command.after_help(exit::help()).help_template(template)
}

fn line(command: &Command, name: &str) -> String {
    let about = command.find_subcommand(name).and_then(Command::get_about);
    format!("  {name:<NAME_WIDTH$}{}\n", about.map(ToString::to_string).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let command = Cli::command();
        let mut shown: Vec<&str> =
            command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, shown);
    }
}
