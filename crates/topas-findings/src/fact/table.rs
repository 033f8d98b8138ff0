//! Facts with their kind, and what they are: of PEs, of the log, and what is common to all runs with MPI.

use topas_data::field::{FieldKind, FieldUnit};

use super::Fact;

pub(super) const TEXT: FieldKind = FieldKind::Text;
pub(super) const COUNT: FieldKind = FieldKind::Number(FieldUnit::None);
pub(super) const SECONDS: FieldKind = FieldKind::Number(FieldUnit::Seconds);
pub(super) const BYTES: FieldKind = FieldKind::Number(FieldUnit::Bytes);
pub(super) const SHARE: FieldKind = FieldKind::Number(FieldUnit::Percent);
const RATE: FieldKind = FieldKind::Number(FieldUnit::MillionPerSecond);
const FREQUENCY: FieldKind = FieldKind::Number(FieldUnit::Megahertz);

pub(super) const fn fact(name: &'static str, kind: FieldKind, about: &'static str) -> Fact {
    Fact { name, kind, about }
}

/// The facts but for those of [`MPI_FACTS`](super::mpi_table::MPI_FACTS).
pub(super) const OTHER_FACTS: &[Fact] = &[
    fact("source", TEXT, "Where the facts come from: pes (topas.out), mpi (topas-mpi.out) or log."),
    fact("pes", COUNT, "Number of PEs whose lines are known."),
    fact("npes", COUNT, "Number of PEs of the run."),
    fact("hosts", COUNT, "Number of hosts of the known PEs."),
    fact("wall", SECONDS, "Wall clock time of the run: that of the longest PE."),
    fact("pe_hours", COUNT, "PEs of the run times its wall clock time, in hours."),
    fact(
        "cpu_use",
        SHARE,
        "CPU time of the known PEs, as a share of their number times the wall clock time.",
    ),
    fact(
        "processors",
        COUNT,
        "Mean number of processors that a known PE used: CPU time by wall clock time.",
    ),
    fact("system_share", SHARE, "System time of the known PEs, as a share of their CPU time."),
    fact(
        "system_wall",
        SHARE,
        "Mean system time of a known PE, as a share of the wall clock time.",
    ),
    fact("system_time", SECONDS, "Mean system time of a known PE."),
    fact(
        "kernel_cost",
        SECONDS,
        "Mean time that a PE lost in the kernel: its system time, without what ranks of Open MPI may spend there to wait where they are more than the processors; an estimate where others had the processors.",
    ),
    fact("kernel_share", SHARE, "That time, as a share of the wall clock time."),
    fact("kernel_sum", SECONDS, "That time of all PEs together."),
    fact("kernel_cpu", SHARE, "System time without that of waiting, as a share of the CPU time."),
    fact(
        "kernel_scaled",
        SHARE,
        "The share of their time in which PEs had a processor, if that is an estimate.",
    ),
    fact("mflops", RATE, "Mean rate of floating point operations of a PE."),
    fact("l1_per_op", COUNT, "L1 data cache misses per counted operation."),
    fact("ipc", COUNT, "Instructions per cycle in user mode."),
    fact("ghz", FREQUENCY, "Cycles in user mode by user time: the frequency at which the PEs ran."),
    fact("ghz_nominal", FREQUENCY, "Nominal frequency of the processor."),
    fact("ghz_share", SHARE, "The frequency of the PEs, as a share of the nominal frequency."),
    fact("memory_largest", BYTES, "Largest resident set of a PE."),
    fact(
        "memory_of_host",
        BYTES,
        "Sum of the largest resident sets of the PEs of a host, of the host with the most.",
    ),
    fact("memory_host", TEXT, "That host."),
    fact("idle_pes", COUNT, "PEs with CPU time of less than 5 % of the wall clock time."),
    fact("idle_share", SHARE, "Those PEs, as a share of the known PEs."),
    fact(
        "shared_pes",
        COUNT,
        "PEs that were on the same processor of their host as another PE when they ended.",
    ),
    fact("imbalance_of", TEXT, "The load whose imbalance costs most."),
    fact("imbalance_pes", COUNT, "PEs with a value of this load."),
    fact("imbalance_who", TEXT, "The PE with the most of this load."),
    fact("imbalance_pe", COUNT, "The number of this PE."),
    fact("imbalance_max", TEXT, "The load of this PE, with its unit."),
    fact("imbalance_mean", TEXT, "The mean load of a PE, with its unit."),
    fact(
        "imbalance_cost",
        SECONDS,
        "Wall clock time that an even spread of this load could save at most.",
    ),
    fact("imbalance_share", SHARE, "That time, as a share of the wall clock time."),
    fact("imbalance_lost", COUNT, "That time, in PE-hours."),
    fact("imbalance_all", COUNT, "PE-hours of the PEs with a value."),
    fact(
        "imbalance_first",
        TEXT,
        "Load of the first PE, if the load goes along the numbers of the PEs.",
    ),
    fact("imbalance_last", TEXT, "Load of the last PE, likewise."),
    fact("imbalance_low", TEXT, "A quarter of the PEs has less of this load, if no PEs stand out."),
    fact("imbalance_high", TEXT, "A quarter of the PEs has more of this load, likewise."),
    fact("ending", TEXT, "How the first PE that failed by itself ended."),
    fact("ending_who", TEXT, "The PE that failed first."),
    fact("ending_after", SECONDS, "Wall clock time of this PE."),
    fact("ending_others", TEXT, "How the other PEs ended, in sentences."),
    fact("no_line", COUNT, "PEs that left no line, where every PE leaves one."),
    fact(
        "mpi_share",
        SHARE,
        "Time in MPI, as a share of the time of all ranks, if the run was profiled.",
    ),
    fact("mpi_cost", SECONDS, "Mean time of a rank in MPI, likewise."),
    fact(
        "late_share",
        SHARE,
        "Time that ranks waited for late senders, as a share of the time of all ranks, if the profile tells waits apart.",
    ),
    fact("late_cost", SECONDS, "Mean time that a rank waited for late senders, likewise."),
    fact("late_calls", COUNT, "Calls that waited for late senders, likewise."),
    fact(
        "late_routine",
        TEXT,
        "The routine with most of this time, if that is half of it or more.",
    ),
    fact("latercv_share", SHARE, "The same share of waits for late receivers."),
    fact("latercv_cost", SECONDS, "Mean time that a rank waited for late receivers."),
    fact("latercv_calls", COUNT, "Calls that waited for late receivers."),
    fact(
        "latercv_routine",
        TEXT,
        "The routine with most of this time, if that is half of it or more.",
    ),
    fact(
        "coll_share",
        SHARE,
        "The same share of waits for others in collectives, without MPI_Finalize.",
    ),
    fact("coll_cost", SECONDS, "Mean time that a rank waited for others in collectives."),
    fact("coll_calls", COUNT, "Calls that waited for others in collectives."),
    fact(
        "coll_routine",
        TEXT,
        "The routine with most of this time, if that is half of it or more.",
    ),
    fact(
        "lateunk_share",
        SHARE,
        "Time in calls of which it is not known whether they waited, as a share of the time of all ranks.",
    ),
    fact(
        "latercv_untold",
        SHARE,
        "The same with the time in blocking sends beside waits, which may wait for receivers, too.",
    ),
    fact(
        "late_error",
        SHARE,
        "Standard error of the share of waits for late senders, over slices of the run, if there is an event log.",
    ),
    fact(
        "late_when",
        TEXT,
        "The part of the run in which most of this time was waited, if that is short, as a sentence.",
    ),
    fact(
        "latercv_error",
        SHARE,
        "Standard error of the share of waits for late receivers, over slices of the run, if there is an event log.",
    ),
    fact(
        "latercv_when",
        TEXT,
        "The part of the run in which most of this time was waited, if that is short, as a sentence.",
    ),
    fact(
        "coll_error",
        SHARE,
        "Standard error of the share of waits for others in collectives, over slices of the run, if there is an event log.",
    ),
    fact(
        "coll_when",
        TEXT,
        "The part of the run in which most of this time was waited, if that is short, as a sentence.",
    ),
    fact(
        "processor_share",
        SHARE,
        "Processor time of the ranks, as a share of the time of all ranks, if the profile tells it.",
    ),
    fact(
        "preempted_rate",
        COUNT,
        "How often in a second a rank lost its processor to others or yielded it (MPIs may, while they wait), likewise.",
    ),
    fact(
        "taken_sum",
        SECONDS,
        "Time that all ranks together lacked a processor because of other programs, and what others can have waited for them meanwhile, if there are as many processors as ranks.",
    ),
    fact(
        "slices",
        COUNT,
        "Slices of the run, if there is an event log, without the first and the last one.",
    ),
    fact(
        "origin_who",
        TEXT,
        "The rank in which most of the waits arose, followed from rank to rank, if there is an event log.",
    ),
    fact("origin_share", SHARE, "Its share of all waits."),
    fact(
        "origin_second",
        TEXT,
        "Another rank in which much of the waits arose (at least 15 %), the one in which most of these did.",
    ),
    fact("origin_second_share", SHARE, "Its share of all waits."),
    fact(
        "serialisation",
        SHARE,
        "Serialisation efficiency: the largest time of a rank outside MPI, as a share of the time on a perfect network.",
    ),
    fact("serialisation_cost", SECONDS, "What is between the two."),
    fact("serialisation_sum", SECONDS, "The same times the number of ranks."),
    fact(
        "in_turn",
        TEXT,
        "That ranks depend on each other in turn, and whether they compute alike, by a replay on a perfect network, as a sentence.",
    ),
    fact(
        "comm_most",
        TEXT,
        "The communicator with most of the time in MPI, if they were counted and it is not MPI_COMM_WORLD.",
    ),
    fact("comm_share", SHARE, "Its share of the time in MPI."),
    fact(
        "window_most",
        TEXT,
        "The window with most of the time in MPI, if communicators were counted: \"window NAME\".",
    ),
    fact(
        "window_most_share",
        SHARE,
        "Its share of the time in MPI, without Win_create and Win_free.",
    ),
    fact(
        "file_most",
        TEXT,
        "The file with most of the time in MPI, if communicators were counted: \"file NAME\".",
    ),
    fact(
        "file_most_share",
        SHARE,
        "Its share of the time in MPI, without File_open and File_close.",
    ),
    fact("mpi_calls", COUNT, "Calls of MPI of all ranks, without its beginning and end."),
    fact(
        "mpi_threads",
        COUNT,
        "Threads that called MPI, if a rank had several: then shares of time in MPI are of the time of these threads, and means are of a thread.",
    ),
    fact(
        "paths_known",
        COUNT,
        "1 if call paths were counted, so that lines of the source are known, else 0.",
    ),
    fact("window_calls", COUNT, "Calls that synchronise windows."),
    fact(
        "mpi_work_share",
        SHARE,
        "The same without beginning and end of MPI, and without calls that never ended.",
    ),
    fact(
        "mpi_even_share",
        SHARE,
        "What would remain of that if all ranks computed as long: without outside_sum.",
    ),
    fact(
        "mpi_untold_share",
        SHARE,
        "What remains of mpi_work_share without waits for others, as far as these are known.",
    ),
    fact("mpi_work_cost", SECONDS, "Mean time of a rank in MPI without its beginning and end."),
    fact("mpi_work_sum", SECONDS, "The same of all ranks together."),
    fact(
        "edge_share",
        SHARE,
        "Time in MPI_Init and MPI_Finalize, as a share of the time of all ranks.",
    ),
    fact(
        "earlier_runs",
        COUNT,
        "Earlier runs of the same program by the same user on as many PEs, in the log.",
    ),
    fact("earlier_wall", SECONDS, "Median of their wall clock times."),
    fact("slower", SHARE, "Wall clock time beyond this median, as a share of the median."),
    fact("slower_by", SECONDS, "Wall clock time beyond this median."),
    fact(
        "part",
        TEXT,
        "What stands out: pe, host, numa, exe, or class. Of parts of a run only, as the following.",
    ),
    fact("part_pes", COUNT, "PEs of the part."),
    fact(
        "cpu_more",
        SHARE,
        "Median CPU time of the part beyond that of the others; 0 if it does not stand out, as the following.",
    ),
    fact("cpu_less", SHARE, "What it has less than the others, likewise."),
    fact("operations_more", SHARE, "The same of operations."),
    fact("operations_less", SHARE, "The same of operations."),
    fact("rate_more", SHARE, "The same of the rate."),
    fact("rate_less", SHARE, "The same of the rate."),
    fact("wall_more", SHARE, "The same of the wall clock time."),
    fact("wall_less", SHARE, "The same of the wall clock time."),
    fact("frequency_more", SHARE, "The same of the frequency."),
    fact("frequency_less", SHARE, "The same of the frequency."),
    fact("l1_more", SHARE, "The same of L1 misses per operation."),
    fact("l1_less", SHARE, "The same of L1 misses per operation."),
    fact("memory_more", SHARE, "The same of resident memory."),
    fact("memory_less", SHARE, "The same of resident memory."),
    fact(
        "system_more",
        SHARE,
        "System time beyond that of the others, as a share of the wall clock time.",
    ),
    fact("system_less", SHARE, "The same, less than the others."),
    fact(
        "counted",
        TEXT,
        "What the PEs counted: floating point operations, integer operations, loads or stores.",
    ),
];
