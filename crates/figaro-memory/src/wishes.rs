//! Standing wishes: a person's statement that applies to all later questions. A relevant question often shares no word
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

/// Returns `true` if a person's message of `tokens` tokens states a standing wish: an order to the bot, or a short
/// statement of likes or dislikes.
pub(super) fn is_wish(text: &str, tokens: usize) -> bool {
    let is_asked = |text: &str| text.contains(['?', '？', '؟']);
    let plain = NormalizedText::of(text);
    if !is_asked(text) && tokens <= SHORT_TOKENS && WORDS.likings.are_in(&plain) {
        return true;
    }
    let has_occasion =
        |plain: &NormalizedText| WORDS.occasions.are_in(plain) || LEXICON.standing.are_in(plain);
    let may_have = has_occasion(&plain);
    sentences(text).into_iter().filter(|sentence| !is_asked(sentence)).any(|sentence| {
        let plain = NormalizedText::of(sentence);
        begins_order(&plain) || (may_have && has_occasion(&plain))
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

    fn says_wish(text: &str) -> bool {
        is_wish(text, estimate_tokens(text))
    }

    #[test]
    fn orders_and_likings_are_wishes_and_other_talk_is_not() {
        let wishes = [
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
        for text in wishes {
            assert!(says_wish(text), "{text}");
        }
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
        ];
        for text in others {
            assert!(!says_wish(text), "{text}");
        }
        let long = "We went to the market and looked at all of the stalls, which took us the whole morning, \
                    and I prefer the one by the bridge, where the old man sells his cheese, to the other one.";
        assert!(!says_wish(long), "said by the way");
    }
}
