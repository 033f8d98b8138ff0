//! Launches whose ranks may lack processors, because other programs have them for a while.

/// Launches a few times, until a launch has a result; what is wrong with one is a reason to launch again.
///
/// # Panics
/// If no launch has one: with what is wrong with each.
#[track_caller]
pub fn launched_again<T>(mut launch: impl FnMut() -> Result<T, String>) -> T {
    const LAUNCHES: usize = 4;
    let mut faults = Vec::new();
    for _ in 0..LAUNCHES {
        match launch() {
            Ok(result) => return result,
            Err(fault) => {
                eprintln!("once more: {fault}");
                faults.push(fault);
            }
        }
    }
    panic!("wrong in each of {LAUNCHES} launches:\n{}", faults.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_launch_that_has_a_result_is_the_last() {
        let mut made = 0;
        let mut launch = |right: usize| {
            made += 1;
            if made == right { Ok(made) } else { Err(format!("fault {made}")) }
        };
        assert_eq!(launched_again(|| launch(2)), 2);
        assert_eq!(made, 2);
    }

    #[test]
    #[should_panic(expected = "wrong in each of 4 launches:\nfault\nfault")]
    fn what_is_always_wrong_is_a_fault() {
        launched_again(|| Err::<(), _>("fault".to_owned()));
    }
}
