//! Daily caps of the whole bot: decides whether a model may be called, and how long its answer may be. Pure; the ledger
//! keeps the figures.

use figaro_config::SpendingSettings;
use figaro_domain::usage::{Price, Spent, Usage};

/// Default answer limit in tokens if a cap is set: that many are reserved, as an unlimited call could break any cap.
pub const MAX_OUTPUT: u64 = 8_192;
/// Maximum of an explicit answer limit in tokens: one answer must not reserve a whole day.
pub const MAX_ASKED_OUTPUT: u64 = 32_768;
/// Minimum room for an answer in tokens; below it the call is not made.
const MIN_OUTPUT: u64 = 256;
/// Tokens that pages read by a provider's search may add to a call, and its maximum number of searches.
const SEARCH_TOKENS: u64 = 20_000;
const SEARCHES: u64 = 2;

/// Daily limits; `None` for no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caps {
    /// Limit of input and output tokens together.
    pub tokens: Option<u64>,
    /// Limit of money in nano-dollars (10⁻⁹ USD).
    pub nano_usd: Option<u64>,
}

impl From<&SpendingSettings> for Caps {
    fn from(settings: &SpendingSettings) -> Self {
        Self { tokens: settings.daily_tokens, nano_usd: settings.daily_nano_usd }
    }
}

impl Caps {
    /// Returns `true` if any limit is set.
    #[must_use]
    pub const fn is_set(self) -> bool {
        self.tokens.is_some() || self.nano_usd.is_some()
    }

    /// Scales each limit to this percentage.
    #[must_use]
    pub(crate) fn percent(self, percent: u64) -> Self {
        let part = |cap: u64| cap / 100 * percent + cap % 100 * percent / 100;
        Self { tokens: self.tokens.map(part), nano_usd: self.nano_usd.map(part) }
    }

    /// Returns `true` if a model of unknown price may be called: not if money is the only limit.
    #[must_use]
    pub const fn takes_unpriced(self) -> bool {
        self.nano_usd.is_none() || self.tokens.is_some()
    }
}

/// Usage of a day so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DayUsage {
    /// Usage of finished calls.
    pub spent: Spent,
    /// Reservations of calls in progress.
    pub reserved: Spent,
}

/// Upper estimate of a call to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallEstimate {
    /// Tokens of the request, estimated from above.
    pub input: u64,
    /// Maximum tokens of the answer.
    pub output: u64,
    /// `true` if the answer cannot be limited to fewer tokens, such as a picture.
    pub is_whole: bool,
    /// `true` if the provider may search the web.
    pub search: bool,
    /// Highest price among the models that may answer; `None` if no price is known.
    pub price: Option<Price>,
}

/// Decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetDecision {
    /// The call is made within these limits, and `most` is reserved for it.
    Grant {
        /// Maximum tokens of the answer.
        output: u64,
        /// `true` if the provider may still search the web.
        search: bool,
        /// Maximum cost of the call, searches included.
        most: Spent,
    },
    /// The call fits once calls in progress have ended.
    Wait,
    /// The call does not fit into the rest of the day.
    Over,
}

/// Maximum tokens that a turn and its child agents may use together, from the first child on.
pub const TREE_TOKENS: u64 = 200_000;
/// Share of the day's rest that a turn and its child agents may use, in percent; others ask, too.
const TREE_PERCENT: u64 = 75;

/// Minimum tokens for asking a child agent; with less it could not answer.
const MIN_TREE: u64 = 4_000;

/// Returns how many of these tokens may be reserved for a turn and its child agents, at this price of an output token;
/// `None` if too little is left.
#[must_use]
pub fn part_for_tree(caps: Caps, day: DayUsage, tokens: u64, price: Option<Price>) -> Option<u64> {
    let mut gone = day.spent;
    gone += day.reserved;
    let part = |cap: u64, gone: u64| cap.saturating_sub(gone) / 100 * TREE_PERCENT;
    let by_tokens = caps.tokens.map(|cap| part(cap, gone.tokens));
    let by_money = caps
        .nano_usd
        .zip(price)
        .map(|(cap, price)| part(cap, gone.nano_usd).checked_div(price.output).unwrap_or(u64::MAX));
    let part = [by_tokens, by_money].into_iter().flatten().fold(tokens, u64::min);
    (part >= MIN_TREE.min(tokens)).then_some(part)
}

