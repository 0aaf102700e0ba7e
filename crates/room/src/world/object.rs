//! The objects of the room (GD-09), where they can be (GD-10), and what is true of each.

use crate::grid::Cell;

crate::names! {
    /// The 24 objects of v0, O01 to O24 in this order.
    pub enum Obj {
        /// O01: place of Sleep; fallible.
        Bed = "bed",
        /// O02: place of Rest; guaranteed.
        Chair = "chair",
        /// O03: water, fallible, repairable.
        Dispenser = "water_dispenser",
        /// O04: water, guaranteed while stocked.
        Jug = "water_jug",
        /// O05: food, fallible.
        Pantry = "pantry",
        /// O06: food, guaranteed while stocked.
        Tin = "snack_tin",
        /// O07: the private container.
        Drawer = "private_drawer",
        /// O08: the shared container.
        SharedBox = "shared_box",
        /// O09: place of Repair and Create.
        Workbench = "workbench",
        /// O10: the project object.
        Radio = "radio",
        /// O11: a tool.
        Screwdriver = "screwdriver",
        /// O12: a part.
        Coil = "coil",
        /// O13: the hazard device.
        Heater = "heater",
        /// O14: remote shut-off of the heater.
        Breaker = "breaker",
        /// O15: movable.
        Cup = "cup",
        /// O16: movable, in the private drawer.
        Notebook = "notebook",
        /// O17: movable, in the private drawer.
        MedicationBox = "medication_box",
        /// O18: openable, with a sill.
        Window = "window",
        /// O19: novelty.
        NoticeBoard = "notice_board",
        /// O20: novelty.
        Picture = "picture",
        /// O21: novelty.
        Clock = "clock",
        /// O22: novelty, movable.
        Plant = "plant",
        /// O23: a surface.
        Table = "table",
        /// O24: where people come in.
        Door = "door",
    }
}

crate::names! {
    /// Object families: what the total retry budget and the family-level repetition are keyed by.
    pub enum Family {
        /// Things one sits or lies on.
        Furniture = "furniture",
        /// Sources of water.
        Water = "water",
        /// Sources of food.
        Food = "food",
        /// Things with a lid or door.
        Container = "container",
        /// Things one carries.
        Movable = "movable",
        /// Things one switches.
        Device = "device",
        /// Things one looks at.
        Decor = "decor",
    }
}

impl Obj {
    /// Position in tables and masks.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its bit in a mask of objects.
    #[must_use]
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// Its family.
    #[must_use]
    pub const fn family(self) -> Family {
        match self {
            Obj::Bed | Obj::Chair | Obj::Workbench | Obj::Table => Family::Furniture,
            Obj::Dispenser | Obj::Jug => Family::Water,
            Obj::Pantry | Obj::Tin => Family::Food,
            Obj::Drawer | Obj::SharedBox => Family::Container,
            Obj::Screwdriver | Obj::Coil | Obj::Cup | Obj::Notebook | Obj::MedicationBox | Obj::Plant => {
                Family::Movable
            }
            Obj::Heater | Obj::Breaker | Obj::Window | Obj::Radio => Family::Device,
            Obj::NoticeBoard | Obj::Picture | Obj::Clock | Obj::Door => Family::Decor,
        }
    }

    /// Whether a hand can carry it.
    #[must_use]
    pub const fn movable(self) -> bool {
        matches!(self.family(), Family::Movable) || matches!(self, Obj::Jug | Obj::Tin)
    }

    /// Whether Open and Close work on it at stage 0 (GD-27). The door is closed to the Agent, the radio is not repaired.
    #[must_use]
    pub const fn openable(self) -> bool {
        matches!(self, Obj::Drawer | Obj::SharedBox | Obj::Window | Obj::Heater | Obj::Breaker)
    }

    /// Whether things can lie on it.
    #[must_use]
    pub const fn surface(self) -> bool {
        matches!(self, Obj::Table | Obj::Workbench | Obj::Window)
    }

