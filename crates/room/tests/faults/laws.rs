//! For each fault that breaks no check of the tick: the sentence of its scenario that it breaks, in the smallest form that
//! the case needs. It holds in the clean room all along, so that it is a law and not a comparison.

use room::draw::Stream;
use room::event::{Decision, What};
use room::faults::Fault;
use room::input::Verb;
use room::item::{Evidence, Exit, Goal, Item, Phase, Tier};
use room::kind::Kind;
use room::state::{Band, Channel, ControlMode, FactKind, Pose, SafetyMode, State};
use room::world::Obj;

/// A tick: the state before it, after it, and what happened in between.
pub(crate) struct Tick<'a> {
    pub(crate) before: &'a State,
    pub(crate) after: &'a State,
    pub(crate) events: &'a [What],
}

/// What a law remembers from tick to tick.
pub(crate) type Memory = [u64; 2];

/// True when the law is broken in this tick.
pub(crate) type Law = fn(&Tick<'_>, &mut Memory) -> bool;

impl Tick<'_> {
    fn now(&self) -> u64 {
        self.before.now
    }

    fn any(&self, what: impl Fn(&What) -> bool) -> bool {
        self.events.iter().any(what)
    }

    fn count(&self, what: impl Fn(&What) -> bool) -> u64 {
        self.events.iter().filter(|event| what(event)).count() as u64
    }

    fn decision(&self, law: impl Fn(&Decision) -> bool) -> bool {
        self.any(|what| matches!(what, What::Decision(decision) if law(decision)))
    }

    fn items(&self, law: impl Fn(&Item) -> bool) -> bool {
        self.after.queue.items.iter().any(law)
    }

    fn outcome(&self) -> bool {
        self.any(|what| matches!(what, What::Outcome { success: true, .. }))
    }

    fn sleeps(&self) -> bool {
        let sleeps = |item: &&Item| item.kind == Kind::Sleep && item.phase == Phase::Running;
        self.before.queue.active().filter(sleeps).is_some()
            && self.after.queue.active().filter(sleeps).is_some()
    }

    fn drew(&self, stream: Stream) -> bool {
        self.after.audit.draws[stream as usize] > self.before.audit.draws[stream as usize]
    }
}

/// The law of a fault; none for those that a check, a second run or a fold catches.
pub(crate) fn law(fault: Fault) -> Option<Law> {
    body(fault)
        .or_else(|| supply(fault))
        .or_else(|| danger(fault))
        .or_else(|| input(fault))
        .or_else(|| mind(fault))
}

fn body(fault: Fault) -> Option<Law> {
    Some(match fault {
        Fault::DecayOffByOne => {
            |t, _| ![-25, 10, 35].contains(&(t.after.levels.energy - t.before.levels.energy))
        }
        Fault::DecayAsleep => |t, _| t.sleeps() && t.after.levels.energy < t.before.levels.energy,
        // P8 brings what is beyond the domain back into it: the write itself has to be looked at.
        Fault::EffectNotClamped => {
            |t, _| t.any(|what| matches!(what, What::Wrote { field: "level", to, .. } if *to > 1_000_000))
        }
        Fault::ColdByDay => |t, _| t.after.levels.thermal < t.before.levels.thermal,
        Fault::BoredomOnTheMinute => {
            |t, _| (t.now() + 1) % 60 != 0 && t.after.levels.engagement < t.before.levels.engagement
        }
        Fault::WalksLying => {
            |t, _| t.after.body.cell != t.before.body.cell && t.after.body.pose != Pose::Standing
        }
        Fault::SleepMinimumIgnored | Fault::CueWakesAtOnce => |t, m| {
            if t.any(|what| matches!(what, What::Edge { kind: Kind::Sleep, to: Phase::Running, .. })) {
                m[0] = t.now();
            }
            let early = |what: &What| {
                matches!(
                    what,
                    What::Edge { kind: Kind::Sleep, exit: Exit::Cue | Exit::Margin | Exit::EnergyOk, .. }
                )
            };
            t.any(early) && t.now() < m[0] + 299
        },
        Fault::CueForgotten => |t, m| {
            m[0] = if t.after.mind.cue.is_some() && !t.items(|i| i.goal == Goal::Cue) { m[0] + 1 } else { 0 };
            m[0] > 10
        },
        Fault::SleepsOnAfterCue => |t, _| {
            let woke = t.after.mind.cue.as_ref().and_then(|cue| cue.woke);
            woke.is_some_and(|woke| {
                t.items(|i| i.kind == Kind::Sleep && i.created > woke && i.created < woke + 60)
            })
        },
        _ => return None,
    })
}

