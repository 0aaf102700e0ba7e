//! Expressions of Python 3.11. Whatever is no literal is read all the same and forgotten: Python raises another
//! exception for an expression that is no literal than for a text that is no expression.

use super::lex::{Kind, Token, keyword};
use super::{BigInt, ErrorName, LiteralError, Value, syntax};
use canon::Float;

/// Frames of this reader at once. 200 brackets need 400; the rest are expressions that no literal has.
const FRAMES_MAX: usize = 800;

/// A number without its sign.
#[derive(Clone, Debug)]
pub(super) enum Number {
    Int(BigInt),
    Float(Float),
    Imaginary(Float),
}

/// An expression and where it begins.
pub(super) struct Node {
    pub(super) offset: usize,
    pub(super) shape: Shape,
}

/// As much of an expression as a literal can be.
pub(super) enum Shape {
    /// Anything but a number.
    Constant(Value),
    Number(Number),
    /// One sign before a number; true for minus.
    Signed(bool, Number),
    /// A real number with or without a sign, plus or (true) minus an imaginary one.
    Sum((bool, Number), bool, Float),
    List(Vec<Node>),
    Tuple(Vec<Node>),
    Set(Vec<Node>),
    Dict(Vec<(Node, Node)>),
    /// `set()`
    EmptySet,
    /// The name `set`.
    SetName,
    /// An expression that is no literal.
    Other,
}

type Parsed = Result<Node, LiteralError>;

/// The expression that the whole text is: one, or several with commas, which are a tuple.
pub(super) fn expression(tokens: &[Token<'_>]) -> Parsed {
    let mut parser = Parser { tokens, at: 0, frames: 0 };
    let node = parser.expressions()?;
    while parser.take_kind(&Kind::Newline) {}
    match parser.kind() {
        Kind::End => Ok(node),
        _ => parser.unexpected(),
    }
}

pub(super) struct Parser<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
    frames: usize,
}

/// How tightly comparison and `not` bind; `or` and `and` less.
const COMPARISON: u8 = 4;
/// Operands of `|` and tighter: what may follow a star.
const BITWISE: u8 = 5;

impl<'t> Parser<'t> {
    pub(super) fn offset(&self) -> usize {
        self.tokens[self.at].offset
    }

    fn kind(&self) -> &'t Kind<'t> {
        &self.tokens[self.at].kind
    }

    /// The token after the next one.
    fn second(&self) -> &'t Kind<'t> {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind
    }

    fn bump(&mut self) {
        // The last token is the end, which stays.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn take_kind(&mut self, kind: &Kind<'_>) -> bool {
        let found = self.kind() == kind;
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn sees(&self, operator: &str) -> bool {
        matches!(self.kind(), Kind::Op(found) if *found == operator)
    }

    pub(super) fn sees_word(&self, word: &str) -> bool {
        matches!(self.kind(), Kind::Name(found) if *found == word)
    }

    pub(super) fn take(&mut self, operator: &str) -> bool {
        let found = self.sees(operator);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.sees_word(word);
        if found {
            self.bump();
        }
        found
    }

    pub(super) fn expect(&mut self, operator: &str) -> Result<(), LiteralError> {
        if self.take(operator) { Ok(()) } else { self.unexpected() }
    }

    pub(super) fn unexpected<T>(&self) -> Result<T, LiteralError> {
        match self.kind() {
            Kind::Indent => {
                let message = "a line begins with blanks";
                Err(LiteralError { name: ErrorName::Indentation, offset: self.offset(), message })
            }
            _ => syntax(self.offset(), "something that cannot stand here"),
        }
    }

    /// A name that is no keyword.
    pub(super) fn plain_name(&mut self) -> Result<&'t str, LiteralError> {
        match self.kind() {
            Kind::Name(name) if !keyword(name) => {
                self.bump();
                Ok(name)
            }
            _ => self.unexpected(),
        }
    }

    /// True before `, name`, as a bare star among parameters needs it.
    pub(super) fn named_after_comma(&self) -> bool {
        self.sees(",") && matches!(self.second(), Kind::Name(name) if !keyword(name))
    }

