//! The machine that a replay assumes.

use crate::Calibration;

/// A network, and how fast processors are.
#[derive(Clone, Debug)]
pub struct Network {
    /// Time of a message of 0 B, in ns
    pub latency: f64,
    /// What a byte adds, in ns
    pub per_byte: f64,
    /// What collectives cost, if that was measured
    pub calibration: Option<Calibration>,
    /// How many times faster processors are than those of the run
    pub processors: f64,
}

/// A network on which everything is there when it was sent.
impl Default for Network {
    fn default() -> Self {
        Network { latency: 0.0, per_byte: 0.0, calibration: None, processors: 1.0 }
    }
}

impl Network {
    /// That of a calibration: messages cost what `MPI_Send` does. None if it does not tell that.
    pub fn calibrated(calibration: &Calibration) -> Option<Network> {
        let cost = calibration.cost("Send", 2)?;
        Some(Network {
            latency: 1e3 * cost.latency,
            per_byte: cost.bandwidth.filter(|bandwidth| *bandwidth > 0.0).map_or(0.0, |b| 1e3 / b),
            calibration: Some(calibration.clone()),
            processors: 1.0,
        })
    }

    /// Whether nothing takes time on the network.
    pub fn is_perfect(&self) -> bool {
        self.latency == 0.0 && self.per_byte == 0.0 && self.calibration.is_none()
    }

    /// How long a message takes, in ns.
    pub fn message(&self, bytes: u64) -> f64 {
        self.latency + self.per_byte * bytes as f64
    }

    /// How long a collective takes once all are there, in ns: what was measured, or else as many
    /// messages one after the other as a tree of these ranks is high. `routine` has no `MPI_`.
    pub fn collective(&self, routine: &str, ranks: u32, bytes: u64) -> f64 {
        if self.is_perfect() {
            return 0.0;
        }
        let measured = self.calibration.as_ref().and_then(|all| all.cost(routine, ranks.into()));
        if let Some(cost) = measured {
            let per_byte = cost.bandwidth.filter(|bandwidth| *bandwidth > 0.0).map(|b| 1e3 / b);
            return 1e3 * cost.latency + per_byte.unwrap_or(self.per_byte) * bytes as f64;
        }
        f64::from(ranks.max(1)).log2().ceil() * self.message(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_those_of_the_calibration() {
        let text = "topas-calibration 1\nSend 2 2.5 1000\nBarrier 4 8 -\n";
        let network = Network::calibrated(&Calibration::parse(text).unwrap()).unwrap();
        assert_eq!(network.message(0), 2500.0);
        assert_eq!(network.message(1000), 3500.0);
        assert_eq!(network.collective("Barrier", 5, 0), 8000.0);
        assert_eq!(network.collective("Bcast", 5, 1000), 3.0 * 3500.0);
        assert!(Network::calibrated(&Calibration::default()).is_none());
        assert_eq!(Network::default().collective("Bcast", 5, 1000), 0.0);
    }
}
