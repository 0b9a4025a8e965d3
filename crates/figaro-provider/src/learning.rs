//! Leaves out what a service refuses of a request and sends the rest again. Features that a model turns out to lack
//! are remembered in [`ModelTrials`]. The owner's settings for models apply here too. A decorator of any
//! provider, added in the composition root.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use tracing::{info, warn};

use super::models::{say_schema, without_images};
use super::trials::{Feature, ModelTrials};
use super::{
    Capabilities, Demand, Event, EventStream, Item, MediaPart, Provider, ProviderError, Request, ToolChoice,
};
use figaro_base::clock::Clock;
use figaro_config::{Abilities, OfModel};
use figaro_domain::generation::Generation;

/// Maximum number of tools left out of a request because their schemas were refused.
const MAX_LEFT_OUT: usize = 4;

/// Phrases of services for a model without tools. Refusals of a single tool, or of a field of one, mention tools too.
const NO_TOOLS: [&str; 7] = [
    "support tool",
    "support function call",
    "tools are not supported",
    "tools is not supported",
    "tools param requires",
    "tool choice requires",
    "function calling is not",
];
/// Phrases of services for the format of an answer.
const FORMS: [&str; 6] =
    ["response_format", "response format", "json_schema", "structured output", "grammar", "guided"];
/// Phrases of services for pictures.
const PICTURES: [&str; 5] = ["image", "picture", "vision", "multimodal", "mmproj"];
/// Phrases of services for a missing feature. A complaint about the content of a request has none of them.
const LACKS: [&str; 13] = [
    "not support",
    "n't support",
    "unsupported",
    "endpoints found that support",
    "not implemented",
    "not enabled",
    "not permitted",
    "not allowed",
    "cannot use",
    "unknown variant",
    "unknown field",
    "unrecognized",
    "not a multimodal",
];
/// Further such phrases that count only in a refusal. A server that is down uses them too.
const NOT_THERE: [&str; 2] = ["not available", "unavailable"];
/// Phrases about a single picture, not about pictures in general.
const OF_ONE: [&str; 7] =
    ["image format", "format of the image", "mime", "media type", "image type", "detail", "download"];

impl Feature {
    /// Returns the feature that the model lacks according to an error.
    fn refused(error: &ProviderError) -> Option<Self> {
        let (ProviderError::Refused(words)
        | ProviderError::UnknownModel(words)
        | ProviderError::Unavailable(words)) = error
        else {
            return None;
        };
        // A model that refuses the content of a picture has seen it.
        if error.is_about_content() {
            return None;
        }
        let words = words.to_lowercase();
        let says = |any: &[&str]| any.iter().any(|one| words.contains(one));
        let is_refusal = matches!(error, ProviderError::Refused(_));
        let lacks = says(&LACKS) || (is_refusal && says(&NOT_THERE));
        match () {
            () if lacks && says(&FORMS) && words.contains("tool") => Some(Self::FormWithTools),
            () if lacks && says(&FORMS) => Some(Self::Form),
            () if says(&NO_TOOLS) => Some(Self::Tools),
            () if lacks && says(&PICTURES) && !says(&OF_ONE) => Some(Self::Pictures),
            () => None,
        }
    }

    /// Returns `true` if a request uses the feature.
    fn is_in(self, request: &Request) -> bool {
        let has_images = |item: &Item| match item {
            Item::User { media, .. } | Item::ToolResult { media, .. } => {
                !media.iter().all(MediaPart::is_sound)
            }
            Item::Assistant { .. } => false,
        };
        let is_formed = request.schema.is_some() || request.settings.output_format.is_some();
        match self {
            Self::Tools => !request.tools.is_empty(),
            Self::Pictures => request.items.iter().any(has_images),
            Self::Form => is_formed,
            Self::FormWithTools => is_formed && !request.tools.is_empty(),
        }
    }

    /// Returns `true` if the caller requires the feature. Without it the request then fails.
    fn is_demanded(self, request: &Request) -> bool {
        match self {
            Self::Tools => request.options.tool_choice != ToolChoice::Auto,
            Self::Pictures => request.options.has_pictures,
            Self::Form | Self::FormWithTools => false,
        }
    }

    fn leave_out(self, request: &mut Request) {
        match self {
            Self::Tools => request.tools.clear(),
            Self::Pictures => request.items.iter_mut().for_each(without_images),
            Self::Form | Self::FormWithTools => {
                say_schema(request);
                request.schema = None;
                request.settings.output_format = None;
            }
        }
    }
}

/// Provider that learns which features its models lack.
#[derive(Debug)]
pub struct Learning {
    inner: Arc<dyn Provider>,
    own: Vec<OfModel<Abilities>>,
    trials: ModelTrials,
    clock: Clock,
}

