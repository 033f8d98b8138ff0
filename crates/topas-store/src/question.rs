//! The questions: each stands here once, for every store.

use topas_data::measure::{IntegerSums, MEASURES, Sample};

use crate::error::StoreError;
use crate::schema::{BY_CLASS, BY_RATE, BY_USER, Cell, CellKind, PROFILES, RUNS};
use crate::store::Store;
use crate::stored_run::{StoredRun, stored_text};
use crate::sums::zero_name;

/// What sums are by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumsBy {
    /// User name
    User,
    /// Owner, see [`owner_of`](crate::owner_of)
    Owner,
    /// Language
    Language,
    /// Message passing library
    Library,
    /// Month of the end: 202611
    Month,
    /// Day of the end: 20261122
    Day,
    /// Bin of 50 MFlop/s per PE; -1 without a rate
    Rate,
}

impl SumsBy {
    /// Table and column.
    fn place(self) -> (&'static str, (&'static str, CellKind)) {
        match self {
            SumsBy::User => (BY_USER.name, ("user_name", CellKind::Text)),
            SumsBy::Owner => (BY_USER.name, ("owner", CellKind::Text)),
            SumsBy::Month => (BY_USER.name, ("month", CellKind::Int)),
            SumsBy::Day => (BY_USER.name, ("day", CellKind::Int)),
            SumsBy::Language => (BY_RATE.name, ("lang", CellKind::Text)),
            SumsBy::Library => (BY_RATE.name, ("lib", CellKind::Text)),
            SumsBy::Rate => (BY_RATE.name, ("bin", CellKind::Int)),
        }
    }
}

/// Sums of the runs of one value of what they are by.
#[derive(Clone, Debug, PartialEq)]
pub struct SumsRow {
    /// The value
    pub key: Cell,
    /// Name in the column `measure`, and its sums; the first is of all runs
    pub sums: Vec<(String, IntegerSums)>,
}

impl SumsRow {
    fn of(&self, name: &str) -> IntegerSums {
        self.sums
            .iter()
            .find(|(known, _)| known == name)
            .map_or_else(IntegerSums::default, |of| of.1)
    }

    /// Of all its runs.
    pub fn all(&self) -> IntegerSums {
        self.of("")
    }

    /// The measure of this name; None if there is no such measure.
    pub fn sample(&self, measure: &str) -> Option<Sample> {
        let known = MEASURES.iter().find(|known| known.name == measure)?;
        let [valued, zero] = [known.name, &zero_name(known.name)].map(|name| self.of(name));
        Some(Sample::of_sums(&self.all(), &valued, &zero))
    }
}

/// The sums of all runs that ended in these days (20261122), the first and the last included;
/// in the order of their keys. Of one owner's runs only where `by` is a time or a user.
///
/// # Errors
///
/// [`StoreError`] if the store does not answer.
pub fn sums_by(
    store: &mut dyn Store,
    by: SumsBy,
    days: (i64, i64),
    owners: &[String],
) -> Result<Vec<SumsRow>, StoreError> {
    let dialect = store.dialect();
    let (table, column) = by.place();
    let sums: Vec<String> = IntegerSums::COLUMNS.iter().map(|column| dialect.sum(column)).collect();
    let key = column.0;
    let mut values = vec![Cell::Int(days.0), Cell::Int(days.1)];
    let mut owned = String::new();
    if !owners.is_empty() && table == BY_USER.name {
        owned = format!("AND owner IN ({})", vec!["?"; owners.len()].join(", "));
        values.extend(owners.iter().cloned().map(Cell::Text));
    }
    let sql = format!(
        "SELECT {key}, measure, {} FROM {} WHERE day >= ? AND day <= ? {owned} \
         GROUP BY {key}, measure ORDER BY {key}, measure",
        sums.join(", "),
        dialect.table(table)
    );
    sums_rows(store, &sql, &values, Some(column))
}

/// The sums of all runs of all days; None if there are none.
///
/// # Errors
///
/// [`StoreError`] if the store does not answer.
pub fn sums_of_all(store: &mut dyn Store) -> Result<Option<SumsRow>, StoreError> {
    let dialect = store.dialect();
    let sums: Vec<String> = IntegerSums::COLUMNS.iter().map(|column| dialect.sum(column)).collect();
    // This table has the fewest rows of those that have every run once.
    let sql = format!(
        "SELECT measure, {} FROM {} GROUP BY measure ORDER BY measure",
        sums.join(", "),
        dialect.table(BY_CLASS.name)
    );
    Ok(sums_rows(store, &sql, &[], None)?.pop())
}

