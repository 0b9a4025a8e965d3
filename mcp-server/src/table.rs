//! The Bot API as data: methods, types and risk classes, embedded from `bot-api/` at compile time. The server builds its
//! tools from it; Figaro's offline Telegram checks requests against it.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

static TABLE: LazyLock<ApiTable> = LazyLock::new(ApiTable::embedded);

/// All methods and types of one Bot API version.
#[derive(Debug)]
pub struct ApiTable {
    /// Bot API version, like `10.3`.
    pub(crate) version: String,
    methods: Vec<Method>,
    by_name: HashMap<String, usize>,
    types: HashMap<String, TypeDef>,
}

/// A method of the Bot API.
#[derive(Debug)]
pub struct Method {
    /// Name in Telegram's spelling, like `sendMessage`.
    pub name: String,
    /// Parameters in Telegram's order.
    pub params: Vec<ApiField>,
    /// Type of `result` on success.
    pub returns: ApiType,
    /// Risk class of a call.
    pub class: Class,
    /// `true` if its effect cannot be undone.
    pub irreversible: bool,
    /// `true` if each call adds something new, whatever the method's name suggests.
    adds_each_time: bool,
}

/// A parameter of a method, or a field of a type.
#[derive(Debug, Deserialize)]
pub struct ApiField {
    /// Telegram's name of the field.
    pub name: String,
    /// Type of the value.
    #[serde(rename = "type")]
    pub ty: ApiType,
    /// `true` if Telegram rejects a call without it.
    #[serde(default)]
    pub required: bool,
    /// Lower bound in units of `unit`; `None` for no bound.
    pub min: Option<i64>,
    /// Upper bound in units of `unit`; `None` for no bound.
    pub max: Option<i64>,
    /// Unit of the bounds; `None` without bounds.
    pub unit: Option<Unit>,
    /// Values named by Telegram. Advisory: a newer server may know more.
    #[serde(default)]
    pub one_of: Vec<serde_json::Value>,
    /// Fixed value of a discriminator field; `None` for other fields.
    #[serde(rename = "const")]
    pub constant: Option<serde_json::Value>,
    /// `true` if the string may also be `attach://<part>`, which refers to a multipart part.
    #[serde(default)]
    pub attach: bool,
}

/// Unit of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// UTF-16 code units, as Telegram counts text.
    Chars,
    /// Bytes of UTF-8.
    Bytes,
    /// Elements of an array.
    Items,
    /// The number itself.
    Value,
}

/// A type expression of the Bot API.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum ApiType {
    /// An integer of up to 52 significant bits.
    Integer,
    /// Any JSON number.
    Float,
    /// Text in UTF-8.
    String,
    /// `true` or `false`.
    Boolean,
    /// Only `true`; used for flags.
    True,
    /// Content of a file, sent as multipart.
    InputFile,
    /// An object or union defined in the table, by name.
    Named(String),
    /// An array of one type.
    Array(Box<Self>),
    /// One of several types.
    Union(Vec<Self>),
}

impl From<String> for ApiType {
    fn from(text: String) -> Self {
        Self::parse(&text)
    }
}

impl ApiType {
    /// Parses the grammar `Integer | Float | … | Name | Array<T> | T "|" T`. Never fails: an unknown word is a name.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let alternatives = split_alternatives(text);
        if alternatives.len() > 1 {
            return Self::Union(alternatives.into_iter().map(Self::parse).collect());
        }
        if let Some(inner) = text.strip_prefix("Array<").and_then(|rest| rest.strip_suffix('>')) {
            return Self::Array(Box::new(Self::parse(inner)));
        }
        match text {
            "Integer" => Self::Integer,
            "Float" => Self::Float,
            "String" => Self::String,
            "Boolean" => Self::Boolean,
            "True" => Self::True,
            "InputFile" => Self::InputFile,
            name => Self::Named(name.to_owned()),
        }
    }
}

impl ApiType {
    /// Returns `true` if a value holds one or several messages, whole or by id.
    fn holds_message(&self) -> bool {
        match self {
            Self::Named(name) => name == "Message" || name == "MessageId",
            Self::Array(inner) => inner.holds_message(),
            Self::Union(types) => types.iter().any(Self::holds_message),
            Self::Integer | Self::Float | Self::String | Self::Boolean | Self::True | Self::InputFile => {
                false
            }
        }
    }
}

impl fmt::Display for ApiType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer => f.write_str("Integer"),
            Self::Float => f.write_str("Float"),
            Self::String => f.write_str("String"),
            Self::Boolean => f.write_str("Boolean"),
            Self::True => f.write_str("True"),
            Self::InputFile => f.write_str("InputFile"),
            Self::Named(name) => f.write_str(name),
            Self::Array(inner) => write!(f, "Array of {inner}"),
            Self::Union(types) => {
                let names: Vec<String> = types.iter().map(ToString::to_string).collect();
                f.write_str(&names.join(" or "))
            }
        }
    }
}

