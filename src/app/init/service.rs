//! Second question: service that runs the model, and its settings. The list of services comes from the providers.

use std::collections::HashMap;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::timeout;

use super::dialogue::Dialogue;
use super::draft::SettingsDraft;
use super::{list, model};
use crate::app::check::first_word;
use crate::app::environment::http_client;
use crate::app::failure::StartupError;
use crate::app::models::models;
use crate::app::place::{is_here, place};
use crate::app::terminal::say;
use figaro_base::clock::Clock;
use figaro_config::ModelSettings;
use figaro_domain::provider_spec::{ProviderSpec, ProviderVariable, VariableRole};
use figaro_provider::models::Models;
use figaro_provider::trials::ModelTrials;
use figaro_provider::{ProviderError, Providers};

const PROVIDER: &str = "LLM_PROVIDER";
/// Input that chooses another service.
pub(super) const BACK: &str = "back";
/// Timeout of a model's first word. The model may have to load first.
const ANSWER: Duration = Duration::from_secs(60);
/// Timeout of a service's model list.
const LISTING: Duration = Duration::from_secs(15);
/// Timeout to find services on this machine.
const LOOKING: Duration = Duration::from_millis(1500);

/// Setting to fix for a service that gives no list, with the reason.
enum Trouble {
    Key(String),
    Address(String),
    Later(String),
}

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
        let spec = choose(dialogue, draft, &specs, &here).await?;
        let mut trial = draft.clone();
        trial.set(PROVIDER, spec.name);
        if set_up(dialogue, &mut trial, providers, spec).await? {
            *draft = trial;
            return Ok(());
        }
    }
}

/// Returns the running services of this machine: name to a description with address and number of models.
async fn local(
    draft: &SettingsDraft,
    providers: &Providers,
    specs: &[ProviderSpec],
) -> HashMap<&'static str, String> {
    let near = specs.iter().filter(|spec| is_here(&address(draft, spec)));
    let looked = join_all(near.map(|spec| async {
        let served = timeout(LOOKING, served(draft, providers, spec)).await.ok()?.ok()?;
        let has = match served.len() {
            0 => "without a model yet".to_owned(),
            1 => "with 1 model".to_owned(),
            count => format!("with {count} models"),
        };
        Some((spec.name, format!("it runs at {}, {has}", place(&address(draft, spec)))))
    }));
    looked.await.into_iter().flatten().collect()
}

async fn choose<'a>(
    dialogue: &mut Dialogue,
    draft: &SettingsDraft,
    specs: &'a [ProviderSpec],
    here: &HashMap<&'static str, String>,
) -> Result<&'a ProviderSpec, StartupError> {
    let names: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
    let of = |name: &str| specs.iter().find(|spec| spec.name == name);
    let set = draft.get(PROVIDER).and_then(|name| list::picked(&names, &name).and_then(of));
    if draft.is_fixed(PROVIDER) {
        let Some(spec) = set else {
            return Err(StartupError(format!(
                "{PROVIDER} is set in the environment to a service that is not known: it takes {}",
                names.join(", ")
            )));
        };
        say(&format!("✓ {}, as {PROVIDER} of the environment says", spec.name));
        return Ok(spec);
    }
    let Some(default) = set.or(specs.first()) else {
        return Err(StartupError("there is no service that runs models".to_owned()));
    };
    list::show(
        specs.iter().map(|spec| (spec.name, here.get(spec.name).map_or(spec.description, String::as_str))),
    );
    loop {
        let Some(text) = dialogue.ask(&format!("Number or name [{}]:", default.name)).await? else {
            return Ok(default);
        };
        match list::picked(&names, &text).and_then(of) {
            Some(spec) => return Ok(spec),
            None => say(&format!("✗ Type a number from 1 to {}, or a name.", names.len())),
        }
    }
}

