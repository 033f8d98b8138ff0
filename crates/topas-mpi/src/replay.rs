//! `topas-mpi replay`: a run on another network, from its event log.

mod data;

use std::fmt::Write as _;
use std::io;
use std::time::Instant;

use topas_format::shown::Shown;
use topas_mpi_data::{
    AsMeasured, Calibration, Network, PopFactors, Replay, ReplayTimes, ReplayedRoutine, TraceLog,
    launches_in, processors_of, replay, unfinished_ranks,
};
use topas_terminal::Printed;

use crate::args::Replay as Options;
use crate::trace::{DAMAGED_HINT, warn};
use crate::{TOOL, exit, launch};
use data::{object, ranks_csv, routines_csv};

/// Rows of a table for people; data have all.
const ROWS: usize = 32;

/// Nanoseconds of a second.
const NS: f64 = 1e9;

/// What was replayed.
struct Shows {
    launch: String,
    launches: usize,
    /// Ranks that did not come to `MPI_Finalize`
    unfinished: Vec<u32>,
    network: Network,
    /// On the network that is asked for
    model: Replay,
    /// On the perfect one, with processors as they are
    perfect: Replay,
    /// Wall clock time of the replay in s
    took: f64,
}

/// Replays: the exit code.
pub fn run(options: &Options) -> u8 {
    let network = match network(options) {
        Ok(network) => network,
        Err(code) => return code,
    };
    let mut logs = Vec::new();
    for path in &options.files {
        match TraceLog::open(path) {
            Ok(log) if !log.processes.is_empty() => {
                warn(path, &log);
                logs.push(log);
            }
            Ok(_) => {
                let what = format!("{} holds no event log", Shown(path_bytes(path)));
                TOOL.error(&what, None, "name logs that topas-run --mpi=log wrote");
                return exit::FAILED;
            }
            Err(cause) => {
                let what = format!("cannot read {}", Shown(path_bytes(path)));
                TOOL.error(&what, Some(&cause), "name logs that topas-run --mpi=log wrote");
                return exit::FAILED;
            }
        }
    }
    let mut code = if logs.iter().any(TraceLog::is_damaged) { exit::FAILED } else { exit::OK };
    let id = match launch::chosen(&logs, options.launch.as_deref()) {
        Ok(id) => id,
        Err(code) => return code,
    };
    if launch::lacks_ranks(&logs, &id, &[]) {
        code = exit::FAILED;
    }
    let shows = match replayed(&id, &logs, network) {
        Ok(shows) => shows,
        Err(cause) => {
            TOOL.error(&"cannot read the logs", Some(&cause), "copy them again");
            return exit::FAILED;
        }
    };
    if shows.model.ranks.is_empty() && !shows.model.damage.is_empty() {
        let what = "no rank of this launch can be replayed: the log of none can be read in full";
        TOOL.error(&what, None, DAMAGED_HINT);
        return exit::FAILED;
    }
    if shows.model.skips.damaged > 0 {
        code = exit::FAILED;
        let what = format!("left out: {} damaged events", shows.model.skips.damaged);
        TOOL.warning(&what, None, "the log was changed or cut after it was written");
    }
    if let Some(words) = launch::unfinished_in_words(&shows.unfinished) {
        TOOL.warning(&words, None, "times and efficiencies are those of the part that is there");
    }
    let text = match (options.json, options.csv, options.routines) {
        (true, ..) => format!("{:#}\n", object(&shows)),
        (_, true, false) => ranks_csv(&shows),
        (_, true, true) => routines_csv(&shows),
        _ => text(&shows),
    };
    match TOOL.print(text.as_bytes()) {
        Printed::Done => code,
        Printed::Failed => exit::FAILED,
    }
}

fn path_bytes(path: &std::path::Path) -> &[u8] {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str())
}

/// The network that is asked for.
fn network(options: &Options) -> Result<Network, u8> {
    let mut network = Network::default();
    if let Some(path) = &options.calibration {
        let name = Shown(path_bytes(path)).to_string();
        let calibration = Calibration::read(path).map_err(|cause| {
            let hint = "topas-mpi calibrate -o FILE writes one";
            TOOL.error(&format!("cannot use the calibration {name}"), Some(&cause), hint);
            exit::FAILED
        })?;
        network = Network::calibrated(&calibration).ok_or_else(|| {
            let what = format!("the calibration {name} does not tell the cost of MPI_Send");
            TOOL.error(&what, None, "mpirun -n 2 topas-mpi calibrate measures it");
            exit::FAILED
        })?;
    }
    if let Some(latency) = options.latency {
        network.latency = 1e3 * latency;
    }
    if let Some(bandwidth) = options.bandwidth {
        network.per_byte = 1e3 / bandwidth;
    }
    network.processors = options.cpu;
    Ok(network)
}

