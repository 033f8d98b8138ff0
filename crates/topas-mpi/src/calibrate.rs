//! `topas-mpi calibrate`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use topas_config::Environment;
use topas_data::{Outputs, Source};
use topas_mpi_data::{Calibration, CalibrationError, RoutineCost};
use topas_terminal::Printed;

use crate::args::Calibrate;
use crate::collectives;
use crate::locate::candidates;
use crate::opened_mpi::{NAME_ROOM, OpenedMpi};
use crate::sys::text_in;
use crate::{TOOL, exit};

/// Time that a repetition should take.
const REPETITION: Duration = Duration::from_millis(4);

/// Time for all repetitions of a measurement, if three are done.
const MEASUREMENT: Duration = Duration::from_secs(1);

/// Bytes that MPIs add to each message in the buffer of `MPI_Bsend`, at most.
const BUFFERED: usize = 4096;

/// Spread from which a measurement is told to be unsteady.
const UNSTEADY: f64 = 0.5;

/// Calibrates: the exit code.
pub fn run(options: &Calibrate, env: &Environment) -> u8 {
    let tried = options.mpi.clone().map_or_else(|| candidates(env), |path| vec![path]);
    let mut causes = Vec::new();
    let mpi = tried.iter().find_map(|path| {
        OpenedMpi::open(path)
            .map_err(|cause| causes.push(format!("{}: {cause}", path.display())))
            .ok()
    });
    let Some(mpi) = mpi else {
        let what = "there is no MPI library to be opened";
        let hint = "load the module of the MPI, or name its library: --mpi DIR/libmpi.so";
        TOOL.error(&what, Some(&causes.join("; ")), hint);
        return exit::NO_MPI;
    };
    mpi.init();
    let (rank, ranks) = (mpi.rank(), mpi.ranks());
    if ranks < 2 {
        let what = format!("{} sees one rank, and two are the least", mpi.name);
        let hint = "start it with the launcher of that MPI: mpirun -n 2 topas-mpi calibrate; or \
                    name the library of the launcher by --mpi";
        TOOL.error(&what, None, hint);
        mpi.finalize();
        return exit::NO_MPI;
    }
    // Rank 0 writes, and alone can tell what is there.
    let kept = options.output.as_ref().filter(|_| rank == 0).and_then(|path| {
        // The library may be a file of the user's own.
        let inputs: Vec<Source> = tried.iter().cloned().map(Source::File).collect();
        Outputs::new(&inputs, options.force).add(path).err().inspect(|kept| TOOL.kept(kept))
    });
    let mut ends = [u8::from(kept.is_some())];
    mpi.broadcast(&mut ends);
    if ends == [1] {
        mpi.finalize();
        return exit::USAGE;
    }
    let bench = Bench { mpi: &mpi, rank, ranks, repetitions: options.repetitions as usize };
    let hosts = bench.hosts();
    let mut costs = Vec::new();
    bench.point_to_point(options.longest, &mut costs);
    collectives::measure(&bench, options.longest, &mut costs);
    mpi.barrier();
    let code = if rank == 0 { bench.write(options, hosts, costs) } else { exit::OK };
    mpi.finalize();
    code
}

/// Measures, all ranks together.
pub struct Bench<'m> {
    /// The MPI
    pub mpi: &'m OpenedMpi,
    /// Own rank
    pub rank: u32,
    /// Ranks of the world
    pub ranks: u32,
    repetitions: usize,
}

/// Median and quartiles, in s.
#[derive(Clone, Copy)]
pub struct Time {
    median: f64,
    spread: f64,
}

impl Time {
    /// None of no values.
    fn of(mut values: Vec<f64>) -> Option<Time> {
        values.sort_by(f64::total_cmp);
        // Hyndman and Fan's type 7.
        let quantile = |p: f64| {
            let place = p * (values.len() - 1) as f64;
            let (low, part) = (place as usize, place.fract());
            let next = values.get(low + 1).unwrap_or(&values[low]);
            values[low] + (next - values[low]) * part
        };
        if values.is_empty() {
            return None;
        }
        let median = quantile(0.5);
        let spread = if median > 0.0 { (quantile(0.75) - quantile(0.25)) / median } else { 0.0 };
        Some(Time { median, spread })
    }
}