/// Asks for the settings of the service, then for a model. Returns `false` if the user wants another service.
async fn set_up(
    dialogue: &mut Dialogue,
    draft: &mut SettingsDraft,
    providers: &Providers,
    spec: &ProviderSpec,
) -> Result<bool, StartupError> {
    if !first_address(dialogue, draft, spec).await? || !first_key(dialogue, draft, spec).await? {
        return Ok(false);
    }
    loop {
        let trouble = match dialogue.wait(timeout(LISTING, served(draft, providers, spec))).await? {
            Ok(Ok(served)) if !served.is_empty() => {
                say(&format!("✓ {} answers at {}.", spec.name, place(&address(draft, spec))));
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
        if !mend(dialogue, draft, spec, trouble).await? {
            return Ok(false);
        }
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
        Ok(Ok(model)) => {
            say(&format!("✓ {model} answers."));
            return Ok(None);
        }
        Ok(Err(trouble @ Trouble::Key(_))) => return Ok(Some(trouble)),
        Ok(Err(Trouble::Address(words) | Trouble::Later(words))) => words,
        Err(_) => format!("nothing came in {} s", ANSWER.as_secs()),
    };
    say(&format!("! It gave no answer to a first question: {words}. `figaro check` asks again."));
    Ok(None)
}

/// Asks the chosen model for a first word. Returns the name of the model.
async fn answers(
    draft: &SettingsDraft,
    providers: &Providers,
    spec: &ProviderSpec,
) -> Result<String, Trouble> {
    let mut settings = of_service(draft, spec)?;
    let model = spec.variable(VariableRole::Model).and_then(|variable| draft.get(variable.name));
    settings.default.model = model.unwrap_or_default();
    let models = reached(&settings, providers)?;
    first_word(&models).await.map_err(|error| trouble(&error))?;
    Ok(settings.default.model)
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
) -> Result<bool, StartupError> {
    let Some(variable) = spec.variable(VariableRole::Key) else { return Ok(true) };
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
    trouble: Trouble,
) -> Result<bool, StartupError> {
    let (words, asked, variable) = match trouble {
        Trouble::Key(words) => (words, "Key", spec.variable(VariableRole::Key)),
        // A default address is right; the network is at fault, so the address is not asked for.
        Trouble::Address(words) => {
            let url = spec.variable(VariableRole::BaseUrl);
            let own = |url: &&ProviderVariable| {
                let address = address(draft, spec);
                address != url.default || is_here(&address)
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

/// Returns the names of the models that a service serves.
async fn served(
    draft: &SettingsDraft,
    providers: &Providers,
    spec: &ProviderSpec,
) -> Result<Vec<String>, Trouble> {
    let models = reached(&of_service(draft, spec)?, providers)?;
    let served = models.served(spec.name).await.map_err(|error| trouble(&error))?;
    Ok(served.into_iter().map(|name| name.model).collect())
}

/// Reads the settings of a service from the draft.
fn of_service(draft: &SettingsDraft, spec: &ProviderSpec) -> Result<ModelSettings, Trouble> {
    ModelSettings::of_service(&draft.all(), &draft.variables, spec).map_err(|faults| {
        let words = faults.0.join("; ");
        let is_about = |role| spec.variable(role).is_some_and(|variable| words.starts_with(variable.name));
        match (is_about(VariableRole::Key), is_about(VariableRole::BaseUrl)) {
            (true, _) => Trouble::Key(words),
            (_, true) => Trouble::Address(words),
            _ => Trouble::Later(words),
        }
    })
}

fn reached(settings: &ModelSettings, providers: &Providers) -> Result<Models, Trouble> {
    let later = |refusal: StartupError| Trouble::Later(refusal.0);
    let http = http_client(&settings.proxies).map_err(later)?;
    models(settings, providers, &http, &ModelTrials::default(), &Clock::system()).map_err(later)
}

fn trouble(error: &ProviderError) -> Trouble {
    let words = error.to_string();
    match error {
        ProviderError::Unauthorized(_) => Trouble::Key(words),
        ProviderError::UnknownModel(_)
        | ProviderError::Unavailable(_)
        | ProviderError::Foreign(_)
        | ProviderError::WrongAddress(_)
        | ProviderError::Stalled(_) => Trouble::Address(words),
        ProviderError::NoQuota(_)
        | ProviderError::RateLimited { .. }
        | ProviderError::TooLong(_)
        | ProviderError::Garbled(_)
        | ProviderError::Refused(_)
        | ProviderError::Cut(_) => Trouble::Later(words),
    }
}

/// Returns the configured address, or the default of the service.
fn address(draft: &SettingsDraft, spec: &ProviderSpec) -> String {
    let variable = spec.variable(VariableRole::BaseUrl);
    let address = variable.map(|url| draft.get(url.name).unwrap_or_else(|| url.default.to_owned()));
    address.unwrap_or_default().trim_end_matches('/').to_owned()
}
