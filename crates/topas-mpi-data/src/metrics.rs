//! The metrics that K. Mohror proposed for the features of MPI-2 (Infrastructure for Performance
//! Tuning MPI Applications, Portland State University 2003, Tables 3 to 13), by her names.
//!
//! Routines belong to a metric by their class in the table of MPI, so that later ones are where
//! their like is:
//!
//! * `MPI_Rput` and its like count with `MPI_Put`. `MPI_Get_accumulate`, `MPI_Fetch_and_op` and
//!   `MPI_Compare_and_swap` are accumulate operations; what they send are bytes accumulated, what
//!   they fetch are bytes gotten, so that `rma_bytes` stays the sum of the three.
//! * `MPI_Win_lock_all`, `_unlock_all` and `_flush*` synchronize as `MPI_Win_lock` does. What
//!   never waits, `MPI_Win_post`, `_test` and `_sync`, is in no time.
//! * `MPI_File_sync` and `MPI_File_set_atomicity` are collective, and count with
//!   `MPI_File_set_view`; so do functions that make windows with `MPI_Win_create`.
//! * Non-blocking access is in the overall times only, as there: the call itself, and what calls
//!   of `MPI_Wait`, `MPI_Test` and their like took that completed it. A call that completes
//!   several kinds is of the last of receive, RMA, read, write.
//! * Operations are counted when they begin: `_begin` counts, `_end` does not.
//!
//! A time is wall clock from the entry of a call to its return, and holds whatever MPI calls in
//! between: inclusive time in the words of the thesis. What MPI does inside is not taken apart,
//! so a metric and its `_incl` are the same here. Counts are totals, not per unit time.

use topas_mpi_profile::layout::Waited;
use topas_mpi_table::{
    CallProgress, Coordination, Epoch, Function, FunctionClass, Rma, Transfer, Waits,
};

use super::routine::{RoutineAmount, RoutineCalls};
use super::sums::MpiSums;

/// Unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetricUnit {
    /// Calls
    Calls,
    /// B
    Bytes,
    /// ns of wall clock
    Nanoseconds,
}

/// A metric.
pub struct Metric {
    /// Its name in the thesis
    pub name: &'static str,
    /// Number of its table there
    pub table: u8,
    /// Its unit
    pub unit: MetricUnit,
    /// What it is, in words
    pub about: &'static str,
    /// Whether a routine belongs to it
    of: fn(&Function) -> bool,
    /// What of a routine
    what: What,
    /// Waiting for requests of these kinds belongs to it, too
    waited: &'static [Waited],
}

/// What of a routine a metric adds up.
#[derive(Clone, Copy)]
enum What {
    Calls,
    Time,
    Sent,
    Received,
    Both,
}

impl Metric {
    /// Whether a routine belongs to it.
    pub fn has(&self, function: &Function) -> bool {
        (self.of)(function)
    }

    /// Its value, of a rank or of several together.
    pub fn value(&self, sums: &MpiSums) -> RoutineAmount {
        let of = |routine: &&RoutineCalls| routine.number.function().is_some_and(self.of);
        let routines = sums.routines.iter().filter(of);
        let waited = || self.waited.iter().map(|kind| sums.waited[*kind as usize].time).sum();
        let value = match self.what {
            What::Calls => RoutineAmount::Exact(routines.map(|routine| routine.calls).sum()),
            What::Time => {
                let waited: u128 = waited();
                RoutineAmount::Exact(routines.map(|routine| routine.time).sum::<u128>() + waited)
            }
            What::Sent => routines.map(|routine| routine.sent).sum(),
            What::Received => routines.map(|routine| routine.received).sum(),
            What::Both => routines.map(RoutineCalls::bytes).sum(),
        };
        match value {
            // None was called.
            RoutineAmount::Nothing => RoutineAmount::Exact(0),
            value => value,
        }
    }
}

fn spawn(f: &Function) -> bool {
    f.class == FunctionClass::Spawn && f.waits != Waits::Nothing
}

fn put(f: &Function) -> bool {
    f.class == FunctionClass::Rma(Rma::Put)
}

fn get(f: &Function) -> bool {
    f.class == FunctionClass::Rma(Rma::Get)
}

fn accumulate(f: &Function) -> bool {
    matches!(f.class, FunctionClass::Rma(Rma::Accumulate | Rma::Fetch))
}

fn gets(f: &Function) -> bool {
    matches!(f.class, FunctionClass::Rma(Rma::Get | Rma::Fetch))
}

fn rma(f: &Function) -> bool {
    matches!(f.class, FunctionClass::Rma(_))
}

fn active(f: &Function) -> bool {
    let class = matches!(f.class, FunctionClass::RmaSynchronization(Epoch::Fence | Epoch::General));
    class && f.waits != Waits::Nothing
}

