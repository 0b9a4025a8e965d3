//! A provider that somebody adds: registered as the built-in ones are, its variables are read, and it is chosen, listed
//! and asked like them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use figaro::app::{self, Additions};
use figaro_base::secret::ExposeSecret;
use figaro_config::ProviderSettings;
use figaro_domain::generation::Generation;
use figaro_domain::provider_spec::{ProviderSpec, ProviderVariable};
use figaro_offline::model::ModelReply;
use figaro_provider::{Descriptor, Event, EventStream, Finish, Item, Provider, ProviderError, Request};
use futures::future::{self, BoxFuture};
use futures::{FutureExt, StreamExt, stream};

use crate::embedded::Embedded;
use crate::support::bot::Recipe;
use crate::support::scene::{labels, text};
use crate::support::{ANN, World};

const SPEC: ProviderSpec = ProviderSpec {
    name: "parrot",
    description: "says what it hears",
    variables: &[
        ProviderVariable::base_url("PARROT_BASE_URL", "Where it sits.").with_default("http://127.0.0.1:1"),
        ProviderVariable::key("PARROT_API_KEY", "Its cracker.")
            .required_at_default_address("the shop sells one"),
        ProviderVariable::model("PARROT_MODEL", "Its colour.").required("any colour").sets_up(),
        ProviderVariable::time("PARROT_NAP", 1, 60, "7", "How long it naps."),
    ],
    services: &[],
};

const PARROT: Descriptor = Descriptor {
    spec: SPEC,
    build: |settings, _http, idle_limit| Arc::new(Parrot { settings: settings.clone(), idle_limit }),
    embedder: None,
    transcriber: None,
    speech: None,
    painter: None,
};

/// Says its settings and the last line that it hears.
#[derive(Debug)]
struct Parrot {
    settings: ProviderSettings,
    idle_limit: Duration,
}

impl Provider for Parrot {
    fn name(&self) -> &'static str {
        SPEC.name
    }

    fn window(&self, _model: &str) -> Option<usize> {
        None
    }

    fn ignored(&self, _model: &str, _settings: &Generation) -> Vec<&'static str> {
        Vec::new()
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        future::ready(Ok(vec!["green".to_owned(), "grey".to_owned()])).boxed()
    }

    fn stream(&self, request: Request) -> EventStream {
        let ProviderSettings { name, base_url, key, times, .. } = &self.settings;
        let heard = request.items.iter().rev().find_map(|item| match item {
            Item::User { text, .. } => text.lines().rev().find(|line| line.contains("Hello")),
            Item::Assistant { .. } | Item::ToolResult { .. } => None,
        });
        let said = format!(
            "{name} {}, {base_url}, {}, {times:?}, {:?}: {}",
            request.model,
            key.expose_secret().len(),
            self.idle_limit,
            heard.unwrap_or_default(),
        );
        let whole = Event::Completed { finish: Finish::Stop, usage: None };
        stream::iter([Event::TextDelta(said), whole].map(Ok)).boxed()
    }
}

fn added(provider: Descriptor) -> Additions {
    Additions { providers: vec![provider], ..Additions::default() }
}

/// What reading the settings of a bot says is wrong.
fn faults(recipe: Recipe) -> String {
    let values: HashMap<String, String> = recipe.variables().clone().into_iter().collect();
    app::settings(&values, &added(PARROT)).map(drop).unwrap_err().0
}