/// Judges a call by the caps and today's usage.
#[must_use]
pub fn judge(caps: Caps, day: DayUsage, wanted: CallEstimate) -> BudgetDecision {
    let plain = CallEstimate { search: false, ..wanted };
    let tries = if wanted.search { vec![wanted, plain] } else { vec![plain] };
    let enough = if wanted.is_whole { wanted.output } else { wanted.output.min(MIN_OUTPUT) };
    let mut both = day.spent;
    both += day.reserved;
    for wanted in &tries {
        let room = room(caps, both, wanted);
        if room >= enough {
            let output = wanted.output.min(room);
            return BudgetDecision::Grant { output, search: wanted.search, most: most(wanted, output) };
        }
    }
    if room(caps, day.spent, &plain) >= enough { BudgetDecision::Wait } else { BudgetDecision::Over }
}

/// Share of the caps open to background work, in percent: the last tenth is for people's questions.
const LEFT_BY_BACKGROUND: u64 = 90;

/// Judges a background call. With its full answer and without a search, it has to fit into the background share of the
/// caps, and into the caps less their last tenth, counting all usage of the day.
#[must_use]
pub fn judge_background(
    caps: Caps,
    percent: u64,
    day: DayUsage,
    background: DayUsage,
    wanted: CallEstimate,
) -> BudgetDecision {
    let wanted = CallEstimate { search: false, ..wanted };
    let of_share = whole(caps.percent(percent), background, &wanted);
    let of_all = whole(caps.percent(LEFT_BY_BACKGROUND), day, &wanted);
    match (of_share, of_all) {
        (BudgetDecision::Over, _) | (_, BudgetDecision::Over) => BudgetDecision::Over,
        (BudgetDecision::Wait, _) | (_, BudgetDecision::Wait) => BudgetDecision::Wait,
        (grant @ BudgetDecision::Grant { .. }, BudgetDecision::Grant { .. }) => grant,
    }
}

/// Returns `true` if the day has anything left for background calls.
#[must_use]
pub fn has_spare(caps: Caps, percent: u64, day: DayUsage, background: DayUsage) -> bool {
    let fits = |caps: Caps, day: DayUsage| {
        let mut gone = day.spent;
        gone += day.reserved;
        let is_less = |cap: Option<u64>, gone: u64| cap.is_none_or(|cap| gone < cap);
        is_less(caps.tokens, gone.tokens) && is_less(caps.nano_usd, gone.nano_usd)
    };
    fits(caps.percent(percent), background) && fits(caps.percent(LEFT_BY_BACKGROUND), day)
}

/// Judges a call that needs its full answer limit.
fn whole(caps: Caps, day: DayUsage, wanted: &CallEstimate) -> BudgetDecision {
    let mut both = day.spent;
    both += day.reserved;
    if room(caps, both, wanted) >= wanted.output {
        let most = most(wanted, wanted.output);
        return BudgetDecision::Grant { output: wanted.output, search: wanted.search, most };
    }
    if room(caps, day.spent, wanted) >= wanted.output { BudgetDecision::Wait } else { BudgetDecision::Over }
}

/// Returns the answer limit in tokens with which all usage stays within the caps.
fn room(caps: Caps, gone: Spent, wanted: &CallEstimate) -> u64 {
    let base = most(wanted, 0);
    let tokens = caps.tokens.map(|cap| left(cap, gone.tokens, base.tokens));
    let money = caps.nano_usd.zip(wanted.price).map(|(cap, price)| {
        let left = left(cap, gone.nano_usd, base.nano_usd);
        if left == 0 { 0 } else { left.checked_div(price.output).unwrap_or(u64::MAX) }
    });
    tokens.unwrap_or(u64::MAX).min(money.unwrap_or(u64::MAX))
}

const fn left(cap: u64, gone: u64, base: u64) -> u64 {
    cap.saturating_sub(gone).saturating_sub(base)
}

