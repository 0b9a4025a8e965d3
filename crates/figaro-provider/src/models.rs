//! All configured models, and the fallback: if one does not answer, the next is asked, as long as no part of an
//! answer has been sent. Built by the composition root and used by the agent loop.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{StreamExt, stream};
use tracing::warn;

use super::capabilities::may_talk;
use super::fit::fit;
use super::{
    AnswerOptions, Capabilities, Demand, Event, EventStream, Item, MediaPart, Provider, ProviderError,
    Request,
};
use figaro_domain::generation::{Generation, OutputFormat};
use figaro_domain::model::ModelName;
use figaro_domain::provider_spec::ProviderSpec;
use figaro_domain::tool::ToolKind;

/// Configured providers by name, and the order of models.
#[derive(Debug)]
pub struct Models {
    providers: BTreeMap<&'static str, Arc<dyn Provider>>,
    default: ModelName,
    fallback: Vec<ModelName>,
    /// Model that the settings name for each provider.
    own: Vec<ModelName>,
    /// Descriptions of the providers, for remedies.
    specs: Vec<ProviderSpec>,
    /// `true` if a tool searches the web for models whose provider does not.
    outside_search: bool,
}

impl Models {
    /// Creates the models from providers, the default model and its fallbacks.
    #[must_use]
    pub fn new(
        providers: impl IntoIterator<Item = Arc<dyn Provider>>,
        default: ModelName,
        fallback: Vec<ModelName>,
    ) -> Self {
        let providers = providers.into_iter().map(|provider| (provider.name(), provider)).collect();
        let (own, specs) = (Vec::new(), Vec::new());
        Self { providers, default, fallback, own, specs, outside_search: false }
    }

    /// Sets the descriptions of the providers.
    #[must_use]
    pub fn with_specs(mut self, specs: Vec<ProviderSpec>) -> Self {
        self.specs = specs;
        self
    }

    /// Sets the model that each provider is configured with.
    #[must_use]
    pub fn with_own(mut self, own: Vec<ModelName>) -> Self {
        self.own = own;
        self
    }

    /// Sets whether a tool searches the web for models whose provider does not.
    #[must_use]
    pub const fn with_outside_search(mut self, is_there: bool) -> Self {
        self.outside_search = is_there;
        self
    }

    /// Returns the model that answers unless another is requested.
    #[must_use]
    pub const fn default_model(&self) -> &ModelName {
        &self.default
    }

    /// Returns the abilities of a model; `None` if its provider is not configured.
    #[must_use]
    pub fn capabilities(&self, model: &ModelName) -> Option<Capabilities> {
        Some(self.providers.get(model.provider.as_str())?.capabilities(&model.model))
    }

    /// Returns the models to ask for this one, in order: itself, then its fallbacks.
    #[must_use]
    pub fn order(&self, model: &ModelName) -> Vec<ModelName> {
        let others = self.fallback.iter().filter(|other| *other != model);
        [model].into_iter().chain(others).cloned().collect()
    }

    /// Returns the models named by the owner: the default, its fallbacks, and each provider's own.
    #[must_use]
    pub fn named(&self) -> Vec<ModelName> {
        let mut named = self.order(&self.default);
        let own = self.own.iter().filter(|model| !named.contains(model)).cloned().collect::<Vec<_>>();
        named.extend(own);
        named
    }

    /// Returns the description of a provider; `None` if it is unknown.
    #[must_use]
    pub fn spec(&self, provider: &str) -> Option<&ProviderSpec> {
        self.specs.iter().find(|spec| spec.name == provider)
    }

    /// Returns `true` if a model reads pictures.
    #[must_use]
    pub fn sees(&self, model: &ModelName) -> bool {
        self.capabilities(model).is_some_and(|can| can.vision)
    }

    /// Returns `true` if a model hears sounds.
    #[must_use]
    pub fn hears(&self, model: &ModelName) -> bool {
        let provider = self.providers.get(model.provider.as_str());
        provider.is_some_and(|one| one.meets(Demand::Sounds) && one.capabilities(&model.model).hearing)
    }

