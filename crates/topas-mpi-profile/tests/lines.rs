//! Lines of records: what is written comes back, whatever the names and numbers.

use proptest::prelude::*;
use topas_format::MAX_LINE;
use topas_format::civil::Civil;
use topas_mpi_profile::keys::{KEYS, KeyExport, export};
use topas_mpi_profile::layout::object_kind;
use topas_mpi_profile::layout::{
    BINS, COUNTERS, CallPath, FUNCTIONS, OFFSET_BITS, Outsider, PATH_MODULES, PATHS, Partner,
    PathFunction, PathModule, PathTable, Peer, ROW_MISSED, WORLD_STARTS, WaitPeer, WaitTicks,
    WorldStart, Worlds, flag,
};
use topas_mpi_profile::lines::{
    End, Facts, Head, LastMoment, Of, OpenCall, OpenMessage, OpenSide, SpawnedWorld, amounts,
    record,
};
use topas_mpi_profile::parse::{Line, ProfileLineFault, SizesOf, Token, Traffic};
use topas_mpi_profile::routine::{SizeClass, by_number, name as routine_name};
use topas_mpi_profile::sums::{RoutineSums, Sums, WaitSums, WaitedSums};

/// Small numbers mostly, and some that are as large as can be.
fn amount() -> impl Strategy<Value = u128> {
    prop_oneof![Just(0), 0u128..1000, any::<u64>().prop_map(u128::from), any::<u128>()]
}

fn routine() -> impl Strategy<Value = RoutineSums> {
    let numbers = (amount(), amount(), any::<u64>(), amount(), amount(), amount(), amount());
    (1u128..u128::MAX, numbers, amount(), 1u64..5000, any::<bool>()).prop_map(
        |(calls, (ns, count, longest, sends, sent, receives, received), _, ranks, missed)| {
            RoutineSums {
                calls,
                nanoseconds: ns,
                longest,
                count,
                sends,
                sent,
                receives,
                received,
                ranks,
                flags: if missed { ROW_MISSED } else { 0 },
            }
        },
    )
}

prop_compose! {
    fn some_sums()(
        routines in proptest::collection::vec((0..FUNCTIONS, routine()), 0..60),
        bins in proptest::collection::vec((0usize..4, 0usize..2, 0..BINS, amount()), 0..60),
        times in (amount(), any::<u64>(), amount(), any::<u64>(), any::<u64>(), any::<u64>()),
        rest in (amount(), amount(), any::<u32>(), 0u32..4, 0u32..256, 0u64..4096),
        waited in proptest::collection::vec((amount(), amount()), 8),
    ) -> Box<Sums> {
        let mut sums = Box::new(Sums::new());
        for (number, routine) in routines {
            sums.routines[number] = routine;
        }
        for (class, way, bin, n) in bins {
            sums.sizes[class][way][bin] = n;
        }
        (sums.wall, sums.wall_max, sums.mpi, sums.mpi_max, sums.mpi_min, sums.outside_max) = times;
        sums.overhead = rest.0;
        sums.paused = rest.1;
        sums.threads = rest.2.into();
        sums.level = rest.3;
        sums.languages = rest.4;
        sums.flags = rest.5;
        sums.ranks = 7;
        for (to, (calls, nanoseconds)) in sums.waited.iter_mut().zip(waited) {
            to.calls = calls;
            to.nanoseconds = nanoseconds;
        }
        sums
    }
}

const COUNTER_NAMES: [[u8; 32]; COUNTERS] = [[0; 32]; COUNTERS];

fn facts<'a>(host: &'a [u8], rank: Option<(u32, u32)>) -> Facts<'a> {
    Facts {
        epoch: 1_795_161_662,
        uid: 4711,
        host,
        job: b"15_3",
        step: b"",
        part: b"big",
        mpi: b"openmpi:4.1.4",
        end: End::Abort(-3),
        rank,
        before: 1_500_000_000,
        spawned: None,
        launcher: 0,
        counters: &COUNTER_NAMES,
    }
}

fn head<'a>(user: &'a [u8], exe: &'a [u8], of: Of) -> Head<'a> {
    let at = Civil::from_seconds(1_795_161_662);
    Head { at, user, exe, npes: 7, id: b"00ff00ff00ff00ff", of, subtotal: 0 }
}