/// An object with fields, or a union of named types.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TypeDef {
    /// An object with these fields.
    Fields(Vec<ApiField>),
    /// One of these types.
    Union(Vec<ApiType>),
}

/// Risk class of a method, from harmless to owner-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Reads data and changes nothing.
    Read,
    /// Sends or edits messages.
    Message,
    /// Answers a query the bot received.
    Answers,
    /// Changes how the bot presents itself.
    Profile,
    /// Changes sticker sets.
    Stickers,
    /// Deletes messages of a chat.
    Delete,
    /// Acts on members or settings of a chat.
    Moderation,
    /// Acts for a connected business account.
    Business,
    /// Fits no other class; also the class of new methods.
    Other,
    /// Moves Stars or gifts.
    Money,
    /// Controls other bots of the owner.
    ManagedBots,
    /// Would take the update stream away from the running bot.
    Lifecycle,
}

impl Class {
    /// Returns the name as the data and `--only` spell it.
    pub(crate) fn name(self) -> String {
        serde_json::json!(self).as_str().unwrap_or_default().to_owned()
    }
}

#[derive(Deserialize)]
struct RawTable {
    version: String,
    methods: serde_json::Map<String, serde_json::Value>,
    types: HashMap<String, RawTypeDef>,
}

#[derive(Deserialize)]
struct RawMethod {
    params: Vec<ApiField>,
    returns: ApiType,
}

#[derive(Deserialize)]
struct RawTypeDef {
    #[serde(default)]
    fields: Vec<ApiField>,
    union: Option<Vec<ApiType>>,
}

#[derive(Deserialize)]
struct RawClasses {
    methods: HashMap<String, Class>,
    flags: RawFlags,
}

#[derive(Deserialize)]
struct RawFlags {
    adds_each_time: Vec<String>,
    irreversible: Vec<String>,
}

impl ApiField {
    /// Returns the name of the sibling field with the format of this text. If it is set, Telegram counts the text without
    /// its markup.
    #[must_use]
    pub(crate) fn parse_mode<'a>(&self, neighbours: &'a [Self]) -> Option<&'a str> {
        let own = neighbours.iter().find(|field| field.name.strip_suffix("_parse_mode") == Some(&self.name));
        let is_main = ["text", "caption", "message_text"].contains(&self.name.as_str());
        let common = || neighbours.iter().find(|field| is_main && field.name == "parse_mode");
        own.or_else(common).map(|field| field.name.as_str())
    }
}

impl Method {
    /// Returns `true` if repeating a call changes nothing more.
    #[must_use]
    pub(crate) fn is_idempotent(&self) -> bool {
        let replaces = self.begins(&["edit", "set", "delete"]) && !self.adds_each_time;
        self.class == Class::Read || replaces
    }

    /// Returns `true` if a call removes something, or changes anything beyond the bot's own messages and profile.
    #[must_use]
    pub fn is_destructive(&self) -> bool {
        let dangerous = match self.class {
            Class::Read => return false,
            Class::Message | Class::Answers | Class::Profile | Class::Stickers => false,
            Class::Delete
            | Class::Moderation
            | Class::Business
            | Class::Other
            | Class::Money
            | Class::ManagedBots
            | Class::Lifecycle => true,
        };
        dangerous || self.irreversible || self.begins(&["delete", "remove"])
    }

    /// Returns `true` if a call puts something into a chat, which counts against the chat's limits.
    #[must_use]
    pub fn speaks(&self) -> bool {
        self.class == Class::Message || self.begins(&["send", "copy", "forward"])
    }

    /// Returns `true` if a call changes, stops or deletes the messages in its `message_id` or `message_ids`. With a
    /// `from_chat_id` these are only copied, and a reaction does not change a message.
    #[must_use]
    pub fn changes_messages(&self) -> bool {
        let takes = |names: &[&str]| self.params.iter().any(|field| names.contains(&field.name.as_str()));
        let refers = takes(&["from_chat_id"]) || self.name == "setMessageReaction";
        self.class != Class::Read && takes(&["message_id", "message_ids"]) && !refers
    }

    /// Returns `true` if a call adds new messages to a chat.
    #[must_use]
    pub fn adds_messages(&self) -> bool {
        self.class == Class::Message && !self.changes_messages() && self.returns.holds_message()
    }

    fn begins(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.name.starts_with(word))
    }
}

