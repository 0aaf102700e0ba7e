//! How the state is hashed, written and read: one list of fields for all three, so that no field can be in the room and
//! not in its snapshot (GD-05).
//!
//! The written form is the canonical serialization of GD-05: a quantity in µ is an `i64` and is written with six
//! fractional digits (1 µ = `"0.000001"`), a count or tick is unsigned and is written the same way (7 =
//! `"7.000000"`), an enum is its name, an absent value is `null`.

use crate::draw::mix;
use crate::fixed::ONE;
use canon::{Object, Value};

/// The 64-bit fold of a state: order-sensitive, the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold(u64);

impl Fold {
    /// The fold of nothing.
    #[must_use]
    pub fn new() -> Fold {
        Fold(0x524F_4F4D_5F30_0001)
    }

    /// Takes one more word in.
    #[inline]
    pub fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    /// The fold of everything taken in.
    #[must_use]
    pub fn finish(self) -> u64 {
        mix(self.0)
    }
}

impl Default for Fold {
    fn default() -> Fold {
        Fold::new()
    }
}

/// A text that is no state: where, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread {
    /// Path of the field, as `queue.items.0.phase`.
    pub at: String,
    /// What was expected.
    pub expected: &'static str,
}

impl Misread {
    /// At the value itself; callers put their path before it.
    #[must_use]
    pub fn here(expected: &'static str) -> Misread {
        Misread { at: String::new(), expected }
    }

    /// The same fault seen from outside, one step up.
    #[must_use]
    pub fn under(mut self, step: &str) -> Misread {
        self.at = if self.at.is_empty() { step.to_owned() } else { format!("{step}.{}", self.at) };
        self
    }
}

/// What every part of the state can do.
pub trait Shape: Sized {
    /// Takes every field into a fold.
    fn fold(&self, fold: &mut Fold);
    /// The canonical form.
    fn show(&self) -> Value;
    /// Reads the canonical form back.
    ///
    /// # Errors
    /// The first place that is not what `show` writes.
    fn read(value: &Value) -> Result<Self, Misread>;
}

/// A value in µ as decimal text with six fractional digits.
#[must_use]
pub fn micro_text(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let magnitude = value.unsigned_abs();
    let one = ONE.unsigned_abs();
    format!("{sign}{}.{:06}", magnitude / one, magnitude % one)
}

/// Reads [`micro_text`] back; `None` for any other spelling.
#[must_use]
pub fn read_micro(text: &str) -> Option<i64> {
    let value: i64 = match text.split_once('.') {
        Some((whole, fraction)) if fraction.len() == 6 => format!("{whole}{fraction}").parse().ok()?,
        _ => return None,
    };
    (micro_text(value) == text).then_some(value)
}

/// A count as decimal text with six fractional digits.
#[must_use]
pub fn count_text(value: u64) -> String {
    format!("{value}.000000")
}

/// Reads [`count_text`] back; `None` for any other spelling.
#[must_use]
pub fn read_count(text: &str) -> Option<u64> {
    let value = text.strip_suffix(".000000")?.parse().ok()?;
    (count_text(value) == text).then_some(value)
}

impl Shape for i64 {
    #[inline]
    fn fold(&self, fold: &mut Fold) {
        fold.add(self.cast_unsigned());
    }
    fn show(&self) -> Value {
        Value::Str(micro_text(*self))
    }
    fn read(value: &Value) -> Result<i64, Misread> {
        value.as_str().and_then(read_micro).ok_or(Misread::here("a value in µ with six fractional digits"))
    }
}

macro_rules! counts {
    ($($t:ty),+) => {$(
        impl Shape for $t {
            #[inline]
            fn fold(&self, fold: &mut Fold) {
                fold.add(u64::from(*self));
            }
            fn show(&self) -> Value {
                Value::Str(count_text(u64::from(*self)))
            }
            fn read(value: &Value) -> Result<$t, Misread> {
                value.as_str().and_then(read_count).and_then(|count| count.try_into().ok())
                    .ok_or(Misread::here("a count with six fractional digits"))
            }
        }
    )+};
}
counts!(u64, u32, u16, u8);

impl Shape for bool {
    #[inline]
    fn fold(&self, fold: &mut Fold) {
        fold.add(u64::from(*self));
    }
    fn show(&self) -> Value {
        Value::Bool(*self)
    }
    fn read(value: &Value) -> Result<bool, Misread> {
        value.as_bool().ok_or(Misread::here("true or false"))
    }
}

impl<T: Shape> Shape for Option<T> {
    #[inline]
    fn fold(&self, fold: &mut Fold) {
        fold.add(u64::from(self.is_some()));
        if let Some(inner) = self {
            inner.fold(fold);
        }
    }
    fn show(&self) -> Value {
        self.as_ref().map_or(Value::Null, Shape::show)
    }
    fn read(value: &Value) -> Result<Option<T>, Misread> {
        if value.is_null() { Ok(None) } else { T::read(value).map(Some) }
    }
}

impl<T: Shape> Shape for Vec<T> {
    fn fold(&self, fold: &mut Fold) {
        fold.add(self.len() as u64);
        for element in self {
            element.fold(fold);
        }
    }
    fn show(&self) -> Value {
        Value::Array(self.iter().map(Shape::show).collect())
    }
    fn read(value: &Value) -> Result<Vec<T>, Misread> {
        let elements = value.as_array().ok_or(Misread::here("a list"))?;
        elements
            .iter()
            .enumerate()
            .map(|(n, element)| T::read(element).map_err(|e| e.under(&n.to_string())))
            .collect()
    }
}

