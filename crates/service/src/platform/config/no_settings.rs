//! What is wrong with settings.

/// An error from loading the settings.
#[derive(Debug, thiserror::Error)]
pub enum NoSettings {
    #[error("the settings file {0} cannot be read: {1}")]
    File(String, std::io::Error),
    #[error("{0} is not valid TOML: {1}")]
    Toml(String, String),
    /// A setting is unknown or has the wrong type.
    #[error("{0}\n`backhaul config default` prints every setting with its default")]
    Wrong(String),
}
