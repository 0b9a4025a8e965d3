//! How pins are shown: with whose words they are where several people talk, code in its lines, long ones in part.

use std::collections::HashSet;

use figaro_base::text::{estimate_tokens, keep_ends};
use figaro_domain::pin::{Pin, PinType, VITAL};
use figaro_memory::Said;
use figaro_prompts::{PinView, fence};
use figaro_provider::fit::gap;

/// What stands around the words of one thing that is kept, in tokens: its dash, its label or its dates.
pub(super) const AROUND: usize = 12;
/// One pin takes at most one part of so many of the room of pins.
const PARTS_OF_PIN: usize = 2;
/// Stands for what was left out of a pin that nobody can look up.
const GAP: &str = " … ";

/// What the template shows of a pin.
pub(super) fn view(pin: &Pin, is_group: bool) -> PinView {
    PinView {
        from: pin.name.clone().filter(|_| is_group),
        text: pin.content.clone(),
        is_code: pin.pin_type == PinType::Code,
    }
}

/// The most tokens that it takes.
pub(super) fn cost(pin: &Pin, is_group: bool) -> usize {
    let PinView { from, text, is_code } = view(pin, is_group);
    let from = from.map(|from| format!("{}: ", fence::line(&from))).unwrap_or_default();
    let text = if is_code { fence::block(&text) } else { fence::line(&text) };
    estimate_tokens(&format!("{from}{text}")) + AROUND
}

/// Whether it takes no more than its part of the room of pins.
pub(super) fn fits(pin: &Pin, is_group: bool, room: usize) -> bool {
    // No text has more tokens than bytes.
    pin.content.len() + AROUND <= room / PARTS_OF_PIN / 4 || cost(pin, is_group) <= room / PARTS_OF_PIN
}

/// Leaves out the middle of one that takes more. Where its source is stored a key to look it up stands there.
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
    // A key alone says nothing.
    if keep == 0 {
        pin.content = whole;
    }
}

/// Of vital pins that say the same the latest stays. They stand in the order in which they were made.
pub(super) fn drop_repeats(pins: &mut Vec<Pin>) {
    let mut known = HashSet::new();
    let mut stays: Vec<bool> = pins
        .iter()
        .rev()
        .map(|pin| pin.importance < VITAL || known.insert(Said::of(&pin.content, pin.author.as_ref())))
        .collect();
    pins.retain(|_| stays.pop().unwrap_or(true));
}