proptest! {
    #[test]
    fn what_is_written_comes_back(
        sums in some_sums(),
        user in proptest::collection::vec(any::<u8>(), 0..60),
        exe in proptest::collection::vec(any::<u8>(), 0..400),
        names in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..48), 0..9),
        switch in proptest::collection::vec(1u8.., 1..90),
    ) {
        let peers = [Peer { sends: 3, sent: u64::MAX, receives: 0, received: 1 }; 2];
        let tick = topas_mpi_profile::sums::TickLength::between(
            &Default::default(),
            &topas_mpi_profile::layout::Moment { ticks: 2, monotonic: 1, realtime: 0 },
        );
        let traffic = topas_mpi_profile::layout::Traffic { calls: 9, ticks: 5, peer: peers[0] };
        let head = head(&user, &exe, Of::Run);
        let mut text = Vec::new();
        let mut written = 0;
        let count = record(&head, &facts(b"n 1", None), &sums, &mut |lines| {
            lines.sizes_by_class(&sums);
            lines.peer(Some(4), &peers[0]);
            lines.peer(None, &peers[1]);
            for name in &names {
                lines.communicator(name, object_kind::FILE, 12, &traffic, &tick);
            }
            lines.switches(&[b"OMPI_MCA_x=", &switch[..], b"\0OMPI_MCA_y"].concat());
            lines.unended(3, 2, 7);
        }, &mut |line| {
            assert!(line.len() <= MAX_LINE && line.ends_with(b"\n"));
            text.extend_from_slice(line);
            written += 1;
        });
        prop_assert_eq!(count, written);
        let mut back = Box::new(Sums::new());
        let (mut peers_back, mut names_back, mut switches) = (Vec::new(), Vec::new(), Vec::new());
        let mut unended = (None, 0, 0);
        for (at, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let line = Line::parse(line).unwrap();
            prop_assert_eq!((line.line, line.lines), (at as u32 + 1, count));
            prop_assert_eq!((line.of, line.npes, line.at), (Of::Run, 7, head.at));
            prop_assert!(line.user.bytes().eq(user.iter().copied().take(line.user.bytes().count())));
            prop_assert!(line.exe.bytes().eq(exe.iter().copied().take(line.exe.bytes().count())));
            for token in line.tokens() {
                match token.unwrap() {
                    Token::Routine(r) => {
                        let number = r.number.unwrap();
                        let was = &sums.routines[number];
                        let known = sums.flags & flag::UNKNOWN_MPI == 0;
                        let amounts = amounts(by_number(number).unwrap(), was, known);
                        prop_assert_eq!(
                            [r.count, r.sends, r.sent, r.receives, r.received], amounts);
                        prop_assert_eq!(r.ranks, Some(was.ranks));
                        prop_assert_eq!(
                            (r.calls, r.nanoseconds, r.longest),
                            (was.calls, was.nanoseconds, was.longest));
                        back.routines[number] = *was;
                    }
                    Token::Sizes { of: SizesOf::Class(class), received, bins } => {
                        for (bin, n) in bins.iter().enumerate() {
                            back.sizes[class as usize][usize::from(received)][bin] += n;
                        }
                    }
                    Token::Waited { kind, calls, nanoseconds } => {
                        back.waited[kind].calls = calls;
                        back.waited[kind].nanoseconds = nanoseconds;
                    }
                    Token::Peer { rank, traffic } => peers_back.push((rank, traffic)),
                    Token::Communicator { name, kind, size, calls, nanoseconds, .. } => {
                        prop_assert_eq!((size, calls, nanoseconds), (Some(12), 9, 2));
                        prop_assert_eq!(kind, object_kind::FILE);
                        names_back.push(name.bytes().collect::<Vec<_>>());
                    }
                    Token::Switch { name, value } => {
                        let value = value.map(|value| value.bytes().collect::<Vec<_>>());
                        switches.push((name.bytes().collect::<Vec<_>>(), value));
                    }
                    Token::Unended { name, calls, nanoseconds } => {
                        let number = (0..).position(|n| routine_name(n) == name);
                        unended = (number, calls, nanoseconds);
                    }
                    Token::Fact(..) => {}
                    other => prop_assert!(false, "{:?}", other),
                }
            }
        }
        prop_assert_eq!(&back.routines, &sums.routines);
        prop_assert_eq!(&back.sizes, &sums.sizes);
        for (back, was) in back.waited.iter().zip(&sums.waited) {
            prop_assert_eq!(back.calls, was.calls);
            prop_assert!(was.calls == 0 || back.nanoseconds == was.nanoseconds);
        }
        let there = Traffic { sends: 3, sent: u64::MAX.into(), receives: 0, received: 1 };
        prop_assert_eq!(peers_back, vec![(Some(4), there), (None, there)]);
        prop_assert_eq!(names_back, names);
        let named = |name: &[u8]| name.to_vec();
        let told = vec![(named(b"OMPI_MCA_x"), Some(switch)), (named(b"OMPI_MCA_y"), None)];
        prop_assert_eq!(switches, told);
        prop_assert_eq!(unended, (Some(3), 2, 7));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(
        text in proptest::collection::vec(any::<u8>(), 0..300),
        token in "[fhwcpetv=:,.0-9a-zA-Z+ -]{0,120}",
    ) {
        let _ = Line::parse(&text);
        let line = format!("2026/11/20 08:01:02 topas-mpi u e 1 id v=1 of=run line=1/1 {token} len=");
        let line = format!("{line}{:03}", line.len() + 3);
        if let Ok(line) = Line::parse(line.as_bytes()) {
            for token in line.tokens() {
                let _ = token;
            }
        }
    }
}

