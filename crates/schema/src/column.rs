//! What is said of a column and of a table.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8 text.
    Text,
    /// Whole numbers of 64 bits.
    Integer,
    /// Floating-point numbers of 64 bits.
    Number,
    /// True or false.
    Boolean,
}

impl Kind {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
        }
    }
}

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// What it means.
    pub meaning: &'static str,
    /// Whether a row may leave it null.
    pub nullable: bool,
    /// Who asks an engine for rows knows it of all of them; an engine does not say it.
    pub known: bool,
    /// Whether a page is made of it, too: columns of trace tables that nobody keeps have no others.
    pub on_page: bool,
    /// Engines say it in microseconds, not in nanoseconds.
    micros: bool,
}

impl Column {
    const fn new(kind: Kind, name: &'static str, meaning: &'static str) -> Self {
        Column {
            name,
            kind,
            meaning,
            nullable: false,
            known: false,
            on_page: true,
            micros: false,
        }
    }

    pub(crate) const fn or_null(self) -> Self {
        Column {
            nullable: true,
            ..self
        }
    }

    pub(crate) const fn known(self) -> Self {
        Column {
            known: true,
            ..self
        }
    }

    pub(crate) const fn off_page(self) -> Self {
        Column {
            on_page: false,
            ..self
        }
    }

    pub(crate) const fn in_micros(self) -> Self {
        Column {
            micros: true,
            ..self
        }
    }

    /// What an engine's rows call it, and how many of that unit make one of the column's: engines write whole numbers.
    #[must_use]
    pub fn field(&self) -> Option<(String, u32)> {
        let named = match self.name.strip_suffix("_s") {
            Some(name) if self.micros => (format!("{name}_us"), 1_000_000),
            Some(name) => (format!("{name}_ns"), 1_000_000_000),
            None => (self.name.to_owned(), 1),
        };
        (!self.known).then_some(named)
    }

    /// The unit of its numbers, which its name tells.
    #[must_use]
    pub fn unit(&self) -> Option<&'static str> {
        match self.name.rsplit('_').next() {
            _ if !matches!(self.kind, Kind::Integer | Kind::Number) => None,
            Some("s") => Some("s"),
            Some("ns") => Some("ns"),
            Some("rtts") => Some("round-trip times"),
            Some("bytes") => Some("bytes"),
            _ if self.name.contains("bytes_") => Some("bytes"),
            _ => None,
        }
    }
}

pub(crate) const fn text(name: &'static str, meaning: &'static str) -> Column {
    Column::new(Kind::Text, name, meaning)
}

pub(crate) const fn integer(name: &'static str, meaning: &'static str) -> Column {
    Column::new(Kind::Integer, name, meaning)
}

pub(crate) const fn number(name: &'static str, meaning: &'static str) -> Column {
    Column::new(Kind::Number, name, meaning)
}

pub(crate) const fn boolean(name: &'static str, meaning: &'static str) -> Column {
    Column::new(Kind::Boolean, name, meaning)
}

/// One table.
#[derive(Debug)]
pub struct Table {
    /// Its name, which its file has.
    pub name: &'static str,
    /// What a row is, in a sentence.
    pub about: &'static str,
    /// The columns that its rows are sorted by.
    pub order: &'static [&'static str],
    /// Its columns in order, in groups that tables share.
    pub groups: &'static [&'static [Column]],
}

impl Table {
    /// Its columns, in order.
    pub fn columns(&self) -> impl Iterator<Item = &'static Column> + Clone {
        self.groups.iter().flat_map(|group| group.iter())
    }
}
