//! Recordings of other tools are read, written and converted to https.

use std::path::{Path, PathBuf};

use eyelevel_archive::{
    Exchange, Imported, Provenance, Scheme, Site, export_har, export_mahimahi, import, secure,
    write_wacz,
};

/// Returns the folder of Mahimahi recordings; prints a note and returns `None` if it is absent.
fn recordings() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/sites/mahimahi");
    if !folder.is_dir() {
        println!("skipped: ../shared/data/sites/mahimahi is not there");
        return None;
    }
    Some(folder)
}

fn pack(imported: &Imported, name: &str) -> (Temporary, Site) {
    let file = Temporary::new(name);
    let metadata = imported.metadata(None, name).unwrap();
    write_wacz(&file.0, &imported.exchanges, &metadata).unwrap();
    let site = Site::open(&file.0).unwrap();
    (file, site)
}

/// Returns the parts of an exchange that every format keeps.
fn essence(exchange: &Exchange) -> (String, String, u16, Vec<u8>) {
    let url = exchange.url.to_string();
    (
        exchange.method.clone(),
        url,
        exchange.status,
        exchange.body.to_vec(),
    )
}

#[test]
fn mahimahi_folders_are_read_whole_and_become_secure() {
    let Some(folder) = recordings() else { return };
    for (name, objects, hosts, page, secure_objects) in [
        ("apple-2015", 30, 3, "http://www.apple.com/", 0.0),
        (
            "stackoverflow-2015",
            33,
            14,
            "http://stackoverflow.com/",
            0.0,
        ),
        ("imgur-2015", 106, 20, "http://imgur.com/", 10.0),
    ] {
        let mut imported = import(&[folder.join(name)]).unwrap();
        let (_file, site) = pack(&imported, name);
        let left_out = site.provenance().left_out.len();
        assert_eq!(site.exchanges().len() + left_out, objects, "{name}");
        let mut seen: Vec<_> = site.exchanges().iter().map(|each| &each.url.host).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(
            seen.len(),
            hosts,
            "{name}: {:?}",
            site.provenance().left_out
        );
        assert!(site.provenance().altered.is_empty());
        assert_eq!(site.main_url().to_string(), page);
        let info = site.info();
        let share = secure_objects / info.objects as f64;
        assert!((info.secure_share - share).abs() < 1e-9, "{name}");
        let bytes = |each: &&Exchange| each.url.scheme == Scheme::Https;
        let secure_bytes: usize = site
            .exchanges()
            .iter()
            .filter(bytes)
            .map(|each| each.body.len())
            .sum();
        let share = secure_bytes as f64 / info.body_bytes as f64;
        assert!((info.secure_bytes_share - share).abs() < 1e-9, "{name}");
        secure(&mut imported);
        let (_file, site) = pack(&imported, &format!("{name}-secure"));
        let is_secure = |each: &Exchange| each.url.scheme == Scheme::Https;
        assert!(site.exchanges().iter().all(is_secure), "{name}");
        assert!(!site.provenance().altered.is_empty(), "{name}");
        assert_eq!(site.main_url().scheme, Scheme::Https);
    }
}

#[test]
fn recordings_join_and_keep_their_metadata() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/eyelevel/sites/shipped");
    let both = import(&[corpus.join("agency.wacz"), corpus.join("creative.wacz")]).unwrap();
    let (_file, site) = pack(&both, "joined");
    let parts = ["agency", "creative"].map(|name| {
        let file = corpus.join(name).with_extension("wacz");
        Site::open(file).unwrap()
    });
    let objects: usize = parts.iter().map(|part| part.exchanges().len()).sum();
    assert_eq!(site.exchanges().len(), objects);
    assert_eq!(site.main_url(), parts[0].main_url());
    assert_eq!(site.provenance().source, parts[0].provenance().source);
    assert!(site.provenance().altered.is_empty());
}

#[test]
fn exported_sites_import_again() {
    let Some(folder) = recordings() else { return };
    let imported = import(&[folder.join("stackoverflow-2015")]).unwrap();
    let (_file, site) = pack(&imported, "exported");
    let har = Temporary::new("exported.har");
    export_har(&site, &har.0).unwrap();
    let again = import(std::slice::from_ref(&har.0)).unwrap();
    assert_eq!(again.exchanges.len(), site.exchanges().len());
    for (found, exchange) in again.exchanges.iter().zip(site.exchanges()) {
        assert_eq!(found.url, exchange.url);
        assert_eq!(found.status, exchange.status);
    }
    let mahimahi = Temporary::new("exported.mahimahi");
    export_mahimahi(&site, &mahimahi.0).unwrap();
    let again = import(std::slice::from_ref(&mahimahi.0)).unwrap();
    let sorted = |exchanges: &[Exchange]| {
        let mut all: Vec<_> = exchanges.iter().map(essence).collect();
        all.sort();
        all
    };
    assert_eq!(sorted(&again.exchanges), sorted(site.exchanges()));
}