impl Learning {
    /// Wraps a provider; `own` holds the owner's settings for models, `trials` what was learned before.
    #[must_use]
    pub fn new(
        inner: Arc<dyn Provider>,
        own: &[OfModel<Abilities>],
        trials: ModelTrials,
        clock: Clock,
    ) -> Self {
        Self { inner, own: own.to_vec(), trials, clock }
    }

    fn said(&self, model: &str) -> Option<&Abilities> {
        OfModel::best(&self.own, &format!("{}:{model}", self.inner.name()))
    }

    fn lacks(&self, model: &str, feature: Feature) -> bool {
        self.trials.lacks(self.inner.name(), model, feature, self.clock.now())
    }
}

impl Provider for Learning {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        let mut can = self.inner.capabilities(model);
        if let Some(own) = self.said(model) {
            let context_window = own.window.unwrap_or(can.context_window);
            let (tools, vision, hearing) = (own.tools, own.pictures, own.sounds);
            let structured_output = own.json;
            can = Capabilities {
                context_window,
                tools,
                vision,
                hearing,
                structured_output,
                is_guess: false,
                ..can
            };
        }
        can.tools &= !self.lacks(model, Feature::Tools);
        can.vision &= !self.lacks(model, Feature::Pictures);
        can.structured_output &= !self.lacks(model, Feature::Form);
        can.schema_with_tools &= !self.lacks(model, Feature::FormWithTools);
        can
    }

    fn window(&self, model: &str) -> Option<usize> {
        self.said(model).and_then(|own| own.window).or_else(|| self.inner.window(model))
    }

    fn ignored(&self, model: &str, settings: &Generation) -> Vec<&'static str> {
        self.inner.ignored(model, settings)
    }

    fn meets(&self, demand: Demand) -> bool {
        self.inner.meets(demand)
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
        self.inner.models()
    }

    fn stream(&self, mut request: Request) -> EventStream {
        let feature = Feature::FormWithTools;
        if self.lacks(&request.model, feature) && feature.is_in(&request) {
            feature.leave_out(&mut request);
        }
        let current = self.inner.stream(request.clone());
        let (inner, trials, clock) = (Arc::clone(&self.inner), self.trials.clone(), self.clock.clone());
        let again = Some(FeatureRetry { inner, trials, clock, request, left_out: 0 });
        let call = LearningStream { current, again };
        stream::unfold(call, LearningStream::next).boxed()
    }
}

/// Current stream, and the request for another attempt while one is possible.
struct LearningStream {
    current: EventStream,
    again: Option<FeatureRetry>,
}

struct FeatureRetry {
    inner: Arc<dyn Provider>,
    trials: ModelTrials,
    clock: Clock,
    request: Request,
    /// Number of tools left out because their schemas were refused.
    left_out: usize,
}

impl LearningStream {
    async fn next(mut self) -> Option<(Result<Event, ProviderError>, Self)> {
        loop {
            let event = self.current.next().await?;
            if let (Err(error), Some(again)) = (&event, &mut self.again)
                && (again.leave_out_tool(error) || again.leave_out(error))
            {
                self.current = again.inner.stream(again.request.clone());
                continue;
            }
            self.again = None;
            return Some((event, self));
        }
    }
}

impl FeatureRetry {
    /// Leaves out the feature that the model lacks, and remembers it. Returns `true` if the request has changed.
    fn leave_out(&mut self, error: &ProviderError) -> bool {
        let Some(mut feature) = Feature::refused(error) else { return false };
        if feature == Feature::FormWithTools && self.request.tools.is_empty() {
            feature = Feature::Form;
        }
        let model = self.request.model.clone();
        if !feature.is_in(&self.request) {
            return false;
        }
        info!(provider = self.inner.name(), model, ?feature, reason = %error, "a model does not take a part of a request");
        self.trials.learn(self.inner.name(), &model, feature, self.clock.now());
        if feature.is_demanded(&self.request) {
            return false;
        }
        feature.leave_out(&mut self.request);
        true
    }

    /// Leaves out the tool whose schema the service refuses. Returns `true` if the refusal names one.
    fn leave_out_tool(&mut self, error: &ProviderError) -> bool {
        let ProviderError::Refused(words) = error else { return false };
        if self.left_out >= MAX_LEFT_OUT {
            return false;
        }
        let names = self.request.tools.iter().map(|tool| tool.name.as_str());
        let Some(at) = refused_tool(words, names) else { return false };
        let tool = self.request.tools.remove(at);
        let model = &self.request.model;
        warn!(provider = self.inner.name(), model, tool = tool.name, reason = %error, "a model's service refuses a tool; it is asked without");
        self.left_out += 1;
        true
    }
}

