//! Web pages behind a link: the main text, without menus and advertising. A page without a main text, such as a list of links,
//! is read whole.

use dom_smoothie::{Config, Readability, TextMode};
use serde_json::Value;

use super::html;
use super::passages::Passages;
use super::text::decoded_as;
use figaro_domain::document::Unreadable;

/// Minimum length of a main text, in characters. A shorter one is a notice or a teaser.
const MIN_TEXT: usize = 250;
/// Maximum number of elements that are searched for a main text; a page with more is read whole.
const MAX_ELEMENTS: usize = 100_000;
/// Note for the model about a page that is about a video.
const NO_CAPTIONS: &str =
    "[This is the page of a video. It carries no captions, so only its title and description are known.]";

/// Title and date of a page.
pub(super) struct PageFacts {
    pub(super) title: Option<String>,
    pub(super) date: Option<String>,
}

/// Adds the main text of a page. `charset` is the encoding that its server states, or an empty text.
pub(super) fn read(bytes: &[u8], charset: &str, passages: &mut Passages) -> Result<PageFacts, Unreadable> {
    let html = decoded_as(bytes, charset).ok_or(Unreadable::Damaged)?;
    let config =
        Config { text_mode: TextMode::Markdown, max_elements_to_parse: MAX_ELEMENTS, ..Config::default() };
    let mut page = Readability::new(html.as_str(), None, Some(config)).map_err(|_bad| Unreadable::Damaged)?;
    mark_raised(&page);
    passages.keep_indents();
    let json_ld = page.parse_json_ld();
    let facts = page.get_article_metadata(json_ld);
    let transcript = transcript(&page);
    let is_video = page.doc.select("meta[property='og:type'][content^='video']").exists();
    if is_video || transcript.is_some() {
        let about = facts.excerpt.as_deref().unwrap_or_default();
        passages.add(&format!(
            "{}\n\n{about}\n\n{}",
            facts.title,
            transcript.as_deref().unwrap_or(NO_CAPTIONS)
        ));
    } else {
        let main = page.parse().ok().map(|article| article.text_content.to_string());
        let main = main.filter(|text| text.chars().count() >= MIN_TEXT);
        passages.add(&main.map_or_else(|| whole(&html, facts.excerpt.as_deref()), Ok)?);
    }
    let title = Some(facts.title).filter(|title| !title.is_empty());
    Ok(PageFacts { title: title.or_else(|| html::title(&html)), date: facts.published_time })
}

/// Raised and lowered digits, in order.
const RAISED: [(&str, &str); 2] = [("sup", "⁰¹²³⁴⁵⁶⁷⁸⁹"), ("sub", "₀₁₂₃₄₅₆₇₈₉")];

/// Writes the digits of powers and indices as such: without its element, the 6 of a million would be another digit of the
/// number. Footnotes, which are links, stay as they are.
fn mark_raised(page: &Readability) {
    for (element, digits) in RAISED {
        for raised in page.doc.select(element).iter().filter(|raised| !raised.select("a").exists()) {
            let digit = |c: char| c.to_digit(10).and_then(|at| digits.chars().nth(at as usize)).unwrap_or(c);
            raised.set_text(&raised.text().chars().map(digit).collect::<String>());
        }
    }
}

/// Returns all words of a page, after its description of itself if they are few: a page that is made by a script has little
/// else.
fn whole(html: &str, about: Option<&str>) -> Result<String, Unreadable> {
    let words = html::words(html)?;
    let is_short = words.chars().count() < MIN_TEXT;
    Ok(match about.filter(|about| is_short && !words.contains(about)) {
        Some(about) => format!("{about}\n\n{words}"),
        None => words,
    })
}

