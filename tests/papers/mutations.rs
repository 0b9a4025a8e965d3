//! Ten deliberate mistakes in the papers, each of which has to be found.

use crate::paper::Paper;
use crate::{faults, run, told};

/// A mistake: where the first words stand, other words take their place. The last ones tell the fault.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("](docs/", "](doc/", "leads nowhere"),
    (".md#", ".md#no-", "no such anchor"),
    ("`TELEGRAM_BOT_TOKEN`", "`TELEGRAM_BOT_TOKENS`", "is no setting"),
    ("\nTELEGRAM_BOT_TOKEN=", "\nTELEGRAM_TOKEN=", "is no setting"),
    ("figaro demo", "figaro demonstrate", "has no command"),
    ("figaro --version", "figaro --versions", "has no option"),
    ("```json\n{", "```json\n{,", "no JSON"),
    ("```yaml\n", "```yaml\n: [", "no YAML"),
    ("`tests/it/", "`tests/at/", "there is no"),
    ("```sh\n", "```shell\n", "unknown language"),
];

pub(crate) fn are_found(papers: &[Paper]) {
    let before = faults(papers);
    for (good, bad, told_as) in MISTAKES {
        let (at, paper) =
            papers.iter().enumerate().find(|(_, paper)| paper.text.contains(good)).unwrap_or_else(|| {
                panic!("no paper has {good:?} any more: choose another mistake");
            });
        let mut changed = papers.to_vec();
        changed[at] = Paper::new(&paper.path, paper.text.replacen(good, bad, 1));
        let new: Vec<_> = faults(&changed).into_iter().filter(|fault| !before.contains(fault)).collect();
        assert!(
            new.iter().any(|fault| fault.words.contains(told_as)),
            "{good:?} to {bad:?}:\n{}",
            told(&new)
        );
    }
    // A long README, and a block that fails.
    let readme = papers.iter().position(|paper| paper.path == "README.md").unwrap();
    let mut changed = papers.to_vec();
    changed[readme] = Paper::new("README.md", format!("{}{}", papers[readme].text, "word ".repeat(1300)));
    assert!(faults(&changed).iter().any(|fault| fault.words.contains("words, over")));
    assert!(run::wrong("figaro agents check no-such-folder-here").is_some());
    assert_eq!(run::wrong("figaro --version"), None);
}
