#!/bin/sh
# Settings of a host that makes, or takes, the load of 100,000 MQTT connections and more.
#
#   sh squall-tune.sh check     what is set, what is wanted; exit code 1 where something is to be done
#   sh squall-tune.sh apply     sets it, now and for the next start (root); what is better is left alone
#   sh squall-tune.sh undo      puts back what apply found
#
# Made by `squall doctor --fix`; `squall doctor --fix --apply` runs it. It changes nothing but the
# settings below and the limit of open files, and writes three files: /etc/sysctl.d/90-squall.conf,
# /etc/security/limits.d/90-squall.conf and, for undo, /var/lib/squall-tune/before.conf.
set -u

ROOT="${SQUALL_TUNE_ROOT:-}"
SYS="${SQUALL_TUNE_PROC:-/proc}/sys"
SYSCTL_CONF="$ROOT/etc/sysctl.d/90-squall.conf"
LIMITS_CONF="$ROOT/etc/security/limits.d/90-squall.conf"
BEFORE="$ROOT/var/lib/squall-tune/before.conf"
NOFILE=1048576

# name, rule (when a value found is as good), wanted value
settings() {
  cat <<'END'
fs.file-max at-least 2097152
fs.nr_open at-least 2097152
net.ipv4.ip_local_port_range holds 1000 65535
net.core.somaxconn at-least 32768
net.ipv4.tcp_max_syn_backlog at-least 16384
net.core.netdev_max_backlog at-least 16384
net.core.rmem_default at-least 262144
net.core.wmem_default at-least 262144
net.core.rmem_max at-least 16777216
net.core.wmem_max at-least 16777216
net.ipv4.tcp_rmem largest 1024 4096 16777216
net.ipv4.tcp_wmem largest 1024 4096 16777216
net.ipv4.tcp_max_tw_buckets at-least 1048576
net.ipv4.tcp_fin_timeout at-most 15
END
}

path_of() { printf '%s/%s' "$SYS" "$(printf '%s' "$1" | tr . /)"; }
value_of() { { tr -s '\t ' '  ' <"$(path_of "$1")"; } 2>/dev/null; }

# as_good RULE "FOUND" "WANTED", in a shell of its own
as_good() (
  rule=$1
  # shellcheck disable=SC2086 # the values are words on purpose
  set -- $2 : $3
  first=$1
  while [ "$1" != : ]; do last=$1; shift; done
  shift
  wanted=$1
  while [ $# -gt 1 ]; do shift; done
  case $rule in
    at-least) [ "$first" -ge "$wanted" ] ;;
    at-most) [ "$first" -le "$wanted" ] ;;
    holds) [ "$first" -le "$wanted" ] && [ "$last" -ge "$1" ] ;;
    largest) [ "$last" -ge "$1" ] ;;
  esac
)

check() {
  bad=0
  while read -r name rule wanted; do
    found=$(value_of "$name")
    if [ -z "$found" ]; then
      echo "warn  $name: not to be seen here, wanted $wanted"
      bad=1
    elif as_good "$rule" "$found" "$wanted"; then
      echo "ok    $name = $found"
    else
      echo "warn  $name = $found, wanted $wanted"
      bad=1
    fi
  done <<END
$(settings)
END
  hard=$(ulimit -Hn)
  if [ "$hard" = unlimited ] || [ "$hard" -ge "$NOFILE" ]; then
    echo "ok    open files of a process: hard limit $hard"
  else
    echo "warn  open files of a process: hard limit $hard, wanted $NOFILE"
    bad=1
  fi
  return $bad
}

need_root() {
  [ "$(id -u)" = 0 ] || [ -n "$ROOT" ] && return 0
  echo "fail  only root may change these settings: run this with sudo" >&2
  exit 2
}

# Keeps the first value that was found of each setting, over several runs of apply.
remember() {
  mkdir -p "$(dirname "$BEFORE")" || return 1
  grep -q "^$1 = " "$BEFORE" 2>/dev/null || echo "$1 = $2" >>"$BEFORE"
}

# The file first: it holds for the next start even where this kernel, or container, refuses now.
apply() {
  need_root
  refused=0
  mkdir -p "$(dirname "$SYSCTL_CONF")" "$(dirname "$LIMITS_CONF")" || exit 2
  echo "# Written by squall-tune; undo with: sh squall-tune.sh undo" >"$SYSCTL_CONF" || exit 2
  while read -r name rule wanted; do
    found=$(value_of "$name")
    if [ -n "$found" ] && as_good "$rule" "$found" "$wanted"; then
      echo "kept     $name = $found"
      continue
    fi
    echo "$name = $wanted" >>"$SYSCTL_CONF"
    if [ -z "$found" ]; then
      echo "refused  $name: not to be seen here (a container has only some): set it on the host"
      refused=1
    elif (printf '%s' "$wanted" >"$(path_of "$name")") 2>/dev/null && as_good "$rule" "$(value_of "$name")" "$wanted"; then
      echo "set      $name = $wanted (was $found)"
      remember "$name" "$found" || echo "         what was there cannot be kept in $BEFORE: undo will not know it"
    else
      echo "refused  $name: the kernel does not take $wanted here (it stays $(value_of "$name"))"
      refused=1
    fi
  done <<END
$(settings)
END
  apply_limit || refused=1
  return $refused
}

# A limit belongs to processes: it can be written down for later logins, and tried here.
apply_limit() {
  hard=$(ulimit -Hn)
  if [ "$hard" = unlimited ] || [ "$hard" -ge "$NOFILE" ]; then
    echo "kept     open files of a process: hard limit $hard"
    return 0
  fi
  {
    echo "# Written by squall-tune"
    for who in '*' root; do
      echo "$who soft nofile $NOFILE"
      echo "$who hard nofile $NOFILE"
    done
  } >"$LIMITS_CONF" || return 1
  if (ulimit -Hn "$NOFILE") 2>/dev/null; then
    echo "set      open files of a process: $NOFILE, for logins from now on (here: ulimit -n $NOFILE)"
    return 0
  fi
  echo "refused  open files of a process: the hard limit of $hard cannot be raised from here (CAP_SYS_RESOURCE is missing, or fs.nr_open is lower)."
  echo "         It is set where this container or service is defined: docker run --ulimit nofile=$NOFILE:$NOFILE,"
  echo "         LimitNOFILE=$NOFILE in a systemd unit. For logins it is written down in $LIMITS_CONF."
  echo "         Until then a process holds $hard: use more workers (--workers) or more agents."
  return 1
}

undo() {
  need_root
  refused=0
  rm -f "$SYSCTL_CONF" "$LIMITS_CONF"
  if [ ! -f "$BEFORE" ]; then
    echo "nothing was changed by apply"
    return 0
  fi
  while IFS= read -r line; do
    name=${line%% = *}
    was=${line#* = }
    if (printf '%s' "$was" >"$(path_of "$name")") 2>/dev/null; then
      echo "set      $name = $was"
    else
      echo "refused  $name: the kernel does not take $was"
      refused=1
    fi
  done <"$BEFORE"
  [ $refused = 0 ] && rm -f "$BEFORE"
  echo "limits of open files are those of before from the next login on"
  return $refused
}

case ${1:-} in
  check) check ;;
  apply) apply ;;
  undo) undo ;;
  *)
    echo "usage: sh squall-tune.sh check | apply | undo" >&2
    exit 2
    ;;
esac
