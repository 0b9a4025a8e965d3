//! Trail of cards by which a card was reached: one letter before the data of its buttons for each card of another
//! command that Back leads through. The command table reads and writes the trail; commands only mark their first
//! cards and the buttons that open cards of other commands.

use super::{ConfigButton, Data, DenyHereButton, MAX_BYTES, PrivacyButton, StartButton};

/// Separates the letters of the trail from the data of the button.
const END: char = '>';

/// A card with buttons that open cards of other commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParentCard {
    /// Card of `/start`; `s` in a trail.
    Start,
    /// Card of `/config`; `c` in a trail.
    Config,
    /// Card of `/allow`; `a` in a trail.
    Allow,
    /// Card of `/deny`; `d` in a trail.
    Deny,
    /// Card of `/privacy`; `p` in a trail.
    Privacy,
}

impl ParentCard {
    const ALL: [Self; 5] = [Self::Start, Self::Config, Self::Allow, Self::Deny, Self::Privacy];

    const fn letter(self) -> char {
        match self {
            Self::Start => 's',
            Self::Config => 'c',
            Self::Allow => 'a',
            Self::Deny => 'd',
            Self::Privacy => 'p',
        }
    }

    fn data(self) -> Data {
        match self {
            Self::Start => StartButton::Back.into(),
            Self::Config => ConfigButton::Show.into(),
            Self::Allow => StartButton::Access.into(),
            Self::Deny => DenyHereButton::Show.into(),
            Self::Privacy => PrivacyButton.into(),
        }
    }
}

/// Cards through which a card was reached, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trail(Vec<ParentCard>);

impl Trail {
    /// Splits data into its trail and the rest. Without a trail, the trail is empty.
    pub(crate) fn read(data: &str) -> (Self, &str) {
        let cards = |way: &str| {
            let card = |letter| ParentCard::ALL.into_iter().find(|card| card.letter() == letter);
            way.chars().map(card).collect::<Option<Vec<_>>>()
        };
        let parted = data.split_once(END).and_then(|(way, rest)| Some((Self(cards(way)?), rest)));
        parted.unwrap_or((Self::default(), data))
    }

    /// Returns the trail with this card appended.
    pub(crate) fn through(&self, parent: Option<ParentCard>) -> Self {
        Self(self.0.iter().copied().chain(parent).collect())
    }

    /// Returns the data that opens the last card of the trail; `None` if the trail is empty.
    pub(crate) fn back(&self) -> Option<Data> {
        let (last, before) = self.0.split_last()?;
        Some(Self(before.to_vec()).lead(last.data()))
    }

    /// Prepends the trail to data; returns the data alone if both do not fit.
    pub(crate) fn lead(&self, data: Data) -> Data {
        let way: String = self.0.iter().map(|card| card.letter()).collect();
        let led = format!("{way}{END}{}", data.0);
        if way.is_empty() || led.len() > MAX_BYTES { data } else { Data(led) }
    }
}
