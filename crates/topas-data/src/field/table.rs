//! The table of fields.

use std::sync::LazyLock;

use topas_format::event::Metric;
use topas_format::extra::ExportRule::{self, Fixed, Hashed};
use topas_format::extra::{EXTRAS, Extra, ExtraValue};
use topas_format::line::{self, Line};
use topas_format::number::{Count, Micros};

use super::FieldKind::{Class, CpuType, Day, Month, Number, PowerOfTwo, Text, Time, Week};
use super::value::{Value, of_count, of_name};
use crate::sacct::{self, SacctField};

use super::{
    FieldRow, FieldScope, FieldUnit, Read, ReadField, accelerator, calendar, class, compiler,
    mpi_version,
};

const COUNT: super::FieldKind = Number(FieldUnit::None);
const SECONDS: super::FieldKind = Number(FieldUnit::Seconds);

/// Every field: tokens in the order of the line, extras, then what is derived.
pub static FIELDS: LazyLock<Vec<FieldRow>> = LazyLock::new(|| {
    [tokens(), EXTRAS.iter().map(extra).collect(), derived_fields(), of_sacct()].concat()
});

/// Fields whose value is that of the launch, in all of its lines.
const OF_LAUNCH: &[&str] = &[
    "user",
    "exe",
    "npes",
    "mode",
    "lang",
    "lib",
    "id",
    "v",
    "uid",
    "job",
    "step",
    "part",
    "cc",
    "via",
    "bid",
    "npes_class",
    "compiler",
    "sacct.account",
    "sacct.qos",
    "sacct.state",
    "sacct.user",
    "sacct.partition",
    "sacct.timelimit",
    "sacct.elapsed",
    "sacct.cpus",
    "sacct.time_used",
    "sacct.time_class",
    "sacct.cpus_per_pe",
];

/// Fields that a run has and that its lines may tell differently: the ranks of a run end one
/// after the other, on nodes of several types, and one that a signal ended does not name the MPI.
const OF_RUN: &[&str] = &[
    "date", "time", "t", "mhz", "mpi", "gpu", "month", "week", "year", "weekday", "hour",
    "cputype", "mpi_name",
];

fn scope(name: &str) -> FieldScope {
    match name {
        "ending" | "wall_class" => FieldScope::Last,
        name if OF_LAUNCH.contains(&name) => FieldScope::Launch,
        name if OF_RUN.contains(&name) => FieldScope::Run,
        _ => FieldScope::Rank,
    }
}

/// The sixteen tokens. Each says what becomes of it in an export.
fn tokens() -> Vec<FieldRow> {
    vec![
        token("date", "day", Day, Fixed, |line, _| Value::whole(line.date.days())),
        token("time", "", Time, Fixed, |line, _| calendar::time(line.time)),
        token("user", "", Text, Hashed, |line, _| of_name(line.user)),
        token("exe", "executable", Text, Hashed, |line, _| of_name(line.exe))
            .called("Exe", "executable"),
        token("pe", "rank", COUNT, Fixed, |line, _| Value::whole(line.pe)),
        token("npes", "pes", COUNT, Fixed, |line, _| {
            line.npes.0.map_or(Value::Missing, Value::whole)
        })
        .called("PEs", "number of PEs"),
        token("mhz", "", Number(FieldUnit::Megahertz), Fixed, |line, _| mhz(line)),
        token("mode", "", Text, Fixed, |line, _| Value::word(line.mode.word())),
        token("lang", "language", Text, Fixed, |line, _| match line.lang.word() {
            "-" => Value::Missing,
            word => Value::word(word),
        })
        .called("Lang", "language"),
        FieldRow {
            dash_is_value: true,
            ..token("lib", "mplib", Text, Fixed, |line, _| Value::word(line.lib.word()))
                .called("MP-Lib", "message passing library")
        },
        token("user_time", "", SECONDS, Fixed, |line, _| time(line.user_time)),
        token("sys_time", "", SECONDS, Fixed, |line, _| time(line.sys_time)),
        token("wall_time", "", SECONDS, Fixed, |line, _| time(line.wall_time)),
        token("ops", "", COUNT, Fixed, |line, _| of_count(line.ops.count)),
        token("l1_miss", "", COUNT, Fixed, |line, _| of_count(line.l1_miss)),
        token("id", "launch", Text, Hashed, |line, _| of_name(line.id)),
    ]
}