/// What an export does with each key is told in one table, and the table has no other keys.
/// One call on one path, in one module.
fn one_path() -> PathTable {
    let build_id = [7; 20];
    let module = PathModule { base: 0, print: 1, build_id_length: 20, build_id, name: [b'a'; 216] };
    let mut path = CallPath { function: 1, count: 2, calls: 1, ..CallPath::default() };
    let frame = |number: usize, offset: u64| (number as u64 + 1) << OFFSET_BITS | offset;
    path.frames[..2].copy_from_slice(&[frame(0, 0x10), frame(PATH_MODULES, 12)]);
    PathTable {
        count: 1,
        modules: 1,
        depth: 8,
        inside: 0,
        number: 0,
        function_count: 0,
        functions: 0,
        reserved: [0; 8],
        module: [module; PATH_MODULES],
        path: [path; PATHS],
    }
}

#[test]
fn every_key_that_is_written_has_its_export() {
    let mut sums = Box::new(Sums::new());
    (sums.ranks, sums.paused, sums.level, sums.languages, sums.flags) = (1, 1, 1, 1, u64::MAX);
    sums.routines[0].calls = 1;
    sums.sizes[0][0][0] = 1;
    sums.waited[0].calls = 1;
    sums.waits[0].unsure = WaitedSums { calls: 1, nanoseconds: 1 };
    let mut counters = COUNTER_NAMES;
    counters[0][..3].copy_from_slice(b"CYC");
    let world = SpawnedWorld { began: 1, parent: Some((u64::MAX, 3)), launcher: u64::MAX };
    let facts = Facts {
        step: b"0",
        counters: &counters,
        spawned: Some(world),
        ..facts(b"n1", Some((0, 4711)))
    };
    let start =
        WorldStart { command: [b'x'; 48], ranks: 2, function: 1, path: 0, began: 2, ended: 4 };
    let worlds = Worlds {
        name: 7,
        parent: 0,
        parent_rank: 0,
        spawned: 0,
        launcher: 9,
        count: 1,
        lost: 0,
        started: [start; WORLD_STARTS],
    };
    let tick = topas_mpi_profile::sums::TickLength::between(
        &Default::default(),
        &topas_mpi_profile::layout::Moment { ticks: 2, monotonic: 1, realtime: 0 },
    );
    let call = OpenCall { function: 3, nanoseconds: None, path: 0, peer: None, tag: None };
    let open_calls = [
        call,
        OpenCall { nanoseconds: Some(1_500_000_000), path: 7, peer: Some((-2, false)), ..call },
        OpenCall { peer: Some((i32::MAX, true)), ..call },
        OpenCall { peer: Some((4, true)), tag: Some(-1), ..call },
        OpenCall { peer: Some((4, false)), tag: Some(i32::MAX), ..call },
    ];
    let open = [
        (OpenSide::Awaited, 7, None),
        (OpenSide::Untaken, -1, Some(0)),
        (OpenSide::Unreceived, i32::MAX, Some(9)),
    ];
    let open_messages = open.map(|(side, tag, comm)| OpenMessage { side, rank: 3, tag, comm });
    let moments = [
        LastMoment {
            began: 1,
            last_call: 2_000_000_001,
            died: None,
            function: None,
            path: 0,
            ended_after: None,
        },
        LastMoment {
            began: 5,
            last_call: 6,
            died: Some(9),
            function: Some(3),
            path: 4,
            ended_after: Some(2),
        },
    ];
    // A name that is too long makes the line say `cut=1`.
    let head = Head { subtotal: 1, ..head(&[b'u'; 2000], b"heat", Of::Rank) };
    let mut text = Vec::new();
    record(
        &head,
        &facts,
        &sums,
        &mut |lines| {
            lines.sizes_by_class(&sums);
            lines.peer(None, &Peer::default());
            let late = WaitTicks { calls: 1, ticks: 2 };
            lines.blamed(1, &WaitPeer { late, ..WaitPeer::default() }, &tick);
            lines.asked(1, &WaitPeer { between: late, ..WaitPeer::default() }, &tick);
            let waits = WaitPeer { late, ..WaitPeer::default() };
            let outsider = Outsider { id: [b'5'; 64], rank: 0, parent: 1, waits };
            lines.blamed_outside(&outsider, &tick);
            let function = PathFunction { print: 0xab, file: [b'f'; 104], name: [b'n'; 80] };
            assert_eq!(lines.paths(&one_path(), &[function], 3, &tick), 5);
            lines.partner(&Partner::default(), &tick);
            lines.communicator(b"World", object_kind::COMM, 1, &Default::default(), &tick);
            lines.switches(b"OMPI_MCA_x=1");
            lines.unended(3, 2, 7);
            open_calls.iter().for_each(|call| lines.open_call(call));
            open_messages.iter().for_each(|message| lines.open_message(message));
            moments.iter().for_each(|moment| lines.last_moment(moment));
            lines.started(&worlds, &Default::default(), &tick);
        },
        &mut |line| text.extend_from_slice(line),
    );
    // The launcher is that of who starts others, and of no world beside.
    let spawn = topas_mpi_profile::routine::number(b"Comm_spawn_multiple").unwrap();
    for calls in [0, 1] {
        let mut sums = Sums::new();
        sums.routines[spawn].calls = calls;
        let facts = Facts { spawned: None, launcher: 0xb7, ..facts };
        record(&head, &facts, &sums, &mut |_| {}, &mut |line| text.extend_from_slice(line));
    }
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let back: Vec<Token<'_>> =
        lines.flat_map(|line| Line::parse(line).unwrap().tokens().map(Result::unwrap)).collect();
    let launchers = back.iter().filter(|token| matches!(token, Token::Launcher(_)));
    assert_eq!(launchers.collect::<Vec<_>>(), [&Token::Launcher(0xb7)]);
    assert!(back.contains(&Token::Spawned(world)));
    let starts = back.iter().filter_map(|token| match token {
        Token::Started(start) => Some((start.world, start.launcher)),
        _ => None,
    });
    assert_eq!(starts.collect::<Vec<_>>(), [(7, 9)]);
    let called = back.iter().filter_map(|token| match token {
        Token::OpenCall(told) => {
            Some((told.routine, told.nanoseconds, told.path, told.peer, told.tag))
        }
        _ => None,
    });
    let written =
        open_calls.map(|call| (routine_name(3), call.nanoseconds, call.path, call.peer, call.tag));
    assert_eq!(called.collect::<Vec<_>>(), written);
    let open = back.iter().filter_map(|token| match token {
        Token::OpenMessage(told) => Some(*told),
        _ => None,
    });
    assert_eq!(open.collect::<Vec<_>>(), open_messages);
    let last = back.iter().filter_map(|token| match token {
        Token::LastSign(told) => {
            Some((told.began, told.last_call, told.died, told.routine, told.path, told.ended_after))
        }
        _ => None,
    });
    assert_eq!(
        last.collect::<Vec<_>>(),
        [(1, 2_000_000_001, None, &b""[..], 0, None), (5, 6, Some(9), routine_name(3), 4, Some(2))]
    );
    let function = back.iter().find_map(|token| match token {
        Token::Module { number: 4, id: b"pab", file, function: Some(name) } => Some((file, name)),
        _ => None,
    });
    let (file, name) = function.expect("a function of Python");
    assert_eq!([file.bytes().count(), name.bytes().count()], [104, 80]);
    // The module of the one frame, and the function behind it.
    let frames = back.iter().find_map(|token| match token {
        Token::Path(path) => Some(path.frames().collect::<Vec<_>>()),
        _ => None,
    });
    assert_eq!(frames, Some(vec![(Some(3), 0x10), (Some(4), 12)]));
    assert!(back.iter().any(|token| matches!(token, Token::Started(told) if told.world == 7)));
    let text = String::from_utf8(text).unwrap();
    let mut written: Vec<&str> = text
        .split_ascii_whitespace()
        .filter_map(|word| word.split_once('='))
        .map(|(key, _)| key.split_inclusive('.').next().unwrap_or(key))
        .collect();
    let mut known: Vec<&str> = KEYS.iter().map(|(key, _)| *key).collect();
    for keys in [&mut written, &mut known] {
        keys.sort_unstable();
        keys.dedup();
    }
    assert_eq!(written, known);
    assert_eq!(export(b"ci.CYC"), KeyExport::Kept);
    for unknown in [&b"secret"[..], b"ci", b"", b"c.x"] {
        assert_eq!(export(unknown), KeyExport::LeftOut);
    }
    for (key, _) in KEYS.iter().filter(|(_, export)| *export == KeyExport::AsInLog) {
        assert!(topas_format::extra::Extra::known(key.as_bytes()).is_some(), "{key}");
    }
}

