//! Macros that declare a family of buttons: each button is declared once, with its word and its fields, and the code
//! that writes and reads it is generated.

use std::fmt::Display;

use figaro_base::tz::Tz;

use super::{Fields, Gone, ModelKey, Page, Short};
use figaro_base::ids::{
    ChatId, DocumentId, MemoryId, MessageId, NoteId, PersonaId, PinId, RecordId, RunId, SessionId,
};

/// Field in the data of a button.
pub(super) trait ButtonField: Sized {
    /// Appends the field to `data`, after a separator.
    fn write(&self, data: &mut String);

    /// Reads the next field.
    ///
    /// # Errors
    /// [`Gone`] if there is no field or its value is invalid.
    fn read(fields: &mut Fields<'_>) -> Result<Self, Gone>;
}

/// Appends a value to `data`, after a separator.
pub(super) fn add(data: &mut String, value: impl Display) {
    data.push(super::SEPARATOR);
    data.push_str(&value.to_string());
}

/// Declares a family of buttons. An enum has a word for each of its buttons: `FAMILY:WORD:FIELD:…`. A struct is a
/// single button: `FAMILY:FIELD:…` or `FAMILY:WORD`.
macro_rules! buttons {
    ($(#[$meta:meta])* $vis:vis enum $name:ident = $family:literal {
        $($(#[$doc:meta])* $button:ident $(($($field:ident: $part:ty),+))? = $word:literal,)+
    }) => {
        $(#[$meta])*
        $vis enum $name { $($(#[$doc])* $button $(($($part),+))?,)+ }

        $crate::callback::buttons::buttons! {
            @family $name = $family,
            |button, data| match button {
                $($name::$button $(($($field),+))? => {
                    $crate::callback::buttons::add(data, $word);
                    $($($crate::callback::buttons::ButtonField::write($field, data);)+)?
                })+
            },
            |fields| match fields.word()? {
                $($word => $name::$button $(($(<$part as $crate::callback::buttons::ButtonField>::read(fields)?),+))?,)+
                _ => return Err($crate::callback::Gone),
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident = $family:literal, $word:literal) => {
        $(#[$meta])*
        $vis struct $name;

        $crate::callback::buttons::buttons! {
            @family $name = $family,
            |_button, data| $crate::callback::buttons::add(data, $word),
            |fields| match fields.word()? {
                $word => $name,
                _ => return Err($crate::callback::Gone),
            }
        }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident = $family:literal {
        $($(#[$doc:meta])* $see:vis $field:ident: $part:ty,)+
    }) => {
        $(#[$meta])*
        $vis struct $name { $($(#[$doc])* $see $field: $part,)+ }

        $crate::callback::buttons::buttons! {
            @family $name = $family,
            |button, data| { $($crate::callback::buttons::ButtonField::write(&button.$field, data);)+ },
            |fields| $name { $($field: <$part as $crate::callback::buttons::ButtonField>::read(fields)?,)+ }
        }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident = $family:literal ($part:ty)) => {
        $(#[$meta])*
        $vis struct $name(pub(crate) $part);

        $crate::callback::buttons::buttons! {
            @family $name = $family,
            |button, data| $crate::callback::buttons::ButtonField::write(&button.0, data),
            |fields| $name(<$part as $crate::callback::buttons::ButtonField>::read(fields)?)
        }
    };
    (@family $name:ident = $family:literal, |$button:pat_param, $data:ident| $write:expr, |$fields:ident| $read:expr) => {
        impl $crate::callback::ButtonFamily for $name {
            const NAME: &'static str = $family;
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut all = $family.to_owned();
                let ($button, $data) = (self, &mut all);
                $write;
                f.write_str(&all)
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::callback::Gone;

            fn from_str(data: &str) -> Result<Self, $crate::callback::Gone> {
                let mut all = $crate::callback::Fields::of::<Self>(data)?;
                let $fields = &mut all;
                let press = $read;
                all.end(press)
            }
        }
    };
}
pub(super) use buttons;

/// Writes and reads fields of these types as the names of their values.
macro_rules! as_word {
    ($($type:ty),+) => {$(
        impl $crate::callback::buttons::ButtonField for $type {
            fn write(&self, data: &mut String) {
                $crate::callback::buttons::add(data, self.word());
            }

            fn read(fields: &mut $crate::callback::Fields<'_>) -> Result<Self, $crate::callback::Gone> {
                let word = fields.word()?;
                Self::ALL.into_iter().find(|one| one.word() == word).ok_or($crate::callback::Gone)
            }
        }
    )+};
}
pub(super) use as_word;

/// Writes and reads fields of these types with `Display` and `FromStr`.
macro_rules! as_text {
    ($($type:ty),+ $(,)?) => {$(
        impl $crate::callback::buttons::ButtonField for $type {
            fn write(&self, data: &mut String) {
                $crate::callback::buttons::add(data, self);
            }

            fn read(fields: &mut $crate::callback::Fields<'_>) -> Result<Self, $crate::callback::Gone> {
                fields.parse()
            }
        }
    )+};
}
pub(super) use as_text;

as_text!(i32, i64, u8, Tz, DocumentId, MemoryId, NoteId, PersonaId, PinId, RecordId, RunId, SessionId);

/// A missing page reads as the first page.
impl ButtonField for Page {
    fn write(&self, data: &mut String) {
        add(data, self);
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, Gone> {
        Ok(fields.page())
    }
}

/// Optional field, possible only after all other fields.
impl<T: ButtonField> ButtonField for Option<T> {
    fn write(&self, data: &mut String) {
        self.iter().for_each(|value| value.write(data));
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, Gone> {
        fields.0.map(|_more| T::read(fields)).transpose()
    }
}

impl<const N: usize> ButtonField for Short<N> {
    fn write(&self, data: &mut String) {
        add(data, self);
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, Gone> {
        fields.parse()
    }
}

/// Must be the last field, because names of models may contain separators.
impl<const N: usize> ButtonField for ModelKey<N> {
    fn write(&self, data: &mut String) {
        add(data, self);
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, Gone> {
        fields.rest()?.parse()
    }
}

impl ButtonField for MessageId {
    fn write(&self, data: &mut String) {
        add(data, self.0);
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, Gone> {
        fields.parse().map(Self)
    }
}

impl ButtonField for ChatId {
    fn write(&self, data: &mut String) {
        add(data, self.0);
    }

    fn read(fields: &mut Fields<'_>) -> Result<Self, Gone> {
        fields.parse().map(Self)
    }
}
