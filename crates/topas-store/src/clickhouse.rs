//! ClickHouse as a store, over HTTP: for centers beyond one machine.
//!
//! The SQL is what version 18.16 and those of today understand: numbers of 64 bits, strings, tables
//! that replace rows of the same key by the latest, and a table over all shards. A shard is chosen by
//! the key, so rows that replace each other are on one shard.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::error::StoreError;
use crate::remote::{RemoteStore, Safe};
use crate::schema::{Cell, CellKind, TABLES, Table};
use crate::store::{Dialect, Store};

/// How long a connection may take, and how long an answer.
const PATIENCE: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(300)];

/// How long a server may take to remove rows.
const MUTATION: Duration = Duration::from_secs(3600);

/// So many rows are read to find one by its key. A row has some hundred bytes of log lines.
const GRANULARITY: u32 = 512;

/// Longest answer that is read, in bytes.
const LONGEST: u64 = 1 << 30;

/// Servers of ClickHouse: `clickhouse://[USER[:PASSWORD]@]HOST[:PORT][,HOST...]/DATABASE[?cluster=NAME]`.
///
/// The first server is asked. With a cluster, each server gets tables of its own and one over all
/// servers of the cluster, as the configuration of the servers has it.
pub struct ClickHouse {
    name: String,
    servers: Vec<String>,
    user: String,
    password: String,
    database: String,
    cluster: Option<String>,
}

impl ClickHouse {
    /// Of a URL; None if it is none. Nothing is connected.
    pub fn new(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("clickhouse://")?;
        let (rest, cluster) = match rest.split_once("?cluster=") {
            Some((rest, cluster)) => (rest, Some(cluster.to_owned())),
            None => (rest, None),
        };
        let (servers, database) = rest.split_once('/').unwrap_or((rest, ""));
        let database = if database.is_empty() { "default" } else { database };
        let (account, servers) = servers.rsplit_once('@').unwrap_or(("default", servers));
        let (user, password) = account.split_once(':').unwrap_or((account, ""));
        let is_name = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let with_port = |server: &str| match server.contains(':') {
            true => server.to_owned(),
            false => format!("{server}:8123"),
        };
        let is_server = |server: &str| {
            !server.is_empty()
                && server
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte))
        };
        let valid = is_name(database)
            && cluster.as_deref().is_none_or(is_name)
            && servers.split(',').all(is_server)
            && !account.bytes().any(|byte| byte.is_ascii_control());
        valid.then(|| ClickHouse {
            name: format!("the database {database} of ClickHouse"),
            servers: servers.split(',').map(with_port).collect(),
            user: user.to_owned(),
            password: password.to_owned(),
            database: database.to_owned(),
            cluster,
        })
    }

    /// The text that a server answers.
    fn ask(
        &self,
        server: &str,
        what: &'static str,
        sql: &str,
        data: &[u8],
    ) -> Result<Vec<u8>, StoreError> {
        self.post(server, sql, data).map_err(|cause| StoreError::Remote {
            store: self.name.clone(),
            what,
            cause: cause.into(),
        })
    }

    fn post(&self, server: &str, sql: &str, data: &[u8]) -> std::io::Result<Vec<u8>> {
        let other = |text: String| std::io::Error::other(text);
        let mut problem = other(format!("no address of {server}"));
        let mut connected = None;
        for address in server.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PATIENCE[0]) {
                Ok(stream) => {
                    connected = Some(stream);
                    break;
                }
                Err(error) => problem = error,
            }
        }
        let Some(mut stream) = connected else { return Err(problem) };
        stream.set_read_timeout(Some(PATIENCE[1]))?;
        stream.set_write_timeout(Some(PATIENCE[1]))?;
        // The statement and its data are the body: neither is ever part of a URL.
        let body = if data.is_empty() {
            sql.as_bytes().to_vec()
        } else {
            [sql.as_bytes(), b"\n", data].concat()
        };
        let head = format!(
            "POST /?database={}&insert_distributed_sync=1 HTTP/1.0\r\nHost: {server}\r\n\
             X-ClickHouse-User: {}\r\nX-ClickHouse-Key: {}\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            self.database,
            self.user,
            self.password,
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(&body)?;
        let mut reader = BufReader::new(stream).take(LONGEST);
        let mut status = String::new();
        reader.read_line(&mut status)?;
        let (mut length, mut chunked) = (None, false);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 || line.trim_end().is_empty() {
                break;
            }
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse::<usize>().ok();
            }
            chunked |= lower.starts_with("transfer-encoding:") && lower.contains("chunked");
        }
        let mut answer = Vec::new();
        if chunked {
            loop {
                let mut size = String::new();
                reader.read_line(&mut size)?;
                let digits = size.trim().split(';').next().unwrap_or_default();
                let size = u64::from_str_radix(digits, 16)
                    .map_err(|_| other("the answer broke off".to_owned()))?;
                if size == 0 {
                    break;
                }
                let got = (&mut reader).take(size).read_to_end(&mut answer)?;
                if got as u64 != size {
                    return Err(other("the answer broke off".to_owned()));
                }
                reader.read_line(&mut String::new())?;
            }
        } else {
            reader.read_to_end(&mut answer)?;
            if length.is_some_and(|length| length != answer.len()) {
                return Err(other("the answer broke off".to_owned()));
            }
        }
        if status.split(' ').nth(1) == Some("200") {
            return Ok(answer);
        }
        let text = String::from_utf8_lossy(&answer);
        let text = text.lines().next().unwrap_or_default();
        Err(other(format!("{}: {text}", status.trim_end())))
    }

    /// Where rows of a table are.
    fn shard_table(&self, table: &Table) -> String {
        match self.cluster {
            Some(_) => format!("{}_shard", table.name),
            None => table.name.to_owned(),
        }
    }
}

