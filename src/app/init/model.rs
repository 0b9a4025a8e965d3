//! Choice of a model of the selected service.

use super::dialogue::Dialogue;
use super::draft::SettingsDraft;
use super::list;
use crate::app::failure::StartupError;
use crate::app::terminal::say;
use figaro_domain::model::ModelName;
use figaro_domain::provider_spec::{ProviderSpec, VariableRole};
use figaro_provider::price::Prices;

/// Maximum number of models shown; others can still be typed.
const MAX_SHOWN: usize = 30;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ModelStepResult {
    Model,
    /// The user wants another service.
    Back,
}

/// Shows the served models and asks for one. Typing `back` chooses another service.
///
/// # Errors
/// When the dialogue ends.
pub(super) async fn ask(
    dialogue: &mut Dialogue,
    draft: &mut SettingsDraft,
    spec: &ProviderSpec,
    served: &[String],
    back: &str,
) -> Result<ModelStepResult, StartupError> {
    let Some(variable) = spec.variable(VariableRole::Model) else { return Ok(ModelStepResult::Model) };
    if let Some(model) = draft.get(variable.name).filter(|_| draft.is_fixed(variable.name)) {
        let mark = if served.iter().any(|name| is_same(name, &model)) { "✓" } else { "! not in its list:" };
        say(&format!("{mark} {model}, as {} of the environment says", variable.name));
        return Ok(ModelStepResult::Model);
    }
    let set = draft.get(variable.name);
    let names = ordered(spec.name, served, set.as_deref().into_iter().chain([variable.default]));
    let (shown, rest) = names.split_at(names.len().min(MAX_SHOWN));
    list::show(shown.iter().map(|name| (*name, "")));
    if !rest.is_empty() {
        say(&format!("      and {} more, which can be typed by name", rest.len()));
    }
    let default = names.first().copied().unwrap_or_default();
    let mut unknown = None;
    loop {
        let Some(text) = dialogue.ask(&format!("Model, by number or name [{default}]:")).await? else {
            draft.set(variable.name, default);
            return Ok(ModelStepResult::Model);
        };
        let picked = list::picked(shown, &text)
            .or_else(|| list::picked(rest, &text).filter(|name| is_same(name, &text)));
        match picked {
            _ if text == back => return Ok(ModelStepResult::Back),
            Some(name) => {
                draft.set(variable.name, name);
                return Ok(ModelStepResult::Model);
            }
            None if unknown.as_ref() == Some(&text) => {
                draft.set(variable.name, &text);
                return Ok(ModelStepResult::Model);
            }
            None => {
                say(&format!("✗ {text} is not among them. Typed once more, it is taken all the same."));
                unknown = Some(text);
            }
        }
    }
}

/// Orders the served names: a preferred one first, then common ones, whose price is known.
fn ordered<'a>(
    provider: &str,
    served: &'a [String],
    preferred: impl Iterator<Item = &'a str>,
) -> Vec<&'a str> {
    let mut preferred = preferred.filter_map(|wanted| served.iter().find(|name| is_same(name, wanted)));
    let first = preferred.next().map(String::as_str);
    let prices = Prices::new(Vec::new());
    let is_known = |model: &str| {
        prices.of(&ModelName { provider: provider.to_owned(), model: model.to_owned() }).is_some()
    };
    let others = served.iter().map(String::as_str).filter(|name| Some(*name) != first);
    let (known, unknown): (Vec<&str>, Vec<&str>) = others.partition(|name| is_known(name));
    first.into_iter().chain(known).chain(unknown).collect()
}

/// Returns `true` if two names mean one model; a name without a tag means `:latest`.
fn is_same(served: &str, name: &str) -> bool {
    served == name || served.strip_suffix(":latest") == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_model_stands_first_and_unknown_ones_last() {
        let served = ["zebra", "gpt-4.1", "gpt-4.1-mini", "ape:latest"].map(str::to_owned);
        let cases = [
            (vec!["gpt-4.1-mini"], ["gpt-4.1-mini", "gpt-4.1", "zebra", "ape:latest"]),
            (vec!["gone", "gpt-4.1-mini"], ["gpt-4.1-mini", "gpt-4.1", "zebra", "ape:latest"]),
            (vec!["ape", "gpt-4.1-mini"], ["ape:latest", "gpt-4.1", "gpt-4.1-mini", "zebra"]),
            (vec![""], ["gpt-4.1", "gpt-4.1-mini", "zebra", "ape:latest"]),
        ];
        for (preferred, wanted) in cases {
            assert_eq!(ordered("openai", &served, preferred.iter().copied()), wanted, "{preferred:?}");
        }
    }
}
