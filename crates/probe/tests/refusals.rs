//! Servers that the prober has to refuse, and the failures that it reports.

use eyelevel_probe::{
    FailureClass, LabTarget, Plan, Protocol, Row, TargetConfig, Trust, attempt, attempt_pair,
};
use std::time::Duration;

#[tokio::test]
async fn a_certificate_for_another_name_is_a_failure_of_its_class() {
    let config = TargetConfig {
        address: [127, 0, 0, 1].into(),
        port: 0,
        ..TargetConfig::default()
    };
    let target = LabTarget::start(&config).await.unwrap();
    let folder = std::env::temp_dir().join(format!("eyelevel-probe-{}", std::process::id()));
    std::fs::write(&folder, &target.authority_pem).unwrap();
    let trust = Trust::new(Some(&folder)).unwrap();
    for protocol in [Protocol::Tls13, Protocol::Quic] {
        let mut row = Row::new("other", target.address.port(), "/", protocol);
        let plan = Plan {
            protocol,
            address: target.address,
            host: "other".into(),
            request: None,
            local_port: None,
            timeout: Duration::from_secs(10),
            early_data: false,
            offers_h2: true,
            keeps_answer: false,
        };
        let begun = row.clone();
        attempt(&plan, &trust, &mut row).await;
        assert_eq!(row.failure, Some(FailureClass::Certificate), "{row:?}");
        let (first, second) = attempt_pair(&plan, &trust, begun).await;
        assert_eq!(first.failure, Some(FailureClass::Certificate), "{first:?}");
        assert!(second.is_none(), "what failed has no session to resume");
    }
    std::fs::remove_file(&folder).unwrap();
}
