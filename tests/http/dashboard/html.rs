//! Takes pages apart as a browser does: tags with their attributes, links, and forms with their fields.

use reqwest::Url;

/// A start tag. Names are in small letters, values as a browser reads them.
#[derive(Debug, Clone, PartialEq)]
pub struct Tag {
    pub name: String,
    pub attributes: Vec<(String, String)>,
}

/// A form that is sent with POST.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    pub url: Url,
    /// Values of its fields, and the words of its button.
    pub fields: Vec<(String, String)>,
}

impl Tag {
    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(have, _)| have == name).map(|(_, value)| value.as_str())
    }
}

/// The start tags of a page, in order. What stands in comments, in `textarea` or in `title` is text.
pub fn tags(html: &str) -> Vec<Tag> {
    let (mut all, mut rest) = (Vec::new(), html);
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
        } else if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let (tag, after) = tag(rest);
            rest = after;
            if ["textarea", "title", "script", "style"].contains(&tag.name.as_str()) {
                let end = rest.to_lowercase().find(&format!("</{}", tag.name)).unwrap_or(rest.len());
                rest = &rest[end..];
            }
            all.push(tag);
        }
    }
    all
}

/// The tag that begins here, and what comes after it.
fn tag(text: &str) -> (Tag, &str) {
    let is_end = |c: char| c.is_whitespace() || c == '>' || c == '/';
    let (name, mut rest) = text.split_at(text.find(is_end).unwrap_or(text.len()));
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        if rest.is_empty() || rest.starts_with('>') {
            return (
                Tag { name: name.to_lowercase(), attributes },
                rest.strip_prefix('>').unwrap_or_default(),
            );
        }
        let end = rest.find(|c: char| is_end(c) || c == '=').unwrap_or(rest.len()).max(1);
        let (attribute, after) = rest.split_at(end);
        rest = after.trim_start();
        let mut value = "";
        if let Some(given) = rest.strip_prefix('=') {
            let given = given.trim_start();
            (value, rest) = match given.chars().next() {
                Some(quote @ ('"' | '\'')) => given[1..].split_once(quote).unwrap_or((&given[1..], "")),
                _ => {
                    given.split_at(given.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(given.len()))
                }
            };
        }
        attributes.push((attribute.to_lowercase(), unescaped(value)));
    }
}

/// A text as people read it.
pub fn unescaped(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let read = rest[1..].split_once(';').and_then(|(name, after)| Some((entity(name)?, after)));
        match read {
            Some((sign, after)) => {
                out.push(sign);
                rest = after;
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

fn entity(name: &str) -> Option<char> {
    let code = |digits: &str, radix| char::from_u32(u32::from_str_radix(digits, radix).ok()?);
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{a0}'),
        _ => match (name.strip_prefix("#x").or(name.strip_prefix("#X")), name.strip_prefix('#')) {
            (Some(digits), _) => code(digits, 16),
            (_, Some(digits)) => code(digits, 10),
            _ => None,
        },
    }
}

/// Where the page's links lead, without fragments.
pub fn links(page: &Url, html: &str) -> Vec<Url> {
    let of = |tag: &Tag| {
        let mut url = page.join(tag.get("href").or(tag.get("src"))?).ok()?;
        url.set_fragment(None);
        Some(url)
    };
    tags(html).iter().filter_map(of).collect()
}

/// The forms that a page sends with POST: one for each of their buttons.
pub fn forms(page: &Url, html: &str) -> Vec<Form> {
    let (mut all, mut open): (Vec<Form>, Option<Form>) = (Vec::new(), None);
    for tag in tags(html) {
        let field = || Some((tag.get("name")?.to_owned(), tag.get("value").unwrap_or_default().to_owned()));
        match (tag.name.as_str(), &mut open) {
            ("form", _) => {
                let url = page.join(tag.get("action").unwrap_or_default()).unwrap();
                let is_post = tag.get("method").is_some_and(|method| method.eq_ignore_ascii_case("post"));
                open = is_post.then(|| Form { url, fields: Vec::new() });
            }
            ("input" | "textarea" | "select", Some(form)) => form.fields.extend(field()),
            ("option", Some(form)) if tag.get("selected").is_some() => {
                let value = tag.get("value").unwrap_or_default();
                form.fields.last_mut().unwrap().1 = value.to_owned();
            }
            ("button", Some(form)) => {
                let mut pressed = form.clone();
                pressed.fields.extend(field());
                all.push(pressed);
            }
            _ => {}
        }
    }
    all
}

/// Fields as a form sends them.
pub fn encoded(fields: &[(&str, &str)]) -> String {
    let url = Url::parse_with_params("http://form/", fields).unwrap();
    url.query().unwrap_or_default().to_owned()
}
