//! Raised and lowered text, fractions and roots in characters. Called by [`mod@super::parse`].

use crate::chars::is_extender;

/// Characters with a raised form, then those forms.
const RAISED: (&str, &str) = (
    "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδθφχ−",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᶿᵠᵡ⁻",
);
/// Characters with a lowered form, then those forms.
const LOWERED: (&str, &str) =
    ("0123456789+-=()aehijklmnoprstuvxβγρφχ−", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ₋");
/// Characters that need no raised form.
const HIGH: &str = "′°*†∗";

/// Returns a script to follow its base: in small characters if all have one, else after `^` or `_`.
pub(super) fn script(text: &str, raised: bool) -> String {
    let (from, to) = if raised { RAISED } else { LOWERED };
    if raised && text == "∘" {
        return "°".to_owned();
    }
    if raised && text == "⊤" {
        return "ᵀ".to_owned();
    }
    if raised && text.chars().all(|c| HIGH.contains(c)) {
        return text.to_owned();
    }
    if let Some(small) = mapped(text, from, to) {
        return small;
    }
    let sign = if raised { '^' } else { '_' };
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(_), None) => format!("{sign}{text}"),
        _ => format!("{sign}({text})"),
    }
}

/// Replaces every character; `None` if one has no counterpart.
pub(super) fn mapped(text: &str, from: &str, to: &str) -> Option<String> {
    text.chars()
        .map(|c| from.chars().zip(to.chars()).find(|(known, _)| *known == c).map(|(_, to)| to))
        .collect()
}

/// Returns `a/b`, with parentheses where a reader needs them.
pub(super) fn fraction(above: &str, below: &str) -> String {
    let above = if is_product(above) { above.to_owned() } else { bracketed(above) };
    let below = if is_single(below) { below.to_owned() } else { bracketed(below) };
    format!("{above}/{below}")
}

/// Returns `√x`; `degree` is empty for the square root.
pub(super) fn root(degree: &str, body: &str) -> String {
    let body = if is_single(body) { body.to_owned() } else { bracketed(body) };
    match degree {
        "" | "2" => format!("√{body}"),
        "3" => format!("∛{body}"),
        "4" => format!("∜{body}"),
        _ => {
            let small = mapped(degree, RAISED.0, RAISED.1).unwrap_or_else(|| format!("({degree})"));
            format!("{small}√{body}")
        }
    }
}

pub(super) fn bracketed(text: &str) -> String {
    format!("({text})")
}

/// Returns `true` if no operator in it binds weaker than a fraction stroke.
fn is_product(text: &str) -> bool {
    let mut depth = 0_usize;
    text.chars().all(|c| {
        match c {
            '(' | '[' | '⟨' => depth += 1,
            ')' | ']' | '⟩' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 0 || !(c.is_whitespace() || "+-−±∓=<>≤≥≠,;/".contains(c))
    })
}

/// Returns `true` for a number, a letter with its scripts or its argument, a differential, a root or a pair of
/// parentheses.
fn is_single(text: &str) -> bool {
    let text = text.strip_prefix('√').unwrap_or(text);
    if text.starts_with('(') {
        return closes_at_end(text);
    }
    if text.chars().all(|c| c.is_ascii_digit() || c == '.' || c == ',') {
        return !text.is_empty();
    }
    let is_small =
        |c: char| "′°*†!".contains(c) || is_extender(c) || RAISED.1.contains(c) || LOWERED.1.contains(c);
    let mut rest = text.strip_prefix(['d', '∂']).filter(|rest| !rest.is_empty()).unwrap_or(text).chars();
    let is_letter = rest.next().is_some_and(char::is_alphanumeric);
    let rest = rest.as_str().trim_start_matches(is_small);
    is_letter && (rest.is_empty() || (rest.starts_with('(') && closes_at_end(rest)))
}

/// Returns `true` if the last character closes the parenthesis that opens the text.
fn closes_at_end(text: &str) -> bool {
    let mut depth = 0_i64;
    let last = text.len().saturating_sub(1);
    for (at, c) in text.char_indices() {
        depth += i64::from(c == '(') - i64::from(c == ')');
        if depth == 0 {
            return at == last;
        }
    }
    false
}
