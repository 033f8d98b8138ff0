//! Charts that the tests draw: each kind as it is meant, and with what nobody means.

use topas_chart::{
    Arrangement, AxisUnit, BarBucket, BarPlaces, Bars, BoxGroup, BoxPlot, Calendar, CalendarCell,
    Caption, Chart, HeatMatrix, HeatStrip, Points, Quantity, Series,
};

/// Name and chart.
pub fn all() -> Vec<(&'static str, Box<dyn Chart>)> {
    vec![
        ("bars-stacked", Box::new(stacked())),
        ("bars-log", Box::new(log_scale())),
        ("bars-categories", Box::new(categories())),
        ("bars-names", Box::new(long_names())),
        ("bars-beside", Box::new(beside())),
        ("bars-gap", Box::new(gap())),
        ("bars-hostile", Box::new(hostile())),
        ("heat-16", Box::new(strip(16))),
        ("heat-64", Box::new(strip(64))),
        ("large-heat-1000", Box::new(HeatStrip { per_row: Some(48), ..strip(1000) })),
        ("large-heat-4096", Box::new(strip(4096))),
        ("large-heat-100000", Box::new(strip(100_000))),
        ("heat-equal", Box::new(same(1))),
        ("heat-empty", Box::new(HeatStrip::new(rate(), vec![None; 4]))),
        ("boxes", Box::new(hosts(8))),
        ("large-boxes", Box::new(hosts(100))),
        ("points-64", Box::new(per_pe(64))),
        ("large-points-2000", Box::new(per_pe(2000))),
        ("large-points-100000", Box::new(per_pe(100_000))),
        ("points-two", Box::new(compared())),
        ("matrix-4", Box::new(HeatMatrix { missing: vec![2], ..peers(4) })),
        ("matrix-24", Box::new(peers(24))),
        (
            "matrix-empty",
            Box::new(HeatMatrix { missing: vec![0, 1], values: Vec::new(), ..peers(2) }),
        ),
        ("matrix-zero", Box::new(HeatMatrix { values: Vec::new(), ..peers(3) })),
        ("large-matrix-10000", Box::new(peers(10_000))),
        ("calendar-days", Box::new(days(30))),
        ("calendar-hours", Box::new(hours(16))),
        ("large-calendar-hours", Box::new(hours(400))),
        ("calendar-empty", Box::new(Calendar { cells: Vec::new(), ..days(2) })),
        ("bars-empty", Box::new(Bars { series: Vec::new(), ..stacked() })),
    ]
}

fn caption(title: &str, subtitle: &str, notes: &[&str]) -> Caption {
    Caption {
        title: title.to_owned(),
        subtitle: subtitle.to_owned(),
        notes: notes.iter().map(|&note| note.to_owned()).collect(),
    }
}

fn some(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

/// As Figure 1 of the 1999 paper: 20 buckets of 10 MFlop/s, the rest in one, by type of the CPU.
pub fn stacked() -> Bars {
    let shape = |rate: f64, share: f64| -> Vec<Option<f64>> {
        let bucket = |at: usize| {
            let x = (at as f64 + 0.5) / rate;
            Some(share * x * (-x).exp() / rate)
        };
        (0..21).map(bucket).collect()
    };
    let mut buckets: Vec<BarBucket> = (0..20)
        .map(|at| BarBucket {
            from: Some(f64::from(at) * 10.0),
            to: Some(f64::from(at + 1) * 10.0),
        })
        .collect();
    buckets.push(BarBucket { from: Some(200.0), to: None });
    let mut bars = Bars::new(
        BarPlaces::Buckets(buckets),
        Quantity::new("MFlop/s per PE", AxisUnit::Plain("MFlop/s")),
        Quantity::new("Share of PE time", AxisUnit::Percent),
    );
    bars.caption = caption(
        "Sustained MFlop/s per PE by CPU type",
        "Synthetic center, 1999/05/04 to 1999/08/23",
        &[
            "100% are 931 114 PE hours of 68 007 runs with a rate; rates are over the wall clock time.",
        ],
    );
    let series = |name: &str, note: &str, rate, share| Series {
        note: note.to_owned(),
        ..Series::new(name, shape(rate, share))
    };
    bars.series = vec![
        series("T3E-600", "48.1%", 1.6, 48.1),
        series("T3E-900", "23.4%", 3.1, 23.4),
        series("T3E-1200", "28.5%", 5.2, 28.5),
    ];
    bars
}

/// Buckets of 1, 2, 5 from below 1 to 1000 and above.
fn log_scale() -> Bars {
    let bounds = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0];
    let mut buckets = vec![BarBucket { from: None, to: Some(1.0) }];
    buckets.extend(bounds.windows(2).map(|w| BarBucket { from: Some(w[0]), to: Some(w[1]) }));
    buckets.push(BarBucket { from: Some(1000.0), to: None });
    let mut bars = Bars::new(
        BarPlaces::Buckets(buckets),
        Quantity::new("MFlop/s per PE", AxisUnit::Plain("MFlop/s")),
        Quantity::new("Runs", AxisUnit::Count),
    );
    bars.caption = caption("Rates on a logarithmic scale", "", &["12 345 runs with a rate."]);
    bars.series = vec![
        Series::new(
            "c",
            some(&[12.0, 30.0, 70.0, 310.0, 700.0, 900.0, 430.0, 220.0, 40.0, 3.0, 1.0]),
        ),
        Series::new(
            "cxx",
            some(&[2.0, 3.0, 17.0, 31.0, 270.0, 190.0, 143.0, 320.0, 140.0, 13.0, 4.0]),
        ),
        Series::new(
            "f77",
            some(&[1.0, 13.0, 7.0, 131.0, 70.0, 90.0, 243.0, 220.0, 40.0, 3.0, 0.0]),
        ),
        Series::new(
            "f90",
            some(&[30.0, 30.0, 97.0, 431.0, 1270.0, 2290.0, 2043.0, 920.0, 140.0, 23.0, 9.0]),
        ),
    ];
    bars
}

