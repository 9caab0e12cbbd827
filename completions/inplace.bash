# Completion of kubectl-inplace for bash: the program itself answers. source <(kubectl-inplace completion bash)
_kubectl_inplace() {
  local line=${COMP_LINE:0:COMP_POINT} typed=$2 prefix candidate directive=:4
  local -a words
  # Words as the program gets them: bash also splits at = and :.
  read -ra words <<<"$line"
  case $line in *[[:space:]]) words+=("") ;; esac
  prefix=${words[${#words[@]} - 1]}
  prefix=${prefix%"$typed"}
  COMPREPLY=()
  while IFS= read -r candidate; do
    case $candidate in
      :[0-9]*) directive=$candidate ;;
      *) candidate=${candidate%%$'\t'*} COMPREPLY+=("${candidate#"$prefix"}") ;;
    esac
  done < <("${words[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)
  case $directive in
    :0)
      compopt -o filenames 2>/dev/null
      while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "$typed")
      ;;
    :6) compopt -o nospace 2>/dev/null ;;
  esac
}
complete -F _kubectl_inplace kubectl-inplace
