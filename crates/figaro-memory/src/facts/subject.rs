//! Subject of a sentence: its writer, with the people and animals of their life, or others.

use super::lexicon::{LEXICON, LexiconTerms, NormalizedText};

/// Subject of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SentenceSubject {
    /// The writer, or somebody of their family.
    Writer,
    Others,
    /// No subject is named.
    Nobody,
}

/// Maximum distance in words from a possessive to its noun.
const NEAR: usize = 4;
/// Maximum words that name a source: `according to the article`.
const SOURCE: usize = 5;

/// Returns the clauses of a sentence and the subject of each. A pronoun continues the previous subject if that was of the
/// writer's life. A report of others about the writer counts as theirs, up to a word such as `but`.
pub(super) fn clauses(sentence: &str) -> Vec<(NormalizedText, SentenceSubject)> {
    let mut found: Vec<(NormalizedText, SentenceSubject)> = Vec::new();
    let mut is_claim = false;
    for (clause, turns) in split(sentence) {
        let plain = NormalizedText::of(clause);
        if plain.0.trim().is_empty() {
            continue;
        }
        let report = report_in(&plain);
        is_claim = report.is_some() || (is_claim && !turns);
        if report == Some(Report::OfWhatWasSaid) {
            for (_, about) in &mut found {
                *about = SentenceSubject::Others;
            }
        }
        let own_before = found.last().is_some_and(|(before, about)| {
            *about == SentenceSubject::Writer && LEXICON.family.are_in(before)
        });
        let about = match (whom(&plain), found.last()) {
            _ if is_claim => SentenceSubject::Others,
            (SentenceSubject::Others, _) if own_before && !LEXICON.others.are_in(&plain) => {
                SentenceSubject::Writer
            }
            // It continues the clause before.
            (SentenceSubject::Nobody, Some((_, before))) => *before,
            (about, _) => about,
        };
        found.push((plain, about));
    }
    found
}

/// Splits a sentence into clauses, with `true` for each that contrasts with the one before.
pub(super) fn split(sentence: &str) -> Vec<(&str, bool)> {
    const JOINS: [(&str, bool); 22] = [
        (" and ", false),
        (" but ", true),
        (" because ", false),
        (" while ", false),
        (" und ", false),
        (" aber ", true),
        (" weil ", false),
        (" et ", false),
        (" mais ", true),
        (" e ", false),
        (" mas ", true),
        (" y ", false),
        (" pero ", true),
        (" porque ", false),
        (" ma ", true),
        (" и ", false),
        (" а ", true),
        (" но ", true),
        (" ve ", false),
        (" ama ", true),
        (" en ", false),
        (" maar ", true),
    ];
    let marks = sentence.split([',', ';', ':', '(', ')', '—', '–', '，', '、', '；', '،']);
    // A normalised text begins with a space.
    let turns = |part: &str| LEXICON.contrasts.first_in(&NormalizedText::of(part)) == Some(1);
    let mut parts: Vec<(&str, bool)> =
        marks.flat_map(|part| part.split(" - ")).map(|part| (part, turns(part))).collect();
    for (join, turns) in JOINS {
        let before = std::mem::take(&mut parts);
        for (part, turned) in before {
            let pieces = part.split(join).enumerate();
            parts.extend(pieces.map(|(at, piece)| (piece, if at == 0 { turned } else { turns })));
        }
    }
    parts
}

/// Marks a clause that reports what somebody else says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Report {
    /// The report is in this clause and the next ones.
    OfWhatFollows,
    /// The report was in the clauses before: `…, the article says`.
    OfWhatWasSaid,
}

/// Finds a report of others in a clause. The writer's own words or thoughts, and those of a doctor, do not count.
fn report_in(clause: &NormalizedText) -> Option<Report> {
    let words = &*LEXICON;
    // A normalised text begins with a space.
    let begins = words.sources.first_in(clause) == Some(1);
    let at = if begins { 1 } else { words.reports.first_in(clause)? };
    let is_before = |list: &LexiconTerms| list.first_in(clause).is_some_and(|other| other <= at);
    if is_before(&words.thoughts) || is_before(&words.experts) {
        return None;
    }
    // A word or two name the source: `according to the article`, `the article says`.
    let rest = clause.from(at);
    let is_all = clause.words().count() <= SOURCE && !words.subjects.are_in(&rest);
    let is_behind = begins || rest.words().count() <= 2;
    Some(if is_all && is_behind { Report::OfWhatWasSaid } else { Report::OfWhatFollows })
}

/// Returns the subject of a clause, taken by itself.
fn whom(clause: &NormalizedText) -> SentenceSubject {
    let words = &*LEXICON;
    let thought = words.thoughts.first_in(clause);
    let source = words.sources.first_in(clause).filter(|at| *at == 1);
    if let Some(at) = thought.into_iter().chain(source).chain(words.reports.first_in(clause)).min() {
        // The writer's thought or observation has the subject of its rest.
        let rest = clause.from(at);
        let count = rest.words().count();
        let rest = NormalizedText(format!(" {} ", rest.words().skip(2).collect::<Vec<_>>().join(" ")));
        let is_own = count > 2 && whom_plainly(&rest) == SentenceSubject::Writer;
        return if is_own { SentenceSubject::Writer } else { SentenceSubject::Others };
    }
    whom_plainly(clause)
}

