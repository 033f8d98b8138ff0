//! One JSON object.

use serde_json::{Value, json};
use topas_data::{PeTime, Share, Statistics};

use crate::Form;
use crate::number::{date, percent};
use crate::table::{buckets, langs, libs};

/// Value of the key `schema`; it changes if the meaning of a key does.
pub const SCHEMA: &str = "topas.stat/1";

/// One object, indented. Not measured is null.
pub struct Json;

impl Form for Json {
    fn render(&self, statistics: &Statistics) -> String {
        let of_measured = |share| shares(share, statistics.measured);
        let of_all = |share| shares(share, statistics.total);
        let mflops: Vec<Value> = buckets(statistics)
            .into_iter()
            .map(|bucket| {
                let bounds = json!({ "from": number(&bucket.from), "to": number(&bucket.to) });
                with(bounds, of_measured(bucket.share))
            })
            .collect();
        let named = |rows: Vec<(&str, Share)>| -> Vec<Value> {
            rows.into_iter()
                .map(|(word, share)| with(json!({ "name": word }), of_all(share)))
                .collect()
        };
        let days = statistics.days.map(|(first, last)| (date(first), date(last)));
        let object = json!({
            "schema": SCHEMA,
            "first_day": days.as_ref().map(|days| &days.0),
            "last_day": days.as_ref().map(|days| &days.1),
            "runs": statistics.total.runs,
            "pe_seconds": seconds(statistics.total.time),
            "measured": plain(statistics.measured),
            "not_measured": {
                "no_count": plain(statistics.uncounted),
                "no_time": plain(statistics.timeless),
            },
            "estimated": plain(statistics.estimated),
            "bucket_mflops": statistics.bucket_size().millionths() as f64 / 1e6,
            "mflops": mflops,
            "languages": named(langs(statistics)),
            "libraries": named(libs(statistics)),
        });
        format!("{object:#}\n")
    }
}

fn seconds(time: PeTime) -> f64 {
    time.0 as f64 / 1e6
}

/// A decimal number of ours as a JSON number.
fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

fn plain(share: Share) -> Value {
    json!({ "runs": share.runs, "pe_seconds": seconds(share.time) })
}

fn shares(share: Share, of: Share) -> Value {
    let part = |part, whole| percent(part, whole, 4).as_deref().and_then(number);
    let percents = json!({
        "runs_percent": part(share.runs.into(), of.runs.into()),
        "time_percent": part(share.time.0, of.time.0),
    });
    with(plain(share), percents)
}

/// Both objects in one.
fn with(mut object: Value, more: Value) -> Value {
    if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
        object.extend(more);
    }
    object
}
