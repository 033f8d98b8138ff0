//! Everything about a run on one page of HTML, without script and without other files.

use std::thread;

use maud::{Markup, html};
use topas_data::pes::{Balance, Column, Groups, KMeans, PeTable, Summary, Values};

use super::heading::{notes, when};
use super::pictures::{Drawing, drawing};
use super::quantity::{caption, shown};
use super::verdict::{Verdict, even_spread, most_loaded};
use super::{groups, listing};
use crate::html::{self, document, section, wide};
use crate::number::{millis, percent, thousandths};
use crate::wording::{count, named, some_pes};

/// Rows of PEs that a page holds.
pub const MOST_ROWS: usize = 1000;

/// Ranges of PEs that a cell of a table holds.
const MOST_RANGES: usize = 24;

/// Groups that a page holds of a kind.
const MOST_GROUPS: usize = 200;

/// PEs from which on each drawing is worth a thread.
const MANY: usize = 20_000;

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

/// The page.
pub fn page(page: &HtmlPage<'_>) -> String {
    let table = page.table;
    let exes: Vec<String> = table.exes.iter().map(|exe| named(exe)).collect();
    let title = format!("{}: {}", exes.join(" and "), count(table.rows.len() as u64, "PE"));
    let missing = notes(table, Some((page.column, page.values)), usize::MAX);
    let [strip, points, hosts] = figures(page);
    document(
        &title,
        &html! {
            h1 { (title) }
            p.soft { (super::heading(table)) }
            (facts(table))
        },
        &html! {
            (section("findings", "What stands out", &verdict(page)))
            (section("balance", "Load imbalance", &balances(page)))
            (section("values", &caption(page.column, table.metric), &html! {
                @for note in missing.lines() { p.note { (note) } }
                (strip) (points)
                @if table.hosts.len() > 1 { (hosts) }
            }))
            @if let Some(summary) = page.summary {
                (section("statistics", "Statistics", &statistics(page, summary)))
            }
            (section("clusters", "Clusters", &clusters(page)))
            @for of in page.groups { (group_table(page, of)) }
            (section("pes", "PEs", &rows(page)))
        },
        &html! {
            p.note { "Made by topasview, a tool of TOPAS. This page is one file and has no scripts." }
        },
    )
}

/// A picture of the values.
/// The drawings of the column, each made by a thread of its own where there are many PEs.
fn figures(page: &HtmlPage<'_>) -> [Markup; 3] {
    const DRAWINGS: [Drawing; 3] = [Drawing::Strip, Drawing::Points, Drawing::Hosts];
    let &HtmlPage { table, column, values, .. } = page;
    let figure = |what| html::figure(&*drawing(table, column, values, what));
    if table.rows.len() < MANY {
        return DRAWINGS.map(figure);
    }
    thread::scope(|scope| {
        let threads = DRAWINGS.map(|what| (what, scope.spawn(move || figure(what))));
        threads.map(|(what, thread)| thread.join().unwrap_or_else(|_| figure(what)))
    })
}

fn statistics(page: &HtmlPage<'_>, summary: &Summary) -> Markup {
    let text = html! { pre { (listing(page.table, page.column, summary, false)) } };
    html! {
        (wide("Statistics", &text))
        p.note {
            "Extremes (***) are farther than 1.5 interquartile ranges from the quartiles; \
             min and max are of the rest. rho is the standard deviation of a sample."
        }
    }
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
        (wide("The launch", &html! { table { tbody { @for (name, value) in facts {
            tr { th.l scope="row" { (name) } td.l { (value) } }
        } } } }))
    }
}

fn verdict(page: &HtmlPage<'_>) -> Markup {
    let sentences = page.verdict.sentences(usize::MAX);
    html! {
        ul.findings { @for sentence in &sentences { li { (sentence) } } }
    }
}

fn balances(page: &HtmlPage<'_>) -> Markup {
    let table = html! {
        table {
            thead { tr {
                th.l scope="col" { "load" } th scope="col" { "imbalance" } th scope="col" { "max" }
                th scope="col" { "on PE" } th scope="col" { "mean" } th scope="col" { "of PEs" }
            } }
            tbody { @for balance in page.balances {
                @let shown = shown(balance.of, page.table.metric);
                tr {
                    th.l scope="row" { (shown.name) }
                    td { (percent(balance.imbalance())) }
                    td { (shown.value(balance.max.0)) }
                    td { (most_loaded(page.table, balance)) }
                    td { (shown.value(balance.mean)) }
                    td { (balance.pes) }
                }
            } }
        }
    };
    html! {
        @if page.balances.is_empty() {
            p { "No PE has a load." }
        } @else {
            (wide("Load imbalance", &table))
            p.note { "Imbalance is how much the PE with the most has beyond the mean, as a share of the mean." }
            @if let Some(sentence) = even_spread(page.table, page.balances) { p { (sentence) } }
        }
    }
}

