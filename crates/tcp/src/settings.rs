//! Every choice that makes one stack differ from another.

mod check;
mod congestion;
mod loss;
mod multipath;
mod receiver;
mod reflect;
mod segments;
#[cfg(test)]
mod tests;
mod timers;
mod value;

pub use congestion::{
    Congestion, CongestionControl, CubicForm, IdleRestart, InitialWindow, MaxBurst, PartialUndo,
    Recovery, UndoStart, UndoWindow, WindowUse,
};
pub use loss::{
    AckOrder, EarlyRetransmit, FrtoTest, Loss, Reneging, ReorderingUnit, TimeoutMarks, Tlp, TlpWait,
};
pub use multipath::{
    MptcpBuffer, MptcpBurst, MptcpOptions, MptcpReinject, MptcpScheduler, MptcpTimer, Multipath,
};
pub(crate) use receiver::FIRST_RATIO;
pub use receiver::{DelayedAck, ReceiveBufferGrowth, Receiving, WindowShare};
pub use reflect::{Field, SettingError};
pub use segments::{PacketSizing, Segments, SendBufferGrowth};
pub use timers::{Estimator, RttSamples, ShutWindowLimit, TimeoutLeft, Timers};
pub use value::Value;

use reflect::Group;

/// A stack's settings. `stacks` holds the pages of named stacks with a source for every value.
///
/// A new setting is a field of a group, of a type that is a [`Value`], with a default that has no effect, or that is what
/// the standards say; a page states what is different. What must hold between the settings of one group stands with it,
/// what must hold between groups in [`Settings::check`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The clock, the round-trip time and the timers that run by it.
    pub timers: Timers,
    /// How losses are found, and what is sent again first.
    pub loss: Loss,
    /// How much may be in flight.
    pub congestion: Congestion,
    /// What segments carry, how packets are built, and when they leave the host.
    pub segments: Segments,
    /// When data are acknowledged, and the receive buffer.
    pub receiver: Receiving,
    /// Multipath TCP.
    pub multipath: Multipath,
}

impl Settings {
    fn groups(&self) -> [&dyn Group; 6] {
        [
            &self.timers,
            &self.loss,
            &self.congestion,
            &self.segments,
            &self.receiver,
            &self.multipath,
        ]
    }

    /// What each setting is, in order.
    #[must_use]
    pub fn fields() -> Vec<Field> {
        let groups = Settings::default();
        let groups = groups.groups();
        groups.iter().flat_map(|group| group.fields()).collect()
    }

    /// The names of all settings, in order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Settings::fields().into_iter().map(|field| field.name)
    }

    /// A setting's value as text; none where there is no such setting.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<String> {
        self.groups().iter().find_map(|group| group.get(name))
    }

    /// Sets a setting from text.
    ///
    /// # Errors
    /// When there is no such setting, or the text is no value of it.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), SettingError> {
        let groups: [&mut dyn Group; 6] = [
            &mut self.timers,
            &mut self.loss,
            &mut self.congestion,
            &mut self.segments,
            &mut self.receiver,
            &mut self.multipath,
        ];
        let set = groups.into_iter().find_map(|group| group.set(name, text));
        set.unwrap_or_else(|| Err(SettingError::unknown(name)))
    }

    /// Whether `text` is a value of the setting `name`, whatever the others are.
    ///
    /// # Errors
    /// When there is no such setting, or the text is no value of it.
    pub fn accepts(name: &str, text: &str) -> Result<(), SettingError> {
        Settings::default().set(name, text)
    }
}
