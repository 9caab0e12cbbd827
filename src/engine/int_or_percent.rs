//! tmp
use serde_json::Value;
/// tmp
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntOrPercent {
    /// t
    Int(u32),
    /// t
    Percent(u32),
}
impl IntOrPercent {
    /// t
    pub fn from_json(_v: &Value) -> Option<Self> {
        None
    }
}
