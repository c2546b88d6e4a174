//! The version text of this binary: what it was built from and for.

use std::sync::LazyLock;

/// The commit, set by release builds (`make wheel`). Other builds leave it out, so that the binary,
/// and with it cached measurements, stay the same across commits that do not change it.
const COMMIT: Option<&str> = option_env!("EYELEVEL_COMMIT");

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = COMMIT
        .filter(|commit| !commit.is_empty())
        .map_or_else(String::new, |commit| format!("commit {commit}, "));
    let library = if cfg!(target_env = "musl") {
        "musl"
    } else {
        "gnu"
    };
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    format!(
        "{} ({commit}{}-{}-{library}, {profile})",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
        std::env::consts::OS,
    )
});

/// Returns the version text, such as `0.1.0 (commit 0123456789ab, x86_64-linux-gnu, release)`.
pub(crate) fn version() -> &'static str {
    &VERSION
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_build_reports_version_machine_and_profile() {
        let said = super::version();
        assert!(said.starts_with(concat!(env!("CARGO_PKG_VERSION"), " (")));
        assert!(said.contains(std::env::consts::ARCH) && said.ends_with(')'));
        assert_eq!(said.contains("debug"), cfg!(debug_assertions));
    }
}
