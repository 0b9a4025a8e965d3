//! Decides by limits on spending whether a model may be called, and how long its answer may be. Pure; the ledger keeps the
//! figures.

use figaro_domain::budget::Caps;
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
/// Share of a limit open to background work, in percent: the last tenth is for people's questions.
pub const LEFT_BY_BACKGROUND: u64 = 90;

/// Usage of a day or a month so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PeriodUsage {
    /// Usage of finished calls.
    pub spent: Spent,
    /// Reservations of calls in progress.
    pub reserved: Spent,
}

impl PeriodUsage {
    /// Returns the usage if every call in progress takes all that is reserved for it.
    #[must_use]
    pub fn at_most(self) -> Spent {
        let mut both = self.spent;
        both += self.reserved;
        both
    }
}

/// A limit on a call, and what is used of it. All limits of a call hold at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// Tokens and money that the limit allows.
    pub caps: Caps,
    /// Tokens and money used in the period, and reserved by calls in progress.
    pub usage: PeriodUsage,
}

/// Upper estimate of a call to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallEstimate {
    /// Tokens of the request, estimated from above.
    pub input: u64,
    /// Maximum tokens of the answer.
    pub output: u64,
    /// `true` if the answer cannot be limited to fewer tokens, such as a picture or background work.
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
    /// The call does not fit into the rest of this bound, given by its place.
    Over(usize),
}

/// Maximum tokens that a turn and its child agents may use together, from the first child on.
pub const TREE_TOKENS: u64 = 200_000;
/// Share of the rest of each limit that a turn and its child agents may use, in percent; others ask, too.
const TREE_PERCENT: u64 = 75;

/// Minimum tokens for asking a child agent; with less it could not answer.
const MIN_TREE: u64 = 4_000;

/// Returns how many of these tokens may be reserved for a turn and its child agents, at this price of an output token.
///
/// # Errors
/// The place of the bound that leaves too little.
pub fn part_for_tree(bounds: &[Bound], tokens: u64, price: Option<Price>) -> Result<u64, usize> {
    let part = |cap: u64, gone: u64| cap.saturating_sub(gone) / 100 * TREE_PERCENT;
    let most = |bound: &Bound| {
        let gone = bound.usage.at_most();
        let by_tokens = bound.caps.tokens.map(|cap| part(cap, gone.tokens));
        let by_money = bound
            .caps
            .nano_usd
            .zip(price)
            .map(|(cap, price)| part(cap, gone.nano_usd).checked_div(price.output).unwrap_or(u64::MAX));
        by_tokens.into_iter().chain(by_money).fold(tokens, u64::min)
    };
    let tightest = bounds.iter().map(most).enumerate().min_by_key(|(_, part)| *part);
    match tightest {
        Some((at, part)) if part < MIN_TREE.min(tokens) => Err(at),
        Some((_, part)) => Ok(part),
        None => Ok(tokens),
    }
}

/// Judges a call by its bounds and their usage.
#[must_use]
pub fn judge(bounds: &[Bound], wanted: CallEstimate) -> BudgetDecision {
    let plain = CallEstimate { search: false, ..wanted };
    let tries = if wanted.search { vec![wanted, plain] } else { vec![plain] };
    let enough = if wanted.is_whole { wanted.output } else { wanted.output.min(MIN_OUTPUT) };
    for wanted in &tries {
        let rooms = bounds.iter().map(|bound| room(bound.caps, bound.usage.at_most(), wanted));
        let room = rooms.fold(u64::MAX, u64::min);
        if room >= enough {
            let output = wanted.output.min(room);
            return BudgetDecision::Grant { output, search: wanted.search, most: most(wanted, output) };
        }
    }
    let is_over = |bound: &Bound| room(bound.caps, bound.usage.spent, &plain) < enough;
    bounds.iter().position(is_over).map_or(BudgetDecision::Wait, BudgetDecision::Over)
}

