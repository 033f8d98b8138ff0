//! The mapped file of a rank with any words in any place: read or refused.
#![no_main]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use topas_mpi_data::{METRICS, read_spool};
use topas_mpi_profile::layout::{BLOCKS_AT, Block, FUNCTIONS, Header, MAGIC, TABLE, VERSION};

/// Words that are changed: the place in four bytes, then eight bytes.
const CHANGE: usize = 12;

fuzz_target!(|bytes: &[u8]| {
    let dir = PathBuf::from(format!("/dev/shm/topas-fuzz-spool.{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let uid = fs::metadata(&dir).unwrap().uid();
    let mut file = vec![0; BLOCKS_AT + 2 * size_of::<Block>()];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &MAGIC);
    put(std::mem::offset_of!(Header, version), &VERSION.to_ne_bytes());
    put(std::mem::offset_of!(Header, functions), &(FUNCTIONS as u32).to_ne_bytes());
    put(std::mem::offset_of!(Header, table), &TABLE.to_ne_bytes());
    put(std::mem::offset_of!(Header, state), &1u32.to_ne_bytes());
    put(std::mem::offset_of!(Header, uid), &uid.to_ne_bytes());
    put(std::mem::offset_of!(Header, ranks), &2u32.to_ne_bytes());
    put(std::mem::offset_of!(Header, blocks), &1u32.to_ne_bytes());
    put(std::mem::offset_of!(Header, first_block), &(BLOCKS_AT as u64).to_ne_bytes());
    for change in bytes.chunks_exact(CHANGE) {
        let (at, word) = change.split_first_chunk::<4>().unwrap();
        let at = u32::from_ne_bytes(*at) as usize;
        // Every other one in the header, which decides most.
        let room = if at % 2 == 0 { size_of::<Header>() } else { file.len() } - word.len();
        let at = at / 2 % room;
        file[at..at + word.len()].copy_from_slice(word);
    }
    if let Some(cut) = bytes.last().filter(|cut| **cut > 250) {
        file.truncate(file.len() / (usize::from(*cut) - 249));
    }
    fs::write(dir.join(format!("topas-mpi.{uid}.id.0.1")), &file).unwrap();
    let read = read_spool(&dir, None).unwrap();
    assert!(read.profiles.len() + read.refused.len() <= 1);
    for profile in &read.profiles {
        METRICS.iter().for_each(|metric| _ = metric.value(&profile.total));
    }
});
