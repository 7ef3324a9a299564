# Shared by quickstart, test and .ci/run; sourced, never run. Needs root (the checkout's folder) to be set.
#
# Every function may be called again: what is there already is left alone.

say() { printf '== %s\n' "$*"; }

# Prints how long a phase took, by bash's SECONDS: what_took "built release" SECONDS-AT-ITS-START.
what_took() {
  local took=$((SECONDS - $2))
  say "$1 in $((took / 60)) min $((took % 60)) s"
}

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# The packages of the named sections of deploy/packages.txt.
packages_of() {
  local wanted=" $* "
  awk -v wanted="$wanted" '
    { sub(/#.*/, "") }
    /^\[.*\]/ { gsub(/[][ ]/, ""); on = index(wanted, " " $0 " "); next }
    on && NF { print $1 }' "$root/deploy/packages.txt"
}

is_installed() { dpkg-query -W -f '${Status}\n' "$1" 2>/dev/null | grep -q 'ok installed'; }

# Runs a command as root: directly, or through sudo.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -- "$@"
  else
    fail "this needs root and there is no sudo; run as root: $*"
  fi
}

# Installs what is missing of the named sections, with at most one apt-get update.
install_packages() {
  command -v dpkg-query >/dev/null || fail "this script is for Debian 12; elsewhere install what deploy/packages.txt lists, then: cmake --preset release && cmake --build build/release"
  local package missing=()
  for package in $(packages_of "$@"); do
    is_installed "$package" || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "Debian packages: all there"
    return
  fi
  say "Debian packages: installing ${#missing[@]}: ${missing[*]}"
  mkdir -p "$root/build"
  local log=$root/build/apt.log
  { as_root apt-get update -q &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    fail "apt-get failed (all of its output: $log)"
  }
}

# behind NAME COMMAND...: begins one of these functions in the background; what it prints goes into build/NAME.behind. await NAME waits
# for it, prints that, and ends the script where it failed. What still runs when the script ends is ended with it.
declare -A behind_pid=()
behind() {
  local name=$1
  shift
  mkdir -p "$root/build"
  trap end_behind EXIT
  set -m  # a process group of its own, so that all that it started can be ended
  (
    trap - EXIT
    "$@"
  ) >"$root/build/$name.behind" 2>&1 </dev/null &
  behind_pid[$name]=$!
  set +m
}

await() {
  local failed=0
  wait "${behind_pid[$1]}" || failed=$?
  unset "behind_pid[$1]"
  cat "$root/build/$1.behind"
  [ $failed -eq 0 ] || exit $failed
}

end_behind() {
  local pid
  for pid in "${behind_pid[@]}"; do
    kill -- "-$pid" 2>/dev/null || true
  done
}

gpu_visible() { [ -e /dev/nvidiactl ] || [ -e /dev/nvhost-gpu ] || [ -e /dev/dxg ]; }

has_cuda_headers() {
  local folder
  for folder in "${CUDA_HOME:-/usr/local/cuda}/include" /usr/local/cuda/include /usr/include "$root/build/cuda-headers"; do
    [ -f "$folder/cuda.h" ] && return 0
  done
  return 1
}

# Building the GPU code needs CUDA's headers only. Where a GPU is visible (or ENGINERY_CUDA=on asks for it) and there is
# no toolkit, they are taken from PyPI's wheels; without network, or with ENGINERY_CUDA=off, the GPU code is left out.
provide_cuda_headers() {
  cuda_options=()
  case "${ENGINERY_CUDA:-auto}" in
    off | OFF | 0) cuda_options=(-DENGINERY_CUDA=OFF); say "GPU code: left out, as ENGINERY_CUDA=off asks"; return ;;
    auto) gpu_visible || has_cuda_headers || { say "GPU code: left out (no NVIDIA device here; ENGINERY_CUDA=on builds it)"; return; } ;;
  esac
  if ! has_cuda_headers && ! fetch_cuda_headers; then
    say "GPU code: left out, CUDA's headers cannot be fetched. With them: ENGINERY_CUDA=on $0"
    return
  fi
  [ -d "$root/build/cuda-headers" ] && cuda_options=(-DENGINERY_CUDA_INCLUDE="$root/build/cuda-headers")
  say "GPU code: CUDA's headers are here"
}

