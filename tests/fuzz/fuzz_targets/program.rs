//! What `topas-run` reads of a program: headers and tables of an executable, the first line of a
//! script.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_driver::run::elf;
use topas_driver::run::program::interpreter;

fuzz_target!(|data: &[u8]| {
    let _ = elf::read(data);
    if let Some(words) = interpreter(data) {
        assert!(!words[0].is_empty());
        let length: usize = words.iter().map(|word| word.len()).sum();
        assert!(length < data.len());
    }
});
