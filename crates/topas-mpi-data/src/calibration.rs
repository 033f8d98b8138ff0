//! What routines of MPI cost on a machine that does nothing else, as `topas-mpi calibrate` writes
//! it.
//!
//! ```text
//! # What routines of MPI cost; written by topas-mpi calibrate
//! topas-calibration 1
//! mpi Open_MPI_v4.1.4
//! hosts n0042 n0043
//! date 2026/11/20 18:00:00
//! longest 4194304
//! # routine ranks latency[us] bandwidth[MB/s] spread
//! Send 2 0.412 6210.5 0.03
//! Barrier 64 3.900 - 0.11
//! ```
//!
//! The latency is the time of a call that moves 0 B; the bandwidth is what is added by long
//! messages: bytes of a call per rank, the larger of those sent and received, by time, in 10^6 B/s.
//! The spread is the distance of the quartiles of the latency by its median. `-` does not apply or
//! could not be measured. Names in the first lines are escaped as in log lines. Lines with other
//! first words are left alone, and so are fields behind the fifth.

use std::fmt::{self, Write as _};
use std::fs;
use std::io;
use std::path::Path;

use topas_format::escape::Name;
use topas_format::out::Out;

use topas_data::clock;

/// First word of the line that tells the version.
const WORD: &str = "topas-calibration";

/// The only version there is.
const VERSION: &str = "1";

/// What one routine costs.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutineCost {
    /// Name without `MPI_`
    pub routine: Box<str>,
    /// Ranks it was measured with
    pub ranks: u32,
    /// Time of a call that moves 0 B, in µs
    pub latency: f64,
    /// Bandwidth of long messages in 10^6 B/s
    pub bandwidth: Option<f64>,
    /// Distance of the quartiles of the latency, by its median
    pub spread: Option<f64>,
}

/// A calibration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// MPI library, as it names itself
    pub mpi: Box<str>,
    /// Nodes it was measured on
    pub hosts: Vec<Box<str>>,
    /// When, local time of the site
    pub date: Box<str>,
    /// Longest message in B
    pub longest: Option<u64>,
    /// Costs, in the order of the file
    pub costs: Vec<RoutineCost>,
}

/// Why a file is no calibration.
#[derive(Debug)]
pub enum CalibrationError {
    /// It cannot be read
    File(io::Error),
    /// It does not say that it is one
    Foreign,
    /// It has another version
    Version(String),
    /// A line cannot be read: its number, from 1
    Line(usize),
}

impl fmt::Display for CalibrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CalibrationError::File(cause) => cause.fmt(f),
            CalibrationError::Foreign => f.write_str("it is no calibration"),
            CalibrationError::Version(version) => {
                write!(f, "it has version {version}, this program knows {VERSION}")
            }
            CalibrationError::Line(number) => write!(f, "line {number} is bad"),
        }
    }
}

impl std::error::Error for CalibrationError {}

