//! A file of runs in the form of Apache Parquet: a column each for what is told of a run, whose values
//! are absent where nothing was measured. Compressed by zstd.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use topas_data::field::{FieldKind, FieldUnit, MILLION, Value, label};
use topas_data::{Output, RunColumn, RunRow, RunValue};
use topas_format::extra::{EXTRAS, ExtraValue};
use topas_render::runs::unit;

/// Rows of a row group: what readers skip or read at once.
const GROUP: usize = 1 << 17;

/// How the values of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    /// UTF-8; other bytes are escaped as in CSV
    Text,
    /// 64 bit integers
    Whole,
    /// Floating point numbers in the unit of the column
    Real,
    /// Local time of the site in µs since 1970-01-01
    Moment,
}

impl Stored {
    fn of(column: &RunColumn) -> Stored {
        let is_share =
            |extra: &topas_format::extra::Extra| matches!(extra.value, ExtraValue::Share);
        match (column, column.kind()) {
            (RunColumn::Ended | RunColumn::Started, _) => Stored::Moment,
            (RunColumn::Field(field), _)
                if EXTRAS.iter().any(|extra| extra.name == field.name() && is_share(extra)) =>
            {
                Stored::Real
            }
            (_, Some(FieldKind::Number(FieldUnit::None | FieldUnit::Bytes))) => Stored::Whole,
            (_, None | Some(FieldKind::Number(_))) => Stored::Real,
            _ => Stored::Text,
        }
    }

    fn schema(self, name: &str) -> Result<Type, ParquetError> {
        let (physical, logical) = match self {
            Stored::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            Stored::Whole => (PhysicalType::INT64, None),
            Stored::Real => (PhysicalType::DOUBLE, None),
            Stored::Moment => {
                (PhysicalType::INT64, Some(LogicalType::timestamp(false, TimeUnit::MICROS)))
            }
        };
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
    }
}

/// The file while it is written.
pub struct RunsFile<'p> {
    columns: &'p [RunColumn],
    writer: SerializedFileWriter<Output>,
}

impl<'p> RunsFile<'p> {
    /// Begins a file of these columns. Their units are in the metadata of the file: `unit.NAME`.
    ///
    /// # Errors
    ///
    /// What writing says.
    pub fn create(output: Output, columns: &'p [RunColumn]) -> io::Result<Self> {
        let fields: Result<Vec<TypePtr>, ParquetError> = columns
            .iter()
            .map(|column| Stored::of(column).schema(column.name()).map(Arc::new))
            .collect();
        let schema = Type::group_type_builder("run")
            .with_fields(fields.map_err(io_error)?)
            .build()
            .map_err(io_error)?;
        let units = columns.iter().filter(|column| !unit(column).is_empty()).map(|column| {
            KeyValue::new(format!("unit.{}", column.name()), unit(column).to_owned())
        });
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(Default::default()))
            .set_created_by(format!("topas-report {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(units.collect()))
            .build();
        let writer = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties));
        Ok(RunsFile { columns, writer: writer.map_err(io_error)? })
    }

    /// Adds rows.
    ///
    /// # Errors
    ///
    /// What writing says.
    pub fn rows(&mut self, rows: &[RunRow]) -> io::Result<()> {
        rows.chunks(GROUP).try_for_each(|rows| self.group(rows)).map_err(io_error)
    }

    fn group(&mut self, rows: &[RunRow]) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for (at, column) in self.columns.iter().enumerate() {
            let cells = rows.iter().map(|row| &row.cells[at]);
            match Stored::of(column) {
                Stored::Text => put::<ByteArrayType>(&mut group, cells.map(|c| text(column, c)))?,
                Stored::Whole => put::<Int64Type>(&mut group, cells.map(whole))?,
                Stored::Real => put::<DoubleType>(&mut group, cells.map(real))?,
                Stored::Moment => put::<Int64Type>(&mut group, cells.map(moment))?,
            }
        }
        group.close().map(drop)
    }

    /// Makes the file visible.
    ///
    /// # Errors
    ///
    /// What writing says; a file that was there before still is.
    pub fn finish(self) -> io::Result<()> {
        let mut output = self.writer.into_inner().map_err(io_error)?;
        output.flush()?;
        output.finish()
    }
}

/// Writes the next column; None are the values that are absent.
fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Output>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for cell in cells {
        levels.push(i16::from(cell.is_some()));
        values.extend(cell);
    }
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("there is no further column".to_owned()));
    };
    column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    column.close()
}

fn text(column: &RunColumn, cell: &RunValue) -> Option<ByteArray> {
    let text = match cell {
        RunValue::Missing | RunValue::Ratio(_) => return None,
        RunValue::Text(text) => label(FieldKind::Text, &Value::Text(text[..].into())),
        RunValue::Number(number) => label(column.kind()?, &Value::Number(*number)),
    };
    Some(text.into_bytes().into())
}

/// Beyond 64 bits there is no such count.
fn whole(cell: &RunValue) -> Option<i64> {
    match cell {
        RunValue::Number(number) => i64::try_from(number / MILLION).ok(),
        _ => None,
    }
}

fn real(cell: &RunValue) -> Option<f64> {
    match cell {
        RunValue::Number(number) => Some(*number as f64 / MILLION as f64),
        RunValue::Ratio(value) => Some(*value),
        _ => None,
    }
}

fn moment(cell: &RunValue) -> Option<i64> {
    match cell {
        RunValue::Number(micros) => i64::try_from(*micros).ok(),
        _ => None,
    }
}

fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        error => io::Error::other(error),
    }
}
