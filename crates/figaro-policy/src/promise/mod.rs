//! Finds promises for later in an answer: to remind, to write again, to look every day. Only what a tool stored can be
//! promised; the agent checks answers of turns that stored nothing. The patterns are data, one file per language.

mod prose;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Match, Regex, RegexBuilder};
use serde::Deserialize;

/// Cache limit of each pattern's automaton, in bytes; the default is 2 MB.
const DFA_BYTES: usize = 64 << 10;

/// The languages, all tried: the language of the answer is not known here.
static LANGUAGES: [LazyLock<PromisePatterns>; 5] = [
    LazyLock::new(|| embedded(include_str!("en.yaml"))),
    LazyLock::new(|| embedded(include_str!("pt.yaml"))),
    LazyLock::new(|| embedded(include_str!("es.yaml"))),
    LazyLock::new(|| embedded(include_str!("de.yaml"))),
    LazyLock::new(|| embedded(include_str!("ru.yaml"))),
];

/// Words of which a promise contains at least one, in the order of [`LANGUAGES`]. Without one the language is not
/// compiled, which takes some 30 ms and 2 MB.
const SIGNS: [&str; 5] = [
    "i'll|i will|i'm|i am|i've|i have|remind|schedul|alarm|timer|alert|you'll| will |from me",
    " te |-te|-vos| vou | irei | eu |rei |rei-| fico |volto|acord|envi|mand|public|receb|lembr|avis|agend|program|\
     alarm|alert|amanha| todo | toda | todos | todas |assim que",
    " te | os | les | le | me | voy |vuelvo|recib|record|avis|program|alarm|alert|agend|\
     pendiente|manana| cada | todos | todas |en cuanto",
    " ich | wir |erinner|wecker|timer|alarm|geplant|eingestellt|benachrichtig|bekomm|erhalt|von mir| mich ",
    "а|е|о",
];

/// Patterns of one language. Each list holds regular expressions over sentences as `prose` makes them; `<name>` stands
/// for one of the `parts`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PromiseFile {
    /// Fragments shared by patterns, by name.
    parts: BTreeMap<String, String>,
    /// Statements of the bot about itself that promise something.
    claims: Vec<String>,
    /// A future or repeated time.
    when: String,
    /// Statements of the bot about itself that are a promise only together with a time.
    timed: Vec<String>,
    /// Impersonal statements that something is set or will come.
    news: Vec<String>,
    /// Promises that look like negations.
    surely: Vec<String>,
    /// Other subjects that news may be about, such as an app or an airline.
    elsewhere: Vec<String>,
    /// Words that negate a promise in their clause.
    negations: Vec<String>,
    /// `true` if a negation may follow the verb.
    #[serde(default)]
    negates_behind: bool,
    /// Words that begin another clause, in addition to punctuation.
    breaks: Vec<String>,
    /// Words that turn a promise into an offer, before or after it.
    conditions: Vec<String>,
    /// Requests for input first; what follows is an offer.
    requests: Vec<String>,
    /// Question tags after the last comma that only ask for a nod.
    tags: Vec<String>,
    /// Words that make a sentence a figure of speech.
    figures: Vec<String>,
}

#[derive(Debug)]
struct PromisePatterns {
    claims: Regex,
    when: Regex,
    timed: Regex,
    news: Regex,
    surely: Regex,
    elsewhere: Regex,
    negations: Regex,
    negates_behind: bool,
    breaks: Regex,
    conditions: Regex,
    requests: Regex,
    tags: Regex,
    figures: Regex,
}

/// Returns `true` if the bot claims or promises in this answer, in its own words, to do something later or again. Takes
/// Markdown in English, Portuguese, Spanish, German or Russian; offers, questions, negations, quotations and code do not
/// count.
#[must_use]
pub fn promises(answer: &str) -> bool {
    let sentences = prose::sentences(answer);
    let has = |sign: &str| sentences.iter().any(|sentence| sentence.contains(sign));
    LANGUAGES.iter().zip(SIGNS).any(|(language, signs)| {
        signs.split('|').any(has) && sentences.iter().any(|sentence| language.promises(sentence))
    })
}

