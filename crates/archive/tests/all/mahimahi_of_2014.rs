//! Mahimahi's records of January 2014, whose layout differs from the current one, and folders.

use eyelevel_archive::{Format, Scheme, import, import_content};

/// Encodes a field of bytes, shorter than 16 kB, in the Protocol Buffers format.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let (low, high) = (bytes.len() as u8 & 0x7f | 0x80, (bytes.len() >> 7) as u8);
    [&[number << 3 | 2, low, high], bytes].concat()
}

/// Encodes an exchange as Mahimahi's recorder did in January 2014.
fn record_of_2014(port: &[u8], scheme: &str, response: &[&[u8]], body: &[u8]) -> Vec<u8> {
    let lines = |first: &str, lines: &[&[u8]], body: &[u8]| {
        let mut message = field(1, first.as_bytes());
        for line in lines {
            message.extend(field(2, line));
        }
        message.extend(field(3, body));
        message
    };
    let asked = lines(
        "GET /a?b HTTP/1.1\r\n",
        &[b"Host: a.test\r\n", b"Accept: */*\r\n"],
        b"\r\n",
    );
    let answered = lines("HTTP/1.1 200 OK\r\n", response, body);
    let mut record = vec![1 << 3];
    record.extend(port);
    record.extend(field(2, scheme.as_bytes()));
    record.extend(field(3, b"192.0.2.7"));
    record.extend(field(4, &asked));
    record.extend(field(5, &answered));
    record
}

#[test]
fn mahimahis_layout_of_2014_is_read_as_todays() {
    let plain = record_of_2014(
        &[80],
        "HTTP",
        &[b"Content-Type: text/html\r\n", b"X-A: b:c\r\n"],
        b"\r\n\r\n<p>",
    );
    let secure = record_of_2014(
        &[0xbb, 3],
        "HTTPS",
        &[b"Transfer-Encoding: chunked\r\n", b"no field\r\n"],
        b"\r\n3\r\nabc\r\n0\r\n\r\n",
    );
    let read = |record: Vec<u8>| import_content(Format::Mahimahi, record.into()).unwrap();
    let exchange = read(plain).exchanges.remove(0);
    assert_eq!(exchange.url.to_string(), "http://a.test/a?b");
    assert_eq!(exchange.address, Some("192.0.2.7".parse().unwrap()));
    assert_eq!((exchange.method.as_str(), exchange.status), ("GET", 200));
    assert_eq!(exchange.response_header("x-a"), Some("b:c"));
    assert_eq!(exchange.request_headers.len(), 2);
    assert_eq!(
        &exchange.body[..],
        b"\r\n<p>",
        "one empty line is the head's"
    );
    let exchange = read(secure).exchanges.remove(0);
    assert_eq!(exchange.url.scheme, Scheme::Https);
    assert_eq!(&exchange.body[..], b"abc");
    assert_eq!(
        exchange.response_headers.len(),
        1,
        "a line without a colon is none"
    );
}

#[test]
fn a_request_that_names_no_host_is_left_out() {
    let record = record_of_2014(&[80], "HTTP", &[], b"\r\nx");
    let host = b"Host: a.test";
    let at = record.windows(host.len()).position(|bytes| bytes == host);
    let mut nameless = record;
    nameless[at.unwrap()] = b'X';
    let imported = import_content(Format::Mahimahi, nameless.into()).unwrap();
    assert_eq!(imported.exchanges.len(), 0);
    let expected = "its request for `/a?b` names no host";
    assert_eq!(imported.provenance.left_out, [expected]);
}

#[test]
fn a_file_that_is_no_exchange_is_left_out_of_its_folder() {
    let name = format!("mahimahi-folder-{}", std::process::id());
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let record = record_of_2014(&[80], "HTTP", &[], b"\r\nx");
    let import_folder = |files: &[(&str, &[u8])]| {
        std::fs::create_dir(&folder).unwrap();
        for (name, content) in files {
            std::fs::write(folder.join(name), content).unwrap();
        }
        let imported = import(std::slice::from_ref(&folder));
        std::fs::remove_dir_all(&folder).unwrap();
        imported
    };
    let imported = import_folder(&[
        ("README", b"no record"),
        ("save.1", &record),
        ("save.2", &record[..record.len() - 1]),
    ]);
    let imported = imported.unwrap();
    assert_eq!(imported.exchanges.len(), 1);
    let left_out = imported.provenance.left_out;
    assert_eq!(left_out.len(), 2, "{left_out:?}");
    assert!(left_out[0].starts_with("README: "), "{left_out:?}");
    for (files, expected) in [
        (&[("README", &b"no record"[..])][..], "README: "),
        (&[("a.har", b"{}")], "it holds HARs"),
    ] {
        let error = import_folder(files).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
