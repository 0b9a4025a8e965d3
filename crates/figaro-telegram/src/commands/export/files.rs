//! Formats stored data as two files: JSON for programs, Markdown for people.

use serde_json::json;

use super::super::sessions::card::SessionView;
use super::super::sessions::export::{plain, section};
use super::kept::{ExportData, KeptSession};
use figaro_base::ids::RecordId;
use figaro_domain::business::{CustomerChat, CustomerLine};
use figaro_domain::conversation::Message;
use figaro_domain::persona::OwnPersona;
use figaro_domain::record::{FieldValue, Record};
use figaro_markup::CodeFile;
use figaro_store::Outline;

/// Returns the Markdown file and the JSON file.
///
/// # Errors
/// If a value cannot be written as JSON, which does not happen for stored data.
pub(super) fn of(view: &SessionView<'_>, kept: &ExportData) -> Result<[CodeFile; 2], serde_json::Error> {
    let day = view.now.with_timezone(&view.zone).format("%Y-%m-%d");
    let all = json!({"exported_at": view.now, "kept": kept});
    let file = |ending: &str, content: String| CodeFile {
        name: format!("figaro-{day}.{ending}"),
        language: None,
        content,
    };
    Ok([file("md", markdown(view, kept)), file("json", serde_json::to_string_pretty(&all)?)])
}

fn markdown(view: &SessionView<'_>, kept: &ExportData) -> String {
    let texts = view.texts;
    let mut parts = vec![format!("# {}\n\n{}\n", texts.export_kept(), view.zone.name())];
    let mut list = |heading: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            parts.push(format!("## {heading}\n\n{}\n", lines.join("\n")));
        }
    };
    list(texts.export_profile(), kept.profile.iter().flat_map(profile).collect());
    list(texts.export_settings(), kept.settings.iter().flat_map(settings).collect());
    list(texts.persona_title(), kept.personas.iter().flat_map(persona).collect());
    let notes = kept.notes.iter().map(|note| format!("- {}: {}", plain(&note.key), plain(&note.content)));
    list(texts.export_notes(), notes.collect());
    let records = kept.records.iter().map(|record| record_line(view, kept, record));
    list(texts.button_records(), records.collect());
    list(texts.export_pins(), kept.pins.iter().map(|pin| format!("- {}", plain(&pin.content))).collect());
    let files = kept.documents.iter().map(|kept| format!("- {}", plain(&kept.document.name)));
    list(texts.docs_title(), files.collect());
    let memories = kept.memories.iter().map(|memory| format!("- {}", plain(&memory.content)));
    list(texts.export_memories(), memories.collect());
    let tasks = kept.tasks.iter().map(|task| format!("- {}: {}", plain(&task.title()), plain(&task.prompt)));
    list(texts.export_tasks(), tasks.collect());
    let beside = kept.background.iter().map(|said| {
        format!("- {} · {}: {}", view.moment(said.sent_at), plain(&said.speaker.name), plain(&said.text))
    });
    list(texts.export_background(), beside.collect());
    list(texts.business_title(), kept.customers.iter().flat_map(customer).collect());
    parts.extend(kept.sessions.iter().map(|one| session(view, one)));
    parts.join("\n")
}

/// Returns the lines of one of the chat's own personas: its text, and each setting by its stored name.
fn persona(own: &OwnPersona) -> Vec<String> {
    let language = own.language.iter().map(|language| ("language", language.clone()));
    let set = language.chain(own.settings.entries());
    let lines = set.map(|(name, value)| format!("  - {name}: {}", plain(&value)));
    std::iter::once(format!("- {}: {}", plain(&own.name), plain(&own.prompt))).chain(lines).collect()
}

/// Returns the line of a record with its fields, by their stored names.
fn record_line(view: &SessionView<'_>, kept: &ExportData, record: &Record) -> String {
    let name_of = |id: RecordId| {
        let other = kept.records.iter().find(|other| other.id == id)?;
        other.fields.values().find_map(|filled| match &filled.value {
            FieldValue::Text(text) => Some(text.clone()),
            _ => None,
        })
    };
    let at = record.at.map(|at| format!(" · {}", view.moment(at))).unwrap_or_default();
    let fields = record
        .fields
        .iter()
        .map(|(name, filled)| format!("{name}: {}", plain(&filled.value.shown(view.zone, name_of))));
    format!("- {}{at}: {}", plain(&record.kind), fields.collect::<Vec<_>>().join("; "))
}

fn session(view: &SessionView<'_>, KeptSession { session, summaries, messages }: &KeptSession) -> String {
    let first = messages.iter().find(|message| message.speaker.is_some());
    let first_words = first.map(|message: &std::sync::Arc<Message>| message.text.clone());
    let name = view.name(session, &Outline { first_words, messages: 0 });
    let said: Vec<String> = messages.iter().filter_map(|message| section(view, message)).collect();
    let lines: Vec<String> = summaries.iter().map(|one| format!("- {}", plain(&one.summary))).collect();
    let summaries = match lines.is_empty() {
        true => String::new(),
        false => format!("## {}\n\n{}\n\n", view.texts.export_summaries(), lines.join("\n")),
    };
    format!("# {}\n\n{summaries}{}", plain(&name), said.join("\n"))
}

/// Returns the lines of a chat with a customer: who it is, and each message; an arrow marks those of the account.
fn customer(chat: &CustomerChat) -> Vec<String> {
    let line =
        |line: &CustomerLine| format!("  - {}{}", if line.is_own { "→ " } else { "" }, plain(&line.words()));
    std::iter::once(format!("- {}", plain(&chat.name))).chain(chat.lines.iter().map(line)).collect()
}

/// Returns a line for each profile field that has a value.
fn profile(profile: &figaro_domain::profile::UserProfile) -> Vec<String> {
    let mut lines = vec![format!("- {}", plain(&profile.names.shown))];
    lines.extend(profile.names.username.iter().map(|name| format!("- @{name}")));
    lines.extend(profile.language.iter().map(|language| format!("- {language}")));
    for (_, wishes) in &profile.wishes {
        lines.extend(wishes.called.iter().chain(&wishes.language).map(|wish| format!("- {}", plain(wish))));
        lines.extend(wishes.timezone.iter().map(|zone| format!("- {}", zone.name())));
    }
    lines
}

/// Returns a line for each setting that the chat has set, by its stored name.
fn settings(config: &figaro_domain::chat::ChatConfig) -> Vec<String> {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(config) else { return Vec::new() };
    let is_set = |value: &serde_json::Value| !value.is_null() && *value != json!({}) && *value != json!([]);
    let set = fields.into_iter().filter(|(_, value)| is_set(value));
    set.map(|(name, value)| match value {
        serde_json::Value::String(text) => format!("- {name}: {}", plain(&text)),
        other => format!("- {name}: {other}"),
    })
    .collect()
}
