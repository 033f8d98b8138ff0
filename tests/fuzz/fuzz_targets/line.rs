//! Any bytes as a line: read or refused, whether its blanks are known or not, and by vectors, too, as
//! far as these read it; what is read is written and read as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use topas_format::MAX_LINE;
#[cfg(target_arch = "x86_64")]
use topas_format::line::{Extras, FirstNumbers, UsualReader, UsualSink};
use topas_format::line::{IndexedLine, Line, Writer};

/// Keeps a usual line.
#[cfg(target_arch = "x86_64")]
struct Kept<'k, 'a>(&'k mut Option<(Line<'a>, Extras<'a>)>);

#[cfg(target_arch = "x86_64")]
impl<'a> UsualSink<'a> for Kept<'_, 'a> {
    fn take(self, line: &Line<'a>, extras: Extras<'a>, _: FirstNumbers) {
        *self.0 = Some((*line, extras));
    }
}

/// The line as the vectors read it, if they do.
#[cfg(target_arch = "x86_64")]
fn usual<'a>(of: &IndexedLine<'a>) -> Option<(Line<'a>, Extras<'a>)> {
    let is_there = std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("bmi1")
        && std::is_x86_feature_detected!("bmi2")
        && std::is_x86_feature_detected!("lzcnt")
        && std::is_x86_feature_detected!("popcnt");
    let mut kept = None;
    if is_there {
        // SAFETY: the processor has these instructions.
        unsafe { UsualReader::default().read(of, Kept(&mut kept)) };
    }
    kept
}

fuzz_target!(|text: &[u8]| {
    let blanks: Vec<u32> = (0..).zip(text).filter(|(_, b)| **b == b' ').map(|(at, _)| at).collect();
    let of = IndexedLine { blanks: &blanks, ..IndexedLine::lone(text) };
    let found = Line::parse(text);
    if let Some(ends) = blanks.first_chunk() {
        assert_eq!(Line::parse_indexed(&of, ends), found);
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(usual) = usual(&IndexedLine { plain: !text.contains(&b'%'), ..of }) {
        assert_eq!(Ok(usual), found);
    }
    let Ok((line, extras)) = found else {
        return;
    };
    let _ = extras.count();
    let mut buf = [0; MAX_LINE];
    let out = Writer::new(&mut buf, &line).finish();
    let written = out.text().strip_suffix(b"\n").unwrap();
    let (again, extras) = Line::parse(written).unwrap();
    if extras.get(b"cut").is_none() {
        assert_eq!(again, line);
    }
});
