//! Wishes: a person's statement that applies to later questions. A relevant question often shares no word
//! with it. The word lists are data (`wishes.yaml`).

use std::sync::LazyLock;

use serde::Deserialize;

use super::facts::{LEXICON, LexiconTerms, NormalizedText, sentences};

/// Maximum tokens of a statement of taste; in a longer message it is said in passing.
const SHORT_TOKENS: usize = 25;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WishWords {
    fillers: Vec<String>,
    orders: LexiconTerms,
    unless: LexiconTerms,
    occasions: LexiconTerms,
    likings: LexiconTerms,
}

static WORDS: LazyLock<WishWords> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("wishes.yaml")).unwrap_or_default());

/// Statement in a person's message that matters for later questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatedWish {
    /// Applies to all later questions: an order to the bot, or a short statement of likes or dislikes.
    Standing = 1,
    /// A taste that a question begins with, as in "I prefer trains, how do I get to Lyon?".
    Taste = 2,
}

impl StatedWish {
    /// Returns the wish with this number in a stored index.
    pub(crate) const fn of_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Standing),
            2 => Some(Self::Taste),
            _ => None,
        }
    }

    /// Returns the wish that a message of `tokens` tokens states; `None` if it states none.
    pub(super) fn of(text: &str, tokens: usize) -> Option<Self> {
        let plain = NormalizedText::of(text);
        let has_liking = WORDS.likings.are_in(&plain);
        if has_liking && !is_asked(text) && tokens <= SHORT_TOKENS {
            return Some(Self::Standing);
        }
        let has_occasion =
            |plain: &NormalizedText| WORDS.occasions.are_in(plain) || LEXICON.standing.are_in(plain);
        let may_have = has_occasion(&plain);
        let is_order = sentences(text).into_iter().filter(|sentence| !is_asked(sentence)).any(|sentence| {
            let plain = NormalizedText::of(sentence);
            begins_order(&plain) || (may_have && has_occasion(&plain))
        });
        match (is_order, has_liking && begins_with_taste(text)) {
            (true, _) => Some(Self::Standing),
            (false, true) => Some(Self::Taste),
            (false, false) => None,
        }
    }
}

fn is_asked(text: &str) -> bool {
    text.contains(['?', '？', '؟'])
}

/// Returns `true` if a question has a liking before its last comma.
fn begins_with_taste(text: &str) -> bool {
    sentences(text).into_iter().filter(|sentence| is_asked(sentence)).any(|sentence| {
        let told = sentence.rsplit_once([',', '，', '、', '،']).map(|(told, _)| NormalizedText::of(told));
        told.is_some_and(|told| WORDS.likings.are_in(&told))
    })
}

fn begins_order(sentence: &NormalizedText) -> bool {
    let telling = sentence.words().position(|word| !WORDS.fillers.iter().any(|filler| filler == word));
    let telling = sentence.without_first_words(telling.unwrap_or(0));
    WORDS.orders.begin(&telling) && !WORDS.unless.begin(&telling)
}

#[cfg(test)]
mod tests {
    use super::*;
    use figaro_base::text::estimate_tokens;

    #[test]
    fn orders_likings_and_tastes_before_a_question_are_wishes_and_other_talk_is_not() {
        let standing = [
            "Please never put anise in anything for me.",
            "Always format dates as DD/MM when I ask about schedules.",
            "Thanks! And never call me Robert.",
            "From now on answer in one sentence.",
            "I can't stand coriander.",
            "I prefer trains to planes.",
            "We eat at six. I don't eat pork.",
            "Por favor, nunca use emojis comigo.",
            "Bitte keine Rosinen für mich.",
            "Je ne mange pas de viande.",
            "Никогда не звони мне утром.",
            "以后请用公制单位。",
            "Asla fındık koyma.",
        ];
        let tastes = [
            "I prefer trains over planes, how do I get to Lyon?",
            "I'm setting up a page and I prefer Bootstrap due to its documentation, can you help with it?",
            "Hi! We meet on Monday. I don't eat pork, what could I cook for us?",
            "Ich bevorzuge Züge, wie komme ich nach Lyon?",
            "我更喜欢火车，怎么去里昂？",
        ];
        let others = [
            "My sister keeps bees in Vilnius.",
            "I have always lived here.",
            "I always enjoy a day at the sea.",
            "Don't give up on your dreams!",
            "Never heard of it, but it sounds interesting.",
            "Always happy to help.",
            "Have you never been to Riga?",
            "Never mind?",
            "What do you prefer?",
            "The Plover is gone, since Tuesday it is a Dunlin for me.",
            "Ho sempre abitato qui.",
            "",
            "Well, do you think I prefer trains?",
            "How do I get to Lyon, by train?",
            "Never mind, what should I prefer?",
            "We went to the market and looked at all of the stalls, which took us the whole morning, and I prefer the \
             one by the bridge, where the old man sells his cheese, to the other one.",
        ];
        let wishes = [
            (&standing[..], Some(StatedWish::Standing)),
            (&tastes[..], Some(StatedWish::Taste)),
            (&others[..], None),
        ];
        for (text, wish) in wishes.iter().flat_map(|(texts, wish)| texts.iter().map(move |text| (text, wish)))
        {
            assert_eq!(StatedWish::of(text, estimate_tokens(text)), *wish, "{text}");
        }
    }
}
