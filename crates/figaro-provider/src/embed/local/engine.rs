//! When a model is in memory: loaded for the first text, dropped once nobody has asked for a while. One text at a time is
//! worked on, away from the threads that serve everybody; a question waits for one text and not for a whole batch.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tracing::info;

use super::folder::Folder;
use super::model::Loaded;
use crate::embed::{EmbedError, Embedded, Embedder, Purpose, unit};
use figaro_base::clock::Clock;
use figaro_base::shutdown::TaskTracker;

/// A model that nobody has asked for so long is dropped.
const IDLE: Duration = Duration::from_secs(5 * 60);

/// A sentence model in a folder of this machine.
#[derive(Debug)]
pub struct LocalEmbedder {
    name: String,
    folder: Arc<Folder>,
    slot: Arc<Mutex<Slot>>,
    clock: Clock,
    background: TaskTracker,
}

/// The model, if it is loaded.
#[derive(Debug, Default)]
struct Slot {
    model: Option<Loaded>,
    /// When it was last asked, by the steady clock.
    asked_at: Duration,
}

impl LocalEmbedder {
    /// Looks at a folder and reads all of its model once, for the name; it is loaded later. This blocks.
    ///
    /// # Errors
    /// What is missing in the folder, with its path.
    pub fn open(folder: &Path, clock: Clock, background: TaskTracker) -> Result<Self, String> {
        let folder = Folder::look(folder)?;
        let name = format!("local:{}", folder.hash);
        Ok(Self { name, folder: Arc::new(folder), slot: Arc::default(), clock, background })
    }

    /// Whether the model is in memory; waits for a text under way.
    pub async fn is_loaded(&self) -> bool {
        self.slot.lock().await.model.is_some()
    }

    /// The vector of one text, and the text's tokens.
    async fn one(&self, text: String) -> Result<(Vec<f32>, usize), EmbedError> {
        // Held by the work itself: who gives up waiting does not let the next one in.
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
    slot: &mut OwnedMutexGuard<Slot>,
    folder: &Folder,
    text: &str,
) -> Result<(Vec<f32>, usize), String> {
    let model = match slot.model.take() {
        Some(model) => model,
        None => {
            let model = Loaded::load(folder)?;
            info!(folder = %folder.path.display(), "the embedder's model is loaded");
            model
        }
    };
    slot.model.insert(model).vector(text)
}

/// Drops the model once nobody has asked for a while.
async fn drop_when_idle(slot: Weak<Mutex<Slot>>, clock: Clock, background: TaskTracker) {
    let mut pause = IDLE;
    loop {
        tokio::select! {
            () = sleep(pause) => {}
            () = background.stopping() => return,
        }
        // With the embedder its model has gone.
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

    async fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Embedded, EmbedError> {
        let prompt = match purpose {
            Purpose::Question => &self.folder.prompts.question,
            Purpose::Passage => &self.folder.prompts.passage,
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
