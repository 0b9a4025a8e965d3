//! The content of a message of a request: a text, or parts of several kinds. What is of no kind that Figaro knows is passed over;
//! where people sent it, the model is told that something was there.

use serde_json::Value;

use figaro_provider::Image;

/// What a content says and shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Content {
    /// Its texts.
    pub text: String,
    /// Its pictures.
    pub images: Vec<Image>,
}

impl Content {
    /// Of what people said: of parts that nobody here reads the model is told.
    ///
    /// # Errors
    /// The fault, in words.
    pub(crate) fn of_person(content: Option<&Value>) -> Result<Self, String> {
        Self::read(content, |kind, _part| {
            Some(format!("[something of the kind {} came with this: it cannot be read here]", shown(kind)))
        })
    }

    /// Of what the model said, or was told to be: what is no text, such as its thoughts, is the business of whoever made it.
    ///
    /// # Errors
    /// The fault, in words.
    pub(crate) fn of_model(content: Option<&Value>) -> Result<Self, String> {
        Self::read(content, |_kind, _part| None)
    }

    /// Of what a tool gave: what is no content is a value, as it is, and so is each part of it that is none.
    pub(crate) fn of_tool(content: Option<&Value>) -> Self {
        let value = || content.filter(|content| !content.is_null()).map(Value::to_string);
        Self::read(content, |_kind, part| Some(part.to_string()))
            .unwrap_or_else(|_value| Self { text: value().unwrap_or_default(), ..Self::default() })
    }

    fn read(
        content: Option<&Value>,
        unread: impl Fn(&str, &Value) -> Option<String>,
    ) -> Result<Self, String> {
        let parts = match content {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(Value::String(text)) => return Ok(Self { text: text.clone(), ..Self::default() }),
            Some(Value::Array(parts)) => parts.as_slice(),
            Some(part @ Value::Object(_)) => std::slice::from_ref(part),
            Some(Value::Bool(_) | Value::Number(_)) => {
                return Err("its content is neither a text nor a list of parts".to_owned());
            }
        };
        let (mut texts, mut images) = (Vec::new(), Vec::new());
        for part in parts {
            match Part::read(part)? {
                Part::Text(text) => texts.push(text.to_owned()),
                Part::Image(image) => images.push(image),
                Part::Unread(kind) => texts.extend(unread(kind, part)),
            }
        }
        Ok(Self { text: texts.join("\n"), images })
    }
}

/// A part of a content.
enum Part<'a> {
    Text(&'a str),
    Image(Image),
    /// Of a kind that is passed over.
    Unread(&'a str),
}

impl<'a> Part<'a> {
    fn read(part: &'a Value) -> Result<Self, String> {
        let field = |name: &str| part.get(name).and_then(Value::as_str);
        if let Some(text) = part.as_str() {
            return Ok(Self::Text(text));
        }
        match field("type") {
            Some("text" | "input_text" | "output_text") => Ok(Self::Text(field("text").unwrap_or_default())),
            Some("refusal") => Ok(Self::Text(field("refusal").unwrap_or_default())),
            Some(kind @ ("image_url" | "input_image")) => match part.get("image_url") {
                None | Some(Value::Null) => Ok(Self::Unread(kind)),
                Some(url) => image(url).map(Self::Image),
            },
            Some(kind) => Ok(Self::Unread(kind)),
            None => {
                field("text").map(Self::Text).ok_or_else(|| "a part of its content has no type".to_owned())
            }
        }
    }
}

/// A picture, which both dialects send as an address that holds it. Other addresses are not loaded: they could be of machines that
/// only this one reaches.
fn image(url: &Value) -> Result<Image, String> {
    let url = url.as_str().or_else(|| url.get("url")?.as_str()).unwrap_or_default();
    Image::of_data_url(url).ok_or_else(|| {
        "a picture is a JPEG, PNG, WebP or GIF whose bytes are sent, as data:image/png;base64,…: other addresses are not loaded"
            .to_owned()
    })
}

/// A word of somebody else in a message, cut.
pub(super) fn shown(word: &str) -> String {
    format!("`{}`", word.chars().filter(|c| !c.is_control()).take(64).collect::<String>())
}