impl Calibration {
    /// A calibration of now, without costs.
    pub fn new(mpi: &str, hosts: Vec<Box<str>>, longest: u64) -> Self {
        let date = clock::now().to_string();
        let longest = Some(longest);
        Calibration { mpi: mpi.into(), hosts, date: date.into(), longest, costs: Vec::new() }
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`CalibrationError`]
    pub fn read(path: &Path) -> Result<Self, CalibrationError> {
        let text = fs::read(path).map_err(CalibrationError::File)?;
        Self::parse(&String::from_utf8_lossy(&text))
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// [`CalibrationError`], but for its file.
    pub fn parse(text: &str) -> Result<Self, CalibrationError> {
        let mut calibration = Calibration::default();
        let mut is_one = false;
        for (number, line) in (1..).zip(text.lines()) {
            let bad = || CalibrationError::Line(number);
            let mut words = line.split_ascii_whitespace();
            let Some(first) = words.next().filter(|first| !first.starts_with('#')) else {
                continue;
            };
            if first == WORD {
                is_one = true;
                match words.next() {
                    Some(VERSION) => continue,
                    other => {
                        return Err(CalibrationError::Version(other.unwrap_or("-").to_owned()));
                    }
                }
            }
            if !is_one {
                return Err(CalibrationError::Foreign);
            }
            match first {
                "mpi" => calibration.mpi = words.next().map(plain).unwrap_or_default(),
                "hosts" => calibration.hosts = words.map(plain).collect(),
                "date" => calibration.date = words.collect::<Vec<_>>().join(" ").into(),
                "longest" => calibration.longest = words.next().and_then(|n| n.parse().ok()),
                // A routine of MPI begins with a capital letter.
                routine if routine.starts_with(|c: char| c.is_ascii_uppercase()) => {
                    let ranks = words.next().and_then(|n| n.parse().ok()).ok_or_else(bad)?;
                    let mut value = || match words.next() {
                        None | Some("-") => Ok(None),
                        Some(word) => match word.parse::<f64>() {
                            Ok(value) if value.is_finite() && value >= 0.0 => Ok(Some(value)),
                            _ => Err(bad()),
                        },
                    };
                    let latency = value()?.ok_or_else(bad)?;
                    let (bandwidth, spread) = (value()?, value()?);
                    let routine = routine.into();
                    calibration.costs.push(RoutineCost {
                        routine,
                        ranks,
                        latency,
                        bandwidth,
                        spread,
                    });
                }
                _ => {}
            }
        }
        if is_one { Ok(calibration) } else { Err(CalibrationError::Foreign) }
    }

    /// The text of a file.
    pub fn text(&self) -> String {
        let mut text = format!(
            "# What routines of MPI cost; written by topas-mpi calibrate\n{WORD} {VERSION}\n"
        );
        let hosts: Vec<String> = self.hosts.iter().map(|host| token(host)).collect();
        let _ = writeln!(text, "mpi {}", token(&self.mpi));
        let _ = writeln!(text, "hosts {}", hosts.join(" "));
        let _ = writeln!(text, "date {}", self.date);
        if let Some(longest) = self.longest {
            let _ = writeln!(text, "longest {longest}");
        }
        text += "# routine ranks latency[us] bandwidth[MB/s] spread\n";
        for RoutineCost { routine, ranks, latency, bandwidth, spread } in &self.costs {
            let shown = |value: &Option<f64>, digits: usize| {
                value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
            };
            let (bandwidth, spread) = (shown(bandwidth, 1), shown(spread, 2));
            let _ = writeln!(text, "{routine} {ranks} {latency:.4} {bandwidth} {spread}");
        }
        text
    }

    /// What a routine costs, by its name without `MPI_`: measured with the number of ranks that
    /// is nearest by its logarithm.
    pub fn cost(&self, routine: &str, ranks: u64) -> Option<&RoutineCost> {
        let distance = |cost: &&RoutineCost| {
            (f64::from(cost.ranks.max(1)).ln() - (ranks.max(1) as f64).ln()).abs()
        };
        let of = self.costs.iter().filter(|cost| *cost.routine == *routine);
        of.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

/// A name as one word.
fn token(name: &str) -> String {
    let mut room = [0; 1024];
    let mut out = Out::new(&mut room);
    Name::new(name.as_bytes()).write(&mut out, 0);
    String::from_utf8_lossy(out.text()).into_owned()
}

fn plain(word: &str) -> Box<str> {
    let bytes: Vec<u8> = Name::from_token(word.as_bytes()).bytes().collect();
    String::from_utf8_lossy(&bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut calibration = Calibration::new("Open MPI 4.1", vec!["n 1".into(), "n2".into()], 64);
        let cost = |routine: &str, ranks, latency, bandwidth| RoutineCost {
            routine: routine.into(),
            ranks,
            latency,
            bandwidth,
            spread: Some(0.25),
        };
        calibration.costs = vec![cost("Send", 2, 0.5, Some(1234.5)), cost("Barrier", 2, 1.0, None)];
        calibration.costs.push(cost("Barrier", 64, 9.0, None));
        assert_eq!(Calibration::parse(&calibration.text()).unwrap(), calibration);
        let barrier = |ranks| calibration.cost("Barrier", ranks).unwrap().latency;
        assert_eq!([1, 2, 10, 12, 64, 1000].map(barrier), [1.0, 1.0, 1.0, 9.0, 9.0, 9.0]);
        assert_eq!(calibration.cost("Bcast", 2), None);
    }

    #[test]
    fn what_is_bad_is_told() {
        let fault = |text: &str| Calibration::parse(text).unwrap_err().to_string();
        assert_eq!(fault(""), "it is no calibration");
        assert_eq!(fault("Send 2 1 1\n"), "it is no calibration");
        assert_eq!(fault("topas-calibration 2\n"), "it has version 2, this program knows 1");
        assert_eq!(fault("topas-calibration 1\nSend 2 -\n"), "line 2 is bad");
        assert_eq!(fault("topas-calibration 1\nSend 2 1 nan\n"), "line 2 is bad");
        assert!(Calibration::parse("topas-calibration 1\nnew thing\nSend 2 1\n").is_ok());
    }
}