fn passive(f: &Function) -> bool {
    f.class == FunctionClass::RmaSynchronization(Epoch::Passive) && f.waits != Waits::Nothing
}

fn rma_synchronization(f: &Function) -> bool {
    let window = f.class == FunctionClass::Window && f.waits == Waits::Group;
    active(f) || passive(f) || rma(f) || window
}

/// Access to files, if it is one: direction, by whom, when it is over.
fn access(f: &Function) -> Option<(Transfer, Coordination, CallProgress)> {
    match f.class {
        FunctionClass::Io(transfer, _, coordination, progress) => {
            Some((transfer, coordination, progress))
        }
        _ => None,
    }
}

fn begins(f: &Function, which: Transfer) -> bool {
    access(f)
        .is_some_and(|(transfer, _, progress)| transfer == which && progress != CallProgress::End)
}

fn reads(f: &Function) -> bool {
    begins(f, Transfer::Read)
}

fn writes(f: &Function) -> bool {
    begins(f, Transfer::Write)
}

fn seek_shared(f: &Function) -> bool {
    f.name == "MPI_File_seek_shared"
}

fn reads_writes_seeks(f: &Function) -> bool {
    reads(f) || writes(f) || seek_shared(f) || f.name == "MPI_File_seek"
}

fn read_class(f: &Function) -> bool {
    access(f).is_some_and(|(transfer, ..)| transfer == Transfer::Read)
}

fn write_class(f: &Function) -> bool {
    access(f).is_some_and(|(transfer, ..)| transfer == Transfer::Write)
}

fn file_access(f: &Function) -> bool {
    access(f).is_some()
}

fn collective(f: &Function, which: Transfer) -> bool {
    access(f).is_some_and(|(transfer, by, progress)| {
        (transfer, by) == (which, Coordination::Together) && progress != CallProgress::Nonblocking
    })
}

fn collective_read(f: &Function) -> bool {
    collective(f, Transfer::Read)
}

fn collective_write(f: &Function) -> bool {
    collective(f, Transfer::Write)
}

/// On files as such, by all that opened them.
fn collective_file(f: &Function) -> bool {
    f.class == FunctionClass::File && f.waits == Waits::Group
}

fn collective_io(f: &Function) -> bool {
    collective_read(f) || collective_write(f) || collective_file(f)
}

fn alone(f: &Function, which: Transfer) -> bool {
    access(f) == Some((which, Coordination::Alone, CallProgress::Blocking))
}

fn alone_read(f: &Function) -> bool {
    alone(f, Transfer::Read)
}

fn alone_write(f: &Function) -> bool {
    alone(f, Transfer::Write)
}

fn alone_io(f: &Function) -> bool {
    alone_read(f) || alone_write(f)
}

fn all_io(f: &Function) -> bool {
    file_access(f) || collective_file(f)
}

const NONE: &[Waited] = &[];

macro_rules! metrics {
    ($($table:literal $name:ident $unit:ident $what:ident $of:ident $waited:expr, $about:literal;)*) => {
        /// All metrics in the order of the tables.
        pub const METRICS: &[Metric] = &[$(Metric {
            name: stringify!($name),
            table: $table,
            unit: MetricUnit::$unit,
            about: $about,
            of: $of,
            what: What::$what,
            waited: $waited,
        }),*];
    };
}

