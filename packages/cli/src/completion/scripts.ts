/** What a shell runs to complete `jadwal`. Both ask the command itself, so that they need no care. */
export const SCRIPTS = {
  bash: `# Completion of jadwal for bash. In ~/.bashrc:  source <(jadwal completion bash)
_jadwal() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    [ -n "$line" ] && COMPREPLY+=("$line")
  done < <("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _jadwal jadwal
`,
  zsh: `#compdef jadwal
# Completion of jadwal for zsh. In ~/.zshrc, below compinit:  source <(jadwal completion zsh)
_jadwal() {
  local -a candidates
  candidates=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  candidates=("\${(@)candidates:#}")
  if (( \${#candidates} > 0 )); then
    compadd -a candidates
  else
    _files
  fi
}
if [ "\${funcstack[1]}" = "_jadwal" ]; then
  _jadwal "$@"
else
  compdef _jadwal jadwal
fi
`,
} as const
