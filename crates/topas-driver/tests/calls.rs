//! The table `commands/calls.txt` through the driver executable.

mod site;

use std::ffi::OsString;
use std::fs;

use site::Site;
use topas_driver::response::words;

const TABLE: &str = include_str!("commands/calls.txt");

#[test]
fn the_real_program_gets_what_the_table_says() {
    let site = Site::new();
    for (name, text) in [
        ("objects.rsp", "a.o b.o"),
        ("compile.rsp", "-O2 -c"),
        ("nested.rsp", "@objects.rsp -o \"a b\""),
        ("shared.rsp", "-shared"),
    ] {
        fs::write(site.work().join(name), text).unwrap();
    }
    let mut count = 0;
    for (line, number) in TABLE.lines().zip(1..) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut row = words(line.as_bytes());
        let (added, name) = (row.remove(0), row.remove(0));
        let (added, name) = (added.to_str().unwrap(), name.to_str().unwrap());
        let output = site.command(name).args(&row).output().unwrap();
        let call = site.checked(&output);
        let mut expected = vec![OsString::from(site.fake.dir().join(name))];
        expected
            .extend(row.into_iter().filter(|word| !word.to_string_lossy().ends_with("topas.cld")));
        match added.split_once(':') {
            _ if added == "-" => {}
            Some((_, language)) => {
                expected.push(site.word(&site.scratch.variant(language, "init")))
            }
            None => expected.extend(site.module_words(added)),
        }
        assert_eq!(call.args, expected, "calls.txt:{number}: {line}");
        count += 1;
    }
    assert!(count >= 60, "{count} command lines");
}
