//! Sums over ranks: in any order, in any tree, and by way of messages they are the same.

use proptest::prelude::*;
use topas_mpi_profile::layout::{BINS, FUNCTIONS};
use topas_mpi_profile::sums::{RoutineSums, Sums};
use topas_mpi_profile::wire::{MAX_MESSAGE, read, write};

/// Numbers whose sums stay below 2^128.
fn amount() -> impl Strategy<Value = u128> {
    prop_oneof![Just(0), 0u128..100, any::<u64>().prop_map(u128::from), 0..u128::MAX / 8]
}

prop_compose! {
    fn rank()(
        routines in proptest::collection::vec(
            (0..FUNCTIONS, (amount(), amount(), any::<u64>(), amount()), (amount(), amount()), 0u64..3, any::<u32>()),
            0..30),
        bins in proptest::collection::vec((0usize..4, 0usize..2, 0..BINS, amount()), 0..30),
        scalars in (amount(), any::<u64>(), amount(), any::<u64>(), any::<u64>(), any::<u64>()),
        rest in (0u64..1000, amount(), amount(), 0u64..99, any::<u32>(), any::<u64>()),
        counters in proptest::array::uniform4(amount()),
    ) -> Box<Sums> {
        let mut sums = Box::new(Sums::new());
        sums.ranks = 1 + rest.0;
        for (number, (calls, nanoseconds, longest, count), (sent, receives), ranks, flags) in routines {
            sums.routines[number] = RoutineSums {
                calls, nanoseconds, longest, count, sends: 0, sent, receives, received: sent, ranks, flags,
            };
        }
        for (class, way, bin, n) in bins {
            sums.sizes[class][way][bin] = n;
        }
        (sums.wall, sums.wall_max, sums.mpi, sums.mpi_max, sums.mpi_min, sums.outside_max) = scalars;
        (sums.overhead, sums.paused, sums.threads) = (rest.1, rest.2, rest.3);
        (sums.languages, sums.flags) = (rest.4, rest.5);
        sums.inside = counters;
        sums.waited[3].calls = counters[0];
        sums.waited[7].nanoseconds = counters[1];
        sums
    }
}

fn sum(of: &[&Sums]) -> Box<Sums> {
    let mut sums = Box::new(Sums::new());
    for one in of {
        sums.merge(one);
    }
    sums
}

proptest! {
    #[test]
    fn the_order_and_the_tree_do_not_matter(a in rank(), b in rank(), c in rank(), d in rank()) {
        let all = sum(&[&a, &b, &c, &d]);
        prop_assert_eq!(&all, &sum(&[&d, &b, &a, &c]));
        prop_assert_eq!(&all, &sum(&[&sum(&[&a, &b]), &sum(&[&c, &d])]));
        prop_assert_eq!(&all, &sum(&[&all, &Sums::new()]));
        prop_assert_eq!(all.mpi_min, [&a, &b, &c, &d].map(|s| s.mpi_min).into_iter().min().unwrap());
        let calls = |s: &Sums| s.routines.iter().map(|r| r.calls).fold(0u128, u128::wrapping_add);
        let each = [&a, &b, &c, &d].map(|s| calls(s)).into_iter().fold(0u128, u128::wrapping_add);
        prop_assert_eq!(calls(&all), each);
    }

    #[test]
    fn a_message_holds_all(a in rank(), b in rank()) {
        let mut room = vec![0; MAX_MESSAGE];
        let length = write(&a, &mut room).unwrap();
        // Whatever was there before is gone.
        let mut back = b.clone();
        read(&room[..length], &mut back).unwrap();
        prop_assert_eq!(&back, &a);
        for cut in [0, length / 2, length - 1] {
            prop_assert!(read(&room[..cut], &mut back).is_err());
        }
        prop_assert!(read(&room[..=length], &mut back).is_err());
        prop_assert!(write(&a, &mut room[..length - 1]).is_none());
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut sums = Box::new(Sums::new());
        let _ = read(&bytes, &mut sums);
        let _ = read(&[&[1], &bytes[..]].concat(), &mut sums);
    }
}

#[test]
fn the_largest_message_fits() {
    let mut sums = Box::new(Sums::new());
    let most = u128::MAX;
    sums.routines.fill(RoutineSums {
        calls: most,
        nanoseconds: most,
        longest: u64::MAX,
        count: most,
        sends: most,
        sent: most,
        receives: most,
        received: most,
        ranks: u64::MAX,
        flags: u32::MAX,
    });
    sums.sizes = [[[most; BINS]; 2]; 4];
    assert!(write(&sums, &mut vec![0; MAX_MESSAGE]).is_some());
}
