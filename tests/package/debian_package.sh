#!/usr/bin/env bash
# usage: debian_package.sh BUILD WORK COMPILER SOURCE
# Makes the Debian package of the build folder BUILD, installs it into a root of its own in WORK, and builds and runs SOURCE
# with what is there.
set -euo pipefail
build=$1 work=$2 compiler=$3 source=$4
rm -rf "$work"
mkdir -p "$work/root/var/lib/dpkg/updates" "$work/root/var/lib/dpkg/info"
touch "$work/root/var/lib/dpkg/status"

(cd "$work" && cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip)
packages=("$work"/cuprum_*.deb)
[[ ${#packages[@]} -eq 1 ]]
dpkg-deb --info "${packages[0]}"

# What it depends on is what this machine, which runs it, has.
IFS=, read -ra needs < <(dpkg-deb --field "${packages[0]}" Depends)
[[ ${#needs[@]} -gt 0 ]] || { echo "it says to depend on nothing" >&2; exit 1; }
for need in "${needs[@]}"; do
  read -r name _ <<<"$need"
  dpkg-query --status "$name" >/dev/null
done

# Unpacked and not configured: what is left is to call ldconfig, which a root without a system does not have. The other packages
# are those of the machine.
PATH=$PATH:/usr/sbin:/sbin dpkg --root="$work/root" --force-not-root --force-depends --unpack "${packages[0]}"
usr=$work/root/usr
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$usr" -name cuprum.pc)")
read -ra flags < <(pkg-config --cflags --libs cuprum)
"$compiler" -std=c++20 "$source" "${flags[@]}" -Wl,-rpath,"$(dirname "$PKG_CONFIG_PATH")" -o "$work/consumer"
"$work/consumer"
"$usr/bin/cuprum" --version
man -l "$usr/share/man/man1/cuprum.1.gz" >/dev/null 2>&1 || test -s "$usr/share/man/man1/cuprum.1"
