//! Limits on dialogues between bots, which do not end by themselves. Pure.

use std::collections::{HashMap, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};

use figaro_base::ids::{ChatId, UserId};

/// Maximum answers to a bot in a row without a message of a person.
pub(crate) const MAX_IN_A_ROW: usize = 3;
/// Maximum answers to a bot within an hour.
pub(crate) const MAX_AN_HOUR: usize = 10;
/// Window in which answers are counted, and in which a stop is announced once.
const WINDOW: TimeDelta = TimeDelta::hours(1);

/// Decision about a message of another bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BotDecision {
    /// The message is answered.
    Answer,
    /// The message is not answered.
    Stop {
        /// `true` if the stop is to be announced: the first within the window.
        is_first: bool,
    },
}

/// Recent dialogues with other bots. Lost on a restart.
#[derive(Debug, Default)]
pub struct Exchanges(HashMap<(ChatId, UserId), BotDialogue>);

/// Recent dialogue with one bot in one chat.
#[derive(Debug, Default)]
struct BotDialogue {
    in_a_row: usize,
    answered: VecDeque<DateTime<Utc>>,
    last: Option<String>,
    told: Option<DateTime<Utc>>,
}

impl Exchanges {
    /// Judges a message of another bot, and counts it if it is answered.
    pub fn heard(&mut self, chat: ChatId, bot: &UserId, words: &str, now: DateTime<Utc>) -> BotDecision {
        let exchange = self.0.entry((chat, bot.clone())).or_default();
        exchange.answered.retain(|at| now - *at < WINDOW);
        let words = gist(words);
        let is_same = exchange.last.as_ref() == Some(&words);
        exchange.last = Some(words);
        let goes_on = !is_same && exchange.in_a_row < MAX_IN_A_ROW && exchange.answered.len() < MAX_AN_HOUR;
        if goes_on {
            exchange.in_a_row += 1;
            exchange.answered.push_back(now);
            return BotDecision::Answer;
        }
        let is_first = exchange.told.is_none_or(|told| now - told >= WINDOW);
        if is_first {
            exchange.told = Some(now);
        }
        BotDecision::Stop { is_first }
    }

    /// Resets the in-a-row counters of a chat when a person writes there; the hourly limit stays.
    pub fn person_spoke(&mut self, chat: ChatId) {
        for ((_, _), exchange) in self.0.iter_mut().filter(|((there, _), _)| *there == chat) {
            exchange.in_a_row = 0;
            exchange.last = None;
        }
    }
}

/// Returns the letters of a text alone: a repetition may differ in a number, a sign or a space.
fn gist(words: &str) -> String {
    words.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: ChatId = ChatId(-5);
    const TOLD: BotDecision = BotDecision::Stop { is_first: true };
    const SILENT: BotDecision = BotDecision::Stop { is_first: false };

    fn at(minute: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(minute)
    }

    fn bot() -> UserId {
        UserId::telegram(77)
    }

    #[test]
    fn three_in_a_row_are_answered_and_a_person_begins_anew() {
        let mut all = Exchanges::default();
        let said = ["one", "two", "three", "four", "five"];
        let rulings = said.map(|words| all.heard(CHAT, &bot(), words, at(0)));
        assert_eq!(rulings, [BotDecision::Answer, BotDecision::Answer, BotDecision::Answer, TOLD, SILENT]);
        assert_eq!(all.heard(ChatId(-6), &bot(), "one", at(0)), BotDecision::Answer, "another chat");
        assert_eq!(all.heard(CHAT, &UserId::telegram(78), "one", at(0)), BotDecision::Answer, "another bot");
        all.person_spoke(ChatId(-6));
        assert_eq!(all.heard(CHAT, &bot(), "six", at(1)), SILENT);
        all.person_spoke(CHAT);
        assert_eq!(all.heard(CHAT, &bot(), "six", at(1)), BotDecision::Answer);
    }

    #[test]
    fn the_same_words_again_are_not_answered_whatever_number_they_have() {
        let cases = [
            ("Sorry, try again.", "sorry try again", true),
            ("Error 17: no", "Error 18: no", true),
            ("Here is one", "Here is another", false),
            ("привет!", "Привет", true),
        ];
        for (first, second, stops) in cases {
            let mut all = Exchanges::default();
            assert_eq!(all.heard(CHAT, &bot(), first, at(0)), BotDecision::Answer);
            assert_eq!(all.heard(CHAT, &bot(), second, at(0)) == TOLD, stops, "{first} {second}");
            all.person_spoke(CHAT);
            assert_eq!(all.heard(CHAT, &bot(), second, at(0)), BotDecision::Answer, "a person wanted it");
        }
    }

    #[test]
    fn ten_are_answered_within_an_hour_however_often_people_write() {
        let mut all = Exchanges::default();
        let mut answered = |from: i64, count: usize| {
            let rulings = (0..count).map(|number| {
                all.person_spoke(CHAT);
                all.heard(CHAT, &bot(), &"x".repeat(number + 1), at(from))
            });
            let rulings: Vec<BotDecision> = rulings.collect();
            let count = |wanted: BotDecision| rulings.iter().filter(|ruling| **ruling == wanted).count();
            (count(BotDecision::Answer), count(TOLD), count(SILENT))
        };
        assert_eq!(answered(0, 14), (10, 1, 3));
        assert_eq!(answered(59, 2), (0, 0, 2));
        assert_eq!(answered(60, 14), (10, 1, 3));
    }
}