impl<T: Shape, const N: usize> Shape for [T; N] {
    #[inline]
    fn fold(&self, fold: &mut Fold) {
        for element in self {
            element.fold(fold);
        }
    }
    fn show(&self) -> Value {
        Value::Array(self.iter().map(Shape::show).collect())
    }
    fn read(value: &Value) -> Result<[T; N], Misread> {
        Vec::read(value)?.try_into().map_err(|_| Misread::here("a list of the fixed length"))
    }
}

impl Shape for String {
    fn fold(&self, fold: &mut Fold) {
        fold.add(self.len() as u64);
        for byte in self.bytes() {
            fold.add(u64::from(byte));
        }
    }
    fn show(&self) -> Value {
        Value::Str(self.clone())
    }
    fn read(value: &Value) -> Result<String, Misread> {
        value.as_str().map(str::to_owned).ok_or(Misread::here("a text"))
    }
}

/// The member of an object, and nothing beside the known ones.
///
/// # Errors
/// When it is missing or no shape of `T`.
pub fn member<T: Shape>(object: &Object, name: &str) -> Result<T, Misread> {
    let value = object.get(name).ok_or(Misread::here("a member that is missing").under(name))?;
    T::read(value).map_err(|e| e.under(name))
}

/// An object with exactly `count` members.
///
/// # Errors
/// When it is no object, or has members that nobody knows.
pub fn object_of<'v>(value: &'v Value, names: &[&str]) -> Result<&'v Object, Misread> {
    let object = value.as_object().ok_or(Misread::here("an object"))?;
    match object.iter().find(|(name, _)| !names.contains(name)) {
        Some((name, _)) => Err(Misread::here("no such member").under(name)),
        None => Ok(object),
    }
}

/// Gives an existing struct its shape: every field, once.
#[macro_export]
macro_rules! shape {
    ($name:ty { $($field:ident),+ $(,)? }) => {
        impl $crate::shape::Shape for $name {
            #[inline]
            fn fold(&self, fold: &mut $crate::shape::Fold) {
                // Exhaustive on purpose: a new field does not compile before it is part of the shape.
                let Self { $($field),+ } = self;
                $($crate::shape::Shape::fold($field, fold);)+
            }
            fn show(&self) -> canon::Value {
                let mut object = canon::Object::new();
                $(object.set(stringify!($field), $crate::shape::Shape::show(&self.$field));)+
                canon::Value::Object(object)
            }
            fn read(value: &canon::Value) -> Result<Self, $crate::shape::Misread> {
                let object = $crate::shape::object_of(value, &[$(stringify!($field)),+])?;
                Ok(Self { $($field: $crate::shape::member(object, stringify!($field))?),+ })
            }
        }
    };
}

/// A struct of the state: public fields, and its shape.
#[macro_export]
macro_rules! state {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $t:ty),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name { $($(#[$doc])* pub $field: $t),+ }
        $crate::shape!($name { $($field),+ });
    };
}

/// An enum of the state: unit variants with their names in records.
#[macro_export]
macro_rules! names {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl $name {
            /// Every variant, in the order of the declaration.
            pub const ALL: [$name; $name::COUNT] = [$($name::$variant),+];
            /// How many there are.
            pub const COUNT: usize = [$(stringify!($variant)),+].len();

            /// Its name in records.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            /// The variant of a name.
            #[must_use]
            pub fn of(text: &str) -> Option<$name> {
                match text { $($text => Some($name::$variant),)+ _ => None }
            }
        }

        impl $crate::shape::Shape for $name {
            #[inline]
            fn fold(&self, fold: &mut $crate::shape::Fold) {
                fold.add(*self as u64);
            }
            fn show(&self) -> canon::Value {
                canon::Value::Str(self.name().to_owned())
            }
            fn read(value: &canon::Value) -> Result<Self, $crate::shape::Misread> {
                value.as_str().and_then($name::of)
                    .ok_or($crate::shape::Misread::here(concat!("a ", stringify!($name))))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    #![allow(unreachable_pub)] // the macro makes public structs

    use super::*;

    state! {
        /// A made-up state.
        pub struct Small {
            /// µ
            pub level: i64,
            /// ticks
            pub since: u64,
            /// maybe
            pub until: Option<u64>,
        }
    }

    #[test]
    fn numbers_are_written_with_six_fractional_digits_gd_05() {
        assert_eq!(micro_text(1), "0.000001");
        assert_eq!(micro_text(-1_250_000), "-1.250000");
        assert_eq!(count_text(7), "7.000000");
        for text in ["1", "1.0", "01.000000", "-0.000000", "1.0000000", "+1.000000"] {
            assert_eq!(read_micro(text), None, "{text}");
        }
        assert_eq!(read_micro("-0.000001"), Some(-1));
        assert_eq!(read_count("-1.000000"), None);
    }

    #[test]
    fn what_is_written_is_read_back_and_nothing_else_is() {
        let small = Small { level: -3, since: 4, until: None };
        assert_eq!(Small::read(&small.show()), Ok(small.clone()));
        let extra = Value::Object(small.show().as_object().unwrap().clone().with("more", true));
        assert_eq!(Small::read(&extra).unwrap_err().at, "more");
        let mut short = small.show().as_object().unwrap().clone();
        short.remove("until");
        assert_eq!(Small::read(&Value::Object(short)).unwrap_err().at, "until");
    }

    #[test]
    fn every_field_moves_the_fold() {
        let of = |small: &Small| {
            let mut fold = Fold::new();
            small.fold(&mut fold);
            fold.finish()
        };
        let small = Small { level: 1, since: 1, until: None };
        for other in [
            Small { level: 2, ..small.clone() },
            Small { since: 2, ..small.clone() },
            Small { until: Some(0), ..small.clone() },
        ] {
            assert_ne!(of(&small), of(&other));
        }
    }
}
