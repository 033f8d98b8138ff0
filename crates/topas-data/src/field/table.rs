//! The table of fields.

use topas_format::event::Metric;
use topas_format::line::{Extras, Line};
use topas_format::number::{Count, Micros};

use super::Kind::{Class, CpuType, Day, Month, Number, PowerOfTwo, Text, Time, Week};
use super::value::{Value, of_count, of_name};
use super::{Read, Row, Unit, calendar, class, compiler, mpi};

const COUNT: super::Kind = Number(Unit::None);
const SECONDS: super::Kind = Number(Unit::Seconds);

/// Every field: tokens in the order of the line, extras, then what is derived.
pub const FIELDS: &[Row] = &[
    of("date", "day", Day, |line, _| Value::whole(line.date.days())),
    of("time", "", Time, |line, _| calendar::time(line.time)),
    of("user", "", Text, |line, _| of_name(line.user)),
    of("exe", "executable", Text, |line, _| of_name(line.exe)),
    of("pe", "rank", COUNT, |line, _| Value::whole(line.pe)),
    of("npes", "pes", COUNT, |line, _| line.npes.0.map_or(Value::Missing, Value::whole)),
    of("mhz", "", Number(Unit::Megahertz), |line, _| mhz(line)),
    of("mode", "", Text, |line, _| Value::word(line.mode.word())),
    of("lang", "language", Text, |line, _| match line.lang.word() {
        "-" => Value::Missing,
        word => Value::word(word),
    }),
    // Here `-` is a value: no message passing library.
    of("lib", "mplib", Text, |line, _| Value::word(line.lib.word())),
    of("user_time", "", SECONDS, |line, _| time(line.user_time)),
    of("sys_time", "", SECONDS, |line, _| time(line.sys_time)),
    of("wall_time", "wall", SECONDS, |line, _| time(line.wall_time)),
    of("ops", "", COUNT, |line, _| of_count(line.ops.count)),
    of("l1_miss", "", COUNT, |line, _| of_count(line.l1_miss)),
    of("id", "launch", Text, |line, _| of_name(line.id)),
    extra("v", COUNT),
    extra("t", SECONDS),
    extra("uid", COUNT),
    extra("host", Text),
    extra("job", Text),
    extra("step", Text),
    extra("end", Text),
    extra("cyc", COUNT),
    extra("ins", COUNT),
    extra("run", COUNT),
    extra("rss", Number(Unit::Bytes)),
    extra("thr", COUNT),
    extra("why", Text),
    Row {
        about: "MPI implementation and version: `Open MPI 4.1.4`; as it stands: `extra.mpi`.",
        ..of("mpi", "", Text, |_, extras| mpi::version(extras))
    },
    Row {
        about: "Compiler and major version: `gcc 12`; as it stands: `extra.cc`.",
        ..of("cc", "", Text, |_, extras| compiler::version(extras))
    },
    Row {
        about: "Partition or queue of the batch system.",
        also: "partition",
        ..extra("part", Text)
    },
    Row { about: "`run` if measured through topas-run.", ..extra("via", Text) },
    Row { about: "Processor the rank ended on, in topas.out.", ..extra("cpu", COUNT) },
    Row { about: "NUMA node the rank ended on, in topas.out.", ..extra("numa", COUNT) },
    extra("bid", Text),
    extra("cut", COUNT),
    extra("len", COUNT),
    derived("month", Month, "Month the program ended.", |line, _| calendar::month(line.date)),
    derived("week", Week, "Week the program ended, ISO 8601.", |line, _| calendar::week(line.date)),
    derived("year", COUNT, "Year the program ended.", |line, _| Value::whole(line.date.year)),
    derived("weekday", Class(&calendar::WEEKDAYS), "Day of the week it ended.", |line, _| {
        calendar::weekday(line.date)
    }),
    derived("hour", COUNT, "Hour of the day it ended, 0 to 23.", |line, _| {
        Value::whole(line.time.hour)
    }),
    derived("cputype", CpuType, "Type of processor, by its nominal MHz: `t450`.", |line, _| {
        mhz(line)
    }),
    derived("npes_class", PowerOfTwo, "Number of ranks by powers of two.", |line, _| {
        line.npes.0.map_or(Value::Missing, class::power_of_two)
    }),
    derived("wall_class", Class(&class::WALL), "Wall clock time by length.", |line, _| {
        class::wall(line.wall_time)
    }),
    derived("ending", Class(&class::ENDINGS), "How it ended: ok, failed, or by what signals.", {
        |_, extras| class::ending(extras)
    }),
    derived("compiler", Text, "Family of the compiler: `gcc`.", |_, extras| {
        compiler::family(extras)
    }),
    derived("mpi_name", Text, "MPI implementation: `Open MPI`.", |_, extras| mpi::name(extras)),
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
    derived("stores", COUNT, "Stores of this rank.", |line, _| operations(line, Metric::Stores)),
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
];

const fn of(
    name: &'static str,
    also: &'static str,
    kind: super::Kind,
    read: for<'a> fn(&Line<'a>, Extras<'a>) -> Value<'a>,
) -> Row {
    Row { name, also, kind, read: Read::Of(read), about: "" }
}

const fn extra(name: &'static str, kind: super::Kind) -> Row {
    Row { name, also: "", kind, read: Read::Extra, about: "" }
}

const fn derived(
    name: &'static str,
    kind: super::Kind,
    about: &'static str,
    read: for<'a> fn(&Line<'a>, Extras<'a>) -> Value<'a>,
) -> Row {
    Row { name, also: "", kind, read: Read::Of(read), about }
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
