//! Formats a model's observations about its answer for people. Pure.

use figaro_base::text::one_line;
use figaro_domain::observation::{Observation, RiskLevel};
use figaro_prompts::texts::{Texts, fill};

/// Maximum length of a list, in characters.
const LIST_CHARS: usize = 200;

/// Returns a line for each observation, except the session's name, which is shown elsewhere.
pub(super) fn lines(texts: &Texts, observation: &Observation) -> Vec<String> {
    let confidence = observation.confidence.map(|confidence| {
        fill(texts.why_confidence(), &[("percent", &format!("{:.0}", confidence * 100.0))])
    });
    let list = |text: &str, entries: &[String]| {
        let list = one_line(&entries.join(", "), LIST_CHARS);
        (!entries.is_empty()).then(|| fill(text, &[("list", &list)]))
    };
    let extra: Vec<String> = observation.extra.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    let all = [
        confidence,
        risk(texts, observation),
        list(texts.why_sources(), &observation.sources),
        list(texts.why_references(), &observation.references),
        list(texts.why_flags(), &observation.flags),
        list(texts.why_extra(), &extra),
    ];
    all.into_iter().flatten().collect()
}

fn risk(texts: &Texts, observation: &Observation) -> Option<String> {
    let level = observation.risk_level.map(|level| match level {
        RiskLevel::Low => texts.why_risk_low().to_owned(),
        RiskLevel::Moderate => texts.why_risk_moderate().to_owned(),
        RiskLevel::High => texts.why_risk_high().to_owned(),
        RiskLevel::Critical => texts.why_risk_critical().to_owned(),
    });
    let score = observation.risk_score;
    let score = score.map(|score| fill(texts.why_risk_score(), &[("score", &format!("{score:.0}"))]));
    let risk: Vec<String> = level.into_iter().chain(score).collect();
    (!risk.is_empty()).then(|| fill(texts.why_risk(), &[("risk", &risk.join(", "))]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use figaro_prompts::texts::Locales;

    #[test]
    fn what_was_noted_is_told_in_words() {
        let locales = Locales::default();
        let noted = json!({
            "confidence": 0.855, "sources": ["a.example", "the manual"], "references": ["7"], "flags": ["check"],
            "risk_level": "critical", "risk_score": 72.5, "extra": {"team": "red"}, "session_name": "Trip",
        });
        let noted: Observation = serde_json::from_value(noted).unwrap();
        let told = |language: &str, noted: &Observation| lines(locales.of(Some(language)), noted).join("; ");
        assert_eq!(
            told("en", &noted),
            "I am 86 % sure; risk: critical, 72 of 100; rests on: a.example, the manual; refers to: 7; marked: check; \
             also: team: \"red\""
        );
        assert!(told("pt", &noted).starts_with("tenho 86 % de certeza; risco: crítico, 72 de 100; "));
        let score = Observation { risk_score: Some(5.0), ..Observation::default() };
        assert_eq!(told("en", &score), "risk: 5 of 100");
        let name = Observation { session_name: Some("Trip".into()), ..Observation::default() };
        assert_eq!(told("en", &name), "");
    }
}