/// Returns `true` if each bound has anything left.
#[must_use]
pub fn has_spare(bounds: &[Bound]) -> bool {
    let is_less = |cap: Option<u64>, gone: u64| cap.is_none_or(|cap| gone < cap);
    bounds.iter().all(|Bound { caps, usage }| {
        let gone = usage.at_most();
        is_less(caps.tokens, gone.tokens) && is_less(caps.nano_usd, gone.nano_usd)
    })
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

    fn bound(caps: Caps, spent: u64, reserved: u64) -> Bound {
        let of = |tokens| Spent { tokens, nano_usd: tokens, unpriced: 0 };
        Bound { caps, usage: PeriodUsage { spent: of(spent), reserved: of(reserved) } }
    }

    fn wanted(input: u64) -> CallEstimate {
        CallEstimate { input, output: MAX_OUTPUT, is_whole: false, search: false, price: Some(CHEAP) }
    }

    /// Returns the granted answer limit, or what was decided in its place.
    fn answer(ruling: BudgetDecision) -> Result<u64, BudgetDecision> {
        match ruling {
            BudgetDecision::Grant { output, .. } => Ok(output),
            other => Err(other),
        }
    }

    #[test]
    fn an_answer_is_as_long_as_there_is_room() {
        use BudgetDecision::{Over, Wait};
        let money = Caps { tokens: None, nano_usd: Some(5_000) };
        let whole = |input, output| CallEstimate { output, is_whole: true, ..wanted(input) };
        let cases = [
            (bound(tokens(100_000), 0, 0), wanted(1_000), Ok(8_192)),
            (bound(tokens(5_000), 0, 0), wanted(1_000), Ok(4_000)),
            (bound(tokens(5_000), 3_000, 0), wanted(1_000), Ok(1_000)),
            (bound(tokens(5_000), 3_000, 900), wanted(1_000), Err(Wait)),
            (bound(tokens(5_000), 3_900, 0), wanted(1_000), Err(Over(0))),
            (bound(money, 0, 0), wanted(1_000), Ok(1_000)),
            (bound(money, 4_000, 0), wanted(0), Err(Over(0))),
            (bound(money, 0, 0), CallEstimate { output: 10, ..wanted(4_960) }, Ok(10)),
            (bound(money, 0, 0), CallEstimate { output: 10, ..wanted(4_961) }, Err(Over(0))),
            // A picture is drawn whole or not at all.
            (bound(tokens(2_000), 0, 0), whole(1_000, 1_000), Ok(1_000)),
            (bound(tokens(1_999), 0, 0), whole(1_000, 1_000), Err(Over(0))),
            (bound(tokens(2_000), 0, 1), whole(1_000, 1_000), Err(Wait)),
            // A model without a price is bounded by tokens alone.
            (bound(tokens(2_000), 0, 0), CallEstimate { price: None, ..wanted(1_000) }, Ok(1_000)),
        ];
        for (bound, wanted, expected) in cases {
            assert_eq!(answer(judge(&[bound], wanted)), expected, "{bound:?} {wanted:?}");
        }
        assert_eq!(answer(judge(&[], wanted(1_000))), Ok(8_192), "no bound");
    }

    #[test]
    fn all_bounds_hold_at_once() {
        let (wide, tight) = (bound(tokens(100_000), 0, 0), bound(tokens(5_000), 1_000, 0));
        let full = bound(tokens(5_000), 4_900, 0);
        let busy = bound(tokens(5_000), 0, 4_900);
        assert_eq!(answer(judge(&[wide, tight], wanted(1_000))), Ok(3_000));
        assert_eq!(judge(&[wide, busy], wanted(1_000)), BudgetDecision::Wait);
        assert_eq!(judge(&[wide, full, busy], wanted(1_000)), BudgetDecision::Over(1));
        assert_eq!(part_for_tree(&[wide, tight], 200_000, None), Err(1));
        assert_eq!(part_for_tree(&[wide], 200_000, None), Ok(75_000));
        assert_eq!(part_for_tree(&[], 200_000, None), Ok(200_000));
        assert!(has_spare(&[wide, tight, full]) && !has_spare(&[wide, bound(tokens(900), 0, 900)]));
    }

    #[test]
    fn a_search_is_left_out_before_the_answer_is() {
        let search = CallEstimate { search: true, ..wanted(1_000) };
        let granted = |cap| match judge(&[bound(tokens(cap), 0, 0)], search) {
            BudgetDecision::Grant { output, search, .. } => Some((output, search)),
            BudgetDecision::Wait | BudgetDecision::Over(_) => None,
        };
        assert_eq!(granted(50_000), Some((8_192, true)));
        assert_eq!(granted(20_000), Some((8_192, false)));
    }

    #[test]
    fn an_unknown_price_is_taken_where_tokens_are_bounded() {
        let both = Caps { tokens: Some(1), nano_usd: Some(1) };
        let money = Caps { tokens: None, nano_usd: Some(1) };
        let takes = [Caps::default(), tokens(1), both, money].map(Caps::takes_unpriced);
        assert_eq!(takes, [true, true, true, false]);
    }

    proptest! {
        #[test]
        fn a_grant_never_breaks_a_bound(
            bounds in proptest::collection::vec(
                (proptest::option::of(0..50_000_u64), proptest::option::of(0..50_000_u64), 0..4_000_u64, 0..4_000_u64),
                0..5,
            ),
            wanted in (0..3_000_u64, 1..9_000_u64, any::<bool>(), any::<bool>()),
        ) {
            let of = |(tokens, nano_usd, spent, reserved)| bound(Caps { tokens, nano_usd }, spent, reserved);
            let bounds: Vec<Bound> = bounds.into_iter().map(of).collect();
            let (input, output, is_whole, search) = wanted;
            let wanted = CallEstimate { input, output, is_whole, search, price: Some(CHEAP) };
            if let BudgetDecision::Grant { output, most, .. } = judge(&bounds, wanted) {
                for Bound { caps, usage } in bounds {
                    let mut sum = usage.at_most();
                    sum += most;
                    prop_assert!(caps.tokens.is_none_or(|cap| sum.tokens <= cap), "{caps:?} {usage:?} {most:?}");
                    prop_assert!(caps.nano_usd.is_none_or(|cap| sum.nano_usd <= cap), "{caps:?} {usage:?} {most:?}");
                }
                prop_assert!(output == wanted.output || !wanted.is_whole, "a whole answer is not shortened");
            }
        }
    }
}