fn supply(fault: Fault) -> Option<Law> {
    Some(match fault {
        Fault::PendingIgnored => |t, _| {
            let list = &t.after.pending.list;
            Channel::ALL.iter().any(|c| list.iter().filter(|pending| pending.channel == *c).count() > 1)
        },
        Fault::NotRevalidated => |t, _| {
            let waits = |i: &Item| matches!(i.phase, Phase::Proposed | Phase::Pending | Phase::Suspended);
            let served = t.after.regulation.served[Channel::Hydration.index()] == t.now() && t.outcome();
            served
                && t.after.levels.hydration >= 550_000
                && t.items(|i| i.goal == Goal::Hydration && waits(i))
        },
        Fault::DeadlineUnseen => |t, _| {
            let unseen = t.after.regulation.tier1 & Channel::Hydration.bit() == 0;
            unseen && t.after.levels.hydration < 151_284
        },
        Fault::LastProposedFirst => |t, _| {
            t.items(|i| {
                i.phase == Phase::Pending && i.since == t.now() && {
                    let older = |other: &Item| {
                        other.phase == Phase::Proposed && other.tier == i.tier && other.id < i.id
                    };
                    t.items(older)
                }
            })
        },
        Fault::Tier3First => |t, m| {
            let served = t.items(|item| item.alive() && item.tier == Tier::T1);
            m[0] = if t.after.regulation.tier1 != 0 && !served { m[0] + 1 } else { 0 };
            m[0] > 2
        },
        Fault::RecordNeverOpened | Fault::RecordLate => |t, m| {
            let n = Channel::Hydration.index();
            let regulation = &t.after.regulation;
            let short = regulation.none[n]
                && regulation.band[n] != Band::Comfort
                && regulation.band[n] != Band::Neutral;
            m[0] = if short && regulation.record[n].since.is_none() { m[0] + 1 } else { 0 };
            m[0] > 20
        },
        Fault::HelpWithoutEnd => |t, _| t.after.regulation.record.iter().any(|record| record.messages > 4),
        _ => return None,
    })
}

fn danger(fault: Fault) -> Option<Law> {
    Some(match fault {
        Fault::ThresholdExclusive => |t, _| {
            t.after.safety.mode == SafetyMode::Clear
                && t.after.hidden.sources.iter().any(|s| s.risk >= 650_000)
        },
        Fault::RiskNotMarked => |t, _| {
            let danger = t.after.safety.mode != SafetyMode::Clear;
            danger && t.items(|i| i.alive() && i.target == Some(Obj::Table))
        },
        Fault::CallsAgain => |t, _| t.after.safety.mode == SafetyMode::Evacuating && !t.after.safety.called,
        Fault::HarmedAgain => |t, m| {
            m[0] += u64::from(t.after.levels.pain > t.before.levels.pain);
            m[0] > 1
        },
        Fault::HiddenCauseTold => {
            |t, _| t.after.facts.list.iter().any(|fact| fact.kind == FactKind::HazardCue)
        }
        Fault::ClusterPerEvent => |t, _| t.after.episodes.control < t.before.episodes.control - 20_000,
        _ => return None,
    })
}

