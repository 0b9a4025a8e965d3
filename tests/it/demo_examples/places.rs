//! The places that give people examples of what to say, and the examples that stand there.

use std::collections::BTreeMap;

const ENGLISH: &str = include_str!("../../../prompts/locales/en.yaml");
const PORTUGUESE: &str = include_str!("../../../prompts/locales/pt.yaml");
const README: &str = include_str!("../../../README.md");

/// The texts of a language, by their keys.
pub struct Texts(BTreeMap<String, String>);

impl Texts {
    pub fn english() -> Self {
        Self(serde_saphyr::from_str(ENGLISH).unwrap())
    }

    pub fn portuguese() -> Self {
        Self(serde_saphyr::from_str(PORTUGUESE).unwrap())
    }

    pub fn is_english(&self) -> bool {
        self.of("language_name") == "English"
    }

    pub fn of(&self, key: &str) -> &str {
        &self.0[key]
    }

    /// The lines of `/help` that one can say, without what they say on how.
    pub fn help(&self) -> Vec<String> {
        let lines = self
            .of("help")
            .lines()
            .filter_map(|line| line.trim().strip_prefix(['•', '◦', '▪']).map(str::trim));
        let examples = lines.map(|line| line.split(" (").next().unwrap().to_owned());
        not_empty(examples.collect())
    }

    /// What stands between `“` and `”` in a text.
    pub fn quoted(&self, key: &str) -> Vec<String> {
        let parts = self.of(key).split('“').skip(1);
        not_empty(parts.map(|part| part.split('”').next().unwrap().to_owned()).collect())
    }

    /// The last sentence of a text, which follows a colon: `No notes yet. Say: remember milk.`
    pub fn said(&self, key: &str) -> String {
        self.of(key).split_once(": ").unwrap().1.to_owned()
    }

    /// The command that a text ends with: `type: /config language Latvian`.
    pub fn command(&self, key: &str) -> String {
        let text = self.of(key);
        text[text.find('/').unwrap()..].to_owned()
    }
}

/// The sentences that the README gives as examples; commands are no examples here.
pub fn readme() -> Vec<String> {
    let section = README.split("\n## ").find(|section| section.starts_with("What you can say")).unwrap();
    let examples = section.split('`').skip(1).step_by(2).filter(|words| !words.starts_with('/'));
    not_empty(examples.map(ToOwned::to_owned).collect())
}

/// What the page suggests to say in a private chat.
pub fn page() -> Vec<String> {
    let samples = figaro_offline::PAGE.split("function samplesOf(").nth(1).expect("the page has samples");
    let samples = samples.split("\n}").next().unwrap();
    let words = samples.split('\'').skip(1).step_by(2);
    // What a member says who does not address the bot is no question to it.
    let asked = words.filter(|words| !samples.contains(&format!("'{words}', as")));
    not_empty(asked.filter(|words| words.contains(' ')).map(ToOwned::to_owned).collect())
}

/// What stands as code in a message: the greeting gives its examples so.
pub fn code(message: &serde_json::Value) -> Vec<String> {
    let text: Vec<u16> = message["text"].as_str().unwrap().encode_utf16().collect();
    let number = |value: &serde_json::Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let entities = message["entities"].as_array().unwrap().iter();
    let codes = entities.filter(|entity| entity["type"] == "code").map(|entity| {
        let at = number(&entity["offset"]);
        String::from_utf16(&text[at..at + number(&entity["length"])]).unwrap()
    });
    not_empty(codes.collect())
}

/// A place without an example would have the test pass for nothing.
fn not_empty(examples: Vec<String>) -> Vec<String> {
    assert!(!examples.is_empty());
    examples
}
