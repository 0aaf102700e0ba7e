//! What comes from outside: five channels of intervention (GD-17), and the answers of a slow proposer (GD-88).

use crate::grid::Cell;
use crate::item::Goal;
use crate::kind::Kind;
use crate::retry::Class;
use crate::state::Channel;
use crate::world::{Obj, Parent, Place};
use std::collections::BTreeSet;

crate::names! {
    /// The channels, in the order in which one tick takes them (GD-03).
    pub enum Way {
        /// CH-5: editing the system behind its barrier.
        SystemEdit = "CH-5",
        /// CH-4: direct control.
        Operator = "CH-4",
        /// CH-3: the environment, without a visible actor.
        Environment = "CH-3",
        /// CH-2: the act of a visible person.
        Act = "CH-2",
        /// CH-1: speech.
        Speech = "CH-1",
        /// No person: the answer of a slow proposer.
        Proposer = "proposer",
    }
}

crate::names! {
    /// What is asked for.
    pub enum Verb {
        /// CH-1: an explicit renegotiation raises a budget by one (GD-57).
        Grant = "grant",
        /// CH-1: something that wants a look (GD-56).
        Cue = "cue",
        /// CH-2: a person comes in.
        Come = "come",
        /// CH-2: a person goes.
        Leave = "leave",
        /// CH-2: a person takes an object.
        Take = "take",
        /// CH-2: a person puts an object somewhere.
        Return = "return",
        /// CH-2: a person opens something.
        PersonOpens = "person_opens",
        /// CH-2: a person closes something.
        PersonCloses = "person_closes",
        /// CH-2: a person's hand is full.
        BlockHand = "block_hand",
        /// CH-2: a person treats pain.
        TreatPain = "treat_pain",
        /// CH-3: an object is somewhere else.
        Move = "move",
        /// CH-3: locked.
        Lock = "lock",
        /// CH-3: unlocked.
        Unlock = "unlock",
        /// CH-3: does not work any more, and one cannot see it.
        Damage = "damage",
        /// CH-3: visibly unusable.
        Break = "break",
        /// CH-3: works again.
        Mend = "mend",
        /// CH-3: gone.
        Destroy = "destroy",
        /// CH-3: stocked up to an amount.
        Restock = "restock",
        /// CH-3: open, or on.
        SwitchOn = "switch_on",
        /// CH-3: closed, or off.
        SwitchOff = "switch_off",
        /// CH-3: the heater has a fault.
        Fault = "fault",
        /// CH-3: the authored source of danger breaks out.
        Ignite = "ignite",
        /// CH-3: a cell is closed.
        Block = "block",
        /// CH-3: a cell is open again.
        Unblock = "unblock",
        /// CH-4: asks for a lease.
        LeaseRequest = "lease_request",
        /// CH-4: renews it.
        LeaseRenew = "lease_renew",
        /// CH-4: gives it back.
        LeaseEnd = "lease_end",
        /// CH-4: an Interaction under the lease, or in the assist window.
        Command = "command",
        /// CH-4: asks for the emergency assist window.
        Assist = "assist",
        /// CH-5: the Agent is somewhere else.
        Teleport = "teleport",
        /// CH-5: an object is as it was at the start.
        Reset = "reset",
        /// CH-5: a channel has another level.
        SetLevel = "set_level",
        /// CH-5: what the body does is taken back.
        Cancel = "cancel",
        /// Proposer: an answer.
        Respond = "respond",
    }
}

/// Arguments that a verb needs.
struct Needs {
    object: bool,
    cell: bool,
    human: bool,
    to: bool,
}

