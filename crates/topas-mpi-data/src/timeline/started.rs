//! Which call completes a collective that does not block. The log does not say that: it follows where a call that
//! waits for requests has nothing else to wait for.

use rustc_hash::FxHashMap;

use super::states::RequestRole;

/// A collective: its communicator and its number.
pub(super) type CollectiveKey = (u64, u64);

/// What a process has started, and what may not be complete.
#[derive(Debug, Default)]
struct Started {
    collectives: Vec<CollectiveKey>,
    /// Requests that are no collectives
    others: u32,
}

/// So many requests that nobody knows how many.
const MANY: u32 = u32::MAX;

/// What processes have started, by process.
#[derive(Debug, Default)]
pub(super) struct StartedCollectives {
    processes: FxHashMap<usize, Started>,
}

impl StartedCollectives {
    /// A process started a collective.
    pub(super) fn start(&mut self, process: usize, key: CollectiveKey) {
        self.processes.entry(process).or_default().collectives.push(key);
    }

    /// A process called a function with this role. `each` gets collectives that are complete from now on, and
    /// whether it was this call that waited for them; false if nobody knows.
    pub(super) fn call(
        &mut self,
        process: usize,
        role: RequestRole,
        mut each: impl FnMut(CollectiveKey, bool),
    ) {
        if role == RequestRole::Nothing {
            return;
        }
        let started = self.processes.entry(process).or_default();
        match role {
            RequestRole::Nothing => {}
            RequestRole::Starts => started.others = started.others.saturating_add(1),
            RequestRole::StartsSome => started.others = MANY,
            RequestRole::WaitsForOne | RequestRole::WaitsForAll | RequestRole::Asks => {
                let waits = role != RequestRole::Asks && started.others == 0;
                let is_clear = waits && started.collectives.len() == 1;
                started.collectives.drain(..).for_each(|key| each(key, is_clear));
                match role {
                    RequestRole::WaitsForAll => started.others = 0,
                    RequestRole::WaitsForOne if started.others != MANY => {
                        started.others = started.others.saturating_sub(1);
                    }
                    _ => {}
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_completes_a_collective_if_it_can_complete_nothing_else() {
        use RequestRole::{Asks, Nothing, Starts, StartsSome, WaitsForAll, WaitsForOne};
        // Calls before a collective, calls behind it, and what is said of it.
        let cases: [(&[RequestRole], &[RequestRole], Option<bool>); 9] = [
            (&[], &[Nothing], None),
            (&[], &[WaitsForOne], Some(true)),
            (&[], &[WaitsForAll], Some(true)),
            (&[], &[Asks, WaitsForOne], Some(false)),
            (&[Starts], &[WaitsForOne], Some(false)),
            (&[Starts, Starts, WaitsForAll], &[WaitsForOne], Some(true)),
            (&[Starts, WaitsForOne], &[WaitsForOne], Some(true)),
            (&[StartsSome, WaitsForOne], &[WaitsForOne], Some(false)),
            (&[], &[Starts, WaitsForAll], Some(false)),
        ];
        for (before, behind, said) in cases {
            let mut all = StartedCollectives::default();
            let mut told = None;
            before.iter().for_each(|role| all.call(1, *role, |_, _| panic!("none is there")));
            all.start(1, (1, 7));
            for role in behind {
                all.call(2, *role, |_, _| panic!("of another process"));
                all.call(1, *role, |key, waited| {
                    assert_eq!((key, told), ((1, 7), None));
                    told = Some(waited);
                });
            }
            assert_eq!(told, said, "{before:?} {behind:?}");
        }
        // Of two, nobody knows which.
        let mut all = StartedCollectives::default();
        [(1, 1), (1, 2)].into_iter().for_each(|key| all.start(1, key));
        all.call(1, WaitsForOne, |_, waited| assert!(!waited));
    }
}