fn whom_plainly(clause: &NormalizedText) -> SentenceSubject {
    let words = &*LEXICON;
    let subject = words.subjects.first_in(clause);
    let possessive = words.possessives.first_in(clause);
    let pronoun = words.pronouns.first_in(clause);
    let other = words.others.first_in(clause);
    let first = subject.into_iter().chain(possessive).min();
    let Some(first) = first else {
        return match (words.objects.are_in(clause), pronoun.or(other)) {
            (_, Some(_)) => SentenceSubject::Others,
            (true, None) => SentenceSubject::Writer,
            (false, None) if words.beginnings.are_in(&clause.first_words(NEAR)) => SentenceSubject::Writer,
            (false, None) => SentenceSubject::Nobody,
        };
    };
    if pronoun.is_some_and(|pronoun| pronoun < first) || other.is_some_and(|other| other < first) {
        return SentenceSubject::Others;
    }
    // `My neighbour …` is about the neighbour, `I work with my neighbour …` is not.
    if subject.is_none_or(|subject| possessive.is_some_and(|possessive| possessive <= subject)) {
        let near = clause.from(first).first_words(NEAR);
        if words.others.are_in(&near) {
            return SentenceSubject::Others;
        }
    }
    SentenceSubject::Writer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(sentence: &str) -> Vec<SentenceSubject> {
        clauses(sentence).into_iter().map(|(_, about)| about).collect()
    }

    #[test]
    fn it_is_known_whom_a_sentence_is_about() {
        use SentenceSubject::{Nobody, Others, Writer};
        let cases: [(&str, &[SentenceSubject]); 26] = [
            ("I live in Riga", &[Writer]),
            ("My daughter Mia is 5 and she loves horses", &[Writer, Writer]),
            ("My neighbour Bob has diabetes", &[Others]),
            ("my best friend Ana is pregnant", &[Others]),
            ("I work with my friend Ana", &[Writer]),
            ("I heard that Bob is ill", &[Others]),
            ("I know my wife loves tulips", &[Writer]),
            ("Bob is HIV positive", &[Nobody]),
            ("Bob told me he has diabetes", &[Others]),
            ("She lives in Rome", &[Others]),
            ("Allergic to nuts", &[Writer]),
            ("Moro em Lisboa", &[Writer]),
            ("Meu vizinho está doente", &[Others]),
            ("Mein Nachbar ist krank, aber ich bin gesund", &[Others, Writer]),
            ("Мой сосед болеет", &[Others]),
            ("У меня аллергия на орехи", &[Writer]),
            ("Riga'da yaşıyorum", &[Writer]),
            ("我住在里加", &[Writer]),
            ("他住在里加", &[Others]),
            ("我的邻居有糖尿病", &[Others]),
            ("Nuts make me ill", &[Writer]),
            ("I think I am allergic to nuts", &[Writer]),
            ("As I said, I live in Riga", &[Others, Writer]),
            ("I handle insurance claims", &[Writer]),
            ("My doctor told me that I have diabetes", &[Writer]),
            ("The doctor says I am allergic to penicillin", &[Writer]),
        ];
        for (sentence, wanted) in cases {
            assert_eq!(about(sentence), wanted, "{sentence}");
        }
    }
    #[test]
    fn what_others_say_of_the_writer_is_theirs() {
        for sentence in [
            "The article claims that I live in Turin",
            "The article claims I live in Turin and work as a baker",
            "The article claims that I live in Turin, and that I have two cats",
            "ChatGPT told me that I live in Basel",
            "I was told that I live in Basel",
            "According to the article, I live in Turin",
            "I live in Turin, according to the article",
            "I live in Turin, the article says",
            "My boss thinks that I am a vegetarian",
            "People say I live in Turin",
            "O artigo afirma que moro em Turim",
            "O ChatGPT me disse que eu moro em Basileia",
            "Segundo o artigo, moro em Turim",
            "Dizem que eu moro em Turim",
            "El artículo afirma que vivo en Turín",
            "Según ChatGPT, vivo en Basilea",
            "Der Artikel behauptet, dass ich in Turin wohne",
            "ChatGPT hat mir gesagt, dass ich in Basel wohne",
            "Laut dem Artikel wohne ich in Turin",
            "L'article affirme que j'habite à Turin",
            "Selon ChatGPT, je vis à Bâle",
            "ChatGPT m'a dit que j'habite à Bâle",
            "L'articolo sostiene che io vivo a Torino",
            "Secondo ChatGPT, abito a Basilea",
            "Статья утверждает, что я живу в Турине",
            "ChatGPT сказал, что я живу в Базеле",
            "Makaleye göre Torino'da yaşıyorum",
            "ChatGPT Basel'de yaşıyorum diyor",
            "Volgens het artikel woon ik in Turijn",
            "Artykuł twierdzi, że mieszkam w Turynie",
            "文章声称我住在都灵",
            "ChatGPT告诉我我住在巴塞尔",
            "記事によると私はトリノに住んでいる",
            "يزعم المقال اني اعيش في تورينو",
            "लेख के अनुसार मैं ट्यूरिन में रहता हूँ",
        ] {
            let found = about(sentence);
            assert!(found.iter().all(|about| *about != SentenceSubject::Writer), "{sentence}: {found:?}");
        }
        for sentence in [
            "The article claims that I live in Turin, but I live in Riga",
            "O artigo diz que moro em Turim, mas moro em Riga",
            "Статья утверждает, что я живу в Турине, но я живу в Риге",
            "文章声称我住在都灵，但我住在里加",
        ] {
            assert_eq!(about(sentence).last(), Some(&SentenceSubject::Writer), "{sentence}");
        }
        for sentence in [
            "Abito a Roma, al secondo piano",
            "Ich wohne in Berlin, die Wohnung ist laut",
            "I live in Riga, that said, I travel a lot",
        ] {
            assert_eq!(about(sentence).first(), Some(&SentenceSubject::Writer), "{sentence}");
        }
    }
}