fn clusters(page: &HtmlPage<'_>) -> Markup {
    let shown = shown(page.column, page.table.metric);
    let all: usize = page.best.clusters.iter().map(|cluster| cluster.count).sum();
    html! {
        @if all == 0 { p { "No PE has a value." } }
        @else {
            (wide("Clusters", &html! { table {
                thead { tr {
                    th scope="col" { "mean" } th scope="col" { "rho" } th scope="col" { "from" }
                    th scope="col" { "to" } th scope="col" { "PEs" } th scope="col" { "of " (all) }
                    th.l scope="col" { "which" }
                } }
                tbody { @for (at, cluster) in page.best.clusters.iter().enumerate() {
                    tr {
                        td { (shown.value(page.best.means[at])) }
                        td { (shown.value_as(page.best.deviations[at], page.best.means[at])) }
                        td { (shown.number(cluster.from)) }
                        td { (shown.number(cluster.to)) }
                        td { (cluster.count) }
                        td { (percent(cluster.count as f64 / all as f64)) }
                        td.list { (some_pes(&cluster.pes, MOST_RANGES)) }
                    }
                } }
            } }))
            p.note { "Optimal one-dimensional k-means, number of clusters by the Bayesian information criterion." }
        }
    }
}

fn group_table(page: &HtmlPage<'_>, of: &Groups) -> Markup {
    let shown = shown(page.column, page.table.metric);
    let number =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| shown.number(value));
    let rest = of.groups.len().saturating_sub(MOST_GROUPS);
    let kind = groups::kind(of.by);
    let table = html! {
        table {
            thead { tr {
                th.l scope="col" { (kind) } th scope="col" { "PEs" } th scope="col" { "min" }
                th scope="col" { "median" } th scope="col" { "max" } th scope="col" { "mean" }
                th scope="col" { "CPU time" } th.l scope="col" { "which" }
            } }
            tbody { @for group in of.groups.iter().take(MOST_GROUPS) {
                tr {
                    th.l scope="row" { (groups::name(page.table, of.by, group.name, group.numa)) }
                    td { (group.count) }
                    td { (number(group.min.map(|min| min.0))) }
                    td { (number(group.median)) }
                    td { (number(group.max.map(|max| max.0))) }
                    td { (number(group.mean)) }
                    td {
                        @if of.cpu_time == 0 { "-" }
                        @else { (percent(group.cpu_time as f64 / of.cpu_time as f64)) }
                    }
                    td.list { (some_pes(&group.pes, MOST_RANGES)) }
                }
            } }
        }
    };
    let title = format!("By {kind}");
    let id = format!("by-{}", kind.replace(' ', "-").to_ascii_lowercase());
    section(
        &id,
        &title,
        &html! {
            (wide(&title, &table))
            @if rest > 0 { p.note { (rest) " more are not shown; topasview --groups --csv has all." } }
        },
    )
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
        (wide("PEs", &html! { table {
            thead {
                tr {
                    th scope="col" { "PE" } th.l scope="col" { "host" } th scope="col" { "wall" }
                    th scope="col" { "system" } th scope="col" { "user" } th scope="col" { "counter" }
                    th scope="col" { "rate" } th scope="col" { "L1 misses" }
                }
                tr {
                    td {} td {} td { "s" } td { "s" } td { "s" }
                    td { (unit(Column::Counter)) } td { (unit(Column::Rate)) } td { (unit(Column::MissRate)) }
                }
            }
            tbody { @for pe in page.rows.iter().take(MOST_ROWS).filter_map(|&row| table.rows.get(row as usize)) {
                tr {
                    th scope="row" { (pe.pe) }
                    td.l { (named(table.host(pe))) }
                    @for time in [pe.wall, pe.system, pe.user] { td { (cell(Some(millis(time)))) } }
                    @let count = pe.count.value().filter(|_| pe.metric == table.metric);
                    td { @match count { Some(n) => (n), None => "-" } }
                    td { (cell(count.and_then(|n| thousandths(n, pe.wall)))) }
                    td { (cell(pe.l1_misses.value().and_then(|n| thousandths(n, pe.wall)))) }
                }
            } }
        } }))
    }
}
