//! Questions that hold nothing the model can read.

use super::super::question::Question;
use super::super::reply::Reply;
use figaro_domain::delivery::Action;
use figaro_domain::message::{Attachment, AttachmentKind, Inbound};
use figaro_domain::model::ModelName;
use figaro_prompts::texts::{Texts, fill};

/// The answer to a question that holds nothing the model can read: no words, only content of a kind it has no eyes or
/// ears for. It is empty in a group that has it answer everything: nobody asked about every sticker.
#[must_use]
pub(super) fn unreadable(question: &Question, texts: &Texts, model: &ModelName, sees: bool) -> Option<Reply> {
    let parts = || question.parts.iter();
    let has_words = parts().any(|part| !part.text.trim().is_empty());
    let mut attachments = parts().flat_map(|part| &part.attachments);
    if has_words || (sees && attachments.clone().any(Attachment::is_picture)) {
        return None;
    }
    let first = attachments.next()?;
    let is_meant = parts().any(Inbound::is_addressed);
    let told = |reply: Reply| Some(if is_meant { reply } else { Reply::default() });
    if first.is_picture() {
        let markdown = fill(texts.blind(), &[("model", &model.to_string())]);
        return told(Reply { markdown, actions: vec![Action::OtherModel] });
    }
    let kind = match first.kind {
        AttachmentKind::Photo => texts.kind_photo(),
        AttachmentKind::Document => texts.kind_document(),
        AttachmentKind::Voice => texts.kind_voice(),
        AttachmentKind::Audio => texts.kind_audio(),
        AttachmentKind::Video | AttachmentKind::VideoNote | AttachmentKind::Animation => texts.kind_video(),
        AttachmentKind::Sticker => texts.kind_sticker(),
        AttachmentKind::Other if first.label.is_none() => texts.kind_other(),
        // Their labels say what they hold.
        AttachmentKind::Location
        | AttachmentKind::Contact
        | AttachmentKind::Poll
        | AttachmentKind::Event
        | AttachmentKind::Other => return None,
    };
    told(Reply { markdown: fill(texts.unsupported(), &[("kind", kind)]), actions: Vec::new() })
}
