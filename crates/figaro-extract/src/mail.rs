//! Mails: who wrote to whom, the text, and the names of the files in it.

use mail_parser::{Address, MessageParser, MimeHeaders};

use super::passages::{Passages, Title};
use figaro_domain::document::Unreadable;

pub(super) fn read(bytes: &[u8], passages: &mut Passages) -> Title {
    let mail = MessageParser::default().parse(bytes).ok_or(Unreadable::Damaged)?;
    let subject = mail.subject().map(str::to_owned);
    let date = mail.date().map(mail_parser::DateTime::to_rfc3339);
    let head = [
        ("From", mail.from().map(people)),
        ("To", mail.to().map(people)),
        ("Cc", mail.cc().map(people)),
        ("Date", date),
        ("Subject", subject.clone()),
    ];
    let head = head.into_iter().filter_map(|(name, words)| Some(format!("{name}: {}", words?)));
    passages.add(&head.collect::<Vec<_>>().join("\n"));
    for at in 0..mail.text_body_count() {
        passages.add(&mail.body_text(at).unwrap_or_default());
    }
    let files = mail.attachments().filter_map(|part| part.attachment_name());
    let files = files.collect::<Vec<_>>().join(", ");
    if !files.is_empty() {
        passages.add(&format!("Attached files: {files}"));
    }
    Ok(subject)
}

fn people(address: &Address<'_>) -> String {
    let one = |one: &mail_parser::Addr<'_>| match (one.name(), one.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    };
    address.iter().map(one).collect::<Vec<_>>().join(", ")
}
