//! A setting to replay, by name: `k=2`, `k=2,min_rto=100ms`, `d=2`, `smart`, `tlp`, `no-rack`, `frto`, `rto_min=50ms`,
//! `init_rto=3s`, `no-sack`.

use core::fmt;

use rexmit_tcp::recovery::early_retransmit::flight_threshold;
use rexmit_time::Duration;

/// What a sender would have had otherwise; what is none stays as its own stack has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Setting {
    /// Factor of the deviation.
    pub k: Option<u32>,
    /// Smallest timeout; in Linux the smallest deviation term (`tcp_rto_min_us`).
    pub min_rto: Option<Duration>,
    /// Timeout before the first round-trip sample (RFC 6298 §2.1).
    pub init_rto: Option<Duration>,
    /// Gain of the deviation, as one part in two to this power.
    pub a: Option<u32>,
    /// Gain of the smoothed round-trip time, as one part in two to this power.
    pub b: Option<u32>,
    /// Factor of the smoothed round-trip time.
    pub m: Option<f64>,
    /// Duplicate acknowledgements that make a loss.
    pub d: Option<Threshold>,
    /// Tail loss probes.
    pub tlp: Option<bool>,
    /// RACK.
    pub rack: Option<bool>,
    /// Spurious retransmissions are found by timestamps, and what they did is taken back (Eifel).
    pub undo: Option<bool>,
    /// F-RTO: spurious timeouts are found, and what they did is taken back.
    pub frto: Option<bool>,
    /// Selective acknowledgements, and what needs them.
    pub sack: Option<bool>,
}

/// Duplicate acknowledgements that make a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// So many.
    Fixed(u32),
    /// max(1, min(3, F − 2)) for F segments outstanding at the loss: UNC 2007's Smart-Config.
    Smart,
}

impl Threshold {
    /// The threshold with `outstanding` segments outstanding.
    #[must_use]
    pub fn at(self, outstanding: u32) -> u32 {
        match self {
            Threshold::Fixed(threshold) => threshold,
            Threshold::Smart => flight_threshold(outstanding),
        }
    }
}

/// Why a setting was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    text: String,
    reason: String,
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "setting {:?}: {}", self.text, self.reason)
    }
}

impl std::error::Error for SettingError {}

/// What a part of a setting may be.
const ALLOWED: &str = "k=N, min_rto=TIME (or rto_min=TIME), init_rto=TIME, a=1/N, b=1/N, m=FACTOR, d=N or d=smart, smart, tlp, no-tlp, \
                       rack, no-rack, undo, no-undo, frto, no-frto, \
                       sack, no-sack, joined by commas";

impl Setting {
    /// UNC 2007's Smart-Config, section V-D.
    pub const SMART: Setting = Setting {
        k: Some(2),
        min_rto: Some(Duration::from_millis(100)),
        init_rto: None,
        a: Some(2),
        b: Some(3),
        m: None,
        d: Some(Threshold::Smart),
        tlp: None,
        rack: None,
        undo: None,
        frto: None,
        sack: None,
    };

    /// The setting that `text` names.
    ///
    /// # Errors
    /// When a part is unknown, is named twice, or its value cannot be.
    pub fn parse(text: &str) -> Result<Self, SettingError> {
        let mut setting = Setting::default();
        for part in text.split(',') {
            setting.add(part.trim()).map_err(|reason| SettingError {
                text: text.to_owned(),
                reason,
            })?;
        }
        Ok(setting)
    }

