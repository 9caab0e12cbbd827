# Sourced by tests/run and examples/demo: whether there is room for what cargo builds.

# Says what there is too little of, and fails, where the filesystem of `target` cannot hold so many MiB. What is there
# already is not needed again.
enough_disk() { # MIB WHAT-IS-BUILT
  local target=${CARGO_TARGET_DIR:-target} path have need free
  path=$target
  while [ ! -e "$path" ]; do path=$(dirname "$path"); done
  have=$(du -sm "$target" 2>/dev/null | cut -f1) || true
  need=$(($1 - ${have:-0}))
  free=$(df -Pm "$path" | awk 'NR == 2 { print $4 }')
  [ "$free" -ge "$need" ] || { echo "too little disk: $2 takes $need MiB more in $target, and $free MiB are free"; return 1; }
}
