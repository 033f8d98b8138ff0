//! Everything about a run on one page of HTML, without script and without other files.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use topas_data::pes::{Balance, Column, Groups, KMeans, PeTable, Summary, Values};

use super::heading::{notes, when};
use super::pictures::{Drawing, drawing};
use super::quantity::{caption, shown};
use super::verdict::Verdict;
use super::{groups, listing};
use crate::number::{millis, percent, thousandths};
use crate::wording::{count, named, some_pes};
use topas_chart::Size;

/// Rows of PEs that a page holds.
pub const MOST_ROWS: usize = 1000;

/// Ranges of PEs that a cell of a table holds.
const MOST_RANGES: usize = 24;

/// Groups that a page holds of a kind.
const MOST_GROUPS: usize = 200;

/// What the page shows.
pub struct HtmlPage<'v> {
    /// The launch
    pub table: &'v PeTable,
    /// The column that is summed up and drawn
    pub column: Column,
    /// Its values
    pub values: &'v Values,
    /// Their summary
    pub summary: Option<&'v Summary>,
    /// Their clusters
    pub best: &'v KMeans,
    /// Groups with a value
    pub groups: &'v [Groups],
    /// Balance of loads
    pub balances: &'v [Balance],
    /// What stands out
    pub verdict: &'v Verdict<'v>,
    /// Rows of PEs, in their order
    pub rows: &'v [u32],
}