/// Returns the maximum cost of a call with an answer of `output` tokens.
fn most(wanted: &CallEstimate, output: u64) -> Spent {
    let (tokens, searches) = if wanted.search { (SEARCH_TOKENS, SEARCHES) } else { (0, 0) };
    let usage = Usage { input: wanted.input.saturating_add(tokens), cached: 0, output };
    Spent::new(usage, searches, wanted.price)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CHEAP: Price = Price { input: 1, cached: 1, output: 4, search: None };

    fn tokens(cap: u64) -> Caps {
        Caps { tokens: Some(cap), nano_usd: None }
    }

    fn day(spent: u64, reserved: u64) -> DayUsage {
        let of = |tokens| Spent { tokens, nano_usd: tokens, unpriced: 0 };
        DayUsage { spent: of(spent), reserved: of(reserved) }
    }

    fn wanted(input: u64) -> CallEstimate {
        CallEstimate { input, output: MAX_OUTPUT, is_whole: false, search: false, price: Some(CHEAP) }
    }

    fn granted(ruling: BudgetDecision) -> Option<(u64, bool)> {
        match ruling {
            BudgetDecision::Grant { output, search, .. } => Some((output, search)),
            BudgetDecision::Wait | BudgetDecision::Over => None,
        }
    }

    #[test]
    fn an_answer_is_as_long_as_there_is_room() {
        let money = Caps { tokens: None, nano_usd: Some(5_000) };
        let cases = [
            (tokens(100_000), day(0, 0), wanted(1_000), Ok(8_192)),
            (tokens(5_000), day(0, 0), wanted(1_000), Ok(4_000)),
            (tokens(5_000), day(3_000, 0), wanted(1_000), Ok(1_000)),
            (tokens(5_000), day(3_000, 900), wanted(1_000), Err(BudgetDecision::Wait)),
            (tokens(5_000), day(3_900, 0), wanted(1_000), Err(BudgetDecision::Over)),
            (money, day(0, 0), wanted(1_000), Ok(1_000)),
            (money, day(4_000, 0), wanted(0), Err(BudgetDecision::Over)),
            (money, day(0, 0), CallEstimate { output: 10, ..wanted(4_960) }, Ok(10)),
            // A picture is drawn whole or not at all.
            (
                tokens(2_000),
                day(0, 0),
                CallEstimate { output: 1_000, is_whole: true, ..wanted(1_000) },
                Ok(1_000),
            ),
            (
                tokens(1_999),
                day(0, 0),
                CallEstimate { output: 1_000, is_whole: true, ..wanted(1_000) },
                Err(BudgetDecision::Over),
            ),
            (money, day(0, 0), CallEstimate { output: 10, ..wanted(4_961) }, Err(BudgetDecision::Over)),
            // A model without a price is bounded by tokens alone.
            (tokens(2_000), day(0, 0), CallEstimate { price: None, ..wanted(1_000) }, Ok(1_000)),
        ];
        for (caps, day, wanted, expected) in cases {
            let ruling = judge(caps, day, wanted);
            assert_eq!(granted(ruling).map(|(output, _)| output).ok_or(ruling), expected, "{caps:?} {day:?}");
        }
    }

    #[test]
    fn a_search_is_left_out_before_the_answer_is() {
        let search = CallEstimate { search: true, ..wanted(1_000) };
        assert_eq!(granted(judge(tokens(50_000), day(0, 0), search)), Some((8_192, true)));
        assert_eq!(granted(judge(tokens(20_000), day(0, 0), search)), Some((8_192, false)));
    }

    #[test]
    fn an_unknown_price_is_taken_where_tokens_are_bounded() {
        let both = Caps { tokens: Some(1), nano_usd: Some(1) };
        let money = Caps { tokens: None, nano_usd: Some(1) };
        let takes = [Caps::default(), tokens(1), both, money].map(Caps::takes_unpriced);
        assert_eq!(takes, [true, true, true, false]);
    }

    #[test]
    fn background_has_a_share_and_leaves_the_last_tenth_to_people() {
        let wanted = CallEstimate { output: 400, ..wanted(600) };
        let none = day(0, 0);
        let cases = [
            (tokens(10_000), none, none, Ok(400)),
            (tokens(9_999), none, none, Err(BudgetDecision::Over)),
            // Of its share.
            (tokens(10_000), none, day(1, 0), Err(BudgetDecision::Over)),
            (tokens(10_000), none, day(0, 1), Err(BudgetDecision::Wait)),
            (tokens(20_000), day(1_000, 0), day(1_000, 0), Ok(400)),
            // Of all.
            (tokens(10_000), day(8_000, 0), none, Ok(400)),
            (tokens(10_000), day(8_001, 0), none, Err(BudgetDecision::Over)),
            (tokens(10_000), day(7_000, 1_001), none, Err(BudgetDecision::Wait)),
            // An answer is not shortened to the room there is.
            (tokens(9_000), none, none, Err(BudgetDecision::Over)),
            (Caps { tokens: None, nano_usd: Some(22_000) }, none, none, Ok(400)),
            (Caps { tokens: None, nano_usd: Some(21_990) }, none, none, Err(BudgetDecision::Over)),
            (Caps::default(), day(9_000_000, 0), day(9_000_000, 0), Ok(400)),
        ];
        for (caps, day, background, expected) in cases {
            let ruling = judge_background(caps, 10, day, background, wanted);
            let granted = granted(ruling).map(|(output, _)| output).ok_or(ruling);
            assert_eq!(granted, expected, "{caps:?} {day:?} {background:?}");
        }
        assert_eq!(
            judge_background(tokens(1_000_000), 0, none, none, wanted),
            BudgetDecision::Over,
            "no share"
        );
        assert!(has_spare(tokens(1_000), 10, day(899, 0), day(99, 0)));
        assert!(!has_spare(tokens(1_000), 10, day(899, 0), day(90, 10)));
        assert!(!has_spare(tokens(1_000), 10, day(800, 100), none));
    }

    proptest! {
        #[test]
        fn what_the_background_is_granted_never_breaks_its_share(
            caps in (proptest::option::of(0..50_000_u64), proptest::option::of(0..50_000_u64)),
            percent in 0..=100_u64,
            gone in (0..4_000_u64, 0..4_000_u64, 0..40_000_u64),
            wanted in (0..3_000_u64, 1..1_000_u64),
        ) {
            let caps = Caps { tokens: caps.0, nano_usd: caps.1 };
            let background = day(gone.0, gone.1);
            let all = day(gone.0 + gone.2, gone.1);
            let wanted = CallEstimate { output: wanted.1, ..self::wanted(wanted.0) };
            if let BudgetDecision::Grant { output, most, .. } = judge_background(caps, percent, all, background, wanted) {
                let fits = |caps: Caps, day: DayUsage| {
                    let mut sum = day.spent;
                    sum += day.reserved;
                    sum += most;
                    caps.tokens.is_none_or(|cap| sum.tokens <= cap) && caps.nano_usd.is_none_or(|cap| sum.nano_usd <= cap)
                };
                prop_assert!(fits(caps.percent(percent), background) && fits(caps.percent(90), all));
                prop_assert_eq!(output, wanted.output);
            }
        }

        #[test]
        fn what_is_granted_never_breaks_a_cap(
            caps in (proptest::option::of(0..50_000_u64), proptest::option::of(0..50_000_u64)),
            gone in (0..40_000_u64, 0..40_000_u64),
            input in 0..30_000_u64,
            output in 1..20_000_u64,
            search: bool,
        ) {
            let caps = Caps { tokens: caps.0, nano_usd: caps.1 };
            let day = day(gone.0, gone.1);
            let wanted = CallEstimate { input, output, is_whole: false, search, price: Some(CHEAP) };
            if let BudgetDecision::Grant { output, most, .. } = judge(caps, day, wanted) {
                let mut all = day.spent;
                all += day.reserved;
                all += most;
                prop_assert!(caps.tokens.is_none_or(|cap| all.tokens <= cap));
                prop_assert!(caps.nano_usd.is_none_or(|cap| all.nano_usd <= cap));
                prop_assert!(output > 0);
            }
        }
    }
}
