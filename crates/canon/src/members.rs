//! The canonical text of an object, written member by member: for lines of a log, of which there are too many for a tree of
//! values each. The text is that of [`crate::canonical`]; a test of the log compares the two.

use crate::scan::plain_run;
use crate::value::Value;
use crate::write::{canonical, write_string};

/// Something with a canonical text.
pub trait Written {
    /// Appends it.
    fn write(&self, out: &mut Vec<u8>);
}

/// An object that is being written. Members are given in the order of their names.
pub struct Members<'o> {
    out: &'o mut Vec<u8>,
    last: &'static str,
}

impl<'o> Members<'o> {
    /// Begins one.
    pub fn new(out: &'o mut Vec<u8>) -> Members<'o> {
        out.push(b'{');
        Members { out, last: "" }
    }

    /// The next member. Its name is plain ASCII and comes after the name before it.
    pub fn with(&mut self, name: &'static str, value: impl Written) -> &mut Members<'o> {
        self.name(name);
        value.write(self.out);
        self
    }

    /// The next member, an object.
    pub fn object(&mut self, name: &'static str, members: impl FnOnce(&mut Members<'_>)) -> &mut Members<'o> {
        self.name(name);
        self.nested(members);
        self
    }

    /// The next member, an object or `null`.
    pub fn maybe<T>(
        &mut self,
        name: &'static str,
        value: Option<T>,
        members: impl FnOnce(T, &mut Members<'_>),
    ) -> &mut Members<'o> {
        match value {
            None => self.with(name, None::<u64>),
            Some(value) => self.object(name, |object| members(value, object)),
        }
    }

    /// The next member, a list of objects.
    pub fn objects<T>(
        &mut self,
        name: &'static str,
        of: impl IntoIterator<Item = T>,
        mut members: impl FnMut(T, &mut Members<'_>),
    ) -> &mut Members<'o> {
        self.name(name);
        self.out.push(b'[');
        for (number, one) in of.into_iter().enumerate() {
            if number > 0 {
                self.out.push(b',');
            }
            self.nested(|object| members(one, object));
        }
        self.out.push(b']');
        self
    }

    fn nested(&mut self, members: impl FnOnce(&mut Members<'_>)) {
        let mut object = Members::new(self.out);
        members(&mut object);
        object.end();
    }

    /// Ends it.
    pub fn end(self) {
        self.out.push(b'}');
    }

    fn name(&mut self, name: &'static str) {
        debug_assert!(self.last < name, "{name} after {}", self.last);
        if !self.last.is_empty() {
            self.out.push(b',');
        }
        self.last = name;
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }
}

impl Written for str {
    fn write(&self, out: &mut Vec<u8>) {
        if plain_run(self.as_bytes()) < self.len() {
            let mut text = String::new();
            write_string(&mut text, self, false);
            out.extend_from_slice(text.as_bytes());
        } else {
            out.push(b'"');
            out.extend_from_slice(self.as_bytes());
            out.push(b'"');
        }
    }
}

impl<T: Written + ?Sized> Written for &T {
    fn write(&self, out: &mut Vec<u8>) {
        (**self).write(out);
    }
}

impl<T: Written> Written for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            None => out.extend_from_slice(b"null"),
            Some(value) => value.write(out),
        }
    }
}

impl Written for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

impl Written for u64 {
    fn write(&self, out: &mut Vec<u8>) {
        // Digits from the end; 2^64 has twenty.
        let (mut digits, mut at, mut rest) = ([0; 20], 20, *self);
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        out.extend_from_slice(&digits[at..]);
    }
}

impl Written for u32 {
    fn write(&self, out: &mut Vec<u8>) {
        u64::from(*self).write(out);
    }
}

impl Written for i64 {
    fn write(&self, out: &mut Vec<u8>) {
        if *self < 0 {
            out.push(b'-');
        }
        self.unsigned_abs().write(out);
    }
}

impl Written for Value {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&canonical(self));
    }
}

/// A list of what has a text.
pub struct List<I>(pub I);

impl<I> Written for List<I>
where
    I: Iterator + Clone,
    I::Item: Written,
{
    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (number, one) in self.0.clone().enumerate() {
            if number > 0 {
                out.push(b',');
            }
            one.write(out);
        }
        out.push(b']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Object;

    fn text<T: Written>(value: T) -> String {
        let mut out = Vec::new();
        value.write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_have_the_text_of_the_one_writer() {
        for number in [0, 1, 9, 10, u64::from(u32::MAX), u64::MAX] {
            assert_eq!(text(number), number.to_string());
        }
        for number in [0, -1, i64::MIN, i64::MAX] {
            assert_eq!(text(number).as_bytes(), canonical(&number.into()));
        }
        for string in ["", "plain", "a\"b\\c\n\u{1}\u{7f}é\u{2028}"] {
            assert_eq!(text(string).as_bytes(), canonical(&string.into()));
        }
        assert_eq!(text(List(["a", "b"].iter())), "[\"a\",\"b\"]");
        assert_eq!((text(None::<u64>), text(Some(true))), ("null".into(), "true".into()));
    }

    #[test]
    fn objects_have_the_text_of_the_one_writer() {
        let mut out = Vec::new();
        let mut members = Members::new(&mut out);
        members.with("a", 1_u64);
        members.maybe("b", None::<i64>, |_, _| ());
        members.maybe("c", Some(-2_i64), |number, object| {
            object.with("x", number);
        });
        members.object("d", |_| ());
        members.objects("e", [1_u64, 2], |number, object| {
            object.with("n", number);
        });
        members.end();
        let inner = |name, value: crate::Value| Object::new().with(name, value);
        let tree = Object::new()
            .with("a", 1_i64)
            .with("b", None::<Object>)
            .with("c", inner("x", (-2_i64).into()))
            .with("d", Object::new())
            .with("e", vec![inner("n", 1_i64.into()), inner("n", 2_i64.into())]);
        assert_eq!(out, canonical(&tree.into()));
    }

    /// Only where it is looked for: a release build writes what it is given.
    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "a after b")]
    fn members_out_of_order_are_noticed() {
        Members::new(&mut Vec::new()).with("b", 1_u64).with("a", 1_u64);
    }
}
