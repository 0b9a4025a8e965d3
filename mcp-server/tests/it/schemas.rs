//! The schemas of all methods: valid JSON Schema, and of one mind with the check of a call's arguments.

use figaro_mcp::catalog::{Catalog, MethodSelection};
use figaro_mcp::check::check;
use figaro_mcp::table::{ApiTable, ApiType, Method};
use jsonschema::{Validator, draft202012};
use serde_json::{Map, Value};

use crate::support::samples::{Size, arguments, mistyped, sent};

/// A method with its schema as listed, and as a search shows it.
struct Schemas {
    method: &'static Method,
    whole: Validator,
    short: Validator,
}

fn schemas() -> Vec<Schemas> {
    let catalog = Catalog::new(&MethodSelection { with_lifecycle: true, ..MethodSelection::default() });
    let compile = |name: &str, schema: Map<String, Value>| {
        let schema = Value::Object(schema);
        draft202012::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        draft202012::new(&schema).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let of = |method: &'static Method| Schemas {
        method,
        whole: compile(&method.name, catalog.schema(method)),
        short: compile(&method.name, catalog.short_schema(method)),
    };
    let schemas: Vec<Schemas> = ApiTable::get().methods().iter().map(of).collect();
    assert_eq!(schemas.len(), 185);
    schemas
}

impl Schemas {
    fn accept(&self, args: &Map<String, Value>) {
        let name = &self.method.name;
        let instance = Value::Object(args.clone());
        for (which, schema) in [("whole", &self.whole), ("short", &self.short)] {
            if let Err(error) = schema.validate(&instance) {
                panic!("{name}, {which}: {error} at {}", error.instance_path());
            }
        }
        assert_eq!(self.checked(args), Ok(()), "{name}");
    }

    /// The whole schema and the check refuse; the short one too, unless it knows nothing of the type any more.
    fn refuse(&self, args: &Map<String, Value>, what: &str, is_cut: bool) {
        let (name, instance) = (&self.method.name, Value::Object(args.clone()));
        assert!(!self.whole.is_valid(&instance), "{name}, {what}: the whole schema takes it");
        assert!(is_cut || !self.short.is_valid(&instance), "{name}, {what}: the short schema takes it");
        let fault = self.checked(args).unwrap_err();
        assert!(fault.starts_with(what), "{name}, {what}: {fault}");
    }

    fn checked(&self, args: &Map<String, Value>) -> Result<(), String> {
        let Value::Object(sent) = sent(Value::Object(args.clone())) else { panic!("no object") };
        check(self.method, &sent).map(drop).map_err(|fault| fault.to_string())
    }
}

/// Whether a short schema may have cut what is behind this type.
fn may_be_cut(ty: &ApiType) -> bool {
    match ty {
        ApiType::Named(_) | ApiType::InputFile => true,
        ApiType::Union(types) => types.iter().any(may_be_cut),
        _ => false,
    }
}

#[test]
fn every_schema_is_valid_and_takes_and_refuses_what_the_check_does() {
    let (mut accepted, mut refused) = (0, 0);
    for schemas in schemas() {
        let params = &schemas.method.params;
        for size in [Size::Minimal, Size::Full] {
            let args = arguments(schemas.method, size);
            schemas.accept(&args);
            accepted += 1;
            for param in params.iter().filter(|param| param.required) {
                let mut args = args.clone();
                args.remove(&param.name);
                schemas.refuse(&args, &format!("{} is required", param.name), false);
                refused += 1;
            }
            for param in params {
                let mut args = args.clone();
                args.insert(param.name.clone(), mistyped(&param.ty));
                schemas.refuse(&args, &format!("{} must be ", param.name), may_be_cut(&param.ty));
                refused += 1;
            }
            let mut args = args.clone();
            args.insert("no_such_parameter".to_owned(), Value::from(1));
            schemas.refuse(&args, "no_such_parameter is not a parameter of ", false);
            refused += 1;
        }
    }
    println!("{accepted} arguments accepted, {refused} refused");
}

#[test]
fn a_fault_deep_inside_is_found_by_both() {
    let schemas = schemas();
    let mut found = 0;
    for schemas in &schemas {
        let full = arguments(schemas.method, Size::Full);
        for (name, value) in &full {
            let Some(spoilt) = with_odd_field(value) else { continue };
            let mut args = full.clone();
            args.insert(name.clone(), spoilt);
            schemas.refuse(&args, "", true);
            found += 1;
        }
    }
    assert!(found > 100, "{found}");
}

/// The same with a field in its first inner object that no type has.
fn with_odd_field(value: &Value) -> Option<Value> {
    match value {
        Value::Object(map) => {
            let mut map = map.clone();
            map.insert("no_such_field".to_owned(), Value::Null);
            // Of an upload the name and content stay what makes it one.
            (!map.contains_key("base64")).then_some(Value::Object(map))
        }
        Value::Array(items) => {
            let mut items = items.clone();
            let first = items.first_mut()?;
            *first = with_odd_field(first)?;
            Some(Value::Array(items))
        }
        _ => None,
    }
}
