//! `figaro check`: checks everything that the bot needs. Does not start the bot and changes nothing.

mod backups;
mod embedder;
mod finding;
mod model;
mod ports;
mod services;
mod store;
mod telegram;
mod unheard;

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};

use self::finding::Finding;
pub(super) use self::model::{first_word, without_tools};
use super::additions::Additions;
use super::bots::{bots_to_run, told_once};
use super::environment::http_client;
use super::failure::StartupError;
use super::models::{name, trials};
use super::policy;
use super::providers::{table, variables};
use super::servers;
use super::start_lines;
use super::terminal::{all_said, counted, say};
use crate::app::parts::caps_of_bot;
use figaro_base::clock::Clock;
use figaro_config::{ENV_FILE, ModelChoice, PolicySettings, ServersSettings, Settings, Values, Variables};
use figaro_domain::budget::PeriodCaps;
use figaro_gateway::unanswered;
use figaro_prompts::{AGENTS_FOLDER, OWN_FOLDER, Prompts};
use figaro_provider::Providers;
use figaro_provider::price::Prices;
use figaro_provider::trials::{Feature, ModelTrial};

/// Tokens that a short answer takes: the system prompt with its tools, and a little history.
const ANSWER_TOKENS: u64 = 5_000;

/// Checks settings, store, token and models concurrently. Prints one line for each, and the next step at the end. Logs nothing
/// unless `RUST_LOG` is set.
///
/// # Errors
/// When a check fails; the printed lines name the fault. Also when an added provider cannot be registered.
pub async fn check(values: &Values, additions: &Additions) -> Result<(), StartupError> {
    let providers = table(additions)?;
    let (bots, hints) = match bots_to_run(values, additions) {
        Ok(read) => read,
        Err(refusal) => {
            broken_files(values, additions, &providers)?;
            return Err(refusal);
        }
    };
    let (settings, all) = (bots.shared(), values.all());
    if all.get("RUST_LOG").is_some_and(|filter| !filter.trim().is_empty()) {
        start_lines(settings, bots.redactor(&all), None)?;
    }
    say("✓ settings");
    let bots = bots.all();
    if bots.len() > 1 {
        say(&format!("✓ bots: {}", counted(bots.len(), "bot")));
    }
    hints
        .into_iter()
        .chain(proxies(settings))
        .chain(of_each(&bots, prices))
        .chain(of_each(&bots, small_cap))
        .chain(idle_keys(settings))
        .chain(of_each(&bots, twice))
        .chain(open_file(values, &variables(additions)?))
        .for_each(|hint| say(&format!("! {hint}")));
    let probes = probes(&bots, &providers);
    of_each(&bots, |settings| unheard(settings, &providers))
        .into_iter()
        .chain(aliases(settings, &providers))
        .chain(learned(settings))
        .for_each(|hint| say(&format!("! {hint}")));
    let side_by_side = probes.len();
    let mut findings = stream::iter(probes).buffered(side_by_side);
    let (mut failed, mut next) = (None, "`figaro` starts the bot");
    while let Some(found) = findings.next().await {
        for finding in found {
            finding.say();
            next = finding.next.unwrap_or(next);
            failed = failed.or_else(|| finding.result.is_err().then_some(finding.what));
        }
    }
    if failed.is_none() {
        say(&format!("Next: {next}."));
    }
    all_said()?;
    let words = |what| {
        format!(
            "not everything is in order\nNext: put right the line `✗ {what}`, then run `figaro check` again."
        )
    };
    failed.map_or(Ok(()), |what| Err(StartupError(words(what))))
}

/// Returns a line for each configured model about what was learned of it while the bot ran.
fn learned(settings: &Settings) -> Vec<String> {
    let now = Clock::system().now();
    let line = |(model, trial): (String, ModelTrial)| {
        let lacks = trial.lacks.iter().map(|feature| match feature {
            Feature::Tools => "tools",
            Feature::Pictures => "pictures",
            Feature::Form => "answers that follow a JSON Schema",
            Feature::FormWithTools => "answers that follow a JSON Schema together with tools",
        });
        let lacks = lacks.collect::<Vec<_>>().join(", ");
        let refuses = (!lacks.is_empty()).then(|| {
            format!("{model}: its service refused {lacks}, which is left out for a week; MODEL_CAPABILITIES overrides it")
        });
        let rests = trial.rests_until.filter(|until| *until > now).map(|until| {
            let (count, until) = (trial.misfits, until.format("%d %b %H:%M UTC"));
            format!("{model}: {count} answers in a row could not be used to take facts from messages; it is asked again from {until}")
        });
        refuses.into_iter().chain(rests)
    };
    trials(settings, now).all(now).into_iter().flat_map(line).collect()
}

