//! The reserves and the body.

use crate::grid::{Cell, Direction};
use crate::item::Goal;
use crate::world::Obj;

crate::state! {
    /// Reserves in 0…1, Engagement in −1…1, all in µ (RC-RES-01). Pain is stored as its intensity; PainComfort is 1 less
    /// it.
    #[derive(Copy)]
    pub struct Levels {
        /// Awake reserve.
        pub energy: i64,
        /// Water.
        pub hydration: i64,
        /// Food.
        pub calories: i64,
        /// Temperature.
        pub thermal: i64,
        /// Intensity of pain.
        pub pain: i64,
        /// Posture.
        pub posture: i64,
        /// Load: negative is boredom, positive overload.
        pub engagement: i64,
    }
}

crate::names! {
    /// The body channels of Tier 1, in the order that breaks ties (GD-40).
    pub enum Channel {
        /// Water.
        Hydration = "hydration",
        /// Food.
        Calories = "calories",
        /// Sleep and rest.
        Energy = "energy",
        /// Freedom from pain.
        Pain = "pain",
        /// Temperature.
        Thermal = "thermal",
        /// Posture.
        Posture = "posture",
    }
}

impl Channel {
    /// Position in tables and masks.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its bit in a mask of channels.
    #[must_use]
    pub const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// What serves it.
    #[must_use]
    pub const fn goal(self) -> Goal {
        match self {
            Channel::Hydration => Goal::Hydration,
            Channel::Calories => Goal::Calories,
            Channel::Energy => Goal::Energy,
            Channel::Pain => Goal::Pain,
            Channel::Thermal => Goal::Thermal,
            Channel::Posture => Goal::Posture,
        }
    }

    /// The channel that a goal serves.
    #[must_use]
    pub fn of_goal(goal: Goal) -> Option<Channel> {
        Channel::ALL.into_iter().find(|channel| channel.goal() == goal)
    }
}

impl Levels {
    /// Level of a channel, µ.
    #[inline]
    #[must_use]
    pub fn of(&self, channel: Channel) -> i64 {
        self.all()[channel.index()]
    }

    /// The levels of all channels in their order, µ.
    #[inline]
    #[must_use]
    pub const fn all(&self) -> [i64; Channel::COUNT] {
        [
            self.hydration,
            self.calories,
            self.energy,
            crate::fixed::ONE - self.pain,
            self.thermal,
            self.posture,
        ]
    }

    /// Comfort of the screen: the worst of the three, never their mean (RC-REG-09).
    #[must_use]
    pub fn comfort(&self) -> i64 {
        self.of(Channel::Pain).min(self.thermal).min(self.posture)
    }
}

crate::names! {
    /// How the body is held (GD-10).
    pub enum Pose {
        /// Upright.
        Standing = "standing",
        /// On the chair.
        Sitting = "sitting",
        /// On the bed.
        Lying = "lying",
    }
}

crate::state! {
    /// The body.
    pub struct Body {
        /// Where it stands.
        pub cell: Cell,
        /// Where it looks.
        pub facing: Direction,
        /// How it is held.
        pub pose: Pose,
        /// What the one hand holds.
        pub hand: Option<Obj>,
    }
}
