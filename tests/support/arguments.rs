//! Arguments for any method, made from the table alone: the fewest it takes or all it has, within every bound, and ones
//! it must refuse.

use std::collections::BTreeMap;

use figaro_mcp::table::{ApiField, ApiTable, ApiType, TypeDef, Unit};
use serde_json::{Map, Value, json};

/// Optional fields and further items are left out below this depth; what is required goes on.
const FULL_DEPTH: usize = 4;
/// Nothing required nests deeper.
const DEEPEST: usize = 16;
/// The largest number that Telegram promises to keep.
const LARGEST: i64 = (1 << 52) - 1;
/// A text that any encoding on its way might harm.
const TEXT: &str = "Grüße & \"quotes\" 🎲 + 100% \\ <b>=</b>\r\nnext";

/// Values by the names of parameters that mean something in the world of the test, at any depth.
pub type Known = Map<String, Value>;

/// How arguments are made.
#[derive(Debug, Clone)]
pub struct Maker<'a> {
    /// All parameters, and not only the required ones.
    pub full: bool,
    /// Which of several alternatives comes first: of named values, or in a list.
    pub turn: usize,
    /// What to use by name.
    pub known: &'a Known,
    /// A `file_id` that Telegram knows.
    pub file_id: &'a str,
    /// Uploads made so far.
    pub uploads: usize,
    /// How often a file was given in a place such as `InputMediaVideo.cover`: each way to give one takes its turn.
    pub places: BTreeMap<String, usize>,
    /// How often a value of a union was made: each alternative takes its turn.
    pub unions: BTreeMap<String, usize>,
}

impl Maker<'_> {
    /// The arguments of a method, or an object of a type.
    pub fn object(&mut self, owner: &str, fields: &[ApiField], depth: usize) -> Value {
        assert!(depth < DEEPEST, "it never ends");
        let optional = self.full && depth < FULL_DEPTH;
        let wanted = fields.iter().filter(|field| field.required || optional);
        Value::Object(wanted.map(|field| (field.name.clone(), self.field(owner, field, depth))).collect())
    }

    fn field(&mut self, owner: &str, field: &ApiField, depth: usize) -> Value {
        if let Some(constant) = &field.constant {
            return constant.clone();
        }
        if let Some(known) = self.known.get(&field.name) {
            return known.clone();
        }
        if !field.one_of.is_empty() {
            return field.one_of[self.turn % field.one_of.len()].clone();
        }
        if takes_file(field) {
            return self.file(format!("{owner}.{}", field.name));
        }
        // The least by default, the most where all is asked for.
        let most = if self.full { field.max } else { None };
        let bound = most.or(field.min);
        match (field.unit, &field.ty) {
            (Some(Unit::Chars | Unit::Bytes), ApiType::String) => {
                json!("x".repeat(count(bound.or(field.max)).max(1)))
            }
            (Some(Unit::Value), ApiType::Integer) => json!(bound.unwrap_or(1)),
            (Some(Unit::Items), ApiType::Array(inner)) => self.items(
                inner,
                depth,
                (count(field.min), field.max.map_or(usize::MAX, |max| count(Some(max)))),
            ),
            (_, ty) => self.value(ty, depth),
        }
    }

    fn value(&mut self, ty: &ApiType, depth: usize) -> Value {
        match ty {
            ApiType::Integer => json!(if self.full { LARGEST } else { 1 }),
            ApiType::Float => json!(1.5),
            ApiType::String | ApiType::InputFile => json!(if self.full { TEXT } else { "x" }),
            ApiType::Boolean => json!(self.turn.is_multiple_of(2)),
            ApiType::True => json!(true),
            ApiType::Array(inner) => self.items(inner, depth, (0, usize::MAX)),
            ApiType::Union(types) => self.one_of(types, depth),
            ApiType::Named(name) => match ApiTable::get().type_def(name) {
                Some(TypeDef::Fields(fields)) => self.object(name, fields, depth + 1),
                Some(TypeDef::Union(types)) => self.one_of(types, depth),
                None => panic!("no type {name}"),
            },
        }
    }

    /// Below the full depth the first alternative, which never needs itself.
    fn one_of(&mut self, types: &[ApiType], depth: usize) -> Value {
        if depth >= FULL_DEPTH {
            return self.value(&types[0], depth);
        }
        let times = self.unions.entry(ApiType::Union(types.to_vec()).to_string()).or_default();
        *times += 1;
        let at = (*times - 1) % types.len();
        self.value(&types[at], depth)
    }

    /// As few as may be, or as many, or one of each alternative.
    fn items(&mut self, inner: &ApiType, depth: usize, (least, most): (usize, usize)) -> Value {
        if !self.full || depth >= FULL_DEPTH {
            return (0..least).map(|_| self.value(inner, depth + 1)).collect();
        }
        let alternatives = match inner {
            ApiType::Named(name) => match ApiTable::get().type_def(name) {
                Some(TypeDef::Union(types)) => types.as_slice(),
                _ => std::slice::from_ref(inner),
            },
            ApiType::Union(types) => types,
            _ => std::slice::from_ref(inner),
        };
        // Further down each of them would hold all the others again.
        let wanted = match depth {
            0 if most < usize::MAX => most,
            0 | 1 => alternatives.len(),
            _ => 1,
        };
        let turn = self.turn;
        (0..wanted.clamp(least, most))
            .map(|at| self.value(&alternatives[(turn + at) % alternatives.len()], depth + 1))
            .collect()
    }

    /// By turns a file that comes along, one that Telegram has, and one it fetches.
    fn file(&mut self, place: String) -> Value {
        let times = self.places.entry(place).or_default();
        *times += 1;
        match *times % 3 {
            1 => {
                self.uploads += 1;
                json!({"name": format!("{}.bin", self.uploads), "base64": base64(&content(self.uploads))})
            }
            2 => json!(self.file_id),
            _ => json!("https://example.com/a%20b.png?c=d&e=f#g"),
        }
    }
}

