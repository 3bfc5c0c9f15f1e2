//! Events: one JSON object a line, `type` first.

use std::collections::BTreeMap;

use serde::Serialize;

/// A setting that the engine takes but does not heed, or not in the sense that its name has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ignored {
    /// The setting and its value.
    pub setting: String,
    /// What became of it.
    pub why: String,
}

/// `cell-start`: what a cell's transfers have in common.
#[derive(Debug, Serialize)]
pub struct CellStart<'a> {
    /// The cell's number.
    pub cell: u64,
    /// The engine's clock.
    pub virtual_ns: u64,
    /// The page, if it is one.
    #[serde(flatten)]
    pub page: Option<PageStart>,
    /// What was sent without loss, where the rule minds paths.
    #[serde(flatten)]
    pub rehearsed: Option<Rehearsed<'a>>,
    /// Settings as the engine has them.
    pub read_back: &'a BTreeMap<String, String>,
    /// Settings that it does not heed.
    pub ignored: &'a [Ignored],
    /// What a reader of the rows should know.
    pub warnings: &'a [String],
}

/// How long a cell's page is.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PageStart {
    /// Bytes of the page.
    pub page_bytes: u64,
    /// Bytes of the response head.
    pub head_bytes: u64,
    /// Both together.
    pub transfer_bytes: u64,
}

impl PageStart {
    /// A page and its head.
    #[must_use]
    pub const fn new(page_bytes: u64, head_bytes: u64) -> Self {
        Self {
            page_bytes,
            head_bytes,
            transfer_bytes: page_bytes + head_bytes,
        }
    }
}

/// What a cell's connections send without loss.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rehearsed<'a> {
    /// Bytes of each burst, or of the response.
    pub burst_bytes: u64,
    /// Packets of new data by burst and path.
    pub path_packets: &'a [Vec<u64>],
}

/// Where an engine's events go.
pub trait Events {
    /// Takes an event of type `kind` with the fields of `body`, a struct or a map.
    ///
    /// # Errors
    /// When it cannot be taken.
    fn event(&mut self, kind: &str, body: &impl Serialize) -> anyhow::Result<()>;
}

/// A JSON object a line.
impl Events for Vec<u8> {
    fn event(&mut self, kind: &str, body: &impl Serialize) -> anyhow::Result<()> {
        Ok(line(self, kind, body)?)
    }
}

#[derive(Serialize)]
struct Line<'a, T> {
    r#type: &'a str,
    #[serde(flatten)]
    body: &'a T,
}

/// Appends an event of type `kind` with the fields of `body`, a struct or a map, and a line feed.
///
/// # Errors
/// When `body` is neither, or cannot be written as JSON.
pub fn line(out: &mut Vec<u8>, kind: &str, body: &impl Serialize) -> serde_json::Result<()> {
    serde_json::to_writer(&mut *out, &Line { r#type: kind, body })?;
    out.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_type_and_the_body_s_fields() {
        let mut out = Vec::new();
        let body = Ignored {
            setting: "a = 1".into(),
            why: "\"b\"".into(),
        };
        line(&mut out, "kind", &body).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "{\"type\":\"kind\",\"setting\":\"a = 1\",\"why\":\"\\\"b\\\"\"}\n"
        );
    }

    #[test]
    fn a_body_without_fields_is_refused() {
        assert!(line(&mut Vec::new(), "kind", &[1, 2]).is_err());
    }
}
