//! How well the search understands everyday requests: a table of requests and the methods that fit for each language,
//! written without a look at the search or its data. The rates are printed; run with `--nocapture`. Words of the search that
//! are chosen by these tables need new tables.

use std::fs;
use std::path::Path;

use figaro_mcp::catalog::{Catalog, MethodSelection};

/// A request and the methods that are right for it.
type Row = (String, Vec<String>);

/// Prints the rates of a table of requests; returns that of the first three results in percent.
fn first_three(language: &str, rows: &[Row], catalog: &Catalog) -> f64 {
    let mut hits = [0_usize; 4];
    for (request, wanted) in rows {
        let found: Vec<&str> = catalog
            .find(request)
            .unwrap_or_default()
            .methods
            .iter()
            .map(|method| method.name.as_str())
            .collect();
        match found.iter().position(|name| wanted.iter().any(|wanted| wanted == name)) {
            Some(place) if place < 3 => hits[place] += 1,
            place => {
                hits[3] += 1;
                println!("{request:?} wants {wanted:?}, at place {place:?} of {found:?}");
            }
        }
    }
    let rate = |hits: usize| 100.0 * hits as f64 / rows.len() as f64;
    let top3 = rate(hits[..3].iter().sum());
    println!(
        "{language}, {} requests: {:.1} % first, {top3:.1} % among the first three",
        rows.len(),
        rate(hits[0])
    );
    top3
}

fn whole() -> Catalog {
    Catalog::new(&MethodSelection { with_lifecycle: true, ..MethodSelection::default() })
}

#[test]
fn nearly_every_everyday_request_finds_its_method_among_the_first_three() {
    let rows: Vec<Row> = serde_json::from_str(include_str!("../requests.json")).unwrap();
    let top3 = first_three("English", &rows, &whole());
    assert!(rows.len() >= 60 && top3 >= 95.0, "{top3:.1} %");
}

#[test]
fn requests_in_other_languages_find_their_methods_among_the_first_three() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/requests");
    let catalog = whole();
    let mut rates = Vec::new();
    for language in ["ar", "de", "es", "fr", "hi", "id", "it", "pt", "ru", "tr", "zh"] {
        let text = fs::read_to_string(folder.join(language).with_extension("json")).unwrap();
        let rows: Vec<Row> = serde_json::from_str(&text).unwrap();
        assert!(rows.len() >= 40, "{language}");
        rates.push((language, first_three(language, &rows, &catalog)));
    }
    assert!(rates.iter().all(|(_, top3)| *top3 >= 85.0), "{rates:.1?}");
}
