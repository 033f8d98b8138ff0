//! Jobs of `sacct --json`, one after the other, as the cells that rows of `sacct -P` have.

use std::fmt;
use std::io::Read;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::row::{COLUMNS, Column, Row};

/// Minutes from which on a time limit is none: Slurm's numbers for "infinite" and "no value".
const NO_LIMIT: u64 = 0xffff_fffe;

/// Gives each member of `jobs` to `each`; what else the object has is passed over.
///
/// # Errors
///
/// If this is no JSON, or no object with a list `jobs`; the jobs before have been given.
pub(super) fn each_job(reader: impl Read, each: impl FnMut(&Value)) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_reader(reader);
    json.deserialize_map(SacctObject(each))?;
    json.end()
}

/// The object that sacct prints.
struct SacctObject<F>(F);

impl<'de, F: FnMut(&Value)> Visitor<'de> for SacctObject<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object of sacct --json")
    }

    fn visit_map<M: MapAccess<'de>>(mut self, mut map: M) -> Result<(), M::Error> {
        let mut found = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == "jobs" {
                map.next_value_seed(JobList(&mut self.0))?;
                found = true;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if found { Ok(()) } else { Err(M::Error::missing_field("jobs")) }
    }
}

/// The list of jobs, of which one at a time is in memory.
struct JobList<'f, F>(&'f mut F);

impl<'de, F: FnMut(&Value)> DeserializeSeed<'de> for JobList<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(&Value)> Visitor<'de> for JobList<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of jobs")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut jobs: S) -> Result<(), S::Error> {
        while let Some(job) = jobs.next_element::<Value>()? {
            (self.0)(&job);
        }
        Ok(())
    }
}

/// Cells of a row that are made here.
#[derive(Default)]
pub(super) struct JsonRow {
    cells: [String; COLUMNS],
}

impl JsonRow {
    fn set(&mut self, column: Column, text: Option<String>) {
        self.cells[column as usize] = text.unwrap_or_default();
    }

    /// The row.
    pub(super) fn row(&self) -> Row<'_> {
        Row::of_cells(self.cells.each_ref().map(String::as_bytes))
    }
}

/// The row of a job, and behind it one for each of its steps.
pub(super) fn rows(job: &Value) -> Vec<JsonRow> {
    let text = |of: &Value| of.as_str().map(str::to_owned);
    let whole = |of: &Value| number(of).map(|n| n.to_string());
    let id = job_id(job);
    let mut row = JsonRow::default();
    row.set(Column::JobId, id.clone());
    row.set(Column::JobIdRaw, whole(&job["job_id"]));
    row.set(Column::User, text(&job["user"]).or_else(|| text(&job["association"]["user"])));
    row.set(Column::Account, text(&job["account"]));
    row.set(Column::Qos, text(&job["qos"]));
    row.set(Column::Partition, text(&job["partition"]));
    let state = &job["state"]["current"];
    row.set(Column::State, text(state).or_else(|| text(&state[0])));
    let time = &job["time"];
    let limit = number(&time["limit"]).filter(|minutes| *minutes < NO_LIMIT);
    row.set(Column::TimelimitRaw, limit.map(|minutes| minutes.to_string()));
    row.set(Column::ElapsedRaw, whole(&time["elapsed"]));
    // Slurm's 0 is a time that is not known.
    let epoch = |of: &Value| number(of).filter(|epoch| *epoch > 0).map(|epoch| epoch.to_string());
    row.set(Column::Start, epoch(&time["start"]));
    row.set(Column::End, epoch(&time["end"]));
    let allocated = job["tres"]["allocated"].as_array().into_iter().flatten();
    let cpus = allocated.filter(|resource| resource["type"] == "cpu");
    row.set(Column::AllocCpus, cpus.filter_map(|cpus| whole(&cpus["count"])).next());
    let mut rows = vec![row];
    for step in job["steps"].as_array().into_iter().flatten() {
        let name = &step["step"]["id"];
        let name = text(name).or_else(|| whole(name)).unwrap_or_default();
        // Newer versions write the job before it: `4711.batch`.
        let name = name.rsplit('.').next().unwrap_or_default();
        let mut row = JsonRow::default();
        row.set(Column::JobId, id.as_ref().map(|id| format!("{id}.{name}")));
        rows.push(row);
    }
    rows
}

/// The id as the column JobID has it: `15`, `15_3`, `15+1`, or `15_[4-9]` of elements that wait.
fn job_id(job: &Value) -> Option<String> {
    let (array, het) = (&job["array"], &job["het"]);
    if let Some(of) = number(&array["job_id"]).filter(|of| *of > 0) {
        if let Some(element) = number(&array["task_id"]) {
            return Some(format!("{of}_{element}"));
        }
        if let Some(waiting) = array["task"].as_str().filter(|text| !text.is_empty()) {
            return Some(format!("{of}_[{waiting}]"));
        }
    }
    if let Some(of) = number(&het["job_id"]).filter(|of| *of > 0) {
        return Some(format!("{of}+{}", number(&het["job_id_offset"]).unwrap_or(0)));
    }
    number(&job["job_id"]).map(|id| id.to_string())
}

