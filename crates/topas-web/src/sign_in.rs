//! Who asks: by the header of the site's proxy, or by a link that works once.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Mutex;

use topas_data::{ExportKey, clock};

/// How long a link works, in s.
pub const LINK_TIME: i64 = 600;

/// How long somebody stays signed in by a link, in s.
pub const SESSION_TIME: i64 = 12 * 3600;

/// Name of the cookie.
pub const COOKIE: &str = "topas";

/// Bytes of a random number in a link.
const NONCE: usize = 16;

/// Who may say who asks.
pub struct SignIn {
    /// Addresses of proxies whose header is believed
    pub proxies: Vec<IpAddr>,
    /// Whether what comes through a unix socket is of a proxy
    pub unix: bool,
    /// The header with the account
    pub header: String,
    /// For links and cookies; without a key there are none
    pub key: Option<ExportKey>,
    /// Links of before are not taken: whether they were used is not known
    since: i64,
    used: Mutex<BTreeMap<Vec<u8>, i64>>,
}

/// An account that may be signed in: no control characters, no blanks, and not long.
fn is_account(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_graphic() && !b"/\\%&?#;,\"'<>".contains(&byte))
}

impl SignIn {
    /// Nobody can sign in before a proxy or a key is set.
    pub fn new(header: &str) -> Self {
        SignIn {
            proxies: Vec::new(),
            unix: false,
            header: header.to_ascii_lowercase(),
            key: None,
            since: clock::epoch(),
            used: Mutex::default(),
        }
    }

    /// Whether anybody can sign in.
    pub fn is_possible(&self) -> bool {
        self.unix || !self.proxies.is_empty() || self.key.is_some()
    }

    /// Whether headers of this peer are believed; None is a unix socket.
    pub fn is_proxy(&self, peer: Option<IpAddr>) -> bool {
        match peer {
            None => self.unix,
            Some(peer) => self.proxies.contains(&peer.to_canonical()),
        }
    }

    /// The account that a proxy names. A header that stands twice, or is no account, is none.
    pub fn by_proxy(&self, peer: Option<IpAddr>, headers: &[&str]) -> Option<String> {
        match headers {
            [name] if self.is_proxy(peer) && is_account(name) => Some((*name).to_owned()),
            _ => None,
        }
    }

    /// What a link ends with: account, time, a random number, and their signature. None if the
    /// name is no account, or there is no randomness.
    pub fn token(key: &ExportKey, account: &str) -> Option<String> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).ok()?;
        let text = format!("{account}/{}/{}", clock::epoch(), hex(&nonce));
        is_account(account).then(|| format!("{text}/{}", hex(&key.sign("link", text.as_bytes()))))
    }

    /// The account of a link that is taken: a new one, the first time.
    pub fn by_link(&self, token: &str) -> Option<String> {
        let key = self.key.as_ref()?;
        let (text, signature) = token.rsplit_once('/')?;
        if !key.is_signature("link", text.as_bytes(), &bytes(signature)?) {
            return None;
        }
        let mut parts = text.split('/');
        let (account, made, nonce) =
            (parts.next()?, parts.next()?.parse::<i64>().ok()?, parts.next()?);
        let now = clock::epoch();
        if made < self.since || !(made..made + LINK_TIME).contains(&now) {
            return None;
        }
        let mut used = self.used.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        used.retain(|_, made| *made + LINK_TIME > now);
        let first = used.insert(nonce.as_bytes().to_vec(), made).is_none();
        (first && is_account(account)).then(|| account.to_owned())
    }

    /// The value of a cookie that keeps an account signed in.
    pub fn session(&self, account: &str) -> Option<String> {
        let text = format!("{account}/{}", clock::epoch() + SESSION_TIME);
        let signature = self.key.as_ref()?.sign("session", text.as_bytes());
        Some(format!("{text}/{}", hex(&signature)))
    }

    /// The account of such a cookie.
    pub fn by_session(&self, value: &str) -> Option<String> {
        let (text, signature) = value.rsplit_once('/')?;
        if !self.key.as_ref()?.is_signature("session", text.as_bytes(), &bytes(signature)?) {
            return None;
        }
        let (account, until) = text.split_once('/')?;
        (clock::epoch() < until.parse().ok()? && is_account(account)).then(|| account.to_owned())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyed() -> SignIn {
        let key = ExportKey::of(b"0123456789abcdef0123456789abcdef");
        SignIn { key, ..SignIn::new("X-User") }
    }

    #[test]
    fn a_link_works_once_and_only_as_it_was_made() {
        let sign_in = keyed();
        let token = SignIn::token(sign_in.key.as_ref().unwrap(), "anna").unwrap();
        for at in 0..token.len() {
            let mut forged = token.clone().into_bytes();
            forged[at] = if forged[at] == b'0' { b'1' } else { b'0' };
            assert_eq!(sign_in.by_link(&String::from_utf8(forged).unwrap()), None, "{at}");
        }
        assert_eq!(sign_in.by_link(&token).as_deref(), Some("anna"));
        assert_eq!(sign_in.by_link(&token), None);
        // A link is no session, and without a key nothing is.
        assert_eq!(sign_in.by_session(&token), None);
        let session = sign_in.session("anna").unwrap();
        assert_eq!(sign_in.by_session(&session).as_deref(), Some("anna"));
        assert_eq!(sign_in.by_session(&session.replace("anna", "bert")), None);
        assert_eq!(sign_in.by_link(&session), None);
        let none = SignIn::new("X-User");
        assert!(!none.is_possible());
        assert_eq!((none.session("anna"), none.by_session(&session)), (None, None));
        assert!(SignIn::token(sign_in.key.as_ref().unwrap(), "a/b").is_none());
    }

    #[test]
    fn a_header_counts_from_a_proxy_alone() {
        let proxy: IpAddr = "10.0.0.1".parse().unwrap();
        let sign_in = SignIn { proxies: vec![proxy], ..SignIn::new("X-User") };
        assert_eq!(sign_in.by_proxy(Some(proxy), &["anna"]).as_deref(), Some("anna"));
        assert_eq!(
            sign_in.by_proxy(Some("::ffff:10.0.0.1".parse().unwrap()), &["anna"]).as_deref(),
            Some("anna")
        );
        for (peer, headers) in [
            (Some("10.0.0.2".parse().unwrap()), &["anna"][..]),
            (None, &["anna"]),
            (Some(proxy), &[]),
            (Some(proxy), &["anna", "root"]),
            (Some(proxy), &["anna,root"]),
            (Some(proxy), &["a b"]),
            (Some(proxy), &[""]),
        ] {
            assert_eq!(sign_in.by_proxy(peer, headers), None, "{peer:?} {headers:?}");
        }
    }
}
