//! What the page says of times of which the log tells little: the ends of ranks that were killed, and calls that were
//! overwritten.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;
use topas_trace::{
    BODY, BlockContent, BlockHead, CallArguments, CallEvent, HEAD, TraceBlock, Writer, checksum,
};

use super::page::measured_as_read;
use super::shown;

const MS: u64 = 1_000_000;

/// Numbers of classes, as the page has them.
const COMPUTING: usize = 0;
const WAIT_IN_COLLECTIVE: usize = 5;
const NOT_IN_LOG: usize = 9;

/// The log of a rank of two that has called MPI_Barrier, number 1, from `began` to `ended` in ms, behind so many calls
/// that are not in the log any more. A tick is a nanosecond.
fn rank_log(rank: u32, call: (u64, u64), before: u64, more: &str) -> Vec<u8> {
    rank_log_of((rank, 2), &[call], before, more)
}

/// The same of so many ranks, and of several calls.
pub fn rank_log_of(
    (rank, ranks): (u32, u32),
    calls: &[(u64, u64)],
    before: u64,
    more: &str,
) -> Vec<u8> {
    let began = calls[0].0;
    let head =
        |content| BlockHead { rank, process: 10 + u64::from(rank), ..BlockHead::new(content) };
    let first =
        BlockHead { number: before / 10, before, first: began * MS, ..head(BlockContent::Events) };
    let mut block = Box::new(TraceBlock { head: first, body: [0; BODY] });
    let mut writer = Box::new(Writer::new());
    writer.begin(&mut block);
    let arguments = CallArguments { communicator: 1, ..CallArguments::NONE };
    for (began, ended) in calls {
        let event = CallEvent { routine: 1, began: began * MS, ended: ended * MS, arguments };
        assert!(writer.put(&mut block, &event));
    }
    block.close(rank, writer.last());
    let text = format!(
        "rank {rank}\nranks {ranks}\nhost n1\nid made-up\nbegan 0 0 500\nlatest {0} {0} {1}\nroutine 1 MPI_Barrier\n{more}",
        6 * MS,
        500 + 6 * MS
    );
    let mut told = BlockHead { filled: text.len() as u64, ..head(BlockContent::Facts) };
    told.check = checksum(&told, text.as_bytes());
    let mut facts = [&told.encode()[..], text.as_bytes()].concat();
    facts.resize(HEAD + BODY, 0);
    [&block.head.encode()[..], &block.body, &facts].concat()
}

/// The page of a log, and the facts in it.
pub fn page_of(ranks: &[Vec<u8>]) -> (String, Value) {
    let dir: TempDir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("run.trace"), ranks.concat()).unwrap();
    let page = shown(dir.path(), &["--timeline"]);
    let facts = page.split_once("id=\"facts\" type=\"application/json\">").unwrap().1;
    let facts = serde_json::from_str(facts.split_once("</script>").unwrap().0).unwrap();
    (page, facts)
}

fn times(facts: &Value, class: usize) -> Vec<u64> {
    let rows = facts["rows"].as_array().unwrap();
    rows.iter().map(|row| row["times"][class].as_u64().unwrap()).collect()
}

#[test]
fn the_wait_of_a_killed_run_is_in_all_sums() {
    let inside = format!("state 0\ninside 1 {}\nended {}\n", 30 * MS, 1000 * MS);
    let outside = format!("state 0\nended {}\n", 700 * MS);
    let (page, facts) =
        page_of(&[rank_log(0, (5, 6), 0, &inside), rank_log(1, (5, 6), 0, &outside)]);
    assert_eq!(times(&facts, WAIT_IN_COLLECTIVE), [970 * MS, 0]);
    assert_eq!(times(&facts, COMPUTING), [24 * MS, 694 * MS]);
    // The end of rank 1 was noted to a second, and the run ends within it.
    assert_eq!(times(&facts, NOT_IN_LOG), [0, 300 * MS]);
    assert_eq!(
        facts["rows"][1]["tail"],
        serde_json::json!([
            [COMPUTING, 6 * MS, 700 * MS, null],
            [NOT_IN_LOG, 700 * MS, 1000 * MS, null]
        ])
    );
    // 970 ms of 995 ms and 995 ms, as the legend has it.
    let words = "As far as the log tells, the ranks waited for each other for 0.970 s, 48.7 % of the time of all ranks; \
                 0.970 s of this, 100.0 %, are in calls that did not end, and the log does not tell for whom these waited.";
    assert!(page.contains(words), "{page:.4000}");
    assert!(!page.contains("is late") && !page.contains("late for most"), "{page:.4000}");
    assert!(page.contains("<td>0.970 (97.0 %)</td>"), "the table");
    assert!(page.contains("2 ranks ended without MPI_Finalize: 0, 1."));
    assert!(!page.contains("in no sum"));
}