/// The rows of an answer: the value of `column`, if sums are by one, the measure, and sums.
fn sums_rows(
    store: &mut dyn Store,
    sql: &str,
    values: &[Cell],
    column: Option<(&str, CellKind)>,
) -> Result<Vec<SumsRow>, StoreError> {
    let mut kinds: Vec<CellKind> = column.map(|(_, kind)| kind).into_iter().collect();
    kinds.push(CellKind::Text);
    kinds.extend([CellKind::Int; IntegerSums::COLUMNS.len()]);
    let mut rows: Vec<SumsRow> = Vec::new();
    for row in store.select(sql, values, &kinds)? {
        let mut row = row.into_iter();
        let key = match column {
            Some(_) => row.next().ok_or(StoreError::Value { column: "key" })?,
            None => Cell::Int(0),
        };
        let Some(Cell::Text(measure)) = row.next() else {
            return Err(StoreError::Value { column: "measure" });
        };
        let sums = integer_sums(row)?;
        match rows.last_mut().filter(|last| last.key == key) {
            Some(last) => last.sums.push((measure, sums)),
            None => rows.push(SumsRow { key, sums: vec![(measure, sums)] }),
        }
    }
    // What late lines took away leaves rows of zeros.
    rows.retain(|row| row.all().share().runs > 0);
    for row in &mut rows {
        row.sums.retain(|(_, sums)| !sums.is_zero());
    }
    // Databases order texts in their own ways.
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(rows)
}

fn integer_sums(cells: impl Iterator<Item = Cell>) -> Result<IntegerSums, StoreError> {
    let mut sums = IntegerSums::default();
    let mut cells = cells;
    for (number, column) in sums.0.iter_mut().zip(IntegerSums::COLUMNS) {
        let Some(Cell::Int(value)) = cells.next() else { return Err(StoreError::Value { column }) };
        *number = value;
    }
    Ok(sums)
}

/// Which runs are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Whose; None: everybody's
    pub owner: Option<String>,
    /// Only of this executable
    pub exe: Option<String>,
    /// Only those whose executable or job holds this text
    pub text: Option<String>,
    /// Only of this job
    pub job: Option<String>,
    /// Only of so many PEs
    pub npes: Option<i64>,
    /// Only those that ended on this day or later (20261122)
    pub from: Option<i64>,
    /// Only those that ended on this day or earlier
    pub to: Option<i64>,
    /// Only those that ended badly
    pub failed: bool,
}

/// The place of a run in the order of lists: the latest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPosition {
    /// End in µs since 1970-01-01
    pub last: i64,
    /// Its id
    pub id: i64,
}

/// The latest runs, or those behind a position: so many at most, the latest first.
///
/// # Errors
///
/// [`StoreError`] if the store does not answer.
pub fn latest_runs(
    store: &mut dyn Store,
    filter: &RunFilter,
    behind: Option<RunPosition>,
    most: usize,
) -> Result<Vec<StoredRun>, StoreError> {
    let dialect = store.dialect();
    let mut conditions = vec!["gone = 0".to_owned()];
    let mut values = Vec::new();
    let mut equal = |column: &str, value: Option<Cell>| {
        if let Some(value) = value {
            conditions.push(format!("{column} ?"));
            values.push(value);
        }
    };
    let text = |text: &Option<String>| text.clone().map(Cell::Text);
    equal("owner =", text(&filter.owner));
    equal("exe =", text(&filter.exe));
    equal("job =", text(&filter.job));
    equal("npes =", filter.npes.map(Cell::Int));
    equal("day >=", filter.from.map(Cell::Int));
    equal("day <=", filter.to.map(Cell::Int));
    if let Some(text) = &filter.text {
        conditions.push(format!("({} OR {})", dialect.contains("exe"), dialect.contains("job")));
        values.extend([Cell::Text(text.clone()), Cell::Text(text.clone())]);
    }
    if filter.failed {
        conditions.push("ending > 0".to_owned());
    }
    if let Some(RunPosition { last, id }) = behind {
        conditions.push("last_us <= ? AND (last_us < ? OR id < ?)".to_owned());
        values.extend([Cell::Int(last), Cell::Int(last), Cell::Int(id)]);
    }
    let behind_them = format!(
        "FROM {} WHERE {} ORDER BY last_us DESC, id DESC LIMIT {most}",
        dialect.table(RUNS.name),
        conditions.join(" AND ")
    );
    if dialect.reads_columns() {
        let keys = keys(store, &format!("SELECT {KEY} {behind_them}"), &values)?;
        let mut runs = runs_of_keys(store, &keys)?;
        runs.sort_unstable_by_key(|run| std::cmp::Reverse((run.last, run.id)));
        return Ok(runs);
    }
    runs(store, &format!("SELECT {} {behind_them}", RUNS.column_names()), &values)
}