/// A number: plain, or since Slurm 23.02 `{"set": true, "infinite": false, "number": 5}`.
fn number(of: &Value) -> Option<u64> {
    let is = |key: &str| of[key].as_bool().unwrap_or(false);
    of.as_u64().or_else(|| of["number"].as_u64().filter(|_| is("set") && !is("infinite")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::row::{JobId, RowNumbers};
    use super::*;

    /// A job as Slurm 22.05 and as 23.11 write it.
    fn jobs() -> [Value; 2] {
        let old = json!({
            "job_id": 9, "user": "ann", "account": "chem", "qos": "long", "partition": "batch",
            "array": { "job_id": 2, "task_id": 1, "task": null },
            "het": { "job_id": 0, "job_id_offset": null },
            "state": { "current": "COMPLETED", "reason": "None" },
            "time": { "elapsed": 60, "start": 1000, "end": 1060, "limit": 5 },
            "tres": { "allocated": [{ "type": "mem", "count": 7 }, { "type": "cpu", "count": 4 }] },
            "steps": [{ "step": { "id": "batch" } }, { "step": { "id": 0 } }],
        });
        let set = |n: u64| json!({ "set": true, "infinite": false, "number": n });
        let none = json!({ "set": false, "infinite": false, "number": 0 });
        let mut new = old.clone();
        new["array"] = json!({ "job_id": 2, "task_id": set(1), "task": "" });
        new["het"] = json!({ "job_id": 0, "job_id_offset": none });
        new["state"]["current"] = json!(["COMPLETED"]);
        new["time"]["limit"] = set(5);
        new["steps"] = json!([{ "step": { "id": "9.batch" } }, { "step": { "id": "9.0" } }]);
        [old, new]
    }

    #[test]
    fn both_forms_of_slurm_say_the_same() {
        for job in jobs() {
            let rows = rows(&job);
            let row = rows[0].row();
            let (Some((JobId::Job(_), Some(JobId::Job(_)))), b"COMPLETED") =
                (row.id(), row.state())
            else {
                panic!("{job}");
            };
            let expected = RowNumbers {
                limit: Some(300),
                elapsed: Some(60),
                cpus: Some(4),
                cpu_time: 240,
                start: Some(1000),
                end: Some(1060),
            };
            assert_eq!(row.numbers(|_| 0), Some(expected));
            let steps: Vec<bool> = rows[1..]
                .iter()
                .map(|step| match step.row().id() {
                    Some((JobId::Step(_, parallel), _)) => parallel,
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(steps, [false, true]);
        }
    }

    #[test]
    fn ids_are_those_of_the_column() {
        let [old, _] = jobs();
        let with = |array: Value, het: Value| {
            let mut job = old.clone();
            (job["array"], job["het"]) = (array, het);
            job_id(&job).unwrap()
        };
        let none = json!({ "job_id": 0 });
        assert_eq!(with(none.clone(), none.clone()), "9");
        assert_eq!(with(json!({ "job_id": 2, "task_id": 0 }), none.clone()), "2_0");
        assert_eq!(with(json!({ "job_id": 2, "task": "5-9%2" }), none.clone()), "2_[5-9%2]");
        assert_eq!(with(none, json!({ "job_id": 7, "job_id_offset": 1 })), "7+1");
        assert_eq!(job_id(&json!({})), None);
        let mut waits = old.clone();
        waits["time"] = json!({ "elapsed": 0, "start": 0, "end": 0, "limit": 4_294_967_295_u64 });
        let rows = rows(&waits);
        let numbers = rows[0].row().numbers(|_| 0).unwrap();
        assert_eq!((numbers.limit, numbers.start, numbers.end), (None, None, None));
    }

    #[test]
    fn what_is_no_list_of_jobs_is_an_error() {
        let read = |text: &str| {
            let mut jobs = 0;
            (each_job(text.as_bytes(), |_| jobs += 1).is_ok(), jobs)
        };
        assert_eq!(
            read(r#"{"meta": {"a": [1]}, "jobs": [{}, {"job_id": 1}], "errors": []}"#),
            (true, 2)
        );
        for (bad, jobs) in [
            ("{}", 0),
            (r#"{"jobs": 1}"#, 0),
            (r#"{"jobs": [{}, {"a": ]}"#, 1),
            (r#"{"jobs": [{}]"#, 1),
            (r#"{"jobs": []} x"#, 0),
            ("[]", 0),
        ] {
            assert_eq!(read(bad), (false, jobs), "{bad}");
        }
    }
}
