//! tmp
/// t
pub struct ImageReference(String);
impl ImageReference {
    /// t
    pub fn parse(s: &str) -> Result<Self, ()> {
        Ok(Self(s.to_owned()))
    }
    /// t
    pub fn normalised(&self) -> String {
        self.0.clone()
    }
}
