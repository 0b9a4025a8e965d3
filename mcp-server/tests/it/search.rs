//! How well the search understands everyday requests: a table of requests and the methods that fit, written without a
//! look at the search or its data. The rates are printed; run with `--nocapture` to see them.

use figaro_mcp::catalog::{Catalog, MethodSelection};

/// A request and the methods that are right for it.
type Row = (String, Vec<String>);

#[test]
fn nearly_every_everyday_request_finds_its_method_among_the_first_three() {
    let rows: Vec<Row> = serde_json::from_str(include_str!("../requests.json")).unwrap();
    let catalog = Catalog::new(&MethodSelection { with_lifecycle: true, ..MethodSelection::default() });
    let mut hits = [0_usize; 4];
    for (request, wanted) in &rows {
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
    println!("{} requests: {:.1} % first, {top3:.1} % among the first three", rows.len(), rate(hits[0]));
    assert!(rows.len() >= 60 && top3 >= 95.0, "{top3:.1} %");
}
