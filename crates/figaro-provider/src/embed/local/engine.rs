//! Loading of a local model: on the first text, dropped after a while without use. Only one text is processed at a
//! time, off the async threads. So a question waits for one text and not for a whole batch.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tracing::info;

use super::folder::ModelFolder;
use super::model::LoadedModel;
use crate::embed::{EmbedError, EmbedPurpose, Embedded, Embedder, unit};
use figaro_base::clock::Clock;
use figaro_base::shutdown::TaskTracker;

/// Time without use after which the model is dropped.
const IDLE: Duration = Duration::from_secs(5 * 60);

/// Sentence model in a local folder.
#[derive(Debug)]
pub struct LocalEmbedder {
    name: String,
    folder: Arc<ModelFolder>,
    slot: Arc<Mutex<ModelSlot>>,
    clock: Clock,
    background: TaskTracker,
}

/// Loaded model, if any.
#[derive(Debug, Default)]
struct ModelSlot {
    model: Option<LoadedModel>,
    /// Time of the last use, by the monotonic clock.
    asked_at: Duration,
}

impl LocalEmbedder {
    /// Opens a folder and reads its whole model once, to compute the name. The model is loaded later. This blocks.
    ///
    /// # Errors
    /// Names what is missing in the folder, with its path.
    pub fn open(folder: &Path, clock: Clock, background: TaskTracker) -> Result<Self, String> {
        let folder = ModelFolder::look(folder)?;
        let name = format!("local:{}", folder.hash);
        Ok(Self { name, folder: Arc::new(folder), slot: Arc::default(), clock, background })
    }

    /// Returns `true` if the model is in memory. Waits for a text in progress.
    pub async fn is_loaded(&self) -> bool {
        self.slot.lock().await.model.is_some()
    }

    /// Returns the vector of one text, and the number of its tokens.
    async fn one(&self, text: String) -> Result<(Vec<f32>, usize), EmbedError> {
        // The work itself holds the lock, so a cancelled caller does not let the next one in.
        let mut slot = Arc::clone(&self.slot).lock_owned().await;
        if self.background.is_stopping() {
            return Err(EmbedError::Stopped);
        }
        if slot.model.is_none() {
            let (slot, clock) = (Arc::downgrade(&self.slot), self.clock.clone());
            self.background.spawn("embedder", drop_when_idle(slot, clock, self.background.clone()));
        }
        let (folder, clock) = (self.folder.clone(), self.clock.clone());
        let work = spawn_blocking(move || {
            let vector = vector(&mut slot, &folder, &text);
            slot.asked_at = clock.steady();
            vector
        });
        let of_folder = |why: String| {
            EmbedError::Folder(format!("the embedder in {}: {why}", self.folder.path.display()))
        };
        let (vector, tokens) =
            work.await.map_err(|broken| of_folder(format!("it broke off: {broken}")))?.map_err(of_folder)?;
        let vector = unit(vector).ok_or_else(|| of_folder("a vector of it has no direction".to_owned()))?;
        Ok((vector, tokens))
    }
}

fn vector(
    slot: &mut OwnedMutexGuard<ModelSlot>,
    folder: &ModelFolder,
    text: &str,
) -> Result<(Vec<f32>, usize), String> {
    let model = match slot.model.take() {
        Some(model) => model,
        None => {
            let model = LoadedModel::load(folder)?;
            info!(folder = %folder.path.display(), "the embedder's model is loaded");
            model
        }
    };
    slot.model.insert(model).vector(text)
}

/// Drops the model after a while without use.
async fn drop_when_idle(slot: Weak<Mutex<ModelSlot>>, clock: Clock, background: TaskTracker) {
    let mut pause = IDLE;
    loop {
        tokio::select! {
            () = sleep(pause) => {}
            () = background.stopping() => return,
        }
        // The model was dropped together with the embedder.
        let Some(slot) = slot.upgrade() else { return };
        let mut slot = slot.lock().await;
        let idle = clock.steady().saturating_sub(slot.asked_at);
        pause = IDLE.saturating_sub(idle);
        if pause.is_zero() {
            slot.model = None;
            info!("the embedder's model was not needed for a while and is dropped");
            return;
        }
    }
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_local(&self) -> bool {
        true
    }

    async fn embed(&self, purpose: EmbedPurpose, texts: &[&str]) -> Result<Embedded, EmbedError> {
        let prompt = match purpose {
            EmbedPurpose::Question => &self.folder.prompts.question,
            EmbedPurpose::Passage => &self.folder.prompts.passage,
        };
        let mut embedded = Embedded::default();
        for text in texts {
            let (vector, tokens) = self.one(format!("{prompt}{text}")).await?;
            embedded.vectors.push(vector);
            embedded.tokens += u64::try_from(tokens).unwrap_or_default();
        }
        Ok(embedded)
    }
}
