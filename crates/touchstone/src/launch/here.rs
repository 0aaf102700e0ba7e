//! The check of a request, run on this machine: data by `suite::checks`, a test program in the two processes of `check`.

use crate::output;
use ::check::{Place, library};
use canon::Value;
use desk::sandbox::{Choice, Sandbox};
use peers::delegation::Check;
use suite::checks::compile;

/// Runs checks here.
pub(crate) struct Here {
    /// How a test program and its candidate are confined.
    pub(crate) sandbox: Choice,
}

impl Here {
    fn place(&self) -> Result<Place, String> {
        let sandbox = Sandbox::establish(self.sandbox, None).map_err(|why| why.to_string())?;
        Place::new(sandbox).map_err(|why| why.to_string())
    }

    /// Nothing, and the reason on standard error.
    fn not_measured(why: &str) -> Option<bool> {
        output::refused(
            &format!("the check could not be run here: {why}"),
            "this says nothing about the delivery, and the receipt is not consumed",
        );
        None
    }
}

impl Check for Here {
    fn is_usable(&self, tests: &Value) -> bool {
        match compile(tests) {
            Ok(check) => check.may_authorise(),
            Err(why) => {
                output::note(&format!("--tests: {why:?}"));
                false
            }
        }
    }

    fn passes(&self, tests: &Value, answer: &str) -> Option<bool> {
        let check = compile(tests).ok()?;
        // Data needs no sandbox, so a machine without one still measures it.
        if !matches!(check, suite::checks::Check::RunPython(_)) {
            return match check.evaluate(answer) {
                suite::checks::Answered::Known(holds) => Some(holds),
                _ => Here::not_measured("it needs more steps than it may have"),
            };
        }
        let answered = self
            .place()
            .and_then(|place| library::answer(&place, &check, answer).map_err(|why| why.to_string()));
        answered.unwrap_or_else(|why| Here::not_measured(&why))
    }
}
