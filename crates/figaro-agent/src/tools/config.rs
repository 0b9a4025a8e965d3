//! The settings tools: `get_config`, `set_config`, `reset_config`. In a group, only people who may change settings by hand
//! may do so through the model.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::typed::{ToolDefinition, present, typed};
use super::{Tool, ToolContext, ToolError, zone};
use figaro_domain::chat::{AnswerWhen, ChatConfig, ConfigPatch, MAX_SETTING_CHARS};
use figaro_domain::tool::{Effect, StatusKey};
use figaro_policy::access::{Admins, may_change};
use figaro_store::{Changing, SettingsStore, StoreError, TaskStore, ZoneChangeResult, change_chat};

/// Status text shown during a call.
const STATUS: StatusKey = StatusKey("tool_config");

/// Dependencies of the settings tools.
#[derive(Debug, Clone)]
pub struct ConfigTools {
    /// Settings of chats.
    pub store: SettingsStore,
    /// Scheduled tasks, which follow the chat's time zone.
    pub tasks: TaskStore,
    /// Tells who may change settings in a group.
    pub admins: Arc<dyn Admins>,
}

impl ConfigTools {
    /// Makes `get_config`, which shows the settings of the chat. A rare tool.
    #[must_use]
    pub(crate) fn get(self) -> Arc<dyn Tool> {
        let words = "Shows how you are set up in this chat.";
        let about = ToolDefinition::new("get_config", words, Effect::Read, STATUS)
            .of_chat()
            .rare("show settings configuration of yours setup language tone instructions");
        typed(about, move |context: ToolContext, NoConfigArguments {}| {
            let this = self.clone();
            async move { Ok(view(&this.store.chat_config(context.place.chat)?)) }
        })
    }

    /// Makes `set_config`, which changes settings of the chat.
    #[must_use]
    pub(crate) fn set(self) -> Arc<dyn Tool> {
        let words =
            "Changes how you behave in this chat from now on. Give only what is to change; null clears it.";
        let about = ToolDefinition::new("set_config", words, Effect::Write, STATUS).of_chat();
        typed(about, move |context: ToolContext, change: ConfigArguments| {
            let this = self.clone();
            async move {
                this.may_change(&context).await?;
                let patch = change.patch(&context)?;
                let is_zone = matches!(patch.timezone, Some(Some(_)));
                let (config, followed) = this.change(&context, patch).await?;
                let mut view = view(&config);
                if is_zone {
                    view["tasks_moved"] = json!(followed.moved.len());
                    view["tasks_in_another_zone"] = json!(followed.others.len());
                }
                Ok(view)
            }
        })
    }

    /// Makes `reset_config`, which clears the settings of the chat. A rare tool.
    #[must_use]
    pub(crate) fn reset(self) -> Arc<dyn Tool> {
        let words = "Clears all settings of this chat. Only when the person asked for exactly that.";
        let about = ToolDefinition::new("reset_config", words, Effect::Destructive, STATUS)
            .of_chat()
            .rare("reset clear forget settings configuration default");
        typed(about, move |context: ToolContext, NoConfigArguments {}| {
            let this = self.clone();
            async move {
                this.may_change(&context).await?;
                Ok(view(&this.change(&context, ConfigPatch::reset()).await?.0))
            }
        })
    }

    /// Changes settings in the name of the turn, so that Figaro shows the change with an undo button.
    async fn change(
        &self,
        context: &ToolContext,
        patch: ConfigPatch,
    ) -> Result<(ChatConfig, ZoneChangeResult), StoreError> {
        let changing = Changing { now: context.now, turn: Some(context.run) };
        change_chat(&self.store, &self.tasks, context.place.chat, patch, changing).await
    }

    async fn may_change(&self, context: &ToolContext) -> Result<(), ToolError> {
        let (place, user) = (&context.place, &context.speaker.user);
        let may = may_change(&*self.admins, context.standing, place, user).await;
        if may {
            return Ok(());
        }
        Err(ToolError::Denied(
            "only an admin of this chat or the bot's owner may change its settings".to_owned(),
        ))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoConfigArguments {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConfigArguments {
    /// Instructions to follow in this chat.
    #[serde(default, deserialize_with = "present")]
    custom_prompt: Option<Option<String>>,
    /// To answer in, such as "Portuguese".
    #[serde(default, deserialize_with = "present")]
    language: Option<Option<String>>,
    /// How to sound, in a few words.
    #[serde(default, deserialize_with = "present")]
    personality: Option<Option<String>>,
    /// Where the chat is: a city, an IANA time zone, or the time that it is there now.
    #[serde(default, deserialize_with = "present")]
    timezone: Option<Option<String>>,
    /// In a group; mention: when named or replied to.
    #[serde(default, deserialize_with = "present")]
    answer_when: Option<Option<AnswerWhen>>,
}

impl ConfigArguments {
    fn patch(self, context: &ToolContext) -> Result<ConfigPatch, ToolError> {
        let read_zone = |zone: Option<String>| zone.map(|zone| zone::read(&zone, context)).transpose();
        Ok(ConfigPatch {
            custom_prompt: read_text(self.custom_prompt, "custom_prompt")?,
            language: read_text(self.language, "language")?,
            personality: read_text(self.personality, "personality")?,
            timezone: self.timezone.map(read_zone).transpose()?,
            answer_when: self.answer_when.map(Option::unwrap_or_default),
            ..ConfigPatch::default()
        })
    }
}

fn read_text(change: Option<Option<String>>, name: &str) -> Result<Option<Option<String>>, ToolError> {
    let Some(value) = change else { return Ok(None) };
    let value = value.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    if value.as_ref().is_some_and(|text| text.chars().count() > MAX_SETTING_CHARS) {
        return Err(ToolError::ForModel(format!("{name} takes at most {MAX_SETTING_CHARS} characters")));
    }
    Ok(Some(value))
}

fn view(config: &ChatConfig) -> Value {
    json!({
        "success": true,
        "custom_prompt": config.custom_prompt,
        "language": config.language,
        "personality": config.personality,
        "timezone": config.timezone.map(|zone| zone.name()),
        "answer_when": config.answer_when,
        "quiet_hours": config.quiet_hours,
        "format": config.format,
        "agent": config.agent,
        "model": config.model.as_ref().map(ToString::to_string),
    })
}
