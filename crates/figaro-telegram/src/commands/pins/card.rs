//! Cards of pins: the list, and one pin.

use chrono::{DateTime, Utc};
use figaro_base::tz::Tz;

use super::super::card::Card;
use super::super::list_page::ListPage;
use crate::callback::{Page, PinsButton};
use crate::send::Button;
use figaro_base::text::{cut_middle, one_line};
use figaro_domain::pin::{Pin, PinType, SystemPin, VITAL};
use figaro_prompts::texts::{Texts, fill};

/// Maximum length of a pin on a button, in characters.
const BUTTON_CHARS: usize = 50;
/// Number of characters of the start of a pin, and of its end, that a card shows.
const PART_CHARS: usize = 700;

#[derive(Debug, Clone, Copy)]
pub(super) struct PinCards<'a> {
    pub(super) texts: &'a Texts,
    pub(super) zone: Tz,
    pub(super) now: DateTime<Utc>,
}

impl PinCards<'_> {
    /// Returns a page of the pins of a chat: most important first, then newest first.
    pub(super) fn list(&self, pins: &[Pin], page: Page) -> Card {
        let mut shown: Vec<&Pin> = pins.iter().filter(|pin| pin.about.is_none()).collect();
        if shown.is_empty() {
            return Card::text(self.texts.pins_empty());
        }
        shown.sort_by(|one, other| {
            other.importance.total_cmp(&one.importance).then(other.created_at.cmp(&one.created_at))
        });
        let page = ListPage::of(shown, page);
        let open = |pin: &Pin| {
            vec![Button::new(one_line(&pin.content, BUTTON_CHARS), PinsButton::Open(pin.id, page.number()))]
        };
        let own = pins.iter().filter_map(|pin| self.own(pin));
        let lines: Vec<String> = std::iter::once(self.texts.pins_about().to_owned()).chain(own).collect();
        Card::titled(self.texts.pins_title(), lines.join("\n")).list(
            self.texts,
            &page,
            |pin| open(pin),
            PinsButton::List,
        )
    }

    /// Returns the line of a pin that Figaro itself maintains; `None` for other pins.
    fn own(&self, pin: &Pin) -> Option<String> {
        let text = match pin.about? {
            SystemPin::Zone => self.texts.pins_zone(),
            SystemPin::Session(_) => self.texts.pins_session(),
            SystemPin::Consent => self.texts.pins_consent(),
        };
        let kept = pin.created_at.format(SystemPin::TIME).to_string();
        let (at, now) = (pin.created_at.with_timezone(&self.zone), self.now.with_timezone(&self.zone));
        let shown = pin.content.replace(&kept, &self.texts.spoken(&at, &now));
        Some(fill(text, &[("text", &shown)]))
    }

    /// Returns the card of a pin, with a link to its source message if there is one.
    pub(super) fn one(&self, pin: &Pin, page: Page, link: Option<String>) -> Card {
        let texts = self.texts;
        let importance = fill(texts.pins_importance(), &[("importance", &weight(pin))]);
        let is_concept = pin.pin_type == PinType::Concept;
        let place =
            if pin.importance >= VITAL || is_concept { texts.pins_everywhere() } else { texts.pins_here() };
        let by = pin.name.as_ref().map(|name| fill(texts.pins_by(), &[("name", name)]));
        let auto = (pin.pin_type == PinType::Auto).then(|| texts.pins_auto().to_owned());
        let concept = is_concept.then(|| texts.pins_concept().to_owned());
        let lines = [Some(importance), Some(place.to_owned()), by, auto, concept];
        let about = lines.into_iter().flatten().collect::<Vec<_>>().join("\n");
        let content = cut_middle(&pin.content, PART_CHARS, PART_CHARS, " … ");
        let weigh = vec![
            Button::new(texts.button_more(), PinsButton::More(pin.id, page)),
            Button::new(texts.button_less(), PinsButton::Less(pin.id, page)),
        ];
        let source = match link {
            Some(link) => vec![Button::link(texts.button_original(), link)],
            None if pin.telegram.is_some() => {
                vec![Button::new(texts.button_original(), PinsButton::Source(pin.id))]
            }
            None => Vec::new(),
        };
        let remove = vec![Button::new(texts.button_remove(), PinsButton::Remove(pin.id, page))];
        let back = vec![Button::new(texts.button_back(), PinsButton::List(page))];
        Card::text(format!("📌 {content}\n\n{about}")).row(weigh).row(source).row(remove).row(back)
    }
}

fn weight(pin: &Pin) -> String {
    match pin.importance.fract() == 0.0 {
        true => format!("{:.0}", pin.importance),
        false => format!("{:.1}", pin.importance),
    }
}