/// Returns the transcript of a video that the page carries as [`VideoObject`](https://schema.org/VideoObject).
fn transcript(page: &Readability) -> Option<String> {
    fn find(value: &Value) -> Option<&str> {
        match value {
            Value::Object(map) => {
                let own = map.get("transcript").and_then(Value::as_str);
                own.or_else(|| map.values().find_map(find))
            }
            Value::Array(items) => items.iter().find_map(find),
            _ => None,
        }
    }
    let scripts = page.doc.select("script[type='application/ld+json']");
    scripts.iter().find_map(|script| {
        let data: Value = serde_json::from_str(&script.text()).ok()?;
        find(&data).map(str::to_owned).filter(|text| !text.trim().is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::super::{FileOrigin, extract};
    use figaro_domain::document::Extracted;

    fn read(html: impl AsRef<[u8]>, charset: &str) -> Extracted {
        extract(html.as_ref(), FileOrigin { name: "page.html", page: Some(charset) }).unwrap()
    }

    fn text(page: &Extracted) -> String {
        page.passages.iter().map(|passage| passage.text.as_str()).collect::<Vec<_>>().join("\n\n")
    }

    fn article(body: &str) -> String {
        let dull = "The harbour of the old town is dredged every spring, so that the boats of the fishers can leave it at any tide. ";
        format!(
            "<!doctype html><html lang=en><head><title>Harbour news | The Gazette</title>\
             <meta property='article:published_time' content='2026-10-03T08:00:00Z'>\
             <script>var tracked = 'not for reading';</script></head><body>\
             <nav><ul><li><a href=/>Home</a><li><a href=/sport>Sport</a></ul></nav>\
             <article><h1>Harbour news</h1><p>{dull}</p><p>{body}</p><p>{dull}</p><p>{dull}</p></article>\
             <aside>Buy our newsletter</aside><footer>Imprint and cookies</footer></body></html>"
        )
    }

    #[test]
    fn the_main_text_of_an_article_is_read_with_title_and_date() {
        let page = read(article("Pier nine is closed <b>until May</b>: see <a href='/map'>the map</a>."), "");
        assert!(text(&page).contains("Pier nine is closed"), "{}", text(&page));
        for other in ["Sport", "newsletter", "cookies", "not for reading"] {
            assert!(!text(&page).contains(other), "{other}: {}", text(&page));
        }
        assert!(
            page.title.as_deref().is_some_and(|title| title.starts_with("Harbour news")),
            "{:?}",
            page.title
        );
        assert_eq!(page.date.as_deref(), Some("2026-10-03T08:00:00Z"));
        assert_eq!(page.language.as_deref(), Some("eng"));
    }

    #[test]
    fn code_keeps_its_indents_and_powers_are_none_of_the_number() {
        let body = "Some 10<sup>6</sup> people, H<sub>2</sub>O<sup><a href='#1'>[1]</a></sup>.</p>\
                    <pre><code>def main():\n    for one in all:\n        print(one)\n</code></pre><p>So it is.";
        let text = text(&read(article(body), ""));
        for part in ["10⁶ people", "H₂O", "def main():\n    for one in all:\n        print(one)"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn the_encoding_that_the_server_states_counts() {
        let html = article("Цена: пять рублей.");
        let (bytes, ..) = encoding_rs::WINDOWS_1251.encode(&html);
        assert!(text(&read(&bytes, "windows-1251")).contains("пять рублей"));
    }

    #[test]
    fn a_page_without_main_text_is_read_whole() {
        let list = "<html><title>Top</title><body><ol><li><a href=/1>First story</a><li><a href=/2>Second story</a></ol></body></html>";
        let page = read(list, "");
        assert!(
            text(&page).contains("First story") && text(&page).contains("Second story"),
            "{}",
            text(&page)
        );
        let app = "<html><head><title>App</title><meta name=description content='Sells hats.'></head>\
                   <body><noscript>Enable JavaScript.</noscript></body></html>";
        assert!(text(&read(app, "")).contains("Sells hats."), "{}", text(&read(app, "")));
    }

    #[test]
    fn of_a_video_the_captions_are_read_or_said_to_be_missing() {
        let video = |more: &str| {
            format!(
                "<html><head><title>Knots</title><meta property='og:type' content='video.other'>\
                 <meta property='og:title' content='Knots'><meta property='og:description' content='Seven knots.'>{more}</head>\
                 <body>player</body></html>"
            )
        };
        let bare = text(&read(video(""), ""));
        assert!(bare.contains("Seven knots.") && bare.contains("carries no captions"), "{bare}");
        let data = r#"<script type="application/ld+json">{"@type":"VideoObject","name":"Knots","transcript":"First the bowline."}</script>"#;
        let told = text(&read(video(data), ""));
        assert!(told.contains("First the bowline.") && !told.contains("no captions"), "{told}");
    }
}