impl ApiTable {
    /// Returns the table of the Bot API version of this build; parsed at first use.
    #[must_use]
    pub fn get() -> &'static Self {
        &TABLE
    }

    /// Returns all methods in Telegram's order.
    #[must_use]
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// Returns a method by name, ignoring case as Telegram does.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<&Method> {
        self.by_name.get(&name.to_ascii_lowercase()).and_then(|at| self.methods.get(*at))
    }

    /// Returns a named type; `None` if the table lacks it.
    #[must_use]
    pub fn type_def(&self, name: &str) -> Option<&TypeDef> {
        self.types.get(name)
    }

    #[expect(clippy::expect_used, reason = "the data is part of the build; a test parses it")]
    fn embedded() -> Self {
        let raw: RawTable =
            serde_json::from_str(include_str!("../bot-api/methods.json")).expect("methods.json fits");
        let classes: RawClasses =
            serde_json::from_str(include_str!("../bot-api/classes.json")).expect("classes.json fits");
        let methods: Vec<Method> = raw
            .methods
            .into_iter()
            .map(|(name, value)| {
                let RawMethod { params, returns } = serde_json::from_value(value).expect("method fits");
                // An unclassified method counts as `Other`, the most dangerous class that people can be asked about.
                let class = classes.methods.get(&name).copied().unwrap_or(Class::Other);
                let irreversible = classes.flags.irreversible.contains(&name);
                let adds_each_time = classes.flags.adds_each_time.contains(&name);
                Method { name, params, returns, class, irreversible, adds_each_time }
            })
            .collect();
        let by_name = methods.iter().enumerate().map(|(at, m)| (m.name.to_ascii_lowercase(), at)).collect();
        let types = raw.types.into_iter().map(|(name, raw)| (name, TypeDef::from(raw))).collect();
        Self { version: raw.version, methods, by_name, types }
    }
}

impl From<RawTypeDef> for TypeDef {
    fn from(raw: RawTypeDef) -> Self {
        raw.union.map_or(Self::Fields(raw.fields), Self::Union)
    }
}

/// Splits at `|` outside of angle brackets.
fn split_alternatives(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    text.split(move |c: char| {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '|' && depth == 0
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_table_is_whole() {
        let table = ApiTable::get();
        assert_eq!(table.version, "10.3");
        assert_eq!(table.methods().len(), 185);
        assert_eq!(table.methods().iter().map(|m| m.params.len()).sum::<usize>(), 932);
        assert_eq!(table.types.len(), 400);
        assert_eq!(table.method("SENDmessage").map(|m| m.class), Some(Class::Message));
    }

    #[test]
    fn every_named_type_exists_and_every_method_has_a_class() {
        fn named<'a>(ty: &'a ApiType, out: &mut Vec<&'a str>) {
            match ty {
                ApiType::Named(name) => out.push(name),
                ApiType::Array(inner) => named(inner, out),
                ApiType::Union(types) => types.iter().for_each(|t| named(t, out)),
                ApiType::Integer
                | ApiType::Float
                | ApiType::String
                | ApiType::Boolean
                | ApiType::True
                | ApiType::InputFile => {}
            }
        }
        let table = ApiTable::get();
        let mut names = Vec::new();
        for field in table.methods().iter().flat_map(|m| &m.params) {
            named(&field.ty, &mut names);
        }
        for def in table.types.values() {
            match def {
                TypeDef::Fields(fields) => fields.iter().for_each(|f| named(&f.ty, &mut names)),
                TypeDef::Union(types) => types.iter().for_each(|t| named(t, &mut names)),
            }
        }
        let missing: Vec<_> = names.into_iter().filter(|n| table.type_def(n).is_none()).collect();
        assert_eq!(missing, Vec::<&str>::new());
        let classes: RawClasses = serde_json::from_str(include_str!("../bot-api/classes.json")).unwrap();
        let unclassed: Vec<_> = table
            .methods()
            .iter()
            .filter(|m| !classes.methods.contains_key(&m.name))
            .map(|m| &m.name)
            .collect();
        assert_eq!(unclassed, Vec::<&String>::new());
    }

    #[test]
    fn methods_that_change_messages_or_add_some_are_known_by_their_fields() {
        let names = |is_it: fn(&Method) -> bool| -> Vec<&str> {
            ApiTable::get().methods().iter().filter(|m| is_it(m)).map(|m| m.name.as_str()).collect()
        };
        assert_eq!(
            names(Method::changes_messages),
            [
                "pinChatMessage",
                "unpinChatMessage",
                "readBusinessMessage",
                "deleteBusinessMessages",
                "editMessageText",
                "editMessageCaption",
                "editMessageMedia",
                "editMessageLiveLocation",
                "stopMessageLiveLocation",
                "editMessageChecklist",
                "editMessageReplyMarkup",
                "stopPoll",
                "approveSuggestedPost",
                "declineSuggestedPost",
                "deleteMessage",
                "deleteMessages",
                "deleteMessageReaction",
                "setGameScore",
            ]
        );
        let adding = names(Method::adds_messages);
        assert_eq!((adding.len(), adding.contains(&"sendMediaGroup")), (22, true), "{adding:?}");
        assert!(adding.iter().all(|name| ["send", "copy", "forward"].iter().any(|w| name.starts_with(w))));
        assert!(!adding.contains(&"sendChatAction"), "it leaves no message");
    }

    #[test]
    fn type_expressions_parse() {
        assert_eq!(
            ApiType::parse("Array<InputFile|String>"),
            ApiType::Array(Box::new(ApiType::Union(vec![ApiType::InputFile, ApiType::String])))
        );
        assert_eq!(ApiType::parse("Integer|String").to_string(), "Integer or String");
    }
}