impl Verb {
    /// The channel it comes on.
    #[must_use]
    pub fn way(self) -> Way {
        match self {
            Verb::Grant | Verb::Cue => Way::Speech,
            Verb::Come
            | Verb::Leave
            | Verb::Take
            | Verb::Return
            | Verb::PersonOpens
            | Verb::PersonCloses
            | Verb::BlockHand
            | Verb::TreatPain => Way::Act,
            Verb::LeaseRequest | Verb::LeaseRenew | Verb::LeaseEnd | Verb::Command | Verb::Assist => {
                Way::Operator
            }
            Verb::Teleport | Verb::Reset | Verb::SetLevel | Verb::Cancel => Way::SystemEdit,
            Verb::Respond => Way::Proposer,
            _ => Way::Environment,
        }
    }

    fn needs(self) -> Needs {
        let object = matches!(
            self,
            Verb::Take
                | Verb::Return
                | Verb::PersonOpens
                | Verb::PersonCloses
                | Verb::Move
                | Verb::Lock
                | Verb::Unlock
                | Verb::Damage
                | Verb::Break
                | Verb::Mend
                | Verb::Destroy
                | Verb::Restock
                | Verb::SwitchOn
                | Verb::SwitchOff
                | Verb::Reset
        );
        Needs {
            object,
            cell: matches!(self, Verb::Block | Verb::Unblock | Verb::Teleport),
            human: self.way() == Way::Act,
            to: matches!(self, Verb::Move | Verb::Return),
        }
    }

    /// The verb that undoes it, when there is one.
    #[must_use]
    pub fn opposite(self) -> Option<Verb> {
        let pairs = [
            (Verb::Lock, Verb::Unlock),
            (Verb::Break, Verb::Mend),
            (Verb::Damage, Verb::Mend),
            (Verb::SwitchOn, Verb::SwitchOff),
            (Verb::PersonOpens, Verb::PersonCloses),
            (Verb::Block, Verb::Unblock),
            (Verb::Take, Verb::Return),
        ];
        pairs.iter().find_map(|(a, b)| match self {
            verb if verb == *a => Some(*b),
            verb if verb == *b => Some(*a),
            _ => None,
        })
    }
}

crate::state! {
    /// One command: a verb and its arguments.
    pub struct Command {
        /// Unique in the run (GD-04).
        pub id: u64,
        /// What.
        pub verb: Verb,
        /// On which object.
        pub object: Option<Obj>,
        /// Where to.
        pub to: Option<Parent>,
        /// Which cell.
        pub cell: Option<Cell>,
        /// Which person: 0 resident, 1 stranger, 2 witness.
        pub human: Option<u8>,
        /// Which Interaction, of a command or an answer.
        pub kind: Option<Kind>,
        /// Which channel, of an edit.
        pub channel: Option<Channel>,
        /// How much, µ; for a restock the count in µ.
        pub amount: Option<i64>,
        /// Which goal, of a grant.
        pub goal: Option<Goal>,
        /// Which class of disturbance, of a grant.
        pub class: Option<Class>,
        /// The request that is answered.
        pub request: Option<u64>,
        /// Tick of that request.
        pub asked: Option<u64>,
        /// World version at that request.
        pub version: Option<u32>,
    }
}

impl Command {
    /// A command without arguments.
    #[must_use]
    pub fn new(id: u64, verb: Verb) -> Command {
        Command {
            id,
            verb,
            object: None,
            to: None,
            cell: None,
            human: None,
            kind: None,
            channel: None,
            amount: None,
            goal: None,
            class: None,
            request: None,
            asked: None,
            version: None,
        }
    }

    /// On this object.
    #[must_use]
    pub fn on(mut self, object: Obj) -> Command {
        self.object = Some(object);
        self
    }

    /// To this place.
    #[must_use]
    pub fn to(mut self, to: Parent) -> Command {
        self.to = Some(to);
        self
    }

    /// At this cell.
    #[must_use]
    pub fn at(mut self, cell: Cell) -> Command {
        self.cell = Some(cell);
        self
    }

    /// By this person.
    #[must_use]
    pub fn by(mut self, human: u8) -> Command {
        self.human = Some(human);
        self
    }

