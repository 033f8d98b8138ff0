//! `topas-log export` and `key`: names against Python's hmac, forms against Python's readers.

mod tool;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use tool::{Dir, have, is_root, line};
use topas_format::extra::EXTRAS;
use topas_testkit::{WrittenJson, with_lengths};

const GOLDEN: [&str; 3] = ["demo.log", "module.log", "t3e.log"];

fn golden(name: &str) -> String {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/logs/v1");
    fs::read_to_string(dir.join(name)).unwrap()
}

/// A directory with every golden line and a key.
fn site() -> Dir {
    let dir = Dir::new();
    let mut text: String = GOLDEN.iter().map(|name| golden(name)).collect();
    text += &line(7, "an%20na", 1);
    dir.file("log", text);
    assert_eq!(dir.run(&["key", "key"]), (0, String::new(), String::new()));
    dir
}

fn python(dir: &Dir, program: &str) -> String {
    let out =
        Command::new("python3").args(["-c", program]).current_dir(dir.path()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// What the anonymised log must be, by the words of the manual page.
const ANONYMIZE: &str = r#"
import base64, hashlib, hmac, re, sys
key = open('key', 'rb').read().strip()
def digest(field, token):
    name = re.sub(rb'%([0-9A-Fa-f]{2})', lambda m: bytes([int(m[1], 16)]), token)
    return hmac.new(key, field + b'\0' + name, hashlib.sha256).digest()
def word(field, token):
    return token if token == b'-' else base64.b32encode(digest(field, token))[:16].lower()
def seconds(token):
    whole, _, decimals = token.partition(b'.')
    decimals = (decimals + b'000000')[:6]
    return whole.lstrip(b'0').rjust(1, b'0') + b'.' + (decimals[:3] if decimals[3:] == b'000' else decimals)
kept = b't end cyc ins run rss thr why mpi cc cut part via cpu numa'.split()
out = b''
for line in open('log', 'rb').read().split(b'\n'):
    if not line or line.startswith(b'#'):
        continue
    tokens = line.split(b' ')
    fields, extras = tokens[:16], tokens[16:]
    fields[2], fields[3], fields[15] = word(b'user', fields[2]), word(b'exe', fields[3]), word(b'id', fields[15])
    fields[10:13] = [seconds(token) for token in fields[10:13]]
    new = fields + [b'v=1']
    for extra in extras:
        name, _, value = extra.partition(b'=')
        if name in kept:
            new.append(extra)
        elif name == b'uid':
            new.append(b'uid=%d' % (int.from_bytes(digest(name, value)[:8], 'big') >> 12))
        elif name in (b'host', b'job', b'step', b'bid'):
            new.append(name + b'=' + word(name, value))
    text = b' '.join(new)
    out += text + b' len=%03d\n' % (len(text) + 8)
sys.stdout.buffer.write(out)
"#;

#[test]
fn names_are_hashed_as_python_hashes_them() {
    if !have("names_are_hashed_as_python_hashes_them", "python3") {
        return;
    }
    let dir = site();
    let (code, out, err) = dir.run(&["export", "--anonymize", "--key", "key", "log"]);
    assert_eq!(code, 0, "{err}");
    let expected = python(&dir, ANONYMIZE);
    for (got, expected) in out.lines().zip(expected.lines()) {
        assert_eq!(got, expected);
    }
    assert_eq!(out.lines().count(), expected.lines().count());
    for name in ["anna", "an%20na", "mohr", "heat3d", "n0042", "uid=1000 "] {
        assert!(!out.contains(name), "{name}");
    }
    // Another key, other names; the same key, the same ones.
    assert_eq!(dir.run(&["export", "-a", "--key", "key", "-q", "log"]).1, out);
    assert_eq!(dir.run(&["key", "key2"]).0, 0);
    assert_ne!(dir.run(&["export", "-a", "--key", "key2", "-q", "log"]).1, out);
}

#[test]
fn fields_can_be_kept_hashed_and_dropped() {
    let dir = site();
    let export =
        |more: &[&str]| dir.run(&[&["export", "-q", "-a", "-k", "key"], more, &["log"]].concat());
    let (_, out, _) = export(&["--keep", "host,exe", "--drop", "user,job", "--hash", "mpi"]);
    let last = out.lines().last().unwrap();
    assert!(last.contains(" host=n0042 ") && last.contains(" - heat3d 5 16 "), "{last}");
    assert!(!out.contains(" job=") && !out.contains("Open_MPI"), "{out}");
    for bad in [["--keep", "len"], ["--hash", "t"], ["--drop", "nothing"], ["--hash", "npes"]] {
        let (code, out, err) = export(&bad);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(&format!("`{}` is no field", bad[1])), "{err}");
    }
    assert_eq!(dir.run(&["export", "-a", "log"]).0, 2, "without a key");
}

#[test]
fn a_weak_key_is_refused() {
    let dir = site();
    let export = || dir.run(&["export", "-a", "-k", "key", "log"]);
    let mode = |mode| {
        fs::set_permissions(dir.path().join("key"), fs::Permissions::from_mode(mode)).unwrap();
    };
    assert_eq!(fs::metadata(dir.path().join("key")).unwrap().mode() & 0o777, 0o600);
    let good = dir.text("key");
    assert_eq!(good.trim().len(), 64);
    assert_eq!(dir.run(&["key", "key"]).0, 1, "an old key is not replaced");
    assert_eq!(dir.text("key"), good);
    for (bits, refused) in [(0o640, true), (0o604, true), (0o620, true), (0o400, false)] {
        mode(bits);
        let (code, _, err) = export();
        assert_eq!(code, i32::from(refused), "{bits:o}: {err}");
        assert_eq!(refused, err.contains(&format!("its mode is {bits:04o}")), "{err}");
    }
    mode(0o600);
    for (text, words) in [("", "0 bytes"), ("\n \n", "0 bytes"), ("0123456789", "10 bytes")] {
        fs::write(dir.path().join("key"), text).unwrap();
        let (code, out, err) = export();
        assert_eq!((code, out.as_str()), (1, ""));
        assert!(err.contains(words) && err.contains("cannot use the key key"), "{err}");
    }
    fs::write(dir.path().join("key"), "k".repeat(5000)).unwrap();
    assert!(export().2.contains("more than 4096 bytes"));
    fs::write(dir.path().join("key"), good).unwrap();
    if is_root("a_weak_key_is_refused") {
        chown(dir.path().join("key"), Some(4242), None).unwrap();
        assert!(export().2.contains("belongs to uid 4242"));
    }
    let (code, _, err) = dir.run(&["export", "-a", "-k", ".", "log"]);
    assert!(code == 1 && err.contains("no regular file"), "{err}");
}

#[test]
fn the_manual_has_every_key_of_a_line_and_no_other() {
    let dir = site();
    let known = EXTRAS.iter().filter(|extra| !["v", "t", "uid", "len"].contains(&extra.name));
    let extras: String = known.map(|extra| format!("{}=1 ", extra.name)).collect();
    let every = with_lengths(&format!("{}{extras}new=1\n", golden_start()));
    dir.file("log", format!("{}{every}", dir.text("log")));
    let (code, out, err) = dir.run(&["export", "--jsonl", "-q", "log"]);
    assert_eq!(code, 0, "{err}");
    let mut written = WrittenJson::default();
    written.add(&out);
    written.hold_against_manual("topas-log", &[]);
}

/// The tokens of a line and its first extras, with a blank behind them.
fn golden_start() -> &'static str {
    "2026/11/20 08:01:02 mohr heat3d 5 16 t2596 B f90 mpi 1.0 0.1 1.1 f=1 1 81f277aa03c4d9e1 \
     v=1 t=1795161662 uid=1000 "
}

