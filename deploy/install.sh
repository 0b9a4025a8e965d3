#!/bin/sh
# Installs Figaro for your account, without root: downloads an archive and its checksum, compares the two, and puts `figaro` and
# `figaro-mcp` into ~/.local/bin, their completions and man pages into ~/.local/share.
#
#   install.sh [--version VERSION] [--dir FOLDER] [--uninstall]
#
# FIGARO_BASE_URL names another place of the releases. Everything is in a function, so that a download that was cut runs nothing.
set -eu

main() {
  base=${FIGARO_BASE_URL:-https://github.com/OWNER/figaro/releases}
  dir=${HOME:?HOME is not set}/.local/bin
  share=${XDG_DATA_HOME:-$HOME/.local/share}
  version='' uninstall='' folder='' reason=''
  while [ $# -gt 0 ]; do
    case $1 in
      --version) version=${2:?--version needs a version, such as 0.1.0}; version=${version#v}; shift 2 ;;
      --dir) dir=${2:?--dir needs a folder}; shift 2 ;;
      --uninstall) uninstall=yes; shift ;;
      -h | --help) echo "install.sh [--version VERSION] [--dir FOLDER] [--uninstall]"; exit 0 ;;
      *) fail "unknown option $1: install.sh [--version VERSION] [--dir FOLDER] [--uninstall]" ;;
    esac
  done
  if [ -n "$uninstall" ]; then
    rm -f "$dir/figaro" "$dir/figaro-mcp" "$share"/man/man1/figaro.1.gz "$share"/man/man1/figaro-*.1.gz \
      "$share/bash-completion/completions/figaro" "$share/fish/vendor_completions.d/figaro.fish" \
      "$share/zsh/vendor-completions/_figaro"
    say "Removed figaro and figaro-mcp from $dir. Your data and .env are where you ran figaro; remove them yourself."
    exit 0
  fi
  [ "$(uname -s)" = Linux ] || fail "there are builds for Linux only; on Windows use WSL, on macOS a container"
  machine=$(uname -m)
  case $machine in
    x86_64 | aarch64) ;;
    *) fail "there is no build for $machine; build it: https://github.com/OWNER/figaro/blob/main/docs/install.md" ;;
  esac
  command -v sha256sum >/dev/null 2>&1 || fail "sha256sum is missing, which checks the download: install coreutils"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  # A trap alone would let the script go on after Ctrl-C.
  trap 'exit 130' INT
  trap 'exit 143' TERM
  if [ -n "$version" ]; then from=$base/download/v$version; else from=$base/latest/download; fi
  say "Downloading the checksums from $from"
  get "$from/SHA256SUMS" "$work/SHA256SUMS" || fail "there is no release at $from"
  # The first build is smaller in memory, and needs a C library of 2022 or newer. The static one runs everywhere.
  if ! unpack linux; then
    [ -z "$folder" ] || say "$reason
Taking the static build."
    unpack linux-static || fail "${reason:-this release has no build for $machine}"
  fi
  mkdir -p "$dir"
  # Written beside and renamed, so that no half of a program is ever there.
  cp "$folder/figaro" "$dir/.figaro.new"
  mv -f "$dir/.figaro.new" "$dir/figaro"
  ln -sf figaro "$dir/figaro-mcp"
  # The program works without them.
  { mkdir -p "$share" && cp -R "$folder/share/." "$share/"; } 2>/dev/null || say "Completions and man pages could not be written to $share."
  say "Installed $("$dir/figaro" --version) in $dir"
  case :$PATH: in
    *:"$dir":*) ;;
    *) say "$dir is not in your PATH. Add this line to ~/.profile:  export PATH=\"$dir:\$PATH\"" ;;
  esac
  say "Next: figaro demo, or figaro init in an empty folder."
}

# Downloads, checks and unpacks the archive of a kind into $folder. Fails if there is none or its program does not start.
unpack() {
  archive=$(sed -n "s/^[0-9a-f]*  \(figaro-.*-$machine-$1\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS" | tail -n 1)
  [ -n "$archive" ] || return 1
  say "Downloading $archive"
  get "$from/$archive" "$work/$archive" || fail "$archive could not be downloaded"
  (cd "$work" && grep "  $archive\$" SHA256SUMS | sha256sum -c - >/dev/null 2>&1) ||
    fail "the checksum of $archive is wrong: nothing was installed. Try again; if it stays, do not use this download"
  say "The checksum is right."
  tar -xzf "$work/$archive" -C "$work"
  folder=$work/${archive%.tar.gz}
  started=$("$folder/figaro" --version 2>&1) || { reason="figaro does not start here: $started"; return 1; }
}

say() { printf '%s\n' "$*"; }
fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }

# Gets an address into a file.
get() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 2 -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1"
  else
    fail "neither curl nor wget is here"
  fi
}

main "$@"
