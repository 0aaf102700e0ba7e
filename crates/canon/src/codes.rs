//! One table per enum of codes, so that the list that a test compares with the registry and the function that the
//! product calls cannot differ.

/// Stable codes of an enum, in one table: `CODES` and `code`, and for the first form the enum itself and `ALL`.
///
/// ```
/// canon::codes! {
///     /// Closed list.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub enum Colour {
///         /// Like a fire engine.
///         Red = "colour_red",
///     }
/// }
/// pub enum Shade { Dark(u8), Of(Colour) }
/// canon::codes! {
///     impl Shade: &self {
///         Shade::Dark(_) => "shade_dark",
///     } else {
///         Shade::Of(colour) => colour.code(),
///     }
/// }
/// assert_eq!(Colour::ALL, [Colour::Red]);
/// assert_eq!(Colour::CODES, ["colour_red"]);
/// assert_eq!(Shade::CODES, ["shade_dark"]);
/// assert_eq!(Shade::Of(Colour::Red).code(), "colour_red");
/// ```
#[macro_export]
macro_rules! codes {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $code:literal,)+ }) => {
        $(#[$meta])*
        $vis enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// Every member.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];
        }

        $crate::codes! { impl $name: self { $($name::$variant => $code,)+ } }
    };
    (impl $name:ident: $this:ident { $($pattern:pat => $code:literal,)+ } $(else { $($other:pat => $of:expr,)+ })?) => {
        $crate::codes! { @list $name $($code)+ }
        impl $name {
            /// The stable code.
            pub const fn code($this) -> &'static str {
                match $this { $($pattern => $code,)+ $($($other => $of,)+)? }
            }
        }
    };
    (impl $name:ident: &$this:ident { $($pattern:pat => $code:literal,)+ } $(else { $($other:pat => $of:expr,)+ })?) => {
        $crate::codes! { @list $name $($code)+ }
        impl $name {
            /// The stable code.
            pub const fn code(&$this) -> &'static str {
                match $this { $($pattern => $code,)+ $($($other => $of,)+)? }
            }
        }
    };
    (@list $name:ident $($code:literal)+) => {
        impl $name {
            /// Every code, for the test that compares with the registry.
            pub const CODES: &'static [&'static str] = &[$($code,)+];
        }
    };
}
