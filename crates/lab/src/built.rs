//! What this binary was built from and for, as `--version` says it.

use std::sync::LazyLock;

/// The commit, where who builds names it (`make wheel`); a binary is else the same in all commits
/// that change nothing of it, and so is what was measured with it and kept.
const COMMIT: Option<&str> = option_env!("EYELEVEL_COMMIT");

static SAID: LazyLock<String> = LazyLock::new(|| {
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

/// `0.1.0 (commit 0123456789ab, x86_64-linux-gnu, release)`
pub(crate) fn said() -> &'static str {
    &SAID
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_build_says_its_version_its_machine_and_its_profile() {
        let said = super::said();
        assert!(said.starts_with(concat!(env!("CARGO_PKG_VERSION"), " (")));
        assert!(said.contains(std::env::consts::ARCH) && said.ends_with(')'));
        assert_eq!(said.contains("debug"), cfg!(debug_assertions));
    }
}