/// Few names, upright.
fn categories() -> Bars {
    let names = ["mpi", "sma", "-", "pvm"].map(str::to_owned).to_vec();
    let mut bars = Bars::new(
        BarPlaces::Categories(names),
        Quantity::new("Message passing library", AxisUnit::Count),
        Quantity::new("PE hours", AxisUnit::Plain("h")),
    );
    bars.caption = caption("PE hours by message passing library", "", &[]);
    bars.series = vec![Series::new("", some(&[592_858.0, 236_699.0, 101_545.0, 11.5]))];
    bars
}

/// Names that need room, more than can be shown.
fn long_names() -> Bars {
    let name = |at: usize| match at {
        0 => "a-name-of-sixty-characters-which-is-quite-long-for-a-program.x".to_owned(),
        1 => "größe_β_вычисление".to_owned(),
        2 => "תוכנית-סימולציה".to_owned(),
        _ => format!("program-{at:02}"),
    };
    let mut bars = Bars::new(
        BarPlaces::Categories((0..60).map(name).collect()),
        Quantity::new("Executable", AxisUnit::Count),
        Quantity::new("PE hours", AxisUnit::Plain("h")),
    );
    bars.caption = caption("PE hours by executable", "", &["All are 5 runs."]);
    let values = |scale: f64| -> Vec<Option<f64>> {
        (0..60).map(|at| Some(scale / f64::from(at + 1))).collect()
    };
    bars.series =
        vec![Series::new("batch", values(8000.0)), Series::new("interactive", values(700.0))];
    bars
}

/// Two runs compared.
fn beside() -> Bars {
    let mut bars = Bars::new(
        BarPlaces::even(0.5, &[180, 181, 182, 183, 184, 185]),
        Quantity::new("Rate per PE", AxisUnit::Plain("MFlop/s")),
        Quantity::new("PEs", AxisUnit::Count),
    );
    bars.arrangement = Arrangement::Beside;
    bars.caption = caption("Before and after", "heat3d on 64 PEs", &[]);
    bars.series = vec![
        Series::new("before", some(&[2.0, 11.0, 30.0, 17.0, 3.0, 1.0])),
        Series::new("after", some(&[0.0, 1.0, 4.0, 21.0, 29.0, 9.0])),
    ];
    bars
}

/// One bucket far out, and two nearby that do not meet.
fn gap() -> Bars {
    let mut bars = Bars::new(
        BarPlaces::even(50.0, &[0, 1, 4, 1_000_000]),
        Quantity::new("MFlop/s per PE", AxisUnit::Plain("MFlop/s")),
        Quantity::new("Share of runs", AxisUnit::Percent),
    );
    bars.caption = caption("A bucket far out", "", &[]);
    bars.series = vec![Series::new("", some(&[60.0, 25.0, 14.0, 1.0]))];
    bars
}

/// Names that try to be markup, values that are none, more series than colours.
fn hostile() -> Bars {
    let mut bars = Bars::new(
        BarPlaces::Categories(vec![
            "<script>alert(1)</script>".to_owned(),
            "a&b\"c'\u{1b}[31m\n".to_owned(),
        ]),
        Quantity::new("]]><!-- &amp; --", AxisUnit::Count),
        Quantity::new("<b>", AxisUnit::Si("op/s")),
    );
    bars.caption =
        caption("</title><script>1</script>", &"long ".repeat(100), &["\u{202e}drowkcab"]);
    bars.series = (0..20)
        .map(|at| {
            Series::new(format!("series <{at}>"), [Some(1e18 / f64::from(at + 1)), Some(1e17)])
        })
        .collect();
    bars.series[0].values = vec![Some(f64::NAN), Some(-1.0), Some(1.0)];
    bars
}