fn input(fault: Fault) -> Option<Law> {
    Some(match fault {
        Fault::SuspensionRenews => {
            |t, _| t.items(|i| i.phase == Phase::Suspended && i.unstarted && i.until != Some(i.ttl))
        }
        Fault::RepetitionActs => |t, m| {
            m[0] += t.count(|what| matches!(what, What::Input(command) if command.verb == Verb::Break));
            m[0] > 1
        },
        Fault::OppositeFirstStays => {
            |t, _| t.any(|what| matches!(what, What::Input(command) if command.verb == Verb::Lock))
        }
        Fault::SpeechFirst => |t, _| {
            let taken = t.events.iter().filter_map(|what| match what {
                What::Input(command) => Some(command.verb.way()),
                _ => None,
            });
            !taken.is_sorted()
        },
        Fault::LeaseWithoutHandshake => |t, _| {
            t.before.control.mode == ControlMode::Autonomous
                && t.after.control.mode == ControlMode::OperatorLease
        },
        Fault::GrantTwice => |t, _| {
            let grants = |state: &State| state.retries.totals.iter().map(|total| total.grants).sum::<u32>();
            grants(t.after) > grants(t.before) + 1
        },
        _ => return None,
    })
}

fn mind(fault: Fault) -> Option<Law> {
    Some(match fault {
        Fault::SharedStream => |t, _| t.drew(Stream::Pool) && !t.decision(|d| d.draw.is_some()),
        Fault::MarginIgnored => {
            |t, _| t.decision(|d| d.stopped.is_some() && d.margin.is_some_and(|margin| margin < 150_000))
        }
        Fault::PacingIgnored => |t, m| {
            let begun = |item: &Item| {
                item.goal == Goal::Inspect && item.phase == Phase::Pending && item.since == t.now()
            };
            let soon = t.items(begun) && m[0] > 0 && t.now() < m[0] + 80;
            if t.items(begun) {
                m[0] = t.now();
            }
            soon
        },
        Fault::RepetitionForgotten => |t, _| t.outcome() && t.after.habits.counters.is_empty(),
        Fault::InspectionForgotten => {
            |t, _| t.outcome() && t.after.mind.inspected.iter().all(|inspected| inspected.count == 0)
        }
        Fault::TraitsInDanger => |t, _| {
            let corrected =
                |d: &Decision| d.candidates.iter().any(|c| c.parts.is_some_and(|p| p.correction != 0));
            t.after.regulation.band.contains(&Band::Danger) && t.decision(corrected)
        },
        Fault::UnknownCauseTeaches => |t, _| {
            let unknown = |what: &What| matches!(what, What::Edge { evidence: Evidence::NotThere, .. });
            t.any(unknown) && t.any(|what| matches!(what, What::Wrote { field: "expectation", .. }))
        },
        Fault::NoVersionDiscount => |t, _| {
            let heavy = |object: Obj| {
                t.after.expectations.list.iter().any(|e| e.object == object as u8 && e.half_units > 8)
            };
            t.any(|what| matches!(what, What::Input(command) if command.verb == Verb::Damage))
                && heavy(Obj::Dispenser)
        },
        Fault::WholeTransfer => |t, _| {
            let list = &t.after.expectations.list;
            list.windows(2).any(|pair| {
                let siblings = (pair[0].kind, pair[0].object) == (pair[1].kind, pair[1].object);
                siblings && pair[0].success != 750_000 && pair[0].success == pair[1].success
            })
        },
        Fault::LearnsTwice => |t, _| {
            t.after.expectations.list.iter().any(|entry| {
                let known = |one: &&room::learn::Expectation| {
                    (one.kind, one.object, one.context) == (entry.kind, entry.object, entry.context)
                };
                let before = t.before.expectations.list.iter().find(known).map_or(8, |one| one.half_units);
                entry.half_units > before + 2
            })
        },
        Fault::StabilityIgnored => |t, m| {
            let lost = |what: &What| {
                matches!(
                    what,
                    What::Edge {
                        kind: Kind::PickUp,
                        evidence: Evidence::NotThere,
                        from: Phase::Preparing,
                        ..
                    }
                )
            };
            if t.any(lost) {
                *m = [m[0] + 1, t.now()];
            }
            let tried = t.items(|item| item.kind == Kind::PickUp && item.created == t.now());
            m[0] > 1 && tried && t.now() < m[1] + 48
        },
        _ => return None,
    })
}
