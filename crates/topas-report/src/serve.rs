//! `topas-report serve` and `link`: single runs on the web, and links that sign users in.

mod all_pes;

use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::Args;
use topas_config::{Conf, Environment, regular};
use topas_data::{Account, ExportKey, append, clock};
use topas_findings::Rules;
use topas_render::runs::moment;
use topas_store::{Index, Store, StoreError, remote_store};
use topas_terminal::shown_lines;
use topas_web::{AllPes, FindAllPes, LINK_TIME, Listen, Roles, SignIn, Web};

use crate::ingest::{IndexArgs, shared_store, store_failed};
use crate::{TOOL, exit};
use all_pes::PesPattern;

/// Longest file of roles, in bytes.
const LONGEST: u64 = 1 << 20;

/// Options of `topas-report serve`.
#[derive(Args, Debug)]
pub struct ServeArgs {
    #[command(flatten)]
    index: IndexArgs,

    /// Address and port, or the path of a unix socket that is made
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8411")]
    listen: String,

    /// A proxy that signs users in: its address, or `unix` for whoever reaches the socket
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    proxy: Vec<String>,

    /// The header in which the proxy names the account
    #[arg(long, value_name = "NAME", default_value = "X-Remote-User")]
    user_header: String,

    /// The key of one-time links, made by topas-log key; without it there are no links
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    /// Who is administrator, support or project lead; all others see their own runs
    #[arg(long, value_name = "FILE")]
    roles: Option<PathBuf>,

    /// Addresses that may read /metrics without an account
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    monitor: Vec<IpAddr>,

    /// Where programs of which every rank is measured leave their lines, as TOPAS_OUT has it: an
    /// absolute path with %i for the launch, and %u, %Y, %m, %d
    #[arg(long, value_name = "PATTERN")]
    pes: Option<PathBuf>,

    /// Where views of other users' runs are noted [default: standard error]
    #[arg(long, value_name = "FILE")]
    access_log: Option<PathBuf>,

    /// Users come without encryption, as through an ssh tunnel: cookies are sent all the same
    #[arg(long)]
    plain_http: bool,
}

/// Options of `topas-report link`.
#[derive(Args, Debug)]
pub struct LinkArgs {
    /// The account that the link signs in
    #[arg(value_name = "USER")]
    user: String,

    /// The key that topas-report serve uses
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// Where users reach the pages
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8411")]
    url: String,
}

fn key(path: &Path) -> Result<ExportKey, u8> {
    ExportKey::read(path).map_err(|error| {
        let what = format!("cannot use the key {}", path.display());
        TOOL.error(&what, Some(&error), "make one: topas-log key FILE; nobody else may read it");
        exit::FAILED
    })
}

/// Prints a link that works once: the exit code.
pub fn link(args: &LinkArgs) -> Result<u8, u8> {
    let key = key(&args.key)?;
    let Some(token) = SignIn::token(&key, &args.user) else {
        let what = format!("'{}' is no account name", shown_lines(&args.user));
        TOOL.error(&what, None, "give a name of at most 64 letters, digits and signs");
        return Err(exit::USAGE);
    };
    TOOL.print(format!("{}/sign-in?token={token}\n", args.url.trim_end_matches('/')).as_bytes());
    TOOL.say(&format!("the link works once, for {} minutes", LINK_TIME / 60));
    Ok(exit::OK)
}

/// A wrong value of an option.
fn wrong(what: &str, hint: &str) -> u8 {
    TOOL.error(&what, None, hint);
    exit::USAGE
}

fn sign_in(args: &ServeArgs) -> Result<SignIn, u8> {
    let mut sign_in = SignIn::new(&args.user_header);
    for proxy in &args.proxy {
        match proxy.parse::<IpAddr>() {
            Ok(address) => sign_in.proxies.push(address.to_canonical()),
            Err(_) if proxy == "unix" => sign_in.unix = true,
            Err(_) => {
                let what = format!("--proxy: '{}' is no address", shown_lines(proxy));
                return Err(wrong(&what, "give an address such as 10.0.0.1, or unix"));
            }
        }
    }
    sign_in.key = args.key.as_deref().map(key).transpose()?;
    if !sign_in.is_possible() {
        let hint = "name the --proxy that signs users in, or a --key for links";
        return Err(wrong("nobody could sign in", hint));
    }
    Ok(sign_in)
}

