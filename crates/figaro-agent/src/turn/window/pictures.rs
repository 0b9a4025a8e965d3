//! Pictures and sounds that people sent, as far as they could be fetched, for the messages that contain them.

use std::collections::HashMap;

use figaro_domain::message::{Attachment, HearingResult};
use figaro_prompts::AttachmentView;
use figaro_provider::MediaPart;

/// Pictures and sounds by the file id in their message; for a missing one, the reason.
#[derive(Debug, Clone, Default)]
pub struct Pictures(pub(crate) HashMap<String, Result<MediaPart, String>>);

impl Pictures {
    /// Returns the available pictures and sounds of these attachments, in order.
    pub(super) fn of<'a>(&self, attachments: impl IntoIterator<Item = &'a Attachment>) -> Vec<MediaPart> {
        let found = attachments.into_iter().filter_map(|attachment| self.get(attachment));
        found.filter_map(|image| image.as_ref().ok().cloned()).collect()
    }

    /// Returns the views of attachments. A picture that the model does not get has the reason.
    pub(super) fn views(&self, attachments: &[Attachment]) -> Vec<AttachmentView> {
        let view = |attachment: &Attachment| AttachmentView {
            kind: attachment.word().to_owned(),
            name: attachment.label.clone(),
            missing: self.missing(attachment),
            heard: attachment.heard == Some(HearingResult::Words),
        };
        attachments.iter().map(view).collect()
    }

    /// Returns the reason why the model does not get the content of an attachment; `None` if it does.
    fn missing(&self, attachment: &Attachment) -> Option<String> {
        let unseen = self.get(attachment).and_then(|image| image.as_ref().err().cloned());
        unseen.or_else(|| attachment.heard.and_then(HearingResult::missing).map(str::to_owned))
    }

    fn get(&self, attachment: &Attachment) -> Option<&Result<MediaPart, String>> {
        // A file that is no picture has the reason why it could not be read.
        self.0.get(attachment.picture().or(attachment.file_id.as_deref())?)
    }
}
