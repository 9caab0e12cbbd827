//! A run that is killed after any of its writes to a workload of OpenKruise and its pods: `resume` finishes, `abort` takes
//! it back, the update strategy is as before, and no pod is replaced.

use super::labelled;
use crate::durable_kill::{Then, killed_in_turn};
use crate::support::{Kind, Moment};

const IN_PLACE: &str = "  updateStrategy: {type: InPlaceIfPossible, maxUnavailable: 1}\n";
const RE_CREATE: &str = "  updateStrategy: {type: ReCreate}\n";
const PARTITION: &str = "  updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}\n";
const STANDARD: &str = "  updateStrategy: {type: RollingUpdate, rollingUpdate: {rollingUpdateType: Standard}}\n";

macro_rules! kills {
    ($($test:ident: $kind:ident, $replicas:literal, $fields:ident, $then:ident;)*) => {$(
        #[test]
        #[ignore = "needs OpenKruise: tests/run others"]
        fn $test() {
            let namespace = labelled(&stringify!($test).replace('_', "-"));
            killed_in_turn(&namespace, (Kind::$kind, $replicas, $fields), Moment::After, Then::$then);
        }
    )*};
}

kills! {
    clone_set_goes_on: CloneSet, 2, RE_CREATE, Resume;
    clone_set_goes_back: CloneSet, 2, IN_PLACE, Abort;
    advanced_stateful_set_goes_on: AdvancedStatefulSet, 3, PARTITION, Resume;
    advanced_stateful_set_goes_back: AdvancedStatefulSet, 3, PARTITION, Abort;
    advanced_daemon_set_goes_on: AdvancedDaemonSet, 1, STANDARD, Resume;
    advanced_daemon_set_goes_back: AdvancedDaemonSet, 1, STANDARD, Abort;
}