/// One run; None if there is none, or it belongs to somebody else.
///
/// # Errors
///
/// [`StoreError`] if the store does not answer.
pub fn find_run(
    store: &mut dyn Store,
    launch: i64,
    id: i64,
) -> Result<Option<StoredRun>, StoreError> {
    let dialect = store.dialect();
    let values = [Cell::Int(launch), Cell::Int(id)];
    if dialect.reads_columns() {
        // Rows that replace each other have the same key.
        let sql = format!("SELECT DISTINCT {KEY} FROM {} WHERE launch = ? AND id = ?", RUNS.name);
        let keys = keys(store, &sql, &values)?;
        return Ok(runs_of_keys(store, &keys)?.pop());
    }
    let sql = format!(
        "SELECT {} FROM {} WHERE gone = 0 AND launch = ? AND id = ? LIMIT 1",
        RUNS.column_names(),
        dialect.table(RUNS.name)
    );
    Ok(runs(store, &sql, &values)?.pop())
}

/// The columns of the key of a run.
const KEY: &str = "owner, launch, id";

/// The keys of runs, as a database finds them that reads a column of many rows at once: without their
/// lines, which are most of what is stored.
fn keys(store: &mut dyn Store, sql: &str, values: &[Cell]) -> Result<Vec<Cell>, StoreError> {
    let kinds: Vec<CellKind> = RUNS.key.iter().map(|column| column.kind).collect();
    Ok(store.select(sql, values, &kinds)?.into_iter().flatten().collect())
}

/// Keys in one question: a server takes no longer ones than 256 KiB.
const MOST_KEYS: usize = 1000;

/// The runs of these keys, in any order.
fn runs_of_keys(store: &mut dyn Store, keys: &[Cell]) -> Result<Vec<StoredRun>, StoreError> {
    let mut all = Vec::new();
    for some in keys.chunks(MOST_KEYS * RUNS.key.len()) {
        let sql = format!(
            "SELECT {} FROM {} WHERE gone = 0 AND ({KEY}) IN ({})",
            RUNS.column_names(),
            store.dialect().table(RUNS.name),
            vec!["(?, ?, ?)"; some.len() / RUNS.key.len()].join(", ")
        );
        all.extend(runs(store, &sql, some)?);
    }
    Ok(all)
}

fn runs(store: &mut dyn Store, sql: &str, values: &[Cell]) -> Result<Vec<StoredRun>, StoreError> {
    let kinds: Vec<CellKind> = RUNS.columns().map(|column| column.kind).collect();
    let rows = store.select(sql, values, &kinds)?;
    rows.into_iter().map(StoredRun::of_cells).collect()
}

/// Most lines of MPI profiles that are read for a run: those of a record of 100,000 ranks.
const MOST_PROFILE_LINES: usize = 100_000;

/// The lines of the MPI profiles of a launch id, each with a newline, in the order in which they came:
/// those that this owner vouches for, and those of files that are believed. An id can come again.
///
/// # Errors
///
/// [`StoreError`] if the store does not answer.
pub fn profile_lines(store: &mut dyn Store, id: &[u8], owner: &str) -> Result<Vec<u8>, StoreError> {
    let sql = format!(
        "SELECT line FROM {} WHERE id = ? AND owner IN (?, '') ORDER BY version, place \
         LIMIT {MOST_PROFILE_LINES}",
        store.dialect().table(PROFILES.name)
    );
    let values = [Cell::Text(stored_text(id)), Cell::Text(owner.to_owned())];
    let mut text = Vec::new();
    for row in store.select(&sql, &values, &[CellKind::Bytes])? {
        if let Some(Cell::Bytes(line)) = row.first() {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    }
    Ok(text)
}

/// Sums of a measure by owner, over runs of one class that ended from a month on (202611).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunClass {
    /// Language
    pub lang: String,
    /// Message passing library
    pub lib: String,
    /// Number of PEs, rounded down to a power of two
    pub size: i64,
}