/// A text that a statement can hold: everything else than plain letters is escaped.
fn literal(bytes: &[u8]) -> String {
    let mut text = String::from("'");
    for &byte in bytes {
        match byte {
            b' '..=b'&' | b'('..=b'[' | b']'..=b'~' => text.push(char::from(byte)),
            _ => text += &format!("\\x{byte:02X}"),
        }
    }
    text + "'"
}

/// With the values in place of each `?`.
fn filled(sql: &str, values: &[Cell]) -> String {
    let mut parts = sql.split('?');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (part, value) in parts.zip(values) {
        text += &match value {
            Cell::Int(number) => number.to_string(),
            Cell::Text(text) => literal(text.as_bytes()),
            Cell::Bytes(bytes) => literal(bytes),
        };
        text += part;
    }
    text
}

/// A value as TabSeparated has it.
fn write_tab_separated(cell: &Cell, to: &mut Vec<u8>) {
    let bytes = match cell {
        Cell::Int(number) => return to.extend_from_slice(number.to_string().as_bytes()),
        Cell::Text(text) => text.as_bytes(),
        Cell::Bytes(bytes) => bytes,
    };
    for &byte in bytes {
        match byte {
            b'\t' => to.extend_from_slice(b"\\t"),
            b'\n' => to.extend_from_slice(b"\\n"),
            b'\r' => to.extend_from_slice(b"\\r"),
            b'\\' => to.extend_from_slice(b"\\\\"),
            0 => to.extend_from_slice(b"\\0"),
            _ => to.push(byte),
        }
    }
}

/// The bytes of a value of TabSeparated.
fn read_tab_separated(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.iter();
    while let Some(&byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next() {
                Some(b't') => b'\t',
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b'0') => 0,
                Some(b'b') => 8,
                Some(b'f') => 12,
                Some(&other) => other,
                None => b'\\',
            },
            byte => byte,
        });
    }
    bytes
}

impl Store for ClickHouse {
    fn dialect(&self) -> Dialect {
        Dialect::ClickHouse
    }

    fn select(
        &mut self,
        sql: &str,
        values: &[Cell],
        kinds: &[CellKind],
    ) -> Result<Vec<Vec<Cell>>, StoreError> {
        let sql = format!("{} FORMAT TabSeparated", filled(sql, values));
        let answer = self.ask(&self.servers[0], "ask", &sql, b"")?;
        let wrong = || StoreError::Value { column: "answer" };
        let row = |line: &[u8]| {
            let fields: Vec<Vec<u8>> =
                line.split(|byte| *byte == b'\t').map(read_tab_separated).collect();
            if fields.len() != kinds.len() {
                return Err(wrong());
            }
            let cell = |(bytes, kind): (Vec<u8>, &CellKind)| match kind {
                CellKind::Bytes => Ok(Cell::Bytes(bytes)),
                CellKind::Text => String::from_utf8(bytes).map(Cell::Text).map_err(|_| wrong()),
                CellKind::Int => {
                    let text = str::from_utf8(&bytes).map_err(|_| wrong())?;
                    text.parse().map(Cell::Int).map_err(|_| wrong())
                }
            };
            fields.into_iter().zip(kinds).map(cell).collect()
        };
        let lines = answer.strip_suffix(b"\n").unwrap_or(&answer);
        if lines.is_empty() {
            return Ok(Vec::new());
        }
        lines.split(|byte| *byte == b'\n').map(row).collect()
    }
}

impl RemoteStore for ClickHouse {
    fn name(&self) -> &str {
        &self.name
    }

