//! Pictures for the model: those of the question, of the message it replies to, and of the last few messages.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;

use crate::channel::{Channel, FileError};
use crate::turn::window::Pictures;
use figaro_domain::conversation::Message;
use figaro_domain::message::{Attachment, Inbound};
use figaro_provider::MediaPart;

/// Maximum number of pictures of a question; an album has ten.
const MAX_ASKED: usize = 10;
/// Maximum number of pictures of earlier messages; the next constant is the number of messages searched for them.
const MAX_EARLIER: usize = 2;
const EARLIER_MESSAGES: usize = 6;
/// Maximum length of all pictures in base64, in characters: somewhat less than providers accept in one request.
pub(super) const MAX_TOGETHER: usize = 18 * 1024 * 1024;
/// Number of pictures that are fetched in parallel.
const AT_ONCE: usize = 4;
const TOO_MANY: &str = "there are too many";
/// Timeout of a download; slower pictures are left out.
const FETCH_TIMEOUT: Duration = Duration::from_secs(15);

/// Fetches the pictures. A missing one has the reason.
pub(super) async fn fetch(channel: &dyn Channel, question: &[Inbound], history: &[Arc<Message>]) -> Pictures {
    let asked = question.iter().flat_map(asked);
    let last = history.iter().rev().take(EARLIER_MESSAGES);
    let earlier = last.flat_map(|message| &message.attachments);
    let pictures = |of: &mut dyn Iterator<Item = &Attachment>| -> Vec<String> {
        of.filter_map(|a| a.picture().map(str::to_owned)).collect()
    };
    let mut wanted = pictures(&mut { asked });
    let mut found: HashMap<String, Result<MediaPart, String>> =
        wanted.drain(MAX_ASKED.min(wanted.len())..).map(|id| (id, Err(TOO_MANY.to_owned()))).collect();
    wanted.extend(pictures(&mut { earlier }).into_iter().take(MAX_EARLIER));
    let fetching = wanted.into_iter().map(|id| async move {
        let image = one(channel, &id).await;
        (id, image)
    });
    let mut fetching = futures::stream::iter(fetching).buffered(AT_ONCE);
    let mut room = MAX_TOGETHER;
    while let Some((id, image)) = fetching.next().await {
        let size = image.as_ref().map_or(0, |image| image.base64.len());
        let fits = size <= room;
        room -= if fits { size } else { 0 };
        found.insert(id, if fits { image } else { Err(TOO_MANY.to_owned()) });
    }
    Pictures(found)
}

/// Marks all pictures as unseen, for a model that accepts none, so that it can say so.
pub(super) fn unseen(question: &[Inbound], history: &[Arc<Message>]) -> Pictures {
    let all = question.iter().flat_map(asked).chain(history.iter().flat_map(|message| &message.attachments));
    let ids = all.filter_map(Attachment::picture);
    Pictures(ids.map(|id| (id.to_owned(), Err("you cannot see pictures".to_owned()))).collect())
}

/// Returns the attachments of a message and of the message it replies to.
pub(super) fn asked(part: &Inbound) -> impl Iterator<Item = &Attachment> {
    part.attachments.iter().chain(part.quotes.iter().flat_map(|quoted| &quoted.attachments))
}

async fn one(channel: &dyn Channel, id: &str) -> Result<MediaPart, String> {
    let fetched = tokio::time::timeout(FETCH_TIMEOUT, channel.fetch(id, MediaPart::MAX_BYTES)).await;
    let bytes = match fetched {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(FileError::TooBig)) => return Err("larger than 5 MB".to_owned()),
        Ok(Err(error)) => {
            tracing::warn!(%error, "a picture could not be fetched");
            return Err("could not be fetched".to_owned());
        }
        Err(_elapsed) => return Err("could not be fetched in time".to_owned()),
    };
    Ok(MediaPart::of(&bytes).ok_or("not a JPEG, PNG, WebP or GIF")?)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use async_trait::async_trait;
    use chrono::DateTime;

    use super::*;
    use figaro_base::ids::SessionId;
    use figaro_domain::conversation::MessageRole;
    use figaro_domain::message::AttachmentKind;
    use figaro_policy::access::Admins;

    /// Has files by the first letter of their handle.
    #[derive(Debug, Default)]
    struct Cupboard(Mutex<Vec<String>>);

    impl Admins for Cupboard {}

    #[async_trait]
    impl Channel for Cupboard {
        async fn fetch(&self, file_id: &str, most: usize) -> Result<Vec<u8>, FileError> {
            self.0.lock().unwrap().push(file_id.to_owned());
            match file_id.chars().next() {
                Some('p') => Ok(vec![0x89, b'P', b'N', b'G', 1, 2]),
                Some('t') => Ok(b"text".to_vec()),
                Some('b') => Err(FileError::TooBig),
                _ => Err(FileError::Gone(most.to_string())),
            }
        }
    }

    fn said(ids: &[&str]) -> Arc<Message> {
        let attachments = ids.iter().map(|id| Attachment {
            file_id: Some((*id).to_owned()),
            ..Attachment::new(AttachmentKind::Photo)
        });
        Message {
            attachments: attachments.collect(),
            ..Message::new(SessionId::new(), MessageRole::User, "see".into(), DateTime::UNIX_EPOCH)
        }
        .into()
    }

    #[tokio::test]
    async fn a_few_of_the_last_pictures_are_fetched_and_what_is_none_is_told() {
        let cupboard = Cupboard::default();
        let mut history = vec![said(&["p-old"])];
        history.extend((0..EARLIER_MESSAGES).map(|_| said(&[])));
        assert_eq!(fetch(&cupboard, &[], &history).await.0.len(), 0);
        history.push(said(&["p1", "t", "p2"]));
        let pictures = fetch(&cupboard, &[], &history).await.0;
        assert_eq!(pictures["p1"].as_ref().unwrap().mime_type, "image/png");
        assert_eq!(pictures["t"], Err("not a JPEG, PNG, WebP or GIF".to_owned()));
        assert_eq!(pictures.len(), MAX_EARLIER);
        let pictures = fetch(&cupboard, &[], &[said(&["b", "gone"])]).await.0;
        assert_eq!(pictures["b"], Err("larger than 5 MB".to_owned()));
        assert_eq!(pictures["gone"], Err("could not be fetched".to_owned()));
    }
}
