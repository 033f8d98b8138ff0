//! Requests of which the log does not tell when they are complete.

use super::*;

/// Two ranks, of which rank 1 computes 9 ms longer in each step, start something with a call and wait for it. What rank 0
/// waits there is as measured, and not put off until the end.
#[test]
fn waits_for_requests_that_are_not_modelled_take_as_long_as_they_took() {
    for (starts, why, calls) in
        [(START, AsMeasured::Persistent, 20), (INEIGHBOR, AsMeasured::Groups, 10)]
    {
        for completes_with in [WAIT, WAITALL, WAITANY] {
            let mut ranks: Vec<Made> = (0..2).map(Made::new).collect();
            for step in 0..5 {
                let at = 10.0 * f64::from(step);
                for (rank, computes) in ranks.iter_mut().zip([1.0, 10.0]) {
                    rank.call(starts, at + computes, at + computes, CallArguments::NONE);
                    rank.call(completes_with, at + computes, at + 10.0, CallArguments::NONE);
                }
            }
            finish(&mut ranks, 50.0);
            let told = perfect(&ranks);
            assert_eq!(told.as_measured.len(), 1, "{:?}", told.as_measured);
            let (reason, count, time) = told.as_measured[0];
            assert_eq!((reason, count), (why, calls));
            near(time / 1e6, 45.0, "as measured");
            let modelled = |wanted: u16| {
                let of = |name: &str| {
                    told.routines.iter().find(|routine| routine.name == name).map(|of| of.modelled)
                };
                let name = NAMES.iter().find(|(number, _)| *number == wanted);
                name.and_then(|(_, name)| of(name)).unwrap_or(0.0) / 1e6
            };
            near(modelled(completes_with), 45.0, "waits");
            near(modelled(FINALIZE), 0.0, "the end");
            assert!(told.is_much_as_measured());
        }
    }
}

/// A send is over when its call is, and what completes it alone does not wait, whatever was started before.
#[test]
fn a_send_beside_requests_that_are_not_modelled_is_over_at_once() {
    let mut ranks: Vec<Made> = (0..2).map(Made::new).collect();
    ranks[0].call(ISEND, 1.0, 1.0, sends(1, 8));
    ranks[0].call(INEIGHBOR, 2.0, 2.0, CallArguments::NONE);
    ranks[0].call(WAIT, 2.0, 3.0, CallArguments::NONE);
    ranks[0].call(WAIT, 3.0, 5.0, CallArguments::NONE);
    ranks[1].call(RECV, 0.0, 1.0, receives(0, 8));
    finish(&mut ranks, 5.0);
    let told = perfect(&ranks);
    let [(AsMeasured::Groups, 1, time)] = told.as_measured[..] else {
        panic!("{:?}", told.as_measured)
    };
    near(time / 1e6, 2.0, "the second wait");
}
