//! The cards of pins: the list, and one pin.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use super::super::card::{Card, ROWS, number, page_of, pager};
use crate::callback::{Page, Pins};
use crate::send::Button;
use figaro_base::text::{cut_middle, one_line};
use figaro_domain::pin::{Pin, PinType, SystemPin, VITAL};
use figaro_prompts::texts::{Texts, fill};

/// What a button shows of a pin.
const BUTTON_CHARS: usize = 50;
/// What a card shows of the start of a pin, and of its end.
const PART_CHARS: usize = 700;

/// Draws cards of pins.
#[derive(Debug, Clone, Copy)]
pub(super) struct PinCards<'a> {
    pub(super) texts: &'a Texts,
    pub(super) zone: Tz,
    pub(super) now: DateTime<Utc>,
}

impl PinCards<'_> {
    /// A page of the pins of a chat: the most important first, of equal ones the newest.
    pub(super) fn list(&self, pins: &[Pin], page: Page) -> Card {
        let mut shown: Vec<&Pin> = pins.iter().filter(|pin| pin.about.is_none()).collect();
        if shown.is_empty() {
            return Card::text(self.texts.pins_empty());
        }
        shown.sort_by(|one, other| {
            other.importance.total_cmp(&one.importance).then(other.created_at.cmp(&one.created_at))
        });
        let page = page_of(page, shown.len());
        let rows = shown.iter().skip(page * ROWS).take(ROWS).map(|pin| {
            vec![Button::new(one_line(&pin.content, BUTTON_CHARS), Pins::Open(pin.id, number(page)))]
        });
        let own = pins.iter().filter_map(|pin| self.own(pin));
        let lines: Vec<String> = std::iter::once(self.texts.pins_about().to_owned()).chain(own).collect();
        Card::titled(self.texts.pins_title(), lines.join("\n")).rows(rows).row(pager(
            self.texts,
            page,
            shown.len(),
            Pins::List,
        ))
    }

    /// A line for what Figaro itself keeps.
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

    /// One pin, with a link to the message that it was pinned from where there is one.
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
            Button::new(texts.button_more(), Pins::More(pin.id, page)),
            Button::new(texts.button_less(), Pins::Less(pin.id, page)),
        ];
        let source = match link {
            Some(link) => vec![Button::link(texts.button_original(), link)],
            None if pin.telegram.is_some() => {
                vec![Button::new(texts.button_original(), Pins::Source(pin.id))]
            }
            None => Vec::new(),
        };
        let remove = vec![Button::new(texts.button_remove(), Pins::Remove(pin.id, page))];
        let back = vec![Button::new(texts.button_back(), Pins::List(page))];
        Card::text(format!("📌 {content}\n\n{about}")).row(weigh).row(source).row(remove).row(back)
    }
}

fn weight(pin: &Pin) -> String {
    match pin.importance.fract() == 0.0 {
        true => format!("{:.0}", pin.importance),
        false => format!("{:.1}", pin.importance),
    }
}
