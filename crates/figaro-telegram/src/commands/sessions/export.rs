//! Formats a session as a Markdown file for people, with a heading for each message.

use std::sync::Arc;

use super::card::SessionView;
use figaro_domain::conversation::{Message, MessageRole};
use figaro_domain::message::Attachment;
use figaro_domain::summary::Summary;
use figaro_markup::CodeFile;

/// Returns the file of a session: its summaries, then its messages; `None` if there are no messages.
pub(super) fn file(
    view: &SessionView<'_>,
    name: &str,
    messages: &[Arc<Message>],
    summaries: &[Summary],
) -> Option<CodeFile> {
    let mut said: Vec<String> = messages.iter().filter_map(|message| section(view, message)).collect();
    if said.is_empty() {
        return None;
    }
    let shown: Vec<String> = summaries
        .iter()
        .filter(|summary| summary.is_shown())
        .map(|summary| format!("- {}: {}", view.moment(summary.until), plain(&summary.summary)))
        .collect();
    if !shown.is_empty() {
        said.insert(0, format!("## {}\n\n{}\n", view.texts.export_summaries(), shown.join("\n")));
    }
    let day = view.now.with_timezone(&view.zone).format("%Y-%m-%d");
    let content = format!("# {}\n\n{}\n\n{}", plain(name), view.zone.name(), said.join("\n"));
    Some(CodeFile { name: format!("conversation-{day}.md"), language: None, content })
}

/// Formats a message under its author and time; `None` for messages that no person sees.
pub(in super::super) fn section(view: &SessionView<'_>, message: &Message) -> Option<String> {
    let who = match message.role {
        MessageRole::User if message.task.is_some() => view.texts.export_task().to_owned(),
        MessageRole::User => message.speaker.as_ref().map(|speaker| speaker.name.clone()).unwrap_or_default(),
        MessageRole::Assistant if !message.text.trim().is_empty() => view.texts.export_bot().to_owned(),
        MessageRole::Assistant | MessageRole::Tool | MessageRole::System => return None,
    };
    let earlier =
        if message.replaced { format!(" · {}", view.texts.export_earlier()) } else { String::new() };
    let heading = format!("## {} · {}{earlier}", plain(&who), view.moment(message.created_at));
    let mut lines = vec![heading, String::new()];
    let quoted = message.quotes.iter().map(|quoted| quoted.excerpt.as_ref().unwrap_or(&quoted.text));
    lines.extend(quoted.flat_map(|text| text.lines().map(|line| format!("> {line}"))));
    if lines.len() > 2 {
        lines.push(String::new());
    }
    lines.extend(message.attachments.iter().map(attached));
    lines.push(message.text.trim_end().to_owned());
    Some(lines.join("\n") + "\n")
}

fn attached(attachment: &Attachment) -> String {
    let label = attachment.label.as_ref().map(|label| format!(": {}", plain(label))).unwrap_or_default();
    format!("[{}{label}]", attachment.word())
}

/// Joins a text into one line.
pub(in super::super) fn plain(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};
    use figaro_base::tz::Tz;

    use super::*;
    use figaro_base::ids::{SessionId, SummaryId, UserId};
    use figaro_domain::message::{AttachmentKind, Speaker};
    use figaro_prompts::texts::Locales;

    #[test]
    fn a_session_reads_as_a_text() {
        let locales = Locales::default();
        let at: DateTime<Utc> = "2026-11-20T12:30:00Z".parse().unwrap();
        let view = SessionView {
            texts: locales.of(None),
            zone: "Europe/Riga".parse::<Tz>().unwrap(),
            now: at,
            current: None,
        };
        let id = SessionId::new();
        assert_eq!(file(&view, "Empty", &[], &[]), None);
        let speaker = Speaker { user: UserId::telegram(11), name: "Ann\nLee".into(), username: None };
        let photo = Attachment { label: Some("a.png".into()), ..Attachment::new(AttachmentKind::Photo) };
        let asked = Message {
            speaker: Some(speaker),
            attachments: vec![photo],
            ..Message::new(id, MessageRole::User, "What is it?".into(), at)
        };
        let result = Message::new(id, MessageRole::Tool, "{\"success\": true}".into(), at);
        let answer = Message::new(id, MessageRole::Assistant, "A **cat**.".into(), at);
        let summary = Summary {
            id: SummaryId::new(),
            session: id,
            summary: "Ann asks\nwhat it is.".into(),
            message_count: 3,
            start_message_id: asked.id,
            start: 0,
            end_message_id: answer.id,
            end: 2,
            from: at,
            until: at,
            importance: 4.0,
            created_at: at,
        };
        let summaries = [summary.without_words(), summary];
        let file = file(&view, "A cat", &[asked, result, answer].map(Arc::new), &summaries).unwrap();
        assert_eq!(file.name, "conversation-2026-11-20.md");
        let wanted = "# A cat\n\nEurope/Riga\n\n## Summaries\n\n- Fri 20 Nov 14:30: Ann asks what it is.\n\n## Ann Lee · Fri 20 Nov 14:30\n\n[photo: a.png]\nWhat is it?\n\n\
                      ## Figaro · Fri 20 Nov 14:30\n\nA **cat**.\n";
        assert_eq!(file.content, wanted);
    }
}
