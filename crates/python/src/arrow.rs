//! Tables as Arrow, which Python takes without a copy.

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ffi::FFI_ArrowArray;
use arrow_data::{ArrayData, ByteView, MAX_INLINE_VIEW_LEN};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rexmit_schema::values::{Column, Table, Texts, Values};

/// Rows of one table: a struct array of the Arrow PyCapsule interface, as record batches are.
#[pyclass(frozen, module = "rexmit._core")]
pub struct Batch(ArrayData);

#[pymethods]
impl Batch {
    /// The rows as the capsules `arrow_schema` and `arrow_array`.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // A producer may leave a wish for other types unheard.
        drop(requested_schema);
        let schema = FFI_ArrowSchema::try_from(self.0.data_type()).map_err(crate::Error::plan)?;
        let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
        let array = FFI_ArrowArray::new(&self.0);
        Ok((
            schema,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}

impl Batch {
    /// The rows of a table, whose buffers are taken over.
    pub fn new(table: Table) -> Result<Self, ArrowError> {
        let rows = table.columns.first().map_or(0, |one| one.values.len());
        let mut fields = Vec::with_capacity(table.columns.len());
        let mut arrays = Vec::with_capacity(table.columns.len());
        for column in table.columns {
            let array = array(column.values)?;
            let Column { declared, .. } = column;
            fields.push(Field::new(
                declared.name,
                array.data_type().clone(),
                declared.nullable,
            ));
            arrays.push(array);
        }
        let kind = DataType::Struct(fields.into());
        let made = ArrayData::builder(kind).len(rows).child_data(arrays);
        made.build().map(Batch)
    }
}

fn array(values: Values) -> Result<ArrayData, ArrowError> {
    let rows = values.len();
    let (kind, buffers, nulls) = match values {
        Values::Integer(values, mask) => {
            let nulls = mask.and_then(|mask| nulls(rows, |row| mask[row]));
            (DataType::Int64, vec![Buffer::from_vec(values)], nulls)
        }
        Values::Number(values) => {
            let nulls = nulls(rows, |row| !values[row].is_nan());
            (DataType::Float64, vec![Buffer::from_vec(values)], nulls)
        }
        Values::Boolean(values, mask) => {
            let nulls = mask.and_then(|mask| nulls(rows, |row| mask[row]));
            let bits = BooleanBuffer::collect_bool(rows, |row| values[row]);
            (DataType::Boolean, vec![bits.into_inner()], nulls)
        }
        Values::Text(places, texts) => {
            let nulls = nulls(rows, |row| places[row] >= 0);
            (DataType::Utf8View, views(&places, texts), nulls)
        }
    };
    let made = ArrayData::builder(kind).len(rows).buffers(buffers);
    made.nulls(nulls).build()
}

/// Which rows have a value, if there are others.
fn nulls(rows: usize, there: impl Fn(usize) -> bool) -> Option<NullBuffer> {
    let nulls = NullBuffer::new(BooleanBuffer::collect_bool(rows, there));
    Some(nulls).filter(|nulls| nulls.null_count() > 0)
}

/// For each row a view of its text, and all texts: a text of many rows is there once.
fn views(places: &[i32], texts: Texts) -> Vec<Buffer> {
    let mut start = 0;
    let view = |end: &usize| {
        let text = &texts.all.as_bytes()[start..*end];
        let offset = core::mem::replace(&mut start, *end);
        let length = text.len() as u32;
        if length > MAX_INLINE_VIEW_LEN {
            return ByteView::new(length, &text[..4])
                .with_offset(offset as u32)
                .as_u128();
        }
        let mut view = [0; 16];
        view[..4].copy_from_slice(&length.to_le_bytes());
        view[4..4 + text.len()].copy_from_slice(text);
        u128::from_le_bytes(view)
    };
    let each: Vec<u128> = texts.ends.iter().map(view).collect();
    let of = |place: &i32| usize::try_from(*place).map_or(0, |place| each[place]);
    let views: Vec<u128> = places.iter().map(of).collect();
    vec![
        Buffer::from_vec(views),
        Buffer::from_vec(texts.all.into_bytes()),
    ]
}
