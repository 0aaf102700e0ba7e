//! Where the faults of `crate::faults` are planted: each place asks `planted!(self, Name)`. Without the feature `faults` the
//! answer is `false` before anything is compiled, and nothing of the question is left.

/// Whether a fault is planted in a room, or in the view of one.
#[cfg(feature = "faults")]
macro_rules! planted {
    ($who:expr, $fault:ident) => {
        $who.planted.is(crate::faults::Fault::$fault)
    };
}

/// Never.
#[cfg(not(feature = "faults"))]
macro_rules! planted {
    ($who:expr, $fault:ident) => {
        false
    };
}

/// What the impurity of a planted fault says now.
#[cfg(feature = "faults")]
macro_rules! impurity {
    ($who:expr) => {
        $who.planted.impurity()
    };
}

/// Nothing.
#[cfg(not(feature = "faults"))]
macro_rules! impurity {
    ($who:expr) => {
        0_u64
    };
}

/// Whether a section keeps what it has computed when it is written to.
#[cfg(feature = "faults")]
macro_rules! stuck {
    ($section:expr, $what:ident) => {
        $section.stuck.$what
    };
}

/// Never.
#[cfg(not(feature = "faults"))]
macro_rules! stuck {
    ($section:expr, $what:ident) => {
        false
    };
}
