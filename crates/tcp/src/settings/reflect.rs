//! The settings by name: what there is, what a value is as text, and how text becomes a value.

use core::fmt;

use super::Settings;
use crate::near::nearest;

/// A setting's name and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name, as in `stack.min_rto`.
    pub name: &'static str,
    /// What it sets.
    pub about: String,
    /// What may stand there.
    pub allowed: String,
}

/// Why a setting was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// There is no such setting.
    Unknown {
        /// The name given.
        name: String,
        /// The name perhaps meant.
        meant: Option<&'static str>,
    },
    /// The value is none of this setting.
    Value {
        /// The setting.
        name: String,
        /// The text given.
        text: String,
        /// What may stand there.
        allowed: String,
    },
}

impl SettingError {
    pub(super) fn unknown(name: &str) -> Self {
        // A name of the release before.
        let renamed = (name == "sender").then_some("ack_order");
        SettingError::Unknown {
            name: name.to_owned(),
            meant: renamed.or_else(|| nearest(name, Settings::NAMES.iter().copied())),
        }
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingError::Unknown { name, meant } => {
                write!(f, "a stack has no setting {name}")?;
                match meant {
                    Some(meant) => write!(f, "; did you mean {meant}?"),
                    None => write!(f, "; `rexmit stacks rfc` lists the settings"),
                }
            }
            SettingError::Value {
                name,
                text,
                allowed,
            } => write!(f, "{name} = {text}: must be {allowed}"),
        }
    }
}

impl std::error::Error for SettingError {}

/// Defines the struct [`Settings`] and its reflection: every field is one of [`super::Value`].
macro_rules! settings {
    (
        $(#[$outer:meta])*
        pub struct Settings {
            $(
                $(#[doc = $doc:literal])+
                pub $field:ident: $type:ty,
            )+
        }
    ) => {
        $(#[$outer])*
        pub struct Settings {
            $(
                $(#[doc = $doc])+
                pub $field: $type,
            )+
        }

        impl Settings {
            /// The names of all settings, in order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($field)),+];

            /// What each setting is, in order.
            #[must_use]
            pub fn fields() -> Vec<Field> {
                vec![$(
                    Field {
                        name: stringify!($field),
                        about: concat!($($doc),+).trim().to_owned(),
                        allowed: <$type as Value>::allowed(),
                    }
                ),+]
            }

            /// A setting's value as text; none where there is no such setting.
            #[must_use]
            pub fn get(&self, name: &str) -> Option<String> {
                match name {
                    $(stringify!($field) => Some(self.$field.text()),)+
                    _ => None,
                }
            }

            /// Sets a setting from text.
            ///
            /// # Errors
            /// When there is no such setting, or the text is no value of it.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), SettingError> {
                match name {
                    $(stringify!($field) => match Value::parse(text.trim()) {
                        Some(value) => self.$field = value,
                        None => return Err(SettingError::Value {
                            name: name.to_owned(),
                            text: text.to_owned(),
                            allowed: <$type as Value>::allowed(),
                        }),
                    },)+
                    _ => return Err(SettingError::unknown(name)),
                }
                Ok(())
            }

            /// Whether `text` is a value of the setting `name`, whatever the others are.
            ///
            /// # Errors
            /// When there is no such setting, or the text is no value of it.
            pub fn accepts(name: &str, text: &str) -> Result<(), SettingError> {
                Settings::blank().set(name, text)
            }

            /// Settings with which a page begins; a page states them all.
            pub(crate) fn blank() -> Self {
                Settings { $($field: Value::blank()),+ }
            }
        }
    };
}
pub(crate) use settings;
