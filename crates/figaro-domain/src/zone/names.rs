//! Names from `zones.yaml` and the names of the zones themselves, normalized in case, accents and punctuation for lookups.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use figaro_base::tz::Tz;
use serde::Deserialize;

pub(super) static NAMES: LazyLock<ZoneNames> = LazyLock::new(|| ZoneNames::of(&table()));

/// Letters with diacritics, and their plain form.
const PLAIN: &[(&str, &str)] = &[
    ("àáâãäåāăąảạấầẩẫậắằẳẵặ", "a"),
    ("çćčĉċ", "c"),
    ("ďđð", "d"),
    ("èéêëēĕėęěẻẽẹếềểễệ", "e"),
    ("ğĝġģ", "g"),
    ("ìíîïĩīįıỉị", "i"),
    ("ķ", "k"),
    ("ĺļľł", "l"),
    ("ñńņň", "n"),
    ("òóôõöøōŏőơỏọốồổỗộớờởỡợ", "o"),
    ("ŕř", "r"),
    ("śşšșŝ", "s"),
    ("ţťțŧ", "t"),
    ("ùúûüũūŭůűųưủụứừửữự", "u"),
    ("ýÿŷỳỷỹỵ", "y"),
    ("źżž", "z"),
    ("ß", "ss"),
    ("æ", "ae"),
    ("œ", "oe"),
    ("þ", "th"),
    ("ё", "е"),
    ("й", "и"),
    ("ї", "і"),
    ("և", "եւ"),
];

/// German and Nordic transcriptions of letters missing on a keyboard.
const SPELLED: &[(&str, &str)] = &[("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ø", "oe"), ("å", "aa")];

/// Returns the name of a zone for people: the place in its name ("Buenos Aires"), or `UTC+3` for a fixed offset.
#[must_use]
pub fn city(zone: Tz) -> String {
    let name = zone.name();
    // In these names the sign is reversed.
    if let Some(hours) = name.strip_prefix("Etc/GMT").and_then(|hours| hours.parse::<i32>().ok()) {
        return if hours == 0 { "GMT".to_owned() } else { format!("UTC{:+}", -hours) };
    }
    name.rsplit('/').next().unwrap_or(name).replace('_', " ")
}

