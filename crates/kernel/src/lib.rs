//! A deterministic agent runtime: envelope, guard, route, skill, receipt (determinism specification, section 9).
//!
//! Pure ring. The same envelopes give the same receipts on every machine: no clock, no random source, no float.
#![deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::float_arithmetic)]

pub mod audit;
pub mod envelope;
pub mod guard;
pub mod receipt;
pub mod route;
pub mod skill;

use audit::{Audit, AuditContext};
use canon::{Digest, Value};
use envelope::{Envelope, Mode};
use guard::{Checked, Finding, Guard, Passed, Step};
use receipt::{Receipt, Routed};
use route::{Channel, Route, Router};
use skill::Skills;
use std::collections::BTreeMap;
use verdict::{Action, Triple};

/// Layers behind the guard.
const ROUTE: &str = "route";
const SKILL: &str = "skill";

/// What a kernel is made of. A value: two kernels share nothing.
#[derive(Debug)]
pub struct Config {
    /// The skills; the router learns from their manifests.
    pub skills: Skills,
    /// Permission that a skill needs here, by its name, 0 to 3. It raises what the manifest says and never lowers it.
    pub permissions: BTreeMap<String, u8>,
}

impl Default for Config {
    /// The built-in skills.
    fn default() -> Config {
        Config { skills: Skills::builtin(), permissions: BTreeMap::new() }
    }
}

/// One line of the input, read: an envelope, or why it is none.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// Number of the record in its input, from 1.
    pub record: u64,
    /// The envelope, or the finding of L1 or L2 with the digest of the line.
    pub envelope: Result<Envelope, (Box<Finding>, Digest)>,
}

impl Arrival {
    /// Reads a line.
    pub fn read(record: u64, line: &[u8]) -> Arrival {
        let unread = |finding| (Box::new(finding), Digest::of(line));
        Arrival { record, envelope: Envelope::read(line).map_err(unread) }
    }

    /// What is expected of it; `audit` has met the arrivals before it, in order. A line that is no envelope is nobody's
    /// and changes nothing.
    pub fn context(&self, audit: &mut Audit) -> AuditContext {
        self.envelope.as_ref().map_or_else(|_| AuditContext::first(), |envelope| audit.next(envelope))
    }
}

/// Room that one worker uses again for each envelope.
#[derive(Debug, Default)]
pub struct Scratch {
    guard: guard::Scratch,
    route: route::Scratch,
}

/// The runtime.
#[derive(Debug)]
pub struct Kernel {
    guard: Guard,
    router: Router,
    skills: Skills,
    /// What each skill needs.
    needs: Vec<u8>,
}

impl Kernel {
    /// A kernel of its own.
    ///
    /// # Errors
    /// What is wrong with the configuration, the danger patterns or the triggers; tests prove that nothing is wrong with
    /// the built-in ones.
    pub fn new(config: Config) -> Result<Kernel, String> {
        let needs = needs(&config)?;
        let router = Router::fit(&config.skills.manifests().collect::<Vec<_>>())?;
        Ok(Kernel { guard: Guard::new()?, router, skills: config.skills, needs })
    }

    /// The guard.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The router.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// The skills.
    pub fn skills(&self) -> &Skills {
        &self.skills
    }

    /// Envelope to receipt. Nothing of one call reaches another: callers may do this on as many threads as they like.
    pub fn handle(&self, arrival: Arrival, audit: &AuditContext, scratch: &mut Scratch) -> Receipt {
        let envelope = match arrival.envelope {
            Ok(envelope) => envelope,
            Err((finding, sha256)) => return refused(arrival.record, *finding, sha256),
        };
        let mut route = None;
        let Scratch { guard, route: room } = scratch;
        let mut needs = || match route.insert(self.router.route(&envelope.task, room)) {
            Route::Found(found) => self.needs[found.skill],
            Route::None(_) => 0,
        };
        let checked = self.guard.check(&envelope, audit, guard, &mut needs);
        let mut receipt = Receipt {
            record: arrival.record,
            id: None,
            sender: None,
            sha256: envelope.digest,
            verdict: DONE,
            finding: None,
            route: None,
            output: None,
            steps: Vec::new(),
        };
        if checked.blocked() {
            receipt.take(checked);
        } else {
            receipt.take(checked);
            self.act(&envelope, route.unwrap_or(Route::None(route::Unrouted::BelowFloor)), &mut receipt);
        }
        receipt.id = Some(envelope.id);
        receipt.sender = Some(envelope.sender);
        receipt
    }