    /// Returns the names of the configured providers.
    pub fn providers(&self) -> impl Iterator<Item = &'static str> {
        self.providers.keys().copied()
    }

    /// Lists the chat models that a provider serves now, in its order.
    ///
    /// # Errors
    /// If the provider cannot be reached or is not configured.
    pub async fn served(&self, provider: &str) -> Result<Vec<ModelName>, ProviderError> {
        let Some(service) = self.providers.get(provider) else {
            return Err(ProviderError::UnknownModel(format!("{provider} is not set up")));
        };
        let names = service.models().await?.into_iter().filter(|name| may_talk(provider, name));
        Ok(names.map(|model| ModelName { provider: provider.to_owned(), model }).collect())
    }

    /// Returns the names of the settings that a model's provider does not support.
    #[must_use]
    pub fn ignored(&self, model: &ModelName, settings: &Generation) -> Vec<&'static str> {
        let provider = self.providers.get(model.provider.as_str());
        provider.map(|provider| provider.ignored(&model.model, settings)).unwrap_or_default()
    }

    /// Returns a demand that this model does not support, if none of its fallbacks supports all demands either.
    /// `None` if one of the models supports all.
    #[must_use]
    pub fn unmet(&self, model: &ModelName, options: &AnswerOptions) -> Option<Demand> {
        let order = self.order(model);
        let mut unmet = order.iter().map(|model| self.unmet_by(model, options));
        let first = unmet.next()??;
        unmet.all(|next| next.is_some()).then_some(first)
    }

    /// Returns the first demand that this very model does not support.
    fn unmet_by(&self, model: &ModelName, options: &AnswerOptions) -> Option<Demand> {
        let provider = self.providers.get(model.provider.as_str())?;
        let can = provider.capabilities(&model.model);
        let is_met = |demand: &Demand| {
            provider.meets(*demand)
                && match demand {
                    Demand::ToolChoice => can.tools,
                    Demand::Pictures => can.vision,
                    Demand::Sounds => can.hearing,
                    Demand::Stop | Demand::FrequencyPenalty | Demand::PresencePenalty => true,
                }
        };
        options.demands().find(|demand| !is_met(demand))
    }

    /// Streams one pass of the first model that answers. Apart from [`Event::Lost`], the first event is
    /// [`Event::Answering`] with the name of that model.
    #[must_use]
    pub fn stream(&self, order: &[ModelName], request: &Request) -> EventStream {
        let able = order.iter().filter(|name| self.unmet_by(name, &request.options).is_none());
        let mut open: Vec<ModelCandidate> = able.filter_map(|name| self.candidate(name, request)).collect();
        open.reverse();
        let Some(first) = open.pop() else {
            let names = order.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let missing = ProviderError::UnknownModel(format!("{names}: the provider is not set up"));
            return stream::iter([Err(missing)]).boxed();
        };
        stream::unfold(
            FallbackStream { current: Some(first), open, stream: None, told: None },
            FallbackStream::next,
        )
        .boxed()
    }

    /// Returns `true` if one of these models would search the web by itself for this request.
    #[must_use]
    pub fn may_search(&self, order: &[ModelName], request: &Request) -> bool {
        order.iter().filter_map(|model| self.capabilities(model)).any(|can| may_search(request, can))
    }

    /// Returns the largest input that one of these models accepts, in tokens. `None` if it is unknown for one of
    /// them.
    #[must_use]
    pub fn most_input(&self, order: &[ModelName]) -> Option<usize> {
        let window = |model: &ModelName| self.providers.get(model.provider.as_str())?.window(&model.model);
        order.iter().map(window).try_fold(0, |most, window| Some(most.max(window?)))
    }

    fn candidate(&self, name: &ModelName, request: &Request) -> Option<ModelCandidate> {
        let provider = self.providers.get(name.provider.as_str())?.clone();
        let mut can = provider.capabilities(&name.model);
        can.hearing &= provider.meets(Demand::Sounds);
        let mut request = self.fitted(request.clone(), name, can);
        let answer = can.room_of_answer(request.settings.max_tokens);
        let room = |window: usize| window.saturating_sub(answer);
        let known = provider.window(&name.model).map(room);
        if let Some(room) = known {
            let asked = request.settings.max_tokens.and_then(|tokens| usize::try_from(tokens).ok());
            if asked.is_some_and(|asked| asked > answer) {
                request.settings.max_tokens = u32::try_from(answer).ok();
            }
            fit(&mut request, room);
        }
        // Our count or guess may exceed the limit that the model reports.
        let less = known.map_or(room(can.context_window), |room| room - room / 4);
        Some(ModelCandidate { name: name.clone(), provider, request, less: Some(less) })
    }

    /// Returns a request without the parts that a model cannot accept.
    fn fitted(&self, mut request: Request, name: &ModelName, can: Capabilities) -> Request {
        name.model.clone_into(&mut request.model);
        // Parts of another provider are not sent and take no room.
        request.items.iter_mut().for_each(|item| without_foreign(item, &name.provider));
        if !can.tools {
            request.tools.clear();
        }
        request.web_search = may_search(&request, can);
        // A search tool is for models whose provider does not search by itself.
        let needs_tool = !request.web_search && (can.web_search || self.outside_search);
        request.tools.retain(|tool| needs_tool || tool.kind != ToolKind::WebSearch);
        tell_schema(&mut request, can);
        if !can.structured_output {
            request.schema = None;
        }
        if !can.vision {
            request.items.iter_mut().for_each(without_images);
        }
        if !can.hearing {
            request.items.iter_mut().for_each(without_sounds);
        }
        if wants_free_json(&request) {
            ask_for_json(&mut request.items);
        }
        request
    }
}

