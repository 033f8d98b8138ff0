//! What came out of steps and test executables, and how long they took.

use std::time::Duration;

/// Words before the reason of a test that runs only with an option of `cargo xtask test`.
const ASKED_FOR: &str = "cargo xtask test --";

/// The reason of a test that another test calls in a process of its own.
pub const PART: &str = "a process of another test";

/// Words between the name of an ignored test and the reason, as libtest prints them.
const IGNORED: &str = " ... ignored";

/// Numbers of tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TestCount {
    /// Tests that ran and passed.
    pub passed: usize,
    /// Tests that ran and failed.
    pub failed: usize,
    /// Tests, or parts of tests, that could not run on this machine.
    pub skipped: usize,
    /// Tests that run only if an option, or a variable, asks for them.
    pub left_out: usize,
}

impl TestCount {
    /// Adds the numbers of another count.
    pub fn add(&mut self, other: &TestCount) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.left_out += other.left_out;
    }

    /// The tests that the output of a test executable tells of.
    pub fn in_output(output: &str) -> TestCount {
        let mut count = TestCount::default();
        let mut parts = 0;
        for line in output.lines() {
            if let Some(rest) = line.strip_prefix("test result: ") {
                count.passed += number_before(rest, " passed");
                count.failed += number_before(rest, " failed");
                count.left_out += number_before(rest, " ignored");
            } else if line.starts_with("skipped: ") {
                count.skipped += 1;
            } else if ignored_test(line).is_some_and(|(_, reason)| reason == PART) {
                parts += 1;
            }
        }
        count.left_out = count.left_out.saturating_sub(parts);
        // A test that could not run returned early, and libtest took it as passed.
        count.passed = count.passed.saturating_sub(count.skipped);
        count
    }
}

/// The ignored test of a line, and the reason.
fn ignored_test(line: &str) -> Option<(&str, &str)> {
    let (test, reason) = line.split_once(IGNORED)?;
    Some((test, reason.strip_prefix(", ")?))
}

/// The option of `cargo xtask test` that a reason to ignore a test names.
pub fn option_of(reason: &str) -> Option<&str> {
    reason.strip_prefix(ASKED_FOR)?.split([' ', ',', ':', ';']).next()
}

/// The names of tests that were ignored and that one of these options of `cargo xtask test`, such
/// as `slurm`, asks for.
pub fn ignored_tests<'o>(output: &'o str, options: &[&str]) -> Vec<&'o str> {
    let mut names = Vec::new();
    for line in output.lines() {
        let Some((test, reason)) = ignored_test(line) else { continue };
        if option_of(reason).is_some_and(|option| options.contains(&option)) {
            names.extend(test.strip_prefix("test "));
        }
    }
    names
}

/// The number that stands before a word.
fn number_before(text: &str, word: &str) -> usize {
    text.split(word)
        .next()
        .and_then(|t| t.rsplit(' ').next())
        .and_then(|n| n.parse().ok())
        .unwrap_or(0)
}

/// The processor time of all children of a shell, by the second line of its `times`, such as
/// `0m1.230s 1m0.4s`: user and system.
pub fn processor_time(times: &str) -> Option<Duration> {
    let mut sum = Duration::ZERO;
    for part in times.lines().nth(1)?.split_whitespace() {
        let (minutes, seconds) = part.strip_suffix('s')?.split_once('m')?;
        sum += Duration::from_secs(60 * minutes.parse::<u64>().ok()?);
        sum += Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\nrunning 5 tests\ntest a::one ... ok\n\
        test under_slurm ... ignored, cargo xtask test --slurm\n\
        test by_cmake ... ignored, cargo xtask test --builds: takes minutes\n\
        test with_mpip ... ignored, needs sources of mpiP\n\
        test ingests ... ignored, a process of another test\n\
        skipped: a::one: no strace on this machine\n\n\
        test result: ok. 1 passed; 0 failed; 4 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

    #[test]
    fn tests_are_counted_by_what_became_of_them() {
        let count = TestCount { passed: 0, failed: 0, skipped: 1, left_out: 3 };
        assert_eq!(TestCount::in_output(OUTPUT), count);
    }

    #[test]
    fn an_option_asks_for_its_tests_only() {
        assert_eq!(ignored_tests(OUTPUT, &["slurm", "arm64"]), ["under_slurm"]);
        assert_eq!(ignored_tests(OUTPUT, &["slurm", "builds"]), ["under_slurm", "by_cmake"]);
        assert_eq!(ignored_tests(OUTPUT, &["slur"]), Vec::<&str>::new());
    }

    #[test]
    fn times_of_both_shells() {
        let dash = "0m0.001000s 0m0.002000s\n1m2.500000s 0m0.250000s\n";
        assert_eq!(processor_time(dash), Some(Duration::from_millis(62_750)));
        assert_eq!(
            processor_time("0m0.001s 0m0.0s\n0m0.5s 0m0.0s"),
            Some(Duration::from_millis(500))
        );
        assert_eq!(processor_time(""), None);
    }
}
