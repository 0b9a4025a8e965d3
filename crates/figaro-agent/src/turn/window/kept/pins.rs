//! Rendering of pins: with the author's name in a group, code with its line breaks, long pins shortened.

use std::collections::HashSet;

use figaro_base::text::{estimate_tokens, keep_ends};
use figaro_domain::pin::{Pin, PinType, VITAL};
use figaro_memory::Statement;
use figaro_prompts::{PinView, fence};
use figaro_provider::fit::gap;

/// Tokens around the text of one entry: its dash, and its label or dates.
pub(super) const AROUND: usize = 12;
/// Divisor of the room for pins that a single pin may use.
const PARTS_OF_PIN: usize = 2;
/// Marks the omitted part of a pin that cannot be looked up.
const GAP: &str = " … ";

/// Returns the view of a pin for the template.
pub(super) fn view(pin: &Pin, is_group: bool) -> PinView {
    PinView {
        from: pin.name.clone().filter(|_| is_group),
        text: pin.content.clone(),
        is_code: pin.pin_type == PinType::Code,
    }
}

/// Returns the maximum number of tokens of a pin.
pub(super) fn cost(pin: &Pin, is_group: bool) -> usize {
    let PinView { from, text, is_code } = view(pin, is_group);
    let from = from.map(|from| format!("{}: ", fence::line(&from))).unwrap_or_default();
    let text = if is_code { fence::block(&text) } else { fence::line(&text) };
    estimate_tokens(&format!("{from}{text}")) + AROUND
}

/// Returns `true` if a pin fits into its share of the room for pins.
pub(super) fn fits(pin: &Pin, is_group: bool, room: usize) -> bool {
    // No text has more tokens than bytes.
    pin.content.len() + AROUND <= room / PARTS_OF_PIN / 4 || cost(pin, is_group) <= room / PARTS_OF_PIN
}

/// Cuts the middle of a pin that is too long. If its source is stored, the gap has a lookup key.
pub(super) fn shorten(pin: &mut Pin, is_group: bool, room: usize) {
    if fits(pin, is_group, room) {
        return;
    }
    let gap = pin.source.map_or_else(|| GAP.to_owned(), |key| gap(&key.to_string()));
    let whole = std::mem::take(&mut pin.content);
    let mut keep = whole.chars().count() / 2;
    loop {
        keep = keep * 3 / 4;
        pin.content = keep_ends(&whole, keep, &gap);
        if keep == 0 || cost(pin, is_group) <= room / PARTS_OF_PIN {
            break;
        }
    }
    // A key without text is useless.
    if keep == 0 {
        pin.content = whole;
    }
}

/// Drops vital pins that repeat a later one. Pins are sorted by creation.
pub(super) fn drop_repeats(pins: &mut Vec<Pin>) {
    let mut known = HashSet::new();
    let mut stays: Vec<bool> = pins
        .iter()
        .rev()
        .map(|pin| pin.importance < VITAL || known.insert(Statement::of(&pin.content, pin.author.as_ref())))
        .collect();
    pins.retain(|_| stays.pop().unwrap_or(true));
}