fn roles(args: &ServeArgs) -> Result<Roles, u8> {
    let Some(path) = &args.roles else { return Ok(Roles::default()) };
    let failed = |cause: &dyn std::fmt::Display| {
        let what = format!("cannot use the roles {}", path.display());
        TOOL.error(&what, Some(cause), "topas-report(1) describes its lines");
        exit::FAILED
    };
    let text = regular::read(path, LONGEST).map_err(|error| failed(&error))?;
    Roles::read(&String::from_utf8_lossy(&text)).map_err(|error| failed(&error))
}

/// Finds the lines of all PEs.
fn all_pes(args: &ServeArgs) -> Result<FindAllPes, u8> {
    let Some(path) = &args.pes else { return Ok(Box::new(|_| AllPes::None)) };
    let Some(pattern) = PesPattern::new(path) else {
        let what =
            format!("--pes: '{}' names no file of a launch", shown_lines(&path.to_string_lossy()));
        return Err(wrong(&what, "give an absolute path with %i, as /shared/topas/%u/%i.out"));
    };
    Ok(Box::new(move |run| pattern.read(run)))
}

/// Removes the socket that an ended server left at this path. The socket of a server that answers,
/// or another file, stays.
fn remove_left_socket(path: &Path) {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let is_left = || {
        UnixStream::connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    };
    if is_socket && is_left() {
        // What cannot be removed is told by the bind that follows.
        let _ = fs::remove_file(path);
    }
}

/// Serves until it is ended; the Err is an exit code, and the reason has been said.
pub fn run(args: &ServeArgs, env: &Environment, conf: &Conf) -> Result<u8, u8> {
    let listen = match args.listen.parse::<SocketAddr>() {
        Ok(address) => Listen::Tcp(address),
        Err(_) if args.listen.contains('/') => Listen::Unix(PathBuf::from(&args.listen)),
        Err(_) => {
            let what = format!("--listen: '{}' is no address", shown_lines(&args.listen));
            return Err(wrong(&what, "give 127.0.0.1:8411, or the path of a socket"));
        }
    };
    let path = args.index.path(env)?;
    shared_store(conf)?;
    let url = conf.store().into_owned();
    let open = move || -> Result<Box<dyn Store + Send>, StoreError> {
        match remote_store(&url) {
            Some(remote) => Ok(remote),
            None => Ok(Box::new(Index::read(&path)?)),
        }
    };
    // A store that cannot be read is said at once, not at the first request.
    open().map_err(|error| store_failed(&error))?;
    let site = conf.site_rules();
    let (rules, faults) = Rules::with(&site.texts);
    TOOL.faulty_rules(&site, &faults);
    let access_log = args.access_log.clone();
    let note = move |what: &str| {
        let line =
            format!("{} {}\n", moment(i128::from(clock::epoch()) * 1_000_000), shown_lines(what));
        let written = access_log.as_ref().map(|path| append(path, line.as_bytes()));
        if !matches!(written, Some(Ok(()))) {
            TOOL.write(&line);
        }
    };
    let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])];
    let web = Web {
        sign_in: sign_in(args)?,
        roles: roles(args)?,
        rules,
        all_pes: all_pes(args)?,
        open: Box::new(open),
        monitors: if args.monitor.is_empty() { loopback.into() } else { args.monitor.clone() },
        encrypted: !args.plain_http,
        note: Box::new(note),
        uid_of: |name| Account::of_name(name.as_ref()).map(|account| account.uid),
        waiting: Mutex::default(),
    };
    if let Listen::Unix(path) = &listen {
        remove_left_socket(path);
    }
    let served = topas_web::serve(web, &listen, |place| TOOL.say(&format!("serving at {place}")));
    served.map(|()| exit::OK).map_err(|error| {
        let what = format!("cannot serve at {}", shown_lines(&args.listen));
        TOOL.error(
            &what,
            Some(&error),
            "check that no other server listens there, and that the place may be used",
        );
        exit::FAILED
    })
}