metrics! {
    3 spawn_count Calls Calls spawn NONE, "Spawning operations";
    3 spawn_time Nanoseconds Time spawn NONE, "Inclusive time in spawning operations";

    4 rma_put_ops Calls Calls put NONE, "Put operations";
    4 rma_get_ops Calls Calls get NONE, "Get operations";
    4 rma_acc_ops Calls Calls accumulate NONE, "Accumulate operations";
    4 rma_ops Calls Calls rma NONE, "Put, get and accumulate operations";

    5 rma_put_bytes Bytes Sent put NONE, "Bytes put";
    5 rma_get_bytes Bytes Received gets NONE, "Bytes gotten";
    5 rma_acc_bytes Bytes Sent accumulate NONE, "Bytes accumulated";
    5 rma_bytes Bytes Both rma NONE, "Bytes put, gotten and accumulated";

    6 at_rma_sync_wait Nanoseconds Time active NONE, "Time in active target synchronization";
    6 at_rma_sync_wait_incl Nanoseconds Time active NONE,
        "Inclusive time in active target synchronization";

    7 pt_rma_sync_wait Nanoseconds Time passive NONE, "Time in passive target synchronization";
    7 pt_rma_sync_wait_incl Nanoseconds Time passive NONE,
        "Inclusive time in passive target synchronization";

    8 rma_sync_wait Nanoseconds Time rma_synchronization &[Waited::Rma],
        "Time in RMA synchronization, data transfer, windows made and freed";
    8 rma_sync_wait_incl Nanoseconds Time rma_synchronization &[Waited::Rma],
        "Inclusive time in RMA synchronization, data transfer, windows made and freed";

    9 par_read_ops Calls Calls reads NONE, "Parallel read operations";
    9 par_write_ops Calls Calls writes NONE, "Parallel write operations";
    9 par_io_ops Calls Calls reads_writes_seeks NONE, "Parallel read, write and seek operations";

    10 par_read_bytes Bytes Received read_class NONE, "Bytes read";
    10 par_write_bytes Bytes Sent write_class NONE, "Bytes written";
    10 par_io_bytes Bytes Both file_access NONE, "Bytes read and written";

    11 cc_par_read_wait Nanoseconds Time collective_read NONE, "Time in collective reads";
    11 cc_par_read_wait_incl Nanoseconds Time collective_read NONE,
        "Inclusive time in collective reads";
    11 cc_par_write_wait Nanoseconds Time collective_write NONE, "Time in collective writes";
    11 cc_par_write_wait_incl Nanoseconds Time collective_write NONE,
        "Inclusive time in collective writes";
    11 cc_par_seek_wait Nanoseconds Time seek_shared NONE, "Time in collective seeks";
    11 cc_par_seek_wait_incl Nanoseconds Time seek_shared NONE,
        "Inclusive time in collective seeks";
    11 cc_par_io_sync_wait Nanoseconds Time collective_io NONE, "Time in collective file routines";
    11 cc_par_io_sync_incl Nanoseconds Time collective_io NONE,
        "Inclusive time in collective file routines";

    12 nc_par_read_wait Nanoseconds Time alone_read NONE, "Time in non-collective reads";
    12 nc_par_read_wait_incl Nanoseconds Time alone_read NONE,
        "Inclusive time in non-collective reads";
    12 nc_par_write_wait Nanoseconds Time alone_write NONE, "Time in non-collective writes";
    12 nc_par_write_wait_incl Nanoseconds Time alone_write NONE,
        "Inclusive time in non-collective writes";
    12 nc_par_io_sync_wait Nanoseconds Time alone_io NONE,
        "Time in non-collective reads and writes";
    12 nc_par_io_sync_incl Nanoseconds Time alone_io NONE,
        "Inclusive time in non-collective reads and writes";

    13 par_io_read_sync Nanoseconds Time read_class &[Waited::Read],
        "Time in reads, and waiting for non-blocking ones";
    13 par_io_read_sync_incl Nanoseconds Time read_class &[Waited::Read],
        "Inclusive time in reads, and waiting for non-blocking ones";
    13 par_io_write_sync Nanoseconds Time write_class &[Waited::Write],
        "Time in writes, and waiting for non-blocking ones";
    13 par_io_write_sync_incl Nanoseconds Time write_class &[Waited::Write],
        "Inclusive time in writes, and waiting for non-blocking ones";
    13 par_io_sync Nanoseconds Time all_io &[Waited::Read, Waited::Write],
        "Time in file routines that may wait, and waiting for non-blocking ones";
    13 par_io_sync_incl Nanoseconds Time all_io &[Waited::Read, Waited::Write],
        "Inclusive time in file routines that may wait, and waiting for non-blocking ones";
}

#[cfg(test)]
mod tests {
    use super::*;
    use topas_mpi_table::{find, functions};