#[tokio::test]
async fn an_added_provider_is_set_up_chosen_and_asked_like_the_built_in_ones() {
    let world = World::new().await;
    let recipe = world
        .bot()
        .set("LLM_PROVIDER", "Parrot")
        .set("LLM_IDLE_TIMEOUT", "9")
        .set("PARROT_MODEL", "grey")
        .set("PARROT_API_KEY", "cracker");
    let bot = Embedded::start(&world, recipe, added(PARROT)).await;
    let answer = world.told(ANN, ANN, "Hello, bird").await;
    let wanted = "parrot grey, http://127.0.0.1:1, 7, {\"PARROT_NAP\": 7s}, 9s: ";
    assert!(text(&answer).starts_with(wanted) && text(&answer).contains("Hello, bird"), "{answer}");
    // The others are still there for a chat to choose, and its own models are listed.
    let card = world.told(ANN, ANN, "/model").await;
    let buttons = labels(&card).join(", ");
    assert!(buttons.contains("parrot:grey") && buttons.contains("openai:offline"), "{buttons}");
    let card = world.told(ANN, ANN, "/model parrot:green").await;
    assert!(text(&card).contains("parrot:green answers here"), "{card}");
    let answer = world.told(ANN, ANN, "Hello again").await;
    assert!(text(&answer).starts_with("parrot green,"), "{answer}");
    bot.end().await;
}

#[tokio::test]
async fn an_added_provider_stands_in_for_another_and_has_a_price_by_its_name() {
    let world = World::new().await;
    world.otherwise(ModelReply::status(401, "no"));
    let recipe = world
        .bot()
        .set("LLM_FALLBACK", "parrot:blue")
        // Where money is the only bound, what has no price is not asked.
        .set("DAILY_USD", "1")
        .set("LLM_PRICES", "openai:offline=0/0, parrot:*=1/2")
        .set("PARROT_BASE_URL", "http://10.0.0.1/")
        .set("PARROT_MODEL", "grey")
        .set("PARROT_NAP", "60");
    let bot = Embedded::start(&world, recipe, added(PARROT)).await;
    let answer = world.told(ANN, ANN, "Hello").await;
    let wanted = "parrot blue, http://10.0.0.1, 0, {\"PARROT_NAP\": 60s}, 60s: ";
    assert!(text(&answer).starts_with(wanted), "{answer}");
    bot.end().await;
}

#[tokio::test]
async fn what_an_added_provider_lacks_is_told_like_all_else() {
    let world = World::new().await;
    let said = faults(world.bot().set("LLM_PROVIDER", "parrot").set("PARROT_NAP", "61"));
    for wanted in [
        "3 mistakes",
        "PARROT_API_KEY is missing: the shop sells one",
        "PARROT_MODEL is missing: any colour",
        "PARROT_NAP (`61`) is not a time from 1s to 1m, such as 90s, 10m or 2h",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    let said = faults(world.bot().set("LLM_PROVIDER", "parot"));
    assert!(said.contains("or `gemini` or `parrot`"), "{said}");
    let said = faults(world.bot().set("PARROT_BASE_URL", "nowhere").set("PARROT_MODEL", "grey"));
    assert!(said.contains("PARROT_BASE_URL (7 characters) is not an address"), "{said}");
    let key = "sk-proj-0123456789abcdefghij";
    let said = faults(world.bot().set("PARROT_MODEL", key).set("PARROT_API_KEY", "cracker"));
    assert!(said.contains("PARROT_MODEL") && !said.contains(key), "{said}");
    let variables = app::variables(&added(PARROT)).unwrap();
    let row = "`PARROT_MODEL` |  | with `LLM_PROVIDER=parrot` | Its colour. |\n";
    assert!(variables.reference().contains(row));
    assert!(variables.example().contains("with a Google key) or parrot (says what it hears).\n"));
}

#[tokio::test]
async fn a_provider_that_cannot_be_registered_or_is_missing_stops_the_start() {
    let world = World::new().await;
    let none = Additions::default();
    let named = |name| added(Descriptor { spec: ProviderSpec { name, ..SPEC }, ..PARROT });
    let recipe =
        world.bot().set("LLM_PROVIDER", "parrot").set("PARROT_MODEL", "grey").set("PARROT_API_KEY", "x");
    let cases = [
        (world.bot(), &none, &named("openai"), "two providers claim `openai`"),
        (world.bot(), &none, &named("My parrot"), "`My parrot` is no name for a provider"),
        (recipe, &added(PARROT), &none, "the provider `parrot` is not registered"),
    ];
    for (recipe, read, run, wanted) in cases {
        let refused = Embedded::refused(&world, recipe, read, run).await.to_string();
        assert!(refused.starts_with(wanted), "{refused}");
    }
}
