//! The objects with all that they were, the one counter of resourceVersions, and what watches are served from.

use std::collections::BTreeMap;
use std::ops::RangeBounds;
use std::sync::Arc;

use serde_json::Value;

use super::fields::{copy_field, set_metadata};

/// What is stored: raw, or what a driver has read of it.
pub trait Object: Clone + PartialEq {
    fn keep_version(&mut self, of: &Self);
    fn set_version(&mut self, version: u64);
}

impl Object for Value {
    fn keep_version(&mut self, of: &Self) {
        copy_field(of, self, &["metadata"], "resourceVersion");
    }

    fn set_version(&mut self, version: u64) {
        set_metadata(self, "resourceVersion", version.to_string().into());
    }
}

/// One write: who wrote, the old object and the new one.
#[derive(Debug, Clone)]
pub struct Change<K, O, W> {
    pub version: u64,
    pub by: W,
    pub key: K,
    pub before: Option<Arc<O>>,
    /// `None` where it was deleted.
    pub after: Option<Arc<O>>,
}

/// The versions of an object; `None` where it was deleted.
type Row<O> = Vec<(u64, Option<Arc<O>>)>;

/// Objects by their keys, and their history; `W` is what is noted of who writes.
#[derive(Debug, Clone)]
pub struct Store<K, O, W> {
    rows: BTreeMap<K, Row<O>>,
    history: Vec<Change<K, O, W>>,
    version: u64,
    compacted: u64,
    serial: u64,
}

fn as_at<O>(row: &Row<O>, version: u64) -> Option<&Arc<O>> {
    row.iter().rev().find(|(written, _)| *written <= version)?.1.as_ref()
}

impl<K: Ord + Clone, O: Object, W> Default for Store<K, O, W> {
    fn default() -> Self {
        Self::counted(0)
    }
}

impl<K: Ord + Clone, O: Object, W> Store<K, O, W> {
    /// An empty store that has counted so far already.
    pub fn counted(version: u64) -> Self {
        Self { rows: BTreeMap::new(), history: Vec::new(), version, compacted: 0, serial: 0 }
    }

    /// The resourceVersion of the newest write.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The resourceVersion up to which the history is forgotten.
    pub fn compacted(&self) -> u64 {
        self.compacted
    }

    /// Forgets the history, as etcd's compaction does.
    pub fn compact(&mut self) {
        self.compacted = self.version;
        self.history.clear();
        self.rows.retain(|_, row| {
            row.drain(..row.len() - 1);
            row.iter().any(|(_, object)| object.is_some())
        });
    }

    /// Forgets the history but for so many writes.
    pub fn forget(&mut self, kept: usize) {
        let gone = self.history.len().saturating_sub(kept);
        let Some(last) = gone.checked_sub(1).and_then(|last| self.history.get(last)) else { return };
        let version = last.version;
        self.compacted = version;
        self.history.drain(..gone);
        self.rows.retain(|_, row| {
            let old = row.iter().rposition(|(written, _)| *written <= version).unwrap_or(0);
            row.drain(..old);
            row.len() > 1 || row.iter().any(|(_, object)| object.is_some())
        });
    }

    /// A number that was not given before.
    pub fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// The stored object.
    pub fn get(&self, key: &K) -> Option<&Arc<O>> {
        self.rows.get(key)?.last()?.1.as_ref()
    }

    /// The object as a cache at that version has it.
    pub fn seen(&self, key: &K, version: u64) -> Option<&Arc<O>> {
        as_at(self.rows.get(key)?, version)
    }

    /// The objects of a range as a cache at that version has them.
    pub fn list(&self, range: impl RangeBounds<K>, version: u64) -> impl Iterator<Item = (&K, &Arc<O>)> {
        self.rows.range(range).filter_map(move |(key, row)| Some((key, as_at(row, version)?)))
    }

    /// Every version of an object that was there, the oldest first.
    pub fn versions_of(&self, key: &K) -> impl DoubleEndedIterator<Item = (u64, &Arc<O>)> {
        let row = self.rows.get(key).into_iter().flatten();
        row.filter_map(|(version, object)| Some((*version, object.as_ref()?)))
    }

    /// Every write that is not forgotten, the oldest first.
    pub fn history(&self) -> &[Change<K, O, W>] {
        &self.history
    }

    /// The writes after a resourceVersion.
    pub fn since(&self, version: u64) -> &[Change<K, O, W>] {
        let start = self.history.partition_point(|change| change.version <= version);
        self.history.get(start..).unwrap_or_default()
    }

    /// Stores an object; where it is the same as before nothing is written, and no watch hears of it.
    pub fn put(&mut self, key: &K, mut object: O, by: W) -> Arc<O> {
        if let Some(before) = self.get(key) {
            object.keep_version(before);
            if **before == object {
                return Arc::clone(before);
            }
        }
        object.set_version(self.version + 1);
        let object = Arc::new(object);
        self.push(key, Some(Arc::clone(&object)), by);
        object
    }

    /// Deletes an object.
    pub fn remove(&mut self, key: &K, by: W) {
        if self.get(key).is_some() {
            self.push(key, None, by);
        }
    }

    fn push(&mut self, key: &K, after: Option<Arc<O>>, by: W) {
        let before = self.get(key).cloned();
        self.version += 1;
        let version = self.version;
        self.rows.entry(key.clone()).or_default().push((version, after.clone()));
        self.history.push(Change { version, by, key: key.clone(), before, after });
    }
}