/// Returns hints about the settings of all bots, each hint once.
fn of_each<H: IntoIterator<Item = String>>(
    bots: &[(&str, &Settings)],
    hints: impl Fn(&Settings) -> H,
) -> Vec<String> {
    let of =
        |(name, settings): &(&str, &Settings)| ((*name).to_owned(), hints(settings).into_iter().collect());
    told_once(&bots.iter().map(of).collect::<Vec<_>>(), |name, hint| format!("{name}: {hint}"))
}

/// Returns the checks in output order. Disabled features are left out. What the bots share is checked by the settings of the
/// first.
fn probes<'a>(
    bots: &[(&'a str, &'a Settings)],
    providers: &'a Providers,
) -> Vec<BoxFuture<'a, Vec<Finding>>> {
    let one = |finding| vec![finding];
    let settings = bots[0].1;
    let mut probes = vec![place(settings).boxed(), backups::probe(settings).map(Vec::from_iter).boxed()];
    probes.extend(bots.iter().map(|(name, settings)| telegram::probe(name, settings).map(one).boxed()));
    let agents: BTreeSet<&Path> = bots.iter().map(|(_, settings)| settings.agents.as_path()).collect();
    let files = files(&settings.policy, &settings.servers, &agents, providers);
    probes.push(std::future::ready(files).boxed());
    match http_client(&settings.model.proxies) {
        Ok(http) => {
            let mut known = BTreeSet::new();
            for (_, settings) in bots {
                for choice in choices(settings).filter(|choice| known.insert(choice.to_string())) {
                    probes.push(model::probe(settings, providers, choice, http.clone()).map(one).boxed());
                }
            }
            let embedder = embedder::probe(settings, providers, http.clone());
            let services = services::probe(settings, providers, http);
            let some = |finding: Option<Finding>| finding.into_iter().collect();
            probes.push(embedder.map(some).boxed());
            probes.push(services.boxed());
        }
        Err(StartupError(words)) => {
            probes.push(std::future::ready(one(Finding::new("model", Err(words)))).boxed());
        }
    }
    probes
}

/// Checks the store, and the ports if it is certain that no running bot holds it.
async fn place(settings: &Settings) -> Vec<Finding> {
    let store = store::probe(settings).await;
    let is_free = store.result.is_ok() && store.next != Some(store::RUNS);
    let ports = if is_free { ports::probe(settings).await } else { Vec::new() };
    [store].into_iter().chain(ports).collect()
}

/// Reports faults of the owner's files when the settings are invalid too, so that all faults appear at once.
fn broken_files(values: &Values, additions: &Additions, providers: &Providers) -> Result<(), StartupError> {
    let (values, variables) = (values.all(), variables(additions)?);
    let read = (PolicySettings::alone(&values, &variables), ServersSettings::alone(&values, &variables));
    let (Ok(policy), Ok(servers)) = read else { return Ok(()) };
    let found = files(&policy, &servers, &BTreeSet::from([Path::new(AGENTS_FOLDER)]), providers);
    found.iter().filter(|finding| finding.result.is_err()).for_each(Finding::say);
    all_said()
}

/// Checks the owner's files: rules, other MCP servers, prompts.
fn files(
    policy: &PolicySettings,
    servers: &ServersSettings,
    agents: &BTreeSet<&Path>,
    providers: &Providers,
) -> Vec<Finding> {
    let found = rules(policy).into_iter().chain(other_servers(servers));
    found.chain(agents.iter().flat_map(|agents| prompts(servers, agents, providers))).collect()
}

/// Loads prompts, agents and personas, including the owner's.
fn load_prompts(servers: &ServersSettings, agents: &Path, providers: &Providers) -> Result<Prompts, String> {
    let names = super::agents::names(providers, servers::names(servers));
    Prompts::load_for(Some(Path::new(OWN_FOLDER)), Some(agents), &names)
}

/// Lists settings of agents and personas that their model does not support.
fn unheard(settings: &Settings, providers: &Providers) -> Vec<String> {
    let read =
        (http_client(&settings.model.proxies), load_prompts(&settings.servers, &settings.agents, providers));
    // Faults of either are reported as findings.
    let (Ok(http), Ok(prompts)) = read else { return Vec::new() };
    unheard::hints(settings, providers, &http, &prompts)
}

/// Lists model names for HTTP callers that map to no agent.
fn aliases(settings: &Settings, providers: &Providers) -> Vec<String> {
    // Faults of the prompts are reported as findings.
    load_prompts(&settings.servers, &settings.agents, providers)
        .map(|prompts| unanswered(&settings.http.models, &prompts.agents()))
        .unwrap_or_default()
}

/// Returns one finding for each fault of the owner's prompts, agents and personas.
fn prompts(servers: &ServersSettings, agents: &Path, providers: &Providers) -> Vec<Finding> {
    let faults = load_prompts(servers, agents, providers).err().unwrap_or_default();
    faults.lines().map(|fault| Finding::new("prompts", Err(fault.to_owned()))).collect()
}