    fn add(&mut self, part: &str) -> Result<(), String> {
        let (name, value) = match part.split_once('=') {
            Some((name, value)) => (name.trim(), value.trim()),
            None => (part, ""),
        };
        let bad = |allowed: &str| format!("{name}={value}: must be {allowed}");
        match (name, value) {
            ("smart", "") => {
                let Setting {
                    k,
                    min_rto,
                    a,
                    b,
                    d,
                    ..
                } = Setting::SMART;
                put(&mut self.k, k, name)?;
                put(&mut self.min_rto, min_rto, name)?;
                put(&mut self.a, a, name)?;
                put(&mut self.b, b, name)?;
                put(&mut self.d, d, name)
            }
            ("tlp", "") => put(&mut self.tlp, Some(true), name),
            ("no-tlp", "") => put(&mut self.tlp, Some(false), name),
            ("rack", "") => put(&mut self.rack, Some(true), name),
            ("no-rack", "") => put(&mut self.rack, Some(false), name),
            ("undo", "") => put(&mut self.undo, Some(true), name),
            ("no-undo", "") => put(&mut self.undo, Some(false), name),
            ("frto", "") => put(&mut self.frto, Some(true), name),
            ("no-frto", "") => put(&mut self.frto, Some(false), name),
            ("sack", "") => put(&mut self.sack, Some(true), name),
            ("no-sack", "") => put(&mut self.sack, Some(false), name),
            (_, "") => Err(format!("{part:?} is none of {ALLOWED}")),
            ("k", _) => {
                let k = value.parse().ok().filter(|k| *k <= 64);
                put(
                    &mut self.k,
                    Some(k.ok_or_else(|| bad("a whole number up to 64"))?),
                    name,
                )
            }
            ("min_rto" | "rto_min", _) => {
                let min =
                    time(value).ok_or_else(|| bad("a time up to 60s, as in 100ms or 0.1s"))?;
                put(&mut self.min_rto, Some(min), name)
            }
            ("init_rto", _) => {
                let initial = time(value).filter(|initial| *initial > Duration::ZERO);
                let allowed = "a time of more than 0s and up to 60s, as in 3s or 500ms";
                put(
                    &mut self.init_rto,
                    Some(initial.ok_or_else(|| bad(allowed))?),
                    name,
                )
            }
            ("a" | "b", _) => {
                let shift = gain(value).ok_or_else(|| bad("1, 1/2, 1/4 and so on up to 1/1024"))?;
                let to = if name == "a" {
                    &mut self.a
                } else {
                    &mut self.b
                };
                put(to, Some(shift), name)
            }
            ("m", _) => {
                let m = value.parse().ok().filter(|m| (0.0..=16.0).contains(m));
                put(
                    &mut self.m,
                    Some(m.ok_or_else(|| bad("a number from 0 to 16"))?),
                    name,
                )
            }
            ("d", "smart") => put(&mut self.d, Some(Threshold::Smart), name),
            ("d", _) => {
                let d = value
                    .parse()
                    .ok()
                    .filter(|d| (1..=MOST_THRESHOLD).contains(d));
                let d = d.ok_or_else(|| bad("smart or a whole number from 1 to 8"))?;
                put(&mut self.d, Some(Threshold::Fixed(d)), name)
            }
            _ => Err(format!("{part:?} is none of {ALLOWED}")),
        }
    }
}

/// The largest threshold that can be replayed.
pub const MOST_THRESHOLD: u32 = 8;

fn put<T>(slot: &mut Option<T>, value: Option<T>, name: &str) -> Result<(), String> {
    if slot.is_some() && value.is_some() {
        return Err(format!("{name} sets again what was set before it"));
    }
    if value.is_some() {
        *slot = value;
    }
    Ok(())
}

/// A time as in `100ms`, `0.1s` or `5000us`, up to a minute.
fn time(text: &str) -> Option<Duration> {
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let unit = match &text[at..] {
        "s" => 1e9,
        "ms" => 1e6,
        "us" => 1e3,
        _ => return None,
    };
    let number: f64 = text[..at].trim().parse().ok()?;
    let nanos = number * unit;
    (0.0..=60e9)
        .contains(&nanos)
        .then(|| Duration::from_nanos(nanos.round() as i64))
}

/// The power of two in 1, 1/2, 1/4 … 1/1024, or in the same as a decimal number.
fn gain(text: &str) -> Option<u32> {
    let part: f64 = match text.split_once('/') {
        Some(("1", of)) => 1.0 / of.parse::<f64>().ok()?,
        Some(_) => return None,
        None => text.parse().ok()?,
    };
    (0..=10).find(|shift| part == 1.0 / f64::from(1_u32 << shift))
}

