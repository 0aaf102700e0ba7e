//! What stands in brackets: displays, comprehensions, arguments, subscripts; and the parameters of a lambda.

use super::grammar::{Node, Parser, Shape, other};
use super::{LiteralError, syntax};

type Parsed = Result<Node, LiteralError>;
type Done = Result<(), LiteralError>;

impl Parser<'_> {
    /// `*operand`, or a named expression; true for the star.
    fn starred(&mut self) -> Result<(Node, bool), LiteralError> {
        let offset = self.offset();
        if self.take("*") {
            self.bitwise()?;
            return Ok((other(offset), true));
        }
        Ok((self.named_expression()?, false))
    }

    fn sees_comprehension(&self) -> bool {
        self.sees_word("for") || self.sees_word("async")
    }

    /// Items up to `close`, the first of which is there already; true when a comma was among them.
    fn items(&mut self, first: Node, close: &str) -> Result<(Vec<Node>, bool), LiteralError> {
        let (mut items, mut comma) = (vec![first], false);
        while self.take(",") {
            comma = true;
            if self.sees(close) {
                break;
            }
            items.push(self.starred()?.0);
        }
        self.expect(close)?;
        Ok((items, comma))
    }

    /// `(...)`: an expression, a tuple, a generator, a yield.
    pub(super) fn group(&mut self) -> Parsed {
        let offset = self.offset();
        self.expect("(")?;
        if self.take(")") {
            return Ok(Node { offset, shape: Shape::Tuple(Vec::new()) });
        }
        if self.take_word("yield") {
            self.yielded()?;
            self.expect(")")?;
            return Ok(other(offset));
        }
        let (first, star) = self.starred()?;
        if self.sees_comprehension() {
            return self.comprehension(offset, star, ")");
        }
        if !star && self.take(")") {
            return Ok(first);
        }
        let (items, comma) = self.items(first, ")")?;
        if comma {
            Ok(Node { offset, shape: Shape::Tuple(items) })
        } else {
            syntax(offset, "a star alone in brackets")
        }
    }

    fn yielded(&mut self) -> Done {
        if self.take_word("from") {
            self.expression()?;
        } else if !self.sees(")") {
            self.starred()?;
            while self.take(",") && !self.sees(")") {
                self.starred()?;
            }
        }
        Ok(())
    }

    /// `[...]`
    pub(super) fn list(&mut self) -> Parsed {
        let offset = self.offset();
        self.expect("[")?;
        if self.take("]") {
            return Ok(Node { offset, shape: Shape::List(Vec::new()) });
        }
        let (first, star) = self.starred()?;
        if self.sees_comprehension() {
            return self.comprehension(offset, star, "]");
        }
        Ok(Node { offset, shape: Shape::List(self.items(first, "]")?.0) })
    }

    /// `{...}`: a dict or a set.
    pub(super) fn braces(&mut self) -> Parsed {
        let offset = self.offset();
        self.expect("{")?;
        if self.take("}") {
            return Ok(Node { offset, shape: Shape::Dict(Vec::new()) });
        }
        if self.sees("**") {
            return self.dict(offset, Vec::new());
        }
        let assigned = self.sees_assignment();
        let (first, star) = self.starred()?;
        if !star && !assigned && self.take(":") {
            let value = self.expression()?;
            if self.sees_comprehension() {
                return self.comprehension(offset, false, "}");
            }
            let members = vec![(first, value)];
            if self.take("}") {
                return Ok(Node { offset, shape: Shape::Dict(members) });
            }
            self.expect(",")?;
            return self.dict(offset, members);
        }
        if self.sees_comprehension() {
            return self.comprehension(offset, star, "}");
        }
        Ok(Node { offset, shape: Shape::Set(self.items(first, "}")?.0) })
    }

    /// Members up to the closing brace.
    fn dict(&mut self, offset: usize, mut members: Vec<(Node, Node)>) -> Parsed {
        while !self.sees("}") {
            let place = self.offset();
            if self.take("**") {
                self.bitwise()?;
                members.push((other(place), other(place)));
            } else {
                let key = self.expression()?;
                self.expect(":")?;
                members.push((key, self.expression()?));
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(Node { offset, shape: Shape::Dict(members) })
    }

    /// `for ... in ... if ...`, once or more, up to `close`.
    fn comprehension(&mut self, offset: usize, star: bool, close: &str) -> Parsed {
        if star {
            return syntax(offset, "a star in a comprehension");
        }
        self.clauses()?;
        self.expect(close)?;
        Ok(other(offset))
    }

    fn clauses(&mut self) -> Done {
        while self.sees_comprehension() {
            self.take_word("async");
            if !self.take_word("for") {
                return self.unexpected();
            }
            self.target()?;
            while self.take(",") && !self.sees_word("in") {
                self.target()?;
            }
            if !self.take_word("in") {
                return self.unexpected();
            }
            self.disjunction()?;
            while self.take_word("if") {
                self.disjunction()?;
            }
        }
        Ok(())
    }

    /// Something that can be assigned to, as near as it is known.
    fn target(&mut self) -> Done {
        self.take("*");
        let node = self.bitwise()?;
        match node.shape {
            Shape::Other | Shape::SetName | Shape::List(_) | Shape::Tuple(_) => Ok(()),
            _ => syntax(node.offset, "something that cannot be assigned to"),
        }
    }

    /// Arguments of a call up to the closing bracket.
    pub(super) fn arguments(&mut self) -> Done {
        let (mut named, mut spread, mut count, mut generator) = (false, false, 0usize, false);
        while !self.sees(")") {
            count += 1;
            if self.take("**") {
                spread = true;
                self.expression()?;
            } else if self.sees("*") {
                if spread {
                    return self.unexpected();
                }
                self.take("*");
                self.expression()?;
            } else if self.sees_keyword_argument() {
                named = true;
                self.plain_name()?;
                self.expect("=")?;
                self.expression()?;
            } else {
                if named || spread {
                    return syntax(self.offset(), "a positional argument after a named one");
                }
                self.named_expression()?;
                if self.sees_comprehension() {
                    generator = true;
                    self.clauses()?;
                }
            }
            if !self.take(",") {
                break;
            }
        }
        if generator && count > 1 {
            return syntax(self.offset(), "a generator beside other arguments");
        }
        self.expect(")")
    }

    /// Subscripts and slices up to the closing bracket.
    pub(super) fn subscripts(&mut self) -> Done {
        loop {
            if !self.sees(":") {
                self.starred()?;
            }
            for _ in 0..2 {
                if self.take(":") && ![":", ",", "]"].iter().any(|after| self.sees(after)) {
                    self.expression()?;
                }
            }
            if !self.take(",") || self.sees("]") {
                break;
            }
        }
        self.expect("]")
    }

    /// Parameters of a lambda and the colon after them.
    pub(super) fn lambda_parameters(&mut self) -> Done {
        let (mut slash, mut star, mut default, mut count) = (false, false, false, 0usize);
        while !self.sees(":") {
            if self.take("**") {
                self.plain_name()?;
                self.take(",");
                break;
            } else if self.take("/") {
                if slash || star || count == 0 {
                    return self.unexpected();
                }
                slash = true;
            } else if self.take("*") {
                if star {
                    return self.unexpected();
                }
                star = true;
                let bare = self.sees(",");
                if !bare {
                    self.plain_name()?;
                } else if !self.named_after_comma() {
                    return self.unexpected();
                }
            } else {
                self.plain_name()?;
                let has = self.take("=");
                if has {
                    self.expression()?;
                } else if default && !star {
                    return self.unexpected();
                }
                default |= has;
                count += 1;
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect(":")
    }
}