    /// The servers make a file of each column of what is put at once, and merge them later.
    fn portion(&self) -> usize {
        50_000
    }

    fn prepare(&mut self) -> Result<(), StoreError> {
        for server in &self.servers {
            for table in TABLES {
                let columns: Vec<String> = table
                    .columns()
                    .map(|column| {
                        let kind = if column.kind == CellKind::Int { "Int64" } else { "String" };
                        format!("{} {kind}", column.name)
                    })
                    .collect();
                let columns = columns.join(", ");
                let key: Vec<&str> = table.key.iter().map(|column| column.name).collect();
                let key = key.join(", ");
                let shard = self.shard_table(table);
                let what = "make tables in";
                let sql = format!(
                    "CREATE TABLE IF NOT EXISTS {shard} ({columns}) \
                     ENGINE = ReplacingMergeTree(version) ORDER BY ({key}) \
                     SETTINGS index_granularity = {GRANULARITY}"
                );
                self.ask(server, what, &sql, b"")?;
                if let Some(cluster) = &self.cluster {
                    let (name, database) = (table.name, &self.database);
                    let sql = format!(
                        "CREATE TABLE IF NOT EXISTS {name} ({columns}) \
                         ENGINE = Distributed({cluster}, {database}, {shard}, cityHash64({key}))"
                    );
                    self.ask(server, what, &sql, b"")?;
                }
            }
        }
        Ok(())
    }

    fn clear(&mut self) -> Result<(), StoreError> {
        for server in &self.servers {
            for table in TABLES {
                let sql = format!("TRUNCATE TABLE IF EXISTS {}", self.shard_table(table));
                self.ask(server, "clear", &sql, b"")?;
            }
        }
        Ok(())
    }

    fn remove_before(&mut self, day: i64) -> Result<(), StoreError> {
        let what = "remove old rows of";
        for server in &self.servers {
            for table in TABLES {
                let (condition, limit) = table.before(day);
                let condition = filled(condition, &[limit]);
                let sql =
                    format!("ALTER TABLE {} DELETE WHERE {condition}", self.shard_table(table));
                self.ask(server, what, &sql, b"")?;
            }
            // The server does this later. Only then the rows are gone.
            let begun = Instant::now();
            let database = literal(self.database.as_bytes());
            let sql = format!(
                "SELECT count(*) FROM system.mutations WHERE database = {database} AND is_done = 0"
            );
            while self.ask(server, what, &sql, b"")?.trim_ascii() != b"0" {
                if begun.elapsed() > MUTATION {
                    let cause = format!("{server} still has rows that are to be removed").into();
                    return Err(StoreError::Remote { store: self.name.clone(), what, cause });
                }
                std::thread::sleep(Duration::from_millis(200));
            }
        }
        Ok(())
    }

    fn put(&mut self, table: &Table, rows: &[Vec<Cell>], _: Safe) -> Result<(), StoreError> {
        let mut data = Vec::new();
        for row in rows {
            for (at, cell) in row.iter().enumerate() {
                if at > 0 {
                    data.push(b'\t');
                }
                write_tab_separated(cell, &mut data);
            }
            data.push(b'\n');
        }
        let sql =
            format!("INSERT INTO {} ({}) FORMAT TabSeparated", table.name, table.column_names());
        self.ask(&self.servers[0], "write to", &sql, &data).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_values() {
        let evil = Cell::Text("a' OR 1=1 -- \\".to_owned());
        assert_eq!(
            filled("x = ? AND y = ?", &[evil, Cell::Int(-3)]),
            "x = 'a\\x27 OR 1=1 -- \\x5C' AND y = -3"
        );
        assert_eq!(filled("x = ?", &[Cell::Text("?".to_owned())]), "x = '?'");
    }

    #[test]
    fn bytes_come_back() {
        let all: Vec<u8> = (0..=255).collect();
        let mut written = Vec::new();
        write_tab_separated(&Cell::Bytes(all.clone()), &mut written);
        assert!(!written.contains(&b'\t') && !written.contains(&b'\n'));
        assert_eq!(read_tab_separated(&written), all);
    }

    #[test]
    fn names_in_a_url_are_names() {
        for bad in [
            "clickhouse://h/a;DROP",
            "clickhouse://h/a?cluster=x y",
            "clickhouse://a b/",
            "postgres://h/d",
            "clickhouse:///d",
        ] {
            assert!(ClickHouse::new(bad).is_none(), "{bad}");
        }
        let good = ClickHouse::new("clickhouse://u:p@h1,h2:9/d?cluster=c").unwrap();
        assert_eq!(good.servers, ["h1:8123", "h2:9"]);
        assert_eq!((&*good.user, &*good.password, &*good.database), ("u", "p", "d"));
    }
}
