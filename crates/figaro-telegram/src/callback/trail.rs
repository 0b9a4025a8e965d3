//! The way by which a card was reached: letters before the data of its buttons, one for each card of another command that it
//! leads back through. The table of commands reads and writes it; commands only mark their first cards, and the buttons that lead
//! to those of others.

use super::{Config, Data, DenyHere, MAX_BYTES, Privacy, Start};

/// Parts the letters of the way from the data of the button.
const END: char = '>';

/// A card with buttons that open cards of other commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParentCard {
    /// The card of `/start`.
    Start,
    /// The card of `/config`.
    Config,
    /// The card of `/allow`.
    Allow,
    /// The card of `/deny`.
    Deny,
    /// The card of `/privacy`.
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
            Self::Start => Start::Back.into(),
            Self::Config => Config::Show.into(),
            Self::Allow => Start::Access.into(),
            Self::Deny => DenyHere::Show.into(),
            Self::Privacy => Privacy.into(),
        }
    }
}

/// The cards through which a card was reached, the first first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trail(Vec<ParentCard>);

impl Trail {
    /// The way that data of a button begins with, and the rest of the data; no way for data without one.
    pub(crate) fn read(data: &str) -> (Self, &str) {
        let cards = |way: &str| {
            let card = |letter| ParentCard::ALL.into_iter().find(|card| card.letter() == letter);
            way.chars().map(card).collect::<Option<Vec<_>>>()
        };
        let parted = data.split_once(END).and_then(|(way, rest)| Some((Self(cards(way)?), rest)));
        parted.unwrap_or((Self::default(), data))
    }

    /// The same with this card behind it.
    pub(crate) fn through(&self, parent: Option<ParentCard>) -> Self {
        Self(self.0.iter().copied().chain(parent).collect())
    }

    /// The data that leads back to the last card.
    pub(crate) fn back(&self) -> Option<Data> {
        let (last, before) = self.0.split_last()?;
        Some(Self(before.to_vec()).lead(last.data()))
    }

    /// Data with this way before it; the data alone where there is no room for both.
    pub(crate) fn lead(&self, data: Data) -> Data {
        let way: String = self.0.iter().map(|card| card.letter()).collect();
        let led = format!("{way}{END}{}", data.0);
        if way.is_empty() || led.len() > MAX_BYTES { data } else { Data(led) }
    }
}