    /// What comes behind the guard: the route's verdict and the skill.
    fn act(&self, envelope: &Envelope, route: Route, receipt: &mut Receipt) {
        let found = match route {
            Route::Found(found) => found,
            Route::None(why) => return receipt.block(ROUTE, why.code(), "task", "no skill for it"),
        };
        let Some(manifest) = self.skills.manifests().nth(found.skill) else { return };
        receipt.route = Some(Routed {
            skill: manifest.name.clone(),
            version: manifest.version,
            module: self.skills.module(found.skill),
            channel: found.channel,
            score: found.score,
        });
        receipt.pass(ROUTE, Passed::RouteFound);
        if envelope.mode.as_deref().and_then(Mode::of) == Some(Mode::DryRun) {
            return receipt.pass(SKILL, Passed::SkillNotRun);
        }
        match self.skills.run(found.skill, &envelope.payload) {
            // Without floats: the skills' own tests and the module runner see to it, and a chain takes none.
            Ok(output) => {
                receipt.output = Some(output);
                receipt.pass(SKILL, Passed::SkillDone);
            }
            Err(failed) => receipt.block(SKILL, failed.fault.code(), "payload", &failed.detail),
        }
    }
}

/// What each skill needs: the higher of manifest and configuration.
fn needs(config: &Config) -> Result<Vec<u8>, String> {
    let known = |name: &String| config.skills.manifests().any(|manifest| manifest.name == *name);
    for (name, permission) in &config.permissions {
        let shown = canon::shown(name.as_bytes());
        if !known(name) {
            return Err(format!("there is no skill {shown}"));
        }
        if *permission > 3 {
            return Err(format!("{shown}: permissions end at 3"));
        }
    }
    let raised = |name: &String| config.permissions.get(name).copied().unwrap_or(0);
    Ok(config.skills.manifests().map(|manifest| manifest.permission.max(raised(&manifest.name))).collect())
}

const DONE: Triple = Triple { action: Action::Allow, layer: SKILL, reason: Passed::SkillDone.code() };

/// The receipt of a line that is no envelope.
fn refused(record: u64, finding: Finding, sha256: Digest) -> Receipt {
    Receipt {
        record,
        id: None,
        sender: None,
        sha256,
        verdict: finding.triple,
        steps: vec![Step { triple: finding.triple }],
        finding: Some(finding),
        route: None,
        output: None,
    }
}

impl Receipt {
    fn take(&mut self, checked: Checked) {
        if let Some(finding) = &checked.finding {
            self.verdict = finding.triple;
        }
        self.finding = checked.finding;
        self.steps = checked.steps;
    }

    /// A step that lets pass. It is the verdict unless the guard gave advice.
    fn pass(&mut self, layer: &'static str, passed: Passed) {
        let triple = Triple { action: Action::Allow, layer, reason: passed.code() };
        self.steps.push(Step { triple });
        if self.finding.is_none() {
            self.verdict = triple;
        }
    }

    /// A step that ends it: stronger than any advice.
    fn block(&mut self, layer: &'static str, reason: &'static str, member: &str, pattern: &str) {
        let triple = Triple { action: Action::Block, layer, reason };
        self.steps.push(Step { triple });
        self.verdict = triple;
        let pattern = if pattern.is_empty() { member } else { pattern };
        self.finding = Some(Finding { triple, member: member.to_owned(), pattern: pattern.to_owned() });
    }

    /// The output, for skills whose output is read by a caller in the same process.
    pub fn output(&self) -> Option<&Value> {
        self.output.as_ref()
    }

    /// How it was found.
    pub fn channel(&self) -> Option<Channel> {
        self.route.as_ref().map(|route| route.channel)
    }
}
