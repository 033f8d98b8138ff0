//! The server: carries requests to [`Web::answer`] and answers back.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, COOKIE as COOKIES, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::answer::{Answer, Web};
use crate::asked::Asked;
use crate::sign_in::COOKIE;

/// Where requests come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// An address and a port
    Tcp(SocketAddr),
    /// A unix socket, whose directory says who may come; it must not exist
    Unix(PathBuf),
}

/// Requests that are answered at the same time; others wait.
const AT_ONCE: usize = 32;

/// How long one waits for its turn.
const PATIENCE: Duration = Duration::from_secs(30);

/// Connections at the same time; others wait until one ends.
const CONNECTIONS: usize = 512;

/// How long a client may take to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long a connection lives, whatever its client does.
const LIFETIME: Duration = Duration::from_secs(300);

/// Longest head of a request, in bytes.
const LONGEST_HEAD: usize = 16 << 10;

/// After a connection that could not be taken, as with too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// What every answer says: no scripts, nothing from elsewhere, no frame around it, and nothing is
/// kept.
const ALWAYS: [(&str, &str); 5] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "private, no-store"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Serves until it is ended; `ready` is called with the address once requests are taken.
///
/// # Errors
///
/// If the address cannot be listened on.
pub fn serve(web: Web, listen: &Listen, ready: impl FnOnce(&str)) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(AT_ONCE)
        .enable_io()
        .enable_time()
        .build()?;
    let server = Arc::new(Server { web, turns: Semaphore::new(AT_ONCE) });
    runtime.block_on(async {
        match listen {
            Listen::Tcp(address) => {
                let listener = TcpListener::bind(address).await?;
                ready(&format!("http://{}/", listener.local_addr()?));
                let accept = async || {
                    let (stream, peer) = listener.accept().await?;
                    Ok((stream, Some(peer.ip())))
                };
                server.take_connections(accept).await;
            }
            Listen::Unix(path) => {
                let listener = UnixListener::bind(path)?;
                // To connect is to write. The group is that of the proxy, whatever the umask is.
                fs::set_permissions(path, fs::Permissions::from_mode(0o660))?;
                ready(&path.display().to_string());
                server.take_connections(async || Ok((listener.accept().await?.0, None))).await;
            }
        }
        Ok(())
    })
}

/// What all connections share.
struct Server {
    web: Web,
    /// Requests that may be answered at once
    turns: Semaphore,
}

impl Server {
    /// Takes connections until the process ends.
    async fn take_connections<S>(
        self: Arc<Self>,
        accept: impl AsyncFn() -> io::Result<(S, Option<IpAddr>)>,
    ) where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        while let Ok(place) = Arc::clone(&places).acquire_owned().await {
            match accept().await {
                Ok((stream, peer)) => {
                    let server = Arc::clone(&self);
                    tokio::spawn(async move {
                        server.connection(stream, peer).await;
                        drop(place);
                    });
                }
                Err(_) => sleep(PAUSE).await,
            }
        }
    }

    /// Serves a connection. What goes wrong with one is its client's.
    async fn connection<S>(self: Arc<Self>, stream: S, peer: Option<IpAddr>)
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let service = service_fn(|request| {
            let server = Arc::clone(&self);
            async move { Ok::<_, Infallible>(server.request(request, peer).await) }
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_buf_size(LONGEST_HEAD)
            .serve_connection(TokioIo::new(stream), service);
        let _ = timeout(LIFETIME, served).await;
    }

    /// Answers a request on a thread that may wait for the store.
    async fn request(
        self: Arc<Self>,
        request: Request<Incoming>,
        peer: Option<IpAddr>,
    ) -> Response<Full<Bytes>> {
        let Ok(Ok(turn)) = timeout(PATIENCE, self.turns.acquire()).await else {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "too many requests");
        };
        let server = Arc::clone(&self);
        let answered = tokio::task::spawn_blocking(move || respond(&server.web, &request, peer));
        let answered = answered.await;
        drop(turn);
        answered.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "no answer"))
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    with_always(response.headers_mut());
    response
}

fn with_always(headers: &mut HeaderMap) {
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// Nothing is ever written by a request, so there is one method.
fn respond(web: &Web, request: &Request<Incoming>, peer: Option<IpAddr>) -> Response<Full<Bytes>> {
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET");
    }
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let Some(asked) = Asked::new(target) else {
        return plain(StatusCode::BAD_REQUEST, "not understood");
    };
    let values = |name: &str| -> Vec<String> {
        let all = request.headers().get_all(name).iter();
        all.map(|value| value.to_str().unwrap_or_default().to_owned()).collect()
    };
    let cookies = values(COOKIES.as_str()).join("; ");
    let session = cookies.split(';').find_map(|cookie| {
        let (name, value) = cookie.trim().split_once('=')?;
        (name == COOKIE).then(|| value.to_owned())
    });
    let accounts = values(&web.sign_in.header);
    let answer = web.answer(&Asked { peer, accounts, session, ..asked });
    response(answer, request.method() == Method::HEAD)
}

fn response(answer: Answer, without_content: bool) -> Response<Full<Bytes>> {
    let Answer { status, content, kind, headers } = answer;
    let body = if without_content { Full::default() } else { Full::from(content) };
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    with_always(response.headers_mut());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in headers {
        // A value with a line break would be another header.
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().append(name, value);
        }
    }
    response
}