/// Numbers as if by chance, in 0..1, the same every time.
pub fn chance(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// About normal: the sum of twelve.
fn normal(chance: &mut impl FnMut() -> f64, mean: f64, deviation: f64) -> f64 {
    mean + deviation * ((0..12).map(|_| chance()).sum::<f64>() - 6.0)
}

/// Rates of PEs in op/s; one is slow, one is fast, one was not measured.
pub fn rates(count: usize) -> Vec<Option<f64>> {
    let mut chance = chance(7);
    let mut rates: Vec<Option<f64>> =
        (0..count).map(|_| Some(normal(&mut chance, 96.2e6, 0.15e6))).collect();
    rates[9 % count] = Some(94.1e6);
    rates[count / 2] = Some(97.6e6);
    rates[count - 3] = None;
    rates
}

fn rate() -> Quantity {
    Quantity::new("Rate", AxisUnit::Si("Flop/s"))
}

fn strip(count: usize) -> HeatStrip {
    let mut strip = HeatStrip::new(rate(), rates(count));
    strip.extremes = vec![9 % count, count / 2];
    strip.caption = caption("heat3d: rate of each PE", "launch 4711 on 2026/11/20", &[]);
    strip
}

fn hosts(count: usize) -> BoxPlot {
    let mut chance = chance(3);
    let groups = (0..count).filter_map(|host| {
        let slow = if host == 5 { 1.0e6 } else { 0.0 };
        let value = |pe: usize| {
            let value = normal(&mut chance, 96.2e6 - slow, 0.15e6);
            (if host == 2 && pe == 7 { 95.0e6 } else { value }, format!("PE {}", host * 32 + pe))
        };
        BoxGroup::of(format!("node{host:02}"), (0..32).map(value).collect::<Vec<_>>())
    });
    let mut plot = BoxPlot::new(rate(), groups.collect());
    plot.caption = caption("heat3d: rate of the PEs by host", "launch 4711", &[]);
    plot
}

fn per_pe(count: usize) -> Points {
    let mut points = Points::new(rate(), rates(count));
    points.extremes = vec![9 % count, count / 2];
    points.caption = caption("heat3d: rate of each PE", "", &[]);
    points
}

fn compared() -> Points {
    let mut chance = chance(5);
    let mut run =
        |mean: f64| (0..64).map(|_| Some(normal(&mut chance, mean, 2.0))).collect::<Vec<_>>();
    let mut points = Points::new(Quantity::new("Wall clock time", AxisUnit::Si("s")), Vec::new());
    points.series = vec![Series::new("old", run(120.0)), Series::new("new", run(104.0))];
    points.joined = true;
    points.from_zero = true;
    points.caption = caption("Two runs of heat3d", "64 PEs each", &[]);
    points
}

fn same(count: usize) -> HeatStrip {
    HeatStrip::new(Quantity::new("L1 misses", AxisUnit::Count), vec![Some(5.0); count])
}

/// What ranks of a grid send to their neighbours and to the first of them.
pub fn peers(ranks: u32) -> HeatMatrix {
    let mut matrix =
        HeatMatrix::new(Quantity::new("Bytes sent", AxisUnit::Si("B")), ranks as usize);
    (matrix.row, matrix.column) = ("sender".to_owned(), "receiver".to_owned());
    matrix.caption = caption(
        "heat3d: bytes between ranks",
        "launch 4711 on 2026/11/20",
        &["Point-to-point only."],
    );
    for rank in 0..ranks {
        let neighbours = [rank.checked_sub(1), Some(rank + 1).filter(|&r| r < ranks)];
        matrix.values.extend(neighbours.into_iter().flatten().map(|to| (rank, to, 64e6)));
        let far = [rank.checked_sub(8), Some(rank + 8).filter(|&r| r < ranks)];
        matrix.values.extend(far.into_iter().flatten().map(|to| (rank, to, 512e3)));
        matrix.values.push((rank, 0, f64::from(1 + rank % 5) * 100.0));
    }
    matrix
}

/// Days of so many weeks by day of the week: busy from Monday to Friday, a day without a capacity,
/// one that is more than full.
pub fn days(weeks: usize) -> Calendar {
    let percent = |at: usize| match at {
        9 => None,
        17 => Some(131.0),
        at if at % 7 > 4 => Some((at * 7 % 40) as f64),
        at => Some(55.0 + (at * 13 % 46) as f64),
    };
    let cell = |at: usize| CalendarCell {
        column: at / 7,
        row: at % 7,
        percent: percent(at),
        note: format!("day {at}"),
    };
    let name =
        |week: usize| if week.is_multiple_of(4) { format!("W{week:02}") } else { String::new() };
    Calendar {
        caption: caption("Utilisation by day", "2026", &["100% are the PE-hours of 2048 PEs."]),
        rows: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].map(str::to_owned).to_vec(),
        columns: (0..weeks).map(name).collect(),
        name: "Share of the PE-hours of each day".to_owned(),
        cells: (3..weeks * 7).map(cell).collect(),
        unknown: "capacity not known".to_owned(),
    }
}

/// Hours of so many days by hour of the day.
fn hours(days: usize) -> Calendar {
    let cell = |at: usize| CalendarCell {
        column: at / 24,
        row: at % 24,
        percent: Some((at * 37 % 101) as f64),
        note: format!("hour {at}"),
    };
    Calendar {
        rows: (0..24).map(|hour| format!("{hour:02}")).collect(),
        columns: (0..days).map(|day| format!("{:02}", day % 31 + 1)).collect(),
        cells: (0..days * 24).map(cell).collect(),
        ..self::days(0)
    }
}