#[test]
fn a_record_looks_as_documented() {
    let mut sums = Box::new(Sums::new());
    sums.ranks = 1;
    sums.wall = 12_340_000_000;
    sums.wall_max = 12_340_000_000;
    sums.threads = 1;
    sums.languages = 1;
    let number = |name: &[u8]| topas_mpi_profile::routine::number(name).unwrap();
    sums.routines[number(b"Send")] = RoutineSums {
        calls: 3,
        nanoseconds: 1_500_000,
        longest: 1_000_001,
        count: 30,
        sends: 3,
        sent: 240,
        ranks: 1,
        ..Default::default()
    };
    sums.routines[number(b"Barrier")] =
        RoutineSums { calls: 2, nanoseconds: 7, ranks: 1, ..Default::default() };
    sums.sizes[SizeClass::PointToPoint as usize][0][7] = 3;
    let mut lines = Vec::new();
    let rank = head(b"mohr", b"heat3d", Of::Rank);
    record(
        &rank,
        &facts(b"n1", Some((2, 99))),
        &sums,
        &mut |lines| {
            let mut bins = [0; BINS];
            bins[7] = 3;
            lines.sizes_of(number(b"Send"), b's', &bins);
        },
        &mut |line| lines.push(String::from_utf8(line.to_vec()).unwrap()),
    );
    assert_eq!(
        lines,
        ["2026/11/20 08:01:02 topas-mpi mohr heat3d 7 00ff00ff00ff00ff v=1 of=rank line=1/1 \
          t=1795161662 uid=4711 end=abort:-3 host=n1 job=15_3 part=big mpi=openmpi:4.1.4 rank=2 \
          pid=99 before=1.5 ranks=1 wall=12.34 wallmax=12.34 mpisum=0 mpimax=0 mpimin=0 usemax=0 over=0 \
          thr=1 lang=c level=single f=Send:3:0.0015:0.001000001:30:3:240 \
          f=Barrier:2:0.000000007:0 h=Send:s:7=3 len=371\n"]
    );
}

