//! What a Parquet file says of itself, before anything in it is unpacked.
//!
//! A footer of a few kilobytes can name one page a million times, and types within types: over such a file a reader runs out of
//! memory, or of its stack. Tables of ours have plain columns, whose pages lie apart.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use polars_parquet_format::thrift::protocol::TCompactInputProtocol;
use polars_parquet_format::{
    ColumnMetaData, FieldRepetitionType, FileMetaData, PageHeader, PageType, RowGroup,
    SchemaElement, Type,
};

use crate::error::Error;

/// Bytes of a footer at most: it is read whole, into ten times as much memory.
const MOST_FOOTER: u64 = 64 << 20;

/// Columns at most.
const MOST_COLUMNS: usize = 1_000;

/// Bytes of the header of a page at most; it has the least and the largest of its texts.
const MOST_HEADER: usize = 1 << 20;

const MAGIC: &[u8; 4] = b"PAR1";

/// Rows of a file, and bytes that they take in memory: all together, and those of the largest group.
pub fn size(path: &Path) -> Result<(u64, u64, u64), Error> {
    let mut input = BufReader::new(File::open(path)?);
    let length = input.seek(SeekFrom::End(0))?;
    let (footer, end) = footer(&mut input, length)?;
    let widths = widths(&footer.schema)?;
    let (mut rows, mut bytes, mut largest, mut packed) = (0_u64, 0_u64, 0, 0_u64);
    for group in &footer.row_groups {
        let taken = of_group(&mut input, group, &widths, end, &mut packed)?;
        rows = rows.saturating_add(whole(group.num_rows)?);
        bytes = bytes.saturating_add(taken);
        largest = largest.max(taken);
    }
    if rows != whole(footer.num_rows)? {
        return Err(broken("its groups have other rows than the whole"));
    }
    Ok((rows, bytes, largest))
}

fn broken(what: &str) -> Error {
    Error::plan(format_args!("{what}"))
}

/// A number that counts something.
fn whole(number: i64) -> Result<u64, Error> {
    u64::try_from(number).map_err(|_| broken("it has a number below 0"))
}

/// The footer, and where it begins.
fn footer(input: &mut (impl Read + Seek), length: u64) -> Result<(FileMetaData, u64), Error> {
    const TAIL: u64 = 8;
    let no_table = || broken("it is no Parquet file");
    let tail_at = length.checked_sub(TAIL).ok_or_else(no_table)?;
    input.seek(SeekFrom::Start(tail_at))?;
    let (mut size, mut magic) = ([0; 4], [0; 4]);
    input.read_exact(&mut size)?;
    input.read_exact(&mut magic)?;
    let size = u64::from(u32::from_le_bytes(size));
    let end = tail_at.checked_sub(size).filter(|_| magic == *MAGIC);
    let end = end.ok_or_else(no_table)?;
    if size > MOST_FOOTER {
        return Err(broken("its footer is larger than 64 MiB"));
    }
    input.seek(SeekFrom::Start(end))?;
    // A value takes more memory than bytes in the file.
    let most = 16 * MOST_FOOTER as usize;
    let mut protocol = TCompactInputProtocol::new(input.take(size), most);
    let footer = FileMetaData::read_from_in_protocol(&mut protocol)
        .map_err(|error| broken(&format!("its footer is none: {error}")))?;
    Ok((footer, end))
}

/// Bytes that a value of each column takes.
fn widths(schema: &[SchemaElement]) -> Result<Vec<u64>, Error> {
    let Some((root, columns)) = schema.split_first() else {
        return Err(broken("it has no schema"));
    };
    if columns.len() > MOST_COLUMNS {
        return Err(broken("it has more than 1,000 columns"));
    }
    let is_flat = root.num_children == i32::try_from(columns.len()).ok();
    let width = |column: &SchemaElement| {
        let is_plain = column.num_children.unwrap_or(0) == 0
            && column.repetition_type != Some(FieldRepetitionType::REPEATED);
        let width = match column.type_? {
            Type::BOOLEAN => 1,
            // A view of a text, which itself lies in its page.
            Type::BYTE_ARRAY => 16,
            Type::FIXED_LEN_BYTE_ARRAY => {
                16 + u64::try_from(column.type_length.unwrap_or(0)).ok()?
            }
            _ => 8,
        };
        (is_plain && is_flat).then_some(width)
    };
    let all: Option<Vec<_>> = columns.iter().map(width).collect();
    all.ok_or_else(|| broken("it has columns within columns"))
}

/// Bytes that the rows of a group take; those in the file are added to `packed`.
fn of_group(
    input: &mut (impl Read + Seek),
    group: &RowGroup,
    widths: &[u64],
    end: u64,
    packed: &mut u64,
) -> Result<u64, Error> {
    let rows = whole(group.num_rows)?;
    if group.columns.len() != widths.len() {
        return Err(broken("a group of it has other columns than its schema"));
    }
    let mut bytes = 0_u64;
    for (column, width) in group.columns.iter().zip(widths) {
        let Some(about) = column.meta_data.as_ref() else {
            return Err(broken("a column of it is not described"));
        };
        let begin = about
            .dictionary_page_offset
            .filter(|&at| at > 0)
            .map_or(about.data_page_offset, |at| at.min(about.data_page_offset));
        let (begin, length) = (whole(begin)?, whole(about.total_compressed_size)?);
        *packed = packed.saturating_add(length);
        if begin.saturating_add(length) > end || *packed > end {
            return Err(broken("columns of it lie in one another"));
        }
        let pages = pages(input, about, begin, begin + length, rows)?;
        bytes = bytes
            .saturating_add(pages)
            .saturating_add(rows.saturating_mul(*width));
    }
    Ok(bytes)
}

/// Bytes that the pages of a column unpack to.
fn pages(
    input: &mut (impl Read + Seek),
    about: &ColumnMetaData,
    mut at: u64,
    end: u64,
    rows: u64,
) -> Result<u64, Error> {
    let (mut bytes, mut values) = (0_u64, 0_u64);
    input.seek(SeekFrom::Start(at))?;
    while at < end {
        let mut protocol = TCompactInputProtocol::new(&mut *input, MOST_HEADER);
        let page = PageHeader::read_from_in_protocol(&mut protocol)
            .map_err(|error| broken(&format!("a page of it is none: {error}")))?;
        let [packed, unpacked] = [page.compressed_page_size, page.uncompressed_page_size];
        let packed = whole(packed.into())?;
        bytes = bytes.saturating_add(whole(unpacked.into())?);
        let plain = page.data_page_header.as_ref().map(|head| head.num_values);
        let second = page.data_page_header_v2.as_ref();
        let count = plain.or(second.map(|head| head.num_values));
        if page.type_ != PageType::DICTIONARY_PAGE {
            values = values.saturating_add(whole(count.unwrap_or(0).into())?);
        }
        let step = i64::try_from(packed).map_err(|_| broken("a page of it is too long"))?;
        at = input.seek(SeekFrom::Current(step))?;
    }
    if at != end || values != rows || whole(about.num_values)? != rows {
        return Err(broken("pages of it have other values than the whole"));
    }
    Ok(bytes)
}
