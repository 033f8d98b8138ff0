//! What is asked for: one request, whose parts are only what they may be.

use std::net::IpAddr;

/// Longest path with its query, in bytes.
pub const LONGEST_PATH: usize = 4096;

/// A request, as far as it matters here.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Whom it comes from; None is a unix socket
    pub peer: Option<IpAddr>,
    /// The path, without its query
    pub path: String,
    /// Names and values of the query
    pub query: Vec<(String, String)>,
    /// Values of the header in which a proxy names the account
    pub accounts: Vec<String>,
    /// The value of our cookie
    pub session: Option<String>,
}

impl Asked {
    /// Of a path with its query as it stands in a request; None if it is too long, or an escape
    /// in it is none.
    pub fn new(target: &str) -> Option<Self> {
        if target.len() > LONGEST_PATH {
            return None;
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decoded(name)?, decoded(value)?))
        };
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(pair);
        Some(Asked {
            path: path.to_owned(),
            query: pairs.collect::<Option<_>>()?,
            ..Asked::default()
        })
    }

    /// The value of a name in the query; None if it is not there, or empty.
    pub fn value(&self, name: &str) -> Option<&str> {
        let of = self.query.iter().find(|(known, _)| known == name);
        of.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }
}

/// A part of a query without its escapes.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                (digit(rest.next())? * 16 + digit(rest.next())?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// A value as a part of a query.
pub fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded += &format!("%{byte:02X}");
        }
    }
    encoded
}

/// The name of a run in links: launch and id.
pub fn run_name(launch: i64, id: i64) -> String {
    format!("{:016x}.{:016x}", launch as u64, id as u64)
}

/// Launch and id of such a name.
pub fn of_run_name(name: &str) -> Option<(i64, i64)> {
    let (launch, id) = name.split_once('.')?;
    let number = |digits: &str| {
        let hex = digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        hex.then(|| u64::from_str_radix(digits, 16).ok()).flatten().map(|n| n as i64)
    };
    Some((number(launch)?, number(id)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read_as_they_were_written() {
        for text in ["", "a b", "x' OR 1=1 --", "<b>&\"", "m\u{e4}nner%+"] {
            let asked = Asked::new(&format!("/runs?text={}&x", encoded(text))).unwrap();
            assert_eq!(asked.value("text").unwrap_or(""), text.trim());
            assert_eq!((asked.path.as_str(), asked.value("x")), ("/runs", None));
        }
        for bad in ["/?a=%zz", "/?a=%4", "/?a=%ff"] {
            assert!(Asked::new(bad).is_none(), "{bad}");
        }
        assert!(Asked::new(&"x".repeat(LONGEST_PATH + 1)).is_none());
        assert_eq!(of_run_name(&run_name(-5, i64::MAX)), Some((-5, i64::MAX)));
        for bad in ["", ".", "1.2", "../../x", "000000000000000g.0000000000000000"] {
            assert_eq!(of_run_name(bad), None, "{bad}");
        }
    }
}
