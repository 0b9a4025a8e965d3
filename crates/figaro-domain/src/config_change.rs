//! Changes of a chat's settings by the model, kept so that people can see and undo them.

use chrono::{DateTime, TimeDelta, Utc};
use figaro_base::tz::Tz;
use serde::{Deserialize, Serialize};

use super::chat::ChatConfig;
use figaro_base::ids::{ChatId, RunId, TaskId};

/// Time in which a change by the model can be undone.
pub const UNDO: TimeDelta = TimeDelta::hours(24);

/// A setting of a chat that the model can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// Instructions that the chat adds to the system prompt.
    Instructions,
    /// Language of answers.
    Language,
    /// Tone of answers.
    Tone,
    /// IANA time zone of the chat.
    Zone,
    /// Persona of the bot.
    Persona,
    /// Condition for answering in a group.
    Answers,
    /// Hours of each day in which no task runs.
    Quiet,
    /// Form of answers, as [`AnswerFormat`](super::chat::AnswerFormat).
    Format,
    /// Model that answers in the chat.
    Model,
    /// Parameters sent to the model.
    Writing,
}

impl Setting {
    /// All settings, in the order in which people see them.
    pub(crate) const ALL: [Self; 10] = [
        Self::Language,
        Self::Tone,
        Self::Instructions,
        Self::Persona,
        Self::Answers,
        Self::Format,
        Self::Zone,
        Self::Quiet,
        Self::Model,
        Self::Writing,
    ];

    /// Returns `true` if the setting differs between the two.
    #[must_use]
    pub fn differs(self, one: &ChatConfig, other: &ChatConfig) -> bool {
        match self {
            Self::Instructions => one.custom_prompt != other.custom_prompt,
            Self::Language => one.language != other.language,
            Self::Tone => one.personality != other.personality,
            Self::Zone => one.timezone != other.timezone,
            Self::Persona => one.persona != other.persona,
            Self::Answers => one.answer_when != other.answer_when,
            Self::Quiet => one.quiet_hours != other.quiet_hours,
            Self::Format => one.format != other.format,
            Self::Model => one.model != other.model,
            Self::Writing => one.settings != other.settings,
        }
    }

    /// Copies the setting from one configuration to another.
    fn copy(self, from: &ChatConfig, to: &mut ChatConfig) {
        match self {
            Self::Instructions => {
                to.custom_prompt.clone_from(&from.custom_prompt);
                to.written_in.custom_prompt = from.written_in.custom_prompt;
            }
            Self::Language => {
                to.language.clone_from(&from.language);
                to.written_in.language = from.written_in.language;
            }
            Self::Tone => {
                to.personality.clone_from(&from.personality);
                to.written_in.personality = from.written_in.personality;
            }
            Self::Zone => to.timezone = from.timezone,
            Self::Persona => to.persona.clone_from(&from.persona),
            Self::Answers => to.answer_when = from.answer_when,
            Self::Quiet => to.quiet_hours = from.quiet_hours,
            Self::Format => to.format = from.format,
            Self::Model => to.model.clone_from(&from.model),
            Self::Writing => to.settings = from.settings,
        }
    }
}

/// A turn in which the model changes settings.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangingTurn {
    /// The turn in which the model made the change.
    pub run: RunId,
    /// Tasks moved to a new time zone, each with the zone assumed before.
    pub moved: Vec<(TaskId, Tz)>,
    /// The time of the change, UTC.
    pub at: DateTime<Utc>,
}

/// All changes that the model made to a chat's settings in one turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigChange {
    /// The turn in which the model made the change.
    pub run: RunId,
    /// The chat whose settings were changed.
    pub chat: ChatId,
    /// Settings before the change. They differ from `after` only in settings that the model changed.
    pub before: ChatConfig,
    /// The chat's settings after the change.
    pub after: ChatConfig,
    /// Tasks moved to a new time zone, each with the zone assumed before.
    pub moved: Vec<(TaskId, Tz)>,
    /// Time of the last change, UTC.
    pub changed_at: DateTime<Utc>,
    /// `true` if a person has undone the change.
    pub undone: bool,
}

impl ConfigChange {
    /// Creates an empty change of a chat for this turn.
    #[must_use]
    pub fn new(chat: ChatId, turn: &ChangingTurn) -> Self {
        let (before, after) = Default::default();
        Self { run: turn.run, chat, before, after, moved: Vec::new(), changed_at: turn.at, undone: false }
    }

    /// Adds the change of one call. If a person changed the same setting in between, their value becomes the one before.
    pub fn add(&mut self, before: &ChatConfig, after: &ChatConfig, turn: ChangingTurn) {
        for setting in Setting::ALL.into_iter().filter(|setting| setting.differs(before, after)) {
            let follows = setting.differs(&self.before, &self.after) && !setting.differs(&self.after, before);
            if !follows {
                setting.copy(before, &mut self.before);
            }
            setting.copy(after, &mut self.after);
        }
        self.moved.extend(turn.moved);
        self.changed_at = turn.at;
    }

    /// Returns the settings whose values differ before and after.
    pub fn settings(&self) -> impl Iterator<Item = Setting> {
        Setting::ALL.into_iter().filter(|setting| setting.differs(&self.before, &self.after))
    }

    /// Returns `true` if the change is not undone yet and its time for undoing is not over.
    #[must_use]
    pub fn can_be_undone(&self, now: DateTime<Utc>) -> bool {
        !self.undone && now - self.changed_at < UNDO
    }

