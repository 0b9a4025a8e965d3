//! The pages about all variables: `.env.example` and docs/configuration.md.

use crate::env_file::quoted;
use crate::variable::Variable;
use crate::variables::Variables;

/// Groups of the reference, and the beginnings of the names in each. The longest beginning that fits a name counts.
const GROUPS: [(&str, &[&str]); 10] = [
    ("Telegram", &["TELEGRAM_", "WEBHOOK_", "BOTS_FILE"]),
    ("Access", &["OWNER_IDS", "ACCESS", "POLICY_FILE"]),
    (
        "Models",
        &[
            "LLM_",
            "MODEL_CAPABILITIES",
            "MAX_PASSES",
            "TAVILY_",
            "TRANSCRIBER",
            "SPEAKER",
            "PAINTER",
            "READ_PAGES",
            "PRIVATE_PAGES",
            "AGENTS_FOLDER",
        ],
    ),
    ("Cost", &["DAILY_", "MONTHLY_", "MODEL_OVER_BUDGET", "BACKGROUND_SHARE", "LLM_PRICES"]),
    ("History and memory", &["HISTORY_", "SUMMARY_", "SESSION_", "MEMORY_", "EMBEDDER"]),
    ("Tasks and time", &["TASKS_", "DEFAULT_TIMEZONE"]),
    ("Storage", &["STORE_URL", "KEEP_DAYS", "AUDIT_DAYS", "ERASE_AFTER", "BACKUP_"]),
    ("MCP", &["MCP_"]),
    ("HTTP gateway", &["HTTP_", "DASHBOARD", "METRICS_ADDR", "API_KEYS", "JWT_"]),
    ("Log and telemetry", &["RUST_LOG", "LOG_FORMAT", "OTEL_"]),
];

const HEAD: &str = "\
# Configuration

Settings are environment variables, or lines of a file `.env` in the folder where Figaro starts. The environment wins.
`figaro init` writes the file, and `.env.example` is a template. All wrong values are reported at once, and so are names
that are nearly right. `figaro check` tests what is set without starting the bot.

This page is generated from the table in `crates/figaro-config/src/variables.rs`.
";

impl Variables {
    /// Returns the text of `.env.example`.
    #[must_use]
    pub fn example(&self) -> String {
        let mut text = String::from(
            "# `figaro init` asks for what is needed and writes it into a file .env. By hand: copy this file to .env and fill in the\n# first two, then run chmod 600 .env. A line that begins with # is off: its default applies.\n",
        );
        for Variable { name, default, meaning, .. } in self.iter() {
            let off = if meaning.contains("Required") && self.need(name).is_some() { "" } else { "# " };
            text.push_str(&format!("\n# {meaning}\n{off}{name}={}\n", quoted(default)));
        }
        text
    }

    /// Returns the text of docs/configuration.md.
    #[must_use]
    pub fn reference(&self) -> String {
        let mut page = HEAD.to_owned();
        for (at, (title, _)) in GROUPS.iter().enumerate() {
            self.section(&mut page, title, |name| group(name) == Some(at));
            if *title == "Models" {
                for provider in self.providers() {
                    let title = format!("Provider {}", provider.name);
                    self.section(&mut page, &title, |name| {
                        provider.variables.iter().any(|variable| variable.name == name)
                    });
                }
            }
        }
        page
    }

    fn section(&self, page: &mut String, title: &str, is_here: impl Fn(&str) -> bool) {
        page.push_str(&format!(
            "\n## {title}\n\n| Variable | Default | Required | Meaning |\n|---|---|---|---|\n"
        ));
        for Variable { name, default, meaning, .. } in self.iter().filter(|variable| is_here(variable.name)) {
            let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
            let need = self.need(name).unwrap_or_default();
            let anchor = name.to_lowercase();
            page.push_str(&format!("| <a id=\"{anchor}\"></a>`{name}` | {default} | {need} | {meaning} |\n"));
        }
    }

    /// Returns when a variable is required; `None` if never.
    fn need(&self, name: &str) -> Option<String> {
        if name == "TELEGRAM_BOT_TOKEN" {
            return Some("always".to_owned());
        }
        self.providers().iter().find_map(|provider| {
            let variable = provider.variables.iter().find(|variable| variable.name == name)?;
            let chosen = format!("with `LLM_PROVIDER={}`", provider.name);
            match (variable.need(false), variable.need(true)) {
                (Some(_), _) => Some(chosen),
                (None, Some(_)) => Some(format!("{chosen} at its default address")),
                (None, None) => None,
            }
        })
    }
}

/// Returns the index of a variable's group; `None` for a provider's variable.
fn group(name: &str) -> Option<usize> {
    let groups = GROUPS.iter().enumerate();
    let fitting = groups.filter_map(|(at, (_, beginnings))| {
        let longest =
            beginnings.iter().filter(|beginning| name.starts_with(**beginning)).map(|found| found.len());
        Some((longest.max()?, at))
    });
    fitting.max().map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_has_one_place_in_the_reference() {
        let (variables, page) = (Variables::builtin(), Variables::builtin().reference());
        for variable in variables.iter() {
            let row = format!("<a id=\"{}\"></a>", variable.name.to_lowercase());
            assert_eq!(page.matches(&row).count(), 1, "{}", variable.name);
        }
    }

    #[test]
    fn each_line_of_the_example_can_be_switched_on() {
        let variables = Variables::builtin();
        let on = |line: &str| {
            let rest = line.strip_prefix("# ").unwrap_or(line);
            let is_name = |name: &str| variables.iter().any(|variable| variable.name == name);
            rest.split_once('=').filter(|(name, _)| is_name(name)).map(|_| format!("{rest}\n"))
        };
        let lines: String = variables.example().lines().filter_map(on).collect();
        assert_eq!(lines.lines().count(), variables.iter().count());
        let read = crate::EnvFile::parse(&lines).unwrap();
        assert_eq!(read.value("BACKUP_AT"), Some("0 4 * * *"));
    }

    #[test]
    fn the_reference_and_the_example_file_are_those_of_the_repository() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let pages = [
            ("docs/configuration.md", Variables::builtin().reference()),
            (".env.example", Variables::builtin().example()),
        ];
        for (path, text) in pages {
            let file = format!("{root}/{path}");
            if std::env::var_os("UPDATE_DOCS").is_some() {
                std::fs::write(&file, &text).unwrap();
            }
            let found = std::fs::read_to_string(&file).unwrap_or_default();
            assert_eq!(found, text, "UPDATE_DOCS=1 with this test writes {path}");
        }
    }
}