#[test]
fn a_har_without_a_body_leaves_its_exchange_out() {
    let har = Temporary::new("small.har");
    let text = r#"{"log": {"entries": [
      {"startedDateTime": "2020-01-01T01:00:00.000+01:00", "serverIPAddress": "192.0.2.1",
       "timings": {"wait": 12.5},
       "request": {"method": "GET", "url": "https://a.test/#x",
                   "headers": [{"name": ":authority", "value": "a.test"}]},
       "response": {"status": 200, "statusText": "OK", "httpVersion": "h2",
         "headers": [{"name": "content-type", "value": "text/html; charset=latin1"},
                     {"name": "content-encoding", "value": "br"}],
         "content": {"size": 2, "text": "hé"}}},
      {"request": {"method": "GET", "url": "https://a.test/missing"},
       "response": {"status": 200, "content": {"size": 9}}},
      {"request": {"method": "GET", "url": "blob:x"}, "response": {"status": 200}}]}}"#;
    std::fs::write(&har.0, text).unwrap();
    let imported = import(std::slice::from_ref(&har.0)).unwrap();
    let [exchange] = &imported.exchanges[..] else {
        panic!("{imported:?}")
    };
    assert_eq!(exchange.protocol, "h2");
    assert_eq!(exchange.recorded_at_unix_ms, Some(1_577_836_800_000));
    assert_eq!(exchange.time_to_first_byte_ms, Some(12.5));
    assert_eq!(exchange.response_header("content-encoding"), Some("br"));
    let kind = exchange.response_header("content-type");
    assert_eq!(kind, Some("text/html; charset=utf-8"));
    assert_eq!(imported.provenance.left_out.len(), 2);
    let [compressed, as_utf8] = &imported.provenance.altered[..] else {
        panic!("{:?}", imported.provenance)
    };
    assert!(compressed.starts_with("1 bodies, which a HAR holds decoded, were compressed again"));
    assert!(as_utf8.starts_with("1 texts, which a HAR holds in Unicode, are in UTF-8"));
}

#[test]
fn flows_of_mitmproxy_are_read() {
    let bytes = |text: &str| format!("{}:{text},", text.len());
    let string = |text: &str| format!("{}:{text};", text.len());
    let number = |text: &str| format!("{}:{text}^", text.len());
    let list = |parts: &[String]| format!("{}:{}]", parts.concat().len(), parts.concat());
    let map = |parts: &[String]| format!("{}:{}}}", parts.concat().len(), parts.concat());
    let header = list(&[list(&[bytes("Content-Type"), bytes("text/html")])]);
    let length = list(&[list(&[bytes("Content-Length"), bytes("3")])]);
    let request = |path: &str, fields: &str| {
        map(&[
            string("method"),
            bytes("GET"),
            string("scheme"),
            bytes("https"),
            string("host"),
            string("a.test"),
            string("port"),
            "3:443#".into(),
            string("path"),
            bytes(path),
            string("headers"),
            fields.to_owned(),
            string("authority"),
            bytes(""),
            string("content"),
            "0:~".into(),
            string("timestamp_end"),
            number("1000.5"),
            string("timestamp_start"),
            number("1000"),
        ])
    };
    let response = map(&[
        string("http_version"),
        bytes("HTTP/2.0"),
        string("status_code"),
        "3:200#".into(),
        string("reason"),
        bytes(""),
        string("headers"),
        header,
        string("content"),
        bytes("hello"),
        string("timestamp_start"),
        number("1000.75"),
    ]);
    let peer = list(&[string("192.0.2.7"), "3:443#".into()]);
    let server = map(&[string("peername"), peer]);
    let flow = |path: &str, fields: &str| {
        map(&[
            string("type"),
            string("http"),
            string("request"),
            request(path, fields),
            string("response"),
            response.clone(),
            string("server_conn"),
            server.clone(),
        ])
    };
    let odd = [
        flow("http://a.test/odd", &list(&[])),
        flow("/posted", &length),
    ];
    let flow = flow("/x?y", &list(&[]));
    let file = Temporary::new("flows.mitm");
    std::fs::write(&file.0, &flow).unwrap();
    let imported = import(std::slice::from_ref(&file.0)).unwrap();
    let [exchange] = &imported.exchanges[..] else {
        panic!("{imported:?}")
    };
    assert_eq!(exchange.url.to_string(), "https://a.test/x?y");
    assert_eq!(&exchange.body[..], b"hello");
    assert_eq!(exchange.protocol, "h2");
    assert_eq!(exchange.time_to_first_byte_ms, Some(250.0));
    assert_eq!(exchange.address, Some("192.0.2.7".parse().unwrap()));
    assert!(imported.provenance.altered.is_empty());
    std::fs::write(&file.0, odd.concat()).unwrap();
    let imported = import(std::slice::from_ref(&file.0)).unwrap();
    let Provenance {
        left_out, altered, ..
    } = imported.provenance;
    let expected = "its path `http://a.test/odd` does not begin with `/`";
    assert!(left_out[0].ends_with(expected), "{left_out:?}");
    let expected = "https://a.test/posted: its request's body was streamed, not recorded";
    assert!(altered[0].starts_with(expected), "{altered:?}");
    std::fs::write(&file.0, &flow[..flow.len() - 9]).unwrap();
    let error = import(std::slice::from_ref(&file.0))
        .unwrap_err()
        .to_string();
    assert!(error.contains("byte 0"), "{error}");
}

/// A file or folder that is removed at the end of its test.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        Self(folder.join(format!("import-{}-{name}", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