#[test]
fn calls_that_were_overwritten_are_a_class_and_told_first() {
    let (page, facts) =
        page_of(&[rank_log(0, (800, 1000), 90, ""), rank_log(1, (100, 1000), 0, "")]);
    assert_eq!(times(&facts, NOT_IN_LOG), [800 * MS, 0]);
    assert!(page.contains("<button type=\"button\" data-kind=\"9\""), "a button of the legend");
    assert!(page.contains("<th scope=\"col\">not in the log s</th>"), "a column of the table");
    assert!(page.contains("That time is hatched, as not in the log."));
    // 1.1 s of 1.9 s are there: that is no case for a warning in front.
    assert!(!page.contains("The log has "), "{page:.3000}");
    let (page, _) = page_of(&[rank_log(0, (800, 1000), 90, ""), rank_log(1, (900, 1000), 20, "")]);
    let words = "The log has 15.0 % of the time of the ranks, because their oldest calls were overwritten: 0.200 s of \
                 1.000 s of rank 0, 0.100 s of 1.000 s of rank 1.";
    assert!(page.contains(words), "{page:.4000}");
}

/// Chooses classes, and goes from call to call, in the page of a killed run.
const READ: &str = r#"
  const seen = {};
  const pick = async kind => {
    document.querySelector(`.legend button[data-kind="${kind}"]`).click();
    await drawn();
    await until(() => !$("summary").textContent.startsWith("Choose"));
    return $("summary").textContent;
  };
  const hatched = row => {
    const canvas = $("lines");
    const { width } = canvas;
    const { data } = canvas.getContext("2d").getImageData(width * 0.75, 24 + row * 40 + 8, width * 0.2, 16);
    const [r, g, b] = getComputedStyle(document.documentElement).getPropertyValue("--hatch").trim().slice(1).match(/../g).map(part => parseInt(part, 16));
    let count = 0;
    for (let i = 0; i < data.length; i += 4) count += data[i] === r && data[i + 1] === g && data[i + 2] === b;
    return count / (data.length / 4);
  };
  const run = async () => {
    await drawn();
    seen.legend = document.querySelector(".legend").textContent;
    seen.hatched = [hatched(0), hatched(1)];
    seen.waits = await pick(5);
    seen.longest = $("longest").textContent;
    seen.unknown = await pick(9);
    await pick(9);
    key("ArrowDown");
    key("n");
    await until(() => $("status").textContent.includes("MPI_Barrier"));
    key("n");
    await until(() => $("status").textContent.includes("did not end"));
    seen.status = $("status").textContent;
    seen.call = $("call").textContent;
    const channels = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(part => part / 255);
    Object.assign(seen, {
      width: innerWidth, scroll: document.documentElement.scrollWidth, unreachable: 0,
      contrast: { contrast: 21 }, size: { size: 12 }, ground: Math.min(...channels) ** 2.2,
    });
  };
  leave(run, seen);
"#;

#[test]
#[ignore = "cargo xtask test --browser"]
fn a_browser_shows_how_a_killed_run_ended() {
    let inside = format!("state 0\ninside 1 {}\nended {}\n", 30 * MS, 1000 * MS);
    let outside = format!("state 0\nended {}\n", 700 * MS);
    let (page, _) = page_of(&[rank_log(0, (5, 6), 0, &inside), rank_log(1, (5, 6), 0, &outside)]);
    measured_as_read(&page, READ, |seen, what| {
        assert_eq!(seen["errors"], Value::Array(Vec::new()), "{what}");
        let text = |key: &str| seen[key].as_str().unwrap_or_default().to_owned();
        // The first sentence has the same share.
        assert!(text("legend").contains("wait in collective 48.7 %"), "{what}");
        assert!(text("legend").contains("not in the log 15.1 %"), "{what}");
        assert_eq!(seen["hatched"][0], 0.0, "{what}");
        let hatched = seen["hatched"][1].as_f64().unwrap();
        assert!(hatched > 0.15 && hatched < 0.35, "a line of two pixels in eight: {what}");
        assert!(
            text("waits").starts_with("wait in collective: 1 times in view, 970 ms together"),
            "{what}"
        );
        assert!(text("longest").contains("970 ms, rank 0"), "{what}");
        assert!(text("unknown").starts_with("not in the log: 1 times in view, 300 ms"), "{what}");
        assert!(text("status").contains("MPI_Barrier, which did not end, 970 ms"), "{what}");
        assert!(text("call").contains("970 ms, until the end of the rank"), "{what}");
    });
}
