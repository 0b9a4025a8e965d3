//! Questions without content that the model can read.

use super::super::question::Question;
use super::super::reply::Reply;
use figaro_domain::delivery::Action;
use figaro_domain::message::{Attachment, AttachmentKind, HearingResult, Inbound};
use figaro_domain::model::ModelName;
use figaro_policy::access::Standing;
use figaro_prompts::texts::{Texts, fill};
use figaro_provider::models::Models;

/// Returns the reply to a question without text, if the model cannot read its attachments; `None` if it can. The reply
/// is empty if the bot was not addressed, as in a group where it answers everything.
#[must_use]
pub(super) fn unreadable(
    question: &Question,
    texts: &Texts,
    model: &ModelName,
    models: &Models,
) -> Option<Reply> {
    let parts = || question.parts.iter();
    let has_words = parts().any(|part| !part.text.trim().is_empty());
    let mut attachments = parts().flat_map(|part| &part.attachments);
    let (sees, hears) = (models.sees(model), models.hears(model));
    let is_read = |one: &Attachment| {
        one.is_document() || sees && one.picture().is_some() || hears && one.is_unheard_sound()
    };
    if has_words || attachments.clone().any(is_read) {
        return None;
    }
    let first = attachments.next()?;
    let is_meant = parts().any(Inbound::is_addressed);
    let told = |reply: Reply| Some(if is_meant { reply } else { Reply::default() });
    if first.is_picture() {
        return told(blind(question, texts, model, models.named().iter().any(|one| models.sees(one))));
    }
    if let Some(heard) = first.heard {
        let words = match heard {
            HearingResult::Words => return None,
            HearingResult::Nothing => texts.heard_nothing(),
            HearingResult::TooLong => texts.heard_too_long(),
            HearingResult::Unreadable => texts.heard_unreadable(),
            HearingResult::OverBudget => texts.heard_over_budget(),
            HearingResult::Unpriced => texts.heard_unpriced(),
            HearingResult::Failed => texts.heard_failed(),
        };
        return told(Reply { markdown: words.to_owned(), actions: Vec::new() });
    }
    let hint = (first.is_sound() && question.standing == Standing::Owner).then(|| texts.transcriber_hint());
    let kind = match first.kind {
        AttachmentKind::Photo => texts.kind_photo(),
        AttachmentKind::Document => texts.kind_document(),
        AttachmentKind::Voice => texts.kind_voice(),
        AttachmentKind::Audio => texts.kind_audio(),
        AttachmentKind::Video | AttachmentKind::VideoNote | AttachmentKind::Animation => texts.kind_video(),
        AttachmentKind::Sticker => texts.kind_sticker(),
        AttachmentKind::Other if first.label.is_none() => texts.kind_other(),
        // Their labels describe the content.
        AttachmentKind::Location
        | AttachmentKind::Contact
        | AttachmentKind::Poll
        | AttachmentKind::Event
        | AttachmentKind::Other => return None,
    };
    let words = fill(texts.unsupported(), &[("kind", kind)]);
    let words = [words.as_str()].into_iter().chain(hint).collect::<Vec<_>>().join(" ");
    told(Reply { markdown: words, actions: Vec::new() })
}

/// Returns the reply to a picture that the model cannot see. Offers another model only if one accepts pictures.
fn blind(question: &Question, texts: &Texts, model: &ModelName, other_sees: bool) -> Reply {
    let is_owner = question.standing == Standing::Owner;
    let (what, actions) = match other_sees {
        true => (texts.blind_other(), vec![Action::OtherModel]),
        false if is_owner => (texts.blind_owner(), Vec::new()),
        false => (texts.blind_none(), Vec::new()),
    };
    Reply { markdown: format!("{} {what}", fill(texts.blind(), &[("model", &model.to_string())])), actions }
}