impl fmt::Display for Setting {
    /// As it is parsed; `own` when nothing differs from the sender's stack.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Setting::SMART {
            return f.write_str("smart");
        }
        let gain = |shift: &u32| match shift {
            0 => "1".to_owned(),
            _ => format!("1/{}", 1_u32 << shift),
        };
        let on = |name: &str, on: &bool| {
            if *on {
                name.to_owned()
            } else {
                format!("no-{name}")
            }
        };
        let parts: Vec<String> = [
            self.k.map(|k| format!("k={k}")),
            self.min_rto
                .map(|min| format!("min_rto={}ms", min.as_nanos() as f64 / 1e6)),
            self.init_rto
                .map(|initial| format!("init_rto={}ms", initial.as_nanos() as f64 / 1e6)),
            self.a.as_ref().map(|a| format!("a={}", gain(a))),
            self.b.as_ref().map(|b| format!("b={}", gain(b))),
            self.m.map(|m| format!("m={m}")),
            self.d.map(|d| match d {
                Threshold::Fixed(d) => format!("d={d}"),
                Threshold::Smart => "d=smart".to_owned(),
            }),
            self.tlp.as_ref().map(|tlp| on("tlp", tlp)),
            self.rack.as_ref().map(|rack| on("rack", rack)),
            self.undo.as_ref().map(|undo| on("undo", undo)),
            self.frto.as_ref().map(|frto| on("frto", frto)),
            self.sack.as_ref().map(|sack| on("sack", sack)),
        ]
        .into_iter()
        .flatten()
        .collect();
        if parts.is_empty() {
            return f.write_str("own");
        }
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_they_say() {
        let ms = |millis| Some(Duration::from_millis(millis));
        let parse = |text| Setting::parse(text).unwrap();
        assert_eq!(parse("k=2").k, Some(2));
        let both = parse("k=2, min_rto=100ms");
        assert_eq!((both.k, both.min_rto), (Some(2), ms(100)));
        assert_eq!(parse("rto_min=0.05s").min_rto, ms(50));
        assert_eq!(parse("rto_min=5000us").min_rto, ms(5));
        assert_eq!(
            (parse("a=1/32").a, parse("b=1").b, parse("a=0.25").a),
            (Some(5), Some(0), Some(2))
        );
        assert_eq!(parse("init_rto=3s").init_rto, ms(3_000));
        assert_eq!(
            (parse("no-sack").sack, parse("d=2,sack").sack),
            (Some(false), Some(true))
        );
        assert_eq!(parse("m=1.25").m, Some(1.25));
        assert_eq!(parse("d=2").d, Some(Threshold::Fixed(2)));
        assert_eq!(parse("smart"), Setting::SMART);
        assert_eq!(
            parse("no-tlp,rack"),
            Setting {
                tlp: Some(false),
                rack: Some(true),
                ..Setting::default()
            }
        );
    }

    #[test]
    fn what_is_shown_can_be_parsed() {
        for text in [
            "k=2",
            "k=2,min_rto=100ms,a=1/4,b=1",
            "d=smart",
            "smart",
            "tlp,no-rack",
            "no-undo,frto",
            "init_rto=500ms,no-sack",
            "sack",
            "m=1.25",
            "min_rto=0.5ms",
        ] {
            let setting = Setting::parse(text).unwrap();
            assert_eq!(setting.to_string(), text);
        }
        assert_eq!(Setting::default().to_string(), "own");
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_reason() {
        let error = |text: &str| Setting::parse(text).unwrap_err().to_string();
        assert_eq!(
            error("k=two"),
            "setting \"k=two\": k=two: must be a whole number up to 64"
        );
        assert_eq!(
            error("min_rto=100"),
            "setting \"min_rto=100\": min_rto=100: must be a time up to 60s, as in 100ms or 0.1s"
        );
        assert_eq!(
            error("init_rto=0s"),
            "setting \"init_rto=0s\": init_rto=0s: must be a time of more than 0s and up to 60s, as in 3s or 500ms"
        );
        assert!(error("sack,no-sack").ends_with("no-sack sets again what was set before it"));
        assert!(error("a=1/3").ends_with("must be 1, 1/2, 1/4 and so on up to 1/1024"));
        assert!(error("d=0").ends_with("must be smart or a whole number from 1 to 8"));
        assert!(error("k=2,smart").ends_with("smart sets again what was set before it"));
        assert!(error("kk=2").contains("is none of k=N, min_rto=TIME"));
        assert!(error("").contains("is none of"));
    }

    #[test]
    fn the_smart_threshold_follows_what_is_outstanding() {
        let thresholds: Vec<u32> = (0..8).map(|out| Threshold::Smart.at(out)).collect();
        assert_eq!(thresholds, [1, 1, 1, 1, 2, 3, 3, 3]);
    }
}