fetch_cuda_headers() {
  say "CUDA headers: fetching from PyPI (the wheels are large: about 1.5 GB, of which 20 MB stay)"
  install_packages test
  local work=$root/build/cuda-wheels
  rm -rf "$work" && mkdir -p "$work"
  python3 -m venv "$work/venv" && "$work/venv/bin/pip" download -q --no-deps --only-binary :all: -d "$work" --timeout 20 --retries 1 \
    nvidia-cuda-runtime-cu12 nvidia-cuda-nvcc-cu12 nvidia-cuda-nvrtc-cu12 nvidia-cublas-cu12 nvidia-cudnn-cu12 || { rm -rf "$work"; return 1; }
  mkdir -p "$root/build/cuda-headers"
  python3 - "$work" "$root/build/cuda-headers" <<'EOF'
import pathlib, sys, zipfile
for wheel in pathlib.Path(sys.argv[1]).glob("*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            inside = name.partition("/include/")[2]
            if inside and not name.endswith("/"):
                target = pathlib.Path(sys.argv[2]) / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
EOF
  rm -rf "$work"
}

# Configures build/PRESET where that was not done yet, or with other options.
configure() {
  local preset=$1 folder=$root/build/$1 log=$root/build/$1.log options="${cuda_options[*]-}"
  mkdir -p "$root/build"
  if [ -f "$folder/build.ninja" ] && [ "$(cat "$folder/configured-with" 2>/dev/null)" = "$options" ]; then
    return
  fi
  say "configuring $preset"
  (cd "$root" && cmake --preset "$preset" ${cuda_options[@]+"${cuda_options[@]}"}) >"$log" 2>&1 || {
    cat "$log" >&2
    rm -f "$folder/build.ninja"
    fail "cmake --preset $preset failed"
  }
  printf '%s\n' "$options" >"$folder/configured-with"
  grep -E '^-- (GPU code|lint)' "$log" || true
}

# build PRESET [TARGET...]: configures when needed, builds with every core, prints a line now and then.
build() {
  local preset=$1 folder=$root/build/$1 log=$root/build/$1.log start
  shift
  configure "$preset"
  start=$SECONDS
  say "building $preset with $(nproc) cores"
  # Ninja prints one status line a step where it has no terminal: every fiftieth, and whatever is no status line, is shown.
  if ! ninja -C "$folder" "$@" 2>&1 | tee "$log" | awk -F '[][/]' '
      /^ninja: / { next }
      !/^\[[0-9]+\/[0-9]+\]/ { print; fflush(); next }
      $2 % 50 == 0 && $2 > 0 || $2 == $3 { print "   " $2 " of " $3 " steps"; fflush() }'; then
    grep -A 12 FAILED "$log" | head -n 60 >&2 || true
    fail "the build failed (all of its output: $log)"
  fi
  what_took "built $preset" "$start"
}

# make_peers FOLDER REQUIREMENT...: a Python environment from PyPI. False, with a message, where it cannot be had.
make_peers() {
  local folder=$1 wanted
  shift
  wanted=$(printf '%s\n' "$@"; if [ "$1" = -r ]; then cat "$2"; fi)
  if [ "$(cat "$folder/made-for" 2>/dev/null)" = "$wanted" ]; then
    return 0
  fi
  say "Python peers: installing into ${folder#"$root/"}"
  rm -rf "$folder"
  mkdir -p "$root/build"
  local log=$folder.log
  if ! { python3 -m venv "$folder" && "$folder/bin/pip" install -q --only-binary :all: --timeout 20 --retries 1 "$@"; } >"$log" 2>&1; then
    rm -rf "$folder"
    say "Python peers: PyPI cannot be reached or has no such versions ($(tail -n 1 "$log")); tests that need them are skipped"
    return 1
  fi
  printf '%s\n' "$wanted" >"$folder/made-for"
}
