//! Models of services that turn texts into numbers, against the offline model in each dialect.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use figaro_config::ProviderSettings;
use figaro_offline::model::{ModelReply, VectorFault};
use figaro_provider::embed::{EmbedError, EmbedPurpose, Embedded, Embedder};
use figaro_provider::{BUILTIN, ProviderError};

use crate::support::World;
use crate::support::output::words;

/// Each service with the model that it is asked for.
const MODELS: [(&str, &str); 4] = [
    ("openai", "text-embedding-3-small"),
    ("compatible", "BAAI/embed-m3"),
    ("ollama", "nomic-embed-text"),
    ("gemini", "gemini-embedding-001"),
];

fn embedder(world: &World, provider: &str, model: &str) -> Arc<dyn Embedder> {
    let descriptor = BUILTIN.iter().find(|descriptor| descriptor.spec.name == provider).unwrap();
    let base_url = match provider {
        "ollama" => world.model.ollama_url().to_owned(),
        "gemini" => world.model.gemini_url(),
        _ => world.model.url().to_owned(),
    };
    let times = BTreeMap::new();
    let key = "sk-offline-key".into();
    let settings =
        ProviderSettings { name: descriptor.spec.name, base_url, key, model: String::new(), times };
    drop(rustls::crypto::ring::default_provider().install_default());
    let http = reqwest::Client::builder().no_proxy().connect_timeout(Duration::from_secs(5)).build().unwrap();
    descriptor.embedder.unwrap()(&settings, model, http, Duration::from_secs(2))
}

