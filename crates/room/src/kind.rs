//! The Interactions: the only units of bodily action (RC-INT-01 to RC-INT-14).

crate::names! {
    /// What the body can do.
    pub enum Kind {
        /// Change the facing.
        TurnTo = "TurnTo",
        /// Look at one object.
        LookAt = "LookAt",
        /// Look around, in all four directions.
        Scan = "Scan",
        /// Go to a cell.
        WalkTo = "WalkTo",
        /// Take an object into the hand.
        PickUp = "PickUp",
        /// Put the object of the hand down.
        PutDown = "PutDown",
        /// Open a container or window, switch a device on.
        Open = "Open",
        /// Close a container or window, switch a device off.
        Close = "Close",
        /// Hand an object over to a person.
        Give = "Give",
        /// Take an object from a person.
        Receive = "Receive",
        /// Drink one portion.
        Drink = "Drink",
        /// Eat one portion in three parts.
        Eat = "Eat",
        /// Rest on the chair.
        Rest = "Rest",
        /// Sleep in the bed.
        Sleep = "Sleep",
        /// One stage of a repair.
        Repair = "Repair",
        /// One stage of making or practising.
        Create = "Create",
        /// Say something.
        Speak = "Speak",
        /// Ask somebody.
        Ask = "Ask",
        /// Negotiate with somebody.
        Negotiate = "Negotiate",
        /// Leave the danger set; ordered by Safety.
        Evacuate = "Evacuate",
        /// Shut the source off, or hold a safe position; ordered by Safety.
        Protect = "Protect",
        /// Do nothing for a while.
        Idle = "Idle",
        /// Hold the body still.
        Wait = "Wait",
    }
}