    /// True before `name=` of an argument.
    pub(super) fn sees_keyword_argument(&self) -> bool {
        matches!(self.kind(), Kind::Name(name) if !keyword(name)) && *self.second() == Kind::Op("=")
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Parser<'t>) -> Result<T, LiteralError>,
    ) -> Result<T, LiteralError> {
        if self.frames == FRAMES_MAX {
            let message = "nested too deeply";
            return Err(LiteralError { name: ErrorName::Recursion, offset: self.offset(), message });
        }
        self.frames += 1;
        let read = read(self);
        self.frames -= 1;
        read
    }

    /// `expressions` of the grammar: no stars.
    fn expressions(&mut self) -> Parsed {
        let first = self.expression()?;
        if !self.sees(",") {
            return Ok(first);
        }
        let offset = first.offset;
        let mut items = vec![first];
        while self.take(",") {
            if matches!(self.kind(), Kind::Newline | Kind::End) {
                break;
            }
            items.push(self.expression()?);
        }
        Ok(Node { offset, shape: Shape::Tuple(items) })
    }

    /// `expression`: a disjunction, a conditional expression or a lambda.
    pub(super) fn expression(&mut self) -> Parsed {
        self.deeper(|parser| {
            let offset = parser.offset();
            if parser.take_word("lambda") {
                parser.lambda_parameters()?;
                parser.expression()?;
                return Ok(other(offset));
            }
            let value = parser.binary(1)?;
            if !parser.take_word("if") {
                return Ok(value);
            }
            parser.binary(1)?;
            if !parser.take_word("else") {
                return parser.unexpected();
            }
            parser.expression()?;
            Ok(other(offset))
        })
    }

    /// A disjunction, as the condition and the source of a comprehension are.
    pub(super) fn disjunction(&mut self) -> Parsed {
        self.binary(1)
    }

    /// An operand of a star, and a target of a comprehension.
    pub(super) fn bitwise(&mut self) -> Parsed {
        self.binary(BITWISE)
    }

    /// True before `name :=`.
    pub(super) fn sees_assignment(&self) -> bool {
        *self.second() == Kind::Op(":=")
    }

    /// `name := value`, or an expression.
    pub(super) fn named_expression(&mut self) -> Parsed {
        let offset = self.offset();
        if self.sees_assignment() {
            self.plain_name()?;
            self.bump();
            self.expression()?;
            return Ok(other(offset));
        }
        self.expression()
    }

    /// How tightly the operator here binds, and of how many tokens it is.
    fn operator(&self) -> Option<(u8, usize)> {
        let known = match self.kind() {
            Kind::Name("or") => (1, 1),
            Kind::Name("and") => (2, 1),
            Kind::Name("not") if *self.second() == Kind::Name("in") => (COMPARISON, 2),
            Kind::Name("is") if *self.second() == Kind::Name("not") => (COMPARISON, 2),
            Kind::Name("in" | "is") => (COMPARISON, 1),
            Kind::Op("<" | ">" | "==" | ">=" | "<=" | "!=") => (COMPARISON, 1),
            Kind::Op("|") => (BITWISE, 1),
            Kind::Op("^") => (6, 1),
            Kind::Op("&") => (7, 1),
            Kind::Op("<<" | ">>") => (8, 1),
            Kind::Op("+" | "-") => (9, 1),
            Kind::Op("*" | "/" | "//" | "%" | "@") => (10, 1),
            _ => return None,
        };
        Some(known)
    }

    /// Operators that bind at least as tightly as `least`, from the left.
    fn binary(&mut self, least: u8) -> Parsed {
        self.deeper(|parser| {
            let mut left = parser.operand(least)?;
            while let Some((tightness, count)) =
                parser.operator().filter(|(tightness, _)| *tightness >= least)
            {
                let minus = parser.sees("-");
                let adds = minus || parser.sees("+");
                (0..count).for_each(|_| parser.bump());
                let right = parser.binary(tightness + 1)?;
                left = if adds { sum(left, minus, right) } else { other(left.offset) };
            }
            Ok(left)
        })
    }

    /// `not` where it may stand, or signs and what follows.
    fn operand(&mut self, least: u8) -> Parsed {
        let offset = self.offset();
        if !self.sees_word("not") {
            return self.factor();
        }
        if least > COMPARISON {
            return self.unexpected();
        }
        while self.take_word("not") {}
        self.binary(COMPARISON)?;
        Ok(other(offset))
    }

