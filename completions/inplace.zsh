#compdef kubectl-inplace
# Completion of kubectl-inplace for zsh: the program itself answers. source <(kubectl-inplace completion zsh)
_kubectl_inplace() {
  local -a answer described
  local line name
  answer=("${(@f)$("${(Q)words[1]/#\~/$HOME}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $answer[-1] == :0 ]]; then
    # Of --flag=VALUE the value is a path.
    compset -P '-[^=]#='
    _files
    return
  fi
  for line in "${(@)answer[1,-2]}"; do
    name=${line%%$'\t'*}
    if [[ $line == *$'\t'* ]]; then
      described+=("${name//:/\\:}:${line#*$'\t'}")
    else
      described+=("${name//:/\\:}")
    fi
  done
  if [[ $answer[-1] == :6 ]]; then
    _describe 'kubectl inplace' described -S ''
  else
    _describe 'kubectl inplace' described
  fi
}
if [[ $funcstack[1] == _kubectl-inplace ]]; then
  _kubectl_inplace "$@"
else
  compdef _kubectl_inplace kubectl-inplace
fi