impl Bench<'_> {
    fn hosts(&self) -> Vec<Box<str>> {
        let mut all = vec![0; NAME_ROOM * self.ranks as usize];
        self.mpi.gather(&self.mpi.node(), &mut all);
        let mut hosts: Vec<Box<str>> =
            all.chunks(NAME_ROOM).map(|name| text_in(name).into()).collect();
        hosts.sort();
        hosts.dedup();
        hosts
    }

    /// How often to call what takes so long, as rank 0 says.
    fn calls(&self, took: Duration) -> u32 {
        let one = took.as_nanos().max(1);
        let calls = (REPETITION.as_nanos() / one).clamp(3, 2000) as u32;
        let mut bytes = calls.to_ne_bytes();
        self.mpi.broadcast(&mut bytes);
        u32::from_ne_bytes(bytes)
    }

    /// The time of a call by ranks 0 and 1, as rank 0 measures it: `run` makes so many calls and
    /// says how long they took.
    fn pair(&self, mut run: impl FnMut(u32) -> Duration) -> Option<Time> {
        let pair = self.rank < 2;
        let mut took = |calls: u32| {
            self.mpi.barrier();
            if pair { run(calls) } else { Duration::ZERO }
        };
        took(5);
        let warm = took(5) / 5;
        let calls = self.calls(warm);
        Time::of(self.repeat(|| took(calls).as_secs_f64() / f64::from(calls)))
    }

    /// The time of a call by all ranks together, the mean over them: after a barrier each, so
    /// that nobody is ahead.
    pub fn together(&self, mut call: impl FnMut()) -> Option<Time> {
        let mut run = |calls: u32| {
            let mut took = Duration::ZERO;
            for _ in 0..calls {
                self.mpi.barrier();
                let begin = Instant::now();
                call();
                took += begin.elapsed();
            }
            took
        };
        run(5);
        let warm = run(5) / 5;
        let calls = self.calls(warm);
        let means = self.repeat(|| {
            let own = run(calls).as_secs_f64() / f64::from(calls);
            let mut all = vec![0; 8 * self.ranks as usize];
            self.mpi.gather(&own.to_ne_bytes(), &mut all);
            let times = all
                .chunks_exact(8)
                .map(|bytes| f64::from_ne_bytes(bytes.first_chunk().copied().unwrap_or_default()));
            times.sum::<f64>() / f64::from(self.ranks)
        });
        Time::of(means)
    }

    /// What repetitions measure: as many as are wanted, or fewer if they take too long. Rank 0
    /// says when it is enough.
    fn repeat(&self, mut measure: impl FnMut() -> f64) -> Vec<f64> {
        let begin = Instant::now();
        let mut values = Vec::new();
        let mut goes_on = [1];
        while goes_on == [1] {
            values.push(measure());
            let enough = values.len() >= self.repetitions
                || values.len() >= 3 && begin.elapsed() > MEASUREMENT;
            goes_on = [u8::from(!enough)];
            self.mpi.broadcast(&mut goes_on);
        }
        values
    }

    /// A cost from the times of a short and a long call that moves `bytes` more.
    pub fn cost(
        &self,
        routine: &str,
        ranks: u32,
        short: Option<Time>,
        long: Option<(Option<Time>, f64)>,
    ) -> Option<RoutineCost> {
        let short = short?;
        let bandwidth = long.and_then(|(time, bytes)| {
            let more = time?.median - short.median;
            (more > 0.0).then(|| bytes / more / 1e6)
        });
        Some(RoutineCost {
            routine: routine.into(),
            ranks,
            latency: short.median * 1e6,
            bandwidth,
            spread: Some(short.spread),
        })
    }

    /// Between ranks 0 and 1: half of a round trip.
    fn point_to_point(&self, longest: usize, costs: &mut Vec<RoutineCost>) {
        let (mpi, rank) = (self.mpi, self.rank);
        let other = 1 - rank.min(1);
        let long_data = vec![1u8; longest];
        let mut long_room = vec![0u8; longest];
        let mut attached = vec![0u8; 2 * longest + 64 * BUFFERED];

        let mut one_way = |function: &str, bytes: usize| {
            let (data, room) = (&long_data[..bytes], &mut long_room[..bytes]);
            self.pair(|calls| {
                let begin = Instant::now();
                for _ in 0..calls {
                    if rank == 0 {
                        mpi.send(function, data, other);
                        mpi.receive(room, other);
                    } else {
                        mpi.receive(room, other);
                        mpi.send(function, data, other);
                    }
                }
                begin.elapsed() / 2
            })
        };
        let zero = one_way("MPI_Send", 0);
        let long = one_way("MPI_Send", longest);
        for routine in ["Send", "Recv", "Mrecv"] {
            costs.extend(self.cost(routine, 2, zero, Some((long, longest as f64))));
        }
        // What waits for a message that is on its way.
        for routine in ["Wait", "Waitall", "Waitany", "Waitsome", "Probe", "Mprobe"] {
            costs.extend(self.cost(routine, 2, zero, None));
        }
        mpi.attach(&mut attached);
        for routine in ["Ssend", "Bsend"] {
            let function = format!("MPI_{routine}");
            let (short, long) = (one_way(&function, 0), one_way(&function, longest));
            costs.extend(self.cost(routine, 2, short, Some((long, longest as f64))));
        }
        mpi.detach();

        let mut exchange = |bytes: usize| {
            let (data, room) = (&long_data[..bytes], &mut long_room[..bytes]);
            self.pair(|calls| {
                let begin = Instant::now();
                for _ in 0..calls {
                    mpi.exchange(data, room, other);
                }
                begin.elapsed()
            })
        };
        let (short, long) = (exchange(0), exchange(longest));
        for routine in ["Sendrecv", "Sendrecv_replace"] {
            costs.extend(self.cost(routine, 2, short, Some((long, longest as f64))));
        }

        // The calls that only begin something, by themselves.
        let clock = clock_cost();
        let mut begins = |sends: bool| {
            self.pair(|calls| {
                let mut took = Duration::ZERO;
                for _ in 0..calls {
                    let room = &mut long_room[..0];
                    let begin = Instant::now();
                    let receive = mpi.begin_receive(room, other);
                    let between = Instant::now();
                    let send = mpi.begin_send(&long_data[..0], other);
                    let end = Instant::now();
                    mpi.wait(send);
                    mpi.wait(receive);
                    let own = if sends { end - between } else { between - begin };
                    took += own.saturating_sub(clock);
                }
                took
            })
        };
        for (routine, sends) in [("Isend", true), ("Irecv", false)] {
            let time = begins(sends);
            costs.extend(self.cost(routine, 2, time, None));
        }
    }

    /// Writes the file, or prints it.
    fn write(&self, options: &Calibrate, hosts: Vec<Box<str>>, costs: Vec<RoutineCost>) -> u8 {
        let mut calibration = Calibration::new(&self.mpi.name, hosts, options.longest as u64);
        if options.add
            && let Some(path) = &options.output
        {
            match Calibration::read(path) {
                Ok(old) => {
                    let measured = |cost: &RoutineCost| {
                        let same = |new: &RoutineCost| {
                            (&new.routine, new.ranks) == (&cost.routine, cost.ranks)
                        };
                        costs.iter().any(same)
                    };
                    calibration.costs = old.costs.into_iter().filter(|c| !measured(c)).collect();
                }
                Err(CalibrationError::File(cause))
                    if cause.kind() == std::io::ErrorKind::NotFound => {}
                Err(cause) => {
                    let what = format!("cannot add to {}", path.display());
                    TOOL.error(&what, Some(&cause), "write another file, or do without --add");
                    return exit::FAILED;
                }
            }
        }
        let unsteady: Vec<&str> = costs
            .iter()
            .filter(|cost| cost.spread.is_some_and(|spread| spread > UNSTEADY))
            .map(|cost| &*cost.routine)
            .collect();
        if !unsteady.is_empty() {
            let what = format!("these varied by more than half: {}", unsteady.join(" "));
            TOOL.warning(&what, None, "other programs may have run; calibrate on idle nodes");
        }
        calibration.costs.extend(costs);
        let text = calibration.text();
        let printed = match &options.output {
            Some(path) => TOOL.saved(path, Outputs::save(path, text.as_bytes())),
            None => TOOL.print(text.as_bytes()),
        };
        match printed {
            Printed::Done => exit::OK,
            Printed::Failed => exit::FAILED,
        }
    }
}

/// Time from one reading of the clock to the next.
fn clock_cost() -> Duration {
    let readings = (0..1000).map(|_| {
        let begin = black_box(Instant::now());
        black_box(Instant::now()) - begin
    });
    readings.min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_counts_and_quartiles_tell_the_spread() {
        let time = Time::of(vec![4.0, 1.0, 3.0, 2.0, 100.0]).unwrap();
        assert_eq!((time.median, time.spread), (3.0, 2.0 / 3.0));
        assert_eq!(Time::of(vec![7.0]).unwrap().median, 7.0);
        assert!(Time::of(Vec::new()).is_none());
    }
}
