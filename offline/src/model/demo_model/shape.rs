//! Shape of a message around a phrase: the words that a topic must account for. One word inside another sentence is no
//! request.

use super::language;
use super::question::DemoQuestion;

/// Place of a phrase in a message that asks for its topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Only polite words around it: `a photo, please`.
    Alone,
    /// Only words of a question around it: `what is on the shopping list?`
    Asked,
    /// Words of a request for a text around it: `explain inflation in two sentences`.
    Told,
    /// As asked, and perhaps a place behind it: `what is the weather in Riga?`
    Placed,
    /// A verb, with polite words before it and anything behind it: `please buy milk`.
    Verb,
    /// A noun, with polite words before it and anything but a statement behind it: `make a poll about lunch`.
    Noun,
}

/// Words that only ask, in any topic.
const POLITE: &str = "please ok now then hello hi hey figaro can could would will you let me us give get send show write make \
                      go roll throw a an some another one your there again \
                      por favor então agora olá oi pode podes poderia você nos mostre mostra mande manda envie envia escreva escreve faça faz \
                      crie cria dê dá jogue joga lance um uma outro outra sua mostre-me mande-me \
                      hola puedes podrías muestra muéstrame mándame envía envíame escribe escríbeme haz hazme crea dame tira lanza un una \
                      otro otra tu";
const ASKED: &str = "what what's which is are on in my our the all list lists read do i we have today tomorrow for o que quais são está \
                     estão na no minhas minha meus nossa as os todas todos tenho há hoje amanhã qué cuáles están en la las los el mis mi nuestra \
                     hay tengo hoy mañana lista listas de";
const TOLD: &str = "explain tell what what's why how is does it the work works in one two three few sentences words briefly simply about \
                    short explique explica conte conta me diga o que é por porque como funciona em duas três frases palavras sobre \
                    qué es cómo el la cuéntame dime dos tres en palabras conte-me diga-me";
const PLACED: &str = "what what's how how's is the like tell will be today tomorrow now here que qual como está é o a as diga diga-me conte \
                      conte-me faz hoje amanhã aqui qué cuál cómo el la las dime cuéntame hace hoy mañana ahora aquí";
/// Words before the name of a place.
const IN: &str = "in for from em no na para en de";
/// Maximum number of words in the name of a place.
const MAX_PLACE: usize = 3;
/// Second words of a statement: `the poll was close`.
const STATES: &str = "is are was were has have had é são foi era está es son fue";

fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Returns `true` for a word that only asks, in lower case.
pub(super) fn is_polite(word: &str) -> bool {
    has(POLITE, word)
}

impl Shape {
    /// Returns `true` if the message asks by one of these phrases, given in lower case.
    pub(super) fn fits(self, question: &DemoQuestion, phrases: &[&str]) -> bool {
        let words: Vec<&str> = question.line.split_whitespace().collect();
        phrases.iter().any(|phrase| {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            let mut places =
                (0..words.len()).filter(|at| words.iter().skip(*at).take(phrase.len()).eq(&phrase));
            places.any(|at| {
                let (before, rest) = words.split_at(at);
                self.is_around(question, before, rest.get(phrase.len()..).unwrap_or_default())
            })
        })
    }

    fn is_around(self, question: &DemoQuestion, before: &[&str], after: &[&str]) -> bool {
        if !before.iter().all(|word| self.accounts_for(word)) {
            return false;
        }
        match self {
            Self::Verb => true,
            Self::Noun => {
                let states = after.iter().take(2).any(|word| has(STATES, word));
                !states || question.text.contains(['?', ':'])
            }
            Self::Placed => {
                let at = after.iter().position(|word| has(IN, word)).unwrap_or(after.len());
                let (said, place) = after.split_at(at);
                said.iter().all(|word| self.accounts_for(word)) && place.len() <= MAX_PLACE + 1
            }
            Self::Alone | Self::Asked | Self::Told => after.iter().all(|word| self.accounts_for(word)),
        }
    }

    fn accounts_for(self, word: &str) -> bool {
        let own = match self {
            Self::Alone | Self::Verb | Self::Noun => "",
            Self::Asked => ASKED,
            Self::Told => TOLD,
            Self::Placed => PLACED,
        };
        is_polite(word) || has(own, word) || self == Self::Told && language::named(&[word]).is_some()
    }
}