/// Returns `true` if the provider searches for such a model in this request.
fn may_search(request: &Request, can: Capabilities) -> bool {
    let has_tools = can.tools && request.tools.iter().any(|tool| tool.kind != ToolKind::WebSearch);
    request.web_search
        && can.web_search
        && (can.search_with_tools || !has_tools)
        && (can.search_with_json || !wants_free_json(request))
}

/// Returns `true` if the answer is to be free-form JSON.
fn wants_free_json(request: &Request) -> bool {
    request.schema.is_none() && request.settings.output_format == Some(OutputFormat::Json)
}

/// Describes the format of the answer in the instructions, if this model cannot be constrained to it in this request
/// or that is unknown.
fn tell_schema(request: &mut Request, can: Capabilities) {
    let is_held = can.structured_output && (can.schema_with_tools || request.tools.is_empty());
    if !is_held || can.is_guess {
        say_schema(request);
    }
}

/// Adds the format of the answer to the instructions, once, if the request says so.
pub(super) fn say_schema(request: &mut Request) {
    let Some(answer) = request.schema.as_ref().filter(|_| request.tells_schema) else { return };
    let words = "Your final answer is one JSON object and nothing else, without a code fence. It matches this JSON Schema:";
    let told = format!("\n\n{words}\n{}", answer.schema);
    if !request.instructions.ends_with(&told) {
        request.instructions.push_str(&told);
    }
}

fn without_foreign(item: &mut Item, provider: &str) {
    if let Item::Assistant { private, .. } = item {
        private.retain(|part| part.provider == provider);
    }
}

/// Removes images and tells the model that they were there, so that it can say so.
pub(super) fn without_images(item: &mut Item) {
    without(item, "pictures that you cannot see", MediaPart::is_sound);
}

/// Removes sounds, like [`without_images`].
fn without_sounds(item: &mut Item) {
    without(item, "sounds that you cannot hear", |media| !media.is_sound());
}

fn without(item: &mut Item, told: &str, stays: impl Fn(&MediaPart) -> bool) {
    let (Item::User { text, media } | Item::ToolResult { output: text, media, .. }) = item else { return };
    let before = media.len();
    media.retain(stays);
    if media.len() < before {
        *text += &format!("\n[{told}: {}]", before - media.len());
    }
}

/// Asks for free-form JSON in the text too. OpenAI refuses the request otherwise, and other models write blanks
/// without end.
fn ask_for_json(items: &mut [Item]) {
    let last = items.iter_mut().rev().find_map(|item| match item {
        Item::User { text, .. } => Some(text),
        Item::Assistant { .. } | Item::ToolResult { .. } => None,
    });
    if let Some(text) = last {
        text.push_str("\n[answer with one JSON object and nothing else]");
    }
}

/// Model to ask, and the request for it.
struct ModelCandidate {
    name: ModelName,
    provider: Arc<dyn Provider>,
    request: Request,
    /// Tokens to shorten the request to if the model refuses it as too long; `None` once it was shortened.
    less: Option<usize>,
}