/// Data of `zones.yaml`; the file describes its parts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ZoneTable {
    pub(super) links: HashMap<String, Tz>,
    pub(super) abbreviations: HashMap<Tz, Vec<String>>,
    pub(super) cities: HashMap<Tz, Vec<String>>,
    pub(super) several: Vec<Ambiguous>,
    pub(super) countries: HashMap<String, Country>,
    pub(super) states: HashMap<Tz, Vec<String>>,
    pub(super) languages: HashMap<String, Vec<Tz>>,
    pub(super) known: Vec<Tz>,
    pub(super) words: Vec<String>,
    pub(super) openings: Vec<String>,
    pub(super) closings: Vec<String>,
    pub(super) around_a_time: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ambiguous {
    pub(super) names: Vec<String>,
    pub(super) zones: Vec<Tz>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Country {
    pub(super) zones: Vec<Tz>,
    #[serde(default)]
    pub(super) also: Vec<Tz>,
    pub(super) names: Vec<String>,
}

#[expect(clippy::expect_used, reason = "the data is part of the binary, and a test reads it")]
pub(super) fn table() -> ZoneTable {
    serde_saphyr::from_str(include_str!("zones.yaml")).expect("zones.yaml fits")
}

/// Zones by their folded names: in lower case, without accents, dots and apostrophes.
pub(super) struct ZoneNames {
    zones: HashMap<String, Vec<Tz>>,
    /// All zones of a country, by its names.
    within: HashMap<String, Vec<Tz>>,
    states: HashMap<String, Vec<Tz>>,
    links: HashMap<&'static str, Tz>,
    languages: HashMap<String, Vec<Tz>>,
    countries: HashMap<String, Vec<Tz>>,
    /// Zones in the order in which they are offered.
    pub(super) known: Vec<Tz>,
    pub(super) words: HashSet<String>,
    pub(super) around_a_time: HashSet<String>,
    openings: Vec<String>,
    closings: Vec<String>,
}

impl ZoneNames {
    fn of(table: &ZoneTable) -> Self {
        let fold_all = |names: &[String]| names.iter().map(|name| fold(name)).collect::<Vec<_>>();
        let link = |zone: Tz| Some((zone.name(), *table.links.get(zone.name())?));
        let mut names = Self {
            zones: HashMap::new(),
            within: HashMap::new(),
            states: HashMap::new(),
            links: Tz::all().filter_map(link).collect(),
            languages: table.languages.clone(),
            countries: HashMap::new(),
            known: table.known.clone(),
            words: fold_all(&table.words).into_iter().collect(),
            around_a_time: fold_all(&table.around_a_time).into_iter().collect(),
            openings: fold_all(&table.openings),
            closings: fold_all(&table.closings),
        };
        names.add_written(table);
        names.add_own();
        names
    }

    fn add_written(&mut self, table: &ZoneTable) {
        for (names, zones) in written(table) {
            for spelling in names.iter().flat_map(|name| spellings(name)) {
                self.zones.insert(spelling, zones.clone());
            }
        }
        for (code, country) in &table.countries {
            let all = [country.zones.as_slice(), &country.also].concat();
            for spelling in country.names.iter().flat_map(|name| spellings(name)) {
                self.within.insert(spelling, all.clone());
            }
            self.countries.insert(code.to_lowercase(), country.zones.clone());
        }
        for (zone, letters) in &table.states {
            for letters in letters {
                self.states.insert(fold(letters), vec![*zone]);
            }
        }
    }

    /// Adds the names of the zones: current ones take precedence over older ones, and names of the table over both.
    fn add_own(&mut self) {
        let (older, current): (Vec<Tz>, Vec<Tz>) =
            Tz::all().partition(|zone| self.links.contains_key(zone.name()));
        for zones in [current, older] {
            let mut own: HashMap<String, Vec<Tz>> = HashMap::new();
            // Folding removes the sign, so that fixed zones could not be distinguished.
            for zone in zones.into_iter().filter(|zone| !zone.name().starts_with("Etc/")) {
                for name in HashSet::from([fold(zone.name()), fold(&city(zone))]) {
                    own.entry(name).or_default().push(self.current(zone));
                }
            }
            for (name, zones) in own {
                self.zones.entry(name).or_insert(zones);
            }
        }
    }

    /// Returns the current zone for an older name.
    pub(super) fn current(&self, zone: Tz) -> Tz {
        self.links.get(zone.name()).copied().unwrap_or(zone)
    }

    /// Returns `true` if the zone has a current name and people live there.
    pub(super) fn is_lived_in(&self, zone: Tz) -> bool {
        let parts = zone.name().split('/').count();
        let is_polar = zone.name().starts_with("Antarctica/");
        parts == 2 && !is_polar && !zone.name().starts_with("Etc/") && !self.links.contains_key(zone.name())
    }

    /// Returns the zones of a folded name; `None` if it is unknown.
    pub(super) fn zones(&self, name: &str) -> Option<&[Tz]> {
        self.zones.get(name).map(Vec::as_slice)
    }

    /// Returns the zones within the place of this folded name.
    pub(super) fn within(&self, name: &str) -> Option<&[Tz]> {
        self.within.get(name).map(Vec::as_slice).or_else(|| self.zones(name))
    }

    /// Returns the zones of a state's postal abbreviation.
    pub(super) fn state(&self, letters: &str) -> Option<&[Tz]> {
        self.states.get(letters).map(Vec::as_slice)
    }

    /// Returns all ways to strip common words before and after a place from a folded text, the unchanged text first. Each
    /// comes with the words stripped before it.
    pub(super) fn bare<'a>(&'a self, text: &'a str) -> Vec<(&'a str, &'a str)> {
        let cut = |opening: &'a String| {
            let rest = text.strip_prefix(opening.as_str())?;
            Some((opening.as_str(), if rest.is_empty() { rest } else { rest.strip_prefix(' ')? }))
        };
        let opened = std::iter::once(("", text)).chain(self.openings.iter().filter_map(cut));
        let closed = |(opening, text): (&'a str, &'a str)| {
            let cut = move |closing: &'a String| {
                Some((opening, text.strip_suffix(closing.as_str())?.strip_suffix(' ')?))
            };
            std::iter::once((opening, text)).chain(self.closings.iter().filter_map(cut))
        };
        opened.flat_map(closed).collect()
    }

    /// Returns all zones where speakers of a language probably live; never empty.
    pub(super) fn likely(&self, language: Option<&str>) -> Vec<Tz> {
        let tag = language.unwrap_or_default().to_lowercase().replace('_', "-");
        let mut zones: Vec<Tz> = Vec::new();
        let mut add = |more: Option<&Vec<Tz>>| {
            for zone in more.into_iter().flatten() {
                if !zones.contains(zone) {
                    zones.push(*zone);
                }
            }
        };
        add(self.languages.get(&tag));
        if let Some((mut rest, region)) = tag.rsplit_once('-') {
            add(self.countries.get(region));
            add(self.languages.get(rest));
            while let Some((shorter, _)) = rest.rsplit_once('-') {
                rest = shorter;
                add(self.languages.get(rest));
            }
        }
        if zones.is_empty() { self.known.clone() } else { zones }
    }
}

/// Returns all names of the table with their zones, except those of states.
pub(super) fn written(table: &ZoneTable) -> impl Iterator<Item = (&[String], Vec<Tz>)> {
    let single = table.abbreviations.iter().chain(&table.cities);
    let single = single.map(|(zone, names)| (names.as_slice(), vec![*zone]));
    let several = table.several.iter().map(|entry| (entry.names.as_slice(), entry.zones.clone()));
    let countries = table.countries.values().map(|entry| (entry.names.as_slice(), entry.zones.clone()));
    single.chain(several).chain(countries)
}

/// Returns the folded name, and its transcription for keyboards without the letters.
pub(super) fn spellings(name: &str) -> HashSet<String> {
    let spelled: String = name.to_lowercase().chars().map(|c| replaced(c, SPELLED)).collect();
    HashSet::from([fold(name), fold(&spelled)])
}

/// Normalizes a text: plain lower-case letters, single spaces between words. Punctuation becomes a space, except inside of
/// words.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            // Combining accents, and punctuation that many people leave out.
            '\u{300}'..='\u{36f}' | '.' | '\'' | '’' | '‘' | 'ʻ' | 'ʼ' | '`' | '´' => {}
            _ if c.is_ascii_alphanumeric() => folded.push(c),
            _ if c.is_alphanumeric() => folded.push_str(&replaced(c, PLAIN)),
            _ if folded.ends_with(' ') => {}
            _ => folded.push(' '),
        }
    }
    folded.trim().to_owned()
}

fn replaced(c: char, letters: &[(&str, &str)]) -> String {
    let plain = letters.iter().find(|(marked, _)| marked.contains(c));
    plain.map_or_else(|| c.to_string(), |(_, plain)| (*plain).to_owned())
}