    /// Restores the settings that still have the model's value, and returns them. Settings changed again since then stay.
    pub fn undo(&mut self, config: &mut ChatConfig, now: DateTime<Utc>) -> Vec<Setting> {
        if !self.can_be_undone(now) {
            return Vec::new();
        }
        let (before, after) = (&self.before, &self.after);
        let holds = |setting: &Setting| !setting.differs(config, after);
        let restored: Vec<Setting> = self.settings().filter(holds).collect();
        restored.iter().for_each(|setting| setting.copy(before, config));
        self.undone = !restored.is_empty();
        restored
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chat::{AnswerWhen, ConfigPatch};

    fn at(hours: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::hours(hours)
    }

    /// A change of some settings by the model to one of a few values, so that changes meet.
    fn by_model() -> impl Strategy<Value = ConfigPatch> {
        let text = || proptest::option::of(proptest::option::of("[ab]"));
        let when = proptest::option::of(prop_oneof![Just(AnswerWhen::Always), Just(AnswerWhen::Mention)]);
        let zone = proptest::option::of(proptest::option::of(Just("Europe/Riga".parse::<Tz>().unwrap())));
        (text(), text(), text(), when, zone, proptest::bool::weighted(0.1)).prop_map(
            |(custom_prompt, language, personality, answer_when, timezone, resets)| match resets {
                true => ConfigPatch::reset(),
                false => ConfigPatch {
                    custom_prompt,
                    language,
                    personality,
                    timezone,
                    answer_when,
                    ..ConfigPatch::default()
                },
            },
        )
    }

    /// A change by a person, to what the model never chooses.
    fn by_person() -> impl Strategy<Value = ConfigPatch> {
        let text = || proptest::option::of("[xy]".prop_map(Some));
        let zone = proptest::option::of(Just(Some("Asia/Tokyo".parse::<Tz>().unwrap())));
        (text(), text(), proptest::option::of(Just(AnswerWhen::Off)), zone).prop_map(
            |(custom_prompt, language, answer_when, timezone)| ConfigPatch {
                custom_prompt,
                language,
                timezone,
                answer_when,
                ..ConfigPatch::default()
            },
        )
    }

    proptest! {
        /// Whatever the model and people change in whatever order: undoing sets back what still is as the model left it,
        /// to what it was before the model's changes that led there, and nothing else.
        #[test]
        fn undoing_sets_back_what_the_model_left_and_nothing_else(
            steps in proptest::collection::vec(
                prop_oneof![by_model().prop_map(|patch| (patch, true)), by_person().prop_map(|patch| (patch, false))],
                1..12,
            ),
        ) {
            let turn = ChangingTurn { run: RunId::new(), moved: Vec::new(), at: at(0) };
            let mut change = ConfigChange::new(ChatId(1), &turn);
            let mut config = ChatConfig::default();
            // By setting: what it was before the model's changes, as long as nobody else has changed it since.
            let mut wanted: Vec<Option<ChatConfig>> = vec![None; Setting::ALL.len()];
            for (patch, is_models) in steps {
                let before = config.clone();
                patch.apply(&mut config, is_models.then_some(turn.run));
                for (setting, wanted) in Setting::ALL.into_iter().zip(&mut wanted) {
                    match (setting.differs(&before, &config), is_models) {
                        (true, true) => drop(wanted.get_or_insert_with(|| before.clone())),
                        (true, false) => *wanted = None,
                        (false, _) => {}
                    }
                }
                if is_models {
                    change.add(&before, &config, turn.clone());
                }
            }
            let left = config.clone();
            change.undo(&mut config, at(1));
            for (setting, wanted) in Setting::ALL.into_iter().zip(&wanted) {
                let wanted = wanted.as_ref().unwrap_or(&left);
                prop_assert!(!setting.differs(&config, wanted), "{:?}", setting);
            }
            prop_assert_eq!(change.undo(&mut config, at(1)), Vec::<Setting>::new());
        }
    }

    #[test]
    fn a_change_can_be_undone_for_a_day() {
        let turn = ChangingTurn { run: RunId::new(), moved: Vec::new(), at: at(0) };
        let german = ChatConfig { language: Some("German".into()), ..ChatConfig::default() };
        let mut change = ConfigChange::new(ChatId(1), &turn);
        change.add(&ChatConfig::default(), &german, turn);
        for (hours, restored) in [(24, vec![]), (23, vec![Setting::Language]), (1, vec![])] {
            assert_eq!(change.undo(&mut german.clone(), at(hours)), restored, "after {hours} hours");
        }
    }

    #[test]
    fn what_the_model_wrote_is_forgotten_with_its_turn_and_what_a_person_set_stays() {
        let (model, later) = (RunId::new(), RunId::new());
        let tone =
            |tone: &str| ConfigPatch { personality: Some(Some(tone.into())), ..ConfigPatch::default() };
        let language =
            |words: &str| ConfigPatch { language: Some(Some(words.into())), ..ConfigPatch::default() };
        let mut config = ChatConfig::default();
        tone("as a pirate").apply(&mut config, Some(model));
        language("German").apply(&mut config, None);
        // Whoever says again what holds already has not set it.
        tone("as a pirate").apply(&mut config, Some(later));
        language("German").apply(&mut config, Some(later));
        let mut change =
            ConfigChange::new(ChatId(1), &ChangingTurn { run: model, moved: Vec::new(), at: at(0) });
        change.add(
            &ChatConfig::default(),
            &config,
            ChangingTurn { run: model, moved: Vec::new(), at: at(0) },
        );
        assert!(!config.clone().forget_turns(&[later].into()));
        assert!(config.forget_turns(&[model].into()) && change.after.forget_turns(&[model].into()));
        assert_eq!((config.personality.as_deref(), config.language.as_deref()), (None, Some("German")));
        assert_eq!(change.after.personality, None, "and no undo brings it back");
    }
}
