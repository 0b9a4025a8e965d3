//! Whether an answer promises something for later: to remind, to write again, to look every day. Only what a tool
//! stored can be promised; the agent asks this of an answer whose turn stored nothing. How promises sound is data, a
//! file per language.

mod prose;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Match, Regex, RegexBuilder};
use serde::Deserialize;

/// Each pattern may keep so much of the states it went through; the default is 2 MB.
const DFA_BYTES: usize = 64 << 10;

/// The languages. Several are tried: which one a person is answered in is not known here.
static LANGUAGES: [LazyLock<Language>; 5] = [
    LazyLock::new(|| embedded(include_str!("en.yaml"))),
    LazyLock::new(|| embedded(include_str!("pt.yaml"))),
    LazyLock::new(|| embedded(include_str!("es.yaml"))),
    LazyLock::new(|| embedded(include_str!("de.yaml"))),
    LazyLock::new(|| embedded(include_str!("ru.yaml"))),
];

/// Words of which an answer that promises something has one, in the order of [`LANGUAGES`]: without one a language is
/// not even compiled, which takes some 30 ms and 2 MB.
const SIGNS: [&str; 5] = [
    "i'll|i will|i'm|i am|i've|i have|remind|schedul|alarm|timer|alert|you'll| will |from me",
    " te |-te|-vos| vou | irei | eu |rei |rei-| fico |volto|acord|envi|mand|public|receb|lembr|avis|agend|program|\
     alarm|alert|amanha| todo | toda | todos | todas |assim que",
    " te | os | les | le | me | voy |vuelvo|recib|record|avis|program|alarm|alert|agend|\
     pendiente|manana| cada | todos | todas |en cuanto",
    " ich | wir |erinner|wecker|timer|alarm|geplant|eingestellt|benachrichtig|bekomm|erhalt|von mir| mich ",
    "а|е|о",
];

/// How one language promises. Each list holds regular expressions over sentences as `prose` makes them; `<name>` in
/// them stands for one of the `parts`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// What patterns share.
    parts: BTreeMap<String, String>,
    /// What the bot says of itself.
    claims: Vec<String>,
    /// A time to come, or what comes again.
    when: String,
    /// What the bot says of itself that is a promise only together with a time.
    timed: Vec<String>,
    /// What is said to be set or to come, by nobody in particular.
    news: Vec<String>,
    /// Promises that sound like negations.
    surely: Vec<String>,
    /// Who else news may be about: an app, an airline.
    elsewhere: Vec<String>,
    /// What turns a promise of its clause around.
    negations: Vec<String>,
    /// Whether a negation may come behind the verb.
    #[serde(default)]
    negates_behind: bool,
    /// Words that begin another clause, beside marks.
    breaks: Vec<String>,
    /// What makes an offer of a promise, before or behind it.
    conditions: Vec<String>,
    /// What asks for something first; what follows is an offer.
    requests: Vec<String>,
    /// Words behind the last comma of a question that only ask for a nod.
    tags: Vec<String>,
    /// What makes a figure of speech of a sentence.
    figures: Vec<String>,
}

/// [`Written`], compiled.
#[derive(Debug)]
struct Language {
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

/// Whether the bot claims or promises in this answer, in its own words, that it will do something later or again. Takes
/// Markdown in English, Portuguese, Spanish, German or Russian; offers, questions, negations, quotations and code do not count.
#[must_use]
pub fn promises(answer: &str) -> bool {
    let sentences = prose::sentences(answer);
    let has = |sign: &str| sentences.iter().any(|sentence| sentence.contains(sign));
    LANGUAGES.iter().zip(SIGNS).any(|(language, signs)| {
        signs.split('|').any(has) && sentences.iter().any(|sentence| language.promises(sentence))
    })
}

impl Language {
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

    /// A question that wants more than a nod.
    fn asks(&self, sentence: &str) -> bool {
        let Some(question) = sentence.trim_end().strip_suffix('?') else { return false };
        let nod = question.rsplit_once(" , ").map(|(_, nod)| format!(" {} ", nod.trim()));
        !nod.is_some_and(|nod| self.tags.is_match(&nod))
    }

    /// Where one of the patterns is found and nothing takes it back: the sentence up to the end of that statement.
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

    /// What of the clause around a match a negation may stand in.
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
fn embedded(file: &str) -> Language {
    let written: Written = serde_saphyr::from_str(file).expect("a file of promises fits");
    written.compile().expect("patterns of promises compile")
}

impl Written {
    fn compile(self) -> Result<Language, regex::Error> {
        let parts = self.parts;
        let any = |patterns: Vec<String>| {
            let all: Vec<String> = patterns.iter().map(|pattern| with_parts(pattern, &parts)).collect();
            RegexBuilder::new(&all.join("|")).dfa_size_limit(DFA_BYTES).build()
        };
        let mut breaks = self.breaks;
        breaks.push("[,;:.()—] ".to_owned());
        Ok(Language {
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

/// A pattern with its parts in place. Parts may use other parts.
fn with_parts(pattern: &str, parts: &BTreeMap<String, String>) -> String {
    let mut pattern = prose::fold(pattern);
    // A part stands at most two others deep.
    for _ in 0..3 {
        for (name, part) in parts {
            pattern = pattern.replace(&format!("<{name}>"), &format!("(?:{})", prose::fold(part)));
        }
    }
    pattern
}

#[cfg(test)]
mod tests;
