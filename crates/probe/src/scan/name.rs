use super::{Scan, ScanRow};
use crate::http::ProbeRequest;
use crate::{Failure, FailureClass, HttpsRecord, Plan, Protocol, Resolved, Row, attempt, kernel};
use eyelevel_addresses::special;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

const WWW: &str = "www.";

/// Scans one name: unchanged, and if that fails or has no TLS 1.3, with `www.` before it, as
/// tls_perf -x does (the thesis, section 3.1.1). Returns the better of the two rows.
pub(super) async fn scan_name(scan: Arc<Scan>, name: String) -> ScanRow {
    let first = scan_host(&scan, &name, name.clone()).await;
    let is_enough = first.tls13 == Some(true) || first.skipped.is_some();
    let can_have_www = !name.starts_with(WWW) && name.parse::<IpAddr>().is_err();
    let with_www = format!("{WWW}{name}");
    let may_be_tried = can_have_www && !scan.settings.excluded_names.contains(&with_www);
    if is_enough || !scan.settings.www || !scan.settings.tls || !may_be_tried {
        return first;
    }
    let second = scan_host(&scan, &name, with_www).await;
    let mut better = if second.rank() > first.rank() {
        second
    } else {
        first
    };
    better.www_tried = true;
    better
}

async fn scan_host(scan: &Scan, name: &str, host: String) -> ScanRow {
    let settings = &scan.settings;
    let mut row = ScanRow::new(name, host, settings.port, settings.vantage.clone());
    row.at_unix_us = kernel::unix_ns() / 1000;
    look_up(scan, &mut row).await;
    let Some(address) = row.address.or(row.address6) else {
        return row;
    };
    let protocol = match (settings.tls, row.address) {
        (true, _) => Some(Protocol::TlsAny),
        (false, _) if settings.quic => None,
        _ => Some(Protocol::Tcp),
    };
    if let Some(protocol) = protocol {
        let attempted = connect(scan, &row.host, protocol, address).await;
        if Some(address) == row.address6 {
            row.ipv6_reached = Some(attempted.tcp_handshake_us.is_some());
        }
        row.note_tls(attempted);
    }
    if settings.quic {
        let attempted = connect(scan, &row.host, Protocol::Quic, address).await;
        row.note_quic(attempted);
    }
    if let (true, None, Some(address)) = (settings.ipv6, row.ipv6_reached, row.address6) {
        let attempted = connect(scan, &row.host, Protocol::Tcp, address).await;
        row.ipv6_reached = Some(attempted.tcp_handshake_us.is_some());
        row.ipv6_failure = attempted.failure;
    }
    row
}

/// Looks up addresses of both families and HTTPS records, at the same time; an address needs no
/// lookup.
async fn look_up(scan: &Scan, row: &mut ScanRow) {
    let settings = &scan.settings;
    let is_allowed = |address: &IpAddr| {
        let ranges = &settings.excluded;
        let is_excluded = ranges.iter().any(|range| range.contains(*address));
        !(is_excluded || settings.public_only && special(*address).is_some())
    };
    if let Ok(address) = row.host.parse() {
        match address {
            _ if !is_allowed(&address) => row.skipped = Some("excluded address"),
            IpAddr::V4(_) => row.address = Some(address),
            IpAddr::V6(_) => row.address6 = Some(address),
        }
        return;
    }
    let (resolver, host) = (&settings.resolver, row.host.clone());
    let (v4, v6, https) = tokio::join!(
        resolver.addresses(&host, false, settings.timeout),
        async {
            match settings.ipv6 {
                true => Some(resolver.addresses(&host, true, settings.timeout).await),
                false => None,
            }
        },
        async {
            match settings.https_records {
                true => resolver.https(&host, settings.timeout).await.ok(),
                false => None,
            }
        },
    );
    note_addresses(v4, v6, https, is_allowed, row);
}

type LookupResult = Result<Resolved, Failure>;

fn note_addresses(
    v4: LookupResult,
    v6: Option<LookupResult>,
    https: Option<Vec<HttpsRecord>>,
    is_allowed: impl Fn(&IpAddr) -> bool,
    row: &mut ScanRow,
) {
    if let Some(records) = https {
        row.note_https(&records);
    }
    let v4_found: &[IpAddr] = match &v4 {
        Ok(looked) => &looked.addresses,
        Err(_) => &[],
    };
    let v6_found: &[IpAddr] = match &v6 {
        Some(Ok(looked)) => &looked.addresses,
        _ => &[],
    };
    row.address = v4_found.iter().copied().find(&is_allowed);
    row.address6 = v6_found.iter().copied().find(&is_allowed);
    row.dns_us = v4.as_ref().ok().and_then(|looked| looked.took_us);
    let looked = v4.as_ref().ok().or_else(|| v6.as_ref()?.as_ref().ok());
    row.cnames = looked.and_then(|looked| looked.cnames.clone());
    row.ipv6 = v6.as_ref().and_then(|looked| match looked {
        Ok(_) => Some(true),
        // A failed lookup is no evidence about the name.
        Err(failure) => (failure.class == FailureClass::DnsNoAddress).then_some(false),
    });
    if row.address.or(row.address6).is_some() {
        return;
    }
    if !(v4_found.is_empty() && v6_found.is_empty()) {
        row.skipped = Some("excluded address");
    } else if let Err(failure) = v4 {
        row.failure = Some(failure.class);
        row.failure_detail = Some(failure.detail);
    }
}

/// Makes one connection, when the rate and the address allow it.
async fn connect(scan: &Scan, host: &str, protocol: Protocol, address: IpAddr) -> Row {
    let settings = &scan.settings;
    let path = "/";
    let _held = scan.addresses.hold(address).await;
    scan.rate.wait_for_turn().await;
    let authority = match settings.port {
        443 => host.to_owned(),
        port => format!("{host}:{port}"),
    };
    let request = settings.user_agent.as_ref().map(|user_agent| ProbeRequest {
        authority,
        path: path.into(),
        user_agent: user_agent.clone(),
    });
    let plan = Plan {
        protocol,
        address: SocketAddr::new(address, settings.port),
        host: host.into(),
        // QUIC's handshake yields all that is needed; TCP's response carries Alt-Svc.
        request: request.filter(|_| protocol == Protocol::TlsAny),
        local_port: None,
        timeout: settings.timeout,
        early_data: false,
        offers_h2: true,
        keeps_answer: false,
    };
    let mut row = Row::new(host, settings.port, path, protocol);
    attempt(&plan, &scan.trust, &mut row).await;
    row
}