#[test]
fn a_line_that_was_cut_is_told() {
    let line = b"2026/11/20 08:01:02 topas-mpi u e 1 id v=1 of=run line=1/1 t=1 len=070";
    assert!(Line::parse(line).is_ok());
    for (line, fault) in [
        (&line[..66], ProfileLineFault::Length),
        (&line[..60], ProfileLineFault::Length),
        (
            b"2026/11/20 08:01:02 topas u e 1 id v=1 of=run line=1/1 t=1 len=069",
            ProfileLineFault::Other,
        ),
        (
            b"2026/02/30 08:01:02 topas-mpi u e 1 id v=1 of=run line=1/1 t=1 len=070",
            ProfileLineFault::Time,
        ),
        (
            b"2026/11/20 08:01:02 topas-mpi u e 1 id v=2 of=run line=1/1 t=1 len=070",
            ProfileLineFault::Version,
        ),
        (
            b"2026/11/20 08:01:02 topas-mpi u e 1 id v=1 of=run line=2/1 t=1 len=070",
            ProfileLineFault::Token,
        ),
    ] {
        assert_eq!(Line::parse(line).unwrap_err(), fault, "{}", String::from_utf8_lossy(line));
    }
}

/// Waits come back as they were written, in a line of a sum and in one of a rank.
#[test]
fn waits_come_back() {
    let mut sums = Box::new(Sums::new());
    (sums.ranks, sums.flags) = (2, flag::WAITS);
    let of = |calls, nanoseconds| WaitedSums { calls, nanoseconds };
    let waits = WaitSums {
        late: of(1, 2_000_000_001),
        late_receiver: of(3, 4),
        collective: of(5, 6_000),
        elsewhere: of(7, 8),
        unsure: of(9, 10),
        below: of(11, 12),
    };
    sums.waits[3] = waits;
    let tick = topas_mpi_profile::sums::TickLength::between(
        &Default::default(),
        &topas_mpi_profile::layout::Moment { ticks: 1, monotonic: 3, realtime: 0 },
    );
    let mut text = Vec::new();
    record(
        &head(b"anna", b"heat", Of::Run),
        &facts(b"n1", None),
        &sums,
        &mut |lines| {
            let late = WaitTicks { calls: 4, ticks: 5 };
            lines.blamed(8, &WaitPeer { collective: late, ..WaitPeer::default() }, &tick);
            lines.blamed(9, &WaitPeer::default(), &tick);
            let slept = WaitTicks { calls: 4, ticks: 3 };
            lines.asked(6, &WaitPeer { between: late, slept, ..WaitPeer::default() }, &tick);
            lines.asked(9, &WaitPeer { late, ..WaitPeer::default() }, &tick);
            let mut id = [0; 64];
            id[..4].copy_from_slice(b"5c:3");
            let waits = WaitPeer { late, ..WaitPeer::default() };
            for (parent, waits) in [(1, waits), (0, waits), (0, WaitPeer::default())] {
                lines.blamed_outside(&Outsider { id, rank: 7, parent, waits }, &tick);
            }
        },
        &mut |line| text.extend_from_slice(line),
    );
    let line = Line::parse(&text).unwrap();
    let tokens: Vec<_> = line.tokens().map(Result::unwrap).collect();
    let name = routine_name(3);
    assert!(tokens.contains(&Token::Waits { name, number: Some(3), waits }), "{tokens:?}");
    let none = WaitedSums::default();
    let blamed = Token::Blamed { rank: 8, waits: [none, none, of(4, 15)] };
    assert!(tokens.contains(&blamed), "{tokens:?}");
    let asked = tokens.iter().filter(|token| matches!(token, Token::Asked { .. }));
    let one = Token::Asked { rank: 6, between: of(4, 15), slept: 9 };
    assert_eq!(asked.collect::<Vec<_>>(), [&one], "{tokens:?}");
    let outside: Vec<_> = tokens
        .iter()
        .filter_map(|token| match token {
            Token::BlamedOutside { launch, is_parent, rank, waits } => {
                Some((launch.bytes().collect::<Vec<u8>>(), *is_parent, *rank, *waits))
            }
            _ => None,
        })
        .collect();
    let one = |is_parent| (b"5c:3".to_vec(), is_parent, 7, [of(4, 15), none, none]);
    assert_eq!(outside, [one(true), one(false)]);
    let fact = |key: &[u8]| {
        tokens.iter().find_map(|token| match token {
            Token::Fact(name, value) if *name == key => Some(value.bytes().collect::<Vec<u8>>()),
            _ => None,
        })
    };
    assert_eq!(fact(b"late").as_deref(), Some(&b"2.000000001"[..]));
    assert_eq!(fact(b"latercv").as_deref(), Some(&b"0.000000004"[..]));
    assert_eq!(fact(b"coll").as_deref(), Some(&b"0.000006"[..]));
    assert_eq!(fact(b"lateunk").as_deref(), Some(&b"0.000000018"[..]));
}