/// Returns the tool that a refusal is about, by its name or position. The refusal must mention a schema, since calls
/// have names too.
fn refused_tool<'a>(words: &str, mut names: impl Iterator<Item = &'a str> + Clone) -> Option<usize> {
    let lower = words.to_ascii_lowercase();
    if !["schema", "parameters", "function_declarations", "functiondeclarations"]
        .iter()
        .any(|w| lower.contains(w))
    {
        return None;
    }
    let place = |before: &str| {
        let (_, behind) = lower.split_once(before)?;
        behind.split(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok()
    };
    // Google has all functions in the first of its tools.
    let placed = match lower.contains("function_declarations") {
        true => place("function_declarations["),
        false => place("tools[").or_else(|| place("tools.")),
    };
    let count = names.clone().count();
    let is_in = |name: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let mut found = words.match_indices(name).map(|(at, _)| words.split_at(at));
        found.any(|(before, from)| {
            !before.ends_with(is_part) && !from.split_at(name.len()).1.starts_with(is_part)
        })
    };
    names.position(is_in).or(placed.filter(|at| *at < count))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use parking_lot::Mutex;
    use serde_json::json;

    use super::*;
    use crate::{AnswerSchema, Finish, MediaPart, ToolSpec};

    type Takes = fn(&Request) -> bool;

    fn learning(inner: Arc<dyn Provider>, own: &[OfModel<Abilities>]) -> Learning {
        Learning::new(inner, own, ModelTrials::default(), Clock::system())
    }

    /// Refuses what the words say as long as a request has it.
    #[derive(Debug)]
    struct Refusing {
        error: ProviderError,
        takes: Takes,
        asked: Mutex<Vec<Request>>,
    }

    impl Provider for Refusing {
        fn name(&self) -> &'static str {
            "compatible"
        }

        fn window(&self, _model: &str) -> Option<usize> {
            None
        }

        fn ignored(&self, _model: &str, _settings: &Generation) -> Vec<&'static str> {
            Vec::new()
        }

        fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
            Box::pin(async { Ok(Vec::new()) })
        }

        fn stream(&self, request: Request) -> EventStream {
            let answer = match (self.takes)(&request) {
                true => Ok(Event::Completed { finish: Finish::Stop, usage: None }),
                false => Err(self.error.clone()),
            };
            self.asked.lock().push(request);
            stream::iter([answer]).boxed()
        }
    }

    fn refusing(error: ProviderError, takes: Takes) -> Arc<Refusing> {
        Arc::new(Refusing { error, takes, asked: Mutex::default() })
    }

    fn full() -> Request {
        let image = MediaPart { mime_type: "image/png".into(), seconds: 0, base64: "AA==".into() };
        Request {
            tools: ["s", "t"].map(|name| Arc::new(ToolSpec::new(name, "", json!({})))).into(),
            schema: Some(AnswerSchema { name: "a".into(), schema: json!({"type": "object"}) }),
            tells_schema: true,
            ..Request::new("m", "Say.", vec![Item::User { text: "see".into(), media: vec![image] }])
        }
    }

    async fn asked(learning: &Learning, request: Request) -> bool {
        learning.stream(request).all(|event| async move { event.is_ok() }).await
    }

    fn no_tools(request: &Request) -> bool {
        request.tools.is_empty()
    }

    fn no_pictures(request: &Request) -> bool {
        !Feature::Pictures.is_in(request)
    }

    fn no_form(request: &Request) -> bool {
        request.schema.is_none()
    }

    fn no_form_with_tools(request: &Request) -> bool {
        request.schema.is_none() || request.tools.is_empty()
    }

    #[tokio::test]
    async fn what_a_model_does_not_take_is_left_out_and_remembered() {
        let refused = |words: &str| ProviderError::Refused(words.to_owned());
        let cases: [(ProviderError, Takes, Feature); 9] = [
            (refused("tools param requires --jinja flag"), no_tools, Feature::Tools),
            (refused("\"auto\" tool choice requires --enable-auto-tool-choice"), no_tools, Feature::Tools),
            (refused("registry/library/old does not support tools"), no_tools, Feature::Tools),
            (
                ProviderError::UnknownModel("No endpoints found that support image input".into()),
                no_pictures,
                Feature::Pictures,
            ),
            (
                ProviderError::Unavailable(
                    "image input is not supported - hint: you may need the mmproj".into(),
                ),
                no_pictures,
                Feature::Pictures,
            ),
            (
                refused("messages[1]: unknown variant `image_url`, expected `text`"),
                no_pictures,
                Feature::Pictures,
            ),
            (refused("This response_format type is unavailable now"), no_form, Feature::Form),
            (refused("'json_schema' is not supported with this model"), no_form, Feature::Form),
            (
                refused("Cannot use custom grammar constraints with tools."),
                no_form_with_tools,
                Feature::FormWithTools,
            ),
        ];
        for (error, takes, feature) in cases {
            let inner = refusing(error.clone(), takes);
            let learning = learning(inner.clone(), &[]);
            assert!(learning.capabilities("m").is_guess);
            assert!(asked(&learning, full()).await, "{error}");
            let sent = inner.asked.lock().clone();
            assert_eq!(sent.len(), 2, "{error}");
            assert!(!feature.is_in(&sent[1]), "{error}");
            assert_eq!(sent[1].instructions.contains("JSON Schema"), sent[1].schema.is_none(), "{error}");
            let can = learning.capabilities("m");
            let lacks = [!can.tools, !can.vision, !can.structured_output, !can.schema_with_tools];
            let all = [Feature::Tools, Feature::Pictures, Feature::Form, Feature::FormWithTools];
            assert_eq!(lacks, all.map(|one| one == feature), "{error}");
            let other = learning.capabilities("other");
            assert!(other.tools && other.vision && other.structured_output && other.schema_with_tools);
        }
    }

    #[tokio::test]
    async fn what_is_wrong_with_a_request_teaches_nothing() {
        let down = ProviderError::Unavailable("the vision model is unavailable, try again later".into());
        let filtered = ["this image is not allowed by our content policy"];
        assert_eq!(
            (
                Feature::refused(&down),
                filtered.map(|words| Feature::refused(&ProviderError::Refused(words.into())))
            ),
            (None, [None])
        );
        for words in [
            "unsupported image format: image/tiff",
            "the image could not be downloaded",
            "Invalid schema for response_format 'a': no type",
            "the call of t has no result",
            "temperature is not supported with this model",
            "unknown field `tools[0].function.strict`",
            "image_url.detail is not supported",
        ] {
            let inner = refusing(ProviderError::Refused(words.to_owned()), |_| false);
            let learning = learning(inner.clone(), &[]);
            assert!(!asked(&learning, full()).await);
            assert_eq!(
                (inner.asked.lock().len(), learning.trials.all(DateTime::UNIX_EPOCH).len()),
                (1, 0),
                "{words}"
            );
        }
    }

    #[tokio::test]
    async fn what_was_asked_for_is_not_left_out() {
        let inner = refusing(ProviderError::Refused("tools are not supported".into()), no_tools);
        let learning = learning(inner.clone(), &[]);
        let mut request = full();
        request.options.tool_choice = ToolChoice::Required;
        assert!(!asked(&learning, request).await);
        assert!(inner.asked.lock().len() == 1 && !learning.capabilities("m").tools);
    }

    #[test]
    fn the_owner_knows_best() {
        let own = Abilities { tools: true, window: Some(4096), ..Abilities::default() };
        let own = OfModel { name: "compatible:m".into(), is_prefix: false, value: own };
        let learning = learning(refusing(ProviderError::Cut(String::new()), |_| true), &[own]);
        let can = learning.capabilities("m");
        assert_eq!((can.tools, can.vision, can.structured_output, can.is_guess), (true, false, false, false));
        assert_eq!(
            (can.context_window, learning.window("m"), learning.window("n")),
            (4096, Some(4096), None)
        );
    }

    #[test]
    fn a_refusal_names_its_tool_by_name_or_place() {
        let names = ["echo", "box__bake", "box__bake_all"];
        let cases = [
            (
                "Invalid schema for function 'box__bake': In context=('properties', 'a'), array schema missing items.",
                Some(1),
            ),
            ("Invalid schema for function 'box__bake_all'", Some(2)),
            (
                "* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[a].items: missing field.",
                Some(1),
            ),
            ("Invalid 'tools[2].function.parameters': unknown type", Some(2)),
            ("tools.0.custom.input_schema: JSON schema is invalid", Some(0)),
            ("Invalid 'tools[7].function.parameters': unknown type", None),
            ("Invalid schema for response_format 'answer'", None),
            ("the call of echo has no result", None),
            ("no such model", None),
        ];
        for (words, expected) in cases {
            assert_eq!(refused_tool(words, names.into_iter()), expected, "{words}");
        }
    }

    #[tokio::test]
    async fn a_request_is_sent_without_the_tool_that_is_refused() {
        let refused = ProviderError::Refused("Invalid schema for function 't': no items".to_owned());
        let inner = refusing(refused, |_| false);
        assert!(!asked(&learning(inner.clone(), &[]), full()).await);
        let requests = inner.asked.lock().clone();
        let sent: Vec<Vec<&str>> = requests
            .iter()
            .map(|request| request.tools.iter().map(|tool| tool.name.as_str()).collect())
            .collect();
        assert_eq!(sent, [vec!["s", "t"], vec!["s"]]);
    }
}