/// Checks the owner's rules file; `None` if there is none.
fn rules(settings: &PolicySettings) -> Option<Finding> {
    let file = settings.file.display();
    match policy::load(settings) {
        Ok((None, _)) => None,
        Ok((Some(_), rules)) => {
            Some(Finding::new("policy", Ok(format!("{file}, {}", counted(rules.owners(), "rule")))))
        }
        Err(faults) => Some(Finding::new("policy", Err(faults))),
    }
}

/// Checks the owner's MCP servers file; `None` if there is none. Starts no server.
fn other_servers(settings: &ServersSettings) -> Option<Finding> {
    let file = settings.file.display();
    match servers::load(settings) {
        Ok(loaded) => {
            let count = loaded.servers.len();
            loaded.text.map(|_| Finding::new("mcp", Ok(format!("{file}, {}", counted(count, "server")))))
        }
        Err(faults) => Some(Finding::new("mcp", Err(faults))),
    }
}

/// Returns the default model, the fallback models and the one for spent budgets.
fn choices(settings: &Settings) -> impl Iterator<Item = &ModelChoice> {
    [&settings.model.default].into_iter().chain(&settings.model.fallback).chain(&settings.model.over_budget)
}

/// Lists duplicates in the settings.
fn twice(settings: &Settings) -> Vec<String> {
    let owners = settings
        .access
        .owners
        .iter()
        .map(|owner| ("OWNER_IDS", owner.telegram_id().unwrap_or_default().to_string()));
    let models = choices(settings).map(|choice| ("LLM_FALLBACK", choice.to_string()));
    let mut seen = BTreeSet::new();
    let again = owners.chain(models).filter(|named| !seen.insert(named.clone()));
    again.map(|(variable, what)| format!("{variable} names {what} a second time")).collect()
}

/// Warns about a `.env` file with secrets that other accounts of the machine can read.
fn open_file(values: &Values, variables: &Variables) -> Option<String> {
    let mode = std::fs::metadata(ENV_FILE).ok()?.permissions().mode();
    let secrets = values.file.secrets(variables);
    (mode & 0o077 != 0 && !secrets.is_empty()).then(|| {
        format!(
            "other accounts of this machine can read the file {ENV_FILE}, and with it {}: run `chmod 600 {ENV_FILE}`",
            secrets.into_iter().collect::<Vec<_>>().join(", ")
        )
    })
}

fn proxies(settings: &Settings) -> Vec<String> {
    let used = [("telegram", &settings.telegram.proxies), ("model", &settings.model.proxies)];
    let shown = used.into_iter().filter_map(|(what, proxies)| Some((what, proxies.shown()?)));
    shown
        .map(|(what, proxy)| {
            format!("{what}: what is not on this machine or named in NO_PROXY is reached through {proxy}")
        })
        .collect()
}

/// Warns about a cap that is smaller than one answer.
fn small_cap(settings: &Settings) -> Option<String> {
    let tokens = settings.spending.daily_tokens.filter(|tokens| *tokens < ANSWER_TOKENS)?;
    Some(format!(
        "DAILY_TOKENS={tokens} is less than one answer takes, some {ANSWER_TOKENS}: the bot will answer nobody"
    ))
}

/// Warns about keys of a gateway that is off.
fn idle_keys(settings: &Settings) -> Option<String> {
    let http = &settings.http;
    let is_idle = http.address.is_none() && http.metrics_address.is_none() && !http.keys.is_empty();
    is_idle.then(|| "API_KEYS is set, but HTTP_ADDR is not: there is no HTTP gateway".to_owned())
}

/// Warns about models that the bot refuses: money is the only cap and their prices are unknown.
fn prices(settings: &Settings) -> Vec<String> {
    let PeriodCaps { day, month } = caps_of_bot(&settings.spending);
    if day.and(month).takes_unpriced() {
        return Vec::new();
    }
    let prices = Prices::new(settings.spending.prices.clone());
    let embedder = settings.embedder.model();
    let named = choices(settings).map(|choice| ("model", name(choice)));
    let named = named.chain(embedder.map(|choice| ("embedder", name(&choice))));
    let speech = settings.speech.as_ref().map(|speech| &speech.model);
    let services = [
        ("transcriber", settings.transcriber.service()),
        ("speaker", speech),
        ("painter", settings.painter.as_ref()),
    ];
    let services = services.into_iter().filter_map(|(what, model)| Some((what, name(&model?.name()))));
    let named = named.chain(services);
    let unpriced = named.filter(|(_, name)| prices.of(name).is_none());
    unpriced
        .map(|(what, choice)| {
            format!(
                "{what}: {choice} will not be asked: money is the only limit, and what this model costs is not known. Set its \
                 price (LLM_PRICES={choice}=sent/cached/written in US dollars for a million tokens) or DAILY_TOKENS"
            )
        })
        .collect()
}