    fn metric(name: &str) -> &'static Metric {
        METRICS.iter().find(|metric| metric.name == name).unwrap()
    }

    /// The lists of the thesis. Its Tables 9 and 13 name `iread` where the metric of writes
    /// needs `iwrite`, and none has `iread_shared` and `iwrite_shared` of its Table 1.
    #[test]
    fn metrics_have_the_functions_of_the_thesis() {
        let lists: &[(&str, &[&str])] = &[
            ("spawn_count", &["Comm_spawn", "Comm_spawn_multiple"]),
            ("rma_put_ops", &["Put"]),
            ("rma_get_ops", &["Get"]),
            ("rma_acc_ops", &["Accumulate"]),
            ("rma_ops", &["Put", "Get", "Accumulate"]),
            ("at_rma_sync_wait", &["Win_fence", "Win_start", "Win_complete", "Win_wait"]),
            ("pt_rma_sync_wait", &["Win_lock", "Win_unlock"]),
            (
                "rma_sync_wait",
                &[
                    "Win_fence",
                    "Win_create",
                    "Win_free",
                    "Win_start",
                    "Win_complete",
                    "Win_wait",
                    "Win_lock",
                    "Win_unlock",
                    "Put",
                    "Get",
                    "Accumulate",
                ],
            ),
            (
                "par_read_ops",
                &[
                    "File_read",
                    "File_read_at",
                    "File_read_all",
                    "File_read_at_all",
                    "File_iread",
                    "File_iread_at",
                    "File_read_shared",
                    "File_read_ordered",
                    "File_read_all_begin",
                    "File_read_at_all_begin",
                    "File_read_ordered_begin",
                    "File_iread_shared",
                ],
            ),
            ("par_io_ops", &["File_seek", "File_seek_shared", "File_write", "File_iread"]),
            (
                "cc_par_write_wait",
                &[
                    "File_write_all",
                    "File_write_at_all",
                    "File_write_ordered",
                    "File_write_all_begin",
                    "File_write_all_end",
                    "File_write_at_all_begin",
                    "File_write_at_all_end",
                    "File_write_ordered_begin",
                    "File_write_ordered_end",
                ],
            ),
            ("cc_par_seek_wait", &["File_seek_shared"]),
            (
                "cc_par_io_sync_wait",
                &[
                    "File_open",
                    "File_close",
                    "File_set_size",
                    "File_preallocate",
                    "File_set_info",
                    "File_set_view",
                    "File_seek_shared",
                    "File_read_all",
                ],
            ),
            ("nc_par_read_wait", &["File_read", "File_read_at", "File_read_shared"]),
            ("nc_par_write_wait", &["File_write", "File_write_at", "File_write_shared"]),
            ("par_io_read_sync", &["File_read_all", "File_iread", "File_read_ordered_begin"]),
            ("par_io_sync", &["File_open", "File_iwrite", "File_read_shared", "File_close"]),
        ];
        // Functions that MPI-2 did not have belong where their class says.
        let second = topas_mpi_table::Version::new(2, 2);
        for (name, listed) in lists {
            for function in listed.iter() {
                let (function, _) = find(&format!("MPI_{function}")).unwrap();
                assert!(metric(name).has(function), "{name} lacks {}", function.name);
            }
            // Of the longest lists above only a part is written down.
            let part = ["par_io_ops", "cc_par_io_sync_wait", "par_io_read_sync", "par_io_sync"];
            if !part.contains(name) {
                let more = functions().filter(|f| metric(name).has(f) && f.is_in(second));
                let more: Vec<_> =
                    more.filter(|f| !listed.contains(&&f.name[4..])).map(|f| f.name).collect();
                assert!(more.is_empty(), "{name} has {more:?}");
            }
        }
    }

    #[test]
    fn what_was_called_is_added_up() {
        let mut routines = super::super::Routines::default();
        let mut sums = MpiSums::default();
        let mut call = |name: &str, calls, time, sent, received| {
            let number = routines.number(name).unwrap();
            let (sent, received) = (RoutineAmount::Exact(sent), RoutineAmount::Exact(received));
            sums.routine_mut(number).add(&RoutineCalls {
                calls,
                time,
                sent,
                received,
                ..RoutineCalls::new(number)
            });
        };
        call("Put", 2, 10, 16, 0);
        call("Raccumulate", 1, 5, 8, 0);
        call("Fetch_and_op", 3, 7, 24, 24);
        call("Win_lock_all", 1, 100, 0, 0);
        call("Win_sync", 1, 1000, 0, 0);
        call("File_iread_all", 4, 40, 0, 4096);
        sums.waited[Waited::Read as usize].time = 500;
        sums.waited[Waited::Send as usize].time = 9000;
        let value = |name: &str| metric(name).value(&sums).exact().unwrap();
        assert_eq!(value("rma_ops"), 6);
        assert_eq!(value("rma_acc_ops"), 4);
        assert_eq!((value("rma_put_bytes"), value("rma_get_bytes")), (16, 24));
        assert_eq!((value("rma_acc_bytes"), value("rma_bytes")), (32, 72));
        assert_eq!((value("pt_rma_sync_wait"), value("rma_sync_wait")), (100, 122));
        assert_eq!((value("par_read_ops"), value("par_read_bytes")), (4, 4096));
        assert_eq!((value("nc_par_io_sync_wait"), value("cc_par_io_sync_wait")), (0, 0));
        assert_eq!((value("par_io_read_sync"), value("par_io_sync_incl")), (540, 540));
        assert_eq!(value("spawn_count"), 0);
    }

    #[test]
    fn bytes_of_an_unknown_mpi_are_not_zero() {
        let number = super::super::Routines::default().number("Put").unwrap();
        let mut sums = MpiSums::default();
        *sums.routine_mut(number) =
            RoutineCalls { calls: 1, sent: RoutineAmount::NotCounted, ..RoutineCalls::new(number) };
        assert_eq!(metric("rma_put_bytes").value(&sums), RoutineAmount::NotCounted);
        assert_eq!(metric("rma_get_bytes").value(&sums), RoutineAmount::Exact(0));
    }
}
