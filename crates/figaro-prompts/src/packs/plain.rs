//! Plain words for YAML errors of a file that does not have the form of a pack, for its author.

use crate::files::FileFault;
use crate::yaml_place::YamlPlace;

/// Returns the fault of a text in plainer words, if there are any.
pub(super) fn fault(text: &str, fault: FileFault) -> FileFault {
    let spot = YamlPlace::of(text, fault.at);
    let plainer = spot.as_ref().and_then(|spot| {
        spot.form(&fault.words, "render")
            .or_else(|| belongs(&fault.words))
            .or_else(|| value(spot, &fault.words))
    });
    match plainer {
        Some(words) => FileFault { words, ..fault },
        None => fault,
    }
}

/// Keys of a kind and of a field that are easily written a level too high or too deep.
const OF_KIND: [&str; 8] =
    ["fields", "series", "trend_days", "upcoming", "triggers", "render", "remind", "about"];
const OF_FIELD: [&str; 9] = ["type", "required", "key", "unit", "min", "max", "options", "to", "chart"];

/// Says where an unknown key belongs.
fn belongs(theirs: &str) -> Option<String> {
    let (unknown, known) = theirs.strip_prefix("unknown field `")?.split_once("`, expected ")?;
    let is_at = |key: &str| known.split([',', ' ', '`']).any(|one| one == key);
    if is_at("kinds") && OF_KIND.contains(&unknown) {
        Some(format!("unknown field `{unknown}` here: it belongs below the name of a kind, below kinds"))
    } else if is_at("fields") && OF_FIELD.contains(&unknown) {
        Some(format!("unknown field `{unknown}` here: it belongs below the name of a field, below fields"))
    } else if is_at("options") && OF_KIND.contains(&unknown) {
        Some(format!("unknown field `{unknown}` here: it belongs to the kind, beside fields"))
    } else {
        None
    }
}

/// Describes the fault of a value.
fn value(spot: &YamlPlace<'_>, theirs: &str) -> Option<String> {
    let key = spot.key();
    Some(match theirs {
        "cannot deserialize null into string; use Option<String>" => {
            format!("{key} is empty: write a word behind it")
        }
        "invalid u64" | "invalid u32" => format!("{key} takes a whole number, 1 and more"),
        "invalid floating point" => format!("{key} takes a number such as 0.5"),
        "invalid boolean" => format!("{key} takes true or false"),
        empty if empty.starts_with("invalid type: unit value") => {
            format!("{key} is empty: write something behind it")
        }
        "expected string scalar" => format!("{key} takes text"),
        _ => return None,
    })
}