/// What other users' runs of a class have: a sample of the measure for each owner.
///
/// # Errors
///
/// [`StoreError`] if the store does not answer.
pub fn class_samples(
    store: &mut dyn Store,
    class: &RunClass,
    from_month: i64,
    measure: &str,
) -> Result<Vec<(String, Sample)>, StoreError> {
    let dialect = store.dialect();
    let sums: Vec<String> = IntegerSums::COLUMNS.iter().map(|column| dialect.sum(column)).collect();
    let sql = format!(
        "SELECT owner, {} FROM {} WHERE month >= ? AND lang = ? AND lib = ? AND size = ? \
         AND measure = ? GROUP BY owner ORDER BY owner",
        sums.join(", "),
        dialect.table(BY_CLASS.name)
    );
    let values = [
        Cell::Int(from_month),
        Cell::Text(class.lang.clone()),
        Cell::Text(class.lib.clone()),
        Cell::Int(class.size),
        Cell::Text(measure.to_owned()),
    ];
    let mut kinds = vec![CellKind::Text];
    kinds.extend([CellKind::Int; IntegerSums::COLUMNS.len()]);
    let mut samples = Vec::new();
    for row in store.select(&sql, &values, &kinds)? {
        let mut row = row.into_iter();
        let Some(Cell::Text(owner)) = row.next() else {
            return Err(StoreError::Value { column: "owner" });
        };
        let sums = integer_sums(row)?;
        if sums.share().runs > 0 {
            let none = IntegerSums::default();
            samples.push((owner, Sample::of_sums(&sums, &sums, &none)));
        }
    }
    Ok(samples)
}

/// The owners whose lines name this user.
///
/// # Errors
///
/// [`StoreError`] if the store does not answer.
pub fn owners_of(store: &mut dyn Store, user: &str) -> Result<Vec<String>, StoreError> {
    let sql = format!(
        "SELECT DISTINCT owner FROM {} WHERE user_name = ? AND measure = '' ORDER BY owner",
        store.dialect().table(BY_USER.name)
    );
    let rows = store.select(&sql, &[Cell::Text(user.to_owned())], &[CellKind::Text])?;
    let owner = |row: Vec<Cell>| match row.into_iter().next() {
        Some(Cell::Text(owner)) => Ok(owner),
        _ => Err(StoreError::Value { column: "owner" }),
    };
    rows.into_iter().map(owner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use crate::store::Dialect;

    /// Tells how the index finds what it is asked for, and finds nothing.
    struct Explained(Index, String);

    impl Store for Explained {
        fn dialect(&self) -> Dialect {
            self.0.dialect()
        }

        fn select(
            &mut self,
            sql: &str,
            values: &[Cell],
            _: &[CellKind],
        ) -> Result<Vec<Vec<Cell>>, StoreError> {
            let kinds = [CellKind::Int, CellKind::Int, CellKind::Int, CellKind::Text];
            let steps = self.0.select(&format!("EXPLAIN QUERY PLAN {sql}"), values, &kinds)?;
            for step in steps {
                if let Some(Cell::Text(step)) = step.last() {
                    self.1 += step;
                    self.1.push('\n');
                }
            }
            Ok(Vec::new())
        }
    }

    #[test]
    fn pages_are_found_without_a_scan_of_all_runs() {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::open(&dir.path().join("index")).unwrap();
        let mut store = Explained(index, String::new());
        let behind = RunPosition { last: 1, id: 1 };
        let mut told = |filter: &RunFilter, behind| {
            latest_runs(&mut store, filter, behind, 50).unwrap();
            std::mem::take(&mut store.1)
        };
        let own = RunFilter { owner: Some("1".to_owned()), ..RunFilter::default() };
        let exe = || Some("heat".to_owned());
        for (filter, index) in [
            (RunFilter::default(), "runs_last"),
            (own.clone(), "runs_owner (owner=?"),
            (RunFilter { failed: true, text: exe(), ..own.clone() }, "runs_owner (owner=?"),
            (RunFilter { from: Some(20_260_101), ..own.clone() }, "runs_owner (owner=?"),
            (
                RunFilter { exe: exe(), npes: Some(4), ..own.clone() },
                "runs_program (owner=? AND exe=?",
            ),
            (RunFilter { job: exe(), ..own.clone() }, "runs_job (job=? AND owner=?"),
            (RunFilter { job: exe(), ..RunFilter::default() }, "runs_job (job=?"),
        ] {
            for behind in [None, Some(behind)] {
                let plan = told(&filter, behind);
                assert!(plan.contains(index), "{filter:?}: {plan}");
                // Only the few runs of a job may be sorted.
                assert!(
                    !plan.contains("TEMP B-TREE") || index.contains("job"),
                    "{filter:?}: {plan}"
                );
            }
        }
        owners_of(&mut store, "anna").unwrap();
        find_run(&mut store, 1, 2).unwrap();
        let class = RunClass { lang: "c".to_owned(), lib: "mpi".to_owned(), size: 4 };
        class_samples(&mut store, &class, 202_601, "mflops").unwrap();
        for index in
            ["by_user_name (user_name=?)", "runs_launch (launch=?", "by_class_class (lang=?"]
        {
            assert!(store.1.contains(index), "{}", store.1);
        }
        assert!(!store.1.contains("SCAN"), "{}", store.1);
    }
}
