# shellcheck shell=bash
# Sourced by `cluster`: the controllers of other kinds, OpenKruise and Argo Rollouts, and the tools of GitOps: Helm, Argo CD's
# engine, and Flux's controllers (`engines`). Each has a go.mod of its own, because they are built with other libraries.

OTHERS="kruise kruise-1.5 argo-rollouts engines"
OTHERS_PORT=$((PORT + 4))

# Beside their programs lie their CRDs and webhooks, so that they run where Go's module cache is not.
other_sources() { find "$HERE/others/$1" -type f -print0 | sort -z | xargs -0 cat | sha256sum | cut -d' ' -f1; }
other_is_built() { [ "$(cat "$BIN/$1/.sources" 2>/dev/null)" = "$(other_sources "$1")" ]; }
build_other() { # NAME
  ! other_is_built "$1" || return 0
  echo "building $1 into $BIN/$1 (minutes, once)" >&2
  local new=$BIN/.new-$1 module
  rm -rf "$new"; mkdir -p "$new/crds"
  case $1 in
    engines) compile "$HERE/others/$1" "$new/" tool ./argocd ;;
    # Without libc: kruise-daemon runs where there is none.
    *) CGO_ENABLED=0 compile "$HERE/others/$1" "$new/" tool ;;
  esac
  module=$(cd "$HERE/others/$1" && go list -f '{{.Module.Dir}}' tool | sort -u)
  case $1 in
    kruise*)
      mv "$new/kruise" "$new/kruise-manager"
      mv "$new/daemon" "$new/kruise-daemon"
      cp "$module"/config/crd/bases/*.yaml "$new/crds"
      cp "$module/config/webhook/manifests.yaml" "$new/webhooks.yaml" ;;
    argo-rollouts) cp "$module"/manifests/crds/*-crd.yaml "$new/crds" ;;
    engines) for module in $module; do cp "$module"/config/crd/bases/*.yaml "$new/crds" 2>/dev/null || true; done ;;
  esac
  chmod -R u+w "$new"
  other_sources "$1" >"$new/.sources"
  rm -rf "${BIN:?}/$1"; mv "$new" "$BIN/$1"
}

others_command() { # [--built] [NAME]...
  local name ask=
  if [ "${1:-}" = --built ]; then ask=1; shift; fi
  [ $# -gt 0 ] || set -- kruise argo-rollouts
  for name in "$@"; do [[ " $OTHERS " == *" $name "* ]] || die "no others called $name (there are: $OTHERS)"; done
  if [ -n "$ask" ]; then
    for name in "$@"; do other_is_built "$name" || exit 1; done
    exit 0
  fi
  root others
  lock
  others "$@"
}
others() { # NAME...: one of OpenKruise's versions at a time
  local name
  deps
  for name in "$@"; do build_other "$name"; done
  status >/dev/null 2>&1 || up
  cd "$STATE"
  for name in "$@"; do
    case $name in
      kruise*) kruise "$name" ;;
      argo-rollouts)
        running argo-rollouts || crds "$name"
        serve argo-rollouts
        await 60 argo-rollouts ;;
      engines)
        running kustomize-controller || crds "$name"
        serve source-controller
        await 60 source-controller
        serve kustomize-controller
        await 60 kustomize-controller ;;
    esac
  done
}

# The feature gates are kept for `start`.
kruise() { # NAME
  local wanted="$1 ${KRUISE_FEATURE_GATES:-}"
  if [ "$(cat kruise.is 2>/dev/null)" != "$wanted" ]; then
    stop kruise-daemon kruise-manager
    rm -f kruise.is
    crds "$1"
    webhooks "$1"
    # A SidecarSet's revisions are kept there.
    kubectl create namespace kruise-system --dry-run=client -o yaml | kubectl apply -f - >/dev/null
    echo "$wanted" >kruise.is
  fi
  serve kruise-manager
  await 60 kruise-manager
  serve kruise-daemon
  await 60 kruise-daemon
}
crds() { # NAME
  kubectl apply --server-side --force-conflicts -f "$BIN/$1/crds" >/dev/null
  kubectl wait --for=condition=Established --timeout=60s -f "$BIN/$1/crds" >/dev/null
}
# The manager ends where they are not there, and adds what its certificate is checked with.
webhooks() { # NAME
  kubectl delete --ignore-not-found mutatingwebhookconfiguration/kruise-mutating-webhook-configuration \
    validatingwebhookconfiguration/kruise-validating-webhook-configuration >/dev/null
  kubectl apply --dry-run=client -o json -f "$BIN/$1/webhooks.yaml" | python3 "$HERE/others/webhooks.py" "$OTHERS_PORT" |
    kubectl create -f - >/dev/null
  # An Advanced StatefulSet has two versions, which only the manager converts.
  kubectl patch crd statefulsets.apps.kruise.io --type=merge -p '{"spec": {"conversion": {"strategy": "Webhook", "webhook":
    {"clientConfig": {"url": "https://127.0.0.1:'"$OTHERS_PORT"'/convert"}, "conversionReviewVersions": ["v1", "v1beta1"]}}}}' >/dev/null
}

serve_other() { # NAME
  local version gates
  case $1 in
    kruise-manager | kruise-daemon) read -r version gates <kruise.is || die "no OpenKruise in $STATE: cluster others" ;;
  esac
  case $1 in
    kruise-manager)
      POD_NAMESPACE=kruise-system WEBHOOK_HOST=127.0.0.1 WEBHOOK_PORT=$OTHERS_PORT WEBHOOK_CERT_DIR=$STATE/kruise-certs \
        start kruise-manager "$BIN/$version/kruise-manager" --kubeconfig=admin.kubeconfig --enable-leader-election=false \
        --health-probe-addr=127.0.0.1:$((OTHERS_PORT + 1)) --metrics-addr=0 --enable-pprof=false --feature-gates="$gates" ;;
    kruise-daemon)
      # It looks for containerd's socket in /hostvarrun alone: STATE is its root, and nothing lies outside.
      ln -sfn run hostvarrun
      ln -f "$BIN/$version/kruise-daemon" . 2>/dev/null || cp --remove-destination "$BIN/$version/kruise-daemon" .
      NODE_NAME=node-1 start kruise-daemon chroot "$STATE" /kruise-daemon --kubeconfig=/admin.kubeconfig \
        --addr=127.0.0.1:$((OTHERS_PORT + 2)) --enable-pprof=false --feature-gates="$gates" ;;
    argo-rollouts)
      start argo-rollouts "$BIN/argo-rollouts/rollouts-controller" --kubeconfig=admin.kubeconfig --leader-elect=false \
        --healthzPort=$((OTHERS_PORT + 3)) --metricsPort=$((OTHERS_PORT + 4)) ;;
    source-controller)
      mkdir -p flux
      RUNTIME_NAMESPACE=default start source-controller "$BIN/engines/source-controller" --enable-leader-election=false \
        --health-addr=127.0.0.1:$((OTHERS_PORT + 5)) --metrics-addr=0 --storage-path="$STATE/flux" \
        --storage-addr=127.0.0.1:$((OTHERS_PORT + 6)) --storage-adv-addr=127.0.0.1:$((OTHERS_PORT + 6)) ;;
    kustomize-controller)
      RUNTIME_NAMESPACE=default start kustomize-controller "$BIN/engines/kustomize-controller" --enable-leader-election=false \
        --health-addr=127.0.0.1:$((OTHERS_PORT + 7)) --metrics-addr=0 --requeue-dependency=1s ;;
  esac
}
other_ready() { # NAME
  case $1 in
    kruise-manager) answers $((OTHERS_PORT + 1)) /readyz ;;
    kruise-daemon) answers $((OTHERS_PORT + 2)) /healthz ;;
    argo-rollouts) answers $((OTHERS_PORT + 3)) /healthz ;;
    source-controller) answers $((OTHERS_PORT + 5)) /readyz ;;
    kustomize-controller) answers $((OTHERS_PORT + 7)) /readyz ;;
  esac
}
answers() ( # PORT PATH
  exec 9>&- 3<>"/dev/tcp/127.0.0.1/$1"
  printf 'GET %s HTTP/1.0\r\n\r\n' "$2" >&3
  read -r -t 2 line <&3
  [[ $line == *' 200 '* ]]
)
