//! Second question: service that runs the model, and its settings. The list of services comes from the providers.

use std::time::Duration;

use tokio::time::timeout;

use super::choice::{ServiceChoice, choose, local};
use super::dialogue::Dialogue;
use super::draft::SettingsDraft;
use super::model;
use super::reach::{PROVIDER, Trouble, address, of_service, reached, served, trouble};
use crate::app::check::{first_word, without_tools};
use crate::app::failure::StartupError;
use crate::app::place::{is_here, place};
use crate::app::terminal::say;
use figaro_domain::provider_spec::{KnownService, ProviderSpec, ProviderVariable, VariableRole};
use figaro_provider::Providers;

/// Input that chooses another service.
pub(super) const BACK: &str = "back";
/// Timeout of a model's first word. The model may have to load first.
const ANSWER: Duration = Duration::from_secs(60);
/// Timeout of a service's model list.
const LISTING: Duration = Duration::from_secs(15);

/// Asks for a service, its settings and one of its models, until the choice is complete.
///
/// # Errors
/// When the dialogue ends; when the environment sets an invalid value.
pub(super) async fn ask(
    dialogue: &mut Dialogue,
    draft: &mut SettingsDraft,
    providers: &Providers,
) -> Result<(), StartupError> {
    say("\n2. The model: who runs it?");
    let specs = draft.variables.providers().to_vec();
    let here = dialogue.wait(local(draft, providers, &specs)).await?;
    loop {
        let choice = choose(dialogue, draft, &specs, &here).await?;
        let mut trial = draft.clone();
        trial.set(PROVIDER, choice.spec.name);
        let before = address(draft, choice.spec);
        if let (Some(known), Some(url)) = (choice.known, choice.spec.variable(VariableRole::BaseUrl)) {
            trial.set(url.name, known.address);
        }
        if set_up(dialogue, &mut trial, providers, choice, &before).await? {
            *draft = trial;
            return Ok(());
        }
    }
}

/// Asks for the settings of the service, which was at the address `before`, then for a model. Returns `false` if the user
/// wants another service.
async fn set_up(
    dialogue: &mut Dialogue,
    draft: &mut SettingsDraft,
    providers: &Providers,
    ServiceChoice { spec, known }: ServiceChoice<'_>,
    before: &str,
) -> Result<bool, StartupError> {
    if known.is_none() && !first_address(dialogue, draft, spec).await? {
        return Ok(false);
    }
    // The key of one service is not sent to another.
    let is_elsewhere = !before.is_empty() && address(draft, spec) != before;
    if let Some(key) =
        spec.variable(VariableRole::Key).filter(|key| is_elsewhere && !draft.is_fixed(key.name))
    {
        draft.set(key.name, "");
    }
    if !first_key(dialogue, draft, spec, known).await? {
        return Ok(false);
    }
    loop {
        let listed = dialogue.wait(timeout(LISTING, listed(draft, providers, spec, known))).await?;
        let trouble = match listed {
            Ok(Ok(served)) if !served.is_empty() => {
                if known.is_none_or(|known| known.models.is_empty()) {
                    say(&format!("✓ {} answers at {}.", spec.name, place(&address(draft, spec))));
                }
                match model::ask(dialogue, draft, spec, &served, BACK).await? {
                    model::ModelStepResult::Model => {
                        match refusal_of_key(dialogue, draft, providers, spec).await? {
                            Some(trouble) => trouble,
                            None => return Ok(true),
                        }
                    }
                    model::ModelStepResult::Back => return Ok(false),
                }
            }
            Ok(Ok(_)) => Trouble::Later(none_served(spec)),
            Ok(Err(trouble)) => trouble,
            Err(_) => Trouble::Address(format!("nothing came in {} s", LISTING.as_secs())),
        };
        if !mend(dialogue, draft, spec, known, trouble).await? {
            return Ok(false);
        }
    }
}

/// Returns the models of a service; those of a service that does not list them are known.
async fn listed(
    draft: &SettingsDraft,
    providers: &Providers,
    spec: &ProviderSpec,
    known: Option<&KnownService>,
) -> Result<Vec<String>, Trouble> {
    match known.map(|known| known.models).filter(|models| !models.is_empty()) {
        Some(models) => Ok(models.iter().map(|&model| model.to_owned()).collect()),
        None => served(draft, providers, spec).await,
    }
}

/// Tests the key with a first question: many services list their models for any key. Other failures are only printed.
async fn refusal_of_key(
    dialogue: &mut Dialogue,
    draft: &SettingsDraft,
    providers: &Providers,
    spec: &ProviderSpec,
) -> Result<Option<Trouble>, StartupError> {
    let answered = dialogue.wait(timeout(ANSWER, answers(draft, providers, spec))).await?;
    let words = match answered {
        Ok(Ok((model, warning))) => {
            say(&format!("✓ {model} answers."));
            warning.iter().for_each(|words| say(&format!("! {words}.")));
            return Ok(None);
        }
        Ok(Err(trouble @ Trouble::Key(_))) => return Ok(Some(trouble)),
        Ok(Err(Trouble::Address(words) | Trouble::Later(words))) => words,
        Err(_) => format!("nothing came in {} s", ANSWER.as_secs()),
    };
    say(&format!("! It gave no answer to a first question: {words}. `figaro check` asks again."));
    Ok(None)
}

/// Asks the chosen model for a first word. Returns the name of the model, and a warning about it.
async fn answers(
    draft: &SettingsDraft,
    providers: &Providers,
    spec: &ProviderSpec,
) -> Result<(String, Option<String>), Trouble> {
    let mut settings = of_service(draft, spec)?;
    let model = spec.variable(VariableRole::Model).and_then(|variable| draft.get(variable.name));
    settings.default.model = model.unwrap_or_default();
    let models = reached(&settings, providers)?;
    // Some services tell the abilities of their models in the list. One without a list is asked all the same.
    drop(timeout(LISTING, models.served(spec.name)).await);
    first_word(&models).await.map_err(|error| trouble(&error))?;
    Ok((settings.default.model, without_tools(&models)))
}