impl ModelCandidate {
    /// Shortens a request that was refused as too long, once. Returns `true` if it is shorter now.
    fn shorten(&mut self, error: &ProviderError) -> bool {
        let ProviderError::TooLong(_) = error else { return false };
        let Some(less) = self.less.take() else { return false };
        let before = self.request.items.clone();
        let half = self.request.count_tokens() / 2;
        fit(&mut self.request, less.min(half));
        self.request.items != before
    }
}

/// Stream that asks one model after the other.
struct FallbackStream {
    current: Option<ModelCandidate>,
    /// Models not asked yet, the next one last.
    open: Vec<ModelCandidate>,
    stream: Option<EventStream>,
    /// Event that waits until the model's name was sent.
    told: Option<Event>,
}

impl FallbackStream {
    async fn next(mut self) -> Option<(Result<Event, ProviderError>, Self)> {
        if let Some(event) = self.told.take() {
            return Some((Ok(event), self));
        }
        loop {
            let Some(candidate) = &mut self.current else {
                let event = self.stream.as_mut()?.next().await?;
                return Some((event, self));
            };
            let (provider, request) = (candidate.provider.clone(), candidate.request.clone());
            let stream = self.stream.get_or_insert_with(|| provider.stream(request));
            match stream.next().await? {
                Ok(lost @ Event::Lost(_)) => return Some((Ok(lost), self)),
                Ok(event) => {
                    let name = candidate.name.clone();
                    self.current = None;
                    self.told = Some(event);
                    return Some((Ok(Event::Answering(name)), self));
                }
                Err(error) if candidate.shorten(&error) => {
                    warn!(model = %candidate.name, "a request was too long for its model and is sent shorter");
                    self.stream = None;
                }
                // Refusals count too, except for content: each service reads a request in its own way, and a refusal
                // costs nothing.
                Err(error) if !self.open.is_empty() && !error.is_about_content() => {
                    warn!(model = %candidate.name, error = error.label(), reason = %error, "a model does not answer; the next is asked");
                    let lost = error.was_taken_up().then(|| Event::Lost(candidate.name.clone()));
                    self.current = self.open.pop();
                    self.stream = None;
                    if let Some(lost) = lost {
                        return Some((Ok(lost), self));
                    }
                }
                Err(error) => {
                    self.current = None;
                    return Some((Err(error), self));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use futures::future::BoxFuture;
    use serde_json::json;

    use super::*;
    use crate::{AnswerSchema, Finish, ToolSpec};

    type Answer = Vec<Result<Event, ProviderError>>;

    /// Gives one answer and keeps what it was asked.
    #[derive(Debug)]
    struct Fixed {
        name: &'static str,
        tools: bool,
        answer: Answer,
        asked: Mutex<Vec<Request>>,
    }

    impl Provider for Fixed {
        fn name(&self) -> &'static str {
            self.name
        }

        fn capabilities(&self, _model: &str) -> Capabilities {
            Capabilities { tools: self.tools, ..Capabilities::of("nobody", "") }
        }

        fn window(&self, _model: &str) -> Option<usize> {
            Some(Capabilities::of("nobody", "").context_window)
        }

        fn ignored(&self, _model: &str, _settings: &Generation) -> Vec<&'static str> {
            Vec::new()
        }

        fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
            Box::pin(async { Ok(Vec::new()) })
        }

        fn stream(&self, request: Request) -> EventStream {
            self.asked.lock().unwrap().push(request);
            stream::iter(self.answer.clone()).boxed()
        }
    }

    fn fixed(name: &'static str, answer: Answer) -> Arc<Fixed> {
        Arc::new(Fixed { name, tools: name == "a", answer, asked: Mutex::default() })
    }

    fn name(text: &str) -> ModelName {
        text.parse().unwrap()
    }

    fn says(text: &str) -> Result<Event, ProviderError> {
        Ok(Event::TextDelta(text.into()))
    }

    fn whole() -> Result<Event, ProviderError> {
        Ok(Event::Completed { finish: Finish::Stop, usage: None })
    }

    async fn told(first: Answer, second: Answer) -> Vec<String> {
        let providers: [Arc<dyn Provider>; 2] = [fixed("a", first), fixed("b", second)];
        let models = Models::new(providers, name("a:x"), vec![name("c:gone"), name("b:y")]);
        let request = Request::new("", "", vec![Item::user("hi")]);
        let events: Vec<_> = models.stream(&models.order(&name("a:x")), &request).collect().await;
        let short = |event: Result<Event, ProviderError>| match event {
            Ok(Event::Answering(name)) => name.to_string(),
            Ok(Event::Lost(name)) => format!("lost {name}"),
            Ok(Event::TextDelta(text)) => text,
            Ok(_) => ".".to_owned(),
            Err(error) => error.label().to_owned(),
        };
        events.into_iter().map(short).collect()
    }

    #[tokio::test]
    async fn a_request_that_is_too_long_for_its_model_is_sent_shorter_once() {
        let too_long = || vec![Err(ProviderError::TooLong("m".to_owned()))];
        let provider = fixed("a", too_long());
        let models = Models::new([provider.clone() as Arc<dyn Provider>], name("a:x"), Vec::new());
        let request = Request::new("", "", vec![Item::user("word ".repeat(5_500))]);
        let told: Vec<_> = models.stream(&[name("a:x")], &request).collect().await;
        assert_eq!(told, too_long());
        let asked = provider.asked.lock().unwrap();
        let lengths: Vec<usize> = asked.iter().map(|request| request.items[0].text().len()).collect();
        assert!(lengths.len() == 2 && lengths[0] == 27_500 && lengths[1] < 27_500, "{lengths:?}");
    }

    #[tokio::test]
    async fn of_a_model_that_tells_its_window_later_nothing_is_cut_before() {
        #[derive(Debug)]
        struct Later(Arc<Fixed>);

        impl Provider for Later {
            fn name(&self) -> &'static str {
                self.0.name()
            }

            fn capabilities(&self, model: &str) -> Capabilities {
                self.0.capabilities(model)
            }

            fn window(&self, _model: &str) -> Option<usize> {
                None
            }

            fn ignored(&self, _model: &str, _settings: &Generation) -> Vec<&'static str> {
                Vec::new()
            }

            fn models(&self) -> BoxFuture<'static, Result<Vec<String>, ProviderError>> {
                self.0.models()
            }