    /// Whether things can lie in it.
    #[must_use]
    pub const fn container(self) -> bool {
        matches!(self, Obj::Drawer | Obj::SharedBox)
    }

    /// Furniture that blocks its cells; everything else that is fixed is mounted and used from its own cell (GD-09).
    #[must_use]
    pub const fn blocks(self) -> bool {
        matches!(
            self,
            Obj::Bed
                | Obj::Chair
                | Obj::Dispenser
                | Obj::Pantry
                | Obj::Drawer
                | Obj::SharedBox
                | Obj::Workbench
                | Obj::Heater
                | Obj::Table
        )
    }

    /// Declared guaranteed: it cannot fail while stocked and present (GD-11).
    #[must_use]
    pub const fn guaranteed(self) -> bool {
        matches!(self, Obj::Jug | Obj::Tin | Obj::Chair)
    }

    /// An object from its position; the inverse of [`Obj::index`].
    #[must_use]
    pub fn at(index: usize) -> Option<Obj> {
        Obj::ALL.get(index).copied()
    }
}

crate::names! {
    /// The kinds of legal parents (GD-10).
    pub enum Place {
        /// On the floor of a cell.
        Cell = "cell",
        /// On a surface.
        Surface = "surface",
        /// In a container.
        Container = "container",
        /// In the Agent's hand.
        AgentHand = "agent_hand",
        /// In a person's hand.
        HumanHand = "human_hand",
        /// Standing or mounted where it is.
        Fixed = "fixed",
        /// Gone for good: a legal end, so that nothing vanishes.
        Destroyed = "destroyed",
    }
}

crate::state! {
    /// Where an object is.
    #[derive(Copy, PartialOrd, Ord)]
    pub struct Parent {
        /// Which kind of parent.
        pub place: Place,
        /// The cell, object or person; 0 where there is only one.
        pub of: u8,
    }
}

impl Parent {
    /// In the Agent's hand.
    pub const AGENT_HAND: Parent = Parent { place: Place::AgentHand, of: 0 };
    /// Gone.
    pub const DESTROYED: Parent = Parent { place: Place::Destroyed, of: 0 };

    /// On the floor.
    #[must_use]
    pub const fn cell(cell: Cell) -> Parent {
        Parent { place: Place::Cell, of: cell.0 }
    }

    /// Standing or mounted at a cell.
    #[must_use]
    pub const fn fixed(cell: Cell) -> Parent {
        Parent { place: Place::Fixed, of: cell.0 }
    }

    /// On a surface or in a container, whichever `obj` is.
    #[must_use]
    pub const fn with(obj: Obj) -> Parent {
        let place = if obj.container() { Place::Container } else { Place::Surface };
        Parent { place, of: obj as u8 }
    }

    /// In a person's hand.
    #[must_use]
    pub const fn human(human: u8) -> Parent {
        Parent { place: Place::HumanHand, of: human }
    }

    /// The object it lies on or in.
    #[must_use]
    pub fn holder(self) -> Option<Obj> {
        match self.place {
            Place::Surface | Place::Container => Obj::at(usize::from(self.of)),
            _ => None,
        }
    }
}

crate::state! {
    /// What anybody can see of an object.
    pub struct Visible {
        /// Where it is.
        pub parent: Parent,
        /// Open, or switched on.
        pub on: bool,
        /// Visibly damaged or made unusable (an unmade bed, a broken radio).
        pub broken: bool,
        /// Portions of water, thirds of portions of food; 0 for everything else.
        pub stock: u32,
        /// Raised with each change (GD-04).
        pub object_version: u32,
        /// Raised only by changes that the Agent's own Outcome did not predict (GD-04).
        pub premise_version: u32,
        /// Tick of the last change of `premise_version`.
        pub premise_since: u64,
    }
}

crate::state! {
    /// What only the authority knows of an object (GD-84). No module under `mind` may name this type; tidy holds that.
    pub struct Authority {
        /// Pulling at it does nothing.
        pub locked: bool,
        /// It does not work, and one cannot see that.
        pub damaged: bool,
    }
}