fn takes_file(field: &ApiField) -> bool {
    field.attach
        || matches!(&field.ty, ApiType::InputFile)
        || matches!(&field.ty, ApiType::Union(types) if types.contains(&ApiType::InputFile))
}

/// A value that a parameter of this type can never take.
pub fn mistyped(ty: &ApiType) -> Value {
    let values = [json!(true), json!(5), json!("x"), json!([]), json!({})];
    values.into_iter().find(|value| !takes(ty, value)).unwrap_or_else(|| panic!("{ty} takes anything"))
}

fn takes(ty: &ApiType, value: &Value) -> bool {
    match ty {
        ApiType::Integer | ApiType::Float => value.is_number(),
        ApiType::String => value.is_string(),
        ApiType::Boolean | ApiType::True => value.is_boolean(),
        ApiType::InputFile => value.is_string() || value.is_object(),
        ApiType::Array(_) => value.is_array(),
        ApiType::Union(types) => types.iter().any(|ty| takes(ty, value)),
        ApiType::Named(name) => match ApiTable::get().type_def(name) {
            Some(TypeDef::Union(types)) => types.iter().any(|ty| takes(ty, value)),
            _ => value.is_object(),
        },
    }
}

/// The bytes of an upload by its number: of every length that base64 packs differently, and no text.
pub fn content(number: usize) -> Vec<u8> {
    (0..30 + number % 60).map(|at| u8::try_from(at * 37 % 256).unwrap()).collect()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let whole = three.iter().fold(0_usize, |whole, byte| whole << 8 | usize::from(*byte))
            << (8 * (3 - three.len()));
        let letter =
            |at: usize| if at > three.len() { '=' } else { LETTERS[whole >> (18 - 6 * at) & 63].into() };
        [0, 1, 2, 3].map(letter)
    };
    bytes.chunks(3).flat_map(group).collect()
}

fn count(bound: Option<i64>) -> usize {
    usize::try_from(bound.unwrap_or(0)).unwrap()
}