const READ_CSV: &str = r#"
import csv
rows = list(csv.reader(open('out', newline='', encoding='utf-8')))
head = rows[0]
assert len(set(head)) == len(head), head
for row in rows[1:]:
    assert len(row) == len(head), row
    get = dict(zip(head, row))
    print(get['date'], get['user'], get['npes'], get['wall_time'], get['metric'], get['ops'], get['estimates'], get['job'], get['end'], sep='|')
"#;

const READ_JSON: &str = r#"
import json
from decimal import Decimal
for text in open('out', encoding='utf-8'):
    get = json.loads(text, parse_float=Decimal)
    assert get['schema'] == 'topas.line/1'
    show = lambda key: '' if get.get(key) is None else get[key]
    assert all(isinstance(get[key], int) for key in ('pe', 't', 'uid', 'len') if get.get(key) is not None)
    print(get['date'], show('user'), show('npes'), show('wall_time'), get['metric'], show('ops'), ' '.join(get['estimates']), show('job'), show('end'), sep='|')
"#;

/// The same by awk's kin, from the lines themselves.
const READ_LINES: &str = r#"
import re
from decimal import Decimal
name = lambda t: '' if t == '-' else re.sub(r'%([0-9A-F]{2})', lambda m: chr(int(m[1], 16)), t)
for line in open('log'):
    if line.startswith('#') or not line.strip():
        continue
    t = line.split()
    x = dict(e.split('=', 1) for e in t[16:])
    ops = t[13][2:]
    marks = [k for k, v in (('ops', t[13][1]), ('l1_miss', t[14][0]), ('cyc', x.get('cyc', ' ')[0]), ('ins', x.get('ins', ' ')[0])) if v == '~']
    wall = Decimal(t[12]).quantize(Decimal('.000001'))
    wall = str(wall)[:-3] if str(wall).endswith('000') else str(wall)
    print(t[0].replace('/', '-'), name(t[2]), '' if t[5] == '-' else t[5], wall, t[13][0], '' if ops == '-' else ops, ' '.join(marks), name(x.get('job', '-')), x.get('end', ''), sep='|')
"#;

