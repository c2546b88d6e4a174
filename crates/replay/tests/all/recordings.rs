//! Real recordings are returned byte for byte over every protocol.

use crate::common::{Running, VERSIONS, recordings, stack};
use eyelevel_archive::Site;
use eyelevel_replay::TlsVersion;
use eyelevel_replay::check::check;
use std::sync::Arc;

#[tokio::test]
async fn every_object_of_every_recording_is_returned_byte_for_byte() {
    let Some(folder) = recordings() else { return };
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let site = Arc::new(Site::open(&file).unwrap());
        for version in VERSIONS {
            let running = Running::start(site.clone(), stack(version));
            let connect = |origin: &eyelevel_archive::Origin| running.address(origin);
            let report = check(
                &site,
                &running.authority,
                version,
                TlsVersion::Tls13,
                connect,
            )
            .await
            .unwrap();
            println!("{} {version:?}: {} compared", site.name(), report.compared);
            assert_eq!(report.differences, [], "{} over {version:?}", site.name());
            assert_eq!(report.compared + report.skipped, site.exchanges().len());
            assert!(report.compared > 0);
            running.stop().await;
        }
    }
}
