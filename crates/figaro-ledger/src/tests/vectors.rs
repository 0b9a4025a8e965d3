//! Paid and local vectors.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;

use super::{World, payer, tokens};
use crate::MeteredEmbedder;
use figaro_base::text::estimate_tokens;
use figaro_domain::budget::Caps;
use figaro_provider::ProviderError;
use figaro_provider::embed::{EmbedError, EmbedPurpose, Embedded, Embedder};

/// Counts a token a text, and fails where one says so.
#[derive(Debug)]
struct Vectors {
    is_local: bool,
    asked: Mutex<Vec<usize>>,
}

#[async_trait]
impl Embedder for Vectors {
    fn name(&self) -> &str {
        "fake:known"
    }

    fn is_local(&self) -> bool {
        self.is_local
    }

    async fn embed(&self, _purpose: EmbedPurpose, texts: &[&str]) -> Result<Embedded, EmbedError> {
        self.asked.lock().push(texts.len());
        match texts.last().copied().unwrap_or_default() {
            "refused" => Err(ProviderError::Refused("no".into()).into()),
            "stalled" => Err(ProviderError::Stalled(Duration::ZERO).into()),
            "unusable" => Err(EmbedError::Unusable("none".into())),
            "never" => futures::future::pending().await,
            _ => Ok(Embedded {
                vectors: vec![vec![1.0]; texts.len()],
                tokens: u64::try_from(texts.len()).unwrap(),
            }),
        }
    }
}

fn vectors(world: &World, is_local: bool) -> (Arc<Vectors>, MeteredEmbedder) {
    let inner = Arc::new(Vectors { is_local, asked: Mutex::default() });
    (inner.clone(), MeteredEmbedder::new(inner, world.ledger.clone(), payer()))
}

#[tokio::test(start_paused = true)]
async fn vectors_are_booked_a_request_at_a_time_and_what_may_have_cost_something_too() {
    let texts = vec!["word word"; 150];
    let estimate = |text: &str| u64::try_from(estimate_tokens(text).max(1)).unwrap();
    let cases = [
        (texts.clone(), Ok(150), 150),
        (vec!["a", "refused"], Err("refused"), 0),
        (vec!["a", "stalled"], Err("stalled"), estimate("a") + estimate("stalled")),
        (vec!["a", "unusable"], Err("unusable"), estimate("a") + estimate("unusable")),
        // Tokens from before a failure stay booked.
        ([&texts[..64], &["refused"]].concat(), Err("refused"), 64),
    ];
    for (texts, wanted, tokens) in cases {
        for caps in [Caps::default(), Caps { tokens: Some(10_000), nano_usd: Some(10_000) }] {
            let world = World::new(caps).await;
            let (inner, embedder) = vectors(&world, false);
            let embedded = embedder.embed(EmbedPurpose::Passage, &texts).await;
            let count = embedded.map(|embedded| embedded.vectors.len()).map_err(|error| error.label());
            assert_eq!(count, wanted);
            assert!(inner.asked.lock().iter().all(|count| *count <= 64));
            let spent = world.settled().await;
            assert_eq!((spent.tokens, spent.nano_usd), (tokens, tokens), "{wanted:?} {caps:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn vectors_given_up_are_booked_by_estimate() {
    let world = World::new(tokens(10_000)).await;
    let (_, embedder) = vectors(&world, false);
    let call = embedder.embed(EmbedPurpose::Passage, &["never"]);
    assert!(tokio::time::timeout(Duration::from_secs(1), call).await.is_err());
    assert_eq!(world.settled().await.tokens, u64::try_from(estimate_tokens("never")).unwrap());
}

#[tokio::test(start_paused = true)]
async fn the_caps_of_the_day_hold_for_vectors_of_a_service_and_for_no_local_ones() {
    // A tenth of it is for what nobody waits for.
    let world = World::new(tokens(1_000)).await;
    let (inner, embedder) = vectors(&world, false);
    let texts = vec!["word"; 60];
    assert!(embedder.embed(EmbedPurpose::Passage, &texts).await.is_ok());
    assert_eq!(embedder.embed(EmbedPurpose::Passage, &texts).await, Err(EmbedError::OverBudget));
    assert_eq!(inner.asked.lock().len(), 1, "what is not paid is not asked");
    let (_, local) = vectors(&world, true);
    assert_eq!(
        local.embed(EmbedPurpose::Passage, &texts).await.map(|embedded| embedded.vectors.len()),
        Ok(60)
    );
    assert_eq!(world.settled().await.tokens, 60);
}