impl PromisePatterns {
    fn promises(&self, sentence: &str) -> bool {
        if self.asks(sentence) || self.figures.is_match(sentence) {
            return false;
        }
        self.surely.is_match(sentence)
            || self.standing(&self.claims, sentence).next().is_some()
            || self.standing(&self.timed, sentence).any(|said| self.when.is_match(said))
            || !self.elsewhere.is_match(sentence)
                && !sentence.contains(prose::CODE)
                && self.standing(&self.news, sentence).next().is_some()
    }

    /// Returns `true` for a question that asks for more than a nod.
    fn asks(&self, sentence: &str) -> bool {
        let Some(question) = sentence.trim_end().strip_suffix('?') else { return false };
        let nod = question.rsplit_once(" , ").map(|(_, nod)| format!(" {} ", nod.trim()));
        !nod.is_some_and(|nod| self.tags.is_match(&nod))
    }

    /// Iterates over matches of the patterns that nothing takes back. Each item is the sentence up to the end of that
    /// statement.
    fn standing<'a>(&'a self, patterns: &'a Regex, sentence: &'a str) -> impl Iterator<Item = &'a str> {
        patterns.find_iter(sentence).filter_map(|found| {
            let behind = &sentence[found.end()..];
            let statement = behind.split([';', '—', '(']).next().unwrap_or_default();
            let statement = statement.split(" : ").next().unwrap_or_default();
            let said = &sentence[..found.end() + statement.len()];
            let stands = !self.negations.is_match(self.clause(sentence, found))
                && !self.requests.is_match(&sentence[..found.end()])
                && !self.conditions.is_match(said);
            stands.then_some(said)
        })
    }

    /// Returns the part of the clause around a match in which a negation counts.
    fn clause<'a>(&self, sentence: &'a str, found: Match<'_>) -> &'a str {
        let begins = self.breaks.find(found.as_str()).filter(|first| first.start() <= 1);
        let start = match begins {
            Some(first) => found.start() + first.end(),
            None => self.breaks.find_iter(&sentence[..found.start()]).last().map_or(0, |last| last.end()),
        };
        let end = match self.breaks.find(&sentence[found.end()..]) {
            _ if !self.negates_behind => found.end(),
            Some(next) => found.end() + next.start(),
            None => sentence.len(),
        };
        &sentence[start..end]
    }
}

#[expect(clippy::expect_used, reason = "the data is part of the build; a test compiles it")]
fn embedded(file: &str) -> PromisePatterns {
    let written: PromiseFile = serde_saphyr::from_str(file).expect("a file of promises fits");
    written.compile().expect("patterns of promises compile")
}

impl PromiseFile {
    fn compile(self) -> Result<PromisePatterns, regex::Error> {
        let parts = self.parts;
        let any = |patterns: Vec<String>| {
            let all: Vec<String> = patterns.iter().map(|pattern| with_parts(pattern, &parts)).collect();
            RegexBuilder::new(&all.join("|")).dfa_size_limit(DFA_BYTES).build()
        };
        let mut breaks = self.breaks;
        breaks.push("[,;:.()—] ".to_owned());
        Ok(PromisePatterns {
            claims: any(self.claims)?,
            when: any(vec![self.when])?,
            timed: any(self.timed)?,
            news: any(self.news)?,
            surely: any(self.surely)?,
            elsewhere: any(self.elsewhere)?,
            negations: any(self.negations)?,
            negates_behind: self.negates_behind,
            breaks: any(breaks)?,
            conditions: any(self.conditions)?,
            requests: any(self.requests)?,
            tags: any(self.tags)?,
            figures: any(self.figures)?,
        })
    }
}

/// Inserts the parts into a pattern. Parts may use other parts.
fn with_parts(pattern: &str, parts: &BTreeMap<String, String>) -> String {
    let mut pattern = prose::fold(pattern);
    // Parts nest at most two deep.
    for _ in 0..3 {
        for (name, part) in parts {
            pattern = pattern.replace(&format!("<{name}>"), &format!("(?:{})", prose::fold(part)));
        }
    }
    pattern
}

#[cfg(test)]
mod tests;
