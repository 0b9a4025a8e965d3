//! Traces and metrics for an OpenTelemetry collector: what happened, and no words.

use std::sync::Arc;

use figaro_offline::model::ModelReply;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Field;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use parking_lot::Mutex;
use prost::Message;
use serde_json::json;

use crate::support::calls::{call, says};
use crate::support::canned::Canned;
use crate::support::output::{refused, words};
use crate::support::{ANN, World};

/// Requests to a collector: path, head and body.
type Received = Arc<Mutex<Vec<(String, String, Vec<u8>)>>>;

/// A collector that takes everything.
async fn collector() -> (Canned, Received) {
    let received = Received::default();
    let kept = Arc::clone(&received);
    let server = Canned::reading(move |path, head, body| {
        kept.lock().push((path.to_owned(), head.to_owned(), body.to_vec()));
        (200, String::new())
    });
    (server.await, received)
}

fn spans(received: &Received) -> Vec<Span> {
    let received = received.lock();
    let bodies = received.iter().filter(|(path, _, _)| path == "/v1/traces").map(|(_, _, body)| body);
    let requests = bodies.map(|body| ExportTraceServiceRequest::decode(body.as_slice()).unwrap());
    let all = requests.flat_map(|request| request.resource_spans).flat_map(|resource| resource.scope_spans);
    all.flat_map(|scope| scope.spans).collect()
}

fn text(fields: &[KeyValue], name: &str) -> Option<String> {
    let field = fields.iter().find(|field| field.key == name)?;
    Some(match field.value.clone()?.value? {
        Field::StringValue(text) => text,
        Field::IntValue(number) => number.to_string(),
        other => panic!("{other:?}"),
    })
}

#[tokio::test]
async fn a_turn_is_a_trace_with_its_model_calls_and_tool_calls_and_without_words() {
    let world = World::new().await;
    let (server, received) = collector().await;
    let recipe = world.bot().set("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("{}/", server.url));
    let bot = recipe.set("OTEL_EXPORTER_OTLP_HEADERS", "x-key=s3cret, x-team=a%20b").spawn();
    bot.ready().await;
    let note = json!({"key": "films", "content": "moonlit aliens"});
    call(&world, (ANN, ANN), "remember the moonlit aliens", "add_note", note).await;
    world.script.push(ModelReply::status(500, "down"));
    world.script.push(ModelReply::text("The moonlit aliens again."));
    world.say(ANN, ANN, "which aliens, moonlit?");
    says(&world, ANN, "The moonlit aliens again.").await;
    let log = bot.log();
    bot.ends_well().await;

    let spans = spans(&received);
    let named = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let (agents, models, tools) =
        (named("invoke_agent figaro"), named("chat offline"), named("execute_tool add_note"));
    assert_eq!((agents.len(), tools.len()), (2, 1), "{spans:#?}");
    assert!(models.len() >= 3, "{spans:#?}");
    for model in &models {
        assert_eq!(model.kind, 3, "a client");
        assert_eq!(text(&model.attributes, "gen_ai.provider.name").as_deref(), Some("openai"));
        assert_eq!(text(&model.attributes, "gen_ai.operation.name").as_deref(), Some("chat"));
        assert!(agents.iter().any(|agent| agent.span_id == model.parent_span_id), "{model:#?}");
    }
    let answered = models.iter().filter(|model| text(&model.attributes, "error.type").is_none());
    for model in answered {
        assert!(text(&model.attributes, "gen_ai.usage.input_tokens").unwrap().parse::<u64>().unwrap() > 0);
        assert_eq!(text(&model.attributes, "gen_ai.response.model").as_deref(), Some("offline"));
    }
    assert_eq!(text(&tools[0].attributes, "gen_ai.tool.name").as_deref(), Some("add_note"));
    assert!(agents.iter().any(|agent| agent.span_id == tools[0].parent_span_id));
    // The log names the turn by the same id.
    let run = text(&agents[0].attributes, "figaro.run").unwrap();
    assert!(log.contains(&run), "{log}");
    for (path, head, body) in received.lock().iter() {
        assert!(head.contains("x-key: s3cret") && head.contains("x-team: a b"), "{path}: {head}");
        assert!(!String::from_utf8_lossy(body).to_lowercase().contains("moonlit"), "{path}");
    }

    let received = received.lock();
    let bodies = received.iter().filter(|(path, _, _)| path == "/v1/metrics").map(|(_, _, body)| body);
    let last =
        bodies.map(|body| ExportMetricsServiceRequest::decode(body.as_slice()).unwrap()).next_back().unwrap();
    let metrics: Vec<_> = last
        .resource_metrics
        .into_iter()
        .flat_map(|one| one.scope_metrics)
        .flat_map(|one| one.metrics)
        .collect();
    let points = |name: &str| match &metrics.iter().find(|metric| metric.name == name).unwrap().data {
        Some(Data::Histogram(found)) => found.data_points.clone(),
        other => panic!("{other:?}"),
    };
    let calls: u64 = points("gen_ai.client.operation.duration").iter().map(|point| point.count).sum();
    assert_eq!(calls, u64::try_from(models.len()).unwrap());
    let tokens = points("gen_ai.client.token.usage");
    let kinds: Vec<_> =
        tokens.iter().filter_map(|point| text(&point.attributes, "gen_ai.token.type")).collect();
    assert!(kinds.contains(&"input".to_owned()) && kinds.contains(&"output".to_owned()), "{kinds:?}");
}

#[tokio::test]
async fn a_collector_that_fails_is_told_once_and_holds_nothing_up() {
    let world = World::new().await;
    let refusing = Canned::empty().await;
    for (before, endpoint) in ["http://127.0.0.1:1", refusing.url.as_str()].into_iter().enumerate() {
        let recipe = world.bot().set("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
        let bot = recipe.set("OTEL_BSP_SCHEDULE_DELAY", "50").spawn();
        bot.ready().await;
        for number in 0..3 {
            world.script.push(ModelReply::text(&format!("Answer {number} of {endpoint}.")));
            world.say(ANN, ANN, "hello");
            says(&world, ANN, &format!("Answer {number} of {endpoint}.")).await;
        }
        bot.logged_times("does not take traces or metrics", before + 1).await;
        bot.ends_well().await;
        let log = world.log();
        assert_eq!(log.matches("does not take traces or metrics").count(), before + 1, "{log}");
    }
}

#[tokio::test]
async fn wrong_settings_of_the_collector_are_told() {
    let world = World::new().await;
    for (name, value, said) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4318", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "is not http/protobuf"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization", "write NAME=VALUE"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a b=c", "write NAME=VALUE"),
    ] {
        let recipe = world.bot().set("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318").set(name, value);
        let words = refused(&world, &recipe).await;
        assert!(words.contains(said), "{name}: {words}");
    }
    // A value that is a secret is not shown.
    let recipe = world.bot().set("OTEL_EXPORTER_OTLP_HEADERS", "s3cret").arg("check");
    assert!(!format!("{:?}", words(&recipe.run().await)).contains("s3cret"));
}