fn none_served(spec: &ProviderSpec) -> String {
    let how = spec.variable(VariableRole::Model).map(ProviderVariable::how_to_get_one).unwrap_or_default();
    let gap = if how.is_empty() { "" } else { ": " };
    format!("{} has no model that talks{gap}{how}", spec.name)
}

/// Asks for the address if the service has no default. Returns `false` if the user wants another service.
async fn first_address(
    dialogue: &mut Dialogue,
    draft: &mut SettingsDraft,
    spec: &ProviderSpec,
) -> Result<bool, StartupError> {
    let Some(variable) = spec.variable(VariableRole::BaseUrl).filter(|url| url.default.is_empty()) else {
        return Ok(true);
    };
    let hint = variable.need(true).unwrap_or(variable.meaning);
    first(dialogue, draft, variable, &capitalised(hint)).await
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Asks for the key if the service takes one. Returns `false` if the user wants another service.
async fn first_key(
    dialogue: &mut Dialogue,
    draft: &mut SettingsDraft,
    spec: &ProviderSpec,
    known: Option<&KnownService>,
) -> Result<bool, StartupError> {
    let Some(variable) = spec.variable(VariableRole::Key) else { return Ok(true) };
    if let Some(known) = known {
        return first(dialogue, draft, variable, &format!("Key ({} makes one)", known.key_page)).await;
    }
    let url = spec.variable(VariableRole::BaseUrl);
    let at_default = url.is_none_or(|url| address(draft, spec) == url.default);
    match variable.need(at_default) {
        Some(hint) => first(dialogue, draft, variable, &format!("Key ({hint})")).await,
        // A service with a default address and no required key takes none, unless it demands one later.
        None if variable.need(true).is_none() && url.is_none_or(|url| !url.default.is_empty()) => Ok(true),
        None => {
            let question = "Key, if it takes one";
            match answer(dialogue, draft, variable, question).await? {
                Some(text) if text == BACK => return Ok(false),
                Some(text) => draft.set(variable.name, &text),
                None => {}
            }
            Ok(true)
        }
    }
}

/// Asks for a value until one is given. Returns `false` if the user wants another service.
async fn first(
    dialogue: &mut Dialogue,
    draft: &mut SettingsDraft,
    variable: &ProviderVariable,
    question: &str,
) -> Result<bool, StartupError> {
    loop {
        match answer(dialogue, draft, variable, question).await? {
            Some(text) if text == BACK => return Ok(false),
            // A wrong address would be told only after the key.
            Some(text) if variable.role == VariableRole::BaseUrl && !text.starts_with("http") => {
                say("✗ An address begins with http:// or https://.");
            }
            Some(text) => {
                draft.set(variable.name, &text);
                return Ok(true);
            }
            None if draft.get(variable.name).is_some() => return Ok(true),
            None => say(&format!("✗ It needs one; `{BACK}` chooses another service.")),
        }
    }
}

/// Asks for the value of a variable; `None` for Enter alone, or without asking if the environment sets it.
async fn answer(
    dialogue: &mut Dialogue,
    draft: &SettingsDraft,
    variable: &ProviderVariable,
    question: &str,
) -> Result<Option<String>, StartupError> {
    if draft.is_fixed(variable.name) {
        return Ok(None);
    }
    let set = if draft.get(variable.name).is_some() { " [the one that is set]" } else { "" };
    let question = format!("{question}{set}:");
    match variable.role {
        VariableRole::Key => dialogue.ask_secret(&question).await,
        VariableRole::BaseUrl | VariableRole::Model | VariableRole::Time { .. } => {
            dialogue.ask(&question).await
        }
    }
}

/// Prints the fault and asks for the setting that fixes it. Returns `false` if the user wants another service.
async fn mend(
    dialogue: &mut Dialogue,
    draft: &mut SettingsDraft,
    spec: &ProviderSpec,
    known: Option<&KnownService>,
    trouble: Trouble,
) -> Result<bool, StartupError> {
    let (words, asked, variable) = match trouble {
        Trouble::Key(words) => (words, "Key", spec.variable(VariableRole::Key)),
        // A default or known address is right; the network is at fault, so the address is not asked for.
        Trouble::Address(words) => {
            let url = spec.variable(VariableRole::BaseUrl);
            let own = |url: &&ProviderVariable| {
                let address = address(draft, spec);
                known.is_none() && (address != url.default || is_here(&address))
            };
            (words, "Address", url.filter(own))
        }
        Trouble::Later(words) => (words, "", None),
    };
    say(&format!("✗ {words}"));
    let how = format!("Enter tries again, `{BACK}` chooses another service");
    let Some(variable) = variable else {
        return Ok(dialogue.ask(&format!("{how}:")).await?.is_none_or(|text| text != BACK));
    };
    if draft.is_fixed(variable.name) {
        return Err(StartupError(format!(
            "{words}; {} is set in the environment, change it there",
            variable.name
        )));
    }
    let question = format!("{asked} ({how}):");
    let typed = match variable.role {
        VariableRole::Key => dialogue.ask_secret(&question).await?,
        VariableRole::BaseUrl | VariableRole::Model | VariableRole::Time { .. } => {
            dialogue.ask(&question).await?
        }
    };
    match typed {
        Some(text) if text == BACK => return Ok(false),
        Some(text) => draft.set(variable.name, &text),
        None => {}
    }
    Ok(true)
}
