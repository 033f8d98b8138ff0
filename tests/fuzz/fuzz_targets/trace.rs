//! Blocks of an event log: any bytes are read or refused, and what was read is written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_trace::{
    BODY, BlockContent, BlockHead, Events, HEAD, LoggedEpoch, LoggedObject, TraceBlock, Writer,
    checksum,
};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(head) = BlockHead::decode(bytes) {
        checksum(&head, &bytes[HEAD..]);
        assert!(Box::new(Events::new(&head, &bytes[HEAD..])).count() <= head.events() as usize + 1);
        assert_eq!(BlockHead::decode(&head.encode()), Ok(head));
    }
    // A rank of an epoch takes two bytes or more.
    assert!(LoggedEpoch::of(bytes).is_none_or(|epoch| epoch.ranks().count() <= bytes.len() / 2));
    assert!(LoggedObject::of(bytes).is_none_or(|object| object.name.len() < bytes.len()));
    let used = bytes.len().min(BODY) as u64;
    let head = BlockHead { filled: used << 32 | used, ..BlockHead::new(BlockContent::Events) };
    let events: Vec<_> = Box::new(Events::new(&head, bytes)).map_while(Result::ok).collect();
    let mut block = Box::new(TraceBlock { head, body: [0; BODY] });
    let mut writer = Box::new(Writer::new());
    writer.begin(&mut block);
    let count = events.iter().take_while(|event| writer.put(&mut block, event)).count();
    let again: Result<Vec<_>, _> = Box::new(Events::new(&block.head, &block.body)).collect();
    assert_eq!(again.as_deref(), Ok(&events[..count]));
});
