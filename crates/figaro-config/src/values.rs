//! Values of variables by source, and warnings about unknown names. Read by `main`.

use std::collections::{BTreeSet, HashMap};

use super::env_file::EnvFile;
use super::variables::Variables;
use figaro_base::text::nearest;

/// Variables shared between programs that Figaro or its libraries also read.
const SHARED: [&str; 10] = [
    "TZ",
    "PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "RUST_BACKTRACE",
    "TMPDIR",
];

/// Values of variables. The environment wins over the file.
#[derive(Clone, Default)]
pub struct Values {
    /// Variables of the process environment, by name.
    pub environment: HashMap<String, String>,
    /// Contents of `.env`; the environment overrides them.
    pub file: EnvFile,
}

impl Values {
    /// Returns all values by variable name.
    #[must_use]
    pub fn all(&self) -> HashMap<String, String> {
        let file = self.file.entries().iter().map(|entry| (entry.name.clone(), entry.value.clone()));
        let environment = self.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
        file.chain(environment).collect()
    }

    /// Returns the names whose values are from the file.
    #[must_use]
    pub fn names_in_file(&self) -> BTreeSet<String> {
        let names = self.file.entries().iter().map(|entry| &entry.name);
        names.filter(|name| !self.environment.contains_key(*name)).cloned().collect()
    }

    /// Returns a warning for each unknown or duplicate name. Every unknown name in the file counts, since the file is
    /// for this program alone. In the environment only near misses of known names count. Values are not shown.
    #[must_use]
    pub fn doubtful(&self, variables: &Variables) -> Vec<String> {
        let names: Vec<&str> = variables.iter().map(|variable| variable.name).collect();
        let is_known = |name: &str| {
            names.contains(&name) || SHARED.iter().any(|shared| shared.eq_ignore_ascii_case(name))
        };
        let mut words = self.file.twice();
        let mut told: Vec<&str> = Vec::new();
        for entry in self.file.entries().iter().filter(|entry| !is_known(&entry.name)) {
            let meant = meant(&entry.name, variables, |known| known.len().div_ceil(3));
            let guess = meant.map(|meant| format!(": did you mean {meant}?")).unwrap_or_default();
            words.push(format!("{} in line {} of .env is not known{guess}", entry.name, entry.line));
            told.push(&entry.name);
        }
        let mut set: Vec<&str> = self.environment.keys().map(String::as_str).collect();
        set.sort_unstable();
        for name in set.into_iter().filter(|name| !is_known(name) && !told.contains(name)) {
            // In a short name two changed letters make another word.
            if let Some(meant) = meant(name, variables, |known| if known.len() < 8 { 1 } else { 2 }) {
                words.push(format!("{name} is not known: did you mean {meant}?"));
            }
        }
        words
    }
}

impl std::fmt::Debug for Values {
    /// Omits values: some are secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Values").field("file", &self.file).finish_non_exhaustive()
    }
}

/// Returns the variable with the nearest name, if it is within the distance that `bound` allows.
fn meant(name: &str, variables: &Variables, bound: impl Fn(&str) -> usize) -> Option<&'static str> {
    let upper = name.to_ascii_uppercase();
    let near = variables.iter().filter(|known| !known.unlike.contains(&name));
    nearest(&upper, near.map(|known| known.name), bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(environment: &[&str], file: &str) -> Vec<String> {
        let environment = environment.iter().map(|name| ((*name).to_owned(), "secret".to_owned())).collect();
        Values { environment, file: EnvFile::parse(file).unwrap() }.doubtful(&Variables::builtin())
    }

    #[test]
    fn a_name_of_the_environment_that_is_nearly_ours_is_told() {
        let cases = [
            ("TELEGRAM_BOT_TOKN", "TELEGRAM_BOT_TOKEN"),
            ("TELEGARM_BOT_TOKEN", "TELEGRAM_BOT_TOKEN"),
            ("telegram_bot_token", "TELEGRAM_BOT_TOKEN"),
            ("OPENAI_APIKEY", "OPENAI_API_KEY"),
            ("ACESS", "ACCESS"),
            ("OWNER_ID", "OWNER_IDS"),
        ];
        for (name, meant) in cases {
            let wanted = format!("{name} is not known: did you mean {meant}?");
            assert_eq!(unknown(&[name], ""), [wanted], "{name}");
        }
    }

    #[test]
    fn other_names_of_the_environment_are_left_alone() {
        let names = [
            "PATH",
            "HOME",
            "TZ",
            "https_proxy",
            "NO_PROXY",
            "FTP_PROXY",
            "ANTHROPIC_API_KEY",
            "XAI_API_KEY",
            "OPENAI_ORG_ID",
            "OPENAI_API_BASE",
            "OLLAMA_MODELS",
            "OLLAMA_HOST",
            "RUST_LOG_STYLE",
            "CARGO_HOME",
            "ACCENTS",
            "LC_ALL",
        ];
        assert_eq!(unknown(&names, ""), Vec::<String>::new());
    }

    #[test]
    fn every_unknown_name_of_the_file_is_told_with_its_line() {
        let file = "TZ=UTC\nTELEGRAM_TOKEN=1\n\nTELEGRAM_BOT_TOKN=1\nSHOE_SIZE=44\nMAX_PASSES=3\n";
        assert_eq!(
            unknown(&["TELEGRAM_BOT_TOKN"], file),
            [
                "TELEGRAM_TOKEN in line 2 of .env is not known: did you mean TELEGRAM_BOT_TOKEN?",
                "TELEGRAM_BOT_TOKN in line 4 of .env is not known: did you mean TELEGRAM_BOT_TOKEN?",
                "SHOE_SIZE in line 5 of .env is not known",
            ]
        );
    }

    #[test]
    fn the_environment_wins_over_the_file() {
        let file = EnvFile::parse("A=file\nB=file\nB=later\n").unwrap();
        let environment = HashMap::from([("A".to_owned(), "environment".to_owned())]);
        let all = Values { environment, file }.all();
        assert_eq!((all["A"].as_str(), all["B"].as_str()), ("environment", "later"));
    }

    #[test]
    fn a_name_that_the_file_sets_twice_is_told_with_its_lines() {
        let file = "TZ=UTC\nACCESS=open\nTZ=UTC\n\nTZ=Europe/Riga\n";
        assert_eq!(unknown(&[], file), ["TZ stands in lines 1, 3, 5 of .env: the last of them counts"]);
    }
}