#[test]
fn csv_and_json_say_what_the_lines_say() {
    if !have("csv_and_json_say_what_the_lines_say", "python3") {
        return;
    }
    let dir = site();
    let expected = python(&dir, READ_LINES);
    assert!(expected.lines().count() > 10);
    for (form, reader) in [("--csv", READ_CSV), ("--jsonl", READ_JSON)] {
        assert_eq!(dir.run(&["export", form, "-qo", "out", "log"]).0, 0);
        let got = python(&dir, reader);
        for (got, expected) in got.lines().zip(expected.lines()) {
            assert_eq!(got, expected, "{form}");
        }
        assert_eq!(got.lines().count(), expected.lines().count(), "{form}");
    }
}

#[test]
fn names_of_any_bytes_and_unknown_extras() {
    if !have("names_of_any_bytes_and_unknown_extras", "python3") {
        return;
    }
    let dir = Dir::new();
    let mut text =
        b"2026/10/01 08:00:00 a,\"b\"%0D%0A e\xc3\xa9\xff 0 - - B - - 1 .5 2 f=- - %2D v=1"
            .to_vec();
    text = String::from_utf8_lossy(&text).replace(" .5 ", " 0.5 ").into_bytes();
    text.extend(b" zz=1,2 run=0.5 cyc=~7 yy=%22q%22 zz=3");
    let length = format!(" len={:03}\nbad\n", text.len() + 8);
    text.extend(length.as_bytes());
    dir.file("log", &text);
    let (code, _, err) = dir.run(&["export", "--csv", "-o", "out", "log"]);
    assert_eq!(
        (code, err.as_str()),
        (0, "topas-log: 1 lines, 1 left out because they are no log lines\n")
    );
    let show = "import csv; r = list(csv.DictReader(open('out', newline=''))); print(len(r), ascii(r[0]['user']), r[0]['run'], r[0]['cyc'], r[0]['estimates'], r[0]['other'], r[0]['id'])";
    assert_eq!(python(&dir, show), "1 'a,\"b\"\\r\\n' 0.5 7 cyc zz=1,2 yy=%22q%22 zz=3 -\n");
    assert_eq!(dir.run(&["export", "--jsonl", "-qo", "out", "log"]).0, 0);
    let show = "import json; r = json.loads(open('out').read()); print(ascii(r['user']), r['npes'], r['mhz'], r['lang'], r['ops'], r['run'], r['cyc'], r['other'])";
    assert_eq!(
        python(&dir, show),
        "'a,\"b\"\\r\\n' None None None None 0.5 7 {'yy': '\"q\"', 'zz': '3'}\n"
    );
    // Nothing to export, and nothing that can be read.
    dir.file("none", "bad\n");
    assert_eq!(dir.run(&["export", "none"]).0, 3);
    assert_eq!(dir.run(&["export", "missing"]).0, 1);
}

#[test]
fn a_closing_pipe_is_no_error() {
    let dir = Dir::new();
    dir.file("log", (0..30_000).map(|n| line(n, "u", n as usize)).collect::<String>());
    for form in ["", "--csv", "--jsonl"] {
        let shell = format!("{} export {form} log | head -1", env!("CARGO_BIN_EXE_topas-log"));
        let out = Command::new("sh").args(["-c", &shell]).current_dir(dir.path()).output().unwrap();
        assert_eq!(out.stdout.iter().filter(|b| **b == b'\n').count(), 1);
        assert_eq!(String::from_utf8_lossy(&out.stderr), "");
    }
}

/// Lines of MPI profiles are handed on, too, and by the same words and keys.
#[test]
fn profiles_lose_names_and_keep_numbers() {
    let dir = site();
    let profiles = golden("mpi.log");
    dir.file("profiles", &profiles);
    let plain = dir.run(&["export", "-q", "profiles"]);
    assert_eq!(plain, (0, profiles.clone(), String::new()));
    let (code, out, _) = dir.run(&["export", "-q", "-a", "-k", "key", "profiles"]);
    assert_eq!(code, 0);
    assert_eq!(out.lines().count(), profiles.lines().count());
    for (old, new) in profiles.lines().zip(out.lines()) {
        let words = |text: &str, at: usize| text.split(' ').nth(at).unwrap().to_owned();
        for name in [3, 4, 6] {
            assert_ne!(words(old, name), words(new, name));
            assert!(!new.contains(&words(old, name)), "{new}");
        }
        let counted = |text: &str| -> Vec<String> {
            let words = text.split(' ').filter(|word| word.starts_with("f="));
            words.map(str::to_owned).collect()
        };
        assert_eq!(counted(old), counted(new));
        let length = new.rsplit_once(" len=").unwrap().1;
        assert_eq!(length.parse(), Ok(new.len()));
    }
    let id = |line: &str| line.split(' ').nth(6).unwrap().to_owned();
    let ids: Vec<String> = out.lines().map(id).collect();
    assert_eq!(ids[0], ids[2], "what belongs together still does");
    assert_ne!(ids[0], ids[1]);
    // They have no columns.
    let (code, out, err) = dir.run(&["export", "--csv", "profiles"]);
    assert_eq!((code, out.lines().count()), (3, 1));
    assert!(err.contains("5 lines of MPI profiles have no columns"), "{err}");
}