pub(crate) fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[tokio::test]
async fn every_service_gives_a_vector_of_length_1_for_each_text_in_order() {
    let world = World::new().await;
    let texts: Vec<String> = (0..150).map(|number| format!("text number {number}")).collect();
    let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    texts[7] = " \n";
    for (provider, model) in MODELS {
        let before = world.model.vector_requests().len();
        let embedder = embedder(&world, provider, model);
        assert_eq!((embedder.name(), embedder.is_local()), (format!("{provider}:{model}").as_str(), false));
        let all = embedder.embed(EmbedPurpose::Passage, &texts).await.unwrap();
        assert_eq!(all.vectors.len(), texts.len(), "{provider}");
        assert!(all.tokens >= 300, "{provider}: {}", all.tokens);
        for vector in &all.vectors {
            assert!((dot(vector, vector) - 1.0).abs() < 1e-5, "{provider}");
        }
        let question = embedder.embed(EmbedPurpose::Question, &["number 77"]).await.unwrap();
        let nearest = |(_, one): &(usize, &Vec<f32>), (_, other): &(usize, &Vec<f32>)| {
            dot(one, &question.vectors[0]).total_cmp(&dot(other, &question.vectors[0]))
        };
        let found = all.vectors.iter().enumerate().max_by(nearest).unwrap();
        assert_eq!(found.0, 77, "{provider}");
        let asked = world.model.vector_requests().split_off(before);
        let sizes: Vec<usize> = asked.iter().map(|request| request.texts.len()).collect();
        assert_eq!(sizes, [64, 64, 22, 1], "{provider}");
        if provider == "gemini" {
            assert_eq!((&*asked[0].purpose, &*asked[3].purpose), ("RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"));
        }
        assert_eq!(embedder.embed(EmbedPurpose::Passage, &[]).await, Ok(Embedded::default()));
    }
    assert_eq!(world.model.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn long_texts_are_cut_where_the_model_ends_and_calls_where_they_are_large() {
    let world = World::new().await;
    let long = "ünïcödé wörds ".repeat(20_000);
    for (provider, model) in MODELS {
        let before = world.model.vector_requests().len();
        let embedder = embedder(&world, provider, model);
        let embedded = embedder.embed(EmbedPurpose::Passage, &[&long, "short", &long, &long]).await.unwrap();
        assert_eq!(embedded.vectors.len(), 4, "{provider}");
        let asked = world.model.vector_requests().split_off(before);
        let texts: Vec<&String> = asked.iter().flat_map(|request| &request.texts).collect();
        assert_eq!(texts[1], "short", "{provider}");
        let length = texts[0].len();
        assert!(
            long.starts_with(texts[0].as_str()) && (4_000..100_000).contains(&length),
            "{provider}: {length}"
        );
        assert!(asked.len() > 1 || provider == "gemini", "{provider}: {} calls", asked.len());
    }
    assert_eq!(world.model.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn what_a_service_finds_too_long_is_cut_shorter_from_then_on() {
    let world = World::new().await;
    let embedder = embedder(&world, "compatible", "BAAI/embed-m3");
    let refused = || VectorFault::status(400, "This model's maximum context length is 512 tokens");
    world.model.fail_vectors([refused(), refused(), refused()]);
    let long = "word ".repeat(5_000);
    embedder.embed(EmbedPurpose::Passage, &[&long]).await.unwrap();
    embedder.embed(EmbedPurpose::Passage, &[&long]).await.unwrap();
    let lengths = world.model.vector_requests().into_iter().map(|request| request.texts[0].len());
    let lengths: Vec<usize> = lengths.collect();
    assert!(lengths.len() == 5 && lengths[0] == long.len(), "{lengths:?}");
    assert!(lengths.windows(2).take(3).all(|pair| pair[1] <= pair[0] / 2), "{lengths:?}");
    assert_eq!(lengths[3], lengths[4], "it is remembered");

    world.model.fail_vectors(std::iter::repeat_with(refused).take(9));
    let error = embedder.embed(EmbedPurpose::Passage, &["short"]).await.unwrap_err();
    assert!(matches!(error, EmbedError::Provider(ProviderError::TooLong(_))), "{error:?}");
}

#[tokio::test]
async fn what_fails_in_passing_is_sent_again_and_all_else_is_told() {
    let world = World::new().await;
    let limited = VectorFault::Status { status: 429, message: "slow down".to_owned(), retry_after: Some(1) };
    for (provider, model) in MODELS {
        let embedder = embedder(&world, provider, model);
        let begun = Instant::now();
        world.model.fail_vectors([VectorFault::status(503, "busy"), limited.clone()]);
        embedder.embed(EmbedPurpose::Passage, &["a", "b"]).await.unwrap();
        assert!(begun.elapsed() >= Duration::from_secs(1), "{provider}: it waits as long as it is told");

        let fails = async |fault: VectorFault| {
            world.model.fail_vectors([fault]);
            embedder.embed(EmbedPurpose::Passage, &["a", "b"]).await.unwrap_err()
        };
        for (fault, label) in [
            (VectorFault::status(401, "no key"), "unauthorized"),
            (VectorFault::status(400, "no such thing"), "refused"),
            (VectorFault::OneMissing, "unusable"),
            (VectorFault::OneShorter, "unusable"),
            (VectorFault::OneWithoutDirection, "unusable"),
            (VectorFault::Page, "foreign"),
        ] {
            let error = fails(fault.clone()).await;
            assert_eq!(error.label(), label, "{provider} {fault:?}: {error}");
            assert!(!error.is_passing() && !error.to_string().contains("sk-offline-key"), "{error}");
        }
        // Another number than before, in all vectors alike.
        let error = {
            world.model.fail_vectors([VectorFault::OneShorter]);
            embedder.embed(EmbedPurpose::Passage, &["a"]).await.unwrap_err()
        };
        assert!(
            error.to_string().contains("255") && error.to_string().contains("256"),
            "{provider}: {error}"
        );
    }
    world.model.fail_vectors([VectorFault::Silence]);
    let error =
        embedder(&world, "openai", "text-embedding-3-small").embed(EmbedPurpose::Question, &["a"]).await;
    let stalled = EmbedError::Provider(ProviderError::Stalled(Duration::from_secs(2)));
    assert!(stalled.is_passing());
    assert_eq!(error, Err(stalled));
}

#[tokio::test]
async fn a_model_that_is_not_served_is_told_in_each_dialect() {
    let world = World::new().await;
    for (provider, model) in
        [("openai", "gpt-4.1"), ("ollama", "skynet"), ("gemini", "gemini-2.5-flash"), ("gemini", "../x")]
    {
        let error =
            embedder(&world, provider, model).embed(EmbedPurpose::Question, &["a"]).await.unwrap_err();
        assert!(
            matches!(error, EmbedError::Provider(ProviderError::UnknownModel(_))),
            "{provider}:{model}: {error:?}"
        );
    }
    assert_eq!(world.model.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn check_tries_the_embedder_and_says_what_to_do() {
    let world = World::new().await;
    let ollama = world.model.ollama_url().to_owned();
    let folder = world.folder.path().join("empty");
    fs::create_dir(&folder).unwrap();
    let check = |value: &str| {
        let bot = world.bot().set("EMBEDDER", value).set("OLLAMA_BASE_URL", &ollama);
        let is_elsewhere = value.starts_with("compatible");
        let bot = if is_elsewhere { bot.set("COMPATIBLE_BASE_URL", "http://127.0.0.1:9/v1") } else { bot };
        bot.arg("check")
    };
    let cases = [
        ("off", Ok("✓ model")),
        (
            "openai:text-embedding-3-small",
            Ok("✓ embedder: openai:text-embedding-3-small gives vectors of 256 numbers, in "),
        ),
        (
            "Ollama:nomic-embed-text",
            Ok("✓ embedder: ollama:nomic-embed-text gives vectors of 256 numbers, in "),
        ),
        ("ollama:skynet", Err("skynet` fetches it): choose another EMBEDDER")),
        ("compatible:m", Err("check COMPATIBLE_BASE_URL, LLM_PROXY and the network")),
        ("local:./empty", Err("EMBEDDER: the folder ./empty has no file that ends in .onnx")),
        ("local:./none", Err("EMBEDDER: there is no folder ./none")),
    ];
    for (value, wanted) in cases {
        world.script.push(ModelReply::text("Yes."));
        let output = check(value).run().await;
        let (said, errors) = words(&output);
        match wanted {
            Ok(wanted) => {
                assert!(output.status.success() && said.contains(wanted), "{value}: {said} {errors}");
                assert_eq!(said.contains("embedder"), value != "off", "{value}: {said}");
            }
            Err(wanted) => {
                let line = said.lines().find(|line| line.starts_with("✗ embedder: ")).unwrap_or_default();
                assert!(!output.status.success() && line.contains(wanted), "{value}: {said} {errors}");
            }
        }
    }
    let unpriced =
        check("ollama:nomic-embed-text").set("EMBEDDER", "openai:my-embedder").set("DAILY_USD", "1");
    world.script.push(ModelReply::text("Yes."));
    let (said, _) = words(&unpriced.run().await);
    assert!(
        said.contains("! embedder: openai:my-embedder will not be asked: money is the only limit"),
        "{said}"
    );
}