const STYLE: &str = "\
body{font:15px/1.45 system-ui,sans-serif;color:#1b1f24;background:#fff;margin:2em auto;max-width:60em;padding:0 1em}
h1{font-size:1.5em;margin:0}h2{font-size:1.15em;margin:1.8em 0 .4em;border-bottom:1px solid #c9ced6}
.sub,.note{color:#4a5361}.note{font-size:.9em}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92em}
th,td{padding:.15em .7em;text-align:right;border-bottom:1px solid #e4e7ec;vertical-align:top}
th{background:#f3f5f8;position:sticky;top:0}td.l,th.l{text-align:left}
pre{background:#f3f5f8;padding:.7em 1em;overflow-x:auto}
ul.findings{padding-left:1.2em}ul.findings li{margin:.3em 0}
svg{max-width:100%;height:auto}.wide{overflow-x:auto}
@media print{body{margin:0;max-width:none}th{position:static}}";

/// The page.
pub fn page(page: &HtmlPage<'_>) -> String {
    let table = page.table;
    let exes: Vec<String> = table.exes.iter().map(|exe| named(exe)).collect();
    let title = format!("{}: {}", exes.join(" and "), count(table.rows.len() as u64, "PE"));
    let drawn =
        |what| drawing(table, page.column, page.values, what).picture(Size::default()).svg();
    let missing = notes(table, Some((page.column, page.values)), usize::MAX);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                title { (title) " - TOPAS" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                p.sub { (super::heading(table)) }
                (facts(table))
                h2 { "What stands out" }
                (verdict(page))
                h2 { "Load imbalance" }
                (balances(page))
                h2 { (caption(page.column, table.metric)) }
                @for note in missing.lines() { p.note { (note) } }
                figure { (PreEscaped(inline(&drawn(Drawing::Strip)))) }
                figure { (PreEscaped(inline(&drawn(Drawing::Points)))) }
                @if table.hosts.len() > 1 {
                    figure { (PreEscaped(inline(&drawn(Drawing::Hosts)))) }
                }
                @if let Some(summary) = page.summary {
                    h2 { "Statistics" }
                    pre { (listing(table, page.column, summary, false)) }
                    p.note {
                        "Extremes (***) are farther than 1.5 interquartile ranges from the quartiles; \
                         min and max are of the rest. rho is the standard deviation of a sample."
                    }
                }
                h2 { "Clusters" }
                (clusters(page))
                @for of in page.groups { (group_table(page, of)) }
                h2 { "PEs" }
                (rows(page))
            }
        }
    }
    .into_string()
}

/// A picture as it stands in a page: without the prologue of a file.
fn inline(svg: &str) -> &str {
    svg.find("<svg").and_then(|at| svg.get(at..)).unwrap_or(svg)
}

fn facts(table: &PeTable) -> Markup {
    let launch = &table.launch;
    let npes = launch.npes.map_or_else(|| "not told".to_owned(), |npes| npes.to_string());
    let facts = [
        ("Launch", named(&launch.id)),
        ("Ended", when(launch)),
        ("User", named(&launch.user)),
        ("Job", named(&launch.job)),
        ("PEs", format!("{} of {npes}", table.rows.len())),
        ("Hosts", table.hosts.len().to_string()),
        ("Language", launch.lang.word().to_owned()),
        ("MPI", named(&launch.mpi).replace('_', " ")),
        ("Compiler", named(&launch.compiler).replace('_', " ")),
    ];
    html! {
        div.wide { table { tbody { @for (name, value) in facts {
            tr { th.l { (name) } td.l { (value) } }
        } } } }
    }
}

fn verdict(page: &HtmlPage<'_>) -> Markup {
    let sentences = page.verdict.sentences(usize::MAX);
    html! {
        ul.findings { @for sentence in &sentences { li { (sentence) } } }
    }
}

fn balances(page: &HtmlPage<'_>) -> Markup {
    html! {
        @if page.balances.is_empty() {
            p { "No PE has a load." }
        } @else {
            pre { (super::balance(page.table, page.balances, 100)) }
        }
    }
}

fn clusters(page: &HtmlPage<'_>) -> Markup {
    let shown = shown(page.column, page.table.metric);
    let all: usize = page.best.clusters.iter().map(|cluster| cluster.count).sum();
    html! {
        @if all == 0 { p { "No PE has a value." } }
        @else {
            div.wide { table {
                thead { tr {
                    th { "mean" } th { "rho" } th { "from" } th { "to" } th { "PEs" }
                    th { "of " (all) } th.l { "which" }
                } }
                tbody { @for (at, cluster) in page.best.clusters.iter().enumerate() {
                    tr {
                        td { (shown.value(page.best.means[at])) }
                        td { (shown.value_as(page.best.deviations[at], page.best.means[at])) }
                        td { (shown.number(cluster.from)) }
                        td { (shown.number(cluster.to)) }
                        td { (cluster.count) }
                        td { (percent(cluster.count as f64 / all as f64)) }
                        td.l { (some_pes(&cluster.pes, MOST_RANGES)) }
                    }
                } }
            } }
            p.note { "Optimal one-dimensional k-means, number of clusters by the Bayesian information criterion." }
        }
    }
}

fn group_table(page: &HtmlPage<'_>, of: &Groups) -> Markup {
    let shown = shown(page.column, page.table.metric);
    let number =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| shown.number(value));
    let rest = of.groups.len().saturating_sub(MOST_GROUPS);
    html! {
        h2 { "By " (groups::kind(of.by)) }
        div.wide { table {
            thead { tr {
                th.l { (groups::kind(of.by)) } th { "PEs" } th { "min" } th { "median" } th { "max" }
                th { "mean" } th { "CPU time" } th.l { "which" }
            } }
            tbody { @for group in of.groups.iter().take(MOST_GROUPS) {
                tr {
                    td.l { (groups::name(page.table, of.by, group.name, group.numa)) }
                    td { (group.count) }
                    td { (number(group.min.map(|min| min.0))) }
                    td { (number(group.median)) }
                    td { (number(group.max.map(|max| max.0))) }
                    td { (number(group.mean)) }
                    td {
                        @if of.cpu_time == 0 { "-" }
                        @else { (percent(group.cpu_time as f64 / of.cpu_time as f64)) }
                    }
                    td.l { (some_pes(&group.pes, MOST_RANGES)) }
                }
            } }
        } }
        @if rest > 0 { p.note { (rest) " more are not shown; topasview --groups --csv has all." } }
    }
}

fn rows(page: &HtmlPage<'_>) -> Markup {
    let table = page.table;
    let unit = |column| shown(column, table.metric).unit;
    let cell = |n: Option<u64>| match n {
        None => "-".to_owned(),
        Some(n) => format!("{}.{:03}", n / 1000, n % 1000),
    };
    let all = page.rows.len();
    html! {
        @if all > MOST_ROWS {
            p.note { "The first " (MOST_ROWS) " of " (all) " PEs; topasview --csv has all." }
        }
        div.wide { table {
            thead {
                tr {
                    th { "PE" } th.l { "host" } th { "wall" } th { "system" } th { "user" }
                    th { "counter" } th { "rate" } th { "L1 misses" }
                }
                tr {
                    th {} th.l {} th { "s" } th { "s" } th { "s" }
                    th { (unit(Column::Counter)) } th { (unit(Column::Rate)) } th { (unit(Column::MissRate)) }
                }
            }
            tbody { @for pe in page.rows.iter().take(MOST_ROWS).filter_map(|&row| table.rows.get(row as usize)) {
                tr {
                    td { (pe.pe) }
                    td.l { (named(table.host(pe))) }
                    @for time in [pe.wall, pe.system, pe.user] { td { (cell(Some(millis(time)))) } }
                    @let count = pe.count.value().filter(|_| pe.metric == table.metric);
                    td { @match count { Some(n) => (n), None => "-" } }
                    td { (cell(count.and_then(|n| thousandths(n, pe.wall)))) }
                    td { (cell(pe.l1_misses.value().and_then(|n| thousandths(n, pe.wall)))) }
                }
            } }
        } }
    }
}