            fn stream(&self, request: Request) -> EventStream {
                self.0.stream(request)
            }
        }

        let inner = fixed("a", vec![whole()]);
        let retry = crate::retry::RetryProvider::new(Arc::new(Later(inner.clone())), Default::default());
        let models = Models::new([Arc::new(retry) as Arc<dyn Provider>], name("a:x"), Vec::new());
        assert_eq!(models.most_input(&[name("a:x")]), None);
        let request = Request::new("", "", vec![Item::user("word ".repeat(20_000))]);
        let told: Vec<_> = models.stream(&[name("a:x")], &request).collect().await;
        assert_eq!(told.len(), 2, "{told:?}");
        assert_eq!(inner.asked.lock().unwrap()[0].items, request.items);
    }

    #[tokio::test]
    async fn the_next_is_asked_until_something_was_told() {
        let down = || Err(ProviderError::Unavailable("down".into()));
        let cases = [
            (vec![says("A"), whole()], vec![says("B")], vec!["a:x", "A", "."]),
            (vec![down()], vec![says("B"), whole()], vec!["b:y", "B", "."]),
            (
                vec![Err(ProviderError::Stalled(Duration::ZERO))],
                vec![says("B")],
                vec!["lost a:x", "b:y", "B"],
            ),
            (vec![Err(ProviderError::Unauthorized("no".into()))], vec![whole()], vec!["b:y", "."]),
            (vec![says("A"), down()], vec![says("B")], vec!["a:x", "A", "unavailable"]),
            (vec![down()], vec![Err(ProviderError::NoQuota("0".into()))], vec!["no_quota"]),
            (
                vec![Err(ProviderError::Refused("bad".into()))],
                vec![says("B"), whole()],
                vec!["b:y", "B", "."],
            ),
            // What one service does not answer is taken to no other.
            (
                vec![Err(ProviderError::Refused("against the content policy".into()))],
                vec![says("B"), whole()],
                vec!["refused"],
            ),
        ];
        for (first, second, wanted) in cases {
            let case = format!("{first:?} {second:?}");
            assert_eq!(told(first, second).await, wanted, "{case}");
        }
    }

    #[tokio::test]
    async fn each_model_gets_what_it_can_take() {
        let (a, b) = (fixed("a", vec![Err(ProviderError::Cut("x".into()))]), fixed("b", vec![whole()]));
        let providers: [Arc<dyn Provider>; 2] = [a.clone(), b.clone()];
        let models = Models::new(providers, name("a:x"), vec![name("b:y")]);
        let image = MediaPart { mime_type: "image/png".into(), seconds: 0, base64: "AA==".into() };
        let items = vec![Item::User { text: "see".into(), media: vec![image] }];
        let tool = Arc::new(ToolSpec::new("t", "", json!({})));
        let request = Request { tools: vec![tool], web_search: true, ..Request::new("", "s", items) };
        models.stream(&models.order(&name("a:x")), &request).collect::<Vec<_>>().await;
        let asked = |provider: &Fixed| provider.asked.lock().unwrap()[0].clone();
        let (first, second) = (asked(&a), asked(&b));
        assert_eq!((first.model.as_str(), first.tools.len(), first.web_search), ("x", 1, false));
        assert_eq!((second.model.as_str(), second.tools.len()), ("y", 0));
        assert_eq!(second.items, [Item::user("see\n[pictures that you cannot see: 1]")]);
    }

    #[test]
    fn json_of_no_certain_form_is_asked_for_in_words() {
        let settings = Generation { output_format: Some(OutputFormat::Json), ..Generation::default() };
        let schema = AnswerSchema { name: "s".into(), schema: json!({"type": "object"}) };
        let hi = vec![Item::user("hi"), Item::user("there")];
        let free = Request { settings, web_search: true, ..Request::new("", "", hi) };
        let bound = Request { schema: Some(schema), ..free.clone() };
        let words = Request { settings: Generation::default(), ..free.clone() };
        let models = Models::new([], name("a:x"), Vec::new());
        let all =
            Capabilities { web_search: true, structured_output: true, ..Capabilities::of("nobody", "") };
        let alone = Capabilities { search_with_json: false, ..all };
        let cases = [
            (&free, all, "there\n[answer with one JSON object and nothing else]", true),
            (&free, alone, "there\n[answer with one JSON object and nothing else]", false),
            (&bound, alone, "there", true),
            (&words, alone, "there", true),
        ];
        for (request, can, last, searches) in cases {
            let fitted = models.fitted(request.clone(), &name("a:x"), can);
            assert_eq!(fitted.items, [Item::user("hi"), Item::user(last)]);
            assert_eq!(fitted.web_search, searches, "{request:?}");
        }
    }

    #[test]
    fn a_form_that_a_model_cannot_be_held_to_is_told_in_words() {
        let schema = AnswerSchema { name: "s".into(), schema: json!({"type": "object"}) };
        let tool = Arc::new(ToolSpec::new("t", "", json!({})));
        let with = |tools: &[Arc<ToolSpec>], tells_schema: bool| Request {
            schema: Some(schema.clone()),
            tools: tools.to_vec(),
            tells_schema,
            ..Request::new("", "Extract.", vec![Item::user("hi")])
        };
        let models = Models::new([], name("a:x"), Vec::new());
        let free = Capabilities { tools: true, ..Capabilities::of("nobody", "") };
        let all = Capabilities { structured_output: true, ..free };
        let apart = Capabilities { schema_with_tools: false, ..all };
        let tools = [tool];
        for (request, can, is_told, is_held) in [
            (with(&tools, true), all, false, true),
            (with(&tools, true), apart, true, true),
            (with(&[], true), apart, false, true),
            (with(&[], true), free, true, false),
            (with(&[], false), free, false, false),
        ] {
            let fitted = models.fitted(request, &name("a:x"), can);
            assert_eq!(
                fitted.instructions.ends_with("JSON Schema:\n{\"type\":\"object\"}"),
                is_told,
                "{can:?}"
            );
            assert_eq!((fitted.instructions == "Extract.", fitted.schema.is_some()), (!is_told, is_held));
        }
    }

    #[tokio::test]
    async fn a_model_of_nobody_is_said_so() {
        let models = Models::new([], name("a:x"), Vec::new());
        let events: Vec<_> = models.stream(&[name("a:x")], &Request::new("", "", Vec::new())).collect().await;
        assert_eq!(events, [Err(ProviderError::UnknownModel("a:x: the provider is not set up".into()))]);
        assert_eq!(models.capabilities(&name("a:x")), None);
    }
}
