#!/bin/sh
# Installs kubectl inplace: takes the archive of this machine's system, checks its SHA-256, and puts the plugin on the PATH.
#
#   install.sh [--version VERSION] [--from URL|FOLDER] [--to FOLDER]
#
#   --version   such as v0.1.0; without it the newest release
#   --from      where the archives and SHA256SUMS are: a folder, or the URL of a mirror (default: this script's folder where
#               they lie beside it, else the project's releases)
#   --to        default: /usr/local/bin where it can be written, else ~/.local/bin
set -eu
repository=https://github.com/kubectl-inplace/kubectl-inplace
name=kubectl-inplace
version= from= to=

fail() { echo "install.sh: $*" >&2; exit 1; }
while [ $# -gt 0 ]; do
  case $1 in
    --version | --from | --to)
      [ $# -ge 2 ] || fail "$1 needs a value"
      case $1 in --version) version=$2 ;; --from) from=$2 ;; --to) to=$2 ;; esac
      shift 2 ;;
    -h | --help) sed -n '2,9p' "$0" | cut -c3-; exit 0 ;;
    *) fail "there is no option $1" ;;
  esac
done

case $version in '' | v*) ;; *) version=v$version ;; esac

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "no archive for $(uname -s); on Windows unpack the archive and put kubectl-inplace.exe on the PATH" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "no archive for $(uname -m)" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $0 in
  # Not where the script is piped into a shell: what lies in the current folder is nobody's word.
  *install.sh) beside=$(dirname "$0"); if [ -z "$from" ] && [ -f "$beside/SHA256SUMS" ]; then from=$beside; fi ;;
esac
if [ -z "$from" ]; then
  if [ -n "$version" ]; then from=$repository/releases/download/$version; else from=$repository/releases/latest/download; fi
fi
get() { # FILE
  case $from in
    http://* | https://*)
      if command -v curl >/dev/null; then why=$(curl -fsSL -o "$work/$1" "$from/$1" 2>&1)
      elif command -v wget >/dev/null; then why=$(wget -nv -O "$work/$1" "$from/$1" 2>&1)
      else fail "curl or wget is needed to download; with the files of a release at hand: --from FOLDER"; fi ;;
    *) why=$(cp "$from/$1" "$work/$1" 2>&1) ;;
  esac || fail "cannot get $from/$1 ($why): say with --from FOLDER or --from URL where the files of a release are"
}

get SHA256SUMS
archive=$(sed -n "s/^[0-9a-f]\{64\}  \(${name}_${version:-v[^_]*}_${os}_$arch\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS")
[ -n "$archive" ] || fail "$from has no archive for ${os}_$arch${version:+ of $version}"
[ "$(echo "$archive" | wc -l)" -eq 1 ] || fail "$from has several versions: name one with --version"
get "$archive"
expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$work/SHA256SUMS")
if command -v sha256sum >/dev/null; then found=$(sha256sum "$work/$archive"); else found=$(shasum -a 256 "$work/$archive"); fi
found=${found%% *}
[ "$found" = "$expected" ] || fail "$archive has the SHA-256 $found, and SHA256SUMS says $expected: nothing is installed"

if [ -z "$to" ]; then
  if [ -w /usr/local/bin ]; then to=/usr/local/bin; else to=$HOME/.local/bin; fi
fi
mkdir -p "$work/unpacked" "$to"
tar -xzf "$work/$archive" -C "$work/unpacked"
for file in "$name" completions/kubectl_complete-inplace; do
  # Beside it first: a plugin that runs at this moment is replaced, not overwritten.
  cp "$work/unpacked/$file" "$to/.${file##*/}.new"
  chmod 755 "$to/.${file##*/}.new"
  mv "$to/.${file##*/}.new" "$to/${file##*/}"
done
"$to/$name" version --client
echo "Installed $to/$name and $to/kubectl_complete-inplace."
case :$PATH: in *:"$to":*) ;; *) echo "$to is not on the PATH: add it, so that kubectl finds the plugin." ;; esac
echo "Try: kubectl inplace plan deployment/NAME CONTAINER=:TAG"
