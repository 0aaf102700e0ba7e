//! The keys of stage 0, each written once: a field is a number that the code may use, and no other number has a name
//! here (RC-LNT-02, RC-LNT-04). Ranges stand in the file; a test holds rule and unit of each comment to it.

mod body;
mod content;
mod mind;

pub use body::{Clock, Interactions, Regulation, Safety};
pub use content::{Fixture, World};
pub use mind::{Experience, Learning, Memory, Selection, Task};

/// One group of keys: a struct with a field for each, read from the entries of the file.
macro_rules! group {
    (
        $(#[$about:meta])*
        $name:ident $group:literal { $($(#[$meaning:meta])* $key:ident: $type:ty,)* }
        $(derived $extra:ident: $extra_type:ty)?
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $(
                $(#[$meaning])*
                #[doc = concat!("`K.", $group, ".", stringify!($key), "`")]
                pub $key: $type,
            )*
            $(pub(in crate::profile) $extra: $extra_type,)?
        }

        impl $name {
            /// Its name in the file.
            pub(in crate::profile) const GROUP: &str = $group;
            /// Its keys, in the order of the fields.
            pub(in crate::profile) const KEYS: &[&str] = &[$(stringify!($key)),*];

            pub(in crate::profile) fn read(reader: &mut $crate::profile::entry::Reader<'_>) -> Self {
                Self {
                    $($key: reader.take($group, stringify!($key)),)*
                    $($extra: $crate::profile::entry::Read::blank(),)?
                }
            }
        }
    };
}
use group;
