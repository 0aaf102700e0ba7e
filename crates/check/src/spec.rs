//! A suite of desk specification 16 as the evaluator needs it.

use crate::Suite;
use suite::literal::parse;
use suite::native::agree;
use suite::spec::Spec;

impl Suite for Spec {
    fn entry_point(&self) -> &str {
        Spec::entry_point(self)
    }

    fn tests(&self) -> usize {
        Spec::tests(self).len()
    }

    fn arguments(&self, test: usize) -> &str {
        &Spec::tests(self)[test].args.text
    }

    fn accepts(&self, test: usize, value: &str) -> Option<bool> {
        let value = parse(value).ok()?;
        Some(agree(self.dialect(), self.cmp(), &value, &Spec::tests(self)[test].expected.value))
    }
}