    /// Signs, then a primary, then a power.
    fn factor(&mut self) -> Parsed {
        let offset = self.offset();
        let (mut signs, mut last) = (0usize, "");
        while let Kind::Op(sign @ ("+" | "-" | "~")) = self.kind() {
            (signs, last) = (signs + 1, sign);
            self.bump();
        }
        let awaited = self.take_word("await");
        let primary = self.primary()?;
        let powered = self.take("**");
        if powered {
            self.deeper(Parser::factor)?;
        }
        Ok(match primary.shape {
            _ if awaited || powered => other(offset),
            shape if signs == 0 => Node { offset, shape },
            Shape::Number(number) if signs == 1 && last != "~" => {
                Node { offset, shape: Shape::Signed(last == "-", number) }
            }
            _ => other(offset),
        })
    }

    /// An atom, then attributes, calls and subscripts.
    fn primary(&mut self) -> Parsed {
        let mut node = self.atom()?;
        loop {
            let offset = node.offset;
            if self.take(".") {
                self.plain_name()?;
                node = other(offset);
            } else if self.take("(") {
                let empty = self.sees(")");
                self.arguments()?;
                let set = empty && matches!(node.shape, Shape::SetName);
                node = if set { Node { offset, shape: Shape::EmptySet } } else { other(offset) };
            } else if self.take("[") {
                self.subscripts()?;
                node = other(offset);
            } else {
                return Ok(node);
            }
        }
    }

    fn atom(&mut self) -> Parsed {
        let offset = self.offset();
        let shape = match self.kind() {
            Kind::Name("None") => Shape::Constant(Value::None),
            Kind::Name("True") => Shape::Constant(Value::Bool(true)),
            Kind::Name("False") => Shape::Constant(Value::Bool(false)),
            Kind::Name("set") => Shape::SetName,
            Kind::Name(name) if !keyword(name) => Shape::Other,
            Kind::Op("...") => Shape::Constant(Value::Ellipsis),
            Kind::Int(number) => Shape::Number(Number::Int(number.clone())),
            Kind::Float(number) => Shape::Number(Number::Float(*number)),
            Kind::Imaginary(number) => Shape::Number(Number::Imaginary(*number)),
            Kind::Str(_) | Kind::Formatted => return self.strings(),
            Kind::Bytes(_) => return self.bytes(),
            Kind::Op("(") => return self.group(),
            Kind::Op("[") => return self.list(),
            Kind::Op("{") => return self.braces(),
            _ => return self.unexpected(),
        };
        self.bump();
        Ok(Node { offset, shape })
    }

    /// Strings beside one another are one.
    fn strings(&mut self) -> Parsed {
        let (offset, mut whole, mut formatted) = (self.offset(), super::Text::default(), false);
        loop {
            match self.kind() {
                Kind::Str(text) => whole.push_text(text),
                Kind::Formatted => formatted = true,
                Kind::Bytes(_) => return syntax(self.offset(), "strings and bytes beside one another"),
                _ => break,
            }
            self.bump();
        }
        let shape = if formatted { Shape::Other } else { Shape::Constant(Value::Str(whole)) };
        Ok(Node { offset, shape })
    }

    fn bytes(&mut self) -> Parsed {
        let (offset, mut whole) = (self.offset(), Vec::new());
        loop {
            match self.kind() {
                Kind::Bytes(bytes) => whole.extend_from_slice(bytes),
                Kind::Str(_) | Kind::Formatted => {
                    return syntax(self.offset(), "strings and bytes beside one another");
                }
                _ => break,
            }
            self.bump();
        }
        Ok(Node { offset, shape: Shape::Constant(Value::Bytes(whole)) })
    }
}

/// An expression that is no literal.
pub(super) fn other(offset: usize) -> Node {
    Node { offset, shape: Shape::Other }
}

/// A complex number, or no literal.
fn sum(left: Node, minus: bool, right: Node) -> Node {
    let offset = left.offset;
    let real = match left.shape {
        Shape::Number(number) => Some((false, number)),
        Shape::Signed(sign, number) => Some((sign, number)),
        _ => None,
    };
    match (real, right.shape) {
        (Some((_, Number::Imaginary(_))), _) => other(offset),
        (Some(real), Shape::Number(Number::Imaginary(imag))) => {
            Node { offset, shape: Shape::Sum(real, minus, imag) }
        }
        _ => other(offset),
    }
}