    /// This Interaction.
    #[must_use]
    pub fn doing(mut self, kind: Kind) -> Command {
        self.kind = Some(kind);
        self
    }

    /// This much.
    #[must_use]
    pub fn amount(mut self, amount: i64) -> Command {
        self.amount = Some(amount);
        self
    }

    /// Everything but its number equals (merging, GD-17).
    #[must_use]
    pub fn same_as(&self, other: &Command) -> bool {
        Command { id: 0, ..self.clone() } == Command { id: 0, ..other.clone() }
    }
}

crate::state! {
    /// A command and its tick.
    pub struct Input {
        /// When.
        pub tick: u64,
        /// What.
        pub command: Command,
    }
}

canon::codes! {
    /// Why a list of inputs is refused before the first tick.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum InputFault {
        /// An input is earlier than the one before it.
        Past = "room_input_past",
        /// Two inputs carry one command id.
        Duplicate = "room_input_duplicate",
        /// An argument that the verb needs is missing, or cannot be what it says.
        Argument = "room_input_argument",
    }
}

/// A refused list of inputs: which, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRefused {
    /// Position in the list, from 0.
    pub at: usize,
    /// Why.
    pub fault: InputFault,
}

/// Checks a list of inputs as a whole, before any of it is run (PC-69).
///
/// # Errors
/// The first input that cannot be.
pub fn check(inputs: &[Input]) -> Result<(), InputRefused> {
    let mut ids = BTreeSet::new();
    let mut last = 0;
    for (at, input) in inputs.iter().enumerate() {
        let refused = |fault| Err(InputRefused { at, fault });
        if input.tick < last {
            return refused(InputFault::Past);
        }
        last = input.tick;
        if !ids.insert(input.command.id) {
            return refused(InputFault::Duplicate);
        }
        if !arguments_fit(&input.command) {
            return refused(InputFault::Argument);
        }
    }
    Ok(())
}

/// More portions than a stock can count are no amount.
const RESTOCK_MAX: i64 = u32::MAX as i64 * crate::fixed::ONE;

fn arguments_fit(command: &Command) -> bool {
    let needs = command.verb.needs();
    let human = command.human.is_none_or(|human| usize::from(human) < crate::state::HUMANS);
    let place = command.to.is_none_or(parent_fits);
    let cell = command.cell.is_none_or(Cell::in_room);
    let special = match command.verb {
        Verb::Move | Verb::Return | Verb::Take => command.object.is_some_and(Obj::movable),
        Verb::SwitchOn
        | Verb::SwitchOff
        | Verb::PersonOpens
        | Verb::PersonCloses
        | Verb::Lock
        | Verb::Unlock => command.object.is_some_and(Obj::openable),
        Verb::Restock => {
            command.amount.is_some_and(|amount| (0..=RESTOCK_MAX).contains(&amount))
                && command
                    .object
                    .is_some_and(|o| matches!(o, Obj::Dispenser | Obj::Jug | Obj::Pantry | Obj::Tin))
        }
        Verb::Command => command.kind.is_some(),
        Verb::Respond => command.kind.is_some() && command.request.is_some() && command.asked.is_some(),
        Verb::SetLevel => command.channel.is_some() && command.amount.is_some(),
        Verb::Grant => command.goal.is_some() && command.class.is_some(),
        _ => true,
    };
    human
        && place
        && cell
        && special
        && (!needs.object || command.object.is_some())
        && (!needs.cell || command.cell.is_some())
        && (!needs.human || command.human.is_some())
        && (!needs.to || command.to.is_some())
}

fn parent_fits(parent: Parent) -> bool {
    match parent.place {
        Place::Cell => Cell(parent.of).in_room(),
        Place::Surface => parent.holder().is_some_and(Obj::surface),
        Place::Container => parent.holder().is_some_and(Obj::container),
        Place::HumanHand => usize::from(parent.of) < crate::state::HUMANS,
        Place::AgentHand | Place::Fixed | Place::Destroyed => false,
    }
}