/// A field for an extra. Two are not shown as they stand in the line, and one has a further name.
fn extra(extra: &'static Extra) -> FieldRow {
    let kind = match extra.value {
        ExtraValue::Text => Text,
        ExtraValue::Number | ExtraValue::Count | ExtraValue::Share => COUNT,
        ExtraValue::Seconds => SECONDS,
        ExtraValue::Bytes => Number(FieldUnit::Bytes),
    };
    let row = FieldRow {
        name: extra.name,
        also: "",
        kind,
        scope: scope(extra.name),
        export: Some(extra.export),
        dash_is_value: false,
        read: Read::Extra,
        about: extra.about,
        heading: extra.heading,
        title: extra.title,
    };
    match extra.name {
        "part" => FieldRow { also: "partition", ..row },
        "mpi" => FieldRow {
            read: Read::Of(|_, extras| mpi_version::version(extras)),
            about: "MPI implementation and version: `Open MPI 4.1.4`; as it stands: `extra.mpi`.",
            ..row
        },
        "cc" => FieldRow {
            read: Read::Of(|_, extras| compiler::version(extras)),
            about: "Compiler and major version: `gcc 12`; as it stands: `extra.cc`.",
            ..row
        },
        // Looked for in every line of a report, and nearly never there.
        "gpu" => FieldRow { read: Read::Of(|_, extras| accelerator::named(extras)), ..row },
        _ => row,
    }
}

/// What sacct tells of the job of a line; of nothing without `--sacct`.
fn of_sacct() -> Vec<FieldRow> {
    let text = |name, about, read| derived(name, Text, about, read);
    vec![
        text("sacct.account", "Account of the job, of --sacct.", |_, extras| {
            sacct::value(extras, SacctField::Account)
        }),
        text("sacct.qos", "Quality of service of the job, of --sacct.", |_, extras| {
            sacct::value(extras, SacctField::Qos)
        }),
        text("sacct.state", "State in which the job ended, of --sacct: `TIMEOUT`.", |_, extras| {
            sacct::value(extras, SacctField::State)
        }),
        text("sacct.user", "User of the job, of --sacct.", |_, extras| {
            sacct::value(extras, SacctField::User)
        }),
        text("sacct.partition", "Partition of the job, of --sacct.", |_, extras| {
            sacct::value(extras, SacctField::Partition)
        }),
        derived(
            "sacct.timelimit",
            SECONDS,
            "Time the job asked for, of --sacct; - if it is not limited.",
            |_, extras| sacct::value(extras, SacctField::Timelimit),
        ),
        derived("sacct.elapsed", SECONDS, "Time the job took, of --sacct.", |_, extras| {
            sacct::value(extras, SacctField::Elapsed)
        }),
        derived("sacct.cpus", COUNT, "CPUs allocated to the job, of --sacct.", |_, extras| {
            sacct::value(extras, SacctField::Cpus)
        }),
        derived(
            "sacct.time_used",
            Number(FieldUnit::Percent),
            "Time the job took by the time it asked for, of --sacct, in percent.",
            |_, extras| sacct::time_used(extras),
        ),
        derived("sacct.time_class", Class(&class::SHARES), "The same by classes.", |_, extras| {
            class::share(&sacct::time_used(extras))
        }),
        derived(
            "sacct.cpus_per_pe",
            COUNT,
            "CPUs allocated to the job by the number of ranks, of --sacct.",
            |line, extras| sacct::cpus_per_pe(extras, line.npes.0),
        ),
    ]
}

