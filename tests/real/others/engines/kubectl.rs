//! kubectl apply, from the client's side, and from the server's as Helm does it.

use super::lanes::random_changes;
use crate::hand_over::Next;

#[test]
#[ignore = "many changes: tests/run others"]
fn random_changes_from_the_clients_side() {
    random_changes("kubectl-client", |_| Next::ClientSide);
}

#[test]
#[ignore = "many changes: tests/run others"]
fn random_changes_from_the_servers_side() {
    random_changes("kubectl-server", |_| Next::ServerSide);
}
