//! Choice of the service that runs the model: the providers, and well-known services that one of them reaches.

use std::collections::HashMap;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::timeout;

use super::dialogue::Dialogue;
use super::draft::SettingsDraft;
use super::list;
use super::reach::{PROVIDER, address, served};
use crate::app::failure::StartupError;
use crate::app::place::{is_here, place};
use crate::app::terminal::say;
use figaro_domain::provider_spec::{KnownService, ProviderSpec, VariableRole};
use figaro_provider::Providers;

/// Timeout to find services on this machine.
const LOOKING: Duration = Duration::from_millis(1500);

/// Services to choose from: a provider, or a well-known service that it reaches.
#[derive(Debug, Clone, Copy)]
pub(super) struct ServiceChoice<'a> {
    pub(super) spec: &'a ProviderSpec,
    pub(super) known: Option<&'static KnownService>,
}

impl ServiceChoice<'_> {
    fn name(&self) -> &'static str {
        self.known.map_or(self.spec.name, |known| known.name)
    }

    fn description(&self) -> &'static str {
        self.known.map_or(self.spec.description, |known| known.description)
    }

    /// Returns `true` if the settings name this service.
    fn is_set(&self, draft: &SettingsDraft) -> bool {
        let is_provider = draft.get(PROVIDER).is_some_and(|name| name.eq_ignore_ascii_case(self.spec.name));
        is_provider && self.known.is_none_or(|known| address(draft, self.spec) == known.address)
    }
}

/// Returns the running services of this machine: name to a description with address and number of models.
pub(super) async fn local(
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

/// Asks for a service until one is chosen.
///
/// # Errors
/// When the dialogue ends; when the environment names an unknown service.
pub(super) async fn choose<'a>(
    dialogue: &mut Dialogue,
    draft: &SettingsDraft,
    specs: &'a [ProviderSpec],
    here: &HashMap<&'static str, String>,
) -> Result<ServiceChoice<'a>, StartupError> {
    let choices = choices(draft, specs);
    let set = choices.iter().rev().find(|choice| choice.is_set(draft));
    if draft.is_fixed(PROVIDER) {
        let Some(choice) = set else {
            let names: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
            return Err(StartupError(format!(
                "{PROVIDER} is set in the environment to a service that is not known: it takes {}",
                names.join(", ")
            )));
        };
        say(&format!("✓ {}, as {PROVIDER} of the environment says", choice.spec.name));
        return Ok(ServiceChoice { known: None, ..*choice });
    }
    let Some(default) = set.or(choices.first()) else {
        return Err(StartupError("there is no service that runs models".to_owned()));
    };
    let names: Vec<&str> = choices.iter().map(ServiceChoice::name).collect();
    let note = |choice: &ServiceChoice<'_>| {
        here.get(choice.name()).cloned().unwrap_or_else(|| choice.description().to_owned())
    };
    let notes: Vec<String> = choices.iter().map(note).collect();
    list::show(names.iter().copied().zip(notes.iter().map(String::as_str)));
    loop {
        let Some(text) = dialogue.ask(&format!("Number or name [{}]:", default.name())).await? else {
            return Ok(*default);
        };
        let picked = list::picked(&names, &text);
        match choices.iter().find(|choice| Some(choice.name()) == picked) {
            Some(choice) => return Ok(*choice),
            None => say(&format!("✗ Type a number from 1 to {}, or a name.", names.len())),
        }
    }
}

/// Returns the providers, then the well-known services. A service whose address the environment sets is the provider itself.
fn choices<'a>(draft: &SettingsDraft, specs: &'a [ProviderSpec]) -> Vec<ServiceChoice<'a>> {
    let is_free = |spec: &&ProviderSpec| {
        spec.variable(VariableRole::BaseUrl).is_some_and(|url| !draft.is_fixed(url.name))
    };
    let own = specs.iter().map(|spec| ServiceChoice { spec, known: None });
    let known = specs
        .iter()
        .filter(is_free)
        .flat_map(|spec| spec.services.iter().map(move |known| ServiceChoice { spec, known: Some(known) }));
    own.chain(known).collect()
}
