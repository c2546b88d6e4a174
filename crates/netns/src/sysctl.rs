use crate::Error;

/// Sets a `net.*` value of the calling thread's network namespace; `name` is written with dots.
pub fn set_sysctl(name: &str, value: &str) -> Result<(), Error> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    std::fs::write(&path, value).map_err(|e| Error::new(format!("set {name} to \"{value}\""), e))
}