/// What follows from the tokens and extras of a line.
fn derived_fields() -> Vec<FieldRow> {
    vec![
        derived("month", Month, "Month the program ended.", |line, _| calendar::month(line.date)),
        derived("week", Week, "Week the program ended, ISO 8601.", |line, _| {
            calendar::week(line.date)
        }),
        derived("year", COUNT, "Year the program ended.", |line, _| Value::whole(line.date.year)),
        derived("weekday", Class(&calendar::WEEKDAYS), "Day of the week it ended.", |line, _| {
            calendar::weekday(line.date)
        }),
        derived("hour", COUNT, "Hour of the day it ended, 0 to 23.", |line, _| {
            Value::whole(line.time.hour)
        }),
        derived("cputype", CpuType, "Type of processor, by its nominal MHz: `t450`.", |line, _| {
            mhz(line)
        })
        .called("CPU", "type of processor"),
        derived("npes_class", PowerOfTwo, "Number of ranks by powers of two.", |line, _| {
            line.npes.0.map_or(Value::Missing, class::power_of_two)
        })
        .called("PEs", "number of PEs"),
        derived("wall_class", Class(&class::WALL), "Wall clock time by length.", |line, _| {
            class::wall(line.wall_time)
        }),
        derived(
            "ending",
            Class(&class::ENDINGS),
            "How it ended: ok, with-others, signal, limit, failed, aborted, fault.",
            |_, extras| class::ending(extras),
        ),
        derived("compiler", Text, "Family of the compiler: `gcc`.", |_, extras| {
            compiler::family(extras)
        }),
        derived("mpi_name", Text, "MPI implementation: `Open MPI`.", |_, extras| {
            mpi_version::name(extras)
        }),
        derived("metric", Text, "What `ops` counts: fpops, intops, loads, stores.", |line, _| {
            Value::word(match line.ops.metric {
                Metric::FpOps => "fpops",
                Metric::IntOps => "intops",
                Metric::Loads => "loads",
                Metric::Stores => "stores",
                _ => return Value::Missing,
            })
        }),
        derived("fpops", COUNT, "Floating point operations of this rank.", |line, _| {
            operations(line, Metric::FpOps)
        }),
        derived("intops", COUNT, "Integer operations of this rank.", |line, _| {
            operations(line, Metric::IntOps)
        }),
        derived("loads", COUNT, "Loads of this rank.", |line, _| operations(line, Metric::Loads)),
        derived("stores", COUNT, "Stores of this rank.", |line, _| {
            operations(line, Metric::Stores)
        }),
        derived("estimate", Class(&["no", "yes"]), "Whether `ops` or `l1_miss` is an estimate.", {
            |line, _| {
                let estimate = |count| matches!(count, Count::Estimate(_));
                Value::whole(u8::from(estimate(line.ops.count) || estimate(line.l1_miss)))
            }
        }),
        derived("cpu_time", SECONDS, "User and system CPU time of this rank.", |line, _| {
            Value::Number(i128::from(line.user_time.0) + i128::from(line.sys_time.0))
        }),
        derived("pe_time", SECONDS, "Number of ranks times the wall clock time of this one.", {
            |line, _| match line.npes.0 {
                Some(npes) => Value::Number(i128::from(npes) * i128::from(line.wall_time.0)),
                None => Value::Missing,
            }
        }),
    ]
}

fn token(
    name: &'static str,
    also: &'static str,
    kind: super::FieldKind,
    export: ExportRule,
    read: ReadField,
) -> FieldRow {
    let described = line::FIELDS.iter().find(|field| field.name == name);
    FieldRow {
        also,
        export: Some(export),
        ..derived(name, kind, described.map_or("", |field| field.about), read)
    }
}

fn derived(
    name: &'static str,
    kind: super::FieldKind,
    about: &'static str,
    read: ReadField,
) -> FieldRow {
    FieldRow {
        name,
        also: "",
        kind,
        scope: scope(name),
        export: None,
        dash_is_value: false,
        read: Read::Of(read),
        about,
        heading: "",
        title: "",
    }
}

fn mhz<'a>(line: &Line<'_>) -> Value<'a> {
    line.mhz.0.map_or(Value::Missing, Value::whole)
}

fn time<'a>(time: Micros) -> Value<'a> {
    Value::Number(time.0.into())
}

fn operations<'a>(line: &Line<'_>, metric: Metric) -> Value<'a> {
    if line.ops.metric == metric { of_count(line.ops.count) } else { Value::Missing }
}
