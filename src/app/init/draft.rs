//! Existing settings and new answers, before anything is written.

use std::collections::HashMap;

use crate::app::failure::StartupError;
use figaro_config::{EnvFile, Values, Variables};

/// Answers so far, on top of the existing settings.
#[derive(Clone)]
pub(super) struct SettingsDraft {
    values: Values,
    pub(super) variables: Variables,
    /// Answers in the order of the questions.
    answers: Vec<(&'static str, String)>,
}

impl SettingsDraft {
    pub(super) const fn new(values: Values, variables: Variables) -> Self {
        Self { values, variables, answers: Vec::new() }
    }

    /// Returns the value of a variable; `None` if unset or empty.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        let answer = self.answers.iter().find(|(answered, _)| *answered == name);
        let value = answer.map(|(_, value)| value.as_str()).or_else(|| {
            let environment = self.values.environment.get(name).map(String::as_str);
            environment.or_else(|| self.values.file.value(name))
        });
        value.map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned)
    }

    /// Returns `true` if the environment sets a variable; it overrides the file.
    pub(super) fn is_fixed(&self, name: &str) -> bool {
        self.values.environment.get(name).is_some_and(|value| !value.trim().is_empty())
    }

    /// Records an answer. An answer equal to the current value changes nothing in the file.
    pub(super) fn set(&mut self, name: &'static str, value: &str) {
        self.answers.retain(|(answered, _)| *answered != name);
        self.answers.push((name, value.to_owned()));
    }

    /// Returns variables that the environment sets and `.env` lacks. A later start without them would run another bot.
    pub(super) fn outside_the_file(&self, file: &EnvFile) -> Vec<&'static str> {
        let known = self.variables.iter().map(|variable| variable.name);
        known.filter(|name| self.is_fixed(name) && file.value(name).is_none()).collect()
    }

    pub(super) fn all(&self) -> HashMap<String, String> {
        let mut all = self.values.all();
        all.extend(self.answers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        all
    }

    /// Returns the file with the answers added. Variables that the environment sets are left out.
    ///
    /// # Errors
    /// When an answer cannot be written to the file.
    pub(super) fn written_to(&self, mut file: EnvFile) -> Result<EnvFile, StartupError> {
        let answers = self.answers.iter().filter(|(name, _)| !self.is_fixed(name));
        for (name, value) in answers {
            if file.value(name) != Some(value) {
                let meaning = self.variables.iter().find(|known| known.name == *name);
                let meaning = meaning.map(|known| known.meaning.as_ref()).unwrap_or_default();
                file = file.with(name, value, meaning).map_err(|fault| StartupError(fault.to_string()))?;
            }
        }
        Ok(file)
    }
}
