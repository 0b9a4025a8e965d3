//! Makes tools from functions with typed arguments: the type gives the schema and parses what the model wrote.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::{CALL_TIMEOUT, Tool, ToolContext, ToolError, ToolNeed, ToolOutput, schema};
use figaro_domain::tool::{Effect, StatusKey, ToolKind};
use figaro_provider::ToolSpec;

type ToolFunction =
    dyn Fn(ToolContext, Value) -> BoxFuture<'static, Result<ToolOutput, ToolError>> + Send + Sync;

struct Typed {
    spec: Arc<ToolSpec>,
    about: ToolDefinition,
    body: Box<ToolFunction>,
}

/// Definition of a tool without its arguments and function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolDefinition {
    name: &'static str,
    description: &'static str,
    effect: Effect,
    status: StatusKey,
    kind: ToolKind,
    rare: Option<&'static str>,
    needs: ToolNeed,
    timeout: Duration,
    sends: usize,
}

impl ToolDefinition {
    /// Defines a tool that is always offered. The model calls it by `name`: at most 64 letters, digits and underscores.
    /// `description` is for the model.
    #[must_use]
    pub(crate) const fn new(
        name: &'static str,
        description: &'static str,
        effect: Effect,
        status: StatusKey,
    ) -> Self {
        Self {
            name,
            description,
            effect,
            status,
            kind: ToolKind::Plain,
            rare: None,
            needs: ToolNeed::Nothing,
            timeout: CALL_TIMEOUT,
            sends: 0,
        }
    }

    #[must_use]
    pub(crate) const fn of_kind(self, kind: ToolKind) -> Self {
        Self { kind, ..self }
    }

    /// Sets the timeout of calls.
    #[must_use]
    pub(crate) const fn taking(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets the number of messages that a call sends to the chat.
    #[must_use]
    pub(crate) const fn sending(self, sends: usize) -> Self {
        Self { sends, ..self }
    }

    /// Makes the tool rare: offered only once found, by these search words.
    #[must_use]
    pub(crate) const fn rare(self, words: &'static str) -> Self {
        Self { rare: Some(words), ..self }
    }

    /// Marks a tool that needs a chat which people read later.
    #[must_use]
    pub(crate) const fn of_chat(self) -> Self {
        Self { needs: ToolNeed::Chat, ..self }
    }

    /// Marks a tool that stores or looks up memories.
    #[must_use]
    pub(crate) const fn of_memory(self) -> Self {
        Self { needs: ToolNeed::Memory, ..self }
    }
}

/// Makes a tool with arguments of type `A`. Arguments that do not fit `A` are reported to the model. The function returns a
/// JSON value, or a [`ToolOutput`] with side effects for the turn.
///
/// ```ignore
/// #[derive(Deserialize, JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Count {
///     /// The text whose words are counted.
///     text: String,
/// }
///
/// pub(crate) fn count_words() -> Arc<dyn Tool> {
///     let about = ToolDefinition::new("count_words", "Counts words.", Effect::Read, StatusKey("tool_telegram"));
///     typed(about, |_: ToolContext, Count { text }| async move {
///         Ok(json!({"success": true, "words": text.split_whitespace().count()}))
///     })
/// }
/// ```
pub(crate) fn typed<A, F, R, O>(about: ToolDefinition, function: F) -> Arc<dyn Tool>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    F: Fn(ToolContext, A) -> R + Send + Sync + 'static,
    R: Future<Output = Result<O, ToolError>> + Send + 'static,
    O: Into<ToolOutput>,
{
    let spec = ToolSpec::new(about.name, about.description, schema::of::<A>()).of_kind(about.kind);
    let body = move |context, arguments| -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        match A::deserialize(&arguments) {
            Ok(arguments) => {
                let running = function(context, arguments);
                Box::pin(async move { running.await.map(Into::into) })
            }
            Err(error) => {
                let complaint = complaint::<A>(&arguments, &error);
                Box::pin(async move { Err(ToolError::ForModel(complaint)) })
            }
        }
    };
    Arc::new(Typed { spec: Arc::new(spec), about, body: Box::new(body) })
}

/// Describes why the arguments do not fit. Serde names a missing or unknown field, but not one with a value of the wrong
/// type. That field is found by adding the arguments one by one until the same error occurs.
pub(super) fn complaint<A: DeserializeOwned>(arguments: &Value, error: &serde_json::Error) -> String {
    let words = error.to_string();
    let mut part = Map::new();
    let fields = arguments.as_object().into_iter().flatten().filter(|_| words.starts_with("invalid "));
    for (name, value) in fields {
        part.insert(name.clone(), value.clone());
        let is_it =
            A::deserialize(&Value::Object(part.clone())).is_err_and(|error| error.to_string() == words);
        if is_it {
            return format!("the arguments do not fit: {name}: {words}");
        }
    }
    format!("the arguments do not fit: {words}")
}

/// Distinguishes `null`, which clears, from a missing key: `#[serde(default, deserialize_with = "present")]`.
pub(super) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

impl fmt::Debug for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Typed({})", self.spec.name)
    }
}

#[async_trait]
impl Tool for Typed {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn effect(&self) -> Effect {
        self.about.effect
    }

    fn status(&self) -> StatusKey {
        self.about.status
    }

    fn timeout(&self) -> Duration {
        self.about.timeout
    }

    fn rare(&self) -> Option<&str> {
        self.about.rare
    }

    fn needs(&self) -> ToolNeed {
        self.about.needs
    }

    fn sends(&self, _arguments: &Value) -> usize {
        self.about.sends
    }

    async fn call(&self, context: &ToolContext, arguments: Value) -> Result<ToolOutput, ToolError> {
        (self.body)(context.clone(), arguments).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use figaro_domain::tool::StatusKey;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Count {
        /// The text whose words are counted.
        text: String,
    }

    #[test]
    fn the_example_of_a_tool_is_one() {
        let about =
            ToolDefinition::new("count_words", "Counts words.", Effect::Read, StatusKey("tool_telegram"));
        let tool = typed(about, |_: ToolContext, Count { text }| async move {
            Ok(json!({"success": true, "words": text.split_whitespace().count()}))
        });
        assert_eq!(tool.spec().parameters["required"], json!(["text"]));
        let error = Count::deserialize(&json!({"text": 3})).err().unwrap();
        assert!(complaint::<Count>(&json!({"text": 3}), &error).contains("text: invalid type"));
    }
}
