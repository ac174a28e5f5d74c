//! Closed sets of values that are spelled one way in documents, on the command line and in output.

/// An enum whose values have one spelling, for documents and for people.
macro_rules! spelled {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$of:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name { $($(#[$of])* #[serde(rename = $text)] $variant,)* }

        impl $name {
            /// How it is spelled.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}
pub(crate) use spelled;
