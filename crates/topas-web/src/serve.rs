//! The server: carries requests to [`Web::answer`] and answers back.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;

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
    let web = Arc::new(web);
    let turns = Arc::new(Semaphore::new(AT_ONCE));
    let of_peer = move |peer: fn(&Request) -> Option<IpAddr>| {
        let (web, turns) = (Arc::clone(&web), Arc::clone(&turns));
        Router::new().fallback(move |request: Request| {
            let (web, turns) = (Arc::clone(&web), Arc::clone(&turns));
            async move {
                let peer = peer(&request);
                let Ok(Ok(turn)) = tokio::time::timeout(PATIENCE, turns.acquire_owned()).await
                else {
                    return plain(StatusCode::SERVICE_UNAVAILABLE, "too many requests");
                };
                let answered = tokio::task::spawn_blocking(move || {
                    let answer = respond(&web, &request, peer);
                    drop(turn);
                    answer
                });
                let failed = |_| plain(StatusCode::INTERNAL_SERVER_ERROR, "no answer");
                answered.await.unwrap_or_else(failed)
            }
        })
    };
    runtime.block_on(async {
        match listen {
            Listen::Tcp(address) => {
                let listener = TcpListener::bind(address).await?;
                ready(&format!("http://{}/", listener.local_addr()?));
                let router = of_peer(|request| {
                    let info = request.extensions().get::<ConnectInfo<SocketAddr>>();
                    // An address that is not known is nobody's.
                    Some(info.map_or(IpAddr::from([0, 0, 0, 0]), |info| info.0.ip()))
                });
                axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>())
                    .await
            }
            Listen::Unix(path) => {
                let listener = UnixListener::bind(path)?;
                ready(&path.display().to_string());
                axum::serve(listener, of_peer(|_| None)).await
            }
        }
    })
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
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
fn respond(web: &Web, request: &Request, peer: Option<IpAddr>) -> Response<Body> {
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
    let cookies = values(header::COOKIE.as_str()).join("; ");
    let session = cookies.split(';').find_map(|cookie| {
        let (name, value) = cookie.trim().split_once('=')?;
        (name == COOKIE).then(|| value.to_owned())
    });
    let accounts = values(&web.sign_in.header);
    let answer = web.answer(&Asked { peer, accounts, session, ..asked });
    response(answer, request.method() == Method::HEAD)
}

fn response(answer: Answer, without_content: bool) -> Response<Body> {
    let Answer { status, content, kind, headers } = answer;
    let body = if without_content { Body::empty() } else { Body::from(content) };
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    with_always(response.headers_mut());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in headers {
        // A value with a line break would be another header.
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().append(name, value);
        }
    }
    response
}