/// Replays a launch.
fn replayed(launch: &str, logs: &[TraceLog], network: Network) -> io::Result<Shows> {
    let began = Instant::now();
    let model = replay(logs, launch, &network)?;
    let took = began.elapsed().as_secs_f64();
    let ideal = Network::default();
    let perfect = if network.is_perfect() && network.processors == 1.0 {
        model.clone()
    } else {
        replay(logs, launch, &ideal)?
    };
    let (unfinished, launches) = (unfinished_ranks(logs, launch), launches_in(logs).len());
    Ok(Shows { launch: launch.to_owned(), launches, unfinished, network, model, perfect, took })
}

fn seconds(ns: f64) -> String {
    format!("{:.6}", ns / NS)
}

fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1}%", 100.0 * part / whole) } else { "-".to_owned() }
}

/// Cells in columns: words to the left, numbers to the right.
fn columns(rows: &[Vec<String>], words: &[usize]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            line += &match words.contains(&column) {
                true => format!("{cell:<width$}  "),
                false => format!("{cell:>width$}  "),
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// The network in words.
fn assumed(network: &Network) -> String {
    let mut text = match (network.is_perfect(), &network.calibration) {
        (true, _) => "perfect: messages take no time".to_owned(),
        (_, known) => {
            let bandwidth = match network.per_byte > 0.0 {
                true => format!("{:.1} MB/s", 1e3 / network.per_byte),
                false => "without limit".to_owned(),
            };
            let of = known.as_ref().map_or("", |_| ", collectives as calibrated");
            format!("latency {:.3} us, bandwidth {bandwidth}{of}", network.latency / 1e3)
        }
    };
    if network.processors != 1.0 {
        let _ = write!(text, "; processors {} times as fast", network.processors);
    }
    text
}

/// The factors with their definitions: key, name, value.
fn tree(factors: &PopFactors) -> [(&'static str, &'static str, f64, &'static str); 5] {
    [
        (
            "parallel_efficiency",
            "parallel efficiency",
            factors.parallel,
            "mean time outside MPI / time of the run; load balance x communication",
        ),
        ("load_balance", "  load balance", factors.load_balance, "mean time outside MPI / largest"),
        (
            "communication_efficiency",
            "  communication",
            factors.communication,
            "largest time outside MPI / time of the run; serialisation x transfer",
        ),
        (
            "serialisation_efficiency",
            "    serialisation",
            factors.serialisation,
            "largest time outside MPI / time on the perfect network",
        ),
        (
            "transfer_efficiency",
            "    transfer",
            factors.transfer,
            "time on the perfect network / time of the run",
        ),
    ]
}

/// What stands in place of a share that no part of a whole can have.
const MORE: &str = "more";

impl Shows {
    /// The time in the model by that which was measured. On a network that delays nothing, ranks take longer in a call only
    /// because they come sooner and wait there for others.
    fn by_measured(&self, [measured, model]: [f64; 2]) -> String {
        /// What a time may differ by, as a part of it, that was added up in another order.
        const ROUNDED: f64 = 0.0005;
        let delays_nothing = self.network.is_perfect() && self.network.processors >= 1.0;
        match delays_nothing && model > measured * (1.0 + ROUNDED) {
            true => MORE.to_owned(),
            false => percent(model, measured),
        }
    }

    fn row_of(&self, title: &str, times: [f64; 2]) -> Vec<String> {
        let [measured, model] = times.map(seconds);
        vec![title.to_owned(), measured, model, self.by_measured(times)]
    }
}

fn text(shows: &Shows) -> String {
    let model = &shows.model;
    let mut out = String::new();
    let size = model.size.map_or_else(|| "-".to_owned(), |size| size.to_string());
    let _ = writeln!(
        out,
        "launch {}: {} of {size} ranks, {} events\nnetwork {}\n",
        Shown(shows.launch.as_bytes()),
        model.ranks.len(),
        model.events,
        assumed(&shows.network)
    );
    let [measured, modelled] = model.sums();
    let mean = |of: fn(&ReplayTimes) -> f64| {
        let count = model.ranks.len().max(1) as f64;
        [of(&measured) / count, of(&modelled) / count]
    };
    let head = ["", "measured[s]", "model[s]", "model/measured"].map(str::to_owned).to_vec();
    out += &columns(
        &[
            head,
            shows.row_of("elapsed, longest rank", model.elapsed()),
            shows.row_of("computing, mean of a rank", mean(|times| times.computing)),
            shows.row_of("in MPI, mean of a rank", mean(ReplayTimes::mpi)),
        ],
        &[0],
    );
    out.push('\n');
    match shows.perfect.factors() {
        Some(factors) => {
            if model.missing > 0 || !shows.unfinished.is_empty() {
                out += "Efficiencies of the part of the run that the log has:\n\n";
            }
            let rows: Vec<Vec<String>> = tree(&factors)
                .iter()
                .map(|(_, name, value, about)| {
                    vec![(*name).to_owned(), percent(*value, 1.0), (*about).to_owned()]
                })
                .collect();
            out += &columns(&rows, &[0, 2]);
        }
        None if !shows.perfect.is_whole() => {
            out += "No efficiencies: they need all ranks of the run, each with all of its log.\n";
        }
        None if shows.perfect.is_paused_unevenly() => {
            out += "No efficiencies: some ranks paused measuring for longer than others.\n";
        }
        None => out += "No efficiencies: no rank computed anything between its calls of MPI.\n",
    }
    out.push('\n');
    out += &ranks_text(model);
    out.push('\n');
    out += &routines_text(shows);
    out.push('\n');
    out += &notes(shows);
    out
}

fn ranks_text(model: &Replay) -> String {
    let titles = [
        "rank",
        "host",
        "elapsed[s]",
        "model[s]",
        "computing[s]",
        "model[s]",
        "MPI[s]",
        "model[s]",
    ];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    let mut shown: Vec<_> = model.ranks.iter().collect();
    if shown.len() > ROWS {
        shown.sort_by(|a, b| b.measured.computing.total_cmp(&a.measured.computing));
        shown.truncate(ROWS);
    }
    for rank in shown {
        let host = match rank.host.is_empty() {
            true => "-".to_owned(),
            false => Shown(rank.host.as_bytes()).to_string(),
        };
        let (a, b) = (&rank.measured, &rank.modelled);
        let times = [a.elapsed, b.elapsed, a.computing, b.computing, a.mpi(), b.mpi()];
        let mut row = vec![rank.rank.to_string(), host];
        row.extend(times.map(seconds));
        rows.push(row);
    }
    let [a, b] = model.sums();
    let times = [a.elapsed, b.elapsed, a.computing, b.computing, a.mpi(), b.mpi()];
    let mut last = vec!["sum".to_owned(), "-".to_owned()];
    last.extend(times.map(seconds));
    rows.push(last);
    let mut text = columns(&rows, &[1]);
    if model.ranks.len() > ROWS {
        let _ = writeln!(
            text,
            "These {ROWS} of {} ranks computed longest; --csv has all.",
            model.ranks.len()
        );
    }
    text
}

fn routines_text(shows: &Shows) -> String {
    let model = &shows.model;
    let titles = ["routine", "calls", "measured[s]", "model[s]", "model/measured"];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    for routine in model.routines.iter().take(ROWS) {
        rows.push(vec![
            Shown(routine.name.as_bytes()).to_string(),
            routine.calls.to_string(),
            seconds(routine.measured),
            seconds(routine.modelled),
            shows.by_measured([routine.measured, routine.modelled]),
        ]);
    }
    let mut text = columns(&rows, &[0]);
    if model.routines.len() > ROWS {
        let _ = writeln!(text, "{} more: --routines --csv", model.routines.len() - ROWS);
    }
    text
}

/// What the model leaves out, and what could not be matched.
fn notes(shows: &Shows) -> String {
    let model = &shows.model;
    let mut notes = Vec::new();
    let is_more =
        |routine: &ReplayedRoutine| shows.by_measured([routine.measured, routine.modelled]) == MORE;
    if model.routines.iter().take(ROWS).any(is_more) {
        notes.push(
            "more: what kept ranks elsewhere, as transfer, a receiver of a large message or the lack of a processor, \
             does so no longer in the model. They come to these calls sooner, and wait there for others."
                .to_owned(),
        );
    }
    let mut all = 0.0;
    for (reason, calls, time) in &model.as_measured {
        all += time;
        notes.push(format!(
            "As measured: {}, {calls} calls, {} s of all ranks.",
            reason.about(),
            seconds(*time)
        ));
    }
    if all > 0.0 {
        let [sum, _] = model.sums();
        notes.push(format!(
            "What is as measured is {} of the time of all ranks in MPI.",
            percent(all, sum.mpi())
        ));
    }
    let probes = model.as_measured.iter().any(|(of, ..)| *of == AsMeasured::MatchedProbe);
    let never = if probes { "received by no call that is modelled" } else { "never received" };
    notes.push(format!(
        "Messages: {} sent, {} received; {} sent to ranks of the log and {never}.",
        model.sent, model.received, model.left
    ));
    notes.extend(lacking(model));
    let unfinished = launch::unfinished_in_words(&shows.unfinished);
    notes.extend(unfinished.map(|words| format!("Lost: {words}, nor in any figure.")));
    if model.missing > 0 {
        notes.push(format!(
            "{} events were overwritten, so the replay begins where all ranks are in the log. Calls \
             may be matched with wrong ones there: a larger ring keeps all (--mpi=log:SIZE), and \
             --mpi=log,waits numbers collectives.",
            model.missing
        ));
    }
    let paused = model.ranks.iter().map(|rank| rank.paused).fold(0.0, f64::max);
    if paused > 0.0 {
        notes.push(format!(
            "Measuring was paused by MPI_Pcontrol for up to {} s of a rank. What was done then is not in the log, and \
             this time is in none of the figures above.",
            seconds(paused)
        ));
    }
    if model.doubled > 0 {
        notes.push(format!(
            "{} processes with the rank of another were left out: spawned worlds are not replayed.",
            model.doubled
        ));
    }
    if model.clockless > 0 {
        notes.push(format!(
            "{} ranks do not tell how long a tick of their clock is: that of another is used.",
            model.clockless
        ));
    }
    if let Some(crowd) = crowd(model) {
        notes.push(crowd);
    }
    if shows.launches > 1 {
        notes.push(format!(
            "The logs hold {} launches; this is {}. --launch takes another.",
            shows.launches,
            Shown(shows.launch.as_bytes())
        ));
    }
    notes.push(
        "Not modelled: messages that wait for their receiver because they are large, traffic of other pairs \
         on the network, and progress of messages while ranks compute. Which requests a call \
         completes is told by their bytes."
            .to_owned(),
    );
    notes.join("\n") + "\n"
}

/// The ranks that are not replayed, and why.
fn lacking(model: &Replay) -> Vec<String> {
    let mut notes: Vec<String> = model
        .damage
        .iter()
        .take(ROWS)
        .map(|damage| format!("Left out, because the log is damaged: {damage}."))
        .collect();
    let here = model.ranks.len() + model.damage.len();
    let missing = model.size.map_or(0, |size| (size as usize).saturating_sub(here));
    if missing > 0 {
        let why = match model.is_cut {
            true => "the file was cut",
            false => "name the logs of all hosts",
        };
        let plural = if missing == 1 { "" } else { "s" };
        notes.push(format!("Of {missing} rank{plural} there is no log: {why}."));
    }
    if !notes.is_empty() {
        let about = "Whoever waits for a rank that is not replayed waits as long as was measured.";
        notes.push(about.to_owned());
    }
    notes
}

/// Where there are more ranks than processors, waiting for a processor looks like transfer.
fn crowd(model: &Replay) -> Option<String> {
    let host = &model.ranks.first()?.host;
    let there = model.ranks.iter().filter(|rank| rank.host == *host).count() as u64;
    let processors = processors_of(host.as_bytes())?;
    (there > processors).then(|| {
        format!(
            "{there} ranks shared {processors} processors of {}: waiting for a processor counts as \
             computing or as transfer, so the efficiencies are hints only.",
            Shown(host.as_bytes())
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_perfect_network_no_share_is_above_all() {
        let on = |network: Network| Shows {
            launch: String::new(),
            launches: 1,
            unfinished: Vec::new(),
            network,
            model: Replay::default(),
            perfect: Replay::default(),
            took: 0.0,
        };
        let perfect = on(Network::default());
        assert_eq!(perfect.by_measured([1530.0, 42_275.0]), "more");
        assert_eq!(perfect.by_measured([42_275.0, 42_275.1]), "100.0%");
        assert_eq!(perfect.by_measured([200.0, 100.0]), "50.0%");
        assert_eq!(perfect.by_measured([0.0, 0.0]), "-");
        let slower = on(Network { latency: 1000.0, ..Network::default() });
        assert_eq!(slower.by_measured([100.0, 300.0]), "300.0%");
        let slow = on(Network { processors: 0.5, ..Network::default() });
        assert_eq!(slow.by_measured([100.0, 200.0]), "200.0%");
    }
}
