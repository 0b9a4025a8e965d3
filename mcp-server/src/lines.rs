//! One-line descriptions of methods, parameters and fields, from `bot-api/descriptions.json`. Shown by the catalog, added
//! to schemas by `schema`, searched by `find`.

use std::collections::HashMap;

use serde::Deserialize;

/// The descriptions. They borrow from the data in the binary, which must hold no escapes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
pub(crate) struct TableLines {
    /// Lines of parameters of any method.
    parameters: ByName,
    /// Lines of fields of any type.
    fields: ByName,
    methods: HashMap<&'static str, MethodLines>,
    /// Lines of fields of one type; they override the common ones.
    types: HashMap<&'static str, ByName>,
}

type ByName = HashMap<&'static str, &'static str>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MethodLines {
    description: &'static str,
    /// Lines of this method's parameters; they override the common ones.
    #[serde(default)]
    parameters: ByName,
}

impl TableLines {
    #[expect(clippy::expect_used, reason = "the data is part of the build; a test parses it")]
    pub(crate) fn embedded() -> Self {
        serde_json::from_str(include_str!("../bot-api/descriptions.json")).expect("descriptions.json fits")
    }

    /// Returns the description of a method. Methods without one are not served.
    pub(crate) fn method(&self, name: &str) -> Option<&'static str> {
        self.methods.get(name).map(|own| own.description)
    }

    /// Returns the description of a parameter of a method.
    pub(crate) fn parameter(&self, method: &str, name: &str) -> Option<&'static str> {
        let own = self.methods.get(method).and_then(|own| own.parameters.get(name));
        own.or_else(|| self.parameters.get(name)).copied()
    }

    /// Returns the description of a field of a type.
    pub(crate) fn field(&self, type_name: &str, name: &str) -> Option<&'static str> {
        let own = self.types.get(type_name).and_then(|own| own.get(name));
        own.or_else(|| self.fields.get(name)).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashSet};

    use super::*;
    use crate::table::{ApiTable, ApiType, TypeDef};

    /// Longer ones would be paid for in every prompt.
    const LONGEST: usize = 160;

    #[test]
    fn every_method_parameter_and_field_has_its_line() {
        let (lines, table) = (TableLines::embedded(), ApiTable::get());
        let mut missing = Vec::new();
        for method in table.methods() {
            if lines.method(&method.name).is_none() {
                missing.push(method.name.clone());
            }
            let params = method.params.iter().filter(|p| lines.parameter(&method.name, &p.name).is_none());
            missing.extend(params.map(|p| format!("{}.{}", method.name, p.name)));
        }
        for name in sent_types() {
            let Some(TypeDef::Fields(fields)) = table.type_def(name) else { continue };
            let told = |name: &str, field: &str| lines.field(name, field).is_some();
            let unclear = fields.iter().filter(|f| f.constant.is_none() && !told(name, &f.name));
            missing.extend(unclear.map(|f| format!("{name}.{}", f.name)));
        }
        assert_eq!(missing, Vec::<String>::new(), "bot-api/descriptions.json lacks these");
    }

    #[test]
    fn a_line_is_short_and_about_something_that_exists() {
        let (lines, table) = (TableLines::embedded(), ApiTable::get());
        let short = |text: &str| !text.is_empty() && text.len() <= LONGEST && !text.contains('\n');
        let has = |fields: &[crate::table::ApiField], name: &str| fields.iter().any(|f| f.name == name);
        let mut wrong = BTreeSet::new();
        for (name, line) in &lines.parameters {
            let known = table.methods().iter().any(|m| has(&m.params, name));
            wrong.extend((!known || !short(line)).then(|| (*name).to_owned()));
        }
        for (name, own) in &lines.methods {
            let method = table.method(name).filter(|m| m.name == *name);
            wrong.extend((method.is_none() || !short(own.description)).then(|| (*name).to_owned()));
            for (parameter, line) in &own.parameters {
                let known = method.is_some_and(|m| has(&m.params, parameter));
                wrong.extend((!known || !short(line)).then(|| format!("{name}.{parameter}")));
            }
        }
        let sent: HashSet<&str> = sent_types().into_iter().collect();
        let fields = |name: &str| match table.type_def(name) {
            Some(TypeDef::Fields(fields)) if sent.contains(name) => fields.as_slice(),
            _ => &[],
        };
        for (name, line) in &lines.fields {
            let known = sent.iter().any(|ty| has(fields(ty), name));
            wrong.extend((!known || !short(line)).then(|| format!("*.{name}")));
        }
        for (name, own) in &lines.types {
            let unknown = own.iter().filter(|(field, line)| !has(fields(name), field) || !short(line));
            wrong.extend(unknown.map(|(field, _)| format!("{name}.{field}")));
        }
        assert_eq!(wrong, BTreeSet::new());
    }

    /// The types a call can carry; what only Telegram sends needs no words.
    fn sent_types() -> Vec<&'static str> {
        fn named<'a>(ty: &'a ApiType, out: &mut Vec<&'a str>) {
            match ty {
                ApiType::Named(name) if !out.contains(&name.as_str()) => out.push(name),
                ApiType::Array(inner) => named(inner, out),
                ApiType::Union(types) => types.iter().for_each(|ty| named(ty, out)),
                _ => {}
            }
        }
        let table = ApiTable::get();
        let mut found = Vec::new();
        table.methods().iter().flat_map(|m| &m.params).for_each(|p| named(&p.ty, &mut found));
        let mut at = 0;
        while let Some(name) = found.get(at).copied() {
            match table.type_def(name) {
                Some(TypeDef::Fields(fields)) => fields.iter().for_each(|f| named(&f.ty, &mut found)),
                Some(TypeDef::Union(types)) => types.iter().for_each(|ty| named(ty, &mut found)),
                None => {}
            }
            at += 1;
        }
        found
    }
}
