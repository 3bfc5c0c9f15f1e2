//! The settings by name: what there is, what a value is as text, and how text becomes a value.

use core::fmt;

use super::check::Rule;
use super::{Settings, Value};
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
    /// Where the default comes from, or why it has no effect.
    pub source: &'static str,
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
            meant: renamed.or_else(|| nearest(name, Settings::names())),
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

/// A group of settings, by their names.
pub(super) trait Group {
    /// What each setting is, in order.
    fn fields(&self) -> Vec<Field>;

    /// A setting's value as text; none where the group has no such setting.
    fn get(&self, name: &str) -> Option<String>;

    /// Sets a setting from text; none where the group has no such setting.
    fn set(&mut self, name: &str, text: &str) -> Option<Result<(), SettingError>>;

    /// What must hold between the group's settings.
    fn rules(&self) -> Vec<Rule>;
}

/// Puts what `text` says in the place of the setting `name`.
pub(super) fn store<V: Value>(place: &mut V, name: &str, text: &str) -> Result<(), SettingError> {
    *place = V::parse(text.trim()).ok_or_else(|| SettingError::Value {
        name: name.to_owned(),
        text: text.to_owned(),
        allowed: V::allowed(),
    })?;
    Ok(())
}

/// Defines the struct of a group: each field is a [`Value`] and has a default with its source.
macro_rules! group {
    (
        $(#[$outer:meta])*
        pub struct $group:ident {
            $(
                $(#[doc = $doc:literal])+
                pub $field:ident: $type:ty = $default:expr, $source:literal;
            )+
        }

        rules($self:ident) $rules:block
    ) => {
        $(#[$outer])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $group {
            $(
                $(#[doc = $doc])+
                pub $field: $type,
            )+
        }

        impl Default for $group {
            fn default() -> Self {
                $group { $($field: $default),+ }
            }
        }

        impl $crate::settings::reflect::Group for $group {
            fn fields(&self) -> Vec<$crate::settings::Field> {
                vec![$(
                    $crate::settings::Field {
                        name: stringify!($field),
                        about: concat!($($doc),+).trim().to_owned(),
                        allowed: <$type as $crate::settings::Value>::allowed(),
                        source: concat!("default: ", $source),
                    }
                ),+]
            }

            fn get(&self, name: &str) -> Option<String> {
                match name {
                    $(stringify!($field) => Some($crate::settings::Value::text(&self.$field)),)+
                    _ => None,
                }
            }

            fn set(
                &mut self,
                name: &str,
                text: &str,
            ) -> Option<Result<(), $crate::settings::SettingError>> {
                match name {
                    $(stringify!($field) => {
                        Some($crate::settings::reflect::store(&mut self.$field, name, text))
                    })+
                    _ => None,
                }
            }

            fn rules(&$self) -> Vec<$crate::settings::check::Rule> $rules
        }
    };
}
pub(super) use group;
