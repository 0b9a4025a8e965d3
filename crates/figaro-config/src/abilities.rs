//! Capabilities of models where the owner overrides the built-in list: `MODEL_CAPABILITIES`. Part of
//! [`super::ModelSettings`].

use std::ops::RangeInclusive;

use super::of_model::OfModel;
use super::reader::VariableReader;

/// Valid range of a context window, in tokens. A smaller one holds no prompt.
const WINDOWS: RangeInclusive<usize> = 2_048..=100_000_000;

/// Capabilities of a model beyond text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Abilities {
    /// `true` if it calls function tools.
    pub tools: bool,
    /// `true` if it accepts pictures.
    pub pictures: bool,
    /// `true` if it hears sounds.
    pub sounds: bool,
    /// `true` if its answer can be constrained to a JSON Schema.
    pub json: bool,
    /// Context window in tokens, request and answer together; `None` if not configured.
    pub window: Option<usize>,
}

impl Abilities {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Vec<OfModel<Self>> {
        let advice = "is not of the form provider:model=tools/pictures/sounds/json/32768: all that the model can do, the number \
                      being the tokens of its window (2048 or more); text alone for nothing else";
        OfModel::read(reader, "MODEL_CAPABILITIES", advice, Self::read_one)
    }

    /// Parses `tools/pictures/sounds/json/32768`, in any order.
    fn read_one(text: &str) -> Option<Self> {
        let mut can = Self::default();
        for word in text.split('/').map(|word| word.trim().to_ascii_lowercase()) {
            match word.as_str() {
                "text" => {}
                "tools" => can.tools = true,
                "pictures" => can.pictures = true,
                "sounds" => can.sounds = true,
                "json" => can.json = true,
                number => {
                    can.window = Some(number.replace('_', "").parse().ok().filter(|n| WINDOWS.contains(n))?)
                }
            }
        }
        Some(can)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::variables::Variables;

    fn read(text: &str) -> Result<Vec<OfModel<Abilities>>, Vec<String>> {
        let variables = HashMap::from([("MODEL_CAPABILITIES".to_owned(), text.to_owned())]);
        let known = Variables::builtin();
        let mut reader = VariableReader::new(&variables, &known);
        let read = Abilities::read(&mut reader);
        reader.finish(read).map_err(|faults| faults.0)
    }

    #[test]
    fn what_models_can_do_is_read() {
        let read =
            read("compatible:my/*=tools/JSON/32_768, ollama:qwen3:8b=pictures/sounds, compatible:small=text")
                .unwrap();
        let of = |model: &str| OfModel::best(&read, model).copied();
        let all = Abilities { tools: true, json: true, window: Some(32_768), ..Abilities::default() };
        assert_eq!(of("compatible:my/model"), Some(all));
        assert_eq!(
            of("ollama:qwen3:8b"),
            Some(Abilities { pictures: true, sounds: true, ..Abilities::default() })
        );
        assert_eq!((of("compatible:small"), of("compatible:other")), (Some(Abilities::default()), None));
    }

    #[test]
    fn what_is_of_no_such_form_is_told() {
        for text in [
            "m=tools",
            "opnai:x=tools",
            "openai:x=",
            "openai:x=video",
            "openai:x=12",
            "openai:x",
            "openai:x=-1",
        ] {
            let faults = read(text).unwrap_err();
            assert!(faults.len() == 1 && faults[0].starts_with("MODEL_CAPABILITIES"), "{faults:?}");
        }
    }
}
